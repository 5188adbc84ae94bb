"""Does a sampler draw the law it names? A chi-square test with known power, shared by all distribution tests.

The cells are cut at quantiles of the law, so that one helper serves every scale. It accepts at p ≥ 10⁻⁴ with one rerun,
a false alarm of 10⁻⁸; test_goodness.py holds it to reject a scale that is 10 % off, on both sides.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr
from scipy.stats import chi2

__all__ = [
    "KOLMOGOROV",
    "Cdf",
    "farthest",
    "fits",
    "gaussian_cdf",
    "geometric_cdf",
    "laplace_cdf",
    "p_value",
    "p_value_of_two",
]

Integers = npt.NDArray[np.int64]
Cdf = Callable[[int], float]
_CELLS = 60
_LEAST_EXPECTED = 10
_ACCEPTED = 1e-4
# Farther than this, times 1/√n, lies no continuous law but once in ten thousand times, and a discrete one less often.
KOLMOGOROV = 2.2253
_PLACES = 2000


def geometric_cdf(scale: float) -> Cdf:
    """P(G ≤ k) = 1 − e^(−(k+1)/scale)."""
    return lambda k: -math.expm1(-(k + 1) / scale) if k >= 0 else 0.0


def laplace_cdf(scale: float) -> Cdf:
    """P(N ≤ k) for P(k) ∝ e^(−|k|/scale)."""
    both = 1 + math.exp(-1 / scale)
    return lambda k: 1 - math.exp(-(k + 1) / scale) / both if k >= 0 else math.exp(k / scale) / both


def gaussian_cdf(sigma: float) -> Cdf:
    """P(N ≤ k) for P(k) ∝ e^(−k²/(2σ²)): summed where σ is small, else the continuous law at k + ½."""
    if sigma > 30:
        # Poisson summation: the two differ by less than e^(−2π²σ²) at the half-integers' density, far below a draw.
        return lambda k: float(ndtr((k + 0.5) / sigma))
    reach = math.ceil(12 * sigma) + 2
    weights = [math.exp(-k * k / (2 * sigma * sigma)) for k in range(-reach, reach + 1)]
    sums = np.cumsum(weights) / sum(weights)
    return lambda k: float(sums[max(0, min(2 * reach, k + reach))]) if k >= -reach else 0.0


def p_value(draws: Integers, cdf: Cdf) -> float:
    """The chance of a worse fit than this one, were the law right."""
    edges = _edges(cdf, len(draws))
    chances = np.diff([0.0, *(cdf(edge) for edge in edges), 1.0])
    seen = np.bincount(np.searchsorted(edges, draws, side="left"), minlength=len(edges) + 1)
    expected = chances * len(draws)
    if len(edges) == 0:
        return 1.0
    return float(chi2.sf(((seen - expected) ** 2 / expected).sum(), len(edges)))


def fits(draw: Callable[[], Integers], cdf: Cdf) -> bool:
    """Whether the draws may come from the law; one bad fit is tried once more."""
    return p_value(draw(), cdf) >= _ACCEPTED or p_value(draw(), cdf) >= _ACCEPTED


def farthest(draws: Integers, cdf: Cdf) -> float:
    """Kolmogorov's distance of the draws from a law, times √n: the largest gap between what is and what should be below
    a place, at places spread over the draws and right before them."""
    ordered = np.sort(draws)
    values = np.unique(ordered[:: max(1, len(ordered) // _PLACES)])
    places = np.unique(np.concatenate([values - 1, values]))
    below = np.searchsorted(ordered, places, side="right") / len(ordered)
    expected = np.array([cdf(int(place)) for place in places])
    return float(np.abs(below - expected).max() * math.sqrt(len(ordered)))


def p_value_of_two(one: Integers, other: Integers) -> float:
    """The chance of a worse disagreement between two samples of one law."""
    pooled = np.sort(np.concatenate([one, other]))
    edges = np.unique(pooled[:: len(pooled) // _CELLS])
    table = np.array(
        [np.bincount(np.searchsorted(edges, draws, side="left"), minlength=len(edges) + 1) for draws in (one, other)]
    )
    table = table[:, table.sum(axis=0) >= _LEAST_EXPECTED]
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    return float(chi2.sf(((table - expected) ** 2 / expected).sum(), table.shape[1] - 1))


def _edges(cdf: Cdf, count: int) -> list[int]:
    """Ends of cells that each expect enough draws: the quantiles of the law, and as far out as draws reach."""
    tail = _LEAST_EXPECTED / count
    wanted = [tail, 4 * tail, *np.linspace(0, 1, _CELLS + 1)[1:-1], 1 - 4 * tail, 1 - tail]
    edges: list[int] = []
    for share in sorted(wanted):
        edge = _quantile(cdf, share)
        below = cdf(edges[-1]) if edges else 0.0
        if (cdf(edge) - below) * count >= _LEAST_EXPECTED and (1 - cdf(edge)) * count >= _LEAST_EXPECTED:
            edges.append(edge)
    return edges


def _quantile(cdf: Cdf, share: float) -> int:
    """The least k with P(N ≤ k) ≥ share."""
    reach = 1
    while cdf(-reach) >= share or cdf(reach) < share:
        reach *= 2
    return bisect.bisect_left(range(-reach, reach + 1), share, key=cdf) - reach
