"""Automata: the same answers as the plain definition, in work that the text's length bounds."""

from __future__ import annotations

import dataclasses
import sys
import threading
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import TEXTS, ends, matches, one, trees

from apisurface import automata
from apisurface.automata import (
    WORD_CHARS,
    Automaton,
    Chars,
    Choice,
    Edge,
    Look,
    Repeat,
    Series,
    Tree,
    is_anchored,
    tree_size,
)

NESTED = Series((Edge("start"), Repeat(Repeat(one("a"), 1, None), 1, None), Edge("end")))
RANGES = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 40)).map(lambda pair: tuple(sorted(pair)))
)


# --- sets of characters ------------------------------------------------------------


@given(RANGES, RANGES)
def test_sets_behave_like_sets(
    left: list[tuple[int, int]], right: list[tuple[int, int]]
) -> None:
    def plain(ranges: list[tuple[int, int]]) -> set[int]:
        return {point for low, high in ranges for point in range(low, high + 1)}

    a, b = Chars.of(*left), Chars.of(*right)
    for point in range(-1, 43):
        assert (point in a) == (point in plain(left))
        assert (point in (a | b)) == (point in plain(left) | plain(right))
        assert (point in ~a) == (point >= 0 and point not in plain(left))
    assert ~~a == a
    assert (a == b) == (plain(left) == plain(right))


def test_ranges_that_touch_are_one_and_the_ends_of_unicode_are_kept() -> None:
    assert Chars.of((3, 5), (0, 2)).ranges == ((0, 5),)
    assert Chars.of((0, 9), (2, 3)).ranges == ((0, 9),)
    assert Chars.of((0, 2), (4, 5)).ranges == ((0, 2), (4, 5))
    assert (~Chars(())).ranges == ((0, 0x10FFFF),)
    assert (~Chars.of((0, 0x10FFFF))).ranges == ()
    assert (~Chars.of((0, 0), (0x10FFFF, 0x10FFFF))).ranges == ((1, 0x10FFFE),)
    assert 0x10FFFF in ~Chars(())
    assert -1 not in ~Chars(())
    assert [chr(p) for p in range(128) if p in WORD_CHARS] == [
        c for c in map(chr, range(128)) if c.isalnum() or c == "_"
    ]


# --- answers -----------------------------------------------------------------------


@given(trees(), TEXTS)
def test_it_finds_what_the_definition_finds(tree: Tree, text: str) -> None:
    assert Automaton(tree).search(text) == matches(tree, text)


@given(trees(), st.lists(TEXTS, max_size=4))
def test_a_used_automaton_answers_like_a_new_one(tree: Tree, texts: list[str]) -> None:
    used = Automaton(tree)
    assert [used.search(text) for text in texts] == [Automaton(tree).search(t) for t in texts]


@given(trees(), TEXTS)
def test_truths_say_where_a_match_ends_and_backward_where_one_begins(
    tree: Tree, text: str
) -> None:
    places = range(len(text) + 1)
    found = [ends(tree, text, at) for at in places]
    assert Automaton(tree, backward=True).truths(text) == [bool(each) for each in found]
    assert Automaton(tree).truths(text) == [any(at in each for each in found) for at in places]


@given(trees(), TEXTS)
def test_forgetting_changes_no_answer(tree: Tree, text: str) -> None:
    with mock.patch.object(automata, "_REMEMBERED", 3):
        automaton = Automaton(tree)
        assert automaton.search(text) == matches(tree, text)
        assert len(automaton.states) <= 4


def test_characters_beyond_the_first_plane_and_half_characters() -> None:
    smile = one("\U0001f600")
    two = Automaton(Series((Edge("start"), smile, ~smile, Edge("end"))))
    assert two.search("\U0001f600\ud83d")
    assert not two.search("\U0001f600\U0001f600")


def test_more_kinds_of_characters_than_are_remembered() -> None:
    automaton = Automaton(Series((one("a"), one("b"))))
    assert not automaton.search("".join(map(chr, range(0x100, 0x2200))))
    assert len(automaton.kinds) <= 4_096
    assert automaton.search("".join(map(chr, range(0x100, 0x2200))) + "ab")


def test_equal_looks_are_asked_once() -> None:
    look = Look(one("a"), behind=False, negated=False)
    assert len(Automaton(Series((look, Repeat(Series((look, one("a"))), 3, 3)))).judges) == 1


# --- work --------------------------------------------------------------------------


@given(trees(), st.integers(1, 6), TEXTS)
def test_the_work_is_bounded_by_size_times_length(tree: Tree, times: int, text: str) -> None:
    def work(automaton: Automaton) -> int:
        return automaton.work + sum(map(work, automaton.judges))

    automaton = Automaton(tree)
    automaton.search(text * times)
    assert work(automaton) <= (2 + tree_size(tree)) * 3 * (len(text) * times + 1)


@given(trees(looks=False))
def test_the_size_is_known_beforehand(tree: Tree) -> None:
    built = len(Automaton(tree).net.places)
    assert built <= 4 + 2 * tree_size(tree)


