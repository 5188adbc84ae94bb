"""Receipts and keys that the tests of signing, receipts and exports share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.accounting.chain import canonical
from discreet.accounting.document import Facts
from discreet.accounting.events import Noise, Together
from discreet.accounting.keyring import Keyring
from discreet.accounting.receipt import Receipt, public_digest
from discreet.accounting.signing import SigningKey
from discreet.guarantee import Adjacency, PureDP

FIRST, SECOND, THIRD = (f"2026-0{month}-01T00:00:00Z" for month in (3, 5, 7))
APRIL, JUNE, AUGUST = (f"2026-0{month}-01T00:00:00Z" for month in (4, 6, 8))
NOISE = Noise(law="laplace", move=Fraction(1), scale=Fraction(2), scalar=True)

KEY = SigningKey.create()
RING = Keyring.start(KEY, since=FIRST)

RECEIPT = Receipt(
    release="0123456789abcdef" * 2,
    population="clinic patients",
    table="visits",
    version=3,
    version_id="fedcba9876543210" * 2,
    contract=public_digest(b"table: visits"),
    plan=Facts.of({"select": ["COUNT(*)"], "by": {"region": ["north", "south"]}, "limit": 5, "ordered": True}),
    event=Together(events=(NOISE,)),
    guarantee=PureDP.of("1/2"),
    adjacency=Adjacency.ADD_REMOVE,
    unit="person (patient_id), at most 1 row",
    sensitivity=Facts.of({"rows": 1, "weight": "1/1", "norm": None}),
    ledger="00ff" * 8,
    entry=17,
    chain="ab" * 32,
    result=public_digest(b"[12, 7]"),
    versions=Facts.of({"discreet": "0.1.0", "duckdb": "2.0.0"}),
    time=APRIL,
    drafted=("bounds of cost",),
    outside=("20 copies of visits",),
)


def changed(**fields: Any) -> Receipt:
    """The receipt with other fields."""
    return replace(RECEIPT, **fields)


def text_of(document: object) -> str:
    """A document as its file spells it."""
    return canonical(document) + "\n"


def alterations(value: Any) -> Iterator[Any]:
    """The value with one leaf, name or entry altered, each in turn."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield {other: kept for other, kept in value.items() if other != name}
            yield from ({**value, name: altered} for altered in alterations(part))
        yield {**value, "more": 1}
    elif isinstance(value, list):
        for at, part in enumerate(value):
            yield [*value[:at], *value[at + 1 :]]
            yield from ([*value[:at], altered, *value[at + 1 :]] for altered in alterations(part))
        yield [*value, "more"]
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, str(value))
    elif isinstance(value, str):
        yield from (value + "x", value[:-1], value.swapcase() if value != value.swapcase() else "y", None)
    else:
        yield from ("x", 0)
