"""Accountants: published figures, exact composition by brute force, and two independent computations that agree."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.accounting.accountants import Report, report, shown_up, simple_events
from discreet.accounting.events import Apart, Approximate, Choice, Event, Noise, Repeated, Sampled, Together
from discreet.accounting.losses import equal_pure, renyi_divergence
from discreet.errors import ArgumentError

DELTA = "1e-6"


def coin(epsilon: str, times: int) -> Event:
    return Repeated(event=Choice(epsilon=Fraction(epsilon)), times=times)


def named(found: Report) -> dict[str, float]:
    return {bound.theorem: bound.epsilon for bound in found.bounds}


@pytest.mark.parametrize(
    ("times", "epsilon", "basic", "advanced", "closed", "zcdp", "optimal"),
    [
        (10, ".1", 1.000, 1.767, 1.000, 1.472, 0.999),
        (100, ".1", 10.0, 6.308, 5.756, 5.222, 4.775),
        (100, ".01", 1.0, 0.536, 0.531, 0.430, 0.392),
        (1000, ".01", 10.0, 1.763, 1.712, 1.472, 1.365),
        (50, ".5", 25.0, 34.8, 24.7, 23.7, 20.3),
    ],
)
def test_published_table(
    times: int, epsilon: str, basic: float, advanced: float, closed: float, zcdp: float, optimal: float
) -> None:
    """The closed form is Theorem 3.5's smallest branch, which the published column does not always take."""
    found = named(report([coin(epsilon, times)], DELTA))
    assert found["basic"] == pytest.approx(basic, abs=0.05)
    assert found["advanced"] == pytest.approx(advanced, abs=0.05)
    assert found["closed form"] <= closed + 0.05
    assert found["zcdp"] == pytest.approx(zcdp, abs=0.05)
    assert found["optimal"] == pytest.approx(optimal, abs=0.05 if times == 50 else 6e-4)
    assert found["pld"] == pytest.approx(found["optimal"], rel=2e-3)
    assert report([coin(epsilon, times)], DELTA).best.epsilon == min(found.values())


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (
            Repeated(event=Noise(law="gaussian", move=Fraction(1), scale=Fraction(2500), scalar=True), times=1000),
            2.9216,
        ),
        (
            Repeated(
                event=Noise(law="laplace", move=Fraction(1000), scale=Fraction(100_000), scalar=True), times=10_000
            ),
            4.876,
        ),
        (Sampled(rate=Fraction(1, 100), sigma=Fraction(11, 10), steps=5000), 3.979),
    ],
    ids=["1,000 Gaussians", "10,000 Laplace", "5,000 sampled Gaussians"],
)
def test_long_compositions_meet_published_figures(event: Event, expected: float) -> None:
    assert report([event], DELTA).best.epsilon == pytest.approx(expected, rel=1e-3)


def exact_delta(odds: Fraction, times: int, level: Fraction) -> Fraction:
    """δ at e^ε = level of randomised response that many times, over all strings of answers."""
    truth = odds / (1 + odds)
    missed = Fraction(0)
    for answers in itertools.product((True, False), repeat=times):
        here = math.prod((truth if answer else 1 - truth for answer in answers), start=Fraction(1))
        there = math.prod((1 - truth if answer else truth for answer in answers), start=Fraction(1))
        missed += max(Fraction(0), here - level * there)
    return missed


@given(st.integers(2, 8), st.integers(1, 8), st.fractions(min_value=Fraction(1, 100), max_value=Fraction(1, 2)))
@settings(max_examples=40)
def test_equal_pure_events_are_composed_exactly(odds: int, times: int, delta: Fraction) -> None:
    epsilon = equal_pure(math.log(odds), times, float(delta))
    level = Fraction(math.exp(epsilon))
    assert exact_delta(Fraction(odds), times, level * (1 + Fraction(1, 10**9))) <= delta + Fraction(1, 10**9)
    if epsilon > 1e-6:
        assert exact_delta(Fraction(odds), times, level * (1 - Fraction(1, 10**6))) >= delta - Fraction(1, 10**6)


def exact_divergence(move: int, scale: float, order: float) -> Decimal:
    """Of discrete Laplace noise, with fifty digits: two geometric series and every term between them."""
    with localcontext(prec=50):
        decay, alpha = 1 / Decimal(scale), Decimal(order)
        low = ((alpha - 1) * move * decay).exp() / (1 - (-decay).exp())
        high = (-alpha * move * decay).exp() / (1 - (-decay).exp())
        inner = ((-decay * (alpha * k + (1 - alpha) * (move - k))).exp() for k in range(1, move))
        share = (1 - (-decay).exp()) / (1 + (-decay).exp())
        return ((low + high + sum(inner)) * share).ln() / (alpha - 1)


