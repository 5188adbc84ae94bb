"""Amounts as the ledger keeps them: whole units, rounded up, so that adding them is exact and nothing is ever free.

An ε or ρ is kept in units of 10⁻⁹ and a δ in units of 10⁻¹⁸. That integer is what prints, digit by digit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext

from discreet.accounting.events import Currency, Price
from discreet.check import exact, probability
from discreet.errors import ArgumentError

__all__ = ["DELTA_UNITS", "LOSS_UNITS", "Amount"]

LOSS_UNITS = 10**9
DELTA_UNITS = 10**18
_LOSS_AT_MOST = 10**6  # of a limit; e^(10^6) is no promise to anyone
_DIGITS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A loss and a δ in whole units."""

    loss: int = 0
    delta: int = 0

    def __post_init__(self) -> None:
        if self.loss < 0 or self.delta < 0:
            raise ArgumentError(
                "amount", found="less than nothing", right="a budget is only ever spent", step="give an amount above 0"
            )

    @classmethod
    def up(cls, price: Price) -> Amount:
        """A price in whole units, rounded up."""
        loss, delta = exact("epsilon", price.loss), exact("delta", price.delta)
        return cls(loss=math.ceil(loss * LOSS_UNITS), delta=math.ceil(delta * DELTA_UNITS))

    @classmethod
    def down(cls, limit: Price) -> Amount:
        """A limit in whole units, rounded down. A limit that would promise nothing is refused."""
        loss, delta = exact("limit", limit.loss), probability("delta", limit.delta)
        if loss > _LOSS_AT_MOST:
            raise ArgumentError(
                "limit", found="an absurd one", right=f"it is at most {_LOSS_AT_MOST}", step="give an ε below 10"
            )
        return cls(loss=math.floor(loss * LOSS_UNITS), delta=math.floor(delta * DELTA_UNITS))

    def __add__(self, other: Amount) -> Amount:
        return Amount(loss=self.loss + other.loss, delta=self.delta + other.delta)

    def left_of(self, limit: Amount) -> Amount:
        """What remains of a limit after this, nothing where this is beyond it."""
        return Amount(loss=max(0, limit.loss - self.loss), delta=max(0, limit.delta - self.delta))

    def fits(self, limit: Amount) -> bool:
        """Whether this is within the limit, in both parts."""
        return self.loss <= limit.loss and self.delta <= limit.delta

    def text(self, currency: Currency) -> str:
        """For people: ε = 0.5, δ = 1e-9."""
        loss = f"{'ε' if currency == 'pure' else 'ρ'} = {_decimal_text(self.loss, 9)}"
        return f"{loss}, δ = {_decimal_text(self.delta, 18)}" if self.delta else loss


def _decimal_text(units: int, places: int) -> str:
    """Every digit of so many units, in the shorter of the two ways people write it."""
    with localcontext(prec=_DIGITS):
        value = Decimal(units).scaleb(-places).normalize()
        if not value or Decimal("1e-4") <= value < Decimal("1e15"):
            return f"{value:f}"
        return f"{value:e}".replace("e+", "e")
