"""Local recoding: each class goes down its own hierarchies, as far as the criteria let it.

1. All records start in one class, every column at its coarsest level.
2. A class tries each column: it is parted by the groups of the next finer level. Parts that fulfil the criteria go
   down; the others stay together at the old level, and when they do not fulfil the criteria themselves, the smallest
   good parts stay with them until they do.
3. The column that saves most loss is taken. A class that no column can part is done.

Every step keeps every class within the criteria; classes that end with equal published values only make one larger.
The result need not be the best one: to find that is a hard problem.

What it promises and what breaks it stands in `criteria` and `generalize`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.anonymize.criteria import Criteria
from discreet.anonymize.records import Codes, Flags
from discreet.anonymize.roster import Roster
from discreet.errors import ArgumentError

__all__ = ["descend"]


@dataclass(frozen=True, slots=True, eq=False)
class _Split:
    """A way to part a class by one column: which part each entry falls to, and which parts go down."""

    column: int
    saving: float
    part: Codes
    down: Flags


def descend(roster: Roster, criteria: Criteria) -> Codes:
    """For each entry of the roster the level of each column."""
    tops = np.array([ladder.top for ladder in roster.ladders], np.int64)
    levels = np.tile(tops, (len(roster.counts), 1))
    everyone = np.arange(len(roster.counts))
    if not _met(roster, criteria, everyone, np.zeros(len(everyone), np.int64)).all():
        raise ArgumentError(
            "criteria",
            found="the whole table as one class misses them",
            right="the table holds enough records and values",
            step="ask for less",
        )
    waiting = [(everyone, tops)]
    while waiting:
        held, level = waiting.pop()
        split = _best(roster, criteria, held, level)
        if split is None:
            levels[held] = level
            continue
        finer = level.copy()
        finer[split.column] -= 1
        stays = ~split.down[split.part]
        if stays.any():
            waiting.append((held[stays], level))
        waiting += [(held[split.part == part], finer) for part in np.flatnonzero(split.down)]
    return levels


def _best(roster: Roster, criteria: Criteria, held: Codes, level: Codes) -> _Split | None:
    best: _Split | None = None
    for column, ladder in enumerate(roster.ladders):
        if level[column] == 0:
            continue
        leaves = roster.leaves[held, column]
        groups, part = np.unique(ladder.groups[level[column] - 1][leaves], return_inverse=True)
        part = part.reshape(-1)
        if len(groups) == 1:
            return _Split(column, np.inf, part, np.ones(1, np.bool_))
        sizes = np.bincount(part, roster.counts[held])
        down = _goes_down(roster, criteria, held, part, sizes)
        if not down.any():
            continue
        above = ladder.losses(level[column])[ladder.groups[level[column]][leaves[0]]]
        saving = float(np.dot(sizes[down], above - ladder.losses(level[column] - 1)[groups[down]]))
        if best is None or saving > best.saving:
            best = _Split(column, saving, part, down)
    return best


def _goes_down(roster: Roster, criteria: Criteria, held: Codes, part: Codes, sizes: Codes) -> Flags:
    """The parts that leave the class; those that stay fulfil the criteria together, or nobody stays."""
    down = _met(roster, criteria, held, part)
    for smallest in np.argsort(np.where(down, sizes, np.inf)):
        stays = ~down[part]
        if not stays.any() or _met(roster, criteria, held[stays], np.zeros(int(stays.sum()), np.int64)).all():
            return down
        down[smallest] = False
    return down & False


def _met(roster: Roster, criteria: Criteria, held: Codes, part: Codes) -> Flags:
    sensitive = None if roster.sensitive is None else roster.sensitive[held]
    return criteria.met(part, roster.counts[held], sensitive, roster.total)
