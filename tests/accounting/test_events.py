"""Events: exact prices, against exact enumeration of the laws they stand for; stored forms come back unchanged."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.events import (
    Apart,
    Approximate,
    Choice,
    Event,
    Noise,
    Price,
    Repeated,
    Sampled,
    Together,
    from_json,
    price,
    to_json,
)
from discreet.errors import ArgumentError

fractions = st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=50)
simple = st.one_of(
    st.builds(
        Noise, law=st.sampled_from(["laplace", "gaussian"]), move=fractions, scale=fractions, scalar=st.booleans()
    ),
    st.builds(Choice, epsilon=fractions, bounded_range=st.booleans()),
    st.builds(Approximate, epsilon=fractions, delta=st.fractions(min_value=0, max_value=Fraction(1, 2))),
    st.builds(Sampled, rate=st.just(Fraction(1, 100)), sigma=fractions, steps=st.integers(1, 9)),
)
events = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds(Repeated, event=inner, times=st.integers(0, 5)),
        st.builds(Together, events=st.lists(inner, max_size=3).map(tuple)),
        st.builds(Apart, events=st.lists(inner, max_size=3).map(tuple), overlap=st.integers(1, 3)),
    ),
    max_leaves=6,
)


def laplace(move: int | str, scale: int | str) -> Noise:
    return Noise(law="laplace", move=Fraction(move), scale=Fraction(scale))


def paid(loss: str | int | Fraction, delta: str | int = 0) -> Price:
    return Price(loss=Fraction(loss), delta=Fraction(delta))


@given(events)
def test_stored_events_come_back(event: Event) -> None:
    assert from_json(to_json(event)) == event


def test_unknown_kinds_and_fields_are_refused() -> None:
    for stored in ({}, {"event_kind": "magic"}, {"event_kind": "choice", "epsilon": "1", "free": True}):
        with pytest.raises(ArgumentError, match="update Discreet"):
            from_json(stored)


def test_prices_of_noise() -> None:
    assert price(laplace(1, 10), "pure") == paid("0.1")
    assert price(laplace(1, 10), "zcdp") == paid("0.005")
    gaussian = Noise(law="gaussian", move=Fraction(4), scale=Fraction(50))
    assert price(gaussian, "zcdp") == paid("0.04")
    assert price(Choice(epsilon=Fraction(1), bounded_range=True), "zcdp") == paid("1/8")
    assert price(Choice(epsilon=Fraction(1)), "zcdp") == paid("1/2")
    assert price(Together(), "pure") == paid(0)


@pytest.mark.parametrize(
    "event",
    [
        Noise(law="gaussian", move=Fraction(1), scale=Fraction(1)),
        Sampled(rate=Fraction(1, 100), sigma=Fraction(1), steps=1),
    ],
)
def test_what_has_no_finite_price_is_refused_with_its_name(event: Event) -> None:
    wrapped = Together(events=(laplace(1, 1), Repeated(event=event, times=2)))
    with pytest.raises(ArgumentError, match="Gaussian noise"):
        price(wrapped, "pure")


def test_approximate_events_pay_both_parts() -> None:
    event = Approximate(epsilon=Fraction(1, 2), delta=Fraction(1, 10**9))
    assert price(Repeated(event=event, times=3), "pure") == paid("3/2", "3e-9")
    assert price(event, "zcdp") == paid("1/8", "1e-9")
    cheap = Approximate(epsilon=Fraction(1, 4), delta=Fraction(1, 10**6))
    assert price(Apart(events=(event, cheap), overlap=1), "pure") == paid("1/2", "1e-6")


@pytest.mark.requirement("0.57")
@given(st.lists(fractions, min_size=1, max_size=6))
def test_sequential_prices_add(epsilons: list[Fraction]) -> None:
    together = Together(events=tuple(Choice(epsilon=epsilon) for epsilon in epsilons))
    assert price(together, "pure") == paid(sum(epsilons, Fraction(0)))


@pytest.mark.requirement("4.03")
def test_four_counts_cost_four() -> None:
    assert price(Repeated(event=laplace(1, 1), times=4), "pure") == paid(4)


@pytest.mark.requirement("1.18", "2.38")
@given(st.lists(fractions, min_size=1, max_size=6), st.integers(1, 4))
def test_apart_pays_the_dearest(epsilons: list[Fraction], overlap: int) -> None:
    """Fixed blocks cost their maximum; a unit in up to `overlap` of them pays that many of the dearest."""
    blocks = Apart(events=tuple(Choice(epsilon=epsilon) for epsilon in epsilons), overlap=overlap)
    subsets = itertools.combinations(epsilons, min(overlap, len(epsilons)))
    assert price(blocks, "pure") == paid(max(sum(subset, Fraction(0)) for subset in subsets))


def law(centre: int, base: Fraction, width: int) -> dict[int, Fraction]:
    """Two-sided geometric noise clamped to a window: exact masses, the tails gathered at the ends."""
    share = (base - 1) / (base + 1)
    masses = {k: share / base ** abs(k - centre) for k in range(-width + 1, width)}
    masses[-width] = 1 / (base ** (centre + width - 1) * (base + 1)) if centre > -width else Fraction(1)
    masses[width] = 1 - sum(masses.values(), Fraction(0))
    return masses


@pytest.mark.requirement("1.17")
@pytest.mark.parametrize("blocks", [False, True])
def test_price_bounds_the_exact_law(blocks: bool) -> None:
    """Two noisy counts at odds 2 and 3, enumerated: together 6 when one unit moves both, 3 when one."""
    bases = (Fraction(2), Fraction(3))
    moves = [(1, 0), (0, 1)] if blocks else [(1, 1)]
    worst = Fraction(0)
    for move in moves:
        for first in range(-6, 7):
            for second in range(-6, 7):
                here = law(0, bases[0], 6)[first] * law(0, bases[1], 6)[second]
                there = law(move[0], bases[0], 6)[first] * law(move[1], bases[1], 6)[second]
                worst = max(worst, here / there, there / here)
    assert worst == (max(bases) if blocks else bases[0] * bases[1])
    parts = tuple(Noise(law="laplace", move=Fraction(1), scale=1 / Fraction(math.log(base))) for base in bases)
    priced = price(Apart(events=parts, overlap=1) if blocks else Together(events=parts), "pure")
    assert math.exp(priced.loss) == pytest.approx(float(worst))


def test_value_partition_under_replacement_touches_two_cells() -> None:
    """A person who changes cells moves two counts: odds r² where one cell would give r (E13)."""
    base = Fraction(2)
    ratio = max(
        law(1, base, 6)[a] * law(0, base, 6)[b] / (law(0, base, 6)[a] * law(1, base, 6)[b])
        for a in range(-6, 7)
        for b in range(-6, 7)
    )
    assert ratio == base**2
    cells = (laplace(1, 1), laplace(1, 1), laplace(1, 1))
    assert price(Apart(events=cells, overlap=2), "pure") == paid(2)


def test_a_float_is_the_decimal_it_prints_as() -> None:
    """Prices stay exact whatever kind of number an event was made of."""
    tenth = cast("Fraction", 0.1)
    spent = price(Repeated(event=Noise(law="laplace", move=tenth, scale=Fraction(1)), times=3), "pure").loss
    assert spent == Fraction(3, 10)
    assert price(Choice(epsilon=tenth), "zcdp") == paid("1/200")
    assert price(Approximate(epsilon=tenth, delta=tenth), "pure") == paid("1/10", "1/10")
    assert Sampled(rate=tenth, sigma=tenth, steps=1) == Sampled(rate=Fraction(1, 10), sigma=Fraction(1, 10), steps=1)


@pytest.mark.parametrize("bad", [0, -1])
def test_events_cannot_exist_wrong(bad: int) -> None:
    with pytest.raises(ArgumentError):
        laplace(1, bad)
    with pytest.raises(ArgumentError):
        Choice(epsilon=Fraction(bad))
    with pytest.raises(ArgumentError):
        Apart(events=(), overlap=bad)
    with pytest.raises(ArgumentError):
        Sampled(rate=Fraction(bad), sigma=Fraction(1), steps=1)
    with pytest.raises(ArgumentError):
        laplace(-1, 1)
