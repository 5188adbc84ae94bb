"""Guarantees: exact, ordered where they can be, converted in the safe direction only."""

from __future__ import annotations

import itertools
import math
import operator
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ArgumentError, BudgetError
from discreet.guarantee import ZCDP, ApproxDP, PureDP, exp_up, number_text

small = st.fractions(min_value=0, max_value=20, max_denominator=1000)


def test_three_tenths() -> None:
    tenth = PureDP.of(0.1)
    assert tenth + tenth + tenth == PureDP.of("0.3") == tenth.times(3)
    assert str(PureDP.of("0.3")) == "ε = 0.3"


@given(small, small)
def test_what_is_added_can_be_taken_away(a: Fraction, b: Fraction) -> None:
    assert PureDP(a) + PureDP(b) - PureDP(b) == PureDP(a)
    if a < b:
        with pytest.raises(BudgetError):
            _ = ZCDP(a) - ZCDP(b)


def test_incomparable_pairs_are_an_error() -> None:
    loose, late = ApproxDP.of(1, "1e-6"), ApproxDP.of(2, "1e-9")
    for first, second in ((loose, late), (late, loose)):
        for compare in (operator.le, operator.lt, operator.ge, operator.gt):
            with pytest.raises(ArgumentError, match="neither"):
                compare(first, second)
    assert ApproxDP.of(1, "1e-9") < loose
    assert late > ApproxDP.of(1, "1e-9")
    with pytest.raises(ArgumentError, match="different kinds"):
        _ = PureDP.of(1) <= ZCDP.of(1)  # type: ignore[operator]  # mixing kinds is what is tested
    with pytest.raises(ArgumentError, match="different kinds"):
        _ = PureDP.of(1) + ApproxDP.of(1, 0)  # type: ignore[operator]  # mixing kinds is what is tested


@pytest.mark.parametrize("bad", [-1, "-0.1", "nan", float("inf"), "1e400x", None])
def test_bad_parts_are_refused(bad: object) -> None:
    with pytest.raises(ArgumentError):
        PureDP.of(bad)  # type: ignore[arg-type]  # wrong types are what is tested
    with pytest.raises(ArgumentError):
        ApproxDP.of(1, 1.5)


@given(small)
def test_exp_is_rounded_up(exponent: Fraction) -> None:
    """Against a series of exact fractions, whose remainder is bounded by its last term times e^x."""
    term = total = Fraction(1)
    for order in range(1, 120):
        term *= exponent / order
        total += term
    assert total <= exp_up(exponent) <= total * (1 + Fraction(1, 10**17)) + Fraction(1, 10**17)


def test_groups_and_neighbours() -> None:
    assert PureDP.of(1).group(3) == PureDP.of(3)
    assert ZCDP.of("0.5").group(2) == ZCDP.of("0.5").replace_one() == ZCDP.of(2)
    assert PureDP.of(1).replace_one() == PureDP.of(2)
    grouped = ApproxDP.of(1, "1e-9").group(3)
    assert grouped.epsilon == 3
    assert float(grouped.delta) == pytest.approx(1e-9 * (math.e**3 - 1) / (math.e - 1))
    exchanged = ApproxDP.of(1, "1e-9").replace_one()
    assert exchanged.epsilon == 2
    assert float(exchanged.delta) == pytest.approx(1e-9 * (1 + math.e))
    assert ApproxDP.of(0, "1e-9").group(4).delta == 4 * Fraction("1e-9")
    assert ApproxDP.of(5, "0.5").group(9).delta == 1


@pytest.mark.parametrize(("count", "epsilon", "expected"), [(10, ".1", 1.472), (100, ".1", 5.222), (100, ".01", 0.430)])
def test_zcdp_conversion_meets_published_figures(count: int, epsilon: str, expected: float) -> None:
    converted = PureDP.of(epsilon).as_zcdp().times(count).as_approx("1e-6")
    assert float(converted.epsilon) == pytest.approx(expected, abs=6e-4)


@given(st.fractions(min_value=Fraction(1, 1000), max_value=10, max_denominator=1000), st.integers(2, 15))
def test_zcdp_conversion_never_promises_too_much(rho: Fraction, power: int) -> None:
    """No order of a fine grid does better by more than rounding, and none of them is beaten below the true minimum."""
    delta = 10.0**-power

    def bound(alpha: float) -> float:
        return alpha * float(rho) + math.log(1 / (alpha * delta)) / (alpha - 1) + math.log1p(-1 / alpha)

    best = max(0.0, min(bound(1 + math.exp(step / 50)) for step in range(-500, 500)))
    assert float(ZCDP(rho).as_approx(f"1e-{power}").epsilon) == pytest.approx(best, rel=1e-3, abs=1e-9)


def test_conversion_needs_a_delta_inside() -> None:
    for delta in (0, 1):
        with pytest.raises(ArgumentError, match="delta"):
            ZCDP.of(1).as_approx(delta)
    assert ZCDP.of(0).as_approx("1e-9").epsilon == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1", "1"),
        ("0.25", "0.25"),
        ("1/3", "1/3"),
        ("1e-9", "1e-9"),
        ("0.00025", "0.00025"),
        ("123456789", "123456789"),
    ],
)
def test_numbers_print_as_people_write_them(value: str, text: str) -> None:
    assert number_text(Fraction(value)) == text


