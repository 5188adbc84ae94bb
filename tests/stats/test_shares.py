"""Exact bounds of a share, beside the tails that define them and beside scipy."""

from __future__ import annotations

from fractions import Fraction
from math import comb, expm1, log

import pytest

from discreet.stats.shares import clopper_pearson, least_share, most_share


def tail(hits: int, draws: int, share: float) -> float:
    """The chance of at least so many hits, in exact fractions."""
    p = Fraction(share)
    return float(sum(comb(draws, k) * p**k * (1 - p) ** (draws - k) for k in range(hits, draws + 1)))


@pytest.mark.parametrize("error", [0.5, 0.025, 1e-6])
@pytest.mark.parametrize(("hits", "draws"), [(0, 1), (1, 1), (0, 9), (3, 9), (9, 9), (1, 40), (20, 40), (39, 40)])
def test_each_bound_misses_by_the_error_exactly(hits: int, draws: int, error: float) -> None:
    low, high = clopper_pearson(hits, draws, error)
    assert 0 <= low <= hits / draws <= high <= 1 or error == 0.5
    assert hits == 0 or tail(hits, draws, low) == pytest.approx(error, rel=1e-9)
    assert hits == draws or 1 - tail(hits + 1, draws, high) == pytest.approx(error, rel=1e-6)


@pytest.mark.parametrize("draws", [10, 1_000, 100_000, 10_000_000])
@pytest.mark.parametrize("part", [0.0, 0.0003, 0.1, 0.5, 0.97, 1.0])
def test_many_draws_agree_with_scipy(draws: int, part: float) -> None:
    special = pytest.importorskip("scipy.special")
    hits = round(part * draws)
    low, high = clopper_pearson(hits, draws, 0.025)
    assert low == pytest.approx(0.0 if hits == 0 else special.betaincinv(hits, draws - hits + 1, 0.025), rel=1e-7)
    assert high == pytest.approx(1.0 if hits == draws else special.betaincinv(hits + 1, draws - hits, 0.975), rel=1e-7)


@pytest.mark.parametrize("draws", [1, 1_000, 10_000_000])
@pytest.mark.parametrize("error", [1e-6, 1e-15, 1e-30])
def test_a_tiny_error_loses_no_digit(draws: int, error: float) -> None:
    """Without a hit the upper bound solves (1 − x)^n = error, with hits only the lower one solves x^n = error."""
    assert most_share(0, draws, error) == pytest.approx(-expm1(log(error) / draws), rel=1e-9)
    assert least_share(draws, draws, error) == pytest.approx(error ** (1 / draws), rel=1e-12)
    assert clopper_pearson(0, draws, error) == (0.0, most_share(0, draws, error))
