"""The sums of one demand, as they were released: every primitive in every cell, and the same with the noise drawn anew.

Noise has one law in every cell, so that one set of draws serves them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import hypot, lcm, prod
from statistics import NormalDist
from typing import TypeAlias

import numpy as np

from discreet.measure.noisy import Measurement, NoisyVector
from discreet.measure.plan import Aggregate
from discreet.mechanisms.noise import GaussianNoise, LaplaceNoise
from discreet.mechanisms.samplers import draw_many
from discreet.query.joint import half_width_of_sum
from discreet.query.recipe import Primitive
from discreet.query.term import Numbers
from discreet.query.way import Combination, Reading
from discreet.randomness import SeededBits, keyed_generator

__all__ = ["Linear", "Sums"]

# Beyond so many numbers, those that make up less than that part of the variance of each sum are drawn together.
_MANY, _LITTLE = 64, 1 / 64
# Of more numbers than these, the law of a sum is near enough to normal for a correction by its fourth moment.
_FEW = 8
_NORMAL = NormalDist()
# From this deviation on the steps of whole numbers are not seen in the law of noise.
_SMOOTH = 64
_TAILS = 3.0  # excess kurtosis of Laplace noise
_Key: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """A primitive as released: exact numbers by cell, numerators over one denominator."""

    numerators: Numbers
    denominator: int

    @property
    def floats(self) -> Numbers:
        """The numbers."""
        return np.asarray(self.numerators.astype(float) / self.denominator)


class _Simulated:
    """Draws as noise could have been: from its own law where steps are coarse, else from the smooth law beside it,
    whose variance differs by less than 1 in 10,000: a rounded Laplace law's by (1/12 + 1/6)/(2b²), with 2b² ≥ 64²."""

    def __init__(self, draws: int) -> None:
        self._draws, self._bits, self._generator = draws, SeededBits(0), keyed_generator(0)

    def noise(self, noise: LaplaceNoise | GaussianNoise) -> Numbers:
        """Of one noisy number."""
        if noise.standard_deviation < _SMOOTH:
            return draw_many(noise.sampler, self._draws, self._bits).astype(float)
        if isinstance(noise, LaplaceNoise):
            return np.rint(self._generator.laplace(0, float(noise.scale), self._draws))
        return np.rint(self._generator.normal(0, noise.standard_deviation, self._draws))

    def normal(self, spread: Numbers) -> Numbers:
        """Of columns that have this spread over independent numbers, (numbers, columns): (columns, draws)."""
        values, vectors = np.linalg.eigh(spread.T @ spread)
        drawn = self._generator.standard_normal((len(values), self._draws))
        return np.asarray((vectors * np.sqrt(np.maximum(values, 0))) @ drawn)


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
        """Half the interval of a weighted sum of primitives, from the law of its noise; None where few steps are
        coarse."""
        weighted = self._weighted(weights)
        half = half_width_of_sum(weighted, float(coverage))
        return _half_width_of_many(weighted, float(coverage)) if half is None and len(weighted) > _FEW else half

    def errors(self, primitives: Sequence[Primitive], draws: int) -> dict[Primitive, Numbers]:
        """Errors as they could have been: draws of the noise behind each primitive, together.

        They are drawn from bits of their own that repeat, so that one answer always shows one error; nothing that is
        released comes from them. Of many numbers those that matter little by themselves are drawn as normal together.
        """
        simulated, factors = _Simulated(draws), self._factors_of(primitives)
        found = {primitive: np.zeros(draws) for primitive in primitives}
        little = _of_little_weight(factors) if len(factors) > _MANY else frozenset()
        for key, of_number in factors.items():
            if key not in little:
                drawn = simulated.noise(self._noise(key))
                for primitive, (factor, _) in of_number.items():
                    found[primitive] = found[primitive] + factor * drawn
        if little:
            spread = np.array([[of[one][1] if one in of else 0.0 for one in primitives]
                               for key, of in factors.items() if key in little])  # fmt: skip
            together = simulated.normal(spread)
            found = {one: found[one] + error for one, error in zip(primitives, together, strict=True)}
        return found

    def _factors_of(self, primitives: Sequence[Primitive]) -> dict[_Key, dict[Primitive, tuple[float, float]]]:
        """Each noisy number behind the primitives: by what it is multiplied in each, and its deviation there."""
        found: dict[_Key, dict[Primitive, tuple[float, float]]] = {}
        for primitive in primitives:
            for *key, factor in self._numbers(primitive):
                place, part, at = key
                noise = float(self._noise((place, part, at)).standard_deviation)
                found.setdefault((place, part, at), {})[primitive] = float(factor), float(factor) * noise
        return found

    def _noise(self, key: _Key) -> LaplaceNoise | GaussianNoise:
        place, part, _ = key
        return self.measurements[place].noises[part]

    def _weighted(self, weights: Mapping[Primitive, float]) -> list[tuple[float, LaplaceNoise | GaussianNoise]]:
        """By what each noisy number is multiplied in a weighted sum of primitives, with its noise."""
        totals: dict[tuple[int, int, int], float] = {}
        for primitive, weight in weights.items():
            for place, part, at, factor in self._numbers(primitive):
                totals[place, part, at] = totals.get((place, part, at), 0.0) + weight * float(factor)
        return [(slope, self.measurements[place].noises[part]) for (place, part, _), slope in totals.items() if slope]

    def _numbers(self, primitive: Primitive) -> list[tuple[int, int, int, Fraction]]:
        """Which released numbers a primitive is made of, and by what they are multiplied."""
        totals: dict[tuple[int, int, int], Fraction] = {}
        for reading in self.sources[primitive].readings:
            place, part = self._place(reading.aggregate)
            factors = self._factors(reading, place, part)
            for at, factor in enumerate(factors):
                key = place, part, at
                totals[key] = totals.get(key, Fraction(0)) + factor * reading.factor
        return [(*key, factor) for key, factor in totals.items() if factor]

    def _factors(self, reading: Reading, place: int, part: int) -> Sequence[Fraction]:
        measurement = self.measurements[place]
        if reading.weights is None:
            return measurement.factors(reading.name, part)
        return [weight / (1 << measurement.proof.bits) for weight in reading.weights]

    def _place(self, aggregate: Aggregate) -> tuple[int, int]:
        for place, measurement in enumerate(self.measurements):
            if aggregate in measurement.plan.aggregates:
                return place, measurement.plan.aggregates.index(aggregate)
        raise AssertionError(aggregate)


