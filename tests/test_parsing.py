"""Strict JSON and what surrounds it: every reader understands what `loads_strict` lets through."""

from __future__ import annotations

import json
import pickle
import sys
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from apisurface import BoundaryError
from apisurface.parsing import (
    MAX_CHARS,
    MAX_DEPTH,
    MAX_DIGITS,
    Fence,
    MalformedJSON,
    after_thoughts,
    find_brace,
    find_fences,
    loads_strict,
    value_end,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False)
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)
JSONISH = st.lists(
    st.sampled_from(
        ["{", "}", "[", "]", '"', ":", ",", "\\", "\\u", "d83d", "1", "-", "e9", " ", "\n", "a"]
        + ["true", "null", "NaN", '"a"', '"a":1', "\ud83d", "é"]
    ),
    max_size=15,
).map("".join)


def refused(text: Any) -> MalformedJSON:
    with pytest.raises(MalformedJSON) as caught:
        loads_strict(text)
    return caught.value


# --- loads_strict ----------------------------------------------------------------


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_what_python_writes_is_read_back(
    value: Any, ascii_only: bool, indent: int | None
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert loads_strict(text) == value


@given(JSONISH | st.text())
def test_it_only_ever_refuses_more_than_the_standard_library(text: str) -> None:
    try:
        value = loads_strict(text)
    except MalformedJSON as error:
        assert error.text == text
        assert error.offset is None or 0 <= error.offset <= len(text)
    else:
        assert value == json.loads(text)
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


def test_the_error_stands_in_the_tree_and_survives_pickling() -> None:
    error = refused('{"a":')
    assert isinstance(error, BoundaryError)
    assert isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.text, again.offset) == (str(error), '{"a":', 0)


def test_b082_python_literals_are_refused_at_their_first_quote() -> None:
    assert refused("{'q': 'x', 'ok': True}").offset == 1


def test_b083_two_objects_in_a_row_are_extra_data() -> None:
    assert refused('{"path":"a"}{"path":"b"}').offset == 12
    assert refused('{"path":"a"}{"path":"a"}').offset == 12


def test_b085_raw_control_characters_are_refused_with_their_position() -> None:
    assert refused('{"text": "line1\nline2"}').offset == 15
    assert refused('{"text": "a\tb"}').offset == 11
    assert loads_strict('{\n\t"text": "line1\\nline2"\r\n}') == {"text": "line1\nline2"}


def test_b086_unpaired_surrogates_are_refused_with_their_path() -> None:
    assert "surrogate at /t" in str(refused('{"t":"\\ud83d"}'))
    assert "/a~1b/1" in str(refused('{"a/b":["x","\\uDE00"]}'))
    assert "at the root" in str(refused('"\\ud83d"'))
    assert "surrogate at /k\\udc80" in str(refused('{"k\\udc80": 1}'))
    assert "surrogate at /t" in str(refused('{"t":"\udc80"}'))  # a character of the text itself
    assert "surrogate at /t" in str(refused('{"t":"\\ude00\\ud83d"}'))  # in the wrong order


def test_b086_paired_surrogates_are_one_character() -> None:
    assert loads_strict('{"t":"\\ud83d\\ude00"}') == {"t": "\U0001f600"}
    assert loads_strict('{"t":"\\\\ud83d"}') == {"t": "\\ud83d"}


def test_b100_a_repeated_key_is_named() -> None:
    assert 'duplicate key "path"' in str(refused('{"path": "/safe", "path": "/etc"}'))
    assert 'duplicate key "b"' in str(refused('[{"a": {"b": 1, "c": 2, "b": 1}}]'))
    assert loads_strict('[{"a": 1}, {"a": 2}]') == [{"a": 1}, {"a": 2}]
    long = json.dumps("k" * 9999)
    assert len(str(refused(f"{{{long}:1,{long}:2}}"))) < 200


@pytest.mark.parametrize("unit", ["[", '{"a":', '[{"a":', "[[],"])
def test_b101_depth_bombs_are_one_typed_error(unit: str) -> None:
    assert "deeper" in str(refused(unit * 100_000))


