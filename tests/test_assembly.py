"""Whatever deltas come, cut anywhere: the same response, no prefix of it acts, no crash."""

import json
import re
import sys
from typing import Any

import pytest
from chunks import ARGUMENTS, END, chunk, interleaved, pieces, plain, tool, tools
from hypothesis import given, settings
from hypothesis import strategies as st

from apisurface import (
    READERS,
    BoundaryError,
    IncompleteToolStream,
    MalformedStream,
    NotActionable,
    ProviderError,
    StreamAssembler,
    actionable_calls,
    assemble_chat_stream,
    iter_payloads,
)


def test_b031_a_name_that_changes_is_refused_and_what_came_is_kept() -> None:
    chunks = [tools(tool(0, "c1", "get_", "")), tools(tool(0, None, "weather", "{}")), END]
    with pytest.raises(MalformedStream, match="the name of a call changes") as caught:
        assemble_chat_stream(chunks)
    assert caught.value.received.calls[0].name == "get_"
    assert caught.value.raw == "weather"


@pytest.mark.parametrize("provider", ["openai-chat", "openai-responses", "anthropic", "gemini"])
def test_b035_an_empty_stream_is_incomplete(provider: str) -> None:
    with pytest.raises(IncompleteToolStream) as caught:
        assemble_chat_stream([], provider=provider)
    assert caught.value.received.choices == ()
    assert caught.value.received.state == "incomplete"


def test_b040_parsing_arguments_are_not_an_end() -> None:
    with pytest.raises(IncompleteToolStream, match="without a finish reason") as caught:
        assemble_chat_stream([tools(tool(0, "c1", "w", '{"a":1}'))])
    [call] = caught.value.received.calls
    assert (call.id, call.name, call.text) == ("c1", "w", '{"a":1}')


def test_b041_a_missing_done_is_no_failure_once_the_finish_reason_came() -> None:
    got = assemble_chat_stream([chunk({"content": "ok"}), chunk({}, "stop")])
    assert (got["message"]["content"], got["finish_reason"]) == ("ok", "stop")


def two_choices() -> list[dict[str, Any]]:
    call = [tool(0, "y", "f", '{"v":1}')], [tool(0, "x", "f", '{"v":0}')]
    return [
        {
            "choices": [
                {"index": 0, "delta": {"content": "A"}},
                {"index": 1, "delta": {"content": "B"}},
            ]
        },
        {
            "choices": [
                {"index": 1, "delta": {"tool_calls": call[0]}},
                {"index": 0, "delta": {"tool_calls": call[1]}},
            ]
        },
        chunk({}, "tool_calls"),
        chunk({}, "tool_calls", index=1),
    ]


def test_b044_choices_are_kept_apart() -> None:
    got = assemble_chat_stream(two_choices(), all_choices=True)
    assert [each["message"]["content"] for each in got["choices"]] == ["A", "B"]
    assert [plain(actionable_calls(each)) for each in got["choices"]] == [
        [("x", "f", {"v": 0})],
        [("y", "f", {"v": 1})],
    ]
    with pytest.raises(MalformedStream, match="2 choices"):
        assemble_chat_stream(two_choices())
    with pytest.raises(IncompleteToolStream):
        assemble_chat_stream(two_choices()[:-1], all_choices=True)
    begun = [chunk({"content": "A"}, "stop"), chunk({"role": "assistant"}, index=1)]
    with pytest.raises(IncompleteToolStream):
        assemble_chat_stream(begun, all_choices=True)


def test_b047_an_error_in_the_stream_is_the_providers_and_stays() -> None:
    assembler = StreamAssembler()
    assembler.feed(chunk({"content": "so far"}))
    error = {"error": {"message": "quota exceeded", "code": "insufficient_quota"}}
    with pytest.raises(ProviderError) as caught:
        assembler.feed(error)
    assert (caught.value.code, caught.value.message) == ("insufficient_quota", "quota exceeded")
    assert caught.value.received.content == "so far"
    assert assembler.state == "incomplete"
    for again in (assembler.finish, lambda: assembler.feed(END)):
        with pytest.raises(ProviderError):
            again()


def test_b049_an_error_decides_before_the_missing_end() -> None:
    error = {"error": {"type": "invalid_request_error", "message": "bad schema"}}
    with pytest.raises(ProviderError) as caught:
        assemble_chat_stream([error])
    assert caught.value.code == "invalid_request_error"


