"""The replicate: new records, with latents of their own, that agree with open columns and masks of the old ones.

1. Every latent of the replicate is new, those of the open columns too: they know the value of the column and nothing
   else. Latents taken over from the fit would carry the hidden values past the masks.
2. Given the others a latent is N(μ, s²). An open value cuts it to the stretch of that value. A hidden number is
   weighed by its mask exp(−(w̄ − x)²K/2σ²): a height under that weight is drawn and the latent cut to the numbers
   above it (slice sampling, exact). A hidden level is drawn with its chance under μ, s times the chance of its mask.
3. Some sweeps over all latents from a random start. Where a mask is narrow the start is drawn from the mask, never
   from the value.

Reference: Neal 2003 for the slice. What it does not promise: independence of the start after few sweeps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from discreet.randomness import Generator
from discreet.stats.copula import Ends, enforce, highest
from discreet.stats.laws import normal_cdf
from discreet.stats.truncated import draw_between
from discreet.synthesis.imputation.coding import Coding, Sort
from discreet.synthesis.imputation.masks import KeepMask, LevelMask, Mask, NoiseMask, SignalMask
from discreet.synthesis.imputation.posterior import Draw

__all__ = ["Clue", "draw_clue", "replicate"]

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Conditional = Callable[[int], tuple[Floats, float]]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Clue:
    """What the masks of one column say of each record: a number with its deviation, or the likelihood of each level."""

    kept: Flags
    target: Floats
    deviation: Floats
    evidence: Floats

    def of(self, rows: Whole) -> Clue:
        """The clues of these records."""
        evidence = self.evidence[rows] if len(self.evidence) else self.evidence
        return Clue(kept=self.kept[rows], target=self.target[rows], deviation=self.deviation[rows], evidence=evidence)


def draw_clue(coding: Coding, masks: Sequence[Mask], groups: Whole, generator: Generator) -> Clue:
    """Draw the masks of one column, each record's by its group; nothing where the value is missing."""
    values = coding.column.values
    there = ~coding.column.missing
    rows = len(values)
    kept = np.zeros(rows, dtype=bool)
    target, deviation = np.zeros(rows), np.full(rows, np.inf)
    few = coding.sort is not Sort.NUMBER
    evidence = np.ones((rows if few else 0, len(coding.values) if few else 0))
    scale = float(values[there].std())
    for group, mask in enumerate(masks):
        mine = np.flatnonzero(there & (groups == group))
        if isinstance(mask, KeepMask):
            kept[mine] = True
            if few:
                evidence[mine] = np.eye(len(coding.values))[coding.nearest(values[mine])]
        elif isinstance(mask, NoiseMask):
            deviation[mine] = mask.deviation * scale
            target[mine] = values[mine] + deviation[mine] * generator.standard_normal(len(mine))
        elif isinstance(mask, LevelMask | SignalMask):
            drawn = mask.evidence(values[mine].astype(np.int64), len(coding.column.levels), generator)
            evidence[mine] = drawn[:, coding.values.astype(np.int64)]
    return Clue(kept=kept, target=target, deviation=deviation, evidence=evidence)


def replicate(
    codings: Sequence[Coding],
    draw: Draw,
    places: Mapping[str, Whole],
    clues: Mapping[str, Clue],
    *,
    sweeps: int,
    edge: int,
    generator: Generator,
    rows: Whole | None = None,
) -> dict[str, Floats]:
    """New values of the columns that have clues, for all records or for some `rows` of them.

    `places` are the values (observed or filled in) of all columns.
    """
    if rows is not None:
        places = {name: values[rows] for name, values in places.items()}
        clues = {name: clue.of(rows) for name, clue in clues.items()}
    parts = [
        _part(coding, ends, draw.means[coding.places], places[coding.column.name], clues.get(coding.column.name))
        for coding, ends in zip(codings, draw.ends, strict=True)
    ]
    precision = np.linalg.inv(draw.covariance)
    latents = np.concatenate([part.begin(generator) for part in parts])

    def conditional(at: int) -> tuple[Floats, float]:
        weights = precision[at] / -precision[at, at]
        weights[at] = 0
        return weights @ latents, float(precision[at, at] ** -0.5)

    for _ in range(sweeps):
        for coding, part in zip(codings, parts, strict=True):
            part.renew(latents, coding.first, conditional, generator)
    made = {}
    for coding, ends in zip(codings, draw.ends, strict=True):
        clue = clues.get(coding.column.name)
        if clue is not None:
            new = coding.decode(latents[coding.places], ends, draw.means[coding.places], edge)
            old = coding.column.values if rows is None else coding.column.values[rows]
            made[coding.column.name] = np.where(clue.kept, old, new)
    return made


def _part(coding: Coding, ends: Ends | None, means: Floats, places: Whole, clue: Clue | None) -> _Part:
    if ends is None:
        return _Choice(means, np.eye(len(coding.values))[places] if clue is None else clue.evidence)
    if clue is None:
        return _Open(*coding.bounds(places, ends))
    if coding.sort is Sort.LEVELS:
        return _Levels(ends.cuts, clue.evidence)
    return _Number(coding, ends, clue, places)


