"""Your engine. Five functions, in the order of the lab's five steps.

Replace each `raise NotImplementedError` and run `make lab` after each. The nouns are given:
`Tool`, `ToolRegistry`, `ToolCall` and `ToolResult`, as the chapters built them. The verbs are
yours. Use the standard library; a helper function of your own is welcome.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apisurface import ToolCall, ToolRegistry, ToolResult


def validate(instance: Any, schema: Any, path: str = "$") -> list[str]:
    """Return every violation of a JSON Schema, each with its path; `[]` when there is none.

    Keywords: `type` (a name or a list of names), `enum`, `minimum`, `maximum`, `minLength`,
    `maxLength`, `properties`, `required`, `additionalProperties` (a boolean or a schema) and
    `items`. `title`, `description`, `default`, `examples`, `$schema` and `$comment` say nothing
    about a value. Any other keyword is a ValueError: you cannot enforce it.

    Each keyword speaks about one kind of value and is silent about the others: `minimum` about
    numbers, `minLength` about strings, `required` about objects. Messages, by example:

        $.amount_cents: expected integer, got string
        $.line_items[0].sku: required
        $.x: unexpected property
        $["a key"]: required

    Types are JSON's: object, array, string, integer, number, boolean, null. `True` is neither
    an integer nor a number; `1.0` is an integer; in `enum`, `1` equals `1.0` and neither equals
    `True`, at every depth. `path` is where the instance itself stands. Nothing is changed.
    """
    raise NotImplementedError("step 1: write `validate`")


def parse_tool_call(raw: Any) -> ToolCall:
    """Return the call that a model meant: a dict or JSON text, flat or nested.

    Flat is `{"name", "arguments", "id"?}`; nested is `{"id", "type", "function": {"name",
    "arguments"}}`. `arguments` is an object, or the JSON text of one, which you decode again;
    an empty string or None means `{}`. Values inside stay what they are: `"5000"` is a string.
    An object in which a key stands twice has no meaning. Everything else, of whatever kind, is
    a ValueError and never another exception. What you return shares nothing with `raw`.
    """
    raise NotImplementedError("step 2: write `parse_tool_call`")


def dispatch(
    registry: ToolRegistry,
    call: ToolCall,
    *,
    authorize: Callable[[ToolCall], str | None] | None = None,
) -> ToolResult:
    """Resolve, validate, authorize, run, wrap: in this order, and never raise.

    `registry.get(name)` is the tool or None, `registry.names()` all names. The tool is called
    as `tool.func(**arguments)`, with a copy of the arguments, and only when nothing before it
    failed: its name is known exactly, `validate` finds nothing, `authorize(call)`, if given,
    returns None and no complaint; a check that fails has not said yes.

    Success is `ToolResult(ok=True, value=…)`, whatever the value is. Failure is
    `ToolResult(ok=False, error=…, errors=[…])`: `error` one sentence that a model can act on,
    `errors` all violations, unchanged. For an unknown tool the sentence names those there are;
    for an exception it names its type. Every result carries the call's id as `call_id`.
    """
    raise NotImplementedError("step 3: write `dispatch`")


def run_with_repair(
    fixer_policy: Callable[[list[str], ToolCall], ToolCall],
    registry: ToolRegistry,
    call: ToolCall,
    max_repairs: int = 2,
) -> tuple[ToolResult, int]:
    """Dispatch; while the result is a failure and repairs are left, mend and dispatch again.

    `fixer_policy(errors, call)` gets what was wrong and the call it was wrong with, and returns
    the next call. The number returned counts repairs: 0 when the first call was good, never
    more than `max_repairs`. When they are used up, the last failure is the result. It is always
    the answer to the call that you were given, so it carries that call's id.
    """
    raise NotImplementedError("step 4: write `run_with_repair`")


def coerce_output(text: str, schema: Any) -> Any:
    """Return the JSON value in a model's text, bare or in one fence, once `validate` agrees.

    Any JSON type will do. A ValueError otherwise, whose text holds every violation, exactly as
    `validate` words it: there is one validator, for arguments and for output alike. What is
    not strict JSON (a key twice, NaN, prose alone) is a ValueError too.
    """
    raise NotImplementedError("step 5: write `coerce_output`")
