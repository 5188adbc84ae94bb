"""Every road from a question to a mechanism, asked of neighbours with one record of outputs.

Fed the same released values, neighbours make the same calls: mechanism, order, shape, scale. What goes into the calls
differs within the bound that was declared, and by no more than was charged for, worked out from the calls alone.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import numpy as np
import polars as pl
import pytest
from sqlglot import exp

import discreet.measure
from discreet.accounting.events import price
from discreet.asking import Batch
from discreet.curator import Curator
from discreet.data.contract import Contract
from discreet.data.engines.duckdb import DuckDBEngine
from discreet.guarantee import Adjacency
from discreet.measure import favourites, ranks
from discreet.measure.clipped import Clipped
from discreet.measure.compile import holders, vectors
from discreet.measure.favourites import Favourites
from discreet.measure.found import Found
from discreet.measure.implied import Implied
from discreet.measure.noisy import Measurement, NoisyVector
from discreet.measure.part import Part
from discreet.measure.places import Places
from discreet.measure.ranks import ChosenRanks, Ranks
from discreet.mechanisms.noise import LaplaceNoise, Noise, Noisy, release
from discreet.mechanisms.ordered import Ordered
from discreet.mechanisms.partition import PartitionSelection
from discreet.mechanisms.quantile import RankAnswer
from discreet.mechanisms.tables import Integers
from discreet.mechanisms.utility_score import Utility
from discreet.query.statistic import Statistic
from discreet.randomness import SeededBits

ROW, PERSON = "row", "{person: p, rows: 2, groups: 2}"
_PRIVATE = """
table: {table}
population: people
unit: {unit}
{public}
max_rows: 1000
budget: {{epsilon: 1000000, delta: 0.1}}
columns:
  p: {{type: text, role: direct identifier}}
  x: {{type: decimal, step: 0.5, low: -1, high: 3}}
  k: {{type: integer, low: -1000000, high: 1000000}}
  w: {{type: integer}}
  g: {{type: category, keys: [a, b, c]}}
  t: {{type: text}}
  b: {{type: boolean}}
joins: [{{table: regions, column: g, key: r, fan_out: 2}}]
"""
_PUBLIC = """
table: regions
unit: row
columns:
  r: {type: text}
  y: {type: decimal, step: 0.5, low: -1, high: 1}
  h: {type: category, keys: [c, d]}
