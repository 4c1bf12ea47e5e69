# Generated from book/patterns.ipynb: edit it there, then run `make save`.
"""JSON Schema's `pattern`: does it match anywhere in a text? Answered in bounded time.

`compile_pattern` reads a pattern as ECMA-262 has it, uses Python's `re` where that provably
takes time linear in the text, and an `Automaton` everywhere else.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise

from apisurface.automata import (
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
from apisurface.ecma import UnsupportedPattern, parse_pattern

# cell: end-sign
_END = Chars(((0x110000, 0x110000),))  # the end of the text as a character behind the last


# cell: first
def _first(tree: Tree) -> tuple[Chars, bool]:
    """Return what a match of a tree can begin with, and whether it can be empty."""
    match tree:
        case Chars():
            return tree, False
        case Edge("end"):
            return _END, False
        case Choice(parts):
            firsts = [_first(part) for part in parts]
            ranges = (pair for chars, _ in firsts for pair in chars.ranges)
            return Chars.of(*ranges), any(empty for _, empty in firsts)
        case Series(parts):
            found = Chars(())
            for part in parts:
                chars, empty = _first(part)
                found |= chars
                if not empty:
                    return found, False
            return found, True
        case Repeat(part, low, high) if high != 0:
            chars, empty = _first(part)
            return chars, empty or low == 0
    return Chars(()), True


# cell: apart
def _apart(*sets: Chars) -> bool:
    """Return whether no two sets share a character."""
    ordered = sorted(pair for chars in sets for pair in chars.ranges)
    return all(low[1] < high[0] for low, high in pairwise(ordered))


# cell: too-much
_TOO_MUCH = 10**9  # a price that nothing can have


# cell: price
def _price(tree: Tree, follow: Chars, length: int) -> tuple[int, int]:
    """Return in how many ways a backtracking matcher can pass a tree, and in how many steps.

    Both are bounds for a text of some length; `follow` is what can come behind the tree.
    """
    match tree:
        case Series(parts):
            ways = steps = 1
            for part in reversed(parts):
                part_ways, part_steps = _price(part, follow, length)
                first, empty = _first(part)
                follow = first | follow if empty else first
                ways, steps = part_ways * ways, part_steps + part_ways * steps
        case Choice(parts):
            prices = [_price(part, follow, length) for part in parts]
            firsts = [_first(part) for part in parts]
            heads = [first | follow if empty else first for first, empty in firsts]
            decided = _apart(*heads) and sum(empty for _, empty in firsts) <= 1
            ways = (max if decided else sum)(ways for ways, _ in prices)
            steps = 1 + sum(steps for _, steps in prices)
        case Repeat(part, low, high):
            first, empty = _first(part)
            ways, steps = _price(part, first | follow, length)
            if ways > 1 or empty:
                return (ways, 1 + steps) if low == high == 1 else (_TOO_MUCH, _TOO_MUCH)
            turns = length if high is None else min(high, length)
            steps = 1 + turns * steps if turns == high else (turns + 1) * tree_size(part)
            decided = low == high or _apart(first, follow)
            ways = 1 if decided else max(turns - low, 0) + 1
        case Look():
            return _TOO_MUCH, _TOO_MUCH
        case _:
            return 1, 1
    return min(ways, _TOO_MUCH), min(steps, _TOO_MUCH)


# cell: harmless
def _harmless(tree: Tree) -> bool:
    """Return whether `re` takes time linear in the text, whatever the text."""
    _, steps = _price(tree, Chars(()), 1_000)
    return steps * (1 if is_anchored(tree) else 1_000) <= 100 * 1_000


# cell: python
def _python(tree: Tree) -> str:
    """Write a tree without look-around as a pattern for `re`."""
    match tree:
        case Chars(((low, high),)) if low == high:
            return re.escape(chr(low))
        case Chars(ranges):
            ends = (f"{re.escape(chr(low))}-{re.escape(chr(high))}" for low, high in ranges)
            return f"[{''.join(ends)}]" if ranges else "(?!)"
        case Series(parts):
            return "".join(map(_python, parts))
        case Choice(parts):
            return f"(?:{'|'.join(map(_python, parts))})"
        case Repeat(part, low, high):
            return f"(?:{_python(part)}){{{low},{'' if high is None else high}}}"
        case Edge(kind):
            edges = {"start": r"\A", "end": r"\Z", "word": r"\b", "inside": r"(?!\b)"}
            return edges[kind]
    raise AssertionError(tree)


# cell: max-size
MAX_PLACES = 2_000  # in one automaton; 1144 is the most that a public schema we know needs


# cell: repeats
def _repeats(tree: Tree) -> Iterator[Repeat]:
    """Yield the repetitions in a tree."""
    match tree:
        case Series(parts) | Choice(parts):
            for part in parts:
                yield from _repeats(part)
        case Repeat(part):
            yield tree
            yield from _repeats(part)
        case Look(part):
            yield from _repeats(part)


# cell: compile-pattern
@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """Return a function that says whether a pattern matches anywhere in a text.

    The pattern is one of ECMA-262 with the flag u, as JSON Schema recommends. A text takes at
    most time in proportion to its length times that of the pattern with its counts written
    out. Raises `UnsupportedPattern`, a `ValueError`, for what `parse_pattern` refuses and for
    repetitions that come to more than `MAX_PLACES` places.
    """
    tree = parse_pattern(pattern)
    if _harmless(tree):
        python = re.compile(_python(tree), re.ASCII)
        match = python.match if is_anchored(tree) else python.search
        return lambda text: match(text) is not None
    if tree_size(tree) > MAX_PLACES:
        largest = max(_repeats(tree), key=tree_size, default=None)
        reason = f"repetitions of more than {MAX_PLACES} places: use smaller counts"
        raise UnsupportedPattern.at(reason, pattern, largest.at if largest else MAX_PLACES)
    return Automaton(tree).search
