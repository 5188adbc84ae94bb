"""Overlap and standardised difference: by hand, and recomputed from every table that the source prints."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ArgumentError
from discreet.utility.intervals import OTHER_STUDY_DIFFERENCE, OTHER_STUDY_OVERLAP, overlap, standardized_difference
from tests.utility.printed import LUNG_DISEASE, MISSING, RISK_BASED, WORK_DISABILITY, Printed


def mean_overlaps(printed: Printed, reference: int, methods: range) -> list[float]:
    """The mean over coefficients of each method's overlap with the reference column."""
    rows = [intervals for _, intervals in printed.values()]
    return [float(overlap([row[reference] for row in rows], [row[at] for row in rows]).mean()) for at in methods]


@pytest.mark.requirement("0.25")
def test_overlap_by_hand() -> None:
    found = overlap([(0, 2), (0, 2), (0, 2), (0, 2), (0, 4)], [(0, 2), (1, 3), (2, 4), (3, 5), (1, 2)])
    # same; half; touching; a gap of half a width; inside: the mean of 1/4 and 1.
    assert found.tolist() == [1.0, 0.5, 0.0, -0.5, 0.625]
    assert overlap([(1, 1), (1, 1), (0, 2)], [(1, 1), (2, 3), (1, 1)]).tolist() == [1.0, -np.inf, 0.5]


@pytest.mark.requirement("0.26")
def test_standardized_difference_by_hand() -> None:
    assert standardized_difference([1, 2, 0], [1.5, 1, 0], [0.25, 0.5, 0]).tolist() == [2.0, 2.0, 0.0]


@pytest.mark.requirement("0.33")
@pytest.mark.requirement("0.34")
def test_overlaps_of_the_work_disability_table() -> None:
    assert len(WORK_DISABILITY) == 4
    found = mean_overlaps(WORK_DISABILITY, 0, range(1, 7))
    assert found == pytest.approx([0.703, 0.767, 0.983, 0.726, 0.884, 0.959], abs=6e-4)
    cart, parametric, augmented = found[:3]
    assert cart < parametric < augmented
    assert found[3] < found[4] < found[5]
    # The claim beside it is of 97.6 % over all coefficients; the four that are printed stand on both sides of it.
    assert found[5] < 0.976 < found[2]


def test_overlaps_of_the_lung_disease_table() -> None:
    found = mean_overlaps(LUNG_DISEASE, 0, range(1, 7))
    assert found == pytest.approx([0.798, 0.721, 0.957, 0.730, 0.686, 0.968], abs=6e-4)
    low, high = LUNG_DISEASE["Race"][1][4]
    assert (low, high) == (-61.472, 61.829)  # the copy that separated


@pytest.mark.requirement("0.37")
def test_overlaps_of_the_table_with_missing_data() -> None:
    assert mean_overlaps(MISSING, 0, range(1, 4)) == pytest.approx([0.971, 0.849, 0.772], abs=6e-4)
    assert mean_overlaps(MISSING, 4, range(5, 8)) == pytest.approx([0.952, 0.744, 0.504], abs=6e-4)


@pytest.mark.requirement("0.46")
def test_the_golden_table_of_risk_based_copies() -> None:
    assert len(RISK_BASED) == 8
    for name, (figures, intervals) in RISK_BASED.items():
        reference, *methods = figures[:3]
        differences, overlaps = figures[3:5], figures[5:7]
        low, high = intervals[0]
        error = (high - low) / (2 * 1.959964)
        found = overlap([intervals[0]] * 2, intervals[1:])
        assert found == pytest.approx(overlaps, abs=0.002), name
        assert standardized_difference([reference] * 2, methods, [error] * 2) == pytest.approx(differences, abs=0.023)
    health = RISK_BASED["HAQ"][0]
    assert (health[4], health[6]) == (7.043, -1.026)


def test_the_baseline_is_another_study_of_the_same_size() -> None:
    generator = np.random.default_rng(1)
    first, second = generator.normal(size=(2, 200_000))
    around = [np.column_stack([one - 1.959964, one + 1.959964]) for one in (first, second)]
    assert float(overlap(*around).mean()) == pytest.approx(OTHER_STUDY_OVERLAP, abs=0.003)
    assert float(standardized_difference(first, second, np.ones(200_000)).mean()) == pytest.approx(
        OTHER_STUDY_DIFFERENCE, abs=0.01
    )
    assert pytest.approx(0.712, abs=5e-4) == OTHER_STUDY_OVERLAP
    assert pytest.approx(1.128, abs=5e-4) == OTHER_STUDY_DIFFERENCE


def test_intervals_out_of_shape_are_refused() -> None:
    with pytest.raises(ArgumentError, match="out of order"):
        overlap([(2, 1)], [(0, 1)])
    with pytest.raises(ArgumentError, match="each has its counterpart"):
        overlap([(0, 1)], [(0, 1), (0, 1)])
    with pytest.raises(ArgumentError, match="finite"):
        overlap([(0, np.inf)], [(0, 1)])
