"""What one chunk says: fields that Chat has, fields that it has not, and calls of another kind."""

from typing import Any

import pytest

from apisurface import (
    ChatReader,
    Delta,
    MalformedStream,
    actionable_calls,
    argument_text,
    assemble_chat_stream,
)


def chunk(delta: Any, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish} | more]}


def native(*chunks: dict[str, Any]) -> dict[str, Any]:
    message = assemble_chat_stream([*chunks, chunk({}, "stop")])["message"]
    return message.get("native", {})


def test_a_plain_answer_has_nothing_native() -> None:
    got = assemble_chat_stream([chunk({"role": "assistant", "content": "Hi"}, "stop")])
    assert got == {
        "message": {"role": "assistant", "content": "Hi"},
        "finish_reason": "stop",
        "usage": {},
        "request_id": None,
    }


def test_content_is_null_when_none_came_and_empty_when_that_was_said() -> None:
    for said, content in (({}, None), ({"content": None}, None), ({"content": ""}, "")):
        got = assemble_chat_stream([chunk(said), chunk({}, "stop")])
        assert got["message"]["content"] == content


def test_empty_text_after_text_is_no_delta() -> None:
    reader = ChatReader()
    assert reader.read(chunk({"content": ""})) == [Delta("text", 0, "")]
    assert reader.read(chunk({"content": ""})) == []
    assert reader.read(chunk({"content": "x"})) == [Delta("text", 0, "x")]


def test_an_empty_piece_after_the_end_is_no_content() -> None:
    after = chunk({"role": "assistant", "content": "", "tool_calls": []})
    got = assemble_chat_stream([chunk({"content": "Hi"}, "stop"), after])
    assert (got["message"]["content"], got["finish_reason"]) == ("Hi", "stop")


@pytest.mark.parametrize("late", [{"content": "x"}, {"refusal": "x"}, {"reasoning": "x"}])
def test_any_text_after_the_end_is_malformed(late: dict[str, Any]) -> None:
    with pytest.raises(MalformedStream, match="after the end") as caught:
        assemble_chat_stream([chunk({"content": "Hi"}, "stop"), chunk(late)])
    assert caught.value.received.content == "Hi"


@pytest.mark.parametrize("late", [{"id": "c2"}, {"function": {"name": "g"}}])
def test_a_call_after_the_end_is_malformed(late: dict[str, Any]) -> None:
    with pytest.raises(MalformedStream, match="after the end"):
        assemble_chat_stream([chunk({}, "stop"), chunk({"tool_calls": [{"index": 0} | late]})])


def test_a_message_in_place_of_a_delta_is_read_and_one_beside_it_is_not() -> None:
    message = {"content": "Hi"}
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    assert assemble_chat_stream([whole])["message"]["content"] == "Hi"
    both = {"choices": [{"index": 0, "delta": {}, "message": message, "finish_reason": "stop"}]}
    assert assemble_chat_stream([both])["message"]["content"] is None


def test_reasoning_by_either_word_is_kept_in_both_places() -> None:
    for word in ("reasoning", "reasoning_content"):
        got = assemble_chat_stream(
            [chunk({word: "Let "}), chunk({word: "me."}), chunk({}, "stop")]
        )
        assert got["message"]["reasoning"] == "Let me."
        assert got["message"]["native"] == {"provider": "openai-chat", word: "Let me."}
    both = {"reasoning": "hm", "reasoning_content": "hm"}
    got = assemble_chat_stream([chunk(both, "stop")])
    assert got["message"]["reasoning"] == "hm"


def test_fields_that_nobody_knows_grow_or_are_replaced() -> None:
    chunks = [
        chunk({"audio": {"id": "a"}, "notes": [1], "more": "x", "flag": 1, "gone": None}),
        chunk({"audio": {"id": "b"}, "notes": [2], "more": "y", "flag": 2, "empty": ""}),
    ]
    assert native(*chunks) == {
        "provider": "openai-chat",
        "more": "xy",
        "notes": [1, 2],
        "audio": {"id": "b"},
        "flag": 2,
    }


