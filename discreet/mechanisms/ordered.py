"""Confidential values as counts on a public grid of whole numbers: what every rank-based mechanism reads.

A sorted array and a histogram of the same records become the same `Ordered`, so the law of whatever is drawn from it
cannot depend on which of the two an engine could supply.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.errors import ArgumentError

__all__ = ["Cells", "Integers", "Ordered"]

Integers: TypeAlias = npt.NDArray[np.int64]
AnyIntegers: TypeAlias = npt.NDArray[np.integer[Any]]
_CELLS_AT_MOST = 1 << 40
_BEYOND_ANY_GRID = np.uint64(1 << 62)


@dataclass(frozen=True, slots=True)
class Cells:
    """A public grid: the whole numbers from low to high, both included."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if not 0 < self.size <= _CELLS_AT_MOST or max(abs(self.low), abs(self.high)) >= int(_BEYOND_ANY_GRID):
            raise ArgumentError(
                "cells",
                found=f"{self.low} to {self.high}",
                right="a grid runs from low to high ≥ low, with at most 2^40 cells",
                step="exchange the ends, or make the cells wider",
            )

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.high - self.low + 1


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Ordered:
    """How many records stand on each cell that has any; ascending. It prints nothing of them."""

    cells: Cells
    places: Integers
    counts: Integers

    def __post_init__(self) -> None:
        places, counts, cells = self.places, self.counts, self.cells
        if len(places) and not (
            cells.low <= places[0] and places[-1] <= cells.high and (np.diff(places) > 0).all() and counts.min() > 0
        ):
            raise ArgumentError(
                "data",
                found="places that do not ascend inside the grid, or one without a record",
                right="each place of the grid with records stands once",
                step="make it with from_values, from_histogram or from_counts",
            )

    @classmethod
    def from_values(cls, values: AnyIntegers, cells: Cells) -> Ordered:
        """From an array of whole numbers, sorted or not."""
        return cls.from_counts(values, np.ones(len(values), dtype=np.int64), cells)

    @classmethod
    def from_histogram(cls, counts: AnyIntegers, cells: Cells) -> Ordered:
        """From one count for each cell of the grid."""
        if len(counts) != cells.size:
            raise ArgumentError(
                "counts",
                found=f"{len(counts)} counts",
                right=f"the grid has {cells.size} cells",
                step="give one count for each cell, 0 where there is no record",
            )
        return cls.from_counts(np.arange(cells.low, cells.high + 1), counts, cells)

    @classmethod
    def from_counts(cls, places: AnyIntegers, counts: AnyIntegers, cells: Cells) -> Ordered:
        """From pairs of a value and how often it stands, as a GROUP BY gives them.

        Given: whole numbers and counts ≥ 0 of equal length.
        Promise: each record counts once, on the cell nearest to its value.
        Because: a value beyond the grid is moved to its end, record by record, so neighbours stay neighbours.
        Tested: tests/mechanisms/test_quantile.py::test_array_and_histogram_are_one
        """
        if places.dtype.kind not in "iu" or counts.dtype.kind not in "iu" or places.shape != counts.shape:
            raise ArgumentError(
                "values",
                found="other than whole numbers",
                right="values lie on a public grid",
                step="round to the grid",
            )
        if len(counts) and int(counts.min()) < 0:
            raise ArgumentError(
                "counts", found="a negative count", right="counts are at least 0", step="count the records"
            )
        held = counts > 0
        # Unsigned integers may pass 2^63 and would wrap; what is beyond 2^62 is beyond any grid.
        near = np.minimum(places[held], _BEYOND_ANY_GRID) if places.dtype.kind == "u" else places[held]
        clamped = np.clip(near.astype(np.int64), cells.low, cells.high)
        distinct, inverse = np.unique(clamped, return_inverse=True)
        total = np.zeros(len(distinct), dtype=np.int64)
        np.add.at(total, inverse, counts[held].astype(np.int64))
        return cls(cells, distinct, total)

    @property
    def size(self) -> int:
        """The number of records: confidential under add-remove."""
        return int(self.counts.sum())

    def cut(self, place: int) -> tuple[Ordered, Ordered]:
        """The records up to a public place and those from it on; of those on the place itself each side gets half.

        Given: a place of the grid that was released before.
        Promise: one record more or less changes one of the two sides, by that record.
        Because: with t records on the place the left side holds ⌊t/2⌋ of them and the right side ⌈t/2⌉: as t grows by
            one, exactly one of these does.
        Tested: tests/mechanisms/test_quantile.py::test_a_record_changes_one_side_of_a_cut
        """
        halves = np.where(self.places == place, self.counts // 2, self.counts)
        others = np.where(self.places == place, self.counts - self.counts // 2, self.counts)
        below, above = self.places <= place, self.places >= place
        return (
            Ordered.from_counts(self.places[below], halves[below], Cells(self.cells.low, place)),
            Ordered.from_counts(self.places[above], others[above], Cells(place, self.cells.high)),
        )
