"""A seal tells whether a file is still the one it was, to whoever holds the key.

1. Size and time of change are looked at first: cheap, and enough against accidents.
2. The full check reads every byte into a BLAKE2b digest keyed with the keeper's secret. A file that differs in one bit
   fails it, and without the key nobody can test from a digest whether a table is a given one.

The time of change does not count in the full check: a file restored with the same bytes is the same file.
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from discreet.errors import ArgumentError, FileError

__all__ = ["Seal", "seal", "verify"]

_CHUNK = 1 << 20
_KEY_BYTES = range(16, 65)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """A file's size, its time of change, and the keyed digest of its bytes."""

    size: int
    mtime_ns: int
    digest: str

    def __post_init__(self) -> None:
        if self.size < 0 or len(bytes.fromhex(self.digest)) != blake2b.MAX_DIGEST_SIZE // 2:
            raise ValueError("a seal has a size and a digest of 32 bytes")

    def looks_unchanged(self, path: Path) -> bool:
        """The cheap check: same size, same time of change."""
        try:
            found = os.stat(path)
        except OSError:
            return False
        return (found.st_size, found.st_mtime_ns) == (self.size, self.mtime_ns)

    def as_json(self) -> dict[str, Any]:
        """For a record in the keeper's folder."""
        return {"size": self.size, "mtime_ns": self.mtime_ns, "digest": self.digest}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Seal:
        """Back from a record; ValueError, TypeError or KeyError if it is none."""
        return cls(size=int(kept["size"]), mtime_ns=int(kept["mtime_ns"]), digest=str(kept["digest"]))


def seal(path: Path, key: bytes) -> Seal:
    """Given a file and the keeper's key: its seal, as of one opening of it."""
    if len(key) not in _KEY_BYTES:
        raise ArgumentError(
            "key", found=f"{len(key)} bytes", right="a key has 16 to 64 bytes", step="use the key of the folder"
        )
    digest = blake2b(key=key, digest_size=blake2b.MAX_DIGEST_SIZE // 2)
    try:
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
            found = os.fstat(file.fileno())
    except OSError:
        raise FileError(
            f"file {path.name}", found="it cannot be read", right="it must be there", step="restore it"
        ) from None
    return Seal(size=found.st_size, mtime_ns=found.st_mtime_ns, digest=digest.hexdigest())


def verify(path: Path, sealed: Seal, key: bytes) -> None:
    """The full check; raises if any byte of the file differs from the sealed one."""
    found = seal(path, key)
    if found.size != sealed.size or not hmac.compare_digest(found.digest, sealed.digest):
        raise FileError(
            f"file {path.name}",
            found="it changed after it was sealed",
            right="a sealed file stays as it was",
            step="restore it, or import the table again",
        )
