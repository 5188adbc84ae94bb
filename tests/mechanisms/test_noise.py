"""Integer noise: calibrated to what it claims, with errors that hold, and released with nothing repeatable."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from discreet.errors import ArgumentError
from discreet.guarantee import ZCDP, PureDP
from discreet.mechanisms import divergence
from discreet.mechanisms import noise as noise_module
from discreet.mechanisms.continuous import (
    analytic_gaussian_delta,
    analytic_gaussian_sigma,
    laplace_cumulative,
    laplace_density,
)
from discreet.mechanisms.decay import Decay, Powers
from discreet.mechanisms.divergence import _growth
from discreet.mechanisms.enclosure import exp_fraction
from discreet.mechanisms.noise import LIMIT, GaussianNoise, LaplaceNoise, Noise, law, release
from discreet.mechanisms.samplers import DiscreteGaussian, DiscreteLaplace
from discreet.mechanisms.spread import _long_tail, gaussian_between, gaussian_chance, laplace_chance, laplace_tail
from discreet.mechanisms.tails import GaussianLaw
from discreet.randomness import SeededBits, system_bits
from tests.statistical.goodness import fits, gaussian_cdf, laplace_cdf

TWO = Powers(Fraction(2))


def worst_ratio(one: dict[int, Fraction], other: dict[int, Fraction]) -> Fraction:
    return max(one[k] / other[k] for k in one)


@pytest.mark.requirement("0.52")
@pytest.mark.requirement("2.41")
@pytest.mark.parametrize("sensitivity", [1, 2, 3, 5])
def test_laplace_noise_keeps_its_ratio_on_every_pair(sensitivity: int) -> None:
    """e^ε = 2^Δ: all true values in ±6, all outputs; the ratio is e^ε at distance Δ and less below it."""
    ratio = Fraction(2) ** sensitivity
    noise = LaplaceNoise.for_guarantee(sensitivity=sensitivity, epsilon=Powers(ratio))
    laws = {value: law(value, noise, reach=12) for value in range(-6, 7)}
    assert all(sum(chances.values()) == 1 for chances in laws.values())
    for one, other in product(laws, repeat=2):
        distance = abs(one - other)
        if distance <= sensitivity:
            assert worst_ratio(laws[one], laws[other]) == Fraction(2) ** distance <= ratio
        else:
            assert worst_ratio(laws[one], laws[other]) > ratio


@pytest.mark.requirement("3.25")
@pytest.mark.requirement("4.22")
@pytest.mark.requirement("4.23")
def test_a_vector_needs_its_l1_sensitivity_and_independent_draws() -> None:
    """Two counts that move by 1 each have Δ₁ = 2: scaled by it e^ε = 4 holds; scaled by the largest move it fails."""
    moves = [(0, 0), (1, 0), (0, 1), (1, 1), (1, -1), (-1, -1)]
    l1 = max(abs(a) + abs(b) for a, b in moves)
    largest = max(max(abs(a), abs(b)) for a, b in moves)

    def worst(sensitivity: int) -> Fraction:
        noise = LaplaceNoise.for_guarantee(sensitivity=sensitivity, epsilon=Powers(Fraction(4)))
        return max(
            worst_ratio(law(0, noise, reach=5), law(a, noise, reach=5))
            * worst_ratio(law(0, noise, reach=5), law(b, noise, reach=5))
            for a, b in moves
        )

    assert worst(l1) == 4
    assert worst(largest) == 16
    draws = release(np.zeros((50_000, 2), dtype=np.int64), LaplaceNoise.of_scale(3), system_bits()).value
    first, second = draws[:, 0], draws[:, 1]
    assert abs(pearsonr(first, second).statistic) < 0.03
    assert abs(pearsonr(np.abs(first), np.abs(second)).statistic) < 0.03


@pytest.mark.requirement("4.13")
def test_a_count_needs_scale_one_over_epsilon() -> None:
    """All pairs of tables of up to four marked rows that differ in one row: a count moves by one."""
    noise = LaplaceNoise.for_guarantee(sensitivity=1, epsilon=TWO)
    tables = [rows for size in range(4) for rows in product((0, 1), repeat=size)]
    ratios = {
        worst_ratio(law(sum(rows), noise, reach=9), law(sum(more), noise, reach=9))
        for rows in tables
        for row in (0, 1)
        for more in [(*rows, row)]
    }
    assert ratios == {Fraction(1), Fraction(2)}
    assert LaplaceNoise.for_guarantee(sensitivity=1, epsilon="1/2").scale == 2


@pytest.mark.requirement("4.20")
@pytest.mark.requirement("4.21")
def test_the_sum_of_debts_needs_the_declared_maximum() -> None:
    """Debts up to 10⁷ in steps of 10⁶: Δ is the largest declared debt, also when no one in the table owes as much."""
    declared = range(11)
    sums = [(sum(rows), sum((*rows, debt))) for rows in product((0, 3, 10), repeat=2) for debt in declared]
    sensitivity = max(abs(one - other) for one, other in sums)
    assert sensitivity == max(declared) == 10
    right = LaplaceNoise.for_guarantee(sensitivity=sensitivity, epsilon=Powers(Fraction(2) ** 10))
    wrong = LaplaceNoise.for_guarantee(sensitivity=1, epsilon=Powers(Fraction(2) ** 10))
    for noise, worst in ((right, 10), (wrong, 100)):
        laws = {total: law(total, noise, reach=31) for total in {total for pair in sums for total in pair}}
        assert max(worst_ratio(laws[one], laws[other]) for one, other in sums) == Fraction(2) ** worst


@pytest.mark.requirement("0.53")
@pytest.mark.requirement("3.28")
def test_the_continuous_law_has_its_density_and_its_cumulative() -> None:
    for location, scale in ((0.0, 1.0), (0.0, 4.0), (-5.0, 4.0), (0.0, 2.0)):
        grid = np.linspace(location - 40 * scale, location + 40 * scale, 100_001)
        density = np.array([laplace_density(x, location=location, scale=scale) for x in grid])
        below = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(grid))])
        for index in range(0, len(grid), 5_003):
            expected = laplace_cumulative(grid[index], location=location, scale=scale)
            assert below[index] == pytest.approx(expected, abs=1e-7)
        assert max(density) == pytest.approx(1 / (2 * scale), rel=1e-6)
        if not location:  # which is where the law stands unless it is told
            assert laplace_density(0, scale=scale) == max(density)
            assert laplace_cumulative(0, scale=scale) == 0.5
        half = [density[i] * 2 for i in range(50_000, 50_100)]
        assert half == pytest.approx([math.exp(-(grid[i] - location) / scale) / scale for i in range(50_000, 50_100)])


@given(
    st.fractions(Fraction(1, 20), 5000, max_denominator=40),
    st.sampled_from([Fraction(1, 2), Fraction(1, 20), Fraction(1, 10**6), Fraction(1, 10**12)]),
    st.integers(1, 50),
)
@pytest.mark.requirement("2.44")
@pytest.mark.requirement("3.29")
def test_the_error_bound_is_the_least_that_holds(scale: Fraction, beta: Fraction, answers: int) -> None:
    """P(some |N_j| ≥ k) ≤ d·2a^k/(1 + a) ≤ β, not so for k − 1, and k is ln(d/β)·Δ/ε within a step and a half."""
    bound = LaplaceNoise.of_scale(scale).error(beta, answers=answers)
    a = math.exp(-1 / scale)
    assert answers * 2 * a**bound / (1 + a) <= beta * (1 + 1e-9)
    if bound > 0:
        assert answers * (2 * a ** (bound - 1) / (1 + a) if bound > 1 else 1) > beta * (1 - Fraction(1, 10**9))
    assert -1 <= bound - scale * math.log(answers / beta) <= 1.5


@pytest.mark.requirement("2.45")
def test_the_mean_age_of_ten_thousand_errs_by_a_seventeenth_of_a_year() -> None:
    """Ages in [0, 100], n = 10,000 public, ε = ½, on a grid of a millionth of a year: Lap(.02), .0599 at 95 %."""
    step = Fraction(1, 10**6)
    sensitivity = Fraction(100 - 0, 10_000) / step
    assert sensitivity == 10_000
    noise = LaplaceNoise.for_guarantee(sensitivity=int(sensitivity), epsilon="0.5")
    assert noise.scale * step == Fraction(2, 100)
    assert float(noise.error("0.05") * step) == pytest.approx(0.0599, abs=5e-5)


@pytest.mark.parametrize("sensitivity", [1, 2, 7])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2), Fraction(15, 4)])
def test_delta_of_laplace_noise_is_the_sum_of_positive_parts(scale: Fraction, sensitivity: int) -> None:
    for epsilon in (Fraction(0), Fraction(1, 10), Fraction(1), Fraction(sensitivity) / scale, Fraction(40)):
        a, factor = math.exp(-1 / scale), math.exp(epsilon)
        chance = {k: (1 - a) / (1 + a) * a ** abs(k) for k in range(-200, 201)}
        brute = math.fsum(max(0.0, chance[k] - factor * chance[k - sensitivity]) for k in range(-190, 200))
        low, high = LaplaceNoise.of_scale(scale).delta(sensitivity=sensitivity, epsilon=epsilon)
        assert float(low) == pytest.approx(brute, abs=1e-12)
        assert 0 <= high - low <= Fraction(1, 10**25)


def brute_gaussian_delta(sigma_squared: Fraction, sensitivity: int, epsilon: Fraction) -> Decimal:
    with localcontext(prec=40):
        width = 2 * Decimal(sigma_squared.numerator) / sigma_squared.denominator
        reach = 20 * math.isqrt(math.ceil(sigma_squared)) + 20 + sensitivity
        weight = {k: (-(Decimal(k) ** 2) / width).exp() for k in range(-reach - sensitivity, reach + 1)}
        factor = (Decimal(epsilon.numerator) / epsilon.denominator).exp()
        parts = (max(Decimal(0), weight[k] - factor * weight[k - sensitivity]) for k in range(-reach, reach + 1))
        return sum(parts, Decimal(0)) / sum(weight.values())


@pytest.mark.parametrize("sensitivity", [1, 2, 5])
@pytest.mark.parametrize("sigma_squared", [Fraction(1, 4), Fraction(2), Fraction(97, 5)])
def test_delta_of_gaussian_noise_is_the_sum_of_positive_parts(sigma_squared: Fraction, sensitivity: int) -> None:
    for epsilon in (Fraction(0), Fraction(1, 10), Fraction(1), Fraction(8)):
        brute = brute_gaussian_delta(sigma_squared, sensitivity, epsilon)
        low, high = GaussianNoise(sigma_squared).delta(sensitivity=sensitivity, epsilon=epsilon)
        assert float(low) == pytest.approx(float(brute), rel=1e-9, abs=1e-25)
        assert 0 <= high - low <= Fraction(1, 10**25)


def test_the_continuous_calibration_breaks_its_claim_on_integers() -> None:
    """At Δ = 1 and δ = 10⁻⁶ the continuous σ gives 1.38 times the claim at ε = 3 and 3.0 times at ε = 8."""
    for epsilon, times in ((3, 1.38), (8, 3.01)):
        sigma = analytic_gaussian_sigma(sensitivity=1, epsilon=epsilon, delta=1e-6)
        continuous = analytic_gaussian_delta(sensitivity=1, sigma=sigma, epsilon=epsilon)
        assert continuous == pytest.approx(1e-6, rel=1e-4)
        low, _ = GaussianNoise(Fraction(sigma) ** 2).delta(sensitivity=1, epsilon=epsilon)
        assert float(low) / 1e-6 == pytest.approx(times, abs=0.01)


@pytest.mark.parametrize("epsilon", ["0.1", 1, 3, 8])
@pytest.mark.parametrize("sensitivity", [1, 2, 30, 1000])
@pytest.mark.parametrize("delta", ["1e-6", "1e-30"])
def test_the_calibrated_sigma_holds_and_the_next_smaller_does_not(
    epsilon: str | int, sensitivity: int, delta: str
) -> None:
    noise = GaussianNoise.for_guarantee(sensitivity=sensitivity, epsilon=epsilon, delta=delta)
    assert Fraction(99, 100) * Fraction(delta) <= noise.delta(sensitivity=sensitivity, epsilon=epsilon)[1]
    assert noise.delta(sensitivity=sensitivity, epsilon=epsilon)[1] <= Fraction(delta)
    smaller = GaussianNoise(noise.sigma_squared * Fraction(998, 1000) ** 2)
    assert smaller.delta(sensitivity=sensitivity, epsilon=epsilon)[1] > Fraction(delta)
    continuous = analytic_gaussian_sigma(sensitivity=sensitivity, epsilon=float(epsilon), delta=float(delta))
    assert 0.9 < math.sqrt(noise.sigma_squared) / continuous < 1.15


@pytest.mark.parametrize("order", [1.01, 1.5, 2, 5, 40])
@pytest.mark.parametrize("sigma", [0.4, 1, 3.3])
def test_gaussian_noise_holds_its_rho_at_every_order(sigma: float, order: float) -> None:
    """The Rényi divergence between neighbours that are Δ apart is at most order·Δ²/(2σ²)."""
    reach = 200
    weight = np.array([-(k * k) / (2 * sigma * sigma) for k in range(-reach, reach + 1)])
    log_chance = weight - math.log(np.exp(weight).sum())
    for move in (1, 2, 4):
        exponent = order * log_chance[move:] + (1 - order) * log_chance[:-move]
        top = exponent.max()
        divergence = (top + math.log(np.exp(exponent - top).sum())) / (order - 1)
        assert divergence <= order * move**2 / (2 * sigma**2) + 1e-9


def test_a_vector_of_gaussians_is_paid_by_the_sum_of_squares() -> None:
    noise = GaussianNoise.for_rho(sensitivity=[3, 0, 4], rho="1/8")
    assert noise.sigma_squared == Fraction(25) / (2 * Fraction(1, 8)) == 100
    assert noise.guarantee([3, 0, 4]) == ZCDP.of("1/8")
    assert GaussianNoise.for_rho(sensitivity=5, rho="1/8") == noise
    assert LaplaceNoise.for_guarantee(sensitivity=5, epsilon="1/2").guarantee(5) == PureDP.of("1/2")


@pytest.mark.parametrize("noise", [LaplaceNoise.of_scale("0.3"), LaplaceNoise.of_scale(7), LaplaceNoise(TWO)])
def test_moments_chances_and_intervals_of_laplace_noise(noise: LaplaceNoise) -> None:
    _moments_and_intervals(noise)


@pytest.mark.parametrize("sigma_squared", [Fraction(1, 9), Fraction(2), Fraction(50), Fraction(40_000)])
def test_moments_chances_and_intervals_of_gaussian_noise(sigma_squared: Fraction) -> None:
    _moments_and_intervals(GaussianNoise(sigma_squared))


def _moments_and_intervals(noise: Noise) -> None:
    """All against plain sums of the chances."""
    reach = 60 + 15 * math.ceil(noise.standard_deviation)
    chances = {k: float(noise.chance(k)[0]) for k in range(-reach, reach + 1)}
    assert math.fsum(chances.values()) == pytest.approx(1, abs=1e-9)
    assert noise.variance == pytest.approx(math.fsum(k * k * p for k, p in chances.items()), rel=1e-8)
    for k in (-5, -1, 0, 1, 2, 9):
        low, high = noise.tail(k)
        assert low <= high
        assert float(low) == pytest.approx(math.fsum(p for j, p in chances.items() if j >= k), rel=1e-6, abs=1e-12)
    for coverage in ("0.5", "0.95", "0.999"):
        half = noise.interval(coverage)
        covered = [math.fsum(chances[j] for j in range(-h, h + 1)) for h in (half, half - 1)]
        assert covered[0] >= float(coverage) - 1e-12
        assert half == 0 or covered[1] < float(coverage)


def test_long_tails_agree_with_sums_where_both_are_known() -> None:
    for sigma in (40, 128, 300):
        sums = GaussianLaw(Fraction(sigma) ** 2).tails(192, 160)
        for k in (1, sigma // 2, sigma, 3 * sigma, 6 * sigma, 14 * sigma):
            low, high = _long_tail(sigma, k)
            least, most = (Fraction(end, 2 << 192) for end in sums[2 * k - 2])
            assert low <= least <= most <= high
            assert high - low <= high * (Fraction(1, 10**8) + Fraction(40 + 2 * (k // sigma) ** 4, 300 * sigma**4))


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("0.05", "1e-15"), ("0.05", "1e-20"), ("0.01", "1e-30"), ("1", "1e-40")]
)
def test_a_tiny_delta_costs_no_more_than_the_continuous_law(epsilon: str, delta: str) -> None:
    found = GaussianNoise.for_guarantee(sensitivity=1, epsilon=epsilon, delta=delta).standard_deviation
    near = analytic_gaussian_sigma(sensitivity=1, epsilon=float(epsilon), delta=float(delta))
    assert near <= found <= 1.002 * near


@pytest.mark.parametrize("sensitivity", [1, 30, 10**6])
@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [("1e-300", "1e-6"), ("1e-12", "1e-9"), ("1e-9", "1e-20"), ("1e-6", "1e-40"), ("1e-4", "0.01")],
)
def test_a_tiny_epsilon_gets_no_more_noise_than_it_needs(epsilon: str, delta: str, sensitivity: int) -> None:
    """At ε near 0 δ is a difference of two tails that agree to ten digits: it is known to a percent all the same."""
    noise = GaussianNoise.for_guarantee(sensitivity=sensitivity, epsilon=epsilon, delta=delta)
    low, high = noise.delta(sensitivity=sensitivity, epsilon=epsilon)
    assert Fraction(98, 100) * Fraction(delta) <= low <= high <= Fraction(delta)


def test_delta_of_wide_noise_is_the_sum_of_positive_parts() -> None:
    sigma_squared, epsilon = Fraction(1001) ** 2 + Fraction(1, 3), Fraction(1, 500)
    exact = Fraction(brute_gaussian_delta(sigma_squared, 1, epsilon))
    low, high = GaussianNoise(sigma_squared).delta(sensitivity=1, epsilon=epsilon)
    assert low * (1 - Fraction(1, 10**20)) <= exact <= high * (1 + Fraction(1, 10**20))
    assert high - low <= exact / 100
    assert [float(end) for end in _growth(epsilon)] == [pytest.approx(math.expm1(epsilon), rel=1e-15)] * 2
    low, high = _growth(Fraction(1, 10**21))
    assert Fraction(1, 10**21) <= low < high < Fraction(1, 10**21) * (1 + Fraction(2, 10**21))


@pytest.mark.parametrize(("first", "count"), [(-7, 20), (-40, 5), (3, 1), (900, 64), (0, 0)])
def test_a_strip_of_wide_noise_lies_between_its_pieces(first: int, count: int) -> None:
    sigma_squared = Fraction(1000) ** 2
    exact = [gaussian_chance(sigma_squared, k) for k in range(first, first + count)]
    low, high = gaussian_between(sigma_squared, first, count)
    assert low <= sum((one for one, _ in exact), Fraction(0))
    assert sum((one for _, one in exact), Fraction(0)) <= high <= low * (1 + Fraction(1, 100))


def test_an_absurd_epsilon_is_calibrated_on_the_safe_side() -> None:
    """Where e^ε outgrows the digits of a tail its upper end jumps, and no σ uses 99 % of δ: the search still ends."""
    for epsilon in (60, 500):
        noise = GaussianNoise.for_guarantee(sensitivity=1, epsilon=epsilon, delta="1e-40")
        assert noise.delta(sensitivity=1, epsilon=epsilon)[1] <= Fraction(1, 10**40)
        assert noise.sigma_squared < 1


def test_noise_narrower_than_a_step_has_chances() -> None:
    narrow = GaussianNoise.for_rho(sensitivity=1, rho=1000)
    assert narrow.chance(0)[0] > 1 - Fraction(1, 10**40)
    assert narrow.chance(1)[1] < Fraction(1, 10**40)
    assert narrow.variance < 1e-30
    assert narrow.interval("0.95") == 0


@pytest.mark.parametrize(("epsilon", "delta"), [("1e12", "1e-9"), ("1e400", "1e-9"), ("1", "1e-60"), ("1", "1e-400")])
def test_gaussian_noise_beyond_what_floats_hold_is_refused(epsilon: str, delta: str) -> None:
    with pytest.raises(ArgumentError):
        GaussianNoise.for_guarantee(sensitivity=1, epsilon=epsilon, delta=delta)


@pytest.mark.parametrize("value", [0.5, Fraction(1, 2), np.float64(2), np.array([0.5]), np.array([1], dtype=np.uint64)])
def test_a_value_off_the_grid_is_refused_and_not_quoted(value: object) -> None:
    with pytest.raises(ArgumentError, match="whole steps") as refused:
        release(cast("int", value), LaplaceNoise(TWO), system_bits())
    assert "0.5" not in str(refused.value)
    assert "1/2" not in str(refused.value)


def test_a_value_of_64_bits_does_not_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise_module, "draw", lambda *_: 2**63 - 1)
    assert release(cast("int", np.int64(5)), LaplaceNoise(TWO), system_bits()).value == LIMIT


def test_chances_agree_on_both_sides_of_the_summed_sigmas() -> None:
    below, above = GaussianNoise(Fraction(128**2)), GaussianNoise(Fraction(128**2) + Fraction(1, 10**12))
    for k in (0, 1, 100, 700):
        assert float(below.chance(k)[0]) == pytest.approx(float(above.chance(k)[1]), rel=1e-12)
        assert above.chance(k)[0] < above.chance(k)[1]


def test_repeatable_bits_are_refused_or_leave_their_mark() -> None:
    noise = LaplaceNoise.of_scale(3)
    with pytest.raises(ArgumentError, match="repeated"):
        release(5, noise, SeededBits(1))
    one, two = (release(5, noise, SeededBits(1), teaching=True) for _ in range(2))
    assert one == two
    assert one.certifiable is False
    assert release(5, noise, system_bits(), teaching=True).certifiable is True


@pytest.mark.parametrize(
    ("noise", "cdf"),
    [
        (LaplaceNoise.of_scale(12), laplace_cdf(12)),
        (GaussianNoise(Fraction(81)), gaussian_cdf(9)),
    ],
)
def test_a_release_is_the_value_plus_the_noise_it_names(noise: Noise, cdf: object) -> None:
    assert callable(cdf)
    values = np.arange(30_000) - 15_000
    assert fits(lambda: release(values, noise, system_bits()).value - values, cdf)
    assert fits(lambda: np.array([release(7, noise, system_bits()).value - 7 for _ in range(5000)]), cdf)


def test_answers_stand_on_the_grid_of_integers() -> None:
    for noise in (LaplaceNoise.of_scale("22/7"), GaussianNoise(Fraction(22, 7))):
        assert all(type(release(3, noise, system_bits()).value) is int for _ in range(2000))
        assert release(np.zeros(10_000, dtype=np.int64), noise, system_bits()).value.dtype == np.int64


def test_answers_are_clamped_as_exact_noise_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every true value, in range or far out of it, with noise at and beyond what 64 bits hold."""
    noise = LaplaceNoise.of_scale(2**60)
    most = 2**63 - 1
    for exact in (0, 1, -1, LIMIT, 2 * LIMIT, most, most + 1, 10**30, -most - 1, -(10**30)):
        drawn = max(-most, min(most, exact))
        monkeypatch.setattr(noise_module, "draw", lambda law, bits, drawn=drawn: drawn)
        monkeypatch.setattr(noise_module, "draw_many", lambda law, count, bits, drawn=drawn: np.full(count, drawn))
        for value in (0, 5, LIMIT, -LIMIT, LIMIT + 1, most, -most - 1):
            expected = max(-LIMIT, min(LIMIT, max(-LIMIT, min(LIMIT, value)) + exact))
            assert release(value, noise, system_bits()).value == expected
            assert release(np.array([value]), noise, system_bits()).value.tolist() == [expected]


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1e-400", -0.0, "x", 5e-324, "1e-19"])
def test_an_epsilon_that_gives_no_answer_is_refused(epsilon: float | str) -> None:
    with pytest.raises(ArgumentError):
        release(0, LaplaceNoise.for_guarantee(sensitivity=1, epsilon=epsilon), system_bits())
    with pytest.raises(ArgumentError):
        GaussianNoise.for_rho(sensitivity=1, rho=epsilon if epsilon != "1e-19" else "1e-38")


