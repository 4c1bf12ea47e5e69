"""`stream_chat` over transports of every temper: scripted, broken, stalled, and a real socket."""

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest
from loopback import reply, serve

from apisurface import (
    DeadlineExceeded,
    Delta,
    HttpTransport,
    IncompleteToolStream,
    MalformedResponse,
    MalformedStream,
    ProviderError,
    ScriptedModel,
    StreamAssembler,
    actionable_calls,
    chat,
    stream_chat,
)

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
        for chunk in chunks:
            yield chunk

    decoder, assembler = SSEDecoder(), StreamAssembler()
    async for chunk in arriving():
        for event in decoder.feed(chunk):
            if payload := read_payload(event):
                assembler.feed(payload)
    return assembler.finish()


def test_the_same_objects_serve_an_async_loop() -> None:
    import asyncio

    chunks = list(ScriptedModel(TURNS).stream("", {}))
    assert asyncio.run(collect(chunks)) == streamed(Played(*chunks))[-1]
