"""The protocol of the exercises: what is right, untried, known to be wrong, or misdeclared."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apisurface.exercises import Exercise, Mistake, Raises, check


def snippet(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def mark_on_top(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "…"


def always_marked(text: str, limit: int) -> str:
    return text[: limit - 1] + "…"


PROBES: dict[str, Callable[[Any], Any]] = {
    "fits": lambda f: f("502", 10),
    "border": lambda f: f("0123456789", 10),
    "one too long": lambda f: f("0123456789A", 10),
}
EXPECTED: dict[str, Any] = {
    "fits": "502",
    "border": "0123456789",
    "one too long": "012345678…",
}
MISTAKES = {
    "mark on top": Mistake(mark_on_top, "The mark is a part of the result."),
    "always marked": Mistake(always_marked, "The mark says that something was cut."),
}


def exercise(**changes: Any) -> Exercise:
    parts: dict[str, Any] = {
        "name": "Exercise 7",
        "probes": PROBES,
        "expected": EXPECTED,
        "mistakes": MISTAKES,
        "lesson": "Never more than the limit.",
    }
    return Exercise(**(parts | changes))


def one_result(result: Any, expected: Any) -> str:
    """The verdict's state for an answer that gives `result` where `expected` is right."""
    asked = exercise(
        probes={"value": lambda f: f()},
        expected={"value": expected},
        mistakes={
            "text": Mistake(lambda: "never this", "why"),
            "bytes": Mistake(lambda: b"nor this", "why"),
        },
    )
    return check(asked, lambda: result).state


# --- the four answers -----------------------------------------------------------------


def test_right() -> None:
    verdict = check(exercise(), snippet)
    assert (verdict.state, verdict.passed, verdict.mistake) == ("right", True, None)
    assert verdict
    assert repr(verdict) == "Exercise 7: right.\nNever more than the limit."


def test_a_known_mistake_is_named_with_its_reason_and_the_first_probe_it_fails() -> None:
    verdict = check(exercise(), mark_on_top)
    assert (verdict.state, verdict.passed, verdict.mistake) == ("wrong", False, "mark on top")
    assert not verdict
    assert repr(verdict) == (
        "Exercise 7: wrong. A known mistake: mark on top.\n"
        "The mark is a part of the result.\n\n"
        "Probe:    one too long\n"
        "Got:      '0123456789…'\n"
        "Expected: '012345678…'\n\n"
        "Probes that fail: 1 of 3. Change your answer and run the cell again."
    )


def test_a_mistake_is_known_by_what_it_does_not_by_how_it_is_written() -> None:
    def other_clothes(message: str, room: int) -> str:
        kept = ""
        for character in message:
            if len(kept) == room:
                return kept + "\u2026"
            kept += character
        return kept

    assert check(exercise(), other_clothes).mistake == "mark on top"


def test_two_mistakes_at_once_are_shown_as_evidence() -> None:
    verdict = check(exercise(), lambda text, limit: text[:limit] + "…")
    assert (verdict.state, verdict.mistake) == ("wrong", None)
    assert "Probe:    fits\nGot:      '502…'\nExpected: '502'" in repr(verdict)
    assert "Probes that fail: 3 of 3." in repr(verdict)


class Stub:
    def feed(self, chunk: str) -> Any: ...


@pytest.mark.parametrize(
    "stub",
    [
        ...,
        None,
        [...],
        {"a": ..., "b": ...},
        (None, [...]),
        lambda text, limit: None,
        lambda text, limit: ...,
        lambda *_: [..., ...],
    ],
)
def test_an_untouched_stub_is_answered_kindly(stub: Any) -> None:
    verdict = check(exercise(), stub)
    assert (verdict.state, verdict.passed, verdict.mistake) == ("untried", False, None)
    assert "not tried yet" in repr(verdict)
    assert "wrong" not in repr(verdict)


def test_a_stub_is_known_when_the_probe_chokes_on_it() -> None:
    asked = exercise(
        probes={
            "length": lambda f: len(f("502", 10)),
            "is it text?": lambda f: isinstance(f("502", 10), str),
        },
        expected={"length": 3, "is it text?": True},
        mistakes={
            "a list": Mistake(lambda text, limit: list(text), "why"),
            "one short": Mistake(lambda text, limit: text[1:], "why"),
        },
    )
    assert check(asked, lambda text, limit: ...).state == "untried"
    assert check(asked, lambda text, limit: None).state == "untried"
    assert check(asked, lambda text, limit: len(None)).state == "wrong"  # type: ignore[arg-type]
    assert check(asked, lambda text, limit: 3).state == "wrong"


