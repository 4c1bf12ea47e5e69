"""Anthropic and Gemini: what their events say, in the words of Chat."""

import json
from typing import Any

import pytest
from chunks import calls_of, plain

from apisurface import (
    AnthropicReader,
    Delta,
    GeminiReader,
    IncompleteToolStream,
    MalformedStream,
    NotActionable,
    actionable_calls,
    assemble_chat_stream,
)

# --- anthropic -------------------------------------------------------------------


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": d} for d in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def use(input: dict[str, Any], id: str = "t1") -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "w", "input": input}


def stopped(reason: str | None) -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}},
        {"type": "message_stop"},
    ]


def json_delta(text: str) -> dict[str, Any]:
    return {"type": "input_json_delta", "partial_json": text}


def test_b050_an_anthropic_stream_cut_inside_its_input_is_incomplete() -> None:
    events = block(0, use({}), json_delta('{"a": 1'))[:-1]
    with pytest.raises(IncompleteToolStream, match="its last event") as caught:
        assemble_chat_stream(events, provider="anthropic")
    assert caught.value.received.calls[0].text == '{"a": 1'


def test_b052_the_empty_input_of_the_start_is_not_final() -> None:
    events = [
        *block(0, use({}), json_delta('{"file_'), json_delta('path": "a"}')),
        *stopped("tool_use"),
    ]
    assert plain(calls_of(events, "anthropic")) == [("t1", "w", {"file_path": "a"})]


def test_b053_the_input_of_the_start_stands_when_no_delta_comes() -> None:
    events = [*block(0, use({"a": 1})), *stopped("tool_use")]
    assert plain(calls_of(events, "anthropic")) == [("t1", "w", {"a": 1})]
    events = [*block(0, use({"a": 1}), json_delta('{"a": 2}')), *stopped("tool_use")]
    assert plain(calls_of(events, "anthropic")) == [("t1", "w", {"a": 2})]
    events = [*block(0, use({}), json_delta("")), *stopped("tool_use")]
    got = assemble_chat_stream(events, provider="anthropic")
    assert got["message"]["tool_calls"][0]["function"]["arguments"] == "{}"


@pytest.mark.parametrize("gone", range(6))
def test_no_anthropic_event_of_a_call_can_be_missing(gone: int) -> None:
    events = [*block(0, use({}), json_delta('{"a'), json_delta('": 1}')), *stopped("tool_use")]
    with pytest.raises((IncompleteToolStream, MalformedStream, NotActionable)):
        calls_of(events[:gone] + events[gone + 1 :], "anthropic")


def test_an_anthropic_message_keeps_its_blocks_in_order_under_native() -> None:
    events = [
        {
            "type": "message_start",
            "message": {
                "id": "msg_1",
                "usage": {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 1},
            },
        },
        {"type": "ping"},
        *block(
            0,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "Let me "},
            {"type": "thinking_delta", "thinking": "see."},
            {"type": "signature_delta", "signature": "sig=="},
        ),
        *block(1, {"type": "redacted_thinking", "data": "xyz"}),
        *block(
            2,
            {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}},
            json_delta('{"query": "q"}'),
        ),
        *block(
            3,
            {"type": "text", "text": "", "citations": []},
            {"type": "text_delta", "text": "Hi"},
            {"type": "citations_delta", "citation": {"url": "u"}},
            {"type": "citations_delta", "citation": {"url": "v"}},
        ),
        *block(4, use({}), json_delta('{"a": 1}')),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"output_tokens": 9},
        },
        {"type": "message_stop"},
    ]
    events = json.loads(json.dumps(events))
    got = assemble_chat_stream(events, provider="anthropic")
    assert got["request_id"] == "msg_1"
    assert got["finish_reason"] == "tool_calls"
    assert got["usage"] == {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}
    message = got["message"]
    assert (message["content"], message["reasoning"]) == ("Hi", "Let me see.")
    assert [call["id"] for call in message["tool_calls"]] == ["t1"]
    assert message["native"] == {
        "provider": "anthropic",
        "content": [
            {"type": "thinking", "thinking": "Let me see.", "signature": "sig=="},
            {"type": "redacted_thinking", "data": "xyz"},
            {
                "type": "server_tool_use",
                "id": "srv",
                "name": "web_search",
                "input": {"query": "q"},
            },
            {"type": "text", "text": "Hi", "citations": [{"url": "u"}, {"url": "v"}]},
            {"type": "tool_use", "id": "t1", "name": "w", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 9},
    }


def test_an_anthropic_message_may_be_without_an_id() -> None:
    start = {"type": "message_start", "message": {"usage": {"input_tokens": 3}}}
    got = assemble_chat_stream([start, *stopped("end_turn")], provider="anthropic")
    assert got["request_id"] is None
    assert got["usage"] == {"prompt_tokens": 3, "completion_tokens": 0, "total_tokens": 3}


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("refusal", "content_filter"),
        ("pause_turn", "pause_turn"),
    ],
)
def test_anthropic_stop_reasons_in_the_words_of_chat(word: str, finish: str) -> None:
    got = assemble_chat_stream(stopped(word), provider="anthropic")
    assert got["finish_reason"] == finish
    assert got["message"]["native"]["stop_reason"] == word


