"""Group `ledger`: spends with their answers, against bare durable commits of SQLite on the same disk in the same run.

A question is a spend and the answer written behind it: two commits. Speed over many questions and of `verify` is CPU
time, which a busy disk does not change.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from bench.measure import cpu_seconds, side_by_side, wall_seconds
from bench.record import Record
from discreet.accounting.account import AccountKey, Kind
from discreet.accounting.events import Choice, Price
from discreet.accounting.ledger import Charge, Ledger

__all__ = ["records"]

_TURNS, _MANY, _SLICE = 100, 10_000, 500
_PEOPLE, _ANALYST = AccountKey(Kind.POPULATION, "people"), AccountKey(Kind.ANALYST, "ana")


def records() -> Iterator[Record]:
    """One record after the other."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        yield from _beside_commits(Path(folder))
    with tempfile.TemporaryDirectory(dir=_memory()) as folder:
        yield from _many(Path(folder))


class Asker:
    """Asks one question after the other, each of them new."""

    def __init__(self, folder: Path) -> None:
        self.number = 0
        url = f"sqlite:///{folder / 'ledger.db'}"
        self.ledger = Ledger(url, key=bytes(32), signer=Ed25519PrivateKey.generate(), heads=folder / "heads")
        for key in (_PEOPLE, _ANALYST):
            self.ledger.open_account(key, "pure", Price(loss=Fraction(1000)))

    def spend(self, turns: int) -> None:
        """So many charges alone."""
        for _ in range(turns):
            self.ledger.spend(self._charge())

    def ask(self, turns: int) -> None:
        """So many charges with their answers."""
        for _ in range(turns):
            grant = self.ledger.spend(self._charge())
            self.ledger.settle(grant, {"rows": [[self.number, 17]] * 20})

    def _charge(self) -> Charge:
        self.number += 1
        return Charge(
            event=Choice(epsilon=Fraction(1, 1000)),
            population="people",
            analyst="ana",
            plan=self.number.to_bytes(32, "big"),
            what={"query": "SELECT region, COUNT(*) FROM visits GROUP BY region"},
        )


def _beside_commits(folder: Path) -> Iterator[Record]:
    asker, raw = Asker(folder), _bare(folder / "raw.db")
    steps = partial(asker.spend, _TURNS), partial(asker.ask, _TURNS), partial(_commit, raw, _TURNS)
    spend, ask, bare = (_TURNS / seconds for seconds in side_by_side(*steps, repeats=5, clock=wall_seconds))
    yield Record(task="spend", ours=spend, raw=bare, bar=0.2, unit="1/s")
    yield Record(task="spend and settle", ours=ask, raw=bare, bar=0.2, unit="1/s")
    costs = [1000 * seconds / _TURNS for seconds in side_by_side(*steps, repeats=5, clock=cpu_seconds)]
    yield Record(task="spend", ours=costs[0], raw=costs[2], bar=2, barred="ours", unit="CPU ms")
    yield Record(task="spend and settle", ours=costs[1], raw=costs[2], bar=2, barred="ours", unit="CPU ms")
    asker.ledger.close()
    raw.close()
    # Now and then the log is moved into the file, which a few further syncs in a thousand pages stand for.
    for verb, task, bar in (("spend", "spend", 2), ("ask", "spend and settle", None)):
        counted = _syncs(folder, verb)
        if counted is not None:
            yield Record(task=task, ours=counted, bar=bar, barred="ours", unit="fsyncs")


def _many(folder: Path) -> Iterator[Record]:
    asker = Asker(folder)
    asker.ask(_SLICE)
    times = [_cpu(partial(asker.ask, _SLICE)) for _ in range(_MANY // _SLICE)]
    task = f"{_SLICE} questions after {_MANY:,}, beside the first"
    yield Record(task=task, ours=min(times[-2:]), raw=min(times[:2]), bar=1.2, unit="CPU s")
    entries = len(asker.ledger.entries())
    yield Record(task=f"verify {entries:,} entries", ours=_cpu(partial(_require_whole, asker.ledger)), unit="CPU s")
    asker.ledger.close()


def _require_whole(ledger: Ledger) -> None:
    if ledger.verify():
        raise SystemExit("the ledger does not verify: the figures of this run mean nothing")


def _cpu(step: Callable[[], object]) -> float:
    start = cpu_seconds()
    step()
    return cpu_seconds() - start


def _bare(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    for setting in ("journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {setting}")
    connection.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, body TEXT)")
    return connection


def _commit(connection: sqlite3.Connection, turns: int) -> None:
    for _ in range(turns):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO rows (body) VALUES (?)", ("x" * 400,))
        connection.execute("COMMIT")


def _syncs(folder: Path, verb: str) -> float | None:
    """Syncs of one turn, counted by strace where it is there and may trace."""
    tracer = shutil.which("strace")
    if tracer is None:
        return None
    counts = []
    for turns in (_TURNS, 3 * _TURNS):
        seen, place = folder / f"calls-{verb}{turns}", folder / f"place-{verb}{turns}"
        place.mkdir()
        code = f"from pathlib import Path; from bench.ledger import Asker; Asker(Path({str(place)!r})).{verb}({turns})"
        command = [tracer, "-f", "-o", str(seen), "-e", "trace=fsync,fdatasync", sys.executable, "-c", code]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return None
        counts.append(seen.read_text().count("sync("))
    return (counts[1] - counts[0]) / (2 * _TURNS)


def _memory() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None
