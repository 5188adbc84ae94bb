"""Counts of intervals side by side at several levels, each finer than the one before: what is best read off them.

Every level counts the same rows again, in sets of the intervals of the finest one, with noise of one spread. A sum over
many intervals is then read off few sets. Least squares over all levels errs less than any other unbiased reading:

1. From the finest level up: the mean of a set's own count and the sum of its parts, weighted by their variances.
2. From the coarsest level down: what the parts of a set differ from it by is spread over them by their variances.

(Hay, Rastogi, Miklau, Suciu 2010, for sets of any size.) Both passes are linear, so that a weighted sum of intervals is
a weighted sum of the counts: `best_weights` runs the passes backwards, in time linear in the number of counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Starts", "best_weights", "fanned"]

# The interval with which each set of a level begins.
Starts: TypeAlias = tuple[int, ...]
Floats: TypeAlias = npt.NDArray[np.float64]


def fanned(intervals: int, fan_out: int) -> tuple[Starts, ...]:
    """Levels in which up to so many parts make a set, the coarsest first; one level where that holds all intervals."""
    levels, size = [tuple(range(intervals))], fan_out
    while size < intervals:
        levels.append(tuple(range(0, intervals, size)))
        size *= fan_out
    return tuple(reversed(levels))


def best_weights(levels: Sequence[Starts], wanted: Floats) -> tuple[Floats, ...]:
    """By what the counts of each level are multiplied for weighted sums of the intervals: (sums, sets) a level."""
    starts = [np.array(level) for level in levels]
    above = [np.searchsorted(coarse, fine, side="right") - 1 for coarse, fine in pairwise(starts)]
    last = len(starts) - 1
    variances: list[Floats] = [np.ones(len(level)) for level in starts]
    own: list[Floats] = [np.ones(0)] * last
    below: list[Floats] = [np.ones(0)] * last
    for level in range(last - 1, -1, -1):
        below[level] = np.bincount(above[level], weights=variances[level + 1]).astype(float)
        own[level] = below[level] / (1 + below[level])
        variances[level] = own[level]
    # Backwards: first the way down, from the finest level to the coarsest.
    passed = np.asarray(wanted, dtype=float)
    pulled: list[Floats] = [np.zeros(0)] * (last + 1)
    for level in range(last, 0, -1):
        share = variances[level] / below[level - 1][above[level - 1]]
        up = np.add.reduceat(passed * share, np.searchsorted(above[level - 1], np.arange(len(starts[level - 1]))), 1)
        pulled[level] = passed - up[:, above[level - 1]]
        passed = up
    pulled[0] = passed
    # Then the way up, from the coarsest to the finest.
    found = []
    for level in range(last):
        found.append(pulled[level] * own[level])
        pulled[level + 1] = pulled[level + 1] + (pulled[level] * (1 - own[level]))[:, above[level]]
    return (*found, pulled[last])
