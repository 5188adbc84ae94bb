"""Arithmetic over one row: sums and products on exact grids, and the functions whose ends are known.

What divides is a constant. A step function of a quantity, such as `age // 10`, stays one under arithmetic with
constants, so that it can be a key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, floor

from discreet.data.contract import Contract
from discreet.errors import ArgumentError
from discreet.measure.expression import (
    Case,
    Clamped,
    Compare,
    Constant,
    Minus,
    Missing,
    Not,
    Plus,
    Predicate,
    Times,
    Value,
)
from discreet.measure.span import Span, span_of
from discreet.query.sql.typed import Quantity, Row, Steps, Word, quantity

__all__ = [
    "absolute",
    "added",
    "bucketed",
    "coalesced",
    "divided",
    "extreme",
    "is_whole",
    "multiplied",
    "negative",
    "nullified",
    "rounded",
]

_STEPS_AT_MOST = 10_000
_ZERO = Constant(Fraction(0))


def added(left: Row, right: Row, contract: Contract, *, minus: bool = False) -> Row:
    """left + right, or left − right; of dates, a date and days, or the days between two."""
    if minus and isinstance(right, Steps):
        right = right.map(_number(lambda word: -word))
        minus = False
    if not minus and (found := _mapped(left, right, lambda a, b: a + b)):
        return found
    one, other = quantity(left, contract), quantity(right, contract)
    kind = one.kind
    if (one.kind, other.kind) == ("date", "date") and minus:
        kind = "number"
    elif one.kind == "number" and other.kind == "date" and not minus:
        kind = "date"
    elif other.kind != "number" or one.kind == "moment":
        raise ArgumentError(
            "expression",
            found=f"{one.kind} {'-' if minus else '+'} {other.kind}",
            right="numbers are added to numbers and days to dates; the difference of two dates is days",
            step="write dates as DATE '2020-12-31'",
        )
    if isinstance(one.value, Constant) and isinstance(other.value, Constant):
        sign = -1 if minus else 1
        return Quantity(Constant(one.value.number + sign * other.value.number), kind)
    return Quantity((Minus if minus else Plus)(one.value, other.value), kind)


def multiplied(left: Row, right: Row, contract: Contract) -> Row:
    """left · right."""
    if found := _mapped(left, right, lambda a, b: a * b):
        return found
    one, other = _numbers(left, contract), _numbers(right, contract)
    if isinstance(one, Constant) and isinstance(other, Constant):
        return Quantity(Constant(one.number * other.number))
    return Quantity(Times(one, other))


def divided(left: Row, right: Row, contract: Contract, *, whole: bool = False) -> Row:
    """left / right, where the right is a constant other than 0; `whole` as // does, towards zero."""
    divisor = _numbers(right, contract)
    if not isinstance(divisor, Constant) or divisor.number == 0:
        raise ArgumentError(
            "expression",
            found="a division by 0" if isinstance(divisor, Constant) else "a division by what differs from row to row",
            right="a row's number is divided by a constant, so that its ends are known",
            step="divide by a number, or divide sums, as in SUM(a) / SUM(b)",
        )
    share = multiplied(left, Quantity(Constant(1 / divisor.number)), contract)
    if whole and not (is_whole(left, contract) and divisor.number.denominator == 1):
        raise ArgumentError(
            "expression",
            found="// of what are not whole numbers",
            right="// divides whole numbers by a whole number",
            step="write FLOOR(x / 10)",
        )
    return rounded(share, "trunc", contract) if whole else share


def negative(row: Row, contract: Contract) -> Row:
    """−row."""
    return multiplied(Quantity(Constant(Fraction(-1))), row, contract)


def absolute(row: Row, contract: Contract) -> Row:
    """Without its sign."""
    value = _numbers(row, contract)
    if isinstance(value, Constant):
        return Quantity(Constant(abs(value.number)))
    span = span_of(value, contract)
    if span.low >= 0:
        return Quantity(value)
    turned = Case(((Compare(value, "<", _ZERO), Times(Constant(Fraction(-1)), value)),), value)
    return Quantity(Clamped(turned, Fraction(0), span.step * span.size))


