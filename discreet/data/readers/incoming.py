"""What every reader hands over: rows that DuckDB can take in, and how each column is to be understood."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

__all__ = ["Incoming", "Reading"]


class Reading(StrEnum):
    """How a column arrives.

    NATIVE: in a type of its own. TEXT: as text whose type is to be inferred. TAGGED: as text whose first sign
    tells what the cell was (n number, b boolean, d date, t datetime, s text). WHOLE: as double from a format that has
    no integers, so that a column of whole numbers counts as integer.
    """

    NATIVE = "native"
    TEXT = "text"
    TAGGED = "tagged"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """`relation` is generated SQL that can stand after FROM and yields columns c0, c1, …, in the order of `names`.

    It may name tables of the DuckDB file `beside`, as `beside.frame`. `rows` is what the reader itself counted, to be
    held against the store; None if it did not count.
    """

    relation: str
    names: tuple[str, ...]
    readings: tuple[Reading, ...]
    beside: Path | None = None
    rows: int | None = None
    notes: tuple[str, ...] = ()
