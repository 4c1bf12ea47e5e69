"""When a streamed call may be acted upon: the two conditions, the gate, and whole exchanges."""

import gzip
import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import httpx2
import pytest
from chunks import ARGUMENTS, END, chunk, interleaved, pieces, tool, tools
from hypothesis import given
from hypothesis import strategies as st
from loopback import reply, serve

from apisurface import (
    DeadlineExceeded,
    Delta,
    HttpTransport,
    IncompleteToolStream,
    MalformedJSON,
    MalformedResponse,
    MalformedStream,
    NotActionable,
    ProviderError,
    ScriptedModel,
    StreamAssembler,
    ToolCall,
    actionable_calls,
    assemble_chat_stream,
    assemble_tool_stream,
    chat,
    stream_chat,
)

# --- the teaching shape ----------------------------------------------------------


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
        [{"tool_call": {"index": 0, "id": "c", "arguments": {"a": 1}}}],
        [{"tool_call": {"index": 0, "id": 7}}],
        [{"tool_call": {"index": True, "id": "c"}}],
        [{"tool_call": "call"}],
        ["terminal"],
        [None],
        [{"terminal": True}, fragment(0, "{}", id="c", closed=True)],
    ],
)
def test_what_contradicts_itself_in_the_teaching_shape_is_refused(bad: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        assemble_tool_stream(bad)


@given(data=st.data())
def test_the_teaching_shape_needs_every_chunk_it_was_made_of(data: Any) -> None:
    arguments = data.draw(st.lists(ARGUMENTS, min_size=1, max_size=3))
    rows = []
    for index, value in enumerate(arguments):
        texts = data.draw(pieces(json.dumps(value)))
        row = [{"index": index, "arguments": text} for text in texts]
        row[0] |= {"id": f"c{index}", "name": "f"}
        rows.append([*row, {"index": index, "closed": True}])
    chunks = [{"tool_call": piece} for piece in data.draw(interleaved(rows))]
    for at in range(len(chunks) + 1):
        with pytest.raises(IncompleteToolStream):
            assemble_tool_stream(chunks[:at])
    found = assemble_tool_stream([*chunks, {"terminal": True}])
    assert [call["arguments"] for call in found] == arguments


# --- the gate --------------------------------------------------------------------


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


def test_b043_malformed_is_not_called_truncated() -> None:
    bad = '{"action": listt_windows"}'
    got = assemble_chat_stream([tools(tool(0, "c1", "f", bad)), END])
    with pytest.raises(NotActionable, match="offset") as caught:
        actionable_calls(got)
    assert "length" not in str(caught.value)
    assert isinstance(caught.value.__cause__, MalformedJSON)


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


def test_b068_a_name_that_never_comes_is_not_actionable() -> None:
    got = assemble_chat_stream([tools(tool(0, "c1", None, "{}")), END])
    with pytest.raises(NotActionable, match="no name") as caught:
        actionable_calls(got)
    assert (caught.value.kind, caught.value.call_id) == ("name", "c1")


@pytest.mark.parametrize(
    "response",
    [None, [], "x", {}, {"message": None}, {"message": [], "finish_reason": "stop"}],
)
def test_what_is_no_response_is_not_actionable(response: Any) -> None:
    with pytest.raises(NotActionable, match="a response with a message is needed") as caught:
        actionable_calls(response)
    assert (caught.value.kind, caught.value.raw) == ("finish", response)


def proposed(*calls: Any, finish: Any = "tool_calls", **more: Any) -> dict[str, Any]:
    return {"message": {"tool_calls": list(calls)} | more, "finish_reason": finish}


GOOD = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize("text", ["", None, "{}", " {} "])
def test_no_arguments_are_an_empty_object(text: Any) -> None:
    call = GOOD | {"function": {"name": "f", "arguments": text}}
    assert actionable_calls(proposed(call)) == [ToolCall("f", {}, "c1")]
    assert actionable_calls(proposed(call, finish="stop")) == [ToolCall("f", {}, "c1")]


@pytest.mark.parametrize(
    "text",
    ["[]", "null", "1", '"{}"', "{", "{}{}", "{} x", "\ufeff{}", '{"a": NaN}', '{"a": 1, "a": 2}',
     "{'a': 1}", '{"a": 1,}', " ", '{"a": 1e999}', "[" * 9_999, {}, {"a": 1}, [], 5, b"{}"],
)  # fmt: skip
def test_arguments_that_are_not_strictly_one_object_are_refused_with_their_text(
    text: Any,
) -> None:
    with pytest.raises(NotActionable, match="of c2") as caught:
        actionable_calls(
            proposed(GOOD, GOOD | {"id": "c2", "function": {"name": "f", "arguments": text}})
        )
    assert (caught.value.kind, caught.value.raw, caught.value.call_id) == (
        "arguments",
        text,
        "c2",
    )


@pytest.mark.parametrize(
    "finish", [None, "length", "content_filter", "error", "", "STOP", ["stop"]]
)
def test_only_a_normal_end_is_actionable(finish: Any) -> None:
    for calls in ([GOOD], []):
        with pytest.raises(NotActionable, match="the response ended with") as caught:
            actionable_calls(proposed(*calls, finish=finish))
        assert caught.value.kind == "finish"
        assert caught.value.raw == {"tool_calls": calls}


@pytest.mark.parametrize(
    ("bad", "kind"),
    [
        (None, "name"),
        ("f", "name"),
        ({"id": "c2"}, "name"),
        ({"id": "c2", "type": "custom", "custom": {"name": "f", "input": ""}}, "name"),
        (GOOD | {"function": "f"}, "name"),
        (GOOD | {"id": "c2", "function": {"name": "", "arguments": "{}"}}, "name"),
        (GOOD | {"id": "c2", "function": {"name": 7, "arguments": "{}"}}, "name"),
        (GOOD | {"id": ""}, "id"),
        (GOOD | {"id": None}, "id"),
        (GOOD | {"id": 7}, "id"),
        (GOOD, "id"),
    ],
)
def test_one_bad_call_makes_none_actionable(bad: Any, kind: str) -> None:
    for calls in ([GOOD, bad], [bad, GOOD] if bad is not GOOD else [GOOD, bad]):
        with pytest.raises(NotActionable) as caught:
            actionable_calls(proposed(*calls))
        assert (caught.value.kind, caught.value.raw) == (kind, bad)


@pytest.mark.parametrize("calls", [5, "x", {"id": "c1"}, True])
def test_calls_that_are_no_list_are_refused(calls: Any) -> None:
    with pytest.raises(NotActionable, match="not a list") as caught:
        actionable_calls({"message": {"tool_calls": calls}, "finish_reason": "stop"})
    assert caught.value.raw == calls


def test_the_deprecated_field_is_refused_only_where_it_stands_alone() -> None:
    old = {"name": "f", "arguments": "{}"}
    with pytest.raises(NotActionable, match="deprecated") as caught:
        actionable_calls({"message": {"function_call": old}, "finish_reason": "stop"})
    assert (caught.value.kind, caught.value.raw) == ("id", old)
    assert actionable_calls(proposed(GOOD, function_call=old)) == [ToolCall("f", {}, "c1")]


def test_no_call_and_a_normal_end_is_no_call() -> None:
    for message in ({}, {"content": "Hi"}, {"tool_calls": None}, {"tool_calls": []}):
        for finish in ("stop", "tool_calls"):
            assert actionable_calls({"message": message, "finish_reason": finish}) == []


# --- whole exchanges -------------------------------------------------------------

ASK = [{"role": "user", "content": "Where is order O-0042?"}]


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": "ü"}'}}


TURNS = [({"role": "assistant", "content": "Let me look.", "tool_calls": [CALL]}, "tool_calls")]


def sse(*payloads: Any) -> bytes:
    lines = [p if isinstance(p, str) else json.dumps(p) for p in payloads]
    return "".join(f"data: {line}\n\n" for line in lines).encode()


def text(content: str, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish}]}