def _half_width_of_many(weighted: Sequence[tuple[float, LaplaceNoise | GaussianNoise]], coverage: float) -> float:
    """Half the interval of a sum of many noisy whole numbers: normal, corrected by the fourth moment (Cornish and
    Fisher 1938), and half a step of the least one more."""
    squares = [(weight * float(noise.standard_deviation)) ** 2 for weight, noise in weighted]
    total = sum(squares)
    if not total:
        return 0.0
    laplace = (one for one, (_, noise) in zip(squares, weighted, strict=True) if isinstance(noise, LaplaceNoise))
    excess = _TAILS * sum((one / total) ** 2 for one in laplace)
    z = _NORMAL.inv_cdf((1 + coverage) / 2)
    wide = z + (z**3 - 3 * z) * excess / 24
    return float(total**0.5 * wide + min(abs(weight) for weight, _ in weighted) / 2)


def _of_little_weight(factors: Mapping[_Key, Mapping[Primitive, tuple[float, float]]]) -> frozenset[_Key]:
    """The numbers that are a small part of the variance of every sum they stand in."""
    totals: dict[Primitive, float] = {}
    for of_number in factors.values():
        for primitive, (_, deviation) in of_number.items():
            totals[primitive] = totals.get(primitive, 0.0) + deviation**2
    return frozenset(
        key
        for key, of_number in factors.items()
        if all(deviation**2 <= _LITTLE * totals[one] for one, (_, deviation) in of_number.items())
    )
