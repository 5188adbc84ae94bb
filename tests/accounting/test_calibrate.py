"""Calibration: widths hold for the laws that are drawn, inverses agree, and roundings go the safe way."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import calibrate
from discreet.accounting.calibrate import Query
from discreet.errors import ArgumentError
from discreet.guarantee import ZCDP, PureDP
from discreet.mechanisms.noise import GaussianNoise, LaplaceNoise

epsilons = st.fractions(min_value=Fraction(1, 100), max_value=10, max_denominator=100)
betas = st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(1, 2), max_denominator=10**6)
counts = st.integers(1, 1000)
steps = st.sampled_from([Fraction(0), Fraction(1, 100), Fraction(1), Fraction(7, 3)])
queries = st.builds(Query, move=st.fractions(Fraction(1, 1000), 1000), answers=counts, beta=betas, step=steps)
NEAR = 1 - Fraction(1, 10**25)


@given(st.integers(1, 50), epsilons, counts, betas)
def test_the_width_holds_for_the_law_that_is_drawn(move: int, epsilon: Fraction, answers: int, beta: Fraction) -> None:
    """Its whole steps lie between the exact error of the integer law and one step above."""
    query = Query(move=Fraction(move), answers=answers, beta=beta, step=Fraction(1))
    found = calibrate.laplace(query, epsilon)
    drawn = LaplaceNoise.for_guarantee(sensitivity=move, epsilon=epsilon)
    assert found.scale == drawn.scale
    assert found.guarantee == drawn.guarantee(move) == PureDP(epsilon)
    # P(|N| ≥ k) = 2·P(N ≥ k), at the least whole k that is no smaller than the width.
    assert 2 * answers * drawn.tail(math.ceil(found.width))[1] <= beta
    assert drawn.error(beta, answers=answers) <= math.ceil(found.width) <= drawn.error(beta, answers=answers) + 1


@given(st.integers(1, 50), st.fractions(Fraction(1, 1000), 2, max_denominator=1000), counts, betas)
def test_the_width_holds_for_gaussian_noise(move: int, rho: Fraction, answers: int, beta: Fraction) -> None:
    query = Query(move=Fraction(move) ** 2, answers=answers, beta=beta, step=Fraction(1))
    found = calibrate.gaussian(query, rho)
    drawn = GaussianNoise.for_rho(sensitivity=move, rho=rho)
    assert found.scale == drawn.sigma_squared
    assert found.guarantee == drawn.guarantee(move) == ZCDP(rho)
    assert 2 * answers * drawn.tail(math.ceil(found.width))[1] <= beta
    assert drawn.error(beta, answers=answers) <= math.ceil(found.width)
    assert float(found.width) == pytest.approx(math.sqrt(2 * float(found.scale) * math.log(2 * answers / beta)))


@given(queries, epsilons)
def test_epsilon_to_width_and_back(query: Query, epsilon: Fraction) -> None:
    there = calibrate.laplace(query, epsilon)
    assert float(there.width - query.step / 2) == pytest.approx(
        float(query.move / epsilon) * math.log(query.answers / query.beta)
    )
    back = calibrate.laplace_for_width(query, there.width)
    assert there.scale * NEAR <= back.scale
    assert back.width * NEAR <= there.width
    # Never more noise than the width allows, so never a smaller ε than it costs.
    assert isinstance(back.guarantee, PureDP)
    assert back.guarantee.epsilon * (1 + Fraction(1, 10**20)) >= epsilon


@given(queries, epsilons)
def test_rho_to_width_and_back(query: Query, rho: Fraction) -> None:
    there = calibrate.gaussian(query, rho)
    back = calibrate.gaussian_for_width(query, there.width)
    assert there.scale * NEAR <= back.scale
    assert back.width * NEAR <= there.width


@given(queries, st.fractions(Fraction(1, 1000), 1000))
def test_noise_for_a_width_is_the_most_it_allows(query: Query, room: Fraction) -> None:
    width = room + query.step / 2
    for found, power in (
        (calibrate.laplace_for_width(query, width), 1),
        (calibrate.gaussian_for_width(query, width), 2),
    ):
        assert found.width * NEAR <= width  # the width itself is rounded up, in its thirtieth digit
        more = calibrate.Calibration(query=query, law=found.law, scale=found.scale * (1 + Fraction(1, 10**20)) ** power)
        assert more.width > width


@pytest.mark.requirement("3.31")
@given(counts, epsilons, betas, st.fractions(Fraction(1, 1000), Fraction(1, 2), max_denominator=1000))
def test_linear_queries_by_laplace_in_four_steps(k: int, epsilon: Fraction, beta: Fraction, alpha: Fraction) -> None:
    """Averages of k functions into [0, 1] over n records."""
    # 1. The budget is ε, for k queries: one person moves their sums by at most k together.
    query = Query(move=Fraction(k), answers=k, beta=beta)
    # 2. The noise on each sum is Laplace noise of scale k/ε, so on each average of scale k/(nε).
    found = calibrate.laplace(query, epsilon)
    assert found.scale == k / epsilon
    # 3. The error of an average is α = (k/(nε))·ln(k/β).
    records = found.records(alpha)
    bound = k / (records * float(epsilon)) * math.log(k / beta)
    assert float(found.width / records) == pytest.approx(bound)
    # 4. It is at most α from n = k·ln(k/β)/(αε) on, and n is the least such number.
    assert found.width / records <= alpha < found.width / (records - 1 or Fraction(1, 10**9))
    assert records == pytest.approx(k * math.log(k / beta) / float(alpha * epsilon), abs=1.0000001)


def test_known_figures() -> None:
    """Mean age of 10,000 people, and a single linear query over as many."""
    age = calibrate.laplace(Query(move=Fraction(100, 10_000)), "0.5")
    assert age.scale == Fraction(1, 50)
    assert round(float(age.width), 4) == 0.0599
    one = calibrate.laplace(Query(move=Fraction(1)), 1)
    assert round(float(one.width / 10_000), 4) == 0.0003
    assert one.records("0.0003") == 9986


@given(st.fractions(Fraction(1, 100), 20, max_denominator=100), st.sampled_from(["1e-9", "1e-6", "1e-3", "0.1"]))
def test_rho_is_the_largest_that_implies_epsilon_and_delta(epsilon: Fraction, delta: str) -> None:
    found = calibrate.rho_for(epsilon, delta)
    assert found.as_approx(delta).epsilon <= epsilon
    assert ZCDP(found.rho * Fraction(1_000_001, 1_000_000)).as_approx(delta).epsilon > epsilon


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(Fraction(1), "1e-6"), (Fraction(3), "1e-9"), (Fraction(1, 10), "1e-5")]
)
def test_the_exact_calibration_of_one_number_needs_less_noise(epsilon: Fraction, delta: str) -> None:
    """ρ bounds every order at once, so it costs a little: less than a quarter of the scale here."""
    through_rho = calibrate.gaussian(Query(move=Fraction(1)), calibrate.rho_for(epsilon, delta).rho)
    by_own_law = GaussianNoise.for_guarantee(sensitivity=1, epsilon=epsilon, delta=delta)
    assert by_own_law.sigma_squared <= through_rho.scale <= Fraction(5, 4) ** 2 * by_own_law.sigma_squared


def test_sentences_say_noise_cost_and_error() -> None:
    one = calibrate.laplace(Query(move=Fraction(1, 100)), "0.5")
    assert one.sentence() == (
        "Laplace noise of scale 0.02 costs ε = 0.5; with probability 0.95 the answer errs by less than about 0.0599146."
    )
    many = calibrate.gaussian(Query(move=Fraction(4), answers=10, beta=Fraction(1, 10)), "0.5")
    assert many.sentence() == (
        "Gaussian noise of σ² = 4 costs ρ = 0.5; with probability 0.9 none of 10 answers errs by about 6.51049 or more."
    )


def test_senseless_questions_are_refused() -> None:
    for wrong in ("0", "0.51", "1", "-0.1"):
        with pytest.raises(ArgumentError, match="beta"):
            Query(move=Fraction(1), beta=Fraction(wrong))
    with pytest.raises(ArgumentError, match="step"):
        Query(move=Fraction(1), step=Fraction(-1))
    with pytest.raises(ArgumentError, match="move"):
        Query(move=Fraction(0))
    with pytest.raises(ArgumentError, match="half a step"):
        calibrate.laplace_for_width(Query(move=Fraction(1), step=Fraction(1)), "0.5")
    for epsilon, delta in (("1e-16", "1e-300"), ("1e-19", 5e-324)):
        with pytest.raises(ArgumentError, match="no ε so small"):
            calibrate.rho_for(epsilon, delta)
    for epsilon, delta in (("1e-12", 5e-324), ("1e-12", "1e-300"), ("1e12", "1e-6"), ("1e300", "1e-6")):
        assert 0 < calibrate.rho_for(epsilon, delta).as_approx(delta).epsilon <= Fraction(epsilon)
