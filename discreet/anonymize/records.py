"""Records: the rows of a table as coded columns, which the methods for microdata read and write.

A column is a list of distinct values and one code for each row, -1 where the value is missing. Methods exchange whole
columns or leave rows out; they never change the records they were given, so that every step can be undone.

What it does not promise: privacy. Records are raw, and do not print.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sqlglot import exp

from discreet.check import known, some
from discreet.data.engines.base import Engine
from discreet.data.frame import FrameKind, frame_kind
from discreet.data.table import StoredTable
from discreet.errors import ArgumentError, MissingExtraError

__all__ = ["CodedColumn", "Codes", "Flags", "Records", "Vector", "distinct_rows", "packed"]

Codes = npt.NDArray[np.int64]
Vector = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
_PACKED_AT_MOST = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class CodedColumn:
    """One column: its distinct values in order, and for each row the place of its value, -1 where missing."""

    name: str
    values: tuple[Any, ...]
    codes: Codes

    def __repr__(self) -> str:
        return f"<confidential column {self.name!r}>"

    @classmethod
    def of(cls, name: str, values: Iterable[Any]) -> CodedColumn:
        """A column of plain values; None and NaN are missing."""
        listed = [None if value is None or value != value else value for value in values]
        levels = sorted({value for value in listed if value is not None}, key=_order)
        place: dict[Any, int] = {value: code for code, value in enumerate(levels)} | {None: -1}
        codes = np.fromiter((place[value] for value in listed), np.int64, len(listed))
        return cls(name=name, values=tuple(levels), codes=codes)

    @property
    def is_numeric(self) -> bool:
        """Whether every value is a number."""
        return all(isinstance(value, int | float) and not isinstance(value, bool) for value in self.values)

    @property
    def numbers(self) -> Vector:
        """The value of each row as a float, NaN where missing."""
        if not self.is_numeric:
            raise ArgumentError(
                f"column {self.name!r}",
                found="values that are no numbers",
                right="this method needs a numeric column",
                step="name another column, or another method",
            )
        return np.array([*map(float, self.values), np.nan])[self.codes]

    @property
    def missing(self) -> Flags:
        """Which rows have no value."""
        missing: Flags = self.codes < 0
        return missing

    @property
    def full_codes(self) -> Codes:
        """The codes with missing as one more value, the last."""
        return np.where(self.codes < 0, len(self.values), self.codes)

    def listed(self) -> list[Any]:
        """The value of each row."""
        values = (*self.values, None)
        return [values[code] for code in self.codes.tolist()]

    def taken(self, rows: Codes | Flags) -> CodedColumn:
        """The same column of some of the rows."""
        return CodedColumn(name=self.name, values=self.values, codes=self.codes[rows])

    def with_codes(self, codes: Codes) -> CodedColumn:
        """The same values, given to the rows anew."""
        return CodedColumn(name=self.name, values=self.values, codes=codes)

    def with_numbers(self, numbers: Vector, *, whole: bool | None = None) -> CodedColumn:
        """The column with other numbers; whole ones where its values are, unless said otherwise. NaN is missing."""
        if whole is None:
            whole = all(isinstance(value, int) for value in self.values)
        there = ~np.isnan(numbers)
        levels, inverse = np.unique(np.round(numbers[there]) if whole else numbers[there], return_inverse=True)
        codes = np.full(len(numbers), -1, np.int64)
        codes[there] = inverse
        values = tuple(int(value) if whole else float(value) for value in levels.tolist())
        return CodedColumn(name=self.name, values=values, codes=codes)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Records:
    """Columns of one length under different names."""

    columns: tuple[CodedColumn, ...]

    def __post_init__(self) -> None:
        some("columns", self.names, step="name each column once")
        if len({len(column.codes) for column in self.columns}) != 1:
            raise ArgumentError(
                "columns", found="different lengths", right="all are equally long", step="give whole rows"
            )

    def __repr__(self) -> str:
        return f"<confidential records: {', '.join(self.names)}>"

    @classmethod
    def of(cls, frame: Any) -> Records:
        """The records of a frame, lazy or not, or of a dict of lists."""
        if frame_kind(frame) is not FrameKind.PLAIN:
            wrapped = nw.from_native(frame)
            eager = wrapped.collect() if isinstance(wrapped, nw.LazyFrame) else wrapped
            frame = {name: eager[name].to_list() for name in eager.columns}
        if not isinstance(frame, Mapping):
            raise ArgumentError(
                "table",
                found=f"a value of type {type(frame).__name__}",
                right="it must be a frame or a dict of lists",
                step="give a pandas, polars, Arrow or DuckDB table",
            )
        return cls(columns=tuple(CodedColumn.of(str(name), values) for name, values in frame.items()))

    @classmethod
    def read(cls, engine: Engine, table: StoredTable, columns: Sequence[str] | None = None) -> Records:
        """The records of a stored table, in its order. Confidential."""
        names = table.names if columns is None else some("columns", columns, step="name each column once")
        physical = [table.column(name).physical for name in names]
        select = exp.select(*(exp.column(name) for name in physical)).from_(exp.table_(table.name))
        batches = list(engine.stream(select))
        arrow = _arrow()
        whole = arrow.concat_tables([arrow.table(batch) for batch in batches]) if batches else None
        made = []
        for place, name in enumerate(names):
            if whole is None:
                made.append(CodedColumn.of(name, ()))
                continue
            coded = whole.column(place).combine_chunks().dictionary_encode()
            made.append(_decoded(name, coded.dictionary.to_pylist(), coded.indices.fill_null(-1).to_numpy()))
        return cls(columns=tuple(made))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.columns[0].codes)

    def column(self, name: str) -> CodedColumn:
        """The column of that name."""
        known("column", name, self.names, step="name one of the table's columns")
        return self.columns[self.names.index(name)]

    def replaced(self, *columns: CodedColumn) -> Records:
        """The records with these columns in the place of those of their names."""
        new = {column.name: column for column in columns}
        for name in new:
            self.column(name)
        return Records(columns=tuple(new.get(column.name, column) for column in self.columns))

    def taken(self, rows: Codes | Flags) -> Records:
        """Some of the rows."""
        return Records(columns=tuple(column.taken(rows) for column in self.columns))

    def as_lists(self) -> dict[str, list[Any]]:
        """Every column as a list of values."""
        return {column.name: column.listed() for column in self.columns}

    def as_parquet(self) -> bytes:
        """The rows as the bytes of a Parquet file."""
        arrow = _arrow()
        from pyarrow import parquet

        buffer = io.BytesIO()
        parquet.write_table(arrow.table(self.as_lists()), buffer)
        return buffer.getvalue()


def packed(columns: Sequence[Codes]) -> Codes:
    """One number for each row, the same for rows that agree on all columns of non-negative codes."""
    keys, width = np.zeros(len(columns[0]), np.int64), 1
    for codes in columns:
        size = int(codes.max(initial=0)) + 1
        if width * size > _PACKED_AT_MOST:
            _, keys = np.unique(keys, return_inverse=True)
            width = int(keys.max(initial=0)) + 1
        keys = keys * size + codes
        width *= size
    return keys


def distinct_rows(columns: Sequence[Codes]) -> tuple[Codes, Codes, Codes]:
    """The first row of each distinct combination, which combination each row has, and how many rows have it."""
    _, first, inverse, counts = np.unique(packed(columns), return_index=True, return_inverse=True, return_counts=True)
    return first, inverse.reshape(-1), counts


def _decoded(name: str, values: list[Any], codes: Any) -> CodedColumn:
    """Arrow's dictionary put in order, NaN taken as missing."""
    order = sorted((place for place, value in enumerate(values) if value == value), key=lambda at: _order(values[at]))
    place = np.full(len(values) + 1, -1, np.int64)
    place[order] = np.arange(len(order))
    return CodedColumn(name=name, values=tuple(values[at] for at in order), codes=place[codes])


def _order(value: Any) -> tuple[bool, Any]:
    """Numbers and dates by size, and texts behind them."""
    return (True, value) if isinstance(value, str) else (False, value)


def _arrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("records", library="pyarrow", extra="synthesis") from None
    return pyarrow
