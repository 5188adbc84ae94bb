"""Import: any supported source becomes one immutable DuckDB file of ours.

1. A file is opened once, its links resolved; its name and its first bytes must agree on the format.
2. Its bytes go, once, into a private folder beside the new store: text through the strict scan, other formats as they
   are. Everything after reads that copy, so nobody can swap the file halfway.
3. Formats that only large foreign libraries read (Excel, Arrow, SPSS, Stata, SAS) are read in a child process of
   bounded memory, which turns them into Parquet.
4. Types are decided over all rows by the declared rules (`readers.rules`), and the store is made and published whole.

Whatever a source holds, the outcome is the correct table, or one line that says what is wrong and where; never a value.
Progress names the phases alone, the same ones for any content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import duckdb

from discreet.data.frame import FrameKind, frame_kind
from discreet.data.intake import take_in
from discreet.data.readers.fence import read_foreign
from discreet.data.readers.format import Format, check_signature, declared_format
from discreet.data.readers.frames import read_frame
from discreet.data.readers.incoming import Incoming
from discreet.data.readers.limits import Limits
from discreet.data.readers.options import ReadOptions
from discreet.data.readers.parquet import read_parquet
from discreet.data.readers.source import SourceFile
from discreet.data.readers.text import read_text
from discreet.data.steps import checked_steps
from discreet.data.store import StoredFacts, StoreDraft
from discreet.data.table import StoredTable
from discreet.errors import FileError

__all__ = ["Format", "Limits", "ReadOptions", "load"]

_LINKED = "the path is a link; the file it leads to was read"


def load(
    source: object,
    into: Path,
    *,
    options: ReadOptions = ReadOptions(),  # noqa: B008  a frozen value
    steps: Mapping[str, Fraction] | None = None,
    limits: Limits = Limits(),  # noqa: B008  a frozen value
    progress: Callable[[str], None] | None = None,
) -> StoredTable:
    """Given a path or a frame: the table stored as the new file `into`, which must not exist yet."""
    try:
        return _load(source, Path(into), options, steps or {}, limits, progress or (lambda _: None))
    except (OSError, duckdb.Error):
        raise FileError(
            f"file {Path(into).name}",
            found="the disk does not take it",
            right="the disk needs room for the source and the stored table",
            step="free some space, or choose another disk",
        ) from None


def _load(
    source: object,
    into: Path,
    options: ReadOptions,
    steps: Mapping[str, Fraction],
    limits: Limits,
    announce: Callable[[str], None],
) -> StoredTable:
    with StoreDraft(into, memory=limits.memory) as draft:
        announce("reading")
        incoming, kind, where = _read(source, draft, options, limits)
        announce("storing")
        declared = checked_steps(steps, incoming.names)
        columns, notes = take_in(draft, incoming, options, declared, where=where)
        table = StoredTable(name="rows", columns=columns)
        declared_by_name = {incoming.names[position]: step for position, step in declared.items()}
        announce("publishing")
        draft.describe(StoredFacts(table=table, steps=declared_by_name, kind=kind, notes=notes))
        draft.publish()
    return table


def _read(source: object, draft: StoreDraft, options: ReadOptions, limits: Limits) -> tuple[Incoming, FrameKind, str]:
    if not isinstance(source, str | Path):
        return read_frame(source, draft, limits), frame_kind(source), "the frame"
    path = Path(source)
    with SourceFile(path, root=options.root, limits=limits) as file:
        declared = declared_format(path, options.format)
        check_signature(path, declared, file.head())
        copy = draft.folder / "source"
        if declared.format.is_text:
            incoming = read_text(file, declared, copy, options, limits)
        elif declared.format is Format.PARQUET:
            incoming = read_parquet(file, copy, draft, limits)
        else:
            incoming = read_foreign(file, declared.format, copy, draft, options, limits)
        notes = (_LINKED, *incoming.notes) if file.linked else incoming.notes
    return replace(incoming, notes=notes), FrameKind.PLAIN, f"file {path.name}"
