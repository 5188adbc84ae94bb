"""Neighbours replayed with one record of outputs, and exact numbers over orders, threads and parts of the rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sqlglot import exp

from discreet.data.contract import Contract
from discreet.data.engines.duckdb import DuckDBEngine
from discreet.data.load import load
from discreet.guarantee import Adjacency
from discreet.measure import compile, noisy  # noqa: A004  a module of ours
from discreet.measure.bounds import PartProof, prove
from discreet.measure.compile import compiled, vectors
from discreet.measure.expression import Column, Compare, Constant, Text
from discreet.measure.groups import Bins, Categories
from discreet.measure.noisy import Measurement, prepare
from discreet.measure.plan import Count, Persons, Plan, Total, endpoints, moments
from discreet.measure.weights import heavy_units, whole_weight
from discreet.mechanisms.noise import LaplaceNoise, Noise, Noisy
from discreet.mechanisms.tables import Integers
from discreet.randomness import SeededBits
from tests.measure.scenes import MANY, ONE_ROW, PERSON, Row, contract, scene

X, G = Column("x"), Categories(Text("g"))
POSITIVE = Compare(X, ">", Constant(Fraction(0)))
PLANS = (
    Plan(aggregates=(Count(), Total(X)), by=(G,)),
    Plan(aggregates=(endpoints(X), Count(Text("t"))), where=POSITIVE),
    Plan(aggregates=(moments(X, whole=True),), by=(Bins.even(X, -1, 3, 2), G)),
    Plan(aggregates=(Persons(),), by=(G,), where=POSITIVE),
)


@dataclass
class Recorder:
    """Stands where noise is added: notes each call, and gives the recorded outputs instead of fresh ones."""

    outputs: list[Integers]
    calls: list[tuple[Noise, tuple[int, ...]]] = field(default_factory=list)
    inputs: list[Integers] = field(default_factory=list)

    def release(self, exact: Integers, noise: Noise, *_: object, **__: object) -> Noisy[Integers]:
        self.calls.append((noise, exact.shape))
        self.inputs.append(exact)
        if len(self.outputs) < len(self.calls):
            self.outputs.append(np.full_like(exact, 7 * len(self.calls)))
        return Noisy(value=self.outputs[len(self.calls) - 1], noise=noise, certifiable=False)


def _run(
    folder: Path, rows: Sequence[Row], parts: Sequence[Measurement], under: Contract, outputs: list[Integers]
) -> tuple[Recorder, object]:
    """What was asked of the mechanism, and all else that anybody sees: statements, entries of the ledger, answers."""
    recorder = Recorder(outputs)
    with pytest.MonkeyPatch.context() as patch, scene(folder, rows, under=under) as made:
        patch.setattr(noisy, "release", recorder.release)
        done = made.measure(*parts)
        entries = [(entry.kind, entry.content) for entry in made.ledger.entries()]
        return recorder, (made.engine.asked, entries, [one.as_json() for one in done.released])


def _neighbours(unit: str, adjacency: Adjacency) -> list[Sequence[Row]]:
    """Tables that differ from MANY in one unit."""
    extreme: Row = {**MANY[0], "p": "new", "x": 1e300, "g": "c", "t": None, "k": -(10**6)}
    if adjacency is Adjacency.REPLACE_ONE:
        if unit == ONE_ROW:
            return [[*MANY[:at], extreme, *MANY[at + 1 :]] for at in (0, 2, 4, 5)]
        return [[*(row for row in MANY if row["p"] != name), *[extreme] * 3] for name in ("ann", "ben", "eve")]
    if unit == ONE_ROW:
        return [[*MANY, extreme], *([*MANY[:at], *MANY[at + 1 :]] for at in (0, 2, 4, 5))]
    gone = [[row for row in MANY if row["p"] != name] for name in ("ann", "ben", "eve")]
    return [[*MANY, *[extreme] * 5], *gone]


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("unit", [ONE_ROW, PERSON])
def test_neighbours_make_the_same_calls_with_inputs_within_the_bound(
    tmp_path: Path, unit: str, adjacency: Adjacency
) -> None:
    """Fed the same released values: mechanism, order, shape and scale agree, and so does all that is ever shown."""
    under = contract(unit=unit, adjacency=adjacency)
    parts = [prepare(plan, under, epsilon=1) for plan in PLANS]
    outputs: list[Integers] = []
    first, shown = _run(tmp_path / "many", MANY, parts, under, outputs)
    moved = [one.moved for part in parts for one in part.proof.parts]
    assert len(first.calls) == len(moved)
    for number, rows in enumerate(_neighbours(unit, adjacency)):
        other, also = _run(tmp_path / f"{number}", rows, parts, under, outputs)
        assert other.calls == first.calls
        assert also == shown
        for mine, theirs, bound in zip(first.inputs, other.inputs, moved, strict=True):
            apart = [abs(int(a) - int(b)) for a, b in zip(mine.ravel(), theirs.ravel(), strict=True)]
            assert sum(apart) <= bound.l1
            assert sum(one * one for one in apart) <= bound.l2_squared


def _frame(rows: int) -> pl.DataFrame:
    draw = np.random.default_rng(7)
    x = draw.choice([-9.0, -1.0, 0.1, 0.25, 3.0, 99.0, float("nan"), float("inf")], rows)
    return pl.DataFrame(
        {
            "p": [f"p{number}" for number in draw.integers(0, rows // 6, rows)],
            "x": x,
            "k": draw.integers(-1200, 1200, rows),
            "g": draw.choice(["a", "b", "c", "foreign"], rows),
        }
    )


_SMALL = """
table: t
unit: {unit}
max_rows: 1000000
columns:
  p: {{type: text, role: direct identifier}}
  x: {{type: decimal, step: 0.5, low: -1, high: 3}}
  k: {{type: integer, low: -1000, high: 1000}}
  g: {{type: category, keys: [a, b, c]}}
