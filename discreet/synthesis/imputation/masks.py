"""Masks: what data augmentation lets through of a record. The more a mask says, the closer the copies and the risk.

1. `NoiseMask`, numbers: W_k = x + e_k, e_k ~ N(0, σ²), k = 1 … K, σ = `spread` standard deviations of the column.
   Only the mean of the W_k matters, so only σ²/K does.
2. `SignalMask`, ordered levels c = 0, 1, …: w = strength · c + N(0, 1). Two levels equally likely are told apart with
   chance Φ(strength/2).
3. `LevelMask`, any levels: w is the true level with chance `keep` and any other with equal chance; or
   `chances[v][u]`, the chance of w = v for level u, columns adding to 1. What it says grows with how far the columns
   differ.
4. `NoMask` says nothing (Rubin's imputation); `KeepMask` says everything: the value stays.

One knob turns all columns together: `mask_of` gives a column the mask of a noise σ, in standard deviations of a number.
A level then stays with chance 1/C + (1 − 1/C)(2 Φ(1/(2σ)) − 1) of C levels: of two, as often as a signal one step apart
is told under normal noise σ.

A mask is drawn from the confidential value and never leaves the machine. What it does not promise: a bound on the
risk.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.check import at_least
from discreet.errors import ArgumentError
from discreet.randomness import Generator
from discreet.synthesis.imputation.columns import Column, Kind

__all__ = [
    "KeepMask",
    "LevelMask",
    "Mask",
    "NoMask",
    "NoiseMask",
    "SignalMask",
    "check_mask",
    "default_mask",
    "mask_of",
]

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class NoiseMask:
    """Normal noise on numbers, in standard deviations of the column."""

    spread: float
    repeats: int = 1

    def __post_init__(self) -> None:
        _above_zero("spread", self.spread)
        at_least("repeats", self.repeats, 1)

    @property
    def deviation(self) -> float:
        """σ/√K: the standard deviation of the mean of the repeats."""
        return self.spread / math.sqrt(self.repeats)


@dataclass(frozen=True, slots=True)
class SignalMask:
    """The place of an ordered level under standard normal noise."""

    strength: float

    def __post_init__(self) -> None:
        _above_zero("strength", self.strength)

    def evidence(self, codes: Whole, levels: int, generator: Generator) -> Floats:
        """How likely the drawn masks are under each level, up to a factor for each record."""
        drawn = self.strength * codes + generator.standard_normal(len(codes))
        away = np.square(drawn[:, None] - self.strength * np.arange(levels)[None, :])
        return np.asarray(np.exp(-0.5 * (away - away.min(axis=1, keepdims=True))))


@dataclass(frozen=True, slots=True)
class LevelMask:
    """The level itself, exchanged for another with some chance."""

    keep: float = 0.0
    chances: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        table = np.asarray(self.chances, dtype=float) if self.chances else np.array([[1.0]])
        square = table.ndim == 2 and table.shape[0] == table.shape[1]
        proper = square and (table >= 0).all() and np.allclose(table.sum(axis=0), 1)
        if not 0 <= self.keep <= 1 or bool(self.chances) == bool(self.keep) or not proper:
            raise ArgumentError(
                "level mask",
                found=f"keep={self.keep} and a table of {len(self.chances)} rows",
                right="either keep in (0, 1], or a square table whose columns add to 1",
                step="give LevelMask(keep=0.7)",
            )

    def table(self, levels: int) -> Floats:
        """The chance of each mask (rows) under each level (columns)."""
        if self.chances:
            return np.asarray(self.chances, dtype=float)
        return np.full((levels, levels), (1 - self.keep) / max(levels - 1, 1)) * (1 - np.eye(levels)) + (
            np.eye(levels) * (self.keep if levels > 1 else 1.0)
        )

    def evidence(self, codes: Whole, levels: int, generator: Generator) -> Floats:
        """How likely the drawn masks are under each level."""
        table = self.table(levels)
        steps = np.cumsum(table, axis=0).T[codes]  # one line a record: of its own level
        drawn = (generator.random(len(codes))[:, None] >= steps).sum(axis=1)
        return np.asarray(table[np.minimum(drawn, levels - 1)])


@dataclass(frozen=True, slots=True)
class NoMask:
    """Nothing is let through: Rubin's imputation."""


@dataclass(frozen=True, slots=True)
class KeepMask:
    """Everything is let through: the value stays as it is."""


Mask: TypeAlias = NoiseMask | SignalMask | LevelMask | NoMask | KeepMask
DEFAULT_SPREAD, DEFAULT_KEEP = 1.0, 0.7


def default_mask(column: Column) -> Mask:
    """Noise of one standard deviation for numbers; other levels with chance 3 in 10."""
    return NoiseMask(DEFAULT_SPREAD) if column.is_number else LevelMask(keep=DEFAULT_KEEP)


def mask_of(column: Column, noise: float) -> Mask:
    """The mask of a column for one noise that is turned for all columns together."""
    _above_zero("noise", noise)
    if column.is_number:
        return NoiseMask(noise)
    levels = max(len(column.levels), 2)
    told = math.erf(1 / (2 * noise) / math.sqrt(2))  # 2 Φ(1/(2σ)) − 1
    return LevelMask(keep=(1 + (levels - 1) * told) / levels)


def check_mask(column: Column, mask: Mask, *, numeric: bool) -> None:
    """Refuse a mask that does not speak of such a column."""
    fits: tuple[type, ...]
    if numeric:
        fits = (NoiseMask, NoMask, KeepMask)
    elif column.kind is Kind.NOMINAL:
        fits = (LevelMask, NoMask, KeepMask)
    else:
        fits = (LevelMask, SignalMask, NoMask, KeepMask)
    if not isinstance(mask, fits):
        raise ArgumentError(
            f"mask of {column.name!r}",
            found=f"a {type(mask).__name__} for a column that is {column.kind.value}",
            right=f"it takes {', '.join(kind.__name__ for kind in fits)}",
            step="choose one of these",
        )
    if isinstance(mask, LevelMask) and mask.chances and len(mask.chances) != len(column.levels):
        raise ArgumentError(
            f"mask of {column.name!r}",
            found=f"a table for {len(mask.chances)} levels",
            right=f"the column has {len(column.levels)}",
            step="give a line and a column for each level",
        )


def _above_zero(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise ArgumentError(name, found=f"{value}", right="a finite number above 0", step=f"give {name}=1")
