"""Where the curator's keys lie: one private key, and the published keyring, in the curator's folder.

    signing/
      3QTY-OAXN-….pem     the private key in use, its owner's only
      keyring.json        the public keys with their states; copy it to where you publish

A rotation writes the new private key first, then the ring that names it, then takes the old private key away. A crash
in between leaves the old state or the new one, and at most a file that no ring names. Changes hold the folder's lock.
"""

from __future__ import annotations

import contextlib
import datetime
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from discreet.accounting.document import time_text
from discreet.accounting.keyring import Keyring, Revocation
from discreet.accounting.signing import SigningKey
from discreet.errors import FileError, FolderError

__all__ = ["KeyStore", "Place"]

_HOME = Path("signing")
_OTHERS = 0o077


class Place(Protocol):
    """What the keys need of the curator's folder."""

    @property
    def root(self) -> Path:
        """Where it lies."""
        ...

    def write(self, relative: Path, content: bytes) -> None:
        """Write a file, seen whole or not at all, for its owner only."""
        ...

    def changing(self) -> contextlib.AbstractContextManager[None]:
        """Hold the lock: one change at a time."""
        ...


@dataclass(frozen=True, slots=True)
class KeyStore:
    """The keys of one curator's folder."""

    place: Place

    def create(self, *, now: datetime.datetime, until: datetime.datetime | None = None) -> Keyring:
        """The first key, and the ring it starts."""
        with self.place.changing():
            if self._started():
                raise FolderError(
                    str(self.place.root / _HOME),
                    found="a keyring",
                    right="a curator starts one only",
                    step="introduce another key by a rotation",
                )
            return self._start(now, until)

    def create_if_none(self, *, now: datetime.datetime) -> Keyring:
        """The ring as it stands, or the one that the first key starts; whoever comes first makes it."""
        if not self._started():
            with self.place.changing():
                if not self._started():
                    return self._start(now, None)
        return self.keyring()

    def keyring(self) -> Keyring:
        """The ring as it stands."""
        path = self.place.root / _HOME / "keyring.json"
        return Keyring.parse(_read(path, step="make the first key").decode("ascii", errors="replace"))

    def current(self) -> SigningKey:
        """The private key in use."""
        return self.in_use()[0]

    def in_use(self) -> tuple[SigningKey, Keyring]:
        """The private key in use, and the ring that says so."""
        ring = self.keyring()
        name = ring.current.fingerprint
        path = self.place.root / _HOME / f"{name}.pem"
        content = _read(path, step="restore it from a backup")
        if os.name == "posix" and path.stat().st_mode & _OTHERS:
            raise FolderError(
                str(path), found="others may read it", right="it must be its owner's only", step=f"chmod 600 {path}"
            )
        key = SigningKey.from_pem(content)
        if key.fingerprint != name:
            raise FileError(
                str(path),
                found="another key",
                right="the file is named after its fingerprint",
                step="restore it from a backup",
            )
        return key, ring

    def rotate(self, *, now: datetime.datetime, until: datetime.datetime | None = None) -> Keyring:
        """A new key in use, introduced by the old one, whose private half is taken away."""
        with self.place.changing():
            old, new = self.current(), SigningKey.create()
            ring = self.keyring().succeeded(old, new, at=time_text(now), until=_end(until))
            self._keep(new, ring)
            (self.place.root / _HOME / f"{old.fingerprint}.pem").unlink(missing_ok=True)
        return ring

    def revoke(self, name: str, revocation: Revocation, *, now: datetime.datetime) -> Keyring:
        """One of the former keys revoked, by the key in use."""
        with self.place.changing():
            ring = self.keyring().revoking(name, revocation, key=self.current(), at=time_text(now))
            self._publish(ring)
        return ring

    def _started(self) -> bool:
        return (self.place.root / _HOME / "keyring.json").exists()

    def _start(self, now: datetime.datetime, until: datetime.datetime | None) -> Keyring:
        key = SigningKey.create()
        ring = Keyring.start(key, since=time_text(now), until=_end(until))
        self._keep(key, ring)
        return ring

    def _keep(self, key: SigningKey, ring: Keyring) -> None:
        self.place.write(_HOME / f"{key.fingerprint}.pem", key.pem().reveal(to="keeper"))
        self._publish(ring)

    def _publish(self, ring: Keyring) -> None:
        self.place.write(_HOME / "keyring.json", ring.text().encode())


def _end(until: datetime.datetime | None) -> str | None:
    return None if until is None else time_text(until)


def _read(path: Path, *, step: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise FolderError(
            str(path),
            found=(error.strerror or "an error of the file system").lower(),
            right="a curator that signs has it",
            step=step,
        ) from None
