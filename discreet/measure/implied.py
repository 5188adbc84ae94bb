"""Several parts charged as one: Gaussian noise on an account in ε, by the (ε, δ) that its ρ implies.

1. Each part is priced in ρ; together they must not pass the ρ that was asked for.
2. The charge is the (ε, δ) that this ρ implies, with the δ of keys that were found added to it.

Given:   parts with a price in ρ, and an (ε, δ) that a ρ-zCDP mechanism of `rho` has.
Promise: all that the parts release is (ε, δ + δ₀)-DP, δ₀ being what the parts may fail with themselves.
Because: zero-concentrated losses add up, ρ-zCDP implies (ε, δ), and failures of probability δ₀ add to δ.
Tested:  test_implied_charge_covers_its_parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.accounting.events import Approximate, Event, Price, price
from discreet.data.engines.base import Engine
from discreet.data.table import StoredTable
from discreet.errors import ArgumentError
from discreet.measure.part import Part, Released
from discreet.randomness import Bits

__all__ = ["Implied", "ReleasedTogether"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedTogether:
    """What several parts released."""

    each: tuple[Released, ...]

    def as_json(self) -> dict[str, Any]:
        """The released values of each part."""
        return {"each": [one.as_json() for one in self.each]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Implied:
    """Parts of at most ρ together, and the ε and δ that this ρ implies."""

    parts: tuple[Part, ...]
    rho: Fraction
    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        if self._cost.loss > self.rho:
            raise ArgumentError(
                "rho", found="parts that cost more together", right="they share it", step="give each a part of it"
            )

    @property
    def event(self) -> Event:
        """What all of it is charged as."""
        return Approximate(epsilon=self.epsilon, delta=self.delta + self._cost.delta)

    def as_json(self) -> dict[str, Any]:
        """What is charged and why, as public plain values."""
        return {
            "implied": {"rho": str(self.rho), "epsilon": str(self.epsilon), "delta": str(self.delta)},
            "parts": [part.as_json() for part in self.parts],
        }

    def require_readable(self, engine: Engine, table: StoredTable) -> None:
        """Refuse what any part refuses."""
        for part in self.parts:
            part.require_readable(engine, table)

    def release(self, engine: Engine, table: StoredTable, bits: Bits, *, teaching: bool = False) -> ReleasedTogether:
        """Release each part."""
        return ReleasedTogether(each=tuple(part.release(engine, table, bits, teaching=teaching) for part in self.parts))

    def restored(self, stored: Mapping[str, Any]) -> ReleasedTogether:
        """What `ReleasedTogether.as_json` wrote."""
        pairs = zip(self.parts, stored["each"], strict=True)
        return ReleasedTogether(each=tuple(part.restored(one) for part, one in pairs))

    @property
    def _cost(self) -> Price:
        prices = [price(part.event, "zcdp") for part in self.parts]
        return sum(prices, Price(loss=Fraction(0)))
