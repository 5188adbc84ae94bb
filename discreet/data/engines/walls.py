"""Opening a stored DuckDB file behind walls that hold even where every allow-list above them has failed.

1. read-only, without external access, spill files, fetched extensions, stored secrets, or Python variables as tables;
2. limits on memory (half of the machine's unless another is given) and threads;
3. the local file system switched off, since a query could otherwise read the raw file it lives in, byte by byte;
4. the configuration locked, so that no statement can take a wall down;
5. proof: the connection is asked to read its own file as bytes, and handed out only if that is refused.

What the walls do not stop: reading the open table itself, and what the engine knows about it (statistics, settings,
version); and one huge value made by one function call, which DuckDB does not count against its memory. Those are
stopped by the allow-list of `statement`.

In one process DuckDB opens a file once: opening it again shares the first one's walls, memory and threads, and with
other limits it is refused. Several files are attached, read-only, to an empty engine in memory of their own, before
external access is taken from it; that engine shares nothing with those that have one of the files open.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from pathlib import Path

import duckdb

from discreet.check import at_least
from discreet.data.quoting import literal
from discreet.errors import ArgumentError, DiscreetError, EngineError, FileError

__all__ = ["connect", "connect_together", "size"]

_WALLS = {
    "access_mode": "READ_ONLY",
    "enable_external_access": "false",
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "python_enable_replacements": "false",
}
# These two cannot be given while connecting: the file itself has to be opened first.
_LAST_WALLS = ("SET disabled_filesystems = 'LocalFileSystem'", "SET lock_configuration = true")
_MEMORY = re.compile(r"[1-9]\d*(\.\d+)? ?([KMGT]i?)?B")
# Of what the machine, or the container it plays, has: nothing spills to disk, so less would refuse large tables.
_SHARE_OF_MEMORY = "50%"
_MAGIC, _MAGIC_AT = b"DUCK", 8
# Between asking whether the walls are up and putting them up, no other thread may open the same file.
_OPENING = threading.Lock()


def connect(path: Path, *, memory: str | None, threads: int | None) -> duckdb.DuckDBPyConnection:
    """One walled connection to a stored file. Statements belong on its cursors: only those never show progress."""
    settings = _settings(memory, threads)
    _require_stored(path)
    with _OPENING:
        try:
            connection = duckdb.connect(str(path.resolve()), config=settings)
        except duckdb.ConnectionException:
            raise _unusable(path, "it is open in this process with other limits", "close it there first") from None
        except duckdb.Error:
            raise _unusable(path, "the engine cannot open it", "see that no other program writes to it") from None
        return _walled(connection, path)


def connect_together(paths: Sequence[Path], *, memory: str | None, threads: int | None) -> duckdb.DuckDBPyConnection:
    """One walled connection to several stored files, attached read-only as t0, t1 and so on."""
    settings = _settings(memory, threads)
    # The engine itself is empty and in memory; what is attached says for itself that it is read-only.
    del settings["access_mode"], settings["enable_external_access"]
    for path in paths:
        _require_stored(path)
    connection = duckdb.connect(config=settings)
    try:
        for number, path in enumerate(paths):
            try:
                connection.execute(f"ATTACH {literal(str(path.resolve()))} AS t{number} (READ_ONLY)")
            except duckdb.Error:
                raise _unusable(path, "the engine cannot open it", "see that no other program writes to it") from None
        connection.execute("SET enable_external_access = false")
        return _walled(connection, *paths)
    except DiscreetError:
        connection.close()
        raise


def size(name: str, memory: str) -> str:
    """An amount of memory such as 4GB."""
    if not _MEMORY.fullmatch(memory):
        raise ArgumentError(name, found=repr(memory), right="it must be a size", step=f"give {name} such as 4GB")
    return memory


def _settings(memory: str | None, threads: int | None) -> dict[str, str | bool | int | float | list[str]]:
    most = _SHARE_OF_MEMORY if memory is None else size("memory", memory)
    settings: dict[str, str | bool | int | float | list[str]] = {**_WALLS, "memory_limit": most}
    if threads is not None:
        settings["threads"] = at_least("threads", threads, 1)
    return settings


def _walled(connection: duckdb.DuckDBPyConnection, *paths: Path) -> duckdb.DuckDBPyConnection:
    """The connection after the last walls, unless an earlier opening in this process has put them up already."""
    ((locked,),) = connection.execute("SELECT current_setting('lock_configuration')").fetchall()
    if not locked:
        for wall in _LAST_WALLS:
            connection.execute(wall)
    if any(_reads_itself(connection, path) for path in paths):
        connection.close()
        raise EngineError(
            "the engine's walls",
            found="a query can read the raw file",
            right="only its tables may be read",
            step="use a version of duckdb that the tests of Discreet have passed on",
        )
    return connection


def _reads_itself(connection: duckdb.DuckDBPyConnection, path: Path) -> bool:
    try:
        connection.execute("SELECT size FROM read_blob($path)", {"path": str(path.resolve())}).fetchall()
    except duckdb.PermissionException:
        return False
    except duckdb.Error:
        return True  # not refused, only failed: the wall is not proven
    return True


def _require_stored(path: Path) -> None:
    try:
        with path.open("rb") as file:
            head = file.read(_MAGIC_AT + len(_MAGIC))
    except OSError:
        raise _unusable(path, "it cannot be read", "name a stored table that exists and is yours to read") from None
    if head[_MAGIC_AT:] != _MAGIC:
        raise _unusable(path, "it is no DuckDB file", "import the table again")
    if "?" in str(path.resolve()):
        raise _unusable(path, "its path has a question mark, which DuckDB cuts off", "move it to a plain path")


def _unusable(path: Path, found: str, step: str) -> FileError:
    return FileError(f"file {path.name!r}", found=found, right="a stored table is needed", step=step)
