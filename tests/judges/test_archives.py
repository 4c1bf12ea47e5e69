"""The pins are one line each, and what is missing says so."""

import pytest

from tools import archives


def test_each_line_of_the_pins_is_read():
    lines = [
        line for line in archives.PINS.read_text().splitlines() if not line.startswith("#")
    ]
    assert [pin.line for pin in archives.pins()] == lines


def test_a_missing_archive_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(archives.MissingArchive, match="make test-judges"):
        archives.archive("magentic")


def test_the_members_are_sorted_and_end_as_asked():
    names = [name for name, _ in archives.members("jsonschema", ".json")]
    assert names == sorted(names)
    assert len(names) > 50
