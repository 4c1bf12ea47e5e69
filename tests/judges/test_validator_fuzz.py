"""Made-up schemas and instances, judged by `jsonschema-rs` too: no disagreement may stay unexplained.

The first few thousand pairs are judged each time, and 100,000 by `make fuzz` (`FUZZ_PAIRS`). A
disagreement is shown as the smallest pair that still has it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest
from judges.pairs import corrupted, pair
from judges.places import path_of, reaches

from apisurface.validator import UnsupportedSchema, compile_validator, validate

PAIRS = int(os.environ.get("FUZZ_PAIRS", "3000"))
WORDS = """type enum const multipleOf minimum maximum exclusiveMinimum exclusiveMaximum
minLength maxLength pattern items prefixItems contains minContains maxContains minItems maxItems
uniqueItems properties required additionalProperties patternProperties propertyNames
minProperties maxProperties dependentRequired dependentSchemas allOf anyOf oneOf not if then else
$ref $anchor $id $defs unevaluatedItems unevaluatedProperties"""
# What no branch decides: an error of the judge here is a violation that ours must list too.
LEAF_WORDS = """type enum const multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength
maxLength pattern minItems maxItems uniqueItems required minProperties maxProperties"""
ASSERTIONS, LEAVES = WORDS.split(), LEAF_WORDS.split()
Place = tuple[str | int, ...]
BRANCHES = {"anyOf", "oneOf", "not", "if", "contains", "propertyNames", "dependentSchemas"}


@pytest.fixture(scope="module")
def peer() -> Any:
    """The judge's validator class; `ModuleNotFoundError` is a missing judge."""
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator


def ours(schema: Any, instance: Any) -> str:
    """Say valid, invalid, or why the schema is refused."""
    try:
        return "invalid" if validate(instance, schema) else "valid"
    except UnsupportedSchema as refusal:
        return f"refused: {refusal.keyword} at {refusal.pointer!r}"


def theirs(peer: Any, schema: Any, instance: Any) -> str:
    """Say the same for the judge."""
    try:
        return "valid" if peer(schema).is_valid(instance) else "invalid"
    except Exception as error:  # its errors share no class
        return f"refused: {error}"


def by_decimal_text(value: Any) -> Any:
    """Return the value with each float beyond 2**53 as the integer that its text says."""
    if isinstance(value, list):
        return [by_decimal_text(item) for item in value]
    if isinstance(value, dict):
        return {key: by_decimal_text(member) for key, member in value.items()}
    far = isinstance(value, float) and abs(value) >= 2**53
    return int(Decimal(repr(value))) if far else value


def explained(peer: Any, schema: Any, instance: Any, mine: str) -> str | None:
    """Return the name of the class a disagreement belongs to, if it is a known one.

    `decimal text`: is 1e308 a multiple of 1e20? By its text it is; the binary number next to it,
    which the judge takes, is not. Written as an integer of the same digits, the judge agrees.
    """
    exact = by_decimal_text(schema), by_decimal_text(instance)
    same = "multipleOf" in repr(schema) and theirs(peer, *exact) == mine
    return "decimal text" if same else None


def words(peer: Any, schema: Any, instance: Any) -> tuple[str, str]:
    """Return our word and the judge's: valid, invalid or refused."""
    mine, other = ours(schema, instance), theirs(peer, schema, instance)
    return mine.split(":")[0], other.split(":")[0]


def smaller(value: Any) -> Iterator[Any]:
    """Yield what the value is with one part taken away or put in its place."""
    if isinstance(value, dict):
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
        yield from value.values()
        for key, member in value.items():
            yield from (value | {key: less} for less in smaller(member))
    if isinstance(value, list):
        for at in range(len(value)):
            yield value[:at] + value[at + 1 :]
        yield from value
        for at, item in enumerate(value):
            yield from (value[:at] + [less] + value[at + 1 :] for less in smaller(item))


def smallest(schema: Any, instance: Any, bad: Callable[[Any, Any], bool]) -> tuple[Any, Any]:
    """Return the smallest pair, found by taking parts away, that is still bad."""
    while True:
        pairs = [(less, instance) for less in smaller(schema) if isinstance(less, dict | bool)]
        pairs += [(schema, less) for less in smaller(instance)]
        for less in pairs:
            if bad(*less):
                schema, instance = less
                break
        else:
            return schema, instance


def listed(instance: Any, messages: list[str], judged: Iterable[Any]) -> bool:
    """Say whether each of the judge's errors has a message of ours at its place.

    One per keyword, where no branch decides. A missing member and a repeated item stand at their
    own place with us; and where the type is wrong, nothing else is said of a value. The judge
    calls a member that is there missing when `additionalProperties: false` forbids it.
    """
    told: Counter[Place] = Counter()
    for message in messages:
        steps = path_of(message)
        told[steps] += 1
        if ": required" in message or ": repeats item" in message:
            told[steps[:-1]] += 1
    wanted: dict[Place, set[str]] = {}
    for error in judged:
        path = error.schema_path  # empty for the schema `false`
        if path and path[-1] in LEAVES and not BRANCHES & set(path):
            place = true_place(instance, error.instance_path)
            if path[-1] != "required" or not reaches(instance, (*place, error.kind.property)):
                wanted.setdefault(place, set()).add(path[-1])
    mistyped = [place for place, keywords in wanted.items() if "type" in keywords]
    return all(
        told[place] >= (1 if place in mistyped else len(keywords))
        for place, keywords in wanted.items()
        if not any(place[: len(above)] == above and place != above for above in mistyped)
    )