@pytest.mark.parametrize(
    ("move", "scale"), [(1, 1.0), (2, 1.0), (3, 2.5), (7, 40.0), (40, 6.0), (1, 1e6), (1000, 1e5), (5, 0.0625)]
)
@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 8.0, 60.0, 1000.0])
def test_laplace_divergence_loses_no_digit(move: int, scale: float, order: float) -> None:
    """A small divergence is a difference of large terms: its float must not lie below it by more than is added."""
    event = Noise(law="laplace", move=Fraction(move), scale=Fraction(scale), scalar=True)
    exact = exact_divergence(move, scale, order)
    assert abs(Decimal(renyi_divergence(event, order)) / exact - 1) < Decimal("1e-12")


@pytest.mark.parametrize(("epsilon", "order"), [("1e-6", 1.01), ("0.01", 1.5), ("1", 2.0), ("5", 900.0), ("0.5", 1e4)])
def test_pure_divergence_loses_no_digit(epsilon: str, order: float) -> None:
    with localcontext(prec=50):
        loss, alpha = Decimal(epsilon), Decimal(order)
        likely = 1 / (1 + (-loss).exp())
        rare = 1 - likely
        moment = likely**alpha * rare ** (1 - alpha) + rare**alpha * likely ** (1 - alpha)
        exact = moment.ln() / (alpha - 1)
    found = renyi_divergence(Choice(epsilon=Fraction(epsilon)), order)
    assert abs(Decimal(found) / exact - 1) < Decimal("1e-12")


Losses = dict[float, float]


def losses_of(event: Event) -> Losses:
    """Every loss ln(P/Q) of one event with its probability under P, for the worst direction of symmetric laws."""
    if isinstance(event, Choice):
        epsilon = float(event.epsilon)
        return {epsilon: 1 / (1 + math.exp(-epsilon)), -epsilon: 1 / (1 + math.exp(epsilon))}
    assert isinstance(event, Noise)
    move, scale = int(event.move), float(event.scale)
    if event.law == "laplace":
        terms = {k: (math.tanh(1 / (2 * scale)) * math.exp(-abs(k) / scale)) for k in range(-400, 401)}
        found: Losses = {}
        for k, mass in terms.items():
            loss = round((abs(k - move) - abs(k)) / scale, 12)
            found[loss] = found.get(loss, 0.0) + mass
        return found
    width = math.isqrt(move)
    weights = {k: math.exp(-(k**2) / (2 * scale)) for k in range(-200, 201)}
    total = math.fsum(weights.values())
    return {round(((k - width) ** 2 - k**2) / (2 * scale), 12): mass / total for k, mass in weights.items()}


def composed(parts: Sequence[Losses]) -> Losses:
    """The losses of independent events add; their probabilities multiply. Equal ones are gathered."""
    whole: Losses = {0.0: 1.0}
    for part in parts:
        longer: Losses = {}
        for first, mass in whole.items():
            for second, other in part.items():
                loss = round(first + second, 9)
                longer[loss] = longer.get(loss, 0.0) + mass * other
        whole = longer
    return whole


def smallest_epsilon(losses: Losses, delta: float) -> float:
    low, high = 0.0, 60.0
    for _ in range(60):
        middle = (low + high) / 2
        missed = math.fsum(mass * -math.expm1(middle - loss) for loss, mass in losses.items() if loss > middle)
        low, high = (low, middle) if missed <= delta else (middle, high)
    return high


@pytest.mark.parametrize(
    "events",
    [
        [Choice(epsilon=Fraction(e)) for e in ("0.1", "0.2", "0.5", "1", "0.7")],
        [Noise(law="laplace", move=Fraction(m), scale=Fraction(t), scalar=True) for m, t in ((1, 2), (3, 5), (2, 9))],
        [Noise(law="gaussian", move=Fraction(m * m), scale=Fraction(v), scalar=True) for m, v in ((1, 9), (2, 40))],
        [
            Choice(epsilon=Fraction(1, 3)),
            Noise(law="laplace", move=Fraction(4), scale=Fraction(8), scalar=True),
            Noise(law="gaussian", move=Fraction(4), scale=Fraction(50), scalar=True),
        ],
    ],
    ids=["coins", "laplace", "gaussian", "mixed"],
)
def test_reports_against_exact_composition(events: list[Event]) -> None:
    """Every outcome written out: no theorem lies below the truth, and loss distributions within half a percent."""
    exact = smallest_epsilon(composed([losses_of(event) for event in events]), float(DELTA))
    found = named(report(events, DELTA))
    assert {"closed form", "zcdp", "renyi", "pld"} & set(found)
    assert all(epsilon >= exact * (1 - 1e-9) for epsilon in found.values())
    assert found["pld"] <= 1.005 * exact


