"""The allow-list: every node of the tree and every argument of a node is one that is known here, or it is refused.

The list says what may be written at all; what it means, and where it may stand, is decided by the readers of clauses.
A kind of node, or an argument of one, that a later version of the parser brings is refused until it is listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sqlglot import exp

from discreet.errors import ArgumentError
from discreet.query.sql.written import Written, nearest, shown

__all__ = ["FUNCTIONS", "require_allowed"]

_DEEP_AT_MOST = 60
_BINARY, _UNARY, _LIST = ("this", "expression"), ("this",), ("this", "expressions")

# Functions by the name that is given to those who write another one.
FUNCTIONS: Mapping[str, type[exp.Expr]] = MappingProxyType(
    {
        "COUNT": exp.Count,
        "COUNT_IF": exp.CountIf,
        "SUM": exp.Sum,
        "AVG": exp.Avg,
        "MIN": exp.Min,
        "MAX": exp.Max,
        "VARIANCE": exp.Variance,
        "VAR_SAMP": exp.Variance,
        "VAR_POP": exp.VariancePop,
        "STDDEV": exp.Stddev,
        "STDDEV_SAMP": exp.StddevSamp,
        "STDDEV_POP": exp.StddevPop,
        "COVAR_SAMP": exp.CovarSamp,
        "COVAR_POP": exp.CovarPop,
        "CORR": exp.Corr,
        "MEDIAN": exp.Median,
        "QUANTILE": exp.Quantile,
        "QUANTILE_CONT": exp.PercentileCont,
        "QUANTILE_DISC": exp.PercentileDisc,
        "PERCENTILE_CONT": exp.PercentileCont,
        "PERCENTILE_DISC": exp.PercentileDisc,
        "APPROX_QUANTILE": exp.ApproxQuantile,
        "MODE": exp.Mode,
        "APPROX_TOP_K": exp.ApproxTopK,
        "ARG_MAX": exp.ArgMax,
        "ARG_MIN": exp.ArgMin,
        "WIDTH_BUCKET": exp.WidthBucket,
        "DATE_TRUNC": exp.TimestampTrunc,
        "DATE_DIFF": exp.DateDiff,
        "EXTRACT": exp.Extract,
        "YEAR": exp.Year,
        "QUARTER": exp.Quarter,
        "MONTH": exp.Month,
        "WEEK": exp.Week,
        "DAY": exp.Day,
        "DAYOFWEEK": exp.DayOfWeek,
        "DAYOFYEAR": exp.DayOfYear,
        "HOUR": exp.Hour,
        "MINUTE": exp.Minute,
        "ABS": exp.Abs,
        "ROUND": exp.Round,
        "FLOOR": exp.Floor,
        "CEIL": exp.Ceil,
        "SQRT": exp.Sqrt,
        "LN": exp.Ln,
        "LOG10": exp.Log,
        "EXP": exp.Exp,
        "POWER": exp.Pow,
        "GREATEST": exp.Greatest,
        "LEAST": exp.Least,
        "COALESCE": exp.Coalesce,
        "NULLIF": exp.Nullif,
        "IF": exp.If,
        "CAST": exp.Cast,
    }
)
_ARGUMENTS: Mapping[type[exp.Expr], tuple[str, ...]] = MappingProxyType(
    {
        # Clauses
        exp.Select: ("with_", "expressions", "from_", "where", "group", "having", "order", "limit", "offset", "joins"),
        exp.Join: ("this", "side", "kind", "on", "using"),
        exp.With: ("expressions",),
        exp.CTE: ("this", "alias"),
        exp.Subquery: ("this", "alias"),
        exp.From: _UNARY,
        exp.Table: ("this", "alias"),
        exp.TableAlias: ("this", "columns"),
        exp.Where: _UNARY,
        exp.Group: ("expressions", "all"),
        exp.Rollup: ("expressions",),
        exp.Cube: ("expressions",),
        exp.GroupingSets: ("expressions",),
        exp.Tuple: ("expressions",),
        exp.Having: _UNARY,
        exp.Order: ("expressions",),
        exp.Ordered: ("this", "desc"),
        exp.Limit: ("expression",),
        exp.Offset: ("expression",),
        exp.Alias: ("this", "alias"),
        exp.Filter: _BINARY,
        exp.WithinGroup: _BINARY,
        exp.Distinct: ("expressions",),
        # Leaves
        exp.Identifier: ("this", "quoted"),
        exp.Column: ("this", "table"),
        exp.Star: (),
        exp.Literal: ("this", "is_string"),
        exp.Null: (),
        exp.Boolean: _UNARY,
        exp.Var: _UNARY,
        exp.DataType: ("this",),
        exp.Interval: ("this", "unit"),
        # Signs
        exp.Paren: _UNARY,
        exp.And: _BINARY,
        exp.Or: _BINARY,
        exp.Not: _UNARY,
        exp.EQ: _BINARY,
        exp.NEQ: _BINARY,
        exp.LT: _BINARY,
        exp.LTE: _BINARY,
        exp.GT: _BINARY,
        exp.GTE: _BINARY,
        exp.Is: _BINARY,
        exp.In: _LIST,
        exp.Between: ("this", "low", "high"),
        exp.Like: (*_BINARY, "negate"),
        exp.Add: _BINARY,
        exp.Sub: _BINARY,
        exp.Mul: _BINARY,
        exp.Div: _BINARY,
        exp.IntDiv: _BINARY,
        exp.Neg: _UNARY,
        exp.Case: ("this", "ifs", "default"),
        # Functions
        exp.Count: ("this", "big_int"),
        exp.CountIf: _UNARY,
        exp.Sum: _UNARY,
        exp.Avg: _UNARY,
        exp.Min: _UNARY,
        exp.Max: _UNARY,
        exp.Variance: _UNARY,
        exp.VariancePop: _UNARY,
        exp.Stddev: _UNARY,
        exp.StddevSamp: _UNARY,
        exp.StddevPop: _UNARY,
        exp.CovarSamp: _BINARY,
        exp.CovarPop: _BINARY,
        exp.Corr: _BINARY,
        exp.Median: _UNARY,
        exp.Quantile: ("this", "quantile"),
        exp.PercentileCont: _BINARY,
        exp.PercentileDisc: _BINARY,
        exp.ApproxQuantile: ("this", "quantile"),
        exp.Mode: _UNARY,
        exp.ApproxTopK: _BINARY,
        exp.ArgMax: (*_BINARY, "count"),
        exp.ArgMin: (*_BINARY, "count"),
        exp.WidthBucket: ("this", "min_value", "max_value", "num_buckets"),
        exp.TimestampTrunc: ("this", "unit"),
        exp.DateDiff: ("this", "expression", "unit", "date_part_boundary"),
        exp.Extract: _BINARY,
        exp.Year: _UNARY,
        exp.Quarter: _UNARY,
        exp.Month: _UNARY,
        exp.Week: _UNARY,
        exp.Day: _UNARY,
        exp.DayOfWeek: _UNARY,
        exp.DayOfYear: _UNARY,
        exp.Hour: _UNARY,
        exp.Minute: _UNARY,
        exp.Abs: _UNARY,
        exp.Round: ("this", "decimals"),
        exp.Floor: _UNARY,
        exp.Ceil: _UNARY,
        exp.Sqrt: _UNARY,
        exp.Ln: _UNARY,
        exp.Log: _BINARY,
        exp.Exp: _UNARY,
        exp.Pow: _BINARY,
        exp.Greatest: (*_LIST, "ignore_nulls"),
        exp.Least: (*_LIST, "ignore_nulls"),
        exp.Coalesce: _LIST,
        exp.Nullif: _BINARY,
        exp.If: ("this", "true", "false"),
        exp.Cast: ("this", "to"),
    }
)
# What is written often and refused: in words, with what works instead.
_REFUSED: Mapping[type[exp.Expr], tuple[str, str]] = MappingProxyType(
    {
        exp.Window: ("a window function", "group by keys instead of OVER; shares of a total are ratios of two sums"),
        exp.Union: ("UNION", "ask for each SELECT by itself"),
        exp.TableSample: ("a sample of rows", "leave it out; every row counts, as the contract's unit allows"),
        exp.Exists: ("EXISTS", "write the condition over the columns of the one table"),
        exp.Placeholder: ("a placeholder", "write the value itself"),
        exp.Parameter: ("a parameter", "write the value itself"),
        exp.ILike: ("ILIKE", "LIKE, which tells upper from lower case, or IN"),
        exp.Escape: ("LIKE with ESCAPE", "LIKE with % and _ only"),
        exp.SimilarTo: ("SIMILAR TO", "LIKE with % and _ only"),
        exp.RegexpLike: ("a regular expression", "LIKE with % and _ only"),
        exp.Mod: ("the remainder of a division", "CASE with BETWEEN, or // for bins of one width"),
        exp.DPipe: ("texts put together", "group by several columns"),
        exp.Concat: ("texts put together", "group by several columns"),
        exp.TryCast: ("TRY_CAST", "the column as its contract declares it"),
        exp.CurrentDate: ("today's date", "the date itself, as DATE '2020-12-31'"),
        exp.CurrentTimestamp: ("the present moment", "the moment itself, as TIMESTAMP '2020-12-31 12:00:00'"),
        exp.ApproxDistinct: ("APPROX_COUNT_DISTINCT", "COUNT(DISTINCT …)"),
    }
)


def require_allowed(tree: exp.Expr, written: Written) -> None:
    """Refuse any node and any argument that is not listed, and what is too deep to read."""
    ahead = [(tree, 0)]
    while ahead:
        node, depth = ahead.pop()
        arguments = _ARGUMENTS.get(type(node))
        if arguments is None:
            raise _not_listed(node, written)
        if depth > _DEEP_AT_MOST:
            raise written.refused(
                node,
                found="parts within parts, too many deep",
                right=f"a query is at most {_DEEP_AT_MOST} deep",
                step="write it with fewer brackets and shorter sums",
            )
        for name, value in node.args.items():
            if _is_nothing(value):
                continue
            if name not in arguments:
                raise _argument_not_listed(node, name, value, written)
            parts = value if isinstance(value, list) else [value]
            # A chain of ANDs is a list that the parser hangs down on its left.
            chained = type(value) is type(node) and isinstance(node, exp.And | exp.Or)
            ahead += [(part, depth + (not chained)) for part in parts if isinstance(part, exp.Expr)]


def _is_nothing(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, list) and not value)


def _not_listed(node: exp.Expr, written: Written) -> ArgumentError:
    known = next((words for kind, words in _REFUSED.items() if isinstance(node, kind)), None)
    if known:
        found, step = known
        return written.refused(
            node, found=found, right="it cannot be answered with a bound on what one person changes", step=step
        )
    if isinstance(node, exp.Func):
        name = node.name.upper() if isinstance(node, exp.Anonymous) else written.name_of(node)
        return written.refused(
            node,
            found=f"the function {shown(name)}",
            right="only functions whose result is bounded can be answered",
            step=nearest(name, tuple(FUNCTIONS)),
        )
    return written.refused(
        node,
        found="a part of SQL that is not answered",
        right="a query sums, counts and groups the rows of one table",
        step="leave it out; docs/guides/sql.md lists what works",
    )


def _argument_not_listed(node: exp.Expr, name: str, value: Any, written: Written) -> ArgumentError:
    part = value[0] if isinstance(value, list) else value
    if isinstance(part, exp.Expr) and type(part) not in _ARGUMENTS:
        return _not_listed(part, written)
    words, step = _OPTIONS.get((type(node), name), (None, "leave it out; docs/guides/sql.md lists what works"))
    kind = f"an option of {written.name_of(node)}" if isinstance(node, exp.Func) else "a clause or option"
    return written.refused(
        part if isinstance(part, exp.Expr) else node,
        found=f"{words or kind} that is not answered",
        right="a query sums, counts and groups the rows of one table",
        step=step,
    )


_OPTIONS: Mapping[tuple[type[exp.Expr], str], tuple[str, str]] = MappingProxyType(
    {
        (exp.Select, "distinct"): ("SELECT DISTINCT", "GROUP BY the columns instead"),
        (exp.Select, "laterals"): ("a lateral join", "ask of one table"),
        (exp.Select, "qualify"): ("QUALIFY", "HAVING, which acts on what was released"),
        (exp.Select, "windows"): ("a window", "group by keys instead"),
        (exp.Select, "sample"): ("a sample of rows", "leave it out"),
        (exp.Select, "into"): ("INTO", "save the answer instead"),
        (exp.Select, "locks"): ("FOR UPDATE", "leave it out; a query only reads"),
        (exp.With, "recursive"): ("RECURSIVE", "leave the word out; a query is read once"),
        (exp.CTE, "materialized"): ("MATERIALIZED", "leave the word out"),
        (exp.Table, "db"): ("a schema", "the table's name alone"),
        (exp.Table, "catalog"): ("a catalogue", "the table's name alone"),
        (exp.Table, "sample"): ("a sample of rows", "leave it out"),
        (exp.Table, "pivots"): ("PIVOT", "GROUP BY both keys"),
        (exp.Column, "db"): ("a schema", "the column's name, or table.column"),
        (exp.Column, "catalog"): ("a catalogue", "the column's name, or table.column"),
        (exp.Star, "except_"): ("* EXCLUDE", "name the columns"),
        (exp.Star, "replace"): ("* REPLACE", "name the columns"),
        (exp.Star, "rename"): ("* RENAME", "name the columns"),
        (exp.Group, "rollup"): ("WITH ROLLUP", "GROUP BY ROLLUP (a, b)"),
        (exp.Group, "cube"): ("WITH CUBE", "GROUP BY CUBE (a, b)"),
        (exp.Ordered, "nulls_first"): ("NULLS FIRST", "leave it out; what is missing comes last"),
        (exp.Ordered, "with_fill"): ("WITH FILL", "leave it out; every cell is there"),
        (exp.Limit, "limit_options"): ("a LIMIT in percent or WITH TIES", "a whole number of rows"),
        (exp.In, "query"): ("IN with a SELECT", "IN with a list of values"),
        (exp.In, "unnest"): ("IN with a list function", "IN with a list of values"),
        (exp.Max, "count"): ("MAX with a count", "MAX, or APPROX_TOP_K for keys"),
        (exp.Min, "count"): ("MIN with a count", "MIN"),
    }
)
