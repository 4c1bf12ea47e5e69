"""One tool call there and back: what a model proposes is read and judged before anything runs."""

from __future__ import annotations

import copy
import datetime
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apisurface import BoundaryError
from apisurface.tools import MalformedArguments, decode_arguments

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
).filter(lambda value: not (isinstance(value, float) and math.isinf(value)))
FINITE = st.dictionaries(TEXT, VALUES, max_size=4).filter(
    lambda value: "Infinity" not in json.dumps(value)
)


# --- arguments -------------------------------------------------------------------


@given(FINITE)
def test_an_object_its_text_and_the_text_of_its_text_mean_the_same(value: dict) -> None:
    for raw in (value, json.dumps(value), json.dumps(json.dumps(value))):
        before = copy.deepcopy(raw)
        got = decode_arguments(raw)
        assert json.dumps(got) == json.dumps(value)
        assert raw == before


def test_an_object_is_copied_at_every_depth() -> None:
    raw = {"items": [{"sku": "A"}]}
    decode_arguments(raw)["items"][0]["sku"] = "B"
    assert raw == {"items": [{"sku": "A"}]}


@pytest.mark.parametrize("raw", [None, "", "{}", {}, '"{}"', " {} "])
def test_nothing_means_an_empty_object(raw: object) -> None:
    assert decode_arguments(raw) == {}


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ("[]", "array"),
        ("3", "number"),
        ("3.5", "number"),
        ('"x"', "string"),
        ('""', "string"),
        ("true", "boolean"),
        ("null", "null"),
        ('"[1]"', "string"),
        (json.dumps(json.dumps(json.dumps({"a": 1}))), "string"),
        ([], "array"),
        (3, "number"),
        (True, "boolean"),
        (b"{}", "bytes"),
    ],
)
def test_b104_what_is_no_object_is_named(raw: object, kind: str) -> None:
    with pytest.raises(MalformedArguments, match=f"must be an object, got {kind}$") as caught:
        decode_arguments(raw)
    assert caught.value.raw is raw
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, BoundaryError)


@pytest.mark.parametrize(
    "raw",
    [
        '{"path":"a"}{"path":"b"}',
        '{"path": "/safe", "path": "/etc"}',
        "{'q': 'x', 'ok': True}",
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"t": "\\ud83d"}',
        '{"command": "ls',
        '"{\\"a\\": "',
        '{"a": ' + "[" * 100_000,
        '{"n": ' + "9" * 5000 + "}",
        " ",
        {"a": math.nan},
        {"a": math.inf},
        {"a": "\ud83d"},
        {"a": datetime.time(9)},
        {("a", 1): 2},
        {1: "a", "1": "b"},
        {"n": 10**5000},
    ],
)
def test_what_is_not_strict_json_is_refused_with_what_came(raw: object) -> None:
    with pytest.raises(MalformedArguments, match=r"^arguments are not") as caught:
        decode_arguments(raw)
    assert caught.value.raw is raw


def test_a_deep_or_circular_object_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(200_000):
        deep = {"a": deep}
    circle: dict[str, Any] = {}
    circle["a"] = circle
    for raw in (deep, circle):
        with pytest.raises(MalformedArguments):
            decode_arguments(raw)
    while deep:  # taken apart by hand: freeing it at once would recurse
        deep = deep["a"]


def test_b139_a_string_that_looks_like_json_stays_a_string() -> None:
    for text in ("12345", '{"a":1}', "true", "null", "[1]"):
        value = {"p": text}
        for raw in (value, json.dumps(value), json.dumps(json.dumps(value))):
            assert decode_arguments(raw) == {"p": text}


def test_b140_values_are_not_coerced() -> None:
    raw = '{"ms": "2000", "ok": "false"}'
    assert decode_arguments(raw) == {"ms": "2000", "ok": "false"}


def test_b080_b155_an_object_is_taken_as_it_is() -> None:
    assert decode_arguments({"a": 1}) == {"a": 1}
    assert decode_arguments(None) == {}
