"""Scales and ticks: cover, round, few; places by an independent computation."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.draw import Axis
from discreet.draw.scale import Bands, Ruler, covering, covering_log, inside, inside_log, number, scale

_finite = st.floats(-1e300, 1e300)
_positive = st.floats(1e-300, 1e300)


def _is_round(value: Fraction) -> bool:
    """1, 2 or 5 times a power of ten."""
    while value >= 10:
        value /= 10
    while value < 1:
        value *= 10
    return value in (1, 2, 5)


@given(_finite, _finite, st.integers(3, 10))
def test_ticks_cover_the_range_in_few_equal_round_steps(a: float, b: float, most: int) -> None:
    low, high = min(a, b), max(a, b)
    ticks = covering(low, high, most)
    steps = {after - before for before, after in pairwise(ticks)}
    assert 2 <= len(ticks) <= most
    assert float(ticks[0]) <= low
    assert float(ticks[-1]) >= high
    assert len(steps) == 1
    assert _is_round(*steps)
    assert all(tick % next(iter(steps)) == 0 for tick in ticks)


@given(_finite, _finite)
def test_no_finer_round_step_would_have_done(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    ticks = covering(low, high)
    assert len(ticks) >= 4 or high - low <= 1e-9 * max(abs(low), abs(high))


@given(_finite, _finite, st.integers(2, 10))
def test_ticks_inside_a_given_domain_stay_inside(a: float, b: float, most: int) -> None:
    low, high = min(a, b), max(a, b)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        return
    ticks = inside(low, high, most)
    assert len(ticks) <= most
    assert all(low <= float(tick) <= high for tick in ticks)


@given(_positive, _positive, st.integers(2, 10))
def test_logarithmic_ticks_cover_and_stay_inside(a: float, b: float, most: int) -> None:
    low, high = min(a, b), max(a, b)
    bottom, top = covering_log(low, high)
    assert float(bottom) <= low <= high <= float(top)
    assert _is_round(bottom)
    assert _is_round(top)
    ticks = inside_log(float(bottom), float(top), most)
    assert 1 <= len(ticks) <= most
    assert all(float(bottom) <= float(tick) <= float(top) for tick in ticks)


def test_a_domain_from_a_tenth_has_its_tick_at_a_tenth() -> None:
    assert inside(0.1, 0.7)[0] == Fraction(1, 10)
    assert inside_log(0.1, 1000.0)[0] == Fraction(1, 10)


def test_counts_have_whole_ticks() -> None:
    assert [float(tick) for tick in covering(0, 2, whole=True)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("value", "drawn"), [(None, None), (math.nan, None), (math.inf, None), (10**400, None), ("a", None), (3, 3.0)]
)
def test_gaps(value: float | str | None, drawn: float | None) -> None:
    assert number(value) == drawn


@given(st.floats(-1e6, 1e6), st.floats(0, 1))
def test_a_ruler_is_linear(low: float, share: float) -> None:
    ruler = Ruler(low, low + 50, 100, 300)
    assert ruler.at(low + 50 * share) == pytest.approx(100 + 200 * share, abs=1e-3)


@given(st.floats(-6, 6))
def test_a_logarithmic_ruler_is_linear_in_the_power(power: float) -> None:
    place = Ruler(1e-6, 1e6, 0, 120, log=True).at(10**power)
    assert place == pytest.approx(60 + 10 * power, abs=1e-6)


def test_a_logarithmic_ruler_has_no_place_for_zero() -> None:
    assert Ruler(0.1, 10, 0, 1, log=True).at(0) is None
    assert Ruler(0.1, 10, 0, 1, log=True).at(-1) is None


def test_bands_lie_side_by_side() -> None:
    bands = Bands(("a", "b", "c", "d"), 0, 100)
    assert bands.step == 25
    assert [bands.at(name) for name in "abcd"] == [12.5, 37.5, 62.5, 87.5]
    assert bands.at(None) is None


def test_zero_belongs_to_bars_and_to_what_lies_near() -> None:
    def ends(values: list[float], zero: float) -> tuple[float, float]:
        ruler = scale(Axis(""), values, 0, 1, zero=zero)
        assert isinstance(ruler, Ruler)
        return ruler.low, ruler.high

    assert ends([8, 10], 1.0) == (0, 10)
    assert ends([8, 10], 0.35) == (8, 10)
    assert ends([3, 10], 0.35) == (0, 10)
    assert ends([-10, -8], 1.0) == (-10, 0)
    assert ends([-10, -8], 0.0) == (-10, -8)
    assert ends([-4, 6], 1.0) == (-4, 6)
