"""Keepers who answer counts: exactly, with small counts suppressed, or under differential privacy from a budget.

Attacks see a keeper as a callable from a clause to a number, or to None where the answer is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from discreet.attacks.condition import Clause, select
from discreet.check import Number, at_least, positive
from discreet.mechanisms.noise import LaplaceNoise, release
from discreet.randomness import Bits

__all__ = ["Keeper", "Records", "exact_keeper", "large_group_keeper", "private_keeper", "suppressing_keeper"]

Keeper: TypeAlias = Callable[[Clause], float | None]
Records: TypeAlias = Mapping[str, Sequence[object]]


def exact_keeper(records: Records) -> Keeper:
    """Answers every count exactly."""
    return lambda clause: float(select(records, clause).sum())


def suppressing_keeper(records: Records, *, least: int = 5) -> Keeper:
    """Refuses counts below a threshold, as many offices do."""
    at_least("least", least, 1)

    def answer(clause: Clause) -> float | None:
        count = int(select(records, clause).sum())
        return float(count) if count >= least else None

    return answer


def large_group_keeper(records: Records, secret: str, *, least: int = 5) -> Keeper:
    """Refuses where the other conditions leave fewer people than a threshold, however many of them have the secret."""
    at_least("least", least, 1)

    def answer(clause: Clause) -> float | None:
        group = tuple(one for one in clause if one.column != secret)
        return float(select(records, clause).sum()) if int(select(records, group).sum()) >= least else None

    return answer


def private_keeper(
    records: Records, *, epsilon: Number | str, budget: Number | str, bits: Bits, teaching: bool = False
) -> Keeper:
    """Answers each count with Laplace noise worth ε, until the budget is spent; then refuses.

    Given: neighbours differ in one record, which moves a count by at most 1.
    Promise: all answers together cost no more than the budget.
    Because: each costs ε, and an answer that would exceed the budget is not computed.
    Tested: test_private_keeper_stops_when_its_budget_is_spent
    """
    price, left = positive("epsilon", epsilon), [positive("budget", budget)]
    noise = LaplaceNoise.for_guarantee(sensitivity=1, epsilon=price)

    def answer(clause: Clause) -> float | None:
        if price > left[0]:
            return None
        left[0] -= Fraction(price)
        return float(release(int(select(records, clause).sum()), noise, bits, teaching=teaching).value)

    return answer