class Played:
    """A transport that streams what it is given and raises what it meets; counts requests."""

    def __init__(self, *steps: bytes | Exception) -> None:
        self.steps, self.requests, self.closed = steps, 0, False
        self.body: dict[str, Any] = {}

    def __call__(self, url: str, body: dict[str, Any]) -> dict[str, Any]:
        raise AssertionError("asked for one whole reply")

    def stream(self, url: str, body: dict[str, Any]) -> Iterator[bytes]:
        self.requests += 1
        self.body = body
        try:
            for step in self.steps:
                if isinstance(step, Exception):
                    raise step
                yield step
        finally:
            self.closed = True


def streamed(transport: Any, **options: Any) -> list[Any]:
    return list(stream_chat("https://h", "m", ASK, transport=transport, **options))


def test_the_last_item_is_what_chat_would_have_returned() -> None:
    *deltas, response = streamed(ScriptedModel(TURNS))
    assert response == chat("https://h", "m", ASK, transport=ScriptedModel(TURNS))
    assert list(response) == ["message", "finish_reason", "usage", "request_id"]
    assert all(isinstance(delta, Delta) for delta in deltas)
    assert "".join(d.text for d in deltas if d.kind == "text") == "Let me look."
    assert "".join(d.text for d in deltas if d.kind == "call") == '{"a": "ü"}'
    assert [call.arguments for call in actionable_calls(response)] == [{"a": "ü"}]


