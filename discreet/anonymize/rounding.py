"""Controlled rounding: every cell becomes a multiple of a base, and the table still adds up.

1. Each innermost cell is rounded down or up to a multiple of the base, to be chosen.
2. Every margin must then be one of its own two neighbouring multiples; where no choice does that (it can happen from
   three dimensions on) margins may go one multiple farther, then two, and so on.
3. Of all choices the one with the least sum of distances is found by a mixed-integer program.

Given:   a table of values of 0 or more, and a public base.
Promise: published cells add up exactly, are multiples of the base, and lie less than one base from the truth (margins
         perhaps `farther` bases more); cells that are multiples stay as they are where `farther` is 0.
Because: these are the program's constraints.
Tested:  test_rounding_is_the_best_of_all_choices, test_rounded_tables_add_up.

What breaks it: rounding to several bases, or of several tables that share cells: each leaves an interval, and intervals
intersect (test_two_roundings_leave_one_number). There is no chance in it: the same table is always rounded alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from discreet.anonymize.crosstable import CrossTable, Tensor
from discreet.anonymize.records import Vector
from discreet.check import positive
from discreet.errors import MissingExtraError, NoResultError

__all__ = ["Rounded", "round_table"]

_FARTHEST = 3


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Rounded:
    """The rounded values, how far they lie from the truth together, and how much farther margins had to go."""

    values: Tensor
    distance: float
    farther: int


def round_table(table: CrossTable, base: float, *, seconds: float = 60) -> Rounded:
    """The table rounded to multiples of the base, within a time for each try."""
    size = float(positive("base", base))
    optimize, sparse = _scipy()
    sums = reduce(sparse.kron, [sparse.csr_matrix(one.below.astype(np.float64)) for one in table.dimensions]).tocsr()
    truth = table.values.reshape(-1) / size
    leaves = table.leaf_values().reshape(-1) / size
    floor = np.floor(leaves + 1e-9)
    open_ = np.flatnonzero(leaves - floor > 1e-9)
    start: Vector = sums @ floor
    chosen = sums[:, open_]
    for farther in range(_FARTHEST + 1):
        low, high = np.floor(truth + 1e-9) - farther, np.ceil(truth - 1e-9) + farther
        solved = _solve(optimize, sparse, chosen, start, truth, low, high, seconds)
        if solved is not None:
            values = (start + chosen @ solved) * size
            return Rounded(
                values=values.reshape(table.shape),
                distance=float(np.abs(values - table.values.reshape(-1)).sum()),
                farther=farther,
            )
    raise NoResultError(
        "controlled rounding",
        found="no rounding that adds up was found in time",
        right="margins lie within a few bases of the truth",
        step="allow more seconds, or take a smaller table",
    )


def _solve(
    optimize: Any, sparse: Any, chosen: Any, start: Vector, truth: Vector, low: Vector, high: Vector, seconds: float
) -> Vector | None:
    """Which innermost cells to round up, for the least sum of distances. One distance for each cell that can move."""
    moving = np.flatnonzero(np.diff(chosen.indptr) > 0)
    size, number = chosen.shape[1], len(moving)
    if not size:
        return np.zeros(0)
    rows, gap = chosen[moving], truth[moving] - start[moving]
    far, near = sparse.eye(number), sparse.csr_matrix((number, number))
    result = optimize.milp(
        np.concatenate([np.zeros(size), np.ones(number)]),
        integrality=np.concatenate([np.ones(size), np.zeros(number)]),
        bounds=optimize.Bounds(np.zeros(size + number), np.concatenate([np.ones(size), np.full(number, np.inf)])),
        constraints=[
            optimize.LinearConstraint(
                sparse.hstack([rows, near]),
                (low - start)[moving],
                (high - start)[moving],
            ),
            optimize.LinearConstraint(sparse.hstack([rows, -far]), -np.inf, gap),
            optimize.LinearConstraint(sparse.hstack([rows, far]), gap, np.inf),
        ],
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    return None if result.x is None else np.round(result.x[:size])


def _scipy() -> tuple[Any, Any]:
    try:
        from scipy import optimize, sparse
    except ImportError:
        raise MissingExtraError("controlled rounding", library="scipy", extra="attacks") from None
    return optimize, sparse
