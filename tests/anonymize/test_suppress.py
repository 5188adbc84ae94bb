"""Local suppression against brute force, Adult's figures, and the attack that tells both readings apart."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

from discreet.anonymize.records import Records
from discreet.anonymize.suppress import READINGS, found_by_elimination, suppress
from discreet.errors import DiscreetError
from tests.anonymize.tables import adult, invented

SIZES = {"a": 5, "b": 3, "c": 2}
WEIGHTS = {"a": 1.0, "b": 1.5, "c": 2.2}
KEYS = ("age", "workclass", "education", "marital_status", "sex")
Row = tuple[Any, ...]


def rows_of(records: Records) -> list[Row]:
    return list(zip(*records.as_lists().values(), strict=True))


def agrees(person: Row, shown: Row) -> bool:
    return all(visible is None or visible == value for value, visible in zip(person, shown, strict=True))


def cheapest(rows: list[Row], weights: dict[str, float], k: int) -> float:
    """The least weight of cells, each record on its own, over all sets of columns."""
    total = 0.0
    for row in rows:
        prices = []
        for chosen in itertools.product([False, True], repeat=len(row)):
            shown = tuple(None if hide else value for hide, value in zip(chosen, row, strict=True))
            if sum(agrees(one, shown) for one in rows) >= k:
                gone = [hide and value is not None for hide, value in zip(chosen, row, strict=True)]
                prices.append(sum(weight for weight, out in zip(weights.values(), gone, strict=True) if out))
        total += min(prices)
    return total


@pytest.mark.parametrize("weights", [dict.fromkeys(SIZES, 1.0), WEIGHTS], ids=["equal", "unequal"])
@pytest.mark.parametrize("k", [2, 4])
def test_fits_is_the_least_that_brute_force_finds(weights: dict[str, float], k: int) -> None:
    for seed in range(4):
        records = invented(seed, 40, SIZES, missing=0.1)
        made = suppress(records, list(SIZES), k=k, weights=weights, reading="fits")
        rows = rows_of(records)
        assert all(sum(agrees(one, shown) for one in rows) >= k for shown in rows_of(made.records))
        assert sum(weights[name] * cells for name, cells in made.cells.items()) == pytest.approx(
            cheapest(rows, weights, k)
        )


@pytest.mark.parametrize("k", [2, 3, 7])
def test_alike_publishes_classes_of_k(k: int) -> None:
    for seed in range(12):
        records = invented(seed, 30, SIZES, missing=0.1)
        made = suppress(records, list(SIZES), k=k)
        assert min(Counter(rows_of(made.records)).values()) >= k
        assert not found_by_elimination(records, made.records, list(SIZES)).any()


@pytest.mark.parametrize("reading", READINGS)
def test_only_cells_are_emptied_and_counted(reading: str) -> None:
    records = invented(3, 60, {**SIZES, "other": 9}, missing=0.1)
    made = suppress(records, list(SIZES), k=3, reading=reading)
    before, after = records.as_lists(), made.records.as_lists()
    assert before["other"] == after["other"]
    for name in SIZES:
        changes = [(old, new) for old, new in zip(before[name], after[name], strict=True) if old != new]
        assert len(changes) == made.cells[name]
        assert all(new is None for _, new in changes)
    assert made.total == sum(made.cells.values()) > 0


def test_weights_decide_which_column_goes() -> None:
    records = Records.of({"a": [1, 1, 2, 2, 3, 3], "b": [1, 2, 1, 2, 1, 2]})
    assert suppress(records, ["a", "b"], k=2, weights={"b": 3}, reading="fits").cells == {"a": 6, "b": 0}
    assert suppress(records, ["a", "b"], k=2, weights={"a": 3}, reading="fits").cells == {"a": 0, "b": 6}


def test_adult_needs_fewer_cells() -> None:
    """sdcMicro 5.8.1 empties 9,567 cells for k = 3 on these five keys, by the reading that is `fits` here."""
    records = adult(*KEYS)
    made = suppress(records, KEYS, k=3, reading="fits")
    assert made.total <= 9_567
    assert made.total == 8_674
    strict = suppress(records, KEYS, k=3)
    assert strict.total == 9_721
    shown = rows_of(strict.records)
    assert min(Counter(shown).values()) >= 3


def test_elimination_breaks_fits_and_not_alike() -> None:
    """One old woman among young ones: her age is emptied, and still only she fits the record without one."""
    records = Records.of({"age": [30, 30, 30, 30, 90], "sex": ["f"] * 5, "illness": ["none"] * 4 + ["cancer"]})
    fits = suppress(records, ["age", "sex"], k=3, reading="fits")
    assert fits.records.column("age").listed() == [30, 30, 30, 30, None]
    assert found_by_elimination(records, fits.records, ["age", "sex"]).tolist() == [False] * 4 + [True]
    alike = suppress(records, ["age", "sex"], k=2)
    assert not found_by_elimination(records, alike.records, ["age", "sex"]).any()
    original = adult(*KEYS)
    found = [
        found_by_elimination(original, suppress(original, KEYS, k=3, reading=one).records, KEYS) for one in READINGS
    ]
    assert [int(one.sum()) for one in found] == [126, 0]


def test_elimination_counts_as_a_loop_does() -> None:
    records = invented(5, 40, SIZES, missing=0.1)
    published = suppress(records, list(SIZES), k=2, reading="fits").records
    people, shown = rows_of(records), rows_of(published)
    expected = [sum(agrees(person, one) for one in shown) == 1 for person in people]
    assert found_by_elimination(records, published, list(SIZES)).tolist() == expected


def test_refusals() -> None:
    records = Records.of({f"c{at}": [1, 2, 3] for at in range(13)})
    with pytest.raises(DiscreetError, match="and fewer records"):
        suppress(records, ["c0"], k=4)
    with pytest.raises(DiscreetError, match="sets of at most 12"):
        suppress(records, records.names, k=2)
    with pytest.raises(DiscreetError, match="weight of column"):
        suppress(records, ["c0"], k=2, weights={"c1": 2})
    with pytest.raises(DiscreetError, match="must be one of"):
        suppress(records, ["c0"], k=2, reading="somehow")
    assert np.array_equal(suppress(records, ["c0"], k=3).records.column("c0").missing, [True] * 3)
