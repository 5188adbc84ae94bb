"""The first line of a text file: which sign parts the fields, and what the columns are called."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from discreet.data.readers.limits import Limits
from discreet.data.readers.names import checked_names
from discreet.data.readers.options import ReadOptions
from discreet.data.readers.scan import TextScan
from discreet.errors import FileError

__all__ = ["Header", "read_header"]

_DELIMITERS = (",", ";", "\t", "|")
_SPOKEN = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The columns' names, the delimiter, the lines the header took, and the bytes read beyond it."""

    names: tuple[str, ...]
    delimiter: str
    lines: int
    rest: bytes


def read_header(
    blocks: Iterator[bytes], *, name: str, delimiter: str | None, options: ReadOptions, limits: Limits
) -> Header:
    """Read the header off the front of the blocks, or only look at the first line if the options name the columns."""
    first, rest = _first_line(blocks, name, options.quote, limits)
    text = first.decode("utf-8")
    delimiter = delimiter or _settled(text, name, options.quote)
    fields = _fields(text, name, delimiter, options.quote, limits)
    if options.names is None:
        likely = [position for position, field in enumerate(fields, 1) if _is_value(field)]
        if likely and not options.header:
            raise _refused(
                name,
                f"field {likely[0]} looks like a number or a date",
                "the first line names the columns",
                "give the names if it is a row already (--names A,B), or say that these are the names (--header)",
            )
        names = checked_names(fields, where=f"file {name}, line 1", limits=limits)
        return Header(names=names, delimiter=delimiter, lines=1, rest=rest)
    names = checked_names(options.names, where="names", limits=limits)
    if len(names) != len(fields):
        found = f"{len(fields)} fields, and {len(names)} names in the options"
        raise _refused(name, found, "there must be a name for each field", "correct the names")
    return Header(names=names, delimiter=delimiter, lines=0, rest=first + rest)


def _first_line(blocks: Iterator[bytes], name: str, quote: str | None, limits: Limits) -> tuple[bytes, bytes]:
    """The bytes up to the first line feed outside quotes, that included, and what was read beyond it."""
    read = b""
    sign = quote.encode() if quote else b""
    looked, quotes = 0, 0
    for block in blocks:
        read += block
        while (end := read.find(b"\n", looked)) >= 0:
            quotes += read.count(sign, looked, end) if sign else 0
            looked = end + 1
            if quotes % 2 == 0:
                return read[:looked], read[looked:]
        if len(read) > limits.line:
            found = f"more than {limits.line} bytes without a line end outside quotes"
            raise _refused(name, found, "the first line names the columns", "check its quotes and line ends")
    return read, b""


def _settled(text: str, name: str, quote: str | None) -> str:
    """The delimiter: the one candidate that stands in the header outside quotes; a comma if there is none."""
    bare = re.sub(f"{re.escape(quote)}[^{re.escape(quote)}]*{re.escape(quote)}", "", text) if quote else text
    found = [sign for sign in _DELIMITERS if sign in bare]
    if len(found) > 1:
        raise _refused(
            name,
            f"{' and '.join(_SPOKEN[sign] for sign in found)}, each a possible delimiter",
            "one of them parts the fields",
            "name the delimiter in the options",
        )
    return found[0] if found else ","


def _fields(text: str, name: str, delimiter: str, quote: str | None, limits: Limits) -> list[str]:
    line = text.removesuffix("\n").removesuffix("\r")
    if not line.strip():
        raise _refused(name, "nothing", "the first line names the columns", "remove blank lines from the top")
    lines = io.StringIO(line, newline="")
    try:
        if quote is None:
            rows = list(csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE))
        else:
            rows = list(csv.reader(lines, delimiter=delimiter, quotechar=quote))
    except csv.Error:
        raise _refused(name, "a name that is too long", "names are short", "correct the first line") from None
    # The scan refuses stray quotes and lone carriage returns, so that the split above is the only possible one.
    scan = TextScan(name=name, delimiter=delimiter, quote=quote, columns=len(rows[0]), limits=limits)
    scan.feed(text.encode("utf-8"), last=True)
    return rows[0]


def _is_value(field: str) -> bool:
    return re.fullmatch(r"\s*[-+]?[0-9][0-9.,:/eE+-]*\s*", field) is not None


def _refused(name: str, found: str, right: str, step: str) -> FileError:
    return FileError(f"file {name}, line 1", found=found, right=right, step=step)
