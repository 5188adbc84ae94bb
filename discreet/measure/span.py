"""What is known of a value before any data are read: its grid, the ends it cannot leave, whether it may be missing.

1. A column has the contract's step and bounds; a constant is one step of its own size.
2. Sums and differences go to the coarsest grid that holds both; products multiply steps and ends.
3. A case holds all its branches. Whatever an intermediate value may reach must fit 64 bits, or the plan is refused.
4. In a branch, what its predicate compared is there; so is, further down, what an earlier branch asked to be missing.

What it does not promise: the least ends. An expression that reads one column twice gets the ends of two columns,
except for a square.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from fractions import Fraction
from math import gcd

from discreet.check import known
from discreet.data.column import (
    BooleanColumn,
    CategoryColumn,
    DateColumn,
    DatetimeColumn,
    DecimalColumn,
    IntegerColumn,
    NullRule,
    Role,
    TextColumn,
)
from discreet.data.contract import Contract
from discreet.errors import ArgumentError
from discreet.measure.expression import (
    And,
    Case,
    Clamped,
    Column,
    Compare,
    Constant,
    Minus,
    Missing,
    Not,
    Or,
    Plus,
    Predicate,
    Text,
    Times,
    Value,
    nodes,
)

__all__ = ["LARGEST", "Span", "common_step", "require_answerable", "require_askable", "span_of"]

# Half of what 64 bits hold, so that comparisons may double a number.
LARGEST = 1 << 61
_FIRST, _LAST = datetime.date.min, datetime.date.max
_EPOCH = datetime.date(1970, 1, 1)
_DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A value is a whole number of steps from low to high, or missing if `optional`."""

    step: Fraction
    low: int
    high: int
    optional: bool

    def __post_init__(self) -> None:
        assert self.step > 0
        assert self.low <= self.high
        if max(-self.low, self.high) > LARGEST:
            raise ArgumentError(
                "expression",
                found="values that 64 bits may not hold",
                right=f"every part stays within {LARGEST:,} steps",
                step="clamp its parts, or declare coarser steps",
            )

    @property
    def width(self) -> int:
        """How many steps lie between the ends."""
        return self.high - self.low

    @property
    def size(self) -> int:
        """The largest distance from zero."""
        return max(abs(self.low), abs(self.high))

    def on(self, step: Fraction) -> Span:
        """The same values on a finer grid."""
        factor = self.step / step
        assert factor.denominator == 1
        return Span(step=step, low=self.low * int(factor), high=self.high * int(factor), optional=self.optional)


def require_askable(name: str, contract: Contract) -> None:
    """Refuse columns that may not be asked about. A hidden column does not exist."""
    column = contract.columns.get(name)
    if column is not None and column.role is Role.DIRECT_IDENTIFIER:
        raise ArgumentError(
            f"column {name!r}",
            found="a direct identifier",
            right="what names a person is never asked about",
            step="count persons instead, or ask about another column",
        )
    known("column", name, contract.released, step="name one of the contract's columns")


def require_answerable(part: object, contract: Contract) -> None:
    """Refuse any value, text or predicate, however deep, that the contract cannot make sense of."""
    for node in nodes(part):
        match node:
            case Compare(left, _, right):
                _aligned(span_of(left, contract), span_of(right, contract))
            case Text(name):
                require_askable(name, contract)
                if not isinstance(contract.columns[name], CategoryColumn | BooleanColumn | TextColumn):
                    raise ArgumentError(
                        f"column {name!r}",
                        found=f"a column of type {contract.columns[name].type}",
                        right="categories, booleans and texts have a text",
                        step="compare its number",
                    )
            case Column() | Constant() | Plus() | Minus() | Times() | Clamped() | Case():
                span_of(node, contract)


def span_of(value: Value, contract: Contract) -> Span:
    """What the contract alone says of a value."""
    match value:
        case Column():
            return _column(value, contract)
        case Constant(number):
            sign = (number > 0) - (number < 0)
            return Span(step=abs(number) or Fraction(1), low=sign, high=sign, optional=False)
        case Plus(left, right) | Minus(left, right):
            a, b = _aligned(span_of(left, contract), span_of(right, contract))
            ends = (a.low + b.low, a.high + b.high) if isinstance(value, Plus) else (a.low - b.high, a.high - b.low)
            return Span(step=a.step, low=ends[0], high=ends[1], optional=a.optional or b.optional)
        case Times(left, right):
            return _product(span_of(left, contract), span_of(right, contract), square=left == right)
        case Clamped(inner, low, high):
            return _clamped(span_of(inner, contract), low, high)
        case Case():
            return _case(value, contract)


def common_step(one: Fraction, other: Fraction) -> Fraction:
    """The largest step of which both are multiples."""
    shared = one.denominator * other.denominator
    return Fraction(gcd(one.numerator * other.denominator, other.numerator * one.denominator), shared)


