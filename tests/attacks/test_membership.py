"""Attacks on released records and on published means: a copy gives all away, strangers and noise nothing."""

from __future__ import annotations

import json
import math
from functools import partial
from itertools import product

import numpy as np
import pytest

from discreet.attacks.excess import Excess
from discreet.attacks.membership import Microdata, attack_microdata
from discreet.attacks.rate import Rate
from discreet.attacks.space import ORIGINAL, RELEASE, Space
from discreet.attacks.tracing import (
    Tracing,
    exact_means,
    largest_advantage,
    power,
    private_means,
    score_moments,
    trace_invented,
    tracing_scores,
)
from discreet.data.aligned import align
from discreet.draw import to_svg
from discreet.errors import InputError
from discreet.randomness import SeededBits, keyed_generator
from tests.attacks.people import Table, adult


def attacked(released: Table, seed: int = 1) -> Microdata:
    people = adult()
    return attack_microdata(
        released, people.original, people.control, secret="income", guesses=250, generator=keyed_generator(seed)
    )


@pytest.mark.requirement("3.02")
def test_a_copy_of_the_original_gives_every_attack_its_success() -> None:
    found = attacked(adult().original)
    assert all(one.beats_control for one in found.found.values())
    assert found.found["membership"].hits == found.found["membership"].tries
    assert found.found["inference of income"].risk > 0.8
    assert found.worst in found.found
    assert to_svg(found.charts()[0])
    assert json.dumps(found.as_json())


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_strangers_of_the_same_kind_give_no_attack_an_excess(seed: int) -> None:
    found = attacked(adult().strangers, seed)
    assert not any(one.beats_control for one in found.found.values())
    assert all("no excess is shown" in line for line in found.sentences())


def test_columns_torn_apart_hide_rows_but_not_rare_values() -> None:
    """The extreme value of one column is still somebody's: singling out by one column sees it, linkage does not."""
    found = attacked(adult().torn).found
    assert found["singling out by one column"].beats_control
    assert not found["linkability"].beats_control
    assert not found["membership"].beats_control


def test_half_a_copy_shows_half_a_risk() -> None:
    people = adult()
    mixed = {name: values[:1500] + people.strangers[name][:1500] for name, values in people.original.items()}
    found = attacked(mixed).found["membership"]
    low, high = found.interval
    assert low < 0.5 < high


def test_nearest_records_agree_with_plain_search() -> None:
    people = adult()
    small = {name: values[:60] for name, values in people.original.items()}
    release = {name: values[:80] for name, values in people.strangers.items()}
    space = Space.of(align([small, small, release]))
    distances, places = space.nearest(ORIGINAL, np.arange(60), 3)
    for row in range(60):
        away = []
        for other in range(80):
            parts = []
            for at, span in enumerate(space.spans):
                mine, theirs = space.values(ORIGINAL, at)[row], space.values(RELEASE, at)[other]
                parts.append(min(abs(mine - theirs) / span, 1.0) if span else float(mine != theirs))
            away.append(sum(parts) / len(parts))
        assert np.allclose(distances[row], sorted(away)[:3])
        assert np.allclose([away[at] for at in places[row]], distances[row])


def test_bad_tables_are_refused() -> None:
    people = adult()
    short = {name: values[:5] for name, values in people.original.items()}
    with pytest.raises(InputError, match="at least 20 rows"):
        attack_microdata(short, people.original, people.control, generator=keyed_generator(1))
    with pytest.raises(InputError, match="did you mean income"):
        attack_microdata(people.original, people.original, people.control, secret="incom", generator=keyed_generator(1))


@pytest.mark.parametrize(("attack", "control"), [(0.3, 0.3), (0.5, 0.2), (0.05, 0.0), (1.0, 0.9)])
def test_intervals_of_the_excess_hold_as_often_as_they_say(attack: float, control: float) -> None:
    generator, true = keyed_generator(4), max(0.0, (attack - control) / (1 - control))
    held = 0
    for hits, control_hits in zip(
        generator.binomial(60, attack, 600), generator.binomial(60, control, 600), strict=True
    ):
        low, high = Excess(hits=int(hits), control_hits=int(control_hits), tries=60).interval
        held += low <= true <= high
    assert held / 600 >= 0.94


