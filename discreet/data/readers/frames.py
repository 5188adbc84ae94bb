"""Frames in memory: pandas, Polars, pyarrow, DuckDB relations, and whatever else streams Arrow by capsule.

A frame is read once, into a staging file of the draft: some streams can be read only once, and a frame may change while
it is looked at. Types are the frame's own. Columns of Python objects in pandas must be of one kind in all rows;
kinds that are no frame types (decimals, dates, big integers) go through text and the rules of text files. A missing
value of pandas, which for its floats is NaN, is null; the index is not a column. Names of columns that are no text are
refused. Of an unknown stream the names are those DuckDB sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import narwhals as nw

from discreet.data.frame import FrameKind, frame_kind
from discreet.data.quoting import literal
from discreet.data.readers.incoming import Incoming, Reading
from discreet.data.readers.limits import Limits
from discreet.data.readers.names import checked_names
from discreet.data.store import DISK_FAULTS, StoreDraft
from discreet.errors import ArgumentError, FileError

__all__ = ["read_frame"]

_WHERE = "the frame"
# What pandas finds in a column of objects, and whether text of it means the same.
_OBJECT_TEXT = frozenset({"integer", "decimal", "floating", "mixed-integer-float", "date", "datetime"})


class _Stream:
    """Only the capsule of a frame, so that no library between is asked for, or asks for another."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        return self._frame.__arrow_c_stream__(requested_schema)


def read_frame(frame: object, draft: StoreDraft, limits: Limits) -> Incoming:
    """Stage a frame; refuses what is none."""
    names: tuple[str, ...] | None = None
    readings: tuple[Reading, ...] | None = None
    source: Any = _native(frame)
    if frame_kind(source) is FrameKind.PANDAS:
        names = checked_names(source.columns, where=_WHERE, limits=limits)
        source, readings = _flat_pandas(source, names)
    elif hasattr(source, "__arrow_c_stream__"):
        names = _names(source, limits)
        source = _Stream(source)
    else:
        raise ArgumentError(
            "source",
            found=f"a {type(frame).__name__}",
            right="it is a path, a pandas, Polars or pyarrow frame, a DuckDB relation or an Arrow stream",
            step="give the path of a file, or a frame",
        )
    return _staged(source, names, readings, draft, limits)


def _native(frame: object) -> Any:
    """The frame itself if narwhals wraps it; a lazy Polars frame collected."""
    native: Any = nw.to_native(frame, pass_through=True)
    return native.collect() if nw.dependencies.is_polars_lazyframe(native) else native


def _names(source: Any, limits: Limits) -> tuple[str, ...] | None:
    """The names as the frame has them: DuckDB would rename the second of two equal ones."""
    schema = getattr(source, "schema", None)
    for holder, attribute in ((schema, "names"), (source, "column_names"), (source, "columns")):
        names = getattr(holder, attribute, None)
        if callable(names):
            names = names()
        if isinstance(names, Sequence) and all(isinstance(name, str) for name in names):
            return checked_names(names, where=_WHERE, limits=limits)
    return None


def _staged(
    source: Any,
    names: tuple[str, ...] | None,
    readings: tuple[Reading, ...] | None,
    draft: StoreDraft,
    limits: Limits,
) -> Incoming:
    staging = draft.folder / "frame.duckdb"
    try:
        connection = draft.connect(1)
        connection.register("given", source)
        seen = [str(name) for name, *_ in connection.execute("DESCRIBE SELECT * FROM given").fetchall()]
        names = names or checked_names(seen, where=_WHERE, limits=limits)
        physical = ", ".join(f"c{position}" for position in range(len(names)))
        connection.execute(f"ATTACH {literal(str(staging))} AS staging")
        connection.execute(f"CREATE TABLE staging.frame AS SELECT * FROM given AS given({physical})")
        connection.execute("DETACH staging")
    except DISK_FAULTS:
        raise  # the disk's fault, not the frame's
    except (duckdb.Error, TypeError, ValueError, RuntimeError):
        raise FileError(
            _WHERE,
            found="columns that do not translate to Arrow or to DuckDB",
            right="a column holds numbers, booleans, dates, times or text",
            step="convert or leave out columns of other types",
        ) from None
    return Incoming(
        relation="beside.frame", names=names, readings=readings or (Reading.NATIVE,) * len(names), beside=staging
    )


def _flat_pandas(frame: Any, names: Sequence[str]) -> tuple[Any, tuple[Reading, ...]]:
    """The frame with plain columns only: objects become text, booleans or are refused."""
    import pandas

    columns, readings = {}, []
    for position, name in enumerate(names):
        series = frame.iloc[:, position].reset_index(drop=True)
        if isinstance(series.dtype, pandas.CategoricalDtype):
            series = series.astype(series.cat.categories.dtype)
        reading = Reading.NATIVE
        if series.dtype == object:
            series, reading = _flat_objects(series, pandas.api.types.infer_dtype(series, skipna=True), name)
        columns[f"c{position}"] = series
        readings.append(reading)
    return pandas.DataFrame(columns, copy=False), tuple(readings)


def _flat_objects(series: Any, kind: str, name: str) -> tuple[Any, Reading]:
    if kind in ("string", "empty"):
        return series.astype("string"), Reading.NATIVE
    if kind == "boolean":
        return series.astype("boolean"), Reading.NATIVE
    if kind in _OBJECT_TEXT:
        return series.map(str, na_action="ignore").astype("string"), Reading.TEXT
    raise FileError(
        f"{_WHERE}, column {name!r}",
        found="Python objects of more than one kind, or of no plain kind",
        right="a column holds numbers, booleans, dates, times or text",
        step="convert the column to one type",
    )
