"""Trees with donors: partitions against scikit-learn on the best codes, draws against the shares of their leaves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.randomness import keyed_generator
from discreet.stats.trees import Predictor, grow

RANDOM = np.random.default_rng(3)
N = 3000
AGE = RANDOM.normal(50, 10, N)
REGION = RANDOM.integers(0, 6, N).astype(float)
EFFECT = np.array([5.0, -3.0, 4.0, -4.0, 6.0, 0.0])
COST = EFFECT[REGION.astype(int)] + np.where(AGE > 50, 10, 0) + RANDOM.normal(0, 1, N)
X = [Predictor(values=AGE), Predictor(values=REGION, levels=6)]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**20), st.integers(1, 8), st.integers(2, 60), st.sampled_from([0, 2, 4]))
def test_every_leaf_holds_the_least_records_and_the_donors_are_the_records_that_fall_there(
    seed: int, least: int, records: int, classes: int
) -> None:
    random = np.random.default_rng(seed)
    x = [
        Predictor(values=np.where(random.random(records) < 0.2, np.nan, random.normal(size=records))),
        Predictor(values=np.where(random.random(records) < 0.2, np.nan, random.integers(0, 4, records)), levels=4),
    ]
    y = random.integers(0, classes, records).astype(float) if classes else random.normal(size=records)
    tree = grow(x, y, classes=classes, least=least)
    leaves = tree.leaf_of([one.values for one in x])
    assert sorted(tree.values) == sorted(y)
    for leaf in range(tree.leaves):
        mine = np.sort(y[leaves == leaf])
        assert np.array_equal(mine, tree.values[tree.starts[leaf] : tree.starts[leaf + 1]])
        assert len(mine) >= min(least, records)


def test_levels_without_an_order_are_split_as_well_as_by_their_own_means() -> None:
    """The twin is scikit-learn on one column for each level, which can make every partition of them."""
    from sklearn.tree import DecisionTreeRegressor

    tree = grow([Predictor(values=REGION, levels=6)], COST, least=200)
    means = np.array([tree.values[a:b].mean() for a, b in zip(tree.starts, tree.starts[1:], strict=False)])
    left = ((COST - means[tree.leaf_of([REGION])]) ** 2).sum()
    dummies = (REGION[:, None] == np.arange(6)).astype(float)
    twin = DecisionTreeRegressor(min_samples_leaf=200, random_state=0).fit(dummies, COST)
    assert left == pytest.approx(((COST - twin.predict(dummies)) ** 2).sum())
    # Codes in their own order need five splits where three leaves of one sign would do.
    assert grow([Predictor(values=REGION, levels=6)], (EFFECT > 0)[REGION.astype(int)] * 1.0, classes=2).leaves == 2
    shuffled = grow([Predictor(values=REGION)], (EFFECT > 0)[REGION.astype(int)] * 1.0, classes=2)
    assert shuffled.leaves > 2


def test_several_classes_order_levels_by_their_main_component() -> None:
    group = np.array([0, 1, 0, 1, 0, 1])[REGION.astype(int)]
    classes = np.where(RANDOM.random(N) < 0.9, group, 2).astype(float)
    tree = grow([Predictor(values=REGION, levels=6)], classes, classes=3, least=400)
    first = tree.leaf_of([np.arange(6.0)])
    assert len(set(first[::2]) & set(first[1::2])) == 0


def test_rare_levels_share_a_place_and_so_do_not_single_out_their_outcome() -> None:
    codes = np.concatenate([np.zeros(200), np.ones(200), 2 + np.arange(40.0)])
    outcome = np.concatenate([np.zeros(200), np.ones(200), np.tile([0.0, 1.0], 20)])
    tree = grow([Predictor(values=codes, levels=42)], outcome, classes=2)
    assert len(set(tree.leaf_of([2 + np.arange(40.0)]))) == 1


@pytest.mark.parametrize("proper", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_leaf_gives_its_donors_in_the_stated_shares(proper: bool, weighted: bool) -> None:
    generator, least = keyed_generator(4), 500
    heavy = np.where(np.arange(N) % 3 == 0, 4.0, 1.0) if weighted else None
    tree = grow(X, COST, weights=heavy, least=least)
    sums = np.zeros(tree.leaves)
    squares = np.zeros(tree.leaves)
    rounds, width = 300, 60
    for _ in range(rounds):
        model = tree.draw(generator) if proper else tree.model
        picks = np.array([np.flatnonzero(tree.leaf_of([AGE, REGION]) == leaf)[:width] for leaf in range(tree.leaves)])
        drawn = model.simulate([AGE[picks.ravel()], REGION[picks.ravel()]], generator).reshape(picks.shape)
        sums += drawn.mean(axis=1)
        squares += drawn.mean(axis=1) ** 2
    leaves = tree.leaf_of([AGE, REGION])
    weights = np.ones(N) if heavy is None else heavy
    for leaf in range(tree.leaves):
        mine = leaves == leaf
        mean = np.average(COST[mine], weights=weights[mine])
        size = weights[mine].sum() ** 2 / (weights[mine] ** 2).sum()
        spread = COST[mine].std() / np.sqrt(size)
        assert sums[leaf] / rounds == pytest.approx(mean, abs=5 * COST[mine].std() / np.sqrt(rounds * 30))
        between = np.sqrt(max(squares[leaf] / rounds - (sums[leaf] / rounds) ** 2, 0))
        # Bayesian-bootstrapped means move by the standard error of the leaf; means of fixed donors hardly move.
        assert (between > 0.75 * spread) == proper
        assert between < 1.6 * spread


def test_draws_of_one_leaf_stay_nearer_to_the_shares_than_independent_ones() -> None:
    values = np.repeat([0.0, 1.0], 500)
    tree, generator = grow([], values, classes=2), keyed_generator(8)
    sums = np.array([tree.model.simulate_any(1000, generator).sum() for _ in range(200)])
    assert sums.mean() == pytest.approx(500, abs=1)
    assert sums.std() < 2  # independent draws: 15.8
    firsts = np.array([tree.model.simulate_any(10, generator)[0] for _ in range(2000)])
    assert firsts.mean() == pytest.approx(0.5, abs=0.06)


def test_smoothed_values_are_new_ones_within_the_ends_and_leave_heaps_alone() -> None:
    values = np.concatenate([np.zeros(500), RANDOM.lognormal(3, 2, 1500), [1e7, 2e7, -1e6]])
    tree, generator = grow([], values, smooth=True), keyed_generator(2)
    drawn = tree.draw(generator).simulate_any(20_000, generator)
    ordered = np.sort(values)
    assert drawn.max() == ordered[-5]
    assert drawn.min() == max(ordered[4], 0)
    inside = drawn[(drawn > 0) & (drawn < ordered[-5])]
    assert not np.isin(inside, values).any()
    assert (drawn == 0).mean() == pytest.approx(500 / len(values), abs=0.02)
    assert np.median(inside) == pytest.approx(np.median(values[values > 0]), rel=0.15)
    exact = grow([], values).model.simulate_any(20_000, generator)
    assert np.isin(exact, values).all()
    assert exact.max() == 2e7


def test_smoothing_stays_between_the_neighbours_of_the_leaf() -> None:
    side = (np.arange(N) % 2).astype(float)
    values = side * 1000 + RANDOM.random(N)
    tree, generator = grow([Predictor(values=side)], values, least=N // 3, smooth=True), keyed_generator(6)
    assert tree.leaves == 2
    drawn = tree.model.simulate([side], generator)
    assert ((drawn > 500) == (side == 1)).all()


def test_many_classes_are_split_coarsely_and_drawn_fully() -> None:
    codes = RANDOM.integers(0, 5000, 20_000).astype(float)
    halves = np.where(codes < 2500, 0.0, 1.0)
    tree, generator = grow([Predictor(values=halves)], codes, classes=5000), keyed_generator(1)
    assert tree.coarse
    drawn = tree.model.simulate([halves], generator)
    assert len(np.unique(drawn)) > 3000
    assert not grow([Predictor(values=halves)], halves, classes=2).coarse


def test_a_missing_predictor_is_a_value_of_its_own() -> None:
    gone = np.where(np.arange(N) % 4 == 0, np.nan, AGE)
    outcome = np.isnan(gone) * 1.0
    for levels, values in ((0, gone), (6, np.where(np.isnan(gone), np.nan, REGION))):
        tree = grow([Predictor(values=values, levels=levels)], outcome, classes=2)
        assert np.array_equal(tree.model.simulate([values], keyed_generator(1)), outcome)


def test_a_level_that_no_record_had_falls_where_the_whole_is() -> None:
    tree, generator = grow([Predictor(values=np.zeros(20), levels=3)], np.arange(20.0)), keyed_generator(1)
    assert np.isfinite(tree.model.simulate([np.array([0.0, 1.0, 2.0, np.nan])], generator)).all()


def test_records_of_weight_zero_give_nothing() -> None:
    heavy = np.where(COST > 0, 1.0, 0.0)
    tree = grow(X, COST, weights=heavy)
    assert (tree.values > 0).all()
    assert tree.leaf_of([AGE, REGION]).shape == (N,)


@pytest.mark.parametrize(
    ("outcome", "weights"),
    [
        (np.empty(0), None),
        (np.full(N, np.nan), None),
        (COST[:-1], None),
        (COST, -np.ones(N)),
        (COST, np.zeros(N)),
        (COST, np.ones(3)),
    ],
)
def test_what_cannot_be_grown_is_refused(outcome: np.ndarray, weights: np.ndarray | None) -> None:
    with pytest.raises(ArgumentError):
        grow(X, outcome, weights=weights)


def test_records_without_predictors_are_drawn_by_number() -> None:
    with pytest.raises(ArgumentError):
        grow([], COST).leaf_of([])