"""
_NAMES = "p", "x", "k", "w", "g", "t", "b"
ROWS: tuple[tuple[Any, ...], ...] = (
    ("ann", 0.5, 7, 7, "a", "one", True),
    ("ann", 3.0, -9, 7, "b", "two", False),
    ("ann", 99.0, 7, 7, "b", None, True),
    ("ben", -9.0, 7, 7, "c", "one", False),
    ("ben", None, None, None, "a", "two", None),
    ("eve", float("nan"), 7, 7, None, "one", True),
    ("eve", 1.0, 7, 7, "foreign", "two", True),
)
EXTREME = ("new", 1e300, -(10**6), 10**9, "c", "rare", True)
# Keys that are found whoever is left out.
FOUND = frozenset({"one", "two"})


@dataclass(frozen=True)
class Road:
    """What is asked, what it may spend, and whether persons are needed for it."""

    text: str
    budget: Mapping[str, Any] = field(default_factory=lambda: {"epsilon": 1})
    persons: bool = False

    def asked(self, held: Curator) -> Batch:
        return held.sql(self.text, **self.budget).batch


ROADS = {
    "sums": Road("SELECT g, COUNT(*), SUM(x), AVG(x) FROM visits GROUP BY g"),
    "persons": Road("SELECT g, COUNT(DISTINCT p) FROM visits WHERE x > 0 GROUP BY g", persons=True),
    "moments": Road("SELECT VAR_POP(x), COUNT(t) FROM visits WHERE x > 0"),
    "pairs": Road("SELECT CORR(x, k), COVAR_POP(x, k) FROM visits WHERE b"),
    "histogram": Road("SELECT WIDTH_BUCKET(x, -1, 3, 2) AS bin, COUNT(*) FROM visits GROUP BY bin"),
    "distinct values": Road("SELECT b, COUNT(DISTINCT g) FROM visits GROUP BY b"),
    "counted quantiles": Road("SELECT MEDIAN(x), QUANTILE_DISC(x, 0.25) FROM visits"),
    "one histogram": Road("SELECT MEDIAN(x), AVG(x), COUNT(x) FROM visits"),
    "chosen quantiles": Road("SELECT g, MEDIAN(k), QUANTILE_DISC(k, 0.25) FROM visits WHERE x > 0 GROUP BY g"),
    "ends": Road("SELECT MIN(k), MAX(k) FROM visits WHERE x > 0"),
    "favourites": Road("SELECT b, MODE(g), ARG_MAX(g, SUM(x)) FROM visits GROUP BY b"),
    "top": Road("SELECT APPROX_TOP_K(g, 2), ARG_MIN(g, COUNT(*)) FROM visits WHERE b"),
    "found keys": Road(
        "SELECT t, COUNT(*), SUM(x), MEDIAN(k), MODE(g), COUNT(DISTINCT g) FROM visits GROUP BY t",
        {"epsilon": 6, "delta": "1e-3"},
    ),
    "grouping sets": Road("SELECT g, b, COUNT(*), AVG(x) FROM visits GROUP BY CUBE (g, b)"),
    # So many numbers that Gaussian noise is taken, and choices by the exponential mechanism.
    "implied": Road(
        "SELECT g, b, COUNT(*), COUNT(t), SUM(x), SUM(k), SUM(x * k), MODE(g), MAX(k) FROM visits GROUP BY CUBE (g, b)",
        {"epsilon": 1, "delta": "1e-3"},
    ),
    "public join": Road("SELECT r.h, COUNT(*), SUM(x * r.y) FROM visits JOIN regions r ON g = r.r GROUP BY r.h"),
    "left join": Road("SELECT COUNT(r.y), SUM(r.y) FROM visits LEFT JOIN regions r ON g = r.r WHERE b"),
    "private join": Road(
        "SELECT visits.g, COUNT(*), SUM(o.x) FROM visits JOIN bills o ON visits.p = o.p GROUP BY visits.g",
        persons=True,
    ),
    "clipped": Road(
        "SELECT g, AVG(k), COUNT(*), SUM(x), MEDIAN(x) FROM visits WHERE x > -1 GROUP BY g",
        {"epsilon": 1, "clip": "quantile"},
    ),
    "clipped sums": Road("SELECT SUM(k) FROM visits", {"epsilon": 1, "clip": "quantile"}),
    "clipped and implied": Road(
        "SELECT g, b, SUM(k), SUM(x * k), SUM(k * k), AVG(k - x), COUNT(t) FROM visits GROUP BY g, b",
        {"epsilon": 1, "delta": "1e-3", "clip": "quantile"},
    ),
    "above": Road("SELECT SUM(x) FROM visits", {"epsilon": 1, "above": "0.5"}, persons=True),
}


class Bounds(Road):
    """The road of `discreet bounds`."""

    def asked(self, held: Curator) -> Batch:
        return held.bounds_question("visits", self.text, **self.budget)


EVERY = {**ROADS, "bounds": Bounds("w")}


@dataclass
class Recorder:
    """Stands where mechanisms are called: notes each call, and gives recorded outputs instead of fresh ones."""

    outputs: list[Any]
    calls: list[tuple[Any, ...]] = field(default_factory=list)
    inputs: list[dict[Any, int]] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    _keys: list[str] = field(default_factory=list)

    def _noted(self, call: tuple[Any, ...], exact: dict[Any, int], first: Any) -> Any:
        self.calls.append(call)
        self.inputs.append(exact)
        if len(self.outputs) < len(self.calls):
            self.outputs.append(first)
        return self.outputs[len(self.calls) - 1]

    def release(self, exact: Integers, noise: Noise, *_: object, **__: object) -> Noisy[Integers]:
        first = np.full_like(exact, 7 * len(self.calls))
        value = self._noted(("noise", noise, exact.shape), dict(enumerate(exact.ravel().tolist())), first)
        return Noisy(value=value, noise=noise, certifiable=False)

    def choose(self, utility: Utility, epsilon: Fraction, *_: object, **how: object) -> int:
        scores = dict(enumerate(map(int, utility.scores)))
        call = ("choice", epsilon, utility.sensitivity, utility.monotone, len(scores), *how.items())
        return int(self._noted(call, scores, 5 * len(self.calls) % len(scores)))

    def choose_quantile(self, data: Ordered, aim: Any, *, bits: object, **how: Any) -> RankAnswer:
        low, high = data.cells.low, data.cells.high
        found = self._noted(("quantile", aim, low, high, *how.items()), _records(data), (low + high) // 2)
        return RankAnswer(int(found), aim.text)

    def choose_quantiles(self, data: Ordered, shares: Sequence[Fraction], *, bits: object, **how: Any) -> Any:
        low, high = data.cells.low, data.cells.high
        first = [low + (high - low) * at // len(shares) for at in range(len(shares))]
        found = self._noted(("quantiles", *shares, low, high, *how.items()), _records(data), first)
        return tuple(RankAnswer(value, "") for value in found)

    def texts(self, engine: DuckDBEngine, select: exp.Query) -> Any:
        """The keys there are and how many have each: a list of candidates as long as the data make it, so that what
        enters the selection is a number for every text there could be."""
        self.seen.append(engine._render(select))
        read = _TEXTS(engine, select)
        self._keys = [key for key, _ in read.reveal(to="mechanism") if key is not None]
        self._noted(("keys",), {}, None)
        return read

    def keep(self, selection: PartitionSelection, count: int, *_: object, **how: object) -> bool:
        key = self._keys.pop(0)
        self.calls[-1] = ("keys", selection)
        self.inputs[-1][key] = count
        return key in FOUND

    def integers(self, engine: DuckDBEngine, select: exp.Query) -> Any:
        self.seen.append(engine._render(select))
        return _INTEGERS(engine, select)

    def stand(self, patch: pytest.MonkeyPatch) -> None:
        for module in MODULES:
            if vars(module).get("release") is release:
                patch.setattr(module, "release", self.release)
        patch.setattr(favourites, "choose", self.choose)
        patch.setattr(ranks, "choose_quantile", self.choose_quantile)
        patch.setattr(ranks, "choose_quantiles", self.choose_quantiles)
        patch.setattr(PartitionSelection, "keep", lambda *given, **how: self.keep(*given, **how))
        patch.setattr(DuckDBEngine, "texts", lambda *given: self.texts(*given))
        patch.setattr(DuckDBEngine, "integers", lambda *given: self.integers(*given))


MODULES = [import_module(f"discreet.measure.{one.name}") for one in pkgutil.iter_modules(discreet.measure.__path__)]
_TEXTS, _INTEGERS = DuckDBEngine.texts, DuckDBEngine.integers


def _records(data: Ordered) -> dict[Any, int]:
    return dict(zip(data.places.tolist(), data.counts.tolist(), strict=True))


@dataclass(frozen=True)
class Bound:
    """By how much the inputs of all calls of one name may differ together, in sum and in sum of squares."""

    name: tuple[object, ...]
    l1: int
    l2_squared: int


def bounds_of(part: Part, name: tuple[object, ...]) -> Iterator[Bound]:
    """The bound of every call that a part makes, in order: calls of one name share it."""
    match part:
        case Implied():
            for at, one in enumerate(part.parts):
                yield from bounds_of(one, (*name, at))
        case Found():
            both = 2 if part.contract.adjacency is Adjacency.REPLACE_ONE else 1
            for text in part.texts:
                yield Bound((*name, text), both * part.limit, both * part.limit)
            for at, one in enumerate(part.over([sorted(FOUND)] * len(part.texts))[1]):
                yield from bounds_of(one, (*name, at))
        case Clipped():
            for at, (_, ends) in enumerate(part.ends):
                yield from bounds_of(ends, (*name, at))
            # The recorded ends: the middle rung of each.
            middles = [ChosenRanks(ranks=one, places=(((one.places - 1) // 2,),)) for _, one in part.ends]
            yield from bounds_of(part.at(part.clips(middles)), (*name, "sums"))
        case Places():
            yield from bounds_of(part.measurement, name)
        case Favourites():
            moved = part.proof.parts[0].moved
            for _ in range(part.proof.cells // len(part.labels)):
                for turn in range(part.count):
                    yield Bound((*name, turn), moved.l1, moved.l2_squared)
        case Ranks():
            records = int(part.as_json()["proof"]["records"])
            for _ in range(part.proof.cells):
                yield Bound(name, records, records**2)
        case Measurement():
            for at, proof in enumerate(part.proof.parts):
                yield Bound((*name, at), proof.moved.l1, proof.moved.l2_squared)


@dataclass
class Replayed:
    """What one neighbour made of one road."""

    recorder: Recorder
    shown: object
    charged: Sequence[Part]
    loss: Fraction


def replayed(held: Curator, road: Road, outputs: list[Any]) -> Replayed:
    recorder, asked = Recorder(outputs), road.asked(held)
    before = len(list(held.ledger.entries()))
    with pytest.MonkeyPatch.context() as patch:
        recorder.stand(patch)
        answers = asked.run(bits=SeededBits(1), teaching=True)
        columns = [answer.columns for answer in answers]
    written = [(one.kind, _public(one.content)) for one in list(held.ledger.entries())[before:]]
    shown = [str(columns), recorder.seen, str(written)]
    return Replayed(recorder, shown, asked.charged, price(asked.event, "pure").loss)


def _public(content: Any) -> Any:
    """Without the names that a folder's own secret makes."""
    return {name: value for name, value in content.items() if name not in ("plan", "charge", "grant")}


