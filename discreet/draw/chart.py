"""A chart as a frozen value: axes, marks and words, and nothing of how they are drawn.

The same value renders to inline SVG (`to_svg`) and to a Vega-Lite spec (`to_vega`). None, NaN and infinity are gaps.
Categories stand on a band axis; bars and intervals lie down when the band is on the vertical axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Literal, TypeAlias, get_args

from discreet.check import at_least, one_of, some
from discreet.draw.palette import Family
from discreet.errors import ArgumentError

__all__ = ["Area", "Axis", "Bars", "Cells", "Chart", "Intervals", "Line", "Mark", "Panels", "Points", "Rule", "Steps"]

Number: TypeAlias = int | float | Fraction | None
Place: TypeAlias = str | Number
Scale: TypeAlias = Literal["linear", "log", "band"]
Written: TypeAlias = Literal["number", "share", "count"]
Side: TypeAlias = Literal["x", "y"]


@dataclass(frozen=True, slots=True)
class Axis:
    """What an axis measures. Without a domain it covers the data; a band axis lists its categories in order.

    A bare axis shows no figures. They still stand in the marks: who must not learn them is given other values.
    """

    title: str
    scale: Scale = "linear"
    format: Written = "number"
    domain: tuple[float, float] | None = None
    categories: tuple[str, ...] = ()
    bare: bool = False

    def __post_init__(self) -> None:
        where = f"axis {self.title!r}"
        one_of(f"scale of {where}", self.scale, get_args(Scale))
        one_of(f"format of {where}", self.format, get_args(Written))
        if self.scale != "band":
            self._require_domain(where)
            return
        object.__setattr__(self, "categories", some(f"categories of {where}", self.categories, step="list them once"))
        if self.domain is not None or self.bare:
            raise ArgumentError(
                where,
                found="a domain, or no labels",
                right="a band axis has categories and shows them",
                step="leave it out",
            )

    def _require_domain(self, where: str) -> None:
        if self.categories:
            raise ArgumentError(
                where, found="categories", right=f"a {self.scale} axis has none", step="give scale='band'"
            )
        if self.domain is None:
            return
        low, high = self.domain
        if not (math.isfinite(low) and math.isfinite(high) and low < high and (self.scale == "linear" or low > 0)):
            right = "it must be a low below a high" + (", both above 0" if self.scale == "log" else "")
            raise ArgumentError(f"domain of {where}", found=f"{self.domain}", right=right, step="give (low, high)")


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars from zero; low and high draw an interval on each. Several Bars in one chart stand side by side."""

    x: tuple[Place, ...]
    y: tuple[Place, ...]
    label: str = ""
    low: tuple[Number, ...] | None = None
    high: tuple[Number, ...] | None = None

    def __post_init__(self) -> None:
        _settle(self, "x", "y", *(["low", "high"] if self.low is not None or self.high is not None else []))

    def places(self, side: Side, upright: bool) -> tuple[Place, ...]:
        """All values of the mark that lie along one side of the chart."""
        own = self.x if side == "x" else self.y
        return (*own, *(self.low or ()), *(self.high or ())) if upright == (side == "y") else own


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points, in the order given."""

    x: tuple[Place, ...]
    y: tuple[Place, ...]
    label: str = ""

    def __post_init__(self) -> None:
        _settle(self, "x", "y")

    def places(self, side: Side, _upright: bool) -> tuple[Place, ...]:
        """All values of the mark that lie along one side of the chart."""
        return self.x if side == "x" else self.y


@dataclass(frozen=True, slots=True)
class Steps(Line):
    """A step function: each value holds from its x to the next x."""


@dataclass(frozen=True, slots=True)
class Points(Line):
    """Single points."""


@dataclass(frozen=True, slots=True)
class Intervals:
    """Intervals with a middle: a forest plot when y is a band axis, upright error bars otherwise."""

    at: tuple[Place, ...]
    low: tuple[Number, ...]
    mid: tuple[Number, ...]
    high: tuple[Number, ...]
    label: str = ""

    def __post_init__(self) -> None:
        _settle(self, "at", "low", "mid", "high")

    def places(self, side: Side, upright: bool) -> tuple[Place, ...]:
        """All values of the mark that lie along one side of the chart."""
        return (*self.low, *self.mid, *self.high) if upright == (side == "y") else self.at


@dataclass(frozen=True, slots=True)
class Area:
    """The area between a low and a high line."""

    x: tuple[Place, ...]
    low: tuple[Number, ...]
    high: tuple[Number, ...]
    label: str = ""

    def __post_init__(self) -> None:
        _settle(self, "x", "low", "high")

    def places(self, side: Side, _upright: bool) -> tuple[Place, ...]:
        """All values of the mark that lie along one side of the chart."""
        return self.x if side == "x" else (*self.low, *self.high)


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across the chart at one value of one axis: a threshold, a true value, a baseline."""

    value: Number
    axis: Side
    label: str = ""

    def __post_init__(self) -> None:
        one_of("axis of a rule", self.axis, get_args(Side))
        _require_number("value of a rule", self.value)

    def places(self, side: Side, _upright: bool) -> tuple[Place, ...]:
        """All values of the mark that lie along one side of the chart."""
        return (self.value,) if side == self.axis else ()


