"""Format the code cells of all notebooks: `python -m tools.style [--check]`.

ruff formats notebooks too, but would turn the mark #@save into a plain comment; here the mark
is put aside while ruff looks.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat

from tools import notebooks
from tools.notebooks import ROOT
from tools.report import Finding, arguments, finish
from tools.saving.cells import MARK

ASIDE = "#:save"  # a comment that starts with #: is left as it is


def formatted(notebook: notebooks.Notebook) -> notebooks.Notebook:
    """Return the notebook as ruff would have it, marks untouched."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.source.startswith(MARK):
            cell.source = ASIDE + cell.source.removeprefix(MARK)
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", "book/x.ipynb", "-"]
    text = notebooks.canonical(notebook)
    run = subprocess.run(
        command, input=text, stdout=subprocess.PIPE, check=True, text=True, cwd=ROOT
    )
    result = nbformat.reads(run.stdout, as_version=4)
    for cell in result.cells:
        if cell.cell_type == "code" and cell.source.startswith(ASIDE):
            cell.source = MARK + cell.source.removeprefix(ASIDE)
    return result


def check(root: Path, *, write: bool) -> Iterator[Finding]:
    """Yield the cells that are not formatted; with `write`, format them instead."""
    for path in sorted((root / "book").glob("*.ipynb")):
        old, new = notebooks.read(path), formatted(notebooks.read(path))
        if write and notebooks.write(path, new):
            print(f"formatted book/{path.name}")
        for before, after in zip(old.cells, new.cells, strict=True):
            if before.source != after.source and not write:
                yield Finding(f"book/{path.name} [{before.id}]", "not formatted", "make format")


def main(argv: list[str] | None = None) -> int:
    """Check or format the notebooks of the book named on the command line."""
    parser = arguments(__doc__)
    parser.add_argument(
        "--check", action="store_true", help="change nothing, say what would be"
    )
    options = parser.parse_args(argv)
    found = check(options.root, write=not options.check)
    return finish("style", found, "every code cell is formatted")


if __name__ == "__main__":
    sys.exit(main())
