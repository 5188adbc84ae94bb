"""Many small tables as one stored table: every table is a base with one content more, told apart by a number.

Neighbours are then two tables of one base: under add-remove one of them has the empty content, under replace-one
neither has. The number of the table is one more public key of the plan, so that one SELECT reads all tables.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.data.contract import Contract
from discreet.data.engines.duckdb import DuckDBEngine
from discreet.data.load import load
from discreet.data.store import without
from discreet.data.table import StoredTable
from discreet.guarantee import Adjacency
from discreet.measure.bounds import Moved, Proof, prove
from discreet.measure.compile import compiled, vectors
from discreet.measure.expression import Column
from discreet.measure.groups import Each
from discreet.measure.plan import Plan

__all__ = ["EXTREMES", "Rows", "World", "contract_of", "declared_moves", "largest_moves"]

Row = tuple[str | None, float | None, str | None]  # person, x, g
Rows = tuple[Row, ...]
NAN, INF = float("nan"), float("inf")
# below, low, mid, high, above, and all that is missing
EXTREMES = (-9.0, -1.0, 0.5, 3.0, 99.0, None, NAN, INF, -INF)
_CONTRACT = """
table: t
unit: {unit}
{public}
max_rows: 100000
columns:
  p: {{type: text, role: direct identifier}}
  x: {{type: decimal, step: 0.5, low: -1, high: 3}}
  g: {{type: category, keys: [a, b], nulls: {nulls}}}
  n: {{type: integer, low: 0, high: {last}}}
"""
_BITS = 20


def contract_of(adjacency: Adjacency, *, unit: str = "row", last: int = 1, nulls: str = "drop") -> Contract:
    """The contract of a world whose last table has that number."""
    public = f"adjacency: {adjacency}" + ("\nunits: 4" if adjacency is Adjacency.REPLACE_ONE else "")
    return Contract.from_yaml(_CONTRACT.format(unit=unit, public=public, last=last, nulls=nulls))


@dataclass(frozen=True)
class World:
    """All tables of so many bases and contents; the first content is the empty one."""

    bases: Sequence[Rows]
    contents: Sequence[Rows]
    path: Path
    engine: DuckDBEngine
    table: StoredTable

    @classmethod
    def build(cls, folder: Path, bases: Sequence[Rows], contents: Sequence[Rows]) -> World:
        """Store them. Persons of different tables are different persons."""
        rows: list[tuple[Any, ...]] = []
        for number, (base, content) in enumerate(itertools.product(bases, contents)):
            rows += [(None if p is None else f"{number} {p}", x, g, number) for p, x, g in (*base, *content)]
        frame = pl.DataFrame(
            rows, schema={"p": pl.String, "x": pl.Float64, "g": pl.String, "n": pl.Int64}, orient="row"
        )
        path = folder / "world.duckdb"
        table = load(frame, path, steps=contract_of(Adjacency.ADD_REMOVE).steps())
        engine = DuckDBEngine.open(path, memory="1GB")
        return cls(bases=bases, contents=contents, path=path, engine=engine, table=table)

    @property
    def size(self) -> int:
        """How many tables there are."""
        return len(self.bases) * len(self.contents)

    def without(self, number: int, into: Path) -> DuckDBEngine:
        """The same file without the rows of one table."""
        without(self.path, into, "n", str(number))
        return DuckDBEngine.open(into, memory="1GB")

    def exact(self, plan: Plan, unit: str, nulls: str = "drop") -> list[np.ndarray]:
        """For each aggregate the numbers (base, content, number), in steps of 2^−20 of a row."""
        wide = replace(plan, by=(Each(Column("n")), *plan.by))
        contract = contract_of(Adjacency.ADD_REMOVE, unit=unit, last=self.size - 1, nulls=nulls)
        proof = prove(wide, contract)
        read = vectors(self.engine.integers(compiled(wide, contract, self.table, proof)), proof)
        shape = len(self.bases), len(self.contents), -1
        return [array.reshape(shape) << (_BITS - proof.bits) for array in read]


def declared_moves(proof: Proof) -> list[Moved]:
    """What the proof says of each aggregate, in steps of 2^−20 of a row."""
    by = _BITS - proof.bits
    return [Moved(l1=part.moved.l1 << by, l2_squared=part.moved.l2_squared << (2 * by)) for part in proof.parts]


def largest_moves(read: Sequence[np.ndarray], adjacency: Adjacency) -> list[Moved]:
    """The farthest that two neighbours of a world lie apart, for each aggregate."""
    found = []
    for numbers in read:
        l1 = l2_squared = 0
        for tables in numbers:
            ones = tables[:1] if adjacency is Adjacency.ADD_REMOVE else tables[1:]
            apart = np.abs(ones[:, None, :] - tables[None, 1:, :])
            l1 = max(l1, int(apart.sum(axis=2).max()))
            assert int(apart.max()) ** 2 * apart.shape[2] < 1 << 63
            l2_squared = max(l2_squared, int((apart**2).sum(axis=2).max()))
        found.append(Moved(l1=l1, l2_squared=l2_squared))
    return found
