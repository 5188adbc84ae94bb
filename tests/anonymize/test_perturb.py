"""Perturbation: what each method keeps, and the attack that goes through it."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from discreet.anonymize.microaggregate import GROUPINGS, group_fixed, group_mdav, group_optimally, microaggregate
from discreet.anonymize.perturb import Transition, add_noise, bottom_code, invariant, pram, top_code
from discreet.anonymize.records import CodedColumn, Records
from discreet.errors import DiscreetError
from discreet.randomness import keyed_generator

INCOMES = [12, 7, 30, 900, 25, None, 18, 30, 41, 22]


@pytest.mark.requirement("2.16")
def test_top_coding_is_the_minimum() -> None:
    column = CodedColumn.of("income", INCOMES)
    coded = top_code(column, 30)
    assert coded.column.listed() == [None if value is None else min(value, 30) for value in INCOMES]
    assert coded.changed.tolist() == [value is not None and value > 30 for value in INCOMES]
    assert bottom_code(column, 20).column.listed() == [None if one is None else max(one, 20) for one in INCOMES]
    assert top_code(CodedColumn.of("x", [1, 2, 3]), 2.5).column.listed() == [1.0, 2.0, 2.5]


def test_a_bound_of_the_data_leaves_enough_records() -> None:
    column = CodedColumn.of("income", INCOMES)
    for least in (2, 3, 5):
        high = [value for value in top_code(column, least=least).column.listed() if value is not None]
        low = [value for value in bottom_code(column, least=least).column.listed() if value is not None]
        assert high.count(max(high)) >= least
        assert low.count(min(low)) >= least
        assert sorted(high)[: 9 - least] == sorted(value for value in INCOMES if value is not None)[: 9 - least]
    with pytest.raises(DiscreetError, match="fewer than 20 values"):
        top_code(column)


@pytest.mark.requirement("2.19")
def test_a_true_total_undoes_top_coding() -> None:
    """Top-coded records and the exact total of the same column: the one income that was cut comes back."""
    there = [value for value in INCOMES if value is not None]
    coded = top_code(CodedColumn.of("income", there), 41).column.listed()
    assert max(coded) == 41
    assert 41 + sum(there) - sum(coded) == 900


@pytest.mark.requirement("2.17")
def test_noise_keeps_the_mean_and_widens_the_variance() -> None:
    values = np.linspace(0, 100, 20_001)
    column = CodedColumn.of("x", values.tolist())
    noisy = add_noise(column, 0.5, generator=keyed_generator(1)).column.numbers
    spread = values.std()
    assert abs(noisy.mean() - values.mean()) < 4 * 0.5 * spread / np.sqrt(len(values))
    assert noisy.var() == pytest.approx(spread**2 * 1.25, rel=0.02)
    assert noisy.var() != pytest.approx(spread**2 * 1.1, rel=0.02)
    assert (noisy != values).all()
    whole = add_noise(CodedColumn.of("n", [1, 5, None, 9]), 1.0, generator=keyed_generator(2)).column
    assert whole.listed()[2] is None
    assert all(isinstance(value, int) for value in whole.values)


@pytest.mark.requirement("2.19")
def test_averaging_undoes_input_noise() -> None:
    """Noise drawn anew for each release: a hundred releases leave a tenth of it."""
    column = CodedColumn.of("x", np.linspace(0, 100, 500).tolist())
    draw = keyed_generator(3)
    releases = np.array([add_noise(column, 0.5, generator=draw).column.numbers for _ in range(100)])
    one = np.abs(releases[0] - column.numbers).mean()
    assert np.abs(releases.mean(axis=0) - column.numbers).mean() < one / 8


def test_noise_does_not_hide_the_extreme() -> None:
    """One income of 900 among hundreds below 50: after noise of a tenth it is still the largest."""
    values = [*range(50)] * 8 + [900]
    for seed in range(20):
        noisy = add_noise(CodedColumn.of("income", values), 0.1, generator=keyed_generator(seed)).column.numbers
        assert int(np.argmax(noisy)) == 400


def test_pram_moves_by_its_matrix() -> None:
    column = CodedColumn.of("x", ["a"] * 30_000 + ["b"] * 20_000 + ["c"] * 10_000 + [None] * 100)
    matrix = np.array([[0.7, 0.2, 0.1], [0.0, 1.0, 0.0], [0.5, 0.25, 0.25]])
    moved = pram(column, transition=Transition(matrix=matrix), is_invariant=False, generator=keyed_generator(4))
    counts = Counter(zip(column.listed(), moved.column.listed(), strict=True))
    assert counts[None, None] == 100
    for true, size in (("a", 30_000), ("b", 20_000), ("c", 10_000)):
        for place, published in enumerate("abc"):
            chance = matrix["abc".index(true), place]
            assert abs(counts[true, published] - size * chance) <= 5 * np.sqrt(size * chance * (1 - chance)) + 1e-9
    assert int(moved.changed.sum()) == sum(number for (one, other), number in counts.items() if one != other)


def test_invariant_pram_keeps_the_shares() -> None:
    shares = np.array([0.6, 0.3, 0.1])
    for transition in (Transition.keeping(3, 0.5), Transition(matrix=np.array([[0, 1, 0], [0, 0, 1], [1.0, 0, 0]]))):
        kept = invariant(transition, shares).matrix
        assert shares @ kept == pytest.approx(shares, abs=1e-12)
        assert kept.sum(axis=1) == pytest.approx(np.ones(3))
    plain = Transition.keeping(3, 0.5).matrix
    assert np.abs(shares @ plain - shares).max() > 0.1
    column = CodedColumn.of("x", ["a"] * 6_000 + ["b"] * 3_000 + ["c"] * 1_000)
    moved = pram(column, 0.5, generator=keyed_generator(5))
    found = np.bincount(moved.column.codes) / 10_000
    assert np.abs(found - shares).max() < 0.025
    assert moved.changed.mean() > 0.2


@pytest.mark.requirement("2.19")
def test_repeated_pram_is_outvoted() -> None:
    """Each release keeps a value with chance .6; the commonest of 25 releases is the true one."""
    column = CodedColumn.of("x", ["a", "b", "c"] * 100)
    draw = keyed_generator(6)
    releases = [pram(column, 0.6, is_invariant=False, generator=draw).column.codes for _ in range(25)]
    voted = np.array([np.bincount(votes, minlength=3).argmax() for votes in np.stack(releases, axis=1)])
    assert (releases[0] == column.codes).mean() < 0.7
    assert (voted == column.codes).mean() > 0.97


def test_pram_refuses_what_is_no_matrix() -> None:
    column = CodedColumn.of("x", ["a", "b"])
    for wrong in ([[1.0, 0.5], [0, 1]], [[1.0, 0.0]], [[2.0, -1.0], [0, 1]]):
        with pytest.raises(DiscreetError, match="no table of chances"):
            Transition(matrix=np.array(wrong))
    with pytest.raises(DiscreetError, match="one for each of the 2 values"):
        pram(column, transition=Transition.keeping(3, 0.5))


@pytest.mark.parametrize("grouping", GROUPINGS)
def test_groups_have_k_and_means_stay(grouping: str) -> None:
    draw = np.random.default_rng(1)
    for rows in (3, 7, 8, 50, 101):
        records = Records.of({"x": draw.normal(size=rows).tolist(), "y": draw.integers(0, 9, rows).tolist()})
        made = microaggregate(records, ["x", "y"], k=3, grouping=grouping)
        for name in ("x", "y"):
            assert made.column(name).numbers.mean() == pytest.approx(records.column(name).numbers.mean(), abs=1e-9)
            assert min(Counter(made.column(name).listed()).values()) >= 3
        if grouping == "mdav":
            assert min(Counter(zip(*made.as_lists().values(), strict=True)).values()) >= 3


def within(values: np.ndarray, group: np.ndarray) -> float:
    means = np.bincount(group, values) / np.bincount(group)
    return float(((values - means[group]) ** 2).sum())


@pytest.mark.parametrize("k", [2, 3])
def test_optimal_grouping_is_the_best_of_all(k: int) -> None:
    """Against every way to cut the sorted values into runs of k or more."""
    draw = np.random.default_rng(2)
    for rows in (k, 7, 10):
        values = draw.gamma(1.0, size=rows)
        ordered = np.sort(values)
        best = np.inf
        for cuts in itertools.product([0, 1], repeat=rows - 1):
            group = np.concatenate([[0], np.cumsum(cuts)])
            if np.bincount(group).min() >= k:
                best = min(best, within(ordered, group))
        assert within(values, group_optimally(values, k)) == pytest.approx(best, abs=1e-9)
        assert within(values, group_fixed(values, k)) >= best - 1e-9
        assert within(values, group_mdav(values[:, None], k)) >= best - 1e-9


@pytest.mark.requirement("2.19")
def test_ranks_survive_microaggregation() -> None:
    draw = np.random.default_rng(3)
    values = draw.normal(size=300)
    made = microaggregate(Records.of({"x": values.tolist()}), ["x"], k=3, grouping="optimal").column("x").numbers
    order = np.argsort(values)
    assert (np.diff(made[order]) >= -1e-9).all()


def test_columns_on_their_own_single_out() -> None:
    draw = np.random.default_rng(4)
    records = Records.of({"x": draw.normal(size=100).tolist(), "y": draw.normal(size=100).tolist()})
    alone = microaggregate(records, ["x", "y"], k=5, grouping="optimal")
    assert min(Counter(zip(*alone.as_lists().values(), strict=True)).values()) == 1
    with pytest.raises(DiscreetError, match="missing values"):
        microaggregate(Records.of({"x": [1, None, 3]}), ["x"], k=2)
