"""Closeness: how far a class lies from the whole table along an ordered column (t-closeness, ordered distance).

The ordered earth mover's distance between a class and the table, over the m values of the column in their order, is
Σ |F_class(i) − F(i)| / (m − 1), where F is the share of records up to the i-th value (Li, Li and Venkatasubramanian
2007). A missing value stands after the last. Written as whole numbers, with f(i) records of the table up to value i and
k of the class, size · records · (m − 1) · distance = Σ |k(i) · records − f(i) · size|.

1. The class's k changes only where the class has a value. Between two of these, from a to b, k is constant and f rises,
   so that the difference changes its sign once, at the place x of the first f(x) ≥ k · records / size.
2. With g(i) = f(0) + … + f(i−1), the sum from a to b is k · records · (2x − a − b) − size · (2g(x) − g(a) − g(b)).
3. All x and g(x) are found by laying the f and the thresholds k · records / size in one row and counting the f on the
   way; so the work grows with the cells, not with classes × values.

What it does not promise: privacy. The distances are exact and confidential.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from sqlglot import exp

from discreet.data.engines.base import Engine
from discreet.risk.cells import Cells, alike, counts, reading

__all__ = ["farthest_in_order"]


def farthest_in_order(engine: Engine, cells: Cells) -> float:
    """The ordered distance of the farthest class, from 0 to 1. The table is not empty. Confidential."""
    return max(map(_distance, engine.integers(_farthest(cells))))


@functools.lru_cache(maxsize=8)
def _farthest(cells: Cells) -> exp.Query:
    """The largest distance among the classes of each size; built once, since the same columns are asked again."""
    tables = {
        **cells.tables(),
        "ranked": _ranked(cells.value),
        "heights": _heights(cells.value),
        "ends": exp.select("COUNT(*) AS m", "CAST(SUM(f) AS BIGINT) AS g").from_("ranked"),
        "steps": _steps(cells),
        "placed": _placed(),
        "distances": _distances(),
    }
    farthest = exp.select("size", "MAX(distance)", "MAX(ends.m)", "MAX(whole.records)").from_("distances")
    farthest = farthest.join("ends", join_type="CROSS").join("whole", join_type="CROSS").group_by("size")
    return reading(farthest, tables)


def _distance(row: Sequence[int | None]) -> float:
    size, distance, values, records = counts(row)
    return distance / (size * records * (values - 1)) if values > 1 else 0.0


def _ranked(value: exp.Column) -> exp.Select:
    """Each value's place i in the order, and the records f up to it."""
    order = exp.Order(expressions=[exp.Ordered(this=value, nulls_first=False)])
    place = exp.Sub(this=exp.Window(this=exp.RowNumber(), order=order), expression=exp.Literal.number(1))
    height = exp.Window(this=exp.Sum(this=exp.column("total")), order=order.copy())
    return exp.select(value, exp.alias_(place, "i"), exp.alias_(exp.cast(height, "BIGINT"), "f")).from_("levels")


def _heights(value: exp.Column) -> exp.Select:
    """The same with g, the sum of all f before."""
    return exp.select(value, "i", "f", "CAST(SUM(f) OVER (ORDER BY i) - f AS BIGINT) AS g").from_("ranked")


def _steps(cells: Cells) -> exp.Select:
    """Each cell's stretch from a to b, its k, and the threshold that f must reach."""
    along = "OVER (PARTITION BY classes.id ORDER BY heights.i)"
    parts = (
        exp.select(
            "classes.id",
            "classes.size",
            f"CAST(SUM(cells.n) {along} AS BIGINT) AS k",
            "heights.i AS a",
            "heights.g AS ga",
            f"COALESCE(LEAD(heights.i) {along}, ends.m) AS b",
            f"COALESCE(LEAD(heights.g) {along}, ends.g) AS gb",
        )
        .from_("cells")
        .join("heights", on=alike([cells.sensitive.physical], "cells", "heights"))
        .join("classes", on=alike(cells.keys, "cells", "classes"))
        .join("ends", join_type="CROSS")
    )
    threshold = exp.IntDiv(
        this=exp.paren(exp.maybe_parse("k * whole.records + size - 1")), expression=exp.column("size")
    )
    return (
        exp.select("parts.*", "k * whole.records AS reached", exp.alias_(threshold, "threshold"))
        .from_(parts.subquery("parts"))
        .join("whole", join_type="CROSS")
    )


def _placed() -> exp.Select:
    """Each step with the number x of values whose f stays below its threshold, and their sum gx."""
    carried = ("id", "size", "reached", "a", "ga", "b", "gb")
    steps = exp.select("threshold AS at", "0 AS level", *carried).from_("steps")
    levels = exp.select("f AS at", "1 AS level", *(f"NULL AS {name}" for name in carried)).from_("heights")
    along = "OVER (ORDER BY at, level)"
    laid = (
        exp.select("level", *carried)
        .select(f"SUM(level) {along} AS x", f"SUM(level * at) {along} AS gx")
        .from_(exp.union(steps, levels, distinct=False).subquery("laid"))
    )
    inside = ("GREATEST(a, LEAST(b, x)) AS x", "GREATEST(ga, LEAST(gb, gx)) AS gx")
    return exp.select(*carried, *inside).from_(laid.subquery("laid")).where("level = 0")


def _distances() -> exp.Select:
    """Each class's whole-number distance: its steps, and the stretch before its first value, where k is 0."""
    wide = "CAST(2 * x - a - b AS HUGEINT)", "CAST(2 * gx - ga - gb AS HUGEINT)"
    stretch = f"SUM(reached * {wide[0]} - size * {wide[1]}) + MIN(ga) * CAST(size AS HUGEINT)"
    return exp.select("size", f"{stretch} AS distance").from_("placed").group_by("id", "size")
