"""The engine: nothing is touched unless everything passed, and every call has an answer."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import threading
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from refund_tool import BAD, ERRORS, GOOD, REFUND

import apisurface
import apisurface.calls
from apisurface.dispatch import (
    InvalidOutput,
    Tool,
    ToolCall,
    ToolRegistry,
    ToolResult,
    coerce_output,
    dispatch,
    dispatch_all,
    parse_tool_call,
    parse_tool_calls,
    run_with_repair,
)
from apisurface.idempotency import Claim, MemoryStore, SQLiteStore
from apisurface.parsing import MalformedJSON
from apisurface.partial import PartialCall
from apisurface.tools import assert_all_calls_answered
from apisurface.transport import BoundaryError
from apisurface.validator import UnsupportedSchema, validate

ANY = {"type": "object"}


class Shop:
    """A registry of one refund tool that remembers what it was called with."""

    def __init__(self, answer: Any = "refunded") -> None:
        self.seen: list[dict[str, Any]] = []
        self.answer = answer
        self.registry = ToolRegistry([Tool("issue_refund", "Pay.", REFUND, self.refund)])

    def refund(self, **arguments: Any) -> Any:
        self.seen.append(arguments)
        return self.answer

    def call(self, arguments: Any = GOOD, call_id: str | None = "c1", key: str | None = None):
        return ToolCall("issue_refund", copy.deepcopy(arguments), call_id, key)


def registry_of(func, name="f", schema=ANY) -> ToolRegistry:
    return ToolRegistry([Tool(name, "", schema, func)])


# --- the contract ----------------------------------------------------------------


def test_every_name_of_the_contract_is_here_too():
    for name in ("Tool", "ToolRegistry", "ToolCall", "parse_tool_call", "parse_tool_calls"):
        module = sys.modules["apisurface.dispatch"]
        assert getattr(module, name) is getattr(apisurface.calls, name)
        assert getattr(apisurface, name) is getattr(module, name)


def test_the_figures_of_the_contract():
    shop = Shop()
    result = dispatch(shop.registry, shop.call(BAD))
    assert result.errors == ERRORS
    assert (result.ok, result.in_doubt, result.call_id, shop.seen) == (False, False, "c1", [])

    def fix(errors, call):
        assert errors == ERRORS
        repaired = {"amount_cents": 5000, "reason": "duplicate charge"}
        return replace(call, arguments=call.arguments | repaired)

    result, repairs = run_with_repair(fix, shop.registry, shop.call(BAD))
    assert (result.ok, repairs, shop.seen) == (True, 1, [GOOD])


# --- the gates -------------------------------------------------------------------


def test_a_good_call_runs_once_and_is_answered_under_its_id():
    shop = Shop({"paid": 5000})
    result = dispatch(shop.registry, shop.call())
    assert result == ToolResult(True, {"paid": 5000}, call_id="c1")
    assert shop.seen == [GOOD]


@pytest.mark.parametrize("call_id", [None, ""])
def test_b130_no_id_is_none_and_never_empty(call_id):
    shop = Shop()
    assert dispatch(shop.registry, shop.call(call_id=call_id)).call_id is None
    assert dispatch(shop.registry, shop.call(BAD, call_id)).call_id is None


def test_b136_an_unknown_tool_is_answered_with_the_nearest_names():
    registry = ToolRegistry([Tool(n, "", ANY, print) for n in ("get_all", "get_one", "send")])
    result = dispatch(registry, ToolCall("getall", {}, "c1"))
    assert result.error == (
        "unknown tool 'getall'; did you mean get_all? the tools are: get_all, get_one, send"
    )
    assert (result.errors, result.call_id) == ([result.error], "c1")
    assert "did you mean" not in dispatch(registry, ToolCall("xyz", {})).error
    assert (
        dispatch(ToolRegistry(), ToolCall("x", {})).error
        == "unknown tool 'x'; the tools are: none"
    )


def test_b136_a_name_of_any_length_and_many_tools_stay_bounded():
    registry = ToolRegistry([Tool(f"tool_{n}", "", ANY, print) for n in range(200)])
    said = dispatch(registry, ToolCall("x" * 1_000_000, {})).error
    assert len(said) < 1_000
    assert said.endswith("tool_48, tool_49, …")
    fifty = ToolRegistry([Tool(f"tool_{n}", "", ANY, print) for n in range(50)])
    assert dispatch(fifty, ToolCall("x", {})).error.endswith("tool_48, tool_49")


@pytest.mark.parametrize("name", [None, 3, ["x"], {}, ""])
def test_a_name_that_is_no_name_is_an_unknown_tool(name):
    assert "unknown tool" in dispatch(Shop().registry, ToolCall(name, {})).error


@pytest.mark.parametrize(
    "arguments", [[1], 3, True, "[]", '{"a": 1', {"a": {1}}, {"a": float("nan")}]
)
def test_arguments_that_are_no_json_object_are_a_result(arguments):
    shop = Shop()
    result = dispatch(shop.registry, shop.call(arguments))
    assert result.errors[0].startswith("$: ")
    assert shop.seen == []


@pytest.mark.parametrize(
    "arguments", [None, "", json.dumps(GOOD), json.dumps(json.dumps(GOOD))]
)
def test_arguments_may_still_be_encoded(arguments):
    shop = Shop()
    result = dispatch(shop.registry, shop.call(arguments))
    assert result.ok == bool(arguments)
    assert shop.seen == ([GOOD] if arguments else [])


def test_b139_b140_nothing_is_decoded_or_coerced():
    shop = Shop()
    dispatch(shop.registry, shop.call(GOOD | {"reason": '{"a": 1}', "order_id": "12345"}))
    assert shop.seen[0]["reason"] == '{"a": 1}'
    assert shop.seen[0]["order_id"] == "12345"
    result = dispatch(shop.registry, shop.call(GOOD | {"amount_cents": "2000"}))
    assert result.errors == ["$.amount_cents: expected integer, got string"]


def test_the_function_and_the_caller_have_their_own_arguments():
    schema = {"type": "object", "properties": {"items": {"type": "array"}}}
    call = ToolCall("f", {"items": [1]})
    assert dispatch(registry_of(lambda items: items.clear(), schema=schema), call).ok
    assert call.arguments == {"items": [1]}


def test_a_function_that_cannot_take_what_its_schema_allows_is_not_touched():
    touched = []
    registry = registry_of(lambda other=1: touched.append(1), schema=REFUND)
    result = dispatch(registry, ToolCall("f", GOOD))
    assert "f did not run: its function and its schema disagree" in result.error
    assert touched == []


def test_a_function_without_a_readable_signature_is_called():
    registry = registry_of(dict)
    assert dispatch(registry, ToolCall("f", {"a": 1})).value == {"a": 1}


# --- authorization ---------------------------------------------------------------


def test_authorization_comes_after_validation_and_before_the_function():
    shop, asked = Shop(), []

    def authorize(call):
        asked.append(call)
        return "not today"

    assert not dispatch(shop.registry, shop.call(BAD), authorize=authorize).ok
    assert asked == []
    result = dispatch(shop.registry, shop.call(), authorize=authorize)
    assert result.error == "issue_refund was not authorized: not today"
    assert (asked, shop.seen) == ([shop.call()], [])
    assert dispatch(shop.registry, shop.call(), authorize=lambda call: None).ok


@pytest.mark.parametrize("answer", [True, False, "", " ", 0, ["no"], object()])
def test_what_is_not_a_clear_yes_is_a_no(answer):
    shop = Shop()
    result = dispatch(shop.registry, shop.call(), authorize=lambda call: answer)
    assert result.error == "issue_refund was not authorized: no reason was given"
    assert shop.seen == []


def test_an_authorization_that_fails_refuses_and_tells_no_secrets():
    shop = Shop()

    def broken(call):
        raise PermissionError("password=hunter2")

    result = dispatch(shop.registry, shop.call(), authorize=broken)
    assert result.error.endswith("the check itself failed with PermissionError")
    assert shop.seen == []


def test_an_authorization_that_exits_refuses():
    shop = Shop()
    result = dispatch(shop.registry, shop.call(), authorize=lambda call: sys.exit(1))
    assert result.error.endswith("the check itself failed with SystemExit")
    assert shop.seen == []


def test_what_was_authorized_is_what_runs():
    shop = Shop()

    def sly(call):
        call.arguments["amount_cents"] = 1

    call = shop.call()
    dispatch(shop.registry, call, authorize=sly)
    assert shop.seen == [GOOD]
    assert call.arguments == GOOD


def test_authorize_sees_decoded_arguments():
    shop, seen = Shop(), []
    call = shop.call(json.dumps(GOOD))
    dispatch(shop.registry, call, authorize=lambda call: seen.append(call.arguments))
    assert seen == [GOOD]


def test_a_person_at_the_keyboard_passes():
    def interrupted(call):
        raise KeyboardInterrupt

    shop = Shop()
    with pytest.raises(KeyboardInterrupt):
        dispatch(shop.registry, shop.call(), authorize=interrupted)


# --- raw calls -------------------------------------------------------------------


def test_a_raw_call_is_read():
    shop = Shop()
    raw = {"id": "c7", "function": {"name": "issue_refund", "arguments": json.dumps(GOOD)}}
    assert dispatch(shop.registry, raw).call_id == "c7"
    assert dispatch(shop.registry, json.dumps(raw)).ok
    assert len(shop.seen) == 2


@pytest.mark.parametrize(
    "raw",
    [
        None,
        3,
        "x",
        [],
        {},
        {"id": "c7", "function": {"name": "issue_refund", "arguments": '{"a": 1'}},
        {"id": "c7", "function": {"name": "", "arguments": "{}"}},
        {"id": "c7", "type": "custom"},
        {"id": 7, "name": "issue_refund", "arguments": {}},
    ],
)
def test_b083_a_call_that_cannot_be_read_is_answered_under_its_id(raw):
    result = dispatch(Shop().registry, raw)
    assert result.error.startswith("unreadable call: ")
    expected = raw.get("id") if isinstance(raw, dict) and raw.get("id") == "c7" else None
    assert result.call_id == expected


# --- the function ----------------------------------------------------------------


def test_what_a_function_raises_is_a_result_under_the_id():
    def boom():
        raise RuntimeError("boom")

    result = dispatch(registry_of(boom), ToolCall("f", {}, "c1"))
    assert result == ToolResult(
        False, None, "f failed: RuntimeError: boom", ["f failed: RuntimeError: boom"], "c1"
    )


def test_b137_a_result_that_is_no_json_stays_inside_its_call():
    registry = ToolRegistry([Tool("a", "", ANY, lambda: {1}), Tool("b", "", ANY, lambda: 2)])
    results = dispatch_all(registry, [ToolCall("a", {}, "c1"), ToolCall("b", {}, "c2")])
    assert (
        results[0].error == "a ran and must not be repeated; result not serialisable: set at $"
    )
    assert results[1] == ToolResult(True, 2, call_id="c2")


def test_a_deadline_is_in_doubt_under_the_id():
    go_on = threading.Event()
    result = dispatch(
        registry_of(lambda: go_on.wait(60)), ToolCall("f", {}, "c1"), deadline=0.01
    )
    go_on.set()
    assert (result.ok, result.in_doubt, result.call_id) == (False, True, "c1")


def test_without_time_nothing_runs_and_no_key_is_used_up():
    shop, store = Shop(), MemoryStore()
    call = shop.call(key="k")
    assert "no time was left" in dispatch(shop.registry, call, deadline=0, store=store).error
    assert shop.seen == []
    assert dispatch(shop.registry, call, store=store).ok


# --- idempotency -----------------------------------------------------------------


@pytest.fixture(params=["registry", "memory", "sqlite"])
def store(request, tmp_path):
    if request.param == "registry":
        yield None
    elif request.param == "memory":
        yield MemoryStore()
    else:
        made = SQLiteStore(tmp_path / "book.db")
        yield made
        made.close()


def test_a_repeat_is_a_replay_under_its_own_id(store):
    shop = Shop({"paid": (1, 2)})
    first = dispatch(shop.registry, shop.call(key="k"), store=store)
    again = dispatch(shop.registry, shop.call(call_id="c2", key="k"), store=store)
    assert again == replace(first, call_id="c2")
    assert len(shop.seen) == 1


def test_without_a_key_a_repeat_is_a_second_effect(store):
    shop = Shop()
    for _ in range(2):
        dispatch(shop.registry, shop.call(), store=store)
    assert len(shop.seen) == 2


def test_a_key_with_other_arguments_is_refused(store):
    shop = Shop()
    dispatch(shop.registry, shop.call(key="k"), store=store)
    other = shop.call(GOOD | {"amount_cents": 1}, key="k")
    result = dispatch(shop.registry, other, store=store)
    assert result.error.endswith("its idempotency key belongs to a call with other arguments")
    assert len(shop.seen) == 1


def test_a_failure_is_replayed_too(store):
    calls = []

    def fails():
        calls.append(1)
        raise ValueError("declined")

    registry = registry_of(fails)
    call = ToolCall("f", {}, "c1", "k")
    results = [dispatch(registry, call, store=store) for _ in range(2)]
    assert results[0] == results[1]
    assert len(calls) == 1


def test_what_did_not_run_uses_no_key_up(store):
    shop = Shop()
    dispatch(shop.registry, shop.call(BAD, key="k"), store=store)
    dispatch(shop.registry, shop.call(key="k"), store=store, authorize=lambda call: "no")
    assert dispatch(shop.registry, shop.call(key="k"), store=store).ok


def test_a_replay_needs_authorization_too(store):
    shop = Shop()
    dispatch(shop.registry, shop.call(key="k"), store=store)
    assert not dispatch(
        shop.registry, shop.call(key="k"), store=store, authorize=lambda c: "no"
    ).ok


def test_two_threads_with_one_key_have_one_effect(store):
    inside, go_on, seen = threading.Event(), threading.Event(), []

    def slow():
        seen.append(1)
        inside.set()
        go_on.wait(60)
        return "done"

    registry, results = registry_of(slow), []

    def repeat():
        results.append(dispatch(registry, ToolCall("f", {}, None, "k"), store=store))

    threads = [threading.Thread(target=repeat) for _ in range(2)]
    threads[0].start()
    assert inside.wait(60)
    threads[1].start()
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert results == [ToolResult(True, "done")] * 2
    assert len(seen) == 1


def test_calls_with_one_key_in_one_message_have_one_effect(store):
    shop = Shop()
    calls = [shop.call(call_id=f"c{n}", key="k") for n in range(5)]
    results = dispatch_all(shop.registry, calls, store=store)
    assert [result.call_id for result in results] == ["c0", "c1", "c2", "c3", "c4"]
    assert all(result.ok for result in results)
    assert len(shop.seen) == 1


def test_who_cannot_wait_for_a_running_call_is_in_doubt_and_later_knows(store):
    go_on = threading.Event()
    registry = registry_of(lambda: go_on.wait(60) and "done")
    call = ToolCall("f", {}, "c1", "k")
    first = dispatch(registry, call, deadline=0.01, store=store)
    second = dispatch(registry, call, deadline=0.01, store=store)
    assert (first.in_doubt, second.in_doubt) == (True, True)
    assert "is still running" in second.error
    go_on.set()
    assert dispatch(registry, call, deadline=60, store=store) == ToolResult(
        True, "done", call_id="c1"
    )


def test_an_interrupted_call_is_in_doubt(store):
    def interrupted():
        raise KeyboardInterrupt

    registry, call = registry_of(interrupted), ToolCall("f", {}, "c1", "k")
    with pytest.raises(KeyboardInterrupt):
        dispatch(registry, call, store=store)
    result = dispatch(registry, call, store=store)
    assert (result.ok, result.in_doubt) == (False, True)
    assert "was started and never finished" in result.error


@pytest.mark.parametrize("key", ["", 3, ["k"]])
def test_a_key_is_a_text(key):
    shop = Shop()
    assert "non-empty string" in dispatch(shop.registry, shop.call(key=key)).error
    assert shop.seen == []


def test_two_registries_do_not_share_their_keys():
    one, two = Shop(), Shop()
    for shop in (one, two):
        dispatch(shop.registry, shop.call(key="k"))
    assert (len(one.seen), len(two.seen)) == (1, 1)


class Broken:
    """A store whose file is gone, before or after the effect."""

    def __init__(self, before: bool) -> None:
        self.before = before

    def claim(self, key, fingerprint, timeout=None):
        if self.before:
            raise OSError("/var/lib/secret-place is gone")
        return MemoryStore().claim(key, fingerprint)

    def finish(self, key, result):
        raise OSError("/var/lib/secret-place is gone")

    def forget(self, key): ...


def test_a_store_that_fails_before_the_effect_prevents_it():
    shop = Shop()
    result = dispatch(shop.registry, shop.call(key="k"), store=Broken(before=True))
    assert (shop.seen, result.in_doubt) == ([], False)
    assert result.error.endswith("its idempotency key could not be claimed (OSError)")


@pytest.mark.parametrize(
    "answer", [None, Claim("replay", ["rubbish"]), Claim("replay", {"x": 1})]
)
def test_a_store_that_answers_rubbish_prevents_the_effect(answer):
    shop, store = Shop(), Broken(before=False)
    store.claim = lambda *asked: answer
    result = dispatch(shop.registry, shop.call(key="k"), store=store)
    assert (shop.seen, result.ok, result.call_id) == ([], False, "c1")
    assert "its idempotency key could not be claimed" in result.error


def test_a_store_that_fails_after_the_effect_leaves_doubt():
    shop = Shop()
    result = dispatch(shop.registry, shop.call(key="k"), store=Broken(before=False))
    assert (len(shop.seen), result.ok, result.in_doubt) == (1, False, True)


PROGRAM = """
import sys, time
from apisurface import SQLiteStore, Tool, ToolCall, ToolRegistry, dispatch

