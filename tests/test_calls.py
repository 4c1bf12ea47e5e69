"""Tools, their registry, and calls read off the wire."""

from __future__ import annotations

import asyncio
import functools
import json
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from refund_tool import BAD, ERRORS, GOOD, REFUND

from apisurface.calls import (
    MalformedCall,
    Tool,
    ToolCall,
    ToolRegistry,
    parse_tool_call,
    parse_tool_calls,
)
from apisurface.tools import MalformedArguments, ToolCallError
from apisurface.transport import BoundaryError
from apisurface.validator import UnsupportedSchema

ANY = {"type": "object"}


def nothing(**arguments: Any) -> None: ...


def tool(name="issue_refund", parameters=REFUND, func=nothing) -> Tool:
    return Tool(name, "Pay money back.", parameters, func)


# --- tools -----------------------------------------------------------------------


def test_three_envelopes():
    told = {"name": "issue_refund", "description": "Pay money back."}
    assert tool().to_openai_schema() == {
        "type": "function",
        "function": told | {"parameters": REFUND},
    }
    assert tool().to_anthropic_schema() == told | {"input_schema": REFUND}
    assert tool().to_mcp_schema() == told | {"inputSchema": REFUND}


def test_key_order_survives():
    schema = {"type": "object", "properties": {"z": {"type": "string"}, "a": {"type": "null"}}}
    assert json.dumps(tool(parameters=schema).to_mcp_schema()["inputSchema"]) == json.dumps(
        schema
    )


@pytest.mark.parametrize(
    "envelope", ["to_openai_schema", "to_anthropic_schema", "to_mcp_schema"]
)
def test_what_is_done_to_a_copy_reaches_nobody(envelope):
    given_schema = json.loads(json.dumps(REFUND))
    kept = tool(parameters=given_schema)
    registry = ToolRegistry([kept])

    def spoil(part):
        if isinstance(part, dict):
            part.pop("minimum", None)
            for inner in part.values():
                spoil(inner)

    for copy in (given_schema, kept.parameters, getattr(kept, envelope)()):
        spoil(copy)
    assert kept.parameters == REFUND
    bad = {"order_id": "A-1", "amount_cents": 0, "reason": "r"}
    assert len(registry.violations("issue_refund", bad)) == 1


def test_a_tool_is_a_value_that_does_not_change():
    assert tool() == tool()
    assert hash(tool()) == hash(tool())
    assert "parameters" not in repr(tool())
    for name in ("name", "description", "func", "parameters"):
        with pytest.raises(AttributeError):
            setattr(tool(), name, "other")


@pytest.mark.parametrize("name", ["", " ", None, 3, ["x"]])
def test_a_tool_needs_a_name(name):
    with pytest.raises(ValueError, match="needs a name"):
        tool(name)


@pytest.mark.parametrize("description", [None, 3, ["text"]])
def test_a_description_is_text(description):
    with pytest.raises(ValueError, match="a description is text"):
        Tool("f", description, {}, print)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"type": "string"}, "schema of an object"),
        ({"type": ["string", "null"]}, "schema of an object"),
        (True, "schema of an object"),
        ([], "schema of an object"),
        ("{}", "schema of an object"),
        ({"type": "object", "default": {1, 2}}, "not JSON"),
        ({"type": "object", "default": float("nan")}, "not JSON"),
    ],
)
def test_parameters_are_the_json_schema_of_an_object(parameters, words):
    with pytest.raises(ValueError, match=words):
        tool(parameters=parameters)


def test_an_object_among_others_or_unsaid_will_do():
    for parameters in ({}, {"type": ["object", "null"]}, {"properties": {}}):
        assert tool(parameters=parameters).parameters == parameters


def test_what_cannot_be_called_is_no_tool():
    with pytest.raises(ValueError, match="not callable"):
        tool(func="rm")


async def waits(**arguments): ...


async def yields(**arguments):
    yield 1


class Awaits:
    async def __call__(self, **arguments): ...


@pytest.mark.parametrize("func", [waits, yields, Awaits(), functools.partial(waits, a=1)])
def test_async_functions_are_refused(func):
    with pytest.raises(ValueError, match="is async"):
        tool(func=func)


