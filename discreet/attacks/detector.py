"""The detector: which questions of a log, taken together, tell of a few people alone. For the keeper's eyes.

1. Each question selects people. People whom all questions treat alike form a pattern; no question tells them apart.
2. Pairs: where one question's people hold the other's, the difference of the two counts is a count of the people
   between them. Differences of fewer than `threshold` people are reported.
3. Combinations: a pattern of fewer than `threshold` people is told when some combination of questions, added and
   subtracted, leaves exactly it. That is so when its unit vector lies in the row space of questions × patterns, which
   also finds differences of more than two questions.

What it does not promise: that a log without findings is harmless. Differences of noisy answers, facts known from
elsewhere, and probable inference are outside it; only a budget bounds these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.attacks.condition import Clause, select, write_clause
from discreet.attacks.keepers import Records
from discreet.check import at_least
from discreet.draw.chart import Axis, Bars, Chart
from discreet.draw.grid import Grid, GridColumn
from discreet.errors import ArgumentError

__all__ = ["Combined", "Detection", "Pair", "detect"]

_QUESTIONS_AT_MOST = 2000
_SHOWN = 30
_EXACT = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two questions of the log, by their places, and how many people stand between them."""

    larger: int
    smaller: int
    people: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Combined:
    """A few people whom a combination of questions tells of: the questions with their factors."""

    people: int
    factors: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """What a log of counts gives away. Confidential."""

    questions: tuple[str, ...]
    threshold: int
    pairs: tuple[Pair, ...]
    combined: tuple[Combined, ...]

    @property
    def exposed(self) -> int:
        """How many people stand in a group that a combination tells of."""
        return sum(one.people for one in self.combined)

    def sentences(self) -> tuple[str, ...]:
        """What was found, most telling first."""
        if not self.combined and not self.pairs:
            return (f"No {len(self.questions)} exact counts of this log together tell of fewer than {self.threshold}.",)
        return (
            f"{len(self.pairs)} pairs of questions differ in fewer than {self.threshold} people.",
            f"Taken together, the questions tell of {self.exposed} people in groups of fewer than {self.threshold}.",
        )

    def charts(self) -> tuple[Chart, ...]:
        """Pairs by the number of people between them."""
        if not self.pairs:
            return ()
        sizes = tuple(str(size) for size in range(1, self.threshold))
        held = tuple(sum(str(pair.people) == size for pair in self.pairs) for size in sizes)
        return (
            Chart(
                "Pairs of questions by the people between them",
                Axis("people between the two questions", scale="band", categories=sizes),
                Axis("pairs", format="count"),
                (Bars(sizes, held),),
                "The two counts of such a pair, subtracted, are a count of these few people.",
            ),
        )

    def grids(self) -> tuple[Grid, ...]:
        """The pairs and the combinations, smallest groups first."""
        heads = (GridColumn("people", "count"), GridColumn("questions"))
        pairs = tuple(
            (pair.people, f"({self.questions[pair.larger]}) − ({self.questions[pair.smaller]})")
            for pair in self.pairs[:_SHOWN]
        )
        combined = tuple(
            (one.people, " ".join(f"{factor:+g}·({self.questions[at]})" for at, factor in one.factors))
            for one in self.combined[:_SHOWN]
        )
        return Grid("Pairs", heads, pairs), Grid("Combinations", heads, combined)

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        return {
            "attack": "differencing detector",
            "family": "keeper only",
            "questions": list(self.questions),
            "threshold": self.threshold,
            "exposed": self.exposed,
            "pairs": [{"larger": p.larger, "smaller": p.smaller, "people": p.people} for p in self.pairs],
            "combined": [{"people": c.people, "factors": [list(f) for f in c.factors]} for c in self.combined],
        }


def detect(records: Records, log: Sequence[Clause], *, threshold: int = 5) -> Detection:
    """What the exact answers to a log of counts would give away of fewer than `threshold` people."""
    at_least("threshold", threshold, 2)
    if not 1 <= len(log) <= _QUESTIONS_AT_MOST:
        raise ArgumentError(
            "log",
            found=f"{len(log)} questions",
            right=f"between 1 and {_QUESTIONS_AT_MOST}",
            step="give the log of one analyst, or of one day",
        )
    masks = np.array([select(records, clause) for clause in log])
    patterns, sizes = np.unique(masks, axis=1, return_counts=True)
    return Detection(
        questions=tuple(map(write_clause, log)),
        threshold=threshold,
        pairs=tuple(sorted(_pairs(patterns, sizes, threshold), key=lambda one: one.people)),
        combined=tuple(sorted(_combined(patterns, sizes, threshold), key=lambda one: one.people)),
    )


def _pairs(patterns: npt.NDArray[np.bool_], sizes: npt.NDArray[np.int64], threshold: int) -> list[Pair]:
    weighted = patterns.astype(float) * sizes
    common = weighted @ patterns.T.astype(float)
    counts = common.diagonal()
    # One holds the other when all of the smaller's people are common to both.
    holds = (common == counts[None, :]) & (counts[:, None] > counts[None, :])
    between = counts[:, None] - counts[None, :]
    found = np.argwhere(holds & (between < threshold))
    return [
        Pair(larger=int(larger), smaller=int(smaller), people=int(between[larger, smaller]))
        for larger, smaller in found
    ]


def _combined(patterns: npt.NDArray[np.bool_], sizes: npt.NDArray[np.int64], threshold: int) -> list[Combined]:
    matrix = patterns.astype(float)
    inverse = np.linalg.pinv(matrix)  # patterns × questions
    told = inverse @ matrix  # the projection on the row space; a pattern is told when its unit vector stays itself
    found = []
    for at in np.flatnonzero((sizes < threshold) & (np.abs(told.diagonal() - 1) < _EXACT) & matrix.any(axis=0)):
        factors = inverse[at]
        factors = np.where(np.abs(factors) < _EXACT, 0.0, np.round(factors, 6))
        kept = tuple((int(place), float(factors[place])) for place in np.flatnonzero(factors))
        found.append(Combined(people=int(sizes[at]), factors=kept))
    return found
