"""Conditions on records, as people write them: `sex = female and age >= 18 and race in black | white`.

A clause is conditions joined by `and`; the empty clause, also written `everyone`, holds for every record. Values are
whole numbers, decimal numbers or words; a word may stand in quotes. There is no `or` between columns and no bracket.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.check import known
from discreet.errors import ArgumentError

__all__ = ["Clause", "Condition", "Mask", "Value", "parse_clause", "read_value", "select", "write_clause"]

Value: TypeAlias = int | float | str
Mask: TypeAlias = npt.NDArray[np.bool_]
_ONE = re.compile(r"\s*(?P<column>[\w .-]*?\w)\s*(?P<sign><=|>=|!=|=|<|>|\bin\b)\s*(?P<values>.+?)\s*")
_SIGNS = "=, !=, <, <=, >, >= or in"
_STEP = "write it as: sex = female and age >= 18"


@dataclass(frozen=True, slots=True)
class Condition:
    """One column compared with a value, or looked up among several."""

    column: str
    sign: str
    values: tuple[Value, ...]

    def holds(self, value: object) -> bool:
        """Whether it holds for a value; nothing holds for a missing one."""
        if value is None or value != value:
            return False
        first = self.values[0]
        if self.sign in ("=", "in"):
            return value in self.values
        if self.sign == "!=":
            return value != first
        if isinstance(value, str) or isinstance(first, str):
            return False
        number, bound = float(value), float(first)  # type: ignore[arg-type]
        return {"<": number < bound, "<=": number <= bound, ">": number > bound, ">=": number >= bound}[self.sign]

    def __str__(self) -> str:
        return f"{self.column} {self.sign} {' | '.join(map(str, self.values))}"


Clause: TypeAlias = tuple[Condition, ...]


def parse_clause(text: str, *, where: str = "condition") -> Clause:
    """The conditions in a text."""
    if text.strip() in ("", "everyone"):
        return ()
    return tuple(_parse_one(part, where) for part in re.split(r"\band\b", text))


def write_clause(clause: Clause) -> str:
    """The text of a clause."""
    return " and ".join(map(str, clause)) or "everyone"


def read_value(text: str) -> Value:
    """A whole number, a decimal number or a word."""
    text = text.strip()
    if re.fullmatch(r"[+-]?\d{1,18}", text):
        return int(text)
    if re.fullmatch(r"[+-]?\d{1,18}\.\d{1,18}", text):
        return float(text)
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def select(records: Mapping[str, Sequence[object]], clause: Clause) -> Mask:
    """Which records a clause holds for; the records stand column by column."""
    names = tuple(records)
    rows = len(records[names[0]]) if names else 0
    kept = np.ones(rows, dtype=bool)
    for one in clause:
        known("column", one.column, names, step="name a column of the table")
        held: dict[object, bool] = {}
        column = records[one.column]
        kept &= np.fromiter((_remembered(held, one, value) for value in column), dtype=bool, count=rows)
    return kept


def _remembered(held: dict[object, bool], one: Condition, value: object) -> bool:
    if value not in held:
        held[value] = one.holds(value)
    return held[value]


def _parse_one(text: str, where: str) -> Condition:
    found = _ONE.fullmatch(text)
    if found is None:
        raise ArgumentError(
            where, found=f"{text.strip()[:40]!r}", right=f"a condition is a column, {_SIGNS}, and a value", step=_STEP
        )
    sign, listed = found["sign"], found["values"].split("|")
    if len(listed) > 1 and sign not in ("in", "="):
        raise ArgumentError(
            where, found=f"several values after {sign}", right="several values stand after in", step=_STEP
        )
    values = tuple(map(read_value, listed))
    if sign in ("<", "<=", ">", ">=") and isinstance(values[0], str):
        raise ArgumentError(where, found=f"a word after {sign}", right="only numbers have an order", step=_STEP)
    return Condition(found["column"], sign, values)
