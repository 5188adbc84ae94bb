"""Local suppression: single cells are emptied, so that what is left of a record fits enough others.

Two readings of "enough", for chosen k:

    fits    at least k records of the table agree with what a published record still shows. This is what sdcMicro's
            localSuppression asks for.
    alike   at least k published records show exactly the same: the same columns, the same values.

`fits` is found column set by column set:

1. For every set of columns that could be emptied, count how many records agree on the others.
2. Each record takes the cheapest set that leaves it with k. Records do not disturb each other, so this is the least
   weight of emptied cells there is: no search, no order of records, nothing left to chance.

`alike` goes through the same sets from the cheapest on: records that no set has settled yet and that agree on the other
columns are settled together where there are k of them; one or two missing are fetched from larger classes where that
is cheaper than emptying more cells. This is a good solution, not the best.

An empty cell says nothing, whoever emptied it: a value that was missing already counts as emptied.

Given:   all records of the table, the quasi-identifiers, k.
Promise: `fits`: each published record fits at least k of the table's records; no fewer cells (by weight) would do.
         `alike`: published records that show anything come in classes of at least k.
Because: both are counted, record by record, in what is published.
Tested:  test_fits_is_the_least_that_brute_force_finds, test_alike_publishes_classes_of_k, test_adult_needs_fewer_cells.

What breaks `fits`: elimination. A person of 90 whose neighbours are all of 30 is the only one who fits the one record
without an age; see `found_by_elimination`, which counts such persons, and test_elimination_breaks_fits_and_not_alike.
What breaks both: another release, a shared sensitive value, further knowledge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from discreet.anonymize.records import CodedColumn, Codes, Flags, Records, Vector, distinct_rows, packed
from discreet.check import at_least, known, one_of, positive, some
from discreet.errors import ArgumentError

__all__ = ["READINGS", "Suppressed", "found_by_elimination", "suppress"]

READINGS = ("fits", "alike")
_COLUMNS_AT_MOST = 12


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Suppressed:
    """The records with some cells emptied, and how many in each column."""

    records: Records
    quasi: tuple[str, ...]
    reading: str
    cells: Mapping[str, int]
    changed: int

    def __repr__(self) -> str:
        return f"<confidential records, {self.total} cells emptied>"

    @property
    def total(self) -> int:
        """How many cells were emptied."""
        return sum(self.cells.values())

    def as_json(self) -> dict[str, object]:
        """The figures, for the keeper."""
        return {
            "reading": self.reading,
            "cells": dict(self.cells),
            "total_cells": self.total,
            "changed_records": self.changed,
            "records": self.records.rows,
        }


def suppress(
    records: Records,
    quasi: Sequence[str],
    *,
    k: int = 3,
    weights: Mapping[str, float] | None = None,
    reading: str = "alike",
) -> Suppressed:
    """Empty as little as possible. A column's weight is what an emptied cell of it costs, 1 unless given.

    Between sets of equal weight the one with more distinct values goes, as it says more.
    """
    names = some("quasi", quasi, step="name the columns an outsider may know, each once")
    at_least("k", k, 2)
    one_of("reading", reading, READINGS)
    columns = [records.column(name) for name in names]
    _require_possible(records, names, k)
    costs = _costs(names, weights or {})
    sets = _by_cost(columns, costs)
    gone = np.stack([column.missing for column in columns], axis=1)
    hidden = _fitting(columns, gone, sets, k) if reading == "fits" else _alike(columns, gone, sets, costs, k)
    emptied = hidden & ~gone
    return Suppressed(
        records=records.replaced(
            *(
                column.with_codes(np.where(emptied[:, place], -1, column.codes))
                for place, column in enumerate(columns)
                if emptied[:, place].any()
            )
        ),
        quasi=names,
        reading=reading,
        cells={name: int(emptied[:, place].sum()) for place, name in enumerate(names)},
        changed=int(emptied.any(axis=1).sum()),
    )


def found_by_elimination(original: Records, published: Records, quasi: Sequence[str]) -> Flags:
    """Who is found by somebody that knows everybody's quasi-identifiers: whom one published record alone fits.

    A published record fits a person when none of its visible values contradicts the person's.
    """
    columns = [original.column(name) for name in quasi]
    shown = [CodedColumn.of(column.name, published.column(column.name).listed()) for column in columns]
    gone = np.stack([column.missing for column in shown], axis=1)
    fits = np.zeros(original.rows, np.int64)
    for pattern in np.unique(gone, axis=0):
        rows = (gone == pattern).all(axis=1)
        visible = [place for place, hidden in enumerate(pattern) if not hidden]
        if not visible:
            fits += int(rows.sum())
            continue
        both = [_both(columns[place], shown[place], rows) for place in visible]
        keys = packed([np.concatenate(pair) for pair in both])
        person, record = keys[: original.rows], np.sort(keys[original.rows :])
        fits += np.searchsorted(record, person, "right") - np.searchsorted(record, person, "left")
    found: Flags = fits == 1
    return found


def _both(column: CodedColumn, shown: CodedColumn, rows: Flags) -> tuple[Codes, Codes]:
    """The codes of all persons and of some published records, in one numbering; a person's missing value fits none."""
    place = {value: code for code, value in enumerate(column.values)}
    translated = np.array([place.get(value, len(place) + 1) for value in shown.values] or [0], np.int64)
    return column.full_codes, translated[shown.codes[rows]]


def _require_possible(records: Records, names: Sequence[str], k: int) -> None:
    if records.rows < k:
        raise ArgumentError(
            "k", found=f"{k}, and fewer records", right="the table holds at least k", step="ask for less"
        )
    if len(names) > _COLUMNS_AT_MOST:
        raise ArgumentError(
            "quasi",
            found=f"{len(names)} columns",
            right=f"local suppression weighs all sets of at most {_COLUMNS_AT_MOST} columns",
            step="generalise first, or name the columns that are really known outside",
        )


