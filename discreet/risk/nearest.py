"""Distance to the closest record: whether copies stand nearer to the records they were made from than they should.

1. The distance of two records is the mean over columns of |difference| / range for numbers (the range of the original,
   at most 1) and of 0 or 1 for categories. A missing cell is at distance 1 from a value and 0 from a missing one.
2. For some rows of the copies, drawn at random, the closest record of the original is searched among all.
3. To compare with: a *holdout*, records of the same kind that the copies were not made from. Of copies that tell
   nothing of single records half stand nearer to the original (ties count half, the larger of the two is cut to the
   smaller's size at random). Without a holdout: the distance from a record of the original to its closest other one.

Every figure is an estimate from the rows drawn, shares with their interval (Wilson). What it does not promise: safety.
A distance is no guarantee; a copy may stand far off and still give a value away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.check import at_least
from discreet.data.aligned import Aligned, align
from discreet.draw.format import written
from discreet.randomness import Generator, keyed_generator
from discreet.stats.means import wilson

__all__ = ["Closeness", "closest_records"]

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]

_BLOCK = 1 << 22
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Closeness:
    """How near the copies' rows stand to the original, and to what that is to be compared."""

    drawn: int
    median: float
    baseline_median: float
    identical: float
    identical_interval: tuple[float, float]
    baseline_identical: float
    nearer: float | None
    nearer_interval: tuple[float, float] | None

    @property
    def against_holdout(self) -> bool:
        """Whether the baseline is a holdout; otherwise it is the original's own other records."""
        return self.nearer is not None

    def as_json(self) -> dict[str, object]:
        """All figures."""
        return {
            "rows_drawn": self.drawn,
            "median_distance": self.median,
            "baseline": "holdout" if self.against_holdout else "other records of the original",
            "baseline_median_distance": self.baseline_median,
            "share_identical": self.identical,
            "interval_of_share_identical": list(self.identical_interval),
            "baseline_share_identical": self.baseline_identical,
            "share_nearer_than_holdout": self.nearer,
            "interval_of_share_nearer": None if self.nearer_interval is None else list(self.nearer_interval),
        }

    @property
    def sentence(self) -> str:
        """The finding in plain words."""
        low, high = self.identical_interval
        text = (
            f"Of {self.drawn} rows of the copies, {written('share', self.identical)} ({written('share', low)} to "
            f"{written('share', high)}) equal a record of the original in every column"
        )
        if self.nearer is None or self.nearer_interval is None:
            return (
                f"{text}; of the original's records {written('share', self.baseline_identical)} equal another one. "
                f"The median distance to the closest record is {written('number', self.median)}, among the original's "
                f"own records {written('number', self.baseline_median)}."
            )
        low, high = self.nearer_interval
        return (
            f"{text}, {written('share', self.baseline_identical)} one of the holdout; "
            f"{written('share', self.nearer)} ({written('share', low)} to {written('share', high)}) stand nearer to "
            f"the original than to the holdout, where copies that tell nothing of single records would have half."
        )


def closest_records(
    original: Any,
    copies: Sequence[Any],
    *,
    holdout: Any | None = None,
    columns: Sequence[str] | None = None,
    rows: int = 1000,
    generator: Generator | None = None,
) -> Closeness:
    """The distance to the closest record for `rows` rows of all copies together."""
    at_least("rows", rows, 1)
    draw = generator or keyed_generator()
    others = [] if holdout is None else [holdout]
    tables = align([original, *others, *copies], names=columns)
    space = _Space.of(tables)
    size = tables.rows[0] if holdout is None else min(tables.rows[:2])
    kept = [np.sort(draw.choice(tables.rows[at], size, replace=False)) for at in range(len(others) + 1)]
    first = len(others) + 1
    asked = _drawn(tables, first, rows, draw)
    near = np.concatenate([space.closest(copy, places, 0, kept[0]) for copy, places in asked])
    if holdout is not None:
        base = np.concatenate([space.closest(copy, places, 1, kept[1]) for copy, places in asked])
        ahead = float((near < base - _EQUAL).sum() + (np.abs(near - base) <= _EQUAL).sum() / 2)
        nearer, span = ahead / len(near), wilson(ahead, len(near))
    else:
        own = np.sort(draw.choice(size, min(rows, size), replace=False))
        base = space.closest(0, own, 0, np.arange(size), apart_from=own)
        nearer, span = None, None
    same = int((near <= _EQUAL).sum())
    return Closeness(
        drawn=len(near),
        median=float(np.median(near)),
        baseline_median=float(np.median(base)),
        identical=same / len(near),
        identical_interval=wilson(same, len(near)),
        baseline_identical=float((base <= _EQUAL).mean()),
        nearer=nearer,
        nearer_interval=span,
    )


def _drawn(tables: Aligned, first: int, rows: int, draw: Generator) -> list[tuple[int, Whole]]:
    """Which rows of which copy are asked about: each row of all copies is as likely as any other."""
    sizes = tables.rows[first:]
    places = np.sort(draw.choice(sum(sizes), min(rows, sum(sizes)), replace=False))
    ends = np.cumsum(sizes)
    of = np.searchsorted(ends, places, side="right")
    starts = ends - sizes
    return [(first + copy, places[of == copy] - int(starts[copy])) for copy in range(len(sizes)) if (of == copy).any()]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Space:
    """The columns of every table, scaled so that differences are distances."""

    numbers: tuple[tuple[Floats, ...], ...]
    codes: tuple[tuple[Whole, ...], ...]

    @classmethod
    def of(cls, tables: Aligned) -> _Space:
        """Numbers over the range of the original; codes as they are."""
        count = range(len(tables.rows))
        numbers = []
        for variable in tables.variables:
            if variable.numeric:
                own = variable.numbers(0)
                there = own[~np.isnan(own)]
                scale = float(np.ptp(there)) if len(there) and np.ptp(there) > 0 else 1.0
                numbers.append(tuple(variable.numbers(table) / scale for table in count))
        codes = [tuple(one.codes(table) for table in count) for one in tables.variables if not one.numeric]
        return cls(numbers=tuple(numbers), codes=tuple(codes))

    def closest(
        self, table: int, places: Whole, other: int, among: Whole, *, apart_from: Whole | None = None
    ) -> Floats:
        """For rows of one table the distance to the closest of some rows of another, not counting their own place."""
        found = np.empty(len(places))
        step = max(_BLOCK // max(len(among), 1), 1)
        there = [(column[table], column[other][among]) for column in self.numbers]
        kinds = [(column[table], column[other][among]) for column in self.codes]
        for start in range(0, len(places), step):
            asked = places[start : start + step]
            total = np.zeros((len(asked), len(among)))
            for mine, theirs in there:
                apart = np.abs(mine[asked][:, None] - theirs[None, :])
                np.minimum(apart, 1.0, out=apart)
                gone = np.isnan(mine[asked])[:, None], np.isnan(theirs)[None, :]
                total += np.where(gone[0] | gone[1], gone[0] ^ gone[1], apart) if np.isnan(apart).any() else apart
            for values, others in kinds:
                total += values[asked][:, None] != others[None, :]
            if apart_from is not None:
                total[np.arange(len(asked)), apart_from[start : start + step]] = np.inf
            found[start : start + step] = total.min(axis=1)
        return found / (len(self.numbers) + len(self.codes))
