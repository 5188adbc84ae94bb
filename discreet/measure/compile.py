"""A plan as one SELECT over physical columns, and what comes back as a vector of one fixed shape.

0. `joined`, where tables are joined: the rows they make together (`joins`).
1. `read`: the rows that the filter keeps, with what is needed of them. `picked`: what these contribute to each sum. For
   persons, rows without one are gone here, and so are those that contribute nothing.
2. `heavy`, for persons: those with more rows than the limit, and the weight of their rows (`weights`).
3. `summed`: the sums, by the raw columns that keys are read from, or by the key's number where that is cheaper.
4. Each cell's number and its sums, exact whole numbers. Rows of no cell are gone here; cells without rows are 0.

All names are generated here, all literals come from the plan's own data.

What it does not promise: privacy. It reads exact sums; `noisy` is who asks for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from math import ceil, floor
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from discreet.data.contract import Contract
from discreet.data.engines.base import IntegerRows
from discreet.data.engines.statement import source
from discreet.data.table import StorageType, StoredTable
from discreet.measure.bounds import PartProof, Proof
from discreet.measure.expression import Column, Text
from discreet.measure.groups import Axis, Bins, Categories, Each, Group, Label, Magnitudes, magnitudes, step_of
from discreet.measure.joins import JoinedTable, joined_rows, require_one_join
from discreet.measure.plan import Count, Mixture, Persons, Plan, Total, mixed, width
from discreet.measure.render import Renderer, finite_steps, is_there, joined_to, whole
from discreet.measure.span import Span, span_of
from discreet.measure.weights import change_of_row, heavy_units
from discreet.mechanisms.noise import LIMIT
from discreet.mechanisms.tables import Integers

__all__ = ["compiled", "crowds", "holders", "spread", "vectors"]

Wholes: TypeAlias = NDArray[Any]
_Tables: TypeAlias = dict[str, exp.Query]
# A separator of units, then the signs of a plane that is left to private use.
_NO_WRITING = (0x1F, *range(0xF0000, 0xFFFFE))


def compiled(plan: Plan, contract: Contract, table: StoredTable, proof: Proof) -> exp.Select:
    """The SELECT whose rows are a cell's number and its sums."""
    require_one_join(contract, table)
    build = _Build(plan=plan, proof=proof, render=Renderer(table=table, contract=contract))
    return build.persons() if Persons() in plan.aggregates else build.sums()


def spread(plan: Plan, contract: Contract, table: StoredTable, proof: Proof, place: exp.Expr) -> exp.Select:
    """The SELECT whose rows are a cell's number, a place, and the weight of the rows there.

    The place is a whole number made of physical columns; where it is NULL, a row contributes nothing.
    """
    require_one_join(contract, table)
    return _Build(plan=plan, proof=proof, render=Renderer(table=table, contract=contract)).places(place)


def holders(plan: Plan, contract: Contract, table: StoredTable, proof: Proof, text: Text, limit: int) -> exp.Select:
    """The SELECT whose rows are a text and, as text, how many units have it, of units with at most `limit` texts."""
    require_one_join(contract, table)
    render = Renderer(table=table, contract=contract)
    return _Build(plan=plan, proof=proof, render=render).holders(render.text(text), limit)


def crowds(plan: Plan, contract: Contract, table: StoredTable, proof: Proof, limit: int) -> exp.Select:
    """The SELECT whose rows are 0 or 1, and how many units have at most `limit` rows that the filter keeps, or more."""
    require_one_join(contract, table)
    return _Build(plan=plan, proof=proof, render=Renderer(table=table, contract=contract)).crowds(limit)


def vectors(rows: IntegerRows, proof: Proof) -> tuple[Integers, ...]:
    """One array (cells, numbers) for each aggregate, from what the SELECT gave.

    Numbers are exact until each is clamped to ±2^61, which brings neighbours no further apart.
    """
    made = tuple(np.zeros((proof.cells, width(part.aggregate)), dtype=np.int64) for part in proof.parts)
    if not rows:
        return made
    # Arrays of Python's own whole numbers: as exact as they are, and no loop over cells.
    cells, *sums = (np.array([number or 0 for number in column], dtype=object) for column in zip(*rows, strict=True))
    left = iter(sums)
    for part, array in zip(proof.parts, made, strict=True):
        numbers = np.stack(_numbers(part, left), axis=1)
        array[cells.astype(np.int64)] = np.minimum(np.maximum(numbers, -LIMIT), LIMIT).astype(np.int64)
    return made


