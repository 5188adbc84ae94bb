"""One small table: broken four ways as it is usually published, and not under differential privacy."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from discreet.attacks import four_ways as module
from discreet.attacks.four_ways import WAYS, FourWays, attack_four_ways
from discreet.attacks.keepers import private_keeper
from discreet.demonstration import four_ways, student_survey
from discreet.draw import to_svg
from discreet.errors import DiscreetError
from discreet.mechanisms.noise import LaplaceNoise
from discreet.randomness import SeededBits, system_bits


@pytest.fixture(scope="module")
def shown() -> FourWays:
    return four_ways()


@pytest.mark.requirement("2.19", "2.21", "3.02")
def test_a_small_table_is_broken_four_ways_and_not_under_differential_privacy(shown: FourWays) -> None:
    assert shown.broken == WAYS
    assert shown.broken_with_noise == ()
    assert {name: rate.hits for name, rate in shown.plain.items() if name != "two releases"} == {
        "linking": 24,
        "differencing": 18,
        "reconstruction": 24,
    }
    assert all(rate.tries == shown.private[name].tries for name, rate in shown.plain.items())
    assert to_svg(shown.charts()[0])
    assert json.dumps(shown.as_json())
    assert len(shown.grids()[0].rows) == 8


def test_it_is_not_the_seed_that_hides_them() -> None:
    """Thirty other draws: each rate beats chance about as often as an interval of 95 % misses, and none finds all."""
    survey, beaten, hits = student_survey(), Counter[str](), Counter[str]()
    for seed in range(1, 31):
        found = attack_four_ways(survey, epsilon=1, bits=SeededBits(seed), teaching=True)
        beaten.update(found.broken_with_noise)
        for name, rate in found.private.items():
            hits[name] += rate.hits
            assert rate.share < 1
    assert sum(beaten.values()) <= 12
    for name, rate in found.private.items():
        # ε/4 for each way: a secret's odds move by at most e^(1/4), so that guesses gain little on a fair coin.
        assert hits[name] / (30 * rate.tries) < 0.5 + 0.5 * (np.exp(0.25) - 1) / (np.exp(0.25) + 1) + 0.1, name


def test_with_little_noise_all_four_succeed_again() -> None:
    found = attack_four_ways(student_survey(), epsilon=10**6, bits=SeededBits(1), teaching=True)
    assert found.private["linking"].share == 1
    assert found.private["differencing"].share == 1
    assert found.private["reconstruction"].share == 1


def test_the_four_ways_share_one_epsilon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every noise that is drawn, with how far a record moves what it is added to: the sum of Δ/scale is ε."""
    spent: list[Fraction] = []
    plain = LaplaceNoise.for_guarantee

    def noted(*, sensitivity: int, epsilon: object) -> LaplaceNoise:
        made = plain(sensitivity=sensitivity, epsilon=epsilon)  # type: ignore[arg-type]
        spent.append(Fraction(sensitivity) / made.scale)
        return made

    def kept(*arguments: object, epsilon: Fraction, budget: Fraction, **more: object) -> object:
        spent.append(budget - epsilon)  # its noise is noted by itself, for one count of all that it pays for
        return private_keeper(*arguments, epsilon=epsilon, budget=budget, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(LaplaceNoise, "for_guarantee", staticmethod(noted))
    monkeypatch.setattr(module, "private_keeper", kept)
    attack_four_ways(student_survey(), epsilon=2, bits=SeededBits(2), teaching=True)
    assert sum(spent) == 2
    assert sorted(spent)[-1] == Fraction(1, 2)


def test_a_seed_is_for_teaching_alone() -> None:
    with pytest.raises(DiscreetError):
        attack_four_ways(student_survey(), epsilon=1, bits=SeededBits(1))
    assert attack_four_ways(student_survey(), epsilon=1, bits=system_bits()).epsilon == 1
