"""A bounded numeric column as whole steps, so that it sums exactly.

The step of a column is an exact fraction p/q. Its twin holds value/step, rounded half to even, and saturated at
±(2⁵³ − 1), where ±∞ and everything beyond lands; null and NaN are null. For integers the quotient is exact; for
decimals it is the binary64 value times q, divided by p, each operation correctly rounded, so the twin is a function of
the stored value alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from discreet.check import known
from discreet.data.table import StorageType
from discreet.errors import ArgumentError

__all__ = ["LARGEST_STEPS", "checked_steps", "require_numeric", "steps_of"]

LARGEST_STEPS = 2**53 - 1


def checked_steps(steps: Mapping[str, Fraction], names: Sequence[str]) -> dict[int, Fraction]:
    """The declared steps by column position."""
    checked = {}
    for name, step in steps.items():
        known("column", name, names, step="declare steps of the table's columns only")
        exact = Fraction(step)
        if exact <= 0 or max(exact.numerator, exact.denominator) > LARGEST_STEPS:
            raise ArgumentError(
                f"step of column {name!r}",
                found=str(step),
                right="it must be above 0, with numerator and denominator below 2^53",
                step="give a step such as 1 or 1/100",
            )
        checked[names.index(name)] = exact
    return checked


def require_numeric(name: str, type_: StorageType) -> None:
    """Only numbers have steps."""
    if type_ not in (StorageType.INTEGER, StorageType.DECIMAL):
        raise ArgumentError(
            f"step of column {name!r}",
            found=f"a column of {type_}",
            right="integers and decimals have steps",
            step="leave its step out of the contract, or correct the source",
        )


def steps_of(column: str, type_: StorageType, step: Fraction) -> str:
    """Given a numeric column as SQL: its twin as SQL of type BIGINT, total over all values."""
    p, q = step.numerator, step.denominator
    nothing = f"{column} IS NULL"  # asked first: greatest and least pass over nulls
    if type_ is StorageType.DECIMAL:
        nothing += f" OR isnan({column})"
        steps = f"round_even({_clamped(f'{column} * CAST({q} AS DOUBLE) / CAST({p} AS DOUBLE)')}, 0)"
    else:
        steps = _clamped(_quotient(f"(CAST({column} AS HUGEINT) * {q})", p))
    return f"CASE WHEN {nothing} THEN NULL ELSE CAST({steps} AS BIGINT) END"


def _clamped(number: str) -> str:
    return f"greatest(least({number}, {LARGEST_STEPS}), -{LARGEST_STEPS})"


def _quotient(number: str, divisor: int) -> str:
    """A whole number over a whole number, rounded half to even, in whole numbers alone."""
    if divisor == 1:
        return number
    left = f"((({number} % {divisor}) + {divisor}) % {divisor})"
    floor = f"(({number} - {left}) // {divisor})"
    up = f"CASE WHEN 2 * {left} > {divisor} OR (2 * {left} = {divisor} AND {floor} % 2 <> 0) THEN 1 ELSE 0 END"
    return f"({floor} + {up})"
