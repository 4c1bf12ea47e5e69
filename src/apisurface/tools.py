# Generated from book/tools.ipynb: edit it there, then run `make save`.
"""One tool call there and back: a proposal is read, checked and authorized before it runs.

`run_tool_turn` takes one through all of it, from `decode_arguments` to `encode_result`.
`assert_all_calls_answered` pairs several by id; `mend_history` makes old ones fit to be sent.

    BoundaryError
    └── ToolCallError (ValueError)
        ├── MalformedArguments     what the call carries is not one JSON object
        ├── ProposalRefused        nothing ran; ask again, or do not
        ├── AnswerMissing          the tool ran and no answer came; never start over
        └── CallsNotAnswered       results and proposals do not pair one to one

Not here: several tools, errors as results, running calls at the same time (`dispatch`).
"""

import copy
import itertools
import json
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from apisurface.parsing import MAX_DEPTH, loads_strict
from apisurface.transport import BoundaryError
from apisurface.validator import compile_validator


# cell: tool-call-error
class ToolCallError(BoundaryError, ValueError):
    """A proposal, or answers to some, cannot be used as they are; `.errors` lists why."""

    def __init__(self, *errors: str) -> None:
        super().__init__("; ".join(errors))
        self.errors = list(errors)


# cell: malformed-arguments
class MalformedArguments(ToolCallError):
    """The arguments of a call are not one JSON object; `.raw` is what came, unchanged."""

    def __init__(self, *errors: str, raw: object = None) -> None:
        super().__init__(*errors)
        self.raw = raw


# cell: json-kind
def _kind(value: object) -> str:
    """Return what JSON calls a value, or what Python does when JSON has no word for it."""
    names = {str: "string", list: "array", bool: "boolean", int: "number", float: "number"}
    return "null" if value is None else names.get(type(value), type(value).__name__)


# cell: decode-arguments
def decode_arguments(raw: object) -> dict[str, Any]:
    """Return the arguments of a call as a new object, in whichever form they arrived.

    A dict gives a deep copy and a string is read as strict JSON; a string that holds the
    *string* of an object, encoded twice, is read once more. None and empty text give `{}`, and
    validation decides the rest. Values inside the object are never coerced: `"12345"` stays a
    string. A dict is held to the rules of `loads_strict` too. Raises `MalformedArguments`, a
    ValueError that keeps `.raw`, for anything else.
    """
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return {}
    try:
        text = json.dumps(raw, allow_nan=False) if isinstance(raw, dict) else raw
        value = loads_strict(text) if isinstance(text, str) else text
        if isinstance(value, str) and value.lstrip().startswith("{"):
            value = loads_strict(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise MalformedArguments(f"arguments are not strict JSON: {error}", raw=raw) from None
    if not isinstance(value, dict):
        raise MalformedArguments(f"arguments must be an object, got {_kind(value)}", raw=raw)
    return value


# cell: lookup-tool
LOOKUP_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "lookup_order",
        "description": "Look up one order by its id.",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string", "pattern": "^O-[0-9]{4}$"}},
            "required": ["order_id"],
            "additionalProperties": False,
        },
    },
}


# cell: not-json
def _not_json(value: object, path: str = "$", depth: int = 0) -> str | None:
    """Return the first thing in a value that JSON cannot hold, and where it is."""
    if isinstance(value, str) and value.encode("utf-8", "replace").decode() != value:
        return f"unpaired surrogate at {path}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"{value} at {path}"
    if value is None or isinstance(value, (str, int, float)):
        return None
    if depth == MAX_DEPTH:
        return f"nesting deeper than {MAX_DEPTH} at {path[:80]}"
    if isinstance(value, (list, tuple)):
        parts = ((f"{path}[{at}]", item) for at, item in enumerate(value))
    elif isinstance(value, dict):
        if other := next((key for key in value if not isinstance(key, str)), None):
            return f"{type(other).__name__} as a key at {path}"
        steps = (f".{key}" if key.isidentifier() else f"[{json.dumps(key)}]" for key in value)
        parts = ((path + step, item) for step, item in zip(steps, value.values(), strict=True))
    else:
        return f"{type(value).__name__} at {path}"
    return next(filter(None, (_not_json(item, at, depth + 1) for at, item in parts)), None)


# cell: encode-result
def encode_result(value: object) -> str:
    """Return what a tool returned as the text of a tool turn: a string as it is, else as JSON.

    Nothing is converted on the quiet. Raises ValueError, with type and place, for a date, a
    set, bytes, NaN, a key that is no string, an unpaired surrogate or too deep nesting.
    """
    if fault := _not_json(value):
        raise ValueError(f"result not serialisable: {fault}")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# cell: proposal-refused
class ProposalRefused(ToolCallError):
    """A reply was not acted upon and nothing ran: the turn may be asked for again.

    `.errors` are fit to be shown to a model; `.reply` is the reply as it came.
    """

    def __init__(self, *errors: str, reply: dict[str, Any] | None = None) -> None:
        super().__init__(*errors)
        self.reply = reply


