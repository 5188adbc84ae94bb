"""Which way to spend: every way of measuring a question's sums, with the error to expect, and the best of them.

1. Each aggregate is proven by itself, which says how far one unit moves it; what cannot be proven is left out.
2. The budget is split in proportion to how many statistics rest on an aggregate: the split with the least product of
   errors where each rests on one.
3. The error of a statistic is that of its linear part at reference values: 1,000 rows, values at five places between
   their bounds. For sums and counts it is the closed form itself; for means and the like it falls with the number of
   rows, so that no comparison needs that number.
4. The best way has the least product of errors over the statistics.

Only contract, plan and budget are used: no engine is asked, so the list is free and the same whatever the data hold.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.data.contract import Contract
from discreet.errors import ArgumentError
from discreet.measure.bounds import prove
from discreet.measure.expression import Predicate
from discreet.measure.groups import Group
from discreet.measure.joins import keeps_rows
from discreet.measure.plan import Aggregate, Plan, readings
from discreet.measure.span import span_of
from discreet.query.allowance import Allowance
from discreet.query.recipe import Primitive, Recipe
from discreet.query.way import Combination, Way, ways

__all__ = ["Expected", "Strategy", "expected_of", "noise_deviation", "strategies"]

_ROWS = 1000.0
_PLACES = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
_CORRELATION = 0.3
_BUMP = 1e-4


@dataclass(frozen=True, slots=True)
class Expected:
    """The standard deviation to expect of one statistic in one cell: as it is, or over the number of rows there.

    What is chosen instead of summed has a distance in other units, which `unit` names.
    """

    deviation: float
    per_row: bool
    unit: str = ""

    def at(self, rows: float) -> float:
        """For a cell of that many rows."""
        return self.deviation / rows if self.per_row else self.deviation

    def text(self) -> str:
        """The number, or a formula in n."""
        return f"{self.deviation:.3g}" + (" / n" if self.per_row else "") + (f" {self.unit}" if self.unit else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A way, the law and shares of its noise, and the error to expect of each statistic that rests on sums."""

    way: Way
    allowance: Allowance
    shares: tuple[Fraction, ...]
    expected: tuple[Expected, ...]

    @property
    def name(self) -> str:
        """What is done, in words."""
        return f"{self.way.name}, {self.allowance.law} noise"

    @property
    def score(self) -> float:
        """The logarithm of the product of the errors."""
        return sum(math.log(one.deviation) if one.deviation > 0 else -1e3 for one in self.expected)


@dataclass(frozen=True, slots=True)
class _Costed:
    """How far one unit moves an aggregate, and its readings, all in rows of weight 1."""

    l1: float
    l2: float
    readings: Mapping[str, tuple[float, ...]]


def strategies(
    recipes: Sequence[Recipe],
    contract: Contract,
    allowed: Sequence[Allowance],
    *,
    by: tuple[Group, ...] = (),
    where: Predicate | None = None,
) -> tuple[Strategy, ...]:
    """All ways for recipes of settled primitives, the best first; one error for each recipe."""
    primitives = [primitive for recipe in recipes for primitive in recipe.needs]
    every = ways(primitives, contract, whole_table=not by and where is None and keeps_rows(contract))
    costs: dict[Aggregate, _Costed] = {}
    refused: list[ArgumentError] = []
    for aggregate in dict.fromkeys(aggregate for way in every for aggregate in way.aggregates):
        try:
            costs[aggregate] = _costed(Plan(aggregates=(aggregate,), by=by, where=where), contract)
        except ArgumentError as error:
            refused.append(error)
    found = [
        _strategy(way, recipes, costs, contract, allowance)
        for way in every
        if all(aggregate in costs for aggregate in way.aggregates)
        for allowance in allowed
    ]
    if not found:
        raise refused[0]
    return tuple(sorted(found, key=lambda one: one.score))


def _costed(plan: Plan, contract: Contract) -> _Costed:
    proof = prove(plan, contract)
    (part,), unit = proof.parts, 2.0**proof.bits
    read = {name: tuple(map(float, factors)) for name, factors in readings(part.aggregate, part.span).items()}
    return _Costed(l1=part.moved.l1 / unit, l2=math.sqrt(part.moved.l2_squared) / unit, readings=read)


def _strategy(
    way: Way, recipes: Sequence[Recipe], costs: Mapping[Aggregate, _Costed], contract: Contract, allowance: Allowance
) -> Strategy:
    shares = _shares(way, recipes)
    deviations = {
        aggregate: _deviation(costs[aggregate], allowance, float(share))
        for aggregate, share in zip(way.aggregates, shares, strict=True)
    }
    expected = tuple(_expected(recipe, way, costs, deviations, contract) for recipe in recipes)
    return Strategy(way=way, allowance=allowance, shares=shares, expected=expected)


