"""Group `query`: questions in SQL under differential privacy, through the curator, beside plain DuckDB.

Tasks, for rows of visits (DISCREET_BENCH_ROWS of them, ten million unless said), ε = 1 each:

    a  how many rows                        d  the quartiles of age
    b  sum and mean of income               e  rows by region and age: 5,050 cells
    c  rows and mean income by region, sex  f  rows and income by region, at most 5 rows and 3 groups a person

Ours is what an analyst does: the text is parsed, designed, proven, charged in a ledger on disk, read, answered with the
error of each number, signed and settled; what it answers is checked. The raw engine clamps as we do and answers
exactly; of f it keeps 5 random rows of a person, then 3 random groups. Both read copies of one stored file, in which
columns are c0 (user_id) to c4 (income). Figures of peers are earlier ones for ten million rows: SmartNoise's (a, b, c,
e; f on SQLite) and OpenDP's (d).

`python -m bench.query memory ours|raw TASK` is what the group runs to see how far one query moves the peak of memory.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench.measure import side_by_side, wall_seconds
from bench.office import Office, visits
from bench.record import Record
from discreet.query.answer import Answer, AnswerColumn
from discreet.query.labels import Shown

__all__ = ["main", "records"]

_ROWS = int(os.environ.get("DISCREET_BENCH_ROWS", "10000000"))
_FEW = 1_000
_REPEATS, _FIXED_REPEATS = 5, 20
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A question to us, the same to the raw engine, and the CPU seconds and fixed milliseconds that a peer took."""

    name: str
    text: str
    raw: str
    bounded: bool = False
    peer: float
    peer_fixed: float


_TASKS = {
    "a": Task(
        name="a count",
        text="SELECT COUNT(*) AS n FROM visits",
        raw="SELECT COUNT(*) FROM rows",
        peer=0.032,
        peer_fixed=33,
    ),
    "b": Task(
        name="b sum and mean",
        text="SELECT SUM(income) AS total, AVG(income) AS mean FROM visits",
        raw=f"SELECT SUM({_INCOME}), AVG({_INCOME}) FROM rows",
        peer=0.161,
        peer_fixed=65,
    ),
    "c": Task(
        name="c count and mean by region, sex",
        text="SELECT region, sex, COUNT(*) AS n, AVG(income) AS mean FROM visits GROUP BY region, sex",
        raw=f"SELECT c1, c2, COUNT(*), AVG({_INCOME}) FROM rows GROUP BY c1, c2",
        peer=0.324,
        peer_fixed=134,
    ),
    "d": Task(
        name="d quartiles of age",
        text="SELECT QUANTILE_DISC(age, 0.25) AS q1, QUANTILE_DISC(age, 0.5) AS q2, QUANTILE_DISC(age, 0.75) AS q3 "
        "FROM visits",
        raw=f"SELECT quantile_disc({_AGE}, [0.25, 0.5, 0.75]) FROM rows",
        peer=1.97,
        peer_fixed=892,
    ),
    "e": Task(
        name="e counts by region, age",
        text="SELECT region, age, COUNT(*) AS n FROM visits GROUP BY region, age",
        raw=f"SELECT c1, {_AGE}, COUNT(*) FROM rows GROUP BY ALL",
        peer=1.15,
        peer_fixed=198,
    ),
    "f": Task(
        name="f bounded count and sum by region",
        text="SELECT region, COUNT(*) AS n, SUM(income) AS total FROM visitors GROUP BY region",
        raw=_BOUNDED,
        bounded=True,
        peer=11.8,
        peer_fixed=3162,
    ),
}


def records() -> Iterator[Record]:
    """One record after the other."""
    with visits(_ROWS, askings=len(_TASKS) * (_REPEATS + 2)) as office:
        yield from _times(office)
    with visits(_FEW, askings=len(_TASKS) * (_FIXED_REPEATS + 1)) as office:
        yield from _fixed(office)
    for letter, task in _TASKS.items():
        ours, raw = (_growth(side, letter) for side in ("ours", "raw"))
        bar = 1.3 * raw + 20
        yield Record(task=f"{task.name}: peak", ours=ours, raw=raw, bar=bar, barred="ours", unit="MB more")


def _times(office: Office) -> Iterator[Record]:
    """CPU time beside the raw engine's: 1.2 times and 15 ms more; a quarter of what bounding persons by rows takes."""
    for task in _TASKS.values():
        _require_right(task, office.ask(task.text), office)
        ours, exact = side_by_side(
            partial(office.ask, task.text), partial(_exact, office, task.raw), repeats=2 if task.bounded else _REPEATS
        )
        bar = 0.25 * exact if task.bounded else 1.2 * exact + 0.015
        noted = task.peer if _ROWS == _TEN_MILLION else None
        yield Record(task=task.name, ours=ours, raw=exact, bar=bar, barred="ours", noted=noted, unit="CPU s")


def _fixed(office: Office) -> Iterator[Record]:
    """What a person waits for on a small table, the charge on disk."""
    for task in _TASKS.values():
        ours, exact = side_by_side(
            partial(office.ask, task.text),
            partial(_exact, office, task.raw),
            repeats=_FIXED_REPEATS,
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


def _exact(office: Office, text: str) -> list[tuple[Any, ...]]:
    return office.raw.execute(text).fetchall()


def _require_right(task: Task, answer: Answer, office: Office) -> None:
    """Every number lies where the raw engine's does, but for its noise; of f, the rows that persons contribute in all:
    it bounds by weights, which leave out less than 2^-10 of them, and the raw text by chance."""
    keys = [column for column in answer.columns if not column.measured]
    found = [column for column in answer.columns if column.measured]
    if task.bounded:
        ((rows,),) = _exact(office, "SELECT SUM(LEAST(n, 5)) FROM (SELECT COUNT(*) AS n FROM rows GROUP BY c0)")
        spread = sum(error.deviation**2 for error in found[0].errors if error.deviation is not None) ** 0.5
        right = abs(sum(_number(one) for one in found[0].raw) - rows) <= 10 * spread + _ROWS / 1024
    elif "quantile" in task.raw:
        ((exact,),) = _exact(office, task.raw)
        right = all(abs(_number(column.raw[0]) - value) <= 2 for column, value in zip(found, exact, strict=True))
    else:
        exact_cells = {row[: len(keys)]: row[len(keys) :] for row in _exact(office, task.raw)}
        cells = zip(*(key.values for key in keys), strict=True) if keys else [()]
        right = all(
            _near(column, at, exact_cells[cell][place])
            for at, cell in enumerate(cells)
            if cell in exact_cells
            for place, column in enumerate(found)
        )
    if not right:
        raise SystemExit(f"{task.name}: a measured answer is wrong: the figures of this run mean nothing")


def _near(column: AnswerColumn, at: int, exact: float) -> bool:
    deviation = column.errors[at].deviation
    return deviation is not None and abs(_number(column.raw[at]) - float(exact)) <= 20 * deviation


def _number(value: Shown) -> float:
    assert isinstance(value, int | float)
    return float(value)


def _growth(side: str, letter: str) -> float:
    """By how many megabytes one query in a process of its own moves the peak of memory beyond what stood before."""
    command = [sys.executable, "-m", "bench.query", "memory", side, letter]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _memory(side: str, letter: str) -> float:
    task = _TASKS[letter]
    with visits(_FEW, askings=1) as few, visits(_ROWS, askings=1) as office:
        if side == "ours":
            few.ask(task.text)
        before = _kilobytes("VmRSS")
        if side == "ours":
            office.ask(task.text)
        else:
            _exact(office, task.raw)
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
