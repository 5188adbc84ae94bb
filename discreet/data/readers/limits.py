"""What a source may be at most. Beyond it a file is refused while it is read, not after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Self

from discreet.check import at_least, known
from discreet.errors import ArgumentError

__all__ = ["Limits"]

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Each has a default that a laptop bears; a keeper who knows better raises it.

    `bytes`: a file's size, and its size once unpacked. `ratio`: how many times its packed size a file may grow; growth
    up to `free` bytes is never asked. `line`: bytes of one record of a text file. `memory`: bytes that DuckDB, and
    the process in which foreign files are read, may each hold.
    """

    bytes: int = 65_536 * MIB
    ratio: int = 100
    free: int = 64 * MIB
    rows: int = 2_000_000_000
    columns: int = 1_500
    line: int = 2_000_000
    memory: int = 320 * MIB

    def __post_init__(self) -> None:
        for limit in fields(self):
            at_least(limit.name, getattr(self, limit.name), 1)
        at_least("memory", self.memory, 128 * MIB)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """The defaults with those raised that are given as NAME=NUMBER."""
        given: dict[str, int] = {}
        for text in texts:
            name, _, number = text.partition("=")
            known("limit", name, [limit.name for limit in fields(cls)], step="name one of the limits")
            if not (number.isascii() and number.isdecimal()):
                raise ArgumentError(
                    f"limit {name}",
                    found="no whole number",
                    right="a limit is a whole number",
                    step=f"give {name}={getattr(cls(), name)}, or more",
                )
            given[name] = int(number)
        return cls(**given)

    def inflated(self, packed: int, unpacked: int) -> bool:
        """Whether so many unpacked bytes (or cells) out of so many packed ones are a bomb."""
        return unpacked > self.free and unpacked > self.ratio * packed
