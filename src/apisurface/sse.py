# Generated from book/sse.ipynb: edit it there, then run `make save`.
"""Server-sent events: from the bytes of a streamed reply to the JSON objects in it.

`SSEDecoder` and `read_payload` do no I/O, so that blocking, `async` and test code share them;
`iter_sse` and `iter_payloads` drive them over an iterable of bytes. What can go wrong with a
stream, here and in the modules that build on this one:

    BoundaryError
    ├── ProviderError                        the server sent an error instead of going on
    ├── MalformedStream (ValueError)         what arrived breaks the protocol
    └── IncompleteToolStream (RuntimeError)  what arrived breaks off before its end

Not here: what the objects mean (`deltas`), reconnecting, asking again. Source: WHATWG HTML,
"Server-sent events" (checked 2026-11-30).
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from apisurface.transport import BoundaryError


# cell: malformed-stream
class MalformedStream(BoundaryError, ValueError):
    """What arrived breaks the protocol of the stream; the same bytes would fail again.

    `raw` is the piece that cannot be read, `received` what had been assembled before it.
    """

    def __init__(self, what: str, *, raw: Any = None) -> None:
        super().__init__(what)
        self.raw = raw

    def __str__(self) -> str:
        return f"{self.args[0]}; got {self.raw!r:.160}"


# cell: incomplete
class IncompleteToolStream(BoundaryError, RuntimeError):
    """The stream ended before what it carries was whole: nothing in it may be acted upon.

    `received` is what had been assembled, to be shown or logged. Asking again starts afresh.
    """


# cell: event
@dataclass(frozen=True, slots=True)
class SSEvent:
    """One server-sent event: its type, its data lines joined with LF, the last id seen."""

    event: str
    data: str
    id: str


# cell: decoder
class SSEDecoder:
    """Turns bytes that were cut anywhere into events; does no I/O of its own.

    `feed(chunk)` returns the events that the chunk completes, `flush()` the one that the end of
    input completes although its blank line is missing. Bytes that are not UTF-8, or end inside
    a character, raise MalformedStream, after the events before them were returned.
    """

    def __init__(self) -> None:
        self._open: list[bytes] = []
        self._data: list[str] = []
        self._event = self._id = ""
        self._first, self._after_cr = True, False
        self._broken: MalformedStream | None = None

    def feed(self, chunk: bytes) -> list[SSEvent]:
        """Return the events that end in this chunk."""
        if self._broken:
            raise self._broken
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        lines = chunk.splitlines()
        if chunk.endswith((b"\r", b"\n")):
            lines.append(b"")
        self._open.append(lines[0])
        if len(lines) == 1:
            return []
        lines[0], rest = b"".join(self._open), lines.pop()
        self._open = [rest]
        return self._read(lines)

    def flush(self) -> list[SSEvent]:
        """Return the event that was not closed by a blank line, if there is one."""
        lines = [b"".join(self._open), b""]
        self._open = []
        found = [] if self._broken else self._read(lines)
        if self._broken:
            raise self._broken
        return found

    def _read(self, lines: list[bytes]) -> list[SSEvent]:
        """Return the events that these whole lines complete."""
        found: list[SSEvent] = []
        for raw in lines:
            try:
                line = raw.decode()
            except UnicodeDecodeError as error:
                what = f"{error.reason} at byte {error.start} of a line of the stream"
                self._broken = MalformedStream(what, raw=raw[error.start :][:16])
                if not found:
                    raise self._broken from None
                break
            if self._first:
                line, self._first = line.removeprefix("\ufeff"), False
            if line:
                self._field(*line.partition(":"))
            elif self._data:
                event = self._event or "message"
                found.append(SSEvent(event, "\n".join(self._data), self._id))
                self._data, self._event = [], ""
            else:
                self._event = ""
        return found

    def _field(self, name: str, _: str, value: str) -> None:
        """Take in one line; a comment has an empty name, unknown names mean nothing."""
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value


# cell: iter-sse
def iter_sse(chunks: Iterable[bytes]) -> Iterator[SSEvent]:
    """Yield the events of a stream as soon as the chunk arrives that completes them.

    `chunks` are bytes cut anywhere. A last event without its blank line is yielded at the end
    of input. Raises MalformedStream for bytes that are not UTF-8 or end inside a character.
    """
    decoder = SSEDecoder()
    for chunk in chunks:
        yield from decoder.feed(chunk)
    yield from decoder.flush()


# cell: read-payload
def read_payload(event: SSEvent) -> dict[str, Any] | None:
    """Return the JSON object that an event carries; None for `[DONE]` and for keep-alives.

    An error that stands in a list, or alone in an event of type `error`, is returned as
    `{"error": …}`. Raises MalformedStream when the data is anything else than an object.
    """
    data = event.data.strip()
    if not data or data == "[DONE]" or data[0] == ":":
        return None
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise MalformedStream("the data of an event is not JSON", raw=event.data) from None
    match value:
        case [{"error": _} as inner]:
            value = inner
    if not isinstance(value, dict):
        raise MalformedStream("the data of an event is not a JSON object", raw=event.data)
    return {"error": value} if event.event == "error" and not value.get("error") else value


# cell: iter-payloads
def iter_payloads(chunks: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a stream of bytes, up to `[DONE]` or the end of input.

    Raises MalformedStream as `iter_sse` and `read_payload` do, and IncompleteToolStream when
    the bytes end inside an object: then they were cut, not wrong.
    """
    decoder = SSEDecoder()
    for chunk in chunks:
        for event in decoder.feed(chunk):
            if event.data.strip() == "[DONE]":
                return
            if payload := read_payload(event):
                yield payload
    try:
        rest = [read_payload(event) for event in decoder.flush()]
    except MalformedStream as error:
        raise IncompleteToolStream(f"the stream broke off inside an event: {error}") from error
    yield from filter(None, rest)
