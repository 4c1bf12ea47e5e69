# Generated from book/calls.ipynb: edit it there, then run `make save`.
"""What may be called, and what was asked for: tools, their registry, and calls off the wire.

A `Tool` is what a model reads and what runs; a `ToolRegistry` holds tools so that the schema
that is sent is the one that is enforced. `parse_tool_call` reads one proposal into a
`ToolCall`, `parse_tool_calls` those of a whole message.

    BoundaryError
    └── ToolCallError (ValueError)
        └── MalformedCall          what a model sent is not a call; nothing was guessed

Not here: running anything (`dispatch`). The decorator `tool` needs the extra `tools`, the rest
does not.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

from apisurface.parsing import MalformedJSON, loads_strict
from apisurface.signatures import TypedFunction, typed_function
from apisurface.tools import MalformedArguments, ToolCallError, decode_arguments
from apisurface.validator import compile_validator


# cell: tool
@dataclass(frozen=True, init=False)
class Tool:
    """A function a model may propose to call: its name, description, schema and code.

    `parameters` is the JSON Schema of the arguments, an object. It is kept as text: each access
    gives a new copy, so nothing done to a copy reaches what is sent or enforced. `func` is
    called as `func(**arguments)`. Whether the schema can be enforced is found out when the tool
    is registered.

    Raises ValueError for a name that is not a non-empty string, a description that is no text,
    parameters that are not JSON or describe something that is no object, and for an `async`
    function: this package does not own your event loop, and a coroutine nobody awaits does
    nothing. Wrap it in a function that waits:
    `lambda **a: asyncio.run_coroutine_threadsafe(f(**a), loop).result()`.
    """

    name: str
    description: str
    func: Callable[..., Any]
    _schema: str = field(repr=False)

    def __init__(
        self,
        name: str,
        description: str,
        parameters: dict[str, Any],
        func: Callable[..., Any],
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"a tool needs a name, got {name!r}")
        if not isinstance(description, str):
            raise ValueError(f"tool {name!r}: a description is text, got {description!r}")
        if not callable(func):
            raise ValueError(f"tool {name!r}: func is not callable: {func!r}")
        inner = (func, getattr(func, "func", None), getattr(func, "__call__", None))  # noqa: B004
        if any(inspect.iscoroutinefunction(f) or inspect.isasyncgenfunction(f) for f in inner):
            raise ValueError(f"tool {name!r} is async: register a function that waits for it")
        try:
            schema = json.dumps(parameters, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(f"tool {name!r}: parameters are not JSON: {error}") from None
        kind = parameters.get("type", "object") if isinstance(parameters, dict) else None
        if kind != "object" and "object" not in (kind if isinstance(kind, list) else ()):
            raise ValueError(f"tool {name!r}: parameters must be the schema of an object")
        values = {"name": name, "description": description, "func": func, "_schema": schema}
        for attribute, value in values.items():
            object.__setattr__(self, attribute, value)

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON Schema of the arguments, a new copy each time."""
        schema: dict[str, Any] = json.loads(self._schema)
        return schema

    def to_openai_schema(self) -> dict[str, Any]:
        """Return the tool as Chat Completions takes it: nested under `function`."""
        return {"type": "function", "function": self._envelope("parameters")}

    def to_anthropic_schema(self) -> dict[str, Any]:
        """Return the tool as Anthropic's Messages take it: `input_schema`."""
        return self._envelope("input_schema")

    def to_mcp_schema(self) -> dict[str, Any]:
        """Return the tool as an MCP server lists it: `inputSchema`."""
        return self._envelope("inputSchema")

    def _envelope(self, schema: str) -> dict[str, Any]:
        """Return what a model reads of the tool, the schema under the given key."""
        return {"name": self.name, "description": self.description, schema: self.parameters}


