"""Cells as tables publish them when they are coarsened: *, 130**, 3*, <30, ≥ 40, 60-70, [60, 70), {a, b} or a | b.

`Baker – Clerk` is all words between the two, as Mondrian writes it. Names of groups say nothing by themselves: what
they stand for is in a hierarchy, which is public (`meanings`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from discreet.attacks.condition import Value

__all__ = ["covers", "general", "meanings", "spelled"]

_BOUND = re.compile(r"(<=|>=|<|>|≤|≥)\s*(-?\d+(?:\.\d+)?)")
_RANGE = re.compile(r"([\[(]?)\s*(-?\d+(?:\.\d+)?)\s*(?:,|-|–|to|\.\.)\s*(-?\d+(?:\.\d+)?)\s*([\])]?)")
_WORDS = " – "
_SIGNS = {"≤": "<=", "≥": ">="}


def covers(cell: object, value: Value) -> bool:
    """Whether a generalised cell may stand for a value. An empty cell, a suppressed one, may stand for any."""
    return _covers(spelled(cell), spelled(value))


def spelled(cell: object) -> str:
    """A cell as text, * where it is empty."""
    if cell is None or cell != cell:
        return "*"
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def general(cell: object) -> bool:
    """Whether a cell may stand for other values than the one it spells."""
    text = spelled(cell)
    return not text or any(sign in text for sign in "*<>≤≥|,–") or _RANGE.fullmatch(text) is not None


def meanings(rows: Iterable[Sequence[str]]) -> dict[str, frozenset[str]]:
    """What each group of a hierarchy stands for, from its lines: a value, its group, the group's group and so on."""
    held: dict[str, set[str]] = {}
    for value, *groups in rows:
        for group in groups:
            held.setdefault(group, set()).add(value)
    return {group: frozenset(values) for group, values in held.items()}


@lru_cache(maxsize=1 << 18)
def _covers(text: str, plain: str) -> bool:
    if text in (plain, "*", ""):
        return True
    if found := _BOUND.fullmatch(text):
        number, bound = _number(plain), float(found[2])
        sign = _SIGNS.get(found[1], found[1])
        return (
            number is not None
            and {
                "<": number < bound,
                "<=": number <= bound,
                ">": number > bound,
                ">=": number >= bound,
            }[sign]
        )
    if found := _RANGE.fullmatch(text):
        number = _number(plain)
        above = number is not None and (number > float(found[2]) if found[1] == "(" else number >= float(found[2]))
        return (
            above
            and number is not None
            and (number < float(found[3]) if found[4] == ")" else number <= float(found[3]))
        )
    low, dash, high = text.partition(_WORDS)
    if dash:
        return plain >= low and (high == "missing" or plain <= high)
    if "*" in text:
        pattern = "".join("." if sign == "*" else re.escape(sign) for sign in text)
        return re.fullmatch(pattern, plain) is not None
    parts = re.split(r"[|,]", text.strip("{}"))
    return len(parts) > 1 and plain in (part.strip() for part in parts)


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None
