"""What SQL asks for moves between neighbours no farther than was proven, and fails for none of them.

Every expression, filter, key and aggregate that can be written, over tables that differ in one row, or in all rows of
one person, where these hold what is hardest: ends, infinities, nothing, foreign keys, first and last days.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet.accounting.events import Currency, price
from discreet.data.contract import Contract
from discreet.data.engines.duckdb import DuckDBEngine
from discreet.data.load import load
from discreet.data.table import StoredTable
from discreet.errors import ArgumentError, EngineError
from discreet.guarantee import Adjacency
from discreet.measure import bounds, render
from discreet.measure.bounds import prove
from discreet.measure.clipped import Clipped
from discreet.measure.compile import compiled, vectors
from discreet.measure.distinct import DistinctCount, prepare_distinct
from discreet.measure.expression import Column
from discreet.measure.favourites import Favourites
from discreet.measure.groups import Each
from discreet.measure.intervals import CountedIntervals
from discreet.measure.noisy import Measurement
from discreet.measure.part import Part
from discreet.measure.places import Places
from discreet.measure.ranks import ChosenRanks, Ranks, prepare_ranks
from discreet.query.design import Design, design_of
from discreet.query.parse import parse

FACTS = """
table: t
unit: {unit}
{public}
max_rows: 100000
columns:
  p: {{type: text, role: direct identifier}}
  x: {{type: decimal, step: 0.5, low: -1, high: 3}}
  k: {{type: integer, low: -3, high: 7}}
  w: {{type: integer, low: 0, high: 4, nulls: refuse, role: weight}}
  z: {{type: integer, low: -2, high: 2, nulls: key}}
  g: {{type: category, keys: [a, b], nulls: key}}
  s: {{type: text}}
  b: {{type: boolean}}
  d: {{type: date, low: 2020-01-30, high: 2020-03-02}}
  m: {{type: datetime, low: 2020-01-01T23:00:00, high: 2020-01-02T01:30:00}}
  n: {{type: integer, low: 0, high: {last}}}
