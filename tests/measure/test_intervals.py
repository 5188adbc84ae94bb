"""Counts of intervals at several levels: neighbours, exact numbers, least squares, and values worked out by hand."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.accounting.events import price
from discreet.guarantee import Adjacency
from discreet.measure import intervals
from discreet.measure.compile import compiled, vectors
from discreet.measure.expression import (
    And,
    Case,
    Clamped,
    Column,
    Compare,
    Constant,
    Minus,
    Missing,
    Not,
    Or,
    Plus,
    Predicate,
    Text,
    Times,
    Value,
    between,
)
from discreet.measure.groups import Categories, Each, Group
from discreet.measure.intervals import CountedIntervals, Cut, prepare_intervals
from discreet.measure.nested import best_weights, fanned
from discreet.measure.noisy import NoisyVector
from discreet.measure.plan import Count, Plan, Total
from discreet.measure.worked import of_one_column, predicate_at, value_at
from discreet.randomness import SeededBits
from tests.measure.scenes import MANY, ONE_ROW, PERSON, Row, contract, scene
from tests.measure.worlds import EXTREMES, Rows, World, contract_of

X, G = Column("x"), Categories(Text("g"))
POSITIVE = Compare(X, ">", Constant(Fraction(0)))
OF_PERSON = "{person: p, rows: 2, groups: 2}"
STEPS = tuple(range(-2, 7))  # −1 to 3 in halves
CUTS = {
    "every step": Cut(X, STEPS),
    "every step, and nothing": Cut(X, STEPS, missing=True),
    "some": Cut(X, (-2, 1, 2, 5)),
    "some, and nothing": Cut(X, (-2, 0), missing=True),
}


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, World]:
    each: Rows = tuple((None, value, key) for value in EXTREMES for key in ("a", "b"))
    bases: tuple[Rows, ...] = ((), ((None, 3.0, "a"), (None, 0.5, "b")))
    row = list(itertools.product((0.5, 3.0, None), ("a", "b")))
    contents: list[Rows] = [()]
    for size in (1, 2, 3):
        chosen = itertools.combinations_with_replacement(row, size)
        contents += [tuple(("new", x, g) for x, g in some) for some in chosen]
    others: tuple[Rows, ...] = ((), (("old", 0.5, "a"), ("old", 3.0, "b"), ("old", 1.0, "b")))
    return {
        "row": World.build(tmp_path_factory.mktemp("rows"), bases, ((), *((one,) for one in each))),
        OF_PERSON: World.build(tmp_path_factory.mktemp("persons"), others, contents),
    }


def moves(world: World, unit: str, cut: Cut, adjacency: Adjacency, by: tuple[Group, ...]) -> list[tuple[int, int]]:
    """For each level of a tree of twos the farthest that neighbours lie apart, in sum and in sum of squares."""
    wide = contract_of(Adjacency.ADD_REMOVE, unit=unit, last=world.size - 1)
    part = prepare_intervals(cut, wide, epsilon="1", by=(Each(Column("n")), *by), where=POSITIVE, fan_out=2)
    proof = part.finest.proof
    rows = world.engine.integers(compiled(part.finest.plan, wide, world.table, proof))
    found = []
    for level in part.added(vectors(rows, proof)[0]):
        l1 = l2_squared = 0
        for base in level.reshape(len(world.bases), len(world.contents), -1):
            ones = base[:1] if adjacency is Adjacency.ADD_REMOVE else base[1:]
            apart = np.abs(ones[:, None, :] - base[None, 1:, :])
            l1 = max(l1, int(apart.sum(axis=2).max()))
            l2_squared = max(l2_squared, int((apart.astype(object) ** 2).sum(axis=2).max()))
        found.append((l1, l2_squared))
    return found


@pytest.mark.parametrize("unit", ["row", OF_PERSON])
@pytest.mark.parametrize("by", [(), (G,)], ids=["one cell", "cells"])
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("cut", CUTS)
def test_intervals_of_neighbours(
    worlds: dict[str, World], unit: str, adjacency: Adjacency, by: tuple[Group, ...], cut: str
) -> None:
    """A unit moves no level farther than noise was calibrated to, and some unit moves the finest as far."""
    declared = prepare_intervals(
        CUTS[cut], contract_of(adjacency, unit=unit), epsilon="1", by=by, where=POSITIVE, fan_out=2
    )
    found = moves(worlds[unit], unit, CUTS[cut], adjacency, by)
    bounds = [(one.moved.l1, one.moved.l2_squared) for one in declared.proof.parts]
    assert len(found) == len(bounds) == len(declared.levels) > (0 if cut == "some, and nothing" else 1)
    for (l1, l2_squared), (most, most_squared) in zip(found, bounds, strict=True):
        assert l1 <= most
        assert l2_squared <= most_squared
    assert found[-1][0] == bounds[-1][0] or cut == "some, and nothing"
    assert price(declared.event, "pure").loss == 1


def test_a_level_for_free_turns_red(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels are paid for one by one: their prices add up to what was given, under either law."""
    agreed = contract()
    honest = prepare_intervals(CUTS["every step"], agreed, epsilon="1", fan_out=2)
    assert len(honest.levels) == 4
    assert price(honest.event, "pure").loss == 1
    assert float(honest.noises[0].standard_deviation) == pytest.approx(4 * 2**0.5, rel=0.01)
    gauss = prepare_intervals(CUTS["every step"], agreed, rho="0.5", fan_out=2)
    assert price(gauss.event, "zcdp").loss == Fraction(1, 2)
    assert float(gauss.noises[0].standard_deviation) == pytest.approx(2, rel=0.01)
    with monkeypatch.context() as patch:  # only the finest level is charged
        patch.setattr(intervals, "Repeated", lambda event, times: event)
        assert price(prepare_intervals(CUTS["every step"], agreed, epsilon="1", fan_out=2).event, "pure").loss < 1


