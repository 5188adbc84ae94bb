"""Magnitudes of unbounded columns, and units with more rows than count: neighbours move as proven, counts are right."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet.data.contract import Contract
from discreet.data.engines.duckdb import DuckDBEngine
from discreet.data.load import load
from discreet.errors import ArgumentError
from discreet.guarantee import Adjacency
from discreet.measure.bounds import Moved, prove
from discreet.measure.compile import compiled, vectors
from discreet.measure.crowding import Crowding, prepare_crowding, share_above
from discreet.measure.expression import Column, Compare, Constant
from discreet.measure.groups import Magnitudes, magnitudes
from discreet.measure.noisy import NoisyVector
from discreet.measure.plan import Count, Plan
from discreet.mechanisms.noise import release
from discreet.randomness import SeededBits
from tests.measure.scenes import PERSON, contract, scene
from tests.measure.worlds import EXTREMES, Rows, World, contract_of, declared_moves, largest_moves

COUNTED = Plan(aggregates=(Count(),), by=(Magnitudes("x"),))
LARGEST = 5 * 10**15


def test_magnitudes_leave_no_gap() -> None:
    every = magnitudes()
    starts = [start for start, _, _ in every]
    assert starts == sorted(set(starts))
    assert (starts[0], every[-1][2]) == (-LARGEST, LARGEST)
    for (start, low, high), (following, _, _) in pairwise(every):
        assert low <= start <= following - 1 <= high
    assert [(low, high) for _, low, high in every if low == high] == [(n, n) for n in (-2, -1, 0, 1, 2)]


def world(folder: Path, *, persons: bool) -> World:
    if not persons:
        each: Rows = tuple((None, value, "a") for value in EXTREMES)
        bases = ((), *((one,) for one in each), *itertools.combinations(each, 2))
        return World.build(folder, bases, ((), *((row,) for row in each)))
    mine: Rows = tuple(("me", value, "a") for value in (-9.0, 0.0, 99.0, None, math.inf))
    contents = tuple(some for size in range(4) for some in itertools.combinations_with_replacement(mine, size))
    return World.build(folder, ((), (("you", 99.0, "a"), ("you", 3.0, "a"), (None, 1.0, "a"))), contents)


@pytest.mark.parametrize("adjacency", tuple(Adjacency))
@pytest.mark.parametrize("unit", ["row", "{person: p, rows: 2, groups: 1}"])
def test_magnitudes_of_neighbours_move_as_proven(tmp_path: Path, unit: str, adjacency: Adjacency) -> None:
    """And no proof is looser than twice what some neighbours do."""
    built = world(tmp_path, persons=unit != "row")
    (said,) = declared_moves(prove(COUNTED, contract_of(adjacency, unit=unit)))
    (found,) = largest_moves(built.exact(COUNTED, unit), adjacency)
    assert said.l1 / 2 <= found.l1 <= said.l1
    assert found.l2_squared <= said.l2_squared


VALUES: list[Any] = [0.0, -0.0, 0.005, 0.014, 0.015, 1.0, 1.01, 99.99, 100, 100.02, 1e300, -1e300, 5e13, 6e13, -0.02]
VALUES += [None, math.nan, math.inf, -math.inf, 1e-300, -1e-300, 2.5, -7.77]
WHOLES: list[Any] = [0, 1, -1, 2, 3, 5, 6, 10, 11, -10, -11, 2**53, 2**62, -(2**63), 2**63 - 1, None]


@pytest.mark.parametrize(
    ("values", "facts", "step"),
    [(VALUES, "{type: decimal, step: 0.01}", Fraction(1, 100)), (WHOLES, "{type: integer}", Fraction(1))],
    ids=["decimal", "integer"],
)
def test_magnitudes_agree_with_counting(tmp_path: Path, values: list[Any], facts: str, step: Fraction) -> None:
    """Whatever a column holds is counted once, in the interval that plain Python finds, or is missing."""
    agreed = Contract.from_yaml(f"table: t\nunit: row\ncolumns:\n  x: {facts}\n")
    table = load(pl.DataFrame({"x": values}), tmp_path / "t.duckdb")
    proof = prove(COUNTED, agreed)
    with DuckDBEngine.open(tmp_path / "t.duckdb", memory="1GB") as engine:
        (found,) = vectors(engine.integers(compiled(COUNTED, agreed, table, proof)), proof)
    expected: Counter[int] = Counter()
    starts = [start for start, _, _ in magnitudes()]
    for value in values:
        if value is None or not math.isfinite(value):
            continue
        steps = max(-LARGEST, min(LARGEST, round(float(value) * float(1 / step))))
        expected[max(at for at, start in enumerate(starts) if start <= steps)] += 1
    assert {at: int(rows) for at, rows in enumerate(found[:, 0]) if rows} == dict(expected)


def test_only_numbers_have_magnitudes() -> None:
    for name in ("g", "t", "d", "m", "b"):
        with pytest.raises(ArgumentError, match="numbers have magnitudes"):
            prove(Plan(aggregates=(Count(),), by=(Magnitudes(name),)), contract())
    for name in ("p", "h"):  # names a person; is hidden
        with pytest.raises(Exception, match=r"direct identifier|no such name"):
            prove(Plan(aggregates=(Count(),), by=(Magnitudes(name),)), contract())


def people(rows: dict[str, list[float]]) -> pl.DataFrame:
    pairs = [(person, x) for person, values in rows.items() for x in values]
    return pl.DataFrame(pairs, schema={"p": pl.String, "x": pl.Float64}, orient="row")


def crowds_of(folder: Path, rows: dict[str, list[float]], part: Crowding) -> tuple[int, int]:
    folder.mkdir(parents=True)
    table = load(people(rows), folder / "t.duckdb", steps=part.contract.steps())
    with DuckDBEngine.open(folder / "t.duckdb", memory="1GB") as engine:
        (found,) = vectors(engine.integers(part._select(table)), part.proof)
    return int(found[0, 0]), int(found[1, 0])


MINE: tuple[list[float], ...] = ([], [0.0], [1.0, 2.0, 0.0], [1.0, 2.0, 3.0])


def some_people(adjacency: Adjacency) -> Crowding:
    public = f"adjacency: {adjacency}" + ("\nunits: 3" if adjacency is Adjacency.REPLACE_ONE else "")
    agreed = Contract.from_yaml(
        f"table: t\nunit: {{person: p, rows: 2}}\n{public}\ncolumns:\n  p: {{type: text}}\n"
        "  x: {type: integer, low: 0, high: 9}\n"
    )
    return prepare_crowding(agreed, epsilon=1, where=Compare(Column("x"), ">", Constant(Fraction(0))))


@pytest.fixture(scope="module")
def crowds(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[int, int]]:
    """Both numbers for whatever rows one person has; the first one is not there at all."""
    part, folder = some_people(Adjacency.ADD_REMOVE), tmp_path_factory.mktemp("crowds")
    base = {"you": [1.0, 2.0, 3.0], "they": [1.0]}
    return [crowds_of(folder / str(at), {**base, "me": rows}, part) for at, rows in enumerate(MINE)]


@pytest.mark.parametrize("adjacency", tuple(Adjacency))
def test_crowding_of_neighbours_moves_as_proven(crowds: list[tuple[int, int]], adjacency: Adjacency) -> None:
    """One who comes, goes, or changes into another; no proof is looser than what some neighbours do."""
    assert crowds == [(1, 1), (1, 1), (2, 1), (1, 2)]
    ones = crowds[:1] if adjacency is Adjacency.ADD_REMOVE else crowds[1:]
    moves = [[abs(a - b) for a, b in zip(one, other, strict=True)] for one in ones for other in crowds[1:]]
    farthest = Moved(l1=max(map(sum, moves)), l2_squared=max(sum(m**2 for m in move) for move in moves))
    assert some_people(adjacency).proof.parts[0].moved == farthest


def test_crowding_agrees_with_counting(tmp_path: Path) -> None:
    rows = {f"p{at}": [1.0] * at for at in range(1, 8)}
    agreed = Contract.from_yaml(
        "table: t\nunit: {person: p, rows: 3}\ncolumns: {p: {type: text}, x: {type: integer}}\n"
    )
    assert crowds_of(tmp_path / "a", rows, prepare_crowding(agreed, epsilon=1)) == (3, 4)


def test_crowding_is_charged_and_has_noise(tmp_path: Path) -> None:
    with scene(tmp_path / "s", under=contract(unit=PERSON)) as held:
        part = prepare_crowding(held.contract, epsilon="0.5")
        measured = held.measure(part)
        (found,) = measured.released
        assert isinstance(found, NoisyVector)
        assert found.measurement.as_json()["units with more rows than"] == 2
        assert part.restored(found.as_json()).integers[0].tolist() == found.integers[0].tolist()
        assert held.spent.loss == 500_000_000


def test_shares_cover_the_exact_one() -> None:
    """Of 200 draws at most a few miss: the interval promises 95 of 100, and the union bound is generous."""
    agreed = contract(unit=PERSON)
    part, bits, missed = prepare_crowding(agreed, epsilon="0.2"), SeededBits(3), 0
    for _ in range(200):
        noisy = [release(count, part.noises[0], bits, teaching=True).value for count in (90, 30)]
        share = share_above(NoisyVector(measurement=part, integers=(_column(noisy),)))
        assert 0 <= share.low <= share.high <= 1
        missed += not share.low <= 0.25 <= share.high
    assert missed <= 12


def _column(numbers: list[int]) -> Any:
    import numpy as np

    return np.array(numbers, dtype=np.int64).reshape(2, 1)


def test_rows_that_are_units_are_not_crowded() -> None:
    with pytest.raises(ArgumentError, match="each row is a unit"):
        prepare_crowding(contract(), epsilon=1)
