"""Group `uniqueness`: assessing how exposed a table is, against the same grouping written by hand in DuckDB.

Adult is also measured against pycanon, when that has its environment. What is measured is checked: a wrong answer stops
the run.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import duckdb

from bench.measure import fastest, side_by_side, wall_seconds
from bench.peers import PEERS
from bench.record import Record
from bench.tables import acs, adult, ten_million
from discreet.risk.classes import count_classes
from discreet.risk.diversity import measure_diversity
from discreet.risk.growth import count_growth
from discreet.risk.uniqueness import assess

__all__ = ["records"]

CPU = "CPU s"
_PYCANON = {"k": 0.28, "l": 1.66, "t": 7.2}
_SYNTHETIC = "region", "sex", "age"


def records() -> Iterator[Record]:
    """One record after the other."""
    yield from _adult()
    yield from _acs()
    yield from _ten_million()
    yield from _starting()


def _adult() -> Iterator[Record]:
    source = adult()
    known, income = source.table.names[:8], "income"
    engine, raw = source.ours(), source.raw()
    classes = partial(count_classes, engine, source.table, known)
    diversity = partial(measure_diversity, engine, source.table, known, income)
    found, t = classes(), diversity().t_equal or 0.0
    _require(found.unique == 20_593 and found.count == 27_118 and found.below(5) == 33_015)
    _require(round(t, 4) == 0.7607)
    grouped, celled = partial(_fetch, raw, _group_by(8)), partial(_fetch, raw, _group_by(9))
    k, lt, raw_k, raw_lt = side_by_side(classes, diversity, grouped, celled, repeats=7)
    peer = _pycanon(raw, known, income)
    of = "Adult 48,842 × 8"
    yield Record(task=f"{of}: uniqueness, k", ours=k, raw=raw_k, peer=peer.get("k"), noted=_PYCANON["k"], unit=CPU)
    yield Record(
        task=f"{of}: l, t of income",
        ours=lt,
        raw=raw_lt,
        peer=peer["l"] + peer["t"] if peer else None,
        noted=_PYCANON["l"] + _PYCANON["t"],
        unit=CPU,
    )
    yield Record(
        task=f"{of}: k, l, t together",
        ours=k + lt,
        raw=raw_k + raw_lt,
        peer=peer["k"] + peer["l"] + peer["t"] if peer else None,
        noted=sum(_PYCANON.values()),
        bar=0.1,
        barred="ours",
        unit=CPU,
    )
    for what, count in (("classes", found.count), ("unique", found.unique), ("in classes under 5", found.below(5))):
        yield Record(task=f"{of}: {what}", ours=count, unit="classes" if what == "classes" else "records")
    yield Record(task=f"{of}: t of income, equal distance", ours=t, peer=peer.get("found_t"), noted=0.7607, unit="t")
    whole = partial(assess, engine, source.table, known, sensitive=[income])
    yield Record(task=f"{of}: whole assessment, sets of up to 3 columns", ours=fastest(whole), unit=CPU)
    engine.close()
    raw.close()


def _acs() -> Iterator[Record]:
    source = acs()
    engine, raw = source.ours(), source.raw()
    names = source.table.names
    growth = partial(count_growth, engine, source.table, names)
    shares = [round(step.unique_share, 4) for step in growth()]
    _require(shares == [0.0, 0.0010, 0.0068, 0.1051, 0.1563, 0.2972, 0.5526, 0.7189, 0.7669, 0.8806])
    yield Record(task="ACS 27,253 × 10: unique records", ours=shares[-1], unit="share")
    texts = [_group_by(columns) for columns in range(1, len(names) + 1)]
    ours, by_hand = side_by_side(growth, lambda: [_fetch(raw, text) for text in texts])
    yield Record(task="ACS 27,253 × 10: growth of uniqueness", ours=ours, raw=by_hand, unit=CPU)
    engine.close()
    raw.close()


def _ten_million() -> Iterator[Record]:
    source = ten_million()
    engine, raw = source.ours(), source.raw()
    of = "10 M × 3"
    classes = partial(count_classes, engine, source.table, _SYNTHETIC)
    ours, by_hand = side_by_side(classes, partial(_fetch, raw, _group_by(3)))
    yield Record(task=f"{of}: uniqueness, k", ours=ours, raw=by_hand, bar=1.2, unit=CPU)
    for name, physical, what in (("band", "c4", "21 bands of income"), ("income", "c3", "200,001 incomes")):
        measured = partial(measure_diversity, engine, source.table, _SYNTHETIC, name)
        _require(measured(entropy=False, order=False).records == 10_000_000)
        by_hand, plain, entropy = side_by_side(
            partial(_fetch, raw, _group_by(3, physical)),
            partial(measured, entropy=False, order=False),
            partial(measured, order=False),
            repeats=3,
        )
        bar = 1.3 if name == "band" else None
        yield Record(task=f"{of}: distinct l, t of {what}", ours=plain, raw=by_hand, bar=bar, unit=CPU)
        yield Record(task=f"{of}: distinct and entropy l, t of {what}", ours=entropy, raw=by_hand, unit=CPU)
    engine.close()
    raw.close()


def _starting() -> Iterator[Record]:
    """What a person waits for before anything happens; the raw figure is the bare interpreter."""
    bare = partial(_run, sys.executable, "-c", "pass")
    imported = partial(_run, sys.executable, "-c", "import discreet")
    version = partial(_run, sys.executable, "-m", "discreet", "--version")
    first, second, raw = side_by_side(imported, version, bare, repeats=7, clock=wall_seconds)
    unit = "wall s"
    yield Record(task="import discreet", ours=first, raw=raw, bar=0.3, barred="ours", unit=unit)
    yield Record(task="discreet --version", ours=second, raw=raw, bar=0.4, barred="ours", unit=unit)


def _group_by(columns: int, further: str = "") -> str:
    """k and the unique records by hand, over the first columns and perhaps a further one."""
    names = ", ".join([f"c{place}" for place in range(columns)] + [further] * bool(further))
    return f"SELECT COUNT(*), MIN(n), COUNT(*) FILTER (n = 1) FROM (SELECT COUNT(*) n FROM rows GROUP BY {names})"


def _fetch(raw: duckdb.DuckDBPyConnection, text: str) -> object:
    return raw.execute(text).fetchall()


def _pycanon(raw: duckdb.DuckDBPyConnection, known: tuple[str, ...], sensitive: str) -> dict[str, float]:
    """pycanon's CPU seconds on the same table, if it is there; it must find what we find."""
    peer = PEERS["pycanon"]
    if not peer.ready:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "adult.csv"
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*known, sensitive])
            writer.writerows(raw.execute("SELECT * FROM rows").fetchall())
        figures = peer.figures(str(path), sensitive)
    _require(figures["found_k"] == 1 and round(figures["found_t"], 4) == 0.7607)
    return figures


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)


def _require(right: bool) -> None:
    if not right:
        raise SystemExit("a measured answer is wrong: the figures of this run mean nothing")
