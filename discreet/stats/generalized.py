"""Logit, probit and Poisson fits with a posterior: fit, draw parameters, simulate outcomes.

1. The peak of the weighted likelihood by Newton's ascent (`ascent`), with a stated guard where outcomes are separated.
2. The covariance is the inverse of the observed information (with the prior's precision where the guard acts).
3. A posterior draw is b* ~ N(b, covariance): the large-sample law.

`outcome` is 0 or 1 for logit and probit, a count for Poisson. Weights multiply the likelihood of a record; survey
weights are brought to a mean of 1 before they come here. `scores` are the weighted slopes of the likelihood along each
record's predictor and `bread` is the covariance: linearised variances are made of them. They are as confidential as the
records. Reference: McCullagh and Nelder 1989. What it does not promise: a good law of the parameters in small samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from discreet.check import one_of
from discreet.errors import ArgumentError
from discreet.randomness import Generator
from discreet.stats.ascent import GUARDED, Point, climb, standardize
from discreet.stats.design import Design, settle, settled_outcome
from discreet.stats.laws import logistic_cdf, normal_cdf, normal_log_cdf

__all__ = ["Family", "GeneralizedFit", "GeneralizedModel", "fit_generalized"]

Floats = npt.NDArray[np.float64]
# exp of it is 10^12: counts beyond are not simulated, so that no draw leaves the whole numbers of a float.
_LOG_AT_MOST = 27.631


class Family(StrEnum):
    """What the outcome is and how its mean hangs on the predictor."""

    LOGIT = "logit"
    PROBIT = "probit"
    POISSON = "poisson"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GeneralizedModel:
    """One value of the parameters: coefficients for all columns."""

    family: Family
    coefficients: Floats

    def mean(self, matrix: Floats) -> Floats:
        """The chance of a 1, or the expected count, of each row."""
        predictor = np.asarray(matrix @ self.coefficients, dtype=float)
        if self.family is Family.POISSON:
            return np.asarray(np.exp(np.minimum(predictor, _LOG_AT_MOST)))
        return logistic_cdf(predictor) if self.family is Family.LOGIT else normal_cdf(predictor)

    def simulate(self, matrix: Floats, generator: Generator) -> Floats:
        """One outcome drawn for each row."""
        mean = self.mean(matrix)
        if self.family is Family.POISSON:
            return generator.poisson(mean).astype(float)
        return (generator.random(len(mean)) < mean).astype(float)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GeneralizedFit:
    """A fit: coefficients and covariance for all columns, 0 for the aliased ones."""

    names: tuple[str, ...]
    family: Family
    coefficients: Floats
    covariance: Floats
    records: int
    aliased: tuple[str, ...]
    notes: tuple[str, ...]
    guarded: bool
    root: Floats
    scores: Floats

    @property
    def df(self) -> int:
        """Records less coefficients."""
        return max(self.records - len(self.names) + len(self.aliased), 0)

    @property
    def bread(self) -> Floats:
        """The inverse of the information."""
        return self.covariance

    @property
    def model(self) -> GeneralizedModel:
        """The fit itself as the parameters: improper synthesis."""
        return GeneralizedModel(family=self.family, coefficients=self.coefficients)

    def draw(self, generator: Generator) -> GeneralizedModel:
        """Parameters drawn from the large-sample posterior: proper synthesis."""
        step = self.root @ generator.standard_normal(self.root.shape[1])
        return GeneralizedModel(family=self.family, coefficients=self.coefficients + step)


def fit_generalized(
    matrix: npt.ArrayLike,
    outcome: npt.ArrayLike,
    *,
    family: Family | str = Family.LOGIT,
    weights: npt.ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> GeneralizedFit:
    """Fit by maximum likelihood, under a weak prior where that has no finite answer."""
    family = Family(one_of("family", family, tuple(Family)))
    design = settle(matrix, weights=weights, names=names)
    y = settled_outcome(outcome, design)
    _check(family, y)
    basis = standardize(design)
    height = _HEIGHTS[family]

    def curve(at: Floats) -> Point:
        value, slope, bend = height(basis.matrix @ at, y)
        weighted = basis.matrix * (design.weights * bend)[:, None]
        return Point(
            value=float(design.weights @ value),
            gradient=basis.matrix.T @ (design.weights * slope),
            information=basis.matrix.T @ weighted,
        )

    start = np.zeros(basis.matrix.shape[1])
    if family is Family.POISSON:
        start = np.asarray(np.linalg.lstsq(basis.matrix, np.log(y + 0.5), rcond=None)[0])
    there = basis.matrix[design.weights > 0]
    peak = climb(curve, start, basis.precision, lambda step: float(np.abs(there @ step).max()))
    root = design.spread(basis.back @ peak.root)
    _, slope, _ = height(basis.matrix @ peak.at, y)
    return GeneralizedFit(
        names=design.names,
        family=family,
        coefficients=design.spread(basis.back @ peak.at),
        covariance=root @ root.T,
        records=design.records,
        aliased=design.aliased,
        notes=_notes(design, guarded=peak.guarded),
        guarded=peak.guarded,
        root=root,
        scores=design.weights * slope,
    )


def _notes(design: Design, *, guarded: bool) -> tuple[str, ...]:
    return (*design.notes, *((GUARDED,) if guarded else ()))


def _check(family: Family, y: Floats) -> None:
    counts = family is Family.POISSON
    if (y < 0).any() or (y % 1).any() or (not counts and (y > 1).any()):
        raise ArgumentError(
            "outcome",
            found=f"values that {family.value} does not know",
            right="whole numbers from 0 on" if counts else "0 or 1 for each record",
            step="code the outcome so",
        )


def _logit(predictor: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Log-likelihood, its slope and its turned curvature along the predictor."""
    chance = logistic_cdf(predictor)
    return y * predictor - np.logaddexp(0, predictor), y - chance, chance * (1 - chance)


def _probit(predictor: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    sign = 2 * y - 1
    along = sign * predictor
    log_chance = normal_log_cdf(along)
    ratio = np.exp(-0.5 * np.square(along) - 0.5 * np.log(2 * np.pi) - log_chance)
    return log_chance, sign * ratio, ratio * (ratio + along)


def _poisson(predictor: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    mean = np.exp(np.minimum(predictor, 500.0))  # no overflow on the way; the ascent turns back from there
    return y * predictor - mean, y - mean, mean


_HEIGHTS: dict[Family, Callable[[Floats, Floats], tuple[Floats, Floats, Floats]]] = {
    Family.LOGIT: _logit,
    Family.PROBIT: _probit,
    Family.POISSON: _poisson,
}
