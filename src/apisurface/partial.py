# Generated from book/partial.ipynb: edit it there, then run `make save`.
"""The partial view: what has arrived of a response, of types that cannot be dispatched.

`partial_json` shows what can be seen of arguments whose end is missing. Not here: any way from
a view to an action. A view may change with the next byte, and a closed brace may be ours.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from apisurface.parsing import MAX_DEPTH

# cell: piece
_PIECE = re.compile(
    r'([{\[])|([}\]])|([:,])|("(?:[^"\\]++|\\.)*+(?:(")|\\?\Z))|([^\s{}\[\]:,"]++)', re.DOTALL
)


# cell: whole-word
_WORD = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


# cell: half-string
_HALF = re.compile(
    r'"(?:[^"\\]++|\\[^u]|\\u(?![dD][89abAB])[0-9a-fA-F]{4}'
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+",
    re.DOTALL,
)


# cell: partial-json
def partial_json(text: str) -> Any:
    """Return what can be seen of a JSON value whose end is missing; None when nothing can.

    Open strings are shown as far as they go, never ending inside an escape; a key without a
    value and an unfinished word are left out. What is shown may still change: a number may grow
    digits. So this is for showing, never for acting. Takes time linear in the text.
    """
    stack: list[str] = []
    wanted, end, half = "value", 0, ""
    for piece in _PIECE.finditer(text):
        opened, closed, sign, string, whole, word = piece.groups()
        after = "comma" if stack else "nothing"
        if opened and wanted in ("value", "item") and len(stack) < MAX_DEPTH:
            stack.append("}" if opened == "{" else "]")
            wanted = "first" if opened == "{" else "item"
        elif closed and wanted in ("first", "item", "comma") and stack[-1:] == [closed]:
            stack.pop()
            wanted = "comma" if stack else "nothing"
        elif sign and wanted == {":": "colon", ",": "comma"}[sign]:
            wanted = "key" if sign == "," and stack[-1] == "}" else "value"
            continue
        elif string and wanted in ("key", "first"):
            wanted = "colon"
            continue
        elif string and wanted in ("value", "item"):
            if not whole and (found := _HALF.match(string)):
                half = text[end : piece.start()] + found[0] + '"'
                break
            wanted = after
        elif word and wanted in ("value", "item") and _WORD.fullmatch(word):
            wanted = after
        elif word and wanted in ("value", "item") and piece.end() == len(text):
            break
        else:
            return None
        end = piece.end()
    try:
        return json.loads(text[:end] + half + "".join(reversed(stack)), strict=False)
    except (ValueError, RecursionError):
        return None


# cell: partial-call
@dataclass(frozen=True, slots=True)
class PartialCall:
    """A call as far as it has arrived, to be shown or logged: no type that can be dispatched.

    `text` is the raw argument text so far, which only ever grows; `closed` says that it is all.
    """

    id: str | None
    name: str | None
    text: str
    closed: bool

    def view(self) -> Any:
        """Return what can be seen of the arguments; it may change with each fragment."""
        return partial_json(self.text)


# cell: partial-choice
@dataclass(frozen=True, slots=True)
class PartialChoice:
    """One choice as far as it has arrived."""

    index: int
    content: str | None
    reasoning: str
    refusal: str
    calls: tuple[PartialCall, ...]
    finish_reason: str | None


# cell: stream-state
StreamState: TypeAlias = Literal[
    "collecting", "call closed", "parsed", "eligible", "incomplete"
]


# cell: partial-response
@dataclass(frozen=True, slots=True)
class PartialResponse:
    """What a stream has brought so far; `content` and `calls` are those of its first choice."""

    state: StreamState
    choices: tuple[PartialChoice, ...]
    usage: dict[str, Any]
    request_id: str | None

    @property
    def content(self) -> str | None:
        """The text so far, None when none came."""
        return self.choices[0].content if self.choices else None

    @property
    def calls(self) -> tuple[PartialCall, ...]:
        """The calls so far, in the order in which they were opened."""
        return self.choices[0].calls if self.choices else ()
