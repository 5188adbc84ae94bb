"""The curator's desk for receipts: what a power knows of a release goes in, the signed receipt comes out.

1. Before anything is spent, `require_key` makes the curator's first key where there is none, and refuses where the key
   in use may not sign any more: a charge without a receipt helps nobody.
2. After the answer is written, `receipt_for` looks the charge up in the ledger, whose chain must hold and end where the
   signed head says, and takes from there what the entry proves: its digest, its population, its event, and what was
   published of that population outside the guarantee.
3. The facts of the contract, the plan, the proof and the digest of the released result join it; the key in use signs.

Given:   plan and proof are public facts; `result` is what was released; the version's id was drawn (`random_id`).
Promise: a receipt is signed only for a charge that stands in the ledger, of that population and exactly that event, and
         names everything that was published outside the guarantee before it, of that population and of any other whose
         rows were joined.
Because: the entry is authenticated by the folder's key and compared with what is to be signed; notes are added up from
         the same chain.
Tested:  test_a_receipt_is_of_its_charge_alone, test_later_receipts_name_what_was_published,
         test_a_receipt_of_joined_persons_names_what_was_published_of_both, test_an_older_copy_signs_nothing.

The keys are read again whenever the ring's file has changed, so that a rotation by another process counts at once.
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from discreet.accounting.document import Facts, time_text
from discreet.accounting.events import Event, to_json
from discreet.accounting.keyring import Keyring, Revocation
from discreet.accounting.keystore import KeyStore
from discreet.accounting.ledger import Charged, Ledger
from discreet.accounting.receipt import Receipt, SignedReceipt, public_digest, random_id, sign
from discreet.accounting.signing import SigningKey
from discreet.check import at_least
from discreet.data.contract import Contract
from discreet.errors import ArgumentError, FolderError
from discreet.folder import Folder
from discreet.guarantee import Guarantee
from discreet.randomness import system_bits

__all__ = ["ReceiptDesk"]

Clock = Callable[[], datetime.datetime]


@dataclass(frozen=True, slots=True)
class _Hand:
    """The key that signs and the ring it stands in, as of one state of the ring's file."""

    stamp: tuple[int, int, int]
    key: SigningKey
    ring: Keyring


class ReceiptDesk:
    """Where the receipts of one curator's folder are made and signed. Threads may share it."""

    def __init__(
        self, folder: Folder, ledger: Ledger, *, clock: Clock = lambda: datetime.datetime.now(datetime.UTC)
    ) -> None:
        self._folder, self._ledger, self._clock = folder, ledger, clock
        self._hand: _Hand | None = None
        self._hashed: tuple[Contract, str] | None = None

    def require_key(self) -> None:
        """See to it that a receipt could be signed now. Ask before spending."""
        self._signing()

    def receipt_for(
        self,
        *,
        entry: int,
        contract: Contract,
        table_version: int,
        version_id: str,
        event: Event,
        guarantee: Guarantee,
        plan: Mapping[str, Any],
        sensitivity: Mapping[str, Any],
        result: bytes,
        engine: Mapping[str, str] | None = None,
        teaching: bool = False,
    ) -> SignedReceipt:
        """The signed receipt of the release that ledger entry `entry` paid for.

        `result` holds the released bytes and `engine` the engine's name with its version, DuckDB's unless others are
        given; `teaching` says that seeded bits were used, and such a receipt never verifies as good.
        """
        key, time = self._signing()
        charged = self._ledger.charged(entry)
        _require_same(charged, contract.whose, event)
        receipt = Receipt(
            release=random_id(system_bits()),
            population=charged.population,
            table=contract.table,
            version=table_version,
            version_id=version_id,
            contract=self._hash(contract),
            plan=Facts.of(plan),
            event=event,
            guarantee=guarantee,
            adjacency=contract.adjacency,
            unit=str(contract.unit),
            sensitivity=Facts.of(sensitivity),
            ledger=self._ledger.id,
            entry=entry,
            chain=charged.entry.digest,
            result=public_digest(result),
            versions=Facts.of({**_version_of("discreet"), **(_version_of("duckdb") if engine is None else engine)}),
            time=time,
            drafted=contract.drafted,
            outside=charged.outside,
            teaching=teaching,
        )
        return sign(receipt, key)

    def keys(self) -> tuple[tuple[str, str], ...]:
        """Each key's fingerprint and state in words; the first key is made where there is none."""
        return KeyStore(self._folder).create_if_none(now=self._clock()).states()

    def rotate(self, *, days: int | None = None) -> str:
        """A new key in use, introduced by the one before it; its fingerprint."""
        now = self._clock()
        until = None if days is None else now + datetime.timedelta(days=at_least("days", days, 1))
        store = KeyStore(self._folder)
        store.create_if_none(now=now)
        return store.rotate(now=now, until=until).current.fingerprint

    def revoke(self, fingerprint: str, *, reason: str, compromised: bool) -> None:
        """One of the former keys revoked as of now."""
        now = self._clock()
        revocation = Revocation(at=time_text(now), reason=reason, compromised=compromised)
        KeyStore(self._folder).revoke(fingerprint, revocation, now=now)

    def _signing(self) -> tuple[SigningKey, str]:
        """The key in use, whose signature of now must count, and the time, which is read after the key was made."""
        hand = self._hand
        if hand is None or hand.stamp != self._stamp():
            hand = self._hand = self._read()
        time = time_text(self._clock())
        objection = hand.ring.objection(hand.key.fingerprint, time)
        if objection is not None:
            raise FolderError(
                "signing key",
                found=f"of a receipt of now one would say that {objection}",
                right="a receipt counts from the day its key was introduced until it expires",
                step="set the clock right, or introduce a new key by a rotation",
            )
        return hand.key, time

    def _read(self) -> _Hand:
        store = KeyStore(self._folder)
        stamp = self._stamp()
        if stamp is None:
            store.create_if_none(now=self._clock())
            return self._read()
        try:
            key, ring = store.in_use()
        except FolderError:
            if self._stamp() == stamp:
                raise
            return self._read()  # a rotation took the old key away in between
        return _Hand(stamp=stamp, key=key, ring=ring)

    def _stamp(self) -> tuple[int, int, int] | None:
        """What changes when the ring's file does, which is always written anew."""
        try:
            found = (self._folder.root / "signing" / "keyring.json").stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _hash(self, contract: Contract) -> str:
        """The contract's digest. Contracts do not change, and one is asked of many times."""
        if self._hashed is None or self._hashed[0] is not contract:
            self._hashed = contract, contract.content_hash()
        return self._hashed[1]


def _require_same(charged: Charged, population: str, event: Event) -> None:
    content = charged.entry.content
    if (charged.population, content["event"]) != (population, to_json(event)):
        raise ArgumentError(
            f"entry {charged.entry.number}",
            found="the charge of another event or population",
            right="a receipt speaks of what its own charge paid for",
            step="give the entry of the release's grant",
        )


@functools.cache
def _version_of(package: str) -> Mapping[str, str]:
    try:
        return {package: version(package)}
    except PackageNotFoundError:  # it may be built in without a record of its own
        return {}
