"""Step 3: the tool is not touched unless everything before it passed, and nothing is raised."""

from apisurface import ToolCall
from book.lab.refunds import GOOD, TWO_ERRORS, bad, good, shop, shop_with


def answer(engine, registry, call, **options):
    """Dispatch; an exception is the mistake it is."""
    try:
        return engine.dispatch(registry, call, **options)
    except NotImplementedError:
        raise
    except Exception as error:
        raise AssertionError(
            f"raises: {type(error).__name__} came out of dispatch and ended the whole turn. "
            "Make a ToolResult of it."
        ) from error


def said(result):
    """Return all the words of a failure."""
    return f"{result.error} {result.errors}"


def test_a_good_call_runs_once_and_its_value_comes_back(engine):
    registry, ledger = shop()
    result = answer(engine, registry, good(id="c1"))
    assert (result.ok, result.value) == (True, {"refunded": 5000}), f"a good call: got {result}"
    assert ledger == [GOOD], f"a good call: it must run exactly once, ran {len(ledger)} times"


def test_a_bad_call_does_not_touch_the_tool(engine):
    registry, ledger = shop()
    result = answer(engine, registry, bad())
    assert ledger == [], (
        "run then catch: the tool was called to see whether it complains, and the refund was "
        f"made before it did. The ledger holds {ledger}. Validate first."
    )
    assert not result.ok, f"a bad call: got {result}"


def test_a_bad_call_answers_with_every_violation(engine):
    result = answer(engine, shop()[0], bad())
    assert sorted(result.errors) == sorted(TWO_ERRORS), (
        "errors in one string: `errors` is the list that `validate` gave, one entry for each, "
        f"unchanged. Expected {TWO_ERRORS}, got {result.errors!r}"
    )
    assert result.error, "a failure without a sentence: `error` is what the model reads first"


def test_an_unknown_tool_is_an_answer(engine):
    registry, ledger = shop()
    result = answer(engine, registry, ToolCall("refund_everything", dict(GOOD), id="c1"))
    assert (result.ok, ledger) == (False, []), f"an unknown tool: got {result}"
    assert "issue_refund" in said(result), (
        "an unknown tool without the known ones: a model that misspelt a name needs the names. "
        f"Got {said(result)}"
    )


def test_a_name_is_exact(engine):
    for name in ("issue_refunds", "Issue_Refund", "issue-refund", "issue_refund "):
        registry, ledger = shop()
        result = answer(engine, registry, ToolCall(name, dict(GOOD)))
        assert (result.ok, ledger) == (False, []), (
            f"fuzzy names: {name!r} is not issue_refund. Guessing which tool was meant is "
            "running something that nobody proposed"
        )


def test_an_exception_is_a_result_that_names_it(engine):
    def broken(**arguments):
        raise PermissionError("the ledger is closed")

    result = answer(engine, shop_with(broken), good())
    assert not result.ok, (
        "swallows exceptions: the tool failed, and the model was told that all is well. "
        f"Got {result}"
    )
    assert "PermissionError" in said(result) or "ledger is closed" in said(result), (
        f"swallows exceptions: what went wrong is not in the result. Got {said(result)}"
    )


def test_an_exception_without_words_is_named_by_its_type(engine):
    def silent(**arguments):
        raise TimeoutError

    result = answer(engine, shop_with(silent), good())
    assert (result.ok, "TimeoutError" in said(result)) == (False, True), (
        "swallows exceptions: str(TimeoutError()) is empty, so the result said nothing. Name "
        f"the type. Got {said(result)!r}"
    )


def test_the_tool_gets_a_copy_of_the_arguments(engine):
    schema = {"type": "object", "properties": {"items": {"type": "array"}}}
    registry = shop_with(lambda items: items.clear(), schema)
    call = ToolCall("issue_refund", {"items": [1, 2]})
    answer(engine, registry, call)
    assert call.arguments == {"items": [1, 2]}, (
        "mutated arguments: the tool changed the list inside the call, so the log, the repair "
        f"and the repeat all see something that was never proposed. Got {call.arguments}"
    )


def test_nothing_is_also_a_value(engine):
    for value in (None, 0, False, "", [], {}):
        result = answer(engine, shop_with(lambda v=value, **arguments: v), good())
        assert (result.ok, result.value) == (True, value), (
            f"empty is failure: the tool returned {value!r} and succeeded. Got {result}"
        )


def test_every_result_carries_the_id(engine):
    def broken(**arguments):
        raise OSError("down")

    cases = {
        "a success": (shop()[0], good(id="c1")),
        "an unknown tool": (shop()[0], ToolCall("nope", {}, id="c1")),
        "a violation": (shop()[0], bad(id="c1")),
        "an exception": (shop_with(broken), good(id="c1")),
    }
    for what, (registry, call) in cases.items():
        result = answer(engine, registry, call)
        assert result.call_id == "c1", (
            f"lost ids: the result of {what} does not say which call it answers, and the next "
            f"request is refused. Got {result.call_id!r}"
        )


def test_a_refusal_keeps_the_tool_untouched(engine):
    registry, ledger = shop()
    result = answer(engine, registry, good(id="c1"), authorize=lambda call: "above the limit")
    assert ledger == [], (
        "authorize after run: the refusal came when the money was gone. Ask before the tool is "
        f"touched. The ledger holds {ledger}"
    )
    assert (result.ok, "above the limit" in said(result)) == (False, True), (
        f"authorize is not asked: the complaint has to reach the model. Got {result}"
    )
    assert result.call_id == "c1", "lost ids: a refusal is an answer too"


def test_a_check_that_fails_is_a_refusal(engine):
    def broken(call):
        raise ConnectionError("the limits cannot be read")

    registry, ledger = shop()
    result = answer(engine, registry, good(id="c1"), authorize=broken)
    assert (result.ok, ledger) == (False, []), (
        "a failing check lets it run: nobody said yes. Whatever is not a clear yes is a no. "
        f"Got {result}, and the ledger holds {ledger}"
    )


def test_authorize_sees_only_valid_calls(engine):
    asked = []
    registry, _ = shop()
    answer(engine, registry, bad(), authorize=asked.append)
    assert asked == [], (
        "authorize before validate: it was asked about arguments that no schema has seen, and "
        "will compare a string with a limit"
    )
    result = answer(engine, registry, good(), authorize=asked.append)
    assert (result.ok, len(asked)) == (True, 1), f"authorize is not asked: {asked}"
