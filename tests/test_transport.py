"""The transport: a reply over a real socket, or what came instead of it."""

import json
import logging
import pickle
import socket

import httpx
import pytest
from loopback import reply, serve

from apisurface import (
    ConfigError,
    DeadlineExceeded,
    HttpTransport,
    MalformedResponse,
    ProviderError,
    chat,
    error_object,
    provider_error,
)

KEY = "sk-live-0123456789"
ASK = [{"role": "user", "content": "Where is order O-0042?"}]
ANSWER = {"role": "assistant", "content": "It shipped."}
GOOD = {"id": "r1", "choices": [{"message": ANSWER, "finish_reason": "stop"}]}
SENT = json.dumps(GOOD).encode()
JSON_TYPE = "Content-Type: application/json"


def ask(transport, base_url="https://h", **options):
    return chat(base_url, "m", ASK, transport=transport, **options)


# --- the default transport against a real server ---


def exchange(*steps, path="", **options):
    """Run one chat against a server that plays `steps`; return the server and the result."""
    with serve(*steps) as server, HttpTransport(**options) as transport:
        try:
            return server, chat(server.url + path, "m", ASK, transport=transport)
        except Exception as error:
            return server, error


def test_success_over_a_real_socket():
    server, result = exchange(
        reply("200 OK", SENT, JSON_TYPE), api_key=KEY, headers={"X-A": "b"}
    )
    assert result["message"] == ANSWER
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /v1/chat/completions HTTP/1.1")
    assert f"authorization: bearer {KEY}" in head.decode().lower()
    assert b"x-a: b" in head.lower()
    assert json.loads(body)["messages"] == ASK


def test_success_with_a_bom_and_without_a_content_type():
    _, result = exchange(reply("200 OK", b"\xef\xbb\xbf" + SENT))
    assert result["request_id"] == "r1"


def test_429_with_seconds():
    body = (
        b'{"error": {"message": "slow down", "type": "tokens", "code": "rate_limit_exceeded"}}'
    )
    _, error = exchange(reply("429 Too Many Requests", body, JSON_TYPE, "Retry-After: 2"))
    assert type(error) is ProviderError
    assert (error.status, error.code, error.message) == (
        429,
        "rate_limit_exceeded",
        "slow down",
    )
    assert error.retry_after == 2.0
    assert str(error) == "HTTP 429 (rate_limit_exceeded): slow down; retry after 2 s"


def test_429_with_a_date():
    dates = (
        "Retry-After: Wed, 21 Oct 2015 07:28:10 GMT",
        "Date: Wed, 21 Oct 2015 07:28:00 GMT",
    )
    _, error = exchange(reply("429 Too Many Requests", b"{}", JSON_TYPE, *dates))
    assert error.retry_after == 10.0


@pytest.mark.parametrize(
    ("body", "message", "code"),
    [
        ({"error": {"message": "m", "type": "t", "code": None}}, "m", "t"),
        ({"error": "just text"}, "just text", None),
        (
            {"object": "error", "message": "vllm", "type": "BadRequest", "code": 400},
            "vllm",
            "BadRequest",
        ),
        ({"error": {"code": 400, "message": "only a number"}}, "only a number", 400),
        ({"detail": "Not Found"}, "Not Found", None),
        ({"detail": [{"loc": ["body"], "msg": "x"}]}, '[{"loc": ["body"], "msg": "x"}]', None),
        (
            [{"error": {"code": 400, "message": "gemini", "status": "INVALID"}}],
            "gemini",
            "INVALID",
        ),
        ({"message": "plain"}, "plain", None),
        ({}, "{}", None),
    ],
)
def test_every_shape_of_an_error_body_keeps_its_words(body, message, code):
    _, error = exchange(reply("400 Bad Request", json.dumps(body).encode(), JSON_TYPE))
    assert type(error) is ProviderError
    assert (error.status, error.message, error.code) == (400, message, code)


