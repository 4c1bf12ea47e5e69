"""Step 2: one call out of whatever form it came in, or a ValueError."""

import json

import pytest

from book.lab.refunds import GOOD


def refused(engine, raw, mistake):
    """Require a ValueError, and name the mistake when there is none."""
    try:
        call = engine.parse_tool_call(raw)
    except ValueError:
        return
    except NotImplementedError:
        raise
    except Exception as error:
        pytest.fail(
            f"{mistake} And what it raised, {type(error).__name__}, is no ValueError: the "
            "caller cannot tell a bad proposal from a bug."
        )
    pytest.fail(f"{mistake} Got {call}")


def test_a_flat_call(engine):
    call = engine.parse_tool_call({"name": "f", "arguments": GOOD, "id": "c1"})
    assert (call.name, call.arguments, call.id) == ("f", GOOD, "c1"), f"a flat call: got {call}"


def test_a_call_as_providers_nest_it(engine):
    function = {"name": "f", "arguments": json.dumps(GOOD)}
    call = engine.parse_tool_call({"id": "c1", "type": "function", "function": function})
    assert (call.name, call.arguments) == ("f", GOOD), f"a nested call: got {call}"
    assert call.id == "c1", (
        "lost ids: the id stands beside `function`, not in it. Without it the result cannot be "
        f"told which call it answers. Got {call.id!r}"
    )


def test_a_call_as_text(engine):
    call = engine.parse_tool_call(json.dumps({"name": "f", "arguments": GOOD}))
    assert (call.name, call.arguments) == ("f", GOOD), f"a call as text: got {call}"


def test_arguments_in_text_in_text_are_decoded_again(engine):
    raw = json.dumps({"name": "f", "arguments": json.dumps(GOOD)})
    try:
        call = engine.parse_tool_call(raw)
    except ValueError as error:
        call = error
    assert getattr(call, "arguments", None) == GOOD, (
        "single decode: on the wire `arguments` is JSON text inside JSON text. Decode the "
        f"call, then decode its arguments. Got {call!r}"
    )


def test_no_arguments_are_an_empty_object(engine):
    for nothing in ("", None):
        try:
            call = engine.parse_tool_call({"name": "f", "arguments": nothing})
        except ValueError as error:
            call = error
        assert getattr(call, "arguments", None) == {}, (
            "nothing is an error: a tool without parameters is called with an empty string or "
            f"null. That is {{}}, and the schema decides the rest. Got {call!r}"
        )


def test_arguments_that_are_no_object_are_refused(engine):
    for arguments in ("[]", "3", '"x"', "true", [1], 3):
        raw = {"name": "f", "arguments": arguments}
        refused(engine, raw, f"takes any JSON: {arguments!r} is no object with named values.")


def test_broken_arguments_are_refused_and_not_emptied(engine):
    for arguments in ('{"path": "/tm', "{'path': 'x'}", '{"a": 1}{"b": 2}'):
        raw = {"name": "f", "arguments": arguments}
        refused(
            engine,
            raw,
            "empty instead of broken: a call whose arguments were cut or doubled must not run "
            "as another call.",
        )


def test_a_key_twice_is_refused(engine):
    raw = {"name": "f", "arguments": '{"path": "/safe", "path": "/etc"}'}
    mistake = (
        "one of two keys: the check may see the first value and the tool the last. JSON gives "
        "a repeated key no meaning."
    )
    refused(engine, raw, mistake)


def test_values_are_not_converted(engine):
    arguments = {"amount_cents": "5000", "ok": "false", "note": '{"a": 1}', "n": "null"}
    call = engine.parse_tool_call({"name": "f", "arguments": json.dumps(arguments)})
    assert call.arguments == arguments, (
        "converts values: a string that looks like a number may be a house number. Whether it "
        f"has to be one is for the schema. Got {call.arguments}"
    )


def test_what_is_no_call_is_a_value_error(engine):
    for raw in ({}, {"name": ""}, {"name": 3, "arguments": {}}, [], None, 7, "hello", "{"):
        refused(engine, raw, f"anything is a call: {raw!r} names no tool.")
    refused(engine, {"function": None}, "anything is a call: a `function` that is null.")


def test_nothing_is_shared_with_what_came(engine):
    raw = {"name": "f", "arguments": {"items": [1]}}
    engine.parse_tool_call(raw).arguments["items"].append(2)
    assert raw == {"name": "f", "arguments": {"items": [1]}}, (
        "shared arguments: changing the call changed the message it came from, which is stored "
        "and sent again"
    )
