"""Temperature, nucleus, stop sequences: contract section 3, the cases of area sampling."""

import json
import math
import random
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apisurface import StopFilter, apply_stop, check_distribution, nucleus, softmax

NAN, INF = math.nan, math.inf
PEAKED = [0.60, 0.25, 0.10, 0.03, 0.02]
FLAT = [1 / 12] * 12

logit_lists = st.lists(st.floats(-200, 200), min_size=1, max_size=40)


@st.composite
def distributions(draw: st.DrawFn) -> list[float]:
    """Distributions with ties, zeros and tails: integer weights over their sum."""
    weights = draw(
        st.lists(
            st.sampled_from([0, 1, 1, 2, 3, 7, 50, 10**6]), min_size=1, max_size=30
        ).filter(any)
    )
    return [weight / sum(weights) for weight in weights]


# --- the contract's figures ----------------------------------------------------------------


def test_nucleus_of_two_shapes_at_one_top_p() -> None:
    assert nucleus(PEAKED, 0.7) == [0, 1]
    assert math.fsum(PEAKED[i] for i in nucleus(PEAKED, 0.7)) == pytest.approx(0.85)
    assert nucleus(FLAT, 0.7) == list(range(9))
    assert math.fsum(FLAT[i] for i in nucleus(FLAT, 0.7)) == pytest.approx(0.75)


def test_stop_figure() -> None:
    assert apply_stop("refund approved.\nEND\nignore this", ["\nEND"]) == "refund approved."


# --- softmax -------------------------------------------------------------------------------


@given(logit_lists, st.floats(0, 50))
def test_softmax_is_a_distribution(logits: list[float], temperature: float) -> None:
    probs = softmax(logits, temperature)
    assert len(probs) == len(logits)
    assert check_distribution(probs) == probs
    assert math.fsum(probs) == pytest.approx(1.0, abs=1e-12)


@given(logit_lists, st.floats(0.01, 50))
def test_softmax_equals_the_numpy_formula(logits: list[float], temperature: float) -> None:
    z = (np.array(logits) - np.max(logits)) / temperature
    expected = np.exp(z) / np.exp(z).sum()
    assert softmax(logits, temperature) == pytest.approx(
        expected.tolist(), rel=1e-9, abs=1e-300
    )


@given(logit_lists, st.floats(0.01, 50), st.floats(-100, 100))
def test_softmax_ignores_a_shift(logits: list[float], temperature: float, shift: float) -> None:
    moved = softmax([z + shift for z in logits], temperature)
    assert moved == pytest.approx(softmax(logits, temperature), rel=1e-6, abs=1e-9)


@given(logit_lists, st.floats(0.01, 50))
def test_softmax_keeps_the_order(logits: list[float], temperature: float) -> None:
    probs = softmax(logits, temperature)
    order = sorted(range(len(logits)), key=lambda i: logits[i])
    assert all(probs[a] <= probs[b] for a, b in pairwise(order))


def test_higher_temperature_is_flatter() -> None:
    peaks = [softmax([2.0, 1.0, 0.0], t)[0] for t in (0.0, 0.25, 0.5, 1.0, 2.0, 8.0, INF)]
    assert peaks == sorted(peaks, reverse=True)
    assert peaks[0] == 1.0
    assert peaks[-1] == pytest.approx(1 / 3)


def test_temperature_one_is_the_default() -> None:
    assert softmax([1.0, 2.0]) == softmax([1.0, 2.0], 1.0)
    assert softmax([1.0, 2.0])[1] == pytest.approx(1 / (1 + math.exp(-1)))


def test_b184_temperature_zero_is_greedy_before_any_division() -> None:
    assert softmax([1.0, 2.0], 0) == [0.0, 1.0]
    assert softmax([1.0, 2.0], -0.0) == [0.0, 1.0]
    assert softmax([5.0, 7.0, 7.0], 0) == [0.0, 1.0, 0.0]  # equals: the lower index
    assert softmax([-INF, -3.0], 0) == [0.0, 1.0]