@pytest.mark.parametrize(
    ("provider", "error", "code"),
    [
        ("openai-chat", {"object": "error", "message": "m", "code": 400}, 400),
        ("openai-chat", {"choices": [], "error": "m"}, None),
        ("openai-chat", chunk({}, "error"), None),
        (
            "openai-chat",
            {"choices": [{"index": 0, "finish_reason": "error", "error": {"code": 502}}]},
            502,
        ),
        (
            "anthropic",
            {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            "overloaded_error",
        ),
        (
            "openai-responses",
            {"type": "error", "code": "server_error", "message": "m"},
            "server_error",
        ),
        (
            "openai-responses",
            {
                "type": "response.failed",
                "response": {"status": "failed", "error": {"code": "rate_limit_exceeded"}},
            },
            "rate_limit_exceeded",
        ),
        (
            "openai-responses",
            {"type": "response.failed", "response": {"status": "failed"}},
            None,
        ),
        ("gemini", {"error": {"code": 503, "status": "UNAVAILABLE", "message": "m"}}, 503),
    ],
)
def test_errors_of_every_shape_are_provider_errors(
    provider: str, error: dict[str, Any], code: object
) -> None:
    with pytest.raises(ProviderError) as caught:
        assemble_chat_stream([error], provider=provider)
    assert caught.value.code == code
    assert caught.value.received is not None


def test_b061_the_first_finish_reason_stands_and_the_second_is_noted() -> None:
    chunks = [
        chunk({"content": "Looking.", "tool_calls": [tool(0, "c1", "f", "{}")]}),
        END,
        chunk({}, "stop"),
    ]
    got = assemble_chat_stream(chunks)
    assert got["finish_reason"] == "tool_calls"
    assert len(actionable_calls(got)) == 1
    assert got["message"]["native"]["anomalies"] == ["finish reason 'stop' after 'tool_calls'"]


@pytest.mark.parametrize("reasons", [("tool_calls", "length"), ("length", "tool_calls")])
def test_b061_length_wins_in_either_place(reasons: tuple[str, str]) -> None:
    chunks = [tools(tool(0, "c1", "f", "{}")), *(chunk({}, reason) for reason in reasons)]
    got = assemble_chat_stream(chunks)
    assert got["finish_reason"] == "length"
    with pytest.raises(NotActionable, match="length"):
        actionable_calls(got)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


@st.composite
def turns(draw: st.DrawFn) -> tuple[str | None, list[tuple[str, str, dict[str, Any]]]]:
    """Draw what a model means: a text and calls."""
    content = draw(st.none() | st.text(max_size=20))
    count = draw(st.integers(0, 3))
    name = st.text(st.characters(codec="ascii", categories=["L"]), min_size=1, max_size=8)
    return content, [(f"call_{at}", draw(name), draw(ARGUMENTS)) for at in range(count)]


@st.composite
def chat_chunks(draw: st.DrawFn, turn: Any) -> list[dict[str, Any]]:
    content, calls = turn
    rows = []
    if content is not None:
        rows.append([{"content": piece} for piece in draw(pieces(content))])
    for index, (ident, name, arguments) in enumerate(calls):
        texts = draw(pieces(json.dumps(arguments)))
        function = {"name": name, "arguments": texts[0]}
        items = [{"index": index, "id": ident, "type": "function", "function": function}]
        items += [{"index": index, "function": {"arguments": text}} for text in texts[1:]]
        rows.append([{"tool_calls": [item]} for item in items])
    mixed = draw(interleaved(rows))
    return [*map(chunk, mixed), chunk({}, "tool_calls" if calls else "stop")]


@st.composite
def anthropic_events(draw: st.DrawFn, turn: Any) -> list[dict[str, Any]]:
    content, calls = turn
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if content is not None:
        texts = draw(pieces(content))
        blocks.append(
            ({"type": "text", "text": ""}, [{"type": "text_delta", "text": t} for t in texts])
        )
    for ident, name, arguments in calls:
        start = {"type": "tool_use", "id": ident, "name": name, "input": {}}
        texts = draw(pieces(json.dumps(arguments)))
        blocks.append((start, [{"type": "input_json_delta", "partial_json": t} for t in texts]))
    rows = [
        [
            {"type": "content_block_start", "index": at, "content_block": start},
            *({"type": "content_block_delta", "index": at, "delta": d} for d in deltas),
            {"type": "content_block_stop", "index": at},
        ]
        for at, (start, deltas) in enumerate(blocks)
    ]
    reason = {"stop_reason": "tool_use" if calls else "end_turn"}
    flat = [event for row in rows for event in row]
    return [*flat, {"type": "message_delta", "delta": reason}, {"type": "message_stop"}]


@st.composite
def responses_events(draw: st.DrawFn, turn: Any) -> list[dict[str, Any]]:
    content, calls = turn
    rows: list[list[dict[str, Any]]] = []
    if content is not None:
        item = {"type": "message", "id": "m"}
        part = {"type": "output_text", "text": content}
        rows.append(
            [
                {"type": "response.output_item.added", "item": item},
                *(
                    {"type": "response.output_text.delta", "item_id": "m", "delta": text}
                    for text in draw(pieces(content))
                ),
                {"type": "response.output_item.done", "item": item | {"content": [part]}},
            ]
        )
    for at, (ident, name, arguments) in enumerate(calls):
        text = json.dumps(arguments)
        item = {"type": "function_call", "id": f"fc_{at}", "call_id": ident, "name": name}
        rows.append(
            [
                {"type": "response.output_item.added", "item": item | {"arguments": ""}},
                *(
                    {"type": "response.function_call_arguments.delta", "delta": piece}
                    for piece in draw(pieces(text))
                ),
                {"type": "response.function_call_arguments.done", "arguments": text},
                {"type": "response.output_item.done", "item": item | {"arguments": text}},
            ]
        )
    for at, row in enumerate(rows):
        for event in row:
            event["output_index"] = at
    end = {"type": "response.completed", "response": {"status": "completed"}}
    return [*(event for row in rows for event in row), end]


@st.composite
def gemini_chunks(draw: st.DrawFn, turn: Any) -> list[dict[str, Any]]:
    content, calls = turn
    parts = [{"text": text} for text in draw(pieces(content))] if content is not None else []
    made = [{"functionCall": {"id": i, "name": n, "args": a}} for i, n, a in calls]
    every = [[part] for part in [*parts, *made]]
    found = [{"candidates": [{"content": {"parts": group}}]} for group in every]
    return [*found, {"candidates": [{"finishReason": "STOP"}]}]


WAYS = {
    "openai-chat": chat_chunks,
    "anthropic": anthropic_events,
    "openai-responses": responses_events,
    "gemini": gemini_chunks,
}


def test_there_is_a_way_for_every_provider() -> None:
    assert set(WAYS) == set(READERS)


@pytest.mark.parametrize("provider", sorted(WAYS))
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_any_deltas_assemble_to_what_they_were_made_from(provider: str, data: Any) -> None:
    turn = data.draw(turns())
    content, calls = turn
    chunks = data.draw(WAYS[provider](turn))
    got = assemble_chat_stream(chunks, provider=provider)
    assert (got["message"]["content"] or "") == (content or "")
    assert got["finish_reason"] == ("tool_calls" if calls else "stop")
    found = actionable_calls(got)
    assert sorted((str(c.id), c.name, c.arguments) for c in found) == sorted(
        calls, key=lambda c: c[0]
    )


@pytest.mark.parametrize("provider", sorted(WAYS))
@settings(max_examples=settings().max_examples // 4)
@given(data=st.data())
def test_no_prefix_of_any_deltas_is_ever_actionable(provider: str, data: Any) -> None:
    chunks = data.draw(WAYS[provider](data.draw(turns())))
    assembler = StreamAssembler(provider)
    for at, each in enumerate(chunks):
        assert assembler.state not in ("eligible", "incomplete")
        other = StreamAssembler(provider)
        for before in chunks[:at]:
            other.feed(before)
        with pytest.raises(IncompleteToolStream):
            other.finish()
        assembler.feed(each)
    assert assembler.state == "eligible"


@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_any_bytes_cut_anywhere_assemble_to_the_same(data: Any) -> None:
    chunks = data.draw(chat_chunks(data.draw(turns())))
    end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    lines = [f"data: {json.dumps(each, ensure_ascii=False)}{end}{end}" for each in chunks]
    raw = "".join(lines).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=10)))
    sent = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    assert assemble_chat_stream(iter_payloads(sent)) == assemble_chat_stream(chunks)


