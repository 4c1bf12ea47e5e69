# Generated from book/validator.ipynb: edit it there, then run `make save`.
"""JSON Schema, checked with the standard library alone: every violation, each with its path.

`validate` is the simple door, `compile_validator` the same answers with the work on the schema
done once. A schema that cannot be enforced as it stands is refused:

    BoundaryError
    └── UnsupportedSchema (ValueError)
"""

import copy
import json
import re
from collections.abc import Callable
from typing import Any

from apisurface.wire import BoundaryError


# cell: unsupported-schema
class UnsupportedSchema(BoundaryError, ValueError):
    """A schema is malformed, or says something that this validator cannot enforce.

    `.keyword` is the keyword at fault, `.pointer` the JSON pointer to the place in the schema.
    """

    def __init__(self, reason: str, *, keyword: str = "", pointer: str = "") -> None:
        super().__init__(f"#{pointer}: {reason}")
        self.keyword, self.pointer = keyword, pointer


# cell: type-name
_NAMES: dict[type, str] = {
    dict: "object",
    list: "array",
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}


# cell: known
_CORE = frozenset(
    {
        "type",
        "enum",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "properties",
        "required",
        "items",
        "additionalProperties",
        "title",
        "description",
        "default",
        "examples",
        "$schema",
        "$comment",
    }
)


# cell: is-type
def _is(value: Any, name: str) -> bool:
    got = _NAMES.get(type(value))
    if name == "integer" and got == "number":
        return bool(value.is_integer())
    return got == name or (name == "number" and got == "integer")


# cell: same
def _key(value: Any) -> Any:
    if isinstance(value, list):
        return ("array", *map(_key, value))
    if isinstance(value, dict):
        return ("object", frozenset((k, _key(v)) for k, v in value.items()))
    return (isinstance(value, bool), value)


# cell: member
def _member(key: str) -> str:
    return f".{key}" if key.isidentifier() else f"[{json.dumps(key)}]"


# cell: check-schema
def _refuse(schema: Any, pointer: str = "") -> None:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        raise UnsupportedSchema("a schema is an object or a boolean", pointer=pointer)
    for name, value in schema.items():
        place = f"{pointer}/{name}"
        if name not in _CORE:
            raise UnsupportedSchema(f"{name} is not supported yet", keyword=name, pointer=place)
        if name in ("items", "additionalProperties"):
            _refuse(value, place)
        if name == "properties":
            for key, inner in value.items():
                escaped = key.replace("~", "~0").replace("/", "~1")
                _refuse(inner, f"{place}/{escaped}")


# cell: walk
def _walk(value: Any, schema: Any, path: str, errors: list[str]) -> None:
    if isinstance(schema, bool):
        if not schema:
            errors.append(f"{path}: no value is allowed here")
        return
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(_is(value, name) for name in names):
        got = _NAMES.get(type(value), type(value).__name__)
        errors.append(f"{path}: expected {' or '.join(names)}, got {got}")
        return
    if "enum" in schema and _key(value) not in [_key(one) for one in schema["enum"]]:
        allowed = ", ".join(json.dumps(one, ensure_ascii=False) for one in schema["enum"])
        errors.append(f"{path}: expected one of {allowed}")
    if _is(value, "number"):
        if value < schema.get("minimum", value):
            errors.append(f"{path}: expected at least {schema['minimum']}")
        if value > schema.get("maximum", value):
            errors.append(f"{path}: expected at most {schema['maximum']}")
    elif isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            errors.append(f"{path}: expected at least {schema['minLength']} characters")
        if len(value) > schema.get("maxLength", len(value)):
            errors.append(f"{path}: expected at most {schema['maxLength']} characters")
        pattern = schema.get("pattern", "").removesuffix("$")
        end = r"\Z" if pattern != schema.get("pattern", "") else ""
        if not re.search(pattern + end, value):
            errors.append(f"{path}: does not match {schema['pattern']}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            _walk(item, schema.get("items", True), f"{path}[{index}]", errors)
    elif isinstance(value, dict):
        properties = schema.get("properties", {})
        extra = schema.get("additionalProperties", True)
        for key, inner in properties.items():
            if key in value:
                _walk(value[key], inner, path + _member(key), errors)
        for key in schema.get("required", []):
            if key not in value:
                errors.append(f"{path}{_member(key)}: required")
        for key in [key for key in value if key not in properties]:
            if extra is False:
                errors.append(f"{path}{_member(key)}: unexpected property")
            else:
                _walk(value[key], extra, path + _member(key), errors)


# cell: validate
def validate(instance: Any, schema: Any, path: str = "$") -> list[str]:
    """Return every violation of the schema, each with its path; empty when the value is valid.

    Raises `UnsupportedSchema` for a schema that cannot be enforced as it stands.
    """
    _refuse(schema)
    errors: list[str] = []
    _walk(instance, schema, path, errors)
    return errors


# cell: compile-validator
def compile_validator(schema: Any) -> Callable[[Any], list[str]]:
    """Return a function that gives the violations of a value, the schema checked once.

    Raises `UnsupportedSchema` like `validate`.
    """
    _refuse(schema)
    kept = copy.deepcopy(schema)
    return lambda instance: validate(instance, kept)
