"""Checks of arguments: each names the argument, what was given, what is right, and returns the value."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Collection, Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import TypeVar

from discreet.errors import ArgumentError, UnknownNameError

__all__ = ["at_least", "exact", "known", "one_of", "positive", "probability", "some"]

T = TypeVar("T")
Number = int | float | Fraction | Decimal
_LIST_AT_MOST = 12
# Longer texts and larger exponents would make a fraction that fills the memory, or that Python refuses to print.
_PLAIN = re.compile(r"[+-]?(\d{1,60}(\.\d{0,60})?|\.\d{1,60})([eE][+-]?\d{1,3})?|[+-]?\d{1,60}/\d{1,60}")


def exact(name: str, value: str | Number) -> Fraction:
    """The exact value of a number; a float counts as the decimal it prints as, so .1 is one tenth."""
    step = f"give {name} as 0.5 or '1/3'"
    if isinstance(value, bool) or not isinstance(value, str | float | Fraction | Decimal | Integral):
        raise ArgumentError(
            name, found=f"a value of type {type(value).__name__}", right="it must be a number", step=step
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise ArgumentError(name, found=f"{value}", right="it must be finite", step=step)
    if isinstance(value, int | Fraction):
        return Fraction(value)
    # By way of their text, since numpy's integers overflow; and numpy's floats print their type around the number.
    text = repr(float(value)) if isinstance(value, float) else str(value).strip()
    if not _PLAIN.fullmatch(text):
        raise ArgumentError(name, found=f"{text[:40]!r}", right="it must be a number of sane size", step=step)
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise ArgumentError(name, found=f"{text!r}", right="it must be a number", step=step) from None


def positive(name: str, value: str | Number) -> Fraction:
    """The exact value, above zero."""
    number = exact(name, value)
    if number <= 0:
        raise ArgumentError(
            name, found=f"{value}", right="it must be above 0", step=f"give a {name} above 0, such as 1"
        )
    return number


def probability(name: str, value: str | Number) -> Fraction:
    """The exact value, from 0 up to but not including 1."""
    number = exact(name, value)
    if not 0 <= number < 1:
        raise ArgumentError(name, found=f"{value}", right="it must lie in [0, 1)", step=f"give a {name} such as 1e-9")
    return number


def at_least(name: str, value: int, least: int) -> int:
    """A whole number no smaller than `least`."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least:
        raise ArgumentError(
            name,
            found=f"{value!r}",
            right=f"it must be a whole number of at least {least}",
            step=f"give {name}={least} or more",
        )
    return number


def one_of(name: str, value: T, allowed: Collection[T]) -> T:
    """A value out of a short public list."""
    if value not in allowed:
        raise ArgumentError(
            name,
            found=f"{value!r}",
            right=f"it must be one of {_listed(allowed)}",
            step="choose one of these",
        )
    return value


def known(kind: str, name: str, names: Sequence[str], *, step: str) -> str:
    """A name that exists; otherwise the message lists the ones that do, nearest first."""
    if name not in names:
        import difflib

        near = difflib.get_close_matches(str(name), names, n=3, cutoff=0.6)
        right = f"did you mean {_listed(near)}" if near else f"there is {_listed(names) or 'none'}"
        raise UnknownNameError(f"{kind} {name!r}", found="no such name", right=right, step=step)
    return name


def some(name: str, values: Sequence[T], *, step: str) -> tuple[T, ...]:
    """At least one value, none twice."""
    if isinstance(values, str):  # else its letters would be taken for the entries
        raise ArgumentError(name, found="one text", right="it is a list", step=f"give {name}=[{values[:40]!r}]")
    if not values:
        raise ArgumentError(name, found="nothing", right="it needs at least one", step=step)
    if len(set(values)) != len(values):
        raise ArgumentError(name, found="the same entry twice", right="each may stand once", step=step)
    return tuple(values)


def _listed(values: Collection[object]) -> str:
    shown = ", ".join(str(value) for value in list(values)[:_LIST_AT_MOST])
    return shown + (f" and {len(values) - _LIST_AT_MOST} more" if len(values) > _LIST_AT_MOST else "")
