"""A recorded stream goes wrong on its way, at every place: over a real connection on loopback.

The stream is one tool call as llama.cpp sent it. Whatever happens to it, a call of a response
that did not finish is never handed out, what had arrived is kept, and there is one request.
A piece that is lost, comes twice or comes late leaves no trace where the text still parses: no
reader of a Chat stream can see it (there are no sequence numbers). The schema then refuses
O-042 and O-00042, but not O-0024: the order of the bytes is the network's promise, not ours.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from loopback import Step, serve

from apisurface.partial import PartialResponse
from apisurface.sse import iter_payloads
from apisurface.streaming import actionable_calls, stream_chat
from apisurface.transport import BoundaryError, DeadlineExceeded, HttpTransport, ProviderError

RECORDING = Path(__file__).parent.parent / "book" / "recordings" / "tool-call-stream.json"
RECORDED = json.loads(RECORDING.read_text(encoding="utf-8"))
WIRE = "".join(RECORDED["response"]["chunks"]).encode()
EVENTS = [event + b"\n\n" for event in WIRE.split(b"\n\n")[:-1]]
FINISH = next(at for at, event in enumerate(EVENTS) if b'"finish_reason":"tool_calls"' in event)
FINISHED = sum(map(len, EVENTS[: FINISH + 1])) - 2  # its JSON is whole, its blank line not seen
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
ASKED = json.loads(RECORDED["request"]["body"])
SCHEMA = Draft202012Validator(ASKED["tools"][0]["function"]["parameters"])
ERROR = b'data: {"error": {"message": "overloaded", "code": "busy"}}\n\n'


def script(*events: bytes) -> list[Step]:
    """Return a reply whose end is the end of the connection."""
    return [HEAD + b"\r\n" + b"".join(events)]


def listen(url: str, transport: HttpTransport) -> tuple[Any, BoundaryError | None]:
    """Return the response, or what was received of it and the error that ended the stream."""
    try:
        *_, response = stream_chat(
            url, "model", ASKED["messages"], tools=ASKED["tools"], transport=transport
        )
    except BoundaryError as error:
        return error.received, error
    return response, None


def arguments_in(response: Any) -> str:
    """Return the argument text of all calls: of a response, or of what was received of one."""
    if isinstance(response, PartialResponse):
        return "".join(call.text for call in response.calls)
    calls = response["message"].get("tool_calls", [])
    return "".join(call["function"]["arguments"] for call in calls)


def arguments_sent(wire: bytes) -> str:
    """Return the argument text in the events that were whole, in the order of arrival."""
    text = ""
    try:
        for chunk in iter_payloads([wire]):
            for choice in chunk.get("choices", []):
                for call in choice["delta"].get("tool_calls", []):
                    text += call["function"]["arguments"]
    except BoundaryError:
        pass
    return text


@pytest.fixture(scope="module")
def whole() -> Any:
    with serve(*script(WIRE)) as server, HttpTransport(trust_env=False) as transport:
        response, error = listen(server.url, transport)
    assert error is None
    return response


def test_the_whole_stream_is_one_call(whole):
    [call] = actionable_calls(whole)
    assert (call.name, call.arguments) == ("lookup_order", {"order_id": "O-0042"})


@pytest.mark.parametrize("part", range(8))
def test_the_connection_is_cut_at_every_byte(whole, part):
    cuts = range(part, len(WIRE), 8)
    scripts = [script(WIRE[:cut]) for cut in cuts]
    with serve(scripts=scripts) as server, HttpTransport(trust_env=False) as transport:
        for cut in cuts:
            response, error = listen(server.url, transport)
            assert arguments_in(response) == arguments_sent(WIRE[:cut]), cut
            if error is None:
                assert cut >= FINISHED
                assert response["message"]["tool_calls"] == whole["message"]["tool_calls"]
            else:
                with pytest.raises(BoundaryError):
                    actionable_calls(response)
        assert len(server.requests) == len(cuts)


def chunked(wire: bytes) -> bytes:
    """Frame bytes as one piece of a chunked body, whose last piece never comes."""
    return b"%x\r\n%s\r\n" % (len(wire), wire)


def test_a_broken_chunked_body_is_an_error_even_after_the_finish():
    ends = [sum(map(len, EVENTS[:at])) for at in range(1, len(EVENTS))]
    cuts = sorted({*ends, *(end + 10 for end in ends)})  # the last one inside [DONE]
    head = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    scripts = [[head + chunked(WIRE[:cut])] for cut in cuts]
    with serve(scripts=scripts) as server, HttpTransport(trust_env=False) as transport:
        for cut in cuts:
            received, error = listen(server.url, transport)
            assert isinstance(error, BoundaryError), cut
            assert arguments_in(received) == arguments_sent(WIRE[:cut]), cut


def test_a_connection_that_breaks_before_the_first_byte_stays_what_it_is():
    head = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
    with serve(head) as server, HttpTransport(trust_env=False) as transport:
        with pytest.raises(httpx.RemoteProtocolError):
            listen(server.url, transport)
        assert len(server.requests) == 1


def test_after_done_nothing_more_is_waited_for(whole):
    steps: list[Step] = [*script(WIRE), 60.0]
    with serve(*steps) as server, HttpTransport(timeout=20, trust_env=False) as transport:
        assert listen(server.url, transport) == (whole, None)


@pytest.mark.parametrize("at", range(1, FINISH + 2, 4))
def test_a_stall_ends_in_the_deadline_and_keeps_what_came(at):
    steps: list[Step] = [*script(*EVENTS[:at]), 60.0]
    with serve(*steps) as server:
        with HttpTransport(timeout=30, deadline=0.4, trust_env=False) as transport:
            received, error = listen(server.url, transport)
    assert isinstance(error, DeadlineExceeded)
    assert arguments_in(received) == arguments_sent(b"".join(EVENTS[:at]))


def test_drops_of_a_byte_a_second_do_not_outlive_the_deadline():
    steps: list[Step] = [HEAD + b"\r\n"]
    for byte in WIRE:
        steps += [bytes([byte]), 0.05]
    with serve(*steps) as server:
        with HttpTransport(timeout=30, deadline=0.4, trust_env=False) as transport:
            _, error = listen(server.url, transport)
    assert isinstance(error, DeadlineExceeded)


def variants() -> dict[str, Sequence[bytes]]:
    """Return the stream with each event in turn repeated, dropped, or after its successor."""
    found: dict[str, Sequence[bytes]] = {}
    for at, event in enumerate(EVENTS):
        before, after = EVENTS[:at], EVENTS[at + 1 :]
        found[f"{at} repeated"] = [*before, event, event, *after]
        found[f"{at} dropped"] = [*before, *after]
        if after:
            found[f"{at} late"] = [*before, after[0], event, *after[1:]]
    return found


@pytest.mark.parametrize(("name", "events"), variants().items(), ids=variants())
def test_events_that_come_twice_or_late_or_never(name, events):
    wire = b"".join(events)
    with serve(*script(wire)) as server, HttpTransport(trust_env=False) as transport:
        response, error = listen(server.url, transport)
        assert len(server.requests) == 1
    if error is not None:
        with pytest.raises(BoundaryError):
            actionable_calls(response)
        return
    assert arguments_in(response) == arguments_sent(wire)
    finished = next(at for at, event in enumerate(events) if b'reason":"tool_calls"' in event)
    assert not any(b"arguments" in event for event in events[finished:])
    try:
        [call] = actionable_calls(response)
    except BoundaryError:
        return
    # it parses: the schema refuses what was hurt, but for two digits that changed places
    order = call.arguments.get("order_id", "")
    assert not SCHEMA.is_valid(call.arguments) or sorted(order) == sorted("O-0042")


@pytest.mark.parametrize("at", range(len(EVENTS) + 1))
def test_an_error_event_at_each_position(at, whole):
    wire = b"".join([*EVENTS[:at], ERROR, *EVENTS[at:]])
    with serve(*script(wire)) as server, HttpTransport(trust_env=False) as transport:
        response, error = listen(server.url, transport)
        assert len(server.requests) == 1
    if at == len(EVENTS):  # behind [DONE] nobody reads any more
        assert (response, error) == (whole, None)
        return
    assert isinstance(error, ProviderError)
    assert error.code == "busy"
    assert arguments_in(response) == arguments_sent(b"".join(EVENTS[:at]))