@pytest.mark.parametrize(
    "events",
    [
        [{"type": "content_block_delta", "index": 0, "delta": json_delta("{")}],
        [{"type": "content_block_stop", "index": 0}],
        [*block(0, use({}))[:1], *block(0, use({}, "t2"))[:1]],
        [
            *block(0, use({})),
            {"type": "content_block_delta", "index": 0, "delta": json_delta("1")},
        ],
        [*stopped("end_turn"), *block(0, {"type": "text", "text": "late"})],
        [*stopped("end_turn"), *block(0, {"type": "thinking", "thinking": "late"})],
        [*block(0, use({}), {"type": "text_delta", "text": "{}"}), *stopped("tool_use")],
        [*block(0, use({}), {"type": "thinking_delta", "thinking": "x"}), *stopped("tool_use")],
        [*block(0, {"type": "text", "text": ""}, json_delta("{}")), *stopped("end_turn")],
    ],
)
def test_anthropic_events_that_contradict_each_other(events: list[dict[str, Any]]) -> None:
    with pytest.raises(MalformedStream):
        assemble_chat_stream(events, provider="anthropic")


@pytest.mark.parametrize("given", [[], "", 0, False, [1], "x"])
def test_an_input_that_is_no_object_is_not_taken_for_an_empty_one(given: Any) -> None:
    got = assemble_chat_stream(
        [*block(0, use(given)), *stopped("tool_use")], provider="anthropic"
    )
    with pytest.raises(NotActionable, match="not an object") as caught:
        actionable_calls(got)
    assert caught.value.raw == json.dumps(given)
    part = {"functionCall": {"name": "f", "args": given}}
    got = assemble_chat_stream([candidate(part, finish="STOP")], provider="gemini")
    with pytest.raises(NotActionable, match="not an object"):
        actionable_calls(got)


def test_no_input_at_all_is_an_empty_object() -> None:
    none = {"type": "tool_use", "id": "t1", "name": "w"}
    for opened in (none, none | {"input": None}):
        events = [*block(0, opened), *stopped("tool_use")]
        assert plain(calls_of(events, "anthropic")) == [("t1", "w", {})]
    for call in ({"name": "f", "id": "g"}, {"name": "f", "id": "g", "args": None}):
        chunks = [candidate({"functionCall": call}, finish="STOP")]
        assert plain(calls_of(chunks, "gemini")) == [("g", "f", {})]


def test_anthropic_blocks_stand_at_their_index_whichever_opens_first() -> None:
    late, early = block(1, use({}, "t2")), block(0, use({}, "t1"))
    got = assemble_chat_stream(
        [late[0], *early, late[1], *stopped("tool_use")], provider="anthropic"
    )
    assert [call.id for call in actionable_calls(got)] == ["t1", "t2"]
    assert [each["id"] for each in got["message"]["native"]["content"]] == ["t1", "t2"]


def test_text_and_thoughts_of_the_opening_event_count() -> None:
    thinking = {"type": "thinking", "thinking": "Let "}
    events = [
        *block(0, thinking, {"type": "thinking_delta", "thinking": "me."}),
        *block(1, {"type": "text", "text": "Hi"}, {"type": "text_delta", "text": "!"}),
        *stopped("end_turn"),
    ]
    message = assemble_chat_stream(events, provider="anthropic")["message"]
    assert (message["reasoning"], message["content"]) == ("Let me.", "Hi!")
    assert message["native"]["content"] == [
        {"type": "thinking", "thinking": "Let me."},
        {"type": "text", "text": "Hi!"},
    ]


