"""Survey variances against textbook formulas, statsmodels' sandwich, and repeated sampling."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from discreet.stats.generalized import fit_generalized
from discreet.stats.linear import fit_linear
from discreet.stats.survey import Sampling, linearized

RANDOM = np.random.default_rng(31)
N = 240
X = np.column_stack([np.ones(N), RANDOM.normal(0, 1, N), RANDOM.integers(0, 2, N)])
Y = X @ [1.0, 2.0, -1.0] + RANDOM.normal(0, 1, N)
CLUSTER = np.repeat(np.arange(40), 6)
STRATUM = CLUSTER // 8
W = RANDOM.uniform(0.5, 2, N)


def test_a_stratified_weighted_mean_has_the_variance_of_the_textbook() -> None:
    """Σ_h n_h/(n_h − 1) Σ_c (z_hc − z̄_h)², z the totals of w (y − ȳ) / Σ w."""
    fit = fit_linear(np.ones((N, 1)), Y, weights=W)
    found = linearized(np.ones((N, 1)), fit.scores, fit.bread, strata=STRATUM, clusters=CLUSTER)
    z = np.array([(W * (Y - np.average(Y, weights=W)))[one == CLUSTER].sum() for one in range(40)]) / W.sum()
    expected = sum(8 / 7 * ((z[8 * h : 8 * h + 8] - z[8 * h : 8 * h + 8].mean()) ** 2).sum() for h in range(5))
    assert found.covariance[0, 0] == pytest.approx(expected)
    assert (found.df, found.lonely) == (35, 0)


@pytest.mark.parametrize("family", ["ols", "logit"])
def test_clusters_alone_are_the_sandwich_of_the_oracle(family: str) -> None:
    outcome = Y if family == "ols" else (Y > 0).astype(float)
    if family == "ols":
        linear = fit_linear(X, outcome, weights=W)
        found = linearized(X, linear.scores, linear.bread, clusters=CLUSTER)
        model = sm.WLS(outcome, X, weights=W)
    else:
        fit = fit_generalized(X, outcome, family="logit")
        found = linearized(X, fit.scores, fit.bread, clusters=CLUSTER)
        model = sm.GLM(outcome, X, family=sm.families.Binomial())
    oracle = model.fit(cov_type="cluster", cov_kwds={"groups": CLUSTER, "use_correction": False}).cov_params()
    assert found.covariance == pytest.approx(np.asarray(oracle) * 40 / 39, rel=1e-5)
    assert found.df == 39


def test_without_a_design_it_is_the_sandwich_for_unequal_spread() -> None:
    fit = fit_linear(X, Y)
    found = linearized(X, fit.scores, fit.bread)
    oracle = sm.OLS(Y, X).fit(cov_type="HC0").cov_params()
    assert found.covariance == pytest.approx(np.asarray(oracle) * N / (N - 1), rel=1e-8)


def test_a_lonely_cluster_is_measured_from_the_whole_and_counted() -> None:
    strata = np.where(CLUSTER == 0, 9, 0)
    fit = fit_linear(X, Y)
    found = linearized(X, fit.scores, fit.bread, strata=strata, clusters=CLUSTER)
    assert (found.df, found.lonely) == (38, 1)
    assert np.isfinite(found.covariance).all()
    assert found.covariance[0, 0] > 0


def test_the_same_code_in_two_strata_is_two_clusters() -> None:
    fit = fit_linear(X, Y)
    renamed = linearized(X, fit.scores, fit.bread, strata=STRATUM, clusters=CLUSTER % 8)
    assert renamed.covariance == pytest.approx(
        linearized(X, fit.scores, fit.bread, strata=STRATUM, clusters=CLUSTER).covariance
    )


def test_intervals_by_design_cover_where_plain_ones_do_not() -> None:
    """Clusters share an effect: the mean's plain variance is far too small."""
    hits = {"design": 0, "plain": 0}
    rounds = 300
    ones = np.ones((N, 1))
    for _ in range(rounds):
        y = RANDOM.normal(0, 1, 40)[CLUSTER] + RANDOM.normal(0, 0.5, N)
        fit = fit_linear(ones, y)
        wide = linearized(ones, fit.scores, fit.bread, clusters=CLUSTER).covariance[0, 0]
        hits["design"] += abs(fit.coefficients[0]) < 2.02 * np.sqrt(wide)
        hits["plain"] += abs(fit.coefficients[0]) < 1.97 * np.sqrt(fit.covariance[0, 0])
    assert 0.91 < hits["design"] / rounds < 0.98
    assert hits["plain"] / rounds < 0.75


def test_a_sampling_names_each_column_once() -> None:
    sampling = Sampling(weight="w", cluster="house", household="house")
    assert sampling.names == ("w", "house")
    assert sampling.together == "house"
    assert Sampling(household="h").together == "h"
    assert Sampling().together is None
