# Generated from book/drafts.ipynb: edit it there, then run `make save`.
"""The keywords of JSON Schema: what may stand behind each, and in which draft it exists.

`check_keywords` refuses what is malformed in one schema or belongs to another draft;
`subschemas` says where a schema holds others.

    BoundaryError
    └── UnsupportedSchema (ValueError)

Not here: references (`references`), patterns (`patterns`), checking values (`validator`).
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from apisurface.transport import BoundaryError
from apisurface.values import shown, visible


# cell: unsupported-schema
class UnsupportedSchema(BoundaryError, ValueError):
    """A schema is malformed, or says something that this validator does not enforce.

    `.keyword` is the keyword at fault ("" when there is none), `.pointer` the JSON pointer to
    its place in the schema (RFC 6901; "" is the whole schema), `.reason` the rest.
    """

    def __init__(self, reason: str, *, keyword: str = "", pointer: str = "") -> None:
        super().__init__(f"{keyword or 'schema'} at #{visible(pointer, 200)}: {reason}")
        self.reason, self.keyword, self.pointer = reason, keyword, pointer


# cell: pointer-step
def pointer_step(key: str | int) -> str:
    """Return one step of a JSON pointer, escaped (RFC 6901)."""
    return "/" + str(key).replace("~", "~0").replace("/", "~1")


# cell: places
_ONE = frozenset(
    {"additionalProperties", "contains", "contentSchema", "else", "if", "items", "not"}
    | {"propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"}
)


# cell: places-many
_MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})


# cell: places-named
_NAMED = frozenset(
    {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)


# cell: places-same-value
IN_PLACE = frozenset(
    {"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"}
)


# cell: subschemas
def subschemas(schema: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield each subschema of a well-formed schema: keyword, pointer from here, subschema."""
    for keyword, value in schema.items():
        if keyword in _ONE:
            yield keyword, f"/{keyword}", value
        elif keyword in _MANY:
            for index, inner in enumerate(value):
                yield keyword, f"/{keyword}/{index}", inner
        elif keyword in _NAMED:
            for name, inner in value.items():
                yield keyword, f"/{keyword}{pointer_step(name)}", inner


# cell: is-count
def _is_count(value: Any) -> bool:
    return type(value) in (int, float) and value >= 0 and value == int(value)


# cell: is-names
def _is_names(value: Any) -> bool:
    return (
        type(value) is list
        and all(type(name) is str for name in value)
        and len(set(value)) == len(value)
    )


# cell: is-type
def _is_type(value: Any) -> bool:
    names = [value] if type(value) is str else value
    known = {"array", "boolean", "integer", "null", "number", "object", "string"}
    return _is_names(names) and bool(names) and known.issuperset(names)


# cell: is-name
def _is_name(value: Any) -> bool:
    return type(value) is str and bool(re.fullmatch(r"[A-Za-z_][-A-Za-z0-9._]*", value))


# cell: argument
_Argument = tuple[Callable[[Any], bool], str]


# cell: kinds
_KINDS: dict[str, _Argument] = {
    "any": (lambda value: True, "anything"),
    "text": (lambda value: type(value) is str, "a string"),
    "flag": (lambda value: type(value) is bool, "true or false"),
    "list": (lambda value: type(value) is list, "a list"),
    "map": (lambda value: type(value) is dict, "an object"),
    "count": (_is_count, "a whole number, 0 or more"),
    "number": (lambda value: type(value) in (int, float), "a number"),
    "divisor": (lambda value: type(value) in (int, float) and value > 0, "a number above 0"),
    "name": (_is_name, "a name of letters, digits, -, _ and ."),
    "names": (_is_names, "a list of different strings"),
    "type": (_is_type, "the name of a JSON type, or a list of different ones"),
    "schema": (lambda value: type(value) in (dict, bool), "a schema: an object or a boolean"),
    "schemas": (lambda value: type(value) is list and bool(value), "schemas, one at least"),
    "address": (
        lambda value: type(value) is str and not value.partition("#")[2],
        "an address without a fragment",
    ),
    "flags": (
        lambda value: type(value) is dict and {bool}.issuperset(map(type, value.values())),
        "an object of booleans",
    ),
    "lists of names": (
        lambda value: type(value) is dict and all(map(_is_names, value.values())),
        "an object of lists of different strings",
    ),
}


