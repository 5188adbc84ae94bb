"""Private choice: name one of many public candidates, where higher scores should win.

Three methods, one file each, behind one function:

| method | what it does | cost in composition |
|---|---|---|
| permute-and-flip (default) | random order, exact coins | ε; ε²/2-zCDP |
| noisy maximum | exponential noise, uniform tie rule; the same law | ε; ε²/2-zCDP |
| exponential mechanism | odds proportional to e^(ε·score/(2Δ)) | ε; ε²/8-zCDP |

Permute-and-flip never expects a larger shortfall at the same ε; the exponential mechanism is the better bargain where
many choices are accounted in zCDP. For a stream of questions "is this above the threshold?" see `sparse_vector`.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction

from discreet.guarantee import ZCDP, PureDP
from discreet.mechanisms import exponential, noisy_max, permute_and_flip
from discreet.mechanisms.decay import Powers
from discreet.mechanisms.utility_score import Epsilon, Utility
from discreet.randomness import Bits

__all__ = ["Method", "choose", "cost", "cost_in_zcdp", "law"]


class Method(StrEnum):
    """How a choice is made."""

    PERMUTE_AND_FLIP = "permute-and-flip"
    NOISY_MAX = "noisy-max"
    EXPONENTIAL = "exponential"


_WAYS = {
    Method.PERMUTE_AND_FLIP: (permute_and_flip.choose, permute_and_flip.law),
    Method.NOISY_MAX: (noisy_max.choose, noisy_max.law),
    Method.EXPONENTIAL: (exponential.choose, exponential.law),
}


def choose(
    utility: Utility,
    epsilon: Epsilon,
    bits: Bits,
    *,
    method: Method = Method.PERMUTE_AND_FLIP,
    teaching: bool = False,
) -> int:
    """The index of one candidate; its cost is `cost(epsilon)`, whatever is chosen.

    Given:   a utility whose declared sensitivity holds, a public ε, independent uniform bits.
    Promise: ε-differential privacy; the probabilities are exactly those of `law`.
    Because: each method promises it, and the method is public.
    Tested:  tests/mechanisms/test_choice.py::test_draws_in_powers_follow_the_law_that_certifies_them.
    """
    return _WAYS[method][0](utility, epsilon, bits, teaching=teaching)


def law(utility: Utility, epsilon: Powers, *, method: Method = Method.PERMUTE_AND_FLIP) -> dict[int, Fraction]:
    """The exact probability of each candidate's index, as `choose` draws it."""
    return _WAYS[method][1](utility, epsilon)


def cost(epsilon: Fraction | float | str) -> PureDP:
    """What one choice costs."""
    return PureDP.of(epsilon)


def cost_in_zcdp(epsilon: Fraction | float | str, *, method: Method = Method.PERMUTE_AND_FLIP) -> ZCDP:
    """What one choice costs where choices compose in zCDP.

    Given:   a choice made with that ε.
    Promise: it is ρ-zCDP with ρ = ε²/8 for the exponential mechanism and ε²/2 otherwise.
    Because: the log-ratio of the exponential mechanism between neighbours stays in an interval of length ε, and
             Hoeffding's lemma turns its range into ε²/8 (Cesar and Rogers 2021); the others are ε-private.
    Tested:  tests/mechanisms/test_choice.py::test_cost_in_zcdp_is_never_below_the_exact_divergence.
    """
    pure = PureDP.of(epsilon)
    return ZCDP(pure.epsilon**2 / 8) if method is Method.EXPONENTIAL else pure.as_zcdp()
