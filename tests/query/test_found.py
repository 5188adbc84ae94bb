"""Keys that nobody listed: found for ε and δ, then measured over, in one charge; rare ones stay hidden."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.accounting.events import price
from discreet.curator import Curator
from discreet.errors import ArgumentError
from discreet.measure.found import Found
from discreet.measure.noisy import Measurement
from tests.query.offices import PEOPLE, contract, office

TOWNS = "SELECT town, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY town"
ROWS = [{**PEOPLE[0], "who": f"p{at}", "town": ("big", "mid")[at % 3 == 2], "age": 20 + at % 40} for at in range(300)]
ROWS += [{**PEOPLE[0], "who": "lonely", "town": "a village of one", "age": 50}]


@pytest.fixture(params=["row", "{person: who, rows: 2, groups: 2}"])
def held(request: pytest.FixtureRequest, tmp_path: Path) -> Curator:
    return office(tmp_path, ROWS, under=contract(unit=request.param, budget="epsilon: 100000, delta: 0.01"))


@pytest.mark.parametrize("spent", [{"epsilon": 8}, {"epsilon": 2}])
def test_found_keys_are_those_that_many_have(held: Curator, spent: dict[str, Any]) -> None:
    query = held.sql(TOWNS, delta="1e-6", **spent)
    answer = query.run()
    assert answer.frame["town"] == ["big", "mid"]
    assert answer.frame["n"] == pytest.approx([200, 100], abs=60)
    assert answer.frame["a"] == pytest.approx([39, 39], abs=25)
    assert "rare keys are missing" in answer.notes[0]
    assert held.sql(TOWNS, delta="1e-6", **spent).run().as_json()["columns"] == answer.as_json()["columns"]
    dummy = query.dummy()
    assert len(dummy.frame["town"]) == 3
    assert [column.name for column in dummy.columns] == [column.name for column in answer.columns]


def test_a_price_says_all_of_it(held: Curator) -> None:
    query = held.sql(TOWNS, epsilon="1.5", delta="1e-6")
    cost = price(query.batch.design.event, "pure")
    assert Fraction("1.5") * (1 - Fraction(1, 10**9)) <= cost.loss <= Fraction("1.5")
    assert cost.delta == Fraction(1, 10**6)
    (line,) = query.estimate().accounts
    assert line.charged == query.run().charge.accounts[line.account]


def test_keys_cost_a_delta(held: Curator) -> None:
    with pytest.raises(ArgumentError, match="delta=1e-6"):
        held.sql(TOWNS, epsilon=1).estimate()


def test_where_nobody_is_there_is_no_row(held: Curator) -> None:
    text = "SELECT town, COUNT(*) AS n, MEDIAN(age) AS m, MODE(region) AS r, COUNT(DISTINCT sex) AS d FROM people"
    answer = held.sql(f"{text} WHERE age > 99 GROUP BY town", epsilon=1, delta="1e-6").run()
    assert answer.frame == {"town": [], "n": [], "m": [], "r": [], "d": []}
    answer = held.sql(f"{text} GROUP BY town", epsilon=4_000, delta="1e-6").run()  # so much that no noise is left
    assert answer.frame["town"] == ["big", "mid"]
    assert answer.frame["m"] == pytest.approx([39, 39], abs=4)
    assert answer.frame["r"] == ["east", "east"]
    assert answer.frame["d"] == [1, 1]


def test_noise_is_fixed_before_keys_are_known(held: Curator) -> None:
    """Whatever keys come out, the noise and the price of what is measured over them are the same."""
    (found,) = held.sql(TOWNS, epsilon=1, delta="1e-6").batch.design.parts
    assert isinstance(found, Found)
    for keys in (("x",), ("x", "y", "z"), tuple(f"k{at}" for at in range(50))):
        _, parts = found.over([keys])
        for before, after in zip(found.parts, parts, strict=True):
            assert isinstance(before, Measurement)
            assert isinstance(after, Measurement)
            assert (after.noises, after.event, after.proof.bits) == (before.noises, before.event, before.proof.bits)
            assert after.proof.parts == before.proof.parts
            assert after.proof.cells == len(keys)


def test_gaussian_noise_pays_for_keys_too(tmp_path: Path) -> None:
    held = office(tmp_path, ROWS, under=contract(budget="rho: 100, delta: 0.01"))
    query = held.sql(TOWNS, rho=2, delta="1e-6")
    cost = price(query.batch.design.event, "zcdp")
    assert Fraction(2) * (1 - Fraction(1, 10**8)) <= cost.loss <= 2
    assert cost.delta == Fraction(1, 10**6)
    assert query.run().frame["town"] == ["big", "mid"]


def test_persons_with_too_many_keys_count_in_none(tmp_path: Path) -> None:
    """Forty rows of one person in forty towns light no town, and push none over."""
    rows = [{**PEOPLE[0], "who": f"p{at}", "town": "big"} for at in range(100)]
    rows += [{**PEOPLE[0], "who": "everywhere", "town": f"t{at}"} for at in range(40)]
    held = office(tmp_path, rows, under=contract(unit="{person: who, rows: 4, groups: 2}"))
    assert held.sql(TOWNS, epsilon=4, delta="0.001").run().frame["town"] == ["big"]
