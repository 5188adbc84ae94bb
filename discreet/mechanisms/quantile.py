"""Quantiles, minimum, maximum and a count, chosen with weights that fall with the distance in ranks.

1. Data are counts on a public grid of whole numbers; what lies beyond the grid is moved to its ends.
2. A cell z with L records below it and G above it is as far from the aim as max(0, b·L − A, b·G − B) says, a whole
   number; A, B and b say which rank is meant (`aim.Limits`). It is 0 on the cell that holds the rank.
3. Cells between two neighbouring records are one run: they share L and G. There are at most 2·distinct + 1 runs,
   however fine the grid.
4. A run is drawn by `weighted.choose`, then a cell of it uniformly, both in integers.
5. Several quantiles: the middle one first, then those below it in the data below it, and so on.

Under replace-one with b = 1, A = k − 1, B = n − k, step 2 is the least number of records to change until the k-th
smallest is z: the inverse-sensitivity mechanism in closed form (Asi and Duchi 2020). Under add-remove n is private and
the q-quantile has the score max(0, L − qn, G − (1 − q)n) with the real qn. Between records that is
|(1 − q)·L − q·G| (Smith 2011); on a cell with records, where that formula leaves the cell's own records out and may
prefer the empty cell beside them, it is the least value reached by counting them to either side.
Several: Kaplan, Schnapp and Stemmer 2022.

Terms: cell, one value of the grid; run, cells side by side with equal score; tie width, how many cells around a value
count as that value.

What it does not promise: a value that stands in the data, or that the running time tells nothing of the number of
distinct values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from discreet import check
from discreet.errors import ArgumentError
from discreet.guarantee import Adjacency
from discreet.mechanisms import weighted
from discreet.mechanisms.aim import Aim, Limits, Quantile, finest_share
from discreet.mechanisms.decay import Decay, Powers, decay_of
from discreet.mechanisms.ordered import Cells, Integers, Ordered
from discreet.mechanisms.utility_score import Epsilon
from discreet.randomness import Bits, require_fresh

__all__ = [
    "RankAnswer",
    "choose_count",
    "choose_quantile",
    "choose_quantiles",
    "count_law",
    "quantile_law",
    "quantiles_law",
]

_RECORDS_AT_MOST = 10**7
_WHOLE_IN_64_BITS = 1 << 61


@dataclass(frozen=True, slots=True)
class RankAnswer:
    """A released cell, and what was aimed at, in words: a minimum and a maximum say how far off the end."""

    value: int
    aims_at: str


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Runs:
    """Cells side by side that share a distance: where each run starts, how many cells it has, how far it is."""

    starts: Integers
    lengths: Integers
    steps: Integers
    decay: Decay


def choose_quantile(
    data: Ordered,
    aim: Aim,
    *,
    epsilon: Epsilon,
    adjacency: Adjacency,
    bits: Bits,
    tie_width: int = 0,
    teaching: bool = False,
) -> RankAnswer:
    """One cell, drawn with probability ∝ exp(−ε·distance/(2·sensitivity)).

    Given: data on a public grid; a public aim; under replace-one the number of records is public.
    Promise: ε-differential privacy for the given relation between neighbours.
    Because: it is the exponential mechanism with a distance whose sensitivity `aim` proves; a tie width takes the least
        distance among public neighbours of a cell, which has no larger sensitivity.
    Tested: tests/mechanisms/test_quantile.py::test_distance_moves_by_no_more_than_its_sensitivity
    """
    require_fresh(bits, teaching=teaching)
    runs = _runs(data, aim, decay_of(epsilon), adjacency, tie_width)
    return RankAnswer(_drawn(bits, runs)[0][0], aim.text)


def quantile_law(
    data: Ordered, aim: Aim, *, epsilon: Powers, adjacency: Adjacency, tie_width: int = 0
) -> dict[int, Fraction]:
    """The exact probability of every cell: what `choose_quantile` draws from, for ε = ln(base)."""
    return dict(_enumerated(_runs(data, aim, epsilon, adjacency, tie_width)))


def choose_quantiles(
    data: Ordered,
    shares_below: Sequence[Fraction],
    *,
    epsilon: Epsilon,
    adjacency: Adjacency,
    bits: Bits,
    split: Sequence[Fraction] | None = None,
    tie_width: int = 0,
    teaching: bool = False,
) -> tuple[RankAnswer, ...]:
    """Several quantiles, in ascending order, for one ε.

    Given: ascending q; `split` says which part of ε each level of the recursion spends (equal parts if None).
    Promise: ε-differential privacy for the given relation between neighbours; the values ascend.
    Because: the quantiles of one level read disjoint parts of the data, cut at values released before, and one record
        more or less changes one of these parts (`Ordered.cut`), so a level costs its share once; shares add up to at
        most ε. A replaced record is one record less and one more: each level then draws with half its share.
    Tested: tests/mechanisms/test_quantile.py::test_several_quantiles_are_private
    """
    require_fresh(bits, teaching=teaching)
    levels = _levels(decay_of(epsilon), shares_below, split, adjacency)
    ((values, _),) = _descend(data, tuple(shares_below), levels, tie_width, partial(_drawn, bits))
    return tuple(RankAnswer(value, Quantile(q).text) for value, q in zip(values, shares_below, strict=True))


def quantiles_law(
    data: Ordered,
    shares_below: Sequence[Fraction],
    *,
    epsilon: Powers,
    adjacency: Adjacency,
    split: Sequence[Fraction] | None = None,
    tie_width: int = 0,
) -> dict[tuple[int, ...], Fraction]:
    """The exact joint probability of every outcome of `choose_quantiles`."""
    levels = _levels(epsilon, shares_below, split, adjacency)
    joint: dict[tuple[int, ...], Fraction] = {}
    for values, probability in _descend(data, tuple(shares_below), levels, tie_width, _enumerated):
        joint[values] = joint.get(values, Fraction(0)) + probability
    return joint


def choose_count(count: int, records: int, *, epsilon: Epsilon, bits: Bits, teaching: bool = False) -> int:
    """A number in {0, …, n}, drawn with probability ∝ exp(−ε·|z − count|/2).

    Given: 0 ≤ count ≤ n, and n public (replace-one).
    Promise: ε-differential privacy, and the count itself is the most probable output.
    Because: |z − count| is how many records must change for the count to be z, and moves by at most 1.
    Tested: tests/mechanisms/test_verify.py::test_values_known_from_the_literature_and_by_hand
    """
    require_fresh(bits, teaching=teaching)
    steps, decay = _count_steps(count, records, decay_of(epsilon))
    return weighted.choose(steps, decay, bits)


def count_law(count: int, records: int, *, epsilon: Powers) -> dict[int, Fraction]:
    """The exact probability of every output of `choose_count`."""
    steps, decay = _count_steps(count, records, epsilon)
    return dict(enumerate(weighted.law(steps, decay)))


def _count_steps(count: int, records: int, decay: Decay) -> tuple[Integers, Decay]:
    if not 0 <= count <= records <= _RECORDS_AT_MOST:
        raise ArgumentError(
            "count",
            found="a count beyond the records, or too many records to list",
            right=f"it lies in {{0, …, n}}, with n up to {_RECORDS_AT_MOST}",
            step="give the public n; geometric noise serves any n, with a smaller error",
        )
    return np.abs(np.arange(records + 1) - count), decay.scaled(Fraction(1, 2))


def _runs(data: Ordered, aim: Aim, decay: Decay, adjacency: Adjacency, tie_width: int) -> Runs:
    """Every run of cells with its distance from the aim: the one place where ranks become steps."""
    check.at_least("tie_width", tie_width, 0)
    reached = np.concatenate(([0], np.cumsum(data.counts)))
    records, distinct = data.size, len(data.places)
    # Gap, value, gap, value, …, gap: a value has the records before it below, a gap all that came so far.
    below, above, edges = (np.empty(2 * distinct + 1, dtype=np.int64) for _ in range(3))
    below[0::2], below[1::2] = reached, reached[:-1]
    above[0::2], above[1::2] = records - reached, records - reached[1:]
    edges[0], edges[1::2], edges[2::2] = data.cells.low, data.places, data.places + 1
    limits = aim.limits(records, adjacency)
    steps = _distances(limits, below, above)
    inside = np.diff(edges, append=data.cells.high + 1) > 0
    starts, lengths, steps = _widened(edges[inside], steps[inside], data.cells, tie_width)
    return Runs(starts, lengths, steps, decay.scaled(Fraction(1, 2 * limits.sensitivity)))


def _distances(limits: Limits, below: Integers, above: Integers) -> Integers:
    """max(0, b·L − A, b·G − B), in Python's own integers where 64 bits might not hold it."""
    if max(limits.unit * int(below[-1]), abs(limits.below), abs(limits.above)) >= _WHOLE_IN_64_BITS:
        below, above = below.astype(object), above.astype(object)
    return np.maximum(0, np.maximum(limits.unit * below - limits.below, limits.unit * above - limits.above))


