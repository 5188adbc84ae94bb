"""How values are written for people: counts in groups of three, shares as percent, numbers to four digits.

Written for reading only: files for machines (CSV, JSON) keep the value itself. The minus is a real minus, the space
inside a number is narrow and does not break, and a value that is not there is a dash.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, TypeAlias

__all__ = ["Kind", "Value", "aligned", "magnitude", "ticked", "written"]

Kind: TypeAlias = Literal["text", "count", "share", "number"]
Value: TypeAlias = str | int | float | Fraction | None

ABSENT = "–"
_SPACE = "\N{NARROW NO-BREAK SPACE}"
_MINUS = "\N{MINUS SIGN}"
_TURNED = {"<": ">", ">": "<"}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_DIGIT_SPACE, _POINT_SPACE = "\N{FIGURE SPACE}", "\N{PUNCTUATION SPACE}"
_FIGURE = re.compile(rf"(?P<whole>([<>≈]{_SPACE})?{_MINUS}?[\d{_SPACE}]*\d)(?P<decimals>\.\d+)?(?P<unit>{_SPACE}%)?")
_WHOLE_BELOW = 10**15
_LONG_POWER = 3
_LONG_STEP = 5
_LONG_NUMBER = 9


def written(kind: Kind, value: Value) -> str:
    """The value as a reader wants it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ABSENT
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    exact = Fraction(value)
    return _signed(exact, _FORMATS[kind](abs(exact)))


def aligned(texts: Sequence[str]) -> tuple[str, ...]:
    """Written figures of one column with blanks as wide as digits, so that their decimal points stand in line."""
    parts = [_FIGURE.fullmatch(text) for text in texts]
    most = max((len(part["decimals"] or "") for part in parts if part), default=0)
    return tuple(
        f"{part['whole']}{_decimals(part['decimals'] or '', most)}{part['unit'] or ''}" if part else text
        for text, part in zip(texts, parts, strict=True)
    )


def ticked(kind: Kind, ticks: Sequence[Fraction], *, log: bool = False) -> tuple[str, ...]:
    """The labels of an axis, alike in their decimals; on a logarithmic axis each tick as its size asks."""
    sizes = [magnitude(abs(tick)) for tick in ticks if tick] or [0]
    if log:
        powers = kind != "share" and (min(sizes) < -_LONG_POWER or max(sizes) > _LONG_POWER)
        return tuple(_scientific(tick, magnitude(tick)) if powers else written(kind, tick) for tick in ticks)
    step = magnitude(ticks[1] - ticks[0]) if len(ticks) > 1 else min(sizes)
    if kind == "share" and step >= -_LONG_STEP and max(sizes) < _LONG_STEP:
        return tuple(_signed(tick, f"{_fixed(abs(tick) * 100, max(0, -step - 2))}{_SPACE}%") for tick in ticks)
    if step < -_LONG_STEP or max(sizes) >= _LONG_NUMBER:
        return tuple(_signed(t, _scientific(abs(t), max(sizes), max(sizes) - step) if t else "0") for t in ticks)
    return tuple(_signed(tick, _fixed(abs(tick), max(0, -step))) if tick else "0" for tick in ticks)


def _count(value: Fraction) -> str:
    return _grouped(str(round(value)))


def _share(value: Fraction) -> str:
    percent = value * 100
    if percent in (0, 100):
        return f"{percent}{_SPACE}%"
    distance = min(percent, abs(100 - percent))
    if distance < Fraction(1, 10_000):
        sign = "<" if percent < 50 else ">" if percent < 100 else "≈"
        return f"{sign}{_SPACE}{'0.0001' if percent < 50 else '99.9999' if percent < 100 else '100'}{_SPACE}%"
    return f"{_fixed(percent, 1 if distance >= 1 else 1 - magnitude(distance))}{_SPACE}%"


def _number(value: Fraction) -> str:
    if value.denominator == 1 and value < _WHOLE_BELOW:
        return _grouped(str(value.numerator))
    size = magnitude(value)
    if not -4 <= size < 15:
        return _scientific(value, size)
    decimals = max(0, 3 - size) if size >= 0 else 2 - size
    return _trimmed(_fixed(value, decimals))


def _scientific(value: Fraction, power: int, decimals: int = 2) -> str:
    mantissa = _trimmed(_fixed(value / Fraction(10) ** power, decimals))
    if mantissa == "10":
        mantissa, power = "1", power + 1
    raised = f"10{str(power).translate(_RAISED)}" if power else "1"
    return raised if mantissa == "1" else f"{mantissa}×{raised}" if power else mantissa


def magnitude(value: Fraction) -> int:
    """The power of ten at or below a value above zero, exact for values no float can hold."""
    guess = len(str(value.numerator)) - len(str(value.denominator))
    return guess if value >= Fraction(10) ** guess else guess - 1


def _decimals(decimals: str, most: int) -> str:
    blank = decimals or _POINT_SPACE if most else ""
    return blank + _DIGIT_SPACE * (most - len(blank))


def _fixed(value: Fraction, decimals: int) -> str:
    digits = str(round(value * 10**decimals)).rjust(decimals + 1, "0")
    whole, rest = digits[: len(digits) - decimals], digits[len(digits) - decimals :]
    return _grouped(whole) + (f".{rest}" if rest else "")


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def _signed(value: Fraction, text: str) -> str:
    """The text of the absolute value with its sign, unless it was rounded to nothing."""
    if value >= 0 or not any(sign in "123456789" for sign in text):
        return text
    if text[0] in _TURNED:
        return f"{_TURNED[text[0]]}{_SPACE}{_MINUS}{text[2:]}"
    return f"{_MINUS}{text}"


def _grouped(digits: str) -> str:
    return f"{int(digits):,}".replace(",", _SPACE)


_FORMATS = {"text": _number, "count": _count, "share": _share, "number": _number}
