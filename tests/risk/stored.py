"""Stored tables for the tests: columns written to a DuckDB file and opened behind the engine's walls."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

from discreet.data.engines.duckdb import DuckDBEngine
from discreet.data.table import StorageType, StoredColumn, StoredTable

Columns = Mapping[str, Sequence[object]]

DATA = Path(__file__).parent.parent / "data"
EXAMPLES = Path(__file__).parents[2] / "discreet" / "examples"

_SQL = {int: "BIGINT", str: "VARCHAR", float: "DOUBLE", datetime.date: "DATE"}
_STORAGE = {
    "BIGINT": StorageType.INTEGER,
    "VARCHAR": StorageType.TEXT,
    "DOUBLE": StorageType.DECIMAL,
    "DATE": StorageType.DATE,
}


@contextmanager
def stored(columns: Columns) -> Iterator[tuple[DuckDBEngine, StoredTable]]:
    """A table of these columns; one without values is text."""
    kinds = [
        next((_SQL[type(value)] for value in values if value is not None), "VARCHAR") for values in columns.values()
    ]
    places = ", ".join(f"c{at} {kind}" for at, kind in enumerate(kinds))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"CREATE TABLE rows ({places})")
            rows = list(zip(*columns.values(), strict=True))
            if rows:
                blanks = ", ".join([f"({', '.join('?' * len(kinds))})"] * len(rows))
                connection.execute(f"INSERT INTO rows VALUES {blanks}", list(chain.from_iterable(rows)))
        with DuckDBEngine.open(path) as engine:
            yield engine, _table(columns, kinds)


@contextmanager
def stored_file(source: str, names: Sequence[str]) -> Iterator[tuple[DuckDBEngine, StoredTable]]:
    """Columns of a file, read by a DuckDB expression such as read_csv('…', all_varchar=true)."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.duckdb"
        with duckdb.connect(str(path)) as connection:
            picked = ", ".join(f'"{name}" AS c{at}' for at, name in enumerate(names))
            connection.execute(f"CREATE TABLE rows AS SELECT {picked} FROM {source}")
            kinds = [str(kind) for _, kind, *_ in connection.execute("DESCRIBE rows").fetchall()]
        with DuckDBEngine.open(path) as engine:
            yield engine, _table(names, kinds)


@contextmanager
def example(name: str) -> Iterator[tuple[DuckDBEngine, StoredTable]]:
    """One of the small tables that the package carries, all its columns as text."""
    path = EXAMPLES / name
    header = path.read_text().splitlines()[0].split(",")
    with stored_file(f"read_csv('{path}', all_varchar=true)", header) as opened:
        yield opened


def _table(names: Columns | Sequence[str], kinds: Sequence[str]) -> StoredTable:
    columns = (
        StoredColumn(name=name, physical=f"c{at}", type=_STORAGE[kind])
        for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
    )
    return StoredTable(name="rows", columns=tuple(columns))
