"""How the lab's tests find your engine, and what they say when they have run."""

import os
import textwrap

import pytest

from book.lab.loading import YOURS, engine_name, load_engine

STEPS = {
    "test_1_validate": "1  validate",
    "test_2_parse": "2  parse_tool_call",
    "test_3_dispatch": "3  dispatch",
    "test_4_repair": "4  run_with_repair",
    "test_5_output": "5  coerce_output",
}


@pytest.fixture(scope="session")
def engine():
    """The module that is tried."""
    return load_engine(engine_name())


def pytest_configure(config):
    """Say one thing at a time, unless tracebacks are asked for (`--tb=short`)."""
    if config.option.tbstyle == "auto":
        config.option.tbstyle = "no"
        config.option.reportchars = ""


def message_of(report):
    """Return what a failed test says, without pytest's own comparison below it."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr)
    return text.split("\nassert ")[0].removeprefix("AssertionError: ").removeprefix("Failed: ")


def pytest_terminal_summary(terminalreporter):
    """Show how far each step is, and the next thing to do."""
    write = terminalreporter.write_line
    passed = terminalreporter.stats.get("passed", [])
    failed = terminalreporter.stats.get("failed", []) + terminalreporter.stats.get("error", [])
    write("")
    write(f"The engine lab: {'your engine' if engine_name() == YOURS else engine_name()}")
    write("")
    for stem, title in STEPS.items():
        good = sum(stem in report.nodeid for report in passed)
        total = good + sum(stem in report.nodeid for report in failed)
        if total:
            write(f"  step {title:20} {good:2} of {total:2} tests pass")
    write("")
    if not failed:
        write("All pass. Now break it: see the wrong engines in book/lab/wrong.")
        return
    first = min(failed, key=lambda report: report.nodeid.split("::")[0])
    said = message_of(first)
    if not passed and "NotImplementedError" in said:
        write("Nothing is wrong: you have not begun. Open book/lab/engine.py, read the")
        write("docstring of `validate`, write it, and run this again. Each step stands on the")
        write("one before.")
    elif "NotImplementedError" in said:
        write(f"Next, {said.removeprefix('NotImplementedError: ')}.")
    else:
        write(f"Next: {os.path.basename(first.nodeid)}")
        write(textwrap.fill(said, 80, initial_indent="  ", subsequent_indent="  "))
        write("")
        write("More with: .venv/bin/pytest book/lab --tb=short")
