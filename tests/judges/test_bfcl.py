"""A benchmark's tools and accepted calls, through our registry, parser and dispatch.

bfcl-eval ships 3,258 distinct tools whose types are Python's words; after its own type map they are
JSON Schema. Of the 3,302 calls that its answer files accept, 50 break the schema they answer:
each of those errors was read and is the benchmark's.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from judges.corpora import BfclCall, bfcl_calls, bfcl_tools
from judges.verdicts import settle

from apisurface.calls import Tool, ToolRegistry, parse_tool_call
from apisurface.dispatch import dispatch
from apisurface.validator import UnsupportedSchema

LADDER = ["crash", "wrong", "refused", "rejected", "right"]


def tool(shipped: dict[str, Any]) -> Tool:
    """Return the tool, with a function that gives back the arguments it gets."""
    name, text = shipped["name"], shipped["description"]
    return Tool(name, text, shipped["parameters"], lambda **arguments: arguments)


@pytest.fixture(scope="module")
def tools() -> list[dict[str, Any]]:
    return bfcl_tools()


@pytest.fixture(scope="module")
def calls() -> list[BfclCall]:
    return bfcl_calls()


def test_every_tool_registers(tools):
    assert len(tools) == 3258
    refused = []
    for shipped in tools:
        try:
            ToolRegistry().register(tool(shipped))
        except UnsupportedSchema as refusal:
            refused.append((shipped["name"], str(refusal)))
    assert refused == []


def test_types_as_shipped_are_refused_by_name_and_pointer():
    shipped = {"type": "object", "properties": {"a": {"type": "float"}}, "required": ["a"]}
    with pytest.raises(UnsupportedSchema) as caught:
        ToolRegistry().register(Tool("f", "", shipped, lambda: None))
    assert (caught.value.keyword, caught.value.pointer) == ("type", "/properties/a/type")
    with pytest.raises(ValueError, match="the schema of an object"):
        ToolRegistry().register(Tool("f", "", shipped | {"type": "dict"}, lambda: None))


def test_names_that_a_provider_refuses_are_reported(tools):
    names = dict.fromkeys(shipped["name"] for shipped in tools)
    registry = ToolRegistry(Tool(name, "", {"type": "object"}, print) for name in names)
    assert len(registry.names()) == 1853
    illegal = registry.illegal_names("openai-chat")
    assert len(illegal) == 871
    legal = re.compile(r"[a-zA-Z0-9_-]{1,64}")
    assert illegal == [name for name in registry.names() if not legal.fullmatch(name)]


FORMS = [
    lambda name, arguments: {"name": name, "arguments": arguments},
    lambda name, arguments: json.dumps({"name": name, "arguments": json.dumps(arguments)}),
    lambda name, arguments: {
        "id": "call_1",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
    },
]


def verdict(call: BfclCall, form: Any) -> str:
    """Read the call off the wire and dispatch it: what runs gets exactly the arguments meant."""
    got: list[dict[str, Any]] = []
    name, schema = call.tool["name"], call.tool["parameters"]
    registry = ToolRegistry([Tool(name, "", schema, lambda **given: got.append(given))])
    result = dispatch(registry, parse_tool_call(form(name, call.arguments)))
    if result.ok:
        return "right" if got == [call.arguments] else "wrong"
    told = [re.sub(r"expected one of .*", "not in the enum", error) for error in result.errors]
    return "wrong" if got else "rejected: " + "; ".join(told)


@pytest.fixture(scope="module")
def verdicts(calls: list[BfclCall]) -> dict[str, str]:
    return {call.name: verdict(call, FORMS[at % 3]) for at, call in enumerate(calls)}


def test_calls(verdicts):
    """Only what is not right goes to the file, with the counts: 3,252 lines would say nothing."""
    assert len(verdicts) == 3302
    notable = {name: said for name, said in verdicts.items() if said != "right"}
    right = len(verdicts) - len(notable)
    assert (right, len(notable)) == (3252, 50)
    settle("bfcl", notable, LADDER, f"{right} of 3,302 accepted calls pass; these do not")


def test_the_judge_rejects_the_same_calls(calls, verdicts):
    rs = pytest.importorskip(
        "jsonschema_rs", reason="jsonschema-rs comes with make test-judges"
    )
    for call in calls:
        valid = rs.Draft202012Validator(call.tool["parameters"]).is_valid(call.arguments)
        assert valid is (verdicts[call.name] == "right"), call.name