@given(small, st.fractions(min_value=0, max_value=1, max_denominator=10**6))
def test_json_round_trip(epsilon: Fraction, delta: Fraction) -> None:
    guarantee = ApproxDP(epsilon, delta)
    assert ApproxDP.of(**guarantee.as_json()) == guarantee


LN_2 = Fraction("0.693147180559945310")  # rounded up, so that e^ε is 2 and less than 10⁻¹⁷ more
LAST = 6
Law = tuple[Fraction, ...]


def counting(table: tuple[str, ...], delta: Fraction) -> Law:
    """P(k) ∝ 2^−|k − count of a| on {0..LAST}, ends gathered; with probability δ the true count, marked, instead."""
    count = table.count("a")
    noisy = [Fraction(1, 3 * 2 ** abs(k - count)) for k in range(1, LAST)]
    low, high = (Fraction(2, 3 * 2**distance) for distance in (count, LAST - count))
    told = [delta * (k == count) for k in range(LAST + 1)]
    return (*((1 - delta) * p for p in (low, *noisy, high)), *told)


def excess(here: Law, there: Law, growth: Fraction) -> Fraction:
    """The exact δ at e^ε = growth: what the worst set of outputs has here beyond growth times its chance there."""
    return sum((max(Fraction(0), p - growth * q) for p, q in zip(here, there, strict=True)), Fraction(0))


@pytest.mark.requirement("3.19")
@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 50)], ids=str)
def test_group_privacy_holds_over_all_tables(delta: Fraction) -> None:
    """Every pair of tables that k units tell apart, over all multisets of up to four rows."""
    one = ApproxDP(LN_2, delta)
    tables = [rows for size in range(5) for rows in itertools.combinations_with_replacement("abc", size)]
    worst: dict[int, Fraction] = {}
    ratios: dict[int, Fraction] = {}
    for first, second in itertools.product(tables, repeat=2):
        apart = sum((Counter(first) - Counter(second)).values()) + sum((Counter(second) - Counter(first)).values())
        if apart == 0:
            continue
        here, there = counting(first, delta), counting(second, delta)
        assert sum(here) == 1
        assert excess(here, there, Fraction(2) ** apart) <= one.group(apart).delta
        worst[apart] = max(worst.get(apart, Fraction(0)), excess(here, there, Fraction(2) ** (apart - 1)))
        plain = [(p, q) for p, q in zip(here[: LAST + 1], there[: LAST + 1], strict=True)]
        ratios[apart] = max(ratios.get(apart, Fraction(0)), *(p / q for p, q in plain))
    assert all(ratios[apart] == 2**apart for apart in range(1, 5)), "kε is reached exactly"
    assert all(worst[apart] > one.group(apart).delta for apart in range(1, 4)), "and (k − 1)ε does not do"


@pytest.mark.parametrize("epsilon", ["1e-12", "0.001", "0.02"])
def test_large_groups_have_a_closed_form(epsilon: str) -> None:
    """Just beyond the terms that are written out: against all of them, and never below."""
    size, each = 1500, Fraction(epsilon)
    terms = sum((exp_up(at * each) for at in range(size)), Fraction(0))
    found = ApproxDP(each, Fraction(1, 10**40)).group(size).delta * 10**40
    assert terms - size * Fraction(1, 10**18) <= found <= terms * (1 + Fraction(1, 10**12))
    assert ApproxDP.of("1e-9", "1e-30").group(10**10).delta < Fraction(1, 10**16)
    assert ApproxDP.of("0.1", "1e-9").group(10**5).delta == 1


def test_composed_deltas_end_at_one() -> None:
    half = ApproxDP.of("0.5", "0.6")
    assert half + half == half.times(2) == ApproxDP.of(1, 1)


@pytest.mark.requirement("3.19")
def test_group_privacy_is_reached() -> None:
    """P(yes | x) grows as fast as (ε, δ) lets it, so k units reach δ(e^{kε} − 1)/(e^ε − 1) and no less would hold."""
    delta = Fraction(1, 1000)
    yes = [delta * (2**x - 1) for x in range(6)]
    laws: list[Law] = [(p, 1 - p) for p in yes]
    for first, second in itertools.product(range(6), repeat=2):
        apart = abs(first - second)
        bound = ApproxDP(LN_2, delta).group(apart).delta if apart else Fraction(0)
        found = excess(laws[first], laws[second], Fraction(2) ** apart)
        assert found <= bound
        if second == 0:
            assert found == delta * (2**apart - 1)
            assert bound <= found + Fraction(1, 10**15), "a δ smaller by more than rounding would be wrong"
    assert PureDP(LN_2).group(3) == PureDP(3 * LN_2)


@pytest.mark.parametrize("rho", ["1e400", "1e-400"])
def test_a_rho_beyond_floats_converts_upwards(rho: str) -> None:
    found = ZCDP.of(rho).as_approx("1e-9").epsilon
    assert found >= (ZCDP.of(rho).rho if rho == "1e400" else 0)
    assert found <= 3 * ZCDP.of(rho).rho + 1


def test_a_pure_group_needs_no_exponential() -> None:
    assert PureDP.of("1e400").as_approx().group(3) == ApproxDP(3 * Fraction(10**400), Fraction(0))
