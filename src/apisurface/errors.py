# Generated from book/errors.ipynb: edit it there, then run `make save`.
"""Who owns a failure: one judgement over exceptions, statuses, bodies and finish reasons.

    code_retry                  the same request may be sent again, later
    typed_failure               raise: a request, a key, a budget or a bug must change first
    model_retry_without_effect  the answer is unusable, nothing ran: ask the model again
    typed_refusal               a decision of the model or of a filter: no repair, no retry
    accept                      nothing failed

`classify_failure` returns the label, `diagnose` the label with its evidence. Not here: the
retrying itself, which is one loop with one budget. Exceptions are known by the names of their
classes, so only the standard library is imported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apisurface.exchange import retry_after
from apisurface.failures import Failure, as_text, by_word, judge_response
from apisurface.transport import error_object

# cell: exceptions
_EXCEPTIONS = by_word(
    timeout="builtins.TimeoutError client.APITimeoutError",
    connection="builtins.ConnectionError socket.gaierror ssl.SSLError "
    "http.IncompleteRead httpx.NetworkError httpx.RemoteProtocolError httpx.ProxyError "
    "client.APIConnectionError",
    invalid_request="httpx.ProtocolError httpx.UnsupportedProtocol httpx.InvalidURL "
    "httpx.TooManyRedirects apisurface.ConfigError apisurface.UnsupportedSchema "
    "apisurface.CallsNotAnswered",
    malformed="json.JSONDecodeError httpx.DecodingError httpx.SSEError "
    "client.APIResponseValidationError apisurface.MalformedResponse "
    "apisurface.MalformedStream apisurface.MalformedJSON apisurface.StructuredOutputFailed "
    "apisurface.ToolCallError apisurface.NotActionable apisurface.InvalidOutput",
    truncated="client.LengthFinishReasonError apisurface.OutputTruncated "
    "apisurface.IncompleteToolStream",
    content_filter="client.ContentFilterFinishReasonError",
    refusal="apisurface.OutputRefused",
)


# cell: families
_FAMILIES = {
    **dict.fromkeys(("httpx2", "httpcore", "httpcore2"), "httpx"),
    **dict.fromkeys(("openai", "anthropic"), "client"),
}


# cell: class-names
def _class_names(error: object) -> list[str]:
    """List an exception's classes, its own first, each as its package and its name."""
    kind = error if isinstance(error, type) else type(error)
    packages = [(each.__module__.partition(".")[0], each.__name__) for each in kind.__mro__]
    return [f"{_FAMILIES.get(package, package)}.{name}" for package, name in packages]


# cell: from-model
_FROM_MODEL = {
    "apisurface.InvalidOutput",
    "apisurface.MalformedJSON",
    "apisurface.MalformedArguments",
    "apisurface.MalformedCall",
    "apisurface.NotActionable",
    "apisurface.ProposalRefused",
}


# cell: wrappers
_WRAPPERS = {"apisurface.MalformedResponse", "urllib.URLError"}


# cell: attribute
def _attribute(value: object, *names: str) -> Any:
    """Return the first attribute that is there and not None; one that raises is not there."""
    for name in names:
        try:
            found = getattr(value, name, None)
        except Exception:  # such as httpx's `text` of a body that nobody has read
            found = None
        if found is not None:
            return found
    return None


# cell: of-exception
def _of_exception(error: object, depth: int = 8) -> Failure:
    """Judge an exception by its classes, else by the reply it carries, else it is unknown."""
    names = _class_names(error)
    text = "" if isinstance(error, type) else as_text(error)
    message = f"{names[0].partition('.')[2]}: {text}".removesuffix(": ")
    kind = next((_EXCEPTIONS[each] for each in names if each in _EXCEPTIONS), None)
    if any(each.endswith(".TimeoutException") for each in names):
        kind = "timeout"
    wraps = kind == "connection" or _WRAPPERS & {*names}
    cause = _attribute(error, "reason" if "urllib.URLError" in names else "__cause__")
    if depth and wraps and isinstance(cause, BaseException):
        below = _of_exception(cause, depth - 1)
        if below.kind != "unknown":
            return Failure.of(below.kind, message, below.label)
    if "apisurface.MalformedResponse" in names:
        reply = judge_response(None, _attribute(error, "raw"))
        if reply.kind in ("content_filter", "refusal", "truncated"):
            return reply
    if kind is None:
        return _of_carried(error, names) or Failure.of("unknown", message)
    if "ssl.SSLCertVerificationError" in names:
        return Failure.of(kind, message, "typed_failure")
    model = _FROM_MODEL & {*names} and _attribute(error, "kind") != "finish"
    return Failure.of(kind, message, "model_retry_without_effect" if model else None)


