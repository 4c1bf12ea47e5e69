"""compile_pattern: the fast path and the automaton agree, and neither can be made slow."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from trees import EDGES, TEXTS, matches, one, trees

from apisurface.automata import (
    Automaton,
    Chars,
    Choice,
    Edge,
    Look,
    Repeat,
    Series,
    Tree,
    tree_size,
)
from apisurface.patterns import (
    MAX_PLACES,
    UnsupportedPattern,
    _harmless,
    _price,
    _python,
    compile_pattern,
    parse_pattern,
)

NOTHING = Chars(())
TOO_MUCH = 10**9
PLAIN = trees(looks=False)
ANNOYING = TEXTS | st.builds(
    lambda piece, times, end: piece * times + end,
    st.sampled_from(["a", "b", "ab", "a-", "aab", "-"]),
    st.integers(0, 12),
    st.sampled_from(["", "!", "b", "-", "c"]),
)


def counted(tree: Tree, text: str) -> int:
    """Count the characters and places that a backtracking matcher tries from the start."""
    steps = 0

    def ends(tree: Tree, at: int) -> Iterator[int]:
        nonlocal steps
        match tree:
            case Chars():
                steps += 1
                if at < len(text) and ord(text[at]) in tree:
                    yield at + 1
            case Edge():
                steps += 1
                if matches_at(tree, at):
                    yield at
            case Series(parts):
                yield from series(parts, at)
            case Choice(parts):
                for part in parts:
                    yield from ends(part, at)
            case Repeat(part, low, high):
                yield from turns(part, low, high, 0, at)

    def matches_at(edge: Edge, at: int) -> bool:
        places = {"start": at == 0, "end": at == len(text)}
        return places.get(edge.kind, True)

    def series(parts: tuple[Tree, ...], at: int) -> Iterator[int]:
        if not parts:
            yield at
            return
        for end in ends(parts[0], at):
            yield from series(parts[1:], end)

    def turns(part: Tree, low: int, high: int | None, done: int, at: int) -> Iterator[int]:
        if done != high:
            for end in ends(part, at):
                if end > at or done < low:
                    yield from turns(part, low, high, done + 1, end)
        if done >= low:
            yield at

    for _ in ends(tree, 0):
        break
    return steps


# --- answers -----------------------------------------------------------------------


@given(PLAIN, TEXTS)
def test_the_way_through_re_finds_what_the_definition_finds(tree: Tree, text: str) -> None:
    assert bool(re.search(_python(tree), text, re.ASCII)) == matches(tree, text)


def test_every_set_can_be_written_for_re() -> None:
    for point in [*range(256), 0x2028, 0xD800, 0x1F600, 0x10FFFF]:
        for chars in (Chars.of((point, point)), ~Chars.of((point, point))):
            for text in (chr(point), chr((point + 1) % 0x110000)):
                found = bool(re.fullmatch(_python(chars), text, re.ASCII))
                assert found == (ord(text) in chars)
    signs = Chars.of(*((ord(sign), ord(sign)) for sign in "[]^-\\&~|#"))
    assert re.findall(_python(signs), "a[]^-\\&~|#b") == list("[]^-\\&~|#")


def test_b110_a_line_break_behind_the_end_is_refused() -> None:
    assert compile_pattern("^[a-z]+$")("abc") is True
    assert compile_pattern("^[a-z]+$")("abc\n") is False
    assert compile_pattern("^([a-z]+)+$")("abc\n") is False


def test_b112_a_pattern_is_a_search() -> None:
    assert compile_pattern("b")("abc") is True
    assert compile_pattern("")("") is True


def test_edges_of_words_are_those_of_ascii_on_both_ways() -> None:
    for pattern in (r"\ba\b", r"(?=a)\ba\b"):
        assert compile_pattern(pattern)("éaé")
        assert not compile_pattern(pattern)("_a_")
    for pattern in (r"^\B$", r"(?=)^\B$"):
        assert compile_pattern(pattern)("")


def test_a_compiled_pattern_is_remembered() -> None:
    assert compile_pattern("^once$") is compile_pattern("^once$")


# --- the price ---------------------------------------------------------------------


@given(trees(looks=False, edges=EDGES.filter(lambda e: e.kind in ("start", "end"))), ANNOYING)
@example(Repeat(Repeat(one("a"), 1, None), 1, None), "aaaaaaaaaaaa!")
def test_no_text_costs_more_than_the_price(tree: Tree, text: str) -> None:
    _, price = _price(tree, NOTHING, len(text))
    assume(price < 10**6)
    assert counted(tree, text) <= 2 * tree_size(tree) * price


@given(PLAIN, st.sampled_from(["a", "b", "ab", "a-", "aab"]), st.sampled_from(["", "!", "c"]))
def test_what_is_harmless_grows_with_the_text_and_not_faster(
    tree: Tree, piece: str, end: str
) -> None:
    tree = Series((Edge("start"), tree))
    assume(_harmless(tree))
    short, long = (counted(tree, piece * times + end) for times in (40, 80))
    assert long <= 2.5 * short + 200


@pytest.mark.parametrize(
    ("pattern", "harmless"),
    [
        (r"^T-[0-9]{3}$", True),
        (r"^[a-z]+-[a-z]+$", True),
        (r"^[a-z]+(\.[a-z]+)*$", True),
        (r"^.*\.json$", True),
        (r"^.{0,4096}$", True),
        (r"a|b", True),
        (r"^(?:a|b)+$", True),
        (r"^(a*)$", True),
        (r"^(a*|b*)c$", True),  # two ways to be empty, once
        (r"^(a*|b*){3}c$", False),
        (r"(?:a?|b?){9}[]", False),
        (r"^a*a{0,60}$", True),  # sixty ways to give back, from one beginning
        (r"^a*a{0,160}$", False),
        (r"a*a{0,60}$", False),
        (r"^a*a*$", False),
        (r"^a*a[ab]*$", False),
        (r"^(a|a)*$", False),
        (r"^(a?){3}$", False),
        (r"^(a|ab)(c|bcd)(d*)$", True),
        (r"a*", False),
        (r"\s+$", False),
        (r"^(a+)+$", False),
        (r"^(ab|a)*$", False),
        (r"[a-z]{1000}!", False),
        (r"^(?=a)a$", False),
        (r"^(a|b|ab|ba){9}$", False),
    ],
)
def test_which_patterns_may_be_given_to_re(pattern: str, harmless: bool) -> None:
    assert _harmless(parse_pattern(pattern)) is harmless


@pytest.mark.parametrize(
    ("pattern", "ways", "steps"),
    [
        ("a", 1, 1),
        ("^a$", 1, 4),
        ("ab", 1, 3),
        ("(a|b)c", 1, 5),
        ("(a|ab)c", 2, 9),
        ("(?:[a-c]|[b-d])e", 2, 7),
        ("(?:[a-c]|[c-d])e", 2, 7),
        ("a?|b?", 2, 5),
        ("(a?|b?)c", 2, 9),
        ("(a|ab){2}c", TOO_MUCH, TOO_MUCH),
        ("a*", 1, 11),
        ("a*b", 1, 13),
        ("a*a", 11, 33),
        ("a{0}", 1, 1),
        ("a{2}a", 1, 5),
        ("a{2,5}a", 4, 14),
        ("(ab){3}", 1, 10),
        ("(ab){2,3}", 1, 10),
        ("(ab){20}", 1, 33),  # more turns than the text has room for
        ("(abc)*d", 1, 46),
        ("(a|b){4}", 1, 13),
        ("(a*a){1}", 11, 34),
        ("(a*a){2}", TOO_MUCH, TOO_MUCH),
        ("a{1,900000000}a", 10, 31),
        ("a{20,900000000}a", 1, 13),
        ("a{900000000}b", 1, 13),
        ("(?=a)", TOO_MUCH, TOO_MUCH),
    ],
)
def test_the_price_of_parts_in_a_text_of_ten(pattern: str, ways: int, steps: int) -> None:
    assert _price(parse_pattern(pattern), NOTHING, 10) == (ways, steps)


# --- bounds ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern",
    [r"^(a+)+$", r"^(a|a)*$", r"^(a|aa)+$", r"(a*)*b", r"(.*a){12}", r"^(?!(a+)+$)a*$"],
)
def test_a_catastrophic_pattern_is_answered(pattern: str) -> None:
    assert compile_pattern(pattern)("a" * 3_000 + "!") in (True, False)
    assert isinstance(compile_pattern(pattern).__self__, Automaton)  # type: ignore[attr-defined]


def test_twice_the_text_is_no_more_work_for_an_automaton_that_knows_its_states() -> None:
    works = []
    for length in (1_000, 2_000):
        automaton = Automaton(parse_pattern(r"(x+x+)+y"))
        assert not automaton.search("x" * length)
        works.append(automaton.work)
    assert works[0] == works[1]


@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        ("(a{1,1000}){1,1000}", 11),
        ("x(?=(ab?){2000})", 9),
        ("(a|aa){1,900000000}", 6),
        ("((a{1,40}b?){1,40}c?){1,40}$", 21),
        ("(a?)" * 900, 0),
    ],
)
def test_counts_that_multiply_are_refused_where_they_stand(pattern: str, position: int) -> None:
    with pytest.raises(UnsupportedPattern, match="use smaller counts") as caught:
        compile_pattern(pattern)
    assert caught.value.pattern == pattern
    if position:
        assert caught.value.position == position
    assert str(MAX_PLACES) in caught.value.reason


def test_a_count_of_any_size_is_fine_where_nothing_is_given_back() -> None:
    long = compile_pattern("^[a-z]{1,900000000}$")
    assert long("a" * 100)
    assert not long("")


def test_a_long_hostile_pattern_is_judged_in_bounded_time() -> None:
    nullable = "".join(f"{chr(0x4E00 + 2 * n)}?" for n in range(2_400))
    with pytest.raises(UnsupportedPattern):
        compile_pattern(nullable + "^")
    choice = "|".join(chr(0x4E00 + n) for n in range(4_500))
    assert compile_pattern(f"^({choice})$")("\u4e01")


def test_look_around_goes_to_the_automaton() -> None:
    password = compile_pattern(r"^(?=.*\d)(?=.*[a-z])(?!.*\s).{8,}$")
    assert [password(text) for text in ("abcdefg1", "abcdefgh", "abc defg1", "abc1")] == [
        *(True, False, False, False)
    ]
    assert isinstance(parse_pattern("(?<=a)"), Look)
    assert compile_pattern(r"(?<=^v?|\sv?)\d+\.\d+")("see v1.2")
    assert compile_pattern("^((?!secret).)*$")("nothing here")
    assert not compile_pattern("^((?!secret).)*$")("a secret here")
