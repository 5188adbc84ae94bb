"""What all charges of a population amount to: by which theorem, and under which choice of questions."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.accounting.events import Approximate, Choice, Noise
from discreet.accounting.spending import spending
from discreet.errors import ArgumentError, CheckFailedError
from discreet.guarantee import ZCDP
from tests.accounting.places import ANA, PEOPLE, Place, charge_of, price_of

GAUSSIAN = Noise(law="gaussian", move=Fraction(1), scale=Fraction(2500), scalar=True)


def test_a_report_names_the_smallest_epsilon_and_its_theorem(place: Place) -> None:
    """A hundred coins of ε = 0.1: 10 on every path; 4.775 where all had been fixed beforehand, which is published."""
    ledger = place.with_people(20)
    for _ in range(100):
        ledger.spend(charge_of("0.1"))
    found = spending(ledger, "people", "1e-6")
    assert found.charges == 100
    assert found.adaptive is not None
    assert found.adaptive.epsilon == 10
    assert found.fixed.best.epsilon == pytest.approx(4.775, abs=1e-3)
    first, second = found.sentences()
    assert "keep ε = 10 at δ = 1e-6, whatever was asked" in first
    assert "by the theorem 'optimal'" in second or "by the theorem 'pld'" in second
    assert found.as_json()["charges"] == 100


def test_a_limit_in_rho_is_what_holds_in_any_case(place: Place) -> None:
    """Who stops when it looks well is held by the limit, not by what was spent until then."""
    ledger = place.with_people(Fraction(1, 2), "zcdp")
    for _ in range(10):
        ledger.spend(charge_of(GAUSSIAN))
    found = spending(ledger, "people", "1e-6")
    assert found.adaptive is not None
    limit = ZCDP(Fraction(1, 2)).as_approx("1e-6").epsilon
    assert limit <= Fraction(found.adaptive.epsilon) <= limit * (1 + Fraction(1, 10**12))
    spent = ZCDP(Fraction(10, 5000)).as_approx("1e-6").epsilon
    assert found.fixed.best.epsilon <= float(spent) * (1 + 1e-6) < found.adaptive.epsilon


def test_a_limit_that_was_lowered_holds_as_it_was(place: Place) -> None:
    """Whoever lowers it after an answer stops when it looks well: until then the larger limit was what held."""
    ledger = place.open()
    ledger.open_account(PEOPLE, "zcdp", price_of("1/2", "1e-9"))
    ledger.open_account(ANA, "zcdp", price_of(9))
    ledger.spend(charge_of(GAUSSIAN))
    before = spending(ledger, "people", "1e-6").adaptive
    ledger.set_limit(PEOPLE, price_of("1/1000"), reason="it looks well")
    assert spending(ledger, "people", "1e-6").adaptive == before
    assert before is not None
    assert before.epsilon >= ZCDP(Fraction(1, 2)).as_approx(Fraction(999, 10**9)).epsilon
    ledger.set_limit(PEOPLE, price_of(1), reason="more was agreed on beforehand")
    raised = spending(ledger, "people", "1e-6").adaptive
    assert raised is not None
    assert raised.epsilon > before.epsilon


def test_a_delta_that_was_charged_is_part_of_the_delta_asked(place: Place) -> None:
    ledger = place.open()
    ledger.open_account(PEOPLE, "pure", price_of(9, "1e-5"))
    ledger.spend(charge_of(Approximate(epsilon=Fraction(1), delta=Fraction(1, 10**6))))
    found = spending(ledger, "people", "2e-6")
    assert found.adaptive is not None
    assert found.adaptive.epsilon == 1
    with pytest.raises(ArgumentError, match="larger delta"):
        spending(ledger, "people", "1e-7")


@pytest.mark.parametrize("currency", ["pure", "zcdp"])
def test_a_gap_counts_as_the_worst_of_its_price(place: Place, currency: str) -> None:
    ledger = place.open()
    ledger.open_account(PEOPLE, "pure" if currency == "pure" else "zcdp", price_of(9, "1e-5"))
    ledger.restore({PEOPLE: price_of("0.5", "1e-7")}, reason="a copy of Monday")
    found = spending(ledger, "people", "1e-4")
    assert found.charges >= 1
    least = 0.5 if currency == "pure" else float(ZCDP.of("0.5").as_approx("1e-4").epsilon)
    assert found.fixed.best.epsilon >= least * 0.9
    assert {bound.theorem for bound in found.fixed.bounds} >= {"basic" if currency == "pure" else "zcdp"}


def test_a_history_that_does_not_hold_is_not_reported(place: Place) -> None:
    ledger = place.with_people(9)
    ledger.spend(charge_of(Choice(epsilon=Fraction(1))))
    with ledger._store.changing() as connection:
        connection.exec_driver_sql("UPDATE entries SET at = at || ' ' WHERE number = 2")
    with pytest.raises(CheckFailedError):
        spending(place.open(), "people", "1e-6")
