# Generated from book/assembly.ipynb: edit it there, then run `make save`.
"""Assembly: deltas put together into one response, and what may be said of it on the way.

`StreamAssembler` takes the decoded chunks of one provider, in order, and gives the response at
the end or a typed error that carries a `PartialResponse`. It does no I/O. Time is linear in the
bytes: fragments are kept in lists and joined once. Not here: bytes (`sse`), what may be done
with the calls of a response (`streaming.actionable_calls`).
"""

import json
from collections.abc import Callable
from hashlib import sha256
from typing import Any, NoReturn

from apisurface.deltas import ChatReader, Delta, Reader, joined
from apisurface.natives import AnthropicReader, GeminiReader
from apisurface.parsing import loads_strict
from apisurface.partial import PartialCall, PartialChoice, PartialResponse, StreamState
from apisurface.responses import ResponsesReader
from apisurface.sse import IncompleteToolStream, MalformedStream
from apisurface.transport import BoundaryError, provider_error


# cell: checked
def _checked(text: object) -> str:
    """Return a text that is one."""
    if type(text) is not str:
        raise MalformedStream("text was expected", raw=text)
    return text


# cell: call
class _Call:
    """One call being assembled; `place` is where it stands among the calls of its choice."""

    __slots__ = ("closed", "id", "name", "pieces", "place", "strict")

    def __init__(self, place: int) -> None:
        self.place = place
        self.id: str | None = None
        self.name: str | None = None
        self.pieces: list[str] = []
        self.closed = False
        self.strict: bool | None = None

    def name_it(self, ident: str | None, name: str | None) -> None:
        """Take in an id, which stays the first, and a name, which must not change."""
        if ident and self.id is None:
            self.id = _checked(ident)
        if name and self.name is None:
            self.name = _checked(name)
        elif name and name != self.name:
            raise MalformedStream(f"the name of a call changes from {self.name!r}", raw=name)

    def parses(self) -> bool:
        """Tell whether the arguments are a strict JSON object; asked of a closed call only."""
        if self.strict is None:
            text = joined(self.pieces)
            try:
                self.strict = not text or isinstance(loads_strict(text), dict)
            except ValueError:
                self.strict = False
        return self.strict


# cell: choice
class _Choice:
    """One choice being assembled; `texts` holds the pieces of content, reasoning, refusal."""

    __slots__ = ("anomalies", "calls", "finish", "texts")

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}
        self.calls: dict[int, _Call] = {}
        self.finish: str | None = None
        self.anomalies: list[str] = []

    def text(self, kind: str) -> str | None:
        """Return one kind of text, None when no piece of it came."""
        return joined(self.texts[kind]) if kind in self.texts else None

    def in_order(self) -> list[tuple[int, _Call]]:
        """Return the calls and their numbers by their places, then by arrival."""
        return sorted(self.calls.items(), key=lambda pair: (pair[1].place, pair[0]))


# cell: readers
READERS: dict[str, Callable[[], Reader]] = {
    "openai-chat": ChatReader,
    "openai-responses": ResponsesReader,
    "anthropic": AnthropicReader,
    "gemini": GeminiReader,
}