@pytest.mark.parametrize("temperature", [5e-324, 1e-308, 1e-12, 1e-3])
def test_b184_tiny_temperatures_do_not_overflow(temperature: float) -> None:
    assert softmax([1.0, 2.0], temperature) == [0.0, 1.0]
    assert softmax([1e308, -1e308, 0.0], temperature) == [1.0, 0.0, 0.0]
    assert softmax([2.0, 2.0], temperature) == [0.5, 0.5]  # a limit, but not greedy


def test_large_logits_do_not_overflow() -> None:
    assert softmax([1000.0, 1000.0]) == [0.5, 0.5]
    assert softmax([-1000.0, -1000.0]) == [0.5, 0.5]


@pytest.mark.parametrize("temperature", [-1, -1e-9, -INF, NAN])
def test_b185_negative_or_nan_temperature_is_refused(temperature: float) -> None:
    with pytest.raises(ValueError, match=r"temperature is -?(1|inf|nan)"):
        softmax([1.0, 2.0], temperature)


def test_infinite_temperature_is_uniform_over_the_admissible() -> None:
    assert softmax([9.0, -INF, -9.0], INF) == [0.5, 0.0, 0.5]


@pytest.mark.parametrize(
    ("logits", "index"),
    [([0.0, NAN, 0.0], 1), ([0.0, 1.0, INF], 2), ([NAN], 0), ([-INF, NAN], 1)],
)
@pytest.mark.parametrize("temperature", [0, 1.0, INF])
def test_b187_a_bad_logit_is_named(logits: list[float], index: int, temperature: float) -> None:
    with pytest.raises(ValueError, match=rf"logits\[{index}\] is (nan|inf)"):
        softmax(logits, temperature)


@pytest.mark.parametrize("temperature", [0, 1.0, INF])
def test_no_admissible_token(temperature: float) -> None:
    with pytest.raises(ValueError, match="no admissible token"):
        softmax([-INF, -INF], temperature)
    with pytest.raises(ValueError, match="vocabulary is empty"):
        softmax([], temperature)


def test_a_masked_logit_gets_exactly_nothing() -> None:
    assert softmax([0.0, -INF, 0.0]) == [0.5, 0.0, 0.5]


# --- nucleus -------------------------------------------------------------------------------


@given(distributions(), st.floats(1e-9, 1.0))
def test_nucleus_reaches_its_mass_and_is_minimal(probs: list[float], top_p: float) -> None:
    kept = nucleus(probs, top_p)
    exact = [Fraction(probs[i]) for i in kept]
    assert len(set(kept)) == len(kept) >= 1
    keys = [(-probs[i], i) for i in kept]
    assert keys == sorted(keys)
    assert not kept or keys[-1] == sorted((-p, i) for i, p in enumerate(probs))[len(kept) - 1]
    if top_p < 1.0:
        assert sum(exact) >= Fraction(top_p) - Fraction(2e-12)
        assert sum(exact[:-1]) < Fraction(top_p)
        assert all(probs[i] > 0 for i in kept)
    else:
        assert len(kept) == len(probs)


@given(distributions(), st.floats(1e-6, 0.999999))
def test_nucleus_equals_a_numpy_reference(probs: list[float], top_p: float) -> None:
    p = np.array(probs)
    order = np.argsort(-p, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(p[order])[:-1]])
    margin = np.abs(np.cumsum(p[order]) - top_p).min()
    if margin > 1e-9:  # off the thresholds, where every implementation has its own rounding
        assert nucleus(probs, top_p) == order[before < top_p].tolist()


@given(distributions(), st.floats(1e-6, 1.0), st.floats(1e-6, 1.0))
def test_a_larger_top_p_only_adds(probs: list[float], one: float, other: float) -> None:
    small, large = sorted([one, other])
    assert nucleus(probs, large)[: len(nucleus(probs, small))] == nucleus(probs, small)


def test_b178_a_sum_that_rounds_below_top_p_reaches_it() -> None:
    assert 0.7 + 0.1 + 0.1 < 0.9  # the plain sum is 0.8999999999999999
    assert nucleus([0.7, 0.1, 0.1, 0.1], 0.9) == [0, 1, 2]
    assert nucleus([0.1, 0.1, 0.7, 0.1], 0.9) == [2, 0, 1]
    assert nucleus([0.1] * 10, 0.9) == list(range(9))
    assert nucleus([0.1] * 10, 0.3) == [0, 1, 2]  # 0.1 + 0.1 + 0.1 rounds above
    assert nucleus([0.7, 0.1, 0.1, 0.1], 0.9 + 1e-9) == [0, 1, 2, 3]  # the tolerance is small


