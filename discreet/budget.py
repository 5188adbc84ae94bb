"""The curator's ledger: where it is kept, what it is keyed with, and the accounts that contracts open.

The database stands in the curator's folder, or on a PostgreSQL server that the folder names. The signed head stands
outside the folder, so that restoring an older copy of the folder is noticed: in the folder named by DISCREET_HEADS,
else in the user's state folder.

What the ledger cannot know is which persons a file holds. It is held against what the keeper said before: a table that
was charged to one population is not charged to another without a written reason, nor is the same file under another
name; and what is added up on one account must speak of the same neighbours.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from discreet.accounting.account import Account, AccountKey, Kind
from discreet.accounting.events import Currency, Price
from discreet.accounting.ledger import Ledger
from discreet.accounting.store import Store
from discreet.data.contract import Budget, Contract
from discreet.environment import state_folder
from discreet.errors import ArgumentError, ContractError
from discreet.folder import Folder

__all__ = [
    "keep_ledger_at",
    "ledger_of",
    "open_population",
    "population_of",
    "require_one_meaning",
    "require_same_persons",
    "require_server",
]

_RECORD = Path("ledger.json")
_SERVERS = "postgresql://", "postgresql+psycopg://"


def ledger_of(folder: Folder, *, heads: Path | None = None) -> Ledger:
    """The ledger of a curator's folder, begun when there is none yet."""
    named = folder.read_record(_RECORD).get("url") if (folder.root / _RECORD).exists() else None
    return Ledger(
        str(named) if named else f"sqlite:///{folder.root / 'ledger.db'}",
        key=_derived(folder, b"ledger chain"),
        signer=Ed25519PrivateKey.from_private_bytes(_derived(folder, b"ledger head")),
        heads=heads or _heads(),
    )


def require_server(url: str) -> None:
    """Refuse an address at which no PostgreSQL database can keep a ledger, before a folder names it."""
    if not url.startswith(_SERVERS):
        raise ArgumentError(
            "ledger",
            found="another address",
            right="a ledger outside the folder is kept on PostgreSQL",
            step="give postgresql://USER@HOST/DATABASE, or leave it out for a file in the folder",
        )
    Store(url).close()


def keep_ledger_at(folder: Folder, url: str) -> None:
    """Let a new folder's ledger be kept in that database."""
    folder.write_record(_RECORD, {"url": url})


def population_of(contract: Contract) -> AccountKey:
    """The account of the persons a contract speaks of."""
    return AccountKey(Kind.POPULATION, contract.whose)


def open_population(ledger: Ledger, contract: Contract, *, reason: str = "") -> Account | None:
    """Open the account of a contract's population with the contract's budget, unless it stands open already.

    Tables that share a population share its account: a budget in a second contract opens nothing.
    """
    key = population_of(contract)
    standing = {account.key: account for account in ledger.accounts()}
    if key in standing or contract.budget is None:
        return standing.get(key)
    currency, limit = _limit(contract.budget)
    return ledger.open_account(key, currency, limit, reason=reason)


def require_one_meaning(contract: Contract, others: Iterable[Contract]) -> None:
    """Refuse neighbours other than those of the contracts that share the account: their prices would not add up."""
    for other in others:
        if other.whose != contract.whose:
            continue
        here, there = _meaning(contract), _meaning(other)
        if here != there:
            raise ContractError(
                f"contract of {contract.table!r}",
                found=f"{here}, while {other.table!r} of the same population {contract.whose!r} has {there}",
                right="an account adds up prices of one kind of neighbour",
                step="say the same in both contracts",
            )


def require_same_persons(ledger: Ledger, contract: Contract, before: Iterable[str], reason: str) -> None:
    """Let rows known as one population's be charged to another for a reason alone, which is written down."""
    opened = {account.key.name for account in ledger.accounts() if account.key.kind is Kind.POPULATION}
    known = sorted(set(before) & opened)
    if not known or contract.whose in known:
        return
    if not reason.strip():
        raise ContractError(
            f"contract of {contract.table!r}",
            found=f"the population {contract.whose!r}, while the same rows were charged to {known[0]!r}",
            right="persons who are known under another name must not get a second budget",
            step="name the former population, or give the reason why these are other persons",
        )
    what = {"table": contract.table, "from": known, "to": contract.whose, "reason": reason}
    ledger.note("population changed", what)


def _meaning(contract: Contract) -> str:
    """What one step between neighbours is, as far as prices of one account must agree in it."""
    period = contract.unit.period
    return contract.adjacency.value + (f" of a person per {period.value}" if period else "")


def _limit(budget: Budget) -> tuple[Currency, Price]:
    if budget.epsilon is not None:
        return "pure", Price(loss=budget.epsilon, delta=budget.delta)
    assert budget.rho is not None
    return "zcdp", Price(loss=budget.rho, delta=budget.delta)


def _derived(folder: Folder, purpose: bytes) -> bytes:
    """A key of its own for each purpose, out of the folder's one secret."""
    secret = folder.key().reveal(to="keeper")
    return hashlib.blake2b(purpose, key=secret, digest_size=32).digest()


def _heads() -> Path:
    """Where heads of ledgers stand: see `discreet.environment`."""
    named = os.environ.get("DISCREET_HEADS")
    return Path(named) if named else state_folder() / "heads"
