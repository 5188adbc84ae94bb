"""What the ledger writes down and gives again, over both stores: answers, charges without one, notes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from discreet.accounting.account import AccountKey, Kind
from discreet.accounting.amount import LOSS_UNITS, Amount
from discreet.accounting.chain import canonical
from discreet.accounting.events import Choice
from discreet.errors import ArgumentError, DiscreetError
from tests.accounting.places import ANA, PEOPLE, Place, charge_of, price_of


def test_the_answer_paid_for_is_given_again_and_nothing_else_is_free(any_place: Place) -> None:
    ledger = any_place.with_people(10)
    for name in ("ana", "ben"):
        ledger.open_account(AccountKey(Kind.ANALYST, name), "pure", price_of(5))
    answer = {"rows": [[1, -2.5, None, "Ärger"], [2**70, 1e-300, True, ""]], "n": 3}
    ledger.settle(ledger.spend(charge_of(1, plan=7, analyst="ana")), answer)
    for _ in range(20):
        again = ledger.spend(charge_of(1, plan=7, analyst="ana"))
        assert canonical(again.answer) == canonical(answer)
        assert again.amounts == ()
    assert ledger.spend(charge_of(1, plan=7, analyst="ben")).answer is None
    assert ledger.spend(charge_of(1, plan=7)).answer is None
    assert ledger.spend(charge_of(1, plan=8, analyst="ana")).answer is None
    assert ledger.spend(charge_of(1, analyst="ana")).answer is None
    assert ledger.account(PEOPLE).spent == Amount(loss=5 * LOSS_UNITS)
    assert ledger.verify() == ()


def test_an_answer_is_not_given_for_another_population(any_place: Place) -> None:
    ledger = any_place.with_people(10)
    ledger.open_account(AccountKey(Kind.POPULATION, "others"), "pure", price_of(10), reason="another country")
    ledger.open_account(ANA, "pure", price_of(5))
    ledger.settle(ledger.spend(charge_of(1, plan=7, analyst="ana")), {"n": 3})
    assert ledger.spend(charge_of(1, plan=7, analyst="ana", population="others")).answer is None


def test_the_keeper_and_an_analyst_of_the_same_name_are_two_payers(any_place: Place) -> None:
    ledger = any_place.with_people(10)
    ledger.open_account(AccountKey(Kind.ANALYST, "people"), "pure", price_of(5))
    ledger.settle(ledger.spend(charge_of(1, plan=7)), {"n": 3})
    assert ledger.spend(charge_of(1, plan=7, analyst="people")).answer is None


def test_a_charge_without_result_is_not_given_again(any_place: Place) -> None:
    ledger = any_place.with_people(10)
    ledger.fail(ledger.spend(charge_of(1, plan=7)))
    assert ledger.spend(charge_of(1, plan=7)).answer is None
    assert ledger.account(PEOPLE).spent == Amount(loss=2 * LOSS_UNITS)
    assert ledger.verify() == ()


def test_a_crash_between_charge_and_answer_leaves_the_charge(any_place: Place) -> None:
    ledger = any_place.with_people(10)
    ledger.spend(charge_of(1, plan=7))
    ledger.close()
    again = any_place.open()
    assert again.account(PEOPLE).spent == Amount(loss=LOSS_UNITS)
    assert again.spend(charge_of(1, plan=7)).answer is None
    assert again.verify() == ()


def test_one_payer_asking_twice_at_once_pays_twice_and_keeps_the_first(any_place: Place) -> None:
    ledger = any_place.with_people(10)
    first, second = ledger.spend(charge_of(1, plan=7)), ledger.spend(charge_of(1, plan=7))
    ledger.settle(second, {"n": 2})
    ledger.settle(first, {"n": 1})
    assert ledger.account(PEOPLE).spent == Amount(loss=2 * LOSS_UNITS)
    again = ledger.spend(charge_of(1, plan=7))
    assert (again.answer, again.number) == ({"n": 2}, second.number)
    assert ledger.verify() == ()


def test_a_charge_is_closed_once_and_only_if_it_is_one(any_place: Place) -> None:
    ledger = any_place.with_people(10)
    one, two = ledger.spend(charge_of(1, plan=1)), ledger.spend(charge_of(1, plan=2))
    ledger.settle(one, {"n": 1})
    ledger.fail(two)
    before = len(ledger.entries())
    for grant in (one, two, ledger.spend(charge_of(1, plan=1))):
        with pytest.raises(ArgumentError, match="it is closed"):
            ledger.settle(grant, {"n": 9})
        with pytest.raises(ArgumentError, match="it is closed"):
            ledger.fail(grant)
    forged = [
        type(one)(number=number, charge=charge_of(1, plan=plan), amounts=())
        for number, plan in ((1, 1), (999, 1), (3, 1), (two.number, 1))
    ]
    for grant in forged:
        with pytest.raises(DiscreetError):
            ledger.settle(grant, {"n": 9})
    assert len(ledger.entries()) == before
    assert ledger.verify() == ()


@pytest.mark.parametrize("plan", [b"", b"x" * 31, b"x" * 33])
def test_a_plan_is_a_digest_of_32_bytes(plan: bytes) -> None:
    with pytest.raises(ArgumentError, match="keyed digest of 32 bytes"):
        type(charge_of())(event=Choice(epsilon=Fraction(1)), population="people", plan=plan, what={})


@pytest.mark.parametrize("what", [{"x": float("nan")}, {"x": b"bytes"}, {1: "x"}, {"x": {2, 3}}])
def test_what_is_written_down_is_json(place: Place, what: Any) -> None:
    with pytest.raises(ArgumentError, match="JSON cannot hold"):
        charge_of(1, what=what)
    ledger = place.with_people(10)
    grant = ledger.spend(charge_of(1))
    for write in (lambda: ledger.settle(grant, what), lambda: ledger.note("remark", what)):
        with pytest.raises(ArgumentError, match="JSON cannot hold") as error:
            write()
        assert "nan" not in str(error.value)
    assert len(ledger.entries()) == 2
    ledger.settle(grant, {"n": 1})


def test_an_entry_holds_what_was_given_and_nothing_else(place: Place) -> None:
    """On neighbours nothing but the answer differs: the ledger never sees the data."""
    ledger = place.with_people(10)
    ledger.settle(ledger.spend(charge_of(1, plan=3, what={"query": "count"})), {"n": 41})
    charge, answer = (entry.content for entry in ledger.entries()[1:])
    assert charge == {
        "accounts": [["population", "people", "pure", 10**9, 0, 0]],
        "event": {"event_kind": "choice", "epsilon": "1", "bounded_range": False},
        "payer": "population people",
        "plan": f"{3:064x}",
        "what": {"query": "count"},
    }
    assert answer == {"charge": 2, "answer": {"n": 41}}


@pytest.mark.parametrize(
    "kind",
    ["", "open", "limit", "charge", "answer", "no result", "gap", "standing", "Remark", "x" * 25, "a\nb", "a1", " a"],
)
def test_notes_have_kinds_of_their_own(place: Place, kind: str) -> None:
    ledger = place.with_people(10)
    with pytest.raises(ArgumentError, match="kind"):
        ledger.note(kind, {})
    assert len(ledger.entries()) == 1


def test_notes_cost_nothing_and_are_found_again(any_place: Place) -> None:
    ledger = any_place.with_people(10)
    number = ledger.note("outside the guarantee", {"population": "people", "what": "20 copies"})
    ledger.spend(charge_of(1))
    assert [entry.number for entry in ledger.entries(kind="outside the guarantee")] == [number]
    assert ledger.entries(kind="outside the guarantee")[0].content["what"] == "20 copies"
    assert ledger.account(PEOPLE).spent == Amount(loss=LOSS_UNITS)
