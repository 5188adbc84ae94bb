"""The errors that answers own up to, against as many draws of the noise: each cell of one question is one draw."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import comb

import numpy as np
import pytest

from discreet.data.contract import Contract
from discreet.measure.expression import Column
from discreet.measure.groups import Each
from discreet.measure.noisy import Measurement, NoisyVector
from discreet.measure.plan import Aggregate, Count, Mixture, Total
from discreet.measure.span import Span
from discreet.mechanisms.noise import release
from discreet.query.design import Design, design_of
from discreet.query.evaluation import Evaluation, evaluated
from discreet.query.question import GroupKey, Output, Question
from discreet.query.statistic import Mean, Rows, Statistic, Sum, Variance
from discreet.query.term import Asked, Number, Operation, Term
from discreet.randomness import SeededBits

FEW, MANY = 2_000, 20_000
X, BY = Column("x"), GroupKey(name="k", group=Each(Column("k")))
# Every cell holds the same rows: 400 of each of these values.
VALUES, EACH = (10, 30, 80), 400
N, S = len(VALUES) * EACH, sum(VALUES) * EACH
Q = sum(value**2 for value in VALUES) * EACH
RATIO = Operation("/", Asked(1), Asked(0))
DIFFERENCE = Operation("-", Asked(1), Operation("*", Number(Fraction(40)), Asked(0)))


def asked(*statistics: Statistic, term: Term) -> Question:
    return Question(table="t", statistics=statistics, by=(BY,), outputs=(Output(name="a", term=term),))


CASES = [
    pytest.param(asked(Rows(), term=Asked(0)), N, id="count"),
    pytest.param(asked(Sum(X), term=Asked(0)), S, id="sum"),
    pytest.param(asked(Mean(X), term=Asked(0)), S / N, id="mean"),
    pytest.param(asked(Variance(X), term=Asked(0)), (Q - S**2 / N) / (N - 1), id="variance"),
    pytest.param(asked(Rows(), Sum(X), term=RATIO), S / N, id="ratio"),
    pytest.param(asked(Rows(), Sum(X), term=DIFFERENCE), S - 40 * N, id="difference"),
]
BUDGETS = [("epsilon", "1"), ("epsilon", "0.2"), ("rho", "0.02")]


@cache
def contract(cells: int) -> Contract:
    return Contract.from_yaml(
        f"table: t\nunit: row\ncolumns:\n  k: {{type: integer, low: 1, high: {cells}}}\n"
        "  x: {type: integer, low: 0, high: 100, nulls: refuse}\n"
    )


def designed(question: Question, cells: int, budget: tuple[str, str] = ("epsilon", "1")) -> Design:
    name, amount = budget
    if name == "epsilon":
        return design_of([question], contract(cells), "pure", epsilon=amount)
    return design_of([question], contract(cells), "zcdp", rho=amount)


def drawn(design: Design, cells: int, factor: float = 1.0) -> Evaluation:
    """The question as it could be answered: exact sums, and on them the noise of the design times a factor."""
    bits, released = SeededBits(1), []
    for part in design.parts:
        assert isinstance(part, Measurement)
        integers = []
        for one, noise in zip(part.proof.parts, part.noises, strict=True):
            exact = np.tile(np.array(_exact(one.aggregate, one.span), dtype=np.int64), (cells, 1))
            noisy = release(exact, noise, bits, teaching=True).value
            integers.append(exact + np.rint((noisy - exact) * factor).astype(np.int64))
        released.append(NoisyVector(measurement=part, integers=tuple(integers)))
    return evaluated(design.questions[0], design, released)


def _exact(aggregate: Aggregate, span: Span | None) -> list[int]:
    """The aggregate's numbers, worked out row by row from its definition."""
    if isinstance(aggregate, Count):
        return [N]
    assert span is not None
    if isinstance(aggregate, Total):
        middle = -span.low if span.width == 100 else 50
        values = [value - middle if span.width == 100 else (value - middle) ** 2 for value in VALUES]
        return [EACH * sum(values)]
    assert isinstance(aggregate, Mixture)
    d = aggregate.degree
    return [EACH * sum(comb(d, j) * value**j * (100 - value) ** (d - j) for value in VALUES) for j in range(d + 1)]


def coverage(evaluation: Evaluation, truth: float) -> float:
    """How often the intervals hold the truth."""
    errors = evaluation.errors(evaluation.question.outputs[0].term)
    ends = [(error.low, error.high) for error in errors]
    return sum(low is not None and high is not None and low <= truth <= high for low, high in ends) / len(ends)


def near_normal(question: Question) -> bool:
    """Not a single whole number, which cannot be cut finer."""
    return question.statistics != (Rows(),)


@pytest.mark.slow
@pytest.mark.parametrize("budget", BUDGETS, ids=str)
@pytest.mark.parametrize(("question", "truth"), CASES)
def test_intervals_cover_as_often_as_they_say(question: Question, truth: float, budget: tuple[str, str]) -> None:
    """At least .945 of 20,000; and no more than .96 but where whole numbers cannot be cut finer."""
    found = coverage(drawn(designed(question, MANY, budget), MANY), truth)
    assert 0.945 <= found <= (0.96 if near_normal(question) else 0.98)


@pytest.mark.parametrize(("question", "truth"), CASES)
def test_intervals_cover(question: Question, truth: float) -> None:
    """The same with fewer draws: within four standard deviations of .95."""
    found = coverage(drawn(designed(question, FEW), FEW), truth)
    assert 0.93 <= found <= (0.97 if near_normal(question) else 0.98)


@pytest.mark.parametrize(("question", "truth"), CASES)
def test_deviations_are_those_of_the_noise(question: Question, truth: float) -> None:
    """That of what was released, beside what each cell says of itself."""
    evaluation, term = drawn(designed(question, FEW), FEW), question.outputs[0].term
    said = float(np.median([error.deviation for error in evaluation.errors(term)]))
    assert said == pytest.approx(float(np.std(np.array(evaluation.values(term), dtype=float))), rel=0.08)


@pytest.mark.parametrize(
    ("factor", "red"), [(0.8, lambda found: found > 0.97), (1.25, lambda found: found < 0.93)], ids=["less", "more"]
)
def test_another_scale_of_noise_would_be_noticed(factor: float, red: Callable[[float], bool]) -> None:
    question = asked(Rows(), Sum(X), term=RATIO)
    assert red(coverage(drawn(designed(question, FEW), FEW, factor), S / N))
