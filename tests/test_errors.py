"""Who owns a failure: real exceptions, precedence, waiting, and what always holds."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from email.message import Message
from typing import Any

import httpcore
import httpx
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import reply, serve
from test_failures import BODIES, DAILY, assert_sound

from apisurface import (
    ConfigError,
    DeadlineExceeded,
    Failure,
    HttpTransport,
    IncompleteToolStream,
    MalformedJSON,
    MalformedResponse,
    NotActionable,
    OutputRefused,
    OutputTruncated,
    ProviderError,
    StructuredOutputFailed,
    UnsupportedSchema,
    assemble_chat_stream,
    chat,
    classify_failure,
    diagnose,
)
from apisurface.dispatch import InvalidOutput
from apisurface.errors import MAX_RETRY_AFTER
from apisurface.sse import MalformedStream
from apisurface.tools import (
    AnswerMissing,
    CallsNotAnswered,
    MalformedArguments,
    ProposalRefused,
)

QUOTA = {"error": {"code": "insufficient_quota", "message": "m"}}
LIBRARIES = [httpx, httpx2]
QUESTION = [{"role": "user", "content": "?"}]


def judged(error: object) -> tuple[str, str]:
    found = diagnose(error=error)
    assert classify_failure(error=error) == found.label
    assert_sound(found)
    return found.kind, found.label


# --- the contract's figures ------------------------------------------------------


def test_figures():
    timeout = type("TimeoutException", (Exception,), {})
    assert classify_failure(error=timeout()) == "code_retry"
    assert classify_failure(error=timeout) == "code_retry"
    assert classify_failure(status=429) == "code_retry"
    assert classify_failure(status=400) == "typed_failure"
    assert classify_failure(finish_reason="length") == "model_retry_without_effect"
    assert classify_failure(finish_reason="content_filter") == "typed_refusal"
    assert classify_failure(finish_reason="stop") == "accept"
    assert classify_failure(finish_reason="tool_calls") == "accept"


@pytest.mark.parametrize("status", range(400, 600))
def test_few_statuses_are_retried(status):
    retried = status in {408, 429, 500, 502, 503, 504, 529}
    assert classify_failure(status=status) == ("code_retry" if retried else "typed_failure")


def test_what_is_not_known_is_a_typed_failure():
    assert classify_failure() == "typed_failure"
    assert classify_failure(finish_reason="brand_new") == "typed_failure"
    assert classify_failure(error=RuntimeError("x")) == "typed_failure"
    assert classify_failure(error=KeyboardInterrupt()) == "typed_failure"
    assert classify_failure(error=asyncio.CancelledError()) == "typed_failure"
    assert classify_failure(error="TimeoutException") == "typed_failure"
    assert diagnose(finish_reason="brand_new").kind == "unknown"
    assert diagnose().kind == "unknown"


# --- exceptions that really happen -----------------------------------------------


@pytest.mark.parametrize("library", LIBRARIES, ids=lambda library: library.__name__)
class TestRealExceptions:
    """Each client fails for real, against a server on loopback."""

    def raised(self, library: Any, url: str, **options: Any) -> Exception:
        with library.Client(trust_env=False, **options) as client:
            with pytest.raises(library.TransportError) as caught:
                client.post(url, json={})
        return caught.value

    def test_read_timeout(self, library):
        with serve(5.0) as server:
            error = self.raised(library, server.url, timeout=0.1)
        assert type(error) is library.ReadTimeout
        assert judged(error) == ("timeout", "code_retry")

    def test_connect_timeout(self, library):
        with socket.socket() as full:
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            waiting = [socket.socket() for _ in range(4)]
            for each in waiting:  # the queue of a server that never accepts is soon full
                each.setblocking(False)
                each.connect_ex(full.getsockname())
            error = self.raised(
                library, f"http://127.0.0.1:{full.getsockname()[1]}", timeout=0.3
            )
            for each in waiting:
                each.close()
        assert type(error) is library.ConnectTimeout
        assert judged(error) == ("timeout", "code_retry")

    def test_pool_timeout(self, library):
        limits, timeout = library.Limits(max_connections=1), library.Timeout(5, pool=0.1)
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"
        with (
            serve(head, 5.0) as server,
            library.Client(limits=limits, timeout=timeout, trust_env=False) as client,
            client.stream("POST", server.url),
            pytest.raises(library.PoolTimeout) as caught,
        ):
            client.post(server.url)
        assert judged(caught.value) == ("timeout", "code_retry")

    def test_connect_error(self, library):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        error = self.raised(library, f"http://127.0.0.1:{port}")
        assert type(error) is library.ConnectError
        assert judged(error) == ("connection", "code_retry")
        assert judged(error.__cause__) == ("connection", "code_retry")  # httpcore's own

    def test_remote_protocol_error(self, library):
        with serve(reply("200 OK", b"{", length=100)) as server:
            error = self.raised(library, server.url)
        assert type(error) is library.RemoteProtocolError
        assert judged(error) == ("connection", "code_retry")

    def test_a_bad_certificate_stays_bad(self, library):
        error = library.ConnectError("certificate verify failed")
        assert judged(error) == ("connection", "code_retry")
        verify = ssl.SSLCertVerificationError("certificate verify failed")
        below = httpcore.ConnectError()
        below.__cause__, error.__cause__ = verify, below
        assert judged(error) == ("connection", "typed_failure")
        assert judged(verify) == ("connection", "typed_failure")

    def test_mistakes_of_the_caller_are_not_sent_again(self, library):
        assert judged(self.raised(library, "htp://h")) == ("invalid_request", "typed_failure")
        assert judged(library.InvalidURL("x")) == ("invalid_request", "typed_failure")
        local = library.LocalProtocolError("x")
        assert judged(local) == ("invalid_request", "typed_failure")
        assert judged(library.DecodingError("x")) == ("malformed", "typed_failure")
        assert judged(library.ReadError("x")) == ("connection", "code_retry")
        assert judged(library.StreamConsumed()) == ("unknown", "typed_failure")

    def test_raise_for_status_carries_the_reply(self, library):
        body = {"error": {"code": "insufficient_quota", "message": "no money"}}
        request = library.Request("POST", "https://h")
        for text in (json.dumps(body), "slow down"):
            answer = library.Response(
                429, request=request, text=text, headers={"Retry-After": "3"}
            )
            with pytest.raises(library.HTTPStatusError) as caught:
                answer.raise_for_status()
            found = diagnose(error=caught.value)
            kind = "quota" if "quota" in text else "rate_limit"
            assert (found.kind, found.retry_after) == (kind, 3.0)

    def test_a_reply_whose_body_nobody_read(self, library):
        stream = library.ByteStream(b"{}")
        answer = library.Response(
            503, request=library.Request("POST", "https://h"), stream=stream
        )
        with pytest.raises(library.HTTPStatusError) as caught:
            answer.raise_for_status()
        assert judged(caught.value) == ("overloaded", "code_retry")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError(), "timeout"),
        (ConnectionRefusedError(), "connection"),
        (ConnectionResetError(), "connection"),
        (BrokenPipeError(), "connection"),
        (socket.gaierror(-2, "Name or service not known"), "connection"),
        (ssl.SSLEOFError(), "connection"),
    ],
)
def test_the_standard_librarys_own(error, kind):
    assert judged(error) == (kind, "code_retry")


def test_other_errors_of_the_system_are_not_the_networks():
    assert judged(FileNotFoundError("x")) == ("unknown", "typed_failure")
    assert judged(json.JSONDecodeError("x", "y", 0)) == ("malformed", "typed_failure")


def test_urllib_for_real():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(urllib.error.URLError) as caught:
        urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=5)
    assert judged(caught.value) == ("connection", "code_retry")
    assert judged(urllib.error.URLError("no host given")) == ("unknown", "typed_failure")
    with serve(reply("429 Too Many Requests", b"{}", "Retry-After: 7")) as running:
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(running.url, timeout=5)
        found = diagnose(error=refused.value)
        refused.value.close()
    assert (found.kind, found.retry_after) == ("rate_limit", 7.0)


@pytest.mark.parametrize(
    ("error", "kind", "label"),
    [
        (ConfigError("x"), "invalid_request", "typed_failure"),
        (DeadlineExceeded("x"), "timeout", "code_retry"),
        (MalformedResponse("x"), "malformed", "typed_failure"),
        (MalformedStream("x"), "malformed", "typed_failure"),
        (IncompleteToolStream("x"), "truncated", "model_retry_without_effect"),
        (MalformedJSON("x"), "malformed", "model_retry_without_effect"),
        (MalformedArguments("x"), "malformed", "model_retry_without_effect"),
        (ProposalRefused("x"), "malformed", "model_retry_without_effect"),
        (InvalidOutput(["x"], 1), "malformed", "model_retry_without_effect"),
        (NotActionable("x", kind="arguments"), "malformed", "model_retry_without_effect"),
        (NotActionable("x", kind="finish"), "malformed", "typed_failure"),
        (AnswerMissing("x"), "malformed", "typed_failure"),
        (CallsNotAnswered("x"), "invalid_request", "typed_failure"),
        (UnsupportedSchema([("#/a", "x")]), "invalid_request", "typed_failure"),
        (StructuredOutputFailed("x"), "malformed", "typed_failure"),
        (OutputTruncated("x"), "truncated", "model_retry_without_effect"),
        (OutputRefused("x"), "refusal", "typed_refusal"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_our_own_tree(error, kind, label):
    assert judged(error) == (kind, label)


def test_a_tool_that_has_run_is_never_run_again_for_a_lost_answer():
    lost = AnswerMissing("x")
    lost.__cause__ = httpx.ReadTimeout("x")
    assert judged(lost) == ("malformed", "typed_failure")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ProviderError("m", status=429), "rate_limit"),
        (ProviderError("m", status=429, code="insufficient_quota"), "quota"),
        (ProviderError("m", status=200, code=429), "rate_limit"),
        (ProviderError("m", status=307, code="redirect"), "invalid_request"),
        (ProviderError("m", status=200), "unknown"),
        (ProviderError("m"), "unknown"),
        (ProviderError("prompt is too long", status=400), "context_length"),
        (ProviderError("m", status=429, body={"error": DAILY}), "rate_limit"),
        (ProviderError("m", code="overloaded_error", body={"type": "error"}), "overloaded"),
    ],
)
def test_a_provider_error_is_judged_by_what_it_carries(error, kind):
    assert diagnose(error=error).kind == kind


def test_a_provider_error_keeps_its_words_and_its_wait():
    found = diagnose(error=ProviderError("slow down", status=429, retry_after=2.5))
    assert found == Failure("code_retry", "rate_limit", 2.5, "slow down")
    assert not diagnose(error=ProviderError("m", status=429, body={"error": DAILY})).retryable


@pytest.mark.parametrize(
    ("answer", "kind", "label"),
    [
        (reply("429 X", b'{"error": {"code": "insufficient_quota"}}'), "quota", "typed_failure"),
        (reply("503 X", b"<html>"), "overloaded", "code_retry"),
        (reply("200 OK", b"{", length=99), "connection", "code_retry"),
        (reply("200 OK", b"<html>"), "malformed", "typed_failure"),
        (reply("200 OK", b'{"choices": [{"finish_reason": "content_filter"}]}'),
         "content_filter", "typed_refusal"),
        (reply("200 OK", b'{"error": {"type": "overloaded_error"}}'), "overloaded", "code_retry"),
    ],
)  # fmt: skip
def test_what_chat_raises_over_a_real_socket(answer, kind, label):
    with serve(answer) as server, HttpTransport(trust_env=False) as transport:
        with pytest.raises(Exception) as caught:  # noqa: PT011  the kinds differ by line
            chat(server.url, "m", QUESTION, transport=transport)
    assert judged(caught.value) == (kind, label)


@pytest.mark.parametrize(
    ("provider", "payload", "kind", "label"),
    [
        ("openai-chat", QUOTA, "quota", "typed_failure"),
        ("openai-chat", {"error": {"type": "invalid_request_error", "message": "bad schema"}},
         "invalid_request", "typed_failure"),
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error"}},
         "overloaded", "code_retry"),
        ("openai-responses", {"type": "error", "code": "server_error", "message": "m"},
         "server", "code_retry"),
        ("openai-responses", {"type": "response.failed", "response":
         {"error": {"code": "rate_limit_exceeded", "message": "m"}}}, "rate_limit", "code_retry"),
        ("gemini", {"error": {"code": 503, "status": "UNAVAILABLE"}}, "overloaded", "code_retry"),
    ],
)  # fmt: skip
def test_b047_b049_an_error_inside_a_stream(provider, payload, kind, label):
    with pytest.raises(ProviderError) as caught:
        assemble_chat_stream([payload], provider=provider)
    assert judged(caught.value) == (kind, label)


def test_any_exception_with_a_status_code_is_judged_by_it():
    class FromAnSdk(Exception):
        """As in litellm, mistralai, groq, cohere."""

        def __init__(self, status_code: int, body: object = None) -> None:
            super().__init__("x")
            self.status_code, self.body = status_code, body

    assert judged(FromAnSdk(503)) == ("overloaded", "code_retry")
    assert judged(FromAnSdk(400, {"code": "context_length_exceeded"}))[0] == "context_length"
    assert judged(FromAnSdk(200)) == ("unknown", "typed_failure")
    assert judged(FromAnSdk(99_999)) == ("unknown", "typed_failure")


def test_an_exception_that_fights_back():
    class Broken(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

        @property
        def response(self) -> object:
            raise RuntimeError("no")

    assert judged(Broken()) == ("unknown", "typed_failure")
    first, second = ConnectionError("a"), ConnectionError("b")
    first.__cause__, second.__cause__ = second, first
    assert judged(first) == ("connection", "code_retry")


def test_an_exceptions_message_begins_with_its_name():
    assert diagnose(error=httpx.ReadTimeout("no byte")).message == "ReadTimeout: no byte"
    assert diagnose(error=TimeoutError()).message == "TimeoutError"
    assert diagnose(error=TimeoutError).message == "TimeoutError"
    assert diagnose(error=KeyError("x")).message == "KeyError: 'x'"


# --- precedence ------------------------------------------------------------------

CUT = {"choices": [{"message": {"content": "a"}, "finish_reason": "length"}]}


def test_exception_then_status_then_body_then_finish_reason():
    everything: dict[str, Any] = {"body": QUOTA, "finish_reason": "stop"}
    late = TimeoutError()
    assert diagnose(error=late, status=400, **everything).kind == "timeout"
    assert diagnose(error=ValueError(), status=429, **everything).kind == "unknown"
    assert diagnose(status=429, **everything).kind == "quota"
    assert diagnose(status=500, finish_reason="stop").kind == "server"
    assert diagnose(status=500, body=CUT).kind == "server"
    assert diagnose(status=200, body=CUT, finish_reason="stop").kind == "truncated"
    assert diagnose(status=200, finish_reason="length").kind == "truncated"


# --- waiting ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "999999"}, MAX_RETRY_AFTER),
        ({"retry-after": "soon"}, None),
        ({"Retry-After": "2"}, 2.0),
        ({"retry-after": ["2", "9"]}, 2.0),
        ({"retry-after": []}, None),
        ({"retry-after": 2}, 2.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        (httpx.Headers({"Retry-After": "2"}), 2.0),
        ({}, None),
        (None, None),
    ],
)
def test_b146_retry_after(headers, wait):
    found = diagnose(status=429, headers=headers)
    assert (found.retry_after, found.label) == (wait, "code_retry")


def test_b146_a_date_is_read_against_the_servers_own_clock():
    date = {
        "retry-after": "Wed, 21 Oct 2015 07:28:30 GMT",
        "date": "Wed, 21 Oct 2015 07:28:00 GMT",
    }
    assert diagnose(status=503, headers=date).retry_after == 30.0


def test_b146_a_wait_that_was_cut_says_so():
    found = diagnose(status=429, headers={"retry-after": "999999"})
    assert found.message == "asked to wait 999999 s; HTTP 429"
    assert diagnose(status=429, headers={"retry-after": "600"}).message == "HTTP 429"


def test_a_header_outranks_the_delay_in_the_body():
    details = [{"retryDelay": "34s"}]
    body = {"error": {"status": "RESOURCE_EXHAUSTED", "details": details}}
    assert diagnose(status=429, body=body).retry_after == 34.0
    assert diagnose(status=429, body=body, headers={"retry-after": "2"}).retry_after == 2.0


def test_a_server_may_stop_a_retry_but_not_start_one():
    no, yes = {"x-should-retry": "false"}, {"x-should-retry": "true"}
    assert diagnose(status=429, headers=no) == Failure(
        "typed_failure", "rate_limit", None, "HTTP 429"
    )
    assert diagnose(status=400, headers=yes).label == "typed_failure"
    assert diagnose(status=200, headers=no, finish_reason="stop").label == "accept"


def test_a_good_reply_needs_no_wait():
    found = diagnose(status=200, headers={"retry-after": "5"}, finish_reason="stop")
    assert (found.label, found.retry_after) == ("accept", None)


def test_urllibs_headers_are_headers():
    headers = Message()
    headers["Retry-After"] = "4"
    assert diagnose(status=429, headers=headers).retry_after == 4.0  # type: ignore[arg-type]


# --- what always holds -----------------------------------------------------------

NAMES = st.sampled_from(
    ["retry-after", "Retry-After", "retry-after-ms", "date", "x-should-retry"]
)
HEADERS = st.none() | st.dictionaries(
    NAMES | st.text(), st.text() | st.from_regex(r"-?\d{1,400}(\.\d+)?") | BODIES
)


@given(st.none() | st.integers(), HEADERS, BODIES, st.none() | st.text())
def test_any_evidence_is_judged_and_nothing_is_raised(status, headers, body, finish):
    found = diagnose(status=status, headers=headers, body=body, finish_reason=finish)
    assert_sound(found)
    assert found.retry_after is None or 0 <= found.retry_after <= MAX_RETRY_AFTER
    error = ProviderError("m", status=status, body=body)
    assert diagnose(error=error).label != "accept"


def test_only_the_standard_library_is_loaded():
    code = "import sys, apisurface.errors; sys.exit('httpx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_b127_a_shared_budget_bounds_what_layers_multiply():
    sent: list[int] = []

    def call() -> None:
        sent.append(1)
        raise httpx.ConnectError("x")

    def layer(below: Any, attempts: int) -> Any:
        def again() -> None:
            for attempt in range(attempts):
                try:
                    below()
                except Exception as error:
                    if attempt == attempts - 1 or not diagnose(error=error).retryable:
                        raise

        return again

    with pytest.raises(httpx.ConnectError):
        layer(layer(call, 3), 3)()
    assert len(sent) == 9


def test_b071_a_refusal_is_not_an_empty_answer():
    message = {"role": "assistant", "content": None, "refusal": "I cannot help."}
    found = diagnose(status=200, body={"message": message, "finish_reason": "stop"})
    assert (found.kind, found.label) == ("refusal", "typed_refusal")
    assert found.message == "I cannot help."


def test_b128_a_cut_answer_is_not_invalid_json():
    assert classify_failure(finish_reason="length") == "model_retry_without_effect"
    assert diagnose(error=OutputTruncated("cut")).kind == "truncated"


def test_it_is_safe_from_any_thread():
    results: list[str] = []
    threads = [
        threading.Thread(target=lambda: results.append(diagnose(status=429).kind))
        for _ in range(8)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert results == ["rate_limit"] * 8


class Thorny:
    """Raises whatever is asked of it."""

    def __getattribute__(self, name):
        raise RuntimeError(name)


class ThornyError(Exception):
    response = body = status_code = headers = property(lambda self: 1 / 0)

    def __str__(self):
        raise RuntimeError


class ThornyType(type):
    __mro__ = property(lambda cls: 1 / 0)


class ThornyClass(metaclass=ThornyType):
    pass


class ThornyMapping(dict):
    def get(self, *_):
        raise RuntimeError

    keys = items = __iter__ = __getitem__ = get


@pytest.mark.parametrize(
    "make", [Thorny, ThornyError, ThornyClass, lambda: ThornyClass, lambda: ThornyMapping(a=1)]
)
def test_evidence_whose_own_methods_raise_is_no_reason_to_raise(make):
    rubbish = make()
    assert judged(rubbish) == ("unknown", "typed_failure")
    assert classify_failure(error=rubbish) == "typed_failure"
    found = diagnose(status=503, headers=rubbish, body=rubbish, finish_reason=rubbish)
    assert (found.kind, found.retry_after) == ("overloaded", None)
    inner = diagnose(status=429, headers={"retry-after": "5"}, body={"error": rubbish})
    assert (inner.kind, inner.retry_after) == ("rate_limit", 5.0)


@pytest.mark.parametrize(
    "pairs", [{"Retry-After": "5"}, [("Retry-After", "5")], {"RETRY-AFTER": 5}]
)
def test_headers_as_pairs_are_headers(pairs):
    assert diagnose(status=429, headers=pairs).retry_after == 5.0


@pytest.mark.parametrize("headers", [None, 5, "x", ["x"], [("a",)], {}, {None: None}])
def test_headers_that_are_none_say_nothing(headers):
    assert diagnose(status=429, headers=headers).retry_after is None
