"""Read a chapter's code cells: which are marked, what they say as Python, what is amiss."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

from tools import notebooks

MARK = "#@save"
PYTHON = (3, 11)  # the oldest Python that the package promises
_ALMOST = re.compile(r"^#[#\s]*@\s*sav|#\s*@\s*save?\s*$", re.IGNORECASE)
_TIMES = re.compile(r"^(\s*)%(?:time|prun)\s+(?=\w)", re.MULTILINE)
_RUNS_PYTHON = re.compile(r"^%%(?:time|timeit|capture|prun)\b")


@dataclass(frozen=True, order=True)
class Refusal:
    """What cannot be saved faithfully, where it stands, and what to do about it."""

    path: str
    cell: str
    line: int
    what: str
    remedy: str

    def __str__(self) -> str:
        cell = f", cell {self.cell}" if self.cell else ""
        line = f", line {self.line}" if self.line else ""
        return f"{self.path}{cell}{line}: {self.what}; {self.remedy}"


@dataclass(frozen=True)
class Cell:
    """One code cell; `source` is what Python compiles, with plain newlines."""

    path: str
    id: str
    source: str
    tree: ast.Module
    saved: bool = False
    outputs: tuple[str, ...] = ()
    broken: bool = False

    def refuse(self, line: int, what: str, remedy: str) -> Refusal:
        """Return a refusal that points into this cell."""
        return Refusal(self.path, self.id, line, what, remedy)


@dataclass
class Chapter:
    """One notebook of the table of contents, its code cells in order."""

    stem: str
    path: str
    file: Path
    cells: list[Cell] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    text: str = ""  # the notebook in canonical bytes

    @property
    def saves(self) -> bool:
        """Whether any cell carries the mark."""
        return any(cell.saved for cell in self.cells)


def load(file: Path, root: Path) -> Chapter:
    """Read one notebook; what cannot be read is refused, not raised."""
    chapter = Chapter(file.stem, file.relative_to(root).as_posix(), file)

    def refuse(cell: str, line: int, what: str, remedy: str) -> None:
        chapter.refusals.append(Refusal(chapter.path, cell, line, what, remedy))

    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
        cells = [dict(cell) for cell in raw["cells"]]
    except (ValueError, KeyError, TypeError) as error:
        refuse("", 0, f"is no notebook of format 4 ({error})", "restore it")
        return chapter
    seen: set[str] = set()
    for number, cell in enumerate(cells, 1):
        name = str(cell.get("id", ""))
        if not name:
            refuse(f"number {number}", 0, "has no id", "give it a fixed, readable id")
        elif name in seen:
            refuse(name, 0, "its id stands twice in the notebook", "rename one of the two")
        seen.add(name)
        _take(chapter, name or f"number {number}", cell)
    if not chapter.refusals:
        try:
            chapter.text = notebooks.canonical(notebooks.read(file))
            chapter.text.encode("utf-8")  # half a surrogate pair cannot be written
        except Exception as error:  # nbformat raises what its schema checker raises
            reason = str(error).partition("\n")[0]
            refuse("", 0, f"is not a valid notebook ({reason})", "restore it")
    return chapter


def _take(chapter: Chapter, name: str, raw: dict[str, Any]) -> None:
    """Append one raw cell to the chapter when it is code."""
    text = raw.get("source", "")
    text = text if isinstance(text, str) else "".join(text)
    # Python's own reader treats all three line ends alike, inside strings too.
    source = text.replace("\r\n", "\n").replace("\r", "\n")
    first, _, _ = source.partition("\n")
    marked = first.rstrip() == MARK
    blank = Cell(chapter.path, name, source, ast.Module([], []), marked)
    if raw.get("cell_type") != "code":
        if marked:
            what = "the mark stands in a cell that is not code"
            chapter.refusals.append(blank.refuse(1, what, "make it a code cell"))
        return
    outputs = tuple(str(output.get("output_type")) for output in raw.get("outputs", []))
    cell, refusals = _parse(blank, outputs)
    chapter.cells.append(cell)
    chapter.refusals.extend(refusals)


def _parse(cell: Cell, outputs: tuple[str, ...]) -> tuple[Cell, list[Refusal]]:
    """Give the cell its tree, or say why it has none."""
    broken = replace(cell, broken=True)
    source, path, name = cell.source, cell.path, cell.id
    if cell.saved:
        try:
            source.encode("utf-8")
            with warnings.catch_warnings(action="ignore"):
                tree = ast.parse(source, feature_version=PYTHON)
                compile(source, path, "exec", dont_inherit=True)  # `await` at top level …
        except (SyntaxError, ValueError) as error:
            what, line = _trouble(source, error)
            return broken, [cell.refuse(line, what, "save plain Python 3.11 only")]
        if TransformerManager().transform_cell(source).rstrip("\n") != source.rstrip("\n"):
            what = "IPython reads this cell differently from Python"
            return broken, [cell.refuse(1, what, "save plain Python only")]
    else:
        source = _as_python(source)
        tree = _tree(source) or ast.Module([], [])  # a cell that cannot run binds nothing
    found = Cell(path, name, source, tree, cell.saved, outputs)
    return found, [_misplaced(found, *mark) for mark in _marks(source, cell.saved)]


def _as_python(source: str) -> str:
    """Translate magics as IPython would; look inside the cell magics that run Python."""
    if _RUNS_PYTHON.match(source):
        return "\n" + _as_python(source.partition("\n")[2])
    if _tree(source) is not None:
        return source
    source = _TIMES.sub(r"\1", source)
    try:
        return str(TransformerManager().transform_cell(source))
    except (SyntaxError, ValueError):
        return source


def _tree(source: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(source)
    except (SyntaxError, ValueError):
        return None


def _trouble(source: str, error: Exception) -> tuple[str, int]:
    """Say what keeps a marked cell from being Python, and on which line."""
    for number, line in enumerate(source.split("\n"), 1):
        if re.match(r"\s*(%|!)", line) or re.search(r"^[\w.]+\?{1,2}\s*$", line):
            return f"an IPython command ({line.strip()[:40]})", number
    line_number = getattr(error, "lineno", None) or 1
    return f"is not valid Python ({getattr(error, 'msg', error)})", line_number


def _marks(source: str, saved: bool) -> list[tuple[int, str]]:
    """Return each comment that looks like a mark but does not work as one."""
    found: list[tuple[int, str]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                found.append((token.start[0], token.string))
    except (tokenize.TokenError, SyntaxError):
        lines = enumerate(source.split("\n"), 1)
        found = [(number, line[line.index("#") :]) for number, line in lines if "#" in line]
    return [
        (line, text)
        for line, text in found
        if not (line == 1 and saved)
        and (_ALMOST.search(text) or (line == 1 and re.match(r"#\s*save\s*$", text)))
    ]


def _misplaced(cell: Cell, line: int, text: str) -> Refusal:
    if text.strip() == MARK:
        what = f"{MARK} works only as the whole first line of a cell"
        return cell.refuse(line, what, "move it there, or delete it")
    return cell.refuse(line, f"{text.strip()!r} is not a mark", f"write {MARK}, or reword it")
