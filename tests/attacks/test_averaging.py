"""Averaging: the deviation of the average, what it cost, and the picture."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.attacks.averaging import average, mean_deviation, mean_scale
from discreet.draw import to_svg
from discreet.guarantee import PureDP
from discreet.mechanisms.noise import LaplaceNoise, release
from discreet.randomness import SeededBits, keyed_generator

BOUND, PEOPLE, EPSILON = 10.0, 500, 0.5


@pytest.mark.requirement("1.33")
def test_average_has_the_stated_deviation() -> None:
    """800 averages of 40 answers each; 4 standard errors of a standard deviation on either side."""
    scale, generator = mean_scale(BOUND, PEOPLE, EPSILON), keyed_generator(1)
    assert scale == 2 * BOUND / (PEOPLE * EPSILON)
    ends = [
        average(lambda: 3.0 + generator.laplace(0, scale), 40, scale=scale, epsilon="0.5").running[-1]
        for _ in range(800)
    ]
    expected = mean_deviation(BOUND, PEOPLE, EPSILON, 40)
    assert expected == pytest.approx(2 * math.sqrt(2) * BOUND / (PEOPLE * EPSILON * math.sqrt(40)))
    assert abs(np.std(ends) / expected - 1) < 4 / math.sqrt(2 * 800)
    assert abs(np.mean(ends) - 3.0) < 4 * expected / math.sqrt(800)


@pytest.mark.requirement("1.33")
def test_real_cost_is_the_sum() -> None:
    found = average(lambda: 1.0, 12, scale=1, epsilon="0.1")
    assert found.cost == PureDP(Fraction(12, 10))
    assert found.deviation == pytest.approx(math.sqrt(2 / 12))


def test_exact_noise_of_the_product_averages_out_too() -> None:
    noise, bits = LaplaceNoise.for_guarantee(sensitivity=1, epsilon=1), SeededBits(2)
    found = average(lambda: float(release(40, noise, bits, teaching=True).value), 4000, scale=1, epsilon=1, truth=40.0)
    low, high = found.interval
    assert low < 40 < high
    assert high - low < 0.2
    assert "40" in found.sentences()[0]
    assert to_svg(found.charts()[0])
    assert json.loads(json.dumps(found.as_json()))["epsilon"] == "4000"
