"""Propose, test, release: noise for a proposed bound on the local sensitivity, if the data are far from breaking it.

1. D = how many records must be replaced for the local sensitivity of a median or maximum to pass the bound b.
2. If D + N < T, answer nothing; N is two-sided geometric noise of ε₁.
3. Otherwise answer the statistic plus two-sided geometric noise of scale b/ε₂, clamped to the public bounds.

T is the least whole number with P(N ≥ T) = e^(−ε₁T)/(1 + e^(−ε₁)) ≤ δ, worked out for this very noise. With
continuous Laplace noise it is ln(1/(2δ))/ε₁. The whole costs (ε₁ + ε₂, δ): test and release are both paid, so a
single ε for both is spent twice.

Terms: proposal, the public bound b; distance D, see `sensitivity`.

Reference: Dwork and Lei 2009, with the threshold and the cost corrected (Vadhan 2017).

What it does not promise: an answer. For a quantile prefer `quantile.choose_quantile`, which always answers, at pure ε.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet import check
from discreet.errors import ArgumentError
from discreet.guarantee import ApproxDP
from discreet.mechanisms.decay import Decay, Exponential
from discreet.mechanisms.noise import LaplaceNoise
from discreet.mechanisms.samplers import comparable, draw
from discreet.mechanisms.sensitivity import Maximum, Median
from discreet.mechanisms.utility_score import rational
from discreet.randomness import Bits, require_fresh

__all__ = ["Proposal", "least_threshold", "noisy_law"]

_DIGITS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A bound proposed for the local sensitivity, and how it is tested. All of it is public.

    `test` is the decay of ε₁, `release` that of ε₂; `decay_of(epsilon)` makes one.
    """

    statistic: Median | Maximum
    bound: int
    test: Decay
    release: Decay
    delta: Fraction

    def __post_init__(self) -> None:
        check.at_least("bound", self.bound, 1)
        object.__setattr__(self, "delta", check.positive("delta", self.delta))
        if not (comparable(self._doubt.decay) and comparable(self._noise.decay)):
            raise ArgumentError(
                "epsilon",
                found="noise so wide that 64 bits would cut it off",
                right="the scales of the noise, 1/ε₁ and b/ε₂, are at most 2^54",
                step="give a larger epsilon, or a smaller bound",
            )

    @property
    def threshold(self) -> int:
        """T: from where on the noisy distance is believed."""
        return least_threshold(self.test, self.delta)

    @property
    def guarantee(self) -> ApproxDP:
        """What an answer costs, given or not."""
        if isinstance(self.test, Exponential) and isinstance(self.release, Exponential):
            return ApproxDP(self.test.rate + self.release.rate, self.delta)
        raise ArgumentError(
            "epsilon",
            found="ε = ln(base)",
            right="a guarantee is written for rational ε",
            step="give the proposal decays of numbers",
        )

    def answer(self, records: Sequence[int], bits: Bits, *, teaching: bool = False) -> int | None:
        """The noisy statistic, or None when the test does not pass.

        Given: whole numbers, their number public; independent uniform bits.
        Promise: (ε₁ + ε₂, δ)-differential privacy under replace-one.
        Because: if the statistics of two neighbours differ by more than b, both have D = 0, the test answers them
            alike and passes with at most δ. Otherwise D moves by at most 1, which ε₁ hides, and the statistic by at
            most b, which ε₂ hides.
        Tested: tests/mechanisms/test_testing.py::test_the_corrected_proposal_costs_both_epsilons_and_delta
        """
        require_fresh(bits, teaching=teaching)
        centre, distance = self._looked_up(records)
        doubt = draw(self._doubt.sampler, bits)
        noise = draw(self._noise.sampler, bits)
        if distance is not None and distance + doubt < self.threshold:
            return None
        return min(max(centre + noise, self.statistic.low), self.statistic.high)

    def law(self, records: Sequence[int]) -> dict[int | None, Fraction]:
        """The exact probability of every answer, for decays in powers."""
        centre, distance = self._looked_up(records)
        passes = Fraction(1) if distance is None else self._doubt.tail(self.threshold - distance)[0]
        shown = noisy_law(centre, self._noise, self.statistic.low, self.statistic.high)
        answers: dict[int | None, Fraction] = {value: passes * chance for value, chance in shown.items()}
        return {None: 1 - passes, **answers}

    @property
    def _doubt(self) -> LaplaceNoise:
        """On the distance, which moves by at most 1."""
        return LaplaceNoise.for_guarantee(sensitivity=1, epsilon=self.test)

    @property
    def _noise(self) -> LaplaceNoise:
        """On the statistic, as if it moved by at most the bound."""
        return LaplaceNoise.for_guarantee(sensitivity=self.bound, epsilon=self.release)

    def _looked_up(self, records: Sequence[int]) -> tuple[int, int | None]:
        """The statistic and the distance: all that the data say to `answer` and `law`."""
        return int(self.statistic.value(records)), self.statistic.distance(records, self.bound)


def least_threshold(test: Decay, delta: Fraction) -> int:
    """The least T ≥ 1 with P(N ≥ T) ≤ δ for two-sided geometric noise; never too small, exact for powers."""
    step_low, _ = test.bounds(1, _DIGITS)

    def passes(threshold: int) -> bool:
        return test.bounds(threshold, _DIGITS)[1] <= delta * (1 + step_low)

    reach = 1
    while not passes(reach):
        reach *= 2
    low, high = 1, reach
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle + 1, high)
    return low


def noisy_law(centre: int, noise: LaplaceNoise, low: int, high: int) -> dict[int, Fraction]:
    """The law of centre + noise in powers, clamped to [low, high]: each end holds all beyond it.

    Between any two centres inside the bounds nothing is lost by the clamp: beyond an end their odds are constant.
    """
    rational(noise.decay)
    inner = {value: noise.chance(value - centre)[0] for value in range(low + 1, high)}
    return {low: noise.tail(centre - low)[0], **inner, high: noise.tail(high - centre)[0]}
