"""FROM: the rows that are asked of, and their columns, as subqueries, WITH and joins make them of one table.

1. A subquery or a name of WITH that keeps rows narrows and renames: its conditions and its columns' meanings are taken.
2. A joined table is named as such. What may be joined, and what it costs, is for `measure.joins` to say.
3. All that is left of it are joins, conditions, and a meaning for each name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from discreet.data.contract import Contract
from discreet.errors import UnknownNameError
from discreet.measure.expression import Column, Predicate, Text, require_small
from discreet.measure.joins import Join, joined_contract
from discreet.query.sql.aggregates import has_aggregate
from discreet.query.sql.names import Names, Part, part_of_table, row_of
from discreet.query.sql.rows import Rows
from discreet.query.sql.typed import Person, Quantity, Row, Wording
from discreet.query.sql.written import Written, folded, shown, text_of

__all__ = ["Place", "Relation", "inner_select", "is_grouped", "relation_of"]

Contracts = Callable[[str], Contract]
_NESTED_AT_MOST = 20


@dataclass(frozen=True, slots=True)
class Place:
    """Where a SELECT stands: the query's text, the tables there are, and the names that WITH gave before it."""

    written: Written
    contract_of: Contracts
    named: Mapping[str, tuple[exp.CTE, Place]] = field(default_factory=dict)
    depth: int = 0

    def within(self, select: exp.Select) -> Place:
        """The place of what stands in a SELECT, with the names of its own WITH."""
        if self.depth > _NESTED_AT_MOST:
            raise self.written.refused(
                select,
                found="subqueries too many deep",
                right=f"at most {_NESTED_AT_MOST}",
                step="write fewer of them",
            )
        place = Place(self.written, self.contract_of, self.named, self.depth + 1)
        own = set[str]()
        for cte in select.args["with_"].expressions if select.args.get("with_") else ():
            name = folded(cte.alias)
            if name in own:
                raise self.written.refused(
                    cte, found=f"{shown(cte.alias)} twice", right="each name stands once", step="rename one"
                )
            own.add(name)
            place = Place(self.written, self.contract_of, {**place.named, name: (cte, place)}, place.depth)
        return place


@dataclass(frozen=True, slots=True)
class Relation:
    """Rows of one table and its joins: what is public of them, their names, and the conditions that keep a row."""

    base: Contract
    contract: Contract
    names: Names
    joins: tuple[Join, ...] = ()
    others: Mapping[str, Contract] = field(default_factory=dict)
    where: tuple[Predicate, ...] = ()


@dataclass(frozen=True, slots=True)
class Inner:
    """A SELECT that another one reads from, its place, and the names it goes by."""

    select: exp.Select
    place: Place
    name: str
    columns: tuple[exp.Identifier, ...]


def is_grouped(select: exp.Select) -> bool:
    """Whether a SELECT makes one row of many."""
    return any(select.args.get(name) for name in ("group", "having")) or any(
        has_aggregate(one) for one in select.expressions
    )


def inner_select(select: exp.Select, place: Place) -> Inner | None:
    """The SELECT that a SELECT reads from; None for a table."""
    from_ = select.args.get("from_")
    if from_ is None:
        raise place.written.refused(
            select, found="no FROM", right="a query asks of a table", step="write SELECT COUNT(*) FROM a table"
        )
    source = from_.this
    alias = source.args.get("alias")
    columns = tuple(alias.args.get("columns") or ()) if alias is not None else ()
    if isinstance(source, exp.Subquery):
        inner = _select_in(source, place.written)
        return Inner(inner, place.within(inner), source.alias, columns)
    named = place.named.get(folded(source.name)) if isinstance(source, exp.Table) else None
    if named is None:
        return None
    cte, outer = named
    own = tuple(cte.args["alias"].args.get("columns") or ())
    inner = _select_in(cte, place.written)
    deeper = Place(outer.written, outer.contract_of, outer.named, place.depth)
    return Inner(inner, deeper.within(inner), source.alias or cte.alias, columns or own)


