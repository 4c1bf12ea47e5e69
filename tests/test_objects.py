"""The one object that a text means, or a refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from texts import OBJECTS, PIECES

from apisurface.objects import parse_object
from apisurface.parsing import MAX_CHARS, MalformedJSON


def refused(text: Any, match: str | None = None) -> MalformedJSON:
    with pytest.raises(MalformedJSON, match=match) as caught:
        parse_object(text)
    return caught.value


# --- properties ---

PROSE = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters='{}[]"`~<>'), max_size=30
)


@given(PIECES | st.text(st.characters()))
def test_any_text_gives_a_strict_object_or_a_typed_refusal(text: str) -> None:
    try:
        value = parse_object(text)
    except MalformedJSON as error:
        assert error.text == text
        assert error.offset is None or 0 <= error.offset <= len(text)
    else:
        assert type(value) is dict
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()


@given(OBJECTS, st.sampled_from([None, 2]))
def test_a_whole_text_is_read_as_the_standard_library_reads_it(
    value: dict[str, Any], indent: int | None
) -> None:
    text = json.dumps(value, indent=indent)
    assert parse_object(text) == json.loads(text) == value


@given(OBJECTS, PROSE, PROSE, st.booleans())
def test_surroundings_do_not_change_the_object(
    value: dict[str, Any], before: str, after: str, ascii_only: bool
) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only)
    for text in (
        f"{before} {body} {after}",
        f"{before}\n```json\n{body}\n```\n{after}",
        f"{before}\n~~~~ JSON5\n{body}\n~~~~\n{after}",
        f"{before}\n```\n{body}\n```\n{after}",
        f"<think>{before}</think>\n{body}",
        f"\ufeff\n{body}\n",
    ):
        assert parse_object(text) == value


@given(OBJECTS.filter(bool), st.data())
def test_a_cut_object_never_yields_an_inner_one(value: dict[str, Any], data: Any) -> None:
    body = json.dumps({"outer": value, "more": [value]})
    cut = body[: data.draw(st.integers(1, len(body) - 1))]
    for text in (
        cut,
        f"Here it is: {cut}",
        f"```json\n{cut}",
        f"```json\n{cut}\n```",
        f"```\n{cut}",
    ):
        refused(text)


@given(OBJECTS, OBJECTS)
def test_two_fences_must_hold_the_same_object(
    first: dict[str, Any], second: dict[str, Any]
) -> None:
    one, two = json.dumps(first), json.dumps(second, indent=1)
    text = f"```json\n{one}\n```\nor\n```json\n{two}\n```"
    if json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True):
        assert parse_object(text) == first
    else:
        refused(text, "different objects")


@pytest.mark.parametrize(
    "unit",
    [
        '{"',
        "{ ",
        "{",
        "[ ",
        "[{",
        "```json\n",
        "```json\n{}\n```\n",
        "~~~\n{}\n~~~\n",
        "```a\n```\n",
    ]
    + ["<think>", "<think></think>", "</think>", '"\\', '{"a":1}</think>', '"a": ', "{x} "],
)
def test_repetition_is_read_in_one_pass(unit: str) -> None:
    """A third of a million characters each: quadratic code would not come back."""
    for text in (unit * (300_000 // len(unit)), "x" + unit * (300_000 // len(unit)) + '{"a"'):
        try:
            parse_object(text)
        except MalformedJSON as error:
            assert error.text == text


# --- reported cases ---


def test_b076_an_empty_text_is_no_object_here() -> None:
    """Empty tool arguments mean `{}`; an empty answer means nothing. The caller knows which."""
    for text in ("", " \n", "\ufeff"):
        refused(text, "no JSON object")


def test_b077_null_content_and_the_text_null_are_typed_refusals() -> None:
    refused(None, "NoneType")
    refused("null", "got null")


def test_b079_nested_strings_are_never_unwrapped() -> None:
    text = '{"todos":"[1]","note":"[1]"}'
    assert parse_object(text) == {"todos": "[1]", "note": "[1]"}


def test_b080_a_decoded_object_is_no_text() -> None:
    refused({"a": 1}, "got dict")


def test_b082_python_literals_are_refused_at_their_first_quote() -> None:
    assert refused("{'q': 'x', 'ok': True}").offset == 1
    assert refused("```json\n{'q': 'x'}\n```").offset == 9


@pytest.mark.parametrize("between", ["", " ", "\n", ", ", "}"])
def test_b083_two_objects_in_a_row_are_never_the_first(between: str) -> None:
    text = '{"path":"a"}' + between + '{"path":"b"}'
    assert refused(text).offset == 12
    assert refused(f"Calls: {text}").offset == 19
    refused(f"```jsonl\n{text}\n```")


def test_an_object_closed_too_early_is_not_half_an_answer() -> None:
    refused('{"order": {"id": 1}}, "amount": 5}', "more JSON")
    refused('"action": {"id": 1}, "amount": 5}', "inside something larger|more JSON")
    assert parse_object('{{"a": 1}}') == {"a": 1}  # braces of a copied format string
    assert parse_object('\\boxed{{"a": 1}}.') == {"a": 1}


def test_b085_raw_control_characters_are_refused_with_their_position() -> None:
    assert refused('{"text": "line1\nline2"}').offset == 15
    assert parse_object('{\n  "text":\t1\r\n}') == {"text": 1}


def test_b086_unpaired_surrogates_are_refused_with_their_path() -> None:
    refused('Here: {"t":"\\ud83d"}', "surrogate at /t")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"code": "use `print` here"}', {"code": "use `print` here"}),
        ('Here is `the` result: {"a": 1}', {"a": 1}),
        ('Use `{"a": 1}` now', {"a": 1}),
    ],
)
def test_b088_backticks_are_not_always_fences(text: str, value: dict[str, Any]) -> None:
    assert parse_object(text) == value


def test_b089_a_fence_inside_a_string_does_not_close_the_fence() -> None:
    text = '```json\n{"facts": [{"what": "uses ```json fences"}]}\n```'
    assert parse_object(text) == {"facts": [{"what": "uses ```json fences"}]}
    assert parse_object('````json\n{"a": "```\\n```"}\n````') == {"a": "```\n```"}


def test_b091_another_language_is_not_the_wrapper() -> None:
    text = "Run:\n```bash\necho '{x}'\n```\nResult:\n```json\n{\"ok\": true}\n```"
    assert parse_object(text) == {"ok": True}
    text = 'Run:\n```bash\necho \'{"x": 1}\'\n```\nResult: {"ok": true}'
    assert parse_object(text) == {"ok": True}
    refused("```bash\necho '{\"x\": 1}'\n```", "no JSON object")
    assert parse_object('```javascript\n{"a": 1}\n```') == {"a": 1}
    assert parse_object('```python\n{"a": 1}\n```\n```json\n{"b": 1}\n```') == {"b": 1}


def test_fences_come_before_prose_and_marked_ones_first() -> None:
    assert parse_object('Like {"a": 0}:\n```\n{"a": 1}\n```') == {"a": 1}
    assert parse_object('```\n{"a": 1}\n```\n```json\n{"a": 2}\n```') == {"a": 2}
    assert parse_object('```\nPOST /x {"id": 1}\n[2]\n```\n```\n{"a": 1}\n```') == {"a": 1}
    assert parse_object('```\n[1, {"a": 1}]\n```\nso {"b": 1}') == {"b": 1}
    assert parse_object("```json\nnothing yet\n```\n" + 'then {"b": 1}') == {"b": 1}


@pytest.mark.parametrize(
    "text",
    [
        '```json {"a": 1}```',
        '```json{"a": 1}```',
        '```{"a": 1}```',
        '~~~json {"a": 1}~~~',
        'Result: ```json {"a": 1}``` ok',
        '```json\n{"a": 1}```',
        '```json {\n"a": 1}\n```',
        '```JSON\r\n{"a": 1}\r\n```',
        '```jsonc\n{"a": 1}\n```',
        '   ```json\n   {"a": 1}\n   ```',
        '```json\n{"a": 1}\n',
        "```json\nThe result:\n" + '{"a": 1}\nDone.\n```',
        '</think>```json\n{"a": 1}\n```',
    ],
)
def test_b092_fences_as_models_write_them(text: str) -> None:
    assert parse_object(text) == {"a": 1}


def test_b094_a_nested_object_does_not_end_at_the_first_brace() -> None:
    text = '```json\n{"a": {"b": 1}, "c": 2}\n```'
    assert parse_object(text) == {"a": {"b": 1}, "c": 2}


@pytest.mark.parametrize(
    "text",
    [
        '<think>maybe {"draft": true}</think>\n{"title": "T"}',
        'maybe {"draft": true}</think>\n{"title": "T"}',
        '<think>```json\n{"draft": true}\n```</think>\n```json\n{"title": "T"}\n```',
        '[THINK]{"draft": true}[/THINK]{"title": "T"}',
        '<reasoning>{"draft": </reasoning>Sure: {"title": "T"}',
    ],
)
def test_b095_a_draft_in_the_thinking_is_no_candidate(text: str) -> None:
    assert parse_object(text) == {"title": "T"}


def test_thinking_without_an_answer_is_refused() -> None:
    refused('<think>maybe {"draft": true}', "never closes")
    refused('<think>maybe {"draft": true}</think>', "no JSON object")
    refused("<think>x</think>[1]", "got array")


def test_b097_a_tag_inside_a_string_is_text() -> None:
    text = '{"answer": "<think>literal</think>"}'
    assert parse_object(text) == {"answer": "<think>literal</think>"}
    assert parse_object("Here: " + text) == {"answer": "<think>literal</think>"}


def test_b098_a_cut_text_is_refused_not_mended() -> None:
    assert "never closes" in str(refused('{"limit": 100'))
    for text in (
        '{"a": {"b": 1}',
        '{"a": [1, {"b": 2}',
        '```json\n{"a": {"b": 1}\n```',
        '{"a": "b',
    ):
        refused(text)


def test_b100_a_repeated_key_is_named() -> None:
    refused('{"path": "/safe", "path": "/etc"}', 'duplicate key "path"')
    refused('So: {"path": "/safe", "path": "/etc"}', 'duplicate key "path"')


def test_b101_depth_bombs_are_one_typed_error() -> None:
    for text in ("[" * 100_000, '{"a":' * 100_000, 'x {"a":' + "[" * 100_000):
        refused(text, "nesting deeper")
    assert parse_object('{"a": 1} ' + "[" * 100_000) == {"a": 1}  # what follows is prose


def test_b103_numbers_too_long_or_too_large() -> None:
    refused('{"n": ' + "9" * 5000 + "}", "5000 characters")
    refused('{"n": 1e999}', "finite")
    refused('Here {"n": NaN}', "not JSON")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[]", "array"),
        ("3", "number"),
        ('"x"', "string"),
        ("true", "boolean"),
        ("2.5", "number"),
    ]
    + [('"{\\"a\\": 1}"', "string"), ('[{"a": 1}]', "array"), ("```json\n[]\n```", "array")],
)
def test_b104_json_that_is_no_object_names_its_kind(text: str, kind: str) -> None:
    refused(text, f"expected a JSON object, got {kind}")


@pytest.mark.parametrize(
    "text",
    [
        'Items: [{"a": 1}, {"a": 2}]',
        '[1, {"a": 1}] as asked',
        '[1, {"a": 1}',
        '["\\ud83d", {"a": 1}]',
    ]
    + ['The "result": {"a": 1}', '```json\n[1, {"a": 1}]\n```'],
)
def test_an_object_inside_something_larger_is_not_picked(text: str) -> None:
    refused(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("The set {a, b} and f{x}: {}", {}),
        ('if (x) { y } then {\n  "a": 1\n}', {"a": 1}),
        ('First {"a": 1}; later {"a": 2}', {"a": 1}),
        ('[INFO] done: {"a": 1}', {"a": 1}),
        ('[1] says {"a": 1}', {"a": 1}),
        ('{"a": 1} Hope this helps!', {"a": 1}),
        ('\ufeff {"a": 1}\u00a0', {"a": 1}),
    ],
)
def test_prose_around_and_braces_that_are_text(text: str, value: dict[str, Any]) -> None:
    assert parse_object(text) == value


def test_a_brace_that_commits_and_fails_is_the_end() -> None:
    for text in (
        'as in {"a"} or {"b": 1}',
        "{ } x {}"[1:3] + '{"a" 1} {"b": 1}',
        'x {"a":1,} {"b":1}',
    ):
        refused(text)


def test_size_is_bounded() -> None:
    refused("x" * (MAX_CHARS + 1) + '{"a": 1}', "characters")
