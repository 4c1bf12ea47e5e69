"""Streams of a real model: properties any stream must have, and the official client's reading.

The bytes that `stream_chat` was given are kept and served again, over loopback, to the `openai`
client: from the same bytes it must make the same message.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from loopback import serve
from openai.lib.streaming.chat import ChatCompletionStreamState

from apisurface.streaming import actionable_calls, stream_chat
from apisurface.transport import BoundaryError, HttpTransport
from tools.exchanges import EXCHANGES, QUESTION, Exchange
from tools.model_server import ModelServer

STREAMS = [exchange for exchange in EXCHANGES if exchange.stream]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


class Tee:
    """A transport that keeps the bytes it hands on."""

    def __init__(self, server: ModelServer) -> None:
        self._inner = HttpTransport(api_key=server.api_key, timeout=120, trust_env=False)
        self.kept: list[bytes] = []

    def stream(self, url: str, body: dict[str, Any]) -> Iterator[bytes]:
        for chunk in self._inner.stream(url, body):
            self.kept.append(chunk)
            yield chunk


def official_message(wire: bytes) -> dict[str, Any]:
    """Return what the official client assembles from these bytes."""
    state = ChatCompletionStreamState()
    with serve(HEAD + wire) as server:
        with openai.OpenAI(api_key="none", base_url=f"{server.url}/v1") as client:
            for chunk in client.chat.completions.create(
                model="any", messages=QUESTION, stream=True
            ):
                state.handle_chunk(chunk)
    [choice] = state.current_completion_snapshot.choices
    return {
        "content": choice.message.content or "",
        "finish_reason": choice.finish_reason,
        "calls": [
            (call.id, call.function.name, call.function.arguments)
            for call in choice.message.tool_calls or []
        ],
    }


@pytest.mark.parametrize("exchange", STREAMS, ids=lambda exchange: exchange.name)
def test_the_official_client_makes_the_same_of_the_same_bytes(
    exchange: Exchange, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue("tool_server" if exchange.tool_template else "server")
    tee = Tee(server)
    *events, response = stream_chat(
        server.base_url, server.model, transport=tee, **exchange.call
    )
    message = response["message"]
    assert official_message(b"".join(tee.kept)) == {
        "content": message.get("content") or "",
        "finish_reason": response["finish_reason"],
        "calls": [
            (call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in message.get("tool_calls") or []
        ],
    }
    assert events
    usage = response["usage"]
    assert usage["prompt_tokens"] + usage["completion_tokens"] == usage["total_tokens"]
    if "response_format" in exchange.call and response["finish_reason"] == "stop":
        assert isinstance(json.loads(message["content"]), dict)


def test_a_real_call_is_actionable_only_when_the_stream_has_ended(
    tool_server: ModelServer,
) -> None:
    [exchange] = [each for each in STREAMS if each.tool_template]
    tee = Tee(tool_server)
    *_, response = stream_chat(
        tool_server.base_url, tool_server.model, transport=tee, **exchange.call
    )
    if response["finish_reason"] == "length":
        with pytest.raises(BoundaryError):
            actionable_calls(response)
    else:
        for call in actionable_calls(response):
            assert call.name == "lookup_order"
            assert isinstance(call.arguments, dict)


def test_a_stream_that_its_budget_cuts_says_length(server: ModelServer) -> None:
    *_, response = stream_chat(
        server.base_url,
        server.model,
        QUESTION,
        transport=Tee(server),
        max_tokens=3,
        extra_body={"ignore_eos": True},
    )
    assert response["finish_reason"] == "length"
    assert response["message"]["content"]
