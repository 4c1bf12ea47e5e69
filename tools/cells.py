"""What a notebook must not hold, seen without running it: `python -m tools.cells`.

Never-run cells, counts out of order, errors nobody announced, stderr, figures and diagrams
without caption or text alternative, outputs that only fit one machine or one run, cell ids that
no link can rely on, marks that switch a check off.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tools import notebooks
from tools.evidence import output_text
from tools.passages import PARSER
from tools.report import Finding, arguments, finish
from tools.saving.cells import MARK

ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
GENERATED_ID = re.compile(r"(?=.*\d)[0-9a-f]{6,}(-[0-9a-f]{4,})*")
FLEETING = {
    "a memory address": re.compile(r"\b0x[0-9a-f]{6,}\b"),
    "a path of one machine": re.compile(r"(?<![\w.])/(tmp|home|root|Users|var/folders)/"),
    "a kernel's process": re.compile(r"ipykernel_\d+"),
}
SWITCH_OFF = re.compile(r"#.*\bNBVAL_(IGNORE_OUTPUT|SKIP|RAISES)|%%capture")
SWITCH_OFF_TAGS = {"nbval-ignore-output", "nbval-skip", "skip-execution"}
HIDDEN = {"remove-cell", "hide-cell", "hide-input"}
LONGEST = 40
RUN = "run the notebook from top to bottom: make run NB={path}"


def check_notebook(path: Path) -> Iterator[Finding]:
    """Yield what is wrong with one notebook."""
    where = f"book/{path.name}"
    ids = [cell.get("id", "") for cell in json.loads(path.read_bytes())["cells"]]
    for number, name in enumerate(ids):
        if not ID.fullmatch(name) or GENERATED_ID.fullmatch(name):
            what = f"the id {name!r} of cell {number} is not a readable word"
            yield Finding(where, what, "ids are permanent labels: words joined with -")
    for name, times in Counter(ids).items():
        if times > 1:
            yield Finding(where, f"{times} cells have the id {name!r}", "rename all but one")
    run = 0
    for cell in notebooks.read(path).cells:
        place = f"{where} [{cell.id}]"
        if cell.cell_type == "markdown":
            yield from check_markdown(place, cell.source)
        elif cell.cell_type == "code":
            run += 1
            yield from check_code(place, cell)
            if cell.execution_count is None:
                remedy = RUN.format(path=where)
                yield Finding(place, "this cell was never run", remedy)
            elif cell.execution_count != run:
                what = f"run as number {cell.execution_count}, but it is code cell {run}"
                yield Finding(place, what, RUN.format(path=where))


def check_code(place: str, cell: notebooks.Notebook) -> Iterator[Finding]:
    """Yield what is wrong with one code cell and its outputs."""
    tags = set(cell.metadata.get("tags", []))
    if not cell.source.strip():
        yield Finding(place, "an empty code cell", "delete it")
    for tag in sorted(tags & SWITCH_OFF_TAGS):
        yield Finding(place, f"the tag {tag} switches a check off", "remove the tag")
    if SWITCH_OFF.search(cell.source):
        yield Finding(place, "a comment or magic switches a check off", "remove it")
    lines = cell.source.count("\n") + 1
    if lines > LONGEST and not cell.source.startswith(MARK) and not tags & HIDDEN:
        yield Finding(place, f"{lines} lines; the longest may have {LONGEST}", "split the cell")
    raised = any(output.output_type == "error" for output in cell.outputs)
    if raised and "raises-exception" not in tags:
        remedy = "mend it, or tag the cell raises-exception when the error is the lesson"
        yield Finding(place, "an error that the cell does not announce", remedy)
    if "raises-exception" in tags and not raised:
        yield Finding(place, "tagged raises-exception but raises nothing", "remove the tag")
    for output in cell.outputs:
        if output.get("name") == "stderr":
            remedy = "readers see it: mend the warning, or print to stdout what is the lesson"
            yield Finding(place, f"stderr: {output.text.strip()[:80]!r}", remedy)
        for what, pattern in FLEETING.items():
            if match := pattern.search(output_text(output)):
                remedy = "print something that is the same on each run and machine"
                yield Finding(place, f"the output holds {what}: {match[0]!r}", remedy)
        if any(kind.startswith("image/") for kind in output.get("data", {})):
            yield from check_figure(place, cell.metadata.get("mystnb", {}))


def check_figure(place: str, mystnb: notebooks.Notebook) -> Iterator[Finding]:
    """Yield what a figure lacks for a reader who sees it, and for one who does not."""
    figure, image = mystnb.get("figure", {}), mystnb.get("image", {})
    given = {"name": figure.get("name"), "caption": figure.get("caption")}
    given["text alternative"] = image.get("alt")
    for what, text in given.items():
        if not text:
            remedy = (
                "cell metadata: mystnb.figure.name, mystnb.figure.caption, mystnb.image.alt"
            )
            yield Finding(place, f"a figure without {what}", remedy)


def check_markdown(place: str, source: str) -> Iterator[Finding]:
    """Yield diagrams and pictures in Markdown that lack a text alternative."""
    for token in PARSER.parse(source):
        if token.type in ("fence", "colon_fence"):
            kind = re.match(r"\{(mermaid|figure|image)\}", token.info)
            wanted = ("alt", "caption", "name") if kind and kind[1] == "mermaid" else ("alt",)
            for option in wanted if kind else ():
                if not re.search(rf"^:{option}:[ \t]*\S", token.content, re.M):
                    yield Finding(place, f"{token.info} without :{option}:", "add the option")
        for child in token.children or []:
            if child.type == "image" and not child.content:
                yield Finding(
                    place, "a picture without text alternative", "![what it shows](…)"
                )


def check(root: Path) -> Iterator[Finding]:
    """Yield what is wrong in any notebook of the book."""
    for path in sorted((root / "book").glob("*.ipynb")):
        yield from check_notebook(path)


def main(argv: list[str] | None = None) -> int:
    """Check the book named on the command line."""
    root = arguments(__doc__).parse_args(argv).root
    return finish(
        "cells", check(root), "every cell was run in order and its outputs can be kept"
    )


if __name__ == "__main__":
    sys.exit(main())
