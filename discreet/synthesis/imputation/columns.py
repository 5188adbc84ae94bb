"""The table every synthesiser takes: named columns of one kind each, as numbers, beside the frame they came from.

1. A column is `continuous`, `ordinal`, `binary` or `nominal`. Its `values` are floats: the number itself where it is
   continuous, otherwise a code c that stands for `levels[c]`; NaN where a cell is missing.
2. Without being told, text of two values is binary and other text nominal; numbers of two values are binary, whole
   numbers of at most 10 values ordinal, other numbers continuous. `kinds` overrules this; a list of levels there
   makes the column ordinal in that order.
3. `replaced` gives the frame back with some columns exchanged. All others are the very values that came in.

Terms: digits, the decimals a continuous column is published with; found in the data when not said.
It does not promise anything about risk: kinds, levels and digits are read off the confidential table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import numpy.typing as npt

from discreet.check import known
from discreet.data.frame import FrameKind, frame_kind, frame_like
from discreet.errors import ArgumentError

__all__ = ["Column", "Columns", "Kind", "read_columns"]

Vector: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

_ORDINAL_AT_MOST = 10
_LONG_SCALE = 30
_DIGITS_AT_MOST = 6


class Kind(StrEnum):
    """What the values of a column are."""

    CONTINUOUS = "continuous"
    ORDINAL = "ordinal"
    BINARY = "binary"
    NOMINAL = "nominal"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Column:
    """One column: numbers, or codes of `levels` in their order; NaN where missing. It does not print its values."""

    name: str
    kind: Kind
    values: Vector
    levels: tuple[Any, ...] = ()
    digits: int = 0
    whole: bool = False

    def __post_init__(self) -> None:
        values = np.ascontiguousarray(self.values, dtype=np.float64).copy()
        if values.ndim != 1 or np.isinf(values).any():
            raise ArgumentError(
                f"column {self.name!r}",
                found="values that are no finite numbers",
                right="a column holds finite numbers, and nothing where it is missing",
                step="drop or correct the infinite values",
            )
        if not self.is_continuous:
            there = values[~np.isnan(values)]
            if there.size and (there.min() < 0 or there.max() >= len(self.levels) or (there % 1).any()):
                raise ArgumentError(
                    f"column {self.name!r}",
                    found="codes outside the levels",
                    right="a code is the place of a level",
                    step="give codes from 0 to the number of levels less one",
                )
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    def __repr__(self) -> str:
        return f"<confidential column {self.name!r}: {self.kind.value}>"

    @property
    def is_continuous(self) -> bool:
        """Whether the values are numbers rather than codes."""
        return self.kind is Kind.CONTINUOUS

    @property
    def is_number(self) -> bool:
        """Whether its values are many in an order, so that one stands for a place among them: numbers, long scales."""
        return self.is_continuous or (self.kind is not Kind.NOMINAL and len(self.distinct) > _LONG_SCALE)

    @property
    def missing(self) -> Flags:
        """Which cells are missing."""
        return np.isnan(self.values)

    @property
    def codes(self) -> Codes:
        """The codes, -1 where missing; of a continuous column the rank among its distinct values."""
        numbers = np.searchsorted(self.distinct, self.values) if self.is_continuous else np.nan_to_num(self.values)
        return np.where(self.missing, -1, numbers).astype(np.int64)

    @property
    def distinct(self) -> Vector:
        """The distinct values that occur, in order."""
        return np.unique(self.values[~self.missing])

    def restored(self, values: Vector) -> list[Any]:
        """Numbers or codes as the source writes them: levels, whole numbers, rounded numbers; None where missing."""
        if not self.is_continuous:
            return [None if math.isnan(value) else self.levels[int(value)] for value in values.tolist()]
        rounded = np.round(values, self.digits).tolist()
        if self.whole:
            return [None if math.isnan(value) else int(value) for value in rounded]
        return [None if math.isnan(value) else value for value in rounded]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Columns:
    """Columns of equal length with different names, and the frame they were read from."""

    columns: tuple[Column, ...]
    source: Any

    def __post_init__(self) -> None:
        if not self.columns or len(self.columns[0].values) == 0:
            raise ArgumentError(
                "table", found="no rows or no columns", right="there are some of both", step="give a table of rows"
            )
        if len(set(self.names)) != len(self.names):
            raise _twice()
        if len({len(column.values) for column in self.columns}) != 1:
            raise ArgumentError(
                "table", found="columns of different lengths", right="all are equally long", step="give whole rows"
            )

    def __repr__(self) -> str:
        return f"<confidential columns: {', '.join(self.names)}>"

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0].values)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> Column:
        """The column of that name."""
        known("column", name, self.names, step="name a column of the table")
        return self.columns[self.names.index(name)]

    def replaced(self, changes: Mapping[str, Vector]) -> Any:
        """A frame of the caller's kind with these columns exchanged, everything else untouched."""
        lists = {name: self.column(name).restored(values) for name, values in changes.items()}
        kind = frame_kind(self.source)
        if kind is FrameKind.PLAIN:
            return {name: lists.get(name, given) for name, given in self.source.items()}
        frame = _eager(self.source)
        backend = nw.get_native_namespace(frame)
        made = []
        for name, values in lists.items():
            dtype = frame.schema[name]
            plain = dtype in (nw.Categorical, nw.Enum, nw.Object, nw.String)
            series = nw.new_series(name, values, None if plain else dtype, backend=backend)
            made.append(series.cast(dtype) if dtype in (nw.Categorical, nw.Enum) else series)
        changed = frame.with_columns(*made)
        if kind is FrameKind.DUCKDB:
            return frame_like(kind, {name: changed[name].to_list() for name in changed.columns})
        return changed.to_native()


