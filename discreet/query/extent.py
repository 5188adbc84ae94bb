"""Bounds of a column, found privately: in which magnitudes enough rows have values, and what follows for the contract.

1. The question counts the rows in each of a few public intervals between 1, 2, 5, 10, 20 … steps on either side of
   zero (`groups.Magnitudes`), under one charge as any other question. It needs no bounds in the contract.
2. An interval is seen where its noisy count passes a threshold that, in 95 of 100 answers, no empty one passes.
3. The bounds are the outer ends of the outermost intervals seen. Where the inner one is less than a tenth of the outer
   one it becomes 0, which widens them by a tenth and moves no small value. That is post-processing and costs nothing.

What it does not promise: that no value lies outside. Where few rows have a magnitude it is not seen, and their values
will be moved to the bounds; that is what bounds are for.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from discreet.data.contract import Contract
from discreet.errors import ArgumentError
from discreet.guarantee import number_text
from discreet.measure.groups import Magnitudes, magnitudes, step_of
from discreet.query.answer import Answer
from discreet.query.question import GroupKey, Output, Question
from discreet.query.statistic import Rows
from discreet.query.term import Asked, Key

__all__ = ["FoundBounds", "extent", "magnitude_question"]

_MISSED = Fraction(1, 20)
_NEAR = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundBounds:
    """The bounds of a column as far as a budget lets them be seen; None where no magnitude has enough rows.

    `least_seen` is the number of rows that a magnitude needs; `answer` holds the noisy count of each.
    """

    column: str
    low: Fraction | None
    high: Fraction | None
    least_seen: int
    answer: Answer

    @property
    def found(self) -> bool:
        """Whether there are any."""
        return self.low is not None

    @property
    def receipt(self) -> str | None:
        """The name of the release in its receipt: what a contract gives as the receipt of facts that were paid for."""
        signed = self.answer.receipt
        return None if signed is None else signed.receipt.release

    def contract(self) -> Contract:
        """The contract with these bounds, which says that they were paid for."""
        if self.low is None or self.high is None:
            raise ArgumentError(
                f"bounds of {self.column!r}",
                found="none",
                right=f"some magnitude has {self.least_seen:,} rows or more",
                step="spend a larger epsilon on them, or take them from a codebook",
            )
        facts: dict[str, Any] = {"low": self.low, "high": self.high}
        if self.receipt is not None:
            facts |= {"source": "paid for", "receipt": self.receipt}
        return self.answer.contract.with_column(self.column, facts)

    def sentences(self) -> tuple[str, ...]:
        """For people."""
        blind = (
            f"A magnitude is seen from {self.least_seen:,} rows on: values of fewer rows may lie outside, and would "
            "then be moved to the nearer bound."
        )
        if self.low is None or self.high is None:
            return (
                f"No magnitude of {self.column!r} has enough rows to be seen ({self.least_seen:,}).",
                *self.answer.payment(),
            )
        ends = f"low: {number_text(self.low)}, high: {number_text(self.high)}"
        paid = f", source: paid for, receipt: {self.receipt}" if self.receipt else ""
        table = self.answer.contract.table
        return (
            f"Bounds of {self.column!r}: {ends}.",
            blind,
            *self.answer.payment(),
            f"Next: in the contract of {table!r} give {self.column!r} the entries {{{ends}{paid}}}, then "
            "discreet contract declare.",
        )

    def as_json(self) -> dict[str, Any]:
        """As plain values; bounds as exact text."""
        return {
            "column": self.column,
            "low": None if self.low is None else number_text(self.low),
            "high": None if self.high is None else number_text(self.high),
            "rows to be seen": self.least_seen,
            "magnitudes": self.answer.as_json(),
        }


def magnitude_question(column: str, contract: Contract) -> Question:
    """How many rows have each magnitude of a column."""
    step_of(column, contract)  # refused here if it is no number
    key = GroupKey(name="between", group=Magnitudes(column))
    return Question(
        table=contract.table,
        statistics=(Rows(),),
        outputs=(Output(name="between", term=Key(0)), Output(name="rows", term=Asked(0))),
        by=(key,),
    )


def extent(column: str, answer: Answer) -> FoundBounds:
    """What the answer to a magnitude question says of the column's bounds."""
    least = _threshold(answer)
    seen = [at for at, rows in enumerate(answer.columns[1].raw) if isinstance(rows, int | float) and rows >= least]
    step = step_of(column, answer.contract)
    every = magnitudes()
    low, high = _ends(step * every[seen[0]][1], step * every[seen[-1]][2]) if seen else (None, None)
    return FoundBounds(column=column, low=low, high=high, least_seen=least, answer=answer)


def _ends(low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """Both ends, the inner one moved to 0 where that is near."""
    if 0 < low < high / _NEAR:
        return Fraction(0), high
    return (low, Fraction(0)) if low / _NEAR < high < 0 else (low, high)


def _threshold(answer: Answer) -> int:
    """The least number of rows that noise alone reaches in any interval once in 20 answers at most."""
    sums = answer.evaluation.tables[0].designed.sums
    assert sums is not None
    (measured,) = sums.measurements
    (factor,) = measured.factors("count")
    steps = measured.noises[0].error(_MISSED, answers=measured.proof.cells)
    return max(1, ceil(factor * steps))
