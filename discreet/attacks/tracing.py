"""Tracing: was this person among those whose means were published?

1. Published: the means q of d yes-or-no attributes over n people. The intruder knows the person's own attributes x and
   the attributes' frequencies p in the population, and nothing else.
2. Score: Σ (x_j − p_j)(q_j − p_j). It is larger for members, since their own x is in q.
3. The threshold is set on outsiders, so that a stated share of them is accused wrongly.

Power is a function of d/n: at a false positive rate f it is Φ(√(d/n) − z_{1−f}) in the limit; the largest difference of
both rates is 2Φ(√(d/n)/2) − 1. For given frequencies it is known more closely (`expected_power`): with v = p(1 − p) of
each attribute, a member's mean score is Σ v/n, an outsider's variance Σ v²/n, and a member's Σ (v²(n − 2) + m)/n² for
the fourth moments m = v(1 − 3v). Under (ε, δ)-differential privacy no test whatever does better than
(e^ε − 1 + 2δ)/(e^ε + 1).
Reference: Homer et al. 2008; Dwork, Smith, Steinke, Ullman and Vadhan 2015; Kairouz, Oh and Viswanath 2015 (bound).

Tested: test_power_is_that_of_the_closed_form, test_tracing_falls_below_the_bound_of_differential_privacy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.attacks.rate import RATE_COLUMNS, Rate
from discreet.check import at_least
from discreet.draw.chart import Axis, Chart, Line
from discreet.draw.format import written
from discreet.draw.grid import Cell, Grid, GridColumn
from discreet.errors import ArgumentError
from discreet.mechanisms.noise import GaussianNoise, release
from discreet.randomness import Bits, Generator

__all__ = [
    "Tracing",
    "exact_means",
    "expected_power",
    "largest_advantage",
    "power",
    "private_means",
    "trace",
    "trace_invented",
    "tracing_scores",
]

Floats: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Publish: TypeAlias = Callable[[Flags], Floats]
FALSE_RATES = (0.001, 0.01, 0.05)


def power(ratio: float, false_rate: float) -> float:
    """The share of members found when so many outsiders are accused, for ratio = attributes/people."""
    normal = NormalDist()
    return normal.cdf(math.sqrt(ratio) - normal.inv_cdf(1 - false_rate))


def expected_power(frequencies: Floats, people: int, false_rate: float) -> float:
    """The share of members found in the exact means of so many people, for attributes of these frequencies.

    Tested: test_power_is_that_of_the_closed_form, test_moments_of_the_scores_are_those_of_all_tables
    """
    inside, outside, reach = score_moments(frequencies, people)
    normal = NormalDist()
    return normal.cdf((reach - normal.inv_cdf(1 - false_rate) * math.sqrt(outside)) / math.sqrt(inside))


def score_moments(frequencies: Floats, people: int) -> tuple[float, float, float]:
    """The variance of a member's score and of an outsider's, and how much larger a member's is on average."""
    spread = frequencies * (1 - frequencies)
    fourth = spread * (1 - 3 * spread)
    outside = float((spread**2).sum()) / people
    inside = float((spread**2 * (people - 2) + fourth).sum()) / people**2
    return inside, outside, float(spread.sum()) / people


def largest_advantage(*, ratio: float | None = None, epsilon: float | None = None, delta: float = 0.0) -> float:
    """The largest difference of true and false positive rate: of tracing, or of any test at all under (ε, δ)."""
    if epsilon is not None:
        return (math.expm1(epsilon) + 2 * delta) / (math.exp(epsilon) + 1)
    if ratio is None:
        raise ArgumentError("ratio", found="neither a ratio nor an epsilon", right="one of them", step="give ratio=1")
    return 2 * NormalDist().cdf(math.sqrt(ratio) / 2) - 1


def exact_means(people: Flags) -> Floats:
    """A keeper who publishes the means as they are."""
    return np.asarray(people.mean(axis=0))


def private_means(people: Flags, *, rho: float, bits: Bits, teaching: bool = False) -> Floats:
    """A keeper who adds Gaussian noise worth ρ over all means; the number of people is public.

    Given: neighbours replace one person, which moves each of d counts by at most 1.
    Promise: the means together are ρ-zCDP.
    Because: Σ Δ_j² = d, and σ² = d/(2ρ).
    Tested: test_tracing_falls_below_the_bound_of_differential_privacy
    """
    counts = people.sum(axis=0, dtype=np.int64)
    noise = GaussianNoise.for_rho(sensitivity=[1] * len(counts), rho=rho)
    return np.asarray(release(counts, noise, bits, teaching=teaching).value / len(people))


