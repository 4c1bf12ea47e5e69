"""Every recorded failure, whole or streamed, judged by `diagnose`: one verdict each.

What a person read out of it stands in READ (the errors) and ENDS (how an answer ended); that
person looked at each recorded error body once. From worst to best:

    wrong  the kind or the label is another than the one read
    right  both are the ones read

The remark says kind, label, HTTP status and surface. Replies that ended well are counted, not
listed. Nothing recorded is an error event in a stream, and none is a 429 or a 5xx: those are
judged by tests/test_failures.py, from public reports.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from judges.cassettes import Record, records, streams
from judges.verdicts import settle

from apisurface import assemble_chat_stream, diagnose, judge_response
from apisurface.sse import iter_payloads

LADDER = ("wrong", "right")
NOTE = (
    "One verdict a recorded failure: right where kind and label are those that a person read."
)

# A piece of the body, and what the failure is. Read in this order.
READ = [
    ("content_filter", "content_filter", "typed_refusal"),
    ("invalid x-api-key", "auth", "typed_failure"),
    ("API_KEY_INVALID", "auth", "typed_failure"),
    ("invalid_api_key", "auth", "typed_failure"),
    ("Could not parse your authentication token", "auth", "typed_failure"),
    ("Access denied due to invalid subscription key", "auth", "typed_failure"),
    ("Invalid username or password", "auth", "typed_failure"),
    ("Please set a user-agent", "auth", "typed_failure"),
    ("model_not_found", "invalid_request", "typed_failure"),
    ("not_found_error", "invalid_request", "typed_failure"),
    ("NOT_FOUND", "invalid_request", "typed_failure"),
    ("NotFoundError", "invalid_request", "typed_failure"),
    ("DeploymentNotFound", "invalid_request", "typed_failure"),
    ("unsupported_parameter", "invalid_request", "typed_failure"),
    ("unknown_parameter", "invalid_request", "typed_failure"),
    ("invalid_function_parameters", "invalid_request", "typed_failure"),
    ("invalid_image_", "invalid_request", "typed_failure"),
    ("<!DOCTYPE html>", "invalid_request", "typed_failure"),  # a 404 of a web page
]
ENDS = {
    "ok": "accept",
    "truncated": "model_retry_without_effect",
    "content_filter": "typed_refusal",
    "refusal": "typed_refusal",
    "unknown": "typed_failure",
}
WORDS = {
    "ok": {"stop", "STOP", "end_turn", "stop_sequence", "completed"}
    | {"tool_calls", "function_call", "tool_use"},
    "truncated": {"length", "max_tokens", "max_output_tokens", "MAX_TOKENS"},
    "content_filter": {"content_filter"},
    "refusal": {"refusal"},
    "unknown": {"compaction"},  # a pause of Anthropic's, not an end
}


def read_error(found: Record) -> tuple[str, str]:
    """Return kind and label of a recorded error, as a person read it."""
    text = found.body.decode(errors="replace")
    if not text:  # a HEAD request has no body: the status is all there is
        assert found.status == 401
        return "auth", "typed_failure"
    return next((kind, label) for piece, kind, label in READ if piece in text)


def ended(answer: Any) -> tuple[str, str]:
    """Return kind and label of a whole reply, by the surface's own fields."""
    parts = [p for item in answer.get("output") or [] for p in item.get("content") or []]
    choices = answer.get("choices") or [answer]
    refused = any((choice.get("message") or {}).get("refusal") for choice in choices)
    if refused or any(part.get("type") == "refusal" for part in parts):
        return "refusal", ENDS["refusal"]
    details = answer.get("incomplete_details") or {}
    words = [choice.get("finish_reason") for choice in choices]
    words += [each.get("finishReason") for each in answer.get("candidates") or []]
    words += [answer.get("stop_reason"), details.get("reason") or answer.get("status")]
    kinds = [kind for word in words for kind, known in WORDS.items() if word in known]
    worst = [kind for kind in kinds if kind != "ok"] or kinds
    return worst[0], ENDS[worst[0]]


def verdict(found: Record, mine: Any, read: tuple[str, str]) -> str:
    """Compare what we say with what was read."""
    word = "right" if (mine.kind, mine.label) == read else "wrong"
    return f"{word}: {mine.kind}, {mine.label}, {found.status} {found.provider}"


@pytest.fixture(scope="module")
def verdicts() -> tuple[dict[str, str], Counter[str]]:
    """Judge every recorded failure, and count the replies that ended well."""
    found: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for each in records():
        failed = each.status >= 300 or (
            isinstance(each.answer, dict) and each.answer.get("error")
        )
        if not failed and (each.is_stream or each.provider == "other"):
            continue
        counts["errors" if failed else "replies"] += 1
        read = read_error(each) if failed else ended(each.answer)
        mine = diagnose(status=each.status, headers=each.headers, body=each.body)
        if read[0] != "ok" or mine.kind != "ok":
            found[each.id] = verdict(each, mine, read)
        else:
            counts["replies that ended well"] += 1
    for each in streams():
        counts["streams"] += 1
        payloads = iter_payloads([each.body])
        whole = assemble_chat_stream(payloads, provider=each.provider, all_choices=True)
        for choice in whole["choices"]:
            mine, read = judge_response(each.status, choice), ended({"choices": [choice]})
            if read[0] != "ok" or mine.kind != "ok":
                found[f"{each.id} stream"] = verdict(each, mine, read)
            else:
                counts["streamed answers that ended well"] += 1
    return found, counts


def test_every_recorded_failure_has_a_verdict_that_may_only_improve(verdicts):
    found, _ = verdicts
    settle("errors", found, LADDER, NOTE)
    assert not [case for case, word in found.items() if not word.startswith("right")]


def test_the_archives_hold_what_they_held(verdicts):
    _, counts = verdicts
    assert counts == {
        "errors": 73,
        "replies": 1174,
        "replies that ended well": 1129,
        "streams": 910,
        "streamed answers that ended well": 894,
    }


def test_the_codes_are_read_without_the_status(verdicts):
    """Inside a stream no status helps: most recorded bodies say enough by themselves."""
    found, _ = verdicts
    alone: Counter[str] = Counter()
    for each in records():
        if each.id in found and each.status >= 400 and isinstance(each.answer, dict):
            if "error" not in each.answer:
                continue
            mine = judge_response(None, each.body)
            alone["the same" if f": {mine.kind}, " in found[each.id] else mine.kind] += 1
    assert set(alone) <= {"the same", "unknown", "invalid_request"}
    assert alone["the same"] >= 40