def _widened(edges: Integers, steps: Integers, cells: Cells, width: int) -> tuple[Integers, Integers, Integers]:
    """Each cell takes the least distance within `width` cells: distances fall, then rise, so edges only shift."""
    best = int(np.argmin(steps))
    shift = np.where(np.arange(len(edges)) <= best, -width, width)
    shifted = np.clip(edges + shift, cells.low, cells.high + 1)
    shifted[0] = cells.low
    lengths = np.diff(shifted, append=cells.high + 1)
    held = lengths > 0
    return shifted[held], lengths[held], steps[held]


def _drawn(bits: Bits, runs: Runs) -> list[tuple[int, Fraction]]:
    """One outcome, for certain."""
    run = weighted.choose(runs.steps, runs.decay, bits, multiplicities=runs.lengths)
    return [(int(runs.starts[run]) + bits.below(int(runs.lengths[run])), Fraction(1))]


def _enumerated(runs: Runs) -> list[tuple[int, Fraction]]:
    """All outcomes with their probabilities."""
    probabilities = weighted.law(runs.steps, runs.decay, multiplicities=runs.lengths)
    return [
        (int(start) + at, probability / int(length))
        for start, length, probability in zip(runs.starts, runs.lengths, probabilities, strict=True)
        for at in range(length)
    ]


