"""The exponential mechanism: choose one output, with odds that grow with its score.

1. Each candidate's score is turned into whole steps below the best (`Utility.steps`).
2. A candidate weighs e^(−ε·(best − score)/(2Δ)); for a monotone utility e^(−ε·(best − score)/Δ).
3. One is drawn with probability proportional to its weight, by comparing uniform bits with integer enclosures.

Three kinds of range: a finite list; a public grid on an interval, with the score constant along runs of grid points
(the continuous mechanism, whose integral is a sum over the grid); and all of 0, 1, 2, … where the weights are summable
because scores are clamped to a public ceiling that falls without end.

Terms: Δ, the utility's sensitivity; run, neighbouring grid points of equal score; block, `head` outputs in a row.

Reference: McSherry and Talwar 2007. In composition it counts as ε²/8-zCDP (bounded range, Cesar and Rogers 2021).

What it does not promise: that the best candidate is likely (see `shortfall`); a running time that says nothing of
the scores on a countable range, where proposals are rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from discreet import check
from discreet.mechanisms import weighted
from discreet.mechanisms.decay import Powers, decay_of
from discreet.mechanisms.utility_score import (
    Epsilon,
    Score,
    Utility,
    exact_score,
    exact_sensitivity,
    rational,
    share_of_epsilon,
)
from discreet.randomness import Bits, require_fresh

__all__ = [
    "CountableUtility",
    "Grid",
    "choose",
    "choose_countable",
    "choose_point",
    "law",
    "law_countable",
    "law_runs",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Points low, low + step, … of an interval, all public."""

    low: Fraction
    step: Fraction
    points: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", check.exact("low", self.low))
        object.__setattr__(self, "step", check.positive("step", self.step))
        check.at_least("points", self.points, 1)

    def value(self, index: int) -> Fraction:
        """The point of that index."""
        return self.low + index * self.step


@dataclass(frozen=True, slots=True, kw_only=True)
class CountableUtility:
    """A score for every whole number from 0 on, clamped to a public ceiling that falls by `decline` a block.

    A minimum with a public constant moves by no more than what it is taken of: the clamp keeps the sensitivity,
    and makes the weights summable whatever the score does.
    """

    score: Callable[[int], Score]
    sensitivity: Fraction
    why: str
    ceiling: Score
    decline: Score
    head: int
    monotone: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "sensitivity", exact_sensitivity(self.sensitivity, self.why))
        object.__setattr__(self, "ceiling", check.exact("ceiling", self.ceiling))
        object.__setattr__(self, "decline", check.positive("decline", self.decline))
        check.at_least("head", self.head, 1)

    def steps_below_ceiling(self, output: int) -> tuple[Fraction, Fraction]:
        """How far below the ceiling the envelope lies at an output, and how far below that the score, in Δ."""
        envelope = self.ceiling - self.decline * (output // self.head)
        short = max(Fraction(0), envelope - exact_score(self.score(output)))
        return (self.ceiling - envelope) / self.sensitivity, short / self.sensitivity


def choose(utility: Utility, epsilon: Epsilon, bits: Bits, *, teaching: bool = False) -> int:
    """The index of one candidate, by the exponential mechanism.

    Given:   a utility whose declared sensitivity holds, a public ε, independent uniform bits.
    Promise: ε-differential privacy; the probabilities are exactly those of `law`.
    Because: a neighbour changes each weight by at most e^(ε/2), and their sum by at most e^(ε/2) the other way.
    Tested:  tests/mechanisms/test_choice.py::test_certificate_of_the_exponential_mechanism.
    """
    require_fresh(bits, teaching=teaching)
    steps, decay = utility.steps(epsilon)
    return weighted.choose(steps, decay, bits)


def law(utility: Utility, epsilon: Powers) -> dict[int, Fraction]:
    """The exact probability of each candidate's index."""
    steps, decay = utility.steps(epsilon)
    return dict(enumerate(weighted.law(steps, rational(decay))))


def choose_point(runs: Utility, widths: Sequence[int], epsilon: Epsilon, bits: Bits, *, teaching: bool = False) -> int:
    """The index of one grid point, where run i covers widths[i] points of equal score.

    Given:   widths that add up to the public number of grid points; at every single point the score is one that
             one person moves by at most the declared sensitivity, even where this moves the ends of runs.
    Promise: ε-differential privacy; every point is drawn with the probability `choose` would give it.
    Because: points of equal score weigh the same: a run weighs its width times that, and inside it all are equal.
    Tested:  tests/mechanisms/test_choice_ranges.py::test_runs_are_the_points_they_stand_for.
    """
    require_fresh(bits, teaching=teaching)
    steps, decay = runs.steps(epsilon)
    run = weighted.choose(steps, decay, bits, multiplicities=widths)
    return int(sum(widths[:run])) + bits.below(int(widths[run]))


def law_runs(runs: Utility, widths: Sequence[int], epsilon: Powers) -> dict[int, Fraction]:
    """The exact probability of each grid point."""
    steps, decay = runs.steps(epsilon)
    masses = weighted.law(steps, rational(decay), multiplicities=widths)
    starts = accumulate(widths, initial=0)
    return {
        start + offset: mass / width
        for start, width, mass in zip(starts, widths, masses, strict=False)
        for offset in range(width)
    }


def choose_countable(utility: CountableUtility, epsilon: Epsilon, bits: Bits, *, teaching: bool = False) -> int:
    """One whole number from 0 on, by the exponential mechanism.

    Given:   a utility whose declared sensitivity holds, with a public ceiling, decline and head.
    Promise: ε-differential privacy; an output's odds are exactly the weight of its clamped score.
    Because: a block drawn with falling odds and a number inside it follow the ceiling's weights, and keeping the
             proposal with the weight of the rest leaves the weight of the score. No sum is ever formed.
    Tested:  tests/mechanisms/test_choice_ranges.py::test_countable_draws_follow_the_law.
    """
    require_fresh(bits, teaching=teaching)
    decay = decay_of(epsilon).scaled(share_of_epsilon(monotone=utility.monotone))
    fall = utility.decline / utility.sensitivity
    while True:
        block = 0
        while decay.flip(fall, bits):
            block += 1
        output = block * utility.head + bits.below(utility.head)
        if decay.flip(utility.steps_below_ceiling(output)[1], bits):
            return output


def law_countable(utility: CountableUtility, epsilon: Powers, blocks: int) -> dict[int, tuple[Fraction, Fraction]]:
    """Bounds on the probability of each output in that many blocks; all that lies beyond is bounded by a series."""
    decay = epsilon.scaled(share_of_epsilon(monotone=utility.monotone))
    outputs = range(check.at_least("blocks", blocks, 1) * utility.head)
    weights = [decay.weight(sum(utility.steps_below_ceiling(output), start=Fraction(0))) for output in outputs]
    ratio = decay.weight(utility.decline / utility.sensitivity)
    total = sum(weights, start=Fraction(0))
    most = total + utility.head * ratio**blocks / (1 - ratio)
    return {output: (weight / most, weight / total) for output, weight in zip(outputs, weights, strict=True)}