# cell: assembler
class StreamAssembler:
    """Puts the decoded chunks of one provider's stream together; does no I/O of its own.

    `provider` is `openai-chat` (with vLLM, llama.cpp and their like), `openai-responses`,
    `anthropic` or `gemini`. `feed(chunk)` returns the deltas in a chunk, `finish()` the
    response. Both raise with `.received`, a PartialResponse: ProviderError for an error in the
    stream, MalformedStream for what breaks its protocol, IncompleteToolStream for an end before
    the last event. After an error the same one is raised again. Raises ValueError for a
    provider that nobody knows.
    """

    def __init__(self, provider: str = "openai-chat") -> None:
        if provider not in READERS:
            raise ValueError(f"provider must be one of {sorted(READERS)}, got {provider!r}")
        self.provider = provider
        self._reader = READERS[provider]()
        self._choices: dict[int, _Choice] = {}
        self._request_id: str | None = None
        self._usage: dict[str, Any] = {}
        self._ended = False
        self._error: BoundaryError | None = None
        self._take = {
            "call": self._call,
            "text": self._text,
            "reasoning": self._text,
            "refusal": self._text,
            "closed": self._close,
            "finish": self._finish,
            "usage": self._count,
            "id": self._name,
            "end": self._end,
        }

    def feed(self, chunk: dict[str, Any]) -> list[Delta]:
        """Take in one chunk and return the deltas in it."""
        if self._error is not None:
            raise self._error
        try:
            if (
                "error" in chunk
                or chunk.get("type") in ("error", "response.failed")
                or chunk.get("object") == "error"
            ) and (error := provider_error(chunk)):
                self.fail(error)
            deltas = self._reader.read(chunk)
            for delta in deltas:
                self._take[delta[0]](delta)
        except BoundaryError as error:
            self.fail(error)
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            what = f"a chunk of another shape than {self.provider} sends"
            wrong = MalformedStream(what, raw=chunk)
            wrong.__cause__ = error
            self.fail(wrong)
        return deltas

    def finish(self, *, all_choices: bool = False) -> dict[str, Any]:
        """Return the four fields of `chat()`, or all choices: `{"choices": [four fields]}`."""
        if self._error is not None:
            raise self._error
        if not self._terminal():
            ends = self._reader.ends and not self._ended
            missing = "its last event" if ends else "a finish reason"
            self.fail(IncompleteToolStream(f"the stream ended without {missing}"))
        if not all(self._closed(c) for c in self._choices.values()):
            self.fail(IncompleteToolStream("the stream ended before a call was closed"))
        if len(self._choices) > 1 and not all_choices:
            what = (
                f"a stream of {len(self._choices)} choices; all_choices=True keeps them apart"
            )
            self.fail(MalformedStream(what, raw=sorted(self._choices)))
        found = [self._response(at, choice) for at, choice in sorted(self._choices.items())]
        return {"choices": found} if all_choices else found[0]

    @property
    def state(self) -> StreamState:
        """How far the stream has come: only `eligible` may lead to an action."""
        choices = self._choices.values()
        terminal = self._terminal()
        normal = all(choice.finish in ("tool_calls", "stop") for choice in choices)
        if self._error is not None or (terminal and not normal):
            return "incomplete"
        calls = [call for choice in choices for call in choice.calls.values()]
        if not calls:
            return "eligible" if terminal else "collecting"
        if not all(self._closed(choice) for choice in choices):
            return "collecting"
        if not all(call.parses() for call in calls):
            return "call closed"
        return "eligible" if terminal else "parsed"

    def partial(self) -> PartialResponse:
        """Return what has arrived so far, of a type that cannot be dispatched."""
        choices = tuple(
            PartialChoice(
                at,
                choice.text("text"),
                choice.text("reasoning") or "",
                choice.text("refusal") or "",
                tuple(
                    PartialCall(call.id, call.name, joined(call.pieces), call.closed)
                    for _, call in choice.in_order()
                ),
                choice.finish,
            )
            for at, choice in sorted(self._choices.items())
        )
        return PartialResponse(self.state, choices, dict(self._usage), self._request_id)

    def fail(self, error: BoundaryError) -> NoReturn:
        """End the stream with an error of the boundary: attach what was received, raise it."""
        self._error = error
        error.received = error.received or self.partial()
        raise error

    def _terminal(self) -> bool:
        ended = self._ended or not self._reader.ends
        finished = [at for at, choice in self._choices.items() if choice.finish is not None]
        return (
            ended and bool(finished) and {*finished} == {*self._choices, *self._reader.choices}
        )

    def _closed(self, choice: _Choice) -> bool:
        """Tell whether no call can grow: Chat says so by its finish reason alone."""
        by_finish = self.provider == "openai-chat" and choice.finish is not None
        return by_finish or all(call.closed for call in choice.calls.values())

    def _choice(self, at: object) -> _Choice:
        if type(at) is not int:
            raise MalformedStream("the index of a choice is not an integer", raw=at)
        return self._choices.setdefault(at, _Choice())

    def _at(self, delta: Delta) -> _Choice:
        choice = self._choices.get(delta.choice) or self._choice(delta.choice)
        if choice.finish is not None and (delta.text or delta.id or delta.name):
            raise MalformedStream("content after the end of its choice", raw=delta[:6])
        return choice

    def _text(self, delta: Delta) -> None:
        self._at(delta).texts.setdefault(delta.kind, []).append(_checked(delta.text))

    def _call(self, delta: Delta) -> None:
        _, at, text, slot, ident, name, place = delta
        assert slot is not None
        choice = self._choices.get(at)
        if choice is None or choice.finish is not None:
            choice = self._at(delta)
        call = choice.calls.get(slot)
        if call is None:
            call = choice.calls[slot] = _Call(slot if place is None else place)
        if ident or name:
            call.name_it(ident, name)
        if call.closed:
            raise MalformedStream("a fragment of a call that is closed", raw=text)
        call.pieces.append(text if type(text) is str else _checked(text))

    def _close(self, delta: Delta) -> None:
        assert delta.call is not None
        call = self._at(delta).calls[delta.call]
        call.closed = True
        if delta.data is None:
            return
        text = joined(call.pieces)
        if text and text != delta.data:
            raise MalformedStream(
                "whole arguments that differ from their pieces", raw=delta.data
            )
        call.pieces = [_checked(delta.data)]

    def _finish(self, delta: Delta) -> None:
        choice = self._choice(delta.choice)
        reason = _checked(delta.text)
        if choice.finish is None:
            choice.finish = reason
        elif choice.finish != reason:
            choice.anomalies.append(f"finish reason {reason!r} after {choice.finish!r}")
            if reason in ("length", "content_filter"):
                choice.finish = reason

    def _count(self, delta: Delta) -> None:
        self._usage = delta.data

    def _name(self, delta: Delta) -> None:
        self._request_id = _checked(delta.text)

    def _end(self, delta: Delta) -> None:
        self._ended = True

    def _response(self, at: int, choice: _Choice) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": choice.text("text")}
        for kind in ("refusal", "reasoning"):
            if said := choice.text(kind):
                message[kind] = said
        if choice.calls:
            calls = choice.in_order()
            message["tool_calls"] = [self._tool_call(at, slot, call) for slot, call in calls]
        native = self._reader.native(at)
        if choice.anomalies:
            native["anomalies"] = choice.anomalies
        if native:
            message["native"] = {"provider": self.provider} | native
        return {
            "message": message,
            "finish_reason": choice.finish,
            "usage": self._usage,
            "request_id": self._request_id,
        }

    def _tool_call(self, at: int, slot: int, call: _Call) -> dict[str, Any]:
        text = joined(call.pieces)
        function = {"name": call.name or "", "arguments": text}
        if call.id:
            return {"id": call.id, "type": "function", "function": function}
        about = [self.provider, self._request_id, self._usage, at, slot, call.name, text]
        digest = sha256(json.dumps(about).encode()).hexdigest()[:24]
        made = {"id": f"synthetic_{digest}", "type": "function", "function": function}
        return made | {"synthetic_id": True}
