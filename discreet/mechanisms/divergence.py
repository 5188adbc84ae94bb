"""δ(ε) of integer noise: exactly how far an (ε, δ) claim holds, rounded outwards.

For noise N and an answer that moves by Δ steps, δ(ε) = Σ_k max(0, P(N = k) − e^ε·P(N = k − Δ)). Both laws have a
likelihood ratio that falls in k, so the sum runs over all k up to one cut, and is a difference of two tails:

* two-sided geometric, scale b: the k below (Δ − εb)/2;  zero when ε ≥ Δ/b
* discrete Gaussian:            the k below Δ/2 − εσ²/Δ   (Canonne, Kamath and Steinke 2020, Theorem 7)

What it does not promise: composition. Several answers add by the accountants, not by adding up their δ at one ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from discreet.mechanisms.decay import Exponential
from discreet.mechanisms.enclosure import exp_fraction
from discreet.mechanisms.spread import Bounds, gaussian_between, gaussian_tail, laplace_tail

__all__ = ["gaussian_delta", "laplace_delta"]

T = TypeVar("T")
_DIGITS = 40
_WIDE = 1000  # σ over Δ, from where on two tails differ by too little to be subtracted
_SLIGHT = Fraction(1, 10**20)


def laplace_delta(*, scale: Fraction, sensitivity: int, epsilon: Fraction) -> Bounds:
    """Fractions around δ(ε) of two-sided geometric noise of that scale.

    Given: an answer that moves by at most `sensitivity` grid steps between neighbours.
    Promise: the claim (ε, upper) holds, and (ε, δ) fails for every δ below lower.
    Because: of the sum above; a shorter move is no worse, as P(N < c) − e^ε·P(N < c − Δ) grows with Δ for every c.
    Tested: tests/mechanisms/test_noise.py::test_delta_of_laplace_noise_is_the_sum_of_positive_parts
    """
    if epsilon * scale >= sensitivity:
        return Fraction(0), Fraction(0)
    return _difference(laplace_tail, Exponential(1 / scale), (sensitivity - epsilon * scale) / 2, sensitivity, epsilon)


def gaussian_delta(*, sigma_squared: Fraction, sensitivity: int, epsilon: Fraction) -> Bounds:
    """Fractions around δ(ε) of discrete Gaussian noise of that σ².

    Given: an answer that moves by at most `sensitivity` grid steps between neighbours.
    Promise: the claim (ε, upper) holds, and (ε, δ) fails for every δ below lower.
    Because: of the sum above; a shorter move is no worse, as P(N < c) − e^ε·P(N < c − Δ) grows with Δ for every c.
    Tested: tests/mechanisms/test_noise.py::test_delta_of_gaussian_noise_is_the_sum_of_positive_parts
    """
    cut = Fraction(sensitivity, 2) - epsilon * sigma_squared / sensitivity
    low, high = _difference(gaussian_tail, sigma_squared, cut, sensitivity, epsilon)
    if epsilon > 1 or sigma_squared <= (_WIDE * sensitivity) ** 2:
        return low, high
    least, most = _wide_gaussian_delta(sigma_squared, cut, sensitivity, epsilon)
    return max(low, least), min(high, most)


def _wide_gaussian_delta(sigma_squared: Fraction, cut: Fraction, sensitivity: int, epsilon: Fraction) -> Bounds:
    """P(cut − Δ ≤ N < cut) − (e^ε − 1)·P(N < cut − Δ): of two tails this alike the difference would be their errors."""
    last = math.ceil(cut) - 1
    strip = gaussian_between(sigma_squared, -last, sensitivity)
    rest = gaussian_tail(sigma_squared, sensitivity - last)
    slow, fast = _growth(epsilon)
    return max(Fraction(0), strip[0] - fast * rest[1]), max(Fraction(0), strip[1] - slow * rest[0])


def _growth(epsilon: Fraction) -> Bounds:
    """Fractions around e^ε − 1, for an ε of at most 1."""
    if epsilon < _SLIGHT:
        return epsilon, epsilon * (1 + epsilon)
    low, high = exp_fraction(epsilon, _DIGITS)
    return 1 / high - 1, 1 / low - 1


def _difference(tail: Callable[[T, int], Bounds], law: T, cut: Fraction, sensitivity: int, epsilon: Fraction) -> Bounds:
    """P(N < cut) − e^ε·P(N < cut − Δ), where both tails are read on the other side by symmetry."""
    last = math.ceil(cut) - 1
    low, high = tail(law, -last)
    least, most = tail(law, sensitivity - last)
    inverse = exp_fraction(epsilon, _DIGITS)
    if inverse[0] == 0:
        return Fraction(0), high
    return max(Fraction(0), low - most / inverse[0]), max(Fraction(0), high - least / inverse[1])
