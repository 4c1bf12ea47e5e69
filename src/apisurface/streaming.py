# Generated from book/streaming.ipynb: edit it there, then run `make save`.
"""Streaming: when a streamed tool call may be acted upon, and not a byte earlier.

`assemble_tool_stream` shows the two conditions on the smallest shape. For real wires:
`iter_sse` (bytes to events), `assemble_chat_stream` (decoded chunks to the four fields of
`chat()`), `actionable_calls` (the gate), and `stream_chat`, which does it all over a transport.

    BoundaryError
    ├── ProviderError                        the server sent an error instead of going on
    ├── MalformedStream (ValueError)         what arrived breaks the protocol
    ├── IncompleteToolStream (RuntimeError)  what arrived breaks off before its end
    └── NotActionable (ValueError)           a whole response whose calls must not run

The first three carry `.received`, a `PartialResponse`. Nothing here asks again: what was shown
to a reader cannot be taken back.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from apisurface.assembly import StreamAssembler
from apisurface.calls import ToolCall
from apisurface.deltas import Delta
from apisurface.parsing import MalformedJSON, loads_strict
from apisurface.sse import (
    IncompleteToolStream,
    MalformedStream,
    SSEvent,
    iter_payloads,
    iter_sse,
)
from apisurface.transport import BoundaryError, HttpTransport, MalformedResponse, provider_error
from apisurface.wire import Message, chat


# cell: teaching
def assemble_tool_stream(chunks: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the calls of a stream in the teaching shape, ordered by index.

    A chunk is `{"tool_call": {"index", "id"?, "name"?, "arguments"?, "closed"?}}` or
    `{"terminal": True}`; a call comes out as `{"id", "name", "arguments": dict}`. Raises
    IncompleteToolStream unless every call was closed, was named by an id or a name, and the
    terminal event was seen, MalformedStream for what contradicts itself, and MalformedJSON for
    arguments that are none.
    """
    calls: dict[int, dict[str, Any]] = {}
    terminal = False
    for chunk in chunks:
        if not isinstance(chunk, dict):
            raise MalformedStream("a chunk is an object", raw=chunk)
        terminal = terminal or chunk.get("terminal") is True
        piece = chunk.get("tool_call")
        if piece is None:
            continue
        if terminal:
            raise MalformedStream("a fragment after the terminal event", raw=piece)
        if not isinstance(piece, dict) or type(piece.get("index")) is not int:
            raise MalformedStream("a fragment without an index", raw=piece)
        if not all(isinstance(piece.get(k) or "", str) for k in ("id", "name", "arguments")):
            raise MalformedStream("id, name and arguments are text", raw=piece)
        empty: dict[str, Any] = {"id": None, "name": None, "pieces": [], "closed": False}
        call = calls.setdefault(piece["index"], empty)
        if call["closed"]:
            raise MalformedStream("a fragment of a call that is closed", raw=piece)
        for key in ("id", "name"):
            if piece.get(key) and call[key] not in (None, piece[key]):
                raise MalformedStream(f"the {key} of a call changes", raw=piece)
            call[key] = call[key] or piece.get(key)
        call["pieces"].append(piece.get("arguments") or "")
        call["closed"] = piece.get("closed") is True
    if not terminal or not calls or not all(call["closed"] for call in calls.values()):
        raise IncompleteToolStream("stream ended before close and terminal events")
    if not all(call["id"] or call["name"] for call in calls.values()):
        raise IncompleteToolStream("the piece that names a call is missing")
    found = []
    for _, call in sorted(calls.items()):
        text = "".join(call["pieces"])
        arguments = loads_strict(text) if text else {}
        if not isinstance(arguments, dict):
            raise MalformedStream("arguments that are no object", raw=text)
        found.append({"id": call["id"], "name": call["name"], "arguments": arguments})
    return found


# cell: assemble
def assemble_chat_stream(
    chunks: Iterable[dict[str, Any]],
    *,
    provider: str = "openai-chat",
    all_choices: bool = False,
) -> dict[str, Any]:
    """Return the four fields of `chat()` from the decoded chunks of a stream.

    `provider` is `openai-chat`, `openai-responses`, `anthropic` or `gemini`. The message holds
    `content`, `tool_calls` with `arguments` as the raw string, and `refusal`, `reasoning` and
    `native` where the wire had them; `finish_reason` and `usage` are in Chat's words. A call
    without an id gets a made one and `"synthetic_id": True`. With `all_choices` the result is
    `{"choices": [four fields, …]}` by choice index. Raises, with what was received attached,
    ProviderError, MalformedStream and IncompleteToolStream; ValueError for another provider.
    """
    assembler = StreamAssembler(provider)
    for chunk in chunks:
        assembler.feed(chunk)
    return assembler.finish(all_choices=all_choices)


