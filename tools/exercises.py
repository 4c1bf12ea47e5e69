"""Prove every exercise of the book: `python -m tools.exercises [NOTEBOOK …]`.

The reference is right, the stub is not tried yet, each catalogued mistake is wrong by its own
name; and a reader finds the statement, the stub and the folded solution where they belong.
The whole book is asked for its verdicts by `tools.outputs`, which runs every chapter anyway.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbclient.exceptions import CellExecutionError

from tools import notebooks
from tools.report import Finding, arguments, finish
from tools.run import execute, two_at_a_time

ROLES = {
    "rules": {"exercise", "remove-cell"},
    "stub": {"exercise-stub"},
    "solution": {"exercise-solution", "hide-cell"},
}
PROMPTS = {"code_prompt_show": "Show a solution", "code_prompt_hide": "Hide the solution"}
ID = re.compile(r"ex-(\d+)-(rules|stub|solution)")
ASK = """\
import json as _json
print(_json.dumps({{
    "told": {{
        cell: getattr(Out.get(count), "state", None) for cell, count in {cells!r}.items()
    }},
    "mistakes": {{
        number: {{
            name: [(verdict := check(exercise, mistake.answer)).state, verdict.mistake]
            for name, mistake in exercise.mistakes.items()
        }}
        for number, exercise in {{{exercises}}}.items()
    }},
}}))
"""


def role(cell: notebooks.Notebook) -> str | None:
    """Return which part of an exercise a cell is, by its tags."""
    tags = set(cell.metadata.get("tags", []))
    return next((name for name, wanted in ROLES.items() if min(wanted) in tags), None)


def numbers(notebook: notebooks.Notebook) -> list[int]:
    """Return the numbers of the exercises, in the order of their rules."""
    ids = [ID.fullmatch(cell.id) for cell in notebook.cells if role(cell) == "rules"]
    return [int(match[1]) for match in ids if match]


def check_form(path: Path, notebook: notebooks.Notebook) -> Iterator[Finding]:
    """Yield what a reader would miss, seen without running anything."""
    where = f"book/{path.name}"
    saves = any(cell.source.startswith("#@save") for cell in notebook.cells)
    if saves and not numbers(notebook):
        yield Finding(where, "a chapter without an exercise", "copy the one in the template")
    if numbers(notebook) != list(range(1, len(numbers(notebook)) + 1)):
        found = ", ".join(map(str, numbers(notebook)))
        yield Finding(where, f"exercises numbered {found}", "number them from 1 in order")
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    roles = [role(cell) for cell in code]
    for position, cell in enumerate(code):
        part, place = roles[position], f"{where} [{cell.id}]"
        if part is None:
            if ID.fullmatch(cell.id):
                yield Finding(place, "an exercise cell without its tags", "copy the template's")
            continue
        yield from check_cell(place, cell, part)
        start = position - list(ROLES).index(part)
        if start < 0 or roles[start : start + 3] != list(ROLES):
            remedy = "three code cells in this order: rules, stub, solution"
            yield Finding(place, "not in its place among the three cells", remedy)
        if part == "rules":
            before = notebook.cells[notebook.cells.index(cell) - 1]
            match = ID.fullmatch(cell.id)
            title = f"### Exercise {match[1]}: " if match else "### Exercise"
            text = (
                before.source.partition("\n")[2].strip()
                if before.cell_type == "markdown"
                else ""
            )
            if not before.source.startswith(title) or not text:
                remedy = f"a Markdown cell before it: `{title}…`, then what is asked"
                yield Finding(place, "an exercise without its statement", remedy)


def check_cell(place: str, cell: notebooks.Notebook, part: str) -> Iterator[Finding]:
    """Yield what is wrong with one of the three cells."""
    match = ID.fullmatch(cell.id)
    if not match or match[2] != part:
        yield Finding(place, "an id that does not say what it is", f"call it ex-1-{part}")
        return
    tags, mystnb = set(cell.metadata.get("tags", [])), cell.metadata.get("mystnb", {})
    if tags != ROLES[part]:
        yield Finding(place, f"tags {sorted(tags)}", f"tags {sorted(ROLES[part])}")
    if part == "rules":
        if not cell.metadata.get("jupyter", {}).get("source_hidden"):
            remedy = 'metadata {"jupyter": {"source_hidden": true}}'
            yield Finding(place, "rules that a reader in Jupyter cannot help reading", remedy)
    elif not cell.source.rstrip().split("\n")[-1].startswith(f"check(ex_{match[1]}, "):
        yield Finding(place, "no verdict", f"last line: check(ex_{match[1]}, …)")
    if part == "stub" and "..." not in cell.source:
        yield Finding(place, "a stub without `...`", "put ... where the answer goes")
    if part == "solution" and any(mystnb.get(key) != text for key, text in PROMPTS.items()):
        yield Finding(place, "a fold without its words", f"metadata {json.dumps(PROMPTS)}")


def question(notebook: notebooks.Notebook) -> notebooks.Notebook | None:
    """Return the cell that asks a notebook that has run for its verdicts; None without any."""
    if not numbers(notebook):
        return None
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    cells = {cell.id: count for count, cell in enumerate(code, start=1)}
    asked = {name: count for name, count in cells.items() if ID.fullmatch(name)}
    exercises = ", ".join(f"{number}: ex_{number}" for number in numbers(notebook))
    return nbformat.v4.new_code_cell(ASK.format(cells=asked, exercises=exercises))


def judge(where: str, answered: notebooks.Notebook) -> Iterator[Finding]:
    """Yield each verdict of a question that has run that is not the right one."""
    found = json.loads(answered.outputs[-1].text)
    for name, state in found["told"].items():
        wanted = {"stub": "untried", "solution": "right"}.get(name.rsplit("-", 1)[1])
        if wanted and state != wanted:
            what = f"the {name.rsplit('-', 1)[1]} is answered {state or 'with no verdict'}"
            remedy = {
                "untried": "leave `...` in it, and let some probe return what the stub returns",
                "right": "mend the solution, or what the exercise expects",
            }[wanted]
            yield Finding(f"{where} [{name}]", f"{what}, not {wanted}", remedy)
    for number, mistakes in found["mistakes"].items():
        for mistake, (state, told) in mistakes.items():
            if (state, told) != ("wrong", mistake):
                what = f"mistake {mistake!r} is answered {state}, as {told!r}"
                remedy = "add a probe that shows this mistake and no other"
                yield Finding(f"{where} [ex-{number}-rules]", what, remedy)


def check_verdicts(path: Path, notebook: notebooks.Notebook) -> Iterator[Finding]:
    """Run the notebook, then its mistakes; yield each verdict that is not the right one."""
    where = f"book/{path.name}"
    asked = question(notebook)
    if asked is None:
        return
    notebook.cells.append(asked)
    try:
        execute(notebook, path.parent, path.parent.parent / "src")
    except CellExecutionError as error:
        cell = next(cell for cell in reversed(notebook.cells) if cell.get("outputs"))
        yield Finding(f"{where} [{cell.id}]", f"raises {error.ename}: {error.evalue}")
        return
    yield from judge(where, asked)


def check_notebook(path: Path) -> list[Finding]:
    """Check one notebook: its form first, then, when it has exercises, what they answer."""
    notebook = notebooks.read(path)
    found = list(check_form(path, notebook))
    if not found:
        found += check_verdicts(path, notebook)
    return found


def main() -> int:
    """Check the notebooks named on the command line, or all of the book."""
    parser = arguments(__doc__)
    parser.add_argument("notebook", nargs="*", type=Path)
    options = parser.parse_args()
    paths = options.notebook or notebooks.chapters(options.root)
    found = [finding for some in two_at_a_time(check_notebook, paths) for finding in some]
    return finish("exercises", found, "each answers its solution, its stub and its mistakes")


if __name__ == "__main__":
    sys.exit(main())
