"""The official clients' own rule for sending again, and their exceptions, beside ours.

Where the two part is listed here and in the chapter on errors; any other difference fails.
"""

from __future__ import annotations

import ast
import itertools
import json
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from judges.cassettes import Record, records
from loopback import reply, serve

from apisurface import classify_failure, diagnose

BOOK = Path(__file__).resolve().parents[2] / "book"
CLIENTS = {
    "openai": openai.OpenAI(api_key="k", base_url="http://h/v1", max_retries=0),
    "anthropic": anthropic.Anthropic(api_key="k", base_url="http://h", max_retries=0),
}
HEADERS = (
    {},
    {"x-should-retry": "true"},
    {"x-should-retry": "false"},
    {"retry-after": "5"},
    {"retry-after": "121"},
)
RETRIED = {408, 429, 500, 502, 503, 504, 529}
each_client = pytest.mark.parametrize("name", CLIENTS)


def response(status: int, headers: dict[str, str], body: bytes = b"") -> httpx2.Response:
    """Return a response as the clients' transport makes it."""
    request = httpx2.Request("POST", "http://h/v1/chat/completions")
    return httpx2.Response(status, headers=headers, content=body, request=request)


def reason(name: str, status: int, headers: dict[str, str]) -> str | None:
    """Say why client and book may part, None where they must not."""
    if headers.get("x-should-retry") == "true" and status not in RETRIED:
        return "a server may stop a retry, not start one"
    if status == 409:
        return "a conflict that outlives a pause is a bug"
    if status >= 500 and status not in RETRIED:
        return "only statuses that promise to heal are retried"
    if name == "openai" and headers.get("retry-after") == "121" and status in RETRIED:
        return "openai gives up after two minutes; here the wait is told and the caller decides"
    return None


@each_client
def test_the_rule_of_the_official_client_over_every_status(name):
    parted = set()
    for status, headers in itertools.product(range(400, 600), HEADERS):
        theirs = CLIENTS[name]._should_retry(response(status, headers))
        ours = diagnose(status=status, headers=headers).retryable
        why = reason(name, status, headers)
        if theirs != ours:
            assert why, f"{name} and we part at {status} {headers}: they {theirs}, we {ours}"
            parted.add(why)
    assert len(parted) == (4 if name == "openai" else 3)


def chapter_rule() -> Callable[[int, dict[str, str]], bool]:
    """Return `official` as the chapter on errors defines it."""
    cells = json.loads((BOOK / "errors.ipynb").read_text(encoding="utf-8"))["cells"]
    source = next("".join(cell["source"]) for cell in cells if cell["id"] == "official")
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    scope: dict[str, Any] = {}
    exec(compile(tree, "official", "exec"), scope)
    return scope["official"]


@each_client
def test_the_chapter_states_the_rule_as_it_is(name):
    official = chapter_rule()
    for status, headers in itertools.product(range(400, 600), HEADERS[:4]):
        theirs = CLIENTS[name]._should_retry(response(status, headers))
        assert official(status, headers) == theirs, (status, headers)


def recorded_errors(provider: str) -> Iterator[Record]:
    """Yield the recorded errors of one provider's own surfaces."""
    surfaces = (
        ("anthropic",) if provider == "anthropic" else ("openai-chat", "openai-responses")
    )
    for found in records():
        if found.status >= 400 and found.provider in surfaces:
            yield found


@each_client
def test_the_clients_exceptions_are_judged_like_the_reply_they_carry(name):
    count = 0
    for found in recorded_errors(name):
        headers = {k: v for k, v in found.headers.items() if k != "content-encoding"}
        answer = response(found.status, headers, found.body)
        error = CLIENTS[name]._make_status_error_from_response(answer)
        direct = diagnose(status=found.status, headers=headers, body=found.body)
        carried = diagnose(error=error)
        assert carried == direct, found.id
        assert not carried.retryable
        assert not CLIENTS[name]._should_retry(answer)  # nobody sends a recorded error again
        count += 1
    assert count == (12 if name == "anthropic" else 26)


PUBLIC = {
    "openai": [
        (429, {"error": {"code": "insufficient_quota"}}, "quota", False),
        (429, {"error": {"code": "rate_limit_exceeded", "type": "tokens"}}, "rate_limit", True),
        (500, {"error": {"type": "server_error"}}, "server", True),
        (400, {"error": {"code": "context_length_exceeded"}}, "context_length", False),
    ],
    "anthropic": [
        (529, {"type": "error", "error": {"type": "overloaded_error"}}, "overloaded", True),
        (429, {"type": "error", "error": {"type": "rate_limit_error"}}, "rate_limit", True),
        (400, {"type": "error", "error": {"type": "invalid_request_error",
         "message": "prompt is too long: 234872 tokens > 200000 maximum"}},
         "context_length", False),
        (402, {"type": "error", "error": {"type": "billing_error"}}, "quota", False),
    ],
}  # fmt: skip


@each_client
def test_their_exceptions_over_a_real_socket(name):
    for status, body, kind, retryable in PUBLIC[name]:
        raw = reply(f"{status} X", json.dumps(body).encode(), "Retry-After: 2")
        with serve(raw) as server:
            found = diagnose(error=raised(name, server.url))
        assert (found.kind, found.retryable, found.retry_after) == (kind, retryable, 2.0)


def raised(name: str, url: str, *, stream: bool = False, timeout: float = 10) -> Exception:
    """Return what a client raises for one small request."""
    client = CLIENTS[name].with_options(base_url=url, timeout=timeout)
    create = client.chat.completions.create if name == "openai" else client.messages.create
    options = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "?"}]}
    try:
        answer = create(**options, stream=stream)
        list(answer if stream else ())
    except Exception as error:
        return error
    raise AssertionError(f"{name} raised nothing")


@each_client
def test_a_connection_a_time_out_and_a_page(name):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    module = openai if name == "openai" else anthropic
    error = raised(name, f"http://127.0.0.1:{port}")
    assert type(error) is module.APIConnectionError
    assert classify_failure(error=error) == "code_retry"
    with serve(5.0) as server:
        error = raised(name, server.url, timeout=0.2)
    assert type(error) is module.APITimeoutError
    assert diagnose(error=error).kind == "timeout"
    assert classify_failure(error=raised(name, "htp://h")) == "typed_failure"


@each_client
def test_an_error_inside_a_stream_is_judged_by_its_code_not_by_status_200(name):
    events = {
        "openai": b'data: {"error":{"code":"insufficient_quota","message":"no money"}}\n\n',
        "anthropic": b"event: error\n"
        b'data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    }
    answer = reply("200 OK", events[name], "Content-Type: text/event-stream")
    with serve(answer) as server:
        error = raised(name, server.url, stream=True)
    found = diagnose(error=error)
    expected = {"openai": ("quota", False), "anthropic": ("overloaded", True)}
    assert (found.kind, found.retryable) == expected[name]


def test_a_parsed_answer_that_was_cut_or_filtered():
    completion = openai.types.chat.ChatCompletion(
        id="c", choices=[], created=0, model="m", object="chat.completion"
    )
    cut = openai.LengthFinishReasonError(completion=completion)
    assert classify_failure(error=cut) == "model_retry_without_effect"
    filtered = openai.ContentFilterFinishReasonError(completion=completion)
    assert classify_failure(error=filtered) == "typed_refusal"
    request = httpx2.Request("POST", "http://h")
    odd = openai.APIResponseValidationError(httpx2.Response(200, request=request), body={})
    assert diagnose(error=odd).kind == "malformed"
