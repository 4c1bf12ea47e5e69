"""The loop that never returns what it refused."""

from __future__ import annotations

import copy
import functools
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import KEYS, OBJECTS, PIECES

from apisurface.extraction import (
    Extraction,
    OutputRefused,
    OutputTruncated,
    StructuredOutputFailed,
    extract,
    library_check,
)
from apisurface.levels import REFUND_SCHEMA, schema_response_format
from apisurface.objects import parse_object
from apisurface.transport import BoundaryError
from apisurface.wire import ScriptedModel, chat

GOOD = {"ticket_id": "T-011", "action": "refund", "order_id": "O-0011"} | {
    "amount_cents": 1307,
    "currency": "USD",
}
STRAY = GOOD | {"note": "stray field"}
ASK = [{"role": "user", "content": "Extract ticket T-011."}]


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def turn(content: Any, finish: str = "stop", **more: Any) -> tuple[dict[str, Any], str]:
    return {"role": "assistant", "content": content, **more}, finish


class Recorder:
    """A scripted model behind `chat` that keeps each request."""

    def __init__(self, *turns: tuple[dict[str, Any], str]) -> None:
        self.model, self.requests = ScriptedModel(list(turns)), []

    def __call__(self, messages: Any, *, response_format: Any) -> dict[str, Any]:
        self.requests.append(copy.deepcopy({"messages": messages, "format": response_format}))
        ask = functools.partial(chat, "https://h", "m", transport=self.model)
        return ask(messages, response_format=response_format)


def failed(kind: type[StructuredOutputFailed], invoke: Any, **options: Any) -> Any:
    with pytest.raises(StructuredOutputFailed) as caught:
        extract(invoke, ASK, REFUND_SCHEMA, **options)
    assert type(caught.value) is kind
    return caught.value


def test_the_figures_two_attempts_and_160_tokens() -> None:
    model = Recorder(turn(compact(STRAY)), turn(compact(GOOD)))
    accepted = extract(model, ASK, REFUND_SCHEMA)
    assert accepted == Extraction(GOOD, 2, 160)
    with pytest.raises(AttributeError):
        accepted.attempts = 1  # what was spent stays what it was
    first, second = model.requests
    assert first == {
        "messages": ASK,
        "format": schema_response_format("refund_decision", REFUND_SCHEMA),
    }
    assert second["messages"][:2] == [*ASK, {"role": "assistant", "content": compact(STRAY)}]
    assert [m["role"] for m in second["messages"]] == ["user", "assistant", "user"]
    complaint = "<root>: Additional properties are not allowed ('note' was unexpected)"
    assert complaint in second["messages"][2]["content"]


def test_all_errors_are_named_in_a_fixed_order() -> None:
    bad = {"currency": "usd", "amount_cents": -5, "items": [], "ticket_id": "T-011"}
    model = Recorder(turn(compact(bad)), turn(compact(GOOD)))
    assert extract(model, ASK, REFUND_SCHEMA).attempts == 2
    complaint = model.requests[1]["messages"][2]["content"]
    places = [
        "<root>: 'action' is a required property",
        "<root>: 'order_id' is a required property",
        "<root>: Additional properties",
        "amount_cents: -5 is less than the minimum of 0",
        "currency: 'usd' is not one of ['USD', 'EUR']",
    ]
    assert all(place in complaint for place in places)


def test_paths_into_arrays_and_odd_keys() -> None:
    schema = {"properties": {"a": {"items": {"properties": {"b c": {"type": "string"}}}}}}
    model = Recorder(turn('{"a": [{}, {"b c": 1}]}'), turn("{}"))
    extract(model, ASK, schema)
    assert 'a[1]["b c"]: 1 is not of type' in model.requests[1]["messages"][2]["content"]


def test_a_long_complaint_keeps_both_ends() -> None:
    schema = {"properties": {"a": {"enum": ["x"]}}}
    error = None
    with pytest.raises(StructuredOutputFailed) as caught:
        extract(Recorder(turn(json.dumps({"a": "y" * 9999}))), ASK, schema, max_attempts=1)
    error = caught.value
    assert error.last_complaint.startswith("a: 'yyy")
    assert error.last_complaint.endswith("is not one of ['x']")
    assert len(error.last_complaint) < 500


def test_the_semantic_check_speaks_last_and_only_on_valid_values() -> None:
    asked: list[Any] = []

    def check(value: Any) -> str | None:
        asked.append(value)
        return None if value["order_id"] == "O-0011" else "order_id does not exist"

    wrong = GOOD | {"order_id": "O-9011"}
    model = Recorder(turn(compact(STRAY)), turn(compact(wrong)), turn(compact(GOOD)))
    assert extract(model, ASK, REFUND_SCHEMA, semantic_check=check).attempts == 3
    assert asked == [wrong, GOOD]
    assert "order_id does not exist" in model.requests[2]["messages"][2]["content"]


