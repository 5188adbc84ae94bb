"""The checks in front of every engine: which trees are let through, and what no tree can smuggle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp, parse_one

from discreet.data.engines.statement import rendered
from discreet.errors import ArgumentError, InputError, UnknownNameError
from tests.engines.stages import select

GENERATED = (
    "SELECT COUNT(*), SUM(s0) FROM rows WHERE c0 >= 3 AND c1 IN ('a', 'b') OR NOT c2 IS NULL",
    "SELECT c0, COUNT(*) FROM rows GROUP BY c0 HAVING COUNT(*) > 1 ORDER BY 2 DESC NULLS LAST LIMIT 5 OFFSET 1",
    "SELECT SUM(CASE WHEN s0 > 5 THEN 5 WHEN s0 < 0 THEN 0 ELSE s0 END) FROM rows",
    "WITH groups AS (SELECT c0, COUNT(*) AS n FROM rows GROUP BY c0) SELECT n, COUNT(*) FROM groups GROUP BY n",
    "SELECT COUNT(*) FROM (SELECT DISTINCT c0, c1 FROM rows) AS t",
    "SELECT r.c0 FROM rows AS r LEFT JOIN (VALUES (1), (2)) AS k(v) ON r.c0 = k.v",
    "SELECT c0 FROM rows UNION ALL SELECT c1 FROM rows",
    "SELECT COUNT(*) FROM rows GROUP BY GROUPING SETS ((c0), (c0, c1), ())",
    "SELECT COUNT(*) FROM rows GROUP BY ROLLUP (c0, c1)",
    "SELECT ROW_NUMBER() OVER (PARTITION BY c0 ORDER BY hash(c1) ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    " FROM rows",
    "SELECT COUNT(*) FILTER (WHERE c0 > 1), COUNT(DISTINCT c1), MIN(c0), MAX(c0) FROM rows",
    "SELECT CAST(c0 AS HUGEINT) * 2, TRY_CAST(c1 AS DECIMAL(18,2)), c0 // 3, c0 % 3 FROM rows",
    "SELECT LEAST(5, GREATEST(1, COALESCE(c0, 1))), ABS(c0), NULLIF(c0, 0), c0 IS NOT DISTINCT FROM c1 FROM rows",
    "SELECT EXTRACT(year FROM c0), DATE_TRUNC('month', c0), DATE_DIFF('day', c0, DATE '2024-02-29') FROM rows",
    "SELECT LENGTH(c1), LOWER(TRIM(c1)), c1 LIKE 'a%', c1 || 'x', REGEXP_FULL_MATCH(c1, '[a-z]+') FROM rows",
)
REFUSED = (
    "SELECT c0 INTO other FROM rows",
    "SELECT c0 FROM rows FOR UPDATE",
    "SELECT c0 FROM memory.main.rows",
    "SELECT c0 FROM main.rows",
    "SELECT c0 FROM rows AT (VERSION => 3)",
    "SELECT ?",
    "SELECT $1 FROM rows",
    "SELECT c0 FROM rows, LATERAL (SELECT 1) AS t",
    "SELECT c0 FROM rows POSITIONAL JOIN rows AS r",
    "SELECT DISTINCT ON (c0) c0, c1 FROM rows",
    "SELECT MAX(rowid) FROM rows",
    "SELECT COUNT(*) FROM rows AS r ASOF JOIN rows AS t ON r.c0 >= t.c0",
    "SELECT c0 FROM rows WHERE c0 = (SELECT MAX(c0) FROM duckdb_settings)",
    "SELECT c0 FROM rows WHERE EXISTS (SELECT 1 FROM 'x.csv')",
    'WITH "x.csv" AS (SELECT 1 AS c0) SELECT c0 FROM "x.csv"',
    "WITH duckdb_settings AS (SELECT 1 AS name) SELECT name FROM duckdb_settings",
    "SELECT (SELECT 1 AS c0 FROM sqlite_master) FROM rows",
    "SELECT c0 FROM rows WHERE c0 IN (FROM elsewhere)",
    "SELECT lpad(c1, 1000000000, 'x') FROM rows",
    "SELECT repeat(c1, c0) FROM rows",
    "SELECT replace(c1, 'a', c1) FROM rows",
    "SELECT error(c1) FROM rows",
    "SELECT random() FROM rows",
    "SELECT now() FROM rows",
    "SELECT list_transform([1], x -> x) FROM rows",
    "SELECT c1[1:2] FROM rows",
    "SELECT {'a': c1} FROM rows",
)


def _rendered(tree: exp.Query) -> str:
    return rendered(tree, dialect="duckdb", tables=["rows"])


@pytest.mark.parametrize("text", GENERATED)
def test_a_generated_select_passes_and_means_the_same(text: str) -> None:
    out = _rendered(select(text))
    assert parse_one(out, dialect="duckdb") == parse_one(
        select(text).sql(dialect="duckdb", identify=True), dialect="duckdb"
    )
    assert _rendered(select(out)) == out


@pytest.mark.parametrize("text", REFUSED)
def test_what_no_plan_needs_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        _rendered(select(text))


@pytest.mark.parametrize("root", ["INSERT INTO rows VALUES (1)", "CREATE TABLE t AS SELECT 1", "(SELECT 1)", "rows"])
def test_the_root_is_one_select(root: str) -> None:
    with pytest.raises(ArgumentError, match="one SELECT or one set operation"):
        rendered(parse_one(root, dialect="duckdb"), dialect="duckdb", tables=["rows"])  # type: ignore[arg-type]


def test_an_unknown_table_is_named_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="did you mean rows"):
        _rendered(select("SELECT c0 FROM row"))


@given(name=st.text(min_size=1, max_size=40).filter(lambda text: "\x00" not in text))
def test_a_name_stays_a_name_whatever_it_holds(name: str) -> None:
    """Quoted as a column, a string or an alias, no text becomes anything else when it is read again."""
    tree = exp.select(
        exp.column(exp.to_identifier(name, quoted=True)),
        exp.alias_(exp.Literal.string(name), exp.to_identifier("a" + name, quoted=True)),
    ).from_("rows")
    again = parse_one(_rendered(tree), dialect="duckdb")
    assert isinstance(again, exp.Select)
    first, second = again.expressions
    assert isinstance(first, exp.Column)
    assert (first.name, second.this.this, second.alias) == (name, name, "a" + name)


def test_a_comment_is_dropped() -> None:
    tree = select("SELECT c0 FROM rows")
    tree.add_comments(["*/ DROP TABLE rows; /*"])
    assert "DROP" not in _rendered(tree)


@pytest.mark.parametrize("number", ["1); DROP TABLE rows", "1 FROM duckdb_settings", "", "-1", "0x10", "nan"])
def test_a_number_is_a_number(number: str) -> None:
    with pytest.raises(ArgumentError, match="raw text"):
        _rendered(exp.select(exp.Literal.number(number) if number != "-1" else exp.Literal(this="-1", is_string=False)))


def test_a_refusal_does_not_repeat_the_tree() -> None:
    with pytest.raises(ArgumentError) as caught:
        _rendered(select("SELECT getenv('canary-4711') FROM rows"))
    assert "canary" not in str(caught.value)