def test_a_block_of_a_type_that_nobody_knows_is_kept_with_its_pieces() -> None:
    new = {"type": "connector_text", "source": "s"}
    deltas = [{"type": "text_delta", "text": text} for text in ("a", "b")]
    other = {"type": "new_delta", "score": 1}
    events = [*block(0, new, *deltas, other), *block(1, {"type": "new"}), *stopped("end_turn")]
    message = assemble_chat_stream(events, provider="anthropic")["message"]
    assert message["content"] == "ab"
    assert message["native"]["content"] == [
        {"type": "connector_text", "source": "s", "text": "ab", "score": 1},
        {"type": "new"},
    ]


@pytest.mark.parametrize("kind", ["server_tool_use", "mcp_tool_use"])
def test_a_tool_that_the_provider_runs_is_no_call_of_ours(kind: str) -> None:
    theirs = {"type": kind, "id": "s1", "name": "search", "input": {}}
    reader = AnthropicReader()
    found = [
        d for event in block(0, theirs, json_delta('{"q": 1}')) for d in reader.read(event)
    ]
    assert found == []
    assert reader.native(0)["content"] == [theirs | {"input": {"q": 1}}]


def test_anthropic_usage_is_overlaid_by_what_is_said_later_and_not_null() -> None:
    start = {"input_tokens": 5, "output_tokens": 1, "cache_creation_input_tokens": 2}
    end = {"input_tokens": None, "output_tokens": 7, "cache_read_input_tokens": 3}
    events = [
        {"type": "message_start", "message": {"usage": start}},
        stopped("end_turn")[0] | {"usage": end},
        stopped("end_turn")[1],
    ]
    got = assemble_chat_stream(events, provider="anthropic")
    assert got["usage"] == {"prompt_tokens": 10, "completion_tokens": 7, "total_tokens": 17}
    assert got["message"]["native"]["usage"] == start | {
        "output_tokens": 7,
        "cache_read_input_tokens": 3,
    }


def test_an_anthropic_end_without_a_reason_says_what_is_missing() -> None:
    with pytest.raises(IncompleteToolStream, match="without a finish reason"):
        assemble_chat_stream(stopped(None), provider="anthropic")


# --- gemini ----------------------------------------------------------------------


def candidate(
    *parts: dict[str, Any], finish: str | None = None, index: int = 0
) -> dict[str, Any]:
    found: dict[str, Any] = {"index": index}
    if parts:
        found["content"] = {"role": "model", "parts": list(parts)}
    if finish:
        found["finishReason"] = finish
    return {"candidates": [found]}


def test_b055_gemini_arguments_without_a_name_join_the_open_call() -> None:
    chunks = [
        candidate({"functionCall": {"name": "f", "args": {}}}),
        candidate({"functionCall": {"args": {"q": "x"}}}, finish="STOP"),
    ]
    got = assemble_chat_stream(chunks, provider="gemini")
    [call] = actionable_calls(got)
    assert (call.name, call.arguments) == ("f", {"q": "x"})
    assert got["message"]["native"]["parts"] == [
        {"functionCall": {"name": "f", "args": {"q": "x"}}}
    ]
    with pytest.raises(MalformedStream, match="belong to no call"):
        assemble_chat_stream(chunks[1:], provider="gemini")
    full = candidate({"functionCall": {"name": "f", "args": {"q": "y"}}})
    with pytest.raises(MalformedStream, match="belong to no call"):
        assemble_chat_stream([full, chunks[1]], provider="gemini")


def test_b062_a_gemini_finish_without_content_ends_the_calls_before_it() -> None:
    chunks = [
        candidate({"functionCall": {"name": "f", "args": {"a": 1}}, "thoughtSignature": "s"}),
        {"candidates": [{"finishReason": "STOP"}]},
    ]
    got = assemble_chat_stream(chunks, provider="gemini")
    assert got["finish_reason"] == "tool_calls"
    [call] = actionable_calls(got)
    assert (call.name, call.arguments) == ("f", {"a": 1})
    assert got["message"]["tool_calls"][0]["synthetic_id"] is True
    assert got["message"]["native"]["finishReason"] == "STOP"
    assert got["message"]["native"]["parts"][0]["thoughtSignature"] == "s"


