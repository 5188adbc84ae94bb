"""A chart as a Vega-Lite 6 specification: the same marks, scales and colours as the SVG, with its data inline.

Only plain values leave: field names are ours, and the reader's words stand in titles and data, never in an expression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from discreet.draw.chart import (
    Area,
    Bars,
    Cells,
    Chart,
    Intervals,
    Line,
    Mark,
    Panels,
    Place,
    Points,
    Rule,
    Side,
    Steps,
)
from discreet.draw.frame import along, shared
from discreet.draw.lettering import legible
from discreet.draw.palette import FAMILIES, FONT, HAIR, INK, MUTED, PAPER, SIGNED
from discreet.draw.scale import Ruler, gap, number, scale
from discreet.draw.series import looks, strengths

__all__ = ["to_vega"]

Json: TypeAlias = dict[str, Any]

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_WIDTH, _HEIGHT, _ROW = 600, 300, 26
_TICKS = 7
_FORMATS = {"number": ",.6~g", "share": "~%", "count": ",.0f"}
_SHAPES = ("circle", "square", "diamond", "triangle-up")
_SERIES = "series"


def to_vega(figure: Chart | Panels) -> Json:
    """The figure as a specification, ready for JSON."""
    top: Json = {"$schema": _SCHEMA, "config": _config()}
    if isinstance(figure, Chart):
        return {**top, **_legible(_Specification(figure).chart())}
    panels: Json = {
        "title": figure.title,
        "description": figure.caption,
        "columns": figure.columns,
        "concat": [_Specification(chart).chart() for chart in shared(figure.charts)],
        "resolve": {"scale": {"color": "independent"}},
    }
    return {**top, **_legible(panels)}


@dataclass(frozen=True, slots=True)
class _Specification:
    figure: Chart

    def chart(self) -> Json:
        title: Json = {"text": self.figure.title, "anchor": "start"}
        if self.figure.family != "plain":
            sign = FAMILIES[self.figure.family]
            title |= {"subtitle": f"{sign.label}: {sign.meaning}", "subtitleColor": sign.shade.light}
        return {
            "title": title,
            "description": self.figure.caption,
            "width": _WIDTH,
            "height": _HEIGHT if self.figure.upright else {"step": _ROW},
            "layer": [layer for mark in self.figure.marks for layer in self._layers(mark)],
        }

    def _layers(self, mark: Mark) -> list[Json]:
        match mark:
            case Bars():
                return self._bars(mark)
            case Intervals():
                return self._intervals(mark)
            case Area():
                rows = _rows(x=mark.x, y=mark.low, y2=mark.high)
                return [self._layer(mark, {"type": "area", "opacity": 0.18}, rows, y2={"field": "y2"})]
            case Cells():
                return [self._cells(mark)]
            case Points():
                shape = {"type": "point", "filled": True, "shape": _SHAPES[looks(self.figure)[mark.label].glyph]}
                return [self._layer(mark, shape, _rows(x=mark.x, y=mark.y))]
            case Line():
                return [self._line(mark)]
            case Rule():
                return self._rule(mark)

    def _line(self, line: Line) -> Json:
        shape: Json = {"type": "line", "interpolate": "step-after"} if isinstance(line, Steps) else {"type": "line"}
        dash = looks(self.figure)[line.label].dash
        if dash is not None:
            shape["strokeDash"] = [int(part) for part in dash.split()]
        rows = _rows(x=line.x, y=line.y, order=tuple(range(len(line.x))))
        return self._layer(line, shape, rows, order={"field": "order", "type": "quantitative"})

    def _bars(self, bars: Bars) -> list[Json]:
        value, base = ("y", "x") if self.figure.upright else ("x", "y")
        columns: dict[str, Sequence[Place]] = {"x": bars.x, "y": bars.y}
        layers = [self._layer(bars, {"type": "bar"}, _rows(**columns), **self._offset(Bars))]
        if (self.figure.x if base == "x" else self.figure.y).scale != "band":
            layers = [self._rectangles(bars)]
        if bars.low is not None and bars.high is not None:
            rows = _rows(**{**columns, value: bars.low, f"{value}2": bars.high})
            ends = {f"{value}2": {"field": f"{value}2"}, **self._offset(Bars)}
            layers.append(self._layer(bars, {"type": "rule", "color": INK.light}, rows, color=None, **ends))
        return layers

    def _rectangles(self, bars: Bars) -> Json:
        """Bars on a ruler, which Vega-Lite wants with both edges; several stand side by side."""
        same = [mark for mark in self.figure.marks if isinstance(mark, Bars)]
        places = [at for mark in same for place in mark.x if (at := number(place)) is not None]
        each = gap(places, default=1.0) / len(same)
        left = each * (next(at for at, mark in enumerate(same) if mark is bars) - len(same) / 2)
        starts = tuple(None if (at := number(place)) is None else at + left for place in bars.x)
        rows = _rows(x=starts, x2=tuple(None if at is None else at + each for at in starts), y=bars.y)
        return self._layer(bars, {"type": "bar"}, rows, x2={"field": "x2"}, y2={"datum": 0})

    def _intervals(self, intervals: Intervals) -> list[Json]:
        value, base = ("y", "x") if self.figure.upright else ("x", "y")
        ends = _rows(**{base: intervals.at, value: intervals.low, f"{value}2": intervals.high})
        middles = _rows(**{base: intervals.at, value: intervals.mid})
        shape = {"type": "point", "filled": True, "opacity": 1, "size": 50}
        offset = self._offset(Intervals)
        return [
            self._layer(intervals, {"type": "rule"}, ends, **{f"{value}2": {"field": f"{value}2"}}, **offset),
            self._layer(intervals, shape, middles, **offset),
        ]

    def _cells(self, cells: Cells) -> Json:
        found = strengths(cells)
        shade = looks(self.figure)[cells.label].shade
        hues = [SIGNED[0].light, PAPER.light, SIGNED[1].light] if found.signed else [PAPER.light, shade.light]
        color = {
            "field": "value",
            "type": "quantitative",
            "title": cells.label or None,
            "scale": {
                "domain": [-found.most, 0, found.most] if found.signed else [0, found.most],
                "range": hues,
                "interpolate": "rgb",
            },
            "legend": {"format": _FORMATS[cells.format]},
        }
        rows = _rows(x=cells.x, y=cells.y, value=cells.value)
        return self._layer(cells, {"type": "rect"}, rows, color=color)

    def _rule(self, rule: Rule) -> list[Json]:
        if number(rule.value) is None:
            return []
        place: Json = {rule.axis: {**self._side(rule.axis), "datum": number(rule.value)}}
        del place[rule.axis]["field"]
        line = {"mark": {"type": "rule", "color": MUTED.light, "strokeDash": [4, 3]}, "encoding": place}
        if not rule.label:
            return [{"data": {"values": [{}]}, **line}]
        across = rule.axis == "y"
        text: Json = {"type": "text", "color": INK.light, "align": "right" if across else "left"}
        text |= {"dy": -6} if across else {"dx": 5, "dy": 6}
        end: Json = {"x": {"value": "width"}} if across else {"y": {"value": 0}}
        words = {"mark": text, "encoding": {**place, **end, "text": {"value": rule.label}}}
        return [{"data": {"values": [{}]}, **part} for part in (line, words)]

    def _layer(self, mark: Mark, shape: Json, rows: list[Json], **channels: Json | None) -> Json:
        for row in rows:
            row[_SERIES] = mark.label
        encoding = {"x": self._side("x"), "y": self._side("y"), "color": self._color(), **channels}
        return {
            "data": {"values": rows},
            "mark": {**shape, "clip": True, "tooltip": {"content": "data"}},
            "encoding": {channel: value for channel, value in encoding.items() if value is not None},
        }

    def _side(self, side: Side) -> Json:
        axis = self.figure.x if side == "x" else self.figure.y
        title = axis.title or None
        if axis.scale == "band":
            order = list(axis.categories)
            return {"field": side, "type": "nominal", "title": title, "sort": None, "scale": {"domain": order}}
        values, zero = along(self.figure, side)
        ruler = scale(axis, values, 0, 1, zero=zero)
        assert isinstance(ruler, Ruler)
        measure: Json = {"type": axis.scale, "domain": [ruler.low, ruler.high], "nice": False}
        measure |= {} if ruler.log else {"zero": False}
        return {
            "field": side,
            "type": "quantitative",
            "title": title,
            "scale": measure,
            "axis": {
                "format": _FORMATS[axis.format],
                "grid": (side == "y") == self.figure.upright,
                "tickCount": _TICKS,
                **({"values": []} if ruler.blank else {}),
            },
        }

    def _color(self) -> Json:
        styles = looks(self.figure)
        scheme = {"domain": list(styles), "range": [look.shade.light for look in styles.values()]}
        legend: Json = {} if len(styles) > 1 or any(styles) else {"legend": None}
        return {"field": _SERIES, "type": "nominal", "title": None, "scale": scheme, **legend}

    def _offset(self, kind: type[Bars | Intervals]) -> Json:
        """Marks of one kind stand side by side in their band."""
        names = [mark.label for mark in self.figure.marks if isinstance(mark, kind)]
        base = self.figure.x if self.figure.upright else self.figure.y
        if len(names) < 2 or base.scale != "band":
            return {}
        channel = "xOffset" if self.figure.upright else "yOffset"
        return {channel: {"field": _SERIES, "type": "nominal", "sort": None, "scale": {"domain": names}}}


def _rows(**columns: Sequence[Place]) -> list[Json]:
    """Rows of plain values: words as they are, numbers as floats, gaps as null."""
    names = list(columns)
    return [
        {name: value if isinstance(value, str) else number(value) for name, value in zip(names, row, strict=True)}
        for row in zip(*columns.values(), strict=True)
    ]


def _legible(part: Json) -> Json:
    """Every word without signs that would break the document it is drawn into."""
    return {key: _legible_value(value) for key, value in part.items()}


def _legible_value(value: Any) -> Any:
    if isinstance(value, dict):
        return _legible(value)
    if isinstance(value, list):
        return [_legible_value(entry) for entry in value]
    return legible(value) if isinstance(value, str) else value


def _config() -> Json:
    axis = {
        "gridColor": HAIR.light,
        "labelColor": INK.light,
        "labelLimit": 240,
        "titleColor": MUTED.light,
        "titleFontWeight": "normal",
    }
    return {
        "font": FONT,
        "background": PAPER.light,
        "view": {"stroke": None},
        "axis": axis,
        "title": {"color": INK.light},
    }
