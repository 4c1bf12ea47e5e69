"""Streams as they really arrive: every reported deviation, the gate, and any cut of anything."""

from collections.abc import Iterable
from typing import Any

import pytest

from apisurface import (
    IncompleteToolStream,
    MalformedJSON,
    MalformedStream,
    NotActionable,
    ProviderError,
    StreamAssembler,
    ToolCall,
    actionable_calls,
    assemble_chat_stream,
    assemble_tool_stream,
    partial_json,
)


def chunk(delta: dict[str, Any], finish: str | None = None, index: int = 0) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


def tool(
    index: int | None = None,
    id: str | None = None,
    name: str | None = None,
    arguments: Any = None,
) -> dict[str, Any]:
    """One fragment; what is None is left out."""
    function = {"name": name, "arguments": arguments}
    item = {
        "index": index,
        "id": id,
        "type": "function" if id else None,
        "function": {key: value for key, value in function.items() if value is not None},
    }
    return {key: value for key, value in item.items() if value is not None}


def tools(*items: dict[str, Any]) -> dict[str, Any]:
    return chunk({"tool_calls": list(items)})


END = chunk({}, "tool_calls")


def calls_of(chunks: Iterable[dict[str, Any]], provider: str = "openai-chat") -> list[ToolCall]:
    return actionable_calls(assemble_chat_stream(chunks, provider=provider))


def plain(calls: list[ToolCall]) -> list[tuple[str | None, str, dict[str, Any]]]:
    return [(call.id, call.name, call.arguments) for call in calls]


# --- the teaching shape ---------------------------------------------------------------------


def fragment(index: int, arguments: str = "", **more: Any) -> dict[str, Any]:
    return {"tool_call": {"index": index, "arguments": arguments, **more}}


FIGURE = [
    fragment(0, '{"order_', id="call_a", name="lookup_order"),
    fragment(0, 'id":"O-0042"}'),
    fragment(0, closed=True),
    {"terminal": True},
]


def test_the_figure_stays_inert_without_the_terminal_event_and_becomes_a_call_with_it() -> None:
    with pytest.raises(IncompleteToolStream) as caught:
        assemble_tool_stream(FIGURE[:-1])
    assert str(caught.value) == "stream ended before close and terminal events"
    assert assemble_tool_stream(FIGURE) == [
        {"id": "call_a", "name": "lookup_order", "arguments": {"order_id": "O-0042"}}
    ]


@pytest.mark.parametrize("gone", range(len(FIGURE)))
def test_no_chunk_of_the_figure_can_be_missing(gone: int) -> None:
    rest = FIGURE[:gone] + FIGURE[gone + 1 :]
    with pytest.raises((IncompleteToolStream, MalformedJSON)):
        assemble_tool_stream(rest)


@pytest.mark.parametrize(
    "chunks", [[], [{"terminal": True}], FIGURE[:3], FIGURE[:2] + FIGURE[3:]]
)
def test_two_conditions_are_needed_and_a_call(chunks: list[dict[str, Any]]) -> None:
    with pytest.raises(IncompleteToolStream):
        assemble_tool_stream(chunks)


def test_a_call_whose_naming_piece_is_gone_is_incomplete() -> None:
    chunks = [fragment(0, "{}", closed=True), {"terminal": True}]
    with pytest.raises(IncompleteToolStream, match="names a call"):
        assemble_tool_stream(chunks)


def test_calls_of_the_teaching_shape_come_out_by_index() -> None:
    chunks = [
        fragment(1, '{"b":', id="y", name="g"),
        fragment(0, "", id="x", name="f", closed=True),
        fragment(1, "1}", closed=True),
        {"terminal": True},
    ]
    assert assemble_tool_stream(chunks) == [
        {"id": "x", "name": "f", "arguments": {}},
        {"id": "y", "name": "g", "arguments": {"b": 1}},
    ]