def _shares(way: Way, recipes: Sequence[Recipe]) -> tuple[Fraction, ...]:
    """In proportion to the statistics that rest on an aggregate; one that rests on several counts in parts."""
    weights = dict.fromkeys(way.aggregates, Fraction(0))
    for recipe in recipes:
        used = {reading.aggregate for need in recipe.needs for reading in way.sources[need].readings}
        for aggregate in used:
            weights[aggregate] += Fraction(1, len(used))
    total = sum(weights.values(), Fraction(0)) or Fraction(1)
    return tuple(weight / total for weight in weights.values())


def _deviation(cost: _Costed, allowance: Allowance, share: float) -> float:
    """The standard deviation of one number's noise."""
    return noise_deviation(cost.l1, cost.l2, allowance, share)


def noise_deviation(l1: float, l2: float, allowance: Allowance, share: float) -> float:
    """That of a share of an allowance for what one unit moves so far, in first and second norm."""
    loss = float(allowance.loss) * share
    return math.sqrt(2) * l1 / loss if allowance.law == "laplace" else l2 / math.sqrt(2 * loss)


def _expected(
    recipe: Recipe,
    way: Way,
    costs: Mapping[Aggregate, _Costed],
    deviations: Mapping[Aggregate, float],
    contract: Contract,
) -> Expected:
    """The root mean square, over the reference values, of the error of the recipe's linear part."""
    gradients = _gradients(recipe, contract)
    moved: dict[tuple[Aggregate, int], np.ndarray] = {}
    for need, gradient in zip(recipe.needs, gradients, strict=True):
        for aggregate, at, factor in _numbers(way.sources[need], costs):
            moved[aggregate, at] = moved.get((aggregate, at), np.zeros_like(_PLACES)) + gradient * factor
    with np.errstate(over="ignore"):
        squares = sum(((slope * deviations[aggregate]) ** 2 for (aggregate, _), slope in moved.items()), np.zeros(1))
        deviation = math.sqrt(float(np.mean(squares)))
    return Expected(deviation if recipe.linear else deviation * _ROWS, per_row=not recipe.linear)


def expected_of(recipe: Recipe, contract: Contract, covariance: np.ndarray) -> Expected:
    """The same for a recipe whose primitives err together, with that covariance."""
    slopes = np.stack(_gradients(recipe, contract))
    squares = np.einsum("ip,ij,jp->p", slopes, covariance, slopes)
    deviation = math.sqrt(max(0.0, float(np.mean(squares))))
    return Expected(deviation if recipe.linear else deviation * _ROWS, per_row=not recipe.linear)


def _numbers(source: Combination, costs: Mapping[Aggregate, _Costed]) -> list[tuple[Aggregate, int, float]]:
    """By what each number of each aggregate is multiplied."""
    return [
        (reading.aggregate, at, factor * float(reading.factor))
        for reading in source.readings
        for at, factor in enumerate(costs[reading.aggregate].readings[reading.name])
    ]


def _gradients(recipe: Recipe, contract: Contract) -> list[np.ndarray]:
    """How fast the statistic changes with each primitive, at the reference values."""
    if recipe.linear:
        return [np.ones_like(_PLACES)]
    at = _reference(recipe.needs, contract)
    found = []
    for place, value in enumerate(at):
        step = _BUMP * (np.abs(value) + 1e-9)
        above, below = ([*at[:place], value + sign * step, *at[place + 1 :]] for sign in (1, -1))
        with np.errstate(all="ignore"):
            slope = (recipe.made(*above) - recipe.made(*below)) / (2 * step)
        found.append(np.nan_to_num(slope))
    return found


def _reference(needs: Sequence[Primitive], contract: Contract) -> list[np.ndarray]:
    """The primitives of 1,000 rows whose values spread around each of five places between the bounds."""
    rows = np.full_like(_PLACES, _ROWS)
    means: list[np.ndarray] = []
    spreads: list[np.ndarray] = []
    made: list[np.ndarray] = []
    for number, need in enumerate(needs):
        if need.kind in ("rows", "present"):
            made.append(rows)
            continue
        assert need.of is not None
        span = span_of(need.of, contract)  # type: ignore[arg-type]  # sums are of values
        low, high = float(span.step * span.low), float(span.step * span.high)
        mean = low + _PLACES * (high - low)
        variance = _PLACES * (1 - _PLACES) * (high - low) ** 2 / 3
        if need.kind == "square":
            made.append(_ROWS * (variance + mean**2))
        elif number == 3:  # the product, after n, Σx and Σy
            product = means[0] * means[1] + _CORRELATION * np.sqrt(spreads[0] * spreads[1])
            made.append(_ROWS * product)
        else:
            made.append(_ROWS * mean)
            means.append(mean)
            spreads.append(variance)
    return made
