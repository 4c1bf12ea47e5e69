"""Keywords for numbers, strings, arrays and objects: what each says, of which values, and where."""

import pytest
from jsonschema import Draft202012Validator

from apisurface.keywords import KEYWORD_HELPERS, TYPED_KEYWORDS, repeated_items
from apisurface.validator import validate

NULLS = {"contains": {"type": "null"}}
FORMS = [
    ({"minimum": 3}, 2, "$: expected at least 3"),
    ({"maximum": 3}, 3.5, "$: expected at most 3"),
    ({"exclusiveMinimum": 3}, 3, "$: expected more than 3"),
    ({"exclusiveMaximum": 3}, 3.0, "$: expected less than 3"),
    ({"multipleOf": 0.01}, 0.015, "$: expected a multiple of 0.01"),
    ({"minLength": 1}, "", "$: expected at least 1 character"),
    ({"maxLength": 2}, "abc", "$: expected at most 2 characters"),
    ({"pattern": "^T-[0-9]{3}$"}, "T-1", "$: does not match ^T-[0-9]{3}$"),
    ({"minItems": 1}, [], "$: expected at least 1 item"),
    ({"maxItems": 0}, [1], "$: expected at most 0 items"),
    ({"uniqueItems": True}, [1, 2, 1.0], "$[2]: repeats item 0"),
    ({"prefixItems": [{"type": "string"}]}, [1], "$[0]: expected string, got integer"),
    ({"prefixItems": [True, False]}, [1, 2], "$[1]: unexpected item"),
    ({"prefixItems": [True], "items": False}, [1, 2], "$[1]: unexpected item"),
    ({"items": {"type": "null"}}, [None, 1], "$[1]: expected null, got integer"),
    (NULLS, [1], '$: expected at least 1 item that fits {"type": "null"}, got 0'),
    (
        {**NULLS, "minContains": 2},
        [1, None],
        '$: expected at least 2 items that fit {"type": "null"}, got 1',
    ),
    (
        {**NULLS, "maxContains": 1},
        [None, None],
        '$: expected at most 1 item that fits {"type": "null"}, got 2',
    ),
    (
        {**NULLS, "minContains": 0, "maxContains": 0},
        [None],
        '$: expected at most 0 items that fit {"type": "null"}, got 1',
    ),
    ({"properties": {"a": False}}, {"a": 1}, "$.a: unexpected property"),
    ({"minProperties": 1}, {}, "$: expected at least 1 property"),
    ({"maxProperties": 1}, {"a": 1, "b": 2}, "$: expected at most 1 property"),
    ({"properties": {"a": {"type": "null"}}}, {"a": 0}, "$.a: expected null, got integer"),
    ({"required": ["a"]}, {}, "$.a: required"),
    ({"properties": {"a b": True}, "required": ["a b"]}, {}, '$["a b"]: required'),
    (
        {"patternProperties": {"^n": {"type": "null"}}},
        {"n1": 0},
        "$.n1: expected null, got integer",
    ),
    ({"patternProperties": {"^n": False}}, {"n1": 0}, "$.n1: unexpected property"),
    ({"additionalProperties": False}, {"a": 1}, "$.a: unexpected property"),
    (
        {"propertyNames": {"maxLength": 2}},
        {"abc": 1},
        '$: name "abc": expected at most 2 characters',
    ),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, '$.b: required because "a" is there'),
]


@pytest.mark.parametrize(
    ("schema", "instance", "said"), FORMS, ids=[str(f[0])[:40] for f in FORMS]
)
def test_every_keyword_has_its_form(schema, instance, said):
    assert validate(instance, schema) == [said]
    assert not Draft202012Validator(schema).is_valid(instance)


def test_every_keyword_of_the_table_has_a_form_here():
    tried = {keyword for schema, _, _ in FORMS for keyword in schema}
    assert tried == {key for keys in TYPED_KEYWORDS.values() for key in keys} | {
        "minContains",
        "maxContains",
    }


LIMITS = [
    ({"minimum": 3}, 3, 2.9),
    ({"maximum": 3}, 3.0, 4),
    ({"exclusiveMinimum": 3}, 3.1, 3),
    ({"exclusiveMaximum": 3}, 2, 3),
    ({"minimum": 2**53 + 1}, 2**53 + 1, float(2**53)),
    ({"minLength": 2.0}, "ab", "a"),
    ({"maxLength": 2}, "ab", "abc"),
    ({"minItems": 2}, [1, 2], [1]),
    ({"maxItems": 2}, [1, 2], [1, 2, 3]),
    ({"minProperties": 1}, {"a": 1}, {}),
    ({"maxProperties": 1}, {"a": 1}, {"a": 1, "b": 1}),
    ({**NULLS, "minContains": 2}, [None, 1, None], [None, 1]),
    ({**NULLS, "maxContains": 2}, [None, 1, None], [None, None, None]),
    ({**NULLS, "minContains": 0}, [1], None),
    ({**NULLS, "minContains": 0, "maxContains": 0}, [1], [None]),
]


