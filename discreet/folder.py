"""The curator's folder on disk: its marker, its secret key, its lock, and files that appear whole or not at all.

    clinic/
      discreet.json          what this folder is, and its format
      key                    32 secret bytes; keyed hashes of the data depend on it
      lock                   held while something in the folder changes
      tables/NAME/           record.json, contract.yaml, and one immutable DuckDB file a version
      releases/

Who can read the folder sees the data: it is its owner's only, and a folder open to others is refused. Any number of
processes may have it open; changes take turns, and one that waits too long says so.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.errors import FolderError
from discreet.randomness import system_bits
from discreet.secrecy import Confidential

__all__ = ["Folder"]

_MARKER = "discreet.json"
_FORMAT = 1
_KEY_BYTES = 32
_OTHERS = 0o077


@dataclass(frozen=True, slots=True)
class Folder:
    """An existing curator's folder."""

    root: Path

    @classmethod
    def open_or_create(cls, root: Path) -> Folder:
        """The folder that is there, or a new one where there is nothing yet."""
        try:
            fresh = not root.exists() or (root.is_dir() and not any(root.iterdir()))
        except OSError as error:
            raise _unusable(root, error) from None
        return cls.create(root) if fresh else cls.open(root)

    @classmethod
    def create(cls, root: Path) -> Folder:
        """A new folder, in a place that is empty or does not exist yet."""
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(root.iterdir()):
                raise FolderError(
                    str(root),
                    found="it holds other files",
                    right="a new curator needs an empty folder",
                    step="name another one",
                )
            root.chmod(0o700)
            folder = cls(root.resolve())
            for name in ("tables", "releases"):
                (folder.root / name).mkdir(mode=0o700)
            key = system_bits().bits(8 * _KEY_BYTES).to_bytes(_KEY_BYTES, "little")
            folder.write(Path("key"), key)
            folder.write(Path("lock"), b"")
            # The marker comes last: a folder that has it is complete.
            folder.write_record(Path(_MARKER), {"what": "a Discreet curator", "format": _FORMAT})
        except OSError as error:
            raise _unusable(root, error) from None
        return folder

    @classmethod
    def open(cls, root: Path) -> Folder:
        """A folder that is there already and that others may not enter."""
        if not _is_marked(root):
            raise FolderError(
                str(root),
                found="no curator here",
                right="a curator's folder holds discreet.json",
                step=f"discreet init {root}",
            )
        folder = cls(root.resolve())
        if os.name == "posix" and folder.root.stat().st_mode & _OTHERS:
            raise FolderError(
                str(root), found="others may enter it", right="it must be its owner's only", step=f"chmod 700 {root}"
            )
        found = folder.read_record(Path(_MARKER)).get("format")
        if found != _FORMAT:
            raise FolderError(
                str(root),
                found=f"format {found}",
                right=f"this version of Discreet reads format {_FORMAT}",
                step="use the version that made the folder",
            )
        return folder

    @classmethod
    def find(cls, start: Path) -> Folder:
        """The folder that holds `start`, or the nearest one above it."""
        for place in (start.resolve(), *start.resolve().parents):
            if _is_marked(place):
                return cls.open(place)
        raise FolderError(
            str(start),
            found="no curator here or above",
            right="a command acts on a curator's folder",
            step="discreet init",
        )

    def key(self) -> Confidential[bytes]:
        """The folder's secret."""
        try:
            key = (self.root / "key").read_bytes()
        except OSError as error:
            raise _unusable(self.root / "key", error) from None
        if len(key) != _KEY_BYTES:
            raise FolderError(
                str(self.root / "key"),
                found=f"{len(key)} bytes",
                right=f"the key has {_KEY_BYTES}",
                step="restore the folder from a backup",
            )
        return Confidential(key)

    @contextlib.contextmanager
    def changing(self, *, seconds: float = 2.0) -> Iterator[None]:
        """Hold the folder's lock: one change at a time, over all processes."""
        try:
            handle = (self.root / "lock").open("rb+")
        except OSError as error:
            raise _unusable(self.root / "lock", error) from None
        with handle:
            deadline = time.monotonic() + seconds
            while not _locked(handle.fileno()):
                if time.monotonic() > deadline:
                    raise FolderError(
                        str(self.root),
                        found="another process is changing it",
                        right="changes take turns",
                        step="wait for the other command to end, then run this one again",
                    )
                time.sleep(0.02)
            yield

    def write(self, relative: Path, content: bytes) -> None:
        """Write a file so that it is seen whole or not at all, and survives a crash once this returns."""
        path = self.root / relative
        passing = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            passing.replace(path)
            _sync(path.parent)
        except OSError as error:
            with contextlib.suppress(OSError):
                passing.unlink(missing_ok=True)
            raise _unusable(path, error) from None

    def write_record(self, relative: Path, record: dict[str, Any]) -> None:
        """Write one JSON object."""
        self.write(relative, json.dumps(record, indent=2, sort_keys=True).encode() + b"\n")

    def read_record(self, relative: Path) -> dict[str, Any]:
        """Read one JSON object back."""
        path = self.root / relative
        try:
            record = json.loads(path.read_bytes())
        except (OSError, ValueError):
            record = None
        if not isinstance(record, dict):
            raise FolderError(
                str(path), found="no readable record", right="it holds one JSON object", step="restore it from a backup"
            )
        return record


def _is_marked(place: Path) -> bool:
    try:
        return (place / _MARKER).is_file()
    except OSError as error:  # a folder of somebody else
        raise _unusable(place, error) from None


def _unusable(path: Path, error: OSError) -> FolderError:
    reason = error.strerror or "an error of the file system"
    return FolderError(str(path), found=reason.lower(), right="it must be writable by you", step="name another place")


def _sync(directory: Path) -> None:
    """Make a rename durable: it lives in the directory, not in the file."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _locked(handle: int) -> bool:
    """Take the lock now or say that another process has it; it is given back when the file is closed."""
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
