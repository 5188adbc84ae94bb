"""Truncated draws, convergence figures and the copula's sweep against closed forms and exact invariance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import ArgumentError
from discreet.randomness import keyed_generator
from discreet.stats.convergence import effective_draws, split_rhat
from discreet.stats.copula import Choice, Gibbs, Latent, enforce, highest
from discreet.stats.truncated import draw_between


@pytest.mark.parametrize(
    ("low", "high"),
    [(-1, 2), (3, np.inf), (-np.inf, -6), (9, 9.1), (-0.2, 30), (20, 21), (38, 39), (-60, -50), (-5, -4)],
)
def test_draws_between_bounds_have_the_truncated_law(low: float, high: float) -> None:
    drawn = draw_between(np.full(20_000, float(low)), np.full(20_000, float(high)), keyed_generator(4))
    assert low <= drawn.min()
    assert drawn.max() <= high
    near, far = (low, high) if low > -high else (-high, -low)
    sign = 1 if near == low else -1
    # By the survival function in logarithms, mirrored into the upper tail where it keeps its digits.
    logs = stats.norm.logsf(sign * drawn)
    top, bottom = stats.norm.logsf(near), stats.norm.logsf(far)
    uniform = np.expm1(logs - top) / np.expm1(bottom - top)
    assert stats.kstest(uniform, "uniform").pvalue > 1e-4


@given(st.lists(st.tuples(st.floats(-80, 80), st.floats(0, 5)), min_size=1, max_size=20), st.integers(0, 99))
def test_draws_between_stay_between(bounds: list[tuple[float, float]], seed: int) -> None:
    low = np.array([one for one, _ in bounds])
    high = low + np.array([width for _, width in bounds])
    drawn = draw_between(low, high, keyed_generator(seed))
    assert ((low <= drawn) & (drawn <= high)).all()


def _chains(slope: float, shift: float, chains: int = 4, length: int = 4000) -> np.ndarray:
    random = np.random.default_rng(1)
    noise = random.normal(size=(chains, length, 1)) * np.sqrt(1 - slope**2)
    made = np.zeros((chains, length, 1))
    made[:, 0] = random.normal(size=(chains, 1))
    for at in range(1, length):
        made[:, at] = slope * made[:, at - 1] + noise[:, at]
    return made + shift * np.arange(chains)[:, None, None]


@pytest.mark.parametrize("slope", [0.0, 0.5, 0.9, -0.4])
def test_effective_draws_of_a_known_chain(slope: float) -> None:
    """A chain with correlation a from draw to draw is worth (1 − a)/(1 + a) of its length."""
    found = effective_draws(_chains(slope, 0))[0]
    assert found == pytest.approx(16_000 * (1 - slope) / (1 + slope), rel=0.15)
    assert split_rhat(_chains(slope, 0))[0] == pytest.approx(1, abs=0.02)


def test_chains_in_different_places_do_not_agree() -> None:
    assert split_rhat(_chains(0, 1))[0] > 1.3
    assert effective_draws(_chains(0, 1))[0] < 50
    drifting = np.linspace(0, 5, 400)[None, :, None] + np.random.default_rng(2).normal(size=(2, 400, 1))
    assert split_rhat(drifting)[0] > 1.5
    still = np.ones((2, 50, 1))
    assert (split_rhat(still)[0], effective_draws(still)[0]) == (1.0, 100.0)


def _prior(size: int, random: np.random.Generator) -> np.ndarray:
    return np.asarray(stats.invwishart(size + 2, (size + 2) * np.eye(size)).rvs(random_state=random))


def test_a_sweep_leaves_the_joint_law_as_it_is() -> None:
    """Σ from its prior, V ~ N(0, Σ), levels cut from V by fixed counts: after sweeps under these levels the law of both
    must be the same. One column is all distinct, one has three levels and a missing record, one has two."""
    random, generator, rows, times = np.random.default_rng(6), keyed_generator(9), 6, 2500
    before: list[list[float]] = []
    after: list[list[float]] = []
    for _ in range(times):
        covariance = _prior(3, random)
        latents = np.linalg.cholesky(covariance) @ random.standard_normal((3, rows))
        ranks = latents.argsort(axis=1).argsort(axis=1)
        middle = latents[1, 1:].argsort().argsort()
        codes = [ranks[0], np.r_[-1, np.searchsorted([1, 3], middle, side="right")], (ranks[2] >= 4).astype(np.int64)]
        gibbs = Gibbs([code.astype(np.int64) for code in codes], generator)
        gibbs.restore(latents, covariance)
        for _ in range(2):
            gibbs.sweep()
        for one, (v, s) in ((before, (latents, covariance)), (after, (gibbs.latents, gibbs.covariance))):
            scale = np.sqrt(np.diag(s))
            z, c = v / scale[:, None], s / np.outer(scale, scale)
            cross = (z @ z.T)[[0, 0, 1], [1, 2, 2]]
            one.append([*c[[0, 0, 1], [1, 2, 2]], *np.log(scale), *z.mean(axis=1), *z.std(axis=1), *cross, z[1, 0]])
    for left, right in zip(np.array(before).T, np.array(after).T, strict=True):
        assert stats.ks_2samp(left, right).pvalue > 1e-4


def test_latents_keep_the_order_of_their_levels() -> None:
    random = np.random.default_rng(0)
    codes = [random.permutation(40), np.r_[np.repeat([0, 1, 2], 10), np.full(10, -1)], np.repeat([0, 1], 20)]
    gibbs = Gibbs(codes, keyed_generator(1))
    for _ in range(20):
        gibbs.sweep()
        for at, one in enumerate(codes):
            for level in range(one.max()):
                assert gibbs.latents[at][one == level].max() < gibbs.latents[at][one == level + 1].min()
    assert gibbs.covariance == pytest.approx(gibbs.covariance.T)
    assert np.abs(gibbs.correlation).max() == pytest.approx(1)


def test_correlations_and_cuts_are_found_with_their_posterior_spread() -> None:
    """2000 records, a known correlation, cuts at shares of .85 and .5. A share p known from n records leaves its cut
    t with a deviation √(p(1 − p)/n)/φ(t); without the common shift chains of this length show far less of it."""
    random, truth = np.random.default_rng(4), 0.5
    normal = np.linalg.cholesky([[1, truth, truth], [truth, 1, truth], [truth, truth, 1]]) @ random.normal(
        size=(3, 2000)
    )
    cut = np.quantile(normal[1], 0.85)
    codes = [
        normal[0].argsort().argsort(),
        (normal[1] > cut).astype(int),
        (normal[2] > np.median(normal[2])).astype(int),
    ]
    gibbs = Gibbs(codes, keyed_generator(2))
    correlations, cuts = [], []
    for sweep in range(1300):
        gibbs.sweep()
        if sweep >= 300:
            correlations.append(gibbs.correlation[[0, 0, 1], [1, 2, 2]])
            scale = gibbs.scales
            latents = [Latent(codes[at]).ends(gibbs.latents[at], scale[at]) for at in (1, 2)]
            cuts.append([ends.cuts[0] for ends in latents])
    assert np.mean(correlations, axis=0) == pytest.approx([truth] * 3, abs=0.08)
    assert np.mean(cuts, axis=0) == pytest.approx([1.036, 0.0], abs=0.02)
    expected = [np.sqrt(p * (1 - p) / 2000) / stats.norm.pdf(t) for p, t in ((0.85, 1.036), (0.5, 0.0))]
    assert np.std(cuts, axis=0) == pytest.approx(expected, rel=0.2)


def test_ends_and_scores_of_levels() -> None:
    latent = Latent(np.array([1, 0, 1, -1, 0]))
    ends = latent.ends(np.array([2.0, -4.0, 3.0, 99.0, -1.0]), 2.0)
    assert (ends.bottoms.tolist(), ends.tops.tolist(), ends.cuts.tolist()) == ([-2, 1], [-0.5, 1.5], [0.25])
    scores = latent.scores()
    assert scores.tops == pytest.approx(stats.norm.ppf([0.375, 0.875]))
    assert scores.bottoms == pytest.approx(stats.norm.ppf([0.125, 0.625]))
    with pytest.raises(ArgumentError):
        Latent(np.array([0, 2]))


def test_repeated_columns_and_columns_without_levels_are_survived() -> None:
    line = np.arange(50)
    gibbs = Gibbs([line, line, line[::-1].copy(), np.full(50, -1), np.zeros(50, dtype=np.int64)], keyed_generator(3))
    for _ in range(300):
        gibbs.sweep()
    assert np.isfinite(gibbs.latents).all()
    assert gibbs.correlation[0, 1] > 0.9
    assert gibbs.correlation[0, 2] < -0.9


def test_choices_find_means_and_slopes_of_unordered_levels() -> None:
    """Four levels, each with its own mean of a number: the model says for a number how likely each level is. It
    must say nearly what Bayes' rule says, and each record's latents must always give its level."""
    random, rows, centres = np.random.default_rng(6), 2500, np.array([0.3, -1.0, 1.0, -0.5])
    shares = np.array([0.5, 0.1, 0.15, 0.25])
    level = random.choice(4, rows, p=shares)
    number = centres[level] + 0.6 * random.standard_normal(rows)
    gibbs = Gibbs([Choice(level, 4), number.argsort().argsort()], keyed_generator(3))
    places = np.quantile(number, [0.1, 0.5, 0.9])
    scores = stats.norm.ppf([0.1, 0.5, 0.9])
    found = []
    for sweep in range(900):
        gibbs.sweep()
        utility = gibbs.latents[:3] + gibbs.means[:3, None]
        assert (highest(utility)[1] == level).all()
        if sweep >= 300 and sweep % 20 == 0:
            slope = gibbs.covariance[:3, 3] / gibbs.scales[3]
            noise = np.linalg.cholesky(gibbs.covariance[:3, :3] - np.outer(slope, slope)) @ random.normal(
                size=(3, 4000)
            )
            drawn = [highest(gibbs.means[:3, None] + slope[:, None] * score + noise)[1] for score in scores]
            found.append([np.bincount(one, minlength=4) / 4000 for one in drawn])
    likelihood = shares * np.exp(-np.square(places[:, None] - centres) / 0.72)
    expected = likelihood / likelihood.sum(axis=1, keepdims=True)
    assert np.mean(found, axis=0) == pytest.approx(expected, abs=0.09)


def test_enforced_latents_give_their_levels() -> None:
    levels = np.random.default_rng(1).integers(0, 5, 300)
    made = enforce(np.random.default_rng(2).normal(size=(4, 300)), levels)
    assert (highest(made)[1] == levels).all()
    free = np.random.default_rng(3).normal(size=(4, 6))
    assert enforce(free, np.full(6, -1)) == pytest.approx(free)
