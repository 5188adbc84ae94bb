"""Rows of a stored table as one Arrow table, for the methods that read microdata. Confidential."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from discreet.data.engines.base import Engine
from discreet.data.table import StoredTable
from discreet.errors import ArgumentError, MissingExtraError

__all__ = ["arrow_rows"]


def arrow_rows(engine: Engine, table: StoredTable, names: Sequence[str]) -> Any:
    """The rows in their stored order, under the names of their file."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("rows", library="pyarrow", extra="synthesis") from None
    if not names:
        raise ArgumentError(
            "table", found="no column that may be read", right="one or more", step="give a column another role"
        )
    select = exp.select(*(exp.column(table.column(name).physical) for name in names)).from_(table.name)
    batches = [pyarrow.table(batch) for batch in engine.stream(select)]
    if not batches:
        raise ArgumentError("table", found="no rows", right="there are some", step="add a table that has rows")
    return pyarrow.concat_tables(batches).rename_columns(list(names))