def _aligned(one: Span, other: Span) -> tuple[Span, Span]:
    step = common_step(one.step, other.step)
    return one.on(step), other.on(step)


def _product(one: Span, other: Span, *, square: bool) -> Span:
    ends = [a * b for a in (one.low, one.high) for b in (other.low, other.high)]
    low = min(ends)
    if square:
        low = 0 if one.low <= 0 <= one.high else min(one.low**2, one.high**2)
    return Span(step=one.step * other.step, low=low, high=max(ends), optional=one.optional or other.optional)


def _clamped(inner: Span, low: Fraction, high: Fraction) -> Span:
    for name, end in (("low", low), ("high", high)):
        if end % inner.step:
            raise ArgumentError(
                name,
                found=f"{end}, no multiple of the step {inner.step}",
                right="bounds lie on the value's grid",
                step=f"round {name} to a multiple of {inner.step}",
            )
    ends = [min(max(end, int(low / inner.step)), int(high / inner.step)) for end in (inner.low, inner.high)]
    return Span(step=inner.step, low=ends[0], high=ends[1], optional=inner.optional)


def _case(case: Case, contract: Contract) -> Span:
    values = [value for _, value in case.branches] + ([] if case.otherwise is None else [case.otherwise])
    spans = [span_of(value, contract) for value in values]
    step = spans[0].step
    for span in spans[1:]:
        step = common_step(step, span.step)
    fine = [span.on(step) for span in spans]
    return Span(
        step=step,
        low=min(span.low for span in fine),
        high=max(span.high for span in fine),
        optional=_may_be_missing(case, frozenset(), contract),
    )


def _may_be_missing(value: Value, there: frozenset[object], contract: Contract) -> bool:
    """Whether a value can be missing where all of `there` have a value."""
    if value in there:
        return False
    match value:
        case Column() | Constant():
            return span_of(value, contract).optional
        case Plus(left, right) | Minus(left, right) | Times(left, right):
            return _may_be_missing(left, there, contract) or _may_be_missing(right, there, contract)
        case Clamped(inner):
            return _may_be_missing(inner, there, contract)
        case Case(branches, otherwise):
            for when, then in branches:
                if _may_be_missing(then, there | _there_if_true(when), contract):
                    return True
                there |= _there_if_not_true(when)
            return otherwise is None or _may_be_missing(otherwise, there, contract)


def _there_if_true(predicate: Predicate) -> frozenset[object]:
    """Values that cannot be missing where the predicate is true."""
    match predicate:
        case Compare(left, _, right):
            return _with_operands(left) | _with_operands(right)
        case And(parts):
            return frozenset().union(*map(_there_if_true, parts))
        case Not(Missing(of)) if not isinstance(of, Text):
            return _with_operands(of)
    return frozenset()


def _there_if_not_true(predicate: Predicate) -> frozenset[object]:
    """Values that cannot be missing where the predicate is false or neither."""
    match predicate:
        case Missing(of) if not isinstance(of, Text):
            return _with_operands(of)
        case Or(parts):
            return frozenset().union(*map(_there_if_not_true, parts))
    return frozenset()


def _with_operands(value: Value) -> frozenset[object]:
    """The value and all that must be there for it to be there."""
    match value:
        case Plus(left, right) | Minus(left, right) | Times(left, right):
            return frozenset({value}) | _with_operands(left) | _with_operands(right)
        case Clamped(inner):
            return frozenset({value}) | _with_operands(inner)
    return frozenset({value})


def _column(column: Column, contract: Contract) -> Span:
    require_askable(column.name, contract)
    facts = contract.columns[column.name]
    step, low, high = Fraction(1), 0, 0
    match facts:
        case IntegerColumn() | DecimalColumn():
            if facts.bounds is None:
                raise ArgumentError(
                    f"column {column.name!r}",
                    found="no bounds",
                    right="a number is only as private as its bounds are public",
                    step="declare low and high in the contract",
                )
            step, (low, high) = facts.bounds.step, facts.bounds.steps
        case DateColumn():
            low, high = _days(facts.low or _FIRST), _days(facts.high or _LAST)
        case DatetimeColumn():
            low = _days(_FIRST) * _DAY if facts.low is None else _seconds(facts.low)
            high = (_days(_LAST) + 1) * _DAY - 1 if facts.high is None else _seconds(facts.high)
        case _:
            raise ArgumentError(
                f"column {column.name!r}",
                found=f"a column of type {facts.type}",
                right="arithmetic takes numbers and dates",
                step="compare its text, or count it",
            )
    return Span(step=step, low=low, high=high, optional=facts.nulls is not NullRule.REFUSE)


def _days(day: datetime.date) -> int:
    return day.toordinal() - _EPOCH.toordinal()


def _seconds(moment: datetime.datetime) -> int:
    return _days(moment.date()) * _DAY + moment.hour * 3600 + moment.minute * 60 + moment.second
