"""Speed as a ratio against a named peer in the same run: `make bench`.

Each line times ours, the peer on the same input, and ours on twice the input, which takes about
twice as long where the work is linear. They take turns. Nothing is asserted; a busy machine
makes all of it slower and leaves the ratios.
"""

from __future__ import annotations

import json
import re
import timeit
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import fastjsonschema
import httpx
import jsonschema_rs
import numpy as np
from jsonschema import Draft202012Validator
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import ChatCompletionChunk

from apisurface.assembly import StreamAssembler
from apisurface.exchange import within
from apisurface.levels import REFUND_SCHEMA
from apisurface.objects import parse_object
from apisurface.patterns import compile_pattern
from apisurface.sampling import StopFilter, nucleus, softmax
from apisurface.sse import iter_payloads
from apisurface.transport import HttpTransport
from apisurface.validator import compile_validator, validate
from apisurface.wire import ScriptedModel, chat

Work = Callable[[], object]
TICKET = r"^T-[0-9]{3}$"
DIGIT_SOMEWHERE = r"^(?=.*[0-9])[a-z0-9]+$"


@dataclass(frozen=True)
class Race:
    """One comparison: what is timed, against whom, and both as functions of a size."""

    name: str
    peer: str
    size: int
    ours: Callable[[int], Work]
    theirs: Callable[[int], Work]


def record(size: int) -> str:
    """Return an object of `size` members as JSON text."""
    return json.dumps(
        {f"key_{n}": {"amount_cents": n, "note": "as ordered"} for n in range(size)}
    )


def in_prose(size: int) -> str:
    """Return the object after a sentence and in a fence, as models send it."""
    return f"Here it is:\n```json\n{record(size)}\n```\nAnything else?"


def streamed(size: int) -> list[str]:
    """Return a text in pieces of three characters."""
    text = "the order was shipped on the 3rd\n" * size
    return [text[at : at + 3] for at in range(0, len(text), 3)]


def filtered(pieces: Iterable[str]) -> str:
    """Pass pieces through our stop filter."""
    stop = StopFilter(["\nEND", "<|im_end|>"])
    return "".join([*map(stop.feed, pieces), stop.flush()])


def searched(pieces: Iterable[str]) -> str:
    """Join first and search then, which shows nothing before the end."""
    text = "".join(pieces)
    ends = [at for stop in ("\nEND", "<|im_end|>") if (at := text.find(stop)) >= 0]
    return text[: min(ends, default=len(text))]


def zipf(size: int) -> list[float]:
    """Return a distribution with a long tail."""
    weights = [1 / rank for rank in range(1, size + 1)]
    total = sum(weights)
    return [weight / total for weight in weights]


def numpy_nucleus(probs: np.ndarray, top_p: float) -> object:
    """Sort, add up and cut with NumPy, without checks."""
    order = np.argsort(-probs, kind="stable")
    return order[: int(np.searchsorted(np.cumsum(probs[order]), top_p)) + 1]


def numpy_softmax(logits: np.ndarray) -> object:
    """Exponentiate and divide with NumPy, without checks."""
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def transport(size: int) -> tuple[httpx.Client, dict[str, object]]:
    """Return an offline client and a body whose conversation has `size` turns."""
    answer = {"choices": [{"message": {"role": "assistant", "content": "ok"}}]}
    client = httpx.Client(
        transport=httpx.MockTransport(lambda _: httpx.Response(200, json=answer))
    )
    turn = {"role": "user", "content": "Where is order O-0042?"}
    return client, {"model": "m", "messages": [turn] * size}


def ours_post(size: int) -> Work:
    """Return one exchange through our transport."""
    client, body = transport(size)
    ours = HttpTransport(client=client)
    return lambda: ours("https://h/v1/chat/completions", body)


def bare_post(size: int) -> Work:
    """Return the same exchange through bare httpx."""
    client, body = transport(size)
    return lambda: client.post("https://h/v1/chat/completions", json=body).json()


def scripted_chat(size: int) -> Work:
    """Return one call of chat() on the scripted model."""
    model = ScriptedModel([({"role": "assistant", "content": "ok"}, "stop")])
    turns = [{"role": "user", "content": "Where is order O-0042?"}] * size
    return lambda: chat("https://h", "m", turns, transport=model)


def there_and_back(size: int) -> Work:
    """Return the JSON work alone that such a call cannot avoid."""
    turns = [{"role": "user", "content": "Where is order O-0042?"}] * size
    return lambda: json.loads(json.dumps({"model": "m", "messages": turns}))


