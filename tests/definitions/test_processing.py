"""What happens to an output afterwards, and what an observer knew before: neither weakens a promise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.mechanisms import catalogue
from discreet.mechanisms.certificate import Certificate, Entry, Law, examine
from discreet.mechanisms.decay import Powers
from discreet.mechanisms.neighbours import Table
from discreet.mechanisms.noise import LaplaceNoise
from discreet.mechanisms.tallies import side_by_side
from discreet.mechanisms.testing import noisy_law

NONE = Fraction(0)
NAMES = ("coin", "response-3", "permute-and-flip-monotone", "count-of-4-replace-one", "sum-add-remove")
WITH_DELTA = ("stability-threshold", "partition-selection", "everything-with-1/100", "card")
ENTRIES = {entry.claim.name: entry for entry in catalogue.entries() if entry.claim.name in NAMES + WITH_DELTA}
Channel = Mapping[Any, Sequence[Fraction]]


def outputs(entry: Entry) -> list[Any]:
    """All that can come out."""
    tables = {table for pair in entry.neighbours() for table in pair}
    return list(dict.fromkeys(output for table in sorted(tables) for output in entry.law(table)))


def through(law: Law, channel: Channel) -> dict[int, Fraction]:
    """The law of what a channel makes of an output."""
    width = len(next(iter(channel.values())))
    return {made: sum((p * channel[o][made] for o, p in law.items()), NONE) for made in range(width)}


def after(entry: Entry, channel: Channel, also_at: Sequence[Fraction] = ()) -> Certificate:
    return examine(entry.claim, lambda table: through(entry.law(table), channel), entry.neighbours(), also_at)


@st.composite
def channels(draw: st.DrawFn, inputs: Sequence[Any], *, certain: bool) -> Channel:
    """A random map of these inputs to up to four outputs, or a random matrix of chances."""
    width = draw(st.integers(1, 4))
    rows = []
    for _ in inputs:
        if certain:
            target = draw(st.integers(0, width - 1))
            rows.append([Fraction(int(at == target)) for at in range(width)])
        else:
            weights = draw(st.lists(st.integers(0, 9), min_size=width, max_size=width).filter(any))
            rows.append([Fraction(weight, sum(weights)) for weight in weights])
    return dict(zip(inputs, rows, strict=True))


def no_larger(one: Fraction | None, other: Fraction | None) -> bool:
    """Whether odds are no larger than others; None is infinite."""
    return other is None or (one is not None and one <= other)


@pytest.mark.requirement("0.56", "0.62")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("certain", [True, False], ids=["deterministic", "randomised"])
@settings(max_examples=15)
@given(data=st.data())
def test_nothing_done_to_an_output_raises_its_odds(name: str, certain: bool, data: st.DataObject) -> None:
    entry = ENTRIES[name]
    channel = data.draw(channels(outputs(entry), certain=certain))
    assert no_larger(after(entry, channel).odds, entry.certify().odds)


@pytest.mark.requirement("3.17")
@pytest.mark.parametrize("name", WITH_DELTA)
@pytest.mark.parametrize("certain", [True, False], ids=["deterministic", "randomised"])
@settings(max_examples=15)
@given(data=st.data(), odds=st.fractions(1, 6, max_denominator=4))
def test_nothing_done_to_an_output_raises_its_delta_at_any_odds(
    name: str, certain: bool, data: st.DataObject, odds: Fraction
) -> None:
    entry = ENTRIES[name]
    channel = data.draw(channels(outputs(entry), certain=certain))
    before = examine(entry.claim, entry.law, entry.neighbours(), (odds,))
    done = after(entry, channel, (odds,))
    assert all(done_delta <= dict(before.delta_at)[at] for at, done_delta in done.delta_at)
    assert no_larger(done.odds, before.odds)


@pytest.mark.requirement("0.56")
def test_a_map_that_loses_nothing_keeps_the_odds_and_a_constant_has_none() -> None:
    for name in NAMES:
        entry = ENTRIES[name]
        every = outputs(entry)
        same = {output: [Fraction(int(at == place)) for at in range(len(every))] for place, output in enumerate(every)}
        assert after(entry, same).odds == entry.certify().odds
        assert after(entry, {output: [Fraction(1)] for output in every}).odds == 1


@pytest.mark.requirement("0.62")
@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), min_size=5, max_size=5))
def test_a_randomised_step_is_a_map_of_the_output_and_a_coin_of_its_own(made: list[list[int]]) -> None:
    """(A, R) with an independent R has the odds of A; a deterministic map of both is the randomised step."""
    entry = ENTRIES["count-of-4-replace-one"]
    coin = {side: Fraction(1, 5) for side in range(5)}
    joint = examine(entry.claim, lambda table: side_by_side([entry.law(table), coin]), entry.neighbours())
    assert joint.odds == entry.certify().odds
    matrix = {output: [Fraction(row.count(value), 5) for value in range(3)] for output, row in enumerate(made)}

    def mapped(table: Table) -> Law:
        law = dict.fromkeys(range(3), NONE)
        for (output, side), p in side_by_side([entry.law(table), coin]).items():
            law[made[output][side]] += p
        return law

    assert examine(entry.claim, mapped, entry.neighbours()) == after(entry, matrix)


@pytest.mark.requirement("0.62")
def test_a_step_that_reads_the_data_again_is_no_post_processing() -> None:
    entry = ENTRIES["count-of-4-replace-one"]
    read = examine(
        entry.claim, lambda table: side_by_side([entry.law(table), {table[0]: Fraction(1)}]), entry.neighbours()
    )
    assert read.odds is None


TABLES = list(product((0, 1), repeat=3))
NOISE = LaplaceNoise.for_guarantee(sensitivity=1, epsilon=Powers(Fraction(2)))
weights = st.lists(st.integers(0, 9), min_size=len(TABLES), max_size=len(TABLES))


def released(table: Table) -> dict[int, Fraction]:
    """A noisy count of a table of three bits, of odds 2."""
    return noisy_law(sum(table), NOISE, 0, 3)


@pytest.mark.requirement("3.16")
@given(weights, st.sets(st.sampled_from(TABLES), min_size=1), st.integers(0, 2))
def test_whatever_is_known_of_the_data_a_person_moves_each_chance_by_the_odds_at_most(
    prior: list[int], side: set[Table], person: int
) -> None:
    """Any distribution of the data, correlated or not, conditioned on any event about them."""
    known = {table: weight for table, weight in zip(TABLES, prior, strict=True) if table in side and weight}
    for output in range(4 if known else 0):
        here = sum(weight * released(table)[output] for table, weight in known.items())
        for bit in (0, 1):
            there = sum(
                weight * released((*table[:person], bit, *table[person + 1 :]))[output]
                for table, weight in known.items()
            )
            assert there / 2 <= here <= 2 * there


@pytest.mark.requirement("3.16")
@given(st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100), st.sampled_from(TABLES))
def test_who_knows_everybody_else_moves_the_odds_of_the_last_bit_by_the_odds_at_most(
    prior: Fraction, table: Table
) -> None:
    """Nobody knows more than that; of an exact count the same observer would be certain."""
    others = table[1:]
    for output in range(4):
        one, zero = prior * released((1, *others))[output], (1 - prior) * released((0, *others))[output]
        odds, before = one / zero, prior / (1 - prior)
        assert before / 2 <= odds <= 2 * before
    exact = {sum((bit, *others)): bit for bit in (0, 1)}
    assert exact[sum(table)] == table[0]
