"""The check of a contract counts what falls outside it, and whether a row is a person."""

from __future__ import annotations

import datetime
import json
import math
from collections import defaultdict
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.contract import Contract
from discreet.risk.fit import ContractFit, check_contract
from tests.risk.typed import typed_table

Columns = dict[str, tuple[str, list[Any]]]


def _fit(columns: Columns, contract: str) -> ContractFit:
    with typed_table(columns) as (engine, table):
        return check_contract(engine, table, Contract.from_yaml(contract))


_values = st.lists(
    st.tuples(
        st.sampled_from([None, -1.0, 0.0, 5.0, 10.0, 10.5, math.nan, math.inf, -math.inf]),
        st.sampled_from([None, "n", "s", "w"]),
    ),
    min_size=1,
    max_size=10,
)


@settings(max_examples=15)
@given(_values)
def test_clipped_rows_and_foreign_keys_are_counted(rows: list[tuple[float | None, str | None]]) -> None:
    fit = _fit(
        {"x": ("DOUBLE", [x for x, _ in rows]), "r": ("VARCHAR", [r for _, r in rows])},
        "table: t\nunit: row\ncolumns:\n  x: {type: decimal, step: 0.5, low: 0, high: 10}\n"
        "  r: {type: category, keys: [n, s]}\n",
    )
    numbers = [x for x, _ in rows if x is not None and math.isfinite(x)]
    x, r = fit.columns
    assert (x.missing, x.below, x.above) == (
        len(rows) - len(numbers),
        sum(number < 0 for number in numbers),
        sum(number > 10 for number in numbers),
    )
    assert (r.missing, r.outside_keys) == (sum(r is None for _, r in rows), sum(r == "w" for _, r in rows))
    assert any("'x' has values beyond" in problem for problem in fit.problems) == bool(x.below or x.above)


_visits = st.lists(
    st.tuples(st.sampled_from([None, "a", "b", "c"]), st.sampled_from([None, "n", "s", "w"])), max_size=14
)


@settings(max_examples=15)
@given(_visits)
def test_persons_above_their_limits_are_counted(rows: list[tuple[str | None, str | None]]) -> None:
    fit = _fit(
        {"p": ("VARCHAR", [p for p, _ in rows]), "r": ("VARCHAR", [r for _, r in rows])},
        "table: t\nunit: {person: p, rows: 3, groups: 2}\ncolumns:\n  p: {type: text}\n"
        "  r: {type: category, keys: [n, s, w], one_per_unit: true}\n",
    )
    held = defaultdict(list)
    for p, r in rows:
        if p is not None:
            held[p].append(r)
    assert fit.unit.units == len(held)
    assert fit.unit.rows_without == sum(p is None for p, _ in rows)
    assert fit.unit.above_rows == sum(len(values) > 3 for values in held.values())
    assert ("Units with more rows than count" in fit.grid().note) == bool(fit.unit.above_rows)
    assert fit.unit.rows_cut == sum(max(len(values) - 3, 0) for values in held.values())
    region = fit.columns[1]
    assert region.units_in_many_groups == sum(len(set(values)) > 2 for values in held.values())
    assert region.units_with_many_values == sum(len(set(values)) > 1 for values in held.values())


@pytest.mark.requirement("2.29")
def test_one_row_per_person_is_checked() -> None:
    contract = "table: t\nunit: row\ncolumns:\n  p: {type: integer, role: direct identifier}\n"
    repeated = _fit({"p": ("INTEGER", [1, 2, 2, None])}, contract)
    assert repeated.unit.repeated == (("p", 1),)
    assert "a row is not a person: values of 'p'" in repeated.problems[0]
    once = _fit({"p": ("INTEGER", [1, 2, 3, None])}, contract)
    assert (once.unit.is_checked, once.problems) == (True, ())
    unknown = _fit({"p": ("INTEGER", [1, 2])}, contract.replace(", role: direct identifier", ""))
    assert not unknown.unit.is_checked
    assert "cannot be checked" in unknown.grid().note


def test_the_share_of_persons_above_the_limit_is_said() -> None:
    fit = _fit(
        {"p": ("VARCHAR", ["a"] * 3 + ["b"] * 2 + ["c", "d", None])},
        "table: t\nunit: {person: p, rows: 2}\ncolumns: {p: {type: text}}\n",
    )
    note = fit.grid().note.replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert "Units with more rows than count: 1, 25" in note
    assert "Rows beyond the limit: 1, 12.5" in note
    assert "Rows that belong to no unit and drop: 1, 12.5" in note


