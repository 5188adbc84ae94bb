"""Group `query`: questions under differential privacy, their charge committed, beside the same SQL in plain DuckDB.

Tasks, for rows of visits (DISCREET_BENCH_ROWS of them, ten million unless said), ε = 1 each:

    a  how many rows                        d  the quartiles of age
    b  sum and mean of income               e  rows by region and age: 5,050 cells
    c  rows and mean income by region, sex  f  rows and income by region, at most 5 rows and 3 groups a person

The raw engine clamps as we do and answers exactly; of f it keeps 5 random rows of a person, then 3 random groups. Ours
goes through the door: proof, charge in a ledger on disk, sums, noise, settlement; what it answers is checked. Figures
of peers are earlier ones for ten million rows: SmartNoise's (a, b, c, e; f on SQLite) and OpenDP's (d).

`python -m bench.query memory ours|raw TASK` is what the group runs to see how far one query moves the peak of memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

import duckdb
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from bench.measure import side_by_side, wall_seconds
from bench.record import Record
from bench.tables import Source, visits
from discreet.accounting.account import AccountKey, Kind
from discreet.accounting.events import Price
from discreet.accounting.ledger import Ledger
from discreet.data.contract import Contract
from discreet.data.engines.duckdb import DuckDBEngine
from discreet.measure.door import measure
from discreet.measure.expression import Column, Text
from discreet.measure.groups import Categories, Each
from discreet.measure.noisy import NoisyVector, prepare
from discreet.measure.plan import Count, Plan, endpoints
from discreet.randomness import system_bits

__all__ = ["main", "records"]

_ROWS = int(os.environ.get("DISCREET_BENCH_ROWS", "10000000"))
_FEW = 1_000
_TEN_MILLION = 10_000_000
_AGE = "CASE WHEN c3 < 0 THEN 0 WHEN c3 > 100 THEN 100 ELSE c3 END"
_INCOME = "CASE WHEN c4 < 0 THEN 0 WHEN c4 > 200000 THEN 200000 ELSE c4 END"
_BOUNDED = f"""
WITH drawn AS (SELECT c0 AS person, c1 AS region, {_INCOME} AS income, random() AS place FROM rows),
ranked AS (SELECT *, row_number() OVER (PARTITION BY person ORDER BY place) AS rank FROM drawn),
five AS (SELECT person, region, income FROM ranked WHERE rank <= 5),
pairs AS (SELECT person, region, random() AS place FROM (SELECT DISTINCT person, region FROM five)),
ordered AS (SELECT *, row_number() OVER (PARTITION BY person ORDER BY place) AS rank FROM pairs),
three AS (SELECT person, region FROM ordered WHERE rank <= 3)
SELECT region, COUNT(*), SUM(income) FROM five JOIN three USING (person, region) GROUP BY region
"""
_CONTRACT = """
table: visits
unit: {unit}
max_rows: 100000000
columns:
  user_id: {{type: integer, role: direct identifier}}
  region: {{type: category, keys: [{regions}]}}
  sex: {{type: category, keys: [f, m]}}
  age: {{type: integer, low: 0, high: 100}}
  income: {{type: integer, low: 0, high: 200000}}
"""
_REGIONS = ", ".join(f"r{number:02}" for number in range(50))
_UNIT = {"row": "row", "person": "{person: user_id, rows: 5, groups: 3}"}
_REGION, _SEX, _AGES, _INCOMES = Categories(Text("region")), Categories(Text("sex")), Column("age"), Column("income")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A question to us, the same in SQL, and the CPU seconds and fixed milliseconds that a peer took earlier."""

    name: str
    plan: Plan
    sql: str
    unit: str = "row"
    peer: float
    peer_fixed: float


_TASKS = {
    "a": Task(
        name="a count",
        plan=Plan(aggregates=(Count(),)),
        sql="SELECT COUNT(*) FROM rows",
        peer=0.032,
        peer_fixed=33,
    ),
    "b": Task(
        name="b sum and mean",
        plan=Plan(aggregates=(endpoints(_INCOMES),)),
        sql=f"SELECT SUM({_INCOME}), AVG({_INCOME}) FROM rows",
        peer=0.161,
        peer_fixed=65,
    ),
    "c": Task(
        name="c count and mean by region, sex",
        plan=Plan(aggregates=(endpoints(_INCOMES),), by=(_REGION, _SEX)),
        sql=f"SELECT c1, c2, COUNT(*), AVG({_INCOME}) FROM rows GROUP BY c1, c2",
        peer=0.324,
        peer_fixed=134,
    ),
    "d": Task(
        name="d quartiles of age",
        plan=Plan(aggregates=(Count(),), by=(Each(_AGES),)),
        sql=f"SELECT quantile_disc({_AGE}, [0.25, 0.5, 0.75]) FROM rows",
        peer=1.97,
        peer_fixed=892,
    ),
    "e": Task(
        name="e counts by region, age",
        plan=Plan(aggregates=(Count(),), by=(_REGION, Each(_AGES))),
        sql=f"SELECT c1, {_AGE}, COUNT(*) FROM rows GROUP BY ALL",
        peer=1.15,
        peer_fixed=198,
    ),
    "f": Task(
        name="f bounded count and sum by region",
        plan=Plan(aggregates=(endpoints(_INCOMES),), by=(_REGION,)),
        sql=_BOUNDED,
        unit="person",
        peer=11.8,
        peer_fixed=3162,
    ),
}


