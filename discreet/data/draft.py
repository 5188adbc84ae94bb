"""Draft a contract from a profile: a proposal for the keeper to correct, marked as read off confidential data.

1. The type follows what is stored; text of few values becomes a category with those values as keys.
2. Bounds are generous and round: the next 1, 2 or 5 times a power of ten, whole decades of years.
3. The first rule of RULES that finds something names the role and says what the column looks like.
4. Rows that share the value of a person column make a unit of that person; otherwise a row is the unit.

Everything in it is `drafted`. It does not promise that a direct identifier is found, nor that a bound is right: a
number nobody would think of may name a person. Remarks say what a column looks like, and no figure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.data.clue import Clue, clues
from discreet.data.column import Role
from discreet.data.contract import Contract, Status
from discreet.data.fact import Source
from discreet.data.pattern import PATTERNS, Pattern, PatternKind
from discreet.data.profile import ColumnProfile, Profile
from discreet.data.table import StorageType

__all__ = ["draft"]

Finding: TypeAlias = "tuple[Role, str] | None"
Rule: TypeAlias = Callable[[ColumnProfile, frozenset[Clue], int], Finding]

_KEYS_AT_MOST = 100
_KINDS_AT_MOST = 20
_MOST = Fraction(1, 2)
_NEARLY_ALL = Fraction(9, 10)
_CHECKED_AT_LEAST = 5
_UNIQUE_FROM = 10
_LONG_TEXT = 60
_STEPS_AT_MOST = 10**12
_FINEST = 6
_LARGEST = 10**18
_YEAR = re.compile(r"(\d{4})-\d\d-\d\d( [\d:.]+)?")


def draft(name: str, profile: Profile) -> Contract:
    """A contract that fits a profile, all of it marked `drafted`."""
    columns = {column.name: _column(column, profile.rows) for column in profile.columns}
    return Contract.model_validate(
        {
            "table": name,
            "unit": {**_unit(profile), "source": Source.DRAFTED},
            "status": Status.DRAFTED,
            "columns": columns,
        }
    )


def _column(column: ColumnProfile, rows: int) -> dict[str, Any]:
    role, remark = _finding(column, rows)
    facts: dict[str, Any] = {**_type(column, role, rows), "role": role, "source": Source.DRAFTED}
    if role is Role.WEIGHT and "low" not in facts:
        facts["role"] = Role.OTHER
    return {**facts, "note": remark} if remark else facts


def _finding(column: ColumnProfile, rows: int) -> tuple[Role, str]:
    hints = clues(column.name)
    for rule in RULES:
        found = rule(column, hints, rows - column.missing)
        if found is not None:
            return found
    return Role.OTHER, ""


def _written_identifier(column: ColumnProfile, hints: frozenset[Clue], present: int) -> Finding:
    """Values in the form of an address, an account, a national number."""
    for pattern in PATTERNS:
        if pattern.kind not in (PatternKind.IDENTIFIER, PatternKind.NATIONAL_NUMBER):
            continue
        if column.forms.get(pattern.name, 0) > _MOST * present and _passes(pattern, column, hints):
            return Role.DIRECT_IDENTIFIER, f"looks like {pattern.looks}"
    return None


def _named_identifier(column: ColumnProfile, hints: frozenset[Clue], present: int) -> Finding:
    """Names of columns that hold what points at one person."""
    for clue, what in _IDENTIFYING.items():
        if (
            clue in hints
            and _varied(column, present)
            and (clue is not Clue.PERSON_NAME or column.type is StorageType.TEXT)
        ):
            return Role.DIRECT_IDENTIFIER, f"by its name it looks like {what}"
    return None


def _written_name(column: ColumnProfile, _hints: frozenset[Clue], present: int) -> Finding:
    """Many different values that are written as persons' names are."""
    named = column.forms.get("name", 0)
    if named > _MOST * present and 2 * column.distinct > present and _varied(column, present):
        return Role.DIRECT_IDENTIFIER, "looks like names of persons"
    return None


def _free_text(column: ColumnProfile, _hints: frozenset[Clue], present: int) -> Finding:
    """Sentences: they may hold anything, names included."""
    wordy = column.forms.get("words", 0) > present * Fraction(1, 10) or column.longest > _LONG_TEXT
    if column.type is StorageType.TEXT and wordy and column.distinct > _KINDS_AT_MOST:
        return Role.HIDDEN, "looks like free text, which may name persons"
    return None


def _role_by_name(_column: ColumnProfile, hints: frozenset[Clue], _present: int) -> Finding:
    """Survey design, quasi-identifiers and sensitive values, by name."""
    for clue, (role, what) in _ROLES.items():
        if clue in hints:
            return role, f"by its name it looks like {what}" if what else ""
    return None


def _unique(column: ColumnProfile, hints: frozenset[Clue], present: int) -> Finding:
    """A value of its own for each row: any such text, and whole numbers that count or call themselves a record."""
    if column.distinct < present or present < _UNIQUE_FROM:
        return None
    counted = column.type is StorageType.INTEGER and (Clue.RECORD in hints or _spread(column) < 3 * present)
    if column.type is StorageType.TEXT or counted:
        return Role.DIRECT_IDENTIFIER, "looks like a record number: no two rows share a value"
    return None


RULES: tuple[Rule, ...] = (_named_identifier, _written_identifier, _role_by_name, _written_name, _free_text, _unique)

