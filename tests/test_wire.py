"""The wire: what is sent, what comes back, and every way it can be wrong."""

import ast
import importlib
import inspect
import json
import logging
import os
import pickle
import socket
import subprocess
import sys

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import reply, serve

from apisurface import (
    BoundaryError,
    ConfigError,
    DeadlineExceeded,
    HttpTransport,
    MalformedResponse,
    ProviderError,
    ScriptedModel,
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


# --- the contract's figures ---


def test_the_scripted_exchange_of_the_contract():
    messages = [
        {"role": "system", "content": "You are a support assistant. Be terse."},
        {"role": "user", "content": "Where is order O-0042?"},
    ]
    answer = {"role": "assistant", "content": "Order O-0042 shipped on the 3rd."}
    model = ScriptedModel([(answer, "stop")])
    result = chat("https://h", "m", messages, transport=model)
    assert list(result) == ["message", "finish_reason", "usage", "request_id"]
    assert result["message"] == answer
    assert (result["finish_reason"], result["request_id"]) == ("stop", "stub-1")
    assert result["usage"] == {
        "prompt_tokens": 40,
        "completion_tokens": 17,
        "total_tokens": 57,
    }


def test_the_body_has_the_keys_of_the_contract_in_order():
    model = ScriptedModel([(ANSWER, "stop")])
    ask(model)
    assert list(model.last_body) == ["model", "messages", "temperature", "top_p", "max_tokens"]
    ask(model, tools=[{"type": "function"}], tool_choice="none", response_format={"type": "x"})
    assert list(model.last_body)[5:] == [
        "tools",
        "parallel_tool_calls",
        "response_format",
        "tool_choice",
    ]
    assert model.last_body["parallel_tool_calls"] is False
    assert model.calls == 2


def test_signatures():
    assert str(inspect.signature(HttpTransport.__init__)).startswith(
        "(self, *, api_key: 'str | None' = None, headers: 'Mapping[str, str] | None' = None, "
        "timeout: 'float | None' = 30.0, deadline: 'float | None' = None, "
    )
    parameters = inspect.signature(chat).parameters
    assert list(parameters) == [
        *("base_url", "model", "messages", "transport", "tools", "response_format"),
        *("temperature", "top_p", "max_tokens", "tool_choice", "parallel_tool_calls"),
        "extra_body",
    ]
    defaults = [parameters[name].default for name in ("temperature", "top_p", "max_tokens")]
    assert defaults == [0.0, 1.0, 256]


# --- the address ---

V1 = "https://h/v1/chat/completions"


@pytest.mark.parametrize(
    ("base_url", "endpoint"),
    [
        ("https://h", V1),  # B011
        ("https://h/", V1),
        ("https://h/v1", V1),
        ("https://h/v1/", V1),
        ("https://h/api/v1", "https://h/api/v1/chat/completions"),
        ("https://h/api/v1/", "https://h/api/v1/chat/completions"),  # B013
        ("https://h/v1beta/openai/", "https://h/v1beta/openai/chat/completions"),
        ("https://h/v1beta1/openapi", "https://h/v1beta1/openapi/chat/completions"),
        ("https://h/v10", "https://h/v10/chat/completions"),
        ("https://h/v1x/vllm", "https://h/v1x/vllm/chat/completions"),
        ("https://h/dev1/api", "https://h/dev1/api/v1/chat/completions"),
        ("https://h/v/api", "https://h/v/api/v1/chat/completions"),
        ("https://h//v1//", V1),
        (V1, V1),  # B014
        (V1 + "/", V1),
        (V1 + "?api-version=2024-10-21", V1 + "?api-version=2024-10-21"),
        ("https://h/proxy?key=abc", "https://h/proxy/v1/chat/completions?key=abc"),
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/chat/completions"),
        ("http://[::1]:8080", "http://[::1]:8080/v1/chat/completions"),
        (" https://h/v1\n", V1),
    ],
)
def test_one_endpoint_from_every_form_of_base_url(base_url, endpoint):
    seen = []
    ask(lambda url, body: seen.append(url) or GOOD, base_url)
    assert seen == [endpoint]


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "h/v1",
        "localhost:8080",
        "ftp://h",
        "https://",
        "https://h/a b",
        "https://h/v1#x",
        None,
    ]
    + ["https://h:99999", "https://[::1", "https://h/v1\u0000"],
)
def test_an_address_that_cannot_work_is_a_config_error(base_url):
    with pytest.raises(ConfigError, match="base_url must be"):
        ask(lambda url, body: GOOD, base_url)


