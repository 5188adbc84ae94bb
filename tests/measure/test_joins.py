"""Joins: every neighbour, over a grid of how often keys meet, moves as far as was proven; unsound joins are refused."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sqlglot import exp

from discreet.accounting.account import AccountKey, Kind
from discreet.accounting.amount import Amount
from discreet.accounting.events import Price, price
from discreet.data.column import DateColumn
from discreet.data.contract import Contract
from discreet.data.engines.duckdb import DuckDBEngine
from discreet.data.load import load
from discreet.data.table import StoredTable
from discreet.data.unit import Period
from discreet.errors import ArgumentError, BudgetError, ContractError, DiscreetError, UnknownNameError
from discreet.guarantee import Adjacency
from discreet.measure.bounds import prove
from discreet.measure.compile import compiled, vectors
from discreet.measure.door import measure
from discreet.measure.expression import Case, Column, Compare, Constant, Missing, Plus, Predicate, Text, Times
from discreet.measure.groups import Categories, Each, Group
from discreet.measure.joins import Join, JoinedContract, is_public, joined_contract, joined_table
from discreet.measure.noisy import NoisyVector, prepare
from discreet.measure.plan import Aggregate, Count, Persons, Plan, Total, endpoints, moments
from discreet.query.allowance import Allowance
from discreet.query.recipe import Primitive, Recipe, recipe_of
from discreet.query.statistic import Rows
from discreet.query.strategy import strategies
from discreet.randomness import SeededBits
from tests.accounting.places import PEOPLE, Place
from tests.measure.worlds import declared_moves, largest_moves

BOTH = tuple(Adjacency)
PERSON, ROW = "{person: p, rows: 2, groups: 1}", "row"
_PRIVATE = """
table: {table}
population: {population}
unit: {unit}
{public}
max_rows: 100000
columns:
  p: {{type: text, role: direct identifier}}
  x: {{type: decimal, step: 0.5, low: -1, high: 3}}
  g: {{type: category, keys: [a, b]}}
  n: {{type: integer, low: 0, high: 100000}}
joins: [{{table: regions, column: g, key: k, fan_out: {fan}}}]
"""
_PUBLIC = """
table: regions
unit: row
columns:
  k: {type: text}
  y: {type: decimal, step: 0.5, low: -1, high: 1, nulls: refuse}
  h: {type: category, keys: [c, d]}
