"""Reading published tables from YAML or CSV.

A CSV file has the columns kind, name, where, count, median, mean. Rows of kind `column` give a column's values under
`where` (0..125, or female | male); rows of kind `rule` a rule; a row of kind `suppressed` the sign as its name and what
a suppressed count may be; rows of kind `row` what was printed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import yaml

from discreet.attacks.condition import parse_clause
from discreet.attacks.reconstruction.published import Attribute, Publication, Rule, Span, Statistic
from discreet.check import exact, known
from discreet.errors import ArgumentError, DiscreetError, FileError

__all__ = ["parse_publication", "read_publication"]

_KEYS = ("title", "columns", "suppressed", "rules", "table", "people", "measure")
_ROW_KEYS = ("name", "where", "count", "median", "mean")
_KINDS = ("column", "rule", "suppressed", "row")
_BYTES_AT_MOST = 1 << 20
_STEP = "see the guide on reconstruction for the form"


@dataclass(frozen=True, slots=True)
class _Printing:
    """What the words of the table mean: the sign of suppression, and to how many decimals means are rounded."""

    sign: str
    suppressed: Span | None
    decimals: int


def read_publication(file: str | Path) -> Publication:
    """The published tables in a file that ends in .yaml, .yml or .csv."""
    path = Path(file)
    try:
        content = path.read_bytes()
        if len(content) > _BYTES_AT_MOST:
            raise _fault(path.name, "more than a megabyte", "published tables are short")
        text = content.decode("utf-8")
    except OSError as error:
        raise _fault(str(path), (error.strerror or "unreadable").lower(), "it must be a readable file") from None
    except UnicodeDecodeError:
        raise _fault(path.name, "bytes that are not UTF-8", "it is a text file") from None
    if path.suffix == ".csv":
        return parse_publication(_from_csv(text, path.name), where=path.name, title=path.stem)
    if path.suffix not in (".yaml", ".yml"):
        raise _fault(path.name, f"the ending {path.suffix!r}", "it ends in .yaml, .yml or .csv")
    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        raise _fault(path.name, "no readable YAML", "it is one YAML document") from None
    return parse_publication(document, where=path.name, title=path.stem)


def parse_publication(document: Any, *, where: str = "publication", title: str = "published tables") -> Publication:
    """The published tables in a document of plain values."""
    if not isinstance(document, Mapping) or "columns" not in document or "table" not in document:
        raise _fault(where, "no columns or no table", "it has both")
    for key in document:
        known(f"{where}: entry", str(key), _KEYS, step=_STEP)
    given = document["columns"]
    if not isinstance(given, Mapping) or not given:
        raise _fault(where, "no columns", "columns name what a record holds")
    columns = tuple(_column(str(name), values, where) for name, values in given.items())
    numbers = [column.name for column in columns if not column.levels]
    measure = document.get("measure") or (numbers[0] if len(numbers) == 1 else None)
    if measure is not None:
        known(f"{where}: measure", str(measure), tuple(numbers), step="name a column of whole numbers")
    rows = [_checked(row, where) for row in _listed(document["table"], where)]
    printing = _printing(document.get("suppressed"), rows, where)
    table = tuple(_statistic(row, printing, where) for row in rows)
    names = [row.name for row in table]
    if len(set(names)) != len(names):
        raise _fault(where, "two rows of one name", "each row has its own name")
    counted = [row.count.low for row in table if not row.where and row.count and row.count.exact]
    people = document.get("people", counted[0] if counted else None)
    if people is None:
        raise _fault(where, "no number of people", "it stands under people, or a row counts everyone")
    return Publication(
        title=str(document.get("title", title)),
        columns=columns,
        table=table,
        rules=tuple(_rule(one, where) for one in _listed(document.get("rules") or [], where)),
        people=int(exact(f"{where}: people", people)),
        measure=None if measure is None else str(measure),
    )


def _checked(row: Any, where: str) -> dict[str, str]:
    if not isinstance(row, Mapping) or "name" not in row:
        raise _fault(where, "a row without a name", "each row of the table has a name")
    for key in row:
        known(f"{where}, row {row['name']}: entry", str(key), _ROW_KEYS, step=_STEP)
    return {str(key): _text(value) for key, value in row.items()}


def _text(value: Any) -> str:
    """What stands in a cell; a bare [D] is a list to YAML."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return "" if value is None else str(value).strip()


def _listed(values: Any, where: str) -> list[Any]:
    if not isinstance(values, list):
        raise _fault(where, f"a {type(values).__name__}", "the table and the rules are lists")
    return values


