"""Swapping: what stays exactly as it was, who is moved, and how swapped records are found all the same."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from discreet.anonymize.records import CodedColumn, Records
from discreet.anonymize.swap import rank_swap, record_swap
from discreet.errors import DiscreetError
from discreet.randomness import keyed_generator


def people(seed: int, rows: int = 400) -> Records:
    draw = np.random.default_rng(seed)
    county = draw.integers(0, 3, rows)
    return Records.of(
        {
            "county": county.tolist(),
            "town": (county * 10 + draw.integers(0, 4, rows)).tolist(),
            "age": np.minimum(draw.geometric(0.1, rows), 40).tolist(),
            "sex": draw.integers(0, 2, rows).tolist(),
            "size": draw.integers(1, 4, rows).tolist(),
        }
    )


def swapped(records: Records, seed: int, **more: float) -> tuple[Records, np.ndarray, np.ndarray, np.ndarray]:
    made = record_swap(
        records, ["county", "town"], risk=["age", "sex"], similar=["size"], k=3, generator=keyed_generator(seed), **more
    )
    return made.records, made.moved, made.at_risk, made.alone


def test_rank_swap_stays_within_its_window() -> None:
    draw = np.random.default_rng(1)
    values = [None if value < 0 else int(value) for value in draw.integers(-5, 1000, 600)]
    column = CodedColumn.of("x", values)
    made = rank_swap(column, 0.05, generator=keyed_generator(1))
    there = [value for value in values if value is not None]
    assert Counter(made.listed()) == Counter(values)
    assert made.missing.tolist() == column.missing.tolist()
    ordered = sorted(there)
    reach = max(1, int(0.05 * len(there)))
    moved = 0
    for old, new in zip(values, made.listed(), strict=True):
        if old is not None:
            spots = [abs(ordered.index(new) - ordered.index(old)) - ordered.count(old) - ordered.count(new)]
            assert min(spots) <= reach
            moved += old != new
    assert moved > 0.9 * len(there)


def test_rank_swap_reaches_farther_in_a_wider_window() -> None:
    column = CodedColumn.of("x", list(range(1000)))
    far = [
        np.abs(rank_swap(column, window, generator=keyed_generator(2)).codes - column.codes).max()
        for window in (0.01, 0.1, 0.5)
    ]
    assert far[0] <= 10 < far[1] <= 100 < far[2] <= 500


@pytest.mark.requirement("2.18")
def test_record_swap_keeps_what_it_promises() -> None:
    for seed in range(3):
        records = people(seed)
        made, moved, _, _ = swapped(records, seed, rate=0.2)
        before, after = records.as_lists(), made.as_lists()
        for name in ("age", "sex", "size"):
            assert before[name] == after[name]
        for names in (("county", "town"), ("county", "town", "size")):
            columns = [list(zip(*(lists[name] for name in names), strict=True)) for lists in (before, after)]
            assert Counter(columns[0]) == Counter(columns[1])
        changed = [old != new for old, new in zip(before["town"], after["town"], strict=True)]
        assert changed == moved.tolist()
        assert moved.mean() >= 0.19


@pytest.mark.requirement("2.18")
def test_every_record_at_risk_is_swapped() -> None:
    records = people(7)
    made, moved, at_risk, alone = swapped(records, 7)
    county = Counter(zip(records.column("county").listed(), *_watched(records), strict=True))
    town = Counter(zip(records.column("town").listed(), *_watched(records), strict=True))
    for row, key in enumerate(zip(*_watched(records), strict=True)):
        counties, towns = records.column("county").listed()[row], records.column("town").listed()[row]
        at_county, at_town = county[counties, *key] < 3, town[towns, *key] < 3
        assert at_risk[row] == (at_county or at_town)
        if moved[row] and at_county and not alone[row] and made.column("county").listed()[row] == counties:
            # Taken as a partner of a record at risk in its town alone: moved, but not out of the county.
            assert made.column("town").listed()[row] != towns
    assert (at_risk == (moved & at_risk) | alone).all()
    assert alone.mean() < 0.02


def _watched(records: Records) -> tuple[list[int], list[int]]:
    return records.column("age").listed(), records.column("sex").listed()


@pytest.mark.requirement("2.19")
def test_swapped_records_are_still_linked() -> None:
    """Who is unique by age and sex in the whole table is found as before; only the town is somebody else's."""
    records = people(9)
    made, moved, _, _ = swapped(records, 9)
    key = list(zip(*_watched(records), strict=True))
    unique = [row for row, one in enumerate(key) if Counter(key)[one] == 1]
    assert unique
    linked = [key.index(one) for one in zip(*_watched(made), strict=True) if Counter(key)[one] == 1]
    assert linked == unique
    assert moved[unique].mean() > 0.5


def test_refusals() -> None:
    records = people(1, 20)
    with pytest.raises(DiscreetError, match="a share of the ranks"):
        rank_swap(records.column("age"), 0)
    with pytest.raises(DiscreetError, match="a share of the records"):
        swapped(records, 1, rate=2)
