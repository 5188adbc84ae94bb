"""Intervals: whether an analysis of the copies tells what the same analysis of the original tells.

1. The overlap of two intervals is the mean of the shares of each that lie in the other: 1 when they are the same,
   0 when they touch, negative when they are apart, by their gap in the same measure.
2. The standardised difference is |estimate − estimate of the original| / standard error of the original.

To compare with: the same estimate from other data of the same size. Of two independent studies the overlap is 1 − E|Z|
√2 / 3.92 = .712 on average, and the standardised difference E|Z| √2 = 1.128.

Reference: Karr, Kohnen, Oganian, Reiter and Sanil (2006), A framework for evaluating the utility of data altered to
protect confidentiality.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.errors import ArgumentError

__all__ = ["OTHER_STUDY_DIFFERENCE", "OTHER_STUDY_OVERLAP", "overlap", "standardized_difference"]

Floats: TypeAlias = npt.NDArray[np.float64]

_NORMAL_975 = 1.959963984540054
# The mean distance of two independent estimates, in standard errors of one: √2 · √(2/π).
OTHER_STUDY_DIFFERENCE = math.sqrt(2) * math.sqrt(2 / math.pi)
OTHER_STUDY_OVERLAP = 1 - OTHER_STUDY_DIFFERENCE / (2 * _NORMAL_975)


def overlap(original: npt.ArrayLike, copies: npt.ArrayLike) -> Floats:
    """The overlap of intervals, one row (low, high) for each coefficient."""
    mine, theirs = _ends(original), _ends(copies)
    if mine.shape != theirs.shape:
        raise ArgumentError(
            "intervals",
            found=f"{len(mine)} of the original, {len(theirs)} of the copies",
            right="each has its counterpart",
            step="give the same coefficients in the same order",
        )
    inside = np.minimum(mine[:, 1], theirs[:, 1]) - np.maximum(mine[:, 0], theirs[:, 0])
    widths = mine[:, 1] - mine[:, 0], theirs[:, 1] - theirs[:, 0]
    point = np.where(inside >= 0, 1.0, -np.inf)  # an interval of no width lies in the other or does not
    shares = [np.divide(inside, width, out=point.copy(), where=width > 0) for width in widths]
    return np.asarray((shares[0] + shares[1]) / 2)


def standardized_difference(original: npt.ArrayLike, copies: npt.ArrayLike, standard_error: npt.ArrayLike) -> Floats:
    """How far the estimates lie apart, in standard errors of the original's."""
    mine, theirs = np.asarray(original, dtype=float), np.asarray(copies, dtype=float)
    error = np.asarray(standard_error, dtype=float)
    apart = np.abs(mine - theirs)
    return np.asarray(np.divide(apart, error, out=np.where(apart > 0, np.inf, 0.0), where=error > 0))


def _ends(intervals: npt.ArrayLike) -> Floats:
    ends: Floats = np.asarray(intervals, dtype=np.float64)
    if ends.ndim != 2 or ends.shape[1] != 2 or not np.isfinite(ends).all() or (ends[:, 0] > ends[:, 1]).any():
        raise ArgumentError(
            "intervals",
            found=f"numbers of shape {ends.shape}, or ends out of order",
            right="each row is a finite low end and a high end",
            step="give one row for each coefficient",
        )
    return ends
