"""The tool that the lab's tests call: it refunds money, and a ledger remembers each refund."""

from collections.abc import Callable
from typing import Any

from apisurface import Tool, ToolCall, ToolRegistry

REFUND = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string"},
        "amount_cents": {"type": "integer", "minimum": 1},
        "reason": {"type": "string"},
    },
    "required": ["order_id", "amount_cents", "reason"],
    "additionalProperties": False,
}
GOOD = {"order_id": "A-1", "amount_cents": 5000, "reason": "duplicate charge"}
BAD = {"order_id": "A-1", "amount_cents": "5000"}
TWO_ERRORS = ["$.amount_cents: expected integer, got string", "$.reason: required"]


def good(**fields: Any) -> ToolCall:
    """Return a call that may run."""
    return ToolCall("issue_refund", dict(GOOD), **fields)


def bad(**fields: Any) -> ToolCall:
    """Return the call with the two errors."""
    return ToolCall("issue_refund", dict(BAD), **fields)


def shop() -> tuple[ToolRegistry, list[dict[str, Any]]]:
    """Return a registry and its ledger.

    `issue_refund` writes to the ledger first and looks at its arguments afterwards, as real
    code does: whoever calls it with bad arguments has refunded by the time it complains.
    """
    ledger: list[dict[str, Any]] = []

    def issue_refund(**arguments: Any) -> dict[str, Any]:
        ledger.append(arguments)
        arguments["amount_cents"] + 0, arguments["reason"].strip()
        return {"refunded": arguments["amount_cents"]}

    return shop_with(issue_refund), ledger


def shop_with(func: Callable[..., Any], schema: dict[str, Any] = REFUND) -> ToolRegistry:
    """Return a registry whose only tool, `issue_refund`, is this function."""
    return ToolRegistry([Tool("issue_refund", "Refund an order.", schema, func)])
