"""One choice among many, each with an exact weight: multiplicity · weight of its steps. No float decides it.

1. Items of equal steps form a level; a level's mass is the sum of its multiplicities, an integer.
2. A uniform real in [0, 1) is known to 64 bits, and to more only when these do not decide.
3. The levels' weights, best level first, are enclosed between integers in fixed point; levels too light to be told
   from nothing at that precision are enclosed together.
4. The level whose interval certainly holds the real is chosen, or both precisions double.
5. Inside the level an item is drawn by its multiplicity, in integers.

A run of a billion equal cells is one item with that multiplicity, so the work is O(items), never O(cells).

Terms: steps, how far an item is from the best one, in whole units of the decay; multiplicity, how many equal outputs
the item stands for.

What it does not promise: a constant time. The work depends on the number of items and levels.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import ArgumentError
from discreet.mechanisms.decay import Decay
from discreet.mechanisms.utility_score import rational
from discreet.randomness import Bits

__all__ = ["choose", "law"]

Whole = Sequence[int] | npt.NDArray[np.int64]
_FIRST_BITS = 64


def choose(steps: Whole, decay: Decay, bits: Bits, *, multiplicities: Whole | None = None) -> int:
    """The index of one item, drawn with probability ∝ multiplicity · weight(steps).

    Given: whole steps (only their differences count), multiplicities ≥ 0, not all 0, independent uniform bits.
    Promise: the probabilities are exactly those that `law` writes down.
    Because: a uniform real falls into one of the intervals that cut [0, 1) in these proportions, and an interval is
        named only once integers that enclose its ends show that the real lies inside.
    Tested: tests/mechanisms/test_weighted.py::test_every_known_prefix_falls_where_the_law_puts_it
    """
    distance, counts = _items(steps, multiplicities)
    order = np.argsort(distance, kind="stable")
    order = order[counts[order] > 0]
    sorted_steps = distance[order]
    starts = np.flatnonzero(np.concatenate(([True], sorted_steps[1:] != sorted_steps[:-1])))
    masses = [int(mass) for mass in np.add.reduceat(counts[order], starts)]
    level = _level([int(step) for step in sorted_steps[starts]], masses, decay, bits)
    members = order[starts[level] : starts[level + 1] if level + 1 < len(starts) else None]
    reached = np.cumsum(counts[members])
    return int(members[np.searchsorted(reached, bits.below(masses[level]), side="right")])


def law(steps: Whole, decay: Decay, *, multiplicities: Whole | None = None) -> tuple[Fraction, ...]:
    """The exact probability of each item: what `choose` draws from, for a decay in powers."""
    distance, counts = _items(steps, multiplicities)
    powers = rational(decay)
    least = min(int(step) for step, count in zip(distance, counts, strict=True) if count > 0)
    weights = [
        int(count) * powers.weight(int(step) - least) if count > 0 else Fraction(0)
        for step, count in zip(distance, counts, strict=True)
    ]
    total = sum(weights)
    return tuple(weight / total for weight in weights)


def _items(steps: Whole, multiplicities: Whole | None) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    distance = _integers("steps", steps)
    if multiplicities is None:
        counts: npt.NDArray[Any] = np.ones(len(distance), dtype=np.int64)
    else:
        counts = _integers("multiplicities", multiplicities)
    if len(counts) != len(distance) or not len(counts) or counts.min() < 0 or not counts.any():
        raise ArgumentError(
            "multiplicities",
            found="none, a negative one, or not one for each item",
            right="each item has a multiplicity of at least 0, and one of them is above 0",
            step="give as many multiplicities as steps",
        )
    # Sums of 64-bit integers would wrap; below 2^62 in all they cannot.
    return distance, counts if _total(counts) < 1 << 62 else counts.astype(object)


def _integers(name: str, values: Whole) -> npt.NDArray[Any]:
    """64-bit integers, or Python's own where one of them is larger."""
    array: npt.NDArray[Any] = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
    whole = array.dtype.kind in "iu" or (array.dtype == object and all(isinstance(value, int) for value in values))
    if array.ndim != 1 or not whole:
        raise ArgumentError(
            name, found="other than whole numbers", right="whole numbers are asked for", step="scale the decay instead"
        )
    if len(array) and max(int(array.max()), -int(array.min())) >= 1 << 62:
        return array.astype(object)
    return array.astype(np.int64)


def _total(counts: npt.NDArray[Any]) -> int:
    """The exact sum of counts ≥ 0: upper and lower halves apart, neither of which can wrap."""
    return (int((counts >> 31).sum()) << 31) + int((counts & ((1 << 31) - 1)).sum())


def _level(levels: Sequence[int], masses: Sequence[int], decay: Decay, bits: Bits) -> int:
    """The index of one level (ascending steps), with probability ∝ mass · weight."""
    known, precision = bits.bits(_FIRST_BITS), _FIRST_BITS
    while True:
        # Half as many bits again, and those of the masses: what is cut off stays below what is known.
        bounds = _Bounds.around(levels, masses, decay, precision + precision // 2 + sum(masses).bit_length())
        level = bounds.holding(known, precision)
        if level is not None:
            return level
        known, precision = known << precision | bits.bits(precision), 2 * precision


@dataclass(frozen=True, slots=True)
class _Bounds:
    """Integers around the running sums of the levels' weights, and around the sum of all, light levels included."""

    lower: Sequence[int]
    upper: Sequence[int]
    lower_total: int
    upper_total: int

    @classmethod
    def around(cls, levels: Sequence[int], masses: Sequence[int], decay: Decay, width: int) -> _Bounds:
        factor = _remembered(decay, width)
        low = high = 1 << width
        lows, highs = [masses[0] * low], [masses[0] * high]
        for at in range(1, len(levels)):
            down, up = factor(levels[at] - levels[at - 1])
            low, high = low * down >> width, -(-high * up >> width)
            if low == 0:
                light = sum(masses[at:])
                break
            lows.append(masses[at] * low)
            highs.append(masses[at] * high)
        else:
            light = 0
        lower, upper = list(accumulate(lows)), list(accumulate(highs))
        return cls(lower, upper, lower[-1], upper[-1] + light * high)

    def holding(self, known: int, precision: int) -> int | None:
        """The level that holds every real whose first bits are `known`, if these decide it."""

        def ends_above(at: int) -> bool:
            """Is the end of this level certainly at or above all reals that begin so?"""
            whole = self.lower[at] + self.upper_total - self.upper[at]
            return (known + 1) * whole <= self.lower[at] << precision

        def ends_below(at: int) -> bool:
            whole = self.upper[at] + self.lower_total - self.lower[at]
            return known * whole >= self.upper[at] << precision

        level = bisect_left(range(len(self.lower)), True, key=ends_above)
        decided = level < len(self.lower) and (level == 0 or ends_below(level - 1))
        return level if decided else None


def _remembered(decay: Decay, width: int) -> Callable[[int], tuple[int, int]]:
    """The fixed-point weights of a number of steps, each worked out once."""
    found: dict[int, tuple[int, int]] = {}

    def factor(steps: int) -> tuple[int, int]:
        if steps not in found:
            found[steps] = decay.fixed(steps, width)
        return found[steps]

    return factor
