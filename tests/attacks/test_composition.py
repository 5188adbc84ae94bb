"""Composition and homogeneity: the printed hospital tables, generalised cells, and two releases of one crowd."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction

import pytest

from discreet.attacks.cell import covers, general
from discreet.attacks.composition import candidates, compose, compose_many, homogeneous
from discreet.attacks.keepers import Records
from discreet.draw import to_svg
from discreet.errors import InputError
from discreet.guarantee import PureDP
from discreet.randomness import keyed_generator
from tests.attacks.survey import example

ALICE: dict[str, int | float | str] = {"age": 28, "zip_code": 13012}
QUASI = ("zip_code", "age", "nationality")


def hospitals() -> tuple[Records, Records]:
    return example("hospital_a", plain=True), example("hospital_b", plain=True)


def class_sizes(release: Records) -> list[int]:
    return sorted(Counter(zip(*(release[name] for name in QUASI), strict=True)).values())


@pytest.mark.requirement("3.06", "2.06")
def test_two_anonymous_tables_leave_alice_one_condition() -> None:
    first, second = hospitals()
    assert candidates(first, ALICE, "condition") == {"AIDS": 1, "Heart disease": 1, "Viral infection": 2}
    assert candidates(second, ALICE, "condition") == {"AIDS": 1, "Tuberculosis": 2, "Flu": 1, "Cancer": 2}
    found = compose(hospitals(), ALICE, "condition")
    assert found.left == ("AIDS",)
    assert found.disclosed
    assert found.sentences()[1] == "Together, one value is left: AIDS."
    assert to_svg(found.charts()[0])
    assert json.dumps(found.as_json())


@pytest.mark.requirement("3.06")
@pytest.mark.parametrize(
    ("ages", "left"),
    [(range(1, 30), ("AIDS",)), (range(30, 40), ("Cancer",)), (range(40, 80), ("Cancer", "Viral infection"))],
)
def test_the_same_for_every_age(ages: range, left: tuple[str, ...]) -> None:
    for age in ages:
        found = compose(hospitals(), {"age": age, "zip_code": "13012"}, "condition").left
        assert set(found) == set(left), age


@pytest.mark.requirement("3.03", "3.04")
def test_table_a_is_four_anonymous_and_one_class_gives_all_away() -> None:
    release = hospitals()[0]
    assert class_sizes(release) == [4, 4, 4]
    assert homogeneous(release, QUASI, "condition") == {("130**", "3*", "*"): "Cancer"}
    classes: dict[object, set[object]] = {}
    for age, condition in zip(release["age"], release["condition"], strict=True):
        classes.setdefault(age, set()).add(condition)
    assert [len(values) for values in classes.values()] == [3, 3, 1]
    assert compose([release], {"age": 35, "zip_code": 13012}, "condition").left == ("Cancer",)


@pytest.mark.requirement("3.05")
def test_table_b_is_six_anonymous() -> None:
    release = hospitals()[1]
    assert class_sizes(release) == [6, 6]
    assert homogeneous(release, QUASI, "condition") == {}


@pytest.mark.requirement("3.08")
def test_how_a_table_looks_says_nothing_of_how_it_was_made() -> None:
    """Two keepers publish four-anonymous tables only; one picks the table by Alice's condition and so tells it."""
    first, _ = hospitals()
    other = {**first, "condition": list(reversed(first["condition"]))}

    def telling(alice_is_ill: bool) -> Records:
        return first if alice_is_ill else other

    def silent(alice_is_ill: bool) -> Records:
        return first

    for keeper in (telling, silent):
        assert all(min(class_sizes(keeper(ill))) >= 4 for ill in (True, False))  # the output alone passes both times
    assert telling(True) != telling(False)  # the ratio of chances of one output is infinite: no ε holds
    assert silent(True) == silent(False)


def anonymised(ages: list[int], secrets: list[str], width: int, start: int) -> Records:
    """Ages in bands, with the secrets as they are."""
    lows = [start + (age - start) // width * width for age in ages]
    return {"age": [f"[{low}, {low + width})" for low in lows], "secret": secrets}


@pytest.mark.requirement("2.06")
def test_two_releases_together_tell_more_than_either_alone() -> None:
    generator = keyed_generator(3)
    ages = [int(one) for one in generator.integers(20, 80, 300)]
    secrets = [f"s{one}" for one in generator.integers(0, 12, 300)]
    releases = [anonymised(ages, secrets, 4, 20), anonymised(ages, secrets, 4, 22)]
    assert min(Counter(releases[0]["age"]).values()) >= 5
    targets: list[dict[str, int | float | str]] = [{"age": age} for age in ages]
    found = compose_many(releases, targets, "secret", truth=secrets)
    one, two, together = (found.rates[name] for name in ("release 1", "release 2", "together"))
    assert together.hits > max(one.hits, two.hits)
    assert together.beats_chance
    # Released as counts of secrets under a total budget, each further release adds its ε and no more.
    assert PureDP(Fraction(1, 2)) + PureDP(Fraction(1, 2)) == PureDP(Fraction(1))
    noise = [str(one) for one in generator.permutation(secrets)]
    blind = compose_many([{"age": releases[0]["age"], "secret": noise}], targets, "secret", truth=secrets)
    assert not blind.rates["together"].beats_chance
    assert to_svg(found.charts()[0])


@pytest.mark.parametrize(
    ("cell", "inside", "outside"),
    [
        ("*", 3, None),
        ("130**", "13012", "14012"),
        ("3*", 39, 40),
        ("<30", 29, 30),
        ("≥ 40", 40, 39),
        (">=40", 41, 39),
        ("≤5", 5, 6),
        ("60-70", 70, 71),
        ("[20, 30)", 20, 30),
        ("(20, 30]", 30, 20),
        ("{a, b}", "b", "c"),
        ("a | b", "a", "c"),
        ("red", "red", "blue"),
        ("-5-5", -5, 6),
    ],
)
def test_generalised_cells_cover_what_they_stand_for(cell: str, inside: object, outside: object) -> None:
    assert covers(cell, inside)  # type: ignore[arg-type]
    assert outside is None or not covers(cell, outside)  # type: ignore[arg-type]
    assert not covers("<30", "x")
    assert covers(None, "anything")
    assert general(cell) == (cell != "red")


def test_targets_and_columns_must_be_there() -> None:
    with pytest.raises(InputError, match="no value of a column"):
        compose(hospitals(), {"height": 3}, "condition")
    with pytest.raises(InputError, match="did you mean condition"):
        compose(hospitals(), ALICE, "conditions")
    with pytest.raises(InputError, match="none"):
        compose([], ALICE, "condition")
    gone = compose(hospitals(), {"age": 28, "zip_code": 99999}, "condition")
    assert gone.left == ()
    assert "no value is left" in gone.sentences()[1]
