"""The chain that makes the ledger's history tell on whoever edits it.

Each entry's digest is keyed and covers the digest before it, so a row that is edited, taken out, put in or moved breaks
every digest behind it, unless its author holds the key. The head, the last number and digest, is signed and kept
outside the folder, so that the whole chain cannot be cut short or exchanged for an older copy unnoticed.

What it does not promise: whoever holds the key can write another history, and whoever can also write the head can hide
that. Copying the folder together with its head makes two ledgers that both look whole.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from discreet.errors import ArgumentError, CheckFailedError, FolderError

__all__ = ["GENESIS", "Entry", "Head", "HeadFile", "canonical", "digest"]

GENESIS = "0" * 64
_PLACES, _PLACE_BYTES = 2, 512
_SCALARS = str, int, float, type(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of the history. Numbers grow by one; after a restore they go on behind the lost ones."""

    number: int
    at: str
    kind: str
    body: str
    digest: str

    @property
    def content(self) -> dict[str, Any]:
        """The body as plain values."""
        try:
            parsed: dict[str, Any] = json.loads(self.body)
        except (ValueError, RecursionError):
            raise CheckFailedError(
                f"entry {self.number}",
                found="a body that nobody wrote",
                right="entries are written by Discreet only",
                step="discreet ledger verify",
            ) from None
        return parsed


def canonical(value: object) -> str:
    """One text for one value, whatever the order of its parts; what JSON would bend is refused."""
    try:
        dumped = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False) if _plain(value) else None
    except (TypeError, ValueError, RecursionError):
        dumped = None
    if dumped is None:
        raise ArgumentError(
            "what the ledger is to keep",
            found="a value that JSON cannot hold",
            right="texts, finite numbers, lists, and mappings whose keys are texts",
            step="give plain values",
        )
    return dumped


def _plain(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(name, str) for name in value) and all(map(_plain, value.values()))
    if isinstance(value, list | tuple):
        return all(map(_plain, value))
    return isinstance(value, _SCALARS)


def digest(key: bytes, ledger: str, before: str, *, number: int, at: str, kind: str, body: str) -> str:
    """The keyed digest of an entry of that ledger behind another one."""
    # The lengths keep a text from moving over from one part to the next.
    content = f"{before} {number} {len(at)} {len(kind)} {at} {kind} {body}".encode(errors="surrogatepass")
    mark = hashlib.blake2b(content, digest_size=32, key=key, salt=bytes.fromhex(ledger), person=b"discreet-ledger")
    return mark.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where the chain ended when it was last written."""

    ledger: str
    number: int
    digest: str

    def message(self) -> bytes:
        """What is signed."""
        return canonical(["discreet head", self.ledger, self.number, self.digest]).encode()


@dataclass(slots=True)
class HeadFile:
    """The signed head on disk. It only moves forward, over all processes.

    The file has two places of equal size, and what is written never stands over the latest head: a crash in the middle
    leaves that one, and neither a rename nor an fsync is needed. A head that lags behind after a crash is no harm.
    """

    path: Path
    signer: Ed25519PrivateKey
    _good: Mapping[bytes, Head] = field(default_factory=dict, repr=False)

    def read(self) -> Head | None:
        """The head, or None when there is no file; a file without a head that was signed here is an error."""
        try:
            stored = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable(error) from None
        return self._latest(stored)[1]

    def require_writable(self) -> None:
        """Say that the head cannot be written before something is charged."""
        if not os.access(self.path, os.W_OK):
            raise self._unusable(PermissionError(errno.EACCES, os.strerror(errno.EACCES)))

    def advance(self, head: Head) -> None:
        """Write the head unless a later one stands there already."""
        try:
            with self.path.open("r+b", buffering=0) as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                place, latest = self._latest(file.read())
                if latest.number < head.number:
                    self._write(file, 1 - place, head)
        except OSError as error:
            raise self._unusable(error) from None

    def replace(self, head: Head) -> None:
        """Write the head over whatever stands there, durably: for a new ledger, and for the keeper's restore."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600), "r+b", buffering=0) as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.truncate(_PLACES * _PLACE_BYTES)
                for place in range(_PLACES):
                    self._write(file, place, head)
                os.fsync(file.fileno())
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise self._unusable(error) from None

    def _write(self, file: BinaryIO, place: int, head: Head) -> None:
        stored = {"ledger": head.ledger, "number": head.number, "digest": head.digest}
        text = canonical({**stored, "signature": self.signer.sign(head.message()).hex()})
        written = text.ljust(_PLACE_BYTES - 1).encode() + b"\n"
        file.seek(place * _PLACE_BYTES)
        file.write(written)
        self._remember(written, head)

    def _latest(self, stored: bytes) -> tuple[int, Head]:
        """The later of the heads that were signed here, and its place."""
        pieces = (stored[place * _PLACE_BYTES : (place + 1) * _PLACE_BYTES] for place in range(_PLACES))
        found = [(place, head) for place, head in enumerate(map(self._signed, pieces)) if head is not None]
        if not found:
            raise FolderError(
                str(self.path),
                found="a head that this ledger did not sign",
                right="the head is written by Discreet only",
                step="discreet ledger restore, once you know what happened",
            )
        return max(found, key=lambda one: one[1].number)

    def _signed(self, piece: bytes) -> Head | None:
        """The head in these bytes, if it was signed here."""
        known = self._good.get(piece)
        if known is not None:
            return known
        try:
            stored = json.loads(piece)
            head = Head(ledger=str(stored["ledger"]), number=int(stored["number"]), digest=str(stored["digest"]))
            self.signer.public_key().verify(bytes.fromhex(stored["signature"]), head.message())
        except (KeyError, TypeError, ValueError, RecursionError, InvalidSignature):
            return None
        self._remember(piece, head)
        return head

    def _remember(self, piece: bytes, head: Head) -> None:
        """Checking a signature costs more than the rest of a spend, and the same bytes stay as good as they were."""
        self._good = {piece: head, **dict(list(self._good.items())[: _PLACES - 1])}

    def _unusable(self, error: OSError) -> FolderError:
        return FolderError(
            str(self.path),
            found=(error.strerror or "an error of the file system").lower(),
            right="the ledger's head must be there to read and write",
            step="give the file or its place back, or name another place for heads",
        )
