"""Linkage: the scoreboard by hand, the published table on invented ratings, strangers, and joins."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from discreet.attacks.joining import link_tables, stands_in_order
from discreet.attacks.linkage import PLANS, Clue, Knowledge, attack_ratings, match
from discreet.attacks.ratings import Ratings, invented_ratings, ratings_of
from discreet.draw import to_svg
from discreet.errors import InputError
from discreet.randomness import keyed_generator
from tests.attacks.people import adult
from tests.attacks.survey import Table, example

ROOT = Path(__file__).parent.parent.parent
# The best is right; matched right; matched wrong. What risk research measured of 400 people of a public set.
MEASURED = dict(
    zip(
        PLANS,
        (
            (0.917, 0.393, 0.0),
            (0.995, 0.765, 0.0),
            (1.0, 0.968, 0.0),
            (0.810, 0.472, 0.052),
            (0.797, 0.372, 0.003),
            (0.355, 0.130, 0.117),
            (0.980, 0.938, 0.005),
            (1.0, 0.968, 0.0),
            (0.605, 0.115, 0.0),
        ),
        strict=True,
    )
)
# What is reached on invented sets of that shape, over 60 of them and everybody in each (standard errors below .006),
# and how much the three differ from set to set (standard deviations).
REACHED = dict(
    zip(
        PLANS,
        (
            ((0.957, 0.463, 0.0), (0.004, 0.017, 0.0)),
            ((0.9993, 0.897, 0.0), (0.001, 0.010, 0.0)),
            ((1.0, 0.995, 0.0), (0.0, 0.002, 0.0)),
            ((0.833, 0.479, 0.0099), (0.019, 0.032, 0.002)),
            ((0.806, 0.389, 0.0062), (0.018, 0.026, 0.001)),
            ((0.367, 0.101, 0.0409), (0.025, 0.010, 0.003)),
            ((0.988, 0.944, 0.0017), (0.001, 0.009, 0.001)),
            ((0.998, 0.981, 0.0), (0.001, 0.005, 0.0)),
            ((0.683, 0.140, 0.0), (0.048, 0.022, 0.0)),
        ),
        strict=True,
    )
)


def scores_by_hand(ratings: Ratings, clues: list[Clue]) -> list[float]:
    found = [0.0] * ratings.people
    for clue in clues:
        raters = [at for at in range(len(ratings.person)) if ratings.item[at] == clue.item]
        for at in raters:
            part = 0.0
            if clue.rating is not None:
                part += math.exp(-abs(float(ratings.rating[at]) - clue.rating) / 1.5)
            if clue.day is not None:
                part += math.exp(-abs(int(ratings.day[at]) - clue.day) / 30)
            found[ratings.person[at]] += part / math.log(max(len(raters), 2))
    return found


@pytest.mark.requirement("0.02", "2.04")
def test_scoreboard_agrees_with_plain_sums() -> None:
    generator = keyed_generator(1)
    ratings = invented_ratings(generator, people=40, items=60, mean=25)
    for _ in range(20):
        clues = [
            Clue(
                item=int(generator.integers(60)),
                rating=float(generator.integers(1, 6)),
                day=int(generator.integers(200)),
            )
            for _ in range(4)
        ]
        slow = scores_by_hand(ratings, clues)
        found = match(ratings, clues)
        best = sorted(slow)[-2:]
        assert slow[found.person] == pytest.approx(best[1])
        assert found.eccentricity == pytest.approx((best[1] - best[0]) / np.std(slow))
    assert match(ratings, [Clue(item=999)]).eccentricity == 0


def linked(sets: int, targets: int) -> dict[Knowledge, tuple[tuple[float, float, float], int]]:
    """The three shares of each plan over several invented sets, and of how many tries."""
    total = {plan: [0, 0, 0, 0] for plan in PLANS}
    for seed in range(sets):
        ratings = invented_ratings(keyed_generator(seed))
        assert (ratings.people, ratings.items) == (943, 1682)
        assert len(ratings.person) == pytest.approx(100_000, rel=0.04)
        for one in attack_ratings(ratings, targets=targets, generator=keyed_generator(100 + seed)).plans:
            found = one.best.hits, one.right.hits, one.wrong, one.best.tries
            total[one.knowledge] = [sum(pair) for pair in zip(total[one.knowledge], found, strict=True)]
    return {plan: ((best / n, right / n, wrong / n), n) for plan, (best, right, wrong, n) in total.items()}


def spread(share: float, tries: int) -> float:
    """The variance of a share of that many tries."""
    return share * (1 - share) / tries


@pytest.mark.requirement("0.02", "1.07", "2.04")
@pytest.mark.parametrize(("sets", "targets"), [(4, 200), pytest.param(24, 943, marks=pytest.mark.slow)])
def test_linkage_table_is_reached_on_invented_ratings(sets: int, targets: int) -> None:
    """Right as often as on the public set, and wrong no more often, as far as its 400 people tell; and what we reach.

    Margins of six standard errors: of the tries here, of the difference between sets, and of the 400; and four tries.
    """
    for plan, (shares, tries) in linked(sets, targets).items():
        for place, share in enumerate(shares):
            measured, (expected, between) = MEASURED[plan][place], (one[place] for one in REACHED[plan])
            own = between**2 / sets + spread(expected, tries)
            assert abs(share - expected) <= 6 * math.sqrt(own) + 4 / tries, (plan, place)
            slack = 6 * math.sqrt(own + spread(measured, 400)) + 4 / 400
            assert (measured - share if place < 2 else share - measured) <= slack, (plan, place)


def test_linkage_is_reported() -> None:
    ratings = invented_ratings(keyed_generator(1), people=200, items=300, mean=50)
    found = attack_ratings(ratings, plans=PLANS[:3], targets=60, generator=keyed_generator(7))
    assert len(found.plans) == 3
    assert "finds the record" in found.sentences()[0]
    assert to_svg(found.charts()[0])
    assert json.dumps(found.as_json())


def test_clues_about_strangers_link_nobody() -> None:
    """The intruder knows people who are not in the release: the best is right by chance, matches are rare."""
    released, others = (invented_ratings(keyed_generator(seed), people=400, items=600, mean=60) for seed in (2, 3))
    plans = [Knowledge(ratings=8, day_error=3), Knowledge(ratings=8, rating_error=1)]
    found = attack_ratings(released, known_from=others, plans=plans, targets=150, generator=keyed_generator(4))
    for one in found.plans:
        assert not one.best.beats_chance
        assert not one.right.beats_chance
        assert one.abstained > 0.5 * one.right.tries


def test_rarity_weights_and_abstention_matter() -> None:
    """A rare item outweighs a common one; without a clear winner the score stands off by less than the threshold."""
    person = [*range(50), 0, 1]
    item = [*[0] * 50, 1, 1]
    ratings = ratings_of(person, item, [3.0] * 52, [0] * 52)
    assert match(ratings, [Clue(item=0, rating=3.0)]).eccentricity == 0
    both = match(ratings, [Clue(item=0, rating=3.0), Clue(item=1, rating=3.0)])
    assert both.person in (0, 1)
    assert both.eccentricity == 0
    assert match(ratings_of(person[:-1], item[:-1], [3.0] * 51, [0] * 51), [Clue(item=1)]).eccentricity > 5


@pytest.mark.slow
def test_ten_million_ratings_are_linked_within_their_memory() -> None:
    """100,000 people, in a process of its own, whose memory is the kernel's count."""
    command = [sys.executable, "-c", "from bench.attacks import large; large()"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout
    right, _, gibibytes = map(float, printed.split())
    assert right > 0.9
    assert gibibytes < 4


def test_bad_ratings_are_refused() -> None:
    with pytest.raises(InputError, match="one length"):
        ratings_of([0, 1], [0], [1.0], [0])
    small = invented_ratings(keyed_generator(6), people=30, items=50, mean=22)
    with pytest.raises(InputError, match="nobody with enough"):
        attack_ratings(small, plans=[Knowledge(ratings=60)], generator=keyed_generator(7))


@pytest.mark.requirement("1.07")
def test_joining_finds_the_unique_records_and_no_others() -> None:
    people = example("student_survey")
    for columns, share in ((["age"], 4 / 24), (["age", "sex"], 7 / 24)):
        found = link_tables(people, people, columns, generator=keyed_generator(8))
        assert found.alone.share == pytest.approx(share)
        assert found.wrong == 0
        keys = list(zip(*(people[name] for name in columns), strict=True))
        assert found.picked == pytest.approx(np.mean([1 / keys.count(key) for key in keys]))
    assert to_svg(found.charts()[0])
    assert json.dumps(found.as_json())


def test_generalised_cells_join_by_what_they_cover() -> None:
    named: Table = {"age": [23, 24, 31, 45], "zip": ["13012", "13014", "14012", "14012"]}
    released: Table = {
        "age": ["20-29", "20-29", "30-39", "≥40"],
        "zip": ["1301*", "1301*", "14***", "14***"],
    }
    found = link_tables(named, released, ["age", "zip"], generator=keyed_generator(9))
    assert found.alone.hits == 2
    assert found.picked == pytest.approx((0.5 + 0.5 + 1 + 1) / 4)


def test_torn_columns_do_not_join_to_their_people() -> None:
    people = adult()
    known = ["age", "education_num", "occupation"]
    whole = link_tables(people.original, people.original, known, targets=500, generator=keyed_generator(10))
    torn = link_tables(people.original, people.torn, known, targets=500, generator=keyed_generator(10))
    assert whole.alone.beats_chance
    assert whole.wrong == 0
    assert not torn.alone.beats_chance
    assert torn.wrong > 20


def test_another_order_is_noticed_and_the_same_one_too() -> None:
    """Shuffled rows join as before and would all be judged wrong; one column left as it was shows the order."""
    people = adult().original
    columns, size = list(people), len(people["age"])
    assert stands_in_order(people, people, columns)
    assert not stands_in_order(people, {"constant": [1] * size}, [])
    for seed in range(10):
        order = keyed_generator(seed).permutation(size)
        shuffled = {name: [people[name][at] for at in order] for name in columns}
        assert not stands_in_order(people, shuffled, columns)
        assert stands_in_order(people, shuffled | {"occupation": people["occupation"]}, columns)
        assert link_tables(people, shuffled, columns, generator=keyed_generator(1)).wrong > 100


def test_tables_of_different_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="4 people and 1 records"):
        link_tables({"a": [1, 2, 3, 4]}, {"a": [1]}, ["a"], generator=keyed_generator(1))
    with pytest.raises(InputError, match="no such name"):
        link_tables({"a": [1]}, {"b": [1]}, ["a"], generator=keyed_generator(1))
