# Generated from book/ecma.ipynb: edit it there, then run `make save`.
"""ECMA-262 regular expressions with the flag u, read into trees.

`parse_pattern` returns the tree of a pattern, as `automata` has them. What it refuses:

    BoundaryError
    └── UnsupportedPattern (ValueError)

Not here: back-references, properties beyond the general categories, other flags; and matching,
which is in `patterns`.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache

from apisurface.automata import WORD_CHARS, Chars, Choice, Edge, Look, Repeat, Series, Tree
from apisurface.transport import BoundaryError


# cell: unsupported-pattern
class UnsupportedPattern(BoundaryError, ValueError):
    """A pattern is not one of ECMA-262 with the flag u, or cannot be matched in bounded time.

    `.pattern` is the whole pattern, `.position` the character at which it fails, `.reason` what
    is wrong there and, where there is one, the way to write it instead.
    """

    def __init__(
        self, message: str, *, pattern: str = "", position: int = 0, reason: str = ""
    ) -> None:
        super().__init__(message)
        self.pattern, self.position, self.reason = pattern, position, reason

    @classmethod
    def at(cls, reason: str, pattern: str, position: int) -> "UnsupportedPattern":
        """Make the error for one place; the message quotes the pattern around it."""
        near = pattern[max(0, position - 10) : position + 20]
        message = f"{reason}, at position {position} of the pattern, near {near!r}"
        return cls(message, pattern=pattern, position=position, reason=reason)


# cell: sets
_SETS = {
    "d": Chars.of((48, 57)),
    "w": WORD_CHARS,
    "s": Chars.of(
        *((9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)),
        *((0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000)),
        (0xFEFF, 0xFEFF),
    ),
    ".": ~Chars.of((10, 10), (13, 13), (0x2028, 0x2029)),
}


# cell: category-names
_CATEGORY_NAMES = """
L Letter;LC Cased_Letter;Lu Uppercase_Letter;Ll Lowercase_Letter;Lt Titlecase_Letter
Lm Modifier_Letter;Lo Other_Letter;M Mark Combining_Mark;Mn Nonspacing_Mark
Mc Spacing_Mark;Me Enclosing_Mark;N Number;Nd Decimal_Number digit;Nl Letter_Number
No Other_Number;P Punctuation punct;Pc Connector_Punctuation;Pd Dash_Punctuation
Ps Open_Punctuation;Pe Close_Punctuation;Pi Initial_Punctuation;Pf Final_Punctuation
Po Other_Punctuation;S Symbol;Sm Math_Symbol;Sc Currency_Symbol;Sk Modifier_Symbol
So Other_Symbol;Z Separator;Zs Space_Separator;Zl Line_Separator;Zp Paragraph_Separator
C Other;Cc Control cntrl;Cf Format;Cs Surrogate;Co Private_Use;Cn Unassigned
"""


# cell: categories
@lru_cache(maxsize=1)
def _categories() -> dict[str, list[tuple[int, int]]]:
    """Return the code points of each general category, as this Python's Unicode has them."""
    found: dict[str, list[tuple[int, int]]] = {}
    start, now = 0, "Cc"
    for point in range(0x110001):
        category = unicodedata.category(chr(point)) if point < 0x110000 else ""
        if category != now:
            found.setdefault(now, []).append((start, point - 1))
            start, now = point, category
    return found


# cell: property
@lru_cache(maxsize=64)
def _property(name: str) -> Chars | None:
    """Return the set a property names; None when the standard library does not know it."""
    if name in ("Any", "ASCII", "Assigned"):
        named = {"Any": ~Chars(()), "ASCII": Chars.of((0, 127))}
        return named.get(name) or ~Chars.of(*_categories()["Cn"])
    name = re.sub(r"^(?:General_Category|gc)=", "", name)
    for names in _CATEGORY_NAMES.strip().replace("\n", ";").split(";"):
        if name in names.split():
            short = ("Lu", "Ll", "Lt") if names[:2] == "LC" else names.split()[0]
            found = [r for key, r in _categories().items() if key.startswith(short)]
            return Chars.of(*(pair for ranges in found for pair in ranges))
    return None