def _numbers(part: PartProof, sums: Iterator[Wholes]) -> tuple[Wholes, ...]:
    """An aggregate's numbers from the sums the engine made for it."""
    if isinstance(part.aggregate, Mixture) and part.span is not None:
        degree, length = part.aggregate.degree, part.span.width
        powers = tuple(next(sums) for _ in range(degree + 1))
        without = ((next(sums) - powers[0]) * length**degree,) if part.aggregate.whole else ()
        return mixed(degree, length, powers) + without
    return (next(sums),)


@dataclass(frozen=True, slots=True)
class _Term:
    """What one row adds to one sum: 1 if counted, else the column's value. Nothing where `there` is missing."""

    column: exp.Column | exp.Star
    counted: bool
    there: exp.Column | None = None

    def added(self) -> exp.Expr:
        """The sum over rows."""
        return (exp.Count if self.counted else exp.Sum)(this=self.column.copy())

    def times(self, factor: exp.Expr) -> exp.Expr:
        """The sum over rows, each times a factor."""
        if not self.counted:
            return exp.Sum(this=exp.Mul(this=factor, expression=self.column.copy()))
        if self.there is None:
            return exp.Sum(this=factor)
        return exp.Sum(this=exp.Case(ifs=[exp.If(this=is_there(self.there), true=factor)]))


_EVERY_ROW = _Term(exp.Star(), counted=True)


