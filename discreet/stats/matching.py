"""Matching: how many records of one table agree with each record of another, exactly and without trying all pairs.

1. Two records match when their codes are equal and each number of the one lies within a tolerance of the other's.
2. The window of a target t at tolerance w is [t − w, t + w], widened by one part in 10⁹ of |t| + w, so that 0.3 and 0.2
   match at 0.1 although their floats do not. A missing number matches missing ones alone.
3. Without a number the answer is the size of the code's class. With one, records are sorted by code and number, and a
   window is two places in that order. With two, the records of these places are counted by the second number's rank in
   a wavelet matrix: one table of prefix counts for each bit of the rank.
4. With three or more, the windows on the two most telling numbers bound a few runs of records, and each of them is
   compared with the target.

Cost: n log n for up to two numbers; with more, also the number of records that agree with a target on two of them.
References: Claude, Navarro and Ordóñez (2015), The wavelet matrix, on point 3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.errors import ArgumentError

__all__ = ["Floats", "Records", "Whole", "count_matches", "own_matches", "window"]

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
_Small: TypeAlias = npt.NDArray[np.int32]
_Windows: TypeAlias = tuple[tuple[Floats, Floats], ...]
_Sides: TypeAlias = tuple[Literal["left", "right"], Literal["left", "right"]]

_SLACK = 1e-9
_CHUNK = 1 << 14
_PAIRS = 1 << 21
_DROP = 3


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Records:
    """What records are matched on: a code that stands for all categories together, and numbers. It does not print."""

    codes: Whole
    numbers: tuple[Floats, ...] = ()

    def __post_init__(self) -> None:
        lengths = {len(self.codes), *(len(column) for column in self.numbers)}
        if len(lengths) != 1 or any(np.isinf(column).any() for column in self.numbers):
            raise ArgumentError(
                "records to match",
                found="columns of different lengths, or infinite numbers",
                right="each record has one code and one finite or missing number a column",
                step="give columns of equal length",
            )
        if len(self.codes) >= 2**31 - 1:
            raise ArgumentError(
                "records to match", found=f"{len(self.codes)} records", right="at most 2^31", step="match in parts"
            )

    def __len__(self) -> int:
        return len(self.codes)

    def at(self, places: Whole | slice) -> Records:
        """Some of the records."""
        return Records(codes=self.codes[places], numbers=tuple(column[places] for column in self.numbers))


def window(values: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """The lowest and the highest number that matches each value."""
    if not 0 <= tolerance < np.inf:
        raise ArgumentError(
            "tolerance", found="a number below 0 or none", right="it is 0 or more", step="give 0 for equality"
        )
    reach = np.abs(values)
    reach += tolerance
    reach *= _SLACK
    reach += tolerance
    return values - reach, values + reach


def own_matches(targets: Records, copy: Records, tolerances: Sequence[float]) -> Flags:
    """Whether the copy's record in the target's own place matches it."""
    _require_alike(targets, copy, tolerances)
    found: Flags = targets.codes == copy.codes
    for wanted, there, tolerance in zip(targets.numbers, copy.numbers, tolerances, strict=True):
        low, high = window(wanted, tolerance)
        found &= ((there >= low) & (there <= high)) | (np.isnan(wanted) & np.isnan(there))
    return found


def count_matches(targets: Records, copy: Records, tolerances: Sequence[float]) -> Whole:
    """How many records of the copy match each target."""
    _require_alike(targets, copy, tolerances, paired=False)
    if not len(targets) or not len(copy):
        return np.zeros(len(targets), dtype=np.int64)
    wanted, there = _missing_in_codes(targets), _missing_in_codes(copy)
    classes, inside, asked = _dense(wanted.codes, there.codes)
    windows = tuple(window(column, at) for column, at in zip(wanted.numbers, tolerances, strict=True))
    match len(windows):
        case 0:
            counts = np.bincount(inside, minlength=classes)
            return np.where(asked >= 0, counts[asked], 0)
        case 1:
            _, low, high = _runs(classes, inside, asked, there.numbers[0], windows[0])
            return high - low
        case 2:
            return _count_two(classes, inside, asked, there.numbers, windows)
        case _:
            return _count_many(inside, asked, there.numbers, windows)


def _count_two(classes: int, inside: Whole, asked: Whole, numbers: tuple[Floats, ...], windows: _Windows) -> Whole:
    """Runs by one number, ranks by the other: whichever leaves fewer bits to look at."""
    costs = []
    for first in (0, 1):
        run = _share_in_window(numbers[first], windows[first]) * len(inside) / classes
        costs.append(min(len(np.unique(numbers[1 - first])), run))
    first = int(costs[1] < costs[0])
    other = 1 - first
    order, low, high = _runs(classes, inside, asked, numbers[first], windows[first])
    different, ranked = _ranked(numbers[other])
    bottom, top = _window_places(different, windows[other])
    matrix = _Wavelet.of(ranked.astype(np.int32)[order], len(different))
    counts = np.zeros(len(asked), dtype=np.int64)
    by_place = np.argsort(low)  # neighbours in the order read neighbouring prefix counts
    for start in range(0, len(by_place), _CHUNK):
        at = by_place[start : start + _CHUNK]
        begins, ends = low[at], high[at]
        counts[at] = matrix.below(begins, ends, top[at]) - matrix.below(begins, ends, bottom[at])
    return counts


def _count_many(inside: Whole, asked: Whole, numbers: tuple[Floats, ...], windows: _Windows) -> Whole:
    """Runs by the most telling number within strips of the next, then each candidate is compared on all numbers."""
    share = [_share_in_window(column, one) for column, one in zip(numbers, windows, strict=True)]
    first, second = np.argsort(share)[:2].tolist()
    counts = np.zeros(len(asked), dtype=np.int64)
    for strip, begin in _strips(numbers[second], windows[second]):
        room = int(strip.max()) + 1
        wanted = np.where((asked >= 0) & (begin >= 0) & (begin < room), asked * room + begin, -1)
        many, held, told = _dense(wanted, inside * room + strip)
        order, low, high = _runs(many, held, told, numbers[first], windows[first])
        sorted_numbers = tuple(column[order] for column in numbers)
        for targets, candidates in _pairs(low, high):
            fits = np.ones(len(targets), dtype=bool)
            for column, (least, most) in zip(sorted_numbers, windows, strict=True):
                value = column[candidates]
                fits &= (value >= least[targets]) & (value <= most[targets])
            counts += np.bincount(targets[fits], minlength=len(counts))
    return counts


def _strips(values: Floats, of: tuple[Floats, Floats]) -> Iterator[tuple[Whole, Whole]]:
    """Strips as broad as the broadest window, so that each window lies in two: the strip of each value, then asked for.

    They come as two rounds: the strip that holds the window's lower end, and the one above it.
    """
    low, high = of
    base = float(min(values.min(), low.min()))
    span = float(max(values.max(), high.max())) - base
    breadth = max(float(np.max(high - low)) * (1 + _SLACK), span / 2**20) or 1.0
    strip = np.floor((values - base) / breadth).astype(np.int64)
    begin = np.floor((low - base) / breadth).astype(np.int64)
    end = np.floor((high - base) / breadth).astype(np.int64)
    yield strip, begin
    yield strip, np.where(end > begin, end, -1)


def _pairs(low: Whole, high: Whole) -> Iterator[tuple[Whole, Whole]]:
    """All pairs of a target and a place in its run, some millions at a time."""
    lengths = high - low
    until = np.cumsum(lengths)
    start = 0
    while start < len(lengths):
        done = until[start - 1] if start else 0
        stop = max(int(np.searchsorted(until, done + _PAIRS, side="right")), start + 1)
        size = lengths[start:stop]
        targets = np.repeat(np.arange(start, stop), size)
        within = np.arange(len(targets)) - np.repeat(np.cumsum(size) - size, size)
        yield targets, low[targets] + within
        start = stop


def _runs(
    classes: int, inside: Whole, asked: Whole, values: Floats, of: tuple[Floats, Floats]
) -> tuple[Whole, Whole, Whole]:
    """The order of records by class and value, and the run of places in it that each window holds."""
    if classes == 1:
        order = np.argsort(values)
        start, stop = _window_places(values[order], of)
    else:
        different, ranked = _ranked(values)
        room = len(different) + 1
        joint = inside * room + ranked
        order = np.argsort(joint)
        low, high = _window_places(different, of)
        at = np.maximum(asked, 0) * room
        start, stop = _window_places(joint[order], (at + low, at + high), sides=("left", "left"))
    gone = asked < 0
    start[gone] = stop[gone] = 0
    return order, start, stop


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Wavelet:
    """For each bit of the values, from the highest: where each place goes if the bit is 0, and if it is 1."""

    bits: int
    size: int
    steps: tuple[_Small, ...]

    @classmethod
    def of(cls, values: _Small, below: int) -> _Wavelet:
        """The matrix of values from 0 up to but not including `below`."""
        bits, size = int(below).bit_length(), len(values) + 1
        steps = []
        places = np.arange(size, dtype=np.int32)
        for shift in range(bits - 1, -1, -1):
            one = (values >> shift) & 1
            goes = np.zeros(2 * size, dtype=np.int32)
            up, down = goes[size:], goes[:size]
            np.cumsum(one, out=up[1:])
            np.subtract(places, up, out=down)
            up += down[-1]
            steps.append(goes)
            moved = np.empty_like(values)
            moved[np.where(one, up[:-1], down[:-1])] = values
            values = moved
        return cls(bits=bits, size=size, steps=tuple(steps))

    def below(self, begins: Whole, ends: Whole, bounds: Whole) -> Whole:
        """How many values between two places lie below each bound. Ranges that ran empty are dropped on the way."""
        found = np.zeros(len(begins), dtype=np.int64)
        asked, begin, end = np.arange(len(begins)), begins, ends
        width, part = end - begin, np.zeros(len(begins), dtype=np.int64)
        for shift, goes in zip(range(self.bits - 1, -1, -1), self.steps, strict=True):
            if shift % _DROP == 0:
                found[asked] += part
                left = np.flatnonzero(width)
                asked, begin, end, width, bounds = (one.take(left) for one in (asked, begin, end, width, bounds))
                part = np.zeros(len(left), dtype=np.int64)
            one = (bounds >> shift) & 1
            jump = one * self.size
            begin, end = (goes.take(place + jump).astype(np.int64) for place in (begin, end))
            less = end - begin
            part += (width - less) * one
            width = less
        found[asked] += part
        return found


def _window_places(
    arranged: npt.NDArray[np.generic], of: tuple[npt.NDArray[Any], npt.NDArray[Any]], sides: _Sides = ("left", "right")
) -> tuple[Whole, Whole]:
    """`searchsorted` of both ends of windows. Asked in their order, it spares the memory's cache."""
    order = np.argsort(of[0])
    found = []
    for wanted, side in zip(of, sides, strict=True):
        places = np.empty(len(wanted), dtype=np.int64)
        places[order] = np.searchsorted(arranged, wanted[order], side)
        found.append(places)
    return found[0], found[1]