def rounded(row: Row, way: str, contract: Contract, places: int = 0) -> Row:
    """To whole numbers, or to places after the point: `floor`, `ceil`, `trunc`, or `round` with halves away from 0."""
    scale = Fraction(10) ** places
    if isinstance(row, Steps):
        return row.map(_number(lambda word: _rounded(word * scale, way) / scale))
    value = _numbers(row, contract)
    if isinstance(value, Constant):
        return Quantity(Constant(_rounded(value.number * scale, way) / scale))
    of, factor = _unscaled(value)
    span = span_of(of, contract)
    step = span.step * factor * scale
    if step.denominator == 1:
        return Quantity(value)
    grid = _Grid(of, span, Fraction(0), factor * scale)
    return grid.steps(lambda number: _rounded(number, way), lambda word: word / scale)


def bucketed(row: Row, low: Fraction, high: Fraction, count: int, contract: Contract) -> Steps:
    """WIDTH_BUCKET: the number of the interval, 0 below the first and count + 1 from the end of the last one on."""
    value = _numbers(row, contract)
    if low >= high or not 1 <= count <= _STEPS_AT_MOST:
        raise ArgumentError(
            "expression",
            found="bounds that do not ascend" if low >= high else f"{count:,} bins",
            right=f"WIDTH_BUCKET(x, low, high, bins) has low < high and 1 to {_STEPS_AT_MOST:,} bins",
            step="as in WIDTH_BUCKET(age, 0, 100, 10)",
        )
    grid = _Grid(value, span_of(value, contract), -low, Fraction(count) / (high - low))
    return grid.steps(lambda place: min(max(Fraction(floor(place)), Fraction(-1)), Fraction(count)), lambda w: w + 1)


def extreme(rows: Sequence[Row], contract: Contract, *, largest: bool) -> Row:
    """GREATEST or LEAST: what is missing is passed over, as DuckDB does."""
    found = _numbers(rows[0], contract)
    for row in rows[1:]:
        other = _numbers(row, contract)
        if isinstance(found, Constant) and isinstance(other, Constant):
            found = (
                max(found, other, key=lambda one: one.number)
                if largest
                else min(found, other, key=lambda one: one.number)
            )
        else:
            found = _extreme(found, other, contract, largest=largest)
    return Quantity(found)


def coalesced(rows: Sequence[Row], contract: Contract) -> Row:
    """The first number that is there."""
    values = [quantity(row, contract) for row in rows]
    _require_one_kind(values)
    branches: list[tuple[Predicate, Value]] = [(Not(Missing(one.value)), one.value) for one in values[:-1]]
    return Quantity(Case(tuple(branches), values[-1].value), values[0].kind) if branches else values[0]


def nullified(left: Row, right: Row, contract: Contract) -> Row:
    """NULLIF: missing where both are equal."""
    one, other = quantity(left, contract), quantity(right, contract)
    _require_one_kind([one, other])
    branches: list[tuple[Predicate, Value]] = [(Compare(one.value, "<>", other.value), one.value)]
    if span_of(other.value, contract).optional:
        branches.append((Missing(other.value), one.value))
    return Quantity(Case(tuple(branches)), one.kind)


