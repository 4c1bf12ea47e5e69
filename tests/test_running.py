"""What comes of a function that returns, raises, hangs or changes its arguments."""

from __future__ import annotations

import contextvars
import functools
import logging
import subprocess
import sys
import threading
import uuid
from datetime import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apisurface.calls import Tool
from apisurface.running import ToolResult, in_thread, run_tool


def tool(func, name="pay") -> Tool:
    return Tool(name, "", {"type": "object"}, func)


def raising(error: BaseException):
    def func(**arguments: Any):
        raise error

    return tool(func)


def returning(value: Any):
    return tool(lambda **arguments: value)


# --- results ---------------------------------------------------------------------


def test_a_result_has_the_fields_of_the_contract():
    assert ToolResult(True) == ToolResult(
        ok=True, value=None, error=None, errors=[], call_id=None, in_doubt=False
    )


def test_a_failure_has_at_least_one_error():
    assert ToolResult.failure("no").errors == ["no"]
    assert ToolResult.failure("no: a; b", ["a", "b"]).errors == ["a", "b"]
    assert ToolResult.failure("no", in_doubt=True).in_doubt


def test_messages():
    done = ToolResult(True, {"paid": 1}, call_id="c1")
    assert done.to_message() == {"role": "tool", "tool_call_id": "c1", "content": '{"paid": 1}'}
    assert ToolResult(True, "paid", call_id="c1").to_message()["content"] == "paid"
    failed = ToolResult(False, error="no: a", errors=["a"], call_id="c1").to_message()
    assert failed["content"] == '{"error": "no: a", "errors": ["a"], "in_doubt": false}'


@pytest.mark.parametrize("call_id", [None, ""])
def test_b130_no_message_with_an_empty_id(call_id):
    with pytest.raises(ValueError, match="without an id"):
        ToolResult(True, call_id=call_id).to_message()


# --- returning -------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "x", [], {}, {"a": [1, {"b": None}]}])
def test_json_comes_back_as_a_copy(value):
    result = run_tool(returning(value), {})
    assert result == ToolResult(True, value)
    assert not isinstance(value, list | dict) or result.value is not value


def test_tuples_are_arrays():
    assert run_tool(returning((1, (2,))), {}).value == [1, [2]]


class Opaque:
    pass


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"t": time(9, 0)}, "time at $.t"),
        ({"s": {1, 2}}, "set at $.s"),
        ({"b": b"\xff"}, "bytes at $.b"),
        ([uuid.UUID(int=0)], "UUID at $[0]"),
        (float("nan"), "nan at $"),
        ([float("-inf")], "-inf at $[0]"),
        ({1: 2}, "int as a key at $"),
        ({"x": "\ud83d"}, "unpaired surrogate at $.x"),
        (Opaque(), "Opaque at $"),
    ],
)
def test_b137_a_result_that_json_cannot_hold_says_that_the_tool_ran(value, words):
    result = run_tool(returning(value), {})
    assert not result.ok
    assert not result.in_doubt
    assert result.error == f"pay ran and must not be repeated; result not serialisable: {words}"


def test_b137_a_list_that_holds_itself_and_a_number_too_long_to_write():
    round_and_round: list[Any] = []
    round_and_round.append(round_and_round)
    for value in (round_and_round, 10**5000):
        result = run_tool(returning(value), {})
        assert result.error.startswith("pay ran and must not be repeated; ")


def test_a_coroutine_that_nobody_waits_for_did_not_run():
    touched = []

    async def later():
        touched.append(1)

    result = run_tool(tool(lambda: later()), {})
    assert result.error == "pay did not run: it returned a coroutine nobody waits for"
    assert touched == []


def test_the_function_gets_a_copy_and_may_change_it():
    given_arguments = {"items": [1], "deep": {"a": []}}

    def greedy(items, deep):
        items.clear()
        deep["a"].append(1)
        return "ok"

    assert run_tool(tool(greedy), given_arguments).ok
    assert given_arguments == {"items": [1], "deep": {"a": []}}


# --- raising ---------------------------------------------------------------------


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("not even that")


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("no such order"), "pay failed: ValueError: no such order"),
        (KeyError("O-9"), "pay failed: KeyError: 'O-9'"),
        (TimeoutError(), "pay failed: TimeoutError"),
        (Mute(), "pay failed: Mute"),
        (ValueError(" \n "), "pay failed: ValueError"),
        (ValueError("two\n  lines"), "pay failed: ValueError: two lines"),
        (SystemExit(2), "pay failed: SystemExit: 2"),
        (
            ExceptionGroup("both", [ValueError("a")]),
            "pay failed: ExceptionGroup: both (1 sub-exception)",
        ),
        (ValueError("\ud83d"), "pay failed: ValueError: \\ud83d"),
        (RecursionError(), "pay failed: RecursionError"),
    ],
)
def test_b130_an_exception_is_one_line_with_its_type(error, text):
    result = run_tool(raising(error), {})
    assert (result.ok, result.in_doubt, result.error, result.errors) == (
        False,
        False,
        text,
        [text],
    )


def test_a_long_message_is_cut():
    assert len(run_tool(raising(ValueError("x" * 10_000)), {}).error) < 350


@pytest.mark.parametrize(("length", "end"), [(300, "x"), (301, "…")])
def test_a_message_is_cut_at_300_characters_and_says_so(length, end):
    told = run_tool(raising(ValueError("x" * length)), {}).error
    assert told == f"pay failed: ValueError: {'x' * 300}{end.strip('x')}"


def test_a_deadline_is_named():
    with pytest.raises(TypeError, match="positional"):
        run_tool(raising(ValueError()), {}, 5)  # type: ignore[misc]


