"""Re-identification: by hand, against trying every pair, and at the level of chance where rows mean nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet.errors import ArgumentError, UnknownNameError
from discreet.risk.attribute import attribute_risk
from discreet.risk.reidentification import reidentify

Table = dict[str, list[Any]]

# Five persons; the copy moves the first one's age by 1, gives the third another sex, and moves the last far away.
ORIGINAL: Table = {"age": [30, 31, 50, 51, 80], "sex": ["f", "f", "m", "m", "m"], "ill": [1, 0, 1, 1, 0]}
COPY: Table = {"age": [31, 31, 50, 51, 20], "sex": ["f", "f", "f", "m", "m"], "ill": [1, 0, 1, 1, 0]}


@pytest.mark.requirement("0.27")
@pytest.mark.requirement("0.28")
def test_one_over_the_number_of_matches_worked_by_hand() -> None:
    found = reidentify(ORIGINAL, [COPY], keys=["age", "sex"], tolerances={"age": 1})
    # matches of person 1: rows 1, 2; of 2: 1, 2; of 3 (age 50, m): row 4 alone; of 4: row 4; of 5: none.
    assert found.released.any_match.tolist() == [0.5, 0.5, 1.0, 1.0, 0.0]
    assert found.released.true_match.tolist() == [0.5, 0.5, 0.0, 1.0, 0.0]
    assert (found.released.mean, found.released.source_rule) == (0.4, 0.6)
    assert (found.released.largest, found.released.likely) == (1.0, 0.6)
    assert found.original.true_match.tolist() == [0.5, 0.5, 0.5, 0.5, 1.0]
    assert found.chance == 0.2


@pytest.mark.requirement("0.29")
def test_individual_risk_is_the_mean_over_copies() -> None:
    nothing = {**COPY, "age": [1, 2, 3, 4, 5]}
    both = reidentify(ORIGINAL, [COPY, nothing], keys=["age", "sex"], tolerances={"age": 1})
    assert both.released.true_match.tolist() == [0.25, 0.25, 0.0, 0.5, 0.0]
    assert both.interval is not None
    # means .4 and 0: Student's t with one degree of freedom, 12.706 × .2828 / √2
    assert both.interval == pytest.approx((0.2 - 12.7062 * 0.2, 0.2 + 12.7062 * 0.2), rel=1e-4)
    assert reidentify(ORIGINAL, [COPY], keys=["age"]).interval is None


def mixed(generator: np.random.Generator, n: int) -> Table:
    return {
        "age": generator.integers(18, 90, n).tolist(),
        "years": [None if value < 0.3 else round(value, 1) for value in generator.gamma(2, 3, n).tolist()],
        "sex": generator.choice(["f", "m"], n).tolist(),
        "race": [("a", "b", "c", None)[at] for at in generator.choice(4, n, p=[0.7, 0.2, 0.05, 0.05])],
    }


@pytest.mark.requirement("0.30")
def test_mixed_keys_with_missing_cells_equal_trying_every_pair() -> None:
    generator = np.random.default_rng(3)
    n = 150
    original, copies = mixed(generator, n), [mixed(generator, n) for _ in range(3)]
    for copy in copies:  # half of the rows stay as they are
        for column, values in copy.items():
            values[: n // 2] = original[column][: n // 2]
    tolerances = {"age": 2, "years": 0.5}
    found = reidentify(original, copies, keys=["age", "years", "sex", "race"], tolerances=tolerances)

    def fits(mine: Any, theirs: Any, column: str) -> bool:
        if mine is None or theirs is None or column not in tolerances:
            return bool(mine == theirs)
        return bool(abs(mine - theirs) <= tolerances[column] + 1e-6)

    for i in range(n):
        true, anyone = [], []
        for copy in copies:
            matches = [j for j in range(n) if all(fits(original[c][i], copy[c][j], c) for c in original)]
            anyone.append(1 / len(matches) if matches else 0.0)
            true.append(anyone[-1] * (i in matches))
        assert found.released.true_match[i] == pytest.approx(np.mean(true))
        assert found.released.any_match[i] == pytest.approx(np.mean(anyone))


@pytest.mark.requirement("0.06")
def test_shuffled_rows_are_found_at_the_level_of_chance_while_the_source_rule_stays_high() -> None:
    generator = np.random.default_rng(4)
    n = 500
    original = {"age": generator.integers(18, 80, n), "edu": generator.integers(0, 5, n)}
    shuffled = [
        {name: values[order] for name, values in original.items()} for order in map(generator.permutation, [n] * 60)
    ]
    found = reidentify(original, shuffled, keys=["age", "edu"], tolerances={"age": 1})
    per_copy = 1 / n  # whatever the classes are: s matches in random places, each picked with 1/s
    assert found.released.mean == pytest.approx(per_copy, abs=5 * np.sqrt(per_copy / n / 60))
    assert found.released.source_rule == pytest.approx(found.original.source_rule)
    assert found.original.mean > 20 * found.released.mean
    assert "pick at random 0.20" in found.sentences()[0].replace("\N{NARROW NO-BREAK SPACE}", " ")


def test_averaging_fresh_noise_finds_more_than_a_single_copy() -> None:
    generator = np.random.default_rng(5)
    n = 2000
    age, sex = generator.normal(50, 15, n), generator.integers(0, 2, n)
    copies = []
    for _ in range(20):
        flipped = np.where(generator.random(n) < 0.3, 1 - sex, sex)
        copies.append({"age": age + generator.normal(0, 5, n), "sex": flipped})
    found = reidentify({"age": age, "sex": sex}, copies, keys=["age", "sex"], tolerances={"age": 1})
    assert found.averaged.mean > 3 * found.released.mean
    # By hand: the mean of twenty, the commoner of two sexes.
    mean = np.mean([copy["age"] for copy in copies], axis=0)
    common = (np.mean([copy["sex"] for copy in copies], axis=0) > 0.5).astype(int)
    by_hand = np.zeros(n)
    for i in range(n):
        matches = (np.abs(mean - age[i]) <= 1) & (common == sex[i])
        by_hand[i] = matches[i] / max(matches.sum(), 1)
    assert found.averaged.true_match == pytest.approx(by_hand)


def test_groups_are_the_parts_of_the_whole() -> None:
    generator = np.random.default_rng(6)
    original = mixed(generator, 300)
    copy = {**original, "age": [value + int(generator.integers(-3, 4)) for value in original["age"]]}
    found = reidentify(original, [copy], keys=["age", "sex"], groups="race", tolerances={"age": 1})
    assert list(found.groups) == ["a", "b", "c", "missing"]
    total = sum(n * one.mean for n, one in found.groups.values())
    assert total / 300 == pytest.approx(found.released.mean)
    labelled = reidentify(original, [copy], keys=["age", "sex"], groups=original["race"], tolerances={"age": 1})
    assert labelled.as_json() == found.as_json()
    grid = found.group_grid()
    assert grid is not None
    assert [row[1] for row in grid.rows] == [n for n, _ in found.groups.values()]


def test_frames_of_every_kind_give_the_same() -> None:
    plain = reidentify(ORIGINAL, [COPY], keys=["age", "sex"], tolerances={"age": 1}).as_json()
    for kind in (pd.DataFrame, pl.DataFrame, pl.LazyFrame):
        found = reidentify(kind(ORIGINAL), [kind(COPY)], keys=["age", "sex"], tolerances={"age": 1})
        assert found.as_json() == plain


def test_no_value_of_a_record_is_printed() -> None:
    found = reidentify(ORIGINAL, [COPY], keys=["age", "sex"], tolerances={"age": 1})
    assert "true_match" not in str(found.released)
    assert "0.5, 0.5" not in repr(found)


def test_attributes_worked_by_hand() -> None:
    found = attribute_risk(ORIGINAL, [COPY], sensitive="ill", keys=["age", "sex"], tolerances={"age": 1})
    # with own: persons 1, 2 see {1, 0}: .5 each; 3 sees row 4 (1): right; 4 sees itself: 1; 5 none: 2 of 5 have 0.
    assert found.with_own == pytest.approx((0.5 + 0.5 + 1 + 1 + 0.4) / 5)
    # without: 1 sees {0}: wrong; 2 sees {1}: wrong; 3 still row 4; 4 nothing: 3 of 5 have 1; 5 nothing: .4.
    assert found.without_own == pytest.approx((0 + 0 + 1 + 0.6 + 0.4) / 5)
    assert found.marginal == pytest.approx((3 * 0.6 + 2 * 0.4) / 5)
    assert found.added == pytest.approx(found.with_own - found.without_own)
    assert "for somebody whose row is not in the copy" in found.sentence


def test_attributes_of_strangers_add_nothing() -> None:
    generator = np.random.default_rng(8)
    n = 3000
    group = generator.integers(0, 4, n)
    original = {"group": group, "income": group * 10 + generator.normal(0, 1, n)}
    copies = []
    for _ in range(3):  # the same law, other persons
        drawn = generator.integers(0, 4, n)
        copies.append({"group": drawn, "income": drawn * 10 + generator.normal(0, 1, n)})
    found = attribute_risk(original, copies, sensitive="income", keys=["group"], closeness=1.0)
    assert abs(found.added) < 0.001
    assert found.with_own == pytest.approx(0.52, abs=0.02)  # two normal draws lie within 1 of each other: 2Φ(1/√2) − 1
    assert found.marginal == pytest.approx(0.13, abs=0.01)  # a quarter of that


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"keys": []}, ArgumentError, "needs at least one"),
        ({"keys": ["age", "age"]}, ArgumentError, "twice"),
        ({"keys": ["agee"]}, UnknownNameError, "did you mean age"),
        ({"keys": ["sex"], "tolerances": {"age": 1}}, UnknownNameError, "tolerance of"),
        ({"keys": ["age"], "tolerances": {"age": -1}}, ArgumentError, "0 or more"),
        ({"keys": ["age"], "tolerances": {"age": float("nan")}}, ArgumentError, "finite"),
        ({"keys": ["age"], "groups": ["a"]}, ArgumentError, "1 labels"),
        ({"keys": ["sex"], "tolerances": {"sex": 1}}, ArgumentError, "no numbers"),
    ],
)
def test_bad_arguments_get_one_line(arguments: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        reidentify(ORIGINAL, [COPY], **arguments)


def test_copies_of_another_length_are_refused() -> None:
    with pytest.raises(ArgumentError, match="in the place of row i"):
        reidentify(ORIGINAL, [{"age": [1], "sex": ["f"]}], keys=["age"])
    with pytest.raises(ArgumentError, match="none, or one"):
        attribute_risk(ORIGINAL, [], sensitive="ill", keys=["age"])
    with pytest.raises(ArgumentError, match="which is a key"):
        attribute_risk(ORIGINAL, [COPY], sensitive="age", keys=["age"])
