"""Cell suppression: cells that give somebody away are left out, and others with them, so that no sum brings them back.

1. Primary: the rules of `discreet.risk.dominance` find cells, each with how far from the truth it must be able to lie.
2. Complementary: for each of them a box is hidden with it. A box is a product of moves, one in each dimension: one leaf
   more and another one less, or one leaf more and everything above it too. Adding a box times any amount to the table
   changes hidden cells only and keeps every sum, so nobody outside can tell the two tables apart.
3. All boxes of a cell are priced at once: what is hidden already costs nothing; a cell that would go below 0 is out; a
   cell with a single contributor is out too, since that contributor knows it, unless there is no other box.
4. Every cell's box is then chosen again, given all others, until nothing gets cheaper.

Given:   values of 0 or more, additive over the dimensions' trees; an outsider who knows that, and the published cells.
Promise: every primary cell can lie `needed` above and below its value (but not below 0), as far as the outsider can
         tell.
Because: the box is a table that looks the same and has the cell there. `audit` finds out without the boxes.
Tested:  test_patterns_are_safe_by_brute_force, test_audit_agrees_with_brute_force, test_ten_thousand_cells_are_safe.

It is a good pattern, not one with the fewest cells. What breaks it: another table of the same data (a finer region,
next year's, a corrected one: test_another_table_opens_the_cells), contributors that put their figures together, and the
holes themselves, which are messages about the data (test_a_hole_tells_of_the_data).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.anonymize.crosstable import CrossTable, Dimension, Tensor
from discreet.anonymize.records import Codes, Flags
from discreet.check import one_of, some
from discreet.draw.grid import Grid, GridColumn
from discreet.risk.dominance import Rule

__all__ = ["COSTS", "Pattern", "suppress_cells"]

COSTS = ("log", "cells", "value")
_FORBIDDEN = 1e12
_SINGLE = 1e6
_MOVES_AT_MOST = 64
_PASSES = 4

Moves = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Pattern:
    """Which cells are hidden: those found by a rule, with what each needs, and those hidden to protect them."""

    table: CrossTable
    primary: Flags
    hidden: Flags
    needed: Tensor
    unprotected: Flags

    @property
    def complementary(self) -> Flags:
        """The cells that are hidden for others' sake."""
        return self.hidden & ~self.primary

    def grid(self, title: str = "The table, as it may be published") -> Grid:
        """The published table: hidden cells have no value, and do not say why."""
        return self.table.grid(title, self.hidden)

    @property
    def sentence(self) -> str:
        """What is hidden, in words. For the keeper."""
        found, others = int(self.primary.sum()), int(self.complementary.sum())
        return (
            f"{found:,} of {self.primary.size:,} cells give somebody away by the rules; {others:,} more are left out, "
            "since they would bring these back by adding and subtracting."
        )

    def summary(self) -> Grid:
        """How much is hidden. For the keeper: how many are primary is a fact of the data."""
        values, everything = self.table.values, self.table.values.size
        leaves = np.zeros(values.shape, np.bool_)
        leaves[np.ix_(*(one.leaves for one in self.table.dimensions))] = True
        rows = tuple(
            (what, int(flags.sum()), float(flags.sum() / everything), int((flags & leaves).sum()))
            for what, flags in (
                ("found by a rule", self.primary),
                ("hidden to protect them", self.complementary),
                ("published", ~self.hidden),
            )
        )
        columns = GridColumn("cells"), GridColumn("number", "count"), GridColumn("share", "share")
        return Grid("Cells", (*columns, GridColumn("of them innermost", "count")), rows)


def suppress_cells(table: CrossTable, rules: Sequence[Rule], *, cost: str = "log") -> Pattern:
    """Hide what the rules find, and what protects it. `cost` is what hiding a cell weighs: 1, its value, or its log."""
    some("rules", rules, step="give one or more, such as p:10")
    one_of("cost", cost, COSTS)
    cells = table.contributions
    primary = np.zeros(table.shape, np.bool_)
    needed = np.zeros(table.shape)
    for rule in rules:
        primary |= rule.finds(cells)
        needed = np.maximum(needed, rule.needed(cells))
    if table.is_whole:
        needed = np.ceil(needed - 1e-9)
    needed = np.where(primary, needed, 0.0)
    prices = {"cells": np.ones(table.shape), "value": 1 + table.values, "log": 1 + np.log1p(table.values)}[cost]
    choice = _Choice(table, primary, needed, prices)
    choice.settle()
    unprotected = np.zeros(table.shape, np.bool_)
    unprotected.reshape(-1)[choice.failed] = True
    return Pattern(
        table=table,
        primary=primary,
        hidden=primary | (choice.used > 0).reshape(table.shape),
        needed=needed,
        unprotected=unprotected,
    )


