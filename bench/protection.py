"""Group `protection`: classical limitation, with the figures of sdcMicro and ARX from an earlier measurement.

The peers are R and Java programs that are not run again; their figures are shown, marked so, and enter no ratio. What
is measured is checked: a wrong answer stops the run.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import duckdb
import numpy as np

from bench.measure import fastest
from bench.record import Record
from discreet.anonymize.audit import audit
from discreet.anonymize.cells import suppress_cells
from discreet.anonymize.criteria import Criteria
from discreet.anonymize.crosstable import CrossTable, tabulate
from discreet.anonymize.generalize import generalize
from discreet.anonymize.hierarchy import read_hierarchies
from discreet.anonymize.records import Records
from discreet.anonymize.suppress import suppress
from discreet.risk.dominance import PPercent

__all__ = ["records"]

_DATA = Path(__file__).parent.parent / "tests" / "data"
_KEYS = "age", "workclass", "education", "marital_status", "sex"
_CPU = "CPU s"
_SEED = 20_190_401


def records() -> Iterator[Record]:
    """One record after the other."""
    yield from _suppression()
    yield from _generalization()
    yield from _cells()


def _suppression() -> Iterator[Record]:
    with duckdb.connect() as connection:
        relation = connection.sql(f"SELECT {', '.join(_KEYS)} FROM '{_DATA / 'adult.parquet'}'")
        columns = zip(*relation.fetchall(), strict=True)
        table = Records.of({name: list(values) for name, values in zip(_KEYS, columns, strict=True)})
    of = "Adult 48,842 × 5, k = 3: local suppression"
    for reading, peer in (("fits", True), ("alike", False)):
        step = partial(suppress, table, _KEYS, k=3, reading=reading)
        spent = fastest(step)
        noted, cells = (75.8, 9_567.0) if peer else (None, None)
        yield Record(task=f"{of}, {reading}", ours=spent, noted=noted, bar=2, barred="ours", unit=_CPU)
        yield Record(
            task=f"{of}, {reading}: cells emptied",
            ours=step().total,
            noted=cells,
            bar=9_567 if peer else None,
            barred="ours",
            unit="cells",
        )


def _generalization() -> Iterator[Record]:
    with gzip.open(_DATA / "adult_arx_30162.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    table = Records.of({name: [row[name] for row in rows] for name in rows[0]})
    quasi = [name for name in table.names if name != "salary-class"]
    trees = read_hierarchies(_DATA / "adult_hierarchies", quasi)
    of = "ARX's Adult 30,162 × 8, k = 5"
    optimal = partial(generalize, table, quasi, Criteria(k=5), hierarchies=trees, limit=0.05)
    local = partial(generalize, table, quasi, Criteria(k=5), hierarchies=trees, method="local")
    _require(round(optimal().loss.geometric, 3) == 0.252 and local().records.rows == 30_162)
    yield Record(
        task=f"{of}, 5 % left out: optimal levels", ours=fastest(optimal), noted=4.8, bar=5, barred="ours", unit=_CPU
    )
    yield Record(
        task=f"{of}, 5 % left out: loss, geometric",
        ours=round(optimal().loss.geometric, 4),
        noted=0.252,
        bar=0.252,
        barred="ours",
        unit="loss",
    )
    yield Record(task=f"{of}: local recoding", ours=fastest(local), noted=2.9, unit=_CPU)
    yield Record(
        task=f"{of}: loss of local recoding, 1 − granularity",
        ours=local().loss.mean,
        noted=0.186,
        bar=0.186,
        barred="ours",
        unit="loss",
    )


def _cells() -> Iterator[Record]:
    table = _firms()
    rules = [PPercent(10)]
    pattern = suppress_cells(table, rules)
    _require(audit(table, pattern.hidden, pattern.needed).safe and not pattern.unprotected.any())
    of = "20 × 20 × 25 cells and margins, p = 10 %"
    hide = fastest(partial(suppress_cells, table, rules), repeats=1)
    check = fastest(partial(audit, table, pattern.hidden, pattern.needed), repeats=1)
    yield Record(task=f"{of}: complementary suppression", ours=hide, unit=_CPU)
    yield Record(task=f"{of}: audit", ours=check, unit=_CPU)
    yield Record(task=f"{of}: suppressed and audited safe", ours=hide + check, bar=60, barred="ours", unit=_CPU)
    yield Record(task=f"{of}: cells found by the rule", ours=int(pattern.primary.sum()), unit="cells")
    yield Record(task=f"{of}: cells hidden to protect them", ours=int(pattern.complementary.sum()), unit="cells")


def _firms() -> CrossTable:
    """120,000 contributions of log-normal size, in 10,000 cells of uneven weight."""
    draw = np.random.Generator(np.random.PCG64(_SEED))
    rows = 120_000
    shares = [draw.dirichlet(np.full(size, 2.0)) for size in (20, 20, 25)]
    columns = {f"d{axis}": draw.choice(len(one), rows, p=one).tolist() for axis, one in enumerate(shares)}
    made = Records.of({**columns, "value": np.round(draw.lognormal(4, 1.2, rows)).tolist()})
    return tabulate(made, tuple(columns), value="value", rules=[PPercent(10)])


def _require(right: bool) -> None:
    if not right:
        raise SystemExit("a measured answer is wrong: the figures of this run mean nothing")
