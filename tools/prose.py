"""Hold the prose against the code and the outputs: `python -m tools.prose`.

In a chapter, a number, an error name or a quotation (two words or more in double quotes, or a
code span that reads like the last line of a traceback) must occur in the chapter's code or
outputs, comments not counted. A passage (paragraph, heading, list item, table row, caption,
text alternative) that refers to a cell, {ref}`text <stem:cell>`, may also draw on that cell. In
a page without code, numbers must occur in the outputs of the cells its passage refers to.
A passage with a {cite}, or with an outside link and a date such as (checked 2026-11-30), stands
on its source instead.

A number matches as a value, never rounded: 1,000 is 1000 and 0.50 is 0.5, but 0.52 is not
0.523; 8 % matches 8 or 0.08. Signs and units are not compared. Free are: numbers of parts,
chapters, sections, figures, tables, exercises, steps and of standards (RFC 9110), words with
digits in them (UTF-8), families (4xx), number words up to twelve, code spans (except error
names) and math.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterator
from pathlib import Path

from tools import claims, evidence, notebooks
from tools.evidence import Evidence
from tools.passages import Passage, passages
from tools.report import Finding, arguments, finish

GENERATED = {"api.md"}
REMEDY = {
    "number": "print it in a cell, cite a source ({cite}, or a link and (checked YYYY-MM-DD)), "
    "or refer to the cell that computes it: {ref}`text <stem:cell-id>`",
    "error name": "use it in a cell, refer to the cell that does, or cite where it comes from",
    "quotation": "quote an output exactly, cite the source, or do without the double quotes",
}


def known_errors(root: Path) -> frozenset[str]:
    """Return the names of the exceptions of Python and of the package."""
    names = {
        name
        for name, thing in vars(builtins).items()
        if isinstance(thing, type) and issubclass(thing, BaseException)
    }
    classes = [
        node
        for path in sorted((root / "src").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    for _ in classes:  # a base may stand in a later module: go round until nothing is new
        found = {c.name for c in classes if names & {ast.unparse(base) for base in c.bases}}
        if found <= names:
            break
        names |= found
    return frozenset(names - {"Warning", "Exception"})


def cell_passages(cell: notebooks.Notebook) -> Iterator[Passage]:
    """Yield the prose of a cell: its Markdown, or the caption and alternative of its figure."""
    if cell.cell_type == "markdown":
        yield from passages(cell.source)
    elif cell.cell_type == "code":
        mystnb = cell.metadata.get("mystnb", {})
        yield from passages(mystnb.get("figure", {}).get("caption", ""))
        yield from passages(mystnb.get("image", {}).get("alt", ""))


def check(root: Path) -> Iterator[Finding]:
    """Yield every claim that nothing proves."""
    errors = known_errors(root)
    cells: dict[str, Evidence] = {}
    chapters = sorted((root / "book").glob("*.ipynb"))
    books = {path: notebooks.read(path) for path in chapters}
    for path, book in books.items():
        for cell in book.cells:
            if cell.cell_type == "code":
                cells[f"{path.stem}:{cell.id}"] = evidence.of_cell(cell)

    def unproved(passage: Passage, own: Evidence, *, page: bool) -> Iterator[claims.Claim]:
        found = list(claims.claims(passage, errors))
        if passage.sourced or not found:
            return
        total = sum((cells[name] for name in passage.cells if name in cells), start=own)
        proof = claims.Proof(total, numbers_from_code=not page)
        yield from (claim for claim in found if claim not in proof)

    for path, book in books.items():
        own = evidence.of_notebook(book)
        for cell in book.cells:
            for passage in cell_passages(cell):
                for claim in unproved(passage, own, page=False):
                    yield finding(f"book/{path.name} [{cell.id}]", passage, claim)
    for path in sorted((root / "book").glob("*.md")):
        if path.name not in GENERATED:
            for passage in passages(path.read_text(encoding="utf-8")):
                for claim in unproved(passage, Evidence(), page=True):
                    yield finding(f"book/{path.name}", passage, claim)


def finding(where: str, passage: Passage, claim: claims.Claim) -> Finding:
    """Say which claim of which sentence is not proved."""
    sentence = passage.sentence(claim.start, claim.end)
    what = f"{claim.kind} {claim.token!r} is nowhere in the code or outputs\n    “{sentence}”"
    return Finding(f"{where}:{passage.line}", what, REMEDY[claim.kind])


def main(argv: list[str] | None = None) -> int:
    """Check the book named on the command line."""
    root = arguments(__doc__).parse_args(argv).root
    return finish("prose", check(root), "every number, error name and quotation is proved")


if __name__ == "__main__":
    sys.exit(main())
