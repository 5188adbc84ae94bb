"""Risk groups against brute force, masks by group, and the two other ways of sparing records at risk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.synthesis.imputation.columns import Columns, read_columns
from discreet.synthesis.imputation.masks import LevelMask, NoiseMask
from discreet.synthesis.imputation.posterior import Schedule
from discreet.synthesis.imputation.subgroups import (
    RiskGroup,
    RiskGroups,
    graded_masks,
    risk_groups,
    synthesize_by_risk,
    synthesize_selective,
    synthesize_weighted,
)
from tests.synthesis.imputation.survey import HIDDEN, survey

QUICK = Schedule(chains=2, burn=150, thin=10)
WITHIN = {"age": 5.0, "duration": 2.0}


@pytest.fixture(scope="module")
def columns() -> Columns:
    data = survey(1500, np.random.default_rng(3))
    return read_columns({name: values.tolist() for name, values in data.items()}, kinds={"education": [0.0, 1.0, 2.0]})


@pytest.fixture(scope="module")
def groups(columns: Columns) -> RiskGroups:
    return risk_groups(columns, HIDDEN, within=WITHIN, least=60)


@pytest.mark.requirement("0.41")
@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from("ab"), st.integers(0, 12)), min_size=2, max_size=40),
    st.integers(1, 4),
    st.integers(0, 3),
)
def test_groups_are_those_of_brute_force(rows: list[tuple[int, str, int]], least: int, near: int) -> None:
    table = {"a": [a for a, _, _ in rows], "b": [b for _, b, _ in rows], "n": [float(n) for _, _, n in rows]}
    found = risk_groups(
        read_columns(table, kinds={"a": "nominal", "n": "continuous"}), ["a", "b", "n"], within={"n": near}, least=least
    )
    for at, (a, b, n) in enumerate(rows):
        alike = [m for other, (x, y, m) in enumerate(rows) if other != at and (x, y) == (a, b)]
        close = sum(abs(m - n) <= near for m in alike)
        expected = RiskGroup.LOW if close >= least else RiskGroup.MEDIUM if len(alike) >= least else RiskGroup.HIGH
        assert found.codes[at] == expected
        assert found.matches[at] == close + 1


def test_without_numbers_there_is_no_medium_group() -> None:
    found = risk_groups(read_columns({"a": ["x"] * 6 + ["y"] * 3}), ["a"])
    assert found.sizes == {RiskGroup.LOW: 6, RiskGroup.MEDIUM: 0, RiskGroup.HIGH: 3}


@pytest.mark.requirement("0.43")
def test_riskier_groups_are_changed_more(columns: Columns, groups: RiskGroups) -> None:
    assert min(groups.sizes.values()) > 10
    copies = synthesize_by_risk(columns, groups, perturb=HIDDEN, copies=4, schedule=QUICK)
    away, same = [], []
    for group in RiskGroup:
        mine = groups.codes == group
        away.append(np.mean([np.std((np.array(f["age"]) - columns.source["age"])[mine]) for f in copies]))
        same.append(np.mean([np.mean((np.array(f["sex"]) == columns.source["sex"])[mine]) for f in copies]))
    assert away == sorted(away)
    assert away[2] > 2 * away[0]
    assert same[0] > same[1]
    for frame in copies:
        assert set(frame) == set(columns.source)
        assert frame["index"] == columns.source["index"]


@pytest.mark.requirement("0.39")
def test_selective_replacement_leaves_the_common_records(columns: Columns, groups: RiskGroups) -> None:
    copies = synthesize_selective(columns, groups, perturb=HIDDEN, copies=2, schedule=QUICK)
    assert copies.method == "selective"
    safe = groups.codes == RiskGroup.LOW
    for frame in copies:
        for name in HIDDEN:
            equal = np.array(frame[name]) == np.array(columns.source[name])
            assert equal[safe].all()
            assert not equal[~safe].all()


@pytest.mark.requirement("0.39")
def test_records_nobody_matches_do_not_speak_in_weighted_fits() -> None:
    """A hundred unmatched records of another world (their outcome turned) must leave no trace in the copies."""
    random = np.random.default_rng(5)
    z = random.integers(0, 2, 1000)
    x = np.round(2.0 * z + 0.5 * random.normal(size=1000), 1)
    x[:100] = np.round(30 + np.arange(100) * 5.0 - 600 * z[:100], 1)  # far out and far apart
    table: dict[str, list[Any]] = {"x": x.tolist(), "z": z.tolist()}
    columns = read_columns(table)
    groups = risk_groups(columns, ["x"], within={"x": 0.2}, least=5)
    assert (groups.matches[:100] == 1).mean() > 0.95
    copies = synthesize_weighted(columns, groups, perturb=["x"], copies=3, seed=1)
    assert (copies.method, copies.publishable) == ("risk-weighted", False)
    for frame in copies:
        made = np.array(frame["x"])
        assert made[z == 1].mean() - made[z == 0].mean() == pytest.approx(2.0, abs=0.3)
        assert made.std() < 3
        assert frame["z"] == table["z"]


def test_masks_get_wider_with_the_risk(columns: Columns) -> None:
    masks = graded_masks(columns, ["age", "sex"])
    assert masks["age"] == (NoiseMask(0.25), NoiseMask(1.0), NoiseMask(2.0))
    assert masks["sex"] == (LevelMask(keep=0.9), LevelMask(keep=0.7), LevelMask(keep=0.6))


def test_what_makes_no_groups_is_refused(columns: Columns) -> None:
    for quasi, within in (([], {}), (["age"], {}), (["sex"], {"age": 1.0}), (["age"], {"age": -1.0})):
        with pytest.raises(ArgumentError):
            risk_groups(columns, quasi, within=within)
    holed = read_columns({"x": [1.5, None, 2.5, 1.5], "z": [0, 1, 0, 1]})
    lonely = read_columns({"x": [1.5, 2.5, 3.5], "z": [0, 1, 1]})
    for table in (holed, lonely):
        with pytest.raises(ArgumentError):
            synthesize_weighted(table, risk_groups(table, ["x"], within={"x": 0}), perturb=["x"])