@dataclass(slots=True, kw_only=True)
class _Build:
    """One SELECT in the making."""

    plan: Plan
    proof: Proof
    render: Renderer
    # `read` shows these of a row: what the unit, keys and sums need, each worked out once.
    read: dict[str, exp.Expr] = field(default_factory=dict)
    # `picked` shows these in addition; `keys` names by which columns of it sums are made.
    made: dict[str, exp.Expr] = field(default_factory=dict)
    keys: list[str] = field(default_factory=list)
    lists: list[tuple[exp.Subquery, exp.Expr]] = field(default_factory=list)

    def sums(self) -> exp.Select:
        """The sums of rows, weighted where a unit is a person."""
        unit, code = self._unit(), self._code()
        terms = [term for part in self.proof.parts for term in self._terms(part)]
        tables = self._picked(unit, terms)
        tables |= self._summed("picked", self.keys, terms, unit)
        return self._coded(code, _columns(f"a{at}" for at in range(len(terms))), tables)

    def persons(self) -> exp.Select:
        """The units of each cell, weighted where one may be in too many."""
        unit, code = self._unit(), self._code()
        tables = self._picked(unit)
        if not unit:  # each row is one
            tables |= self._summed("picked", self.keys, [_EVERY_ROW])
            return self._coded(code, _columns(["a0"]), tables)
        names = [*unit, *self.keys]
        tables["met"] = _select(_columns(names), "picked").group_by(*_columns(names), copy=False)
        seen = _select([*_columns(unit), exp.alias_(code, "g")], "met").distinct(copy=False)
        tables["seen"] = self._listed(seen.where(is_there(code), copy=False))
        tables |= self._summed("seen", ["g"], [_EVERY_ROW], unit if self.proof.bits else ())
        total = [exp.column("g"), exp.Sum(this=exp.column("a0"))]
        return _with(_select(total, "summed").group_by(exp.column("g"), copy=False), tables)

    def places(self, place: exp.Expr) -> exp.Select:
        """The weight of the rows on each place of each cell."""
        unit, code = self._unit(), self._code()
        at = self._read(place)
        self.keys.append(at.name)
        tables = self._picked(unit, [_Term(at, counted=True, there=at)])
        tables |= self._summed("picked", self.keys, [_EVERY_ROW], unit)
        shown = [exp.alias_(code, "g"), at, exp.Sum(this=exp.column("a0"))]
        coded = self._listed(_select(shown, "summed")).where(is_there(at), copy=False)
        if self.plan.by:
            coded = coded.where(is_there(code), copy=False).group_by(code.copy(), copy=False)
        return _with(coded.group_by(at.copy(), copy=False), tables)

    def holders(self, text: exp.Expr, limit: int) -> exp.Select:
        """How many units have each text; those with too many texts count nowhere."""
        unit, key = self._unit(), self._read(text)
        shown = [key, exp.cast(exp.Count(this=exp.Star()), "TEXT")]
        tables = self._picked(unit)
        if not unit:
            counted = _select(shown, "picked").where(is_there(key.copy()), copy=False)
            return _with(counted.group_by(key.copy(), copy=False), tables)
        names = _columns([*unit, key.name])
        held = _select(names, "picked").where(is_there(key.copy()), copy=False)
        tables["held"] = held.group_by(*_columns([*unit, key.name]), copy=False)
        tables["heavy"] = heavy_units("held", unit, limit, 0)
        few = exp.Is(this=exp.column("weight", "heavy"), expression=exp.Null())
        counted = _select(shown, "held").where(few, copy=False).group_by(key.copy(), copy=False)
        counted = counted.join("heavy", on=_same(unit, "held", "heavy"), join_type="LEFT", copy=False)
        return _with(counted, tables)

    def crowds(self, limit: int) -> exp.Select:
        """How many units have up to so many rows, and how many have more."""
        unit = self._unit()
        tables = self._picked(unit)
        rows = exp.alias_(exp.Count(this=exp.Star()), "a0")
        tables["held"] = _select([*_columns(unit), rows], "picked").group_by(*_columns(unit), copy=False)
        above = exp.GT(this=exp.column("a0"), expression=whole(limit))
        code = exp.Case(ifs=[exp.If(this=above, true=whole(1))], default=whole(0))
        counted = _select([exp.alias_(code, "g"), exp.Count(this=exp.Star())], "held")
        return _with(counted.group_by(code.copy(), copy=False), tables)

    def _picked(self, unit: Sequence[str], terms: Sequence[_Term] = ()) -> _Tables:
        """The rows that the filter keeps, that have a unit and, for persons, contribute something."""
        shown = self.read or {"nothing": whole(0)}
        table = self.render.table
        name = table.name if isinstance(table, JoinedTable) else source(table.name)
        read = _select([exp.alias_(value, name) for name, value in shown.items()], name)
        if self.plan.where is not None:
            read = read.where(self.render.predicate(self.plan.where), copy=False)
        picked = _select([*_columns(shown), *(exp.alias_(value, name) for name, value in self.made.items())], "read")
        picked = picked.where(*map(is_there, _columns(unit)), copy=False)
        asked = {term.there.name: is_there(term.there) for term in terms if term.there is not None}
        if unit and asked and all(term.there is not None for term in terms):
            picked = picked.where(exp.or_(*asked.values(), copy=False), copy=False)
        if not isinstance(table, JoinedTable):
            return {"read": read, "picked": picked}
        used = {column.name for column in read.find_all(exp.Column)}
        return {table.name: joined_rows(table, used), "read": read, "picked": picked}

    def _summed(self, rows: str, keys: Sequence[str], terms: Sequence[_Term], unit: Sequence[str] = ()) -> _Tables:
        """The sums by the keys. With units: 2^s times each, and what the weights of those with too many rows take off.

        Σ w·v = 2^s·Σ v + Σ (w − 2^s)·v, where the last sum is over the rows of such units alone: it is the same whole
        number, and all other rows pass no join.
        """
        shown = [
            exp.alias_(_scaled(term.added(), self.proof.bits if unit else 0), f"a{at}") for at, term in enumerate(terms)
        ]
        summed = _select([*_columns(keys), *shown], rows).group_by(*_columns(keys), copy=False)
        if not unit:
            return {"summed": summed}
        change = change_of_row(self.proof.bits)
        taken = [exp.alias_(term.times(change.copy()), f"a{at}") for at, term in enumerate(terms)]
        less = _select([*_columns(keys), *taken], rows).group_by(*_columns(keys), copy=False)
        less = joined_to(less, exp.table_("heavy"), _same(unit, rows, "heavy"))
        heavy = heavy_units(rows, unit, self.proof.limit, self.proof.bits)
        return {"heavy": heavy, "summed": exp.union(summed, less, distinct=False, copy=False)}

    def _unit(self) -> tuple[str, ...]:
        """The columns that tell units apart: the person, and the period if there is one. None where each row is one."""
        unit = self.render.contract.unit
        if unit.person is None:
            return ()
        person = self.render.table.column(unit.person)
        raw: exp.Expr = exp.column(person.physical)
        if person.type is StorageType.DECIMAL:
            raw = exp.Case(ifs=[exp.If(this=exp.Not(this=exp.IsNan(this=raw.copy())), true=raw)])
        self.read["u0"] = raw
        if unit.period is None or unit.date is None:
            return ("u0",)
        date = exp.cast(exp.column(self.render.stored(unit.date).physical), "DATE")
        self.read["u1"] = exp.func("DATE_TRUNC", exp.Literal.string(unit.period.value), date, dialect="duckdb")
        return ("u0", "u1")

    def _terms(self, part: PartProof) -> list[_Term]:
        """What one row adds to each sum of an aggregate."""
        match part.aggregate, part.span:
            case Count(None), _:
                return [_EVERY_ROW]
            case Count(of), _:
                assert of is not None
                there = self._read(self.render.term(of))
                return [_Term(there, counted=True, there=there)]
            case Total(value), _:
                number = self._read(self.render.value(value))
                return [_Term(number, counted=False, there=number)]
            case Mixture(value, degree, every), Span(low=low):
                number = self._read(self.render.value(value))
                above = self._made(exp.Paren(this=exp.Sub(this=number, expression=whole(low)))) if low else number
                terms = [_Term(number, counted=True, there=number), _Term(above, counted=False, there=number)]
                if degree == 2:
                    terms.append(_Term(self._made(_squared(self.made.get(above.name, above))), False, there=number))
                return [*terms, *[_EVERY_ROW] * every]
        raise AssertionError(part)

    def _read(self, value: exp.Expr) -> exp.Column:
        """The value as a column of `read`; the same value is the same column."""
        return _named(value, self.read, "r")

    def _made(self, value: exp.Expr) -> exp.Column:
        """The value, made of columns of `read`, as one more column of `picked`."""
        return _named(value, self.made, "v")

    def _code(self) -> exp.Expr:
        """The cell's number, the last key changing fastest; NULL outside all cells."""
        code: exp.Expr = whole(0)
        for at, (group, axis) in enumerate(zip(self.plan.by, self.proof.axes, strict=True)):
            one = self._code_of(at, group, axis)
            scaled = exp.Mul(this=exp.Paren(this=code), expression=whole(axis.size))
            code = exp.Add(this=scaled, expression=one) if at else one
        return exp.Paren(this=code)

    def _code_of(self, at: int, group: Group, axis: Axis) -> exp.Expr:
        match group:
            case Categories(text):
                self._by_raw(text.name)
                return self._code_of_text(at, self.render.text(text), axis)
            case Each(value):
                number = self.render.value(value)
                if isinstance(value, Column):
                    self._by_raw(value.name)
                else:
                    number = self._read(number)
                    self.keys += [] if number.name in self.keys else [number.name]
                low = span_of(value, self.render.contract).low
                code = exp.Paren(this=exp.Sub(this=number, expression=whole(low)))
                if not axis.missing:
                    return code
                return exp.Coalesce(this=code, expressions=[whole(axis.size - 1)])
            case Bins():
                one = self._made(self._bin(group, axis))
                self.keys += [] if one.name in self.keys else [one.name]
                return one
            case Magnitudes(name):
                one = self._made(self._magnitude(name))
                self.keys += [] if one.name in self.keys else [one.name]
                return one

    def _by_raw(self, name: str) -> None:
        """Sums are made by the raw column, and the key is read off it after that."""
        column = self.render.table.column(name)
        physical = column.physical if column.steps is None else column.steps
        self.read[physical] = exp.column(physical)
        if physical not in self.keys:
            self.keys.append(physical)

    def _code_of_text(self, at: int, text: exp.Expr, axis: Axis) -> exp.Expr:
        """Keys are split off one text, so that their number costs nothing before the engine counts them."""
        name = f"keys{at}"
        same = exp.NullSafeEQ if axis.missing else exp.EQ
        listed = exp.Subquery(this=_key_list(axis.labels), alias=exp.TableAlias(this=exp.to_identifier(name)))
        self.lists.append((listed, same(this=exp.column("key", name), expression=text)))
        return exp.column("code", name)

    def _bin(self, bins: Bins, axis: Axis) -> exp.Expr:
        step = span_of(bins.value, self.render.contract).step
        number = self._read(self.render.value(bins.value))
        starts, last = [ceil(edge / step) for edge in bins.edges[:-1]], floor(bins.edges[-1] / step)
        inside = exp.Between(this=number.copy(), low=whole(starts[0]), high=whole(last))
        branches = [exp.If(this=inside, true=_search(number, starts, 0))]
        if axis.missing:
            missing = exp.Is(this=number.copy(), expression=exp.Null())
            branches.append(exp.If(this=missing, true=whole(axis.size - 1)))
        return exp.Case(ifs=branches)

    def _magnitude(self, name: str) -> exp.Expr:
        """Which of the magnitudes a number has, of the raw column; NaN and the infinities have none."""
        starts = [start for start, _, _ in magnitudes()]
        raw = exp.column(self.render.table.column(name).physical)
        number = self._read(finite_steps(raw, step_of(name, self.render.contract), largest=-starts[0]))
        return exp.Case(ifs=[exp.If(this=is_there(number), true=_search(number, starts, 0))])

    def _listed(self, select: exp.Select) -> exp.Select:
        """The SELECT joined with the lists of keys."""
        for listed, condition in self.lists:
            select = joined_to(select, listed, condition)
        return select

    def _coded(self, code: exp.Expr, sums: Sequence[exp.Expr], tables: _Tables) -> exp.Select:
        added = [exp.Sum(this=column) for column in sums]
        coded = self._listed(_select([exp.alias_(code, "g"), *added], "summed"))
        if self.plan.by:
            coded = coded.where(is_there(code), copy=False).group_by(code.copy(), copy=False)
        return _with(coded, tables)


