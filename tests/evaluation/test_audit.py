"""The audit finds planted faults, keeps quiet on sound mechanisms, and its bound is a bound."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import log

import numpy as np
import numpy.typing as npt
import pytest

from discreet.errors import ArgumentError
from discreet.evaluation import audit as audit_module
from discreet.evaluation.audit import Audit, audit, event_counts
from discreet.guarantee import Adjacency, ApproxDP, PureDP
from discreet.mechanisms import choice
from discreet.mechanisms.aim import Quantile
from discreet.mechanisms.noise import GaussianNoise, LaplaceNoise, Noise, release
from discreet.mechanisms.ordered import Cells, Ordered
from discreet.mechanisms.quantile import choose_quantile
from discreet.mechanisms.response import Response
from discreet.mechanisms.utility_score import Utility
from discreet.randomness import SeededBits

Sampler = Callable[[int], npt.NDArray[np.generic]]
DRAWS = 40_000


def laplace(centre: float, scale: float, seed: int) -> Sampler:
    generator = np.random.default_rng(seed)
    return lambda count: generator.laplace(centre, scale, count)


def geometric(centre: int, scale: float, seed: int) -> Sampler:
    generator = np.random.default_rng(seed)
    p = 1 - np.exp(-1 / scale)
    return lambda count: (centre + generator.geometric(p, count) - generator.geometric(p, count)).astype(float)


def clamp(sampler: Sampler, floor: float) -> Sampler:
    return lambda count: np.maximum(sampler(count), floor)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("draw", [laplace, geometric], ids=["laplace", "geometric"])
@pytest.mark.parametrize("clamped", [False, True])
def test_sound_mechanisms_raise_no_alarm(epsilon: float, draw: Callable[..., Sampler], clamped: bool) -> None:
    floor = 0.0 if clamped else -np.inf
    for seed in range(3):
        first, second = (clamp(draw(count, 1 / epsilon, 10 * seed + count), floor) for count in (0, 1))
        found = audit(first, second, PureDP.of(epsilon), draws=DRAWS)
        assert not found.violated, found.sentence()
        assert found.epsilon >= 0.6 * epsilon, "the bound says next to nothing"


@pytest.mark.parametrize(
    ("fault", "first", "second"),
    [
        ("sensitivity halved", laplace(0, 0.5, 1), laplace(1, 0.5, 2)),
        ("scale for rate", laplace(0, 0.25, 3), laplace(1, 0.25, 4)),
        ("seed fixed", lambda count: np.full(count, 0.37), lambda count: np.full(count, 1.37)),
        ("clamp dropped", laplace(0, 1, 5), laplace(40, 1, 6)),
    ],
)
def test_planted_faults_are_found(fault: str, first: Sampler, second: Sampler) -> None:
    claimed = 0.5 if fault == "scale for rate" else 1
    found = audit(first, second, PureDP.of(claimed), draws=DRAWS)
    assert found.violated, fault
    assert "refuted" in found.sentence()


def test_vectors_are_told_apart_jointly() -> None:
    """Each of ten coordinates keeps its share of ε; together they spend ten times as much as is claimed."""
    generator = np.random.default_rng(7)
    first = lambda count: generator.laplace(0.0, 2.0, (count, 10))  # noqa: E731  # two samplers side by side
    second = lambda count: generator.laplace(1.0, 2.0, (count, 10))  # noqa: E731  # two samplers side by side
    assert not audit(first, second, PureDP.of(5), draws=DRAWS).violated
    assert audit(first, second, PureDP.of("0.5"), draws=DRAWS).violated


def test_events_that_are_passed_over_could_not_have_won(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search finds what one finds that works out every bound, vectors and rare outputs included."""

    def found() -> list[Audit]:
        generator = np.random.default_rng(17)
        pairs: list[tuple[Sampler, Sampler]] = [
            (lambda n: generator.laplace(0, 1, (n, 3)), lambda n: generator.laplace(0.5, 1, (n, 3))),
            (lambda n: generator.poisson(0.1, n), lambda n: generator.poisson(0.2, n)),
            (lambda n: generator.random(n) < 0.01, lambda n: np.zeros(n)),
            (lambda n: np.zeros(n), lambda n: np.zeros(n)),
        ]
        claims = PureDP.of("0.1"), ApproxDP.of("0.1", "0.001")
        return [audit(*pair, claimed, draws=4000) for pair in pairs for claimed in claims]

    quick = found()
    monkeypatch.setattr(audit_module, "_may_exceed", lambda *_: True)
    assert found() == quick


