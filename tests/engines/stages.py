"""How each engine gets a table to be tested on. A new engine is one class here and one line in `STAGES`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import duckdb
from sqlglot import exp, parse_one

from discreet.data.engines.base import Engine
from discreet.data.engines.duckdb import SECONDS, DuckDBEngine

__all__ = ["STAGES", "Columns", "Stage", "select"]

# A column's name, its type in DuckDB's words, its values.
Columns = Mapping[str, tuple[str, Sequence[Any]]]


class Stage(Protocol):
    """A place where tables are built and opened by one engine."""

    def open(
        self, columns: Columns, *, memory: str = "1GB", threads: int | None = None, seconds: float = SECONDS
    ) -> Engine:
        """An engine over one table `rows` of these columns."""
        ...


@dataclass
class DuckDBStage:
    """Every table becomes a file of its own."""

    folder: Path
    opened: ExitStack
    numbers: count[int] = field(default_factory=count)

    def store(self, columns: Columns) -> Path:
        """A file that holds the columns as the table `rows`."""
        path = self.folder / f"{next(self.numbers)}.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(
                f"CREATE TABLE rows ({', '.join(f'{name} {kind}' for name, (kind, _) in columns.items())})"
            )
            unnested = ", ".join(f"unnest(CAST(? AS {kind}[]))" for kind, _ in columns.values())
            connection.execute(
                f"INSERT INTO rows SELECT {unnested}", [_given(values) for _, values in columns.values()]
            )
        return path

    def open(
        self, columns: Columns, *, memory: str = "1GB", threads: int | None = None, seconds: float = SECONDS
    ) -> DuckDBEngine:
        """An engine over one table `rows` of these columns, closed after the test."""
        engine = DuckDBEngine.open(self.store(columns), memory=memory, threads=threads, seconds=seconds)
        return self.opened.enter_context(engine)


def _given(values: Sequence[Any]) -> list[Any]:
    """Floats as text: older versions of DuckDB take a NaN from Python for a null."""
    return [repr(value) if isinstance(value, float) else value for value in values]


# For an engine that is not there, a line holds the reason instead of a class.
STAGES: dict[str, Callable[[Path, ExitStack], Stage] | str] = {"duckdb": DuckDBStage}


def select(text: str) -> exp.Query:
    """One query as a tree; the tests write DuckDB's words, each engine renders its own."""
    query = parse_one(text, dialect="duckdb")
    assert isinstance(query, exp.Query)
    return query
