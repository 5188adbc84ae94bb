"""Accounts: whose budget a charge counts against.

A population is a named set of persons: its account is what protects them, and it never refills. Accounts of analysts
and projects limit a share of it; they may refill by the calendar, and show what was spent in all their life.
"""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from discreet.accounting.amount import Amount
from discreet.accounting.events import Currency
from discreet.check import one_of
from discreet.errors import ArgumentError

__all__ = ["Account", "AccountKey", "Kind", "Period"]

_NAME_SIGNS = 200
_NOTHING = Amount()


class Kind(StrEnum):
    """What an account is of."""

    POPULATION = "population"
    ANALYST = "analyst"
    PROJECT = "project"


class Period(StrEnum):
    """How often an account of an analyst or a project refills, by the calendar of UTC."""

    NEVER = "never"
    DAY = "day"
    MONTH = "month"
    YEAR = "year"

    def ordinal(self, moment: datetime.datetime) -> int:
        """A number that grows by one from period to period."""
        match self:
            case Period.DAY:
                return moment.date().toordinal()
            case Period.MONTH:
                return 12 * moment.year + moment.month
            case Period.YEAR:
                return moment.year
        return 0


@dataclass(frozen=True, slots=True, order=True)
class AccountKey:
    """What an account is of, and its name."""

    kind: Kind
    name: str

    def __post_init__(self) -> None:
        if not self.name or not self.name.isprintable() or len(self.name) > _NAME_SIGNS:
            raise ArgumentError(
                f"{self.kind} account",
                found="no usable name",
                right=f"a name has 1 to {_NAME_SIGNS} printable signs",
                step="give another name",
            )

    @property
    def payer(self) -> str:
        """One text for one key."""
        return f"{self.kind.value} {self.name}"

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """One account as it stands. `spent` counts in the current period, `total` since it was opened."""

    key: AccountKey
    currency: Currency
    limit: Amount
    spent: Amount = _NOTHING
    total: Amount = _NOTHING
    period: Period = Period.NEVER
    period_index: int = 0

    def __post_init__(self) -> None:
        one_of("currency", self.currency, ("pure", "zcdp"))
        if self.key.kind is Kind.POPULATION and self.period is not Period.NEVER:
            raise ArgumentError(
                str(self.key),
                found=f"a refill every {self.period}",
                right="what persons have lost does not come back, so their budget never refills",
                step="give analysts and projects a period instead",
            )

    @property
    def left(self) -> Amount:
        """What may still be spent in this period."""
        return self.spent.left_of(self.limit)

    def at(self, moment: datetime.datetime) -> Account:
        """The account at that moment: refilled if a later period than ever before has begun."""
        return self.in_period(self.period.ordinal(moment))

    def in_period(self, index: int) -> Account:
        """The account in that period. A clock that went back refills nothing."""
        if index <= self.period_index:
            return self
        return dataclasses.replace(self, spent=_NOTHING, period_index=index)

    def charged(self, cost: Amount) -> Account:
        """The account after a charge."""
        return dataclasses.replace(self, spent=self.spent + cost, total=self.total + cost)

    def limited(self, limit: Amount) -> Account:
        """The account under another limit. What was spent stays spent."""
        return dataclasses.replace(self, limit=limit)

    def as_json(self) -> dict[str, Any]:
        """The account as plain values."""
        return {
            "kind": self.key.kind.value,
            "name": self.key.name,
            "currency": self.currency,
            **{part: [amount.loss, amount.delta] for part, amount in self._amounts()},
            "period": self.period.value,
            "period_index": self.period_index,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Account:
        """The account that `as_json` wrote."""
        limit, spent, total = (
            Amount(loss=stored[part][0], delta=stored[part][1]) for part in ("limit", "spent", "total")
        )
        return cls(
            key=AccountKey(Kind(stored["kind"]), stored["name"]),
            currency=stored["currency"],
            limit=limit,
            spent=spent,
            total=total,
            period=Period(stored["period"]),
            period_index=stored["period_index"],
        )

    def _amounts(self) -> tuple[tuple[str, Amount], ...]:
        return ("limit", self.limit), ("spent", self.spent), ("total", self.total)