_IDENTIFYING = {
    Clue.PERSON_NAME: "names of persons",
    Clue.CONTACT: "a way to reach a person",
    Clue.NATIONAL_NUMBER: "a national number",
    Clue.ADDRESS: "an address",
    Clue.COORDINATE: "coordinates",
    Clue.PERSON: "a person's number",
}
_ROLES = {
    Clue.HOUSEHOLD: (Role.HOUSEHOLD, "a household's number"),
    Clue.WEIGHT: (Role.WEIGHT, "a survey weight"),
    Clue.STRATUM: (Role.STRATUM, "a stratum"),
    Clue.CLUSTER: (Role.CLUSTER, "a sampling cluster"),
    Clue.QUASI: (Role.QUASI_IDENTIFIER, ""),
    Clue.SENSITIVE: (Role.SENSITIVE, ""),
}


def _varied(column: ColumnProfile, present: int) -> bool:
    """Too many values for a list of kinds, as a column that tells persons apart has."""
    return column.distinct > min(_KINDS_AT_MOST, present // 2)


def _passes(pattern: Pattern, column: ColumnProfile, hints: frozenset[Clue]) -> bool:
    """Whether the distinct values at hand bear a form out: by their digits, or by the name where nothing is checked."""
    if pattern.check is None:
        return pattern.kind is PatternKind.IDENTIFIER or column.type is StorageType.TEXT
    formed = list(_formed(pattern, column))
    passed = sum(map(pattern.check, formed))
    enough = len(formed) >= _CHECKED_AT_LEAST or Clue.NATIONAL_NUMBER in hints
    return enough and passed >= _NEARLY_ALL * len(formed)


def _formed(pattern: Pattern, column: ColumnProfile) -> Iterator[str]:
    return (text for text in column.texts if pattern.fits(text))


def _type(column: ColumnProfile, role: Role, rows: int) -> dict[str, Any]:
    if column.type is StorageType.TEXT:
        keyed = 0 < column.distinct <= _KEYS_AT_MOST and 2 * column.distinct <= rows
        public = role not in (Role.DIRECT_IDENTIFIER, Role.HIDDEN)
        return {"type": "category", "keys": column.texts} if keyed and public else {"type": "text"}
    if column.type is StorageType.BOOLEAN:
        return {"type": "boolean"}
    if column.type in (StorageType.DATE, StorageType.DATETIME):
        return {"type": column.type.value, **_years(column)}
    bounds = {} if role is Role.DIRECT_IDENTIFIER else _bounds(column)
    if column.type is StorageType.INTEGER:
        return {"type": "integer", **bounds}
    step = _step(column.places, bounds)
    return {"type": "decimal", "step": step, **{name: _on_grid(end, step, name) for name, end in bounds.items()}}


def _years(column: ColumnProfile) -> dict[str, str]:
    """Whole decades around what is there."""
    found = [_YEAR.fullmatch(end or "") for end in (column.low, column.high)]
    years = [int(match[1]) for match in found if match]
    if len(years) < 2:
        return {}
    first, last = years[0] // 10 * 10, years[1] // 10 * 10 + 9
    night = ("T00:00:00", "T23:59:59") if column.type is StorageType.DATETIME else ("", "")
    return {"low": f"{max(first, 1):04}-01-01{night[0]}", "high": f"{last:04}-12-31{night[1]}"}


def _ends(column: ColumnProfile) -> tuple[Fraction, Fraction]:
    return Fraction(column.low or 0), Fraction(column.high or 0)


def _spread(column: ColumnProfile) -> Fraction:
    low, high = _ends(column)
    return high - low


def _bounds(column: ColumnProfile) -> dict[str, Fraction]:
    """From 0, or from the mirrored end, to the next round number; years and the like to whole fifties.

    What is larger than a 64-bit number of steps stays unbounded: such numbers are names, not amounts.
    """
    if column.low is None or column.high is None:
        return {}
    low, high = _ends(column)
    if low >= 1000 and high <= 3000:
        return {"low": low // 50 * Fraction(50), "high": -(-high // 50) * Fraction(50)}
    top = max(_round_up(high), _round_up(-low)) if low < 0 else _round_up(high)
    if top > _LARGEST:
        return {}
    return {"low": -top if low < 0 else Fraction(0), "high": top}


def _round_up(number: Fraction) -> Fraction:
    """The least of 1, 2 and 5 times a power of ten that is not below the number; 1 for what is not above 0."""
    power = Fraction(1)
    while power * 10 < number:
        power *= 10
    while 0 < number <= power / 10:
        power /= 10
    return power if number <= 0 else next(step * power for step in (1, 2, 5, 10) if number <= step * power)


def _step(places: int, bounds: dict[str, Fraction]) -> Fraction:
    """As fine as the values are written, but no finer than a millionth, and no finer than their size makes sense of."""
    step = Fraction(1, 10 ** min(places, _FINEST))
    largest = max(map(abs, bounds.values()), default=Fraction(0))
    while largest / step > _STEPS_AT_MOST:
        step *= 10
    return step


def _on_grid(end: Fraction, step: Fraction, name: str) -> Fraction:
    return (end // step if name == "low" else -(-end // step)) * step


def _unit(profile: Profile) -> dict[str, Any]:
    for column in profile.columns:
        repeated = column.largest > 1 and _varied(column, profile.rows - column.missing)
        if repeated and Clue.PERSON in clues(column.name):
            rows = int(_round_up(Fraction(column.largest)))
            return {"person": column.name, "rows": rows, "note": "by its name this column tells persons apart"}
    return {"note": "taken to be one person; is it?"}
