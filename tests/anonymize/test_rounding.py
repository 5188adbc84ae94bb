"""Rounding and cell keys: what they keep, and what takes them apart."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from discreet.anonymize.cellkey import Chances, named_keys, perturb_counts, record_keys
from discreet.anonymize.records import CodedColumn, Records
from discreet.anonymize.rounding import round_table
from discreet.errors import DiscreetError
from tests.anonymize.test_cells import counts, table_of


@pytest.mark.parametrize(("shape", "rows", "tree"), [((4, 5), 90, True), ((4, 3, 3), 150, True)])
def test_rounded_tables_add_up(shape: tuple[int, ...], rows: int, tree: bool) -> None:
    table = table_of(1, shape, rows, tree=tree)
    for base in (3, 10):
        made = round_table(table, base)
        assert np.allclose(made.values % base, 0)
        assert np.allclose(table.summed(made.values[np.ix_(*(one.leaves for one in table.dimensions))]), made.values)
        assert (np.abs(made.values - table.values) < base * (1 + made.farther)).all()
        assert made.distance == pytest.approx(np.abs(made.values - table.values).sum())


@pytest.mark.parametrize("shape", [(2, 3), (3, 3), (2, 2, 2)])
def test_rounding_is_the_best_of_all_choices(shape: tuple[int, ...]) -> None:
    for seed in range(4):
        table = counts(np.random.default_rng(seed).integers(1, 9, shape))
        base = 3
        floor = np.floor(table.leaf_values() / base)
        best = np.inf
        for ups in itertools.product([0, 1], repeat=floor.size):
            up = np.array(ups).reshape(shape)
            if ((table.leaf_values() % base == 0) & (up == 1)).any():
                continue
            made = table.summed((floor + up) * base)
            if (np.abs(made - table.values) < base).all():
                best = min(best, np.abs(made - table.values).sum())
        found = round_table(table, base)
        if np.isinf(best):
            assert found.farther > 0
        else:
            assert found.farther == 0
            assert found.distance == pytest.approx(best)


@pytest.mark.requirement("2.19")
def test_two_roundings_leave_one_number() -> None:
    """Rounded to 5 a count of 7 may be 1 … 9 or 6 … 14; rounded to 3 as well, the intervals meet in fewer numbers."""
    table = counts(np.array([[7, 4], [11, 13]]))
    left = set(range(30))
    for base in (5, 3, 2):
        shown = round_table(table, base).values[1, 1]
        left &= {number for number in range(30) if abs(number - shown) < base}
    assert 7 in left
    assert len(left) <= 3


@pytest.mark.parametrize("chances", [Chances(), Chances(most=5, variance=3.0, small=2), Chances(most=3, variance=1.0)])
def test_chances_have_their_mean_and_variance(chances: Chances) -> None:
    for count in range(12):
        changes, odds = chances.of(count)
        assert odds.sum() == pytest.approx(1)
        assert odds @ changes == pytest.approx(0, abs=1e-9)
        assert (count + changes >= 0).all()
        assert not np.isin(count + changes, np.arange(1, chances.small + 1)).any()
        if count >= chances.most + chances.small:
            assert odds @ changes**2 == pytest.approx(chances.variance, rel=1e-6)


def test_chances_are_the_most_even_there_are() -> None:
    """No small shift along directions that keep mean and variance raises the entropy."""
    changes, odds = Chances(most=4, variance=2.0).of(9)
    draw = np.random.default_rng(1)
    kept = np.stack([np.ones(len(changes)), changes, changes**2]).astype(float)
    for _ in range(20):
        way = draw.normal(size=len(changes))
        way -= kept.T @ np.linalg.lstsq(kept.T, way, rcond=None)[0]
        for step in (1e-4, -1e-4):
            moved = odds + step * way
            assert -(moved * np.log(moved)).sum() <= -(odds * np.log(odds)).sum() + 1e-12


def people(seed: int, rows: int) -> Records:
    draw = np.random.default_rng(seed)
    return Records.of({name: draw.integers(0, 4, rows).tolist() for name in ("town", "job", "age")})


def test_the_same_records_come_out_the_same() -> None:
    records = people(1, 300)
    keys = record_keys(300)
    table, published = perturb_counts(records, ["town", "job"], keys)
    _, again = perturb_counts(records, ["town", "job"], keys)
    _, other = perturb_counts(records, ["job", "age", "town"], keys)
    assert np.array_equal(published, again)
    assert np.array_equal(other[:, 0, :].T, published)
    changes = (published - table.values).ravel()
    assert np.abs(changes).max() <= 5
    assert len(set(changes.tolist())) > 3
    assert not np.array_equal(perturb_counts(records, ["town", "job"], record_keys(300))[1], published)
    with pytest.raises(DiscreetError, match="one for each record"):
        perturb_counts(records, ["town"], keys[:-1])


def test_named_records_keep_their_keys_from_file_to_file() -> None:
    """In another order, beside other records, read as other types: the same key. Another secret, another key."""
    first = named_keys(CodedColumn.of("id", [4, 7, 9]), b"s")
    assert named_keys(CodedColumn.of("id", ["9", "x", "4", "7"]), b"s")[[2, 3, 0]].tolist() == first.tolist()
    assert named_keys(CodedColumn.of("id", [9.0, 4.0]), b"s").tolist() == first[[2, 0]].tolist()
    assert not set(named_keys(CodedColumn.of("id", [4, 7, 9]), b"t").tolist()) & set(first.tolist())
    with pytest.raises(DiscreetError, match="records without a name"):
        named_keys(CodedColumn.of("id", [1, None]), b"s")


@pytest.mark.slow
def test_named_keys_are_even() -> None:
    """Kolmogorov's distance of 200,000 keys from the uniform law, beyond which chance goes once in 10^7."""
    keys = np.sort(named_keys(CodedColumn.of("id", list(range(200_000))), b"s")) / 2**32
    places = np.arange(200_001) / 200_000
    assert max((places[1:] - keys).max(), (keys - places[:-1]).max()) < np.sqrt(np.log(2e7) / 400_000)


