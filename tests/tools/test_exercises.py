"""Every exercise of the book is proved, and the proof itself can fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tools import notebooks, outputs
from tools.exercises import PROMPTS, check_form, check_notebook
from tools.run import execute

RULES = """\
from apisurface.exercises import Exercise, Mistake, check

ex_1 = Exercise(
    name="Exercise 1",
    probes={"one": lambda f: f(1), "two": lambda f: f(2)},
    expected={"one": 2, "two": 4},
    mistakes={
        "squares": Mistake(lambda n: n * n, "Twice, not times itself."),
        "adds one": Mistake(lambda n: n + 1, "Twice, not one more."),
    },
    lesson="Twice a number is the number plus itself.",
)"""
STUB = "def double(n): ...\n\n\ncheck(ex_1, double)"
SOLUTION = "def double(n):\n    return n + n\n\n\ncheck(ex_1, double)"


@pytest.mark.parametrize("path", notebooks.chapters(), ids=lambda path: path.stem)
def test_the_exercises_of_the_book_have_their_form(path: Path) -> None:
    """Their verdicts are asked for when tools.outputs runs the chapter."""
    assert list(check_form(path, notebooks.read(path))) == []


def code(name: str, source: str, tags: str, **metadata: Any) -> Any:
    cell = nbformat.v4.new_code_cell(source, metadata={"tags": tags.split(), **metadata})
    cell.id = name
    return cell


def good() -> Any:
    statement = nbformat.v4.new_markdown_cell("### Exercise 1: twice\n\nDouble a number.")
    rules = code("ex-1-rules", RULES, "exercise remove-cell", jupyter={"source_hidden": True})
    stub = code("ex-1-stub", STUB, "exercise-stub")
    solution = code("ex-1-solution", SOLUTION, "exercise-solution hide-cell", mystnb=PROMPTS)
    return nbformat.v4.new_notebook(cells=[statement, rules, stub, solution])


def found(tmp_path: Path, notebook: Any) -> list[str]:
    path = tmp_path / "book" / "twice.ipynb"
    notebooks.write(path, notebook)
    return [f"{finding.where}: {finding.what}" for finding in check_notebook(path)]


def test_a_good_exercise_is_accepted(tmp_path: Path) -> None:
    assert found(tmp_path, good()) == []


STUB_PASSES = "def double(n):\n    return n + n  # ...\n\n\ncheck(ex_1, double)"
MISTAKE_PASSES = RULES.replace("lambda n: n * n", "lambda n: n + n")
AFTER_THE_FACT = f"""{RULES}
object.__setattr__(ex_1, "mistakes", {{"none": Mistake(lambda n: n + n, "It is right.")}})"""


@pytest.mark.parametrize(
    ("position", "source", "finding"),
    [
        (2, STUB_PASSES, "[ex-1-stub]: the stub is answered right, not untried"),
        (2, f"...\n{STUB} or None", "[ex-1-stub]: the stub is answered with no verdict"),
        (3, SOLUTION.replace("+ n", "+ 1"), "[ex-1-solution]: the solution is answered wrong"),
        (1, MISTAKE_PASSES, "[ex-1-rules]: raises ValueError: Exercise 1 would mislead"),
        (1, AFTER_THE_FACT, "[ex-1-rules]: mistake 'none' is answered right, as None"),
    ],
    ids=["stub passes", "no verdict", "wrong solution", "mistake passes", "mistake unproved"],
)
def test_canary_verdicts(tmp_path: Path, position: int, source: str, finding: str) -> None:
    notebook = good()
    notebook.cells[position].source = source
    (told,) = found(tmp_path, notebook)
    assert told.startswith(f"book/twice.ipynb {finding}")


def test_canary_verdicts_are_asked_for_with_the_outputs(tmp_path: Path) -> None:
    path = tmp_path / "book" / "twice.ipynb"
    notebook = good()
    notebook.cells[1].source = AFTER_THE_FACT
    path.parent.mkdir()
    notebooks.write(path, execute(notebook, path.parent))
    (finding,) = outputs.check_notebook(path, notebooks.ROOT / "src")
    assert finding.what == "mistake 'none' is answered right, as None"


def edit(position: int, **changes: Any) -> Callable[[Any], None]:
    return lambda notebook: notebook.cells[position].update(changes)


def retag(position: int, *tags: str) -> Callable[[Any], None]:
    return lambda notebook: notebook.cells[position].metadata.update(tags=list(tags))


def saved_without_exercise(notebook: Any) -> None:
    notebook.cells = [code("saved", "#@save\nLIMIT = 3", "")]


@pytest.mark.parametrize(
    ("spoil", "finding"),
    [
        (saved_without_exercise, ": a chapter without an exercise"),
        (lambda nb: nb.cells.pop(0), " [ex-1-rules]: an exercise without its statement"),
        (edit(0, source="### Exercise 1: twice"), " [ex-1-rules]: an exercise without its"),
        (edit(0, source="### Exercise 2: t\n\nx"), " [ex-1-rules]: an exercise without its"),
        (edit(1, id="ex-2-rules"), ": exercises numbered 2"),
        (lambda nb: nb.cells[1].metadata.pop("jupyter"), " [ex-1-rules]: rules that a reader"),
        (retag(1, "exercise"), " [ex-1-rules]: tags ['exercise']"),
        (lambda nb: nb.cells.pop(3), " [ex-1-stub]: not in its place"),
        (retag(2), " [ex-1-stub]: an exercise cell without its tags"),
        (edit(2, source="check(ex_1, None)"), " [ex-1-stub]: a stub without `...`"),
        (edit(2, source=STUB + ".passed\nNone"), " [ex-1-stub]: no verdict"),
        (edit(2, id="stub"), " [stub]: an id that does not say what it is"),
        (retag(3, "exercise-solution"), " [ex-1-solution]: tags ['exercise-solution']"),
        (lambda nb: nb.cells[3].metadata.pop("mystnb"), " [ex-1-solution]: a fold without"),
    ],
)
def test_canary_form(tmp_path: Path, spoil: Callable[[Any], None], finding: str) -> None:
    notebook = good()
    spoil(notebook)
    told = found(tmp_path, notebook)
    assert any(line.startswith(f"book/twice.ipynb{finding}") for line in told), told
