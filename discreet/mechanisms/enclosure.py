"""Rational enclosures of the exponential, in integers alone.

No float decides a released outcome, so every comparison with e^(−x) is made against two integers that hold it
between them. The distance between the two shrinks with the precision asked for and is zero bits of trust in a libm.

1. Halve x until it is at most ½.
2. Sum the alternating series in fixed point; the error of each step is at most four units of the last place.
3. Square back, the lower end rounded down and the upper end rounded up.
"""

from __future__ import annotations

from fractions import Fraction

__all__ = ["exp_fixed", "exp_fraction"]

_HALVINGS_MORE = 4
_LARGEST = 1 << 14


def exp_fixed(exponent: Fraction, precision: int) -> tuple[int, int]:
    """Integers (lower, upper) with lower ≤ 2^precision · e^(−exponent) ≤ upper, at most 2 apart; exponent ≥ 0."""
    if exponent == 0:
        return 1 << precision, 1 << precision
    if exponent >= precision:
        return 0, 1
    whole = exponent.numerator // exponent.denominator
    halvings = whole.bit_length() + 1 + _HALVINGS_MORE
    guard = halvings + precision.bit_length() + 8
    width = precision + guard
    argument = (exponent.numerator << width) // (exponent.denominator << halvings)
    lower, upper = _series(argument, width)
    for _ in range(halvings):
        lower, upper = lower * lower >> width, -(-upper * upper >> width)
    return lower >> guard, -(-upper >> guard)


def exp_fraction(exponent: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Fractions (lower, upper) around e^(−exponent) that agree to that many significant decimal digits.

    Beyond an exponent of 2^14 the value is no longer worth its bits: the lower end is 0 then.
    """
    if exponent > _LARGEST:
        return Fraction(0), Fraction(1, 1 << _LARGEST)
    # 13/9 > 1/ln 2 bits are lost to the size of the value, 10/3 > log2(10) bits make a digit.
    size = 13 * (exponent.numerator // exponent.denominator + 1) // 9
    precision = size + 10 * digits // 3 + 4
    lower, upper = exp_fixed(exponent, precision)
    return Fraction(lower, 1 << precision), Fraction(upper, 1 << precision)


def _series(argument: int, width: int) -> tuple[int, int]:
    """Bounds on 2^width · e^(−argument/2^width) for an argument known to one unit below and at most 2^(width−1)."""
    total = term = 1 << width
    count = 0
    while term:
        count += 1
        term = (term * argument >> width) // count
        total += -term if count % 2 else term
    # A term is wrong by at most half its predecessor's error plus two units: under four, and so is the cut tail.
    slack = 4 * (count + 1)
    return total - slack, total + slack
