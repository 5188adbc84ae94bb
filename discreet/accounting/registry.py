"""What the ledger reads and writes of its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import sqlalchemy as sa

from discreet.accounting import store
from discreet.accounting.chain import GENESIS, Entry
from discreet.errors import FolderError

__all__ = [
    "after",
    "append",
    "checkpoint",
    "close",
    "closed",
    "digest_of",
    "history",
    "identity",
    "last",
    "outcome",
    "outcomes",
    "with_before",
]

Outcome = tuple[int, int, str | None, str | None]

# Statements are built once: building one costs more than running it.
_ENTRIES, _OUTCOMES, _LEDGER = store.entries, store.outcomes, store.ledger
_NUMBER = _ENTRIES.c.number
_OF: sa.BindParameter[int] = sa.bindparam("of_number")
_LAST = sa.select(_NUMBER, _ENTRIES.c.digest).order_by(_NUMBER.desc()).limit(1)
_DIGEST = sa.select(_ENTRIES.c.digest).where(_NUMBER == _OF)
_UP_TO = sa.select(_ENTRIES).where(_NUMBER <= _OF).order_by(_NUMBER.desc()).limit(2)
_ALL = sa.select(_ENTRIES).order_by(_NUMBER)
_AFTER = _ALL.where(_NUMBER > _OF)
_OF_KIND = _ALL.where(_ENTRIES.c.kind == sa.bindparam("of_kind"))
_CHECKPOINT = sa.select(_NUMBER).where(_ENTRIES.c.kind.in_(("standing", "gap"))).order_by(_NUMBER.desc()).limit(1)
_APPEND = sa.insert(_ENTRIES)
_CLOSE = sa.insert(_OUTCOMES)
_CLOSED = sa.select(_OUTCOMES.c.entry).where(_OUTCOMES.c.charge == _OF)
_ANSWERED = sa.select(sa.func.min(_OUTCOMES.c.entry)).where(
    _OUTCOMES.c.plan == sa.bindparam("of_plan"), _OUTCOMES.c.payer == sa.bindparam("of_payer")
)


def identity(connection: sa.Connection, draw: Callable[[], str] | None = None) -> str | None:
    """The ledger's name: 32 hexadecimal digits, drawn if it is new and `draw` is given."""
    found = [str(name) for name in connection.execute(sa.select(_LEDGER.c.id)).scalars()]
    if not found and connection.execute(_LAST).first() is None:
        if draw is None:
            return None
        found = [draw()]
        connection.execute(sa.insert(_LEDGER).values(id=found[0]))
    if len(found) != 1 or len(found[0]) != 32 or set(found[0]) - set("0123456789abcdef"):
        raise FolderError(
            "ledger",
            found="its name is not the one it was given",
            right="a name is drawn once, when a ledger is new",
            step="bring a copy of it back, then discreet ledger restore",
        )
    return found[0]


def last(connection: sa.Connection) -> tuple[int, str]:
    """The number and digest of the last entry."""
    row = connection.execute(_LAST).first()
    return (0, GENESIS) if row is None else (row[0], str(row[1]))


def digest_of(connection: sa.Connection, number: int) -> str | None:
    """The digest of one entry."""
    if number == 0:
        return GENESIS
    found = connection.execute(_DIGEST, {"of_number": number}).scalar()
    return None if found is None else str(found)


def with_before(connection: sa.Connection, number: int) -> tuple[int, str, Entry] | None:
    """The number and digest before an entry, and the entry."""
    rows = [_entry(row) for row in connection.execute(_UP_TO, {"of_number": number})]
    if not rows or rows[0].number != number:
        return None
    return (rows[1].number, rows[1].digest, rows[0]) if len(rows) > 1 else (0, GENESIS, rows[0])


def history(connection: sa.Connection, *, kind: str | None = None) -> Iterator[Entry]:
    """Entries in order, whatever their numbers; all of them or those of one kind."""
    rows = connection.execute(_ALL) if kind is None else connection.execute(_OF_KIND, {"of_kind": kind})
    yield from map(_entry, rows)


def after(connection: sa.Connection, number: int) -> Iterator[Entry]:
    """Entries behind that number, in order."""
    yield from map(_entry, connection.execute(_AFTER, {"of_number": number}))


def checkpoint(connection: sa.Connection) -> int:
    """The number of the last entry that says how all accounts stand, 0 without one."""
    return connection.execute(_CHECKPOINT).scalar() or 0


def append(connection: sa.Connection, entry: Entry) -> None:
    """A new entry behind the others."""
    parts = {"at": entry.at, "kind": entry.kind, "digest": entry.digest, "body": entry.body}
    connection.execute(_APPEND, {"number": entry.number, **parts})


def close(connection: sa.Connection, charge: int, entry: int, *, plan: str | None, payer: str | None) -> None:
    """Note which entry closed a charge; with a plan, its answer may be had again by that payer."""
    connection.execute(_CLOSE, {"charge": charge, "entry": entry, "plan": plan, "payer": payer})


def closed(connection: sa.Connection, charge: int) -> bool:
    """Whether a charge has its answer, or none for good."""
    return connection.execute(_CLOSED, {"of_number": charge}).first() is not None


def outcome(connection: sa.Connection, plan: str, payer: str) -> int | None:
    """The entry with the first answer that this payer has paid for."""
    return connection.execute(_ANSWERED, {"of_plan": plan, "of_payer": payer}).scalar()


def outcomes(connection: sa.Connection) -> set[Outcome]:
    """All that is noted of closed charges."""
    rows = connection.execute(sa.select(_OUTCOMES.c.charge, _OUTCOMES.c.entry, _OUTCOMES.c.plan, _OUTCOMES.c.payer))
    return {(row[0], row[1], row[2], row[3]) for row in rows}


def _entry(row: Any) -> Entry:
    """A row as an entry. A damaged row may hold another type: as text it then meets a digest that does not fit."""
    return Entry(number=row[0], at=str(row[1]), kind=str(row[2]), digest=str(row[3]), body=str(row[4]))