def test_a_class_can_be_the_answer_and_its_stub_is_known() -> None:
    class Doubler:
        def feed(self, chunk: str) -> Any:
            return chunk * 2

    def fed(answer: Any) -> list[Any]:
        made = answer()
        return [made.feed("a"), made.feed("b")]

    mistakes = {
        "once": Mistake(lambda: type("Once", (), {"feed": lambda self, c: c})(), "why"),
        "thrice": Mistake(lambda: type("Thrice", (), {"feed": lambda self, c: c * 3})(), "why"),
    }
    asked = exercise(probes={"two": fed}, expected={"two": ["aa", "bb"]}, mistakes=mistakes)
    assert check(asked, Doubler).passed
    assert check(asked, Stub).state == "untried"


def test_a_plain_value_is_what_the_probe_gets() -> None:
    asked = exercise(
        probes={"order": sorted, "how many": len},
        expected={"order": [1, 2], "how many": 2},
        mistakes={"one": Mistake([1], "why"), "three": Mistake([1, 2, 3], "why")},
    )
    assert check(asked, {2, 1}).passed
    assert check(asked, ...).state == "untried"
    assert check(asked, [3, 2, 1]).mistake == "three"
    assert "TypeError" in repr(check(asked, 5))


# --- what an answer may do ------------------------------------------------------------


def test_what_an_answer_raises_is_told_not_raised() -> None:
    verdict = check(exercise(), lambda text, limit: {}[text])
    assert verdict.state == "wrong"
    assert "Got:      KeyError: '502'" in repr(verdict)


def test_the_wrong_number_of_parameters_is_told() -> None:
    assert "takes 0 positional arguments but 2 were given" in repr(
        check(exercise(), lambda: "")
    )


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def raising(error: BaseException) -> Callable[..., Any]:
    def answer(*_: Any) -> Any:
        raise error

    return answer


@pytest.mark.parametrize(
    "error", [Unprintable(), SystemExit(1), RecursionError(), MemoryError(), ValueError("x\ny")]
)
def test_any_error_of_an_answer_is_told_in_one_line(error: BaseException) -> None:
    told = repr(check(exercise(), raising(error)))
    got = next(line for line in told.splitlines() if line.startswith("Got:"))
    assert type(error).__name__ in got
    assert told.count("\n") == 6


def test_a_bottomless_answer_is_told() -> None:
    def deeper(*arguments: Any) -> Any:
        return deeper(*arguments)

    assert "RecursionError" in repr(check(exercise(), deeper))


def test_an_interrupt_reaches_the_reader() -> None:
    with pytest.raises(KeyboardInterrupt):
        check(exercise(), raising(KeyboardInterrupt()))


def test_what_an_answer_prints_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    def chatty(text: str, limit: int) -> str:
        print(len(text))
        return snippet(text, limit)

    assert check(exercise(), chatty).passed
    assert capsys.readouterr().out == "3\n10\n11\n"


def test_an_answer_that_changes_its_input_harms_nobody() -> None:
    def pops(items: list[int]) -> int:
        return items.pop()

    asked = exercise(
        probes={"last": lambda f: f([1, 2]), "last again": lambda f: f([1, 2])},
        expected={"last": 2, "last again": 2},
        mistakes={
            "first": Mistake(lambda items: items.pop(0), "why"),
            "none left": Mistake(lambda items: items.clear() or 0, "why"),
        },
    )
    assert check(asked, pops).passed
    assert check(asked, pops).passed


