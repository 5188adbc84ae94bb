"""Pearson's test of draws against a law, for tests of samplers over few outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction
from typing import TypeVar

from scipy.stats import chi2

Outcome = TypeVar("Outcome", bound=Hashable)
_LEAST_EXPECTED = 8


def p_value(draws: Iterable[Outcome], law: Mapping[Outcome, Fraction | float]) -> float:
    """The chance of a fit as bad as this one; cells with few expected draws are taken together."""
    seen = Counter(draws)
    assert not set(seen) - set(law), "a draw outside the law"
    total, rare_seen, rare_expected, distance, cells = sum(seen.values()), 0.0, 0.0, 0.0, 0
    for outcome, chance in law.items():
        expected = total * float(chance)
        if expected < _LEAST_EXPECTED:
            rare_seen, rare_expected = rare_seen + seen[outcome], rare_expected + expected
        else:
            distance, cells = distance + (seen[outcome] - expected) ** 2 / expected, cells + 1
    if rare_expected > 1:
        distance, cells = distance + (rare_seen - rare_expected) ** 2 / rare_expected, cells + 1
    return float(chi2.sf(distance, cells - 1)) if cells > 1 else 1.0


def fits(draws: Iterable[Outcome], law: Mapping[Outcome, Fraction | float]) -> bool:
    """Whether the draws may well come from the law."""
    return p_value(draws, law) > 1e-4
