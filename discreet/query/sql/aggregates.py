"""Aggregate functions, from syntax to statistics. A FILTER becomes part of the value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from sqlglot import exp

from discreet.measure.expression import Case, Column, Constant, Missing, Not, Predicate, Text, Value, require_small
from discreet.measure.span import require_answerable, span_of
from discreet.query.sql.compare import all_of
from discreet.query.sql.keys import Sorted, countable, sorted_by
from discreet.query.sql.rows import Rows, whole_number
from discreet.query.sql.typed import Cases, Fixed, Person, Quantity, Row, Steps, Truth, Wording, described, truth_value
from discreet.query.statistic import (
    Correlation,
    Covariance,
    Distinct,
    Mean,
    Most,
    Persons,
    Present,
    Rank,
    Statistic,
    Sum,
    Variance,
)
from discreet.query.statistic import (
    Rows as AllRows,
)

__all__ = ["AGGREGATES", "has_aggregate", "statistic_of"]

_ONE = Constant(Fraction(1))
_QUANTILES: tuple[type[exp.Expr], ...] = (exp.PercentileCont, exp.PercentileDisc, exp.Quantile, exp.ApproxQuantile)


def has_aggregate(node: exp.Expr) -> bool:
    """Whether something in it is summed, counted or chosen over many rows."""
    return any(isinstance(part, AGGREGATES) for part in node.walk())


def statistic_of(node: exp.Expr, rows: Rows) -> Statistic:
    """What an aggregate function asks for."""
    where: Predicate | None = None
    if isinstance(node, exp.Filter):
        where = rows.predicate(node.expression.this)
        node = node.this
    if isinstance(node, exp.WithinGroup):
        return _within_group(node, rows, where)
    read = _READERS.get(type(node))
    if read is None:
        raise rows.written.refused(
            node,
            found="FILTER after what is no aggregate",
            right="FILTER follows an aggregate function",
            step="as in COUNT(*) FILTER (WHERE age >= 18)",
        )
    with rows.written.at(node):
        statistic = read(rows, node, where)
        require_small(statistic)
        require_answerable(statistic, rows.contract)
        return statistic


def _value(rows: Rows, node: exp.Expr, where: Predicate | None) -> Value:
    """What is summed, of the rows that the filter keeps."""
    if isinstance(node, exp.Distinct):
        raise rows.written.refused(
            node,
            found="DISTINCT in a sum",
            right="only COUNT takes DISTINCT",
            step="leave it out, or count with COUNT(DISTINCT …)",
        )
    if has_aggregate(node):
        raise rows.written.refused(
            next(part for part in node.walk() if isinstance(part, AGGREGATES)),
            found="an aggregate within an aggregate",
            right="each aggregate is over the values of rows",
            step="combine aggregates by arithmetic, as in SUM(a) / COUNT(*)",
        )
    value = rows.value(node)
    with rows.written.at(node):
        span_of(value, rows.contract)
    return value if where is None else Case(((where, value),))


def _ranked(rows: Rows, node: exp.Expr, where: Predicate | None) -> Value:
    """What is put in order: a number, or a column of dates, whose ranks are dates."""
    if where is None and isinstance(node, exp.Column):
        row = rows.row(node)
        if isinstance(row, Quantity) and isinstance(row.value, Column):
            return row.value
    return _value(rows, node, where)


def _count(rows: Rows, node: Any, where: Predicate | None) -> Statistic:
    of = node.this
    if isinstance(of, exp.Star) or of is None:
        return AllRows() if where is None else Present(Case(((where, _ONE),)))
    if isinstance(of, exp.Distinct):
        return _count_distinct(rows, of, where)
    if has_aggregate(of):
        _value(rows, of, where)
    row = rows.row(of)
    if isinstance(row, Person):
        raise rows.written.refused(
            of,
            found=f"rows counted by {described(row, None)}",
            right="it is counted once for each person, and rows are counted by COUNT(*)",
            step=f"write COUNT(DISTINCT {row.name}), or COUNT(*)",
        )
    if row == Fixed(None):
        raise rows.written.refused(of, found="a count of NULL", right="it is always 0", step="write COUNT(*)")
    if isinstance(row, Fixed) or (isinstance(row, Quantity) and isinstance(row.value, Constant)):
        return AllRows() if where is None else Present(Case(((where, _ONE),)))
    there = _there(row)
    if where is None:
        return Present(there)
    if isinstance(there, Text):
        return Present(Case(((all_of([where, Not(Missing(there))]), _ONE),)))
    return Present(Case(((where, there),)))


def _there(row: Row) -> Value | Text:
    match row:
        case Wording(text):
            return text
        case Quantity(value):
            return value
        case Truth(predicate):
            return truth_value(predicate)
        case Steps(of=of):
            return of
        case Cases():
            return row.known
    raise AssertionError(row)


def _count_distinct(rows: Rows, node: Any, where: Predicate | None) -> Statistic:
    if len(node.expressions) != 1:
        raise rows.written.refused(
            node,
            found="COUNT(DISTINCT …) of several columns",
            right="one column's different values are counted",
            step="name one column",
        )
    of = node.expressions[0]
    row = rows.row(of)
    if isinstance(row, Person):
        return _persons(rows, of, where)
    with rows.written.at(of):
        return Distinct(countable(row, rows.contract, where))


def _persons(rows: Rows, node: exp.Expr, where: Predicate | None) -> Statistic:
    if where is not None:
        raise rows.written.refused(
            node,
            found="persons counted with a FILTER",
            right="persons are counted among the rows that WHERE keeps",
            step="write the condition in WHERE, in a query of its own",
        )
    if rows.contract.unit.period is not None:
        raise rows.written.refused(
            node,
            found=f"persons counted where the contract protects a person per {rows.contract.unit.period.value}",
            right="one person is several units there",
            step="count rows by COUNT(*)",
        )
    return Persons()


def _count_if(rows: Rows, node: Any, where: Predicate | None) -> Statistic:
    predicate = rows.predicate(node.this)
    return Present(Case(((predicate if where is None else all_of([where, predicate]), _ONE),)))


def _variance(*, sample: bool, root: bool) -> Callable[[Rows, Any, Predicate | None], Statistic]:
    return lambda rows, node, where: Variance(_value(rows, node.this, where), sample=sample, root=root)


def _pair(
    make: Callable[[Value, Value], Statistic],
) -> Callable[[Rows, Any, Predicate | None], Statistic]:
    return lambda rows, node, where: make(_value(rows, node.this, where), _value(rows, node.expression, where))


def _quantile(rows: Rows, node: Any, where: Predicate | None) -> Statistic:
    share = node.args.get("quantile") or node.args.get("expression")
    if share is None:
        raise rows.written.refused(
            node,
            found="a quantile without its ORDER BY",
            right="either QUANTILE_CONT(x, 0.5) or PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)",
            step="write it so",
        )
    return Rank(_ranked(rows, node.this, where), _share(rows, share))


def _share(rows: Rows, node: exp.Expr) -> Fraction:
    share = rows.constant(node)
    if not 0 <= share <= 1:
        raise rows.written.refused(
            node,
            found=f"the quantile {float(share):g}",
            right="a quantile lies between 0 and 1",
            step="give 0.5 for a median",
        )
    return share


def _within_group(node: Any, rows: Rows, where: Predicate | None) -> Statistic:
    function, ordered = node.this, node.expression.expressions
    known = type(function) in (*_QUANTILES, exp.Mode)
    if len(ordered) != 1 or not known or function.args.get("expression"):
        raise rows.written.refused(
            node,
            found="WITHIN GROUP that is not understood",
            right="it follows PERCENTILE_CONT, PERCENTILE_DISC or MODE, and orders by one expression",
            step="as in PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost)",
        )
    of = ordered[0].this
    with rows.written.at(node):
        if isinstance(function, exp.Mode):
            return Most(_options(rows, of, where))
        share = _share(rows, function.this)
        found = Rank(_ranked(rows, of, where), 1 - share if ordered[0].args.get("desc") else share)
        require_answerable(found, rows.contract)
        return found


def _mode(rows: Rows, node: Any, where: Predicate | None) -> Statistic:
    return Most(_options(rows, node.this, where))


def _top(rows: Rows, node: Any, where: Predicate | None) -> Statistic:
    return Most(_options(rows, node.this, where), _several(rows, node.expression))


def _most_by(*, largest: bool) -> Callable[[Rows, Any, Predicate | None], Statistic]:
    def read(rows: Rows, node: Any, where: Predicate | None) -> Statistic:
        group, by, count = _options(rows, node.this, where), node.expression, node.args.get("count")
        number = 1 if count is None else _several(rows, count)
        if isinstance(by, exp.Count) and isinstance(by.this, exp.Star):
            return Most(group, number, largest=largest)
        if isinstance(by, exp.Sum):
            return Most(group, number, _value(rows, by.this, None), largest)
        raise rows.written.refused(
            by,
            found="the key of the one row with the largest value",
            right="one row must not decide; keys are chosen by their number of rows or their sum",
            step="write ARG_MAX(key, SUM(value)) or ARG_MAX(key, COUNT(*))",
        )

    return read


def _several(rows: Rows, node: exp.Expr) -> int:
    number = whole_number(node, rows.written, "a number of keys")
    if not number:
        raise rows.written.refused(node, found="no key at all", right="at least 1 is chosen", step="write 3")
    return number


def _options(rows: Rows, node: exp.Expr | None, where: Predicate | None) -> Any:
    if node is None:
        raise rows.written.refused(
            None, found="MODE of nothing", right="it is the mode of a column", step="write MODE(region)"
        )
    if where is not None:
        raise rows.written.refused(
            node,
            found="keys chosen with a FILTER",
            right="keys are chosen among the rows that WHERE keeps",
            step="write the condition in WHERE, in a query of its own",
        )
    with rows.written.at(node):
        found: Sorted = sorted_by(rows.row(node), rows.contract)
    if found.group is None or found.words is not None:
        raise rows.written.refused(
            node,
            found="a choice among keys that are no column's public ones",
            right="keys are chosen from a category, a boolean or a number on its grid",
            step="name such a column, or group by the expression and take the largest COUNT(*)",
        )
    return found.group


_READERS: Mapping[type[exp.Expr], Callable[[Rows, Any, Predicate | None], Statistic]] = MappingProxyType(
    {
        exp.Count: _count,
        exp.CountIf: _count_if,
        exp.Sum: lambda rows, node, where: Sum(_value(rows, node.this, where)),
        exp.Avg: lambda rows, node, where: Mean(_value(rows, node.this, where)),
        exp.Variance: _variance(sample=True, root=False),
        exp.VariancePop: _variance(sample=False, root=False),
        exp.Stddev: _variance(sample=True, root=True),
        exp.StddevSamp: _variance(sample=True, root=True),
        exp.StddevPop: _variance(sample=False, root=True),
        exp.CovarSamp: _pair(Covariance),
        exp.CovarPop: _pair(lambda left, right: Covariance(left, right, sample=False)),
        exp.Corr: _pair(Correlation),
        exp.Median: lambda rows, node, where: Rank(_ranked(rows, node.this, where), Fraction(1, 2)),
        **dict.fromkeys(_QUANTILES, _quantile),
        exp.Min: lambda rows, node, where: Rank(_ranked(rows, node.this, where), Fraction(0), "min"),
        exp.Max: lambda rows, node, where: Rank(_ranked(rows, node.this, where), Fraction(1), "max"),
        exp.Mode: _mode,
        exp.ApproxTopK: _top,
        exp.ArgMax: _most_by(largest=True),
        exp.ArgMin: _most_by(largest=False),
    }
)
AGGREGATES: tuple[type[exp.Expr], ...] = (exp.Filter, exp.WithinGroup, *_READERS)
