"""A channel: the exact matrix of what is reported for each truth, and what it gives away.

1. The odds of a channel are the largest ratio between two truths' chances of one report: e^ε, if it is finite.
2. When some truth never leads to a report that another one does, the ratio is infinite. That report is the witness,
   and the channel is not ε-differentially private for any ε.
3. Its exact δ at given odds is the largest sum, over the reports, of what one truth's chance has above
   odds · the other's.

The neighbours of the local model are any two truths of one person.

What it does not promise: that a device draws from the matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from discreet import check
from discreet.errors import ArgumentError

__all__ = ["CARD", "TWO_COINS", "Channel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """rows[truth][report] is the probability of a report; the labels name truths and reports alike."""

    labels: tuple[str, ...]
    rows: tuple[tuple[Fraction, ...], ...]

    def __post_init__(self) -> None:
        check.some("labels", self.labels, step="name each answer once")
        square = len(self.rows) == len(self.labels) and all(len(row) == len(self.labels) for row in self.rows)
        if not square or len(self.labels) == 1 or any(sum(row) != 1 or min(row) < 0 for row in self.rows):
            raise ArgumentError(
                "channel",
                found="a single label, or rows that are not the chances of every label",
                right="for each truth the chances of all reports add up to 1",
                step="give one row for each label, with one fraction for each label",
            )

    def odds(self) -> Fraction | None:
        """e^ε of the channel, exactly; None when it is infinite."""
        if self.witness() is not None:
            return None
        columns = [column for column in zip(*self.rows, strict=True) if max(column)]
        return max(Fraction(max(column), min(column)) for column in columns)

    def witness(self) -> tuple[str, str, str] | None:
        """A report, a truth that never leads to it, and one that does; None when no report rules a truth out."""
        for report, column in zip(self.labels, zip(*self.rows, strict=True), strict=True):
            if min(column) == 0 < max(column):
                return report, self.labels[column.index(0)], self.labels[column.index(max(column))]
        return None

    def delta(self, odds: Fraction | int) -> Fraction:
        """The exact δ at e^ε = odds, over all ordered pairs of truths."""
        excesses = (
            sum((max(Fraction(0), a - odds * b) for a, b in zip(one, other, strict=True)), start=Fraction(0))
            for one, other in permutations(self.rows, 2)
        )
        return max(excesses)

    def private(self) -> Channel:
        """This channel, or a refusal that names the event which gives the truth away.

        Given:   a channel.
        Promise: what comes back is ε-differentially private with e^ε = odds().
        Because: a bound on each report's ratio bounds that of every set of reports.
        Tested:  tests/mechanisms/test_response.py::test_the_card_is_refused_with_its_witness.
        """
        if (found := self.witness()) is None:
            return self
        report, impossible, possible = found
        raise ArgumentError(
            "channel",
            found=f"who reports {report!r} cannot have the truth {impossible!r}, but may have {possible!r}",
            right="every report must be possible under every truth; this design is private for no epsilon",
            step="use randomised response, which changes answers of every kind",
        )


_HALF = Fraction(1, 2)
TWO_COINS = Channel(
    labels=("yes", "no"), rows=((Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 4), Fraction(3, 4)))
).private()
CARD = Channel(labels=("yes", "no"), rows=((Fraction(1), Fraction(0)), (_HALF, _HALF)))
"""Black card: say yes; red card: tell the truth. Kept to show why it is refused."""