def records() -> Iterator[Record]:
    """One record after the other."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        yield from _times(visits(_ROWS), _ledger(Path(folder)))
        yield from _fixed(visits(_FEW), _ledger(Path(folder, "few")))
    for letter, task in _TASKS.items():
        ours, raw = (_growth(side, letter) for side in ("ours", "raw"))
        bar = 1.3 * raw + 20
        yield Record(task=f"{task.name}: peak", ours=ours, raw=raw, bar=bar, barred="ours", unit="MB more")


def _times(source: Source, ledger: Ledger) -> Iterator[Record]:
    """CPU time beside the raw engine's: 1.2 times and 15 ms more; a quarter of what bounding persons by rows takes."""
    engine, raw = source.ours(), source.raw()
    for task in _TASKS.values():
        contract = _contract(task)
        _require_right(task, _ask(engine, source, contract, task, ledger), raw)
        ours, exact = side_by_side(
            partial(_ask, engine, source, contract, task, ledger),
            lambda text=task.sql: raw.execute(text).fetchall(),  # type: ignore[misc]  # bound now
            repeats=2 if task.unit == "person" else 5,
        )
        bar = 0.25 * exact if task.unit == "person" else 1.2 * exact + 0.015
        noted = task.peer if _ROWS == _TEN_MILLION else None
        yield Record(task=task.name, ours=ours, raw=exact, bar=bar, barred="ours", noted=noted, unit="CPU s")
    engine.close()
    raw.close()


def _fixed(source: Source, ledger: Ledger) -> Iterator[Record]:
    """What a person waits for on a small table, the charge on disk."""
    engine, raw = source.ours(), source.raw()
    for task in _TASKS.values():
        ours, exact = side_by_side(
            partial(_ask, engine, source, _contract(task), task, ledger),
            lambda text=task.sql: raw.execute(text).fetchall(),  # type: ignore[misc]  # bound now
            repeats=20,
            clock=wall_seconds,
        )
        yield Record(
            task=f"{task.name}: fixed cost on {_FEW:,} rows",
            ours=1000 * ours,
            raw=1000 * exact,
            noted=task.peer_fixed,
            bar=15,
            barred="ours",
            unit="ms",
        )
    engine.close()
    raw.close()


def _contract(task: Task) -> Contract:
    return Contract.from_yaml(_CONTRACT.format(unit=_UNIT[task.unit], regions=_REGIONS))


def _ask(engine: DuckDBEngine, source: Source, contract: Contract, task: Task, ledger: Ledger) -> NoisyVector:
    part = prepare(task.plan, contract, epsilon=1)
    (released,) = measure(engine, source.table, [part], contract, ledger=ledger, bits=system_bits()).released
    assert isinstance(released, NoisyVector)
    return released


def _ledger(folder: Path) -> Ledger:
    folder.mkdir(exist_ok=True)
    url = f"sqlite:///{folder / 'ledger.db'}"
    ledger = Ledger(url, key=bytes(32), signer=Ed25519PrivateKey.generate(), heads=folder / "heads")
    ledger.open_account(AccountKey(Kind.POPULATION, "visits"), "pure", Price(loss=Fraction(10_000)))
    return ledger


def _require_right(task: Task, answer: NoisyVector, raw: duckdb.DuckDBPyConnection) -> None:
    """Counts lie where the raw engine's do, but for the noise; of f, the rows that a person may contribute in all."""
    text = "SELECT COUNT(*) FROM rows"
    if task.unit == "person":
        text = "SELECT SUM(LEAST(n, 5)) FROM (SELECT COUNT(*) AS n FROM rows GROUP BY c0)"
    ((rows,),) = raw.execute(text).fetchall()
    found, deviation = sum(answer.values("count")), answer.measurement.standard_deviation("count")
    # Whole division leaves out less than 2^(-s) of a row for each row.
    cut = _ROWS >> answer.measurement.proof.bits if task.unit == "person" else 0
    if abs(float(found - rows)) > 10 * deviation * answer.measurement.proof.cells**0.5 + cut:
        raise SystemExit(f"{task.name}: a measured answer is wrong: the figures of this run mean nothing")


def _growth(side: str, letter: str) -> float:
    """By how many megabytes one query in a process of its own moves the peak of memory beyond what stood before."""
    command = [sys.executable, "-m", "bench.query", "memory", side, letter]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _memory(side: str, letter: str) -> float:
    source, task = visits(_ROWS), _TASKS[letter]
    step: Callable[[], object]
    with tempfile.TemporaryDirectory(dir=".") as folder:
        if side == "ours":
            ledger, few = _ledger(Path(folder)), visits(_FEW)
            with few.ours() as engine:
                _ask(engine, few, _contract(task), task, ledger)
            step = partial(_ask, source.ours(), source, _contract(task), task, ledger)
        else:
            raw = source.raw()
            step = partial(raw.execute, task.sql)
        before = _kilobytes("VmRSS")
        step()
        return (_kilobytes("VmHWM") - before) / 1024


def _kilobytes(entry: str) -> int:
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(entry)]
    return int(line.split()[1])


def main(arguments: list[str]) -> int:
    """Print by how much the peak of memory grows: memory ours|raw TASK."""
    _, side, letter = arguments
    print(_memory(side, letter))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
