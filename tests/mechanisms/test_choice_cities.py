"""Where a society of four should meet: a private choice among seven public cities, and utilities that may not be used.

The seven cities and four members are the worked example's; their mean position is (38.75, −87), not what is printed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import pytest

from discreet.errors import ArgumentError
from discreet.mechanisms import choice, exponential
from discreet.mechanisms.utility_score import Utility
from discreet.randomness import SeededBits
from tests.mechanisms.chi_square import fits

Place = tuple[Fraction, Fraction]
CITIES = {
    "Ottawa": (45, -75),
    "Toronto": (43, -79),
    "New York": (40, -74),
    "Washington": (38, -77),
    "Memphis": (35, -90),
    "Los Angeles": (34, -118),
    "La Habana": (23, -82),
}
PLACES: list[Place] = [(Fraction(latitude), Fraction(longitude)) for latitude, longitude in CITIES.values()]
MEMBERS = {"Alice": "Los Angeles", "Bob": "New York", "Charlie": "Washington", "Xander": "Toronto"}
GRID = 10**6  # distances are rounded down to millionths of a degree, all of it public


def place(city: str) -> Place:
    return PLACES[list(CITIES).index(city)]


def mean(places: Sequence[Place]) -> Place:
    return sum(at[0] for at in places) / Fraction(len(places)), sum(at[1] for at in places) / Fraction(len(places))


def steps_between(one: Place, other: Place) -> int:
    """The distance in whole steps of the grid, rounded down."""
    squared = ((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2) * GRID**2
    return math.isqrt(squared.numerator // squared.denominator)


def diameter_steps() -> int:
    """The greatest distance between two cities, rounded up."""
    return 1 + max(steps_between(one, other) for one in PLACES for other in PLACES)


def to_mean(places: Sequence[Place]) -> Utility:
    """Minus the distance of each city to the members' mean, with as many members as there are in public.

    Replacing a member moves the mean by at most diameter/n, and each distance by no more. The difference of two
    numbers rounded down is at most their difference rounded up: the sensitivity counts the rounding.
    """
    return Utility(
        scores=[-steps_between(mean(places), city) for city in PLACES],
        sensitivity=Fraction(-(-diameter_steps() // len(places))),
        why="replacing one of n moves the mean by at most the diameter over n",
    )


def to_everyone(places: Sequence[Place]) -> Utility:
    """Minus the sum of distances to all members; how many there are is private."""
    return Utility(
        scores=[-sum(steps_between(at, city) for at in places) for city in PLACES],
        sensitivity=Fraction(diameter_steps()),
        monotone=True,
        why="a member who joins lowers every score, by at most the diameter",
    )


def members() -> list[Place]:
    return [place(city) for city in MEMBERS.values()]


@pytest.mark.requirement("4.24")
@pytest.mark.requirement("4.25")
def test_the_mean_of_the_members_and_its_closest_city() -> None:
    assert mean(members()) == (Fraction("38.75"), Fraction(-87))
    distances = {name: steps_between(mean(members()), place(name)) / GRID for name in CITIES}
    assert min(distances, key=lambda name: distances[name]) == "Memphis"
    assert distances["Memphis"] == pytest.approx(4.80, abs=0.005)


@pytest.mark.requirement("4.27")
def test_one_member_fewer_moves_the_closest_city() -> None:
    """What an exact answer would tell of Alice."""
    rest = [place(city) for name, city in MEMBERS.items() if name != "Alice"]
    assert [round(float(part), 2) for part in mean(rest)] == [40.33, -76.67]
    distances = {name: steps_between(mean(rest), place(name)) / GRID for name in CITIES}
    assert min(distances, key=lambda name: distances[name]) == "Washington"
    assert distances["Washington"] == pytest.approx(2.36, abs=0.005)


@pytest.mark.requirement("4.27")
@pytest.mark.parametrize("size", [1, 2, 4])
def test_the_declared_sensitivity_holds_for_every_replacement_and_is_reached(size: int) -> None:
    declared, moved = to_mean(PLACES[:1] * size).sensitivity, Fraction(0)
    for rest in combinations_with_replacement(PLACES, size - 1):
        for city in zip(*(to_mean([*rest, one]).scores for one in PLACES), strict=True):
            moved = max(moved, Fraction(max(city) - min(city)))
    assert declared * Fraction(9, 10) <= moved <= declared


@pytest.mark.requirement("4.28")
def test_the_chances_of_the_cities() -> None:
    steps, decay = to_mean(members()).steps(1)
    assert to_mean(members()).sensitivity / GRID == pytest.approx(Fraction("11.10"), abs=0.005)
    weights = [float(decay.bounds(step, 20)[0]) for step in steps]
    chances = {name: weight / sum(weights) for name, weight in zip(CITIES, weights, strict=True)}
    printed = {
        "Memphis": 0.2052,
        "Toronto": 0.1694,
        "Washington": 0.1622,
        "New York": 0.1415,
        "Ottawa": 0.1385,
        "La Habana": 0.1211,
        "Los Angeles": 0.0621,
    }
    assert {name: round(chance, 4) for name, chance in chances.items()} == printed
    bits = SeededBits(7)
    city = to_mean(members())
    drawn = [exponential.choose(city, 1, bits, teaching=True) for _ in range(2000)]
    assert fits(drawn, dict(enumerate(chances.values())))


@pytest.mark.requirement("4.28")
def test_each_city_is_at_most_e_times_as_likely_for_any_neighbour() -> None:
    """All replacements among four: exact up to the digits of the weights."""

    def chances(places: list[Place]) -> list[tuple[Fraction, Fraction]]:
        steps, decay = to_mean(places).steps(1)
        bounds = [decay.bounds(step, 12) for step in steps]
        total_low, total_high = sum(low for low, _ in bounds), sum(high for _, high in bounds)
        return [(low / total_high, high / total_low) for low, high in bounds]

    worst = Fraction(0)
    for rest in combinations_with_replacement(PLACES, 3):
        laws = [chances([*rest, one]) for one in PLACES]
        worst = max(worst, *(a[1] / b[0] for one in laws for other in laws for a, b in zip(one, other, strict=True)))
    assert 1.3 < worst < Fraction(math.e)


@pytest.mark.requirement("4.26")
def test_one_over_the_distance_has_no_sensitivity_and_is_refused() -> None:
    """A mean ever closer to Memphis: one member's replacement moves 1/distance by ever more."""
    memphis, moved = place("Memphis"), []
    for digits in range(1, 7):
        near = (memphis[0] + Fraction(2, 10**digits), memphis[1])
        distances = [
            math.dist([float(part) for part in mean([memphis, other])], [float(part) for part in memphis])
            for other in (near, place("Los Angeles"))
        ]
        moved.append(1 / distances[0] - 1 / distances[1])
    assert all(later > 9 * earlier for earlier, later in pairwise(moved))
    with pytest.raises(ArgumentError, match="minus the distance within declared bounds instead of 1/distance"):
        Utility(scores=[1] * 7, sensitivity=math.inf, why="1/distance")  # type: ignore[arg-type]  # that is the point


@pytest.mark.requirement("4.28")
def test_the_sum_of_distances_needs_no_public_number_of_members() -> None:
    """Adding any person to any group moves every score down, by at most the diameter, which is reached."""
    reached = Fraction(0)
    for group in [[], *([*rest] for rest in combinations_with_replacement(PLACES, 2))]:
        for joining in PLACES:
            before, after = to_everyone(group), to_everyone([*group, joining])
            falls = [a - b for a, b in zip(map(Fraction, before.scores), after.scores, strict=True)]
            assert 0 <= min(falls) <= max(falls) <= after.sensitivity
            reached = max(reached, max(falls) / after.sensitivity)
    assert reached > Fraction(99, 100)
    bits, crowd = SeededBits(9), to_everyone(members() * 60)
    best = max(range(len(PLACES)), key=lambda at: crowd.scores[at])
    assert {choice.choose(crowd, 20, bits, teaching=True) for _ in range(50)} == {best}
