"""Formats that only large foreign libraries read are read in a child process, and reach us as Parquet.

The child may hold so much memory and no more, so a file made to exhaust it ends the child; a crash of the library does
the same. What the child says is a verdict of ours, never the library's words.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from discreet.data.readers.format import Format
from discreet.data.readers.incoming import Incoming, Reading
from discreet.data.readers.limits import Limits
from discreet.data.readers.names import checked_names
from discreet.data.readers.options import ReadOptions
from discreet.data.readers.parquet import parquet_relation
from discreet.data.readers.source import SourceFile
from discreet.data.store import StoreDraft
from discreet.errors import FileError, MissingExtraError

__all__ = ["read_foreign"]

_CHILD = "discreet.data.readers.foreign"
# One thread each: every thread of a math library maps memory that the child's limit would count.
_QUIET = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}


def read_foreign(
    source: SourceFile, format_: Format, copy: Path, draft: StoreDraft, options: ReadOptions, limits: Limits
) -> Incoming:
    """Copy the file, have the child turn it into Parquet, and check what it says of the columns."""
    source.copy_to(copy)
    out = draft.folder / "foreign.parquet"
    task = {
        "format": format_.value,
        "path": str(copy),
        "out": str(out),
        "sheet": options.sheet,
        "labels": options.labels,
        "nulls": list(options.nulls),
        "size": source.size,
        "limits": {"ratio": limits.ratio, "free": limits.free, "rows": limits.rows, "columns": limits.columns,
                   "memory": limits.memory, "bytes": limits.bytes},
    }  # fmt: skip
    where = f"file {source.name}"
    said = _verdict(task, where, format_)
    names = checked_names(said["names"], where=where, limits=limits)
    return Incoming(
        relation=parquet_relation(out),
        names=names,
        readings=tuple(Reading(reading) for reading in said["readings"]),
        rows=int(said["rows"]),
        notes=tuple(said["notes"]),
    )


def _verdict(task: dict[str, Any], where: str, format_: Format) -> dict[str, Any]:
    """Run the child and translate its verdict into a result or an error of ours."""
    ran = subprocess.run(  # noqa: S603  our own interpreter and module, no shell
        [sys.executable, "-P", "-m", _CHILD],
        input=json.dumps(task).encode(),
        capture_output=True,
        env={**os.environ, **_QUIET},
        check=False,
    )
    try:
        said: dict[str, Any] = json.loads(ran.stdout)
    except ValueError:
        said = {}
    if "missing" in said:
        raise MissingExtraError(where, library=said["missing"], extra="files")
    if "refused" in said:
        at, found, right, step = said["refused"]
        raise FileError(f"{where}{at}", found=found, right=right, step=step)
    if "names" not in said:
        raise FileError(
            where,
            found=f"no readable {format_} file, or one that needs more than {task['limits']['memory']} bytes of memory",
            right="it must be whole",
            step="save it again in its own program, or raise the limit: --limit memory=BYTES",
        )
    return said
