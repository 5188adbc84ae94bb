"""Groups with public keys: every cell is there, in a fixed order, whatever the data hold.

* `Categories`: one cell for each key of a category or a boolean, in the contract's order or the one given.
* `Each`: one cell for each step of a value, from its least to its largest.
* `Bins`: half-open intervals [a, b) between ascending edges; the last one is closed.
* `Magnitudes`: intervals of numbers between 1, 2, 5, 10, 20 … steps on either side of zero, which need no bounds.

A column whose contract says `nulls: key` has one more cell, the last, for what is missing. A row that lies in no cell
of some key is in none of the plan. Cells of several keys are their product, the last key changing fastest.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from math import prod
from typing import Literal, TypeAlias

from discreet.check import Number, exact, known, one_of, some
from discreet.data.column import DecimalColumn, IntegerColumn, NullRule
from discreet.data.contract import Contract
from discreet.errors import ArgumentError
from discreet.measure.expression import Column, Text, Value
from discreet.measure.span import require_askable, span_of

__all__ = [
    "Axis",
    "Bins",
    "Categories",
    "Each",
    "Group",
    "Label",
    "Magnitudes",
    "axis_of",
    "calendar",
    "cell_labels",
    "cells",
    "magnitudes",
    "step_of",
]

Label: TypeAlias = str | Fraction | tuple[Fraction, Fraction] | None
CalendarUnit: TypeAlias = Literal["day", "week", "month", "year"]
CELLS_AT_MOST = 1 << 20
_EPOCH = datetime.date(1970, 1, 1)
# 1, 2, 5, 10 … up to where numbers of steps are still kept exactly.
_ROUND = tuple(digit * 10**power for power in range(16) for digit in (1, 2, 5))


@dataclass(frozen=True, slots=True)
class Categories:
    """The public keys of a category or a boolean, or some of them."""

    text: Text
    keys: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.keys is not None:
            some("keys", self.keys, step="name each key once")


@dataclass(frozen=True, slots=True)
class Each:
    """Every step of a value between public ends."""

    value: Value


@dataclass(frozen=True, slots=True)
class Bins:
    """Intervals of a value between ascending public edges."""

    value: Value
    edges: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", tuple(exact("edges", edge) for edge in self.edges))
        if len(self.edges) < 2 or any(a >= b for a, b in pairwise(self.edges)):
            raise ArgumentError("edges", found="too few, or not ascending", right="two or more", step="sort the edges")

    @classmethod
    def even(cls, value: Value, low: str | Number, high: str | Number, bins: int) -> Bins:
        """So many intervals of one width."""
        start, end = exact("low", low), exact("high", high)
        if not 1 <= bins <= CELLS_AT_MOST:
            raise ArgumentError("bins", found=f"{bins}", right=f"1 to {CELLS_AT_MOST:,}", step="give another number")
        return cls(value, tuple(start + (end - start) * at / bins for at in range(bins + 1)))


@dataclass(frozen=True, slots=True)
class Magnitudes:
    """Intervals of a column of numbers that its step alone fixes; what lies beyond the last of them is in it."""

    column: str


Group: TypeAlias = Categories | Each | Bins | Magnitudes


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The cells of one group. With `missing`, the last of them is for what is missing."""

    labels: tuple[Label, ...]
    missing: bool

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.labels)


def axis_of(group: Group, contract: Contract) -> Axis:
    """The cells of a group under a contract, or a refusal."""
    labels: tuple[Label, ...]
    match group:
        case Categories(text, chosen):
            column = text.name
            require_askable(column, contract)
            public = contract.columns[column].public_keys
            if public is None:
                raise ArgumentError(
                    f"column {column!r}",
                    found="no public keys",
                    right="groups are public before the data are read",
                    step="declare it as a category with its keys",
                )
            labels = public if chosen is None else tuple(known("key", key, public, step="name keys") for key in chosen)
        case Each(value):
            span = span_of(value, contract)
            _require_few(span.width + 1)
            labels = tuple(span.step * at for at in range(span.low, span.high + 1))
            column = value.name if isinstance(value, Column) else ""
        case Bins(value, edges):
            span_of(value, contract)
            labels = tuple(pairwise(edges))
            column = value.name if isinstance(value, Column) else ""
        case Magnitudes(name):
            step = step_of(name, contract)
            labels, column = tuple((step * low, step * high) for _, low, high in magnitudes()), ""
    missing = column in contract.columns and contract.columns[column].nulls is NullRule.KEY
    return Axis(labels=(*labels, None) if missing else labels, missing=missing)


def cells(axes: Sequence[Axis]) -> int:
    """How many cells all groups together have."""
    count = prod(axis.size for axis in axes)
    _require_few(count)
    return count


def cell_labels(axes: Sequence[Axis]) -> Iterator[tuple[Label, ...]]:
    """One label of each group for every cell, in order."""
    return product(*(axis.labels for axis in axes))


def magnitudes() -> tuple[tuple[int, int, int], ...]:
    """Each interval in steps: its first number, and the round ends to show. Single numbers up to 2, then (2, 5] …"""
    above = [(1, 1, 1), (2, 2, 2), *((low + 1, low, high) for low, high in pairwise(_ROUND[1:]))]
    below = [(-high, -high, -low) for _, low, high in reversed(above)]
    return (*below, (0, 0, 0), *above)


def step_of(name: str, contract: Contract) -> Fraction:
    """The least difference of two numbers of a column, bounded or not."""
    require_askable(name, contract)
    facts = contract.columns[name]
    if not isinstance(facts, IntegerColumn | DecimalColumn) or name == contract.unit.person:
        raise ArgumentError(
            f"column {name!r}",
            found="a column that tells persons apart" if name == contract.unit.person else f"one of type {facts.type}",
            right="numbers have magnitudes",
            step="name a column of type integer or decimal",
        )
    return facts.step if isinstance(facts, DecimalColumn) else Fraction(1)


def calendar(column: Column, unit: CalendarUnit, first: datetime.date, last: datetime.date) -> Bins:
    """Bins of a date column: the days, weeks from Monday, months or years from that of `first` to that of `last`.

    The last of them ends with its own last day.
    """
    one_of("unit", unit, ("day", "week", "month", "year"))
    start, edges = _floor(first, unit), []
    while start <= last:
        edges.append(start)
        start = _floor(start + datetime.timedelta(days={"day": 1, "week": 7, "month": 31, "year": 366}[unit]), unit)
        _require_few(len(edges))
    # Whole days, so the last day of the last interval closes it.
    ends = [*edges, start - datetime.timedelta(days=1)] if unit != "day" else [*edges, start]
    days = [Fraction((day - _EPOCH).days) for day in ends]
    return Bins(column, tuple(days))


def _floor(day: datetime.date, unit: CalendarUnit) -> datetime.date:
    match unit:
        case "week":
            return day - datetime.timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "year":
            return day.replace(month=1, day=1)
    return day


def _require_few(count: int) -> None:
    if count > CELLS_AT_MOST:
        raise ArgumentError(
            "groups",
            found=f"{count:,} cells",
            right=f"a plan has at most {CELLS_AT_MOST:,}",
            step="group by fewer or coarser keys",
        )