# cell: name-rules
_NAME_RULES = {  # checked 2026-11-30
    "openai-chat": r"[A-Za-z0-9_-]{1,64}",
    "openai-responses": r"[A-Za-z0-9_-]{1,64}",
    "anthropic": r"[A-Za-z0-9_-]{1,128}",
    "gemini": r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}",
    "mcp": r"[A-Za-z0-9_.-]{1,128}",
}


# cell: function-type
_F = TypeVar("_F", bound=Callable[..., Any])


# cell: registry
class ToolRegistry:
    """The tools of one conversation by name, in the order in which they were registered.

    Iteration gives the tools. Each schema is compiled once, on registration, from the text that
    the tool sends.
    """

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        self._checks: dict[str, Callable[[Any], list[str]]] = {}
        for tool in tools:
            self.register(tool)

    def __repr__(self) -> str:
        return f"ToolRegistry({', '.join(self._tools)})"

    def __iter__(self) -> Iterator[Tool]:
        return iter(list(self._tools.values()))

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._tools

    def register(self, tool: Tool) -> Tool:
        """Take a tool in, and return it.

        Raises ValueError for a name that is taken, and `UnsupportedSchema`, a ValueError, for a
        schema that the validator cannot enforce; then nothing is registered.
        """
        if tool.name in self._tools:
            raise ValueError(f"a tool named {tool.name!r} is registered already")
        try:
            check = compile_validator(tool.parameters)
        except ValueError as error:
            error.add_note(f"in the parameters of tool {tool.name!r}")
            raise
        self._tools[tool.name], self._checks[tool.name] = tool, check
        return tool

    def get(self, name: str) -> Tool | None:
        """Return the tool of this name, None when there is none."""
        return self._tools.get(name) if isinstance(name, str) else None

    def names(self) -> list[str]:
        """Return the names in the order of registration."""
        return list(self._tools)

    def violations(self, name: str, arguments: dict[str, Any]) -> list[str]:
        """Return every reason why these arguments may not reach the tool, with its path.

        First the schema that was sent; when nothing is found and the schema was derived from a
        signature, what cannot become the declared types. Raises KeyError for an unknown name.
        """
        found = self._checks[name](arguments)
        func = self._tools[name].func
        if not found and isinstance(func, TypedFunction):
            found = func.complaints(arguments)
        return found

    def illegal_names(self, provider: str) -> list[str]:
        """Return the names that a provider refuses (for `mcp`: that it advises against).

        Providers: openai-chat, openai-responses, anthropic, gemini, mcp, with their rules as
        checked on 2026-11-30. Raises ValueError for another.
        """
        if provider not in _NAME_RULES:
            raise ValueError(f"no rule for {provider!r}, only for {', '.join(_NAME_RULES)}")
        legal = re.compile(_NAME_RULES[provider])
        return [name for name in self._tools if not legal.fullmatch(name)]

    @overload
    def tool(self, name: _F) -> _F: ...

    @overload
    def tool(
        self, name: str | None = None, description: str | None = None
    ) -> Callable[[_F], _F]: ...

    def tool(self, name: Any = None, description: str | None = None) -> Any:
        """Register a typed function, its schema derived from the signature; a decorator.

        Used bare, or with a name or description in place of the function's own. The function is
        given back unchanged; what the registry calls converts the arguments first, so that an
        `Enum`, a date or a model arrives as one. Needs the extra `tools`. Raises ValueError for
        a signature that named JSON arguments cannot fill, and whatever `register` raises.
        """

        def decorate(func: _F) -> _F:
            made = typed_function(func, None if callable(name) else name, description)
            self.register(Tool(made.name, made.description, made.parameters, made))
            return func

        return decorate(name) if callable(name) else decorate


# cell: malformed-call
class MalformedCall(ToolCallError):
    """What a model sent is not a tool call; `.raw` is what came, unchanged."""

    def __init__(self, message: str, *, raw: object) -> None:
        super().__init__(message)
        self.raw = raw