"""
_WIDE = Plan(aggregates=(Count(X), Total(X), moments(Column("k"))), by=(G,))


def _exact(frame: pl.DataFrame, path: Path, plan: Plan, unit: str, threads: int = 1) -> list[list[int]]:
    agreed = Contract.from_yaml(_SMALL.format(unit=unit))
    proof = prove(plan, agreed)
    table = load(frame, path, steps=agreed.steps())
    with DuckDBEngine.open(path, memory="1GB", threads=threads) as engine:
        read = vectors(engine.integers(compiled(plan, agreed, table, proof)), proof)
    return [[int(number) for number in one.ravel()] for one in read]


@pytest.mark.parametrize("unit", [ONE_ROW, PERSON])
@pytest.mark.parametrize("orders", [5, pytest.param(20, marks=pytest.mark.slow)])
def test_exact_numbers_do_not_hang_on_the_order_of_rows(tmp_path: Path, orders: int, unit: str) -> None:
    frame = _frame(600)
    for name, plan in {"sums": _WIDE, "persons": replace(_WIDE, aggregates=(Persons(),))}.items():
        found = {
            str(
                _exact(
                    frame.sample(fraction=1, shuffle=True, seed=seed),
                    tmp_path / f"{name}{seed}",
                    plan,
                    unit,
                )
            )
            for seed in range(20)
        }
        assert len(found) == 1


@pytest.mark.parametrize("unit", [ONE_ROW, PERSON])
def test_exact_numbers_do_not_hang_on_threads(tmp_path: Path, unit: str) -> None:
    """More rows than one thread is given at once."""
    frame = _frame(400_000)
    found = {str(_exact(frame, tmp_path / f"{threads}", _WIDE, unit, threads)) for threads in (1, 2, 4)}
    assert len(found) == 1


@pytest.mark.parametrize("parts", [2, 7, pytest.param(64, marks=pytest.mark.slow)])
def test_exact_numbers_add_up_over_parts(tmp_path: Path, parts: int) -> None:
    """Rows in parts by row, persons in parts by person: numbers of the parts add up to those of the whole."""
    frame = _frame(640).with_row_index("at")
    person = pl.col("p").str.slice(1).cast(pl.Int64)
    for unit, part in ((ONE_ROW, pl.col("at") % parts), (PERSON, person % parts)):
        whole = _exact(frame.drop("at"), tmp_path / f"{unit[:3]}", _WIDE, unit)
        pieces = [
            _exact(frame.filter(part == one).drop("at"), tmp_path / f"{unit[:3]}{one}", _WIDE, unit)
            for one in range(parts)
        ]
        assert [[sum(column) for column in zip(*one, strict=True)] for one in zip(*pieces, strict=True)] == whole


def _scatter(part: Measurement, folder: Path) -> float:
    """The mean square of the noise that is drawn, over the variance that is said."""
    with scene(folder) as made:
        engine, table = made.engine.inner, made.table
        exact = vectors(engine.integers(compiled(part.plan, part.contract, table, part.proof)), part.proof)[0]
        drawn = np.array(
            [part.release(engine, table, SeededBits(seed), teaching=True).integers[0] for seed in range(150)]
        )
    honest = LaplaceNoise.for_guarantee(sensitivity=part.proof.parts[0].moved.l1, epsilon=Fraction(1))
    return float(np.mean((drawn - exact).astype(float) ** 2) / honest.standard_deviation**2)


def test_a_scale_taken_for_a_rate_turns_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, agreed = Plan(aggregates=(Total(X),), by=(G,)), contract()
    assert 0.7 < _scatter(prepare(plan, agreed, epsilon=1), tmp_path / "fair") < 1.3

    def swapped(part: PartProof, epsilon: Fraction) -> LaplaceNoise:
        return LaplaceNoise.for_guarantee(sensitivity=1, epsilon=part.moved.l1 / epsilon)

    monkeypatch.setattr(noisy, "_laplace", swapped)
    assert not 0.7 < _scatter(prepare(plan, agreed, epsilon=1), tmp_path / "wrong") < 1.3


def _weighed_twin(rows: Sequence[tuple[str, float]], bits: int) -> int:
    """The count of positive rows, by hand: the filter first, then each person's weight."""
    counts = {name: sum(x > 0 for one, x in rows if one == name) for name, _ in rows}
    return sum(count * whole_weight(count, 2, bits) for count in counts.values() if count)


