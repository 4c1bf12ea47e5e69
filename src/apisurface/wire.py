# Generated from book/wire.ipynb: edit it there, then run `make save`.
"""The wire: one chat completion, what is sent, and the four fields of what comes back.

A reply that is none raises what `transport` names: `ConfigError`, `ProviderError`,
`MalformedResponse`, `DeadlineExceeded`, all of them `BoundaryError`. A bad argument is a plain
`ValueError`. Importing this module loads only the standard library.
"""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from apisurface.exchange import encode_body, redact_url
from apisurface.transport import BoundaryError as BoundaryError
from apisurface.transport import (
    ConfigError,
    HttpTransport,
    MalformedResponse,
    ProviderError,
    provider_error,
)
from apisurface.transport import DeadlineExceeded as DeadlineExceeded

# cell: types-message
Message: TypeAlias = dict[str, Any]


# cell: types-transport
Transport: TypeAlias = Callable[[str, dict[str, Any]], dict[str, Any]]


# cell: scripted-model
class ScriptedModel:
    """A deterministic, offline transport that plays a script of `(message, finish_reason)`.

    Each call plays the next turn; the last one repeats. `calls` counts the requests and
    `last_body` is the last one's body, as JSON carried it. Usage is computed, not scripted:
    `completion_tokens` is a quarter of the message's JSON length, at least 1.
    Raises ValueError when a turn is not a message and a finish reason, or there is none.
    """

    def __init__(
        self, turns: Sequence[tuple[Message, str | None]], *, prompt_tokens: int = 40
    ) -> None:
        for at, turn in enumerate(turns):
            if len(turn) != 2 or not isinstance(turn[0], dict):
                raise ValueError(f"turns[{at}] must be (message, finish_reason), got {turn!r}")
        if not turns:
            raise ValueError("a script needs at least one (message, finish_reason)")
        self._turns = copy.deepcopy(list(turns))
        self.prompt_tokens = prompt_tokens
        self.calls = 0
        self.last_body: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"ScriptedModel({len(self._turns)} turns, {self.calls} calls)"

    def __call__(self, url: str, body: dict[str, Any]) -> dict[str, Any]:
        """Answer one request with the next turn."""
        self.last_body = json.loads(encode_body(body))
        message, finish = self._turns[min(self.calls, len(self._turns) - 1)]
        self.calls += 1
        completion = max(1, len(json.dumps(message)) // 4)
        return {
            "id": f"stub-{self.calls}",
            "choices": [{"message": copy.deepcopy(message), "finish_reason": finish}],
            "usage": {
                "prompt_tokens": self.prompt_tokens,
                "completion_tokens": completion,
                "total_tokens": self.prompt_tokens + completion,
            },
        }

    def stream(self, url: str, body: dict[str, Any]) -> Iterator[bytes]:
        """Answer one request with the next turn as server-sent events, in small pieces."""
        reply = self(url, body)
        [choice] = reply["choices"]
        deltas = [*_deltas(choice["message"]), {}]
        for at, delta in enumerate(deltas):
            finish = choice["finish_reason"] if at == len(deltas) - 1 else None
            event = {"index": 0, "delta": delta, "finish_reason": finish}
            yield _sse({"id": reply["id"], "choices": [event]})
        yield _sse({"id": reply["id"], "choices": [], "usage": reply["usage"]})
        yield b"data: [DONE]\n\n"


# cell: deltas
def _deltas(message: Message, size: int = 8) -> Iterator[dict[str, Any]]:
    """Cut one message into the deltas of a stream, text in pieces of `size` characters."""
    whole = {k: v for k, v in message.items() if k not in ("content", "tool_calls")}
    text = message.get("content")
    yield whole | {"content": None if text is None else ""}
    if isinstance(text, str):
        yield from ({"content": text[at : at + size]} for at in range(0, len(text), size))
    elif text is not None:
        yield {"content": text}
    for index, call in enumerate(message.get("tool_calls") or []):
        function = dict(call.get("function", {}))
        text = function.get("arguments")
        opened = call | {"index": index, "function": function}
        if not isinstance(text, str):
            yield {"tool_calls": [opened]}
            continue
        yield {"tool_calls": [opened | {"function": function | {"arguments": ""}}]}
        for at in range(0, len(text), size):
            piece = {"arguments": text[at : at + size]}
            yield {"tool_calls": [{"index": index, "function": piece}]}


# cell: sse
def _sse(payload: dict[str, Any]) -> bytes:
    """Return one payload as a server-sent event."""
    return f"data: {json.dumps(payload)}\n\n".encode()


# cell: result
def _result(reply: Any) -> dict[str, Any]:
    """Return the four fields of a decoded reply, or raise what is wrong with it."""
    if error := provider_error(reply):
        raise error
    choices = reply.get("choices") if isinstance(reply, dict) else None
    if not isinstance(choices, list) or len(choices) != 1:
        raise MalformedResponse("a chat completion has one choice", raw=reply)
    choice = choices[0] if isinstance(choices[0], dict) else {}
    if error := provider_error(choice):
        error.body = reply
        raise error
    message, finish = choice.get("message"), choice.get("finish_reason")
    words = [finish, reply.get("id")]
    if finish == "error":
        raise ProviderError("the choice finished with an error", status=200, body=reply)
    usage = {} if reply.get("usage") is None else reply["usage"]
    if not isinstance(message, dict):
        raise MalformedResponse("the choice has no message object", raw=reply)
    if any(not isinstance(word, str | None) for word in words) or not isinstance(usage, dict):
        raise MalformedResponse("id and finish_reason are text, usage an object", raw=reply)
    return {
        "message": message,
        "finish_reason": finish,
        "usage": usage,
        "request_id": reply.get("id"),
    }


# cell: endpoint
def _endpoint(base_url: str) -> str:
    """Return the chat completions endpoint below `base_url`, whatever form it was pasted in."""
    try:
        url = urlsplit(base_url.strip())
        valid = url.scheme in ("http", "https") and url.hostname and url.port != 0
    except (AttributeError, ValueError):
        valid = False
    if not valid or url.fragment or re.search(r"[\s\x00-\x20]", base_url.strip()):
        raise ConfigError(
            "base_url must be an http or https address such as https://host/v1, without "
            f"spaces or a #fragment; got {redact_url(base_url)}"
        )
    path = [segment for segment in url.path.split("/") if segment]
    if path[-2:] != ["chat", "completions"]:
        if not any(re.fullmatch(r"v\d+[a-z]*\d*", segment) for segment in path):
            path.append("v1")
        path += ["chat", "completions"]
    return urlunsplit((url.scheme, url.netloc, "/" + "/".join(path), url.query, ""))


# cell: is-number
def _is_number(value: object) -> bool:
    """Tell whether a control is a finite number; True and False are not."""
    return isinstance(value, (int, float)) and type(value) is not bool and math.isfinite(value)


# cell: chat
def chat(
    base_url: str,
    model: str,
    messages: Sequence[Message],
    *,
    transport: Transport | None = None,
    tools: Sequence[dict[str, Any]] | None = None,
    response_format: dict[str, Any] | None = None,
    temperature: float = 0.0,
    top_p: float = 1.0,
    max_tokens: int = 256,
    tool_choice: str | dict[str, Any] | None = None,
    parallel_tool_calls: bool = False,
    extra_body: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Send one conversation to an OpenAI-compatible server and return what it answered.

    Returns `message`, `finish_reason`, `usage` (`{}` when none was sent) and `request_id`, in
    this order. `base_url` may be the root, a versioned prefix or the endpoint itself; a query
    string survives. `max_tokens` counts tokens, `top_p` is a mass in (0, 1]. `extra_body` adds
    or replaces fields; a field above that it sets to None is left out. Without a `transport`, a
    default `HttpTransport()` is opened and closed.

    Raises ValueError (a bad argument), ConfigError (an address that cannot work), ProviderError
    (an error, even inside HTTP 200), MalformedResponse (anything that is no chat completion)
    and what the transport raises.
    Source: https://platform.openai.com/docs/api-reference/chat (checked 2026-11-30).
    """
    endpoint = _endpoint(base_url)
    if not isinstance(model, str) or not model:
        raise ValueError(f"model must be the name of a model, got {model!r}")
    if isinstance(messages, (str, bytes, Mapping)) or not messages:
        raise ValueError("messages must be a non-empty list of messages")
    for at, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise ValueError(f"messages[{at}] must be a dict with a role, got {message!r:.80}")
    for name, value, valid, rule in (
        ("temperature", temperature, _is_number(temperature) and temperature >= 0, ">= 0"),
        ("top_p", top_p, _is_number(top_p) and 0 < top_p <= 1, "in (0, 1]"),
        ("max_tokens", max_tokens, type(max_tokens) is int and max_tokens >= 1, "an int >= 1"),
    ):
        if not valid:
            hint = f"to leave it out pass extra_body={{'{name}': None}}"
            raise ValueError(f"{name} must be {rule}, got {value!r}; {hint}")
    body: dict[str, Any] = {
        "model": model,
        "messages": list(messages),
        "temperature": temperature,
        "top_p": top_p,
        "max_tokens": max_tokens,
    }
    if tools:
        body |= {"tools": list(tools), "parallel_tool_calls": parallel_tool_calls}
    if response_format is not None:
        body["response_format"] = response_format
    if tool_choice is not None:
        body["tool_choice"] = tool_choice
    own = set(body)
    body |= extra_body or {}
    body = {key: value for key, value in body.items() if value is not None or key not in own}
    if body.get("stream") or body.get("n", 1) != 1:
        raise ValueError("chat() reads one whole choice: extra_body cannot set stream or n")
    if transport is not None:
        return _result(transport(endpoint, body))
    with HttpTransport() as default:
        return _result(default(endpoint, body))
