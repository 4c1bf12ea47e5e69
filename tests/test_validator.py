"""The validator: every violation with its path, exact refusals, no crash, bounded work."""

import copy
import datetime
import enum
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
from apisurface.validator import compile_validator, validate


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
    ({"enum": []}, "b", "$: no value is allowed"),
    ({"const": None}, "b", "$: expected null"),
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
    ({"prefixItems": [True], "items": False}, [1, 2], "$[1]: unexpected item"),
    (
        {"contains": {"type": "null"}},
        [1],
        "$: expected at least 1 item that fits contains, got 0",
    ),
    (
        {"contains": {"type": "null"}, "maxContains": 1},
        [None, None],
        "$: expected at most 1 item that fits contains, got 2",
    ),
    ({"minProperties": 1}, {}, "$: expected at least 1 property"),
    ({"maxProperties": 1}, {"a": 1, "b": 2}, "$: expected at most 1 property"),
    (
        {"patternProperties": {"^n": {"type": "null"}}},
        {"n1": 0},
        "$.n1: expected null, got integer",
    ),
    (
        {"propertyNames": {"maxLength": 2}},
        {"abc": 1},
        '$: name "abc": expected at most 2 characters',
    ),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, '$.b: required because "a" is there'),
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
    ({"not": {"type": "string"}}, "a", "$: fits the schema under not"),
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


def test_the_path_begins_where_the_caller_says():
    assert validate("x", {"type": "null"}, path="$.call") == [
        "$.call: expected null, got string"
    ]
    assert validate("x", {"type": "null"}, path="50%s") == ["50%s: expected null, got string"]


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
    ("schema", "instance", "valid"),
    [
        ({"minLength": 2}, "💩", False),
        ({"maxLength": 1}, "💩", True),
        ({"maxLength": 1}, "e\u0301", False),
    ],
)
def test_b118_lengths_count_code_points(schema, instance, valid):
    assert (validate(instance, schema) == []) is valid


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


def test_paths_within_branches_survive_references():
    schema = {
        "$defs": {"p": {"anyOf": [CARD, IBAN]}},
        "items": {"items": {"$ref": "#/$defs/p"}},
    }
    (error,) = validate([[{"kind": "card"}]], schema)
    assert error.startswith("$[0][0]: fits none of 2 alternatives; nearest: $[0][0].number: ")
    assert "\0" not in error


# --- refusals ----------------------------------------------------------------------------

MALFORMED = [
    ({"minLength": -1}, "minLength", "/minLength"),
    ({"minLength": 1.5}, "minLength", "/minLength"),
    ({"maxItems": True}, "maxItems", "/maxItems"),
    ({"type": "dict"}, "type", "/type"),
    ({"type": []}, "type", "/type"),
    ({"type": ["null", "null"]}, "type", "/type"),
    ({"multipleOf": 0}, "multipleOf", "/multipleOf"),
    ({"exclusiveMinimum": True}, "exclusiveMinimum", "/exclusiveMinimum"),
    ({"required": True}, "required", "/required"),
    ({"required": ["a", "a"]}, "required", "/required"),
    ({"enum": {"a": 1}}, "enum", "/enum"),
    ({"pattern": "("}, "pattern", "/pattern"),
    ({"patternProperties": {"[": True}}, "patternProperties", "/patternProperties/["),
    ({"properties": {"a/b": 5}}, "properties", "/properties/a~1b"),
    ({"allOf": []}, "allOf", "/allOf"),
    ({"items": [True]}, "items", "/items"),
    ({"additionalItems": False}, "additionalItems", "/additionalItems"),
    ({"$recursiveRef": "#"}, "$recursiveRef", "/$recursiveRef"),
    ({"$id": "#name"}, "$id", "/$id"),
    ({"$schema": "http://example.com/mine"}, "$schema", "/$schema"),
    ({"$anchor": "1"}, "$anchor", "/$anchor"),
    ({"$defs": {"unused": {"type": "x"}}}, "type", "/$defs/unused/type"),
    ({"anyOf": [True, {"$ref": "#nowhere"}]}, "$ref", "/anyOf/1/$ref"),
    ({"const": {1}}, "const", "/const"),
    ({"enum": [math.nan]}, "enum", "/enum/0"),
    ("string", "", ""),
    (None, "", ""),
    ([], "", ""),
]


