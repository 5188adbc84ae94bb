"""Counts on all places of a value: neighbours, ranks as far off as said, and intervals that cover."""

from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.accounting.events import price
from discreet.data.contract import Contract
from discreet.guarantee import Adjacency
from discreet.measure.compile import compiled, vectors
from discreet.measure.expression import Column, Compare, Constant, Text
from discreet.measure.groups import Categories, Each, Group
from discreet.measure.noisy import NoisyVector
from discreet.measure.places import CountedPlaces, Places, prepare_places, strays
from discreet.mechanisms.noise import release
from discreet.randomness import SeededBits
from tests.measure.scenes import MANY, ONE_ROW, PERSON, Row, contract, scene
from tests.measure.worlds import EXTREMES, Rows, World, contract_of

X, G = Column("x"), Categories(Text("g"))
POSITIVE = Compare(X, ">", Constant(Fraction(0)))
OF_PERSON = "{person: p, rows: 2, groups: 2}"
COVERED = Fraction(19, 20)
QUANTILES = (Fraction(1, 2), Fraction(1, 4), Fraction(9, 10), Fraction(1, 100))


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


@pytest.mark.parametrize("unit", ["row", OF_PERSON])
@pytest.mark.parametrize("by", [(), (G,)], ids=["one cell", "cells"])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_places_of_neighbours(worlds: dict[str, World], unit: str, adjacency: Adjacency, by: tuple[Group, ...]) -> None:
    """A unit moves at most as much as noise was calibrated to, and some unit moves as much."""
    world = worlds[unit]
    wide = contract_of(Adjacency.ADD_REMOVE, unit=unit, last=world.size - 1)
    part = prepare_places(X, wide, epsilon="1", by=(Each(Column("n")), *by), where=POSITIVE)
    rows = world.engine.integers(compiled(part.plan, wide, world.table, part.proof))
    tables = vectors(rows, part.proof)[0].reshape(len(world.bases), len(world.contents), -1)
    most = 0
    for base in tables:
        ones = base[:1] if adjacency is Adjacency.ADD_REMOVE else base[1:]
        most = max(most, int(np.abs(ones[:, None, :] - base[None, 1:, :]).sum(axis=2).max()))
    declared = prepare_places(X, contract_of(adjacency, unit=unit), epsilon="1", by=by, where=POSITIVE)
    assert declared.proof.bits == part.proof.bits
    assert most == declared.proof.parts[0].moved.l1
    assert price(declared.event, "pure").loss == 1


@pytest.mark.parametrize("unit", [ONE_ROW, PERSON])
@pytest.mark.parametrize("by", [(), (G,)], ids=["one cell", "cells"])
def test_read_quantiles_agree_with_sorting(tmp_path: Path, unit: str, by: tuple[Group, ...]) -> None:
    """With an ε that leaves no doubt, they are those of the sorted rows, and their intervals are as short as can be."""
    under, values = contract(unit=unit), [-1.0, 0.0, 0.5, 1.0, 1.0, 2.5, 3.0]
    people: list[Row] = [
        {**MANY[0], "p": f"{number} {group}", "x": value, "g": group}
        for group in "abc"
        for number, value in enumerate([*values, None])
    ]
    with scene(tmp_path, people, under=under, limit=10**6) as made:
        part = prepare_places(X, under, epsilon="3000", by=by)
        (released,) = made.measure(part, digest=bytes(32)).released
        assert isinstance(released, CountedPlaces)
        each = values if by else sorted(values * 3)
        for q in QUANTILES:
            true = Fraction(float(np.quantile(each, float(q), method="inverted_cdf")))
            assert set(released.values(q)) == {true}
            for low, high in released.intervals(q, COVERED):
                assert low <= true <= high
                # Half a row is left for noise in whole numbers.
                assert sum(one <= low for one in each) >= q * len(each) - Fraction(1, 2)
                assert sum(one < high for one in each) <= q * len(each) + Fraction(1, 2)
        again = part.restored(made.measure(part, digest=bytes(32)).released[0].as_json())
        assert again.values(QUANTILES[0]) == released.values(QUANTILES[0])


def drawn(places: int, law: str, budget: str, rows: list[int], runs: int, factor: float = 1.0) -> CountedPlaces:
    """As many cells with these rows on the places, and noise on them."""
    agreed = Contract.from_yaml(
        f"table: t\nunit: row\nmax_rows: 1000000\ncolumns:\n  x: {{type: integer, low: 1, high: {places}}}\n"
        f"  k: {{type: integer, low: 1, high: {runs}}}\n"
    )
    by = (Each(Column("k")),)
    laplace = law == "laplace"
    part = prepare_places(X, agreed, epsilon=budget if laplace else None, rho=None if laplace else budget, by=by)
    true = np.tile(np.array(rows, dtype=np.int64), runs).reshape(-1, 1)
    noisy = release(true, part.measurement.noises[0], SeededBits(17), teaching=True).value
    moved = true + np.rint((noisy - true) * factor).astype(np.int64)
    return CountedPlaces(places=part, counts=NoisyVector(measurement=part.measurement, integers=(moved,)))


