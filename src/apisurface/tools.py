# Generated from book/tools.ipynb: edit it there, then run `make save`.
"""One tool call there and back: a proposal is read, checked and authorized before it runs.

`run_tool_turn` takes one proposal through all of it; `decode_arguments` and `encode_result` are
its two ends, `assert_all_calls_answered` pairs several by id, and `mend_history` makes a stored
conversation fit to be sent again.

    BoundaryError
    └── ToolCallError (ValueError)
        ├── MalformedArguments     what the call carries is not one JSON object
        ├── ProposalRefused        nothing ran, or one too many was proposed after it
        └── CallsNotAnswered       results and proposals do not pair one to one

Not here: several tools, errors as results, running calls at the same time (`dispatch`).
"""

import json
from typing import Any

from apisurface.parsing import MalformedJSON, loads_strict
from apisurface.wire import BoundaryError


# cell: tool-call-error
class ToolCallError(BoundaryError, ValueError):
    """A proposal, or the answers to some, cannot be used as they are; nothing was guessed."""


# cell: malformed-arguments
class MalformedArguments(ToolCallError):
    """The arguments of a call are not one JSON object; `.raw` is what came, unchanged."""

    def __init__(self, message: str, *, raw: object) -> None:
        super().__init__(message)
        self.raw = raw


# cell: json-kind
def _kind(value: object) -> str:
    """Return what JSON calls a value, or what Python does when JSON has no word for it."""
    names = {str: "string", list: "array", bool: "boolean", int: "number", float: "number"}
    return "null" if value is None else names.get(type(value), type(value).__name__)


# cell: decode-arguments
def decode_arguments(raw: object) -> dict[str, Any]:
    """Return the arguments of a call as a new object, in whichever form they arrived.

    A dict gives a deep copy and a string is read as strict JSON; a string that holds the
    *string* of an object, encoded twice, is read once more. None and `""` give `{}`, and
    validation decides the rest. Values inside the object are never coerced: `"12345"` stays a
    string. A dict is held to the rules of `loads_strict` too. Raises `MalformedArguments`, a
    ValueError that keeps `.raw`, for anything else.
    """
    if raw is None or raw == "":
        return {}
    try:
        text = json.dumps(raw, allow_nan=False) if isinstance(raw, dict) else raw
        value = loads_strict(text) if isinstance(text, str) else text
        if isinstance(value, str) and value.lstrip().startswith("{"):
            value = loads_strict(value)
    except MalformedJSON as error:
        raise MalformedArguments(f"arguments are not strict JSON: {error}", raw=raw) from None
    except (TypeError, ValueError, RecursionError) as error:
        raise MalformedArguments(f"arguments are not JSON: {error}", raw=raw) from None
    if not isinstance(value, dict):
        raise MalformedArguments(f"arguments must be an object, got {_kind(value)}", raw=raw)
    return value
