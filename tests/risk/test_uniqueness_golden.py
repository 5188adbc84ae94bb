"""Known numbers: the sources' small tables, Adult and the ACS excerpt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import pytest

from discreet.data.engines.duckdb import DuckDBEngine
from discreet.data.table import StoredTable
from discreet.risk.classes import count_classes
from discreet.risk.combinations import count_combinations
from discreet.risk.diversity import measure_diversity
from discreet.risk.growth import count_growth
from tests.risk.stored import DATA, EXAMPLES, example, stored, stored_file

KNOWN = ("age", "workclass", "education_num", "marital_status", "occupation", "race", "sex", "native_country")
AGES = {"20": 1, "21": 6, "22": 4, "23": 4, "24": 1, "25": 2, "26": 1, "27": 4, "31": 1}
ACS = ["PUMA", "AGEP", "SEX", "RAC1P", "HISP", "MSP", "EDU", "NPF", "OWN_RENT", "INDP"]
ACS_UNIQUE = [0.0000, 0.0010, 0.0068, 0.1051, 0.1563, 0.2972, 0.5526, 0.7189, 0.7669, 0.8806]
ACS_BELOW_5 = [0.0000, 0.0182, 0.1104, 0.3861, 0.4429, 0.6545, 0.8624, 0.9465, 0.9584, 0.9860]

Opened = tuple[DuckDBEngine, StoredTable]


@pytest.fixture(scope="module")
def adult() -> Iterator[Opened]:
    with stored_file(f"'{DATA / 'adult.parquet'}'", (*KNOWN, "income")) as opened:
        yield opened


@pytest.mark.requirement("1.03")
def test_ages_of_24_students() -> None:
    with example("student_survey.csv") as (engine, table):
        alone = count_classes(engine, table, ["age"])
    ages = [line.split(",")[0] for line in (EXAMPLES / "student_survey.csv").read_text().splitlines()[1:]]
    assert Counter(ages) == AGES
    assert dict(alone.sizes) == Counter(AGES.values())
    assert alone.records == 24
    assert Fraction(alone.unique, alone.records) == Fraction(4, 24)


@pytest.mark.requirement("1.04")
def test_sex_and_age_single_out_seven() -> None:
    with example("student_survey.csv") as (engine, table):
        both = count_classes(engine, table, ["sex", "age"])
    assert both.count == 13
    assert both.unique == 7
    assert both.unique_share == pytest.approx(0.2916667, abs=5e-8)


@pytest.mark.requirement("1.05")
def test_uniqueness_grows_with_columns() -> None:
    with example("student_survey.csv") as (engine, table):
        growth = count_growth(engine, table, ["sex", "age", "start", "worst_grade", "siblings"])
    assert [step.unique for step in growth[1:]] == [7, 15, 16, 18]
    assert [Fraction(step.unique, step.records) for step in growth[2:]] == [
        Fraction(5, 8),
        Fraction(2, 3),
        Fraction(3, 4),
    ]


@pytest.mark.requirement("2.05")
def test_four_anonymous_table() -> None:
    with example("four_anonymous.csv") as (engine, table):
        classes = count_classes(engine, table, ["zip_code", "age"])
        named = count_classes(engine, table, ["id"])
    assert classes.k == 4
    assert classes.sizes == ((4, 2),)
    assert named.k == 1


@pytest.mark.parametrize(("name", "k", "spread"), [("a", 4, {3: 2, 1: 1}), ("b", 6, {4: 1, 3: 1})])
def test_k_says_nothing_of_the_condition(name: str, k: int, spread: dict[int, int]) -> None:
    with example(f"hospital_{name}.csv") as (engine, table):
        known = ["zip_code", "age", "nationality"]
        assert count_classes(engine, table, known).k == k
        diversity = measure_diversity(engine, table, known, "condition")
    assert {distinct: classes for distinct, classes, _ in diversity.spread} == spread
    assert diversity.distinct_l == min(spread)
    assert diversity.given_away == (4 if name == "a" else 0)


@pytest.mark.requirement("0.01")
def test_adult_classes_and_unique_records(adult: Opened) -> None:
    classes = count_classes(*adult, KNOWN)
    assert (classes.records, classes.count, classes.unique, classes.k) == (48_842, 27_118, 20_593, 1)
    assert (classes.below(3), classes.below(5)) == (26_939, 33_015)


def test_adult_income_is_given_away(adult: Opened) -> None:
    income = measure_diversity(*adult, KNOWN, "income")
    assert income.distinct_l == 1
    assert income.entropy_l == 1.0
    assert income.t_equal == pytest.approx(0.7607, abs=5e-5)
    assert income.t_ordered is None


def test_special_uniques_of_all_sizes_are_the_unique_records(adult: Opened) -> None:
    """With sets up to all columns, a record has a special unique exactly when it is unique."""
    engine, table = adult
    known = KNOWN[:5]
    classes = count_classes(engine, table, known)
    found = count_combinations(engine, table, known, records=classes.records, largest=5)
    assert found.special == classes.unique > 0
    assert (
        dict(zip((one.columns for one in found.riskiest), found.riskiest, strict=True))[known].unique == classes.unique
    )


@pytest.mark.requirement("1.06")
def test_acs_excerpt_growth() -> None:
    with stored_file(f"read_csv('{DATA / 'acs_excerpt_national2019.csv'}', all_varchar=true)", ACS) as (engine, table):
        growth = count_growth(engine, table, ACS)
    assert growth[-1].records == 27_253
    assert [round(step.unique_share, 4) for step in growth] == ACS_UNIQUE
    assert [round(step.below(5) / step.records, 4) for step in growth] == ACS_BELOW_5
    assert [step.unique for step in growth] == sorted(step.unique for step in growth)


def test_missing_is_a_value() -> None:
    with stored({"a": [None, None, 1], "b": ["x", None, None]}) as (engine, table):
        assert count_classes(engine, table, ["a"]).sizes == ((1, 1), (2, 1))
        assert count_classes(engine, table, ["a", "b"]).unique == 3