def noisy(value: int, noise: Noise, seed: int) -> Sampler:
    """The product's own release of one number, over and over."""
    bits = SeededBits(seed)
    return lambda count: release(np.full(count, value, dtype=np.int64), noise, bits, teaching=True).value


ONE = LaplaceNoise.for_guarantee(sensitivity=1, epsilon=1)


def clamped(records: list[int], *, bounds: tuple[int, int] | None, seed: int) -> Sampler:
    """A noisy sum of records in 0 to 4, with and without the clamp."""
    low, high = bounds or (min(records), max(records))
    total = sum(min(max(record, low), high) for record in records)
    return noisy(total, LaplaceNoise.for_guarantee(sensitivity=4, epsilon=1), seed)


FAULTS: dict[str, tuple[Sampler, Sampler, Sampler, Sampler, str]] = {
    # The right mechanism on two neighbours, then the same with the fault, and the claim.
    "sensitivity halved": (
        noisy(6, LaplaceNoise.for_guarantee(sensitivity=2, epsilon=1), 1),
        noisy(8, LaplaceNoise.for_guarantee(sensitivity=2, epsilon=1), 2),
        noisy(6, ONE, 3),
        noisy(8, ONE, 4),
        "1",
    ),
    "scale for rate": (
        noisy(6, LaplaceNoise.of_scale(2), 5),
        noisy(7, LaplaceNoise.of_scale(2), 6),
        noisy(6, LaplaceNoise.of_scale("1/2"), 7),
        noisy(7, LaplaceNoise.of_scale("1/2"), 8),
        "1/2",
    ),
    "a seed for each run": (
        noisy(6, ONE, 9),
        noisy(7, ONE, 10),
        lambda count: noisy(6, ONE, 7)(count),
        lambda count: noisy(7, ONE, 8)(count),
        "1",
    ),
    "a seed for each release": (
        noisy(6, ONE, 11),
        noisy(7, ONE, 12),
        lambda count: np.repeat(noisy(6, ONE, 7)(1), count),
        lambda count: np.repeat(noisy(7, ONE, 7)(1), count),
        "1",
    ),
    "clamp dropped": (
        clamped([1, 3], bounds=(0, 4), seed=13),
        clamped([1, 3, 40], bounds=(0, 4), seed=14),
        clamped([1, 3], bounds=None, seed=15),
        clamped([1, 3, 40], bounds=None, seed=16),
        "1",
    ),
}


@pytest.mark.mutates
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_in_our_own_releases_are_found_and_the_right_ones_pass(fault: str) -> None:
    """At a family level of 10⁻⁴ for all ten audits together."""
    first, second, wrong, other, epsilon = FAULTS[fault]
    family = 2 * len(FAULTS)
    sound = audit(first, second, PureDP.of(epsilon), draws=DRAWS, family=family)
    assert not sound.violated, sound.sentence()
    found = audit(wrong, other, PureDP.of(epsilon), draws=DRAWS, family=family)
    assert found.violated, found.sentence()
    assert found.repeats == (fault == "a seed for each run")
    assert "for all 10 audits together" in sound.sentence()