def pay():
    with open(sys.argv[2], "a") as ledger:
        ledger.write("paid ")
    print("paid", flush=True)
    if sys.argv[3] == "hang":
        time.sleep(600)
    return "paid"

registry = ToolRegistry([Tool("pay", "", {"type": "object"}, pay)])
result = dispatch(registry, ToolCall("pay", {}, "c1", "k"), store=SQLiteStore(sys.argv[1]))
print(result.ok, result.in_doubt)
"""


def test_a_process_killed_between_effect_and_entry_leaves_doubt_and_no_second_effect(tmp_path):
    command = [sys.executable, "-c", PROGRAM, tmp_path / "book.db", tmp_path / "ledger"]
    process = subprocess.Popen([*command, "hang"], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "paid\n"
    process.kill()
    process.communicate()
    restart = subprocess.run([*command, "go on"], capture_output=True, text=True, check=True)
    assert restart.stdout == "False True\n"
    assert (tmp_path / "ledger").read_text() == "paid "


def test_a_process_that_ended_well_is_replayed_by_the_next(tmp_path):
    command = [
        sys.executable,
        "-c",
        PROGRAM,
        tmp_path / "book.db",
        tmp_path / "ledger",
        "go on",
    ]
    said = [
        subprocess.run(command, capture_output=True, text=True, check=True).stdout for _ in "ab"
    ]
    assert said == ["paid\nTrue False\n", "True False\n"]
    assert (tmp_path / "ledger").read_text() == "paid "


# --- several calls ---------------------------------------------------------------


def test_results_come_in_call_order_whatever_ends_first():
    turns = {name: threading.Event() for name in "abc"}
    turns["c"].set()
    following = {"c": "b", "b": "a"}

    def wait(name):
        turns[name].wait(60)
        if name in following:
            turns[following[name]].set()
        return name

    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    calls = [ToolCall("f", {"name": name}, f"call_{name}") for name in "abc"]
    results = dispatch_all(registry_of(wait, schema=schema), calls)
    assert [(r.call_id, r.value) for r in results] == [
        ("call_a", "a"),
        ("call_b", "b"),
        ("call_c", "c"),
    ]
    assert_all_calls_answered(calls, results)


def test_all_calls_are_inside_at_the_same_time():
    meeting = threading.Barrier(8)
    registry = registry_of(lambda: meeting.wait(60) is not None)
    results = dispatch_all(registry, [ToolCall("f", {}, f"c{n}") for n in range(8)])
    assert all(result.ok for result in results)


def test_one_failure_hides_no_other_result():
    shop = Shop()
    calls = [
        shop.call(),
        shop.call(BAD, "c2"),
        ToolCall("x", {}, "c3"),
        shop.call(call_id="c4"),
    ]
    assert [result.ok for result in dispatch_all(shop.registry, calls)] == [
        True,
        False,
        False,
        True,
    ]


def test_b133_calls_that_share_an_id_are_not_run():
    shop = Shop()
    calls = [shop.call(), shop.call(call_id="c2"), shop.call()]
    results = dispatch_all(shop.registry, calls)
    assert [(r.ok, r.call_id) for r in results] == [(False, "c1"), (True, "c2"), (False, "c1")]
    assert results[0].error == "issue_refund did not run: 2 calls have the id 'c1'"
    assert len(shop.seen) == 1


def test_b133_an_unreadable_call_shares_its_id_too():
    shop = Shop()
    broken = {"id": "c1", "name": "issue_refund", "arguments": "{"}
    results = dispatch_all(shop.registry, [broken, shop.call()])
    assert [(r.ok, r.call_id) for r in results] == [(False, "c1")] * 2
    assert shop.seen == []


def test_one_call_alone_is_a_list_of_one():
    shop = Shop()
    text = json.dumps({"id": "c1", "name": "issue_refund", "arguments": GOOD})
    for one in (text, shop.call(), json.loads(text)):
        assert [(r.ok, r.call_id) for r in dispatch_all(shop.registry, one)] == [(True, "c1")]


@pytest.mark.parametrize("call_id", [None, ""])
def test_calls_without_ids_are_answered_in_their_place(call_id):
    shop = Shop()
    results = dispatch_all(shop.registry, [shop.call(call_id=call_id)] * 3)
    assert [(r.ok, r.call_id) for r in results] == [(True, None)] * 3


def test_no_calls_no_results():
    for nothing in (None, [], (), iter([]), {"role": "assistant", "content": "hi"}):
        assert dispatch_all(ToolRegistry(), nothing) == []


def test_b131_every_call_of_a_message_is_answered():
    shop = Shop()
    raw = {"id": "bash:0", "function": {"name": "issue_refund", "arguments": json.dumps(GOOD)}}
    cut = {"id": "bash:1", "function": {"name": "issue_refund", "arguments": '{"order_id'}}
    message = {"role": "assistant", "content": None, "tool_calls": [raw, cut]}
    results = dispatch_all(shop.registry, message)
    assert [(r.ok, r.call_id) for r in results] == [(True, "bash:0"), (False, "bash:1")]
    assert_all_calls_answered(message["tool_calls"], results)


def test_b133_a_message_that_uses_one_id_twice():
    shop = Shop()
    raw = {"id": "e:1", "function": {"name": "issue_refund", "arguments": json.dumps(GOOD)}}
    results = dispatch_all(shop.registry, {"role": "assistant", "tool_calls": [raw, raw]})
    assert [(r.ok, r.call_id) for r in results] == [(False, "e:1")] * 2
    assert shop.seen == []


def test_a_message_that_proposes_nothing_readable_is_one_failure():
    assert [r.ok for r in dispatch_all(ToolRegistry(), {"role": "user", "tool_calls": 3})] == [
        False
    ]


def test_options_reach_every_call():
    shop = Shop()
    calls = [shop.call(), shop.call(call_id="c2")]
    refused = dispatch_all(shop.registry, calls, authorize=lambda call: "no")
    late = dispatch_all(shop.registry, calls, deadline=0)
    assert [r.ok for r in refused + late] == [False] * 4
    assert shop.seen == []


# --- repair ----------------------------------------------------------------------


def never(errors, call):
    raise AssertionError("the policy was asked")


def test_a_good_first_call_is_never_repaired():
    shop = Shop()
    assert run_with_repair(never, shop.registry, shop.call()) == (
        ToolResult(True, "refunded", call_id="c1"),
        0,
    )


def test_a_raw_call_is_repaired_too_and_an_unreadable_one_comes_back_as_its_error():
    shop = Shop()
    raw = {"id": "c1", "name": "issue_refund", "arguments": json.dumps(BAD)}
    fixed = run_with_repair(
        lambda errors, call: replace(call, arguments=GOOD), shop.registry, raw
    )
    assert fixed == (ToolResult(True, "refunded", call_id="c1"), 1)
    partial = PartialCall("c1", "issue_refund", json.dumps(GOOD), closed=True)
    for call in (partial, {**raw, "arguments": "{"}, None, 7):
        result, repairs = run_with_repair(never, shop.registry, call)
        assert (result.ok, repairs) == (False, 0)
        assert "unreadable call" in result.error
    assert len(shop.seen) == 1


def test_repair_is_bounded_and_ends_with_the_last_failure():
    shop, asked = Shop(), []

    def stubborn(errors, call):
        asked.append(errors)
        return replace(call, arguments={"amount_cents": len(asked)})

    for limit in (0, 1, 2, 5):
        asked.clear()
        result, repairs = run_with_repair(stubborn, shop.registry, shop.call(BAD), limit)
        assert (result.ok, repairs, len(asked)) == (False, limit, limit)
    assert result.errors == ["$.order_id: required", "$.reason: required"]
    assert shop.seen == []


def test_an_unknown_tool_can_be_mended():
    shop = Shop()
    call = ToolCall("issue_refunds", GOOD, "c1")
    result, repairs = run_with_repair(
        lambda errors, call: replace(call, name="issue_refund"), shop.registry, call
    )
    assert (result.ok, repairs) == (True, 1)


def raises(errors, call):
    raise RuntimeError("the model is down")


def same(errors, call):
    return call


def none(errors, call):
    return None


@pytest.mark.parametrize("policy", [raises, same, none])
def test_a_policy_that_has_no_new_call_ends_early(policy):
    shop, attempts = Shop(), []
    result, repairs = run_with_repair(
        policy, shop.registry, shop.call(BAD), max_repairs=9, attempts=attempts
    )
    assert (result.errors, repairs, len(attempts)) == (ERRORS, 1, 1)


def test_true_mended_to_one_is_a_new_call():
    shop = Shop()
    call, mended = (
        shop.call({**GOOD, "amount_cents": True}),
        shop.call(GOOD | {"amount_cents": 1}),
    )
    result, repairs = run_with_repair(lambda errors, call: mended, shop.registry, call)
    assert (result.ok, repairs, shop.seen) == (True, 1, [mended.arguments])


def test_a_policy_that_goes_in_a_circle_ends_early():
    shop, attempts = Shop(), []
    turn = {"x": "y", "y": "x"}
    call = shop.call({"order_id": "x"})
    result, repairs = run_with_repair(
        lambda errors, call: replace(
            call, arguments={"order_id": turn[call.arguments["order_id"]]}
        ),
        shop.registry,
        call,
        max_repairs=9,
        attempts=attempts,
    )
    assert (result.ok, repairs, len(attempts)) == (False, 2, 2)


def test_the_id_and_the_key_stay_those_of_the_first_call():
    shop = Shop()
    fixed = ToolCall("issue_refund", GOOD, "other", "another")
    result, _ = run_with_repair(lambda e, c: fixed, shop.registry, shop.call(BAD, "c1", "k"))
    assert result.call_id == "c1"
    assert dispatch(shop.registry, shop.call(key="k")).ok
    assert len(shop.seen) == 1


def test_what_was_touched_or_refused_is_not_repaired():
    def fails(**arguments):
        raise ValueError("declined")

    failing = ToolRegistry([Tool("issue_refund", "", REFUND, fails)])
    shop = Shop()
    assert run_with_repair(never, failing, shop.call())[1] == 0
    assert run_with_repair(never, shop.registry, shop.call(), authorize=lambda c: "no")[1] == 0
    assert run_with_repair(never, shop.registry, shop.call(), deadline=0)[1] == 0
    assert run_with_repair(never, shop.registry, shop.call(key=""))[1] == 0


def test_attempts_are_kept_and_the_policy_cannot_change_them():
    shop, attempts = Shop(), []

    def changes(errors, call):
        errors.clear()
        call.arguments["amount_cents"] = 5000
        call.arguments["reason"] = "duplicate charge"
        return call

    call = shop.call(BAD)
    result, repairs = run_with_repair(changes, shop.registry, call, attempts=attempts)
    assert (result.ok, repairs) == (True, 1)
    assert call.arguments == BAD
    assert [(c.arguments, r.ok) for c, r in attempts] == [(BAD, False), (GOOD, True)]
    assert attempts[0][1].errors == ERRORS


def test_a_negative_bound_is_a_mistake_of_the_program():
    with pytest.raises(ValueError, match="must not be negative"):
        run_with_repair(never, ToolRegistry(), ToolCall("f", {}), -1)


# --- output ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, 2]", [1, 2]),
        ("3", 3),
        ('"x"', "x"),
        ("null", None),
        ("true", True),
        (' \n{"a": 1} \n', {"a": 1}),
        ("```json\n[1]\n```", [1]),
        ("```\n3\n```", 3),
        ("```JSON\nnull\n```", None),
        ('Here:\n```json\n{"a": 1}\n```\nDone.', {"a": 1}),
        ("Run:\n```bash\necho 1\n```\n```json\n2\n```", 2),
        ("```python\nx = 1\n```\n```\n[2]\n```", [2]),
        ("```\nnot json\n```\n```\n[2]\n```", [2]),
        ("```json\n1\n```\nor\n```json\n1\n```", 1),
        ("<think>1?</think>\n2", 2),
        ('<think>{"a": 0}</think>\n```json\n{"a": 1}\n```', {"a": 1}),
        ('Sure: {"a": {"b": 1}}', {"a": {"b": 1}}),
        ('"```json\\n1\\n```"', "```json\n1\n```"),
    ],
)
def test_a_value_of_any_type_is_found(text, value):
    found = coerce_output(text, {})
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "about five",
        "The answer is 5.",
        "```json\n{\n```",
        "```json\n1\n```\n```json\n2\n```",
        "```\n1\n```\n```\n2\n```",
        '{"limit": 100',
        "NaN",
        "[" * 100_000,
        '{"a": 1, "a": 2}',
        'Sure: {"a": {"b": 1}',
        "1 2",
        None,
        3,
        " " * 3_000_000,
    ],
)
def test_what_is_no_value_is_refused(text):
    with pytest.raises(MalformedJSON):
        coerce_output(text, {})


def test_output_is_judged_by_the_same_check_as_arguments():
    shop = Shop()
    with pytest.raises(InvalidOutput) as caught:
        coerce_output(json.dumps(BAD), REFUND)
    assert caught.value.errors == dispatch(shop.registry, shop.call(BAD)).errors
    assert caught.value.value == BAD
    assert str(caught.value) == "; ".join(ERRORS)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, BoundaryError)


def test_fences_may_repeat_a_value_and_must_not_contradict():
    fences = '```json\n{"a": 1, "b": 2}\n```\nAgain:\n```json\n%s\n```'
    assert list(coerce_output(fences % '{"b": 2, "a": 1}', {})) == ["a", "b"]
    with pytest.raises(MalformedJSON, match="fences that hold different values"):
        coerce_output(fences % '{"b": 2, "a": true}', {})


def test_a_schema_that_cannot_be_enforced_comes_first():
    with pytest.raises(UnsupportedSchema):
        coerce_output("not json", {"dependencies": {}})


# --- properties ------------------------------------------------------------------

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: st.lists(inner, max_size=2),
    max_leaves=4,
)
NEARLY = st.fixed_dictionaries(
    {},
    optional={
        "order_id": st.just("A-1") | JSON,
        "amount_cents": st.integers(-2, 5) | JSON,
        "reason": st.just("r") | JSON,
        "note": JSON,
    },
)


@given(NEARLY, st.sampled_from([None, "no", True]), st.sampled_from([None, "k", ""]))
def test_the_function_is_untouched_unless_everything_passed(arguments, verdict, key):
    shop = Shop()
    call = shop.call(arguments, key=key)
    result = dispatch(shop.registry, call, authorize=lambda call: verdict)
    passed = not validate(arguments, REFUND) and verdict is None and key != ""
    assert result.ok == passed == bool(shop.seen)
    assert bool(result.errors) != passed
    assert result.call_id == "c1"
    assert call.arguments == arguments


@given(JSON | st.dictionaries(st.text(), JSON) | st.text())
def test_dispatch_answers_everything(call):
    result = dispatch(Shop().registry, call)
    assert not result.ok
    assert all(result.errors)
    result.error.encode()


@given(NEARLY, st.lists(NEARLY, max_size=4), st.integers(0, 3))
def test_repair_never_runs_what_does_not_fit_and_never_asks_too_often(first, fixes, limit):
    shop, left = Shop(), list(fixes)

    def policy(errors, call):
        assert errors
        return replace(call, arguments=left.pop(0))

    result, repairs = run_with_repair(policy, shop.registry, shop.call(first), limit)
    assert repairs <= limit
    assert len(shop.seen) == result.ok
    assert all(not validate(seen, REFUND) for seen in shop.seen)
    if not validate(first, REFUND):
        assert (repairs, shop.seen) == (0, [first])


@given(
    JSON,
    st.sampled_from(
        ["{}", "```json\n{}\n```", "```\n{}\n```", "Here:\n```json\n{}\n```\nBye."]
    ),
)
def test_the_value_found_is_the_value_written(value, wrapping):
    assert coerce_output(wrapping.replace("{}", json.dumps(value)), {}) == value


@given(JSON)
def test_coerce_output_agrees_with_validate(value):
    schema = {"type": ["object", "integer", "array"], "items": {"type": "string"}}
    errors = validate(value, schema)
    try:
        assert coerce_output(json.dumps(value), schema) == value
        assert errors == []
    except InvalidOutput as error:
        assert error.errors == errors


def test_parsing_names_are_the_same_objects():
    assert parse_tool_call({"name": "f", "arguments": {}}) == ToolCall("f", {})
    assert parse_tool_calls(None) == []
