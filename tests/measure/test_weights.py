"""The weights that bound a person: what the engine computes, and what no number of rows can break."""

from __future__ import annotations

from pathlib import Path

import duckdb
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.contract import Contract
from discreet.data.engines.duckdb import DuckDBEngine
from discreet.data.load import load
from discreet.measure.bounds import prove
from discreet.measure.compile import compiled, vectors
from discreet.measure.expression import Column, Compare, Constant, Text
from discreet.measure.groups import Categories
from discreet.measure.plan import Count, Persons, Plan
from discreet.measure.weights import BITS_AT_MOST, heavy_units, whole_weight

_CONTRACT = """
table: t
unit: {{person: p, rows: {rows}, groups: {groups}{period}}}
max_rows: {most}
columns:
  p: {{type: {kind}, role: direct identifier}}
  g: {{type: category, keys: [a, b, c, d]}}
  k: {{type: integer, low: 0, high: 9}}
  d: {{type: date}}
"""


def _agreed(*, rows: int = 5, groups: int = 3, period: str = "", kind: str = "text", most: int = 10**6) -> Contract:
    return Contract.from_yaml(_CONTRACT.format(rows=rows, groups=groups, period=period, kind=kind, most=most))


def _read(frame: pl.DataFrame, plan: Plan, agreed: Contract, path: Path) -> tuple[list[int], int]:
    """The numbers of the first aggregate, and 2^s."""
    proof = prove(plan, agreed)
    table = load(frame, path, steps=agreed.steps())
    with DuckDBEngine.open(path, memory="1GB") as engine:
        read = vectors(engine.integers(compiled(plan, agreed, table, proof)), proof)
    return [int(number) for number in read[0].ravel()], 1 << proof.bits


def _frame(rows: list[tuple[object, str | None, int, str]], kind: pl.DataType | type = pl.String) -> pl.DataFrame:
    schema = {"p": kind, "g": pl.String, "k": pl.Int64, "d": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col("d").str.to_date())


@given(rows=st.integers(1, 2**63), limit=st.integers(1, 2**40), bits=st.integers(0, BITS_AT_MOST))
def test_weights_of_a_person_never_pass_the_limit(rows: int, limit: int, bits: int) -> None:
    weight = whole_weight(rows, limit, bits)
    assert 0 <= weight <= 1 << bits
    assert rows * weight <= limit << bits
    if rows <= limit:
        assert weight == 1 << bits  # nothing is taken from who keeps to the limit
    else:
        assert rows * (weight + 1) > limit << bits  # and no more than must be from who does not


def test_the_engine_weighs_as_the_plain_integers_do() -> None:
    """Every number of rows up to 3,000 and some large ones, by the generated SELECT itself."""
    sizes = [*range(1, 3000), 119_861, 131_071, 131_072, 500_001]
    for limit, bits in ((1, 8), (5, 20), (7, 13)):
        select = heavy_units("rows", ("u0",), limit, bits).sql(dialect="duckdb")
        with duckdb.connect(config={"threads": 1}) as raw:
            raw.execute(f"CREATE TABLE sizes AS SELECT unnest({sizes}) AS n")
            raw.execute("CREATE TABLE rows AS SELECT n AS u0 FROM sizes, range(n)")
            found = dict(raw.execute(select).fetchall())
        assert found == {rows: whole_weight(rows, limit, bits) for rows in sizes if rows > limit}


def test_a_person_of_many_rows_counts_as_the_limit_and_one_of_too_many_as_nobody(tmp_path: Path) -> None:
    """5 rows of 5, of 6 a little less, and of more than 5·2^s rows nothing."""
    plan = Plan(aggregates=(Count(),))
    agreed = _agreed(most=1 << 53)  # leaves 2^8 steps in a row
    for number, (rows, low, high) in enumerate(((4, 4, 4), (5, 5, 5), (6, 4.9, 5), (1280, 5, 5), (1281, 0, 0))):
        frame = _frame([("one", "a", 1, "2020-01-01")] * rows)
        (found,), whole = _read(frame, plan, agreed, tmp_path / f"{number}.duckdb")
        assert whole == 256
        assert low <= found / whole <= high


