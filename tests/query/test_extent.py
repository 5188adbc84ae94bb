"""Bounds found privately: right where there are enough rows, charged once, and ready for the contract."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from discreet.curator import Curator
from discreet.data.contract import Contract
from discreet.errors import ArgumentError, BudgetError, ContractError, UnknownNameError
from discreet.mechanisms.noise import release
from discreet.query.extent import FoundBounds
from discreet.randomness import SeededBits

_CONTRACT = """
table: visits
unit: {unit}
{further}
budget: {{{budget}}}
columns:
  who: {{type: text, role: direct identifier}}
  cost: {{type: decimal, step: 0.01}}
  debt: {{type: integer}}
  few: {{type: integer, nulls: key}}
  age: {{type: integer, low: 0, high: 50}}
  town: {{type: text}}
  secret: {{type: integer, role: hidden}}
"""
ROWS: list[dict[str, Any]] = [
    {
        "who": f"p{at % 1000}",
        "cost": (at * 37 % 30000) / 100,  # up to 299.99
        "debt": -(at % 900) - 100,  # −999 to −100
        "few": 10**9 if at == 7 else None,
        "age": 18 + at % 70,
        "town": "arle",
        "secret": at,
    }
    for at in range(3000)
]


def office(folder: Path, *, unit: str = "row", budget: str = "epsilon: 20", further: str = "") -> Curator:
    held = Curator(folder / "office", heads=folder / "heads")
    agreed = Contract.from_yaml(_CONTRACT.format(unit=unit, budget=budget, further=further))
    held.add(pl.DataFrame(ROWS), name="visits", contract=agreed)
    return held


def ends(found: FoundBounds) -> tuple[Any, Any]:
    return found.low, found.high


SEEDED: dict[str, Any] = {"bits": SeededBits(5), "teaching": True}


@pytest.mark.parametrize(
    ("unit", "further"),
    [
        ("row", ""),
        ("{person: who, rows: 2}", ""),
        ("{person: who, rows: 3}", "adjacency: replace-one\nunits: 1000"),
    ],
)
def test_bounds_are_those_of_round_numbers_around_the_data(tmp_path: Path, unit: str, further: str) -> None:
    held = office(tmp_path, unit=unit, further=further)
    assert ends(held.bounds("visits", "cost", epsilon=2, **SEEDED)) == (0, 500)
    assert ends(held.bounds("visits", "debt", epsilon=2, **SEEDED)) == (-1000, -100)
    # The contract's own bounds, which cut ages off at 50, are not asked.
    assert ends(held.bounds("visits", "age", epsilon=2, **SEEDED)) == (10, 100)


def test_what_one_person_has_is_not_seen(tmp_path: Path) -> None:
    """One row of a magnitude that no other has: the threshold hides it, and so would it hide ten."""
    held = office(tmp_path)
    found = held.bounds("visits", "few", epsilon=1, **SEEDED)
    assert ends(found) == (None, None)
    assert not found.found
    assert found.least_seen > 5
    assert "No magnitude" in found.sentences()[0]
    with pytest.raises(ArgumentError, match="larger epsilon"):
        found.contract()


def test_noise_alone_is_rarely_seen(tmp_path: Path) -> None:
    """Of 400 draws over a column of missing values, 5 in 100 may show something: 1 in 20 of all, give or take."""
    held = office(tmp_path)
    found = held.bounds("visits", "few", epsilon=1, **SEEDED)
    (part,) = found.answer.evaluation.tables[0].designed.sums.measurements  # type: ignore[union-attr]  # it has some
    bits = SeededBits(11)
    empty = np.zeros(400 * part.proof.cells, dtype=np.int64)
    noise = release(empty, part.noises[0], bits, teaching=True).value.reshape(400, -1)
    shown = int((noise.max(axis=1) >= found.least_seen).sum())
    assert 2 <= shown <= 30


@pytest.mark.parametrize("currency", ["epsilon", "rho"])
def test_bounds_are_charged_and_go_into_the_contract(tmp_path: Path, currency: str) -> None:
    held = office(tmp_path, budget=f"{currency}: 3")
    # In one answer of 20 noise alone shows a farther magnitude; at five prices it does once in three millions.
    for price in ("0.4", "0.41", "0.42", "0.43", "0.44"):
        given: dict[str, Any] = {currency: price}
        estimate = held.bounds_question("visits", "cost", **given).estimate()
        found = held.bounds("visits", "cost", **given)
        (account,) = held.ledger.accounts()
        assert estimate.accounts[0].after == account.left.text(account.currency)
        again = held.bounds("visits", "cost", **given)
        assert again.answer.cost.again
        assert ends(again) == ends(found)
        assert held.ledger.accounts()[0].left == account.left
        if ends(found) == (0, 500):
            break
    assert ends(found) == (0, 500)
    declared = held.declare(found.contract())
    column = declared.columns["cost"]
    assert (column.source.value, column.receipt) == ("paid for", found.receipt)
    answer = held.sql("SELECT AVG(cost) AS m FROM visits", **given).run()
    assert answer.columns[0].values[0] == pytest.approx(150, abs=40)
    assert f"receipt: {found.receipt}" in found.sentences()[-1]
    assert found.as_json()["high"] == "500"


def test_what_cannot_have_bounds_is_refused_before_anything_is_charged(tmp_path: Path) -> None:
    held = office(tmp_path)
    for column, kind in (("town", ArgumentError), ("who", ArgumentError), ("secret", UnknownNameError)):
        with pytest.raises(kind):
            held.bounds("visits", column, epsilon=1)
    with pytest.raises(UnknownNameError):
        held.bounds("visitz", "cost", epsilon=1)
    with pytest.raises(BudgetError):
        held.bounds("visits", "cost", epsilon=30)
    assert held.ledger.accounts()[0].spent.loss == 0
    assert held.column_of("cost") == held.column_of("visits.cost") == ("visits", "cost")
    with pytest.raises(UnknownNameError, match=r"TABLE\.COLUMN"):
        held.column_of("secret")
    held.add(pl.DataFrame({"x": [1]}), name="bare")
    with pytest.raises(ContractError):
        held.bounds("bare", "x", epsilon=1)
