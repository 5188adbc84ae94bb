"""Smooth sensitivity: the least bound on the local one that neighbours agree on up to a factor.

S(x) = max over k of base^(−k) · A(x, k), with A the k-step sensitivity and base = e^β rational, so that S is an exact
fraction and S(x) ≤ base · S(x') holds exactly. A β is rounded down to such a base: a smaller β only smooths more.

Terms: β, how fast the bound may fall from one neighbour to the next; `base_of` gives the base for a β.

Reference: Nissim, Raskhodnikova and Smith 2007.

What it does not promise: a release. The median has a choice with less error at pure ε, in `quantile.py`, and this
bound stands beside it for comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from discreet import check
from discreet.errors import ArgumentError
from discreet.mechanisms.enclosure import exp_fraction
from discreet.mechanisms.sensitivity import Statistic

__all__ = ["base_of", "smooth_sensitivity"]

_DIGITS = 12


def base_of(beta: Fraction | float | str) -> Fraction:
    """The largest short decimal fraction at most e^β."""
    _, upper = exp_fraction(check.positive("beta", beta), 2 * _DIGITS)
    base = Fraction(int(10**_DIGITS / upper), 10**_DIGITS)
    if base <= 1:
        raise ArgumentError(
            "beta", found=f"{beta}", right=f"it must be above 1e-{_DIGITS}", step="give a beta such as 0.03"
        )
    return base


def smooth_sensitivity(statistic: Statistic, records: Sequence[int], base: Fraction) -> Fraction:
    """The maximum over k of base^(−k) · A(x, k): confidential.

    Given: base > 1.
    Promise: it is at least the local sensitivity, and differs between neighbours by at most the factor base.
    Because: a table k steps from one is at most k + 1 steps from its neighbour, so each term of one maximum is at most
        base times a term of the other. From k = n on A does not grow, and earlier once base^(−k) · everywhere is
        below what was found.
    Tested: tests/mechanisms/test_testing.py::test_smooth_sensitivity_is_smooth_and_the_brute_force_maximum
    """
    if base <= 1:
        raise ArgumentError("base", found=f"{base}", right="it must be above 1", step="take base_of(beta)")
    size, everywhere = len(records), statistic.everywhere(len(records))
    found, weight = Fraction(0), Fraction(1)
    for steps in range(size + 1):
        if weight * everywhere <= found:
            break
        found = max(found, weight * statistic.within(records, steps))
        weight /= base
    return found
