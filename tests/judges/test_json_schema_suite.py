"""The official JSON Schema suite, Draft 2020-12: one verdict per test.

A test is `right`, `refused` (the schema is, with keyword and pointer: fine, but no answer),
`wrong`, or `crash` (any other exception). The documents the suite wants served are not: a
reference that leaves the schema is refused. A format is an annotation, so what the format group
calls invalid passes as `annotation`.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from judges.corpora import FORMAT, OPTIONAL, REQUIRED, SuiteCase, suite
from judges.places import follow
from judges.verdicts import settle

from apisurface.validator import UnsupportedSchema, compile_validator, validate

LADDER = ["crash", "wrong", "annotation", "refused", "right"]
NOTE = "{} tests of Draft 2020-12 in jsonschema 4.26.0; a case is file, group.test"


def verdict(case: SuiteCase, **options: Any) -> str:
    """Judge one test with both doors, which must agree."""
    try:
        errors = validate(case.data, case.schema, **options)
        assert compile_validator(case.schema, **options)(case.data) == errors
    except UnsupportedSchema as refusal:
        assert points_into(refusal, case.schema), f"{refusal.pointer!r} leads nowhere"
        return f"refused: {refusal.keyword} at {refusal.pointer or 'the root'}"
    except AssertionError:
        raise
    except Exception as error:
        return f"crash: {type(error).__name__}"
    return "right" if (not errors) is case.valid else "wrong"


def points_into(refusal: UnsupportedSchema, schema: Any) -> bool:
    """Say whether a refusal's pointer leads to something in the schema."""
    return follow(schema, refusal.pointer) is not ...


@pytest.fixture(scope="module")
def required() -> dict[str, str]:
    return {case.name: verdict(case) for case in suite(REQUIRED)}


def words(verdicts: dict[str, str]) -> Counter[str]:
    return Counter(verdict.split(": ")[0] for verdict in verdicts.values())


def test_required(required):
    settle("json-schema-suite", required, LADDER, NOTE.format("Required"))


def test_no_required_verdict_is_wrong(required):
    counts = words(required)
    assert len(required) == 1257
    assert not counts["wrong"]
    assert not counts["crash"]
    assert counts["right"] >= 1200


@pytest.fixture(scope="module")
def optional() -> dict[str, str]:
    return {case.name: verdict(case) for case in suite(OPTIONAL)}


def test_optional(optional):
    assert len(optional) == 158
    settle("json-schema-optional", optional, LADDER, NOTE.format("Optional"))


@pytest.fixture(scope="module")
def formats() -> dict[str, str]:
    return {case.name: verdict(case) for case in suite(FORMAT)}


def test_format(formats):
    formats = {
        name: "annotation" if said == "wrong" else said for name, said in formats.items()
    }
    assert len(formats) == 491
    settle("json-schema-format", formats, LADDER, NOTE.format("Format"))


def test_formats_on_demand_are_asserted_like_their_checker():
    """With the format checks of `jsonschema` ours says what it says, in each of the 491 tests."""
    known = Draft202012Validator.FORMAT_CHECKER
    checks = {name: partial(conforms, known, name) for name in known.checkers}
    differ = []
    for case in suite(FORMAT):
        peer = Draft202012Validator(case.schema, format_checker=known)
        ours = not compile_validator(case.schema, formats=checks)(case.data)
        differ += [case.name] if ours is not peer.is_valid(case.data) else []
    assert differ == []


def conforms(checker: FormatChecker, name: str, text: str) -> bool:
    return bool(checker.conforms(text, name))
