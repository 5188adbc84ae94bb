"""DuckDB behind the engine protocol: stored files, read-only, behind the walls of `walls`.

Of one file the tables have their own names. Of several, opened together, they are named t0.rows, t1.rows and so on.

An error tells nothing: whatever goes wrong while a statement runs (memory, the deadline, a cast, a bug) ends in one
text for each verb, without the engine's words and without the original exception behind it. The engine stays usable.

Threads may share an engine: every statement runs on a cursor of its own, and one that fails leaves the others alone.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import duckdb
from sqlglot import exp

from discreet.check import at_least, known, positive
from discreet.data.engines.base import ArrowStream, IntegerRows
from discreet.data.engines.statement import rendered, source
from discreet.data.engines.walls import connect, connect_together
from discreet.data.table import StorageType
from discreet.errors import ArgumentError, DiscreetError, EngineError, FileError, MissingExtraError
from discreet.secrecy import Confidential

__all__ = ["SECONDS", "DuckDBEngine"]

# What one statement may take unless more or less is said; a question over it is charged without a result.
SECONDS = 600.0

T = TypeVar("T")
Columns = tuple[tuple[str, StorageType], ...]
Rows = list[tuple[Any, ...]]

_STORAGE = (
    (re.compile("U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER"), StorageType.INTEGER),
    (re.compile(r"DECIMAL\(.*\)|DOUBLE|FLOAT"), StorageType.DECIMAL),
    (re.compile("BOOLEAN"), StorageType.BOOLEAN),
    (re.compile("DATE"), StorageType.DATE),
    (re.compile("TIMESTAMP.*"), StorageType.DATETIME),
    (re.compile(r"VARCHAR|ENUM\(.*\)", re.DOTALL), StorageType.TEXT),
)
_PLAIN_INTEGER = re.compile("U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER")
_INTEGER = re.compile(_PLAIN_INTEGER.pattern + r'|BOOLEAN|DECIMAL\(\d+,0\)|"NULL"')
_TEXT = re.compile(r'VARCHAR|ENUM\(.*\)|"NULL"', re.DOTALL)
_TABLES = """
    SELECT database_name, table_name, column_name, data_type FROM duckdb_columns()
    WHERE (database_oid, table_oid) IN (SELECT (database_oid, table_oid) FROM duckdb_tables() WHERE NOT internal)
    ORDER BY database_name, table_name, column_index
