# Generated from book/exchange.ipynb: edit it there, then run `make save`.
"""One HTTP exchange, to the last byte: what a library leaves to you below a chat completion.

Writing a body that cannot be misread, bounding the whole exchange, reading how long a server
asks to wait, keeping secrets out of what is shown, finding the proxy nobody mentioned.
`transport` is built on these; nothing here knows what a chat completion is.
Importing this module loads only the standard library.
"""

from __future__ import annotations

import json
import logging
import math
import os
import queue
import re
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit
from urllib.request import proxy_bypass

if TYPE_CHECKING:
    import httpx


# cell: within
def within(
    seconds: float,
    items: Generator[Any, None, None],
    late: type[TimeoutError] = TimeoutError,
) -> Iterator[Any]:
    """Yield what `items` yields until `seconds` have passed in all, then raise `late`.

    The items are pulled in a thread of their own, because a name look-up and a header that
    trickles have no time-out that httpx could set. An abandoned thread closes `items` and ends
    with its next item or its own time-out. An error of `items` is raised here as it is.
    """
    ends = time.monotonic() + seconds
    box: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
    abandoned = threading.Event()

    def pull() -> None:
        try:
            for item in items:
                if abandoned.is_set():
                    return
                box.put((item, None))
            box.put((None, StopIteration()))
        except BaseException as error:
            box.put((None, error))
        finally:
            items.close()

    threading.Thread(target=pull, daemon=True, name="apisurface.within").start()
    try:
        while True:
            try:
                item, error = box.get(timeout=max(0.0, ends - time.monotonic()))
            except queue.Empty:
                item, error = None, None
            if time.monotonic() >= ends:
                raise late(f"no whole answer within {seconds:g} s") from error
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield item
    finally:
        abandoned.set()


# cell: encode-body
def encode_body(body: Mapping[str, Any]) -> bytes:
    """Return a request body as UTF-8 JSON, or say which value cannot be written as JSON.

    Raises ValueError with the path of the first lone surrogate, NaN, infinity, non-text key or
    foreign object, before anything is sent. Source: RFC 8259, sections 6 and 8.
    """
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        where = _unencodable(body, "$", 0) or f"$: {error}"
        raise ValueError(f"the request cannot be written as JSON: {where}") from None


# cell: unencodable
def _unencodable(value: Any, path: str, depth: int) -> str | None:
    """Name the first value at or below `path` that JSON in UTF-8 cannot carry."""
    if depth > 200:
        return f"{path[:60]}…: nested too deeply, or containing itself"
    if isinstance(value, str):
        lone = re.search("[\ud800-\udfff]", value)
        return f"{path}: lone surrogate at character {lone.start()}" if lone else None
    if isinstance(value, dict):
        for key, item in value.items():
            if found := _unencodable(key, f"{path}: the key {key!r}", depth):
                return found
            if found := _unencodable(item, f"{path}.{key}", depth + 1):
                return found
        return None
    if isinstance(value, (list, tuple)):
        found_in = (_unencodable(v, f"{path}[{i}]", depth + 1) for i, v in enumerate(value))
        return next((found for found in found_in if found), None)
    if isinstance(value, float) and not math.isfinite(value):
        return f"{path}: {value} is not a JSON number"
    known = value is None or isinstance(value, (int, float))
    return None if known else f"{path}: a {type(value).__name__} is not JSON"


# cell: http-date
def _http_date(text: str) -> datetime | None:
    """Return a date in any of the forms HTTP has had; one that names no zone is in UTC."""
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError, OverflowError):
        return None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


# cell: retry-after
def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds a server asks to wait, from any of three forms, or None.

    `retry-after-ms` wins over `Retry-After`, which holds seconds or an HTTP date; a date is
    read against the reply's own `Date`, then against `now`, then against the clock. Never
    negative; None when there is no header or it says nothing usable. Header names are looked
    up in lower case. Source: RFC 9110, section 10.2.3.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "nan")) / unit
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    until = _http_date(headers.get("retry-after", ""))
    sent = _http_date(headers.get("date", "")) or now or datetime.now(UTC)
    return max(0.0, (until - sent).total_seconds()) if until else None


