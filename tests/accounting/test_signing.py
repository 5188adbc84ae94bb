"""Keys and keyrings: fingerprints, storage, rotation, revocation, and a ring in which nothing can be altered."""

from __future__ import annotations

import copy
import datetime
import hashlib
import itertools
import json
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from discreet.accounting.chain import canonical
from discreet.accounting.keyring import Keyring, Revocation
from discreet.accounting.keystore import KeyStore
from discreet.accounting.receipt import sign, verify
from discreet.accounting.signing import SigningKey, fingerprint, is_signed
from discreet.accounting.standalone import check_receipt
from discreet.errors import ArgumentError, CheckFailedError, FileError, FolderError, UnknownNameError
from discreet.folder import Folder
from tests.accounting.receipts import (
    APRIL,
    AUGUST,
    FIRST,
    JUNE,
    KEY,
    RING,
    SECOND,
    THIRD,
    alterations,
    changed,
    text_of,
)

NOW = datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)
LATER = datetime.datetime(2026, 5, 1, tzinfo=datetime.UTC)
LOST = Revocation(at=SECOND, reason="the disk broke", compromised=False)
STOLEN = Revocation(at=SECOND, reason="a backup was stolen", compromised=True)
NEW = SigningKey.create()
ROTATED = RING.succeeded(KEY, NEW, at=THIRD)


def counts(key: SigningKey, ring: Keyring, time: str) -> bool:
    """Whether a receipt of that key and date is good, on which both verifiers must agree."""
    text = sign(changed(time=time), key).text()
    verdict = verify(text, ring)
    code, said = check_receipt.check(text, ring.text())
    assert verdict.holds == (code == 0), (verdict.sentence, said)
    return verdict.holds


def test_fingerprints_are_short_and_tell_keys_apart() -> None:
    names = {SigningKey.create().fingerprint for _ in range(50)}
    assert len(names) == 50
    assert all(re.fullmatch(r"([A-Z2-7]{4}-){5}[A-Z2-7]{4}", name) for name in names)
    assert fingerprint(KEY.public) == KEY.fingerprint == check_receipt.name_of(KEY.public.hex())
    bits = int.from_bytes(hashlib.sha256(KEY.public).digest()[:15], "big")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    assert KEY.fingerprint.replace("-", "") == "".join(alphabet[bits >> 5 * at & 31] for at in reversed(range(24)))


def test_a_key_goes_through_its_file_and_never_prints() -> None:
    pem = KEY.pem().reveal(to="keeper")
    assert pem.startswith(b"-----BEGIN PRIVATE KEY-----")
    assert SigningKey.from_pem(pem).public == KEY.public
    assert repr(KEY) == "SigningKey(private=<confidential>)"
    with pytest.raises(TypeError):
        pickle.dumps(KEY)


def test_what_is_no_key_is_refused_without_being_quoted() -> None:
    secret = "do not print me"
    other = X25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    for content in (b"", secret.encode(), other, KEY.pem().reveal(to="keeper")[:-40]):
        with pytest.raises(FileError, match="no private key") as caught:
            SigningKey.from_pem(content)
        assert secret not in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_signature_fits_one_kind_one_content_one_spelling() -> None:
    signature = KEY.sign("receipt", {"a": 1})
    assert is_signed(KEY.public, "receipt", {"a": 1}, signature)
    order = 2**252 + 27742317777372353535851937790883648493
    raw = bytes.fromhex(signature)
    shifted = (int.from_bytes(raw[32:], "little") + order).to_bytes(32, "little")
    for public, kind, content, given in (
        (NEW.public, "receipt", {"a": 1}, signature),
        (KEY.public, "keyring", {"a": 1}, signature),
        (KEY.public, "receipt", {"a": 2}, signature),
        (KEY.public, "receipt", {"a": 1}, signature.upper()),
        (KEY.public, "receipt", {"a": 1}, signature + " "),
        (KEY.public, "receipt", {"a": 1}, (raw[:32] + shifted).hex()),
        (KEY.public, "receipt", {"a": 1}, None),
        (KEY.public[:-1], "receipt", {"a": 1}, signature),
    ):
        assert not is_signed(public, kind, content, given)


def test_keys_are_kept_for_their_owner_only(tmp_path: Path) -> None:
    store = KeyStore(Folder.create(tmp_path / "clinic"))
    ring = store.create(now=NOW)
    files = sorted((tmp_path / "clinic" / "signing").iterdir())
    assert [file.name for file in files] == [f"{ring.current.fingerprint}.pem", "keyring.json"]
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files)
    assert store.keyring() == ring
    assert store.current().public == ring.current.public
    with pytest.raises(FolderError, match="starts one only"):
        store.create(now=NOW)
    files[0].chmod(0o640)
    with pytest.raises(FolderError, match="others may read it"):
        store.current()


