"""Local, k-step and smooth sensitivity against brute force; propose-test-release in exact numbers."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np
import pytest

import discreet.mechanisms.testing as testing
from discreet.errors import ArgumentError
from discreet.guarantee import ApproxDP
from discreet.mechanisms.decay import Exponential, Powers, decay_of
from discreet.mechanisms.noise import LaplaceNoise
from discreet.mechanisms.sensitivity import Maximum, Mean, Median, Statistic
from discreet.mechanisms.smooth import base_of, smooth_sensitivity
from discreet.mechanisms.testing import Proposal, least_threshold, noisy_law
from discreet.randomness import SeededBits

Data = tuple[int, ...]
DOMAIN = (-2, -1, 1, 2)
FOUR = Powers(Fraction(4))


def tables(size: int, domain: Data = DOMAIN) -> list[Data]:
    return list(combinations_with_replacement(domain, size))


def changes(one: Data, other: Data) -> int:
    return sum((Counter(one) - Counter(other)).values())


def cases(statistic: Statistic) -> list[Data]:
    sizes = (1, 3, 5) if isinstance(statistic, Median) else (1, 2, 3, 4)
    return [data for size in sizes for data in tables(size)]


def slow_here(statistic: Statistic, data: Data) -> Fraction:
    return max(
        abs(statistic.value(data) - statistic.value(other)) for other in tables(len(data)) if changes(data, other) <= 1
    )


def slow_within(statistic: Statistic, data: Data, steps: int) -> Fraction:
    return max(slow_here(statistic, other) for other in tables(len(data)) if changes(data, other) <= steps)


STATISTICS = (Mean(-2, 2), Median(-2, 2), Maximum(-2, 2))


@pytest.mark.requirement("1.24", "1.26", "1.27")
@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: type(s).__name__)
def test_k_step_sensitivity_is_the_brute_force_maximum(statistic: Statistic) -> None:
    here = {data: slow_here(statistic, data) for data in cases(statistic)}
    for data in cases(statistic):
        assert statistic.here(data) == here[data]
        for steps in range(1, len(data) + 2):
            near = (other for other in tables(len(data)) if changes(data, other) <= steps)
            assert statistic.within(data, steps) == max(here[other] for other in near)


@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: type(s).__name__)
def test_neither_order_nor_what_lies_beyond_the_bounds_matters(statistic: Statistic) -> None:
    tidy, loose = (-2, -1, 1, 2, 2), (2, -7, 9, -1, 1)
    assert statistic.value(loose) == statistic.value(tidy)
    for steps in range(4):
        assert statistic.within(loose, steps) == statistic.within(tidy, steps)


@pytest.mark.requirement("1.20", "1.21", "1.22")
@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: type(s).__name__)
def test_global_sensitivity_is_the_largest_local_one(statistic: Statistic) -> None:
    """Bounds ±M with M = 2: 2M/n for the mean, 2M for the median and the maximum."""
    for size in {len(data) for data in cases(statistic)}:
        largest = max(slow_here(statistic, data) for data in tables(size))
        assert statistic.everywhere(size) == largest == (Fraction(4, size) if isinstance(statistic, Mean) else 4)


@pytest.mark.requirement("1.25")
def test_local_sensitivity_of_the_mean_lies_in_its_written_range() -> None:
    bound, mean = 2, Mean(-2, 2)
    for data in cases(mean):
        written = Fraction(max(max(bound + x, bound - x) for x in data), len(data))
        assert mean.here(data) == written
        assert Fraction(bound, len(data)) <= written <= Fraction(2 * bound, len(data))
    assert {mean.here((0, 0)), mean.here((2, 0))} == {Fraction(1), Fraction(2)}


@pytest.mark.requirement("1.47")
@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: type(s).__name__)
def test_distance_is_the_least_number_of_changes_that_breaks_the_bound(statistic: Statistic) -> None:
    here = {data: slow_here(statistic, data) for data in cases(statistic)}
    for data in cases(statistic):
        far: list[int | None] = []
        for bound in (Fraction(1, 3), Fraction(1), Fraction(2), Fraction(3), Fraction(4)):
            broken = [changes(data, other) for other in tables(len(data)) if here[other] > bound]
            far.append(statistic.distance(data, bound))
            assert far[-1] == min(broken, default=None)
            assert (far[-1] == 0) == (bound < here[data])
            assert (far[-1] is None) == (bound >= statistic.everywhere(len(data)))
        assert all(b is None or (a is not None and a <= b) for a, b in pairwise(far))


@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: type(s).__name__)
def test_distance_moves_by_at_most_one(statistic: Statistic) -> None:
    for one in cases(statistic):
        for other in tables(len(one)):
            first, second = statistic.distance(one, 2), statistic.distance(other, 2)
            if changes(one, other) == 1 and first is not None and second is not None:
                assert abs(first - second) <= 1
            assert (first is None) == (second is None)


@pytest.mark.parametrize("base", [Fraction(2), Fraction(11, 10), Fraction(9)])
@pytest.mark.parametrize("statistic", STATISTICS, ids=lambda s: type(s).__name__)
def test_smooth_sensitivity_is_smooth_and_the_brute_force_maximum(statistic: Statistic, base: Fraction) -> None:
    here = {data: slow_here(statistic, data) for data in cases(statistic)}
    smooth = {data: smooth_sensitivity(statistic, data, base) for data in here}
    for data, value in smooth.items():
        alike = tables(len(data))
        assert value == max(here[other] / base ** changes(data, other) for other in alike)
        assert here[data] <= value
        assert all(value <= base * smooth[other] for other in alike if changes(data, other) == 1)


def test_a_beta_is_rounded_down_to_a_base() -> None:
    for beta in (Fraction(1), Fraction(1, 30), Fraction(1, 1000)):
        assert 0 <= float(np.exp(float(beta)) - base_of(beta)) < 2e-12
    with pytest.raises(ArgumentError):
        base_of(Fraction(1, 10**13))
    with pytest.raises(ArgumentError):
        smooth_sensitivity(STATISTICS[0], (1,), Fraction(1))


LAWS = tables(5, (0, 1, 9))
NEIGHBOURS = [(one, other) for one in LAWS for other in LAWS if changes(one, other) == 1]


def proposal(delta: Fraction, base: Powers = FOUR) -> Proposal:
    return Proposal(statistic=Median(0, 9), bound=1, test=base, release=base, delta=delta)


def exact_delta(asked: Proposal, odds: int) -> Fraction:
    """The largest Σ max(0, P(o | x) − odds · P(o | x')) over ordered neighbours."""
    law = {data: asked.law(data) for data in LAWS}
    return max(
        sum((max(Fraction(0), p - odds * law[other][o]) for o, p in law[one].items()), Fraction(0))
        for one, other in NEIGHBOURS
    )


@pytest.mark.requirement("1.46")
@pytest.mark.parametrize(
    ("threshold", "at_one", "at_two"),
    [
        (3, "3/25", "159/12800"),
        (5, "3/400", "159/204800"),
        (6, "3/1600", "159/819200"),
        (10, "3/409600", "159/209715200"),
    ],
)
def test_exact_delta_of_each_threshold(
    threshold: int, at_one: str, at_two: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Median of five out of {0, 1, 9}, b = 1, ε = ln 4 for the test and for the release."""
    monkeypatch.setattr(testing, "least_threshold", lambda *_: threshold)
    asked = proposal(Fraction(1, 10))
    assert exact_delta(asked, 4) == Fraction(at_one)
    assert exact_delta(asked, 16) == Fraction(at_two)


@pytest.mark.requirement("1.46")
@pytest.mark.parametrize(("delta", "threshold"), [("1/1000", 5), ("1/1000000", 10)])
def test_the_corrected_proposal_costs_both_epsilons_and_delta(delta: str, threshold: int) -> None:
    asked = proposal(Fraction(delta))
    assert asked.threshold == threshold
    assert exact_delta(asked, 16) <= Fraction(delta) < exact_delta(asked, 4)  # one ε alone is a false claim
    sharp = Proposal(statistic=Median(0, 9), bound=1, test=FOUR, release=Powers(Fraction(2)), delta=Fraction(delta))
    assert exact_delta(sharp, 8) <= Fraction(delta)


def test_threshold_is_the_least_whose_tail_is_below_delta() -> None:
    for base in (Fraction(4), Fraction(3, 2), Fraction(101, 100)):
        for delta in (Fraction(1, 7), Fraction(1, 1000), Fraction(1, 10**9), base**-3 / (1 + 1 / base)):
            threshold = least_threshold(Powers(base), delta)
            tails = [base**-t / (1 + 1 / base) for t in (threshold, threshold - 1)]
            assert tails[0] <= delta
            assert threshold == 1 or tails[1] > delta
    assert least_threshold(Exponential(Fraction(1)), Fraction(1, 10**6)) == 14  # ln(10⁶/(1 + 1/e)) = 13.502


def test_a_clamped_noise_keeps_all_mass() -> None:
    law = noisy_law(1, LaplaceNoise(FOUR), -2, 3)
    assert sum(law.values()) == 1
    assert law[1] == Fraction(3, 5)
    assert law[-2] == Fraction(1, 4) ** 3 / (1 + Fraction(1, 4))


def test_answers_follow_the_law_and_fail_where_the_data_are_near() -> None:
    asked = Proposal(statistic=Median(0, 9), bound=1, test=FOUR, release=FOUR, delta=Fraction(1, 4))
    data = (0, 0, 0, 1, 9)
    law = asked.law(data)
    drawn = Counter(asked.answer(data, SeededBits(seed), teaching=True) for seed in range(3000))
    expected = {answer: 3000 * float(p) for answer, p in law.items() if p > Fraction(1, 300)}
    assert len(expected) >= 4
    assert sum((drawn[answer] - count) ** 2 / count for answer, count in expected.items()) < 35
    near, far = (0, 0, 9, 9, 9), (1,) * 41
    strict = Proposal(statistic=Median(0, 9), bound=1, test=decay_of(1), release=decay_of(1), delta=Fraction(1, 10**6))
    assert all(strict.answer(near, SeededBits(seed), teaching=True) is None for seed in range(50))
    assert all(strict.answer(far, SeededBits(seed), teaching=True) is not None for seed in range(50))
    assert strict.guarantee == ApproxDP(Fraction(2), Fraction(1, 10**6))
    never = Proposal(statistic=Maximum(0, 9), bound=9, test=FOUR, release=Powers(Fraction(2**9)), delta=Fraction(1, 9))
    assert never.law(data)[None] == 0  # a bound that nothing can break needs no test


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(ArgumentError):
        Median(3, 3)
    with pytest.raises(ArgumentError):
        Median(0, 3).value((1, 2))
    with pytest.raises(ArgumentError):
        Mean(0, 3).value(())
    with pytest.raises(ArgumentError):
        _ = proposal(Fraction(1, 10)).guarantee
    with pytest.raises(ArgumentError):
        Proposal(statistic=Median(0, 9), bound=1, test=decay_of(1), release=decay_of(1), delta=Fraction(1, 9)).law((1,))
    with pytest.raises(ArgumentError, match="powers"):
        noisy_law(0, LaplaceNoise.of_scale(1), -2, 2)
    narrow, wide = decay_of(1), decay_of(Fraction(1, 1 << 57))
    for test, release in ((narrow, wide), (wide, narrow)):
        with pytest.raises(ArgumentError, match="cut it off"):
            Proposal(statistic=Median(0, 9), bound=1, test=test, release=release, delta=Fraction(1, 9))
