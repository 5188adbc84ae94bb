"""SmartNoise SQL's metadata: YAML of collection, schema, table, and one entry for each column.

Terms used: `row_privacy`, `rows_exact`, `max_ids`, `clamp_columns`, `censor_dims`, and for a column `type`
(int, float, string, boolean, datetime), `private_id`, `lower`, `upper`, `nullable`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from discreet.check import known
from discreet.data.column import Column, NullRule
from discreet.data.contract import Contract
from discreet.data.document import read_document, write_document
from discreet.data.formats.conversion import (
    Conversion,
    bounds_with_step,
    drafted_from,
    lost_between,
    mapping_of,
    plain_number,
)
from discreet.errors import ContractError
from discreet.guarantee import Adjacency

__all__ = ["read", "write"]

_SETTINGS = (
    "rows",
    "rows_exact",
    "row_privacy",
    "max_ids",
    "sample_max_ids",
    "clamp_counts",
    "clamp_columns",
    "use_dpsu",
    "censor_dims",
)
_IGNORED = ("rows", "sample_max_ids", "clamp_counts", "use_dpsu")
_WRITTEN = {"integer": "int", "decimal": "float", "boolean": "boolean", "date": "datetime", "datetime": "datetime"}
_TRUE = ("true", "True", "TRUE", "yes", "on", "1")


def read(text: str, *, where: str = "SmartNoise metadata", table: str | None = None) -> Conversion:
    """The contract of one table; `table` names it where the file holds several."""
    tables = dict(_tables(read_document(text, where=where).tree, where))
    if not tables or (table is None and len(tables) > 1):
        raise ContractError(
            where,
            found=f"{len(tables)} tables",
            right="a contract is of one table",
            step=f"name one of {', '.join(tables)}" if tables else "add a table under a collection and a schema",
        )
    name = next(iter(tables)) if table is None else known("table", table, list(tables), step="name a table of the file")
    entries = tables[name]
    named = [column for column in entries if column not in _SETTINGS]
    columns = {column: mapping_of(entries[column], where=f"{where}, {column}") for column in named}
    ignored = [f"{setting} is not carried" for setting in _IGNORED if setting in entries]
    facts: dict[str, Any] = {
        "table": name,
        "unit": _unit(entries, columns, where),
        "columns": {column: _column(given) for column, given in columns.items()},
    }
    if "rows_exact" in entries and not facts["unit"]:
        facts |= {"adjacency": Adjacency.REPLACE_ONE, "units": entries["rows_exact"]}
    return Conversion(contract=drafted_from(facts, where=where), text=text, lost=tuple(ignored))


def write(contract: Contract) -> Conversion:
    """The contract as SmartNoise reads it."""
    unit = contract.unit
    entries: dict[str, Any] = {
        "row_privacy": unit.is_row,
        "max_ids": unit.rows,
        "clamp_columns": True,
        "censor_dims": True,
    }
    if contract.adjacency is Adjacency.REPLACE_ONE and unit.is_row:
        entries["rows_exact"] = contract.units
    for name, column in contract.columns.items():
        if name not in _SETTINGS:
            entries[name] = _written(column) | ({"private_id": True} if name == unit.person else {})
    text = write_document({"": {"": {contract.table: entries}}})
    if unit.person in _SETTINGS:
        raise ContractError(
            f"contract of {contract.table!r}",
            found=f"the unit column is called {unit.person!r}",
            right="SmartNoise takes that name for a setting",
            step="rename the column",
        )
    return Conversion(contract=contract, text=text, lost=lost_between(contract, read(text).contract))


def _tables(tree: Any, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for collection, schemas in mapping_of(tree, where=where).items():
        if collection == "engine":
            continue
        for schema, tables in mapping_of(schemas, where=f"{where}, {collection}").items():
            for table, entries in mapping_of(tables, where=f"{where}, {schema}").items():
                yield table, mapping_of(entries, where=f"{where}, {table}")


def _unit(entries: Mapping[str, Any], columns: Mapping[str, Mapping[str, Any]], where: str) -> dict[str, Any]:
    persons = [name for name, given in columns.items() if given.get("private_id") in _TRUE]
    if entries.get("row_privacy") in _TRUE or not persons:
        return {}
    if len(persons) > 1:
        raise ContractError(
            where,
            found=f"{len(persons)} columns with private_id",
            right="one column tells persons apart",
            step="keep one",
        )
    return {"person": persons[0], "rows": entries.get("max_ids", "1")}


def _column(given: Mapping[str, Any]) -> dict[str, Any]:
    low, high = given.get("lower"), given.get("upper")
    kind = given.get("type")
    column: dict[str, Any] = {"nulls": NullRule.REFUSE} if given.get("nullable") in ("false", "False", "no") else {}
    if kind == "float":
        return {**column, "type": "decimal", **bounds_with_step(low, high)}
    if kind == "int":
        return {**column, "type": "integer", "low": low, "high": high}
    return {**column, "type": kind if kind in ("boolean", "datetime") else "text"}


def _written(column: Column) -> dict[str, Any]:
    ends = {} if column.bounds is None else {"lower": column.bounds.low, "upper": column.bounds.high}
    return {
        "type": _WRITTEN.get(column.type, "string"),
        "nullable": column.nulls is not NullRule.REFUSE,
        **{term: plain_number(end) for term, end in ends.items()},
    }