def test_sums_of_keys_are_exact_however_many() -> None:
    """Three million records of the largest key: as floats their sum would be rounded, and the order would tell."""
    size = 3_000_000
    records = Records(columns=(CodedColumn(name="x", values=("a", "b"), codes=np.arange(size) % 2),))
    keys = np.full(size, (1 << 32) - 1)
    changes, odds = Chances().of(size)
    expected = changes[np.searchsorted(np.cumsum(odds)[:-1], (-size) % 2**32 / 2**32, "right")]
    table, published = perturb_counts(records, ["x"], keys)
    assert published[0] - table.values[0] == expected


def test_noise_has_the_variance_it_states() -> None:
    records = Records.of({"x": [value for value in range(1500) for _ in range(10)]})
    table, published = perturb_counts(records, ["x"], record_keys(15_000), chances=Chances(most=5, variance=2.0))
    changes = (published - table.values)[1:]
    assert abs(changes.mean()) < 5 * np.sqrt(2 / 1500)
    assert changes.var() == pytest.approx(2.0, rel=0.2)


@pytest.mark.requirement("2.19")
def test_splits_average_cell_keys_out() -> None:
    """One town, split by sixty other columns: each split adds up to the town's count, with noise of its own."""
    draw = np.random.default_rng(2)
    rows = 400
    splits = {f"s{at}": draw.integers(0, 3, rows).tolist() for at in range(60)}
    records = Records.of({"town": draw.integers(0, 9, rows).tolist(), **splits})
    keys = draw.integers(0, 1 << 32, rows)
    table, published = perturb_counts(records, ["town"], keys)
    sums = np.array([perturb_counts(records, ["town", name], keys)[1][1:, 1:].sum(axis=1) for name in splits])
    true = table.values[1:]
    assert np.abs(np.mean(sums, axis=0) - true).mean() < 0.5 * np.abs(published[1:] - true).mean() + 0.2
    assert (np.round(sums.mean(axis=0)) == true).mean() > 0.7
