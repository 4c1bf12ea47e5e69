"""One tool call there and back: what a model proposes is read and judged before anything runs."""

from __future__ import annotations

import copy
import datetime
import json
import math
import pickle
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apisurface import BoundaryError, ScriptedModel, UnsupportedSchema, chat
from apisurface.tools import (
    LOOKUP_TOOL,
    AnswerMissing,
    CallsNotAnswered,
    MalformedArguments,
    ProposalRefused,
    ToolCallError,
    assert_all_calls_answered,
    decode_arguments,
    encode_result,
    mend_history,
    run_tool_turn,
)

RECORDINGS = Path(__file__).resolve().parent.parent / "book" / "recordings"

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
).filter(lambda value: not (isinstance(value, float) and math.isinf(value)))
FINITE = st.dictionaries(TEXT, VALUES, max_size=4).filter(
    lambda value: "Infinity" not in json.dumps(value)
)


# --- arguments -------------------------------------------------------------------


@given(FINITE)
def test_an_object_its_text_and_the_text_of_its_text_mean_the_same(value: dict) -> None:
    for raw in (value, json.dumps(value), json.dumps(json.dumps(value))):
        before = copy.deepcopy(raw)
        got = decode_arguments(raw)
        assert json.dumps(got) == json.dumps(value)
        assert raw == before


def test_an_object_is_copied_at_every_depth() -> None:
    raw = {"items": [{"sku": "A"}]}
    decode_arguments(raw)["items"][0]["sku"] = "B"
    assert raw == {"items": [{"sku": "A"}]}


@pytest.mark.parametrize("raw", [None, "", "  ", "\n", "{}", {}, '"{}"', " {} "])
def test_b076_nothing_means_an_empty_object(raw: object) -> None:
    assert decode_arguments(raw) == {}


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("[]", "array"),
        ("3", "number"),
        ("3.5", "number"),
        ('"x"', "string"),
        ('""', "string"),
        ("true", "boolean"),
        ("null", "null"),
        ('"[1]"', "string"),
        (json.dumps(json.dumps(json.dumps({"a": 1}))), "string"),
        ([], "array"),
        (3, "number"),
        (True, "boolean"),
        (b"{}", "bytes"),
    ],
)
def test_b104_what_is_no_object_is_named(raw: object, kind: str) -> None:
    with pytest.raises(MalformedArguments, match=f"must be an object, got {kind}$") as caught:
        decode_arguments(raw)
    assert caught.value.raw is raw
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, BoundaryError)


@pytest.mark.parametrize(
    "raw",
    [
        '{"path":"a"}{"path":"b"}',
        '{"path": "/safe", "path": "/etc"}',
        "{'q': 'x', 'ok': True}",
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"t": "\\ud83d"}',
        '{"command": "ls',
        '"{\\"a\\": "',
        '{"a": ' + "[" * 100_000,
        '{"n": ' + "9" * 5000 + "}",
        {"a": math.nan},
        {"a": math.inf},
        {"a": "\ud83d"},
        {"a": datetime.time(9)},
        {("a", 1): 2},
        {1: "a", "1": "b"},
        {"n": 10**5000},
    ],
)
def test_what_is_not_strict_json_is_refused_with_what_came(raw: object) -> None:
    with pytest.raises(MalformedArguments, match=r"^arguments are not") as caught:
        decode_arguments(raw)
    assert caught.value.raw is raw


def test_a_deep_or_circular_object_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(200_000):
        deep = {"a": deep}
    circle: dict[str, Any] = {}
    circle["a"] = circle
    for raw in (deep, circle):
        with pytest.raises(MalformedArguments):
            decode_arguments(raw)
    while deep:  # taken apart by hand: freeing it at once would recurse
        deep = deep["a"]


def test_b139_a_string_that_looks_like_json_stays_a_string() -> None:
    for text in ("12345", '{"a":1}', "true", "null", "[1]"):
        value = {"p": text}
        for raw in (value, json.dumps(value), json.dumps(json.dumps(value))):
            assert decode_arguments(raw) == {"p": text}


