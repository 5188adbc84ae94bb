"""From values to places on paper: rulers for numbers, bands for categories, and round ticks.

Ticks are counted in exact fractions, so that a label never shows a rounding error of the step. A tick step is 1, 2 or
5 times a power of ten; logarithmic ticks are such numbers themselves, thinned to powers of ten when there are many.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from discreet.draw.chart import Axis, Place, Written
from discreet.draw.format import magnitude

__all__ = ["Bands", "Ruler", "covering", "covering_log", "gap", "inside", "inside_log", "number", "scale"]

Round: TypeAlias = Callable[[Fraction], int]

_LARGEST = 1e300
_FLAT = Fraction(1, 10**9)
_BEYOND = 2.0
_ROUND = (1, 2, 5)


def number(value: Place) -> float | None:
    """The value as a float that can be drawn; None for a gap: nothing, NaN, an infinity."""
    if value is None or isinstance(value, str):
        return None
    try:
        drawn = float(value)
    except OverflowError:
        return None
    return drawn if abs(drawn) <= _LARGEST else None


def gap(places: Iterable[float], *, default: float) -> float:
    """The smallest distance between two different places."""
    return min((high - low for low, high in pairwise(sorted(set(places)))), default=default)


def covering(low: float, high: float, most: int = 10, *, whole: bool = False) -> tuple[Fraction, ...]:
    """At most `most` (3 or more) ticks, the first at or below `low`, the last at or above `high`."""
    return _ticks(*_widened(_decimal(low), _decimal(high)), most, whole, (math.floor, math.ceil))


def inside(low: float, high: float, most: int = 10, *, whole: bool = False) -> tuple[Fraction, ...]:
    """At most `most` ticks between two ends, as many as that allows."""
    return _ticks(_decimal(low), _decimal(high), most, whole, (math.ceil, math.floor))


def covering_log(low: float, high: float) -> tuple[Fraction, Fraction]:
    """The nearest 1, 2 or 5 times a power of ten at or below `low` and at or above `high`."""
    start, end = _decimal(low), _decimal(high)
    bottom = max(tick for tick in _decade(magnitude(start)) if tick <= start)
    top = min(tick for tick in (*_decade(magnitude(end)), Fraction(10) ** (magnitude(end) + 1)) if tick >= end)
    return (bottom, top) if bottom < top else (bottom / 10, top * 10)


def inside_log(low: float, high: float, most: int = 10) -> tuple[Fraction, ...]:
    """At most `most` logarithmic ticks between two ends above zero; linear ones where no power of ten lies near."""
    start, end = _decimal(low), _decimal(high)
    powers = range(magnitude(start), magnitude(end) + 1)
    fine = tuple(tick for power in powers for tick in _decade(power) if start <= tick <= end)
    if len(fine) < 2:
        return inside(low, high, most)
    if len(fine) <= most:
        return fine
    for every in range(1, len(powers) + 1):
        coarse = tuple(Fraction(10) ** power for power in powers if power % every == 0)
        coarse = tuple(tick for tick in coarse if start <= tick <= end)
        if len(coarse) <= most:
            return coarse
    return fine[:1]


@dataclass(frozen=True, slots=True)
class Ruler:
    """Numbers from low to high along a line from start to end; a blank one has no numbers to show."""

    low: float
    high: float
    start: float
    end: float
    format: Written = "number"
    log: bool = False
    blank: bool = False

    def at(self, value: Place) -> float | None:
        """The place of a value, None for a gap; what lies far outside stays just far enough outside to be clipped."""
        drawn = number(value)
        if drawn is None or (self.log and drawn <= 0):
            return None
        if self.log:
            low, high = math.log10(self.low), math.log10(self.high)
            share = (math.log10(drawn) - low) / (high - low)
        else:
            share = (drawn - self.low) / (self.high - self.low)
        return self.start + min(max(share, -_BEYOND), 1 + _BEYOND) * (self.end - self.start)

    def ticks(self, most: int) -> tuple[Fraction, ...]:
        """At most `most` round numbers on the ruler."""
        if self.blank:
            return ()
        if self.log:
            return inside_log(self.low, self.high, most)
        return inside(self.low, self.high, most, whole=self.format == "count")

    @property
    def base(self) -> float:
        """Where a bar begins: at zero, or at the end nearest to zero."""
        zero = self.low if self.log else min(max(0.0, self.low), self.high)
        place = self.at(zero)
        assert place is not None
        return place


@dataclass(frozen=True, slots=True)
class Bands:
    """Categories side by side along a line from start to end."""

    categories: tuple[str, ...]
    start: float
    end: float
    _places: dict[Place, float] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_places", dict(zip(self.categories, self.centres, strict=True)))

    @property
    def step(self) -> float:
        """The breadth of one band."""
        return abs(self.end - self.start) / len(self.categories)

    @property
    def centres(self) -> tuple[float, ...]:
        """The middle of each band, in the categories' order."""
        span = (self.end - self.start) / len(self.categories)
        return tuple(self.start + (at + 0.5) * span for at in range(len(self.categories)))

    def at(self, category: Place) -> float | None:
        """The middle of a category's band, None for a gap."""
        return self._places.get(category)


def scale(axis: Axis, values: Iterable[Place], start: float, end: float, *, zero: float = 0.0) -> Ruler | Bands:
    """The scale of an axis over the values that lie along it.

    Zero belongs to it when the smallest size is at most the share `zero` of the largest: 1 for bars, which begin there.
    """
    if axis.scale == "band":
        return Bands(axis.categories, start, end)
    drawn = [value for value in map(number, values) if value is not None]
    low, high = axis.domain or (_log_range(drawn) if axis.scale == "log" else _range(drawn, axis.format, zero))
    return Ruler(
        low, high, start, end, axis.format, axis.scale == "log", axis.bare or (not drawn and axis.domain is None)
    )


def _range(drawn: Sequence[float], written: Written, zero: float) -> tuple[float, float]:
    low, high = (min(drawn), max(drawn)) if drawn else (0.0, 1.0)
    if 0 < low <= zero * high:
        low = 0.0
    if zero * low <= high < 0:
        high = 0.0
    ticks = covering(low, high, whole=written == "count")
    return float(ticks[0]), float(ticks[-1])


def _log_range(drawn: Sequence[float]) -> tuple[float, float]:
    above = [value for value in drawn if value > 0] or [1.0, 10.0]
    low, high = covering_log(min(above), max(above))
    return float(low), float(high)


def _decimal(value: float) -> Fraction:
    """The decimal a float prints as: a domain from 0.1 on includes the tick at one tenth."""
    return Fraction(repr(float(value)))


def _widened(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """Room around values that are all the same, so that their noise in the last digits is not blown up."""
    size = max(abs(low), abs(high))
    if size == 0:
        return low, Fraction(1)
    return (low, high) if high - low > size * _FLAT else (low - size / 2, high + size / 2)


def _ticks(start: Fraction, end: Fraction, most: int, whole: bool, ends: tuple[Round, Round]) -> tuple[Fraction, ...]:
    for step in _steps((end - start) / most, whole):
        first, last = ends[0](start / step), ends[1](end / step)
        if last - first < most:
            return tuple(at * step for at in range(first, last + 1))
    raise AssertionError("the steps grow without bound")


def _steps(least: Fraction, whole: bool) -> Iterator[Fraction]:
    power = magnitude(least)
    while True:
        for step in _decade(power):
            if step >= least and (step.denominator == 1 or not whole):
                yield step
        power += 1


def _decade(power: int) -> tuple[Fraction, ...]:
    return tuple(factor * Fraction(10) ** power for factor in _ROUND)
