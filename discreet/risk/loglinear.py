"""Unique records that are also unique among everybody, by a log-linear model of the keys' joint distribution.

Each cell of the keys holds F ~ Poisson(λ) people, of whom each is in the sample with probability π. Over the records
unique in the sample (Skinner and Holmes 1998; Elamir and Skinner 2006), with h = (1 − π)·λ:

    τ1 = Σ e^(−h)            how many of them are unique in the population
    τ2 = Σ (1 − e^(−h))/h    how many an intruder links rightly who picks one of the F at random: Σ E[1/F]

λ·π is fitted to the sample's counts: the product of the columns' shares (`independence`), or the model of all pairs of
columns (`pairs`), by iterative proportional fitting over all cells, which takes few columns of few values. Independence
makes rare combinations look rarer than they are, so it says too much where columns belong together; pairs say less.

Intervals are those of the number itself if the model is right: unique records are unique outside independently.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import Literal

import numpy as np

from discreet.check import at_least, one_of
from discreet.errors import ArgumentError
from discreet.risk.frequencies import Floats, Frequencies, Wholes

__all__ = ["LogLinear", "Model", "can_fit_pairs", "fit_loglinear"]

Model = Literal["independence", "pairs"]
_MOST_CELLS = 4_000_000
_ROUNDS, _CLOSE = 200, 1e-6
_Z95 = 1.959964


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLinear:
    """τ1 and τ2 with their intervals, among the records that are unique in the sample."""

    model: Model
    unique: int
    tau1: float
    tau1_interval: tuple[float, float]
    tau2: float
    tau2_interval: tuple[float, float]


def fit_loglinear(frequencies: Frequencies, population: int, *, model: Model = "independence") -> LogLinear:
    """Fit the model and read both measures off it."""
    one_of("model", model, ("independence", "pairs"))
    if at_least("population", population, 1) < frequencies.records or not frequencies.records:
        raise ArgumentError(
            "population",
            found=f"{population:,} people for {frequencies.records:,} records",
            right="it counts everybody whom the table was drawn from",
            step="give the size of the population",
        )
    rate = frequencies.records / population
    expected = _independent(frequencies) if model == "independence" else _pairs(frequencies)
    unseen = expected[frequencies.sizes == 1] * (1 - rate) / rate
    alone = np.exp(-unseen)
    right = np.where(unseen > 1e-12, -np.expm1(-unseen) / np.maximum(unseen, 1e-12), 1.0)
    return LogLinear(
        model=model,
        unique=frequencies.unique,
        tau1=float(alone.sum()),
        tau1_interval=_interval(alone),
        tau2=float(right.sum()),
        tau2_interval=_interval(right),
    )


def can_fit_pairs(frequencies: Frequencies) -> bool:
    """Whether the cells of all columns together are few enough."""
    return prod(len(np.unique(column)) for column in frequencies.codes.T) <= _MOST_CELLS


def _interval(chances: Floats) -> tuple[float, float]:
    """95 % of a sum of independent yes and no."""
    total, half = float(chances.sum()), _Z95 * float(np.sqrt((chances * (1 - chances)).sum()))
    return max(0.0, total - half), min(float(len(chances)), total + half)


def _independent(frequencies: Frequencies) -> Floats:
    """The expected size of each class's cell in the sample: n times the product of the columns' shares."""
    records = frequencies.records
    expected = np.full(len(frequencies.sizes), float(records))
    for column in frequencies.codes.T:
        expected *= np.bincount(column, weights=frequencies.sizes)[column] / records
    return expected


def _pairs(frequencies: Frequencies) -> Floats:
    """The same under the model of all pairs, fitted over every cell until each pair's table fits."""
    places = _densely(frequencies.codes)
    levels = tuple(int(column.max()) + 1 for column in places.T)
    if not can_fit_pairs(frequencies):
        raise ArgumentError(
            "model",
            found=f"{prod(levels):,} cells for pairs of columns",
            right=f"up to {_MOST_CELLS:,} cells are fitted",
            step="name fewer columns, or take model='independence'",
        )
    seen = np.zeros(levels)
    np.add.at(seen, tuple(places.T), frequencies.sizes)
    axes = range(len(levels))
    pairs = list(combinations(axes, min(2, len(levels))))
    targets = [seen.sum(axis=_others(axes, pair), keepdims=True) for pair in pairs]
    fitted = np.full(levels, frequencies.records / prod(levels))
    for _ in range(_ROUNDS):
        away = 0.0
        for pair, target in zip(pairs, targets, strict=True):
            now = fitted.sum(axis=_others(axes, pair), keepdims=True)
            away = max(away, float(np.abs(now - target).max()))
            fitted *= np.divide(target, now, out=np.zeros_like(target), where=now > 0)
        if away < _CLOSE * frequencies.records:
            break
    return np.asarray(fitted[tuple(places.T)], dtype=np.float64)


def _others(axes: Sequence[int], pair: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(axis for axis in axes if axis not in pair)


def _densely(codes: Wholes) -> Wholes:
    """Codes without gaps, column by column."""
    return np.stack([np.unique(column, return_inverse=True)[1].ravel() for column in codes.T], axis=1)
