"""The statistics a question may ask for in each cell, as frozen values over `measure.expression`.

A statistic says what is wanted, not how it is measured: `strategy` lists the ways. A FILTER clause is part of the value
(a case without `otherwise` is missing where the filter is not true), so that a filter is nothing special further down.

    Rows        COUNT(*)                        Present     COUNT(x): rows that have a value or text
    Persons     COUNT(DISTINCT person)          Distinct    COUNT(DISTINCT x) over public cells
    Sum, Mean, Variance                         Covariance, Correlation of two values
    Rank        MEDIAN, QUANTILE_…; an extreme is a rank off the end
    Most        MODE, TOP k, ARG MAX: public keys, the k with the most rows or the largest sum, in order
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from discreet.check import at_least, exact, one_of
from discreet.errors import ArgumentError
from discreet.measure.expression import Text, Value
from discreet.measure.groups import Group

__all__ = [
    "Correlation",
    "Covariance",
    "Distinct",
    "Mean",
    "Most",
    "Persons",
    "Present",
    "Rank",
    "Rows",
    "Statistic",
    "Sum",
    "Variance",
]


@dataclass(frozen=True, slots=True)
class Rows:
    """How many rows there are."""


@dataclass(frozen=True, slots=True)
class Present:
    """How many rows have that value or text."""

    of: Value | Text


@dataclass(frozen=True, slots=True)
class Persons:
    """How many units there are; rows, where each row is one."""


@dataclass(frozen=True, slots=True)
class Distinct:
    """How many of the group's public cells have at least one row."""

    group: Group


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of a value."""

    value: Value


@dataclass(frozen=True, slots=True)
class Mean:
    """The sum of a value over the number of rows that have it."""

    value: Value


@dataclass(frozen=True, slots=True)
class Variance:
    """The mean squared deviation, over n or, for a sample, over n − 1; its root for a standard deviation."""

    value: Value
    sample: bool = True
    root: bool = False


@dataclass(frozen=True, slots=True)
class Covariance:
    """The mean product of two deviations, over the rows that have both, over n or, for a sample, n − 1."""

    left: Value
    right: Value
    sample: bool = True


@dataclass(frozen=True, slots=True)
class Correlation:
    """The covariance over both standard deviations, over the rows that have both values."""

    left: Value
    right: Value


@dataclass(frozen=True, slots=True)
class Rank:
    """The value below which that share of the rows lies; `extreme` for MIN and MAX, whose aim lies off the end."""

    value: Value
    q: Fraction
    extreme: Literal["min", "max"] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", exact("q", self.q))
        one_of("extreme", self.extreme, (None, "min", "max"))
        if not 0 <= self.q <= 1:
            raise ArgumentError("q", found=f"{self.q}", right="a quantile lies in [0, 1]", step="give 0.5 for a median")


@dataclass(frozen=True, slots=True)
class Most:
    """The `count` public keys of a group that have the most rows, or the largest sum of `by`, the first one first."""

    group: Group
    count: int = 1
    by: Value | None = None
    largest: bool = True

    def __post_init__(self) -> None:
        at_least("count", self.count, 1)


Statistic: TypeAlias = (
    Rows | Present | Persons | Distinct | Sum | Mean | Variance | Covariance | Correlation | Rank | Most
)
