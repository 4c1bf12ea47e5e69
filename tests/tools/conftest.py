"""A small book in a temporary folder, to save from and to break."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tools import save
from tools.saving import book, layout

DOC = ("doc", '#@save\n"""A chapter."""')
Cells = list[tuple[Any, ...]]


def notebook(cells: Cells) -> dict[str, Any]:
    """Return a notebook; a cell is (id, source) or (id, source, more fields)."""
    made = []
    for name, source, *more in cells:
        cell = {"cell_type": "code", "id": name, "metadata": {}, "source": source}
        cell |= {"execution_count": None, "outputs": []} | (more[0] if more else {})
        if cell["cell_type"] != "code":
            del cell["execution_count"], cell["outputs"]
        made.append(cell)
    return {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


class MiniBook:
    """A project with nothing but chapters."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "book").mkdir(parents=True)
        (root / "src/apisurface").mkdir(parents=True)
        (root / "pyproject.toml").write_text('[project]\nname = "x"\nversion = "1.2.3"\n')
        self.stems: list[str] = []
        self.toc()

    def toc(self) -> None:
        chapters = "".join(f"      - file: {stem}\n" for stem in self.stems)
        text = "format: jb-book\nroot: intro\nparts:\n  - caption: A\n    chapters:\n"
        text = text + chapters if chapters else "format: jb-book\nroot: intro\n"
        (self.root / "book/_toc.yml").write_text(text)

    def file(self, stem: str) -> Path:
        return self.root / f"book/{stem}.ipynb"

    def add(self, stem: str, *cells: tuple[Any, ...], doc: bool = True) -> MiniBook:
        """Add a chapter at the end; its docstring cell comes first."""
        every = [DOC, *cells] if doc else list(cells)
        self.file(stem).write_text(json.dumps(notebook(every)), encoding="utf-8")
        if stem not in self.stems:
            self.stems.append(stem)
        self.toc()
        return self

    def code(self, stem: str, *sources: str) -> MiniBook:
        """Add a chapter whose cells c1, c2 … are given as indented text."""
        texts = [textwrap.dedent(source).strip("\n") for source in sources]
        return self.add(stem, *((f"c{n}", text) for n, text in enumerate(texts, 1)))

    def read(self) -> book.Book:
        return book.read(self.root)

    def refusals(self) -> list[str]:
        return [str(refusal) for refusal in self.read().refusals]

    def module(self, stem: str) -> str:
        """Return a module's text; the book must not be refused."""
        found = self.read()
        assert not found.refusals, "\n".join(map(str, found.refusals))
        return next(layout.module(m) for m in found.modules if m.stem == stem)

    def save(self, *options: str) -> int:
        return save.main([*options, "--root", str(self.root)])

    def files(self) -> dict[str, bytes]:
        """Return every file with its bytes."""
        paths = sorted(path for path in self.root.rglob("*") if path.is_file())
        return {p.relative_to(self.root).as_posix(): p.read_bytes() for p in paths}


@pytest.fixture
def mini(tmp_path: Path) -> MiniBook:
    return MiniBook(tmp_path / "project")


@pytest.fixture(scope="module")
def shared_mini(tmp_path_factory: pytest.TempPathFactory) -> MiniBook:
    """One book for a whole test module, whose chapters are written over and over."""
    return MiniBook(tmp_path_factory.mktemp("shared") / "project")