def _search(number: exp.Expr, starts: Sequence[int], first: int) -> exp.Expr:
    """Which interval a number lies in that is not below the first start: evenly spaced by division, else by halving."""
    gaps = {b - a for a, b in pairwise(starts)}
    if len(starts) == 1:
        return whole(first)
    if len(gaps) == 1 and first == 0 and min(gaps) > 0:
        (gap,) = gaps
        above = exp.Paren(this=exp.Sub(this=number.copy(), expression=whole(starts[0])))
        at = above if gap == 1 else exp.IntDiv(this=above, expression=whole(gap))
        # The last interval is closed, and may be longer than the others.
        return exp.Least(this=at, expressions=[whole(len(starts) - 1)], ignore_nulls=True)
    middle = len(starts) // 2
    below = exp.LT(this=number.copy(), expression=whole(starts[middle]))
    return exp.Case(
        ifs=[exp.If(this=below, true=_search(number, starts[:middle], first))],
        default=_search(number, starts[middle:], first + middle),
    )


def _key_list(labels: Sequence[Label]) -> exp.Select:
    """Keys and their numbers, from one text in which they stand side by side; what is missing is one of them."""
    between, missing = _unused(labels)
    text = between.join(missing if label is None else str(label) for label in labels)
    split = exp.Split(this=exp.Literal.string(text), expression=exp.Literal.string(between))
    every = exp.Subquery(this=exp.select(exp.alias_(split, "every")), alias=exp.TableAlias(this=exp.to_identifier("l")))
    key: exp.Expr = exp.Explode(this=exp.column("every"))
    if None in labels:
        key = exp.Nullif(this=key, expression=exp.Literal.string(missing))
    place = exp.Anonymous(this="generate_subscripts", expressions=[exp.column("every"), whole(1)])
    number = exp.Sub(this=place, expression=whole(1))
    return exp.select(exp.alias_(key, "key"), exp.alias_(number, "code")).from_(every)