@pytest.mark.parametrize("unit", [ONE_ROW, PERSON])
@pytest.mark.parametrize("fan_out", [None, 2, 3])
@pytest.mark.parametrize("cut", CUTS)
def test_intervals_agree_with_counting(tmp_path: Path, unit: str, fan_out: int | None, cut: str) -> None:
    """With an ε that leaves no doubt, every set of every level holds the rows that Python counts there."""
    under, values = contract(unit=unit), [-9.0, -1.0, 0.0, 0.5, 1.0, 1.0, 2.5, 3.0, 99.0, None, float("nan")]
    people: list[Row] = [
        {**MANY[0], "p": f"{number} {group}", "x": value, "g": group}
        for group in "abc"
        for number, value in enumerate(values)
    ]
    with scene(tmp_path, people, under=under, limit=10**6) as made:
        part = prepare_intervals(CUTS[cut], under, epsilon="3000", by=(G,), fan_out=fan_out)
        (released,) = made.measure(part, digest=bytes(32)).released
        assert isinstance(released, NoisyVector)
        steps = [None if one is None or one != one else min(max(round(2 * one), -2), 6) for one in values]
        starts = CUTS[cut].starts
        ends = (*starts[1:], 7)
        finest = [sum(one is not None and a <= one < b for one in steps) for a, b in zip(starts, ends, strict=True)]
        finest += [steps.count(None)] * CUTS[cut].missing
        for level, integers in zip(part.levels, released.integers, strict=True):
            sums = [sum(finest[a:b]) for a, b in zip(level, (*level[1:], len(finest)), strict=True)]
            assert (np.rint(integers / (1 << part.proof.bits)) == [sums] * 3).all()
        again = part.restored(released.as_json())
        assert [one.tolist() for one in again.integers] == [one.tolist() for one in released.integers]


@pytest.mark.parametrize("fan_out", [2, 3, 4, 16])
@pytest.mark.parametrize("count", [1, 2, 5, 16, 23, 100])
def test_best_weights_are_the_least_squares_fit(count: int, fan_out: int) -> None:
    """The two passes give what the pseudo-inverse of all levels gives."""
    levels = fanned(count, fan_out)
    rows = [
        [float(start <= at < end) for at in range(count)]
        for level in levels
        for start, end in zip(level, (*level[1:], count), strict=True)
    ]
    wanted = np.random.default_rng(3).normal(size=(4, count))
    found = np.concatenate(best_weights(levels, wanted), axis=1)
    assert found == pytest.approx(wanted @ np.linalg.pinv(np.array(rows)), abs=1e-9)
    # Unbiased: where the counts are exact, so is what is read.
    assert found @ np.array(rows) == pytest.approx(wanted, abs=1e-9)


