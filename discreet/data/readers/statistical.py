"""SPSS, Stata and SAS files through pyreadstat, in chunks of rows. Runs in the child process.

Numbers of these formats are binary64; a column of whole numbers counts as integer. Dates and times follow the column's
format. Empty text is null, and so is every code that the file declares missing (SPSS user-missing values, Stata and SAS
special missing values); a note names the columns that have some. On request codes become their value labels: a value
without a label stays as its number, and where two codes share a label the code is added.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from discreet.data.readers.incoming import Reading
from discreet.data.readers.verdict import ForeignTable, Refused, Task

__all__ = ["read_statistical"]

_CHUNK_CELLS = 2_000_000
_READERS = {
    "spss": "read_sav",
    "spss-portable": "read_por",
    "stata": "read_dta",
    "sas": "read_sas7bdat",
    "sas-transport": "read_xport",
}
_TELLS_MISSING = ("stata", "sas")
# Display formats under which a number is a number. All others may turn it into a date or a time.
_NUMERIC = re.compile(r"(F|COMMA|DOT|DOLLAR|PCT|E|N|Z|BEST|CC[A-E])?[0-9.]*|%[-0]?[0-9.,]*[fge]c?|NULL|None")


def read_statistical(task: Task) -> ForeignTable:
    """Open the file and plan its columns from its dictionary."""
    import pyarrow
    import pyreadstat

    read: Callable[..., Any] = getattr(pyreadstat, _READERS[task.format])
    options: dict[str, Any] = {"output_format": "dict"}
    if task.format in _TELLS_MISSING:
        options["user_missing"] = True
    declared = {"user_missing": True} if task.format == "spss" else options
    _, meta = read(task.path, **{**declared, "output_format": "dict"}, metadataonly=True)
    names = list(meta.column_names)
    if len(names) > task.limits.columns:
        raise Refused(
            "", f"{len(names)} columns", f"at most {task.limits.columns} are read", "raise the limit: --limit columns=N"
        )
    labels = _labels(meta.variable_value_labels) if task.labels else {}
    readings = [_reading(meta, name, name in labels) for name in names]
    schema = pyarrow.schema(
        [
            pyarrow.field(f"c{position}", pyarrow.float64() if reading is Reading.WHOLE else pyarrow.string())
            for position, reading in enumerate(readings)
        ]
    )
    missing = {name for name in names if meta.missing_ranges.get(name)}
    notes: list[str] = []
    chunks = _chunks(read, task, options, len(names))
    batches = _batches(chunks, names, readings, schema, labels, missing, notes)
    return ForeignTable(names=names, readings=readings, schema=schema, batches=batches, notes=notes)


def _reading(meta: Any, name: str, labelled: bool) -> Reading:
    if meta.readstat_variable_types[name] == "string" or labelled:
        return Reading.NATIVE
    is_number = _NUMERIC.fullmatch(str(meta.original_variable_types[name]))
    return Reading.WHOLE if is_number else Reading.TAGGED


def _chunks(read: Callable[..., Any], task: Task, options: Mapping[str, Any], width: int) -> Iterator[Any]:
    rows = max(1000, _CHUNK_CELLS // max(width, 1))
    offset = 0
    while True:
        columns, _ = read(task.path, row_offset=offset, row_limit=rows, **options)
        count = len(next(iter(columns.values()), ()))
        if count:
            yield columns
        if count < rows:
            return
        offset += rows


def _batches(
    chunks: Iterator[Any],
    names: Sequence[str],
    readings: Sequence[Reading],
    schema: Any,
    labels: Mapping[str, Mapping[Any, str]],
    missing: set[str],
    notes: list[str],
) -> Iterator[Any]:
    import pyarrow

    for chunk in chunks:
        arrays = []
        for name, reading in zip(names, readings, strict=True):
            values = chunk[name]
            if reading is not Reading.NATIVE and any(isinstance(value, str) for value in values):
                missing.add(name)
                values = [None if isinstance(value, str) else value for value in values]
            arrays.append(_converted(values, reading, labels.get(name)))
        yield pyarrow.table(
            [pyarrow.array(values, type=field.type) for values, field in zip(arrays, schema, strict=True)],
            schema=schema,
        )
    notes.extend(f"column {name!r}: codes that the file declares missing are null" for name in names if name in missing)


def _converted(values: Sequence[Any], reading: Reading, labels: Mapping[Any, str] | None) -> Sequence[Any]:
    if labels is not None:
        return [None if value is None or value == "" else labels.get(value, _number(value)) for value in values]
    if reading is Reading.NATIVE:
        return [value or None for value in values]
    if reading is Reading.TAGGED:
        return [_tagged(value) for value in values]
    return values


def _tagged(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, datetime):
        return f"t{value.isoformat(sep=' ')}"
    if isinstance(value, date):
        return f"d{value.isoformat()}"
    if isinstance(value, int | float):
        return f"n{_number(value)}"
    return f"s{value}"


def _number(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _labels(by_column: Mapping[str, Mapping[Any, str]]) -> dict[str, dict[Any, str]]:
    """The labels of each column, told apart by their code where they are equal."""
    labels = {}
    for name, column in by_column.items():
        texts = list(column.values())
        labels[name] = {
            code: text if texts.count(text) == 1 else f"{text} ({_number(code)})" for code, text in column.items()
        }
    return labels
