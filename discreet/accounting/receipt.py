"""The signed record of a release: what was computed, of which population, under which guarantee, at which cost.

A receipt holds public facts and the digest of what was released; docs/explain/receipt.md describes the format, field by
field. It is signed with the curator's key and read against the curator's keyring, by `verify` or by the standalone
checker `discreet/accounting/standalone/check_receipt.py`, which needs no Discreet.

Given:   ids are random (`random_id`); `version` is the public counter of the table's declared refreshes; `chain` is the
         keyed digest of the ledger's entry; plan, sensitivity proof, contract and notes are public facts.
Promise: nothing in a receipt is a function of the data other than what was released; what verifies was signed by the
         owner of a key of the ring and not altered since, in any field, and its pure or zero-concentrated guarantee
         covers the exact price of its events.
Because: each field is one of the above, the digest of the result is post-processing of the release, and the signature
         covers the one spelling of all fields.
Tested:  test_neighbours_have_the_same_receipt, test_no_leaf_can_be_altered, test_a_guarantee_covers_its_events.

What it does not promise. The keeper can sign what is not true: a receipt says who stands by a claim. An (ε, δ)
guarantee is what the accountant reported, and is not worked out again here. A receipt of teaching output (seeded bits)
never verifies as good.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias

from discreet.accounting import events
from discreet.accounting.chain import canonical
from discreet.accounting.document import SIZE_AT_MOST, Facts, parse, time_text
from discreet.accounting.keyring import Keyring
from discreet.accounting.signing import SigningKey, is_signed
from discreet.check import one_of
from discreet.errors import ArgumentError, CheckFailedError, FileError
from discreet.guarantee import ZCDP, Adjacency, ApproxDP, Guarantee, PureDP
from discreet.randomness import Bits

__all__ = [
    "Expected",
    "Outcome",
    "Receipt",
    "SignedReceipt",
    "Verdict",
    "public_digest",
    "random_id",
    "sign",
    "verify",
    "verify_receipt",
]

Outcome: TypeAlias = Literal["good", "teaching", "rejected"]

FORMAT = 1
_KINDS: dict[str, type[PureDP | ZCDP | ApproxDP]] = {"pure": PureDP, "zcdp": ZCDP, "approx": ApproxDP}
_HEX = {"release": 32, "version_id": 32, "ledger": 32, "contract": 64, "chain": 64, "result": 64}
_NAMES = ("population", "table", "unit")
_SIGNS = 600  # a note of what was published and the name of its population fit in


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What is signed about one release."""

    release: str
    population: str
    table: str
    version: int
    version_id: str
    contract: str
    plan: Facts
    event: events.Event
    guarantee: Guarantee
    adjacency: Adjacency
    unit: str
    sensitivity: Facts
    ledger: str
    entry: int
    chain: str
    result: str
    versions: Facts
    time: str
    drafted: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    teaching: bool = False

    def __post_init__(self) -> None:
        for name, signs in _HEX.items():
            if not re.fullmatch(rf"[0-9a-f]{{{signs}}}", getattr(self, name)):
                raise _unfit(name, f"{signs} hexadecimal signs")
        for name in _NAMES:
            _require_line(name, getattr(self, name))
        for name in ("drafted", "outside"):
            for note in getattr(self, name):
                _require_line(name, note)
        for name, least in (("version", 0), ("entry", 1)):
            if type(getattr(self, name)) is not int or getattr(self, name) < least:
                raise _unfit(name, f"a whole number of at least {least}")
        if not isinstance(self.teaching, bool):
            raise _unfit("teaching", "true or false")
        one_of("adjacency", self.adjacency, tuple(Adjacency))
        time_text(self.time)
        if not _covers(self.guarantee, self.event):
            raise _unfit("guarantee", "no less than what its events cost")

    def first_line(self) -> str:
        """What a reader must know before anything else."""
        parts = ["Teaching only: drawn from seeded bits, so it protects nobody."] if self.teaching else []
        if self.outside:
            parts.append(f"Published of this population outside the guarantee: {'; '.join(self.outside)}.")
        if self.drafted:
            parts.append(f"Rests on facts that were drafted from the data: {'; '.join(self.drafted)}.")
        return " ".join(parts) or "No publication outside the guarantee is recorded, and no drafted fact was used."

    def sentences(self) -> tuple[str, ...]:
        """The receipt for people, the warnings first."""
        return (
            self.first_line(),
            f"Release {self.release} of table {self.table!r}, version {self.version}, made {self.time}.",
            f"Guarantee: {self.guarantee} under {self.adjacency.value}, for each {self.unit}.",
            f"Charged to the population {self.population!r} as entry {self.entry} of ledger {self.ledger}.",
        )

    def as_json(self) -> dict[str, Any]:
        """All fields as plain values."""
        return {"format": FORMAT, **{field.name: _plain(getattr(self, field.name)) for field in fields(self)}}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Receipt:
        """The receipt that `as_json` wrote; anything else is an error."""
        try:
            receipt = cls(**{field.name: _rich(field.name, stored[field.name]) for field in fields(cls)})
            same = canonical(receipt.as_json()) == canonical(stored)
        except (KeyError, TypeError, ValueError, AttributeError, ArgumentError):
            same = False
        if not same:
            raise CheckFailedError(
                "receipt",
                found=f"no receipt of format {FORMAT} that adds up",
                right="docs/explain/receipt.md describes each field",
                step="ask the keeper, or update Discreet",
            )
        return receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedReceipt:
    """A receipt with the signature of the key of that fingerprint."""

    receipt: Receipt
    key: str
    signature: str

    def text(self) -> str:
        """The file, in its one spelling."""
        return canonical({"key": self.key, "receipt": self.receipt.as_json(), "signature": self.signature}) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a reader knows of the release a receipt should be of; None where nothing is known."""

    release: str | None = None
    population: str | None = None
    table: str | None = None
    version_id: str | None = None
    contract: str | None = None
    result: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a receipt, in one sentence. The receipt is there when its signature held."""

    outcome: Outcome
    sentence: str
    receipt: Receipt | None = None

    @property
    def holds(self) -> bool:
        """Whether it is the receipt of a public release."""
        return self.outcome == "good"


