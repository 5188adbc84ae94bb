"""Shares: what a count of hits among draws says of the chance behind it. It needs no library: the core uses it."""

from __future__ import annotations

import math

__all__ = ["clopper_pearson"]

_TINY = 1e-300
_TERMS = 100_000


def clopper_pearson(hits: int, draws: int, error: float) -> tuple[float, float]:
    """Bounds on a probability, each of them wrong with probability at most `error`, whatever the probability is."""
    low = 0.0 if hits == 0 else _where(error, hits, draws - hits + 1)
    high = 1.0 if hits == draws else _where(1 - error, hits + 1, draws - hits)
    return low, high


def _where(level: float, a: int, b: int) -> float:
    """The share x at which the regularised incomplete beta function I(x; a, b) reaches a level; it rises in x."""
    low, high = 0.0, 1.0
    while (middle := (low + high) / 2) not in (low, high):
        if _beta(middle, a, b) < level:
            low = middle
        else:
            high = middle
    return middle


def _beta(x: float, a: int, b: int) -> float:
    """I(x; a, b) by its continued fraction (Abramowitz and Stegun 26.5.8), on the side where that converges fast."""
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _beta(1.0 - x, b, a)
    if x <= 0.0:
        return 0.0
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(front) / (a * _fraction(x, a, b))


def _fraction(x: float, a: int, b: int) -> float:
    """1 + d1/(1 + d2/(1 + …)), from its front by Lentz's method."""
    value, c, d = 1.0, 1.0, 0.0
    for term in range(1, _TERMS):
        m = term // 2
        if term % 2:
            part = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            part = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1.0 / ((1.0 + part * d) or _TINY)
        c = (1.0 + part / c) or _TINY
        value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value