def test_depth_is_counted_outside_strings_and_up_to_the_limit() -> None:
    deep: Any = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert json.dumps(loads_strict(deep)) == deep
    assert refused("[" + deep + "]").offset == MAX_DEPTH
    assert loads_strict(json.dumps(["[" * 500, '\\"' + "{" * 500]))[0] == "[" * 500


def test_b101_a_full_stack_is_the_same_typed_error() -> None:
    def fall(left: int) -> None:
        if left:
            fall(left - 1)
        else:
            loads_strict("[" * MAX_DEPTH + "]" * MAX_DEPTH)

    for spare in range(20, 120, 10):
        try:
            fall(sys.getrecursionlimit() - spare - 60)
        except MalformedJSON as error:
            assert "too deep" in str(error)
        except RecursionError:
            pass  # the stack ended before the parser began


def test_b103_numbers_too_long_or_too_large() -> None:
    assert "5000 characters" in str(refused('{"n": ' + "9" * 5000 + "}"))
    assert loads_strict("9" * MAX_DIGITS) == int("9" * MAX_DIGITS)
    for text in ("1e999", "-1e999", '{"n": [1e400]}'):
        assert "finite" in str(refused(text))
    assert "characters" in str(refused("0." + "1" * MAX_DIGITS))
    assert loads_strict("[1e3, -0.5, 12]") == [1000.0, -0.5, 12]


def test_b103_a_lower_limit_of_the_interpreter_is_the_same_typed_error() -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(1000)
    try:
        refused("9" * 2000)
    finally:
        sys.set_int_max_str_digits(limit)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", '{"a": [NaN]}'])
def test_constants_that_json_does_not_have(text: str) -> None:
    assert "is not JSON" in str(refused(text))


def test_size_is_bounded() -> None:
    loads_strict('"' + "x" * (MAX_CHARS - 2) + '"')
    error = refused('"' + "x" * (MAX_CHARS - 1) + '"')
    assert str(MAX_CHARS) in str(error)
    assert error.offset is None


@pytest.mark.parametrize("value", [None, {"a": 1}, b"{}", 3, ["{}"]])
def test_what_is_no_text_is_a_typed_refusal(value: Any) -> None:
    assert type(value).__name__ in str(refused(value))


@pytest.mark.parametrize(
    "text", ["", " ", "\ufeff{}", "{}x", "'a'", "{,}", "[1,]", "01", ".5", "+1"]
)
def test_what_rfc_8259_does_not_write(text: str) -> None:
    refused(text)


def test_a_part_of_a_text_is_read_with_offsets_of_the_whole() -> None:
    text = 'see {"a": 1} and {"b": x}'
    assert loads_strict(text, 4, 12) == {"a": 1}
    with pytest.raises(MalformedJSON) as caught:
        loads_strict(text, 17)
    assert (caught.value.offset, caught.value.text) == (23, text)


# --- value_end -------------------------------------------------------------------


@given(st.dictionaries(TEXT, VALUES, max_size=4), st.text())
def test_an_object_ends_where_the_parser_ends(value: dict[str, Any], tail: str) -> None:
    text = json.dumps(value)
    assert value_end(text + tail) == len(text) == json.JSONDecoder().raw_decode(text)[1]


def test_a_value_that_never_closes_says_where() -> None:
    for text, place in (('{"limit": 100', 0), ('{"a": "b', 6), ('{"a": "b\\"}', 6)):
        with pytest.raises(MalformedJSON) as caught:
            value_end(text)
        assert caught.value.offset == place
    assert value_end("none here") == 9


# --- find_fences: CommonMark is the judge ----------------------------------------

LINES = st.lists(
    st.sampled_from(
        ["```", "````", "~~~", "~~~~", "```json", "~~~ json", "``` JSON5 x", "````md", "   ```"]
        + [
            "```bash",
            "~~~`",
            "```a`b",
            "``",
            "```json {",
            '{"a": 1}',
            '{"a": "```"}',
            "text",
            "",
        ]
        + ["  ```  ", "~~~x~~~", "~~"]
    ),
    max_size=12,
)