# cell: answer-missing
class AnswerMissing(ToolCallError):
    """The tool has run and no answer came of it: go on from `.transcript`, do not start over.

    `.transcript` ends with the tool's result and can be sent again; `.reply` is what came
    instead of an answer, None when the request itself failed.
    """

    def __init__(self, *errors: str, transcript: Any = None, reply: Any = None) -> None:
        super().__init__(*errors)
        self.transcript, self.reply = transcript, reply


# cell: one-call
def _one_call(reply: dict[str, Any], name: str) -> tuple[dict[str, Any], list[str]]:
    """Return the only call in a reply and what is wrong with the form of the reply."""
    message = reply.get("message") if isinstance(reply, dict) else None
    if not isinstance(message, dict):
        return {}, [f"reply: expected one with a message, got {_kind(reply)}"]
    if (finish := reply.get("finish_reason")) not in ("tool_calls", "stop"):
        return {}, [f"finish: expected tool_calls or stop, got {finish}"]
    calls = message.get("tool_calls") or []
    got = len(calls) if isinstance(calls, list) else _kind(calls)
    if got != 1 or not isinstance(call := calls[0], dict):
        return {}, [f"tool_calls: expected exactly one call, got {got}"]
    function, errors = call.get("function"), []
    if not isinstance(call.get("id"), str) or not call["id"]:
        errors.append("id: a call without an id cannot be answered")
    plain = (call.get("type") or "function") == "function"
    called = function.get("name") if plain and isinstance(function, dict) else None
    if called != name:
        errors.append(f"name: {called!r} was not offered, only {name!r}")
    return call, errors


# cell: proposed
def _proposed(
    reply: dict[str, Any],
    name: str,
    violations: Callable[[Any], list[str]],
    authorize: Callable[[str, dict[str, Any]], str | None] | None,
) -> tuple[str, dict[str, Any]]:
    """Return the id and the arguments of a proposal that passed every gate, or refuse it."""
    call, errors = _one_call(reply, name)
    if errors:
        raise ProposalRefused(*errors, reply=reply)
    try:
        arguments = decode_arguments(call["function"].get("arguments"))
    except MalformedArguments as error:
        raise ProposalRefused(f"$: {error}", reply=reply) from error
    if errors := violations(arguments):
        raise ProposalRefused(*errors, reply=reply)
    complaint = authorize(name, copy.deepcopy(arguments)) if authorize else None
    if complaint is None:
        return call["id"], arguments
    if not (isinstance(complaint, str) and complaint.strip()):
        raise ValueError(f"authorize must return None or a complaint, not {complaint!r}")
    raise ProposalRefused(f"not authorized: {complaint}", reply=reply)


# cell: run-tool-turn
def run_tool_turn(
    invoke: Callable[..., dict[str, Any]],
    messages: Sequence[Mapping[str, Any]],
    tool: Mapping[str, Any],
    handler: Callable[..., object],
    *,
    authorize: Callable[[str, dict[str, Any]], str | None] | None = None,
) -> dict[str, Any]:
    """Offer one tool, act on one proposal for it, hand the result back, return the answer.

    Two calls `invoke(transcript, tools=[tool])` that answer like `chat`. The proposal is read,
    validated against the schema that was sent and authorized: `authorize(name, arguments)` is
    None or a complaint. Then the handler runs once. The assistant turn goes back unabridged,
    the result under its id, or an error if it is not JSON. Messages and tool never change.

    Raises `ProposalRefused`, with all errors, when nothing has run: a finish that is neither
    `tool_calls` nor `stop`, any number of calls but one (so a plain answer too), a tool that
    was not offered, bad arguments, a refusal; `AnswerMissing` when the tool has run and the
    second request fails, or its reply does not end with `stop` or proposes again. A schema that
    cannot be enforced is refused before any request. All are ValueErrors. What the first
    `invoke`, `authorize` and `handler` raise passes through.
    """
    offered = copy.deepcopy(dict(tool))
    function = offered["function"] if isinstance(offered.get("function"), dict) else {}
    name, parameters = function.get("name"), function.get("parameters")
    if not (isinstance(name, str) and name and isinstance(parameters, dict)):
        raise ValueError("tool needs a function with a name and parameters, like LOOKUP_TOOL")
    violations = compile_validator(parameters)
    transcript = [copy.deepcopy(dict(message)) for message in messages]
    reply = invoke(copy.deepcopy(transcript), tools=[copy.deepcopy(offered)])
    call_id, arguments = _proposed(reply, name, violations, authorize)
    try:
        result = handler(**arguments)
    except Exception as error:
        error.add_note(f"run_tool_turn: {name} was started for {call_id} and may have acted")
        raise
    try:
        content = encode_result(result)
    except ValueError as error:
        content = json.dumps({"error": f"the tool ran; {error}"})
    answer = {"role": "tool", "tool_call_id": call_id, "content": content}
    transcript += [copy.deepcopy(reply["message"]), answer]
    final: dict[str, Any] | None = None
    try:
        final = invoke(copy.deepcopy(transcript), tools=[copy.deepcopy(offered)])
        if final["finish_reason"] != "stop" or final["message"].get("tool_calls"):
            raise ToolCallError(f"expected an answer, got {final['finish_reason']}")
    except Exception as error:
        why = f"the tool ran, then {type(error).__name__}: {error}"
        raise AnswerMissing(why, transcript=transcript, reply=final) from error
    return final


