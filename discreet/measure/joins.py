"""Joins: a private table with public ones, or with one other private table on the unit.

What is joined is one table more, with a contract of its own that follows from the contracts of its parts.

Public join, on a column and with a key that the private table's contract lists under `joins`:

1. A private row meets the rows of the public table that hold its key, F at most; F is the declared `fan_out`. An inner
   join drops a row that meets none, a left join keeps it, with nothing in the public columns.
2. F is not taken on trust: before anything is charged the public table, which is nobody's secret, is asked how many of
   its rows share one key. With F = 1 the key is proven unique.
3. Whatever one unit could move, it can now move F times: R becomes R·F, G becomes G·F, and a row counts up to F times.

Private join, of two tables whose units are persons, on both person columns:

1. A person with m rows here and n there has m·n joined rows. Their weights bound them to R = R₁·R₂ rows and G = G₁·G₂
   groups: limits multiply.
2. Both populations are charged the whole price, together or not at all; one population is charged once. For the promise
   to the first population the neighbours differ in a person's rows here, for that to the second in the rows there, for
   that to one population in both: in each case all that differs are joined rows of that person, which 1 bounds.
3. Under replace-one in either table the joined table is treated as under replace-one: its bounds are never smaller.

A column of what is joined is named `<name>.<column>`, where `name` is the name the join gives it.

Given:   contracts that hold; a public table whose rows are public.
Promise: the joined contract's unit bounds whom a neighbour step changes in the joined table.
Because: a joined row holds the person of the private row it was made from, and 1 to 3 above.
Tested:  test_joins_move_as_far_as_was_proven, test_a_public_table_that_fans_out_more_is_refused,
         test_both_populations_are_charged.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from pydantic import Field
from sqlglot import exp

from discreet.check import known
from discreet.data.column import (
    BooleanColumn,
    CategoryColumn,
    Column,
    DateColumn,
    DatetimeColumn,
    IntegerColumn,
    NullRule,
    Role,
    TextColumn,
)
from discreet.data.contract import Contract
from discreet.data.engines.base import Engine
from discreet.data.engines.statement import source
from discreet.data.table import StoredColumn, StoredTable
from discreet.errors import ArgumentError, ContractError
from discreet.guarantee import Adjacency
from discreet.measure.render import is_there, joined_to, text_form

__all__ = [
    "Join",
    "JoinedContract",
    "JoinedTable",
    "fan_out",
    "is_public",
    "joined_contract",
    "joined_rows",
    "joined_table",
    "keeps_rows",
    "require_fan_out",
    "require_one_join",
    "table_names",
]

_TEXTS = (CategoryColumn, BooleanColumn, TextColumn)
_EXACT = (IntegerColumn, DateColumn, DatetimeColumn)


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """A table that is joined, the name of it in the question, and the columns that must be equal.

    `left` keeps the rows that meet none.
    """

    name: str
    table: str
    column: str
    key: str
    left: bool = False


class JoinedContract(Contract):
    """What is public of a joined table. `fan_out` is how many joined rows one row can become, in all."""

    made_of: tuple[Join, ...] = Field(description="the joins, in order")
    fan_outs: tuple[int | None, ...] = Field(description="of each public join its fan-out; None for the private one")
    partners: tuple[tuple[str, str], ...] = Field(description="the joined tables and what their contracts hash to")
    also: str | None = Field(default=None, description="the other population whose budget is charged")
    reasons: tuple[str, ...] = Field(description="why one unit moves no more than is said, in words")

    @property
    def fan_out(self) -> int:
        """How many joined rows one row can become by public joins."""
        return prod(fan for fan in self.fan_outs if fan is not None)

    @property
    def keeps_rows(self) -> bool:
        """Whether each row becomes exactly one joined row, whatever it holds."""
        return self.fan_out == 1 and None not in self.fan_outs and all(join.left for join in self.made_of)


def fan_out(contract: Contract) -> int:
    """How many rows one row of the table can become."""
    return contract.fan_out if isinstance(contract, JoinedContract) else 1


def keeps_rows(contract: Contract) -> bool:
    """Whether the rows that are asked about are exactly those of the table itself."""
    return not isinstance(contract, JoinedContract) or contract.keeps_rows


def is_public(contract: Contract, join: Join) -> bool:
    """Whether the keeper lists the join as one with a public table."""
    return _declared(contract, join) is not None


def joined_contract(contract: Contract, joins: Sequence[Join], others: Mapping[str, Contract]) -> JoinedContract:
    """The contract of the table with its joins, or a refusal. `others` are the contracts of the tables there are."""
    contract.require_declared()
    _require_names(contract, joins)
    parts = []
    for join in joins:
        known("table", join.table, sorted(others), step="name a table of the curator's")
        parts.append(_fan_out(contract, join, others[join.table]))
    private = [others[join.table] for join, fan in zip(joins, parts, strict=True) if fan is None]
    if len(private) > 1:
        raise _refusal(joins[0], "two joins with private tables", "one private table is joined at most", "ask twice")
    many = prod(fan for fan in parts if fan is not None)
    facts: dict[str, Any] = {name: getattr(contract, name) for name in Contract.model_fields}
    facts |= {
        "columns": {**contract.columns, **{name: facts for join in joins for name, facts in _columns(join, others)}},
        "joins": (),
        "made_of": tuple(joins),
        "fan_outs": tuple(parts),
        "partners": tuple((join.table, others[join.table].content_hash()) for join in joins),
        "reasons": tuple(map(_reason, joins, parts)),
        **_of_unit(contract, private[0] if private else None, many),
    }
    return JoinedContract(**facts)


def _of_unit(contract: Contract, partner: Contract | None, many: int) -> dict[str, Any]:
    """Whom one neighbour step changes, and by how many rows."""
    unit, rows, most = contract.unit, contract.unit.rows * many, contract.max_rows
    if partner is None:
        limits = {} if unit.is_row else {"rows": rows, "groups": unit.groups * many}
        return {"unit": unit.model_copy(update=limits), "max_rows": None if most is None else most * many}
    limits = {"rows": rows * partner.unit.rows, "groups": unit.groups * many * partner.unit.groups}
    # Weights leave each person R rows, and there are no more persons than either table has rows.
    fewest = min((one.max_rows for one in (contract, partner) if one.max_rows is not None), default=None)
    replaces = next((one for one in (contract, partner) if one.adjacency is Adjacency.REPLACE_ONE), None)
    return {
        "unit": unit.model_copy(update=limits),
        "max_rows": None if fewest is None else fewest * limits["rows"],
        "adjacency": contract.adjacency if replaces is None else replaces.adjacency,
        "units": None if replaces is None else replaces.units,
        "also": None if partner.whose == contract.whose else partner.whose,
    }


def _fan_out(contract: Contract, join: Join, other: Contract) -> int | None:
    """The fan-out of a public join, None for a private one; any other is refused."""
    declared = _declared(contract, join)
    if declared is None:
        _require_private(contract, join, other)
        return None
    if not other.unit.is_row or other.budget is not None or other.population is not None:
        raise _refusal(
            join, "a table with persons or a budget of its own", "what is public has neither", "join on the unit"
        )
    _require_one_kind(join, contract.columns[join.column], other)
    if contract.columns[join.column].role is Role.HIDDEN:
        raise _refusal(join, "a hidden column to join on", "it can never be asked about", "join on another column")
    return declared


def _require_private(contract: Contract, join: Join, other: Contract) -> None:
    """Refuse any other join than that of two private tables on both units."""
    listed = ", ".join(f"{one.table} on {one.column}" for one in contract.joins) or "none"
    if contract.unit.person is None or (contract.unit.person, other.unit.person) != (join.column, join.key):
        raise _refusal(
            join,
            f"a join on {join.column!r} that the contract does not list",
            f"public tables are joined as the contract lists them ({listed}), private ones on both person columns",
            "ask the keeper to list it under joins, if the table is public",
        )
    if join.left or contract.unit.period is not None or other.unit.period is not None or other.table == contract.table:
        raise _refusal(
            join,
            "a private table joined with itself, by a left join, or by persons of a period",
            "two private tables are joined by an inner join of whole persons",
            "write JOIN, or ask each table",
        )
    other.require_declared()
    _require_one_kind(join, contract.columns[join.column], other)


def _declared(contract: Contract, join: Join) -> int | None:
    for one in contract.joins:
        if (one.table, one.column, one.key or one.column) == (join.table, join.column, join.key):
            return one.fan_out
    return None


def _require_names(contract: Contract, joins: Sequence[Join]) -> None:
    names = [contract.table, *(join.name for join in joins)]
    if not joins or len({name.casefold() for name in names}) < len(names):
        raise ArgumentError(
            "joins",
            found="no join, or a name that stands for two tables",
            right="each table of a question has a name of its own",
            step="give the second one another name with AS",
        )
    for join in joins:
        known("column", join.column, tuple(contract.columns), step="join on one of the table's own columns")


def _require_one_kind(join: Join, own: Column, other: Contract) -> None:
    """Keys are compared by their bytes or as whole numbers, days and seconds; nothing is converted."""
    key = other.columns[known("column", join.key, tuple(other.columns), step="name a column of the joined table")]
    if not (isinstance(own, _TEXTS) and isinstance(key, _TEXTS)) and not (
        isinstance(own, _EXACT) and type(own) is type(key)
    ):
        raise _refusal(
            join,
            f"keys of the types {own.type} and {key.type}",
            "keys are both texts (or categories), both whole numbers, both dates or both times",
            "declare both columns alike",
        )


def _columns(join: Join, others: Mapping[str, Contract]) -> list[tuple[str, Column]]:
    """The columns of what is joined, under their new names. Where a left join finds nothing they are missing."""
    found = []
    for name, facts in others[join.table].columns.items():
        missing = join.left and facts.nulls is NullRule.REFUSE
        found.append((f"{join.name}.{name}", facts.model_copy(update={"nulls": NullRule.DROP}) if missing else facts))
    return found


def _reason(join: Join, fan: int | None) -> str:
    """One line of the proof."""
    if fan is None:
        return f"joined with {join.table!r} on the unit: limits multiply, and both populations are charged"
    met = "exactly one row, or none" if fan == 1 else f"at most {fan} rows"
    kind = "kept" if join.left else "dropped"
    return f"joined with the public table {join.table!r}: a row meets {met}, and is {kind} where it meets none"


def _refusal(join: Join, found: str, right: str, step: str) -> ArgumentError:
    return ArgumentError(f"join with {join.table!r}", found=found, right=right, step=step)


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedSource:
    """One joined table as the engine holds it, and the columns that must be equal. A private one has no fan-out."""

    table: StoredTable
    own: StoredColumn
    key: StoredColumn
    texts: bool
    left: bool
    fan_out: int | None
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedTable(StoredTable):
    """A table that no engine holds: it is made of several that one engine holds together, whenever it is read."""

    base: StoredTable
    made_of: tuple[Join, ...]
    sources: tuple[JoinedSource, ...]


def joined_table(contract: JoinedContract, tables: Mapping[str, StoredTable]) -> JoinedTable:
    """The tables of one engine as the joined table of the contract. `tables` are by their names in the contracts."""
    base, sources, columns = tables[contract.table], [], list(tables[contract.table].columns)
    for number, (join, fan) in enumerate(zip(contract.made_of, contract.fan_outs, strict=True)):
        other = tables[join.table]
        own, key = base.column(join.column), other.column(join.key)
        texts = isinstance(contract.columns[join.column], _TEXTS)
        if not texts and own.type is not key.type:
            raise ContractError(
                f"join with {join.table!r}",
                found=f"keys kept as {own.type} and {key.type}",
                right="both are kept alike",
                step="import one of the tables again, with its key read as in the other",
            )
        where = f"join of {contract.table!r} with {join.table!r}"
        sources.append(
            JoinedSource(table=other, own=own, key=key, texts=texts, left=join.left, fan_out=fan, where=where)
        )
        columns += [_renamed(f"j{number}_", join.name, column) for column in other.columns]
    return JoinedTable(
        name="joined", columns=tuple(columns), base=base, made_of=contract.made_of, sources=tuple(sources)
    )


def require_one_join(contract: Contract, table: StoredTable) -> None:
    """Refuse rows that were not joined as the contract's bounds suppose."""
    supposed = contract.made_of if isinstance(contract, JoinedContract) else ()
    made_of = table.made_of if isinstance(table, JoinedTable) else ()
    if supposed != made_of:
        raise ContractError(
            f"table {contract.table!r}",
            found="joined rows under the contract of others",
            right="what is read is joined as its contract says",
            step="make the table from its contract, with joined_table",
        )