def test_the_remedy_for_async_works():
    async def add(a, b):
        return a + b

    wrapped = tool(func=lambda **a: asyncio.run(add(**a)))
    assert wrapped.func(a=1, b=2) == 3


# --- the registry ----------------------------------------------------------------


def test_order_iteration_and_membership():
    made = [tool(name) for name in ("b", "a", "c")]
    registry = ToolRegistry(made)
    assert registry.names() == ["b", "a", "c"]
    assert list(registry) == made
    assert len(registry) == 3
    assert registry.get("a") is made[1]
    assert "a" in registry
    assert "z" not in registry
    assert ["a"] not in registry
    assert registry.get("z") is None
    assert registry.get(["a"]) is None
    assert repr(registry) == "ToolRegistry(b, a, c)"


def test_a_tool_may_be_registered_while_iterating():
    registry = ToolRegistry([tool("a"), tool("b")])
    for one in registry:
        registry.register(tool(one.name + "_again"))
    assert registry.names() == ["a", "b", "a_again", "b_again"]


def test_a_taken_name_is_refused_and_the_first_stays():
    registry = ToolRegistry()
    first = registry.register(tool())
    with pytest.raises(ValueError, match="registered already"):
        registry.register(tool(parameters=ANY))
    assert registry.get("issue_refund") is first


@pytest.mark.parametrize(
    "part",
    [
        {"$ref": "https://example.com/schema"},
        {"dependencies": {"a": ["b"]}},
        {"type": "array", "items": [{"type": "string"}]},
        {"type": "strin"},
        {"minLength": -1},
        {"pattern": "(?P<id>x)"},
        {"$ref": "#/$defs/nowhere"},
    ],
)
def test_what_cannot_be_enforced_is_refused_on_registration(part):
    registry = ToolRegistry()
    with pytest.raises(UnsupportedSchema) as caught:
        registry.register(tool(parameters={"type": "object", "properties": {"x": part}}))
    assert "/properties/x" in caught.value.pointer
    assert caught.value.__notes__ == ["in the parameters of tool 'issue_refund'"]
    assert registry.names() == []


def test_the_figures_of_the_contract():
    registry = ToolRegistry([tool()])
    assert registry.violations("issue_refund", BAD) == ERRORS
    assert registry.violations("issue_refund", GOOD) == []


def test_violations_of_an_unknown_tool_is_a_mistake_of_the_program():
    with pytest.raises(KeyError):
        ToolRegistry().violations("x", {})


def test_the_decorator_bare_and_with_names():
    registry = ToolRegistry()

    @registry.tool
    def bare(a: int):
        """Bare."""
        return a

    @registry.tool()
    def called(a: int): ...

    @registry.tool("short", "Said here.")
    def named(a: int):
        """Not this."""

    @registry.tool(name="keyword", description="Said here too.")
    def by_keyword(a: int): ...

    assert registry.names() == ["bare", "called", "short", "keyword"]
    assert bare(3) == 3
    assert [one.description for one in registry] == [
        "Bare.",
        "",
        "Said here.",
        "Said here too.",
    ]
    assert registry.get("bare").func(a=4) == 4
    assert registry.violations("bare", {"a": "4"}) == ["$.a: expected integer, got string"]


def test_the_decorator_refuses_async_and_what_is_not_enforced():
    registry = ToolRegistry()
    with pytest.raises(ValueError, match="is async"):
        registry.tool(asynchronous)
    assert registry.names() == []


async def asynchronous(a: int): ...


def test_types_are_asked_only_behind_the_schema():
    registry = ToolRegistry()

    @registry.tool
    def wait(ms: int, ok: bool, mode: Literal["a", "b"] = "a"): ...

    assert registry.violations("wait", {"ms": 5.0, "ok": True}) == []
    assert len(registry.violations("wait", {"ms": "5", "ok": "true", "mode": "c"})) == 3


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Item(BaseModel):
    sku: str
    count: Annotated[int, Field(ge=1)] = 1
    parts: list[Item] = []


