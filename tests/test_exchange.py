"""The exchange below the wire: encoding, waiting, hiding, proxies, deadlines."""

import json
import logging
import threading
import time
from datetime import UTC, datetime

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import reply, serve

from apisurface.exchange import (
    broken_proxy_variable,
    encode_body,
    post,
    proxy_variable,
    quiet_urls,
    redact_url,
    retry_after,
    secrets_in,
    within,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_a_body_arrives_as_it_was_or_is_refused(body):
    try:
        sent = encode_body(body)
    except ValueError as error:
        assert str(error).startswith("the request cannot be written as JSON: $")
    else:
        assert json.loads(sent) == body


def test_b086_lone_surrogate_is_refused_with_its_place():
    body = {
        "messages": [{"role": "user", "content": "ok"}, {"role": "user", "content": "a\ud83d"}]
    }
    with pytest.raises(
        ValueError, match=r"\$\.messages\[1\]\.content: lone surrogate at char.* 1"
    ):
        encode_body(body)


@pytest.mark.parametrize("way", ["objects", "arrays", "both"])
def test_a_body_that_contains_itself_is_refused(way):
    circle: dict[str, object] = {}
    array: list[object] = []
    array.append(array if way == "arrays" else circle)
    circle["b"] = circle if way == "objects" else array
    with pytest.raises(ValueError, match=r"\$\.b.*: nested too deeply, or containing itself"):
        encode_body(circle)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"a": float("nan")}, r"\$\.a: nan is not a JSON number"),
        ({"a": [1, float("-inf")]}, r"\$\.a\[1\]: -inf"),
        ({"a": {1, 2}}, r"\$\.a: a set is not JSON"),
        ({"a": b"x"}, r"\$\.a: a bytes is not JSON"),
        ({"\ud800": 1}, "the key .* lone surrogate"),
        ({"a": datetime(2026, 1, 1, tzinfo=UTC)}, r"\$\.a: a datetime is not JSON"),
    ],
)
def test_what_json_cannot_carry_is_named(body, said):
    with pytest.raises(ValueError, match=said):
        encode_body(body)


def test_text_is_sent_as_utf8_and_not_as_escapes():
    assert encode_body({"a": "Zürich 🚚"}) == '{"a": "Zürich 🚚"}'.encode()


NOW = datetime(2015, 10, 21, 7, 27, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": "999999"}, 999999.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:27:00 GMT"}, 0.0),
        (
            {
                "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT",
                "date": "Wed, 21 Oct 2015 07:27:50 GMT",
            },
            10.0,
        ),
        ({"retry-after": "Wed Oct 21 07:28:00 2015"}, 30.0),
        ({"retry-after": "Wednesday, 21-Oct-15 07:28:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 09:28:00 +0200"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT", "date": "soon"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 +99999999999999"}, None),
        ({"retry-after": "Wed, 21 Oct 99999999999999999999 07:28:00 GMT"}, None),
    ],
)
def test_b146_retry_after_in_every_form(headers, seconds):
    assert retry_after(headers, now=NOW) == seconds


