"""Statistics in words, as SQL would write them, shortened: for estimates and explanations only."""

from __future__ import annotations

from fractions import Fraction

from discreet.guarantee import number_text
from discreet.measure.expression import Case, Clamped, Column, Constant, Minus, Plus, Text, Times, Value
from discreet.measure.groups import Categories, Group, Magnitudes
from discreet.query.statistic import (
    Correlation,
    Covariance,
    Distinct,
    Mean,
    Most,
    Persons,
    Present,
    Rank,
    Rows,
    Statistic,
    Sum,
    Variance,
)

__all__ = ["statistic_text", "value_text"]


def statistic_text(statistic: Statistic) -> str:
    """One statistic."""
    match statistic:
        case Rows():
            return "COUNT(*)"
        case Persons():
            return "COUNT(DISTINCT person)"
        case Present(of):
            return f"COUNT({value_text(of)})"
        case Distinct(group):
            return f"COUNT(DISTINCT {_group(group)})"
        case Sum(value):
            return f"SUM({value_text(value)})"
        case Mean(value):
            return f"AVG({value_text(value)})"
        case Variance(value, root=root):
            return f"{'STDDEV' if root else 'VARIANCE'}({value_text(value)})"
        case Covariance(left, right):
            return f"COVAR({value_text(left)}, {value_text(right)})"
        case Correlation(left, right):
            return f"CORR({value_text(left)}, {value_text(right)})"
        case Rank(value, q, extreme):
            return f"{extreme.upper()}({value_text(value)})" if extreme else f"QUANTILE({value_text(value)}, {_q(q)})"
        case Most(group, count, by):
            per = "" if by is None else f" by SUM({value_text(by)})"
            return f"TOP {count} {_group(group)}{per}"


def value_text(value: Value | Text) -> str:
    """A value or a text."""
    match value:
        case Column(name) | Text(name):
            return name
        case Constant(number):
            return number_text(number)
        case Plus(left, right):
            return f"{value_text(left)} + {value_text(right)}"
        case Minus(left, right):
            return f"{value_text(left)} - {value_text(right)}"
        case Times(left, right):
            return f"({value_text(left)}) * ({value_text(right)})"
        case Clamped(inner):
            return value_text(inner)
        case Case():
            return "CASE …"


def _group(group: Group) -> str:
    if isinstance(group, Magnitudes):
        return group.column
    return group.text.name if isinstance(group, Categories) else value_text(group.value)


def _q(q: Fraction) -> str:
    return f"{float(q):g}"
