"""A gate that cannot turn red is none: each break of a small book turns exactly its gates red.

The gates that only read are always asked. Those that execute code take seconds: they are asked
together, when the break is one that some of them must see. The build is not asked about a break
that leaves links and directives as they were: it would see the same as in the healthy book.
"""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tools import small_book
from tools import cells, outputs, prose, run, save, silence, style

READING = {
    "style": (style.main, "--check"),
    "cells": (cells.main,),
    "prose": (prose.main,),
    "save": (save.main, "--check"),
    "silence": (silence.main,),
}
EXECUTING = {"nbval", "outputs"}
GATES = [*READING, *sorted(EXECUTING), "build"]
RESOLVED = re.compile(r"\]\([^)]*\)|\{\w+\}`[^`]*`|```.*?```", re.S)
OTHER_MACHINE = "192.0.2.1"  # TEST-NET-1: nobody answers there


@pytest.fixture(scope="session")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("healthy")
    small_book.make(root)
    return root


@pytest.fixture
def project(healthy: Path, tmp_path: Path) -> Path:
    root = tmp_path / "project"
    shutil.copytree(healthy, root)
    return root


def command(gate: str, root: Path) -> int:
    """Run a gate as make does; return its exit code."""
    arguments = ["--strict"] if gate == "build" else list(READING.get(gate, ("",))[1:])
    line = [sys.executable, "-m", f"tools.{gate}", *map(str, arguments), "--root", str(root)]
    ran = subprocess.run(line, cwd=small_book.ROOT, capture_output=True, text=True)
    print(ran.stdout, ran.stderr)
    assert ran.returncode in (0, 1), ran.stderr
    return ran.returncode


def red(root: Path, healthy: Path, executed: bool = False) -> set[str]:
    """Return the gates that turn red on a broken copy, with those that execute if asked."""
    found = {
        gate
        for gate, (main, *arguments) in READING.items()
        if main([*map(str, arguments), "--root", str(root)])
    }
    chapter = root / "book/coins.ipynb"
    if executed:
        found |= {"nbval"} if command("nbval", root) else set()
        found |= {"outputs"} if outputs.check_notebook(chapter, root / "src") else set()
    if links_of(root) != links_of(healthy):
        found |= {"build"} if command("build", root) else set()
    return found


def links_of(root: Path) -> list[str]:
    """Return everything in the prose that the build has to resolve or to draw."""
    chapter = root / "book/coins.ipynb"
    text = [cell.source for cell in small_book.read(chapter) if cell.cell_type == "markdown"]
    text.append((root / "book/intro.md").read_text("utf-8"))
    return RESOLVED.findall("\n".join(text))


@pytest.mark.parametrize("gate", GATES)
def test_every_gate_is_green_on_the_healthy_book(gate: str, healthy: Path) -> None:
    assert command(gate, healthy) == 0


def test_making_the_healthy_book_again_changes_no_byte(healthy: Path, tmp_path: Path) -> None:
    small_book.make(tmp_path)
    for path in sorted(healthy.rglob("*")):
        if path.is_file() and not {"_build", "__pycache__"} & set(path.parts):
            assert (tmp_path / path.relative_to(healthy)).read_bytes() == path.read_bytes()


Cells = dict[str, Any]
Change = Callable[[Cells], None]
BREAKS: dict[str, tuple[Change, set[str]]] = {}


def breaks(*gates: str) -> Callable[[Change], Change]:
    """Note a way to break the chapter and the gates that have to see it."""

    def note(change: Change) -> Change:
        BREAKS[change.__name__] = (change, set(gates))
        return change

    return note


@breaks("nbval", "outputs")
def cell_that_raises(cells: Cells) -> None:
    cells["silent"].source = "total = count([1, 2]) + unknown"


@breaks("nbval", "outputs")
def output_that_is_not_what_the_cell_prints(cells: Cells) -> None:
    cells["counted"].outputs[0].text = "200 cents in all!\n"


@breaks("nbval", "outputs")
def output_that_is_missing(cells: Cells) -> None:
    cells["silent"].source = "total = count([1, 2])\nprint(total)"


@breaks("nbval", "outputs")
def error_demo_that_no_longer_fails(cells: Cells) -> None:
    cells["refused"].source = "len([count]);"


@breaks("nbval", "outputs")
def output_of_a_drawing(cells: Cells) -> None:
    data = cells["fig-coins"].outputs[0].data
    data["image/svg+xml"] = data["image/svg+xml"].replace("</svg>", "<g/></svg>")


@breaks("outputs")
def bitmap(cells: Cells) -> None:
    data = cells["fig-coins"].outputs[0].data
    raw = bytearray(base64.b64decode(data["image/png"]))
    raw[-20] ^= 1
    data["image/png"] = base64.b64encode(raw).decode()


