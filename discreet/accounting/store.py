"""Where the ledger is kept: SQLite by default, PostgreSQL as an option, through one set of statements.

Every change is one transaction that takes the whole ledger for itself: `BEGIN IMMEDIATE` on SQLite, an advisory lock on
PostgreSQL. A commit is one fsync of the write-ahead log; SQLite adds a few more each thousand pages. A process that
forks gives its connections back first: SQLite's locks do not survive being inherited.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from discreet.errors import FolderError, MissingExtraError

__all__ = ["FORM", "Store", "entries", "ledger", "metadata", "outcomes"]

metadata = sa.MetaData()

ledger = sa.Table("ledger", metadata, sa.Column("id", sa.String(32), primary_key=True))

entries = sa.Table(
    "entries",
    metadata,
    sa.Column("number", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False),
    sa.Column("at", sa.String(40), nullable=False),
    sa.Column("kind", sa.String(24), nullable=False),
    sa.Column("digest", sa.String(64), nullable=False),
    sa.Column("body", sa.Text, nullable=False),
)

# One row for each charge that is closed; plan and payer stand in it when the answer may be had again.
outcomes = sa.Table(
    "outcomes",
    metadata,
    sa.Column("charge", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True, autoincrement=False),
    sa.Column("entry", sa.BigInteger, nullable=False),
    sa.Column("plan", sa.String(64)),
    sa.Column("payer", sa.String(240)),
    sa.Index("outcomes_by_plan", "plan", "payer"),
)

_BUSY_SECONDS = 30
FORM = "0001"
_OTHERS = 0o077
_TURN_NUMBER = 4711
_SETTINGS = (
    "journal_mode=WAL",
    "synchronous=FULL",
    "fullfsync=ON",
    "checkpoint_fullfsync=ON",
    "cell_size_check=ON",
    "trusted_schema=OFF",
)


class Store:
    """One database that holds one ledger."""

    def __init__(self, url: str) -> None:
        try:
            self._url = sa.make_url(url)
        except sa.exc.ArgumentError:
            raise _refusal("no address of a database", "sqlite:///PATH or postgresql://…", "give one") from None
        if self._url.get_backend_name() not in ("sqlite", "postgresql"):
            raise _refusal(self._url.get_backend_name(), "it is kept on SQLite or PostgreSQL", "give one of these")
        if self.embedded:
            _require_own_file(self._url.database)
        self._renew()
        _STORES.add(self)
        self._migrate()

    @property
    def embedded(self) -> bool:
        """Whether it is a file of this machine."""
        return self._url.get_backend_name() == "sqlite"

    @contextlib.contextmanager
    def changing(self) -> Iterator[sa.Connection]:
        """One durable transaction that nothing else runs beside."""
        self._require_untorn()
        with self._turn, self._reading_errors(), self._engine.begin() as connection:
            if not self.embedded:
                connection.execute(_TURN)
            yield connection

    @contextlib.contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A view of one moment."""
        self._require_untorn()
        options = {"discreet_read": True} if self.embedded else {"isolation_level": "REPEATABLE READ"}
        with self._reading_errors(), self._engine.connect().execution_options(**options) as connection:
            yield connection

    def is_sound(self) -> bool:
        """Whether the database finds its own pages whole."""
        if not self.embedded:
            return True
        try:
            with self.reading() as connection:
                return bool(connection.execute(_SOUND).scalar() == "ok")
        except FolderError:
            return False

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()

    def _renew(self, *, torn: bool = False) -> None:
        self._engine = _sqlite(self._url) if self.embedded else _postgres(self._url)
        self._turn = threading.Lock()
        self._torn = torn

    def before_fork(self) -> None:
        """Close what is idle, so that a child inherits nothing; what is in use tears the child's copy."""
        pool = self._engine.pool
        self._in_use = isinstance(pool, sa.QueuePool) and pool.checkedout() > 0
        self._engine.dispose()

    def after_fork(self) -> None:
        """In the child: start anew, and leave what was inherited untouched."""
        _INHERITED.append(self._engine)
        self._renew(torn=self._torn or self._in_use)

    def _require_untorn(self) -> None:
        if self._torn:
            raise _refusal(
                "this process was forked in the middle of a change",
                "a copied transaction must not go on",
                "start the process afresh",
            )

    @contextlib.contextmanager
    def _reading_errors(self) -> Iterator[None]:
        try:
            yield
        except (sa.exc.SQLAlchemyError, UnicodeDecodeError):
            # The driver fails on its own message where SQLite quotes damaged bytes of the schema in it.
            raise _refusal(
                "its database cannot be read or written",
                "nothing is charged or answered without it",
                "look at disk space, permissions and the database server, then run again",
            ) from None

    def _migrate(self) -> None:
        """Bring the database to this version's form; a later one is refused."""
        with self.reading() as connection:
            known = sa.inspect(connection).has_table("alembic_version")
            found = connection.execute(_VERSION).scalar() if known else None
        if found == FORM:
            return
        from discreet.accounting.migrations import migrate

        with self.changing() as connection:
            migrate(connection)


_VERSION = sa.text("SELECT version_num FROM alembic_version")
_TURN = sa.text(f"SELECT pg_advisory_xact_lock({_TURN_NUMBER})")
_SOUND = sa.text("PRAGMA integrity_check(1)")
_STORES: weakref.WeakSet[Store] = weakref.WeakSet()
# What a forked child inherited is never closed by it: that would end the parent's locks or sessions.
_INHERITED: list[sa.Engine] = []


def _refusal(found: str, right: str, step: str) -> FolderError:
    return FolderError("ledger", found=found, right=right, step=step)


def _require_own_file(name: str | None) -> None:
    """Make the file for its owner alone; SQLite gives its log the same permissions."""
    if not name or name == ":memory:" or name.startswith("file:"):
        raise _refusal("no file", "what was spent must outlast the process", "name a file")
    path = Path(name)
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_CREAT, 0o600))
        mode = path.stat().st_mode
    except OSError as error:
        found = (error.strerror or "an error of the file system").lower()
        raise _refusal(found, "its file must be there to read and write", "give the file or its place back") from None
    if os.name == "posix" and mode & _OTHERS:
        raise _refusal(
            "its file is open to others", "it is its owner's only", "chmod 600, then look at who could write"
        )


def _sqlite(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(url, connect_args={"timeout": _BUSY_SECONDS}, pool_size=4, max_overflow=16)

    @sa.event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # transactions begin where `begin` below says, not where the driver thinks
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")

    @sa.event.listens_for(engine, "begin")
    def begin(connection: sa.Connection) -> None:
        reading = connection.get_execution_options().get("discreet_read", False)
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine


def _postgres(url: sa.URL) -> sa.Engine:
    try:
        import psycopg  # noqa: F401  # asked for here so that its absence has a message of its own
    except ImportError:
        raise MissingExtraError("ledger", library="psycopg", extra="postgres") from None
    # What a server or role has set otherwise must not make commits less durable, or a turn endless.
    settings = f"-c synchronous_commit=on -c lock_timeout={_BUSY_SECONDS}s"
    return sa.create_engine(
        url.set(drivername="postgresql+psycopg"),
        connect_args={"options": settings},
        isolation_level="READ COMMITTED",
        pool_size=4,
        max_overflow=16,
    )


def _before_fork() -> None:
    for one in list(_STORES):
        one.before_fork()


def _after_fork() -> None:
    for one in list(_STORES):
        one.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
