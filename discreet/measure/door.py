"""The one door from a contract to charged noisy numbers.

1. Every part was proven and priced from plan and contract alone; the door lets each refuse what it cannot read. Of
   public tables that are joined it asks whether they keep to their fan-out.
2. One charge for all parts together is durable in the ledger before the engine reads a private row. What this payer
   paid for before is given again instead.
3. Each part reads, draws and releases; the released numbers are written behind their charge. Whatever fails after the
   charge ends in one text, and the charge stands.

Given:   parts whose events hold for the contract's unit and adjacency; a ledger; an engine over the contract's table.
Promise: what is released costs what was charged; outcome, charge and text say nothing of the data but through the
         released numbers.
Because: events add up by composition; everything but the released numbers is decided by plan, contract and ledger.
Tested:  test_charge_is_the_price, test_nothing_is_read_before_it_is_charged, test_failure_is_one_text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.accounting.events import Event, Together
from discreet.accounting.ledger import Charge, Grant, Ledger
from discreet.data.contract import Contract
from discreet.data.engines.base import Engine
from discreet.data.table import StoredTable
from discreet.errors import NoResultError
from discreet.measure.joins import JoinedContract, JoinedTable, require_fan_out
from discreet.measure.part import Part, Released
from discreet.randomness import Bits, require_fresh

__all__ = ["Measured", "event_of", "measure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What each part released, and the entry of the ledger that paid for all of it.

    `again` says that it was paid for before; `certifiable` is False for teaching output.
    """

    released: tuple[Released, ...]
    number: int
    again: bool
    certifiable: bool


def event_of(parts: Sequence[Part]) -> Event:
    """What parts are charged as together."""
    return parts[0].event if len(parts) == 1 else Together(events=tuple(part.event for part in parts))


def measure(
    engine: Engine,
    table: StoredTable,
    parts: Sequence[Part],
    contract: Contract,
    *,
    ledger: Ledger,
    bits: Bits,
    analyst: str | None = None,
    project: str | None = None,
    digest: bytes | None = None,
    teaching: bool = False,
) -> Measured:
    """Charge, read, noise, write down. `digest` names plan, budget and version for those who ask again."""
    require_fresh(bits, teaching=teaching)
    if isinstance(table, JoinedTable):
        require_fan_out(engine, table)
    for part in parts:
        part.require_readable(engine, table)
    charge = Charge(
        event=event_of(parts),
        population=contract.whose,
        also=(contract.also,) if isinstance(contract, JoinedContract) and contract.also is not None else (),
        analyst=analyst,
        project=project,
        plan=digest,
        what={
            "table": contract.table,
            "contract": contract.content_hash(),
            "parts": [part.as_json() for part in parts],
        },
    )
    grant = ledger.spend(charge)
    if grant.answer is not None:
        return _given_again(parts, grant)
    released = _released(engine, table, parts, bits, teaching)
    if released is None:
        ledger.fail(grant)
        raise NoResultError(
            f"table {contract.table!r}",
            found="there is no result",
            right="the charge stands, whatever the reason",
            step="ask for less at once, or tell the keeper",
        )
    answer = {"parts": [one.as_json() for one in released], "certifiable": bits.certifiable}
    ledger.settle(grant, answer)
    return Measured(released=released, number=grant.number, again=False, certifiable=bits.certifiable)


def _released(
    engine: Engine, table: StoredTable, parts: Sequence[Part], bits: Bits, teaching: bool
) -> tuple[Released, ...] | None:
    """What the parts release, or None, so that no exception and no traceback leaves with words of the data."""
    try:
        return tuple(part.release(engine, table, bits, teaching=teaching) for part in parts)
    except Exception:  # noqa: BLE001 - whatever it is, its words may quote data
        return None


def _given_again(parts: Sequence[Part], grant: Grant) -> Measured:
    assert grant.answer is not None
    stored = grant.answer["parts"]
    return Measured(
        released=tuple(part.restored(one) for part, one in zip(parts, stored, strict=True)),
        number=grant.number,
        again=True,
        certifiable=bool(grant.answer["certifiable"]),
    )