def _ranked(values: Floats) -> tuple[Floats, Whole]:
    """The different values in order, and the place of each value among them."""
    order = np.argsort(values)
    arranged = values[order]
    new = np.concatenate([[True], arranged[1:] != arranged[:-1]])
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.cumsum(new) - 1
    return arranged[new], ranks


def _share_in_window(values: Floats, of: tuple[Floats, Floats]) -> float:
    """Roughly which share of the values a window holds, from some of the windows."""
    arranged = np.sort(values)
    some = slice(None, None, max(len(of[0]) // 1000, 1))
    inside = np.searchsorted(arranged, of[1][some], "right") - np.searchsorted(arranged, of[0][some], "left")
    return float(inside.mean())


def _dense(asked: Whole, inside: Whole) -> tuple[int, Whole, Whole]:
    """Codes as 0, 1, …: how many there are in the copy, the copy's, and the targets' (−1 where the copy has none)."""
    first = inside[0]
    if (inside == first).all():
        return 1, np.zeros(len(inside), dtype=np.int64), np.where(asked == first, 0, -1)
    different, dense = np.unique(inside, return_inverse=True)
    at = np.minimum(np.searchsorted(different, asked), len(different) - 1)
    return len(different), dense.astype(np.int64), np.where(different[at] == asked, at, -1)


def _missing_in_codes(records: Records) -> Records:
    """Each missing number as 0, and that it is missing as part of the code."""
    codes, numbers = records.codes, []
    for column in records.numbers:
        gone = np.isnan(column)
        codes = codes * 2 + gone
        numbers.append(np.where(gone, 0.0, column) if gone.any() else column)
    return Records(codes=codes, numbers=tuple(numbers))


def _require_alike(targets: Records, copy: Records, tolerances: Sequence[float], *, paired: bool = True) -> None:
    if len({len(targets.numbers), len(copy.numbers), len(tolerances)}) != 1 or (paired and len(targets) != len(copy)):
        raise ArgumentError(
            "records to match",
            found="targets, copy and tolerances of different shapes",
            right="both have the same columns, and each number a tolerance",
            step="give the same columns of both",
        )
