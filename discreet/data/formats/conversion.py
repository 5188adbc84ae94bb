"""What every format needs: a contract from foreign facts, and an honest list of what did not survive.

1. Foreign facts become a draft: the file does not say whether a law, a codebook or the data themselves gave them.
2. A contract that was written is read again at once; every fact that differs then is a sentence in `lost`. The list is
   measured, not remembered, so it cannot lag behind what a format really carries.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from discreet.data.contract import Contract, Status
from discreet.data.document import LONGEST, Document
from discreet.data.fact import FactError, FactModel, Source, Sourced, decimal_text, exact_number, shown
from discreet.errors import ContractError

__all__ = [
    "Conversion",
    "bounds_with_step",
    "drafted_from",
    "listed",
    "lost_between",
    "mapping_of",
    "plain_number",
    "read_json",
]

_COARSEST, _FINEST = Fraction(1, 100), Fraction(1, 10**9)
_STEPS_AT_MOST = 10**18
_BOOKKEEPING = {"status", "declaration", "columns", "unit", "joins", *Sourced.model_fields}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """A contract, its text in another format, and what the one holds that the other does not."""

    contract: Contract
    text: str
    lost: tuple[str, ...]


def drafted_from(facts: Mapping[str, Any], *, where: str) -> Contract:
    """The contract of foreign facts, all of them marked as drafted."""
    columns = {name: {**column, "source": Source.DRAFTED} for name, column in facts["columns"].items()}
    unit = facts["unit"] if isinstance(facts["unit"], Mapping) else {}
    draft = {
        **facts,
        "unit": {**unit, "source": Source.DRAFTED},
        "columns": columns,
        "status": Status.DRAFTED,
        "source": Source.DRAFTED,
    }
    return Contract.model_validate(draft, context=Document(where=where, tree=None, lines={}))


def lost_between(before: Contract, after: Contract) -> tuple[str, ...]:
    """A sentence for each fact of one contract that the other says otherwise or not at all."""
    return tuple(_losses(before, after))


def _losses(before: Contract, after: Contract) -> Iterator[str]:
    yield from (f"{field} is not carried" for field in _differing(before, after) if field not in _BOOKKEEPING)
    yield from (f"unit: {field} is not carried" for field in _differing(before.unit, after.unit, skip=_BOOKKEEPING))
    for name, column in before.columns.items():
        other = after.columns.get(name)
        if other is None:
            yield f"column {name!r} is not carried"
        elif other.type != column.type:
            yield f"column {name!r}: type {column.type} becomes {other.type}"
        else:
            fields = _differing(column, other, skip=_BOOKKEEPING)
            yield from (f"column {name!r}: {field} is not carried" for field in fields)
        if other is not None and other.type != column.type and column.role is not other.role:
            yield f"column {name!r}: role is not carried"
    if before.joins:
        yield "public joins are not carried"
    if before.status is Status.DECLARED:
        yield "who declared the facts, and where each comes from, is not carried"


def _differing(before: FactModel, after: FactModel, *, skip: Iterable[str] = ()) -> list[str]:
    names = [name for name in type(before).model_fields if name not in set(skip)]
    return [name for name in names if getattr(before, name) != getattr(after, name)]


def bounds_with_step(low: Any, high: Any) -> dict[str, Any]:
    """Bounds of a decimal from a format without steps: in cents, or finer where they are written so, or rounded out."""
    ends, step = _numbers(low, high), _COARSEST
    if not ends:
        return {"step": step, "low": low, "high": high}
    finest = max(_FINEST, max(map(abs, ends)) / _STEPS_AT_MOST)
    while any(end % step for end in ends) and step / 10 >= finest:
        step /= 10
    return {"step": step, "low": ends[0] // step * step, "high": -(-ends[1] // step) * step}


def plain_number(number: Fraction) -> int | float | str:
    """A number as YAML and JSON hold it, if they do so exactly; else its decimal text."""
    if number.denominator == 1:
        return number.numerator
    value = float(number)
    return value if Fraction(repr(value)) == number or "/" in decimal_text(number) else decimal_text(number)


def _numbers(*values: Any) -> list[Fraction]:
    """The values as numbers, where they are numbers of a size that has cents."""
    try:
        numbers = [exact_number(value) for value in values]
    except FactError:
        return []
    return numbers if max(map(abs, numbers)) <= _COARSEST * _STEPS_AT_MOST else []


def read_json(text: str, *, where: str) -> Mapping[str, Any]:
    """A JSON object whose numbers stay the text they are written as; entries given twice are refused."""

    def pairs(entries: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({name for name, _ in entries}) != len(entries):
            _refuse(where, "an entry given twice", "each entry stands once", "remove one of the two")
        return dict(entries)

    if len(text) > LONGEST:
        _refuse(where, f"{len(text):,} characters", f"at most {LONGEST:,} are read", "keep metadata only, no data")
    try:
        tree = json.loads(text, parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=pairs)
    except (json.JSONDecodeError, RecursionError):
        _refuse(where, "this is not JSON", "the file holds one JSON object", "check brackets, quotes and commas")
    return mapping_of(tree, where=where)


def mapping_of(value: Any, *, where: str) -> Mapping[str, Any]:
    """A mapping, or one line that says where one is missing."""
    if not isinstance(value, Mapping):
        _refuse(where, shown(value), "entries are wanted here", "give { name: value }")
    return value


def listed(value: Any, *, where: str) -> Sequence[Any]:
    """A list, or one line that says where one is missing."""
    if not isinstance(value, list):
        _refuse(where, shown(value), "a list is wanted here", "give [ … ]")
    return value


def _refuse(where: str, found: str, right: str, step: str) -> NoReturn:
    raise ContractError(where, found=found, right=right, step=step)
