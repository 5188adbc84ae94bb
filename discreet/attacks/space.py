"""Space: the columns of original, control and release on one scale, with distances and predicates. Confidential."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.data.aligned import Aligned

__all__ = ["CONTROL", "ORIGINAL", "RELEASE", "Space"]

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]
ORIGINAL, CONTROL, RELEASE = 0, 1, 2
_BLOCK_CELLS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Space:
    """For each table a matrix with one row a column: numbers, or codes; `spans` is 0 for codes."""

    names: tuple[str, ...]
    spans: Floats
    tables: tuple[Floats, ...]

    def __repr__(self) -> str:
        return f"<confidential space of {', '.join(self.names)}>"

    @classmethod
    def of(cls, tables: Aligned) -> Space:
        """Missing numbers become the released median, so that a gap is no more telling than an ordinary value."""
        spans, stacked = [], []
        for variable in tables.variables:
            columns = [variable.numbers(table) for table in range(len(tables.rows))]
            if variable.numeric:
                there = columns[RELEASE][~np.isnan(columns[RELEASE])]
                middle = float(np.median(there)) if len(there) else 0.0
                columns = [np.where(np.isnan(column), middle, column) for column in columns]
                spans.append(float(np.ptp(columns[RELEASE])) or 1.0)
            else:
                spans.append(0.0)
            stacked.append(columns)
        matrices = tuple(np.array([columns[table] for columns in stacked]) for table in range(len(tables.rows)))
        return cls(names=tables.names, spans=np.array(spans), tables=matrices)

    @property
    def rows(self) -> tuple[int, ...]:
        """How many rows each table has."""
        return tuple(table.shape[1] for table in self.tables)

    @property
    def numeric(self) -> npt.NDArray[np.bool_]:
        """Which columns hold numbers."""
        return np.asarray(self.spans > 0)

    def values(self, table: int, column: int) -> Floats:
        """One column of one table."""
        return np.asarray(self.tables[table][column])

    def nearest(self, table: int, places: Whole, count: int, *, columns: Whole | None = None) -> tuple[Floats, Whole]:
        """For rows of a table the distances and places of the closest released records, closest first."""
        chosen = np.arange(len(self.names)) if columns is None else columns
        released = self.tables[RELEASE]
        count = min(count, released.shape[1])
        distances, found = np.empty((len(places), count)), np.empty((len(places), count), np.int64)
        step = max(1, _BLOCK_CELLS // released.shape[1])
        for start in range(0, len(places), step):
            asked = places[start : start + step]
            total = np.zeros((len(asked), released.shape[1]))
            for at in chosen:
                mine, theirs = self.tables[table][at][asked][:, None], released[at][None, :]
                span = self.spans[at]
                total += np.minimum(np.abs(mine - theirs) / span, 1.0) if span else mine != theirs
            near = np.argpartition(total, count - 1, axis=1)[:, :count]
            away = np.take_along_axis(total, near, axis=1)
            order = np.argsort(away, axis=1, kind="stable")
            found[start : start + step] = np.take_along_axis(near, order, axis=1)
            distances[start : start + step] = np.take_along_axis(away, order, axis=1) / len(chosen)
        return distances, found

    def fitting(self, table: int, row: int, columns: Whole, signs: Whole) -> npt.NDArray[np.bool_]:
        """Who fits the predicate made of one released record: equal codes; numbers equal, at most or at least its."""
        fits = np.ones(self.rows[table], dtype=bool)
        for at, sign in zip(columns, signs, strict=True):
            value, column = self.tables[RELEASE][at][row], self.tables[table][at]
            if sign == 0:
                fits &= column == value
            else:
                fits &= column <= value if sign == 1 else column >= value
        return fits
