"""Decays are exact: the enclosure holds the true value, a flip loses no bit, powers are rational."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.mechanisms.decay import Decay, Exponential, Powers, decay_of
from discreet.mechanisms.enclosure import exp_fixed, exp_fraction

fractions = st.fractions(min_value=0, max_value=60, max_denominator=10**9)


class Script:
    """Bits read off a given integer, most significant first; more of them than it has is an error."""

    certifiable = False

    def __init__(self, number: int, width: int) -> None:
        self._digits: Iterator[str] = iter(format(number, f"0{width}b"))

    def bits(self, count: int) -> int:
        return int("".join(next(self._digits) for _ in range(count)), 2)

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        return np.array([self.bits(64) for _ in range(count)], dtype=np.uint64)

    def below(self, bound: int) -> int:
        raise AssertionError(f"a flip draws no integer below {bound}")


def brute_exponential(exponent: Fraction) -> tuple[Fraction, Fraction]:
    """e^(−x) between two partial sums of the series of e^x in exact fractions."""
    total = term = Fraction(1)
    for count in range(1, 400):
        term = term * exponent / count
        total += term
    return 1 / (total + 2 * term), 1 / total


@given(fractions, st.integers(1, 200))
def test_the_enclosure_holds_the_exponential(exponent: Fraction, precision: int) -> None:
    lower, upper = exp_fixed(exponent, precision)
    least, most = brute_exponential(exponent)
    assert lower <= most * 2**precision
    assert upper >= least * 2**precision
    assert 0 <= upper - lower <= 2


@given(fractions, st.integers(1, 60))
def test_digits_are_significant_digits(exponent: Fraction, digits: int) -> None:
    lower, upper = exp_fraction(exponent, digits)
    least, most = brute_exponential(exponent)
    assert lower <= most
    assert upper >= least
    assert upper - lower <= lower / 10**digits


def test_an_enormous_exponent_costs_nothing_and_is_still_enclosed() -> None:
    assert exp_fixed(Fraction(10**30), 64) == (0, 1)
    assert Powers(Fraction(3, 2)).fixed(10**30, 64) == (0, 1)
    assert exp_fixed(Fraction(0), 64) == (1 << 64, 1 << 64)
    lower, upper = exp_fraction(Fraction(10**30), 20)
    assert lower == 0 < upper < Fraction(1, 10**1000)


@pytest.mark.parametrize(("decay", "steps"), [(Exponential(Fraction(1, 3)), 2), (Powers(Fraction(9, 4)), 3)])
def test_a_flip_is_exact_to_every_bit_it_draws(decay: Decay, steps: int) -> None:
    """Bits equal to those of the weight leave it undecided; the first bit that differs decides."""
    width = 256
    lower, upper = decay.fixed(steps, width)
    assert decay.flip(steps, Script(lower - 1, width)) is True
    assert decay.flip(steps, Script(upper, width)) is False
    for depth in (3, 64, 70, 127):
        flipped = lower ^ (1 << (width - 1 - depth))
        assert decay.flip(steps, Script(flipped, width)) is (flipped < lower)


@given(st.integers(0, 12), st.integers(1, 30), st.integers(31, 60))
def test_powers_weigh_what_the_powers_are(steps: int, small: int, large: int) -> None:
    decay = Powers(Fraction(large, small))
    assert decay.weight(steps) == Fraction(small**steps, large**steps)
    assert decay.bounds(steps, 3) == (decay.weight(steps),) * 2
    lower, upper = decay.fixed(steps, 64)
    assert lower <= decay.weight(steps) * 2**64 <= upper <= lower + 1


def test_scaling_multiplies_the_rate() -> None:
    assert Exponential(Fraction(3)).scaled(Fraction(1, 2)) == Exponential(Fraction(3, 2))
    assert Powers(Fraction(9, 4)).scaled(Fraction(1, 2)) == Powers(Fraction(3, 2))
    assert Powers(Fraction(8)).scaled(Fraction(2, 3)) == Powers(Fraction(4))
    with pytest.raises(ArgumentError, match="perfect power"):
        Powers(Fraction(2)).scaled(Fraction(1, 2))


def test_an_epsilon_becomes_an_exponential_and_a_decay_passes() -> None:
    assert decay_of(0.1) == Exponential(Fraction(1, 10))
    assert decay_of("1/3") == Exponential(Fraction(1, 3))
    powers = Powers(Fraction(2))
    assert decay_of(powers) is powers


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "nan", "", -0.0, True])
def test_an_epsilon_that_is_no_epsilon_is_refused(epsilon: float | str) -> None:
    with pytest.raises(ArgumentError):
        decay_of(epsilon)


def test_steps_below_zero_and_broken_powers_are_refused() -> None:
    with pytest.raises(ArgumentError, match="negative"):
        Exponential(Fraction(1)).bounds(-1, 5)
    with pytest.raises(ArgumentError, match="whole steps"):
        Powers(Fraction(2)).weight(Fraction(1, 2))
    with pytest.raises(ArgumentError, match="above 1"):
        Powers(Fraction(1))


@given(st.integers(2, 60), st.integers(65, 3000), st.sampled_from([10, 64, 200]))
def test_many_steps_of_powers_are_enclosed_without_the_whole_fraction(near: int, steps: int, precision: int) -> None:
    decay = Powers(Fraction(near + 1, near))
    lower, upper = decay.fixed(steps, precision)
    assert lower <= decay.weight(steps) * 2**precision <= upper <= lower + 2
