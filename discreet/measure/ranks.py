"""Quantiles and extremes of a value in every cell, each chosen privately from a public grid.

1. The grid is that of the value's steps between its ends; where these are more than 2^20, steps side by side are one
   place. A chosen place stands for its middle step.
2. The engine counts the weight of the rows on each place of each cell (`compile.spread`): 2^s for a row of a person
   within the limit, less for others, 1 where each row is a unit.
3. In each cell the quantiles are chosen together, the middle one first (`mechanisms.quantile`); an extreme is a rank
   a public number of rows off the end.
4. How far off a choice may be is known in ranks before anything is spent: `ranks_off`.

Given:   a contract that holds; ε of which each level of the recursion takes an equal part.
Promise: all choices in all cells together are ε-DP, and ε²/(8·levels)-zCDP, for the contract's unit and adjacency.
Because: a unit moves weights that add up to at most R·2^s over all cells; each unit of weight is a record of the
         mechanism, which runs at ε/(R·2^s) a record, half of that where a unit is replaced by another. Cells are
         disjoint, so that the costs of a unit's records add up to ε; a level is made of exponential mechanisms, whose
         range is bounded, and ε_c²/8 over cells whose ε_c add up to ε is at most ε²/8.
Tested:  test_ranks_of_neighbours_are_within_epsilon, test_ranks_agree_with_sorting, test_ranks_are_off_as_said.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from sqlglot import exp

from discreet.accounting.events import Choice, Event, Repeated, to_json
from discreet.check import at_least, positive, probability
from discreet.data.contract import Contract
from discreet.data.engines.base import Engine, IntegerRows
from discreet.data.engines.statement import rendered
from discreet.data.table import StoredTable
from discreet.errors import ArgumentError
from discreet.guarantee import Adjacency
from discreet.measure.bounds import Proof, prove
from discreet.measure.compile import spread
from discreet.measure.expression import Predicate, Value
from discreet.measure.groups import Group
from discreet.measure.joins import table_names
from discreet.measure.plan import Count, Plan, Total
from discreet.measure.render import Renderer, whole
from discreet.measure.span import Span, span_of
from discreet.mechanisms.aim import Highest, Lowest, finest_share, ranks_off_the_end
from discreet.mechanisms.ordered import Cells, Ordered
from discreet.mechanisms.quantile import choose_quantile, choose_quantiles
from discreet.randomness import Bits, require_fresh
from discreet.secrecy import Confidential

__all__ = ["ChosenRanks", "End", "Ranks", "levels_of", "prepare_ranks"]

End: TypeAlias = Literal["min", "max"]
_PLACES_AT_MOST = 1 << 20
_LARGEST = 1 << 61
_MISSED = Fraction(1, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """Quantiles of a value, or one of its ends, in every cell."""

    plan: Plan
    contract: Contract
    proof: Proof
    value: Value
    quantiles: tuple[Fraction, ...]
    end: End | None
    epsilon: Fraction
    span: Span
    step: int

    @property
    def event(self) -> Event:
        """One exponential mechanism a level."""
        levels = levels_of(len(self.quantiles), self.end)
        one = Choice(epsilon=self.epsilon / levels, bounded_range=True)
        return one if levels == 1 else Repeated(event=one, times=levels)

    @property
    def places(self) -> int:
        """How many places the grid has."""
        return self.span.width // self.step + 1

    def value_of(self, place: int) -> Fraction:
        """The value that a place stands for."""
        return self.span.step * min(self.span.high, self.span.low + place * self.step + (self.step - 1) // 2)

    def ranks_off(self, missed: str | Fraction = _MISSED) -> float:
        """By how many rows the rank of a choice is off its aim at most, but for that probability."""
        share = float(probability("missed", missed))
        levels = levels_of(len(self.quantiles), self.end)
        each = float(self._per_record) / levels
        reach = 2 * math.log(self.places * levels / share) / each / (1 << self.proof.bits)
        # A record moves the distance of one quantile by max(q, 1 − q) ranks; in the recursion q is another one.
        slack = float(max(self.quantiles[0], 1 - self.quantiles[0])) if len(self.quantiles) == 1 else 1.0
        return reach * levels * slack + (0 if self.end is None else self._off / (1 << self.proof.bits))

    def as_json(self) -> dict[str, Any]:
        """What is charged and why, as public plain values."""
        return {
            "plan": self.plan.as_json(),
            "chosen": {
                "quantiles": [str(q) for q in self.quantiles],
                "end": self.end,
                "places": self.places,
                "low": str(self.value_of(0)),
                "step": str(self.span.step * self.step),
            },
            "proof": {
                "adjacency": self.proof.adjacency.value,
                "unit": self.proof.unit,
                "cells": self.proof.cells,
                "weight_bits": self.proof.bits,
                "records": str(self._records),
                "steps": [
                    self.proof.steps[0],
                    f"a unit moves at most {self._records} records of the mechanism, over all cells together",
                ],
            },
            "event": to_json(self.event),
        }

    def require_readable(self, engine: Engine, table: StoredTable) -> None:
        """Compile and check the SELECT."""
        rendered(self._select(table), dialect=engine.dialect, tables=table_names(table))

    def release(self, engine: Engine, table: StoredTable, bits: Bits, *, teaching: bool = False) -> ChosenRanks:
        """Read the weights on all places, and choose in every cell."""
        require_fresh(bits, teaching=teaching)
        data = Confidential(self._by_cell(engine.integers(self._select(table)))).reveal(to="mechanism")
        empty = Ordered.from_counts(np.zeros(0, np.int64), np.zeros(0, np.int64), Cells(0, self.places - 1))
        return ChosenRanks(
            ranks=self,
            places=tuple(self._chosen(data.get(cell, empty), bits, teaching) for cell in range(self.proof.cells)),
        )

    def restored(self, stored: Mapping[str, Any]) -> ChosenRanks:
        """What `ChosenRanks.as_json` wrote."""
        return ChosenRanks(ranks=self, places=tuple(tuple(cell) for cell in stored["places"]))

    def over(self, contract: Contract, proof: Proof) -> Ranks:
        """The same choices over other cells, at the same price."""
        return dataclasses.replace(
            self, contract=contract, proof=dataclasses.replace(self.proof, axes=proof.axes, cells=proof.cells)
        )

    @property
    def _records(self) -> int:
        """How many records of the mechanism a unit moves at most: a replaced one takes some away and brings others."""
        both = 2 if self.proof.adjacency is Adjacency.REPLACE_ONE else 1
        return both * (self.proof.limit << self.proof.bits)

    @property
    def _per_record(self) -> Fraction:
        return self.epsilon / self._records

    @property
    def _off(self) -> int:
        return ranks_off_the_end(self._per_record, self.places)

    def _chosen(self, data: Ordered, bits: Bits, teaching: bool = False) -> tuple[int, ...]:
        epsilon, among = self._per_record, Adjacency.ADD_REMOVE
        if self.end is not None:
            aim = Lowest(self._off) if self.end == "min" else Highest(self._off)
            return (choose_quantile(data, aim, epsilon=epsilon, adjacency=among, bits=bits, teaching=teaching).value,)
        found = choose_quantiles(data, self.quantiles, epsilon=epsilon, adjacency=among, bits=bits, teaching=teaching)
        return tuple(answer.value for answer in found)

    def _select(self, table: StoredTable) -> exp.Select:
        number = Renderer(table=table, contract=self.contract).value(self.value)
        place: exp.Expr = exp.Paren(this=exp.Sub(this=number, expression=whole(self.span.low)))
        if self.step > 1:
            place = exp.IntDiv(this=place, expression=whole(self.step))
        return spread(self.plan, self.contract, table, self.proof, place)

    def _by_cell(self, rows: IntegerRows) -> dict[int, Ordered]:
        """The weights on the places of each cell that has any."""
        if not rows:
            return {}
        cells, places, weights = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
        order = np.argsort(cells, kind="stable")
        starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
        grid = Cells(0, self.places - 1)
        return {
            int(cells[some[0]]): Ordered.from_counts(places[some], weights[some], grid)
            for some in np.split(order, starts[1:])
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenRanks:
    """What was chosen: places of the grid, (cells, quantiles)."""

    ranks: Ranks
    places: tuple[tuple[int, ...], ...]

    def values(self, at: int) -> tuple[Fraction, ...]:
        """One of the quantiles in every cell."""
        return tuple(self.ranks.value_of(cell[at]) for cell in self.places)

    def as_json(self) -> dict[str, Any]:
        """The places as plain values."""
        return {"places": [list(cell) for cell in self.places]}


def levels_of(quantiles: int, end: End | None) -> int:
    """How deep the recursion goes."""
    return 1 if end else at_least("quantiles", quantiles, 1).bit_length()


def prepare_ranks(
    value: Value,
    contract: Contract,
    *,
    epsilon: str | Fraction,
    quantiles: Sequence[Fraction] = (),
    end: End | None = None,
    by: tuple[Group, ...] = (),
    where: Predicate | None = None,
) -> Ranks:
    """Quantiles in ascending order, or an end, proven and priced for an ε."""
    if bool(quantiles) == bool(end):
        raise ArgumentError("ranks", found="both or neither", right="quantiles, or one end", step="ask for one of them")
    span = span_of(value, contract)
    counted = contract.adjacency is Adjacency.ADD_REMOVE or by or where is not None or not contract.unit.is_row
    # How many rows there are may be public; the values are not.
    plan = Plan(aggregates=(Count(value) if counted or span.optional else Total(value),), by=by, where=where)
    proof = prove(plan, contract)
    return Ranks(
        plan=plan,
        contract=contract,
        proof=dataclasses.replace(proof, bits=_bits(proof, quantiles)),
        value=value,
        quantiles=tuple(quantiles),
        end=end,
        epsilon=positive("epsilon", epsilon),
        span=span,
        step=-(-(span.width + 1) // _PLACES_AT_MOST),
    )


def _bits(proof: Proof, quantiles: Sequence[Fraction]) -> int:
    """The finest weights with which no distance in ranks can pass 2^61."""
    finest = finest_share(quantiles)
    room = (_LARGEST // (proof.rows_at_most * finest)).bit_length() - 1
    if room < min(8, proof.bits):
        raise ArgumentError(
            "quantile",
            found="one of so fine a share that 64 bits may not hold its ranks",
            right="shares have a small denominator, or the contract bounds the number of rows",
            step="ask for 0.99 instead of 0.9999, or declare max_rows",
        )
    return min(proof.bits, room)