def test_b140_values_are_not_coerced() -> None:
    raw = '{"ms": "2000", "ok": "false"}'
    assert decode_arguments(raw) == {"ms": "2000", "ok": "false"}


def test_b080_b155_an_object_is_taken_as_it_is() -> None:
    assert decode_arguments({"a": 1}) == {"a": 1}
    assert decode_arguments(None) == {}


# --- results ---------------------------------------------------------------------


@given(VALUES)
def test_a_result_is_read_back_as_it_was(value: Any) -> None:
    text = encode_result(value)
    assert text == value if isinstance(value, str) else json.loads(text) == value


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (datetime.time(9), "time at $"),
        ({"t": datetime.time(9), "s": {1}}, "time at $.t"),
        ({"s": {1, 2}}, "set at $.s"),
        ({"b": [b"\xff"]}, "bytes at $.b[0]"),
        ({"a": {"b c": [1, (2, math.nan)]}}, 'nan at $.a["b c"][1][1]'),
        ([-math.inf], "-inf at $[0]"),
        ({1: "a"}, "int as a key at $"),
        ("\ud83d", "unpaired surrogate at $"),
        ({"a": ["\udc00"]}, "unpaired surrogate at $.a[0]"),
        (object, "type at $"),
    ],
)
def test_b137_what_json_cannot_hold_is_named_with_its_place(value: object, fault: str) -> None:
    with pytest.raises(ValueError, match="not serialisable") as caught:
        encode_result(value)
    assert str(caught.value) == f"result not serialisable: {fault}"


def test_a_result_that_holds_itself_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(ValueError, match="nesting deeper than 100"):
        encode_result(circle)


def test_a_hundred_levels_can_be_written_and_read_again() -> None:
    value: Any = 1
    for _ in range(100):
        value = {"a": value}
    assert decode_arguments(encode_result(value)) == value
    with pytest.raises(ValueError, match="nesting deeper than 100"):
        encode_result([value])


def test_a_number_too_long_to_write_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="digits"):
        encode_result(10**5000)


# --- one turn --------------------------------------------------------------------

ASKED = [{"role": "user", "content": "Where is order O-0042?"}]
GOOD = '{"order_id": "O-0042"}'


def call(arguments: Any = GOOD, *, name: str = "lookup_order", id: Any = "call_1") -> dict:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def proposes(*calls: dict, finish: str = "tool_calls", **more: Any) -> tuple[dict, str]:
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}, finish


def says(text: str, finish: str = "stop") -> tuple[dict, str]:
    return {"role": "assistant", "content": text}, finish


class Handler:
    """A handler that remembers what it was called with."""

    def __init__(self, result: Any = None) -> None:
        self.seen: list[dict] = []
        self.result = result

    def __call__(self, **arguments: Any) -> Any:
        self.seen.append(arguments)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


def turn(*turns: tuple, handler: Handler | None = None, **options: Any) -> tuple[Any, Any]:
    model = ScriptedModel(turns)
    invoke = partial(chat, "https://models.example", "m", transport=model)
    tool = options.pop("tool", LOOKUP_TOOL)
    return run_tool_turn(invoke, ASKED, tool, handler or Handler({}), **options), model


def test_a_call_goes_there_and_back() -> None:
    handler = Handler({"status": "shipped"})
    first = proposes(call(), reasoning_content="think", native={"signature": "x"})
    final, model = turn(first, says("It has shipped."), handler=handler)
    assert handler.seen == [{"order_id": "O-0042"}]
    assert final["message"]["content"] == "It has shipped."
    assert list(final) == ["message", "finish_reason", "usage", "request_id"]
    assert final["request_id"] == "stub-2"
    assert model.calls == 2
    assert model.last_body["tools"] == [LOOKUP_TOOL]
    assert model.last_body["messages"] == [
        *ASKED,
        first[0],
        {"role": "tool", "tool_call_id": "call_1", "content": '{"status": "shipped"}'},
    ]


