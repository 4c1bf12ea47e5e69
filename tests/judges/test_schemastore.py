"""Schemas in the wild: each compiles and agrees with `jsonschema-rs`, or is refused precisely.

Most of them declare an older draft. Ours reads Draft 2020-12 and refuses what means something else
there, so where it does answer, the answer must be right in the declared draft as well.
"""

from __future__ import annotations

from collections import Counter
from typing import Any
from urllib.parse import quote

import pytest
from judges.corpora import stored_schemas
from judges.places import follow
from judges.samples import samples
from judges.verdicts import settle

from apisurface.validator import UnsupportedSchema, compile_validator

LADDER = ["crash", "wrong", "refused", "right"]


def never(address: str) -> Any:
    raise LookupError(f"nothing is fetched: {address}")


@pytest.fixture(scope="session")
def peer() -> Any:
    import jsonschema_rs

    return jsonschema_rs


def encoded(schema: Any) -> Any:
    """Return the schema with its references' signs such as `<` encoded, as the judge wants it."""
    if isinstance(schema, list):
        return [encoded(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    new = {key: encoded(inner) for key, inner in schema.items()}
    if isinstance(schema.get("$ref"), str):
        new["$ref"] = quote(schema["$ref"], safe="#/%:?&=+,;@~!$'()*")
    return new


def readings(peer: Any, schema: Any) -> list[Any]:
    """Return the judge's validators: as Draft 2020-12, and as the draft the schema declares."""
    schema = encoded(schema)
    classes = {peer.Draft202012Validator}
    declared = str(schema.get("$schema", "")) if isinstance(schema, dict) else ""
    for year in ("04", "06", "07"):
        if f"draft-{year}" in declared:
            classes.add(getattr(peer, f"Draft{int(year)}Validator"))
    if "2019-09" in declared:
        classes.add(peer.Draft201909Validator)
    found = []
    for one in sorted(classes, key=lambda cls: cls.__name__):
        found.append(one(schema, retriever=never, validate_formats=False))
    return found


def whole(instance: Any) -> Any:
    """Return the instance with 1.0 written 1: in Draft 4 only the latter is an integer."""
    if isinstance(instance, list):
        return [whole(item) for item in instance]
    if isinstance(instance, dict):
        return {key: whole(member) for key, member in instance.items()}
    return int(instance) if isinstance(instance, float) and instance.is_integer() else instance


def verdict(peer: Any, schema: Any) -> str:
    """Judge one schema on all its samples."""
    try:
        check = compile_validator(schema)
        answers = [(instance, not check(instance)) for instance in samples(schema)]
    except UnsupportedSchema as refusal:
        assert follow(schema, refusal.pointer) is not ..., refusal
        return f"refused: {refusal.keyword} at {refusal.pointer or 'the root'}"
    except Exception as error:
        return f"crash: {type(error).__name__}"
    try:
        judges = readings(peer, schema)
    except Exception as error:
        return f"wrong: the judge refuses it, {str(error)[:80]}"
    for judge in judges:
        for instance, valid in answers:
            if isinstance(judge, peer.Draft4Validator):
                instance = whole(instance)
            if judge.is_valid(instance) is not valid:
                return f"wrong: {type(judge).__name__} on {str(instance)[:80]}"
    return "right"


@pytest.fixture(scope="module")
def verdicts(peer: Any) -> dict[str, str]:
    return {name: verdict(peer, schema) for name, schema in stored_schemas().items()}


def test_schemastore(verdicts):
    counts = Counter(verdict.split(": ")[0] for verdict in verdicts.values())
    assert len(verdicts) == 487
    note = "Schemas of schemastore 0.2.3, by their name in the catalog; 20 instances each"
    settle("schemastore", verdicts, LADDER, note)
    assert not counts["wrong"]
    assert not counts["crash"]
