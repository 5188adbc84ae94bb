"""Discrete Gaussian draws at a large σ: exact rejection from blocks.

With m = 2^s and σ/m in [16, 32), the magnitude is built from a block b ≥ 0 and a place l in [0, m):

1. Draw b with P(b) ∝ e^(−(bm)²/(2σ²)) from its exact table, l uniformly, and a sign; start again at a negative zero.
2. Keep x = ±(bm + l) with probability e^(−γ), γ = ((bm + l)² − (bm)²)/(2σ²). About 98 of 100 are kept.

The product of both probabilities is e^(−x²/(2σ²)) up to a constant, so what is kept has exactly the law. Step 2 is
decided in integers: a uniform known to 30 bits is compared first with 1 − γ at the end of the block, then with two
partial sums of the series around e^(−γ), and at last, for fewer than one in ten thousand, by `LazyUniform`.

Reference: rejection from a stepwise envelope (von Neumann); Canonne, Kamath and Steinke 2020 reject from a discrete
Laplace law instead and keep 3 of 4. What it does not promise: constant time for a single draw (see `reservoir`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from discreet.mechanisms.enclosure import exp_fixed
from discreet.mechanisms.tables import Integers, append_digit, table_of
from discreet.mechanisms.tails import HalfGaussianLaw
from discreet.mechanisms.uniform import LazyUniform
from discreet.randomness import Bits

__all__ = ["GaussianBlocks"]

_UNIT = 30
_ONE = 1 << _UNIT
# γ, computed from below, is at most 8 units short; the partial sums lose at most 4 more to their shifts.
_SLACK = 16
_BLOCKS_PER_SIGMA = 16


class GaussianBlocks:
    """Draws P(k) ∝ e^(−k²/(2σ²)) for σ ≥ 16.

    Given: σ² a fraction of at least 256, and independent uniform bits.
    Promise: each draw is independent and follows the law exactly; a magnitude beyond 2^63 − 1 is given as that end.
    Because: envelope times acceptance is the law, and every acceptance is decided by enclosing integers.
    Tested: tests/mechanisms/test_samplers.py::test_blocks_accept_as_the_exact_exponential_says
    """

    def __init__(self, sigma_squared: Fraction) -> None:
        self._sigma_squared = sigma_squared
        self._shift = (math.isqrt(int(sigma_squared)) // _BLOCKS_PER_SIGMA).bit_length() - 1
        self._table = table_of(HalfGaussianLaw(sigma_squared, 1 << self._shift))
        # With c = m²/(2σ²): γ = (l/m)·2bc + (l/m)²·c, and at most (2b + 1)·c inside the block.
        c = Fraction(1 << 2 * self._shift) / (2 * sigma_squared)
        blocks = range(self._table.outcomes)
        self._square = math.floor(c * _ONE)
        self._linear = np.array([math.floor(2 * block * c * _ONE) for block in blocks], dtype=np.int64)
        surely = [max(0, _ONE - math.ceil((2 * block + 1) * c * _ONE)) for block in blocks]
        self._surely = np.array([*surely, 0], dtype=np.int64)

    def draw(self, count: int, bits: Bits) -> Integers:
        """That many independent draws."""
        drawn = [self._attempt(count + count // 32 + 8, bits)]
        while (missing := count - sum(map(len, drawn))) > 0:
            drawn.append(self._attempt(2 * missing + 8, bits))
        return np.concatenate(drawn)[:count]

    def _attempt(self, count: int, bits: Bits) -> Integers:
        """The draws kept out of so many."""
        block = self._table.draw(count, bits)
        word = bits.words(count)
        place = (word >> np.uint64(63 - self._shift)).astype(np.int64) & ((1 << self._shift) - 1)
        uniform = (bits.words(-(-count // 2)).view(np.uint32)[:count] >> np.uint32(32 - _UNIT)).astype(np.int64)
        kept = self.accept(block, place, uniform, bits)
        magnitude = append_digit(block, 1 << self._shift, place)
        negative = (word & np.uint64(1)).astype(bool)
        signed = np.where(negative, -magnitude, magnitude)
        survivors: Integers = signed[kept & ~(negative & (magnitude == 0))]
        return survivors

    def accept(self, block: Integers, place: Integers, uniform: Integers, bits: Bits) -> npt.NDArray[np.bool_]:
        """Whether each uniform, of which these are the first 30 bits, lies below e^(−γ)."""
        kept = uniform < self._surely.take(block, mode="clip")
        rest = np.flatnonzero(~kept)
        lower, upper = self._around(block[rest], place[rest])
        kept[rest] = uniform[rest] < lower
        beyond = block[rest] >= len(self._linear)
        for index in rest[((uniform[rest] >= lower) & (uniform[rest] < upper)) | beyond]:
            exponent = self._exponent(int(block[index]), int(place[index]))
            known = LazyUniform(bits, known=int(uniform[index]), precision=_UNIT)
            kept[index] = known.below(partial(exp_fixed, exponent))
        return kept

    def _around(self, block: Integers, place: Integers) -> tuple[Integers, Integers]:
        """Integers around 2^30 · e^(−γ), from 1 − γ + γ²/2 − γ³/6 ≤ e^(−γ) ≤ 1 − γ + γ²/2."""
        share = place >> self._shift - _UNIT if self._shift > _UNIT else place << _UNIT - self._shift
        gamma = (share * self._linear.take(block, mode="clip") >> _UNIT) + (
            (share * share >> _UNIT) * self._square >> _UNIT
        )
        square = gamma * gamma >> _UNIT
        upper = _ONE - gamma + (square >> 1) + 2
        return upper - (square * gamma >> _UNIT) // 6 - _SLACK, upper

    def _exponent(self, block: int, place: int) -> Fraction:
        width = 1 << self._shift
        return place * (2 * block * width + place) / (2 * self._sigma_squared)
