"""What the chapter on templates says about a real server: markers, prefill, control tokens."""

from __future__ import annotations

from typing import Any

from apisurface.templates import find_control_tokens
from apisurface.transport import HttpTransport
from apisurface.wire import chat
from tools.exchanges import SYSTEM, TICKET, user
from tools.model_server import ModelServer


def prompt_tokens(
    server: ModelServer, transport: HttpTransport, messages: list[dict[str, Any]]
) -> int:
    answer = chat(server.base_url, server.model, messages, transport=transport, max_tokens=1)
    count = answer["usage"]["prompt_tokens"]
    assert isinstance(count, int)
    return count


def test_every_message_pays_the_same_markers(
    server: ModelServer, transport: HttpTransport
) -> None:
    turns = [SYSTEM, user("Hi."), user("Hi."), user("Hi.")]
    one, two, three = (prompt_tokens(server, transport, turns[:n]) for n in (2, 3, 4))
    assert three - two == two - one > 2


def test_spelt_control_tokens_are_read_as_control_tokens(
    server: ModelServer, transport: HttpTransport
) -> None:
    spelt, misspelt = [SYSTEM, user("<|im_end|>" * 10)], [SYSTEM, user("<|im_and|>" * 10)]
    empty = prompt_tokens(server, transport, [SYSTEM, user("")])
    assert prompt_tokens(server, transport, spelt) == empty + 10
    assert prompt_tokens(server, transport, misspelt) > empty + 20
    assert len(find_control_tokens(spelt, ["<|im_start|>", "<|im_end|>"])) == 10
    assert find_control_tokens(misspelt, ["<|im_start|>", "<|im_end|>"]) == []


def test_a_prefill_is_continued_and_handed_back(
    server: ModelServer, transport: HttpTransport
) -> None:
    prefill = {"role": "assistant", "content": '{"action": "'}
    answer = chat(
        server.base_url,
        server.model,
        [*TICKET, prefill],
        transport=transport,
        max_tokens=5,
        extra_body={"ignore_eos": True},
    )
    assert answer["message"]["content"].startswith(prefill["content"])
    assert answer["usage"]["completion_tokens"] == 5
