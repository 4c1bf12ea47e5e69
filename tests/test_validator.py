"""The validator: every violation with its path, exact refusals, no crash, bounded work."""

import copy
import datetime
import enum
import json
import math
import sys
import threading
from collections import OrderedDict
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from refund_tool import BAD, ERRORS, REFUND

from apisurface import REFUND_SCHEMA
from apisurface.drafts import UnsupportedSchema
from apisurface.references import unknown_keywords
from apisurface.validator import _remembered, compile_validator, validate


def refusal(schema):
    with pytest.raises(UnsupportedSchema) as caught:
        compile_validator(schema)
    return caught.value.keyword, caught.value.pointer


def test_the_two_errors_of_the_contract():
    assert validate(BAD, REFUND) == ERRORS


def test_the_four_forms():
    lines = {"line_items": {"items": {"required": ["sku"]}}}
    assert validate({"line_items": [{}]}, {"properties": lines}) == [
        "$.line_items[0].sku: required"
    ]
    assert validate({"x": 1}, {"additionalProperties": False}) == ["$.x: unexpected property"]


FORMS = [
    ({"type": ["string", "null"]}, 1, "$: expected string or null, got integer"),
    ({"type": "integer"}, 1.5, "$: expected integer, got number"),
    ({"type": "integer"}, True, "$: expected integer, got boolean"),
    ({"type": "number"}, True, "$: expected number, got boolean"),
    ({"type": "array"}, {}, "$: expected array, got object"),
    ({"type": "null"}, False, "$: expected null, got boolean"),
    ({"enum": ["a", 1]}, "b", '$: expected one of "a", 1'),
    ({"enum": ["a", "b"]}, 1, '$: expected one of "a", "b"'),
    ({"enum": []}, "b", "$: no value is allowed"),
    ({"const": None}, "b", "$: expected null"),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, {"a": 1}, "$.b: required"),
    ({"allOf": [{"minimum": 2}, {"maximum": 0}]}, 1, "$: expected at least 2"),
    (
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        1,
        "$: expected string or null, got integer",
    ),
    (
        {"oneOf": [{"minimum": 1}, {"maximum": 9}, {"type": "string"}]},
        5,
        "$: fits alternatives 1 and 2, expected exactly one",
    ),
    ({"not": {"type": "string"}}, "a", '$: must not fit {"type": "string"}'),
    ({"if": {"minimum": 5}, "then": {"maximum": 6}}, 7, "$: expected at most 6"),
    ({"if": {"minimum": 5}, "else": {"maximum": 3}}, 4, "$: expected at most 3"),
    ({"properties": {"a": False}}, {"a": 1}, "$.a: unexpected property"),
    ({"unevaluatedProperties": False}, {"a": 1}, "$.a: unexpected property"),
    ({"unevaluatedItems": False}, [1], "$[0]: unexpected item"),
    (
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}},
        1,
        "$: expected string, got integer",
    ),
    (False, 1, "$: no value is allowed"),
]


@pytest.mark.parametrize(
    ("schema", "instance", "said"), FORMS, ids=[str(f[0])[:40] for f in FORMS]
)
def test_every_keyword_has_its_form(schema, instance, said):
    assert validate(instance, schema)[0] == said
    assert not Draft202012Validator(schema).is_valid(instance)


def test_the_path_begins_where_the_caller_says():
    assert validate("x", {"type": "null"}, path="$.call") == [
        "$.call: expected null, got string"
    ]
    assert validate("x", {"type": "null"}, path="50%s") == ["50%s: expected null, got string"]


def test_paths_within_branches_begin_there_too():
    schema = {"anyOf": [{"items": {"type": "string"}}, {"minItems": 2}]}
    for path in ("root", "", "$.calls[0]", "100%"):
        (error,) = validate([1], schema, path)
        said = (
            f"nearest: {path}[0]: expected string, got integer | or: expected at least 2 items"
        )
        assert error == f"{path}: fits none of 2 alternatives; {said}"
        assert validate({"a": (1,)}, schema, path) == [
            f"{path}.a: expected a JSON value, got tuple"
        ]


