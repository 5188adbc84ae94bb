"""Odd columns, replaced or standing beside what is: a refusal that says why, or a fallback that is stated; no gaps."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.errors import ArgumentError
from discreet.synthesis.imputation.augmentation import synthesize_augmented
from discreet.synthesis.imputation.columns import read_columns
from discreet.synthesis.imputation.copies import Copies
from discreet.synthesis.imputation.plan import Settings
from discreet.synthesis.imputation.posterior import Schedule
from discreet.synthesis.imputation.sequential import synthesize
from discreet.synthesis.imputation.subgroups import risk_groups, synthesize_selective, synthesize_weighted
from discreet.synthesis.imputation.sums import parts_of

RANDOM = np.random.default_rng(4)
ROWS = 240
AGE, SEX = RANDOM.integers(18, 90, ROWS), RANDOM.integers(0, 2, ROWS)
PLAIN: dict[str, list[Any]] = {
    "age": AGE.tolist(),
    "sex": SEX.tolist(),
    "income": np.round(AGE / 10 + RANDOM.normal(size=ROWS), 2).tolist(),
    "region": RANDOM.choice(list("abcd"), ROWS).tolist(),
}
ODD: dict[str, list[Any]] = {
    "constant": [3.0] * ROWS,
    "empty": [""] * ROWS,
    "all missing": [None] * ROWS,
    "no number": [math.nan] * ROWS,
    "duplicated": AGE.tolist(),
    "separated": (AGE > 50).tolist(),
    "collinear": (2 * AGE + 10 * SEX).tolist(),
    "5000 levels": [f"k{code}" for code in RANDOM.permutation(5000)[:ROWS]],
}
SEQUENCES = ("cart", "normlogit", "parametric")
METHODS = (*SEQUENCES, "dami", "selective", "weighted")

# What is said when the odd column is replaced, when it is with another one, and when it stands beside: words of the
# refusal (-), words of a note (+), or nothing to say ("") since nothing is done otherwise than asked.
VARIES, ONE = "-perturb: columns without variation", "+it holds one value only; it stays as it is"
SAID: dict[str, dict[str, tuple[str, str, str]]] = {
    "in turn": {
        "constant": (VARIES, ONE, ""),
        "empty": (VARIES, ONE, ""),
        "all missing": (VARIES, "+all its cells are missing; it stays as it is", ""),
        "no number": (VARIES, "+all its cells are missing; it stays as it is", ""),
        "duplicated": ("-'age', which stays, holds the same", "", ""),
        "separated": ("+age, which stays, tells it", "", ""),
        "collinear": ("+odd: columns that stay add up to it: age, sex", "", ""),
        "5000 levels": (
            "-another text in more than half",
            "-another text in more than half",
            "+nothing is drawn given it",
        ),
    },
    "by masks": {
        "constant": (VARIES, "+odd does not vary: it stays as it is", "+odd does not vary: it stays as it is"),
        "empty": (VARIES, "+odd does not vary: it stays as it is", "+odd does not vary: it stays as it is"),
        "all missing": ("-no value at all", "-no value at all", "-no value at all"),
        "no number": ("-no value at all", "-no value at all", "-no value at all"),
        "duplicated": ("+age tells odd record by record", "", ""),
        "separated": ("+age tells odd record by record", "", ""),
        "collinear": ("+age, sex add up to odd", "", ""),
        "5000 levels": ("-more than 60 levels", "-more than 60 levels", "+nothing is drawn from it"),
    },
}
ROLES = (["odd"], ["age", "odd"], ["income"])


def made(method: str, table: Any, perturb: list[str]) -> Copies:
    columns = read_columns(table)
    quick: dict[str, Any] = {"perturb": perturb, "copies": 2, "schedule": Schedule(burn=40, thin=5)}
    if method == "dami":
        return synthesize_augmented(columns, **quick)
    if method in SEQUENCES:
        return synthesize(columns, Settings(perturb=perturb, method=method, copies=2))
    near = {"age": 3.0} if columns.column("age").is_continuous else {}
    groups = risk_groups(columns, ["age", "sex"], within=near)
    if method == "selective":
        return synthesize_selective(columns, groups, **quick)
    return synthesize_weighted(columns, groups, perturb=perturb, copies=2)


def gone(value: Any) -> bool:
    return value is None or value != value


@pytest.mark.parametrize("role", range(3), ids=["replaced", "with another", "beside"])
@pytest.mark.parametrize("odd", sorted(ODD))
@pytest.mark.parametrize("method", METHODS)
def test_odd_columns_are_refused_or_met_by_a_stated_fallback(method: str, odd: str, role: int) -> None:
    table, perturb = {**PLAIN, "odd": ODD[odd]}, ROLES[role]
    said = SAID["by masks" if method in ("dami", "selective") else "in turn"][odd][role]
    if method == "weighted" and odd in ("all missing", "no number"):
        said = "-missing cells"
    if said.startswith("-"):
        with pytest.raises(ArgumentError, match=re.escape(said[1:])) as refusal:
            made(method, table, perturb)
        assert "Next: " in str(refusal.value)
        return
    copies = made(method, table, perturb)
    assert said[1:] in " | ".join(copies.notes)
    assert copies.perturbed == tuple(name for name in perturb if "stays as it is" not in said or name != "odd")
    for frame in copies:
        for name, values in frame.items():
            assert [gone(value) for value in values] == [gone(value) for value in table[name]]
            if name not in copies.perturbed:
                assert values is table[name]


@pytest.mark.parametrize("method", ["normlogit", "parametric"])
def test_regressions_say_that_an_outcome_is_separated(method: str) -> None:
    copies = made(method, {**PLAIN, "odd": ODD["separated"]}, ["odd"])
    assert any("odd: the outcome is separated" in note for note in copies.notes)
    for frame in copies:
        assert np.mean(np.array(frame["odd"]) == np.array(ODD["separated"])) > 0.8


@pytest.mark.parametrize("method", METHODS)
def test_tables_without_rows_or_with_one_name_twice_are_refused(method: str) -> None:
    twice = [pa.array(AGE), pa.array(SEX)]
    frames: list[Any] = [
        pa.Table.from_arrays(twice, names=["age", "age"]),
        pd.DataFrame(np.column_stack([AGE, SEX]), columns=["age", "age"]),
    ]
    for frame in frames:
        with pytest.raises(ArgumentError, match="two columns of one name"):
            made(method, frame, ["age"])
    empties: list[Any] = [{"age": []}, {}, pl.DataFrame({"age": []}), pa.table({"age": pa.array([], pa.int64())})]
    for empty in empties:
        with pytest.raises(ArgumentError, match="no rows or no columns"):
            made(method, empty, ["age"])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rows", [1, 2, 3, 5, 6, 9])
def test_a_handful_of_rows_is_copied_whole_or_refused(method: str, rows: int) -> None:
    table = {name: values[:rows] for name, values in PLAIN.items()}
    try:
        copies = made(method, table, ["age", "sex"])
    except ArgumentError:
        assert rows < 5 or method in ("weighted", "selective")
        return
    for frame in copies:
        assert not any(gone(value) for values in frame.values() for value in values)


def test_five_thousand_levels_in_an_order_are_drawn_by_a_tree() -> None:
    places = RANDOM.integers(0, 5000, 6000)
    table = {"x": RANDOM.normal(size=6000).tolist(), "place": (places // 2).tolist()}
    columns = read_columns(table, kinds={"place": list(range(2500))})
    for method in ("normlogit", "parametric"):
        copies = synthesize(columns, Settings(perturb=["place"], method=method, copies=1))
        assert any("place: an ordered logit would need too many thresholds" in note for note in copies.notes)
        assert set(copies.frames[0]["place"]) <= set(table["place"])


def test_sums_are_found_rounded_and_across_gaps_and_near_ones_are_not() -> None:
    parts = RANDOM.normal(100, 20, (2, ROWS))
    near = parts.sum(axis=0) + RANDOM.normal(0, 0.5, ROWS)
    table = {
        "wage": np.round(parts[0], 2).tolist(),
        "rent": [None if row % 7 == 0 else value for row, value in enumerate(np.round(parts[1], 2).tolist())],
        "flag": SEX.tolist(),
        "total": np.round(1.25 * parts.sum(axis=0) - 3 * SEX, 2).tolist(),
        "near": np.round(near, 2).tolist(),
        "text": PLAIN["region"],
    }
    columns = read_columns(table)

    def told(name: str, rows: int = ROWS) -> tuple[str, ...]:
        some = read_columns({key: values[:rows] for key, values in table.items()})
        return parts_of(some.column(name), [one for one in some.columns if one.name not in (name, "near")])

    assert told("total") == ("wage", "rent", "flag")
    assert not told("near")
    assert not told("text")
    both = read_columns({**PLAIN, "odd": ODD["collinear"]})
    assert parts_of(both.column("sex"), [both.column("age"), both.column("odd")]) == ("age", "odd")
    assert not parts_of(columns.column("total"), [columns.column("wage"), columns.column("flag")])
    assert not told("total", 20)  # as few rows as this could add up by chance