@pytest.mark.parametrize(
    "bad",
    [
        [*FIGURE, fragment(0, "x")],
        [*FIGURE[:3], fragment(0, " "), FIGURE[3]],
        [FIGURE[0], fragment(0, id="call_b"), *FIGURE[1:]],
        [FIGURE[0], fragment(0, name="other"), *FIGURE[1:]],
        [{"tool_call": {"arguments": "{}"}}],
        [fragment(0, "[]", id="c", closed=True), {"terminal": True}],
        [fragment(0, '{"a":1', id="c", closed=True), {"terminal": True}],
    ],
)
def test_what_contradicts_itself_in_the_teaching_shape_is_refused(bad: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        assemble_tool_stream(bad)


# --- reported cases: chat -------------------------------------------------------------------


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


def test_b031_a_name_that_changes_is_refused_and_what_came_is_kept() -> None:
    chunks = [tools(tool(0, "c1", "get_", "")), tools(tool(0, None, "weather", "{}")), END]
    with pytest.raises(MalformedStream, match="the name of a call changes") as caught:
        assemble_chat_stream(chunks)
    assert caught.value.received.calls[0].name == "get_"
    assert caught.value.raw == "weather"


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


@pytest.mark.parametrize("provider", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_b035_an_empty_stream_is_incomplete(provider: str) -> None:
    with pytest.raises(IncompleteToolStream) as caught:
        assemble_chat_stream([], provider=provider)
    assert caught.value.received.choices == ()
    assert caught.value.received.state == "incomplete"


def test_b037_a_finish_for_tools_without_calls_proposes_nothing() -> None:
    got = assemble_chat_stream([chunk({"content": "Hello", "tool_calls": []}), END])
    assert got["finish_reason"] == "tool_calls"
    assert actionable_calls(got) == []
    assert got["message"]["content"] == "Hello"


def test_b038_a_cut_disguised_as_tool_calls_is_not_actionable_and_never_mended() -> None:
    text = '{"path":"a","text":"hel'
    got = assemble_chat_stream([tools(tool(0, "c1", "write", text)), END])
    with pytest.raises(NotActionable, match="malformed arguments of c1") as caught:
        actionable_calls(got)
    assert (caught.value.kind, caught.value.raw, caught.value.call_id) == (
        "arguments",
        text,
        "c1",
    )


def test_b040_parsing_arguments_are_not_an_end() -> None:
    with pytest.raises(IncompleteToolStream, match="without a finish reason") as caught:
        assemble_chat_stream([tools(tool(0, "c1", "w", '{"a":1}'))])
    [call] = caught.value.received.calls
    assert (call.id, call.name, call.text) == ("c1", "w", '{"a":1}')


def test_b041_a_missing_done_is_no_failure_once_the_finish_reason_came() -> None:
    got = assemble_chat_stream([chunk({"content": "ok"}), chunk({}, "stop")])
    assert (got["message"]["content"], got["finish_reason"]) == ("ok", "stop")


def test_b043_malformed_is_not_called_truncated() -> None:
    bad = '{"action": listt_windows"}'
    got = assemble_chat_stream([tools(tool(0, "c1", "f", bad)), END])
    with pytest.raises(NotActionable, match="offset") as caught:
        actionable_calls(got)
    assert "length" not in str(caught.value)
    assert isinstance(caught.value.__cause__, MalformedJSON)


def two_choices() -> list[dict[str, Any]]:
    call = [tool(0, "y", "f", '{"v":1}')], [tool(0, "x", "f", '{"v":0}')]
    return [
        {
            "choices": [
                {"index": 0, "delta": {"content": "A"}},
                {"index": 1, "delta": {"content": "B"}},
            ]
        },
        {
            "choices": [
                {"index": 1, "delta": {"tool_calls": call[0]}},
                {"index": 0, "delta": {"tool_calls": call[1]}},
            ]
        },
        chunk({}, "tool_calls"),
        chunk({}, "tool_calls", 1),
    ]


def test_b044_choices_are_kept_apart() -> None:
    got = assemble_chat_stream(two_choices(), all_choices=True)
    assert [each["message"]["content"] for each in got["choices"]] == ["A", "B"]
    assert [plain(actionable_calls(each)) for each in got["choices"]] == [
        [("x", "f", {"v": 0})],
        [("y", "f", {"v": 1})],
    ]
    with pytest.raises(MalformedStream, match="2 choices"):
        assemble_chat_stream(two_choices())
    with pytest.raises(IncompleteToolStream):
        assemble_chat_stream(two_choices()[:-1], all_choices=True)


def test_b047_an_error_in_the_stream_is_the_providers_and_stays() -> None:
    assembler = StreamAssembler()
    assembler.feed(chunk({"content": "so far"}))
    error = {"error": {"message": "quota exceeded", "code": "insufficient_quota"}}
    with pytest.raises(ProviderError) as caught:
        assembler.feed(error)
    assert (caught.value.code, caught.value.message) == ("insufficient_quota", "quota exceeded")
    assert caught.value.received.content == "so far"
    assert assembler.state == "incomplete"
    for again in (assembler.finish, lambda: assembler.feed(END)):
        with pytest.raises(ProviderError):
            again()


def test_b049_an_error_decides_before_the_missing_end() -> None:
    error = {"error": {"type": "invalid_request_error", "message": "bad schema"}}
    with pytest.raises(ProviderError) as caught:
        assemble_chat_stream([error])
    assert caught.value.code == "invalid_request_error"


@pytest.mark.parametrize(
    ("provider", "error", "code"),
    [
        ("openai-chat", {"object": "error", "message": "m", "code": 400}, 400),
        ("openai-chat", {"choices": [], "error": "m"}, None),
        ("openai-chat", chunk({}, "error"), None),
        (
            "openai-chat",
            {"choices": [{"index": 0, "finish_reason": "error", "error": {"code": 502}}]},
            502,
        ),
        (
            "anthropic",
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            "overloaded_error",
        ),
        (
            "openai-responses",
            {"type": "error", "code": "server_error", "message": "m"},
            "server_error",
        ),
        (
            "openai-responses",
            {
                "type": "response.failed",
                "response": {"status": "failed", "error": {"code": "rate_limit_exceeded"}},
            },
            "rate_limit_exceeded",
        ),
        (
            "openai-responses",
            {"type": "response.failed", "response": {"status": "failed"}},
            None,
        ),
        ("gemini", {"error": {"code": 503, "status": "UNAVAILABLE", "message": "m"}}, 503),
    ],
)
def test_errors_of_every_shape_are_provider_errors(
    provider: str, error: dict[str, Any], code: object
) -> None:
    with pytest.raises(ProviderError) as caught:
        assemble_chat_stream([error], provider=provider)
    assert caught.value.code == code
    assert caught.value.received is not None


def test_b058_cumulative_arguments_are_malformed_not_guessed() -> None:
    chunks = [tools(tool(0, "c1", "f", '{"a"')), tools(tool(0, None, None, '{"a":1}')), END]
    got = assemble_chat_stream(chunks)
    assert got["message"]["tool_calls"][0]["function"]["arguments"] == '{"a"{"a":1}'
    with pytest.raises(NotActionable, match="malformed"):
        actionable_calls(got)


def test_b059_a_first_delta_that_is_whole_counts_once() -> None:
    chunks = [tools(tool(0, "c1", "mul", '{"x":3,"y":2}')), END]
    assert plain(calls_of(chunks)) == [("c1", "mul", {"x": 3, "y": 2})]


def test_b061_the_first_finish_reason_stands_and_the_second_is_noted() -> None:
    chunks = [
        chunk({"content": "Looking.", "tool_calls": [tool(0, "c1", "f", "{}")]}),
        END,
        chunk({}, "stop"),
    ]
    got = assemble_chat_stream(chunks)
    assert got["finish_reason"] == "tool_calls"
    assert len(actionable_calls(got)) == 1
    assert got["message"]["native"]["anomalies"] == ["finish reason 'stop' after 'tool_calls'"]


@pytest.mark.parametrize("reasons", [("tool_calls", "length"), ("length", "tool_calls")])
def test_b061_length_wins_in_either_place(reasons: tuple[str, str]) -> None:
    chunks = [tools(tool(0, "c1", "f", "{}")), *(chunk({}, reason) for reason in reasons)]
    got = assemble_chat_stream(chunks)
    assert got["finish_reason"] == "length"
    with pytest.raises(NotActionable, match="length"):
        actionable_calls(got)


def test_b064_a_call_begun_as_text_is_reported_apart_from_the_content() -> None:
    text = 'Sure.\n<tool_call>{"name":"f","arguments":{"a":1'
    got = assemble_chat_stream([chunk({"content": text}), chunk({}, "stop")])
    with pytest.raises(NotActionable) as caught:
        actionable_calls(got)
    assert caught.value.kind == "text"
    assert caught.value.raw == '<tool_call>{"name":"f","arguments":{"a":1'


@pytest.mark.parametrize(
    "text",
    [
        'done: <tool_call>{"name":"f"}</tool_call>',
        "The tag <tool_call> opens a call.",
        "<tool_call>",
        "{",
        "",
    ],
)
def test_b064_text_about_calls_is_text(text: str) -> None:
    got = assemble_chat_stream([chunk({"content": text}), chunk({}, "stop")])
    assert actionable_calls(got) == []


def test_b064_the_last_call_as_text_decides() -> None:
    text = '<tool_call>{"a": 1}</tool_call> <tool_call>\n{"b": '
    with pytest.raises(NotActionable) as caught:
        actionable_calls({"message": {"content": text}, "finish_reason": "stop"})
    assert caught.value.raw == '<tool_call>\n{"b": '
    with_a_call = assemble_chat_stream(
        [chunk({"content": text}), tools(tool(0, "c", "f")), END]
    )
    assert len(actionable_calls(with_a_call)) == 1


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


def test_b068_a_name_that_never_comes_is_not_actionable() -> None:
    got = assemble_chat_stream([tools(tool(0, "c1", None, "{}")), END])
    with pytest.raises(NotActionable, match="no name") as caught:
        actionable_calls(got)
    assert (caught.value.kind, caught.value.call_id) == ("name", "c1")


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
    whole = {"message": {"function_call": {"name": "f"}}, "finish_reason": "stop"}
    with pytest.raises(NotActionable, match="deprecated"):
        actionable_calls(whole)


def test_b071_a_refusal_is_put_together() -> None:
    chunks = [
        chunk({"role": "assistant", "content": None, "refusal": "I can"}),
        chunk({"refusal": "not help."}),
        chunk({}, "stop"),
    ]
    got = assemble_chat_stream(chunks)
    assert got["message"]["refusal"] == "I cannot help."
    assert got["message"]["content"] is None


def test_b074_the_raw_text_only_grows_and_the_view_never_ends_inside_an_escape() -> None:
    texts = [
        '{"command":"echo \'',
        '{"command":"echo \'x\' | tee \\',
        '{"command":"echo \'x\' | tee /tmp"}',
    ]
    assert [partial_json(text) for text in texts] == [
        {"command": "echo '"},
        {"command": "echo 'x' | tee "},
        {"command": "echo 'x' | tee /tmp"},
    ]
    assembler = StreamAssembler()
    assembler.feed(tools(tool(0, "c1", "bash", texts[1])))
    [call] = assembler.partial().calls
    assert (call.text, call.view()) == (texts[1], {"command": "echo 'x' | tee "})


# --- reported cases: the other providers ----------------------------------------------------


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
        ),
        *block(4, use({}), json_delta('{"a": 1}')),
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use", "stop_sequence": None},
            "usage": {"output_tokens": 9},
        },
        {"type": "message_stop"},
    ]
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
            {"type": "text", "text": "Hi", "citations": [{"url": "u"}]},
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
    ],
)
def test_anthropic_events_that_contradict_each_other(events: list[dict[str, Any]]) -> None:
    with pytest.raises(MalformedStream):
        assemble_chat_stream(events, provider="anthropic")


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


