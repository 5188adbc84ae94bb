"""A Gaussian copula under the extended rank likelihood: Gibbs sweeps over latent normals and their covariance.

1. Each record has one latent normal for each column of levels; a record with the higher level has the higher latent.
   Where there is no level (missing, or not asked) the latent is free.
2. A sweep takes the columns in turn. Given the others a latent is normal with mean μ and variance s², cut off by the
   nearest latents of the levels below and above. These belong to the neighbouring levels alone: so all even levels
   are drawn at once, then all odd ones (red and black), which is exact and needs no loop over levels.
3. All latents are then shifted together, V ← V − V̄ + N(0, Σ/n): a shift keeps every order, and V̄ ~ N(0, Σ/n) does
   not depend on the rest, so this too is exact; columns with one rare level mix far faster for it.
4. A column of unordered levels (`Choice`) has a latent with a mean for each level but the first. A record has the level
   whose latent and mean together are highest, the first if all are below 0. Means have a flat prior, and move 3 draws
   them: it leaves latent plus mean where it is.
5. Σ ~ inverse Wishart(ν₀ + n, ν₀ I + V V'), prior ν₀ = p + 2. Scales mean nothing but within a choice; the
   correlations are the model.

Reference: Hoff 2007; Liu and Sabatti 2000 for moves like 3. A state holds what the records say: as confidential as
they. What it does not promise: dependence that is not of one direction, such as a U, is not in the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.errors import ArgumentError
from discreet.randomness import Generator
from discreet.stats.laws import normal_quantile
from discreet.stats.truncated import draw_between

__all__ = ["Choice", "Ends", "Gibbs", "Latent", "enforce", "highest"]

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Lowest and highest latent of each level, in standard deviations of the latent."""

    bottoms: Floats
    tops: Floats

    @property
    def cuts(self) -> Floats:
        """What parts each level from the next: halfway between them."""
        return np.asarray((self.tops[:-1] + self.bottoms[1:]) / 2)


class Latent:
    """The levels of one column, sorted once: 0, 1, … without gaps, −1 where the latent is free."""

    def __init__(self, codes: Whole) -> None:
        there = np.flatnonzero(codes >= 0)
        self.free: Whole = np.flatnonzero(codes < 0)
        self.order: Whole = there[np.argsort(codes[there], kind="stable")]
        levels = codes[self.order]
        self.counts: Whole = np.bincount(levels) if len(levels) else np.zeros(0, dtype=np.int64)
        if (self.counts == 0).any():
            raise ArgumentError("levels", found="a level no record has", right="levels without gaps", step="renumber")
        self._starts: Whole = np.cumsum(self.counts) - self.counts
        self._distinct = len(self.counts) == len(levels)
        odd = (levels % 2).astype(bool)
        self._halves: list[tuple[Whole, Whole]] = [
            (places, levels[places]) for places in (np.flatnonzero(~odd), np.flatnonzero(odd)) if len(places)
        ]

    def begin(self, generator: Generator) -> Floats:
        """Normal scores of the levels, equal ones in random order."""
        latents = generator.standard_normal(len(self.order) + len(self.free))
        jumbled = np.repeat(np.arange(len(self.counts)), self.counts) + generator.random(len(self.order))
        rank = np.empty(len(self.order))
        rank[np.argsort(jumbled)] = np.arange(len(self.order)) + 0.5
        latents[self.order] = normal_quantile(rank / max(len(self.order), 1))
        return latents

    def renew(self, latents: Floats, mean: Floats, spread: float, generator: Generator) -> None:
        """Draw all latents of the column given the others, in place."""
        if len(self.free):
            latents[self.free] = mean[self.free] + spread * generator.standard_normal(len(self.free))
        if not len(self.order):
            return
        centre = mean[self.order]
        if self._distinct:
            self._renew_distinct(latents, centre, spread, generator)
            return
        mine = latents[self.order]
        for places, levels in self._halves:
            low, high = self._bounds(mine)
            at = centre[places]
            drawn = draw_between((low[levels] - at) / spread, (high[levels] - at) / spread, generator)
            mine[places] = at + spread * drawn
        latents[self.order] = mine

    def ends(self, latents: Floats, scale: float) -> Ends:
        """Lowest and highest latent of each level, over `scale`."""
        mine = latents[self.order] / scale
        return Ends(np.minimum.reduceat(mine, self._starts), np.maximum.reduceat(mine, self._starts))

    def scores(self) -> Ends:
        """The same from the shares of the levels alone: normal scores of the first and last of each level."""
        upto = np.cumsum(self.counts)
        return Ends(normal_quantile((upto - self.counts + 0.5) / upto[-1]), normal_quantile((upto - 0.5) / upto[-1]))

    def _bounds(self, mine: Floats) -> tuple[Floats, Floats]:
        """For each level the highest latent of the level below and the lowest of the level above."""
        low, high = np.full(len(self.counts), -np.inf), np.full(len(self.counts), np.inf)
        low[1:] = np.maximum.reduceat(mine, self._starts)[:-1]
        high[:-1] = np.minimum.reduceat(mine, self._starts)[1:]
        return low, high

    def _renew_distinct(self, latents: Floats, centre: Floats, spread: float, generator: Generator) -> None:
        """Every record its own level: neighbours stand beside each other, nothing is looked up."""
        size = len(centre)
        padded = np.empty(size + 2)
        padded[0], padded[-1] = -np.inf, np.inf
        padded[1:-1] = latents[self.order]
        for first in (0, 1):
            at = centre[first::2]
            drawn = draw_between(
                (padded[first:size:2] - at) / spread, (padded[first + 2 :: 2] - at) / spread, generator
            )
            padded[first + 1 : size + 1 : 2] = at + spread * drawn
        latents[self.order] = padded[1:-1]


