"""What a stored table is made of. Engines see physical names only; people see the names of their file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from discreet.check import known

__all__ = ["StorageType", "StoredColumn", "StoredTable"]


class StorageType(StrEnum):
    """How a column is kept in the engine."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    BOOLEAN = "boolean"
    DATE = "date"
    DATETIME = "datetime"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredColumn:
    """One column: its name in the source, its generated name in the engine, and its integer steps if it has any."""

    name: str
    physical: str
    type: StorageType
    steps: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTable:
    """A table as an engine holds it. `name` is the engine's name for it, never the user's text."""

    name: str
    columns: tuple[StoredColumn, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names in the source's order."""
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> StoredColumn:
        """The column of that name."""
        known("column", name, self.names, step="name one of the table's columns")
        return self.columns[self.names.index(name)]