def curator(folder: Path, visits: Sequence[tuple[Any, ...]], unit: str, adjacency: Adjacency) -> Curator:
    """Tables of one neighbour; bills hold the same persons as visits do, so that a person differs in both."""
    held = Curator(folder / "office", heads=folder / "heads")
    public = f"adjacency: {adjacency}" + (f"\nunits: {7 if unit == ROW else 3}" if adjacency == "replace-one" else "")
    schema = dict(
        zip(_NAMES, (pl.String, pl.Float64, pl.Int64, pl.Int64, pl.String, pl.String, pl.Boolean), strict=True)
    )
    frame = pl.DataFrame(list(visits), schema=schema, orient="row")
    held.add(
        pl.DataFrame({"r": ["a", "b", "b", "d"], "y": [1.0, -1.0, None, 0.0], "h": ["c", "d", "c", "c"]}),
        name="regions",
        contract=Contract.from_yaml(_PUBLIC),
    )
    for table in ("visits", "bills"):
        agreed = Contract.from_yaml(_PRIVATE.format(table=table, unit=unit, public=public))
        held.add(frame, name=table, contract=agreed, reason="the same persons")
    return held


def neighbours(unit: str, adjacency: Adjacency) -> list[list[tuple[Any, ...]]]:
    """Tables that differ from ROWS in one unit."""
    if unit == ROW and adjacency is Adjacency.REPLACE_ONE:
        return [[*ROWS[:at], EXTREME, *ROWS[at + 1 :]] for at in (0, 5)]
    if unit == ROW:
        return [[*ROWS, EXTREME], [*ROWS[:1], *ROWS[2:]]]
    if adjacency is Adjacency.REPLACE_ONE:
        return [[*(row for row in ROWS if row[0] != name), *[EXTREME] * 3] for name in ("ann", "eve")]
    # In more texts than count.
    several = [(*EXTREME[:5], text, EXTREME[6]) for text in ("one", "two", "three", "four", "five")]
    return [[*ROWS, *several], [row for row in ROWS if row[0] != "ann"]]


