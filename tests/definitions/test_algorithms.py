"""Algorithms: what they see of a table, why they must be random, and numbers against selections."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import permutations, product

import numpy as np
import pytest

from discreet.errors import ArgumentError
from discreet.guarantee import Adjacency
from discreet.mechanisms import catalogue, choice, neighbours, quantile
from discreet.mechanisms.aim import Quantile
from discreet.mechanisms.certificate import Certificate, Claim, Law, examine
from discreet.mechanisms.decay import Powers
from discreet.mechanisms.neighbours import Table
from discreet.mechanisms.noise import LaplaceNoise, release
from discreet.mechanisms.ordered import Cells, Ordered
from discreet.mechanisms.tallies import Tally, side_by_side
from discreet.mechanisms.testing import noisy_law
from discreet.mechanisms.utility_score import Utility
from discreet.randomness import SeededBits

ADD = Adjacency.ADD_REMOVE
FOUR = Powers(Fraction(4))


def exact(law: Callable[[Table], Law], pairs: list[neighbours.Pair], odds: int = 4) -> Certificate:
    claim = Claim(name="", mechanism="", relation=ADD, domain="", odds=Fraction(odds))
    return examine(claim, law, pairs)


@pytest.mark.requirement("3.10")
def test_an_algorithm_maps_each_table_to_a_probability_law() -> None:
    """A point of the simplex over its outputs, for every entry and every table that is certified."""
    checked = 0
    for entry in catalogue.entries():
        tables = dict.fromkeys(table for pair in entry.neighbours() for table in pair)
        for table in list(tables)[:20]:
            law = entry.law(table)
            assert sum(law.values()) == 1
            assert {type(p) for p in law.values()} <= {Fraction}
            assert min(law.values()) >= 0
            checked += 1
    assert checked > 300


@pytest.mark.requirement("3.10")
def test_a_table_is_its_histogram() -> None:
    """Records in any order, or only how often each value stands: the law is the same."""
    records, cells = (0, 2, 2, 3), Cells(0, 3)
    histogram = np.array([records.count(value) for value in range(4)], dtype=np.int64)
    median = partial(quantile.quantile_law, aim=Quantile(Fraction(1, 2)), epsilon=FOUR, adjacency=ADD)
    law = median(Ordered.from_histogram(histogram, cells))
    total = partial(Tally.sum_and_count(0, 3).law, epsilon=Powers(Fraction(16)), adjacency=ADD, largest=4)
    for order in set(permutations(records)):
        assert median(Ordered.from_values(np.array(order, dtype=np.int64), cells)) == law
        assert total(order) == total(records)


@pytest.mark.requirement("2.25")
def test_only_constants_are_private_without_randomness() -> None:
    """All 3⁶ deterministic maps of the tables of up to two bits: any that tells anything has infinite odds."""
    pairs = list(neighbours.added_or_removed((0, 1), 2))
    tables = list(dict.fromkeys(table for pair in pairs for table in pair))
    assert len(tables) == 6
    private = []
    for images in product(range(3), repeat=len(tables)):
        told = dict(zip(tables, images, strict=True))
        if exact(lambda table, told=told: {told[table]: Fraction(1)}, pairs).odds is not None:  # type: ignore[misc]  # bound at once
            private.append(images)
    assert private == [(value,) * 6 for value in range(3)]


@pytest.mark.requirement("2.25")
def test_deterministic_releases_fail_together_where_random_ones_add_up() -> None:
    """Rounded to threes or to fours, a count hides among three or four. Both together name it."""
    counts = range(12)
    releases: list[Callable[[int], int]] = [lambda count: count % 3, lambda count: count % 4]
    for tell in releases:
        hidden = [sum(tell(other) == tell(count) for other in counts) for count in counts]
        assert min(hidden) >= 3
    together = {tuple(tell(count) for tell in releases) for count in counts}
    assert len(together) == len(counts)
    noise = LaplaceNoise.for_guarantee(sensitivity=1, epsilon=FOUR)

    def twice(table: Table) -> Law:
        return side_by_side([noisy_law(table[0], noise, 0, 11)] * 2)

    assert exact(twice, list(catalogue.steps_between(11))).odds == 4 * 4


@pytest.mark.requirement("2.40")
def test_to_select_costs_once_what_numbers_cost_each() -> None:
    """Four counts that one person may all move: the highest one's name for ε, all four numbers for 4ε."""
    candidates, levels = 4, 2
    pairs = list(neighbours.moved_scores(levels, candidates, one_way=True))
    noise = LaplaceNoise.for_guarantee(sensitivity=1, epsilon=FOUR)

    def numbers(scores: Table) -> Law:
        return side_by_side([noisy_law(score, noise, 0, levels) for score in scores])

    def selection(scores: Table, method: choice.Method) -> Law:
        utility = Utility(scores=scores, sensitivity=Fraction(1), why="one person is one of each count", monotone=True)
        return choice.law(utility, FOUR, method=method)

    assert exact(numbers, pairs).odds == 4**candidates
    for method in choice.Method:
        found = exact(partial(selection, method=method), pairs)
        assert found.verdict != "violated"
        assert set(selection((0, 1, 2, 0), method)) == set(range(candidates))


@pytest.mark.requirement("2.40")
def test_a_number_gets_noise_and_a_selection_a_candidate() -> None:
    bits = SeededBits(7)
    noisy = release(100, LaplaceNoise.of_scale(1), bits, teaching=True)
    assert isinstance(noisy.value, int)
    assert abs(noisy.value - 100) < 60
    utility = Utility(scores=(3, 9, 4), sensitivity=Fraction(1), why="one person is one vote", monotone=True)
    assert {choice.choose(utility, 1, bits, teaching=True) for _ in range(200)} <= {0, 1, 2}
    with pytest.raises(ArgumentError, match="sensitivity"):
        Utility(scores=(3, 9, 4), sensitivity=None, why="")  # type: ignore[arg-type]  # refused on purpose
