"""Propensity scores: at 0, at 1/4, and at their expectation by chance for every way a copy can be made."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest

from discreet.errors import ArgumentError, UnknownNameError
from discreet.randomness import keyed_generator
from discreet.utility.propensity import Classifier, propensity

Table = dict[str, Any]


def normal(generator: np.random.Generator, n: int, columns: int = 5) -> Table:
    return {f"x{at}": values for at, values in enumerate(generator.normal(size=(columns, n)))}


@pytest.mark.requirement("0.22")
def test_score_equals_a_fit_by_another_library() -> None:
    sm = pytest.importorskip("statsmodels.api")
    generator = np.random.default_rng(1)
    original, copy = normal(generator, 300, 3), normal(generator, 300, 3)
    copy["x0"] = copy["x0"] * 1.5 + 0.2
    stacked = np.column_stack([np.concatenate([original[name], copy[name]]) for name in original])
    outcome = np.repeat([0, 1], 300)
    chances = sm.Logit(outcome, sm.add_constant(stacked)).fit(disp=0).predict()
    found = propensity(original, [copy])
    assert found.score == pytest.approx(np.mean((chances - 0.5) ** 2), rel=1e-6)
    assert found.parameters == 4
    pairs = [stacked[:, a] * stacked[:, b] for a, b in ((0, 1), (0, 2), (1, 2))]
    chances = sm.Logit(outcome, sm.add_constant(np.column_stack([stacked, *pairs]))).fit(disp=0).predict()
    crossed = propensity(original, [copy], interactions=True)
    # Interactions are of standardised columns: the same space, since main effects are in it.
    assert crossed.score == pytest.approx(np.mean((chances - 0.5) ** 2), rel=1e-6)
    assert crossed.parameters == 7


@pytest.mark.requirement("0.24")
def test_score_is_0_for_the_same_data_and_a_quarter_where_all_is_told_apart() -> None:
    generator = np.random.default_rng(2)
    original = {**normal(generator, 200, 2), "z": generator.choice(["a", "b"], 200)}
    far = {**original, "x0": original["x0"] + 100}
    for classifier in get_args(Classifier):
        same = propensity(original, [original], classifier=classifier)
        assert same.score == pytest.approx(0, abs=1e-12)
        assert propensity(original, [far], classifier=classifier).score == pytest.approx(0.25, abs=1e-6)


@pytest.mark.requirement("0.24")
def test_expectation_by_chance_of_independent_halves() -> None:
    generator = np.random.default_rng(3)
    found = [propensity(normal(generator, 500), [normal(generator, 500)], modelled=False) for _ in range(300)]
    assert found[0].null == 5 / (4 * 1000)  # .00125
    scores = [one.score for one in found]
    error = np.std(scores) / np.sqrt(len(scores))
    assert abs(np.mean(scores) - found[0].null) < 4 * error + 0.03 * found[0].null
    assert error < 0.05 * found[0].null


def modelled_copy(generator: np.random.Generator, original: Table) -> Table:
    """Drawn from the normal law fitted to the original."""
    return {name: generator.normal(values.mean(), values.std(), len(values)) for name, values in original.items()}


@pytest.mark.requirement("0.24")
def test_expectation_by_chance_of_copies_from_a_model_of_the_original() -> None:
    generator = np.random.default_rng(4)
    ratios = []
    for _ in range(300):
        original = normal(generator, 500)
        found = propensity(original, [modelled_copy(generator, original)])
        assert found.null == 5 / (8 * 1000)
        ratios.append(found.ratio)
    assert np.mean(ratios) == pytest.approx(1, abs=4 * np.std(ratios) / np.sqrt(300) + 0.03)


def test_columns_that_stay_do_not_count_for_chance() -> None:
    """x0 is drawn anew given z, as partial synthesis does: one parameter moves, not three."""
    generator = np.random.default_rng(5)
    ratios = []
    for _ in range(300):
        z = generator.normal(size=(2, 400))
        x = z[0] - z[1] + generator.normal(size=400)
        design = np.column_stack([np.ones(400), *z])
        fitted = design @ np.linalg.lstsq(design, x, rcond=None)[0]
        spread = np.std(x - fitted)
        original = {"x": x, "z0": z[0], "z1": z[1]}
        found = propensity(original, [{**original, "x": fitted + generator.normal(0, spread, 400)}])
        assert found.null == 1 / (8 * 800)
        ratios.append(found.ratio)
    assert np.mean(ratios) == pytest.approx(1, abs=4 * np.std(ratios) / np.sqrt(300) + 0.03)


@pytest.mark.requirement("0.23")
def test_a_tree_sees_what_main_effects_do_not() -> None:
    generator = np.random.default_rng(6)
    n = 4000
    sign = generator.choice([-1.0, 1.0], n)
    original = {"a": generator.normal(size=n) * 0.1 + sign, "b": generator.normal(size=n) * 0.1 + sign}
    copy = modelled_copy(generator, original)
    copy["a"] = generator.permutation(original["a"])  # the margins hold, the dependence is gone
    copy["b"] = generator.permutation(original["b"])
    logistic = propensity(original, [copy])
    tree = propensity(original, [copy], classifier="tree", generator=keyed_generator(7))
    assert logistic.ratio < 5
    assert tree.ratio > 6
    assert propensity(original, [copy], interactions=True).ratio > 20


@pytest.mark.parametrize("modelled", [True, False])
def test_tree_of_a_right_model_is_at_its_chance(modelled: bool) -> None:
    generator = np.random.default_rng(8)
    ratios = []
    for _ in range(20):
        original = normal(generator, 1500, 3)
        copy = modelled_copy(generator, original) if modelled else normal(generator, 1500, 3)
        found = propensity(original, [copy], classifier="tree", permutations=3, generator=keyed_generator(9))
        ratios.append(found.ratio)
    assert np.mean(ratios) == pytest.approx(1, abs=5 * np.std(ratios) / np.sqrt(20))
    assert np.std(ratios) / np.sqrt(20) < 0.05


def test_missing_cells_levels_and_several_copies() -> None:
    generator = np.random.default_rng(10)
    n = 600
    original = {
        "x": [
            None if gone else value
            for gone, value in zip(generator.random(n) < 0.2, generator.normal(size=n), strict=True)
        ],
        "z": generator.choice(["a", "b", "c"], n).tolist(),
    }
    lost = {**original, "x": [None if value is None or value > 0.5 else value for value in original["x"]]}
    found = propensity(original, [original, lost])
    assert found.copies[0] == pytest.approx(0, abs=1e-12)
    assert found.copies[1] > 10 * found.null
    assert found.interval is not None
    assert found.parameters == 5  # the constant, x, x is missing, b, c
    assert found.as_json()["told_apart_completely"] == 0.25
    assert "0 is not at all, 0.25 is completely" in found.sentence


def test_bad_arguments_get_one_line() -> None:
    table = {"x": [1.0, 2.0, 3.0]}
    with pytest.raises(ArgumentError, match="must be one of logistic, tree"):
        propensity(table, [table], classifier="forest")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="give copies"):
        propensity(table, [])
    with pytest.raises(UnknownNameError, match="no such name"):
        propensity(table, [table], names=["y"])
    wide = {f"x{at}": np.arange(40.0) * at for at in range(60)}
    with pytest.raises(ArgumentError, match="takes up to 800"):
        propensity(wide, [wide], interactions=True)
