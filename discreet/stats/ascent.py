"""Newton's ascent of a concave likelihood, with a guard where it has no peak.

1. Columns are brought to mean 0 and standard deviation 1 (where a constant column is there to take the means up), so
   that steps and priors mean the same for all units. `Basis` leads back.
2. Newton's steps, halved until the likelihood rises, end when no record's linear predictor moves by more than 1e-6.
3. Perfect or partial separation has no peak: the predictors of some records move on for ever, by a step that shrinks
   slower than 1/k. No end within 25 steps is taken for that, and the ascent is repeated with a normal prior of mean 0
   and standard deviation 2.5 on each standardised coefficient, 10 on the constant. Fits say so in their notes.

Reference for the size of the prior: Gelman, Jakulin, Pittau and Su 2008, there with the longer tails of a Cauchy law.
What it does not promise: that the prior is yours. It bounds what the data leave unbounded, and is seen where it acts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.stats.design import Design, factor

__all__ = ["GUARDED", "Basis", "Peak", "Point", "climb", "standardize"]

Floats = npt.NDArray[np.float64]
GUARDED = "the outcome is separated or constant: a normal prior (mean 0, standardised sd 2.5) bounds the coefficients"
_STEPS, _GUARDED_STEPS, _STILL = 25, 200, 1e-6
_PRIOR, _CONSTANT_PRIOR = 2.5, 10.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Basis:
    """Standardised columns, the way back to coefficients of the raw ones, and precisions of the guarding prior."""

    matrix: Floats
    back: Floats
    precision: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Point:
    """A place on the likelihood: its height, its slope and its curvature with the sign turned."""

    value: float
    gradient: Floats
    information: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Peak:
    """Where the ascent ended, and a root of the inverse information there."""

    at: Floats
    root: Floats
    guarded: bool


def standardize(design: Design) -> Basis:
    """The kept columns of a design, standardised over the records that have weight."""
    used = design.used
    there = used if design.weights.all() else used[design.weights > 0]
    mean, spread = there.mean(axis=0), there.std(axis=0)
    constant = np.ptp(there, axis=0) == 0
    spread = np.where(constant, np.abs(mean), spread)
    back = np.diag(1 / spread)
    if constant.any():
        at = int(np.flatnonzero(constant)[0])
        back[at] = np.where(constant, back[at], -mean / (spread * mean[at]))
    precision = np.where(constant, _CONSTANT_PRIOR, _PRIOR) ** -2.0
    return Basis(matrix=used @ back, back=back, precision=precision)


def climb(curve: Callable[[Floats], Point], start: Floats, precision: Floats, reach: Callable[[Floats], float]) -> Peak:
    """The peak of the curve; under the prior where it has none. `reach` is how far a step moves any record."""
    found = _ascend(curve, start, np.zeros_like(precision), reach, _STEPS)
    guarded = found is None
    if found is None:
        found = _ascend(curve, start, precision, reach, _GUARDED_STEPS)
    if found is None:  # concave and bounded: only numbers beyond floats end here
        raise ArithmeticError("no peak of a penalised likelihood")
    at, information = found
    return Peak(at=at, root=_inverse_root(information), guarded=guarded)


def _ascend(
    curve: Callable[[Floats], Point], start: Floats, precision: Floats, reach: Callable[[Floats], float], steps: int
) -> tuple[Floats, Floats] | None:
    def height(at: Floats) -> Point:
        point = curve(at)
        return Point(
            value=point.value - float(precision @ np.square(at)) / 2,
            gradient=point.gradient - precision * at,
            information=point.information + np.diag(precision),
        )

    at, here = start, height(start)
    for _ in range(steps):
        step = _newton(here)
        if step is None:
            return None
        for _ in range(40):
            there = height(at + step)
            if there.value >= here.value - 1e-10 * (1 + abs(here.value)):
                break
            step = step / 2
        at, here = at + step, there
        if reach(step) < _STILL:
            return at, here.information
    return None


def _newton(here: Point) -> Floats | None:
    """The full step, None where the information has no inverse to working precision."""
    try:
        lower = np.linalg.cholesky(here.information)
    except np.linalg.LinAlgError:
        return None
    step = np.linalg.solve(lower.T, np.linalg.solve(lower, here.gradient))
    return np.asarray(step) if np.isfinite(step).all() else None


def _inverse_root(information: Floats) -> Floats:
    """R with R R' the inverse of the information."""
    root = factor(information)
    return np.asarray(np.linalg.inv(root).T)
