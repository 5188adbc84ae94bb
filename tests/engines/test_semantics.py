"""What expressions mean to an engine: the facts that the layers above build on. Security row S7.

The table says in particular that clamping by least and greatest alone would send NaN to the upper bound and null to
the lower one, that a double rounds to the even integer and a decimal away from zero, and that text becomes an integer
by rounding. Division by zero is not in it: versions of DuckDB differ (null before 2.0, an error since), so a
generated SELECT always divides by NULLIF(x, 0).
"""

from __future__ import annotations

import pytest

from tests.engines.stages import Columns, Stage, select

_NAN, _INF = "CAST('nan' AS DOUBLE)", "CAST('inf' AS DOUBLE)"

MEANINGS = (
    # least and greatest skip nulls; NaN is the largest value there is
    ("greatest(1, NULL)", "1"),
    ("least(1, NULL)", "1"),
    ("greatest(CAST(NULL AS INT), NULL)", None),
    ("least(5, greatest(2, NULL))", "2"),
    ("greatest(2, least(5, NULL))", "5"),
    (f"greatest({_NAN}, 5)", "nan"),
    (f"least({_NAN}, 5)", "5.0"),
    (f"least(5, greatest(2, {_NAN}))", "5.0"),
    (f"greatest(2, least(5, {_NAN}))", "5.0"),
    (f"least(5, greatest(2, {_INF}))", "5.0"),
    (f"least(5, greatest(2, -{_INF}))", "2.0"),
    (f"CASE WHEN {_NAN} < 2 THEN 2 WHEN {_NAN} > 5 THEN 5 ELSE 0 END", "5"),
    ("CASE WHEN CAST(NULL AS DOUBLE) < 2 THEN 2 WHEN CAST(NULL AS DOUBLE) > 5 THEN 5 ELSE 0 END", "0"),
    # NaN, the infinities, minus zero
    (f"{_NAN} = {_NAN}", "true"),
    (f"{_NAN} > {_INF}", "true"),
    (f"{_NAN} BETWEEN 0 AND 1", "false"),
    (f"isnan({_NAN})", "true"),
    (f"isinf(-{_INF})", "true"),
    ("CAST('-0.0' AS DOUBLE) = 0", "true"),
    ("sign(CAST('-0.0' AS DOUBLE))", "0"),
    # casts
    (f"TRY_CAST({_NAN} AS BIGINT)", None),
    (f"TRY_CAST({_INF} AS BIGINT)", None),
    ("TRY_CAST(1e19 AS BIGINT)", None),
    ("TRY_CAST('nan' AS DECIMAL(18,2))", None),
    ("TRY_CAST(' 7 ' AS BIGINT)", "7"),
    ("TRY_CAST('7.5' AS BIGINT)", "8"),
    ("TRY_CAST('8.5' AS BIGINT)", "9"),
    ("TRY_CAST('1e3' AS BIGINT)", "1000"),
    ("TRY_CAST('x7' AS BIGINT)", None),
    ("TRY_CAST('' AS BIGINT)", None),
    ("TRY_CAST('9223372036854775808' AS BIGINT)", None),
    ("TRY_CAST(300 AS TINYINT)", None),
    ("TRY_CAST('yes' AS BOOLEAN)", "true"),
    ("CAST(TRUE AS INT)", "1"),
    ("CAST(CAST(2.5 AS DOUBLE) AS BIGINT)", "2"),
    ("CAST(CAST(3.5 AS DOUBLE) AS BIGINT)", "4"),
    ("CAST(CAST(-2.5 AS DOUBLE) AS BIGINT)", "-2"),
    ("CAST(CAST(2.5 AS DECIMAL(4,1)) AS BIGINT)", "3"),
    ("CAST(CAST(-2.5 AS DECIMAL(4,1)) AS BIGINT)", "-3"),
    ("CAST(CAST(1.005 AS DECIMAL(4,3)) AS DECIMAL(4,2))", "1.01"),
    ("round(CAST(2.5 AS DOUBLE))", "3.0"),
    ("floor(CAST(-2.5 AS DOUBLE))", "-3.0"),
    ("CAST('9223372036854775808' AS HUGEINT) * 2", "18446744073709551616"),
    ("0.1 + 0.2 = 0.3", "true"),
    # whole division cuts towards zero, and the remainder has the sign of the dividend
    ("-7 // 2", "-3"),
    ("-7 % 2", "-1"),
    ("7 % -2", "1"),
    ("7 // NULLIF(0, 0)", None),
    ("7 % NULLIF(0, 0)", None),
    # three-valued logic
    ("1 + NULL", None),
    ("NULL = NULL", None),
    ("NULL IS NOT DISTINCT FROM NULL", "true"),
    ("NULL AND FALSE", "false"),
    ("NULL OR TRUE", "true"),
    ("NOT NULL", None),
    ("1 IN (2, NULL)", None),
    ("1 IN (1, NULL)", "true"),
    ("1 NOT IN (2, NULL)", None),
    ("NULL BETWEEN 0 AND 1", None),
    ("NULL LIKE 'a%'", None),
    ("CASE WHEN NULL THEN 1 ELSE 2 END", "2"),
    ("coalesce(NULL, 3)", "3"),
    ("nullif(3, 3)", None),
    # text: compared by bytes, counted in characters
    ("'a' = 'A'", "false"),
    ("'a' = 'a '", "false"),
    ("'e\u0301' = '\u00e9'", "false"),
    ("'b' < 'B'", "false"),
    ("'' IS NULL", "false"),
    ("length('é')", "1"),
    ("trim(' a ')", "a"),
    ("'a' || NULL", None),
    ("concat('a', NULL)", "a"),
    # dates
    ("TRY_CAST('2023-02-29' AS DATE)", None),
    ("TRY_CAST('29/02/2024' AS DATE)", None),
    ("TRY_CAST('0000-01-01' AS DATE)", "0001-01-01 (BC)"),
    ("CAST(TIMESTAMP '2024-02-29 23:59:59.5' AS DATE)", "2024-02-29"),
    ("extract(year FROM DATE '2024-02-29')", "2024"),
    ("date_diff('day', DATE '2024-02-28', DATE '2024-03-01')", "2"),
)

