"""Masks and the constraint tax: contract section 4, the mask side of the constrained cases."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apisurface import (
    constrained_renormalize,
    constraint_tax,
    illegal_mass,
    mask_divergence,
    nucleus,
)

NAN = math.nan
TOKENS = ["Here", "{", "The", "Sure", "Note"]
PROSE_FIRST = [0.45, 0.08, 0.25, 0.12, 0.10]
BRACE_ANYWAY = [0.10, 0.55, 0.15, 0.10, 0.10]
BRACE = {1}
EVERY = [constrained_renormalize, constraint_tax, illegal_mass, mask_divergence]


@st.composite
def masked(draw: st.DrawFn) -> tuple[list[float], set[int]]:
    weights = draw(st.lists(st.integers(0, 1000), min_size=1, max_size=20).filter(any))
    legal = draw(st.sets(st.integers(0, len(weights) - 1), min_size=1))
    return [weight / sum(weights) for weight in weights], legal


# --- the contract's figures ----------------------------------------------------------------


def test_tax_figures() -> None:
    assert constraint_tax(PROSE_FIRST, BRACE) == 0.45
    assert constraint_tax(BRACE_ANYWAY, BRACE) == 0.0
    for probs in (PROSE_FIRST, BRACE_ANYWAY):
        forced = constrained_renormalize(probs, BRACE)
        assert [TOKENS[i] for i, p in enumerate(forced) if p == 1.0] == ["{"]
        assert sum(forced) == 1.0


def test_full_price_figures() -> None:
    assert illegal_mass(PROSE_FIRST, BRACE) == pytest.approx(0.92)
    assert illegal_mass(BRACE_ANYWAY, BRACE) == pytest.approx(0.45)
    assert mask_divergence(PROSE_FIRST, BRACE) == pytest.approx(-math.log(0.08))
    assert mask_divergence(BRACE_ANYWAY, BRACE) == pytest.approx(-math.log(0.55))


# --- laws ----------------------------------------------------------------------------------


@given(masked())
def test_renormalised_is_a_distribution_over_the_legal(
    case: tuple[list[float], set[int]],
) -> None:
    probs, legal = case
    mass = sum(Fraction(probs[i]) for i in legal)
    if mass == 0:
        for function in (constrained_renormalize, mask_divergence):
            with pytest.raises(ValueError, match="the grammar left no legal continuation"):
                function(probs, legal)
        assert illegal_mass(probs, legal) == 1.0
        return
    after = constrained_renormalize(probs, legal)
    assert len(after) == len(probs)
    assert math.fsum(after) == pytest.approx(1.0, abs=1e-12)
    for index, value in enumerate(after):
        share = Fraction(probs[index]) / mass if index in legal else 0
        assert value == pytest.approx(float(share))
        assert index in legal or value == 0.0
    # Masking twice is masking once.
    assert constrained_renormalize(after, legal) == pytest.approx(after)


@given(masked())
def test_the_price_is_the_kl_divergence(case: tuple[list[float], set[int]]) -> None:
    probs, legal = case
    if not any(probs[i] for i in legal):
        return
    after = constrained_renormalize(probs, legal)
    kl = math.fsum(q * math.log(q / p) for q, p in zip(after, probs, strict=True) if q > 0)
    assert mask_divergence(probs, legal) == pytest.approx(kl, abs=1e-9)
    assert mask_divergence(probs, legal) >= 0.0
    assert 0.0 <= illegal_mass(probs, legal) < 1.0
    legal_mass = 1 - illegal_mass(probs, legal)
    assert math.exp(-mask_divergence(probs, legal)) == pytest.approx(legal_mass)


@given(masked())
def test_the_tax_is_part_of_the_illegal_mass(case: tuple[list[float], set[int]]) -> None:
    probs, legal = case
    tax = constraint_tax(probs, legal)
    assert tax in (0.0, max(probs))
    assert tax <= illegal_mass(probs, legal) + 1e-9
    greedy = nucleus(probs, 1e-9)[0]
    assert (tax == 0.0) == (greedy in legal)


@given(masked())
def test_against_numpy(case: tuple[list[float], set[int]]) -> None:
    probs, legal = case
    mask = np.isin(np.arange(len(probs)), list(legal))
    kept = np.where(mask, probs, 0.0)
    if kept.sum() > 0:
        expected = (kept / kept.sum()).tolist()
        assert constrained_renormalize(probs, legal) == pytest.approx(expected)
        assert illegal_mass(probs, legal) == pytest.approx(float(1 - kept.sum()), abs=1e-12)


def test_everything_legal_costs_nothing() -> None:
    everything = set(range(5))
    assert constraint_tax(PROSE_FIRST, everything) == 0.0
    assert illegal_mass(PROSE_FIRST, everything) == 0.0
    assert math.copysign(1, mask_divergence([0.5, 0.5], {0, 1})) == 1.0  # never -0.0
    assert constrained_renormalize([0.5, 0.5], {0, 1}) == [0.5, 0.5]


def test_a_tie_for_first_choice_goes_to_the_lower_index() -> None:
    assert constraint_tax([0.5, 0.5], {1}) == 0.5
    assert constraint_tax([0.5, 0.5], {0}) == 0.0


def test_a_tiny_legal_mass_still_renormalises() -> None:
    assert constrained_renormalize([1.0, 5e-324, 5e-324], {1, 2}) == [0.0, 0.5, 0.5]
    assert mask_divergence([1.0, 1e-300], {1}) == pytest.approx(300 * math.log(10))


def test_the_recorded_prices_add_up() -> None:
    """A step's legal mass is all that its price depends on."""
    path = Path(__file__).parent.parent / "book/recordings/tax.json"
    for run in json.loads(path.read_text(encoding="utf-8"))["runs"].values():
        masses = [step["legal_mass"] for step in run["steps"]]
        nats = math.fsum(mask_divergence([mass, 1.0 - mass], {0}) for mass in masses)
        assert nats / math.log(2) == pytest.approx(run["total_bits"], rel=1e-5)
        assert all(step["token"][2] <= step["legal_mass"] + 1e-4 for step in run["steps"])