# cell: calls-not-answered
class CallsNotAnswered(ToolCallError):
    """Proposals and results do not pair one to one; `.errors` lists every id that does not."""


# cell: id-of
def _id_of(item: object, *fields: str) -> str:
    """Return the id in the first of these fields that has one; a string is an id itself."""
    if isinstance(item, str):
        return item
    for field in fields:
        value = item.get(field) if isinstance(item, Mapping) else getattr(item, field, None)
        if isinstance(value, str) and value:
            return value
    return ""


# cell: assert-all-calls-answered
def assert_all_calls_answered(calls: Iterable[object], results: Iterable[object]) -> None:
    """Return when every proposal is answered exactly once, by id; otherwise raise.

    A call is a provider's dict (`call_id` or `id`), anything with such an attribute, or the id
    itself; a result names its call as `tool_call_id`, `tool_use_id`, `call_id` or `id`. The
    order of the results does not matter. Raises `CallsNotAnswered`, a ValueError that lists
    every id that is proposed twice, unanswered, answered twice, unknown or empty.
    """
    proposed = Counter(_id_of(call, "call_id", "id") for call in calls)
    fields = ("tool_call_id", "tool_use_id", "call_id", "id")
    answered = Counter(_id_of(result, *fields) for result in results)
    errors = ["a call without an id"] * ("" in proposed)
    errors += ["a result without an id"] * ("" in answered)
    errors += [f"two calls with the id {i!r}" for i, n in proposed.items() if i and n > 1]
    errors += [f"no result for {i!r}" for i in proposed if i and i not in answered]
    errors += [f"duplicate result for {i!r}" for i, n in answered.items() if i and n > 1]
    errors += [f"result for unknown id {i!r}" for i in answered if i and i not in proposed]
    if errors:
        raise CallsNotAnswered(*errors)


# cell: mend-call
def _mend_call(call: dict[str, Any], result: dict[str, Any], taken: set[str]) -> None:
    """Give a call an id of its own, a name and arguments that decode; tell its result why."""
    base, note = _id_of(call, "id") or "call", ""
    names = (base if n == 1 else f"{base}-{n}" for n in itertools.count(1))
    call["id"] = result["tool_call_id"] = next(name for name in names if name not in taken)
    taken.add(call["id"])
    if call.get("type", "function") != "function":
        return
    function = call["function"] if isinstance(call.get("function"), dict) else {}
    raw, name = function.get("arguments"), function.get("name")
    try:
        value = decode_arguments(raw)
    except MalformedArguments as error:
        value, note = {}, f"[The call was not valid: {error}. It was: {repr(raw)[:400]}]"
    if not (isinstance(name, str) and name):
        name, note = "unnamed", f"[The call had no name.]{note}"
    if note or not (isinstance(raw, str) and raw.lstrip().startswith("{")):
        raw = json.dumps(value, ensure_ascii=False)
    call["function"] = {**function, "name": name, "arguments": raw}
    if note and isinstance(result.get("content"), list):
        result["content"] = [*result["content"], {"type": "text", "text": note}]
    elif note:
        result["content"] = f"{result.get('content') or ''}\n{note}".strip()


# cell: mend-history
def mend_history(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a copy of a conversation whose calls every strict server will read.

    Arguments become the text of one JSON object: `{}` where they are broken, with what was
    written quoted in the call's result. A call without a name is named `unnamed`, without an id
    gets one, with an id that stood there before gets a new one together with its result; a call
    that was never answered is answered "not executed". Everything else comes back equal.
    Raises `CallsNotAnswered`, a ValueError, for a result that the turn before did not ask for.
    """
    turns = deque(copy.deepcopy(dict(message)) for message in messages)
    mended: list[dict[str, Any]] = []
    taken: set[str] = set()
    while turns:
        waiting = turns[0].get("tool_calls") or []
        if turns[0].get("role") != "tool":
            mended.append(turns.popleft())
        while turns and turns[0].get("role") == "tool":
            result = turns.popleft()
            wanted = _id_of(result, "tool_call_id")
            found = next((call for call in waiting if _id_of(call, "id") == wanted), None)
            if found is None:
                raise CallsNotAnswered(f"a result that no call waits for: {wanted!r}")
            waiting = [call for call in waiting if call is not found]
            _mend_call(found, result, taken)
            mended.append(result)
        for call in waiting:
            mended.append({"role": "tool", "content": "not executed"})
            _mend_call(call, mended[-1], taken)
    return mended