class _Grid:
    """A quantity that is shifted and scaled, and rounded after that."""

    def __init__(self, of: Value, span: Span, shift: Fraction, factor: Fraction) -> None:
        self.of, self.span, self.shift, self.factor = of, span, shift, factor

    def steps(self, rounds: Callable[[Fraction], Fraction], word: Callable[[Fraction], Fraction]) -> Steps:
        """One interval for each result of rounding; they are looked for by halving, since rounding ascends."""
        at, edges, words = self.span.low, list[Fraction](), list[Word]()
        ascending = self.factor > 0
        while at <= self.span.high:
            if len(edges) == _STEPS_AT_MOST:
                raise ArgumentError(
                    "expression",
                    found=f"more than {_STEPS_AT_MOST:,} intervals",
                    right="that many are no summary",
                    step="take wider intervals, or clamp with LEAST and GREATEST",
                )
            here = rounds(self._place(at))
            low, high = at, self.span.high
            while low < high:
                middle = (low + high + 1) // 2
                same = rounds(self._place(middle)) <= here if ascending else rounds(self._place(middle)) >= here
                low, high = (middle, high) if same else (low, middle - 1)
            edges.append(self.span.step * at)
            words.append(word(here))
            at = low + 1
        return Steps.joined(self.of, [*edges, self.span.step * (self.span.high + 1)], words)

    def _place(self, at: int) -> Fraction:
        return (self.span.step * at + self.shift) * self.factor


def _extreme(one: Value, other: Value, contract: Contract, *, largest: bool) -> Value:
    if isinstance(one, Constant):
        one, other = other, one
    a, b = span_of(one, contract), span_of(other, contract)
    if isinstance(other, Constant) and not a.optional and not other.number % a.step:
        low, high = a.step * a.low, a.step * a.high
        ends = (other.number, max(high, other.number)) if largest else (min(low, other.number), other.number)
        return Clamped(one, *ends)
    branches: list[tuple[Predicate, Value]] = [(Compare(one, ">=" if largest else "<=", other), one)]
    if b.optional:
        branches.append((Missing(other), one))
    joined = Case(tuple(branches), other)
    span = span_of(joined, contract)
    sure = [s.step * (s.low if largest else s.high) for s in (a, b) if not s.optional]
    ends = span.step * span.low, span.step * span.high
    if not sure:
        return joined
    return Clamped(joined, max(sure), ends[1]) if largest else Clamped(joined, ends[0], min(sure))


def _mapped(left: Row, right: Row, change: Callable[[Fraction, Fraction], Fraction]) -> Steps | None:
    """Steps beside a constant stay steps."""
    match left, right:
        case Steps(), Quantity(Constant(number), "number") if not left.dated:
            return left.map(_number(lambda word: change(word, number)))
        case Quantity(Constant(number), "number"), Steps() if not right.dated:
            return right.map(_number(lambda word: change(number, word)))
    return None


def _number(change: Callable[[Fraction], Fraction]) -> Callable[[Word], Word]:
    return lambda word: change(word) if isinstance(word, Fraction) else word


def _unscaled(value: Value) -> tuple[Value, Fraction]:
    """A value and a factor that make it up, so that x / 10 is looked at as x."""
    match value:
        case Times(inner, Constant(number)) | Times(Constant(number), inner) if number:
            return inner, number
    return value, Fraction(1)


def _rounded(number: Fraction, way: str) -> Fraction:
    match way:
        case "floor":
            return Fraction(floor(number))
        case "ceil":
            return Fraction(ceil(number))
        case "trunc":
            return Fraction(int(number))
    return Fraction(floor(abs(number) + Fraction(1, 2))) * (1 if number >= 0 else -1)


def is_whole(row: Row, contract: Contract) -> bool:
    """Whether a number is a whole one in every row."""
    if isinstance(row, Steps):
        return all(isinstance(word, Fraction) and word.denominator == 1 for word in row.words)
    return span_of(_numbers(row, contract), contract).step.denominator == 1


def _numbers(row: Row, contract: Contract) -> Value:
    found = quantity(row, contract)
    if found.kind != "number":
        raise ArgumentError(
            "expression",
            found=f"a {found.kind} where a number is wanted",
            right="arithmetic takes numbers; the difference of two dates is one",
            step="subtract a date, as in d - DATE '2020-01-01', or take YEAR(d)",
        )
    return found.value


def _require_one_kind(values: Sequence[Quantity]) -> None:
    if len({one.kind for one in values}) > 1:
        raise ArgumentError(
            "expression",
            found="numbers beside dates",
            right="all of them are of one kind",
            step="write dates as DATE '2020-12-31'",
        )
