"""The strict scan of a delimited text file, before any parser sees it.

Rules, all of them: a record ends at LF or CRLF outside quotes; a quote opens only at the start of a field and closes
only at its end, and inside it a doubled quote is a quote; every record has as many fields as the header; a blank line
is no record, refused between records and dropped at the end; no record is longer than the limit.

Method, per block: positions of delimiters, line feeds and quotes; a position is inside quotes if the number of quotes
before it is odd; the remaining line feeds cut records, whose fields and bytes are differences of positions. The last
byte of a block waits for the next one, so that every byte's successor is known.

Promises: what `feed` returned is the same text with LF alone between records, and any parser of the same rules reads
`rows` records of `columns` fields from it. Not promised: anything about the meaning of the fields.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.data.readers.limits import Limits
from discreet.errors import FileError

__all__ = ["TextScan"]

LF, CR = 10, 13
Positions = NDArray[np.int64]
Bytes = NDArray[np.uint8]


@dataclass(slots=True, kw_only=True)
class TextScan:
    """The running state of one scan. Feed blocks in order, the last one marked."""

    name: str
    delimiter: str
    quote: str | None
    columns: int
    limits: Limits
    line: int = 1
    rows: int = 0
    quoted_breaks: bool = False
    length: int = 0  # bytes returned up to the end of the last record
    _returned: int = 0
    _held: bytes = b""
    _before: int = LF
    _inside: bool = False
    _record_line: int = 0
    _open_fields: int = 0
    _open_bytes: int = 0
    _blank_line: int = 0
    _faults: list[tuple[int, int, str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._record_line = self.line

    def feed(self, block: bytes, *, last: bool = False) -> bytes:
        """Scan one more block; returns the scanned text with LF between records. Raises at the first fault."""
        block = self._held + block
        if last and block and not block.endswith(b"\n"):
            block += b"\n"
        kept = len(block) if last else max(len(block) - 1, 0)
        data, self._held = block[:kept], block[kept:]
        if self.quote is not None and (self._inside or self.quote.encode() in data):
            data = self._scan_quoted(data)
        else:
            data = self._scan_plain(data)
        self._raise_first()
        self._returned += len(data)
        if last and self._inside:
            raise self._fault(self._record_line, "a quote that is never closed", "close it or double it")
        return data

    def _scan_plain(self, data: bytes) -> bytes:
        if b"\r" in data:
            self._find_lone_returns(data, np.flatnonzero(_bytes(data) == CR))
            data = data.replace(b"\r", b"")
        array = _bytes(data)
        marks = np.flatnonzero((array == LF) | (array == ord(self.delimiter)))
        breaks = np.flatnonzero(array[marks] == LF)
        ends = marks[breaks]
        self._cut(len(data), ends, breaks, len(marks), np.arange(1, len(ends) + 1))
        self.line += len(ends)
        self._before = int(array[-1]) if len(array) else self._before
        return data

    def _scan_quoted(self, data: bytes) -> bytes:
        if b"\r" in data:
            data = self._without_returns(data)
        assert self.quote is not None
        array, sign = _bytes(data), ord(self.quote)
        special = np.flatnonzero((array == LF) | (array == ord(self.delimiter)) | (array == sign))
        kinds = array[special]
        is_quote = kinds == sign
        inside_before = (np.cumsum(is_quote) - is_quote + self._inside) % 2 == 1
        self._check_quotes(data, special[is_quote], inside_before[is_quote])
        outside = special[~is_quote & ~inside_before]
        breaks = np.flatnonzero(array[outside] == LF)
        ends, every_break = outside[breaks], special[kinds == LF]
        ranks = np.searchsorted(every_break, ends) + 1
        self.quoted_breaks |= len(every_break) > len(ends)
        self._inside ^= bool(np.count_nonzero(is_quote) % 2)
        self._cut(len(data), ends, breaks, len(outside), ranks)
        self.line += len(every_break)
        self._before = int(array[-1]) if len(array) else self._before
        return data

    def _without_returns(self, data: bytes) -> bytes:
        """CRLF outside quotes becomes LF; inside quotes all stays."""
        assert self.quote is not None
        array = _bytes(data)
        returns = np.flatnonzero(array == CR)
        quotes = np.flatnonzero(array == ord(self.quote))
        outside = (np.searchsorted(quotes, returns) + self._inside) % 2 == 0
        self._find_lone_returns(data, returns[outside])
        return np.delete(array, returns[outside]).tobytes()

    def _find_lone_returns(self, data: bytes, returns: Positions) -> None:
        following = _bytes(data + self._held)[np.minimum(returns + 1, len(data) + len(self._held) - 1)]
        lone = returns[following != LF]
        if len(lone):
            at = int(lone[0])
            self._note(at, self._line_at(data, at), "a carriage return alone", "end lines with LF or CRLF")

    def _check_quotes(self, data: bytes, quotes: Positions, closing: NDArray[np.bool_]) -> None:
        array = _bytes(data + self._held)
        before = np.where(quotes > 0, array[quotes - 1], self._before)
        after = array[np.minimum(quotes + 1, len(array) - 1)]
        assert self.quote is not None
        legal = np.zeros(256, dtype=bool)
        legal[[LF, ord(self.delimiter), ord(self.quote)]] = True
        ends_well = legal.copy()
        ends_well[CR] = True
        stray = quotes[np.where(closing, ~ends_well[after], ~legal[before])]
        if len(stray):
            at = int(stray[0])
            self._note(at, self._line_at(data, at), "a quote in the middle of a field", "quote the whole field")

    def _cut(self, size: int, ends: Positions, breaks: Positions, marks: int, ranks: Positions) -> None:
        """Cut records at `ends`; the i-th record has breaks[i] - breaks[i-1] fields."""
        if not len(ends):
            self._open_fields += marks
            self._open_bytes += size
        else:
            fields = np.diff(breaks, prepend=-1 - self._open_fields)
            sizes = np.diff(ends, prepend=-1 - self._open_bytes)
            starts = np.concatenate(([self._record_line], self.line + ranks[:-1]))
            self._check_records(ends, fields, sizes, starts)
            self._record_line = self.line + int(ranks[-1])
            self._open_fields = marks - 1 - int(breaks[-1])
            self._open_bytes = size - 1 - int(ends[-1])
        if self._open_bytes > self.limits.line:
            found = "a quote not closed within" if self._inside else "a record of more than"
            self._note_long(size, self._record_line, found)

    def _check_records(self, ends: Positions, fields: Positions, sizes: Positions, starts: Positions) -> None:
        blank = sizes == 1
        full = np.flatnonzero(~blank)
        if len(full):
            between = np.flatnonzero(blank[: full[-1]])
            if self._blank_line:
                self._note(-1, self._blank_line, "a blank line between records", "remove the line")
            elif len(between):
                self._note(int(ends[between[0]]), int(starts[between[0]]), "a blank line between records", "remove it")
            self._blank_line = 0
            self.length = self._returned + int(ends[full[-1]]) + 1
        after = np.flatnonzero(blank[full[-1] + 1 :] if len(full) else blank)
        if len(after) and not self._blank_line:
            self._blank_line = int(starts[len(blank) - len(after)])
        ragged = full[fields[full] != self.columns]
        if len(ragged):
            at = int(ragged[0])
            found = f"{int(fields[at])} fields where the header has {self.columns}"
            self._note(int(ends[at]), int(starts[at]), found, "make every line as long as the header")
        long = np.flatnonzero(sizes > self.limits.line)
        if len(long):
            self._note_long(int(ends[long[0]]), int(starts[long[0]]), "a record of more than")
        self.rows += len(full)
        if self.rows > self.limits.rows:
            found = f"more than {self.limits.rows} rows"
            self._note(int(ends[-1]), int(starts[-1]), found, "check the file, or raise the limit: --limit rows=N")

    def _note_long(self, at: int, line: int, found: str) -> None:
        step = "check its quotes and line ends, or raise the limit: --limit line=BYTES"
        self._note(at, line, f"{found} {self.limits.line} bytes", step)

    def _line_at(self, data: bytes, position: int) -> int:
        return self.line + data.count(b"\n", 0, position)

    def _note(self, at: int, line: int, found: str, step: str) -> None:
        self._faults.append((at, line, found, step))

    def _raise_first(self) -> None:
        if self._faults:
            _, line, found, step = min(self._faults)
            raise self._fault(line, found, step)

    def _fault(self, line: int, found: str, step: str) -> FileError:
        right = "a text file has one record a line, quotes around whole fields and the same number of fields in each"
        return FileError(f"file {self.name}, line {line}", found=found, right=right, step=step)


def _bytes(data: bytes) -> Bytes:
    return np.frombuffer(data, dtype=np.uint8)
