"""The frame of a chart: where the plot lies, its grid lines, tick labels that do not overlap, and the axis titles."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise

from discreet.draw.chart import Axis, Bars, Cells, Chart, Place, Side
from discreet.draw.element import coordinate, element, filled, lined, words
from discreet.draw.format import ticked
from discreet.draw.lettering import escape, reach, shortened, wrapped
from discreet.draw.palette import HAIR, INK, MUTED
from discreet.draw.scale import Bands, Ruler, gap, number, scale

__all__ = ["Plot", "along", "draw", "lay", "shared"]

_SIZE = 12.0
_LEADING = 14.0
_GAP = 8.0
_SLANT = 40
_SLANTED_MOST = 130.0
_ROW = 26.0
_TALLEST = 1600.0
_NEAR = 0.35


@dataclass(frozen=True, slots=True)
class Tick:
    """A label of an axis: its place, its lines, and the text in full where the lines were shortened."""

    at: float
    lines: tuple[str, ...]
    full: str

    @property
    def width(self) -> float:
        """Pixels the widest line fills."""
        return max(reach(line, _SIZE) for line in self.lines)

    @property
    def whole(self) -> bool:
        """Whether nothing was cut off."""
        return " ".join(self.lines).split() == self.full.split()


@dataclass(frozen=True, slots=True)
class Plot:
    """The rectangle the marks lie in, with the scales of both sides and their labels."""

    left: float
    top: float
    right: float
    bottom: float
    x: Ruler | Bands
    y: Ruler | Bands
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    slanted: bool

    @property
    def foot(self) -> float:
        """Where the labels under the plot end."""
        if self.slanted:
            drop = max((tick.width for tick in self.x_ticks), default=0) * math.sin(math.radians(_SLANT))
            return self.bottom + _GAP + drop + _LEADING / 2
        return self.bottom + _GAP + _LEADING * max((len(tick.lines) for tick in self.x_ticks), default=0)


def lay(chart: Chart, width: float, top: float, margin: float) -> Plot:
    """The plot under `top`, with `margin` pixels kept free to its right."""
    height = _height(chart, width)
    y = _scale(chart, "y", top + height, top)
    if isinstance(y, Bands):
        y = replace(y, start=top, end=top + height)
    y_ticks = _beside(y, width)
    left = max((tick.width for tick in y_ticks), default=0) + _GAP
    right = width - margin
    x, x_ticks, slanted = _below(chart, left, right)
    before, behind = _overhang(x_ticks, slanted, width)
    if before > 0 or behind > 0:
        left, right = left + before, right - behind
        x, x_ticks, slanted = _below(chart, left, right)
    return Plot(left, top, right, top + height, x, y, x_ticks, y_ticks, slanted)


def draw(chart: Chart, plot: Plot) -> tuple[list[str], float]:
    """Grid, labels and the title under the plot, and where all of it ends."""
    parts = [_grid(chart, plot), *(_beside_label(plot, tick) for tick in plot.y_ticks)]
    parts += [_under_label(plot, tick) for tick in plot.x_ticks]
    if not chart.x.title:
        return parts, plot.foot + 2
    title = shortened(chart.x.title, _SIZE, plot.right)
    middle = max((plot.left + plot.right) / 2, reach(title, _SIZE) / 2)
    parts.append(words(title, middle, plot.foot + 15, text_anchor="middle", **filled(MUTED, "axis")))
    return parts, plot.foot + 22


def _below(chart: Chart, left: float, right: float) -> tuple[Ruler | Bands, tuple[Tick, ...], bool]:
    x = _scale(chart, "x", left, right)
    return (x, *_under(x))


def _height(chart: Chart, width: float) -> float:
    if chart.upright:
        return min(max(width * 0.48, 190.0), 330.0)
    rows = len(chart.y.categories)
    groups = max(1, sum(not isinstance(mark, Cells) and bool(mark.label) for mark in chart.marks))
    row = _ROW if groups == 1 else 10.0 + 12.0 * groups
    return rows * max(min(row, _TALLEST / rows), 1.5)


def shared(charts: tuple[Chart, ...]) -> tuple[Chart, ...]:
    """Small multiples compare: where all charts have the same axis, it gets the same domain in each."""
    common: dict[str, Axis] = {}
    for side in ("x", "y"):
        axes = {chart.x if side == "x" else chart.y for chart in charts}
        if len(axes) == 1 and len({chart.upright for chart in charts}) == 1:
            axis = axes.pop()
            found = [along(chart, side) for chart in charts]
            ruler = scale(axis, (v for values, _ in found for v in values), 0, 1, zero=max(z for _, z in found))
            common[side] = replace(axis, domain=(ruler.low, ruler.high)) if isinstance(ruler, Ruler) else axis
    return tuple(replace(chart, x=common.get("x", chart.x), y=common.get("y", chart.y)) for chart in charts)


def along(chart: Chart, side: Side) -> tuple[list[Place], float]:
    """All values along one side, with room for bars that stand on a ruler, and how near is near enough to show zero."""
    values = [place for mark in chart.marks for place in mark.places(side, chart.upright)]
    bars = [mark for mark in chart.marks if isinstance(mark, Bars)]
    if (side == "y") == chart.upright:
        return values, 1.0 if bars else _NEAR
    return values + [edge for mark in bars for edge in _edges(mark.places(side, chart.upright))], 0.0


def _scale(chart: Chart, side: Side, start: float, end: float) -> Ruler | Bands:
    values, zero = along(chart, side)
    return scale(chart.x if side == "x" else chart.y, values, start, end, zero=zero)


def _edges(places: tuple[Place, ...]) -> list[float]:
    """Room for half a bar at both ends of a ruler."""
    at = [drawn for place in places if (drawn := number(place)) is not None]
    half = gap(at, default=0.0) / 2
    return [min(at) - half, max(at) + half] if at else []


def _beside(y: Ruler | Bands, width: float) -> tuple[Tick, ...]:
    if isinstance(y, Ruler):
        most = round(min(max(abs(y.end - y.start) / 38, 3), 8))
        return _numbers(y, most)
    longest = width * 0.36
    every = math.ceil(_LEADING / y.step)
    lines = 2 if y.step >= 2 * _LEADING - 2 else 1
    return tuple(
        Tick(place, wrapped(name, _SIZE, longest, lines), name)
        for at, (name, place) in enumerate(zip(y.categories, y.centres, strict=True))
        if at % every == 0
    )


def _under(x: Ruler | Bands) -> tuple[tuple[Tick, ...], bool]:
    if isinstance(x, Ruler):
        return _apart(x), False
    named = list(zip(x.categories, x.centres, strict=True))
    for lines in (1, 2, 3):
        ticks = tuple(Tick(place, wrapped(name, _SIZE, max(x.step - 6, 1), lines), name) for name, place in named)
        if all(tick.whole for tick in ticks):
            return ticks, False
    every = math.ceil(_LEADING / math.sin(math.radians(_SLANT)) / x.step)
    return tuple(
        Tick(place, (shortened(name, _SIZE, _SLANTED_MOST),), name)
        for at, (name, place) in enumerate(named)
        if at % every == 0
    ), True


def _numbers(ruler: Ruler, most: int) -> tuple[Tick, ...]:
    ticks = ruler.ticks(most)
    places = [ruler.at(tick) for tick in ticks]
    return tuple(
        Tick(place, (label,), label)
        for place, label in zip(places, ticked(ruler.format, ticks, log=ruler.log), strict=True)
        if place is not None
    )


def _apart(x: Ruler) -> tuple[Tick, ...]:
    """As many numbers as stand under the plot without touching; of the finest only every other if need be."""
    finest = _numbers(x, 10)
    for ticks in (*(_numbers(x, most) for most in range(10, 2, -1)), *(finest[::every] for every in (2, 3, 5))):
        clear = (b.at - a.at >= (a.width + b.width) / 2 + 12 for a, b in pairwise(ticks))
        if len(ticks) > 1 and all(clear):
            return ticks
    return finest[:1]


def _overhang(ticks: tuple[Tick, ...], slanted: bool, width: float) -> tuple[float, float]:
    """How far labels under the plot would stick out on the left and on the right."""
    before, behind = (math.cos(math.radians(_SLANT)), 0.0) if slanted else (0.5, 0.5)
    return (
        max([0.0, *(tick.width * before - tick.at for tick in ticks)]),
        max([0.0, *(tick.at + tick.width * behind - width for tick in ticks)]),
    )


def _grid(chart: Chart, plot: Plot) -> str:
    """Hair lines at the values' ticks, and the line the marks stand on."""
    if chart.upright:
        hairs = "".join(f"M{coordinate(plot.left)} {coordinate(t.at)}H{coordinate(plot.right)}" for t in plot.y_ticks)
        ground = f"M{coordinate(plot.left)} {coordinate(_ground(plot.y, plot.bottom))}H{coordinate(plot.right)}"
    else:
        hairs = "".join(f"M{coordinate(t.at)} {coordinate(plot.top)}V{coordinate(plot.bottom)}" for t in plot.x_ticks)
        ground = f"M{coordinate(_ground(plot.x, plot.left))} {coordinate(plot.top)}V{coordinate(plot.bottom)}"
    if isinstance(plot.x, Bands) and isinstance(plot.y, Bands):
        return ""
    return element("path", d=hairs, **lined(HAIR, "hairs")) + element("path", d=ground, **lined(MUTED, "ground"))


