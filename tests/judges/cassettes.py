"""Recorded provider traffic: the VCR cassettes inside the pinned archives, one record an exchange.

    from judges.cassettes import records, record, streams

`python tests/judges/cassettes.py ID` prints one of them. The first reading takes some twenty
seconds; it is kept, decoded, beside the archives and read again in less than one, until a pin
or this file changes. What comes back is what the provider sent: compression undone, text as
UTF-8, nothing else mended.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import pickle
import re
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from tools import archives

SOURCES = (
    "langchain-anthropic",
    "langchain-openai",
    "magentic",
    "mirascope",
    "opentelemetry-instrumentation-anthropic",
    "opentelemetry-instrumentation-groq",
    "opentelemetry-instrumentation-openai",
    "opentelemetry-instrumentation-openai-v2",
)
SHORT = {name: name.replace("opentelemetry-instrumentation", "otel") for name in SOURCES}
SSE = re.compile(rb"\s*(?:event|data|id|retry)?:")


@dataclass(frozen=True)
class Record:
    """One recorded exchange.

    `provider` is openai-chat, openai-responses, anthropic, gemini or other: the shape that was
    spoken, whoever served it (Groq, Mistral, Ollama, Azure and OpenRouter speak openai-chat).
    `url` has neither query nor user, and is empty where the recorder blanked it. `request` and
    `body` are bytes, `headers` the reply's, in lower case.
    """

    id: str
    archive: str
    path: str
    index: int
    provider: str
    method: str
    url: str
    request: bytes
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def is_stream(self) -> bool:
        """Tell whether the reply is made of server-sent events."""
        return self.status == 200 and SSE.match(self.body) is not None

    @property
    def asked(self) -> Any:
        """The request's body as JSON, or None when it is none."""
        return _json(self.request)

    @property
    def answer(self) -> Any:
        """The reply's body as JSON, or None when it is none."""
        return _json(self.body)


@cache
def records() -> tuple[Record, ...]:
    """Return every exchange of every archive, in the order of archive, path and index."""
    key = hashlib.sha256(Path(__file__).read_bytes())
    for name in SOURCES:
        key.update(archives.archive(name).name.encode())
    kept = archives.cache() / f"cassettes-{key.hexdigest()[:16]}"
    if kept.is_file():
        rows = pickle.loads(zlib.decompress(kept.read_bytes()))  # written by us, below
    else:
        rows = [row for name in SOURCES for row in _read(name)]
        partial = kept.with_suffix(".partial")
        partial.write_bytes(zlib.compress(pickle.dumps(rows), 1))
        partial.replace(kept)
    return tuple(Record(*row) for row in rows)


def streams() -> list[Record]:
    """Return the recorded streams that speak one of the four shapes."""
    return [found for found in records() if found.is_stream and found.provider != "other"]


def record(key: str) -> Record:
    """Return the exchange with this id."""
    return next(found for found in records() if found.id == key)


def _read(name: str) -> Iterator[tuple[Any, ...]]:
    """Yield the fields of each exchange in one archive."""
    for path, content in archives.members(name):
        if not path.endswith((".yaml", ".yaml.gz")):
            continue
        tape = yaml.load(_unpacked(content), Loader=yaml.CSafeLoader)
        for index, (asked, got) in enumerate(_pairs(tape)):
            inside = path.partition("/")[2]
            digest = hashlib.sha256(f"{inside}#{index}".encode()).hexdigest()[:6]
            request = _bytes(asked.get("body"))
            url = urlsplit(asked["uri"])
            host = url.netloc.rpartition("@")[2]
            root = f"{url.scheme}://{host}{url.path}" if host else ""
            headers = {
                key.lower(): value if isinstance(value, str) else ", ".join(value)
                for key, value in got["headers"].items()
            }
            yield (
                f"{SHORT[name]}-{digest}",
                name,
                inside,
                index,
                _provider(name, root, request),
                asked["method"],
                root,
                request,
                got["status"]["code"],
                headers,
                _unpacked(_bytes(got["body"]["string"])),
            )


def _pairs(tape: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield request and response, in either of the two layouts; other files hold none."""
    if isinstance(tape, dict) and "responses" in tape:
        yield from zip(tape["requests"], tape["responses"], strict=True)
    elif isinstance(tape, dict) and isinstance(tape.get("interactions"), list):
        yield from ((each["request"], each["response"]) for each in tape["interactions"])


def _provider(name: str, url: str, request: bytes) -> str:
    """Tell which shape was spoken: by the path, or by the body where the path was blanked."""
    for ending, provider in (
        (r"/chat/completions", "openai-chat"),
        (r"/responses", "openai-responses"),
        (r"/v1/messages", "anthropic"),
        (r"anthropic\.[^/]*/invoke", "anthropic"),
        (r":(stream)?[gG]enerateContent", "gemini"),
    ):
        if re.search(ending + "$", url):
            return provider
    asked = _json(request)
    if url or not isinstance(asked, dict) or "encoding_format" in asked:
        return "other"
    if "messages" in asked:
        return "anthropic" if name == "langchain-anthropic" else "openai-chat"
    return "openai-responses" if "input" in asked else "other"


def _bytes(body: Any) -> bytes:
    if isinstance(body, str):
        return body.encode()
    return body or b""


def _unpacked(content: bytes) -> bytes:
    """Undo gzip, the only compression in these archives (tests/judges/test_cassettes.py)."""
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


if __name__ == "__main__":
    shown = record(sys.argv[1])
    print(f"{shown.archive} {shown.path}[{shown.index}] {shown.provider}")
    print(shown.method, shown.url, shown.status, shown.headers.get("content-type"))
    print(shown.request.decode(errors="replace"), end="\n\n")
    sys.stdout.buffer.write(shown.body)
