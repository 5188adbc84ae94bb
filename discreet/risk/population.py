"""Population uniqueness from a sample alone: how many of its unique records are unique among everybody.

Terms: n records, N people, s_i classes of size i in the sample.

    Zayatz   the sample's own sizes stand in for the population's: P(unique outside | unique here) is
             s_1·h_1 / Σ_i s_i·h_i, where h_i is the chance that just one of i people is sampled (Zayatz 1991).
    Pitman   sizes follow the Ewens-Pitman law with 0 ≤ a < 1 and t > −a, fitted by maximum likelihood; the population
             is then expected to hold Γ(t+1)/Γ(t+a)·N^a unique people (Hoshino 2001).

Both assume a simple random sample; Zayatz tends to say too much and Pitman fits populations with very many rare kinds.
Intervals come from drawing the s_i again, independent Poisson each, and estimating again: they hold the error of
sampling, not that of a wrong model.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.check import at_least
from discreet.errors import ArgumentError
from discreet.randomness import Generator
from discreet.risk.frequencies import Floats, Wholes

__all__ = ["PopulationUniques", "pitman", "zayatz"]

_REDRAWN = 100
_STEPS = 28
_RATIO = (math.sqrt(5) - 1) / 2
_LOGARITHMS = np.vectorize(math.lgamma, otypes=[np.float64])


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationUniques:
    """The expected number of people in the population who are unique in it, by one model, with a 95 % interval."""

    model: str
    people: int
    uniques: float
    low: float
    high: float

    @property
    def share(self) -> float:
        """Of all people."""
        return self.uniques / self.people


def zayatz(sizes: Wholes, people: int, generator: Generator) -> PopulationUniques:
    """By hypergeometric chances over the sizes of the sample."""
    return _estimated("Zayatz", _zayatz, sizes, people, generator)


def pitman(sizes: Wholes, people: int, generator: Generator) -> PopulationUniques:
    """By the Ewens-Pitman law."""
    return _estimated("Pitman", _pitman, sizes, people, generator)


def _estimated(
    model: str, estimate: Callable[[Wholes, Wholes, int], float], sizes: Wholes, people: int, generator: Generator
) -> PopulationUniques:
    each, counts = np.unique(sizes, return_counts=True)
    records = int(each @ counts)
    if at_least("population", people, 1) < records:
        raise ArgumentError(
            "population",
            found=f"{people:,}, fewer than the table's records",
            right="it counts everybody whom the table was drawn from",
            step="give the size of the population",
        )
    found = estimate(each, counts, people)
    redrawn = np.sort([estimate(each, generator.poisson(counts), people) for _ in range(_REDRAWN)])
    low, high = redrawn[[2, -3]]  # 95 of 100 lie between
    return PopulationUniques(
        model=model, people=people, uniques=found, low=min(float(low), found), high=max(float(high), found)
    )


def _zayatz(each: Wholes, counts: Wholes, people: int) -> float:
    records = int(each @ counts)
    ones = int(counts[each == 1].sum())
    if not ones or records >= people:
        return float(ones)
    chance = np.exp(_log_one_of(each.astype(np.float64), records, people))
    return ones * people / records * float(ones * chance[each == 1][0] / (counts @ chance))


def _log_one_of(each: Floats, records: int, people: int) -> Floats:
    """ln of i·C(N−i, n−1)/C(N, n)."""
    left = people - each
    possible = left - records + 1 >= 0
    left = np.where(possible, left, records)
    rest = _LOGARITHMS(left + 1) - math.lgamma(records) - _LOGARITHMS(left - records + 2)
    whole = math.lgamma(people + 1) - math.lgamma(records + 1) - math.lgamma(people - records + 1)
    return np.asarray(np.where(possible, np.log(each) + rest - whole, -np.inf), dtype=np.float64)


def _pitman(each: Wholes, counts: Wholes, people: int) -> float:
    ones = int(counts[each == 1].sum())
    if not ones:
        return 0.0
    if ones == int(each @ counts):
        return float(people)  # nobody has a look-alike: the law's limit
    share, size = _fitted(each, counts)
    logarithm = math.lgamma(size + 1) - math.lgamma(size + share) + share * math.log(people)
    return min(math.exp(logarithm), float(people))


def _fitted(each: Wholes, counts: Wholes) -> tuple[float, float]:
    """The share a and the size t of largest likelihood, by golden sections: of t for every a, then of a."""
    kinds, records = int(counts.sum()), int(each @ counts)

    def likelihood(share: float, size: float) -> float:
        grown = (kinds - 1) * math.log(share) + math.lgamma(size / share + kinds) - math.lgamma(size / share + 1)
        drawn = math.lgamma(size + records) - math.lgamma(size + 1)
        return grown - drawn + float(counts @ (_LOGARITHMS(each - share) - math.lgamma(1 - share)))

    def best_size(share: float) -> float:
        return math.exp(_peak(lambda log: likelihood(share, math.exp(log)), math.log(1e-3), math.log(1e9)))

    share = _peak(lambda share: likelihood(share, best_size(share)), 1e-4, 1 - 1e-6)
    return share, best_size(share)


def _peak(height: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with one peak is highest."""
    left, right = high - _RATIO * (high - low), low + _RATIO * (high - low)
    here, there = height(left), height(right)
    for _ in range(_STEPS):
        if here < there:
            low, left, here = left, right, there
            right = low + _RATIO * (high - low)
            there = height(right)
        else:
            high, right, there = right, left, here
            left = high - _RATIO * (high - low)
            here = height(left)
    return (low + high) / 2
