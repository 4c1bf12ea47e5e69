# Generated from book/parsing.ipynb: edit it there, then run `make save`.
"""Strict JSON, and what models wrap it in.

`loads_strict` reads a value that every JSON reader understands alike; `value_end` finds where
one ends without reading it. `find_fences`, `after_thoughts` and `find_brace` say where to look
in a text. What they refuse:

    BoundaryError
    └── MalformedJSON (ValueError)

Not here: choosing the object that a text means (`extraction`), mending it, reading half of it.
"""

import json
import math
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from apisurface.transport import BoundaryError


# cell: malformed-json
class MalformedJSON(BoundaryError, ValueError):
    """A text is not the strict JSON that was expected.

    `.text` is the whole text as it came (empty when it was no text), `.offset` the character at
    which reading failed, None when the failure has no single place. The message says what to
    mend and is fit to be shown to a model.
    """

    def __init__(self, message: str, *, text: str = "", offset: int | None = None) -> None:
        super().__init__(message)
        self.text, self.offset = text, offset

    @classmethod
    def at(cls, reason: str, text: str, offset: int) -> "MalformedJSON":
        """Make the error for one place; the message quotes a little of the text around it."""
        near = text[max(0, offset - 20) : offset + 20]
        return cls(f"{reason} at offset {offset}, near {near!r}", text=text, offset=offset)


# cell: limits-depth
MAX_DEPTH = 100  # brackets in brackets; Python's own limit differs by version


# cell: bracket
_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[\]{}]', re.DOTALL)


# cell: value-end
def value_end(text: str, start: int = 0, end: int | None = None) -> int:
    """Return where the bracketed value that begins at `start` ends.

    Counts brackets outside strings and reads each character once, so a depth bomb is refused
    before a recursive parser sees it. Without a bracket that is `end`. Raises `MalformedJSON`
    for more than `MAX_DEPTH` levels and for a bracket or string that never closes.
    """
    end = len(text) if end is None else end
    depth = 0
    for token in _BRACKET.finditer(text, start, end):
        sign = token[0]
        if sign in ("[", "{"):
            depth += 1
            if depth > MAX_DEPTH:
                raise MalformedJSON.at(f"nesting deeper than {MAX_DEPTH}", text, token.start())
        elif sign in ("]", "}"):
            depth -= 1
            if depth <= 0:
                return token.end()
        elif sign == '"':
            raise MalformedJSON.at("a string that never closes", text, token.start())
    if depth:
        raise MalformedJSON.at("a bracket that never closes", text, start)
    return end


# cell: pairs
def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object whose keys all differ."""
    value: dict[str, Any] = {}
    for key, item in pairs:
        if key in value:
            raise ValueError(f"duplicate key {json.dumps(key)[:80]}")
        value[key] = item
    return value


# cell: limits-digits
MAX_DIGITS = 4_300  # characters in a number; where `int` stops by default


# cell: number
def _number(literal: str) -> int | float:
    """Read a number that is finite and of bearable length."""
    if len(literal) > MAX_DIGITS:
        raise ValueError(f"a number of {len(literal)} characters, more than {MAX_DIGITS}")
    if literal.lstrip("-").isdigit():
        return int(literal)
    value = float(literal)
    if math.isinf(value):
        raise ValueError(f"{literal[:80]} is too large for a finite number")
    return value


# cell: constant
def _constant(literal: str) -> NoReturn:
    """Refuse NaN and the infinities: Python reads them, JSON does not have them."""
    raise ValueError(f"{literal} is not JSON")


# cell: decoder
_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_number, parse_float=_number, parse_constant=_constant
)


# cell: surrogate
_SURROGATE = re.compile(r"[\ud800-\udfff]|\\u[dD][89a-fA-F]")


# cell: lone-surrogate
def _lone_surrogate(value: Any, pointer: str = "") -> str | None:
    """Return the JSON Pointer of the first string that cannot be written as UTF-8."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return pointer or "the root"
        return None
    pairs = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else pairs:
        name = str(key).replace("~", "~0").replace("/", "~1")
        place = f"{pointer}/{name.encode('utf-8', 'backslashreplace').decode()}"
        if found := _lone_surrogate(str(key), place) or _lone_surrogate(item, place):
            return found
    return None


# cell: limits-chars
MAX_CHARS = 2_000_000  # more than a model writes in one answer


