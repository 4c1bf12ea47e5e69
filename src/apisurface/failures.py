# Generated from book/failures.ipynb: edit it there, then run `make save`.
"""What a server said: error bodies, statuses and finish reasons of all surfaces, judged alike.

`judge_response` returns a `Failure`: whose turn it is, one of five labels, what kind of failure
it is, and the words that say so. In an error body the code decides before the status, and the
wording last. Nothing here sends, waits or raises.

Not here: exceptions, headers and waiting (`errors`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from apisurface.exchange import retry_after
from apisurface.sse import iter_payloads
from apisurface.transport import BoundaryError, error_object


# cell: by-word
def by_word(**words: str) -> dict[str, str]:
    """Return a table turned round: each of the words that were listed, to its heading."""
    return {word: heading for heading, listed in words.items() for word in listed.split()}


# cell: labels
_LABELS = by_word(
    code_retry="rate_limit overloaded server timeout connection",
    typed_failure="quota context_length invalid_request auth malformed unknown",
    model_retry_without_effect="truncated",
    typed_refusal="content_filter refusal",
    accept="ok",
)


# cell: failure
@dataclass(frozen=True)
class Failure:
    """What failed, whose turn it is, and the evidence.

    `label` is one of the five of `classify_failure`. `kind` is rate_limit, quota, overloaded,
    server, context_length, invalid_request, auth, content_filter, refusal, truncated, timeout,
    connection, malformed, unknown or ok. `retry_after` is in seconds, never negative, None when
    the server named no time. `message` is one line of at most 300 characters, for a log.
    """

    label: str
    kind: str
    retry_after: float | None = None
    message: str = ""

    @classmethod
    def of(cls, kind: str, message: str = "", label: str | None = None) -> Failure:
        """Make the failure of one kind: with its own label, unless given, and a short line."""
        line = " ".join(message[:2000].encode("utf-8", "backslashreplace").decode().split())
        short = line if len(line) <= 300 else line[:299] + "…"
        return cls(label or _LABELS[kind], kind, None, short)

    @property
    def retryable(self) -> bool:
        """Tell whether sending the same request again can help."""
        return self.label == "code_retry"


# cell: statuses
_STATUSES = by_word(
    auth="401 403 407",
    quota="402",
    timeout="408 504",
    context_length="413",
    rate_limit="429",
    server="500 502",
    overloaded="503 529",
)


# cell: of-status
def _of_status(status: int) -> Failure:
    """Judge by the HTTP status alone: 300 or more has failed, and few statuses heal."""
    if kind := _STATUSES.get(str(status)):
        return Failure.of(kind, f"HTTP {status}")
    kind = "server" if status >= 500 else "invalid_request"
    return Failure.of(kind, f"HTTP {status}", "typed_failure")


# cell: word
def _word(text: str) -> str:
    """Reduce `rate_limit_error`, `RateLimitError` and `rate-limit` to one spelling."""
    bare = re.sub("[^a-z0-9]", "", text[:80].lower())
    return re.sub("(error|exception)$", "", bare)


# cell: as-text
def as_text(value: object) -> str:
    """Return any value as text; one that cannot be written is named by its type."""
    try:
        return str(value)
    except Exception:  # too deep, too many digits, or a `__str__` that raises
        return type(value).__name__


# cell: codes
_CODES = by_word(
    rate_limit="ratelimit ratelimited ratelimitexceeded toomanyrequests tokens requests "
    "resourceexhausted throttling throttlingratequota ramplimitexceeded",
    quota="insufficientquota exceededcurrentquota billing billinghardlimitreached "
    "billingnotactive insufficientbalance arrearage enforcedspendlimitreached "
    "contractspendlimitreached linkedorganizationspendlimitreached",
    overloaded="overloaded serverisoverloaded engineoverloaded modeloverloaded slowdown "
    "unavailable serviceunavailable servicetiercapacityexceeded",
    server="server api internal internalserver",
    timeout="timeout requesttimeout deadlineexceeded",
    context_length="contextlengthexceeded contextwindowexceeded exceedcontextsize "
    "requesttoolarge",
    auth="authentication unauthenticated unauthorized invalidapikey apikeyinvalid "
    "permission permissiondenied accessdenied forbidden",
    content_filter="contentfilter contentpolicyviolation responsibleaipolicyviolation "
    "datainspectionfailed",
    malformed="toolusefailed jsonvalidatefailed",
    invalid_request="invalidrequest badrequest invalidargument invalidparameter "
    "failedprecondition validation notfound modelnotfound notsupported",
)


# cell: dicts
def _dicts(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list; none when it is no list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


# cell: parts
def _parts(said: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """List the details inside an error object, then itself: from the exact to the general."""
    details = said.get("details")
    return [*_dicts(details), *_dicts([said.get("innererror"), details]), said]


# cell: by-code
def _by_code(said: Mapping[str, Any], status: int | None) -> tuple[Failure, bool]:
    """Judge by what a server means for programs, and tell whether that was precise.

    A precise word decides. A broad one such as `invalid_request_error` leaves the rest to the
    number, unless the two disagree about whose turn it is.
    """
    names = ("code", "type", "status", "reason", "error_code", "error_type")
    values = [part.get(name) for part in _parts(said) for name in names]
    kinds = [_CODES.get(_word(value)) for value in values if isinstance(value, str)]
    size, window = said.get("n_prompt_tokens"), said.get("n_ctx")
    if isinstance(size, int) and isinstance(window, int) and size >= window:
        kinds.insert(0, "context_length")
    for kind in kinds:
        if kind not in ("invalid_request", "server", None):
            model = kind == "malformed"
            return Failure.of(kind, label="model_retry_without_effect" if model else None), True
    broad = next((kind for kind in kinds if kind), None)
    numbers = [int(text) for text in map(as_text, values) if re.fullmatch("[45][0-9]{2}", text)]
    number = next(iter(numbers), status)
    found = _of_status(number) if number is not None and number >= 300 else None
    if found and (broad is None or _LABELS[broad] == found.label):
        return found, False
    return Failure.of(broad or "unknown"), False


# cell: wordings
_WORDINGS = {
    "context_length": re.compile(
        r"(?i)maximum (context|prompt|model|input) length|exceeded model token limit"
        r"|exceeds?( the| your)?( available| model'?s?)? context (window|size|length|limit)"
        r"|context (window|size|length|limit) (is |was )?exceed|context (window )?overflow"
        r"|prompt (is|was) too long|input is too long|too long to fit into the model"
        r"|(input|prompt) tokens?( count)?( of)?( \(?\d+\)?)? exceeds?|range of input length"
        r"|reduce the length of (the|your) (messages|prompt|input)"
        r"|inputs. (tokens \+|must have less than)|tokens in the prompt cannot exceed"
    ),
    "quota": re.compile(
        r"(?i)insufficient (quota|balance|credit|fund)|exceeded your current quota|billing"
        r"|credit balance is too low|spend(ing)? (limit|cap)"
    ),
    "content_filter": re.compile(
        r"(?i)content (management|filter(ing)?|safety) policy|safety system|content moderation"
    ),
    "auth": re.compile(
        r"(?i)(invalid|incorrect|missing|provide an?) .{0,10}api.?key"
        r"|api.?key.{0,20}(invalid|not valid)"
    ),
    "rate_limit": re.compile(r"(?i)rate.?limit|too many requests"),
    "overloaded": re.compile(r"(?i)overloaded|(at|over) capacity"),
}


# cell: open
_OPEN = {
    "invalid_request": ("context_length", "quota", "content_filter", "auth"),
    "rate_limit": ("quota",),
    "unknown": tuple(_WORDINGS),
}


# cell: hopeless
def _hopeless(said: Mapping[str, Any], message: str) -> str | None:
    """Say why waiting a little cannot help against a limit: its window, or its size."""
    parts = _parts(said)
    found = _dicts([part.get("metadata") for part in parts])
    found += [each for part in parts for each in _dicts(part.get("violations"))]
    for text in (value for each in found for value in each.values() if isinstance(value, str)):
        if re.search("per_?(day|month)", text, re.IGNORECASE):
            return f"a limit of a long window: {text}"
    size = re.search(r"Limit (\d{1,12}), (?:Used \d{1,12}, )?Requested (\d{1,12})", message)
    return "larger than the whole limit" if size and int(size[2]) > int(size[1]) else None


# cell: decoded
def _decoded(body: Any) -> Any:
    """Return what text or bytes say as JSON, or as an error event; other values as given."""
    if not isinstance(body, (str, bytes, bytearray)):
        return body
    with suppress(ValueError, RecursionError):
        return json.loads(body)
    raw = body.encode(errors="replace") if isinstance(body, str) else bytes(body)
    with suppress(BoundaryError):
        return next(filter(error_object, iter_payloads([raw])), None)
    return None


# cell: innermost
def _innermost(said: dict[str, Any]) -> dict[str, Any]:
    """Return an error object with the one that a gateway wrapped into its text on top."""
    for _ in range(3):
        metadata = said.get("metadata")
        raw = metadata.get("raw") if isinstance(metadata, dict) else None
        inner = [error_object(_decoded(text)) for text in (raw, said.get("message"))]
        found = next((each for each in inner if each), None)
        if found is None:
            break
        said = {key: value for key, value in said.items() if key != "metadata"} | found
    return said


# cell: of-error
def _of_error(said: dict[str, Any], status: int | None) -> Failure:
    """Judge an error object: its code first, then the status, its wording last."""
    said = _innermost(said)
    words = (said.get(name) for name in ("message", "detail", "error", "title"))
    message = next((w for w in words if isinstance(w, str) and w), as_text(said))[:2000]
    found, precise = _by_code(said, status)
    for kind in () if precise else _OPEN.get(found.kind, ()):
        if _WORDINGS[kind].search(message):
            found = Failure.of(kind)
            break
    why = _hopeless(said, message) if found.kind == "rate_limit" else None
    if why:
        found, message = Failure.of(found.kind, label="typed_failure"), f"{why}; {message}"
    delays = [part.get("retryDelay") for part in _parts(said)]  # Google's RetryInfo: "34.07s"
    delay = next((each for each in delays if isinstance(each, str)), "")
    wait = retry_after({"retry-after": delay.removesuffix("s")})
    return replace(Failure.of(found.kind, message, found.label), retry_after=wait)


# cell: finishes
_FINISHES = by_word(
    ok="stop endturn stopsequence completed complete eos eostoken "
    "toolcalls tooluse toolcall functioncall",
    truncated="length maxtokens modellength maxoutputtokens incomplete "
    "modelcontextwindowexceeded",
    content_filter="contentfilter contentfiltered safety recitation blocklist "
    "prohibitedcontent spii imagesafety guardrailintervened",
    refusal="refusal",
    malformed="malformedfunctioncall unexpectedtoolcall toomanytoolcalls "
    "malformedtooluse malformedmodeloutput malformedresponse",
    overloaded="insufficientsystemresource",
)


# cell: of-finish
def _of_finish(finish: object, refusal: object = None) -> Failure:
    """Judge by the reason why a reply ended, in any provider's spelling."""
    if isinstance(refusal, str) and refusal:
        return Failure.of("refusal", refusal)
    if not isinstance(finish, str):
        return Failure.of("unknown", "no finish reason")
    kind = _FINISHES.get(_word(finish), "unknown")
    label = "model_retry_without_effect" if kind == "malformed" else None
    return Failure.of(kind, f"finish reason {finish!r}", label)