def read_columns(
    frame: Any,
    *,
    kinds: Mapping[str, Kind | str | Sequence[Any]] | None = None,
    digits: Mapping[str, int] | None = None,
) -> Columns:
    """A frame, lazy or not, or a dict of lists, as columns. A list among `kinds` holds the levels of an ordinal one."""
    kinds, digits = dict(kinds or {}), dict(digits or {})
    if frame_kind(frame) is FrameKind.PLAIN:
        if not isinstance(frame, Mapping):
            raise ArgumentError(
                "table",
                found=f"a value of type {type(frame).__name__}",
                right="it must be a frame or a dict of lists",
                step="give a pandas, polars, Arrow or DuckDB table",
            )
        lists = {str(name): list(values) for name, values in frame.items()}
    else:
        try:
            eager = _eager(frame)
            lists = {name: eager[name].to_list() for name in eager.columns}
        except nw.exceptions.DuplicateError:
            raise _twice() from None
    for name in (*kinds, *digits):
        known("column", name, tuple(lists), step="name a column of the table")
    columns = [_read(name, values, kinds.get(name), digits.get(name)) for name, values in lists.items()]
    return Columns(columns=tuple(columns), source=frame)


def _twice() -> ArgumentError:
    return ArgumentError(
        "table", found="two columns of one name", right="each name stands once", step="rename one of them"
    )


def _eager(frame: Any) -> nw.DataFrame[Any]:
    wrapped = nw.from_native(frame)
    return wrapped.collect() if isinstance(wrapped, nw.LazyFrame) else wrapped


def _read(name: str, values: list[Any], said: Kind | str | Sequence[Any] | None, digits: int | None) -> Column:
    gone = [value is None or value != value for value in values]
    there = [value for value, is_gone in zip(values, gone, strict=True) if not is_gone]
    numeric = all(isinstance(value, bool | int | float | np.number) for value in there)
    if not numeric and not all(isinstance(value, str | bool) for value in there):
        raise ArgumentError(
            f"column {name!r}",
            found="values that are neither numbers nor texts",
            right="a copy is made of numbers and texts",
            step="turn dates into numbers, such as years or days, or leave the column out",
        )
    levels = sorted(set(there), key=lambda value: value if numeric else str(value))
    kind = _kind(name, said, levels, numeric, whole=all(value % 1 == 0 for value in there) if numeric else False)
    if kind is Kind.CONTINUOUS:
        numbers = np.array([math.nan if out else float(v) for v, out in zip(values, gone, strict=True)], np.float64)
        is_whole = bool(there) and all(isinstance(value, int | np.integer) for value in there)
        kept = _digits(numbers) if digits is None else digits
        return Column(name=name, kind=kind, values=numbers, digits=0 if is_whole else kept, whole=is_whole)
    if said is not None and not isinstance(said, str):
        levels = _said_levels(name, said, levels)
    place = {level: float(code) for code, level in enumerate(levels)}
    codes = np.array([math.nan if out else place[v] for v, out in zip(values, gone, strict=True)], np.float64)
    return Column(name=name, kind=kind, values=codes, levels=tuple(levels))


def _kind(name: str, said: Kind | str | Sequence[Any] | None, levels: list[Any], numeric: bool, whole: bool) -> Kind:
    if said is not None and not isinstance(said, str):
        return Kind.BINARY if len(said) == 2 else Kind.ORDINAL
    if said is not None:
        if said not in tuple(Kind):
            known("kind", said, tuple(kind.value for kind in Kind), step=f"say what {name} is by one of these words")
        if (said == Kind.CONTINUOUS and not numeric) or (said == Kind.BINARY and len(levels) > 2):
            raise ArgumentError(
                f"column {name!r}",
                found="texts or more than two values",
                right="continuous columns hold numbers, binary ones two values",
                step="say another kind, such as nominal",
            )
        return Kind(said)
    if len(levels) <= 2:
        return Kind.BINARY
    if not numeric:
        return Kind.NOMINAL
    return Kind.ORDINAL if whole and len(levels) <= _ORDINAL_AT_MOST else Kind.CONTINUOUS


def _said_levels(name: str, said: Sequence[Any], found: list[Any]) -> list[Any]:
    if len(set(said)) != len(said) or not set(found) <= set(said):
        raise ArgumentError(
            f"column {name!r}",
            found="values outside the levels that were given, or one level twice",
            right="the levels hold every value of the column once",
            step="complete the list of levels",
        )
    return list(said)


def _digits(numbers: Vector) -> int:
    """The fewest decimals that hold every value; for longer ones a thousandth of the spread."""
    there = numbers[~np.isnan(numbers)]
    for digits in range(_DIGITS_AT_MOST + 1):
        if np.array_equal(np.round(there, digits), there):
            return digits
    spread = float(np.std(there))
    return max(0, 3 - math.floor(math.log10(spread))) if spread > 0 else _DIGITS_AT_MOST
