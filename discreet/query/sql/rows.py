"""Expressions over one row, from syntax to meaning.

Aggregates, windows and subqueries have no meaning here and are refused where they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from sqlglot import exp

from discreet.check import exact
from discreet.data.contract import Contract
from discreet.errors import ArgumentError
from discreet.measure.expression import Compare, Constant, Like, Predicate, Sign, Value
from discreet.query.sql.arithmetic import (
    absolute,
    added,
    bucketed,
    coalesced,
    divided,
    extreme,
    is_whole,
    multiplied,
    negative,
    nullified,
    rounded,
)
from discreet.query.sql.calendar import later, moment_of, part_of, truncated
from discreet.query.sql.cases import case_of, coalesced_words
from discreet.query.sql.compare import aligned, all_of, among, any_of, compared, missing, negated
from discreet.query.sql.names import Names
from discreet.query.sql.typed import (
    Fixed,
    Quantity,
    Row,
    Truth,
    Wording,
    condition,
    described,
    quantity,
    truth_value,
)
from discreet.query.sql.written import Written, shown

__all__ = ["Rows", "whole_number"]

_SIGNS: Mapping[type[exp.Expr], Sign] = MappingProxyType(
    {exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}
)
_WHOLE_TYPES = ("TINYINT", "SMALLINT", "INT", "BIGINT", "INT128")
_UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")


@dataclass(frozen=True, slots=True)
class Rows:
    """Reads expressions over the rows of one table."""

    written: Written
    contract: Contract
    names: Names

    def row(self, node: exp.Expr) -> Row:
        """What an expression means."""
        read = _READERS.get(type(node))
        if read is None:
            raise self.written.refused(
                node,
                found=f"{self.written.name_of(node)} over the values of one row"
                if isinstance(node, exp.Func)
                else "a part of SQL that has no meaning here",
                right="here stands an expression over the columns of one row",
                step="aggregate in the SELECT list, in HAVING or in ORDER BY",
            )
        with self.written.at(node):
            return read(self, node)

    def quantity(self, node: exp.Expr) -> Quantity:
        """An expression that is a number, a date or a moment."""
        with self.written.at(node):
            return quantity(self.row(node), self.contract)

    def value(self, node: exp.Expr) -> Value:
        """An expression that is a number."""
        found = self.quantity(node)
        if found.kind != "number":
            raise self.written.refused(
                node,
                found=described(found, self.contract),
                right="a number is wanted there",
                step="subtract a date, as in d - DATE '2020-01-01', or take YEAR(d)",
            )
        return found.value

    def predicate(self, node: exp.Expr) -> Predicate:
        """An expression that is a condition."""
        with self.written.at(node):
            return condition(self.row(node))

    def constant(self, node: exp.Expr | None) -> Fraction:
        """A number that is written out."""
        found = None if node is None else self.row(node)
        if not isinstance(found, Quantity) or not isinstance(found.value, Constant) or found.kind != "number":
            raise self.written.refused(
                node,
                found="what is no number" if found is None else described(found, self.contract),
                right="a number that is written out stands there",
                step="write it, as in 0.5",
            )
        return found.value.number


def whole_number(node: exp.Expr, written: Written, what: str) -> int:
    """A whole number that is written out."""
    if not isinstance(node, exp.Literal) or node.is_string or not node.name.isdecimal() or len(node.name) > 18:
        raise written.refused(node, found=f"{what} that is no whole number", right="it is a number", step="write 10")
    return int(node.name)


def _literal(_rows: Rows, node: Any) -> Row:
    if node.is_string:
        return Fixed(node.this)
    return Quantity(Constant(exact("number", node.this)))


def _column(rows: Rows, node: Any) -> Row:
    return rows.names.row(node)


def _binary(
    change: Callable[[Row, Row, Contract], Row],
) -> Callable[[Rows, Any], Row]:
    return lambda rows, node: change(rows.row(node.this), rows.row(node.expression), rows.contract)


def _sum(rows: Rows, node: Any, *, minus: bool = False) -> Row:
    if isinstance(node.expression, exp.Interval):
        count, unit = _interval(rows, node.expression)
        date = rows.quantity(node.this)
        return _moved(date, -count if minus else count, unit, rows)
    left, right = rows.row(node.this), rows.row(node.expression)
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Fixed) and isinstance(one.what, str) and isinstance(other, Quantity):
            aligned(left, right, rows.contract)  # says why a text is no number; a text beside a date is one
            dated = moment_of(one.what, other.kind)
            left, right = (dated, right) if one is left else (left, dated)
    return added(left, right, rows.contract, minus=minus)


def _moved(date: Quantity, count: int, unit: str, rows: Rows) -> Row:
    if date.kind == "number":
        raise ArgumentError(
            "expression",
            found=f"{described(date, rows.contract)}, and an interval",
            right="intervals are added to dates",
            step="name a column of dates",
        )
    days = {"day": 1, "week": 7}.get(unit)
    if not isinstance(date.value, Constant) and date.kind == "date" and days is not None:
        return added(date, Quantity(Constant(Fraction(days * count))), rows.contract)
    return later(date, count, unit)


def _interval(rows: Rows, node: Any) -> tuple[int, str]:
    unit = node.args["unit"].name.lower().removesuffix("s") if node.args.get("unit") else ""
    text = node.this.name if isinstance(node.this, exp.Literal) else ""
    if unit not in _UNITS or not text.removeprefix("-").isdecimal() or len(text) > 9:
        raise rows.written.refused(
            node,
            found="an interval that is no whole number of one unit",
            right=f"intervals are written INTERVAL 3 DAY; the units are {', '.join(_UNITS)}",
            step="write it so",
        )
    return int(text), unit


def _power(rows: Rows, node: Any) -> Row:
    exponent = rows.constant(node.expression)
    if exponent not in (1, 2, 3):
        raise rows.written.refused(
            node.expression,
            found=f"the power {float(exponent):g}",
            right="a row's number can be raised to 1, 2 or 3",
            step="write x * x, or take the power of an aggregate",
        )
    base = rows.row(node.this)
    result = base
    for _ in range(int(exponent) - 1):
        result = multiplied(result, base, rows.contract)
    return result


def _compared(rows: Rows, node: Any) -> Row:
    left, right = rows.row(node.this), rows.row(node.expression)
    return Truth(compared(left, _SIGNS[type(node)], right, rows.contract))


def _between(rows: Rows, node: Any) -> Row:
    row = rows.row(node.this)
    low = compared(row, ">=", rows.row(node.args["low"]), rows.contract)
    return Truth(all_of([low, compared(row, "<=", rows.row(node.args["high"]), rows.contract)]))


def _in(rows: Rows, node: Any) -> Row:
    options = [rows.row(option) for option in node.expressions]
    for option, written in zip(options, node.expressions, strict=True):
        constant = isinstance(option, Fixed) or (isinstance(option, Quantity) and isinstance(option.value, Constant))
        if option == Fixed(None) or not constant:
            raise rows.written.refused(
                written,
                found="NULL in a list" if constant else "a list with what differs from row to row",
                right="a list holds values that are written out",
                step="add OR … IS NULL" if constant else "write = for each, joined by OR",
            )
    return Truth(among(rows.row(node.this), options, rows.contract))


def _like(rows: Rows, node: Any) -> Row:
    row, pattern = rows.row(node.this), node.expression
    if not isinstance(row, Wording) or row.boolean or not isinstance(pattern, exp.Literal) or not pattern.is_string:
        raise rows.written.refused(
            node,
            found=f"{described(row, rows.contract)}, LIKE {'a pattern' if isinstance(row, Wording) else 'a text'}",
            right="LIKE compares a column of texts with a pattern that is written out",
            step="write it as in region LIKE 'n%'",
        )
    found = Like(row.text, pattern.this)
    return Truth(negated(found) if node.args.get("negate") else found)


def _joined(join: Callable[[list[Predicate]], Predicate]) -> Callable[[Rows, Any], Row]:
    def read(rows: Rows, node: Any) -> Row:
        # A chain hangs down on the left, as deep as it is long.
        parts, ahead = list[Predicate](), [node]
        while ahead:
            one = ahead.pop()
            if type(one) is type(node):
                ahead += [one.expression, one.this]
            else:
                parts.append(rows.predicate(one))
        return Truth(join(parts))

    return read


def _is(rows: Rows, node: Any) -> Row:
    row, what = rows.row(node.this), node.expression
    if isinstance(what, exp.Null):
        return Truth(missing(row, rows.contract))
    if isinstance(what, exp.Boolean):
        predicate = condition(row) if what.this else negated(condition(row))
        sure = truth_value(predicate, otherwise=Constant(Fraction(0)))
        return Truth(Compare(sure, "=", Constant(Fraction(1))))
    raise rows.written.refused(
        what, found="IS beside what is neither NULL nor a truth value", right="IS NULL, IS TRUE", step="write ="
    )


def _cast(rows: Rows, node: Any) -> Row:
    kind = node.args["to"].this.value if isinstance(node.args["to"].this, exp.DType) else str(node.args["to"].this)
    row = rows.row(node.this)
    dates = {"DATE": "date", "TIMESTAMP": "moment", "TIMESTAMPNTZ": "moment", "DATETIME": "moment"}
    if kind in dates:
        if isinstance(row, Fixed) and isinstance(row.what, str):
            return moment_of(row.what, "date" if kind == "DATE" else "moment")
        if isinstance(row, Quantity) and row.kind == dates[kind]:
            return row
        if isinstance(row, Quantity) and kind == "DATE" and row.kind == "moment":
            return truncated(row, "day", rows.contract)
    if kind in ("DOUBLE", "FLOAT") and not isinstance(row, Fixed | Wording):
        return row
    if kind in _WHOLE_TYPES and not isinstance(row, Fixed):
        found = row if not isinstance(row, Truth | Wording) else quantity(row, rows.contract)
        if is_whole(found, rows.contract):
            return found
        raise rows.written.refused(
            node,
            found=f"{described(row, rows.contract)}, as {shown(kind)}",
            right="how it is rounded is said by a function",
            step="write ROUND(x), FLOOR(x) or CEIL(x)",
        )
    raise rows.written.refused(
        node,
        found=f"{described(row, rows.contract)}, as {shown(kind)}",
        right="numbers stay numbers (DOUBLE, INTEGER), and texts are written out as DATE or TIMESTAMP",
        step="leave the CAST out; the contract declares each column's type",
    )


def _round(way: str) -> Callable[[Rows, Any], Row]:
    def read(rows: Rows, node: Any) -> Row:
        places = node.args.get("decimals")
        count = 0 if places is None else rows.constant(places)
        if not -9 <= count <= 9 or count != int(count):
            raise rows.written.refused(
                places, found="places that are no whole number", right="-9 to 9 of them", step="write ROUND(x, 2)"
            )
        return rounded(rows.row(node.this), way, rows.contract, int(count))

    return read


def _bucket(rows: Rows, node: Any) -> Row:
    low, high, count = (rows.constant(node.args.get(name)) for name in ("min_value", "max_value", "num_buckets"))
    if count != int(count):
        raise rows.written.refused(
            node.args["num_buckets"], found=f"{float(count):g} bins", right="a whole number of them", step="write 10"
        )
    return bucketed(rows.row(node.this), low, high, int(count), rows.contract)


def _truncated(rows: Rows, node: Any) -> Row:
    return truncated(rows.quantity(node.this), node.args["unit"].name.lower(), rows.contract)


def _extracted(rows: Rows, node: Any) -> Row:
    return part_of(rows.quantity(node.expression), node.this.name.lower(), rows.contract)


def _named_part(part: str) -> Callable[[Rows, Any], Row]:
    return lambda rows, node: part_of(rows.quantity(node.this), part, rows.contract)


def _days_between(rows: Rows, node: Any) -> Row:
    later_one, earlier = rows.quantity(node.this), rows.quantity(node.expression)
    if node.args["unit"].name.upper() != "DAY" or {later_one.kind, earlier.kind} != {"date"}:
        raise rows.written.refused(
            node,
            found=f"DATE_DIFF in {node.args['unit'].name.lower()}s of {described(later_one, rows.contract)}",
            right="days between two dates are known exactly",
            step="write DATE_DIFF('day', a, b), and divide",
        )
    return added(later_one, earlier, rows.contract, minus=True)


def _extreme(*, largest: bool) -> Callable[[Rows, Any], Row]:
    def read(rows: Rows, node: Any) -> Row:
        return extreme([rows.row(one) for one in (node.this, *node.expressions)], rows.contract, largest=largest)

    return read


def _coalesced(rows: Rows, node: Any) -> Row:
    parts = [rows.row(one) for one in (node.this, *node.expressions)]
    if any(isinstance(part, Wording) or (isinstance(part, Fixed) and isinstance(part.what, str)) for part in parts):
        return coalesced_words(parts, rows.contract)
    return coalesced(parts, rows.contract)


def _case(rows: Rows, node: Any) -> Row:
    operand = None if node.this is None else rows.row(node.this)
    branches = []
    for one in node.args["ifs"]:
        if operand is None:
            when = rows.predicate(one.this)
        else:
            with rows.written.at(one.this):
                when = compared(operand, "=", rows.row(one.this), rows.contract)
        branches.append((when, rows.row(one.args["true"])))
    default = node.args.get("default")
    return case_of(branches, Fixed(None) if default is None else rows.row(default), rows.contract)


def _if(rows: Rows, node: Any) -> Row:
    otherwise = node.args.get("false")
    branch = rows.predicate(node.this), rows.row(node.args["true"])
    return case_of([branch], Fixed(None) if otherwise is None else rows.row(otherwise), rows.contract)


_READERS: Mapping[type[exp.Expr], Callable[[Rows, Any], Row]] = MappingProxyType(
    {
        exp.Literal: _literal,
        exp.Null: lambda _rows, _node: Fixed(None),
        exp.Boolean: lambda _rows, node: Fixed(bool(node.this)),
        exp.Column: _column,
        exp.Paren: lambda rows, node: rows.row(node.this),
        exp.Add: _sum,
        exp.Sub: lambda rows, node: _sum(rows, node, minus=True),
        exp.Mul: _binary(multiplied),
        exp.Div: _binary(divided),
        exp.IntDiv: _binary(lambda left, right, contract: divided(left, right, contract, whole=True)),
        exp.Neg: lambda rows, node: negative(rows.row(node.this), rows.contract),
        exp.Pow: _power,
        exp.Abs: lambda rows, node: absolute(rows.row(node.this), rows.contract),
        exp.Round: _round("round"),
        exp.Floor: _round("floor"),
        exp.Ceil: _round("ceil"),
        exp.Greatest: _extreme(largest=True),
        exp.Least: _extreme(largest=False),
        exp.Coalesce: _coalesced,
        exp.Nullif: lambda rows, node: nullified(rows.row(node.this), rows.row(node.expression), rows.contract),
        exp.Case: _case,
        exp.If: _if,
        exp.Cast: _cast,
        **dict.fromkeys(_SIGNS, _compared),
        exp.Between: _between,
        exp.In: _in,
        exp.Like: _like,
        exp.Is: _is,
        exp.Not: lambda rows, node: Truth(negated(rows.predicate(node.this))),
        exp.And: _joined(all_of),
        exp.Or: _joined(any_of),
        exp.WidthBucket: _bucket,
        exp.TimestampTrunc: _truncated,
        exp.Extract: _extracted,
        exp.Year: _named_part("year"),
        exp.Quarter: _named_part("quarter"),
        exp.Month: _named_part("month"),
        exp.Week: _named_part("week"),
        exp.Day: _named_part("day"),
        exp.DayOfWeek: _named_part("dayofweek"),
        exp.DayOfYear: _named_part("dayofyear"),
        exp.Hour: _named_part("hour"),
        exp.Minute: _named_part("minute"),
        exp.DateDiff: _days_between,
    }
)
