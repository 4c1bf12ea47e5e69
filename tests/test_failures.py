"""What a server said: codes, statuses, wordings and finish reasons, judged by one order."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apisurface.failures import Failure, as_text, judge_response

LABELS = {
    "code_retry",
    "typed_failure",
    "model_retry_without_effect",
    "typed_refusal",
    "accept",
}
KINDS = {
    "rate_limit",
    "quota",
    "overloaded",
    "server",
    "context_length",
    "invalid_request",
    "auth",
    "content_filter",
    "refusal",
    "truncated",
    "timeout",
    "connection",
    "malformed",
    "unknown",
    "ok",
}


def judged(status: int | None, body: Any = None, finish: object = None) -> tuple[str, str]:
    found = judge_response(status, body, finish)
    return found.kind, found.label


def error(**said: Any) -> dict[str, Any]:
    return {"error": said}


# --- the status ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "kind", "retried"),
    [
        (301, "invalid_request", False),
        (400, "invalid_request", False),
        (401, "auth", False),
        (402, "quota", False),
        (403, "auth", False),
        (404, "invalid_request", False),
        (408, "timeout", True),
        (409, "invalid_request", False),
        (413, "context_length", False),
        (422, "invalid_request", False),
        (429, "rate_limit", True),
        (499, "invalid_request", False),
        (500, "server", True),
        (501, "server", False),
        (502, "server", True),
        (503, "overloaded", True),
        (504, "timeout", True),
        (505, "server", False),
        (520, "server", False),
        (529, "overloaded", True),
    ],
)
def test_a_status_alone(status, kind, retried):
    found = judge_response(status)
    assert (found.kind, found.retryable) == (kind, retried)
    assert found.label == ("code_retry" if retried else "typed_failure")
    assert found.message == f"HTTP {status}"


def test_a_good_status_alone_is_fine_and_nothing_at_all_is_not_known():
    assert judged(200) == ("ok", "accept")
    assert judged(204) == ("ok", "accept")
    assert judged(None) == ("unknown", "typed_failure")
    assert judged(100) == ("invalid_request", "typed_failure")


# --- the code --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (429, {"code": "insufficient_quota"}, "quota"),
        (429, {"type": "insufficient_quota", "code": None}, "quota"),
        (429, {"type": "tokens", "code": "rate_limit_exceeded"}, "rate_limit"),
        (400, {"code": "rate_limit_exceeded"}, "rate_limit"),
        (500, {"type": "RateLimitError"}, "rate_limit"),
        (401, {"type": "invalid_request_error", "code": "invalid_api_key"}, "auth"),
        (401, {"type": "invalid_request_error", "code": None}, "auth"),
        (429, {"type": "invalid_request_error"}, "invalid_request"),
        (500, {"type": "invalid_request_error"}, "invalid_request"),
        (400, {"code": "server_error"}, "server"),
        (503, {"type": "server_error"}, "overloaded"),
        (529, {"type": "overloaded_error"}, "overloaded"),
        (400, {"type": "api_error"}, "server"),
        (200, {"type": "timeout_error"}, "timeout"),
        (402, {"type": "billing_error"}, "quota"),
        (403, {"type": "permission_error"}, "auth"),
        (404, {"code": "DeploymentNotFound"}, "invalid_request"),
        (404, {"type": "not_found_error"}, "invalid_request"),
        (401, {"code": "401"}, "auth"),
        (200, {"code": "content_filter", "status": 400}, "content_filter"),
        (400, {"code": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}},
         "content_filter"),
        (429, {"type": "rate_limit_error",
               "details": {"error_code": "enforced_spend_limit_reached"}}, "quota"),
        (400, {"status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}, "auth"),
        (503, {"status": "UNAVAILABLE", "code": 503}, "overloaded"),
        (504, {"status": "DEADLINE_EXCEEDED", "code": 504}, "timeout"),
        (403, {"status": "PERMISSION_DENIED", "code": 403}, "auth"),
        (500, {"status": "INTERNAL", "code": 500}, "server"),
        (200, {"code": 503}, "overloaded"),
        (500, {"code": "429"}, "rate_limit"),
        (429, {"code": "exceeded_current_quota_error"}, "quota"),
        (429, {"type": "engine_overloaded_error"}, "overloaded"),
        (503, {"type": "unavailable_error", "code": 503}, "overloaded"),
        (200, {"code": 3505}, "unknown"),
        (200, {"message": "no GPU left"}, "unknown"),
    ],
)  # fmt: skip
def test_a_code_decides_before_the_status(status, said, kind):
    assert judge_response(status, error(**said)).kind == kind


def test_a_call_that_the_server_could_not_read_is_the_models():
    found = judged(400, error(code="tool_use_failed", message="Failed to call a function."))
    assert found == ("malformed", "model_retry_without_effect")


def test_a_monthly_spend_limit_hides_in_the_details_of_a_rate_limit():
    said = {"type": "rate_limit_error", "message": "x", "details": {"error_code": "y"}}
    assert judge_response(429, error(**said)).retryable
    said["details"] = {"error_code": "enforced_spend_limit_reached"}
    assert judged(429, error(**said)) == ("quota", "typed_failure")


def test_b008_an_error_inside_a_good_status():
    found = judge_response(200, error(code=429, message="Provider rate limited"))
    assert (found.kind, found.label) == ("rate_limit", "code_retry")
    assert found.message == "Provider rate limited"


@pytest.mark.parametrize("body", ["", "{}", "<html>502</html>", "[]", "null", b"", b"\xff"])
def test_b010_no_reply_at_all_is_malformed(body):
    assert judged(200, body) == ("malformed", "typed_failure")


def test_b047_b049_an_error_event_is_judged_by_its_own_code():
    quota = error(message="quota exceeded", code="insufficient_quota")
    assert judged(None, quota) == ("quota", "typed_failure")
    schema = error(type="invalid_request_error", message="bad schema")
    assert judged(200, schema) == ("invalid_request", "typed_failure")
    failed = {"type": "response.failed", "response": {"error": {"code": "server_error"}}}
    assert judged(200, failed) == ("server", "code_retry")


def test_an_error_event_as_it_stood_on_the_wire_is_read():
    anthropic = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"}}\n\n'
    assert (
        judged(200, anthropic)
        == judged(200, anthropic.encode())
        == ("overloaded", "code_retry")
    )
    inside = 'data: {"choices":[]}\n\ndata: {"error":{"code":"context_length_exceeded"}}\n\n'
    assert judged(400, inside) == ("context_length", "typed_failure")
    wrapped = error(message='data: {"error": {"code": "insufficient_quota"}}\n\n')
    assert judged(429, wrapped) == ("quota", "typed_failure")


@pytest.mark.parametrize(
    "body", ["data: {", b"data: \xff", "data: [DONE]", ": ping\n\n", "data: 1"]
)
def test_a_stream_without_an_error_is_no_reply(body):
    assert judged(200, body) == ("malformed", "typed_failure")
    assert judged(503, body) == ("overloaded", "code_retry")


# --- the wording -----------------------------------------------------------------

OVERFLOWS = [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000",
    "Input tokens exceed the configured limit of 272000 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input.",
    "prompt is too long: 234872 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 199000 + 21333 > 200000",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
    "The decoder prompt (length 9000) is longer than the maximum model length of 8192.",
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    "Please reduce the length of the messages or completion.",
    "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    "Input is too long for requested model.",
    "prompt token count of 140000 exceeds the limit of 128000",
    "Requested tokens (516) exceed context window of 512",
    "Your request exceeded model token limit: 262144 (requested: 291351)",
    "`inputs` tokens + `max_new_tokens` must be <= 2048. Given: 2000",
    "The prompt (total length 5000) is too long to fit into the model (context length 4096)",
    "invalid params, context window exceeds limit (2013)",
    "Trying to keep the first 4607 tokens when context overflows.",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081",
    "Range of input length should be [1, 30720]",
]
OTHERS = [
    "max_tokens must be less than or equal to 4096",
    "temperature exceeds maximum allowed value",
    "schema is too long",
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
    "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
    "Invalid 'tools[0].description': string too long. Expected maximum length 1024.",
    "image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes",
    "`max_tokens` must be greater than `thinking.budget_tokens`.",
    "stop: too many stop sequences",
]


@pytest.mark.parametrize("sentence", OVERFLOWS)
def test_b152_every_providers_sentence_for_a_full_window(sentence):
    assert judged(400, error(message=sentence)) == ("context_length", "typed_failure")


@pytest.mark.parametrize("sentence", OTHERS)
def test_b152_other_limits_are_not_the_window(sentence):
    assert judged(400, error(message=sentence)) == ("invalid_request", "typed_failure")


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, {"code": "context_length_exceeded", "message": "x"}),
        (400, {"message": "no", "n_prompt_tokens": 9000, "n_ctx": 8192}),
        (500, {"message": "no", "n_prompt_tokens": 8192, "n_ctx": 8192}),
        (500, {"code": 500, "type": "exceed_context_size_error"}),
        (413, {"type": "request_too_large", "message": "x"}),
        (413, {"message": "x"}),
    ],
)
def test_b152_codes_and_fields_say_it_too(status, said):
    assert judged(status, error(**said)) == ("context_length", "typed_failure")


def test_b152_a_prompt_that_fits_is_not_the_reason():
    said = {"message": "no", "n_prompt_tokens": 90, "n_ctx": 8192}
    assert judged(500, error(**said)) == ("server", "code_retry")


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (429, {"message": "This model's maximum context length is 8192 tokens."}, "rate_limit"),
        (429, {"message": "You exceeded your current quota, check your billing."}, "quota"),
        (429, {"code": "rate_limit_exceeded", "message": "add billing"}, "rate_limit"),
        (400, {"message": "Your credit balance is too low to access the API."}, "quota"),
        (400, {"message": "Output blocked by content filtering policy"}, "content_filter"),
        (400, {"message": "API key not valid. Please pass a valid API key."}, "auth"),
        (500, {"message": "prompt is too long"}, "server"),
        (200, {"message": "Rate limit exceeded: free-models-per-min"}, "rate_limit"),
        (200, {"message": "The model is overloaded"}, "overloaded"),
        (None, {"message": "prompt is too long"}, "context_length"),
    ],
)
def test_words_decide_last_and_only_what_is_open(status, said, kind):
    assert judge_response(status, error(**said)).kind == kind


def test_plain_text_is_an_errors_wording():
    assert judged(400, "prompt is too long: 9 tokens > 8") == (
        "context_length",
        "typed_failure",
    )
    assert judged(429, b"slow down") == ("rate_limit", "code_retry")
    assert judge_response(503, "<html>maintenance</html>").message == "<html>maintenance</html>"


# --- limits that no pause lifts --------------------------------------------------


def test_b143_a_quota_is_not_a_rate_limit():
    said = {"type": "insufficient_quota", "code": "insufficient_quota"}
    found = judge_response(429, error(**said, message="You exceeded your current quota"))
    assert (found.kind, found.retryable) == ("quota", False)


DAILY = {
    "code": 429,
    "status": "RESOURCE_EXHAUSTED",
    "details": [
        {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "RATE_LIMIT_EXCEEDED",
            "metadata": {"quota_limit": "GenerateRequestsPerDayPerProject"},
        }
    ],
}


@pytest.mark.parametrize("body", [error(**DAILY), [error(**DAILY)]])
def test_b145_a_daily_window_is_a_rate_limit_that_is_not_retried(body):
    found = judge_response(429, body)
    assert (found.kind, found.label, found.retryable) == ("rate_limit", "typed_failure", False)
    assert "GenerateRequestsPerDayPerProject" in found.message


def test_b145_a_minute_is_retried_after_the_delay_in_the_body():
    violation = {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}
    details = [{"violations": [violation]}, {"retryDelay": "34.074824224s"}]
    said = {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": details}
    found = judge_response(429, error(**said, message="You exceeded your current quota"))
    assert (found.kind, found.retryable, found.retry_after) == (
        "rate_limit",
        True,
        34.074824224,
    )
    violation["quotaId"] = "GenerateRequestsPerDayPerProjectPerModel-FreeTier"
    assert not judge_response(429, error(**said)).retryable


def test_a_request_larger_than_the_limit_never_passes():
    said = {"type": "tokens", "code": "rate_limit_exceeded"}
    large = "Request too large on tokens per minute (TPM): Limit 6000, Requested 12328, reduce"
    assert judged(413, error(**said, message=large)) == ("rate_limit", "typed_failure")
    small = "Rate limit reached (TPM): Limit 6000, Used 5034, Requested 1443. Please try again"
    assert judged(429, error(**said, message=small)) == ("rate_limit", "code_retry")
    equal = "(TPM): Limit 6000, Used 1, Requested 6000"
    assert judge_response(429, error(**said, message=equal)).retryable


def test_an_error_that_a_gateway_wrapped_is_judged_by_the_innermost():
    inner = error(code="insufficient_quota", message="no money")
    wrapped = error(code=429, message=json.dumps(inner))
    assert judged(429, wrapped) == ("quota", "typed_failure")
    assert judge_response(429, wrapped).message == "no money"
    routed = error(
        code=400, message="Provider returned error", metadata={"raw": json.dumps(inner)}
    )
    assert judged(400, routed) == ("quota", "typed_failure")
    for _ in range(9):
        wrapped = error(message=json.dumps(wrapped))
    assert judged(500, wrapped)[1] == "code_retry"


def test_what_only_the_outer_error_says_is_kept():
    outer = error(type="insufficient_quota", message='{"error": {"message": "m"}}')
    found = judge_response(400, outer)
    assert (found.kind, found.message) == ("quota", "m")
    body = json.dumps(error(code="insufficient_quota", message="m"))
    for _ in range(3):
        body = json.dumps(error(message=body))
    assert judge_response(500, body).kind == "quota"
    assert judge_response(500, error(message=body)).kind == "server"  # deeper is not looked


# --- how an answer ended ---------------------------------------------------------


@pytest.mark.parametrize(
    ("finish", "kind"),
    [
        ("stop", "ok"),
        ("tool_calls", "ok"),
        ("function_call", "ok"),
        ("end_turn", "ok"),
        ("tool_use", "ok"),
        ("STOP", "ok"),
        ("completed", "ok"),
        ("content_filter", "content_filter"),
        ("SAFETY", "content_filter"),
        ("RECITATION", "content_filter"),
        ("refusal", "refusal"),
        ("MALFORMED_FUNCTION_CALL", "malformed"),
        ("insufficient_system_resource", "overloaded"),
        ("pause_turn", "unknown"),
        ("error", "unknown"),
        ("", "unknown"),
        ("FINISH_REASON_UNSPECIFIED", "unknown"),
        (7, "unknown"),
        ({}, "unknown"),
    ],
)
def test_a_finish_reason_in_any_spelling(finish, kind):
    assert judge_response(None, finish=finish).kind == kind


@pytest.mark.parametrize(
    "finish",
    [
        "length",
        "max_tokens",
        "MAX_TOKENS",
        "model_length",
        {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
    ],
)
def test_b151_every_spelling_of_length_is_truncated(finish):
    assert judged(None, finish=finish) == ("truncated", "model_retry_without_effect")
    if isinstance(finish, str):
        body = {"choices": [{"message": {"content": "a"}, "finish_reason": finish}]}
        assert judged(200, body) == ("truncated", "model_retry_without_effect")
    else:
        assert judged(200, {"object": "response", **finish}) == judged(None, finish=finish)


@pytest.mark.parametrize(
    "body",
    [
        {"candidates": [{"finishReason": "SAFETY", "index": 0}]},
        {"promptFeedback": {"blockReason": "SAFETY"}},
        {"candidates": [], "promptFeedback": {"blockReason": "OTHER"}},
    ],
)
def test_b148_a_blocked_candidate_is_a_filter_and_not_malformed(body):
    assert judged(200, body) == ("content_filter", "typed_refusal")


@pytest.mark.parametrize("body", [{"usageMetadata": {}}, {"candidates": []}, {"choices": []}])
def test_b148_no_candidate_and_no_feedback_is_malformed(body):
    assert judged(200, body) == ("malformed", "typed_failure")


def test_b149_a_malformed_call_outweighs_the_call_beside_it():
    part = {"functionCall": {"name": "rm", "args": {}}}
    candidate = {"finishReason": "MALFORMED_FUNCTION_CALL", "content": {"parts": [part]}}
    found = judged(200, {"candidates": [candidate]})
    assert found == ("malformed", "model_retry_without_effect")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"message": {"content": "a"}, "finish_reason": "stop", "usage": {}}, "ok"),
        ({"message": {"refusal": "no"}, "finish_reason": "stop"}, "refusal"),
        ({"type": "message", "stop_reason": "end_turn", "content": []}, "ok"),
        ({"type": "message", "stop_reason": "refusal", "content": []}, "refusal"),
        ({"object": "response", "status": "completed", "output": []}, "ok"),
        ({"type": "response.completed", "response": {"object": "response",
                                                      "status": "completed"}}, "ok"),
        ({"object": "response", "status": "failed", "error": None}, "unknown"),
        ({"object": "response", "status": "completed", "output": [
            {"content": [{"type": "refusal", "refusal": "no"}]}]}, "refusal"),
        ({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}, "ok"),
        ({"choices": [{"message": {"content": "a"}, "finish_reason": None}]}, "unknown"),
        ({"choices": [{"message": {"refusal": "no"}, "finish_reason": "stop"}]}, "refusal"),
        ({"choices": [{"finish_reason": "content_filter", "index": 0}]}, "content_filter"),
        ({"choices": [{"finish_reason": "stop", "index": 0}]}, "malformed"),
        ({"choices": [{"error": {"code": 502, "message": "m"}}]}, "server"),
        ({"choices": [{"message": {}, "finish_reason": "stop"},
                      {"message": {}, "finish_reason": "length"}]}, "truncated"),
        ({"candidates": [{"content": {}, "finishReason": "STOP"}]}, "ok"),
        ({"candidates": [{"content": {}}]}, "unknown"),
    ],
)  # fmt: skip
def test_a_whole_reply_of_any_surface(body, kind):
    assert judge_response(200, body).kind == kind
    assert judge_response(200, json.dumps(body).encode()).kind == kind


def test_of_several_good_answers_the_first_is_told():
    choices = [{"message": {}, "finish_reason": word} for word in ("stop", "tool_calls")]
    assert judge_response(200, {"choices": choices}).message == "finish reason 'stop'"


def test_a_body_decides_before_a_finish_reason():
    cut = {"choices": [{"message": {"content": "a"}, "finish_reason": "length"}]}
    assert judged(200, cut, "stop")[0] == "truncated"
    assert judged(200, {"id": "r-1"}, "stop")[0] == "ok"
    assert judged(200, "", "stop")[0] == "malformed"
    assert judged(500, None, "stop")[0] == "server"


# --- what always holds -----------------------------------------------------------

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
KEYS = st.sampled_from(
    [
        "error",
        "code",
        "type",
        "status",
        "message",
        "details",
        "metadata",
        "raw",
        "innererror",
        "violations",
        "retryDelay",
        "choices",
        "candidates",
        "finish_reason",
        "finishReason",
        "stop_reason",
        "promptFeedback",
        "blockReason",
        "object",
        "response",
        "output",
        "content",
        "refusal",
        "incomplete_details",
        "reason",
        "n_ctx",
        "n_prompt_tokens",
        "delta",
        "detail",
    ]
)
WORDS = st.sampled_from(
    [
        "error",
        "response",
        "response.failed",
        "response.completed",
        "refusal",
        "incomplete",
        "429",
    ]
    + [
        "insufficient_quota",
        "RESOURCE_EXHAUSTED",
        "Limit 1, Requested 2",
        "SAFETY",
        "34s",
        "{}",
    ]
)
BODIES = st.recursive(
    VALUES | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=25,
)


def assert_sound(found: Failure) -> None:
    assert found.label in LABELS
    assert found.kind in KINDS
    assert found.retryable == (found.label == "code_retry")
    assert found.retry_after is None or found.retry_after >= 0
    assert len(found.message) <= 300
    assert "\n" not in found.message
    assert isinstance(found.message.encode(), bytes)
    assert (found.kind == "ok") == (found.label == "accept")


@given(st.none() | st.integers(100, 599), BODIES, BODIES)
def test_any_json_is_judged_and_nothing_is_raised(status, body, finish):
    assert_sound(judge_response(status, body, finish))


@given(st.none() | st.integers(100, 599), st.text() | st.binary())
def test_any_text_is_judged_and_nothing_is_raised(status, body):
    assert_sound(judge_response(status, body))


@given(st.integers(400, 599), BODIES)
def test_a_status_of_failure_is_never_accepted(status, body):
    assert judge_response(status, body).label != "accept"


def deep(kind: str) -> Any:
    value: Any = "x"
    for _ in range(3_000):
        value = [value] if kind == "list" else {kind: value}
    return value


@pytest.mark.parametrize("key", ["list", "error", "response", "message", "finish_reason"])
@pytest.mark.parametrize("status", [None, 200, 500])
def test_a_bomb_is_judged(key, status):
    assert_sound(judge_response(status, deep(key), deep(key)))
    assert_sound(judge_response(status, {"error": deep(key)}))
    assert_sound(judge_response(status, "[" * 100_000))
    assert_sound(
        judge_response(status, {"error": {"message": "[" * 100_000, "code": 10**5000}})
    )


def test_what_cannot_be_written_is_named():
    class Stubborn:
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert as_text(Stubborn()) == "Stubborn"
    assert as_text(10**5000) == "int"
    assert as_text("text") == "text"


def test_a_message_is_one_short_line():
    found = Failure.of("ok", "a\n b\t" + "x" * 500 + "\ud800")
    assert found.message.startswith("a b x")
    assert found.message.endswith("…")
    assert len(found.message) == 300
    assert Failure.of("ok", "\ud800").message == "\\ud800"
    with pytest.raises(AttributeError):
        found.kind = "x"
