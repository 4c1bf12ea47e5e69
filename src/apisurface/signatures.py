# Generated from book/signatures.ipynb: edit it there, then run `make save`.
"""From a typed function to what a model reads of it: a name, a description and a schema.

`typed_function` reads the signature and the docstring. The `TypedFunction` it returns says
which arguments do not convert to the declared types, converts the others, and calls.

Not here: enforcing the schema (`calls`), running in safety (`dispatch`). Needs the extra
`tools`, which brings pydantic; it is imported when a function is read, not before.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any


# cell: docstring
def _docstring(func: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return what a docstring says of the tool, and of each parameter under `Args:`."""
    text = inspect.getdoc(func) or ""
    section = re.search(
        r"^(?:Args|Arguments|Parameters):[ ]*\n((?:[ ]+\S.*\n?|\n)*)", text, re.M
    )
    if section is None:
        return text, {}
    entry = r"^([ ]+)(\w+)(?: \([^)\n]*\))?:[ ]*(.*(?:\n\1[ ]+\S.*)*)"
    found = {m[2]: " ".join(m[3].split()) for m in re.finditer(entry, section[1], re.M)}
    rest = text[: section.start()].rstrip() + "\n\n" + text[section.end() :].lstrip("\n")
    return rest.strip(), found


# cell: parameters
def _parameters(func: Callable[..., Any], name: str) -> list[inspect.Parameter]:
    """Return the parameters of a function that named JSON arguments can fill."""
    try:
        parameters = list(inspect.signature(func, eval_str=True).parameters.values())
    except (NameError, TypeError, ValueError) as error:
        raise ValueError(f"tool {name!r}: its signature cannot be read: {error}") from None
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            why = f"*{p.name}: a call has only named arguments; take a list"
        elif p.kind is p.VAR_KEYWORD:
            why = f"**{p.name}: no schema can list what it takes; name each parameter"
        elif p.kind is p.POSITIONAL_ONLY:
            why = f"{p.name} is positional-only, and a call passes names"
        elif p.annotation is p.empty:
            why = f"{p.name} has no type; write one, or Any if anything will do"
        elif type(p.default).__name__ == "FieldInfo":
            why = f"{p.name}: write Annotated[…, Field(…)]; as a default it would be passed on"
        else:
            continue
        raise ValueError(f"tool {name!r}: {why}")
    return parameters


# cell: path
def _path(parts: Iterable[str | int]) -> str:
    """Write a place in the arguments as the validator does: `$.items[0].sku`."""
    path = "$"
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if part.isidentifier() else f"[{json.dumps(part)}]"
    return path


# cell: typed-function-class
@dataclass(frozen=True)
class TypedFunction:
    """A function with what a model reads of it, callable with named JSON values.

    `parameters` is the derived JSON Schema: an object, no additional properties.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    func: Callable[..., Any]
    _model: Any = field(repr=False)

    def __call__(self, **arguments: Any) -> Any:
        """Call the function with the arguments converted to the types that it declares.

        What was left out is left to the function's own defaults. Raises pydantic's
        `ValidationError`, a ValueError, for what does not convert.
        """
        made = self._model.model_validate(arguments)
        fields = type(made).model_fields
        given = {
            fields[at].alias: getattr(made, at) for at in fields if at in made.model_fields_set
        }
        return self.func(**given)

    def complaints(self, arguments: dict[str, Any]) -> list[str]:
        """Return what cannot become the declared types, one line per place, without calling."""
        from pydantic import ValidationError

        try:
            self._model.model_validate(arguments)
        except ValidationError as error:
            found = error.errors(include_url=False, include_input=False, include_context=False)
            return [f"{_path(one['loc'])}: {one['msg']}" for one in found]
        except Exception as error:  # a validator of a record that fails instead of judging
            return [f"$: checking the declared types failed with {type(error).__name__}"]
        return []


# cell: typed-function
def typed_function(
    func: Callable[..., Any], name: str | None = None, description: str | None = None
) -> TypedFunction:
    """Derive what a model reads of a function from its signature and docstring.

    `name` and `description` replace the function's own. A parameter's description is a text or
    a described `Field` in `Annotated`, else its line under `Args:` in the docstring. Only a
    default makes a parameter optional; `| None` makes it nullable.

    Raises ValueError for a signature that named JSON values cannot fill, types without a JSON
    Schema, an `Args:` entry for no parameter, a function without a name; ImportError, naming
    the extra `tools`, without pydantic.
    """
    try:
        from pydantic import ConfigDict, Field, create_model
        from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
        from pydantic.json_schema import GenerateJsonSchema
    except ImportError:
        why = "deriving a schema needs pydantic: pip install 'apisurface[tools]'"
        raise ImportError(why) from None

    class Untitled(GenerateJsonSchema):
        """Schemas without the titles that repeat each name; warnings have no reader here."""

        def field_title_should_be_set(self, schema: Any) -> bool:
            return False

        def emit_warning(self, kind: Any, detail: str) -> None: ...

    name = str(name or getattr(func, "__name__", ""))
    if name in ("", "<lambda>"):
        raise ValueError("a function without a name of its own: give one to `tool`")
    summary, notes = _docstring(func)
    fields: dict[str, Any] = {}
    for at, p in enumerate(_parameters(func, name)):
        said = [getattr(m, "description", m) for m in getattr(p.annotation, "__metadata__", ())]
        words = [w for w in [*said, notes.pop(p.name, None)] if w and isinstance(w, str)]
        told: dict[str, Any] = {"description": words[0]} if words else {}
        default = ... if p.default is p.empty else p.default
        fields[f"p{at}"] = (p.annotation, Field(default, alias=p.name, **told))
    if notes:
        raise ValueError(f"tool {name!r}: the docstring explains {min(notes)!r}, no parameter")
    module, config = getattr(func, "__module__", None), ConfigDict(extra="forbid")
    try:
        model = create_model(name, __config__=config, __module__=module or "builtins", **fields)
        schema = model.model_json_schema(schema_generator=Untitled)
    except (PydanticUserError, PydanticUndefinedAnnotation) as error:
        raise ValueError(f"tool {name!r}: no schema for its types: {error.message}") from None
    for part in schema.get("$defs", {}).values():
        part.pop("title", None)
    order = ("type", "properties", "required", "additionalProperties", "$defs")
    parameters = {key: schema[key] for key in order if key in schema}
    described = summary if description is None else description
    return TypedFunction(name, described, parameters, func, model)
