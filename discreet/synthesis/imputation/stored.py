"""A stored table as typed columns: rows come out of the engine as Arrow, kinds, bounds and design out of the contract.

1. Direct identifiers and hidden columns are not read at all. Dates and moments ride along: they stay as they are.
2. A category of the contract is nominal (binary where it is a boolean); bounds are those the contract declares.
3. Weight, stratum, cluster and household are the columns of these roles; a design has one of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from discreet.data.column import CategoryColumn, Role
from discreet.data.contract import Contract
from discreet.data.engines.base import Engine
from discreet.data.table import StorageType, StoredTable
from discreet.errors import ArgumentError, ContractError, MissingExtraError
from discreet.stats.survey import Sampling
from discreet.synthesis.imputation.columns import Columns, Kind, read_columns

__all__ = ["bounds_of", "read_stored", "sampling_of"]

_ROLES = {
    "weight": Role.WEIGHT,
    "stratum": Role.STRATUM,
    "cluster": Role.CLUSTER,
    "household": Role.HOUSEHOLD,
}
_DATES = (StorageType.DATE, StorageType.DATETIME)


def read_stored(
    engine: Engine, table: StoredTable, contract: Contract | None, *, perturb: Sequence[str] | None
) -> Columns:
    """The columns that may be copied, with an Arrow table of all of them as their source."""
    names = [name for name in table.names if contract is None or name in contract.released]
    dates = [name for name in names if table.column(name).type in _DATES]
    asked = [name for name in dates if perturb is None or name in perturb]
    if asked:
        raise ArgumentError(
            f"column {asked[0]!r}",
            found="a date among the columns to replace",
            right="copies replace numbers and texts",
            step="make a number of it, such as a year, or name the columns to replace without it",
        )
    whole = _arrow_table(engine, table, names)
    kinds: dict[str, Kind] = {}
    for name in names:
        declared = None if contract is None else contract.columns.get(name)
        if isinstance(declared, CategoryColumn) and len(declared.keys) > 2:
            kinds[name] = Kind.NOMINAL
    return replace(read_columns(whole.drop_columns(dates), kinds=kinds), source=whole)


def bounds_of(contract: Contract | None) -> dict[str, tuple[float, float]]:
    """The ends of every column that the contract bounds."""
    if contract is None:
        return {}
    bounded = ((name, contract.columns[name].bounds) for name in contract.released)
    return {name: (float(bounds.low), float(bounds.high)) for name, bounds in bounded if bounds is not None}


def sampling_of(contract: Contract | None) -> Sampling:
    """The design the contract declares."""
    if contract is None:
        return Sampling()
    found = {part: contract.with_role(role) for part, role in _ROLES.items()}
    for part, names in found.items():
        if len(names) > 1:
            raise ContractError(
                f"contract of {contract.table!r}",
                found=f"{len(names)} columns of the role {part}",
                right="a design has one of each",
                step=f"give all but one of {', '.join(names[:5])} another role",
            )
    return Sampling(**{part: names[0] for part, names in found.items() if names})


def _arrow_table(engine: Engine, table: StoredTable, names: Sequence[str]) -> Any:
    """The rows in their stored order, under the names of their file."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("copies", library="pyarrow", extra="synthesis") from None
    select = exp.select(*(exp.column(table.column(name).physical) for name in names)).from_(table.name)
    batches = [pyarrow.table(batch) for batch in engine.stream(select)]
    if not batches:
        raise ArgumentError("table", found="no rows", right="copies are made of rows", step="add a table that has some")
    return pyarrow.concat_tables(batches).rename_columns(list(names))