def test_a_nested_loop_takes_no_more_work_for_a_longer_text() -> None:
    works = []
    for length in (10, 1_000, 50_000):
        automaton = Automaton(NESTED)
        assert not automaton.search("a" * length + "!")
        works.append(automaton.work)
    assert works[0] == works[1] == works[2]


def test_an_anchored_pattern_gives_up_where_nothing_can_match_any_more() -> None:
    assert len(list(Automaton(NESTED).run("b" * 1_000))) == 1
    assert len(list(Automaton(one("a")).run("b" * 1_000))) == 1_001


def test_states_are_forgotten_before_they_fill_the_memory() -> None:
    ab = one("a") | one("b")
    behind = Automaton(Series((one("a"), Repeat(ab, 60, 60), Edge("end"))))
    value, text = 1, ""
    for _ in range(6_000):
        value = value * 1103515245 + 12345 & 0x7FFFFFFF
        text += "ab"[value >> 16 & 1]
    behind.search(text)
    kept = sum(len(state.places) for state in behind.states.values())
    assert behind.work > automata._REMEMBERED
    assert kept <= automata._REMEMBERED


def test_forgotten_states_do_not_keep_each_other() -> None:
    automaton = Automaton(Series((one("a"), one("b"), one("c"))))
    first = automaton.state(frozenset([automaton.net.first]), None)
    assert not automaton.search("ab")
    assert first
    automaton.limit = 0
    assert not automaton.search("abab")
    assert not first
    assert all(each is not first for each in automaton.states.values())


def test_looks_in_loops_cost_a_pass_each_and_not_more() -> None:
    deep: Tree = one("a")
    for _ in range(20):
        deep = Look(Repeat(Series((deep, one("a"))), 0, None), behind=False, negated=True)
    automaton = Automaton(Series((deep, one("b"))))
    assert isinstance(automaton.search("a" * 200 + "b"), bool)


def test_threads_share_an_automaton() -> None:
    tree = Series((Repeat(Choice((one("a"), one("b"))), 0, None), one("c"), Edge("end")))
    with mock.patch.object(automata, "_REMEMBERED", 50):
        automaton = Automaton(tree)
        wrong: list[str] = []

        def ask(sign: str) -> None:
            for length in range(60):
                if automaton.search(sign * length + "c") is not True:
                    wrong.append(sign)
                if automaton.search("c" * length + sign):
                    wrong.append(sign)

        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-5)
        try:
            threads = [threading.Thread(target=ask, args=(sign,)) for sign in "abab"]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(before)
    assert wrong == []


# --- what is said about trees ------------------------------------------------------


@given(trees(), TEXTS)
def test_an_anchored_tree_matches_from_the_start_or_not_at_all(tree: Tree, text: str) -> None:
    if is_anchored(tree):
        assert not any(ends(tree, text, at) for at in range(1, len(text) + 1))


@pytest.mark.parametrize(
    ("tree", "anchored"),
    [
        (Edge("start"), True),
        (Edge("end"), False),
        (Series((Edge("start"), one("a"))), True),
        (Series((one("a"), Edge("start"))), False),
        (Series(()), False),
        (Choice((NESTED, Edge("start"))), True),
        (Choice((NESTED, one("a"))), False),
        (Choice(()), False),
        (Repeat(Edge("start"), 0, 1), False),
    ],
)
def test_what_is_anchored(tree: Tree, anchored: bool) -> None:
    assert is_anchored(tree) is anchored


def test_the_size_of_counts() -> None:
    a = one("a")
    assert tree_size(a) == 1
    assert tree_size(Repeat(a, 0, 1_000)) == tree_size(Repeat(a, 1_000, 1_000)) == 2_001
    assert tree_size(Repeat(a, 3, None)) == 9
    assert tree_size(Repeat(Repeat(a, 1, 1_000), 1, 1_000)) > 2_000_000
    assert tree_size(Look(Series((a, a)), behind=True, negated=False)) == 4
    assert tree_size(Choice((a, Edge("end")))) == 3


@pytest.mark.parametrize("kind", [Chars, Series, Choice, Repeat, Edge, Look])
def test_trees_are_values(kind: type) -> None:
    a = one("a")
    parts = (a, one("b"))
    made = {
        Chars: lambda: Chars(((1, 2),)),
        Series: lambda: Series(parts),
        Choice: lambda: Choice(parts),
        Repeat: lambda: Repeat(a, 1, 2),
        Edge: lambda: Edge("end"),
        Look: lambda: Look(a, behind=True, negated=False),
    }[kind]
    assert len({made(), made()}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        made().part = a


def test_the_position_of_a_quantifier_is_no_part_of_a_tree() -> None:
    assert Repeat(one("a"), 1, 2, 5) == Repeat(one("a"), 1, 2)
    assert hash(Repeat(one("a"), 1, 2, 5)) == hash(Repeat(one("a"), 1, 2))
