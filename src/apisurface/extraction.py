# Generated from book/extraction.ipynb: edit it there, then run `make save`.
"""From the text a model wrote to a value that code may use: find, check, complain, stop.

`parse_object` finds the one JSON object that a text means. `extract` asks for one, checks it
and, a bounded number of times, asks again with one specific complaint.

    BoundaryError
    ├── MalformedJSON (ValueError)             no object, or not one strict object
    └── StructuredOutputFailed (RuntimeError)  no answer was accepted
        ├── OutputTruncated                    cut by the token limit
        └── OutputRefused                      declined by the model or a filter

Not here: mending broken JSON, reading half an object, sending again after a network error.
"""

import copy
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from apisurface.levels import schema_response_format
from apisurface.parsing import (
    MAX_CHARS,
    Fence,
    MalformedJSON,
    after_thoughts,
    find_brace,
    find_fences,
    loads_strict,
    value_end,
)
from apisurface.wire import BoundaryError

# cell: more
_MORE = re.compile(r'[\s\]},]*+(?:\{\s*+["}]|"[^"\\]*+(?:\\.[^"\\]*+)*+"\s*+:)', re.DOTALL)


# cell: kind
def _kind(value: object) -> str:
    """Name the JSON type of a value."""
    if value is None:
        return "null"
    names = {dict: "object", list: "array", str: "string", bool: "boolean"}
    return names.get(type(value), "number")


# cell: object-at
def _object_at(text: str, start: int, end: int) -> dict[str, Any]:
    """Read the object at `start`: whole, strict, and with no more JSON right behind it."""
    close = value_end(text, start, end)
    value = loads_strict(text, start, close)
    if not isinstance(value, dict):
        raise MalformedJSON.at(f"expected a JSON object, got {_kind(value)}", text, start)
    if _MORE.match(text, close, end):
        raise MalformedJSON.at("more JSON right behind the object", text, close)
    return value


# cell: whole
def _whole(text: str, start: int, end: int) -> dict[str, Any] | MalformedJSON:
    """Return the object that a range is from end to end, or why it is not strict JSON."""
    try:
        value = loads_strict(text, start, end)
    except MalformedJSON as error:
        return error
    if not isinstance(value, dict):
        raise MalformedJSON(f"expected a JSON object, got {_kind(value)}", text=text)
    return value


# cell: in-fence
def _in_fence(text: str, fence: Fence) -> dict[str, Any] | None:
    """Return the object in one fence; one in another language counts only as a whole."""
    bracket = re.compile(r"[{\[]").search(text, fence.start, fence.end)
    if bracket is None:
        return None
    at = bracket.start()
    alone = not text[fence.start : at].strip()
    committed = not fence.language and find_brace(text, at, fence.end) == at
    if "json" in fence.language or (alone and committed):
        return _object_at(text, at, fence.end)
    if alone:
        with suppress(MalformedJSON):
            found = _whole(text, at, fence.end)
            return found if isinstance(found, dict) else None
    return None


# cell: in-fences
def _in_fences(text: str, fences: list[Fence]) -> dict[str, Any] | None:
    """Return the object of the fences marked json, else of the others; all must agree."""
    for marked in (True, False):
        found: dict[str, dict[str, Any]] = {}
        for fence in fences:
            if ("json" in fence.language) == marked:
                value = _in_fence(text, fence)
                if value is not None:
                    found[json.dumps(value, sort_keys=True)] = value
        if len(found) > 1:
            raise MalformedJSON("fences that hold different objects", text=text)
        if found:
            return found.popitem()[1]
    return None


# cell: in-prose
def _in_prose(text: str, start: int, end: int, fences: list[Fence]) -> dict[str, Any] | None:
    """Return the object that the first committing brace opens; None when none commits."""
    brace, at = -1, start
    for fence in fences:
        if fence.language or text[fence.start : fence.end].lstrip().startswith("["):
            brace = max(brace, find_brace(text, at, fence.start)) if brace < 0 else brace
            at = fence.end
    brace = find_brace(text, at, end) if brace < 0 else brace
    if brace < 0:
        return None
    in_array = text.startswith("[", start) and value_end(text, start, end) > brace
    if in_array or re.search(r'(\[|"\s*:)\s*$', text[max(start, brace - 80) : brace]):
        raise MalformedJSON.at("an object inside something larger", text, brace)
    return _object_at(text, brace, end)


# cell: margin
_MARGIN = " \t\r\n\f\v\u00a0\u200b\ufeff"


