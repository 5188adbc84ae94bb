"""Every neighbour of every small table moves as far as was proven, and not one step farther."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from sqlglot import exp

from discreet.data.contract import Contract
from discreet.guarantee import Adjacency
from discreet.measure import bounds, compile, render  # noqa: A004  a module of ours
from discreet.measure.bounds import Moved, prove
from discreet.measure.expression import (
    And,
    Case,
    Column,
    Compare,
    Constant,
    Missing,
    Not,
    Or,
    Plus,
    Predicate,
    Text,
    Times,
)
from discreet.measure.groups import Bins, Categories, Group
from discreet.measure.plan import Aggregate, Count, Persons, Plan, Total, endpoints, moments
from tests.measure.worlds import EXTREMES, Rows, World, contract_of, declared_moves, largest_moves

X, G = Column("x"), Text("g")
BOTH = tuple(Adjacency)
POSITIVE = Compare(X, ">", Constant(Fraction(0)))
SHIFTED = Plus(X, Constant(Fraction(2)))
AGGREGATES: tuple[Aggregate, ...] = (
    Count(),
    Count(X),
    Total(X),
    Total(SHIFTED),
    Total(Times(X, X)),
    Total(Case(((Missing(X), Constant(Fraction(-2))), (POSITIVE, X)))),
    endpoints(X),
    moments(SHIFTED),
    endpoints(X, whole=True),
    moments(SHIFTED, whole=True),
)
FILTERS: dict[str, Predicate | None] = {
    "all": None,
    "positive": POSITIVE,
    "not positive": Not(POSITIVE),
    "missing or high": Or((Missing(X), Compare(X, ">=", Constant(Fraction(3))))),
}
GROUPS: dict[str, tuple[Group, ...]] = {
    "one cell": (),
    "by key": (Categories(G),),
    "by bin": (Bins(X, (Fraction(-1), Fraction(0), Fraction(3))),),
    "by both": (Bins.even(X, -1, 3, 2), Categories(G)),
}
PERSON = "{person: p, rows: 2, groups: 1}"


def multisets(rows: Rows, most: int, least: int = 0) -> Iterator[Rows]:
    for size in range(least, most + 1):
        yield from itertools.combinations_with_replacement(rows, size)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> World:
    """All tables of up to four rows of one group."""
    each: Rows = tuple((None, value, "a") for value in EXTREMES)
    return World.build(tmp_path_factory.mktemp("rows"), tuple(multisets(each, 3)), ((), *((row,) for row in each)))


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> World:
    """All tables of up to three rows of two keys, none and a foreign one."""
    values = (-9.0, 0.5, 99.0, None, float("inf"))
    each: Rows = tuple((None, value, key) for value in values for key in ("a", "b", "foreign", None))
    return World.build(tmp_path_factory.mktemp("grouped"), tuple(multisets(each, 2)), ((), *((row,) for row in each)))


@pytest.fixture(scope="module")
def persons(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Up to three persons of up to three rows in two groups: all rows of one of them, beside some others."""
    each: Rows = tuple(("me", value, key) for value in (-9.0, 99.0, None) for key in ("a", "b"))
    contents = tuple(multisets(each, 3))
    others = [tuple((name, x, g) for _, x, g in some) for name in ("you", "they") for some in contents[1::9]]
    pairs = [(*one, *other) for one, other in zip(others[: len(others) // 2], others[len(others) // 2 :], strict=False)]
    nobody: Rows = ((None, 3.0, "a"), (None, -1.0, "b"))
    return World.build(tmp_path_factory.mktemp("persons"), ((), nobody, *others, *pairs), contents)


def violations(world: World, plan: Plan, adjacency: Adjacency, unit: str = "row") -> list[Aggregate]:
    """The aggregates that some neighbours move farther than was proven."""
    proven = declared_moves(prove(plan, contract_of(adjacency, unit=unit)))
    found = largest_moves(world.exact(plan, unit), adjacency)
    return [
        aggregate
        for aggregate, said, moved in zip(plan.aggregates, proven, found, strict=True)
        if moved.l1 > said.l1 or moved.l2_squared > said.l2_squared
    ]


def answerable(adjacency: Adjacency, plan: Plan) -> Plan:
    """Without the count of all rows where the contract makes it public."""
    public = adjacency is Adjacency.REPLACE_ONE and not plan.by and plan.where is None
    return Plan(aggregates=plan.aggregates[1:], by=plan.by, where=plan.where) if public else plan


@pytest.mark.parametrize("adjacency", BOTH)
@pytest.mark.parametrize("where", FILTERS)
@pytest.mark.parametrize("by", GROUPS)
def test_neighbours_by_row(rows: World, grouped: World, by: str, where: str, adjacency: Adjacency) -> None:
    plan = answerable(adjacency, Plan(aggregates=AGGREGATES, by=GROUPS[by], where=FILTERS[where]))
    assert violations(rows, plan, adjacency) == []
    assert violations(grouped, plan, adjacency) == []


@pytest.mark.parametrize("adjacency", BOTH)
@pytest.mark.parametrize("by", GROUPS)
def test_neighbours_by_person(persons: World, by: str, adjacency: Adjacency) -> None:
    for where in FILTERS.values():
        plan = Plan(aggregates=AGGREGATES, by=GROUPS[by], where=where)
        assert violations(persons, plan, adjacency, PERSON) == []
    for alone in AGGREGATES:
        assert violations(persons, Plan(aggregates=(alone,), by=GROUPS[by]), adjacency, PERSON) == []


@pytest.mark.parametrize("adjacency", BOTH)
@pytest.mark.parametrize("by", GROUPS)
def test_neighbours_of_distinct_persons(persons: World, by: str, adjacency: Adjacency) -> None:
    for unit in (PERSON, "{person: p, rows: 3, groups: 2}"):
        for where in (None, POSITIVE):
            plan = Plan(aggregates=(Persons(),), by=GROUPS[by], where=where)
            if by != "one cell" or where is not None or adjacency is Adjacency.ADD_REMOVE:
                assert violations(persons, plan, adjacency, unit) == []


@pytest.mark.parametrize("adjacency", BOTH)
@pytest.mark.parametrize("by", ["one cell", "by key"])
def test_what_is_proven_is_reached(grouped: World, persons: World, by: str, adjacency: Adjacency) -> None:
    """No bound could be smaller: some neighbours are as far apart, in both norms. Case and square have loose spans."""
    tight: tuple[Aggregate, ...] = (Count(), Count(X), Total(X), Total(SHIFTED), endpoints(X), moments(X))
    for world, unit in ((grouped, "row"), (persons, PERSON)):
        # Of a whole table under replace-one, only a person of more than R·2^s rows counts as little as nobody.
        plan = answerable(adjacency, Plan(aggregates=tight, by=GROUPS[by], where=None))
        declared = declared_moves(prove(plan, contract_of(adjacency, unit=unit)))
        assert largest_moves(world.exact(plan, unit), adjacency) == declared
    if by == "by key":
        distinct = Plan(aggregates=(Persons(),), by=GROUPS[by])
        declared = declared_moves(prove(distinct, contract_of(adjacency, unit=PERSON)))
        assert largest_moves(persons.exact(distinct, PERSON), adjacency) == declared


def test_one_at_a_time_reads_what_all_at_once_reads(rows: World, persons: World) -> None:
    """The number of the table as a filter instead of a key, over other paths of the compiler."""
    for world, unit, every in ((rows, "row", 97), (persons, PERSON, 53)):
        contract = contract_of(Adjacency.ADD_REMOVE, unit=unit, last=world.size - 1)
        for aggregates in (AGGREGATES, (Persons(),)):
            together = world.exact(Plan(aggregates=aggregates), unit)
            for number in range(0, world.size, every):
                alone = Plan(aggregates=aggregates, where=Compare(Column("n"), "=", Constant(Fraction(number))))
                proof = prove(alone, contract)
                read = compile.vectors(
                    world.engine.integers(compile.compiled(alone, contract, world.table, proof)), proof
                )
                at = divmod(number, len(world.contents))
                assert [(one.ravel() << (20 - proof.bits)).tolist() for one in read] == [
                    one[at].tolist() for one in together
                ]


def _rounded(source: str, unit: tuple[str, ...], limit: int, bits: int) -> exp.Select:
    """Weights rounded to nearest."""
    rows = "COUNT(*)"
    weight = f"({limit << bits} + {rows} // 2) // {rows} AS weight"
    return exp.select(*unit, weight, dialect="duckdb").from_(source).group_by(*unit).having(f"{rows} > {limit}")


def test_rounding_to_nearest_turns_red(persons: World, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(aggregates=(Count(),))
    assert violations(persons, plan, Adjacency.ADD_REMOVE, PERSON) == []
    monkeypatch.setattr(compile, "heavy_units", _rounded)
    assert violations(persons, plan, Adjacency.ADD_REMOVE, PERSON) == [Count()]


def test_planted_bugs_turn_red(rows: World, grouped: World, persons: World, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan(aggregates=(Total(SHIFTED), endpoints(X)), by=GROUPS["by key"])
    filtered = Plan(aggregates=(Total(Case(((Missing(X), Constant(Fraction(2))),), SHIFTED)),), where=POSITIVE)
    for adjacency in BOTH:
        assert violations(grouped, plan, adjacency) == violations(rows, filtered, adjacency) == []

    with monkeypatch.context() as patch:  # a sensitivity of half the size
        true = bounds._moved

        def half(*given: object) -> Moved:
            moved = true(*given)  # type: ignore[arg-type]  # whatever it is given
            return Moved(l1=moved.l1 // 2, l2_squared=moved.l2_squared // 2)

        patch.setattr(bounds, "_moved", half)
        assert violations(grouped, plan, Adjacency.ADD_REMOVE) == list(plan.aggregates)

    with monkeypatch.context() as patch:  # values as they stand
        patch.setattr(render, "clamp", lambda number, low, high, lost=None: number)
        assert violations(grouped, plan, Adjacency.ADD_REMOVE) != []

    with monkeypatch.context() as patch:  # replace-one taken for add-remove
        patch.setattr(bounds._UnitReach, "replaces", False)
        assert violations(grouped, plan, Adjacency.REPLACE_ONE) == list(plan.aggregates)

    with monkeypatch.context() as patch:  # a filter that nobody thought of
        patch.setattr(bounds, "_surely", lambda *_: True)
        assert violations(rows, filtered, Adjacency.REPLACE_ONE) != []

    with monkeypatch.context() as patch:  # persons without a limit
        patch.setattr(compile, "change_of_row", lambda bits: exp.Literal.number(0))
        assert violations(persons, Plan(aggregates=(Count(),)), Adjacency.ADD_REMOVE, PERSON) != []
        distinct = Plan(aggregates=(Persons(),), by=GROUPS["by key"])
        assert violations(persons, distinct, Adjacency.ADD_REMOVE, PERSON) != []


def test_a_row_of_the_whole_table_stays_under_replace_one(rows: World) -> None:
    """Only where nothing can be missing, filtered or grouped away does a total move by hi − lo alone."""
    surely = Total(Case(((Missing(X), Constant(Fraction(2))),), SHIFTED))
    contract = contract_of(Adjacency.REPLACE_ONE)

    def moved(plan: Plan, of: Contract = contract) -> int:
        return prove(plan, of).parts[0].moved.l1

    assert moved(Plan(aggregates=(surely,))) == 8  # 1 to 5 in halves
    assert moved(Plan(aggregates=(surely,), where=POSITIVE)) == 10
    assert moved(Plan(aggregates=(Total(SHIFTED),))) == 10
    assert moved(Plan(aggregates=(surely,), by=GROUPS["by key"])) == 20
    assert violations(rows, Plan(aggregates=(surely,)), Adjacency.REPLACE_ONE) == []


def test_an_empty_table_has_the_same_shape(tmp_path: Path) -> None:
    everybody: Rows = (("me", 3.0, "a"), (None, 1.0, "b"))
    world = World.build(tmp_path, (everybody,), ((),))
    empty = replace(world, engine=world.without(0, tmp_path / "empty.duckdb"))
    for unit in ("row", PERSON):
        for by in GROUPS.values():
            for aggregates in (AGGREGATES, (Persons(),)):
                plan = Plan(aggregates=aggregates, by=by)
                never = replace(plan, where=And((Missing(X), POSITIVE)))
                shapes = [one.shape for one in world.exact(plan, unit)]
                for read in (world.exact(never, unit), empty.exact(plan, unit)):
                    assert [one.shape for one in read] == shapes
                    assert not any(one.any() for one in read)
