"""A plan: what is to be measured, as frozen data that a contract can be asked about.

A plan filters the rows, sorts them into the cells of its groups, and adds up, in every cell, what each row contributes
to each aggregate:

    Count       how many rows, or how many have a value: one number a cell
    Total       the sum of a value, between its ends: one number a cell
    Mixture     the sums of C(d,j)·(x − lo)^j·(hi − x)^(d−j) for j = 0 … d: what one row contributes is never below zero
                and always adds up to (hi − lo)^d, so the noise of one number serves them all
                · Endpoints, d = 1: Σ(hi − x) and Σ(x − lo), from which count, sum and mean are read
                · Moments, d = 2: three sums, from which count, sum and sum of squares are read
                · `whole`: one sum more, (hi − lo)^d for each row without the value, from which all rows are read too
    Persons     how many units have a row in the cell; it stands alone in its plan

A histogram is a count over `Bins`; it also feeds quantiles. What is read of an aggregate, its readings, are fixed
multiples of its numbers.

What it does not promise: that the plan can be answered; `bounds.prove` asks the contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import comb
from operator import add
from typing import Any, TypeAlias, TypeVar

from discreet.check import one_of
from discreet.errors import ArgumentError
from discreet.measure.expression import Predicate, Text, Value, column_names, plain, require_small
from discreet.measure.groups import Bins, Group
from discreet.measure.span import Span

__all__ = [
    "Aggregate",
    "Count",
    "Mixture",
    "Persons",
    "Plan",
    "Total",
    "endpoints",
    "histogram",
    "moments",
]

_PARTS_AT_MOST = 100
# Whole numbers, or arrays of them.
Number = TypeVar("Number", bound=Any)
Readings: TypeAlias = Mapping[str, tuple[Fraction, ...]]


@dataclass(frozen=True, slots=True)
class Count:
    """Rows, or rows that have that value or text."""

    of: Value | Text | None = None


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of a value over the rows that have one."""

    value: Value


@dataclass(frozen=True, slots=True)
class Mixture:
    """The sums of the Bernstein polynomials of a value between its ends, over the rows that have one.

    `whole` adds a sum for the rows that have none, so that every row contributes as much.
    """

    value: Value
    degree: int
    whole: bool = False

    def __post_init__(self) -> None:
        one_of("degree", self.degree, (1, 2))


@dataclass(frozen=True, slots=True)
class Persons:
    """Units with at least one row."""


Aggregate: TypeAlias = Count | Total | Mixture | Persons


def endpoints(value: Value, *, whole: bool = False) -> Mixture:
    """Σ(hi − x) and Σ(x − lo): count, sum and mean for one budget."""
    return Mixture(value, 1, whole)


def moments(value: Value, *, whole: bool = False) -> Mixture:
    """Three sums: count, sum and sum of squares for one budget."""
    return Mixture(value, 2, whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Aggregates over the cells of groups, of the rows that a filter keeps."""

    aggregates: tuple[Aggregate, ...]
    by: tuple[Group, ...] = ()
    where: Predicate | None = None

    def __post_init__(self) -> None:
        if not 1 <= len(self.aggregates) <= _PARTS_AT_MOST:
            raise ArgumentError(
                "aggregates",
                found=f"{len(self.aggregates)}",
                right=f"1 to {_PARTS_AT_MOST}",
                step="ask for something, or for less at once",
            )
        if Persons() in self.aggregates and len(self.aggregates) > 1:
            raise ArgumentError(
                "aggregates",
                found="persons beside others",
                right="persons are bounded by cells and rows by rows",
                step="ask for persons in a plan of their own",
            )
        require_small((self.aggregates, self.by, self.where))

    @property
    def columns(self) -> frozenset[str]:
        """The columns it names."""
        return column_names((self.aggregates, self.by, self.where))

    def as_json(self) -> object:
        """The plan as plain values; numbers as exact text."""
        return plain((self.aggregates, self.by, (self.where,)))


def histogram(bins: Bins, *, where: Predicate | None = None) -> Plan:
    """How many rows lie in each bin."""
    return Plan(aggregates=(Count(),), by=(bins,), where=where)


def width(aggregate: Aggregate) -> int:
    """How many numbers an aggregate has in a cell."""
    return aggregate.degree + 1 + aggregate.whole if isinstance(aggregate, Mixture) else 1


def readings(aggregate: Aggregate, span: Span | None) -> Readings:
    """What is read of an aggregate: names, and by what its numbers are multiplied, for numbers in steps of the span."""
    match aggregate, span:
        case Mixture(degree=degree, whole=whole), Span(step=step, low=low, width=length):
            # Σ over j of j·B_j is d·y·(hi − lo)^(d−1) with y = x − lo, and B_d is y^d.
            count = tuple(Fraction(1, length**degree) for _ in range(degree + 1))
            above = tuple(Fraction(j, degree * length ** (degree - 1)) for j in range(degree + 1))
            read = {"count": count, "sum": tuple(step * (low * n + y) for n, y in zip(count, above, strict=True))}
            if degree == 2:
                square = (Fraction(0), Fraction(0), Fraction(1))
                read["sum of squares"] = tuple(
                    step**2 * (low**2 * n + 2 * low * y + yy) for n, y, yy in zip(count, above, square, strict=True)
                )
            if whole:
                read = {name: (*factors, Fraction(0)) for name, factors in read.items()}
                read["rows"] = (*count, count[0])
            return read
        case Total(), Span(step=step):
            return {"sum": (step,)}
        case Persons(), _:
            return {"persons": (Fraction(1),)}
    return {"count": (Fraction(1),)}


def mixed(degree: int, length: int, powers: tuple[Number, ...]) -> tuple[Number, ...]:
    """The sums of the Bernstein polynomials, from Σ1, Σy, … Σy^d."""

    def one(j: int) -> Number:
        terms = (
            comb(degree, j) * comb(degree - j, i) * (-1) ** i * length ** (degree - j - i) * powers[i + j]
            for i in range(degree - j + 1)
        )
        total: Number = reduce(add, terms)
        return total

    return tuple(one(j) for j in range(degree + 1))
