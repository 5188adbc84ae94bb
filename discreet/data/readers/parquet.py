"""Parquet, read by DuckDB from a private copy, after its own account of itself was checked.

The footer says how many rows, columns and unpacked bytes follow. Files that would swell beyond the limits and nested
columns are refused before a page is read.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

from discreet.data.quoting import literal
from discreet.data.readers.incoming import Incoming, Reading
from discreet.data.readers.limits import Limits
from discreet.data.readers.names import checked_names
from discreet.data.readers.source import SourceFile
from discreet.data.store import StoreDraft
from discreet.errors import FileError

__all__ = ["parquet_relation", "read_parquet"]


def read_parquet(source: SourceFile, copy: Path, draft: StoreDraft, limits: Limits) -> Incoming:
    """Copy the file and check its footer."""
    source.copy_to(copy)
    where = f"file {source.name}"
    try:
        connection = draft.connect(1)
        names = _flat_names(connection, copy, where, limits)
        rows = _checked_rows(connection, copy, where, source.size, len(names), limits)
    except duckdb.Error:
        raise FileError(
            where, found="no readable Parquet footer", right="it must be a whole Parquet file", step="export it again"
        ) from None
    return Incoming(relation=parquet_relation(copy), names=names, readings=(Reading.NATIVE,) * len(names), rows=rows)


def parquet_relation(copy: Path) -> str:
    """The copy as SQL that can stand after FROM."""
    settings = "hive_partitioning = false, union_by_name = false, file_row_number = false, binary_as_string = false"
    return f"read_parquet({literal(str(copy))}, {settings})"


def _flat_names(connection: duckdb.DuckDBPyConnection, copy: Path, where: str, limits: Limits) -> tuple[str, ...]:
    """The names of the columns; the first entry of a Parquet schema is its root, and a leaf has no children."""
    schema = connection.execute(
        "SELECT name, coalesce(num_children, 0), coalesce(repetition_type, '') FROM parquet_schema($path)",
        {"path": str(copy)},
    ).fetchall()
    entries = schema[1:]
    nested = next((name for name, children, repeated in entries if children or repeated == "REPEATED"), None)
    if nested is not None:
        raise FileError(
            f"{where}, column {nested!r}",
            found="nested values",
            right="a column holds one value a row",
            step="flatten the column or leave it out",
        )
    return checked_names([name for name, _, _ in entries], where=where, limits=limits)


def _checked_rows(
    connection: duckdb.DuckDBPyConnection, copy: Path, where: str, size: int, columns: int, limits: Limits
) -> int:
    ((rows, unpacked),) = connection.execute(
        "SELECT (SELECT sum(num_rows) FROM parquet_file_metadata($path)), "
        "(SELECT sum(greatest(total_uncompressed_size, 0)) FROM parquet_metadata($path))",
        {"path": str(copy)},
    ).fetchall()
    for found, most, unit in (
        (rows or 0, limits.rows, "rows"),
        (unpacked or 0, limits.bytes, "bytes once unpacked"),
    ):
        if found > most:
            raise _too_large(where, f"more than {most} {unit}")
    # Runs of one value cost nothing in the file, so the cells count beside the bytes.
    if limits.inflated(size, max(unpacked or 0, (rows or 0) * columns)):
        raise _too_large(where, f"it unpacks to more than {limits.ratio} times its size")
    return int(rows or 0)


def _too_large(where: str, found: str) -> FileError:
    step = "check the file, or raise the limits: --limit rows=N --limit ratio=N"
    return FileError(where, found=found, right="a table grows less", step=step)