"""
X, Y = Column("x"), Column("r.y")
REGIONS = Join(name="r", table="regions", column="g", key="k")
AGGREGATES: tuple[Aggregate, ...] = (
    Count(),
    Count(Y),
    Total(X),
    Total(Y),
    Total(Times(X, Y)),
    endpoints(Y),
    endpoints(Y, whole=True),
    moments(X, whole=True),
)
GROUPS: dict[str, tuple[Group, ...]] = {
    "one cell": (),
    "own key": (Categories(Text("g")),),
    "public key": (Categories(Text("r.h")),),
    "both": (Categories(Text("g")), Categories(Text("r.h"))),
}
FILTERS: tuple[Predicate | None, ...] = (None, Compare(X, ">", Constant(Fraction(0))), Missing(Y))
Row = tuple[Any, ...]


def private(
    adjacency: Adjacency = Adjacency.ADD_REMOVE,
    *,
    unit: str = ROW,
    fan: int = 1,
    table: str = "visits",
    population: str = "people",
) -> Contract:
    public = f"adjacency: {adjacency}" + ("\nunits: 4" if adjacency is Adjacency.REPLACE_ONE else "")
    return Contract.from_yaml(_PRIVATE.format(table=table, population=population, unit=unit, public=public, fan=fan))


def regions() -> Contract:
    return Contract.from_yaml(_PUBLIC)


@dataclass
class Joined:
    """Two stored tables on one engine; the first is that of many small tables, told apart by n."""

    engine: DuckDBEngine
    tables: Mapping[str, StoredTable]
    shape: tuple[int, int]

    @classmethod
    def build(cls, folder: Path, frames: Mapping[str, pl.DataFrame], shape: tuple[int, int]) -> Joined:
        folder.mkdir(parents=True)
        steps = {"x": Fraction(1, 2), "y": Fraction(1, 2), "n": Fraction(1)}
        stored = {}
        for at, (name, frame) in enumerate(frames.items()):
            table = load(
                frame, folder / f"{at}.duckdb", steps={one: steps[one] for one in frame.columns if one in steps}
            )
            stored[name] = replace(table, name=f"t{at}.rows")
        engine = DuckDBEngine.open_together([folder / f"{at}.duckdb" for at in range(len(frames))], memory="1GB")
        return cls(engine, stored, shape)

    def exact(self, plan: Plan, contract: JoinedContract) -> list[np.ndarray]:
        """For each aggregate the numbers (base, content, number), in steps of 2^−20 of a row."""
        wide = replace(plan, by=(Each(Column("n")), *plan.by))
        last = self.shape[0] * self.shape[1] - 1
        told = contract.columns["n"].model_copy(update={"high": Fraction(last)})
        contract = contract.model_copy(update={"columns": {**contract.columns, "n": told}})
        proof = prove(wide, contract)
        read = vectors(self.engine.integers(compiled(wide, contract, self.joined(contract), proof)), proof)
        return [array.reshape(*self.shape, -1) << (20 - proof.bits) for array in read]

    def joined(self, contract: JoinedContract) -> StoredTable:
        return joined_table(contract, self.tables)


def _multisets(rows: Sequence[Row], most: int) -> Iterator[tuple[Row, ...]]:
    for size in range(most + 1):
        yield from itertools.combinations_with_replacement(rows, size)


def _frame(rows: Sequence[Row]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"p": pl.String, "x": pl.Float64, "g": pl.String, "n": pl.Int64}, orient="row")


def _private_rows(bases: Sequence[Sequence[Row]], contents: Sequence[Sequence[Row]]) -> pl.DataFrame:
    rows = [
        (None if p is None else f"{number} {p}", x, g, number)
        for number, (base, content) in enumerate(itertools.product(bases, contents))
        for p, x, g in (*base, *content)
    ]
    return _frame(rows)


def _public_rows(a: int, b: int) -> pl.DataFrame:
    """A public table in which one key stands a times and the other b times, beside others that nobody meets."""
    values = ((1.0, "c"), (-1.0, "d"), (None, "c"))
    rows = [("a", *values[at]) for at in range(a)] + [("b", *values[2 - at]) for at in range(b)]
    rows += [("nobody", 1.0, "c"), (None, 1.0, "d")]
    return pl.DataFrame(rows, schema={"k": pl.String, "y": pl.Float64, "h": pl.String}, orient="row")


def violations(world: Joined, plan: Plan, contract: JoinedContract, adjacency: Adjacency) -> list[Aggregate]:
    proven = declared_moves(prove(plan, contract))
    found = largest_moves(world.exact(plan, contract), adjacency)
    pairs = zip(plan.aggregates, proven, found, strict=True)
    return [one for one, said, moved in pairs if moved.l1 > said.l1 or moved.l2_squared > said.l2_squared]


FEW = ((1, 0), (1, 1), (3, 1), (3, 3))
EVERY = tuple(itertools.product(range(4), range(4)))
Grid = dict[tuple[int, int], tuple[Joined, Joined]]


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Grid:
    """By row and by person, for some numbers of public rows with the one key and with the other."""
    return _grid(tmp_path_factory.mktemp("grid"), FEW)


def _grid(folder: Path, numbers: Sequence[tuple[int, int]]) -> Grid:
    each: tuple[Row, ...] = tuple((None, x, g) for x in (-9.0, 99.0, None) for g in ("a", "b", "foreign", None))
    rows = _private_rows(tuple(_multisets(each, 1)), ((), *((row,) for row in each)))
    mine: tuple[Row, ...] = tuple(("me", x, g) for x in (-9.0, 99.0, None) for g in ("a", "b"))
    contents = tuple(_multisets(mine, 3))
    nobody: Sequence[Row] = ((None, 3.0, "a"), ("you", -1.0, "b"))
    persons = _private_rows(((), nobody), contents)
    return {
        (a, b): (
            Joined.build(folder / f"{a}{b}r", {"visits": rows, "regions": _public_rows(a, b)}, (13, 13)),
            Joined.build(folder / f"{a}{b}p", {"visits": persons, "regions": _public_rows(a, b)}, (2, len(contents))),
        )
        for a, b in numbers
    }


def _agreed(adjacency: Adjacency, unit: str, fan: int, left: bool) -> JoinedContract:
    return joined_contract(
        private(adjacency, unit=unit, fan=fan), [replace(REGIONS, left=left)], {"regions": regions()}
    )


@pytest.mark.parametrize("adjacency", BOTH)
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("by", ["one cell", "both"])
def test_joins_move_as_far_as_was_proven(grid: Any, by: str, left: bool, adjacency: Adjacency) -> None:
    """One row, or up to three rows of a person, each of which meets 0 to 3 rows of the public table."""
    _require_no_violations(grid, by, left, adjacency)


@pytest.mark.slow
def test_the_whole_grid_of_joins_moves_as_far_as_was_proven(tmp_path: Path) -> None:
    """Every number 0 to 3 of public rows for each of two keys."""
    every = _grid(tmp_path, EVERY)
    for by, left, adjacency in itertools.product(GROUPS, (False, True), BOTH):
        _require_no_violations(every, by, left, adjacency)


def _require_no_violations(grid: Grid, by: str, left: bool, adjacency: Adjacency) -> None:
    for (a, b), worlds in grid.items():
        for world, unit in zip(worlds, (ROW, PERSON), strict=True):
            contract = _agreed(adjacency, unit, max(a, b, 1), left)
            for where in FILTERS:
                public = contract.keeps_rows and unit == ROW and not GROUPS[by] and where is None
                some = AGGREGATES[1:] if public and adjacency is Adjacency.REPLACE_ONE else AGGREGATES
                plan = Plan(aggregates=some, by=GROUPS[by], where=where)
                assert violations(world, plan, contract, adjacency) == [], (a, b, unit)
            if unit == PERSON:
                distinct = Plan(aggregates=(Persons(),), by=GROUPS[by])
                if by != "one cell" or adjacency is Adjacency.ADD_REMOVE or not contract.keeps_rows:
                    assert violations(world, distinct, contract, adjacency) == []


def test_what_is_proven_of_joins_is_reached(grid: Any) -> None:
    """A fan-out of 3 is needed where 3 rows share a key: no bound could be smaller."""
    tight: tuple[Aggregate, ...] = (Count(), Count(X), Total(X), endpoints(X))
    for world, unit in zip(grid[3, 3], (ROW, PERSON), strict=True):
        contract = _agreed(Adjacency.ADD_REMOVE, unit, 3, False)
        plan = Plan(aggregates=tight)
        assert largest_moves(world.exact(plan, contract), Adjacency.ADD_REMOVE) == declared_moves(prove(plan, contract))


def test_planted_bugs_in_joins_turn_red(grid: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(aggregates=(Count(), Total(X)), by=GROUPS["public key"])
    rows, persons = grid[3, 1]
    for world, unit in ((rows, ROW), (persons, PERSON)):
        fair = _agreed(Adjacency.ADD_REMOVE, unit, 3, False)
        assert violations(world, plan, fair, Adjacency.ADD_REMOVE) == []
    forgotten = _agreed(Adjacency.ADD_REMOVE, ROW, 1, False)  # the fan-out does not multiply
    assert violations(rows, plan, forgotten, Adjacency.ADD_REMOVE) == list(plan.aggregates)
    never_missing = Case(((Missing(X), Constant(Fraction(2))),), Plus(X, Constant(Fraction(2))))
    surely = Plan(aggregates=(Total(never_missing),))
    inner = _agreed(Adjacency.REPLACE_ONE, ROW, 1, False)
    assert violations(grid[1, 0][0], surely, inner, Adjacency.REPLACE_ONE) == []
    monkeypatch.setattr(JoinedContract, "keeps_rows", True)  # an inner join taken for one that keeps each row
    assert violations(grid[1, 0][0], surely, inner, Adjacency.REPLACE_ONE) == list(surely.aggregates)


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Joined, Joined]:
    """Up to three rows of a person in one table, up to three of hers in the other: what differs stands in the first.

    The second world is the first one with the tables exchanged.
    """
    folder = tmp_path_factory.mktemp("pairs")
    rows = [(name, x, g) for name in ("me", "you") for x in (-9.0, 99.0) for g in ("a", "b")]
    contents = ((), *(one for who in (rows[:4], rows[4:]) for one in _multisets(who, 3) if one))
    bases = list(itertools.product(range(4), range(3)))
    differing = _private_rows([()] * len(bases), contents)
    values, other = ((99.0, "a"), (-9.0, "b"), (None, "a")), []
    for number, ((mine, yours), _) in enumerate(itertools.product(bases, contents)):
        other += [(f"{number} {who}", *values[at], 0) for who, n in (("me", mine), ("you", yours)) for at in range(n)]
    frames, shape = {"visits": differing, "bills": _frame(other)}, (len(bases), len(contents))
    numbered = _frame([(p, x, g, int(p.split()[0])) for p, x, g, _ in other])
    turned = {"bills": numbered, "visits": differing}
    return Joined.build(folder / "1", frames, shape), Joined.build(folder / "2", turned, shape)


BILLS = Join(name="b", table="bills", column="p", key="p")
VISITS = Join(name="b", table="visits", column="p", key="p")


@pytest.mark.parametrize("adjacency", BOTH)
def test_persons_of_two_private_tables_move_as_far_as_was_proven(pairs: Any, adjacency: Adjacency) -> None:
    first, turned = pairs
    aggregates: tuple[Aggregate, ...] = (Count(), Count(Column("b.x")), Total(X), Total(Times(X, Column("b.x"))))
    aggregates += endpoints(Column("b.x"), whole=True), moments(X)
    for groups in (1, 2):
        unit = f"{{person: p, rows: 2, groups: {groups}}}"
        ours = {name: private(adjacency, unit=unit, table=name, population=name) for name in ("visits", "bills")}
        for world, main, join in ((first, "visits", BILLS), (turned, "bills", VISITS)):
            contract = joined_contract(ours[main], [join], ours)
            assert (contract.unit.rows, contract.unit.groups) == (4, groups * groups)
            for by in ((), (Categories(Text("g")),), (Categories(Text("b.g")), Categories(Text("g")))):
                for where in (None, Compare(Column("b.x"), ">", Constant(Fraction(0)))):
                    plan = Plan(aggregates=aggregates, by=by, where=where)
                    assert violations(world, plan, contract, adjacency) == []
                assert violations(world, Plan(aggregates=(Persons(),), by=by), contract, adjacency) == []
    tight = Plan(aggregates=(Count(), Total(X)))
    contract = joined_contract(ours["visits"], [BILLS], ours)
    if adjacency is Adjacency.ADD_REMOVE:
        assert largest_moves(first.exact(tight, contract), adjacency) == declared_moves(prove(tight, contract))


def test_limits_that_do_not_multiply_turn_red(pairs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = "{person: p, rows: 2, groups: 2}"
    ours = {name: private(unit=unit, table=name) for name in ("visits", "bills")}
    fair = joined_contract(ours["visits"], [BILLS], ours)
    assert violations(pairs[0], Plan(aggregates=(Count(),)), fair, Adjacency.ADD_REMOVE) == []
    monkeypatch.setattr("discreet.measure.compile.change_of_row", lambda bits: exp.Literal.number(0))
    assert violations(pairs[0], Plan(aggregates=(Count(),)), fair, Adjacency.ADD_REMOVE) == [Count()]


def test_the_joined_rows_are_those_of_plain_sql(tmp_path: Path) -> None:
    """Inner and left, keys that are null, foreign or doubled: as a twin in Python says."""
    mine = [(None, x, g) for x in (-1.0, 0.5, 3.0) for g in ("a", "b", "foreign", None)]
    public = _public_rows(2, 1)
    world = Joined.build(tmp_path / "1", {"visits": _private_rows([()], [mine]), "regions": public}, (1, 1))
    for left in (False, True):
        contract = _agreed(Adjacency.ADD_REMOVE, ROW, 2, left)
        met = [(x, [y for k, y, _ in public.rows() if k is not None and k == g]) for _, x, g in mine]
        rows = [(x, y) for x, found in met for y in (found or ([None] if left else []))]
        (counted,), (total,), (there,) = (
            world.exact(Plan(aggregates=(one,)), contract) for one in (Count(), Total(X), Count(Y))
        )
        assert counted.ravel().tolist() == [len(rows) << 20]
        assert total.ravel().tolist() == [int(sum(2 * x for x, _ in rows)) << 20]
        # nothing under `nulls: refuse` counts as the low end, but beside rows that meet none it is missing as theirs
        known = sum(y is not None or not left for _, y in rows)
        assert there.ravel().tolist() == [known << 20]


def test_a_public_table_that_fans_out_more_is_refused(tmp_path: Path) -> None:
    """Before anything is charged, and without a private row; what the contract says is enough to go on."""
    frames = {"visits": _private_rows([()], [((None, 1.0, "a"),)]), "regions": _public_rows(1, 3)}
    world = Joined.build(tmp_path / "1", frames, (1, 1))
    place = Place.file(tmp_path)
    ledger = place.with_people(10, "pure")
    for fan, fits in ((1, False), (2, False), (3, True), (4, True)):
        contract = _agreed(Adjacency.ADD_REMOVE, ROW, fan, False)
        part = prepare(Plan(aggregates=(Count(),)), contract, epsilon=1)
        before = ledger.account(PEOPLE).spent

        def ask(contract: JoinedContract = contract, part: Any = part) -> object:
            table = world.joined(contract)
            return measure(world.engine, table, [part], contract, ledger=ledger, bits=SeededBits(1), teaching=True)

        if fits:
            ask()
            assert ledger.account(PEOPLE).spent == before + Amount.up(price(part.event, "pure"))
        else:
            with pytest.raises(ContractError, match=r"3 rows share one key.*fan_out: 3"):
                ask()
            assert ledger.account(PEOPLE).spent == before
    place.close()


def test_both_populations_are_charged(tmp_path: Path) -> None:
    """Together, the whole price each; one population once; where one of the two has too little left, neither."""
    rows = _frame([("me", 1.0, "a", 0), ("you", 3.0, "b", 0)])
    world = Joined.build(tmp_path / "1", {"visits": rows, "bills": rows}, (1, 1))
    place = Place.file(tmp_path)
    ledger = place.with_people(10, "pure")
    payers = AccountKey(Kind.POPULATION, "payers")
    ledger.open_account(payers, "pure", Price(loss=Fraction(1)), reason="other persons")

    def ask(population: str, epsilon: int) -> Amount:
        ours = {
            "visits": private(unit=PERSON),
            "bills": private(unit=PERSON, table="bills", population=population),
        }
        contract = joined_contract(ours["visits"], [BILLS], ours)
        part = prepare(Plan(aggregates=(Count(),)), contract, epsilon=epsilon)
        table = world.joined(contract)
        measure(world.engine, table, [part], contract, ledger=ledger, bits=SeededBits(1), teaching=True)
        return Amount.up(price(part.event, "pure"))

    cost = ask("payers", 1)
    assert (ledger.account(PEOPLE).spent, ledger.account(payers).spent) == (cost, cost)
    with pytest.raises(BudgetError, match="payers"):
        ask("payers", 1)
    assert (ledger.account(PEOPLE).spent, ledger.account(payers).spent) == (cost, cost)
    again = ask("people", 2)
    assert (ledger.account(PEOPLE).spent, ledger.account(payers).spent) == (cost + again, cost)
    with pytest.raises(UnknownNameError):
        ask("nobody", 1)
    assert ledger.account(PEOPLE).spent == cost + again
    assert ledger.verify() == ()
    place.close()


def test_a_joined_answer_is_that_of_the_twin(tmp_path: Path) -> None:
    """Through the door with next to no noise."""
    rows = _frame([("me", 1.0, "a", 0), ("me", 3.0, "b", 0), ("you", 3.0, "b", 0), ("they", 2.0, None, 0)])
    world = Joined.build(tmp_path / "1", {"visits": rows, "regions": _public_rows(1, 1)}, (1, 1))
    place = Place.file(tmp_path)
    ledger = place.with_people(10_000, "pure")
    contract = joined_contract(private(unit=PERSON), [replace(REGIONS, left=True)], {"regions": regions()})
    part = prepare(Plan(aggregates=(Count(), Total(Y)), by=(Categories(Text("r.h")),)), contract, epsilon=1000)
    table = world.joined(contract)
    done = measure(world.engine, table, [part], contract, ledger=ledger, bits=SeededBits(1), teaching=True)
    (released,) = done.released
    assert isinstance(released, NoisyVector)
    assert [round(value) for value in released.values("count", 0)] == [3, 0]  # both keys are in c
    assert round(released.values("sum", 1)[0]) == 1  # the one key has 1, the other nothing
    assert "public table 'regions'" in str(part.as_json()["proof"])
    place.close()


def _wrong() -> Iterator[tuple[Contract, list[Join], dict[str, Contract]]]:
    person, row = private(unit=PERSON), private()
    bills = private(unit=PERSON, table="bills", population="payers")
    others = {"regions": regions(), "bills": bills, "visits": person}
    yield person, [], others
    yield person, [REGIONS, REGIONS], others
    yield person, [replace(REGIONS, name="Visits")], others
    yield person, [replace(REGIONS, table="nowhere")], others
    yield person, [replace(REGIONS, column="nothing")], others
    yield person, [replace(REGIONS, column="x")], others  # not listed
    yield person, [replace(REGIONS, key="h")], others  # another key than is listed
    yield person, [Join(name="b", table="bills", column="g", key="g")], others  # not on the unit
    yield row, [BILLS], others  # rows have no persons
    yield person, [BILLS], {**others, "bills": private(table="bills")}
    yield person, [replace(BILLS, left=True)], others
    yield person, [Join(name="v", table="visits", column="p", key="p")], others  # with itself
    yield person, [BILLS, replace(BILLS, name="c")], others
    days = {"columns": {**person.columns, "d": DateColumn(type="date")}}
    a_day = person.unit.model_copy(update={"period": Period.DAY, "date": "d"})
    yield person.model_copy(update={"unit": a_day, **days}), [BILLS], others
    yield row, [REGIONS], {"regions": private(unit=PERSON, table="people")}  # listed, but it has persons
    typed = regions().model_copy(update={"columns": {"k": row.columns["n"]}})
    yield row, [REGIONS], {"regions": typed}  # a text is no number


@pytest.mark.parametrize("case", range(16))
def test_what_is_no_sound_join_is_refused(case: int) -> None:
    contract, joins, others = next(itertools.islice(_wrong(), case, None))
    with pytest.raises(DiscreetError) as caught:
        joined_contract(contract, joins, others)
    assert isinstance(caught.value, ArgumentError | ContractError | UnknownNameError)


def test_rows_that_became_several_are_not_told_apart() -> None:
    plan = Plan(aggregates=(Persons(),), by=GROUPS["own key"])
    assert prove(plan, _agreed(Adjacency.ADD_REMOVE, ROW, 1, False)).parts[0].moved.l1 == 1
    with pytest.raises(ArgumentError, match="not told apart"):
        prove(plan, _agreed(Adjacency.ADD_REMOVE, ROW, 2, False))


def test_a_count_of_joined_rows_is_public_only_where_all_stay() -> None:
    """Under replace-one n is public, and an inner join or a fan-out lets rows leave or come."""
    for left, fan, free in ((True, 1, True), (False, 1, False), (True, 2, False)):
        recipe = recipe_of(Rows())
        assert isinstance(recipe, Recipe)
        best = strategies(
            [recipe], _agreed(Adjacency.REPLACE_ONE, ROW, fan, left), [Allowance(law="laplace", loss=Fraction(1))]
        )[0]
        assert (best.way.sources[Primitive("rows")].constant == 4) == free
        assert (best.way.aggregates == ()) == free


def test_what_the_contract_lists_is_public() -> None:
    assert is_public(private(), REGIONS)
    assert not is_public(private(), BILLS)
    assert not is_public(private(), replace(REGIONS, key="h"))


def test_rows_are_joined_as_their_contract_says(grid: Any) -> None:
    """Joined rows under the contract of the table alone, or of another join, would be bounded too little."""
    world, plan = grid[3, 3][0], Plan(aggregates=(Count(),))
    contract, plain = _agreed(Adjacency.ADD_REMOVE, ROW, 3, False), private(fan=3)
    other = _agreed(Adjacency.ADD_REMOVE, ROW, 3, True)
    for under, table in (
        (plain, world.joined(contract)),
        (contract, world.tables["visits"]),
        (other, world.joined(contract)),
    ):
        part = prepare(plan, under, epsilon=1)
        with pytest.raises(ContractError, match="under the contract of others"):
            part.require_readable(world.engine, table)
