"""How each statistic follows from sums: the primitives it needs, and what it makes of them.

    primitive   of      what it is in a cell
    rows                how many rows there are
    present     value   how many rows have the value
    sum         value   their sum
    square      value   the sum of their squares
    persons             how many units there are
    distinct    group   how many of its values have a unit

Means, variances and correlations are functions of sums; only the sums are measured. Over two values all sums run over
the rows that have both. A variance is never below 0 and a correlation never beyond ±1: moving them there is
post-processing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from discreet.measure.expression import Case, Missing, Not, Text, Times, Value
from discreet.measure.groups import Group
from discreet.query.statistic import (
    Correlation,
    Covariance,
    Distinct,
    Mean,
    Persons,
    Present,
    Rows,
    Statistic,
    Sum,
    Variance,
)
from discreet.query.term import Numbers

__all__ = ["Kind", "Primitive", "Recipe", "recipe_of"]

Kind: TypeAlias = Literal["rows", "present", "sum", "square", "persons", "distinct"]


@dataclass(frozen=True, slots=True)
class Primitive:
    """One sum in every cell."""

    kind: Kind
    of: Value | Text | None = None
    group: Group | None = None


@dataclass(frozen=True, slots=True)
class Recipe:
    """The primitives of a statistic, and the function of their arrays. `linear` says that it is the one primitive."""

    needs: tuple[Primitive, ...]
    made: Callable[..., Numbers]
    linear: bool = False


def recipe_of(statistic: Statistic) -> Recipe | None:
    """The recipe, or None for what is chosen instead of summed: ranks and keys."""
    match statistic:
        case Rows():
            return _plain("rows")
        case Persons():
            return _plain("persons")
        case Distinct(group):
            return Recipe((Primitive("distinct", group=group),), lambda number: number, linear=True)
        case Present(of):
            return _plain("present", of)
        case Sum(value):
            return _plain("sum", value)
        case Mean(value):
            return Recipe((Primitive("present", value), Primitive("sum", value)), _mean)
        case Variance(value, sample, root):
            needs = tuple(Primitive(kind, value) for kind in _MOMENTS)
            return Recipe(needs, lambda n, s, q: _variance(n, s, q, sample=sample, root=root))
        case Covariance(left, right, sample):
            return Recipe(_pair(left, right)[:4], lambda n, x, y, xy: _covariance(n, x, y, xy, sample=sample))
        case Correlation(left, right):
            return Recipe(_pair(left, right), _correlation)
    return None


_MOMENTS: tuple[Kind, ...] = ("present", "sum", "square")


def _plain(kind: Kind, of: Value | Text | None = None) -> Recipe:
    return Recipe((Primitive(kind, of),), lambda number: number, linear=True)


def _pair(left: Value, right: Value) -> tuple[Primitive, ...]:
    """n, Σx, Σy, Σxy, Σx², Σy² over the rows that have both."""
    x, y, both = _where(left, right), _where(right, left), Times(left, right)
    return (
        Primitive("present", both),
        Primitive("sum", x),
        Primitive("sum", y),
        Primitive("sum", both),
        Primitive("square", x),
        Primitive("square", y),
    )


def _where(value: Value, other: Value) -> Value:
    """The value in rows that have the other one too."""
    return value if value == other else Case(((Not(Missing(other)), value),))


def _mean(n: Numbers, s: Numbers) -> Numbers:
    return np.where(n > 0, s / n, np.nan)


def _variance(n: Numbers, s: Numbers, q: Numbers, *, sample: bool, root: bool) -> Numbers:
    over = n - 1 if sample else n
    variance = np.maximum(np.where(over > 0, (q - s * s / n) / over, np.nan), 0)
    return np.sqrt(variance) if root else variance


def _covariance(n: Numbers, x: Numbers, y: Numbers, xy: Numbers, *, sample: bool) -> Numbers:
    over = n - 1 if sample else n
    return np.where(over > 0, (xy - x * y / n) / over, np.nan)


def _correlation(n: Numbers, x: Numbers, y: Numbers, xy: Numbers, xx: Numbers, yy: Numbers) -> Numbers:
    spread = (xx - x * x / n) * (yy - y * y / n)
    known = (n > 0) & (spread > 0)
    return np.where(known, np.clip((xy - x * y / n) / np.sqrt(np.where(known, spread, 1)), -1, 1), np.nan)
