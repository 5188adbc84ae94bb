"""What a keeper may say about a source that the source does not say itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from discreet.check import one_of
from discreet.data.readers.format import Format
from discreet.errors import ArgumentError

__all__ = ["ENCODINGS", "ReadOptions"]

ENCODINGS = ("utf-8", "utf-16", "latin-1", "windows-1252")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """`format` overrides what the file's name says. For text files: `delimiter` when the header does not settle it;
    `quote` is None where quotes are plain characters; `names` when there is no header line, `header` when there is one
    although some of its names look like numbers; `nulls` are tokens that mean a missing value beside the empty field;
    `trim` drops spaces around values. `sheet` picks an Excel sheet. `labels` turns the codes of SPSS, Stata and SAS
    files into their value labels. With `root`, only files below that folder are read, links resolved first.
    """

    format: Format | None = None
    delimiter: str | None = None
    quote: str | None = '"'
    encoding: str = "utf-8"
    nulls: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    header: bool = False
    trim: bool = False
    sheet: str | None = None
    labels: bool = False
    root: Path | None = None

    def as_json(self) -> dict[str, Any]:
        """How a file was read, as plain values, so that its next version is read alike. `root` is of one call only."""
        kept = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "root"}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> ReadOptions:
        """The options that `as_json` wrote."""
        given: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in kept.items()}
        if given.get("format") is not None:
            given["format"] = Format(given["format"])
        return cls(**given)

    def __post_init__(self) -> None:
        one_of("encoding", self.encoding, ENCODINGS)
        for name, sign in (("delimiter", self.delimiter), ("quote", self.quote)):
            if sign is not None and (len(sign) != 1 or not sign.isascii() or sign.isalnum() or sign in "\r\n\0"):
                raise ArgumentError(
                    name,
                    found="not one sign",
                    right="it must be one ASCII sign that is no letter, digit or line end",
                    step=f"give a {name} such as ';'" if name == "delimiter" else "leave quote out",
                )
        if self.header and self.names is not None:
            raise ArgumentError(
                "header", found="names too", right="the first line has the names, or the options", step="leave one out"
            )
        if self.quote is not None and self.quote == self.delimiter:
            raise ArgumentError(
                "quote", found="the delimiter", right="the two must differ", step="give another delimiter or quote"
            )
