"""A utility: one score for each public candidate, and how far one person can move a score.

A private choice is as safe as the sensitivity it is told. So a utility cannot exist without a bound on its sensitivity
and the reason why that bound holds. A score such as 1/distance has none: it grows without limit near a candidate.
Minus the distance, within declared bounds, has one.

Terms: step, the unit in which a candidate falls short of the best one; monotone, when one person moves all scores
the same way (counts under add-remove), which lets every mechanism of choice spend half as much.

What it does not promise: that the declared bound is true. It is the caller's proof; a certificate that enumerates
neighbours shows when it is not.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from discreet import check
from discreet.errors import ArgumentError
from discreet.mechanisms.decay import Decay, Exponential, Powers, decay_of

__all__ = [
    "Epsilon",
    "Score",
    "Utility",
    "exact_score",
    "exact_sensitivity",
    "rational",
    "share_of_epsilon",
    "shortfall",
]

Epsilon = Decay | Fraction | float | str
Score = int | Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Utility:
    """Scores of the candidates in their public order, the higher the better."""

    scores: Sequence[Score] = field(repr=False)
    sensitivity: Fraction
    why: str
    monotone: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "scores", tuple(exact_score(score) for score in self.scores))
        object.__setattr__(self, "sensitivity", exact_sensitivity(self.sensitivity, self.why))
        if not self.scores:
            raise ArgumentError(
                "scores", found="no candidate", right="a choice needs at least one", step="list the public candidates"
            )

    def steps(self, epsilon: Epsilon) -> tuple[tuple[int, ...], Decay]:
        """How many whole steps each candidate falls short of the best, and what a step weighs.

        A candidate that falls short by Δ weighs e^(−ε/2), or e^(−ε) when the utility is monotone.
        """
        heights = [Fraction(score) / self.sensitivity for score in self.scores]
        finest = math.lcm(*(height.denominator for height in heights))
        best = max(heights)
        gaps = tuple(((best - height) * finest).numerator for height in heights)
        return gaps, decay_of(epsilon).scaled(share_of_epsilon(monotone=self.monotone) / finest)

    def shortfall(self, epsilon: Epsilon, beta: Fraction | float | str, *, tied: int = 1) -> float:
        """How far below the best score the chosen one lies at most, but for probability beta."""
        return shortfall(
            len(self.scores), self.sensitivity, epsilon, beta, tied=tied, share=share_of_epsilon(monotone=self.monotone)
        )


def share_of_epsilon(*, monotone: bool) -> Fraction:
    """What part of ε a fall by one sensitivity is worth in a choice.

    Given:   one person moves each score by at most the sensitivity, all the same way if monotone.
    Promise: a weight of e^(−share·ε) for each sensitivity of shortfall makes the choice ε-differentially private.
    Because: a neighbour multiplies one candidate's weight by at most e^(share·ε); the weights it is compared with
        shrink by as much when scores may move apart, and stay or grow with it when they move together.
    Tested:  tests/mechanisms/test_choice.py::test_certificate_of_the_exponential_mechanism.
    """
    return Fraction(1) if monotone else Fraction(1, 2)


def shortfall(
    candidates: int,
    sensitivity: Fraction | float | str,
    epsilon: Epsilon,
    beta: Fraction | float | str,
    *,
    tied: int = 1,
    share: Fraction = Fraction(1, 2),
) -> float:
    """Δ/(share·ε) · ln(candidates/(tied·beta)): the usual bound, sharper when `tied` candidates share the best score.

    It depends on public facts alone as long as `tied` does; a number of ties read off the scores is confidential.
    Holds for the exponential mechanism (McSherry and Talwar 2007) and so for permute-and-flip, which is never worse.
    """
    check.at_least("candidates", candidates, 1)
    missed = check.probability("beta", beta)
    if not 1 <= tied <= candidates or missed == 0:
        raise ArgumentError(
            "shortfall",
            found=f"tied={tied} of {candidates} candidates, beta={beta}",
            right="tied lies between 1 and the number of candidates, beta above 0",
            step="give tied=1 and a beta such as 0.05",
        )
    decay = decay_of(epsilon)
    speed = float(decay.rate) if isinstance(decay, Exponential) else math.log(decay.base)
    # Rounding the ratio moves its logarithm by 2⁻⁵³; the other roundings are half a dozen units of the last place.
    odds = math.log(candidates / (tied * missed)) + 2**-50
    return float(check.positive("sensitivity", sensitivity)) * odds / (float(share) * speed) * (1 + 2**-48)


def exact_score(score: object) -> Score:
    """The score as an exact number; a float is refused, since its rounding is in no one's sensitivity."""
    if isinstance(score, Fraction):
        return score
    try:
        return operator.index(score)  # type: ignore[arg-type]  # what has no index raises TypeError
    except TypeError:
        raise ArgumentError(
            "scores",
            found=f"a {type(score).__name__}",
            right="scores are whole numbers or fractions",
            step="round the scores to a public grid, and count the rounding in the sensitivity",
        ) from None


def exact_sensitivity(sensitivity: Fraction | float | str | None, why: str) -> Fraction:
    """The declared bound, refused when it is missing, infinite, not above 0, or without a reason."""
    infinite = isinstance(sensitivity, float) and not math.isfinite(sensitivity)
    if sensitivity is None or infinite or not why.strip():
        raise ArgumentError(
            "utility",
            found="no finite bound on what one person can change in a score, or no reason for it",
            right="a choice is private only for a bounded sensitivity, proven by whoever declares it",
            step="use a bounded utility, such as minus the distance within declared bounds instead of 1/distance",
        )
    return check.positive("sensitivity", sensitivity)


def rational(decay: object) -> Powers:
    """The decay, if its weights are fractions; a law can be written down for no other."""
    if isinstance(decay, Powers):
        return decay
    raise ArgumentError(
        "epsilon",
        found="not a decay in powers",
        right="a law in exact fractions needs a decay in powers",
        step="give Powers(base), which is ε = ln(base)",
    )