def test_rows_without_a_person_and_without_a_part_do_not_weigh(tmp_path: Path) -> None:
    """The filter comes first, then rows with nothing to add are left out; a row of no cell keeps its share."""
    rows: list[tuple[object, str | None, int, str]] = [("one", "a", 1, "2020-01-01")] * 5
    rows += [("one", "a", 7, "2020-01-01")] * 20 + [(None, "a", 1, "2020-01-01")] * 9
    small = Compare(Column("k"), "<", Constant(5))  # type: ignore[arg-type]  # made exact by itself
    (kept,), whole = _read(_frame(rows), Plan(aggregates=(Count(),), where=small), _agreed(), tmp_path / "1.duckdb")
    assert kept == 5 * whole
    rows = [("one", "a", 1, "2020-01-01")] * 5
    rows += [("one", "elsewhere", 1, "2020-01-01")] * 5
    by = Plan(aggregates=(Count(),), by=(Categories(Text("g")),))
    found, whole = _read(_frame(rows), by, _agreed(), tmp_path / "2.duckdb")
    assert found == [5 * (whole // 2), 0, 0, 0]


def test_removing_one_person_leaves_all_others_as_they_were(tmp_path: Path) -> None:
    """Rows that are chosen by their place would change 190 of 200 others."""
    rows: list[tuple[object, str | None, int, str]] = [
        (f"p{person}", "abcd"[(person + row) % 4], person % 10, "2020-01-01")
        for person in range(200)
        for row in range(person % 9)
    ]
    plan = Plan(aggregates=(Count(),), by=(Categories(Text("g")),))
    everybody, whole = _read(_frame(rows), plan, _agreed(), tmp_path / "all.duckdb")
    for gone in (8, 17, 199):
        others = [row for row in rows if row[0] != f"p{gone}"]
        fewer, _ = _read(_frame(others), plan, _agreed(), tmp_path / f"{gone}.duckdb")
        of_one = [row for row in rows if row[0] == f"p{gone}"]
        weight = whole_weight(len(of_one), 5, whole.bit_length() - 1)
        theirs = [weight * sum(group == key for _, group, _, _ in of_one) for key in "abcd"]
        assert [a - b for a, b in zip(everybody, fewer, strict=True)] == theirs


@pytest.mark.parametrize("groups", [1, 2, 3, 4])
def test_who_keeps_to_the_groups_is_counted_whole_in_each(tmp_path: Path, groups: int) -> None:
    """OpenDP's truncate_num_groups keeps 2 of 3 allowed groups; here all of them stay, and G of more in all."""
    plan = Plan(aggregates=(Persons(),), by=(Categories(Text("g")),))
    for limit in (1, 2, 3, 4):
        rows: list[tuple[object, str | None, int, str]] = [
            ("one", key, 1, "2020-01-01") for key in "abcd"[:groups] for _ in range(3)
        ]
        path = tmp_path / f"{limit}.duckdb"
        found, whole = _read(_frame(rows), plan, _agreed(rows=12, groups=limit), path)
        share = whole if groups <= limit else limit * whole // groups
        assert found == [share] * groups + [0] * (4 - groups)


def test_a_person_of_each_period_is_bounded_by_itself(tmp_path: Path) -> None:
    rows: list[tuple[object, str | None, int, str]] = [("one", "a", 1, "2020-01-01")] * 9
    rows += [("one", "a", 1, "2020-01-31")] * 1 + [("one", "a", 1, "2020-02-01")] * 3
    by_month = _agreed(period=", period: month, date: d")
    (found,), whole = _read(_frame(rows), Plan(aggregates=(Count(),)), by_month, tmp_path / "1.duckdb")
    assert found == 10 * (5 * whole // 10) + 3 * whole


def test_persons_of_any_type_are_told_apart_and_those_that_are_no_number_are_nobody(tmp_path: Path) -> None:
    rows: list[tuple[object, str | None, int, str]] = [
        (person, "a", 1, "2020-01-01") for person in (1.0, 1.0, 2.5, float("nan"), None, float("inf"), -0.0, 0.0)
    ]
    frame = _frame(rows, pl.Float64)
    agreed = Contract.from_yaml(_CONTRACT.format(rows=5, groups=3, period="", kind="decimal, step: 0.5", most=100))
    (found,), whole = _read(frame, Plan(aggregates=(Count(),)), agreed, tmp_path / "1.duckdb")
    assert found == 6 * whole  # NaN names nobody; infinity may as well be a name
    (persons,), _ = _read(frame, Plan(aggregates=(Persons(),)), agreed, tmp_path / "2.duckdb")
    assert persons == 4  # −0 is 0
