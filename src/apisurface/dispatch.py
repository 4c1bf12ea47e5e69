# Generated from book/dispatch.ipynb: edit it there, then run `make save`.
"""From a call to a result: resolve, validate, authorize, run, wrap, in this order.

`dispatch` answers every call with a `ToolResult` and never raises; the function is not touched
unless everything before it passed. `dispatch_all` runs several calls at the same time,
`run_with_repair` lets a policy mend a call a bounded number of times, and `coerce_output` puts
a model's text through the very same check.

    BoundaryError
    └── InvalidOutput (ValueError)   a text parsed, and its value does not fit the schema

Not here: asking a model again (`extraction`), streams (`streaming`).
"""

from __future__ import annotations

import copy
import difflib
import inspect
import json
import logging
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from typing import Any, TypeAlias

from apisurface.calls import Tool, ToolCall, ToolRegistry, parse_tool_call, parse_tool_calls
from apisurface.idempotency import MemoryStore, Store, fingerprint
from apisurface.idempotency import SQLiteStore as SQLiteStore
from apisurface.objects import parse_object
from apisurface.parsing import (
    MAX_CHARS,
    MalformedJSON,
    after_thoughts,
    find_brace,
    find_fences,
    loads_strict,
)
from apisurface.running import ToolResult, in_thread, run_tool
from apisurface.tools import MalformedArguments, ToolCallError, decode_arguments
from apisurface.transport import BoundaryError
from apisurface.validator import compile_validator


# cell: unknown-tool
def _unknown_tool(registry: ToolRegistry, name: object) -> str:
    """Say that there is no such tool, which ones come near, and which there are."""
    names, wanted = registry.names(), str(name)[:64]
    near = difflib.get_close_matches(wanted, names, n=3)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    listed = ", ".join(names[:50]) + (", …" if len(names) > 50 else "")
    return f"unknown tool {wanted!r}; {hint}the tools are: {listed or 'none'}"


# cell: arguments-of
def _arguments_of(registry: ToolRegistry, call: ToolCall) -> tuple[dict[str, Any], list[str]]:
    """Return a copy of the arguments, and every reason why they may not reach the tool."""
    try:
        arguments = decode_arguments(call.arguments)
    except MalformedArguments as error:
        return {}, [f"$: {error}"]
    return arguments, registry.violations(call.name, arguments)


# cell: authorize-type
Authorize: TypeAlias = Callable[[ToolCall], str | None]


# cell: refusal
def _refusal(authorize: Authorize, call: ToolCall) -> str | None:
    """Ask for authorization; whatever is not a clear yes is a no."""
    try:
        complaint = authorize(call)
    except (Exception, SystemExit) as error:
        return f"the check itself failed with {type(error).__name__}"
    if complaint is None:
        return None
    given = isinstance(complaint, str) and complaint.strip()
    return complaint if given else "no reason was given"


# cell: admit
def _admit(
    registry: ToolRegistry, call: ToolCall, authorize: Authorize | None
) -> tuple[Tool, dict[str, Any]] | ToolResult:
    """Put a call through every gate: the tool and its arguments, or the failure."""
    tool = registry.get(call.name)
    if tool is None:
        return ToolResult.failure(_unknown_tool(registry, call.name))
    arguments, errors = _arguments_of(registry, call)
    if errors:
        listed = "; ".join(errors)
        return ToolResult.failure(f"invalid arguments for {tool.name}: {listed}", errors)
    if authorize is not None:
        shown = replace(call, arguments=copy.deepcopy(arguments))
        if refusal := _refusal(authorize, shown):
            return ToolResult.failure(f"{tool.name} was not authorized: {refusal}")
    with suppress(ValueError):  # a function written in C may have no signature to read
        try:
            inspect.signature(tool.func).bind(**arguments)
        except TypeError as error:
            why = f"its function and its schema disagree: {error}"
            return ToolResult.failure(f"{tool.name} did not run: {why}")
    return tool, arguments


# cell: stores
_STORES: weakref.WeakKeyDictionary[ToolRegistry, MemoryStore] = weakref.WeakKeyDictionary()


# cell: stores-lock
_STORES_LOCK = threading.Lock()


# cell: store-of
def _store_of(registry: ToolRegistry) -> MemoryStore:
    """Return the store that lives as long as this registry."""
    with _STORES_LOCK:
        return _STORES.setdefault(registry, MemoryStore())


