"""Functions that are not defined everywhere tell nothing: whoever is in the table, a question has one outcome."""

from __future__ import annotations

import datetime
import re

import polars as pl
import pytest

from discreet.budget import population_of
from discreet.curator import Curator
from discreet.data.contract import Contract
from discreet.errors import DiscreetError
from discreet.query.answer import Answer

FACTS = """
table: t
unit: {unit}
budget: {{epsilon: 100000, delta: 0.01}}
columns:
  p: {{type: text, role: direct identifier}}
  x: {{type: integer, low: -10, high: 10}}
  y: {{type: decimal, step: 0.25, low: -1, high: 1}}
  s: {{type: text}}
  g: {{type: category, keys: [a, b]}}
  d: {{type: date, low: 2020-01-01, high: 2020-12-31}}
  m: {{type: datetime}}
  b: {{type: boolean}}
"""
# Each fails, or is not a number, for some value that the member has and others have not.
EXPRESSIONS = (
    "1 / x",
    "x / 0",
    "1 / (x - 7)",
    "x % 0",
    "x % (x - 7)",
    "x // (x - 7)",
    "SQRT(x)",
    "LN(x)",
    "LOG10(x - 7)",
    "LOG(2, x)",
    "POWER(x, 1000)",
    "POWER(0, x)",
    "EXP(x * 1000)",
    "ACOS(y * 2)",
    "ASIN(x)",
    "ATANH(x)",
    "TAN(x)",
    "COT(x - 7)",
    "GAMMA(x)",
    "FACTORIAL(x)",
    "x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x",
    "x << 100",
    "x * 9223372036854775807",
    "-x * 1e300",
    "CAST(s AS INTEGER)",
    "CAST(s AS DATE)",
    "CAST(x AS TINYINT) * 100",
    "s::DECIMAL(3, 2)",
    "STRPTIME(s, '%Y')",
    "ASCII(s)",
    "LENGTH(REPEAT(s, 1000000000))",
    "LENGTH(UNHEX(s))",
    "s[7]",
    "JSON_EXTRACT(s, '$.a')",
    "REGEXP_MATCHES(s, s)",
    "CHR(x - 8)",
    "MAKE_DATE(x, x, x)",
    "d + INTERVAL '1000000' YEAR",
    "DATE_DIFF('day', d, DATE '2020-02-30')",
    "DATE_DIFF('day', d, m)",
    "ERROR(s)",
    "CASE WHEN x = 7 THEN ERROR('member') ELSE 1 END",
    "CASE WHEN x = 7 THEN 1 / 0 ELSE 1 END",
    "COALESCE(1 / (x - 7), 0)",
    "NULLIF(x, 7) / NULLIF(x, 7)",
    "GREATEST(x, 1 / y)",
    "LIST_EXTRACT([1, 2], x)",
    "(SELECT MAX(x) FROM t)",
)
QUESTIONS = (
    *(f"SELECT SUM({one}) AS a FROM t" for one in EXPRESSIONS),
    *(f"SELECT COUNT(*) AS a FROM t WHERE {one} > 1" for one in EXPRESSIONS),
    "SELECT AVG(x) / (COUNT(*) - COUNT(*)) AS a FROM t",
    "SELECT STDDEV(y) AS a FROM t WHERE x = 7",
    "SELECT CORR(x, y) AS a FROM t WHERE x = 7",
    "SELECT AVG(y) AS a FROM t WHERE FALSE",
    "SELECT LN(SUM(x)) AS a FROM t",
    "SELECT MEDIAN(y) AS a FROM t WHERE x = 7",
    "SELECT g, AVG(x) AS a FROM t GROUP BY g HAVING AVG(x) > 1 / (COUNT(*) - COUNT(*))",
    "SELECT MODE(g) AS a FROM t WHERE s = 'seven'",
)
MEMBER = {
    "p": "member",
    "x": 7,
    "y": 1.0,
    "s": "seven",
    "g": "a",
    "d": datetime.date(2020, 12, 31),
    "m": datetime.datetime(9999, 12, 31, 23, 59, 59),
    "b": True,
}
OTHERS = [
    {
        "p": f"p{at}",
        "x": at % 5,
        "y": at / 40,
        "s": "20",
        "g": "ab"[at % 2],
        "d": datetime.date(2020, 1, 1 + at),
        "m": datetime.datetime(2020, 1, 1 + at),
        "b": False,
    }
    for at in range(12)
]


@pytest.fixture(scope="module", params=["row", "{person: p, rows: 2, groups: 2}"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Curator, Curator]:
    """Two curators whose tables differ in the member."""
    made = []
    for name, rows in (("with", [*OTHERS, MEMBER]), ("without", OTHERS)):
        place = tmp_path_factory.mktemp(name)
        curator = Curator(place / "office", heads=place / "heads")
        curator.add(pl.DataFrame(rows), name="t", contract=Contract.from_yaml(FACTS.format(unit=request.param)))
        made.append(curator)
    return made[0], made[1]


def outcome(curator: Curator, text: str) -> tuple[str, str, int]:
    """Status, body without its numbers, and what was charged."""
    agreed = curator.contract("t")
    assert agreed is not None
    key = population_of(agreed)
    before = curator.ledger.account(key).spent.loss
    try:
        body, status = _shape(curator.sql(text, epsilon="0.25").run()), "answered"
    except DiscreetError as error:
        body, status = str(error), type(error).__name__
    return status, body, curator.ledger.account(key).spent.loss - before


def _shape(answer: Answer) -> str:
    """The columns, without their noisy numbers, and all sentences."""
    keys = [(one.name, len(one.values), one.values if not one.measured else None) for one in answer.columns]
    return re.sub(r"entry \d+", "entry", repr((keys, answer.notes, answer.estimand, answer.cost.accounts)))


@pytest.mark.parametrize("text", QUESTIONS)
def test_partial_functions_tell_nothing(pair: tuple[Curator, Curator], text: str) -> None:
    """Refused before spending, or answered: the same words and the same charge with the member as without."""
    status, body, charged = outcome(pair[0], text)
    assert (status, body, charged) == outcome(pair[1], text)
    assert status in {"answered", "ArgumentError", "UnknownNameError"}
    assert charged == (250_000_000 if status == "answered" else 0)
    if status != "answered":
        assert "seven" not in body.replace(text, "")


def test_some_are_answered_and_most_are_refused(pair: tuple[Curator, Curator]) -> None:
    statuses = [outcome(pair[0], text)[0] for text in QUESTIONS]
    assert len(EXPRESSIONS) >= 40
    assert statuses.count("answered") >= 8
    assert len(statuses) - statuses.count("answered") >= 60
