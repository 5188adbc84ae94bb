"""Special uniques: every smallest set of columns that singles a record out, and a score for each record (SUDA2).

1. A record is unique on a set of columns when no other record agrees with it there. What is unique on a set is unique
   on every larger one, so only minimal sets tell something new (Elliot, Manning and Ford 2002).
2. All sets of up to `largest` columns are searched, smaller ones first; a set's groups are made from those of the set
   without its last column, so that each takes one sorting of small codes.
3. The score of a record adds Π (columns − i) for i = size … largest over its minimal sets: smaller sets count more.

`DIS` is the chance that a match on all the columns that is unique in the file is right (Skinner and Elliot 2002):
U·δ/(U·δ + P·(1 − δ)), for U unique records, P pairs of look-alikes and the sampled share δ.

What it does not promise: privacy. Scores are confidential, and order records; they are no probabilities.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.check import at_least
from discreet.errors import ArgumentError
from discreet.risk.frequencies import Floats, Frequencies, Wholes

__all__ = ["SpecialUniques", "data_intrusion", "find_special_uniques"]

_MOST_SETS = 20_000
_MOST_WORK = 300_000_000  # classes times sets
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SpecialUniques:
    """For each class: its score, and how many minimal sets of each size single it out. Confidential."""

    quasi: tuple[str, ...]
    largest: int
    scores: Floats
    minimal: Wholes
    by_column: tuple[tuple[str, float], ...]

    def __repr__(self) -> str:
        return f"<confidential special uniques on {', '.join(self.quasi)}>"

    @property
    def records(self) -> int:
        """Records with at least one special unique."""
        return int((self.minimal.sum(axis=1) > 0).sum())

    @property
    def by_size(self) -> tuple[tuple[int, int], ...]:
        """(columns, minimal sets of that many columns over all records)."""
        return tuple((at + 1, int(count)) for at, count in enumerate(self.minimal.sum(axis=0)))


def find_special_uniques(frequencies: Frequencies, *, largest: int | None = None) -> SpecialUniques:
    """All minimal sets of up to `largest` columns for every record; all but one column unless said."""
    wide = len(frequencies.quasi)
    size = max(1, wide - 1) if largest is None else min(at_least("largest", largest, 1), wide)
    sets = sum(1 for _ in _sets(wide, size))
    if sets > _MOST_SETS or sets * len(frequencies.sizes) > _MOST_WORK:
        raise ArgumentError(
            "largest",
            found=f"{sets:,} sets of up to {size} columns",
            right=f"up to {_MOST_SETS:,} sets, and fewer where classes are many",
            step="give a smaller size or fewer columns",
        )
    weight = [float(prod(max(wide - i, 1) for i in range(k, size + 1))) for k in range(1, size + 1)]
    classes = len(frequencies.sizes)
    scores, minimal = np.zeros(classes), np.zeros((classes, size), dtype=np.int64)
    needed = np.zeros(wide)
    for chosen, found in _minimal_sets(frequencies, size):
        at = np.flatnonzero(found)
        scores[at] += weight[len(chosen) - 1]
        minimal[at, len(chosen) - 1] += 1
        needed[list(chosen)] += weight[len(chosen) - 1] * len(at)
    total = float(scores.sum())
    by_column = tuple(
        (name, float(part / total) if total else 0.0) for name, part in zip(frequencies.quasi, needed, strict=True)
    )
    return SpecialUniques(quasi=frequencies.quasi, largest=size, scores=scores, minimal=minimal, by_column=by_column)


def data_intrusion(frequencies: Frequencies, sampled: float) -> float:
    """DIS: the chance that a unique match is right."""
    pairs = int((frequencies.sizes == 2).sum())
    right = frequencies.unique * sampled
    wrong = pairs * (1 - sampled)
    return right / (right + wrong) if right + wrong else 0.0


def _sets(wide: int, largest: int) -> Iterator[tuple[int, ...]]:
    for size in range(1, largest + 1):
        yield from combinations(range(wide), size)


def _minimal_sets(frequencies: Frequencies, largest: int) -> Iterator[tuple[tuple[int, ...], Flags]]:
    """Each set with the classes it singles out and no part of it does."""
    columns = [np.unique(column, return_inverse=True)[1].ravel().astype(np.int64) for column in frequencies.codes.T]
    groups: dict[tuple[int, ...], Wholes] = {(): np.zeros(len(frequencies.sizes), dtype=np.int64)}
    # A set's flags say that it, or a part of it, singles the class out.
    known: dict[tuple[int, ...], Flags] = {(): frequencies.sizes.sum() == frequencies.sizes}
    for size in range(1, largest + 1):
        new_groups, new_known = {}, {}
        for chosen in combinations(range(len(columns)), size):
            *parent, last = chosen
            coded = groups[tuple(parent)] * (int(columns[last].max(initial=0)) + 1) + columns[last]
            _, group = np.unique(coded, return_inverse=True)
            unique = np.bincount(group.ravel(), weights=frequencies.sizes)[group.ravel()] == 1
            before = np.zeros_like(unique)
            for part in combinations(chosen, size - 1):
                before |= known[part]
            yield chosen, unique & ~before
            new_known[chosen] = unique
            if size < largest:
                new_groups[chosen] = group.ravel()
        groups, known = new_groups, new_known
