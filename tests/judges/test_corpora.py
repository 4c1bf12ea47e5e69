"""The readers and the generator of the validator's judges, held against a judge.

If jsonschema-rs did not come out as it is known to, the fault would be in the reading.
"""

from __future__ import annotations

from typing import Any

import pytest
from judges.corpora import FORMAT, OPTIONAL, REQUIRED, bfcl_calls, bfcl_tools, remotes, suite
from judges.pairs import pair
from judges.places import follow, path_of, reaches


@pytest.fixture(scope="session")
def peer() -> Any:
    """The judge's validator class; `ModuleNotFoundError` is a missing judge."""
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator


@pytest.fixture(scope="module")
def served() -> dict[str, Any]:
    return remotes()


@pytest.mark.parametrize(
    ("group", "count", "right"),
    [(REQUIRED, 1257, 1256), (OPTIONAL, 158, 156), (FORMAT, 491, 491)],
)
def test_the_suite_is_read_as_it_is_meant(peer, served, group, count, right):
    cases = suite(group)
    assert (len(cases), len({case.name for case in cases})) == (count, count)
    options = {"retriever": served.__getitem__, "validate_formats": group == FORMAT}
    agreed = [peer(c.schema, **options).is_valid(c.data) is c.valid for c in cases]
    assert sum(agreed) == right


def test_the_benchmark_is_read_as_it_is_meant(peer):
    tools, calls = bfcl_tools(), bfcl_calls()
    assert (len(tools), len({tool["name"] for tool in tools})) == (3258, 1853)
    assert (len(calls), len({call.name for call in calls})) == (3302, 3302)
    valid = [peer(call.tool["parameters"]).is_valid(call.arguments) for call in calls]
    assert sum(valid) == 3252


def test_about_half_of_the_pairs_are_valid(peer):
    valid = [peer(schema).is_valid(instance) for schema, instance in map(pair, range(2000))]
    assert 0.4 < sum(valid) / len(valid) < 0.6


def test_a_pair_is_the_same_each_time():
    assert [repr(pair(seed)) for seed in range(50)] == [repr(pair(seed)) for seed in range(50)]


def test_a_pointer_is_followed_or_leads_nowhere():
    document = {"a/b": [{"m~n": 1}], "": 2}
    assert follow(document, "/a~1b/0/m~0n") == 1
    assert follow(document, "/") == 2
    assert follow(document, "") is document
    assert follow(document, "/a~1b/1") is follow(document, "/x") is ...


def test_a_message_has_a_path_that_reaches():
    steps = path_of('$.line_items[0]["odd: key"].sku: expected string, got null')
    assert steps == ("line_items", 0, "odd: key", "sku")
    assert reaches({"line_items": [{"odd: key": {"sku": None}}]}, steps)
    assert not reaches({"line_items": []}, steps)
    for bad in ("a: required", "$.a", "$[x]: required", "$['a']: required"):
        with pytest.raises(ValueError, match="no path"):
            path_of(bad)
