"""Mondrian: classes are halves of halves, cut along the order of the values (LeFevre, DeWitt and Ramakrishnan 2006).

1. A class is cut at the median of the column in which it spreads over the largest share of that column's values.
2. The cut is made where both halves fulfil the criteria; else the next column is tried; a class without a cut is done.
3. A class is published as the range from its least to its largest value of each column.

Numbers are in their own order, texts in that of their signs; missing comes last. A range loses the share of the
column's values that lie inside it, counted as those that occur.

What it promises and what breaks it stands in `criteria`. The ranges end at values that occur, so they give away that
somebody holds them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.anonymize.criteria import Criteria
from discreet.anonymize.records import CodedColumn, Codes, Vector
from discreet.anonymize.roster import Roster
from discreet.errors import ArgumentError

__all__ = ["Parts", "cut"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Parts:
    """For each entry and column the codes of the least and the largest value of its class, missing as the last."""

    roster: Roster
    low: Codes
    high: Codes

    def recoded(self, place: int) -> tuple[CodedColumn, Vector]:
        """The column of each entry as ranges, and the loss of each entry."""
        column = self.roster.ladders[place].column
        low, high = self.low[:, place], self.high[:, place]
        if np.array_equal(low, high):
            return column.with_codes(np.where(low == len(column.values), -1, low)), np.zeros(len(low))
        ends = list(zip(low.tolist(), high.tolist(), strict=True))
        values = (*column.values, None)
        texts = {(one, other): _range(values[one], values[other]) for one, other in set(ends)}
        width = int(self.roster.leaves[:, place].max())
        return CodedColumn.of(column.name, [texts[pair] for pair in ends]), (high - low) / width


def cut(roster: Roster, criteria: Criteria) -> Parts:
    """The classes of all entries."""
    at, everyone = roster.leaves, np.arange(len(roster.counts))
    widths = np.maximum(at.max(axis=0), 1)
    if not _good(roster, criteria, everyone):
        raise ArgumentError(
            "criteria",
            found="the whole table as one class misses them",
            right="the table holds enough records and values",
            step="ask for less",
        )
    low, high = np.empty_like(at), np.empty_like(at)
    waiting = [everyone]
    while waiting:
        held = waiting.pop()
        least, most = at[held].min(axis=0), at[held].max(axis=0)
        for column in np.argsort(-(most - least) / widths, kind="stable"):
            halves = _halves(roster, criteria, held, at[held, column]) if most[column] > least[column] else None
            if halves is not None:
                waiting += halves
                break
        else:
            low[held], high[held] = least, most
    return Parts(roster=roster, low=low, high=high)


def _halves(roster: Roster, criteria: Criteria, held: Codes, at: Codes) -> list[Codes] | None:
    """Both sides of the median, which falls to the side that leaves them more equal."""
    order = np.argsort(at, kind="stable")
    counts = np.cumsum(roster.counts[held][order])
    median = at[order][np.searchsorted(counts, counts[-1] / 2)]
    sides = [at < median, at <= median]
    uneven = [abs(2 * int(roster.counts[held][side].sum()) - int(counts[-1])) for side in sides]
    for place in np.argsort(uneven, kind="stable"):
        side = sides[place]
        if side.any() and not side.all():
            one, other = held[side], held[~side]
            if _good(roster, criteria, one) and _good(roster, criteria, other):
                return [one, other]
    return None


def _good(roster: Roster, criteria: Criteria, held: Codes) -> bool:
    sensitive = None if roster.sensitive is None else roster.sensitive[held]
    whole = np.zeros(len(held), np.int64)
    return bool(criteria.met(whole, roster.counts[held], sensitive, roster.total).all())


def _range(low: object, high: object) -> str | None:
    if low is None:
        return None
    return f"{low}" if low == high else f"{low} – {'missing' if high is None else high}"
