"""Budgets belong to populations, whatever table they stand in; versions move and charges stay."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import pytest

import discreet
from discreet.accounting.account import AccountKey, Kind
from discreet.accounting.amount import Amount
from discreet.accounting.events import Noise
from discreet.accounting.ledger import Charge
from discreet.errors import ArgumentError, BudgetError, CheckFailedError, ContractError, FolderError

CONTRACT = """
table: {table}
unit: {{person: patient, rows: 2}}
population: {population}
columns:
  patient: {{type: text, role: direct identifier}}
  age: {{type: integer, low: 0, high: 120}}
"""
COUNT = Noise(law="laplace", move=Fraction(1), scale=Fraction(1))


def contract(table: str = "visits", population: str = "patients", budget: str = "") -> discreet.Contract:
    return discreet.Contract.from_yaml(CONTRACT.format(table=table, population=population) + budget)


def key(population: str = "patients") -> AccountKey:
    return AccountKey(Kind.POPULATION, population)


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    path.write_text("patient,age\np1,3\np2,4\np2,5\n")
    return path


@pytest.fixture
def curator(tmp_path: Path, visits: Path) -> discreet.Curator:
    made = discreet.Curator(tmp_path / "clinic")
    made.add(visits, contract=contract(), epsilon=2)
    return made


def spend(curator: discreet.Curator, population: str = "patients") -> None:
    curator.ledger.spend(Charge(event=COUNT, population=population, what={"question": "a count"}))


def spent(curator: discreet.Curator) -> Amount:
    return curator.ledger.account(key()).spent


def test_tables_of_one_population_share_one_account(curator: discreet.Curator, visits: Path) -> None:
    spend(curator)
    curator.add(visits, name="again", contract=contract("again", budget="budget: {epsilon: 50}"))
    assert curator.ledger.account(key()).limit == Amount(loss=2 * 10**9)
    spend(curator)
    with pytest.raises(BudgetError, match=r"spent ε = 2, asked ε = 1, left ε = 0"):
        spend(curator)


def test_new_versions_keep_what_was_spent(curator: discreet.Curator, visits: Path) -> None:
    spend(curator)
    before = spent(curator)
    visits.write_text("patient,age\np9,70\n")
    assert curator.refresh("visits", visits).version == 2
    assert curator.assess("visits", ["age"]).classes.records == 1
    assert spent(curator) == before
    assert [path.name for path in (curator.folder / "tables" / "visits").glob("*.duckdb")] == ["2.duckdb"]


def test_refresh_that_breaks_the_contract_changes_nothing(curator: discreet.Curator, visits: Path) -> None:
    visits.write_text("person,age\np9,70\n")
    with pytest.raises(discreet.DiscreetError, match="patient"):
        curator.refresh("visits", visits)
    assert curator.record("visits").version == 1
    assert curator.assess("visits", ["age"]).classes.records == 3


@pytest.mark.parametrize(("person", "left"), [("p2", 1), ("nobody", 3), ("p2' OR '1'='1", 3)])
def test_forgetting_takes_rows_and_no_charge_and_tells_nothing(
    curator: discreet.Curator, person: str, left: int
) -> None:
    """The version moves and the same note is written whether or not the person was there."""
    spend(curator)
    before = spent(curator)
    assert curator.forget("visits", person).version == 2
    assert curator.assess("visits", ["age"]).classes.records == left
    assert spent(curator) == before
    last = curator.ledger.entries()[-1]
    assert (last.kind, last.content) == ("person forgotten", {"table": "visits", "version": 2})
    assert person not in "".join(entry.body for entry in curator.ledger.entries())


def test_forgetting_needs_a_person_column(curator: discreet.Curator, visits: Path) -> None:
    curator.add(visits, name="rows")
    with pytest.raises(ContractError, match="person column"):
        curator.forget("rows", "p2")


def test_second_population_needs_a_reason(curator: discreet.Curator, visits: Path) -> None:
    other = contract("staff", population="staff", budget="budget: {epsilon: 1}")
    with pytest.raises(ContractError, match="second budget"):
        curator.add(visits, name="staff", contract=other)
    assert curator.tables == ("visits",)
    curator.add(visits, name="staff", contract=other, reason="employees, no patients")
    assert curator.ledger.account(key("staff")).limit == Amount(loss=10**9)


def test_known_rows_are_charged_to_another_population_for_a_reason_alone(
    curator: discreet.Curator, visits: Path, tmp_path: Path
) -> None:
    """Staff have an account of their own, with good reason; patients must not be moved onto it in silence."""
    staff = tmp_path / "staff.csv"
    staff.write_text("patient,age\ns1,30\n")
    curator.add(staff, contract=contract("staff", "staff", "budget: {epsilon: 9}"), reason="employees, no patients")
    with pytest.raises(ContractError, match="'staff', while the same rows were charged to 'patients'"):
        curator.declare(contract(population="staff"))
    with pytest.raises(ContractError, match="a second budget"):
        curator.add(visits, name="again", contract=contract("again", "staff"))
    assert curator.tables == ("staff", "visits")
    agreed = curator.contract("visits")
    assert agreed is not None
    assert agreed.whose == "patients"
    curator.declare(contract(population="staff"), other_persons="the file held staff by mistake")
    (note,) = curator.ledger.entries(kind="population changed")
    assert note.content["from"] == ["patients"]
    assert note.content["reason"] == "the file held staff by mistake"
    curator.declare(contract(population="staff"))
    assert len(curator.ledger.entries(kind="population changed")) == 1


@pytest.mark.parametrize(
    ("further", "said"),
    [
        ("adjacency: replace-one\nunits: 2\n", "replace-one, while 'visits' of the same population"),
        ("unit: {person: patient, rows: 2, period: day, date: seen}\n", "add-remove of a person per day"),
    ],
)
def test_one_account_adds_up_prices_of_one_kind_of_neighbour(
    curator: discreet.Curator, tmp_path: Path, further: str, said: str
) -> None:
    """An ε under one relation is another promise than under the other; their sum would be none."""
    again = tmp_path / "again.csv"
    again.write_text("patient,age,seen\np1,3,2030-01-01\n")
    text = CONTRACT.format(table="again", population="patients") + "  seen: {type: date}\n"
    if further.startswith("unit"):
        text = text.replace("unit: {person: patient, rows: 2}\n", further)
    else:
        text += further
    with pytest.raises(ContractError, match=said):
        curator.add(again, contract=discreet.Contract.from_yaml(text))
    own = text.replace("population: patients", "population: others\nbudget: {epsilon: 1}")
    curator.add(again, contract=discreet.Contract.from_yaml(own), reason="passers-by")
    assert curator.tables == ("again", "visits")


def test_budget_is_said_once(curator: discreet.Curator, visits: Path) -> None:
    for given in (None, contract("b", budget="budget: {rho: 1}")):
        with pytest.raises(ArgumentError, match="epsilon"):
            curator.add(visits, name="b", epsilon=1, contract=given)


def test_rho_budget_opens_an_account_in_rho(tmp_path: Path, visits: Path) -> None:
    curator = discreet.Curator(tmp_path / "other")
    curator.add(visits, contract=contract(budget="budget: {rho: 0.5, delta: 1e-9}"))
    account = curator.ledger.account(key())
    assert (account.currency, account.limit) == ("zcdp", Amount(loss=5 * 10**8, delta=10**9))


def test_older_copy_of_the_folder_spends_nothing(curator: discreet.Curator, tmp_path: Path) -> None:
    spend(curator)
    curator.ledger.close()
    shutil.copytree(curator.folder, tmp_path / "backup")
    later = discreet.Curator(curator.folder)
    spend(later)
    later.ledger.close()
    older = discreet.Curator(tmp_path / "backup")
    with pytest.raises(CheckFailedError, match="ledger"):
        spend(older)


def test_a_ledger_that_is_gone_brings_no_budget_back(curator: discreet.Curator) -> None:
    spend(curator)
    curator.ledger.close()
    (curator.folder / "ledger.db").unlink()
    with pytest.raises(CheckFailedError, match="does not come back by losing its ledger"):
        spend(discreet.Curator(curator.folder))


def test_other_key_is_another_ledger(curator: discreet.Curator) -> None:
    spend(curator)
    curator.ledger.close()
    (curator.folder / "key").write_bytes(bytes(range(32)))
    with pytest.raises((CheckFailedError, FolderError)):
        spend(discreet.Curator(curator.folder))
