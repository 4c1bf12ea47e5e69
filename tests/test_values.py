"""JSON values: equality as JSON has it, exact multiples, and values that are none."""

import json
import math
from collections import OrderedDict
from enum import IntEnum, StrEnum
from fractions import Fraction
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apisurface.values import (
    MAX_NESTING,
    equality_key,
    is_multiple,
    is_plain,
    member_step,
    path_text,
    plain_copy,
    shown,
    type_name,
    visible,
)

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3)
)
JSON = st.recursive(
    SCALARS,
    lambda i: st.lists(i, max_size=3) | st.dictionaries(st.text(max_size=2), i, max_size=3),
    max_leaves=10,
)


def same(left, right):
    """Compare as JSON does, by walking both."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    return (type(left) in (int, float) and type(right) in (int, float) and left == right) or (
        type(left) is type(right) and left == right
    )


@given(JSON, JSON)
def test_keys_are_equal_exactly_when_the_values_are(left, right):
    assert (equality_key(left) == equality_key(right)) is same(left, right)
    copy = json.loads(json.dumps(left))
    assert equality_key(left) == equality_key(copy)
    assert hash(equality_key(left)) == hash(equality_key(copy))


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (2**53, float(2**53), True),
        (2**53 + 1, float(2**53), False),
        (-(2**70), -float(2**70), True),
        (0, -0.0, True),
        (1, 1.5, False),
        (0, 0.5, False),
        (-1, -1.5, False),
        (2**53 - 1, float(2**53 - 1), True),
        (10**16, 1e16, True),
        (["array", 1], [["array", 1]], False),
        (["object"], {}, False),
        (True, ["boolean", "True"], False),
        (2**60, ["number", hex(2**60)], False),
    ],
)
def test_no_two_kinds_share_a_key(left, right, equal):
    assert (equality_key(left) == equality_key(right)) is equal


@given(st.integers(-(10**6), 10**6), st.decimals("0.0001", "1000", places=4))
def test_what_was_multiplied_is_a_multiple(count, step):
    divisor = Fraction(str(float(step)))
    assert is_multiple(count, Fraction(1))
    assert is_multiple(count * int(divisor.numerator), divisor)


@pytest.mark.parametrize(
    ("value", "divisor", "multiple"),
    [(0.3, "0.1", True), (19.99, "0.01", True), (0.35, "0.1", False), (1e308, "0.5", True)]
    + [(1e-7, "1e-8", True), (10**400, "3", False), (0, "7", True), (4.5, "1.5", True)],
)
def test_multiples_are_exact(value, divisor, multiple):
    assert is_multiple(value, Fraction(divisor)) is multiple


@given(JSON)
def test_json_is_plain_and_copied_as_it_is(value):
    assert is_plain(value)
    copy, faults = plain_copy(value)
    assert equality_key(copy) == equality_key(value)
    assert faults == []


def test_the_limit_of_nesting_is_exact_and_the_same_for_both():
    value = 1
    for _ in range(MAX_NESTING):
        value = [value]
    assert is_plain(value)
    assert plain_copy(value)[1] == []
    deeper = {"a": value}
    assert not is_plain(deeper)
    assert plain_copy(deeper)[1] == [(("a",) + (0,) * 499, "nested deeper than 500 levels")]


def test_a_container_in_many_places_is_looked_at_once_per_level():
    value = []
    for _ in range(100):
        value = [value] * 4
    assert is_plain(value)


def test_messages_stay_short_and_printable():
    assert visible("a\nb\ud800") == "a\\u000ab\\ud800"
    assert shown("x" * 1000).startswith('"xxx')
    assert len(shown("x" * 1000)) == 80
    assert shown(10**5000) == "integer with a very long number"
    assert shown([10**5000]) == "array with a very long number"
    assert visible("a\u202eb\u200bc\ufeff") == "a\\u202eb\\u200bc\\ufeff"
    assert member_step(" " * 80) == f'["{" " * 80}"]'
    assert member_step("x" * 80) == "." + "x" * 80
    assert member_step("x" * 80 + "y") == f'["{"x" * 50}…{"x" * 19}y"]'
    assert member_step("\n" * 200).endswith('\\n"]')
    assert member_step("") == '[""]'
    assert len(path_text(["a"] * 1000)) == 240
    assert path_text([]) == "$"


def test_types_have_jsons_names():
    assert [type_name(v) for v in ({}, [], "", 1, 1.0, True, None, ())] == [
        "object",
        "array",
        "string",
        "integer",
        "number",
        "boolean",
        "null",
        "tuple",
    ]


def test_a_disguise_is_taken_off_without_asking_it():
    class Liar(dict):
        def items(self):
            raise RuntimeError

        __iter__ = __len__ = __getitem__ = items

    class Text(str):
        def __str__(self):
            raise RuntimeError

        __eq__ = __repr__ = __str__
        __hash__ = str.__hash__

    class Items(list):
        def __iter__(self):
            raise RuntimeError

    plain, faults = plain_copy(Liar({Text("a"): Items([Text("b"), Liar()])}))
    assert (plain, faults) == ({"a": ["b", {}]}, [])
    assert {type(key) for key in plain} == {str}
    assert is_plain(plain)


@pytest.mark.parametrize("kind", [dict, list, str, int, float, bool])
def test_a_mock_is_no_json_whatever_it_pretends_to_be(kind):
    value = Mock(spec=kind)
    assert isinstance(value, kind)
    assert not is_plain([value])
    assert plain_copy({"a": [value]})[1] == [(("a", 0), "expected a JSON value, got Mock")]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (IntEnum("N", "one").one, 1),
        (StrEnum("S", "one").one, "one"),
        (OrderedDict(a=True), {"a": True}),
        (type("Real", (float,), {})(1.5), 1.5),
    ],
)
def test_subclasses_become_what_they_are(value, plain):
    copy, faults = plain_copy([value])
    assert (copy, faults) == ([plain], [])
    assert type(copy[0]) is type(plain)
    assert not is_plain(value)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (math.nan, "expected a JSON value, got nan"),
        (-math.inf, "expected a JSON value, got -inf"),
        (type("Real", (float,), {})("inf"), "expected a JSON value, got inf"),
        ({"k": {1: 2}}, "expected string keys, got integer"),
        ({None: 2}, "expected string keys, got null"),
        ((1,), "expected a JSON value, got tuple"),
    ],
)
def test_what_is_no_json_is_named(value, said):
    assert not is_plain(value)
    assert [why for _, why in plain_copy(value)[1]] == [said]


def test_a_value_may_stand_twice_but_not_in_itself():
    twice = {"a": [1]}
    assert plain_copy([twice, twice]) == ([twice, twice], [])
    twice["a"].append(twice)
    assert not is_plain(twice)
    assert plain_copy([twice])[1] == [((0, "a", 1), "contains itself")]
