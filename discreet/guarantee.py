"""Guarantees as exact values, and the relation between neighbours that each of them speaks of.

Two tables are neighbours when they differ in one unit (a row, or all rows of one person):

* add-remove: one of them has the unit, the other has not. The number of units is private.
* replace-one: both have as many units, and one of these differs. The number of units is public.

A guarantee bounds how far a release can tell neighbours apart:

* `PureDP(epsilon)`: the odds of any output change by at most exp(epsilon).
* `ZCDP(rho)`: every Rényi divergence of order α is at most rho·α (Bun and Steinke 2016).
* `ApproxDP(epsilon, delta)`: as pure, but for events of total probability delta.

They are exact fractions, never floats: three times one tenth is three tenths. Adding two of them composes the
releases, subtracting takes a charge from a budget, `times(k)` composes k equal releases, and `group(k)` speaks of k
units that move together. Whatever needs a root or a logarithm is rounded up. They are partially ordered: `a <= b`
says that `a` promises at least as much as `b`, and a pair that cannot be ordered is an error, not False.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from decimal import ROUND_CEILING, Decimal, localcontext
from enum import StrEnum
from fractions import Fraction
from typing import Self, TypeVar

from discreet.check import Number, at_least, exact
from discreet.errors import ArgumentError, BudgetError

__all__ = ["ZCDP", "Adjacency", "ApproxDP", "Guarantee", "PureDP", "exp_up", "number_text"]

_DIGITS = 60
_EXPONENT_AT_MOST = 100_000
_RHO_OF_FLOATS = Fraction(10**280)
_TERMS_AT_MOST = 1000
_STEP = Fraction(1, 10**18)  # results of roots, logarithms and exponentials are rounded up to this


class Adjacency(StrEnum):
    """Which tables count as neighbours."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"


@dataclass(frozen=True, slots=True)
class _Guarantee:
    """What the three have in common."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = exact(field.name, getattr(self, field.name))
            if value < 0 or (field.name == "delta" and value > 1):
                right = "it must lie in [0, 1]" if field.name == "delta" else "it must not be negative"
                raise ArgumentError(
                    field.name, found=number_text(value), right=right, step=f"give another {field.name}"
                )
            object.__setattr__(self, field.name, value)

    def _parts(self) -> tuple[Fraction, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))

    def _with(self, other: object) -> Self:
        """The other guarantee in this one's currency, or an error that says how to get there."""
        if isinstance(other, type(self)):
            return other
        raise ArgumentError(
            f"{self} and {other}",
            found="two guarantees of different kinds",
            right="only guarantees of one kind add, subtract and compare",
            step="convert one of them first: as_zcdp(), as_approx(delta)",
        )

    @classmethod
    def _sum(cls, parts: Iterable[Fraction]) -> Self:
        """The guarantee of composed parts: no δ says less than that of 1."""
        named = zip(fields(cls), parts, strict=True)
        return cls(*(min(part, Fraction(1)) if field.name == "delta" else part for field, part in named))

    def __add__(self, other: Self) -> Self:
        pairs = zip(self._parts(), self._with(other)._parts(), strict=True)
        return self._sum(a + b for a, b in pairs)

    def __sub__(self, other: Self) -> Self:
        pairs = tuple(zip(self._parts(), self._with(other)._parts(), strict=True))
        if any(a < b for a, b in pairs):
            raise BudgetError(
                f"{self}",
                found=f"it does not cover {other}",
                right="a charge may not exceed what is left",
                step="ask for less",
            )
        return type(self)(*(a - b for a, b in pairs))

    def __le__(self, other: Self) -> bool:
        pairs = tuple(zip(self._parts(), self._with(other)._parts(), strict=True))
        if all(a <= b for a, b in pairs):
            return True
        if all(a >= b for a, b in pairs):
            return False
        raise ArgumentError(
            f"{self} and {other}",
            found="neither promises what the other does",
            right="they can only be compared at one delta",
            step="compare at the larger delta, or take the privacy loss distributions",
        )

    def __ge__(self, other: Self) -> bool:
        return self._with(other) <= self

    def __lt__(self, other: Self) -> bool:
        return self <= other and self != other

    def __gt__(self, other: Self) -> bool:
        return self._with(other) < self

    def times(self, count: int) -> Self:
        """The guarantee of that many releases, each with this one."""
        at_least("count", count, 0)
        return self._sum(count * part for part in self._parts())

    def as_json(self) -> dict[str, str]:
        """Exact text of each part; `Guarantee` values come back from it unchanged."""
        return {field.name: str(part) for field, part in zip(fields(self), self._parts(), strict=True)}


