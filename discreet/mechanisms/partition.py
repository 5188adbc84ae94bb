"""Which keys may be shown, when the keys themselves come from the data.

A key that only one person has must stay hidden but for probability δ. Two ways:

* `StabilityThreshold`: each count gets noise; those that reach a threshold are shown with their noisy count.
  1. One person's rows are bounded: so many keys, so many rows in all, so many in one key (`Reach`).
  2. Noise is scaled to the rows one person can move; keys without rows get none and are never shown.
  3. δ is the chance that any key which one person alone lights reaches the threshold, in the worst split of that
     person's rows over keys.
* `PartitionSelection`: each key is shown with the largest chance that (ε, δ) allows for its number of persons.

Terms: to light a key, to be the only person who has it; split, how one person's rows lie over the keys.

References: Korolova and others 2009; Bun, Nissim and Stemmer 2016; Desfontaines, Voss, Gipson and Mandayam 2022.

What it does not promise: anything for public keys, which need no threshold and should always be shown; nor that a
person's rows were bounded, which is done before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from discreet import check
from discreet.errors import ArgumentError
from discreet.guarantee import Adjacency
from discreet.mechanisms.decay import Decay, Powers, decay_of
from discreet.mechanisms.samplers import DiscreteGaussian, DiscreteLaplace, comparable, draw
from discreet.mechanisms.tails import GaussianLaw
from discreet.mechanisms.utility_score import Epsilon, rational
from discreet.randomness import Bits, require_fresh

__all__ = ["PartitionSelection", "Reach", "StabilityThreshold", "laplace_threshold"]

_PRECISION = 320
_DIGITS = 80
_LEAST_DELTA = Fraction(1, 10**60)
_MOST_CHANCES = 1 << 20
_MOST_SIGMA_SQUARED = 1 << 20
Delta = Fraction | float | str
Noise = DiscreteLaplace | DiscreteGaussian
Part = TypeVar("Part", int, Fraction)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """What one person can do after bounding: at most so many keys, rows in all, and rows in one key.

    Where rows carry whole weights, a weight counts as so many rows.
    """

    keys: int = 1
    rows: int = 1
    rows_per_key: int | None = None

    def __post_init__(self) -> None:
        for name, most in (("keys", self.keys), ("rows", self.rows), ("rows_per_key", self.most_in_a_key)):
            check.at_least(name, most, 1)

    @property
    def most_in_a_key(self) -> int:
        """The rows of one person in one key at most."""
        return self.rows if self.rows_per_key is None else min(self.rows, self.rows_per_key)

    def moved(self, adjacency: Adjacency) -> int:
        """By how many rows all counts together differ between neighbours, at most."""
        reached = min(self.rows, self.keys * self.most_in_a_key)
        return reached if adjacency is Adjacency.ADD_REMOVE else 2 * reached

    def moved_squared(self, adjacency: Adjacency) -> int:
        """The sum over all keys of the squared difference between neighbours, at most."""
        most = max(full * self.most_in_a_key**2 + part**2 + single for full, part, single in self.heaviest_splits())
        return most if adjacency is Adjacency.ADD_REMOVE else 2 * most

    def heaviest_splits(self) -> Iterator[tuple[int, int, int]]:
        """For each number of lit keys the most uneven split: keys filled to the brim, rows of one more, keys with one.

        Given:   a cost of a key's rows that is convex from one row on, such as −ln(1 − P(noise ≥ threshold − rows)).
        Promise: some split of this list costs at least as much as any split one person can make.
        Because: moving a row from a smaller to a larger key never lowers a convex sum, and costs rise with the rows.
        Tested:  tests/mechanisms/test_partition.py::test_delta_is_that_of_the_worst_split.
        """
        for lit in range(1, min(self.keys, self.rows) + 1):
            spare = min(self.rows - lit, lit * (self.most_in_a_key - 1))
            full, part = divmod(spare, max(1, self.most_in_a_key - 1))
            rest = lit - full - (part > 0)
            yield full, part + 1 if part else 0, rest


@dataclass(frozen=True, slots=True, kw_only=True)
class StabilityThreshold:
    """Show a key with its noisy count when that reaches the threshold."""

    noise: Noise
    threshold: int
    reach: Reach

    def __post_init__(self) -> None:
        if self.threshold <= self.reach.most_in_a_key:
            raise ArgumentError(
                "threshold",
                found=f"{self.threshold}",
                right=f"one person alone can bring {self.reach.most_in_a_key} rows to a key",
                step="give a higher threshold",
            )
        if isinstance(self.noise, DiscreteLaplace) and not comparable(self.noise.decay):
            raise ArgumentError(
                "epsilon",
                found="noise so wide that 64 bits would cut it off",
                right="its scale, the rows a person moves over ε, is at most 2^54",
                step="give a larger epsilon, or fewer rows a person",
            )

    @classmethod
    def laplace(
        cls,
        epsilon: Epsilon,
        delta: Delta,
        *,
        reach: Reach | None = None,
        adjacency: Adjacency = Adjacency.ADD_REMOVE,
    ) -> StabilityThreshold:
        """The lowest threshold for two-sided geometric noise; all shown counts together cost (ε, δ)."""
        bounded = reach or Reach()
        decay = decay_of(epsilon).scaled(Fraction(1, bounded.moved(adjacency)))
        return cls._lowest(DiscreteLaplace(decay), delta, bounded)

    @classmethod
    def gaussian(
        cls,
        rho: Fraction | float | str,
        delta: Delta,
        *,
        reach: Reach | None = None,
        adjacency: Adjacency = Adjacency.ADD_REMOVE,
    ) -> StabilityThreshold:
        """The lowest threshold for discrete Gaussian noise; all shown counts together cost ρ-zCDP, but for δ."""
        bounded = reach or Reach()
        sigma_squared = Fraction(bounded.moved_squared(adjacency)) / (2 * check.positive("rho", rho))
        if sigma_squared > _MOST_SIGMA_SQUARED:
            raise ArgumentError(
                "rho",
                found="noise so wide that its tails cannot be listed",
                right=f"σ² is at most {_MOST_SIGMA_SQUARED}",
                step="give a larger rho, fewer rows a person, or Laplace noise",
            )
        return cls._lowest(DiscreteGaussian(sigma_squared), delta, bounded)

    @classmethod
    def _lowest(cls, noise: Noise, delta: Delta, reach: Reach) -> StabilityThreshold:
        allowed = _delta(delta)

        def made(threshold: int) -> StabilityThreshold:
            return cls(noise=noise, threshold=threshold, reach=reach)

        return made(_least(reach.most_in_a_key + 1, lambda threshold: made(threshold).delta() <= allowed))

    def delta(self) -> Fraction:
        """The chance, rounded up, that one person alone brings any key to the threshold.

        Given:   a person's rows are bounded by `reach`; noise is drawn for each present key, independently.
        Promise: neighbours differ by (ε, δ) in all that is shown, with ε that of the noise, under both adjacencies.
        Because: unless a key that only one of the neighbours has is shown, what is shown is a function of noisy
                 counts of the keys both have; and each of the neighbours shows such a key with at most this chance.
        Tested:  tests/mechanisms/test_partition.py::test_the_claim_holds_exactly_between_neighbours.
        """
        one = 1 << _PRECISION
        hidden = {rows: one - self._reached(rows)[1] for rows in (self.reach.most_in_a_key, 1)}
        least = one
        for full, part, single in self.reach.heaviest_splits():
            both = _power_down(hidden[self.reach.most_in_a_key], full) * _power_down(hidden[1], single) >> _PRECISION
            rest = one - self._reached(part)[1] if part else one
            least = min(least, both * rest >> _PRECISION)
        return Fraction(one - least, one)

    def probability(self, count: int) -> tuple[Fraction, Fraction]:
        """Bounds on the chance that a key with that count is shown."""
        lower, upper = self._reached(count) if count > 0 else (0, 0)
        return Fraction(lower, 1 << _PRECISION), Fraction(upper, 1 << _PRECISION)

    def release(self, count: int, bits: Bits, *, teaching: bool = False) -> int | None:
        """The noisy count of a key with that many rows, or None when the key stays hidden.

        Given:   the exact count of a key's rows, each person's bounded by `reach`; independent uniform bits.
        Promise: over all keys, shown or not, ε of the noise and `delta()`; a key without rows is never shown.
        Because: the noise is drawn as the law says that `delta` sums up, and the threshold is public.
        Tested:  tests/mechanisms/test_partition.py::test_releases_follow_their_chance.
        """
        require_fresh(bits, teaching=teaching)
        noisy = count + draw(self.noise, bits)
        return noisy if count > 0 and noisy >= self.threshold else None

    def keep(self, count: int, bits: Bits, *, teaching: bool = False) -> bool:
        """Whether a key with that many rows is shown.

        Given:   what `release` is given.
        Promise: what `release` promises.
        Because: it tells less of the same output.
        Tested:  tests/mechanisms/test_partition.py::test_releases_follow_their_chance.
        """
        return self.release(count, bits, teaching=teaching) is not None

    def law(self, count: int, beyond: int) -> dict[int | None, Fraction]:
        """The exact chance of being hidden (None), of each noisy count below `beyond`, and of that or more.

        For geometric noise in powers. From the larger of two counts on, all outputs have one ratio between the two
        counts, so that nothing is lost by taking them together from there.
        """
        decay = rational(self.noise.decay if isinstance(self.noise, DiscreteLaplace) else None)
        hidden: dict[int | None, Fraction] = {None: Fraction(1)}
        if count <= 0:
            return hidden
        first, top = decay.weight(1), max(beyond, count, self.threshold)
        shown: dict[int | None, Fraction] = {
            value: (1 - first) / (1 + first) * decay.weight(abs(value - count)) for value in range(self.threshold, top)
        }
        shown[top] = decay.weight(top - count) / (1 + first)
        hidden[None] = 1 - sum(shown.values(), start=Fraction(0))
        return hidden | shown

    def _reached(self, rows: int) -> tuple[int, int]:
        """Integers around 2^precision · P(rows + noise ≥ threshold)."""
        missing = self.threshold - rows
        if missing > 0:
            return _tail(self.noise, missing)
        lower, upper = _tail(self.noise, 1 - missing)
        return (1 << _PRECISION) - upper, (1 << _PRECISION) - lower


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSelection:
    """Show a key with the largest chance that (ε, δ) allows for its number of persons."""

    decay: Decay
    delta: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", _delta(self.delta))

    @classmethod
    def of(
        cls, epsilon: Epsilon, delta: Delta, *, keys: int = 1, adjacency: Adjacency = Adjacency.ADD_REMOVE
    ) -> PartitionSelection:
        """The selection that costs (ε, δ) when one person has at most so many keys.

        Replacing a person changes the keys of both, so each key gets half as much.
        """
        changed = check.at_least("keys", keys, 1) * (1 if adjacency is Adjacency.ADD_REMOVE else 2)
        return cls(decay=decay_of(epsilon).scaled(Fraction(1, changed)), delta=_delta(delta) / changed)

    def probability(self, count: int) -> Fraction:
        """The chance of being shown, for a key with that many persons: exact for a decay in powers, else rounded down.

        Given:   each person counts once in a key.
        Promise: one key costs (ε, δ) exactly, whether a person joins or leaves: of the very chances that are drawn.
        Because: π(n + 1) ≤ e^ε·π(n) + δ and 1 − π(n) ≤ e^ε·(1 − π(n + 1)) + δ hold step by step; rounding down
                 what the recursion allows keeps both, and π never falls.
        Tested:  tests/mechanisms/test_partition.py::test_selection_is_private_and_as_generous_as_it_may_be.
        """
        chances = _chances(self.decay, self.delta)
        return chances[min(check.at_least("count", count, 0), len(chances) - 1)]

    def keep(self, count: int, bits: Bits, *, teaching: bool = False) -> bool:
        """Whether a key with that many persons is shown.

        Given:   the exact number of persons with that key, each counted once; independent uniform bits.
        Promise: the key is shown with exactly `probability(count)`, which is worth ε and δ.
        Because: a uniform integer below the denominator falls below the numerator with that chance.
        Tested:  tests/mechanisms/test_partition.py::test_keys_are_kept_with_their_chance.
        """
        require_fresh(bits, teaching=teaching)
        chance = self.probability(count)
        return bits.below(chance.denominator) < chance.numerator

    def law(self, count: int) -> dict[bool, Fraction]:
        """The exact chance of being shown and of being hidden."""
        chance = self.probability(count)
        return {True: chance, False: 1 - chance}


def laplace_threshold(epsilon: float, delta: float) -> float:
    """1 + ln(1/(2δ))/ε: the threshold of continuous Laplace noise for one row a person, for comparison only."""
    return 1 + math.log(1 / (2 * delta)) / epsilon


def _delta(delta: Delta) -> Fraction:
    exact = check.probability("delta", delta)
    if exact < _LEAST_DELTA:
        raise ArgumentError(
            "delta",
            found="a delta of 0, or one below 1e-60",
            right="a key that one person lights can be shown at all only with some delta",
            step="give a delta such as 1e-9, or declare the keys as public",
        )
    return exact


def _least(start: int, holds: Callable[[int], bool]) -> int:
    """The least whole number from `start` on for which it holds, where it holds for all above that one."""
    reach = 1
    while not holds(start + reach):
        reach *= 2
    low, high = start, start + reach
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _power_down(base: int, exponent: int) -> int:
    """base to that power in fixed point, rounded down."""
    result = 1 << _PRECISION
    for digit in format(exponent, "b"):
        result = result * result >> _PRECISION
        if digit == "1":
            result = result * base >> _PRECISION
    return result


def _tail(noise: Noise, at: int) -> tuple[int, int]:
    """Integers around 2^precision · P(noise ≥ at), for at ≥ 1."""
    if isinstance(noise, DiscreteLaplace):
        low, high = noise.decay.fixed(at, _PRECISION)
        least, most = noise.decay.fixed(1, _PRECISION)
        one = 1 << _PRECISION
        return (low << _PRECISION) // (one + most), -(-(high << _PRECISION) // (one + least))
    sides = _gaussian_sides(noise)
    low, high = sides[2 * at - 2] if 2 * at - 2 < len(sides) else (0, sides[-1][1])
    return low // 2, -(-high // 2)


@lru_cache(maxsize=8)
def _gaussian_sides(noise: DiscreteGaussian) -> list[tuple[int, int]]:
    """The tails of a Gaussian; the (2k − 1)-th is the chance of k or more on either side."""
    return GaussianLaw(noise.sigma_squared).tails(_PRECISION, _PRECISION)


@lru_cache(maxsize=32)
def _chances(decay: Decay, delta: Fraction) -> tuple[Fraction, ...]:
    """π(0), π(1), … up to the first that is 1."""
    shrink = decay.bounds(1, _DIGITS)[1]
    near = max(float(1 - shrink), 0.0)
    if 2 * math.log1p(near / float(delta)) >= near * _MOST_CHANCES:
        raise ArgumentError(
            "epsilon",
            found="so little for each key that hardly any would be shown",
            right=f"a key of {_MOST_CHANCES} persons must be sure to be shown",
            step="give a larger epsilon, or fewer keys a person",
        )
    if isinstance(decay, Powers):
        return tuple(_ramp(Fraction(0), delta, Fraction(1), lambda part: part / shrink, lambda part: part * shrink))
    one, up = 1 << _PRECISION, decay.fixed(1, _PRECISION)[1]
    least = int(delta * one)
    ramp = _ramp(0, least, one, lambda part: (part << _PRECISION) // up, lambda part: -(-part * up >> _PRECISION))
    return tuple(Fraction(chance, one) for chance in ramp)


def _ramp(
    chance: Part, delta: Part, one: Part, grow: Callable[[Part], Part], fall: Callable[[Part], Part]
) -> list[Part]:
    """The chances in units of 1/one; growth by e^ε is rounded down, a fall by e^(−ε) up."""
    chances = [chance]
    while chances[-1] < one:
        last = chances[-1]
        chances.append(min(grow(last) + delta, one - fall(max(one - last - delta, chance)), one))
    return chances
