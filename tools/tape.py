"""What a recording is: one exchange with a real server, its bytes exact, its secrets gone.

A recording is a JSON object. Bytes that are UTF-8 stand as text, others as
`{"base64": "…"}`. Left out are the key and the port; nothing else is changed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any, TypeAlias

import httpx

Bytes: TypeAlias = str | dict[str, str]
HIDDEN = "***"
# What differs between two runs that answer the same: names, clocks, and what was counted in
# seconds. `content-length` follows from the digits of those.
VOLATILE = {"id", "request_id", "created", "timings", "content-length", "user-agent"}


def pack(data: bytes) -> Bytes:
    """Return bytes as text when they are UTF-8, otherwise as base64."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def unpack(packed: Bytes) -> bytes:
    """Return the bytes that `pack` was given."""
    return packed.encode() if isinstance(packed, str) else base64.b64decode(packed["base64"])


def body_of(recording: dict[str, Any]) -> bytes:
    """Return the recorded response's bytes, whole."""
    response = recording["response"]
    return b"".join(map(unpack, response.get("chunks", [response.get("body", "")])))


class Tape(httpx.BaseTransport):
    """An httpx transport that passes everything on and keeps the bytes of the last exchange."""

    def __init__(self) -> None:
        self._inner = httpx.HTTPTransport()
        self._request: httpx.Request | None = None
        self._response: httpx.Response | None = None
        self.chunks: list[bytes] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request; its response is copied while it is read."""
        request.read()
        self._request, self.chunks = request, []
        inner = self._response = self._inner.handle_request(request)
        assert isinstance(inner.stream, httpx.SyncByteStream)
        return httpx.Response(
            inner.status_code,
            headers=inner.headers,
            stream=_Copied(inner.stream, self.chunks),
            extensions=inner.extensions,
        )

    def close(self) -> None:
        """Close the connections."""
        self._inner.close()

    def exchange(self, *, stream: bool) -> dict[str, Any]:
        """Return the last exchange as a recording's `request` and `response`."""
        assert self._request is not None
        assert self._response is not None
        chunks = [pack(chunk) for chunk in self.chunks]
        body = {"chunks": chunks} if stream else {"body": pack(b"".join(self.chunks))}
        return {
            "request": {
                "method": self._request.method,
                "path": self._request.url.raw_path.decode(),
                "headers": _headers(self._request.headers),
                "body": pack(self._request.content),
            },
            "response": {
                "status": self._response.status_code,
                "headers": _headers(self._response.headers),
                **body,
            },
        }


class _Copied(httpx.SyncByteStream):
    """A byte stream that keeps each chunk that it hands on."""

    def __init__(self, inner: httpx.SyncByteStream, kept: list[bytes]) -> None:
        self._inner, self._kept = inner, kept

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._inner:
            self._kept.append(chunk)
            yield chunk

    def close(self) -> None:
        self._inner.close()


def _headers(headers: httpx.Headers) -> dict[str, str]:
    """Return the headers without the key and without the port of the day."""
    shown = {name.lower(): value for name, value in headers.items()}
    if "authorization" in shown:
        shown["authorization"] = f"Bearer {HIDDEN}"
    if "host" in shown:
        shown["host"] = shown["host"].rpartition(":")[0] or shown["host"]
    return shown


def events(body: bytes) -> list[Any]:
    """Return what a body holds: its JSON value, or those of its `data:` lines, or its text."""
    text = body.decode(errors="replace")
    lines = [line[5:].strip() for line in text.split("\n") if line.startswith("data:")]
    return [_json_or_text(line) for line in lines or [text]]


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def essence(recording: dict[str, Any]) -> Any:
    """Return what two recordings of the same behaviour share on any day and machine."""
    kept = {name: value for name, value in recording.items() if name != "recorded"}
    versions = ("server", "model_sha256", "chat_template")
    kept["provenance"] = {name: recording["provenance"][name] for name in versions}
    if "request" in recording:
        request, response = recording["request"], recording["response"]
        kept["request"] = request | {"body": events(unpack(request["body"]))}
        found = events(body_of(recording))
        kept["response"] = [response["status"], response["headers"], found]
    return _steady(kept)


def _steady(value: Any) -> Any:
    """Drop what is volatile, at every depth, and the digits on which two machines differ."""
    if isinstance(value, dict):
        return {key: _steady(item) for key, item in value.items() if key not in VOLATILE}
    if isinstance(value, list | tuple):
        return [_steady(item) for item in value]
    return float(f"{value:.3g}") if isinstance(value, float) else value


def shape(value: Any, path: str = "$") -> set[str]:
    """Return the paths and kinds of a JSON value, such as `$.usage.total_tokens: number`.

    The items of a list share one path, `$.choices[]`: how many there are is not shape.
    """
    if isinstance(value, dict):
        return {path}.union(*(shape(item, f"{path}.{key}") for key, item in value.items()))
    if isinstance(value, list):
        return {path}.union(*(shape(item, f"{path}[]") for item in value))
    kind = "number" if isinstance(value, float) else type(value).__name__
    names = {"NoneType": "null", "str": "string", "int": "number", "bool": "boolean"}
    return {f"{path}: {names.get(kind, kind)}"}
