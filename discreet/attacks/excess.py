"""Excess: how much better an attack does against the people in the data than against people who are not.

The same guesses are judged on the original and on a control: records of the same kind that the release was not made
from. What also succeeds on the control was learnt of the population, not of a person. The excess is
(a − c)/(1 − c), with a and c the two success rates: 0 where the release tells nothing of single people, 1 where all.

The interval takes the low end of a with the high end of c and the other way round, each an exact interval at half the
error. So it holds with at least 95 % confidence however few guesses there were; it is wide where these are few.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.attacks.rate import CONFIDENCE, Rate
from discreet.draw.chart import Axis, Chart, Intervals, Rule
from discreet.draw.format import written
from discreet.draw.grid import Grid, GridColumn
from discreet.stats.shares import clopper_pearson

__all__ = ["Excess", "excess_chart", "excess_grid"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Excess:
    """Successes on the original and on the control, out of as many guesses each."""

    hits: int
    control_hits: int
    tries: int

    @property
    def attack(self) -> Rate:
        """The rate on the original, with that on the control as its baseline."""
        return Rate(hits=self.hits, tries=self.tries, baseline=self.control_hits / self.tries)

    @property
    def risk(self) -> float:
        """(a − c)/(1 − c), at least 0."""
        return _excess(self.hits / self.tries, self.control_hits / self.tries)

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true excess lies, with at least 95 % confidence."""
        error = (1 - CONFIDENCE) / 4
        low, high = clopper_pearson(self.hits, self.tries, error)
        control_low, control_high = clopper_pearson(self.control_hits, self.tries, error)
        return _excess(low, control_high), _excess(high, control_low)

    @property
    def beats_control(self) -> bool:
        """Whether even the low end of the interval is above 0."""
        return self.interval[0] > 0

    def __str__(self) -> str:
        low, high = (written("share", end) for end in self.interval)
        verdict = "the release tells of single people" if self.beats_control else "no excess is shown"
        return (
            f"{self.hits} of {self.tries} guesses are right, {self.control_hits} on people outside the data: an excess "
            f"of {written('share', self.risk)} (95 % interval {low} to {high}): {verdict}"
        )

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        low, high = self.interval
        return {
            "tries": self.tries,
            "successes": self.hits,
            "control_successes": self.control_hits,
            "excess": self.risk,
            "low": low,
            "high": high,
            "beats_control": self.beats_control,
        }


def excess_grid(title: str, found: dict[str, Excess]) -> Grid:
    """One row for each attack."""
    columns = (
        GridColumn("attack"),
        GridColumn("guesses", "count"),
        GridColumn("right", "count"),
        GridColumn("right on control", "count"),
        GridColumn("excess", "share"),
        GridColumn("from", "share"),
        GridColumn("to", "share"),
    )
    rows = tuple((name, one.tries, one.hits, one.control_hits, one.risk, *one.interval) for name, one in found.items())
    return Grid(title, columns, rows)


def excess_chart(title: str, found: dict[str, Excess]) -> Chart:
    """The excess of each attack with its interval."""
    names = tuple(found)
    ends = [one.interval for one in found.values()]
    return Chart(
        title,
        Axis("excess over people outside the data", format="share", domain=(0.0, 1.0)),
        Axis("attack", scale="band", categories=names),
        (
            Intervals(
                names,
                tuple(low for low, _ in ends),
                tuple(one.risk for one in found.values()),
                tuple(high for _, high in ends),
            ),
            Rule(0, axis="x", label="nothing learnt of single people"),
        ),
        "An interval that reaches 0 shows no excess; it does not show that there is none.",
    )


def _excess(attack: float, control: float) -> float:
    return max(0.0, (attack - control) / (1 - control)) if control < 1 else 0.0
