"""The ledger's accounts and entries for people and machines, and accounts named in words."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet.accounting.account import Account, AccountKey, Kind, Period
from discreet.accounting.amount import DELTA_UNITS, LOSS_UNITS, Amount
from discreet.accounting.chain import Entry
from discreet.accounting.events import Currency, Price
from discreet.accounting.spending import spending
from discreet.check import exact, one_of, positive, probability
from discreet.draw import Grid, GridColumn
from discreet.errors import ArgumentError

__all__ = ["account_json", "accounts_grid", "entry_json", "named_amounts", "spending"]

_SIGNS: dict[Currency, str] = {"pure": "ε", "zcdp": "ρ"}


def accounts_grid(accounts: Sequence[Account]) -> Grid:
    """One line for each account; amounts are the whole units the ledger counts in."""
    return Grid(
        "Accounts",
        (
            GridColumn("account"),
            GridColumn("limit"),
            GridColumn("spent"),
            GridColumn("left"),
            GridColumn("refills"),
            GridColumn("in all its life"),
        ),
        tuple(
            (
                str(account.key),
                account.limit.text(account.currency),
                account.spent.text(account.currency),
                account.left.text(account.currency),
                account.period.value,
                account.total.text(account.currency),
            )
            for account in accounts
        ),
        note="A population's budget never refills: what persons have lost does not come back.",
    )


def account_json(account: Account) -> dict[str, object]:
    """One account as plain values, exact."""
    return {
        "kind": account.key.kind.value,
        "name": account.key.name,
        "currency": {"pure": "epsilon", "zcdp": "rho"}[account.currency],
        "period": account.period.value,
        "limit": _exact(account.limit),
        "spent": _exact(account.spent),
        "left": _exact(account.left),
        "total": _exact(account.total),
    }


def entry_json(entry: Entry) -> dict[str, object]:
    """One entry as plain values."""
    return {
        "number": entry.number,
        "at": entry.at,
        "kind": entry.kind,
        "content": entry.content,
        "digest": entry.digest,
    }


def named_amounts(
    kind: str, name: str, epsilon: str | None, rho: str | None, delta: str, period: str, *, least: int | None = None
) -> tuple[AccountKey, Currency, Price, Period]:
    """An account and an amount as people write them. `least` allows an amount of that size or more instead of 0."""
    one_of("KIND", kind, tuple(one.value for one in Kind))
    one_of("--period", period, tuple(one.value for one in Period))
    if (epsilon is None) == (rho is None):
        raise ArgumentError(
            "--epsilon and --rho",
            found="neither" if rho is None else "both",
            right="an account counts in one of them",
            step="give --epsilon 1",
        )
    given = epsilon if epsilon is not None else rho
    assert given is not None
    loss = positive("limit", given) if least is None else exact("charge", given)
    if least is not None and loss < least:
        raise ArgumentError("charge", found=given, right=f"it is at least {least}", step="give 0 or more")
    price = Price(loss=loss, delta=probability("delta", delta))
    return AccountKey(Kind(kind), name), "pure" if epsilon is not None else "zcdp", price, Period(period)


def _exact(amount: Amount) -> dict[str, str]:
    return {"loss": str(Fraction(amount.loss, LOSS_UNITS)), "delta": str(Fraction(amount.delta, DELTA_UNITS))}
