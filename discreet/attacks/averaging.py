"""Averaging: the same question asked again and again, until the noise is gone.

m answers f + scale·W with independent Laplace noise W average to f with standard deviation √2·scale/√m. For the mean of
n values in [−M, M], where one person moves it by at most 2M/n, ε for each answer needs scale = 2M/(nε), so that is
2√2·M/(nε√m). What was spent is mε, not ε: nothing of it can be taken back by asking m analysts one time each.

Tested: test_average_has_the_stated_deviation, test_real_cost_is_the_sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.check import Number, at_least, positive
from discreet.draw.chart import Area, Axis, Chart, Line, Rule
from discreet.draw.format import written
from discreet.draw.grid import Grid, GridColumn
from discreet.guarantee import PureDP

__all__ = ["Averaging", "average", "mean_deviation", "mean_scale"]

_WITHIN = 1.96
_POINTS = 200


def mean_scale(bound: float, people: int, epsilon: float) -> float:
    """The scale of Laplace noise on a mean of n values in [−bound, bound], for ε."""
    return 2 * bound / (people * epsilon)


def mean_deviation(bound: float, people: int, epsilon: float, times: int) -> float:
    """The standard deviation of the average of so many answers: 2√2·M/(nε√m)."""
    return math.sqrt(2) * mean_scale(bound, people, epsilon) / math.sqrt(times)


@dataclass(frozen=True, slots=True, kw_only=True)
class Averaging:
    """The answers' running mean, what it should deviate by, and what it cost."""

    running: tuple[float, ...]
    scale: float
    cost: PureDP
    truth: float | None = None

    @property
    def times(self) -> int:
        """How many answers there were."""
        return len(self.running)

    @property
    def deviation(self) -> float:
        """The standard deviation of the last mean: √2·scale/√m."""
        return math.sqrt(2) * self.scale / math.sqrt(self.times)

    @property
    def interval(self) -> tuple[float, float]:
        """Where the true answer lies, with about 95 % confidence."""
        reach = _WITHIN * self.deviation
        return self.running[-1] - reach, self.running[-1] + reach

    def sentences(self) -> tuple[str, ...]:
        """What came out, in words."""
        low, high = (written("number", end) for end in self.interval)
        lines = [
            f"{written('count', self.times)} answers average to {written('number', self.running[-1])}, with standard "
            f"deviation {written('number', self.deviation)}: the true answer lies between {low} and {high} (95 %).",
            f"Together they cost {self.cost}, not the price of one.",
        ]
        if self.truth is not None:
            away = abs(self.running[-1] - self.truth)
            first = abs(self.running[0] - self.truth)
            lines.append(
                f"The first answer was {written('number', first)} away from the truth, the average is "
                f"{written('number', away)} away."
            )
        return tuple(lines)

    def charts(self) -> tuple[Chart, ...]:
        """The running mean closing in."""
        step = max(1, self.times // _POINTS)
        asked = tuple(range(1, self.times + 1, step))
        reach = tuple(_WITHIN * math.sqrt(2) * self.scale / math.sqrt(m) for m in asked)
        centre = self.running[-1] if self.truth is None else self.truth
        return (
            Chart(
                "The average of repeated answers",
                Axis("answers", format="count"),
                Axis("average so far"),
                (
                    Area(asked, tuple(centre - r for r in reach), tuple(centre + r for r in reach), "95 % of averages"),
                    Line(asked, tuple(self.running[m - 1] for m in asked), "average"),
                    *([] if self.truth is None else [Rule(self.truth, axis="y", label="truth")]),
                ),
                "Independent noise averages out; each further answer adds its own price.",
            ),
        )

    def grids(self) -> tuple[Grid, ...]:
        """The average after 1, 10, 100 … answers."""
        places = sorted({*(10**power for power in range(7) if 10**power <= self.times), self.times})
        rows = tuple((m, self.running[m - 1], math.sqrt(2) * self.scale / math.sqrt(m)) for m in places)
        columns = (
            GridColumn("answers", "count"),
            GridColumn("average", "number"),
            GridColumn("standard deviation", "number"),
        )
        return (Grid("Averages", columns, rows),)

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        low, high = self.interval
        return {
            "attack": "averaging",
            "answers": self.times,
            "average": self.running[-1],
            "deviation": self.deviation,
            "low": low,
            "high": high,
            "epsilon": str(self.cost.epsilon),
        }


def average(
    ask: Callable[[], float], times: int, *, scale: Number | str, epsilon: Number | str, truth: float | None = None
) -> Averaging:
    """Ask the same question that often. Scale and ε of one answer are public; the truth only judges."""
    at_least("times", times, 1)
    running, total = [], 0.0
    for asked in range(1, times + 1):
        total += ask()
        running.append(total / asked)
    price = PureDP(Fraction(positive("epsilon", epsilon) * times))
    return Averaging(running=tuple(running), scale=float(positive("scale", scale)), cost=price, truth=truth)
