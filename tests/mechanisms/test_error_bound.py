"""The bound of an error holds, and is the least: for likely chances, and over draws."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.mechanisms.noise import GaussianNoise, LaplaceNoise, release
from discreet.randomness import system_bits
from tests.statistical.goodness import gaussian_cdf, laplace_cdf


def test_the_error_bound_of_a_chance_that_is_likely_is_the_least() -> None:
    """Far above one half too, where the bound is a few steps of a scale of 20."""
    for noise in (LaplaceNoise.of_scale(20), GaussianNoise(Fraction(400))):
        for beta in (Fraction(4, 5), Fraction(19, 20)):
            bound = noise.error(beta)
            assert 0 < bound < 20
            assert noise.tail(bound)[1] <= beta / 2 < noise.tail(bound - 1)[0]


@pytest.mark.requirement("2.44")
@pytest.mark.requirement("3.29")
def test_the_error_bound_holds_over_draws() -> None:
    """The largest of five errors passes the bound in at most β = 5 % of releases by the law, in nearly as many, and in
    as many of 20,000 releases as the law says, to within six standard deviations."""
    for noise, cdf in ((LaplaceNoise.of_scale(20), laplace_cdf(20)), (GaussianNoise(Fraction(400)), gaussian_cdf(20))):
        bound = noise.error("0.05", answers=5)
        expected = 1 - (cdf(bound - 1) - cdf(-bound)) ** 5
        assert 0.04 < expected <= 0.05
        draws = release(np.zeros((20_000, 5), dtype=np.int64), noise, system_bits()).value
        passed = float((np.abs(draws).max(axis=1) >= bound).mean())
        assert abs(passed - expected) < 6 * math.sqrt(expected * (1 - expected) / 20_000)
