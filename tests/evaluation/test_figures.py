"""Figures: each curve against a computation of its own, and the facts of its shape."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest

from discreet.draw import Area, Chart, Line, to_svg, to_vega
from discreet.evaluation import figures
from discreet.mechanisms.continuous import laplace_density
from discreet.mechanisms.noise import LaplaceNoise

Curve = list[tuple[float, float]]


def curves(chart: Chart) -> dict[str, Curve]:
    """The points of each line."""
    return {
        mark.label: [(float(x), float(y)) for x, y in zip(mark.x, mark.y, strict=True)]  # type: ignore[arg-type]  # numbers all
        for mark in chart.marks
        if isinstance(mark, Line)
    }


def test_all_figures_are_drawn() -> None:
    charts = [
        figures.outputs(),
        figures.densities((0, 1), (0, 2)),
        figures.losses(1, 2),
        figures.linear(10_000),
        figures.counting(),
    ]
    for chart in charts:
        picture = to_svg(chart)
        assert chart.title in picture
        assert chart.caption.replace("'", "&#x27;") in picture
        assert "NaN" not in picture
        assert len(to_vega(chart)["layer"]) >= len(chart.marks)
    assert len({chart.title for chart in charts}) == len(charts)


@pytest.mark.requirement("2.34")
@pytest.mark.parametrize("epsilon", [0.5, 1, Fraction(1, 4)])
def test_two_output_densities(epsilon: float | Fraction) -> None:
    chart = figures.outputs(epsilon=epsilon, count=50)
    drawn = curves(chart)
    here, there = drawn["true count 50"], drawn["true count 51"]
    weight = math.exp(-epsilon)
    for true, curve in ((50, here), (51, there)):
        for y, chance in curve:
            assert chance == pytest.approx((1 - weight) / (1 + weight) * weight ** abs(y - true))
        total = sum(chance for _, chance in curve)
        outside = weight**11 / (1 + weight)
        assert 1 - 3 * outside < total < 1
    # They cross once, between the two true counts, and never leave the band of a factor e^ε, whose edge they follow.
    band = next(mark for mark in chart.marks if isinstance(mark, Area))
    for (y, one), (_, other), low, high in zip(here, there, band.low, band.high, strict=True):
        assert (one > other) == (y <= 50)
        assert low is not None
        assert high is not None
        assert other == pytest.approx(float(high if y >= 51 else low))
        assert float(high) == pytest.approx(one / weight)
        assert float(low) == pytest.approx(one * weight)


@pytest.mark.requirement("3.26", "4.07")
def test_laplace_densities_of_several_scales() -> None:
    scales = (1, 2, 4)
    drawn = curves(figures.densities(*((0, scale) for scale in scales)))
    assert list(drawn) == ["b = 1", "b = 2", "b = 4"]
    for scale, curve in zip(scales, drawn.values(), strict=True):
        values = dict(curve)
        assert max(values.values()) == values[0] == 1 / (2 * scale)
        area = sum((right - left) * (one + other) / 2 for (left, one), (right, other) in pairwise(curve))
        assert area == pytest.approx(1 - math.exp(-10 / scale), rel=1e-3)  # what lies beyond ±10 is the two tails
        for x, density in curve:
            half_line = math.exp(-abs(x) / scale) / scale  # an exponential density, of which each side has one half
            assert density == pytest.approx(half_line / 2)
            assert density == values[-x]
    # A flatter density starts lower and ends higher; two of them meet at ln(b'/b)/(1/b − 1/b') on either side.
    for (x, one), (_, other) in zip(drawn["b = 1"], drawn["b = 2"], strict=True):
        meet = math.log(2) / (1 - 1 / 2)
        assert (one > other) == (abs(x) < meet)


@pytest.mark.requirement("3.26")
def test_laplace_densities_of_several_places() -> None:
    drawn = curves(figures.densities((0, 1), (0, 2), (0, 4), (-5, 4)))
    assert list(drawn) == ["μ = 0, b = 1", "μ = 0, b = 2", "μ = 0, b = 4", "μ = -5, b = 4"]
    moved, still = dict(drawn["μ = -5, b = 4"]), dict(drawn["μ = 0, b = 4"])
    assert max(moved, key=lambda x: moved[x]) == -5
    assert all(moved[x] == pytest.approx(still[x + 5]) for x in (-10.0, -7.5, -5.0, 0.0, 5.0))


@pytest.mark.requirement("4.08")
def test_privacy_loss_over_outputs() -> None:
    drawn = curves(figures.losses(1, 2, Fraction(1, 2)))
    assert list(drawn) == ["b = 1", "b = 2", "b = 0.5"]
    for scale, curve in zip((1, 2, 0.5), drawn.values(), strict=True):
        for y, loss in curve:
            ratio = laplace_density(y, location=51, scale=scale) / laplace_density(y, location=50, scale=scale)
            assert loss == pytest.approx(math.log(ratio), abs=1e-12)
            assert loss == pytest.approx((abs(y - 50) - abs(y - 51)) / scale)
        values = dict(curve)
        assert {values[y] for y in values if y <= 50} == {-1 / scale}
        assert {values[y] for y in values if y >= 51} == {1 / scale}
        assert values[50.5] == 0
        assert [y for y, _ in curve] == sorted(values)
        assert [loss for _, loss in curve] == sorted(values.values())
        # Of whole numbers it is the loss of the integer noise that is really drawn.
        noise = LaplaceNoise.of_scale(scale)
        for y in range(46, 56):
            exact = math.log(float(noise.chance(y - 51)[0] / noise.chance(y - 50)[0]))
            assert exact == pytest.approx(values[y])


@pytest.mark.requirement("3.33")
def test_local_against_central_error() -> None:
    drawn = curves(figures.linear(10_000, epsilon=1, beta=0.05))
    central, local = drawn["curator, Laplace"], drawn["randomised response"]
    assert round(central[0][1], 4) == 0.0003
    assert round(local[0][1], 4) == 0.0294
    for (k, curator), (_, everybody) in zip(central, local, strict=True):
        assert curator == pytest.approx(k / 10_000 * math.log(k / 0.05))
        width = (math.e + 1) / (math.e - 1)
        assert everybody == pytest.approx(width * math.sqrt(math.log(2 * k / 0.05) / 20_000))
        assert (curator > everybody) == (k >= 61)


@pytest.mark.requirement("3.33")
@pytest.mark.parametrize(
    ("people", "epsilon", "expected"), [(1_000, 0.5, 20), (10_000, 0.5, 58), (100_000, 0.5, 167), (10_000, 1, 61)]
)
def test_where_randomised_response_overtakes(people: int, epsilon: float, expected: int) -> None:
    assert figures.crossover(people, epsilon=epsilon) == expected
    odds = math.exp(epsilon)

    def central(k: int) -> float:
        return k / (people * epsilon) * math.log(k / 0.05)

    def local(k: int) -> float:
        return (odds + 1) / (odds - 1) * math.sqrt(math.log(2 * k / 0.05) / (2 * people))

    first = next(k for k in range(1, 1000) if local(k) < central(k))
    assert first == expected
    assert all(local(k) < central(k) for k in range(first, 5000))


def test_error_of_one_count() -> None:
    drawn = curves(figures.counting(30, people=100))
    coin, chosen, noise = (
        drawn[label] for label in ("randomised response", "exponential mechanism", "geometric noise")
    )
    for (epsilon, everybody), (_, choice), (_, geometric) in zip(coin, chosen, noise, strict=True):
        weight = math.exp(-epsilon)
        assert geometric == pytest.approx(math.sqrt(2 * weight) / (1 - weight))
        truth = 1 / (1 + weight)
        assert everybody == pytest.approx(math.sqrt(100 * truth * (1 - truth)) / (2 * truth - 1))
        weights = [math.exp(-epsilon / 2 * abs(z - 30)) for z in range(101)]
        square = sum(one * (z - 30) ** 2 for z, one in enumerate(weights)) / sum(weights)
        assert choice == pytest.approx(math.sqrt(square))
        assert geometric < choice < everybody
    at = min(range(len(noise)), key=lambda place: abs(noise[place][0] - 1))
    assert 2 < chosen[at][1] / noise[at][1] < 2.1  # about twice, at ε = 1