# cell: tool-call
@dataclass(frozen=True)
class ToolCall:
    """One proposal: a tool's name, its arguments, and the id that the answer must carry.

    `idempotency_key` is the program's, never the model's: calls with the same key are one
    effect. Nothing here has been checked against a tool yet.
    """

    name: str
    arguments: dict[str, Any]
    id: str | None = None
    idempotency_key: str | None = None


# cell: parse-tool-call
def parse_tool_call(raw: object) -> ToolCall:
    """Read one proposed call: flat or nested under `function`, an object or its JSON text.

    Arguments are read by `decode_arguments`: an object, the JSON string of one, or nothing,
    which is `{}`. An id that is empty or missing is None. Raises `MalformedCall` for what is no
    call of a function and `MalformedArguments` for its arguments, both ValueErrors with `.raw`.
    """
    try:
        call = loads_strict(raw) if isinstance(raw, str) else raw
    except MalformedJSON as error:
        raise MalformedCall(f"the call is not strict JSON: {error}", raw=raw) from None
    if not isinstance(call, dict):
        raise MalformedCall(f"a call is an object, got {type(call).__name__}", raw=raw)
    if (call.get("type") or "function") != "function":
        raise MalformedCall(f"a call of type {call['type']!r} is not a function's", raw=raw)
    inner = call.get("function", call)
    if not isinstance(inner, dict):
        raise MalformedCall("`function` must be an object with name and arguments", raw=raw)
    beside = [part for part in ("name", "arguments") if part in call]
    if inner is not call and any(call[part] != inner.get(part) for part in beside):
        raise MalformedCall(f"{' and '.join(beside)} also stand outside `function`", raw=raw)
    name, call_id = inner.get("name"), call.get("id")
    if not isinstance(name, str) or not name.strip():
        raise MalformedCall(f"a call needs the name of a tool, got {name!r}", raw=raw)
    if not isinstance(call_id, str | None):
        raise MalformedCall(f"the id of a call is a string, got {call_id!r}", raw=raw)
    if call.get("call_id") not in (None, call_id):
        raise MalformedCall("the id of a call stands under 'id', not 'call_id'", raw=raw)
    elsewhere = sorted({"args", "input", "parameters"} & inner.keys())
    if "arguments" not in inner and elsewhere:
        why = f"the arguments of {name!r} stand under {elsewhere[0]!r}, not 'arguments'"
        raise MalformedCall(why, raw=raw)
    return ToolCall(name, decode_arguments(inner.get("arguments")), call_id or None)


# cell: parse-tool-calls
def parse_tool_calls(raw: object) -> list[ToolCall]:
    """Read the calls of an assistant message, of its `tool_calls`, or of a list of raw calls.

    None and a message without calls give `[]`. Raises `MalformedCall` or `MalformedArguments`,
    ValueErrors that name the position, when one call cannot be read, and `MalformedCall` for an
    id that two calls share: answered by id, one of them would be lost.
    """
    if isinstance(raw, dict):
        if raw.get("role", "assistant") != "assistant":
            raise MalformedCall(f"a message of {raw['role']!r} proposes no calls", raw=raw)
        if raw.get("function_call"):
            raise MalformedCall("a call in the old form `function_call`", raw=raw)
        if not raw.keys() & {"role", "tool_calls"}:
            raise MalformedCall("expected a message or its tool_calls", raw=raw)
        raw = raw.get("tool_calls")
    if raw is None:
        return []
    if not isinstance(raw, list | tuple):
        raise MalformedCall(f"tool_calls is a list, got {type(raw).__name__}", raw=raw)
    calls: list[ToolCall] = []
    for at, one in enumerate(raw):
        try:
            call = parse_tool_call(one)
        except (MalformedCall, MalformedArguments) as error:
            raise type(error)(f"tool_calls[{at}]: {error}", raw=error.raw) from None
        if call.id is not None and call.id in [earlier.id for earlier in calls]:
            raise MalformedCall(f"tool_calls[{at}]: the id {call.id!r} stands twice", raw=raw)
        calls.append(call)
    return calls