def test_missing_and_foreign_key_files_are_named(tmp_path: Path) -> None:
    store = KeyStore(Folder.create(tmp_path / "clinic"))
    with pytest.raises(FolderError, match="make the first key"):
        store.keyring()
    path = tmp_path / "clinic" / "signing" / f"{store.create(now=NOW).current.fingerprint}.pem"
    path.write_bytes(NEW.pem().reveal(to="keeper"))
    with pytest.raises(FileError, match="another key"):
        store.current()
    path.unlink()
    with pytest.raises(FolderError, match="restore it from a backup"):
        store.current()


def test_rotation_in_the_folder_takes_the_old_private_key_away(tmp_path: Path) -> None:
    store = KeyStore(Folder.create(tmp_path / "clinic"))
    first = store.create(now=NOW).current.fingerprint
    old = store.current()
    ring = store.rotate(now=LATER, until=LATER + datetime.timedelta(days=365))
    assert ring.keys[0].fingerprint == first
    assert sorted(file.suffix for file in (tmp_path / "clinic" / "signing").iterdir()) == [".json", ".pem"]
    assert store.current().public == ring.current.public != old.public
    revoked = store.revoke(first, LOST, now=LATER)
    assert store.keyring() == revoked
    assert revoked.states()[0] == (first, f"replaced on {SECOND}, revoked on {SECOND}: the disk broke")
    assert revoked.states()[1][1] == f"in use since {SECOND}, may sign until 2027-05-01T00:00:00Z"


def test_a_rotation_that_breaks_off_leaves_the_old_key_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = KeyStore(Folder.create(tmp_path / "clinic"))
    before = store.create(now=NOW)
    write = Folder.write

    def failing(self: Folder, relative: Path, content: bytes) -> None:
        if relative.name == "keyring.json":
            raise OSError("disk full")
        write(self, relative, content)

    monkeypatch.setattr(Folder, "write", failing)
    with pytest.raises(OSError, match="disk full"):
        store.rotate(now=LATER)
    assert store.keyring() == before
    assert store.current().public == before.current.public


def test_rotation_keeps_old_receipts_and_stops_the_old_key() -> None:
    assert counts(KEY, RING, FIRST)
    assert counts(KEY, RING, JUNE)
    assert not counts(KEY, RING, "2026-02-28T23:59:59Z")
    assert counts(KEY, ROTATED, JUNE)
    assert counts(KEY, ROTATED, THIRD)
    assert not counts(KEY, ROTATED, AUGUST)
    assert counts(NEW, ROTATED, AUGUST)
    assert not counts(NEW, ROTATED, JUNE)
    assert not counts(NEW, RING, AUGUST), "the ring before the rotation does not know the new key"
    assert ROTATED.keys[0] == RING.keys[0]


def test_an_expired_key_signs_nothing_but_its_successor() -> None:
    ring = Keyring.start(KEY, since=FIRST, until=SECOND)
    assert counts(KEY, ring, APRIL)
    assert not counts(KEY, ring, SECOND)
    assert counts(NEW, ring.succeeded(KEY, NEW, at=THIRD), AUGUST)
    with pytest.raises(ArgumentError, match="ends after it starts"):
        Keyring.start(KEY, since=SECOND, until=SECOND)


@pytest.mark.parametrize(
    ("revocation", "before", "after"), [(LOST, True, False), (STOLEN, False, False)], ids=["lost", "stolen"]
)
def test_revocation_policy_on_dates(revocation: Revocation, before: bool, after: bool) -> None:
    """Dated before the revocation: counts unless the key was compromised. Dated on or after it: never."""
    ring = ROTATED.revoking(KEY.fingerprint, revocation, key=NEW, at=AUGUST)
    assert counts(KEY, ring, APRIL) is before
    assert counts(KEY, ring, SECOND) is after
    assert counts(KEY, ring, JUNE) is after
    assert counts(NEW, ring, AUGUST)


def test_the_key_in_use_is_replaced_before_it_is_revoked() -> None:
    with pytest.raises(ArgumentError, match="introduce a new key"):
        RING.revoking(KEY.fingerprint, LOST, key=KEY, at=JUNE)
    with pytest.raises(UnknownNameError):
        RING.revoking(NEW.fingerprint, LOST, key=KEY, at=JUNE)
    with pytest.raises(ArgumentError, match="says why"):
        Revocation(at=SECOND, reason=" ", compromised=True)


