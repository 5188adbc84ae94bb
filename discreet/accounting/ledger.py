"""The durable account of what was spent, which cannot be overspent.

1. A charge is priced from its event alone, in the currency of each account it counts against: the population's, and the
   analyst's and the project's where there are any.
2. In one transaction that runs alone: the chain ends where the signed head says; an answer this payer has paid for
   already is found and given for nothing; each account has enough left, or nothing is charged; the charge is written
   behind the chain. The commit is durable before any data are read.
3. The answer is written by a second commit. A crash in between leaves a charge without an answer. Nothing is ever given
   back.

Given:   prices hold for the population's adjacency and unit (`events.price`); the key and the head are out of reach of
         whoever can write the database.
Promise: the sum of all prices charged to an account never exceeds its limit (in a period, where it refills), over all
         processes and through crashes; no answer exists without its charge; an edited, shortened or exchanged history
         is detected by `verify`, and one that is behind its head, edited where the accounts are added up from, or
         gone, spends nothing.
Because: charges take turns and are compared as integers, rounded up, with limits rounded down; accounts are what the
         keyed chain adds up to, and stand nowhere else; adding pure and zero-concentrated losses is a valid filter
         when each event was chosen after seeing the answers before it.
Tested:  test_sum_of_grants_never_exceeds_the_limit, test_kills_leave_no_answer_without_its_charge,
         test_every_edit_is_detected, test_older_copy_spends_nothing, test_a_ledger_taken_away_does_not_begin_anew,
         test_ledger_agrees_with_its_model.

Another payer who asks the same is charged in full and draws anew, so that nobody can tell what others asked. One payer
who asks the same twice at once pays twice and gets both answers; the one written first is given again from then on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import Any

import sqlalchemy as sa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from discreet.accounting import registry, standing, store
from discreet.accounting.account import Account, AccountKey, Kind, Period
from discreet.accounting.amount import Amount
from discreet.accounting.chain import GENESIS, Entry, Head, HeadFile
from discreet.accounting.change import Change, Charge, Charged, Grant
from discreet.accounting.events import Currency, Price, price, to_json
from discreet.accounting.outside import OUTSIDE, named_outside, outside_note
from discreet.accounting.standing import CHECKPOINT_EVERY, Audit, Secret, Standing
from discreet.errors import ArgumentError, BudgetError, CheckFailedError, FolderError, UnknownNameError
from discreet.randomness import system_bits

__all__ = ["Charge", "Charged", "Grant", "Ledger"]

Clock = Callable[[], datetime.datetime]

_DIGEST_BYTES = 32
_OWN_KINDS = frozenset({"open", "limit", "charge", "answer", "no result", "gap", "standing"})
_KIND = re.compile(r"[a-z][a-z ]{0,22}[a-z]")
_LINES_AT_MOST = 50
_NUMBER_AT_MOST = 2**62


class Ledger:
    """One ledger in one database, with its head in a file elsewhere. Threads and processes may share it."""

    def __init__(
        self,
        url: str,
        *,
        key: bytes,
        signer: Ed25519PrivateKey,
        heads: Path,
        clock: Clock = lambda: datetime.datetime.now(datetime.UTC),
    ) -> None:
        if len(key) != _DIGEST_BYTES:
            raise ArgumentError("key", found="no key", right=f"it has {_DIGEST_BYTES} bytes", step="give the folder's")
        self._store = store.Store(url)
        self._clock = clock
        with self._store.reading() as connection:
            found = registry.identity(connection)
        if found is None:
            found = self._begin(signer, heads)
        self.id = found
        self._secret = Secret(key=key, ledger=self.id)
        self._head = HeadFile(heads / f"{self.id}.json", signer)
        self._known = Standing()

    def open_account(
        self, key: AccountKey, currency: Currency, limit: Price, *, period: Period = Period.NEVER, reason: str = ""
    ) -> Account:
        """Open an account. A second population needs a reason: known persons under a new name have a new budget."""
        with self._changing() as change:
            index = period.ordinal(change.moment)
            account = Account(key=key, currency=currency, limit=Amount.down(limit), period=period, period_index=index)
            if key in change.standing.accounts:
                raise ArgumentError(
                    str(key), found="it is open already", right="each account is opened once", step="use it"
                )
            others = any(one.kind is Kind.POPULATION for one in change.standing.accounts)
            if key.kind is Kind.POPULATION and others and not reason.strip():
                raise ArgumentError(
                    str(key),
                    found="another population stands in this ledger",
                    right="persons who are known under another name must not get a second budget",
                    step="give the reason why these are other persons",
                )
            change.append("open", {**account.as_json(), "reason": reason})
        return account

    def set_limit(self, key: AccountKey, limit: Price, *, reason: str) -> Account:
        """Change what an account may spend. What was spent stays spent."""
        _require_reason(reason)
        with self._changing() as change:
            changed = _account(change.standing, key).limited(Amount.down(limit))
            change.append("limit", {**changed.as_json(), "reason": reason})
        return changed

    def account(self, key: AccountKey) -> Account:
        """One account as it stands."""
        return _account(self._standing(), key).at(self._moment())

    def accounts(self) -> tuple[Account, ...]:
        """All accounts as they stand, by kind and name."""
        moment = self._moment()
        return tuple(account.at(moment) for _, account in sorted(self._standing().accounts.items()))

    def spend(self, charge: Charge) -> Grant:
        """Charge all accounts at once, or none and say why, or give what this payer has paid for."""
        with self._changing() as change:
            paid = change.paid_before(charge)
            if paid is not None:
                return paid
            amounts, charged = [], []
            for key in charge.keys:
                account = _account(change.standing, key).at(change.moment)
                cost = Amount.up(price(charge.event, account.currency))
                _require_within(account, cost)
                amounts.append((key, account.currency, cost))
                charged.append(
                    [key.kind.value, key.name, account.currency, cost.loss, cost.delta, account.period_index]
                )
            content = {
                "accounts": charged,
                "event": to_json(charge.event),
                "payer": charge.payer,
                "plan": None if charge.plan is None else charge.plan.hex(),
                "what": dict(charge.what),
            }
            number = change.append("charge", content)
        return Grant(number=number, charge=charge, amounts=tuple(amounts))

    def is_paid(self, charge: Charge) -> bool:
        """Whether this payer has paid for that plan before, so that spending would give the answer again."""
        if charge.plan is None:
            return False
        with self._store.reading() as connection:
            return registry.outcome(connection, charge.plan.hex(), charge.payer) is not None

    def settle(self, grant: Grant, answer: Mapping[str, Any]) -> None:
        """Write the answer behind its charge; from then on whoever paid may have it again."""
        with self._changing() as change:
            charged = change.open_charge(grant)
            number = change.append("answer", {"charge": grant.number, "answer": dict(answer)})
            payer = None if charged["plan"] is None else charged["payer"]
            registry.close(change.connection, grant.number, number, plan=charged["plan"], payer=payer)

    def fail(self, grant: Grant) -> None:
        """Write that a charge has no result. It is not given again: who asks once more pays once more."""
        with self._changing() as change:
            change.open_charge(grant)
            number = change.append("no result", {"charge": grant.number})
            registry.close(change.connection, grant.number, number, plan=None, payer=None)

    def note(self, kind: str, content: Mapping[str, Any]) -> int:
        """Write something that costs nothing and must be remembered, such as a publication outside the guarantee."""
        if kind in _OWN_KINDS or not _KIND.fullmatch(kind):
            raise ArgumentError(
                "kind",
                found=f"{kind!r}",
                right="a few small letters that are no verb of the ledger's own",
                step="choose another, such as 'outside the guarantee'",
            )
        if kind == OUTSIDE:
            content = outside_note(str(content.get("population", "")), str(content.get("what", "")))
        with self._changing() as change:
            return change.append(kind, content)

    def outside(self, population: str) -> tuple[str, ...]:
        """What was published of that population outside the guarantee, each once, oldest first."""
        return self._standing().outside.get(population, ())

    def charged(self, number: int) -> Charged:
        """A charge as the chain has it, for its receipt. A copy that is older than its head, or edited, has none."""
        with self._store.reading() as connection:
            self._require_head(connection)
            known = standing.resume(connection, self._secret, self._known)
            entry = standing.authentic(connection, self._secret, number, "charge")
        charged = (name for kind, name, *_ in entry.content["accounts"] if kind == Kind.POPULATION)
        population, *others = charged
        return Charged(entry=entry, population=population, outside=named_outside(known.outside, population, others))

    def entries(self, *, kind: str | None = None) -> tuple[Entry, ...]:
        """The whole history, or all entries of one kind."""
        with self._store.reading() as connection:
            return tuple(registry.history(connection, kind=kind))

    def head(self) -> Head | None:
        """Where the chain ended when its head was last signed."""
        return self._head.read()

    def verify(self) -> tuple[str, ...]:
        """What is wrong with the history, the accounts or the head; empty when all is well."""
        lines: list[str] = []
        try:
            head = self._head.read()
        except FolderError as error:
            head = None
            lines.append(f"the head: {error.found}")
        if not self._store.is_sound():
            lines.append("pages of the database are damaged")
        try:
            with self._store.reading() as connection:
                audit = Audit(self._secret, head)
                lines += audit.problems(registry.history(connection), registry.outcomes(connection))
        except FolderError:
            lines.append("the database cannot be read to its end")
        more = len(lines) - _LINES_AT_MOST
        return tuple(lines) if more <= 0 else (*lines[:_LINES_AT_MOST], f"and {more} more like these")

    def restore(self, gap: Mapping[AccountKey, Price], *, reason: str) -> None:
        """Go on with an older copy, or behind what was broken: charge what may be missing, and sign a new head.

        Accounts go on from what authentic entries add up to. Every population must be named, with 0 at the least.
        """
        _require_reason(reason)
        head = self._head_if_any()
        with self._store.changing() as connection:
            audit = Audit(self._secret, head)
            for _ in audit.problems(registry.history(connection), set()):
                continue  # only what it adds up to is wanted here
            last = audit.standing
            accounts, charged = dict(last.accounts), []
            for key, missing in gap.items():
                cost = Amount.up(missing)
                accounts[key] = _account(last, key).charged(cost)
                charged.append([key.kind.value, key.name, cost.loss, cost.delta])
            _require_all_named(accounts, gap)
            behind = max(last.number, 0 if head is None else head.number)
            if behind > _NUMBER_AT_MOST:
                raise standing.broken(behind)
            content = {
                **dataclasses.replace(last, accounts=accounts).as_json(),
                "charged": charged,
                "from": last.number,
                "reason": reason,
                "to": behind,
                "unread": audit.unread,
            }
            change = Change(connection, self._secret, last, self._moment())
            change.append("gap", content, number=behind + 1)
        self._head.replace(Head(ledger=self.id, number=change.standing.number, digest=change.standing.digest))
        self._known = change.standing

    @property
    def head_file(self) -> Path:
        """Where the signed head stands."""
        return self._head.path

    def close(self) -> None:
        """Give the database back."""
        self._store.close()

    def _begin(self, signer: Ed25519PrivateKey, heads: Path) -> str:
        """Name a new ledger and sign its first head, before anybody can see it without one."""

        def draw() -> str:
            name = f"{system_bits().bits(128):032x}"
            HeadFile(heads / f"{name}.json", signer).replace(Head(ledger=name, number=0, digest=GENESIS))
            return name

        try:
            with self._store.changing() as connection:
                if registry.identity(connection) is None:
                    _require_none_lost(heads, signer)
                found = registry.identity(connection, draw)
        except BaseException:
            self._store.close()  # a database that is put back must not meet connections to this one
            raise
        assert found is not None
        return found

    def _moment(self) -> datetime.datetime:
        return self._clock().astimezone(datetime.UTC)

    def _standing(self) -> Standing:
        with self._store.reading() as connection:
            return standing.resume(connection, self._secret, self._known)

    def _head_if_any(self) -> Head | None:
        try:
            head = self._head.read()
        except FolderError:
            return None
        return head if head is not None and head.ledger == self.id else None

    @contextlib.contextmanager
    def _changing(self) -> Iterator[Change]:
        """A transaction on a whole chain that may append to it; the head moves on once it is durable."""
        with self._store.changing() as connection:
            self._require_head(connection)
            before = standing.resume(connection, self._secret, self._known)
            change = Change(connection, self._secret, before, self._moment())
            yield change
            if change.standing.number > before.number:
                self._head.require_writable()
                if change.standing.since >= CHECKPOINT_EVERY:
                    change.append("standing", change.standing.as_json())
        self._known = change.standing
        if change.standing.number > before.number:
            last = change.standing
            self._head.advance(Head(ledger=self.id, number=last.number, digest=last.digest))

    def _require_head(self, connection: sa.Connection) -> None:
        """The chain must hold the entry its head was signed for."""
        head = self._head.read()
        if head is not None and head.ledger == self.id:
            known = self._known
            if (head.number, head.digest) == (known.number, known.digest) == registry.last(connection):
                return
            if registry.digest_of(connection, head.number) == head.digest:
                return
        if head is None:
            raise CheckFailedError(
                "ledger",
                found=f"no signed head in {self._head.path.parent}",
                right="a ledger spends nothing without the head that says where it ended",
                step="name the folder of heads in DISCREET_HEADS or bring the head back, else discreet ledger restore",
            )
        raise CheckFailedError(
            "ledger",
            found="a history that is not the one its head was signed for",
            right="an older or edited copy spends nothing",
            step="discreet ledger verify, then discreet ledger restore",
        )


def _require_none_lost(heads: Path, signer: Ed25519PrivateKey) -> None:
    """Refuse to begin where a ledger of this folder has counted before: taking it away must not bring budgets back."""
    for path in sorted(heads.glob("*.json")):
        with contextlib.suppress(FolderError):  # a head of another folder's ledger
            former = HeadFile(path, signer).read()
            if former is not None and former.number:
                raise CheckFailedError(
                    "ledger",
                    found=f"none, though {path} was signed for {former.number} entries of this folder",
                    right="a budget does not come back by losing its ledger",
                    step="put a copy of the database back, then discreet ledger restore; only where none is left, and "
                    "every budget is to begin anew, move that head away",
                )


def _account(known: Standing, key: AccountKey) -> Account:
    found = known.accounts.get(key)
    if found is None:
        names = sorted(one.name for one in known.accounts if one.kind is Kind.POPULATION)
        # Who else may ask is nobody's business; populations stand in every contract.
        right = f"there is {', '.join(names[:12]) or 'none'}" if key.kind is Kind.POPULATION else "the keeper opens it"
        opening = f"discreet ledger open {key.kind} {quote(key.name)} --epsilon 3 --reason WHY"
        raise UnknownNameError(str(key), found="no such account", right=right, step=opening)
    return found


def _require_within(account: Account, cost: Amount) -> None:
    """Refuse what is not left, and say what was spent, asked and left."""
    if cost == Amount():
        raise ArgumentError("charge", found="nothing", right="every answer costs something", step="give an ε above 0")
    if not (account.spent + cost).fits(account.limit):
        raise BudgetError(
            str(account.key),
            found=(
                f"spent {account.spent.text(account.currency)}, asked {cost.text(account.currency)}, "
                f"left {account.left.text(account.currency)}"
            ),
            right=f"its limit is {account.limit.text(account.currency)}, and nothing was charged",
            step="ask for less, or ask the keeper",
        )


def _require_reason(reason: str) -> None:
    if not reason.strip():
        raise ArgumentError("reason", found="none", right="this is written down with one", step="give --reason")


def _require_all_named(accounts: Mapping[AccountKey, Account], gap: Mapping[AccountKey, Price]) -> None:
    unnamed = sorted(key.name for key in set(accounts) - set(gap) if key.kind is Kind.POPULATION)
    if unnamed:
        raise ArgumentError(
            "gap",
            found=f"nothing for the population {unnamed[0]!r}",
            right="every population is charged for what may have been answered since the copy was made",
            step="name an amount for each, even 0",
        )
