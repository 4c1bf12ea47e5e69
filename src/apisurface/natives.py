# Generated from book/natives.ipynb: edit it there, then run `make save`.
"""Native streams: Anthropic Messages and Gemini, read into the deltas of Chat.

One reader a provider, each with `read(chunk)` and `native(choice)` (see `deltas.Reader`).
Finish reasons come out in Chat's words and usage in Chat's fields, where cached prompt tokens
count as prompt and thought tokens as completion; the provider's own words stay under `native`,
with the content in its own shape and order, so that it can be sent back. Tools that the
provider runs itself are kept there and nowhere else. OpenAI Responses: see `responses`.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from apisurface.deltas import Delta, Kind, joined
from apisurface.parsing import loads_strict
from apisurface.sse import MalformedStream

# cell: finish-words
FINISH_WORDS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content_filter",
    "RECITATION": "content_filter",
    "BLOCKLIST": "content_filter",
    "PROHIBITED_CONTENT": "content_filter",
    "SPII": "content_filter",
    "IMAGE_SAFETY": "content_filter",
    "completed": "stop",
    "max_output_tokens": "length",
}


# cell: counted
def counted(prompt: list[Any], completion: list[Any], total: Any = None) -> Delta:
    """Return token counts in Chat's fields: each a sum of the provider's, None counted as 0."""
    usage = {
        "prompt_tokens": sum(part or 0 for part in prompt),
        "completion_tokens": sum(part or 0 for part in completion),
    }
    usage["total_tokens"] = total or sum(usage.values())
    return Delta("usage", data=usage)


# cell: grows
_GROWS: dict[str, tuple[str, Kind]] = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "reasoning"),
    "input_json_delta": ("partial_json", "call"),
}


# cell: block
@dataclass
class _Block:
    """One content block that is still open; `call` numbers a call of ours.

    `grows` names the field that its deltas bring, None while a block of unknown type has none.
    """

    data: dict[str, Any]
    grows: str | None = None
    call: int | None = None
    pieces: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        kind = self.data["type"]
        if kind in ("text", "thinking"):
            self.grows = kind
        elif kind.endswith("tool_use"):
            self.grows = "partial_json"

    def add(self, name: str, text: str) -> None:
        """Take in one piece of the field that grows."""
        self.grows = self.grows or name
        if name != self.grows:
            raise MalformedStream(f"a fragment of {name} in a block of {self.grows}", raw=text)
        self.pieces.append(text)

    def close(self) -> str:
        """Put the pieces into the block; return them, or the input of the opening event."""
        text = joined(self.pieces)
        if self.grows == "partial_json":
            given = self.data.get("input")
            if not text:
                return json.dumps({} if given is None else given, ensure_ascii=False)
            try:
                self.data["input"] = loads_strict(text)
            except ValueError:
                self.data["input"] = text
        elif self.grows:
            self.data[self.grows] = (self.data.get(self.grows) or "") + text
        return text


# cell: anthropic-reader
class AnthropicReader:
    """Reads the events of Anthropic Messages.

    Source: https://docs.anthropic.com/en/docs/build-with-claude/streaming (checked 2026-11-30).
    """

    ends = True

    def __init__(self) -> None:
        self.choices: dict[int, Any] = {}
        self._open: dict[int, _Block] = {}
        self._content: list[tuple[int, dict[str, Any]]] = []
        self._calls = 0
        self._usage: dict[str, Any] = {}
        self._native: dict[str, Any] = {}

    def read(self, chunk: dict[str, Any]) -> list[Delta]:
        """Return the pieces in one event; events of unknown type have none."""
        kind = chunk.get("type")
        if kind == "content_block_delta":
            return self._delta(chunk)
        if kind == "content_block_start":
            return self._start(chunk)
        if kind == "content_block_stop":
            return self._stop(chunk)
        if kind == "message_start":
            message = chunk["message"]
            named = [Delta("id", text=message["id"])] if message.get("id") else []
            return [*named, *self._count(message.get("usage"))]
        if kind == "message_delta":
            return self._end(chunk)
        return [Delta("end")] if kind == "message_stop" else []

    def native(self, choice: int) -> dict[str, Any]:
        """Return the content blocks in order, the stop reason and the usage as they came."""
        blocks = sorted(self._content, key=lambda pair: pair[0])
        usage = {"usage": self._usage} if self._usage else {}
        return {"content": [block for _, block in blocks]} | self._native | usage

    def _start(self, chunk: dict[str, Any]) -> list[Delta]:
        at, data = chunk["index"], dict(chunk["content_block"])
        if at in self._open:
            raise MalformedStream("a content block opens twice", raw=chunk)
        block = self._open[at] = _Block(data)
        self._content.append((at, data))
        if data["type"] == "tool_use":
            block.call, self._calls = self._calls, self._calls + 1
            return [Delta("call", 0, "", block.call, data.get("id"), data.get("name"), at)]
        for name, kind in _GROWS.values():
            if data["type"] == name and data.get(name):
                return [Delta(kind, 0, data[name])]
        return []

    def _delta(self, chunk: dict[str, Any]) -> list[Delta]:
        block, delta = self._open.get(chunk["index"]), chunk["delta"]
        if block is None:
            raise MalformedStream("a fragment that belongs to no open block", raw=chunk)
        if delta["type"] in _GROWS:
            name, kind = _GROWS[delta["type"]]
            block.add(name, delta[name])
            shown = kind != "call" or block.call is not None
            return [Delta(kind, 0, delta[name], block.call)] if shown else []
        if delta["type"] == "citations_delta":
            block.data["citations"] = cited = block.data.get("citations") or []
            cited.append(delta["citation"])
        else:
            block.data |= {key: value for key, value in delta.items() if key != "type"}
        return []

    def _stop(self, chunk: dict[str, Any]) -> list[Delta]:
        block = self._open.pop(chunk["index"], None)
        if block is None:
            raise MalformedStream("a content block closes that is not open", raw=chunk)
        text = block.close()
        if block.call is None:
            return []
        late = [] if any(block.pieces) else [Delta("call", 0, text, block.call)]
        return [*late, Delta("closed", 0, "", block.call)]

    def _end(self, chunk: dict[str, Any]) -> list[Delta]:
        found = self._count(chunk.get("usage"))
        said = {k: v for k, v in chunk.items() if k not in ("type", "usage", "delta")}
        said |= {k: v for k, v in chunk["delta"].items() if v is not None}
        self._native |= said
        if word := said.get("stop_reason"):
            found.append(Delta("finish", 0, FINISH_WORDS.get(word, word)))
        return found

    def _count(self, usage: Any) -> list[Delta]:
        self._usage |= {key: value for key, value in (usage or {}).items() if value is not None}
        if not self._usage:
            return []
        names = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        prompt = [self._usage.get(name) for name in names]
        return [counted(prompt, [self._usage.get("output_tokens")])]


# cell: gemini-choice
@dataclass
class _Candidate:
    """What is remembered of one Gemini candidate; `open` is the call that may still grow."""

    parts: list[dict[str, Any]] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)
    calls: int = 0
    open: dict[str, Any] | None = None


# cell: gemini-reader
class GeminiReader:
    """Reads the chunks of Gemini generateContent.

    Source: https://ai.google.dev/api/generate-content (checked 2026-11-30).
    """

    ends = False

    def __init__(self) -> None:
        self.choices: dict[int, _Candidate] = {}
        self._named = False
        self._native: dict[str, Any] = {}

    def read(self, chunk: dict[str, Any]) -> list[Delta]:
        """Return the pieces in one chunk; a call is handed on when it can no longer grow."""
        found: list[Delta] = []
        if not self._named and chunk.get("responseId"):
            self._named = True
            found.append(Delta("id", text=chunk["responseId"]))
        for candidate in chunk.get("candidates") or ():
            self._candidate(found, candidate)
        blocked = chunk.get("promptFeedback") or {}
        if blocked.get("blockReason"):
            self._native["promptFeedback"] = blocked
            found.append(Delta("finish", 0, "content_filter"))
        if usage := chunk.get("usageMetadata"):
            self._native["usage"] = usage
            prompt = [usage.get("promptTokenCount"), usage.get("toolUsePromptTokenCount")]
            completion = [usage.get("candidatesTokenCount"), usage.get("thoughtsTokenCount")]
            found.append(counted(prompt, completion, usage.get("totalTokenCount")))
        return found

    def native(self, choice: int) -> dict[str, Any]:
        """Return the parts in order, and the finish reason and usage as they came."""
        state = self.choices.get(choice, _Candidate())
        return {"parts": state.parts} | state.said | self._native

    def _candidate(self, found: list[Delta], candidate: dict[str, Any]) -> None:
        at = candidate.get("index") or 0
        state = self.choices.setdefault(at, _Candidate())
        for part in (candidate.get("content") or {}).get("parts") or ():
            if "functionCall" in part:
                self._call(found, at, state, dict(part))
                continue
            state.parts.append(part)
            if part.get("text"):
                kind: Kind = "reasoning" if part.get("thought") else "text"
                found.append(Delta(kind, at, part["text"]))
        said = {k: v for k, v in candidate.items() if k not in ("content", "index")}
        state.said |= said
        if word := said.get("finishReason"):
            self._close(found, at, state)
            reason = FINISH_WORDS.get(word, word)
            reason = "tool_calls" if reason == "stop" and state.calls else reason
            found.append(Delta("finish", at, reason))

    def _call(
        self, found: list[Delta], at: int, state: _Candidate, part: dict[str, Any]
    ) -> None:
        call = part["functionCall"]
        if call.get("partialArgs") or call.get("willContinue"):
            raise MalformedStream("arguments that stream by path cannot be read", raw=part)
        if not call.get("name"):
            opened = (state.open or {}).get("functionCall")
            if opened is None or opened.get("args"):
                raise MalformedStream("arguments that belong to no call", raw=part)
            opened["args"] = call.get("args")
            return
        self._close(found, at, state)
        state.open = part | {"functionCall": dict(call)}
        state.parts.append(state.open)
        found.append(Delta("call", at, "", state.calls, call.get("id"), call["name"]))
        state.calls += 1

    def _close(self, found: list[Delta], at: int, state: _Candidate) -> None:
        """Hand on the arguments of the open call: nothing can be added to them any more."""
        if state.open is not None:
            args = state.open["functionCall"].get("args")
            text = json.dumps({} if args is None else args, ensure_ascii=False)
            found.append(Delta("call", at, text, state.calls - 1))
            found.append(Delta("closed", at, "", state.calls - 1))
            state.open = None
