"""The sums of one demand, as they were released: every primitive in every cell, and the same with the noise drawn anew.

Noise has one law in every cell, so that one set of draws serves them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import hypot, lcm, prod

import numpy as np

from discreet.measure.noisy import Measurement, NoisyVector
from discreet.measure.plan import Aggregate
from discreet.mechanisms.noise import GaussianNoise, LaplaceNoise
from discreet.mechanisms.samplers import draw_many
from discreet.query.joint import half_width_of_sum
from discreet.query.recipe import Primitive
from discreet.query.term import Numbers
from discreet.query.way import Combination
from discreet.randomness import Bits, SeededBits

__all__ = ["Linear", "Sums"]


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """A primitive as released: exact numbers by cell, numerators over one denominator."""

    numerators: Numbers
    denominator: int

    @property
    def floats(self) -> Numbers:
        """The numbers."""
        return np.asarray(self.numerators.astype(float) / self.denominator)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Where the primitives of a demand come from: measurements, and the combination of their readings."""

    measurements: tuple[Measurement, ...]
    sources: Mapping[Primitive, Combination]
    sizes: tuple[int, ...]

    @property
    def cells(self) -> int:
        """How many cells the table has."""
        return prod(self.sizes)

    def linear(self, primitive: Primitive, released: Sequence[NoisyVector]) -> Linear:
        """A primitive in every cell, exact."""
        numbers, constant = self._numbers(primitive), self.sources[primitive].constant
        denominator = lcm(constant.denominator, *(factor.denominator for *_, factor in numbers))
        total = np.full(self.cells, int(constant * denominator), dtype=object)
        for place, part, at, factor in numbers:
            total = total + released[place].integers[part][:, at].astype(object) * int(factor * denominator)
        return Linear(total, denominator)

    def half_width(self, primitive: Primitive, coverage: Fraction) -> float | None:
        """Half the shortest symmetric interval that surely covers so much, where one noisy number alone is behind a
        cell: from the exact law. None where several are."""
        numbers = self._numbers(primitive)
        if not numbers:
            return 0.0
        if len(numbers) > 1:
            return None
        place, part, _, factor = numbers[0]
        return float(abs(factor) * self.measurements[place].noises[part].interval(coverage))

    def deviation(self, primitive: Primitive) -> float:
        """The standard deviation of a primitive's error, known before anything is released."""
        return self.weighted_deviation({primitive: 1.0})

    def weighted_deviation(self, weights: Mapping[Primitive, float]) -> float:
        """The standard deviation of a weighted sum of primitives."""
        return hypot(*(slope * float(noise.standard_deviation) for slope, noise in self._weighted(weights)))

    def weighted_half_width(self, weights: Mapping[Primitive, float], coverage: Fraction) -> float | None:
        """Half the interval of a weighted sum of primitives, from the law of its noise; None where steps are coarse."""
        return half_width_of_sum(self._weighted(weights), float(coverage))

    def errors(self, primitives: Sequence[Primitive], draws: int) -> dict[Primitive, Numbers]:
        """Errors as they could have been: draws of the noise behind each primitive, together.

        They are drawn from bits of their own that repeat, so that one answer always shows one error; nothing that is
        released comes from them.
        """
        bits = SeededBits(0)
        drawn: dict[tuple[int, int, int], Numbers] = {}
        found = {}
        for primitive in primitives:
            error = np.zeros(draws)
            for place, part, at, factor in self._numbers(primitive):
                key = place, part, at
                if key not in drawn:
                    drawn[key] = self._drawn(place, part, draws, bits)
                error = error + float(factor) * drawn[key]
            found[primitive] = error
        return found

    def _weighted(self, weights: Mapping[Primitive, float]) -> list[tuple[float, LaplaceNoise | GaussianNoise]]:
        """By what each noisy number is multiplied in a weighted sum of primitives, with its noise."""
        totals: dict[tuple[int, int, int], float] = {}
        for primitive, weight in weights.items():
            for place, part, at, factor in self._numbers(primitive):
                totals[place, part, at] = totals.get((place, part, at), 0.0) + weight * float(factor)
        return [(slope, self.measurements[place].noises[part]) for (place, part, _), slope in totals.items() if slope]

    def _drawn(self, place: int, part: int, draws: int, bits: Bits) -> Numbers:
        """The noise of one number."""
        return draw_many(self.measurements[place].noises[part].sampler, draws, bits).astype(float)

    def _numbers(self, primitive: Primitive) -> list[tuple[int, int, int, Fraction]]:
        """Which released numbers a primitive is made of, and by what they are multiplied."""
        totals: dict[tuple[int, int, int], Fraction] = {}
        for reading in self.sources[primitive].readings:
            place, part = self._place(reading.aggregate)
            for at, factor in enumerate(self.measurements[place].factors(reading.name, part)):
                key = place, part, at
                totals[key] = totals.get(key, Fraction(0)) + factor * reading.factor
        return [(*key, factor) for key, factor in totals.items() if factor]

    def _place(self, aggregate: Aggregate) -> tuple[int, int]:
        for place, measurement in enumerate(self.measurements):
            if aggregate in measurement.plan.aggregates:
                return place, measurement.plan.aggregates.index(aggregate)
        raise AssertionError(aggregate)
