"""Small queries, read as the questions that are written out by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.measure.expression import And, Case, Column, Compare, Constant, OneOf, Text
from discreet.measure.groups import Bins, Categories, Each
from discreet.query.question import GroupKey, Options, Order, Output, Question
from discreet.query.statistic import Mean, Persons, Present, Rank, Rows, Sum, Variance
from discreet.query.term import Asked, Key, Number, Operation
from tests.query.places import question

AGE, COST, REGION = Column("age"), Column("cost"), Text("region")


def one(number: int) -> Constant:
    return Constant(Fraction(number))


def test_counts_sums_and_means_with_where_group_having_and_order() -> None:
    asked = question(
        "SELECT region, COUNT(*) AS n, AVG(cost) FROM visits WHERE age >= 18 AND region IN ('south', 'north') "
        "GROUP BY region HAVING n > 10 ORDER BY 2 DESC, region LIMIT 5 OFFSET 1"
    )
    assert asked == Question(
        table="visits",
        statistics=(Rows(), Mean(COST)),
        outputs=(
            Output(name="region", term=Key(0)),
            Output(name="n", term=Asked(0)),
            Output(name="AVG(cost)", term=Asked(1)),
        ),
        by=(GroupKey(name="region", group=Categories(REGION)),),
        where=And((Compare(AGE, ">=", one(18)), OneOf(REGION, ("north", "south")))),
        having=Operation(">", Asked(0), Number(Fraction(10))),
        order=(Order(term=Asked(0), descending=True), Order(term=Key(0))),
        limit=5,
        offset=1,
    )


@pytest.mark.parametrize(
    ("text", "statistic"),
    [
        ("COUNT(*)", Rows()),
        ("COUNT(1)", Rows()),
        ("COUNT(cost)", Present(COST)),
        ("COUNT(remark)", Present(Text("remark"))),
        ("COUNT(DISTINCT patient)", Persons()),
        ("SUM(cost)", Sum(COST)),
        ("MEDIAN(cost)", Rank(COST, Fraction(1, 2))),
        ("MEDIAN(visited)", Rank(Column("visited"), Fraction(1, 2))),
        ("MAX(seen)", Rank(Column("seen"), Fraction(1), "max")),
        ("VAR(cost)", Variance(COST)),
        ("SUM(CASE WHEN age > 3 THEN 1 ELSE 0 END)", Sum(Case(((Compare(AGE, ">", one(3)), one(1)),), one(0)))),
        ("COUNT(*) FILTER (WHERE age > 3)", Present(Case(((Compare(AGE, ">", one(3)), one(1)),)))),
    ],
)
def test_aggregates(text: str, statistic: object) -> None:
    assert question(f"SELECT {text} FROM visits").statistics == (statistic,)


def test_keys_of_many_kinds() -> None:
    years = question("SELECT year(visited), COUNT(*) FROM visits GROUP BY 1").by
    edges = tuple(map(Fraction, (18262, 18628, 18993)))
    words = Fraction(2020), Fraction(2021)
    assert years == (GroupKey(name="YEAR(visited)", group=Bins(Column("visited"), edges), words=words),)
    assert question("SELECT age, COUNT(*) FROM visits GROUP BY ALL").by == (GroupKey(name="age", group=Each(AGE)),)
    assert question("SELECT remark, COUNT(*) FROM visits GROUP BY remark").by == (
        GroupKey(name="remark", text=Text("remark")),
    )


def test_options_of_the_dialect() -> None:
    text = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5, delta = 1e-9) COUNT(*) FROM visits"
    assert question(text).options == Options(epsilon="0.5", delta="1e-9")
    assert question("SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM visits").options == Options()
