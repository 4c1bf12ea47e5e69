"""Instances made out of a schema in the wild: `samples(schema)`, the same on every run.

What the schema itself gives comes first (its examples and default), then values built along its
keywords, then the same values spoiled in one place. They need not be valid: two validators are
to say the same of each.
"""

from __future__ import annotations

from random import Random
from typing import Any
from urllib.parse import unquote

from judges.pairs import Maker
from judges.places import follow

BUILT = 8
PLAIN = {"string": "a", "integer": 1, "number": 0.5, "boolean": True, "null": None}


class Sampler:
    """Builds values along the keywords of one document."""

    def __init__(self, document: Any, seed: int):
        self.document = document
        self.random = Random(seed)

    def build(self, schema: Any, depth: int) -> Any:
        if not isinstance(schema, dict) or depth <= 0:
            return self.random.choice(["a", 1, True, None, {}, []])
        given = schema.get("examples")
        given = given if isinstance(given, list) else []
        given = given + [schema["default"]] if "default" in schema else given
        if given and self.random.random() < 0.3:
            return self.random.choice(given)
        if "const" in schema:
            return schema["const"]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return self.random.choice(schema["enum"])
        link = schema.get("$ref")
        if isinstance(link, str) and link.startswith("#"):
            return self.build(follow(self.document, unquote(link[1:])), depth - 1)
        value = self.of_type(schema, depth)
        branches = schema.get("allOf", [])
        for word in ("anyOf", "oneOf"):
            if schema.get(word):
                branches = [*branches, self.random.choice(schema[word])]
        for branch in branches:
            more = self.build(branch, depth - 1)
            both = isinstance(value, dict) and isinstance(more, dict)
            value = value | more if both else more
        return value

    def of_type(self, schema: dict[str, Any], depth: int) -> Any:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = self.random.choice(kind) if kind else None
        if kind is None:
            kind = "object" if {"properties", "required"} & set(schema) else "string"
        if kind == "object":
            return self.of_object(schema, depth)
        if kind == "array":
            items = schema.get("items", True)
            count = max(self.random.randint(0, 2), min(schema.get("minItems", 0), 4))
            return [self.build(items, depth - 1) for _ in range(count)]
        if kind == "string":
            length = min(schema.get("minLength", 0), 50)
            return self.random.choice(["a", "1.2.3", "x-1", "A b"]).ljust(length, "a")
        if kind in ("integer", "number") and isinstance(schema.get("minimum"), int | float):
            return schema["minimum"] + self.random.randint(0, 1)
        return PLAIN.get(str(kind))

    def of_object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        keys = list(required) if isinstance(required, list) else []
        some = [key for key in properties if self.random.random() < 3 / (3 + len(properties))]
        made = {
            key: self.build(properties.get(key, True), depth - 1)
            for key in dict.fromkeys(keys + some)
        }
        if self.random.random() < 0.2:
            made["x-a"] = self.build(schema.get("additionalProperties", True), depth - 1)
        return made


def samples(schema: Any) -> list[Any]:
    """Return the instances to try on a schema: about twenty."""
    given = []
    if isinstance(schema, dict):
        examples = schema.get("examples", [])
        given = list(examples)[:4] if isinstance(examples, list) else []
        given += [schema["default"]] if "default" in schema else []
    built = [Sampler(schema, seed).build(schema, 6) for seed in range(BUILT)]
    spoiled = [Maker(seed).spoiled(value) for seed, value in enumerate(built)]
    return [*given, {}, [], "a", *built, *spoiled]
