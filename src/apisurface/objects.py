# Generated from book/objects.ipynb: edit it there, then run `make save`.
"""Find the one JSON object that a text means, or refuse with a reason.

    BoundaryError
    └── MalformedJSON (ValueError)   no object, or not one strict object

Not here: mending broken JSON, reading half an object (`partial`), arrays and scalars as answers
(`coerce_output`), checking the object against a schema (`extraction`).
"""

import json
import re
from contextlib import suppress
from typing import Any

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