def violations(base: Replayed, other: Replayed) -> list[str]:
    """What two neighbours' records have in them that they must not have."""
    bounds = [bound for at, part in enumerate(base.charged) for bound in bounds_of(part, (at,))]
    if other.recorder.calls != base.recorder.calls:
        return ["they make different calls"]
    if len(bounds) != len(base.recorder.calls):
        return ["they make other calls than were declared"]
    found = [] if other.shown == base.shown else ["they show different things"]
    apart: dict[Bound, list[int]] = {}
    loss = Fraction(0)
    for bound, call, mine, theirs in zip(
        bounds, base.recorder.calls, base.recorder.inputs, other.recorder.inputs, strict=True
    ):
        moves = [abs(mine.get(key, 0) - theirs.get(key, 0)) for key in mine.keys() | theirs.keys()]
        apart.setdefault(bound, []).extend(moves)
        loss += _loss(call, moves)
    if any(sum(moves) > bound.l1 for bound, moves in apart.items()):
        found.append("inputs differ by more than is declared, in sum")
    if any(sum(one * one for one in moves) > bound.l2_squared for bound, moves in apart.items()):
        found.append("inputs differ by more than is declared, in sum of squares")
    if not any(isinstance(part, Implied) for part in base.charged) and loss > base.loss:
        found.append("the calls cost more than was charged")
    return found


