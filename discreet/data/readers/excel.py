"""Excel workbooks, row by row through openpyxl. Runs in the child process.

The first row names the columns; rows follow without gaps, trailing empty rows are dropped. A formula counts by the
result stored in the file; one without a stored result, an error value, merged cells and values beside the named columns
are refused with their cell. Every cell is handed on as text with a tag of what it was, so that a column that mixes
numbers and text stays text, and a text that looks like a number stays text too.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Any

from discreet.data.readers.incoming import Reading
from discreet.data.readers.verdict import ForeignTable, Refused, Task

__all__ = ["read_excel"]

_BATCH_CELLS = 200_000
_SPECIAL = re.compile(rb"<(?:\w+:)?(f|mergeCell)[\s>/]")
_WHOLE_BELOW = 2**53
# How a part begins: declarations and comments, each taken whole, then its root. A document type, which could name other
# files or stand for endless text, does not fit in; nor does UTF-16, in which one could hide.
_PLAIN_START = re.compile(rb"(?:\xef\xbb\xbf)?(?>\s+|<\?(?s:.*?)\?>|<!--(?s:.*?)-->)*+<[A-Za-z_]")
_START_BYTES = 1 << 16


def read_excel(task: Task) -> ForeignTable:
    """Open the one visible sheet, or the one asked for."""
    import openpyxl

    _check_archive(task)
    workbook = openpyxl.load_workbook(open(task.path, "rb"), read_only=True, data_only=True, keep_links=False)  # noqa: SIM115
    sheet = _sheet(workbook, task.sheet)
    special = _special_parts(task.path, sheet)
    if b"mergeCell" in special:
        raise Refused(f", sheet {sheet.title!r}", "merged cells", "every cell has its own value", "unmerge them")
    formulas: Any = ()
    if b"f" in special:
        source = openpyxl.load_workbook(open(task.path, "rb"), read_only=True, keep_links=False)[sheet.title]  # noqa: SIM115
        source.reset_dimensions()
        formulas = source.iter_rows()
    sheet.reset_dimensions()
    rows = _checked_rows(sheet.iter_rows(), formulas, frozenset(task.nulls))
    names = [_name(cell) for cell in next(rows, [])]
    while names and names[-1] is None:
        names.pop()
    return _table(names, rows)


def _table(names: Sequence[Any], rows: Iterator[list[str | None]]) -> ForeignTable:
    import pyarrow

    schema = pyarrow.schema([pyarrow.field(f"c{position}", pyarrow.string()) for position in range(len(names))])
    return ForeignTable(
        names=["" if name is None else name for name in names],
        readings=[Reading.TAGGED] * len(names),
        schema=schema,
        batches=_batches(rows, len(names), schema),
    )


def _batches(rows: Iterator[list[str | None]], width: int, schema: Any) -> Iterator[Any]:
    import pyarrow

    most = max(1, _BATCH_CELLS // max(width, 1))
    kept: list[list[str | None]] = []
    for row in _gapless(rows, width):
        kept.append(row)
        if len(kept) == most:
            yield pyarrow.table(list(map(list, zip(*kept, strict=True))), schema=schema)
            kept = []
    if kept:
        yield pyarrow.table(list(map(list, zip(*kept, strict=True))), schema=schema)


def _gapless(rows: Iterator[list[str | None]], width: int) -> Iterator[list[str | None]]:
    """Rows of the header's width; an empty row may stand at the end only."""
    gap = 0
    for number, row in enumerate(rows, start=2):
        if all(cell is None for cell in row):
            gap = gap or number
            continue
        if gap:
            raise Refused(f", row {gap}", "an empty row between rows", "rows follow without gaps", "remove it")
        if any(cell is not None for cell in row[width:]):
            raise Refused(f", row {number}", "a value beside the named columns", "every column has a name", "name it")
        yield (row + [None] * (width - len(row)))[:width]


def _checked_rows(values: Iterator[Any], formulas: Any, nulls: frozenset[str]) -> Iterator[list[str | None]]:
    for number, (cells, sources) in enumerate(zip_longest(values, formulas, fillvalue=()), start=1):
        tagged: list[str | None] = []
        for position, cell in enumerate(cells, start=1):
            at = f", row {number}, column {position}"
            if cell.data_type == "e" and str(cell.value) in nulls:
                tagged.append(f"s{cell.value}")  # null once the options' tokens are; the row is not empty
                continue
            if cell.data_type == "e":
                raise Refused(at, "an error value", "cells hold values", "correct it, or list it in the options' nulls")
            source = sources[position - 1] if position <= len(sources) else None
            if source is not None and source.data_type == "f" and cell.value is None:
                raise Refused(at, "a formula without a stored result", "results are read", "save it in Excel first")
            tagged.append(_tagged(cell.value))
        yield tagged


def _tagged(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return f"b{str(value).lower()}"
    if isinstance(value, float) and value.is_integer() and abs(value) < _WHOLE_BELOW:
        value = int(value)
    if isinstance(value, int | float):
        return f"n{value!r}"
    if isinstance(value, datetime):
        return f"t{value.isoformat(sep=' ')}"
    return f"s{value}"


def _name(tagged: str | None) -> str | None:
    return None if tagged is None else tagged[1:]


def _sheet(workbook: Any, asked: str | None) -> Any:
    sheets = [sheet for sheet in workbook.worksheets if sheet.sheet_state == "visible"]
    titles = ", ".join(repr(sheet.title) for sheet in sheets)
    if asked is not None:
        found = [sheet for sheet in workbook.worksheets if sheet.title == asked]
        if not found:
            raise Refused("", f"no sheet {asked!r}", f"there is {titles}", "name one of these in the options")
        return found[0]
    if len(sheets) != 1:
        raise Refused("", f"{len(sheets)} visible sheets", f"there is {titles}", "name the sheet in the options")
    return sheets[0]


def _check_archive(task: Task) -> None:
    """A workbook is a zip of plain XML; what its members claim bounds what is unpacked from them."""
    try:
        with zipfile.ZipFile(task.path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
            parts = [name for name in archive.namelist() if name.endswith((".xml", ".rels", ".vml"))]
            plain = all(_PLAIN_START.match(archive.open(name).read(_START_BYTES)) for name in parts)
    except zipfile.BadZipFile:
        raise Refused("", "a broken workbook", "it must be whole", "save it again in Excel") from None
    if unpacked > task.limits.bytes or task.limits.inflated(task.size, unpacked):
        raise Refused("", f"it unpacks to more than {task.limits.ratio} times its size", "a workbook grows less",
                      "save it as CSV, or raise the limits: --limit ratio=N --limit bytes=N")  # fmt: skip
    if not plain:
        raise Refused("", "a part with a document type, or in another encoding", "parts are plain UTF-8",
                      "save it again in Excel, and ask where it comes from")  # fmt: skip


def _special_parts(path: str, sheet: Any) -> frozenset[bytes]:
    """Which of formulas and merged cells the sheet has, by a look at its XML."""
    with zipfile.ZipFile(path) as archive:
        inside = getattr(sheet, "_worksheet_path", "")
        names = [inside] if inside in archive.namelist() else [n for n in archive.namelist() if "worksheets/" in n]
        found: set[bytes] = set()
        for name in names:
            with archive.open(name) as part:
                tail = b""
                for block in iter(lambda: part.read(1 << 20), b""):
                    found |= {match[1] for match in _SPECIAL.finditer(tail + block)}
                    tail = block[-64:]
    return frozenset(found)
