"""What a question would cost and how far its answer would err, before anything is spent or read.

1. `accounts` says for each account what would be charged, to the last digit, and what would be left.
2. `strategies` lists every way to measure, with the error to expect of each statistic, and which one is taken. What
   depends on the private number of rows n is shown as a formula in n.

Only contract, question, budget and ledger are asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.draw.grid import Grid, GridColumn
from discreet.query.clip import clipped_candidate
from discreet.query.design import Design
from discreet.query.statistic import Statistic
from discreet.query.words import statistic_text

__all__ = ["AccountLine", "Estimate", "StrategyLine", "strategy_lines"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountLine:
    """One account: what would be charged, what is left now, and what would be left; `fits` if that is enough."""

    account: str
    charged: str
    left: str
    after: str
    fits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyLine:
    """One way to measure one statistic: the standard deviation to expect in one cell, as a number or a formula."""

    statistic: str
    strategy: str
    error: str
    taken: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The cost of a question, and the errors to expect."""

    guarantee: str
    accounts: tuple[AccountLine, ...]
    strategies: tuple[StrategyLine, ...]
    estimand: tuple[str, ...]
    paid_before: bool

    @property
    def fits(self) -> bool:
        """Whether every account has enough left, or the answer was paid for before."""
        return self.paid_before or all(line.fits for line in self.accounts)

    @property
    def taken(self) -> tuple[StrategyLine, ...]:
        """What would be done."""
        return tuple(line for line in self.strategies if line.taken)

    def costs(self) -> tuple[str, ...]:
        """What would be charged and what would stay, for people."""
        if self.paid_before:
            return ("This was paid for before: it is given again for nothing.",)
        return tuple(
            f"Charges {one.account} {one.charged}; {one.left} is left, {one.after} after that."
            if one.fits
            else f"Would charge {one.account} {one.charged}, and only {one.left} is left: it would be refused."
            for one in self.accounts
        )

    def sentences(self) -> tuple[str, ...]:
        """For people."""
        errors = (f"{one.statistic}: expect an error of {one.error}, by {one.strategy}." for one in self.taken)
        return (*self.costs(), *errors, *self.estimand)

    def grid(self, *, every: bool = False) -> Grid:
        """The strategies taken, or every one there is."""
        names = ("statistic", "strategy", "error to expect in a cell")
        lines = self.strategies if every else self.taken
        rows = tuple(
            (one.statistic, f"{one.strategy}{' (taken)' if every and one.taken else ''}", one.error) for one in lines
        )
        return Grid("What to expect", tuple(GridColumn(name) for name in names), rows)

    def as_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "guarantee": self.guarantee,
            "paid before": self.paid_before,
            "accounts": [
                {"account": one.account, "charged": one.charged, "left": one.left, "after": one.after, "fits": one.fits}
                for one in self.accounts
            ],
            "strategies": [
                {"statistic": one.statistic, "strategy": one.strategy, "error": one.error, "taken": one.taken}
                for one in self.strategies
            ],
            "estimand": list(self.estimand),
        }


def strategy_lines(design: Design) -> tuple[StrategyLine, ...]:
    """Every candidate of every piece, those taken first; last the clipped way, which nobody gets who does not ask."""
    lines = []
    for designed, piece, candidates in design.listed:
        taken = designed.taken[designed.pieces.index(piece)] if piece in designed.pieces else None
        ordered = sorted(candidates, key=lambda one: (one is not taken, one.opened is not None, one.score))
        if not any(one.opened for one in candidates):
            ways = dict.fromkeys(one.allowance for one in candidates)
            asides = (clipped_candidate(piece, designed.demand, designed.contract, way) for way in ways)
            ordered += [one for one in asides if one is not None]
        for candidate in ordered:
            for statistic, expected in zip(piece.statistics, candidate.expected, strict=True):
                lines.append(_line(statistic, candidate.name, expected.text(), candidate is taken))
    return tuple(lines)


def _line(statistic: Statistic, strategy: str, error: str, taken: bool) -> StrategyLine:
    return StrategyLine(statistic=statistic_text(statistic), strategy=strategy, error=error, taken=taken)
