"""Fits of outcomes with several levels: multinomial logit, and ordered logit or probit; with draws and simulation.

1. Multinomial: P(level l) ∝ exp(x'b_l), the first level that occurs as the reference with b = 0. Coefficients stand
   level by level, all columns of one after all of the other.
2. Ordered: P(y ≤ l) = F(t_l − x'b), F logistic or normal. A constant column is taken up by the thresholds t.
3. Both by Newton's ascent (`ascent`) with its guard where outcomes are separated; draws from the large-sample law.
   Drawn thresholds that cross are pushed up to the one below: the level between has no chance in that draw.
4. Levels that do not occur have no chance. Outcomes are codes 0, 1, …

Reference: McCullagh 1980 for the ordered kind. What it does not promise: fits of more than 3000 parameters (refused).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from discreet.check import one_of
from discreet.errors import ArgumentError
from discreet.randomness import Generator
from discreet.stats.ascent import GUARDED, Point, climb, standardize
from discreet.stats.design import Design, settle, settled_outcome
from discreet.stats.laws import logistic_cdf, normal_cdf, normal_density, normal_quantile

__all__ = ["CategoriesFit", "CategoriesModel", "OrderedFit", "OrderedModel", "fit_categories", "fit_ordered"]

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
_PARAMETERS_AT_MOST = 3000
_TINY = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CategoriesModel:
    """One value of the parameters: a line of coefficients for each level that occurs but the first."""

    occurring: Whole
    coefficients: Floats

    def chances(self, matrix: Floats) -> Floats:
        """The chance of each occurring level in each row."""
        return _softmax(matrix, self.coefficients)

    def simulate(self, matrix: Floats, generator: Generator) -> Floats:
        """One code drawn for each row."""
        return self.occurring[_pick(self.chances(matrix), generator)].astype(float)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CategoriesFit:
    """A multinomial fit; `coefficients` by level and column, `covariance` of them laid end to end."""

    names: tuple[str, ...]
    occurring: Whole
    coefficients: Floats
    covariance: Floats
    records: int
    aliased: tuple[str, ...]
    notes: tuple[str, ...]
    guarded: bool
    root: Floats

    @property
    def model(self) -> CategoriesModel:
        """The fit itself as the parameters."""
        return CategoriesModel(occurring=self.occurring, coefficients=self.coefficients)

    def draw(self, generator: Generator) -> CategoriesModel:
        """Parameters drawn from the large-sample posterior."""
        step = (self.root @ generator.standard_normal(self.root.shape[1])).reshape(self.coefficients.shape)
        return CategoriesModel(occurring=self.occurring, coefficients=self.coefficients + step)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrderedModel:
    """One value of the parameters: coefficients for all columns, and rising thresholds between occurring levels."""

    link: Literal["logit", "probit"]
    occurring: Whole
    coefficients: Floats
    thresholds: Floats

    def chances(self, matrix: Floats) -> Floats:
        """The chance of each occurring level in each row."""
        below = _cdf(self.link, self.thresholds[None, :] - (matrix @ self.coefficients)[:, None])
        return np.diff(below, axis=1, prepend=0.0, append=1.0)

    def simulate(self, matrix: Floats, generator: Generator) -> Floats:
        """One code drawn for each row."""
        return self.occurring[_pick(self.chances(matrix), generator)].astype(float)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrderedFit:
    """An ordered fit; `covariance` is of the coefficients and, after them, the thresholds."""

    names: tuple[str, ...]
    link: Literal["logit", "probit"]
    occurring: Whole
    coefficients: Floats
    thresholds: Floats
    covariance: Floats
    records: int
    aliased: tuple[str, ...]
    notes: tuple[str, ...]
    guarded: bool
    root: Floats

    @property
    def model(self) -> OrderedModel:
        """The fit itself as the parameters."""
        return self._model(np.zeros(self.root.shape[0]))

    def draw(self, generator: Generator) -> OrderedModel:
        """Parameters drawn from the large-sample posterior."""
        return self._model(self.root @ generator.standard_normal(self.root.shape[1]))

    def _model(self, step: Floats) -> OrderedModel:
        cut = len(self.coefficients)
        return OrderedModel(
            link=self.link,
            occurring=self.occurring,
            coefficients=self.coefficients + step[:cut],
            thresholds=np.maximum.accumulate(self.thresholds + step[cut:]),
        )


def fit_categories(
    matrix: npt.ArrayLike,
    outcome: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> CategoriesFit:
    """Fit a multinomial logit to codes."""
    design = settle(matrix, weights=weights, names=names)
    occurring, y = _coded(outcome, design)
    others, columns = max(len(occurring) - 1, 0), len(design.kept)
    _bounded(others * columns)
    basis = standardize(design)
    hit = np.equal(y[:, None], np.arange(1, others + 1)[None, :]).astype(float)

    def curve(at: Floats) -> Point:
        chances = _softmax(basis.matrix, at.reshape(others, columns))
        slope = (hit - chances[:, 1:]) * design.weights[:, None]
        information = np.empty((others, columns, others, columns))
        for a in range(others):
            for b in range(a + 1):
                bend = design.weights * chances[:, a + 1] * ((a == b) - chances[:, b + 1])
                block = basis.matrix.T @ (basis.matrix * bend[:, None])
                information[a, :, b, :] = information[b, :, a, :] = block
        value = np.log(np.maximum(chances[np.arange(len(y)), y], _TINY))
        return Point(
            value=float(design.weights @ value),
            gradient=(slope.T @ basis.matrix).ravel(),
            information=information.reshape(others * columns, others * columns),
        )

    there = basis.matrix[design.weights > 0]
    peak = climb(
        curve,
        np.zeros(others * columns),
        np.tile(basis.precision, others),
        lambda step: float(np.abs(there @ step.reshape(others, columns).T).max(initial=0)),
    )
    inner = peak.root.reshape(others, columns, others * columns)
    root = (
        np.stack([design.spread(basis.back @ one) for one in inner]) if others else np.zeros((0, len(design.names), 0))
    )
    flat = root.reshape(others * len(design.names), others * columns)
    found = [design.spread(basis.back @ one) for one in peak.at.reshape(others, columns)]
    return CategoriesFit(
        names=design.names,
        occurring=occurring,
        coefficients=np.array(found).reshape(others, len(design.names)),
        covariance=flat @ flat.T,
        records=design.records,
        aliased=design.aliased,
        notes=(*design.notes, *((GUARDED,) if peak.guarded else ())),
        guarded=peak.guarded,
        root=flat,
    )


def fit_ordered(
    matrix: npt.ArrayLike,
    outcome: npt.ArrayLike,
    *,
    link: Literal["logit", "probit"] = "logit",
    weights: npt.ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> OrderedFit:
    """Fit an ordered logit or probit to codes in their order."""
    one_of("link", link, ("logit", "probit"))
    plain = settle(matrix, weights=weights, names=names)
    # A column of ones in front takes out whatever the thresholds would explain as well.
    design = settle(np.column_stack([np.ones(len(plain.matrix)), plain.matrix]), weights=plain.weights)
    kept = [at - 1 for at in design.kept if at > 0]
    occurring, y = _coded(outcome, plain)
    cuts = max(len(occurring) - 1, 0)
    _bounded(len(kept) + cuts)
    basis = standardize(design)
    slopes = basis.matrix[:, 1:]
    heavy = plain.weights
    peak = climb(
        lambda at: _ordered_point(link, slopes, y, heavy, at, cuts),
        np.concatenate([np.zeros(len(kept)), _start(link, y, heavy, cuts)]),
        np.concatenate([basis.precision[1:], np.zeros(cuts)]),
        lambda step: float(
            np.abs(slopes @ step[: len(kept)]).max(initial=0) + np.abs(step[len(kept) :]).max(initial=0)
        ),
    )
    # t_l − z'g with z = (x − m)/s is (t_l + m'b) − x'b with b = g/s; −m/s stands in the first line of `back`.
    whole = len(plain.names)
    back = np.zeros((whole + cuts, len(kept) + cuts))
    back[kept, np.arange(len(kept))] = basis.back.diagonal()[1:]
    back[whole:, : len(kept)] = -basis.back[0, 1:]
    back[whole:, len(kept) :] = np.eye(cuts)
    at, root = back @ peak.at, back @ peak.root
    aliased = tuple(name for place, name in enumerate(plain.names) if place not in kept)
    loose = [
        name for name, column in zip(plain.names, plain.matrix.T, strict=True) if name in aliased and np.ptp(column)
    ]
    notes = (f"left out as explained by the others: {', '.join(loose)}",) if loose else ()
    return OrderedFit(
        names=plain.names,
        link=link,
        occurring=occurring,
        coefficients=at[:whole],
        thresholds=at[whole:],
        covariance=root @ root.T,
        records=plain.records,
        aliased=aliased,
        notes=(*notes, *((GUARDED,) if peak.guarded else ())),
        guarded=peak.guarded,
        root=root,
    )


def _ordered_point(link: str, x: Floats, y: Whole, heavy: Floats, at: Floats, cuts: int) -> Point:
    """Height, slope and curvature of the ordered likelihood; nothing below thresholds that cross."""
    slopes, thresholds = at[: x.shape[1]], at[x.shape[1] :]
    size = len(at)
    if (np.diff(thresholds) <= 0).any():
        return Point(value=-np.inf, gradient=np.zeros(size), information=np.zeros((size, size)))
    ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
    predictor = x @ slopes
    upper, lower = ends[y + 1] - predictor, ends[y] - predictor
    chance = np.maximum(
        np.where(lower > 0, _cdf(link, -lower) - _cdf(link, -upper), _cdf(link, upper) - _cdf(link, lower)), _TINY
    )
    (high, high_bent), (low, low_bent) = _density(link, upper), _density(link, lower)
    high, low = high / chance, low / chance
    aa = heavy * (np.square(high) - high_bent / chance)
    bb = heavy * (np.square(low) + low_bent / chance)
    ab = -heavy * high * low
    above = np.equal(y[:, None], np.arange(cuts)[None, :]).astype(float)
    below = np.equal(y[:, None], np.arange(1, cuts + 1)[None, :]).astype(float)
    information = np.empty((size, size))
    cut = x.shape[1]
    information[:cut, :cut] = x.T @ (x * (aa + 2 * ab + bb)[:, None])
    cross = -(x.T @ (above * (aa + ab)[:, None] + below * (ab + bb)[:, None]))
    information[:cut, cut:], information[cut:, :cut] = cross, cross.T
    mixed = above.T @ (below * ab[:, None])
    information[cut:, cut:] = np.diag(above.T @ aa + below.T @ bb) + mixed + mixed.T
    up, down = heavy * high, heavy * low
    gradient = np.concatenate([x.T @ (down - up), above.T @ up - below.T @ down])
    return Point(value=float(heavy @ np.log(chance)), gradient=gradient, information=information)


def _start(link: str, y: Whole, heavy: Floats, cuts: int) -> Floats:
    """Thresholds that give the shares of the levels when no column matters."""
    shares = np.cumsum(np.bincount(y, weights=heavy, minlength=cuts + 1))[:-1] / heavy.sum()
    return normal_quantile(shares) if link == "probit" else np.asarray(np.log(shares / (1 - shares)))


def _cdf(link: str, x: Floats) -> Floats:
    return normal_cdf(x) if link == "probit" else logistic_cdf(x)


def _density(link: str, x: Floats) -> tuple[Floats, Floats]:
    """The density and its slope, both 0 at the ends."""
    if link == "probit":
        density = normal_density(x)
        return density, -np.where(np.isfinite(x), x, 0.0) * density
    chance = logistic_cdf(x)
    density = chance * logistic_cdf(-x)
    return density, density * (1 - 2 * chance)


def _softmax(matrix: Floats, coefficients: Floats) -> Floats:
    predictor = np.column_stack([np.zeros(len(matrix)), matrix @ coefficients.T])
    raised = np.exp(predictor - predictor.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _pick(chances: Floats, generator: Generator) -> Whole:
    """One place in each row, drawn with these chances."""
    steps = np.cumsum(chances, axis=1)
    drawn = generator.random(len(chances))[:, None] * steps[:, -1:]
    return np.asarray(np.minimum((drawn >= steps).sum(axis=1), chances.shape[1] - 1), dtype=np.int64)


def _coded(outcome: npt.ArrayLike, design: Design) -> tuple[Whole, Whole]:
    """The codes that occur among records with weight, and each record's place among them."""
    y = settled_outcome(outcome, design)
    if (y < 0).any() or (y % 1).any():
        raise ArgumentError("outcome", found="no codes", right="whole numbers from 0 on", step="give codes of levels")
    occurring = np.unique(y[design.weights > 0]).astype(np.int64)
    places: Whole = np.searchsorted(occurring, y.astype(np.int64))
    return occurring, np.minimum(places, len(occurring) - 1)


def _bounded(parameters: int) -> None:
    if parameters > _PARAMETERS_AT_MOST:
        raise ArgumentError(
            "outcome",
            found=f"levels and columns that make {parameters} coefficients",
            right=f"at most {_PARAMETERS_AT_MOST} can be fitted together",
            step="merge rare levels, leave columns out, or use trees",
        )