@pytest.mark.parametrize(
    ("times", "epsilon", "published"), [(10, ".1", 0.999), (100, ".1", 4.984), (100, ".01", 0.421), (50, ".5", 19.5)]
)
def test_published_orders_of_laplace_noise(times: int, epsilon: str, published: float) -> None:
    """The column of Laplace noise, on a grid of a thousand steps to the move, which is as good as the continuous."""
    one = Noise(law="laplace", move=Fraction(1000), scale=1000 / Fraction(epsilon), scalar=True)
    found = report([Repeated(event=one, times=times)], DELTA)
    near = min(epsilon for theorem, epsilon in named(found).items() if theorem in ("renyi", "basic"))
    assert near == pytest.approx(published, rel=3e-3)


plans = st.lists(
    st.one_of(
        st.builds(Choice, epsilon=st.sampled_from([Fraction(1, 10), Fraction(1, 2)])),
        st.builds(
            Noise,
            law=st.sampled_from(["laplace", "gaussian"]),
            move=st.just(Fraction(1)),
            scale=st.sampled_from([Fraction(3), Fraction(20)]),
            scalar=st.just(True),
        ),
    ),
    min_size=1,
    max_size=12,
)


def require_agreement(events: list[Event]) -> None:
    """Rényi orders and loss distributions share no code: the tight one lies below, and not by more than 40 %."""
    found = named(report(events, DELTA))
    assert found["pld"] <= found["renyi"] * (1 + 1e-3) + 1e-3
    assert found["renyi"] <= found["zcdp"] * (1 + 1e-2) + 1e-6
    assert found["renyi"] <= 1.4 * found["pld"] + 0.1
    assert not any(math.isnan(value) for value in found.values())


@given(plans)
@settings(max_examples=20)
def test_independent_computations_agree(events: list[Event]) -> None:
    require_agreement(events)


@pytest.mark.slow
@given(plans)
@settings(max_examples=5000, deadline=None)
def test_independent_computations_agree_on_five_thousand_plans(events: list[Event]) -> None:
    require_agreement(events)


@pytest.mark.requirement("0.61")
def test_adaptive_composition_is_said_to_be_so() -> None:
    """Only the sum of ε bounds every path of a spender who looks at the answers before deciding to go on."""
    found = report([coin(".1", 20)], DELTA)
    assert [bound.theorem for bound in found.bounds if bound.adaptive] == ["basic"]


parts_apart = st.one_of(
    st.builds(Choice, epsilon=st.sampled_from([Fraction(1), Fraction(3, 2)]), bounded_range=st.booleans()),
    st.builds(
        Noise,
        law=st.sampled_from(["laplace", "gaussian"]),
        move=st.sampled_from([Fraction(1), Fraction(9), Fraction(100)]),
        scale=st.sampled_from([Fraction(1), Fraction(100)]),
        scalar=st.booleans(),
    ),
    st.just(coin("1", 2)),
)


@pytest.mark.requirement("2.38")
@given(st.lists(parts_apart, min_size=1, max_size=3))
@example([Choice(epsilon=Fraction(1)), Choice(epsilon=Fraction(3, 2), bounded_range=True)])
@example([Noise(law="laplace", move=Fraction(m), scale=Fraction(s), scalar=True) for m, s in ((101, 100), (1, 1))])
@settings(max_examples=30, deadline=None)
def test_apart_is_never_reported_below_one_of_its_parts(parts: list[Event]) -> None:
    """A unit may be in any one of the parts, so that no theorem may say less than for that part alone."""
    together = named(report([Apart(events=tuple(parts), overlap=1)] * 20, DELTA))
    for part in parts:
        alone = named(report([part] * 20, DELTA))
        assert all(alone[theorem] <= together[theorem] * (1 + 1e-9) for theorem in together if theorem in alone)


def test_adaptive_choice_keeps_the_sum_exactly() -> None:
    """The second question depends on the first answer: over all strings of answers the odds stay at the product."""
    first, second = Fraction(2), {True: Fraction(3), False: Fraction(5)}
    worst = Fraction(0)
    for a, b in itertools.product((True, False), repeat=2):
        ratio = (first if a else 1 / first) * (second[a] if b else 1 / second[a])
        worst = max(worst, ratio, 1 / ratio)
    assert worst == first * max(second.values())


