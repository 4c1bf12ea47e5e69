"""Made-up schemas with made-up instances: `pair(seed)`, the same on every run.

`corrupted(seed)` is a schema of them with one keyword's value replaced by junk.

An instance comes first. The schema is then built around it, keyword by keyword, most of them true
of the instance, some at random; in the end about half of the instances are spoiled in one place.
So about half of the pairs are valid, and those that are not are nearly so: a random pair would
almost always fail at the first keyword.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any
from urllib.parse import quote

Schema = Any  # dict[str, Any] | bool

ROOT = "https://example.org/root.json"
NUMBERS = [0, 1, 1.0, 2, 3, 7, 10, -1, -0.0, 0.5, 1.5, 0.1, 0.3, 19.99, 4.35, 1e-7, 5e-324]
NUMBERS += [
    2**53,
    2**53 + 1,
    float(2**53),
    2**63,
    2**64,
    10**20,
    1e20,
    10**30,
    -(10**25),
    1e308,
]
DIVISORS = [1, 2, 3, 0.1, 0.01, 0.5, 1.5, 0.3, 1e-7, 7, 10**20, 2**53, 1e308, 0.05]
STRINGS = [
    "",
    "a",
    "ab",
    "abc",
    "b",
    "é",
    "e\u0301",
    "💩",
    "a\n",
    "S_1",
    "x y",
    "1",
    "true",
    "ab12",
]
STRINGS += [
    "A",
    "12",
    "2026-11-30",
    "\u0000",
    "\u00a0",
    "٣",
    "a/b",
    "-",
    "aaaaaaaaaaaa",
    "null",
]
KEYS = [
    "a",
    "b",
    "c",
    "ab",
    "S_a",
    "N_1",
    "",
    "a b",
    "é",
    "0",
    "__proto__",
    "a/b",
    "m~n",
    "x.y",
]
PATTERNS = [
    "^a",
    "b",
    "^[a-z]+$",
    r"^\d+$",
    "^S_",
    "^N_",
    "^.$",
    "",
    "^$",
    r"\w",
    r"^\s*$",
    "a|b",
]
PATTERNS += [
    r"^[^a]*$",
    r"\.",
    "^(ab|12){1,2}$",
    "^\\S+$",
    "a{2,}",
    "^[A-Z]",
    "[é💩]",
    "(?!a)^.",
    "o$",
]
TYPES = ["object", "array", "string", "integer", "number", "boolean", "null"]
NAMES = ["d", "a/b", "m~n", "p%q", "items", "q r", "é"]


def type_of(value: Any) -> str:
    """Return the JSON type of a value; `integer` for every whole number."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if value == int(value) else "number"
    return {type(None): "null", str: "string", list: "array", dict: "object"}[type(value)]


