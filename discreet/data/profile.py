"""What a table looks like, read off its confidential content. Raw: for the keeper's eyes, and printed nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from discreet.data.table import StorageType

__all__ = ["RARE_BELOW", "ColumnProfile", "Profile"]

RARE_BELOW = 5


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ColumnProfile:
    """What one column holds. Null, NaN and infinities are missing and enter nothing else."""

    name: str
    type: StorageType
    missing: int
    distinct: int
    single: int
    rare: int
    largest: int
    low: str | None = None
    high: str | None = None
    places: int = 0
    longest: int = 0
    texts: tuple[str, ...] = ()
    forms: Mapping[str, int]

    def __repr__(self) -> str:
        return "<confidential column profile>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a confidential profile is not pickled: it would leave its process in clear")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Profile:
    """What every column of one table holds."""

    rows: int
    columns: tuple[ColumnProfile, ...]

    def __repr__(self) -> str:
        return "<confidential profile>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a confidential profile is not pickled: it would leave its process in clear")
