"""Marks as shapes on the plot. A gap is not drawn; what says its value on hovering says it in a <title>."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.draw.chart import Area, Bars, Cells, Chart, Intervals, Line, Mark, Number, Place, Points, Rule, Steps
from discreet.draw.element import Attribute, coordinate, element, filled, lined, words
from discreet.draw.format import Kind, written
from discreet.draw.frame import Plot
from discreet.draw.lettering import escape, reach
from discreet.draw.palette import HAIR, INK, MUTED, PAPER, SIGNED, Shade, readable
from discreet.draw.path import Spot, box, glyph, outline, polyline, runs, segment, stairs, thinned, whisker
from discreet.draw.scale import Bands, Ruler, gap
from discreet.draw.series import Look, Strengths, dashed, spread, strengths

__all__ = ["Brush"]

_TOLD = 400
_BAR_SHARE = 0.74
_INTERVAL_SHARE = 0.6
_CELLS_TOLD = 1000


@dataclass(frozen=True, slots=True)
class Brush:
    """Draws the marks of one chart on its plot."""

    chart: Chart
    plot: Plot
    looks: dict[str, Look]

    def draw(self) -> list[str]:
        """Every mark in order; the list is empty where there is no data to draw."""
        return [shape for mark in self.chart.marks if not isinstance(mark, Rule) for shape in self._draw(mark)]

    def rules(self) -> list[str]:
        """Rules with their labels, over all marks."""
        rules = [mark for mark in self.chart.marks if isinstance(mark, Rule)]
        across = [(rule, at) for rule in rules if rule.axis == "y" and (at := self.plot.y.at(rule.value)) is not None]
        down = [(rule, at) for rule in rules if rule.axis == "x" and (at := self.plot.x.at(rule.value)) is not None]
        heights = spread([at - 5 for _, at in across], self.plot.top + 10, self.plot.bottom - 3)
        parts = [self._across(rule, at, height) for (rule, at), height in zip(across, heights, strict=True)]
        return parts + [self._down(rule, at, self.plot.top + 11 + 14 * row) for row, (rule, at) in enumerate(down)]

    def _draw(self, mark: Mark) -> list[str]:
        look = self.looks[mark.label]
        match mark:
            case Bars():
                return self._bars(mark, look)
            case Intervals():
                return self._intervals(mark, look)
            case Area():
                return self._area(mark, look)
            case Cells():
                return self._cells(mark, look)
            case Points():
                return self._points(mark, look)
            case Line():
                return self._line(mark, look)
            case _:
                raise AssertionError("rules are drawn last")

    def _line(self, line: Line, look: Look) -> list[str]:
        spots = [self._spot(x, y) for x, y in zip(line.x, line.y, strict=True)]
        path = stairs(spots) if isinstance(line, Steps) else "".join(polyline(thinned(run)) for run in runs(spots))
        style = {**dashed(look), "stroke_linejoin": "round", "stroke_linecap": "round"}
        return [element("path", d=path, **style)] if path else []

    def _points(self, points: Points, look: Look) -> list[str]:
        drawn = [
            (spot, x, y) for x, y in zip(points.x, points.y, strict=True) if (spot := self._spot(x, y)) is not None
        ]
        if len(drawn) > _TOLD:
            dots = dict.fromkeys(f"M{coordinate(x)} {coordinate(y)}h0" for (x, y), _, _ in drawn)
            style = {**lined(look.shade, "dots"), "stroke_width": 3.5, "stroke_linecap": "round"}
            return [element("path", d="".join(dots), stroke_opacity="0.55", **style)]
        return [
            element("path", self._told(points.label, x, y), d=glyph(look.glyph, *spot), **filled(look.shade, "dot"))
            for spot, x, y in drawn
        ]

    def _area(self, area: Area, look: Look) -> list[str]:
        pairs = [
            (below, above) if below and above else None
            for below, above in (
                (self._spot(x, low), self._spot(x, high))
                for x, low, high in zip(area.x, area.low, area.high, strict=True)
            )
        ]
        path = "".join(
            segment(*thinned([above for _, above in run]), *thinned([below for below, _ in run])[::-1]) + "z"
            for run in runs(pairs)
        )
        return [element("path", d=path, fill_opacity="0.18", **filled(look.shade, "area"))] if path else []

    def _bars(self, bars: Bars, look: Look) -> list[str]:
        base = self._values.base if isinstance(self._values, Ruler) else 0.0
        offset, breadth = self._slot(bars, Bars, self._room(Bars, _BAR_SHARE))
        boxes, tips, whiskers = [], [], []
        for at, (x, y) in enumerate(zip(bars.x, bars.y, strict=True)):
            spot = self._spot(x, y)
            if spot is None:
                continue
            along, tip = spot if self.chart.upright else spot[::-1]
            boxes.append(box(along + offset, breadth, base, tip, self.chart.upright))
            tips.append(self._told(bars.label, x, y))
            if bars.low is not None and bars.high is not None:
                whiskers += self._whisker(along + offset, bars.low[at], bars.high[at], min(4.0, breadth / 3))
        if len(boxes) > _TOLD:
            return [element("path", d="".join(map(outline, boxes)), **filled(look.shade, "bars")), *whiskers]
        style = filled(look.shade, "bar")
        return [element("rect", tip, **shape, **style) for shape, tip in zip(boxes, tips, strict=True)] + whiskers

    def _whisker(self, along: float, low: Number, high: Number, cap: float) -> list[str]:
        start, end = self._values.at(low), self._values.at(high)
        if start is None or end is None:
            return []
        path = whisker(along, start, end, cap, self.chart.upright)
        halo = element("path", d=path, stroke_width=3.6, **lined(PAPER))
        return [halo, element("path", d=path, stroke_width=1.4, **lined(INK, "whisker"))]

    def _intervals(self, intervals: Intervals, look: Look) -> list[str]:
        offset, breadth = self._slot(intervals, Intervals, self._room(Intervals, _INTERVAL_SHARE))
        parts = []
        rows = zip(intervals.at, intervals.low, intervals.mid, intervals.high, strict=True)
        for place, low, mid, high in rows:
            along, ends = self._bases.at(place), (self._values.at(low), self._values.at(high))
            middle = self._values.at(mid)
            if along is None or (middle is None and None in ends):
                continue
            along += offset
            inner = [element("title", escape(self._interval_words(intervals.label, place, low, mid, high)))]
            if ends[0] is not None and ends[1] is not None:
                path = whisker(along, ends[0], ends[1], min(4.0, breadth / 3), self.chart.upright)
                inner.append(element("path", d=path, stroke_width=1.8, **lined(look.shade)))
            if middle is not None:
                x, y = (along, middle) if self.chart.upright else (middle, along)
                inner.append(element("path", d=glyph(look.glyph, x, y), **filled(look.shade)))
            parts.append(element("g", *inner, class_="interval"))
        return parts

    def _cells(self, cells: Cells, look: Look) -> list[str]:
        found = strengths(cells)
        hues = SIGNED if found.signed else (look.shade, look.shade)
        if len(cells.value) > _CELLS_TOLD:
            return self._tiles(cells, found, hues)
        texts = [written(cells.format, value) for value in cells.value]
        labelled = self._step("y") >= 15 and all(reach(text, 11) < self._step("x") - 6 for text in texts)
        parts = []
        for column, row, text, share in zip(cells.x, cells.y, texts, found.shares, strict=True):
            spot = self._spot(column, row)
            if spot is None:
                continue
            if share is None:
                parts.append(element("rect", **self._cell(spot), **lined(HAIR, "gap")))
            else:
                tip = element("title", escape(f"{column}, {row}: {text}"))
                style = {**filled(hues[share >= 0], "cell"), "fill_opacity": f"{abs(share):.3g}"}
                parts.append(element("rect", tip, **self._cell(spot), **style))
            if labelled or share is None:
                ink = MUTED if share is None else readable(hues[share >= 0], abs(share))
                style = {**filled(ink, "value"), "font_size": 11, "text_anchor": "middle"}
                parts.append(element("text", escape(text), x=spot[0], y=spot[1] + 4, **style))
        return parts

    def _tiles(self, cells: Cells, found: Strengths, hues: tuple[Shade, Shade]) -> list[str]:
        """Very many cells: one outline for all that are equally strong to a twenty-fifth."""
        tiles: dict[tuple[Shade, str], list[str]] = {}
        for column, row, share in zip(cells.x, cells.y, found.shares, strict=True):
            spot = self._spot(column, row)
            if spot is not None and share is not None:
                strong = f"{round(abs(share) * 25) / 25:g}"
                tiles.setdefault((hues[share >= 0], strong), []).append(outline(self._cell(spot)))
        return [
            element("path", d="".join(outlines), fill_opacity=strong, **filled(shade, "tiles"))
            for (shade, strong), outlines in tiles.items()
        ]

    def _cell(self, spot: Spot) -> dict[str, float]:
        width, height = (max(self._step(side) - 1, 0.5) for side in ("x", "y"))
        return {"x": spot[0] - width / 2, "y": spot[1] - height / 2, "width": width, "height": height}

    def _step(self, side: str) -> float:
        bands = self.plot.x if side == "x" else self.plot.y
        assert isinstance(bands, Bands)
        return bands.step

    def _across(self, rule: Rule, at: float, height: float) -> str:
        path = f"M{coordinate(self.plot.left)} {coordinate(at)}H{coordinate(self.plot.right)}"
        return _rule(path) + _rule_label(rule.label, self.plot.right - 2, height, "end")

    def _down(self, rule: Rule, at: float, height: float) -> str:
        path = f"M{coordinate(at)} {coordinate(self.plot.top)}V{coordinate(self.plot.bottom)}"
        if at + 6 + reach(rule.label, 12) <= self.plot.right:
            return _rule(path) + _rule_label(rule.label, at + 5, height, "start")
        return _rule(path) + _rule_label(rule.label, at - 5, height, "end")

    @property
    def _values(self) -> Ruler | Bands:
        return self.plot.y if self.chart.upright else self.plot.x

    @property
    def _bases(self) -> Ruler | Bands:
        return self.plot.x if self.chart.upright else self.plot.y

    def _spot(self, x: Place, y: Place) -> Spot | None:
        across, down = self.plot.x.at(x), self.plot.y.at(y)
        return None if across is None or down is None else (across, down)

    def _room(self, kind: type[Bars | Intervals], share: float) -> float:
        """The breadth there is for all marks of a kind at one place."""
        if isinstance(self._bases, Bands):
            return self._bases.step * share
        places = {
            spot
            for mark in self.chart.marks
            if isinstance(mark, kind)
            for place in mark.places("x", True)
            if (spot := self._bases.at(place)) is not None
        }
        return max(gap(places, default=40.0) - 1, 1.0) if kind is Bars else 12.0

    def _slot(self, mark: Mark, kind: type[Bars | Intervals], room: float) -> tuple[float, float]:
        """How far from the middle the mark stands beside others of its kind, and its breadth."""
        same = [other for other in self.chart.marks if isinstance(other, kind)]
        breadth = room / len(same)
        position = next(at for at, other in enumerate(same) if other is mark)
        return (position + 0.5) * breadth - room / 2, breadth

    def _told(self, label: str, x: Place, y: Place) -> str:
        places = f"{written(self._kind('x'), x)}: {written(self._kind('y'), y)}"
        if not self.chart.upright:
            places = f"{written(self._kind('y'), y)}: {written(self._kind('x'), x)}"
        return element("title", escape(f"{label}, {places}" if label else places))

    def _interval_words(self, label: str, place: Place, low: Number, mid: Number, high: Number) -> str:
        values, bases = ("y", "x") if self.chart.upright else ("x", "y")
        a, b, c = (written(self._kind(values), value) for value in (low, mid, high))
        name = written(self._kind(bases), place)
        return f"{f'{label}, {name}' if label else name}: {b} [{a}, {c}]"

    def _kind(self, side: str) -> Kind:
        axis = self.chart.x if side == "x" else self.chart.y
        return "text" if axis.scale == "band" else axis.format


def _rule(path: str) -> str:
    return element("path", d=path, stroke_width=1.2, stroke_dasharray="4 3", **lined(MUTED, "rule"))


def _rule_label(label: str, x: float, y: float, anchor: str) -> str:
    halo: dict[str, Attribute] = {"stroke": PAPER.light, "stroke_width": 3, "paint_order": "stroke"}
    style = filled(INK, "rule-label", f"halo-{PAPER.name}")
    return words(label, x, y, text_anchor=anchor, **halo, **style) if label else ""
