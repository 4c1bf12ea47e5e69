"""The recorded streams, harmed: cut, with a value replaced, with events lost, repeated, swapped.

Whatever is done to them ends in a response or in a typed error, and never in an actionable call
of a response that had not finished. What a cut stream had brought is what the official library
had gathered by then.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from judges.cassettes import Record, streams
from judges.official import official, payloads, same_arguments

from apisurface.streaming import actionable_calls, assemble_chat_stream
from apisurface.transport import BoundaryError


@pytest.fixture(scope="module")
def recorded() -> list[Record]:
    """The short ones, of one choice each: with several, each of them has an end of its own."""
    return [
        record
        for record in streams()
        if len(record.body) < 20_000 and b'"index":1,"delta"' not in record.body
    ]


def finishes(provider: str, payload: dict[str, Any]) -> bool:
    """Tell whether this payload says why the response ended."""
    if provider == "openai-chat":
        return any(choice.get("finish_reason") for choice in payload.get("choices") or [])
    if provider == "gemini":
        return any(each.get("finishReason") for each in payload.get("candidates") or [])
    if provider == "anthropic":
        return payload.get("type") == "message_delta"
    return payload.get("type") in ("response.completed", "response.incomplete")


def wire(provider: str, chunks: list[Any]) -> bytes:
    """Write payloads as a stream again, with the names that anthropic's decoder asks for."""
    names = [f"event: {each['type']}\n" if provider == "anthropic" else "" for each in chunks]
    lines = [
        f"{name}data: {json.dumps(each)}\n\n" for name, each in zip(names, chunks, strict=True)
    ]
    return "".join(lines).encode()


def test_a_stream_that_is_cut_is_never_whole_and_keeps_what_it_brought(recorded):
    chance = random.Random(11)
    compared = 0
    for record in recorded:
        chunks = list(payloads(record.body))
        last = next(at for at, each in enumerate(chunks) if finishes(record.provider, each))
        for cut in {last, chance.randint(0, last)}:
            with pytest.raises(BoundaryError) as caught:
                assemble_chat_stream(chunks[:cut], provider=record.provider)
            received = caught.value.received
            with pytest.raises(BoundaryError):
                actionable_calls(received)
            if cut == 0 or record.provider in ("openai-responses", "gemini"):
                continue  # their official reading begins with the last event
            try:
                [theirs] = official(record.provider, wire(record.provider, chunks[:cut]))
            except (TypeError, IndexError, ValueError):
                continue
            assert (received.content or "") == theirs["content"], (record.id, cut)
            assert len(received.calls) == len(theirs["calls"]), (record.id, cut)
            for (_, name, arguments), ours in zip(theirs["calls"], received.calls, strict=True):
                assert name == ours.name, (record.id, cut)
                assert same_arguments(arguments, ours.text), (record.id, cut)
            compared += 1
    assert compared > 600


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value inside a payload."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*at, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*at, key))


def replaced(chunk: Any, chance: random.Random) -> Any:
    """Return a payload with one value replaced by another, or taken out."""
    chunk = copy.deepcopy(chunk)
    *path, last = chance.choice([*places(chunk)] or [("x",)])
    inside = chunk
    for key in path:
        inside = inside[key]
    new = chance.choice(
        (None, 7, -1, 1.5, True, "", "x", [], {}, [None], ["x"], {"x": 1}, "gone")
    )
    if new == "gone" and isinstance(inside, dict):
        inside.pop(last, None)
    elif isinstance(inside, dict | list):
        inside[last] = new
    return chunk


def harmed(chunks: list[Any], chance: random.Random) -> list[Any]:
    """Return the payloads with one of them replaced in part, lost, repeated or swapped."""
    at = chance.randrange(len(chunks))
    before, this, after = chunks[:at], chunks[at], chunks[at + 1 :]
    return chance.choice(
        (
            [*before, replaced(this, chance), *after],
            [*before, replaced(this, chance), *after],
            [*before, *after],
            [*before, this, this, *after],
            [*before, *after[:1], this, *after[1:]],
        )
    )


def test_whatever_is_harmed_the_outcome_is_a_response_or_a_typed_error(recorded):
    chance = random.Random(12)
    for record in recorded:
        chunks = list(payloads(record.body))
        for _ in range(10):
            sent = harmed(chunks, chance)
            try:
                response = assemble_chat_stream(sent, provider=record.provider)
                actionable_calls(response)
            except BoundaryError:
                continue
            assert any(
                finishes(record.provider, each) for each in sent if isinstance(each, dict)
            )