SAID = {"code": "server_error", "message": "m"}


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"type": "error", "error": SAID}, SAID),
        ({"type": "error", **SAID}, {"type": "error", **SAID}),
        ({"type": "response.failed", "response": {"id": "r", "error": SAID}}, SAID),
        ({"error": "words"}, {"message": "words"}),
        ({"type": "response.failed", "response": {"id": "r", "error": None}}, None),
        ({"type": "response.failed", "response": "?"}, None),
        ({"type": "message", "error": None}, None),
        ({"error": {}}, None),
        ([], None),
        ("error", None),
    ],
)
def test_an_error_inside_a_stream_is_found_by_its_event(event, said):
    assert error_object(event) == said
    error = provider_error(event, 200, 2.0)
    if said is None:
        assert error is None
    else:
        assert (error.status, error.retry_after, error.body) == (200, 2.0, event)
        assert (error.message, error.code) == (said["message"], said.get("code"))


def test_an_error_page_is_a_provider_error_with_its_text():
    _, error = exchange(
        reply("502 Bad Gateway", b"<html>502</html>", "Content-Type: text/html")
    )
    assert (type(error), error.status, error.message) == (
        ProviderError,
        502,
        "<html>502</html>",
    )
    _, error = exchange(reply("503 Service Unavailable", b""))
    assert (type(error), error.status, error.message) == (ProviderError, 503, "no body")


@pytest.mark.parametrize("body", [b"", b"{}", b"<html>502</html>", b"[]", b"null"])
def test_b010_a_good_status_with_a_useless_body(body):
    _, error = exchange(reply("200 OK", body, "Content-Type: text/html; charset=utf-8"))
    assert type(error) is MalformedResponse
    assert error.status == 200
    assert error.snippet == body.decode()
    if body != b"{}":  # an object passes the transport and is refused by chat()
        assert error.content_type == "text/html; charset=utf-8"


@pytest.mark.parametrize(
    "body",
    [SENT[:-1], b"\xff" + SENT, b"[" * 100_000, b'{"n": ' + b"9" * 5000 + b"}"],
    ids=["cut", "not utf-8", "deep", "huge number"],
)
def test_bytes_that_are_not_json_are_malformed(body):
    _, error = exchange(reply("200 OK", body, JSON_TYPE))
    assert type(error) is MalformedResponse
    assert len(error.snippet) <= 201


def test_an_error_inside_200_over_the_wire():
    _, error = exchange(reply("200 OK", b'{"error": {"code": 429, "message": "m"}}', JSON_TYPE))
    assert (type(error), error.status, error.code) == (ProviderError, 200, 429)


def test_a_stalled_body_is_a_read_timeout_and_says_where():
    server, error = exchange(reply("200 OK", SENT[:9], length=99), 5.0, timeout=0.2)
    assert type(error) is httpx.ReadTimeout
    assert error.__notes__ == [f"while sending POST {server.url}/v1/chat/completions"]


def test_a_trickling_body_passes_every_timeout_but_not_the_deadline():
    trickle = [step for _ in range(100) for step in (0.05, b" ")]
    script = (reply("200 OK", SENT[:9], length=999), *trickle)
    _, error = exchange(*script, timeout=2.0, deadline=0.4)
    assert type(error) is DeadlineExceeded
    assert error.received.startswith(SENT[:9])


def test_trickling_headers_and_silence_end_at_the_deadline():
    trickle = [step for _ in range(100) for step in (0.05, b"x")]
    for script in ((b"HTTP/1.1 200 OK\r\n", *trickle), (5.0,)):
        _, error = exchange(*script, deadline=0.3)
        assert type(error) is DeadlineExceeded
        assert isinstance(error, TimeoutError)


def test_a_good_reply_within_the_deadline():
    _, result = exchange(reply("200 OK", SENT, JSON_TYPE), deadline=20.0)
    assert result["message"] == ANSWER


