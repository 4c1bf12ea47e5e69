"""Lay out what was gathered as the text of each module and of the package's front page."""

from __future__ import annotations

import tomllib
from pathlib import Path

from tools.saving.book import Book
from tools.saving.imports import PACKAGE, Import, kind, natural, render
from tools.saving.resolve import Module
from tools.saving.rules import source

HEAD = "# Generated from {}: edit it there, then run `make save`.\n"
SUMMARY = "The boundary between an application and a language model."


def module(found: Module) -> str:
    """Return the text of one chapter's module."""
    text = HEAD.format(found.chapter.path) + found.docstring
    block = render(found.needed, future=found.lazy)
    text += f"\n{block}\n" if block else ""
    guarded = any(item.typing_only for item in found.needed)
    for number, saved in enumerate(found.saved):
        # Between its imports and a constant ruff wants one blank line; two stand elsewhere.
        close = not number and saved.kind == "constant" and not guarded
        text += ("\n" if close else "\n\n") + f"# cell: {saved.cell.id}\n{source(saved.cell)}"
    return text


def front(book: Book) -> str:
    """Return the package's `__init__.py`: the public names and nothing else."""
    public = [(found.stem, s.name) for found in book.modules for s in found.saved if s.public]
    items = [Import(f"{PACKAGE}.{stem}", name) for stem, name in public]
    names = sorted((name for _, name in public), key=lambda n: (kind(n), natural(n), n))
    page = HEAD.format("the chapters in book/") + f'"""{SUMMARY}"""\n'
    page += f"\n{render(items)}\n" if items else ""
    listed = "".join(f'    "{name}",\n' for name in names)
    page += f"\n__all__ = [\n{listed}]\n" if names else "\n__all__: list[str] = []\n"
    return page + f'__version__ = "{version(book.root)}"\n'


def version(root: Path) -> str:
    """Return the version that pyproject.toml states."""
    data = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return str(data["project"]["version"])
