"""Find what prose claims and code can prove: numbers, error names, quoted output."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

from tools.evidence import Evidence
from tools.passages import BLANK, Passage

DIGITS = r"(?:\d{1,3}(?:[,_\u00a0\u202f]\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?"
EXACT = r"\d{4}-\d{2}(?:-\d{2})?(?![\d-])|\d+(?:\.\d+){2,}"
# A word that holds digits is a name (UTF-8, HTTP/1.1, b086); 4xx is a family, not a number.
IN_PROSE = re.compile(
    rf"(?P<name>[^\W\d][\w.+/-]*\w|\d(?:xx|XX)\b)|(?P<exact>{EXACT})"
    rf"|(?P<number>{DIGITS}|\.\d+)(?P<percent>[ \u00a0\u202f]?%)?"
)
IN_CODE = re.compile(rf"(?<![^\W\d])(?<!\d)(?:(?P<exact>{EXACT})|(?P<number>{DIGITS}|\.\d+))")
# The number of a part, figure, exercise or listed thing, and of a published standard.
NUMBERING = re.compile(
    r"(?:\b(?:parts?|figures?|figs?\.|tables?|exercises?|steps?|chapters?|sections?|equations?"
    r"|listings?|items?|RFCs?|PEPs?|ISO|IEC|STD|BCP)|§)\s*\d+(?:[.-]\d+)*"
    r"(?:\s*(?:,|and|or|to|\u2013|-)\s*\d+(?:[.-]\d+)*)*",
    re.I,
)
HEADING = re.compile(r"^\d+(?:\.\d+)*\.?\s")
UNITS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TEENS = ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
WORDS = {word: value for value, word in enumerate(TEENS, start=13)}
for _ten, _tens in zip(range(20, 100, 10), TENS, strict=True):
    WORDS[_tens] = _ten
    WORDS |= {f"{_tens}-{unit}": _ten + value for value, unit in enumerate(UNITS, start=1)}
WORD = re.compile(rf"\b(?:{'|'.join(sorted(WORDS, key=len, reverse=True))})\b", re.I)
ERROR = r"[A-Z][A-Za-z0-9]*(?:Error|Exception|Timeout)"
ERROR_LINE = re.compile(rf"(?:\w+\.)*({ERROR}): \S")
QUOTE = re.compile(r"“([^”]+)”|\"([^\"]+)\"")

Kind = Literal["number", "error name", "quotation"]


@dataclass(frozen=True)
class Claim:
    """Something in a passage that must be found in the evidence."""

    kind: Kind
    token: str
    start: int = 0
    end: int = 0


def claims(passage: Passage, errors: frozenset[str]) -> Iterator[Claim]:
    """Yield the claims of a passage; `errors` are the exceptions known by name."""
    text = NUMBERING.sub(blank, passage.text)
    if passage.heading:
        text = HEADING.sub(blank, text)
    for match in IN_PROSE.finditer(text):
        if match["exact"] or match["number"]:
            yield Claim("number", match[0], *match.span())
    for match in WORD.finditer(text):
        yield Claim("number", match[0], *match.span())
    names = re.compile(
        "|".join([rf"\b{ERROR}\b", *(rf"\b{name}\b" for name in sorted(errors))])
    )
    for match in names.finditer(text):
        yield Claim("error name", match[0], *match.span())
    for span in passage.spans:
        start = max(passage.shown.find(f"`{span}`"), 0)
        for name in names.findall(span):
            yield Claim("error name", name, start, start)
        if ERROR_LINE.match(span):
            yield Claim("quotation", span, start, start)
    for match in QUOTE.finditer(passage.text):
        words = match[1] or match[2]
        if BLANK not in words and " " in words.strip():
            yield Claim("quotation", words, *match.span())


def blank(match: re.Match[str]) -> str:
    """Replace a match by as many blanks."""
    return BLANK * len(match[0])


class Proof:
    """What a piece of evidence proves."""

    def __init__(self, evidence: Evidence, *, numbers_from_code: bool = True) -> None:
        self.text = f"{evidence.code}\n{evidence.outputs}"
        self.words = " ".join(self.text.split())
        numbers = self.text if numbers_from_code else evidence.outputs
        self.numbers: set[str] = set()
        for match in IN_CODE.finditer(numbers):
            self.numbers.add(value(match[0]))
            # (1,234) is a pair and 1,234 a number: either may be meant.
            self.numbers.update(value(part) for part in match[0].split(","))

    def __contains__(self, claim: Claim) -> bool:
        if claim.kind == "error name":
            return re.search(rf"\b{claim.token}\b", self.text) is not None
        if claim.kind == "quotation":
            words = " ".join(claim.token.split()).rstrip(".,;:!?…")
            # An error may be printed with or without its name and a colon before the message.
            parts = words.split(": ", 1) if ERROR_LINE.match(words) else [words]
            return words in self.words or all(part in self.words for part in parts)
        token = claim.token.lower()
        if token in WORDS:
            return str(WORDS[token]) in self.numbers
        number = value(token.rstrip("% \u00a0\u202f"))
        as_fraction = value(str(Decimal(number) / 100)) if token.endswith("%") else number
        return number in self.numbers or as_fraction in self.numbers


def value(token: str) -> str:
    """Return one spelling for all spellings of the same number; no rounding."""
    try:
        number = Decimal(re.sub(r"[,_\u00a0\u202f]", "", token))
    except InvalidOperation:
        return token
    return f"{number.normalize():f}"
