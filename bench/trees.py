"""Group `trees`: copies by trees of Adult, as a whole, and of a million rows; how close they come, in the same run.

S_pMSE is the propensity score over its expectation by chance, (k − 1)/(8N) of k parameters and N = 2n rows. A copy that
lost its columns' dependence stops the run. The million rows take minutes: with DISCREET_BENCH_LONG=1, otherwise 50,000.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import cpu_seconds, wall_seconds
from bench.record import Record
from discreet.randomness import keyed_generator
from discreet.synthesis.imputation.columns import read_columns
from discreet.synthesis.imputation.plan import Settings
from discreet.synthesis.imputation.sequential import synthesize
from discreet.utility.marginals import compare_marginals
from discreet.utility.propensity import propensity

__all__ = ["records"]

_ADULT = Path(__file__).parent.parent / "tests" / "data" / "adult.parquet"
_LONG = os.environ.get("DISCREET_BENCH_LONG") == "1"
_MANY = 1_000_000 if _LONG else 50_000


def records() -> Iterator[Record]:
    """One record after the other."""
    yield from _adult()
    yield _many()


def _adult() -> Iterator[Record]:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(_ADULT)
    dropped = [name for name in ("education", "fnlwgt_bin") if name in table.column_names]
    table = table.drop_columns(dropped)
    columns = read_columns(table)
    settings = Settings(method="cart", copies=1)
    spent = []
    for _ in range(3):
        start = cpu_seconds()
        copies = synthesize(columns, settings)
        spent.append(cpu_seconds() - start)
    (frame,) = copies.frames
    of = f"CART copy of Adult, {table.num_rows:,} × {table.num_columns}"
    yield Record(task=of, ours=min(spent), unit="CPU s", bar=4, barred="ours", noted=42.0)
    score = propensity(table, [frame])
    yield Record(task=f"{of}: S_pMSE", ours=score.ratio, unit="ratio", bar=1.1, barred="ours", noted=1.11)
    found: Any = compare_marginals(table, [frame]).as_json()["mean_two_way"]
    task = f"{of}: total variation of two-way tables"
    yield Record(task=task, ours=found["distance"], unit="share", bar=0.0090, barred="ours", noted=0.0107)
    if found["distance"] > found["independent"] / 2:
        raise SystemExit("the copy lost the dependence of its columns: the figures of this run mean nothing")


def _many() -> Record:
    generator = keyed_generator(3)
    shared = generator.standard_normal(_MANY)
    table: dict[str, list[Any]] = {}
    for at in range(15):
        own = 0.6 * shared + 0.8 * generator.standard_normal(_MANY)
        values = np.round(own, 2) if at < 5 else np.searchsorted(np.linspace(-1.5, 1.5, 2 + at % 6), own).astype(float)
        table[f"x{at}"] = values.tolist()
    columns = read_columns(table)
    start = wall_seconds()
    (frame,) = synthesize(columns, Settings(method="cart", copies=1)).frames
    spent = wall_seconds() - start
    if abs(float(np.corrcoef(frame["x0"], frame["x1"])[0, 1]) - 0.36) > 0.03:
        raise SystemExit("the copy lost the planted correlation: the figures of this run mean nothing")
    return Record(task=f"CART copy, {_MANY:,} rows × 15", ours=spent, unit="s", bar=300, barred="ours")
