"""Grouping sets that add up: the fit is that of plain least squares, and its spread that of as many draws."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
import pytest

from discreet.curator import Curator
from discreet.query.consistent import Keys, fitted, spread_after
from discreet.query.term import Numbers
from discreet.randomness import keyed_generator
from tests.query.offices import contract, office

SIZES = {0: 2, 1: 3, 2: 2}
CASES: dict[str, dict[Keys, float]] = {
    "rollup": {(0, 1): 4.0, (0,): 1.0, (): 9.0},
    "cube": {(0, 1): 1.0, (0,): 2.0, (1,): 3.0, (): 4.0},
    "sets": {(0, 1): 2.0, (1, 2): 5.0, (0, 2): 1.0},
    "one": {(0, 1, 2): 1.0},
    "exact total": {(0, 1): 2.0, (0,): 3.0, (): 0.0},
}


def shape(keys: Keys) -> tuple[int, ...]:
    return tuple(SIZES[key] for key in keys)


def sums_of(keys: Keys) -> Numbers:
    """Which of all 12 cells each cell of a table adds up."""
    rows = []
    for cell in product(*map(range, shape(keys))):
        chosen = dict(zip(keys, cell, strict=True))
        rows.append([all(full[k] == v for k, v in chosen.items()) for full in product(*map(range, SIZES.values()))])
    return np.array(rows, dtype=float)


def least_squares(tables: dict[Keys, Numbers], variances: dict[Keys, float]) -> dict[Keys, Numbers]:
    """The same fit by brute force: all cells as unknowns; what is exact weighs a million times more."""
    weights = {keys: 1 / max(variance, 1e-9) ** 0.5 for keys, variance in variances.items()}
    stacked = np.vstack([sums_of(keys) * weights[keys] for keys in tables])
    aims = np.concatenate([tables[keys].reshape(-1) * weights[keys] for keys in tables])
    cells = np.linalg.lstsq(stacked, aims, rcond=None)[0]
    return {keys: (sums_of(keys) @ cells).reshape(shape(keys)) for keys in tables}


def noisy(case: dict[Keys, float], seed: int) -> dict[Keys, Numbers]:
    draw = keyed_generator(seed)
    truth = draw.integers(0, 100, size=prod(SIZES.values()))
    return {
        keys: (sums_of(keys) @ truth).reshape(shape(keys)) + draw.normal(0, variance**0.5, shape(keys))
        for keys, variance in case.items()
    }


@pytest.mark.parametrize("case", CASES)
def test_consistent_tables_are_the_least_squares_fit(case: str) -> None:
    for seed in range(5):
        tables = noisy(CASES[case], seed)
        expected = least_squares(tables, CASES[case])
        for keys, found in fitted(tables, CASES[case]).items():
            assert found == pytest.approx(expected[keys], abs=1e-3), keys


@pytest.mark.parametrize("case", CASES)
def test_spread_after_the_fit_is_that_of_draws(case: str) -> None:
    """And never more than before it."""
    sizes, variances = {keys: shape(keys) for keys in CASES[case]}, CASES[case]
    draw = keyed_generator(9)
    errors: dict[Keys, list[Numbers]] = {keys: [] for keys in variances}
    for _ in range(400):
        noise = {keys: draw.normal(0, variance**0.5, sizes[keys]) for keys, variance in variances.items()}
        for keys, left in fitted(noise, variances).items():
            errors[keys].append(left)
    for keys, drawn in errors.items():
        said = spread_after(sizes, variances, keys)
        assert said == pytest.approx(float(np.std(np.array(drawn))), rel=0.15, abs=1e-9)
        assert said <= variances[keys] ** 0.5 + 1e-9


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Curator]:
    folder: Path = tmp_path_factory.mktemp("consistent")
    text = contract().to_yaml().replace("keys: [east, north, south]", "keys: [east, north, south], nulls: refuse")
    made = office(folder, under=type(contract()).from_yaml(text))
    yield made
    made.ledger.close()


def test_consistent_answers_add_up(held: Curator) -> None:
    sql = "SELECT region, sex, COUNT(*) AS n, SUM(age) AS s, AVG(age) AS m FROM people GROUP BY CUBE (region, sex)"
    answer = held.sql(sql, epsilon="0.5").run()
    frame = answer.consistent
    assert frame is not None
    cells = list(zip(frame["region"], frame["sex"], frame["n"], frame["s"], frame["m"], strict=True))
    sets = answer.evaluation.rows
    total = next(
        row for row, (table, _) in zip(cells, sets, strict=True) if answer.evaluation.tables[table].grouped == ()
    )
    for name, at in (("n", 2), ("s", 3)):
        for keys in ((0,), (1,), (0, 1)):
            some = [
                row[at]
                for row, (table, _) in zip(cells, sets, strict=True)
                if answer.evaluation.tables[table].grouped == keys
            ]
            assert sum(some) == pytest.approx(total[at]), (name, keys)
    assert frame["m"] != answer.raw["m"], "means follow from the fitted sums"
    raw = answer.raw
    assert raw["n"] != frame["n"], "the released numbers are kept beside"
    assert all(
        after <= before + 1e-9
        for after, before in zip(answer.consistent_error["n"], answer.error["n"], strict=True)
        if before is not None
    )


def test_what_need_not_add_up_is_left_alone(held: Curator) -> None:
    """Rows of no town that is missing are in the total and in no cell; one table has nothing to agree with."""
    assert held.sql("SELECT region, COUNT(*) AS n FROM people GROUP BY region", epsilon=1).run().consistent is None
    years = "SELECT date_trunc('year', born) AS y, COUNT(*) AS n FROM people GROUP BY ROLLUP (date_trunc('year', born))"
    assert held.sql(years, epsilon=1).run().consistent is None
