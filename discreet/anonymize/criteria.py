"""Criteria: when a class of look-alike records may be published.

    k             the class has at least k records (Samarati and Sweeney 1998)
    l             and at least l distinct values of the sensitive column (Machanavajjhala et al. 2006)
    entropy l     and e to the entropy of these values is at least l
    t             and their shares lie within t of those in the whole table: half the sum of differences, or along the
                  order of the values (earth mover's distance; Li, Li and Venkatasubramanian 2007)

Given:   classes of records that agree on the quasi-identifiers, as published.
Promise: whoever knows a person's quasi-identifiers, and nothing else, is left with k records, l values, or a belief
         within t of the public one.
Because: that is what is counted here, class by class.
Tested:  test_criteria_agree_with_their_definitions, test_a_second_release_undoes_k_anonymity,
         test_a_class_with_one_illness_tells_it.

What breaks it: a second release that groups the same persons otherwise, anything the intruder knows beside the
quasi-identifiers, and, for k alone, a class whose records share the sensitive value. No criterion composes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.anonymize.records import Codes, Flags, Vector
from discreet.check import at_least, exact
from discreet.errors import ArgumentError

__all__ = ["Criteria"]

_CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    """What every published class must fulfil; `l`, `entropy_l` and `t` speak of one sensitive column."""

    k: int = 1
    l: int | None = None  # noqa: E741  the literature's letter
    entropy_l: float | None = None
    t: float | None = None
    sensitive: str | None = None
    ordered: bool = False

    def __post_init__(self) -> None:
        at_least("k", self.k, 1)
        if self.l is not None:
            at_least("l", self.l, 2)
        for name, value, low in (("entropy_l", self.entropy_l, 1), ("t", self.t, 0)):
            if value is not None and not low <= exact(name, value):
                raise ArgumentError(
                    name, found=f"{value}", right=f"it is at least {low}", step="give 1.5 or more for l, .2 for t"
                )
        if self.asks_sensitive != (self.sensitive is not None):
            raise ArgumentError(
                "sensitive",
                found="no column" if self.asks_sensitive else "a column, and neither l nor t",
                right="l and t speak of one sensitive column",
                step="give both, or neither",
            )
        if self.k == 1 and not self.asks_sensitive:
            raise ArgumentError("k", found="1", right="a class of one hides nobody", step="give k=5, or l or t")

    @property
    def asks_sensitive(self) -> bool:
        """Whether a sensitive column is looked at."""
        return any(value is not None for value in (self.l, self.entropy_l, self.t))

    @property
    def grows(self) -> bool:
        """Whether a record in a good class stays in a good class when classes are merged.

        True of sizes and distinct values. Entropy and distance can fall when a good class takes in a bad one; they are
        kept only where all classes are good.
        """
        return self.entropy_l is None and self.t is None

    def met(self, classes: Codes, counts: Codes, sensitive: Codes | None, total: Codes | None) -> Flags:
        """Which classes fulfil the criteria.

        Each entry is `counts` records of one class and one sensitive value; `total` is the number of records with each
        sensitive value in the whole table.
        """
        sizes: Vector = np.bincount(classes, counts).astype(np.float64)
        met: Flags = sizes >= self.k
        if not self.asks_sensitive:
            return met
        assert sensitive is not None
        assert total is not None
        pairs, inverse = np.unique(classes * len(total) + sensitive, return_inverse=True)
        cells = np.bincount(inverse.reshape(-1), counts).astype(np.float64)
        owner, value = pairs // len(total), pairs % len(total)
        if self.l is not None:
            met &= np.bincount(owner, minlength=len(sizes)) >= self.l
        if self.entropy_l is not None:
            weighed = np.bincount(owner, cells * np.log(cells), minlength=len(sizes))
            met &= np.log(sizes) - weighed / sizes >= np.log(self.entropy_l) - 1e-12
        if self.t is not None:
            met &= self._distances(owner, value, cells, sizes, total) <= self.t + 1e-12
        return met

    def _distances(self, owner: Codes, value: Codes, cells: Vector, sizes: Vector, total: Codes) -> Vector:
        shares = total / total.sum()
        if not self.ordered:
            over = np.maximum(cells / sizes[owner] - shares[value], 0)
            return np.bincount(owner, over, minlength=len(sizes)).astype(np.float64)
        if len(total) == 1:
            return np.zeros(len(sizes))
        found, step = [np.zeros(0)], max(1, _CELLS_AT_ONCE // len(total))
        for start in range(0, len(sizes), step):
            held = (owner >= start) & (owner < start + step)
            rows = min(step, len(sizes) - start)
            place = (owner[held] - start) * len(total) + value[held]
            spread = np.bincount(place, cells[held], minlength=rows * len(total)).reshape(rows, -1)
            gaps = np.cumsum(spread / sizes[start : start + rows, None] - shares, axis=1)
            found.append(np.abs(gaps).sum(axis=1) / (len(total) - 1))
        return np.concatenate(found)
