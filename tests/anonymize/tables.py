"""Tables for the tests of this folder."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet

from discreet.anonymize.hierarchy import Hierarchy, read_hierarchies
from discreet.anonymize.records import Records

DATA = Path(__file__).parent.parent / "data"
EXAMPLES = Path(__file__).parents[2] / "discreet" / "examples"
ARX_SENSITIVE = "salary-class"


@cache
def arx_adult() -> tuple[Records, Mapping[str, Hierarchy], tuple[str, ...]]:
    """ARX's Adult, its hierarchies and its eight quasi-identifiers."""
    with gzip.open(DATA / "adult_arx_30162.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    records = Records.of({name: [row[name] for row in rows] for name in rows[0]})
    quasi = tuple(name for name in records.names if name != ARX_SENSITIVE)
    return records, read_hierarchies(DATA / "adult_hierarchies", quasi), quasi


@cache
def adult(*names: str) -> Records:
    """Columns of Adult, 48,842 records."""
    return Records.of(pyarrow.parquet.read_table(DATA / "adult.parquet", columns=list(names)))


def example(name: str) -> Records:
    """One of the sources' small tables."""
    with (EXAMPLES / name).open() as file:
        rows = list(csv.DictReader(file))
    return Records.of({column: [row[column] for row in rows] for column in rows[0]})


def invented(seed: int, rows: int, sizes: Mapping[str, int], *, missing: float = 0.0) -> Records:
    """Records of small integers, skewed, some of them missing."""
    draw = np.random.default_rng(seed)
    columns = {}
    for name, size in sizes.items():
        values = np.minimum(draw.geometric(0.4, rows) - 1, size - 1).tolist()
        gone = draw.random(rows) < missing
        columns[name] = [None if out else value for value, out in zip(values, gone, strict=True)]
    return Records.of(columns)