def test_of_a_very_long_message_only_the_beginning_is_read():
    class Long(str):
        def split(self, *separators):
            raise AssertionError("all of it was read")

    class Wordy(Exception):
        def __str__(self):
            return Long("word " * 1000)

    assert run_tool(raising(Wordy()), {}).error.startswith("pay failed: Wordy: word ")


@pytest.mark.parametrize("deadline", [1e300, float("inf")])
def test_a_deadline_may_be_as_long_as_one_likes(deadline):
    started = threading.Event()
    slow = Tool("f", "", {}, lambda: started.wait(0.05))
    assert run_tool(slow, {}, deadline=deadline) == ToolResult(True, False)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("postgres://admin:hunter2@db/x", "postgres://***@db/x"),
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer ***"),
        ("api_key=abcd1234&x=1", "api_key=***&x=1"),
        ("{'password': 'hunter2'}", "{'password': '***'}"),
        ("X-Api-Key: 12345678", "X-Api-Key: ***"),
        ("access_token=abcdef", "access_token=***"),
        ("key sk-proj-abcdefghijklmnop", "key ***"),
        ("ghp_abcdefghijklmnopqrst was refused", "*** was refused"),
        ("the token was wrong", "the token was wrong"),
        ("no order A-1 at https://shop/orders", "no order A-1 at https://shop/orders"),
    ],
)
def test_what_looks_like_a_secret_is_blanked(text, told):
    assert (
        run_tool(raising(RuntimeError(text)), {}).error == f"pay failed: RuntimeError: {told}"
    )


def test_the_traceback_goes_to_the_log_and_not_to_the_model(caplog):
    with caplog.at_level(logging.INFO, logger="apisurface"):
        result = run_tool(raising(ValueError("no")), {})
    assert "Traceback" not in result.error
    assert caplog.records[0].exc_info[1].args == ("no",)


@pytest.mark.parametrize("deadline", [None, 60])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), GeneratorExit()])
def test_what_is_meant_for_the_program_passes(error, deadline):
    kept = []
    with pytest.raises(type(error)):
        run_tool(raising(error), {}, deadline=deadline, keep=kept.append)
    assert kept == [None]


# --- deadlines -------------------------------------------------------------------


def test_a_function_within_its_deadline_is_like_any_other():
    assert run_tool(returning(1), {}, deadline=60) == ToolResult(True, 1)
    assert "no such" in run_tool(raising(ValueError("no such")), {}, deadline=60).error


def test_a_function_that_outlives_its_deadline_is_in_doubt_and_goes_on():
    go_on, ended, kept = threading.Event(), threading.Event(), []

    def slow():
        go_on.wait(60)
        return "done"

    def keep(result):
        kept.append(result)
        ended.set()

    result = run_tool(tool(slow), {}, deadline=0.01, keep=keep)
    assert (result.ok, result.in_doubt, kept) == (False, True, [])
    assert "within 0.01 s, cannot be stopped and may still act" in result.error
    go_on.set()
    assert ended.wait(60)
    assert kept == [ToolResult(True, "done")]


@pytest.mark.parametrize("deadline", [0, -1, float("nan"), float("-inf")])
def test_without_time_nothing_runs(deadline):
    touched = []
    result = run_tool(tool(lambda: touched.append(1)), {}, deadline=deadline)
    assert (result.ok, result.in_doubt, touched) == (False, False, [])
    assert result.error == "pay did not run: no time was left"


def test_a_function_that_hangs_does_not_keep_the_program_from_ending():
    code = """
import threading
from apisurface import Tool, run_tool
hangs = Tool("hangs", "", {"type": "object"}, threading.Event().wait)
print(run_tool(hangs, {}, deadline=0.01).in_doubt)
"""
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert (run.stdout, run.returncode) == ("True\n", 0)


def test_the_context_of_the_caller_reaches_the_thread():
    request: contextvars.ContextVar[str] = contextvars.ContextVar("request")
    request.set("r1")
    assert run_tool(tool(request.get), {}, deadline=60).value == "r1"


def test_in_thread_runs_elsewhere_and_carries_exceptions():
    here = threading.get_ident()
    assert in_thread(lambda: ToolResult(threading.get_ident() != here)).result(60).ok
    with pytest.raises(ZeroDivisionError):
        in_thread(functools.partial(divmod, 1, 0)).result(60)


# --- keeping ---------------------------------------------------------------------


def test_keep_gets_the_result_that_the_caller_gets():
    for made in (returning(1), raising(ValueError("no")), returning({1})):
        kept = []
        assert run_tool(made, {}, keep=kept.append) == kept[0]


def test_a_result_that_could_not_be_written_down_is_in_doubt():
    def full(result):
        raise OSError("disk full")

    result = run_tool(returning(1), {}, keep=full)
    assert (result.ok, result.in_doubt) == (False, True)
    assert result.error == "pay ran, but that was not written down (OSError): do not repeat it"


# --- properties ------------------------------------------------------------------


@given(
    st.recursive(st.none() | st.booleans() | st.floats() | st.text() | st.binary(), st.lists)
)
def test_whatever_is_returned_there_is_a_result(value):
    result = run_tool(returning(value), {})
    assert result.ok != bool(result.errors)
    if result.ok:
        ToolResult(True, result.value, call_id="c").to_message()["content"].encode()


@given(st.text())
def test_whatever_is_raised_the_error_is_one_line_that_can_be_sent(text):
    error = run_tool(raising(ValueError(text)), {}).error
    assert error.startswith("pay failed: ValueError")
    assert len(error.splitlines()) == 1
    error.encode()
