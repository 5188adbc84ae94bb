"""A small table under a contract beside a ledger of its own, and an engine that remembers what it was asked."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
from sqlglot import exp

from discreet.accounting.amount import Amount
from discreet.accounting.ledger import Ledger
from discreet.data.contract import Contract
from discreet.data.engines.base import IntegerRows
from discreet.data.engines.duckdb import DuckDBEngine
from discreet.data.load import load
from discreet.data.table import StoredTable
from discreet.guarantee import Adjacency
from discreet.measure.door import Measured, measure
from discreet.measure.part import Part
from discreet.randomness import Bits, SeededBits
from tests.accounting.places import PEOPLE, Place

__all__ = ["MANY", "ONE_ROW", "PERSON", "Row", "Scene", "WatchedEngine", "contract", "scene"]

ONE_ROW, PERSON = "row", "{person: p, rows: 2, groups: 2}"
_CONTRACT = """
table: visits
population: people
unit: {unit}
{public}
{rows}
columns:
  p: {{type: text, role: direct identifier}}
  x: {{type: decimal, step: 0.5, low: -1, high: 3}}
  k: {{type: integer, low: -1000000, high: 1000000}}
  w: {{type: integer}}
  g: {{type: category, keys: [a, b, c]}}
  t: {{type: text}}
  b: {{type: boolean}}
  d: {{type: date, low: 2020-01-01, high: 2020-12-31}}
  e: {{type: date}}
  m: {{type: datetime}}
  h: {{type: integer, low: 0, high: 1, role: hidden}}
"""
_SCHEMA = {
    "p": pl.String,
    "x": pl.Float64,
    "k": pl.Int64,
    "w": pl.Int64,
    "g": pl.String,
    "t": pl.String,
    "b": pl.Boolean,
    "d": pl.Date,
    "e": pl.Date,
    "m": pl.Datetime,
    "h": pl.Int64,
}
Row = dict[str, Any]
_NOON = datetime.datetime(2020, 2, 29, 12)


def _row(person: str, x: float | None, group: str | None, **others: Any) -> Row:
    day = datetime.date(2020, 2, 29)
    filled = {"k": 7, "w": 7, "t": "one", "b": True, "d": day, "e": day, "m": _NOON, "h": 1}
    return {"p": person, "x": x, "g": group, **filled, **others}


MANY: tuple[Row, ...] = (
    _row("ann", 0.5, "a"),
    _row("ann", 3.0, "b", k=-9),
    _row("ann", 99.0, "b", t=None),
    _row("ben", -9.0, "c", b=False),
    _row("ben", None, "a", k=None),
    _row("eve", float("nan"), None, d=None),
    _row("eve", 1.0, "foreign", m=None),
)


def contract(
    *, unit: str = ONE_ROW, adjacency: Adjacency = Adjacency.ADD_REMOVE, max_rows: int | None = 1000
) -> Contract:
    """The scene's contract for a unit."""
    public = f"adjacency: {adjacency}" + ("\nunits: 7" if adjacency is Adjacency.REPLACE_ONE else "")
    rows = "" if max_rows is None else f"max_rows: {max_rows}"
    return Contract.from_yaml(_CONTRACT.format(unit=unit, public=public, rows=rows))


@dataclass(slots=True)
class WatchedEngine:
    """An engine that notes every SELECT it runs, and may fail instead."""

    inner: DuckDBEngine
    fails: Callable[[], Exception] | None = None
    asked: list[str] = field(default_factory=list)
    # Called before every SELECT.
    looks: Callable[[], None] = lambda: None

    @property
    def dialect(self) -> str:
        return self.inner.dialect

    def integers(self, select: exp.Query) -> IntegerRows:
        self.looks()
        self.asked.append(select.sql())
        if self.fails is not None:
            raise self.fails()
        return self.inner.integers(select)

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"the engine was asked for {name}")


@dataclass(slots=True, kw_only=True)
class Scene:
    """One table, one contract, one ledger."""

    engine: WatchedEngine
    table: StoredTable
    contract: Contract
    ledger: Ledger

    def measure(self, *parts: Part, seed: int = 1, bits: Bits | None = None, **further: Any) -> Measured:
        """Through the door, with bits of a seed unless others are given."""
        drawn, teaching = (SeededBits(seed), True) if bits is None else (bits, False)
        return measure(
            self.engine,
            self.table,
            parts,
            self.contract,
            ledger=self.ledger,
            bits=drawn,
            teaching=teaching,
            **further,
        )

    @property
    def spent(self) -> Amount:
        """What the population has spent."""
        return self.ledger.account(PEOPLE).spent


@contextmanager
def scene(
    folder: Path,
    rows: Sequence[Row] = MANY,
    *,
    under: Contract | None = None,
    limit: int = 1000,
    currency: Any = "pure",
) -> Iterator[Scene]:
    """A stored table of those rows, its contract, and a ledger with that much for its population."""
    agreed, place = under or contract(), Place.file(folder)
    folder.mkdir(exist_ok=True)
    frame = pl.DataFrame([[row[name] for name in _SCHEMA] for row in rows], schema=_SCHEMA, orient="row")
    table = load(frame, folder / "rows.duckdb", steps=agreed.steps())
    with DuckDBEngine.open(folder / "rows.duckdb", memory="1GB") as engine:
        ledger = place.with_people(limit, currency)
        yield Scene(engine=WatchedEngine(engine), table=table, contract=agreed, ledger=ledger)
        place.close()