def test_the_semantic_check_cannot_change_what_was_accepted() -> None:
    def check(value: Any) -> str | None:
        value.clear()
        return None

    assert (
        extract(Recorder(turn(compact(GOOD))), ASK, REFUND_SCHEMA, semantic_check=check).value
        == GOOD
    )


@pytest.mark.parametrize("answer", ["", " ", True, False, 0, ["x"]])
def test_a_semantic_check_that_answers_neither_is_the_callers_error(answer: Any) -> None:
    with pytest.raises(ValueError, match="None or a complaint") as caught:
        extract(
            Recorder(turn(compact(GOOD))), ASK, REFUND_SCHEMA, semantic_check=lambda _: answer
        )
    assert not isinstance(caught.value, BoundaryError)


def test_b124_each_request_adds_feedback_also_when_there_was_no_text() -> None:
    model = Recorder(
        turn("I think..."), turn(None, tool_calls=[{"id": "c"}]), turn(compact(GOOD))
    )
    assert extract(model, ASK, REFUND_SCHEMA).attempts == 3
    assert model.requests[1]["messages"][1:] != model.requests[2]["messages"][1:]
    assert "no JSON object" in model.requests[1]["messages"][2]["content"]
    assert "got a tool call" in model.requests[2]["messages"][2]["content"]
    assert model.requests[2]["messages"][1] == {"role": "assistant", "content": ""}


def test_b125_null_is_one_failed_attempt_at_the_root() -> None:
    model = Recorder(turn("null"), turn(compact(GOOD)))
    assert extract(model, ASK, REFUND_SCHEMA).attempts == 2
    complaint = model.requests[1]["messages"][2]["content"]
    assert "<root>: expected a JSON object, got null" in complaint


def test_b127_calls_and_transcript_are_bounded() -> None:
    turns = [turn(compact(STRAY | {"note": f"stray {n}"})) for n in range(9)]
    model = Recorder(*turns)
    error = failed(StructuredOutputFailed, model, max_attempts=5)
    assert error.attempts == model.model.calls == 5
    assert [len(r["messages"]) for r in model.requests] == [1, 3, 3, 3, 3]
    assert "stray 2" not in str(model.requests[4])


def test_b128_a_cut_answer_is_not_repaired() -> None:
    model = Recorder(turn('{"a": [1, 2', "length"), turn(compact(GOOD)))
    error = failed(OutputTruncated, model)
    assert (model.model.calls, error.attempts, error.last_candidate) == (1, 1, '{"a": [1, 2')
    assert error.last_complaint is None


def test_a_cut_answer_is_refused_even_when_it_parses() -> None:
    failed(OutputTruncated, Recorder(turn(compact(GOOD), "length")))


@pytest.mark.parametrize(
    "answer",
    [
        turn(None, refusal="I cannot help with that."),
        turn(compact(GOOD), refusal="I cannot help with that."),
        turn(None, "content_filter"),
        turn(compact(GOOD), "content_filter"),
        turn(None, "length", refusal="I cannot"),
    ],
)
def test_a_refusal_is_not_repaired(answer: tuple[dict[str, Any], str]) -> None:
    model = Recorder(turn(compact(STRAY)), answer, turn(compact(GOOD)))
    error = failed(OutputRefused, model)
    assert (model.model.calls, error.attempts) == (2, 2)
    assert "'note' was unexpected" in error.last_complaint
    assert error.total_tokens > 80


def test_an_empty_refusal_is_none() -> None:
    assert extract(Recorder(turn(compact(GOOD), refusal="")), ASK, REFUND_SCHEMA).value == GOOD


def test_an_unchanged_candidate_ends_the_loop_early() -> None:
    error = failed(StructuredOutputFailed, Recorder(turn(compact(STRAY))), max_attempts=9)
    assert (error.attempts, error.last_candidate) == (2, compact(STRAY))
    assert error.total_tokens == 2 * 83
    assert "unchanged" in str(error)
    assert "'note' was unexpected" in error.last_complaint


def test_going_in_circles_ends_the_loop_early() -> None:
    other = compact(STRAY | {"note": "other"})
    model = Recorder(turn(compact(STRAY)), turn(other), turn(compact(STRAY)), turn(other))
    assert failed(StructuredOutputFailed, model, max_attempts=9).attempts == 3