def test_gemini_thoughts_text_and_usage() -> None:
    usage = {
        "promptTokenCount": 10,
        "cachedContentTokenCount": 4,
        "candidatesTokenCount": 2,
        "thoughtsTokenCount": 30,
        "totalTokenCount": 42,
    }
    chunks = [
        candidate({"text": "hm", "thought": True}) | {"responseId": "r1"},
        candidate({"text": "A"}, {"text": "B"}),
        candidate(finish="MAX_TOKENS") | {"usageMetadata": usage},
    ]
    got = assemble_chat_stream(chunks, provider="gemini")
    assert (got["message"]["content"], got["message"]["reasoning"]) == ("AB", "hm")
    assert (got["finish_reason"], got["request_id"]) == ("length", "r1")
    assert got["usage"] == {"prompt_tokens": 10, "completion_tokens": 32, "total_tokens": 42}
    assert got["message"]["native"]["usage"] == usage


def test_a_blocked_gemini_prompt_is_a_content_filter_and_streamed_paths_are_refused() -> None:
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}}
    got = assemble_chat_stream([blocked], provider="gemini")
    assert got["finish_reason"] == "content_filter"
    assert got["message"]["native"]["promptFeedback"] == {"blockReason": "SAFETY"}
    by_path = {"functionCall": {"name": "f", "partialArgs": [{"jsonPath": "$.a"}]}}
    with pytest.raises(MalformedStream, match="by path"):
        assemble_chat_stream([candidate(by_path)], provider="gemini")


def test_a_blocked_prompt_ends_the_first_candidate() -> None:
    reader = GeminiReader()
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "responseId": "r1"}
    assert reader.read(blocked) == [
        Delta("id", text="r1"),
        Delta("finish", 0, "content_filter"),
    ]
    assert reader.read({"promptFeedback": {"safetyRatings": []}, "responseId": "r2"}) == []


def test_gemini_candidates_are_kept_apart() -> None:
    call = {"functionCall": {"name": "f", "id": "g", "args": {"a": 1}}}
    chunks = [
        {"candidates": [*candidate({"text": "A"})["candidates"],
                        *candidate(call, index=1)["candidates"]]},
        candidate(finish="STOP", index=1),
        candidate(finish="MAX_TOKENS"),
    ]  # fmt: skip
    first, second = assemble_chat_stream(chunks, provider="gemini", all_choices=True)["choices"]
    assert (first["message"]["content"], first["finish_reason"]) == ("A", "length")
    assert plain(actionable_calls(second)) == [("g", "f", {"a": 1})]
    assert first["message"]["native"]["parts"] == [{"text": "A"}]
    assert second["message"]["native"]["parts"] == [call]


def test_a_gemini_call_with_its_id_keeps_it() -> None:
    part = {"functionCall": {"name": "f", "id": "g1"}, "thoughtSignature": "s"}
    got = assemble_chat_stream([candidate(part, finish="STOP")], provider="gemini")
    [call] = got["message"]["tool_calls"]
    assert call["id"] == "g1"
    assert "synthetic_id" not in call


@pytest.mark.parametrize(
    "word", ["MALFORMED_FUNCTION_CALL", "OTHER", "FINISH_REASON_UNSPECIFIED"]
)
def test_a_gemini_reason_that_chat_has_no_word_for_stays_and_stops(word: str) -> None:
    part = {"functionCall": {"name": "f", "args": {}}}
    got = assemble_chat_stream([candidate(part, finish=word)], provider="gemini")
    assert got["finish_reason"] == word
    with pytest.raises(NotActionable, match=word):
        actionable_calls(got)


def test_anthropic_calls_are_numbered_from_nought_as_they_open() -> None:
    reader = AnthropicReader()
    opened = [reader.read(block(at, use({}, f"t{at}"))[0]) for at in (3, 5, 4)]
    assert [(delta.call, delta.data) for [delta] in opened] == [(0, 3), (1, 5), (2, 4)]