# cell: parse-object
def parse_object(text: str) -> dict[str, Any]:
    """Return the one JSON object that a model meant in prose, fences or behind its thinking.

    First the whole text, strictly. Then, without the thinking blocks before the answer, the
    fences, those marked json first. Then the prose: a `{` followed by optional space and `"` or
    `}` commits, other braces are text. What has committed is read by `loads_strict` or refused,
    so a cut object never yields its inner one.

    Raises `MalformedJSON`, a `ValueError`, and nothing else: no object; a whole text or a json
    fence that is JSON but no object; an object in an array or behind a key; more JSON right
    behind it; fences of one kind that hold different objects; a leading thinking block that
    never closes; more than `MAX_CHARS`; whatever is not a `str`. Chosen where cases are
    debatable: prose is read up to its first object, and a fence in another language counts
    only when all of it is an object. Takes time linear in the text.
    """
    if not isinstance(text, str) or len(text) > MAX_CHARS:
        loads_strict(text)
    start, end = len(text) - len(text.lstrip(_MARGIN)), len(text.rstrip(_MARGIN))
    found = _whole(text, start, end)
    if isinstance(found, dict):
        return found
    answer = after_thoughts(text, start)
    if answer > start:
        start = len(text) - len(text[answer:].lstrip(_MARGIN))
        found = _whole(text, start, max(start, end))
        if isinstance(found, dict):
            return found
    fences = find_fences(text, start)
    value = _in_fences(text, fences)
    if value is None:
        value = _in_prose(text, start, end, fences)
    if value is None:
        looks_like_json = text.startswith(("{", "["), start)
        raise found if looks_like_json else MalformedJSON("no JSON object", text=text)
    return value


