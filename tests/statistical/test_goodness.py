"""The distribution test has the power it is trusted with: it passes the law and rejects a scale 10 % off."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from tests.statistical.goodness import (
    KOLMOGOROV,
    farthest,
    fits,
    gaussian_cdf,
    geometric_cdf,
    laplace_cdf,
    p_value,
    p_value_of_two,
)

COUNT = 40_000
SCALES = [0.4, 1.0, 3.7, 40.0, 1e6, 1e12]


def sampled(kind: str, scale: float, generator: np.random.Generator) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Draws by numpy, which is near enough to the law to pass and shares no line with the product."""
    if kind == "geometric":
        return np.floor(generator.exponential(scale, COUNT)).astype(np.int64)
    if kind == "laplace":
        one, other = (np.floor(generator.exponential(scale, COUNT)) for _ in range(2))
        return (one - other).astype(np.int64)
    if scale > 30:
        return np.rint(generator.normal(0, scale, COUNT)).astype(np.int64)
    values = np.arange(-400, 401)
    weights = np.exp(-(values**2) / (2 * scale**2))
    return generator.choice(values, COUNT, p=weights / weights.sum()).astype(np.int64)


CDFS = {"geometric": geometric_cdf, "laplace": laplace_cdf, "gaussian": gaussian_cdf}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", CDFS)
def test_the_law_passes_and_ten_percent_do_not(kind: str, scale: float) -> None:
    generator = np.random.default_rng(20_260_101)
    cdf = CDFS[kind](scale)
    assert fits(lambda: sampled(kind, scale, generator), cdf)
    assert min(farthest(sampled(kind, scale, generator), cdf) for _ in range(2)) < KOLMOGOROV
    for factor in (0.9, 1.1):
        assert not fits(partial(sampled, kind, scale * factor, generator), cdf)
        # The other test has as much power once a law is spread over a few numbers.
        assert scale < 3 or farthest(sampled(kind, scale * factor, generator), cdf) > KOLMOGOROV


@pytest.mark.parametrize("kind", CDFS)
def test_a_shift_by_one_and_a_missing_zero_are_seen(kind: str) -> None:
    draws = sampled(kind, 3.7, np.random.default_rng(7))
    assert p_value(draws + 1, CDFS[kind](3.7)) < 1e-4
    assert p_value(np.where(draws == 0, 1, draws), CDFS[kind](3.7)) < 1e-4
    assert farthest(draws + 1, CDFS[kind](3.7)) > KOLMOGOROV


def test_two_samples_agree_or_do_not() -> None:
    generator = np.random.default_rng(11)
    one = sampled("laplace", 10, generator)
    assert p_value_of_two(one, sampled("laplace", 10, generator)) > 1e-4
    for scale in (9, 11):
        assert p_value_of_two(one, sampled("laplace", scale, generator)) < 1e-4


def test_p_values_are_uniform_under_the_law() -> None:
    generator = np.random.default_rng(3)
    values = [p_value(sampled("laplace", 5, generator), laplace_cdf(5)) for _ in range(60)]
    assert 0.3 < float(np.mean(values)) < 0.7
    assert min(values) > 1e-4
