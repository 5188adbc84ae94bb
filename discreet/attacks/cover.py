"""Cover: which released records may be a person's, where cells may be generalised (130**, <30, [20, 30), {a, b}).

Records that look alike in the chosen columns are one class; most tables have far fewer classes than records, so people
are compared with classes.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.attacks.cell import covers, general, spelled
from discreet.attacks.keepers import Records
from discreet.check import known

__all__ = ["Cover", "Meanings", "coarsened", "not_understood"]

Whole: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Meanings: TypeAlias = Mapping[str, Mapping[str, frozenset[str]]]
_BY_CHANCE, _UNREAD = 4, 0.1
_BLOCK_CELLS = 20_000_000
_NUMBER = re.compile(r"-?\d+(\.\d*)?(e[-+]?\d+)?")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Cover:
    """The classes of released records in some columns: their cells, their sizes, and the class of each record."""

    columns: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    classes: Whole
    sizes: Whole
    place: Whole
    meanings: Meanings

    @classmethod
    def of(cls, released: Records, columns: Sequence[str], meanings: Meanings | None = None) -> Cover:
        """The classes of a release; `meanings` says for each column what the names of its groups stand for."""
        cells, codes = [], []
        for name in columns:
            known("column", name, tuple(released), step="name a column of the release")
            found, code = np.unique(np.array([spelled(cell) for cell in released[name]]), return_inverse=True)
            cells.append(tuple(map(str, found)))
            codes.append(code.ravel())
        classes, place, sizes = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True, return_counts=True)
        return cls(
            columns=tuple(columns),
            cells=tuple(cells),
            classes=classes,
            sizes=sizes,
            place=place.ravel(),
            meanings=dict(meanings or {}),
        )

    def inside(self, named: Records, asked: Whole) -> Iterator[tuple[slice, Flags]]:
        """For blocks of the asked people, one row each: which classes may hold their record."""
        tables = []
        for name, cells in zip(self.columns, self.cells, strict=True):
            known("column", name, tuple(named), step="name a column that the list and the table have")
            spelled_out = np.array(cells)
            groups = self.meanings.get(name, {})
            wide = [place for place, cell in enumerate(cells) if general(cell) or cell in groups]
            values = [spelled(named[name][at]) for at in asked]
            covered: dict[str, Flags] = {}
            for value in set(values):
                covered[value] = np.asarray(spelled_out == value)
                fits = [value in groups[cells[at]] if cells[at] in groups else covers(cells[at], value) for at in wide]
                covered[value][wide] |= np.array(fits, dtype=bool)
            tables.append(np.array([covered[value] for value in values]))
        step = max(1, _BLOCK_CELLS // len(self.classes))
        for start in range(0, len(asked), step):
            rows = slice(start, start + step)
            yield rows, np.logical_and.reduce([table[rows][:, self.classes[:, at]] for at, table in enumerate(tables)])


def coarsened(released: Records, original: Records, columns: Sequence[str], meanings: Meanings | None = None) -> bool:
    """Whether a release holds cells that stand for several values and that its original does not hold."""
    for name in columns:
        there = set(map(spelled, set(released[name]))) - set(map(spelled, set(original[name])))
        if any(general(cell) or cell in (meanings or {}).get(name, {}) for cell in there):
            return True
        if _emptier(released[name], original[name]):
            return True
    return False


def _emptier(released: Sequence[object], original: Sequence[object]) -> bool:
    """Whether more cells are empty than another sample of the same people would have by chance."""
    there, before = (sum(spelled(cell) == "*" for cell in column) for column in (released, original))
    if not before:
        return there > 0
    share = (there + before) / (len(released) + len(original))
    spread = math.sqrt(share * (1 - share) * (1 / len(released) + 1 / len(original)))
    return there / len(released) > before / len(original) + _BY_CHANCE * spread


def not_understood(
    released: Records, original: Records, columns: Sequence[str], meanings: Meanings | None = None
) -> tuple[str, ...]:
    """The columns of which a tenth of the records or more stand for no value there is: attacks would see nothing there.

    A few such cells are values that are rare, and numbers may be new ones.
    """
    found = []
    for name in columns:
        values, groups = set(map(spelled, set(original[name]))), (meanings or {}).get(name, {})
        cells = Counter(map(spelled, released[name]))
        strange = [cell for cell in cells if cell not in values and cell not in groups and not _NUMBER.fullmatch(cell)]
        unread = sum(cells[cell] for cell in strange if not any(covers(cell, value) for value in values))
        if unread >= _UNREAD * len(released[name]):
            found.append(name)
    return tuple(found)
