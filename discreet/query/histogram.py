"""Statistics of one column read off one noisy histogram of it, where that errs less than measuring each by itself.

1. All statistics that are functions of one column in the same cells can be read off counts of its values: quantiles,
   and whatever rests on sums over rows, such as many ranges. One budget serves them all.
2. The column's grid is cut only where something that is asked for changes: counts of ranges need as many intervals as
   they have ends. Quantiles and sums of the value itself need every step.
3. Many intervals in one range add up their noise. A tree counts sets of intervals too, at levels that share the budget,
   and reads by least squares (`measure.nested`).
4. The error of a reading is known before anything is spent: its weights on the counts, times the noise of one.

A demand then falls into pieces in several ways (`partitions_of`); `design` takes the one with the least errors. Only
contract, question and budget are used.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from discreet.data.contract import Contract
from discreet.measure.expression import (
    And,
    Case,
    Clamped,
    Column,
    Compare,
    Constant,
    Minus,
    Missing,
    Node,
    Not,
    Or,
    Plus,
    Text,
    Times,
)
from discreet.measure.groups import axis_of
from discreet.measure.intervals import CountedIntervals, Cut, prepare_intervals
from discreet.measure.nested import best_weights
from discreet.measure.noisy import NoisyVector
from discreet.measure.part import Released
from discreet.measure.span import span_of
from discreet.measure.worked import of_one_column, value_at
from discreet.query.allowance import Allowance
from discreet.query.demand import Demand
from discreet.query.piece import (
    COUNTS_AT_MOST,
    OF_RANK,
    PLACES_AT_MOST,
    Candidate,
    Intervals,
    Piece,
    Reads,
    is_end,
    note_of_counts,
    pieces_of,
    settled_recipe,
)
from discreet.query.recipe import Primitive, Recipe
from discreet.query.statistic import Distinct, Persons, Rank, Statistic
from discreet.query.strategy import Expected, expected_of, noise_deviation
from discreet.query.way import Combination, Reading

__all__ = ["partitions_of"]

_FAN_OUTS = (2, 4, 8, 16, 32)
_TREE_FROM, _STEPS_OF_SUMS = 8, 32
# Squares of errors of larger weights are no floats.
_LARGEST = 1 << 128


def partitions_of(demand: Demand, contract: Contract) -> tuple[tuple[Piece, ...], ...]:
    """Every way worth comparing of a demand into pieces: the plain one, and with histograms of some columns."""
    plain = pieces_of(demand, contract)
    if demand.found:
        return (plain,)
    families = _families(demand, contract)
    chosen = [(one,) for one in families]
    every = [*chosen, tuple(families)] if len(families) > 1 else chosen
    others = (_with_histograms(demand, contract, {one: families[one] for one in some}) for some in every)
    return (plain, *(one for one in others if one is not None))


def _families(demand: Demand, contract: Contract) -> dict[Column, list[Statistic]]:
    """The statistics that are functions of one column, by column; how many rows there are is one of any column."""
    found: dict[Column, list[Statistic]] = {}
    neutral = []
    for one in demand.statistics:
        of = _column_of(one, contract)
        if of == ():
            neutral.append(one)
        elif len(of) == 1 and of[0] is not None:
            found.setdefault(of[0], []).append(one)
    # Quantiles alone have their own histogram among their candidates.
    several = {column: [*ones, *neutral] for column, ones in found.items()}
    return {column: ones for column, ones in several.items() if not all(isinstance(one, Rank) for one in ones)}


def _column_of(statistic: Statistic, contract: Contract) -> tuple[Column | None, ...]:
    """The columns a statistic is a function of, without any for the number of rows; None for what has no histogram."""
    if isinstance(statistic, Rank):
        return (statistic.value if isinstance(statistic.value, Column) and not is_end(statistic) else None,)
    recipe = settled_recipe(statistic, contract)
    persons = isinstance(statistic, Persons) and not contract.unit.is_row
    if recipe is None or persons or isinstance(statistic, Distinct):
        return (None,)
    values = (need.of for need in recipe.needs if need.kind != "rows")
    return tuple({None if one is None or isinstance(one, Text) else of_one_column(one) for one in values})


def _with_histograms(
    demand: Demand, contract: Contract, families: Mapping[Column, Sequence[Statistic]]
) -> tuple[Piece, ...] | None:
    """The pieces with one histogram for each of these columns, or None where one of them cannot have any."""
    pieces: list[Piece] = []
    left = list(demand.statistics)
    for column, statistics in families.items():
        own = [one for one in statistics if one in left]
        grid = _grid(column, own, demand, contract)
        if grid is None:
            return None
        left = [one for one in left if one not in own]
        pieces.append(_piece(grid, demand))
    rest = pieces_of(dataclasses.replace(demand, statistics=tuple(left)), contract) if left else ()
    return (*pieces, *rest)


@dataclass(frozen=True, kw_only=True)
class _Grid:
    """A cut column, what is read off its intervals, and by what each interval is multiplied for each primitive."""

    contract: Contract
    cut: Cut
    statistics: tuple[Statistic, ...]
    recipes: Mapping[Statistic, Recipe]
    weights: Mapping[Primitive, tuple[Fraction, ...]]

    @property
    def ranks(self) -> tuple[Rank, ...]:
        return tuple(one for one in self.statistics if isinstance(one, Rank))

    @property
    def of_ranges(self) -> bool:
        """Whether something is asked that is the same over many steps: a tree has no other use."""
        return any(need.of not in (None, self.cut.column) for need in self.weights)

    @cached_property
    def intervals(self) -> int:
        return axis_of(self.cut.group(self.contract), self.contract).size

    @cached_property
    def floats(self) -> np.ndarray:
        """The weights, (primitives, intervals). Where null is a key, its cell stands last and is not read."""
        found = np.zeros((len(self.weights), self.intervals))
        for at, weights in enumerate(self.weights.values()):
            found[at, : len(weights)] = [float(one) for one in weights]
        return found


def _grid(column: Column, statistics: Sequence[Statistic], demand: Demand, contract: Contract) -> _Grid | None:
    """The coarsest cut off which all of it can be read, or None where there is none that is small enough."""
    recipes = {one: recipe for one in statistics if (recipe := settled_recipe(one, contract)) is not None}
    needs = tuple(dict.fromkeys(need for recipe in recipes.values() for need in recipe.needs))
    ranks = len(recipes) < len(statistics)
    starts = _starts(column, needs, contract, every=ranks)
    if starts is None:
        return None
    span = span_of(column, contract)
    read = [[_weight(need, span.step * start) for need in needs] for start in starts]
    nothing = [_weight(need, None) for need in needs]
    if not contract.unit.is_row and not _weighed_alike(needs, starts, nothing, ranks, column, contract):
        return None
    if not ranks:
        kept = [0, *(at for at, (one, other) in enumerate(pairwise(read), start=1) if one != other)]
        starts, read = tuple(starts[at] for at in kept), [read[at] for at in kept]
    missing = span.optional and any(nothing)
    columns = [*read, nothing] if missing else read
    grid = _Grid(
        contract=contract,
        cut=Cut(column, starts, missing),
        statistics=tuple(statistics),
        recipes=recipes,
        weights={need: tuple(one[at] for one in columns) for at, need in enumerate(needs)},
    )
    size = grid.intervals
    counts = size * math.prod(axis_of(group, contract).size for group in demand.by)
    small = 2 <= size <= PLACES_AT_MOST and counts <= COUNTS_AT_MOST
    return grid if small and all(abs(one) <= _LARGEST for weights in grid.weights.values() for one in weights) else None


def _starts(column: Column, needs: Sequence[Primitive], contract: Contract, *, every: bool) -> tuple[int, ...] | None:
    """Where intervals begin: where values can change, if constants say it; else at every step, if these are few."""
    span = span_of(column, contract)
    # Sums of the value alone are served by one mixture: a histogram can err less only where steps are few.
    most = PLACES_AT_MOST if every or any(need.of not in (None, column) for need in needs) else _STEPS_OF_SUMS
    turns = None if every else _turns(need.of for need in needs if need.of is not None)
    if turns is not None:
        found = {math.ceil(one / span.step) for one in turns} | {math.floor(one / span.step) + 1 for one in turns}
        return (span.low, *sorted(one for one in found if span.low < one <= span.high))
    return tuple(range(span.low, span.high + 1)) if span.width < most else None


def _turns(parts: Iterable[Node]) -> set[Fraction] | None:
    """The numbers at which nodes of one column can change, if they only compare it with numbers; else None."""
    found: set[Fraction] = set()
    for part in parts:
        match part:
            case Constant() | Missing(Column()):
                continue
            case Compare(Column(), _, Constant(number)) | Compare(Constant(number), _, Column()):
                found.add(number)
                continue
            case Column():
                return None
        inner = _turns(_inside(part))
        if inner is None:
            return None
        found |= inner
    return found


def _inside(part: Node) -> Iterator[Node]:
    match part:
        case Plus(left, right) | Minus(left, right) | Times(left, right) | Compare(left, _, right):
            yield from (left, right)
        case Clamped(inner) | Not(inner) | Missing(inner):
            yield inner
        case And(parts) | Or(parts):
            yield from parts
        case Case(branches, otherwise):
            for when, then in branches:
                yield from (when, then)
            if otherwise is not None:
                yield otherwise


def _weight(need: Primitive, number: Fraction | None) -> Fraction:
    """What a row with that number adds to a primitive."""
    if need.kind == "rows" or need.of is None or isinstance(need.of, Text):
        return Fraction(1)
    value = number if isinstance(need.of, Column) else value_at(need.of, number)
    if value is None:
        return Fraction(0)
    return {"present": Fraction(1), "sum": value, "square": value * value}[need.kind]


def _weighed_alike(
    needs: Sequence[Primitive],
    starts: Sequence[int],
    nothing: Sequence[Fraction],
    ranks: bool,
    column: Column,
    contract: Contract,
) -> bool:
    """Whether a person's rows count as much as where each statistic is measured by itself: those with the value do."""
    span = span_of(column, contract)
    values = [need.of for need in needs if need.of is not None and not isinstance(need.of, Text)]
    there = all(value_at(value, span.step * start) is not None for value in values for start in starts)
    return there and not (span.optional and any(nothing) and ranks)


