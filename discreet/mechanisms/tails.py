"""The laws behind the samplers, each given by its tails alone.

A law lives on outcomes numbered 0, 1, 2, … and is fixed by S(j) = P(number ≥ j). `tails` gives integers around
2^precision · S(j) for j = 1, 2, …, rounded outwards; an outcome's number becomes a value by `value`. Numbers run
through the values from the likeliest outwards (0, 1, −1, 2, −2, … when two-sided), so that a law has one tail only.

Closed forms, with a the weight of one step:

* geometric                 S(j) = a^j
* one digit below m         S(j) = (a^j − a^m) / (1 − a^m)
* sign                      S(1) = 2a/(1 + a),  S(2) = a/(1 + a)
* two-sided geometric       S(2k) = a^k,  S(2k − 1) = 2a^k/(1 + a)
* Gaussian                  sums of e^(−(uk)²/(2σ²)), the cut tail bounded by a geometric series
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from discreet.mechanisms.decay import Decay
from discreet.mechanisms.enclosure import exp_fixed

__all__ = ["Digit", "GaussianLaw", "GeometricLaw", "HalfGaussianLaw", "LaplaceLaw", "SignLaw", "TailLaw"]

Enclosures = list[tuple[int, int]]
_GUARD = 32
_NEARNESS_DIGITS = 30


class TailLaw(Protocol):
    """A law on numbered outcomes, known by its tails. Laws are values: equal ones share one table."""

    def tails(self, precision: int, depth: int) -> Enclosures:
        """Integers around 2^precision · S(j) for j = 1, 2, … up to the first S(j) below 2^−depth."""
        ...

    def value(self, number: int) -> int:
        """The value that stands at this number."""
        ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class GeometricLaw:
    """P(k) = (1 − a)·a^k for k ≥ 0, with a the weight of `unit` steps."""

    decay: Decay
    unit: int = 1

    def tails(self, precision: int, depth: int) -> Enclosures:
        """S(j) = a^j."""
        return [_cut(power) for power in _powers(self.decay, self.unit, precision, depth)]

    def value(self, number: int) -> int:
        """The number itself."""
        return number


@dataclass(frozen=True, slots=True)
class Digit:
    """G mod `radix` for a geometric G: P(k) ∝ a^k for 0 ≤ k < radix."""

    decay: Decay
    unit: int
    radix: int

    def tails(self, precision: int, depth: int) -> Enclosures:  # noqa: ARG002 (a digit has no endless tail)
        """S(j) = (a^j − a^m)/(1 − a^m), and 0 for j = m."""
        # The subtractions below lose as many bits as the weight of one step is close to 1.
        step = 1 - self.decay.bounds(self.unit, _NEARNESS_DIGITS)[1]
        width = precision + math.ceil(1 / step).bit_length()
        powers = _powers(self.decay, self.unit, width, width)
        ladder = [next(powers, (0, 1)) for _ in range(self.radix)]
        last_low, last_high = ladder.pop()
        one = 1 << (width + _GUARD)
        found = [
            _ratio((low - last_high, high - last_low), (one - last_high, one - last_low), precision)
            for low, high in ladder
        ]
        return [*found, (0, 0)]

    def value(self, number: int) -> int:
        """The number itself."""
        return number


@dataclass(frozen=True, slots=True)
class SignLaw:
    """The sign of a two-sided geometric value: 0, 1 or −1."""

    decay: Decay

    def tails(self, precision: int, depth: int) -> Enclosures:  # noqa: ARG002 (three outcomes have no endless tail)
        """S(1) = 2a/(1 + a), S(2) = a/(1 + a), S(3) = 0."""
        low, high = self.decay.fixed(1, precision + _GUARD)
        one = 1 << (precision + _GUARD)
        least, most = _ratio((low, high), (one + low, one + high), precision)
        return [(2 * least, 2 * most), (least, most), (0, 0)]

    def value(self, number: int) -> int:
        """0, 1, −1."""
        return (0, 1, -1)[number]


@dataclass(frozen=True, slots=True)
class LaplaceLaw:
    """P(k) = (1 − a)/(1 + a) · a^|k|, with a the weight of one step."""

    decay: Decay

    def tails(self, precision: int, depth: int) -> Enclosures:
        """S(2k − 1) = 2a^k/(1 + a), S(2k) = a^k."""
        one = 1 << (precision + _GUARD)
        first_low, first_high = self.decay.fixed(1, precision + _GUARD)
        divisor = one + first_low, one + first_high
        found: Enclosures = []
        for low, high in _powers(self.decay, 1, precision, depth):
            found += [_ratio((2 * low, 2 * high), divisor, precision), _cut((low, high))]
        return found

    def value(self, number: int) -> int:
        """0, 1, −1, 2, −2, …"""
        return _alternate(number)


@dataclass(frozen=True, slots=True)
class HalfGaussianLaw:
    """P(k) ∝ e^(−(unit·k)²/(2σ²)) for k ≥ 0."""

    sigma_squared: Fraction
    unit: int = 1

    def tails(self, precision: int, depth: int) -> Enclosures:
        """Sums of the weights from j on, over the sum of all."""
        return _from_weights(_gaussian(self.sigma_squared / self.unit**2, precision + _GUARD), precision, depth)

    def value(self, number: int) -> int:
        """The number itself."""
        return number


@dataclass(frozen=True, slots=True)
class GaussianLaw:
    """P(k) ∝ e^(−k²/(2σ²)) for all whole k."""

    sigma_squared: Fraction

    def tails(self, precision: int, depth: int) -> Enclosures:
        """Sums of the weights that stand at j and after, over the sum of all."""
        weights, rest = _gaussian(self.sigma_squared, precision + _GUARD)
        both = weights[:1] + [weight for weight in weights[1:] for _ in range(2)]
        return _from_weights((both, 2 * rest), precision, depth)

    def value(self, number: int) -> int:
        """0, 1, −1, 2, −2, …"""
        return _alternate(number)


def _alternate(number: int) -> int:
    return (number + 1) // 2 if number % 2 else -(number // 2)


def _cut(enclosure: tuple[int, int]) -> tuple[int, int]:
    """Drop the guard bits, outwards."""
    return enclosure[0] >> _GUARD, -(-enclosure[1] >> _GUARD)


def _ratio(part: tuple[int, int], whole: tuple[int, int], precision: int) -> tuple[int, int]:
    """Integers around 2^precision · part/whole, where the part may be zero and the whole is not."""
    return (max(part[0], 0) << precision) // whole[1], -(-(part[1] << precision) // whole[0])


def _powers(decay: Decay, unit: int, precision: int, depth: int) -> Iterator[tuple[int, int]]:
    """Integers, with guard bits, around the powers of one unit's weight, up to the first below 2^−depth."""
    width = precision + _GUARD
    first_low, first_high = low, high = decay.fixed(unit, width)
    yield low, high
    while high >> (width - depth):
        low, high = low * first_low >> width, -(-high * first_high >> width)
        yield low, high