@pytest.mark.parametrize(
    ("schema", "keyword", "pointer"), MALFORMED, ids=[str(m[0]) for m in MALFORMED]
)
def test_a_malformed_schema_is_refused_by_name_and_place(schema, keyword, pointer):
    assert refusal(schema) == (keyword, pointer)
    with pytest.raises(UnsupportedSchema):
        validate({}, schema)
    with pytest.raises(UnsupportedSchema):
        validate({}, schema)  # the second time too: a refusal is not remembered as an answer


DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def test_another_draft_is_accepted_as_far_as_it_means_the_same():
    schema = {"$schema": DRAFT_7, "properties": {"a": {"$ref": "#/definitions/a"}}}
    schema["definitions"] = {"a": {"type": "null"}}
    assert validate({"a": 1}, schema) == ["$.a: expected null, got integer"]
    assert refusal({"$schema": DRAFT_7, "minContains": 1}) == ("minContains", "/minContains")
    beside = {
        "$schema": DRAFT_7,
        "$ref": "#/definitions/a",
        "type": "object",
        "definitions": {"a": {}},
    }
    assert refusal(beside) == ("$ref", "/$ref")
    draft_4 = {"$schema": "http://json-schema.org/draft-04/schema#", "id": "http://x/y"}
    assert validate(1, draft_4) == []
    assert refusal({**draft_4, "properties": {"a": {"id": "z"}}}) == ("id", "/properties/a/id")


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
    assert "nested" in error


@pytest.mark.parametrize("keyword", ["allOf", "properties", "items", "not", "$defs", "anyOf"])
@pytest.mark.parametrize("depth", [200, 100_000])
def test_deep_schemas_are_checked_or_refused(keyword, depth):
    wrap = {
        "allOf": lambda v: {"allOf": [v]},
        "anyOf": lambda v: {"anyOf": [v, False]},
        "properties": lambda v: {"properties": {"a": v}},
        "$defs": lambda v: {"$defs": {"a": v}},
        "items": lambda v: {"items": v},
        "not": lambda v: {"not": v},
    }[keyword]
    schema = True
    for _ in range(depth):
        schema = wrap(schema)
    if depth > 500:
        with pytest.raises(UnsupportedSchema, match="deeper than 500 levels"):
            validate(1, schema)
    else:
        assert validate(1, schema) == []


def test_a_long_chain_of_references_is_refused():
    chain = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(2000)} | {"d2000": True}
    with pytest.raises(UnsupportedSchema, match="in a row"):
        compile_validator({"$defs": chain, "$ref": "#/$defs/d0"})


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize("extra", [{}, {"unevaluatedProperties": False}])
def test_references_that_double_cost_no_more(keyword, extra):
    defs = {
        f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]}
        for n in range(40)
    }
    schema = {"$defs": {**defs, "d40": {"type": "null"}}, "$ref": "#/$defs/d0", **extra}
    assert len(validate({"x": 1}, schema)) <= 2


def test_a_tree_with_alternatives_is_visited_once_per_place():
    branch = {"properties": {"c": {"$ref": "#"}}}
    schema = {"anyOf": [{**branch, "required": ["x"]}, {**branch, "required": ["y"]}]}
    value = {"y": 1}
    for _ in range(100):
        value = {"c": value, "y": 1}
    assert validate(value, schema) == []
    assert len(validate(nested(100, lambda v: {"c": v}), schema)) == 1


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


def test_many_items_are_compared_in_linear_time():
    values = [{"a": n, "b": [n]} for n in range(50_000)]
    assert validate(values, {"uniqueItems": True}) == []
    same_hash = [n * (2**61 - 1) for n in range(1, 20_000)]
    assert validate(same_hash, {"uniqueItems": True}) == []


# --- the doors ---------------------------------------------------------------------------


def test_a_schema_that_was_changed_is_read_again():
    schema = {"const": 1}
    check = compile_validator(schema)
    assert validate(True, schema) != []
    schema["const"] = True
    assert validate(True, schema) == []
    assert check(True) == ["$: expected 1"]


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


HOSTILE = [
    '"); raise SystemExit("',
    "'''",
    "\\",
    "%s%d%(x)s",
    "{v}",
    "\n    import os",
    "\0",
    "__class__",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_of_a_schema_becomes_code(text):
    schema = {
        "properties": {text: {"const": text}},
        "required": [text],
        "patternProperties": {"^zz": {"enum": [text, 1]}},
        "dependentRequired": {text: [text + "x"]},
        "$defs": {text: {"title": text}},
    }
    assert len(validate({}, schema)) == 1
    assert len(validate({text: 1}, schema)) == 2


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