def _piece(grid: _Grid, demand: Demand) -> Piece:
    def candidates(allowance: Allowance) -> tuple[Candidate, ...]:
        plain = _candidate(grid, demand, allowance, None)
        if grid.ranks or not grid.of_ranges or grid.intervals < _TREE_FROM:
            return (plain,)
        trees = (_candidate(grid, demand, allowance, one) for one in _FAN_OUTS if one < grid.intervals)
        return tuple(sorted((plain, min(trees, key=lambda one: one.score)), key=lambda one: one.score))

    return Piece(statistics=grid.statistics, candidates=candidates, together=True)


def _candidate(grid: _Grid, demand: Demand, allowance: Allowance, fan_out: int | None) -> Candidate:
    laplace = allowance.law == "laplace"
    part = prepare_intervals(
        grid.cut,
        grid.contract,
        epsilon=allowance.loss if laplace else None,
        rho=None if laplace else allowance.loss,
        by=demand.by,
        where=demand.where,
        fan_out=fan_out,
    )
    weights = best_weights(part.levels, grid.floats)
    moved, unit = part.proof.parts[0].moved, 2.0**part.proof.bits
    deviation = noise_deviation(moved.l1 / unit, math.sqrt(moved.l2_squared) / unit, allowance, 1 / len(part.levels))
    covariance = deviation**2 * sum((one @ one.T for one in weights), np.zeros((len(grid.weights),) * 2))
    at = {need: place for place, need in enumerate(grid.weights)}

    def expected(statistic: Statistic) -> Expected:
        if isinstance(statistic, Rank):
            return Expected(part.places.ranks_off(statistic.q), per_row=False, unit=OF_RANK)
        recipe = grid.recipes[statistic]
        some = [at[need] for need in recipe.needs]
        return expected_of(recipe, grid.contract, covariance[np.ix_(some, some)])

    what = "a histogram" if fan_out is None else f"a tree of sets of {fan_out}"
    return Candidate(
        name=f"read off {what} over {len(part.levels[-1])} intervals of {grid.cut.column.name}, {allowance.law} noise",
        allowance=allowance,
        expected=tuple(expected(one) for one in grid.statistics),
        build=lambda: part,
        sources=_Sources(grid, part, weights),
        reads={one: _reads(part, one) for one in grid.ranks},
        intervals={one: _intervals(part, one) for one in grid.ranks},
        notes=tuple(note_of_counts(one, part.places) for one in grid.ranks),
    )


