"""Statistics of one column read off one histogram or tree: right in SQL, erring as listed, taken where better."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet.curator import Curator
from discreet.data.contract import Contract
from discreet.measure.intervals import CountedIntervals
from discreet.measure.noisy import NoisyVector
from discreet.mechanisms.noise import release
from discreet.query import histogram
from discreet.query.design import Design, design_of
from discreet.query.estimate import strategy_lines
from discreet.query.evaluation import Evaluation, evaluated
from discreet.query.parse import parse
from discreet.query.wanted import wanted_of
from discreet.randomness import SeededBits
from tests.query.offices import PEOPLE, contract, office

CELLS = 1_500
VALUES = np.array([0, 0, 3, 7, 7, 7, 12, 19, 20, 20, 26, 30] * 60)
RANGES = ", ".join(f"COUNT_IF(x BETWEEN {low} AND {low + 9}) AS r{low}" for low in range(0, 22, 3))
UPTO = ", ".join(f"COUNT_IF(x <= {at}) AS u{at}" for at in range(30))
ASKED = {
    "ranges": (RANGES, [float(np.isin(VALUES, range(low, low + 10)).sum()) for low in range(0, 22, 3)]),
    "cumulative": (UPTO, [float((at >= VALUES).sum()) for at in range(30)]),
    "mean beside quartiles": (
        "AVG(x) AS m, COUNT(*) AS n, MEDIAN(x) AS q, QUANTILE_DISC(x, 0.9) AS t",
        [VALUES.mean(), float(len(VALUES))],
    ),
}

# Gaussian shares of a budget cost less, so that a mean beside quartiles is better measured by itself.
NOT_TAKEN = "mean beside quartiles", "gaussian"
CASES = [(name, law) for name in ASKED for law in ("laplace", "gaussian") if (name, law) != NOT_TAKEN]


def facts(cells: int = CELLS) -> Contract:
    return Contract.from_yaml(
        f"table: t\nunit: row\ncolumns:\n  k: {{type: integer, low: 1, high: {cells}}}\n"
        "  x: {type: integer, low: 0, high: 30, nulls: refuse}\n  y: {type: integer, low: 0, high: 100000}\n"
    )


def designed(columns: str, law: str, cells: int = CELLS) -> Design:
    agreed = facts(cells)
    question = parse(f"SELECT {columns} FROM t GROUP BY k", lambda _: agreed)
    if law == "laplace":
        return design_of([question], agreed, "pure", epsilon=1)
    return design_of([question], agreed, "zcdp", rho="0.05")


def drawn(design: Design, factor: float = 1.0) -> Evaluation:
    """The answer for as many cells with the same rows, each with noise of its own, times a factor."""
    (part,) = design.parts
    assert isinstance(part, CountedIntervals)
    starts, bits = part.cut.starts, SeededBits(5)
    own = np.histogram(VALUES, bins=[*starts, 31])[0]
    integers = []
    for exact, noise in zip(part.added(np.tile(own, CELLS).reshape(-1, 1)), part.noises, strict=True):
        noisy = release(exact, noise, bits, teaching=True).value
        integers.append(exact + np.rint((noisy - exact) * factor).astype(np.int64))
    vector = NoisyVector(measurement=part, integers=tuple(integers))
    return evaluated(design.questions[0], design, [vector])


def apart(design: Design, truth: Sequence[float], factor: float = 1.0) -> list[float]:
    """Root mean square error of each sum over the error that is listed."""
    evaluation = drawn(design, factor)
    taken = {line.statistic: line for line in strategy_lines(design) if line.taken}
    assert taken
    (demand,) = design.demands
    said = {
        one: expected
        for piece, candidate in zip(demand.pieces, demand.taken, strict=True)
        for one, expected in zip(piece.statistics, candidate.expected, strict=True)
    }
    found = []
    for at, true in enumerate(truth):
        statistic = design.questions[0].statistics[at]
        values = np.array(evaluation.values(design.questions[0].outputs[at].term), dtype=float)
        found.append(float(np.sqrt(np.mean((values - true) ** 2)) / said[statistic].at(len(VALUES))))
    return found


@pytest.mark.parametrize(("name", "law"), CASES)
def test_what_is_read_errs_as_it_is_listed(name: str, law: str) -> None:
    """Counts as listed; a mean within what the reference values leave open."""
    columns, truth = ASKED[name]
    found = apart(designed(columns, law), truth)
    counts = [one for one, column in zip(found, columns.split(", "), strict=False) if "AVG" not in column]
    assert min(counts) > 0.9
    assert max(counts) < 1.1
    assert all(0.7 < one < 1.4 for one in found)


@pytest.mark.parametrize(("name", "law"), CASES)
def test_intervals_of_what_is_read_cover(name: str, law: str) -> None:
    """Of 1,500 cells at least .93 of each column, and in all no more than .97."""
    columns, truth = ASKED[name]
    evaluation = drawn(designed(columns, law))
    covered = []
    for at, true in enumerate(truth):
        errors = evaluation.errors(evaluation.question.outputs[at].term)
        covered.append(np.mean([one.low <= true <= one.high for one in errors if one.low is not None and one.high]))
    assert min(covered) >= 0.93
    assert np.mean(covered) <= 0.98


def test_noise_larger_than_listed_turns_red() -> None:
    columns, truth = ASKED["cumulative"]
    assert min(apart(designed(columns, "laplace"), truth, factor=1.25)) > 1.1


@pytest.mark.parametrize(("name", "least"), [("ranges", 1), ("cumulative", 2), ("mean beside quartiles", 1)])
def test_the_best_is_taken(name: str, least: int) -> None:
    """Its product of errors is the least of all that are listed, and a tree is taken where counts run on."""
    design = designed(ASKED[name][0], "laplace", cells=3)
    (part,) = design.parts
    assert isinstance(part, CountedIntervals)
    assert len(part.levels) >= least
    strategies = {line.strategy for line in strategy_lines(design)}
    assert any("histogram" in one for one in strategies)
    assert any("apart" in one for one in strategies)


@pytest.mark.parametrize("columns", ["AVG(x)", "SUM(x), COUNT(*)", "COUNT(*)", "AVG(y), MEDIAN(y)", "SUM(x + k)"])
def test_what_errs_less_by_itself_stays_so(columns: str) -> None:
    assert not any(isinstance(part, CountedIntervals) for part in designed(columns, "laplace", cells=3).parts)


def test_ranges_of_a_wide_column_are_cut_where_they_end() -> None:
    """100,000 steps, and as many intervals as there are ends; what is missing has one only where that is asked."""
    ranges = ", ".join(f"COUNT_IF(y BETWEEN {low} AND {low + 40_000}) AS r{low}" for low in range(0, 60_000, 10_000))
    for further, missing in (("", False), (", COUNT(*) AS n", True)):
        (part,) = designed(ranges + further, "laplace", cells=3).parts
        assert isinstance(part, CountedIntervals)
        assert part.cut.missing is missing
        assert len(part.cut.starts) == 12


def test_ranges_err_as_the_closed_form(tmp_path: Path) -> None:
    """A range of m intervals errs by √(2m)/ε: at most 1.05 of that in SQL, where each by itself errs by √2·8/ε."""
    frame = pl.DataFrame({"k": np.repeat(np.arange(1, CELLS + 1), len(VALUES) // 60), "x": np.tile(VALUES[:12], CELLS)})
    held = Curator(tmp_path / "office", heads=tmp_path / "heads")
    agreed = Contract.from_yaml(
        f"table: t\nbudget: {{epsilon: 10}}\nunit: row\ncolumns:\n  k: {{type: integer, low: 1, high: {CELLS}}}\n"
        "  x: {type: integer, low: 0, high: 30, nulls: refuse}\n"
    )
    held.add(frame, name="t", contract=agreed)
    try:
        asked = held.sql(f"SELECT {RANGES} FROM t GROUP BY k", epsilon=1)
        answer = asked.run(kind="plain", bits=SeededBits(4), teaching=True)
    finally:
        held.ledger.close()
    (part,) = asked.batch.design.parts
    assert isinstance(part, CountedIntervals)
    starts = np.array(part.cut.starts)
    for low, output in zip(range(0, 22, 3), answer.question.outputs, strict=True):
        true = int(((VALUES[:12] >= low) & (VALUES[:12] <= low + 9)).sum())
        error = np.array(answer.evaluation.values(output.term), dtype=float) - true
        intervals = int(((starts >= low) & (starts <= low + 9)).sum())
        assert np.sqrt(np.mean(error**2)) <= 1.05 * sqrt(2 * intervals)
        assert np.sqrt(np.mean(error**2)) < sqrt(2) * 8 / 2


def exact(rows: Sequence[dict[str, Any]]) -> list[float]:
    ages = [row["age"] for row in rows if row["age"] is not None]
    return [
        float(len(rows)),
        float(sum(30 <= age <= 45 for age in ages)),
        float(sum(age < 40 for age in ages)),
        float(sum(row["age"] is None for row in rows)),
        sum(ages) / len(ages),
        float(sum(ages)),
        float(sum(age > 31 for age in ages)),
        float(sum(age > 44 for age in ages)),
        float(sum(24 <= age <= 51 for age in ages)),
    ]


def test_answers_agree_with_python(tmp_path: Path) -> None:
    """With an ε that leaves no doubt: missing values, ranges, sums and means of one column."""
    rows = [{**row, "age": None if at % 9 == 4 else row["age"]} for at, row in enumerate(PEOPLE)]
    held = office(tmp_path, rows, under=contract(budget="epsilon: 100000"))
    text = (
        "SELECT COUNT(*) AS n, COUNT_IF(age BETWEEN 30 AND 45) AS middle, COUNT_IF(age < 40) AS young, "
        "COUNT_IF(age IS NULL) AS unknown, AVG(age) AS mean, SUM(age) AS years, "
        "COUNT_IF(age > 31) AS a, COUNT_IF(age > 44) AS b, COUNT_IF(age BETWEEN 24 AND 51) AS c FROM people"
    )
    try:
        query = held.sql(text, epsilon=20_000)
        assert any(isinstance(part, CountedIntervals) for part in query.batch.design.parts)
        assert len(query.dummy().columns) == 9
        answer = query.run()
    finally:
        held.ledger.close()
    shown = [column.raw[0] for column in answer.columns]
    assert shown == pytest.approx(exact(rows), rel=1e-3)


def test_persons_count_as_much_as_by_themselves() -> None:
    """A range that rows can miss weighs a person's rows by those inside: no histogram of all rows stands in for it."""
    agreed = contract(unit="{person: who, rows: 2, groups: 2}")

    def together(columns: str) -> bool:
        question = parse(f"SELECT {columns} FROM people", lambda _: agreed)
        design = design_of([question], agreed, "pure", epsilon=1)
        return any("histogram" in line.strategy for line in strategy_lines(design))

    inside = ", ".join(f"COUNT(CASE WHEN age < {at} THEN 1 END) AS c{at}" for at in (20, 40, 60))
    assert not together(inside)
    everybody = ", ".join(f"SUM(CASE WHEN age < {at} THEN 1 ELSE 0 END) AS c{at}" for at in (20, 40, 60))
    assert together(everybody)


def test_a_wanted_error_of_ranges_costs_less_together(monkeypatch: pytest.MonkeyPatch) -> None:
    agreed = facts()
    question = parse(f"SELECT {RANGES} FROM t", lambda _: agreed)

    def needed() -> Fraction:
        wanted = wanted_of([question], agreed, 20)
        return design_of([question], agreed, "pure", wanted=wanted).allowance.loss

    together = needed()
    monkeypatch.setattr(histogram, "_families", lambda *_: {})
    assert together < needed() / 2
