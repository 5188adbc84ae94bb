"""One change of the ledger: charges and grants, and a transaction on a chain that may append to it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from discreet.accounting import registry
from discreet.accounting.account import AccountKey, Kind
from discreet.accounting.amount import Amount
from discreet.accounting.chain import Entry, canonical
from discreet.accounting.events import Currency, Event
from discreet.accounting.standing import Secret, Standing, authentic, broken
from discreet.errors import ArgumentError

__all__ = ["Change", "Charge", "Charged", "Grant"]

_DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What is to be spent: an event, the accounts it counts against, and the plan it answers.

    `plan` is a keyed digest of the plan and the version it reads, `what` a public description of it. `also` are other
    populations whose rows it reads too.
    """

    event: Event
    population: str
    analyst: str | None = None
    project: str | None = None
    also: tuple[str, ...] = ()
    plan: bytes | None = None
    what: Mapping[str, Any]

    def __post_init__(self) -> None:
        if self.plan is not None and len(self.plan) != _DIGEST_BYTES:
            raise ArgumentError(
                "plan",
                found="no digest",
                right=f"it is a keyed digest of {_DIGEST_BYTES} bytes",
                step="digest the plan with the folder's key",
            )
        canonical(dict(self.what))
        _ = self.keys  # names that are none are refused here

    @property
    def keys(self) -> tuple[AccountKey, ...]:
        """The accounts it counts against."""
        named = ((Kind.POPULATION, self.population), (Kind.ANALYST, self.analyst), (Kind.PROJECT, self.project))
        others = ((Kind.POPULATION, name) for name in dict.fromkeys(self.also) if name != self.population)
        return tuple(AccountKey(kind, name) for kind, name in (*named, *others) if name is not None)

    @property
    def payer(self) -> str:
        """Who has paid once it is charged: the analyst, or the keeper for the population."""
        return (self.keys[0] if self.analyst is None else self.keys[1]).payer


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A charge that was made, or the answer that was paid for before. `number` is that of its entry."""

    number: int
    charge: Charge
    amounts: tuple[tuple[AccountKey, Currency, Amount], ...]
    answer: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Charged:
    """A charge as the chain has it, and what was published of its populations outside the guarantee until now."""

    entry: Entry
    population: str
    outside: tuple[str, ...]


@dataclass(slots=True)
class Change:
    """One transaction on a chain that holds, and the accounts as they stand in it."""

    connection: sa.Connection
    secret: Secret
    standing: Standing
    moment: datetime.datetime

    def append(self, kind: str, content: Mapping[str, Any], *, number: int | None = None) -> int:
        """Write an entry behind the chain; what it says of accounts holds from here on."""
        number = self.standing.number + 1 if number is None else number
        at, body = self.moment.isoformat(timespec="microseconds"), canonical(content)
        mark = self.secret.digest(self.standing.digest, number=number, at=at, kind=kind, body=body)
        entry = Entry(number=number, at=at, kind=kind, body=body, digest=mark)
        registry.append(self.connection, entry)
        self.standing = self.standing.after(entry)
        return number

    def paid_before(self, charge: Charge) -> Grant | None:
        """The answer this payer has paid for, if its entries are authentic."""
        number = None if charge.plan is None else registry.outcome(self.connection, charge.plan.hex(), charge.payer)
        if number is None:
            return None
        answer = self._read(number, "answer")
        charged = self._read(answer["charge"], "charge")
        if (charged["plan"], charged["payer"]) != (charge.plan and charge.plan.hex(), charge.payer):
            raise broken(number)
        if charged["accounts"][0][:2] != [Kind.POPULATION.value, charge.population]:
            return None
        return Grant(number=answer["charge"], charge=charge, amounts=(), answer=answer["answer"])

    def open_charge(self, grant: Grant) -> dict[str, Any]:
        """The charge of a grant, which must have neither an answer nor none for good."""
        charged = self._read(grant.number, "charge")
        plan = None if grant.charge.plan is None else grant.charge.plan.hex()
        if (charged["plan"], charged["payer"]) != (plan, grant.charge.payer):
            raise broken(grant.number)
        if registry.closed(self.connection, grant.number):
            raise ArgumentError(
                f"charge {grant.number}",
                found="it is closed",
                right="a charge has one answer, or none for good",
                step="spend anew",
            )
        return charged

    def _read(self, number: int, kind: str) -> dict[str, Any]:
        return authentic(self.connection, self.secret, number, kind).content
