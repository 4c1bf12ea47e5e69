"""The recordings hold what they promise, no secret, and `chat()` still reads them the same."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from apisurface.transport import BoundaryError, HttpTransport
from apisurface.wire import chat
from tools.exchanges import EXCHANGES, stream_body
from tools.tape import body_of, events, unpack

FOLDER = Path(__file__).resolve().parent.parent / "book/recordings"
PATHS = sorted(FOLDER.glob("*.json"))
RECORDINGS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in PATHS}
BY_NAME = {exchange.name: exchange for exchange in EXCHANGES}
OWN = set(inspect.signature(chat).parameters)
SECRETS = (
    r"Bearer (?!\*\*\*)",
    r"/(home|root|tmp|work|Users|opt|usr|var|mnt)/",
    r"site-packages",
    r"(127\.0\.0\.1|localhost|\[::1\]):\d",
    r"a-wrong-key",
)


def replay(recording: dict[str, Any]) -> HttpTransport:
    """A default transport whose server answers with the recorded bytes."""

    def answer(request: httpx.Request) -> httpx.Response:
        assert request.content == unpack(recording["request"]["body"])
        response = recording["response"]
        chunks = response.get("chunks", [response.get("body", "")])
        return httpx.Response(
            response["status"],
            headers=response["headers"],
            stream=httpx.ByteStream(b"".join(map(unpack, chunks))),
        )

    return HttpTransport(client=httpx.Client(transport=httpx.MockTransport(answer)))


def test_every_exchange_is_recorded() -> None:
    assert set(BY_NAME) <= set(RECORDINGS)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_recording_is_small_canonical_and_dated(path: Path) -> None:
    text, recording = path.read_text(encoding="utf-8"), RECORDINGS[path.stem]
    assert len(text.encode()) < 100_000
    assert text == json.dumps(recording, indent=1, ensure_ascii=False) + "\n"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", recording["recorded"])
    assert {"server", "model", "model_sha256", "client", "chat_template"} <= set(
        recording["provenance"]
    )
    assert re.fullmatch("[0-9a-f]{64}", recording["provenance"]["model_sha256"])
    assert recording["about"].endswith(".")


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_recording_holds_no_secret_path_or_port(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [found.group() for rule in SECRETS for found in re.finditer(rule, text)] == []


@pytest.mark.parametrize("name", BY_NAME)
def test_the_recorded_bytes_are_as_long_as_the_headers_say(name: str) -> None:
    recording = RECORDINGS[name]
    for message, data in (
        (recording["request"], unpack(recording["request"]["body"])),
        (recording["response"], body_of(recording)),
    ):
        length = message["headers"].get("content-length")
        assert length in (None, str(len(data)))


@pytest.mark.parametrize("name", [e.name for e in EXCHANGES if not e.stream])
def test_replayed_bytes_give_the_recorded_result(name: str) -> None:
    recording, call = RECORDINGS[name], BY_NAME[name].call
    model = json.loads(recording["request"]["body"])["model"]
    if "error" in recording:
        with pytest.raises(BoundaryError) as caught:
            chat("http://replay", model, transport=replay(recording), **call)
        said = {"type": type(caught.value).__name__}
        said |= {key: getattr(caught.value, key, None) for key in ("status", "code", "message")}
        assert said == recording["error"]
    else:
        answer = chat("http://replay", model, transport=replay(recording), **call)
        assert list(answer) == ["message", "finish_reason", "usage", "request_id"]
        assert answer == recording["result"]


@pytest.mark.parametrize("name", [e.name for e in EXCHANGES if e.stream])
def test_replayed_streams_are_whole_events(name: str) -> None:
    recording = RECORDINGS[name]
    body = stream_body(json.loads(recording["request"]["body"])["model"], BY_NAME[name].call)
    data = b"".join(replay(recording).stream("http://replay/v1/chat/completions", body))
    assert data == body_of(recording)
    *found, done = events(data)
    assert done == "[DONE]"
    assert found[-1]["choices"] == []
    assert found[-1]["usage"]["total_tokens"] > 0
    assert all("choices" in event for event in found)
