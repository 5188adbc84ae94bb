"""An exact inverse-CDF table with a guide in front of it.

1. A law is given by its tails S(j) = P(number ≥ j). With V uniform in [0, 1), the count of the j with V < S(j) has
   exactly that law.
2. The table holds, for each j, the integers that enclose 2^width · S(j). The first `width` bits of V decide every
   comparison but those with a tail whose enclosure they hit: such a tie is resolved by further bits of V and a closer
   enclosure. The tail beyond the table is the tie with the word 0.
3. The guide knows, for each value of the first 16 bits, the outcome when no boundary lies in that cell. The other
   bits of V are drawn for the few that fall into a cell with a boundary, and only for these.

Terms: word, the first bits of V; tie, a word that does not decide. Reference: the inverse-CDF method with lazy bits
and Chen and Asau's guide table. What it does not promise: constant time for a single draw (see `reservoir`).
"""

from __future__ import annotations

from functools import cached_property, lru_cache, partial

import numpy as np
import numpy.typing as npt

from discreet.mechanisms.tails import TailLaw
from discreet.mechanisms.uniform import LazyUniform
from discreet.randomness import Bits

__all__ = ["LARGEST", "Integers", "Table", "append_digit", "table_of"]

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
LARGEST = (1 << 63) - 1
_MORE_BITS = 64
_GUIDE_BITS = 16
_WORTH_A_GUIDE = 1 << 14
_AMBIGUOUS = np.iinfo(np.int16).min
_TABLES_KEPT = 128


class Table:
    """Draws from one law.

    Given: a law by its tails, and independent uniform bits.
    Promise: each draw is independent and follows the law exactly; a value beyond ±(2^63 − 1) is given as that end.
    Because: a word decides a comparison only where it lies outside the enclosure of the boundary; every other
        comparison is made by `LazyUniform`, which is exact. How closely the table was computed changes the number of
        ties and nothing else.
    Tested: tests/mechanisms/test_samplers.py::test_every_word_of_a_small_table_falls_where_fractions_say
    """

    def __init__(self, law: TailLaw, width: int = 64) -> None:
        self.law, self.width = law, width
        shift = _MORE_BITS
        enclosures = law.tails(width + shift, width)
        top = (1 << width) - 1
        # Ascending, as searchsorted wants them. A tail may round up to 1, which no word reaches.
        self._least = np.array([low >> shift for low, _ in reversed(enclosures)], dtype=np.uint64)
        self._most = np.array([min(high >> shift, top) for _, high in reversed(enclosures)], dtype=np.uint64)
        # The last tail lies below every word but 0, so that no word surely reaches past it.
        self._values = np.array([law.value(number) for number in range(len(enclosures))], dtype=np.int64)

    @property
    def outcomes(self) -> int:
        """How many values the table tells apart by words alone."""
        return len(self._values)

    def draw(self, count: int, bits: Bits) -> Integers:
        """That many independent draws."""
        if count >= _WORTH_A_GUIDE:
            return self._draw_guided(count, bits)
        return self.read(bits.words(count) >> np.uint64(64 - self.width), bits)

    def read(self, words: Words, bits: Bits) -> Integers:
        """The values of uniforms whose first bits are these words; ties draw on."""
        number = len(self._least) - self._least.searchsorted(words, side="right")
        highest = len(self._most) - self._most.searchsorted(words, side="left")
        values = self._values[number]
        for place in np.flatnonzero(number != highest):
            values[place] = self._resolve(int(words[place]), int(number[place]), bits)
        return values

    def _draw_guided(self, count: int, bits: Bits) -> Integers:
        cells = bits.words(-(-count // 4)).view(np.uint16)[:count]
        values = self._guide.take(cells).astype(np.int64)
        open_places = np.flatnonzero(values == _AMBIGUOUS)
        more = np.uint64(self.width - _GUIDE_BITS)
        words = cells[open_places].astype(np.uint64) << more
        words |= bits.words(len(open_places)) >> (np.uint64(64) - more)
        values[open_places] = self.read(words, bits)
        return values

    @cached_property
    def _guide(self) -> npt.NDArray[np.int16]:
        """The value of each cell of first bits, or `_AMBIGUOUS` where a boundary or its enclosure lies in the cell."""
        more = np.uint64(self.width - _GUIDE_BITS)
        cells = np.arange(1 << _GUIDE_BITS, dtype=np.uint64) << more
        last = cells | (np.uint64(1) << more) - np.uint64(1)
        number = len(self._least) - self._least.searchsorted(last, side="right")
        highest = len(self._most) - self._most.searchsorted(cells, side="left")
        return np.where(number == highest, self._values[number], _AMBIGUOUS).astype(np.int16)

    def _resolve(self, word: int, number: int, bits: Bits) -> int:
        """Walk on from a number that is certainly reached, one exact comparison at a time."""
        uniform = LazyUniform(bits, known=word, precision=self.width)
        while uniform.below(partial(self._tail, number + 1)):
            number += 1
        return max(-LARGEST, min(LARGEST, self.law.value(number)))

    def _tail(self, number: int, precision: int) -> tuple[int, int]:
        enclosures = _tails(self.law, precision)
        # Past the end of the list a tail is below 2^−precision.
        return enclosures[number - 1] if number <= len(enclosures) else (0, 1)


def append_digit(high: Integers, radix: int, low: Integers) -> Integers:
    """high·radix + low for 0 ≤ low < radix; what would pass 2^63 − 1 stays there."""
    whole = high * radix + low
    whole[high > (LARGEST - radix + 1) // radix] = LARGEST
    return whole


@lru_cache(maxsize=_TABLES_KEPT)
def table_of(law: TailLaw) -> Table:
    """The law's table, computed once."""
    return Table(law)


@lru_cache(maxsize=_TABLES_KEPT)
def _tails(law: TailLaw, precision: int) -> list[tuple[int, int]]:
    return law.tails(precision, precision)
