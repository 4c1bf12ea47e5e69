"""Gather what every chapter saves, and refuse what its module could not mean the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools import notebooks
from tools.saving import imports, rules
from tools.saving.cells import Chapter, Refusal, load
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
    order = [chapter.stem for chapter in chapters]
    saved = {module.stem: set(module.names) for module in modules}
    for chapter in chapters:
        refusals += imports.arrows(chapter, order, saved)
    for module in modules:
        refusals += resolve(module)
    return Book(root, chapters, modules, sorted(set(refusals)))


def _gather(chapter: Chapter) -> tuple[Module, list[Refusal]]:
    """Find a chapter's docstring and definitions."""
    module = Module(chapter)
    refusals: list[Refusal] = []
    lazy = imports.lazy_from(chapter)
    first = True
    for index, cell in enumerate(chapter.cells):
        if not cell.saved:
            continue
        doc = rules.docstring(cell) if first else None
        if first:
            module.doc_cell = cell
            if doc is not None:
                module.docstring = rules.text(cell).removesuffix(";\n").rstrip() + "\n"
                module.title = ast.literal_eval(doc.value).strip().partition("\n")[0].strip()
            else:
                what = "the chapter's first marked cell is not its module's docstring"
                remedy = "put a marked cell with only a string before it"
                refusals.append(cell.refuse(1, what, remedy))
            if lazy is not None and lazy <= index + 1:
                module.lazy = True
        first = False
        if doc is not None:
            continue
        if lazy is not None and index >= lazy and not module.lazy:
            module.lazy = not module.saved
            if not module.lazy:
                what = "from __future__ import annotations comes after a saved definition"
                refusals.append(cell.refuse(1, what, "move it to the first code cell"))
                module.lazy = True
        names = names_of(cell.tree, lazy_annotations=lazy is not None and index >= lazy)
        saved, problems = rules.definition(cell, names)
        refusals += problems
        if saved is None:
            continue
        if saved.name in module.names:
            other = module.names[saved.name].cell.id
            what = f"{saved.name} is saved a second time (first in cell {other})"
            refusals.append(cell.refuse(1, what, "save one; give the rungs other names"))
            continue
        module.saved.append(saved)
    return module, refusals


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
