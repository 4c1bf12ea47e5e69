"""The engine at work, in four parts: `.venv/bin/python -m book.lab.example`."""

from book.lab.loading import engine_name, load_engine
from book.lab.refunds import BAD, GOOD, REFUND, shop

engine = load_engine(engine_name())
registry, ledger = shop()


def called(arguments: object) -> object:
    """Return a call as a model proposes it."""
    return engine.parse_tool_call({"name": "issue_refund", "arguments": arguments, "id": "c1"})


print("1  A call that runs")
print("  ", engine.dispatch(registry, called(GOOD)).value)

print("2  A call that is refused, and the tool is not touched")
result = engine.dispatch(registry, called('{"order_id": "A-1", "amount_cents": "5000"}'))
for error in result.errors:
    print("  ", error)
print("   refunds made so far:", len(ledger))

print("3  The same call, mended in a single round")
result, repairs = engine.run_with_repair(
    lambda errors, call: called({**BAD, "amount_cents": 5000, "reason": "duplicate charge"}),
    registry,
    called(BAD),
)
print("  ", result.value, "after", repairs, "repair")

print("4  Output out of its fence, checked by the same validator")
FENCED = '```json\n{"order_id": "A-1", "amount_cents": true}\n```'
try:
    engine.coerce_output(FENCED, REFUND)
except ValueError as error:
    print("  ", error)
GOOD_TEXT = '```json\n{"order_id": "A-1", "amount_cents": 5000, "reason": "twice"}\n```'
print("  ", engine.coerce_output(GOOD_TEXT, REFUND))