def responses() -> list[dict[str, Any]]:
    def item(number: int, text: str) -> dict[str, Any]:
        return {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{'AB'[number - 1]}",
            "name": "fg"[number - 1],
            "arguments": text,
        }

    def about(kind: str, number: int, **more: Any) -> dict[str, Any]:
        place = {"item_id": f"fc_{number}", "output_index": number - 1}
        return {"type": f"response.{kind}", **place, **more}

    return [
        {"type": "response.output_item.added", "output_index": 0, "item": item(1, "")},
        {"type": "response.output_item.added", "output_index": 1, "item": item(2, "")},
        about("function_call_arguments.delta", 1, delta='{"a":1}'),
        about("function_call_arguments.delta", 2, delta="{}"),
        about("function_call_arguments.done", 1, arguments='{"a":1}'),
        about("function_call_arguments.done", 2, arguments="{}"),
        {"type": "response.output_item.done", "output_index": 0, "item": item(1, '{"a":1}')},
        {"type": "response.output_item.done", "output_index": 1, "item": item(2, "{}")},
        {"type": "response.completed", "response": {"status": "completed"}},
    ]


def test_b056_responses_go_by_item_and_are_answered_by_call_id() -> None:
    got = assemble_chat_stream(responses(), provider="openai-responses")
    assert plain(actionable_calls(got)) == [("call_A", "f", {"a": 1}), ("call_B", "g", {})]
    assert [item["id"] for item in got["message"]["native"]["output"]] == ["fc_1", "fc_2"]
    without = [
        {k: v for k, v in e.items() if k != "output_index" or "item" in e} for e in responses()
    ]
    assert len(calls_of(without, "openai-responses")) == 2


