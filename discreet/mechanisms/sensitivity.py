"""How far a statistic can move: anywhere, here, and within k steps of here. Replace-one; n is public.

With records sorted, x_(i) = low for i < 1 and high for i > n, m = (n + 1)/2:

* mean     anywhere (high − low)/n; here max over i of max(high − x_i, x_i − low)/n; from one step on, anywhere.
* median   anywhere high − low; within k steps the largest x_(m+t) − x_(m+t−k−1) for 0 ≤ t ≤ k + 1 (n odd).
* maximum  anywhere high − low; within k steps the larger of high − x_(n−k) and x_(n) − x_(n−k−1): lower the k highest
           and the next change raises one to high, or lower the k below the highest and the next change lowers it.

Terms: global sensitivity, the largest change of the statistic between any two neighbours; local, between this table and
its neighbours; k-step, the largest local sensitivity among tables at most k replaced records away; distance, the least
k whose k-step sensitivity passes a bound.

Reference: Nissim, Raskhodnikova and Smith 2007; Dwork and Lei 2009.

What it does not promise: privacy. A local sensitivity is itself confidential, and noise scaled to it tells it
(`catalogue.py` holds the counterexamples). Bounds are public: a bound read off the data, such as the largest
absolute value, is no bound on the neighbours.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import ArgumentError

__all__ = ["Maximum", "Mean", "Median", "Statistic"]


@dataclass(frozen=True, slots=True)
class Statistic(ABC):
    """A statistic of whole numbers between public bounds. Records beyond a bound count as the bound."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low >= self.high:
            raise ArgumentError(
                "bounds", found=f"{self.low} to {self.high}", right="low lies below high", step="exchange the bounds"
            )

    @abstractmethod
    def value(self, records: Sequence[int]) -> Fraction:
        """The statistic itself: confidential."""

    @abstractmethod
    def everywhere(self, size: int) -> Fraction:
        """The global sensitivity for a public number of records."""

    @abstractmethod
    def within(self, records: Sequence[int], steps: int) -> Fraction:
        """The k-step sensitivity: the largest local one among tables at most that many replaced records away."""

    def here(self, records: Sequence[int]) -> Fraction:
        """The local sensitivity: confidential."""
        return self.within(records, 0)

    def distance(self, records: Sequence[int], bound: Fraction | int) -> int | None:
        """How many records must be replaced for the local sensitivity to pass the bound; None if it never does.

        It moves by at most 1 when one record is replaced, which is why a noisy test of it is private.
        """
        size = len(records)
        if bound >= self.everywhere(size):
            return None
        least, most = 0, size  # within n steps every table is reached
        while least < most:
            middle = (least + most) // 2
            if self.within(records, middle) > bound:
                most = middle
            else:
                least = middle + 1
        return least

    def _sorted(self, records: Sequence[int]) -> list[int]:
        """The records between the bounds, ascending."""
        if not records:
            raise ArgumentError(
                "records", found="none", right="n is public here and at least 1", step="ask for a count first"
            )
        return sorted(min(max(record, self.low), self.high) for record in records)

    def _at(self, ascending: Sequence[int], rank: int) -> int:
        if rank < 1:
            return self.low
        return ascending[rank - 1] if rank <= len(ascending) else self.high


class Mean(Statistic):
    """The arithmetic mean."""

    __slots__ = ()

    def value(self, records: Sequence[int]) -> Fraction:
        """The mean of the records between the bounds."""
        return Fraction(sum(self._sorted(records)), len(records))

    def everywhere(self, size: int) -> Fraction:
        """(high − low)/n."""
        return Fraction(self.high - self.low, size)

    def within(self, records: Sequence[int], steps: int) -> Fraction:
        """One step moves a record to an end, from where the next one moves it to the other."""
        if steps:
            return self.everywhere(len(records))
        ascending = self._sorted(records)
        return Fraction(max(self.high - ascending[0], ascending[-1] - self.low), len(records))


class Median(Statistic):
    """The middle one of an odd number of records."""

    __slots__ = ()

    def value(self, records: Sequence[int]) -> Fraction:
        """The record of rank (n + 1)/2."""
        ascending = self._odd(records)
        return Fraction(ascending[len(ascending) // 2])

    def everywhere(self, size: int) -> Fraction:  # noqa: ARG002 (the same for every n)
        """high − low."""
        return Fraction(self.high - self.low)

    def within(self, records: Sequence[int], steps: int) -> Fraction:
        """The widest window of k + 2 ranks that holds the middle one."""
        ascending = self._odd(records)
        middle = (len(ascending) + 1) // 2
        return Fraction(
            max(
                self._at(ascending, middle + shift) - self._at(ascending, middle + shift - steps - 1)
                for shift in range(min(steps, len(ascending)) + 2)
            )
        )

    def _odd(self, records: Sequence[int]) -> list[int]:
        ascending = self._sorted(records)
        if len(ascending) % 2 == 0:
            raise ArgumentError(
                "records", found="an even number", right="this median needs an odd n", step="use choose_quantile"
            )
        return ascending


class Maximum(Statistic):
    """The largest record."""

    __slots__ = ()

    def value(self, records: Sequence[int]) -> Fraction:
        """The record of rank n."""
        return Fraction(self._sorted(records)[-1])

    def everywhere(self, size: int) -> Fraction:  # noqa: ARG002 (the same for every n)
        """high − low."""
        return Fraction(self.high - self.low)

    def within(self, records: Sequence[int], steps: int) -> Fraction:
        """From high down past k records, or from the maximum down past the k below it."""
        ascending, size = self._sorted(records), len(records)
        highest, left = ascending[-1], size - steps
        return Fraction(max(self.high - self._at(ascending, left), highest - self._at(ascending, left - 1)))
