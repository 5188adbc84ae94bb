"""What a question may spend: the largest ρ that implies an (ε, δ), and the ways an account can be charged."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ArgumentError
from discreet.guarantee import ZCDP
from discreet.query.allowance import allowances, largest_rho, root_down

GRID = Fraction(1, 10**12)


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1, 2), Fraction(1), Fraction(8)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**9), Fraction(1, 10**6), Fraction(1, 100)])
def test_largest_rho_implies_what_it_says(epsilon: Fraction, delta: Fraction) -> None:
    """It converts to no more than ε at that δ, and the next point of the grid to more."""
    rho = largest_rho(epsilon, delta)
    assert ZCDP(rho).as_approx(delta).epsilon <= epsilon < ZCDP(rho + GRID).as_approx(delta).epsilon


def test_too_little_for_any_noise_is_refused() -> None:
    with pytest.raises(ArgumentError, match="no noise is enough"):
        largest_rho(Fraction(1, 10**13), Fraction(1, 10**30))


def test_delta_is_halved_only_where_keys_are_found() -> None:
    whole = allowances("pure", epsilon=1, delta="1e-6")
    found = allowances("pure", epsilon=1, delta="1e-6", keys=True)
    assert [way.law for way in whole] == [way.law for way in found] == ["laplace", "gaussian"]
    assert whole[1].implied == (Fraction(1), Fraction(1, 10**6))
    assert found[1].implied == (Fraction(1), Fraction(1, 2 * 10**6))
    assert not whole[1].delta
    assert found[1].delta == Fraction(1, 2 * 10**6)


@pytest.mark.parametrize(
    ("currency", "given"),
    [
        ("pure", {}),
        ("pure", {"epsilon": 1, "rho": 1}),
        ("pure", {"rho": 1}),
        ("pure", {"epsilon": 0}),
        ("pure", {"epsilon": "nan"}),
        ("zcdp", {"rho": -1}),
        ("zcdp", {"epsilon": 1, "delta": 2}),
    ],
)
def test_what_cannot_be_spent_is_refused(currency: str, given: dict[str, object]) -> None:
    with pytest.raises(ArgumentError):
        allowances(currency, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("square", [Fraction(2), Fraction(1, 3), Fraction(0), Fraction(10**9)])
def test_roots_round_down(square: Fraction) -> None:
    root = root_down(square)
    assert root**2 <= square < (root + GRID) ** 2 or not square
