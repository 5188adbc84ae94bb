"""How rows fall to units, against the limits of a contract. Keeper only: every figure is raw.

1. A person, or a person per period: rows that belong to none; units with more rows than count, and how many of their
   rows are beyond the limit; for each column with public keys, units in more groups than count; for each column said
   to be one per unit, units with several values.
2. A row: whether each person has one. Every direct identifier whose values stand in several rows speaks against it;
   without any identifier nothing can be said, and `is_checked` is false.

Terms: a group is one value of one column with public keys; what is missing is a group of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from sqlglot import exp

from discreet.data.column import Role
from discreet.data.contract import Contract
from discreet.data.engines.base import Engine
from discreet.data.table import StoredColumn, StoredTable
from discreet.data.unit import Unit
from discreet.risk.presence import is_there, sum_where

__all__ = ["Crowding", "UnitFit", "count_units"]

Crowding: TypeAlias = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class UnitFit:
    """How the rows fall to units. `repeated` counts values of identifiers that stand in several rows of a row unit."""

    units: int
    rows_without: int = 0
    above_rows: int = 0
    rows_cut: int = 0
    repeated: tuple[tuple[str, int], ...] = ()
    is_checked: bool = True

    def __repr__(self) -> str:
        return "<confidential unit fit>"


def count_units(
    engine: Engine, table: StoredTable, contract: Contract, rows: int
) -> tuple[UnitFit, Mapping[str, Crowding]]:
    """The fit of the unit and, by column, units in too many groups and units with several values."""
    unit = contract.unit
    if unit.is_row:
        return _count_repeats(engine, table, contract, rows), {}
    if not {unit.person, unit.date} - {None} <= set(table.names):
        return UnitFit(units=0, is_checked=False), {}
    present = {name: column for name, column in contract.columns.items() if name in table.names}
    grouped = [name for name, column in present.items() if column.public_keys is not None]
    single = [name for name, column in present.items() if column.one_per_unit and name != unit.person]
    over = [(table.column(name), unit.groups) for name in grouped] + [(table.column(name), 1) for name in single]
    (figures,) = engine.integers(_select(table, unit, over))
    units, kept, above, cut, *crowded = (figure or 0 for figure in figures)
    many = dict(zip(grouped, crowded[: len(grouped)], strict=True))
    several = dict(zip(single, crowded[len(grouped) :], strict=True))
    fit = UnitFit(units=units, rows_without=rows - kept, above_rows=above, rows_cut=cut)
    return fit, {name: (many.get(name), several.get(name)) for name in (*many, *several)}


def _select(table: StoredTable, unit: Unit, over: Sequence[tuple[StoredColumn, int]]) -> exp.Select:
    """Over one row for each unit: how many there are, their rows, and how many pass each limit."""
    assert unit.person is not None
    person = table.column(unit.person)
    there = is_there(person)
    keys: list[exp.Expr] = [exp.column(person.physical)]
    if unit.date is not None and unit.period is not None:
        day = table.column(unit.date)
        there = exp.and_(there, is_there(day))
        keys.append(exp.func("DATE_TRUNC", exp.Literal.string(unit.period.value), exp.column(day.physical)))
    distinct = {stored.physical: _groups(stored).as_(f"d_{stored.physical}") for stored, _ in over}
    inner = exp.select(exp.Count(this=exp.Star()).as_("n"), *distinct.values()).from_(table.name)
    n = exp.column("n")
    return exp.select(
        exp.Count(this=exp.Star()),
        exp.Sum(this=n),
        sum_where(n > unit.rows, "1"),
        sum_where(n > unit.rows, n - unit.rows),
        *(sum_where(exp.column(f"d_{stored.physical}") > limit, "1") for stored, limit in over),
    ).from_(inner.where(there).group_by(*keys).subquery("u"))


def _groups(stored: StoredColumn) -> exp.Expr:
    missing = exp.Max(this=exp.case().when(is_there(stored), "0").else_("1"))
    return exp.Count(this=exp.Distinct(expressions=[exp.column(stored.physical)])) + missing


def _count_repeats(engine: Engine, table: StoredTable, contract: Contract, rows: int) -> UnitFit:
    repeated = []
    for name in contract.with_role(Role.DIRECT_IDENTIFIER):
        if name in table.names:
            stored = table.column(name)
            groups = exp.select(exp.Count(this=exp.Star()).as_("n")).from_(table.name).where(is_there(stored))
            per_value = groups.group_by(exp.column(stored.physical)).subquery("g")
            ((count,),) = engine.integers(exp.select(sum_where(exp.column("n") > 1, "1")).from_(per_value))
            repeated.append((name, count or 0))
    return UnitFit(units=rows, repeated=tuple(repeated), is_checked=bool(repeated))