# --- the domain ----------------------------------------------------------------------------


@pytest.mark.parametrize("function", EVERY)
def test_an_empty_legal_set_is_refused(function: object) -> None:
    with pytest.raises(ValueError, match="the grammar left no legal continuation"):
        function([0.5, 0.5], set())  # type: ignore[operator]


def test_a_legal_mass_of_zero() -> None:
    probs = [1.0, 0.0, 0.0]
    with pytest.raises(ValueError, match=r"no legal continuation: every legal token \(2\)"):
        constrained_renormalize(probs, {1, 2})
    with pytest.raises(ValueError, match="the grammar left no legal continuation"):
        mask_divergence(probs, {1, 2})
    assert constraint_tax(probs, {1, 2}) == 1.0
    assert illegal_mass(probs, {1, 2}) == 1.0


@pytest.mark.parametrize("function", EVERY)
@pytest.mark.parametrize("index", [-1, 2, 99])
def test_an_index_outside_the_vocabulary_is_named(function: object, index: int) -> None:
    with pytest.raises(ValueError, match=rf"legal index {index} is not one of 2 tokens"):
        function([0.5, 0.5], {0, index})  # type: ignore[operator]


@pytest.mark.parametrize("function", EVERY)
def test_flags_are_not_indices(function: object) -> None:
    with pytest.raises(ValueError, match="flags"):
        function([0.5, 0.3, 0.2], [False, True, True])  # type: ignore[operator]


def test_legal_is_a_set_in_whatever_container() -> None:
    probs = [0.2, 0.3, 0.5]
    expected = constrained_renormalize(probs, {0, 1})
    for legal in ([1, 0, 1], (0, 1), {0: "a", 1: "b"}.keys(), np.array([0, 1])):
        assert constrained_renormalize(probs, legal) == expected  # type: ignore[arg-type]
        assert illegal_mass(probs, legal) == 0.5  # type: ignore[arg-type]


def test_fractional_indices_are_a_type_error() -> None:
    with pytest.raises(TypeError):
        constrained_renormalize([0.5, 0.5], {0.5})  # type: ignore[arg-type]


@pytest.mark.parametrize("function", EVERY)
@pytest.mark.parametrize(
    ("probs", "words"),
    [
        ([0.5, NAN, 0.5], r"probs\[1\] is nan"),
        ([-0.5, 1.5], r"probs\[0\] is -0.5"),
        ([0.5], "sum to 0.5"),
    ],
)
def test_b187_bad_probabilities_are_named(
    function: object, probs: list[float], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        function(probs, {0})  # type: ignore[operator]


# --- cases of area constrained that concern the mask -----------------------------------------


def test_b190_masked_probabilities_sum_to_one_before_top_p() -> None:
    after = constrained_renormalize([0.6, 0.3, 0.1], {1, 2})
    assert after == pytest.approx([0.0, 0.75, 0.25])
    assert nucleus(after, 0.7) == [1]
    assert nucleus(after, 0.9) == [1, 2]


def test_b191_the_nucleus_first_can_leave_nothing() -> None:
    probs, legal = [0.9, 0.06, 0.04], {2}
    assert nucleus(constrained_renormalize(probs, legal), 0.9) == [2]
    survivors = legal & set(nucleus(probs, 0.9))
    with pytest.raises(ValueError, match="the grammar left no legal continuation"):
        constrained_renormalize(probs, survivors)


def test_b193_a_mask_for_another_vocabulary_is_an_error_with_both_sizes() -> None:
    logits_len, mask_len = 6, 8
    probs = [1 / logits_len] * logits_len
    mask = [index in (1, 7) for index in range(mask_len)]
    with pytest.raises(ValueError, match="legal index 7 is not one of 6 tokens"):
        constrained_renormalize(probs, {i for i, ok in enumerate(mask) if ok})
    padding_never_legal = {i for i, ok in enumerate(mask) if ok and i < logits_len}
    assert constrained_renormalize(probs, padding_never_legal)[1] == 1.0


def test_b199_the_end_token_alone_or_a_dead_end() -> None:
    end = 2
    assert constrained_renormalize([0.7, 0.2, 0.1], {end}) == [0.0, 0.0, 1.0]
    with pytest.raises(ValueError, match="the grammar left no legal continuation"):
        constrained_renormalize([0.7, 0.2, 0.1], set())
