"""Text as an SQL literal. Names never become identifiers: the columns of a store have generated names."""

from __future__ import annotations

__all__ = ["literal"]


def literal(text: str) -> str:
    """The text in single quotes, for DuckDB, which knows no escape but the doubled quote."""
    return "'" + text.replace("'", "''") + "'"
