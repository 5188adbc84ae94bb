"""Asking: estimates are free and exact, runs are charged once, and answers are right but for their noise."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.accounting.account import AccountKey, Kind
from discreet.accounting.amount import Amount
from discreet.accounting.events import Price
from discreet.budget import population_of
from discreet.curator import Curator
from discreet.errors import ArgumentError, BudgetError, UnknownNameError
from discreet.measure.expression import Column, Compare, Constant
from discreet.measure.noisy import Measurement
from discreet.query.question import Order, Output, Question
from discreet.query.statistic import Mean, Persons, Present, Rows, Sum, Variance
from discreet.query.term import Asked, Operation
from tests.query.offices import AGE, BY_REGION, PEOPLE, contract, office, question

OLD = Compare(AGE, ">=", Constant.of(40))
QUESTIONS = (
    question(Rows()),
    question(Rows(), Mean(AGE), Sum(Column("cost")), by=[BY_REGION]),
    question(Variance(AGE), Present(Column("born")), where=OLD),
    question(Persons(), Rows(), by=[BY_REGION]),
)


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Curator]:
    made = office(tmp_path)
    yield made
    made.ledger.close()


def spent(held: Curator) -> Amount:
    agreed = held.contract("people")
    assert agreed is not None
    return held.ledger.account(population_of(agreed)).spent


@pytest.mark.parametrize("unit", ["row", "{person: who, rows: 2, groups: 2}"])
@pytest.mark.parametrize(
    ("budget", "given"),
    [
        ("epsilon: 9, delta: 0.01", {"epsilon": "0.3"}),
        ("epsilon: 9, delta: 0.01", {"epsilon": "0.3", "delta": "1e-6"}),
        ("rho: 9, delta: 0.01", {"rho": "0.3"}),
        ("rho: 9, delta: 0.01", {"epsilon": "0.3"}),
        ("rho: 9, delta: 0.01", {"epsilon": "0.3", "delta": "1e-6"}),
    ],
)
def test_estimate_is_the_charge(tmp_path: Path, unit: str, budget: str, given: dict[str, Any]) -> None:
    """What an estimate says of each account is what the ledger takes, to the last digit."""
    held = office(tmp_path, under=contract(unit=unit, budget=budget))
    for number, asked in enumerate(QUESTIONS):
        batch = held.ask(asked, **given)
        line = batch.estimate().accounts[0]
        before = spent(held)
        (answer,) = batch.run()
        account = held.ledger.account(population_of(batch.contract))
        cost = before.left_of(account.spent)
        assert cost.text(account.currency) == line.charged == answer.cost.accounts[line.account], number
        assert account.left.text(account.currency) == line.after
        assert answer.receipt is not None
        assert not answer.cost.again


def test_what_is_charged_is_what_was_given(held: Curator) -> None:
    for asked in QUESTIONS:
        before = spent(held)
        held.ask(asked, epsilon="0.3").run()
        assert 0 <= before.loss + 300_000_000 - spent(held).loss <= 1


def test_estimates_and_dummies_touch_no_engine(held: Curator, monkeypatch: pytest.MonkeyPatch) -> None:
    def touched(*_: object) -> None:
        raise AssertionError("an engine was opened")

    monkeypatch.setattr(Curator, "lent", touched)
    for asked in QUESTIONS:
        batch = held.ask(asked, epsilon=1, delta="1e-6")
        estimate = batch.estimate()
        assert estimate.fits
        assert all(line.error for line in estimate.strategies)
        assert len(estimate.strategies) > len(estimate.taken) >= 1
        (first,), (second,) = batch.dummies(), held.ask(asked, epsilon=1, delta="1e-6").dummies()
        assert first.as_json() == second.as_json()
        assert first.dummy
    assert spent(held) == Amount()
    with pytest.raises(AssertionError, match="an engine was opened"):
        held.ask(QUESTIONS[0], epsilon=1).run()


def test_dummies_have_the_shape_of_answers(held: Curator) -> None:
    for asked in QUESTIONS:
        batch = held.ask(asked, epsilon=1)
        (dummy,), (answer,) = batch.dummies(), batch.run()
        assert [column.name for column in dummy.columns] == [column.name for column in answer.columns]
        assert [len(column.values) for column in dummy.columns] == [len(column.values) for column in answer.columns]
        assert [c.values for c in dummy.columns if not c.measured] == [
            c.values for c in answer.columns if not c.measured
        ]


def test_answers_are_those_of_plain_python(tmp_path: Path) -> None:
    """With so much epsilon that no noise is left, each number is what counting by hand gives."""
    held = office(tmp_path, under=contract(budget="epsilon: 100000, delta: 0.01"))
    (answer,) = held.ask(QUESTIONS[1], epsilon=40_000).run()
    frame = answer.frame
    assert frame["region"] == ["east", "north", "south"]
    for at, region in enumerate(frame["region"]):
        rows = [row for row in PEOPLE if row["region"] == region]
        assert frame["s0"][at] == len(rows)
        assert frame["s1"][at] == pytest.approx(sum(row["age"] for row in rows) / len(rows), abs=0.01)
        assert frame["s2"][at] == pytest.approx(sum(row["cost"] for row in rows), abs=0.5)
    (answer,) = held.ask(QUESTIONS[2], epsilon=40_000).run()
    ages = [row["age"] for row in PEOPLE if row["age"] >= 40]
    mean = sum(ages) / len(ages)
    variance = sum((age - mean) ** 2 for age in ages) / (len(ages) - 1)
    assert answer.frame["s0"] == pytest.approx([variance], rel=0.02)
    assert answer.frame["s1"] == [sum(1 for row in PEOPLE if row["age"] >= 40 and row["born"])]
    held.ledger.close()


def test_what_a_payer_paid_for_is_given_again_and_others_pay(held: Curator) -> None:
    for name in ("ann", "ben"):
        held.ledger.open_account(AccountKey(Kind.ANALYST, name), "pure", Price(loss=Fraction(1)))
    (first,) = held.ask(QUESTIONS[1], epsilon="0.5", analyst="ann").run()
    paid = spent(held)
    batch = held.ask(QUESTIONS[1], epsilon="0.5", analyst="ann")
    assert batch.estimate().paid_before
    (again,) = batch.run()
    assert again.cost.again
    assert spent(held) == paid
    assert again.as_json()["columns"] == first.as_json()["columns"]
    other = held.ask(QUESTIONS[1], epsilon="0.5", analyst="ben")
    assert not other.estimate().paid_before
    assert not other.run()[0].cost.again
    assert spent(held) == paid + paid
    assert set(first.cost.accounts) == {"population 'people'", "analyst 'ann'"}


def test_a_new_version_is_asked_anew(held: Curator) -> None:
    held.ask(QUESTIONS[0], epsilon=1).run()
    paid = spent(held)
    held.refresh("people", _csv(held))
    assert not held.ask(QUESTIONS[0], epsilon=1).estimate().paid_before
    held.ask(QUESTIONS[0], epsilon=1).run()
    assert spent(held) == paid + paid


def test_what_the_budget_refuses_is_foretold(held: Curator) -> None:
    batch = held.ask(QUESTIONS[0], epsilon=2000)
    assert not batch.estimate().fits
    assert "refused" in batch.estimate().sentences()[0]
    with pytest.raises(BudgetError):
        batch.run()
    assert spent(held) == Amount()
    with pytest.raises(UnknownNameError):
        held.ask(QUESTIONS[0], epsilon=1, analyst="nobody").run()


def test_questions_together_share_sums_and_one_charge(held: Curator) -> None:
    """Two questions over the same cells need one sum of ages, so that each errs less than alone at half the budget."""
    mean, total = question(Mean(AGE), by=[BY_REGION]), question(Sum(AGE), by=[BY_REGION])
    batch = held.ask(mean, total, epsilon=1)
    answers = batch.run()
    assert [answer.question for answer in answers] == [mean, total]
    assert answers[0].cost == answers[1].cost
    assert len(batch.design.parts) == 1
    alone = held.ask(total, epsilon="0.5")
    (expected,) = [line for line in alone.estimate().taken if line.statistic == "SUM(age)"]
    shared = next(line for line in batch.estimate().taken if line.statistic == "SUM(age)")
    assert float(shared.error) < float(expected.error)


def test_public_numbers_are_not_sold(tmp_path: Path) -> None:
    held = office(tmp_path, under=contract(further="adjacency: replace-one\nunits: 40"))
    with pytest.raises(ArgumentError, match="public"):
        held.ask(QUESTIONS[0], epsilon=1).run()
    with pytest.raises(ArgumentError):
        held.ask(QUESTIONS[0], question(Rows()), epsilon=1, rho=1).estimate()
    (answer,) = held.ask(question(Rows(), Sum(AGE)), epsilon=1).run()
    assert answer.frame["s0"] == [40]
    assert answer.columns[0].errors[0].deviation == 0


def test_having_order_and_limit_act_on_what_was_released(held: Curator) -> None:
    asked = question(
        Rows(),
        Sum(AGE),
        by=[BY_REGION],
        having=Operation(">", Asked(0), Asked(0)),
    )
    (none,) = held.ask(asked, epsilon=1).run()
    assert none.frame == {"region": [], "s0": [], "s1": []}
    asked = question(Rows(), Sum(AGE), by=[BY_REGION], order=(Order(term=Asked(1), descending=True),), limit=2)
    (answer,) = held.ask(asked, epsilon=400).run()
    assert answer.frame["region"] == ["east", "south"]
    assert answer.frame["s1"] == sorted(answer.frame["s1"], reverse=True)


def test_selected_rows_have_wider_intervals(held: Curator) -> None:
    """Of 3 regions 1 is shown because it came out first: its interval covers 1 − 0.05/3."""
    plain = question(Rows(), by=[BY_REGION])
    cut = question(Rows(), by=[BY_REGION], order=(Order(term=Asked(0)),), limit=1)
    (whole,) = held.ask(plain, epsilon="0.1").run()
    (first,) = held.ask(cut, epsilon="0.1").run()
    one, other = whole.columns[1], first.columns[1]
    assert one.raw[0] is not None
    (part,) = held.ask(plain, epsilon="0.1").design.parts
    assert isinstance(part, Measurement)
    (law,) = part.noises
    assert _half(one) == law.interval(Fraction(19, 20))
    assert _half(other) == law.interval(1 - Fraction(1, 60)) > _half(one)


def _half(column: Any) -> float:
    """How far the upper end lies above what was released."""
    return float(column.errors[0].high - column.raw[0])


def test_a_term_of_keys_alone_is_no_measurement(held: Curator) -> None:
    asked = Question(
        table="people",
        statistics=(Rows(),),
        by=(BY_REGION,),
        outputs=(Output(name="n", term=Operation("/", Asked(0), Asked(0))),),
    )
    (answer,) = held.ask(asked, epsilon=400).run()
    assert answer.frame == {"n": [1.0, 1.0, 1.0]}


def _csv(held: Curator) -> Any:
    import polars as pl

    frame = pl.DataFrame(list(PEOPLE), schema_overrides={"born": pl.String})
    return frame.with_columns(pl.col("born").str.to_date())


def test_joined_tables_are_asked_as_one(held: Curator, tmp_path: Path) -> None:
    """A public join brings columns, a private one charges both populations; each is what counting by hand gives."""
    import polars as pl

    from discreet.data.contract import Contract

    public = "table: places\nunit: row\ncolumns:\n  region: {type: category, keys: [east, north, south]}\n"
    public += "  coast: {type: category, keys: [no, yes]}\n"
    places = pl.DataFrame({"region": ["east", "north", "south"], "coast": ["yes", "yes", "no"]})
    held.add(places, name="places", contract=Contract.from_yaml(public))
    under = contract(unit="{person: who, rows: 3, groups: 3}", further="joins: [{table: places, column: region}]")
    held.declare(under)
    visits = "table: visits\nunit: {person: who, rows: 2, groups: 2}\nbudget: {epsilon: 1000}\ncolumns:\n"
    visits += "  who: {type: text, role: direct identifier}\n  paid: {type: integer, low: 0, high: 9}\n"
    rows = pl.DataFrame({"who": ["p1", "p2", "p2", "p99"], "paid": [5, 1, 2, 9]})
    held.add(rows, name="visits", contract=Contract.from_yaml(visits), reason="visitors")
    answer = held.sql(
        "SELECT coast, COUNT(*) AS n FROM people JOIN places USING (region) GROUP BY coast", epsilon=300
    ).run()
    assert answer.frame == {"coast": ["no", "yes"], "n": [13, 27]}
    query = held.sql("SELECT SUM(paid) AS s FROM people JOIN visits USING (who)", epsilon=300)
    lines = query.estimate().accounts
    assert [line.account for line in lines] == ["population 'people'", "population 'visits'"]
    answer = query.run()
    # p1 has 3 rows here and 1 there, p2 3 and 2: 3·5 + 3·(1 + 2).
    assert answer.frame["s"] == pytest.approx([24], abs=1)
    assert set(answer.charge.accounts) == {line.account for line in lines}
    assert query.estimate().paid_before


def test_ranks_of_dates_are_dates(held: Curator) -> None:
    answer = held.sql(
        "SELECT MEDIAN(born) AS m, MIN(born) AS a FROM people WHERE born > '1995-01-01'", epsilon=300
    ).run()
    assert str(answer.frame["m"][0]).startswith("199")
    assert str(answer.frame["a"][0]) == "1995-06-15"
