"""The first minute is true: the experiment in the README and the intro prints what they say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["README.md", "book/intro.md"]


@pytest.mark.parametrize("page", PAGES)
def test_the_experiment_prints_what_stands_below_it(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    code, said = re.search(r"```python\n(.*?)```\n+```text\n(.*?)```", text, re.DOTALL).groups()
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert run.stdout == said
    assert len(code.strip().splitlines()) <= 16


def test_both_pages_open_with_the_same_experiment():
    blocks = [
        re.search(r"```python\n.*?```\n+```text\n.*?```", (ROOT / p).read_text(), re.DOTALL)[0]
        for p in PAGES
    ]
    assert blocks[0] == blocks[1]


def test_the_two_commands_stand_in_the_readme_and_in_the_makefile():
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    for target in re.findall(r"`?make ([a-z-]+)", readme):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("page", ["README.md"])
def test_every_link_to_a_file_leads_to_one(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text()):
        assert (ROOT / target).exists(), target


def test_every_chapter_stands_in_the_index_of_symptoms():
    readme = (ROOT / "README.md").read_text()
    chapters = {p.name for p in (ROOT / "book").glob("*.ipynb")} - {"authors.ipynb"}
    assert {name for name in chapters if f"(book/{name})" not in readme} == set()
