"""What Discreet asks of a database. No more.

Every verb that runs a statement fails with one constant `EngineError`, whatever went wrong, so that an error is no
oracle; the engine stays usable. Threads may share an engine. `tests/engines` runs over every engine there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from sqlglot import exp

from discreet.data.table import StorageType
from discreet.secrecy import Confidential

__all__ = ["ArrowStream", "Engine", "IntegerRows"]

IntegerRows = list[tuple[int | None, ...]]


class ArrowStream(Protocol):
    """Anything with the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        """The stream's capsule."""
        ...


class Engine(Protocol):
    """One open, read-only connection to one store."""

    @property
    def dialect(self) -> str:
        """sqlglot's name for the SQL this engine speaks."""
        ...

    def describe(self, table: str) -> tuple[tuple[str, StorageType], ...]:
        """The physical columns of a table and how they are kept."""
        ...

    def integers(self, select: exp.Query) -> IntegerRows:
        """Run one generated SELECT whose every column is an integer or null; exact, however large."""
        ...

    def texts(self, select: exp.Query) -> Confidential[list[tuple[str | None, ...]]]:
        """Run one generated SELECT whose every column is text or null. For the keeper's eyes."""
        ...

    def stream(self, select: exp.Query, *, batch_rows: int = 65_536) -> Iterator[ArrowStream]:
        """The rows of one generated SELECT as Arrow, at most `batch_rows` at once, in its ORDER BY. Confidential."""
        ...

    def fingerprint(self, table: str) -> int:
        """A number that changes when the stored content does, whatever the order of rows. Confidential."""
        ...

    def close(self) -> None:
        """Give the connection back."""
        ...
