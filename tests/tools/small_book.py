"""A small healthy project on which gates can be tried: one chapter that has everything once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat

from tools import notebooks, run, save

ROOT = Path(__file__).resolve().parent.parent.parent
TOC = """\
format: jb-book
root: intro
parts:
  - caption: Coins
    chapters:
      - file: coins
  - caption: Reference
    chapters:
      - file: api
"""
INTRO = """\
# A small book

Two euros are 200 cents, as {ref}`the chapter counts <coins:counted>`.
"""
FIGURE = {
    "mystnb": {
        "figure": {"name": "fig-coins", "caption": "How many cents is each coin worth?"},
        "image": {"alt": "Three bars; the last is as high as the others together."},
    }
}
# A picture in both forms, without waiting for matplotlib in each of many kernels.
DRAWING = """\
from IPython.display import display

svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><circle r="4"/></svg>'
png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB4iG8MwAAAABJRU5ErkJggg=="
display({"image/svg+xml": svg, "image/png": png}, raw=True)\
"""
DIAGRAM = """\
```{mermaid}
:name: dia-coins
:caption: Who counts?
:alt: One arrow from the purse to the sum.
flowchart LR
  purse --> sum
```
"""
# kind, id, metadata, source
CELLS: list[tuple[str, str, dict[str, Any], str]] = [
    (
        "md",
        "title",
        {},
        "# Coins\n\nFrom [the first page](intro.md). See {ref}`below <coins:counted>`.",
    ),
    ("code", "module", {}, '#@save\n"""Count coins; knows no banknotes."""'),
    (
        "code",
        "count",
        {},
        '#@save\ndef count(coins: list[int]) -> int:\n    """Return the sum of some coins in cents."""\n    return sum(coins)',
    ),
    ("code", "counted", {}, 'print(count([100, 50, 50]), "cents in all")'),
    (
        "md",
        "says",
        {},
        'The purse holds 200 cents, or "cents in all". A word instead of a coin is a `TypeError`.',
    ),
    ("code", "refused", {"tags": ["raises-exception"]}, "len(count)"),
    ("code", "silent", {}, "total = count([1, 2])"),
    ("code", "fig-coins", FIGURE, DRAWING),
    ("md", "diagram", {}, DIAGRAM),
]


def notebook(cells: list[tuple[str, str, dict[str, Any], str]]) -> Any:
    """Return a notebook that was not run yet."""
    made = []
    for kind, name, metadata, source in cells:
        new = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
        made.append(new(source, id=name, metadata=metadata))
    return nbformat.v4.new_notebook(cells=made)


def read(path: Path) -> list[Any]:
    """Return the cells of a notebook."""
    return list(notebooks.read(path).cells)


def make(root: Path) -> None:
    """Write the project into a folder, run its chapter and save its package."""
    book = root / "book"
    book.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, root / name)
    for name in ("_config.yml", "references.bib"):
        shutil.copy(ROOT / "book" / name, book / name)
    for name in ("_ext", "_static"):
        shutil.copytree(ROOT / "book" / name, book / name)
    (book / "_toc.yml").write_text(TOC, "utf-8")
    (book / "intro.md").write_text(INTRO, "utf-8")
    (root / "Makefile").write_text("test:\n\t@echo tested\n", "utf-8")
    (root / "src/apisurface").mkdir(parents=True)
    (root / "src/apisurface/py.typed").touch()
    chapter = notebook(CELLS)
    notebooks.write(book / "coins.ipynb", run.execute(chapter, book, root / "src"))
    assert save.main(["--root", str(root)]) == 0


def edit(root: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the cells of the chapter, by id, and write it in canonical form."""
    path = root / "book/coins.ipynb"
    chapter = notebooks.read(path)
    change({cell.id: cell for cell in chapter.cells})
    notebooks.write(path, chapter)
