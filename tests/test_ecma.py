"""ECMA-262 patterns: read as the standard has them, refused at the place where they go wrong."""

from __future__ import annotations

import pickle
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apisurface import BoundaryError
from apisurface.automata import Automaton, Chars, Choice, Edge, Look, Repeat, Series
from apisurface.ecma import MAX_GROUPS, MAX_PATTERN, UnsupportedPattern, parse_pattern


def refused(pattern: str) -> UnsupportedPattern:
    with pytest.raises(UnsupportedPattern) as caught:
        parse_pattern(pattern)
    return caught.value


def says(pattern: str, text: str) -> bool:
    return Automaton(parse_pattern(pattern)).search(text)


def held(pattern: str) -> str:
    """Return the characters below 256 that a pattern of one set holds."""
    chars = parse_pattern(pattern)
    assert isinstance(chars, Chars)
    return "".join(chr(point) for point in range(256) if point in chars)


# --- what is read ------------------------------------------------------------------


def test_the_shapes_of_trees() -> None:
    a, b = Chars.of((97, 97)), Chars.of((98, 98))
    assert parse_pattern("") == Series(())
    assert parse_pattern("a") == a
    assert parse_pattern("ab|a|") == Choice((Series((a, b)), a, Series(())))
    assert parse_pattern("(?:a)(b)(?<n>a)") == Series((a, b, a))
    assert parse_pattern("^a$") == Series((Edge("start"), a, Edge("end")))
    assert parse_pattern(r"\ba\B") == Series((Edge("word"), a, Edge("inside")))
    assert parse_pattern("(?=a)(?!a)(?<=a)(?<!a)") == Series(
        tuple(Look(a, behind, negated) for behind in (False, True) for negated in (False, True))
    )


def test_the_counts_of_quantifiers_and_where_they_stand() -> None:
    counts = {
        "a*": (0, None),
        "a+": (1, None),
        "a?": (0, 1),
        "a{3}": (3, 3),
        "a{3,}": (3, None),
        "a{0,12}": (0, 12),
        "a{02}": (2, 2),
    }
    for pattern, (low, high) in counts.items():
        for lazy in ("", "?"):
            tree = parse_pattern(pattern + lazy)
            assert tree == Repeat(Chars.of((97, 97)), low, high)
            assert tree.at == 1
    assert parse_pattern("(^)*") == Repeat(Series((Edge("start"),)), 0, None)


