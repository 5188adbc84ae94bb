"""A curator's folder with visits, generated once and kept aside: every run of a benchmark finds it with a new ledger.

The same rows are two tables: `visits`, each row a unit, and `visitors`, whose units are persons with at most 5 rows and
3 groups. A third copy of the stored file is for plain DuckDB, since one process opens a file one way.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np

from bench.tables import place
from discreet.accounting.account import AccountKey, Kind
from discreet.accounting.events import Price
from discreet.curator import Curator
from discreet.data.contract import Contract
from discreet.data.engines.duckdb import DuckDBEngine
from discreet.query.answer import Answer

__all__ = ["Office", "visits"]

_COLUMNS = {"region": 50, "sex": 2, "age": 101, "income": 200_001}
_SEED = 20_190_401
_MEMORY = "16GB"
_REGIONS = ", ".join(f"r{number:02}" for number in range(50))
_CONTRACT = f"""
table: {{table}}
population: {{table}}
unit: {{unit}}
max_rows: 100000000
budget: {{{{epsilon: 1000000}}}}
columns:
  user_id: {{{{type: integer, role: direct identifier}}}}
  region: {{{{type: category, keys: [{_REGIONS}]}}}}
  sex: {{{{type: category, keys: [f, m]}}}}
  age: {{{{type: integer, low: 0, high: 100}}}}
  income: {{{{type: integer, low: 0, high: 200000}}}}
"""
_UNITS = {"visits": "row", "visitors": "{person: user_id, rows: 5, groups: 3}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Office:
    """The curator, and plain DuckDB over the same rows; both on one thread."""

    curator: Curator
    raw: duckdb.DuckDBPyConnection
    _analysts: Iterator[str]

    @classmethod
    def opened(cls, curator: Curator, raw: duckdb.DuckDBPyConnection, askings: int) -> Office:
        """With an account for each of so many analysts: who asks the same again is given the same answer."""
        names = [f"analyst {number}" for number in range(askings)]
        for name in names:
            curator.ledger.open_account(AccountKey(Kind.ANALYST, name), "pure", Price(loss=Fraction(10)))
        return cls(curator=curator, raw=raw, _analysts=iter(names))

    def ask(self, text: str) -> Answer:
        """Asked in SQL for ε = 1 by the next analyst, charged, and answered with the error of each number."""
        answer = self.curator.sql(text, epsilon=1, analyst=next(self._analysts)).run(kind="plain")
        assert answer.columns
        return answer


@contextmanager
def visits(rows: int, *, askings: int) -> Iterator[Office]:
    """That many rows, of a tenth as many persons, to be asked so often; the k-th person has a share of k^(−.8)."""
    kept = _kept(rows)
    # On the disk that the benchmarks stand on, where a commit of the ledger is one.
    with TemporaryDirectory(dir=".") as folder:
        shutil.copytree(kept / "office", Path(folder, "office"), copy_function=_linked)
        shutil.copytree(kept / "heads", Path(folder, "heads"))
        curator = _OnOneThread(Path(folder, "office"), heads=Path(folder, "heads"), memory=_MEMORY)
        config: dict[str, Any] = {"threads": 1, "memory_limit": _MEMORY}
        with duckdb.connect(str(kept / "raw.duckdb"), read_only=True, config=config) as raw:
            yield Office.opened(curator, raw, askings)


class _OnOneThread(Curator):
    """A curator whose engine has one thread, as the raw one has; it is otherwise the analyst's own."""

    def _engine(self, *paths: Path) -> DuckDBEngine:
        (path,) = paths
        return DuckDBEngine.open(path, memory=_MEMORY, threads=1)


def _kept(rows: int) -> Path:
    """The folder that is kept aside, generated when there is none for these contracts."""
    contracts = [_CONTRACT.format(table=table, unit=unit) for table, unit in _UNITS.items()]
    named = hashlib.sha256("".join(contracts).encode()).hexdigest()[:8]
    folder = place(f"office-{rows}-{named}").with_suffix("")
    if folder.exists():
        return folder
    half = folder.with_name(f"{folder.name}.half")
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir()
    parquet = half / "rows.parquet"
    _generate(rows, parquet)
    curator = Curator(half / "office", heads=half / "heads")
    for table, contract in zip(_UNITS, contracts, strict=True):
        reason = "the same rows under another unit, to be measured beside"
        curator.add(parquet, name=table, contract=Contract.from_yaml(contract), reason=reason)
    shutil.copyfile(_stored(curator, "visits"), half / "raw.duckdb")
    parquet.unlink()
    half.replace(folder)
    return folder


def _generate(rows: int, parquet: Path) -> None:
    draw = np.random.Generator(np.random.PCG64(_SEED))
    shares = np.cumsum(np.arange(1, max(rows // 10, 1) + 1) ** -0.8)
    columns = {
        "user_id": np.searchsorted(shares, draw.random(rows) * shares[-1]),
        **{name: draw.integers(0, top, rows) for name, top in _COLUMNS.items()},
    }
    texts = "printf('r%02d', region) AS region, CASE sex WHEN 0 THEN 'f' ELSE 'm' END AS sex"
    with duckdb.connect() as connection:
        connection.register("columns", columns)
        connection.execute(f"COPY (SELECT * REPLACE ({texts}) FROM columns) TO '{parquet}'")


def _stored(curator: Curator, table: str) -> Path:
    (path,) = (curator.folder / "tables" / table).glob("*.duckdb")
    return path


def _linked(source: str, target: str) -> None:
    """Stored tables never change, so that a second name for one is enough where the disk is the same."""
    if source.endswith(".duckdb"):
        try:
            os.link(source, target)
        except OSError:
            pass
        else:
            return
    shutil.copy2(source, target)