class Choice:
    """Unordered levels 0, 1, … of one column, −1 where missing, with a latent for each level from 1 on."""

    def __init__(self, codes: Whole, levels: int) -> None:
        self.codes, self.width = codes, levels - 1

    def begin(self, generator: Generator) -> Floats:
        """Latents that give each record its level, means being 0."""
        return enforce(generator.standard_normal((self.width, len(self.codes))), self.codes)

    def renew(self, at: int, utility: Floats, mean: Floats, spread: float, generator: Generator) -> None:
        """Draw the `at`-th latent with its mean, given the others, in place."""
        edge = (highest(utility, at)[0] - mean) / spread
        chosen, other = self.codes == at + 1, (self.codes >= 0) & (self.codes != at + 1)
        low, high = np.where(chosen, edge, -np.inf), np.where(other, edge, np.inf)
        utility[at] = mean + spread * draw_between(low, high, generator)


def highest(utility: Floats, without: int | None = None) -> tuple[Floats, Whole]:
    """The highest of 0 and the latents with their means, one left out, and the level it stands for."""
    best = np.zeros(utility.shape[1])
    level = np.zeros(utility.shape[1], dtype=np.int64)
    for at, line in enumerate(utility):
        if at != without:
            better = line > best
            best = np.where(better, line, best)
            level[better] = at + 1
    return best, level


def enforce(utility: Floats, levels: Whole) -> Floats:
    """Latents near these that give each record its level; nothing changes where the level is below 0."""
    sure = utility.copy()
    first = levels == 0
    sure[:, first] = -np.abs(sure[:, first])
    for at in range(len(sure)):
        mine = levels == at + 1
        sure[at, mine] = highest(sure[:, mine], at)[0] + np.abs(sure[at, mine])
    return sure


class Gibbs:
    """The state of one chain: latents (a line for each), the means of choices, and the covariance."""

    def __init__(self, columns: Sequence[Whole | Choice], generator: Generator) -> None:
        self.columns = [one if isinstance(one, Choice) else Latent(one) for one in columns]
        self.generator = generator
        self.latents: Floats = np.concatenate([np.atleast_2d(one.begin(generator)) for one in self.columns])
        self.means: Floats = np.zeros(len(self.latents))
        self.covariance: Floats = np.eye(len(self.latents))
        self._precision: Floats = np.eye(len(self.latents))

    @property
    def correlation(self) -> Floats:
        """The covariance with its scales taken out."""
        scale = self.scales
        return np.asarray(self.covariance / np.outer(scale, scale))

    @property
    def scales(self) -> Floats:
        """Standard deviations of the latents."""
        return np.sqrt(self.covariance.diagonal())

    def restore(self, latents: Floats, covariance: Floats, means: Floats | None = None) -> None:
        """Go on from a state that was kept."""
        self.latents, self.covariance = latents.copy(), covariance.copy()
        if means is not None:
            self.means = means.copy()
        self._precision = np.asarray(np.linalg.inv(covariance))

    def sweep(self) -> None:
        """One round over all columns, the common shift and the covariance."""
        at = 0
        for column in self.columns:
            if isinstance(column, Choice):
                self._renew_choice(column, at)
                at += column.width
            else:
                column.renew(self.latents[at], *self._given(at), self.generator)
                at += 1
        self._shift()
        self._renew_covariance()

    def _given(self, at: int) -> tuple[Floats, float]:
        """Mean and deviation of a latent given all others."""
        row = self._precision[at]
        weights = row / -row[at]
        weights[at] = 0
        return weights @ self.latents, float(row[at] ** -0.5)

    def _renew_choice(self, choice: Choice, first: int) -> None:
        means = self.means[first : first + choice.width]
        utility = self.latents[first : first + choice.width] + means[:, None]
        for at in range(choice.width):
            mean, spread = self._given(first + at)
            choice.renew(at, utility, mean + means[at], spread, self.generator)
            self.latents[first + at] = utility[at] - means[at]

    def _shift(self) -> None:
        size, rows = self.latents.shape
        root = np.linalg.cholesky(self.covariance) / np.sqrt(rows)
        step = root @ self.generator.standard_normal(size) - self.latents.mean(axis=1)
        self.latents += step[:, None]
        self.means -= step  # of columns with an order they mean nothing

    def _renew_covariance(self) -> None:
        """Bartlett's way: with S = L L' and A the triangle of a Wishart, Σ⁻¹ = L'⁻¹ A A' L⁻¹."""
        size, rows = self.latents.shape
        prior = size + 2
        root = np.linalg.cholesky(prior * np.eye(size) + self.latents @ self.latents.T)
        triangle = np.tril(self.generator.standard_normal((size, size)), -1)
        np.fill_diagonal(triangle, np.sqrt(self.generator.chisquare(prior + rows - np.arange(size))))
        half = np.linalg.solve(triangle, root.T)  # A⁻¹ L', so that Σ = half' half
        self.covariance = half.T @ half
        inverse = np.linalg.inv(half)
        self._precision = np.asarray(inverse @ inverse.T)