"""
_INTERRUPT_AGAIN = 0.02


class DuckDBEngine:
    """One stored file, or several together, open read-only."""

    dialect = "duckdb"

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        *,
        seconds: float,
        memory: str | None = None,
        together: bool = False,
    ) -> None:
        self._connection: duckdb.DuckDBPyConnection | None = connection
        self._idle = threading.Condition()  # its lock guards the connection and what runs on it
        self._running: set[duckdb.DuckDBPyConnection] = set()
        self._memory = memory
        self._seconds = SECONDS  # the catalogue holds no rows, so the time for it says nothing of them
        self._tables = self._read_tables(together)
        self._seconds = seconds

    @classmethod
    def open(
        cls, path: Path, *, memory: str | None = None, threads: int | None = None, seconds: float = SECONDS
    ) -> Self:
        """Open a stored file. `memory` is such as "4GB", or half of the machine's; `seconds` is the time that one
        statement, or one batch of a stream, may take."""
        positive("seconds", seconds)
        connection = connect(path, memory=memory, threads=threads)
        return cls._over(connection, seconds=seconds, memory=memory, together=False)

    @classmethod
    def open_together(
        cls,
        paths: Sequence[Path],
        *,
        memory: str | None = None,
        threads: int | None = None,
        seconds: float = SECONDS,
    ) -> Self:
        """Open several stored files as one engine, for SELECTs that join them. Limits as for one."""
        positive("seconds", seconds)
        connection = connect_together(paths, memory=memory, threads=threads)
        return cls._over(connection, seconds=seconds, memory=memory, together=True)

    @classmethod
    def _over(cls, connection: duckdb.DuckDBPyConnection, **limits: Any) -> Self:
        try:
            return cls(connection, **limits)
        except DiscreetError:
            connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def describe(self, table: str) -> Columns:
        """The physical columns of a table and how they are kept."""
        self._require_open("describe")
        return self._tables[known("table", table, sorted(self._tables), step="name a table the engine holds")]

    def integers(self, select: exp.Query) -> IntegerRows:
        """Run one generated SELECT whose every column is an integer, a boolean or a decimal without places."""
        types, rows = self._run("integers", self._render(select), _INTEGER)
        if all(map(_PLAIN_INTEGER.fullmatch, types)):
            return rows
        return [tuple(_exact(value) for value in row) for row in rows]

    def texts(self, select: exp.Query) -> Confidential[list[tuple[str | None, ...]]]:
        """Run one generated SELECT whose every column is text or null. For the keeper's eyes."""
        _, rows = self._run("texts", self._render(select), _TEXT)
        return Confidential(rows)

    def stream(self, select: exp.Query, *, batch_rows: int = 65_536) -> Iterator[ArrowStream]:
        """The rows of one generated SELECT as Arrow, batch by batch. Confidential. Needs pyarrow.

        The order is that of ORDER BY; without one, that of the stored rows (groups have no order of their own).
        DuckDB could hand out its whole stream without pyarrow, but then an error in the middle would reach the reader
        in the engine's own words; so each batch is pulled here.
        """
        at_least("batch_rows", batch_rows, 1)
        self._require_open("stream")
        text = self._render(select)
        try:
            import pyarrow
        except ImportError:
            raise MissingExtraError("Arrow batches", library="pyarrow", extra="files") from None
        return self._batches(text, batch_rows, pyarrow.RecordBatchReader.from_stream)

    def fingerprint(self, table: str) -> int:
        """64 bits of a table's columns, types and rows, whatever the order of rows. Confidential.

        It is made from the sum of the rows' hashes, so that equal rows count as often as they stand there. It is no
        cryptographic hash, and compares within one version of DuckDB only: an upgrade may change the engine's hash.
        """
        columns = self.describe(table)
        row = exp.Anonymous(this="hash", expressions=[exp.column(name) for name, _ in columns])
        select = exp.select(exp.Count(this=exp.Star()), exp.Sum(this=row)).from_(source(table))
        _, rows = self._run("fingerprint", self._render(select), _INTEGER)
        return int.from_bytes(blake2b(repr((columns, rows)).encode(), digest_size=8).digest(), "big")

    def close(self) -> None:
        """Stop what still runs, and give the connection back. A stream that is being read ends with an error."""
        with self._idle:
            connection, self._connection = self._connection, None
            while self._running:
                for cursor in self._running:
                    cursor.interrupt()
                self._idle.wait(_INTERRUPT_AGAIN)
            if connection is not None:
                connection.close()

    def _require_open(self, verb: str) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            raise EngineError(
                f"engine, {verb}", found="it is closed", right="it must be open", step="open the table again"
            )
        return self._connection

    def _render(self, select: exp.Query) -> str:
        return rendered(select, dialect=self.dialect, tables=self._tables)

    @contextmanager
    def _cursor(self, verb: str) -> Iterator[duckdb.DuckDBPyConnection]:
        with self._idle:
            cursor = self._require_open(verb).cursor()
        try:
            yield cursor
        finally:
            with self._idle:
                cursor.close()

    @contextmanager
    def _busy(self, verb: str, cursor: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """While a statement runs the engine does not close beneath it: DuckDB refuses that with an error."""
        with self._idle:
            self._require_open(verb)
            self._running.add(cursor)
        try:
            yield
        finally:
            with self._idle:
                self._running.discard(cursor)
                self._idle.notify_all()

    def _read_tables(self, together: bool) -> dict[str, Columns]:
        tables: dict[str, Columns] = {}
        for store, name, column, kind in self._run("describe", _TABLES, _TEXT)[1]:
            table = f"{store}.{name}" if together else name
            tables[table] = (*tables.get(table, ()), (column, _storage(column, kind)))
        return tables

    def _run(self, verb: str, text: str, wanted: re.Pattern[str]) -> tuple[list[str], Rows]:
        """The columns' types, each of which must match, and all rows of one statement."""
        with self._cursor(verb) as cursor:
            types, rows = self._guarded(verb, cursor, lambda: _fetch(cursor, text, wanted))
        if rows is None:
            raise _wrong_type(verb, types, wanted)
        return types, rows

    def _batches(self, text: str, batch_rows: int, reader: Callable[[Any], Any]) -> Iterator[ArrowStream]:
        with self._cursor("stream") as cursor:
            stream = self._guarded("stream", cursor, lambda: reader(cursor.sql(text)))
            while (batch := self._guarded("stream", cursor, lambda: next(stream, None))) is not None:
                for start in range(0, batch.num_rows, batch_rows):
                    self._require_open("stream")
                    yield batch.slice(start, batch_rows)

    def _guarded(self, verb: str, cursor: duckdb.DuckDBPyConnection, step: Callable[[], T]) -> T:
        """What the step returns, within the deadline.

        Given:   any step that runs a statement on the cursor.
        Promise: if it fails, the error is the same for the same verb and limits, whatever the data hold.
        Because: the exception is dropped, not chained, and the text is made from verb and limits alone.
        Tested:  test_errors_say_nothing_of_the_data.
        """
        try:
            with self._busy(verb, cursor), _deadline(cursor, self._seconds):
                return step()
        except DiscreetError:
            raise
        except Exception:  # noqa: BLE001 - whatever it is, its words may quote data
            failed = EngineError(
                f"engine, {verb}",
                found="the engine gave no result",
                right=f"a statement may take {self._seconds:g} s and {self._memory or 'half'} of the memory",
                step="allow more by DISCREET_SECONDS or DISCREET_MEMORY, or ask for less at once",
            )
        raise failed


@contextmanager
def _deadline(cursor: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """Interrupt what runs on the cursor once the time is over, again and again until it has stopped."""
    ended, gate = threading.Event(), threading.Lock()

    def watch() -> None:
        wait = min(seconds, threading.TIMEOUT_MAX)
        while not ended.wait(wait):
            with gate:
                if not ended.is_set():
                    cursor.interrupt()
            wait = _INTERRUPT_AGAIN  # an interrupt between two statements is lost

    threading.Thread(target=watch, name="deadline", daemon=True).start()
    try:
        yield
    finally:
        with gate:  # after this no interrupt can hit what runs next; the thread ends by itself
            ended.set()


def _fetch(cursor: duckdb.DuckDBPyConnection, text: str, wanted: re.Pattern[str]) -> tuple[list[str], Rows | None]:
    """The columns' types, and the rows if every type is wanted. DuckDB's own parser must see one statement too."""
    (statement,) = cursor.extract_statements(text)
    cursor.execute(statement)
    types = [str(column[1]) for column in cursor.description]
    return types, cursor.fetchall() if all(map(wanted.fullmatch, types)) else None


def _exact(value: Any) -> int | None:
    return None if value is None else int(value)


def _storage(column: str, kind: str) -> StorageType:
    for pattern, storage in _STORAGE:
        if pattern.fullmatch(kind):
            return storage
    raise FileError(
        f"column {column!r}",
        found=f"the type {kind.split('(')[0]}",
        right="a stored table holds whole numbers, decimals, booleans, dates, times and texts",
        step="import the table again",
    )


def _wrong_type(verb: str, types: list[str], wanted: re.Pattern[str]) -> ArgumentError:
    place = next(index for index, kind in enumerate(types) if not wanted.fullmatch(kind))
    return ArgumentError(
        f"engine, {verb}",
        found=f"column {place + 1} is of the type {types[place].split('(')[0]}",
        right=f"every column must be one of the {verb}",
        step="cast it in the generated SELECT",
    )