class _Choice:
    """The boxes chosen so far: which cells each primary cell uses, and how often each cell is used."""

    def __init__(self, table: CrossTable, primary: Flags, needed: Tensor, prices: Tensor) -> None:
        self.table, self.primary, self.needed, self.prices = table, primary, needed, prices
        self.used = np.zeros(primary.size, np.int64)
        self.boxes: dict[int, Codes] = {}
        self.failed: list[int] = []
        self.single = (table.contributions.count == 1) & ~np.bool_(table.contributions.is_count)
        self._moves: dict[tuple[int, int], Moves] = {}

    def settle(self) -> None:
        """Choose a box for each primary cell, largest need first, then again until nothing gets cheaper."""
        places = np.flatnonzero(self.primary)
        places = places[np.argsort(-self.needed.reshape(-1)[places], kind="stable")]
        before = np.inf
        for _ in range(_PASSES):
            for place in places.tolist():
                self._choose(place)
            price = float(self.prices.reshape(-1)[self.used > 0].sum())
            if price >= before:
                break
            before = price

    def _choose(self, place: int) -> None:
        if place in self.boxes:
            self.used[self.boxes.pop(place)] -= 1
        cell = tuple(int(at) for at in np.unravel_index(place, self.primary.shape))
        free = self.primary | (self.used > 0).reshape(self.primary.shape)
        prices = np.where(free, 0.0, self.prices)
        single = self.single.copy()
        single[cell] = False
        prices = np.where(single, prices + _SINGLE, prices)
        rise = self.needed[cell]
        fall = min(rise, self.table.values[cell])
        low = (self.table.values < fall) * _FORBIDDEN / 2
        lower = (self.table.values < rise) * _FORBIDDEN / 2
        moves = [self._moves_of(axis, node) for axis, node in enumerate(cell)]
        total = _contracted(prices + low + lower, [np.abs(one) for one in moves]) + _contracted(low - lower, moves)
        best = int(np.argmin(total))
        if total.reshape(-1)[best] >= _FORBIDDEN / 4:
            if place not in self.failed:
                self.failed.append(place)
            return
        chosen = np.unravel_index(best, total.shape)
        supports = [np.flatnonzero(one[at]) for one, at in zip(moves, chosen, strict=True)]
        box = np.ravel_multi_index(np.ix_(*supports), self.primary.shape).reshape(-1)
        self.boxes[place] = box
        self.used[box] += 1

    def _moves_of(self, axis: int, node: int) -> Moves:
        if (axis, node) not in self._moves:
            self._moves[axis, node] = _moves(self.table.dimensions[axis], node)
        return self._moves[axis, node]


def _moves(dimension: Dimension, node: int) -> Moves:
    """The moves that raise a node by 1: for each node of the dimension 1, 0 or −1."""
    inside = np.flatnonzero(dimension.below[node])
    outside = np.flatnonzero(~dimension.below[node])
    below = dimension.below.astype(np.float64)
    pairs = [(a, b) for a in inside for b in (*outside, None)]
    step = -(-len(pairs) // _MOVES_AT_MOST)
    kept = [pair for place, pair in enumerate(pairs) if place % step == 0 or pair[1] is None][: 2 * _MOVES_AT_MOST]
    return np.array([below[:, a] - (0.0 if b is None else below[:, b]) for a, b in kept])


def _contracted(cells: Tensor, moves: Sequence[Moves]) -> Tensor:
    """For each choice of one move in every dimension, the sum of the cells it touches, with its signs."""
    for axis, one in enumerate(moves):
        cells = np.moveaxis(np.tensordot(one, cells, (1, axis)), 0, axis)
    return cells