@pytest.mark.requirement("2.29")
def test_a_person_per_day_is_counted_by_day() -> None:
    days = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 1), datetime.date(2020, 1, 2), datetime.date(2020, 2, 1)]
    columns: Columns = {"p": ("VARCHAR", ["a"] * 4), "d": ("DATE", days)}
    text = "table: t\nunit: {person: p, rows: 1, period: day, date: d}\ncolumns: {p: {type: text}, d: {type: date}}\n"
    by_period = {"day": (3, 1), "month": (2, 1), "year": (1, 1)}
    for period, (units, above) in by_period.items():
        unit = _fit(columns, text.replace("period: day", f"period: {period}")).unit
        assert (unit.units, unit.above_rows) == (units, above)


@pytest.mark.parametrize(
    ("contract", "problem"),
    [
        ("columns: {x: {type: integer}, y: {type: text}}", "column 'y' is not in the table"),
        ("columns: {x: {type: date}}", "column 'x' is declared date and kept as integer"),
        ("columns: {x: {type: boolean}}", "column 'x' is declared boolean and kept as integer"),
        ("columns: {x: {type: integer, nulls: refuse}}", "'x' has missing values, which the contract refuses"),
        ("columns: {x: {type: integer}}\nadjacency: replace-one\nunits: 9", "another number of units"),
        ("columns: {x: {type: integer}}\nmax_rows: 2", "more rows than max_rows"),
        ("columns: {x: {type: category, keys: ['1', '2']}}", "values that are not among the keys"),
    ],
)
def test_each_disagreement_is_a_problem_without_a_figure(contract: str, problem: str) -> None:
    fit = _fit({"x": ("INTEGER", [1, 2, 777, None])}, f"table: t\nunit: row\n{contract}\n")
    assert any(problem in found for found in fit.problems)
    assert not any("777" in found for found in fit.problems)


def test_bounds_are_compared_exactly() -> None:
    fit = _fit(
        {
            "cents": ("DECIMAL(38,2)", ["-0.01", "0.00", "0.30", "0.31"]),
            "day": ("DATE", ["2019-12-31", "2020-01-01", "2020-12-31", "2021-01-01"]),
            "time": ("TIMESTAMP", ["2020-01-01 00:00:00", "2020-01-01 00:00:01", None, None]),
            "large": ("BIGINT", [2**61 - 1, 2**61, 2**61 + 1, -(2**61) - 1]),
        },
        "table: t\nunit: row\ncolumns:\n  cents: {type: decimal, step: 0.01, low: 0, high: 0.3}\n"
        "  day: {type: date, low: 2020-01-01, high: 2020-12-31}\n"
        "  time: {type: datetime, low: '2020-01-01T00:00:01', high: '2020-01-01T00:00:01'}\n"
        f"  large: {{type: integer, low: -{2**61}, high: {2**61}}}\n",
    )
    assert [(column.below, column.above) for column in fit.columns] == [(1, 1), (1, 1), (1, 0), (1, 1)]


def test_a_fit_is_a_grid_and_plain_values_and_prints_nothing() -> None:
    fit = _fit(
        {"x": ("INTEGER", [1, 2, 99, None]), "z": ("VARCHAR", ["canary"] * 4)},
        "table: t\nunit: row\ncolumns:\n  x: {type: integer, low: 0, high: 10}\n",
    )
    line = fit.grid().rows[0]
    assert line[:5] == ("x", "integer", Fraction(1, 4), Fraction(0), Fraction(1, 4))
    assert fit.unnamed == ("z",)
    assert json.loads(json.dumps(fit.as_json()))["columns"][0]["above"] == 1
    assert repr(fit) == "<confidential contract fit>"
    assert "4" not in repr(fit.unit) + repr(fit.columns)


def test_an_empty_table_fits() -> None:
    fit = _fit(
        {"x": ("INTEGER", []), "p": ("VARCHAR", [])},
        "table: t\nunit: {person: p, rows: 1}\ncolumns: {x: {type: integer, low: 0, high: 1}, p: {type: text}}\n",
    )
    assert (fit.rows, fit.unit.units, fit.problems) == (0, 0, ())
    assert fit.grid().rows[0][2] is None