def test_noise_on_levels_has_the_spread_that_is_said(tmp_path: Path) -> None:
    """Of 200 releases the mean square of the noise at each level is within a quarter of the variance."""
    under = contract()
    with scene(tmp_path, under=under) as made:
        part = prepare_intervals(CUTS["every step"], under, epsilon="0.5", by=(G,), fan_out=3)
        (finest,) = vectors(made.engine.inner.integers(part._select(made.table)), part.finest.proof)
        drawn = [part.release(made.engine.inner, made.table, SeededBits(at), teaching=True) for at in range(200)]
    for at, exact in enumerate(part.added(finest)):
        noise = np.array([one.integers[at] for one in drawn]) - exact
        assert float((noise**2).mean()) == pytest.approx(float(part.noises[at].standard_deviation) ** 2, rel=0.25)


C = Constant
BIG: Predicate = Compare(X, ">=", C(Fraction(1)))
SMALL: Predicate = Compare(X, "<", C(Fraction(5, 2)))
VALUES: tuple[Value, ...] = (
    X,
    Plus(X, C(Fraction(2))),
    Minus(C(Fraction(1)), Times(X, X)),
    Clamped(X, Fraction(0), Fraction(2)),
    Case(((between(X, 0, 2), C(Fraction(1))),)),
    Case(((Missing(X), C(Fraction(-7))), (BIG, Times(X, C(Fraction(3))))), otherwise=X),
    Case(((Not(And((BIG, SMALL))), C(Fraction(1))),), otherwise=C(Fraction(4))),
    Case(((Or((Compare(X, "=", C(Fraction(3))), Not(BIG))), X),)),
    Case(((Not(Compare(Case(((BIG, X),)), "<>", C(Fraction(2)))), C(Fraction(5))),), otherwise=C(Fraction(0))),
)


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_values_worked_out_are_those_of_the_engine(tmp_path: Path, value: Value) -> None:
    """At every step between the bounds, beyond them, and where nothing is there."""
    given = [None, float("nan"), -9.0, 99.0, *(step / 2 for step in STEPS)]
    world = World.build(tmp_path, ((),), tuple(((None, one, "a"),) for one in given))
    counted, added = world.exact(Plan(aggregates=(Count(value), Total(value))), "row")
    assert of_one_column(value) == X
    for at, one in enumerate(given):
        number = None if one is None or one != one else Fraction(min(max(one, -1.0), 3.0))
        found = value_at(value, number)
        assert counted[0, at, 0] == (found is not None) << 20
        step = Fraction(1, 2) if not isinstance(value, Minus) else Fraction(1, 4)
        constant = isinstance(value, Case) and all(isinstance(then, Constant) for _, then in value.branches)
        if not constant:
            assert Fraction(int(added[0, at, 0]), 1 << 20) * step == (found or 0)


def test_what_is_neither_true_nor_false_stays_so() -> None:
    assert predicate_at(Not(BIG), None) is None
    assert predicate_at(And((BIG, Missing(X))), None) is None
    assert predicate_at(Or((BIG, Missing(X))), None) is True
    assert predicate_at(And((Not(Missing(X)), BIG)), None) is False
    assert of_one_column(Plus(X, Column("k"))) is None
    assert of_one_column(Case(((Missing(Text("g")), X),))) is None


def test_a_restored_part_reads_quantiles_off_its_finest_counts() -> None:
    part = prepare_intervals(CUTS["every step, and nothing"], contract(), epsilon="1")
    assert isinstance(part, CountedIntervals)
    counts = np.array([[0, 0, 4, 0, 4, 0, 0, 0, 0, 50]])
    read = part.counted(NoisyVector(measurement=part, integers=(counts,)))
    assert read.values(Fraction(1, 2)) == (Fraction(0),)
    assert read.values(Fraction(3, 4)) == (Fraction(1),)
    assert replace(part, levels=part.levels).places.places == len(STEPS)