def _column(name: str, values: Any, where: str) -> Attribute:
    if isinstance(values, list):
        levels = tuple(str(level) for level in values)
    elif isinstance(values, str) and ".." in values:
        span = _span(values, f"{where}, column {name}")
        if span.low.denominator * span.high.denominator != 1 or span.high - span.low > 10_000:
            raise _fault(f"{where}, column {name}", "bounds of no use", "they are whole numbers at most 10,000 apart")
        return Attribute(name, low=int(span.low), high=int(span.high))
    else:
        levels = tuple(part.strip() for part in str(values).split("|"))
    if len(levels) < 2 or len(set(levels)) != len(levels):
        right = "give 0..125, or words: [female, male] in YAML, female | male in CSV"
        raise _fault(f"{where}, column {name}", "fewer than two values, or one twice", right)
    return Attribute(name, levels=levels)


def _printing(suppressed: Any, rows: list[dict[str, str]], where: str) -> _Printing:
    decimals = max((len(row["mean"].partition(".")[2]) for row in rows if _is_plain(row.get("mean", ""))), default=0)
    if suppressed is None:
        return _Printing("D", None, decimals)
    if not isinstance(suppressed, Mapping) or "sign" not in suppressed:
        raise _fault(f"{where}, suppressed", "no sign", "it is {sign: D, count: 0..2}")
    count = suppressed.get("count")
    span = None if count in (None, "") else _span(str(count), f"{where}, suppressed")
    return _Printing(str(suppressed["sign"]), span, decimals)


def _is_plain(text: str) -> bool:
    return text.replace(".", "", 1).replace("-", "", 1).isdigit()


def _statistic(row: dict[str, str], printing: _Printing, where: str) -> Statistic:
    place = f"{where}, row {row['name']}"
    found: dict[str, Span | None] = {}
    for name in ("count", "median", "mean"):
        text = row.get(name, "")
        if text.strip("[]") == printing.sign:
            found[name] = printing.suppressed if name == "count" else None
        else:
            found[name] = _span(text, f"{place}, {name}") if text else None
    if found["mean"] and found["mean"].exact:
        half = Fraction(1, 2 * 10**printing.decimals)
        found["mean"] = Span(found["mean"].low - half, found["mean"].high + half)
    if (count := found["count"]) and (count.low < 0 or (count.exact and count.low.denominator != 1)):
        raise _fault(f"{place}, count", "no whole number", "people are counted")
    return Statistic(name=row["name"], where=parse_clause(row.get("where", ""), where=place), **found)


def _rule(one: Any, where: str) -> Rule:
    text = one.get("rule", "") if isinstance(one, Mapping) else str(one)
    when, arrow, then = str(text).partition("->")
    if not arrow:
        raise _fault(f"{where}, rules", "a rule without ->", "it reads: status = married -> age >= 15")
    name = str(one.get("name", text)) if isinstance(one, Mapping) else str(text)
    return Rule(name=name, when=parse_clause(when, where=where), then=parse_clause(then, where=where))


def _span(text: str, where: str) -> Span:
    low, dots, high = text.partition("..")
    try:
        span = Span(exact(where, low.strip()), exact(where, (high if dots else low).strip()))
    except DiscreetError as error:
        raise ArgumentError(
            where, found=error.found, right="it is a number, an interval such as 37.5..38.5, or suppressed", step=_STEP
        ) from None
    if span.low > span.high:
        raise _fault(where, "an interval that ends before it begins", "the lower end comes first")
    return span


def _from_csv(text: str, where: str) -> dict[str, Any]:
    document: dict[str, Any] = {"columns": {}, "rules": [], "table": []}
    for row in _csv_rows(text, where):
        kind = known(f"{where}: kind", row["kind"], _KINDS, step=_STEP)
        if kind == "column":
            document["columns"][row["name"]] = row["where"]
        elif kind == "rule":
            document["rules"].append({"name": row["name"], "rule": row["where"]})
        elif kind == "suppressed":
            document["suppressed"] = {"sign": row["name"], "count": row["count"]}
        else:
            document["table"].append({key: row[key] for key in _ROW_KEYS})
    return document


def _csv_rows(text: str, where: str) -> Iterator[dict[str, str]]:
    reader = csv.DictReader(io.StringIO(text, newline=""))
    for name in ("kind", *_ROW_KEYS):
        known(f"{where}: CSV column", name, tuple(reader.fieldnames or ()), step="the first line names the columns")
    for row in reader:
        yield {key: (row[key] or "").strip() for key in ("kind", *_ROW_KEYS)}


def _fault(where: str, found: str, right: str) -> FileError:
    return FileError(where, found=found, right=right, step=_STEP)
