# Generated from book/responses.ipynb: edit it there, then run `make save`.
"""OpenAI Responses: the events of its stream, read into the deltas of Chat.

Pieces name their output item by index and by the item's id; a call is answered under its
`call_id`. What an item repeats in full when it is done must agree with its pieces, and fills in
where a server sent none. The items stay whole under `native`, so that they can be sent back.
"""

from typing import Any

from apisurface.deltas import Delta, Kind
from apisurface.natives import FINISH_WORDS, counted
from apisurface.sse import MalformedStream
from apisurface.transport import provider_error

# cell: texts
_TEXTS: dict[str, Kind] = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.reasoning_text.delta": "reasoning",
}


# cell: parts
_PARTS: dict[Any, tuple[Kind, str]] = {
    "output_text": ("text", "text"),
    "refusal": ("refusal", "refusal"),
    "summary_text": ("reasoning", "text"),
    "reasoning_text": ("reasoning", "text"),
}


# cell: responses-reader
class ResponsesReader:
    """Reads the events of OpenAI Responses.

    Source: https://platform.openai.com/docs/api-reference/responses-streaming (checked
    2026-11-30).
    """

    ends = True

    def __init__(self) -> None:
        self.choices: dict[int, Any] = {}
        self._named = False
        self._place: dict[object, int] = {}
        self._opened: set[int] = set()
        self._calls: dict[int, int] = {}
        self._said: set[tuple[str, int]] = set()
        self._items: dict[int, dict[str, Any]] = {}
        self._native: dict[str, Any] = {}

    def read(self, chunk: dict[str, Any]) -> list[Delta]:
        """Return the pieces in one event; events of unknown type have none."""
        kind = str(chunk.get("type"))
        if kind in _TEXTS:
            self._said.add((_TEXTS[kind], self._at(chunk)))
            return [Delta(_TEXTS[kind], 0, chunk["delta"])]
        if kind == "response.function_call_arguments.delta":
            return [Delta("call", 0, chunk["delta"], self._call(chunk))]
        if kind == "response.function_call_arguments.done":
            return [Delta("closed", 0, "", self._call(chunk), data=chunk["arguments"])]
        if kind == "response.output_item.added":
            return self._added(chunk, chunk["item"])
        if kind == "response.output_item.done":
            return self._done(chunk, chunk["item"])
        response = chunk.get("response")
        if not isinstance(response, dict):
            return []
        found = []
        if not self._named and response.get("id"):
            self._named = True
            found.append(Delta("id", text=response["id"]))
        if kind in ("response.completed", "response.incomplete", "response.failed"):
            found += self._end(response)
        return found

    def native(self, choice: int) -> dict[str, Any]:
        """Return the output items in order, and status and usage as they came."""
        return {"output": [item for _, item in sorted(self._items.items())]} | self._native

    def _at(self, chunk: dict[str, Any]) -> int:
        """Return the output index that an event is about, by number or by the item's id."""
        at, place = chunk.get("output_index"), self._place.get(chunk.get("item_id"))
        at = place if at is None else at
        if type(at) is not int:
            raise MalformedStream("a piece that belongs to no output item", raw=chunk)
        if place not in (None, at):
            raise MalformedStream("a piece whose id and index name two items", raw=chunk)
        return at

    def _call(self, chunk: dict[str, Any]) -> int:
        slot = self._calls.get(self._at(chunk))
        if slot is None:
            raise MalformedStream("a fragment that belongs to no call", raw=chunk)
        return slot

    def _added(self, chunk: dict[str, Any], item: dict[str, Any]) -> list[Delta]:
        at = self._at(chunk)
        if at in self._opened:
            raise MalformedStream("an output item opens twice", raw=chunk)
        self._opened.add(at)
        if item.get("id"):
            self._place[item["id"]] = at
        if item.get("type") != "function_call":
            return []
        slot = self._calls[at] = len(self._calls)
        return [Delta("call", 0, "", slot, item.get("call_id"), item.get("name"), at)]

    def _done(self, chunk: dict[str, Any], item: dict[str, Any]) -> list[Delta]:
        """Read a whole item: what its deltas did not bring is taken from it."""
        at = self._at(chunk)
        found = [] if at in self._opened else self._added(chunk, item)
        self._items[at] = item
        if item.get("type") == "function_call":
            if item.get("status") != "incomplete":
                found.append(
                    Delta("closed", 0, "", self._calls[at], data=item.get("arguments"))
                )
        elif item.get("type") in ("message", "reasoning"):
            parts = [*(item.get("summary") or ()), *(item.get("content") or ())]
            known = [(*_PARTS[p["type"]], p) for p in parts if p.get("type") in _PARTS]
            fresh = [each for each in known if (each[0], at) not in self._said]
            found += [Delta(kind, 0, part[name]) for kind, name, part in fresh]
            self._said |= {(kind, at) for kind, _, _ in fresh}
        return found

    def _end(self, response: dict[str, Any]) -> list[Delta]:
        found: list[Delta] = []
        for at, item in enumerate(response.get("output") or ()):
            place = self._place.get(item.get("id"))
            if place is not None or at not in self._opened:
                found += self._done({"output_index": at if place is None else place}, item)
        if output := response.get("output"):
            self._items = dict(enumerate(output))
        if usage := response.get("usage"):
            self._native["usage"] = usage
            counts = [usage.get("input_tokens")], [usage.get("output_tokens")]
            found.append(counted(*counts, usage.get("total_tokens")))
        status = response.get("status")
        details = response.get("incomplete_details")
        self._native["status"] = status
        if status == "failed":
            error = {"error": response.get("error") or {"message": "the response failed"}}
            raise provider_error(error) or MalformedStream("failed", raw=response)
        word = str((details or {}).get("reason") or status)
        if details:
            self._native["incomplete_details"] = details
        reason = FINISH_WORDS.get(word, word)
        reason = "tool_calls" if reason == "stop" and self._calls else reason
        return [*found, Delta("finish", 0, reason), Delta("end")]