def test_what_the_library_derives_our_validator_enforces():
    registry = ToolRegistry()

    @registry.tool
    def order(
        items: list[Item], colour: Colour, note: str | None = None, day: date | None = None
    ):
        return items, colour, note, day

    good = {
        "items": [{"sku": "a", "parts": [{"sku": "b"}]}],
        "colour": "red",
        "day": "2026-11-30",
    }
    assert registry.violations("order", good) == []
    items, colour, note, day = registry.get("order").func(**good)
    assert items[0].parts[0] == Item(sku="b")
    assert (colour, note, day) == (Colour.RED, None, date(2026, 11, 30))
    bad = {"items": [{"sku": 1, "parts": [{"count": 0}]}], "colour": "green", "x": 1}
    found = registry.violations("order", bad)
    assert [line.split(": ")[0] for line in found] == [
        "$.items[0].sku",
        "$.items[0].parts[0].sku",
        "$.items[0].parts[0].count",
        "$.colour",
        "$.x",
    ]
    assert registry.violations("order", good | {"day": "2026-02-30"})[0].startswith("$.day: ")


def test_a_pattern_in_pythons_dialect_is_refused_with_the_decorator():
    registry = ToolRegistry()

    def find(code: Annotated[str, Field(pattern=r"(?P<id>\d+)")]): ...

    with pytest.raises(UnsupportedSchema):
        registry.tool(find)
    assert registry.names() == []


@pytest.mark.parametrize(
    ("provider", "illegal"),
    [
        ("openai-chat", ["a.b", "a b", "ü", "n" * 65, "n" * 129, "x\n"]),
        ("openai-responses", ["a.b", "a b", "ü", "n" * 65, "n" * 129, "x\n"]),
        ("anthropic", ["a.b", "a b", "ü", "n" * 129, "x\n"]),
        ("gemini", ["a b", "ü", "n" * 65, "n" * 129, "2fa", "x\n"]),
        ("mcp", ["a b", "ü", "n" * 129, "x\n"]),
    ],
)
def test_names_that_a_provider_refuses(provider, illegal):
    names = ["ok", "a.b", "a b", "ü", "n" * 65, "n" * 129, "2fa", "x\n"]
    registry = ToolRegistry([tool(name) for name in names])
    assert registry.illegal_names(provider) == illegal


def test_an_unknown_provider_is_refused():
    with pytest.raises(
        ValueError, match="openai-chat, openai-responses, anthropic, gemini, mcp"
    ):
        ToolRegistry().illegal_names("acme")


# --- one call --------------------------------------------------------------------

ARGUMENTS = {"a": 1}
ONCE = json.dumps(ARGUMENTS)


@pytest.mark.parametrize("arguments", [ARGUMENTS, ONCE, json.dumps(ONCE), f" {ONCE}\n"])
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("as_text", [False, True])
def test_every_form_of_a_call(arguments, nested, as_text):
    raw: Any = {"name": "f", "arguments": arguments}
    if nested:
        raw = {"id": "c1", "type": "function", "function": raw}
    else:
        raw["id"] = "c1"
    call = parse_tool_call(json.dumps(raw) if as_text else raw)
    assert call == ToolCall("f", ARGUMENTS, "c1")


@pytest.mark.parametrize("call_id", [None, ""])
def test_no_id_is_none_and_never_empty(call_id):
    assert parse_tool_call({"id": call_id, "name": "f", "arguments": {}}).id is None
    assert parse_tool_call({"name": "f", "arguments": {}}).id is None


def test_what_is_said_twice_alike_or_not_at_all_is_no_contradiction():
    twice = {"name": "f", "type": None, "id": "c1", "call_id": "c1", "arguments": "{}"}
    assert parse_tool_call(twice) == ToolCall("f", {}, "c1")
    assert parse_tool_call({**twice, "function": {"name": "f", "arguments": "{}"}}).name == "f"


def test_the_key_is_the_programs_and_never_the_models():
    raw = {"name": "f", "arguments": {}, "idempotency_key": "k"}
    assert parse_tool_call(raw).idempotency_key is None


