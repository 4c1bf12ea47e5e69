"""Step 1: every violation, each with its path."""

import copy

import pytest

from book.lab.refunds import BAD, GOOD, REFUND, TWO_ERRORS

ITEMS = {
    "type": "object",
    "properties": {
        "line_items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}},
                "required": ["sku"],
            },
        }
    },
}


def test_a_valid_value_has_no_errors(engine):
    errors = engine.validate(GOOD, REFUND)
    assert errors == [], f"valid is refused: a good value must give [], got {errors}"


def test_a_wrong_type_is_told_with_its_path(engine):
    errors = engine.validate({"a": "5000"}, {"properties": {"a": {"type": "integer"}}})
    assert all(error.startswith("$.a: ") for error in errors), (
        "path missing: without its path an error cannot be acted on, neither by a model nor by "
        f"you. Expected one that begins with '$.a: ', got {errors}"
    )
    assert errors == ["$.a: expected integer, got string"], (
        f"another wording: expected '$.a: expected integer, got string', got {errors}"
    )


def test_a_missing_property_is_told_with_its_path(engine):
    errors = engine.validate({}, {"type": "object", "required": ["reason"]})
    assert errors == ["$.reason: required"], (
        f"required is not checked: expected ['$.reason: required'], got {errors}"
    )


def test_all_errors_come_at_once(engine):
    errors = engine.validate(BAD, REFUND)
    assert len(errors) >= 2, (
        "first error only: every error that you keep back costs another round trip to the "
        f"model, and a repair for it. This value has two, got {errors}"
    )
    assert sorted(errors) == sorted(TWO_ERRORS), f"other errors: {errors}"


def test_errors_deep_inside_are_found_with_their_path(engine):
    value = {"line_items": [{"count": "1"}, {"sku": "A", "count": 2}, {"sku": 3}]}
    errors = engine.validate(value, ITEMS)
    expected = [
        "$.line_items[0].count: expected integer, got string",
        "$.line_items[0].sku: required",
        "$.line_items[2].sku: expected string, got integer",
    ]
    assert sorted(errors) == expected, (
        "only the surface: `items` and `properties` apply at every depth, and each step "
        f"belongs to the path. Expected {expected}, got {errors}"
    )


def test_an_unexpected_property_is_refused(engine):
    errors = engine.validate({**GOOD, "approved_by": "bot"}, REFUND)
    assert errors == ["$.approved_by: unexpected property"], (
        "extras pass: additionalProperties is false, and a misspelt or smuggled field went "
        f"through. Got {errors}"
    )


def test_other_properties_may_have_a_schema(engine):
    schema = {"properties": {"a": {}}, "additionalProperties": {"type": "string"}}
    errors = engine.validate({"a": 1, "b": "x", "c": 2}, schema)
    assert errors == ["$.c: expected string, got integer"], (
        "extras pass: additionalProperties may be a schema, which every other property has to "
        f"fit. Got {errors}"
    )


def test_true_is_no_integer(engine):
    errors = engine.validate(True, {"type": "integer"})
    assert errors == ["$: expected integer, got boolean"], (
        "bool as int: in Python True is an int. A model that says true for an amount would "
        f"refund one cent. Got {errors}"
    )


def test_true_is_no_number(engine):
    errors = engine.validate([True], {"items": {"type": "number"}})
    assert errors == ["$[0]: expected number, got boolean"], (
        f"bool as int: True is not a number either. Got {errors}"
    )


def test_one_is_no_boolean(engine):
    errors = engine.validate(1, {"type": "boolean"})
    assert errors == ["$: expected boolean, got integer"], (
        f"int as bool: 1 is not true, however alike they behave. Got {errors}"
    )


def test_a_float_without_fraction_is_an_integer(engine):
    errors = engine.validate([1.0, 1.5], {"items": {"type": "integer"}})
    assert errors == ["$[1]: expected integer, got number"], (
        "float is no integer: JSON has one kind of number, and 1.0 is an integer (1.5 is not). "
        f"Got {errors}"
    )


def test_true_is_not_one_in_an_enum(engine):
    assert engine.validate(True, {"enum": [1, 2]}) != [], (
        "enum takes true for one: True == 1 in Python, and the trap has a second home in `enum`"
    )
    assert engine.validate(1, {"enum": [True]}) != [], (
        "enum takes true for one: and 1 is not true"
    )
    assert engine.validate(1.0, {"enum": [1, 2]}) == [], (
        "enum tells 1.0 from 1: they are the same JSON number"
    )


def test_true_is_not_one_deep_inside_an_enum(engine):
    schema = {"enum": [{"flags": [1, 0]}]}
    assert engine.validate({"flags": [True, False]}, schema) != [], (
        "enum takes true for one: `==` on lists and dicts compares their parts with `==` too"
    )
    assert engine.validate({"flags": [1, 0.0]}, schema) == [], "enum tells 0.0 from 0"


def test_bounds_are_part_of_the_range(engine):
    schema = {"minimum": 1, "maximum": 3}
    verdicts = [len(engine.validate(value, schema)) for value in (0.9, 1, 3, 3.1)]
    assert verdicts == [1, 0, 0, 1], (
        "bounds are off: minimum and maximum allow the bound itself. "
        f"Errors for 0.9, 1, 3, 3.1: {verdicts}"
    )


def test_lengths_are_counted_in_characters(engine):
    schema = {"minLength": 2, "maxLength": 3}
    verdicts = [len(engine.validate(value, schema)) for value in ("a", "ab", "äöü", "abcd")]
    assert verdicts == [1, 0, 0, 1], (
        "lengths are off: minLength and maxLength count characters and allow the bound. "
        f"Errors for a, ab, äöü, abcd: {verdicts}"
    )


def test_a_keyword_is_silent_about_other_kinds_of_values(engine):
    schema = {"minimum": 1, "minLength": 2, "required": ["a"], "items": {"type": "null"}}
    for value in (None, True):
        errors = engine.validate(value, schema)
        assert errors == [], (
            "a keyword speaks about everything: `minimum` is about numbers and says nothing "
            f"about {value!r}. Got {errors}"
        )


def test_a_type_may_be_a_list(engine):
    schema = {"type": ["string", "null"]}
    assert engine.validate(None, schema) == [], "one type only: null is in the list"
    assert len(engine.validate(1, schema)) == 1, "one type only: 1 is neither string nor null"


def test_a_key_that_is_no_name_is_quoted(engine):
    errors = engine.validate({}, {"required": ["a key"]})
    assert errors == ['$["a key"]: required'], (
        "path missing: a key that is no identifier is bracketed and quoted, or `a.b` could be "
        f"two steps. Got {errors}"
    )


def test_the_path_begins_where_the_caller_says(engine):
    errors = engine.validate({}, {"required": ["a"]}, "$.outer")
    assert errors == ["$.outer.a: required"], f"path missing: it starts at `path`. Got {errors}"


def test_an_unknown_keyword_is_refused(engine):
    engine.validate("x", {"type": "string", "title": "a", "description": "b", "default": "c"})
    try:
        errors = engine.validate({"a": 1}, {"dependencies": {"a": ["b"]}})
    except ValueError:
        return
    pytest.fail(
        "ignores keywords: a keyword that you do not know promises something you do not check. "
        f"Raise ValueError. Got {errors}"
    )


def test_nothing_is_changed(engine):
    value, schema = copy.deepcopy(BAD), copy.deepcopy(REFUND)
    engine.validate(value, schema)
    assert (value, schema) == (BAD, REFUND), (
        "changes what it checks: a check that fills in defaults or removes fields decides what "
        "runs"
    )
