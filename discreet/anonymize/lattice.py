"""The lattice: the best single level for each column, found by a search that proves it.

A node is a level for each column. Its records in classes that miss the criteria are left out, up to a limit. Sought is
the node of least loss (geometric mean over columns, a record left out losing everything).

1. What a node loses without leaving anybody out is known before any class is counted: each column's loss depends on its
   level alone. It is a lower bound, and it grows along the lattice.
2. Of the nodes still open, the one with the middle bound is counted. If it leaves out too many, so does every node
   below it, where the criteria grow with classes (`Criteria.grows`, or a limit of 0); they are closed. If it is good
   and better than the best, every node whose bound is no better is closed.
3. When no node is open the best one is the best of all.

Given:   ladders whose groups nest.
Promise: no node within the limit has a smaller loss.
Because: a node is closed only when it is counted, when its bound is no better than the best, or when a coarser node
         already leaves out too many; merging classes never puts a record of a good class into a bad one.
Tested:  test_search_finds_what_counting_every_node_finds, test_adult_loses_what_arx_found.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.anonymize.criteria import Criteria
from discreet.anonymize.loss import geometric
from discreet.anonymize.records import Codes, Flags
from discreet.anonymize.roster import Roster
from discreet.errors import ArgumentError

__all__ = ["Best", "search"]

_NODES_AT_MOST = 2_000_000
_DENSE_AT_MOST = 300_000
_SLACK = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Best:
    """The best node, the entries it leaves out, its loss, and how many nodes were counted to prove it."""

    levels: Codes
    left_out: Flags
    loss: float
    evaluated: int


class _Lattice:
    """All nodes with their bounds, and the counting of one."""

    def __init__(self, roster: Roster, criteria: Criteria) -> None:
        self.roster, self.criteria = roster, criteria
        tops = [ladder.top for ladder in roster.ladders]
        if np.prod([top + 1.0 for top in tops]) > _NODES_AT_MOST:
            raise ArgumentError(
                "hierarchies",
                found="more combinations of levels than can be searched",
                right=f"there are at most {_NODES_AT_MOST:,}",
                step="take fewer columns or levels, or the method local",
            )
        self.nodes = np.stack(np.meshgrid(*(np.arange(top + 1) for top in tops), indexing="ij"), -1).reshape(
            -1, len(tops)
        )
        # For each column and level: the group of each entry, and its loss.
        self.groups: list[list[Codes]] = []
        self.losses: list[list[npt.NDArray[np.float64]]] = []
        for place, ladder in enumerate(roster.ladders):
            leaves = roster.leaves[:, place]
            groups = [
                np.unique(ladder.groups[level][leaves], return_inverse=True)[1] for level in range(ladder.top + 1)
            ]
            self.groups.append([one.reshape(-1) for one in groups])
            self.losses.append([ladder.losses(level)[ladder.groups[level][leaves]] for level in range(ladder.top + 1)])
        self.whole = [[float(np.dot(roster.counts, loss)) for loss in column] for column in self.losses]
        logs = [np.log1p(np.array(column) / roster.records) for column in self.whole]
        means = sum(log[self.nodes[:, place]] for place, log in enumerate(logs)) / len(tops)
        self.bounds: npt.NDArray[np.float64] = np.expm1(means)

    def classes(self, node: Codes) -> Codes:
        """The class of each entry, numbered without gaps unless the numbers are few."""
        keys, width = np.zeros(len(self.roster.counts), np.int64), 1
        for column, level in zip(self.groups, node, strict=True):
            groups = column[level]
            size = int(groups.max()) + 1
            if size > 1:
                keys, width = keys * size + groups, width * size
        if width <= _DENSE_AT_MOST and not self.criteria.asks_sensitive:
            return keys
        order = np.argsort(keys)
        ordered = keys[order]
        number = np.cumsum(np.concatenate(([False], ordered[1:] != ordered[:-1])))
        classes = np.empty(len(keys), np.int64)
        classes[order] = number
        return classes

    def count(self, node: Codes) -> tuple[int, float, Flags]:
        """How many records a node leaves out, its loss, and the entries left out."""
        roster, classes = self.roster, self.classes(node)
        met = self.criteria.met(classes, roster.counts, roster.sensitive, roster.total)
        left_out: Flags = ~met[classes]
        out = np.flatnonzero(left_out)
        counts = roster.counts[out]
        number = int(counts.sum())
        losses = [
            (self.whole[place][level] + number - np.dot(counts, self.losses[place][level][out])) / roster.records
            for place, level in enumerate(node)
        ]
        return number, geometric(losses), left_out


def search(roster: Roster, criteria: Criteria, *, limit: float = 0.0) -> Best:
    """The node of least loss that leaves out at most that share of the records."""
    lattice = _Lattice(roster, criteria)
    order = np.argsort(lattice.bounds, kind="stable")
    open_ = np.ones(len(order), np.bool_)
    allowed, closes_below = int(limit * roster.records + 1e-9), criteria.grows or limit * roster.records < 1
    best: Best | None = None
    evaluated = 0
    while len(left := order[open_[order]]):
        at = left[len(left) // 2]
        node = lattice.nodes[at]
        open_[at] = False
        evaluated += 1
        number, loss, left_out = lattice.count(node)
        if number > allowed:
            if closes_below:
                open_ &= ~(lattice.nodes <= node).all(axis=1)
        elif best is None or loss < best.loss:
            best = Best(levels=node, left_out=left_out, loss=loss, evaluated=evaluated)
            open_ &= lattice.bounds < loss + _SLACK
    if best is None:
        raise ArgumentError(
            "criteria",
            found="even the coarsest levels leave out more records than the limit",
            right="some levels fulfil them",
            step="ask for less, or raise the limit",
        )
    return Best(levels=best.levels, left_out=best.left_out, loss=best.loss, evaluated=evaluated)
