"""The refund tool of the contract's figures, and the call with exactly two errors."""

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
ERRORS = ["$.amount_cents: expected integer, got string", "$.reason: required"]
