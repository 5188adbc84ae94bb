"""Tails and chances of integer noise, enclosed between fractions.

* Two-sided geometric with step weight a: P(|N| ≥ k) = 2a^k/(1 + a), P(N = k) = (1 − a)/(1 + a)·a^|k|.
* Discrete Gaussian: sums of its weights up to σ = 128 steps. Beyond that the sums are Euler and Maclaurin's,
      Σ_{j ≥ k} f(j) = ∫_k f + f(k)/2 − f′(k)/12 + f‴(k)/720 + R,  |R| ≤ ∫_k |f⁗|/720,
  with erfc in double precision and a relative margin of 10⁻⁹, a million times its error. In units of σ the last
  integral is below ((z³ + 9z)·φ(z) + 12·P(Z ≥ z))/σ⁴, so that R is small beside the tail however far out. The
  normaliser is √(2π)·σ, which Poisson summation puts within a factor of 1 + 3e^(−2π²σ²) of the sum.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from discreet.mechanisms.decay import Decay
from discreet.mechanisms.enclosure import exp_fraction
from discreet.mechanisms.tails import GaussianLaw

__all__ = ["Bounds", "gaussian_between", "gaussian_chance", "gaussian_tail", "laplace_chance", "laplace_tail"]

Bounds = tuple[Fraction, Fraction]
_DIGITS = 30
_SUMMED_SIGMA_SQUARED = 128**2
_PRECISION, _DEPTH = 192, 160
_MARGIN = 1e-9
_PIECES = 16
_UNDERFLOW = 1e-300  # what floats lose near their least number is less
# √(2π) to forty places, rounded down; the next unit of the last place lies above.
_ROOT_TWO_PI = Fraction(25066282746310005024157652848110452530069, 10**40)
_ROOT_TWO_PI_ABOVE = _ROOT_TWO_PI + Fraction(1, 10**40)


def laplace_tail(decay: Decay, k: int) -> Bounds:
    """P(N ≥ k)."""
    if k <= 0:
        return _complement(laplace_tail(decay, 1 - k))
    (least, most), (low, high) = decay.bounds(k, _DIGITS), decay.bounds(1, _DIGITS)
    return least / (1 + high), most / (1 + low)


def laplace_chance(decay: Decay, k: int) -> Bounds:
    """P(N = k)."""
    (least, most), (low, high) = decay.bounds(abs(k), _DIGITS), decay.bounds(1, 2 * _DIGITS)
    return least * (1 - high) / (1 + high), most * (1 - low) / (1 + low)


def gaussian_tail(sigma_squared: Fraction, k: int) -> Bounds:
    """P(N ≥ k)."""
    if k <= 0:
        return _complement(gaussian_tail(sigma_squared, 1 - k))
    if sigma_squared > _SUMMED_SIGMA_SQUARED:
        return _long_tail(math.sqrt(sigma_squared), k)
    low, high = _at(_sums(sigma_squared), 2 * k - 1)
    return low / 2, high / 2


def gaussian_chance(sigma_squared: Fraction, k: int) -> Bounds:
    """P(N = k)."""
    if sigma_squared > _SUMMED_SIGMA_SQUARED:
        least, most = exp_fraction(k * k / (2 * sigma_squared), _DIGITS)
        root = math.isqrt(math.floor(sigma_squared * 10**80))
        sigma = Fraction(root, 10**40), Fraction(root + 1, 10**40)
        return least / (_ROOT_TWO_PI_ABOVE * sigma[1]), most / (_ROOT_TWO_PI * sigma[0])
    sums, number = _sums(sigma_squared), 2 * abs(k)
    if k == 0:
        return _complement(_at(sums, 1))
    (low, high), (least, most) = _at(sums, number - 1), _at(sums, number)
    return max(Fraction(0), low - most), high - least


def gaussian_between(sigma_squared: Fraction, first: int, count: int) -> Bounds:
    """P(first ≤ N < first + count) where σ is far wider than that, between the ends of a few pieces."""
    ends = [first + count * piece // _PIECES for piece in range(_PIECES + 1)]
    low = high = Fraction(0)
    for start, end in pairwise(ends):
        if start < end:
            far, near = max(abs(start), abs(end - 1)), 0 if start <= 0 < end else min(abs(start), abs(end - 1))
            low += (end - start) * gaussian_chance(sigma_squared, far)[0]
            high += (end - start) * gaussian_chance(sigma_squared, near)[1]
    return low, high


def _complement(bounds: Bounds) -> Bounds:
    return 1 - bounds[1], 1 - bounds[0]


def _at(sums: list[tuple[int, int]], number: int) -> Bounds:
    """The tail at this number of the alternating order; P(|N| ≥ k) stands at 2k − 1."""
    low, high = sums[number - 1] if number <= len(sums) else (0, 1 << (_PRECISION - _DEPTH))
    return Fraction(low, 1 << _PRECISION), Fraction(high, 1 << _PRECISION)


@lru_cache(maxsize=16)
def _sums(sigma_squared: Fraction) -> list[tuple[int, int]]:
    return GaussianLaw(sigma_squared).tails(_PRECISION, _DEPTH)


def _long_tail(sigma: float, k: int) -> Bounds:
    z = k / sigma
    density, beyond = math.exp(-z * z / 2) / math.sqrt(2 * math.pi), math.erfc(z / math.sqrt(2)) / 2
    middle = beyond + density / sigma * (0.5 + z / (12 * sigma) + (3 * z - z**3) / (720 * sigma**3))
    remainder = ((z**3 + 9 * z) * density + 12 * beyond) / (720 * sigma**4)
    slack = middle * _MARGIN + remainder + _UNDERFLOW
    return max(Fraction(0), Fraction(middle - slack)), Fraction(middle + slack)