@pytest.mark.parametrize("epsilon", ["1e-12", "1e12", "1e400"])
def test_extreme_epsilons_get_their_full_noise(epsilon: str) -> None:
    noise = LaplaceNoise.for_guarantee(sensitivity=1, epsilon=epsilon)
    assert noise.scale == 1 / Fraction(epsilon)
    draws = release(np.zeros(20_000, dtype=np.int64), noise, system_bits()).value
    assert float(np.abs(draws).mean()) == pytest.approx(float(noise.scale), rel=0.05, abs=1e-9)


@pytest.mark.parametrize("delta", [0, -1, 1, "nan", 2])
def test_a_delta_that_is_none_is_refused(delta: float | str) -> None:
    with pytest.raises(ArgumentError):
        GaussianNoise.for_guarantee(sensitivity=1, epsilon=1, delta=delta)


def test_a_sensitivity_that_is_none_is_refused() -> None:
    for sensitivity in (0, -3):
        with pytest.raises(ArgumentError):
            LaplaceNoise.for_guarantee(sensitivity=sensitivity, epsilon=1)
        with pytest.raises(ArgumentError):
            GaussianNoise.for_rho(sensitivity=sensitivity, rho=1)
        with pytest.raises(ArgumentError, match="sensitivity"):
            GaussianNoise.for_guarantee(sensitivity=sensitivity, epsilon=1, delta="1e-6")
    with pytest.raises(ArgumentError, match="variance"):
        _ = LaplaceNoise(TWO).scale
    with pytest.raises(ArgumentError, match="rational"):
        law(0, LaplaceNoise.of_scale(1), reach=3)


