"""Loss: how much coarser the published quasi-identifiers are, from 0 (untouched) to 1 (nothing left).

A value published as a group loses (leaves in the group − 1) / (leaves of the hierarchy − 1); a record left out loses 1
in every column (Iyengar 2002). A column's loss is the mean over all records. The columns are put together in two ways,
both ARX's, so that figures can be compared: the mean (1 − ARX's granularity), and the geometric mean of 1 + loss, less
1 (ARX's loss with gsFactor .5).

What it does not promise: that a table of low loss still answers a given question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymize.records import Codes, Flags
from discreet.anonymize.roster import Roster

__all__ = ["Loss", "geometric", "measure_loss"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """The loss of each column."""

    columns: tuple[str, ...]
    shares: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over the columns."""
        return math.fsum(self.shares) / len(self.shares)

    @property
    def geometric(self) -> float:
        """The geometric mean of 1 + loss, less 1."""
        return geometric(self.shares)

    def as_json(self) -> dict[str, object]:
        """The figures as plain values."""
        return {
            "loss": dict(zip(self.columns, self.shares, strict=True)),
            "mean_loss": self.mean,
            "geometric_loss": self.geometric,
        }


def geometric(losses: Sequence[float]) -> float:
    """The geometric mean of 1 + loss, less 1."""
    return math.prod(1 + loss for loss in losses) ** (1 / len(losses)) - 1


def measure_loss(roster: Roster, levels: Codes, left_out: Flags) -> Loss:
    """The loss when each entry's column is published on its level, and some entries not at all."""
    shares = []
    for place, ladder in enumerate(roster.ladders):
        losses = np.ones(len(roster.counts))
        for level in np.unique(levels[:, place]):
            held = (levels[:, place] == level) & ~left_out
            losses[held] = ladder.losses(level)[ladder.groups[level][roster.leaves[held, place]]]
        shares.append(float(np.dot(roster.counts, losses) / roster.records))
    return Loss(columns=tuple(ladder.column.name for ladder in roster.ladders), shares=tuple(shares))