def _ground(ruler: Ruler | Bands, end: float) -> float:
    """The place of zero where it lies inside, the near end otherwise."""
    inside = isinstance(ruler, Ruler) and not ruler.log and ruler.low <= 0 <= ruler.high
    return ruler.base if inside and isinstance(ruler, Ruler) else end


def _beside_label(plot: Plot, tick: Tick) -> str:
    first = tick.at + 4 - (len(tick.lines) - 1) * _LEADING / 2
    return _label(tick, plot.left - _GAP, first, text_anchor="end")


def _under_label(plot: Plot, tick: Tick) -> str:
    if plot.slanted:
        x, y = coordinate(tick.at + 4), coordinate(plot.bottom + _GAP + 6)
        return _label(
            tick, tick.at + 4, plot.bottom + _GAP + 6, text_anchor="end", transform=f"rotate(-{_SLANT} {x} {y})"
        )
    return _label(tick, tick.at, plot.bottom + _GAP + 9, text_anchor="middle")


def _label(tick: Tick, x: float, y: float, **attributes: str) -> str:
    tip = "" if tick.whole else element("title", escape(tick.full))
    if len(tick.lines) == 1:
        return element("text", tip + escape(tick.lines[0]), x=float(x), y=float(y), **attributes, **filled(INK, "tick"))
    spans = [
        element("tspan", escape(line), x=float(x), y=float(y + at * _LEADING)) for at, line in enumerate(tick.lines)
    ]
    return element("text", tip, *spans, **attributes, **filled(INK, "tick"))
