# Generated from book/sampling.ipynb: edit it there, then run `make save`.
"""From logits to a text that ends: temperature, nucleus, stop sequences.

`softmax` turns one vector of logits into a distribution, `nucleus` cuts the
distribution, `apply_stop` and `StopFilter` cut the text, whole or in a stream.
Nothing is drawn here: which kept token is taken is the caller's dice. Numbers
are plain floats; there is no batch axis.

A bad argument is a plain `ValueError`; one bad number among many is named by
its index.
"""

import math
from collections import deque
from collections.abc import Iterable, Sequence


# cell: softmax
def softmax(logits: Sequence[float], temperature: float = 1.0) -> list[float]:
    """Turn logits into probabilities: `exp(z / temperature)` over their sum.

    The maximum is subtracted before anything is divided, so no temperature
    overflows. Both ends are limits: 0 is greedy, all mass on the largest logit
    and, among equals, on the lowest index; `math.inf` is uniform over the
    admissible tokens. A logit of `-inf` is a masked token and gets exactly 0.0.

    Raises ValueError for a negative or NaN temperature, for no logits at all,
    for a logit that is NaN or `+inf` (named by index), and when every logit is
    `-inf`: no admissible token.
    """
    if not temperature >= 0.0:
        raise ValueError(f"temperature is {temperature}: it must be 0 or more")
    scores = [float(logit) for logit in logits]
    if not scores:
        raise ValueError("no logits: the vocabulary is empty")
    for index, score in enumerate(scores):
        if not score < math.inf:
            raise ValueError(f"logits[{index}] is {score}: not a number or -inf")
    top = max(scores)
    if top == -math.inf:
        raise ValueError("no admissible token: every logit is -inf")
    if temperature == 0.0:
        weights = [0.0] * len(scores)
        weights[scores.index(top)] = 1.0
    elif temperature == math.inf:
        weights = [float(score > -math.inf) for score in scores]
    else:
        weights = [math.exp((score - top) / temperature) for score in scores]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


# cell: check-distribution
def check_distribution(probs: Sequence[float]) -> list[float]:
    """Return the probabilities as floats, or say why they are no distribution.

    Raises ValueError when there are none, when one is NaN or outside [0, 1]
    (named by index), or when the sum is further than 1e-3 from 1. That leaves
    room for a vocabulary in single precision (a real server's summed to
    1.0003), and none for a list of candidates only.
    """
    values = [float(prob) for prob in probs]
    if not values:
        raise ValueError("no probabilities: the vocabulary is empty")
    for index, value in enumerate(values):
        if not 0.0 <= value <= 1.0 + 1e-3:
            raise ValueError(f"probs[{index}] is {value}: it must lie in [0, 1]")
    total = math.fsum(values)
    if abs(total - 1.0) > 1e-3:
        raise ValueError(f"probs sum to {total:.6g}, not to 1: is the list complete?")
    return values


# cell: nucleus
def nucleus(probs: Sequence[float], top_p: float) -> list[int]:
    """Return the indices of the most likely tokens whose mass reaches `top_p`.

    Most likely first, equals by lower index. The token that crosses is kept, so
    the result is never empty. The mass is a compensated sum, and it reaches
    `top_p` when it is at least `top_p - 1e-12`: so 0.7 + 0.1 + 0.1 reaches 0.9.
    A `top_p` of 1.0 means off: every index is returned, those of probability 0
    last, and nothing is summed. Below 1.0 a token of probability 0 is never
    kept.

    Raises ValueError when `top_p` is NaN or outside (0, 1], and what
    `check_distribution` raises. 0 is neither "off" nor "greedy" here.
    Source: Holtzman et al., ICLR 2020, arXiv:1904.09751.
    """
    if not 0.0 < top_p <= 1.0:
        raise ValueError(f"top_p is {top_p}: it must lie in (0, 1]; 1.0 is off")
    values = check_distribution(probs)
    order = sorted(range(len(values)), key=values.__getitem__, reverse=True)
    if top_p == 1.0:
        return order
    kept: list[int] = []
    mass = lost = 0.0
    for index in order:
        value = values[index]
        if value == 0.0:
            break
        kept.append(index)
        total = mass + value
        lost += (mass - total) + value  # what rounding dropped, exactly
        mass = total
        if mass + lost >= top_p - 1e-12:
            break
    return kept