def test_retry_after_date_in_the_past_against_the_clock():
    assert retry_after({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0


def test_b017_an_address_is_shown_without_its_secrets():
    assert redact_url("https://h/v1beta/models/m:generateContent?key=SECRET") == (
        "https://h/v1beta/models/m:generateContent?***"
    )
    assert redact_url("https://me:SECRET@h:8080/v1#x") == "https://h:8080/v1"
    assert redact_url("SECRET") == "no http address"
    assert redact_url("https://[SECRET") == "an address that cannot be parsed"


def test_secrets_are_found_in_headers_query_and_password():
    headers = {
        "Authorization": "Bearer sk-abcdef",
        "api-key": "k-123456",
        "Accept": "text/plain",
    }
    assert secrets_in("https://u:passw0rd@h/?key=q-987654&v=1", headers) == [
        "sk-abcdef",
        "k-123456",
        "q-987654",
        "passw0rd",
    ]


def test_the_log_of_httpx_loses_our_queries_and_keeps_others(caplog):
    def answer(request):
        return httpx.Response(200)

    client = httpx.Client(transport=httpx.MockTransport(answer))
    with caplog.at_level(logging.INFO, logger="httpx"):
        with quiet_urls():
            client.get("https://h/a?key=SECRET")
        client.get("https://h/b?page=2")
    assert [record.getMessage().split('"')[0] for record in caplog.records] == [
        "HTTP Request: GET https://h/a?*** ",
        "HTTP Request: GET https://h/b?page=2 ",
    ]


def test_within_passes_everything_on_in_order_and_time():
    assert list(within(5, (i for i in range(1000)))) == list(range(1000))


def test_within_passes_an_error_on_after_what_came_before():
    def items():
        yield 1
        raise KeyError("x")

    seen = within(5, items())
    assert next(seen) == 1
    with pytest.raises(KeyError):
        next(seen)


def test_within_ends_a_wait_that_has_no_end_and_closes_what_it_left():
    gate, closed = threading.Event(), threading.Event()

    def items():
        try:
            yield 1
            gate.wait(5)
            yield 2
        finally:
            closed.set()

    seen = within(0.1, items())
    assert next(seen) == 1
    with pytest.raises(TimeoutError, match=r"no whole answer within 0\.1 s"):
        next(seen)
    gate.set()
    assert closed.wait(5)


def test_within_counts_the_time_of_the_consumer_too():
    seen = within(0.1, (i for i in range(3)))
    next(seen)
    time.sleep(0.15)
    with pytest.raises(TimeoutError):
        next(seen)


@pytest.fixture
def no_proxies(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("variable", "url", "found"),
    [
        ("ALL_PROXY", "http://h/", "ALL_PROXY"),
        ("all_proxy", "https://h/", "all_proxy"),
        ("HTTPS_PROXY", "http://h/", None),
        ("HTTPS_PROXY", "https://h/", "HTTPS_PROXY"),
    ],
)
def test_the_variable_that_sets_a_proxy_is_named(no_proxies, variable, url, found):
    no_proxies.setenv(variable, "http://p:1")
    assert proxy_variable(url) == found
    no_proxies.setenv("no_proxy", "h")
    assert proxy_variable(url) is None


@pytest.mark.parametrize("address", ["socks9://p:1", "http://[::1"])
def test_a_proxy_address_that_httpx_refuses_is_traced_to_its_variable(no_proxies, address):
    no_proxies.setenv("HTTP_PROXY", "http://p:1")
    no_proxies.setenv("ALL_PROXY", address)
    assert broken_proxy_variable() == "ALL_PROXY"
    no_proxies.delenv("ALL_PROXY")
    assert broken_proxy_variable() is None


def test_post_yields_head_then_bytes_and_sends_the_body():
    with serve(reply("201 Created", b"abc", "X-Id: 7")) as server, httpx.Client() as client:
        (status, headers), *chunks = post(client, f"{server.url}/p", b"{}", {"X-Mine": "1"})
    assert (status, headers["x-id"], b"".join(chunks)) == (201, "7", b"abc")
    assert server.requests[0].startswith(b"POST /p HTTP/1.1")
    assert b"x-mine: 1" in server.requests[0].lower()
    assert server.requests[0].endswith(b"{}")


def test_post_hands_bytes_over_as_they_arrive():
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    with serve(head, b"first", 0.3, b"second") as server, httpx.Client() as client:
        _, *chunks = post(client, server.url, b"{}", {})
    assert chunks == [b"first", b"second"]  # a reply that is read whole comes in one piece


def test_an_error_of_the_connection_names_the_endpoint_and_keeps_no_secret():
    with serve(b"") as server, httpx.Client() as client:
        url = f"{server.url}/p?key=SECRET"
        with pytest.raises(httpx.RemoteProtocolError) as caught:
            list(post(client, url, b"SECRET", {"Authorization": "Bearer SECRET"}))
    assert caught.value.__notes__ == [f"while sending POST {server.url}/p?***"]
    request = caught.value.request
    assert "SECRET" not in f"{request!r}{request.url}{dict(request.headers)}{request.content!r}"


def test_a_list_that_contains_itself_is_refused():
    turns: list[object] = []
    turns.append(turns)
    with pytest.raises(ValueError, match="containing itself"):
        encode_body({"messages": turns})
