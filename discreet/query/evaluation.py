"""From released numbers to the rows of an answer: outputs, HAVING, ORDER BY and LIMIT, and the error of each number.

1. Each grouping set is a table of its cells, every one present, in order. Statistics are arrays over them.
2. HAVING keeps cells, ORDER BY and LIMIT sort and cut rows; all of that acts on what was released.
3. What is read of one noisy number has the exact error of the noise's law, and so has a weighted sum of several
   (`joint`), where steps are not coarse. Whatever else is derived from several gets its error by drawing their noise
   again, together: an interval holds the middle of what the exact numbers could be. Cells share one pool of draws, but
   each reads its own stretch of it: ends that few draws find are off by chance, and with one set for all cells every
   interval of a table would be too short, or too long, at once.
4. Rows that were chosen by their noisy values out of more cells are looked at because they came out that way. Their
   intervals are widened so that of all rows shown at most 5 in 100 are expected to miss (Benjamini and Yekutieli 2005):
   of m chosen out of c, each covers 1 − 0.05·m/c.

Quantiles that are read off a histogram have intervals of their own (`measure.places`). Other statistics that are chosen
instead of summed have none; their own words say how far off they may be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from discreet.data.column import DateColumn, DatetimeColumn
from discreet.measure.expression import Column
from discreet.measure.part import Released
from discreet.query.demand import demands_of
from discreet.query.design import Design, Designed
from discreet.query.labels import Shown, as_numbers, shown_labels, shown_value
from discreet.query.piece import settled_recipe
from discreet.query.question import Question
from discreet.query.recipe import Primitive, Recipe
from discreet.query.statistic import Rank, Statistic
from discreet.query.sums import Linear, Sums
from discreet.query.term import Asked, Key, Numbers, Term, asked, evaluate, slopes

__all__ = ["Error", "Evaluation", "evaluated"]

_MISSED = Fraction(1, 20)
_DRAWS_AT_LEAST, _DRAWS_OF_ALL, _DRAWS_AT_MOST = 2_000, 40_000, 200_000
# Draws of all cells together, while each gets between the least number and that of a whole pool; and a pool's for each.
_DRAWS_TO_SHARE, _POOL_OF_A_CELL = 200_000, 40
_NUMBERS_AT_ONCE = 2_000_000
_OUTSIDE = 100


class Error(NamedTuple):
    """The error of one number: its standard deviation, and an interval around it. None where nothing is known."""

    deviation: float | None
    low: float | None
    high: float | None


_UNKNOWN = Error(None, None, None)


class _Cells:
    """The cells of one grouping set, with what was released of them."""

    def __init__(
        self, question: Question, chosen: Sequence[int], designed: Designed, released: Sequence[Released]
    ) -> None:
        designed, released = designed.settled(released)
        self.designed, self._released = designed, released
        self._vectors = designed.vectors(released)
        self._question, self._chosen = question, tuple(chosen)
        # Which keys of the question its cells are told apart by.
        self.grouped = self._chosen
        self.size = designed.cells
        self.recipes = tuple(settled_recipe(one, designed.contract) for one in question.statistics)
        self.labels = self._labels()
        self._linear: dict[Primitive, Linear] = {}
        self._pools: dict[int, dict[Primitive, Numbers]] = {}

    def _labels(self) -> list[list[Shown]]:
        """What each key of the question shows in each cell; None for keys that are not in this set."""
        shown: list[list[Shown]] = [[None] * self.size for _ in self._question.by]
        if not self._chosen:
            return shown
        indices = np.indices([axis.size for axis in self.designed.axes]).reshape(len(self._chosen), -1)
        for at, places in zip(self._chosen, indices, strict=True):
            axis = self.designed.axes[self._chosen.index(at)]
            each = shown_labels(self._question.by[at], axis.labels, self.designed.contract)
            shown[at] = [each[place] for place in places]
        return shown

    @cached_property
    def keys(self) -> list[Numbers]:
        """The keys as arrays for terms."""
        return [as_numbers(labels) for labels in self.labels]

    def linear(self, primitive: Primitive) -> Linear:
        """A primitive in every cell."""
        if primitive not in self._linear:
            assert self.designed.sums is not None
            self._linear[primitive] = self.designed.sums.linear(primitive, self._vectors)
        return self._linear[primitive]

    @cached_property
    def statistics(self) -> list[Numbers]:
        """Every statistic in every cell, as released."""
        with np.errstate(all="ignore"):
            return [self._statistic(at, recipe) for at, recipe in enumerate(self.recipes)]

    def statistic(self, at: int) -> Statistic:
        """One statistic of the question."""
        return self._question.statistics[at]

    def chosen(self, at: int) -> Sequence[object]:
        """A statistic that was chosen, not summed, in every cell."""
        return self.designed.chosen(self._question.statistics[at], self._released)

    def intervals(self, at: int, coverage: Fraction) -> Sequence[tuple[Fraction, Fraction]] | None:
        """Intervals of a chosen statistic, in every cell, where any are known; of dates none are shown."""
        if isinstance(_column(self, at), DateColumn | DatetimeColumn):
            return None
        return self.designed.intervals(self._question.statistics[at], self._released, coverage)

    def pool(self, size: int) -> Mapping[Primitive, Numbers]:
        """So many errors of every sum that the question needs, as they could have been; drawn once for all columns."""
        if size not in self._pools:
            assert self.designed.sums is not None
            needs = dict.fromkeys(need for recipe in self.recipes if recipe is not None for need in recipe.needs)
            self._pools[size] = self.designed.sums.errors(tuple(needs), size)
        return self._pools[size]

    def drawn(self, rows: Sequence[int], errors: Mapping[Primitive, Numbers], draws: int) -> list[Numbers]:
        """Every statistic as it could exactly be in these cells: (rows, draws); what was chosen stays as it is.

        Each cell takes its own stretch of the errors there are.
        """
        at = np.asarray(rows)

        def redrawn(number: int, recipe: Recipe | None) -> Numbers:
            if recipe is None:
                return np.asarray(self.statistics[number][at][:, None])
            return recipe.made(
                *(self.linear(need).floats[at][:, None] - _stretches(errors[need], at, draws) for need in recipe.needs)
            )

        with np.errstate(all="ignore"):
            return [redrawn(number, recipe) for number, recipe in enumerate(self.recipes)]

    def _statistic(self, at: int, recipe: Recipe | None) -> Numbers:
        if recipe is not None:
            return recipe.made(*(self.linear(need).floats for need in recipe.needs))
        return as_numbers([_shown(one) for one in self.chosen(at)])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """The rows of one question's answer."""

    question: Question
    tables: tuple[_Cells, ...]
    # Which table and cell each row shows.
    rows: tuple[tuple[int, int], ...]
    finding: tuple[str, ...] = ()

    @property
    def candidates(self) -> int:
        """How many cells the rows could have been."""
        return sum(table.size for table in self.tables)

    def labels(self, at: int) -> list[Shown]:
        """One key of the question in every row."""
        return [self.tables[table].labels[at][cell] for table, cell in self.rows]

    def values(self, term: Term) -> list[Any]:
        """A term in every row, as the released numbers say; None where it is missing."""
        if isinstance(term, Key):
            return list(self.labels(term.at))
        found = [_plain_values(evaluate(term, table.statistics, table.keys), table.size) for table in self.tables]
        return [found[table][cell] for table, cell in self.rows]

    def shown(self, term: Term) -> list[Any]:
        """A term in every row as people read it: what is chosen out of a column of dates is a date."""
        if not isinstance(term, Asked):
            return self.values(term)
        chosen = [_chosen(table, term.at) for table in self.tables]
        if any(column is None for column in chosen):
            return self.values(term)
        return [column[cell] for (table, cell) in self.rows if (column := chosen[table]) is not None]

    @property
    def notes(self) -> tuple[str, ...]:
        """What is known of statistics that were chosen."""
        lines = (note for table in self.tables for taken in table.designed.taken for note in taken.notes)
        return (*self.finding, *dict.fromkeys(lines))

    @property
    def estimand(self) -> tuple[str, ...]:
        """What was estimated instead of what was asked, where values were clipped."""
        return tuple(
            dict.fromkeys(line for table in self.tables for one in table.designed.taken for line in one.estimand)
        )

    def exact(self, term: Term) -> list[int] | None:
        """A term in every row as whole numbers, where it is a statistic that is nothing else."""
        if not isinstance(term, Asked):
            return None
        columns = []
        for table in self.tables:
            recipe = table.recipes[term.at]
            if recipe is None or not recipe.linear or table.linear(recipe.needs[0]).denominator != 1:
                return None
            columns.append(table.linear(recipe.needs[0]).numerators)
        return [int(columns[table][cell]) for table, cell in self.rows]

    def errors(self, term: Term, *, coverage: Fraction = 1 - _MISSED) -> list[Error]:
        """The error of a term in every row; nothing is known of keys."""
        if not asked(term):
            return [_UNKNOWN for _ in self.rows]
        adjusted = 1 - (1 - coverage) * Fraction(max(1, len(self.rows)), max(1, self.candidates))
        cells: list[list[int]] = [[] for _ in self.tables]
        for number, cell in self.rows:
            cells[number].append(cell)
        found = [
            iter(_errors(term, table, some, adjusted) if some else ())
            for table, some in zip(self.tables, cells, strict=True)
        ]
        return [next(found[number]) for number, _ in self.rows]