@pytest.mark.parametrize(
    ("pattern", "chars"),
    [
        (r"\d", "0123456789"),
        (r"\w", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"),
        (r"\s", "\t\n\v\f\r \xa0"),
        (r"[a-c-]", "-abc"),
        (r"[-a]", "-a"),
        (r"[a\-c]", "-ac"),
        (r"[\b]", "\b"),
        (r"[\d\]]", "0123456789]"),
        (r"[^\x01-\xff]", "\0"),
        (r"[]", ""),
        (r"[$^.|()?*+{}]", "$()*+.?^{|}"),
        (r"[[a]", "[a"),
        (r"\cJ", "\n"),
        (r"\cj", "\n"),
        (r"\0", "\0"),
        (r"\t", "\t"),
        (r"\v", "\v"),
        (r"\x41", "A"),
        (r"\u0041", "A"),
        (r"\u{41}", "A"),
        (r"\u{000041}", "A"),
        (r"\/", "/"),
        (r"\$", "$"),
        (r"[+--]", "+,-"),
        (r"\p{Nd}", "0123456789"),
        (r"\p{ASCII}", "".join(map(chr, range(128)))),
    ],
)
def test_the_characters_of_a_set(pattern: str, chars: str) -> None:
    assert held(pattern) == chars


def test_sets_and_their_opposites_share_nothing() -> None:
    for sign in "dws":
        assert parse_pattern(f"\\{sign.upper()}") == ~parse_pattern(f"\\{sign}")
    for name in ("L", "Any", "gc=Lu"):
        assert parse_pattern(f"\\P{{{name}}}") == ~parse_pattern(f"\\p{{{name}}}")
    assert parse_pattern("[^]") == ~Chars(())
    assert set("\n\r\u2028\u2029") == {
        chr(p) for p in range(0x3000) if p not in parse_pattern(".")
    }


def test_white_space_is_that_of_ecma_and_no_more() -> None:
    spaces = "\t\n\v\f\r\u2028\u2029\ufeff"
    spaces += "".join(chr(p) for p in range(0x10000) if unicodedata.category(chr(p)) == "Zs")
    white = parse_pattern(r"\s")
    assert sorted(spaces) == [chr(p) for p in range(0x110000) if p in white]


@given(st.integers(0, 0x10FFFF))
def test_a_property_holds_what_unicodedata_says(point: int) -> None:
    category = unicodedata.category(chr(point))
    assert point in parse_pattern(f"\\p{{{category}}}")
    assert point in parse_pattern(f"\\p{{gc={category[0]}}}")
    assert (point in parse_pattern(r"\p{LC}")) == (category in ("Lu", "Ll", "Lt"))
    assert (point in parse_pattern(r"\p{Assigned}")) == (category != "Cn")


def test_every_general_category_has_its_names() -> None:
    names = [
        "Letter",
        "Mark",
        "Number",
        "Punctuation",
        "Symbol",
        "Separator",
        "Other",
        "Cased_Letter",
    ]
    for name in names + ["digit", "punct", "cntrl", "Combining_Mark", "Decimal_Number"]:
        assert parse_pattern(f"\\p{{General_Category={name}}}").ranges
    short = {unicodedata.category(chr(point)) for point in range(0x110000)}
    assert len(short) == 30
    for name in short:
        assert parse_pattern(f"\\p{{{name}}}").ranges


def test_b110_the_end_is_the_end() -> None:
    assert says("^[a-z]+$", "abc")
    assert not says("^[a-z]+$", "abc\n")
    assert says("[$]", "$")
    assert says(r"\$", "$")


def test_b112_a_pattern_is_found_anywhere() -> None:
    assert says("b", "abc")
    assert not says("^b", "abc")


def test_surrogates_are_one_character_in_a_pair_and_half_a_one_alone() -> None:
    assert says(r"^\ud83d\ude00$", "\U0001f600")
    assert says(r"^[\ud83d\ude00]$", "\U0001f600")
    assert not says(r"\ud83d", "\U0001f600")
    assert says(r"\ud83d", "\ud83d")
    assert parse_pattern(r"\ud83da") == Series((Chars.of((0xD83D,) * 2), Chars.of((97, 97))))
    assert parse_pattern(r"\udbff\udfff") == Chars.of((0x10FFFF, 0x10FFFF))
    assert parse_pattern(r"\ud800\udc00") == Chars.of((0x10000, 0x10000))
    assert parse_pattern(r"\u{d83d}\u{de00}") == Series(
        (Chars.of((0xD83D,) * 2), Chars.of((0xDE00,) * 2))
    )


# --- what is refused ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "position", "reason"),
    [
        (r"ab\-", 2, "write the sign alone"),
        (r"a\_", 1, "write the sign alone"),
        ("^\\A", 1, "write ^"),
        (r"a\Z", 1, "write $"),
        (r"a\z", 1, "write $"),
        ("\\", 0, "write \\\\"),
        (r"\c", 0, "no escape"),
        (r"\c1", 0, "no escape"),
        (r"\00", 0, "no escape"),
        (r"\x1", 0, "no escape"),
        (r"\u12", 0, "no escape"),
        (r"\u{}", 0, "no escape"),
        (r"\u{110000}", 0, "10FFFF"),
        (r"\p{Greek}", 0, "'Greek' is no general category"),
        (r"\p{gc=gc=L}", 0, "no general category"),
        (r"\p{gc=Any}", 0, "no general category"),
        (r"\p{}", 0, "no general category"),
        (r"\pL", 0, "no escape"),
        (r"(a)\1", 3, "back-reference"),
        (r"(?<n>a)\k<n>", 7, "back-reference"),
        ("a{", 1, r"write \{"),
        ("a}", 1, r"write \}"),
        ("a]", 1, r"write \]"),
        ("{2}", 0, r"write \{"),
        ("a{,2}", 1, r"write \{"),
        ("*a", 0, r"write \*"),
        ("a|+", 2, r"write \+"),
        ("(?:?)", 3, r"write \?"),
        ("a**", 2, r"write \*"),
        ("a{2}{3}", 4, r"write \{"),
        ("^*", 1, "remove the quantifier"),
        (r"\b+", 2, "remove the quantifier"),
        ("(?=a)?", 5, "remove the quantifier"),
        ("(?<!a){2}", 6, "remove the quantifier"),
        ("a{3,2}", 1, "the smaller one first"),
        ("a{1234567890}", 1, "nine digits"),
        ("a{1,1234567890}", 1, "nine digits"),
        ("a(b", 1, r"write \("),
        ("ab)", 2, r"write \)"),
        ("a[b", 1, r"write \["),
        ("[", 0, r"write \["),
        ("[a-", 0, r"write \["),
        ("[z-a]", 1, "forwards"),
        (r"[\w-a]", 1, r"write \-"),
        (r"[a-\d]", 1, r"write \-"),
        (r"[\B]", 1, "no escape"),
        ("(?i)a", 0, "no group"),
        ("x(?P<n>a)", 1, "no group"),
        ("(?>a)", 0, "no group"),
        ("(?#a)", 0, "no group"),
        ("(?<>a)", 0, "name"),
        ("(?<1>a)", 0, "name"),
        ("(?<n>a)(?<n>b)", 7, "taken"),
    ],
)
def test_a_refusal_names_the_place_and_what_to_write(
    pattern: str, position: int, reason: str
) -> None:
    error = refused(pattern)
    assert (error.pattern, error.position) == (pattern, position)
    assert reason in error.reason
    assert error.reason in str(error)
    assert f"position {position} " in str(error)