def test_the_body_is_that_of_chat_and_says_stream() -> None:
    streaming, whole = ScriptedModel(TURNS), ScriptedModel(TURNS)
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    options = {
        "tools": tools,
        "tool_choice": "auto",
        "max_tokens": 9,
        "extra_body": {"seed": 1},
    }
    streamed(streaming, **options)
    chat("https://h", "m", ASK, transport=whole, **options)
    assert whole.last_body is not None
    more = {"stream": True, "stream_options": {"include_usage": True}}
    assert streaming.last_body == whole.last_body | more
    assert list(streaming.last_body)[: len(whole.last_body)] == list(whole.last_body)


@pytest.mark.parametrize("option", [None, {"include_usage": False}])
def test_stream_options_can_be_left_out_or_replaced(option: Any) -> None:
    model = ScriptedModel(TURNS)
    streamed(model, extra_body={"stream_options": option})
    assert model.last_body is not None
    assert model.last_body["stream"] is True
    assert model.last_body.get("stream_options") == option


@pytest.mark.parametrize(
    "bad",
    [{"top_p": 2}, {"max_tokens": 0}, {"extra_body": {"n": 2}}, {"extra_body": {"stream": 1}}],
)
def test_a_bad_argument_is_told_before_anything_is_asked_for(bad: dict[str, Any]) -> None:
    model = ScriptedModel(TURNS)
    with pytest.raises(ValueError, match=r"must be|cannot set"):
        stream_chat("https://h", "m", ASK, transport=model, **bad)
    assert model.calls == 0


def test_a_transport_that_cannot_stream_is_a_bad_argument() -> None:
    with pytest.raises(ValueError, match="no stream"):
        stream_chat("https://h", "m", ASK, transport=lambda url, body: {})


def test_nothing_is_sent_before_the_first_item_is_asked_for() -> None:
    model = ScriptedModel(TURNS)
    items = stream_chat("https://h", "m", ASK, transport=model)
    assert model.calls == 0
    next(items)
    assert model.calls == 1


def test_b073_nothing_is_sent_again_after_the_first_event() -> None:
    first = {
        "choices": [
            {
                "index": 0,
                "delta": {
                    "tool_calls": [
                        {
                            "index": 0,
                            "id": "c1",
                            "function": {"name": "run", "arguments": '{"code":"pri'},
                        }
                    ]
                },
            }
        ]
    }
    played = Played(sse(first), ConnectionResetError("reset by peer"))
    with pytest.raises(IncompleteToolStream, match="ConnectionResetError") as caught:
        streamed(played)
    assert played.requests == 1
    assert caught.value.received.calls[0].text == '{"code":"pri'
    assert isinstance(caught.value.__cause__, ConnectionResetError)


