"""The stored table: one immutable DuckDB file that describes itself.

    rows      c0, c1, …            the columns, under generated names
              s0, …                whole steps of the columns that have a declared step (`steps`)
    columns   position, name, physical, type, steps, step
    facts     key, value           format, kind (of the frame the table came from)
    notes     position, note       what the keeper should know of the import; names, never values

A file is made under another name, in a hidden folder of its owner's only beside its place; it is flushed to disk, given
mode 0600, and put in place in one step that never replaces anything. After a crash nothing half-written is visible,
and the next store made under that name removes the hidden folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import glob
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

import duckdb

from discreet.data.frame import FrameKind
from discreet.data.quoting import literal
from discreet.data.steps import checked_steps, require_numeric, steps_of
from discreet.data.table import StorageType, StoredColumn, StoredTable
from discreet.errors import FileError

__all__ = ["DISK_FAULTS", "StoreDraft", "StoredFacts", "add_steps", "describe_store", "open_store", "without"]

TABLE = "rows"
# What DuckDB raises when a disk is full: a write that fails, or a commit that does.
DISK_FAULTS = (duckdb.IOException, duckdb.TransactionException)
_FORMAT = "1"
_MEMORY = 320 << 20
_GROUP_BYTES = 64 << 20
_GROUP_LEAST, _GROUP_MOST = 2048, 122_880


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFacts:
    """All that a stored file says of itself. `steps` are the declared steps by column name."""

    table: StoredTable
    steps: Mapping[str, Fraction]
    kind: FrameKind
    notes: tuple[str, ...]


class StoreDraft:
    """A store in the making, in a private folder beside its place. Use it in a `with` block; `publish` ends it."""

    def __init__(self, into: Path, *, memory: int = _MEMORY) -> None:
        self.into = into
        self._memory = memory
        self._connection: duckdb.DuckDBPyConnection | None = None
        _require_free(into)
        _sweep(into)
        self.folder, self._lock = _private_folder(into)
        self._file = self.folder / "store.duckdb"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)

    def connect(self, columns: int, *, beside: Path | None = None) -> duckdb.DuckDBPyConnection:
        """A connection to an empty store that reaches nothing but this draft's folder, and one more store if given."""
        self._close()
        self._file.unlink(missing_ok=True)
        connection = _connected(self.folder, self._memory)
        group = _GROUP_BYTES // (16 * columns) // _GROUP_LEAST * _GROUP_LEAST
        size = min(max(group, _GROUP_LEAST), _GROUP_MOST)
        connection.execute(f"ATTACH {literal(str(self._file))} AS store (ROW_GROUP_SIZE {size})")
        connection.execute("USE store")
        if beside is not None:
            connection.execute(f"ATTACH {literal(str(beside))} AS beside (READ_ONLY)")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        self._connection = connection
        return connection

    def describe(self, facts: StoredFacts) -> None:
        """Write the tables by which the file describes itself."""
        assert self._connection is not None
        run = self._connection
        run.execute("CREATE TABLE columns (position INTEGER, name VARCHAR, physical VARCHAR, type VARCHAR, "
                    "steps VARCHAR, step VARCHAR)")  # fmt: skip
        for position, column in enumerate(facts.table.columns):
            step = str(facts.steps[column.name]) if column.name in facts.steps else None
            run.execute(
                "INSERT INTO columns VALUES (?, ?, ?, ?, ?, ?)",
                [position, column.name, column.physical, column.type.value, column.steps, step],
            )
        run.execute("CREATE TABLE facts (key VARCHAR, value VARCHAR)")
        run.execute("INSERT INTO facts VALUES ('format', ?), ('kind', ?)", [_FORMAT, facts.kind.value])
        run.execute("CREATE TABLE notes (position INTEGER, note VARCHAR)")
        for position, note in enumerate(facts.notes):
            run.execute("INSERT INTO notes VALUES (?, ?)", [position, note])

    def publish(self) -> None:
        """Put the finished file in its place: whole, on disk, its owner's only, and never over another."""
        assert self._connection is not None
        self._connection.execute("CHECKPOINT")
        self._close()
        self._file.chmod(0o600)
        _flush(self._file)
        try:
            os.link(self._file, self.into)
        except FileExistsError:
            raise _exists(self.into) from None
        except OSError:
            raise FileError(
                f"file {self.into.name}",
                found="it cannot be put in place",
                right="its disk must allow links between names of one file",
                step="choose a folder on a local disk",
            ) from None
        _flush(self.into.parent)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def open_store(path: Path) -> StoredTable:
    """The stored table's columns."""
    return describe_store(path).table


def describe_store(path: Path) -> StoredFacts:
    """All that the file says of itself; read once for as long as it stays the same file."""
    try:
        found = path.stat()
    except OSError:
        raise _foreign(path, "no such file") from None
    return _described(path.resolve(), (found.st_ino, found.st_size, found.st_mtime_ns))


