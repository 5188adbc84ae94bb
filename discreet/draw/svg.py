"""A chart as inline SVG: text stays text, nothing runs, nothing is fetched, and it says itself in words.

Colours stand as plain attributes in their light shade, and as classes, so that a page's stylesheet can turn them
dark. There is no style attribute and no identifier: a strict content policy lets it through, and the same chart may
stand twice on a page.
"""

from __future__ import annotations

from discreet.check import at_least
from discreet.draw.chart import Chart, Line, Panels, Points
from discreet.draw.element import Attribute, coordinate, element, filled, words
from discreet.draw.frame import Plot, draw, lay, shared
from discreet.draw.lettering import escape, reach, wrapped
from discreet.draw.palette import FAMILIES, FONT, INK, MUTED, PAPER
from discreet.draw.series import Look, ends, legend, looks, spread
from discreet.draw.shapes import Brush

__all__ = ["to_svg"]

_PAD = 10.0
_WIDE, _NARROWEST = 480, 240
_TITLE = 15.0
_BLEED = 5.0
_GUTTER = 28.0


def to_svg(figure: Chart | Panels, *, width: int = 680) -> str:
    """The figure as one <svg> element of that width in pixels; below 480 it is laid out for a phone."""
    at_least("width", width, _NARROWEST)
    if isinstance(figure, Panels):
        parts, height = _panels(figure, width - 2 * _PAD)
        caption = figure.caption or " ".join(chart.caption for chart in figure.charts)
    else:
        parts, height = _chart(figure, width - 2 * _PAD)
        caption = figure.caption
    tall = round(height + 2 * _PAD)
    return element(
        "svg",
        element("title", escape(figure.title)),
        element("desc", escape(caption)),
        element("rect", width=width, height=tall, **filled(PAPER, "paper")),
        element("g", *parts, transform=f"translate({coordinate(_PAD)} {coordinate(_PAD)})"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {tall}",
        width=width,
        height=tall,
        role="img",
        aria_label=figure.title,
        class_="chart",
        font_family=FONT,
        font_size=12,
    )


def _chart(chart: Chart, width: float) -> tuple[list[str], float]:
    parts, top = _head(chart, width)
    styles, names = looks(chart), ends(chart, wide=width + 2 * _PAD >= _WIDE)
    if not names:
        key, top = legend(chart, width, top)
        parts += key
    if chart.y.title:
        lines = wrapped(chart.y.title, 12, width, 2)
        parts += [words(line, 0, top + 12 + 15 * at, **filled(MUTED, "axis")) for at, line in enumerate(lines)]
        top += 15 * len(lines)
    margin = 10 + max((reach(name, 12) for name in names.values()), default=-4)
    plot = lay(chart, width, top + 14, margin)
    frame, bottom = draw(chart, plot)
    brush = Brush(chart, plot, styles)
    shapes = brush.draw()
    if not shapes:
        x, y = (plot.left + plot.right) / 2, (plot.top + plot.bottom) / 2
        shapes = [words("no data", x, y, text_anchor="middle", **filled(MUTED, "empty"))]
    window = _window(plot, [*shapes, *brush.rules()])
    return [*parts, *frame, window, *_end_labels(chart, plot, styles, names)], bottom


def _head(chart: Chart, width: float) -> tuple[list[str], float]:
    """The family's sign and the title."""
    parts, top = [], 0.0
    if chart.family != "plain":
        sign = FAMILIES[chart.family]
        parts.append(element("rect", x=0, y=1, width=10, height=10, **filled(sign.shade, "sign")))
        label = element("tspan", escape(sign.label), font_weight=600, **filled(sign.shade))
        rest = element("tspan", escape(f"  {sign.meaning}"), **filled(MUTED))
        parts.append(element("text", label, rest, x=16, y=10, class_="family"))
        top = 20.0
    lines = wrapped(chart.title, _TITLE * 1.06, width, 3) if chart.title else ()
    style = filled(INK, "title")
    parts += [
        words(line, 0, top + 14 + 19 * at, font_size=_TITLE, font_weight=600, **style) for at, line in enumerate(lines)
    ]
    return parts, top + 19 * len(lines) + 6


def _window(plot: Plot, shapes: list[str]) -> str:
    """The marks in a nested <svg>, which cuts off what an explicit domain leaves outside, without an identifier."""
    x, y = plot.left - _BLEED, plot.top - _BLEED
    width, height = plot.right - x + _BLEED, plot.bottom - y + _BLEED
    view = " ".join(coordinate(value) for value in (x, y, width, height))
    return element("svg", *shapes, x=x, y=y, width=width, height=height, viewBox=view, class_="marks")


def _end_labels(chart: Chart, plot: Plot, styles: dict[str, Look], names: dict[str, str]) -> list[str]:
    """Each line's name beside its last point."""
    lines = [mark for mark in chart.marks if isinstance(mark, Line) and not isinstance(mark, Points)]
    last = {
        line.label: next(at for y in reversed(line.y) if (at := plot.y.at(y)) is not None)
        for line in lines
        if line.label in names
    }
    heights = spread([at + 4 for at in last.values()], plot.top + 4, plot.bottom + 4)
    return [
        words(names[label], plot.right + 7, height, **filled(styles[label].shade, "end"))
        for label, height in zip(last, heights, strict=True)
    ]


def _panels(panels: Panels, width: float) -> tuple[list[str], float]:
    columns = min(panels.columns, len(panels.charts)) if width >= _WIDE - 2 * _PAD else 1
    each = (width - _GUTTER * (columns - 1)) / columns
    lines = wrapped(panels.title, 17, width, 3) if panels.title else ()
    style: dict[str, Attribute] = {"font_size": 16, "font_weight": 600, **filled(INK, "title")}
    parts = [words(line, 0, 15 + 21 * at, **style) for at, line in enumerate(lines)]
    top = 21.0 * len(lines) + (10 if lines else 0)
    charts = shared(panels.charts)
    for start in range(0, len(charts), columns):
        drawn = [_chart(chart, each) for chart in charts[start : start + columns]]
        for column, (shapes, _) in enumerate(drawn):
            place = f"translate({coordinate(column * (each + _GUTTER))} {coordinate(top)})"
            parts.append(element("g", *shapes, transform=place, class_="panel"))
        top += max(height for _, height in drawn) + _GUTTER
    return parts, top - _GUTTER
