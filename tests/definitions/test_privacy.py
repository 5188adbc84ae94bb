"""The definitions: over sets of outputs and over single ones, pure and with δ, for every pair of neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.guarantee import PureDP
from discreet.mechanisms import catalogue, neighbours
from discreet.mechanisms.certificate import Certificate, Claim, Entry, Law, examine
from discreet.mechanisms.decay import Exponential
from discreet.mechanisms.neighbours import Table
from discreet.mechanisms.spread import laplace_tail

NONE = Fraction(0)
PAIRS = [((0,), (1,)), ((1,), (0,))]
odds = st.fractions(1, 6, max_denominator=6)


@st.composite
def laws(draw: st.DrawFn, outputs: int = 4, least: int = 0) -> dict[int, Fraction]:
    """Any probability law over so many outputs, in fractions."""
    weights = draw(st.lists(st.integers(least, 12), min_size=outputs, max_size=outputs).filter(any))
    return {at: Fraction(weight, sum(weights)) for at, weight in enumerate(weights)}


def certified(one: Law, other: Law, claimed: Fraction, delta: Fraction = NONE) -> Certificate:
    """The product's figures for two tables with these laws."""
    claim = Claim(name="", mechanism="", relation="", domain="", odds=claimed, delta=delta)
    both = (one, other)
    return examine(claim, lambda table: both[table[0]], PAIRS)


def events(law: Mapping[Any, Fraction]) -> Iterator[tuple[Any, ...]]:
    """Every set of outputs."""
    return chain.from_iterable(combinations(law, size) for size in range(len(law) + 1))


def chance(law: Mapping[Any, Fraction], event: tuple[Any, ...]) -> Fraction:
    return sum((law.get(output, NONE) for output in event), NONE)


def defined(one: Law, other: Law, factor: Fraction, delta: Fraction = NONE) -> bool:
    """The definition itself: P(S) ≤ e^ε·P'(S) + δ for every set S, in both directions."""
    return all(
        chance(p, event) <= factor * chance(q, event) + delta
        for p, q in ((one, other), (other, one))
        for event in events(one)
    )


@pytest.mark.requirement("0.49")
@given(laws(), laws(), odds)
def test_pure_privacy_is_a_bound_on_the_logarithm_both_ways(
    one: dict[int, Fraction], other: dict[int, Fraction], factor: Fraction
) -> None:
    """|ln(P(S)/P'(S))| ≤ ε for every possible S, which the certificate's verdict says too."""
    ratios = [
        (chance(one, event), chance(other, event))
        for event in events(one)
        if chance(one, event) or chance(other, event)
    ]
    by_logarithm = all(p > 0 and q > 0 and max(p / q, q / p) <= factor for p, q in ratios)
    assert defined(one, other, factor) == by_logarithm
    assert (certified(one, other, factor).verdict != "violated") == by_logarithm
    finite = [abs(math.log(p / q)) for p, q in ratios if p and q]
    if by_logarithm:
        assert max(finite) <= math.log(factor) + 1e-12


def small_entries() -> list[Entry]:
    """Entries with few enough outputs to list all sets of them."""
    wanted = "coin response-5 exponential permute-and-flip noisy-max-monotone count-of-4-replace-one median-replace-one"
    named = {entry.claim.name: entry for entry in catalogue.entries()}
    return [named[name] for name in wanted.split()]


@pytest.mark.requirement("4.12")
@pytest.mark.parametrize("entry", small_entries(), ids=lambda entry: entry.claim.name)
def test_a_bound_on_each_output_is_one_on_every_set(entry: Entry) -> None:
    pairs = set(entry.neighbours())
    tables = {table for pair in pairs for table in pair}
    laws_of = {table: entry.law(table) for table in tables}
    exact = entry.certify().odds
    seen = NONE
    for one, other in pairs:
        for event in events(laws_of[one]):
            if event:
                seen = max(seen, chance(laws_of[one], event) / chance(laws_of[other], event))
    assert seen == exact
    assert exact <= entry.claim.odds


@pytest.mark.requirement("4.12")
@given(st.integers(-30, 30), st.integers(-30, 30), st.fractions(Fraction(1, 10), 3, max_denominator=10))
def test_sets_without_end_are_bounded_too(first: int, width: int, epsilon: Fraction) -> None:
    """Half-lines and their differences, of noise on all whole numbers."""
    decay, top = Exponential(epsilon), math.exp(epsilon) * (1 + 1e-12)

    def tail(at: int) -> float:
        return float(laplace_tail(decay, at)[0])

    assert tail(first - 1) <= top * tail(first)
    assert tail(first) <= top * tail(first - 1)
    if width > 0:
        here, there = (tail(first - move) - tail(first + width - move) for move in (0, 1))
        assert here <= top * there + 1e-15
        assert there <= top * here + 1e-15