# cell: structured-output-failed
class StructuredOutputFailed(BoundaryError, RuntimeError):
    """No answer was accepted: the attempts are used up, or one came back unchanged.

    `.attempts` and `.total_tokens` are what was spent, `.last_candidate` is the last text the
    model wrote (empty when it wrote none), `.last_complaint` the last thing found wrong (None
    when nothing was judged). Hand both to a person or to another model: asking the same one
    again has been tried.
    """

    def __init__(
        self,
        message: str,
        *,
        attempts: int = 0,
        total_tokens: int = 0,
        last_candidate: str = "",
        last_complaint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.attempts, self.total_tokens = attempts, total_tokens
        self.last_candidate, self.last_complaint = last_candidate, last_complaint


# cell: output-truncated
class OutputTruncated(StructuredOutputFailed):
    """The answer hit the token limit: raise `max_tokens` or ask for less."""


# cell: output-refused
class OutputRefused(StructuredOutputFailed):
    """The model declined or a filter stopped it: a decision, not a format error."""


# cell: extraction
@dataclass(frozen=True)
class Extraction:
    """An accepted value, the number of calls it took and the tokens all of them cost."""

    value: dict[str, Any]
    attempts: int
    total_tokens: int


# cell: spent
def _spent(reply: dict[str, Any]) -> int:
    """Return the tokens that a reply reports, 0 when it reports none."""
    usage = reply.get("usage") or {}
    for names in (("total_tokens",), ("prompt_tokens", "completion_tokens")):
        counts = [usage[name] for name in names if type(usage.get(name)) is int]
        if len(counts) == len(names):
            return sum(counts)
    return 0


# cell: text-of
def _text_of(message: dict[str, Any]) -> str:
    """Return a message's text: typed parts joined, null empty, unpaired surrogates escaped."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, dict)]
        content = "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    text = content if isinstance(content, str) else ""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


# cell: path
def _path(parts: Iterable[str | int]) -> str:
    """Write a place in a value as `items[0].sku`; the top is `<root>`."""
    path = ""
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        elif part.isidentifier():
            path += f".{part}" if path else part
        else:
            path += f"[{json.dumps(part)}]"
    return path or "<root>"


# cell: short
def _short(text: str, limit: int = 400) -> str:
    """Keep both ends of a long message: it begins with the value and ends with the reason."""
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]} … {text[-limit // 2 :]}"


# cell: assert-references
def _assert_references(schema: dict[str, Any]) -> None:
    """Raise ValueError when a reference leads nowhere or out of the document."""
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012, EMPTY_REGISTRY

    root = DRAFT202012.create_resource(schema)
    todo = [(root, EMPTY_REGISTRY.resolver_with_root(root))]
    while todo:
        part, resolver = todo.pop()
        for keyword in ("$ref", "$dynamicRef"):
            if isinstance(part.contents, dict) and keyword in part.contents:
                try:
                    resolver.lookup(part.contents[keyword])
                except Unresolvable as error:
                    why = f"invalid schema: reference {error.ref!r} leads nowhere"
                    raise ValueError(why) from error
        todo += [(sub, resolver.in_subresource(sub)) for sub in part.subresources()]


# cell: checker
def _checker(schema: dict[str, Any]) -> Callable[[object], list[str]]:
    """Return a function that lists all violations as `path: message`; nothing is fetched."""
    try:
        Draft202012Validator.check_schema(schema)
        _assert_references(schema)
        validator = Draft202012Validator(schema)
        validator.is_valid({})  # a reference that circles onto itself shows on any value
    except SchemaError as error:
        raise ValueError(f"invalid schema at {_path(error.path)}: {error.message}") from error
    except RecursionError:
        raise ValueError("invalid schema: a reference circles onto itself") from None

    def violations(value: object) -> list[str]:
        errors = sorted(validator.iter_errors(value), key=lambda e: (list(e.path), e.message))
        return [f"{_path(error.path)}: {_short(error.message)}" for error in errors]

    return violations


# cell: judge
def _judge(
    message: dict[str, Any],
    violations: Callable[[object], list[str]],
    semantic_check: Callable[[Any], str | None] | None,
) -> tuple[dict[str, Any], str | None]:
    """Return a message's value and the complaint about it, None when it is accepted."""
    text = _text_of(message)
    if message.get("tool_calls"):
        return {}, "<root>: expected a JSON object, got a tool call"
    if not text.strip():
        return {}, "<root>: expected a JSON object, got an empty answer"
    try:
        value = parse_object(text)
    except MalformedJSON as error:
        return {}, f"<root>: {error}"
    if errors := violations(value):
        return value, "; ".join(errors)
    complaint = semantic_check(copy.deepcopy(value)) if semantic_check else None
    if complaint is not None and not (isinstance(complaint, str) and complaint.strip()):
        raise ValueError(f"semantic_check must return None or a complaint, not {complaint!r}")
    return value, complaint


# cell: repair-turns
def _repair_turns(candidate: str, complaint: str) -> list[dict[str, str]]:
    """Return the two turns that ask again: what was written, and exactly what failed in it."""
    request = (
        f"That answer was not accepted. What failed:\n{complaint}\n"
        "Send the whole corrected JSON object, and nothing else."
    )
    return [{"role": "assistant", "content": candidate}, {"role": "user", "content": request}]


# cell: extract
def extract(
    invoke: Callable[..., dict[str, Any]],
    messages: Sequence[Mapping[str, Any]],
    schema: dict[str, Any],
    *,
    max_attempts: int = 3,
    semantic_check: Callable[[Any], str | None] | None = None,
    name: str = "refund_decision",
) -> Extraction:
    """Ask for an object, accept it only when code says so, and otherwise ask again a few times.

    Each attempt is one call `invoke(transcript, response_format=...)` that answers like `chat`;
    bind the rest with `functools.partial`. An answer is accepted when `parse_object` reads it,
    `Draft202012Validator` finds nothing and `semantic_check`, given a copy, returns None. After
    a complaint the next request is the original messages, the candidate as an assistant turn
    and one user turn that names all that failed: it does not grow, and since a candidate that
    was rejected before ends the loop, no request is ever sent twice.

    At most `max_attempts` calls are made; retries inside `invoke` multiply with them. What
    `invoke` or `semantic_check` raise passes through with a note of what was spent so far.

    Raises `OutputTruncated` after a `length` finish and `OutputRefused` after a refusal, both
    unrepaired; `StructuredOutputFailed` when the attempts are used up or a candidate comes back
    unchanged; `ValueError` before any call for an invalid schema, a reference that leads
    nowhere, an unusable name or `max_attempts` below 1.
    """
    if max_attempts < 1:
        raise ValueError(f"max_attempts must be at least 1, not {max_attempts}")
    block = schema_response_format(name, schema)
    violations = _checker(copy.deepcopy(schema))
    request = original = copy.deepcopy([dict(message) for message in messages])
    rejected: dict[str, str] = {}
    attempt, tokens, candidate, complaint = 0, 0, "", None

    def failed(kind: type[StructuredOutputFailed], why: str) -> StructuredOutputFailed:
        facts = {"attempts": attempt, "total_tokens": tokens}
        return kind(why, **facts, last_candidate=candidate, last_complaint=complaint)

    try:
        while attempt < max_attempts:
            attempt += 1
            reply = invoke(copy.deepcopy(request), response_format=copy.deepcopy(block))
            tokens += _spent(reply)
            message, finish = reply.get("message") or {}, reply.get("finish_reason")
            candidate = _text_of(message)
            if message.get("refusal") or finish == "content_filter":
                why = message.get("refusal") or "stopped by a content filter"
                raise failed(OutputRefused, str(why))
            if finish == "length":
                raise failed(OutputTruncated, "the answer was cut by the token limit")
            if candidate in rejected:
                complaint = rejected[candidate]
                raise failed(StructuredOutputFailed, f"came back unchanged: {complaint}")
            value, complaint = _judge(message, violations, semantic_check)
            if complaint is None:
                return Extraction(value, attempt, tokens)
            rejected[candidate] = complaint
            request = original + _repair_turns(candidate, complaint)
        raise failed(StructuredOutputFailed, f"{attempt} attempts, none accepted: {complaint}")
    except StructuredOutputFailed:
        raise
    except Exception as error:
        error.add_note(f"extract: attempt {attempt} of {max_attempts}, {tokens} tokens spent")
        raise
