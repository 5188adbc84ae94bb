"""Which column a name means: those of tables under their contracts, or those that a subquery gives.

Names are compared as DuckDB compares them. A hidden column does not exist; a direct identifier is refused by name; the
column that tells persons apart is known, but stands for nothing that could be read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from discreet.data.column import (
    BooleanColumn,
    CategoryColumn,
    DateColumn,
    DatetimeColumn,
    DecimalColumn,
    IntegerColumn,
    Role,
)
from discreet.data.contract import Contract
from discreet.measure.expression import Column, Text
from discreet.measure.span import require_askable
from discreet.query.sql.typed import Person, Quantity, Row, Wording
from discreet.query.sql.written import Written, folded

__all__ = ["Names", "Part", "part_of_table", "row_of"]


@dataclass(frozen=True, slots=True)
class Part:
    """The columns of one table after FROM: by folded name how each is read, and the names to show."""

    table: str
    columns: Mapping[str, Callable[[], Row]]
    shown: Mapping[str, str]

    def renamed(self, table: str, columns: Sequence[exp.Identifier], written: Written) -> Part:
        """The same columns under another table's name, the first of them under other names."""
        if not columns:
            return Part(table, self.columns, self.shown)
        old = list(self.columns)
        if len(columns) > len(old):
            raise written.refused(
                columns[-1],
                found=f"{len(columns)} names for {len(old)} columns",
                right="each column has one name",
                step="remove names",
            )
        new = [name.name for name in columns] + [self.shown.get(name, name) for name in old[len(columns) :]]
        read = {folded(name): self.columns[was] for name, was in zip(new, old, strict=True)}
        return Part(table, read, {folded(name): name for name, was in zip(new, old, strict=True) if was in self.shown})


@dataclass(frozen=True, slots=True)
class Names:
    """The columns of all that stands after FROM. `shared` are those of USING, which are one column."""

    written: Written
    parts: tuple[Part, ...]
    shared: frozenset[str] = frozenset()

    @property
    def public(self) -> tuple[str, ...]:
        """The names to show."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.shown.values()))

    def row(self, node: exp.Column) -> Row:
        """What the name of a column means."""
        having, name = self.require(node), node.this
        if len(having) > 1 and folded(name.name) not in self.shared:
            raise self.written.refused(
                name,
                found=f"column {name.name!r}, which {len(having)} tables have",
                right="a name means one column",
                step=f"write {having[0].table}.{name.name} or {having[1].table}.{name.name}",
            )
        with self.written.at(name):
            return having[0].columns[folded(name.name)]()

    def require(self, node: exp.Column) -> list[Part]:
        """The tables that have a column of that name, which are at least one."""
        name = node.this
        if isinstance(name, exp.Star):
            raise self.written.refused(
                node, found="all columns at once", right="each column is asked for by name", step="name the columns"
            )
        having = [part for part in self._meant(node) if folded(name.name) in part.columns]
        if not having:
            raise self.written.unknown(name, "column", name.name, self.public)
        return having

    def has(self, name: str) -> bool:
        """Whether there is a column of that name."""
        return any(folded(name) in part.columns for part in self.parts)

    def title(self, name: str) -> str:
        """The name of a column as it is shown."""
        return next((part.shown[folded(name)] for part in self.parts if folded(name) in part.shown), name)

    def _meant(self, node: exp.Column) -> Sequence[Part]:
        table = node.args.get("table")
        if table is None:
            return self.parts
        found = [part for part in self.parts if folded(part.table) == folded(table.name)]
        if not found:
            raise self.written.unknown(table, "table", table.name, [part.table for part in self.parts])
        return found


def part_of_table(contract: Contract, table: str) -> Part:
    """The columns of one table, as its contract has them."""

    def reader(name: str) -> Callable[[], Row]:
        return lambda: row_of(name, contract)

    there = [name for name, column in contract.columns.items() if column.role is not Role.HIDDEN]
    public = {folded(name): name for name in contract.released}
    return Part(table, {folded(name): reader(name) for name in there}, public)


def row_of(name: str, contract: Contract) -> Row:
    """What a column of a contract means."""
    if name == contract.unit.person:
        return Person(name)
    require_askable(name, contract)
    match contract.columns[name]:
        case IntegerColumn() | DecimalColumn():
            return Quantity(Column(name))
        case DateColumn():
            return Quantity(Column(name), "date")
        case DatetimeColumn():
            return Quantity(Column(name), "moment")
        case BooleanColumn() as facts:
            return Wording(Text(name), facts.public_keys, boolean=True)
        case CategoryColumn(keys=keys):
            return Wording(Text(name), keys)
    return Wording(Text(name), None)