def test_a_server_that_closes_early():
    _, error = exchange(reply("200 OK", SENT[:20], length=999))
    assert type(error) is MalformedResponse
    assert (error.args[0], error.snippet) == ("the body broke off", SENT[:20].decode())
    _, error = exchange(b"")
    assert type(error) is httpx.RemoteProtocolError


def test_nobody_listens(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    with socket.socket() as bound, HttpTransport() as transport:
        bound.bind(("127.0.0.1", 0))
        with pytest.raises(httpx.ConnectError):
            ask(transport, f"http://127.0.0.1:{bound.getsockname()[1]}")


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status):
    with serve(reply("200 OK", SENT)) as other:
        location = f"Location: {other.url}/v1?token=SECRET"
        _, error = exchange(reply(f"{status} Moved", b"", location), api_key=KEY)
        assert type(error) is ProviderError
        assert (error.status, error.code) == (status, "redirect")
        assert f"{other.url}/v1?***" in str(error)
    assert other.requests == []


def test_b017_no_secret_shows_in_error_log_or_repr(caplog):
    caplog.set_level(logging.DEBUG)
    echo = json.dumps({"error": {"message": f"bad key {KEY} for ?key=SECRET-QUERY"}}).encode()
    for status in ("200 OK", "401 Unauthorized"):
        _, error = exchange(
            reply(status, echo, JSON_TYPE),
            path="/v1?key=SECRET-QUERY",
            api_key=KEY,
            deadline=9.0,
        )
        assert type(error) is ProviderError
        everything = f"{error}{error!r}{error.body}{error.__cause__}{caplog.text}"
        assert KEY not in everything
        assert "SECRET-QUERY" not in everything
        assert "bad key ***" in error.message
    transport = HttpTransport(api_key=KEY, headers={"X-Api-Key": "other-secret"})
    assert repr(transport) == (
        "HttpTransport(headers=['Authorization', 'X-Api-Key'], timeout=30.0, deadline=None)"
    )


def test_a_key_in_the_models_own_answer_is_left_alone():
    answer = {"choices": [{"message": {"role": "assistant", "content": f"use {KEY}"}}]}
    _, result = exchange(reply("200 OK", json.dumps(answer).encode(), JSON_TYPE), api_key=KEY)
    assert result["message"]["content"] == f"use {KEY}"


@pytest.mark.parametrize("key", ["", " ", "sk a", "sk\n", "schlüssel", "sk\u2028"])
def test_b016_a_key_that_cannot_be_sent_is_refused_without_showing_it(key):
    with pytest.raises(ConfigError, match="pass None") as caught:
        HttpTransport(api_key=key)
    assert not key.strip() or key not in str(caught.value)


def test_no_key_sends_no_authorization():
    server, _ = exchange(reply("200 OK", SENT))
    assert b"authorization" not in server.requests[0].lower()


@pytest.mark.parametrize(
    "options",
    [
        {"timeout": 0},
        {"timeout": -1.0},
        {"timeout": float("nan")},
        {"deadline": 0},
        {"deadline": float("inf")},
        {"headers": {"X": "a\r\nY: b"}},
        {"headers": {"X": ""}},
        {"headers": {"X Y": "a"}},
        {"headers": {"authorization": "Bearer a"}, "api_key": "b"},
    ],
)
def test_a_transport_that_cannot_work_is_refused_when_it_is_made(options):
    with pytest.raises(ConfigError):
        HttpTransport(**options)


def test_a_user_in_the_address_and_a_key_are_ambiguous():
    with HttpTransport(api_key=KEY) as transport, pytest.raises(ConfigError, match="drop one"):
        ask(transport, "https://me:pw@h/v1")