def test_the_recorded_replies_of_a_real_server_make_a_turn() -> None:
    names = ("tool-call", "tool-answer")
    texts = [(RECORDINGS / f"{name}.json").read_text(encoding="utf-8") for name in names]
    replies = iter([json.loads(text)["result"] for text in texts])
    handler = Handler({"status": "delayed"})
    final = run_tool_turn(lambda messages, tools: next(replies), ASKED, LOOKUP_TOOL, handler)
    assert final["message"]["content"] == "Order O-0042 is delayed."
    assert handler.seen == [{"order_id": "O-0042"}]


@pytest.mark.parametrize("arguments", [GOOD, json.loads(GOOD), json.dumps(GOOD)])
def test_arguments_in_each_form_reach_the_handler(arguments: Any) -> None:
    handler = Handler("ok")
    turn(proposes(call(arguments), finish="stop"), says("ok"), handler=handler)
    assert handler.seen == [{"order_id": "O-0042"}]


REFUSED: dict[str, tuple[tuple, list[str]]] = {
    "words": (says("no"), ["tool_calls: expected exactly one call, got 0"]),
    "words, tool finish": (
        says("no", "tool_calls"),
        ["tool_calls: expected exactly one call, got 0"],
    ),
    "two": (proposes(call(), call(id="b")), ["tool_calls: expected exactly one call, got 2"]),
    "not a list": (
        ({"role": "assistant", "tool_calls": {"0": call()}}, "tool_calls"),
        ["tool_calls: expected exactly one call, got dict"],
    ),
    "not an object": (proposes("x"), ["tool_calls: expected exactly one call, got 1"]),  # type: ignore[arg-type]
    "length": (
        proposes(call(), finish="length"),
        ["finish: expected tool_calls or stop, got length"],
    ),
    "filter": (
        says("", "content_filter"),
        ["finish: expected tool_calls or stop, got content_filter"],
    ),
    "no finish": (
        proposes(call(), finish=None),
        ["finish: expected tool_calls or stop, got None"],
    ),  # type: ignore[arg-type]
    "another tool": (
        proposes(call(name="lookup_orders")),
        ["name: 'lookup_orders' was not offered, only 'lookup_order'"],
    ),
    "another case": (
        proposes(call(name="Lookup_Order")),
        ["name: 'Lookup_Order' was not offered, only 'lookup_order'"],
    ),
    "no function, no id": (
        proposes({"type": "function"}),
        [
            "id: a call without an id cannot be answered",
            "name: None was not offered, only 'lookup_order'",
        ],
    ),
    "a call of another type": (
        proposes({**call(), "type": "custom"}),
        ["name: None was not offered, only 'lookup_order'"],
    ),
    "empty id": (proposes(call(id="")), ["id: a call without an id cannot be answered"]),
    "number id": (proposes(call(id=7)), ["id: a call without an id cannot be answered"]),
    "no object": (proposes(call("[]")), ["$: arguments must be an object, got array"]),
    "nothing": (proposes(call("")), ["$.order_id: required"]),
    "three faults": (
        proposes(call('{"order_id": 42, "x": 1, "y": 2}')),
        [
            "$.order_id: expected string, got integer",
            "$.x: unexpected property",
            "$.y: unexpected property",
        ],
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_one_good_proposal_never_reaches_the_handler(what: str) -> None:
    reply, errors = REFUSED[what]
    handler = Handler()
    with pytest.raises(ProposalRefused) as caught:
        turn(reply, handler=handler)
    assert sorted(caught.value.errors) == sorted(errors)
    assert str(caught.value) == "; ".join(caught.value.errors)
    assert caught.value.reply["message"] == json.loads(json.dumps(reply[0]))
    assert handler.seen == []


def test_authorize_decides_before_the_handler_and_sees_a_copy() -> None:
    handler = Handler()
    asked = []

    def authorize(name: str, arguments: dict) -> str | None:
        asked.append((name, dict(arguments)))
        arguments["order_id"] = "O-9999"
        return "not yours"

    with pytest.raises(ProposalRefused, match=r"^not authorized: not yours$"):
        turn(proposes(call()), handler=handler, authorize=authorize)
    assert asked == [("lookup_order", {"order_id": "O-0042"})]
    assert handler.seen == []

    def changes(name: str, arguments: dict) -> None:
        arguments["order_id"] = "O-9999"

    turn(proposes(call()), says("ok"), handler=handler, authorize=changes)
    assert handler.seen == [{"order_id": "O-0042"}]


@pytest.mark.parametrize("verdict", [True, False, "", " ", 1, []])
def test_a_verdict_that_is_neither_none_nor_a_complaint_lets_nothing_run(verdict: Any) -> None:
    handler = Handler()
    with pytest.raises(ValueError, match="authorize must return None or a complaint"):
        turn(proposes(call()), handler=handler, authorize=lambda name, arguments: verdict)
    assert handler.seen == []


def test_authorize_is_not_asked_about_bad_arguments() -> None:
    with pytest.raises(ProposalRefused, match="required"):
        turn(proposes(call("{}")), authorize=lambda name, arguments: 1 / 0)


def test_what_the_handler_raises_passes_with_a_note_and_nothing_is_sent() -> None:
    error = TimeoutError()
    model = ScriptedModel([proposes(call()), says("never")])
    invoke = partial(chat, "https://models.example", "m", transport=model)
    with pytest.raises(TimeoutError) as caught:
        run_tool_turn(invoke, ASKED, LOOKUP_TOOL, Handler(error))
    assert caught.value is error
    assert error.__notes__ == [
        "run_tool_turn: lookup_order was started for call_1 and may have acted"
    ]
    assert model.calls == 1


def test_b137_a_result_that_json_cannot_hold_does_not_end_the_turn() -> None:
    handler = Handler({"at": datetime.time(9)})
    _, model = turn(proposes(call()), says("ok"), handler=handler)
    content = model.last_body["messages"][-1]["content"]
    assert json.loads(content) == {
        "error": "the tool ran; result not serialisable: time at $.at"
    }


@pytest.mark.parametrize(
    ("second", "got"),
    [
        (proposes(call(id="call_2")), "tool_calls"),
        (proposes(call(id="call_2"), finish="stop"), "stop"),
        (says("cut", "length"), "length"),
        (says("", "content_filter"), "content_filter"),
    ],
)
def test_one_proposal_and_no_more(second: tuple, got: str) -> None:
    handler = Handler("shipped")
    with pytest.raises(AnswerMissing, match=f"expected an answer, got {got}$") as caught:
        turn(proposes(call()), second, handler=handler)
    assert len(handler.seen) == 1
    assert [m["role"] for m in caught.value.transcript] == ["user", "assistant", "tool"]
    assert caught.value.transcript[-1]["content"] == "shipped"
    assert caught.value.reply["message"] == second[0]


def test_a_second_request_that_fails_keeps_what_has_run() -> None:
    replies = iter([{"message": proposes(call())[0], "finish_reason": "tool_calls"}])

    def invoke(messages: list, tools: list) -> dict:
        for reply in replies:
            return reply
        raise ConnectionError("gone")

    with pytest.raises(
        AnswerMissing, match="the tool ran, then ConnectionError: gone"
    ) as caught:
        run_tool_turn(invoke, ASKED, LOOKUP_TOOL, Handler("shipped"))
    assert isinstance(caught.value.__cause__, ConnectionError)
    assert caught.value.transcript[-1]["content"] == "shipped"
    assert caught.value.reply is None


def test_a_first_request_that_fails_passes_as_it_is() -> None:
    with pytest.raises(ZeroDivisionError):
        run_tool_turn(lambda messages, tools: 1 / 0, ASKED, LOOKUP_TOOL, Handler())  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    ("reply", "got"),
    [(None, "null"), ([], "array"), ({}, "dict"), ({"message": "hi"}, "dict")],
)
def test_a_reply_without_a_message_is_refused(reply: Any, got: str) -> None:
    handler = Handler()
    with pytest.raises(ProposalRefused, match=f"reply: expected one with a message, got {got}"):
        run_tool_turn(lambda *a, **k: reply, ASKED, LOOKUP_TOOL, handler)
    assert handler.seen == []


def test_nobody_can_change_what_was_given_or_what_is_enforced() -> None:
    tool, messages = copy.deepcopy(LOOKUP_TOOL), copy.deepcopy(ASKED)
    replies = iter([proposes(call('{"order_id": "anything"}')), says("ok")])

    def meddling(transcript: list, tools: list) -> dict:
        tools[0]["function"]["parameters"].clear()
        tool["function"]["parameters"]["properties"].clear()
        transcript.append({"role": "user", "content": "more"})
        message, finish = next(replies)
        return {"message": message, "finish_reason": finish}

    with pytest.raises(ProposalRefused, match="order_id"):
        run_tool_turn(meddling, messages, tool, Handler())
    assert messages == ASKED


@pytest.mark.parametrize(
    "tool",
    [
        {},
        {"function": None},
        {"function": {"name": "f"}},
        {"name": "f", "parameters": {}},
        {"function": {"parameters": {}}},
        {"function": {"name": "", "parameters": {}}},
    ],
)
def test_a_tool_of_another_shape_is_refused_before_any_request(tool: dict) -> None:
    with pytest.raises(ValueError, match="like LOOKUP_TOOL"):
        run_tool_turn(lambda *a, **k: 1 / 0, ASKED, tool, Handler())  # type: ignore[arg-type, return-value]


def test_a_schema_that_cannot_be_enforced_is_refused_before_any_request() -> None:
    tool = {"function": {"name": "f", "parameters": {"type": "object", "dependencies": {}}}}
    with pytest.raises(UnsupportedSchema):
        run_tool_turn(lambda *a, **k: 1 / 0, ASKED, tool, Handler())  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    "error",
    [
        MalformedArguments("a", raw="x"),
        ProposalRefused("a", "b", reply={"x": 1}),
        AnswerMissing("a", transcript=[1], reply={}),
        CallsNotAnswered("a", "b"),
    ],
)
def test_an_error_survives_the_way_between_processes(error: ToolCallError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.__dict__ == error.__dict__
    assert isinstance(again, ValueError)


# --- correlation -----------------------------------------------------------------


def result(id: str, content: Any = "done") -> dict:
    return {"role": "tool", "tool_call_id": id, "content": content}


def test_figures_of_the_contract_answers_in_reverse_pair_by_id() -> None:
    calls = [
        call('{"order_id": "O-0001"}', id="call_a"),
        call('{"order_id": "O-0002"}', id="call_b"),
    ]
    results = [result("call_b", "delayed"), result("call_a", "shipped")]
    assert_all_calls_answered(calls, results)
    content = {r["tool_call_id"]: r["content"] for r in results}
    pairs = {
        json.loads(c["function"]["arguments"])["order_id"]: content[c["id"]] for c in calls
    }
    assert pairs == {"O-0001": "shipped", "O-0002": "delayed"}


class Value:
    """Stands for ToolCall and ToolResult."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


def test_calls_and_results_may_be_dicts_values_or_ids() -> None:
    assert_all_calls_answered(["a"], ["a"])
    assert_all_calls_answered([Value(id="a")], [Value(call_id="a")])
    assert_all_calls_answered([{"id": "a"}], [{"type": "tool_result", "tool_use_id": "a"}])
    assert_all_calls_answered(
        [{"type": "function_call", "id": "fc_1", "call_id": "a"}],
        [{"type": "function_call_output", "id": "fo_1", "call_id": "a"}],
    )
    assert_all_calls_answered(iter(["a", "b"]), iter(["b", "a"]))
    assert_all_calls_answered([], [])


@pytest.mark.parametrize(
    ("calls", "results", "errors"),
    [
        ("ab", "abb", ["duplicate result for 'b'"]),
        ("ab", "a", ["no result for 'b'"]),
        ("ab", "abz", ["result for unknown id 'z'"]),
        ("ab", "", ["no result for 'a'", "no result for 'b'"]),
        ("", "a", ["result for unknown id 'a'"]),
        ("aa", "aa", ["two calls with the id 'a'", "duplicate result for 'a'"]),
        ("aa", "a", ["two calls with the id 'a'"]),
        ([""], [""], ["a call without an id", "a result without an id"]),
        ([None], "", ["a call without an id"]),
        (
            "abc",
            "bbz",
            [
                "no result for 'a'",
                "no result for 'c'",
                "duplicate result for 'b'",
                "result for unknown id 'z'",
            ],
        ),
    ],
)
def test_b131_b133_b134_every_id_once_or_all_faults_are_listed(
    calls: Any, results: Any, errors: list[str]
) -> None:
    with pytest.raises(CallsNotAnswered) as caught:
        assert_all_calls_answered(calls, results)
    assert caught.value.errors == errors


@given(st.lists(st.text(min_size=1), unique=True), st.randoms())
def test_any_order_is_right_and_any_loss_or_repeat_is_not(ids: list[str], random: Any) -> None:
    results = [result(id) for id in ids]
    random.shuffle(results)
    assert_all_calls_answered([call(id=id) for id in ids], results)
    if ids:
        spoilt = random.choice(
            [results[1:], [*results, results[0]], [*results, result("".join(ids) + "x")]]
        )
        with pytest.raises(CallsNotAnswered):
            assert_all_calls_answered([call(id=id) for id in ids], spoilt)


# --- stored conversations --------------------------------------------------------


def test_b142_a_broken_call_stays_paired_and_becomes_readable() -> None:
    history = [
        *ASKED,
        proposes(call('{"command": "ls', name="bash"))[0],
        result("call_1", "error: invalid arguments"),
    ]
    before = copy.deepcopy(history)
    mended = mend_history(history)
    assert history == before
    assert mended[1]["tool_calls"] == [call("{}", name="bash")]
    assert mended[2]["content"].startswith(
        "error: invalid arguments\n[The call was not valid: "
    )
    assert """It was: '{"command": "ls']""" in mended[2]["content"]
    assert mended[0] == ASKED[0]


@pytest.mark.parametrize(
    ("raw", "sent"),
    [
        ("", "{}"),
        (None, "{}"),
        ({"a": "é"}, '{"a": "é"}'),
        ('"{\\"a\\": 1}"', '{"a": 1}'),
        ('{"a":1}', '{"a":1}'),
        (' {"a" : 1}', ' {"a" : 1}'),
    ],
)
def test_b142_arguments_that_mean_something_keep_their_meaning(raw: Any, sent: str) -> None:
    mended = mend_history([proposes(call(raw))[0], result("call_1")])
    assert mended[0]["tool_calls"][0]["function"]["arguments"] == sent
    assert mended[1] == result("call_1")


def test_b142_what_was_written_is_quoted_up_to_400_characters() -> None:
    [_, answer] = mend_history([proposes(call("x" * 5000))[0], result("call_1", "")])
    assert answer["content"].endswith("It was: '" + "x" * 399 + "]")


def test_b142_an_empty_name_is_given_one_and_said() -> None:
    mended = mend_history([proposes(call(name=""))[0], result("call_1", None)])
    assert mended[0]["tool_calls"] == [call(name="unnamed")]
    assert mended[1]["content"] == "[The call had no name.]"
    [turn, _] = mend_history([proposes({"id": "a", "type": "function"})[0], result("a")])
    assert turn["tool_calls"][0]["function"] == {"name": "unnamed", "arguments": "{}"}


def test_b142_a_note_is_added_to_a_result_in_parts() -> None:
    parts = [{"type": "text", "text": "no"}]
    mended = mend_history([proposes(call("["))[0], result("call_1", parts)])
    assert mended[1]["content"][0] == parts[0]
    assert "It was: '['" in mended[1]["content"][1]["text"]


def test_b133_a_repeated_id_is_renamed_in_the_call_and_in_its_result() -> None:
    same = "functions.eval:1"
    history = [
        proposes(call('{"e":1}', id=same), call('{"e":2}', id=same))[0],
        result(same, "first"),
        result(same, "second"),
        proposes(call('{"e":3}', id=same))[0],
        result(same, "third"),
    ]
    mended = mend_history(history)
    ids = [c["id"] for turn in mended for c in turn.get("tool_calls", [])]
    assert ids == [same, f"{same}-2", f"{same}-3"]
    answers = {r["tool_call_id"]: r["content"] for r in mended if r["role"] == "tool"}
    assert answers == dict(zip(ids, ["first", "second", "third"], strict=True))


def test_b131_a_call_that_nobody_answered_is_answered() -> None:
    mended = mend_history([proposes(call(id="a"), call(id="b"))[0], result("b"), *ASKED])
    assert mended[1:] == [result("b"), result("a", "not executed"), *ASKED]
    mended = mend_history([proposes(call(id=None))[0]])
    assert mended[0]["tool_calls"][0]["id"] == mended[1]["tool_call_id"] == "call"


def test_a_call_of_another_kind_is_left_alone() -> None:
    custom = {"id": "a", "type": "custom", "custom": {"name": "sql", "input": "select"}}
    history = [proposes(custom)[0], result("a")]
    assert mend_history(history) == history


@pytest.mark.parametrize(
    "history",
    [
        [result("a")],
        [*ASKED, result("a")],
        [proposes(call(id="a"))[0], result("b")],
        [proposes(call(id="a"))[0], result("a"), result("a")],
        [proposes(call(id="a"))[0], *ASKED, result("a")],
    ],
)
def test_a_result_that_no_call_waits_for_is_refused(history: list) -> None:
    with pytest.raises(CallsNotAnswered, match="no call waits for"):
        mend_history(history)


CALLS = st.builds(
    call,
    st.sampled_from([GOOD, "", None, "[1", {"a": 1}, "3", '"{}"']),
    name=st.sampled_from(["f", ""]),
    id=st.sampled_from(["a", "b", "a-2", "", None]),
)
TURNS = st.lists(CALLS, max_size=4).flatmap(
    lambda calls: st.permutations(calls).map(
        lambda order: [proposes(*calls)[0], *(result(c["id"] or "") for c in order)]
    )
)


@given(st.lists(TURNS, max_size=3))
def test_a_mended_history_is_what_every_strict_server_reads(turns: list) -> None:
    history = [message for turn in turns for message in copy.deepcopy(turn)]
    mended = mend_history(history)
    assert mend_history(mended) == mended
    assert len(mended) == len(history)
    seen: set[str] = set()
    at = 0
    while at < len(mended):
        calls, at = mended[at]["tool_calls"], at + 1
        results = mended[at : at + len(calls)]
        assert_all_calls_answered(calls, results)
        for proposed in calls:
            assert isinstance(json.loads(proposed["function"]["arguments"]), dict)
            assert proposed["function"]["name"]
            assert proposed["id"] not in seen
            seen.add(proposed["id"])
        at += len(calls)


def test_a_history_without_calls_comes_back_equal_and_is_a_copy() -> None:
    history = [
        *ASKED,
        says("hello")[0],
        {"role": "assistant", "content": "", "tool_calls": None},
    ]
    mended = mend_history(history)
    assert mended == history
    mended[0]["content"] = "changed"
    assert history[0] == ASKED[0]


def test_a_refused_call_can_be_kept_and_the_conversation_goes_on() -> None:
    """The whole way: refused, answered, mended, and accepted by a strict reader."""
    reply = proposes(call('{"order_id": '))
    with pytest.raises(ProposalRefused) as caught:
        turn(reply)
    history = [*ASKED, caught.value.reply["message"], result("call_1", str(caught.value))]
    [mended] = mend_history(history)[1]["tool_calls"]
    assert json.loads(mended["function"]["arguments"]) == {}