class _Part(Protocol):
    """The latents of one column in the replicate."""

    def begin(self, generator: Generator) -> Floats:
        """A random start, a line a latent."""
        ...

    def renew(self, latents: Floats, first: int, conditional: Conditional, generator: Generator) -> None:
        """Draw its latents given the others, in place."""
        ...


class _Open:
    """A column that is published as it is."""

    def __init__(self, low: Floats, high: Floats) -> None:
        self._low, self._high = low, high

    def begin(self, generator: Generator) -> Floats:
        return draw_between(self._low, self._high, generator)[None, :]

    def renew(self, latents: Floats, first: int, conditional: Conditional, generator: Generator) -> None:
        mean, spread = conditional(first)
        drawn = draw_between((self._low - mean) / spread, (self._high - mean) / spread, generator)
        latents[first] = mean + spread * drawn


class _Number:
    """A hidden number with its noisy clue."""

    def __init__(self, coding: Coding, ends: Ends, clue: Clue, places: Whole) -> None:
        self._coding, self._ends, self._clue = coding, ends, clue
        low, high = coding.bounds(places, ends)
        self._low, self._high = np.where(clue.kept, low, -np.inf), np.where(clue.kept, high, np.inf)
        self._told = np.isfinite(clue.deviation)
        self._any = bool(self._told.any())

    def begin(self, generator: Generator) -> Floats:
        start = draw_between(self._low, self._high, generator)
        narrow = self._told & (self._clue.deviation < np.ptp(self._coding.values) / 4)
        near = self._clue.target + np.where(narrow, self._clue.deviation, 0) * generator.standard_normal(len(start))
        low, high = self._coding.reach(near, near, self._ends)
        inside = narrow & np.isfinite(low) & np.isfinite(high)
        return np.where(inside, low, start)[None, :]

    def renew(self, latents: Floats, first: int, conditional: Conditional, generator: Generator) -> None:
        mean, spread = conditional(first)
        low, high = self._low, self._high
        if self._any:
            here = latents[first]
            away = np.square(self._clue.target - self._coding.number(here, self._ends))
            room = 2 * np.square(np.where(self._told, self._clue.deviation, 0.0))
            radius = np.sqrt(away + room * generator.standard_exponential(len(here)))
            radius = np.where(self._told, radius, np.inf)
            least, most = self._coding.reach(self._clue.target - radius, self._clue.target + radius, self._ends)
            # Rounding must not put the latent outside its own slice.
            low, high = np.maximum(low, np.minimum(least, here)), np.minimum(high, np.maximum(most, here))
        drawn = draw_between((low - mean) / spread, (high - mean) / spread, generator)
        latents[first] = mean + spread * drawn


class _Levels:
    """A hidden level of a few, in order."""

    def __init__(self, cuts: Floats, evidence: Floats) -> None:
        self._edges = np.concatenate([[-np.inf], cuts, [np.inf]])
        self._evidence = evidence

    def begin(self, generator: Generator) -> Floats:
        return generator.standard_normal((1, len(self._evidence)))

    def renew(self, latents: Floats, first: int, conditional: Conditional, generator: Generator) -> None:
        mean, spread = conditional(first)
        below = normal_cdf((self._edges[None, 1:-1] - mean[:, None]) / spread)
        chances = np.diff(below, axis=1, prepend=0.0, append=1.0) * self._evidence
        steps = np.cumsum(chances, axis=1)
        level = (generator.random(len(mean))[:, None] * steps[:, -1:] >= steps).sum(axis=1)
        # Where the latents leave no chance to what the mask allows, the mask decides.
        level = np.where(steps[:, -1] > 0, np.minimum(level, chances.shape[1] - 1), self._evidence.argmax(axis=1))
        low, high = self._edges[level], self._edges[level + 1]
        latents[first] = mean + spread * draw_between((low - mean) / spread, (high - mean) / spread, generator)


class _Choice:
    """An unordered level, hidden, or open with a clue that leaves one level only."""

    def __init__(self, means: Floats, evidence: Floats) -> None:
        self._means, self._evidence = means, evidence

    def begin(self, generator: Generator) -> Floats:
        """A level drawn from the clue, and latents that give it."""
        utility = generator.standard_normal((len(self._means), len(self._evidence))) + self._means[:, None]
        steps = np.cumsum(self._evidence, axis=1)
        level = (generator.random(len(steps))[:, None] * steps[:, -1:] >= steps).sum(axis=1)
        return enforce(utility, np.minimum(level, len(self._means))) - self._means[:, None]

    def renew(self, latents: Floats, first: int, conditional: Conditional, generator: Generator) -> None:
        rows = np.arange(len(self._evidence))
        utility = latents[first : first + len(self._means)] + self._means[:, None]
        for at, own in enumerate(self._means):
            mean, spread = conditional(first + at)
            best, level = highest(utility, at)
            edge = (best - own - mean) / spread
            mine, other = self._evidence[:, at + 1], self._evidence[rows, level]
            above, below = normal_cdf(-edge) * mine, normal_cdf(edge) * other
            total = above + below
            share = np.where(total > 0, above / np.where(total > 0, total, 1), (mine > other).astype(float))
            wins = generator.random(len(rows)) < share
            drawn = draw_between(np.where(wins, edge, -np.inf), np.where(wins, np.inf, edge), generator)
            latents[first + at] = mean + spread * drawn
            utility[at] = latents[first + at] + own