def test_the_mass_of_many_tokens_is_not_lost_to_rounding() -> None:
    """A plain sum of ninety thousand such terms falls short by more than the tolerance."""
    total = 0.0
    for _ in range(90_000):
        total += 1e-5
    assert total < 0.9 - 1e-12
    assert len(nucleus([1e-5] * 100_000, 0.9)) == 90_000


def test_b179_the_token_that_crosses_is_kept() -> None:
    assert nucleus([0.5, 0.3, 0.2], 0.7) == [0, 1]
    assert nucleus([0.5, 0.3, 0.2], 0.5) == [0]
    assert nucleus([0.9, 0.1], 0.1) == [0]


@pytest.mark.parametrize("top_p", [0.0, -0.0, 0])
def test_b181_zero_is_not_missing(top_p: float) -> None:
    with pytest.raises(ValueError, match=r"top_p is -?0.*\(0, 1\]"):
        nucleus([0.5, 0.5], top_p)


@pytest.mark.parametrize("top_p", [NAN, -0.1, 1.1, 2, INF, -INF, 1.0000000000000002])
def test_b182_top_p_outside_its_domain(top_p: float) -> None:
    with pytest.raises(ValueError, match="top_p is"):
        nucleus([0.5, 0.5], top_p)


@pytest.mark.parametrize(
    ("probs", "index"),
    [
        ([0.5, NAN, 0.5], 1),
        ([0.6, 0.6, -0.2], 2),
        ([INF, 0.0], 0),
        ([0.0, 1.5], 1),
        ([-1e-9, 1.0], 0),
    ],
)
@pytest.mark.parametrize("top_p", [0.5, 1.0])
def test_b187_a_bad_probability_is_named(probs: list[float], index: int, top_p: float) -> None:
    with pytest.raises(ValueError, match=rf"probs\[{index}\] is "):
        nucleus(probs, top_p)


@pytest.mark.parametrize("probs", [[0.6, 0.39], [0.6, 0.6], [0.0, 0.0], [0.998]])
def test_b187_b188_an_incomplete_candidate_list_is_refused(probs: list[float]) -> None:
    with pytest.raises(ValueError, match="sum to"):
        nucleus(probs, 0.9)


def test_b188_there_is_no_top_k_and_no_empty_nucleus() -> None:
    with pytest.raises(TypeError):
        nucleus([0.6, 0.4], 0.5, top_k=0)  # type: ignore[call-arg]
    assert nucleus([0.6, 0.4], 5e-324) == [0]
    with pytest.raises(ValueError, match="vocabulary is empty"):
        nucleus([], 0.5)


def test_top_p_one_keeps_everything() -> None:
    halves = [2.0**-k for k in range(1, 64)] + [2.0**-63]
    assert nucleus(halves, 1.0) == list(range(64))
    assert nucleus([0.0, 0.5, 0.0, 0.5], 1.0) == [1, 3, 0, 2]  # off means off: zeros come last
    assert nucleus([0.1] * 10, 1) == list(range(10))


def test_below_one_a_token_of_probability_zero_is_never_kept() -> None:
    almost = 1.0 - 2**-53
    assert nucleus([0.0, 0.5, 0.0, 0.5], almost) == [1, 3]
    assert nucleus([0.0, 0.49999, 0.0, 0.49999], 0.99999) == [1, 3]  # the mass never gets there


def test_a_long_vocabulary_in_single_precision_is_a_distribution() -> None:
    logits = np.random.default_rng(0).normal(0, 5, 200_000).astype(np.float32)
    weights = np.exp(logits - logits.max())
    probs = (weights / weights.sum()).tolist()
    assert len(nucleus(probs, 1.0)) == 200_000
    kept = nucleus(probs, 0.9)
    mass, short = (math.fsum(probs[i] for i in part) for part in (kept, kept[:-1]))
    assert mass >= 0.9 - 1e-12 > short


