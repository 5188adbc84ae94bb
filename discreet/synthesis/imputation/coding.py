"""Columns as latent normals: which latents stand for which column, and the way between latents and values.

1. Numbers, and ordered levels where there are many, take one latent. Each value owns the stretch of the latent
   between its lowest and highest record; between two stretches values are interpolated, beyond the ends they stay at
   the ends.
2. A few ordered levels, or two, take one latent with cuts between them.
3. Nominal levels take a latent with a mean each, but for the most frequent: a record has the level whose latent and
   mean together are highest, the most frequent one where all are below 0.
4. A column without variation takes none; neither does one of too many nominal levels that is not perturbed.

Numbers that lie one published step apart have no numbers between them. Reference for 3: the multinomial probit. What
it does not promise: that columns which repeat each other are found out, unless level by level or as a sum (`repeats`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from discreet.errors import ArgumentError
from discreet.stats.copula import Choice, Ends, highest
from discreet.synthesis.imputation.columns import Column, Columns, Kind
from discreet.synthesis.imputation.sums import parts_of

__all__ = ["Coding", "Sort", "encode", "repeats"]

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
LEVELS_AT_MOST = 60


class Sort(StrEnum):
    """How a column is carried by latents."""

    NUMBER = "number"
    LEVELS = "levels"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Coding:
    """One column, the place of its first latent, and each record's place among its values, −1 where missing."""

    column: Column
    sort: Sort
    first: int
    values: Floats
    codes: Whole

    @property
    def places(self) -> slice:
        """The places of its latents."""
        return slice(self.first, self.first + (len(self.values) - 1 if self.sort is Sort.CHOICE else 1))

    @property
    def latent(self) -> Whole | Choice:
        """What the copula is to know of the column."""
        return Choice(self.codes, len(self.values)) if self.sort is Sort.CHOICE else self.codes

    def number(self, latent: Floats, ends: Ends) -> Floats:
        """The number a latent stands for."""
        return np.asarray(np.interp(latent, self._knots(ends), np.repeat(self.values, 2)))

    def reach(self, low: Floats, high: Floats, ends: Ends) -> tuple[Floats, Floats]:
        """The stretch of latents that stand for numbers from low to high; endless beyond the least and the largest."""
        numbers, latents = np.repeat(self.values, 2), self._knots(ends)
        return (
            np.asarray(np.interp(low, numbers, latents, left=-np.inf)),
            np.asarray(np.interp(high, numbers, latents, right=np.inf)),
        )

    def nearest(self, values: Floats) -> Whole:
        """The place among `values` of the one nearest to each."""
        if self.sort is Sort.CHOICE:
            order = np.argsort(self.values)
            return np.asarray(order[np.searchsorted(self.values[order], values)], dtype=np.int64)
        return np.asarray(np.searchsorted((self.values[:-1] + self.values[1:]) / 2, values), dtype=np.int64)

    def bounds(self, places: Whole, ends: Ends) -> tuple[Floats, Floats]:
        """For each record the stretch of the latent that belongs to the value at this place; not for a choice."""
        cuts = np.concatenate([[-np.inf], ends.cuts, [np.inf]])
        return cuts[places], cuts[places + 1]

    def decode(self, latents: Floats, ends: Ends | None, means: Floats, edge: int) -> Floats:
        """Values that latents (a line each) stand for; numbers no further out than the `edge`-th least and largest."""
        if ends is None:
            return np.asarray(self.values[highest(latents + means[:, None])[1]])
        if self.sort is Sort.LEVELS:
            return np.asarray(self.values[np.searchsorted(ends.cuts, latents[0])])
        numbers = self.number(latents[0], ends)
        if not self.column.is_continuous:
            return np.round(numbers)
        there = np.sort(self.column.values[~self.column.missing])
        at = min(edge, (len(there) + 1) // 2) - 1
        return np.clip(numbers, there[at], there[-1 - at])

    def _knots(self, ends: Ends) -> Floats:
        """Where on the latent each value begins and ends; values one step apart meet halfway."""
        bottoms, tops = ends.bottoms.copy(), ends.tops.copy()
        step = 10.0**-self.column.digits if self.column.is_continuous else 1.0
        meet = np.flatnonzero(np.diff(self.values) < 1.5 * step)
        tops[meet] = bottoms[meet + 1] = ends.cuts[meet]
        return np.stack([bottoms, tops], axis=1).ravel()


def encode(columns: Columns, perturbed: Sequence[str]) -> tuple[tuple[Coding, ...], tuple[str, ...]]:
    """The columns that vary as latents, and sentences on those left out."""
    codings: list[Coding] = []
    notes: list[str] = []
    first = 0
    for column in columns.columns:
        found = column.distinct
        if not len(found):
            raise ArgumentError(
                f"column {column.name!r}",
                found="no value at all",
                right="nothing can be imputed from nothing",
                step="leave the column out",
            )
        if len(found) == 1:
            notes.append(f"{column.name} does not vary: it stays as it is")
            continue
        if column.kind is Kind.NOMINAL and len(found) > LEVELS_AT_MOST:
            _refuse_many(column, perturbed)
            notes.append(f"{column.name} has too many levels to be modelled: it stays, and nothing is drawn from it")
            continue
        coding = _code(column, found, first)
        codings.append(coding)
        first = coding.places.stop
    return tuple(codings), tuple(notes)


def repeats(codings: Sequence[Coding], perturbed: Sequence[str]) -> tuple[str, ...]:
    """Sentences on columns that are published as they are and tell a perturbed one, level by level or as its parts."""
    notes: list[str] = []
    staying = [coding.column for coding in codings if coding.column.name not in perturbed]
    for told in (coding.column for coding in codings if coding.column.name in perturbed):
        known = len(notes)
        for by in staying:
            if _tells(by, told):
                notes.append(
                    f"{by.name} tells {told.name} record by record and is not perturbed: it gives away what is hidden"
                )
        parts = parts_of(told, staying) if len(notes) == known else ()
        if parts:
            notes.append(
                f"{', '.join(parts)} add up to {told.name} and are not perturbed: they give away what is hidden"
            )
    return tuple(notes)


def _refuse_many(column: Column, perturbed: Sequence[str]) -> None:
    if column.name in perturbed or column.missing.any():
        raise ArgumentError(
            f"column {column.name!r}",
            found=f"more than {LEVELS_AT_MOST} levels without an order",
            right=f"a nominal column that is perturbed or imputed has at most {LEVELS_AT_MOST}",
            step="merge rare levels, say their order, or leave the column out",
        )


def _code(column: Column, found: Floats, first: int) -> Coding:
    places = np.where(column.missing, -1, np.searchsorted(found, np.nan_to_num(column.values))).astype(np.int64)
    if column.kind is not Kind.NOMINAL or len(found) == 2:
        sort = Sort.NUMBER if column.is_number else Sort.LEVELS
        return Coding(column=column, sort=sort, first=first, values=found, codes=places)
    order = np.argsort(-np.bincount(places[places >= 0]), kind="stable")
    rank = np.empty(len(found) + 1, dtype=np.int64)
    rank[order], rank[-1] = np.arange(len(found)), -1
    return Coding(column=column, sort=Sort.CHOICE, first=first, values=found[order], codes=rank[places])


def _tells(open_: Column, hidden: Column) -> bool:
    """Whether one value of the open column never goes with two of the hidden one, and several records show it."""
    both = ~(open_.missing | hidden.missing)
    shown, kept = open_.codes[both], hidden.codes[both]
    pairs = np.unique(shown * (kept.max(initial=0) + 1) + kept)
    groups = len(np.unique(shown))
    if len(pairs) != groups:
        return False
    # Where each record has its own open value that means nothing, unless the orders agree too.
    if groups <= len(shown) // 2:
        return True
    in_order = kept[np.argsort(shown, kind="stable")]
    steps = np.diff(in_order)
    return bool((steps >= 0).all() or (steps <= 0).all())