KEYS = st.sampled_from(
    [
        "choices",
        "index",
        "delta",
        "content",
        "tool_calls",
        "id",
        "function",
        "name",
        "arguments",
        "finish_reason",
        "usage",
        "message",
        "refusal",
        "reasoning",
        "type",
        "content_block",
        "input",
        "partial_json",
        "text",
        "thinking",
        "stop_reason",
        "item",
        "output_index",
        "item_id",
        "call_id",
        "response",
        "status",
        "output",
        "candidates",
        "parts",
        "functionCall",
        "args",
        "finishReason",
        "usageMetadata",
        "promptFeedback",
        "citation",
        "error",
        "custom",
        "function_call",
        "x_groq",
    ]
)


KINDS = st.sampled_from(
    [
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_start",
        "message_delta",
        "message_stop",
        "tool_use",
        "text_delta",
        "input_json_delta",
        "citations_delta",
        "function_call",
        "message",
        "response.output_item.added",
        "response.output_item.done",
        "response.completed",
        "response.incomplete",
        "response.output_text.delta",
        "response.function_call_arguments.delta",
        "error",
        "function",
    ]
)


WRONG = st.recursive(
    KINDS | JSON,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=16,
)


@pytest.mark.parametrize("provider", sorted(WAYS))
@settings(max_examples=settings().max_examples // 4)
@given(chunks=st.lists(st.dictionaries(KEYS, WRONG, max_size=5), max_size=4))
def test_chunks_of_any_shape_end_in_a_response_or_an_error_of_the_boundary(
    provider: str, chunks: list[dict[str, Any]]
) -> None:
    assembler = StreamAssembler(provider)
    try:
        for each in chunks:
            assembler.feed(each)
        actionable_calls(assembler.finish())
    except BoundaryError as error:
        assert isinstance(error, NotActionable) or error.received is not None
    assert assembler.partial().state


@pytest.mark.parametrize("provider", sorted(WAYS))
@settings(max_examples=settings().max_examples // 2)
@given(data=st.data())
def test_a_chunk_damaged_anywhere_is_no_crash(provider: str, data: Any) -> None:
    chunks = data.draw(WAYS[provider](data.draw(turns())))
    at = data.draw(st.integers(0, len(chunks) - 1))
    text = json.dumps(chunks[at])
    places = [i for i, sign in enumerate(text) if sign in '"0[{n']
    place = data.draw(st.sampled_from(places))
    for other in ("1", "null", '"x"', "[]", "{}"):
        try:
            _, end = json.JSONDecoder().raw_decode(text, place)
            damaged = json.loads(text[:place] + other + text[end:])
        except ValueError:
            continue
        if not isinstance(damaged, dict):
            continue
        try:
            got = assemble_chat_stream(
                [*chunks[:at], damaged, *chunks[at + 1 :]], provider=provider
            )
            actionable_calls(got)
        except BoundaryError:
            continue


def test_a_character_cut_into_two_surrogates_is_whole_again() -> None:
    halves = [chunk({"content": "\ud83d"}), chunk({"content": "\ude00"}), chunk({}, "stop")]
    assert assemble_chat_stream(halves)["message"]["content"] == "😀"
    lone = assemble_chat_stream([chunk({"content": "\ud83dx"}, "stop")])
    assert lone["message"]["content"] == "\ud83dx"


def test_an_unknown_provider_is_a_bad_argument() -> None:
    with pytest.raises(ValueError, match="anthropic"):
        assemble_chat_stream([], provider="acme")


def test_malformed_streams_quote_briefly() -> None:
    with pytest.raises(MalformedStream) as caught:
        assemble_chat_stream([{"choices": "x" * 10_000}])
    assert len(str(caught.value)) < 300


def test_a_stream_says_how_far_it_has_come() -> None:
    whole = tools(tool(0, "c1", "f", '{"a": 1}'))
    steps = [([], "collecting"), ([chunk({"content": "Hi"})], "collecting"), ([whole], "collecting"),
             ([whole, END], "eligible"), ([chunk({}, "stop")], "eligible"),
             ([whole, chunk({}, "length")], "incomplete"),
             ([whole, chunk({}, "content_filter")], "incomplete"),
             ([chunk({}, "pause")], "incomplete"),
             ([tools(tool(0, "c1", "f", "[]")), END], "call closed"),
             ([tools(tool(0, "c1", "f", '{"a"')), END], "call closed"),
             ([tools(tool(0, "c1", "f")), END], "eligible"),
             ([chunk({}, "stop"), chunk({}, index=1), tools(tool(0, "c1", "f"))][:2], "collecting"),
             ([chunk({}, "stop"), chunk({}, "length", index=1)], "incomplete")]  # fmt: skip
    for chunks, state in steps:
        assembler = StreamAssembler()
        for each in chunks:
            assembler.feed(each)
        assert assembler.state == assembler.partial().state == state, chunks


def test_a_call_that_a_block_closes_is_parsed_before_the_end() -> None:
    opened = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    piece = {"type": "input_json_delta", "partial_json": '{"a": 1}'}
    events = [
        {"type": "content_block_start", "index": 0, "content_block": opened},
        {"type": "content_block_delta", "index": 0, "delta": piece},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]
    assembler = StreamAssembler("anthropic")
    states = []
    for event in events:
        assembler.feed(event)
        states.append(assembler.state)
    assert states == ["collecting", "collecting", "parsed", "parsed", "eligible"]


@pytest.mark.parametrize(
    "late",
    [
        {"content": "x"},
        {"tool_calls": [tool(0, None, None, " ")]},
        {"tool_calls": [tool(1, "c2", "g")]},
    ],
)
def test_content_after_the_end_is_refused_and_what_came_is_kept(late: dict[str, Any]) -> None:
    whole = [tools(tool(0, "c1", "f", "{}")), END]
    with pytest.raises(MalformedStream, match="after the end") as caught:
        assemble_chat_stream([*whole, chunk(late)])
    assert [call.text for call in caught.value.received.calls] == ["{}"]


def test_a_made_id_is_short_enough_for_every_provider_and_says_that_it_is_made() -> None:
    items = [tool(0, None, "f", "{}"), tool(1, None, "f", "{}"), tool(2, "c", "f", "{}")]
    message = assemble_chat_stream([tools(*items), END])["message"]
    first, second, third = message["tool_calls"]
    assert re.fullmatch("synthetic_[0-9a-f]{24}", first["id"])
    assert first["id"] != second["id"]
    assert [call.get("synthetic_id") for call in (first, second, third)] == [True, True, None]


def test_an_error_is_raised_again_with_what_was_received_first() -> None:
    assembler = StreamAssembler()
    assembler.feed(chunk({"content": "so far"}))
    with pytest.raises(IncompleteToolStream) as first:
        assembler.finish()
    with pytest.raises(IncompleteToolStream) as again:
        assembler.feed(chunk({}, "stop"))
    assert again.value is first.value
    assert again.value.received.content == "so far"


@pytest.mark.parametrize("other", [None, "x", [1], b"x", 5])
def test_a_chunk_that_is_no_object_is_malformed(other: Any) -> None:
    with pytest.raises(MalformedStream, match="another shape") as caught:
        assemble_chat_stream([chunk({"content": "Hi"}), other])
    assert caught.value.raw == other
    assert caught.value.received.content == "Hi"


@pytest.mark.parametrize("provider", sorted(WAYS))
def test_assembly_takes_a_step_for_a_piece_however_many_there_are(provider: str) -> None:
    """Count what a stream of many items makes the interpreter do, instead of timing it."""
    few, many = steps_of(provider, 200), steps_of(provider, 800)
    assert many < 4.4 * few


def steps_of(provider: str, count: int) -> int:
    """Return how many lines of the package run when a stream of `count` calls is put together."""
    call = {"type": "function_call", "name": "f", "arguments": "{}"}
    used = {"type": "tool_use", "name": "f", "input": {}}
    cited = {"type": "citations_delta", "citation": {}}
    each: dict[str, Any] = {
        "openai-chat": lambda at: [tools(tool(at, f"c{at}", "f", "{}"))],
        "anthropic": lambda at: [
            {"type": "content_block_start", "index": at, "content_block": used | {"id": f"c{at}"}},
            {"type": "content_block_delta", "index": at, "delta": cited},
            {"type": "content_block_stop", "index": at},
        ],
        "openai-responses": lambda at: [
            {"type": "response.output_item.added", "output_index": at, "item": call | {"id": f"i{at}", "call_id": f"c{at}"}},
            {"type": "response.output_item.done", "output_index": at, "item": call | {"id": f"i{at}", "call_id": f"c{at}"}},
        ],
        "gemini": lambda at: [{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "id": f"c{at}"}}]}}]}],
    }  # fmt: skip
    end = {
        "openai-chat": [END],
        "anthropic": [
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
            {"type": "message_stop"},
        ],
        "openai-responses": [
            {"type": "response.completed", "response": {"status": "completed"}}
        ],
        "gemini": [{"candidates": [{"finishReason": "STOP"}]}],
    }
    chunks = [event for at in range(count) for event in each[provider](at)] + end[provider]
    lines = 0

    def trace(frame: Any, event: str, arg: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        found = actionable_calls(assemble_chat_stream(chunks, provider=provider))
    finally:
        sys.settrace(before)
    assert len(found) == count
    return lines


@pytest.mark.parametrize("wrong", [5, None, ["x"], {"a": 1}])
def test_a_piece_of_arguments_that_is_no_text_is_refused_as_it_comes(wrong: Any) -> None:
    item = {"type": "function_call", "id": "i", "call_id": "c", "name": "f"}
    assembler = StreamAssembler("openai-responses")
    assembler.feed({"type": "response.output_item.added", "output_index": 0, "item": item})
    kind = "response.function_call_arguments.delta"
    with pytest.raises(MalformedStream, match="text was expected") as caught:
        assembler.feed({"type": kind, "output_index": 0, "delta": wrong})
    assert [call.text for call in caught.value.received.calls] == [""]
