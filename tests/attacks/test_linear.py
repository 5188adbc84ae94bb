"""Linear reconstruction: optimality, the closed form, all subsets, gross errors, and budgets in all and per query."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from discreet.attacks.linear import (
    Bits,
    Floats,
    attack_counts,
    box_least_squares,
    decode_every_subset,
    judge,
    least_deviations,
    random_subsets,
    wrong_share,
)
from discreet.attacks.noise_curve import laplace_answer, measure_noise, noisy_answer
from discreet.attacks.possible import gaussian_error, laplace_error, most_queries, what_is_possible
from discreet.cli.main import main
from discreet.draw import to_svg
from discreet.errors import InputError
from discreet.mechanisms.response import Response
from discreet.randomness import SeededBits, keyed_generator


def secret(people: int, seed: int = 1) -> Bits:
    return keyed_generator(seed).integers(0, 2, people).astype(bool)


@pytest.mark.parametrize("noise", [0.0, 3.0, 40.0])
def test_box_squares_meet_their_optimality_conditions(noise: float) -> None:
    generator = keyed_generator(2)
    truth = secret(40)
    subsets = random_subsets(40, 160, generator)
    answers = subsets @ truth.astype(float) + generator.normal(0, noise, 160)
    found = box_least_squares(subsets, answers)
    oracle = lsq_linear(subsets.astype(float), answers, bounds=(0, 1), tol=1e-12).x
    assert np.abs(found - oracle).max() < 5e-3


@pytest.mark.parametrize("share", [0.5, 0.05, 0.95])
@pytest.mark.parametrize(("people", "queries"), [(30, 120), (30, 30), (40, 25), (25, 1)])
def test_box_squares_are_least_for_any_subsets(share: float, people: int, queries: int) -> None:
    """Rare and frequent members, fewer queries than people, the same group asked twice: nothing is lower."""
    for seed in range(4):
        generator = keyed_generator(seed)
        subsets = generator.random((queries, people)) < share
        subsets[queries // 2 :] = subsets[: queries - queries // 2]
        answers = subsets @ secret(people).astype(float) + generator.normal(0, 3.0, queries)
        oracle = lsq_linear(subsets.astype(float), answers, bounds=(0, 1), tol=1e-12).x
        found = box_least_squares(subsets, answers)
        assert ((found >= 0) & (found <= 1)).all()
        assert _squares(subsets, answers, found) <= _squares(subsets, answers, oracle) + 1e-6 * queries


def _squares(subsets: Bits, answers: Floats, point: Floats) -> float:
    return float(((subsets @ point - answers) ** 2).sum())


@pytest.mark.requirement("3.01")
@pytest.mark.parametrize("alpha", [0.2, 0.5, 1.0, 2.0])
def test_error_against_noise_follows_the_closed_form(alpha: float) -> None:
    """Gaussian noise; the box helps a little, so the formula of plain least squares is nearly reached from below."""
    curve = measure_noise(people=300, kind="gaussian", alphas=[alpha], trials=4, generator=keyed_generator(3))
    expected = wrong_share(alpha, 4)
    deviation = math.sqrt(expected * (1 - expected) / 1200)
    assert expected - 0.05 - 3 * deviation < curve.wrong[0] < expected + 0.01 + 3 * deviation


@pytest.mark.requirement("2.07")
def test_little_noise_gives_all_bits_and_much_noise_none() -> None:
    curve = measure_noise(people=200, kind="uniform", alphas=[0.1, 0.3, 8.0], trials=2, generator=keyed_generator(4))
    assert curve.wrong[0] == 0
    assert curve.wrong[1] <= 0.02
    assert not measure_noise(people=200, alphas=[100.0], generator=keyed_generator(5)).rates[0].beats_chance
    assert "95 %" in curve.sentences()[0]
    assert to_svg(curve.charts()[0])
    assert json.dumps(curve.as_json())


def test_linear_programs_withstand_few_gross_errors_and_squares_do_not() -> None:
    generator = keyed_generator(6)
    truth = secret(60)

    def answer(subsets: Bits) -> Floats:
        counts = subsets @ truth.astype(float)
        wrong = generator.random(len(subsets)) < 0.15
        return np.where(wrong, generator.uniform(0, 60, len(subsets)), counts)

    robust = attack_counts(answer, 60, queries=480, decoder="deviations", generator=generator)
    plain = attack_counts(answer, 60, queries=480, generator=generator)
    assert (robust == truth).all()
    assert (plain != truth).any()


def test_least_deviations_are_least() -> None:
    generator = keyed_generator(7)
    subsets = random_subsets(6, 24, generator)
    answers = subsets @ secret(6).astype(float) + generator.normal(0, 1, 24)
    best = np.abs(subsets @ least_deviations(subsets, answers) - answers).sum()
    for corner in range(64):
        bits = np.array([corner >> at & 1 for at in range(6)], float)
        assert best <= np.abs(subsets @ bits - answers).sum() + 1e-6


@pytest.mark.requirement("3.01")
@pytest.mark.parametrize("error", [0, 1, 2])
def test_all_subsets_leave_at_most_four_times_the_error(error: int) -> None:
    generator = keyed_generator(8)
    for seed in range(12):
        truth = secret(9, seed)

        def answer(subsets: Bits, truth: Bits = truth) -> Floats:
            return np.asarray(subsets @ truth.astype(float) + generator.integers(-error, error + 1, len(subsets)))

        assert (decode_every_subset(answer, 9) != truth).sum() <= 4 * error


@pytest.mark.requirement("2.21")
def test_total_budget_leaves_chance_and_budget_per_query_does_not() -> None:
    truth = secret(200)
    for total, seed in ((True, 9), (False, 10)):
        answer = laplace_answer(truth, epsilon=1, total=total, bits=SeededBits(seed), teaching=True)
        rate = judge(attack_counts(answer, 200, generator=keyed_generator(seed)), truth)
        assert rate.beats_chance != total
        assert (rate.share > 0.98) != total


def test_subset_counts_are_all_the_attack_sees() -> None:
    """An answerer that tells nothing leaves the guess at chance, whatever the truth is."""
    truth = secret(300)
    guess = attack_counts(lambda subsets: np.full(len(subsets), 75.0), 300, generator=keyed_generator(11))
    assert not judge(guess, truth).beats_chance


def test_wrong_answers_and_arguments_are_refused() -> None:
    with pytest.raises(InputError, match="one number for each"):
        attack_counts(lambda subsets: np.zeros(3), 20, generator=keyed_generator(1))
    with pytest.raises(InputError, match="at most 5000"):
        attack_counts(lambda subsets: np.zeros(3), 10**6, generator=keyed_generator(1))
    with pytest.raises(InputError, match="1 to 12"):
        decode_every_subset(lambda subsets: np.zeros(3), 30)
    with pytest.raises(InputError, match="kind"):
        measure_noise(kind="pink", generator=keyed_generator(1))  # type: ignore[arg-type]


@pytest.mark.requirement("3.34")
def test_table_of_what_is_possible_is_filled_in() -> None:
    found = what_is_possible(1_000_000)
    constant, root, tenth = found.grids()[0].rows
    assert all("blatantly non-private" in str(row[1]) for row in (constant, root, tenth))
    assert constant[2] == "possible: randomised response"
    assert str(constant[3]).startswith("possible: randomised response or Laplace")
    assert "blatantly non-private" in str(root[2])
    assert "blatantly non-private" in str(tenth[2])
    assert root[3] == "possible: Laplace or Gaussian"
    # k ≪ n is not enough: at 1/√n even k = n/100 is beyond every mechanism (E16).
    assert found.verdict(1e-3, 10_000).startswith("up to")
    assert most_queries(lambda k: k * k, 50) == 7


def test_limits_grow_as_root_n_and_as_n() -> None:
    small, large = (what_is_possible(n).limits(1 / math.sqrt(n)) for n in (10**6, 10**10))
    assert 50 < large["Laplace"] / small["Laplace"] < 100  # √10^4, less the logarithm
    assert 3_000 < large["Gaussian"] / small["Gaussian"] < 10_000  # 10^4, less the logarithm


def test_the_stated_errors_are_kept_by_the_mechanisms() -> None:
    generator, people, queries = keyed_generator(12), 10_000, 12
    laplace = np.abs(generator.laplace(0, queries / people, (2000, queries))).max(axis=1)
    assert (laplace > laplace_error(queries, people, 1)).mean() < 0.06
    rho = (math.sqrt(1 + math.log(1e6)) - math.sqrt(math.log(1e6))) ** 2
    gauss = np.abs(generator.normal(0, math.sqrt(queries / (2 * rho)) / people, (2000, queries))).max(axis=1)
    assert (gauss > gaussian_error(queries, people, 1, 1e-6)).mean() < 0.06
    assert (gauss > 0.5 * gaussian_error(queries, people, 1, 1e-6)).mean() > 0.06
    kept = math.e / (1 + math.e)
    truth = secret(people)
    reports = truth ^ (generator.random(people) >= kept)
    estimate = (reports - (1 - kept)) / (2 * kept - 1)
    subsets = random_subsets(people, 50, generator)
    errors = np.abs(subsets @ (estimate - truth)) / people
    assert errors.max() < Response.of(1).error_bound(people, 0.05, queries=50)


def test_noisy_answers_have_the_stated_size() -> None:
    truth = secret(50)
    subsets = random_subsets(50, 4000, keyed_generator(13))
    for kind, size, expected in (("uniform", 6.0, 6 / math.sqrt(3)), ("gaussian", 6.0, 6.0)):
        answers = noisy_answer(truth, size, kind, keyed_generator(14))(subsets)  # type: ignore[arg-type]
        assert np.std(answers - subsets @ truth.astype(float)) == pytest.approx(expected, rel=0.05)


def test_command_draws_the_curve(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attack", "linear", "--people", "100", "--json"]) == 0
    curve, table = json.loads(capsys.readouterr().out)
    assert curve["queries"] == 400
    assert len(curve["points"]) == 8
    assert len(table["verdicts"]) == 3
