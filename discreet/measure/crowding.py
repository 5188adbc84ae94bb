"""How many units have no more rows than count, and how many have more: what bounding rows takes from the question.

1. The engine counts each unit's rows that the filter keeps, and then the units on either side of the contract's limit.
2. Both numbers get noise; the share of units above the limit is read off them.

Given:   a contract that holds, whose unit is a person.
Promise: both numbers together are ε-DP (Laplace) or ρ-zCDP (Gaussian) as the event says.
Because: a unit stands on one side at most, whatever its rows, so that one that comes or goes moves one number by 1, and
         one that is replaced by another moves two by 1 each.
Tested:  test_crowding_of_neighbours_moves_as_proven, test_crowding_agrees_with_counting.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sqlglot import exp

from discreet.accounting.events import Noise
from discreet.check import Number, positive
from discreet.data.contract import Contract
from discreet.data.table import StoredTable
from discreet.errors import ArgumentError
from discreet.guarantee import ZCDP, Adjacency, PureDP
from discreet.measure.bounds import Moved, PartProof, prove
from discreet.measure.compile import crowds
from discreet.measure.expression import Predicate
from discreet.measure.groups import Axis
from discreet.measure.noisy import Measurement, NoisyVector
from discreet.measure.plan import Count, Persons, Plan
from discreet.mechanisms.noise import GaussianNoise, LaplaceNoise

__all__ = ["Crowding", "Share", "prepare_crowding", "share_above"]

_SIDES = Axis(labels=("within", "above"), missing=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowding(Measurement):
    """A measurement of two numbers: units with at most as many rows as count, and units with more."""

    rows: int

    def as_json(self) -> dict[str, Any]:
        """What is charged and why, as public plain values."""
        return {**super(Crowding, self).as_json(), "units with more rows than": self.rows}

    def _select(self, table: StoredTable) -> exp.Select:
        if table not in self._selects:
            self._selects[table] = crowds(self.plan, self.contract, table, self.proof, self.rows)
        return self._selects[table]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share with an interval that holds the exact one with a probability of at least 95 %."""

    value: float
    low: float
    high: float

    def as_json(self) -> dict[str, float]:
        """As plain values."""
        return {"share": self.value, "low": self.low, "high": self.high}


def share_above(found: NoisyVector) -> Share:
    """The share of units that have more rows than count. Its interval holds by the union bound over both numbers."""
    within, above = (float(one) for one in found.values("persons"))
    beta = Fraction(1, 20)
    # Strictly more than this on either number has a chance of at most 1 in 20.
    half = max(0, found.measurement.noises[0].error(beta, answers=2) - 1)
    low, high = max(0.0, above - half), max(0.0, above + half)
    least = low / (low + max(0.0, within + half)) if low else 0.0
    most = high / (high + max(0.0, within - half)) if high else 0.0
    within, above = max(0.0, within), max(0.0, above)
    return Share(value=above / (above + within) if above else 0.0, low=least, high=most)


def prepare_crowding(
    contract: Contract,
    *,
    epsilon: str | Number | None = None,
    rho: str | Number | None = None,
    where: Predicate | None = None,
) -> Crowding:
    """Both numbers, proven and priced."""
    if contract.unit.is_row:
        raise ArgumentError(
            "above",
            found="a table in which each row is a unit",
            right="there are more rows than count only where a unit is a person",
            step="leave it out",
        )
    if (epsilon is None) == (rho is None):
        raise ArgumentError("budget", found="none or two", right="one of epsilon and rho", step="give epsilon=0.1")
    inner = prove(Plan(aggregates=(Count(),), where=where), contract)
    both = 2 if inner.adjacency is Adjacency.REPLACE_ONE else 1
    moved = Moved(l1=both, l2_squared=both)
    noise: LaplaceNoise | GaussianNoise
    guarantee: PureDP | ZCDP
    if epsilon is not None:
        pure = positive("epsilon", epsilon)
        noise, guarantee = LaplaceNoise.for_guarantee(sensitivity=both, epsilon=pure), PureDP(pure)
        event = Noise(law="laplace", move=Fraction(both), scale=noise.scale)
    else:
        assert rho is not None
        loss = positive("rho", rho)
        noise, guarantee = GaussianNoise(Fraction(both) / (2 * loss)), ZCDP(loss)
        event = Noise(law="gaussian", move=Fraction(both), scale=noise.sigma_squared)
    proof = dataclasses.replace(
        inner,
        axes=(_SIDES,),
        cells=2,
        parts=(PartProof(aggregate=Persons(), span=None, moved=moved),),
        limit=1,
        bits=0,
        steps=(inner.steps[0], f"a unit stands on one side: neighbours differ by at most {both} in sum"),
    )
    return Crowding(
        plan=Plan(aggregates=(Persons(),), where=where),
        contract=contract,
        proof=proof,
        noises=(noise,),
        event=event,
        guarantee=guarantee,
        rows=contract.unit.rows or 1,
    )