def test_b017_a_refused_address_does_not_show_its_secrets():
    with pytest.raises(ConfigError) as caught:
        ask(lambda url, body: GOOD, "ftp://me:hunter22@h/v1?key=SECRET")
    assert "hunter22" not in str(caught.value)
    assert "SECRET" not in str(caught.value)


# --- the arguments ---


@pytest.mark.parametrize(
    "options",
    [{"temperature": t} for t in (-0.1, float("nan"), float("inf"), True, "0", None)]
    + [{"top_p": p} for p in (0, -0.1, 1.1, 2, float("nan"), None)]
    + [{"max_tokens": n} for n in (0, -1, 1.5, True, None)],
)
def test_a_control_out_of_its_domain_is_the_callers_value_error(options):
    [name] = options
    with pytest.raises(
        ValueError, match=rf"{name} must be .*extra_body=\{{'{name}': None\}}"
    ) as e:
        ask(lambda url, body: GOOD, **options)
    assert not isinstance(e.value, BoundaryError)


@pytest.mark.parametrize("messages", [[], "hi", {"role": "user"}, [{"content": "x"}], ["hi"]])
def test_messages_that_are_no_conversation_are_refused(messages):
    with pytest.raises(ValueError, match="messages"):
        chat("https://h", "m", messages, transport=lambda url, body: GOOD)


@pytest.mark.parametrize("model", ["", None, 3])
def test_a_model_without_a_name_is_refused(model):
    with pytest.raises(ValueError, match="model must be"):
        chat("https://h", model, ASK, transport=lambda url, body: GOOD)


def test_extra_body_adds_replaces_and_leaves_out():
    model = ScriptedModel([(ANSWER, "stop")])
    extra = {
        "max_tokens": None,
        "max_completion_tokens": 64,
        "seed": 7,
        "top_p": 0.5,
        "stop": None,
    }
    ask(model, extra_body=extra)
    assert list(model.last_body) == [
        *("model", "messages", "temperature", "top_p"),
        *("max_completion_tokens", "seed", "stop"),
    ]
    assert model.last_body["top_p"] == 0.5
    assert model.last_body["stop"] is None


@pytest.mark.parametrize("extra", [{"stream": True}, {"n": 2}])
def test_extra_body_cannot_ask_for_what_chat_does_not_read(extra):
    with pytest.raises(ValueError, match="one whole choice"):
        ask(lambda url, body: GOOD, extra_body=extra)


# --- HTTP 200 is not success ---


def test_b008_an_error_inside_a_good_status_is_a_provider_error():
    body = {"error": {"code": 429, "message": "Provider rate limited"}}
    with pytest.raises(ProviderError) as caught:
        ask(lambda url, body_: body)
    error = caught.value
    assert (error.status, error.code, error.message) == (200, 429, "Provider rate limited")
    assert error.body == body


def test_an_error_inside_a_choice_is_a_provider_error():
    choice = {"error": {"code": 502, "message": "upstream died"}, "message": ANSWER}
    reply_ = {"choices": [choice], "usage": {"total_tokens": 9}}
    with pytest.raises(ProviderError, match="upstream died") as caught:
        ask(lambda url, body: reply_)
    assert caught.value.body == reply_
    ended = {"choices": [{"message": ANSWER, "finish_reason": "error"}]}
    with pytest.raises(ProviderError, match="finished with an error"):
        ask(lambda url, body: ended)


@pytest.mark.parametrize(
    "broken",
    [
        *({}, [], None, "text", 3, {"choices": None}, {"choices": []}, {"choices": {}}),
        *({"choices": [None]}, {"choices": [{}]}, {"choices": [{"message": None}]}),
        {"choices": [{"message": "It shipped."}]},
        {"choices": [{"message": ANSWER, "finish_reason": 3}]},
        {"choices": [{"message": ANSWER}], "usage": [1]},
        {"choices": [{"message": ANSWER}, {"message": ANSWER}]},
        {"id": 3, "choices": [{"message": ANSWER}]},
    ],
)
def test_b008_a_reply_that_is_no_completion_is_malformed_and_kept(broken):
    with pytest.raises(MalformedResponse) as caught:
        ask(lambda url, body: broken)
    assert caught.value.raw == broken
    assert caught.value.status == 200


def test_a_null_error_and_a_null_usage_are_no_error():
    good = GOOD | {"error": None, "usage": None}
    assert ask(lambda url, body: good) == {
        "message": ANSWER,
        "finish_reason": "stop",
        "usage": {},
        "request_id": "r1",
    }


def test_what_a_reply_does_not_say_is_none():
    result = ask(lambda url, body: {"choices": [{"message": ANSWER}]})
    assert (result["finish_reason"], result["request_id"], result["usage"]) == (None, None, {})