# cell: not-actionable
class NotActionable(BoundaryError, ValueError):
    """A response is whole, and its calls must not run; none of them may.

    `kind` says why: `finish`, `id`, `name`, `arguments` or `text`. `raw` keeps what was
    refused, `call_id` names the call where there is one.
    """

    def __init__(
        self, what: str, *, kind: str, raw: Any = None, call_id: str | None = None
    ) -> None:
        super().__init__(what)
        self.kind, self.raw, self.call_id = kind, raw, call_id


# cell: text-call
def _text_call(text: object) -> str | None:
    """Return the tool call that a text begins with `<tool_call>{` and does not end, if any."""
    if not isinstance(text, str):
        return None
    begun = text.find("<tool_call>", text.rfind("</tool_call>") + 1)
    found = text[begun:] if begun >= 0 else ""
    return found if found.removeprefix("<tool_call>").lstrip().startswith("{") else None


# cell: judged
def _judged(raw: Any) -> ToolCall:
    """Return one call as it may be run, or raise what is wrong with it."""
    function = raw.get("function") if isinstance(raw, dict) else None
    if not isinstance(function, dict):
        raise NotActionable("a call without a function", kind="name", raw=raw)
    ident, name, text = raw.get("id"), function.get("name"), function.get("arguments")
    if not isinstance(ident, str) or not ident:
        raise NotActionable("a call without an id", kind="id", raw=raw)
    if not isinstance(name, str) or not name:
        raise NotActionable(
            f"the call {ident} has no name", kind="name", raw=raw, call_id=ident
        )
    try:
        arguments = {} if text is None or text == "" else loads_strict(text)
    except MalformedJSON as error:
        what = f"malformed arguments of {ident}: {error}"
        raise NotActionable(what, kind="arguments", raw=text, call_id=ident) from error
    if not isinstance(arguments, dict):
        what = f"the arguments of {ident} are not an object"
        raise NotActionable(what, kind="arguments", raw=text, call_id=ident)
    return ToolCall(name, arguments, ident)


# cell: actionable
def actionable_calls(response: dict[str, Any]) -> list[ToolCall]:
    """Return the calls of a response that may be validated and run; `[]` when it has none.

    The gate: the response ended with `tool_calls` or `stop`, every call has an id of its own
    and a name, and every argument text is strictly one JSON object (empty or null means `{}`).
    One bad call makes none actionable. Raises NotActionable, a ValueError that keeps the raw
    text; also for a call that the content begins as text and does not end.
    """
    if not isinstance(response, dict) or not isinstance(response.get("message"), dict):
        what = f"a response with a message is needed, got {type(response).__name__}"
        raise NotActionable(what, kind="finish", raw=response)
    message, finish = response["message"], response.get("finish_reason")
    if finish not in ("tool_calls", "stop"):
        raise NotActionable(f"the response ended with {finish!r}", kind="finish", raw=message)
    found: list[ToolCall] = []
    seen: set[str | None] = set()
    proposed = message.get("tool_calls") or []
    if not isinstance(proposed, list):
        raise NotActionable("tool_calls is not a list", kind="name", raw=proposed)
    for raw in proposed:
        call = _judged(raw)
        if call.id in seen:
            raise NotActionable(f"two calls have the id {call.id!r}", kind="id", raw=raw)
        seen.add(call.id)
        found.append(call)
    if not found and message.get("function_call"):
        what = "a call in the deprecated field function_call has no id to be answered under"
        raise NotActionable(what, kind="id", raw=message["function_call"])
    if not found and (text := _text_call(message.get("content"))):
        what = "the content begins a tool call as text and does not end it"
        raise NotActionable(what, kind="text", raw=text)
    return found


# cell: stream-transport
class StreamTransport(Protocol):
    """What can stream: `HttpTransport`, `ScriptedModel` and whatever has such a method."""

    def stream(self, url: str, body: dict[str, Any]) -> Iterator[bytes]:
        """POST the body and yield the bytes of the reply as they arrive."""
        ...


# cell: watched
def _watched(source: Iterable[bytes], head: bytearray) -> Iterator[bytes]:
    """Pass bytes on; the first of them are kept in `head`, in case they are no stream."""
    for chunk in source:
        head += chunk[: max(0, 65_536 - len(head))]
        yield chunk


