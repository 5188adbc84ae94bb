"""Attacks on coarse cells: who is covered, what a class tells, and that tables of strangers tell of nobody."""

from __future__ import annotations

import pytest

from discreet.anonymize.criteria import Criteria
from discreet.anonymize.generalize import generalize
from discreet.anonymize.records import Records
from discreet.attacks.cell import covers
from discreet.attacks.composition import candidates, compose_many
from discreet.attacks.cover import Cover, coarsened
from discreet.attacks.generalised import attack_generalised
from discreet.attacks.joining import link_tables
from discreet.attacks.membership import Microdata
from discreet.errors import InputError
from discreet.randomness import keyed_generator
from tests.attacks.people import Table, adult
from tests.attacks.survey import example

KEYS = ("age", "education_num", "hours_per_week")


def coarse(table: Table, k: int) -> Table:
    made = generalize(Records.of(table), KEYS, Criteria(k=k), method="mondrian")
    return made.records.as_lists()


def attacked(released: Table, *, secret: str = "occupation") -> Microdata:
    people = adult()
    return attack_generalised(
        released, people.original, people.control, KEYS, secret=secret, guesses=600, generator=keyed_generator(1)
    )


def test_covered_classes_agree_with_looking_at_every_record() -> None:
    people = adult()
    released = {name: values[:200] for name, values in coarse(people.original, 4).items()}
    asked = keyed_generator(2).permutation(len(people.original["age"]))[:60]
    cover = Cover.of(released, KEYS)
    (_, inside), *rest = cover.inside(people.original, asked)
    assert not rest
    for row, person in enumerate(asked):
        fits = [
            at for at in range(200) if all(covers(released[name][at], people.original[name][person]) for name in KEYS)
        ]
        assert sorted(fits) == [at for at in range(200) if inside[row, cover.place[at]]]
    target = {name: people.original[name][asked[0]] for name in KEYS}
    rate = compose_many([released], [target], "income", truth=["x"]).rates["release 1"]
    assert rate.tries == 1
    assert sum(candidates(released, target, "income").values()) == int(inside[0] @ cover.sizes)


def test_small_classes_tell_of_their_people_and_those_of_strangers_do_not() -> None:
    people = adult()
    told = attacked(coarse(people.original, 2)).found
    assert told["membership"].beats_control
    assert told["inference of occupation"].beats_control
    strange = attacked(coarse(people.strangers, 2)).found
    assert not strange["membership"].beats_control
    assert not strange["inference of occupation"].beats_control
    large = attacked(coarse(people.original, 200)).found
    assert not large["inference of occupation"].beats_control


def test_a_class_of_one_illness_gives_it_away() -> None:
    """The hospital's table is 4-anonymous; whoever is in its thirties has cancer, and people outside do not."""
    hospital = example("hospital_a", plain=True)
    inside: Table = {"age": [28, 45, 33, 36], "condition": ["AIDS", "Cancer", "Cancer", "Cancer"]}
    outside: Table = {"age": [28, 45, 33, 36], "condition": ["Flu", "Flu", "Flu", "Flu"]}
    found = attack_generalised(hospital, inside, outside, ["age"], secret="condition", generator=keyed_generator(3))
    assert found.found["inference of condition"].hits >= 2
    assert found.found["inference of condition"].control_hits == 0
    assert found.found["membership"].risk == 0


def test_what_is_coarse_is_seen() -> None:
    people = adult()
    assert coarsened(coarse(people.original, 5), people.original, KEYS)
    assert not coarsened(people.strangers, people.original, KEYS)
    emptied: Table = {"age": [None, *people.original["age"][1:]]}
    assert coarsened(emptied, people.original, ["age"])
    dashed: Table = {"job": ["10-20", "x"]}
    assert not coarsened(dashed, dashed, ["job"])


def test_people_whose_record_was_left_out_are_not_found() -> None:
    named: Table = {"age": [23, 31, 45]}
    released: Table = {"age": [45, 31]}
    found = link_tables(named, released, ["age"], places=(-1, 1, 0), generator=keyed_generator(4))
    assert (found.alone.hits, found.alone.tries, found.wrong) == (2, 3, 0)
    wrong = link_tables(named, {"age": ["20-29", "30-39"]}, ["age"], places=(-1, -1, 0), generator=keyed_generator(4))
    assert (wrong.alone.hits, wrong.wrong) == (0, 2)
    with pytest.raises(InputError, match="in `places`"):
        link_tables(named, released, ["age"], places=(0, 1), generator=keyed_generator(4))