def on(made: Callable[[int], Any], work: Callable[[Any], Any]) -> Callable[[int], Work]:
    """Return `work` on an input of a size, the input made beforehand."""
    return lambda size: partial(work, made(size))


def tail(size: int) -> np.ndarray:
    """Return the distribution with a long tail as NumPy holds it."""
    return np.array(zipf(size))


def bounded(size: int) -> object:
    """Pass numbers through a deadline that is far away."""
    return list(within(600.0, (n for n in range(size))))


def tickets(size: int) -> list[str]:
    """Return texts that `^T-[0-9]{3}$` is asked about: every second one fits."""
    return [f"T-{n % 1000:03}" if n % 2 else f"T-{n}!" for n in range(size)]


def asked(matches: Callable[[str], object], texts: list[str]) -> object:
    """Ask a matcher about each text."""
    return [matches(text) for text in texts]


def letters(size: int) -> str:
    """Return a long text for `^(?=.*[0-9])[a-z0-9]+$`."""
    return "abcdefgh" * size + "1"


def one_call(size: int) -> list[dict[str, Any]]:
    """Return `size` chunks that hold one tool call; the middle is one shared chunk."""

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        about = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    def piece(text: str, **more: str) -> dict[str, Any]:
        function = {"arguments": text} | ({"name": "write"} if more else {})
        return chunk({"tool_calls": [{"index": 0, **more, "function": function}]})

    first, end = piece("", id="c1", type="function"), chunk({}, "tool_calls")
    return [first, piece('{"text": "'), *[piece("word ")] * (size - 4), piece('"}'), end]


def assembled(chunks: list[dict[str, Any]]) -> object:
    """Assemble decoded chunks with ours."""
    assembler = StreamAssembler()
    for chunk in chunks:
        assembler.feed(chunk)
    return assembler.finish()


def official_chunks(size: int) -> list[ChatCompletionChunk]:
    """Return the same stream as the official library's own objects."""
    made: dict[int, ChatCompletionChunk] = {}
    chunks = one_call(size)
    for chunk in chunks:
        if id(chunk) not in made:
            made[id(chunk)] = ChatCompletionChunk.model_validate(chunk)
    return [made[id(chunk)] for chunk in chunks]


def accumulated(chunks: list[ChatCompletionChunk]) -> object:
    """Assemble with the official library's accumulator."""
    state = ChatCompletionStreamState()
    for chunk in chunks:
        state.handle_chunk(chunk)
    return state.get_final_completion()


def on_the_wire(size: int) -> list[bytes]:
    """Return the same stream as bytes, in pieces of the size of a network packet."""
    raw = b"".join(b"data: " + json.dumps(c).encode() + b"\n\n" for c in one_call(size))
    return [raw[at : at + 1400] for at in range(0, len(raw), 1400)]


def payload_texts(size: int) -> list[str]:
    """Return the texts of the objects in that stream."""
    return [json.dumps(chunk) for chunk in one_call(size)]


VALID: dict[str, Any] = {"ticket_id": "T-011", "action": "refund", "order_id": "O-0011"}
VALID |= {"amount_cents": 1307, "currency": "USD"}
SIX: dict[str, Any] = {"ticket_id": "11", "action": "Refund", "order_id": 11}
SIX |= {"amount_cents": "13.07", "currency": "usd", "note": "stray field"}


def shape(size: int) -> dict[str, Any]:
    """Return the schema of one refund record, or of a list of them."""
    return REFUND_SCHEMA if size == 1 else {"type": "array", "items": REFUND_SCHEMA}


def refunds(record: dict[str, Any], size: int) -> Any:
    """Return one record, or a list of them."""
    return dict(record) if size == 1 else [dict(record) for _ in range(size)]


def compiled(record: dict[str, Any], size: int) -> Work:
    """Return our compiled check of all records."""
    return partial(compile_validator(shape(size)), refunds(record, size))


def remembered(record: dict[str, Any], size: int) -> Work:
    """Return plain `validate` of all records, which reads the schema's content each time."""
    return partial(validate, refunds(record, size), shape(size))


def messages(check: Any, value: Any) -> list[str]:
    """Collect every message of a validator that yields errors."""
    return [error.message for error in check.iter_errors(value)]


def library(record: dict[str, Any], size: int) -> Work:
    """Return the check of the library most programs use."""
    return partial(messages, Draft202012Validator(shape(size)), refunds(record, size))


def rust(record: dict[str, Any], size: int) -> Work:
    """Return the check of a validator written in Rust."""
    check = jsonschema_rs.Draft202012Validator(shape(size))
    return partial(messages, check, refunds(record, size))


