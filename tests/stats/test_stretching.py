"""Stretches of a column's latents: the law of the edges by brute force, an invariant joint law, kept orders, speed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from discreet.randomness import keyed_generator
from discreet.stats.convergence import effective_draws
from discreet.stats.copula import Gibbs, Latent
from discreet.stats.stretching import Stretch, _Law, _Places, _Point

FIRST, GAPS, SPREAD = -0.8, np.array([0.9, 0.4, 0.6]), 0.7


def _beside(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Latents and their means given other columns."""
    random = np.random.default_rng(3)
    centre = random.normal(size=rows)
    return centre + SPREAD * random.normal(size=rows), centre


def _log_density(places: _Places, centre: np.ndarray, edges: np.ndarray) -> float:
    """Edges with their prior, latents with theirs, and the Jacobian of the latents by differences."""
    latents, size = places.under(edges), len(edges)
    away = 1e-6 * np.eye(size)
    prior = stats.norm(FIRST, GAPS[0]).logpdf(edges[0]) + stats.gamma(16, scale=GAPS / 16).logpdf(np.diff(edges)).sum()
    jacobian = 0.0
    for gap in range(1, size):  # a share u of a gap: dz/du is how fast the gap's end carries a latent, over u
        inside = np.flatnonzero(places.gap == gap)
        speed = (places.under(edges + away[gap:].sum(axis=0)) - latents)[inside] / 1e-6
        jacobian += np.log(np.diff(edges)[gap - 1] * speed / places.share[inside]).sum()
    return float(prior + jacobian + stats.norm(centre, SPREAD).logpdf(latents).sum())


def test_the_law_of_the_edges_is_that_of_the_latents_under_them() -> None:
    latents, centre = _beside(40)
    edges = np.array([-1.0, -0.1, 0.4, 1.1])
    places = _Places(latents, edges)
    assert places.under(edges) == pytest.approx(latents)
    law = _Law(places, latents, centre, SPREAD, FIRST, GAPS)
    others = edges + 0.1 * np.random.default_rng(1).normal(size=(20, 4))
    found = [law.at(one).height - law.at(edges).height for one in others]
    expected = [_log_density(places, centre, one) - _log_density(places, centre, edges) for one in others]
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-4)
    # The step and the root, against slopes and curves of the height by differences.
    small, here = 1e-4 * np.eye(4), law.at(edges)
    slope = np.array([(law.at(edges + d).height - law.at(edges - d).height) / 2e-4 for d in small])
    root = here.root @ here.root.T
    assert root @ (here.aim - edges) == pytest.approx(slope, rel=1e-4)
    curve = [
        [
            law.at(edges + a + b).height - law.at(edges + a).height - law.at(edges + b).height + here.height
            for b in small
        ]
        for a in small
    ]
    assert -np.array(curve) / 1e-8 == pytest.approx(root, rel=0.01, abs=0.1)
    assert here.volume == pytest.approx(np.linalg.slogdet(root)[1] / 2)


def _after(times: int) -> tuple[np.ndarray, np.ndarray]:
    """What latents of one column are like, before any stretch and after 25: their law given the other columns."""
    generator, stretch, rows = keyed_generator(8), Stretch(400), 12
    centre = np.linspace(-1, 1, rows)
    before: list[list[float]] = []
    after: list[list[float]] = []
    for _ in range(times):
        latents = centre + SPREAD * generator.standard_normal(rows)
        moved = latents
        for _ in range(25):
            moved = stretch.move(moved, centre, SPREAD, 1.0, generator)
        for kept, z in ((before, latents), (after, moved)):
            line = np.sort(z)
            kept.append(
                [*line[[0, 3, 6, -1]], line.mean(), line.std(), *np.diff(line)[[2, 5]], np.sum((z - centre) ** 2)]
            )
    return np.array(before).T, np.array(after).T


def _least(times: int = 500) -> float:
    return float(min(stats.ks_2samp(one, other).pvalue for one, other in zip(*_after(times), strict=True)))


def test_a_stretch_leaves_the_law_of_the_latents_as_it_is() -> None:
    assert _least() > 1e-5


@pytest.mark.parametrize("bug", ["no Jacobian", "no determinant", "edges of another law"])
def test_a_stretch_that_is_wrong_is_found_out(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made, at = _Law.__init__, _Law.at

    def spoilt(law: _Law, *given: Any) -> None:
        made(law, *given)
        if bug == "no Jacobian":
            law._power = np.full_like(law._power, 15.0)
        elif bug == "edges of another law":
            law._rate = 1.5 * law._rate

    def bare(law: _Law, edges: np.ndarray) -> _Point:
        return replace(at(law, edges), volume=0.0) if bug == "no determinant" else at(law, edges)

    monkeypatch.setattr(_Law, "__init__", spoilt)
    monkeypatch.setattr(_Law, "at", bare)
    assert _least() < 1e-8


def test_stretches_keep_every_order_and_leave_free_latents_where_they_are() -> None:
    """Distinct levels, ten levels of all sizes with free latents among them, two levels, and gaps of a few ulps."""
    generator, random, rows = keyed_generator(2), np.random.default_rng(5), 600
    tight = np.cumsum(np.where(np.arange(rows) % 2, 1e-15, 0.01)) - 1.5
    for codes in (
        np.arange(rows),
        np.where(np.arange(rows) % 7 == 0, -1, np.minimum(random.geometric(0.3, rows) - 1, 9)),
        (np.arange(rows) > 550).astype(np.int64),
    ):
        column = Latent(np.unique(codes, return_inverse=True)[1] - (codes < 0).any())
        latents = np.empty(rows)
        latents[column.order], latents[column.free] = tight[: len(column.order)], 9.0
        moved, changes = latents.copy(), 0
        for _ in range(200):
            before = moved.copy()
            column.stretch(moved, np.zeros(rows), 1.0, 1.0, generator)
            changes += bool((before != moved).any())
        assert changes > 50
        assert (moved[column.free] == 9.0).all()
        ends = column.ends(moved, 1.0)
        assert (ends.tops[:-1] <= ends.bottoms[1:]).all()
        assert (np.diff(moved[column.order]) >= 0).all()


def _draws(codes: list[np.ndarray], sweeps: int) -> float:
    """Effective draws of a cut's place between two others, which no shift or scale moves."""
    gibbs, found = Gibbs(codes, keyed_generator(1)), []
    for sweep in range(sweeps):
        gibbs.sweep()
        column = gibbs.columns[0]
        assert isinstance(column, Latent)
        cuts = column.ends(gibbs.latents[0], 1.0).cuts
        if sweep >= sweeps // 5:
            found.append((cuts[50] - cuts[20]) / (cuts[80] - cuts[20]))
    return float(effective_draws(np.array(found)[None, :, None])[0])


def test_cuts_of_many_levels_are_worth_many_more_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """4,000 records in 100 levels, and two columns beside them."""
    random = np.random.default_rng(9)
    normal = 0.6 * random.normal(size=4000) + 0.8 * random.normal(size=(3, 4000))
    codes = [
        normal[0].argsort().argsort() // 40,
        (normal[1] > 0).astype(np.int64),
        normal[2].argsort().argsort() // 800,
    ]
    stretched = _draws(codes, 1000)
    monkeypatch.setattr(Latent, "stretch", lambda *given: None)
    plain = _draws(codes, 1000)
    assert stretched > 5 * plain
    assert stretched > 60