def relation_of(select: exp.Select, place: Place) -> Relation:
    """The rows that a SELECT reads from, before its own WHERE."""
    inner = inner_select(select, place)
    relation = _table(select.args["from_"].this, place) if inner is None else _rows_of(inner)
    for node in select.args.get("joins") or ():
        relation = _joined(relation, node, place)
    return relation


def _table(node: Any, place: Place) -> Relation:
    contract = _contract(node, place)
    alias = node.args.get("alias")
    name = contract.table if alias is None else alias.name or contract.table
    columns = () if alias is None else tuple(alias.args.get("columns") or ())
    part = part_of_table(contract, name).renamed(name, columns, place.written)
    return Relation(contract, contract, Names(place.written, (part,)))


def _contract(node: Any, place: Place) -> Contract:
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        raise place.written.refused(
            node,
            found="what is neither a table nor a SELECT",
            right="FROM and JOIN name tables",
            step="name a table that the curator keeps",
        )
    try:
        contract = place.contract_of(node.name)
    except UnknownNameError as error:
        raise UnknownNameError(
            place.written.where(node),
            found=f"there is no table {shown(node.name)}",
            right=error.right,
            step=error.step,
        ) from None
    with place.written.at(node):
        contract.require_declared()
    return contract


def _joined(relation: Relation, node: Any, place: Place) -> Relation:
    """The rows with one table more."""
    written = place.written
    side, kind = (str(node.args.get(name) or "").upper() for name in ("side", "kind"))
    keyed = node.args.get("on") or node.args.get("using")
    if side not in ("", "LEFT") or kind not in ("", "INNER", "OUTER") or not keyed:
        raise written.refused(
            node,
            found=f"{' '.join(part for part in (side, kind) if part) or 'a cross'} join",
            right="a table is joined by JOIN or LEFT JOIN, on one column of each",
            step="write JOIN … USING (column), or JOIN … ON a.column = b.column",
        )
    if isinstance(node.this, exp.Table) and folded(node.this.name) in place.named:
        raise written.refused(
            node.this,
            found=f"{shown(node.this.name)}, a SELECT of WITH",
            right="what is joined is a table",
            step="join the table itself, and write conditions in WHERE",
        )
    other = _contract(node.this, place)
    alias = node.this.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise written.refused(
            alias, found="names for joined columns", right="they keep their names", step="rename them with AS"
        )
    title = other.table if alias is None else alias.name
    part = part_of_table(other, title)
    own, key, shared = _keys(relation, node, part, other, written)
    taken = {relation.base.table, *(join.name for join in relation.joins)}
    number = 1
    while (name := other.table if number == 1 else f"{other.table} {number}") in taken:
        number += 1
    join = Join(name=name, table=other.table, column=own, key=key, left=side == "LEFT")
    joins, others = (*relation.joins, join), {**relation.others, other.table: other}
    with written.at(node):
        contract = joined_contract(relation.base, joins, others)
    readers = {folded(column): _reader(name, column, other, contract) for column in other.columns}
    there = {column: reader for column, reader in readers.items() if column in part.columns}
    names = Names(written, (*relation.names.parts, Part(title, there, part.shown)), relation.names.shared | shared)
    return Relation(relation.base, contract, names, joins, others, relation.where)


def _reader(name: str, column: str, other: Contract, contract: Contract) -> Callable[[], Row]:
    """How a joined column is read; the person of a private table is that of the table it is joined to."""
    person = contract.unit.person
    if column == other.unit.person and person is not None:
        return lambda: Person(person)
    return lambda: row_of(f"{name}.{column}", contract)


def _keys(
    relation: Relation, node: Any, part: Part, other: Contract, written: Written
) -> tuple[str, str, frozenset[str]]:
    """The two columns that must be equal: of the table and of what is joined; and the names of USING."""
    using = node.args.get("using")
    if using:
        if len(using) > 1:
            raise written.refused(
                using[1], found="two columns to join on", right="one column of each table", step="name one"
            )
        column = exp.Column(this=using[0].copy())
        column.this.update_positions(using[0])
        return _own(relation, column, written), _other(column, part, other, written), frozenset({folded(using[0].name)})
    on = node.args["on"]
    while isinstance(on, exp.Paren):
        on = on.this
    if not isinstance(on, exp.EQ) or not all(isinstance(one, exp.Column) for one in (on.this, on.expression)):
        raise written.refused(
            on,
            found="a condition that is not one column equal to another",
            right="tables are joined on one column of each",
            step="write ON a.column = b.column, and other conditions in WHERE",
        )
    left, right = on.this, on.expression
    if _belongs(left, part, relation):
        left, right = right, left
    return _own(relation, left, written), _other(right, part, other, written), frozenset()


