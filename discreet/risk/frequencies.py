"""Frequencies: every class of look-alike records as codes, its size in the file, and what it stands for outside.

1. The engine groups the records by the columns and numbers the values of each column; a missing value is a value.
2. With a weight column the weights of a class add up to F, the estimated number of people like it in the population;
   with a population table F is counted there.

Only whole numbers come out: codes, sizes and weights in millionths. All of it is confidential.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from discreet.check import some
from discreet.data.engines.base import Engine
from discreet.data.table import StorageType, StoredColumn, StoredTable
from discreet.errors import ArgumentError
from discreet.risk.cells import reading
from discreet.risk.classes import group_records

__all__ = ["Floats", "Frequencies", "Keys", "Wholes", "count_frequencies", "count_outside", "in_order", "keys_of"]

Wholes: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Keys: TypeAlias = list[tuple[tuple[str | None, ...], int]]
_MILLIONTHS = 1_000_000
_LARGEST_WEIGHT = 10**11  # in millionths a sum over ten million rows stays within the engine's decimals


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Frequencies:
    """The classes of the quasi columns, in their order: codes (classes, columns), sizes, and people outside."""

    quasi: tuple[str, ...]
    codes: Wholes
    sizes: Wholes
    outside: Floats | None = None

    def __repr__(self) -> str:
        return f"<confidential frequencies of {', '.join(self.quasi)}>"

    @property
    def records(self) -> int:
        """All records."""
        return int(self.sizes.sum())

    @property
    def unique(self) -> int:
        """Records alone in their class."""
        return int((self.sizes == 1).sum())

    def scaled(self, population: int) -> Floats:
        """People outside when all classes were drawn at the same rate."""
        return self.sizes.astype(np.float64) * (population / self.records)


def count_frequencies(
    engine: Engine, table: StoredTable, quasi: Sequence[str], *, weight: str | None = None
) -> Frequencies:
    """The classes and, with a weight column, how many people each stands for. Confidential."""
    columns = some("quasi", quasi, step="name the columns an outsider may know, each once")
    physical = [table.column(name).physical for name in columns]
    summed = [] if weight is None else [exp.alias_(_weight_sum(engine, table, weight), "outside")]
    classes = group_records(table, columns).select(*summed)
    codes = [exp.alias_(_rank(name), f"k{at}") for at, name in enumerate(physical)]
    select = exp.select(*codes, "size", *(["outside"] if summed else [])).from_("classes").order_by(*in_order(physical))
    rows = engine.integers(reading(select, {"classes": classes}))
    whole = np.array([[value or 0 for value in row] for row in rows], dtype=object).reshape(len(rows), -1)
    wide = len(columns)
    return Frequencies(
        quasi=columns,
        codes=whole[:, :wide].astype(np.int64) - 1 if rows else np.zeros((0, wide), dtype=np.int64),
        sizes=whole[:, wide].astype(np.int64) if rows else np.zeros(0, dtype=np.int64),
        outside=whole[:, wide + 1].astype(np.float64) / _MILLIONTHS if summed and rows else None,
    )


def count_outside(here: Keys, there: Keys) -> Floats:
    """How many people of another table each class of the first agrees with."""
    sizes = dict(there)
    return np.array([sizes.get(key, 0) for key, _ in here], dtype=np.float64)


def keys_of(engine: Engine, table: StoredTable, quasi: Sequence[str]) -> Keys:
    """Every class by its values as text, with its size, in the order of `count_frequencies`. For the keeper alone."""
    columns = some("quasi", quasi, step="name the columns an outsider may know, each once")
    physical = [table.column(name).physical for name in columns]
    texts = [exp.cast(exp.column(name), "VARCHAR") for name in (*physical, "size")]
    select = exp.select(*texts).from_("classes").order_by(*in_order(physical))
    found = engine.texts(reading(select, {"classes": group_records(table, columns)})).reveal(to="keeper")
    return [(tuple(row[:-1]), int(row[-1] or 0)) for row in found]


def in_order(physical: Sequence[str]) -> list[exp.Ordered]:
    """The one order of classes, wherever they are listed."""
    return [exp.Ordered(this=exp.column(name)) for name in physical]


def _rank(physical: str) -> exp.Expr:
    order = exp.Order(expressions=in_order([physical]))
    return exp.Window(this=exp.DenseRank(), order=order)


def _weight_sum(engine: Engine, table: StoredTable, weight: str) -> exp.Expr:
    """The sum of a class's weights in millionths, after all weights were found to be above 0."""
    column = table.column(weight)
    if column.type not in (StorageType.INTEGER, StorageType.DECIMAL):
        raise ArgumentError(
            f"weight column {weight!r}",
            found=f"the type {column.type}",
            right="weights are numbers",
            step="name another",
        )
    value = exp.column(column.physical)
    below = exp.Or(
        this=exp.Is(this=value.copy(), expression=exp.Null()),
        expression=exp.Not(this=exp.Between(this=value.copy(), low=_tiny(), high=exp.Literal.number(_LARGEST_WEIGHT))),
    )
    odd = exp.select(exp.Count(this=exp.Star())).from_(exp.table_(table.name)).where(below)
    if engine.integers(odd)[0][0]:
        raise ArgumentError(
            f"weight column {weight!r}",
            found="records whose weight is missing, not above 0 or absurdly large",
            right="a weight says how many people a record stands for",
            step="name the column of final weights, or mend it",
        )
    return _millionths(column)


def _tiny() -> exp.Expr:
    return exp.Literal.number("0.000001")


def _millionths(column: StoredColumn) -> exp.Expr:
    exactly = exp.cast(exp.column(column.physical), "DECIMAL(24, 6)")
    return exp.cast(exp.Mul(this=exp.Sum(this=exactly), expression=exp.Literal.number(_MILLIONTHS)), "HUGEINT")
