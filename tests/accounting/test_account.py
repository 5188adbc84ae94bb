"""Accounts: populations never refill, others refill forward only, and stored accounts come back unchanged."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.account import Account, AccountKey, Kind, Period
from discreet.accounting.amount import Amount
from discreet.errors import ArgumentError

moments = st.datetimes(timezones=st.just(datetime.UTC))
units = st.integers(0, 10**12)
amounts = st.builds(Amount, loss=units, delta=units)


def account(period: Period, moment: datetime.datetime, spent: int = 5) -> Account:
    return Account(
        key=AccountKey(Kind.ANALYST, "ana"),
        currency="pure",
        limit=Amount(loss=10),
        spent=Amount(loss=spent),
        total=Amount(loss=spent),
        period=period,
        period_index=period.ordinal(moment),
    )


@given(st.sampled_from(Period), moments, moments)
def test_an_account_refills_in_a_later_period_only(
    period: Period, opened: datetime.datetime, now: datetime.datetime
) -> None:
    begins = {Period.DAY: "%Y-%m-%d", Period.MONTH: "%Y-%m", Period.YEAR: "%Y", Period.NEVER: ""}[period]
    later = now > opened and now.strftime(begins) != opened.strftime(begins)
    seen = account(period, opened).at(now)
    assert seen.spent.loss == (0 if later else 5)
    assert seen.total.loss == 5
    assert seen.at(opened) == seen


@given(
    st.sampled_from(Kind),
    st.text(min_size=1, max_size=200).filter(str.isprintable),
    st.sampled_from(Period),
    amounts,
    amounts,
    amounts,
    st.integers(0, 10**6),
)
def test_stored_accounts_come_back(
    kind: Kind, name: str, period: Period, limit: Amount, spent: Amount, total: Amount, index: int
) -> None:
    period = Period.NEVER if kind is Kind.POPULATION else period
    key = AccountKey(kind, name)
    held = Account(key=key, currency="zcdp", limit=limit, spent=spent, total=total, period=period, period_index=index)
    assert Account.from_json(held.as_json()) == held
    assert key.payer == f"{kind.value} {name}"


def test_populations_never_refill() -> None:
    with pytest.raises(ArgumentError, match="never refills"):
        Account(key=AccountKey(Kind.POPULATION, "people"), currency="pure", limit=Amount(loss=1), period=Period.YEAR)


@pytest.mark.parametrize("name", ["", "a\nb", "a\x00", "\ud800", "x" * 201])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(ArgumentError, match="no usable name"):
        AccountKey(Kind.ANALYST, name)
