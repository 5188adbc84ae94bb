"""Classes: the groups of records that look alike on chosen columns.

1. The engine groups the records by the columns; a missing value is a value, so two missings look alike.
2. It then counts how many classes have each size, and only this small table of whole numbers comes out.

A record is unique when its class holds nothing else; k is the size of the smallest class (k-anonymity: Samarati and
Sweeney 1998). Missing as a value is the careful reading for publication practice: the other one, in which a missing
value matches everything, finds no more unique records than this one.

What it does not promise: privacy. Every number here is exact and confidential, for the keeper's eyes. And a class of
k records protects nothing when all of them share the sensitive value (see `diversity`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from discreet.check import some
from discreet.data.engines.base import Engine
from discreet.data.table import StoredTable

__all__ = ["Classes", "count_classes", "group_records", "share"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """How many classes of each size the columns make: (size, classes) pairs, smallest first. Confidential."""

    quasi: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        found = [size for size, _ in self.sizes]
        if found != sorted(set(found)) or any(size < 1 or classes < 1 for size, classes in self.sizes):
            raise ValueError("sizes must be distinct, ascending and above 0, each with at least one class")

    @property
    def records(self) -> int:
        """All records."""
        return sum(size * classes for size, classes in self.sizes)

    @property
    def count(self) -> int:
        """All classes."""
        return sum(classes for _, classes in self.sizes)

    @property
    def k(self) -> int | None:
        """The size of the smallest class; None in an empty table."""
        return self.sizes[0][0] if self.sizes else None

    @property
    def unique(self) -> int:
        """Records that nothing else looks like."""
        return self.below(2)

    @property
    def unique_share(self) -> float:
        """The share of records that are unique."""
        return share(self.unique, self.records)

    def below(self, threshold: int) -> int:
        """Records in classes of fewer than `threshold`."""
        return sum(size * classes for size, classes in self.sizes if size < threshold)


def count_classes(engine: Engine, table: StoredTable, quasi: Sequence[str]) -> Classes:
    """The classes that the columns make of a table's records. Confidential: exact numbers for the keeper."""
    columns = some("quasi", quasi, step="name the columns an outsider may know, each once")
    classes = group_records(table, columns)
    select = exp.select("size", "COUNT(*) AS classes").from_(classes.subquery("classes")).group_by("size")
    sizes = sorted((size or 0, count or 0) for size, count in engine.integers(select))
    return Classes(quasi=columns, sizes=tuple(sizes))


def group_records(table: StoredTable, columns: Sequence[str]) -> exp.Select:
    """A SELECT of one row for each class: its physical columns and its `size`."""
    physical = [exp.column(table.column(name).physical) for name in columns]
    counted = exp.alias_(exp.Count(this=exp.Star()), "size")
    return exp.select(*physical, counted).from_(exp.table_(table.name)).group_by(*physical)


def share(part: int, whole: int) -> float:
    """A share of records; nothing is no share of nothing."""
    return part / whole if whole else 0.0
