"""The exponential mechanism on a grid and on all whole numbers draws what its law says, and stays private."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.mechanisms import exponential
from discreet.mechanisms.decay import Exponential, Powers
from discreet.mechanisms.exponential import CountableUtility, Grid
from discreet.mechanisms.utility_score import Utility, rational
from discreet.randomness import SeededBits
from tests.mechanisms.chi_square import fits

FOUR = Powers(Fraction(4))


def utility(scores: list[int]) -> Utility:
    return Utility(scores=scores, sensitivity=Fraction(1), why="a rank moves by one")


runs = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 4)), min_size=1, max_size=5).filter(
    lambda pairs: any(width for _, width in pairs)
)


@pytest.mark.requirement("0.66")
@given(runs)
def test_runs_are_the_points_they_stand_for(pairs: list[tuple[int, int]]) -> None:
    """The continuous mechanism on a grid: a run of equal scores is as many single candidates."""
    scores, widths = [score for score, _ in pairs], [width for _, width in pairs]
    points = [score for score, width in pairs for _ in range(width)]
    assert exponential.law_runs(utility(scores), widths, FOUR) == exponential.law(utility(points), FOUR)


def test_points_follow_the_density_and_no_other_epsilon() -> None:
    """Score −|point − 5| on a grid of halves: the density e^(−ε|x − 5|/2), cut at the ends."""
    grid, bits = Grid(low=Fraction(0), step=Fraction(1, 2), points=21), SeededBits(17)
    points = [grid.value(index) for index in range(grid.points)]
    halves = Utility(scores=[-abs(point - 5) for point in points], sensitivity=Fraction(1), why="declared")
    draws = [grid.value(exponential.choose_point(halves, [1] * 21, 2, bits, teaching=True)) for _ in range(8000)]

    def density(epsilon: float) -> dict[Fraction, float]:
        weights = {point: math.exp(-epsilon * abs(float(point) - 5) / 2) for point in points}
        return {point: weight / sum(weights.values()) for point, weight in weights.items()}

    assert [fits(draws, density(epsilon)) for epsilon in (1.8, 2, 2.2)] == [False, True, False]


def test_points_of_wide_runs_are_uniform_inside() -> None:
    widths, bits = [2, 0, 5, 1], SeededBits(2)
    draws = [exponential.choose_point(utility([0, 9, 1, 2]), widths, FOUR, bits, teaching=True) for _ in range(6000)]
    law = exponential.law_runs(utility([0, 9, 1, 2]), widths, FOUR)
    assert set(law) == set(range(8))
    assert fits(draws, law)
    assert not fits(draws, dict.fromkeys(range(8), Fraction(1, 8)))


def far_from(
    centre: int, *, head: int = 8, decline: int = 1, score: Callable[[int], int] | None = None
) -> CountableUtility:
    return CountableUtility(
        score=score or (lambda output: -abs(output - centre)),
        sensitivity=Fraction(1),
        why="one row moves the centre by one",
        ceiling=0,
        decline=decline,
        head=head,
    )


@pytest.mark.requirement("0.66")
def test_countable_draws_follow_the_law() -> None:
    """All whole numbers, scores −|n − 6| under a ceiling that falls by 1 every 8 outputs and never binds."""
    blocks, bits = 12, SeededBits(23)
    draws = [exponential.choose_countable(far_from(6), 1, bits, teaching=True) for _ in range(6000)]

    def law(epsilon: float) -> dict[int, float]:
        weights = {output: math.exp(-epsilon * abs(output - 6) / 2) for output in range(300)}
        return {output: weight / sum(weights.values()) for output, weight in weights.items()}

    assert [fits(draws, law(epsilon)) for epsilon in (0.85, 1, 1.15)] == [False, True, False]
    exact = exponential.law_countable(far_from(6), FOUR, blocks)
    drawn = [exponential.choose_countable(far_from(6), FOUR, bits, teaching=True) for _ in range(3000)]
    assert fits(drawn, {output: upper for output, (_, upper) in exact.items()})


def test_the_countable_law_holds_the_sum_of_the_series() -> None:
    """Σ 2^−|n−6| over n ≥ 0 is 3 − 2⁻⁶, so that the mode has probability 1/(3 − 1/64)."""
    bounds = exponential.law_countable(far_from(6), FOUR, 20)
    lower, upper = bounds[6]
    assert lower <= 1 / (3 - Fraction(1, 64)) <= upper
    assert upper - lower < Fraction(1, 10**5)


def test_scores_and_sensitivity_in_other_units_are_the_same_mechanism() -> None:
    """Scores, ceiling, decline and Δ three times as large; and the draws know of it, too."""
    thrice = CountableUtility(
        score=lambda output: -3 * abs(output - 6),
        sensitivity=Fraction(3),
        why="one row moves the centre by one",
        ceiling=0,
        decline=3,
        head=8,
    )
    assert exponential.law_countable(thrice, FOUR, 5) == exponential.law_countable(far_from(6), FOUR, 5)
    first, second = SeededBits(31), SeededBits(31)
    for _ in range(50):
        drawn = (
            exponential.choose_countable(thrice, 1, first, teaching=True),
            exponential.choose_countable(far_from(6), 1, second, teaching=True),
        )
        assert drawn[0] == drawn[1]
    once = exponential.law_countable(thrice, FOUR, 1)
    assert set(once) == set(range(8))
    assert all(lower < upper for lower, upper in once.values())


def test_certificate_of_the_countable_mechanism() -> None:
    """Neighbours move the centre by one; scores are clamped where they reach the ceiling, which keeps them private."""
    for centre, head in product((0, 3, 11), (2, 4)):
        here, there = (exponential.law_countable(far_from(at, head=head), FOUR, 24) for at in (centre, centre + 1))
        ratio = max(max(here[n][1] / there[n][0], there[n][1] / here[n][0]) for n in here)
        assert ratio <= 4 * (1 + Fraction(1, 1000))


@pytest.mark.mutates
def test_a_score_that_moves_by_two_turns_red() -> None:
    laws = [exponential.law_countable(far_from(centre, head=16), FOUR, 24) for centre in (9, 11)]
    assert max(laws[1][n][0] / laws[0][n][1] for n in laws[0]) > 3
    assert max(laws[1][n][0] / laws[0][n][1] * laws[0][m][0] / laws[1][m][1] for n in laws[0] for m in (0, 40)) > 4


def test_a_score_without_a_limit_is_clamped_and_still_summable() -> None:
    """A score that grows for ever would have no sum; under the ceiling it is the ceiling's own law."""
    rising = far_from(0, head=1, score=lambda output: output)
    bounds = exponential.law_countable(rising, FOUR, 40)
    for output in range(10):
        assert bounds[output][0] == Fraction(1, 2 ** (output + 1)) < bounds[output][1]
    bits = SeededBits(4)
    assert fits(
        [exponential.choose_countable(rising, FOUR, bits, teaching=True) for _ in range(3000)],
        {n: upper for n, (_, upper) in bounds.items()},
    )


@pytest.mark.parametrize("fault", [{"decline": 0}, {"head": 0}, {"sensitivity": None}, {"why": ""}, {"ceiling": "x"}])
def test_a_countable_range_without_a_finite_sum_or_bound_is_refused(fault: dict[str, object]) -> None:
    given = {"score": lambda output: -output, "sensitivity": 1, "why": "rank", "ceiling": 0, "decline": 1, "head": 1}
    with pytest.raises(ArgumentError):
        CountableUtility(**given | fault)  # type: ignore[arg-type]  # that is the point


def test_a_law_in_fractions_needs_powers_and_a_grid_needs_points() -> None:
    with pytest.raises(ArgumentError, match="powers"):
        rational(Exponential(Fraction(1)))
    with pytest.raises(ArgumentError):
        Grid(low=Fraction(0), step=Fraction(0), points=3)
    with pytest.raises(ArgumentError):
        Grid(low=Fraction(0), step=Fraction(1), points=0)
    assert Grid(low=Fraction(5), step=Fraction(1), points=1).value(0) == 5
