# Generated from book/deltas.ipynb: edit it there, then run `make save`.
"""Deltas: the chunks of a Chat Completions stream, read into one small set of pieces.

`Delta` is the piece that every reader yields, `Reader` what a reader is; `ChatReader` reads
what OpenAI sends and what vLLM, llama.cpp, Groq, OpenRouter and others send in its name. A
reader decides which call a fragment belongs to and raises `MalformedStream` when nobody could
know. Not here: putting the pieces together (`assembly`), the other providers (`natives`).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from apisurface.sse import MalformedStream
from apisurface.transport import provider_error

# cell: kind
Kind: TypeAlias = Literal[
    "id", "text", "reasoning", "refusal", "call", "closed", "finish", "usage", "end"
]


# cell: delta
class Delta(NamedTuple):
    """One piece of a streamed answer.

    `kind` says what it is: `id` (name of the response), `text`, `reasoning`, `refusal`, `call`
    (a fragment of the arguments of call number `call`; where it opens the call, `data` is the
    place that the wire gives it), `closed` (no more fragments; `data` is the whole argument
    text where the wire repeats it), `finish` (in Chat's words), `usage` (in `data`) or `end`.
    Calls are numbered from 0 within their `choice`, in order of arrival.
    A piece is for showing: nothing in it may be acted upon.
    """

    kind: Kind
    choice: int = 0
    text: str = ""
    call: int | None = None
    id: str | None = None
    name: str | None = None
    data: Any = None


# cell: reader
class Reader(Protocol):
    """What reads the chunks of one provider; `ends` tells whether the last event has a name."""

    ends: bool

    @property
    def choices(self) -> Mapping[int, Any]:
        """The choices that have begun, by index."""
        ...

    def read(self, chunk: dict[str, Any]) -> list[Delta]:
        """Return the pieces in one chunk."""
        ...

    def native(self, choice: int) -> dict[str, Any]:
        """Return what the provider said of a choice that has no place among Chat's fields."""
        ...


# cell: calls
class _Calls:
    """The calls of one choice: which of them a fragment belongs to."""

    def __init__(self) -> None:
        self.at: dict[object, int] = {}
        self._ids: list[str | None] = []
        self._named: dict[tuple[object, str], int] = {}

    def place(self, index: object, ident: str | None, name: str | None, item: Any) -> int:
        """Return the number of the call that this fragment continues or opens."""
        if index is not None and type(index) is not int and index != "function_call":
            raise MalformedStream("the index of a call is not an integer", raw=item)
        found = self.at.get(index) if index is not None else None
        if found is not None and ident and self._ids[found] not in (None, ident):
            found = self._named.get((index, ident))
        elif index is None and ident:
            found = self._named.get((None, ident))
        elif index is None and self._ids:
            if self._ids[1:] or name:
                what = "a fragment without index and id that may belong to several calls"
                raise MalformedStream(what, raw=item)
            found = 0
        if found is None:
            if not ident and not name:
                raise MalformedStream("a fragment that belongs to no call", raw=item)
            found = len(self._ids)
            self._ids.append(None)
        if index is not None:
            self.at[index] = found
        if ident:
            self._ids[found] = ident
            self._named[index, ident] = self._named[None, ident] = found
        return found


# cell: arguments
def argument_text(value: object, item: Any = None) -> str:
    """Return a piece of arguments as text: None is none, an object is written as JSON.

    Raises MalformedStream for anything else.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    raise MalformedStream("arguments are neither text nor an object", raw=item)


# cell: plain-usage
PLAIN_USAGE = ("prompt_tokens", "completion_tokens", "total_tokens")


# cell: joined
def joined(pieces: list[str]) -> str:
    """Join pieces of text; a character that was cut into two surrogates becomes one again."""
    text = "".join(pieces)
    if re.search("[\ud800-\udbff][\udc00-\udfff]", text):
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return text


# cell: kept
@dataclass
class _Kept:
    """Fields that Chat does not have: text and lists grow, the rest is replaced."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    lists: dict[str, list[Any]] = field(default_factory=dict)
    rest: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, value: Any) -> None:
        """Take in one piece of a field."""
        if isinstance(value, str):
            self.texts.setdefault(name, []).append(value)
        elif isinstance(value, list):
            self.lists.setdefault(name, []).extend(value)
        elif value is not None:
            self.rest[name] = value

    def all(self) -> dict[str, Any]:
        """Return the fields put together."""
        texts = {name: joined(pieces) for name, pieces in self.texts.items()}
        return texts | {k: list(v) for k, v in self.lists.items()} | self.rest


# cell: chat-choice
@dataclass
class _ChatChoice:
    """What is remembered of one choice; custom calls are kept by their number."""

    calls: _Calls = field(default_factory=_Calls)
    kept: _Kept = field(default_factory=_Kept)
    custom: dict[int, dict[str, Any]] = field(default_factory=dict)
    has_text: bool = False