def _belongs(node: exp.Column, part: Part, relation: Relation) -> bool:
    """Whether a column is one of the joined table."""
    table = node.args.get("table")
    if table is not None:
        return folded(table.name) == folded(part.table)
    return folded(node.name) in part.columns and not relation.names.has(node.name)


def _own(relation: Relation, node: exp.Column, written: Written) -> str:
    match relation.names.row(node):
        case Quantity(Column(name)) | Wording(Text(name)) | Person(name) if name in relation.base.columns:
            return name
    raise written.refused(
        node,
        found="a join on what is no column of the table itself",
        right="a join is on a column of the table after FROM",
        step="name the column",
    )


def _other(node: exp.Column, part: Part, other: Contract, written: Written) -> str:
    table = node.args.get("table")
    name = next((one for one in other.columns if folded(one) == folded(node.name)), None)
    misplaced = table is not None and folded(table.name) != folded(part.table)
    if name is None or misplaced or folded(node.name) not in part.columns:
        raise written.unknown(node, "column", node.name, tuple(part.shown.values()))
    return name


def _rows_of(inner: Inner) -> Relation:
    """What a subquery that keeps rows gives: its columns by name, and its conditions."""
    select, written = inner.select, inner.place.written
    for clause, words in (("limit", "LIMIT"), ("offset", "OFFSET"), ("order", "ORDER BY")):
        if select.args.get(clause):
            raise written.refused(
                select.args[clause],
                found=f"{words} on rows",
                right="a subquery keeps all rows that its WHERE keeps, in no order",
                step="leave it out, or write it at the end of the query",
            )
    relation = relation_of(select, inner.place)
    rows = Rows(written, relation.contract, relation.names)
    where = relation.where
    if select.args.get("where"):
        where = (*where, rows.predicate(select.args["where"].this))
    read: dict[str, Callable[[], Row]] = {}
    public: dict[str, str] = {}
    for node in select.expressions:
        for title, reader in _columns(node, rows):
            if folded(title) in read:
                raise written.refused(
                    node, found=f"two columns {shown(title)}", right="each name stands once", step="rename one with AS"
                )
            read[folded(title)], public[folded(title)] = reader, title
    part = Part(inner.name, read, public).renamed(inner.name, inner.columns, written)
    return Relation(relation.base, relation.contract, Names(written, (part,)), relation.joins, relation.others, where)


def _columns(node: exp.Expr, rows: Rows) -> list[tuple[str, Callable[[], Row]]]:
    """The columns that one entry of a subquery's list gives, each read when it is named."""
    if isinstance(node, exp.Star):
        every = [(name, part) for part in rows.names.parts for name in part.columns]
        once = {(name, "" if name in rows.names.shared else part.table): part for name, part in reversed(every)}
        return [(part.shown.get(name, name), part.columns[name]) for (name, _), part in reversed(once.items())]
    inner = node.this if isinstance(node, exp.Alias) else node
    for column in inner.find_all(exp.Column):
        rows.names.require(column)
    title = node.alias if isinstance(node, exp.Alias) else node.name if isinstance(node, exp.Column) else text_of(node)

    @functools.lru_cache(maxsize=1)
    def reader() -> Row:
        row = rows.row(inner)
        require_small(row)
        return row

    return [(title, reader)]


def _select_in(node: Any, written: Written) -> exp.Select:
    inner = node.this
    while isinstance(inner, exp.Subquery) and not inner.args.get("alias"):
        inner = inner.this
    if not isinstance(inner, exp.Select):
        raise written.refused(
            node,
            found="brackets around what is no SELECT",
            right="FROM names a table, or holds a SELECT in brackets",
            step="remove the brackets",
        )
    return inner