def test_the_error_stands_in_the_tree_and_survives_pickling() -> None:
    error = refused("a{")
    assert isinstance(error, BoundaryError)
    assert isinstance(error, ValueError)
    again = pickle.loads(pickle.dumps(error))
    assert vars(again) == vars(error)
    assert str(again) == str(error)


def test_a_long_pattern_is_quoted_around_the_place_only() -> None:
    error = refused("a" * 500 + "{" + "b" * 500)
    assert str(error).endswith(f"near {'a' * 10 + '{' + 'b' * 19!r}")
    assert str(refused("[ab")).endswith("at position 0 of the pattern, near '[ab'")


def test_nesting_and_length_are_bounded() -> None:
    inside = "(" * (MAX_GROUPS - 1)
    assert parse_pattern(f"{inside}a{')' * (MAX_GROUPS - 1)}") == Chars.of((97, 97))
    assert refused(f"{inside}(a").position == MAX_GROUPS
    assert refused("(" * 100_000).position == MAX_PATTERN
    assert parse_pattern("ab" * (MAX_PATTERN // 2))
    assert refused("a" * (MAX_PATTERN + 1)).position == MAX_PATTERN
    assert parse_pattern("(a)" * 300 + "|(b)" * 300)


SIGNS = st.lists(
    st.sampled_from(
        [
            *"ab01^$.*+?()[]{}|\\-,:=!<>n",
            "\\d",
            "\\u",
            "{1,2}",
            "(?",
            "(?:",
            "[^",
            "\\p{L}",
            "😀",
        ]
    ),
    max_size=12,
).map("".join)


@given(SIGNS)
def test_any_text_is_read_or_refused_within_it(pattern: str) -> None:
    try:
        tree = parse_pattern(pattern)
    except UnsupportedPattern as error:
        assert 0 <= error.position <= len(pattern)
        assert error.reason
    else:
        assert parse_pattern(f"(?:{pattern})") == tree or isinstance(tree, Edge | Look)


COMMON = st.lists(
    st.sampled_from(
        [*"ab", "[ab]", "[^a]", "a*", "b+", "(?:ab|a)?", "a{1,2}", "(a|b)*", "[a-]", "(?=a)"]
    ),
    max_size=6,
).map("".join)


@given(COMMON, st.text("ab-", max_size=8))
def test_what_both_languages_have_means_the_same(pattern: str, text: str) -> None:
    assert says(pattern, text) == bool(re.search(pattern, text))
    assert says(f"^(?:{pattern})$", text) == bool(re.fullmatch(pattern, text))
