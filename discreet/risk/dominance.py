"""Dominance: when the total of a cell gives a contributor away, by the rules statistical offices use.

Let x1 ≥ x2 ≥ … be the contributions to a cell, S their sum and R = S − x1 − x2.

    p:10          p %: the second contributor, who knows x2, could estimate x1 to within p %:  R < p/100 · x1
    nk:1,80       (n, k): the n largest make up more than k % of the total:  x1 + … + xn > k/100 · S
    threshold:5   fewer than that many contributors, and at least one

Some write the p % rule as x1 / (S − x2) > p′. That is the same rule for p′ = 1 / (1 + p/100), so that p = 10 % means
p′ = .909; a user's "10 %" must never be compared with that ratio (`ratio_bound`, and test_both_forms_agree).

A cell that a rule finds is suppressed, and what can then be computed of it must stay `needed` away from the truth: for
p %, p/100 · x1 − R, so that the second contributor's estimate misses x1 by p %; for (n, k), as much as brings the n
largest down to k % of the total; for a threshold, a share of the total, or of a count as much as leads up to the
threshold.

What it does not promise: privacy. Whether a cell is published depends on its contributions, so that a hole in a table
already tells that somebody dominates it, or that few are in it (test_a_hole_tells_of_the_data). The rules know one
release, one intruder, and no other tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from discreet.check import at_least, exact, one_of, positive
from discreet.errors import ArgumentError

__all__ = ["Contributions", "Dominance", "PPercent", "Rule", "Threshold", "parse_rule", "ratio_bound"]

Vector = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
_KINDS = ("p", "nk", "threshold")
_STEP = "give a rule such as p:10, nk:1,80 or threshold:5"
_SPREAD = 0.3
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Contributions:
    """For each cell: the total, the number of contributors, and the largest contributions in falling order."""

    total: Vector
    count: npt.NDArray[np.int64]
    largest: Vector
    is_count: bool = False

    @classmethod
    def of(cls, cells: Sequence[Sequence[float]], *, places: int = 2) -> Contributions:
        """Cells given by all their contributions."""
        ordered = [sorted(cell, reverse=True) for cell in cells]
        largest = [[*cell[:places], *[0.0] * (places - len(cell))] for cell in ordered]
        return cls(
            total=np.array([sum(cell) for cell in ordered], np.float64),
            count=np.array([len(cell) for cell in ordered], np.int64),
            largest=np.array(largest, np.float64).reshape(len(ordered), places),
        )


class Rule(Protocol):
    """A primary rule."""

    @property
    def places(self) -> int:
        """How many of the largest contributions it looks at."""
        ...

    def finds(self, cells: Contributions) -> Flags:
        """Which cells may not be published."""
        ...

    def needed(self, cells: Contributions) -> Vector:
        """How far from the truth a suppressed cell must be able to lie, in either direction."""
        ...


@dataclass(frozen=True, slots=True)
class PPercent:
    """No contributor may be able to estimate another to within p %."""

    p: float

    def __post_init__(self) -> None:
        positive("p", self.p)

    @property
    def places(self) -> int:
        """The two largest."""
        return 2

    def finds(self, cells: Contributions) -> Flags:
        """Cells with R < p/100 · x1."""
        found: Flags = self.needed(cells) > _ROUNDING * np.abs(cells.total)
        return found

    def needed(self, cells: Contributions) -> Vector:
        """What p/100 · x1 exceeds R by."""
        x1, x2 = cells.largest[..., 0], cells.largest[..., 1]
        needed: Vector = np.maximum(self.p / 100 * x1 - (cells.total - x1 - x2), 0)
        return needed


@dataclass(frozen=True, slots=True)
class Dominance:
    """The n largest contributors may not make up more than k % of a cell."""

    n: int
    k: float

    def __post_init__(self) -> None:
        at_least("n", self.n, 1)
        if not 0 < exact("k", self.k) < 100:
            raise ArgumentError("k", found=f"{self.k}", right="it lies between 0 and 100 %", step=_STEP)

    @property
    def places(self) -> int:
        """The n largest."""
        return self.n

    def finds(self, cells: Contributions) -> Flags:
        """Cells whose n largest make up more than k %."""
        found: Flags = self.needed(cells) > _ROUNDING * np.abs(cells.total)
        return found

    def needed(self, cells: Contributions) -> Vector:
        """What brings the n largest down to k % of the total."""
        held = cells.largest[..., : self.n].sum(axis=-1)
        needed: Vector = np.maximum(held * 100 / self.k - cells.total, 0)
        return needed


@dataclass(frozen=True, slots=True)
class Threshold:
    """A cell has at least that many contributors, or none."""

    least: int

    def __post_init__(self) -> None:
        at_least("threshold", self.least, 2)

    @property
    def places(self) -> int:
        """It looks at numbers alone."""
        return 1

    def finds(self, cells: Contributions) -> Flags:
        """Cells with fewer contributors, and at least one."""
        found: Flags = (cells.count > 0) & (cells.count < self.least)
        return found

    def needed(self, cells: Contributions) -> Vector:
        """Of a count, what it lacks to the threshold; of a total, three tenths of it."""
        width = (self.least - cells.count).astype(np.float64) if cells.is_count else _SPREAD * np.abs(cells.total)
        needed: Vector = np.where(self.finds(cells), width, 0.0)
        return needed


def ratio_bound(p: float) -> float:
    """The p′ of the form x1 / (S − x2) > p′ that says the same as p %."""
    return float(1 / (1 + positive("p", p) / 100))


def parse_rule(text: str) -> Rule:
    """A rule as it is written on a command line."""
    kind, _, numbers = text.partition(":")
    kind = kind.strip()
    one_of("rule", kind, _KINDS)
    given = [exact(f"rule {text!r}", number) for number in numbers.split(",") if number.strip()]
    wanted = 2 if kind == "nk" else 1
    if len(given) != wanted or (kind != "p" and given[0].denominator != 1):
        raise ArgumentError(
            f"rule {text!r}",
            found=f"{len(given) or 'no'} numbers" if len(given) != wanted else "a fraction",
            right="p has one number, nk two and threshold one whole number",
            step=_STEP,
        )
    if kind == "p":
        return PPercent(float(given[0]))
    return Dominance(int(given[0]), float(given[1])) if kind == "nk" else Threshold(int(given[0]))
