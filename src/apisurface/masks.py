# Generated from book/masks.ipynb: edit it there, then run `make save`.
"""What a mask does to a distribution at one step, and what it costs.

A grammar names the tokens that are legal next; all others get probability zero
and the rest is divided by its sum. The price comes in three forms: the tax on a
greedy step, the mass taken away, the divergence. Which tokens are legal is not
worked out here, and no rule that looks at one step at a time makes a whole text
as likely as the model holds it, given that it is legal.

`legal` is a set of token indices, not a list of flags; an index given twice
counts once.
"""

import math
import operator
from collections.abc import Collection, Sequence

from apisurface.sampling import check_distribution


# cell: legal-part
def _legal_part(
    probs: Sequence[float],
    legal: Collection[int],
) -> tuple[list[float], set[int]]:
    """Return the checked probabilities and the checked set of legal indices."""
    values = check_distribution(probs)
    if any(isinstance(index, bool) for index in legal):
        raise ValueError("legal holds flags: give the indices that are legal")
    indices = {operator.index(index) for index in legal}
    if not indices:
        raise ValueError("the grammar left no legal continuation: legal is empty")
    for index in sorted(indices):
        if not 0 <= index < len(values):
            raise ValueError(
                f"legal index {index} is not one of {len(values)} tokens: "
                "a mask for another vocabulary?"
            )
    return values, indices


# cell: legal-mass
def _legal_mass(values: list[float], indices: set[int]) -> float:
    """Return the mass that survives the mask; nothing left is an error."""
    mass = math.fsum(values[index] for index in indices)
    if mass == 0.0:
        raise ValueError(
            "the grammar left no legal continuation: "
            f"every legal token ({len(indices)}) has probability 0"
        )
    return mass


# cell: constrained-renormalize
def constrained_renormalize(
    probs: Sequence[float],
    legal: Collection[int],
) -> list[float]:
    """Return the distribution under a mask: illegal zero, the rest over its sum.

    `probs` is a distribution over the vocabulary and `legal` a set of its
    indices. The result is as long as `probs` and sums to 1.

    Raises ValueError "the grammar left no legal continuation" when `legal` is
    empty or holds no token of positive probability; for an index outside the
    vocabulary (both are named) and for flags; and what `check_distribution`
    raises.
    """
    values, indices = _legal_part(probs, legal)
    mass = _legal_mass(values, indices)
    return [p / mass if index in indices else 0.0 for index, p in enumerate(values)]


# cell: constraint-tax
def constraint_tax(probs: Sequence[float], legal: Collection[int]) -> float:
    """Return the probability of a forbidden first choice, 0.0 for a legal one.

    The first choice is the most likely token and, among equals, the one of
    lowest index: what a greedy step takes. A tax of 0.0 says that greedy
    decoding is undisturbed at this step, not that the mask is free: see
    `illegal_mass`.

    Raises ValueError as `constrained_renormalize` does, but not for a legal
    mass of 0.
    """
    values, indices = _legal_part(probs, legal)
    top = max(values)
    return 0.0 if values.index(top) in indices else top


# cell: illegal-mass
def illegal_mass(probs: Sequence[float], legal: Collection[int]) -> float:
    """Return the probability that the mask takes away: 1 - the legal mass.

    It is how often an unmasked draw would have been illegal at this step.

    Raises ValueError as `constrained_renormalize` does, but not for a legal
    mass of 0.
    """
    values, indices = _legal_part(probs, legal)
    return max(0.0, 1.0 - math.fsum(values[index] for index in indices))


# cell: mask-divergence
def mask_divergence(probs: Sequence[float], legal: Collection[int]) -> float:
    """Return the KL divergence of the masked from the unmasked, in nats.

    It is -ln of the legal mass; divide by ln 2 for bits. Along a text the
    divergences add up: their sum is the log of the factor by which the masks
    raised that text's probability.

    Raises ValueError as `constrained_renormalize` does.
    """
    values, indices = _legal_part(probs, legal)
    return max(0.0, -math.log(_legal_mass(values, indices)))