@pytest.mark.parametrize(
    "error",
    [
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("cut"),
        httpx.ReadError("gone"),
        httpx.DecodingError("no gzip"),
        httpx2.ReadError("gone"),
        TimeoutError("slow"),
    ],
)
def test_a_break_before_anything_arrived_is_the_transports_and_after_it_incomplete(
    error: Exception,
) -> None:
    with pytest.raises(type(error)):
        streamed(Played(error))
    with pytest.raises(IncompleteToolStream, match=type(error).__name__) as caught:
        streamed(Played(sse(text("Hi")), error))
    assert caught.value.received.content == "Hi"
    assert caught.value.__cause__ is error


def test_errors_that_have_a_type_keep_it_and_get_what_was_received() -> None:
    late = DeadlineExceeded("too late")
    with pytest.raises(DeadlineExceeded) as caught:
        streamed(Played(sse(text("Hi")), late))
    assert caught.value.received.content == "Hi"
    with pytest.raises(ProviderError) as refused:
        streamed(Played(ProviderError("slow down", status=429)))
    assert refused.value.received is None
    with pytest.raises(MalformedStream) as broken:
        streamed(Played(sse(text("Hi"), "<html>")))
    assert broken.value.received.content == "Hi"
    with pytest.raises(IncompleteToolStream) as cut:
        streamed(Played(sse(text("Hi")) + b'data: {"choi'))
    assert cut.value.received.content == "Hi"


def test_an_error_of_anybody_else_passes_through() -> None:
    with pytest.raises(ZeroDivisionError):
        streamed(Played(sse(text("Hi")), ZeroDivisionError("not ours")))


def test_an_error_object_before_and_after_the_first_event() -> None:
    error = {"error": {"message": "overloaded", "code": "overloaded"}}
    for before in ([], [text("Hi")]):
        played = Played(sse(*before, error, "[DONE]"))
        with pytest.raises(ProviderError, match="overloaded") as caught:
            streamed(played)
        assert caught.value.received.content == ("Hi" if before else None)
        assert played.closed


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b'{"error": {"message": "no", "code": 429}}', ProviderError),
        (b'{\n  "choices": []\n}\n', MalformedResponse),
        (b"<!doctype html><p>502", MalformedResponse),
        (b"[]", MalformedResponse),
        (b"upstream connect error or disconnect", MalformedResponse),
        (b'error: {"message": "m"}\n\n', MalformedResponse),
        (b"dat", IncompleteToolStream),
        (b"retry: 3000\n\n", IncompleteToolStream),
        (b"", IncompleteToolStream),
        (b": ping\n\n", IncompleteToolStream),
        (b"data: [DONE]\n\n", IncompleteToolStream),
        (b"\xff\n\n", MalformedStream),
        (b"data: \xe9", IncompleteToolStream),
    ],
)
def test_a_reply_that_is_no_stream_is_told_apart(body: bytes, error: type[Exception]) -> None:
    with pytest.raises(error):
        streamed(Played(body))


def test_closing_the_iterator_closes_the_exchange() -> None:
    played = Played(sse(text("Hi")), sse(text("there", "stop")))
    with closing(stream_chat("https://h", "m", ASK, transport=played)) as items:
        next(items)
        assert not played.closed
    assert played.closed


def test_what_arrives_is_handed_on_before_the_next_chunk_is_pulled() -> None:
    played = Played(sse(text("Hi")), AssertionError("pulled too early"))
    items = stream_chat("https://h", "m", ASK, transport=played)
    assert next(items) == Delta("text", 0, "Hi")


def test_any_two_pieces_of_the_bytes_give_the_same_response() -> None:
    whole = b"".join(ScriptedModel(TURNS).stream("https://h", {}))
    want = streamed(Played(whole))
    for at in range(len(whole) + 1):
        assert streamed(Played(whole[:at], whole[at:])) == want
    assert streamed(Played(*(bytes([byte]) for byte in whole))) == want


def test_a_cut_at_any_byte_never_gives_an_actionable_call() -> None:
    whole = b"".join(ScriptedModel(TURNS).stream("https://h", {}))
    finished = whole.index(b'"tool_calls"}]')  # the finish reason
    for at in range(finished):
        with pytest.raises((IncompleteToolStream, MalformedStream)) as caught:
            streamed(Played(whole[:at]))
        assert at == 0 or caught.value.received.state == "incomplete"


