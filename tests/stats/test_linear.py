"""Least squares against statsmodels and closed forms; its posterior draws have the moments they state."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.randomness import keyed_generator
from discreet.stats.design import factor, settle
from discreet.stats.linear import fit_linear

RANDOM = np.random.default_rng(11)
N = 200
X = np.column_stack([np.ones(N), RANDOM.normal(2000, 5, N), RANDOM.integers(0, 2, N)])
Y = X @ [3.0, 0.5, -1.0] + RANDOM.normal(0, 2, N)
W = RANDOM.uniform(0.2, 3, N)


@pytest.mark.parametrize("weights", [None, W])
def test_least_squares_equals_the_oracle(weights: np.ndarray | None) -> None:
    fit = fit_linear(X, Y, weights=weights, names=["one", "year", "sex"])
    oracle = sm.WLS(Y, X, weights=1.0 if weights is None else weights).fit()
    assert fit.coefficients == pytest.approx(oracle.params, rel=1e-8)
    assert fit.covariance == pytest.approx(oracle.cov_params(), rel=1e-6)
    assert fit.spread == pytest.approx(np.sqrt(oracle.scale), rel=1e-10)
    assert (fit.df, fit.records, fit.aliased, fit.notes) == (N - 3, N, (), ())
    assert fit.bread * fit.spread**2 == pytest.approx(fit.covariance)
    assert X.T @ fit.scores == pytest.approx([0, 0, 0], abs=1e-6)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8), st.integers(1, 9), st.integers(0, 2**20))
def test_aliased_columns_are_those_that_add_no_rank(picks: list[int], rows: int, seed: int) -> None:
    """The twin asks for the rank of the columns so far, one column at a time, each scaled to length one: an absolute
    tolerance would take the rounding of a long column for rank."""
    random = np.random.default_rng(seed)
    pool = np.column_stack([np.ones(rows), random.normal(size=(rows, 3)), np.zeros(rows), np.arange(rows) * 1e4])
    matrix = pool[:, picks] * random.choice([1.0, -3.0, 1e3], len(picks))
    length = np.linalg.norm(matrix, axis=0)
    unit = matrix / np.where(length > 0, length, 1)
    ranks = [0, *(int(np.linalg.matrix_rank(unit[:, : at + 1], tol=1e-9)) for at in range(len(picks)))]
    expected = tuple(at for at in range(len(picks)) if ranks[at + 1] > ranks[at])
    if expected:
        assert settle(matrix).kept == expected
    else:
        with pytest.raises(ArgumentError):
            settle(matrix)


def test_aliased_columns_are_named_and_cost_nothing() -> None:
    doubled = np.column_stack([X, X[:, 1] - X[:, 2], np.full(N, 7.0)])
    fit = fit_linear(doubled, Y, names=["one", "year", "sex", "gap", "seven"])
    assert fit.aliased == ("gap", "seven")
    assert fit.notes == ("left out as explained by the others: gap, seven",)
    assert fit.coefficients[:3] == pytest.approx(fit_linear(X, Y).coefficients)
    assert not fit.coefficients[3:].any()
    assert not fit.covariance[3:].any()
    assert fit.model.mean(doubled) == pytest.approx(fit_linear(X, Y).model.mean(X))


def test_a_record_of_weight_zero_is_not_there() -> None:
    heavy = np.where(np.arange(N) < 50, 0.0, 1.0)
    kept, left = fit_linear(X, Y, weights=heavy), fit_linear(X[50:], Y[50:])
    assert kept.coefficients == pytest.approx(left.coefficients)
    assert kept.df == left.df
    assert kept.spread == pytest.approx(left.spread)


def test_draws_have_the_moments_of_the_posterior() -> None:
    fit, generator = fit_linear(X, Y), keyed_generator(5)
    models = [fit.draw(generator) for _ in range(8000)]
    drawn = np.array([model.coefficients for model in models])
    inflated = fit.covariance * fit.df / (fit.df - 2)  # a t law with df degrees of freedom
    assert drawn.mean(axis=0) == pytest.approx(fit.coefficients, abs=5 * np.sqrt(inflated.diagonal().max() / 8000))
    ratio = drawn.var(axis=0) / inflated.diagonal()
    assert ratio == pytest.approx(np.ones_like(ratio), abs=0.08)
    precisions = np.array([model.spread**-2.0 for model in models]) * fit.spread**2
    assert precisions.mean() == pytest.approx(1, abs=0.01)
    assert precisions.var() == pytest.approx(2 / fit.df, rel=0.1)
    residuals = fit.model.simulate(np.repeat(X, 50, axis=0), generator) - np.repeat(fit.model.mean(X), 50)
    assert residuals.std() == pytest.approx(fit.spread, rel=0.03)


def test_without_a_degree_of_freedom_the_spread_is_stated_as_zero() -> None:
    fit = fit_linear(X[:2], Y[:2])
    assert (fit.df, fit.spread) == (0, 0.0)
    assert "taken as 0" in fit.notes[-1]
    assert fit.draw(keyed_generator(1)).mean(X[:2]) == pytest.approx(Y[:2])


@pytest.mark.parametrize(
    ("matrix", "outcome", "weights"),
    [
        ([[1.0, np.nan]], [1.0], None),
        ([[1.0], [1.0]], [1.0, np.inf], None),
        ([[1.0], [1.0]], [1.0], None),
        ([[1.0], [1.0]], [1.0, 2.0], [0.0, 0.0]),
        ([[1.0], [1.0]], [1.0, 2.0], [1.0, -1.0]),
        ([[0.0], [0.0]], [1.0, 2.0], None),
        ([1.0, 2.0], [1.0, 2.0], None),
        (np.empty((0, 2)), [], None),
    ],
)
def test_what_cannot_be_fitted_is_refused(matrix: object, outcome: object, weights: object) -> None:
    with pytest.raises(ArgumentError):
        fit_linear(matrix, outcome, weights=weights)  # type: ignore[arg-type]


def test_a_root_of_a_covariance_gives_it_back_also_without_full_rank() -> None:
    for wide in (np.diag([2.0, 3.0]) + 1, np.outer([1.0, 2.0], [1.0, 2.0]), np.zeros((2, 2))):
        root = factor(wide)
        assert root @ root.T == pytest.approx(wide, abs=1e-12)
