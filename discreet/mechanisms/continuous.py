"""The continuous laws that textbooks draw: for figures, for teaching, and for comparison with what is really released.

Nothing is released from here. A released number gets integer noise (`noise`), and the analytic calibration below, right
for continuous Gaussian noise, is too small for integer noise: at sensitivity 1 and δ = 10⁻⁶ its σ gives 1.38 times
the claimed δ at ε = 3 and 3.0 times at ε = 8.

Reference: Balle and Wang 2018 for δ(ε) of the continuous Gaussian mechanism.
"""

from __future__ import annotations

import math

__all__ = ["analytic_gaussian_delta", "analytic_gaussian_sigma", "laplace_cumulative", "laplace_density"]


def laplace_density(x: float, *, location: float = 0.0, scale: float) -> float:
    """e^(−|x − μ|/b) / (2b)."""
    return math.exp(-abs(x - location) / scale) / (2 * scale)


def laplace_cumulative(x: float, *, location: float = 0.0, scale: float) -> float:
    """½·e^((x − μ)/b) below μ, and 1 − ½·e^(−(x − μ)/b) from μ on."""
    half = math.exp(-abs(x - location) / scale) / 2
    return half if x < location else 1 - half


def analytic_gaussian_delta(*, sensitivity: float, sigma: float, epsilon: float) -> float:
    """δ(ε) of continuous Gaussian noise: Φ(Δ/2σ − εσ/Δ) − e^ε·Φ(−Δ/2σ − εσ/Δ)."""
    shift, slope = sensitivity / (2 * sigma), epsilon * sigma / sensitivity
    return _normal_tail(slope - shift) - math.exp(epsilon) * _normal_tail(slope + shift)


def analytic_gaussian_sigma(*, sensitivity: float, epsilon: float, delta: float) -> float:
    """The smallest σ whose continuous δ(ε) is at most δ."""
    low, high = 0.0, sensitivity
    while analytic_gaussian_delta(sensitivity=sensitivity, sigma=high, epsilon=epsilon) > delta:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        if analytic_gaussian_delta(sensitivity=sensitivity, sigma=middle, epsilon=epsilon) > delta:
            low = middle
        else:
            high = middle
    return high


def _normal_tail(z: float) -> float:
    """1 − Φ(z), to the last digits far out as well."""
    return math.erfc(z / math.sqrt(2)) / 2