class Maker:
    """One pair in the making: the random choices, and the definitions gathered so far."""

    def __init__(self, seed: int):
        self.random = Random(seed)
        self.definitions: dict[str, Schema] = {}
        self.based = self.chance(0.3)  # the root has an $id
        self.embedded = 0  # inside a resource of its own: "#" is not the root there

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def one(self, choices: list[Any]) -> Any:
        return deepcopy(self.random.choice(choices))

    # --- values ---------------------------------------------------------------------------

    def value(self, depth: int) -> Any:
        kinds = [self.number, self.string, lambda: self.one([True, False, None])]
        if depth and self.chance(0.7):
            kinds = [lambda: self.array(depth - 1), lambda: self.object(depth - 1)]
        return self.random.choice(kinds)()

    def number(self) -> int | float:
        if self.chance(0.3):
            return self.random.randint(-5, 12)
        found: int | float = self.one(NUMBERS)
        return found

    def string(self) -> str:
        return str(self.one(STRINGS))

    def array(self, depth: int) -> list[Any]:
        items = [self.value(depth) for _ in range(self.random.randint(0, 4))]
        if items and self.chance(0.25):
            items.append(self.twin(self.one(items)))
        return items

    def object(self, depth: int) -> dict[str, Any]:
        keys = self.random.sample(KEYS, self.random.randint(0, 4))
        return {key: self.value(depth) for key in keys}

    def twin(self, value: Any) -> Any:
        """Return what equals the value, or what Python takes for its equal."""
        if isinstance(value, bool):
            return self.one([value, int(value), float(value)])
        if isinstance(value, int | float) and abs(value) < 2**53 and value == int(value):
            return self.one([int(value), float(value), bool(value)])
        if isinstance(value, list):
            return [self.twin(item) for item in value]
        if isinstance(value, dict):
            return {key: self.twin(value[key]) for key in reversed(value)}
        return value

    def spoiled(self, value: Any) -> Any:
        """Return the value changed in one place."""
        if isinstance(value, list) and value and self.chance(0.7):
            place = self.random.randrange(len(value))
            return [*value[:place], self.spoiled(value[place]), *value[place + 1 :]]
        if isinstance(value, dict) and value and self.chance(0.7):
            key = self.one(list(value))
            return value | {key: self.spoiled(value[key])}
        if isinstance(value, list):
            more = [*value, self.twin(self.one(value)) if value else self.value(1)]
            return self.one([value[1:], more, value[::-1], {}])
        if isinstance(value, dict):
            key = self.one(KEYS)
            fewer = dict(list(value.items())[1:])
            return self.one([fewer, value | {key: self.value(1)}, []])
        if isinstance(value, bool) or value is None:
            return self.one([not value, self.twin(value), None, self.value(0)])
        if isinstance(value, str):
            return self.one(
                [value + "a", value + "\n", value[1:], value.upper(), self.value(0)]
            )
        return self.one(
            [value + 1, -value, self.twin(value), value / 2, str(value), self.number()]
        )

    # --- schemas --------------------------------------------------------------------------

    def schema(self, value: Any, depth: int) -> Schema:
        """Return a schema that is probably true of the value."""
        if self.chance(0.04):
            return self.chance(0.85)
        if depth and self.chance(0.15):
            return self.reference(value, depth)
        made: dict[str, Any] = {}
        kind = type_of(value)
        own = {"array": self.of_array, "object": self.of_object, "string": self.of_string}
        parts: list[Callable[[], dict[str, Any]]] = []
        for _ in range(self.random.randint(1, 3)):
            parts.append(lambda: own.get(kind, self.of_number)(value, depth))
        if self.chance(0.5):
            parts.append(lambda: self.of_any(value))
        if depth and self.chance(0.45):
            parts.append(lambda: self.combined(value, depth - 1))
        if self.chance(0.15):  # keywords about another type say nothing
            other = self.value(1)
            stray = own.get(type_of(other), self.of_number)
            if type_of(other) != kind:
                parts.append(lambda: stray(other, min(depth, 1)))
        self.random.shuffle(parts)
        for part in parts:
            made |= part()
        if depth and self.chance(0.2):
            word = "unevaluatedProperties" if kind == "object" else "unevaluatedItems"
            made[word] = self.one([False, False, True, {"type": self.one(TYPES)}])
        return made

    def of_any(self, value: Any) -> dict[str, Any]:
        kind = type_of(value)
        wide = [kind, "number"] if kind == "integer" else [kind]
        choice = self.random.randrange(6)
        if choice == 0:
            return {"enum": self.shuffled([self.twin(value), self.value(1)])}
        if choice == 1 and self.chance(0.5):
            return {"const": self.twin(value) if self.chance(0.6) else value}
        if choice == 2:
            return {"type": self.shuffled([self.one(wide), *self.random.sample(TYPES, 2)])[:3]}
        if choice == 3 and self.chance(0.2):
            return {"type": self.one(TYPES)}
        if choice == 4 and self.chance(0.3):
            notes = [{"title": "t"}, {"default": 1}, {"x-mine": {"type": "nothing"}}]
            return dict(self.one([*notes, {"description": ""}, {"$comment": "c"}]))
        return {"type": self.one(wide)}

    def shuffled(self, values: list[Any]) -> list[Any]:
        unique = {json.dumps(value): value for value in values}
        values = list(unique.values())
        self.random.shuffle(values)
        return values

    def near(self, count: int, slack: int) -> int:
        """Return a bound that a count usually keeps: `slack` below (negative) or above it."""
        off = 0 if self.chance(0.5) else slack * self.random.randint(1, 2)
        return max(0, count + (off if self.chance(0.85) else -slack))

    def of_number(self, value: Any, depth: int) -> dict[str, Any]:
        number = value if type_of(value) in ("integer", "number") else self.number()
        if self.chance(0.4):
            return {"multipleOf": self.one(DIVISORS)}
        word = self.one(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"])
        step = self.one([0, 0, 1, 0.5, 10]) if abs(number) < 1e15 else 0
        bound = number - step if "Min" in word or word == "minimum" else number + step
        return {word: bound if self.chance(0.8) else self.number()}

    def of_string(self, value: str, depth: int) -> dict[str, Any]:
        word = self.one(["minLength", "maxLength", "pattern", "pattern", "format"])
        if word == "pattern":
            return {"pattern": self.one(PATTERNS)}
        if word == "format":
            return {"format": self.one(["date", "email", "ours"])}
        return {word: self.near(len(value), -1 if word == "minLength" else 1)}

    def of_array(self, value: list[Any], depth: int) -> dict[str, Any]:
        deeper = max(0, depth - 1)
        choice = self.random.randrange(6)
        if choice == 0 and value:
            first = self.random.randint(1, len(value))
            made = {"prefixItems": [self.schema(item, deeper) for item in value[:first]]}
            if self.chance(0.5):
                made["items"] = self.common(value[first:], deeper)
            return made
        if choice == 1:
            return {"items": self.common(value, deeper)}
        if choice == 2 and value:
            made = {"contains": self.schema(self.one(value), deeper)}
            if self.chance(0.4):
                made["minContains"] = self.random.randint(0, 2)
            if self.chance(0.4):
                made["maxContains"] = self.random.randint(0, 3)
            return made
        if choice == 3:
            word = self.one(["minItems", "maxItems"])
            return {word: self.near(len(value), -1 if word == "minItems" else 1)}
        if choice == 4:
            return {"uniqueItems": self.chance(0.8)}
        return {"unevaluatedItems": self.one([True, False, self.common(value, deeper)])}

    def common(self, values: list[Any], depth: int) -> Schema:
        """Return a schema that is probably true of all the values."""
        if not values:
            return self.one([False, True, {"type": self.one(TYPES)}])
        if self.chance(0.5):
            return {"type": sorted({type_of(value) for value in values})}
        return {self.one(["anyOf", "anyOf", "oneOf"]): [self.schema(v, depth) for v in values]}

    def of_object(self, value: dict[str, Any], depth: int) -> dict[str, Any]:
        deeper = max(0, depth - 1)
        keys = self.random.sample(list(value), self.random.randint(0, len(value)))
        choice = self.random.randrange(9)
        if choice <= 1:
            properties = {key: self.schema(value[key], deeper) for key in keys}
            if self.chance(0.3):
                properties[self.one(KEYS)] = self.schema(self.value(0), 0)
            made: dict[str, Any] = {"properties": properties}
            if self.chance(0.4):
                rest = [member for key, member in value.items() if key not in properties]
                made["additionalProperties"] = self.common(rest, deeper)
            return made
        if choice == 2:
            names = keys if self.chance(0.85) else [*keys, self.one(KEYS)]
            return {"required": sorted(set(names))}
        if choice == 3:
            pattern = self.one(PATTERNS)
            return {"patternProperties": {pattern: self.common(list(value.values()), deeper)}}
        if choice == 4:
            return {
                "propertyNames": self.one([{"pattern": self.one(PATTERNS)}, {"maxLength": 2}])
            }
        if choice == 5 and keys:
            needs = [self.one([*value, *KEYS[:1]])]
            return {"dependentRequired": {self.one([keys[0], self.one(KEYS)]): needs}}
        if choice == 6 and keys:
            inner = self.schema(value, deeper)
            return {"dependentSchemas": {self.one([keys[0], self.one(KEYS)]): inner}}
        if choice == 7:
            word = self.one(["minProperties", "maxProperties"])
            return {word: self.near(len(value), -1 if word == "minProperties" else 1)}
        rest = list(value.values())
        return {"unevaluatedProperties": self.one([True, False, self.common(rest, deeper)])}

    def combined(self, value: Any, depth: int) -> dict[str, Any]:
        other = self.value(2)
        word = self.one(["allOf", "anyOf", "oneOf", "not", "if", "if"])
        if word == "not":
            return {"not": self.schema(other, depth)}
        if word == "if":
            made = {"if": self.schema(self.one([value, other]), depth)}
            if self.chance(0.8):
                made["then"] = self.schema(value, depth)
            if self.chance(0.6):
                made["else"] = self.schema(self.one([value, other]), depth)
            return made
        mine = [self.schema(value, depth) for _ in range(self.random.randint(1, 2))]
        if word == "oneOf":
            mine = mine[:1]
        if word != "allOf":
            mine.append(self.schema(other, depth))
        return {word: mine}

    # --- references -----------------------------------------------------------------------

    def reference(self, value: Any, depth: int) -> Schema:
        """Return a reference to a new definition, in one of the ways there are."""
        if self.embedded:
            return self.schema(value, 0)
        if isinstance(value, dict | list) and self.chance(0.15):
            word = "items" if isinstance(value, list) else "additionalProperties"
            return {word: {"$ref": "#"}}
        number = len(self.definitions)
        name = f"{self.one(NAMES)}{number}"
        self.definitions[name] = True  # hold the place
        way = self.one(["pointer", "pointer", "anchor", "resource"])
        self.embedded += way == "resource"
        target = self.schema(value, depth - 1)
        self.embedded -= way == "resource"
        if target in (True, False):
            way = "pointer"
        link = "#/$defs/" + quote(name.replace("~", "~0").replace("/", "~1"), safe="~")
        if way == "anchor":
            target = {"$anchor": f"n{number}"} | target
            link = f"#n{number}"
        if way == "resource":
            target = {"$id": f"sub/r{number}.json"} | target
            link = f"sub/r{number}.json"
        if self.based and self.chance(0.5):
            link = "https://example.org/" + link if way == "resource" else ROOT + link
        self.definitions[name] = target
        made: dict[str, Any] = {"$ref": link}
        if self.chance(0.4):
            made |= self.of_any(value)
        if isinstance(value, dict) and self.chance(0.3):
            made["unevaluatedProperties"] = False
        if isinstance(value, list) and self.chance(0.3):
            made["unevaluatedItems"] = False
        return made


def pair(seed: int) -> tuple[Schema, Any]:
    """Return the schema and the instance of one seed."""
    maker = Maker(seed)
    value = maker.value(3)
    schema = maker.schema(value, 3)
    if isinstance(schema, dict):
        if maker.based:
            schema = {"$id": ROOT} | schema
        if maker.definitions:
            schema = schema | {"$defs": maker.definitions}
    if maker.chance(0.3):
        value = maker.spoiled(value)
    return schema, value


ONE = "items contains additionalProperties propertyNames not if then else"
MANY, NAMED = ["allOf", "anyOf", "oneOf", "prefixItems"], ["properties", "patternProperties"]
JUNK = [None, True, False, -1, 0, 1, 1.0, 1.5, -0.0, 2**70, "", "a", "#", "(", "string", [], {}]
JUNK += [
    ["a"],
    ["a", "a"],
    [1],
    [True],
    [[]],
    [{}],
    [None],
    ["string", 1],
    ["string", "string"],
]
JUNK += [{"a": 1}, {"a": "b"}, {"a": ["b", "b"]}, {"a": {"type": "x"}}]


def _keywords(schema: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each keyword, with the schema that it stands in."""
    if isinstance(schema, dict):
        for word, value in schema.items():
            yield schema, word
            below = [value] if word in ONE.split() else value if word in MANY else []
            if word in (*NAMED, "$defs", "dependentSchemas"):
                below = value.values()
            for inner in below:
                yield from _keywords(inner)


def corrupted(seed: int) -> Schema:
    """Return the schema of one seed with junk as the value of one keyword."""
    schema = pair(seed)[0]
    random = Random(seed)
    places = list(_keywords(schema))
    if places:
        inside, word = random.choice(places)
        inside[word] = deepcopy(random.choice(JUNK))
    return schema
