"""How many public cells of a group have a row: COUNT(DISTINCT x) in every cell of the other groups, under noise.

1. The engine counts the units of each value, weighted where one may be in too many (`weights`): 2^s for a unit within
   its limit of G values, ⌊G·2^s/g⌋ in each of its g values beyond.
2. A value counts min(2^s, its units' weights) steps: whole as soon as one unit within the limit has it.
3. The steps are added up over the values of each cell, and get noise.

The estimand: values that only units beyond their limit have count in part.

Given:   a contract that holds.
Promise: the noisy sums are ε-DP (Laplace) or ρ-zCDP (Gaussian) as their event says.
Because: a unit moves the vector of weights over all values by at most G·2^s in sum (`bounds`), cutting at 2^s moves
         neighbours no further apart, nor does adding up. A unit replaced by another moves one cell by no more than
         that, and more cells by twice that in all.
Tested:  test_distinct_of_neighbours_moves_as_proven, test_distinct_agrees_with_counting.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from sqlglot import exp

from discreet.accounting.events import Noise
from discreet.check import positive
from discreet.data.contract import Contract
from discreet.data.engines.base import Engine
from discreet.data.engines.statement import rendered
from discreet.data.table import StoredTable
from discreet.errors import ArgumentError
from discreet.guarantee import ZCDP, Adjacency, PureDP
from discreet.measure.bounds import Moved, PartProof, Proof, prove
from discreet.measure.compile import compiled, vectors
from discreet.measure.expression import Predicate
from discreet.measure.groups import Group
from discreet.measure.joins import table_names
from discreet.measure.noisy import Measurement, NoisyVector
from discreet.measure.plan import Count, Persons, Plan
from discreet.mechanisms.noise import GaussianNoise, LaplaceNoise, release
from discreet.mechanisms.tables import Integers
from discreet.randomness import Bits
from discreet.secrecy import Confidential

__all__ = ["DistinctCount", "Values", "prepare_distinct"]


@dataclass(frozen=True, slots=True)
class Values(Count):
    """The values of a group that have a unit in the cell."""

    group: Group | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctCount(Measurement):
    """A measurement whose one number in each cell is how many values of a group have a row there."""

    values: Plan
    values_proof: Proof

    def as_json(self) -> dict[str, Any]:
        """What is charged and why, as public plain values."""
        return {**super(DistinctCount, self).as_json(), "distinct": self.values.as_json()}

    def require_readable(self, engine: Engine, table: StoredTable) -> None:
        """Compile and check the SELECT."""
        rendered(self._select(table), dialect=engine.dialect, tables=table_names(table))

    def release(self, engine: Engine, table: StoredTable, bits: Bits, *, teaching: bool = False) -> NoisyVector:
        """Read the weights of all values, count, and add fresh noise."""
        rows = engine.integers(self._select(table))
        exact = Confidential(self._counted(rows)).reveal(to="mechanism")
        noisy = release(exact, self.noises[0], bits, teaching=teaching)
        return NoisyVector(measurement=self, integers=(noisy.value,))

    def over(self, contract: Contract, proof: Proof) -> DistinctCount:
        """The same counts over other cells, at the same price."""
        inner = self.values_proof
        last = inner.axes[-1]
        return dataclasses.replace(
            self,
            contract=contract,
            proof=dataclasses.replace(self.proof, axes=proof.axes, cells=proof.cells),
            values_proof=dataclasses.replace(inner, axes=(*proof.axes, last), cells=proof.cells * last.size),
        )

    def _select(self, table: StoredTable) -> exp.Select:
        return compiled(self.values, self.contract, table, self.values_proof)

    def _counted(self, rows: list[tuple[int | None, ...]]) -> Integers:
        axis = self.values_proof.axes[-1]
        (weights,) = vectors(rows, self.values_proof)
        each = np.minimum(weights.reshape(-1, axis.size), 1 << self.proof.bits)
        # What is missing is no value.
        each = each[:, :-1] if axis.missing else each
        return np.asarray(each.sum(axis=1, dtype=np.int64).reshape(-1, 1))


def prepare_distinct(
    group: Group,
    contract: Contract,
    *,
    epsilon: str | Fraction | None = None,
    rho: str | Fraction | None = None,
    by: tuple[Group, ...] = (),
    where: Predicate | None = None,
) -> DistinctCount:
    """The number of values of a group in every cell, proven and priced."""
    if (epsilon is None) == (rho is None):
        raise ArgumentError("budget", found="none or two", right="one of epsilon and rho", step="give epsilon=1")
    values = Plan(aggregates=(Persons(),), by=(*by, group), where=where)
    inner = prove(values, contract)
    cells = inner.cells // inner.axes[-1].size
    reach = inner.limit << inner.bits
    apart = 2 if inner.adjacency is Adjacency.REPLACE_ONE and cells > 1 else 1
    moved = Moved(l1=apart * reach, l2_squared=apart * reach**2)
    noise: LaplaceNoise | GaussianNoise
    guarantee: PureDP | ZCDP
    if epsilon is not None:
        pure = positive("epsilon", epsilon)
        noise, guarantee = LaplaceNoise.for_guarantee(sensitivity=moved.l1, epsilon=pure), PureDP(pure)
        event = Noise(law="laplace", move=Fraction(moved.l1), scale=noise.scale)
    else:
        assert rho is not None
        loss = positive("rho", rho)
        noise, guarantee = GaussianNoise(Fraction(moved.l2_squared) / (2 * loss)), ZCDP(loss)
        event = Noise(law="gaussian", move=Fraction(moved.l2_squared), scale=noise.sigma_squared)
    counted = Values(group=group)
    proof = dataclasses.replace(
        inner,
        axes=inner.axes[:-1],
        cells=cells,
        parts=(PartProof(aggregate=counted, span=None, moved=moved),),
        steps=(*inner.steps[:-1], f"distinct values: neighbours differ by at most {moved.l1} steps in sum"),
    )
    return DistinctCount(
        plan=Plan(aggregates=(counted,), by=by, where=where),
        contract=contract,
        proof=proof,
        noises=(noise,),
        event=event,
        guarantee=guarantee,
        values=values,
        values_proof=inner,
    )