def _loss(call: tuple[Any, ...], moves: Sequence[int]) -> Fraction:
    """What one call costs in ε where its input moves so: from the mechanism's law, without any proof of ours."""
    match call:
        case ("noise", LaplaceNoise() as noise, _):
            return sum(moves) / noise.scale
        case ("noise", _, _):
            return Fraction(0)  # Gaussian noise costs no ε of its own
        case ("choice", epsilon, sensitivity, *_):
            return Fraction(epsilon * max(moves) / sensitivity)
        case ("keys", *selection):
            return sum((one.decay.rate * sum(moves) for one in selection), Fraction(0))
    how: dict[str, Any] = dict(one for one in call if isinstance(one, tuple))
    return Fraction(how["epsilon"] * sum(moves))


@dataclass(frozen=True)
class World:
    """A table and its neighbours, for one unit and one meaning of neighbours."""

    unit: str
    held: Curator
    others: Sequence[Curator]

    @classmethod
    def build(cls, folder: Path, unit: str, adjacency: Adjacency) -> World:
        tables = [list(ROWS), *neighbours(unit, adjacency)]
        first, *others = (curator(folder / str(at), rows, unit, adjacency) for at, rows in enumerate(tables))
        return cls(unit, first, others)

    def violations(self, road: Road) -> list[str]:
        outputs: list[Any] = []
        base = replayed(self.held, road, outputs)
        assert base.recorder.calls
        return [one for other in self.others for one in violations(base, replayed(other, road, outputs))]


@pytest.fixture(scope="module", params=[(unit, one) for unit in (ROW, PERSON) for one in Adjacency], ids=str)
def world(request: Any, tmp_path_factory: pytest.TempPathFactory) -> World:
    return World.build(tmp_path_factory.mktemp("world"), *request.param)


@pytest.mark.parametrize("name", EVERY)
def test_neighbours_make_the_same_calls_on_every_road(world: World, name: str) -> None:
    road = EVERY[name]
    if not road.persons or world.unit == PERSON:
        assert world.violations(road) == []


