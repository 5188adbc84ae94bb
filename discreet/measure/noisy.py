"""Sums under noise: a plan proven and priced, and what it releases in every cell.

1. `prepare` proves the plan from the contract, splits the budget over its aggregates, and takes for each the noise that
   its movement needs. Its event says what is charged, to the last digit; no engine is asked.
2. The engine's exact sums become a vector of one fixed shape; each number gets fresh noise.

Given:   a contract that holds.
Promise: the released integers are ε-DP (Laplace) or ρ-zCDP (Gaussian) as the event says, for the contract's unit and
         adjacency.
Because: `bounds` proves the movement of each aggregate's vector, noise is calibrated to it, and aggregates compose by
         their sum.
Tested:  test_charge_is_the_price, test_neighbours_by_row, test_neighbours_by_person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from sqlglot import exp

from discreet.accounting.events import Event, Noise, Together, to_json
from discreet.check import Number, positive
from discreet.data.contract import Contract
from discreet.data.engines.base import Engine
from discreet.data.engines.statement import rendered
from discreet.data.table import StoredTable
from discreet.errors import ArgumentError
from discreet.guarantee import ZCDP, Adjacency, PureDP
from discreet.measure.bounds import PartProof, Proof, prove
from discreet.measure.compile import compiled, vectors
from discreet.measure.groups import Label, cell_labels
from discreet.measure.joins import table_names
from discreet.measure.plan import Plan, readings, width
from discreet.mechanisms.noise import GaussianNoise, LaplaceNoise, release
from discreet.mechanisms.tables import Integers
from discreet.randomness import Bits
from discreet.secrecy import Confidential

__all__ = ["Estimate", "Measurement", "NoisyVector", "prepare"]

_MISSED = Fraction(1, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """A plan with its proof, the noise of each of its aggregates, and the event that will be charged."""

    plan: Plan
    contract: Contract
    proof: Proof
    noises: tuple[LaplaceNoise | GaussianNoise, ...]
    event: Event
    guarantee: PureDP | ZCDP
    _selects: dict[StoredTable, exp.Select] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def labels(self) -> Iterator[tuple[Label, ...]]:
        """One label of each group for every cell, in the order of the numbers."""
        return cell_labels(self.proof.axes)

    def reading_names(self, part: int = 0) -> tuple[str, ...]:
        """What is read of an aggregate."""
        return tuple(self._readings(part))

    def standard_deviation(self, reading: str, part: int = 0) -> float:
        """The standard deviation of what is read, the same in every cell; known before anything is spent."""
        squares = sum(float(factor) ** 2 for factor in self.factors(reading, part))
        return float(squares**0.5 * self.noises[part].standard_deviation)

    def half_width(self, reading: str, part: int = 0) -> Fraction:
        """Half the width of a 95 % interval around what is read, from the noise's exact law.

        The shortest symmetric one for what is read of one number; of several, one that holds by the union bound.
        """
        factors = [abs(factor) for factor in self.factors(reading, part) if factor]
        steps = self.noises[part].error(_MISSED, answers=len(factors)) - 1
        return sum(factors, Fraction(0)) * steps

    def factors(self, reading: str, part: int = 0) -> tuple[Fraction, ...]:
        """By what an aggregate's whole numbers are multiplied to give what is read."""
        read = self._readings(part)
        if reading not in read:
            raise ArgumentError(
                "reading", found=repr(reading), right=f"there is {', '.join(read)}", step="choose one of these"
            )
        return tuple(factor / (1 << self.proof.bits) for factor in read[reading])

    def as_json(self) -> dict[str, Any]:
        """What is charged and why, as public plain values."""
        return {
            "plan": self.plan.as_json(),
            "proof": self.proof.as_json(),
            "event": to_json(self.event),
        }

    def require_readable(self, engine: Engine, table: StoredTable) -> None:
        """Compile and check the SELECT, so that whatever can be refused is refused before anything is spent."""
        select = self._select(table)
        rendered(select, dialect=engine.dialect, tables=table_names(table))

    def release(self, engine: Engine, table: StoredTable, bits: Bits, *, teaching: bool = False) -> NoisyVector:
        """Read exact sums, and add fresh noise to each."""
        rows = engine.integers(self._select(table))
        exact = Confidential(vectors(rows, self.proof)).reveal(to="mechanism")
        noisy = (
            release(vector, noise, bits, teaching=teaching) for vector, noise in zip(exact, self.noises, strict=True)
        )
        return NoisyVector(measurement=self, integers=tuple(one.value for one in noisy))

    def restored(self, stored: Mapping[str, Any]) -> NoisyVector:
        """What `NoisyVector.as_json` wrote."""
        numbers = [np.array([int(number) for number in part], dtype=np.int64) for part in stored["numbers"]]
        return NoisyVector(measurement=self, integers=tuple(one.reshape(self.proof.cells, -1) for one in numbers))

    def _select(self, table: StoredTable) -> exp.Select:
        """The SELECT over that table, made once."""
        if table not in self._selects:
            self._selects[table] = compiled(self.plan, self.contract, table, self.proof)
        return self._selects[table]

    def _readings(self, part: int) -> Mapping[str, tuple[Fraction, ...]]:
        one = self.proof.parts[part]
        return readings(one.aggregate, one.span)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A released number with its error."""

    value: Fraction
    standard_deviation: float
    half_width: Fraction

    @property
    def interval(self) -> tuple[Fraction, Fraction]:
        """An interval that holds the exact number with a probability of at least 95 %."""
        return self.value - self.half_width, self.value + self.half_width


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoisyVector:
    """What a measurement released: whole numbers (cells, numbers) for each aggregate."""

    measurement: Measurement
    integers: tuple[Integers, ...]

    def values(self, reading: str, part: int = 0) -> tuple[Fraction, ...]:
        """What is read of an aggregate in every cell, exactly as the released numbers say."""
        factors = self.measurement.factors(reading, part)
        rows = self.integers[part].tolist()
        return tuple(sum((f * n for f, n in zip(factors, row, strict=True)), Fraction(0)) for row in rows)

    def estimates(self, reading: str, part: int = 0) -> tuple[Estimate, ...]:
        """What is read of an aggregate in every cell, with its error."""
        deviation = self.measurement.standard_deviation(reading, part)
        half = self.measurement.half_width(reading, part)
        return tuple(
            Estimate(value=value, standard_deviation=deviation, half_width=half) for value in self.values(reading, part)
        )

    def as_json(self) -> dict[str, Any]:
        """The released numbers as plain values; whole numbers as text, since they pass 2^53."""
        return {"numbers": [[str(number) for number in array.ravel().tolist()] for array in self.integers]}


def prepare(
    plan: Plan,
    contract: Contract,
    *,
    epsilon: str | Number | None = None,
    rho: str | Number | None = None,
    shares: Sequence[str | Number] | None = None,
) -> Measurement:
    """The plan proven and priced: Laplace noise for an ε, Gaussian for a ρ. Equal shares unless others are given."""
    if (epsilon is None) == (rho is None):
        raise ArgumentError(
            "budget", found="none or two", right="one of epsilon and rho", step="give epsilon=1, or rho=0.1"
        )
    proof = prove(plan, contract)
    each = _shares(shares, len(proof.parts))
    noises: tuple[LaplaceNoise | GaussianNoise, ...]
    guarantee: PureDP | ZCDP
    if epsilon is not None:
        pure = positive("epsilon", epsilon)
        noises, guarantee = (
            tuple(_laplace(part, pure * s) for part, s in zip(proof.parts, each, strict=True)),
            PureDP(pure),
        )
    else:
        assert rho is not None
        loss = positive("rho", rho)
        noises, guarantee = tuple(_gauss(part, loss * s) for part, s in zip(proof.parts, each, strict=True)), ZCDP(loss)
    events = tuple(_event(part, noise, proof) for part, noise in zip(proof.parts, noises, strict=True))
    return Measurement(
        plan=plan,
        contract=contract,
        proof=proof,
        noises=noises,
        event=events[0] if len(events) == 1 else Together(events=events),
        guarantee=guarantee,
    )


def _shares(given: Sequence[str | Number] | None, parts: int) -> tuple[Fraction, ...]:
    """Which part of the budget each aggregate gets: 1 in all."""
    if given is None:
        return (Fraction(1, parts),) * parts
    each = tuple(positive("shares", share) for share in given)
    if len(each) != parts:
        raise ArgumentError(
            "shares", found=f"{len(each)}", right=f"one for each of {parts} aggregates", step="give as many"
        )
    return tuple(share / sum(each) for share in each)


def _laplace(part: PartProof, epsilon: Fraction) -> LaplaceNoise:
    return LaplaceNoise.for_guarantee(sensitivity=part.moved.l1, epsilon=epsilon)


def _gauss(part: PartProof, rho: Fraction) -> GaussianNoise:
    """σ² = Δ₂²/(2ρ): noise of ρ = Σ Δ_j²/(2σ²) for all numbers together, as `GaussianNoise.for_rho` proves."""
    return GaussianNoise(Fraction(part.moved.l2_squared) / (2 * rho))


def _event(part: PartProof, noise: LaplaceNoise | GaussianNoise, proof: Proof) -> Noise:
    """`scalar` where one unit moves one number alone: of one, or of many of which a row can only be in one."""
    row_alone = proof.one_row and proof.adjacency is Adjacency.ADD_REMOVE
    scalar = width(part.aggregate) == 1 and (proof.cells == 1 or row_alone)
    if isinstance(noise, LaplaceNoise):
        return Noise(law="laplace", move=Fraction(part.moved.l1), scale=noise.scale, scalar=scalar)
    return Noise(law="gaussian", move=Fraction(part.moved.l2_squared), scale=noise.sigma_squared, scalar=scalar)
