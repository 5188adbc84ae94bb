"""Text as strict UTF-8: validated or transcoded block by block, and never guessed.

UTF-8 with or without a byte-order mark and UTF-16 with one are recognised by that mark; Latin-1, Windows-1252 and
UTF-16 without a mark only when the caller says so. A NUL is refused in all.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from discreet.errors import FileError

__all__ = ["utf8_blocks"]

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def utf8_blocks(blocks: Iterator[bytes], encoding: str, *, name: str) -> Iterator[bytes]:
    """The same text as UTF-8 without a byte-order mark."""
    first = next(blocks, b"")
    mark, found = next(((mark, is_) for mark, is_ in _MARKS if first.startswith(mark)), (b"", encoding))
    if mark and encoding not in ("utf-8", found):
        raise FileError(
            f"file {name}",
            found=f"a byte-order mark of {found}",
            right=f"the options say {encoding}",
            step="leave the encoding out of the options",
        )
    decode = _validated if found == "utf-8" else _transcoded
    if found == "utf-8":
        first = first[len(mark) :]
    lines = 1
    decoder = codecs.getincrementaldecoder(found)()
    block: bytes | None = first
    while block is not None:
        following = next(blocks, None)
        text = decode(decoder, block, following is None, f"file {name}", lines, found)
        zero = text.find(b"\0")
        if zero >= 0:
            line = lines + text.count(b"\n", 0, zero)
            raise FileError(
                f"file {name}, line {line}",
                found="a NUL byte",
                right="text has none",
                step="if the file is UTF-16, name the encoding in the options; else clean it",
            )
        lines += text.count(b"\n")
        yield text
        block = following


def _validated(
    decoder: codecs.IncrementalDecoder, block: bytes, last: bool, where: str, lines: int, encoding: str
) -> bytes:
    held = decoder.getstate()[0]
    if not (block.isascii() and not held):
        _decoded(decoder, block, last, where, lines, encoding)
    return block


def _transcoded(
    decoder: codecs.IncrementalDecoder, block: bytes, last: bool, where: str, lines: int, encoding: str
) -> bytes:
    return _decoded(decoder, block, last, where, lines, encoding).encode("utf-8")


def _decoded(
    decoder: codecs.IncrementalDecoder, block: bytes, last: bool, where: str, lines: int, encoding: str
) -> str:
    held = len(decoder.getstate()[0])
    try:
        return decoder.decode(block, last)
    except UnicodeError as error:
        line = lines + block.count(b"\n", 0, max(0, getattr(error, "start", 0) - held))
        raise FileError(
            f"{where}, line {line}",
            found=f"bytes that are not {encoding}",
            right="a text file is UTF-8, or UTF-16 with a byte-order mark",
            step="save it as UTF-8, or name its encoding in the options",
        ) from None
