"""A step is run when something it looks at changed, and only then; its exit code is passed on."""

import sys

import pytest

from tools import step


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(step, "ROOT", tmp_path)
    monkeypatch.setattr(step, "PASSED", tmp_path / ".cache/gates")
    monkeypatch.delenv("FRESH", raising=False)
    (tmp_path / "book/_build").mkdir(parents=True)
    (tmp_path / "book/a.md").write_text("a")
    return tmp_path


def runs(code=0):
    """Run a step that leaves a trace; return its exit code and whether it was run."""
    trace = step.ROOT / "trace"
    trace.unlink(missing_ok=True)
    command = [sys.executable, "-c", f"open('trace', 'w').close(); raise SystemExit({code})"]
    exit_code = step.main(["1/1", "name", "book", "--", *command])
    return exit_code, trace.exists()


def test_what_passed_is_not_run_again_until_it_changes(project, monkeypatch):
    assert runs() == (0, True)
    assert runs() == (0, False)
    (project / "book/_build/made").touch()
    assert runs() == (0, False)
    (project / "book/a.md").write_text("b")
    assert runs() == (0, True)
    monkeypatch.setenv("FRESH", "1")
    assert runs() == (0, True)


def test_a_removed_file_is_a_change(project):
    (project / "book/b.md").touch()
    assert runs() == (0, True)
    (project / "book/b.md").unlink()
    assert runs() == (0, True)


def test_a_renamed_file_is_a_change(project):
    assert runs() == (0, True)
    (project / "book/a.md").rename(project / "book/b.md")
    assert runs() == (0, True)


def test_a_step_that_changes_what_it_looks_at_has_not_passed_on_that(project):
    command = [sys.executable, "-c", "open('book/a.md', 'a').write('more')"]
    for length in (5, 9):
        assert step.main(["1/1", "name", "book", "--", *command]) == 0
        assert len((project / "book/a.md").read_text()) == length


def test_a_failure_is_passed_on_and_not_remembered(project):
    assert runs(code=3) == (3, True)
    assert runs(code=3) == (3, True)
    assert runs() == (0, True)
    assert runs(code=3) == (3, True)
    assert runs() == (0, True)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["1/1", "name", "book"], ["1/1", "--"]])
def test_a_call_without_a_command_says_how_it_is_made(arguments, capsys):
    assert step.main(arguments) == 2
    assert "NAME PATH … -- COMMAND" in capsys.readouterr().err
