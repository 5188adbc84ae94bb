"""Distance to the closest record: against every pair, at one half for strangers, and at zero for records themselves."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.randomness import keyed_generator
from discreet.risk.nearest import closest_records
from discreet.stats.means import wilson

Table = dict[str, list[object]]


def drawn(generator: np.random.Generator, n: int) -> Table:
    return {
        "x": generator.normal(size=n).tolist(),
        "y": [None if value < -1.5 else value for value in generator.normal(size=n).tolist()],
        "z": generator.choice(["a", "b", "c"], n).tolist(),
    }


def test_distances_equal_every_pair_tried() -> None:
    generator = np.random.default_rng(1)
    original, copy = drawn(generator, 40), drawn(generator, 30)
    x, y = np.array(original["x"], dtype=float), np.array(original["y"], dtype=float)
    scale = {"x": np.ptp(x), "y": np.nanmax(y) - np.nanmin(y)}

    def distance(mine: Table, i: int, j: int) -> float:
        total = float(mine["z"][i] != original["z"][j])
        for name in ("x", "y"):
            a, b = mine[name][i], original[name][j]
            if a is None or b is None:
                total += (a is None) != (b is None)
            else:
                total += min(abs(float(str(a)) - float(str(b))) / scale[name], 1)
        return total / 3

    found = closest_records(original, [copy], rows=30)
    assert found.drawn == 30
    assert found.median == pytest.approx(np.median([min(distance(copy, i, j) for j in range(40)) for i in range(30)]))
    own = [min(distance(original, i, j) for j in range(40) if j != i) for i in range(40)]
    assert closest_records(original, [copy], rows=40).baseline_median == pytest.approx(np.median(own))


def test_strangers_stand_as_near_to_a_holdout_and_records_do_not() -> None:
    generator = np.random.default_rng(2)
    original, holdout, strangers = (drawn(generator, 600) for _ in range(3))
    fair = closest_records(original, [strangers], holdout=holdout, rows=600, generator=keyed_generator(3))
    assert fair.nearer is not None
    assert abs(fair.nearer - 0.5) < 4 * 0.5 / 600**0.5
    assert fair.nearer_interval == wilson(fair.nearer * 600, 600)
    assert fair.identical == 0
    itself = closest_records(original, [original], holdout=holdout, rows=200)
    assert itself.nearer == 1.0
    assert itself.identical == 1.0
    assert itself.baseline_identical == 0.0
    assert "equal a record of the original in every column" in itself.sentence


def test_rows_of_all_copies_are_drawn_alike() -> None:
    generator = np.random.default_rng(4)
    original = drawn(generator, 200)
    found = closest_records(original, [original, drawn(generator, 200)], rows=400)
    assert found.drawn == 400
    assert found.identical == 0.5


def test_wilson_interval_is_the_published_one() -> None:
    # Newcombe 1998, Statistics in Medicine 17, table I, method 3: 81 of 263 and 0 of 20.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
