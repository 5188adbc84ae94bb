"""Exact integer samplers: geometric, discrete Laplace, discrete Gaussian.

A law is a frozen value. `draw` gives one value, `draw_many` a vector; both are exact for every scale.

* A short law comes from one guided table (`tables`).
* A geometric G of a large scale comes digit by digit: for every m, ⌊G/m⌋ and G mod m are independent, the first
  geometric again and the second a truncated one, and each has a short table. A discrete Laplace of a large scale is 0
  or ±(1 + G): its magnitude without 0 is 1 + G.
* A discrete Gaussian of a large σ comes from blocks (`blocks`).

Values are 64-bit integers. One beyond ±(2^63 − 1), which at the largest scale allowed has a probability of e^(−8) and
below a scale of 2^54 one of 2^(−700), is given as that end and never wraps. `noise.release` clamps answers in such a
way that the end and the exact value give the same answer: a release is post-processing of exact noise at every scale.
Who compares draws has no such clamp, and asks for `comparable` noise first.

Reference: Ghosh, Roughgarden and Sundararajan 2009 (two-sided geometric); Canonne, Kamath and Steinke 2020 (discrete
Gaussian). What they do not promise: privacy. Which scale an answer needs is the business of `noise`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet import check
from discreet.errors import ArgumentError
from discreet.mechanisms.blocks import GaussianBlocks
from discreet.mechanisms.decay import Decay, Exponential
from discreet.mechanisms.reservoir import LARGEST_TAKE, shared_reservoir
from discreet.mechanisms.tables import LARGEST, Integers, append_digit, table_of
from discreet.mechanisms.tails import Digit, GaussianLaw, GeometricLaw, LaplaceLaw, SignLaw
from discreet.randomness import Bits, system_bits

__all__ = [
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Geometric",
    "Law",
    "comparable",
    "draw",
    "draw_many",
    "forget_tables",
]

_LARGEST_SCALE = 1 << 60
_COMPARABLE_SCALE = 1 << 54
_SHORT_SCALE = 16
_SHORT_SIGMA_SQUARED = 32**2
_RADIX = 256
_DIGITS = 60


@dataclass(frozen=True, slots=True)
class Geometric:
    """P(k) = (1 − a)·a^k for k ≥ 0, with a = e^(−1/scale), the weight of one step of the decay."""

    decay: Decay

    def __post_init__(self) -> None:
        _reach(self.decay)

    @classmethod
    def of_scale(cls, scale: Fraction | float | str) -> Geometric:
        """The law with a = e^(−1/scale)."""
        return cls(Exponential(1 / check.positive("scale", scale)))

    def fresh(self, count: int, bits: Bits) -> Integers:
        """Independent draws.

        Given: independent uniform bits.
        Promise: each draw has exactly the law, up to the end where it saturates.
        Because: ⌊G/m⌋ and G mod m are independent for a geometric G, and each comes from an exact table.
        Tested: tests/mechanisms/test_samplers.py::test_digits_of_a_geometric_are_independent_and_rebuild_its_law
        """
        digits, reach = 0, _reach(self.decay)
        while reach > _SHORT_SCALE:
            digits, reach = digits + 1, reach / _RADIX
        drawn = table_of(GeometricLaw(self.decay, _RADIX**digits)).draw(count, bits)
        for position in reversed(range(digits)):
            digit = table_of(Digit(self.decay, _RADIX**position, _RADIX)).draw(count, bits)
            drawn = append_digit(drawn, _RADIX, digit)
        return drawn


@dataclass(frozen=True, slots=True)
class DiscreteLaplace:
    """P(k) = (1 − a)/(1 + a)·a^|k|, with a = e^(−1/scale), the weight of one step of the decay."""

    decay: Decay

    def __post_init__(self) -> None:
        _reach(self.decay)

    @classmethod
    def of_scale(cls, scale: Fraction | float | str) -> DiscreteLaplace:
        """The law with a = e^(−1/scale)."""
        return cls(Exponential(1 / check.positive("scale", scale)))

    def fresh(self, count: int, bits: Bits) -> Integers:
        """Independent draws.

        Given: independent uniform bits.
        Promise: each draw has exactly the law, up to the ends where it saturates.
        Because: a short law is one exact table; otherwise P(±k) = P(sign = ±1)·P(1 + G = k) for k ≥ 1.
        Tested: tests/mechanisms/test_samplers.py::test_draws_follow_the_exact_law
        """
        if _reach(self.decay) <= _SHORT_SCALE + 1:
            return table_of(LaplaceLaw(self.decay)).draw(count, bits)
        magnitude: Integers = np.minimum(Geometric(self.decay).fresh(count, bits), LARGEST - 1) + 1
        return magnitude * table_of(SignLaw(self.decay)).draw(count, bits)


@dataclass(frozen=True, slots=True)
class DiscreteGaussian:
    """P(k) ∝ e^(−k²/(2σ²)) for all whole k."""

    sigma_squared: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma_squared", check.positive("sigma_squared", self.sigma_squared))
        _not_too_large("sigma_squared", self.sigma_squared, _LARGEST_SCALE**2)

    def fresh(self, count: int, bits: Bits) -> Integers:
        """Independent draws.

        Given: independent uniform bits.
        Promise: each draw has exactly the law, up to the ends where it saturates.
        Because: a short law is one exact table; otherwise exact rejection from blocks.
        Tested: tests/mechanisms/test_samplers.py::test_draws_follow_the_exact_law
        """
        if self.sigma_squared <= _SHORT_SIGMA_SQUARED:
            return table_of(GaussianLaw(self.sigma_squared)).draw(count, bits)
        return _blocks_of(self.sigma_squared).draw(count, bits)


Law = Geometric | DiscreteLaplace | DiscreteGaussian


def draw(law: Law, bits: Bits) -> int:
    """One draw; from the operating system's bits in a time that says nothing of its value.

    Given: a law, and independent uniform bits.
    Promise: an independent draw of exactly the law.
    Because: it is `draw_many` for one.
    Tested: tests/statistical/test_noise.py::test_time_says_nothing_of_a_single_draw
    """
    return int(draw_many(law, 1, bits)[0])


def draw_many(law: Law, count: int, bits: Bits) -> Integers:
    """That many independent draws.

    Given: a law, and independent uniform bits.
    Promise: independent draws of exactly the law. A few at a time come out of a batch drawn ahead when the bits are
        the process's own; bits given by a test are used at once, so that the same bits give the same draws.
    Because: see `fresh` of each law, and `Reservoir.take`.
    Tested: tests/statistical/test_noise.py::test_time_says_nothing_of_a_single_draw
    """
    check.at_least("count", count, 0)
    if 0 < count <= LARGEST_TAKE and bits is system_bits():
        taken = shared_reservoir().take(law, count, lambda batch: law.fresh(batch, bits).tolist())
        return np.array(taken, dtype=np.int64)
    return law.fresh(count, bits)


def comparable(decay: Decay) -> bool:
    """Whether draws of that decay may be compared with each other.

    Given: the decay of a geometric or a two-sided geometric law.
    Promise: where it says yes, a draw is cut off at the ends of 64 bits with a probability below 2^(−700).
    Because: P(G ≥ 2^63 − 1) ≤ e^(−(2^63 − 1)/2^54), and 2^9 is 738 times ln 2. Of two draws that were cut off nothing
        is left but what they were added to.
    Tested: tests/mechanisms/test_choice_sparse.py::test_noise_that_64_bits_cut_off_compares_nothing
    """
    return 1 - decay.bounds(1, _DIGITS)[1] >= Fraction(1, _COMPARABLE_SCALE)


def forget_tables() -> None:
    """Drop every table, so that the next draw computes its own again."""
    table_of.cache_clear()
    _blocks_of.cache_clear()


def _reach(decay: Decay) -> Fraction:
    """1/(1 − a): the scale, to within one; refused when no answer could stand beside such noise."""
    room = 1 - decay.bounds(1, _DIGITS)[1]
    _not_too_large("scale", 1 / room if room > 0 else Fraction(2 * _LARGEST_SCALE), _LARGEST_SCALE + 1)
    return 1 / room


def _not_too_large(name: str, value: Fraction, largest: int) -> None:
    if value > largest:
        raise ArgumentError(
            name,
            found="noise wider than the integers an answer is made of",
            right=f"it must be at most 2^{largest.bit_length() - 1}",
            step="give a larger budget, or a coarser grid",
        )


@lru_cache(maxsize=32)
def _blocks_of(sigma_squared: Fraction) -> GaussianBlocks:
    return GaussianBlocks(sigma_squared)
