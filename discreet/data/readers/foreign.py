"""The child process behind the fence: one foreign file in, one Parquet file and a verdict out.

It takes its task as JSON on standard input and answers with JSON on standard output: names, readings, notes and rows;
or `refused` (where in the file, found, right, step); or `missing`, a library. Whatever else happens, it dies without
a verdict, which the parent takes for an unreadable file.
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterable
from typing import Any

from discreet.data.readers.limits import Limits
from discreet.data.readers.verdict import ForeignTable, Refused, Task

__all__ = ["main"]


def write_parquet(table: ForeignTable, task: Task) -> int:
    """Write every batch; refuses a table that swells beyond the limits while it is written. Returns its rows."""
    import pyarrow.parquet

    rows = 0
    with pyarrow.parquet.ParquetWriter(task.out, table.schema, compression="lz4") as writer:
        for batch in table.batches:
            rows += batch.num_rows
            if rows > task.limits.rows or task.limits.inflated(task.size, rows * len(table.names)):
                raise Refused(
                    "",
                    f"more than {task.limits.rows} rows, or {task.limits.ratio} times more cells than bytes",
                    "a table grows less",
                    "check the file, or raise the limits: --limit rows=N --limit ratio=N",
                )
            writer.write_table(batch)
    return rows


def _table(task: Task) -> ForeignTable:
    if task.format == "excel":
        from discreet.data.readers.excel import read_excel

        return read_excel(task)
    if task.format == "arrow":
        from discreet.data.readers.arrow import read_arrow

        return read_arrow(task)
    from discreet.data.readers.statistical import read_statistical

    return read_statistical(task)


def _answer(task: Task) -> dict[str, Any]:
    try:
        table = _table(task)
        rows = write_parquet(table, task)
        return {"names": list(table.names), "readings": list(table.readings), "notes": table.notes, "rows": rows}
    except Refused as refused:
        return {"refused": refused.parts}
    except ImportError as absent:
        return {"missing": absent.name or "pyarrow"}


def _bound(memory: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def main(given: Iterable[str]) -> None:
    """Read the task, do it within bounds, say the verdict."""
    asked = json.loads("".join(given))
    task = Task(**{**asked, "nulls": tuple(asked["nulls"]), "limits": Limits(**asked["limits"])})
    _bound(task.limits.memory)
    sys.stdout.write(json.dumps(_answer(task)))


if __name__ == "__main__":
    main(sys.stdin)
