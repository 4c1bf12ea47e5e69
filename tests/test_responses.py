"""OpenAI Responses: items named twice, pieces repeated whole, and how it ends."""

from typing import Any

import pytest
from chunks import calls_of, plain

from apisurface import (
    Delta,
    IncompleteToolStream,
    MalformedStream,
    NotActionable,
    ResponsesReader,
    StreamAssembler,
    actionable_calls,
    assemble_chat_stream,
)


def responses() -> list[dict[str, Any]]:
    def item(number: int, text: str) -> dict[str, Any]:
        return {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{'AB'[number - 1]}",
            "name": "fg"[number - 1],
            "arguments": text,
        }

    def about(kind: str, number: int, **more: Any) -> dict[str, Any]:
        place = {"item_id": f"fc_{number}", "output_index": number - 1}
        return {"type": f"response.{kind}", **place, **more}

    return [
        {"type": "response.output_item.added", "output_index": 0, "item": item(1, "")},
        {"type": "response.output_item.added", "output_index": 1, "item": item(2, "")},
        about("function_call_arguments.delta", 1, delta='{"a":1}'),
        about("function_call_arguments.delta", 2, delta="{}"),
        about("function_call_arguments.done", 1, arguments='{"a":1}'),
        about("function_call_arguments.done", 2, arguments="{}"),
        {"type": "response.output_item.done", "output_index": 0, "item": item(1, '{"a":1}')},
        {"type": "response.output_item.done", "output_index": 1, "item": item(2, "{}")},
        {"type": "response.completed", "response": {"status": "completed"}},
    ]


def test_b056_responses_go_by_item_and_are_answered_by_call_id() -> None:
    got = assemble_chat_stream(responses(), provider="openai-responses")
    assert plain(actionable_calls(got)) == [("call_A", "f", {"a": 1}), ("call_B", "g", {})]
    assert [item["id"] for item in got["message"]["native"]["output"]] == ["fc_1", "fc_2"]
    without = [
        {k: v for k, v in e.items() if k != "output_index" or "item" in e} for e in responses()
    ]
    assert len(calls_of(without, "openai-responses")) == 2


@pytest.mark.parametrize("at", range(9))
def test_b056_no_prefix_of_a_responses_stream_is_actionable(at: int) -> None:
    assembler = StreamAssembler("openai-responses")
    for event in responses()[:at]:
        assembler.feed(event)
    assert assembler.state in ("collecting", "call closed", "parsed")
    with pytest.raises(IncompleteToolStream):
        assembler.finish()


def test_responses_done_arguments_must_agree_with_their_pieces() -> None:
    events = responses()
    events[4] = events[4] | {"arguments": '{"a":2}'}
    with pytest.raises(MalformedStream, match="differ from their pieces"):
        assemble_chat_stream(events, provider="openai-responses")


