"""Cross tables: totals over every combination of groups, with all their margins, as statistical offices publish them.

A dimension is a column with a tree of groups: leaves (its values), groups of them along a hierarchy, and the total. A
cell is one node of each dimension; its value is the sum over the leaves below. Groups that hold the same leaves are one
node, so that no cell stands twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.records import CodedColumn, Codes, Flags, Records, Vector, packed
from discreet.check import some
from discreet.draw.grid import Cell, Grid, GridColumn
from discreet.errors import ArgumentError
from discreet.risk.dominance import Contributions, Rule

__all__ = ["CrossTable", "Dimension", "Tensor", "tabulate"]

Tensor = npt.NDArray[np.float64]
_CELLS_AT_MOST = 2_000_000
_TOTAL = "Total"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Dimension:
    """The nodes of one dimension, the total first: names, the leaves below each, and each leaf's node by level."""

    name: str
    labels: tuple[str, ...]
    below: Flags
    levels: tuple[Codes, ...]

    @classmethod
    def of(cls, column: CodedColumn, hierarchy: Hierarchy | None) -> Dimension:
        """The dimension of a column; without a hierarchy it has its values and the total."""
        ladder = (hierarchy or Hierarchy.flat(column)).ladder(column)
        leaves = len(column.values) + int(column.missing.any())
        nodes: dict[bytes, int] = {}
        labels: list[str] = []
        below, levels = [], []
        for level in range(ladder.top, -1, -1):
            at = np.empty(leaves, np.int64)
            for group in np.unique(ladder.groups[level]):
                held = ladder.groups[level] == group
                place = nodes.setdefault(held.tobytes(), len(nodes))
                if place == len(labels):
                    name = _TOTAL if held.all() else ladder.labels[level][group]
                    labels.append(name or "missing")
                    below.append(held)
                at[held] = place
            levels.append(at)
        return cls(name=column.name, labels=tuple(labels), below=np.array(below), levels=tuple(levels))

    @property
    def leaves(self) -> Codes:
        """The node of each leaf."""
        return self.levels[-1]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class CrossTable:
    """All cells, with what the primary rules look at. Confidential."""

    dimensions: tuple[Dimension, ...]
    contributions: Contributions

    @property
    def values(self) -> Tensor:
        """The value of each cell."""
        return self.contributions.total

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of nodes of each dimension."""
        return self.values.shape

    @property
    def is_whole(self) -> bool:
        """Whether every value is a whole number."""
        return bool((self.values == np.round(self.values)).all())

    def leaf_values(self) -> Tensor:
        """The values of the innermost cells."""
        return self.values[np.ix_(*(dimension.leaves for dimension in self.dimensions))]

    def summed(self, leaves: Tensor) -> Tensor:
        """All cells that these innermost values make."""
        for place, dimension in enumerate(self.dimensions):
            leaves = np.moveaxis(np.tensordot(dimension.below.astype(np.float64), leaves, (1, place)), 0, place)
        return leaves

    def grid(self, title: str, hidden: Flags | None = None, values: Tensor | None = None) -> Grid:
        """One row for each cell; a hidden one has no value."""
        shown = self.values if values is None else values
        rows: list[tuple[Cell, ...]] = []
        for place in product(*(range(size) for size in self.shape)):
            names = [dimension.labels[at] for dimension, at in zip(self.dimensions, place, strict=True)]
            gone = hidden is not None and hidden[place]
            value = float(shown[place])
            rows.append((*names, None if gone else int(value) if value.is_integer() else value))
        columns = [GridColumn(dimension.name) for dimension in self.dimensions]
        return Grid(title, (*columns, GridColumn("value", "number")), tuple(rows))


def tabulate(
    records: Records,
    by: Sequence[str],
    *,
    value: str | None = None,
    holder: str | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    rules: Sequence[Rule] = (),
) -> CrossTable:
    """The totals of a column, or without one the number of records, by all combinations of the `by` columns.

    A record is one contribution, or all records with one `holder` in a cell are.
    """
    names = some("by", by, step="name the columns that span the table, each once")
    dimensions = tuple(Dimension.of(records.column(name), (hierarchies or {}).get(name)) for name in names)
    shape = tuple(len(dimension.labels) for dimension in dimensions)
    if np.prod([float(size) for size in shape]) > _CELLS_AT_MOST:
        raise ArgumentError(
            "by", found="too many cells", right=f"at most {_CELLS_AT_MOST:,}", step="take coarser columns, or fewer"
        )
    numbers = np.ones(records.rows) if value is None else records.column(value).numbers
    if np.isnan(numbers).any() or (numbers < 0).any():
        raise ArgumentError(
            f"column {value!r}",
            found="negative or missing values",
            right="these rules are for contributions of 0 or more",
            step="fill or drop missing values, and tabulate gains and losses apart",
        )
    whose = np.arange(records.rows) if holder is None else records.column(holder).full_codes
    codes = [records.column(name).full_codes for name in names]
    places = max([2, *(rule.places for rule in rules)])
    total, count = np.zeros(shape), np.zeros(shape, np.int64)
    largest = np.zeros((*shape, places))
    for levels in product(*(range(len(dimension.levels)) for dimension in dimensions)):
        at = [one.levels[level][code] for one, level, code in zip(dimensions, levels, codes, strict=True)]
        cells = np.ravel_multi_index(tuple(at), shape)
        _count(cells, whose, numbers, total.reshape(-1), count.reshape(-1), largest.reshape(-1, places))
    return CrossTable(
        dimensions=dimensions,
        contributions=Contributions(total=total, count=count, largest=largest, is_count=value is None),
    )


def _count(cells: Codes, whose: Codes, numbers: Vector, total: Vector, count: Codes, largest: Tensor) -> None:
    """Write down total, contributors and largest contributions of the cells of one level of each dimension."""
    _, first, inverse = np.unique(packed([cells, whose]), return_index=True, return_inverse=True)
    sums = np.bincount(inverse.reshape(-1), numbers)
    owner = cells[first]
    order = np.lexsort((-sums, owner))
    sums, owner = sums[order], owner[order]
    starts = np.flatnonzero(np.concatenate(([True], owner[1:] != owner[:-1]))) if len(owner) else np.zeros(0, np.int64)
    found = owner[starts]
    total[found] = np.add.reduceat(sums, starts) if len(starts) else 0
    ends = np.append(starts[1:], len(owner))
    count[found] = ends - starts
    for place in range(largest.shape[1]):
        there = starts + place < ends
        largest[found[there], place] = sums[starts[there] + place]
