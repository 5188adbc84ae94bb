"""The sparse vector is as private as it says; the published variants that are not are each found out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ArgumentError, BudgetError
from discreet.mechanisms.decay import Exponential, Powers
from discreet.mechanisms.enclosure import exp_fraction
from discreet.mechanisms.samplers import comparable
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.randomness import SeededBits
from tests.mechanisms.chi_square import fits

Answers = tuple[int, ...]
Replies = tuple[object, ...]
ANSWERS = range(-2, 4)
REACH = 26


def moves(length: int, *, monotone: bool = False) -> list[Answers]:
    return [move for move in product((-1, 0, 1), repeat=length) if not monotone or len(set(move) - {0}) <= 1]


def vector(base: int, *, positives: int = 1, monotone: bool = False) -> SparseVector:
    return SparseVector(
        threshold=0, sensitivity=1, epsilon=Powers(Fraction(base)), positives=positives, monotone=monotone
    )


def worst_ratio(vector: SparseVector, length: int) -> Fraction:
    """The largest ratio over all questions of that length, all neighbours and all replies."""
    stretched = range(min(ANSWERS) - 1, max(ANSWERS) + 2)
    laws = {answers: vector.law(answers) for answers in product(stretched, repeat=length)}

    def ratios() -> Iterator[Fraction]:
        for answers, move in product(product(ANSWERS, repeat=length), moves(length, monotone=vector.monotone)):
            here, there = laws[answers], laws[tuple(a + b for a, b in zip(answers, move, strict=True))]
            yield from (max(here[replies] / there[replies], there[replies] / here[replies]) for replies in here)

    return max(ratios())


@pytest.mark.parametrize(
    ("base", "positives", "monotone", "exact"),
    [
        (16, 1, False, Fraction(24232, 3065)),
        (256, 2, False, Fraction(132645056, 16581075)),
        (4, 1, True, Fraction(1234, 361)),
        (16, 2, True, Fraction(61416, 15529)),
    ],
)
def test_certificate_of_the_sparse_vector(base: int, positives: int, monotone: bool, exact: Fraction) -> None:
    for length in (1, 2):
        assert worst_ratio(vector(base, positives=positives, monotone=monotone), length) <= base
    assert worst_ratio(vector(base, positives=positives, monotone=monotone), 3) == exact <= base


def test_answers_that_move_further_get_noise_that_reaches_further() -> None:
    """With Δ = 2 all answers move by up to two steps, and ε = ln 256 still holds."""
    wide = SparseVector(threshold=0, sensitivity=2, epsilon=Powers(Fraction(256)))
    assert wide.decays() == (Powers(Fraction(4)), Powers(Fraction(2)))
    laws = {answers: wide.law(answers) for answers in product(range(-3, 4), repeat=2)}
    near = [pair for pair in product(laws, repeat=2) if max(abs(a - b) for a, b in zip(*pair, strict=True)) <= 2]
    assert max(laws[one][replies] / laws[other][replies] for one, other in near for replies in laws[one]) <= 256


def test_a_longer_watch_approaches_its_price_and_keeps_it() -> None:
    """Answers out of reach but for one: the ratio grows with every negative, and never passes e^ε = 4."""
    watch, found = vector(4, monotone=True), []
    for negatives in (1, 3, 6, 12):
        replies = (*[False] * negatives, True)
        answers, moved = [3] * negatives + [-6], [4] * negatives + [-6]
        found.append(watch.law(answers)[replies] / watch.law(moved)[replies])
    assert found == sorted(found)
    assert Fraction(39, 10) < found[-1] <= 4


def geometric(value: int, weight: Fraction) -> Fraction:
    return (1 - weight) / (1 + weight) * weight ** abs(value)


def reaches(at: int, weight: Fraction) -> Fraction:
    return weight**at / (1 + weight) if at >= 0 else 1 - weight ** (1 - at) / (1 + weight)


@dataclass(frozen=True)
class Variant:
    """A sparse vector that someone might write: what a step of each noise weighs, and what else it does."""

    threshold: Fraction
    answer: Fraction | None
    stops: bool = True
    tells_value: bool = False

    def outputs(self, length: int) -> Iterator[Replies]:
        positive = tuple(range(-3, 5)) if self.tells_value else (True,)
        for replies in product((False, *positive), repeat=length):
            told = [at for at, reply in enumerate(replies) if reply is not False]
            if not self.stops or not told or told == [length - 1]:
                yield replies

    def chance(self, answers: Answers, replies: Replies) -> Fraction:
        """Its probability but for the threshold's noise beyond the reach, summed term by term."""
        total = Fraction(0)
        for noise in range(-REACH, REACH + 1):
            term = geometric(noise, self.threshold)
            for answer, reply in zip(answers, replies, strict=False):
                term *= self.one(answer, reply, noise)
            total += term
        return total

    def one(self, answer: int, reply: object, threshold: int) -> Fraction:
        if self.tells_value and reply is not False:
            assert isinstance(reply, int)
            assert self.answer is not None
            return geometric(reply - answer, self.answer) * (reply >= threshold)
        reached = Fraction(answer >= threshold) if self.answer is None else reaches(threshold - answer, self.answer)
        return 1 - reached if reply is False else reached

    def ratio_at_least(self, answers: Answers, moved: Answers, replies: Replies) -> Fraction | None:
        """What the ratio certainly reaches, the noise left out counted against it; None when it is infinite."""
        left_out = 2 * self.threshold ** (REACH + 1) / (1 + self.threshold)
        here, there = self.chance(answers, replies), self.chance(moved, replies)
        if self.answer is None and there == 0 < here:
            return None
        return here / (there + left_out)


HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
BROKEN = {
    # ε = ln 16 for each, Δ = 1, one positive where it stops; numbers of Lyu, Su and Li's list.
    "3, tells the noisy value it has compared": Variant(QUARTER, QUARTER, tells_value=True),
    "4, quarter of ε for the threshold, the rest for answers of scale Δ": Variant(HALF, Fraction(1, 8)),
    "5, no noise on the answers, and never stops": Variant(QUARTER, None, stops=False),
    "6, answers of scale Δ, and never stops": Variant(QUARTER, QUARTER, stops=False),
    "answers of scale Δ instead of 2Δ": Variant(QUARTER, QUARTER),
}


PAIRS = (((3, 3, -2), (4, 4, -3)), ((1, 1, 0), (2, 2, -1)), ((0, 1, 0), (1, 0, 1)))
NEIGHBOURS = tuple(pair for one, other in PAIRS for pair in ((one, other), (other, one)))


@pytest.mark.mutates
@pytest.mark.parametrize("name", BROKEN)
def test_each_broken_variant_turns_red(name: str) -> None:
    variant, found = BROKEN[name], []
    for (here, there), replies in product(NEIGHBOURS, variant.outputs(3)):
        ratio = variant.ratio_at_least(here, there, replies)
        found.append(ratio is None or ratio > 16)
    assert any(found)


def test_the_right_variant_stays_green_in_the_same_check() -> None:
    right = Variant(QUARTER, HALF)
    for (here, there), replies in product(NEIGHBOURS, right.outputs(3)):
        ratio = right.ratio_at_least(here, there, replies)
        assert ratio is not None
        assert ratio <= 16


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=3), st.integers(-2, 2), st.integers(1, 2))
@settings(max_examples=25)
def test_the_law_is_the_sum_over_the_noise(answers: list[int], threshold: int, positives: int) -> None:
    watch = SparseVector(
        threshold=threshold, sensitivity=1, epsilon=Powers(Fraction(16)), positives=positives, monotone=True
    )
    weights = QUARTER, Powers(Fraction(16)).scaled(Fraction(1, 2 * positives)).weight(1)
    law = watch.law(answers)
    assert sum(law.values()) == 1
    for replies, chance in law.items():
        brute = Variant(*weights).chance(tuple(answer - threshold for answer in answers), replies)
        assert 0 <= chance - brute < QUARTER**REACH


def replies_of(watch: SparseVector, answers: Sequence[int], bits: SeededBits) -> tuple[bool, ...]:
    running, said = watch.start(bits, teaching=True), []
    for answer in answers:
        said.append(running.above(answer))
        if running.left == 0:
            break
    return tuple(said)


@pytest.mark.parametrize("positives", [1, 2])
def test_replies_follow_the_law_and_no_other_epsilon(positives: int) -> None:
    answers, bits = (2, -1, 3), SeededBits(3)
    watch = vector(81, positives=positives, monotone=True)
    draws = [replies_of(watch, answers, bits) for _ in range(6000)]
    laws = {base: vector(base, positives=positives, monotone=True).law(answers) for base in (16, 81, 256)}
    assert [fits(draws, law) for law in laws.values()] == [False, True, False]


def test_after_the_last_positive_nothing_is_said() -> None:
    running = vector(16).start(SeededBits(1), teaching=True)
    assert running.above(10**9)
    with pytest.raises(BudgetError, match="last positive"):
        running.above(0)


def test_noise_that_64_bits_cut_off_compares_nothing() -> None:
    """At a scale of 2^60 one draw in 3000 is cut off, and two of them compare the very answers."""
    wide = SparseVector(threshold=0, sensitivity=1, epsilon=Fraction(1, 1 << 57))
    with pytest.raises(ArgumentError, match="cut it off"):
        wide.start(SeededBits(1), teaching=True)
    assert (
        SparseVector(threshold=0, sensitivity=1, epsilon=Fraction(1, 1 << 50)).start(SeededBits(1), teaching=True).left
        == 1
    )
    assert comparable(Exponential(Fraction(5, 1 << 56)))
    assert not comparable(Exponential(Fraction(3, 1 << 56)))
    exponent = Fraction((1 << 63) - 1, 1 << 54)
    assert exp_fraction(exponent, 5)[1] < Fraction(1, 1 << 700)


@pytest.mark.parametrize("answer", [float("nan"), 12.5, Fraction(25, 2), "12", None])
def test_an_answer_off_the_grid_is_refused_and_not_quoted(answer: object) -> None:
    running = vector(16).start(SeededBits(1), teaching=True)
    with pytest.raises(ArgumentError, match="whole steps") as refused:
        running.above(answer)  # type: ignore[arg-type]  # that is the point
    assert "12" not in str(refused.value)
    assert running.left == 1
    assert running.above(np.int64(10**9)) is True  # type: ignore[arg-type]  # an integer of numpy has an index, too


@pytest.mark.parametrize(
    "fault", [{"sensitivity": 0}, {"positives": 0}, {"epsilon": 0}, {"threshold_share": 0}, {"threshold_share": 1}]
)
def test_a_watch_that_cannot_be_private_is_refused(fault: dict[str, int]) -> None:
    with pytest.raises(ArgumentError):
        SparseVector(**{"threshold": 0, "sensitivity": 1, "epsilon": 1} | fault)  # type: ignore[arg-type]  # the point
