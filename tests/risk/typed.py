"""A small table whose DuckDB types the test chooses: types and values in, an open engine and its table out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from discreet.data.engines.duckdb import DuckDBEngine
from discreet.data.table import StoredColumn, StoredTable

__all__ = ["typed_table"]


@contextmanager
def typed_table(columns: Mapping[str, tuple[str, Sequence[Any]]]) -> Iterator[tuple[DuckDBEngine, StoredTable]]:
    """The table `rows` with one column for each entry."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table.duckdb"
        with duckdb.connect(str(path)) as connection:
            kinds = ", ".join(f"c{at} {kind}" for at, (kind, _) in enumerate(columns.values()))
            connection.execute(f"CREATE TABLE rows ({kinds})")
            unnested = ", ".join(f"unnest(CAST(? AS {kind}[]))" for kind, _ in columns.values())
            connection.execute(f"INSERT INTO rows SELECT {unnested}", [list(values) for _, values in columns.values()])
        with DuckDBEngine.open(path) as engine:
            kept = zip(columns, engine.describe("rows"), strict=True)
            parts = [StoredColumn(name=name, physical=physical, type=kind) for name, (physical, kind) in kept]
            yield engine, StoredTable(name="rows", columns=tuple(parts))
