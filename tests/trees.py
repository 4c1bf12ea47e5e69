"""Made-up pattern trees, and the plainest answer to whether one matches."""

from __future__ import annotations

from hypothesis import strategies as st

from apisurface.automata import WORD_CHARS, Chars, Choice, Edge, Look, Repeat, Series, Tree


def one(sign: str) -> Chars:
    return Chars.of((ord(sign), ord(sign)))


LEAVES = st.sampled_from(
    [one("a"), one("b"), one("a") | one("b"), ~one("a"), one("-"), Chars(())]
)
EDGES = st.sampled_from([Edge("start"), Edge("end"), Edge("word"), Edge("inside")])
COUNTS = st.sampled_from(
    [(0, None), (1, None), (0, 1), (2, 2), (1, 3), (0, 0), (2, None), (1, 1)]
)
TEXTS = st.text("ab- c", max_size=8)


def trees(
    looks: bool = True, edges: st.SearchStrategy[Tree] = EDGES
) -> st.SearchStrategy[Tree]:
    """Return a strategy for trees, with or without look-around."""

    def deeper(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        parts = st.lists(inner, max_size=3).map(tuple)
        some = st.lists(inner, min_size=1, max_size=3).map(tuple)
        made = (
            st.builds(Series, parts)
            | st.builds(Choice, some)
            | st.builds(lambda part, count: Repeat(part, *count), inner, COUNTS)
        )
        return made | st.builds(Look, inner, st.booleans(), st.booleans()) if looks else made

    return st.recursive(LEAVES | edges, deeper, max_leaves=8)


def ends(tree: Tree, text: str, at: int) -> set[int]:
    """Return where a match from a place on can end, by definition and without any cleverness."""
    match tree:
        case Chars():
            return {at + 1} if at < len(text) and ord(text[at]) in tree else set()
        case Series(parts):
            found = {at}
            for part in parts:
                found = {end for start in found for end in ends(part, text, start)}
            return found
        case Choice(parts):
            return {end for part in parts for end in ends(part, text, at)}
        case Repeat(part, low, high):
            layer, found = {at}, {at} if low == 0 else set()
            for turn in range(1, (low + len(text) + 1 if high is None else high) + 1):
                layer = {end for start in layer for end in ends(part, text, start)}
                found |= layer if turn >= low else set()
            return found
        case Edge(kind):
            before = at > 0 and ord(text[at - 1]) in WORD_CHARS
            behind = at < len(text) and ord(text[at]) in WORD_CHARS
            holds = {
                "start": at == 0,
                "end": at == len(text),
                "word": before != behind,
                "inside": before == behind,
            }
            return {at} if holds[kind] else set()
        case Look(part, behind=False):
            return {at} if bool(ends(part, text, at)) != tree.negated else set()
    hit = any(at in ends(tree.part, text, start) for start in range(at + 1))
    return {at} if hit != tree.negated else set()


def matches(tree: Tree, text: str) -> bool:
    """Return whether a tree matches anywhere in a text."""
    return any(ends(tree, text, at) for at in range(len(text) + 1))