def test_responses_items_without_pieces_are_taken_whole() -> None:
    output = [
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]},
        {
            "type": "message",
            "id": "m",
            "content": [
                {"type": "output_text", "text": "Hi"},
                {"type": "refusal", "refusal": "No"},
            ],
        },
        {"type": "function_call", "id": "fc", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "custom_tool_call", "id": "x", "call_id": "cc", "name": "sh", "input": "ls"},
    ]
    usage = {
        "input_tokens": 3,
        "output_tokens": 4,
        "total_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    end = {
        "type": "response.completed",
        "response": {"id": "resp_1", "status": "completed", "output": output, "usage": usage},
    }
    got = assemble_chat_stream([end], provider="openai-responses")
    message = got["message"]
    assert (message["content"], message["reasoning"], message["refusal"]) == ("Hi", "hm", "No")
    assert plain(actionable_calls(got)) == [("c", "f", {})]
    assert got["usage"] == {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    assert got["request_id"] == "resp_1"
    assert message["native"]["output"] == output
    assert message["native"]["usage"] == usage


def test_an_incomplete_response_says_length_and_its_call_is_not_closed() -> None:
    events = responses()[:3]
    cut = events[0]["item"] | {"status": "incomplete", "arguments": '{"a":1}'}
    end = {
        "type": "response.incomplete",
        "response": {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
        },
    }
    done = {"type": "response.output_item.done", "output_index": 0, "item": cut}
    with pytest.raises(IncompleteToolStream, match="before a call was closed"):
        assemble_chat_stream([*events, done, end], provider="openai-responses")
    got = assemble_chat_stream([end], provider="openai-responses")
    assert got["finish_reason"] == "length"


@pytest.mark.parametrize(
    "events",
    [
        [responses()[2]],
        [responses()[0], responses()[0]],
        [{"type": "response.output_text.delta", "delta": "x"}],
        [*responses(), responses()[2]],
        [*responses()[:5], responses()[2]],
    ],
)
def test_responses_events_that_contradict_each_other(events: list[dict[str, Any]]) -> None:
    with pytest.raises(MalformedStream):
        assemble_chat_stream(events, provider="openai-responses")


def test_calls_stand_at_their_output_index_whichever_opens_first() -> None:
    events = responses()
    got = assemble_chat_stream([events[1], events[0], *events[2:]], provider="openai-responses")
    assert [call.id for call in actionable_calls(got)] == ["call_A", "call_B"]


def test_a_piece_whose_id_and_index_name_two_items_belongs_to_nobody() -> None:
    events = responses()
    events[2] = events[2] | {"output_index": 1}
    with pytest.raises(MalformedStream, match="name two items"):
        assemble_chat_stream(events, provider="openai-responses")


def test_an_id_that_changes_with_each_event_is_ignored_beside_an_index() -> None:
    events = [
        e | ({"item_id": f"x{i}"} if "item_id" in e else {}) for i, e in enumerate(responses())
    ]
    assert len(calls_of(events, "openai-responses")) == 2


def test_the_whole_at_the_end_must_agree_with_what_streamed() -> None:
    events = responses()
    items = [event["item"] for event in events[6:8]]
    for other in ([items[0] | {"arguments": '{"a":2}'}, items[1]], list(reversed(items))):
        events[-1] = {"type": "response.completed",
                      "response": {"status": "completed", "output": other}}  # fmt: skip
        if other[0] is items[1]:
            assert len(calls_of(events, "openai-responses")) == 2
            continue
        with pytest.raises(MalformedStream, match="differ from their pieces"):
            assemble_chat_stream(events, provider="openai-responses")


def test_a_whole_item_without_its_arguments_closes_what_streamed() -> None:
    events = responses()[:4]
    bare = {k: v for k, v in responses()[6]["item"].items() if k != "arguments"}
    events += [{"type": "response.output_item.done", "output_index": 0, "item": bare}]
    events += responses()[7:]
    assert plain(calls_of(events, "openai-responses"))[0] == ("call_A", "f", {"a": 1})


def test_text_that_streamed_or_came_with_its_item_is_not_said_again_at_the_end() -> None:
    item = {
        "type": "message",
        "id": "m",
        "content": [
            {"type": "output_text", "text": "Hi"},
            {"type": "output_text", "text": "!"},
        ],
    }
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    end = {"type": "response.completed", "response": {"status": "completed", "output": [item]}}
    piece = {"type": "response.output_text.delta", "output_index": 0, "delta": "Hi!"}
    for events in ([done, end], [piece, done, end], [piece, end], [end]):
        got = assemble_chat_stream(events, provider="openai-responses")
        assert got["message"]["content"] == "Hi!"


def test_the_response_is_named_once() -> None:
    reader = ResponsesReader()
    events = [
        {"type": f"response.{kind}", "response": {"id": "r"}} for kind in ("created", "queued")
    ]
    assert [reader.read(event) for event in events] == [[Delta("id", text="r")], []]


@pytest.mark.parametrize("kind", ["custom_tool_call", "mcp_call", "web_search_call"])
def test_calls_that_are_not_ours_to_run_are_kept_and_not_handed_on(kind: str) -> None:
    item = {"type": kind, "id": "x", "name": "sh", "arguments": "{}", "input": "ls"}
    events = [
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": f"response.{kind}_input.delta", "output_index": 0, "delta": "ls"},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"status": "completed"}},
    ]
    got = assemble_chat_stream(events, provider="openai-responses")
    assert got["finish_reason"] == "stop"
    assert actionable_calls(got) == []
    assert got["message"]["native"]["output"] == [item]


@pytest.mark.parametrize(
    ("end", "finish"),
    [
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            "content_filter",
        ),
        ({"status": "incomplete", "incomplete_details": None}, "incomplete"),
        ({"status": "cancelled"}, "cancelled"),
    ],
)
def test_how_a_response_ends(end: dict[str, Any], finish: str) -> None:
    event = {"type": "response.incomplete", "response": end}
    got = assemble_chat_stream([event], provider="openai-responses")
    assert got["finish_reason"] == finish
    assert got["message"]["native"]["status"] == end["status"]
    with pytest.raises(NotActionable):
        actionable_calls(got)


def test_reasoning_that_streamed_is_not_said_again_with_its_item() -> None:
    summary = [{"type": "summary_text", "text": "hm"}]
    item = {"type": "reasoning", "id": "rs", "summary": summary}
    events = [
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm"},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"status": "completed", "output": [item]}},
    ]
    got = assemble_chat_stream(events, provider="openai-responses")
    assert got["message"]["reasoning"] == "hm"