def test_b022_a_dead_proxy_is_a_config_error_that_names_its_variable(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "all_proxy", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with socket.socket() as bound:  # bound and not listening: nobody else gets the port
        bound.bind(("127.0.0.1", 0))
        monkeypatch.setenv("ALL_PROXY", f"127.0.0.1:{bound.getsockname()[1]}")
        _, error = exchange(reply("200 OK", SENT))
    assert type(error) is ConfigError
    assert "ALL_PROXY" in str(error)
    _, result = exchange(reply("200 OK", SENT), trust_env=False)
    assert result["message"] == ANSWER


def test_b022_an_impossible_proxy_is_a_config_error_without_its_password(monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "gopher://me:hunter22@127.0.0.1:7890")
    with pytest.raises(ConfigError, match="ALL_PROXY") as caught:
        HttpTransport()
    assert "hunter22" not in f"{caught.value}{caught.value.__cause__}"
    HttpTransport(trust_env=False).close()


def test_b086_a_lone_surrogate_never_reaches_the_network():
    with serve(reply("200 OK", SENT)) as server, HttpTransport() as transport:
        bad = [{"role": "user", "content": "\ud83d"}]
        with pytest.raises(ValueError, match=r"\$\.messages\[0\]\.content: lone surrogate"):
            chat(server.url, "m", bad, transport=transport)
    assert server.requests == []


def test_a_client_of_your_own_is_used_and_stays_open():
    client = httpx.Client(
        transport=httpx.MockTransport(lambda r: httpx.Response(200, json=GOOD))
    )
    with HttpTransport(client=client) as transport:
        assert ask(transport)["request_id"] == "r1"
    assert not client.is_closed


def test_every_phase_of_a_timeout_stays_apart():
    for kind in (
        httpx.ConnectTimeout,
        httpx.ReadTimeout,
        httpx.WriteTimeout,
        httpx.PoolTimeout,
    ):

        def fail(request, kind=kind):
            raise kind("late", request=request)

        client = httpx.Client(transport=httpx.MockTransport(fail))
        with pytest.raises(kind):
            ask(HttpTransport(client=client))


def test_chat_opens_and_closes_a_transport_of_its_own():
    with serve(reply("200 OK", SENT)) as server:
        assert chat(server.url, "m", ASK)["message"] == ANSWER


# --- streams ---


def test_stream_yields_bytes_as_they_arrive():
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    with (
        serve(head, b"data: 1\n\n", 0.1, b"data: 2\n\n") as server,
        HttpTransport() as transport,
    ):
        chunks = list(transport.stream(server.url, {"stream": True}))
    assert b"".join(chunks) == b"data: 1\n\ndata: 2\n\n"
    assert len(chunks) == 2
    assert b"accept: text/event-stream" in server.requests[0].lower()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (reply("429 Too Many Requests", b'{"error": "slow"}', "Retry-After: 3"), ProviderError),
        (reply("200 OK", b'{"error": "slow"}', JSON_TYPE), ProviderError),
        (reply("200 OK", SENT, JSON_TYPE), MalformedResponse),
        (reply("200 OK", b"<html>", "Content-Type: text/html"), MalformedResponse),
    ],
)
def test_a_stream_that_is_none_is_an_error_before_the_first_byte(answer, kind):
    with serve(answer) as server, HttpTransport() as transport, pytest.raises(kind):
        list(transport.stream(server.url, {}))


def test_a_stream_ends_at_its_deadline():
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    beats = [step for _ in range(100) for step in (b": beat\n\n", 0.05)]
    with serve(head, *beats) as server, HttpTransport(deadline=0.3) as transport:
        with pytest.raises(DeadlineExceeded):
            list(transport.stream(server.url, {}))


# --- the errors ---


@pytest.mark.parametrize(
    "error",
    [
        ProviderError("m", status=429, code="c", retry_after=1.0, body={"a": 1}),
        MalformedResponse("w", raw="abc", status=200, content_type="text/html"),
        DeadlineExceeded("late"),
    ],
)
def test_errors_survive_a_process_boundary(error):
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))
