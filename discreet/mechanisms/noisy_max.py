"""Report the noisy maximum: add exponential noise to every score and name the highest.

1. Each candidate's score is turned into whole steps below the best (`Utility.steps`).
2. Each gets one-sided geometric noise of its own, a step of which weighs what a step of score does.
3. The highest is chosen; of several equally high ones each is equally likely.

On a grid of steps this is the real exponential noise itself: its whole part is geometric, and its fractional parts
are alike for all candidates, so that they break a tie uniformly. The uniform tie rule is part of the law: a rule that
looks at the scores (such as giving a tie to the truly better candidate) breaks the guarantee.

Reference: Ding, Kifer, Saghaian, Steinke, Wang, Xiao and Zhang 2021, who show that it is permute-and-flip.

What it does not promise: the exponential mechanism. That one is the maximum with Gumbel noise, on the real line only:
rounded to a grid, Gumbel noise ties, and in floats it has holes. Neither it nor two-sided noise is offered here; both
err by more at the same ε.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.mechanisms import permute_and_flip
from discreet.mechanisms.decay import Powers
from discreet.mechanisms.samplers import Geometric, comparable, draw_many
from discreet.mechanisms.utility_score import Epsilon, Utility, rational
from discreet.randomness import Bits, require_fresh

__all__ = ["choose", "law"]


def choose(utility: Utility, epsilon: Epsilon, bits: Bits, *, teaching: bool = False) -> int:
    """The index of the candidate with the highest noisy score.

    Given:   a utility whose declared sensitivity holds, a public ε, independent uniform bits.
    Promise: ε-differential privacy; the probabilities are exactly those of `law`.
    Because: given the others' noise, a candidate wins when its own reaches k, with probability
             min(1, e^(−ε·k/(2Δ))), and a neighbour moves k by at most 2Δ (by Δ and at ε/Δ when monotone).
    Tested:  tests/mechanisms/test_choice.py::test_noisy_max_is_permute_and_flip.
    """
    require_fresh(bits, teaching=teaching)
    steps, decay = utility.steps(epsilon)
    if not comparable(decay):
        # How fine the steps are follows from the scores: nothing may be refused, and the law is the same without noise.
        return permute_and_flip.choose(utility, epsilon, bits, teaching=teaching)
    noise = draw_many(Geometric(decay), len(steps), bits).tolist()
    heights = [drawn - step for drawn, step in zip(noise, steps, strict=True)]
    highest = max(heights)
    tied = [candidate for candidate, height in enumerate(heights) if height == highest]
    return tied[bits.below(len(tied))]


def law(utility: Utility, epsilon: Powers) -> dict[int, Fraction]:
    """The exact probability of each candidate's index, summed over all heights and ties of the noise itself."""
    steps, scaled = utility.steps(epsilon)
    decay = rational(scaled)
    one = decay.weight(1)
    weights = [decay.weight(step) for step in steps]
    return {index: _wins(one, weight, weights[:index] + weights[index + 1 :]) for index, weight in enumerate(weights)}


def _wins(one: Fraction, weight: Fraction, others: list[Fraction]) -> Fraction:
    """The chance to be highest, which is a height v ≥ 0.

    With x = one^v, another of weight w lies below v with chance 1 − w·x, and level with it with (1 − one)·w·x.
    `cases[ties, power]` is the coefficient of x^power in the chance that so many others are level and the rest below.
    """
    cases = {(0, 0): Fraction(1)}
    for other in others:
        longer: dict[tuple[int, int], Fraction] = {}
        for (ties, power), chance in cases.items():
            for key, factor in (
                ((ties, power), Fraction(1)),
                ((ties, power + 1), -other),
                ((ties + 1, power + 1), (1 - one) * other),
            ):
                longer[key] = longer.get(key, Fraction(0)) + chance * factor
        cases = longer
    terms = (chance / ((ties + 1) * (1 - one ** (power + 1))) for (ties, power), chance in cases.items())
    return (1 - one) * weight * sum(terms, start=Fraction(0))
