"""The bytes of a text file, unpacked as a stream that stops at a bomb while it swells, not after."""

from __future__ import annotations

import gzip
import os
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath
from typing import IO, cast

from discreet.data.readers.format import Packing
from discreet.data.readers.limits import Limits
from discreet.data.readers.source import SourceFile
from discreet.errors import FileError, MissingExtraError

__all__ = ["unpacked_blocks"]

BLOCK = 1 << 20
_PLAIN_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def unpacked_blocks(source: SourceFile, packing: Packing, limits: Limits) -> Iterator[bytes]:
    """Blocks of at most 1 MiB; refuses a broken archive, a bomb, and anything but one plain member of a zip."""
    where = f"file {source.name}"
    total = 0
    try:
        stream = _open(source, packing, where)
        while block := stream.read(BLOCK):
            total += len(block)
            if total > limits.bytes or (packing is not Packing.NONE and limits.inflated(source.size, total)):
                raise _bomb(where, limits)
            yield block
    except (EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, ValueError, OSError):
        raise FileError(
            where, found=f"a broken {packing} file", right="it must unpack to its end", step="pack it again"
        ) from None


def _open(source: SourceFile, packing: Packing, where: str) -> IO[bytes]:
    if packing is Packing.GZIP:
        return cast(IO[bytes], gzip.GzipFile(fileobj=source.handle, mode="rb"))
    if packing is Packing.ZIP:
        return _only_member(zipfile.ZipFile(source.handle), where)
    if packing is Packing.ZSTD:
        try:
            import pyarrow
        except ImportError:
            raise MissingExtraError(where, library="pyarrow", extra="files") from None
        stream: IO[bytes] = pyarrow.CompressedInputStream(pyarrow.PythonFile(_twin_of(source), "r"), "zstd")
        return stream
    return source.handle


def _twin_of(source: SourceFile) -> IO[bytes]:
    """The same open file under a descriptor of its own: pyarrow closes what it was given."""
    return os.fdopen(os.dup(source.handle.fileno()), "rb")


def _only_member(archive: zipfile.ZipFile, where: str) -> IO[bytes]:
    """The one member of a zip. Its name is never used for a path, and one that tries to be a path is refused."""
    members = archive.infolist()
    if len(members) != 1 or members[0].is_dir():
        raise FileError(
            where,
            found=f"a zip of {len(members)} members",
            right="it must hold one file",
            step="unpack it and load the file you mean",
        )
    member = members[0]
    if _escapes(member.filename):
        raise FileError(
            where,
            found="a member whose name leads out of its folder",
            right="a member has a plain name",
            step="ask where this archive comes from",
        )
    if member.flag_bits & 1 or member.compress_type not in _PLAIN_METHODS:
        raise FileError(
            where,
            found="a member that is encrypted or packed in an unusual way",
            right="stored or deflated members are read",
            step="pack it as gzip",
        )
    return archive.open(member)


def _escapes(name: str) -> bool:
    return any(path(name).anchor or ".." in path(name).parts for path in (PurePosixPath, PureWindowsPath))


def _bomb(where: str, limits: Limits) -> FileError:
    return FileError(
        where,
        found=f"it unpacks to more than {limits.ratio} times its size or to more than {limits.bytes} bytes",
        right="a packed table grows less",
        step="unpack it yourself, or raise the limits: --limit ratio=N --limit bytes=N",
    )