AGGREGATES: tuple[tuple[str, str, list[object], str | None], ...] = (
    ("sum(x)", "BIGINT", [], None),
    ("sum(x)", "BIGINT", [None, None], None),
    ("sum(x)", "BIGINT", [1, None], "1"),
    ("sum(x)", "DOUBLE", [float("nan"), 1.0], "nan"),
    ("count(*)", "BIGINT", [], "0"),
    ("count(*)", "BIGINT", [1, None], "2"),
    ("count(x)", "BIGINT", [1, None], "1"),
    ("count(x)", "DOUBLE", [float("nan")], "1"),
    ("count(DISTINCT x)", "BIGINT", [1, 1, None], "1"),
    ("count(DISTINCT x)", "DOUBLE", [float("nan"), float("nan")], "1"),
    ("count(DISTINCT x)", "DOUBLE", [0.0, -0.0], "1"),
    ("count_if(x)", "BOOLEAN", [True, False, None], "1"),
    ("sum(CASE WHEN x THEN 1 ELSE 0 END)", "BOOLEAN", [True, False, None], "1"),
    ("avg(x)", "BIGINT", [1, 2, None], "1.5"),
    ("avg(x)", "BIGINT", [], None),
    ("min(x)", "BIGINT", [1, None], "1"),
    ("min(x)", "DOUBLE", [float("nan"), 1.0], "1.0"),
    ("max(x)", "DOUBLE", [float("nan"), float("inf")], "nan"),
    ("max(x)", "BIGINT", [], None),
    ("bool_and(x)", "BOOLEAN", [True, None], "true"),
    ("bool_and(x)", "BOOLEAN", [], None),
)


def _text(stage: Stage, columns: Columns, expression: str) -> str | None:
    query = select(f"SELECT CAST({expression} AS VARCHAR) FROM rows")
    ((found,),) = stage.open(columns).texts(query).reveal(to="keeper")
    return found


@pytest.mark.parametrize(("expression", "meaning"), MEANINGS)
def test_an_expression_means_what_the_layers_above_believe(stage: Stage, expression: str, meaning: str | None) -> None:
    assert _text(stage, {"x": ("INTEGER", [1])}, expression) == meaning


@pytest.mark.parametrize(("expression", "kind", "values", "meaning"), AGGREGATES)
def test_an_aggregate_means_what_the_layers_above_believe(
    stage: Stage, expression: str, kind: str, values: list[object], meaning: str | None
) -> None:
    assert _text(stage, {"x": (kind, values)}, expression) == meaning


def test_nan_is_one_group_and_comes_last(stage: Stage) -> None:
    engine = stage.open({"x": ("DOUBLE", [float("nan"), 1.0, float("nan"), float("inf"), None, -0.0, 0.0])})
    groups = engine.texts(
        select("SELECT CAST(x AS VARCHAR), CAST(COUNT(*) AS VARCHAR) FROM rows GROUP BY x ORDER BY x NULLS FIRST")
    ).reveal(to="keeper")
    assert [(str(value).removeprefix("-"), size) for value, size in groups] == [
        ("None", "1"),
        ("0.0", "2"),
        ("1.0", "1"),
        ("inf", "1"),
        ("nan", "2"),
    ]