def joined_rows(table: JoinedTable, used: Collection[str]) -> exp.Select:
    """The SELECT that makes the joined rows, with those physical columns of theirs that are used."""
    own = [exp.alias_(exp.column(name, "own"), name) for name in _physical(table.base) if name in used]
    select = exp.select(*own, exp.alias_(exp.Literal.number(1), "one")).from_(_aliased(table.base, "own"))
    for number, part in enumerate(table.sources):
        name = f"j{number}"
        shown = [column for column in _physical(part.table) if f"{name}_{column}" in used]
        select = select.select(*(exp.alias_(exp.column(column, name), f"{name}_{column}") for column in shown))
        same = exp.EQ(this=_key(part.own, part.texts, "own"), expression=_key(part.key, part.texts, name))
        select = joined_to(select, _aliased(part.table, name), same, left=part.left)
    return select


def table_names(table: StoredTable) -> tuple[str, ...]:
    """The tables that the engine reads for it."""
    if not isinstance(table, JoinedTable):
        return (table.name,)
    return (table.base.name, *(part.table.name for part in table.sources))


def require_fan_out(engine: Engine, table: JoinedTable) -> None:
    """Refuse a public table of which more rows share a key than its fan-out says. No private row is read."""
    for part in table.sources:
        if part.fan_out is None:
            continue
        key = _key(part.key, part.texts, "public")
        rows = exp.alias_(exp.Count(this=exp.Star()), "n")
        counted = exp.select(rows).from_(_aliased(part.table, "public")).where(is_there(key)).group_by(key.copy())
        most = exp.select(exp.Max(this=exp.column("n"))).from_("counted").with_("counted", as_=counted)
        ((found,),) = engine.integers(most)
        if found is not None and found > part.fan_out:
            raise ContractError(
                part.where,
                found=f"a public table of which {found} rows share one key",
                right=f"the contract says fan_out: {part.fan_out}",
                step=f"declare fan_out: {found}, or join on a key that is unique",
            )


def _physical(table: StoredTable) -> list[str]:
    return [name for column in table.columns for name in (column.physical, column.steps) if name is not None]


def _renamed(prefix: str, name: str, column: StoredColumn) -> StoredColumn:
    steps = None if column.steps is None else prefix + column.steps
    return StoredColumn(name=f"{name}.{column.name}", physical=prefix + column.physical, type=column.type, steps=steps)


def _key(column: StoredColumn, texts: bool, of: str) -> exp.Expr:
    """A key as it is compared, of the table under that name."""
    key = text_form(column) if texts else exp.column(column.physical)
    for part in key.find_all(exp.Column):
        part.set("table", exp.to_identifier(of))
    return key


def _aliased(table: StoredTable, name: str) -> exp.Expr:
    return exp.alias_(source(table.name), name, table=True)