def test_the_arguments_are_a_copy():
    raw = {"name": "f", "arguments": {"a": [1]}}
    parse_tool_call(raw).arguments["a"].append(2)
    assert raw == {"name": "f", "arguments": {"a": [1]}}


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (None, "a call is an object, got NoneType"),
        ([], "a call is an object, got list"),
        (3, "a call is an object, got int"),
        ("", "not strict JSON"),
        ("[]", "a call is an object, got list"),
        ('{"name": "f", "name": "g", "arguments": {}}', "duplicate key"),
        ({}, "needs the name of a tool, got None"),
        ({"name": "", "arguments": {}}, "needs the name of a tool, got ''"),
        ({"name": 3, "arguments": {}}, "needs the name of a tool, got 3"),
        ({"function": {"arguments": "{}"}}, "needs the name"),
        ({"function": "f"}, "`function` must be an object"),
        ({"function": None, "name": "f"}, "`function` must be an object"),
        ({"id": 3, "name": "f", "arguments": {}}, "the id of a call is a string, got 3"),
        ({"type": "custom", "name": "f"}, "of type 'custom'"),
        ({"type": "tool_use", "name": "f", "input": {}}, "of type 'tool_use'"),
        ({"name": "f", "input": {}}, "stand under 'input'"),
        ({"name": "f", "args": {}}, "stand under 'args'"),
        ({"function": {"name": "f", "parameters": {}}}, "stand under 'parameters'"),
        ({"function": {"name": "f"}, "arguments": {"a": 1}}, "arguments also stand outside"),
        ({"function": {"name": "f"}, "name": "g"}, "name also stand outside"),
        ({"call_id": "c1", "name": "f", "arguments": {}}, "under 'id', not 'call_id'"),
        ({"call_id": "c1", "id": "fc_1", "name": "f", "arguments": {}}, "not 'call_id'"),
    ],
)
def test_what_is_no_call_is_refused_with_the_raw_thing(raw, words):
    with pytest.raises(MalformedCall, match=words) as caught:
        parse_tool_call(raw)
    assert caught.value.raw is raw


def test_the_errors_hang_in_the_tree():
    assert issubclass(MalformedCall, ToolCallError)
    assert issubclass(MalformedCall, ValueError)
    assert issubclass(MalformedCall, BoundaryError)


# --- cases -----------------------------------------------------------------------


@pytest.mark.parametrize("arguments", ["", "  ", "\n", None])
def test_b076_b077_nothing_is_an_empty_object_and_then_the_schema_decides(arguments):
    raw = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": arguments}}
    call = parse_tool_call(raw)
    assert call.arguments == {}
    free = {"type": "object", "properties": {}}
    city = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    assert ToolRegistry([tool("now", free)]).violations("now", call.arguments) == []
    assert ToolRegistry([tool("now", city)]).violations("now", {}) == ["$.city: required"]


def test_b077_missing_arguments_are_nothing_too():
    assert parse_tool_call({"name": "now"}).arguments == {}


def test_b077_the_text_null_is_refused():
    with pytest.raises(MalformedArguments, match="must be an object, got null"):
        parse_tool_call({"name": "now", "arguments": "null"})


def test_b079_a_string_inside_the_arguments_is_never_decoded():
    schema = {
        "type": "object",
        "properties": {"todos": {"type": "array"}, "note": {"type": "string"}},
    }
    call = parse_tool_call({"name": "f", "arguments": '{"todos":"[1]","note":"[1]"}'})
    assert call.arguments == {"todos": "[1]", "note": "[1]"}
    found = ToolRegistry([tool("f", schema)]).violations("f", call.arguments)
    assert found == ["$.todos: expected array, got string"]


