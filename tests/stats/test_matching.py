"""Matching counts equal those of trying every pair, on every shape of data; a record's own match is by its place."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.stats.matching import Records, count_matches, own_matches, window


def by_hand(targets: Records, copy: Records, tolerances: list[float]) -> npt.NDArray[np.bool_]:
    """Every pair, record by record, in plain Python."""
    found = np.zeros((len(targets), len(copy)), dtype=bool)
    for i in range(len(targets)):
        for j in range(len(copy)):
            fits = bool(targets.codes[i] == copy.codes[j])
            for wanted, there, tolerance in zip(targets.numbers, copy.numbers, tolerances, strict=True):
                if np.isnan(wanted[i]) or np.isnan(there[j]):
                    fits &= bool(np.isnan(wanted[i]) and np.isnan(there[j]))
                else:
                    slack = 1e-9 * (abs(wanted[i]) + tolerance)
                    fits &= bool(abs(there[j] - wanted[i]) <= tolerance + slack)
            found[i, j] = fits
    return found


NUMBERS = st.one_of(
    st.integers(-6, 6).map(float),
    st.integers(-60, 60).map(lambda whole: whole / 10),
    st.just(float("nan")),
    st.floats(-1e6, 1e6, allow_nan=False, width=32),
)


@st.composite
def pairs_of_tables(draw: st.DrawFn) -> tuple[Records, Records, list[float]]:
    columns = draw(st.integers(0, 4))
    lengths = draw(st.integers(0, 14)), draw(st.integers(0, 14))
    several = draw(st.booleans())
    tables = []
    for length in lengths:
        codes = draw(st.lists(st.integers(-3, 3) if several else st.just(5), min_size=length, max_size=length))
        numbers = [draw(st.lists(NUMBERS, min_size=length, max_size=length)) for _ in range(columns)]
        tables.append(
            Records(codes=np.array(codes, dtype=np.int64), numbers=tuple(np.array(one, dtype=float) for one in numbers))
        )
    tolerances = draw(st.lists(st.sampled_from([0.0, 0.1, 1.0, 2.5, 1e5]), min_size=columns, max_size=columns))
    return tables[0], tables[1], tolerances


@settings(max_examples=400, deadline=None)
@given(pairs_of_tables())
def test_counts_equal_every_pair_tried(case: tuple[Records, Records, list[float]]) -> None:
    targets, copy, tolerances = case
    assert count_matches(targets, copy, tolerances).tolist() == by_hand(targets, copy, tolerances).sum(axis=1).tolist()


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", ["floats", "whole", "skewed", "few"])
@pytest.mark.parametrize("codes", [1, 7])
def test_counts_on_larger_tables_equal_a_vectorised_twin(columns: int, kind: str, codes: int) -> None:
    generator = np.random.default_rng(columns)
    n = 1200
    numbers = generator.normal(size=(2, columns, n)) * 10
    numbers = {
        "floats": numbers,
        "whole": np.round(numbers),
        "skewed": np.exp(numbers / 4),
        "few": np.sign(numbers),
    }[kind]
    labels = generator.integers(0, codes, size=(2, n))
    tables = [Records(codes=labels[at], numbers=tuple(numbers[at])) for at in (0, 1)]
    tolerances = [0.5, 2.0, 1.0, 3.0][:columns]
    fits = labels[0][:, None] == labels[1][None, :]
    for column, tolerance in enumerate(tolerances):
        fits &= np.abs(numbers[0, column][:, None] - numbers[1, column][None, :]) <= tolerance
    assert count_matches(tables[0], tables[1], tolerances).tolist() == fits.sum(axis=1).tolist()
    assert own_matches(tables[0], tables[1], tolerances).tolist() == np.diag(fits).tolist()


@pytest.mark.parametrize("tolerance", [(0.05, 0.05), (2.0, 1.0)], ids=["narrow", "wide"])
def test_counts_of_many_records_equal_brute_force_on_the_targets_checked(tolerance: tuple[float, float]) -> None:
    generator = np.random.default_rng(5)
    n = 100_000
    age, duration = generator.normal(50, 15, n), generator.gamma(2, 5, n)
    targets = Records(codes=np.zeros(n, dtype=np.int64), numbers=(age, duration))
    moved = (age + generator.normal(0, 1, n), duration + generator.normal(0, 1, n))
    copy = Records(codes=np.zeros(n, dtype=np.int64), numbers=moved)
    counts = count_matches(targets, copy, tolerance)
    assert counts.sum() > n / 2
    for i in generator.integers(0, n, 200):
        fits = (np.abs(moved[0] - age[i]) <= tolerance[0]) & (np.abs(moved[1] - duration[i]) <= tolerance[1])
        assert counts[i] == fits.sum()


def test_decimals_match_at_their_written_distance() -> None:
    low, high = window(np.array([0.3, 0.7, 52.1]), 0.1)
    assert ((low <= [0.2, 0.6, 52.0]) & (high >= [0.4, 0.8, 52.2])).all()
    assert ((low > [0.19, 0.59, 51.99]) & (high < [0.41, 0.81, 52.21])).all()


def test_what_cannot_be_matched_is_refused() -> None:
    one = Records(codes=np.zeros(3, dtype=np.int64), numbers=(np.zeros(3),))
    with pytest.raises(ArgumentError, match="of different shapes"):
        count_matches(one, one, [])
    with pytest.raises(ArgumentError, match="of different shapes"):
        own_matches(one, one.at(slice(0, 2)), [0.0])
    with pytest.raises(ArgumentError, match="it is 0 or more"):
        count_matches(one, one, [-1.0])
    with pytest.raises(ArgumentError, match="different lengths, or infinite"):
        Records(codes=np.zeros(3, dtype=np.int64), numbers=(np.full(3, np.inf),))
