"""What of a contract an analyst may know and write: names, types, bounds and keys, and nothing of the data.

Hidden columns are not there; direct identifiers are not either, but for the column that tells persons apart, which can
be counted.
"""

from __future__ import annotations

from collections.abc import Iterator

from discreet.data.column import DateColumn, DatetimeColumn, Role
from discreet.data.contract import Contract
from discreet.draw.grid import Grid, GridColumn
from discreet.guarantee import number_text

__all__ = ["columns_grid", "public_columns", "public_keys"]

_KEYS_SHOWN = 6


def public_columns(contract: Contract) -> tuple[str, ...]:
    """The columns that a question may name."""
    person = contract.unit.person
    counted = person is not None and contract.columns[person].role is not Role.HIDDEN
    return tuple(name for name in contract.columns if name in contract.released or (counted and name == person))


def public_keys(contract: Contract) -> tuple[str, ...]:
    """Every key that the contract lists for a column that may be asked about."""
    listed = (contract.columns[name].public_keys or () for name in contract.released)
    return tuple(dict.fromkeys(key for keys in listed for key in keys))


def columns_grid(contract: Contract) -> Grid:
    """The columns with what is public of each."""
    rows = tuple(
        (name, contract.columns[name].type, "; ".join(_facts(name, contract))) for name in public_columns(contract)
    )
    return Grid(
        f"Columns of {contract.table}", (GridColumn("column"), GridColumn("type"), GridColumn("what is public")), rows
    )


def _facts(name: str, contract: Contract) -> Iterator[str]:
    if name == contract.unit.person:
        yield "tells persons apart: COUNT(DISTINCT …) only"
        return
    column = contract.columns[name]
    if column.bounds is not None:
        yield f"{number_text(column.bounds.low)} to {number_text(column.bounds.high)}"
        if column.bounds.step != 1:
            yield f"in steps of {number_text(column.bounds.step)}"
    elif column.type in ("integer", "decimal"):
        yield "no bounds: discreet bounds finds some"
    if isinstance(column, DateColumn | DatetimeColumn) and column.low is not None:
        yield f"{column.low} to {column.high}"
    keys = column.public_keys
    if keys is not None:
        more = len(keys) - _KEYS_SHOWN
        yield ", ".join(keys[:_KEYS_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
    elif column.type == "text":
        yield "no public keys: GROUP BY needs a δ"
    if column.nulls.value == "key":
        yield "missing is a key of its own"
