"""Recording: bytes survive, secrets do not, and nothing is written again without a reason."""

from __future__ import annotations

import copy
import json
import runpy
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import reply, serve

from tools import model_server, record
from tools.tape import Tape, body_of, essence, events, pack, shape, unpack

PROVENANCE = {"server": "s 1", "model_sha256": "0", "chat_template": "own", "platform": "a"}


def recording(body: dict[str, Any], **head: Any) -> dict[str, Any]:
    return {
        "recorded": "2026-11-30",
        "provenance": PROVENANCE,
        "about": "One.",
        "request": {"method": "POST", "path": "/", "headers": {}, "body": "{}"},
        "response": {"status": 200, "headers": {}, "body": json.dumps(body)},
    } | head


@given(st.binary())
def test_bytes_survive_a_recording(data: bytes) -> None:
    assert unpack(json.loads(json.dumps(pack(data)))) == data


def test_bytes_that_are_no_text_are_base64() -> None:
    assert pack("é\r\n".encode()) == "é\r\n"
    assert pack(b"\xc3") == {"base64": "ww=="}


def test_the_tape_keeps_exact_bytes_without_key_and_port() -> None:
    body = b'data: {"t": "\xc3\xa9"}\n\n'
    with serve(reply("200 OK", body, "X-Request-Id: r1")) as server:
        with Tape() as tape, httpx.Client(transport=tape) as client:
            sent = {"Authorization": "Bearer secret"}
            response = client.post(f"{server.url}/v1/x?a=1", content=b'{"a": 1}', headers=sent)
            assert response.content == body
            kept = tape.exchange(stream=True)
    assert kept["request"]["path"] == "/v1/x?a=1"
    assert kept["request"]["body"] == '{"a": 1}'
    assert kept["request"]["headers"]["authorization"] == "Bearer ***"
    assert kept["request"]["headers"]["host"] == "127.0.0.1"
    assert kept["response"]["headers"]["x-request-id"] == "r1"
    assert body_of(kept) == body
    assert "secret" not in json.dumps(kept)


def test_ids_clocks_and_timings_are_not_the_essence() -> None:
    one = recording({"id": "a", "created": 1, "timings": {"ms": 1.5}, "choices": [1]})
    two = recording({"id": "b", "created": 2, "timings": {"ms": 2}, "choices": [1]})
    two["recorded"], two["provenance"] = "2027-01-01", PROVENANCE | {"platform": "b"}
    assert essence(one) == essence(two)
    assert essence(one) != essence(recording({"choices": [2]}))
    assert essence(one) != essence(one | {"provenance": PROVENANCE | {"server": "s 2"}})


def test_the_cut_into_chunks_is_not_the_essence() -> None:
    one, two = recording({}), recording({})
    text = 'data: {"a": 1}\n\ndata: [DONE]\n\n'
    one["response"] = {"status": 200, "headers": {}, "chunks": [text]}
    two["response"] = {"status": 200, "headers": {}, "chunks": [text[:9], text[9:]]}
    assert essence(one) == essence(two)
    assert events(body_of(one)) == [{"a": 1}, "[DONE]"]


def test_a_recording_is_written_only_when_it_moved(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    first = recording({"id": "a", "choices": [1]})
    again = copy.deepcopy(first) | {"recorded": "2027-01-01"}
    assert record.keep(path, first) == "new"
    before = path.read_bytes()
    assert record.keep(path, again) == "unchanged"
    assert path.read_bytes() == before
    assert record.keep(path, recording({"id": "a", "choices": [2]})) == "changed"
    assert (
        json.loads(path.read_text(encoding="utf-8"))["response"]["body"]
        == '{"id": "a", "choices": [2]}'
    )


def test_shape_names_keys_and_kinds() -> None:
    value = {"a": [{"b": 1}, {"b": None, "c": "x"}], "d": 1.5, "e": True}
    assert shape(value) == {
        "$",
        "$.a",
        "$.a[]",
        "$.a[].b: number",
        "$.a[].b: null",
        "$.a[].c: string",
        "$.d: number",
        "$.e: boolean",
    }


def test_without_the_extra_one_is_told_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_server, "missing_packages", lambda: ["xllamacpp"])
    with pytest.raises(model_server.MissingExtra, match="make record"):
        with model_server.model_server():
            pass


def test_recording_without_the_extra_ends_with_the_same_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(model_server, "missing_packages", lambda: ["xllamacpp"])
    monkeypatch.setattr("sys.argv", ["record", "chat", "--root", str(tmp_path)])
    with pytest.raises(SystemExit, match="xllamacpp"):
        record.main()
    assert not list(tmp_path.rglob("*.json"))


def test_a_server_that_dies_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_server, "missing_packages", list)
    monkeypatch.setattr("sys.executable", shutil.which("false") or "false")
    with pytest.raises(model_server.ServerFailed, match="while starting"):
        with model_server.model_server():
            pass


@pytest.mark.parametrize(("ci", "outcome"), [("", "Skipped"), ("true", "Failed")])
def test_left_out_is_a_reasoned_skip_and_in_ci_a_failure(
    ci: str, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    conftest = runpy.run_path(str(record.ROOT / "tests/live/conftest.py"))
    monkeypatch.setenv("CI", ci)
    with pytest.raises(BaseException, match="no xllamacpp") as caught:
        conftest["leave_out"](model_server.MissingExtra("no xllamacpp"))
    assert type(caught.value).__name__ == outcome
