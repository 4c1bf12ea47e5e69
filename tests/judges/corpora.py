"""Other people's schemas and tests, read out of the pinned archives; nothing is unpacked on disk.

`suite(group)` yields the cases of the official JSON Schema test suite, `stored_schemas()` the
schemas of schemastore, `bfcl_tools()` and `bfcl_calls()` the tools of a function-calling benchmark
and the calls its answer files accept.
"""

from __future__ import annotations

import ast
import json
import pickletools
import re
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from tools.archives import members

SUITE = "jsonschema-4.26.0/json/"
REQUIRED, OPTIONAL, FORMAT = "required", "optional", "format"


# --- the official suite ------------------------------------------------------------------


@dataclass(frozen=True)
class SuiteCase:
    """One test: `name` is file, place of the group and place of the test in the group."""

    name: str
    schema: Any
    data: Any
    valid: bool
    what: str


def suite(group: str) -> list[SuiteCase]:
    """Return the Draft 2020-12 tests of one group: required, optional or format."""
    root = SUITE + "tests/draft2020-12/"
    cases = []
    for path, content in members("jsonschema", ".json"):
        if not path.startswith(root):
            continue
        name = path.removeprefix(root).removesuffix(".json")
        folder, _, stem = name.rpartition("/")
        if {"": REQUIRED, "optional": OPTIONAL, "optional/format": FORMAT}[folder] != group:
            continue
        for i, tests in enumerate(json.loads(content)):
            for k, test in enumerate(tests["tests"]):
                what = f"{tests['description']}: {test['description']}"
                data, valid = test["data"], test["valid"]
                cases.append(SuiteCase(f"{stem} {i}.{k}", tests["schema"], data, valid, what))
    return cases


def remotes() -> dict[str, Any]:
    """Return the documents that the suite expects to be served, by their address."""
    root = SUITE + "remotes/"
    return {
        "http://localhost:1234/" + path.removeprefix(root): json.loads(content)
        for path, content in members("jsonschema", ".json")
        if path.startswith(root)
    }


# --- schemastore -------------------------------------------------------------------------


def stored_schemas() -> dict[str, Any]:
    """Return the distinct documents that schemastore's catalog lists, by their name there.

    The wheel holds a database of pickled HTTP answers. They are read with `pickletools`, which
    runs nothing: the body is the string after `_content`, the addresses are those among the rest.
    """
    ((_, content),) = members("schemastore", "cache.sqlite")
    base = sqlite3.connect(":memory:")
    base.deserialize(content)
    bodies: dict[str, bytes] = {}
    for (pickled,) in base.execute("SELECT value FROM responses ORDER BY key"):
        strings = [
            arg for _, arg, _ in pickletools.genops(pickled) if isinstance(arg, str | bytes)
        ]
        body = strings[strings.index("_content") + 1]
        addresses = [s for s in strings if isinstance(s, str) and s.startswith("http")]
        bodies |= {unquote(address): body for address in addresses}
    base.close()
    (catalog,) = (body for url, body in bodies.items() if url.endswith("api/json/catalog.json"))
    found: dict[str, Any] = {}
    for entry in sorted(json.loads(catalog)["schemas"], key=lambda entry: entry["name"]):
        body = bodies.get(unquote(entry["url"]), b"")
        with suppress(ValueError):  # six were never stored, one is not JSON
            schema = json.loads(body)
            if schema not in found.values():
                found[entry["name"]] = schema
    return found


# --- the function-calling benchmark ------------------------------------------------------

BFCL = "bfcl_eval/data/"


@dataclass(frozen=True)
class BfclCall:
    """One accepted call: the question it answers, the tool as converted, and its arguments."""

    name: str
    tool: dict[str, Any]
    arguments: dict[str, Any]


def bfcl_types() -> dict[str, str]:
    """Return the benchmark's own map from its type words to JSON Schema's, read as data."""
    ((_, source),) = members("bfcl-eval", "constants/type_mappings.py")
    for node in ast.parse(source).body:
        if (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == "GORILLA_TO_OPENAPI"
        ):
            found: dict[str, str] = ast.literal_eval(node.value)
            return found
    raise LookupError("bfcl-eval has no GORILLA_TO_OPENAPI")


def in_json_types(schema: dict[str, Any], types: dict[str, str]) -> dict[str, Any]:
    """Return a benchmark schema in JSON Schema's words, at every depth.

    A type the map does not know is a string, as in the benchmark's own conversion.
    """
    new = dict(schema)
    if "type" in new:
        new["type"] = types.get(new["type"], "string")
    if isinstance(new.get("properties"), dict):
        new["properties"] = {k: in_json_types(v, types) for k, v in new["properties"].items()}
    for keyword in ("items", "additionalProperties"):
        if isinstance(new.get(keyword), dict):
            new[keyword] = in_json_types(new[keyword], types)
    return new


def _questions() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the file's stem and each question that offers tools, as shipped."""
    for path, content in members("bfcl-eval", ".json"):
        if re.fullmatch(BFCL + r"BFCL_v4_\w+\.json", path) and "sensitivity" not in path:
            stem = path.removeprefix(BFCL + "BFCL_v4_").removesuffix(".json")
            for line in content.decode().splitlines():
                question = json.loads(line)
                if "function" in question:
                    yield stem, question


def bfcl_tools() -> list[dict[str, Any]]:
    """Return the tools of all questions, distinct as shipped, in JSON Schema's types."""
    shipped = {json.dumps(f, sort_keys=True): f for _, q in _questions() for f in q["function"]}
    types = bfcl_types()
    return [f | {"parameters": in_json_types(f["parameters"], types)} for f in shipped.values()]


def _first_value(options: Any) -> Any:
    """Return the first accepted value; `...` when that is to leave the parameter out.

    A parameter maps to the list of values that count as right, where "" says that it may be left
    out. Inside an object the parameters do so again.
    """
    if not isinstance(options, list):
        return options
    return _expanded(options[0]) if options and options[0] != "" else ...


def _expanded(value: Any) -> Any:
    if isinstance(value, dict):
        members = {key: _first_value(options) for key, options in value.items()}
        return {key: member for key, member in members.items() if member is not ...}
    if isinstance(value, list):
        return [_expanded(item) for item in value]
    return value


def bfcl_calls() -> list[BfclCall]:
    """Return each call of the answer files, taking the first accepted value of each parameter."""
    types = bfcl_types()
    tools = {
        (stem, question["id"], tool["name"]): tool
        | {"parameters": in_json_types(tool["parameters"], types)}
        for stem, question in _questions()
        for tool in question["function"]
    }
    calls = []
    for path, content in members("bfcl-eval", ".json"):
        if not path.startswith(BFCL + "possible_answer/BFCL_v4_"):
            continue
        stem = path.removeprefix(BFCL + "possible_answer/BFCL_v4_").removesuffix(".json")
        for line in content.decode().splitlines():
            answer = json.loads(line)
            truths = [truth for truth in answer["ground_truth"] if isinstance(truth, dict)]
            for place, truth in enumerate(truths):
                ((name, accepted),) = truth.items()
                case = f"{answer['id']} {place} {name}"
                tool = tools[stem, answer["id"], name]
                calls.append(BfclCall(case, tool, _expanded(accepted)))
    return calls
