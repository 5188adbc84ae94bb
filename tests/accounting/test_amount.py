"""Amounts: whole units, prices up and limits down, nothing free, every digit printed."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.amount import DELTA_UNITS, LOSS_UNITS, Amount
from discreet.accounting.events import Price
from discreet.errors import ArgumentError

losses = st.fractions(min_value=0, max_value=1000)
deltas = st.fractions(min_value=0, max_value=Fraction(1, 2))
amounts = st.builds(Amount, loss=st.integers(0, 10**20), delta=st.integers(0, 10**20))


@given(losses, deltas)
def test_prices_round_up_and_limits_down_by_less_than_a_unit(loss: Fraction, delta: Fraction) -> None:
    up, down = Amount.up(Price(loss=loss, delta=delta)), Amount.down(Price(loss=loss, delta=delta))
    assert 0 <= Fraction(up.loss, LOSS_UNITS) - loss < Fraction(1, LOSS_UNITS)
    assert 0 <= Fraction(up.delta, DELTA_UNITS) - delta < Fraction(1, DELTA_UNITS)
    assert 0 <= loss - Fraction(down.loss, LOSS_UNITS) < Fraction(1, LOSS_UNITS)
    assert 0 <= delta - Fraction(down.delta, DELTA_UNITS) < Fraction(1, DELTA_UNITS)


@pytest.mark.parametrize("tiny", [Fraction(1, 10**30), Fraction(5e-324), Fraction(1, 10**9), Fraction(1, 10**10)])
def test_nothing_is_free(tiny: Fraction) -> None:
    assert Amount.up(Price(loss=tiny)) == Amount(loss=1)
    assert Amount.up(Price(loss=Fraction(0), delta=tiny)).delta >= 1


@given(amounts, amounts)
def test_what_fits_leaves_what_it_takes_away(spent: Amount, limit: Amount) -> None:
    left = spent.left_of(limit)
    if spent.fits(limit):
        assert spent + left == limit
    else:
        assert spent.loss > limit.loss or spent.delta > limit.delta
        assert 0 in (left.loss, left.delta)


@given(amounts)
def test_text_shows_every_digit(amount: Amount) -> None:
    shown = dict(part.split(" = ") for part in amount.text("zcdp").split(", "))
    assert Fraction(shown["ρ"]) == Fraction(amount.loss, LOSS_UNITS)
    assert Fraction(shown.get("δ", "0")) == Fraction(amount.delta, DELTA_UNITS)


def test_text_as_people_write_it() -> None:
    assert Amount(loss=500_000_000, delta=10**9).text("pure") == "ε = 0.5, δ = 1e-9"
    assert Amount(loss=3 * LOSS_UNITS).text("pure") == "ε = 3"
    assert Amount().text("zcdp") == "ρ = 0"
    assert Amount(loss=1).text("pure") == "ε = 1e-9"
    assert Amount(loss=123_456_789_123_456_789).text("pure") == "ε = 123456789.123456789"


@pytest.mark.parametrize(
    "limit",
    [
        Price(loss=Fraction(-1)),
        Price(loss=Fraction(1), delta=Fraction(-1)),
        Price(loss=Fraction(1), delta=Fraction(1)),
        Price(loss=Fraction(10**6) + 1),
        Price(loss=float("nan")),  # type: ignore[arg-type]  # what a careless caller may pass
        Price(loss=float("inf")),  # type: ignore[arg-type]
    ],
)
def test_limits_that_promise_nothing_are_refused(limit: Price) -> None:
    with pytest.raises(ArgumentError):
        Amount.down(limit)


def test_less_than_nothing_is_no_amount() -> None:
    with pytest.raises(ArgumentError, match="less than nothing"):
        Amount.up(Price(loss=Fraction(-1, 10)))