# cell: redact-url
def redact_url(url: object) -> str:
    """Return an address fit for an error or a log: no user, no password, no query values."""
    try:
        parts = urlsplit(str(url))
        host = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "an address that cannot be parsed"
    query = "?***" if parts.query else ""
    return f"{parts.scheme}://{host}{parts.path}{query}" if host else "no http address"


# cell: quiet-urls
class _QuietUrls(logging.Filter):
    """Take the query out of the address in httpx's own log line, for requests of ours."""

    sending: ContextVar[bool] = ContextVar("sending", default=False)

    def filter(self, record: logging.LogRecord) -> bool:
        if self.sending.get() and isinstance(record.args, tuple):
            record.args = tuple(
                redact_url(arg) if type(arg).__name__ == "URL" else arg for arg in record.args
            )
        return True


# cell: quiet
@contextmanager
def quiet_urls() -> Iterator[None]:
    """Keep the query of every request sent inside this block out of httpx's log."""
    logger = logging.getLogger("httpx")
    if not any(isinstance(known, _QuietUrls) for known in logger.filters):
        logger.addFilter(_QuietUrls())
    token = _QuietUrls.sending.set(True)
    try:
        yield
    finally:
        _QuietUrls.sending.reset(token)


# cell: secrets-in
def secrets_in(url: str, headers: Mapping[str, str]) -> list[str]:
    """List what must not show when a server echoes a request: keys, tokens, a password.

    Values under six characters are left out: hiding them would hide ordinary words.
    """
    parts = urlsplit(url)
    named = re.compile("auth|key|token|secret|cookie", re.IGNORECASE)
    found = [v.removeprefix("Bearer ") for k, v in headers.items() if named.search(k)]
    found += [value for _, value in parse_qsl(parts.query)] + [parts.password or ""]
    return [secret for secret in found if len(secret) >= 6]


# cell: proxy-variable
def proxy_variable(url: str) -> str | None:
    """Name the environment variable whose proxy an address goes through, if any does."""
    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    names = (f"{parts.scheme}_proxy", "all_proxy")
    return next((n for name in names for n in (name, name.upper()) if os.environ.get(n)), None)


# cell: broken-proxy-variable
def broken_proxy_variable() -> str | None:
    """Name the first environment variable whose proxy httpx cannot make a client from."""
    import httpx

    for name, address in sorted(os.environ.items()):
        if name.lower() in ("http_proxy", "https_proxy", "all_proxy") and address:
            try:
                proxy = address if "://" in address else f"http://{address}"
                httpx.Client(proxy=proxy, trust_env=False).close()
            except (ValueError, ImportError, httpx.InvalidURL):
                return name
    return None


# cell: post
def post(
    client: httpx.Client,
    url: str,
    content: bytes,
    headers: Mapping[str, str],
    timeout: float | None = None,
) -> Generator[Any, None, None]:
    """Yield the status and headers of one POST as a pair, then the bytes of its body.

    `timeout` bounds each single wait in seconds. Redirects are not followed: they would carry
    the key to another host. Raises httpx's own errors, with a note that names the endpoint and
    with a request attached that holds no header, body or query.
    """
    import httpx

    try:
        with quiet_urls():
            request = client.build_request(
                "POST", url, content=content, headers=dict(headers), timeout=timeout
            )
            response = client.send(request, stream=True, follow_redirects=False)
        with closing(response):
            yield response.status_code, response.headers
            yield from response.iter_bytes()
    except httpx.RequestError as error:
        error.request = httpx.Request("POST", redact_url(url))
        error.add_note(f"while sending POST {redact_url(url)}")
        raise