# cell: chat-reader
class ChatReader:
    """Reads Chat Completions: what OpenAI sends, and vLLM, llama.cpp and others in its name.

    Source: https://platform.openai.com/docs/api-reference/chat-streaming (checked 2026-11-30).
    """

    ends = False

    def __init__(self) -> None:
        self.choices: dict[int, _ChatChoice] = {}
        self._named = False
        self._usage: dict[str, Any] = {}

    def read(self, chunk: dict[str, Any]) -> list[Delta]:
        """Return the pieces in one chunk."""
        found: list[Delta] = []
        if not self._named and chunk.get("id"):
            self._named = True
            found.append(Delta("id", text=chunk["id"]))
        for choice in chunk.get("choices") or ():
            at = choice.get("index") or 0
            state = self.choices.get(at)
            if state is None:
                state = self.choices[at] = _ChatChoice()
            delta = choice["delta"] if "delta" in choice else choice.get("message")
            if delta:
                self._delta(found, at, state, delta)
            if "error" in choice or choice.get("finish_reason"):
                self._finish(found, at, state, choice)
        if "usage" in chunk or "x_groq" in chunk:
            self._count(found, chunk)
        return found

    def native(self, choice: int) -> dict[str, Any]:
        """Return the fields that Chat does not have, custom calls, and a richer usage."""
        state = self.choices.get(choice, _ChatChoice())
        native = state.kept.all()
        if state.custom:
            native["custom_calls"] = [
                call | {"custom": call["custom"] | {"input": joined(call["custom"]["input"])}}
                for call in state.custom.values()
            ]
        return native | ({"usage": self._usage} if set(self._usage) > set(PLAIN_USAGE) else {})

    def _delta(
        self, found: list[Delta], at: int, state: _ChatChoice, delta: dict[str, Any]
    ) -> None:
        for name, value in delta.items():
            if value is None or name == "role":
                continue
            if name == "tool_calls":
                for item in value:
                    self._call(found, at, state, item)
            elif name == "content":
                self._content(found, at, state, value)
            elif name == "refusal":
                found.append(Delta("refusal", at, value))
            elif name == "function_call":
                state.kept.add(name, {"deprecated": True})
                whole = {"index": name, "function": value}
                self._call(found, at, state, whole)
            elif value != "":
                state.kept.add(name, value)
                if name == "reasoning_content" or (
                    name == "reasoning" and not delta.get("reasoning_content")
                ):
                    found.append(Delta("reasoning", at, value))

    def _content(self, found: list[Delta], at: int, state: _ChatChoice, value: Any) -> None:
        """Read content, which is text, or a list of parts on some servers."""
        if isinstance(value, list):
            state.kept.add("content", value)
            for part in value:
                if part.get("type") == "text":
                    self._content(found, at, state, part["text"])
                elif part.get("type") == "thinking":
                    inner = part.get("thinking") or ()
                    found += [Delta("reasoning", at, each.get("text") or "") for each in inner]
        elif value or not state.has_text:
            state.has_text = True
            found.append(Delta("text", at, value))

    def _call(self, found: list[Delta], at: int, state: _ChatChoice, item: Any) -> None:
        """Read one fragment of a call."""
        index, ident = item.get("index"), item.get("id")
        function = item.get("function") or item.get("custom") or {}
        name, text = function.get("name"), function.get("arguments")
        slot = None if ident or name else state.calls.at.get(index)
        place = None
        if slot is None:
            place = index if type(index) is int else None
            if not (ident or name or text or function.get("input")):
                return
            slot = state.calls.place(index, ident, name, item)
            if more := item.keys() - {"index", "id", "type", "function", "custom"}:
                extra = state.kept.rest.setdefault("call_fields", {})
                extra[ident or str(slot)] = {key: item[key] for key in sorted(more)}
        if slot in state.custom or "custom" in item:
            self._custom(state, slot, item)
            return
        text = text if type(text) is str else argument_text(text, item)
        found.append(Delta("call", at, text, slot, ident, name, place))

    def _custom(self, state: _ChatChoice, slot: int, item: Any) -> None:
        """Keep a fragment of a custom call, whose input is free text."""
        said = item.get("custom") or {}
        opened: dict[str, Any] = {
            "id": None,
            "type": "custom",
            "custom": {"name": None, "input": []},
        }
        call = state.custom.setdefault(slot, opened)
        call["id"] = call["id"] or item.get("id")
        call["custom"]["name"] = call["custom"]["name"] or said.get("name")
        call["custom"]["input"].append(said.get("input") or "")

    def _finish(
        self, found: list[Delta], at: int, state: _ChatChoice, choice: dict[str, Any]
    ) -> None:
        """Read why a choice ended; `function_call` is the deprecated word for `tool_calls`."""
        reason = choice.get("finish_reason")
        said = choice.get("error") or (reason == "error" and "the choice ended with an error")
        if error := provider_error({"error": said}):
            raise error
        if not reason:
            return
        if reason == "function_call":
            state.kept.rest["finish_reason"] = reason
            reason = "tool_calls"
        if word := choice.get("native_finish_reason"):
            state.kept.rest["native_finish_reason"] = word
        found.append(Delta("finish", at, reason))

    def _count(self, found: list[Delta], chunk: dict[str, Any]) -> None:
        """Read the tokens counted so far; Groq has them, and errors, in a place of its own."""
        groq = chunk.get("x_groq") or {}
        if error := provider_error(groq):
            raise error
        usage = chunk.get("usage") or groq.get("usage")
        if usage:
            self._usage = usage
            found.append(Delta("usage", data={k: usage[k] for k in PLAIN_USAGE if k in usage}))
