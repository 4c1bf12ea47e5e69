"""Lay out what was gathered as the text of each module and of the package's front page."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

from tools.saving.book import Book
from tools.saving.imports import PACKAGE, Import, is_typing_block, kind, natural, render
from tools.saving.resolve import Module
from tools.saving.rules import Saved

HEAD = "# Generated from {}: edit it there, then run `make save`.\n"
SUMMARY = "The boundary between an application and a language model."


def body(saved: Saved) -> str:
    """Return a marked cell's text without the mark and without the imports that move up."""
    lines: list[str | None] = list(saved.cell.source.split("\n"))
    lines[0] = None
    for node in saved.cell.tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) or is_typing_block(node):
            for number in range(node.lineno - 1, node.end_lineno or node.lineno):
                lines[number] = None
    kept = [line for line in lines if line is not None]
    while kept and not kept[0].strip():
        kept.pop(0)
    while kept and not kept[-1].strip():
        kept.pop()
    return "\n".join(kept) + "\n"


def module(found: Module) -> str:
    """Return the text of one chapter's module."""
    head = HEAD.format(found.chapter.path) + (found.docstring or '""""""') + "\n"
    block = render(found.needed, future=found.lazy)
    parts = [head + (f"\n{block}\n" if block else "")]
    parts += [f"# cell: {saved.cell.id}\n{body(saved)}" for saved in found.saved]
    return "\n\n".join(parts)


def front(book: Book) -> str:
    """Return the package's `__init__.py`: the public names and nothing else."""
    public = [(found.stem, s.name) for found in book.modules for s in found.saved if s.public]
    items = [Import(f"{PACKAGE}.{stem}", name) for stem, name in public]
    names = sorted((name for _, name in public), key=lambda n: (kind(n), natural(n), n))
    text = HEAD.format("the chapters in book/") + f'"""{SUMMARY}"""\n'
    text += f"\n{render(items)}\n" if items else ""
    listed = "".join(f'    "{name}",\n' for name in names)
    text += f"\n__all__ = [\n{listed}]\n" if names else "\n__all__: list[str] = []\n"
    return text + f'__version__ = "{version(book.root)}"\n'


def version(root: Path) -> str:
    """Return the version that pyproject.toml states."""
    data = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return str(data["project"]["version"])