def test_a_filter_after_weighting_turns_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("ann", 1.0)] * 3 + [("ann", -1.0)] * 5 + [("ben", 1.0)]
    frame = pl.DataFrame([(p, x, 0, "a") for p, x in rows], schema=["p", "x", "k", "g"], orient="row")
    plan, unit = Plan(aggregates=(Count(),), where=POSITIVE), "{person: p, rows: 2, groups: 2}"
    bits = prove(plan, Contract.from_yaml(_SMALL.format(unit=unit))).bits
    assert _exact(frame, tmp_path / "fair", plan, unit) == [[_weighed_twin(rows, bits)]]

    def of_all(source: str, *given: Any) -> exp.Select:
        unfiltered = exp.select(exp.alias_(exp.column("c0"), "u0")).from_("rows")
        return heavy_units("everybody", *given).with_("everybody", as_=unfiltered)

    monkeypatch.setattr(compile, "heavy_units", of_all)
    assert _exact(frame, tmp_path / "wrong", plan, unit) != [[_weighed_twin(rows, bits)]]


@pytest.mark.parametrize(
    "keys",
    [
        [""],
        ["one"],
        ["", " ", "  "],
        ["a\x1fb", "a", "b", "\U000f0000"],
        ["'", '"', ";--", "\\", "%", "_"],
        ["é", "e\u0301", "E", "e", "ß", "ss", "\u0130", "i"],
        [f"k{number}" for number in range(3000)],
    ],
    ids=["empty", "one", "blank", "separators", "quotes", "forms of letters", "many"],
)
@pytest.mark.parametrize("nulls", ["drop", "key"])
def test_keys_are_told_apart_by_their_bytes(tmp_path: Path, keys: list[str], nulls: str) -> None:
    """Each key has its cell whatever signs it is written with, also those that lists of keys are split by."""
    listed = json.dumps(keys, ensure_ascii=False)
    agreed = Contract.from_yaml(
        f"table: t\nunit: row\ncolumns:\n  g: {{type: category, keys: {listed}, nulls: {nulls}}}\n"
    )
    held = [key for number, key in enumerate(keys) for _ in range(number % 3 + 1)] + [None] * 5 + ["foreign"] * 2
    plan = Plan(aggregates=(Count(),), by=(G,))
    proof = prove(plan, agreed)
    table = load(pl.DataFrame({"g": held}, schema={"g": pl.String}), tmp_path / "t.duckdb", steps={})
    with DuckDBEngine.open(tmp_path / "t.duckdb", memory="1GB") as engine:
        (read,) = vectors(engine.integers(compiled(plan, agreed, table, proof)), proof)
    assert read.ravel().tolist() == [number % 3 + 1 for number in range(len(keys))] + [5] * (nulls == "key")
