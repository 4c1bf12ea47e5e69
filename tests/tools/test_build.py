"""The build of a small book: what it makes, and that a defect of each kind turns it red."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools import notebooks
from tools.build import structure

ROOT = Path(__file__).resolve().parents[2]
TOC = """format: jb-book
root: intro
parts:
  - caption: Part
    numbered: true
    chapters:
      - file: chapter
      - file: bibliography
"""
INTRO = """# A small book

See {ref}`the greeting <chapter:greet>`, [the chapter](chapter.ipynb) and {numref}`trust`.
"""
DIAGRAM = """```{mermaid}
:name: trust
:caption: Who may act?
:alt: The model proposes, the application acts.
flowchart LR
  model --> application
```"""
WIDE = """```{mermaid}
:name: chain
:caption: Who comes next?
:alt: Twelve steps in a row.
flowchart LR
  a --> b --> c --> d --> e --> f --> g --> h --> i --> j --> k --> l
```"""
BROKEN = {
    INTRO: [
        ("{ref}`the greeting <chapter:greet>`", "{ref}`the greeting <chapter:gone>`"),
        ("(chapter.ipynb)", "(gone.ipynb)"),
    ],
    DIAGRAM: [
        ("model --> application", "model --> --> {"),
        (":alt: The model", ":was: The model"),
    ],
}
COMPLAINTS = {
    "a label of no cell": "undefined label: 'chapter:gone'",
    "a page that is not there": "gone.ipynb",
    "a diagram that does not parse": "the diagram cannot be drawn",
    "a diagram that cannot be read": "the diagram is too wide",
    "a cell without an id": "cell 2 has no id",
}


def cell(kind, source, **more):
    if kind == "code":
        more = {"execution_count": 1, "outputs": [], **more}
    return {"cell_type": kind, "metadata": {}, "source": source, **more}


def write_book(root, *, intro=INTRO, diagram=DIAGRAM, cell_id="greet"):
    book = root / "book"
    book.mkdir(exist_ok=True)
    (book / "intro.md").write_text(intro, encoding="utf-8")
    title = cell("markdown", f"# Chapter\n\nHere $x^2$.\n\n{diagram}", id="title")
    hello = cell("code", "print('hello')", id=cell_id)
    if cell_id is None:
        del hello["id"], title["id"]
    cells = {"cells": [title, hello], "metadata": notebooks.METADATA, "nbformat": 4}
    cells["nbformat_minor"] = 5 if cell_id else 4
    (book / "chapter.ipynb").write_text(json.dumps(cells), encoding="utf-8")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    write_book(root)
    for name in ("_config.yml", "bibliography.md"):
        shutil.copyfile(ROOT / "book" / name, root / "book" / name)
    for name in ("_ext", "_static"):
        shutil.copytree(ROOT / "book" / name, root / "book" / name)
    (root / "book/references.bib").write_text("", encoding="utf-8")
    (root / "book/_toc.yml").write_text(TOC, encoding="utf-8")
    return root


def build(root, *options):
    command = [sys.executable, "-m", "tools.build", "--root", str(root), *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def read(root, name):
    return (root / "book/_build/html" / name).read_text(encoding="utf-8")


def test_a_small_book(root):
    """Built, changed, broken, still broken: each build says the truth."""
    first = build(root)
    assert first.returncode == 0, first.stderr
    assert first.stdout.splitlines()[-1] == str(root / "book/_build/html/index.html")
    assert "writing output... [100%] intro" in first.stdout
    chapter, intro = read(root, "chapter.html"), read(root, "intro.html")
    assert 'id="cell-greet"' in chapter
    assert 'href="chapter.html#cell-greet"' in intro
    assert 'href="chapter.html#trust"' in intro
    assert "_static/mathjax/tex-svg.js" in chapter
    assert (root / "book/_build/html/_static/mathjax/tex-svg.js").stat().st_size > 1_000_000
    assert chapter.count('alt="The model proposes, the application acts."') == 2
    for page in (chapter, intro):
        assert not {"cdn.jsdelivr", "unpkg.com", "thebe", "googleapis"} & set(page.split('"'))

    # Only the page that changed is made again.
    (root / "book/intro.md").write_text(f"{INTRO}\nOne more sentence.\n", encoding="utf-8")
    second = build(root)
    assert second.returncode == 0, second.stderr
    assert "intro" in second.stdout
    assert "] chapter" not in second.stdout

    intro, diagram = INTRO, DIAGRAM
    for right, wrong in BROKEN[INTRO]:
        intro = intro.replace(right, wrong)
    for right, wrong in BROKEN[DIAGRAM]:
        diagram = diagram.replace(right, wrong)
    write_book(root, intro=intro, diagram=f"{diagram}\n\n{WIDE}", cell_id=None)
    for attempt in ("broken", "still broken"):
        result = build(root)
        assert result.returncode != 0, attempt
        for kind, complaint in COMPLAINTS.items():
            assert complaint in result.stderr, f"{attempt}: {kind}\n{result.stderr}"
        assert "The book was not built" in result.stderr


@pytest.mark.parametrize("name", ["_static/book.css", "_ext/mermaid_svg.py", "_toc.yml"])
def test_what_all_pages_share_makes_them_all_again(name, tmp_path):
    book = tmp_path / "book"
    shutil.copytree(ROOT / "book", book, ignore=shutil.ignore_patterns("_build"))
    before = structure(book)
    with (book / name).open("a", encoding="utf-8") as file:
        file.write("\n")
    assert structure(book) != before


def test_the_settings_fetch_nothing():
    """No extension is loaded that names an outside address, and notebooks are not executed."""
    text = (ROOT / "book/_config.yml").read_text(encoding="utf-8")
    assert 'execute_notebooks: "off"' in text
    assert not [
        word for word in ("thebe", "intersphinx", "http://", "https://") if word in text
    ]