def ranks_off(released: CountedPlaces, rows: list[int], q: Fraction) -> np.ndarray:
    """How many rows each choice is off, counted from the rows themselves."""
    upto = np.cumsum(rows)
    aim, chosen = float(q) * upto[-1], np.array([int(value) for value in released.values(q)]) - 1
    below = np.where(chosen > 0, upto[chosen - 1], 0)
    return np.asarray(np.maximum(0, np.maximum(below - aim, aim - upto[chosen])))


CASES = [
    pytest.param(places, law, budget, marks=[] if (places, budget) in ((7, "1"), (60, "0.05")) else pytest.mark.slow)
    for places in (2, 7, 60)
    for law, budget in (("laplace", "1"), ("laplace", "0.2"), ("laplace", "3"), ("gaussian", "0.05"))
]


@pytest.mark.parametrize(("places", "law", "budget"), CASES)
def test_read_ranks_are_off_as_said(places: int, law: str, budget: str) -> None:
    """In at least 95 of 100 cells, to three deviations: where rows lie on all places, and on few."""
    runs = min(1_500, 40_000 // places)
    deviation = (0.05 * 0.95 / runs) ** 0.5
    for rows in ([1 + at % 3 for at in range(places)], [0] * (places - 2) + [500, 500], [3] + [0] * (places - 2) + [4]):
        released = drawn(places, law, budget, rows, runs)
        for q in QUANTILES:
            assert np.mean(ranks_off(released, rows, q) <= released.places.ranks_off(q)) >= 0.95 - 3 * deviation


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
@pytest.mark.parametrize("q", QUANTILES)
def test_what_is_said_of_ranks_is_no_more_than_noise_strays(law: str, q: Fraction) -> None:
    """The closed form is what walks of noise pass once in twenty times: not only above it, but near it."""
    places, runs = 200, 1_000
    released = drawn(places, law, {"laplace": "0.5", "gaussian": "0.02"}[law], [0] * places, runs)
    walks = released.counts.integers[0].reshape(runs, places).astype(float).cumsum(axis=1)
    passed = np.abs(walks - float(q) * walks[:, -1:]).max(axis=1)
    assert np.quantile(passed, 0.95) == pytest.approx(released.places.ranks_off(q), rel=0.15)


def test_a_walk_from_its_start_strays_as_is_known() -> None:
    """|W| on [0, 1] stays below 2.2414 with a probability of 95 %: 1 − 4·(1 − Φ(b)), to what both sides share."""
    assert strays(0.0) == pytest.approx(2.2414, abs=2e-3)
    assert strays(1.0) == pytest.approx(strays(0.0), abs=1e-6)
    assert strays(0.25) == pytest.approx(strays(0.75), abs=1e-6)


@pytest.mark.parametrize(("places", "law", "budget"), CASES)
def test_intervals_of_read_quantiles_cover(places: int, law: str, budget: str) -> None:
    """At least .945, to three deviations: where rows lie thick, thin, and where just q of them lie up to a place."""
    runs = min(1_500, 40_000 // places)
    deviation = (0.05 * 0.95 / runs) ** 0.5
    half = places // 2
    even = [9] * half + [0] * (places - half - 1) + [9 * half]
    for rows in ([2] * places, [at % 2 for at in range(places)], [5] + [0] * (places - 2) + [5], even):
        released = drawn(places, law, budget, rows, runs)
        for q in QUANTILES:
            upto = np.cumsum(rows)
            true = 1 + int(np.argmax(upto >= float(q) * upto[-1]))
            held = [low <= true <= high for low, high in released.intervals(q, COVERED)]
            assert np.mean(held) >= 0.95 - 3 * deviation, (rows, q)


def test_noise_larger_than_said_turns_red() -> None:
    rows, half = [1] * 60, QUANTILES[0]
    released = drawn(60, "laplace", "1", rows, 600, factor=2)
    assert np.mean([low <= 30 <= high for low, high in released.intervals(half, COVERED)]) < 0.9
    assert np.mean(ranks_off(released, rows, half) <= released.places.ranks_off(half)) < 0.92


def test_more_coverage_is_never_a_shorter_interval() -> None:
    released = drawn(60, "laplace", "1", [2] * 60, 200)
    short, long = (released.intervals(QUANTILES[1], cover) for cover in (COVERED, Fraction(999, 1000)))
    assert all(low <= one <= other <= high for (one, other), (low, high) in zip(short, long, strict=True))
    assert isinstance(released.places, Places)
