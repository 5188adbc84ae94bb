"""One column given others: a tree with donors, or a regression that fits the kind of the column.

| method | continuous | binary | nominal | ordinal |
|---|---|---|---|---|
| cart | donors of a leaf, smoothed or not | donors | donors | donors |
| normlogit | normal around a line | logit | multinomial logit | ordered logit |
| parametric | normal around a line of its normal scores, led back by the quantiles | as above | as above | as above |

1. Regressions see numbers standardised, with a missing one as 0 beside an indicator of its own, and levels as
   indicators against the most frequent one. Levels of fewer than `least` records stand with that one; beyond the 50
   most frequent the rest are one level. A missing level is a level.
2. A nominal column whose multinomial logit would need more than 1000 coefficients, or an ordinal one of more than 101
   levels, is drawn by a tree; a note says so.
3. `drawn` gives the parameters for one copy: out of their posterior (proper) or as fitted (improper).

What it does not promise: that a regression's normal draws stay in the range of the column; bounds and rules see to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.randomness import Generator
from discreet.stats.categories import fit_categories, fit_ordered
from discreet.stats.generalized import fit_generalized
from discreet.stats.laws import normal_cdf, normal_quantile
from discreet.stats.linear import fit_linear
from discreet.stats.trees import Predictor, grow
from discreet.synthesis.imputation.columns import Column, Kind

__all__ = ["ColumnModel", "Method", "fit_column"]

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]
Values: TypeAlias = Mapping[str, Floats]
_LEVELS_AT_MOST, _COEFFICIENTS_AT_MOST, _THRESHOLDS_AT_MOST = 50, 1000, 100


class Method(StrEnum):
    """How a column is drawn."""

    CART = "cart"
    NORMLOGIT = "normlogit"
    PARAMETRIC = "parametric"


class DrawnModel(Protocol):
    """One value of the parameters."""

    def simulate(self, values: Values, rows: Whole, generator: Generator) -> Floats:
        """One value for each of these rows, given the others in them."""
        ...


class ColumnModel(Protocol):
    """A fitted column."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done otherwise than asked."""
        ...

    def drawn(self, generator: Generator, *, proper: bool) -> DrawnModel:
        """Parameters for one copy."""
        ...


def fit_column(
    column: Column,
    given: Sequence[Column],
    rows: Whole,
    *,
    method: Method,
    weights: Floats | None = None,
    least: int = 5,
    smooth: bool = True,
) -> ColumnModel:
    """Fit a column on others, by these rows, in none of which it is missing."""
    heavy = None if weights is None else weights[rows]
    notes: tuple[str, ...] = ()
    if method is not Method.CART:
        encoder = _Encoder.of(given, rows, least)
        reason = _too_many(column, encoder.width)
        if not reason:
            ranked = method is Method.PARAMETRIC
            return _regression(column, given, encoder, rows, ranked=ranked, weights=heavy, least=least)
        notes = (f"{column.name}: {reason}, so a tree draws it",)
    outcome = column.values[rows]
    predictors = [Predictor(values=one.values[rows], levels=_unordered(one)) for one in given]
    classes = 0 if column.is_continuous else len(column.levels)
    tree = grow(predictors, outcome, classes=classes, weights=heavy, least=least, smooth=smooth)
    if tree.coarse:
        notes = (*notes, f"{column.name}: the tree tells its most frequent values apart and takes the rest as one")
    return _TreeModel(tree=tree, given=tuple(one.name for one in given), notes=notes)


def _too_many(column: Column, width: int) -> str:
    """Why a column has too many levels for a regression of so many indicators; nothing where it has not."""
    others = len(column.levels) - 1
    if column.kind is Kind.NOMINAL and width * others > _COEFFICIENTS_AT_MOST:
        return "a multinomial logit would need too many coefficients"
    if column.kind is Kind.ORDINAL and others > _THRESHOLDS_AT_MOST:
        return "an ordered logit would need too many thresholds"
    return ""


def _unordered(column: Column) -> int:
    """How many levels without an order a column has; a binary one is a number as well."""
    return len(column.levels) if column.kind is Kind.NOMINAL else 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _TreeModel:
    """A tree, and the names of the columns it splits on."""

    tree: Any
    given: tuple[str, ...]
    notes: tuple[str, ...]

    def drawn(self, generator: Generator, *, proper: bool) -> DrawnModel:
        return _DrawnTree(self.tree.draw(generator) if proper else self.tree.model, self.given)