@functools.lru_cache(maxsize=64)
def _described(path: Path, state: tuple[int, int, int]) -> StoredFacts:  # noqa: ARG001  part of the cache's key
    try:
        with contextlib.closing(_connected(path.parent, _MEMORY)) as connection:
            connection.execute(f"ATTACH {literal(str(path))} AS store (READ_ONLY)")
            connection.execute("SET enable_external_access = false")
            connection.execute("USE store")
            facts = dict(connection.execute("SELECT key, value FROM facts").fetchall())
            columns = connection.execute(
                "SELECT name, physical, type, steps, step FROM columns ORDER BY position"
            ).fetchall()
            notes = connection.execute("SELECT note FROM notes ORDER BY position").fetchall()
        if facts["format"] != _FORMAT:
            raise _foreign(path, "a store of another format")
        return StoredFacts(
            table=StoredTable(
                name=TABLE,
                columns=tuple(
                    StoredColumn(name=name, physical=physical, type=StorageType(type_), steps=steps)
                    for name, physical, type_, steps, _ in columns
                ),
            ),
            steps=MappingProxyType({name: Fraction(step) for name, _, _, _, step in columns if step is not None}),
            kind=FrameKind(facts["kind"]),
            notes=tuple(note for (note,) in notes),
        )
    except (duckdb.Error, KeyError, ValueError, TypeError):
        raise _foreign(path, "no stored table") from None


def add_steps(path: Path, into: Path, steps: Mapping[str, Fraction]) -> StoredTable:
    """The same table with other steps, and only these, as a new file; the old one stays."""
    return _copied(path, into, steps, without=None)


def without(path: Path, into: Path, column: str, value: str) -> StoredTable:
    """The same table without the rows whose column reads as that text, as a new file; the old one stays."""
    return _copied(path, into, describe_store(path).steps, without=(column, value))


def _copied(path: Path, into: Path, steps: Mapping[str, Fraction], *, without: tuple[str, str] | None) -> StoredTable:
    facts = describe_store(path)
    columns = facts.table.columns
    declared = checked_steps(steps, facts.table.names)
    kept = stepped_columns(facts.table.names, [column.type for column in columns], declared)
    twins = twin_columns(kept, declared)
    with StoreDraft(into) as draft:
        try:
            connection = draft.connect(len(columns), beside=path.resolve())
            physical = ", ".join(column.physical for column in kept)
            chosen = "" if without is None else _other_rows(facts.table, *without)
            connection.execute(f"CREATE TABLE rows AS SELECT {', '.join([physical, *twins])} FROM beside.rows{chosen}")
            stored = StoredTable(name=TABLE, columns=kept)
            draft.describe(
                StoredFacts(
                    table=stored,
                    steps={columns[position].name: step for position, step in declared.items()},
                    kind=facts.kind,
                    notes=facts.notes,
                )
            )
            draft.publish()
        except duckdb.Error:
            raise _foreign(path, "no stored table that can be copied") from None
    return stored


def _other_rows(table: StoredTable, column: str, value: str) -> str:
    """A person's rows are told by the text of their column; a row without a person stays."""
    return f" WHERE CAST({table.column(column).physical} AS VARCHAR) IS DISTINCT FROM {literal(value)}"


def stepped_columns(
    names: Sequence[str], types: Sequence[StorageType], steps: Mapping[int, Fraction]
) -> tuple[StoredColumn, ...]:
    """The columns under their generated names; those with a step are checked to be numeric."""
    for position in steps:
        require_numeric(names[position], types[position])
    return tuple(
        StoredColumn(
            name=name,
            physical=f"c{position}",
            type=type_,
            steps=f"s{position}" if position in steps else None,
        )
        for position, (name, type_) in enumerate(zip(names, types, strict=True))
    )


def twin_columns(columns: Sequence[StoredColumn], steps: Mapping[int, Fraction]) -> list[str]:
    """The SQL of every twin, named."""
    return [
        f"{steps_of(columns[position].physical, columns[position].type, step)} AS s{position}"
        for position, step in steps.items()
    ]


def _connected(folder: Path, memory: int) -> duckdb.DuckDBPyConnection:
    """An engine in memory that fetches nothing, spills into `folder` alone, and shows no progress."""
    connection = duckdb.connect(
        config={
            "threads": 1,
            "memory_limit": f"{memory >> 20}MiB",
            "temp_directory": str(folder / "spill"),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "allow_persistent_secrets": False,
            "python_enable_replacements": False,
        }
    )
    connection.execute("SET enable_progress_bar = false")
    connection.execute(f"SET allowed_directories = [{literal(str(folder))}]")
    return connection


def _require_free(into: Path) -> None:
    where = f"file {into.name}"
    if not into.parent.is_dir():
        raise FileError(where, found="its folder does not exist", right="it must", step="make the folder first")
    if "?" in str(into.resolve()):
        raise FileError(where, found="a path with a question mark", right="the engine takes none", step="rename it")
    if into.exists() or into.is_symlink():
        raise _exists(into)


def _exists(into: Path) -> FileError:
    return FileError(
        f"file {into.name}",
        found="it exists",
        right="a stored table is never written over",
        step="choose another name, or remove the file",
    )


def _foreign(path: Path, found: str) -> FileError:
    return FileError(
        f"file {path.name}", found=found, right="a stored table of Discreet is needed", step="import the table again"
    )


def _private_folder(into: Path) -> tuple[Path, int]:
    """A new hidden folder beside the place, and the descriptor whose lock says that it is in use."""
    try:
        fresh = Path(tempfile.mkdtemp(prefix=f".{into.name}.", suffix=".new", dir=into.resolve().parent))
    except OSError:
        raise FileError(
            f"file {into.name}", found="its folder cannot be written", right="it must", step="check its permissions"
        ) from None
    lock = os.open(fresh, os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX)
    # Only now may others see it: a folder whose lock is free counts as left behind.
    folder = fresh.rename(fresh.with_suffix(".part"))
    return folder, lock


def _sweep(into: Path) -> None:
    """Remove what crashed imports of the same name left behind."""
    for folder in into.parent.glob(f".{glob.escape(into.name)}.*.part"):
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_DIRECTORY)
            stack.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
