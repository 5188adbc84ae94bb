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
from statistics import NormalDist

import numpy as np

from discreet.mechanisms.noise import GaussianNoise, LaplaceNoise

__all__ = ["half_width_of_sum"]

_WIDE = 100
# The grid of t, where the sum's deviation is 1, and the farthest end of an interval; 2π/0.2 = 31.
_STEP, _END = 0.2, 1_000.0
_FARTHEST = 25.0
_NORMAL = NormalDist()
_NEAR, _STEPS_AT_MOST = 1e-9, 60


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
    density, half = law * t, _NORMAL.inv_cdf((1 + coverage) / 2)
    for _ in range(_STEPS_AT_MOST):
        # Coverage grows ever slower, so that from the second step on Newton's come from below and never pass it.
        missing = coverage - _STEP * half / np.pi - float(law @ np.sin(half * t))
        further = missing / (_STEP / np.pi + float(density @ np.cos(half * t)))
        half = min(_FARTHEST, max(0.0, half + further))
        if abs(further) < _NEAR:
            break
    return deviation * half
