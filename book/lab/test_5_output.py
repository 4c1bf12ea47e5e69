"""Step 5: a value out of a model's text, checked by the very same validator."""

import json

import pytest

from book.lab.refunds import BAD, GOOD, REFUND, TWO_ERRORS


def complaint(engine, text, schema):
    """Return the words of the ValueError; fail when there is none."""
    try:
        value = engine.coerce_output(text, schema)
    except ValueError as error:
        return str(error)
    pytest.fail(f"output is not checked: {text!r} came through as {value!r}")


def test_bare_json(engine):
    value = engine.coerce_output(json.dumps(GOOD, indent=2), REFUND)
    assert value == GOOD, f"bare JSON: got {value}"


def test_json_in_a_fence(engine):
    for opening in ("```json", "```"):
        value = engine.coerce_output(f"{opening}\n{json.dumps(GOOD)}\n```", REFUND)
        assert value == GOOD, f"fences: got {value}"


def test_a_fence_inside_a_string_is_text(engine):
    reason = {**GOOD, "reason": "use ```json fences```"}
    value = engine.coerce_output(f"```json\n{json.dumps(reason)}\n```", REFUND)
    assert value == reason, (
        f"cut at the wrong fence: a fence closes on a line of its own. Got {value}"
    )


def test_any_json_type_will_do(engine):
    for value in ([1, 2], "text", 3, 1.5, False, None):
        try:
            got = engine.coerce_output(json.dumps(value), {})
        except ValueError as error:
            got = error
        assert (got, type(got)) == (value, type(value)), (
            f"objects only: output may be any JSON value, {value!r} too. Got {got!r}"
        )


def test_all_violations_are_in_the_error(engine):
    words = complaint(engine, json.dumps(BAD), REFUND)
    missing = [error for error in TWO_ERRORS if error not in words]
    assert not missing, (
        "a second validator: output and arguments are checked by one `validate`, with one "
        f"wording. Not found: {missing}, in: {words}"
    )


def test_the_same_validator_with_all_its_traps(engine):
    value, schema = [True, "x"], {"items": {"type": "integer"}}
    words = complaint(engine, json.dumps(value), schema)
    missing = [error for error in engine.validate(value, schema) if error not in words]
    assert not missing, (
        f"a second validator: `validate` finds {missing}, coerce_output says {words!r}"
    )
    complaint(engine, "true", {"enum": [1]})


def test_what_is_not_strict_json_is_refused(engine):
    for text in ('{"a": 1, "a": 2}', "[NaN]", "I would say yes.", "", '{"a": 1', '{"a": 1} {}'):
        complaint(engine, text, {})