@dataclass(frozen=True, slots=True, eq=False)
class _DrawnTree:
    model: Any
    given: tuple[str, ...]

    def simulate(self, values: Values, rows: Whole, generator: Generator) -> Floats:
        if not self.given:
            return np.asarray(self.model.simulate_any(len(rows), generator))
        return np.asarray(self.model.simulate([values[name][rows] for name in self.given], generator))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Number:
    """A number brought to mean 0 and standard deviation 1."""

    name: str
    mean: float
    deviation: float
    gaps: bool

    @property
    def width(self) -> int:
        return 1 + self.gaps

    def fill(self, into: Floats, values: Floats) -> None:
        gone = np.isnan(values)
        into[:, 0] = np.where(gone, 0.0, (values - self.mean) / self.deviation)
        if self.gaps:
            into[:, 1] = gone


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Levels:
    """Levels as indicators; `place` leads from a code to its indicator, -1 for the reference."""

    name: str
    place: Whole
    width: int

    def fill(self, into: Floats, values: Floats) -> None:
        at = self.place[np.nan_to_num(values, nan=len(self.place) - 1).astype(np.intp)]
        marked = np.flatnonzero(at >= 0)
        into[marked, at[marked]] = 1.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Encoder:
    """Columns as the matrix of a regression, a column of ones first."""

    parts: tuple[_Number | _Levels, ...]

    @classmethod
    def of(cls, given: Sequence[Column], rows: Whole, least: int) -> _Encoder:
        return cls(parts=tuple(_part(one, rows, least) for one in given))

    @property
    def width(self) -> int:
        return 1 + sum(part.width for part in self.parts)

    def matrix(self, values: Values, rows: Whole) -> Floats:
        made = np.zeros((len(rows), self.width))
        made[:, 0] = 1.0
        at = 1
        for part in self.parts:
            part.fill(made[:, at : at + part.width], values[part.name][rows])
            at += part.width
        return made


def _part(column: Column, rows: Whole, least: int) -> _Number | _Levels:
    values = column.values[rows]
    if column.is_continuous:
        there = values[~np.isnan(values)]
        mean, deviation = (float(there.mean()), float(there.std())) if len(there) else (0.0, 0.0)
        # Gaps anywhere in the column count: rows to be drawn may have some where these have none.
        return _Number(name=column.name, mean=mean, deviation=deviation or 1.0, gaps=bool(column.missing.any()))
    size = len(column.levels) + 1
    counts = np.bincount(np.nan_to_num(values, nan=size - 1).astype(np.int64), minlength=size)
    ranked = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code] >= least]
    place = np.full(size, -1)
    own, rest = ranked[1 : _LEVELS_AT_MOST + 1], ranked[_LEVELS_AT_MOST + 1 :]
    place[own] = np.arange(len(own))
    place[rest] = len(own)
    return _Levels(name=column.name, place=place, width=len(own) + bool(rest))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Scores:
    """Numbers as the normal scores of their ranks, and the way back; the ends are drawn in to the `least`-th value."""

    ordered: Floats
    least: int

    def forth(self, values: Floats) -> Floats:
        below, upto = (np.searchsorted(self.ordered, values, side=side) for side in ("left", "right"))
        return normal_quantile((below + upto + 1) / 2 / (len(self.ordered) + 1))

    def back(self, scores: Floats) -> Floats:
        places = np.arange(1, len(self.ordered) + 1) / (len(self.ordered) + 1)
        end = min(self.least, len(self.ordered)) - 1
        low, high = sorted((self.ordered[end], self.ordered[-1 - end]))
        return np.asarray(np.clip(np.interp(normal_cdf(scores), places, self.ordered), low, high))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Regression:
    """A fit, what its columns are made of, and the scores its outcome was brought to, if any."""

    name: str
    encoder: _Encoder
    fit: Any
    scores: _Scores | None

    @property
    def notes(self) -> tuple[str, ...]:
        # Which indicators were left out is of no use to anybody: only what is done about the outcome is said.
        return tuple(f"{self.name}: {note}" for note in self.fit.notes if not note.startswith("left out"))

    def drawn(self, generator: Generator, *, proper: bool) -> DrawnModel:
        return _DrawnRegression(self.fit.draw(generator) if proper else self.fit.model, self.encoder, self.scores)


@dataclass(frozen=True, slots=True, eq=False)
class _DrawnRegression:
    model: Any
    encoder: _Encoder
    scores: _Scores | None

    def simulate(self, values: Values, rows: Whole, generator: Generator) -> Floats:
        drawn = np.asarray(self.model.simulate(self.encoder.matrix(values, rows), generator), dtype=np.float64)
        return drawn if self.scores is None else self.scores.back(drawn)


def _regression(
    column: Column,
    given: Sequence[Column],
    encoder: _Encoder,
    rows: Whole,
    *,
    ranked: bool,
    weights: Floats | None,
    least: int,
) -> _Regression:
    outcome, scores = column.values[rows], None
    if column.is_continuous and ranked:
        scores = _Scores(ordered=np.sort(outcome), least=least)
        outcome = scores.forth(outcome)
    matrix = encoder.matrix({one.name: one.values for one in given}, rows)
    fit = _FITS[column.kind](matrix, outcome, weights=weights)
    return _Regression(name=column.name, encoder=encoder, fit=fit, scores=scores)


_FITS: Mapping[Kind, Callable[..., Any]] = {
    Kind.CONTINUOUS: fit_linear,
    Kind.BINARY: fit_generalized,
    Kind.NOMINAL: fit_categories,
    Kind.ORDINAL: fit_ordered,
}