def random_id(bits: Bits) -> str:
    """128 random bits: the name of a release or of a version, which says nothing of either."""
    return f"{bits.bits(128):032x}"


def public_digest(content: bytes) -> str:
    """SHA-256 of what everybody may have: a contract, or a result that was released. Never of data."""
    return hashlib.sha256(content).hexdigest()


def sign(receipt: Receipt, key: SigningKey) -> SignedReceipt:
    """The receipt under the curator's signature."""
    return SignedReceipt(receipt=receipt, key=key.fingerprint, signature=key.sign("receipt", receipt.as_json()))


def verify(text: str, keyring: Keyring, expected: Expected | None = None) -> Verdict:
    """Whether that text is a receipt signed by a key of the ring, and of the release that was expected.

    Nothing of the text is believed or shown before its signature held.
    """
    try:
        stored = parse("receipt", text.removesuffix("\n"))
        if set(stored) != {"key", "receipt", "signature"}:
            return _rejected("it is not a signed receipt")
        signer = next((key for key in keyring.keys if key.fingerprint == stored["key"]), None)
        if signer is None:
            return _rejected("its key is not in this keyring")
        if not is_signed(signer.public, "receipt", stored["receipt"], stored["signature"]):
            return _rejected("its signature does not fit, so it was altered or never signed")
        receipt = Receipt.from_json(stored["receipt"])
    except CheckFailedError as error:
        return _rejected(f"it is {error.found}")
    reason = keyring.objection(signer.fingerprint, receipt.time) or _difference(receipt, expected or Expected())
    if reason is not None:
        return _rejected(reason, receipt)
    if receipt.teaching:
        sentence = "Teaching only: the signature holds, but seeded bits were used, so this is no receipt of a release."
        return Verdict(outcome="teaching", sentence=sentence, receipt=receipt)
    sentence = (
        f"Good: release {receipt.release} with {receipt.guarantee} was signed by the key {signer.fingerprint} "
        f"and dated {receipt.time}, and nothing in it was altered."
    )
    return Verdict(outcome="good", sentence=sentence, receipt=receipt)


def verify_receipt(path: Path, keyring: Keyring, expected: Expected | None = None) -> Verdict:
    """`verify` for a file."""
    try:
        with path.open("rb") as file:
            content = file.read(SIZE_AT_MOST + 2)
    except OSError as error:
        raise FileError(
            str(path),
            found=(error.strerror or "an error of the file system").lower(),
            right="a receipt is a file of one line",
            step="name another file",
        ) from None
    return verify(content.decode("ascii", errors="replace"), keyring, expected)


def _difference(receipt: Receipt, expected: Expected) -> str | None:
    for field in fields(expected):
        wanted = getattr(expected, field.name)
        if wanted is not None and wanted != getattr(receipt, field.name):
            return f"it is the receipt of something else: its {field.name.replace('_', ' ')} is not the one expected"
    return None


def _rejected(reason: str, receipt: Receipt | None = None) -> Verdict:
    return Verdict(outcome="rejected", sentence=f"Rejected: {reason}.", receipt=receipt)


def _covers(guarantee: Guarantee, event: events.Event) -> bool:
    """Whether the guarantee is at least the exact price; an (ε, δ) is taken as the accountant reported it."""
    match guarantee:
        case PureDP():
            price = events.price(event, "pure")
            return price.delta == 0 and price.loss <= guarantee.epsilon
        case ZCDP():
            price = events.price(event, "zcdp")
            return price.delta == 0 and price.loss <= guarantee.rho
        case ApproxDP():
            return True


def _plain(value: object) -> object:
    if isinstance(value, Facts):
        return value.values()
    if isinstance(value, events.Event):
        return events.to_json(value)
    if isinstance(value, PureDP | ZCDP | ApproxDP):
        kind = next(name for name, kind in _KINDS.items() if isinstance(value, kind))
        return {"kind": kind, **value.as_json()}
    if isinstance(value, Adjacency):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def _rich(name: str, stored: Any) -> Any:
    if name in ("plan", "sensitivity", "versions"):
        return Facts.of(stored)
    if name == "event":
        return events.from_json(stored)
    if name == "guarantee":
        return _KINDS[stored["kind"]].of(**{part: text for part, text in stored.items() if part != "kind"})
    if name == "adjacency":
        return Adjacency(stored)
    return tuple(stored) if name in ("drafted", "outside") else stored


def _require_line(name: str, text: str) -> None:
    if not text.strip() or not text.isprintable() or len(text) > _SIGNS:
        raise _unfit(name, f"1 to {_SIGNS} signs that print on a line")


def _unfit(name: str, right: str) -> ArgumentError:
    return ArgumentError(
        f"{name} of a receipt", found="something else", right=f"it is {right}", step="see docs/explain/receipt.md"
    )
