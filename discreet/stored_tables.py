"""The tables of a curator's folder as they stand on disk: one record and one sealed file each, and engines over them.

    tables/NAME/record.json     which file holds the table, with its seal, and what it was made from
    tables/NAME/1.duckdb        the file: it is never changed, and another number takes its place

Every read of rows goes through an engine that is opened here: behind walls, after the file was found unchanged, and
with a limit on memory and on the time of each statement. A statement beyond its limits is stopped; whoever asked gets
one line, and a question that was charged for stays charged.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from discreet.check import positive
from discreet.data.engines.base import Engine
from discreet.data.engines.duckdb import SECONDS, DuckDBEngine
from discreet.data.engines.walls import size
from discreet.data.frame import FrameKind
from discreet.data.record import TableRecord
from discreet.data.seal import Seal, seal, verify
from discreet.data.store import describe_store, open_store
from discreet.data.table import StoredTable
from discreet.errors import ArgumentError, EngineError, FileError, UnknownNameError
from discreet.folder import Folder

__all__ = ["NAME", "Origin", "StoredTables"]

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
Origin = tuple[str | None, Seal | None]


class StoredTables:
    """The tables of a folder, as they stand on disk."""

    def __init__(self, folder: Folder, *, seconds: float | None = None, memory: str | None = None) -> None:
        self._folder = folder
        self._seconds = _seconds(seconds)
        self._memory = _memory(memory)
        self._verified: dict[Path, Seal] = {}
        self._lent: tuple[tuple[Path, ...], Engine, Mapping[str, StoredTable]] | None = None

    @property
    def folder(self) -> Path:
        """Where the curator keeps everything."""
        return self._folder.root

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables, in order."""
        return tuple(sorted(path.parent.name for path in self.folder.glob("tables/*/record.json")))

    def record(self, table: str) -> TableRecord:
        """What is kept of a table beside its rows."""
        kept = self._folder.read_record(Path("tables", self._known(table), "record.json"))
        return TableRecord.from_json(table, kept)

    def columns(self, table: str) -> StoredTable:
        """The table's columns as they are stored."""
        return open_store(self._path(self.record(table)))

    def notes(self, table: str) -> tuple[str, ...]:
        """What the import decided and the keeper should know. Names of columns, no values."""
        return describe_store(self._path(self.record(table))).notes

    def kind(self, table: str) -> FrameKind:
        """The kind of frame that the table came in, and that answers from it go out in."""
        return describe_store(self._path(self.record(table))).kind

    def unfinished(self, table: str) -> Path:
        """Where the state of a long run on a table waits to be taken up again. As confidential as its rows."""
        return self.folder / "tables" / table / "unfinished-copies"

    def source_changed(self, table: str) -> bool:
        """Whether the file the table came from has changed on disk since, or is gone."""
        record = self.record(table)
        if record.source is None or record.source_seal is None:
            return False
        path = Path(record.source)
        if record.source_seal.looks_unchanged(path):
            return False
        try:
            verify(path, record.source_seal, self._key())
        except FileError:
            return True
        return False

    @contextlib.contextmanager
    def opened(self, table: str) -> Iterator[tuple[Engine, StoredTable]]:
        """The table on a locked, read-only engine, after its file was found unchanged."""
        path = self._unchanged(table)
        with _named(f"table {table!r}"), self._engine(path) as engine:
            yield engine, open_store(path)

    @contextlib.contextmanager
    def lent(self, tables: Sequence[str]) -> Iterator[tuple[Engine, Mapping[str, StoredTable]]]:
        """Tables on one such engine, which stays open for whoever asks the same tables next."""
        paths = tuple(self._unchanged(table) for table in tables)
        lent = self._lent
        if lent is None or lent[0] != paths:
            engine, stored = self._engine(*paths), [open_store(path) for path in paths]
            if len(paths) > 1:
                stored = [replace(one, name=f"t{at}.{one.name}") for at, one in enumerate(stored)]
            # What was lent before closes itself once nobody holds it any more.
            lent = self._lent = paths, engine, dict(zip(tables, stored, strict=True))
        with _named(f"table {', '.join(map(repr, tables))}"):
            yield lent[1], lent[2]

    def _engine(self, *paths: Path) -> DuckDBEngine:
        if len(paths) == 1:
            return DuckDBEngine.open(paths[0], memory=self._memory, seconds=self._seconds)
        return DuckDBEngine.open_together(paths, memory=self._memory, seconds=self._seconds)

    def _unchanged(self, table: str) -> Path:
        """The table's file, as it was put in place."""
        record = self.record(table)
        if not self._path(record).exists():
            record = self.record(table)  # another process put a new version in its place just now
        path = self._path(record)
        if self._verified.get(path) != record.seal or not record.seal.looks_unchanged(path):
            verify(path, record.seal, self._key())
            self._verified[path] = record.seal
        return path

    def _write_record(self, record: TableRecord) -> TableRecord:
        """Let the record name the table's file from here on; the files before it go."""
        self._folder.write_record(Path("tables", record.name, "record.json"), record.as_json())
        # An unfinished run on the former rows holds what they say.
        self.unfinished(record.name).unlink(missing_ok=True)
        # Only now that the record names the new file may the files before it go.
        for former in (self.folder / "tables" / record.name).glob("*.duckdb"):
            if former.name != record.file:
                former.unlink()
        return record

    def _sealed(self, name: str, file: str) -> Seal:
        return seal(self.folder / "tables" / name / file, self._key())

    def _require_free(self, name: str) -> None:
        """Refuse a name that is taken, in whatever case; clear away what crashed imports left: the lock is held."""
        if name.casefold() in map(str.casefold, self.tables):
            raise ArgumentError(
                f"table {name!r}",
                found="this name is taken",
                right="each table has its own, told apart by more than upper and lower case",
                step="give another one with --name",
            )
        for left in (self.folder / "tables" / name, *self.folder.glob("tables/*/.*.part")):
            shutil.rmtree(left, ignore_errors=True)

    def _next_file(self, record: TableRecord) -> str:
        """Files are immutable, so a table laid down anew gets the next number; one there already is a crash's."""
        file = f"{int(record.file.split('.')[0]) + 1}.duckdb"
        (self.folder / "tables" / record.name / file).unlink(missing_ok=True)
        return file

    def _known(self, table: str) -> str:
        if table not in self.tables:
            names = ", ".join(self.tables) or "no table yet"
            raise UnknownNameError(
                f"table {table!r}", found="no such table", right=f"there is {names}", step="discreet add FILE"
            )
        return table

    def _path(self, record: TableRecord) -> Path:
        return self.folder / "tables" / record.name / record.file

    def _key(self) -> bytes:
        return self._folder.key().reveal(to="keeper")


def _seconds(given: float | None) -> float:
    """The time a statement may take: as given, else as the environment says, else the engine's own default."""
    if given is not None:
        return float(positive("seconds", given))
    said = os.environ.get("DISCREET_SECONDS")
    return float(positive("DISCREET_SECONDS", said)) if said else SECONDS


def _memory(given: str | None) -> str | None:
    """The memory an engine may take, from the same places; None is half of the machine's."""
    if given is not None:
        return size("memory", given)
    said = os.environ.get("DISCREET_MEMORY")
    return size("DISCREET_MEMORY", said) if said else None


@contextlib.contextmanager
def _named(where: str) -> Iterator[None]:
    """Let an engine's failure speak of the table that was read, which whoever asked knows."""
    try:
        yield
    except EngineError as error:
        failed = EngineError(where, found=error.found, right=error.right, step=error.step)
    else:
        return
    raise failed
