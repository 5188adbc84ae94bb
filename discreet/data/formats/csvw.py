"""CSVW-EO: the W3C's CSV metadata in JSON-LD, with the terms of differential privacy.

Terms used: for the table `privacyUnit`, `maxContributions`, `maxLength`, `publicLength`; for a column `name`,
`datatype`, `required`, `privacyId`, `minimum`, `maximum`, `keyValues`, `exhaustiveKeys`, `invariantPublicKeys`,
`maxNumPartitions`, `maxGroupsPerUnit`. Vocabulary: https://w3id.org/csvw-eo#
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.data.column import Column, DateColumn, DatetimeColumn, NullRule
from discreet.data.contract import Contract
from discreet.data.formats.conversion import (
    Conversion,
    bounds_with_step,
    drafted_from,
    listed,
    lost_between,
    mapping_of,
    plain_number,
    read_json,
)
from discreet.errors import ContractError
from discreet.guarantee import Adjacency

__all__ = ["read", "write"]

_EO = "https://w3id.org/csvw-eo#"
_EO_TERMS = (
    *("privacyUnit", "maxContributions", "maxLength", "publicLength", "privacyId", "keyValues", "exhaustiveKeys"),
    *("invariantPublicKeys", "maxNumPartitions", "maxGroupsPerUnit"),
)
_CONTEXT = ["http://www.w3.org/ns/csvw", {"csvw-eo": _EO, **{term: f"csvw-eo:{term}" for term in _EO_TERMS}}]
_WRITTEN = {"integer": "integer", "decimal": "decimal", "boolean": "boolean", "date": "date", "datetime": "dateTime"}
_READ = {
    **dict.fromkeys(("decimal", "double", "float", "number"), "decimal"),
    **dict.fromkeys(("dateTime", "dateTimeStamp", "datetime"), "datetime"),
    **dict.fromkeys(
        ("integer", "long", "int", "short", "byte", "positiveInteger", "nonNegativeInteger", "negativeInteger",
         "nonPositiveInteger", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
        "integer",
    ),
    "boolean": "boolean",
    "date": "date",
}  # fmt: skip


def read(text: str, *, where: str = "CSVW metadata", table: str = "") -> Conversion:
    """The contract of a CSVW table; `table` names it where the file does not."""
    tree = read_json(text, where=where)
    schema = mapping_of(tree.get("tableSchema"), where=f"{where}, tableSchema")
    given = [mapping_of(column, where=f"{where}, columns") for column in listed(schema.get("columns"), where=where)]
    facts: dict[str, Any] = {
        "table": table or tree.get("dc:title") or tree.get("url"),
        "unit": _unit(tree, given),
        "max_rows": tree.get("maxLength"),
        "columns": {_name(column, where): _column(column) for column in given},
    }
    if tree.get("publicLength") is not None and not facts["unit"]:
        facts |= {"adjacency": Adjacency.REPLACE_ONE, "units": tree["publicLength"]}
    return Conversion(contract=drafted_from(facts, where=where), text=text, lost=tuple(_ignored(tree, given)))


def write(contract: Contract) -> Conversion:
    """The contract as CSVW-EO."""
    unit = contract.unit
    entries: dict[str, Any] = {"@context": _CONTEXT, "@type": "Table", "dc:title": contract.table}
    if unit.person is not None:
        entries["privacyUnit"] = unit.person
    entries["maxContributions"] = unit.rows
    if contract.max_rows is not None:
        entries["maxLength"] = contract.max_rows
    if contract.units is not None and unit.is_row:
        entries["publicLength"] = contract.units
    entries["tableSchema"] = {
        "columns": [_written(name, column, contract) for name, column in contract.columns.items()]
    }
    text = json.dumps(entries, ensure_ascii=False, indent=2) + "\n"
    return Conversion(contract=contract, text=text, lost=lost_between(contract, read(text).contract))


def _unit(tree: Mapping[str, Any], columns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    person = tree.get("privacyUnit") or next((c.get("name") for c in columns if c.get("privacyId") is True), None)
    if person is None:
        return {}
    rows = tree.get("maxContributions")
    groups = [int(c["maxGroupsPerUnit"]) for c in columns if str(c.get("maxGroupsPerUnit")).isdecimal()]
    if not groups or not str(rows).isdecimal():
        return {"person": person, **({} if rows is None else {"rows": rows})}
    return {"person": person, "rows": rows, "groups": str(min(max(groups), int(str(rows))))}


def _name(column: Mapping[str, Any], where: str) -> str:
    name = column.get("name")
    if not isinstance(name, str):
        raise ContractError(
            f"{where}, columns", found="a column without a name", right="each column has one", step="add its name"
        )
    return name


def _column(given: Mapping[str, Any]) -> dict[str, Any]:
    datatype = given.get("datatype", "string")
    base = datatype.get("base") if isinstance(datatype, Mapping) else datatype
    limits = {**(datatype if isinstance(datatype, Mapping) else {}), **given}
    low, high = limits.get("minimum"), limits.get("maximum")
    kind = _READ.get(str(base), "text")
    facts: dict[str, Any] = {"type": kind, "nulls": NullRule.REFUSE if given.get("required") is True else NullRule.DROP}
    keys = given.get("keyValues")
    if kind == "text" and isinstance(keys, list) and keys and given.get("exhaustiveKeys") is True:
        return {**facts, "type": "category", "keys": keys}
    if kind == "decimal":
        return facts | bounds_with_step(low, high)
    return facts | ({"low": low, "high": high} if kind in ("integer", "date", "datetime") else {})


def _ignored(tree: Mapping[str, Any], columns: Sequence[Mapping[str, Any]]) -> list[str]:
    lost = ["column groups are not carried"] if tree.get("additionalInformation") else []
    for column in columns:
        unread = [term for term in ("partitions", "nullableProportion", "rowDependencies") if column.get(term)]
        lost += [f"column {column['name']!r}: {term} is not carried" for term in unread]
    return lost


def _written(name: str, column: Column, contract: Contract) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "@type": "Column",
        "name": name,
        "datatype": _WRITTEN.get(column.type, "string"),
        "required": column.nulls is NullRule.REFUSE,
        "privacyId": name == contract.unit.person,
    }
    if column.bounds is not None:
        entry |= {"minimum": plain_number(column.bounds.low), "maximum": plain_number(column.bounds.high)}
    elif isinstance(column, DateColumn | DatetimeColumn) and column.low and column.high:
        entry |= {"minimum": column.low.isoformat(), "maximum": column.high.isoformat()}
    if column.public_keys is not None:
        keys: list[Any] = [False, True] if column.type == "boolean" else list(column.public_keys)
        entry |= {"keyValues": keys, "exhaustiveKeys": True, "invariantPublicKeys": True, "maxNumPartitions": len(keys)}
        if not contract.unit.is_row:
            entry["maxGroupsPerUnit"] = contract.unit.groups
    return entry
