"""Rate: how often an attack succeeds, with an interval, beside what it would reach by chance.

The interval is that of Clopper and Pearson (1934): it holds the true rate with at least the stated confidence,
whatever that rate is. Successes must be independent tries, or at least tries at different persons.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.check import at_least
from discreet.draw.chart import Axis, Chart, Intervals, Points
from discreet.draw.format import written
from discreet.draw.grid import Cell, GridColumn
from discreet.errors import ArgumentError
from discreet.stats.shares import clopper_pearson

__all__ = ["RATE_COLUMNS", "Rate", "rates_chart"]

CONFIDENCE = 0.95
RATE_COLUMNS = (
    GridColumn("tries", "count"),
    GridColumn("successes", "count"),
    GridColumn("success", "share"),
    GridColumn("from", "share"),
    GridColumn("to", "share"),
    GridColumn("by chance", "share"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """Successes among tries, and the rate of somebody who only guesses."""

    hits: int
    tries: int
    baseline: float

    def __post_init__(self) -> None:
        at_least("tries", self.tries, 1)
        at_least("hits", self.hits, 0)
        if self.hits > self.tries:
            raise ArgumentError(
                "hits", found="more than there are tries", right="a success is a try", step="count them again"
            )

    @property
    def share(self) -> float:
        """The successes' share of the tries."""
        return self.hits / self.tries

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true rate lies, with 95 % confidence."""
        return clopper_pearson(self.hits, self.tries, (1 - CONFIDENCE) / 2)

    @property
    def beats_chance(self) -> bool:
        """Whether even the low end of the interval is above the baseline."""
        return self.interval[0] > self.baseline

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The rate as the cells of a row under `RATE_COLUMNS`."""
        low, high = self.interval
        return self.tries, self.hits, self.share, low, high, self.baseline

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        low, high = self.interval
        return {
            "tries": self.tries,
            "successes": self.hits,
            "success": self.share,
            "low": low,
            "high": high,
            "confidence": CONFIDENCE,
            "baseline": self.baseline,
            "beats_chance": self.beats_chance,
        }

    def __str__(self) -> str:
        low, high = (written("share", end) for end in self.interval)
        verdict = "better than guessing" if self.beats_chance else "no better than guessing can explain"
        return (
            f"{written('count', self.hits)} of {written('count', self.tries)} tries succeed "
            f"({written('share', self.share)}, 95 % interval {low} to {high}); guessing reaches "
            f"{written('share', self.baseline)}: {verdict}"
        )


def rates_chart(title: str, rates: dict[str, Rate], caption: str) -> Chart:
    """Rates with their intervals under each other, each with what guessing reaches."""
    names = tuple(rates)
    ends = [rate.interval for rate in rates.values()]
    shares = tuple(rate.share for rate in rates.values())
    return Chart(
        title,
        Axis("share of tries that succeed", format="share", domain=(0.0, 1.0)),
        Axis("attack", scale="band", categories=names),
        (
            Intervals(names, tuple(low for low, _ in ends), shares, tuple(high for _, high in ends), "success"),
            Points(tuple(rate.baseline for rate in rates.values()), names, "by chance"),
        ),
        caption,
    )
