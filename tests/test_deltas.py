"""What one chunk says: which call, fields Chat has, fields it has not, calls of another kind."""

from typing import Any

import pytest
from chunks import END, calls_of, chunk, plain, tool, tools

from apisurface import (
    ChatReader,
    Delta,
    MalformedStream,
    NotActionable,
    ProviderError,
    actionable_calls,
    argument_text,
    assemble_chat_stream,
    joined,
)


def test_b023_a_missing_index_opens_by_id_and_continues_the_only_call() -> None:
    chunks = [
        tools(tool(id="c1", name="add", arguments='{"a":1')),
        tools(tool(arguments=',"b":2}')),
        END,
    ]
    assert plain(calls_of(chunks)) == [("c1", "add", {"a": 1, "b": 2})]


def test_b023_with_several_calls_open_nobody_can_know() -> None:
    chunks = [
        tools(tool(id="c1", name="f", arguments="{")),
        tools(tool(id="c2", name="g", arguments="{")),
        tools(tool(arguments="}")),
    ]
    with pytest.raises(MalformedStream, match="several calls") as caught:
        assemble_chat_stream(chunks)
    assert [call.text for call in caught.value.received.calls] == ["{", "{"]


def test_a_second_whole_call_without_index_and_id_is_not_merged() -> None:
    whole = tool(name="f", arguments="{}") | {"id": ""}
    assert len(calls_of([tools(whole), END])) == 1
    with pytest.raises(MalformedStream, match="several calls"):
        assemble_chat_stream([tools(whole), tools(whole), END])


def test_b025_a_missing_index_is_not_index_zero() -> None:
    chunks = [
        tools(tool(id="a1", name="f", arguments='{"x":')),
        tools(tool(arguments="1}")),
        tools(tool(id="a2", name="f", arguments='{"x":2}')),
        END,
    ]
    assert plain(calls_of(chunks)) == [("a1", "f", {"x": 1}), ("a2", "f", {"x": 2})]
    null = tools(tool(id="a3", name="f", arguments="{}") | {"index": None})
    assert [call.id for call in calls_of([*chunks[:-1], null, END])] == ["a1", "a2", "a3"]


def test_b026_a_new_id_on_a_known_index_opens_a_new_call() -> None:
    chunks = [
        tools(tool(0, "c1", "look", '{"q":"A"}')),
        tools(tool(0, "c2", "look", '{"q":')),
        tools(tool(0, arguments='"B"}')),
        END,
    ]
    assert plain(calls_of(chunks)) == [("c1", "look", {"q": "A"}), ("c2", "look", {"q": "B"})]


def test_b026_an_id_that_returns_on_its_index_continues_its_call() -> None:
    chunks = [
        tools(tool(0, "c1", "f", '{"a":')),
        tools(tool(0, "c2", "f", '{"b":')),
        tools(tool(0, "c1", None, "1}")),
        tools(tool(0, "c2", None, "2}")),
        END,
    ]
    assert plain(calls_of(chunks)) == [("c1", "f", {"a": 1}), ("c2", "f", {"b": 2})]


def test_b028_arguments_on_an_index_that_nobody_opened_are_an_error_of_the_whole() -> None:
    chunks = [
        tools(tool(0, "c1", "bash", "")),
        tools(tool(1, None, "", '{"cmd":"ls"}')),
        END,
    ]
    with pytest.raises(MalformedStream, match="belongs to no call") as caught:
        assemble_chat_stream(chunks)
    assert caught.value.raw["function"]["arguments"] == '{"cmd":"ls"}'


def test_b029_a_repeated_name_is_one_name() -> None:
    chunks = [
        tools(tool(0, "c1", "read_file", '{"p":')),
        tools(tool(0, None, "read_file", '"a"}')),
        END,
    ]
    assert plain(calls_of(chunks)) == [("c1", "read_file", {"p": "a"})]


def test_b032_interleaved_fragments_go_by_index() -> None:
    chunks = [
        tools(tool(0, "c1", "f", '{"a":'), tool(1, "c2", "g", '{"b":')),
        tools(tool(0, arguments="1}")),
        tools(tool(1, arguments="2}")),
        END,
    ]
    assert plain(calls_of(chunks)) == [("c1", "f", {"a": 1}), ("c2", "g", {"b": 2})]


def test_b034_a_chunk_without_choices_is_no_error_anywhere() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
    for nothing in ([], None):
        chunks = [
            {"choices": nothing, "prompt_filter_results": []},
            chunk({"content": "hi"}, "stop"),
            {"choices": nothing, "usage": usage},
        ]
        got = assemble_chat_stream(chunks)
        assert got["message"]["content"] == "hi"
        assert got["finish_reason"] == "stop"
        assert got["usage"] == usage


def test_b058_cumulative_arguments_are_malformed_not_guessed() -> None:
    chunks = [tools(tool(0, "c1", "f", '{"a"')), tools(tool(0, None, None, '{"a":1}')), END]
    got = assemble_chat_stream(chunks)
    assert got["message"]["tool_calls"][0]["function"]["arguments"] == '{"a"{"a":1}'
    with pytest.raises(NotActionable, match="malformed"):
        actionable_calls(got)


def test_b059_a_first_delta_that_is_whole_counts_once() -> None:
    chunks = [tools(tool(0, "c1", "mul", '{"x":3,"y":2}')), END]
    assert plain(calls_of(chunks)) == [("c1", "mul", {"x": 3, "y": 2})]