@pytest.mark.requirement("3.18")
def test_approximate_events_compose_by_adding_both() -> None:
    """Two (ε, δ) together are within (2ε, 2δ), and the loss distribution finds it."""
    part = Approximate(epsilon=Fraction(1, 2), delta=Fraction(1, 10**7))
    found = report([part, part], Fraction(2, 10**7))
    assert named(found)["pld"] <= 1 + 1e-3
    assert 1 <= named(found)["basic"] <= 1 + 1e-8


def test_a_delta_of_their_own_is_taken_off_first() -> None:
    """A hundred (ε, δ) events at 2δ in all are a hundred ε-DP ones at δ, by theorems that know ε-DP only."""
    rare = Approximate(epsilon=Fraction(1, 10), delta=Fraction(1, 10**8))
    found = named(report([Repeated(event=rare, times=100)], "2e-6"))
    plain = named(report([coin(".1", 100)], DELTA))
    assert {theorem for theorem in plain if found[theorem] == plain[theorem]} >= {"basic", "optimal", "zcdp", "renyi"}
    with pytest.raises(ArgumentError, match="larger delta"):
        report([Repeated(event=rare, times=101)], DELTA)


@pytest.mark.parametrize(("epsilon", "text"), [(0.0, "0"), (2.92158, "2.9216"), (2.92161, "2.9217"), (19.0, "19")])
def test_what_is_shown_of_an_epsilon_is_rounded_up(epsilon: float, text: str) -> None:
    assert shown_up(epsilon) == text


def test_events_of_many_kinds_are_left_to_quick_theorems() -> None:
    """A long history of questions that all differ is reported in a moment."""
    found = named(report([Choice(epsilon=Fraction(1, 10**5 + at)) for at in range(5000)], DELTA))
    assert {"basic", "closed form", "zcdp"} <= set(found)
    assert not {"pld", "renyi"} & set(found)


def test_simple_events_are_counted() -> None:
    a, b = Choice(epsilon=Fraction(1)), Choice(epsilon=Fraction(2))
    nested = Together(events=(Repeated(event=Together(events=(a, a)), times=3), Apart(events=(a, b), overlap=1)))
    assert simple_events(nested) == Counter({a: 6, b: 1})
    mixed = Apart(events=(a, Noise(law="gaussian", move=Fraction(1), scale=Fraction(1))), overlap=1)
    assert len(simple_events(mixed)) == 2


def test_nothing_costs_nothing() -> None:
    assert report([], DELTA).best.epsilon == 0


@pytest.mark.parametrize("delta", [0, 1, -1, "nan"])
def test_delta_must_lie_inside(delta: str | int) -> None:
    with pytest.raises(ArgumentError):
        report([coin("1", 1)], delta)


def test_vectors_of_discrete_gaussians_are_not_taken_for_gaussians() -> None:
    vector = Noise(law="gaussian", move=Fraction(5), scale=Fraction(100))
    assert "pld" not in named(report([vector], DELTA))


@pytest.mark.parametrize("size", ["1e-400", "1e-300", "1e-60", "1e-12", "1e12", "1e300", "1e400"])
def test_extreme_events_are_reported_from_above_or_left_out(size: str) -> None:
    """What floats cannot hold is left out by a theorem; nothing is reported below the exact price at δ = 0 and ρ."""
    loss = Fraction(size)
    events: list[Event] = [
        Choice(epsilon=loss),
        *(Noise(law="laplace", move=Fraction(1), scale=1 / loss, scalar=scalar) for scalar in (True, False)),
        Noise(law="gaussian", move=Fraction(1), scale=1 / loss, scalar=True),
    ]
    for event in events:
        try:
            found = named(report([event], DELTA))
        except ArgumentError:
            continue
        assert found
        assert not any(math.isnan(epsilon) for epsilon in found.values())
        if loss > 1000 and event is not events[-1]:
            assert min(found.values()) >= min(float(loss) if loss < 10**300 else 1e300, 1e300) * (1 - 1e-9) - 14


def test_many_equal_events_are_left_to_the_other_theorems() -> None:
    """What would be written out term by term for minutes is not; the theorems in closed form answer at once."""
    assert not {"optimal", "pld"} & set(named(report([coin("1e-6", 10**9)], DELTA)))
    assert "pld" not in named(report([coin("5", 10**6)], DELTA))
    assert "pld" in named(report([coin("0.01", 10**4)], DELTA))