# cell: once
def _once(
    store: Store, key: str, tool: Tool, arguments: dict[str, Any], deadline: float | None
) -> ToolResult:
    """Run under a key, unless the store knows better."""
    if not isinstance(key, str) or not key:
        return ToolResult.failure(
            f"{tool.name} did not run: an idempotency key is a non-empty string"
        )
    try:
        claim = store.claim(key, fingerprint(tool.name, arguments), deadline)
        if claim.state == "replay" and claim.result is not None:
            return ToolResult(**claim.result)
    except Exception as error:
        why = f"its idempotency key could not be claimed ({type(error).__name__})"
        return ToolResult.failure(f"{tool.name} did not run: {why}")
    if claim.state == "mismatch":
        why = "its idempotency key belongs to a call with other arguments"
        return ToolResult.failure(f"{tool.name} did not run: {why}")
    if claim.state != "run":
        why = "is still running" if claim.state == "busy" else "was started and never finished"
        why = f"a call of {tool.name} with this idempotency key {why}"
        return ToolResult.failure(f"{why}: it may have acted, do not repeat it", in_doubt=True)

    def keep(result: ToolResult | None) -> None:
        kept = asdict(result) if result is not None else {}
        store.finish(key, {name: kept[name] for name in kept if name != "call_id"} or None)

    return run_tool(tool, arguments, deadline=deadline, keep=keep)


# cell: read
def _read(call: object) -> ToolCall | ToolResult:
    """Return a call that may still be raw, or the failure to read it, under its id."""
    if isinstance(call, ToolCall):
        return call
    try:
        return parse_tool_call(call)
    except ToolCallError as error:
        call_id = call.get("id") if isinstance(call, dict) else None
        call_id = call_id if isinstance(call_id, str) and call_id else None
        return replace(ToolResult.failure(f"unreadable call: {error}"), call_id=call_id)


# cell: dispatch
def dispatch(
    registry: ToolRegistry,
    call: ToolCall | dict[str, Any] | str,
    *,
    authorize: Authorize | None = None,
    deadline: float | None = None,
    store: Store | None = None,
) -> ToolResult:
    """Answer one call: resolve, validate, authorize, run, wrap; a failure is a result too.

    `call` may be raw, as `parse_tool_call` reads it. The function is called as
    `func(**arguments)` on a copy, and not before the tool is known, every violation is excluded
    and `authorize(call)` has returned None; a complaint refuses, and so does a failing check.
    See `run_tool` for what then comes of it.

    `deadline` is in seconds. A function that outlives it cannot be stopped: it goes on, and the
    result is `in_doubt`. With an idempotency key a repeat gets the stored result, also of a
    failure; without `store` the results live as long as the registry. A key whose effect may
    have happened before a crash is `in_doubt`, one that comes with other arguments is refused.

    Raises nothing, except what is meant for the program and not for the model:
    KeyboardInterrupt and other exceptions that are no `Exception` pass, SystemExit does not.
    """
    asked = _read(call)
    if isinstance(asked, ToolResult):
        return asked
    admitted = _admit(registry, asked, authorize)
    if isinstance(admitted, ToolResult):
        result = admitted
    elif asked.idempotency_key is None or (deadline is not None and not deadline > 0):
        result = run_tool(*admitted, deadline=deadline)  # no key is claimed without time
    else:
        book = _store_of(registry) if store is None else store
        result = _once(book, asked.idempotency_key, *admitted, deadline)
    return replace(result, call_id=asked.id or None)


# cell: run-with-repair
def run_with_repair(
    fixer_policy: Callable[[list[str], ToolCall], ToolCall],
    registry: ToolRegistry,
    call: ToolCall | dict[str, Any] | str,
    max_repairs: int = 2,
    *,
    authorize: Authorize | None = None,
    deadline: float | None = None,
    store: Store | None = None,
    attempts: list[tuple[ToolCall, ToolResult]] | None = None,
) -> tuple[ToolResult, int]:
    """Dispatch a call; while it is unknown or invalid, let a policy mend it, and try again.

    Returns the result and how often the policy was asked: 0 when the first call, which may be
    raw, is good or cannot be read, at most `max_repairs`. `fixer_policy(errors, call)` gets all
    errors and a copy of the failed call, and returns the next one, which keeps the first call's
    id and idempotency key. Only what a model can mend goes to the policy: not a refusal, a
    function that failed or a result in doubt. Ends early with the last result when the policy
    raises, returns no call, or one that was tried before. Every call tried is appended to
    `attempts`, with its result. Raises ValueError for a negative `max_repairs`.
    """
    if max_repairs < 0:
        raise ValueError(f"max_repairs must not be negative, got {max_repairs}")
    asked, tried = _read(call), list[ToolCall]()
    while isinstance(asked, ToolCall):
        result = dispatch(registry, asked, authorize=authorize, deadline=deadline, store=store)
        tried.append(asked)
        if attempts is not None:
            attempts.append((copy.deepcopy(asked), result))
        known = registry.get(asked.name) is not None
        mendable = not result.ok and (not known or bool(_arguments_of(registry, asked)[1]))
        if not mendable or len(tried) > max_repairs:
            return result, len(tried) - 1
        try:
            fixed = fixer_policy(list(result.errors), copy.deepcopy(asked))
            asked = replace(asked, name=fixed.name, arguments=fixed.arguments)
            if repr(asked) in map(repr, tried):  # true and 1 are equal and not the same
                return result, len(tried)
        except Exception as error:
            logging.getLogger("apisurface").info("the fixer failed", exc_info=error)
            return result, len(tried)
    return asked, 0


