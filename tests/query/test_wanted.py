"""Errors that are wanted instead of a budget: intervals are no wider, the charge is no larger than that takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.accounting.events import price
from discreet.asking import Batch
from discreet.budget import population_of
from discreet.curator import Curator
from discreet.errors import ArgumentError
from discreet.query.answer import Answer
from tests.query.offices import contract, office

GROUPED = "SELECT region, COUNT(*) AS n, SUM(cost) AS s FROM people GROUP BY region"


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Callable[..., Curator]]:
    made: list[Curator] = []

    def hold(**facts: Any) -> Curator:
        made.append(office(tmp_path / str(len(made)), under=contract(**facts)))
        return made[-1]

    yield hold
    for one in made:
        one.ledger.close()


def halves(answer: Answer, name: str) -> list[float]:
    """Half the widths of a column's intervals, before they are moved into the column's range."""
    at = next(number for number, column in enumerate(answer.columns) if column.name == name)
    errors = answer.evaluation.errors(answer.question.outputs[at].term)
    return [(error.high - error.low) / 2 for error in errors if error.high is not None and error.low is not None]


def loss(batch: Batch, currency: Any = "pure") -> Fraction:
    return price(batch.design.event, currency).loss


@pytest.mark.parametrize("unit", ["row", "{person: who, rows: 2, groups: 2}"])
@pytest.mark.parametrize("wanted", [1, 10, "0.5", "1/3"])
def test_a_count_costs_the_least_that_its_error_takes(held: Any, unit: str, wanted: Any) -> None:
    curator = held(unit=unit)
    query = curator.sql("SELECT COUNT(*) AS n FROM people WHERE age > 30", error=wanted)
    answer, spent = query.run(), loss(query.batch)
    assert halves(answer, "n")[0] <= Fraction(wanted)
    account = curator.ledger.account(population_of(query.batch.contract))
    (line,) = query.estimate().accounts
    assert line.charged == answer.charge.accounts[line.account]
    assert 0 <= account.spent.loss - spent * 10**9 < 2
    # With a twentieth less, the interval is wider, unless whole rows leave none in between.
    less = curator.sql("SELECT COUNT(*) AS n FROM people WHERE age > 30", epsilon=spent * 19 / 20).run()
    assert halves(less, "n")[0] > Fraction(wanted) or halves(less, "n")[0] == halves(answer, "n")[0]


@pytest.mark.parametrize("budget", ["epsilon: 1000, delta: 0.01", "rho: 1000, delta: 0.01"])
def test_each_column_keeps_to_its_own_error(held: Any, budget: str) -> None:
    answer = held(budget=budget).sql(GROUPED, error={"n": 5, "s": 120}).run()
    assert all(half <= 5 for half in halves(answer, "n"))
    assert all(half <= 120 for half in halves(answer, "s"))
    assert max(halves(answer, "n")) > 2.5 or max(halves(answer, "s")) > 60  # one of them takes all of it


def test_a_mean_takes_the_rows_that_are_supposed(held: Any) -> None:
    curator = held()
    with pytest.raises(ArgumentError, match="rows=1000") as refused:
        curator.sql("SELECT AVG(age) AS a FROM people", error=2).estimate()
    assert "AVG(age)" in str(refused.value)
    query = curator.sql("SELECT AVG(age) AS a FROM people", error=2, rows=40)
    assert halves(query.run(), "a")[0] == pytest.approx(2, rel=0.4)
    fewer = curator.sql("SELECT AVG(age) AS a FROM people", error=2, rows=400)
    assert loss(fewer.batch) < loss(query.batch) / 8
    public = held(further="adjacency: replace-one\nunits: 40").sql("SELECT AVG(age) AS a FROM people", error=2)
    assert halves(public.run(), "a")[0] <= 2


def test_a_batch_is_one_charge_spread_by_what_each_wants(held: Any) -> None:
    curator = held(unit="{person: who, rows: 2, groups: 2}")
    texts = "SELECT COUNT(*) AS n FROM people WHERE age > 30", "SELECT COUNT(DISTINCT who) AS w FROM people"
    batch = curator.ask(*texts, error={"n": 20, "w": 2})
    alone = [curator.sql(text, error=error).batch for text, error in zip(texts, (20, 2), strict=True)]
    assert loss(batch) == pytest.approx(sum(map(loss, alone)), rel=0.03)
    answers = batch.run()
    assert answers[0].charge.entry == answers[1].charge.entry
    assert halves(answers[0], "n")[0] <= 20
    assert halves(answers[1], "w")[0] <= 2
    # Beside an ε the wanted errors say how it is spread, and the ε how much there is.
    spread, even = curator.ask(*texts, epsilon=1, error={"n": 20, "w": 2}), curator.ask(*texts, epsilon=1)
    assert Fraction(1) * (1 - Fraction(1, 10**6)) <= loss(spread) <= 1
    wide, narrow = (halves(one.run()[0], "n")[0] for one in (spread, even))
    assert wide > 2 * narrow


def test_what_was_wanted_is_written_down_and_read_again(held: Any) -> None:
    """A question that is replayed from its script is the same one, and was paid for."""
    curator = held()
    batch = curator.ask("SELECT COUNT(*) AS n FROM people", error={"n": "2.5"}, rows=100)
    batch.run()
    again = curator.ask("SELECT COUNT(*) AS n FROM people", **batch.budget.written())
    assert again.design.event == batch.design.event
    assert again.estimate().paid_before


@pytest.mark.parametrize(
    ("text", "given", "says"),
    [
        ("SELECT MEDIAN(age) AS m FROM people", {"error": 1}, "chosen, not summed"),
        ("SELECT COUNT(*) AS n FROM people", {"error": {"m": 1}}, "'m'"),
        ("SELECT COUNT(*) AS n, SUM(age) AS s FROM people", {"error": {"n": 1}}, r"SUM\(age\)"),
        ("SELECT SUM(age) / COUNT(*) AS r FROM people", {"error": 1}, "column of its own|columns of their own"),
        ("SELECT COUNT(*) AS n FROM people", {"error": 0}, "error of 'n'"),
        ("SELECT COUNT(*) AS n FROM people", {"error": "much"}, "error of 'n'"),
        ("SELECT AVG(age) AS n FROM people", {"error": 1, "rows": -5}, "rows"),
        (
            "SELECT town, COUNT(*) AS n FROM people GROUP BY town",
            {"error": 1, "delta": "1e-6"},
            "keys have to be found",
        ),
    ],
)
def test_what_cannot_be_wanted_is_refused(held: Any, text: str, given: dict[str, Any], says: str) -> None:
    curator = held()
    with pytest.raises(ArgumentError, match=says):
        curator.sql(text, **given).run()
    assert curator.ledger.account(population_of(curator.contract("people"))).spent.loss == 0
