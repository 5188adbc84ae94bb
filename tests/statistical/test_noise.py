"""What only many draws can show: an oracle agrees, time and grid tell nothing, and noise of the wrong scale is seen."""

from __future__ import annotations

import gc
import math
import time
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from scipy.stats import beta, rankdata

from discreet.mechanisms.noise import GaussianNoise, LaplaceNoise, Noise, release
from discreet.mechanisms.samplers import DiscreteGaussian, DiscreteLaplace, Law, draw, draw_many
from discreet.randomness import system_bits
from tests.statistical.goodness import KOLMOGOROV, farthest, fits, gaussian_cdf, laplace_cdf, p_value, p_value_of_two

dp.enable_features("contrib")


def oracle(law: Law, scale: float, count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The same law drawn by OpenDP, which was vetted by others."""
    atom = dp.vector_domain(dp.atom_domain(T=int))
    if isinstance(law, DiscreteLaplace):
        measurement = dp.m.make_laplace(atom, dp.l1_distance(T=int), scale=scale)
    else:
        measurement = dp.m.make_gaussian(atom, dp.l2_distance(T=float), scale=scale)
    return np.array(measurement([0] * count), dtype=np.int64)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [0.5, 10.0, 1e6])
@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian])
def test_opendp_draws_the_same_law(kind: type[DiscreteLaplace | DiscreteGaussian], scale: float) -> None:
    def law_of(factor: Fraction) -> Law:
        stretched = Fraction(scale) * factor
        return DiscreteLaplace.of_scale(stretched) if kind is DiscreteLaplace else DiscreteGaussian(stretched**2)

    reference = oracle(law_of(Fraction(1)), scale, 30_000)
    samples = [draw_many(law_of(Fraction(f, 10)), 300_000, system_bits()) for f in (9, 10, 11)]
    smaller, same, larger = (p_value_of_two(reference, sample) for sample in samples)
    assert same > 1e-6
    assert max(smaller, larger) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("scale", [Fraction(1, 2), 10, 16, 17, 10**6, 10**15])
def test_a_million_draws_fit(scale: int | Fraction) -> None:
    bits = system_bits()
    for law, cdf in (
        (DiscreteLaplace.of_scale(scale), laplace_cdf),
        (DiscreteGaussian(Fraction(scale) ** 2), gaussian_cdf),
    ):
        assert fits(lambda law=law: draw_many(law, 1_000_000, bits), cdf(float(scale)))  # type: ignore[misc]  # mypy infers no default of a lambda
        assert min(farthest(draw_many(law, 1_000_000, bits), cdf(float(scale))) for _ in range(2)) < KOLMOGOROV
        for factor in (0.98, 1.02):
            draws = draw_many(law, 1_000_000, bits)
            assert p_value(draws, cdf(factor * float(scale))) < 1e-4 or scale < 1
            assert farthest(draws, cdf(factor * float(scale))) > KOLMOGOROV or scale < 1


def auc(
    score: np.ndarray[tuple[int, ...], np.dtype[np.float64]], hit: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
) -> float:
    """The chance that a hit scores above a miss."""
    ranks, hits = rankdata(score), int(hit.sum())
    return float((ranks[hit].sum() - hits * (hits + 1) / 2) / (hits * (len(hit) - hits)))


def timed(law: Law, count: int) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.float64]], list[int]]:
    bits, clock, values = system_bits(), time.perf_counter_ns, []
    spent = np.empty(count)
    gc.disable()
    try:
        for place in range(count):
            start = clock()
            value = draw(law, bits)
            spent[place] = clock() - start
            values.append(value)
    finally:
        gc.enable()
    return spent, values


def test_the_curve_of_time_against_noise_sees_a_leak() -> None:
    generator = np.random.default_rng(1)
    noise = np.abs(generator.laplace(0, 10, 20_000))
    large = noise >= np.quantile(noise, 0.9)
    assert auc(1000 + noise + generator.normal(0, 5, 20_000), large) > 0.9
    assert 0.45 < auc(generator.normal(0, 1, 20_000), large) < 0.55


@pytest.mark.parametrize(
    "law",
    [
        DiscreteLaplace.of_scale(10),
        DiscreteLaplace.of_scale(10**6),
        DiscreteGaussian(Fraction(100)),
        DiscreteGaussian(Fraction(10**12)),
    ],
)
def test_time_says_nothing_of_a_single_draw(law: Law) -> None:
    """20,000 draws: the area under the curve of "a tenth of the largest noise" by time lies in [.45, .55]."""
    spent, values = timed(law, 20_000)
    noise = np.abs(np.array(values, dtype=np.float64))
    assert 0.45 <= auc(spent, noise >= np.quantile(noise, 0.9)) <= 0.55


def off_grid(answers: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> int:
    """How many answers near 0 have bits finer than 2⁻⁵³: with float noise around 1 none has, around 0 most have."""
    near = answers[np.abs(answers) < 0.25]
    return int((np.ldexp(near, 53) % 1 != 0).sum())


def least_excess(one: int, other: int, count: int, epsilon: float) -> float:
    """A lower bound on P − e^ε·P' for an event seen so often among so many, wrong once in a hundred million times."""
    low = beta.ppf(5e-9, one, count + 1 - one) if one else 0.0
    high = beta.isf(5e-9, other + 1, count - other) if other < count else 1.0
    return float(low - math.exp(epsilon) * high)


def test_float_noise_is_caught_by_its_grid() -> None:
    generator = np.random.default_rng(1)
    zero, one = (value + generator.laplace(0, 1, 20_000) for value in (0.0, 1.0))
    assert off_grid(one) == 0
    assert least_excess(off_grid(zero), off_grid(one), 20_000, 1.0) > 0.1


@pytest.mark.parametrize("noise", [LaplaceNoise.of_scale(1), GaussianNoise(Fraction(2))])
def test_the_grid_of_integer_noise_tells_nothing(noise: Noise) -> None:
    """200,000 answers at 0 and at 1 stand on one grid, and no event of low bits or places exceeds the exact δ(1)."""
    bits, count = system_bits(), 200_000
    zero, one = (release(np.full(count, value), noise, bits).value for value in (0, 1))
    assert off_grid(zero.astype(np.float64)) == off_grid(one.astype(np.float64)) == 0
    delta = float(noise.delta(sensitivity=1, epsilon=1)[1])
    events = [(zero % modulus == rest, one % modulus == rest) for modulus in (2, 3, 4, 8) for rest in range(modulus)]
    events += [(zero <= place, one <= place) for place in range(-3, 4)]
    for at_zero, at_one in events:
        assert least_excess(int(at_zero.sum()), int(at_one.sum()), count, 1.0) <= delta
        assert least_excess(int(at_one.sum()), int(at_zero.sum()), count, 1.0) <= delta
