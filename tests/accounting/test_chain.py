"""The chain's parts: canonical text, keyed digests, and a head that moves forward through torn writes."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.chain import Entry, Head, HeadFile, canonical, digest
from discreet.errors import ArgumentError, CheckFailedError, FolderError
from tests.accounting.places import KEY, SIGNER

LEDGER = "ab" * 16
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
)
values = st.recursive(
    scalars, lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)), max_leaves=20
)


def head(number: int) -> Head:
    return Head(ledger=LEDGER, number=number, digest=f"{number:064x}")


@given(values)
def test_canonical_text_is_one_for_one_value(value: Any) -> None:
    text = canonical(value)
    assert text.isascii()
    assert json.loads(text) == value
    assert canonical(json.loads(text)) == text
    if isinstance(value, dict):
        assert canonical(dict(reversed(value.items()))) == text


deep: list[Any] = []
for _ in range(100_000):
    deep = [deep]


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), {1: 2}, {None: 1}, b"x", {1, 2}, object(), [[{"a": b"x"}]], 10**5000, deep],
    ids=range(10),
)
def test_what_json_would_bend_is_refused_without_the_value(value: object) -> None:
    with pytest.raises(ArgumentError, match="a value that JSON cannot hold"):
        canonical({"answer": value})


parts = st.fixed_dictionaries(
    {"number": st.integers(1, 99), "at": st.text(max_size=3), "kind": st.text(max_size=3), "body": st.text(max_size=3)}
)


@given(parts, parts)
def test_digest_tells_any_two_entries_apart(one: dict[str, Any], other: dict[str, Any]) -> None:
    same = digest(KEY, LEDGER, "0" * 64, **one) == digest(KEY, LEDGER, "0" * 64, **other)
    assert same == (one == other)


def test_text_cannot_move_from_one_part_to_the_next() -> None:
    one = digest(KEY, LEDGER, "0" * 64, number=1, at="a b", kind="c", body="d")
    assert one != digest(KEY, LEDGER, "0" * 64, number=1, at="a", kind="b c", body="d")


def test_digest_depends_on_key_ledger_and_the_one_before() -> None:
    rest: dict[str, Any] = {"number": 1, "at": "", "kind": "note", "body": "{}"}
    found = {
        digest(key, ledger, before, **rest)
        for key in (KEY, bytes(32))
        for ledger in (LEDGER, "00" * 16)
        for before in ("0" * 64, "1" * 64)
    }
    assert len(found) == 8


def test_a_body_that_is_no_json_is_said_in_one_line() -> None:
    for body in ("{", "[" * 100_000, ""):
        with pytest.raises(CheckFailedError, match="a body that nobody wrote"):
            _ = Entry(number=3, at="", kind="note", body=body, digest="").content


def test_head_moves_forward_only(tmp_path: Path) -> None:
    file = HeadFile(tmp_path / "heads" / "head.json", SIGNER)
    assert file.read() is None
    file.replace(head(0))
    for number in (1, 3, 2, 7, 7, 4, 9):
        file.advance(head(number))
    assert HeadFile(file.path, SIGNER).read() == head(9)
    file.replace(head(2))
    assert HeadFile(file.path, SIGNER).read() == head(2)
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("torn", range(0, 1024, 73))
def test_a_torn_write_leaves_the_head_before_or_after(tmp_path: Path, torn: int) -> None:
    """The bytes up to `torn` are those of the later write, the rest those of the earlier one."""
    file = HeadFile(tmp_path / "head.json", SIGNER)
    file.replace(head(4))
    file.advance(head(6))
    before = file.path.read_bytes()
    file.advance(head(8))
    after = file.path.read_bytes()
    file.path.write_bytes(after[:torn] + before[torn:])
    assert HeadFile(file.path, SIGNER).read() in (head(6), head(8))


def test_heads_that_were_not_signed_here_are_refused(tmp_path: Path) -> None:
    file = HeadFile(tmp_path / "head.json", SIGNER)
    HeadFile(file.path, Ed25519PrivateKey.generate()).replace(head(5))
    foreign = file.path.read_bytes()
    for stored in (foreign, b"", b"x" * 1024, b"[" * 1024, b"\xff" * 512 + foreign, b'{"number": "1"}'):
        file.path.write_bytes(stored)
        for step in (file.read, lambda: file.advance(head(9))):
            with pytest.raises(FolderError, match="did not sign"):
                step()


def test_every_changed_byte_of_a_head_is_refused_or_leaves_the_other(tmp_path: Path) -> None:
    file = HeadFile(tmp_path / "head.json", SIGNER)
    file.replace(head(1))
    file.advance(head(2))
    whole = file.path.read_bytes()
    for place in range(0, len(whole), 5):
        file.path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert HeadFile(file.path, SIGNER).read() in (head(1), head(2))


def test_a_place_for_heads_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "file" / "head.json", tmp_path / "folder"):
        with pytest.raises(FolderError):
            HeadFile(path, SIGNER).replace(head(0))
    with pytest.raises(FolderError, match="permission denied"):
        HeadFile(tmp_path / "absent.json", SIGNER).require_writable()