def evaluated(question: Question, design: Design, released: Sequence[Released]) -> Evaluation:
    """The rows of a question's answer, out of what each part of the design released."""
    sets = question.sets if question.sets is not None else (tuple(range(len(question.by))),)
    tables = tuple(
        _Cells(question, chosen, design.of(demand), released)
        for chosen, demand in zip(sets, demands_of(question), strict=True)
    )
    rows = [(number, cell) for number, table in enumerate(tables) for cell in _kept(question, table)]
    if question.order:
        rows = _sorted(question, tables, rows)
    last = None if question.limit is None else question.offset + question.limit
    return Evaluation(question=question, tables=tables, rows=tuple(rows[question.offset : last]), finding=design.notes)


def _kept(question: Question, table: _Cells) -> list[int]:
    """The cells that HAVING keeps."""
    if question.having is None:
        return list(range(table.size))
    holds = _spread(evaluate(question.having, table.statistics, table.keys), table.size)
    return [cell for cell in range(table.size) if holds[cell] == 1]


def _sorted(question: Question, tables: Sequence[_Cells], rows: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The rows in the order asked for; equal ones stay as they were, missing ones come last."""
    ordered = list(rows)
    for order in reversed(question.order):
        each = [evaluate(order.term, table.statistics, table.keys) for table in tables]
        if isinstance(order.term, Key):
            each = [table.keys[order.term.at] for table in tables]
        plain = [_plain_values(values, table.size) for values, table in zip(each, tables, strict=True)]
        values = {row: plain[row[0]][row[1]] for row in rows}
        there = [row for row in ordered if values[row] is not None]
        there.sort(key=lambda row: values[row], reverse=order.descending)
        ordered = there + [row for row in ordered if values[row] is None]
    return ordered


def _errors(term: Term, table: _Cells, cells: Sequence[int], coverage: Fraction) -> list[Error]:
    """Exact where one noisy number is behind a cell, else from draws of all noise together."""
    if isinstance(term, Asked) and table.recipes[term.at] is None:
        return _of_chosen(table.intervals(term.at, coverage), cells)
    sums = table.designed.sums
    if sums is None or any(table.recipes[at] is None for at in asked(term)):
        return [_UNKNOWN for _ in cells]
    weights = _weights(term, table)
    if weights is not None:
        deviation, half = _of_weighted(weights, sums, coverage)
        values = _plain_values(evaluate(term, table.statistics, table.keys), table.size)
        return [Error(deviation, values[cell] - half, values[cell] + half) for cell in cells]
    draws = max(_draws(coverage), min(_DRAWS_OF_ALL, _DRAWS_TO_SHARE // len(cells)))
    pool = max(draws, _DRAWS_OF_ALL, min(_DRAWS_AT_MOST, _POOL_OF_A_CELL * len(cells)))
    errors = table.pool(pool)
    found: list[Error] = []
    step = max(1, _NUMBERS_AT_ONCE // draws)
    for start in range(0, len(cells), step):
        some = cells[start : start + step]
        keys = [key[np.asarray(some)][:, None] for key in table.keys]
        drawn = np.asarray(evaluate(term, table.drawn(some, errors, draws), keys))
        found += _from_draws(np.broadcast_to(drawn, (len(some), draws)), coverage)
    return found


def _of_chosen(intervals: Sequence[tuple[Fraction, Fraction]] | None, cells: Sequence[int]) -> list[Error]:
    """What is known of a statistic that was chosen: its interval, but no standard deviation."""
    if intervals is None:
        return [_UNKNOWN for _ in cells]
    return [Error(None, *map(float, intervals[cell])) for cell in cells]


def _weights(term: Term, table: _Cells) -> dict[Primitive, float] | None:
    """By what each sum is multiplied, where the term is a weighted sum of sums: its error is the same in every cell."""
    found = slopes(term)
    if found is None:
        return None
    weights: dict[Primitive, float] = {}
    for at, slope in found.items():
        recipe = table.recipes[at]
        if recipe is None or not recipe.linear:
            return None
        weights[recipe.needs[0]] = weights.get(recipe.needs[0], 0.0) + slope
    return weights


def _of_weighted(weights: Mapping[Primitive, float], sums: Sums, coverage: Fraction) -> tuple[float, float]:
    """The deviation and half the interval of a weighted sum of sums."""
    if len(weights) == 1:
        ((need, slope),) = weights.items()
        half = sums.half_width(need, coverage)
        if half is not None:
            return abs(slope) * sums.deviation(need), abs(slope) * half
    half = sums.weighted_half_width(weights, coverage)
    if half is not None:
        return sums.weighted_deviation(weights), half
    # One half-width serves all cells, so that it must not rest on few draws.
    errors = sums.errors(tuple(weights), max(_DRAWS_OF_ALL, _draws(coverage)))
    total = sum((slope * errors[need] for need, slope in weights.items()), np.zeros(1))
    half = float(np.quantile(np.abs(total), float(coverage), method="higher"))
    return sums.weighted_deviation(weights), half


def _stretches(errors: Numbers, cells: Numbers, draws: int) -> Numbers:
    """Of a pool of errors so many for each cell: the stretch that is its own, or in turn where cells are more."""
    stretches = len(errors) // draws
    return np.asarray(errors[: stretches * draws].reshape(stretches, draws)[cells % stretches])


def _draws(coverage: Fraction) -> int:
    """Enough that some hundred draws lie outside the interval."""
    return min(_DRAWS_AT_MOST, max(_DRAWS_AT_LEAST, int(_OUTSIDE / (1 - coverage))))


def _from_draws(drawn: Numbers, coverage: Fraction) -> list[Error]:
    """The standard deviation of the draws, and the interval of the middle ones. Where too many draws are missing,
    nothing is known."""
    if drawn.dtype == object:
        return [_UNKNOWN for _ in drawn]
    draws, missing = drawn.shape[1], np.isnan(drawn).sum(axis=1)
    cut = max(0, int((1 - coverage) / 2 * (draws + 1)) - 1)
    # Missing draws sort behind all others.
    ordered = np.partition(np.where(np.isnan(drawn), np.inf, drawn), (cut, draws - 1 - cut), axis=1)
    with np.errstate(all="ignore"):
        deviations = drawn.std(axis=1)
    for at in np.flatnonzero((missing > 0) & (missing <= cut)):
        deviations[at] = np.nanstd(drawn[at])
    ends = ordered[:, [cut, draws - 1 - cut]].tolist()
    each = zip(missing.tolist(), deviations.tolist(), ends, strict=True)
    return [_UNKNOWN if gone > cut else Error(deviation, low, high) for gone, deviation, (low, high) in each]


def _chosen(table: _Cells, at: int) -> list[Shown] | None:
    """A statistic that was chosen, in every cell, or None where it is summed."""
    if table.recipes[at] is not None:
        return None
    column = _column(table, at)
    return [shown_value(one, column) if isinstance(one, Fraction) else _shown(one) for one in table.chosen(at)]


def _column(table: _Cells, at: int) -> object:
    """The column whose values a statistic is chosen from, if it is one."""
    statistic = table.statistic(at)
    if isinstance(statistic, Rank) and isinstance(statistic.value, Column):
        return table.designed.contract.columns[statistic.value.name]
    return None


def _shown(value: object) -> Shown:
    return float(value) if isinstance(value, Fraction) else value  # type: ignore[return-value]  # labels, else


def _spread(values: Numbers, size: int) -> Numbers:
    return np.broadcast_to(np.asarray(values), (size,))


def _plain_values(values: Numbers, size: int) -> list[Any]:
    """Every cell as Python's own value; what is not finite is missing."""
    spread = _spread(values, size)
    if spread.dtype == object:
        return [value if value is None or isinstance(value, str) else _finite(float(value)) for value in spread]
    numbers: list[float] = spread.astype(float).tolist()
    return numbers if np.isfinite(spread).all() else [_finite(number) for number in numbers]


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
