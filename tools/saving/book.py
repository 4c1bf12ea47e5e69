"""Gather what every chapter saves, and refuse what its module could not mean the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools import notebooks
from tools.saving import imports, rules
from tools.saving.cells import Cell, Chapter, Refusal, load
from tools.saving.resolve import Module, resolve
from tools.saving.rules import Saved
from tools.saving.scopes import names_of


@dataclass
class Book:
    """All modules in the order of the table of contents, and everything refused."""

    root: Path
    chapters: list[Chapter]
    modules: list[Module]
    refusals: list[Refusal]


def read(root: Path) -> Book:
    """Read every notebook of the book and gather what is saved."""
    chapters = [load(file, root) for file in notebooks.chapters(root)]
    refusals = [refusal for chapter in chapters for refusal in chapter.refusals]
    modules = []
    for chapter in chapters:
        if chapter.saves:
            module, problems = _gather(chapter)
            modules.append(module)
            refusals += problems
    refusals += _outside(root, chapters)
    refusals += _between(modules)
    known = imports.installable(root)
    order = [chapter.stem for chapter in chapters]
    saved = {module.stem: set(module.names) for module in modules}
    for chapter in chapters:
        refusals += imports.arrows(chapter, order, saved)
    for module in modules:
        refusals += resolve(module, known)
    return Book(root, chapters, modules, sorted(set(refusals)))


def _gather(chapter: Chapter) -> tuple[Module, list[Refusal]]:
    """Find a chapter's docstring and definitions."""
    module = Module(chapter)
    marked = [(index, cell) for index, cell in enumerate(chapter.cells) if cell.saved]
    refusals = _docstring(module, marked[0][1])
    if module.docstring:
        marked = marked[1:]
    lazy = imports.lazy_from(chapter)
    late = [index for index, _ in marked if lazy is not None and index >= lazy]
    module.lazy = bool(late) and len(late) == len(marked)
    if lazy is not None and late and not module.lazy:
        what = "from __future__ import annotations comes after a saved definition"
        refusals.append(chapter.cells[lazy].refuse(1, what, "move it to the first code cell"))
    for index, cell in marked:
        if cell.broken:
            continue
        names = names_of(cell.tree, lazy_annotations=index in late)
        saved, problems = rules.definition(cell, names)
        refusals += problems
        if saved is None and not problems:
            module.needed |= rules.handed_on(cell)
        if saved is not None and saved.name in module.names:
            other = module.names[saved.name].cell.id
            what = f"{saved.name} is saved a second time (first in cell {other})"
            refusals.append(cell.refuse(1, what, "save one; give the rungs other names"))
        elif saved is not None:
            module.saved.append(saved)
    return module, refusals


def _docstring(module: Module, cell: Cell) -> list[Refusal]:
    """Take the module's docstring from the first marked cell."""
    node = rules.docstring(cell)
    if node is None:
        what = "the chapter's first marked cell is not its module's docstring"
        remedy = "put a marked cell with only a string before it"
        return [] if cell.broken else [cell.refuse(1, what, remedy)]
    module.docstring = rules.source(cell).removesuffix(";\n").rstrip() + "\n"
    module.title = ast.literal_eval(node.value).strip().partition("\n")[0].strip()
    return []


def _outside(root: Path, chapters: list[Chapter]) -> Iterator[Refusal]:
    """Refuse marked cells in notebooks that no table of contents names, and odd names."""
    known = {chapter.file for chapter in chapters}
    for file in sorted((root / "book").glob("*.ipynb")):
        if file not in known and not file.name.startswith("_"):
            chapter = load(file, root)
            for cell in chapter.cells:
                if cell.saved:
                    what = "a marked cell in a notebook that book/_toc.yml does not name"
                    yield cell.refuse(1, what, "add the chapter, or take the mark off")
                    break
    for chapter in chapters:
        plain = chapter.stem.isidentifier() and not chapter.stem.startswith("_")
        if chapter.saves and not (plain and chapter.file.parent == root / "book"):
            what = "saves cells, but cannot be a module's name"
            remedy = "name it like a module, directly in book/"
            yield Refusal(chapter.path, "", 0, what, remedy)


def _between(modules: list[Module]) -> Iterator[Refusal]:
    """Refuse a public name of two chapters, or one that hides another chapter's module."""
    owner: dict[str, Saved] = {}
    stems = {module.stem for module in modules}
    for module in modules:
        for saved in module.saved:
            if not saved.public:
                continue
            if saved.name in stems - {module.stem}:
                what = f"{saved.name} is also the name of a chapter's module"
                yield saved.cell.refuse(1, what, "choose another name")
            if saved.name in owner:
                other = owner[saved.name].cell
                what = f"{saved.name} is already saved by {other.path}, cell {other.id}"
                home = f"{imports.PACKAGE}.{Path(other.path).stem}"
                remedy = f"import it from {home}, or choose another name"
                yield saved.cell.refuse(1, what, remedy)
            owner.setdefault(saved.name, saved)