def test_numpy_input_gives_plain_numbers() -> None:
    assert nucleus(np.array([0.2, 0.8]), 0.9) == [1, 0]  # type: ignore[arg-type]
    assert all(type(i) is int for i in nucleus(np.array([0.2, 0.8]), 0.9))  # type: ignore[arg-type]
    assert all(type(p) is float for p in softmax(np.array([0.2, 0.8])))  # type: ignore[arg-type]


def test_arguments_are_not_changed() -> None:
    probs, logits = [0.2, 0.8], [1.0, 2.0]
    nucleus(probs, 0.5)
    softmax(logits, 0.5)
    assert (probs, logits) == ([0.2, 0.8], [1.0, 2.0])


# --- a real model's recorded distributions ---------------------------------------------------

RECORDINGS = Path(__file__).parent.parent / "book/recordings"


def recorded_steps() -> list[dict[str, Any]]:
    recorded = json.loads((RECORDINGS / "distributions.json").read_text(encoding="utf-8"))
    return [step for prompt in recorded["prompts"] for step in prompt["steps"]]


def test_the_nucleus_of_recorded_distributions() -> None:
    """The tail is recorded as one sum, so sizes are compared where the top holds the nucleus."""
    compared = 0
    for step in recorded_steps():
        top = [p for _, _, p in step["top"]]
        rest = step["vocabulary"] - len(top)
        probs = top + [step["tail"] / rest] * rest
        for top_p, size in step["nucleus"].items():
            if size <= len(top):
                assert nucleus(probs, float(top_p)) == list(range(size))
                compared += 1
    assert compared > 20


def test_a_real_server_reports_a_distribution_close_enough() -> None:
    for step in recorded_steps():
        check_distribution([step["reported_mass"] * share for share in (0.5, 0.3, 0.2)])


def test_the_recorded_candidates_are_no_distribution() -> None:
    exchange = json.loads((RECORDINGS / "logprobs.json").read_text(encoding="utf-8"))
    content = json.loads(exchange["response"]["body"])["choices"][0]["logprobs"]["content"]
    with pytest.raises(ValueError, match="is the list complete"):
        nucleus([math.exp(rival["logprob"]) for rival in content[0]["top_logprobs"]], 0.7)


# --- stop sequences ------------------------------------------------------------------------

letters = st.text(alphabet="ab\n", max_size=40)
stop_lists = st.lists(st.text(alphabet="ab\n", min_size=1, max_size=5), max_size=4)


def in_pieces(text: str, cuts: list[int]) -> list[str]:
    marks = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    return [text[a:b] for a, b in pairwise(marks)]


@given(letters, stop_lists, st.lists(st.integers(0, 1000), max_size=12))
def test_any_split_gives_the_text_of_the_whole(
    text: str, stops: list[str], cuts: list[int]
) -> None:
    whole = apply_stop(text, stops)
    stop_filter, shown = StopFilter(stops), ""
    for piece in in_pieces(text, cuts):
        shown += stop_filter.feed(piece)
        assert whole.startswith(shown)  # nothing is shown that has to be taken back
        assert stop_filter.stopped is None or shown == whole
    shown += stop_filter.flush()
    assert shown == whole
    assert (stop_filter.stopped is None) == (len(whole) == len(text))
    assert stop_filter.stopped is None or text.startswith(stop_filter.stopped, len(whole))


@given(letters, stop_lists)
def test_nothing_is_held_that_could_be_shown(text: str, stops: list[str]) -> None:
    stop_filter = StopFilter(stops)
    shown = stop_filter.feed(text)
    if stop_filter.stopped is None:
        held = text[len(shown) :]
        assert not held or any(stop.startswith(held) or held.startswith(stop) for stop in stops)


@given(letters, stop_lists)
def test_apply_stop_leaves_no_stop_sequence(text: str, stops: list[str]) -> None:
    kept = apply_stop(text, stops)
    assert text.startswith(kept)
    assert not any(stop in kept for stop in stops)
    assert apply_stop(kept, stops) == kept


def test_the_earliest_start_wins_whatever_the_order() -> None:
    assert apply_stop("a|b#c", ["#", "|"]) == "a"
    assert apply_stop("xabcd", ["bc", "abcd"]) == "x"  # bc completes first, abcd begins first
    assert apply_stop("xabce", ["bc", "abcd"]) == "xa"


