"""The template is a chapter like any other: copied into a book, every gate accepts it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tools import build, cells, notebooks, outputs, prose, save

TEMPLATE = notebooks.ROOT / "tools/template.ipynb"
TOC = """\
format: jb-book
root: intro
parts:
  - caption: All of it
    chapters:
      - file: exercises
      - file: retries
      - file: api
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small book that holds the template as the chapter `retries`."""
    root = tmp_path_factory.mktemp("template")
    kept = shutil.ignore_patterns("_build", "*.ipynb", "*.md", "recordings", "__pycache__")
    shutil.copytree(notebooks.ROOT / "book", root / "book", ignore=kept)
    shutil.copy(notebooks.ROOT / "pyproject.toml", root)
    shutil.copy(TEMPLATE, root / "book/retries.ipynb")
    (root / "book/intro.md").write_text("# A book of one chapter\n", encoding="utf-8")
    (root / "book/_toc.yml").write_text(TOC, encoding="utf-8")
    chapter = notebooks.read(notebooks.ROOT / "book/exercises.ipynb")
    chapter.cells = [cell for cell in chapter.cells if cell.id != "next"]  # other chapters
    notebooks.write(root / "book/exercises.ipynb", chapter)
    assert save.main(["--root", str(root)]) == 0
    return root


def chapter(root: Path) -> Path:
    return root / "book/retries.ipynb"


def test_saved(root: Path) -> None:
    assert "def requests_at_most(" in (root / "src/apisurface/retries.py").read_text("utf-8")
    assert chapter(root).read_bytes() == TEMPLATE.read_bytes()


def test_cells_and_prose(root: Path) -> None:
    assert [*cells.check(root), *prose.check(root)] == []


def test_outputs_and_exercises(root: Path) -> None:
    assert outputs.check_notebook(chapter(root), root / "src") == []


def test_strict_build(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert build.build(root, strict=True) == 0, capfd.readouterr()


def test_it_holds_one_of_everything(root: Path) -> None:
    text = chapter(root).read_text(encoding="utf-8")
    order = ["# Retries multiply", "After this chapter you can", "Prerequisites", "def added("]
    order += ["#@save", "fig-retries", "{mermaid}", "What bites", "does not do", "to remember"]
    order += ["ex-1-rules", "ex-1-stub", "ex-1-solution", "## Next"]
    places = [text.index(piece) for piece in order]
    assert places == sorted(places)