# cell: cursor
@dataclass
class _Cursor:
    """A place in a pattern that is being read, and what was met on the way."""

    pattern: str
    at: int = 0
    depth: int = 0
    names: set[str] = field(default_factory=set)

    def peek(self) -> str:
        """Return the next character, nothing at the end."""
        return self.pattern[self.at : self.at + 1]

    def take(self, sign: str) -> bool:
        """Step over a sign if it is the next."""
        taken = self.pattern.startswith(sign, self.at)
        self.at += len(sign) if taken else 0
        return taken

    def lex(self, form: "re.Pattern[str]") -> "re.Match[str] | None":
        """Step over what a form matches here."""
        found = form.match(self.pattern, self.at)
        self.at = found.end() if found else self.at
        return found

    def refuse(self, reason: str, at: int) -> UnsupportedPattern:
        """Return the error for a place."""
        return UnsupportedPattern.at(reason, self.pattern, at)


# cell: set-form
_SET = re.compile(r"([dDsSwW])|([pP])\{([A-Za-z0-9_=]*)\}")


# cell: point-form
_POINT = re.compile(
    r"u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\})"
    r"|c([a-zA-Z])|([tnvfr]|0(?![0-9]))|([\^$\\.*+?()\[\]{}|/])"
)


# cell: controls
_CONTROLS = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0}


# cell: escape
def _escape(cursor: _Cursor) -> int | Chars:
    """Read what follows a backslash: one code point, or a set of them."""
    start = cursor.at - 1
    if found := cursor.lex(_SET):
        short, sign, name = found.groups()
        chars = _SETS[short.lower()] if short else _property(name)
        if chars is None:
            raise cursor.refuse(f"{name!r} is no general category: write its ranges", start)
        return ~chars if (short or sign).isupper() else chars
    if found := cursor.lex(_POINT):
        lead, trail, *hexes, letter, control, itself = found.groups()
        if lead:
            return 0x10000 + (int(lead, 16) - 0xD800 << 10) + int(trail, 16) - 0xDC00
        if letter or control:
            return ord(letter) % 32 if letter else _CONTROLS[control]
        point = ord(itself) if itself else int(next(filter(None, hexes)), 16)
        if point > 0x10FFFF:
            raise cursor.refuse("no such character: the last code point is 10FFFF", start)
        return point
    sign = cursor.peek()
    if sign and sign in "123456789k":
        reason = "a back-reference has no bound in time: write out what it may repeat"
        raise cursor.refuse(reason, start)
    instead = {"A": ": write ^", "Z": ": write $", "z": ": write $"}.get(sign, "")
    if not sign.isalnum():
        instead = ": write the sign alone" if sign else ": write \\\\ for the sign"
    raise cursor.refuse(f"\\{sign} is no escape in ECMA-262{instead}", start)


# cell: member
def _member(cursor: _Cursor) -> int | Chars:
    """Read one member of a class."""
    if cursor.take("\\"):
        return 8 if cursor.take("b") else 45 if cursor.take("-") else _escape(cursor)
    cursor.at += 1
    return ord(cursor.pattern[cursor.at - 1])


# cell: to
_TO = re.compile(r"-(?=[^\]])")


# cell: class
def _class(cursor: _Cursor) -> Chars:
    """Read a class behind its bracket."""
    start = cursor.at - 1
    negated = cursor.take("^")
    ranges: list[tuple[int, int]] = []
    while not cursor.take("]"):
        at = cursor.at
        if not cursor.peek():
            raise cursor.refuse("a class that never closes: write \\[ for the sign", start)
        low = high = _member(cursor)
        if cursor.lex(_TO):
            high = _member(cursor)
            if isinstance(low, Chars) or isinstance(high, Chars):
                raise cursor.refuse("a set cannot end a range: write \\- for the sign", at)
            if high < low:
                raise cursor.refuse("a range that runs backwards: write it forwards", at)
        if isinstance(low, Chars) or isinstance(high, Chars):
            ranges += low.ranges if isinstance(low, Chars) else ()
        else:
            ranges.append((low, high))
    chars = Chars.of(*ranges)
    return ~chars if negated else chars


# cell: depth
MAX_GROUPS = 100  # groups in groups; each costs a few frames of Python's stack


# cell: read-choice
def _choice(cursor: _Cursor) -> Tree:
    """Read alternatives up to the end of the group."""
    cursor.depth += 1
    if cursor.depth > MAX_GROUPS:
        reason = f"more than {MAX_GROUPS} groups in groups: write it flatter"
        raise cursor.refuse(reason, cursor.at)
    parts = [_series(cursor)]
    while cursor.take("|"):
        parts.append(_series(cursor))
    cursor.depth -= 1
    return parts[0] if len(parts) == 1 else Choice(tuple(parts))