class Hostile:
    """Refuses to be compared or shown."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("not comparable")

    def __repr__(self) -> str:
        raise RuntimeError("not printable")


class Array:
    """Answers a comparison with many answers, as arrays do."""

    def __eq__(self, other: object) -> Any:
        return Array()

    def __bool__(self) -> bool:
        raise ValueError("ambiguous")


LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize("result", [Hostile(), Array(), [Hostile()], LOOP, iter([1]), 10**400])
def test_results_that_cannot_be_compared_are_wrong(result: Any) -> None:
    assert one_result(result, 1.0) == "wrong"
    assert one_result(result, [1]) == "wrong"
    assert "Hostile" not in repr(check(exercise(), lambda *_: 1))


def test_what_cannot_be_shown_is_named_by_its_type() -> None:
    assert "Got:      <Hostile>" in repr(check(exercise(), lambda *_: Hostile()))


# --- when two results are the same ----------------------------------------------------


@dataclass
class Point:
    x: float
    label: str = ""


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (0.1 + 0.2, 0.3),
        (1, 1.0),
        (math.nan, math.nan),
        (math.inf, math.inf),
        (1e-13, 0.0),
        ({"a": [0.1 + 0.2, (math.nan,)]}, {"a": [0.3, (math.nan,)]}),
        (Point(0.1 + 0.2), Point(0.3)),
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
        ({1, 2}, frozenset([2, 1])),
        (10**400, 10**400),
        (int, int),
        (Point, Point),
    ],
)
def test_the_same(got: Any, expected: Any) -> None:
    assert one_result(got, expected) == "right"


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (True, 1),
        (1, True),
        (0.0, False),
        ([True], [1]),
        ({"a": {"b": False}}, {"a": {"b": 0}}),
        ((1, 2), [1, 2]),
        ("1", 1),
        (b"a", "a"),
        (0.3001, 0.3),
        (math.nan, 0.0),
        (math.nan, None),
        (math.inf, -math.inf),
        ([1, 2], [1, 2, 3]),
        ([1, 2, 3], [1, 2]),
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"a": 1}),
        (Point(1.0), Point(1.0, "x")),
        (Point(1.0), (1.0, "")),
        (Point, Point(1.0)),
        ([], 0),
        ("", 0),
    ],
)
def test_not_the_same(got: Any, expected: Any) -> None:
    if expected is not None:
        assert one_result(got, expected) == "wrong"
    assert one_result(expected, got) != "right"


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text() | st.integers(), inner)
    ),
    max_leaves=8,
)


@settings(max_examples=60)
@given(PLAIN)
def test_a_value_is_the_right_answer_to_itself(value: Any) -> None:
    asked = exercise(
        probes={"wrapped": lambda answer: ("result", answer)},
        expected={"wrapped": ("result", value)},
        mistakes={
            "bytes": Mistake(b"never", "why"),
            "other bytes": Mistake(b"nor this", "why"),
        },
    )
    assert check(asked, value).passed


@settings(max_examples=60)
@given(PLAIN, PLAIN)
def test_a_verdict_is_always_given_and_always_short(value: Any, expected: Any) -> None:
    asked = exercise(
        probes={"wrapped": lambda answer: ("result", answer)},
        expected={"wrapped": ("result", expected)},
        mistakes={
            "bytes": Mistake(b"never", "why"),
            "other bytes": Mistake(b"nor this", "why"),
        },
    )
    verdict = check(asked, value)
    assert verdict.state in {"untried", "wrong", "right"}
    assert verdict.passed == (verdict.state == "right")
    assert len(repr(verdict)) < 1_000


# --- probes that have to fail ---------------------------------------------------------


def strict(limit: int) -> int:
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    return limit


def must_raise(text: str = "") -> Exercise:
    return exercise(
        probes={"one": lambda f: f(1), "nothing": lambda f: f(0)},
        expected={"one": 1, "nothing": Raises(ValueError, text)},
        mistakes={
            "lets it through": Mistake(lambda limit: limit, "why"),
            "another error": Mistake(lambda limit: limit // limit, "why"),
        },
    )


def test_a_probe_can_expect_an_error() -> None:
    assert check(must_raise(), strict).passed
    assert check(must_raise("at least 1"), strict).passed
    assert check(must_raise(), lambda limit: limit).mistake == "lets it through"
    verdict = check(must_raise("at most"), strict)
    assert verdict.state == "wrong"
    assert "Expected: ValueError with 'at most' in its text" in repr(verdict)


def test_a_subclass_of_the_expected_error_is_right() -> None:
    def own_error(limit: int) -> int:
        return strict(limit) if limit else int(b"\xff".decode())  # UnicodeDecodeError

    assert check(must_raise(), own_error).passed


# --- what the reader sees -------------------------------------------------------------


def evidence(result: Any, expected: Any) -> str:
    asked = exercise(
        probes={"value": lambda f: f()},
        expected={"value": expected},
        mistakes={"a": Mistake(lambda: "A", "why"), "b": Mistake(lambda: "B", "why")},
    )
    return repr(check(asked, lambda: result))


@pytest.mark.parametrize(
    ("got", "expected", "place"),
    [
        (
            {"usage": {"total": 57}},
            {"usage": {"total": 58}},
            "result['usage']['total'] is 57, expected 58",
        ),
        ([3, 1], [3, 1, 2], "result[2] is missing"),
        ([3, 1, 2], [3, 1], "result[2] is one too many"),
        ({"a": 1}, {"b": 1}, "result['b'] is missing"),
        (Point(1.0), Point(2.0), "result.x is 1.0, expected 2.0"),
        (
            "x" * 90 + "here",
            "x" * 90 + "there",
            "result goes on with 'here' from index 90, expected 'there'",
        ),
        ("x" * 90, "x" * 91, "result goes on with '' from index 90, expected 'x'"),
        ([True], [1], "result[0] is True, expected 1"),
    ],
)
def test_the_place_where_results_part_is_named(got: Any, expected: Any, place: str) -> None:
    assert f"Place:    {place}\n" in evidence(got, expected)


def test_no_place_is_named_where_both_results_say_it() -> None:
    assert "Place:" not in evidence(3, 4)
    assert "Place:" not in evidence((1, 2), [1, 2])


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (snippet, "<function snippet>"),
        ([snippet], "[<function snippet>]"),
        (object(), "<object object>"),
        ({"b", "a"}, "set(['a', 'b'])"),
        ({"k": frozenset(["b", "a"])}, "{'k': frozenset(['a', 'b'])}"),
        ((0.1 + 0.2,), "(0.3,)"),
        (math.nan, "nan"),
        ("\ud800", "'\\ud800'"),
        (list(range(500)), "497, 498, 499]"),
    ],
)
def test_values_are_shown_alike_on_every_run(value: Any, shown: str) -> None:
    told = evidence(value, "something else")
    assert shown in told
    assert not re.search(r"0x[0-9a-f]", told)
    assert max(map(len, told.splitlines())) <= 130


def test_the_text_does_not_depend_on_the_hash_seed() -> None:
    program = (
        "from apisurface.exercises import *\n"
        "from apisurface.exercises import check\n"
        "e = Exercise('E', {'p': lambda f: f()}, {'p': 1}, {'a': Mistake(lambda: 2, 'w'),"
        " 'b': Mistake(lambda: 3, 'w')}, 'l')\n"
        "print(check(e, lambda: {'p', 'q', 'r', 's'}), check(e, lambda: {'f': check}))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(told) == 1
    assert "set(['p', 'q', 'r', 's'])" in told.pop()


# --- an exercise that would mislead is refused ----------------------------------------


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"expected": {"fits": "502", "bordr": "0123456789"}},
            "only one of probes and expected has ['border', 'bordr', 'one too long']: give",
        ),
        ({"mistakes": {}}, "mistakes holds 0: catalogue at least two"),
        ({"mistakes": {"mark on top": MISTAKES["mark on top"]}}, "mistakes holds 1: catalogue"),
        ({"lesson": " "}, "the lesson is empty: say what makes an answer right"),
        (
            {"mistakes": MISTAKES | {"none": Mistake(snippet, "why")}},
            "mistake 'none' is taken for 'right': add a probe",
        ),
        (
            {"mistakes": MISTAKES | {"twin": Mistake(always_marked, "why")}},
            "mistake 'twin' is taken for 'always marked': add a probe that parts the two",
        ),
        (
            {"mistakes": MISTAKES | {"idle": Mistake(lambda text, limit: None, "why")}},
            "mistake 'idle' is taken for 'untried': add a probe",
        ),
        (
            {"mistakes": MISTAKES | {"curt": Mistake(lambda text, limit: "", " ")}},
            "mistake 'curt' has no why",
        ),
        (
            {"mistakes": MISTAKES | {"moody": Mistake(lambda *_: object(), "why")}},
            "mistake 'moody' behaves differently the second time: let the probes build",
        ),
        (
            {"probes": {"p": lambda f: f is f}, "expected": {"p": True}},
            "an empty stub is right: add a probe that it fails",
        ),
        ({"probes": {}, "expected": {}}, "an empty stub is right"),
    ],
)
def test_a_misdeclared_exercise_is_refused(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValueError, match="Exercise 7 would mislead its readers:") as caught:
        exercise(**changes)
    assert f"\n- {fault}" in str(caught.value)


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(ValueError, match="mislead") as caught:
        exercise(lesson="", mistakes={"none": Mistake(snippet, "")})
    assert str(caught.value).count("\n- ") == 4


def test_inputs_shared_between_probes_are_refused() -> None:
    shared = [3, 1, 2]

    def sorts_in_place(items: list[int]) -> list[int]:
        items.append(0)
        return list(items)

    with pytest.raises(ValueError, match="the second time: let the probes build their inputs"):
        exercise(
            probes={"shared": lambda f: f(shared)},
            expected={"shared": [1, 2, 3]},
            mistakes={
                "in place": Mistake(sorts_in_place, "why"),
                "reversed": Mistake(lambda items: items[::-1], "why"),
            },
        )


def test_an_exercise_does_not_show_its_answers() -> None:
    assert repr(exercise()) == "Exercise(name='Exercise 7')"
    assert repr(MISTAKES["mark on top"]) == "Mistake(why='The mark is a part of the result.')"


def test_a_long_value_is_shown_by_both_of_its_ends():
    text = "".join(chr(0x100 + n) for n in range(400))
    exercise = Exercise(
        "Exercise 9",
        {"the text": lambda answer: answer},
        {"the text": "short"},
        {"upper": Mistake("SHORT", "No."), "twice": Mistake("shortshort", "No.")},
        "Yes.",
    )
    [line] = [row for row in repr(check(exercise, text)).splitlines() if row.startswith("Got:")]
    shown = line.removeprefix("Got:").strip()
    assert shown.startswith(repr(text)[:80])
    assert shown.endswith(repr(text)[-37:])
    assert len(shown) == 120