JSON_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "message", "error", "usage", "finish_reason", "id", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON_VALUE)
def test_whatever_json_comes_back_is_a_result_or_a_boundary_error(value):
    try:
        result = ask(lambda url, body: value)
    except BoundaryError as error:
        assert str(error)
    else:
        assert isinstance(result["message"], dict)


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


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
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


# --- the scripted model ---


def test_the_script_plays_in_order_and_repeats_its_last_turn():
    turns = [({"role": "assistant", "content": str(n)}, "stop") for n in (1, 2)]
    model = ScriptedModel(turns)
    replies = [model("u", {}) for _ in range(3)]
    contents = [reply_["choices"][0]["message"]["content"] for reply_ in replies]
    assert contents == ["1", "2", "2"]
    assert [reply_["id"] for reply_ in replies] == ["stub-1", "stub-2", "stub-3"]


def test_the_script_cannot_be_changed_through_what_it_returns_or_was_given():
    message = {"role": "assistant", "content": "a"}
    model = ScriptedModel([(message, "stop")])
    message["content"] = "b"
    first = model("u", {"messages": ASK})
    first["choices"][0]["message"]["content"] = "c"
    assert model("u", {})["choices"][0]["message"]["content"] == "a"


def test_last_body_is_what_json_carried():
    body = {"messages": [{"role": "user", "content": "a"}]}
    model = ScriptedModel([(ANSWER, "stop")])
    model("u", body)
    body["messages"].append("later")
    assert model.last_body == {"messages": [{"role": "user", "content": "a"}]}
    with pytest.raises(ValueError, match="lone surrogate"):
        model("u", {"a": "\ud83d"})


def test_usage_is_computed_from_the_message():
    model = ScriptedModel([({}, "stop")], prompt_tokens=3)
    assert model("u", {})["usage"] == {
        "prompt_tokens": 3,
        "completion_tokens": 1,
        "total_tokens": 4,
    }


@pytest.mark.parametrize("turns", [[], [("text", "stop")], [({},)]])
def test_a_script_that_is_none_is_refused(turns):
    with pytest.raises(ValueError, match="message, finish_reason"):
        ScriptedModel(turns)


def assembled(chunks):
    """Join a stream's deltas the plain way; the streaming chapter does it for real servers."""
    message, finish, usage = {"content": None}, None, None
    events = [line[6:] for line in b"".join(chunks).decode().split("\n\n") if line]
    assert events.pop() == "[DONE]"
    for event in map(json.loads, events):
        usage = event.get("usage", usage)
        for choice in event["choices"]:
            finish = choice["finish_reason"] or finish
            for key, value in choice["delta"].items():
                if key == "content" and value is not None:
                    message["content"] = (message["content"] or "") + value
                elif key == "tool_calls":
                    calls = message.setdefault("tool_calls", [])
                    for piece in value:
                        if piece["index"] == len(calls):
                            calls.append({k: v for k, v in piece.items() if k != "index"})
                        else:
                            more = piece["function"]["arguments"]
                            calls[piece["index"]]["function"]["arguments"] += more
                elif key != "content":
                    message[key] = value
    return message, finish, usage


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "Order O-0042 shipped on the 3rd. 🚚"},
        {"role": "assistant", "content": None, "refusal": "no"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": f"call_{n}",
                    "type": "function",
                    "function": {"name": "lookup_order", "arguments": arguments},
                }
                for n, arguments in enumerate(['{"order_id": "O-0042"}', "", "{}"])
            ],
        },
    ],
)
def test_the_stream_carries_the_same_turn(message):
    model = ScriptedModel([(message, "stop")])
    streamed = assembled(model.stream("u", {}))
    whole = model("u", {})
    [choice], usage = whole["choices"], whole["usage"]
    assert streamed == (choice["message"], choice["finish_reason"], usage)
    assert model.calls == 2


# --- the module ---


def test_the_package_loads_httpx_only_when_a_transport_is_made():
    code = (
        "import sys; import apisurface; before = 'httpx' in sys.modules; "
        "apisurface.HttpTransport().close(); print(before, 'httpx' in sys.modules)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert run.stdout.split() == ["False", "True"]


@pytest.mark.parametrize("module", ["wire", "exchange"])
def test_wire_itself_imports_only_the_standard_library(module):
    owner = importlib.import_module(f"apisurface.{module}")
    body = ast.parse(inspect.getsource(owner)).body
    roots = {
        alias.name for node in body if isinstance(node, ast.Import) for alias in node.names
    }
    roots |= {str(node.module) for node in body if isinstance(node, ast.ImportFrom)}
    tops = {name.partition(".")[0] for name in roots - {"apisurface.exchange"}}
    assert tops <= set(sys.stdlib_module_names)


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