"""
SCHEMA: dict[str, Any] = {
    "p": pl.String,
    "x": pl.Float64,
    "k": pl.Int64,
    "w": pl.Int64,
    "z": pl.Int64,
    "g": pl.String,
    "s": pl.String,
    "b": pl.Boolean,
    "d": pl.Date,
    "m": pl.Datetime("us"),
    "n": pl.Int64,
}
UNITS = {"row": "row", "person": "{person: p, rows: 2, groups: 1}"}
Row = dict[str, Any]
PLAIN: Row = {
    "x": 0.5,
    "k": 2,
    "w": 1,
    "z": 1,
    "g": "a",
    "s": "some",
    "b": True,
    "d": datetime.date(2020, 2, 10),
    "m": datetime.datetime(2020, 1, 2),
}
NOTHING: Row = dict.fromkeys(PLAIN)
_ENDS: dict[str, tuple[Any, ...]] = {
    "x": (-1.0, 3.0, -0.26, 1e300, -1e300, float("nan"), float("inf"), -0.0),
    "k": (-3, 0, 7, 2**63 - 1, -(2**63)),
    "w": (4, -1, 2**62),
    "z": (-2, 2, 99),
    "g": ("b", "foreign", "A", ""),
    "s": ("", "%", "so_me", "\\", "some\x1f"),
    "b": (False,),
    "d": (datetime.date(2020, 1, 30), datetime.date(2020, 3, 2), datetime.date(1, 1, 1), datetime.date(9999, 12, 31)),
    "m": (datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), datetime.datetime(2020, 1, 1, 23, 59, 59, 500000)),
}
HARD: tuple[Row, ...] = (
    PLAIN,
    NOTHING,
    *({**PLAIN, name: value} for name, values in _ENDS.items() for value in (*values, None)),
    *({**NOTHING, name: values[0]} for name, values in _ENDS.items()),
    {name: values[0] for name, values in _ENDS.items()},
    {name: values[1 % len(values)] for name, values in _ENDS.items()},
    {name: values[-1] for name, values in _ENDS.items()},
)
FEW = tuple(HARD[at] for at in (0, 1, 3, 5, 11, 13, 22, 27, len(HARD) - 2, len(HARD) - 1))

_VALUES = """
x, k, w, w * x, x + k, 2 * x - 3 * k, k * k, POWER(x, 3), -x, ABS(x), ABS(k - 2), x / 4, k // 3, ROUND(x), FLOOR(x * 2),
CEIL(x / 3), GREATEST(x, 1), LEAST(k, x), GREATEST(x, k, 2), COALESCE(x, k, 5), COALESCE(x, -7), NULLIF(k, 2),
NULLIF(x, k), CASE WHEN x > 1 THEN k END, CASE WHEN k IS NULL THEN -9 WHEN x > 0 THEN x ELSE 4 END,
CASE k WHEN 2 THEN x ELSE -x END, IF(b, k, x), b, k > 2, z, d - DATE '2020-02-01',
DATE_DIFF('day', DATE '2020-02-01', d), MONTH(d), YEAR(m), DAY(d), WIDTH_BUCKET(x, 0, 2, 3),
EXTRACT(week FROM d), CAST(k AS DOUBLE) / 2
"""
_FILTERS = """
x > 0, NOT x > 0, x IS NULL, k IN (1, 2, 7), k NOT IN (2, 3), x BETWEEN 0 AND 1, x NOT BETWEEN k AND 2, s LIKE '%o_e%',
s NOT LIKE '\\', s = '', s <> 'some', g IN ('a', 'b'), g <> 'a', b, NOT b, b IS NOT TRUE, (x > 1) = b,
z IS NULL OR x > 2, d >= '2020-02-29', d + INTERVAL 3 DAY > DATE '2020-03-01', m < TIMESTAMP '2020-01-02 00:00:00',
DATE_TRUNC('month', d) = DATE '2020-02-01', x = k OR (x IS NULL AND k IS NULL), COALESCE(k, 0) * COALESCE(x, 1) > 1,
CASE WHEN x > 0 THEN b ELSE k > 1 END, CASE WHEN k > 1 THEN 'up' ELSE g END = 'a', TRUE, FALSE
"""
_KEYS = """
g, b, k, x, z, d, k // 2, FLOOR(x), ROUND(k / 4), x > 1, z > 0, WIDTH_BUCKET(k, 0, 5, 2), DATE_TRUNC('month', d),
MONTH(d), DATE_TRUNC('hour', m), HOUR(m), CASE WHEN x > 1 THEN 'big' WHEN x > 0 THEN 'mid' END, COALESCE(g,
'none'), x + k,
IF(b, 'yes', g), z + 1, ABS(k)
"""
_TOGETHER = (
    "SELECT COUNT(*), COUNT(x), COUNT(s), COUNT(g), COUNT(DISTINCT g), SUM(x), AVG(x), VARIANCE(x), STDDEV(x) FROM t",
    "SELECT g, AVG(k) FILTER (WHERE b), COUNT_IF(x > 1), SUM(x) / SUM(w) FROM t GROUP BY g HAVING SUM(x) > 3",
    "SELECT COVAR_POP(x, k), CORR(x, z), COVAR_SAMP(w, x) FROM t WHERE z IS NOT NULL",
    "SELECT g, b, SUM(w * x), COUNT(*) FROM t GROUP BY ROLLUP (g, b)",
    "SELECT g, b, COUNT(*) FROM t GROUP BY GROUPING SETS ((g), (b), (g, b), ())",
    "SELECT g, MEDIAN(x), QUANTILE_DISC(x, 0.9), MIN(k), MAX(x) FROM t GROUP BY g",
    "SELECT MEDIAN(x) FROM t WHERE b",
    "SELECT QUANTILE_DISC(x, 0.25), MEDIAN(x), QUANTILE_DISC(x, 0.75) FROM t WHERE s IS NOT NULL",
    "SELECT g, QUANTILE_CONT(z + k, 0.1), MEDIAN(z + k), QUANTILE_DISC(z + k, 0.9) FROM t GROUP BY g",
    "SELECT MEDIAN(w), QUANTILE_DISC(w, 0.4), MEDIAN(z), QUANTILE_DISC(z, 0.7), QUANTILE_DISC(z, 0.9) FROM t",
    "SELECT MODE(g), APPROX_TOP_K(k, 2), ARG_MAX(g, SUM(x)), ARG_MIN(k, COUNT(*)) FROM t WHERE x IS NOT NULL",
    "SELECT b, MODE(g), ARG_MAX(k, SUM(x)) FROM t GROUP BY b",
    "SELECT g, COUNT(DISTINCT k), COUNT(DISTINCT k // 2), COUNT(DISTINCT b) FROM t GROUP BY g",
    "SELECT COUNT(DISTINCT p), COUNT(*) FROM t WHERE b",
    "SELECT g, COUNT(DISTINCT p) FROM t GROUP BY g",
    "SELECT AVG(v) FROM (SELECT x + k AS v, g AS h FROM t WHERE b) WHERE h = 'a' AND v > 0",
    "WITH u AS (SELECT k AS x, x AS k FROM t) SELECT SUM(x), SUM(k) FROM u WHERE x > 1",
    "SELECT COUNT(*), COUNT_IF(x > 0), COUNT_IF(x > 1), COUNT_IF(x IS NULL), COUNT_IF(x < -0.5), SUM(x) FROM t",
    "SELECT g, AVG(w), MEDIAN(w), QUANTILE_DISC(w, 0.2), COUNT_IF(w > 2), STDDEV(w) FROM t WHERE b GROUP BY g",
    f"SELECT {', '.join(f'COUNT_IF(k <= {at}) AS k{at + 3}' for at in range(-3, 7))}, COUNT(*) FROM t",
    f"SELECT {', '.join(f'COUNT_IF(x <= {at / 2}) AS x{at + 2}' for at in range(-2, 6))} FROM t WHERE z IS NULL",
)


def _listed(text: str) -> list[str]:
    """What stands between commas outside brackets."""
    found, depth = [""], 0
    for sign in text.replace("\n", " "):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and not depth:
            found.append("")
        else:
            found[-1] += sign
    return [one.strip() for one in found]


QUERIES = (
    *(f"SELECT COUNT({one}), SUM({one}), AVG({one}) FROM t WHERE k < 99 OR k IS NULL" for one in _listed(_VALUES)),
    *(f"SELECT g, SUM({one}) FROM t GROUP BY g" for one in _listed(_VALUES)[::3]),
    *(f"SELECT COUNT(*), SUM(x), VAR_POP(k) FROM t WHERE {one}" for one in _listed(_FILTERS)),
    *(f"SELECT COUNT(*), SUM(x) FROM t WHERE x < 3 OR x IS NULL GROUP BY {one}" for one in _listed(_KEYS)),
    *_TOGETHER,
)


@dataclass(frozen=True)
class World:
    """Tables of some rows and one content more, told apart by a number; the first content is the empty one."""

    bases: int
    contents: int
    engine: DuckDBEngine
    table: StoredTable
    # What was read before, for the other adjacency.
    known: dict[str, list[tuple[np.ndarray, int]]] = field(default_factory=dict)

    @classmethod
    def build(cls, folder: Path, bases: Sequence[Sequence[Row]], contents: Sequence[Sequence[Row]]) -> World:
        rows = [
            {**row, "p": f"{number} {row.get('p', 'me')}", "n": number}
            for number, (base, content) in enumerate(itertools.product(bases, contents))
            for row in (*base, *content)
        ]
        frame = pl.DataFrame([[row[name] for name in SCHEMA] for row in rows], schema=SCHEMA, orient="row")
        table = load(frame, folder / "world.duckdb", steps=contract("row", Adjacency.ADD_REMOVE).steps())
        engine = DuckDBEngine.open(folder / "world.duckdb", memory="1GB")
        return cls(len(bases), len(contents), engine, table)

    def moved(self, numbers: np.ndarray, adjacency: Adjacency) -> tuple[int, int]:
        """The farthest that two neighbours lie apart, in sum and in sum of squares."""
        tables = numbers.reshape(self.bases, self.contents, -1)
        ones = tables[:, :1] if adjacency is Adjacency.ADD_REMOVE else tables[:, 1:]
        apart = np.abs(ones[:, :, None, :] - tables[:, None, 1:, :])
        return int(apart.sum(axis=3).max()), int((apart.astype(float) ** 2).sum(axis=3).max())


def contract(unit: str, adjacency: Adjacency, last: int = 0) -> Contract:
    public = f"adjacency: {adjacency}" + ("\nunits: 9" if adjacency is Adjacency.REPLACE_ONE else "")
    return Contract.from_yaml(FACTS.format(unit=UNITS[unit], public=public, last=last))


@pytest.fixture(scope="module", params=UNITS)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, World]:
    unit = request.param
    others: Sequence[Row] = [{**row, "p": "you"} for row in (FEW[0], FEW[2], FEW[-1])]
    contents: list[tuple[Row, ...]] = [(), *((row,) for row in HARD)]
    if unit == "person":
        several = [*itertools.combinations_with_replacement(FEW, 2), *itertools.combinations(FEW, 3)]
        contents = [(), *((row,) for row in FEW), *several[::2], (PLAIN,) * 5, (FEW[-1],) * 7]
    return unit, World.build(tmp_path_factory.mktemp(unit), ([], others), contents)


def read(part: Part, world: World, wide: Contract) -> list[tuple[np.ndarray, int]]:
    """For each aggregate of a part its exact numbers in all tables, and the bits of their steps."""
    by: Any = Each(Column("n"))
    match part:
        case Ranks():
            number = Each(Column("n"))
            among = prepare_ranks(
                part.value, wide, epsilon="1", quantiles=part.quantiles, end=part.end,
                by=(number, *part.plan.by), where=part.plan.where,
            )  # fmt: skip
            found = np.zeros((among.proof.cells, among.places), dtype=np.int64)
            for cell, data in among._by_cell(world.engine.integers(among._select(world.table))).items():
                found[cell, data.places] = data.counts
            return [(found, among.proof.bits)]
        case Favourites():
            plan = replace(part.plan, by=(by, *part.plan.by))
        case DistinctCount():
            among_values = prepare_distinct(
                part.values.by[-1], wide, epsilon="1", by=(by, *part.values.by[:-1]), where=part.values.where
            )
            rows = world.engine.integers(among_values._select(world.table))
            return [(among_values._counted(rows), among_values.proof.bits)]
        case CountedIntervals():
            plan = replace(part.finest.plan, by=(by, *part.finest.plan.by))
            proof = prove(plan, wide)
            (finest,) = vectors(world.engine.integers(compiled(plan, wide, world.table, proof)), proof)
            tables = replace(part, proof=replace(part.proof, cells=part.proof.cells * world.bases * world.contents))
            return [(one, proof.bits) for one in tables.added(finest)]
        case Measurement() | Places():
            plan = replace(part.plan, by=(by, *part.plan.by))
        case _:
            raise AssertionError(type(part))
    proof = prove(plan, wide)
    numbers = vectors(world.engine.integers(compiled(plan, wide, world.table, proof)), proof)
    return [(one, proof.bits) for one in numbers]


def declared(part: Part) -> list[tuple[int, int, int]]:
    """For each aggregate what one unit moves at most, in sum and in sum of squares, and the bits of the steps."""
    if isinstance(part, Ranks):
        return [(part._records, part._records**2, part.proof.bits)]
    assert isinstance(part, Measurement | Favourites | Places)
    return [(one.moved.l1, one.moved.l2_squared, part.proof.bits) for one in part.proof.parts]


def stages(part: Part, every: int = 1) -> Iterator[Part]:
    """What a part reads one after the other: of a clipped one the ranks, and the sums at clips that there are."""
    if not isinstance(part, Clipped):
        yield part
        return
    yield from (ends for _, ends in part.ends)
    clips = itertools.product(*(range(ends.places) for _, ends in part.ends))
    for places in itertools.islice(clips, 0, None, every):
        chosen = [ChosenRanks(ranks=ends, places=((at,),)) for (_, ends), at in zip(part.ends, places, strict=True)]
        yield part.at(part.clips(chosen))


def designed(text: str, agreed: Contract, **budget: Any) -> Design:
    currency: Currency = "zcdp" if "rho" in budget else "pure"
    return design_of([parse(text, lambda _: agreed)], agreed, currency, **(budget or {"epsilon": 1}))


def violations(world: World, unit: str, text: str, adjacency: Adjacency, every: int = 1, **budget: Any) -> list[str]:
    """Where some neighbours move farther than was proven."""
    agreed = contract(unit, adjacency)
    wide = contract(unit, Adjacency.ADD_REMOVE, last=world.bases * world.contents - 1)
    try:
        design = designed(text, agreed, **budget)
    except ArgumentError as error:
        if "public" in str(error) or ("DISTINCT p" in text and unit == "row"):
            return []
        raise
    found = []
    for part in (stage for one in design.parts for stage in stages(one, every)):
        known = f"{type(part).__name__} {part.as_json()['plan']}"
        known += text if isinstance(part, Ranks | DistinctCount) else ""
        if known not in world.known:
            world.known[known] = read(part, world, wide)
        for (numbers, fine), (l1, l2_squared, bits) in zip(world.known[known], declared(part), strict=True):
            one, other = world.moved(numbers, adjacency)
            # The steps of all tables at once may be coarser or finer than those of one.
            if one > l1 * 2.0 ** (fine - bits) + 1e-6 or other > l2_squared * 4.0 ** (fine - bits) * (1 + 1e-9):
                found.append(f"{type(part).__name__} of {text}: {one} > {l1}, or {other} > {l2_squared}")
    return found


CLIPPED = (
    "SELECT AVG(x), COUNT(*) FROM t",
    "SELECT SUM(k) FROM t",
    "SELECT g, SUM(k), COUNT(k), SUM(x) FROM t WHERE b OR x > 0 GROUP BY g",
    "SELECT SUM(k * x), AVG(w) FROM t WHERE z IS NULL",
    "SELECT AVG(COALESCE(x, -7)) FILTER (WHERE s IS NOT NULL) FROM t",
)


@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": "0.1"}], ids=str)
@pytest.mark.parametrize("text", CLIPPED)
def test_every_clip_is_proven_and_costs_the_same(
    world: tuple[str, World], text: str, budget: dict[str, Any], every: int
) -> None:
    """Both stages of every clipped sum, at every clip there is, by row and by person, for both kinds of neighbours."""
    unit, tables = world
    currency: Currency = "zcdp" if "rho" in budget else "pure"
    for adjacency in Adjacency:
        assert violations(tables, unit, text, adjacency, every, clip="quantile", **budget) == []
        agreed = contract(unit, adjacency)
        design = designed(text, agreed, clip="quantile", **budget)
        (part,) = design.parts
        assert isinstance(part, Clipped)
        measured = [one for one in stages(part, every) if isinstance(one, Measurement)]
        ends = sum((price(ranks.event, currency).loss for _, ranks in part.ends), Fraction(0))
        given = Fraction(next(iter(budget.values())))
        assert given * Fraction(999_999, 1_000_000) <= price(design.event, currency).loss <= given
        assert all(price(one.event, currency).loss <= price(design.event, currency).loss - ends for one in measured)
        # Noise is in proportion to the clip: the narrowest is far less noisy than the widest.
        spreads = [float(one.noises[0].standard_deviation) / 2**one.proof.bits for one in measured]
        assert len(measured) == 1 or min(spreads) < max(spreads)


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_nothing_that_sql_asks_for_moves_farther_than_was_proven(world: tuple[str, World], every: int) -> None:
    unit, tables = world
    some = dict.fromkeys((*QUERIES[::every], *_TOGETHER))
    assert [line for text in some for one in Adjacency for line in violations(tables, unit, text, one)] == []


def test_quantiles_together_are_read_off_counts() -> None:
    """So that the neighbours above are also those of histograms."""
    agreed = contract("row", Adjacency.ADD_REMOVE)
    several = [text for text in _TOGETHER if text.count("QUANTILE") >= 2]
    designs = [design_of([parse(text, lambda _: agreed)], agreed, "pure", epsilon=1) for text in several]
    assert sum(isinstance(part, Places) for design in designs for part in design.parts) >= 3


def test_statistics_of_one_column_are_read_off_histograms_and_trees() -> None:
    """So that the neighbours above are also those of intervals, at one level and at several."""
    agreed = contract("row", Adjacency.ADD_REMOVE)
    designs = [design_of([parse(text, lambda _: agreed)], agreed, "pure", epsilon=1) for text in _TOGETHER[-4:]]
    levels = [len(part.levels) for design in designs for part in design.parts if isinstance(part, CountedIntervals)]
    assert levels.count(1) >= 3


def test_planted_bugs_turn_red(world: tuple[str, World], monkeypatch: pytest.MonkeyPatch) -> None:
    unit, tables = world
    asked = "SELECT SUM(k + 10), SUM(k), SUM(x) FROM t WHERE x > 0 OR x IS NULL"

    def red(adjacency: Adjacency = Adjacency.ADD_REMOVE) -> bool:
        return any(violations(tables, unit, asked, one) for one in (adjacency, Adjacency.REPLACE_ONE))

    assert not red()
    tables.known.clear()
    with monkeypatch.context() as patch:  # values as they stand
        patch.setattr(render, "clamp", lambda number, low, high, lost=None: number)
        with contextlib.suppress(EngineError):  # or 64 bits do not hold them
            assert red()
        tables.known.clear()
    with monkeypatch.context() as patch:  # replace-one taken for add-remove
        patch.setattr(bounds._UnitReach, "replaces", False)
        assert red()
    asked = "SELECT QUANTILE_DISC(x, 0.25), MEDIAN(x), QUANTILE_DISC(x, 0.75) FROM t WHERE x IS NOT NULL"
    assert not red()
    with monkeypatch.context() as patch:  # a histogram of replaced rows taken for one of added rows
        patch.setattr(bounds._UnitReach, "replaces", False)
        assert red()
    # Of two columns each, so that no histogram serves them.
    asked = "SELECT SUM(k + w + 10), SUM(k + w), SUM(x + w) FROM t WHERE x > 0 OR x IS NULL"
    assert not red()
    with monkeypatch.context() as patch:  # a filter that nobody thought of
        patch.setattr(bounds, "_surely", lambda *_: True)
        assert red() or unit == "person"