def test_b065_null_tool_calls_lose_no_text() -> None:
    chunks = [
        chunk({"content": "Hel", "tool_calls": None}),
        chunk({"content": "lo", "tool_calls": None, "function_call": None, "refusal": None}),
        chunk({}, "stop"),
    ]
    got = assemble_chat_stream(chunks)
    assert got["message"] == {"role": "assistant", "content": "Hello"}


def test_b067_text_and_calls_together_are_both_kept() -> None:
    chunks = [
        chunk({"content": "Let me look. "}),
        chunk({"content": "", "tool_calls": [tool(0, "c1", "f", "{}")]}),
        END,
    ]
    got = assemble_chat_stream(chunks)
    assert got["message"]["content"] == "Let me look. "
    assert plain(actionable_calls(got)) == [("c1", "f", {})]


@pytest.mark.parametrize("index", [0, None])
def test_b068_a_name_may_come_late(index: int | None) -> None:
    chunks = [
        tools(tool(index, "c1", None, '{"q":')),
        tools(tool(index, "c1" if index is None else None, "search", "1}")),
        END,
    ]
    assert plain(calls_of(chunks)) == [("c1", "search", {"q": 1})]


def test_b070_the_deprecated_function_call_is_a_call_with_a_made_id() -> None:
    chunks = [
        chunk(
            {
                "role": "assistant",
                "content": None,
                "function_call": {"name": "f", "arguments": ""},
            }
        ),
        chunk({"function_call": {"arguments": '{"a":1}'}}),
        chunk({}, "function_call"),
    ]
    got = assemble_chat_stream(chunks)
    assert got["finish_reason"] == "tool_calls"
    [call] = got["message"]["tool_calls"]
    assert call["synthetic_id"] is True
    assert got["message"]["native"]["finish_reason"] == "function_call"
    assert plain(actionable_calls(got)) == [(call["id"], "f", {"a": 1})]


def test_b071_a_refusal_is_put_together() -> None:
    chunks = [
        chunk({"role": "assistant", "content": None, "refusal": "I can"}),
        chunk({"refusal": "not help."}),
        chunk({}, "stop"),
    ]
    got = assemble_chat_stream(chunks)
    assert got["message"]["refusal"] == "I cannot help."
    assert got["message"]["content"] is None


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


def test_calls_stand_at_their_index_whichever_comes_first() -> None:
    chunks = [
        tools(tool(2, "c", "h", "{}"), tool(0, "a", "f", "{")),
        tools(tool(1, "b", "g", "{}"), tool(0, None, None, "}"), tool(0, "d", "k", "{}")),
        END,
    ]
    assert [call.id for call in calls_of(chunks)] == ["a", "d", "b", "c"]


def test_a_custom_call_may_learn_its_id_and_its_name_late() -> None:
    items = [
        {"index": 0, "type": "custom", "custom": {"input": "l"}},
        {"index": 0, "id": "x1"},
        {"index": 0, "id": "x2", "custom": {"name": "sh"}} | {"id": None},
        {"index": 0, "custom": {"input": "s"}},
    ]
    with pytest.raises(MalformedStream, match="belongs to no call"):
        native(chunk({"tool_calls": [items[0]]}))
    items[0]["id"] = ""
    items[0]["custom"]["name"] = "sh"
    [call] = native(*(chunk({"tool_calls": [item]}) for item in items))["custom_calls"]
    assert call == {"id": "x1", "type": "custom", "custom": {"name": "sh", "input": "ls"}}


@pytest.mark.parametrize("finish", [None, "stop", "length", "error"])
@pytest.mark.parametrize("error", [{"code": 502, "message": "upstream"}, "upstream"])
def test_an_error_inside_a_choice_is_an_error_however_it_ends(finish: Any, error: Any) -> None:
    broken = chunk({"content": ""}, finish, error=error)
    with pytest.raises(ProviderError, match="upstream") as caught:
        assemble_chat_stream([chunk({"content": "so far"}), broken, chunk({}, "stop")])
    assert caught.value.received.content == "so far"
    assert caught.value.code == (502 if isinstance(error, dict) else None)


@pytest.mark.parametrize("nothing", [None, {}, "", False])
def test_an_empty_error_is_none(nothing: Any) -> None:
    fine = chunk({"content": "x"}, "stop", error=nothing) | {"x_groq": {"error": nothing}}
    assert assemble_chat_stream([fine])["message"]["content"] == "x"
    with pytest.raises(ProviderError, match="ended with an error"):
        assemble_chat_stream([chunk({}, "error", error=nothing)])


def test_groq_says_in_a_field_of_its_own_why_it_stopped() -> None:
    chunks = [
        chunk({"content": "so far"}),
        {"choices": [], "x_groq": {"error": "over capacity"}},
    ]
    with pytest.raises(ProviderError, match="over capacity") as caught:
        assemble_chat_stream([*chunks, chunk({}, "stop")])
    assert caught.value.received.content == "so far"


def test_the_response_is_named_once() -> None:
    reader = ChatReader()
    named = [reader.read({"id": ident, "choices": []}) for ident in ("a", "a", "b")]
    assert named == [[Delta("id", text="a")], [], []]


def test_a_character_in_two_halves_is_whole_wherever_text_is_joined() -> None:
    halves = ['{"a":"\ud83d', '\ude00"}']
    chunks = [tools(tool(0, "c", "f", halves[0])), tools(tool(0, None, None, halves[1])), END]
    [call] = calls_of(chunks)
    assert call.arguments == {"a": "😀"}
    kept = native(chunk({"note": "\ud83d"}), chunk({"note": "\ude00"}))
    assert kept["note"] == "😀"
    assert joined(["\ud83d", "x\ude00"]) == "\ud83dx\ude00"
