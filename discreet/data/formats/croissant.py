"""Croissant 1.1: schema.org's description of a data set in JSON-LD, one RecordSet for the table.

Terms used: `recordSet`, `field`, `dataType` (sc:Integer, sc:Float, sc:Boolean, sc:Date, sc:DateTime, sc:Text),
`references` to a RecordSet whose `data` are the keys, `annotation` with `equivalentProperty` sc:minValue and
sc:maxValue for the bounds. The unit is carried in the terms of CSVW-EO, as Croissant allows other vocabularies.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from discreet.data.column import CategoryColumn, Column, DateColumn, DatetimeColumn
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

__all__ = ["read", "write"]

_TERMS = ("annotation", "equivalentProperty", "field", "key", "recordSet", "references", "source", "value")
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "http://schema.org/",
    "sc": "http://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "csvw-eo": "https://w3id.org/csvw-eo#",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{term: f"cr:{term}" for term in _TERMS},
}
_WRITTEN = {
    "integer": "sc:Integer",
    "decimal": "sc:Float",
    "boolean": "sc:Boolean",
    "date": "sc:Date",
    "datetime": "sc:DateTime",
}
_READ = {name: kind for kind, name in _WRITTEN.items()} | {"sc:Number": "decimal"}
_LIMITS = {"low": "sc:minValue", "high": "sc:maxValue"}
_NOT_IN_A_CONTRACT = "Croissant also requires license, url, creator and datePublished, which a contract does not hold"


def read(text: str, *, where: str = "Croissant metadata", table: str | None = None) -> Conversion:
    """The contract of one RecordSet; `table` names it where there are several that are no enumeration."""
    tree = read_json(text, where=where)
    given = listed(tree.get("recordSet"), where=f"{where}, recordSet")
    sets = [mapping_of(entry, where=f"{where}, recordSet") for entry in given]
    enumerations = {str(entry.get("@id")): entry for entry in sets if "data" in entry}
    tables = {str(entry.get("@id", entry.get("name"))): entry for entry in sets if "data" not in entry}
    if table not in tables and (table is not None or len(tables) != 1):
        raise ContractError(
            where,
            found=f"{len(tables)} record sets" if table is None else f"no record set {table!r}",
            right="a contract is of one table",
            step=f"name one of {', '.join(tables)}" if tables else "add a record set with fields",
        )
    name = table if table is not None else next(iter(tables))
    fields = [mapping_of(entry, where=f"{where}, field") for entry in listed(tables[name].get("field"), where=where)]
    terms = {term: tables[name].get(f"csvw-eo:{key}") for term, key in _UNIT.items()}
    facts = {
        "table": name,
        "unit": {term: value for term, value in terms.items() if value is not None},
        "columns": {_name(entry, name): _column(entry, enumerations) for entry in fields},
    }
    lost = ("the files it distributes are not carried",) if tree.get("distribution") else ()
    return Conversion(contract=drafted_from(facts, where=where), text=text, lost=lost)


def write(contract: Contract) -> Conversion:
    """The contract as a Croissant description of a table that is not distributed."""
    unit = contract.unit
    record_set: dict[str, Any] = {"@type": "cr:RecordSet", "@id": contract.table, "name": contract.table}
    if unit.person is not None:
        limits = {"person": unit.person, "rows": unit.rows, "groups": unit.groups}
        record_set |= {f"csvw-eo:{_UNIT[term]}": value for term, value in limits.items()}
    columns = contract.columns.items()
    record_set["field"] = [_field(contract.table, name, column) for name, column in columns]
    keys = [_keys(contract.table, name, column) for name, column in columns if isinstance(column, CategoryColumn)]
    entries = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": contract.table,
        "description": f"The public facts about the confidential table {contract.table}. Its rows are not distributed.",
        "recordSet": [*keys, record_set],
    }
    text = json.dumps(entries, ensure_ascii=False, indent=2) + "\n"
    lost = lost_between(contract, read(text, table=contract.table).contract)
    return Conversion(contract=contract, text=text, lost=(*lost, _NOT_IN_A_CONTRACT))


_UNIT = {"person": "privacyUnit", "rows": "maxContributions", "groups": "maxGroupsPerUnit"}


def _name(entry: Mapping[str, Any], table: str) -> str:
    """A field's name; without one, its identifier after the record set's."""
    return str(entry.get("name") or str(entry.get("@id", "")).removeprefix(f"{table}/"))


def _column(entry: Mapping[str, Any], enumerations: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    types = entry.get("dataType")
    kinds = [_READ[kind] for kind in map(_short, types if isinstance(types, list) else [types]) if kind in _READ]
    keys = _referenced(entry.get("references"), enumerations)
    if not kinds and keys:
        return {"type": "category", "keys": keys}
    kind = kinds[0] if kinds else "text"
    limits = dict(_limits(entry.get("annotation")))
    if kind == "decimal":
        return {"type": kind, **bounds_with_step(limits.get("low"), limits.get("high"))}
    return {"type": kind, **(limits if kind in ("integer", "date", "datetime") else {})}


def _short(kind: object) -> str:
    return str(kind).replace("http://schema.org/", "sc:").replace("https://schema.org/", "sc:")


def _limits(annotation: Any) -> Iterator[tuple[str, Any]]:
    """Bounds among a field's annotations: one, several, or none."""
    annotations: Iterable[Any] = annotation if isinstance(annotation, list) else [annotation]
    for entry in annotations:
        for end, term in _LIMITS.items():
            if isinstance(entry, Mapping) and _short(entry.get("equivalentProperty")) == term:
                yield end, entry.get("value")


def _referenced(reference: Any, enumerations: Mapping[str, Mapping[str, Any]]) -> list[str]:
    target = str(reference.get("@id")) if isinstance(reference, Mapping) else ""
    enumeration = enumerations.get(target.rpartition("/")[0], {})
    rows = enumeration.get("data")
    return [row[target] for row in rows if isinstance(row, Mapping) and target in row] if isinstance(rows, list) else []


def _field(table: str, name: str, column: Column) -> dict[str, Any]:
    place = f"{table}/{name}"
    kind = _WRITTEN.get(column.type, "sc:Text")
    entry: dict[str, Any] = {"@type": "cr:Field", "@id": place, "name": name, "dataType": kind}
    ends: dict[str, Any] = {}
    if column.bounds is not None:
        ends = {"low": plain_number(column.bounds.low), "high": plain_number(column.bounds.high)}
    elif isinstance(column, DateColumn | DatetimeColumn) and column.low and column.high:
        ends = {"low": column.low.isoformat(), "high": column.high.isoformat()}
    if ends:
        common = {"@type": "cr:Field", "dataType": kind}
        entry["annotation"] = [
            {**common, "@id": f"{place}/{end}", "value": value, "equivalentProperty": _LIMITS[end]}
            for end, value in ends.items()
        ]
    if isinstance(column, CategoryColumn):
        entry["references"] = {"@id": f"{place}/keys/key"}
    return entry


def _keys(table: str, name: str, column: CategoryColumn) -> dict[str, Any]:
    """An enumeration: a RecordSet that holds its records itself."""
    place = f"{table}/{name}/keys"
    return {
        "@type": "cr:RecordSet",
        "@id": place,
        "key": {"@id": f"{place}/key"},
        "field": [{"@type": "cr:Field", "@id": f"{place}/key", "dataType": "sc:Text"}],
        "data": [{f"{place}/key": key} for key in column.keys],
    }
