"""What a question may spend: a loss in ε or ρ, perhaps a δ, and what the account is charged for it.

account in ε    epsilon            Laplace noise, charged ε
                epsilon and delta  Laplace noise, or Gaussian noise of the largest ρ that implies (ε, δ), charged
                                   (ε, δ); δ also pays for keys that have to be found
account in ρ    rho                Gaussian noise, charged ρ
                epsilon            Laplace noise, charged ε²/2
                epsilon and delta  Gaussian noise of the largest ρ that implies (ε, δ), charged ρ
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Literal, TypeAlias

from discreet.accounting.events import Currency
from discreet.check import Number, positive, probability
from discreet.errors import ArgumentError
from discreet.guarantee import ZCDP

__all__ = ["Allowance", "Exact", "Law", "allowances", "largest_rho", "root_down"]

Exact: TypeAlias = Number | str
Law: TypeAlias = Literal["laplace", "gaussian"]
_FINENESS = 10**12
# Less would need noise wider than all whole numbers of 64 bits.
_LEAST = Fraction(1, 10**15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """One way to spend: the law of the noise, its loss (ε for Laplace, ρ for Gaussian), and what is charged.

    With `implied`, Gaussian noise is charged to an account in ε as that (ε, δ). `delta` is what keys may cost.
    """

    law: Law
    loss: Fraction
    delta: Fraction = Fraction(0)
    implied: tuple[Fraction, Fraction] | None = None

    def shared(self, share: Fraction) -> Allowance:
        """A part of it."""
        return Allowance(law=self.law, loss=self.loss * share, delta=self.delta * share)

    @property
    def epsilon(self) -> Fraction:
        """The ε of a mechanism of choice for all of it: ε itself, or the ε of ρ = ε²/8, rounded down."""
        return self.loss if self.law == "laplace" else root_down(8 * self.loss)


def allowances(
    currency: Currency,
    *,
    epsilon: Exact | None = None,
    delta: Exact | None = None,
    rho: Exact | None = None,
    keys: bool = False,
) -> tuple[Allowance, ...]:
    """The ways to spend what was given from an account of that currency. `keys`: some have to be found, for a δ."""
    if (epsilon is None) == (rho is None):
        raise ArgumentError(
            "budget",
            found="neither epsilon nor rho" if rho is None else "both epsilon and rho",
            right="a question spends one of the two",
            step="give epsilon 0.5 (--epsilon 0.5)" if currency == "pure" else "give rho 0.05, or epsilon and delta",
        )
    exact_delta = Fraction(0) if delta is None else probability("delta", delta)
    if rho is not None:
        loss = _enough("rho", rho)
        if currency == "pure":
            raise ArgumentError(
                "rho", found="an account in ε", right="it is spent as epsilon", step="give epsilon 0.5 instead of rho"
            )
        return (Allowance(law="gaussian", loss=loss, delta=exact_delta),)
    assert epsilon is not None
    pure = _enough("epsilon", epsilon)
    laplace = Allowance(law="laplace", loss=pure, delta=exact_delta)
    if not exact_delta:
        return (laplace,)
    found = exact_delta / 2 if keys else Fraction(0)
    implied = pure, exact_delta - found
    gaussian = largest_rho(*implied)
    if currency == "zcdp":
        return (Allowance(law="gaussian", loss=gaussian, delta=found),)
    return laplace, Allowance(law="gaussian", loss=gaussian, delta=found, implied=implied)


def _enough(name: str, loss: Exact) -> Fraction:
    """The loss, which is not so small that no noise would do."""
    exact = positive(name, loss)
    if exact < _LEAST:
        raise ArgumentError(
            name, found="so little that no noise is wide enough", right=f"{name} is at least 1e-15", step="give more"
        )
    return exact


@lru_cache(maxsize=64)
def largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest ρ, on a fine grid, whose zero-concentrated privacy implies (ε, δ).

    Given:   ε, δ above 0.
    Promise: ρ-zCDP implies (ε, δ)-differential privacy.
    Because: the ρ given back was converted, rounding up, and compared with ε.
    Tested:  test_largest_rho_implies_what_it_says.
    """
    low, high = 0, int(epsilon * _FINENESS)  # ρ ≤ ε, since the conversion never gives less than ρ
    while high - low > 1:
        middle = (low + high) // 2
        implied = ZCDP(Fraction(middle, _FINENESS)).as_approx(delta).epsilon
        low, high = (middle, high) if implied <= epsilon else (low, middle)
    if not low:
        raise ArgumentError(
            "delta", found="so little of both that no noise is enough", right="ε and δ above 1e-12", step="give more"
        )
    return Fraction(low, _FINENESS)


def root_down(square: Fraction) -> Fraction:
    """The square root, rounded down to a multiple of 10⁻¹²."""
    return Fraction(isqrt(int(square * _FINENESS**2)), _FINENESS)
