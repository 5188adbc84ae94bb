"""What can still be done: how many linear queries at which error, and which of these cells an attack breaks.

Rows are the error α of an average over n people, columns the number k of queries. A cell is broken when reconstruction
finds nearly all bits, whatever the mechanism. In the others a mechanism reaches α for all k answers together with
probability 1 − β:

* randomised response: α = w·√(ln(2k/β)/(2n)), w = (e^ε + 1)/(e^ε − 1); k enters through its logarithm alone.
* Laplace noise, pure ε: α = k·ln(k/β)/(εn), so k up to about εαn.
* Gaussian noise, (ε, δ): α = √(k/ρ)·√(ln(2k/β))/n with ρ of (ε, δ), so k up to about ρα²n².

At the statistical error 1/√n that is k up to about ε√n and ρn, up to logarithms: not every k below n (E16).
Reference: Dinur and Nissim 2003; Dwork and Roth 2014.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from discreet.attacks.linear import wrong_share
from discreet.check import Number, at_least, exact, positive, probability
from discreet.draw.format import written
from discreet.draw.grid import Grid, GridColumn
from discreet.mechanisms.response import Response

__all__ = ["Possible", "gaussian_error", "laplace_error", "most_queries", "what_is_possible"]

_BETA = 0.05
_QUERIES_AT_MOST = 1 << 50
_CONSTANT, _RATIO, _NEARLY_ALL = 0.1, 64, 0.05


def laplace_error(queries: int, people: int, epsilon: float) -> float:
    """What all averages stay within under Laplace noise, but for probability β."""
    return queries * math.log(queries / _BETA) / (epsilon * people)


def gaussian_error(queries: int, people: int, epsilon: float, delta: float) -> float:
    """What all averages stay within under Gaussian noise of (ε, δ), but for probability β."""
    rho = (math.sqrt(epsilon + math.log(1 / delta)) - math.sqrt(math.log(1 / delta))) ** 2
    return math.sqrt(queries / rho * math.log(2 * queries / _BETA)) / people


def most_queries(error: Callable[[int], float], alpha: float) -> int:
    """The most queries whose error is at most α; the error must rise with them."""
    low, high = 0, 1
    while high < _QUERIES_AT_MOST and error(high) <= alpha:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if error(middle) <= alpha else (low, middle)
    return low


@dataclass(frozen=True, slots=True, kw_only=True)
class Possible:
    """The table for one number of people and one guarantee."""

    people: int
    epsilon: float
    delta: float

    def alphas(self) -> tuple[tuple[str, float], ...]:
        """The rows: a constant error, the statistical error, and a tenth of it."""
        root = 1 / math.sqrt(self.people)
        return ("a constant, 0.1", _CONSTANT), ("1/√n", root), ("a tenth of 1/√n", root / 10)

    def limits(self, alpha: float) -> dict[str, int]:
        """The most queries each mechanism answers with that error."""
        people, response = self.people, Response.of(self.epsilon)
        return {
            "randomised response": most_queries(lambda k: response.error_bound(people, _BETA, queries=k), alpha),
            "Laplace": most_queries(lambda k: laplace_error(k, people, self.epsilon), alpha),
            "Gaussian": most_queries(lambda k: gaussian_error(k, people, self.epsilon, self.delta), alpha),
        }

    def wrong(self, alpha: float) -> float:
        """The share of bits that 64n random counts with Gaussian noise of error α leave wrong."""
        return wrong_share(alpha * math.sqrt(self.people), _RATIO)

    def verdict(self, alpha: float, queries: int | None) -> str:
        """What a cell says; None stands for all 2^n subsets."""
        if queries is None:
            left = 4 * alpha
            if left < 0.5:
                return f"blatantly non-private: at most {written('share', left)} of the bits stay wrong"
            return "blatantly non-private once α is below 1/8"
        limits = self.limits(alpha)
        able = [name for name, limit in limits.items() if limit >= queries]
        if able:
            return f"possible: {' or '.join(able)}"
        if queries >= _RATIO * self.people:
            wrong = self.wrong(alpha)
            verdict = "blatantly non-private" if wrong <= _NEARLY_ALL else "none of the three, and an attack"
            return f"{verdict}: {written('share', wrong)} of the bits stay wrong"
        name, limit = max(limits.items(), key=lambda one: one[1])
        return f"up to {written('count', limit)} queries by {name}" if limit else "none of the three"

    def sentences(self) -> tuple[str, ...]:
        """What the table says, in words."""
        limits = self.limits(1 / math.sqrt(self.people))
        return (
            f"At the statistical error 1/√n, Laplace noise answers {written('count', limits['Laplace'])} queries about "
            f"{written('count', self.people)} people (about ε√n), Gaussian noise "
            f"{written('count', limits['Gaussian'])} (about ε²n up to logarithms).",
            "A constant error is within reach for any number of queries that is not exponential: randomised response "
            "pays the logarithm of the number of queries alone.",
        )

    def grids(self) -> tuple[Grid, ...]:
        """The verdicts, and the most queries of each mechanism."""
        few = max(1, round(math.sqrt(self.people) * min(1.0, self.epsilon) / 10))
        columns = (
            GridColumn("error of each answer"),
            GridColumn("all 2^n queries"),
            GridColumn(f"64n = {_RATIO * self.people:,} queries"),
            GridColumn(f"few, {few:,} queries"),
        )
        counts = (None, _RATIO * self.people, few)
        cells = tuple((name, *(self.verdict(alpha, k) for k in counts)) for name, alpha in self.alphas())
        limits = tuple((name, *map(_told, self.limits(alpha).values())) for name, alpha in self.alphas())
        names = ("error of each answer", "randomised response", "Laplace", "Gaussian")
        title = f"What can still be done, n = {self.people:,}, ε = {self.epsilon:g}, δ = {self.delta:g}"
        return Grid(title, columns, cells), Grid(
            "The most queries each mechanism answers", tuple(map(GridColumn, names)), limits
        )

    def charts(self) -> tuple[()]:
        """None: the noise curve is its picture."""
        return ()

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        verdicts, limits = self.grids()
        return {"attack": "what is possible", "verdicts": verdicts.records(), "most_queries": limits.records()}


def _told(limit: int) -> str:
    return "more than 10^15" if limit >= _QUERIES_AT_MOST - 1 else written("count", limit)


def what_is_possible(people: int, *, epsilon: Number | str = 1, delta: Number | str = "1e-6") -> Possible:
    """The table for so many people."""
    at_least("people", people, 10)
    chance = float(positive("delta", exact("delta", probability("delta", delta))))
    return Possible(people=people, epsilon=float(positive("epsilon", epsilon)), delta=chance)