def _levels(
    decay: Decay, shares_below: Sequence[Fraction], split: Sequence[Fraction] | None, adjacency: Adjacency
) -> list[Decay]:
    """The decay of each level of the recursion."""
    if not shares_below or list(shares_below) != sorted(set(shares_below)):
        raise ArgumentError("q", found="none, or not ascending", right="each q stands once", step="sort the quantiles")
    finest_share(shares_below)
    depth = len(shares_below).bit_length()
    parts = [Fraction(1, depth)] * depth if split is None else [check.positive("split", part) for part in split]
    if len(parts) != depth or sum(parts) > 1:
        raise ArgumentError(
            "split",
            found=f"{len(parts)} parts",
            right=f"{len(shares_below)} quantiles need {depth} parts of at most 1 in all",
            step="give one part for each level",
        )
    each = 1 if adjacency is Adjacency.ADD_REMOVE else 2
    return [decay.scaled(part / each) for part in parts]


def _descend(
    data: Ordered,
    shares_below: tuple[Fraction, ...],
    levels: Sequence[Decay],
    tie_width: int,
    outcomes: Callable[[Runs], Iterable[tuple[int, Fraction]]],
) -> Iterable[tuple[tuple[int, ...], Fraction]]:
    """The middle quantile, then those below it in the data below it and those above it in the data above it."""
    if not shares_below:
        yield (), Fraction(1)
        return
    at = len(shares_below) // 2
    q = shares_below[at]
    runs = _runs(data, Quantile(q), levels[0], Adjacency.ADD_REMOVE, tie_width)
    left_shares = tuple(share / q for share in shares_below[:at])
    right_shares = tuple((share - q) / (1 - q) for share in shares_below[at + 1 :])
    for value, probability in outcomes(runs):
        left, right = data.cut(value)
        for lower, chance in _descend(left, left_shares, levels[1:], tie_width, outcomes):
            for upper, other in _descend(right, right_shares, levels[1:], tie_width, outcomes):
                yield (*lower, value, *upper), probability * chance * other
