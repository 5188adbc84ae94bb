"""Intervals of means and shares: Student's over a few figures, Wilson's of a count.

What they do not promise: anything where the figures are not independent draws of one law.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.stats.laws import t_quantile

__all__ = ["interval_of_mean", "wilson"]

_NORMAL_975 = 1.959963984540054


def interval_of_mean(figures: Sequence[float]) -> tuple[float, float] | None:
    """Student's 95 % interval of the mean; none of a single figure."""
    if len(figures) < 2:
        return None
    middle, spread = float(np.mean(figures)), float(np.std(figures, ddof=1))
    reach = t_quantile(0.975, len(figures) - 1) * spread / math.sqrt(len(figures))
    return middle - reach, middle + reach


def wilson(successes: float, trials: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    z, p = _NORMAL_975, successes / trials
    middle = (p + z * z / (2 * trials)) / (1 + z * z / trials)
    reach = z * math.sqrt(p * (1 - p) / trials + z * z / (4 * trials**2)) / (1 + z * z / trials)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)
