"""Individual risk: how likely it is that somebody who finds one record's look-alikes finds the person.

Terms for a class: f its records in the file, F the people like it in the population, p = f/F.

    prosecutor   1/f: the intruder knows that the person is in the file
    journalist   1/F: the intruder does not, and looks in the population
    Benedetti    E[1/F | f] where F given f is negative binomial, since F is only estimated (Benedetti and Franconi
                 1998): ∫₀¹ p·u^(f−1) / (p + (1−p)·u) du

The integral is p/(1−p)·ln(1/p) for f = 1 and follows r(f+1) = p/(1−p)·(1/f − r(f)); for p above ½ that recursion loses
digits and a series is used. `approximate` gives f·(that): p/(f − (1−p)) above f = 2, as other tools do.

The sum of the risks over all records is the number of people an intruder who tries everybody is expected to find.
What it does not promise: that the weights are right, or that keys are recorded alike inside and outside.
"""

from __future__ import annotations

import numpy as np

from discreet.errors import ArgumentError
from discreet.risk.frequencies import Floats, Wholes

__all__ = ["benedetti_franconi", "journalist", "prosecutor"]

_TERMS = 80  # of a series whose terms at least halve


def prosecutor(sizes: Wholes) -> Floats:
    """1/f for each class."""
    return 1 / sizes.astype(np.float64)


def journalist(sizes: Wholes, outside: Floats) -> Floats:
    """1/F for each class; nobody like it outside means that f itself is all there is."""
    return 1 / np.maximum(outside, sizes)


def benedetti_franconi(sizes: Wholes, outside: Floats, *, approximate: bool = False) -> Floats:
    """E[1/F | f] for each class, between 1/F and 1/f."""
    if sizes.shape != outside.shape or (sizes < 1).any() or not (outside > 0).all():
        raise ArgumentError(
            "sizes", found="other numbers of classes, or empty ones", right="f ≥ 1 and F > 0 each", step="check both"
        )
    f = sizes.astype(np.float64)
    p = np.minimum(f / outside, 1.0)
    risk = 1 / f  # p = 1: the population is the file
    some = p < 1
    risk[some] = (_approximated if approximate else _expected)(sizes[some], p[some])
    return risk


def _expected(sizes: Wholes, p: Floats) -> Floats:
    risk = np.empty_like(p)
    likely = p > 0.5
    risk[likely] = _series(sizes[likely], p[likely])
    risk[~likely] = _recursion(sizes[~likely], p[~likely])
    return risk


def _series(sizes: Wholes, p: Floats) -> Floats:
    """p/f · Σ_j t_j with t_0 = 1 and t_(j+1) = t_j·(1−p)·(j+1)/(f+1+j): each term is below half of the one before."""
    term, total = np.ones_like(p), np.ones_like(p)
    for j in range(_TERMS):
        term = term * (1 - p) * (j + 1) / (sizes + 1 + j)
        total += term
    return p / sizes * total


def _recursion(sizes: Wholes, p: Floats) -> Floats:
    """From f = 1 upwards; an error shrinks by p/(1−p) ≤ 1 at every step. All classes climb together."""
    odds = p / (1 - p)
    risk = odds * np.log(1 / p)
    order = np.argsort(sizes, kind="stable")
    sorted_sizes = sizes[order]
    largest = int(sorted_sizes[-1]) if len(sorted_sizes) else 0
    settled = min(largest, _EXACT_AT_MOST)
    for f in range(1, settled):
        above = order[np.searchsorted(sorted_sizes, f, side="right") :]
        risk[above] = odds[above] * (1 / f - risk[above])
    far = sizes > _EXACT_AT_MOST
    risk[far] = _approximated(sizes[far], p[far])
    return risk


# Beyond it the approximation p/(f − (1−p)) is right to a millionth of itself, and nobody is at risk.
_EXACT_AT_MOST = 2_000


def _approximated(sizes: Wholes, p: Floats) -> Floats:
    odds = p / (1 - p)
    first = odds * np.log(1 / p)
    return np.select([sizes == 1, sizes == 2], [first, odds * (1 - first)], p / (sizes - (1 - p)))
