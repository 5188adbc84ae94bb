"""Certificates of Gaussian noise: weights are irrational, so a law in fractions that tells no less is enumerated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import exp
from typing import cast

import pytest

from discreet.mechanisms import divergence
from discreet.mechanisms.certificate import odds_below
from discreet.mechanisms.continuous import analytic_gaussian_sigma
from discreet.mechanisms.noise import GaussianNoise, enclosed_law
from discreet.mechanisms.verify import certify_all


def excess(one: dict[int | str, Fraction], other: dict[int | str, Fraction], odds: Fraction) -> Fraction:
    return sum((max(Fraction(0), p - odds * other.get(k, Fraction(0))) for k, p in one.items()), Fraction(0))


@pytest.mark.parametrize("sigma_squared", [Fraction(1, 3), Fraction(5, 2), Fraction(20)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3)])
def test_an_enclosed_law_tells_no_less_and_hardly_more(sigma_squared: Fraction, epsilon: Fraction) -> None:
    noise, reach = GaussianNoise(sigma_squared), 80
    laws = {value: enclosed_law(value, noise, reach=reach) for value in (0, 1)}
    for value, law in laws.items():
        assert sum(law.values()) == 1
        assert [type(output) for output in law][-1] is str
        for k in range(1 - reach, reach):
            low, high = noise.chance(k - value)
            assert law[k] <= low <= high <= law[k] + Fraction(1, 2**99)
        ends = noise.tail(reach + value), noise.tail(reach - value)
        assert all(
            law[k] <= low <= law[k] + Fraction(1, 2**99) for k, (low, _) in zip((-reach, reach), ends, strict=True)
        )
        assert 0 <= law[f"left open at {value}"] < Fraction(1, 2**90)
    low, high = noise.delta(sensitivity=1, epsilon=epsilon)
    found = excess(laws[1], laws[0], odds_below(epsilon))
    assert low <= found
    assert found <= high + Fraction(1, 10**8)


class Crude:
    """Noise of which chances and tails are known to a factor of two only."""

    def chance(self, k: int) -> tuple[Fraction, Fraction]:
        return Fraction(1, 64 + k), Fraction(1, 32)

    def tail(self, k: int) -> tuple[Fraction, Fraction]:
        return Fraction(1, 16 + k), Fraction(1, 8)


def test_an_enclosed_law_takes_the_lower_end_of_all_that_is_known() -> None:
    law = enclosed_law(1, cast("GaussianNoise", Crude()), reach=2)
    exact = {-2: Fraction(1, 19), -1: Fraction(1, 62), 0: Fraction(1, 63), 1: Fraction(1, 64), 2: Fraction(1, 17)}
    for place, chance in exact.items():
        assert chance - Fraction(1, 2**100) < law[place] <= chance
    assert law["left open at 1"] == 1 - sum(law[place] for place in exact)


def test_delta_of_wide_noise_is_rounded_outwards_from_a_crude_strip_and_a_crude_tail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each enclosure made wider by a percent must move both ends of δ outwards."""
    noise, epsilon = GaussianNoise(Fraction(10**18)), Fraction(1, 10**9)
    low, high = noise.delta(sensitivity=1, epsilon=epsilon)
    for name in ("gaussian_between", "gaussian_tail"):
        right = getattr(divergence, name)

        def crude(*given: object, right: Callable[..., tuple[Fraction, Fraction]] = right) -> tuple[Fraction, Fraction]:
            least, most = right(*given)
            return least * Fraction(99, 100), most * Fraction(101, 100)

        with monkeypatch.context() as patch:
            patch.setattr(divergence, name, crude)
            least, most = noise.delta(sensitivity=1, epsilon=epsilon)
        assert least < low <= high < most


def test_odds_are_those_of_epsilon_rounded_down() -> None:
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(3)):
        assert exp(epsilon) * (1 - 1e-8) < odds_below(epsilon) < exp(epsilon)


def test_gaussian_noise_keeps_its_promises_by_its_own_law() -> None:
    one, two = certify_all(["gaussian", "gaussian-two-counts"])
    assert (one.verdict, two.verdict) == ("slack", "slack")
    assert Fraction(99, 100) * one.claim.delta <= one.delta
    (wrong,) = certify_all(["gaussian-with-the-continuous-scale"])
    assert wrong.verdict == "violated"
    assert float(wrong.delta) == pytest.approx(1.38e-6, abs=5e-9)


@pytest.mark.mutates
@pytest.mark.parametrize("factor", [Fraction(1, 4), Fraction(9, 10)])
def test_a_halved_sensitivity_and_a_tenth_less_variance_are_caught(
    factor: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = GaussianNoise.for_guarantee

    def wrong(*, sensitivity: int, epsilon: Fraction, delta: Fraction) -> GaussianNoise:
        return GaussianNoise(factor * right(sensitivity=sensitivity, epsilon=epsilon, delta=delta).sigma_squared)

    monkeypatch.setattr(GaussianNoise, "for_guarantee", wrong)
    assert certify_all(["gaussian"])[0].verdict == "violated"


@pytest.mark.mutates
def test_the_continuous_calibration_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*, sensitivity: int, epsilon: Fraction, delta: Fraction) -> GaussianNoise:
        sigma = analytic_gaussian_sigma(sensitivity=sensitivity, epsilon=float(epsilon), delta=float(delta))
        return GaussianNoise(Fraction(sigma) ** 2)

    monkeypatch.setattr(GaussianNoise, "for_guarantee", wrong)
    assert certify_all(["gaussian"])[0].verdict == "violated"


@pytest.mark.mutates
def test_the_largest_move_in_place_of_their_squares_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*, sensitivity: Sequence[int], rho: Fraction) -> GaussianNoise:
        return GaussianNoise(max(sensitivity) ** 2 / (2 * rho))

    monkeypatch.setattr(GaussianNoise, "for_rho", wrong)
    assert certify_all(["gaussian-two-counts"])[0].verdict == "violated"