@dataclass(frozen=True, slots=True)
class ApproxDP(_Guarantee):
    """(ε, δ)-differential privacy."""

    epsilon: Fraction
    delta: Fraction

    @classmethod
    def of(cls, epsilon: str | Number, delta: str | Number) -> ApproxDP:
        """From numbers as people write them: a float counts as the decimal it prints as."""
        return cls(exact("epsilon", epsilon), exact("delta", delta))

    def group(self, size: int) -> ApproxDP:
        """For that many units together: (kε, δ(e^{kε} − 1)/(e^ε − 1)), rounded up and never above 1."""
        at_least("size", size, 1)
        growth = _series_up(self.epsilon, size) if self.delta else Fraction(0)
        return ApproxDP(size * self.epsilon, min(Fraction(1), self.delta * growth))

    def replace_one(self) -> ApproxDP:
        """What an add-remove guarantee is worth under replace-one: one unit out and another in."""
        return ApproxDP(2 * self.epsilon, min(Fraction(1), (1 + exp_up(self.epsilon)) * self.delta))

    def __str__(self) -> str:
        return f"ε = {number_text(self.epsilon)}, δ = {number_text(self.delta)}"


@dataclass(frozen=True, slots=True)
class ZCDP(_Guarantee):
    """ρ-zero-concentrated differential privacy."""

    rho: Fraction

    @classmethod
    def of(cls, rho: str | Number) -> ZCDP:
        """From a number as people write it."""
        return cls(exact("rho", rho))

    def group(self, size: int) -> ZCDP:
        """For that many units together: k²ρ."""
        return ZCDP(at_least("size", size, 1) ** 2 * self.rho)

    def replace_one(self) -> ZCDP:
        """What an add-remove guarantee is worth under replace-one."""
        return self.group(2)

    def as_approx(self, delta: str | Number) -> ApproxDP:
        """The smallest ε this implies at that δ, rounded up.

        For every order α > 1, ε = αρ + ln(1/(αδ))/(α − 1) + ln(1 − 1/α) holds (Canonne, Kamath and Steinke 2020,
        Corollary 13), so any α is safe; the search below only looks for a good one.
        """
        exact_delta = exact("delta", delta)
        if not 0 < exact_delta < 1:
            raise ArgumentError(
                "delta", found=number_text(exact_delta), right="it must lie in (0, 1)", step="give a delta such as 1e-9"
            )
        if self.rho == 0:
            return ApproxDP(Fraction(0), exact_delta)
        hint = float(min(self.rho, _RHO_OF_FLOATS))
        log_excess = _best_order(hint, math.log(exact_delta.numerator) - math.log(exact_delta.denominator))
        with localcontext(prec=_DIGITS):
            excess = Decimal(repr(math.exp(log_excess)))
            alpha = excess + 1
            log_delta = _decimal(exact_delta).ln()
            epsilon = alpha * _decimal(self.rho) - (log_delta + alpha.ln()) / excess + (excess / alpha).ln()
        return ApproxDP(_round_up(max(Decimal(0), epsilon)), exact_delta)

    def __str__(self) -> str:
        return f"ρ = {number_text(self.rho)}"


