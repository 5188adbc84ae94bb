"""Swapping: values change places between records, so that every column keeps its distribution.

    rank_swap       each value of a column with one at most a share of the ranks away
    record_swap     records at risk in their region exchange the region with a similar record elsewhere

Given:   the columns to swap; for records, which columns are similar and which regions are nested.
Promise: every column's own frequencies stay exactly as they are. `record_swap` keeps the counts of the similar columns
         in every region too, and moves every record that was at risk where a partner can be found.
Because: values are only exchanged, and partners agree on the similar columns.
Tested:  test_rank_swap_stays_within_its_window, test_record_swap_keeps_what_it_promises,
         test_every_record_at_risk_is_swapped.

What breaks it: the columns that were not swapped, by which a person is found as before, now perhaps with somebody
else's region (test_swapped_records_are_still_linked); who knows the swap rate knows how far to believe a finding, so
offices keep it secret, and a method that must be kept secret protects little. A partner's region is true of somebody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymize.records import CodedColumn, Codes, Flags, Records, packed
from discreet.check import at_least, exact, some
from discreet.errors import ArgumentError
from discreet.randomness import Generator, keyed_generator

__all__ = ["Swapped", "rank_swap", "record_swap"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Swapped:
    """The records after a swap: who was moved, and who was at risk and found no partner."""

    records: Records
    moved: Flags
    at_risk: Flags
    alone: Flags


def rank_swap(column: CodedColumn, window: float = 0.05, *, generator: Generator | None = None) -> CodedColumn:
    """Values exchanged between records whose ranks are at most that share of the ranks apart; missing stays."""
    if not 0 < exact("window", window) <= 1:
        raise ArgumentError("window", found=f"{window}", right="a share of the ranks", step="give 0.05")
    draw = generator or keyed_generator()
    there = np.flatnonzero(~column.missing)
    shuffled = there[draw.permutation(len(there))]  # equal values have no rank of their own
    ranked = shuffled[np.argsort(column.codes[shuffled], kind="stable")]
    reach = max(1, int(window * len(ranked)))
    codes = column.codes.copy()
    free = np.ones(len(ranked), np.bool_)
    steps = draw.random(len(ranked))
    for rank in range(len(ranked)):
        if not free[rank]:
            continue
        others = np.flatnonzero(free[rank + 1 : rank + reach + 1])
        if len(others):
            partner = rank + 1 + int(others[int(steps[rank] * len(others))])
            one, other = ranked[rank], ranked[partner]
            codes[one], codes[other] = column.codes[other], column.codes[one]
            free[partner] = False
    return column.with_codes(codes)


def record_swap(
    records: Records,
    regions: Sequence[str],
    *,
    risk: Sequence[str],
    similar: Sequence[str],
    k: int = 3,
    rate: float = 0.0,
    generator: Generator | None = None,
) -> Swapped:
    """Records that stand in a class of fewer than k in their region get the region of a similar record elsewhere.

    `regions` are columns from the coarsest to the finest. A record is at risk at the coarsest of them in which fewer
    than k share its `risk` columns there, and is swapped across that one: partners agree on the `similar` columns and
    on the coarser regions, and differ in that one. Partners at risk themselves come first. `rate` is the least share
    of all records to move; the rest is drawn.
    """
    levels = [records.column(name).full_codes for name in some("regions", regions, step="name the region columns")]
    watched = [records.column(name).full_codes for name in some("risk", risk, step="name the columns that single out")]
    alike = packed([records.column(name).full_codes for name in some("similar", similar, step="name such columns")])
    at_least("k", k, 2)
    if not 0 <= rate <= 1:
        raise ArgumentError("rate", found=f"{rate}", right="a share of the records", step="give 0.05")
    draw = generator or keyed_generator()
    source = np.arange(records.rows)
    moved, at_risk = np.zeros(records.rows, np.bool_), np.zeros(records.rows, np.bool_)
    risky: list[Codes] = []
    for level in range(len(levels)):
        _, inverse, sizes = np.unique(packed([*levels[: level + 1], *watched]), return_inverse=True, return_counts=True)
        new = (sizes[inverse.reshape(-1)] < k) & ~at_risk
        at_risk |= new
        risky.append(np.flatnonzero(new))
    for level, rows in enumerate(risky):
        outer = packed([alike, *levels[:level]])
        own = packed(levels[: level + 1])
        _exchange(rows, outer, own, source, moved, at_risk, draw)
    wanted = int(rate * records.rows) - int(moved.sum())
    if wanted > 0:
        rows = draw.permutation(np.flatnonzero(~moved))[: (wanted + 1) // 2]
        _exchange(rows, packed([alike, *levels[:-1]]), packed(levels), source, moved, at_risk, draw)
    columns = [records.column(name) for name in regions]
    return Swapped(
        records=records.replaced(*(column.with_codes(column.codes[source]) for column in columns)),
        moved=moved,
        at_risk=at_risk,
        alone=at_risk & ~moved,
    )


def _exchange(
    rows: Codes, outer: Codes, own: Codes, source: Codes, moved: Flags, at_risk: Flags, draw: Generator
) -> None:
    """Swap each row with one of the same `outer` and another `own` that has not moved; note it in place."""
    order = np.lexsort((draw.random(len(outer)), outer))
    starts = np.searchsorted(outer[order], outer[rows], "left")
    ends = np.searchsorted(outer[order], outer[rows], "right")
    for place in draw.permutation(len(rows)):
        row = rows[place]
        if moved[row]:
            continue
        near = order[starts[place] : ends[place]]
        near = near[~moved[near] & (own[near] != own[row])]
        if len(near):
            partner = near[np.argmax(at_risk[near])]
            source[row], source[partner] = source[partner], source[row]
            moved[[row, partner]] = True
