# Generated from book/transport.ipynb: edit it there, then run `make save`.
"""A transport over HTTP: a reply, or what came instead of it, by name.

    BoundaryError
    ├── ConfigError (ValueError)         the address, key or proxy cannot work
    ├── ProviderError                    the server said no: status, code, message, retry_after
    ├── MalformedResponse (ValueError)   what came back is not the reply that was asked for
    └── DeadlineExceeded (TimeoutError)  the whole exchange took too long

A failure of the connection itself stays what it is: `httpx.ConnectError`,
`httpx.ReadTimeout` and their kin, with a note that names the endpoint. Importing this module
loads only the standard library.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from apisurface.exchange import (
    broken_proxy_variable,
    encode_body,
    post,
    proxy_variable,
    redact_url,
    retry_after,
    secrets_in,
    within,
)

if TYPE_CHECKING:
    import httpx


# cell: boundary-error
class BoundaryError(Exception):
    """Root of everything that goes wrong with what came over the boundary.

    `received` holds what had arrived before it went wrong, where something had.
    """

    received: Any = None


# cell: config-error
class ConfigError(BoundaryError, ValueError):
    """The address, the key or a proxy variable cannot work, whoever answers."""


# cell: provider-error
class ProviderError(BoundaryError):
    """The server answered with an error, whatever its HTTP status was.

    `status` is the HTTP status (200 when the error hid in a good one), `code` the server's own
    word for it (its type, where its code only repeats the status), `retry_after` seconds to
    wait, never negative, and `body` the decoded body.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | int | None = None,
        retry_after: float | None = None,
        body: Any = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status, self.code, self.retry_after = status, code, retry_after
        self.body = body

    def __str__(self) -> str:
        code = "" if self.code is None else f" ({self.code})"
        wait = "" if self.retry_after is None else f"; retry after {self.retry_after:g} s"
        return f"HTTP {self.status}{code}: {self.message}{wait}"


# cell: malformed-response
class MalformedResponse(BoundaryError, ValueError):
    """What came back is not the reply that was asked for; `raw` keeps it, `snippet` its start.

    `status` is the HTTP status and `content_type` the header, where the transport knew them.
    """

    def __init__(
        self, what: str, *, raw: Any = None, status: int | None = 200, content_type: str = ""
    ) -> None:
        super().__init__(what)
        text = raw if isinstance(raw, str) else json.dumps(raw, default=repr)
        self.snippet = text if len(text) <= 200 else text[:200] + "…"
        self.raw, self.status, self.content_type = raw, status, content_type

    def __str__(self) -> str:
        kind = f", {self.content_type}" if self.content_type else ""
        return f"HTTP {self.status}{kind}: {self.args[0]}; got {self.snippet!r}"


# cell: deadline-exceeded
class DeadlineExceeded(BoundaryError, TimeoutError):
    """The exchange outlived its total deadline.

    `received` holds the bytes that had arrived, or what a stream had assembled of them.
    """

    received: Any = b""


# cell: error-object
def error_object(body: Any, status: int | None = 200) -> dict[str, Any] | None:
    """Return the error object inside a decoded body or stream event, or None when it has none.

    Known shapes: `{"error": …}` with an object or plain words, alone or in a list of one;
    vLLM's `"object": "error"`; a Responses event `error`, or `response.failed` around a
    response. With an HTTP `status` of 400 or more any object is one.
    """
    found = body[0] if isinstance(body, list) and len(body) == 1 else body
    if not isinstance(found, dict):
        return None
    if found.get("type") == "response.failed" and isinstance(found.get("response"), dict):
        found = found["response"]
    flat = found.get("object") == "error" or found.get("type") == "error"
    error = found.get("error") or (found if flat else None)
    if not error and status is not None and status >= 400:
        error = found
    if not error:
        return None
    return error if isinstance(error, dict) else {"message": error}


# cell: error-of
def provider_error(
    body: Any, status: int | None = 200, retry_after: float | None = None
) -> ProviderError | None:
    """Return the error that a decoded body or stream event carries, to be raised, or None."""
    said = error_object(body, status)
    if said is None:
        return None
    message = said.get("message") or said.get("detail") or said.get("error") or said
    words = [said.get(key) for key in ("code", "type", "status")]
    code = next((word for word in words if word not in (None, status)), said.get("code"))
    return ProviderError(
        message if isinstance(message, str) else json.dumps(message, default=repr),
        status=status,
        code=code if isinstance(code, (str, int)) else None,
        retry_after=retry_after,
        body=body,
    )


