"""Logit, probit and Poisson fits against statsmodels; the guard where there is no peak; draws and simulations."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.randomness import keyed_generator
from discreet.stats.generalized import fit_generalized

RANDOM = np.random.default_rng(3)
N = 400
X = np.column_stack([np.ones(N), RANDOM.normal(2000, 5, N), RANDOM.integers(0, 2, N)])
LINE = (X - [0, 2000, 0]) @ [0.3, 0.2, -1.0]
W = RANDOM.uniform(0.2, 3, N)
YES = (RANDOM.random(N) < 1 / (1 + np.exp(-LINE))).astype(float)
COUNT = RANDOM.poisson(np.exp(LINE / 2)).astype(float)
ORACLES = {
    "logit": sm.families.Binomial(sm.families.links.Logit()),
    "probit": sm.families.Binomial(sm.families.links.Probit()),
    "poisson": sm.families.Poisson(),
}


@pytest.mark.parametrize("family", ORACLES)
@pytest.mark.parametrize("weights", [None, W])
def test_the_fit_equals_the_oracle(family: str, weights: np.ndarray | None) -> None:
    y = COUNT if family == "poisson" else YES
    fit = fit_generalized(X, y, family=family, weights=weights)
    oracle = sm.GLM(y, X, family=ORACLES[family], freq_weights=weights).fit(tol=1e-13, maxiter=200)
    observed = np.linalg.inv(-oracle.model.hessian(oracle.params, observed=True))
    assert fit.coefficients == pytest.approx(oracle.params, rel=1e-5)
    assert fit.covariance == pytest.approx(observed, rel=1e-3)
    assert (fit.guarded, fit.notes, fit.df) == (False, (), N - 3)
    assert fit.model.mean(X) == pytest.approx(oracle.predict(X), rel=1e-6)
    slopes = oracle.model.score_factor(oracle.params)
    assert fit.scores == pytest.approx(slopes, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("family", ORACLES)
def test_draws_and_simulations_have_the_stated_law(family: str) -> None:
    fit, generator = fit_generalized(X, COUNT if family == "poisson" else YES, family=family), keyed_generator(5)
    drawn = np.array([fit.draw(generator).coefficients for _ in range(6000)])
    error = np.sqrt(fit.covariance.diagonal())
    assert (drawn.mean(axis=0) - fit.coefficients) / error == pytest.approx(np.zeros(3), abs=0.07)
    assert np.cov(drawn.T) == pytest.approx(fit.covariance, rel=0.15)
    places = np.repeat(X[:4], 20_000, axis=0)
    made = fit.model.simulate(places, generator).reshape(4, -1)
    mean = fit.model.mean(X[:4])
    spread = np.sqrt(mean if family == "poisson" else mean * (1 - mean))
    assert (made.mean(axis=1) - mean) / spread * np.sqrt(20_000) == pytest.approx(np.zeros(4), abs=5)


@pytest.mark.parametrize("family", ["logit", "probit"])
@pytest.mark.parametrize("partial", [False, True])
def test_separated_outcomes_are_bounded_and_said(family: str, partial: bool) -> None:
    group = (np.arange(60) % 3 == 0).astype(float)
    y = np.where(group == 1, 1.0, np.arange(60) % 2 if partial else 0.0)
    matrix = np.column_stack([np.ones(60), group, np.sin(np.arange(60))])
    fit = fit_generalized(matrix, y, family=family)
    assert fit.guarded
    assert "prior" in fit.notes[-1]
    assert np.abs(fit.coefficients).max() < 30
    assert np.isfinite(fit.draw(keyed_generator(1)).mean(matrix)).all()
    assert fit.model.mean(matrix)[group == 1].min() > 0.8


@pytest.mark.parametrize("family", ORACLES)
def test_an_outcome_without_variation_is_bounded_and_said(family: str) -> None:
    fit = fit_generalized(X, np.zeros(N), family=family)
    assert fit.guarded
    assert fit.model.mean(X).max() < 0.1


def test_a_poisson_group_of_zeros_is_bounded() -> None:
    fit = fit_generalized(X, np.where(X[:, 2] == 1, 0, COUNT), family="poisson")
    assert fit.guarded
    assert -20 < fit.coefficients[2] < -1


def test_strong_effects_and_rare_events_are_not_taken_for_separation() -> None:
    """The guard is for likelihoods without a peak: a steep one, a rare outcome and a huge count have one."""
    random = np.random.default_rng(1)
    x = random.normal(size=(2000, 1))
    steep = (random.random(2000) < 1 / (1 + np.exp(-30 * x[:, 0]))).astype(float)
    rare = np.zeros(2000)
    rare[::400] = 1
    matrix = np.column_stack([np.ones(2000), x])
    for family, y in (("logit", steep), ("probit", steep), ("logit", rare), ("probit", rare)):
        fit = fit_generalized(matrix, y, family=family)
        assert not fit.guarded
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            oracle = sm.GLM(y, matrix, family=ORACLES[family]).fit(tol=1e-13, maxiter=300)
        assert fit.coefficients == pytest.approx(oracle.params, rel=1e-4)
    huge = fit_generalized(matrix, random.poisson(np.exp(12 + x[:, 0])), family="poisson")
    assert not huge.guarded
    assert huge.coefficients == pytest.approx([12, 1], abs=1e-3)


@given(st.integers(0, 2**20), st.integers(2, 30), st.sampled_from(sorted(ORACLES)))
def test_no_data_set_makes_it_fail(seed: int, rows: int, family: str) -> None:
    """Few records, repeated, collinear and constant columns, weights of 0: finite answers always."""
    random = np.random.default_rng(seed)
    base = random.normal(size=(rows, 2)) * random.choice([1e-3, 1, 1e6], 2)
    matrix = np.column_stack([np.ones(rows), base, base[:, 0] * 2, random.integers(0, 2, (rows, 2)), np.full(rows, 5)])
    y = random.integers(0, 2, rows).astype(float)
    weights = random.choice([0.0, 1.0, 7.0], rows)
    weights[0] = 1
    fit = fit_generalized(matrix, y, family=family, weights=weights)
    assert np.isfinite(fit.coefficients).all()
    assert np.isfinite(fit.covariance).all()
    made = fit.draw(keyed_generator(seed)).simulate(matrix, keyed_generator(seed))
    assert np.isfinite(made).all()
    assert (made >= 0).all()


def test_aliased_columns_cost_nothing_and_are_named() -> None:
    fit = fit_generalized(np.column_stack([X, X[:, 1] + X[:, 2]]), YES, names=["one", "year", "sex", "sum"])
    assert fit.aliased == ("sum",)
    assert fit.coefficients[:3] == pytest.approx(fit_generalized(X, YES).coefficients)
    assert fit.notes == ("left out as explained by the others: sum",)


@pytest.mark.parametrize(
    ("outcome", "family"), [([0, 2], "logit"), ([0, 0.5], "probit"), ([-1, 3], "poisson"), ([0, 1], "tobit")]
)
def test_outcomes_of_another_kind_are_refused(outcome: list[float], family: str) -> None:
    with pytest.raises(ArgumentError):
        fit_generalized([[1.0], [1.0]], outcome, family=family)
