"""Scatter plots of two continuous quasi-identifiers, over all records and within cells of categorical ones.

They show what makes a record stand out: in a large cell the crowd thins at the edges, in a small cell hardly anyone has
a neighbour. Without labels there are no figures on the axes, cells are numbered, and numbers are brought to [0, 1]
before they are drawn: no value and no name of a category stands in the picture, its tooltips or its specification.

What it does not promise: that a picture without labels may be published. Who knows one person finds the scale again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.check import at_least, some
from discreet.data.aligned import Aligned, align
from discreet.draw.chart import Axis, Chart, Panels, Points
from discreet.errors import ArgumentError

__all__ = ["quasi_scatter"]

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

_MANY = 2_000
_GRID = 250


def quasi_scatter(
    table: Any, x: str, y: str, *, cells: Sequence[str] = (), shown: int = 3, labels: bool = False
) -> Panels:
    """All records, then the `shown` largest cells of the categorical columns; `labels` puts figures on the axes."""
    some("columns", (x, y, *cells), step="name each column once")
    at_least("shown", shown, 0)
    sides = align([table], names=[x, y, *cells], categories=cells)
    both = [sides.variable(name) for name in (x, y)]
    if not all(one.numeric for one in both):
        raise ArgumentError(
            "columns", found="one without numbers", right="x and y are numbers", step="name it among the cells"
        )
    there = ~np.isnan(both[0].numbers(0)) & ~np.isnan(both[1].numbers(0))
    spots = [_placed(one.numbers(0), there, labels) for one in both]
    axes = [_axis(name, spot, labels) for name, spot in zip((x, y), spots, strict=True)]
    charts = [_chart("all records", axes, spots, there)]
    for number, (name, inside) in enumerate(_largest(sides, cells, there)[:shown], start=1):
        charts.append(_chart(name if labels else f"cell #{number}", axes, spots, inside))
    kept = "" if labels else " Figures are left off the axes and cells are numbered."
    return Panels(
        f"{x} and {y}",
        tuple(charts),
        caption=f"All records and the largest cells of {', '.join(cells)}.{kept}" if cells else f"All records.{kept}",
    )


def _placed(values: Floats, there: Flags, labels: bool) -> Floats:
    """The values as they are drawn: very many on a grid no eye can tell apart, and in [0, 1] without labels."""
    seen = values[there]
    low = float(seen.min()) if len(seen) else 0.0
    span = (float(seen.max()) - low if len(seen) else 0.0) or 1.0
    share = (values - low) / span
    if len(seen) > _MANY:
        share = np.round(share * _GRID) / _GRID
    return share * span + low if labels else share


def _axis(name: str, spots: Floats, labels: bool) -> Axis:
    if not labels:
        return Axis(name, domain=(-0.02, 1.02), bare=True)
    seen = spots[~np.isnan(spots)]
    low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
    margin = (high - low or 1.0) / 50
    return Axis(name, domain=(low - margin, high + margin))


def _largest(sides: Aligned, cells: Sequence[str], there: Flags) -> list[tuple[str, Flags]]:
    """Cells by their number of records, each with its name and its records."""
    if not cells:
        return []
    columns = [sides.variable(name) for name in cells]
    codes = np.column_stack([one.codes(0) for one in columns])
    different, of, counts = np.unique(codes[there], axis=0, return_inverse=True, return_counts=True)
    places = np.full(len(there), -1)
    places[there] = of
    return [
        (", ".join(one.levels[code] for one, code in zip(columns, different[at], strict=True)), places == at)
        for at in np.argsort(-counts, kind="stable")
    ]


def _chart(title: str, axes: Sequence[Axis], spots: Sequence[Floats], inside: Flags) -> Chart:
    pairs = dict.fromkeys(zip(*(spot[inside].tolist() for spot in spots), strict=True))
    across, up = zip(*pairs, strict=True) if pairs else ((), ())
    return Chart(f"{title} ({int(inside.sum())})", axes[0], axes[1], (Points(across, up),), "")