def test_the_filter_waits_for_an_earlier_start() -> None:
    stop_filter = StopFilter(["bc", "abcd"])
    assert stop_filter.feed("xabc") == "x"
    assert stop_filter.stopped is None
    assert stop_filter.feed("d") == ""
    assert stop_filter.stopped == "abcd"
    other = StopFilter(["bc", "abcd"])
    assert other.feed("xabc") + other.feed("e") == "xa"
    assert other.stopped == "bc"
    last = StopFilter(["bc", "abcd"])
    assert last.feed("xabc") + last.flush() == "xa"
    assert last.stopped == "bc"


def test_of_stops_that_begin_together_the_shortest_is_named() -> None:
    stop_filter = StopFilter(["ENDING", "END"])
    assert stop_filter.feed("x ENDING") == "x "
    assert stop_filter.stopped == "END"


def test_a_split_stop_never_leaks_its_first_half() -> None:
    stop_filter = StopFilter(["\nEND"])
    assert [stop_filter.feed(p) for p in ["refund approved.", "\nE", "ND", "\nignore"]] == [
        "refund approved.", "", "", "",
    ]  # fmt: skip
    assert stop_filter.stopped == "\nEND"
    assert stop_filter.flush() == ""


def test_a_false_start_is_shown_in_the_end() -> None:
    stop_filter = StopFilter("\nEND")
    assert [stop_filter.feed(p) for p in ["a\nE", "NG", "\nEN"]] == ["a", "\nENG", ""]
    assert stop_filter.flush() == "\nEN"
    assert stop_filter.stopped is None
    assert stop_filter.flush() == ""
    with pytest.raises(ValueError, match="flushed"):
        stop_filter.feed("D")


def test_a_bare_string_is_one_stop_sequence() -> None:
    assert apply_stop("ENDED. END", "END.") == "ENDED. END"
    assert apply_stop("Not yet. END", "END") == "Not yet. "
    assert StopFilter("END").feed("Not yet. END") == "Not yet. "


@pytest.mark.parametrize("stops", ["", [""], ["END", ""], ["END", None], [3]])
def test_an_empty_stop_sequence_is_refused(stops: list[str]) -> None:
    with pytest.raises(ValueError, match=r"stops\[[01]\] is"):
        apply_stop("text", stops)
    with pytest.raises(ValueError, match=r"stops\[[01]\] is"):
        StopFilter(stops)


def test_no_stops_no_cut() -> None:
    assert apply_stop("text", []) == "text"
    assert apply_stop("", ["END"]) == ""
    stop_filter = StopFilter([])
    assert stop_filter.feed("text") == "text"


def test_work_is_linear_in_the_text() -> None:
    """The costly input for a filter that rescans its tail: counted, not timed."""

    class Letter(str):
        compared = 0
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            Letter.compared += 1
            return str.__eq__(self, other)

        def __ne__(self, other: object) -> bool:
            Letter.compared += 1
            return str.__ne__(self, other)

    stop_filter = StopFilter("a" * 500 + "b")
    shown = 0
    for _ in range(5_000):
        stop_filter._step(Letter("a"))
        shown += len(stop_filter._release())
    assert shown == 5_000 - 500
    assert Letter.compared <= 4 * 5_000


def test_every_short_stop_after_every_beginning_of_itself() -> None:
    """The failed beginning hides a new one: `aaba` before `aabaaaa`."""
    for length in range(1, 8):
        for letters_of_stop in product("ab", repeat=length):
            stop = "".join(letters_of_stop)
            for begun in range(length):
                text = stop[:begun] + stop
                stop_filter = StopFilter(stop)
                shown = "".join(stop_filter.feed(letter) for letter in text)
                assert (shown, stop_filter.stopped) == (apply_stop(text, stop), stop)


def test_random_texts_with_long_overlapping_stops() -> None:
    rng = random.Random(1)
    for _ in range(300):
        stops = ["".join(rng.choices("ab", k=rng.randint(1, 9))) for _ in range(3)]
        text = "".join(rng.choices("aab", k=60))
        stop_filter = StopFilter(stops)
        shown = "".join(stop_filter.feed(letter) for letter in text) + stop_filter.flush()
        assert shown == apply_stop(text, stops)
