"""Tables of the same columns side by side: an original and its copies, on one scale, as numbers and codes.

1. A column of numbers in every table is kept as floats, NaN where missing, unless it is asked for as a category.
2. Any other column is kept as codes of levels that all tables share, in order; missing cells are a level of their own.
3. Columns that not every table has are left out unless they are asked for by name.

A table is a frame, lazy or not, of any kind that narwhals knows, or a dict of lists. It does not print its values.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import numpy.typing as npt

from discreet.check import known
from discreet.errors import ArgumentError

__all__ = ["Aligned", "Variable", "align", "as_lists"]

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

_MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Variable:
    """One column in every table: numbers, or codes of `levels`."""

    name: str
    levels: tuple[str, ...]
    tables: tuple[Floats, ...] | tuple[Whole, ...]

    @property
    def numeric(self) -> bool:
        """Whether it is kept as numbers."""
        return not self.levels

    def numbers(self, table: int) -> Floats:
        """The numbers of one table; codes as floats where they are categories."""
        return self.tables[table].astype(np.float64, copy=False)

    def codes(self, table: int) -> Whole:
        """The codes of one table."""
        assert self.levels
        return self.tables[table].astype(np.int64, copy=False)

    @property
    def changed(self) -> bool:
        """Whether some table differs from the first, row by row."""
        first, *others = self.tables
        return any(not np.array_equal(first, other, equal_nan=self.numeric) for other in others)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Aligned:
    """The columns of several tables, and how many rows each has."""

    variables: tuple[Variable, ...]
    rows: tuple[int, ...]

    def __repr__(self) -> str:
        return f"<confidential tables side by side: {', '.join(self.names)}>"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(variable.name for variable in self.variables)

    def variable(self, name: str) -> Variable:
        """The column of that name."""
        known("column", name, self.names, step="name a column that every table has")
        return self.variables[self.names.index(name)]


def align(tables: Sequence[Any], *, names: Collection[str] | None = None, categories: Collection[str] = ()) -> Aligned:
    """The tables side by side: all columns they share, or those named; `categories` are kept as codes in any case."""
    lists = [as_lists(table) for table in tables]
    rows = tuple(_rows(table) for table in lists)
    shared = [name for name in lists[0] if all(name in table for table in lists)]
    for name in (*(names or ()), *categories):
        known("column", name, shared, step="name a column that the original and every copy have")
    wanted = shared if names is None else list(dict.fromkeys(names))
    variables = [_variable(name, [table[name] for table in lists], name in categories) for name in wanted]
    return Aligned(variables=tuple(variables), rows=rows)


def as_lists(table: Any) -> dict[str, list[Any]]:
    """A frame as its columns."""
    if isinstance(table, Mapping):
        return {str(name): list(values) for name, values in table.items()}
    try:
        wrapped = nw.from_native(table)
    except TypeError:
        raise ArgumentError(
            "table",
            found=f"a value of type {type(table).__name__}",
            right="it must be a frame or a dict of lists",
            step="give a pandas, polars, Arrow or DuckDB table",
        ) from None
    eager = wrapped.collect() if isinstance(wrapped, nw.LazyFrame) else wrapped
    return {name: eager[name].to_list() for name in eager.columns}


def _rows(table: Mapping[str, list[Any]]) -> int:
    lengths = {len(values) for values in table.values()}
    if len(lengths) != 1 or not max(lengths):
        raise ArgumentError(
            "table", found="no rows, or columns of different lengths", right="it has whole rows", step="give some"
        )
    return lengths.pop()


def _variable(name: str, columns: list[list[Any]], category: bool) -> Variable:
    cleaned = [[None if value is None or value != value else value for value in column] for column in columns]
    there = _different(name, cleaned)
    if not category and there and all(isinstance(value, Real) and not isinstance(value, bool) for value in there):
        if any(math.isinf(value) for value in there):
            raise ArgumentError(
                f"column {name!r}",
                found="infinite numbers",
                right="numbers are compared by their distance",
                step="correct them, or leave the column out",
            )
        return Variable(name=name, levels=(), tables=tuple(np.array(column, dtype=np.float64) for column in cleaned))
    order = sorted(there, key=_order)
    place: dict[Any, int] = {level: code for code, level in enumerate(order)}
    place[None] = len(order)
    codes = tuple(np.array([place[value] for value in column], dtype=np.int64) for column in cleaned)
    return Variable(name=name, levels=(*map(str, order), _MISSING), tables=codes)


def _different(name: str, columns: list[list[Any]]) -> set[Any]:
    try:
        return {value for column in columns for value in column if value is not None}
    except TypeError:
        raise ArgumentError(
            f"column {name!r}",
            found="lists or records in its cells",
            right="a cell is a number, a text, a date or nothing",
            step="leave the column out",
        ) from None


def _order(value: Any) -> tuple[bool, float, str]:
    """Numbers first in their order, then everything else by its text."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    return (not number, float(value) if number else 0.0, "" if number else str(value))
