"""What a value or a predicate of one column is at one number of that column, worked out without an engine.

The rules for what is missing are those of `expression`; None stands for it. Texts have no part in this: `of_one_column`
says whether a node reads one column of numbers and nothing else.
"""

from __future__ import annotations

from fractions import Fraction

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
    Predicate,
    Text,
    Times,
    Value,
    nodes,
)

__all__ = ["of_one_column", "predicate_at", "value_at"]


def of_one_column(node: Node) -> Column | None:
    """The one column of numbers that a node reads; None where there are several, none, or a text."""
    parts = tuple(nodes(node))
    columns = {part for part in parts if isinstance(part, Column)}
    if len(columns) != 1 or any(isinstance(part, Text) for part in parts):
        return None
    return columns.pop()


def value_at(value: Value, number: Fraction | None) -> Fraction | None:
    """The value where its column has that number, or none."""
    match value:
        case Column():
            return number
        case Constant(constant):
            return constant
        case Plus(left, right) | Minus(left, right) | Times(left, right):
            one, other = value_at(left, number), value_at(right, number)
            if one is None or other is None:
                return None
            if isinstance(value, Times):
                return one * other
            return one + other if isinstance(value, Plus) else one - other
        case Clamped(inner, low, high):
            found = value_at(inner, number)
            return None if found is None else min(max(found, low), high)
        case Case(branches, otherwise):
            for when, then in branches:
                if predicate_at(when, number):
                    return value_at(then, number)
            return None if otherwise is None else value_at(otherwise, number)


def predicate_at(predicate: Predicate, number: Fraction | None) -> bool | None:
    """Whether the predicate is true, false, or neither."""
    match predicate:
        case Compare(left, sign, right):
            one, other = value_at(left, number), value_at(right, number)
            if one is None or other is None:
                return None
            order = (one > other) - (one < other)
            return order in {"<": (-1,), "<=": (-1, 0), "=": (0,), "<>": (-1, 1), ">": (1,), ">=": (0, 1)}[sign]
        case Missing(of) if not isinstance(of, Text):
            return value_at(of, number) is None
        case Not(part):
            found = predicate_at(part, number)
            return None if found is None else not found
        case And(parts):
            each = [predicate_at(part, number) for part in parts]
            return False if False in each else None if None in each else True
        case Or(parts):
            each = [predicate_at(part, number) for part in parts]
            return True if True in each else None if None in each else False
    raise AssertionError(type(predicate))