# cell: keywords
KEYWORDS: dict[str, str] = {
    **dict.fromkeys(sorted(_ONE), "schema"),
    **dict.fromkeys(sorted(_MANY), "schemas"),
    **dict.fromkeys(sorted(_NAMED), "map"),
    **dict.fromkeys(["maxItems", "minItems", "maxLength", "minLength"], "count"),
    **dict.fromkeys(["maxProperties", "minProperties"], "count"),
    **dict.fromkeys(["maxContains", "minContains"], "count"),
    **dict.fromkeys(["maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum"], "number"),
    **dict.fromkeys(["pattern", "format", "$ref", "$dynamicRef", "$schema"], "text"),
    "type": "type",
    "required": "names",
    "dependentRequired": "lists of names",
    "multipleOf": "divisor",
    "enum": "list",
    "const": "any",
    "uniqueItems": "flag",
    "$id": "address",
    "$anchor": "name",
    "$dynamicAnchor": "name",
    "$vocabulary": "flags",
    **dict.fromkeys(["$comment", "title", "description"], "text"),
    **dict.fromkeys(["contentEncoding", "contentMediaType"], "text"),
    "default": "any",
    "examples": "list",
    **dict.fromkeys(["deprecated", "readOnly", "writeOnly"], "flag"),
}


# cell: gone
OTHER_DRAFTS = {
    "additionalItems": "write items",
    "dependencies": "write dependentRequired or dependentSchemas",
    "$recursiveRef": "write $dynamicRef",
    "$recursiveAnchor": "write $dynamicAnchor",
    "divisibleBy": "write multipleOf",
    "disallow": "write not",
    "extends": "write allOf",
    "id": "write $id",
}


# cell: since
_SINCE = {
    "draft/2020-12": {"prefixItems", "$dynamicRef", "$dynamicAnchor", "unevaluatedItems"},
    "draft/2019-09": {"dependentRequired", "dependentSchemas", "unevaluatedProperties"}
    | {"minContains", "maxContains", "$anchor"},
    "draft-07": {"if", "then", "else"},
    "draft-06": {"const", "contains", "propertyNames"},
    "draft-04": set[str](),
}


# cell: annotations
_ANNOTATIONS = frozenset(
    {"$schema", "$comment", "title", "description", "default", "examples", "deprecated"}
    | {"readOnly", "writeOnly", "contentEncoding", "contentMediaType", "contentSchema"}
    | {"definitions", "$defs", "$vocabulary", "format"}
)


# cell: check-draft
def newer_than(name: str) -> set[str] | None:
    """Return the keywords that the draft at an address did not have yet, None if unknown."""
    found = re.fullmatch(r"https?://json-schema\.org/(.+)/schema#?", name)
    drafts = list(_SINCE)
    if not found or found[1] not in drafts:
        return None
    return set[str]().union(*(_SINCE[draft] for draft in drafts[: drafts.index(found[1])]))


# cell: check-keywords
def check_keywords(schema: dict[str, Any], pointer: str, newer: set[str]) -> None:
    """Raise `UnsupportedSchema` for what is malformed in one schema or of another draft.

    `pointer` is where it stands, `newer` what `newer_than` says of the draft it names. The
    subschemas are not looked into.
    """
    for keyword, value in schema.items():
        place = pointer + pointer_step(keyword)
        reason = ""
        if keyword in newer:
            reason = "the draft that $schema names does not have it"
        elif keyword == "id" and (type(value) is not str or (not pointer and newer)):
            continue  # a name for the whole, as draft-04 wrote it: no reference needs it
        elif keyword in OTHER_DRAFTS:
            reason = f"a keyword of another draft; {OTHER_DRAFTS[keyword]} instead"
        elif keyword == "items" and type(value) is list:
            reason = "a list is of another draft; write prefixItems instead"
        elif keyword in KEYWORDS:
            fits, wanted = _KINDS[KEYWORDS[keyword]]
            reason = "" if fits(value) else f"expected {wanted}, got {shown(value)}"
        if reason:
            raise UnsupportedSchema(reason, keyword=keyword, pointer=place)
    if "$ref" in schema and "$anchor" in newer:
        for other in schema:
            if other in KEYWORDS and other not in _ANNOTATIONS and other != "$ref":
                reason = f"in the draft that $schema names, {other} beside it is ignored"
                raise UnsupportedSchema(reason, keyword="$ref", pointer=f"{pointer}/$ref")