@pytest.mark.parametrize("at", range(9))
def test_b056_no_prefix_of_a_responses_stream_is_actionable(at: int) -> None:
    assembler = StreamAssembler("openai-responses")
    for event in responses()[:at]:
        assembler.feed(event)
    assert assembler.state in ("collecting", "call closed", "parsed")
    with pytest.raises(IncompleteToolStream):
        assembler.finish()


def test_responses_done_arguments_must_agree_with_their_pieces() -> None:
    events = responses()
    events[4] = events[4] | {"arguments": '{"a":2}'}
    with pytest.raises(MalformedStream, match="differ from their pieces"):
        assemble_chat_stream(events, provider="openai-responses")


def test_responses_items_without_pieces_are_taken_whole() -> None:
    output = [
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]},
        {
            "type": "message",
            "id": "m",
            "content": [
                {"type": "output_text", "text": "Hi"},
                {"type": "refusal", "refusal": "No"},
            ],
        },
        {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "custom_tool_call", "id": "x", "call_id": "cc", "name": "sh", "input": "ls"},
    ]
    usage = {
        "input_tokens": 3,
        "output_tokens": 4,
        "total_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    end = {
        "type": "response.completed",
        "response": {"id": "resp_1", "status": "completed", "output": output, "usage": usage},
    }
    got = assemble_chat_stream([end], provider="openai-responses")
    message = got["message"]
    assert (message["content"], message["reasoning"], message["refusal"]) == ("Hi", "hm", "No")
    assert plain(actionable_calls(got)) == [("c", "f", {})]
    assert got["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert got["request_id"] == "resp_1"
    assert message["native"]["output"] == output
    assert message["native"]["usage"] == usage


def test_an_incomplete_response_says_length_and_its_call_is_not_closed() -> None:
    events = responses()[:3]
    cut = events[0]["item"] | {"status": "incomplete", "arguments": '{"a":1}'}
    end = {
        "type": "response.incomplete",
        "response": {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
        },
    }
    done = {"type": "response.output_item.done", "output_index": 0, "item": cut}
    with pytest.raises(IncompleteToolStream, match="before a call was closed"):
        assemble_chat_stream([*events, done, end], provider="openai-responses")
    got = assemble_chat_stream([end], provider="openai-responses")
    assert got["finish_reason"] == "length"


@pytest.mark.parametrize(
    "events",
    [
        [responses()[2]],
        [responses()[0], responses()[0]],
        [{"type": "response.output_text.delta", "delta": "x"}],
        [*responses(), responses()[2]],
        [*responses()[:5], responses()[2]],
    ],
)
def test_responses_events_that_contradict_each_other(events: list[dict[str, Any]]) -> None:
    with pytest.raises(MalformedStream):
        assemble_chat_stream(events, provider="openai-responses")