@given(LINES)
def test_fences_are_those_of_commonmark(lines: list[str]) -> None:
    text = "\n".join(lines)
    expected = [
        (token.info.strip(), token.content.strip())
        for token in MarkdownIt("commonmark").parse(text)
        if token.type == "fence"
    ]
    found = []
    for fence in find_fences(text):
        rest, _, content = text[fence.start : fence.end].partition("\n")
        word = text[: fence.start].rpartition("\n")[2].lstrip(" `~")
        found.append(((word + rest).strip(), content.strip()))
    squeezed = [(info.replace(" ", ""), body) for info, body in expected]
    assert [(info.replace(" ", ""), body) for info, body in found] == squeezed


@given(LINES)
def test_fences_never_overlap_and_stay_in_the_text(lines: list[str]) -> None:
    text, at = "\r\n".join(lines), 0
    for fence in find_fences(text):
        assert at <= fence.start <= fence.end <= len(text)
        at = fence.end


def test_a_fence_knows_its_language_and_its_content() -> None:
    text = "a\r\n~~~ JSON5 x\r\n{}\r\n~~~\r\nb\n```{.json}\n{}\n"
    first, second = find_fences(text)
    assert first.language == "json5"
    assert text[first.start : first.end] == " x\r\n{}\r\n"
    assert (second.language, text[second.start : second.end]) == ("", "{.json}\n{}\n")
    assert find_fences(text, first.end + 5) == [second]
    assert second == Fence("", second.start, len(text))


# --- after_thoughts and find_brace -----------------------------------------------


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<think>a</think>b", "b"),
        ("<THINKING>a\n</THINKING>\n\nb", "\n\nb"),
        ("[THINK]a[/THINK]b", "b"),
        ("<reasoning>a</reasoning><thought>b</thought>c", "c"),
        ('Hm. <think>{"a": 1}</think>c', "c"),
        ('{"draft": 1}</think>c', "c"),
        ('{"draft": </think>c', "c"),
        ("<think>a<think>b</think>c</think>d", "d"),
        ('{"a": "</think>"}', '{"a": "</think>"}'),
        ('{"a": 1} <think>b</think>', '{"a": 1} <think>b</think>'),
        ("I write <think> first", "I write <think> first"),
        ("<thinker>a</thinker>b", "<thinker>a</thinker>b"),
        ("", ""),
    ],
)
def test_thinking_before_the_answer_is_set_aside(text: str, rest: str) -> None:
    assert text[after_thoughts(text) :] == rest


def test_a_thinking_block_that_never_closes_has_no_answer() -> None:
    with pytest.raises(MalformedJSON, match="never closes at offset 2"):
        after_thoughts('\n <think>maybe {"draft": true}')


def test_a_brace_counts_when_json_follows_it() -> None:
    assert find_brace('f{x} { y } {{ {\n "a": 1}') == 14
    assert find_brace("{ }") == 0
    assert find_brace("{x} {[1]} {1: 2}") == -1
    assert find_brace('{} {"a": 1}', 1) == 3
    assert find_brace('x {"a": 1}', 0, 2) == -1


@pytest.mark.parametrize(
    "unit",
    [
        '{"',
        "{ ",
        "[ ",
        "```\n",
        "~~~a\n",
        "<think>",
        "</think>",
        '"\\',
        "{{",
        '{"a":1}</think>',
    ],
)
def test_repetition_is_read_in_one_pass(unit: str) -> None:
    """Half a million characters each: quadratic code would not come back."""
    text = unit * (500_000 // len(unit))
    find_fences(text)
    find_brace(text)
    for reader in (loads_strict, after_thoughts, value_end):
        with suppress(MalformedJSON):
            reader(text)


def test_an_error_quotes_twenty_characters_on_each_side_of_its_place():
    text = "".join(chr(0x100 + n) for n in range(1000))
    error = MalformedJSON.at("something", text, 500)
    assert str(error) == f"something at offset 500, near {text[480:520]!r}"
    assert str(MalformedJSON.at("something", text, 5)).endswith(f"near {text[:25]!r}")
