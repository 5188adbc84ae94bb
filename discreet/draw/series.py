"""Which colour, dash and glyph belong to which series, and how a reader learns it: labels at line ends or a legend.

A chart with one series in a family wears the family's colour. Where there are several, the family's sign above the
title speaks for all of them, and the series get the neutral palette.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.draw.chart import Area, Cells, Chart, Intervals, Line, Mark, Points, Rule
from discreet.draw.element import Attribute, coordinate, element, filled, lined, words
from discreet.draw.format import written
from discreet.draw.lettering import reach, shortened
from discreet.draw.palette import FAMILIES, INK, MUTED, SERIES, SIGNED, Shade
from discreet.draw.path import glyph
from discreet.draw.scale import number, scale

__all__ = ["Look", "dashed", "ends", "legend", "looks", "spread", "strengths"]

_DASHES = (None, "7 3", "2 3", "9 3 2 3")
_SIZE = 12.0
_ROW = 20.0
_END_LABEL = 150.0
_END_MOST = 8
_APART = 15.0
_USUAL = 300.0
_RAMP = (0.12, 0.34, 0.56, 0.78, 1.0)


@dataclass(frozen=True, slots=True)
class Look:
    """How one series looks."""

    shade: Shade
    dash: str | None = None
    glyph: int = 0


@dataclass(frozen=True, slots=True)
class Strengths:
    """The largest size among the values of a heat map, each value as a share of it, and whether any is below zero."""

    most: float
    shares: tuple[float | None, ...]
    signed: bool


def looks(chart: Chart) -> dict[str, Look]:
    """The look of each label, in order of appearance; rules are no series."""
    labels = list(dict.fromkeys(mark.label for mark in chart.marks if not isinstance(mark, Rule)))
    if len(labels) == 1 and chart.family != "plain":
        return {labels[0]: Look(FAMILIES[chart.family].shade)}
    return {
        label: Look(SERIES[at % len(SERIES)], _DASHES[at // len(SERIES) % len(_DASHES)], at % 4)
        for at, label in enumerate(labels)
    }


def strengths(cells: Cells) -> Strengths:
    """How strong each cell is drawn."""
    values = [number(value) for value in cells.value]
    most = max((abs(value) for value in values if value is not None), default=0.0)
    shares = tuple(None if value is None else value / most if most else 0.0 for value in values)
    return Strengths(most, shares, any(value is not None and value < 0 for value in values))


def dashed(look: Look) -> dict[str, Attribute]:
    """The attributes of a line in this look."""
    return {**lined(look.shade, "line"), "stroke_width": 2, "stroke_dasharray": look.dash}


def ends(chart: Chart, wide: bool) -> dict[str, str]:
    """Labels to stand at the ends of lines, shortened; none where a legend serves better."""
    labelled = [mark for mark in chart.marks if mark.label and not isinstance(mark, Rule)]
    lines = [mark for mark in labelled if isinstance(mark, Line) and not isinstance(mark, Points)]
    names = {mark.label for mark in lines}
    areas = [mark for mark in labelled if isinstance(mark, Area) and mark.label in names]
    if not wide or not lines or len(lines) + len(areas) < len(labelled) or len(names) != len(lines):
        return {}
    if len(lines) > _END_MOST or not _apart_at_end(chart, lines):
        return {}
    return {line.label: shortened(line.label, _SIZE, _END_LABEL) for line in lines}


def _apart_at_end(chart: Chart, lines: list[Line]) -> bool:
    """Whether the lines end at one x and far enough from each other for their names."""
    last = [
        next(((x, y) for x, y in zip(line.x[::-1], line.y[::-1], strict=True) if number(y) is not None), (None, None))
        for line in lines
    ]
    values = [place for mark in chart.marks for place in mark.places("y", True)]
    heights = [at for _, y in last if (at := scale(chart.y, values, _USUAL, 0).at(y)) is not None]
    moved = spread(heights, 0, _USUAL)
    near = all(abs(old - new) <= _APART / 2 for old, new in zip(heights, moved, strict=True))
    return near and len(heights) == len(lines) and len({x for x, _ in last}) == 1


def legend(chart: Chart, width: float, top: float) -> tuple[list[str], float]:
    """The legend in rows from `top` on, and where it ends."""
    entries = _entries(chart)
    parts: list[str] = []
    x, y = 0.0, top
    for mark, label, look in entries:
        name, sign = shortened(label, _SIZE, width - 30), _swatch_width(mark)
        if x > 0 and x + sign + 6 + reach(name, _SIZE) > width:
            x, y = 0.0, y + _ROW
        parts += [_swatch(mark, look, x, y + 9), words(name, x + sign + 6, y + 13, **filled(INK, "label"))]
        x += sign + 6 + reach(name, _SIZE) + 16
    bottom = y + _ROW if entries else top
    for mark in chart.marks:
        if isinstance(mark, Cells):
            parts += _ramp(mark, looks(chart)[mark.label].shade, width, bottom)
            bottom += _ROW
    return parts, bottom


def _entries(chart: Chart) -> list[tuple[Mark, str, Look]]:
    first: dict[str, Mark] = {}
    for mark in chart.marks:
        if mark.label and not isinstance(mark, Rule | Cells) and isinstance(first.get(mark.label), Area | None):
            first[mark.label] = mark
    styles = looks(chart)
    return [(mark, label, styles[label]) for label, mark in first.items()]


def _swatch_width(mark: Mark) -> int:
    return 22 if isinstance(mark, Area | Line) and not isinstance(mark, Points) else 12


def _swatch(mark: Mark, look: Look, x: float, y: float) -> str:
    if isinstance(mark, Points | Intervals):
        return element("path", d=glyph(look.glyph, x + 6, y), **filled(look.shade))
    width = _swatch_width(mark)
    if isinstance(mark, Line):
        return element("path", d=f"M{coordinate(x)} {coordinate(y)}h{width}", **dashed(look))
    opacity = "0.3" if isinstance(mark, Area) else None
    return element("rect", x=x, y=y - 6, width=width, height=12, fill_opacity=opacity, **filled(look.shade))


def _ramp(cells: Cells, shade: Shade, width: float, top: float) -> list[str]:
    """The scale of a heat map: from nothing to the largest value, or between the largest of both signs."""
    found = strengths(cells)
    if not found.most:
        return []
    steps = [(SIGNED[0], share) for share in reversed(_RAMP)] if found.signed else []
    steps += [(SIGNED[1] if found.signed else shade, share) for share in _RAMP]
    low = written(cells.format, -found.most if found.signed else 0)
    title = f"{cells.label}  {low}".strip()
    parts = [words(title, 0, top + 13, **filled(MUTED, "label"))]
    x, high = reach(title, _SIZE) + 8, written(cells.format, found.most)
    each = min(18.0, (width - x - reach(high, _SIZE) - 8) / len(steps))
    for hue, share in steps:
        parts.append(element("rect", x=x, y=top + 3, width=each, height=12, fill_opacity=f"{share}", **filled(hue)))
        x += each
    return [*parts, words(high, x + 8, top + 13, **filled(MUTED, "label"))]


def spread(places: list[float], low: float, high: float) -> list[float]:
    """The places moved as little as need be, so that labels at them do not overlap."""
    order = sorted(range(len(places)), key=places.__getitem__)
    moved = list(places)
    floor = low
    for at in order:
        moved[at] = max(moved[at], floor)
        floor = moved[at] + _APART
    ceiling = high
    for at in reversed(order):
        moved[at] = min(moved[at], ceiling)
        ceiling = moved[at] - _APART
    return moved
