"""How a table keeps to its contract. Keeper only: every figure is raw.

1. Columns that are missing, that the contract does not name, or that are kept as another type than declared.
2. For each column the rows whose value is missing, below the low bound, above the high bound, or not among the keys.
3. For the unit, what `crowding` counts.

It does not promise that a contract that fits is true: a
bound may hold for this table and not for the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any, TypeAlias

from sqlglot import exp

from discreet.data.column import CategoryColumn, Column, DateColumn, DatetimeColumn, NullRule
from discreet.data.contract import Contract
from discreet.data.engines.base import Engine
from discreet.data.fact import decimal_text
from discreet.data.table import StorageType, StoredColumn, StoredTable
from discreet.draw.format import written
from discreet.draw.grid import Grid, GridColumn
from discreet.guarantee import Adjacency
from discreet.risk.crowding import Crowding, UnitFit, count_units
from discreet.risk.presence import is_there, sum_where

__all__ = ["ColumnFit", "ContractFit", "UnitFit", "check_contract"]

Pair: TypeAlias = tuple[str, Column, StoredColumn]

_AT_ONCE = 50
_KEPT_AS = {
    "integer": (StorageType.INTEGER,),
    "decimal": (StorageType.DECIMAL, StorageType.INTEGER),
    "category": tuple(StorageType),
    "boolean": (StorageType.BOOLEAN,),
    "date": (StorageType.DATE,),
    "datetime": (StorageType.DATETIME, StorageType.DATE),
    "text": tuple(StorageType),
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ColumnFit:
    """How many rows of one column fall outside what is declared; units where a figure counts units."""

    name: str
    type: str
    kept_as: StorageType
    missing: int
    below: int
    above: int
    outside_keys: int
    units_in_many_groups: int | None = None
    units_with_many_values: int | None = None

    @property
    def is_kept_as_declared(self) -> bool:
        """Whether the stored type can hold the declared one."""
        return holds(self.kept_as, self.type)

    def __repr__(self) -> str:
        return "<confidential column fit>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ContractFit:
    """How one table keeps to its contract."""

    table: str
    rows: int
    columns: tuple[ColumnFit, ...]
    unit: UnitFit
    absent: tuple[str, ...]
    unnamed: tuple[str, ...]
    problems: tuple[str, ...]

    def __repr__(self) -> str:
        return "<confidential contract fit>"

    def as_json(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return asdict(self)

    def grid(self) -> Grid:
        """One line for each column: shares of rows, then of units over the limit on groups or with several values."""
        shares = ("missing", "below", "above", "outside keys", "over groups", "several values")
        return Grid(
            title=f"How {self.table} keeps to its contract",
            columns=(GridColumn("column"), GridColumn("type"), *(GridColumn(name, "share") for name in shares)),
            rows=tuple(self._line(column) for column in self.columns),
            note=" ".join([*self._unit_sentences(), *(f"{problem}." for problem in self.problems)]),
        )

    def _line(self, column: ColumnFit) -> tuple[str | Fraction | None, ...]:
        in_rows = (column.missing, column.below, column.above, column.outside_keys)
        in_units = (column.units_in_many_groups, column.units_with_many_values)
        return (
            column.name,
            column.type,
            *(_share(count, self.rows) for count in in_rows),
            *(_share(count, self.unit.units) for count in in_units),
        )

    def _unit_sentences(self) -> Iterator[str]:
        unit = self.unit
        yield f"Rows: {self.rows:,}. Units: {unit.units:,}."
        if not unit.is_checked:
            yield "Whether each unit is one person cannot be checked: no column of the table tells persons apart."
        for figure, of, words in (
            (unit.rows_without, self.rows, "Rows that belong to no unit and drop"),
            (unit.above_rows, unit.units, "Units with more rows than count"),
            (unit.rows_cut, self.rows, "Rows beyond the limit"),
        ):
            if figure:
                yield f"{words}: {figure:,}, {written('share', _share(figure, of))}."


def holds(kept_as: StorageType, declared: str) -> bool:
    """Whether a column kept as that type can be declared as this one."""
    return kept_as in _KEPT_AS[declared]


def check_contract(engine: Engine, table: StoredTable, contract: Contract) -> ContractFit:
    """How a table keeps to a contract, counted inside its engine."""
    pairs = [(name, column, table.column(name)) for name, column in contract.columns.items() if name in table.names]
    rows, columns = _columns(engine, table, pairs)
    unit, crowding = count_units(engine, table, contract, rows)
    columns = [_with_units(column, crowding) for column in columns]
    absent = tuple(name for name in contract.columns if name not in table.names)
    unnamed = tuple(name for name in table.names if name not in contract.columns)
    problems = tuple(_problems(contract, rows, columns, unit, absent))
    return ContractFit(
        table=contract.table,
        rows=rows,
        columns=tuple(columns),
        unit=unit,
        absent=absent,
        unnamed=unnamed,
        problems=problems,
    )


def _columns(engine: Engine, table: StoredTable, pairs: Sequence[Pair]) -> tuple[int, list[ColumnFit]]:
    rows, fits = 0, []
    for start in range(0, max(len(pairs), 1), _AT_ONCE):
        chunk = pairs[start : start + _AT_ONCE]
        counts = [count for pair in chunk for count in _counts(pair)]
        (figures,) = engine.integers(exp.select(exp.Count(this=exp.Star()), *counts).from_(table.name))
        rows, *each = (figure or 0 for figure in figures)
        for at, (name, column, stored) in enumerate(chunk):
            missing, below, above, outside = each[4 * at : 4 * at + 4]
            fits.append(
                ColumnFit(
                    name=name,
                    type=column.type,
                    kept_as=stored.type,
                    missing=missing,
                    below=below,
                    above=above,
                    outside_keys=outside,
                )
            )
    return rows, fits


def _counts(pair: Pair) -> tuple[exp.Expression, ...]:
    """Rows that are missing, below, above and outside the keys."""
    _, column, stored = pair
    there, value = is_there(stored), exp.column(stored.physical)
    below: exp.Expr = exp.false()
    above: exp.Expr = exp.false()
    outside: exp.Expr = exp.false()
    low, high = _ends(column)
    if low is not None and high is not None and holds(stored.type, column.type):
        below, above = exp.and_(there, value < _literal(low)), exp.and_(there, value > _literal(high))
    if isinstance(column, CategoryColumn):
        outside = exp.and_(there, exp.not_(exp.cast(value, "text").isin(*map(exp.Literal.string, column.keys))))
    return tuple(sum_where(condition, "1") for condition in (exp.not_(there), below, above, outside))


def _ends(column: Column) -> tuple[Fraction | date | None, Fraction | date | None]:
    if isinstance(column, DateColumn | DatetimeColumn):
        return column.low, column.high
    return (column.bounds.low, column.bounds.high) if column.bounds else (None, None)


def _literal(end: Fraction | date) -> exp.Expression:
    if isinstance(end, Fraction):
        text = decimal_text(abs(end)) if "/" not in decimal_text(end) else repr(float(abs(end)))
        number = exp.Literal.number(text)
        return exp.Neg(this=number) if end < 0 else number
    kind = "timestamp" if isinstance(end, datetime) else "date"
    return exp.cast(exp.Literal.string(end.isoformat()), kind)


def _with_units(column: ColumnFit, crowding: Mapping[str, Crowding]) -> ColumnFit:
    many, several = crowding.get(column.name, (None, None))
    return replace(column, units_in_many_groups=many, units_with_many_values=several)


def _problems(
    contract: Contract, rows: int, columns: Sequence[ColumnFit], unit: UnitFit, absent: tuple[str, ...]
) -> Iterator[str]:
    """What speaks against the contract, in words without figures."""
    yield from (f"column {name!r} is not in the table" for name in absent)
    for column in columns:
        yield from _column_problems(contract.columns[column.name], column)
    for name, count in unit.repeated:
        if count:
            yield f"a row is not a person: values of {name!r} stand in several rows; name a person column as the unit"
    if unit.above_rows:
        yield "some units have more rows than count; their rows are weighted down to the limit"
    if unit.rows_without:
        yield "some rows belong to no unit and drop"
    if contract.adjacency is Adjacency.REPLACE_ONE and not absent and unit.units != contract.units:
        yield "the table has another number of units than the contract makes public"
    if contract.max_rows is not None and rows > contract.max_rows:
        yield "the table has more rows than max_rows"


def _column_problems(declared: Column, column: ColumnFit) -> Iterator[str]:
    name = f"column {column.name!r}"
    if not column.is_kept_as_declared:
        yield f"{name} is declared {column.type} and kept as {column.kept_as}"
    if column.missing and declared.nulls is NullRule.REFUSE:
        yield f"{name} has missing values, which the contract refuses"
    if column.below or column.above:
        ends = [word for word, count in (("low", column.below), ("high", column.above)) if count]
        yield f"{name} has values beyond {' and '.join(ends)}, which are clamped"
    if column.outside_keys:
        yield f"{name} has values that are not among the keys"
    if column.units_in_many_groups:
        yield f"{name} has units in more groups than count"
    if column.units_with_many_values:
        yield f"{name} is said to be one per unit and is not"


def _share(count: int | None, of: int) -> Fraction | None:
    return None if count is None or not of else Fraction(count, of)