@dataclass(frozen=True, slots=True)
class Cells:
    """A heat map: one value for each pair of categories; both axes are bands. Signed values get two hues."""

    x: tuple[str, ...]
    y: tuple[str, ...]
    value: tuple[Number, ...]
    label: str = ""
    format: Written = "number"

    def __post_init__(self) -> None:
        one_of("format of cells", self.format, get_args(Written))
        _settle(self, "x", "y", "value")

    def places(self, side: Side, _upright: bool) -> tuple[Place, ...]:
        """All values of the mark that lie along one side of the chart."""
        return self.x if side == "x" else self.y


Mark: TypeAlias = Bars | Line | Steps | Points | Intervals | Area | Rule | Cells


@dataclass(frozen=True, slots=True)
class Chart:
    """A titled picture of marks between two axes; the caption says in words what it shows."""

    title: str
    x: Axis
    y: Axis
    marks: tuple[Mark, ...]
    caption: str
    family: Family = "plain"

    def __post_init__(self) -> None:
        one_of(f"family of {self.title!r}", self.family, get_args(Family))
        object.__setattr__(self, "marks", tuple(self.marks))
        for position, mark in enumerate(self.marks, start=1):
            where = f"mark {position} of {self.title!r}"
            if not isinstance(mark, get_args(Mark)):
                raise ArgumentError(where, found=f"a {type(mark).__name__}", right="it is no mark", step="give a Line")
            _require_axes(where, mark, self.x, self.y)
            _require_places(f"{where}, x", self.x, mark.places("x", self.upright))
            _require_places(f"{where}, y", self.y, mark.places("y", self.upright))

    @property
    def upright(self) -> bool:
        """Whether bars and intervals rise; they lie when categories stand on the vertical axis."""
        return self.y.scale != "band"


@dataclass(frozen=True, slots=True)
class Panels:
    """Small multiples: charts of one kind side by side under one title."""

    title: str
    charts: tuple[Chart, ...]
    columns: int = 2
    caption: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "charts", tuple(self.charts))
        at_least("columns", self.columns, 1)
        if not self.charts:
            raise ArgumentError(
                f"panels {self.title!r}", found="no chart", right="panels hold at least one", step="give charts"
            )


def _settle(mark: Mark, *fields: str) -> None:
    """Sequences become tuples, so that the value is frozen throughout; all are equally long."""
    where = type(mark).__name__
    for field in fields:
        if getattr(mark, field) is None or isinstance(getattr(mark, field), str):
            raise ArgumentError(f"{field} of {where}", found="no sequence", right="it has one", step=f"give {field}")
        object.__setattr__(mark, field, tuple(getattr(mark, field)))
    lengths = {field: len(getattr(mark, field)) for field in fields}
    if len(set(lengths.values())) > 1:
        raise ArgumentError(
            where,
            found=", ".join(f"{length} {field}" for field, length in lengths.items()),
            right="all are equally long",
            step="give one entry for each point, None where there is a gap",
        )


def _require_axes(where: str, mark: Mark, x: Axis, y: Axis) -> None:
    bands = (x.scale == "band") + (y.scale == "band")
    if (isinstance(mark, Cells) and bands < 2) or (isinstance(mark, Bars) and bands > 1):
        raise ArgumentError(
            where,
            found=f"{bands} band axes under {type(mark).__name__}",
            right="cells need two band axes, bars at most one",
            step="change the scale of an axis",
        )


def _require_places(where: str, axis: Axis, values: tuple[Place, ...]) -> None:
    if axis.scale != "band":
        for value in values:
            _require_number(where, value)
        return
    foreign = {value for value in values if value is not None}.difference(axis.categories)
    if foreign:
        raise ArgumentError(
            where,
            found=f"{len(foreign)} values that are no category of {axis.title!r}",
            right=f"the axis has {len(axis.categories)} categories",
            step="list every category on the axis",
        )


def _require_number(where: str, value: object) -> None:
    if value is not None and not isinstance(value, Real):
        raise ArgumentError(
            where, found=f"a {type(value).__name__}", right="it must be a number or None", step="give a float"
        )