def test_content_in_parts_is_text_and_thinking() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "Hi"},
        {"type": "reference", "reference_ids": [1]},
    ]
    got = assemble_chat_stream([chunk({"content": parts}, "stop")])
    assert (got["message"]["content"], got["message"]["reasoning"]) == ("Hi", "hm")
    assert got["message"]["native"]["content"] == parts


def test_custom_calls_are_native_and_no_tool_calls() -> None:
    first = {"index": 0, "id": "x1", "type": "custom", "custom": {"name": "sh", "input": ""}}
    other = {
        "index": 1,
        "id": "c1",
        "type": "function",
        "function": {"name": "f", "arguments": "{}"},
    }
    chunks = [
        chunk({"tool_calls": [first]}),
        chunk({"tool_calls": [{"index": 0, "custom": {"input": "ls "}}]}),
        chunk({"tool_calls": [other]}),
        chunk({"tool_calls": [{"index": 0, "custom": {"input": "-l"}}]}),
        chunk({}, "tool_calls"),
    ]
    got = assemble_chat_stream(chunks)
    assert [call.id for call in actionable_calls(got)] == ["c1"]
    assert got["message"]["native"]["custom_calls"] == [
        {"id": "x1", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}
    ]


def test_what_a_server_adds_to_a_call_is_kept_beside_it() -> None:
    item = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": "{}"}}
    item |= {"extra_content": {"google": {"thought_signature": "s"}}}
    assert native(chunk({"tool_calls": [item]}))["call_fields"] == {
        "c1": {"extra_content": {"google": {"thought_signature": "s"}}}
    }


def test_an_empty_fragment_of_nobody_opens_nothing() -> None:
    empty = {"index": 3, "function": {"arguments": ""}}
    got = assemble_chat_stream([chunk({"tool_calls": [empty]}, "stop")])
    assert "tool_calls" not in got["message"]


def test_usage_is_the_last_said_never_a_sum_and_what_is_more_is_native() -> None:
    def used(n: int, **more: Any) -> dict[str, Any]:
        usage = {"prompt_tokens": 3, "completion_tokens": n, "total_tokens": 3 + n}
        return {"choices": [], "usage": usage | more}

    details = {"prompt_tokens_details": {"cached_tokens": 2}}
    end = chunk({}, "stop")
    got = assemble_chat_stream([used(1), used(2), end, used(4, **details), {"usage": None}])
    assert got["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert got["message"]["native"]["usage"] == used(4, **details)["usage"]
    groq = {"choices": [], "x_groq": {"id": "r", "usage": {"total_tokens": 9}}}
    assert assemble_chat_stream([end, groq])["usage"] == {"total_tokens": 9}


def test_the_first_id_that_is_one_names_the_response() -> None:
    chunks = [
        {"id": "", "choices": []},
        chunk({}, "stop") | {"id": "a"},
        {"id": "b", "choices": []},
    ]
    assert assemble_chat_stream(chunks)["request_id"] == "a"


def test_a_gateways_own_word_for_the_end_is_kept() -> None:
    end = chunk({"content": "Hi"}, "stop", native_finish_reason="end_turn")
    assert assemble_chat_stream([end])["message"]["native"] == {
        "provider": "openai-chat",
        "native_finish_reason": "end_turn",
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [("", ""), ('{"a', '{"a'), (None, ""), ({}, "{}"), ({"a": "ü"}, '{"a": "ü"}')],
)
def test_arguments_as_text(value: object, text: str) -> None:
    assert argument_text(value) == text


@pytest.mark.parametrize("value", [1, True, ["a"], 0.5])
def test_arguments_of_another_kind_are_malformed(value: object) -> None:
    with pytest.raises(MalformedStream):
        argument_text(value)


def test_made_ids_are_the_same_for_the_same_bytes_and_differ_otherwise() -> None:
    def made(*texts: str, name: str = "f", request: str = "r") -> list[str]:
        items = [
            {"index": at, "function": {"name": name, "arguments": text}}
            for at, text in enumerate(texts)
        ]
        end = chunk({"tool_calls": items}, "tool_calls") | {"id": request}
        return [call["id"] for call in assemble_chat_stream([end])["message"]["tool_calls"]]

    first = made("{}", "{}")
    assert made("{}", "{}") == first
    assert len({*first, *made("{}", "{}", name="g"), *made("{}", "{}", request="s")}) == 6
