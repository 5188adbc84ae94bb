"""Delimited text: unpacked, decoded and scanned into a private copy, which DuckDB then reads by explicit rules.

1. Bytes are read once, from one descriptor; a bomb, a broken archive and bytes that are not the declared encoding stop
   the read where they stand.
2. The header settles the delimiter and the names; the scan holds every line against it.
3. What the scan saw, and nothing else, lies in the copy. DuckDB gets every setting in words: all columns as text, no
   header, no sampling, no padding. The number of rows it finds must be the scan's.

An empty field is null, quoted or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from discreet.data.quoting import literal
from discreet.data.readers.decode import utf8_blocks
from discreet.data.readers.format import Declared, Format
from discreet.data.readers.header import read_header
from discreet.data.readers.incoming import Incoming, Reading
from discreet.data.readers.limits import Limits
from discreet.data.readers.options import ReadOptions
from discreet.data.readers.scan import TextScan
from discreet.data.readers.source import SourceFile
from discreet.data.readers.unpack import unpacked_blocks
from discreet.errors import FileError

__all__ = ["read_text"]


def read_text(source: SourceFile, declared: Declared, copy: Path, options: ReadOptions, limits: Limits) -> Incoming:
    """Scan the file into `copy`; refuses whatever does not follow the rules of `scan`."""
    blocks = utf8_blocks(unpacked_blocks(source, declared.packing, limits), options.encoding, name=source.name)
    delimiter = options.delimiter or ("\t" if declared.format is Format.TSV else None)
    header = read_header(blocks, name=source.name, delimiter=delimiter, options=options, limits=limits)
    scan = TextScan(
        name=source.name,
        delimiter=header.delimiter,
        quote=options.quote,
        columns=len(header.names),
        limits=limits,
        line=1 + header.lines,
    )
    _write_scanned(chain([header.rest], blocks), scan, copy)
    source.check_unchanged()
    if not scan.rows:
        raise FileError(
            f"file {source.name}", found="no rows after the header", right="a table has rows", step="check the file"
        )
    return Incoming(
        relation=_relation(copy, scan, options, limits),
        names=header.names,
        readings=(Reading.TEXT,) * len(header.names),
        rows=scan.rows,
    )


def _write_scanned(blocks: Iterator[bytes], scan: TextScan, copy: Path) -> None:
    with open(copy, "xb") as out:
        for block in blocks:
            out.write(scan.feed(block))
        out.write(scan.feed(b"", last=True))
        out.truncate(scan.length)


def _relation(copy: Path, scan: TextScan, options: ReadOptions, limits: Limits) -> str:
    columns = ", ".join(f"'c{position}': 'VARCHAR'" for position in range(scan.columns))
    quote = literal(options.quote or "")
    settings = {
        "auto_detect": "false",
        "columns": f"{{{columns}}}",
        "delim": literal(scan.delimiter),
        "quote": quote,
        "escape": quote,
        "comment": "''",
        "new_line": r"'\n'",
        "header": "false",
        "nullstr": "''",
        "allow_quoted_nulls": "true",
        "strict_mode": "true",
        "null_padding": "false",
        "ignore_errors": "false",
        "compression": "'none'",
        "encoding": "'utf-8'",
        "max_line_size": str(limits.line + 2),
        "buffer_size": str(max(8 << 20, 2 * limits.line)),
        "parallel": "false" if scan.quoted_breaks else "true",
    }
    given = ", ".join(f"{name} = {value}" for name, value in settings.items())
    return f"read_csv({literal(str(copy))}, {given})"