def test_what_a_wrong_type_should_not_have_had_is_not_reported():
    assert validate("x", {"type": "integer", "minLength": 9, "minimum": 5}) == [
        "$: expected integer, got string"
    ]


# --- the cases --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "instance", "valid"),
    [
        ({"const": False}, 0, False),
        ({"enum": [0.0]}, False, False),
        ({"enum": [1]}, True, False),
        ({"enum": [1]}, 1.0, True),
        ({"const": [1]}, [True], False),
        ({"const": {"a": 0}}, {"a": False}, False),
    ],
)
def test_b106_booleans_are_no_numbers_in_const_and_enum(schema, instance, valid):
    assert (validate(instance, schema) == []) is valid


def test_b115_recursion_is_fine_and_circles_are_refused():
    node = {
        "type": "object",
        "properties": {
            "v": {"type": "integer"},
            "kids": {"type": "array", "items": {"$ref": "#/$defs/N"}},
        },
        "required": ["v"],
    }
    tree = {"$defs": {"N": node}, "$ref": "#/$defs/N"}
    assert validate({"v": 1, "kids": [{"v": True}]}, tree) == [
        "$.kids[0].v: expected integer, got boolean"
    ]
    circle = {"$defs": {"A": {"$ref": "#/$defs/A"}}, "$ref": "#/$defs/A"}
    assert refusal(circle)[0] == "$ref"
    with pytest.raises(UnsupportedSchema, match="cyclic"):
        validate(1, circle)
    for pointer in (
        "#/definitions/x",
        "#/properties/a",
        "#/definitions/a~1b",
        "#/definitions/%25",
    ):
        document = {
            "definitions": {
                "x": {"type": "null"},
                "a/b": {"type": "null"},
                "%": {"type": "null"},
            },
            "properties": {"a": {"type": "null"}},
            "additionalProperties": {"$ref": pointer},
        }
        assert validate({"k": 1}, document) == ["$.k: expected null, got integer"]
    assert refusal({"$ref": "#/$defs/none"}) == ("$ref", "/$ref")


def test_b116_nothing_is_dropped():
    schema = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    assert validate([1, 2, 3, 4], schema) == ["$: expected at most 2 items"]
    assert refusal({"properties": {"a": {"dependencies": {}}}}) == (
        "dependencies",
        "/properties/a/dependencies",
    )


@pytest.mark.parametrize(
    "address", ["http://169.254.169.254/x", "file:///etc/passwd", "other.json", "urn:x:y"]
)
def test_b119_nothing_is_fetched(address):
    schema = {"properties": {"c": {"$ref": address}}}
    assert refusal(schema) == ("$ref", "/properties/c/$ref")
    with pytest.raises(UnsupportedSchema, match="leaves the document"):
        validate({}, schema)


@pytest.mark.parametrize(
    ("schema", "instance", "valid"),
    [
        (True, "anything", True),
        (False, 1, False),
        ({"minLength": 3}, 5, True),
        ({"properties": {"a": False}}, {"a": 1}, False),
        ({"type": ["string", "null"]}, None, True),
        ({"type": "string", "nullable": True}, None, False),
        ({"required": ["a"]}, [], True),
        ({"items": {"type": "integer"}}, "x", True),
    ],
)
def test_b121_booleans_types_and_applicability(schema, instance, valid):
    assert (validate(instance, schema) == []) is valid


def test_b121_nullable_is_reported_on_demand():
    schema = {"properties": {"a": {"type": "string", "nullable": True}}}
    assert unknown_keywords(schema) == ["/properties/a/nullable"]


def test_b122_four_errors_in_a_stable_order():
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b/c": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["a", "d"],
        "additionalProperties": False,
    }
    assert validate({"a": True, "b/c": ["x", 1], "e": 0}, schema) == [
        "$.a: expected integer, got boolean",
        '$["b/c"][1]: expected string, got integer',
        "$.d: required",
        "$.e: unexpected property",
    ]