def test_b080_arguments_that_are_an_object_already():
    [call] = parse_tool_calls(
        {"tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}
    )
    assert call == ToolCall("f", {"a": 1})
    for wrong in ([], 3, True, 1.5):
        with pytest.raises(MalformedArguments, match="must be an object"):
            parse_tool_call({"name": "f", "arguments": wrong})


@pytest.mark.parametrize(
    "arguments",
    [
        "{'q': 'x', 'ok': True}",  # B082
        '{"path":"a"}{"path":"b"}',  # B083
        '{"text": "line1\nline2"}',  # B085
        '{"t":"\\ud83d"}',  # B086
        '{"limit": 100',  # B098
        '{"path": "/safe", "path": "/etc"}',  # B100
        "[" * 100_000,  # B101
        '{"n": ' + "9" * 5000 + "}",  # B103
        "[]",  # B104
        '"x"',  # B104
        "true",  # B104
        "null",  # B125
    ],
)
def test_b082_to_b104_arguments_that_are_not_one_strict_object(arguments):
    with pytest.raises(MalformedArguments) as caught:
        parse_tool_call({"function": {"name": "f", "arguments": arguments}})
    assert caught.value.raw == arguments


def test_b133_one_id_for_two_calls_is_refused():
    def call(text):
        return {"id": "functions.eval:1", "function": {"name": "eval", "arguments": text}}

    with pytest.raises(MalformedCall, match=r"tool_calls\[1\]: the id 'functions.eval:1'"):
        parse_tool_calls(
            {"role": "assistant", "tool_calls": [call('{"e":1}'), call('{"e":2}')]}
        )


def test_b139_a_string_that_looks_like_json_stays_a_string():
    schema = {"type": "object", "properties": {"p": {"type": "string"}}}
    registry = ToolRegistry([tool("f", schema)])
    for text in ("12345", '{"a":1}', "true", "null", '"x"'):
        call = parse_tool_call({"name": "f", "arguments": json.dumps({"p": text})})
        assert call.arguments == {"p": text}
        assert registry.violations("f", call.arguments) == []


def test_b140_a_string_is_not_a_number():
    schema = {
        "type": "object",
        "properties": {"ms": {"type": "integer"}, "ok": {"type": "boolean"}},
    }
    found = ToolRegistry([tool("f", schema)]).violations("f", {"ms": "2000", "ok": "false"})
    assert found == [
        "$.ms: expected integer, got string",
        "$.ok: expected boolean, got string",
    ]


# --- several calls ---------------------------------------------------------------


def raw_call(call_id: str | None = "a", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": call_id, "function": {"name": "f", "arguments": arguments}}


def test_a_message_its_calls_and_a_list_are_read_alike():
    calls = [raw_call("a"), raw_call("b")]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    expected = [ToolCall("f", {}, "a"), ToolCall("f", {}, "b")]
    for raw in (
        message,
        calls,
        tuple(calls),
        {"tool_calls": calls},
        [json.dumps(c) for c in calls],
    ):
        assert parse_tool_calls(raw) == expected


@pytest.mark.parametrize(
    "raw",
    [
        None,
        [],
        {"role": "assistant", "content": "hi"},
        {"role": "assistant", "tool_calls": None},
    ],
)
def test_no_calls(raw):
    assert parse_tool_calls(raw) == []


def test_calls_without_ids_are_not_duplicates():
    assert len(parse_tool_calls([raw_call(None), raw_call(None), raw_call("")])) == 3


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("[]", "tool_calls is a list, got str"),
        (3, "tool_calls is a list, got int"),
        ({"role": "assistant", "tool_calls": {}}, "tool_calls is a list, got dict"),
        ({"name": "f", "arguments": {}}, "expected a message or its tool_calls"),
        ({"message": {}, "finish_reason": "stop"}, "expected a message"),
        ({"role": "user", "content": "hi"}, "a message of 'user' proposes no calls"),
        ({"role": "assistant", "function_call": {"name": "f"}}, "old form `function_call`"),
        ([raw_call(), 3], r"tool_calls\[1\]: a call is an object, got int"),
        ([raw_call("a"), raw_call("b"), raw_call("a")], r"tool_calls\[2\]: the id 'a'"),
    ],
)
def test_what_holds_no_calls_is_refused(raw, words):
    with pytest.raises(MalformedCall, match=words):
        parse_tool_calls(raw)


def test_one_bad_call_is_named_and_keeps_its_raw_text():
    with pytest.raises(
        MalformedArguments, match=r"tool_calls\[1\]: arguments are not"
    ) as caught:
        parse_tool_calls([raw_call("a"), raw_call("b", '{"x": 1')])
    assert caught.value.raw == '{"x": 1'


# --- properties ------------------------------------------------------------------

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), JSON, max_size=4))
def test_whatever_the_form_the_arguments_are_the_same(arguments):
    once = json.dumps(arguments)
    forms = (arguments, once, json.dumps(once))
    read = [parse_tool_call({"name": "f", "arguments": form}).arguments for form in forms]
    assert read == [arguments] * 3


@given(JSON | st.text())
def test_anything_is_read_or_refused_with_a_typed_error(raw):
    for read in (parse_tool_call, parse_tool_calls):
        try:
            read(raw)
        except ToolCallError as error:
            assert str(error)
