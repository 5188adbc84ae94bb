"""Arrow IPC files, streams and Feather version 2, batch by batch. Runs in the child process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from discreet.data.readers.incoming import Reading
from discreet.data.readers.verdict import ForeignTable, Refused, Task

__all__ = ["read_arrow"]


def read_arrow(task: Task) -> ForeignTable:
    """Open the file and refuse columns whose type is not read."""
    import pyarrow
    import pyarrow.ipc

    source = pyarrow.memory_map(task.path)
    try:
        opened: Any = pyarrow.ipc.open_file(source)
        parts = (opened.get_batch(number) for number in range(opened.num_record_batches))
    except pyarrow.ArrowInvalid:
        source.seek(0)
        opened = pyarrow.ipc.open_stream(source)
        parts = iter(opened)
    fields = [
        pyarrow.field(f"c{position}", _flat(field.type, field.name)) for position, field in enumerate(opened.schema)
    ]
    schema = pyarrow.schema(fields)
    return ForeignTable(
        names=opened.schema.names,
        readings=[Reading.NATIVE] * len(fields),
        schema=schema,
        batches=_batches(parts, schema),
    )


def _batches(parts: Iterator[Any], schema: Any) -> Iterator[Any]:
    import pyarrow

    for part in parts:
        part.validate(full=True)
        columns = [column.cast(field.type) for column, field in zip(part.columns, schema, strict=True)]
        yield pyarrow.Table.from_arrays(columns, schema=schema)


def _flat(type_: Any, name: str) -> Any:
    """The type as it goes on: dictionaries as their values; nested, binary and interval types are refused."""
    import pyarrow

    if pyarrow.types.is_dictionary(type_):
        return _flat(type_.value_type, name)
    if str(type_) == "halffloat":
        return pyarrow.float32()
    is_read = (
        pyarrow.types.is_integer,
        pyarrow.types.is_floating,
        pyarrow.types.is_boolean,
        pyarrow.types.is_string,
        pyarrow.types.is_large_string,
        pyarrow.types.is_decimal128,
        pyarrow.types.is_date,
        pyarrow.types.is_time,
        pyarrow.types.is_timestamp,
        pyarrow.types.is_null,
    )
    if pyarrow.types.is_string_view(type_):
        return pyarrow.string()
    if not any(test(type_) for test in is_read):
        raise Refused(
            f", column {name!r}",
            f"values of type {str(type_).split('<')[0]}",
            "a column holds numbers, booleans, dates, times or text, one value a row",
            "flatten the column or leave it out",
        )
    return type_