# --- anyOf and oneOf ---------------------------------------------------------------------

CARD = {
    "properties": {"kind": {"const": "card"}, "number": {"type": "string"}},
    "required": ["kind", "number"],
}
IBAN = {
    "properties": {"kind": {"const": "iban"}, "iban": {"type": "string"}},
    "required": ["kind", "iban"],
}


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_the_nearest_branch_comes_first(keyword):
    schema = {"properties": {"pay": {keyword: [{"type": "null"}, CARD, IBAN]}}}
    (error,) = validate({"pay": {"kind": "iban"}}, schema)
    assert error.startswith(
        "$.pay: fits none of 3 alternatives; nearest: $.pay.iban: required | or: "
    )
    assert error.endswith("| or: expected null, got object")


@pytest.mark.parametrize("kinds", [(1, 2), (True, False), ("a", "b"), (1.5, -1), ([1], [2])])
def test_a_constant_names_the_kind_of_record_whatever_its_type(kinds):
    first, second = (
        {"properties": {"v": {"const": kind}, "a": {"type": "string"}, "b": {"type": "string"}}}
        for kind in kinds
    )
    (error,) = validate({"v": kinds[1], "a": 1, "b": 2}, {"oneOf": [first, second]})
    assert error.startswith("$: fits none of 2 alternatives; nearest: $.a: expected string")
    assert "$.v: expected" in error.split(" | or: ")[1]


def test_a_long_story_is_cut_and_says_so():
    def needs(*names):
        return {"required": list(names)}

    (error,) = validate({}, {"anyOf": [needs(*"abcdef"), needs(*"abcde")]})
    assert error == (
        "$: fits none of 2 alternatives; nearest: "
        "$.a: required; $.b: required; $.c: required; $.d: required; 1 more"
        " | or: $.a: required; $.b: required; $.c: required; $.d: required; 2 more"
    )
    (error,) = validate(
        {}, {"anyOf": [needs(*"abcd"), needs(*"abc"), needs(*"ab"), needs("a")]}
    )
    assert error == (
        "$: fits none of 4 alternatives; nearest: $.a: required | or: $.a: required; $.b: required"
        " | or: $.a: required; $.b: required; $.c: required | or: 1 more alternative"
    )
    (error,) = validate({}, {"anyOf": [needs("a")] * 5})
    assert error.endswith(" | or: $.a: required | or: 2 more alternatives")
    (error,) = validate({}, {"anyOf": [needs("n" * 70 + str(n)) for n in range(9)] * 2})
    assert len(error) < 810
    (error,) = validate({}, {"anyOf": [needs(*(f"{'n' * 76}{n}" for n in range(4)))] * 3})
    assert len(error) == 803
    assert error.endswith("…")


def test_the_values_of_an_enum_are_told_up_to_twenty():
    assert validate("x", {"enum": [*range(20)]}) == [
        f"$: expected one of {', '.join(map(str, range(20)))}"
    ]
    assert validate("x", {"enum": [*range(21)]}) == [
        f"$: expected one of {', '.join(map(str, range(20)))}, … (21 in all)"
    ]


def test_every_branch_that_fits_says_what_it_has_seen():
    known = [{"properties": {name: {"type": "null"}}} for name in "ab"]
    schema = {"anyOf": known, "unevaluatedProperties": False}
    assert validate({"a": None, "b": None}, schema) == []
    assert validate({"a": None, "b": 1}, schema) == ["$.b: unexpected property"]
    assert validate({"a": None, "c": 1}, schema) == ["$.c: unexpected property"]
    one = {"oneOf": [known[0], {**known[1], "required": ["b"]}], "unevaluatedProperties": False}
    assert validate({"a": None}, one) == []
    assert validate({"a": 1, "b": None}, one) == ["$.a: unexpected property"]


