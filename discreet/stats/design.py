"""A design: the numbers a regression stands on, checked once, with the columns that add nothing left out by name.

1. Rows are records and columns are predictors; the caller adds the column of ones.
2. A column that the columns before it already explain, up to one part in ten million, is aliased: it is left out, its
   coefficient is 0 and its variance is 0. So the first of two equal columns stays, and a constant beside the intercept
   goes. The triangle R of the matrix (X = QR) has the same dependencies as the matrix and is small: it is searched.
3. Weights of 0 leave a record out.

What it does not promise: that what stays is well conditioned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.errors import ArgumentError

__all__ = ["Design", "factor", "settle", "settled_outcome"]

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
_ALIASED = 1e-7


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """A checked matrix of predictors with the weights of its rows."""

    matrix: Floats
    weights: Floats
    names: tuple[str, ...]
    kept: tuple[int, ...]

    def __post_init__(self) -> None:
        rows, columns = self.matrix.shape
        if len(self.weights) != rows or len(self.names) != columns or not self.kept:
            raise ArgumentError(
                "design",
                found=f"{rows} by {columns} numbers, {len(self.weights)} weights, {len(self.names)} names",
                right="one weight a row, one name a column, and a column that varies or is not 0",
                step="give one entry each",
            )

    @property
    def used(self) -> Floats:
        """The columns that are not aliased."""
        return self.matrix if len(self.kept) == self.matrix.shape[1] else self.matrix[:, list(self.kept)]

    @property
    def aliased(self) -> tuple[str, ...]:
        """Names of the columns left out."""
        return tuple(name for at, name in enumerate(self.names) if at not in set(self.kept))

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence on the columns left out, if any."""
        return (f"left out as explained by the others: {', '.join(self.aliased)}",) if self.aliased else ()

    @property
    def records(self) -> int:
        """Rows with a weight above 0."""
        return int(np.count_nonzero(self.weights))

    def spread(self, coefficients: Floats) -> Floats:
        """Coefficients of the kept columns in the places of all columns, 0 elsewhere."""
        whole = np.zeros((len(self.names), *coefficients.shape[1:]))
        whole[list(self.kept)] = coefficients
        return whole

    def spread_square(self, covariance: Floats) -> Floats:
        """A covariance of the kept columns in the places of all columns, 0 elsewhere."""
        whole = np.zeros((len(self.names), len(self.names)))
        whole[np.ix_(self.kept, self.kept)] = covariance
        return whole


def settle(
    matrix: npt.ArrayLike, *, weights: npt.ArrayLike | None = None, names: Sequence[str] | None = None
) -> Design:
    """Check a matrix of predictors and its weights, and find the aliased columns."""
    numbers = np.asarray(matrix, dtype=float)
    if numbers.ndim != 2 or 0 in numbers.shape:
        raise ArgumentError(
            "design",
            found=f"numbers of shape {numbers.shape}",
            right="a matrix of at least one record and one column",
            step="give records as rows and predictors as columns",
        )
    called = tuple(names) if names is not None else tuple(f"column {at + 1}" for at in range(numbers.shape[1]))
    for name, column in zip(called, numbers.T, strict=False):
        if not np.isfinite(column).all():
            raise ArgumentError(
                f"predictor {name!r}",
                found="missing or infinite numbers",
                right="a regression needs finite ones",
                step="impute the missing, or leave these records out",
            )
    heavy = np.ones(len(numbers)) if weights is None else np.asarray(weights, dtype=float)
    if heavy.shape != (len(numbers),) or not np.isfinite(heavy).all() or (heavy < 0).any() or not heavy.any():
        raise ArgumentError(
            "weights",
            found="weights that are negative, not finite, all 0 or of another number than the records",
            right="one finite weight of 0 or more for each record",
            step="give one weight a record",
        )
    triangle: Floats = np.asarray(np.linalg.qr(numbers if heavy.all() else numbers[heavy > 0], mode="r"), dtype=float)
    return Design(matrix=numbers, weights=heavy, names=called, kept=_independent(triangle))


def settled_outcome(outcome: npt.ArrayLike, design: Design) -> Floats:
    """The outcome as finite numbers, one for each record."""
    y = np.asarray(outcome, dtype=float)
    if y.shape != (len(design.matrix),) or not np.isfinite(y).all():
        raise ArgumentError(
            "outcome",
            found="missing or infinite numbers, or another number of them than records",
            right="one finite number for each record",
            step="leave out records without an outcome",
        )
    return y


def factor(symmetric: Floats) -> Floats:
    """A root R of a covariance, R R' = covariance, also where rounding has left it slightly below zero."""
    try:
        return np.asarray(np.linalg.cholesky(symmetric), dtype=np.float64)
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh((symmetric + symmetric.T) / 2)
        return np.asarray(vectors * np.sqrt(np.clip(values, 0, None)))


def _independent(triangle: Floats) -> tuple[int, ...]:
    """Columns that those before them do not explain: Gram-Schmidt, done twice against rounding."""
    rows, columns = triangle.shape
    basis = np.empty((rows, min(rows, columns)))
    kept: list[int] = []
    for at in range(columns):
        length = np.linalg.norm(triangle[:, at])
        if length == 0 or len(kept) == rows:
            continue
        left = triangle[:, at] / length
        found = basis[:, : len(kept)]
        for _ in range(2):
            left = left - found @ (found.T @ left)
        size = np.linalg.norm(left)
        if size > _ALIASED:
            basis[:, len(kept)] = left / size
            kept.append(at)
    return tuple(kept)
