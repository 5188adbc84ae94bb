"""Choice is as private as it says, is what its law says, and a wrong sensitivity, price or tie rule turns it red."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import FrozenInstanceError
from fractions import Fraction
from functools import partial
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.guarantee import PureDP
from discreet.mechanisms import choice
from discreet.mechanisms.choice import Method
from discreet.mechanisms.decay import Powers
from discreet.mechanisms.utility_score import Utility, shortfall
from discreet.randomness import SeededBits
from tests.mechanisms.chi_square import fits

FOUR = Powers(Fraction(4))
ALL_MOVES = tuple(product((-1, 0, 1), repeat=3))
SAME_WAY = tuple(move for move in ALL_MOVES if len(set(move) - {0}) <= 1)
ScoreLaw = Callable[[tuple[int, ...]], dict[int, Fraction]]


def utility(scores: Sequence[int], *, monotone: bool = False, sensitivity: Fraction = Fraction(1)) -> Utility:
    return Utility(scores=scores, sensitivity=sensitivity, monotone=monotone, why="one row moves each count by one")


def law_of(method: Method, *, monotone: bool = False, sensitivity: Fraction = Fraction(1)) -> ScoreLaw:
    return lambda scores: choice.law(utility(scores, monotone=monotone, sensitivity=sensitivity), FOUR, method=method)


def worst_ratio(law: ScoreLaw, moves: Sequence[tuple[int, ...]]) -> Fraction:
    """The largest ratio over all scores in {0..3}³, all neighbours and all outputs, both ways."""
    seen: dict[tuple[int, ...], dict[int, Fraction]] = {}
    for scores, move in product(product(range(4), repeat=3), moves):
        for one in (scores, tuple(score + step for score, step in zip(scores, move, strict=True))):
            if one not in seen:
                seen[one] = law(one)

    def ratios() -> Iterator[Fraction]:
        for scores, move in product(product(range(4), repeat=3), moves):
            here, there = seen[scores], seen[tuple(score + step for score, step in zip(scores, move, strict=True))]
            for output in here:
                yield max(here[output] / there[output], there[output] / here[output])

    return max(ratios())


@pytest.mark.requirement("0.67")
@pytest.mark.requirement("2.47")
def test_certificate_of_the_exponential_mechanism() -> None:
    assert worst_ratio(law_of(Method.EXPONENTIAL), ALL_MOVES) == Fraction(65, 17)
    assert worst_ratio(law_of(Method.EXPONENTIAL), SAME_WAY) == Fraction(33, 17)
    assert worst_ratio(law_of(Method.EXPONENTIAL, monotone=True), SAME_WAY) == Fraction(171, 43)


def test_certificate_of_permute_and_flip() -> None:
    assert worst_ratio(law_of(Method.PERMUTE_AND_FLIP), ALL_MOVES) == 4
    assert worst_ratio(law_of(Method.PERMUTE_AND_FLIP), SAME_WAY) == 2
    assert worst_ratio(law_of(Method.PERMUTE_AND_FLIP, monotone=True), SAME_WAY) == 4


@pytest.mark.mutates
@pytest.mark.parametrize("method", Method)
def test_halved_sensitivity_and_a_false_monotone_turn_red(method: Method) -> None:
    assert worst_ratio(law_of(method, sensitivity=Fraction(1, 2)), ALL_MOVES) > 4
    assert worst_ratio(law_of(method, monotone=True), ALL_MOVES) > 4


@pytest.mark.mutates
def test_a_tie_rule_that_looks_at_the_scores_turns_red() -> None:
    """Two candidates with geometric noise of weight ½ a step; a tie falls to the truly better one."""

    def first_wins(scores: tuple[int, ...]) -> Fraction:
        lead = scores[1] - scores[0] + (scores[0] <= scores[1])
        return (
            Fraction(1, 2) ** lead / Fraction(3, 2) if lead >= 0 else 1 - Fraction(1, 2) ** (1 - lead) / Fraction(3, 2)
        )

    assert first_wins((1, 0)) / first_wins((0, 1)) == 5


def by_orders(scores: Sequence[int], weight: Callable[[int], Fraction]) -> dict[int, Fraction]:
    """Permute-and-flip, summed over all orders."""
    orders = list(permutations(range(len(scores))))
    wins = dict.fromkeys(range(len(scores)), Fraction(0))
    for order in orders:
        reached = Fraction(1, len(orders))
        for candidate in order:
            heads = weight(max(scores) - scores[candidate])
            wins[candidate] += reached * heads
            reached *= 1 - heads
    return wins


@given(st.lists(st.integers(-3, 6), min_size=1, max_size=5))
@settings(max_examples=40)
def test_permute_and_flip_is_its_orders(scores: list[int]) -> None:
    assert choice.law(utility(scores), FOUR) == by_orders(scores, Powers(Fraction(2)).weight)


@given(st.lists(st.integers(-3, 6), min_size=1, max_size=6), st.booleans())
@settings(max_examples=60)
def test_noisy_max_is_permute_and_flip(scores: list[int], monotone: bool) -> None:
    given_scores = utility(scores, monotone=monotone)
    assert choice.law(given_scores, FOUR, method=Method.NOISY_MAX) == choice.law(given_scores, FOUR)


@pytest.mark.parametrize("scores", [(0, 0), (2, 0, 1), (3, 3, 0)])
def test_noisy_max_is_its_noise(scores: tuple[int, ...]) -> None:
    """Geometric noise up to 24 a candidate, cut off where its chance is below 2⁻²⁴."""
    half, reach = Fraction(1, 2), 24
    wins = dict.fromkeys(range(len(scores)), Fraction(0))
    for noise in product(range(reach), repeat=len(scores)):
        heights = [score + drawn for score, drawn in zip(scores, noise, strict=True)]
        tied = [candidate for candidate, height in enumerate(heights) if height == max(heights)]
        for candidate in tied:
            wins[candidate] += half ** (sum(noise) + len(noise)) / len(tied)
    for candidate, chance in choice.law(utility(scores), FOUR, method=Method.NOISY_MAX).items():
        assert 0 <= chance - wins[candidate] <= len(scores) * half**reach


@pytest.mark.parametrize("fine", [10**12, 10**25])
def test_scores_of_any_fineness_get_a_choice_of_the_same_law(fine: int) -> None:
    """Fractions that share no denominator make steps finer than 64 bits hold: the law stays, and nothing is refused."""
    scores = [Fraction(1, fine), Fraction(2, fine + 1), Fraction(5, 2)]
    given_scores = Utility(scores=scores, sensitivity=Fraction(1), why="declared")
    law = {at: float(p) for at, p in by_orders([0, 0, 5], lambda gap: Fraction(math.exp(-gap / 2))).items()}
    bits = SeededBits(19)
    assert fits(
        [choice.choose(given_scores, 2, bits, method=Method.NOISY_MAX, teaching=True) for _ in range(3000)], law
    )


@pytest.mark.requirement("0.66")
@pytest.mark.requirement("2.46")
@given(st.lists(st.fractions(-4, 4, max_denominator=4).map(lambda x: x / 1), min_size=1, max_size=6), st.integers(1, 3))
@settings(max_examples=60)
def test_the_exponential_mechanism_is_its_formula(scores: list[Fraction], root: int) -> None:
    """Probability ∝ exp(ε·score/(2Δ)), with e^ε a 24th power so that all of it is rational."""
    base = Fraction(root + 1) ** 24
    found = choice.law(
        Utility(scores=scores, sensitivity=Fraction(1), why="declared"), Powers(base), method=Method.EXPONENTIAL
    )
    weights = [Fraction(root + 1) ** int(12 * score) for score in scores]
    assert found == {index: weight / sum(weights) for index, weight in enumerate(weights)}


def law_in_floats(scores: Sequence[int], epsilon: float, method: Method) -> dict[int, float]:
    """The law for any ε, in floats, to compare draws with."""
    weights = [math.exp(-epsilon * (max(scores) - score) / 2) for score in scores]
    if method is Method.EXPONENTIAL:
        return {index: weight / sum(weights) for index, weight in enumerate(weights)}
    exact = by_orders(scores, lambda gap: Fraction(math.exp(-epsilon * gap / 2)))
    return {index: float(chance) for index, chance in exact.items()}


@pytest.mark.parametrize("method", Method)
def test_draws_follow_the_law_and_no_other_epsilon(method: Method) -> None:
    scores, bits = (0, 3, 1, 5, 5), SeededBits(11)
    draw = partial(choice.choose, utility(scores), 1.5, bits, method=method, teaching=True)
    draws = [draw() for _ in range(12_000)]
    assert fits(draws, law_in_floats(scores, 1.5, method))
    assert not fits(draws, law_in_floats(scores, 1.5 * 0.9, method))
    assert not fits(draws, law_in_floats(scores, 1.5 * 1.1, method))


@pytest.mark.parametrize("method", Method)
def test_draws_in_powers_follow_the_law_that_certifies_them(method: Method) -> None:
    scores, bits = utility((2, 0, 1)), SeededBits(5)
    draws = [choice.choose(scores, FOUR, bits, method=method, teaching=True) for _ in range(4000)]
    assert fits(draws, choice.law(scores, FOUR, method=method))


def test_permute_and_flip_never_expects_a_larger_shortfall() -> None:
    strictly = 0
    for scores in product(range(4), repeat=3):
        fallen = [
            sum((max(scores) - scores[at]) * chance for at, chance in law_of(method)(scores).items())
            for method in (Method.PERMUTE_AND_FLIP, Method.EXPONENTIAL)
        ]
        assert fallen[0] <= fallen[1]
        strictly += fallen[0] < fallen[1]
    assert strictly > 40


@pytest.mark.requirement("2.48")
@given(st.lists(st.integers(0, 14), min_size=1, max_size=9), st.sampled_from(["1/2", "1/10", "1/100"]), st.booleans())
def test_the_shortfall_exceeds_its_bound_rarely(scores: list[int], beta: str, monotone: bool) -> None:
    """Both forms of the theorem: with all candidates, and sharper with those tied for the best."""
    given_scores = utility(scores, monotone=monotone)
    best = max(scores)
    for method, tied in product((Method.EXPONENTIAL, Method.PERMUTE_AND_FLIP), (1, scores.count(best))):
        bound = given_scores.shortfall(FOUR, beta, tied=tied)
        law = choice.law(given_scores, FOUR, method=method)
        assert sum(chance for at, chance in law.items() if best - scores[at] >= bound) <= Fraction(beta)


@pytest.mark.requirement("2.48")
def test_the_bound_is_two_sensitivities_over_epsilon_times_a_logarithm() -> None:
    assert shortfall(64, 3, 0.5, "1/20") == pytest.approx(2 * 3 / 0.5 * math.log(64 * 20))
    assert shortfall(64, 3, 0.5, "1/20", tied=4) == pytest.approx(2 * 3 / 0.5 * math.log(16 * 20))
    assert shortfall(64, 3, Powers(Fraction(4)), "1/4", share=Fraction(1)) == pytest.approx(12)
    assert utility([1] * 64).shortfall(FOUR, "1/4") == shortfall(64, 1, FOUR, "1/4")
    assert utility([1] * 64, monotone=True).shortfall(FOUR, "1/4") == shortfall(64, 1, FOUR, "1/4") / 2
    for whole, missed in product(range(1, 9), repeat=2):
        bound = shortfall(2**whole, 1, FOUR, Fraction(1, 2**missed))
        assert whole + missed <= bound < whole + missed + 1e-12, "never rounded down"
    # A bound half as large would be broken: one best candidate among 64 and the others five steps below.
    law = choice.law(utility([5, *[0] * 63]), FOUR, method=Method.EXPONENTIAL)
    assert shortfall(64, 1, FOUR, "1/4") == pytest.approx(8)
    assert law[0] < Fraction(1, 2)


@pytest.mark.parametrize(("tied", "beta"), [(0, 0.1), (3, 0.1), (1, 0), (1, 1), (1, -1)])
def test_a_bound_for_nothing_is_refused(tied: int, beta: float) -> None:
    with pytest.raises(ArgumentError):
        shortfall(2, 1, 1, beta, tied=tied)


def divergence(law: dict[int, Fraction], other: dict[int, Fraction], order: float) -> float:
    """Rényi divergence of that order."""
    terms = (float(law[at]) ** order * float(other[at]) ** (1 - order) for at in law)
    return math.log(sum(terms)) / (order - 1)


def test_cost_in_zcdp_is_never_below_the_exact_divergence() -> None:
    epsilon, orders = math.log(4), (1.01, 1.5, 2, 4, 16)
    bounds = {method: float(choice.cost_in_zcdp(epsilon, method=method).rho) for method in Method}
    assert bounds[Method.EXPONENTIAL] == pytest.approx(epsilon**2 / 8)
    assert bounds[Method.PERMUTE_AND_FLIP] == bounds[Method.NOISY_MAX] == pytest.approx(epsilon**2 / 2)
    assert choice.cost(0.1) == PureDP(Fraction(1, 10))
    largest = dict.fromkeys((Method.EXPONENTIAL, Method.PERMUTE_AND_FLIP), 0.0)
    for method in largest:
        law = law_of(method)
        for scores, move, order in product(((3, 0, 0), (0, 3, 3), (1, 1, 1), (2, 1, 0)), ALL_MOVES, orders):
            there = law(tuple(score + step for score, step in zip(scores, move, strict=True)))
            largest[method] = max(largest[method], divergence(law(scores), there, order) / order)
        assert largest[method] <= bounds[method]
    assert largest[Method.PERMUTE_AND_FLIP] > bounds[Method.EXPONENTIAL], "its own price would be too low here"


@pytest.mark.requirement("4.26")
@pytest.mark.parametrize("sensitivity", [math.inf, math.nan, None, 0, -1, "", True])
def test_a_utility_without_a_bound_is_refused(sensitivity: object) -> None:
    with pytest.raises(ArgumentError):
        Utility(scores=(1, 2), sensitivity=sensitivity, why="1/distance")  # type: ignore[arg-type]  # that is the point


def test_a_utility_needs_a_reason_candidates_and_exact_scores() -> None:
    with pytest.raises(ArgumentError, match="no reason"):
        Utility(scores=(1, 2), sensitivity=Fraction(1), why=" ")
    with pytest.raises(ArgumentError, match="at least one"):
        utility(())
    with pytest.raises(ArgumentError, match="public grid") as refusal:
        Utility(scores=(1, 0.123), sensitivity=Fraction(1), why="rounded")  # type: ignore[arg-type]  # that is the point
    assert "0.123" not in str(refusal.value)
    assert "77" not in repr(utility((77, 5)))
    whole = utility((1, np.int64(2)))  # type: ignore[arg-type]  # an integer of numpy has an index, too
    assert {type(score) for score in whole.scores} == {int}
    with pytest.raises(FrozenInstanceError):
        utility((1, 2)).monotone = True  # type: ignore[misc]  # that is the point