def _gaussian(sigma_squared: Fraction, width: int) -> tuple[Enclosures, int]:
    """Integers around 2^width · e^(−k²/(2σ²)) for k = 0, 1, …, and a bound on the sum of all that follow.

    Beyond k ≥ max(1, σ) each weight is at most e^(−k/σ²) ≤ 1 − 1/(2·max(1, σ)) of the one before.
    """
    reach = math.isqrt(math.ceil(sigma_squared)) + 1
    step_low, step_high = exp_fixed(1 / sigma_squared, width)
    ratio_low, ratio_high = exp_fixed(1 / (2 * sigma_squared), width)
    low = high = 1 << width
    weights: Enclosures = []
    while high > 1 or len(weights) <= reach:
        weights.append((low, high))
        low, high = low * ratio_low >> width, -(-high * ratio_high >> width)
        ratio_low, ratio_high = ratio_low * step_low >> width, -(-ratio_high * step_high >> width)
    return weights, 2 * reach * high


def _from_weights(weighted: tuple[Enclosures, int], precision: int, depth: int) -> Enclosures:
    """Tails of the law whose outcomes weigh so much."""
    weights, rest = weighted
    sums: Enclosures = []
    low, high = 0, rest
    for least, most in reversed(weights):
        low, high = low + least, high + most
        sums.append((low, high))
    whole = sums.pop()
    found: Enclosures = []
    for low, high in reversed(sums):
        found.append(_ratio((low, high), whole, precision))
        if found[-1][1] >> (precision - depth) == 0:
            break
    return found
