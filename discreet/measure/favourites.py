"""The keys with the most rows, or the largest or least sum, chosen privately in every cell.

1. The engine counts or adds up each public key of each cell, exactly, as for any plan.
2. In each cell k keys are chosen one after the other, each out of those that are left, at ε/k a choice: by
   permute-and-flip, which errs least, or by the exponential mechanism, which costs least where ρ is counted.
3. How far a chosen key falls short of the best is known before anything is spent: `shortfall`.

Given:   a contract that holds.
Promise: all choices in all cells are ε-DP together; with the exponential mechanism ε²/(8k)-zCDP.
Because: `bounds` proves how far one unit moves the vector of all scores in sum; a cell's scores move by at most its
         part of that, and a choice costs ε/k times that part over the whole, so that cells add up to ε/k.
Tested:  test_favourites_of_neighbours_are_within_epsilon, test_favourites_agree_with_counting.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting.events import Choice, Event, Repeated, to_json
from discreet.check import at_least, positive, probability
from discreet.data.contract import Contract
from discreet.data.engines.base import Engine
from discreet.data.engines.statement import rendered
from discreet.data.table import StoredTable
from discreet.errors import ArgumentError
from discreet.guarantee import Adjacency
from discreet.measure.bounds import Proof, prove
from discreet.measure.compile import compiled, vectors
from discreet.measure.expression import Predicate, Value
from discreet.measure.groups import Group, Label
from discreet.measure.joins import table_names
from discreet.measure.plan import Count, Plan, Total
from discreet.mechanisms.choice import Method, choose
from discreet.mechanisms.utility_score import Utility, share_of_epsilon, shortfall
from discreet.randomness import Bits, require_fresh
from discreet.secrecy import Confidential

__all__ = ["ChosenKeys", "Favourites", "prepare_favourites"]

_MISSED = Fraction(1, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Favourites:
    """The first few keys of a group by rows, or by a sum, in every cell of the other groups."""

    plan: Plan
    contract: Contract
    proof: Proof
    count: int
    largest: bool
    epsilon: Fraction
    method: Method

    @property
    def event(self) -> Event:
        """One choice after the other."""
        bounded = self.method is Method.EXPONENTIAL
        one = Choice(epsilon=self.epsilon / self.count, bounded_range=bounded)
        return one if self.count == 1 else Repeated(event=one, times=self.count)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The keys there are."""
        return self.proof.axes[-1].labels

    @property
    def monotone(self) -> bool:
        """Whether one unit moves all scores the same way."""
        span = self.proof.parts[0].span
        one_sided = span is None or span.low >= 0 or span.high <= 0
        return one_sided and self.proof.adjacency is Adjacency.ADD_REMOVE

    def shortfall(self, missed: str | Fraction = _MISSED) -> float:
        """By how much a chosen key falls short of the best at most, but for that probability, in rows or in the sum."""
        part = self.proof.parts[0]
        share = share_of_epsilon(monotone=self.monotone)
        far = shortfall(
            len(self.labels),
            Fraction(part.moved.l1),
            self.epsilon / self.count,
            probability("missed", missed) / self.count,
            share=share,
        )
        return far / (1 << self.proof.bits) * (1.0 if part.span is None else float(part.span.step))

    def as_json(self) -> dict[str, Any]:
        """What is charged and why, as public plain values."""
        return {
            "plan": self.plan.as_json(),
            "chosen": {"keys": self.count, "largest": self.largest, "method": self.method.value},
            "proof": self.proof.as_json(),
            "event": to_json(self.event),
        }

    def require_readable(self, engine: Engine, table: StoredTable) -> None:
        """Compile and check the SELECT."""
        rendered(
            compiled(self.plan, self.contract, table, self.proof), dialect=engine.dialect, tables=table_names(table)
        )

    def release(self, engine: Engine, table: StoredTable, bits: Bits, *, teaching: bool = False) -> ChosenKeys:
        """Read exact scores, and choose in every cell."""
        require_fresh(bits, teaching=teaching)
        rows = engine.integers(compiled(self.plan, self.contract, table, self.proof))
        (exact,) = Confidential(vectors(rows, self.proof)).reveal(to="mechanism")
        cells = exact.reshape(-1, len(self.labels)).tolist()
        return ChosenKeys(favourites=self, places=tuple(self._chosen(scores, bits, teaching) for scores in cells))

    def restored(self, stored: Mapping[str, Any]) -> ChosenKeys:
        """What `ChosenKeys.as_json` wrote."""
        return ChosenKeys(favourites=self, places=tuple(tuple(cell) for cell in stored["places"]))

    def over(self, contract: Contract, proof: Proof) -> Favourites:
        """The same choices over other cells, at the same price."""
        axes = (*proof.axes, self.proof.axes[-1])
        cells = proof.cells * len(self.labels)
        return dataclasses.replace(
            self, contract=contract, proof=dataclasses.replace(self.proof, axes=axes, cells=cells)
        )

    def _chosen(self, scores: list[int], bits: Bits, teaching: bool = False) -> tuple[int, ...]:
        left, found = list(range(len(scores))), []
        for _ in range(self.count):
            utility = Utility(
                scores=[scores[at] if self.largest else -scores[at] for at in left],
                sensitivity=Fraction(self.proof.parts[0].moved.l1),
                why="bounds.prove: how far one unit moves all scores together",
                monotone=self.monotone,
            )
            epsilon = self.epsilon / self.count
            found.append(left.pop(choose(utility, epsilon, bits, method=self.method, teaching=teaching)))
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenKeys:
    """What was chosen: the places of keys, (cells, choices), the first one first."""

    favourites: Favourites
    places: tuple[tuple[int, ...], ...]

    @property
    def labels(self) -> tuple[tuple[Label, ...], ...]:
        """The keys that were chosen in every cell."""
        return tuple(tuple(self.favourites.labels[at] for at in cell) for cell in self.places)

    def as_json(self) -> dict[str, Any]:
        """The places as plain values."""
        return {"places": [list(cell) for cell in self.places]}


def prepare_favourites(
    group: Group,
    contract: Contract,
    *,
    epsilon: str | Fraction,
    method: Method = Method.PERMUTE_AND_FLIP,
    count: int = 1,
    value: Value | None = None,
    largest: bool = True,
    by: tuple[Group, ...] = (),
    where: Predicate | None = None,
) -> Favourites:
    """The `count` keys of a group with the most rows, or the largest (or least) sum, proven and priced for an ε."""
    plan = Plan(aggregates=(Count() if value is None else Total(value),), by=(*by, group), where=where)
    proof = prove(plan, contract)
    keys = proof.axes[-1].size
    if at_least("count", count, 1) > keys:
        raise ArgumentError(
            "count", found=f"{count} of {keys} keys", right="no more than there are", step=f"ask for {keys} or fewer"
        )
    return Favourites(
        plan=plan,
        contract=contract,
        proof=proof,
        count=count,
        largest=largest,
        epsilon=positive("epsilon", epsilon),
        method=method,
    )