def test_the_failure_carries_what_was_spent_and_survives_pickling() -> None:
    model = Recorder(turn("no"), turn(""), turn(compact(STRAY)))
    error = failed(StructuredOutputFailed, model)
    assert isinstance(error, BoundaryError)
    assert isinstance(error, RuntimeError)
    assert (error.attempts, error.last_candidate) == (3, compact(STRAY))
    assert "3 attempts" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert vars(again) == vars(error)


@pytest.mark.parametrize(
    ("usage", "spent"),
    [
        ({"total_tokens": 7}, 7),
        ({"prompt_tokens": 3, "completion_tokens": 2}, 5),
        ({"total_tokens": None, "prompt_tokens": 3, "completion_tokens": 2}, 5),
        ({"total_tokens": "7"}, 0),
        ({}, 0),
        (None, 0),
    ],
)
def test_missing_usage_is_tolerated(usage: Any, spent: int) -> None:
    def invoke(messages: Any, *, response_format: Any) -> dict[str, Any]:
        return {"message": {"content": compact(GOOD)}, "finish_reason": "stop", "usage": usage}

    assert extract(invoke, ASK, REFUND_SCHEMA).total_tokens == spent


def test_content_may_come_in_parts() -> None:
    text = compact(GOOD)
    parts = [
        {"type": "text", "text": text[:20]},
        {"type": "image"},
        "x",
        {"type": "text", "text": text[20:]},
    ]
    assert extract(Recorder(turn(parts)), ASK, REFUND_SCHEMA).value == GOOD


def test_a_candidate_that_is_no_utf8_is_sent_back_escaped() -> None:
    model = Recorder(turn("bad \udc80"), turn(compact(GOOD)))
    extract(model, ASK, REFUND_SCHEMA)
    assert model.requests[1]["messages"][1]["content"] == "bad \\udc80"


def test_an_error_of_the_transport_keeps_its_type_and_notes_the_cost() -> None:
    model = Recorder(turn(compact(STRAY)))

    def invoke(messages: Any, *, response_format: Any) -> dict[str, Any]:
        if model.model.calls:
            raise TimeoutError("read timed out")
        return model(messages, response_format=response_format)

    with pytest.raises(TimeoutError) as caught:
        extract(invoke, ASK, REFUND_SCHEMA)
    assert caught.value.__notes__ == ["extract: attempt 2 of 3, 83 tokens spent"]


def test_an_error_of_the_semantic_check_keeps_its_type_and_notes_the_cost() -> None:
    with pytest.raises(KeyError) as caught:
        extract(
            Recorder(turn(compact(GOOD))), ASK, REFUND_SCHEMA, semantic_check=lambda v: v["x"]
        )
    assert caught.value.__notes__ == ["extract: attempt 1 of 3, 77 tokens spent"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objekt"},
        {"properties": {"a": {"pattern": "("}}},
        {"minimum": "1"},
        {"$ref": "#/$defs/nowhere"},
        {"properties": {"a": {"$ref": "https://example.com/schema.json"}}},
        {"$ref": "#"},
    ],
)
def test_a_bad_schema_is_the_callers_error_before_any_call(schema: dict[str, Any]) -> None:
    model = Recorder(turn("{}"))
    with pytest.raises(ValueError, match="invalid schema") as caught:
        extract(model, ASK, schema)
    assert not isinstance(caught.value, BoundaryError)
    assert model.requests == []


@pytest.mark.parametrize(
    ("option", "value"), [("max_attempts", 0), ("max_attempts", -1), ("name", "a b")]
)
def test_bad_options_are_the_callers_error_before_any_call(option: str, value: Any) -> None:
    model = Recorder(turn("{}"))
    with pytest.raises(ValueError, match=option if option != "name" else "a b"):
        extract(model, ASK, REFUND_SCHEMA, **{option: value})
    assert model.requests == []


def test_references_inside_the_document_work() -> None:
    schema = {"$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n"}}}
    assert extract(Recorder(turn('{"a": "x"}'), turn('{"a": 1}')), ASK, schema).attempts == 2


def test_nobody_can_change_anybody_elses_data() -> None:
    messages, schema = copy.deepcopy(ASK), copy.deepcopy(REFUND_SCHEMA)

    def invoke(transcript: Any, *, response_format: Any) -> dict[str, Any]:
        reply = model(transcript, response_format=response_format)
        transcript.clear()
        response_format["json_schema"]["schema"].clear()
        return reply

    model = Recorder(turn(compact(STRAY)), turn(compact(GOOD)))
    extract(invoke, messages, schema)
    assert (messages, schema) == (ASK, REFUND_SCHEMA)
    assert model.requests[1]["messages"][0] == ASK[0]
    assert model.requests[1]["format"] == model.requests[0]["format"]


