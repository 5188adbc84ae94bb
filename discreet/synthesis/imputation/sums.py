"""Columns that others add up to: whoever sees the parts of a sum reads the sum, however it was replaced.

1. A number, or a column of two values, is told when least squares on the other ones leave no row more than a thousandth
   of the range of its middle half: sums, differences, changed units, all of them rounded.
2. Up to 10,000 rows without gaps are looked at, and at least 20 more than twice the columns; fewer show nothing.

What it does not promise: that products, ratios and tables of two columns are found out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.stats.linear import fit_linear
from discreet.synthesis.imputation.columns import Column, Kind

__all__ = ["parts_of"]

_ADDED = (Kind.CONTINUOUS, Kind.BINARY)
_ROWS_AT_MOST, _ROWS_MORE, _LEFT = 10_000, 20, 1e-3


def parts_of(column: Column, others: Sequence[Column]) -> tuple[str, ...]:
    """The names of columns that a column is the sum of, each with a factor; none where there is no such sum."""
    parts = [one for one in others if one.kind in _ADDED]
    if column.kind not in _ADDED or not parts:
        return ()
    values = np.array([column.values, *(one.values for one in parts)])
    values = values[:, :: max(1, values.shape[1] // _ROWS_AT_MOST)]
    values = values[:, np.isfinite(values).all(axis=0)]
    if values.shape[1] < 2 * len(parts) + _ROWS_MORE:
        return ()
    values = values - values.mean(axis=1, keepdims=True)
    outcome, *found = values / np.where(values.any(axis=1, keepdims=True), values.std(axis=1, keepdims=True), 1)
    # The middle half of the values: a single outlier that two columns share does not make them look alike.
    spread = float(np.subtract(*np.quantile(outcome, [0.75, 0.25]))) or 1.0
    fit = fit_linear(np.column_stack(found), outcome)
    left = np.abs(outcome - np.column_stack(found) @ fit.coefficients)
    if not outcome.any() or left.max() > _LEFT * spread:
        return ()
    return tuple(one.name for one, part in zip(parts, fit.coefficients, strict=True) if abs(part) > _LEFT)
