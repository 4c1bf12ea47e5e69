# Generated from book/levels.ipynb: edit it there, then run `make save`.
"""The request for structured output: a schema, and the block that carries it.

What the block promises depends on the server; `extraction` checks what comes back.
"""

import copy
import re
from typing import Any

# cell: refund-schema
REFUND_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "ticket_id": {"type": "string", "pattern": "^T-[0-9]{3}$"},
        "action": {"type": "string", "enum": ["refund", "deny", "escalate"]},
        "order_id": {"type": "string", "pattern": "^O-[0-9]{4}$"},
        "amount_cents": {"type": "integer", "minimum": 0},
        "currency": {"type": "string", "enum": ["USD", "EUR"]},
    },
    "required": ["ticket_id", "action", "order_id", "amount_cents", "currency"],
    "additionalProperties": False,
}


# cell: schema-response-format
def schema_response_format(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the `response_format` block that asks an OpenAI-compatible server for a schema.

    The schema is copied, so that a change to the block for one server's dialect never reaches
    the schema that you check with. `strict` is always true: without it the schema is a hint.
    Raises ValueError for a name that is not 1 to 64 letters, digits, `_` or `-`, and for a
    schema that is not a dictionary. Source: OpenAI API reference, chat completions,
    `response_format` (checked 2026-11-30).
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        raise ValueError(f"name must be 1 to 64 letters, digits, '_' or '-', not {name!r}")
    if not isinstance(schema, dict):
        raise ValueError(f"schema must be a dictionary, not {type(schema).__name__}")
    body = {"name": name, "schema": copy.deepcopy(schema), "strict": True}
    return {"type": "json_schema", "json_schema": body}