def _unused(labels: Sequence[Label]) -> tuple[str, str]:
    """Two signs that no key has: from among those that no writing uses."""
    used = set().union(*(str(label) for label in labels))
    first, second = islice((sign for sign in map(chr, _NO_WRITING) if sign not in used), 2)
    return first, second


def _named(value: exp.Expr, among: dict[str, exp.Expr], letter: str) -> exp.Column:
    """The value as a column there; the same value is the same column."""
    for name, known in among.items():
        if known == value:
            return exp.column(name)
    name = f"{letter}{len(among)}"
    among[name] = value
    return exp.column(name)


def _squared(value: exp.Expr) -> exp.Expr:
    return exp.Mul(this=value.copy(), expression=value.copy())


def _scaled(added: exp.Expr, bits: int) -> exp.Expr:
    """2^s times a sum or a count, in 128 bits: a count of joined rows may be larger than the table it is made of."""
    return exp.Mul(this=exp.cast(added, "HUGEINT"), expression=whole(1 << bits)) if bits else added


def _same(columns: Iterable[str], left: str, right: str) -> exp.Expr:
    return exp.and_(*(exp.EQ(this=exp.column(name, left), expression=exp.column(name, right)) for name in columns))


def _columns(names: Iterable[str]) -> list[exp.Expr]:
    return [exp.column(name) for name in names]


def _select(shown: Sequence[exp.Expr], table: str | exp.Table) -> exp.Select:
    """A SELECT of expressions; none of them is copied or read as text."""
    of = exp.table_(table) if isinstance(table, str) else table
    return exp.Select(expressions=list(shown)).from_(of, copy=False)


def _with(select: exp.Select, tables: _Tables) -> exp.Select:
    """The SELECT over tables that the engine works out where they are used, never as copies."""
    for name, table in tables.items():
        alias = exp.TableAlias(this=exp.to_identifier(name))
        select = select.with_(alias, as_=table, materialized=False, copy=False)
    return select