def test_paths_within_branches_survive_references():
    schema = {
        "$defs": {"p": {"anyOf": [CARD, IBAN]}},
        "items": {"items": {"$ref": "#/$defs/p"}},
    }
    (error,) = validate([[{"kind": "card"}]], schema)
    assert error.startswith("$[0][0]: fits none of 2 alternatives; nearest: $[0][0].number: ")
    assert "\0" not in error


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_circles_on_one_value_are_refused_through_every_door(keyword):
    assert refusal({"$defs": {"A": {keyword: [{"$ref": "#/$defs/A"}]}}})[0] == "$ref"
    assert refusal({"not": {"$ref": "#"}})[0] == "$ref"
    assert refusal({"if": {"$ref": "#"}})[0] == "$ref"
    assert refusal({"dependentSchemas": {"a": {"$ref": "#"}}})[0] == "$ref"


# --- values that are no JSON, and bombs ----------------------------------------------------


class Action(enum.StrEnum):
    REFUND = "refund"


@pytest.mark.parametrize(
    ("instance", "said"),
    [
        ({"a": {1}}, "$.a: expected a JSON value, got set"),
        ([datetime.date(2026, 1, 1)], "$[0]: expected a JSON value, got date"),
        ([math.nan], "$[0]: expected a JSON value, got nan"),
        (-math.inf, "$: expected a JSON value, got -inf"),
        ({"a": {1: 2}}, "$.a: expected string keys, got integer"),
        ((1, 2), "$: expected a JSON value, got tuple"),
        (b"x", "$: expected a JSON value, got bytes"),
        (Decimal(1), "$: expected a JSON value, got Decimal"),
    ],
)
def test_what_is_no_json_is_a_violation(instance, said):
    assert validate(instance, {}) == [said]
    assert validate(instance, {"type": "array", "uniqueItems": True, "enum": [1]}) == [said]


def test_json_in_disguise_is_checked_as_what_it_is():
    schema = {"type": "object", "properties": {"a": {"enum": ["refund"]}, "n": {"const": 1}}}
    assert validate(OrderedDict(a=Action.REFUND, n=True), schema) == ["$.n: expected 1"]


def nested(depth, make):
    value = None
    for _ in range(depth):
        value = make(value)
    return value


TREE = {"items": {"$ref": "#"}, "properties": {"a": {"$ref": "#"}}}


@pytest.mark.parametrize("schema", [TREE, {}, {"uniqueItems": True}, {"const": [[1]]}])
@pytest.mark.parametrize("make", [lambda v: [v], lambda v: {"a": v}], ids=["lists", "objects"])
def test_depth_is_one_violation_with_its_path(schema, make):
    (error,) = validate(nested(100_000, make), schema)
    assert error.startswith("$")
    assert error.endswith(": nested deeper than 500 levels")
    assert len(error) < 400
    assert validate(nested(400, make), TREE) == []


def test_a_value_that_contains_itself_is_one_violation():
    loop = [1]
    loop.append({"again": loop})
    assert validate(loop, TREE) == ["$[1].again: contains itself"]


def test_a_caller_that_is_itself_deep_gets_an_answer():
    check = compile_validator(TREE)
    value = nested(450, lambda v: [v])

    def deep(levels):
        return deep(levels - 1) if levels else check(value)

    (error,) = deep(sys.getrecursionlimit() - 200)
    assert error == "$: nested deeper than can be checked on the stack that is left"


def test_a_long_chain_of_references_is_refused():
    chain = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(2000)} | {"d2000": True}
    with pytest.raises(UnsupportedSchema, match="in a row"):
        compile_validator({"$defs": chain, "$ref": "#/$defs/d0"})


def test_long_numbers_and_strings_stay_short_in_messages():
    big = 10**4999
    for schema in (
        {"maximum": 1},
        {"enum": [big + 1]},
        {"const": [big + 1]},
        {"minimum": big + 1},
    ):
        (error,) = validate(big, schema)
        assert len(error) < 200
    long = "x" * 10_000_000
    schema = {"maxLength": 3, "pattern": "^y*$", "const": "y" * 1000}
    errors = validate({long: long}, {"additionalProperties": schema})
    assert len(errors) == 3
    assert max(map(len, errors)) < 500


# --- the doors ---------------------------------------------------------------------------


