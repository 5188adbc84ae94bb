"""Contracts to and from the formats of other tools, by the format's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from discreet.check import one_of
from discreet.data.contract import Contract
from discreet.data.document import text_of
from discreet.data.formats import croissant, csvw, smartnoise
from discreet.data.formats.conversion import Conversion

__all__ = ["FORMS", "read_as", "write_as"]

FORMS: Mapping[str, tuple[Callable[..., Conversion], Callable[[Contract], Conversion]]] = {
    "smartnoise": (smartnoise.read, smartnoise.write),
    "csvw": (csvw.read, csvw.write),
    "croissant": (croissant.read, croissant.write),
}


def read_as(form: str, file: Path, *, table: str | None = None) -> Conversion:
    """The contract in a file of that format, a draft until the keeper declares it; `table` names one of several."""
    read, _ = FORMS[one_of("form", form, FORMS)]
    named = {} if table is None else {"table": table}
    return read(text_of(file), where=file.name, **named)


def write_as(form: str, contract: Contract) -> Conversion:
    """The contract in that format, and what it has no place for."""
    _, write = FORMS[one_of("form", form, FORMS)]
    return write(contract)
