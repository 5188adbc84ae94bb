"""Quantiles in SQL: chosen by rank or read off a histogram, whichever errs less by public facts alone."""

from __future__ import annotations

import datetime
import json
from math import prod
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from discreet.curator import Curator
from discreet.data.contract import Contract
from discreet.measure.places import Places
from discreet.measure.ranks import Ranks
from discreet.query.design import Design, design_of
from discreet.query.estimate import strategy_lines
from discreet.query.parse import parse
from tests.query.offices import contract, office

QUARTERS = "QUANTILE_DISC({0}, 0.25) AS a, MEDIAN({0}) AS b, QUANTILE_DISC({0}, 0.75) AS c"


def design(asked: str, agreed: Contract | None = None, **budget: Any) -> Design:
    under = agreed or contract()
    question = parse(asked, lambda _: under)
    return design_of([question], under, "zcdp" if "rho" in budget else "pure", **(budget or {"epsilon": 1}))


@pytest.mark.parametrize("budget", [{"epsilon": 1}, {"epsilon": 1, "delta": "1e-6"}, {"rho": "0.1"}], ids=str)
@pytest.mark.parametrize("unit", ["row", "{person: who, rows: 3}"])
def test_the_way_that_errs_less_is_taken(unit: str, budget: dict[str, Any]) -> None:
    for values in ("MEDIAN(age)", QUARTERS.format("age"), QUARTERS.format("cost"), "MEDIAN(born)"):
        made = design(f"SELECT {values} FROM people", contract(unit=unit), **budget)
        errors: dict[tuple[str, bool], list[float]] = {}
        for line in strategy_lines(made):
            errors.setdefault((line.strategy, line.taken), []).append(float(line.error.split()[0]))
        (best,) = (prod(each) for (_, taken), each in errors.items() if taken)
        assert best <= min(prod(each) for each in errors.values())


def test_one_median_is_chosen_and_quartiles_are_read() -> None:
    assert isinstance(design("SELECT MEDIAN(age) FROM people").parts[0], Ranks)
    assert isinstance(design(f"SELECT {QUARTERS.format('age')} FROM people").parts[0], Places)
    assert isinstance(design("SELECT MIN(age), MAX(age) FROM people").parts[0], Ranks)
    # Thousands of days, and keys that nobody knows, are not counted one by one.
    assert isinstance(design(f"SELECT {QUARTERS.format('born')} FROM people").parts[0], Ranks)
    found = design(f"SELECT town, {QUARTERS.format('age')} FROM people GROUP BY town", epsilon=1, delta="1e-6")
    assert not any("histogram" in line.strategy for line in strategy_lines(found))


def test_both_ways_are_listed_with_their_errors() -> None:
    lines = strategy_lines(design(f"SELECT {QUARTERS.format('age')} FROM people"))
    assert {(line.strategy, line.taken) for line in lines} == {
        ("read off a histogram of 101 values, laplace noise", True),
        ("exponential mechanism on ranks", False),
    }
    assert all(line.error.endswith("rows of rank, in 95 %") for line in lines)


@pytest.mark.parametrize(("unit", "epsilon"), [("row", 30), ("{person: who, rows: 8}", 400)])
def test_quartiles_are_answered_with_intervals(tmp_path: Path, unit: str, epsilon: int) -> None:
    """With an ε that leaves little doubt they are those of the table; what was paid for is given again."""
    held = office(tmp_path, under=contract(unit=unit))
    text = f"SELECT region, {QUARTERS.format('age')} FROM people GROUP BY region"
    try:
        query = held.sql(text, epsilon=epsilon)
        assert "histogram" in query.estimate().taken[0].strategy
        assert len(query.dummy().columns[1].values) == 3
        answer = query.run()
        held_by = zip(*(answer.interval()[one] for one in ("b low", "b high")), strict=True)
        # The middle of 20, 23 … 59, of 21, 24 … 57 and of 22, 25 … 58: rows are three years apart.
        for true, value, (low, high) in zip((38, 39, 40), answer.frame["b"], held_by, strict=True):
            assert abs(value - true) <= 3
            assert true - 6 <= low <= min(true, value) <= max(true, value) <= high <= true + 6
        assert answer.error["b"] == [None, None, None]
        assert any("read off noisy counts of 101 values" in note for note in answer.notes)
        assert json.loads(json.dumps(answer.as_json()))["columns"][2]["low"]
        again = held.sql(text, epsilon=epsilon).run()
        assert again.cost.again
        assert again.frame == answer.frame
        assert again.interval() == answer.interval()
        for ending in ("csv", "json", "html", "parquet"):
            assert answer.save(tmp_path / f"answer.{ending}").stat().st_size
    finally:
        held.ledger.close()


def test_quartiles_of_days_are_days(tmp_path: Path) -> None:
    """A quarter of days is counted day by day; days have no intervals in numbers."""
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(days=at) for at in range(91)]
    held = Curator(tmp_path / "office", heads=tmp_path / "heads")
    agreed = "table: t\nunit: row\nbudget: {epsilon: 500}\ncolumns:\n"
    agreed += "  d: {type: date, low: 2020-01-01, high: 2020-03-31, nulls: key}\n"
    held.add(pl.DataFrame({"d": [*days, None]}), name="t", contract=Contract.from_yaml(agreed))
    try:
        query = held.sql(f"SELECT {QUARTERS.format('d')} FROM t", epsilon=20)
        assert "histogram" in query.estimate().taken[0].strategy
        answer = query.run(kind="plain")
        assert [column.values[0] for column in answer.columns] == [days[22], days[45], days[68]]
        assert answer.interval()["b low"] == [None]
    finally:
        held.ledger.close()
