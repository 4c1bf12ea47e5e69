"""Write the API page: each public name, its signature, its first sentence, its cell."""

from __future__ import annotations

import ast
import io
import re
import tokenize

from tools.saving.book import Book
from tools.saving.bound import dotted
from tools.saving.imports import PACKAGE
from tools.saving.resolve import Module
from tools.saving.rules import Saved, source

INTRO = """\
<!-- Generated from the chapters in book/: edit them there, then run `make save`. -->
# The package, name by name

Everything here is saved from a cell of a chapter, and each name links to that cell.
All of it can be imported from `apisurface` itself or from the module that owns it.
"""


def page(book: Book) -> str:
    """Return the whole page."""
    parts = [INTRO]
    for module in book.modules:
        public = [saved for saved in module.saved if saved.public]
        if public:
            parts.append(_section(module))
            parts += [_entry(module, saved) for saved in public]
    return "\n".join(parts)


def _section(module: Module) -> str:
    title = prose(module.title.rstrip("."))
    stem = module.stem
    return f"## {title}\n\n`{PACKAGE}.{stem}`, from [its chapter]({stem}.ipynb).\n"


def _entry(module: Module, saved: Saved) -> str:
    entry = f"### `{saved.name}`\n\n```python\n{signature(saved)}\n```\n\n"
    sentence = prose(summary(saved))
    link = f"{{ref}}`Where it is built <{module.stem}:{saved.cell.id}>`."
    return entry + (f"{sentence} {link}\n" if sentence else f"{link}\n")


def summary(saved: Saved) -> str:
    """Return the first sentence of a docstring; of the comment above, for a constant."""
    node = saved.nodes[-1]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        lines = []
        for line in source(saved.cell).split("\n"):
            if not line.startswith("#"):
                break
            lines.append(line.lstrip("# "))
        words = " ".join(lines)
    else:
        words = ast.get_docstring(node) or ""
    paragraph = " ".join(words.strip().split("\n\n")[0].split())
    match = re.match(r".*?[.!?](?=\s+[^a-z]|$)", paragraph)
    return match.group(0) if match else paragraph


def prose(words: str) -> str:
    """Escape what Markdown would read as markup, outside `code`."""
    pieces = re.split(r"(`+[^`]+`+)", words)
    pieces[::2] = [re.sub(r"([\\*_<>$\[\]{}])", r"\\\1", piece) for piece in pieces[::2]]
    return "".join(pieces)


def signature(saved: Saved) -> str:
    """Return what a caller needs to see, in the words of the source."""
    node = saved.nodes[-1]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        text = _source(saved, node)
        lines = text.split("\n")
        return text if len(lines) <= 6 else "\n".join([*lines[:5], "    # more", lines[-1]])
    if isinstance(node, ast.ClassDef):
        marks = [f"@{_source(saved, one)}" for one in node.decorator_list]
        return "\n".join([*marks, _head(saved, node), *_members(saved, node)])
    return "\n".join(_head(saved, one) for one in saved.nodes)


def _members(saved: Saved, node: ast.ClassDef) -> list[str]:
    lines = []
    for inner in node.body:
        if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Name):
            if not inner.target.id.startswith("_"):
                lines.append("    " + _source(saved, inner))
        elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and (
            inner.name in {"__init__", "__call__"} or not inner.name.startswith("_")
        ):
            lines += [f"    @{d}" for d in map(dotted, inner.decorator_list) if d]
            lines.append("    " + _head(saved, inner))
    return lines


def _source(saved: Saved, node: ast.AST) -> str:
    return ast.get_source_segment(saved.cell.source, node) or ""


def _head(saved: Saved, node: ast.stmt) -> str:
    """Return a definition's source up to the colon that opens its body."""
    lines = saved.cell.source.split("\n")[node.lineno - 1 :]
    depth, start = 0, node.col_offset
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
        depth += (token.string in "([{") - (token.string in ")]}") if token.string else 0
        if token.type == tokenize.OP and token.string == ":" and not depth:
            row, column = token.start
            return "\n".join([*lines[: row - 1], lines[row - 1][:column]])[start:]
    return ""
