"""The exact weighted choice: the law it names is the law it draws from, at every precision."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.mechanisms.decay import Exponential, Powers
from discreet.mechanisms.weighted import _total, choose, law
from discreet.randomness import SeededBits, Words


@dataclass
class Tape:
    """Bits that are known beforehand: first this real's, then the given place inside the level."""

    real: Fraction
    place: int = 0
    certifiable: bool = False
    asked: list[int] = field(default_factory=list)

    def words(self, count: int) -> Words:
        raise AssertionError("a choice reads bits, not words")

    def bits(self, count: int) -> int:
        self.real *= 1 << count
        whole = self.real.numerator // self.real.denominator
        self.real -= whole
        self.asked.append(count)
        return whole

    def below(self, bound: int) -> int:
        return self.place % bound


items = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 4)), min_size=1, max_size=7).filter(
    lambda pairs: any(count for _, count in pairs)
)


@given(items, st.fractions(0, Fraction(999, 1000), max_denominator=10**6), st.integers(0, 10**6))
def test_every_known_prefix_falls_where_the_law_puts_it(
    pairs: list[tuple[int, int]], real: Fraction, place: int
) -> None:
    steps, counts = [step for step, _ in pairs], [count for _, count in pairs]
    base = Powers(Fraction(3, 2))
    probabilities = law(steps, base, multiplicities=counts)
    assert sum(probabilities) == 1
    chosen = choose(steps, base, Tape(real, place), multiplicities=counts)
    levels = sorted({step for step, count in pairs if count})
    masses = [sum(p for p, step in zip(probabilities, steps, strict=True) if step == level) for level in levels]
    level = next(level for level, end in zip(levels, accumulate(masses), strict=True) if real < end)
    members = [at for at, (step, count) in enumerate(pairs) for _ in range(count) if step == level]
    assert chosen == members[place % len(members)]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(1, 10**9), st.sampled_from([1, 3]))
def test_law_is_multiplicity_times_weight(steps: list[int], many: int, base: int) -> None:
    counts = [many + at for at in range(len(steps))]
    weights = [count * Fraction(1, base + 1) ** step for step, count in zip(steps, counts, strict=True)]
    assert law(steps, Powers(Fraction(base + 1)), multiplicities=counts) == tuple(w / sum(weights) for w in weights)


def test_a_real_that_starts_as_a_boundary_asks_for_more_bits() -> None:
    third = Fraction(1, 3)  # weights 1 and 1/2 cut [0, 1) at two thirds
    for nudge, expected in ((-1, 0), (1, 1)):
        tape = Tape(2 * third + nudge * Fraction(1, 2**200))
        assert choose([0, 1], Powers(Fraction(2)), tape) == expected
        assert sum(tape.asked) > 128


def test_an_exponential_decay_agrees_with_itself_at_double_steps() -> None:
    draws = [
        choose([5, 7, 9], decay, SeededBits(seed)) for seed in range(2000) for decay in (Exponential(Fraction(1, 2)),)
    ]
    twin = [choose([10, 14, 18], Exponential(Fraction(1, 4)), SeededBits(seed)) for seed in range(2000)]
    assert draws == twin
    weights = np.exp(-np.array([0, 1, 2]))
    expected = 2000 * weights / weights.sum()
    deviation = (np.bincount(draws, minlength=3) - expected) ** 2 / expected
    assert deviation.sum() < 24  # chi-square with 2 degrees: p < 1e-5


def test_a_far_level_is_reached_through_light_ones() -> None:
    steps = list(range(0, 4000, 2))
    almost_one = 1 - Fraction(1, 2**901)
    chosen = choose(steps, Powers(Fraction(2)), Tape(almost_one))
    # The levels up to k hold 1 − 4^−(k+1) of the mass: the first to hold 1 − 2^−901 is k = 450.
    assert chosen == 450


def test_masses_beyond_64_bits_stay_exact() -> None:
    huge = 10**30
    assert law([0, 0], Powers(Fraction(2)), multiplicities=[huge, 1]) == (
        Fraction(huge, huge + 1),
        Fraction(1, huge + 1),
    )
    assert choose([0, 0], Powers(Fraction(2)), Tape(Fraction(1, 2), huge), multiplicities=[huge, 1]) == 1


def test_multiplicities_whose_sum_passes_64_bits_are_all_drawn() -> None:
    """Each fits into 64 bits; nine of them together would wrap to what the first alone has."""
    largest = (1 << 62) - 1
    drawn = {choose([0] * 9, Powers(Fraction(2)), SeededBits(seed), multiplicities=[largest] * 9) for seed in range(90)}
    assert drawn == set(range(9))


def test_what_has_no_multiplicity_is_as_if_it_were_not_there() -> None:
    """However far above all others it stands."""
    assert choose([0, 10**15, 10**15 + 1], Exponential(Fraction(9)), SeededBits(1), multiplicities=[0, 5, 0]) == 1


def test_totals_of_counts_are_exact_up_to_the_last_bit() -> None:
    for counts in ([(1 << 62) - 1, 0], [(1 << 62) - 1, 1], [(1 << 62) - 1] * 9, [1 << 31, (1 << 31) - 1, 7]):
        assert _total(np.array(counts, dtype=np.int64)) == sum(counts)


@pytest.mark.parametrize(
    ("steps", "counts"),
    [([], []), ([1], [0]), ([1], [-1]), ([1, 2], [1]), ([0.5], None), ([Fraction(1, 2)], None)],
)
def test_what_is_no_choice_is_refused(steps: list[int], counts: list[int] | None) -> None:
    with pytest.raises(ArgumentError):
        choose(steps, Powers(Fraction(2)), SeededBits(1), multiplicities=counts)
