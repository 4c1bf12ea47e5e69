"""environment.yml, the locks and pyproject.toml tell one story."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
LOCKS = {
    "book": [*PROJECT["dependencies"]]
    + [asked for extra in ("book", "test", "templates", "tools") for asked in EXTRAS[extra]],
    "pages": EXTRAS["pages"],
    "live": EXTRAS["live"],
    "mutants": EXTRAS["mutants"],
    "judges": EXTRAS["judges"],
}


def pinned(name):
    """Return what a lock pins: canonical name to its versions (several under markers)."""
    pins: dict[str, list[str]] = {}
    for line in (ROOT / f"requirements/{name}.lock").read_text().splitlines():
        if match := re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?==([^ ;\\]+)", line):
            pins.setdefault(canonicalize_name(match[1]), []).append(match[2])
    return pins


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_pins_all_that_is_asked_for_with_hashes_and_no_address(name):
    pins = pinned(name)
    for requirement in map(Requirement, LOCKS[name]):
        found = pins.get(canonicalize_name(requirement.name))
        assert found, f"{requirement.name} is not in requirements/{name}.lock: make lock"
        assert all(v in requirement.specifier for v in found), (requirement, found)
    text = (ROOT / f"requirements/{name}.lock").read_text()
    assert text.count("--hash=sha256:") >= sum(map(len, pins.values()))
    assert "://" not in text
    assert "index-url" not in text


@pytest.mark.parametrize("name", ["pages", "live", "mutants", "judges"])
def test_the_other_locks_agree_with_the_first(name):
    book = pinned("book")
    shared = {key: pins for key, pins in pinned(name).items() if key in book}
    assert {key: book[key] for key in shared} == shared


def test_the_environment_file_is_python_pip_and_the_same_lock():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    assert environment["channels"] == ["conda-forge"]
    python, pip, by_pip = environment["dependencies"]
    assert SpecifierSet(python.removeprefix("python")) == SpecifierSet(
        PROJECT["requires-python"]
    )
    assert pip.startswith("pip>=")
    assert by_pip == {"pip": ["--require-hashes -r requirements/book.lock"]}


def test_pip_takes_the_environment_files_pip_part_and_finds_it_installed(tmp_path):
    """Conda writes the pip part to a requirements file; pip must read that file as it is."""
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    lines = environment["dependencies"][-1]["pip"]
    # conda puts the file beside environment.yml, so that relative names hold
    options = " ".join(lines).split()
    lock = ROOT / options[options.index("-r") + 1]
    run = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--dry-run", "--no-deps", "--no-index"]
        + ["--require-hashes", "--disable-pip-version-check", "-r", str(lock)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "Would install" not in run.stdout, run.stdout


def test_extras_are_the_ones_the_design_names():
    assert set(EXTRAS) == {
        *("templates", "tools", "book", "test", "pages", "judges", "live", "mutants")
    }
    assert {Requirement(r).name for r in PROJECT["dependencies"]} == {"httpx", "jsonschema"}
