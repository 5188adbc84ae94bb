"""Least squares with a posterior: fit, draw parameters, simulate outcomes.

1. b = (X'WX)⁻¹ X'Wy by an orthogonal factorisation of √W X; aliased columns are left out (`design`).
2. s² = Σ w (y − Xb)² / (n − p), covariance s² (X'WX)⁻¹. Weights are precisions: y has variance σ²/w. Survey weights
   are brought to a mean of 1 before they come here.
3. A posterior draw under the flat prior is exact: σ*² = SSE / χ²(n − p), b* ~ N(b, σ*² (X'WX)⁻¹).
4. With no residual degree of freedom (n ≤ p) the spread is taken as 0 and noted: nothing is left to tell it by.

Terms: n records of weight above 0, p columns that are not aliased. Reference: Gelman et al., Bayesian Data Analysis,
14.2. `scores` are w (y − Xb), one a record, and `bread` is (X'WX)⁻¹: linearised variances are made of them (`survey`).
They are as confidential as the records. What it does not promise: anything for outcomes that are not normal around the
line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.randomness import Generator
from discreet.stats.design import settle, settled_outcome

__all__ = ["LinearFit", "LinearModel", "fit_linear"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearModel:
    """One value of the parameters: coefficients for all columns, and the spread around the line."""

    coefficients: Floats
    spread: float

    def mean(self, matrix: Floats) -> Floats:
        """The expected outcome of each row."""
        return np.asarray(matrix @ self.coefficients)

    def simulate(self, matrix: Floats, generator: Generator) -> Floats:
        """One outcome drawn for each row."""
        return self.mean(matrix) + self.spread * generator.standard_normal(len(matrix))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearFit:
    """A least-squares fit: coefficients and covariance for all columns, 0 for the aliased ones."""

    names: tuple[str, ...]
    coefficients: Floats
    covariance: Floats
    spread: float
    df: int
    records: int
    aliased: tuple[str, ...]
    notes: tuple[str, ...]
    root: Floats
    scores: Floats

    @property
    def bread(self) -> Floats:
        """The inverse of X'WX."""
        return np.asarray(self.root @ self.root.T)

    @property
    def model(self) -> LinearModel:
        """The fit itself as the parameters: improper synthesis."""
        return LinearModel(coefficients=self.coefficients, spread=self.spread)

    def draw(self, generator: Generator) -> LinearModel:
        """Parameters drawn from the posterior: proper synthesis."""
        if not self.df:
            return self.model
        spread = self.spread * float(np.sqrt(self.df / generator.chisquare(self.df)))
        step = self.root @ generator.standard_normal(self.root.shape[1])
        return LinearModel(coefficients=self.coefficients + spread * step, spread=spread)


def fit_linear(
    matrix: npt.ArrayLike,
    outcome: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> LinearFit:
    """Fit by least squares."""
    design = settle(matrix, weights=weights, names=names)
    y = settled_outcome(outcome, design)
    scale = np.sqrt(design.weights)
    orthogonal, triangle = np.linalg.qr(design.used * scale[:, None])
    coefficients = np.linalg.solve(triangle, orthogonal.T @ (y * scale))
    inverse = np.linalg.inv(triangle)
    residual = (y - design.used @ coefficients) * scale
    df = max(design.records - len(design.kept), 0)
    spread = float(np.sqrt(residual @ residual / df)) if df else 0.0
    notes = list(design.notes)
    if not df:
        notes.append("no more records than coefficients: the spread is taken as 0")
    return LinearFit(
        names=design.names,
        coefficients=design.spread(coefficients),
        covariance=design.spread_square(spread**2 * inverse @ inverse.T),
        spread=spread,
        df=df,
        records=design.records,
        aliased=design.aliased,
        notes=tuple(notes),
        root=design.spread(inverse),
        scores=residual * scale,
    )