@pytest.mark.requirement("2.33")
@given(laws(), laws(), odds, odds)
def test_loss_epsilon_and_delta(
    one: dict[int, Fraction], other: dict[int, Fraction], factor: Fraction, smaller: Fraction
) -> None:
    """δ(ε) is the expected part of the chance by which the loss ln(P/P') passes ε, and the most any set can gain."""
    found = max(
        sum((p * max(NONE, 1 - factor * b[o] / p) for o, p in a.items() if p), NONE)
        for a, b in ((one, other), (other, one))
    )
    by_events = max(
        chance(a, event) - factor * chance(b, event) for a, b in ((one, other), (other, one)) for event in events(one)
    )
    certificate = certified(one, other, factor)
    assert certificate.delta == found == by_events
    # δ = 0 exactly when the loss never passes ε: that is pure privacy.
    assert (found == 0) == (certificate.odds is not None and certificate.odds <= factor)
    # The smaller ε, the more δ it takes: closer to 0 is the stronger promise.
    low, high = sorted((factor, smaller))
    assert certified(one, other, low).delta >= certified(one, other, high).delta
    assert PureDP(low) <= PureDP(high)


WITH_DELTA = ("stability-threshold", "partition-selection", "everything-with-1/100", "card", "coin")


@pytest.mark.requirement("3.12")
@pytest.mark.parametrize("name", WITH_DELTA)
def test_approximate_privacy_is_the_definition_over_all_sets(name: str) -> None:
    """The certificate's δ is the least for which P(S) ≤ e^ε·P'(S) + δ holds for all sets and all neighbours."""
    entry = next(entry for entry in catalogue.entries() if entry.claim.name == name)
    certificate = entry.certify()
    for factor, delta in certificate.delta_at:
        pairs = list(entry.neighbours())
        assert all(defined(entry.law(one), entry.law(other), factor, delta) for one, other in pairs)
        less = delta * Fraction(999, 1000)
        broken = any(not defined(entry.law(one), entry.law(other), factor, less) for one, other in pairs)
        assert broken == (delta > 0)


@pytest.mark.requirement("3.13")
def test_randomness_must_come_from_the_algorithm() -> None:
    """Random data make an exact count look private. Who knows the others' data sees through it."""
    others = 4
    blurred = [dict.fromkeys(range(others + 2), NONE) for _ in range(2)]
    for alice in (0, 1):
        for coins in range(2**others):
            blurred[alice][alice + coins.bit_count()] += Fraction(1, 2**others)
    middle = [blurred[1][value] / blurred[0][value] for value in (2, 3)]
    assert middle == [Fraction(2, 3), Fraction(3, 2)]  # most outputs tell little, if nothing else is known …

    def count(table: Table) -> Law:
        return {sum(table): Fraction(1)}

    claim = Claim(name="", mechanism="", relation="", domain="", odds=Fraction(100))
    assert examine(claim, count, neighbours.added_or_removed((0, 1), 3)).odds is None  # … and every one tells all


@pytest.mark.requirement("3.13")
def test_any_pair_and_any_set_count_not_most_of_them() -> None:
    entry = next(entry for entry in catalogue.entries() if entry.claim.name == "median-with-local-noise")
    pairs = list(dict.fromkeys(entry.neighbours()))
    kept = [pair for pair in pairs if defined_pointwise(entry, pair)]
    assert 0 < len(kept) < len(pairs)
    assert entry.certify().verdict == "violated"
    # The card keeps ln 2 on the set {yes}, and nothing on {no}.
    card = next(entry for entry in catalogue.entries() if entry.claim.name == "card")
    yes, no = card.law((0,)), card.law((1,))
    assert chance(yes, ("yes",)) == 2 * chance(no, ("yes",))
    assert chance(yes, ("no",)) == 0 < chance(no, ("no",))
    assert card.certify().verdict == "violated"


def defined_pointwise(entry: Entry, pair: neighbours.Pair) -> bool:
    one, other = (entry.law(table) for table in pair)
    return all(p <= entry.claim.odds * other.get(output, NONE) for output, p in one.items())
