"""How fast probabilities fall with the distance from the truth: one frozen value, in two forms.

* `Exponential(rate)`: k steps weigh e^(−rate·k). A public ε gives this.
* `Powers(base)`: k steps weigh base^(−k), for whole k. It is ε = ln(base), and makes every law rational.

A mechanism that takes a `Decay` runs one code path for both, so the very path that a release takes with `Exponential`
is enumerated in exact fractions with `Powers`. That is what a certificate rests on.

Terms: step, the unit in which a mechanism measures how far an output is from the best one; weight, what an output so
far away counts relative to the best.

What it does not promise: a decay is not a guarantee. Which steps a mechanism counts, and so what one person can change,
is the mechanism's own proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from discreet import check
from discreet.errors import ArgumentError
from discreet.mechanisms.enclosure import exp_fixed, exp_fraction
from discreet.mechanisms.uniform import LazyUniform
from discreet.randomness import Bits

__all__ = ["Decay", "Exponential", "Powers", "decay_of"]

Steps = Fraction | int
_EXACT_STEPS = 64


@dataclass(frozen=True, slots=True)
class Exponential:
    """k steps weigh e^(−rate·k); k may be any fraction ≥ 0."""

    rate: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", check.positive("rate", self.rate))

    def flip(self, steps: Steps, bits: Bits) -> bool:
        """True with probability e^(−rate·steps).

        Given: steps ≥ 0 and independent uniform bits.
        Promise: the probability is exactly the weight.
        Because: a uniform real, known to more and more bits, is compared with integers that enclose the weight.
        Tested: tests/mechanisms/test_decay.py::test_a_flip_is_exact_to_every_bit_it_draws
        """
        return LazyUniform(bits).below(partial(self.fixed, steps))

    def fixed(self, steps: Steps, precision: int) -> tuple[int, int]:
        """Integers around 2^precision times the weight."""
        return exp_fixed(self.rate * _at_least_zero(steps), precision)

    def bounds(self, steps: Steps, digits: int) -> tuple[Fraction, Fraction]:
        """Fractions around the weight that agree to that many significant digits."""
        return exp_fraction(self.rate * _at_least_zero(steps), digits)

    def scaled(self, factor: Fraction) -> Exponential:
        """The decay whose every step is worth `factor` of these."""
        return Exponential(self.rate * factor)


@dataclass(frozen=True, slots=True)
class Powers:
    """k steps weigh base^(−k), a fraction; k is a whole number ≥ 0. This is ε = ln(base)."""

    base: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", check.positive("base", self.base))
        if self.base <= 1:
            raise ArgumentError(
                "base", found=f"{self.base}", right="it must be above 1", step="give a base such as 2 for ε = ln 2"
            )

    def flip(self, steps: Steps, bits: Bits) -> bool:
        """True with probability base^(−steps).

        Given: whole steps ≥ 0 and independent uniform bits.
        Promise: the probability is exactly the weight.
        Because: it runs the comparison that `Exponential.flip` runs.
        Tested: tests/mechanisms/test_decay.py::test_a_flip_is_exact_to_every_bit_it_draws
        """
        return LazyUniform(bits).below(partial(self.fixed, steps))

    def fixed(self, steps: Steps, precision: int) -> tuple[int, int]:
        """Integers around 2^precision times the weight."""
        # By Bernoulli's inequality base^halving ≥ 2, so that many steps times the precision weigh under one unit.
        halving = -(-1 // (self.base - 1))
        if _at_least_zero(steps) > precision * halving:
            return 0, 1
        if steps > _EXACT_STEPS:
            guard = int(steps).bit_length() + 8
            low, high = _power(self.fixed(1, precision + guard), int(steps), precision + guard)
            return low >> guard, -(-high >> guard)
        weight = self.weight(steps)
        whole, rest = divmod(weight.numerator << precision, weight.denominator)
        return whole, whole + (rest > 0)

    def bounds(self, steps: Steps, digits: int) -> tuple[Fraction, Fraction]:  # noqa: ARG002 (exact at any digits)
        """The weight, twice: nothing is rounded."""
        weight = self.weight(steps)
        return weight, weight

    def weight(self, steps: Steps) -> Fraction:
        """base^(−steps)."""
        whole = _at_least_zero(steps)
        if whole.denominator != 1:
            raise ArgumentError(
                "steps",
                found="a broken number of steps",
                right="powers of a rational base are rational for whole steps only",
                step="scale the decay so that the steps become whole, or use an exponential decay",
            )
        return self.base**-whole.numerator

    def scaled(self, factor: Fraction) -> Powers:
        """The decay whose every step is worth `factor` of these, where base^factor is a fraction."""
        factor = check.positive("factor", factor)
        order = factor.denominator
        roots = _root(self.base.numerator, order), _root(self.base.denominator, order)
        if roots[0] ** order != self.base.numerator or roots[1] ** order != self.base.denominator:
            raise ArgumentError(
                "factor",
                found=f"{factor}",
                right=f"{self.base} to that power must be a fraction",
                step=f"give a base that is a perfect power of order {order}, such as {2**order}",
            )
        return Powers(Fraction(roots[0], roots[1]) ** factor.numerator)


Decay = Exponential | Powers


def decay_of(epsilon: Decay | check.Number | str) -> Decay:
    """The decay of a mechanism: a number is the public ε, a decay passes through."""
    if isinstance(epsilon, Exponential | Powers):
        return epsilon
    return Exponential(check.positive("epsilon", epsilon))


def _power(weight: tuple[int, int], exponent: int, width: int) -> tuple[int, int]:
    """Integers around 2^width times the power of a number known between two such integers."""
    low = high = 1 << width
    for digit in format(exponent, "b"):
        low, high = low * low >> width, -(-high * high >> width)
        if digit == "1":
            low, high = low * weight[0] >> width, -(-high * weight[1] >> width)
    return low, high


def _at_least_zero(steps: Steps) -> Fraction:
    exact = check.exact("steps", steps)
    if exact < 0:
        raise ArgumentError(
            "steps", found="a negative number of steps", right="it must be at least 0", step="measure from the best"
        )
    return exact


def _root(number: int, order: int) -> int:
    """The largest integer whose power of that order is at most the number."""
    low, high = 0, 1 << (number.bit_length() // order + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**order <= number else (low, middle)
    return low