class _Sources(Mapping[Primitive, Combination]):
    """By what each count is multiplied for each primitive: exact where there is one level."""

    def __init__(self, grid: _Grid, part: CountedIntervals, weights: Sequence[np.ndarray]) -> None:
        self._grid, self._part, self._weights = grid, part, weights
        self._places = {need: at for at, need in enumerate(grid.weights)}

    def __iter__(self) -> Iterator[Primitive]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, need: Primitive) -> Combination:
        at = self._places[need]
        if len(self._part.levels) == 1:
            each = [self._grid.weights[need]]
        else:
            each = [tuple(Fraction(float(one)) for one in level[at]) for level in self._weights]
        levels = zip(self._part.plan.aggregates, each, strict=True)
        return Combination(tuple(Reading(level, "sets", weights=weights) for level, weights in levels))


def _reads(part: CountedIntervals, rank: Rank) -> Reads:
    def reads(released: Released) -> Sequence[object]:
        assert isinstance(released, NoisyVector)
        return part.counted(released).values(rank.q)

    return reads


def _intervals(part: CountedIntervals, rank: Rank) -> Intervals:
    def intervals(released: Released, coverage: Fraction) -> Sequence[tuple[Fraction, Fraction]]:
        assert isinstance(released, NoisyVector)
        return part.counted(released).intervals(rank.q, coverage)

    return intervals