def true_place(instance: Any, path: list[str | int]) -> Place:
    """Return the judge's path with its member names that look like numbers made strings again."""
    steps: Place = ()
    for step in path:
        step = str(step) if isinstance(instance, dict) else step
        instance = instance[step]
        steps += (step,)
    return steps


@dataclass
class Findings:
    """What came out of all pairs: counts, and the seeds of what should not be."""

    counts: Counter[str] = field(default_factory=Counter)
    disagreements: list[int] = field(default_factory=list)
    misplaced: list[tuple[int, str]] = field(default_factory=list)
    unlisted: list[int] = field(default_factory=list)
    unsteady: list[int] = field(default_factory=list)


@pytest.fixture(scope="module")
def findings(peer: Any) -> Findings:
    found = Findings()
    for seed in range(PAIRS):
        schema, instance = pair(seed)
        before = repr((schema, instance))
        mine, other = ours(schema, instance), theirs(peer, schema, instance)
        word = mine.split(":")[0]
        found.counts[word] += 1
        if word != other.split(":")[0]:
            why = explained(peer, schema, instance, mine)
            found.counts[why or "unexplained"] += 1
            found.disagreements += [] if why else [seed]
        if word != "invalid":
            continue
        messages = validate(instance, schema)  # remembered: costs nothing
        for message in messages:
            steps = path_of(message)
            place = steps[:-1] if ": required" in message else steps
            if not reaches(instance, place):
                found.misplaced.append((seed, message))
        nameless = "'':" in before  # the judge's paths leave such names out
        exact = by_decimal_text(instance)
        judged = [] if nameless else peer(by_decimal_text(schema)).iter_errors(exact)
        if not listed(instance, messages, judged):
            found.unlisted.append(seed)
        again = compile_validator(schema)(instance) if seed % 8 == 0 else messages
        if messages != again or repr((schema, instance)) != before:
            found.unsteady.append(seed)
    return found


def test_no_disagreement_is_unexplained(findings, peer):
    print(dict(findings.counts))  # shown with -s
    shown = []
    for seed in findings.disagreements[:5]:
        kind = words(peer, *pair(seed))
        schema, instance = smallest(*pair(seed), lambda s, i, k=kind: words(peer, s, i) == k)
        mine, other = ours(schema, instance), theirs(peer, schema, instance)
        shown.append(f"seed {seed}: {schema!r} {instance!r}: ours {mine}, theirs {other}")
    if shown:
        count = len(findings.disagreements)
        pytest.fail(f"{count} disagreements\n" + "\n".join(shown), pytrace=False)


def test_about_half_of_the_pairs_are_valid_and_none_is_refused(findings):
    assert 0.4 < findings.counts["valid"] / PAIRS < 0.6
    assert findings.counts["valid"] + findings.counts["invalid"] == PAIRS


def test_both_doors_agree_and_touch_nothing(findings):
    assert findings.unsteady == []


def test_each_message_leads_to_a_place_in_the_instance(findings):
    assert findings.misplaced == []


def test_every_violation_is_listed(findings):
    assert findings.unlisted == []


def test_the_pairs_try_every_keyword_both_ways(peer):
    seen: dict[str, set[str]] = {word: set() for word in ASSERTIONS}

    def walk(schema: Any, verdict: str) -> None:
        if isinstance(schema, dict):
            for word in schema:
                seen.get(word, set()).add(verdict)
            for word, below in schema.items():
                if word not in ("enum", "const"):
                    walk(below, verdict)
        if isinstance(schema, list):
            for below in schema:
                walk(below, verdict)

    for seed in range(1000):
        schema, instance = pair(seed)
        walk(schema, theirs(peer, schema, instance))
    assert {word for word, verdicts in seen.items() if len(verdicts) < 2} == set()


def refused(door: Callable[[Any], Any], schema: Any, error: type[Exception]) -> str:
    """Return the keyword that a schema is refused for, "" when it is not."""
    try:
        door(schema)
    except error as refusal:
        return getattr(refusal, "keyword", "") or "a keyword"
    return ""


def test_a_corrupted_schema_is_refused_when_the_judge_refuses_it(peer):
    """Ours also refuses a circle, a wrong pattern where the judge never gets to it, and an `$id`
    that is another schema's: `""` inside a document is the address of the whole.
    """
    differ = []
    for seed in range(PAIRS // 2):
        schema = corrupted(seed)
        ours = refused(compile_validator, schema, UnsupportedSchema)
        theirs = refused(peer, schema, Exception)
        if bool(ours) is not bool(theirs) and ours not in ("$ref", "pattern", "$id"):
            differ.append((seed, ours))
    assert differ == []


@pytest.mark.parametrize(
    ("divisor", "value", "right"), [(10**20, 1e308, "valid"), (2**53, 2.0**62, "invalid")]
)
def test_a_multiple_is_one_by_its_decimal_text(peer, divisor, value, right):
    schema = {"multipleOf": divisor}
    assert ours(schema, value) == right != theirs(peer, schema, value)
    assert explained(peer, schema, value, right) == "decimal text"
    wrong = {"valid": "invalid", "invalid": "valid"}[right]
    assert explained(peer, schema, value, wrong) is None
