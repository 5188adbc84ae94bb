"""Permute-and-flip: look at the candidates in random order and keep the first whose coin comes up.

1. Shuffle the candidates uniformly.
2. Flip for each, in that order, a coin that comes up with probability e^(−ε·(best − score)/(2Δ)), exactly;
   for a monotone utility e^(−ε·(best − score)/Δ).
3. The first that came up is chosen. The best candidate's coin always does, so there is one.

The tie rule is part of the law: equal scores are equally likely, by the shuffle.

Reference: McKenna and Sheldon 2020; equal in law to the noisy maximum with exponential noise (Ding and others 2021).
Its expected shortfall never exceeds the exponential mechanism's at the same ε.

What it does not promise: a smaller cost than ε in composition. The exponential mechanism's ε²/8-zCDP is the better
price when many choices compose.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.mechanisms.decay import Powers
from discreet.mechanisms.utility_score import Epsilon, Utility, rational
from discreet.randomness import Bits, require_fresh

__all__ = ["choose", "law"]


def choose(utility: Utility, epsilon: Epsilon, bits: Bits, *, teaching: bool = False) -> int:
    """The index of one candidate, by permute-and-flip.

    Given:   a utility whose declared sensitivity holds, a public ε, independent uniform bits.
    Promise: ε-differential privacy; the probabilities are exactly those of `law`.
    Because: it is the noisy maximum with exponential noise. Given the others' noise, a candidate wins when its own
             reaches k, with probability min(1, e^(−ε·k/(2Δ))), and a neighbour moves k by at most 2Δ.
    Tested:  tests/mechanisms/test_choice.py::test_certificate_of_permute_and_flip.
    """
    require_fresh(bits, teaching=teaching)
    steps, decay = utility.steps(epsilon)
    chosen = None
    # All coins are flipped, so that how many there were tells nothing.
    for candidate in _shuffled(len(steps), bits):
        if decay.flip(steps[candidate], bits) and chosen is None:
            chosen = candidate
    assert chosen is not None, "the best candidate's coin comes up"
    return chosen


def law(utility: Utility, epsilon: Powers) -> dict[int, Fraction]:
    """The exact probability of each candidate's index.

    A shuffle is the order of independent uniform arrival times. Whoever arrives at time t wins with probability
    weight · Π(1 − t·weight of each other), a polynomial in t that is integrated from 0 to 1.
    """
    steps, scaled = utility.steps(epsilon)
    decay = rational(scaled)
    weights = [decay.weight(step) for step in steps]
    return {index: _wins(weight, weights[:index] + weights[index + 1 :]) for index, weight in enumerate(weights)}


def _wins(weight: Fraction, others: list[Fraction]) -> Fraction:
    polynomial = [weight]
    for other in others:
        shifted = [Fraction(0), *(-other * coefficient for coefficient in polynomial)]
        polynomial = [a + b for a, b in zip([*polynomial, Fraction(0)], shifted, strict=True)]
    return sum((coefficient / (power + 1) for power, coefficient in enumerate(polynomial)), start=Fraction(0))


def _shuffled(count: int, bits: Bits) -> list[int]:
    """All indices in uniform random order."""
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = bits.below(last + 1)
        order[last], order[other] = order[other], order[last]
    return order
