"""Intervals of every kind of statistic, asked in SQL: noise on known sums, one draw a cell, and how often it is held.

The text is parsed and designed as for any question; the exact sums of a cell are worked out from its rows by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb, sqrt
from typing import Any

import numpy as np
import pytest

from discreet.data.contract import Contract
from discreet.measure.bounds import PartProof
from discreet.measure.expression import Case, Column, Compare, Constant, Minus, Missing, Not, Plus, Times
from discreet.measure.intervals import CountedIntervals
from discreet.measure.noisy import Measurement, NoisyVector
from discreet.measure.plan import Count, Mixture, Total
from discreet.mechanisms.noise import release
from discreet.query.design import design_of
from discreet.query.evaluation import Evaluation, evaluated
from discreet.query.parse import parse
from discreet.randomness import SeededBits

FEW, MANY = 400, 20_000
# The rows of a cell: x and y, each pair so many times.
PAIRS, EACH = ((10, 30), (40, 35), (80, 90), (60, 20)), 300
X = np.repeat([x for x, _ in PAIRS], EACH).astype(float)
Y = np.repeat([y for _, y in PAIRS], EACH).astype(float)
N = len(X)


@dataclass(frozen=True)
class Asked:
    """What is selected, the truth of it, and whether whole numbers leave no interval of exactly 95 %: the error is then
    that of so many of them, added up."""

    text: str
    truth: float
    coarse: int = 0


ASKED = {
    "count": Asked("COUNT(*)", N, coarse=1),
    "sum": Asked("SUM(x)", X.sum()),
    "mean": Asked("AVG(x)", X.mean()),
    "sum and count": Asked("SUM(x), COUNT(*) AS n", X.sum()),
    "variance": Asked("VARIANCE(x)", X.var(ddof=1)),
    "variance of all": Asked("VAR_POP(x)", X.var()),
    "standard deviation": Asked("STDDEV(x)", X.std(ddof=1)),
    "covariance": Asked("COVAR_POP(x, y)", float(np.mean((X - X.mean()) * (Y - Y.mean())))),
    "correlation": Asked("CORR(x, y)", float(np.corrcoef(X, Y)[0, 1])),
    "ratio": Asked("SUM(x) / SUM(y)", X.sum() / Y.sum()),
    "difference": Asked("AVG(x) - AVG(y)", X.mean() - Y.mean()),
    "weighted sum": Asked("2 * SUM(x) - 3 * SUM(y) + 7", 2 * X.sum() - 3 * Y.sum() + 7),
    "share": Asked("COUNT(*) FILTER (WHERE x > 50) / COUNT(*)", float(np.mean(X > 50)), coarse=2),
    "a case of aggregates": Asked("CASE WHEN COUNT(*) > 10 THEN SUM(x) / COUNT(*) ELSE 0 END", X.mean()),
    "filtered sum": Asked("SUM(CASE WHEN x > 50 THEN y END)", Y[X > 50].sum()),
    "product": Asked("SUM(x * y)", float(X @ Y)),
}


def contract(cells: int) -> Contract:
    return Contract.from_yaml(
        f"table: t\nunit: row\nmax_rows: 100000000\ncolumns:\n  k: {{type: integer, low: 1, high: {cells}}}\n"
        "  x: {type: integer, low: 0, high: 100, nulls: refuse}\n"
        "  y: {type: integer, low: 0, high: 100, nulls: refuse}\n"
    )


def of_rows(value: Any) -> Any:
    """A value or a condition in every row, without the product's own reading of it: NaN is missing."""
    match value:
        case Column(name):
            return {"x": X, "y": Y}[name]
        case Constant(number):
            return np.full(N, float(number))
        case Plus(left, right):
            return of_rows(left) + of_rows(right)
        case Minus(left, right):
            return of_rows(left) - of_rows(right)
        case Times(left, right):
            return of_rows(left) * of_rows(right)
        case Missing(of):
            return np.isnan(of_rows(of))
        case Not(part):
            return ~of_rows(part).astype(bool)
        case Compare(left, ">", right):
            return of_rows(left) > of_rows(right)
        case Case(branches, otherwise):
            found = np.full(N, np.nan) if otherwise is None else of_rows(otherwise)
            for when, then in reversed(branches):
                found = np.where(of_rows(when), of_rows(then), found)
            return found
    raise AssertionError(value)


def exact(part: PartProof) -> list[int]:
    """The numbers of an aggregate in a cell, from its definition."""
    aggregate = part.aggregate
    if isinstance(aggregate, Count):
        of = aggregate.of
        return [N if of is None else int(np.sum(~np.isnan(of_rows(of))))]
    assert part.span is not None
    assert isinstance(aggregate, Total | Mixture)
    steps = of_rows(aggregate.value) / float(part.span.step)
    there = steps[~np.isnan(steps)]
    if isinstance(aggregate, Total):
        return [round(there.sum())]
    d, y, width = aggregate.degree, there - part.span.low, part.span.width
    sums = [round(float(np.sum(comb(d, j) * y**j * (width - y) ** (d - j)))) for j in range(d + 1)]
    return [*sums, (N - len(there)) * width**d] if aggregate.whole else sums