@pytest.mark.parametrize(
    ("schema", "least", "beyond"), LIMITS, ids=[str(case[0]) for case in LIMITS]
)
def test_a_limit_is_where_it_stands(schema, least, beyond):
    assert validate(least, schema) == []
    assert len(validate(beyond, schema)) == (beyond is not None)


@pytest.mark.parametrize("kind", TYPED_KEYWORDS)
def test_values_of_another_type_are_not_its_business(kind):
    values = {"object": {"a": 1}, "array": [1, 1], "string": "abc", "number": 7, "": None}
    values |= {" ": True}
    for schema, _, _ in FORMS:
        if schema.keys() & TYPED_KEYWORDS[kind].keys():
            for other, value in values.items():
                assert other == kind or validate(value, schema) == [], (schema, value)


def test_members_and_items_are_told_in_the_order_of_the_schema_then_of_the_value():
    schema = {
        "properties": {"b": {"type": "null"}, "a": {"type": "null"}},
        "required": ["z", "a", "y"],
        "additionalProperties": {"type": "null"},
    }
    assert validate({"q": 1, "b": 1, "p": 1}, schema) == [
        "$.b: expected null, got integer",
        "$.a: required",
        "$.z: required",
        "$.y: required",
        "$.q: expected null, got integer",
        "$.p: expected null, got integer",
    ]


def test_long_keys_that_differ_stay_apart():
    keys = ["k" * 100 + end for end in ("1", "2")]
    errors = validate(dict.fromkeys(keys, 1), {"additionalProperties": False})
    assert len(errors) == 2
    assert all(error.endswith('"]: unexpected property') for error in errors)


def test_a_keyword_of_ones_own_is_a_function_in_the_table():
    assert set(KEYWORD_HELPERS) == {"is_multiple", "member_step", "repeated_items", "shown"}
    assert list(repeated_items([1, True, "1", 1.0, [1], [1.0]])) == [(3, 0), (5, 4)]


# --- the cases --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("instance", "valid"),
    [
        ([0, False], True),
        ([1, 1.0], False),
        ([[1], [True]], True),
        ([{"a": 1, "b": 2}, {"b": 2, "a": 1}], False),
        ([["array"], "array", ("x" * 3), "xxx"], False),
        ([["boolean", "True"], True], True),
    ],
)
def test_b107_booleans_are_no_numbers_in_unique_items(instance, valid):
    assert (validate(instance, {"uniqueItems": True}) == []) is valid


def test_b109_multiples_are_exact_and_never_overflow():
    assert validate(1e308, {"multipleOf": 0.5}) == []
    assert validate(10**399, {"multipleOf": 0.5}) == []
    assert validate(10**4999 + 1, {"multipleOf": 2}) == ["$: expected a multiple of 2"]
    assert validate(1e308, {"multipleOf": 5e-324}) == []
    assert validate(19.99, {"multipleOf": 0.01}) == []
    assert validate(0.0075, {"multipleOf": 0.0001}) == []


def test_b110_the_end_is_the_end():
    schema = {"type": "string", "pattern": "^[a-z]+$"}
    assert validate("abc", schema) == []
    assert validate("abc\n", schema) == ["$: does not match ^[a-z]+$"]


def test_b112_a_pattern_is_searched():
    assert validate("abc", {"pattern": "b"}) == []


def test_b113_additional_is_what_neither_names_nor_patterns_know():
    schema = {
        "type": "object",
        "properties": {"id": {}},
        "patternProperties": {"^S_": {"type": "string"}, "^N_": {"type": "number"}},
        "additionalProperties": False,
    }
    assert validate({"id": 1, "S_a": "a", "N_b": 1}, schema) == []
    assert validate({"x": 1}, schema) == ["$.x: unexpected property"]
    assert validate({"S_a": 1}, schema) == ["$.S_a: expected string, got integer"]


@pytest.mark.parametrize(
    ("schema", "instance", "valid"),
    [
        ({"minLength": 2}, "💩", False),
        ({"maxLength": 1}, "💩", True),
        ({"maxLength": 1}, "e\u0301", False),
    ],
)
def test_b118_lengths_count_code_points(schema, instance, valid):
    assert (validate(instance, schema) == []) is valid


def test_many_items_are_compared_in_linear_time():
    values = [{"a": n, "b": [n]} for n in range(50_000)]
    assert validate(values, {"uniqueItems": True}) == []
    same_hash = [n * (2**61 - 1) for n in range(1, 20_000)]
    assert validate(same_hash, {"uniqueItems": True}) == []


def test_keys_that_are_no_identifiers_are_quoted():
    schema = {"additionalProperties": {"type": "null"}}
    keys = ["b/c", "a b", 'q"', "\n", "\ud800", "1st", "größe", "%s", "{x}"]
    assert validate(dict.fromkeys(keys, 1), schema) == [
        f"${step}: expected null, got integer"
        for step in [
            '["b/c"]',
            '["a b"]',
            '["q\\""]',
            '["\\n"]',
            '["\\ud800"]',
            '["1st"]',
            ".größe",
            '["%s"]',
            '["{x}"]',
        ]
    ]
