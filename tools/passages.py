"""Cut MyST Markdown into passages: what a reader reads as one paragraph, row or item.

A passage keeps its text with code, math and addresses blanked out (a claim is prose, not
code), the code spans, whether a source is named in it, and the cells it refers to. What
directives hold is parsed as well, unless it is code or math; their titles, captions and text
alternatives are passages of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

BLANK = "\ufffc"
CITES = {"cite", "cite:p", "cite:t", "cite:ps", "cite:ts", "footcite"}
SPOKEN = {"ref", "term", "doc", "any", "abbr", "sub", "sup", "download", "index"}
LITERAL = re.compile(
    r"auto\w+|bibliography|code(-\w+)?|contents|currentmodule|eval-rst|glue|include"
    r"|literalinclude|math|mermaid|raw|tableofcontents|toctree"
)
UNTITLED = re.compile(rf"{LITERAL.pattern}|figure|image|glossary|grid")
DIRECTIVE = re.compile(r"\{([\w:-]+)\}\s*(.*)")
OPTION = re.compile(r":([\w-]+):\s*(.*)")
TARGET = re.compile(r"(.*?)\s*<([^<>]+)>\s*$", re.S)
DATE = re.compile(r"\b20\d\d-[01]\d-[0-3]\d\b")
EXTENSIONS = {"amsmath", "attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"}
# A bare address is no link in the book, but its digits are no numbers either.
PARSER = create_md_parser(
    MdParserConfig(enable_extensions=EXTENSIONS | {"linkify"}, linkify_fuzzy_links=False),
    RendererHTML,
)


@dataclass
class Passage:
    """One paragraph, heading, list item, table row, title, caption or text alternative."""

    line: int
    text: str = ""
    shown: str = ""
    spans: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    heading: bool = False
    cited: bool = False
    linked: bool = False

    def say(self, text: str) -> None:
        """Add words of prose."""
        self.text += text
        self.shown += text

    def hide(self, text: str) -> None:
        """Add something to look at that claims nothing in prose."""
        self.text += BLANK * len(text)
        self.shown += text

    @property
    def sourced(self) -> bool:
        """A citation, or a link to elsewhere with the date on which it was read."""
        return self.cited or (self.linked and DATE.search(self.text) is not None)

    def sentence(self, start: int, end: int) -> str:
        """Return the sentence around a stretch of the text."""
        left = max((m.end() for m in re.finditer(r"[.!?]\s", self.text[:start])), default=0)
        stop = re.search(r"[.!?](\s|$)", self.text[end:])
        right = end + stop.end() if stop else len(self.text)
        return " ".join(self.shown[left:right].split())


def passages(markdown: str, first_line: int = 1) -> Iterator[Passage]:
    """Yield every passage of a text, in order of its first line."""
    open_units: list[tuple[str, Passage]] = []
    heading = False
    for token in PARSER.parse(markdown):
        line = first_line + (token.map[0] if token.map else 0)
        if token.type in ("tr_open", "list_item_open"):
            open_units.append((token.type.replace("open", "close"), Passage(line)))
        elif open_units and token.type == open_units[-1][0]:
            yield open_units.pop()[1]
        elif token.type == "inline":
            if open_units:
                read_inline(open_units[-1][1], token.children or [])
                open_units[-1][1].say(" ")
            else:
                passage = Passage(line, heading=heading)
                read_inline(passage, token.children or [])
                yield passage
        elif token.type in ("fence", "colon_fence"):
            yield from read_directive(token.info, token.content, line + 1)
        elif token.type == "html_block":
            yield from passages_of_html(token.content, line)
        heading = token.type == "heading_open"


def passages_of_html(html: str, line: int) -> Iterator[Passage]:
    """Yield the words of raw HTML, comments and tags left out."""
    passage = Passage(line)
    passage.say(re.sub(r"<!--.*?-->|<[^>]*>", " ", html, flags=re.S))
    yield passage


def read_directive(info: str, content: str, line: int) -> Iterator[Passage]:
    """Yield the title, caption, text alternative and body of a directive; nothing of code."""
    match = DIRECTIVE.match(info.strip())
    if match is None:
        return
    name, title = match.groups()
    if title and not UNTITLED.fullmatch(name):
        yield from passages(title, line - 1)
    body = content.split("\n")
    while body and (option := OPTION.match(body[0])):
        if option[1] in ("alt", "caption"):
            yield from passages(option[2], line)
        body, line = body[1:], line + 1
    if not LITERAL.fullmatch(name):
        yield from passages("\n".join(body), line)


def read_inline(passage: Passage, tokens: list[Token]) -> None:
    """Add the parts of one inline run to a passage."""
    for number, token in enumerate(tokens):
        if token.type == "text":
            after_auto_link = number and tokens[number - 1].info == "auto"
            (passage.hide if after_auto_link else passage.say)(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            passage.say(" ")
        elif token.type == "code_inline":
            passage.spans.append(token.content)
            passage.hide(f"`{token.content}`")
        elif token.type == "link_open":
            href = str(token.attrs.get("href", ""))
            passage.linked |= href.startswith(("http://", "https://"))
            if href.startswith("#"):
                passage.cells.append(href[1:])
        elif token.type == "image":
            passage.say(token.content)
        elif token.type == "myst_role":
            read_role(passage, token.meta["name"], token.content)
        elif token.type.startswith("math"):
            passage.hide(f"${token.content}$")


def read_role(passage: Passage, name: str, content: str) -> None:
    """Add what a role shows, and note what it cites or refers to."""
    if name in CITES:
        passage.cited = True
    elif name in SPOKEN:
        match = TARGET.match(content)
        words, target = match.groups() if match else ("", content)
        if name == "ref":
            passage.cells.append(target)
        passage.say(words if match or name == "ref" else content)
    else:
        passage.hide(content)
