"""A seal notices every change of a byte, and only with the key."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from discreet.data.load import load
from discreet.data.seal import Seal, seal, verify
from discreet.errors import ArgumentError, FileError

KEY = bytes(range(32))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    source, into = tmp_path / "people.csv", tmp_path / "people.duckdb"
    source.write_text("age,town\n" + "".join(f"{n % 90},t{n % 7}\n" for n in range(5000)))
    load(source, into)
    return into


def test_every_flipped_byte_is_noticed(store: Path) -> None:
    sealed, data, draw = seal(store, KEY), bytearray(store.read_bytes()), random.Random(7)
    for _ in range(300):
        at, bit = draw.randrange(len(data)), 1 << draw.randrange(8)
        data[at] ^= bit
        store.write_bytes(data)
        with pytest.raises(FileError, match="changed after it was sealed"):
            verify(store, sealed, KEY)
        data[at] ^= bit
    store.write_bytes(data)
    verify(store, sealed, KEY)


def test_the_cheap_check_sees_time_and_size_and_the_full_check_content_alone(store: Path) -> None:
    sealed = seal(store, KEY)
    assert sealed.looks_unchanged(store)
    os.utime(store, ns=(1, 1))
    assert not sealed.looks_unchanged(store)
    verify(store, sealed, KEY)
    store.write_bytes(store.read_bytes() + b"\0")
    os.utime(store, ns=(sealed.mtime_ns, sealed.mtime_ns))
    assert not sealed.looks_unchanged(store)
    store.unlink()
    assert not sealed.looks_unchanged(store)
    with pytest.raises(FileError, match="cannot be read"):
        verify(store, sealed, KEY)


def test_the_digest_depends_on_the_key(store: Path) -> None:
    assert seal(store, KEY).digest != seal(store, KEY[::-1]).digest
    with pytest.raises(ArgumentError, match="16 to 64 bytes"):
        seal(store, b"short")


def test_a_seal_goes_through_a_record_and_cannot_exist_wrong(store: Path) -> None:
    sealed = seal(store, KEY)
    assert Seal.from_json(sealed.as_json()) == sealed
    for broken in ({"digest": "ab"}, {"digest": "no hex"}, {"size": -1}):
        with pytest.raises(ValueError):
            Seal.from_json({**sealed.as_json(), **broken})