# cell: of-carried
def _of_carried(error: object, names: list[str]) -> Failure | None:
    """Judge an exception by the status, headers and body that it carries, if it has any."""
    response = _attribute(error, "response")
    if "apisurface.ProviderError" in names:
        status, body = _attribute(error, "status"), _attribute(error, "body")
        said = {"code": _attribute(error, "code"), **(error_object(body, status) or {})}
        body = {"error": said | {"message": _attribute(error, "message")}}
    elif {"urllib.HTTPError", "google.APIError"} & {*names}:
        status, body = _attribute(error, "code"), _attribute(error, "details")
    else:
        status = _attribute(error, "status_code") or _attribute(response, "status_code")
        body = _attribute(error, "body")
    if not isinstance(status, int) and body is None:
        return None
    if isinstance(body, dict) and error_object(body, status) is None:
        body = {"error": body}
    elif body is None:
        body = _attribute(response, "text")
    headers = _lowered(_attribute(error, "headers") or _attribute(response, "headers"))
    wait = _attribute(error, "retry_after")
    if isinstance(wait, (int, float)):
        headers["retry-after"] = str(wait)
    found = diagnose(status=status, headers=headers, body=body)
    return None if found.kind == "ok" else found  # what was raised is no success


# cell: max-retry-after
MAX_RETRY_AFTER = 600.0  # seconds; a longer wait is a decision, not a pause


# cell: lowered
def _lowered(headers: Any) -> dict[str, str]:
    """Return headers by their names in lower case; a list of values counts by its first."""
    try:
        pairs = dict(headers).items()
    except Exception:  # none, or such as cannot be read
        return {}
    firsts = ((k, v[0]) if isinstance(v, list) and v else (k, v) for k, v in pairs)
    return {as_text(name).lower(): as_text(value) for name, value in firsts}


# cell: diagnose
def diagnose(
    *,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
    body: Any = None,
    finish_reason: str | Mapping[str, Any] | None = None,
    error: object = None,
) -> Failure:
    """Say what failed, whose turn it is and how long to wait, from whatever is at hand.

    An exception decides before the status, the status before the body, the body before the
    finish reason. Inside an error body, in a stream or not, the code that is meant for programs
    decides before the status, and the wording last, only where both leave a question open.
    `body` may be text, bytes or decoded; `error` an exception or its class, of this package,
    httpx, the standard library, the official openai and anthropic clients, or any that carries
    a `status_code`. Limits that no short wait can lift (a daily window, a request larger than
    the limit) are not retryable, nor is what the server marks `x-should-retry: false`. A wait
    beyond `MAX_RETRY_AFTER`, 600 s, is cut to it, and the message says so. Without anything
    given the kind is unknown. Raises nothing.

    Sources: RFC 9110; the error pages of the providers (see the chapter; checked 2026-11-30).
    """
    given = _lowered(headers)
    code = status if isinstance(status, int) and 100 <= status < 1000 else None
    answered = error is None
    try:
        found = judge_response(code, body, finish_reason) if answered else _of_exception(error)
    except Exception:  # evidence whose own methods raise; what is left is the status
        found = judge_response(code if answered else None)
    wait = retry_after(given)
    wait = found.retry_after if wait is None else wait
    if found.retryable and given.get("x-should-retry") == "false":
        found = replace(found, label="typed_failure")
    if wait is not None and wait > MAX_RETRY_AFTER:
        line = f"asked to wait {wait:g} s; {found.message}"
        return replace(found, message=line, retry_after=MAX_RETRY_AFTER)
    return replace(found, retry_after=None if found.kind == "ok" else wait)


# cell: classify-failure
def classify_failure(
    *, status: int | None = None, finish_reason: str | None = None, error: object = None
) -> str:
    """Return whose turn it is after a reply or an exception, as one of five labels.

    `code_retry`, `typed_failure`, `model_retry_without_effect`, `typed_refusal` or `accept`. An
    exception decides before a status, a status of 300 or more before a finish reason. What is
    not known, exception or finish reason, is `typed_failure`: never a blind retry.
    """
    return diagnose(status=status, finish_reason=finish_reason, error=error).label