def test_interval_of_a_rate_is_exact_and_its_verdict_follows() -> None:
    rate = Rate(hits=0, tries=50, baseline=0.0)
    low, high = rate.interval
    assert low == 0
    assert high == pytest.approx(1 - 0.025 ** (1 / 50))
    assert not rate.beats_chance
    assert Rate(hits=10, tries=10, baseline=0.5).beats_chance
    assert not Rate(hits=6, tries=10, baseline=0.5).beats_chance
    for wrong in ({"hits": 3, "tries": 2}, {"hits": -1, "tries": 2}, {"hits": 0, "tries": 0}):
        with pytest.raises(InputError):
            Rate(**wrong, baseline=0.0)


def traced(ratio: float, seed: int, *, people: int = 200) -> Tracing:
    return trace_invented(
        exact_means, people=people, attributes=round(ratio * people), outsiders=4000, generator=keyed_generator(seed)
    )


@pytest.mark.parametrize("ratio", [0.25, 1.0, 4.0, 10.0])
def test_power_is_that_of_the_closed_form(ratio: float) -> None:
    """Ten traces of 200 people: within three standard errors of the closed form for their frequencies."""
    runs = [traced(ratio, seed) for seed in range(10)]
    for false in (0.05, 0.01):
        expected = np.mean([run.expected(false) for run in runs])
        assert expected == pytest.approx(power(ratio, false), abs=0.012)  # the limit forgets that frequencies differ
        shares = [run.found[false].share for run in runs]
        error = max(float(np.std(shares, ddof=1)) / math.sqrt(10), math.sqrt(expected * (1 - expected) / 2000))
        assert abs(np.mean(shares) - expected) < 3 * error
    advantage = np.mean([run.advantage for run in runs])
    assert advantage == pytest.approx(largest_advantage(ratio=ratio), abs=0.06)


def test_moments_of_the_scores_are_those_of_all_tables() -> None:
    """Three people, two attributes: every table with its chance, a member's score and that of an outsider."""
    frequencies, people = np.array([0.3, 0.6]), 3
    inside, outside, reach = score_moments(frequencies, people)
    chances, members, others = [], [], []
    for bits in product((False, True), repeat=2 * (people + 1)):
        table = np.array(bits).reshape(people + 1, 2)
        chances.append(float(np.where(table, frequencies, 1 - frequencies).prod()))
        scores = tracing_scores(table[:people].mean(axis=0), frequencies, table)
        members.append(scores[0])
        others.append(scores[-1])
    weights, first, last = np.array(chances), np.array(members), np.array(others)
    assert weights.sum() == pytest.approx(1)
    assert (weights @ first, weights @ last) == pytest.approx((reach, 0))
    assert weights @ (first - reach) ** 2 == pytest.approx(inside)
    assert weights @ last**2 == pytest.approx(outside)


def test_score_is_the_inner_product() -> None:
    generator = keyed_generator(5)
    people = generator.random((6, 4)) < 0.5
    means, frequencies = generator.random(4), generator.random(4)
    for person, score in zip(people, tracing_scores(means, frequencies, people), strict=True):
        slow = sum((x - p) * (q - p) for x, p, q in zip(person, frequencies, means, strict=True))
        assert score == pytest.approx(slow)


def test_stated_bounds_of_differential_privacy() -> None:
    for epsilon, bound in ((0.1, 0.050), (0.25, 0.124), (0.5, 0.245), (1, 0.462), (2, 0.762), (3, 0.905), (5, 0.987)):
        assert largest_advantage(epsilon=epsilon) == pytest.approx(bound, abs=5e-4)
    with pytest.raises(InputError):
        largest_advantage()


@pytest.mark.requirement("2.21")
def test_tracing_falls_below_the_bound_of_differential_privacy() -> None:
    rho, delta = 0.02, 1e-3
    epsilon = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    publish = partial(private_means, rho=rho, bits=SeededBits(6), teaching=True)
    private = trace_invented(publish, people=200, attributes=2000, generator=keyed_generator(7))
    assert private.advantage < largest_advantage(epsilon=epsilon, delta=delta) + 0.12
    assert not private.found[0.05].interval[0] > 0.15
    plain = trace_invented(exact_means, people=200, attributes=2000, generator=keyed_generator(7))
    assert plain.found[0.05].share > 0.85
    assert plain.found[0.05].beats_chance
    assert to_svg(plain.charts()[0])
    assert json.dumps(plain.as_json())
    assert "closed form" in plain.sentences()[1]


def test_means_that_tell_nothing_trace_nobody() -> None:
    found = trace_invented(
        lambda people: np.full(people.shape[1], 0.5), people=200, attributes=400, generator=keyed_generator(9)
    )
    assert not found.found[0.05].beats_chance
    assert found.advantage < 0.2
