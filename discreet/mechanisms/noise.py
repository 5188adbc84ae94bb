"""Laplace and Gaussian noise on an integer grid: which scale an answer needs, how far it errs, and its release.

1. An answer is a whole number of grid steps, and one neighbour step moves it by at most a declared number of them.
2. The scale follows from that and from the guarantee asked for, in fractions.
3. Independent noise, drawn exactly, is added to each number; the sum is clamped to ±2^61 steps.

Terms: scale, b in P(k) ∝ e^(−|k|/b), the larger the noisier; σ², the parameter of P(k) ∝ e^(−k²/(2σ²)).
Reference: Dwork, McSherry, Nissim and Smith 2006; Ghosh, Roughgarden and Sundararajan 2009 (integers); Canonne, Kamath
and Steinke 2020 (discrete Gaussian). What it does not promise: that the declared sensitivity is right; whoever states
the query proves that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar, overload

import numpy as np

from discreet import check
from discreet.errors import ArgumentError
from discreet.guarantee import ZCDP, PureDP
from discreet.mechanisms.continuous import analytic_gaussian_sigma
from discreet.mechanisms.decay import Decay, Exponential, Powers, decay_of
from discreet.mechanisms.divergence import gaussian_delta, laplace_delta
from discreet.mechanisms.samplers import DiscreteGaussian, DiscreteLaplace, draw, draw_many
from discreet.mechanisms.spread import Bounds, gaussian_chance, gaussian_tail, laplace_chance, laplace_tail
from discreet.mechanisms.tables import Integers
from discreet.randomness import Bits, require_fresh

__all__ = ["LIMIT", "GaussianNoise", "LaplaceNoise", "Noise", "Noisy", "enclosed_law", "law", "release"]

# The samplers saturate beyond 2·LIMIT. A true value within ±LIMIT plus such noise is clamped to ±LIMIT either way.
LIMIT = 1 << 61
_SIGMA_FINENESS, _FINEST, _DELTA_USED = 1 << 10, 1 << 20, Fraction(99, 100)
_ENCLOSED = 1 << 100
_LARGEST_EPSILON, _LEAST_DELTA = 500, Fraction(1, 10**40)
Exact = check.Number | str
Value = TypeVar("Value", int, Integers)


@dataclass(frozen=True, slots=True)
class LaplaceNoise:
    """Two-sided geometric noise: P(k) = (1 − a)/(1 + a)·a^|k|, with a the weight of one grid step."""

    decay: Decay

    def __post_init__(self) -> None:
        object.__setattr__(self, "decay", self.sampler.decay)

    @classmethod
    def of_scale(cls, scale: Exact) -> LaplaceNoise:
        """The noise with a = e^(−1/scale)."""
        return cls(Exponential(1 / check.positive("scale", scale)))

    @classmethod
    def for_guarantee(cls, *, sensitivity: int, epsilon: Decay | Exact) -> LaplaceNoise:
        """Noise of scale Δ₁/ε for each number of an answer.

        Given: neighbours whose answers differ by at most `sensitivity` steps, summed over all numbers of the answer.
        Promise: the whole answer is ε-differentially private.
        Because: P(y − f)/P(y − f') ≤ Π a^(−|f_j − f'_j|) ≤ a^(−Δ₁) = e^ε by the triangle inequality.
        Tested: tests/mechanisms/test_noise.py::test_laplace_noise_keeps_its_ratio_on_every_pair
        """
        return cls(decay_of(epsilon).scaled(Fraction(1, check.at_least("sensitivity", sensitivity, 1))))

    @property
    def scale(self) -> Fraction:
        """b, where the decay names it exactly."""
        if isinstance(self.decay, Powers):
            raise ArgumentError(
                "scale", found="noise given by a base", right="its scale is 1/ln(base)", step="ask for its variance"
            )
        return 1 / self.decay.rate

    @property
    def sampler(self) -> DiscreteLaplace:
        """The law the noise is drawn from."""
        return DiscreteLaplace(self.decay)

    @property
    def variance(self) -> float:
        """2a/(1 − a)²."""
        least, most = self.decay.bounds(1, 60)
        return float(2 * least / (1 - most) ** 2)

    @property
    def standard_deviation(self) -> float:
        """The root of the variance."""
        return math.sqrt(self.variance)

    def guarantee(self, sensitivity: int) -> PureDP:
        """What it is worth for an answer whose numbers move by that many steps together."""
        return PureDP(sensitivity / self.scale)

    def delta(self, *, sensitivity: int, epsilon: Exact) -> Bounds:
        """Fractions around the exact δ(ε) of one number that moves by at most that much."""
        return laplace_delta(scale=self.scale, sensitivity=sensitivity, epsilon=check.exact("epsilon", epsilon))

    def chance(self, k: int) -> Bounds:
        """Fractions around P(N = k)."""
        return laplace_chance(self.decay, k)

    def tail(self, k: int) -> Bounds:
        """Fractions around P(N ≥ k)."""
        return laplace_tail(self.decay, k)

    def error(self, beta: Exact, *, answers: int = 1) -> int:
        """The least k with P(some |N_j| ≥ k) ≤ β by the union bound: ⌈b·(ln(d/β) + ln(2/(1 + a)))⌉ steps.

        The correction to the continuous theorem's ln(d/β)·b is below half a step.
        """
        near = float(1 / (1 - self.decay.bounds(1, 60)[1])) * _log_odds(beta, answers)
        return _least(self, _share(beta, answers), 2 * math.ceil(near) + 2)

    def interval(self, coverage: Exact) -> int:
        """The half-width h of the shortest [−h, h] that holds the noise with at least that probability."""
        return self.error(1 - check.probability("coverage", coverage)) - 1


@dataclass(frozen=True, slots=True)
class GaussianNoise:
    """Discrete Gaussian noise: P(k) ∝ e^(−k²/(2σ²))."""

    sigma_squared: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma_squared", self.sampler.sigma_squared)

    @classmethod
    def for_rho(cls, *, sensitivity: int | Sequence[int], rho: Exact) -> GaussianNoise:
        """σ² = Σ Δ_j²/(2ρ) for each number of an answer whose j-th number moves by at most Δ_j steps.

        Given: neighbours whose answers differ by at most Δ_j steps in the j-th number.
        Promise: the whole answer is ρ-zCDP.
        Because: discrete Gaussian noise on one number that moves by Δ_j is Δ_j²/(2σ²)-zCDP, and independent ones add.
        Tested: tests/mechanisms/test_noise.py::test_gaussian_noise_holds_its_rho_at_every_order
        """
        moves = (sensitivity,) if isinstance(sensitivity, int) else tuple(sensitivity)
        squares = sum(check.at_least("sensitivity", move, 0) ** 2 for move in moves)
        return cls(check.positive("sensitivity", squares) / (2 * check.positive("rho", rho)))

    @classmethod
    def for_guarantee(cls, *, sensitivity: int, epsilon: Exact, delta: Exact) -> GaussianNoise:
        """A σ whose exact δ(ε) is at most δ, and for an ε of up to 20 at least 99 % of it, for one number.

        Given: neighbours whose numbers differ by at most `sensitivity` steps.
        Promise: one release is (ε, δ)-differentially private.
        Because: the exact δ(ε) of the discrete law, rounded up, was compared with δ. The search starts at the
            continuous σ, goes to a σ that holds while the next smaller one on a grid does not, and halves the grid
            until no more than 1 % of δ is left over, or the grid is a millionth of a thousandth.
        Tested: tests/mechanisms/test_noise.py::test_the_calibrated_sigma_holds_and_the_next_smaller_does_not
        """
        check.at_least("sensitivity", sensitivity, 1)
        exact_epsilon, exact_delta = check.positive("epsilon", epsilon), check.probability("delta", delta)
        _within_floats(exact_epsilon, exact_delta)
        near = analytic_gaussian_sigma(sensitivity=sensitivity, epsilon=float(exact_epsilon), delta=float(exact_delta))
        unit = Fraction(2) ** math.floor(math.log2(near)) / _SIGMA_FINENESS

        def reached(index: int) -> Fraction:
            return cls((index * unit) ** 2).delta(sensitivity=sensitivity, epsilon=exact_epsilon)[1]

        def holds(index: int) -> bool:
            return reached(index) <= exact_delta

        high, step = math.ceil(near / unit), 1
        low = high - 1
        while not holds(high):
            low, high, step = high, high + step, 2 * step
        while low > 0 and holds(low):
            low, high, step = max(0, low - step), low, 2 * step
        finest = unit / _FINEST
        while high - low > 1 or (unit > finest and reached(high) < _DELTA_USED * exact_delta):
            if high - low == 1:
                low, high, unit = 2 * low, 2 * high, unit / 2
            middle = (low + high) // 2
            low, high = (low, middle) if holds(middle) else (middle, high)
        return cls((high * unit) ** 2)

    @property
    def sampler(self) -> DiscreteGaussian:
        """The law the noise is drawn from."""
        return DiscreteGaussian(self.sigma_squared)

    @property
    def variance(self) -> float:
        """Σ k²·P(k); it is σ² to every digit of a float from σ = 3 on, and less below (Canonne et al., Corollary 9)."""
        if self.sigma_squared >= 9:
            return float(self.sigma_squared)
        chances = [float(self.chance(k)[0]) for k in range(60)]
        return 2 * math.fsum(k * k * chance for k, chance in enumerate(chances))

    @property
    def standard_deviation(self) -> float:
        """The root of the variance."""
        return math.sqrt(self.variance)

    def guarantee(self, sensitivity: int | Sequence[int]) -> ZCDP:
        """What it is worth for an answer whose numbers move by at most so many steps each: ρ = Σ Δ_j²/(2σ²)."""
        moves = (sensitivity,) if isinstance(sensitivity, int) else sensitivity
        return ZCDP(sum(move**2 for move in moves) / (2 * self.sigma_squared))

    def delta(self, *, sensitivity: int, epsilon: Exact) -> Bounds:
        """Fractions around the exact δ(ε) of one number that moves by at most that much."""
        exact_epsilon = check.exact("epsilon", epsilon)
        return gaussian_delta(sigma_squared=self.sigma_squared, sensitivity=sensitivity, epsilon=exact_epsilon)

    def chance(self, k: int) -> Bounds:
        """Fractions around P(N = k)."""
        return gaussian_chance(self.sigma_squared, k)

    def tail(self, k: int) -> Bounds:
        """Fractions around P(N ≥ k)."""
        return gaussian_tail(self.sigma_squared, k)

    def error(self, beta: Exact, *, answers: int = 1) -> int:
        """The least k with P(some |N_j| ≥ k) ≤ β by the union bound."""
        near = math.sqrt(2 * self.sigma_squared * _log_odds(beta, answers))
        return _least(self, _share(beta, answers), 2 * math.ceil(near) + 2)

    def interval(self, coverage: Exact) -> int:
        """The half-width h of the shortest [−h, h] that holds the noise with at least that probability."""
        return self.error(1 - check.probability("coverage", coverage)) - 1


Noise = LaplaceNoise | GaussianNoise


@dataclass(frozen=True, slots=True, kw_only=True)
class Noisy(Generic[Value]):
    """A released value, its noise, and whether the bits behind it were fit for a release."""

    value: Value
    noise: Noise
    certifiable: bool


@overload
def release(value: int, noise: Noise, bits: Bits, *, teaching: bool = False) -> Noisy[int]: ...
@overload
def release(value: Integers, noise: Noise, bits: Bits, *, teaching: bool = False) -> Noisy[Integers]: ...
def release(value: int | Integers, noise: Noise, bits: Bits, *, teaching: bool = False) -> Noisy[int] | Noisy[Integers]:
    """The value plus independent noise on each number, clamped to ±LIMIT.

    Given: a noise calibrated to the value's sensitivity.
    Promise: the guarantee the noise was calibrated to. Repeatable bits are refused; with `teaching` they are taken,
        and what comes out says that it cannot be certified.
    Because: clamping the value first moves neighbours no further apart; the clamp at the end is post-processing, also
        of noise that saturated beyond 2·LIMIT.
    Tested: tests/mechanisms/test_noise.py::test_answers_are_clamped_as_exact_noise_would_be
    """
    require_fresh(bits, teaching=teaching)
    if isinstance(value, np.ndarray):
        if value.dtype != np.int64:
            raise _not_whole(f"an array of {value.dtype}")
        drawn = draw_many(noise.sampler, value.size, bits).reshape(value.shape)
        noisy = np.clip(np.clip(value, -LIMIT, LIMIT) + np.clip(drawn, -2 * LIMIT, 2 * LIMIT), -LIMIT, LIMIT)
        return Noisy(value=noisy, noise=noise, certifiable=bits.certifiable)
    if not isinstance(value, int | np.integer):
        raise _not_whole(f"a {type(value).__name__}")
    clamped = _clamp(_clamp(int(value), LIMIT) + draw(noise.sampler, bits), LIMIT)
    return Noisy(value=clamped, noise=noise, certifiable=bits.certifiable)


def law(value: int, noise: LaplaceNoise, *, reach: int) -> dict[int, Fraction]:
    """The exact law of the value plus noise, clamped to ±reach; the noise must come from `Powers`.

    Both ends hold the whole tail beyond them, in closed form.
    """
    if isinstance(noise.decay, Exponential):
        raise ArgumentError(
            "noise",
            found="a decay with irrational weights",
            right="an exact law needs rational ones",
            step="take the noise for epsilon=Powers(base), which is ε = ln(base)",
        )
    inside = {k: noise.chance(k - value)[0] for k in range(1 - reach, reach)}
    return {-reach: noise.tail(reach + value)[0], **inside, reach: noise.tail(reach - value)[0]}


def enclosed_law(value: int, noise: GaussianNoise, *, reach: int) -> dict[int | str, Fraction]:
    """A law in fractions that tells no less than the value plus noise, clamped to ±reach, does.

    Given: noise whose weights are irrational, so that each chance is known between two fractions.
    Promise: what the clamped sum is drawn from is a post-processing of this law, so its odds and δ bound those of it.
    Because: each output has its chance rounded down to 2^(−100), and what is left over is the chance of an output that
        names the value: who sees that one can draw what the rounding took away.
    Tested: tests/mechanisms/test_enclosed.py::test_an_enclosed_law_tells_no_less_and_hardly_more
    """
    least = {k: noise.chance(k - value)[0] for k in range(1 - reach, reach)}
    least |= {-reach: noise.tail(reach + value)[0], reach: noise.tail(reach - value)[0]}
    found: dict[int | str, Fraction] = {k: Fraction(math.floor(least[k] * _ENCLOSED), _ENCLOSED) for k in sorted(least)}
    found[f"left open at {value}"] = 1 - sum(found.values(), Fraction(0))
    return found


def _not_whole(found: str) -> ArgumentError:
    return ArgumentError(
        "value",
        found=found,
        right="an answer is whole steps of a public grid: what lies between them would show through the noise",
        step="count in steps, as an int or an array of int64",
    )


def _within_floats(epsilon: Fraction, delta: Fraction) -> None:
    """The search for σ starts from floats, and tails are summed down to 2^(−160)."""
    if epsilon > _LARGEST_EPSILON or delta < _LEAST_DELTA:
        raise ArgumentError(
            "epsilon, delta",
            found="an epsilon that promises nothing, or a delta that nothing reaches",
            right=f"epsilon is at most {_LARGEST_EPSILON} and delta at least 1e-40",
            step="give an epsilon below 10 and a delta such as 1e-9",
        )


def _clamp(number: int, limit: int) -> int:
    return max(-limit, min(limit, number))


def _share(beta: Exact, answers: int) -> Fraction:
    """The one-sided tail that each of the answers may have."""
    return check.positive("beta", check.probability("beta", beta)) / (2 * check.at_least("answers", answers, 1))


def _log_odds(beta: Exact, answers: int) -> float:
    share = _share(beta, answers)
    return math.log(share.denominator) - math.log(share.numerator) + 1


def _least(noise: Noise, share: Fraction, beyond: int) -> int:
    """The least k ≥ 0 whose tail is surely at most the share, known to be at most `beyond`."""
    low, high = -1, beyond
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if noise.tail(middle)[1] <= share else (middle, high)
    return high
