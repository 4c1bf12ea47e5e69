# Generated from book/extraction.ipynb: edit it there, then run `make save`.
"""From the text a model wrote to a value that code may use: find, check, complain, stop.

`extract` asks for an object, checks it and, a bounded number of times, asks again with one
specific complaint.

    BoundaryError
    └── StructuredOutputFailed (RuntimeError)  no answer was accepted
        ├── OutputTruncated                    cut by the token limit
        └── OutputRefused                      declined by the model or a filter

Not here: sending again after a network error (`errors` says which may be).
"""

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from jsonschema.validators import extend

from apisurface.ecma import UnsupportedPattern
from apisurface.levels import schema_response_format
from apisurface.objects import parse_object
from apisurface.parsing import MalformedJSON
from apisurface.patterns import compile_pattern
from apisurface.transport import BoundaryError
from apisurface.values import is_multiple


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


# cell: pattern-keyword
def _pattern(validator: Any, pattern: str, value: object, _: object) -> Iterator[Any]:
    """Judge `pattern` as ECMA-262 has it, in bounded time."""
    if isinstance(value, str) and not compile_pattern(pattern)(value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


# cell: pattern-properties-keyword
def _pattern_properties(
    validator: Any, patterns: dict[str, Any], value: object, _: object
) -> Iterator[Any]:
    """Judge each property whose name matches by the schema for such names."""
    for name, part in value.items() if isinstance(value, dict) else ():
        for pattern, schema in patterns.items():
            if compile_pattern(pattern)(name):
                yield from validator.descend(part, schema, path=name, schema_path=pattern)


# cell: additional-properties-keyword
def _additional_properties(
    validator: Any, rule: Any, value: object, schema: dict[str, Any]
) -> Iterator[Any]:
    """Let the library judge the properties that no pattern matches."""
    if isinstance(value, dict) and (patterns := schema.get("patternProperties")):
        matches = [compile_pattern(pattern) for pattern in patterns]
        value = {name: value[name] for name in value if not any(m(name) for m in matches)}
        schema = {key: schema[key] for key in schema if key != "patternProperties"}
    judge = Draft202012Validator.VALIDATORS["additionalProperties"]
    yield from judge(validator, rule, value, schema) or ()


# cell: multiple-of-keyword
def _multiple_of(validator: Any, step: Any, value: Any, _: object) -> Iterator[Any]:
    """Judge `multipleOf` by the decimal numbers that were written."""
    if validator.is_type(value, "number") and not is_multiple(value, Fraction(str(step))):
        yield ValidationError(f"{value!r} is not a multiple of {step!r}")


# cell: library
_LIBRARY = cast(Any, extend)(
    Draft202012Validator,
    {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional_properties,
        "multipleOf": _multiple_of,
    },
)


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


# cell: assert-sound
def _assert_sound(schema: dict[str, Any]) -> None:
    """Raise ValueError for a reference that leads nowhere and a pattern that cannot be used."""
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012, EMPTY_REGISTRY

    root = DRAFT202012.create_resource(schema)
    todo = [(root, EMPTY_REGISTRY.resolver_with_root(root))]
    while todo:
        part, resolver = todo.pop()
        found = part.contents if isinstance(part.contents, dict) else {}
        try:
            for keyword in ("$ref", "$dynamicRef"):
                if keyword in found:
                    resolver.lookup(found[keyword])
            for pattern in (*found.get("patternProperties", ()), found.get("pattern", "")):
                compile_pattern(pattern)
        except Unresolvable as error:
            why = f"invalid schema: reference {error.ref!r} leads nowhere"
            raise ValueError(why) from error
        except UnsupportedPattern as error:
            raise ValueError(f"invalid schema: {error}") from error
        todo += [(sub, resolver.in_subresource(sub)) for sub in part.subresources()]


# cell: checker
def library_check(schema: dict[str, Any]) -> Callable[[object], list[str]]:
    """Return a function that lists all violations as `path: message`; nothing is fetched.

    The judge is `jsonschema` for Draft 2020-12, whatever `$schema` says, with patterns as
    ECMA-262 has them and multiples of the decimal number that was written. The path of the
    whole value is `<root>`. Raises ValueError for a schema that is none, a reference that leads
    nowhere or onto itself, and a pattern that `compile_pattern` refuses.
    """
    try:
        Draft202012Validator.check_schema(schema)
        _assert_sound(schema)
        # At `$schema` the library would go back to its own keywords.
        validator = _LIBRARY({key: schema[key] for key in schema if key != "$schema"})
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
    `library_check` finds nothing and `semantic_check`, given a copy, returns None. After
    a complaint the next request is the original messages, the candidate as an assistant turn
    and one user turn that names all that failed: it does not grow, and since a candidate that
    was rejected before ends the loop, no request is ever sent twice.

    At most `max_attempts` calls are made; retries inside `invoke` multiply with them. What
    `invoke` or `semantic_check` raise passes through with a note of what was spent so far.

    Raises `OutputTruncated` after a `length` finish and `OutputRefused` after a refusal, both
    unrepaired; `StructuredOutputFailed` when the attempts are used up or a candidate comes back
    unchanged; `ValueError` before any call for a schema that `library_check` refuses, an
    unusable name or `max_attempts` below 1.
    """
    if max_attempts < 1:
        raise ValueError(f"max_attempts must be at least 1, not {max_attempts}")
    block = schema_response_format(name, schema)
    violations = library_check(copy.deepcopy(schema))
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