# cell: no-stream
def _no_stream(head: bytes) -> BoundaryError | None:
    """Return the error for a reply that is a page, an object, or text without one SSE line."""
    text = head.decode("utf-8-sig", errors="replace").strip()
    lines = re.search(r"(?:^|[\r\n])(data|event|id|retry)?:", text)
    begun = any(name.startswith(text) for name in ("data", "event", "id", "retry"))
    if not text.startswith(("{", "[", "<")) and (lines or begun):
        return None
    try:
        error = provider_error(json.loads(text))
    except (ValueError, RecursionError):
        error = None
    return error or MalformedResponse("asked for a stream, got one whole reply", raw=text)


# cell: broken-connections
def _broken_connections() -> tuple[type[Exception], ...]:
    """Return the errors of a connection that breaks, in the libraries that are loaded."""
    libraries = (sys.modules.get(name) for name in ("httpx", "httpx2"))
    return (OSError, *(library.HTTPError for library in libraries if library))


# cell: streamed
def _streamed(
    transport: StreamTransport | None, url: str, body: dict[str, Any]
) -> Iterator[Delta | dict[str, Any]]:
    """Play one exchange: yield its deltas, then its response."""
    if transport is None:
        with HttpTransport() as default:
            yield from _streamed(default, url, body)
        return
    assembler, head = StreamAssembler(), bytearray()
    source = transport.stream(url, body)
    try:
        for payload in iter_payloads(_watched(source, head)):
            yield from assembler.feed(payload)
        if assembler.partial().choices or not (error := _no_stream(bytes(head))):
            response = assembler.finish()
        else:
            raise error
    except BoundaryError as error:
        if not head:
            raise
        assembler.fail(error)
    except _broken_connections() as error:
        if not head:
            raise
        broken = IncompleteToolStream(f"the connection broke: {type(error).__name__}")
        broken.__cause__ = error
        assembler.fail(broken)
    finally:
        getattr(source, "close", bool)()
    yield response


# cell: stream-chat
def stream_chat(
    base_url: str,
    model: str,
    messages: Sequence[Message],
    *,
    transport: StreamTransport | None = None,
    tools: Sequence[dict[str, Any]] | None = None,
    response_format: dict[str, Any] | None = None,
    temperature: float = 0.0,
    top_p: float = 1.0,
    max_tokens: int = 256,
    tool_choice: str | dict[str, Any] | None = None,
    parallel_tool_calls: bool = False,
    extra_body: Mapping[str, Any] | None = None,
) -> Iterator[Delta | dict[str, Any]]:
    """Send one conversation, yield the answer's deltas, and last the whole response.

    Takes what `chat()` takes and checks it at once; the request is sent when the first item is
    asked for. `*deltas, response = stream_chat(…)`: the last item is what `chat()` would have
    returned. The body says `stream: true` and asks for usage; for a server that refuses
    `stream_options` set it to None in `extra_body`. Closing the iterator closes the connection.

    Raises ValueError (a bad argument, a transport that cannot stream), and until something has
    arrived what the transport raises. After that nothing is sent again: a connection that
    breaks is IncompleteToolStream, with the cause; that, MalformedStream, ProviderError and
    DeadlineExceeded carry `.received`. MalformedResponse when what came is no stream.
    """
    kept: list[tuple[str, dict[str, Any]]] = []

    def keep(url: str, body: dict[str, Any]) -> dict[str, Any]:
        kept.append((url, body))
        return {"choices": [{"message": {}}]}

    if transport is not None and not callable(getattr(transport, "stream", None)):
        raise ValueError("the transport has no stream(url, body)")
    chat(
        base_url,
        model,
        messages,
        transport=keep,
        tools=tools,
        response_format=response_format,
        temperature=temperature,
        top_p=top_p,
        max_tokens=max_tokens,
        tool_choice=tool_choice,
        parallel_tool_calls=parallel_tool_calls,
        extra_body=extra_body,
    )
    [(url, body)] = kept
    options = {"stream": True, "stream_options": {"include_usage": True}} | body
    body = body | {key: value for key, value in options.items() if value is not None}
    if body.get("stream_options", ...) is None:
        del body["stream_options"]
    return _streamed(transport, url, body)


# cell: wire-steps
WIRE_STEPS: tuple[
    Callable[[Iterable[bytes]], Iterator[SSEvent]],
    Callable[..., dict[str, Any]],
    Callable[[dict[str, Any]], list[ToolCall]],
] = (iter_sse, assemble_chat_stream, actionable_calls)
