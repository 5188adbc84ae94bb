"""Randomised response: exact channels, exact draws, estimates without bias, and a design that is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from discreet.errors import ArgumentError
from discreet.guarantee import PureDP
from discreet.mechanisms.channel import CARD, TWO_COINS, Channel
from discreet.mechanisms.decay import Powers
from discreet.mechanisms.response import Response
from discreet.randomness import SeededBits, system_bits
from tests.mechanisms.chi_square import fits

HALF = Fraction(1, 2)
THREE = Powers(Fraction(3))


@pytest.mark.requirement("2.22")
@pytest.mark.requirement("2.35")
def test_two_coins_keep_three_quarters_and_have_odds_three() -> None:
    """Summed over the tosses: heads (or tails) on the first coin, then the second coin or the truth."""
    for truth, row in enumerate(TWO_COINS.rows):
        said = [HALF * (report == truth) + HALF * HALF for report in (0, 1)]
        assert list(row) == said
    assert TWO_COINS.odds() == 3
    assert TWO_COINS.delta(3) == 0 < TWO_COINS.delta(Fraction(299, 100))
    response = Response.keeping(Fraction(3, 4))
    assert response.channel().rows == TWO_COINS.rows
    assert math.log(3) <= response.guarantee.epsilon <= math.log(3) * (1 + 1e-12)


@pytest.mark.requirement("2.23")
@pytest.mark.requirement("2.36")
@pytest.mark.requirement("2.37")
def test_the_card_is_refused_with_its_witness() -> None:
    """Black: say yes; red: the truth. "No" cannot come from "yes": no ε, and exactly δ = ½ at every one."""
    for truth, row in enumerate(CARD.rows):
        assert list(row) == [HALF * (report == truth) + HALF * (report == 0) for report in (0, 1)]
    assert CARD.rows[0][0] / CARD.rows[1][0] == 2, "on the event yes alone the ratio is two"
    assert CARD.odds() is None
    assert CARD.witness() == ("no", "yes", "no")
    assert [CARD.delta(odds) for odds in (1, 2, 3, 100, 10**9)] == [HALF] * 5
    with pytest.raises(ArgumentError, match="reports 'no' cannot have the truth 'yes'"):
        CARD.private()
    assert TWO_COINS.private() is TWO_COINS


@pytest.mark.requirement("0.59")
@pytest.mark.requirement("0.60")
@pytest.mark.requirement("3.24")
@given(st.fractions(min_value="1/20", max_value="19/20", max_denominator=60).filter(lambda p: p > HALF))
def test_two_answers_have_odds_of_exactly_p_over_one_minus_p(kept: Fraction) -> None:
    channel = Response.keeping(kept).channel()
    assert channel.odds() == kept / (1 - kept)
    ratios = [a / b for column in zip(*channel.rows, strict=True) for a, b in (column, column[::-1])]
    assert sorted(set(ratios)) == [(1 - kept) / kept, kept / (1 - kept)], "tight both ways"
    base = kept / (1 - kept)
    assert Response.of(Powers(base)).law(0) == {0: base / (1 + base), 1: 1 / (1 + base)}


@pytest.mark.parametrize("categories", [2, 3, 4, 5])
def test_certificate_of_k_answers(categories: int) -> None:
    channel = Response.of(THREE, categories=categories).channel()
    assert channel.odds() == 3
    assert [channel.delta(odds) for odds in (3, 4)] == [0, 0]
    brute = max(
        max(one[report] / other[report] for report in range(categories))
        for one, other in product(channel.rows, repeat=2)
    )
    assert brute == 3


@pytest.mark.mutates
def test_keeping_too_often_turns_red() -> None:
    """e^ε/(e^ε + 1) for four answers, as if there were two, or ε for ε/2."""
    kept = Fraction(3, 4)
    rows = tuple(tuple(kept if a == b else (1 - kept) / 3 for a in range(4)) for b in range(4))
    assert Channel(labels=("a", "b", "c", "d"), rows=rows).odds() == 9
    assert Response.of(Powers(Fraction(9)), categories=4).channel().odds() == 9


@pytest.mark.parametrize(("categories", "truth"), [(2, 0), (2, 1), (4, 2)])
@pytest.mark.parametrize("epsilon", [1, THREE])
def test_answers_follow_the_law(categories: int, truth: int, epsilon: int | Powers) -> None:
    response = Response.of(epsilon, categories=categories)
    base = 3 if isinstance(epsilon, Powers) else math.e
    drawn = response.answers(np.full(60_000, truth), SeededBits(8), teaching=True).tolist()

    def law(odds: float) -> dict[int, float]:
        return {report: (odds if report == truth else 1) / (odds + categories - 1) for report in range(categories)}

    assert [fits(drawn, law(base**power)) for power in (0.9, 1, 1.1)] == [False, True, False]


def test_each_person_draws_for_themselves() -> None:
    """Neighbouring reports are independent: pairs follow the product of their laws."""
    response = Response.of(THREE)
    drawn = response.answers(np.zeros(40_000, dtype=np.int64), SeededBits(12), teaching=True).tolist()
    one = response.law(0)
    pairs = {(a, b): one[a] * one[b] for a, b in product((0, 1), repeat=2)}
    assert fits(list(zip(drawn[::2], drawn[1::2], strict=True)), pairs)
    truths = np.array([0, 1, 0, 1])
    assert (
        response.answers(truths, SeededBits(3), teaching=True).tolist()
        == response.answers(truths, SeededBits(3), teaching=True).tolist()
    )
    assert response.answer(1, SeededBits(3), teaching=True) in (0, 1)


class Word:
    """Bits that give one word, and then further bits one integer at a time."""

    certifiable = False

    def __init__(self, word: int, *more: int) -> None:
        self._word, self._more = word, list(more)

    def words(self, count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        assert count == 1
        return np.array([self._word], dtype=np.uint64)

    def bits(self, count: int) -> int:
        return self._more.pop(0)

    def below(self, bound: int) -> int:
        raise AssertionError(bound)


@pytest.mark.parametrize("epsilon", [1, Powers(Fraction(4)), Powers(Fraction(5, 2))])
def test_the_word_at_the_threshold_is_told_apart_by_more_bits(epsilon: int | Powers) -> None:
    """Two answers, so that the only word is that of the threshold."""
    response = Response.of(epsilon)
    low, high = response.decay.bounds(1, 60)
    exact = [int(Fraction(1 << 128) / (1 + weight)) for weight in (high, low)]
    assert exact[0] == exact[1]
    threshold, rest = divmod(exact[0], 1 << 64)
    assert response.answer(0, Word(threshold - 1), teaching=True) == 0
    assert response.answer(0, Word(threshold + 1), teaching=True) == 1
    assert response.answer(0, Word(threshold, rest - 1), teaching=True) == 0
    assert response.answer(0, Word(threshold, rest + 1), teaching=True) == 1


@pytest.mark.requirement("3.23")
@given(
    st.integers(2, 5).flatmap(lambda k: st.lists(st.integers(0, 4), min_size=k, max_size=k)).filter(any),
    st.integers(2, 9),
)
def test_estimates_have_no_bias_and_the_stated_variance(truths: list[int], base: int) -> None:
    """Exact expectation and variance over independent responses of so many people with each truth."""
    categories, people = len(truths), sum(truths)
    response = Response.of(Powers(Fraction(base)), categories=categories)
    rows = response.channel().rows
    expected = [sum(n * rows[truth][report] for truth, n in enumerate(truths)) for report in range(categories)]
    kept, other = response.chances()
    for report, mean in enumerate(expected):
        assert (mean / people - other) / (kept - other) == Fraction(truths[report], people)
        spread = sum(n * rows[truth][report] * (1 - rows[truth][report]) for truth, n in enumerate(truths))
        assert response.variance(Fraction(truths[report], people), people) == spread / people**2 * response.width**2
    # The estimator is linear in the counts: `unbiased` is that line.
    counts = [3 * n + 1 for n in truths]
    total = sum(counts)
    assert response.unbiased(counts) == tuple((Fraction(n, total) - other) / (kept - other) for n in counts)
    assert sum(response.unbiased(counts)) == 1


@pytest.mark.requirement("3.23")
def test_the_coins_estimate_is_half_plus_the_stretched_excess() -> None:
    """X̂ = ½ + (Ȳ − ½)/(2(p − ½)) = (Ȳ − (1 − p))/(2p − 1) for p = 3/4 and 130 of 200 yes."""
    found = Response.keeping("3/4").unbiased([70, 130])[1]
    assert found == HALF + (Fraction(130, 200) - HALF) / (2 * Fraction(1, 4)) == Fraction(4, 5)


@pytest.mark.parametrize(("categories", "expected"), [(4, 1.60), (32, 11.1), (1024, 347)])
def test_variance_of_a_rare_answer(categories: int, expected: float) -> None:
    assert float(Response.of(1, categories=categories).variance(0, 1)) == pytest.approx(expected, rel=0.005)


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_intervals_cover_as_often_as_they_say(confidence: float) -> None:
    """The exact coverage over all outcomes of surveys of 400 people out of a population, averaged over its shares."""
    response, people = Response.of(1), 400
    kept, other = (float(chance) for chance in response.chances())
    shares = [response.shares([people - count, count], confidence=confidence)[1] for count in range(people + 1)]
    for share in shares[1:-1]:
        assert share.low < share.estimate < share.high
    covered = []
    for true in np.linspace(0, 1, 41).tolist():
        chances = binom.pmf(np.arange(people + 1), people, true * kept + (1 - true) * other)
        covered.append(
            sum(chance for share, chance in zip(shares, chances, strict=True) if share.low <= true <= share.high)
        )
    assert np.mean(covered) == pytest.approx(confidence, abs=0.005)
    assert min(covered) > confidence - 0.02
    assert shares[200].standard_error == pytest.approx(0.5 / 20 * float(response.width))


@given(st.integers(1, 60), st.integers(0, 60), st.sampled_from([0.8, 0.95]))
def test_intervals_are_wilsons_mapped_to_the_truths(yes: int, no: int, confidence: float) -> None:
    response = Response.of(1)
    oracle = binomtest(yes, yes + no).proportion_ci(confidence, method="wilson")
    share = response.shares([no, yes], confidence=confidence)[1]
    other = float(response.chances()[1])
    assert share.low / float(response.width) + other == pytest.approx(oracle.low, abs=1e-9)
    assert share.high / float(response.width) + other == pytest.approx(oracle.high, abs=1e-9)


def test_nobody_said_it_still_has_an_interval() -> None:
    share = Response.of(1).shares([50, 0])[1]
    assert share.standard_error == 0
    assert share.low < share.high


@pytest.mark.requirement("3.32")
def test_the_error_bound_is_hoeffdings_and_holds() -> None:
    response, people = Response.of("1/2"), 500
    width = (math.exp(0.5) + 1) / (math.exp(0.5) - 1)
    assert float(response.width) == pytest.approx(width)
    assert response.error_bound(people, 0.05, queries=3) == pytest.approx(
        width * math.sqrt(math.log(2 * 3 / 0.05) / (2 * people))
    )
    bound, bits, truths = response.error_bound(people, 0.05), SeededBits(21), np.arange(people) % 2
    missed = 0
    for _ in range(400):
        count = int(response.answers(truths, bits, teaching=True).sum())
        missed += abs(float(response.unbiased([people - count, count])[1]) - 0.5) > bound
    assert missed <= 20
    assert response.error_bound(10_000, 0.05) == pytest.approx(bound * math.sqrt(people / 10_000))


def test_what_it_costs() -> None:
    assert Response.of("1/3", categories=7).guarantee == PureDP(Fraction(1, 3))
    assert Response.keeping("3/5", categories=3).channel().odds() == 3
    for base in (Fraction(5, 2), Fraction(101, 100), Fraction(10**30)):
        exact = math.log(base.numerator) - math.log(base.denominator)
        assert exact * (1 - 1e-12) <= Response.of(Powers(base)).guarantee.epsilon <= exact * (1 + 1e-12)


@pytest.mark.parametrize("digits", [2, 9, 12, 13, 14, 20, 400])
def test_a_coin_that_is_hardly_bent_costs_hardly_more_than_its_logarithm(digits: int) -> None:
    """Truth told with ½ + 10^−digits; the logarithm is between two fractions: 2y + 2y³/3 < ln((1 + y)/(1 − y))."""
    more = 2 * Fraction(1, 10**digits)
    least, most = 2 * more + 2 * more**3 / 3, 2 * more + more**3
    found = Response.keeping(HALF + more / 2).guarantee.epsilon
    assert least < found <= most * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize(("truth", "categories"), [("1/2", 2), ("1/3", 3), (1, 2), (0, 2), ("3/4", 1)])
def test_a_response_that_says_nothing_or_all_is_refused(truth: str, categories: int) -> None:
    with pytest.raises(ArgumentError):
        Response.keeping(truth, categories=categories)


def test_answers_counts_and_channels_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ArgumentError):
        Response.of(1, categories=1)
    response = Response.of(1, categories=3)
    for truths in (np.array([3]), np.array([-1]), np.zeros((2, 2), dtype=np.int64), np.array([0.5])):
        with pytest.raises(ArgumentError, match="from 0 to 2"):
            response.answers(truths, SeededBits(1), teaching=True)
    for counts in ([1, 2], [0, 0, 0], [3, -1, 1]):
        with pytest.raises(ArgumentError):
            response.unbiased(counts)
    with pytest.raises(ArgumentError, match="powers"):
        response.channel()
    for labels, rows in (
        (("a", "b"), ((HALF, HALF), (HALF, Fraction(1, 3)))),
        (("a", "b"), ((HALF, HALF), (Fraction(3, 2), -HALF))),
        (("a", "b"), ((HALF, HALF),)),
        (("a",), ((Fraction(1),),)),
    ):
        with pytest.raises(ArgumentError):
            Channel(labels=labels, rows=rows)
    assert response.answers(np.array([], dtype=np.int64), SeededBits(1), teaching=True).size == 0


def test_a_channel_that_ignores_the_truth_has_odds_one() -> None:
    """The least an exact ratio can be, over both orders of the truths; the largest is infinite."""
    silent = Channel(labels=("a", "b"), rows=((HALF, HALF), (HALF, HALF)))
    assert silent.odds() == 1
    assert silent.delta(1) == 0


def test_an_estimate_from_blind_guesses_is_refused() -> None:
    blind = Response.of("1e-60")
    assert blind.answer(1, system_bits()) in (0, 1)
    with pytest.raises(ArgumentError, match="blind guess"):
        blind.shares([3, 5])
