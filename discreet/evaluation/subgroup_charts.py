"""Pictures of risk groups: where records stand alone, and how far each group is moved.

Points are records. These pictures are for the keeper's eyes: what they show is as confidential as the table. Axes may
be left without words and figures for a talk, which does not make them fit to be published.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.check import at_least, some
from discreet.draw.chart import Axis, Bars, Chart, Panels, Points
from discreet.draw.graph import Graph, Node
from discreet.errors import ArgumentError
from discreet.synthesis.imputation.columns import Column, Columns, Kind, read_columns
from discreet.synthesis.imputation.copies import Copies
from discreet.synthesis.imputation.subgroups import RiskGroup, RiskGroups

__all__ = ["model_graph", "moved_by_group", "records_by_cell"]

Whole = npt.NDArray[np.int64]
_NAMES = {RiskGroup.LOW: "low risk", RiskGroup.MEDIUM: "medium risk", RiskGroup.HIGH: "high risk"}
_CELLS_AT_MOST = 24


def records_by_cell(
    columns: Columns,
    x: str,
    y: str,
    *,
    by: Sequence[str],
    groups: RiskGroups | None = None,
    cells: int = 3,
    labelled: bool = True,
) -> Panels:
    """Two numbers of all records in one panel, and then of the records in the largest cells of the levels of `by`."""
    across, up = (_number(columns, name) for name in (x, y))
    levels = [columns.column(name) for name in some("by", tuple(by), step="name the columns that make the cells")]
    if not 1 <= cells <= _CELLS_AT_MOST:
        raise ArgumentError("cells", found=f"{cells}", right=f"1 to {_CELLS_AT_MOST}", step="give cells=3")
    keys = np.array([column.codes for column in levels])
    _, cell, sizes = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    cell = np.asarray(cell).ravel()
    there = ~(across.missing | up.missing)
    shown = {"all records": there}
    for number, place in enumerate(np.argsort(-sizes, kind="stable")[:cells], start=1):
        shown[f"cell #{number}"] = there & (cell == place)
    horizontal, vertical = (Axis(one.name if labelled else " ", domain=_domain(one)) for one in (across, up))
    charts = []
    for title, rows in shown.items():
        marks = [
            Points(tuple(across.values[mine].tolist()), tuple(up.values[mine].tolist()), label)
            for label, mine in _parts(rows, groups)
            if mine.any()
        ]
        words = f"{int(rows.sum())} records." if labelled else " "
        charts.append(Chart(title, horizontal, vertical, tuple(marks), words))
    return Panels(f"{x} and {y}" if labelled else " ", tuple(charts))


def moved_by_group(columns: Columns, copies: Copies, groups: RiskGroups, name: str) -> Chart:
    """The standard deviation, in each group, of what a copy has less what the table has: wider masks move more."""
    column = _number(columns, name)
    if name not in copies.perturbed:
        raise ArgumentError("column", found=f"{name!r} was not perturbed", right="one that was", step="name another")
    spread: dict[str, float] = {}
    for group in RiskGroup:
        mine = (groups.codes == group) & ~column.missing
        if mine.any():
            moved = [_values(frame, name)[mine] - column.values[mine] for frame in copies]
            spread[_NAMES[group]] = float(np.mean([one.std() for one in moved]))
    return Chart(
        f"How far {name} is moved",
        Axis("risk group", scale="band", categories=tuple(spread)),
        Axis(f"standard deviation of the change in {name}"),
        (Bars(tuple(spread), tuple(spread.values())),),
        "The rarer a record is, the more its mask hides and the further its value moves.",
        family="measured risk",
    )


def model_graph(groups: int = 3) -> Graph:
    """What decides what in data augmentation by risk groups: the group and the copula decide the cells; these, with the
    settings of their group, decide the masks."""
    at_least("groups", groups, 1)
    cells = ("X obs", "X mis", "Z obs", "Z mis")
    nodes = [Node("H", 0.75, 0, known=True), Node("θ", 2.25, 0)]
    nodes += [Node(name, place, 1, known=name.endswith("obs")) for place, name in enumerate(cells)]
    arrows = [(cause, cell) for cause in ("H", "θ") for cell in cells]
    for group in range(groups):
        nodes += [Node(f"W {group}", group, 2), Node(f"λ {group}", group, 3, known=True)]
        arrows += [("X obs", f"W {group}"), (f"λ {group}", f"W {group}")]
    return Graph(
        "Data augmentation by risk groups",
        tuple(nodes),
        tuple(arrows),
        "The risk group H and the copula's parameters θ decide the perturbed columns X and the open columns Z, seen "
        "or missing. A group's masks W are drawn from the X that are seen, by its settings λ. Grey nodes are known.",
    )


def _number(columns: Columns, name: str) -> Column:
    column = columns.column(name)
    if not column.is_continuous:
        raise ArgumentError(f"column {name!r}", found="levels", right="a number", step="name a continuous column")
    return column


def _domain(column: Column) -> tuple[float, float]:
    low, high = float(np.nanmin(column.values)), float(np.nanmax(column.values))
    return (low, high) if low < high else (low - 1, high + 1)


def _parts(rows: npt.NDArray[np.bool_], groups: RiskGroups | None) -> list[tuple[str, npt.NDArray[np.bool_]]]:
    if groups is None:
        return [("", rows)]
    return [(_NAMES[group], rows & (groups.codes == group)) for group in RiskGroup]


def _values(frame: Any, name: str) -> npt.NDArray[np.float64]:
    return read_columns(frame, kinds={name: Kind.CONTINUOUS}).column(name).values