# cell: loads-strict
def loads_strict(text: str, start: int = 0, end: int | None = None) -> Any:
    """Read `text[start:end]` as one JSON value that every JSON reader understands alike.

    Refused with `MalformedJSON`, a `ValueError`: duplicate keys (their meaning is open, RFC
    8259 §4), NaN, Infinity, numbers that overflow to it, unpaired surrogates (§8.2), control
    characters in strings, anything behind the value, more than `MAX_DEPTH` levels, `MAX_DIGITS`
    characters of a number or `MAX_CHARS` of text, and whatever is not a `str`, such as the null
    content of a message. Nothing is mended. Takes time linear in the text.
    """
    if not isinstance(text, str):
        raise MalformedJSON(f"expected JSON text, got {type(text).__name__}")
    end = len(text) if end is None else end
    if end - start > MAX_CHARS:
        raise MalformedJSON(f"{end - start} characters, more than {MAX_CHARS}", text=text)
    value_end(text, start, end)
    part = text[start:end]
    try:
        value = _DECODER.decode(part)
    except json.JSONDecodeError as error:
        reason = error.msg.removesuffix(" at")
        raise MalformedJSON.at(reason, text, start + error.pos) from None
    except RecursionError:
        raise MalformedJSON.at("nesting too deep to read", text, start) from None
    except ValueError as error:
        raise MalformedJSON(str(error), text=text) from None
    if _SURROGATE.search(part) and (place := _lone_surrogate(value)):
        raise MalformedJSON(f"unpaired surrogate at {place}", text=text)
    return value


# cell: fence
@dataclass(frozen=True)
class Fence:
    """A fenced block: its language in lower case, and where its content stands in the text.

    The content is `text[start:end]`. It begins right behind the language and so holds what
    follows there on the opening line.
    """

    language: str
    start: int
    end: int


# cell: fence-line
_FENCE_LINE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([^\s`{\[]*)([^\n]*)$", re.MULTILINE)


# cell: find-fences
def find_fences(text: str, start: int = 0) -> list[Fence]:
    """Return the fenced blocks of a text in order, as CommonMark reads them.

    Three or more backticks or tildes open one; as many of the same sign, alone on a line, close
    it; one that never closes runs to the end. A line of backticks that holds another backtick
    opens nothing. Block quotes, lists and HTML are not looked into. Source: CommonMark 0.31.2,
    section "Fenced code blocks".
    """
    fences: list[Fence] = []
    opening: re.Match[str] | None = None
    for line in _FENCE_LINE.finditer(text, start):
        signs, word, rest = line.groups()
        if opening is None:
            if signs[0] == "~" or "`" not in word + rest:
                opening = line
        elif signs.startswith(opening[1]) and not (word + rest).strip():
            fences.append(Fence(opening[2].lower(), opening.end(2), line.start()))
            opening = None
    if opening is not None:
        fences.append(Fence(opening[2].lower(), opening.end(2), len(text)))
    return fences


# cell: find-brace
def find_brace(text: str, start: int = 0, end: int | None = None) -> int:
    """Return the first `{` that is meant as JSON, one followed by `"` or `}`; -1 for none."""
    end = len(text) if end is None else end
    found = re.compile(r'\{\s*+["}]').search(text, start, end)
    return found.start() if found else -1


# cell: tag
_TAG = re.compile(r"</?(?:think|thinking|thought|reasoning)>|\[/?THINK\]", re.IGNORECASE)


# cell: after-thoughts
def after_thoughts(text: str, start: int = 0) -> int:
    """Return where the answer begins: behind the thinking in front of the first object.

    Blocks in `<think>`, `<thinking>`, `<thought>`, `<reasoning>` or `[THINK]`. Where the prompt
    opened the block only its closing tag arrives: then all before it is thinking, unless an
    object reaches over the tag and so holds it in a string. Raises `MalformedJSON` when the
    text is one block that never closes.
    """
    at, opening = start, None
    for tag in _TAG.finditer(text, start):
        closing = "/" in tag[0]
        if opening is not None:
            if closing:
                at, opening = tag.end(), None
            continue
        brace = find_brace(text, at, tag.start())
        if closing:
            with suppress(MalformedJSON):
                if brace >= 0 and value_end(text, brace) > tag.start():
                    return at
            return tag.end()
        if brace >= 0:
            return at
        opening = tag
    if opening is not None and not text[at : opening.start()].strip():
        raise MalformedJSON.at("a thinking block that never closes", text, opening.start())
    return at
