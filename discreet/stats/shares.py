"""Shares: what a count of hits among draws says of the chance behind it. It needs no library: the core uses it."""

from __future__ import annotations

import math

__all__ = ["clopper_pearson", "least_share", "most_share"]

_TINY = 1e-300
_TERMS = 100_000
_STEPS = 200
_NEAR = 1e-15
_ODDS_AT_MOST = 700.0


def clopper_pearson(hits: int, draws: int, error: float) -> tuple[float, float]:
    """Bounds on a probability, each of them wrong with probability at most `error`, whatever the probability is."""
    return least_share(hits, draws, error), most_share(hits, draws, error)


def least_share(hits: int, draws: int, error: float) -> float:
    """The lower one of Clopper and Pearson's bounds."""
    return 0.0 if hits == 0 else _where(error, hits, draws - hits + 1)


def most_share(hits: int, draws: int, error: float) -> float:
    """The upper one: of the misses it is the lower one, and there a small error loses no digit."""
    return 1.0 - least_share(draws - hits, draws, error)


def _where(level: float, a: int, b: int) -> float:
    """The share x at which the regularised incomplete beta function I(x; a, b) reaches a level; it rises in x.

    Newton's steps on ln(I/(1 − I)), nearly a line in ln(x/(1 − x)), inside an interval that every step makes smaller.
    """
    low, high = 0.0, 1.0
    share, wanted = a / (a + b), math.log(level / (1 - level))
    for _ in range(_STEPS):
        below = _beta(share, a, b)
        if below < level:
            low = share
        else:
            high = share
        before, share = share, _stepped(share, below, wanted, _front(share, a, b))
        if not low < share < high:
            share = (low + high) / 2
        if abs(share - before) <= _NEAR * before:
            break
    return share


def _stepped(share: float, below: float, wanted: float, front: float) -> float:
    """One Newton step from where I(share) = below; `front` is ln of the density times share·(1 − share)."""
    if not 0.0 < below < 1.0:
        return -1.0
    slope = math.exp(front) / (below * (1 - below))
    if slope <= 0.0:
        return -1.0
    odds = math.log(share) - math.log1p(-share) + (wanted - math.log(below) + math.log1p(-below)) / slope
    return 1 / (1 + math.exp(-odds)) if abs(odds) < _ODDS_AT_MOST else -1.0


def _beta(x: float, a: int, b: int) -> float:
    """I(x; a, b) by its continued fraction (Abramowitz and Stegun 26.5.8), on the side where that converges fast."""
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _beta(1.0 - x, b, a)
    if x <= 0.0:
        return 0.0
    return math.exp(_front(x, a, b)) / (a * _fraction(x, a, b))


def _front(x: float, a: int, b: int) -> float:
    """ln of x^a·(1 − x)^b/B(a, b)."""
    return math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)


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