def tracing_scores(means: Floats, frequencies: Floats, people: Flags) -> Floats:
    """Each person's score: Σ (x_j − p_j)(q_j − p_j)."""
    return np.asarray((people - frequencies) @ (means - frequencies))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tracing:
    """Members found at several rates of false accusation, and the whole curve."""

    people: int
    frequencies: Floats
    found: dict[float, Rate]
    advantage: float
    curve: tuple[tuple[float, float], ...]

    @property
    def attributes(self) -> int:
        """How many means were published."""
        return len(self.frequencies)

    @property
    def ratio(self) -> float:
        """Attributes for each person."""
        return self.attributes / self.people

    def expected(self, false_rate: float) -> float:
        """The share of members that exact means give away."""
        return expected_power(self.frequencies, self.people, false_rate)

    def sentences(self) -> tuple[str, ...]:
        """What came out, most telling first."""
        rate = self.found[0.05]
        return (
            f"From {written('count', self.attributes)} means over {written('count', self.people)} people, when 5 % of "
            f"outsiders are accused: {rate}.",
            f"The closed form says {written('share', self.expected(0.05))} for exact means. The largest difference of "
            f"true and false accusations is {written('share', self.advantage)}.",
        )

    def charts(self) -> tuple[Chart, ...]:
        """True against false accusations, with the closed form and with guessing."""
        falses = tuple(false for false, _ in self.curve)
        fine = tuple(step / 50 for step in range(51))
        inside = tuple(self.expected(min(max(false, 1e-9), 1 - 1e-9)) for false in fine)
        return (
            Chart(
                "Membership traced in published means",
                Axis("outsiders accused", format="share", domain=(0.0, 1.0)),
                Axis("members found", format="share", domain=(0.0, 1.0)),
                (
                    Line(falses, tuple(true for _, true in self.curve), "measured"),
                    Line(fine, inside, "closed form, exact means"),
                    Line((0.0, 1.0), (0.0, 1.0), "guessing"),
                ),
                f"{self.attributes:,} means over {self.people:,} people.",
            ),
        )

    def grids(self) -> tuple[Grid, ...]:
        """One row for each rate of false accusation."""
        columns = (GridColumn("outsiders accused", "share"), GridColumn("closed form", "share"), *RATE_COLUMNS)
        rows: tuple[tuple[Cell, ...], ...] = tuple(
            (false, self.expected(false), *rate.cells) for false, rate in self.found.items()
        )
        return (Grid("Members found", columns, rows),)

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        return {
            "attack": "membership tracing",
            "people": self.people,
            "attributes": self.attributes,
            "advantage": self.advantage,
            "found": [
                {"false_rate": false, "closed_form": self.expected(false), **rate.as_json()}
                for false, rate in self.found.items()
            ],
        }


def trace(means: Floats, frequencies: Floats, members: Flags, outsiders: Flags) -> Tracing:
    """Trace members in published means. Members and outsiders only judge the scores; outsiders set the threshold."""
    for people in (members, outsiders):
        if people.ndim != 2 or people.shape[1] != len(means) or len(means) != len(frequencies) or not len(people):
            raise ArgumentError(
                "people",
                found="attributes and means of different numbers",
                right="one mean and one frequency for each attribute",
                step="give people as rows of attributes",
            )
    inside, outside = (tracing_scores(means, frequencies, people) for people in (members, outsiders))
    found = {}
    for false in FALSE_RATES:
        hits = int((inside > threshold(outside, false)).sum())
        found[false] = Rate(hits=hits, tries=len(inside), baseline=false)
    curve = roc(inside, outside)
    return Tracing(
        people=len(members),
        frequencies=np.asarray(frequencies, dtype=float),
        found=found,
        advantage=max(true - false for false, true in curve),
        curve=curve,
    )


def trace_invented(
    publish: Publish, *, people: int = 200, attributes: int = 2000, outsiders: int = 2000, generator: Generator
) -> Tracing:
    """Trace invented people with independent attributes; the keeper only sees the members."""
    at_least("people", people, 2)
    at_least("attributes", attributes, 1)
    frequencies = generator.uniform(0.2, 0.8, attributes)
    members, others = (generator.random((count, attributes)) < frequencies for count in (people, outsiders))
    return trace(publish(members), frequencies, members, others)


def threshold(outside: Floats, false_rate: float) -> float:
    """The score above which a new outsider is with at most that chance: a rank among outsiders, without a model."""
    rank = math.ceil((1 - false_rate) * (len(outside) + 1))
    return math.inf if rank > len(outside) else float(np.sort(outside)[rank - 1])


def roc(inside: Floats, outside: Floats) -> tuple[tuple[float, float], ...]:
    """False and true positive rate at a hundred thresholds between all and none."""
    cuts = np.quantile(np.concatenate([inside, outside]), np.linspace(1, 0, 101))
    points = [(float((outside >= cut).mean()), float((inside >= cut).mean())) for cut in cuts]
    return ((0.0, 0.0), *points)