# cell: stop-list
def _stop_list(stops: str | Iterable[str]) -> list[str]:
    """Return the stop sequences: a bare string is one, an empty one is refused."""
    sequences = [stops] if isinstance(stops, str) else list(stops)
    for index, stop in enumerate(sequences):
        if not isinstance(stop, str) or not stop:
            raise ValueError(f"stops[{index}] is {stop!r}: not a non-empty string")
    return sequences


# cell: apply-stop
def apply_stop(text: str, stops: str | Iterable[str]) -> str:
    """Cut the text before the stop sequence that begins earliest.

    A bare string is one stop sequence, as on the wire. Where sequences overlap,
    the one that begins first wins, whichever is listed or completed first. Text
    is compared by code point: no case folding, no normalisation.

    Raises ValueError for an empty stop sequence, which would match everywhere.
    """
    starts = [text.find(stop) for stop in _stop_list(stops)]
    found = [start for start in starts if start >= 0]
    return text[: min(found, default=len(text))]


# cell: borders
def _borders(stop: str) -> list[int]:
    """Return, for each prefix, how long a beginning of itself it ends with."""
    borders = [0] * len(stop)
    length = 0
    for index in range(1, len(stop)):
        while length and stop[length] != stop[index]:
            length = borders[length - 1]
        length += stop[length] == stop[index]
        borders[index] = length
    return borders


# cell: stop-filter
class StopFilter:
    """Apply stop sequences to text in pieces, and never show half of one.

    `feed(piece)` returns what may be shown now: all but a tail that could still
    grow into a stop sequence. `flush()` ends the text and returns the rest.
    However the text is split, what is returned joins to `apply_stop(text,
    stops)`. `stopped` is the sequence that ended the text, else None; once it
    is set the caller may hang up, and further pieces give "". Of sequences that
    begin at one place it is the shortest. The work is linear in the text times
    the number of stop sequences, however the text is split.

    Raises ValueError for an empty stop sequence, and for a piece after
    `flush()`.
    Source: Knuth, Morris and Pratt, SIAM J. Comput. 6 (1977).
    """

    def __init__(self, stops: str | Iterable[str]) -> None:
        self.stopped: str | None = None
        self._stops = [(stop, _borders(stop)) for stop in _stop_list(stops)]
        self._matched = [0] * len(self._stops)  # of each stop, how much was met
        self._held: deque[str] = deque()  # letters fed and not yet returned
        self._seen = 0  # letters fed in all
        self._cut: tuple[int, str] | None = None  # earliest complete stop, its start
        self._flushed = False

    def feed(self, piece: str) -> str:
        """Take the next piece of the text and return what may be shown."""
        if self._flushed:
            raise ValueError("this filter was flushed: its text has ended")
        for letter in piece:
            if self.stopped is not None:
                break
            self._step(letter)
        return self._release()

    def flush(self) -> str:
        """End the text and return what was held back, up to a stop sequence."""
        self._flushed = True
        self._matched = [0] * len(self._stops)
        return self._release()

    def _step(self, letter: str) -> None:
        self._held.append(letter)
        self._seen += 1
        for number, (stop, borders) in enumerate(self._stops):
            length = self._matched[number]
            while length and stop[length] != letter:
                length = borders[length - 1]
            length += stop[length] == letter
            if length == len(stop):
                start = self._seen - length
                if self._cut is None or start < self._cut[0]:
                    self._cut = (start, stop)
                length = borders[length - 1]
            self._matched[number] = length
        if self._cut and self._cut[0] <= self._open_since():
            self.stopped = self._cut[1]

    def _open_since(self) -> int:
        """Return where the earliest stop sequence begins that is still open."""
        return self._seen - max(self._matched, default=0)

    def _release(self) -> str:
        end = self._open_since()
        if self._cut and self._cut[0] <= end:
            end, self.stopped = self._cut
        safe = len(self._held) - (self._seen - end)
        shown = "".join(self._held.popleft() for _ in range(safe))
        if self.stopped is not None:
            self._held.clear()
        return shown