def test_only_the_key_in_use_speaks_for_the_ring() -> None:
    stranger = SigningKey.create()
    attempts: tuple[Callable[[], Keyring], ...] = (
        lambda: RING.succeeded(stranger, NEW, at=THIRD),
        lambda: ROTATED.succeeded(KEY, stranger, at=AUGUST),
        lambda: ROTATED.revoking(KEY.fingerprint, STOLEN, key=KEY, at=AUGUST),
        lambda: RING.succeeded(KEY, NEW, at="2026-01-01T00:00:00Z"),
        lambda: RING.succeeded(KEY, KEY, at=THIRD),
        lambda: ROTATED.revoking(KEY.fingerprint, STOLEN, key=NEW, at=APRIL),
        lambda: replace(ROTATED, keys=ROTATED.keys[:1]),
        lambda: replace(ROTATED, keys=ROTATED.keys[::-1]),
        lambda: replace(ROTATED, keys=ROTATED.keys[1:]),
        lambda: replace(ROTATED, keys=()),
    )
    for attempt in attempts:
        with pytest.raises(CheckFailedError):
            attempt()


def test_no_leaf_of_a_ring_can_be_altered() -> None:
    ring = ROTATED.revoking(KEY.fingerprint, STOLEN, key=NEW, at=AUGUST)
    receipt = sign(changed(time=AUGUST), NEW).text()
    assert check_receipt.check(receipt, ring.text())[0] == 0
    assert Keyring.parse(ring.text()) == ring
    tried = 0
    for altered in alterations(ring.as_json()):
        with pytest.raises(CheckFailedError):
            Keyring.parse(text_of(altered))
        assert check_receipt.check(receipt, text_of(altered))[0] == 1, altered
        tried += 1
    assert tried > 60


def test_a_revocation_cannot_be_taken_out_of_a_ring() -> None:
    ring = ROTATED.revoking(KEY.fingerprint, STOLEN, key=NEW, at=AUGUST)
    stored: dict[str, Any] = copy.deepcopy(json.loads(ring.text()))
    stored["keys"][0]["revoked"] = None
    with pytest.raises(CheckFailedError, match="no signature of its key in use"):
        Keyring.parse(text_of(stored))


def test_a_ring_that_a_stranger_signs_is_refused_by_both() -> None:
    """Whole rings under good signatures of the stranger's own key, each with one lie."""
    stranger = SigningKey.create()
    signed = sign(changed(time=AUGUST), stranger)
    receipts = signed.text(), replace(signed, key=KEY.fingerprint).text()
    keeper, own = RING.as_json(), Keyring.start(stranger, since=THIRD).as_json()
    (first,), (last,) = [json.loads(canonical(ring))["keys"] for ring in (keeper, own)]
    introduced = {**last, "introduction": stranger.sign("successor", {})}
    posing = {**last, "fingerprint": KEY.fingerprint}
    for keys in ([first, last], [first, introduced], [posing], [{**last, "since": ""}], [{**last, "until": "9"}]):
        content = {"format": 1, "issued": AUGUST, "keys": keys, "what": own["what"]}
        text = text_of({**content, "signature": stranger.sign("keyring", content)})
        with pytest.raises(CheckFailedError):
            Keyring.parse(text, known_as=KEY.fingerprint)
        for receipt, known_as in itertools.product(receipts, (KEY.fingerprint, None)):
            assert check_receipt.check(receipt, text, known_as)[0] == 1, keys


def test_a_first_key_is_introduced_by_nobody() -> None:
    content = {**ROTATED.as_json(), "keys": [key.as_json() for key in ROTATED.keys[1:]]}
    del content["signature"]
    with pytest.raises(CheckFailedError, match="another one introduced"):
        Keyring.parse(text_of({**content, "signature": NEW.sign("keyring", content)}))


def test_a_ring_is_known_by_a_key_that_was_not_compromised() -> None:
    for name in (KEY.fingerprint, NEW.fingerprint):
        assert Keyring.parse(ROTATED.text(), known_as=name) == ROTATED
    stolen = ROTATED.revoking(KEY.fingerprint, STOLEN, key=NEW, at=AUGUST).text()
    receipt = sign(changed(time=AUGUST), NEW).text()
    for name in (KEY.fingerprint, SigningKey.create().fingerprint):
        with pytest.raises(CheckFailedError, match="fingerprint"):
            Keyring.parse(stolen, known_as=name)
        assert check_receipt.check(receipt, stolen, name)[0] == 1
    assert check_receipt.check(receipt, stolen, NEW.fingerprint)[0] == 0
