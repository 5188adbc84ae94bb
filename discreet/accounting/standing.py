"""How the accounts stand after an entry, found by adding up the chain: no other record of them exists.

Accounts are nothing but what authentic entries say, so whoever can write the database and not the key cannot change
what was spent, only cut or break the chain, which is refused. Every so many entries one says how all accounts stand;
a process that starts adds up from there, one that runs adds only what others wrote since. What was published of a
population outside the guarantee is added up in the same way, so that no receipt can be kept from naming it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sqlalchemy as sa

from discreet.accounting import registry
from discreet.accounting.account import Account, AccountKey, Kind
from discreet.accounting.amount import Amount
from discreet.accounting.chain import GENESIS, Entry, Head, digest
from discreet.accounting.outside import OUTSIDE, Notes, noted
from discreet.errors import CheckFailedError

__all__ = ["CHECKPOINT_EVERY", "Audit", "Secret", "Standing", "authentic", "broken", "resume"]

CHECKPOINT_EVERY = 256
_CHECKPOINTS = "standing", "gap"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Secret:
    """What an authentic entry of this ledger is known by."""

    key: bytes
    ledger: str

    def digest(self, before: str, *, number: int, at: str, kind: str, body: str) -> str:
        """The digest of an entry behind another one."""
        return digest(self.key, self.ledger, before, number=number, at=at, kind=kind, body=body)

    def wrote(self, entry: Entry, before: str) -> bool:
        """Whether the entry was written here, behind that one."""
        mark = self.digest(before, number=entry.number, at=entry.at, kind=entry.kind, body=entry.body)
        return mark == entry.digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """All accounts, and all notes, after one entry. `since` counts the entries since they were last written down."""

    number: int = 0
    digest: str = GENESIS
    since: int = 0
    accounts: Mapping[AccountKey, Account] = field(default_factory=dict)
    outside: Notes = field(default_factory=dict)

    def after(self, entry: Entry) -> Standing:
        """The accounts after one more entry, which must be authentic."""
        accounts, outside, since = self.accounts, self.outside, self.since + 1
        if entry.kind in ("open", "limit"):
            accounts = {**accounts, **_stated([entry.content])}
        elif entry.kind == "charge":
            accounts = {**accounts, **_charged(accounts, entry.content["accounts"])}
        elif entry.kind == OUTSIDE:
            outside = noted(outside, entry.content)
        elif entry.kind in _CHECKPOINTS:
            accounts, since = _stated(entry.content["accounts"]), 0
            outside = _published(entry.content, outside)
        return Standing(number=entry.number, digest=entry.digest, since=since, accounts=accounts, outside=outside)

    def without(self, entry: Entry) -> Standing:
        """The same accounts behind an entry that is not authentic, so that those behind it can be looked at."""
        return replace(self, number=entry.number, digest=entry.digest)

    def as_json(self) -> dict[str, Any]:
        """All accounts, in order, and all notes, as plain values."""
        return {
            "accounts": [account.as_json() for _, account in sorted(self.accounts.items())],
            "outside": {population: list(notes) for population, notes in self.outside.items()},
        }


def resume(connection: sa.Connection, secret: Secret, known: Standing) -> Standing:
    """The accounts at the end of the chain, from those that are known if the chain still has them."""
    last = registry.last(connection)
    if last == (known.number, known.digest):
        return known
    if known.number == 0 or registry.digest_of(connection, known.number) != known.digest:
        known = _at_checkpoint(connection, secret)
    for entry in registry.after(connection, known.number):
        if not secret.wrote(entry, known.digest):
            raise broken(entry.number)
        known = known.after(entry)
    return known


def authentic(connection: sa.Connection, secret: Secret, number: int, kind: str) -> Entry:
    """The entry of that number and kind, which was written behind the one that stands before it."""
    found = registry.with_before(connection, number)
    if found is None or found[2].kind != kind or not secret.wrote(found[2], found[1]):
        raise broken(number)
    return found[2]


def broken(number: int) -> CheckFailedError:
    """What is said of a chain that does not hold."""
    return CheckFailedError(
        "ledger",
        found=f"entry {number} is not what was written there",
        right="an edited history spends nothing",
        step="discreet ledger verify, then discreet ledger restore",
    )


def _at_checkpoint(connection: sa.Connection, secret: Secret) -> Standing:
    number = registry.checkpoint(connection)
    found = registry.with_before(connection, number)
    if found is None:
        return Standing()
    _, before, entry = found
    if not secret.wrote(entry, before):
        raise broken(number)
    start = Standing()
    if "outside" not in entry.content:  # it was written before checkpoints said what was published
        notes: Notes = {}
        for note in registry.history(connection, kind=OUTSIDE):
            if note.number < number:
                notes = noted(notes, authentic(connection, secret, note.number, OUTSIDE).content)
        start = Standing(outside=notes)
    return start.after(entry)


def _published(content: Mapping[str, Any], known: Notes) -> Notes:
    stated: Mapping[str, Sequence[str]] | None = content.get("outside")
    return known if stated is None else {population: tuple(notes) for population, notes in stated.items()}


def _stated(accounts: Iterable[Mapping[str, Any]]) -> dict[AccountKey, Account]:
    stated = map(Account.from_json, accounts)
    return {account.key: account for account in stated}


def _charged(accounts: Mapping[AccountKey, Account], charges: Iterable[Sequence[Any]]) -> dict[AccountKey, Account]:
    charged = {}
    for kind, name, _, loss, delta, index in charges:
        key = AccountKey(Kind(kind), name)
        if key in accounts:  # it is not where its opening is among what a broken chain lost
            charged[key] = accounts[key].in_period(index).charged(Amount(loss=loss, delta=delta))
    return charged


@dataclass(slots=True)
class Audit:
    """One pass over the whole history: what holds, what does not, and what it adds up to."""

    secret: Secret
    head: Head | None
    standing: Standing = field(default_factory=Standing)
    unread: int = 0
    _whole: bool = True
    _open: dict[int, tuple[str | None, str]] = field(default_factory=dict)
    _outcomes: set[registry.Outcome] = field(default_factory=set)
    _at_head: str | None = None

    def problems(self, entries: Iterable[Entry], noted: set[registry.Outcome]) -> Iterator[str]:
        """Everything in which the history contradicts itself, the notes of closed charges or the head."""
        self._look_for_head(0, GENESIS)
        for entry in entries:
            yield from self._entry_problems(entry)
            self._look_for_head(entry.number, entry.digest)
        if self.head is None:
            yield "there is no signed head"
        elif self.head.ledger != self.secret.ledger or self._at_head != self.head.digest:
            yield f"the head was signed for another history, at entry {self.head.number}"
        if self._whole and noted != self._outcomes:
            yield "the notes of closed charges are not what the entries say"

    def _look_for_head(self, number: int, mark: str) -> None:
        if self.head is not None and number == self.head.number:
            self._at_head = mark

    def _entry_problems(self, entry: Entry) -> Iterator[str]:
        before = self.standing
        if not self.secret.wrote(entry, before.digest):
            # Unread, for nobody knows who wrote it; the next one may still hold on to its digest.
            self._whole, self.standing, self.unread = False, before.without(entry), self.unread + 1
            yield f"entry {entry.number} is not what was written behind entry {before.number}"
            return
        self.standing = before.after(entry)
        if not self._whole:
            return
        if entry.kind == "charge":
            yield from self._charge_problems(entry)
        elif entry.kind in ("answer", "no result"):
            yield from self._closing_problems(entry)
        elif entry.kind == "standing" and self.standing.as_json() != before.as_json():
            yield f"entry {entry.number} says accounts stand otherwise than the entries before it add up to"

    def _charge_problems(self, entry: Entry) -> Iterator[str]:
        content = entry.content
        self._open[entry.number] = content["plan"], content["payer"]
        for kind, name, *_ in content["accounts"]:
            account = self.standing.accounts[AccountKey(Kind(kind), name)]
            if not account.spent.fits(account.limit):
                yield f"entry {entry.number} overspends {account.key}"

    def _closing_problems(self, entry: Entry) -> Iterator[str]:
        charge = entry.content["charge"]
        plan, payer = self._open.pop(charge, (None, None))
        if payer is None:
            yield f"entry {entry.number} closes entry {charge}, which is no open charge"
        answered = entry.kind == "answer" and plan is not None
        self._outcomes.add((charge, entry.number, plan if answered else None, payer if answered else None))