# cell: http-transport
class HttpTransport:
    """The default transport: one POST over raw httpx, as JSON or as a stream of bytes.

    `timeout` bounds each single wait in seconds (connect, read, write, pool: httpx tells them
    apart), `deadline` the whole exchange. `api_key` is sent as a bearer token and never shown;
    `headers` are added as they are. `client` is an `httpx.Client` of your own, which stays
    open. Proxies come from the environment unless `trust_env` is false. Redirects are not
    followed: they would carry the key to another host. Raises ConfigError when made with a key,
    header, time or proxy that cannot work.
    Source: https://www.python-httpx.org/advanced/timeouts/ (checked 2026-11-30).
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = 30.0,
        deadline: float | None = None,
        client: httpx.Client | None = None,
        trust_env: bool = True,
    ) -> None:
        import httpx

        for name, seconds in (("timeout", timeout), ("deadline", deadline)):
            if seconds is not None and not 0 < seconds < math.inf:
                raise ConfigError(f"{name} must be None or more than 0 s, got {seconds!r}")
        self._headers = dict(headers or {})
        if api_key is not None:
            if any(name.lower() == "authorization" for name in self._headers):
                raise ConfigError("give an api_key or an Authorization header, not both")
            if not re.fullmatch("[!-~]+", api_key):
                raise ConfigError(
                    "api_key must be printable ASCII without spaces or line ends; "
                    "for a server that wants no key pass None"
                )
            self._headers["Authorization"] = f"Bearer {api_key}"
        for name, value in self._headers.items():
            if not re.fullmatch("[!-~]+: [!-~]([ -~]*[!-~])?", f"{name}: {value}"):
                raise ConfigError(f"HTTP cannot carry the header {name!r} or its value")
        self.timeout, self.deadline = timeout, deadline
        self._owned, self._uses_environment = client is None, client is None and trust_env
        try:
            self._client = client or httpx.Client(trust_env=trust_env)
        except (ValueError, ImportError, httpx.InvalidURL) as error:
            raise ConfigError(
                f"httpx cannot use {broken_proxy_variable() or 'what the environment sets'}: "
                f"{type(error).__name__}; mend it (a SOCKS proxy needs httpx[socks]) "
                "or pass trust_env=False"
            ) from None

    def __repr__(self) -> str:
        shown = f"headers={sorted(self._headers)}, timeout={self.timeout}"
        return f"HttpTransport({shown}, deadline={self.deadline})"

    def __enter__(self) -> HttpTransport:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, unless the client is yours."""
        if self._owned:
            self._client.close()

    def __call__(self, url: str, body: dict[str, Any]) -> dict[str, Any]:
        """POST the body and return the JSON object of a good reply."""
        status, headers, chunks = self._post(url, body, "application/json")
        return self._read(url, status, headers, _whole(chunks, status))

    def stream(self, url: str, body: dict[str, Any]) -> Iterator[bytes]:
        """POST the body and yield the bytes of a good reply as they arrive."""
        status, headers, chunks = self._post(url, body, "text/event-stream")
        if status < 300 and not re.search("json|html", headers.get("content-type", "")):
            yield from chunks
            return
        reply = self._read(url, status, headers, _whole(chunks, status))
        raise MalformedResponse("asked for a stream, got one whole reply", raw=reply)

    def _post(
        self, url: str, body: dict[str, Any], accept: str
    ) -> tuple[int, Mapping[str, str], Iterator[bytes]]:
        """Send one request; return status, headers and the bytes to come."""
        import httpx

        content = encode_body(body)
        headers = {"Content-Type": "application/json", "Accept": accept} | self._headers
        if "@" in urlsplit(url).netloc and "Authorization" in headers:
            raise ConfigError("the address names a user and there is a key: drop one of them")
        waits = [seconds for seconds in (self.timeout, self.deadline) if seconds is not None]
        reply = post(self._client, url, content, headers, min(waits, default=None))
        late = self.deadline
        chunks = reply if late is None else within(late, reply, DeadlineExceeded)
        try:
            status, answered = next(chunks)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise ConfigError(f"httpx cannot open {redact_url(url)}") from None
        except httpx.ConnectError as error:
            variable = proxy_variable(url) if self._uses_environment else None
            if variable is None:
                raise
            raise ConfigError(
                f"no way to {redact_url(url)} through the proxy that the environment variable "
                f"{variable} names; mend it or pass trust_env=False"
            ) from error
        return status, answered, chunks

    def _read(
        self, url: str, status: int, headers: Mapping[str, str], raw: bytes
    ) -> dict[str, Any]:
        """Return the JSON object of a good reply, or raise what the reply is instead."""
        reply = _decoded(raw)
        if status < 300 and isinstance(reply, dict) and not provider_error(reply):
            return reply
        text = raw.decode("utf-8-sig", errors="replace")
        for secret in secrets_in(url, self._headers):
            text = text.replace(secret, "***")
        wait = retry_after(headers)
        if 300 <= status < 400:
            target = redact_url(headers.get("location", ""))
            said = f"redirected to {target}; if that is right, make it the base_url"
            raise ProviderError(said, status=status, code="redirect", body=text)
        if error := provider_error(_decoded(text.encode()), status, wait):
            raise error
        if status >= 400:
            said = text.strip()[:200] or "no body"
            raise ProviderError(said, status=status, retry_after=wait, body=text)
        kind = headers.get("content-type", "")
        what = "the body is not a JSON object"
        raise MalformedResponse(what, raw=text, status=status, content_type=kind)


# cell: decoded
def _decoded(raw: bytes) -> Any:
    """Return what the bytes say as JSON, or None when they are no JSON in UTF-8."""
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None


# cell: whole
def _whole(exchange: Iterator[Any], status: int) -> bytes:
    """Return the rest of a body; when it breaks off, raise with what had arrived."""
    import httpx

    received = bytearray()
    try:
        for chunk in exchange:
            received += chunk
    except DeadlineExceeded as error:
        error.received = bytes(received)
        raise
    except (httpx.RemoteProtocolError, httpx.ReadError, httpx.DecodingError) as error:
        text = received.decode("utf-8", errors="replace")
        raise MalformedResponse("the body broke off", raw=text, status=status) from error
    return bytes(received)
