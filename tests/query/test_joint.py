"""The law of a weighted sum of noise beside closed forms, and the stretches of draws that cells read."""

from __future__ import annotations

from fractions import Fraction
from math import exp
from statistics import NormalDist

import numpy as np
import pytest

from discreet.mechanisms.noise import GaussianNoise, LaplaceNoise
from discreet.mechanisms.samplers import draw_many
from discreet.query.evaluation import _stretches
from discreet.query.joint import half_width_of_sum
from discreet.randomness import SeededBits


def laplace(scale: int) -> LaplaceNoise:
    return LaplaceNoise.for_guarantee(sensitivity=scale, epsilon=1)


@pytest.mark.parametrize("coverage", [0.5, 0.95, 0.9999])
def test_half_widths_are_those_of_closed_forms(coverage: float) -> None:
    """One Laplace law, two of one scale, two of different scales, and normal laws; signs of weights do not matter."""
    missed = 1 - coverage
    one = half_width_of_sum([(-3, laplace(1000))], coverage)
    assert one is not None
    assert exp(-one / 3000) == pytest.approx(missed, rel=1e-4)
    same = half_width_of_sum([(1, laplace(1000)), (-1, laplace(1000))], coverage)
    assert same is not None
    assert (1 + same / 2000) * exp(-same / 1000) == pytest.approx(missed, rel=1e-4)
    unlike = half_width_of_sum([(1, laplace(1000)), (2, laplace(2000))], coverage)
    assert unlike is not None
    assert (16 * exp(-unlike / 4000) - exp(-unlike / 1000)) / 15 == pytest.approx(missed, rel=1e-4)
    normal = half_width_of_sum([(3, GaussianNoise(Fraction(10**6))), (4, GaussianNoise(Fraction(10**6)))], coverage)
    assert normal == pytest.approx(5000 * NormalDist().inv_cdf((1 + coverage) / 2), rel=1e-5)


def test_half_widths_are_those_of_draws() -> None:
    """Of three laws together 400,000 draws lie inside as often as is said, within five deviations."""
    weighted = [(1.0, laplace(300)), (-7.0, laplace(200)), (0.5, laplace(5000))]
    half, bits = half_width_of_sum(weighted, 0.95), SeededBits(3)
    total = sum((weight * draw_many(noise.sampler, 400_000, bits) for weight, noise in weighted), np.zeros(400_000))
    assert half is not None
    assert np.mean(np.abs(total) <= half) == pytest.approx(0.95, abs=0.0017)
    assert np.mean(np.abs(total) <= 0.98 * half) != pytest.approx(0.95, abs=0.0017)


def test_coarse_steps_are_left_to_draws() -> None:
    assert half_width_of_sum([(1, laplace(1000)), (1, laplace(20))], 0.95) is None
    assert half_width_of_sum([], 0.95) == 0


def test_cells_read_stretches_of_their_own() -> None:
    """Side by side, in turn, so that all of the pool is read as often; one that is the whole pool is read by all."""
    pool = np.arange(100.0)
    read = _stretches(pool, np.array([0, 1, 2, 3, 5]), 33)
    assert read[:, 0].tolist() == [0, 33, 66, 0, 66]
    assert read[1].tolist() == list(range(33, 66))
    assert _stretches(pool, np.array([3, 9]), 100).tolist() == [pool.tolist()] * 2