ANSWERS = st.one_of(
    st.just(compact(GOOD)),
    st.sampled_from([None, "", "null", "I think...", compact(STRAY), compact(GOOD)[:40], "[]"]),
    OBJECTS.map(compact),
    st.fixed_dictionaries({key: st.just(item) | KEYS for key, item in GOOD.items()}).map(
        compact
    ),
    PIECES,
)
FINISHES = st.sampled_from(
    ["stop", "stop", "stop", "stop", "length", "content_filter", "tool_calls", "odd"]
)
TURNS = st.lists(st.tuples(ANSWERS, FINISHES), min_size=1, max_size=6)


@given(TURNS, st.integers(1, 6), st.sampled_from(["O-0011", "O-0001"]))
def test_no_script_gets_an_unaccepted_value_out_or_a_request_twice(
    turns: list[tuple[Any, str]], max_attempts: int, known: str
) -> None:
    model = Recorder(*[turn(content, finish) for content, finish in turns])

    def check(value: Any) -> str | None:
        return None if value["order_id"] == known else "order_id does not exist"

    try:
        result = extract(
            model, ASK, REFUND_SCHEMA, max_attempts=max_attempts, semantic_check=check
        )
    except StructuredOutputFailed as error:
        assert error.attempts == model.model.calls
        assert error.total_tokens > 0
    else:
        content, finish = turns[min(result.attempts, len(turns)) - 1]
        assert finish not in ("length", "content_filter")
        assert parse_object(content) == result.value == GOOD | {"order_id": known} == GOOD
        assert result.attempts == model.model.calls
    sent = [json.dumps(request) for request in model.requests]
    assert len(set(sent)) == len(sent) <= max_attempts
    assert all(len(request["messages"]) in (1, 3) for request in model.requests)


# --- the library's keywords, as ECMA-262 and the decimal text have them -------------


def test_b110_a_line_break_behind_an_id_is_refused_here_too() -> None:
    invoke = Recorder(turn(compact(GOOD | {"ticket_id": "T-011\n"})), turn(compact(GOOD)))
    assert extract(invoke, ASK, REFUND_SCHEMA).attempts == 2


@pytest.mark.parametrize("keyword", ["pattern", "patternProperties", "additionalProperties"])
def test_no_text_of_a_model_makes_a_pattern_hang(keyword: str) -> None:
    hostile, text = "^(a+)+$", "a" * 5_000 + "!"
    schema = {
        "pattern": {"properties": {"x": {"pattern": hostile}}},
        "patternProperties": {"patternProperties": {hostile: False}},
        "additionalProperties": {
            "patternProperties": {hostile: True},
            "additionalProperties": False,
        },
    }[keyword]
    value = {"x": text} if keyword == "pattern" else {text: 1}
    assert len(library_check(schema)(value)) == (keyword != "patternProperties")


def test_named_properties_patterns_and_the_rest_are_told_apart() -> None:
    check = library_check(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "properties": {"id": {}, "child": {"$ref": "#"}},
            "patternProperties": {"^S_": {"type": "string"}, "^N_[a-z]$": {"type": "number"}},
            "additionalProperties": False,
        }
    )
    assert check({"id": 1, "S_a": "a", "N_b": 1}) == []
    assert check({"S_a": 1}) == ["S_a: 1 is not of type 'string'"]
    unexpected = "Additional properties are not allowed ({!r} was unexpected)"
    assert check({"x": 1}) == [f"<root>: {unexpected.format('x')}"]
    assert check({"child": {"N_b\n": 1}}) == [f"child: {unexpected.format('N_b' + chr(10))}"]
    assert check([]) == []


@pytest.mark.parametrize(
    ("value", "step", "fits"),
    [(19.99, 0.01, True), (0.3, 0.1, True), (10**400, 0.5, True), (1e308, 0.5, True)]
    + [(10**400 + 1, 2, False), (0.35, 0.1, False), (True, 2, True), ("x", 2, True)],
)
def test_b109_a_multiple_is_judged_on_the_decimal_text(
    value: Any, step: Any, fits: bool
) -> None:
    assert (library_check({"multipleOf": step})(value) == []) is fits


def test_a_pattern_that_cannot_be_used_is_the_callers_mistake() -> None:
    for schema in ({"pattern": "("}, {"$defs": {"a": {"patternProperties": {"(": {}}}}}):
        with pytest.raises(ValueError, match="invalid schema"):
            extract(Recorder(turn("{}")), ASK, schema)