# cell: quantifier
_QUANTIFIER = re.compile(r"(?:([*+?])|\{([0-9]+)(?:(,)([0-9]*))?\})\??")


# cell: read-series
def _series(cursor: _Cursor) -> Tree:
    """Read one alternative: parts, each with its quantifier."""
    parts: list[Tree] = []
    while cursor.peek() not in ("", "|", ")"):
        part = _atom(cursor)
        if found := cursor.lex(_QUANTIFIER):
            part = _repeat(cursor, part, found)
        parts.append(part)
    return parts[0] if len(parts) == 1 else Series(tuple(parts))


# cell: read-repeat
def _repeat(cursor: _Cursor, part: Tree, found: "re.Match[str]") -> Repeat:
    """Put a quantifier behind a part."""
    sign, least, comma, most = found.groups()
    at = found.start()
    if isinstance(part, Edge | Look):
        raise cursor.refuse("a place cannot be repeated: remove the quantifier", at)
    if sign:
        return Repeat(part, int(sign == "+"), 1 if sign == "?" else None, at)
    if max(len(least), len(most or "")) > 9:
        raise cursor.refuse("a count of more than nine digits: leave the bound out", at)
    low = int(least)
    high = int(most) if most else None if comma else low
    if high is not None and high < low:
        raise cursor.refuse("counts in the wrong order: write the smaller one first", at)
    return Repeat(part, low, high, at)


# cell: atom
def _atom(cursor: _Cursor) -> Tree:
    """Read one part without its quantifier."""
    start, sign = cursor.at, cursor.peek()
    cursor.at += 1
    match sign:
        case "(":
            return _group(cursor)
        case "^" | "$":
            return Edge("start" if sign == "^" else "end")
        case ".":
            return _SETS["."]
        case "[":
            return _class(cursor)
        case "\\":
            if cursor.take("b") or cursor.take("B"):
                return Edge("word" if cursor.pattern[cursor.at - 1] == "b" else "inside")
            found = _escape(cursor)
            return Chars.of((found, found)) if isinstance(found, int) else found
        case "*" | "+" | "?":
            raise cursor.refuse(f"nothing to repeat: write \\{sign} for the sign", start)
        case "{" | "}" | "]":
            raise cursor.refuse(f"a lone {sign}: write \\{sign} for the sign", start)
    return Chars.of((ord(sign), ord(sign)))


# cell: group-form
_GROUP = re.compile(r"\?(?::|(<?)([=!])|<([^>]*)>)")


# cell: group
def _group(cursor: _Cursor) -> Tree:
    """Read a group behind its bracket; what it captures does not matter here."""
    start = cursor.at - 1
    found = cursor.lex(_GROUP)
    behind, look, name = found.groups() if found else (None, None, None)
    if not found and cursor.peek() == "?":
        raise cursor.refuse("no group of ECMA-262: write (?:…) or (?<name>…)", start)
    if name is not None:
        if not name.replace("$", "_").isidentifier() or name in cursor.names:
            raise cursor.refuse("a name that is none or is taken: write another", start)
        cursor.names.add(name)
    part = _choice(cursor)
    if not cursor.take(")"):
        raise cursor.refuse("a group that never closes: write \\( for the sign", start)
    if look:
        return Look(part, bool(behind), look == "!")
    return Series((part,)) if isinstance(part, Edge | Look) else part


# cell: max-chars
MAX_PATTERN = 10_000  # characters; reading and judging a pattern costs up to the square of it


# cell: parse-pattern
def parse_pattern(pattern: str) -> Tree:
    """Read an ECMA-262 regular expression with the flag u as a tree.

    Raises `UnsupportedPattern` for what is none, for back-references, for properties that are
    no general category, and beyond `MAX_GROUPS` and `MAX_PATTERN`. Source: ECMA-262, 2025,
    section 22.2.
    """
    cursor = _Cursor(pattern)
    if len(pattern) > MAX_PATTERN:
        raise cursor.refuse(f"more than {MAX_PATTERN} characters: use enum", MAX_PATTERN)
    tree = _choice(cursor)
    if cursor.peek():
        raise cursor.refuse("a ) that closes nothing: write \\) for the sign", cursor.at)
    return tree