def drawn(text: str, cells: int, factor: float = 1.0, **budget: Any) -> Evaluation:
    """The question as it could be answered over as many cells."""
    agreed = contract(cells)
    design = design_of(
        [parse(text, lambda _: agreed)], agreed, "zcdp" if "rho" in budget else "pure", **(budget or {"epsilon": 1})
    )
    bits, released = SeededBits(5), []
    for part in design.parts:
        assert isinstance(part, Measurement)
        numbers = []
        if isinstance(part, CountedIntervals):
            own = np.histogram(of_rows(part.cut.column), bins=[*part.cut.starts, 101])[0]
            every = part.added(np.tile(own, part.proof.cells))
        else:
            every = tuple(
                np.tile(np.array(exact(one), dtype=np.int64), (part.proof.cells, 1)) for one in part.proof.parts
            )
        for true, noise in zip(every, part.noises, strict=True):
            noisy = release(true, noise, bits, teaching=True).value
            numbers.append(true + np.rint((noisy - true) * factor).astype(np.int64))
        released.append(NoisyVector(measurement=part, integers=tuple(numbers)))
    return evaluated(design.questions[0], design, released)


def measured(evaluation: Evaluation) -> Measurement:
    """The one measurement behind a question."""
    sums = evaluation.tables[0].designed.sums
    assert sums is not None
    (one,) = sums.measurements
    return one


def coverage(evaluation: Evaluation, truth: float, at: int = 0) -> float:
    """How often the intervals hold the truth."""
    errors = evaluation.errors(evaluation.question.outputs[at].term)
    ends = [(error.low, error.high) for error in errors]
    return sum(low is not None and high is not None and low <= truth <= high for low, high in ends) / len(ends)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"rho": "0.05"}], ids=str)
@pytest.mark.parametrize("name", ASKED)
def test_intervals_of_every_statistic_cover_as_they_say(name: str, budget: dict[str, Any]) -> None:
    """From .945 to .96; what whole numbers cannot cut finer, as often as their exact law says: for a count, and for the
    share of one half that is read off two counts.

    The draws repeat, so that what holds once holds always. Other draws would scatter with a deviation of .0015 around
    the true coverage: where that is .95, one set of draws in 1,700 would fall below .945.
    """
    asked = ASKED[name]
    evaluation = drawn(f"SELECT {asked.text} FROM t GROUP BY k", MANY, **budget)
    found = coverage(evaluation, asked.truth)
    if not asked.coarse:
        assert 0.945 <= found <= 0.96
        return
    (noise,) = measured(evaluation).noises
    law = shortest(noise, asked.coarse)
    assert found == pytest.approx(law, abs=4 * sqrt(law * (1 - law) / MANY))


def shortest(noise: Any, numbers: int) -> float:
    """How often the shortest interval of whole steps covers the sum of one or two such numbers, if it does in 95 %."""
    reach = np.arange(-200, 201)
    below = np.array(
        [1 - float(noise.tail(int(at))[1]) if at > 0 else float(noise.tail(1 - int(at))[1]) for at in reach]
    )
    chances = np.diff(below, append=1.0)
    if numbers == 2:
        chances = np.convolve(chances, chances)
    middle = len(chances) // 2
    covered = (float(chances[middle - half : middle + half + 1].sum()) for half in range(middle))
    return next(one for one in covered if one >= 0.95)


@pytest.mark.parametrize("name", ["correlation", "share", "weighted sum"])
def test_intervals_of_statistics_cover(name: str) -> None:
    """The same with fewer draws: within four standard deviations of .95."""
    asked = ASKED[name]
    found = coverage(drawn(f"SELECT {asked.text} FROM t GROUP BY k", FEW), asked.truth)
    assert 0.907 <= found <= 0.993


@pytest.mark.parametrize("clause", ["HAVING COUNT(*) > {n}", "ORDER BY COUNT(*) DESC LIMIT 40", "HAVING SUM(x) > {s}"])
def test_rows_chosen_for_what_they_show_miss_no_more_often(clause: str) -> None:
    """Those that came out high are looked at because they did: of the rows shown at most 5 in 100 may miss. As plain
    intervals they would miss far more."""
    text = f"SELECT COUNT(*), SUM(x) FROM t GROUP BY k {clause}".format(n=N + 3, s=X.sum() + 60)
    evaluation = drawn(text, FEW)
    assert 10 < len(evaluation.rows) < FEW / 1.5
    deviation = sqrt(0.05 * 0.95 / len(evaluation.rows))
    assert coverage(evaluation, N) >= 0.95 - 3 * deviation
    assert coverage(evaluation, X.sum(), 1) >= 0.95 - 3 * deviation


def test_noise_that_is_larger_than_said_turns_red() -> None:
    for name in ("share",):
        asked = ASKED[name]
        assert coverage(drawn(f"SELECT {asked.text} FROM t GROUP BY k", FEW, 1.6), asked.truth) < 0.9


@pytest.mark.parametrize("epsilon", ["1", "0.3", "3", "0.01"])
def test_the_interval_of_a_count_is_the_shortest_that_surely_covers(epsilon: str) -> None:
    """From the exact law: it covers at least .95, and one that is a row shorter covers less."""
    (part,) = design_of(
        [parse("SELECT COUNT(*) FROM t", lambda _: contract(1))], contract(1), "pure", epsilon=epsilon
    ).parts
    assert isinstance(part, Measurement)
    (noise,) = part.noises
    half = noise.interval(Fraction(19, 20))
    # `tail` gives bounds of P(Z ≥ k) from below and above.
    assert 1 - 2 * noise.tail(half + 1)[1] >= Fraction(19, 20)
    assert half == 0 or 1 - 2 * noise.tail(half)[0] < Fraction(19, 20)