# cell: of-answers
def _of_answers(body: Mapping[str, Any]) -> Iterator[Failure]:
    """Judge each answer of a reply, in any of the four shapes, by how it ended."""
    inner = body.get("response")
    if as_text(body.get("type")).startswith("response.") and isinstance(inner, dict):
        body = inner
    feedback, message = body.get("promptFeedback"), body.get("message")
    if isinstance(feedback, dict) and feedback.get("blockReason"):
        blocked = as_text(feedback["blockReason"])
        yield Failure.of("content_filter", f"the prompt was blocked: {blocked}")
    for answer in _dicts(body.get("choices")):
        said, inside = error_object(answer), answer.get("message", answer.get("delta"))
        refusal = inside.get("refusal") if isinstance(inside, dict) else None
        reason = answer.get("finish_reason")
        end = _of_error(said, None) if said else _of_finish(reason, refusal)
        if isinstance(inside, dict) or end.kind not in ("ok", "unknown"):
            yield end  # a filtered choice may have no message
    for answer in _dicts(body.get("candidates")):
        yield _of_finish(answer.get("finishReason"))
    for name in ("finish_reason", "stop_reason"):
        if name in body:
            refusal = message.get("refusal") if isinstance(message, dict) else None
            yield _of_finish(body[name], refusal)
    if body.get("object") == "response" or "incomplete_details" in body:
        parts = [p for item in _dicts(body.get("output")) for p in _dicts(item.get("content"))]
        details = body.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, dict) else None
        refusals = [part.get("refusal") for part in parts if part.get("type") == "refusal"]
        yield _of_finish(reason or body.get("status"), next(iter(refusals), None))


