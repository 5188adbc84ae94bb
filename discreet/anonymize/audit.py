"""Audit: what an outsider can compute of the hidden cells of a published table, by linear programming.

The outsider knows the published cells, that values add up over the dimensions' trees, and that none is below 0. The
tables that agree with all of this form a polytope; the least and the largest value of a cell over it are exact bounds
of what can be known (`bounds`). This is the intruder's own computation, so it is also the attack.

`audit` asks whether every primary cell can lie as far off as it must. One table that has the cell there is proof
enough, so that one program pushes many cells at once; only those it leaves are bounded one by one.

Given:   a table, which cells are hidden, what each primary cell needs.
Promise: `safe` is true just when each primary cell's bounds reach its value plus and minus what it needs (0 at least).
Because: a cell counts as protected only when a feasible table shows it, and as open only when its exact bound says so.
Tested:  test_audit_agrees_with_brute_force, test_audit_catches_a_pattern_without_complements.

What it does not know: other tables, contributors who know their own part (see `cells`), whole numbers (they can only
narrow the bounds: a count between 1.2 and 1.9 does not exist).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from discreet.anonymize.crosstable import CrossTable, Tensor
from discreet.anonymize.records import Codes, Flags, Vector
from discreet.errors import CheckFailedError, MissingExtraError

__all__ = ["Audit", "audit", "bounds"]

_NEAR = 1e-7
_IDLE_ROUNDS = 4
_MIXER = 2_654_435_761


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Audit:
    """Which primary cells can be computed too closely, and the values each was shown to be able to take."""

    low: Tensor
    high: Tensor
    open: Flags
    programs: int

    @property
    def safe(self) -> bool:
        """Whether no primary cell is open."""
        return not self.open.any()

    def require_safe(self) -> None:
        """Refuse a pattern that leaves a cell open."""
        if not self.safe:
            raise CheckFailedError(
                "audit",
                found=f"{int(self.open.sum())} hidden cells can be computed too closely",
                right="each must be able to lie as far off as its rule asks",
                step="hide more cells, or coarsen the table",
            )


class _Polytope:
    """The tables an outsider has to reckon with: unknown innermost cells, and the published sums over them."""

    def __init__(self, table: CrossTable, hidden: Flags) -> None:
        self._optimize, sparse = _scipy()
        sums = reduce(sparse.kron, [sparse.csr_matrix(one.below.astype(np.float64)) for one in table.dimensions])
        places = np.ravel_multi_index(np.ix_(*(one.leaves for one in table.dimensions)), table.shape).reshape(-1)
        unknown = hidden.reshape(-1)[places]
        self.sums = sums.tocsr()[:, np.flatnonzero(unknown)]
        self.truth: Vector = table.leaf_values().reshape(-1)[unknown]
        self.known: Vector = table.values.reshape(-1) - self.sums @ self.truth
        published = np.flatnonzero(~hidden.reshape(-1) & (np.diff(self.sums.indptr) > 0))
        self.rules = self.sums[published]
        self.totals: Vector = self.rules @ self.truth
        self.programs = 0

    def push(self, cells: Codes, weights: Vector) -> Vector:
        """All cells' values in the one feasible table that moves these cells farthest, by weight, up or down."""
        self.programs += 1
        found = self._optimize.linprog(
            -(self.sums[cells].T @ weights),
            A_eq=self.rules if len(self.totals) else None,
            b_eq=self.totals if len(self.totals) else None,
            bounds=(0, 4 * float(self.known.max(initial=0) + self.truth.sum()) + 1),
            method="highs-ds",
        )
        values: Vector = self.sums @ (found.x if found.x is not None else self.truth) + self.known
        return values

    def extreme(self, cell: int, sign: int) -> float:
        """The largest (sign 1) or least (sign −1) value of one cell."""
        row = self.sums[[cell]]
        if row.nnz == 0 or not len(self.truth):
            return float(self.known[cell])
        self.programs += 1
        found = self._optimize.linprog(
            -sign * row.toarray()[0],
            A_eq=self.rules if len(self.totals) else None,
            b_eq=self.totals if len(self.totals) else None,
            bounds=(0, None),
            method="highs",
        )
        if found.status == 3:  # nothing published holds it
            return float("inf")
        return float(-sign * found.fun + self.known[cell]) if found.x is not None else float(self.known[cell])


def bounds(table: CrossTable, hidden: Flags, cells: Flags | None = None) -> tuple[Tensor, Tensor]:
    """The least and largest value an outsider has to allow for each cell; infinite where nothing published holds it."""
    polytope = _Polytope(table, hidden)
    low, high = table.values.copy(), table.values.copy()
    for place in np.flatnonzero(hidden if cells is None else hidden & cells).tolist():
        low.reshape(-1)[place] = polytope.extreme(place, -1)
        high.reshape(-1)[place] = polytope.extreme(place, 1)
    return low, high


def audit(table: CrossTable, hidden: Flags, needed: Tensor) -> Audit:
    """Whether each cell that needs it can lie that far above and below its value, for all the outsider knows."""
    polytope = _Polytope(table, hidden)
    values, need = table.values.reshape(-1), needed.reshape(-1)
    cells = np.flatnonzero(need > 0)
    low, high = values.copy(), values.copy()
    idle = 0
    while len(polytope.truth) and idle < _IDLE_ROUNDS:
        up, down = _short(values, need, low, high, cells)
        if not (up | down).any():
            break
        # A cell that lacks both is sent one way or the other, differently in every round.
        turn = np.where((cells * _MIXER >> polytope.programs + 8) & 1, 1.0, -1.0)
        weights = np.where(up & down, turn, up.astype(np.float64) - down) / need[cells]
        found = polytope.push(cells, weights)
        low, high = np.minimum(low, found), np.maximum(high, found)
        after = _short(values, need, low, high, cells)
        idle = idle + 1 if after[0].sum() + after[1].sum() == up.sum() + down.sum() else 0
    up, down = _short(values, need, low, high, cells)
    for place in cells[up].tolist():
        high[place] = max(high[place], polytope.extreme(place, 1))
    for place in cells[down].tolist():
        low[place] = min(low[place], polytope.extreme(place, -1))
    up, down = _short(values, need, low, high, cells)
    still_open = np.zeros(len(values), np.bool_)
    still_open[cells[up | down]] = True
    return Audit(
        low=low.reshape(table.shape),
        high=high.reshape(table.shape),
        open=still_open.reshape(table.shape),
        programs=polytope.programs,
    )


def _short(values: Vector, need: Vector, low: Vector, high: Vector, cells: Codes) -> tuple[Flags, Flags]:
    """Which cells have not been seen high enough, and which not low enough."""
    slack = _NEAR * (1 + np.abs(values[cells]))
    up: Flags = high[cells] - values[cells] < need[cells] - slack
    down: Flags = values[cells] - low[cells] < np.minimum(need, values)[cells] - slack
    return up, down


def _scipy() -> tuple[Any, Any]:
    try:
        from scipy import optimize, sparse
    except ImportError:
        raise MissingExtraError("audit of a table", library="scipy", extra="attacks") from None
    return optimize, sparse
