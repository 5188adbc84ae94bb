"""A uniform real in [0, 1) of which only as many bits exist as a comparison has asked for.

Comparing it with a boundary that is known between two integers is exact: the bits drawn so far either decide, or more
of them are drawn and the boundary is computed more closely. The expected number of extra bits is below two words.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from discreet.randomness import Bits

__all__ = ["LazyUniform", "integers_below"]

Enclosure = Callable[[int], tuple[int, int]]
_FIRST_BITS = 64


class LazyUniform:
    """One uniform real; its binary digits are fixed once drawn."""

    __slots__ = ("_bits", "_known", "_precision")

    def __init__(self, bits: Bits, known: int | None = None, precision: int = _FIRST_BITS) -> None:
        self._bits, self._precision = bits, precision
        self._known = bits.bits(precision) if known is None else known

    def below(self, boundary: Enclosure) -> bool:
        """Whether the uniform lies below a boundary, given as boundary(p) = integers around 2^p times it.

        Given: enclosures that shrink as p grows, and independent uniform bits.
        Promise: True with probability exactly the boundary, and consistent over all comparisons of one uniform.
        Because: an answer is given only when the interval of the bits known lies on one side of the enclosure.
        Tested: tests/mechanisms/test_decay.py::test_a_flip_is_exact_to_every_bit_it_draws
        """
        while True:
            lower, upper = boundary(self._precision)
            if self._known < lower:
                return True
            if self._known >= upper:
                return False
            self._known = self._known << self._precision | self._bits.bits(self._precision)
            self._precision *= 2


def integers_below(bound: int, count: int, bits: Bits) -> npt.NDArray[np.int64]:
    """That many independent uniform integers in [0, bound), bound at most 2^63.

    Given: independent uniform bits.
    Promise: each of the integers has probability exactly 1/bound.
    Because: words are cut to the bits of bound − 1, and those not below the bound are drawn again.
    Tested: tests/mechanisms/test_samplers.py::test_bounded_integers_are_uniform
    """
    if not 1 <= bound <= 1 << 63:
        raise ValueError(f"bound={bound} must lie in [1, 2^63]")
    shift = np.uint64(64 - max(1, (bound - 1).bit_length()))
    accepted = np.empty(count, dtype=np.int64)
    filled = 0
    while filled < count:
        words = bits.words(2 * (count - filled)) >> shift
        kept = words[words < bound][: count - filled]
        accepted[filled : filled + len(kept)] = kept
        filled += len(kept)
    return accepted
