"""What can be measured under one charge with others: a part, and what it releases.

A part is proven and priced from plan and contract alone. Only after the charge is durable does it read and draw.
"""

from __future__ import annotations

from typing import Any, Protocol

from discreet.accounting.events import Event
from discreet.data.engines.base import Engine
from discreet.data.table import StoredTable
from discreet.randomness import Bits

__all__ = ["Part", "Released"]


class Released(Protocol):
    """What came out of one part: public from here on."""

    def as_json(self) -> dict[str, Any]:
        """The released values as plain ones, exact; `Part.restored` reads them back."""
        ...


class Part(Protocol):
    """One thing to measure."""

    @property
    def event(self) -> Event:
        """What it is charged as, to the last digit; it depends on no data."""
        ...

    def as_json(self) -> dict[str, Any]:
        """Plan, proof and event as public plain values."""
        ...

    def require_readable(self, engine: Engine, table: StoredTable) -> None:
        """Refuse whatever can be refused, without reading a row."""
        ...

    def release(self, engine: Engine, table: StoredTable, bits: Bits, *, teaching: bool = False) -> Released:
        """Read exact numbers, draw, and give away what the event was charged for. Called once, after the charge."""
        ...

    def restored(self, stored: dict[str, Any]) -> Released:
        """What `Released.as_json` wrote."""
        ...
