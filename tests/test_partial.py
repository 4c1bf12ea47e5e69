"""What can be seen of arguments whose end is missing, and what can be done with it."""

import json
from typing import Any

import pytest
from chunks import tool, tools
from hypothesis import given
from hypothesis import strategies as st

from apisurface import StreamAssembler, partial_json


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
