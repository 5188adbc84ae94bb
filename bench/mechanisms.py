"""Group `mechanisms`: how far answers err beside the closed form of their law, and how long the certificates take.

The errors are of a million draws, or of eight thousand choices; by chance alone they stray from the closed form by a
tenth of a percent, or by one to two. Closed forms, with a the weight of one step:

* two-sided geometric   E|N| = 2a/(1 − a²)
* discrete Gaussian     √E N² = √Σk²P(k), which is σ from σ = 3 on
* the median by rank    records 1, 2, … n, one a cell: the ranks between fall off as a two-sided geometric law
* permute-and-flip      the mean shortfall of its exact law; at most that of the exponential mechanism
* the largest of d      its median m: 2a^m/(1 + a) = 1 − 2^(−1/d)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations

import numpy as np

from bench.measure import fastest
from bench.record import Record
from discreet.guarantee import Adjacency
from discreet.mechanisms import choice
from discreet.mechanisms.aim import Quantile
from discreet.mechanisms.noise import GaussianNoise, LaplaceNoise, Noise, release
from discreet.mechanisms.ordered import Cells, Ordered
from discreet.mechanisms.quantile import choose_quantile
from discreet.mechanisms.utility_score import Utility
from discreet.mechanisms.verify import certify_all, failures
from discreet.randomness import system_bits

__all__ = ["records"]

_MANY, _SOME = 1_000_000, 8_000
_BAR = 1.05


def records() -> Iterator[Record]:
    """One record after the other."""
    for epsilon in (Fraction(1, 10), Fraction(1)):
        laplace = LaplaceNoise.for_guarantee(sensitivity=1, epsilon=epsilon)
        a = math.exp(-epsilon)
        yield _error(f"a count, ε {epsilon}: mean error", float(np.abs(_drawn(laplace)).mean()), 2 * a / (1 - a * a))
    for rho in (Fraction(1, 200), Fraction(1, 2)):
        gaussian = GaussianNoise.for_rho(sensitivity=1, rho=rho)
        spread = float(np.sqrt((_drawn(gaussian).astype(np.float64) ** 2).mean()))
        yield _error(f"a number, ρ {rho}: root mean square error", spread, _gaussian_spread(1 / (2 * float(rho))))
    yield _largest()
    yield _median()
    yield _shortfall()
    checked = certify_all()
    if failures(checked):
        raise SystemExit("a certificate is not as it should be, so the figures of this run mean nothing")
    yield Record(
        task=f"verify mechanisms: {len(checked)} certificates",
        ours=fastest(certify_all, repeats=1),
        bar=60,
        barred="ours",
        unit="CPU s",
    )


def _error(task: str, ours: float, closed: float) -> Record:
    return Record(task=task, ours=ours, raw=closed, bar=_BAR, unit="steps")


def _drawn(noise: Noise) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The errors of that many released zeros."""
    return release(np.zeros(_MANY, dtype=np.int64), noise, system_bits()).value


def _gaussian_spread(sigma_squared: float) -> float:
    weights = {k: math.exp(-k * k / (2 * sigma_squared)) for k in range(-400, 401)}
    return math.sqrt(math.fsum(k * k * weight for k, weight in weights.items()) / math.fsum(weights.values()))


def _largest() -> Record:
    """The median of the largest error among ten answers at ε = 1 together, beside the closed form's."""
    answers, a = 10, math.exp(-1 / 10)
    noise = LaplaceNoise.for_guarantee(sensitivity=answers, epsilon=1)
    # P(|N| ≥ k) = 2a^k/(1 + a), and none of ten is that large with probability one half.
    tail = 1 - 0.5 ** (1 / answers)
    closed = math.log(2 / ((1 + a) * tail)) / -math.log(a)
    found = np.abs(_drawn(noise).reshape(-1, answers)).max(axis=1)
    return _error(f"{answers} answers, ε 1: median of the largest error", float(np.median(found)), closed)


def _median() -> Record:
    """The mean distance in ranks of a private median of a thousand and one different values."""
    size, epsilon = 1001, 0.1
    data = Ordered.from_values(np.arange(size, dtype=np.int64), Cells(0, size - 1))
    off = [
        abs(
            choose_quantile(
                data,
                Quantile(Fraction(1, 2)),
                epsilon=epsilon,
                adjacency=Adjacency.REPLACE_ONE,
                bits=system_bits(),
            ).value
            - size // 2
        )
        for _ in range(_SOME)
    ]
    a = math.exp(-epsilon / 2)
    return _error(f"a median, ε {epsilon}: mean distance in ranks", float(np.mean(off)), 2 * a / (1 - a * a))


def _shortfall() -> Record:
    """How far below the best the chosen of five candidates lies on average, by permute-and-flip."""
    scores, epsilon = (0, 2, 4, 6, 8), 0.5
    utility = Utility(scores=scores, sensitivity=Fraction(1), why="declared")
    short = [max(scores) - scores[choice.choose(utility, epsilon, system_bits())] for _ in range(_SOME)]
    closed, orders = 0.0, list(permutations(scores))
    for order in orders:
        left = 1 / len(orders)
        for score in order:
            heads = math.exp(-epsilon * (max(scores) - score) / 2)
            closed += left * heads * (max(scores) - score)
            left *= 1 - heads
    return _error(f"one of {len(scores)}, ε {epsilon}: mean shortfall", float(np.mean(short)), closed)
