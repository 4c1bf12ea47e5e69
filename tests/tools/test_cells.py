"""Each thing that a cell must not hold is refused, and what comes close to it is not."""

import json

import nbformat
import pytest

from tests.tools import small_book
from tools import cells, notebooks


def code(source="1", *, tags=(), outputs=(), count=1, mystnb=None):
    """Return a code cell that was run."""
    metadata = {"tags": list(tags)} | ({"mystnb": mystnb} if mystnb else {})
    return nbformat.v4.new_code_cell(
        source, id="one", metadata=metadata, outputs=list(outputs), execution_count=count
    )


def stream(text, name="stdout"):
    return nbformat.v4.new_output("stream", name=name, text=text)


ERROR = nbformat.v4.new_output("error", ename="TypeError", evalue="no", traceback=["no"])
PICTURE = nbformat.v4.new_output("display_data", data={"image/png": "AAAA"})
FIGURE = small_book.FIGURE["mystnb"]
LONG = "\n".join(f"x = {n}" for n in range(41))


def without(*path):
    """Return the metadata of a figure without one thing."""
    part, name = path
    return FIGURE | {part: {key: text for key, text in FIGURE[part].items() if key != name}}


@pytest.mark.parametrize(
    ("cell", "what"),
    [
        (code(" \n"), "an empty code cell"),
        (code(tags=["nbval-skip"]), "the tag nbval-skip switches a check off"),
        (code(tags=["nbval-ignore-output"]), "nbval-ignore-output switches a check off"),
        (code(tags=["skip-execution"]), "skip-execution switches a check off"),
        (code("1 # NBVAL_SKIP"), "switches a check off"),
        (code("#NBVAL_IGNORE_OUTPUT\n1"), "switches a check off"),
        (code("# NBVAL_RAISES_EXCEPTION\n1"), "switches a check off"),
        (code("%%capture\n1"), "switches a check off"),
        (code(LONG), "41 lines; the longest may have 40"),
        (code(outputs=[ERROR]), "an error that the cell does not announce"),
        (code(tags=["raises-exception"]), "tagged raises-exception but raises nothing"),
        (code(outputs=[stream("a warning\n", "stderr")]), "stderr: 'a warning'"),
        (code(outputs=[stream("<f at 0x7f12ab34cd56>")]), "holds a memory address"),
        (code(outputs=[stream('File "/tmp/x.py"')]), "holds a path of one machine"),
        (code(outputs=[stream("see /home/ann/book")]), "holds a path of one machine"),
        (code(outputs=[stream("ipykernel_4711")]), "holds a kernel's process"),
        (code(outputs=[PICTURE], mystnb=without("figure", "name")), "a figure without name"),
        (code(outputs=[PICTURE], mystnb=without("figure", "caption")), "without caption"),
        (code(outputs=[PICTURE], mystnb=without("image", "alt")), "without text alternative"),
    ],
)
def test_a_code_cell_that_is_refused(cell, what):
    (found,) = cells.check_code("book/x.ipynb [one]", cell)
    assert what in found.what


@pytest.mark.parametrize(
    "cell",
    [
        code(LONG.partition("\n")[2]),
        code(f"#@save\n{LONG}"),
        code(LONG, tags=["hide-input"]),
        code("print('NBVAL_SKIP')"),
        code(tags=["raises-exception"], outputs=[ERROR]),
        code(outputs=[stream("POST /v1/tmp, 0x1f, https://x.example/tmp/y")]),
        code(outputs=[PICTURE], mystnb=FIGURE),
    ],
)
def test_a_code_cell_that_is_not(cell):
    assert list(cells.check_code("book/x.ipynb [one]", cell)) == []


DIAGRAM = small_book.DIAGRAM


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("![](a.svg)", "a picture without text alternative"),
        *(
            (
                "\n".join(line for line in DIAGRAM.split("\n") if f":{option}:" not in line),
                f"{{mermaid}} without :{option}:",
            )
            for option in ("name", "caption", "alt")
        ),
        (DIAGRAM.replace(" One arrow from the purse to the sum.", ""), "without :alt:"),
        ("```{figure} a.svg\nA caption.\n```", "{figure} a.svg without :alt:"),
        (":::{image} a.svg\n:::", "{image} a.svg without :alt:"),
    ],
)
def test_markdown_that_is_refused(source, what):
    (found,) = cells.check_markdown("book/x.ipynb [one]", source)
    assert what in found.what


@pytest.mark.parametrize("source", [DIAGRAM, "![A sign.](a.svg)", "```{code}\n![](a.svg)\n```"])
def test_markdown_that_is_not(source):
    assert list(cells.check_markdown("book/x.ipynb [one]", source)) == []


def check(tmp_path, *made):
    """Write a notebook with these cells and check it."""
    path = tmp_path / "x.ipynb"
    path.write_text(
        json.dumps(
            {"cells": list(made), "nbformat": 4, "nbformat_minor": 5}
            | {"metadata": notebooks.METADATA}
        ),
        "utf-8",
    )
    return [finding.what for finding in cells.check_notebook(path)]


@pytest.mark.parametrize("name", ["Not-Small", "under_score", "3f9a0c1d", "a" * 3 + "1" * 5])
def test_an_id_that_no_link_can_rely_on(tmp_path, name):
    assert len(check(tmp_path, code() | {"id": name})) == 1


@pytest.mark.filterwarnings("ignore:Non-unique cell id")
def test_two_cells_of_one_name(tmp_path):
    assert check(tmp_path, code(), code(count=2)) == ["2 cells have the id 'one'"]


def test_counts(tmp_path):
    assert check(tmp_path, code(), code(count=2) | {"id": "two"}) == []
    assert check(tmp_path, code(), code(count=3) | {"id": "two"}) == [
        "run as number 3, but it is code cell 2"
    ]
    assert check(tmp_path, code(count=None)) == ["this cell was never run"]
