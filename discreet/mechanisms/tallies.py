"""Noisy totals of a table of whole numbers, as exact laws: count, sum, mean, histogram and vectors of these.

1. Each record is moved between the public bounds, last of all and one by one.
2. Each component adds up what every record contributes to it.
3. Each component gets two-sided geometric noise of scale Δ/ε, with Δ the ℓ1 sensitivity of the whole vector:
   the most that one record contributes (add-remove), or by which two records' contributions differ (replace-one).

A total is what a certificate examines; a query's plan and its proof of sensitivity live in `measure`.

What it does not promise: a mean under add-remove. There n is private, and a mean is the ratio of two totals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from discreet.guarantee import Adjacency
from discreet.mechanisms.decay import Decay
from discreet.mechanisms.neighbours import Table
from discreet.mechanisms.noise import LaplaceNoise
from discreet.mechanisms.testing import noisy_law

__all__ = ["Tally", "side_by_side"]

Values = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What each record between the bounds contributes to each component of a vector of totals."""

    low: int
    high: int
    contribution: Callable[[int], Values]

    @classmethod
    def count(cls, low: int, high: int, *, of: int) -> Tally:
        """How many records have that value."""
        return cls(low=low, high=high, contribution=lambda record: (int(record == of),))

    @classmethod
    def sum(cls, low: int, high: int) -> Tally:
        """The sum of the records."""
        return cls(low=low, high=high, contribution=lambda record: (record,))

    @classmethod
    def sum_and_count(cls, low: int, high: int) -> Tally:
        """The sum and the number of records, as one vector."""
        return cls(low=low, high=high, contribution=lambda record: (record, 1))

    @classmethod
    def histogram(cls, low: int, high: int) -> Tally:
        """One count for each value."""
        return cls(
            low=low,
            high=high,
            contribution=lambda record: tuple(int(record == value) for value in range(low, high + 1)),
        )

    def clamped(self, table: Table) -> Table:
        """Each record, moved between the bounds."""
        return tuple(min(max(record, self.low), self.high) for record in table)

    def totals(self, table: Table) -> Values:
        """The exact vector: confidential."""
        width = len(self.contribution(self.low))
        parts = [self.contribution(record) for record in self.clamped(table)]
        return tuple(sum(part[at] for part in parts) for at in range(width))

    def sensitivity(self, adjacency: Adjacency) -> int:
        """The ℓ1 distance between the totals of neighbours, at most: over all records between the bounds."""
        parts = {self.contribution(record) for record in range(self.low, self.high + 1)}
        nothing = (0,) * len(self.contribution(self.low))
        against = {nothing} if adjacency is Adjacency.ADD_REMOVE else parts
        return max(sum(abs(a - b) for a, b in zip(one, other, strict=True)) for one in parts for other in against)

    def law(self, table: Table, *, epsilon: Decay, adjacency: Adjacency, largest: int) -> dict[Values, Fraction]:
        """The exact law of all noisy totals, for tables of up to `largest` records.

        Each component is clamped to what such tables can total; between two of them nothing is lost by that.
        """
        noise = LaplaceNoise.for_guarantee(sensitivity=self.sensitivity(adjacency), epsilon=epsilon)
        return side_by_side(
            [
                noisy_law(total, noise, low, high)
                for total, (low, high) in zip(self.totals(table), self._spans(largest), strict=True)
            ]
        )

    def _spans(self, largest: int) -> Iterator[tuple[int, int]]:
        parts = [self.contribution(record) for record in range(self.low, self.high + 1)]
        for values in zip(*parts, strict=True):
            yield largest * min(0, *values), largest * max(0, *values)


def side_by_side(laws: Sequence[Mapping[Any, Fraction]]) -> dict[tuple[Any, ...], Fraction]:
    """The joint law of independent outputs."""
    joint: dict[tuple[Any, ...], Fraction] = {(): Fraction(1)}
    for law in laws:
        joint = {(*told, value): p * q for (told, p), (value, q) in product(joint.items(), law.items())}
    return joint