# cell: invalid-output
class InvalidOutput(BoundaryError, ValueError):
    """A text was JSON, but its value does not fit; `.errors` lists why, `.value` is it."""

    def __init__(self, errors: list[str], value: Any) -> None:
        super().__init__("; ".join(errors))
        self.errors, self.value = errors, value


# cell: output-value
def _output_value(text: str) -> Any:
    """Return the JSON value of a text that is one, or holds it in a fence or in prose."""
    try:
        return loads_strict(text)
    except MalformedJSON as error:
        if not isinstance(text, str) or len(text) > MAX_CHARS:
            raise
        first = error
    start = after_thoughts(text)
    fences = find_fences(text, start)
    marked = [loads_strict(text, f.start, f.end) for f in fences if "json" in f.language]
    plain = []
    for fence in fences:
        with suppress(MalformedJSON):
            plain += [] if fence.language else [loads_strict(text, fence.start, fence.end)]
    values = marked or plain
    if len({json.dumps(value, sort_keys=True) for value in values}) > 1:
        raise MalformedJSON("fences that hold different values", text=text)
    if values:
        return values[0]
    with suppress(MalformedJSON):
        return loads_strict(text, start)
    if find_brace(text, start) < 0:
        raise first
    return parse_object(text)


# cell: coerce-output
def coerce_output(text: str, schema: Any) -> Any:
    """Return the JSON value that a model wrote, if it fits the schema: of any type, unchanged.

    The text is the value, holds it in a fence (one marked json first), or, for an object, in
    prose; thinking before it is set aside. Parsed strictly, mended never, and checked by the
    same `validate` as the arguments of a call. Raises `MalformedJSON` when there is no value,
    `InvalidOutput` with all errors when it does not fit, `UnsupportedSchema`, before the text
    is read, for a schema that cannot be enforced: all of them ValueErrors.
    """
    check = compile_validator(schema)
    value = _output_value(text)
    if errors := check(value):
        raise InvalidOutput(errors, value)
    return value


# cell: proposals
def _proposals(calls: Iterable[Any]) -> list[Any]:
    """Return the calls one by one; those of a message are read here if all can be."""
    if not isinstance(calls, dict):
        return [calls] if isinstance(calls, str | ToolCall) else list(calls or ())
    try:
        return list(parse_tool_calls(calls))
    except ToolCallError:
        raw = calls.get("tool_calls")
        return raw if isinstance(raw, list) else [calls]


# cell: dispatch-all
def dispatch_all(
    registry: ToolRegistry,
    calls: Iterable[ToolCall | dict[str, Any] | str] | dict[str, Any],
    *,
    authorize: Authorize | None = None,
    deadline: float | None = None,
    store: Store | None = None,
) -> list[ToolResult]:
    """Answer several calls at the same time, each as `dispatch` does, in the order given.

    `calls` may be an assistant message, and each call may be raw: one that cannot be read gets
    its error as an answer. All of them start at once, one thread each, so the whole takes as
    long as the slowest; calls that need each other's results do not belong into one list.
    `authorize` is called from those threads. Of calls that share an id none is run: their
    answers could not be told apart.
    """
    wanted = [_read(call) for call in _proposals(calls)]
    count = Counter(c.id if isinstance(c, ToolCall) else c.call_id for c in wanted)

    def answer(call: ToolCall | ToolResult) -> ToolResult:
        if isinstance(call, ToolResult):
            return call
        if call.id and count[call.id] > 1:
            why = f"{call.name} did not run: {count[call.id]} calls have the id {call.id!r}"
            return replace(ToolResult.failure(why), call_id=call.id)
        return dispatch(registry, call, authorize=authorize, deadline=deadline, store=store)

    running = [in_thread(partial(answer, call)) for call in wanted]
    return [future.result() for future in running]
