"""Randomised response: each person randomises the answer before it leaves them.

1. With probability p = e^ε/(e^ε + k − 1) the true one of k answers is reported.
2. Otherwise one of the other k − 1 is, all equally likely.
3. From n reports, a share is estimated without bias by (count/n − q)/(p − q), where q = (1 − p)/(k − 1).

For two answers this is the coin: "toss; on heads tell the truth, on tails toss again and report that coin" keeps the
truth with p = 3/4, odds 3, so ε = ln 3.

Terms: odds, e^ε, by how much any report can change the odds between two truths; width, 1/(p − q), the range of one
person's contribution to the estimate.

Reference: Warner 1965; for k answers Kairouz, Bonawitz and Ramage 2016.

What it does not promise: accuracy of the central model (the error is larger by about √n), nor anything about who
answered, when, or how often: a person who answers m times has spent m·ε.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from discreet import check
from discreet.errors import ArgumentError
from discreet.guarantee import PureDP
from discreet.mechanisms.channel import Channel
from discreet.mechanisms.decay import Decay, Exponential, Powers, decay_of
from discreet.mechanisms.uniform import LazyUniform, integers_below
from discreet.mechanisms.utility_score import Epsilon, rational
from discreet.randomness import Bits, require_fresh

__all__ = ["Response", "Share"]

Answers = npt.NDArray[np.int64]
_WORD, _GUARD = 64, 64
_DIGITS = 40
_SLIGHT, _LOGARITHM_DIGITS = Fraction(1, 10**13), 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """An estimated share of one answer, with its standard error and an interval."""

    estimate: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """Randomised response among answers 0 … categories − 1."""

    decay: Decay
    categories: int = 2

    def __post_init__(self) -> None:
        check.at_least("categories", self.categories, 2)

    @classmethod
    def of(cls, epsilon: Epsilon, *, categories: int = 2) -> Response:
        """The response that spends ε on each answer."""
        return cls(decay=decay_of(epsilon), categories=categories)

    @classmethod
    def keeping(cls, truth: Fraction | float | str, *, categories: int = 2) -> Response:
        """The response that keeps the truth with that probability: ε = ln(p(k − 1)/(1 − p))."""
        kept = check.probability("truth", truth)
        if kept * check.at_least("categories", categories, 2) <= 1:
            raise ArgumentError(
                "truth",
                found=f"{kept}",
                right=f"it must lie above 1/{categories}, the chance of a blind guess",
                step="give a probability such as 3/4",
            )
        return cls(decay=Powers(kept * (categories - 1) / (1 - kept)), categories=categories)

    @property
    def guarantee(self) -> PureDP:
        """What one answer costs the person who gives it; a logarithm is rounded up."""
        if isinstance(self.decay, Exponential):
            return PureDP(self.decay.rate)
        return PureDP(_logarithm_up(self.decay.base))

    def answer(self, truth: int, bits: Bits, *, teaching: bool = False) -> int:
        """One person's randomised answer.

        Given:   a true answer in 0 … categories − 1, and independent uniform bits.
        Promise: ε-differential privacy in the true answer.
        Because: it is `answers` for one person.
        Tested:  tests/mechanisms/test_response.py::test_the_word_at_the_threshold_is_told_apart_by_more_bits.
        """
        return int(self.answers(np.array([truth]), bits, teaching=teaching)[0])

    def answers(self, truths: npt.NDArray[np.integer], bits: Bits, *, teaching: bool = False) -> Answers:
        """Everyone's randomised answer, each drawn with bits of its own.

        Given:   true answers in 0 … categories − 1, one a person, and independent uniform bits.
        Promise: each report is ε-differentially private in its own truth, and drawn exactly as `law` says.
        Because: a uniform real below p keeps the truth: 64 bits of it decide, and more where these do not; who does
                 not keep it is shifted to one of the other categories, all equally likely.
        Tested:  tests/mechanisms/test_response.py::test_answers_follow_the_law.
        """
        require_fresh(bits, teaching=teaching)
        honest = np.asarray(truths)
        whole = honest.dtype.kind in "iu" and honest.ndim == 1
        if not whole or (honest.size and not 0 <= honest.min() <= honest.max() < self.categories):
            raise ArgumentError(
                "answers",
                found="an answer that is none of the categories, or not a list",
                right=f"each answer is a whole number from 0 to {self.categories - 1}",
                step="number the answers from 0",
            )
        # Everyone draws a shift and a word, so that time and bits used say nothing of the truth.
        shift = 1 if self.categories == 2 else 1 + integers_below(self.categories - 1, honest.size, bits)
        moved = (honest + shift) % self.categories
        return np.where(self._kept(honest.size, bits), honest, moved).astype(np.int64)

    def law(self, truth: int) -> dict[int, Fraction]:
        """The exact probability of each report, for a decay in powers."""
        return dict(enumerate(self.channel().rows[truth]))

    def channel(self) -> Channel:
        """The whole matrix P(report given truth), for a decay in powers."""
        rational(self.decay)
        kept, other = self.chances()
        every = range(self.categories)
        return Channel(
            labels=tuple(str(label) for label in every),
            rows=tuple(tuple(kept if report == truth else other for report in every) for truth in every),
        )

    def chances(self) -> tuple[Fraction, Fraction]:
        """p and q: exact for a decay in powers, to 40 digits otherwise. Estimates use them, draws do not."""
        low, high = self.decay.bounds(1, _DIGITS)
        kept = 1 / (1 + (self.categories - 1) * (low + high) / 2)
        if kept * self.categories <= 1:
            raise ArgumentError(
                "epsilon",
                found="so little that a report is a blind guess to forty digits",
                right="an estimate needs reports that lean towards the truth",
                step="give an epsilon such as 1",
            )
        return kept, (1 - kept) / (self.categories - 1)

    @property
    def width(self) -> Fraction:
        """1/(p − q), for two answers (e^ε + 1)/(e^ε − 1): the range of one person's part in an estimate."""
        kept, other = self.chances()
        return 1 / (kept - other)

    def unbiased(self, counts: Sequence[int]) -> tuple[Fraction, ...]:
        """The share of each answer among the truths, estimated without bias; it may fall outside [0, 1]."""
        kept, other = self.chances()
        people = self._people(counts)
        return tuple((Fraction(count, people) - other) / (kept - other) for count in counts)

    def variance(self, share: Fraction | float, people: int) -> Fraction:
        """The variance of an estimated share, over the responses of fixed people of whom that share has the answer."""
        true = check.exact("share", share)
        kept, other = self.chances()
        spread = true * kept * (1 - kept) + (1 - true) * other * (1 - other)
        return spread * self.width**2 / check.at_least("people", people, 1)

    def shares(self, counts: Sequence[int], *, confidence: float = 0.95) -> tuple[Share, ...]:
        """Each answer's estimated share with an interval for the population the people are a random sample of.

        The interval is Wilson's for the share of reports, mapped to the share of truths.
        """
        people, other, width = self._people(counts), float(self.chances()[1]), float(self.width)
        z = NormalDist().inv_cdf((1 + float(check.probability("confidence", confidence))) / 2)
        found = []
        for count, estimate in zip(counts, self.unbiased(counts), strict=True):
            seen = count / people
            centre = (seen + z * z / (2 * people)) / (1 + z * z / people)
            reach = z * math.sqrt(seen * (1 - seen) / people + (z / (2 * people)) ** 2) / (1 + z * z / people)
            found.append(
                Share(
                    estimate=float(estimate),
                    standard_error=math.sqrt(seen * (1 - seen) / people) * width,
                    low=(centre - reach - other) * width,
                    high=(centre + reach - other) * width,
                )
            )
        return tuple(found)

    def error_bound(self, people: int, beta: float, *, queries: int = 1) -> float:
        """No estimate of so many shares errs by more, but for probability beta: width·√(ln(2·queries/beta)/(2n)).

        Hoeffding's inequality and a union bound; the people are fixed, only their responses are random.
        """
        check.at_least("queries", queries, 1)
        failure = float(check.positive("beta", beta))
        return float(self.width) * math.sqrt(
            math.log(2 * queries / failure) / (2 * check.at_least("people", people, 1))
        )

    def _people(self, counts: Sequence[int]) -> int:
        if len(counts) != self.categories or min(counts) < 0 or not sum(counts):
            raise ArgumentError(
                "counts",
                found="not one count for each category, a negative one, or no report at all",
                right=f"{self.categories} counts of at least 0, one of them above",
                step="count the reports of every category",
            )
        return int(sum(counts))

    def _kept(self, count: int, bits: Bits) -> npt.NDArray[np.bool_]:
        """For each person: is the truth kept?"""
        words = bits.words(count)
        lower, upper = self._kept_below(_WORD)
        kept = words < np.uint64(lower)
        for at in np.flatnonzero((words >= np.uint64(lower)) & (words <= np.uint64(upper - 1))):
            kept[at] = LazyUniform(bits, int(words[at]), _WORD).below(self._kept_below)
        return kept

    def _kept_below(self, precision: int) -> tuple[int, int]:
        """Integers around 2^precision·p, at most one apart unless p is that close to 1."""
        low, high = self.decay.fixed(1, precision + _GUARD)
        one, others = 1 << precision + _GUARD, self.categories - 1
        return (one << precision) // (one + others * high), -((-one << precision) // (one + others * low))


def _logarithm_up(base: Fraction) -> Fraction:
    """A fraction at or above ln(base), by less than 10⁻¹² of it."""
    if base - 1 < _SLIGHT:
        return base - 1  # ln(1 + x) lies between x − x²/2 and x
    with localcontext(prec=_LOGARITHM_DIGITS):
        logarithm = Fraction((Decimal(base.numerator) / Decimal(base.denominator)).ln())
    return logarithm * (1 + _SLIGHT)
