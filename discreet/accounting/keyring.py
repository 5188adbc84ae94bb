"""The keyring: the public keys of a curator with their states, as one document that can be published.

1. The first key starts the ring. Each later one is introduced by a successor statement that the key before it signed.
2. The whole ring, with all dates and revocations, is signed by its last key, which is the one in use. So nothing in a
   ring can be altered, and a revocation cannot be taken out of it.
3. Each revocation has a date and a reason, and says whether the key was compromised.

The policy on dates. A document counts when it is dated

* not before its key was introduced, before the key expired, and not after its successor was introduced; and,
* where its key was revoked without being compromised (lost, retired): before the day of the revocation;
* where its key was compromised: never, whatever its date, for a thief can write any date. What the keeper still stands
  by is signed anew with the key in use.

An expired key signs nothing that counts but may still introduce its successor, so that nobody is locked out.

What it does not promise. A ring proves that its keys belong together, not whose they are: compare the fingerprint over
a way you trust. Who is given an old ring does not see what was revoked since: take it from where it is published.
Whoever steals the key in use can go on with the ring; then the new fingerprint must be made known as the first one was.

Tested: test_rotation_keeps_old_receipts_and_stops_the_old_key, test_revocation_policy_on_dates,
        test_no_leaf_of_a_ring_can_be_altered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from discreet.accounting.chain import canonical
from discreet.accounting.document import parse, time_text
from discreet.accounting.signing import SigningKey, fingerprint, is_signed
from discreet.check import known
from discreet.errors import ArgumentError, CheckFailedError

__all__ = ["Keyring", "PublicKey", "Revocation"]

_FORMAT = 1
_REASON_SIGNS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Revocation:
    """Since when, and why, a key is not to be believed."""

    at: str
    reason: str
    compromised: bool

    def __post_init__(self) -> None:
        time_text(self.at)
        if not self.reason.strip() or not self.reason.isprintable() or len(self.reason) > _REASON_SIGNS:
            raise ArgumentError(
                "reason",
                found="none, or one that does not print on a line",
                right="a revocation says why",
                step=f"give a reason of up to {_REASON_SIGNS} signs",
            )
        if not isinstance(self.compromised, bool):
            raise ArgumentError("compromised", found="neither", right="it is true or false", step="say which")

    def as_json(self) -> dict[str, object]:
        """The statement as plain values."""
        return {"at": self.at, "compromised": self.compromised, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    """One public key: since when it is used, until when it may sign, who introduced it, and whether it was revoked."""

    public: bytes
    since: str
    until: str | None = None
    introduction: str | None = None
    revoked: Revocation | None = None

    def __post_init__(self) -> None:
        time_text(self.since)
        if self.until is not None and time_text(self.until) <= self.since:
            raise ArgumentError("until", found="no time to sign", right="it ends after it starts", step="give a later")

    @property
    def fingerprint(self) -> str:
        """What people compare."""
        return fingerprint(self.public)

    def statement(self, before: PublicKey) -> dict[str, object]:
        """What the key before this one signs to introduce it."""
        return {"after": before.fingerprint, "public": self.public.hex(), "since": self.since, "until": self.until}

    def as_json(self) -> dict[str, object]:
        """The key as plain values."""
        return {
            "fingerprint": self.fingerprint,
            "introduction": self.introduction,
            "public": self.public.hex(),
            "revoked": None if self.revoked is None else self.revoked.as_json(),
            "since": self.since,
            "until": self.until,
        }

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> PublicKey:
        """The key that `as_json` wrote."""
        revoked = stored["revoked"]
        return cls(
            public=bytes.fromhex(stored["public"]),
            since=stored["since"],
            until=stored["until"],
            introduction=stored["introduction"],
            revoked=None if revoked is None else Revocation(**revoked),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Keyring:
    """The public keys of one curator, oldest first; the last one is in use. A ring that does not hold cannot exist."""

    keys: tuple[PublicKey, ...]
    issued: str
    signature: str

    def __post_init__(self) -> None:
        fault = self._fault()
        if fault is not None:
            raise _unsound(fault)

    @classmethod
    def start(cls, key: SigningKey, *, since: str, until: str | None = None) -> Keyring:
        """A ring of one key."""
        return _signed((PublicKey(public=key.public, since=since, until=until),), since, key)

    @classmethod
    def parse(cls, text: str, *, known_as: str | None = None) -> Keyring:
        """A published ring. With a fingerprint, that key must be in it and not have been compromised."""
        stored = parse("keyring", text.removesuffix("\n"))
        try:
            keys = tuple(PublicKey.from_json(key) for key in stored["keys"])
            ring = cls(keys=keys, issued=stored["issued"], signature=stored["signature"])
            same = canonical(ring.as_json()) == canonical(stored)
        except (KeyError, TypeError, ValueError, AttributeError, ArgumentError):
            same = False
        if not same:
            raise _unsound(f"no keyring of format {_FORMAT}")
        if known_as is not None and not any(key.fingerprint == known_as and not _burnt(key) for key in ring.keys):
            raise _unsound("without the key of that fingerprint, or with it as compromised")
        return ring

    @property
    def current(self) -> PublicKey:
        """The key in use."""
        return self.keys[-1]

    def key(self, name: str) -> PublicKey:
        """The key of that fingerprint."""
        names = [key.fingerprint for key in self.keys]
        return self.keys[names.index(known("key", name, names, step="compare the fingerprint"))]

    def succeeded(self, old: SigningKey, new: SigningKey, *, at: str, until: str | None = None) -> Keyring:
        """The ring with a new key in use, introduced by the one that was."""
        key = PublicKey(public=new.public, since=at, until=until)
        introduction = old.sign("successor", key.statement(self.current))
        return _signed((*self.keys, replace(key, introduction=introduction)), at, new)

    def revoking(self, name: str, revocation: Revocation, *, key: SigningKey, at: str) -> Keyring:
        """The ring with one of its former keys revoked."""
        if self.key(name) == self.current:
            raise ArgumentError(
                "key",
                found="the one in use",
                right="a revocation is signed by a later key",
                step="introduce a new key, then revoke this one",
            )
        keys = tuple(replace(one, revoked=revocation) if one.fingerprint == name else one for one in self.keys)
        return _signed(keys, at, key)

    def objection(self, name: str, time: str) -> str | None:
        """Why a document that this key signed does not count when it bears that date; None when it does."""
        at = next((at for at, key in enumerate(self.keys) if key.fingerprint == name), None)
        if at is None:
            return "its key is not in this keyring"
        key = self.keys[at]
        if _burnt(key):
            return "its key was compromised, so nothing that it signed counts"
        if time < key.since:
            return "it is dated before its key was introduced"
        if key.until is not None and time >= key.until:
            return "it is dated after its key expired"
        if key.revoked is not None and time >= key.revoked.at:
            return "it is dated after its key was revoked"
        if key is not self.current and time > self.keys[at + 1].since:
            return "it is dated after its key was replaced"
        return None

    def states(self) -> tuple[tuple[str, str], ...]:
        """Each key's fingerprint and state in words."""
        after = (*self.keys[1:], None)
        return tuple((key.fingerprint, _state(key, successor)) for key, successor in zip(self.keys, after, strict=True))

    def as_json(self) -> dict[str, object]:
        """The ring as plain values."""
        return {**_content(self.keys, self.issued), "signature": self.signature}

    def text(self) -> str:
        """The ring as it is published, in its one spelling."""
        return canonical(self.as_json()) + "\n"

    def _fault(self) -> str | None:
        if not self.keys or self.current.revoked is not None:
            return "no key in use"
        if len({key.public for key in self.keys}) != len(self.keys):
            return "one key twice"
        if self.keys[0].introduction is not None:
            return "a first key that another one introduced"
        for before, key in zip(self.keys, self.keys[1:], strict=False):
            if not is_signed(before.public, "successor", key.statement(before), key.introduction):
                return "a key that the one before it did not introduce"
            if key.since < before.since:
                return "keys that are not in order of time"
        dates = [key.revoked.at for key in self.keys if key.revoked is not None]
        if max([self.current.since, *dates]) > time_text(self.issued):
            return "a date after the day it was issued"
        if not is_signed(self.current.public, "keyring", _content(self.keys, self.issued), self.signature):
            return "no signature of its key in use"
        return None


def _signed(keys: tuple[PublicKey, ...], issued: str, key: SigningKey) -> Keyring:
    return Keyring(keys=keys, issued=issued, signature=key.sign("keyring", _content(keys, issued)))


def _content(keys: tuple[PublicKey, ...], issued: str) -> dict[str, object]:
    return {
        "format": _FORMAT,
        "issued": issued,
        "keys": [key.as_json() for key in keys],
        "what": "keyring of a Discreet curator",
    }


def _burnt(key: PublicKey) -> bool:
    return key.revoked is not None and key.revoked.compromised


def _state(key: PublicKey, successor: PublicKey | None) -> str:
    words = f"replaced on {successor.since}" if successor else f"in use since {key.since}"
    if key.until is not None:
        words += f", may sign until {key.until}"
    if key.revoked is not None:
        words += f", revoked on {key.revoked.at}{' as compromised' if _burnt(key) else ''}: {key.revoked.reason}"
    return words


def _unsound(found: str) -> CheckFailedError:
    return CheckFailedError(
        "keyring",
        found=found,
        right="each key is introduced by the one before it, and the last one signs the whole",
        step="take the keyring from where the keeper publishes it",
    )
