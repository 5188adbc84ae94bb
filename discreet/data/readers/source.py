"""One file on disk, opened once.

A path is resolved to the end of its links on purpose, and the result says so. What is opened must be a plain file; the
open itself neither follows a link nor waits on a pipe put there in between. All bytes come from that one descriptor,
and when they are read the file must still be what it was when they began.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from discreet.data.readers.limits import Limits
from discreet.errors import FileError

__all__ = ["SourceFile"]

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


class SourceFile:
    """A plain file, open for reading. Use it in a `with` block."""

    def __init__(self, path: Path, *, root: Path | None = None, limits: Limits | None = None) -> None:
        self.name = path.name
        self._where = f"file {path.name}"
        target = self._resolved(path)
        self.linked = target != Path(os.path.abspath(path))
        self._require_below(root, target)
        self.handle = self._opened(target)
        try:
            # A folder on the way may have become a link after the path was resolved: what is open is asked too.
            self._require_below(root, _place_of(self.handle.fileno(), target))
        except FileError:
            self.handle.close()
            raise
        self._state = self._fingerprint()
        self.size = self._state[2]
        if self.size == 0:
            self.handle.close()
            raise self._refused("it is empty", "a table needs a header and rows")
        if limits is not None and self.size > limits.bytes:
            self.handle.close()
            step = "split it, or raise the limit: --limit bytes=N"
            raise self._refused(f"{self.size} bytes", f"at most {limits.bytes} are read", step)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.handle.close()

    def head(self, length: int = 64) -> bytes:
        """The first bytes, without moving."""
        return os.pread(self.handle.fileno(), length, 0)

    def check_unchanged(self) -> None:
        """Refuse what was read if the file changed meanwhile."""
        if self._fingerprint() != self._state:
            raise self._refused(
                "it changed while it was read", "it must stand still", "wait for its writer, then retry"
            )

    def copy_to(self, copy: Path) -> None:
        """Copy every byte into a private file."""
        with open(copy, "xb") as out:
            while block := self.handle.read(1 << 20):
                out.write(block)
        self.check_unchanged()

    def _fingerprint(self) -> tuple[int, int, int, int]:
        found = os.fstat(self.handle.fileno())
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

    def _require_below(self, root: Path | None, target: Path) -> None:
        if root is not None and not target.is_relative_to(root.resolve()):
            raise self._refused("it lies outside the folder that may be read", "only files below that folder are read")

    def _resolved(self, path: Path) -> Path:
        try:
            target = path.resolve(strict=True)
            mode = os.stat(target).st_mode
        except FileNotFoundError:
            what = "a link that leads nowhere" if path.is_symlink() else "no such file"
            raise self._refused(what, "it must exist", "check the path") from None
        except (OSError, RuntimeError, ValueError):
            raise self._refused("the path cannot be followed", "it must lead to a file") from None
        for is_kind, what in _KINDS:
            if is_kind(mode):
                raise self._refused(what, "only plain files are read")
        return target

    def _opened(self, target: Path) -> BinaryIO:
        try:
            # O_NONBLOCK: a pipe swapped in after the check must not hold us; O_NOFOLLOW: nor a link lead elsewhere.
            descriptor = os.open(target, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        except PermissionError:
            raise self._refused("it may not be read", "this user must be allowed to", "check its permissions") from None
        except OSError:
            raise self._refused("it cannot be opened", "it must be a plain file") from None
        handle = os.fdopen(descriptor, "rb", buffering=0)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            handle.close()
            raise self._refused("not a plain file", "only plain files are read")
        return handle

    def _refused(self, found: str, right: str, step: str = "give the path of a data file") -> FileError:
        return FileError(self._where, found=found, right=right, step=step)


def _place_of(descriptor: int, otherwise: Path) -> Path:
    """Where an open file stands, as the kernel says where it does."""
    try:
        return Path(os.readlink(f"/proc/self/fd/{descriptor}"))
    except OSError:
        return otherwise