def first_only(record: dict[str, Any], size: int) -> Work:
    """Return the check of a validator that stops at the first error."""
    return partial(fastjsonschema.compile(shape(size)), refunds(record, size))


def check_of(
    door: str, ours: Callable[..., Work], peer: str, theirs: Callable[..., Work], n: int = 1
) -> Iterable[Race]:
    """Yield the races of one of our doors against one peer: a valid record, then six errors."""
    for name, record in (("valid", VALID), ("six errors", SIX)):
        if theirs is not first_only or record is VALID:
            yield Race(
                f"{door}, {name}", peer, n, partial(ours, record), partial(theirs, record)
            )


RACES = [
    Race(
        "parse_object, the text is JSON",
        "json.loads",
        500,
        on(record, parse_object),
        on(record, json.loads),
    ),
    Race(
        "parse_object, in prose and a fence",
        "json.loads of the bare object",
        500,
        on(in_prose, parse_object),
        on(record, json.loads),
    ),
    Race(
        "StopFilter, three characters a piece",
        "join, then str.find",
        500,
        on(streamed, filtered),
        on(streamed, searched),
    ),
    Race(
        "nucleus",
        "NumPy argsort and cumsum",
        20_000,
        on(zipf, partial(nucleus, top_p=0.9)),
        on(tail, partial(numpy_nucleus, top_p=0.9)),
    ),
    Race("softmax", "NumPy exp", 20_000, on(zipf, softmax), on(tail, numpy_softmax)),
    Race(
        "within, pieces under a deadline",
        "the bare iterator",
        5_000,
        on(int, bounded),
        on(range, list),
    ),
    Race(
        "compile_pattern, ^T-[0-9]{3}$",
        "a bound re.search",
        500,
        on(tickets, partial(asked, compile_pattern(TICKET))),
        on(tickets, partial(asked, re.compile(TICKET).search)),
    ),
    Race(
        "compile_pattern, the automaton",
        "re.search, where it is not slow",
        500,
        on(letters, compile_pattern(DIGIT_SOMEWHERE)),
        on(letters, re.compile(DIGIT_SOMEWHERE).search),
    ),
    Race("HttpTransport", "bare httpx on the same client", 200, ours_post, bare_post),
    Race(
        "chat on the scripted model",
        "json there and back",
        200,
        scripted_chat,
        there_and_back,
    ),
    Race(
        "one tool call in so many chunks",
        "openai's ChatCompletionStreamState",
        4_000,
        on(one_call, assembled),
        on(official_chunks, accumulated),
    ),
    Race(
        "four times as many chunks",
        "ours on 16,000 chunks: linear is 4",
        16_000,
        on(lambda size: one_call(4 * size), assembled),
        on(one_call, assembled),
    ),
    Race(
        "iter_payloads, network pieces",
        "json.loads of each object",
        4_000,
        on(on_the_wire, lambda chunks: list(iter_payloads(chunks))),
        on(payload_texts, lambda texts: [json.loads(text) for text in texts]),
    ),
    *check_of("compile_validator", compiled, "jsonschema, all errors", library),
    *check_of("compile_validator", compiled, "fastjsonschema, compiled", first_only),
    *check_of("compile_validator", compiled, "jsonschema-rs, all messages", rust),
    *check_of("validate", remembered, "jsonschema, all errors", library),
    *check_of("compile_validator, 500", compiled, "jsonschema, all errors", library, 500),
]


def best(*works: Work) -> list[float]:
    """Return the seconds of one run of each: the best of nine turns of a twentieth of a second.

    They take turns, so that a slow moment of the machine meets all of them.
    """
    timers = [timeit.Timer(work) for work in works]
    numbers = [max(1, int(0.05 / max(min(timer.repeat(3, 1)), 1e-7))) for timer in timers]
    turns = [
        [timer.timeit(number) / number for timer, number in zip(timers, numbers, strict=True)]
        for _ in range(9)
    ]
    return list(map(min, zip(*turns, strict=True)))


def main() -> None:
    """Run every race and print its ratio and growth."""
    print(f"{'ours':38} {'ms':>8}  {'ratio':>7}  {'2n/n':>5}  peer")
    for race in RACES:
        works = race.ours(race.size), race.theirs(race.size), race.ours(2 * race.size)
        ours, theirs, twice = best(*works)
        ratio = ours / theirs
        shown = f"{ratio:.3g}x" if ratio >= 0.1 else f"1/{1 / ratio:.0f}"
        line = f"{race.name:38} {ours * 1e3:8.3f}  {shown:>7}  {twice / ours:5.2f}  {race.peer}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
