"""The engine lab: the reference passes, the stubs fail, and each wrong engine is named."""

from __future__ import annotations

import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from book.lab.loading import load_engine

ROOT = Path(__file__).resolve().parent.parent
LAB = ROOT / "book" / "lab"
FILES = sorted(path.stem for path in LAB.glob("test_*.py"))
WRONG = sorted(path.stem for path in (LAB / "wrong").glob("*.py"))
VERBS = ["validate", "parse_tool_call", "dispatch", "run_with_repair", "coerce_output"]


def lab_tests() -> list[tuple[str, Callable[[ModuleType], None]]]:
    found = []
    for file in FILES:
        module = importlib.import_module(f"book.lab.{file}")
        for name, test in vars(module).items():
            if name.startswith("test_"):
                found.append((f"{file}.{name}", test))
    return found


TESTS = lab_tests()


@cache
def verdicts(name: str) -> dict[str, str]:
    """Return what each failing test says about an engine."""
    engine, said = load_engine(name), {}
    for name, test in TESTS:
        try:
            test(engine)
        except (Exception, pytest.fail.Exception) as error:
            said[name] = f"{type(error).__name__}: {error}"
    return said


def test_there_are_enough_tests_and_enough_wrong_engines() -> None:
    assert len(TESTS) >= 30
    assert len({name for name, _ in TESTS}) == len(TESTS)
    assert len(WRONG) >= 12


def test_the_reference_is_green() -> None:
    assert verdicts("apisurface") == {}


def test_every_test_is_red_on_the_stubs() -> None:
    said = verdicts("book.lab.engine")
    assert sorted(said) == sorted(name for name, _ in TESTS)
    others = {n: s for n, s in said.items() if not re.match(r"NotImplementedError: step \d", s)}
    assert others == {}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_engine_is_caught_by_its_name(name: str) -> None:
    said = verdicts(f"book.lab.wrong.{name}")
    mistake = name.replace("_", " ")
    named = [text for text in said.values() if f": {mistake}: " in text]
    assert named, f"nobody says {mistake!r}: {said}"


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_engine_is_small_and_wrong_in_one_place(name: str) -> None:
    engine = load_engine(f"book.lab.wrong.{name}")
    own = [verb for verb in VERBS if getattr(engine, verb).__module__ == engine.__name__]
    assert len(own) == 1
    assert (engine.__doc__ or "").strip().endswith(".")
    assert len(inspect.getsource(engine).splitlines()) <= 30


def test_no_two_wrong_engines_fail_alike() -> None:
    seen = {name: str(verdicts(f"book.lab.wrong.{name}")) for name in WRONG}
    assert len(set(seen.values())) == len(seen)


def test_every_assertion_says_what_is_wrong() -> None:
    for name, test in TESTS:
        source = inspect.getsource(test)
        asserts = re.findall(r"^    +assert ", source, re.MULTILINE)
        messages = re.findall(r'\),? \(\n +f?"|, \(\n +f?"|, f?"', source)
        assert len(messages) >= len(asserts), f"{name}: an assertion without a message"


def run(*arguments: str, engine: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"LAB_MODULE": engine, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        check=False,
    )


def test_the_first_message_is_kind() -> None:
    done = run("pytest", "book/lab", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 1
    assert "Nothing is wrong: you have not begun. Open book/lab/engine.py" in done.stdout
    assert f"0 of {sum('test_1' in n for n, _ in TESTS)} tests pass" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert len(done.stdout.splitlines()) <= 20


def test_a_reader_is_told_one_mistake_at_a_time() -> None:
    file = str(LAB / "wrong" / "bool_as_int.py")
    done = run("pytest", "book/lab", "-q", "-p", "no:cacheprovider", engine=file)
    assert done.returncode == 1
    said = " ".join(done.stdout.split())
    assert "Next: test_1_validate.py::test_true_is_no_integer bool as int: " in said
    assert "A model that says true for an amount would refund one cent." in said


def test_the_reference_passes_as_a_reader_runs_it() -> None:
    done = run("pytest", "book/lab", "-q", "-p", "no:cacheprovider", engine="apisurface")
    assert done.returncode == 0, done.stdout
    assert "All pass. Now break it" in done.stdout


EXAMPLE = """\
1  A call that runs
   {'refunded': 5000}
2  A call that is refused, and the tool is not touched
   $.amount_cents: expected integer, got string
   $.reason: required
   refunds made so far: 1
3  The same call, mended in a single round
   {'refunded': 5000} after 1 repair
4  Output out of its fence, checked by the same validator
   $.amount_cents: expected integer, got boolean; $.reason: required
   {'order_id': 'A-1', 'amount_cents': 5000, 'reason': 'twice'}
"""


def test_the_worked_example_has_four_parts() -> None:
    done = run("book.lab.example", engine="apisurface")
    assert (done.stdout, done.stderr) == (EXAMPLE, "")