@breaks("outputs")
def traceback_of_another_cell(cells: Cells) -> None:
    cells["refused"].outputs[0].traceback[-1] += " (of yesterday)"


@breaks("cells", "outputs")
def silent_cell_that_was_never_run(cells: Cells) -> None:
    cells["silent"].execution_count = None


@breaks("cells", "outputs")
def execution_out_of_order(cells: Cells) -> None:
    first, second = cells["silent"], cells["counted"]
    first.execution_count, second.execution_count = (
        second.execution_count,
        first.execution_count,
    )


@breaks("nbval", "outputs")
def network_call_that_swallows_its_error(cells: Cells) -> None:
    cells["silent"].source = (
        "import socket\n\ntry:\n"
        f'    socket.create_connection(("{OTHER_MACHINE}", 80), timeout=1)\n'
        "except Exception:\n    pass"
    )


@breaks("save")
def save_mark_taken_away(cells: Cells) -> None:
    cells["count"].source = cells["count"].source.removeprefix("#@save\n")


@breaks("save")
def save_mark_on_a_cell_that_prints(cells: Cells) -> None:
    cells["counted"].source = "#@save\n" + cells["counted"].source


@breaks("save")
def saved_cell_changed_without_saving(cells: Cells) -> None:
    cells["count"].source = cells["count"].source.replace("sum(coins)", "sum(list(coins))")


@breaks("style", "save")
def saved_cell_not_formatted(cells: Cells) -> None:
    cells["count"].source = cells["count"].source.replace("sum(coins)", "sum( coins )")


@breaks("style")
def cell_not_formatted(cells: Cells) -> None:
    cells["silent"].source = "total = count([1,2])"


@breaks("prose")
def number_in_prose(cells: Cells) -> None:
    cells["says"].source = cells["says"].source.replace("200", "300")


@breaks("prose")
def error_name_in_prose(cells: Cells) -> None:
    cells["says"].source = cells["says"].source.replace("TypeError", "ValueError")


@breaks("prose")
def quoted_output_in_prose(cells: Cells) -> None:
    cells["says"].source = cells["says"].source.replace("cents in all", "euros in all")


@breaks("prose")
def number_in_a_caption(cells: Cells) -> None:
    cells["fig-coins"].metadata.mystnb.figure.caption = "How many of 300 cents?"


@breaks("cells")
def figure_without_text_alternative(cells: Cells) -> None:
    del cells["fig-coins"].metadata.mystnb["image"]


@breaks("cells")
def generated_cell_id(cells: Cells) -> None:
    cells["diagram"].id = "3f9a0c1d"


@breaks("build")
def link_to_a_page_that_is_not_there(cells: Cells) -> None:
    cells["title"].source = cells["title"].source.replace("intro.md", "outro.md")


@breaks("build")
def link_to_a_cell_that_is_not_there(cells: Cells) -> None:
    cells["title"].source = cells["title"].source.replace("coins:counted", "coins:weighed")


@breaks("build")
def diagram(cells: Cells) -> None:
    cells["diagram"].source = cells["diagram"].source.replace("purse --> sum", "purse -->")


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_chapter_turns_exactly_its_gates_red(
    name: str, project: Path, healthy: Path
) -> None:
    change, expected = BREAKS[name]
    small_book.edit(project, change)
    assert red(project, healthy, bool(expected & EXECUTING)) == expected


def test_a_module_edited_by_hand(project: Path, healthy: Path) -> None:
    module = project / "src/apisurface/coins.py"
    module.write_text(
        module.read_text("utf-8").replace("sum(coins)", "sum(coins) + 1"), "utf-8"
    )
    assert red(project, healthy, executed=True) == {"save", "outputs"}


def test_a_number_on_a_page_without_code(project: Path, healthy: Path) -> None:
    page = project / "book/intro.md"
    page.write_text(page.read_text("utf-8").replace("200", "201"), "utf-8")
    assert red(project, healthy) == {"prose"}


def test_a_swallowed_exit_code(project: Path, healthy: Path) -> None:
    (project / "Makefile").write_text("test:\n\tpytest |" + "| true\n", "utf-8")
    assert red(project, healthy) == {"silence"}


def test_kernels_read_the_package_they_are_given(project: Path) -> None:
    chapter = small_book.notebook([("code", "where", {}, "import apisurface as a\na.__file__")])
    run.execute(chapter, project / "book", project / "src")
    printed = chapter.cells[0].outputs[0].data["text/plain"]
    assert re.sub(r"^'|'$", "", printed) == str(project / "src/apisurface/__init__.py")
