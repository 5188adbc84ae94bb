"""The strict scan against a grammar of ten lines, and its independence of where blocks end."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.data.readers.limits import Limits
from discreet.data.readers.scan import TextScan
from discreet.errors import FileError

TEXTS = st.text(alphabet='a,"\r\n', max_size=24)


def scanned(text: str, columns: int, size: int, quote: str | None = '"') -> tuple[bytes, int] | None:
    """What the scan lets through, and its count of rows; None if it refuses."""
    scan = TextScan(name="t.csv", delimiter=",", quote=quote, columns=columns, limits=Limits())
    data = text.encode()
    try:
        return fed(scan, data, size)[: scan.length], scan.rows
    except FileError:
        return None


def fed(scan: TextScan, data: bytes, size: int) -> bytes:
    """All that the scan returns when fed in blocks of a size."""
    parts = [scan.feed(data[start : start + size]) for start in range(0, len(data), size)]
    return b"".join([*parts, scan.feed(b"", last=True)])


def grammar(text: str, columns: int, quote: bool = True) -> tuple[bytes, int] | None:
    """The same by the grammar of the rules."""
    field = '(?:"(?:[^"]|"")*"|[^",\r\n]*)' if quote else "[^,\r\n]*"
    line = re.compile(f"((?!\r?\n){field}(?:,{field}){{{columns - 1}}})\r?\n")
    text = re.sub("(?<!\n)\\Z", "\n", text) if text else ""
    kept = []
    while text and re.fullmatch("(\r?\n)+", text) is None:
        if not (match := line.match(text)):
            return None
        kept.append(match[1] + "\n")
        text = text[match.end() :]
    return "".join(kept).encode(), len(kept)


@given(TEXTS, st.integers(1, 3), st.integers(1, 7))
@example('"a"\r', 1, 1)
@example('a,"\r\n"\r\n\r\n', 2, 2)
@example('""""', 1, 3)
@example('"', 1, 1)
@example("\n", 1, 1)
def test_the_scan_accepts_what_the_grammar_does(text: str, columns: int, size: int) -> None:
    assert scanned(text, columns, size) == grammar(text, columns)


@given(TEXTS, st.integers(1, 3), st.integers(1, 7))
def test_so_it_does_where_quotes_are_plain(text: str, columns: int, size: int) -> None:
    assert scanned(text, columns, size, quote=None) == grammar(text, columns, quote=False)


@given(st.lists(st.sampled_from(["a,b", '"x\ny",b', '"p""q",b']), max_size=6), st.integers(1, 5), st.data())
def test_the_line_named_is_the_line_of_the_fault(lines: list[str], size: int, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(lines)))
    fault, found = data.draw(st.sampled_from([("a,b,c", "3 fields"), ('a"b,c', "middle"), ("a\rb,c", "return")]))
    text = "\n".join([*lines[:at], fault, *lines[at:]]).encode()
    scan = TextScan(name="t.csv", delimiter=",", quote='"', columns=2, limits=Limits(), line=2)
    line = 2 + sum(entry.count("\n") + 1 for entry in lines[:at])
    with pytest.raises(FileError, match=f"t.csv, line {line}: .*{found}"):
        fed(scan, text, size)


@pytest.mark.parametrize("size", [10, 64, 1000])
def test_a_long_record_is_refused_before_it_is_whole(size: int) -> None:
    scan = TextScan(name="t.csv", delimiter=",", quote='"', columns=1, limits=Limits(line=100))
    whole = b"x" * 99 + b"\n"
    fed(scan, whole, size)
    with pytest.raises(FileError, match="line 2: a record of more than 100 bytes"):
        fed(scan, b"y" * 300, size)