# cell: judge-response
def judge_response(status: int | None, body: Any = None, finish: object = None) -> Failure:
    """Judge what came back, by the first of these that has something to say.

    An error object inside the body, as text, bytes or decoded (its code, then the status, then
    its wording); a `status` of 300 or more; how the answers in the body ended; `finish`, the
    finish reason, when the body holds none. A body that is none of this is malformed. With no
    evidence at all the kind is unknown. Raises nothing.
    """
    value = _decoded(body)
    said = error_object(value, status)
    text = body.decode(errors="replace") if isinstance(body, (bytes, bytearray)) else body
    if said is None and status is not None and status >= 400 and isinstance(text, str):
        said = {"message": text}
    if said is not None:
        return _of_error(said, status)
    if status is not None and not 200 <= status < 300:
        return _of_status(status)
    reply = finish if body is None else value
    found = list(_of_answers(reply)) if isinstance(reply, Mapping) else []
    if found:
        return next((each for each in found if each.kind != "ok"), found[0])
    if finish is not None and (body is None or isinstance(value, dict)):
        return _of_finish(finish)
    if body is not None:
        return Failure.of("malformed", f"no reply of a model: {as_text(text)[:200]!r}")
    return Failure.of("unknown", "nothing to judge by") if status is None else Failure.of("ok")