HEADERS = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
)


def chunked(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def test_a_real_stream_over_a_socket() -> None:
    parts = [chunked(piece) for piece in ScriptedModel(TURNS).stream("", {})]
    with serve(HEADERS, *parts, b"0\r\n\r\n") as server:
        *_, response = stream_chat(server.url, "m", ASK)
        assert (
            response["usage"]["total_tokens"]
            == response["usage"]["prompt_tokens"] + (response["usage"]["completion_tokens"])
        )
        assert b'"stream": true' in server.requests[0] or b'"stream":true' in server.requests[0]


def test_a_real_connection_that_breaks_off_is_incomplete_with_its_cause() -> None:
    with serve(HEADERS, chunked(sse(text("Hi")))) as server:
        with pytest.raises(IncompleteToolStream, match="RemoteProtocolError") as caught:
            streamed_from(server.url)
    assert caught.value.received.content == "Hi"


def streamed_from(url: str, **options: Any) -> list[Any]:
    with HttpTransport(**options) as transport:
        return list(stream_chat(url, "m", ASK, transport=transport))


def test_a_stalled_stream_ends_with_its_timeout_or_its_deadline() -> None:
    with serve(HEADERS, chunked(sse(text("Hi"))), 30.0) as server:
        with pytest.raises(IncompleteToolStream, match="ReadTimeout") as stalled:
            streamed_from(server.url, timeout=0.3)
        with pytest.raises(DeadlineExceeded) as late:
            streamed_from(server.url, deadline=0.5)
    assert stalled.value.received.content == "Hi"
    assert late.value.received.content == "Hi"


def test_a_refusal_by_status_and_a_json_body_under_200_are_told_before_any_event() -> None:
    with serve(
        reply("429 Too Many", b'{"error": {"message": "slow"}}', "Retry-After: 3")
    ) as server:
        with pytest.raises(ProviderError) as refused:
            streamed_from(server.url)
    assert (refused.value.status, refused.value.retry_after) == (429, 3)
    body = b'{"error": {"message": "upstream", "code": 502}}'
    with serve(reply("200 OK", body, "Content-Type: application/json")) as server:
        with pytest.raises(ProviderError, match="upstream"):
            streamed_from(server.url)


async def collect(chunks: list[bytes]) -> dict[str, Any]:
    """The async recipe of the chapter: the same decoder and assembler, another loop."""
    from apisurface import SSEDecoder, read_payload

    async def arriving():
        for piece in chunks:
            yield piece

    decoder, assembler = SSEDecoder(), StreamAssembler()
    async for piece in arriving():
        for event in decoder.feed(piece):
            if payload := read_payload(event):
                assembler.feed(payload)
    return assembler.finish()


def test_the_same_objects_serve_an_async_loop() -> None:
    import asyncio

    chunks = list(ScriptedModel(TURNS).stream("", {}))
    assert asyncio.run(collect(chunks)) == streamed(Played(*chunks))[-1]


def test_a_compressed_stream_is_a_stream() -> None:
    whole = gzip.compress(sse(text("Hi"), text("!", "stop"), "[DONE]"))
    head = HEADERS.replace(b"Transfer-Encoding: chunked", b"Content-Encoding: gzip")
    with serve(head + whole) as server:
        assert streamed_from(server.url)[-1]["message"]["content"] == "Hi!"
    with serve(head + whole[: len(whole) // 2]) as server:
        with pytest.raises(IncompleteToolStream):
            streamed_from(server.url)


class Watched(httpx.SyncByteStream):
    closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield sse(text("Hi"))
        raise AssertionError("pulled too early")

    def close(self) -> None:
        self.closed = True


def test_closing_the_iterator_hangs_up() -> None:
    watched = Watched()
    mock = httpx.MockTransport(lambda request: httpx.Response(200, stream=watched))
    with httpx.Client(transport=mock) as client:
        items = stream_chat("https://h", "m", ASK, transport=HttpTransport(client=client))
        next(items)
        assert not watched.closed
        items.close()
        assert watched.closed
