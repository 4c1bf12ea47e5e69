"""What can be seen of arguments whose end is missing, and what can be done with it."""

import json
from typing import Any

import pytest
from chunks import END, chunk, tool, tools
from hypothesis import given
from hypothesis import strategies as st

from apisurface import (
    NotActionable,
    PartialResponse,
    StreamAssembler,
    Tool,
    ToolRegistry,
    actionable_calls,
    dispatch,
    dispatch_all,
    parse_tool_call,
    parse_tool_calls,
    partial_json,
)


def test_b074_the_raw_text_only_grows_and_the_view_never_ends_inside_an_escape() -> None:
    texts = [
        '{"command":"echo \'',
        '{"command":"echo \'x\' | tee \\',
        '{"command":"echo \'x\' | tee /tmp"}',
    ]
    assert [partial_json(text) for text in texts] == [
        {"command": "echo '"},
        {"command": "echo 'x' | tee "},
        {"command": "echo 'x' | tee /tmp"},
    ]
    assembler = StreamAssembler()
    assembler.feed(tools(tool(0, "c1", "bash", texts[1])))
    [call] = assembler.partial().calls
    assert (call.text, call.view()) == (texts[1], {"command": "echo 'x' | tee "})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(JSON)
def test_every_prefix_of_a_value_has_a_view_that_never_crashes(value: Any) -> None:
    text = json.dumps(value)
    for at in range(len(text) + 1):
        partial_json(text[:at])
    if text not in ("NaN", "Infinity", "-Infinity") and "NaN" not in text and "Inf" not in text:
        assert partial_json(text) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("", None),
        (" ", None),
        ("{", {}),
        ('{"a"', {}),
        ('{"a":', {}),
        ('{"a": tr', {}),
        ('{"a": true', {"a": True}),
        ('{"a": 1', {"a": 1}),
        ('{"a": 1.5e', {}),
        ('{"a": -', {}),
        ('{"a": "x', {"a": "x"}),
        ('{"a": "x\\', {"a": "x"}),
        ('{"a": "x\\\\', {"a": "x\\"}),
        ('{"a": "\\u00', {"a": ""}),
        ('{"a": "\\ud83d', {"a": ""}),
        ('{"a": "\\ud83d\\ude0', {"a": ""}),
        ('{"a": "\\ud83d\\ude00', {"a": "😀"}),
        ('{"a": [{"b": "c"}, {"d', {"a": [{"b": "c"}, {}]}),
        ("[1, 2", [1, 2]),
        ("[1,", [1]),
        ('"ab', "ab"),
        ('{"a" x', None),
        ("{]", None),
        ("[1 2", None),
        ("{,", None),
        ('{"a": 1}}', None),
        ('{"a": 01, ', None),
        ("[" * 200, None),
    ],
)
def test_views(text: str, seen: Any) -> None:
    assert partial_json(text) == seen


def seen(*chunks: dict[str, Any]) -> PartialResponse:
    assembler = StreamAssembler()
    for each in chunks:
        assembler.feed(each)
    return assembler.partial()


def test_a_view_shows_its_first_choice() -> None:
    view = seen(
        chunk({"content": "B", "tool_calls": [tool(0, "y", "g", "{")]}, index=1),
        chunk({"content": "A", "tool_calls": [tool(0, "x", "f", '{"a": 1')]}),
    )
    assert (view.content, view.calls[0].name, view.calls[0].view()) == ("A", "f", {"a": 1})
    assert [choice.content for choice in view.choices] == ["A", "B"]
    nothing = seen()
    assert (nothing.content, nothing.calls, nothing.state) == (None, (), "collecting")


def test_a_view_is_as_it_was_when_more_arrives() -> None:
    assembler = StreamAssembler()
    assembler.feed(tools(tool(0, "c1", "f", '{"a"')))
    before = assembler.partial()
    assembler.feed(tools(tool(0, None, None, ": 1}")))
    assert (before.calls[0].text, assembler.partial().calls[0].text) == ('{"a"', '{"a": 1}')


def test_nothing_that_runs_calls_takes_a_view() -> None:
    ran: list[Any] = []
    registry = ToolRegistry()
    registry.register(
        Tool("f", "It notes.", {"type": "object"}, lambda **said: ran.append(said))
    )
    whole = tools(tool(0, "c1", "f", "{}"))
    view = seen(whole, END)
    [call] = view.calls
    delta = StreamAssembler().feed(whole)[0]
    assert view.state == "eligible"
    for thing in (view, view.choices[0], call, call.view(), delta):
        assert not dispatch(registry, thing).ok
        assert not any(result.ok for result in dispatch_all(registry, [thing]))
        with pytest.raises(ValueError, match=r"\w"):
            parse_tool_call(thing)
        with pytest.raises(ValueError, match=r"\w"):
            parse_tool_calls([thing])
        with pytest.raises(NotActionable, match="a response with a message"):
            actionable_calls(thing)
    assert ran == []


def test_a_view_cannot_be_made_into_a_call() -> None:
    view = seen(tools(tool(0, "c1", "f", "{}")))
    for thing in (view, view.choices[0], view.calls[0]):
        with pytest.raises((AttributeError, TypeError)):
            thing.arguments = {}
        with pytest.raises(AttributeError):
            object.__setattr__(thing, "arguments", {})


def test_a_view_is_as_deep_as_arguments_may_be() -> None:
    assert partial_json("[" * 100) is not None
    assert partial_json("[" * 101) is None
