"""The interval of a weighted sum of independent noise, from its law: no draw is needed where only sums are added up.

1. Noise of a wide scale is as good as continuous: Laplace of the same scale, or normal of the same variance. A step is
   then at most a hundredth of the scale, and what is left out is of the order of its square.
2. The characteristic function of the sum is the product of theirs, φ(t) = e^(−vt²/2)·Π 1/(1 + b²t²).
3. P(|X| ≤ h) = (2/π)·∫ φ(t)·sin(ht)/t dt over t > 0 (Gil-Pelaez 1951), whose integrand is even and smooth, so that the
   sum over a grid of t is exact but for P(|X| > 2π/step − h) and for what lies beyond the last t.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np

from discreet.mechanisms.noise import GaussianNoise, LaplaceNoise

__all__ = ["half_width_of_sum"]

_WIDE = 100
# The grid of t, where the sum's deviation is 1, and the farthest end of an interval; 2π/0.2 = 31.
_STEP, _END = 0.2, 1_000.0
_FARTHEST = 25.0


def half_width_of_sum(weighted: Sequence[tuple[float, LaplaceNoise | GaussianNoise]], coverage: float) -> float | None:
    """Half the symmetric interval that covers so much of a sum of noise times weights; None where steps are coarse."""
    if any(noise.standard_deviation < _WIDE for _, noise in weighted):
        return None
    deviation = sqrt(sum((weight * float(noise.standard_deviation)) ** 2 for weight, noise in weighted))
    if not deviation:
        return 0.0
    t = np.arange(1, round(_END / _STEP) + 1) * _STEP
    law = np.ones_like(t)
    for weight, noise in weighted:
        square = (weight * float(noise.standard_deviation) / deviation * t) ** 2
        # The variance of a Laplace law is 2b².
        law *= 1 / (1 + square / 2) if isinstance(noise, LaplaceNoise) else np.exp(-square / 2)
    law *= 2 * _STEP / np.pi / t
    low, high = 0.0, _FARTHEST
    for _ in range(36):
        middle = (low + high) / 2
        covered = _STEP * middle / np.pi + float(law @ np.sin(middle * t))
        low, high = (middle, high) if covered < coverage else (low, middle)
    return deviation * high