def test_noise_names_the_law_it_is_drawn_from() -> None:
    assert LaplaceNoise.of_scale(10).sampler == DiscreteLaplace.of_scale(10)
    assert GaussianNoise(Fraction(9)).sampler == DiscreteGaussian(Fraction(9))
    for wide in (lambda: LaplaceNoise.of_scale(2**61), lambda: GaussianNoise(Fraction(2) ** 122)):
        with pytest.raises(ArgumentError, match="wider than the integers"):
            wide()  # before anything is charged for it


@dataclass(frozen=True)
class Crude:
    """A decay known to one part in a hundred only, so that a bound taken at the wrong end shows."""

    base: Fraction

    def bounds(self, steps: int, digits: int) -> tuple[Fraction, Fraction]:
        weight = self.base**-steps
        return weight * Fraction(99, 100), weight * Fraction(101, 100)


def test_bounds_are_taken_at_the_right_ends() -> None:
    """With an enclosure as wide as a percent the exact fractions still lie inside, for tails and for chances."""
    crude = cast("Decay", Crude(Fraction(3, 2)))
    for k in range(-6, 7):
        for bounds in (laplace_tail, laplace_chance):
            exact, same = bounds(Powers(Fraction(3, 2)), k)
            low, high = bounds(crude, k)
            assert low < exact == same < high


def test_delta_is_rounded_outwards_from_a_crude_exponential(monkeypatch: pytest.MonkeyPatch) -> None:
    noises: list[Noise] = [LaplaceNoise.of_scale(1), GaussianNoise(Fraction(2))]
    fine = [noise.delta(sensitivity=2, epsilon=1) for noise in noises]

    def crude(exponent: Fraction, digits: int) -> tuple[Fraction, Fraction]:
        low, high = exp_fraction(exponent, digits)
        return low * Fraction(99, 100), high * Fraction(101, 100)

    monkeypatch.setattr(divergence, "exp_fraction", crude)
    for (low, high), noise in zip(fine, noises, strict=True):
        least, most = noise.delta(sensitivity=2, epsilon=1)
        assert least < low <= high < most


def test_an_epsilon_beyond_all_exponentials_leaves_the_tail() -> None:
    noise = GaussianNoise(Fraction(1, 100))
    assert noise.delta(sensitivity=1, epsilon=20_000) == (Fraction(0), noise.tail(200)[1])