def _costs(names: Sequence[str], weights: Mapping[str, float]) -> tuple[float, ...]:
    for name, weight in weights.items():
        known("weight of column", name, names, step="name one of the quasi columns")
        positive(f"weight of {name}", weight)
    return tuple(float(weights.get(name, 1)) for name in names)


def _by_cost(columns: Sequence[CodedColumn], costs: Sequence[float]) -> list[tuple[int, ...]]:
    """All sets of columns, the cheapest first; of equal ones that with more values first."""
    places = range(len(columns))
    sets = [chosen for size in range(len(columns) + 1) for chosen in combinations(places, size)]
    return sorted(sets, key=lambda one: (sum(costs[at] for at in one), -sum(len(columns[at].values) for at in one)))


def _fitting(columns: Sequence[CodedColumn], gone: Flags, sets: Sequence[tuple[int, ...]], k: int) -> Flags:
    """Which cells to hide, so that each record fits k. Worked out for each distinct combination."""
    first, entry, counts = distinct_rows([column.full_codes for column in columns])
    codes = [column.full_codes[first] for column in columns]
    missing = gone[first]
    hidden = np.zeros(missing.shape, np.bool_)
    waiting = np.ones(len(first), np.bool_)
    for chosen in sets:
        shown = [at for at in range(len(columns)) if at not in chosen]
        able = waiting & ~missing[:, shown].any(axis=1)
        if not able.any():
            continue
        settled = able & (_sizes([codes[at] for at in shown], counts) >= k)
        hidden[np.ix_(np.flatnonzero(settled), np.array(chosen, np.int64))] = True
        waiting &= ~settled
        if not waiting.any():
            break
    return hidden[entry]


def _alike(
    columns: Sequence[CodedColumn], gone: Flags, sets: Sequence[tuple[int, ...]], costs: Sequence[float], k: int
) -> Flags:
    """Which cells to hide, so that records that show the same come in classes of k."""
    codes = np.stack([column.full_codes for column in columns], axis=1)
    hidden = np.zeros(gone.shape, np.bool_)
    waiting = np.ones(len(gone), np.bool_)
    prices = np.array(costs)
    for chosen in sets:
        shown = [at for at in range(len(columns)) if at not in chosen]
        able = np.flatnonzero(waiting & ~gone[:, shown].any(axis=1))
        if not len(able):
            continue
        sizes = _sizes([codes[able, at] for at in shown], np.ones(len(able), np.int64))
        settled = [able[sizes >= k]]
        short = able[sizes < k]
        if len(short) and 0 < len(chosen) < len(columns):
            settled += _fetched(codes, hidden, waiting, short, np.array(chosen), prices, k)
        for rows in settled:
            hidden[np.ix_(rows, np.array(chosen, np.int64))] = True
            waiting[rows] = False
    if waiting.any():
        hidden[waiting] = True
        if waiting.sum() < k:  # the smallest class goes with them
            _, owner, sizes = np.unique(_classes(codes, hidden), return_inverse=True, return_counts=True)
            smallest = np.argmin(np.where(np.bincount(owner.reshape(-1), waiting) > 0, len(gone) + 1, sizes))
            hidden[owner.reshape(-1) == smallest] = True
    return hidden


def _fetched(
    codes: Codes, hidden: Flags, waiting: Flags, short: Codes, chosen: Codes, prices: Vector, k: int
) -> list[Codes]:
    """Groups of fewer than k records with those who join them, out of classes that can spare them.

    Fetching pays where it costs no more than emptying one more cell of each record that waits.
    """
    shown = np.setdiff1d(np.arange(codes.shape[1]), chosen)
    keys = packed([codes[:, at] for at in shown])
    groups, inverse, sizes = np.unique(keys[short], return_inverse=True, return_counts=True)
    donors = np.flatnonzero(~waiting & np.isin(keys, groups) & ~hidden[:, shown].any(axis=1))
    if not len(donors):
        return []
    _, owner, found = np.unique(_classes(codes[donors], hidden[donors]), return_inverse=True, return_counts=True)
    owner, spare = owner.reshape(-1), found - k
    price = (~hidden[np.ix_(donors, chosen)] * prices[chosen]).sum(axis=1)
    order = np.lexsort((price, keys[donors]))
    starts = np.searchsorted(keys[donors][order], groups, "left")
    ends = np.searchsorted(keys[donors][order], groups, "right")
    members = np.split(short[np.argsort(inverse.reshape(-1), kind="stable")], np.cumsum(sizes)[:-1])
    made = []
    for group, held in enumerate(members):
        joining: list[int] = []
        for place in order[starts[group] : ends[group]]:
            if len(joining) + len(held) == k:
                break
            if spare[owner[place]] > 0:
                spare[owner[place]] -= 1
                joining.append(place)
        if len(joining) + len(held) == k and price[joining].sum() <= len(held) * prices.min():
            made.append(np.concatenate([held, donors[joining]]))
        else:
            np.add.at(spare, owner[joining], 1)
    return made


def _classes(codes: Codes, hidden: Flags) -> Codes:
    """One number for each way a record looks as published."""
    return packed([np.where(hidden[:, at], 0, codes[:, at] + 1) for at in range(codes.shape[1])])


def _sizes(codes: Sequence[Codes], counts: Codes) -> Codes:
    """For each entry, how many records agree with it on these columns."""
    if not codes:
        return np.full(len(counts), counts.sum())
    _, inverse = np.unique(packed(codes), return_inverse=True)
    sizes: Codes = np.bincount(inverse.reshape(-1), counts).astype(np.int64)[inverse.reshape(-1)]
    return sizes
