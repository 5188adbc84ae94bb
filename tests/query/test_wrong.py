"""Wrong queries and parameters: each message says where, what was found and what to do, in words of the reader's."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from discreet.curator import Curator
from discreet.errors import DiscreetError
from tests.query.offices import contract, office

# A query, and what its refusal says: the place, what was found there, and the nearest thing that works.
QUERIES: tuple[tuple[str, str, str, str], ...] = (
    ("", "query", "nothing", "SELECT COUNT(*)"),
    ("SELEC COUNT(*) FROM people", "line 1, column 1", "no SELECT", "compare"),
    ("SELECT COUNT(*)", "line 1", "no FROM", "FROM a table"),
    ("SELECT COUNT(*) FROM peple", "line 1, column 22", "'peple'", "people"),
    ("SELECT COUNT(*) FROM people WHERE", "line 1", "ends after 'WHERE'", "compare"),
    ("SELECT COUNT(* FROM people", "line 1", "not expected", "compare"),
    ("SELECT COUNT(*)) FROM people", "line 1, column 16", "')'", "compare"),
    ("SELECT AVG(agee) FROM people", "line 1, column 12", "'agee'", "did you mean age"),
    ("SELECT AVG(age)\nFROM people\nWHERE cots > 3", "line 3, column 7", "'cots'", "did you mean cost"),
    ("SELECT AVG(people.agee) FROM people", "column 19", "'agee'", "age"),
    ("SELECT AVG(folk.age) FROM people", "line 1, column 12", "'folk'", "people"),
    ("SELECT AVG(region) FROM people", "line 1, column 12", "'region', a category", "CASE WHEN"),
    ("SELECT SUM(town) FROM people", "line 1, column 12", "'town', a text", "CASE WHEN"),
    ("SELECT SUM(born) FROM people", "line 1, column 12", "'born'", "DATE '2020-01-01'"),
    ("SELECT AVG(length) FROM people", "column 'length'", "no bounds", "declare low and high"),
    ("SELECT COUNT(*) FROM people WHERE length > 3", "column 'length'", "no bounds", "declare low and high"),
    ("SELECT length, COUNT(*) FROM people GROUP BY length", "column 'length'", "no bounds", "declare low and high"),
    ("SELECT AVG(who) FROM people", "line 1, column 12", "'who', which tells persons apart", "COUNT(DISTINCT who)"),
    ("SELECT COUNT(who) FROM people", "line 1, column 14", "'who'", "COUNT(DISTINCT who)"),
    ("SELECT COUNT(*) FROM people WHERE who = 'x'", "line 1, column 35", "'who'", "COUNT(DISTINCT who)"),
    ("SELECT who, COUNT(*) FROM people GROUP BY who", "line 1, column 43", "'who'", "COUNT(DISTINCT"),
    ("SELECT COUNT(*) FROM people WHERE passport = 'x'", "'passport'", "a direct identifier", "count persons"),
    ("SELECT AVG(secret) FROM people", "line 1, column 12", "there is no column 'secret'", "public"),
    ("SELECT COUNT(*) FROM people WHERE region = 'nort'", "'region'", "no key 'nort'", "did you mean north"),
    ("SELECT COUNT(*) FROM people WHERE region IN ('east', 'wst')", "'region'", "'wst'", "east"),
    ("SELECT COUNT(*) FROM people WHERE region < 'north'", "'region'", "compared by <", "IN or LIKE"),
    ("SELECT COUNT(*) FROM people WHERE age = 'old'", "line 1, column 35", "the text 'old'", "remove the quotes"),
    ("SELECT COUNT(*) FROM people WHERE born > 'spring'", "line 1, column 35", "'spring', which is no date", "2020"),
    ("SELECT COUNT(*) FROM people WHERE born > '2020-02-30'", "column 35", "'2020-02-30'", "'2020-12-31'"),
    ("SELECT COUNT(*) FROM people WHERE age = NULL", "line 1, column 35", "comparison with NULL", "IS NULL"),
    ("SELECT COUNT(*) FROM people WHERE age IN (1, NULL)", "column 35", "NULL in a list", "IS NULL"),
    ("SELECT COUNT(*) FROM people WHERE age IN (SELECT 1)", "column 50", "IN with a SELECT", "a list of values"),
    ("SELECT COUNT(*) FROM people WHERE age", "line 1, column 35", "'age'", "age >= 18"),
    ("SELECT COUNT(*) FROM people WHERE town ILIKE 'a%'", "line 1, column 35", "ILIKE", "LIKE"),
    ("SELECT COUNT(*) FROM people WHERE age LIKE '1%'", "line 1, column 35", "'age'", "LIKE 'n%'"),
    ("SELECT COUNT(*) FROM people WHERE LOWER(town) = 'a'", "line 1, column 35", "'LOWER'", "did you mean"),
    ("SELECT SUM(age / cost) FROM people", "line 1, column 12", "differs from row to row", "SUM(a) / SUM(b)"),
    ("SELECT SUM(age / 0) FROM people", "line 1, column 12", "a division by 0", "divide"),
    ("SELECT SUM(age % 2) FROM people", "line 1, column 16", "'%'", "plain SQL"),
    ("SELECT SUM(SQRT(age)) FROM people", "line 1, column 12", "SQRT over the values of one row", "aggregate"),
    ("SELECT SUM(POWER(age, 9)) FROM people", "line 1, column 23", "the power 9", "x * x"),
    ("SELECT SUM(POWER(cost, 3) * POWER(cost, 3) * POWER(age, 3) * POWER(age, 3)) FROM people",
     "line 1", "64 bits may not hold", "clamp"),
    ("SELECT SUM(AVG(age)) FROM people", "line 1, column 12", "an aggregate within an aggregate", "arithmetic"),
    ("SELECT SUM(DISTINCT age) FROM people", "line 1, column 21", "DISTINCT in a sum", "COUNT(DISTINCT"),
    ("SELECT COUNT(DISTINCT town) FROM people", "'town'", "no public keys", "declare it as a category"),
    ("SELECT COUNT(DISTINCT age, sex) FROM people", "line 1, column 23", "several columns", "name one column"),
    ("SELECT QUANTILE_CONT(age, 1.5) FROM people", "line 1, column 27", "1.5", "between 0 and 1"),
    ("SELECT QUANTILE_CONT(age) FROM people", "line 1", "", "QUANTILE_CONT(x, 0.5)"),
    ("SELECT MODE(town) FROM people", "line 1, column 13", "no column's public ones", "GROUP BY|group by"),
    ("SELECT APPROX_TOP_K(region, 0) FROM people", "line 1, column 29", "no key at all", "write 3"),
    ("SELECT APPROX_TOP_K(region, 9) FROM people", "count", "9 of 3 keys", "3 or fewer"),
    ("SELECT ARG_MAX(region, age) FROM people", "line 1, column 24", "the one row", "ARG_MAX(key, SUM(value))"),
    ("SELECT REGR_SLOPE(age, cost) FROM people", "line 1, column 8", "'REGR_SLOPE'", "COUNT"),
    ("SELECT SUM(age) OVER () FROM people", "line 1, column 8", "a window function", "group by"),
    ("SELECT age FROM people", "line 1, column 8", "neither summed nor a key", "AVG(age)"),
    ("SELECT * FROM people", "line 1, column 8", "all columns at once", "COUNT(*)"),
    ("SELECT DISTINCT region FROM people", "line 1", "SELECT DISTINCT", "GROUP BY"),
    ("SELECT region FROM people GROUP BY region", "line 1", "nothing that is counted or summed", "COUNT(*)"),
    ("SELECT sex, COUNT(*) FROM people GROUP BY region", "line 1, column 8", "'sex'", "GROUP BY sex"),
    ("SELECT COUNT(*) FROM people GROUP BY 3", "line 1, column 38", "place 3 of 1", "name the column"),
    ("SELECT COUNT(*) FROM people ORDER BY 2", "line 1, column 38", "place 2 of 1", "name the column"),
    ("SELECT COUNT(*) FROM people LIMIT 2.5", "line 1, column 35", "no whole number", "write 10"),
    ("SELECT COUNT(*) FROM people HAVING town = 'arle'", "line 1", "'town'", "GROUP BY town"),
    ("SELECT cost, born, COUNT(*) FROM people GROUP BY cost, born, age", "groups", "cells", "fewer or coarser"),
    ("SELECT COUNT(*) AS n, SUM(age) AS n FROM people", "line 1, column 23", "two columns 'n'", "rename"),
    ("SELECT COUNT(*) FROM people UNION SELECT 1", "line 1", "UNION", "each by itself"),
    ("SELECT COUNT(*) FROM people; SELECT 1", "line 1, column 28", "a second statement", "by itself"),
    ("SELECT COUNT(*) FROM people CROSS JOIN people AS p", "line 1", "CROSS join|cross join", "USING"),
    ("SELECT COUNT(*) FROM people JOIN people AS p USING (who)", "line 1", "itself", "write JOIN"),
    ("SELECT COUNT(*) FROM people LIMIT 3 OFFSET x", "line 1, column 44", "no whole number", "write 10"),
    ("SELECT AVG(n) FROM (SELECT region, COUNT(*) AS n FROM people GROUP BY region)",
     "line 1, column 8", "an aggregate of aggregates", "aggregate once"),
    ("SELECT COUNT(*) FROM (SELECT age FROM people LIMIT 3)", "line 1", "LIMIT on rows", "leave it out"),
    ("SELECT COUNT(*) FROM (SELECT agee FROM people)", "line 1, column 30", "'agee'", "did you mean age"),
    ("SELECT COUNT(*) FROM people WHERE town = 'it's'", "line 1", "", "compare"),
    ("SELECT COUNT(*) FROM people WHERE age > 3 AND", "line 1", "", "compare"),
    ("SELECT COUNT(*) FROM people WHERE age > ?", "line 1, column 41", "'?'", "plain SQL"),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilom = 1) COUNT(*) FROM people",
     "line 1, column 43", "'epsilom', not known", "epsilon"),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, epsilon = 2) COUNT(*) FROM people",
     "line 1, column 56", "'epsilon', given twice", "give it once"),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = one) COUNT(*) FROM people", "line 1", "OPTIONS", "compare"),
)  # fmt: skip
# What is given beside the text, and what its refusal says.
PARAMETERS: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({}, "neither epsilon nor rho", "epsilon 0.5"),
    ({"epsilon": 0}, "0", "epsilon"),
    ({"epsilon": -1}, "-1", "epsilon"),
    ({"epsilon": "nan"}, "nan", "epsilon"),
    ({"epsilon": "inf"}, "inf", "epsilon"),
    ({"epsilon": float("nan")}, "nan", "epsilon"),
    ({"epsilon": "much"}, "'much'", "epsilon"),
    ({"epsilon": "1e400000000"}, "1e400000000", "epsilon"),
    ({"epsilon": None, "rho": None}, "neither", "epsilon 0.5"),
    ({"epsilon": 1, "rho": 1}, "both", "epsilon"),
    ({"rho": 1}, "an account in ε", "epsilon 0.5"),
    ({"epsilon": 1, "delta": 1}, "1", "delta"),
    ({"epsilon": 1, "delta": -0.5}, "-0.5", "delta"),
    ({"epsilon": 1, "delta": "x"}, "'x'", "delta"),
    ({"epsilon": [1]}, "[1]|list", "epsilon"),
    ({"epsilon": True}, "bool", "epsilon"),
    ({"epsilon": 1e-30}, "so little", "at least 1e-15"),
    ({"epsilon": 2000}, "2000", "ask|less|lower|left"),
    ({"epsilon": 1, "analyst": "nobody"}, "nobody", "account|analyst"),
    ({"epsilon": 1, "project": "nothing"}, "nothing", "account|project"),
)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Curator]:
    further = "  passport: {type: text, role: direct identifier}\n  length: {type: integer}\n"
    further += "  secret: {type: integer, low: 0, high: 1, role: hidden}\n"
    plain = contract(unit="{person: who, rows: 2, groups: 2}")
    under = type(plain).from_yaml(plain.to_yaml() + further)
    made = office(Path(tmp_path_factory.mktemp("people")), ROWS, under=under)
    yield made
    made.ledger.close()


ROWS = tuple(
    {
        "who": f"p{at}",
        "region": "east",
        "sex": "f",
        "age": 7_351 + at,
        "cost": 4_711.5,
        "town": "Kanarienvogel",
        "born": "1993-06-15",
        "passport": "X-0815",
        "length": 31_337,
        "secret": 1,
    }
    for at in range(4)
)
_CANARIES = re.compile(r"735[1-5]|4711|Kanarienvogel|0815|31337|1993-06|p[0-3]\b")


@cache
def _internal() -> frozenset[str]:
    """Names that only those know who read the source: of functions and classes with two words, and of modules."""
    found = {"sqlglot", "duckdb", "pydantic", "sqlalchemy", "numpy", "Traceback", "NoneType", "dataclass", "exp."}
    for package in ("query", "query.sql", "measure"):
        module = import_module(f"discreet.{package}")
        for one in pkgutil.iter_modules(module.__path__):
            inside = import_module(f"discreet.{package}.{one.name}")
            names = [
                name for name, value in vars(inside).items() if inspect.isfunction(value) or inspect.isclass(value)
            ]
            found |= {name for name in names if "_" in name.strip("_") or re.search("[a-z][A-Z]", name)}
    return frozenset(found)


def refusal(held: Curator, text: str, **given: Any) -> DiscreetError:
    with pytest.raises(DiscreetError) as refused:
        held.sql(text, **given).run()
    return refused.value


def require_plain(error: DiscreetError) -> None:
    """One line, without a name of ours and without a value of the data."""
    line = str(error)
    assert "\n" not in line
    assert len(line) < 600
    assert not [name for name in _internal() if re.search(rf"\b{re.escape(name)}\b", line)], line
    assert not _CANARIES.search(line), line
    assert error.found is not None
    assert error.right
    assert error.step


@pytest.mark.parametrize(
    ("text", "where", "found", "fix"), QUERIES, ids=[text[:60] or "nothing" for text, *_ in QUERIES]
)
def test_wrong_queries_are_told_where_what_and_how(held: Curator, text: str, where: str, found: str, fix: str) -> None:
    error = refusal(held, text, epsilon="0.5")
    require_plain(error)
    assert where in error.where, error
    assert re.search("|".join(map(re.escape, found.split("|"))), error.found), error
    assert any(one in f"{error.right} {error.step}" for one in fix.split("|")), error


@pytest.mark.parametrize(("given", "found", "fix"), PARAMETERS, ids=[str(given) for given, *_ in PARAMETERS])
def test_wrong_parameters_are_told_what_and_how(held: Curator, given: dict[str, Any], found: str, fix: str) -> None:
    error = refusal(held, "SELECT COUNT(*) FROM people", **given)
    require_plain(error)
    assert any(one in str(error) for one in found.split("|")), error
    assert any(one in str(error) for one in fix.split("|")), error


def test_there_are_enough() -> None:
    assert len({text for text, *_ in QUERIES}) + len(PARAMETERS) >= 60


def test_a_name_of_ours_turns_red() -> None:
    assert {"span_of", "require_answerable", "JoinedContract"} <= _internal()
