"""A profile counts inside the engine what Python counts outside, and prints nothing."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.pattern import PATTERNS
from discreet.data.profile import ColumnProfile
from discreet.risk.profiling import profile
from tests.risk.typed import typed_table


def _profiled(kind: str, values: list[Any]) -> ColumnProfile:
    with typed_table({"x": (kind, values)}) as (engine, table):
        return profile(engine, table).columns[0]


_numbers = st.none() | st.sampled_from([0.0, -0.5, 1.25, 3.0, 1e-7, math.nan, math.inf, -math.inf])
_texts = st.none() | st.sampled_from(
    ["a@b.org", "Marie Curie", "one two three four five six", "111222333", "", " ", "x\ny", "+32 2 123 45 67"]
)


@settings(max_examples=15)
@given(st.lists(_numbers, max_size=12))
def test_a_profile_counts_what_python_counts(values: list[float | None]) -> None:
    there = [value for value in values if value is not None and math.isfinite(value)]
    counted = Counter(there)
    column = _profiled("DOUBLE", values)
    assert column.missing == len(values) - len(there)
    assert column.distinct == len(counted)
    assert column.single == sum(n == 1 for n in counted.values())
    assert column.rare == sum(n < 5 for n in counted.values())
    assert column.largest == max(counted.values(), default=0)
    assert (column.low is None) == (not there)
    assert not there or (float(column.low or 0), float(column.high or 0)) == (min(there), max(there))
    places = {0.0: 0, -0.5: 1, 1.25: 2, 3.0: 0, 1e-7: 30}
    assert column.places == max((places[value] for value in there), default=0)


@settings(max_examples=15)
@given(st.lists(_texts, max_size=12))
def test_forms_are_counted_as_python_counts_them(values: list[str | None]) -> None:
    there = [value for value in values if value is not None]
    column = _profiled("VARCHAR", values)
    for pattern in PATTERNS:
        assert column.forms.get(pattern.name, 0) == sum(map(pattern.fits, there)), pattern.name
    assert column.texts == tuple(sorted(set(there), key=str.encode))
    assert column.longest == max(map(len, there), default=0)


@pytest.mark.parametrize(
    ("kind", "values", "ends"),
    [
        ("INTEGER", [3, 1, None], ("1", "3")),
        ("HUGEINT", [2**100], (str(2**100), str(2**100))),
        ("DECIMAL(18,2)", [1, 2.25], ("1.00", "2.25")),
        ("DATE", ["2020-02-29", "1999-12-31"], ("1999-12-31", "2020-02-29")),
        ("TIMESTAMP", ["2020-02-29 10:00:00"], ("2020-02-29 10:00:00", "2020-02-29 10:00:00")),
        ("BOOLEAN", [True, None], (None, None)),
        ("VARCHAR", ["a"], (None, None)),
    ],
)
def test_every_type_has_its_ends(kind: str, values: list[Any], ends: tuple[str | None, str | None]) -> None:
    column = _profiled(kind, values)
    assert (column.low, column.high) == ends


def test_an_empty_table_has_a_profile() -> None:
    with typed_table({"a": ("INTEGER", []), "b": ("VARCHAR", [])}) as (engine, table):
        found = profile(engine, table)
    assert found.rows == 0
    assert [column.distinct for column in found.columns] == [0, 0]


def test_a_profile_prints_nothing() -> None:
    with typed_table({"a": ("VARCHAR", ["canary"])}) as (engine, table):
        found = profile(engine, table)
    for text in (str(found), repr(found), f"{found}", repr(found.columns), str(found.columns[0])):
        assert "canary" not in text
    with pytest.raises(TypeError, match="confidential"):
        pickle.dumps(found)