def test_our_own_mechanisms_pass_with_a_bound_that_says_something() -> None:
    """Noise with a δ, a choice, a rank and a response, each on neighbours that are about as bad as can be."""
    bits, scores = SeededBits(31), ((1, 0, 0), (0, 1, 1))
    gaussian = GaussianNoise.for_guarantee(sensitivity=1, epsilon=1, delta="1e-3")
    coin = Response.of(1)
    ages = [Ordered.from_values(np.array(values), Cells(0, 9)) for values in ([2], [7])]

    def chosen(which: int) -> Sampler:
        utility = Utility(scores=scores[which], sensitivity=Fraction(1), why="each moves by one")
        return lambda count: np.array([choice.choose(utility, 4, bits, teaching=True) for _ in range(count)])

    def ranked(which: int) -> Sampler:
        one = partial(
            choose_quantile,
            ages[which],
            Quantile(Fraction(1, 2)),
            epsilon=4,
            adjacency=Adjacency.REPLACE_ONE,
            bits=bits,
            teaching=True,
        )
        return lambda count: np.array([one().value for _ in range(count)])

    def said(truth: int) -> Sampler:
        return lambda count: coin.answers(np.full(count, truth), bits, teaching=True)

    cases: list[tuple[Sampler, Sampler, PureDP | ApproxDP, int]] = [
        (noisy(0, gaussian, 32), noisy(1, gaussian, 33), ApproxDP.of(1, "1e-3"), DRAWS),
        (said(0), said(1), PureDP.of(1), DRAWS),
        (chosen(0), chosen(1), PureDP.of(4), 1000),
        (ranked(0), ranked(1), PureDP.of(4), 1000),
    ]
    for first, second, claimed, draws in cases:
        found = audit(first, second, claimed, draws=draws, family=len(cases))
        assert not found.violated, found.sentence()
        assert found.epsilon > 0.15, "the bound says next to nothing"


def test_what_is_constant_or_nearly_so_repeats_itself_without_a_seed() -> None:
    generator = np.random.default_rng(3)
    for share in (0.0, 1e-5, 1e-3):
        rare = lambda count, share=share: (generator.random(count) < share).astype(float)  # noqa: E731
        assert not audit(rare, rare, PureDP.of("0.1"), draws=2000).violated


def test_delta_is_taken_off() -> None:
    """Released in clear with probability 1 %: refuted as pure, sound at δ = 1 %."""
    generator = np.random.default_rng(8)

    def leaky(value: float) -> Sampler:
        return lambda count: np.where(generator.random(count) < 0.01, value, generator.laplace(0, 1, count))

    assert audit(leaky(50), leaky(51), PureDP.of(1), draws=DRAWS).violated
    assert not audit(leaky(50), leaky(51), ApproxDP.of(1, "0.01"), draws=DRAWS).violated


def test_family_of_audits_keeps_its_level() -> None:
    """At confidence 0.9 a sound and tight mechanism may be refuted in at most one audit of ten, over 200 audits."""
    generator = np.random.default_rng(9)

    def coin(truth: int) -> Sampler:
        return lambda count: np.where(generator.random(count) < 0.75, truth, 1 - truth).astype(float)

    alarms = sum(audit(coin(0), coin(1), PureDP.of(log(3)), draws=1000, confidence=0.9).violated for _ in range(200))
    assert alarms <= 20
    # Five that share the confidence bound ε as each of five at a fifth of the error does.
    bounds = [
        audit(coin(0), coin(1), PureDP.of(1), draws=1000, confidence=1 - error, family=family).epsilon
        for error, family in ((0.5, 5), (0.1, 1))
    ]
    shared = event_counts(375, 125, 500, 0.0, 0.5 / 5)
    assert shared == event_counts(375, 125, 500, 0.0, 0.1) < event_counts(375, 125, 500, 0.0, 0.5)
    assert all(abs(bound - shared) < 0.5 for bound in bounds)
    with pytest.raises(ArgumentError, match="family"):
        audit(coin(0), coin(1), PureDP.of(1), draws=1000, family=0)


def test_bound_grows_with_draws_towards_the_truth() -> None:
    bounds = [event_counts(3 * n, n, 4 * n, 0.0, 1e-4) for n in (25, 250, 2500, 25_000)]
    assert bounds == sorted(bounds)
    assert log(3) * 0.97 < bounds[-1] < log(3)
    assert event_counts(0, 10, 100, 0.0, 1e-4) == 0


@pytest.mark.parametrize("bad", [lambda count: np.zeros(count - 1), lambda count: ["a"] * count])
def test_bad_samplers_are_refused(bad: Callable[[int], npt.ArrayLike]) -> None:
    with pytest.raises(ArgumentError, match="sampler"):
        audit(bad, bad, PureDP.of(1), draws=1000)
    with pytest.raises(ArgumentError, match="draws"):
        audit(bad, bad, PureDP.of(1), draws=10)
