"""What an epsilon means: each bound against an exact mechanism that reaches it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.meaning import explain
from discreet.errors import ArgumentError

epsilons = st.fractions(min_value=Fraction(1, 100), max_value=8, max_denominator=100)
shares = st.fractions(min_value=Fraction(1, 1000), max_value=Fraction(999, 1000), max_denominator=1000)


def posterior(prior: float, here: float, there: float) -> float:
    return prior * here / (prior * here + (1 - prior) * there)


@pytest.mark.requirement("0.58")
@given(epsilons, shares)
def test_belief_is_reached_by_randomised_response_and_not_passed(epsilon: Fraction, prior: Fraction) -> None:
    """The coin that tells the truth with odds e^ε moves a prior exactly to the bound, in both directions."""
    meaning = explain(epsilon, prior=prior)
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    low, high = meaning.belief
    assert high == pytest.approx(posterior(float(prior), truth, 1 - truth))
    assert low == pytest.approx(posterior(float(prior), 1 - truth, truth))
    assert 0 <= low <= float(prior) <= high <= 1


@pytest.mark.requirement("3.15")
@given(epsilons, st.lists(shares, min_size=2, max_size=5), st.data())
def test_beliefs_with_and_without_a_person_differ_by_at_most_tanh(
    epsilon: Fraction, weights: list[Fraction], data: st.DataObject
) -> None:
    """Any prior over worlds, any likelihoods whose ratio with and without the person stays in e^±ε."""
    size = len(weights)
    draw = st.floats(-1, 1)
    base = [math.exp(data.draw(draw) * 3) for _ in range(size)]
    moved = [value * math.exp(float(epsilon) * data.draw(draw)) for value in base]

    def belief(likelihoods: list[float]) -> list[float]:
        joint = [float(weight) * one for weight, one in zip(weights, likelihoods, strict=True)]
        return [one / sum(joint) for one in joint]

    distance = sum(abs(a - b) for a, b in zip(belief(base), belief(moved), strict=True)) / 2
    assert distance <= math.tanh(float(epsilon) / 2) + 1e-12
    assert math.tanh(float(epsilon) / 2) <= math.exp(float(epsilon)) - 1


def test_tanh_is_reached_where_the_printed_bound_fails() -> None:
    """Two worlds, even odds, ratios at the two ends: the distance is tanh(ε/2) = .462 at ε = 1, above e^−1 = .368."""
    even, truth = 0.5, math.exp(0.5)
    here = posterior(even, truth, 1 / truth)
    assert here - even == pytest.approx(math.tanh(0.5) / 2)
    assert explain(1).advantage == pytest.approx(math.tanh(0.5))
    assert explain(1).advantage > math.exp(-1)


@pytest.mark.requirement("3.21")
def test_odds_multiply_by_at_most_e_to_the_epsilon() -> None:
    meaning = explain(1, prior="0.02")
    assert meaning.odds == pytest.approx(math.e)
    low, high = meaning.belief
    odds = 0.02 / 0.98
    assert high / (1 - high) == pytest.approx(math.e * odds)
    assert low / (1 - low) == pytest.approx(odds / math.e)


@pytest.mark.parametrize(
    ("epsilon", "false_alarms", "expected"), [(".5", 0.05, 0.082), (1, 0.05, 0.136), (2, 0.05, 0.369), (3, 0.05, 0.953)]
)
def test_detection_meets_published_figures(epsilon: str | int, false_alarms: float, expected: float) -> None:
    assert explain(epsilon).detection(false_alarms) == pytest.approx(expected, abs=6e-4)


@pytest.mark.parametrize(("epsilon", "expected"), [(".1", 0.050), (".25", 0.124), (1, 0.462), (2, 0.762), (5, 0.987)])
def test_advantage_meets_published_figures(epsilon: str | int, expected: float) -> None:
    assert explain(epsilon).advantage == pytest.approx(expected, abs=6e-4)
    assert explain(epsilon, delta="0.01").advantage == pytest.approx(
        (math.exp(float(Fraction(epsilon))) - 1 + 0.02) / (math.exp(float(Fraction(epsilon))) + 1)
    )


@given(epsilons, st.fractions(min_value=0, max_value=Fraction(1, 10), max_denominator=1000))
def test_detection_is_the_best_test_of_the_worst_mechanism(epsilon: Fraction, delta: Fraction) -> None:
    """Against every threshold test of the four-outcome mechanism that is worst for (ε, δ)."""
    share = float(1 - delta) / (1 + math.exp(epsilon))
    here = [float(delta), share * math.exp(epsilon), share, 0.0]
    there = [0.0, share, share * math.exp(epsilon), float(delta)]
    meaning = explain(epsilon, delta=delta)
    for count in range(1, 4):
        assert meaning.detection(sum(there[:count])) == pytest.approx(min(1.0, sum(here[:count])), abs=1e-9)


@pytest.mark.requirement("3.14")
def test_delta_of_one_in_n_is_warned_of_with_its_counterexample() -> None:
    """Publishing one random row of n is (0, 1/n): exact enumeration for n = 4, and the warning that goes with it."""
    size = 4
    table = {(index, index): Fraction(1, size) for index in range(size)}
    neighbour = {**{key: mass for key, mass in table.items() if key != (0, 0)}, (0, 9): Fraction(1, size)}
    loss = sum(max(Fraction(0), mass - neighbour.get(output, Fraction(0))) for output, mass in table.items())
    assert loss == Fraction(1, size)
    warned = explain(1, delta=Fraction(1, size), persons=size)
    assert any("1/4" in line for line in warned.warnings)
    assert not explain(1, delta="1e-9", persons=size).warnings
    assert explain(1, delta="1e-9", persons=size).sentences()[-1] not in warned.warnings


def test_a_newcomer_reads_each_bound_as_a_number_of_people() -> None:
    """Odds, belief, best test, advantage and group of ε = 1, each in words without a formula."""
    said = explain(1, prior="0.1").sentences()
    for expected in (
        "by at most 2.718",
        "two values of a person who is there, an ε of presence counts twice: 2.",
        "thought 10 % likely of a person is thought between 3.93 % and 23.2 % likely",
        "5 in 100 outsiders, finds at most 13.6 in 100 insiders",
        "at most 46.2 in 100 insiders more than it accuses outsiders",
        "4 people who belong together are protected as by ε = 4.",
    ):
        assert sum(expected in sentence for sentence in said) == 1, expected
    assert not any("e^" in sentence or "δ" in sentence for sentence in said)
    loose = explain(12, delta="1e-3").sentences()
    assert any("almost 100 %" in sentence for sentence in explain(40).sentences())
    assert any(sentence.endswith("ε = 48 and δ = 1.") for sentence in loose)
    assert sum("may fail with a probability of at most about δ = 0.001" in sentence for sentence in loose) == 1
    assert any("by any factor" in sentence for sentence in explain("1e400").sentences())


def test_absurd_input_is_refused_or_survived() -> None:
    assert explain(2000).as_json()["odds"] is None
    assert explain(2000).belief[1] <= 1
    nearly_sure = 1 - Fraction(1, 10**400)
    assert explain(2000, prior=nearly_sure).belief == (0.0, 1.0)
    assert explain(600, prior=nearly_sure).belief == (1.0, 1.0)
    assert explain(2000).detection(0) == 0
    for prior in (0, 1, -1, 2):
        with pytest.raises(ArgumentError, match="prior"):
            explain(1, prior=prior)
    with pytest.raises(ArgumentError, match="persons"):
        explain(1, persons=0)


def test_an_epsilon_beyond_floats_promises_nothing() -> None:
    meaning = explain("1e400")
    assert meaning.as_json()["odds"] is None
    assert meaning.belief == (0.0, 1.0)
    assert meaning.advantage == 1.0
