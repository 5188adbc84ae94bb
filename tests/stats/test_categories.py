"""Multinomial and ordered fits against statsmodels; guards; draws and simulations."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.miscmodels.ordinal_model import OrderedModel

from discreet.errors import ArgumentError
from discreet.randomness import keyed_generator
from discreet.stats.categories import fit_categories, fit_ordered
from discreet.stats.generalized import fit_generalized

RANDOM = np.random.default_rng(8)
N = 600
X = np.column_stack([np.ones(N), RANDOM.normal(50, 10, N), RANDOM.integers(0, 2, N)])
LINE = (X[:, 1] - 50) / 10 + 0.7 * X[:, 2]
Y = np.searchsorted([-1.0, 0.2, 1.5], LINE + RANDOM.logistic(size=N)).astype(float)
W = RANDOM.integers(1, 4, N).astype(float)
LINKS: tuple[Literal["logit", "probit"], ...] = ("logit", "probit")


@pytest.mark.parametrize("weights", [None, W])
def test_multinomial_equals_the_oracle(weights: np.ndarray | None) -> None:
    fit = fit_categories(X, Y, weights=weights)
    each = (
        np.arange(N) if weights is None else np.repeat(np.arange(N), weights.astype(int))
    )  # the oracle has no weights
    oracle = sm.MNLogit(Y[each], X[each]).fit(disp=0, tol=1e-12)
    assert fit.coefficients == pytest.approx(oracle.params.T, rel=1e-4, abs=1e-6)
    assert fit.covariance == pytest.approx(oracle.cov_params(), rel=1e-3, abs=1e-9)
    assert fit.model.chances(X[:5]) == pytest.approx(oracle.predict(X[:5]), rel=1e-4)
    assert not fit.guarded


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("weights", [None, W])
def test_ordered_equals_the_oracle(link: Literal["logit", "probit"], weights: np.ndarray | None) -> None:
    design = (X - [0, 50, 0]) / [1, 10, 1]  # of like size: on the raw columns the oracle's search may not end
    fit = fit_ordered(design, Y, link=link, weights=weights)
    each = np.arange(N) if weights is None else np.repeat(np.arange(N), weights.astype(int))
    model = OrderedModel(Y[each], design[each, 1:], distr=link)
    oracle = model.fit(method="bfgs", gtol=1e-6, maxiter=200, disp=0)
    assert fit.coefficients == pytest.approx([0, *oracle.params[:2]], rel=1e-4)
    assert fit.thresholds == pytest.approx(model.transform_threshold_params(oracle.params)[1:-1], rel=1e-4)
    slopes = fit.covariance[1:3, 1:3]
    assert slopes == pytest.approx(np.asarray(oracle.cov_params())[:2, :2], rel=1e-4)
    assert fit.model.chances(design[:5]) == pytest.approx(model.predict(oracle.params, design[:5, 1:]), rel=1e-4)
    assert (fit.guarded, fit.notes) == (False, ())


def test_ordered_does_not_hang_on_the_units_of_a_column() -> None:
    raw, scaled = fit_ordered(X, Y, link="logit"), fit_ordered(X / [1, 1000, 1], Y, link="logit")
    assert scaled.coefficients == pytest.approx(raw.coefficients * [1, 1000, 1], rel=1e-6)
    assert scaled.thresholds == pytest.approx(raw.thresholds, rel=1e-6)


def test_two_levels_are_the_binary_fits() -> None:
    y = (Y > 1).astype(float)
    binary, several = fit_generalized(X, y), fit_categories(X, y)
    assert several.coefficients[0] == pytest.approx(binary.coefficients)
    assert several.covariance == pytest.approx(binary.covariance)
    for link in LINKS:
        binary, ordered = fit_generalized(X, y, family=link), fit_ordered(X, y, link=link)
        assert ordered.coefficients[1:] == pytest.approx(binary.coefficients[1:])
        assert ordered.thresholds == pytest.approx(-binary.coefficients[:1])
        flipped = ordered.covariance[1:, 1:] * np.outer([1, 1, -1], [1, 1, -1])
        assert flipped == pytest.approx(binary.covariance[[1, 2, 0]][:, [1, 2, 0]], rel=1e-6)


def test_draws_have_the_stated_covariance_and_simulations_the_stated_chances() -> None:
    generator = keyed_generator(2)
    several, ordered = fit_categories(X, Y), fit_ordered(X, Y, link="probit")
    drawn = np.array([several.draw(generator).coefficients.ravel() for _ in range(5000)])
    ratio = drawn.var(axis=0) / several.covariance.diagonal()
    assert ratio == pytest.approx(np.ones_like(ratio), abs=0.15)
    models = [ordered.draw(generator) for _ in range(5000)]
    cuts = np.array([np.concatenate([model.coefficients, model.thresholds]) for model in models])
    ratio = cuts[:, 1:].var(axis=0) / ordered.covariance.diagonal()[1:]
    assert ratio == pytest.approx(np.ones_like(ratio), abs=0.15)
    rows = np.repeat(X[:3], 20_000, axis=0)
    for model in (several.model, ordered.model):
        made = model.simulate(rows, generator).reshape(3, -1)
        shares = np.stack([(made == level).mean(axis=1) for level in range(4)], axis=1)
        assert shares == pytest.approx(model.chances(X[:3]), abs=0.018)


def test_levels_that_do_not_occur_have_no_chance() -> None:
    y, weights = np.where(Y == 1, 3, Y), np.where(Y == 2, 0.0, 1.0)
    for fit in (fit_categories(X, y, weights=weights), fit_ordered(X, y, weights=weights)):
        assert fit.occurring.tolist() == [0, 3]
        assert set(fit.draw(keyed_generator(1)).simulate(X, keyed_generator(4)).tolist()) == {0.0, 3.0}
    for fit in (fit_categories(X, np.full(N, 2.0)), fit_ordered(X, np.full(N, 2.0))):
        assert set(fit.draw(keyed_generator(1)).simulate(X, keyed_generator(4)).tolist()) == {2.0}


def test_separated_levels_are_bounded_and_said() -> None:
    y = np.where(X[:, 2] == 1, 2.0, (np.arange(N) % 2).astype(float))
    for fit in (fit_categories(X, y), fit_ordered(X, y), fit_ordered(X, y, link="probit")):
        assert fit.guarded
        assert "prior" in fit.notes[-1]
        assert np.abs(fit.coefficients).max() < 60
        assert fit.model.chances(X)[X[:, 2] == 1, 2].min() > 0.9


@given(st.integers(0, 2**20), st.integers(2, 30), st.integers(2, 6))
def test_no_data_set_makes_it_fail(seed: int, rows: int, levels: int) -> None:
    random = np.random.default_rng(seed)
    base = random.normal(size=(rows, 2)) * random.choice([1e-3, 1, 1e6], 2)
    matrix = np.column_stack([np.ones(rows), base, base[:, 1] * 2, random.integers(0, 2, rows), np.full(rows, 5)])
    y = random.integers(0, levels, rows).astype(float)
    weights = random.choice([0.0, 1.0, 7.0], rows)
    weights[0] = 1
    for fit in (
        fit_categories(matrix, y, weights=weights),
        fit_ordered(matrix, y, weights=weights),
        fit_ordered(matrix, y, weights=weights, link="probit"),
    ):
        assert np.isfinite(fit.covariance).all()
        made = fit.draw(keyed_generator(seed)).simulate(matrix, keyed_generator(seed))
        assert set(made.tolist()) <= set(y[weights > 0].tolist())


def test_collinear_columns_are_named_and_constant_ones_go_without_a_word() -> None:
    wide = np.column_stack([X, X[:, 1] * 2])
    fit = fit_ordered(wide, Y, names=["one", "age", "sex", "twice"])
    assert fit.aliased == ("one", "twice")
    assert fit.notes == ("left out as explained by the others: twice",)
    assert fit.coefficients[:3] == pytest.approx(fit_ordered(X, Y).coefficients)
    alone = fit_ordered(np.ones((N, 1)), Y)
    assert alone.model.chances(np.ones((1, 1)))[0] == pytest.approx(np.bincount(Y.astype(int)) / N)


def test_what_cannot_be_fitted_is_refused() -> None:
    for fit in (fit_categories, fit_ordered):
        with pytest.raises(ArgumentError):
            fit(X, Y - 0.5)
        with pytest.raises(ArgumentError):
            fit(np.column_stack([np.ones(5000), np.arange(5000)]), np.arange(5000))
    with pytest.raises(ArgumentError):
        fit_ordered(X, Y, link="cauchit")  # type: ignore[arg-type]