def test_a_schema_that_was_changed_is_read_again():
    schema = {"const": 1}
    check = compile_validator(schema)
    assert validate(True, schema) != []
    schema["const"] = True
    assert validate(True, schema) == []
    assert check(True) == ["$: expected 1"]


def test_equal_schemas_are_read_once_whoever_built_them():
    schema = {
        "properties": {"amount_cents": {"type": "integer", "minimum": 1}},
        "title": "once",
    }
    twice = [{"title": "amount_cents"}, {"title": "amount_cents"}]
    schema["examples"] = [twice, twice]
    validate({}, schema)
    read = _remembered.cache_info().misses
    for _ in range(3):
        schema = json.loads(json.dumps(schema))
        assert validate({"amount_cents": 0}, schema) == ["$.amount_cents: expected at least 1"]
    assert _remembered.cache_info().misses == read


def test_an_instance_and_a_schema_are_left_as_they_were():
    schema, value = copy.deepcopy(REFUND_SCHEMA), {"ticket_id": 5, "x": [1]}
    kept = copy.deepcopy((schema, value))
    validate(value, schema)
    assert (schema, value) == kept


def test_a_compiled_validator_may_be_shared_between_threads():
    check, results = compile_validator(TREE), []
    value = nested(300, lambda v: [v, v and 1])
    threads = [threading.Thread(target=lambda: results.append(check(value))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[]] * 8


def test_formats_are_annotations_until_asked_for():
    schema = {"format": "date", "items": {"format": "odd"}}
    assert validate("soon", schema) == []

    def is_date(text):
        return len(text) == 10

    check = compile_validator(schema, formats={"date": is_date})
    assert check("soon") == ["$: expected format date"]
    assert check(["x"]) == check(5) == check("2026-11-30") == []


# --- properties --------------------------------------------------------------------------

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.0, 1.0, 1.5, -2.0])
    | st.text("ab", max_size=2)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
SMALL = st.integers(0, 3)
TYPES = ["object", "array", "string", "integer", "number", "boolean", "null"]


def schemas(inner):
    names = st.lists(st.sampled_from("abc"), max_size=2, unique=True)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(TYPES)
            | st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True),
            "enum": st.lists(JSON, min_size=1, max_size=3),
            "const": JSON,
            "minimum": SMALL,
            "exclusiveMaximum": SMALL,
            "multipleOf": st.sampled_from([1, 2, 0.5]),
            "minLength": SMALL,
            "maxItems": SMALL,
            "uniqueItems": st.booleans(),
            "minProperties": SMALL,
            "required": names,
            "dependentRequired": st.dictionaries(st.sampled_from("abc"), names, max_size=1),
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
            "patternProperties": st.dictionaries(
                st.sampled_from(["a", "^b"]), inner, max_size=1
            ),
            "additionalProperties": inner,
            "propertyNames": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "items": inner,
            "contains": inner,
            "minContains": SMALL,
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "unevaluatedItems": inner,
            "unevaluatedProperties": inner,
        },
    )


SCHEMAS = st.recursive(st.booleans(), schemas, max_leaves=6)


@given(SCHEMAS, JSON)
def test_the_verdict_is_that_of_jsonschema(schema, instance):
    assert (validate(instance, schema) == []) is Draft202012Validator(schema).is_valid(instance)


@given(SCHEMAS, JSON)
def test_both_doors_say_the_same_and_every_error_has_a_path(schema, instance):
    errors = compile_validator(schema)(instance)
    assert validate(instance, schema) == errors
    assert len(set(errors)) == len(errors)
    assert all(error.startswith("$") and ": " in error for error in errors)


@given(
    st.recursive(
        JSON | st.floats() | st.binary(max_size=2),
        lambda i: (
            st.dictionaries(st.integers(0, 2) | st.text("a"), i, max_size=2)
            | st.lists(i, max_size=2)
        ),
    )
)
def test_no_value_whatever_raises(value):
    assert isinstance(
        validate(value, {"properties": {"a": {"type": "string"}}, "uniqueItems": True}), list
    )
