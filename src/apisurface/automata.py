# Generated from book/automata.ipynb: edit it there, then run `make save`.
"""Pattern trees, and the automaton that matches one in time linear in the text.

A tree is made of `Chars`, `Series`, `Choice`, `Repeat`, `Edge` and `Look`. `Automaton(tree)`
finds out whether it matches anywhere in a text. It follows all ways through the tree at once,
and remembers the sets of places it has been in: a `State` is such a set.

Not here: the notation (`patterns`), what a group captured, and where a match begins.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, NamedTuple


# cell: chars
@dataclass(frozen=True)
class Chars:
    """One character out of a set, given as ranges of code points; `Chars.of` puts any in order.

    `a | b` is the union of two sets, `~a` are all other code points, `point in a` is for one.
    """

    ranges: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, *ranges: tuple[int, int]) -> "Chars":
        """Return the set of the code points in some ranges, in any order."""
        merged: list[tuple[int, int]] = []
        for low, high in sorted(ranges):
            if merged and low <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        return cls(tuple(merged))

    def __or__(self, other: "Chars") -> "Chars":
        return Chars.of(*self.ranges, *other.ranges)

    def __invert__(self) -> "Chars":
        starts = [0, *(high + 1 for _, high in self.ranges)]
        ends = [*(low - 1 for low, _ in self.ranges), 0x10FFFF]
        pairs = zip(starts, ends, strict=True)
        return Chars(tuple((low, high) for low, high in pairs if low <= high))

    def __contains__(self, point: int) -> bool:
        index = bisect_right(self.ranges, (point, 0x10FFFF)) - 1
        return index >= 0 and point <= self.ranges[index][1]


# cell: series
@dataclass(frozen=True)
class Series:
    """One part after the other; no part at all is the empty text."""

    parts: "tuple[Tree, ...]"


# cell: choice
@dataclass(frozen=True)
class Choice:
    """One of the parts."""

    parts: "tuple[Tree, ...]"


# cell: repeat
@dataclass(frozen=True)
class Repeat:
    """A part at least `low` and at most `high` times, None for any number.

    `at` is where the quantifier stands in the pattern, for messages.
    """

    part: "Tree"
    low: int
    high: int | None
    at: int = field(default=0, compare=False)


# cell: edge
@dataclass(frozen=True)
class Edge:
    """A place: start or end of the text, edge of a word, or not at such an edge (`inside`)."""

    kind: Literal["start", "end", "word", "inside"]


# cell: look
@dataclass(frozen=True)
class Look:
    """A place where a match of the part begins (`behind`: ends); none does if `negated`."""

    part: "Tree"
    behind: bool
    negated: bool


# cell: tree
Tree = Chars | Series | Choice | Repeat | Edge | Look  # a pattern


# cell: place
class _Place(NamedTuple):
    """A place in a pattern: what it asks of the text, a number for a look, and what follows."""

    asks: Chars | Edge | int | None
    ways: list[int]


# cell: is-anchored
def is_anchored(tree: Tree) -> bool:
    """Return whether a match can only begin at the start of the text; False when in doubt."""
    match tree:
        case Series(parts):
            return bool(parts) and is_anchored(parts[0])
        case Choice(parts):
            return bool(parts) and all(map(is_anchored, parts))
    return tree == Edge("start")


# cell: net
class _Net:
    """The places of a pattern and the ways between them; number 0 is the end of a match."""

    def __init__(self, tree: Tree, backward: bool) -> None:
        self.backward = backward
        self.places = [_Place(None, [])]
        self.looks: list[Look] = []
        self.first = self.build(tree, 0)
        if backward or not is_anchored(tree):  # a match may begin later: any character, again
            self.first = self.add(None, [self.first])
            self.places[self.first].ways.append(self.add(~Chars(()), [self.first]))

    def add(self, asks: Chars | Edge | int | None, ways: list[int]) -> int:
        """Add a place and return its number."""
        self.places.append(_Place(asks, ways))
        return len(self.places) - 1

    def build(self, tree: Tree, then: int) -> int:
        """Add the places of a tree in front of a place; return the number of the first."""
        match tree:
            case Series(parts):
                for part in parts if self.backward else reversed(parts):
                    then = self.build(part, then)
                return then
            case Choice(parts):
                return self.add(None, [self.build(part, then) for part in parts])
            case Repeat(part, low, high):
                end = then
                if high is None:
                    then = self.add(None, [then])
                    self.places[then].ways.append(self.build(part, then))
                for _ in range((low if high is None else high) - low):
                    then = self.add(None, [self.build(part, then), end])
                for _ in range(low):
                    then = self.build(part, then)
                return then
            case Look():
                if tree not in self.looks:
                    self.looks.append(tree)
                return self.add(self.looks.index(tree), [then])
            case Edge("start" | "end") if self.backward:
                return self.add(Edge("end" if tree.kind == "start" else "start"), [then])
        return self.add(tree, [then])


# cell: kinds
class _Kinds(dict[str, int]):
    """The kind of a character: the number, from 1, of the stretch of code points it is in."""

    def __init__(self, starts: list[int]) -> None:
        super().__init__()
        self.starts = starts

    def __missing__(self, char: str) -> int:
        if len(self) >= 4_096:
            self.clear()
        kind = self[char] = bisect_right(self.starts, ord(char))
        return kind


# cell: word-chars
WORD_CHARS = Chars.of((48, 57), (65, 90), (95, 95), (97, 122))  # what \w means in ECMA-262


# cell: state
class State(dict[int, "tuple[bool, State | None]"]):
    """The places that a text may have led to, and what each symbol makes of them.

    `state[symbol]` is whether a match ends here, in front of the symbol, and the state behind
    it, None when nothing can match any more. It is worked out when it is first asked for.
    """

    __slots__ = ("automaton", "places", "word")

    def __init__(
        self, automaton: "Automaton", places: frozenset[int], word: bool | None
    ) -> None:
        super().__init__()
        self.automaton, self.places = automaton, places
        self.word = word  # whether a character of a word was last; None at the start

    def __missing__(self, symbol: int) -> "tuple[bool, State | None]":
        automaton = self.automaton
        kind, truths = divmod(symbol, 1 << len(automaton.judges))
        point = automaton.starts[kind - 1] if kind else -1
        word = point in WORD_CHARS
        seen: set[int] = set()
        after: set[int] = set()
        waiting = list(self.places)
        while waiting:
            place = waiting.pop()
            if place in seen:
                continue
            seen.add(place)
            asks, ways = automaton.net.places[place]
            match asks:
                case Chars():
                    after.update(ways if point in asks else ())
                    continue
                case Edge("start"):
                    holds = self.word is None
                case Edge("end"):
                    holds = kind == 0
                case Edge(which):
                    holds = (bool(self.word) != word) == (which == "word")
                case int():
                    holds = bool(truths >> asks & 1)
                case _:
                    holds = True
            waiting += ways if holds else ()
        automaton.work += len(seen)
        state = automaton.state(frozenset(after), automaton.words and word) if after else None
        move = self[symbol] = 0 in seen, state
        return move


# cell: limit
_REMEMBERED = 20_000  # places visited before all states are forgotten: some megabytes


# cell: automaton
class Automaton:
    """A matcher for a tree that reads each character of a text once.

    `search(text)` says whether it matches anywhere, `run(text)` does for each place. States are
    built when first visited and forgotten when they take too much room. `.work` counts the
    places visited in building them: at most `tree_size` for a character. `.starts` are the code
    points where a kind of character begins. With `backward` a text is read from its end.
    Sources: Thompson 1968; for look-around Mamouras and Chattopadhyay 2024.
    """

    def __init__(self, tree: Tree, *, backward: bool = False) -> None:
        self.net = _Net(tree, backward)
        asked = [place.asks for place in self.net.places]
        self.words = Edge("word") in asked or Edge("inside") in asked
        sets = [asks.ranges for asks in asked if isinstance(asks, Chars)]
        ranges = chain(WORD_CHARS.ranges if self.words else (), *sets)
        self.starts = sorted({0}.union(*((low, high + 1) for low, high in ranges)))
        self.kinds = _Kinds(self.starts)
        looks = self.net.looks
        self.judges = [Automaton(look.part, backward=not look.behind) for look in looks]
        self.states: dict[tuple[frozenset[int], bool | None], State] = {}
        self.work, self.limit = 0, _REMEMBERED

    def state(self, places: frozenset[int], word: bool | None) -> State:
        """Return the state for some places; forget all states when there are too many."""
        if self.work > self.limit:
            old, self.states, self.limit = self.states, {}, self.work + _REMEMBERED
            for each in list(old.values()):
                each.clear()  # they lead to each other, which would keep them all
        states, key = self.states, (places, word)  # another thread may put a new table there
        state = states.get(key)
        if state is None:
            state = states[key] = State(self, places, word)
        return state

    def symbols(self, text: str) -> Iterable[int]:
        """Return what is read: the kind of each character, 0 at the end, and what looks see."""
        reading = reversed(text) if self.net.backward else text
        symbols: Iterable[int] = chain(map(self.kinds.__getitem__, reading), [0])
        for look, judge in zip(self.net.looks[::-1], self.judges[::-1], strict=True):
            truths = judge.truths(text)
            if self.net.backward:
                truths.reverse()
            pairs = zip(symbols, truths, strict=True)
            symbols = [2 * symbol + (truth != look.negated) for symbol, truth in pairs]
        return symbols

    def run(self, text: str) -> Iterator[bool]:
        """Yield for each place of the text whether a match ends there, until none can."""
        state = self.state(frozenset([self.net.first]), None)
        for symbol in self.symbols(text):
            accepts, after = state[symbol]
            yield accepts
            if after is None:
                return
            state = after

    def truths(self, text: str) -> list[bool]:
        """Return for each place whether a match ends there; where one begins, if `backward`."""
        found = list(self.run(text))
        found += [False] * (len(text) + 1 - len(found))
        return found[::-1] if self.net.backward else found

    def search(self, text: str) -> bool:
        """Return whether the pattern matches anywhere in the text."""
        return any(self.run(text))


# cell: tree-size
def tree_size(tree: Tree) -> int:
    """Return about how many places the automaton of a tree has, without building it."""
    match tree:
        case Series(parts) | Choice(parts):
            return 1 + sum(map(tree_size, parts))
        case Repeat(part, low, high):
            return 1 + (1 + tree_size(part)) * (low + 1 if high is None else high)
        case Look(part):
            return 1 + tree_size(part)
    return 1
