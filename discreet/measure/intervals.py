"""Noisy counts of side-by-side intervals of one column, in every cell, at one level or at several nested ones.

1. A `Cut` says where the column's grid is cut: at every step, or only where something that is asked changes. What is
   missing can have an interval of its own, the last.
2. The engine counts the rows in the finest intervals; coarser levels are whole numbers added up from these.
3. Each level gets noise of its own. Whatever is a weighted sum of the intervals is read off them (`nested`), and where
   every step has an interval, so are quantiles (`places`).

Given:   a contract that holds.
Promise: the released counts are ε-DP (Laplace) or ρ-zCDP (Gaussian) as their event says.
Because: each level adds up, without overlap, a vector of counts whose movement `bounds` proves. Its entries are never
         below 0, so that sums of them move no more than that in sum, nor in squares; levels of equal budget compose.
Tested:  test_intervals_of_neighbours, test_intervals_agree_with_counting, test_a_level_for_free_turns_red.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlglot import exp

from discreet.accounting.events import Repeated
from discreet.check import Number, positive
from discreet.data.contract import Contract
from discreet.data.engines.base import Engine
from discreet.data.table import StoredTable
from discreet.guarantee import ZCDP, PureDP
from discreet.measure.bounds import PartProof
from discreet.measure.compile import vectors
from discreet.measure.expression import Case, Column, Constant, Missing, Not, Predicate
from discreet.measure.groups import Bins, Each, Group
from discreet.measure.nested import Starts, fanned
from discreet.measure.noisy import Measurement, NoisyVector, prepare
from discreet.measure.places import CountedPlaces, Places
from discreet.measure.plan import Count, Plan
from discreet.measure.span import span_of
from discreet.mechanisms.noise import LIMIT, release
from discreet.mechanisms.tables import Integers
from discreet.randomness import Bits
from discreet.secrecy import Confidential

__all__ = ["CountedIntervals", "Cut", "Level", "prepare_intervals"]


@dataclass(frozen=True, slots=True)
class Cut:
    """The steps with which intervals of a column's grid begin, ascending from its least one.

    With `missing`, rows without the value have an interval of their own, after the others.
    """

    column: Column
    starts: tuple[int, ...]
    missing: bool = False

    def group(self, contract: Contract) -> Group:
        """The intervals as public cells."""
        span = span_of(self.column, contract)
        if not self.missing and len(self.starts) == span.width + 1:
            return Each(self.column)
        beyond = span.step * (span.high + 1)
        edges = (*(span.step * start for start in self.starts), beyond)
        if not self.missing:
            return Bins(self.column, edges)
        # One step beyond all values stands for none.
        there = Case(((Not(Missing(self.column)), self.column),), Constant(beyond))
        return Bins(there, (*edges, beyond + span.step))


@dataclass(frozen=True, slots=True)
class Level(Count):
    """Rows in each set of so many intervals of a group, side by side."""

    group: Group | None = None
    each: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedIntervals(Measurement):
    """A measurement whose numbers in each cell are the counts of every level, the coarsest level first."""

    cut: Cut
    finest: Measurement
    levels: tuple[Starts, ...]

    @property
    def places(self) -> Places:
        """The intervals as places of the value, where each step is one."""
        return Places(measurement=self.finest, value=self.cut.column, span=span_of(self.cut.column, self.contract))

    def counted(self, released: NoisyVector) -> CountedPlaces:
        """The finest counts, from which quantiles are read."""
        finest = NoisyVector(measurement=self.finest, integers=(released.integers[-1].reshape(-1, 1),))
        return CountedPlaces(places=self.places, counts=finest)

    def added(self, finest: Integers) -> tuple[Integers, ...]:
        """The exact counts of every level, (cells, sets), from those of the finest intervals in all cells."""
        each = finest.reshape(self.proof.cells, -1).astype(object)
        sums = (np.add.reduceat(each, list(level), axis=1) for level in self.levels)
        return tuple(np.minimum(np.maximum(one, -LIMIT), LIMIT).astype(np.int64) for one in sums)

    def as_json(self) -> dict[str, Any]:
        """What is charged and why, as public plain values."""
        return {**super(CountedIntervals, self).as_json(), "intervals": self.finest.plan.as_json()}

    def release(self, engine: Engine, table: StoredTable, bits: Bits, *, teaching: bool = False) -> NoisyVector:
        """Count the finest intervals, add up all levels, and add fresh noise to each count."""
        (finest,) = vectors(engine.integers(self._select(table)), self.finest.proof)
        exact = Confidential(self.added(finest)).reveal(to="mechanism")
        noisy = (release(one, noise, bits, teaching=teaching) for one, noise in zip(exact, self.noises, strict=True))
        return NoisyVector(measurement=self, integers=tuple(one.value for one in noisy))

    def _select(self, table: StoredTable) -> exp.Select:
        return self.finest._select(table)


def prepare_intervals(
    cut: Cut,
    contract: Contract,
    *,
    epsilon: str | Number | None = None,
    rho: str | Number | None = None,
    by: tuple[Group, ...] = (),
    where: Predicate | None = None,
    fan_out: int | None = None,
) -> CountedIntervals:
    """The counts, proven and priced for an ε or a ρ; with a fan-out at as many levels as that makes."""
    group = cut.group(contract)
    # Rows that lie in no interval take nothing from a person's other rows.
    counted = Count() if cut.missing else Count(cut.column)
    plan = Plan(aggregates=(counted,), by=(*by, group), where=where)
    whole = prepare(plan, contract, epsilon=epsilon, rho=rho)
    intervals = whole.proof.axes[-1].size
    levels = (tuple(range(intervals)),) if fan_out is None else fanned(intervals, fan_out)
    times = len(levels)
    finest = prepare(
        plan,
        contract,
        epsilon=None if epsilon is None else positive("epsilon", epsilon) / times,
        rho=None if rho is None else positive("rho", rho) / times,
    )
    proof, (part,) = finest.proof, finest.proof.parts
    sets = tuple(Level(group=group, each=level[1] if len(level) > 1 else intervals) for level in levels)
    guarantee = PureDP(positive("epsilon", epsilon)) if epsilon is not None else ZCDP(positive("rho", rho or 0))
    return CountedIntervals(
        plan=Plan(aggregates=sets, by=by, where=where),
        contract=contract,
        proof=dataclasses.replace(
            proof,
            axes=proof.axes[:-1],
            cells=proof.cells // intervals,
            parts=tuple(PartProof(aggregate=one, span=None, moved=part.moved) for one in sets),
            steps=(*proof.steps, f"each of {times} levels adds up these counts without overlap, and moves no farther"),
        ),
        noises=finest.noises * times,
        event=finest.event if times == 1 else Repeated(event=finest.event, times=times),
        guarantee=guarantee,
        cut=cut,
        finest=finest,
        levels=levels,
    )
