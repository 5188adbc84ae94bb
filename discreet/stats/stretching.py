"""Stretching: all latents of a column moved at once by a random rising map, so that cuts between levels mix fast.

Drawn one by one, the outermost latents of a level move by O(1/n) a sweep, while the posterior of a cut is O(1/√n) wide:
chains of a thousand sweeps over tens of thousands of records do not forget where they began. Here cuts move together.

1. Edges E₀ < … < E_K are drawn from a law that knows no latent: E₀ normal, gaps from gamma laws, near quantiles of the
   column's normal law. A latent's place is then its share of the gap it lies in or, beyond the ends, its distance
   from the first or last edge: z = B E + c.
2. With the places as coordinates the edges have, given all else, the density
       p(E) Π_k gap_k^(latents in it) Π_i exp(−(B_i E + c_i − μ_i)² / 2s²),
   the powers being the Jacobian. Five sums over the latents of each gap tell all of it.
3. One Newton step, with noise of its own Hessian, proposes all edges anew; the ratio of Metropolis and Hastings, with
   the Hessian over there for the way back, accepts or not. All latents then follow their edges.

The map rises, so every order is kept, and the law of the edges does not depend on what moves: the joint law stays as it
is. Free latents stay out: no level holds them, and given the other columns they say nothing of those that have one.
A normal step misses the logarithm's third derivative, which costs acceptance as K over the latents in a gap: about .85
of moves are accepted at K = √n / 8, .6 at √n / 4, .3 at √n / 2. K is drawn up to there, whatever the state: few gaps
carry a chain in from where it began and move what is smooth, many settle the cuts between close levels.

Reference: Liu and Sabatti 2000 for moves of all coordinates by one map. What it does not promise: that correlations mix
well whatever the columns say of each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.randomness import Generator
from discreet.stats.laws import normal_quantile

__all__ = ["Stretch"]

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
_SHAPE = 16.0
_GAPS_AT_MOST = 64
_RECORDS, _PACE = 8000, 0.5  # a move costs up to a sweep of its column, and more where records are few


class Stretch:
    """The moves of a column that has so many latents with a level, and the share of sweeps in which to make one."""

    def __init__(self, size: int) -> None:
        self.pace = min(size / _RECORDS, _PACE)
        self._most = min(max(int(math.sqrt(size) / 2), 1), _GAPS_AT_MOST)

    def move(self, latents: Floats, centre: Floats, spread: float, scale: float, generator: Generator) -> Floats:
        """The latents after one proposal, given their means and deviation given the other columns. The column's own
        deviation, `scale`, says where edges are tried."""
        count = 1 + int(generator.random() * self._most)
        quantiles = scale * normal_quantile(np.arange(1, count + 2) / (count + 2))
        first, gaps = float(quantiles[0]), quantiles[1:] - quantiles[:-1]
        edges = np.empty(count + 1)
        edges[0] = first + gaps[0] * generator.standard_normal()
        edges[1:] = generator.standard_gamma(_SHAPE, count) * (gaps / _SHAPE)
        np.cumsum(edges, out=edges)
        places = _Places(latents, edges)
        law = _Law(places, latents, centre, spread, first, gaps)
        here, noise = law.at(edges), generator.standard_normal(count + 1)
        proposed = here.aim + np.linalg.solve(here.root.T, noise)
        if not (proposed[1:] > proposed[:-1]).all():
            return latents
        there = law.at(proposed)
        back = there.root.T @ (edges - there.aim)
        gain = there.height + there.volume - here.height - here.volume
        accepted = math.log1p(-generator.random()) < gain + (noise @ noise - back @ back) / 2
        return places.under(proposed) if accepted else latents


class _Places:
    """Where latents lie between edges: gap k ends at edge k, the first and the last are endless."""

    def __init__(self, latents: Floats, edges: Floats) -> None:
        self.edges, self.gap = edges, np.searchsorted(edges, latents, side="right")
        starts, widths, _ = _spans(edges)
        self._place = (latents - starts[self.gap]) / widths[self.gap]
        # The share of the edge a gap ends at; beyond the ends a latent goes with the one edge there is.
        self.share = self._place.copy()
        self.share[self.gap == 0] = 1.0
        self.share[self.gap == len(edges)] = 0.0

    def total(self, weights: Floats | None = None) -> Floats:
        """Sums over the latents of each gap."""
        return np.asarray(np.bincount(self.gap, weights, len(self.edges) + 1), dtype=np.float64)

    def under(self, edges: Floats) -> Floats:
        """The latents that have the same places under other edges."""
        starts, widths, ends = _spans(edges)
        moved = starts[self.gap] + widths[self.gap] * self._place
        # Rounding must not carry one beyond its edge, and so past another level.
        return np.asarray(np.minimum(moved, ends[self.gap]))


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """The law of the edges at a point: the logarithm of its density, where a Newton step leads, the root of the
    negative Hessian and the logarithm of the root's determinant."""

    height: float
    aim: Floats
    root: Floats
    volume: float


class _Law:
    """The density of the edges given the places of the latents, up to a constant."""

    def __init__(
        self, places: _Places, latents: Floats, centre: Floats, spread: float, first: float, gaps: Floats
    ) -> None:
        share, apart = places.share, latents - centre
        shares, squares = places.total(share), places.total(share * share)
        pull, pulled = places.total(apart), places.total(share * apart)
        count = places.total()
        self._from, self._power, self._rate = places.edges, count[1:-1] + (_SHAPE - 1), _SHAPE / gaps
        self._first, self._deviation = first, float(gaps[0])
        self._curve = np.zeros((len(places.edges), len(places.edges)))
        _add(self._curve, ((count - 2 * shares + squares)[1:] + squares[:-1]), (shares - squares)[1:-1])
        self._curve /= spread**2
        self._slope = ((pull - pulled)[1:] + pulled[:-1]) / spread**2

    def at(self, edges: Floats) -> _Point:
        """The law there."""
        gaps, away, off = edges[1:] - edges[:-1], edges - self._from, float(edges[0] - self._first) / self._deviation
        bend = self._curve @ away
        height = self._power @ np.log(gaps) - self._rate @ gaps - off**2 / 2 - away @ (bend / 2 + self._slope)
        slope = -bend - self._slope
        stiff = self._power / gaps
        slope[1:] += stiff - self._rate
        slope[:-1] -= stiff - self._rate
        slope[0] -= off / self._deviation
        stiff /= gaps
        own = np.zeros(len(edges))
        own[0] = self._deviation**-2
        own[1:] += stiff
        own[:-1] += stiff
        curve = self._curve.copy()
        _add(curve, own, -stiff)
        root: Floats = np.asarray(np.linalg.cholesky(curve), dtype=np.float64)
        aim = edges + np.linalg.solve(curve, slope)
        return _Point(float(height), aim, root, float(np.log(root.diagonal()).sum()))


def _add(matrix: Floats, middle: Floats, beside: Floats) -> None:
    """Add a band of three diagonals, in place."""
    size, line = len(matrix), matrix.reshape(-1)
    line[:: size + 1] += middle
    line[1 :: size + 1] += beside
    line[size :: size + 1] += beside


def _spans(edges: Floats) -> tuple[Floats, Floats, Floats]:
    """Where each gap starts, how wide it is and where it ends; the endless ones are 1 wide, and the first of them is
    counted from its end."""
    size = len(edges)
    starts, widths, ends = np.empty(size + 1), np.ones(size + 1), np.full(size + 1, np.inf)
    starts[0], starts[1:], ends[:-1] = edges[0], edges, edges
    np.subtract(edges[1:], edges[:-1], out=widths[1:-1])
    return starts, widths, ends
