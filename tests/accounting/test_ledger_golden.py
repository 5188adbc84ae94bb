"""Ledgers that earlier forms wrote: totals stay, the chain verifies, answers are given again, spending goes on."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.accounting.amount import LOSS_UNITS, Amount
from discreet.accounting.store import FORM
from tests.accounting.golden import make
from tests.accounting.places import ANA, PEOPLE, Place, charge_of

FORMS = ["0001"]


@pytest.fixture(params=FORMS)
def old(request: pytest.FixtureRequest, place: Place) -> Place:
    """A place that holds what an earlier form wrote."""
    shutil.copyfile(make.HERE / f"ledger-{request.param}.db", place.path)
    place.path.chmod(0o600)
    with contextlib.closing(sqlite3.connect(place.path)) as connection:
        ((name,),) = connection.execute("SELECT id FROM ledger").fetchall()
    place.heads.mkdir()
    shutil.copyfile(make.HERE / f"head-{request.param}.json", place.heads / f"{name}.json")
    return place


def test_totals_stay_and_the_chain_verifies(old: Place) -> None:
    """Sums by hand, in units: each charge is rounded up by itself."""
    ledger = old.open()
    assert ledger.verify() == ()
    seen = {account.key.name: account for account in ledger.accounts()}
    rho = [312_500, 2_551_021, 7_812_500, 5_000_000, *[50_000] * 250, 100_000_000, 55_555_556]
    assert seen["people"].total == Amount(loss=sum(rho), delta=10**11)
    assert seen["people"].limit == Amount(loss=5 * LOSS_UNITS, delta=10**12)
    epsilon = [25_000_000, 142_857_143, 125_000_000]
    assert (seen["ana"].total.loss, seen["ana"].limit.loss) == (sum(epsilon), 3 * LOSS_UNITS)
    assert seen["atlas"].total.loss == 250 * 50_000
    assert seen["atlas"].spent.loss < seen["atlas"].total.loss


def test_answers_are_given_again_and_spending_goes_on(old: Place) -> None:
    ledger = old.open()
    assert ledger.spend(charge_of(1, plan=1, analyst="ana")).answer == {"n": 1, "text": "Ärger"}
    before = ledger.account(PEOPLE).total
    ledger.settle(ledger.spend(charge_of(Fraction(1, 10), plan=1)), {"n": 2})
    assert ledger.account(PEOPLE).total == before + Amount(loss=5_000_000)
    assert ledger.account(ANA).total.loss == 292_857_143
    assert {entry.kind for entry in ledger.entries()} == {
        "answer",
        "charge",
        "gap",
        "limit",
        "no result",
        "open",
        "outside the guarantee",
        "standing",
    }
    assert old.open().verify() == ()


def test_each_form_has_its_golden_file(tmp_path: Path) -> None:
    assert FORMS[-1] == FORM
    assert sorted(path.name for path in make.HERE.glob("ledger-*.db")) == [f"ledger-{form}.db" for form in FORMS]


def test_the_script_still_writes_such_a_ledger(place: Place) -> None:
    make.fill(place)
    assert place.open().verify() == ()
