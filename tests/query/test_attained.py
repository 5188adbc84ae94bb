"""Answers in SQL err no more than the closed form of the best way there is: sums and means, quartiles, bounded persons.

Each cell of one question holds rows of its own and gets noise of its own, so that one answer is as many runs.
"""

from __future__ import annotations

from math import hypot, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from discreet.curator import Curator
from discreet.data.contract import Contract
from discreet.measure.weights import BITS_AT_MOST, whole_weight
from discreet.randomness import SeededBits

CELLS = 1_500
MOST = 1.05


def asked(folder: Path, frame: pl.DataFrame, facts: str, text: str, **budget: Any) -> dict[str, np.ndarray]:
    """The columns of one answer."""
    held = Curator(folder / "office", heads=folder / "heads")
    held.add(frame, name="t", contract=Contract.from_yaml(f"table: t\nbudget: {{epsilon: 10}}\n{facts}"))
    try:
        answer = held.sql(text, **budget).run(kind="plain", bits=SeededBits(3), teaching=True)
    finally:
        held.ledger.close()
    return {one.name: np.array(answer.evaluation.values(one.term), dtype=float) for one in answer.question.outputs}


def test_a_sum_and_a_mean_err_as_endpoint_sums_do(tmp_path: Path) -> None:
    """Σ(x − lo) and Σ(hi − x) take one ε together: a sum errs by √2·W/ε, a mean by √2·W/(ε·n)·√(p² + (1 − p)²)."""
    width, each, epsilon = 200_000, 160, 1
    values = np.tile(np.linspace(0, 0.8 * width, each).astype(int), CELLS)
    frame = pl.DataFrame({"k": np.repeat(np.arange(CELLS), each), "x": values})
    facts = (
        f"unit: row\ncolumns:\n  k: {{type: integer, low: 0, high: {CELLS - 1}}}\n"
        f"  x: {{type: integer, low: 0, high: {width}, nulls: refuse}}\n"
    )
    found = asked(tmp_path, frame, facts, "SELECT SUM(x) AS s, AVG(x) AS m FROM t GROUP BY k", epsilon=epsilon)
    true, place = values[:each].sum(), values[:each].mean() / width
    scale = sqrt(2) * width / epsilon
    assert np.sqrt(np.mean((found["s"] - true) ** 2)) <= MOST * scale
    assert np.sqrt(np.mean((found["m"] - true / each) ** 2)) <= MOST * scale / each * hypot(place, 1 - place)


def test_quartiles_of_ages_are_exact(tmp_path: Path) -> None:
    """Where some hundred rows have each age, the quartiles are the exact ones in at least 99 of 100 runs at ε = 1."""
    runs, ages, each = 34, np.arange(17, 90), 120
    frame = pl.DataFrame(
        {"k": np.repeat(np.arange(runs), len(ages) * each), "age": np.tile(np.repeat(ages, each), runs)}
    )
    facts = (
        f"unit: row\ncolumns:\n  k: {{type: integer, low: 0, high: {runs - 1}}}\n"
        "  age: {type: integer, low: 17, high: 89}\n"
    )
    quarters = {"a": 0.25, "b": 0.5, "c": 0.75}
    columns = ", ".join(f"QUANTILE_DISC(age, {q}) AS {name}" for name, q in quarters.items())
    found = asked(tmp_path, frame, facts, f"SELECT {columns} FROM t GROUP BY k", epsilon=1)
    true = {name: np.quantile(np.repeat(ages, each), q, method="inverted_cdf") for name, q in quarters.items()}
    assert min(np.mean(found[name] == true[name]) for name in quarters) >= 0.99


def test_bounded_persons_err_as_the_noise_alone(tmp_path: Path) -> None:
    """Against the bounded truth, persons in order of their weights: a count errs by 2R/ε, a sum by √2·R·W/ε."""
    limit, width, epsilon, cells = 4, 1_000, 1, CELLS
    draw = np.random.default_rng(8)
    rows = np.repeat(np.arange(6_000), draw.integers(1, 3 * limit, 6_000))
    cell, value = draw.integers(0, cells, len(rows)), draw.integers(0, width + 1, len(rows))
    weights = np.array([whole_weight(int(m), limit, BITS_AT_MOST) for m in np.bincount(rows)])[rows] / 2**BITS_AT_MOST
    facts = (
        f"unit: {{person: p, rows: {limit}}}\nmax_rows: 1000000\ncolumns:\n"
        f"  p: {{type: text, role: direct identifier}}\n  k: {{type: integer, low: 0, high: {cells - 1}}}\n"
        f"  x: {{type: integer, low: 0, high: {width}, nulls: refuse}}\n"
    )
    frame = pl.DataFrame({"p": [f"p{row}" for row in rows], "k": cell, "x": value})
    found = asked(tmp_path, frame, facts, "SELECT COUNT(*) AS n, SUM(x) AS s FROM t GROUP BY k", epsilon=epsilon)
    for name, each, closed in (("n", weights, 2 * limit), ("s", weights * value, sqrt(2) * limit * width)):
        error = found[name] - np.bincount(cell, weights=each, minlength=cells)
        assert np.sqrt(np.mean(error**2)) <= MOST * closed / epsilon
        assert abs(error.mean()) <= 4 * closed / sqrt(cells)
    # The plain truth is another number: bounding cuts off more than noise adds.
    assert abs(np.mean(found["n"] - np.bincount(cell, minlength=cells))) > 0.5
