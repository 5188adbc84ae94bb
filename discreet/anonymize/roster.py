"""The roster: how many records hold each distinct combination of quasi-identifiers, and perhaps a sensitive value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymize.hierarchy import Ladder
from discreet.anonymize.records import CodedColumn, Codes, distinct_rows
from discreet.errors import ArgumentError

__all__ = ["Roster"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Roster:
    """Entries of equal records.

    leaves     for each entry and column the code of its value
    counts     how many records the entry stands for
    entry      for each record its entry
    sensitive  for each entry the code of its sensitive value; `total` counts records of each
    """

    ladders: tuple[Ladder, ...]
    leaves: Codes
    counts: Codes
    entry: Codes
    sensitive: Codes | None
    total: Codes | None

    @classmethod
    def of(cls, ladders: Sequence[Ladder], sensitive: CodedColumn | None) -> Roster:
        """The roster of columns under their ladders."""
        columns = [ladder.column.full_codes for ladder in ladders]
        if not len(columns[0]):
            raise ArgumentError(
                "table", found="no rows", right="there is something to protect", step="give a table of rows"
            )
        told = None if sensitive is None else sensitive.full_codes
        first, entry, counts = distinct_rows(columns if told is None else [*columns, told])
        return cls(
            ladders=tuple(ladders),
            leaves=np.stack([codes[first] for codes in columns], axis=1),
            counts=counts.astype(np.int64),
            entry=entry.astype(np.int64),
            sensitive=None if told is None else told[first],
            total=None if told is None else np.bincount(told).astype(np.int64),
        )

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.entry)