def _parts(part: Part) -> Iterator[Part]:
    yield part
    inner = [ends for _, ends in part.ends] if isinstance(part, Clipped) else getattr(part, "parts", ())
    for one in inner:
        yield from _parts(one)


def test_no_road_is_left_out(tmp_path: Path) -> None:
    """Every kind of part that the product can measure, and every statistic that can be asked for, is on some road."""
    held = curator(tmp_path, ROWS, PERSON, Adjacency.ADD_REMOVE)
    asked = [road.asked(held) for road in EVERY.values()]
    kinds = {
        kind
        for module in MODULES
        for kind in vars(module).values()
        if isinstance(kind, type) and hasattr(kind, "require_readable") and kind is not Part
    }
    assert {type(part) for batch in asked for one in batch.charged for part in _parts(one)} == kinds
    questions = [question for batch in asked for question in batch.questions]
    assert {type(one) for question in questions for one in question.statistics} == set(get_args(Statistic))
    assert any(question.sets for question in questions)
    assert {join.table for question in questions for join in question.joins} == {"regions", "bills"}


def _noise_that_looks(patch: pytest.MonkeyPatch) -> None:
    """A scale taken from the data."""

    def prepared(self: Measurement, engine: Any, table: Any, bits: Any, *, teaching: bool = False) -> NoisyVector:
        exact = vectors(engine.integers(self._select(table)), self.proof)
        largest = max(1, *(int(np.abs(vector).max()) for vector in exact))
        noise = LaplaceNoise.for_guarantee(sensitivity=largest, epsilon=1)
        asked = vars(import_module("discreet.measure.noisy"))["release"]
        return NoisyVector(measurement=self, integers=tuple(asked(vector, noise, bits).value for vector in exact))

    patch.setattr(Measurement, "release", prepared)


def _weights_forgotten(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("discreet.measure.compile.change_of_row", lambda bits: exp.Literal.number(0))


def _empty_cells_skipped(patch: pytest.MonkeyPatch) -> None:
    honest = Ranks._chosen

    def chosen(self: Ranks, data: Ordered, bits: Any, teaching: bool = False) -> tuple[int, ...]:
        return honest(self, data, bits, teaching) if len(data.places) else (0,) * len(self.quantiles)

    patch.setattr(Ranks, "_chosen", chosen)


def _scores_doubled(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(favourites, "vectors", lambda *given: [2 * one for one in vectors(*given)])


def _too_many_texts_count(patch: pytest.MonkeyPatch) -> None:
    def everybodys(plan: Any, agreed: Any, table: Any, proof: Any, text: Any, _: int) -> exp.Select:
        return holders(plan, agreed, table, proof, text, 99)

    patch.setattr("discreet.measure.found.holders", everybodys)


def _noise_of_a_narrower_clip(patch: pytest.MonkeyPatch) -> None:
    honest = Clipped.at

    def at(self: Clipped, clips: Any) -> Measurement:
        found = honest(self, clips)
        return replace(found, noises=tuple(LaplaceNoise.of_scale(9) for _ in found.noises))

    patch.setattr(Clipped, "at", at)


MUTANTS = {
    "clipped sums": _noise_of_a_narrower_clip,
    "sums": _noise_that_looks,
    "moments": _weights_forgotten,
    "chosen quantiles": _empty_cells_skipped,
    "favourites": _scores_doubled,
    "found keys": _too_many_texts_count,
}


def test_planted_bugs_turn_a_replay_red(tmp_path: Path) -> None:
    """A scale that looks at the data, limits that are forgotten, cells that are skipped, scores that count twice, and
    persons who count in every text they have."""
    world = World.build(tmp_path, PERSON, Adjacency.ADD_REMOVE)
    for name, plant in MUTANTS.items():
        with pytest.MonkeyPatch.context() as patch:
            plant(patch)
            assert world.violations(EVERY[name]), name
