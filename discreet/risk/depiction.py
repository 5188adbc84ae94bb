"""Depiction: the parts of an assessment as tables and charts. All of them are the keeper's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from discreet.draw.chart import Axis, Bars, Chart, Line
from discreet.draw.grid import Cell, Grid, GridColumn
from discreet.risk.classes import Classes, share
from discreet.risk.combinations import Combination, Combinations
from discreet.risk.diversity import Diversity

__all__ = [
    "combinations_chart",
    "combinations_grid",
    "diversity_grid",
    "growth_chart",
    "growth_grid",
    "sizes_chart",
    "sizes_grid",
    "special_grid",
    "summary",
]

_SHOWN = 10
_BANDS = (1, 2, 3, 5, 10, 20, 50, 100, 1_000, 10_000, 100_000)
_KEEPER = "Exact and confidential: for the keeper, not for publication."


def summary(classes: Classes, thresholds: Sequence[int], combinations: Combinations) -> Grid:
    """The short answer."""
    records = classes.records
    special = f"with a special unique of up to {combinations.largest} columns"
    rows: list[tuple[Cell, ...]] = [
        ("records", records, None),
        ("classes of records that look alike", classes.count, None),
        ("unique records", classes.unique, classes.unique_share),
        *(
            (f"in classes below {threshold}", classes.below(threshold), share(classes.below(threshold), records))
            for threshold in thresholds
            if threshold > 2
        ),
        (special, combinations.special, combinations.special_share),
        ("k, the smallest class", classes.k, None),
    ]
    title = f"How many records stand out on {', '.join(classes.quasi)}"
    return Grid(title, (GridColumn("what"), *_counted("records")), tuple(rows), note=_KEEPER)


def growth_grid(growth: Sequence[Classes], thresholds: Sequence[int]) -> Grid:
    """One row for each column added."""
    below = [threshold for threshold in thresholds if threshold > 2]
    columns = (
        GridColumn("column added"),
        GridColumn("classes", "count"),
        *_counted("unique"),
        *(GridColumn(f"share below {threshold}", "share") for threshold in below),
        GridColumn("k", "count"),
    )
    rows = tuple(
        (
            step.quasi[-1],
            step.count,
            step.unique,
            step.unique_share,
            *(share(step.below(threshold), step.records) for threshold in below),
            step.k,
        )
        for step in growth
    )
    return Grid("Unique records as columns are added", columns, rows)


def sizes_grid(classes: Classes) -> Grid:
    """How many classes, and how many records in them, for each band of class sizes."""
    columns = (GridColumn("records in the class"), GridColumn("classes", "count"), *_counted("records"))
    rows = tuple((name, count, held, share(held, classes.records)) for name, count, held in _banded(classes))
    return Grid("Class sizes", columns, rows)


def combinations_grid(combinations: Combinations) -> Grid:
    """The sets of columns that single out the most records."""
    columns = (GridColumn("columns"), *_counted("unique"), GridColumn("special uniques", "count"))
    rows = tuple(
        (_joined(one), one.unique, share(one.unique, combinations.records), one.minimal)
        for one in combinations.riskiest[:_SHOWN]
    )
    note = "A special unique is a record that the set singles out and no part of the set does."
    return Grid(f"Riskiest combinations of up to {combinations.largest} columns", columns, rows, note=note)


def special_grid(combinations: Combinations) -> Grid:
    """Records with a special unique, by the columns it takes and by the column it needs."""
    rows = (
        *(
            ("1 column suffices" if size == 1 else f"{size} columns suffice", count)
            for size, count in combinations.by_size
        ),
        *((f"one needs {name}", count) for name, count in combinations.by_column),
    )
    shares = tuple((what, count, share(count, combinations.records)) for what, count in rows)
    return Grid("Records with a special unique", (GridColumn("what"), *_counted("records")), shares)


def diversity_grid(diversity: Sequence[Diversity]) -> Grid:
    """One row for each sensitive column."""
    columns = (
        GridColumn("sensitive column"),
        GridColumn("distinct l", "count"),
        GridColumn("entropy l", "number"),
        GridColumn("t, equal distance", "number"),
        GridColumn("t, ordered distance", "number"),
        *_counted("given away"),
        GridColumn("guess the commonest", "share"),
    )
    rows = tuple(
        (
            one.column,
            one.distinct_l,
            one.entropy_l,
            one.t_equal,
            one.t_ordered,
            one.given_away,
            one.given_away_share,
            one.commonest_share,
        )
        for one in diversity
    )
    note = "Given away: everyone in the class shares the value. To compare: how often guessing the commonest is right."
    return Grid("What classes give away", columns, rows, note=note)


def growth_chart(growth: Sequence[Classes], thresholds: Sequence[int]) -> Chart:
    """The shares as columns are added."""
    steps = tuple(("" if place == 0 else "+ ") + step.quasi[-1] for place, step in enumerate(growth))
    lines = [Line(steps, tuple(step.unique_share for step in growth), "unique")]
    for threshold in thresholds:
        if threshold > 2:
            shares = tuple(share(step.below(threshold), step.records) for step in growth)
            lines.append(Line(steps, shares, f"in classes below {threshold}"))
    return Chart(
        "Unique records as columns are added",
        Axis("columns known", scale="band", categories=steps),
        Axis("share of records", format="share", domain=(0.0, 1.0)),
        tuple(lines),
        "Each step adds one column to what an outsider knows; the share of unique records can only rise.",
    )


def sizes_chart(classes: Classes) -> Chart:
    """Records by the size of their class."""
    banded = _banded(classes)
    names = tuple(name for name, _, _ in banded)
    return Chart(
        "Records by the size of their class",
        Axis("records in the class", scale="band", categories=names),
        Axis("records", format="count"),
        (Bars(names, tuple(held for _, _, held in banded)),),
        "How many records have as many look-alikes, themselves included. Those at 1 are unique.",
    )


def combinations_chart(combinations: Combinations) -> Chart:
    """The riskiest sets of columns."""
    top = combinations.riskiest[:_SHOWN]
    names = tuple(map(_joined, top))
    return Chart(
        "Riskiest combinations",
        Axis("share of records unique", format="share"),
        Axis("columns", scale="band", categories=names),
        (Bars(tuple(share(one.unique, combinations.records) for one in top), names),),
        f"The share of records that each set of up to {combinations.largest} columns singles out.",
    )


def _banded(classes: Classes) -> list[tuple[str, int, int]]:
    """Bands of sizes that hold anything: name, classes, records."""
    rows = []
    for low, high in pairwise((*_BANDS, None)):
        inside = [
            (size, count) for size, count in classes.sizes if size >= (low or 0) and (high is None or size < high)
        ]
        if inside:
            name = (
                f"{low:,}"
                if high == (low or 0) + 1
                else f"{low:,} or more"
                if high is None
                else f"{low:,}–{high - 1:,}"
            )
            rows.append((name, sum(count for _, count in inside), sum(size * count for size, count in inside)))
    return rows


def _counted(name: str) -> tuple[GridColumn, GridColumn]:
    return GridColumn(name, "count"), GridColumn(f"share {name}" if name != "records" else "share", "share")


def _joined(one: Combination) -> str:
    return " × ".join(one.columns)
