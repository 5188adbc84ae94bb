"""The caller's kind of frame: recognised when a table comes in, made again when results go out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw

__all__ = ["FrameKind", "frame_kind", "frame_like", "write_parquet"]


class FrameKind(StrEnum):
    """Where a table came from. PLAIN: a file, or a frame of another kind; answered with a dict of lists."""

    PANDAS = "pandas"
    POLARS = "polars"
    PYARROW = "pyarrow"
    DUCKDB = "duckdb"
    PLAIN = "plain"


def frame_kind(frame: object) -> FrameKind:
    """The kind of a frame, lazy or not, also when narwhals wraps it."""
    frame = nw.to_native(frame, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(frame):
        return FrameKind.PANDAS
    if nw.dependencies.is_polars_dataframe(frame) or nw.dependencies.is_polars_lazyframe(frame):
        return FrameKind.POLARS
    if nw.dependencies.is_pyarrow_table(frame):
        return FrameKind.PYARROW
    return FrameKind.DUCKDB if isinstance(frame, duckdb.DuckDBPyRelation) else FrameKind.PLAIN


def frame_like(kind: FrameKind, columns: Mapping[str, Sequence[Any]]) -> Any:
    """The columns as a frame of that kind; as a dict of lists if its library is not there any more."""
    plain = {name: _alike(values) for name, values in columns.items()}
    try:
        if kind is FrameKind.DUCKDB:
            return _relation(plain)
        if kind is not FrameKind.PLAIN:
            backend: Any = kind.value
            return nw.from_dict(plain, backend=backend).to_native()
    except ImportError:
        pass
    return plain


def _alike(values: Sequence[Any]) -> list[Any]:
    """The values with numbers of one type: frames take that of the first, and 0, 0.5, 1 would not fit in."""
    if any(isinstance(value, float) for value in values):
        return [float(value) if type(value) is int else value for value in values]
    return list(values)


def write_parquet(into: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """The columns as a Parquet file."""
    try:
        _relation({name: _alike(values) for name, values in columns.items()}).write_parquet(str(into))
    except duckdb.IOException:
        raise OSError(0, "it cannot be written") from None


def _relation(columns: Mapping[str, list[Any]]) -> Any:
    connection = duckdb.connect()
    names = ['"' + name.replace('"', '""') + '"' for name in columns]
    parts = ", ".join(f"unnest(${number}) AS {name}" for number, name in enumerate(names, start=1))
    connection.execute(f"CREATE TABLE answer AS SELECT {parts}", list(columns.values()))
    return connection.table("answer")
