"""No failure goes unheard: neither in what runs the checks nor in the tests themselves."""

import subprocess
import sys

import pytest

from tools import silence
from tools.notebooks import ROOT

OR = "|" + "|"  # spelled apart, so that nobody finds a swallowed failure here


@pytest.mark.parametrize(
    "line",
    [
        f"\tpytest {OR} true",
        f"\tpytest {OR}true",
        f"\tpytest {OR} :",
        f"\tpytest {OR} echo failed",
        "\tpytest; true",
        "\t-pytest",
        "\t@-pytest",
        "set +e",
        "make -k test",
        "continue-on" + "-error: true",
        "pytest --re" + "runs 3",
        ".IGNORE: test",
    ],
)
def test_scripts_that_swallow(line):
    assert list(silence.check_script("Makefile", line))


@pytest.mark.parametrize(
    "line",
    [f"test -x .venv {OR} python -m venv .venv", "\t@echo true", "\trm -rf x", "make test"],
)
def test_scripts_that_do_not(line):
    assert not list(silence.check_script("Makefile", line))


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    f()\nexcept:\n    pass",
        "try:\n    f()\nexcept Exception:\n    ...",
        "for x in y:\n    try:\n        f()\n    except BaseException:\n        continue",
        "with suppress(Exception):\n    f()",
        "with contextlib.suppress(BaseException):\n    f()",
        "@pytest.mark.skip\ndef test_x(): ...",
        "@pytest.mark.skipif(True)\ndef test_x(): ...",
        "@pytest.mark.xfail(reason='later', strict=False)\ndef test_x(): ...",
        "@pytest.mark.flaky\ndef test_x(): ...",
        "pytest.skip()",
        "pytest.xfail()",
        "x = pytest.importorskip('x')",
    ],
)
def test_python_that_swallows_or_skips(text):
    assert list(silence.check_python("x.py", text))


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    f()\nexcept KeyError:\n    pass",
        "try:\n    f()\nexcept Exception as error:\n    print(error)",
        "with suppress(KeyError):\n    f()",
        "pytest.skip('the live extra is not installed')",
        "@pytest.mark.skipif(True, reason='needs a real model server')\ndef test_x(): ...",
    ],
)
def test_python_that_does_not(text):
    assert not list(silence.check_python("x.py", text))


def test_every_folder_with_tests_or_tools_is_looked_through(tmp_path):
    for folder in ("tools", "tests", "book", "book/_build"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.py").write_text("pytest.skip()")
    found = [finding.where for finding in silence.check(tmp_path)]
    assert found == ["tools/x.py:1", "tests/x.py:1", "book/x.py:1"]


SKIPS = """
import pytest

@pytest.mark.skip(reason="later")
def test_short_reason(): ...

@pytest.mark.xfail(reason="a known bug, see the issue")
def test_passes_all_the_same(): ...

@pytest.mark.xfail(reason="later")
def test_fails_for_no_good_reason():
    assert 0

@pytest.mark.skip(reason="needs a model server")
def test_good_reason(): ...
"""


def test_a_run_fails_when_a_test_is_skipped_without_a_reason_of_substance(tmp_path):
    (tmp_path / "conftest.py").write_bytes((ROOT / "tests/conftest.py").read_bytes())
    (tmp_path / "test_skips.py").write_text(SKIPS, "utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rA",
        f"--rootdir={tmp_path}",
        str(tmp_path),
    ]
    command += ["-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 1
    assert "2 failed, 1 skipped, 1 error" in ran.stdout, ran.stdout