@dataclass(frozen=True, slots=True)
class PureDP(_Guarantee):
    """ε-differential privacy."""

    epsilon: Fraction

    @classmethod
    def of(cls, epsilon: str | Number) -> PureDP:
        """From a number as people write it."""
        return cls(exact("epsilon", epsilon))

    def group(self, size: int) -> PureDP:
        """For that many units together: kε."""
        return PureDP(at_least("size", size, 1) * self.epsilon)

    def replace_one(self) -> PureDP:
        """What an add-remove guarantee is worth under replace-one."""
        return self.group(2)

    def as_zcdp(self) -> ZCDP:
        """Every ε-DP release is ε²/2-zCDP."""
        return ZCDP(self.epsilon**2 / 2)

    def as_approx(self, delta: str | Number = 0) -> ApproxDP:
        """The same ε, with any δ."""
        return ApproxDP(self.epsilon, exact("delta", delta))

    def __str__(self) -> str:
        return f"ε = {number_text(self.epsilon)}"


Guarantee = PureDP | ZCDP | ApproxDP
AnyGuarantee = TypeVar("AnyGuarantee", PureDP, ZCDP, ApproxDP)


def exp_up(exponent: Fraction) -> Fraction:
    """exp(exponent), rounded up; exactly 1 at 0."""
    if exponent == 0:
        return Fraction(1)
    if abs(exponent) > _EXPONENT_AT_MOST:
        raise ArgumentError(
            "epsilon",
            found=number_text(exponent),
            right=f"exp(epsilon) is worked out up to {_EXPONENT_AT_MOST}",
            step="give an epsilon that still means something, below 10",
        )
    with localcontext(prec=_DIGITS):
        return _round_up(_decimal(exponent).exp())


def _series_up(epsilon: Fraction, size: int) -> Fraction:
    """1 + e^ε + … + e^((size − 1)ε), rounded up: term by term, or by its closed form where the terms are many."""
    if size <= _TERMS_AT_MOST:
        return sum((exp_up(index * epsilon) for index in range(size)), Fraction(0))
    last = size * exp_up((size - 1) * epsilon)  # no term is larger than the last one
    if epsilon < _STEP:
        return last
    with localcontext(prec=3 * _DIGITS):
        return min(last, _round_up((_decimal(size * epsilon).exp() - 1) / (_decimal(epsilon).exp() - 1)))


def number_text(value: Fraction) -> str:
    """An exact number as people write it: a short decimal or fraction where there is one, else rounded up."""
    if value.denominator == 1:
        return str(value.numerator)
    with localcontext(prec=_DIGITS):
        quotient = _decimal(value)
    with localcontext(prec=15, rounding=ROUND_CEILING):
        short = +quotient
    text = f"{short.normalize():e}".replace("e-0", "e-") if abs(short) < Decimal("1e-4") else f"{short.normalize():f}"
    if Fraction(short) == value:
        return text
    return str(value) if len(str(value)) <= 12 else f"about {short:.6}".lower()


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def _best_order(rho: float, log_delta: float) -> float:
    """ln(α − 1) of a nearly best order α, by ternary search: the bound is unimodal in it."""

    def epsilon(log_excess: float) -> float:
        excess = math.exp(log_excess)
        return (excess + 1) * rho - (log_delta + math.log1p(excess)) / excess + log_excess - math.log1p(excess)

    low, high = -40.0, 40.0
    for _ in range(150):
        third = (high - low) / 3
        if epsilon(low + third) < epsilon(high - third):
            high -= third
        else:
            low += third
    return (low + high) / 2


def _round_up(value: Decimal) -> Fraction:
    """Up to the next multiple of 10⁻¹⁸: far above the error of 60-digit arithmetic on numbers that fit before it."""
    exact_value = Fraction(value)
    margin = abs(exact_value) / 10 ** (_DIGITS - 10)
    steps: int = math.ceil((exact_value + margin) / _STEP)
    return steps * _STEP
