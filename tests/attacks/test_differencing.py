"""Differencing, guess who, colluders and the detector: exact, suppressed and under differential privacy."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest

from discreet.attacks.condition import Clause, Condition, parse_clause, select, write_clause
from discreet.attacks.detector import detect
from discreet.attacks.differencing import difference, guess_who, subtract
from discreet.attacks.keepers import exact_keeper, private_keeper, suppressing_keeper
from discreet.draw import to_svg
from discreet.errors import InputError
from discreet.randomness import SeededBits, keyed_generator
from tests.attacks.survey import Table, example

DRUGS = Condition("drugs", "=", ("yes",))


def students() -> Table:
    """The bundled survey, with an invented answer of each student."""
    table = example("student_survey")
    answers = ["yes" if at % 3 == 0 else "no" for at in range(24)]
    man = next(at for at in range(24) if (table["age"][at], table["sex"][at]) == (21, "m"))
    answers[man] = "yes"
    return table | {"drugs": list(answers)}


def crowd(people: int = 400) -> Table:
    """People with a number of their own, a group, and a secret that a coin decided."""
    generator = keyed_generator(1)
    return {
        "person": list(range(people)),
        "group": ["ab"[int(one)] for one in generator.integers(0, 2, people)],
        "drugs": ["yes" if one else "no" for one in generator.integers(0, 2, people)],
    }


def targets_of(table: Table) -> tuple[list[dict[str, int | float | str]], list[bool]]:
    pairs = zip(table["group"], table["person"], strict=True)
    known: list[dict[str, int | float | str]] = [{"group": str(g), "person": int(str(p))} for g, p in pairs]
    return known, [one == "yes" for one in table["drugs"]]


@pytest.mark.requirement("1.11")
def test_two_counts_disclose_the_man_of_twenty_one() -> None:
    count = exact_keeper(students())
    known = parse_clause("age = 21 and sex = m")
    assert count(known) == 1
    assert count((*known, DRUGS)) == 1
    found = guess_who(count, {"age": 21, "sex": "m"}, DRUGS)
    assert [answer for _, answer in found.steps] == [24, 6, 1]
    assert found.disclosed is True


@pytest.mark.requirement("2.01")
def test_guess_who_shrinks_the_candidates_to_one() -> None:
    table = students()
    for at in range(24):
        target = {name: table[name][at] for name in ("age", "sex", "start", "worst_grade", "siblings")}
        found = guess_who(exact_keeper(table), target, DRUGS)  # type: ignore[arg-type]
        counts = [answer for _, answer in found.steps if answer is not None]
        assert counts == sorted(counts, reverse=True)
        truly = select(table, tuple(Condition(n, "=", (v,)) for n, v in target.items())).sum()  # type: ignore[arg-type]
        assert found.singled_out == (truly == 1)
        if found.singled_out:
            assert found.disclosed == (table["drugs"][at] == "yes")
    assert to_svg(found.charts()[0])
    assert "left" in found.sentences()[0]


def test_guess_who_settles_nothing_under_noise() -> None:
    keeper = private_keeper(students(), epsilon="0.1", budget=1, bits=SeededBits(1), teaching=True)
    found = guess_who(keeper, {"age": 21, "sex": "m"}, DRUGS)
    assert found.disclosed is None
    assert "settles nothing" in found.sentences()[1]


@pytest.mark.requirement("1.09", "4.01")
def test_who_knows_all_others_knows_the_last() -> None:
    """Alice, Bob, Charlie and Xander: the count is 2, Xander tells his own answer, two are known to be clean."""
    answers = {"Alice": 1, "Bob": 0, "Charlie": 0, "Xander": 1}
    total = sum(answers.values())
    assert total == 2
    assert subtract(total, [answers["Xander"], answers["Bob"], answers["Charlie"]]) == answers["Alice"]
    incomes = [310.0, 250.5, 99.0, 1200.25]
    assert subtract(sum(incomes), incomes[1:]) == pytest.approx(incomes[0])
    # With noise of ε = 1/10 on the total the same subtraction is right about as often as a coin.
    right, bits = 0, SeededBits(5)
    for alice in (0, 1) * 150:
        table: Table = {"drugs": [*["yes"] * (1 + alice), *["no"] * (3 - alice)]}
        noisy = private_keeper(table, epsilon="0.1", budget=1, bits=bits, teaching=True)((DRUGS,))
        assert noisy is not None
        right += (subtract(noisy, [1, 0, 0]) >= 0.5) == (alice == 1)
    assert 0.4 < right / 300 < 0.6


@pytest.mark.requirement("1.11")
def test_differencing_beats_suppression_and_not_a_budget() -> None:
    table = crowd()
    targets, truth = targets_of(table)
    plain = difference(exact_keeper(table), targets, DRUGS, truth=truth)
    assert plain.rate.share == 1
    suppressed = difference(suppressing_keeper(table, least=20), targets, DRUGS, truth=truth)
    assert suppressed.rate.share == 1
    assert suppressed.refused == 0
    keeper = private_keeper(table, epsilon="0.01", budget=1, bits=SeededBits(2), teaching=True)
    private = difference(keeper, targets, DRUGS, truth=truth)
    assert not private.rate.beats_chance
    assert private.refused == 2 * 400 - 100
    # The same keeper with a budget that is none gives everything away again.
    open_keeper = private_keeper(table, epsilon=20, budget=20_000, bits=SeededBits(3), teaching=True)
    assert difference(open_keeper, targets, DRUGS, truth=truth).rate.share > 0.99
    assert json.dumps(private.as_json())
    assert to_svg(plain.charts()[0])


def test_private_keeper_stops_when_its_budget_is_spent() -> None:
    keeper = private_keeper(crowd(), epsilon="0.1", budget="0.3", bits=SeededBits(1), teaching=True)
    answers = [keeper(()) for _ in range(5)]
    assert [answer is None for answer in answers] == [False, False, False, True, True]
    with pytest.raises(InputError, match="repeated"):
        private_keeper(crowd(), epsilon=1, budget=1, bits=SeededBits(1))(())


@pytest.mark.requirement("1.11")
def test_detector_finds_the_pair_and_its_people() -> None:
    table = crowd()
    log = [parse_clause(text) for text in ("everyone", "group = a", "group = a and person != 7", "person < 200")]
    holds = table["group"][7] == "a"
    found = detect(table, log)
    assert [(pair.larger, pair.smaller, pair.people) for pair in found.pairs] == ([(1, 2, 1)] if holds else [])
    assert found.exposed == (1 if holds else 0)
    everyone = detect(table, [(), parse_clause("person != 7")])
    assert everyone.exposed == 1
    assert everyone.combined[0].factors == ((0, 1.0), (1, -1.0))
    assert to_svg(everyone.charts()[0])
    assert detect(table, [()]).pairs == ()


@pytest.mark.requirement("1.11")
def test_detector_finds_combinations_of_three() -> None:
    """|a| + |b| − |a or b| style trackers: no pair differs in few people, three questions do."""
    table: Table = {"cell": [*"x" * 40, *"y" * 40, "z", "z"]}
    log = [parse_clause("cell in x | z"), parse_clause("cell in y | z"), ()]
    found = detect(table, log)
    assert found.pairs == ()
    assert found.exposed == 2
    assert sorted(found.combined[0].factors) == [(0, 1.0), (1, 1.0), (2, -1.0)]


def test_detector_agrees_with_plain_enumeration() -> None:
    generator = keyed_generator(4)
    for _ in range(30):
        people, questions = int(generator.integers(3, 30)), int(generator.integers(2, 6))
        masks = generator.integers(0, 2, (questions, people)).astype(bool)
        table: Table = {f"q{at}": [int(one) for one in row] for at, row in enumerate(masks)}
        log: list[Clause] = [(Condition(f"q{at}", "=", (1,)),) for at in range(questions)]
        found = {(pair.larger, pair.smaller, pair.people) for pair in detect(table, log, threshold=4).pairs}
        slow = set()
        for i, j in product(range(questions), repeat=2):
            inside, between = masks[i] & ~masks[j], int((masks[i] & ~masks[j]).sum())
            if not (masks[j] & ~masks[i]).any() and inside.any() and between < 4:
                slow.add((i, j, between))
        assert found == slow
        for one in detect(table, log, threshold=4).combined:
            told = sum(factor * masks[at] for at, factor in one.factors)
            assert np.isclose(sorted(told)[-one.people :], 1, atol=1e-4).all()
            assert np.isclose(np.abs(told).sum(), one.people, atol=1e-3)


def test_harmless_log_is_said_to_be_harmless() -> None:
    found = detect(crowd(), [parse_clause("group = a"), parse_clause("group = b")])
    assert found.sentences()[0].startswith("No 2 exact counts")
    assert found.charts() == ()


@pytest.mark.parametrize("text", ["age", "age ~ 3", "age < old", "age < 3 | 4", "= 3"])
def test_bad_conditions_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_clause(text)


def test_clauses_read_back() -> None:
    for text in ("everyone", "age >= 18 and sex = female", "race in black | white", "x != 1.5"):
        assert parse_clause(write_clause(parse_clause(text))) == parse_clause(text)
    assert not Condition("a", "<", (3,)).holds(None)
    assert not Condition("a", "<", (3,)).holds("x")
    assert Condition("a", "!=", (3,)).holds("x")
    with pytest.raises(InputError, match="did you mean group"):
        select(crowd(), parse_clause("grup = a"))
