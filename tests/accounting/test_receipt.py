"""Receipts: one spelling, one signature over every field, nothing of the data, and two verifiers that agree."""

from __future__ import annotations

import datetime
import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.account import AccountKey, Kind
from discreet.accounting.chain import canonical
from discreet.accounting.document import SIZE_AT_MOST, Facts, time_text
from discreet.accounting.events import Approximate, Event, Noise, Price, Repeated, Together, price
from discreet.accounting.ledger import Charge, Ledger
from discreet.accounting.outside import OUTSIDE, outside_note
from discreet.accounting.receipt import (
    Expected,
    Receipt,
    SignedReceipt,
    public_digest,
    random_id,
    sign,
    verify,
    verify_receipt,
)
from discreet.accounting.signing import SigningKey
from discreet.accounting.standalone import check_receipt
from discreet.errors import ArgumentError, CheckFailedError, FileError
from discreet.guarantee import ZCDP, Adjacency, ApproxDP, Guarantee, PureDP
from discreet.mechanisms.samplers import DiscreteLaplace, draw_many
from discreet.randomness import SeededBits, system_bits
from tests.accounting.receipts import APRIL, KEY, NOISE, RECEIPT, RING, alterations, changed, text_of

SIGNED = sign(RECEIPT, KEY)
SCRIPT = Path(check_receipt.__file__)


def outcome(text: str) -> str:
    """What became of a text, on which both verifiers must agree."""
    verdict = verify(text, RING)
    code, said = check_receipt.check(text, RING.text())
    word = said.split(":", maxsplit=1)[0]
    assert {"good": "Good", "teaching": "Teaching only", "rejected": "Rejected"}[verdict.outcome] == word, said
    assert code == (not verdict.holds)
    assert verdict.sentence.count(".") - verdict.sentence.count("0.") == 1, "one plain sentence"
    return verdict.outcome


def test_what_was_signed_is_good_and_comes_back() -> None:
    verdict = verify(SIGNED.text(), RING)
    assert outcome(SIGNED.text()) == outcome(SIGNED.text().removesuffix("\n")) == "good"
    assert verdict.receipt == RECEIPT
    assert KEY.fingerprint in verdict.sentence
    assert "ε = 0.5" in verdict.sentence
    assert Receipt.from_json(json.loads(SIGNED.text())["receipt"]) == RECEIPT


def test_no_leaf_can_be_altered() -> None:
    stored = json.loads(SIGNED.text())
    rejected = 0
    for altered in alterations(stored):
        assert outcome(text_of(altered)) == "rejected", altered
        rejected += 1
    leaves = {field.name for field in fields(Receipt)} | {"format", "key", "signature"}
    assert leaves <= set(stored["receipt"]) | set(stored)
    assert rejected > 120


def test_no_byte_can_be_altered() -> None:
    text = SIGNED.text()
    for at in range(len(text) - 1):
        altered = text[:at] + chr(ord(text[at]) ^ 1) + text[at + 1 :]
        assert not verify(altered, RING).holds, at


@pytest.mark.parametrize("name", [field.name for field in fields(Receipt)])
def test_every_field_is_covered_by_the_signature(name: str) -> None:
    """A whole receipt that differs in one field, under the signature of the first, is rejected."""
    others: dict[str, Any] = {
        "plan": Facts.of({}),
        "sensitivity": Facts.of({"rows": 2}),
        "versions": Facts.of({}),
        "event": Together(),
        "guarantee": PureDP.of(1),
        "adjacency": Adjacency.REPLACE_ONE,
        "version": 4,
        "entry": 18,
        "teaching": True,
        "drafted": (),
        "outside": (),
        "time": "2026-04-01T00:00:01Z",
        "unit": "row",
        "population": "staff",
        "table": "stays",
    }
    other = changed(**{name: others.get(name, "1" * len(str(getattr(RECEIPT, name))))})
    assert other != RECEIPT
    assert outcome(SignedReceipt(receipt=other, key=KEY.fingerprint, signature=SIGNED.signature).text()) == "rejected"
    assert outcome(sign(other, KEY).text()) == ("teaching" if name == "teaching" else "good")


def test_other_spellings_are_rejected() -> None:
    text, stored = SIGNED.text().strip(), json.loads(SIGNED.text())
    spellings = [
        json.dumps(stored),
        json.dumps(stored, indent=1),
        text.replace('"entry":17', '"entry":17.0'),
        text.replace('"entry":17', '"entry":1.7e1'),
        text.replace('"entry":17', '"entry":017'),
        text.replace('"entry":17', '"entry":NaN'),
        text.replace('"entry":17', '"entry":-Infinity'),
        text.replace('"entry":17', '"entry":16,"entry":17'),
        text.replace('"entry":17', '"entry":17,"entry":17'),
        text.replace('"teaching":false', '"teaching":true,"teaching":false'),
        text.replace("visits", "\\u0076isits"),
        text.replace('"format":1', '"format":true'),
        text + "\n\n",
        text + "\r\n",
        " " + text,
        "\ufeff" + text,
        text + text,
        text[:-1],
        text + "\x00",
    ]
    for spelling in spellings:
        assert spelling != text
        assert outcome(spelling) == "rejected", spelling[-80:]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "null",
        "[]",
        "{}",
        '"text"',
        "1",
        "NaN",
        "[" * 100_000,
        '{"a":' * 50_000,
        "9" * 5_000,
        "\ud800",
        "{\x00}",
    ],
    ids=repr,
)
def test_what_is_no_receipt_is_rejected(text: str) -> None:
    assert outcome(text) == "rejected"


def test_a_huge_text_is_rejected_unread() -> None:
    padded = text_of({"key": "x" * SIZE_AT_MOST, "receipt": {}, "signature": ""})
    assert outcome(padded) == "rejected"
    assert "signs" in verify(padded, RING).sentence


@given(
    st.text(max_size=200) | st.recursive(st.none() | st.integers() | st.floats() | st.text(), st.lists).map(json.dumps)
)
def test_any_text_gets_a_verdict(text: str) -> None:
    assert outcome(text) == "rejected"


def test_a_foreign_key_is_rejected() -> None:
    stranger = SigningKey.create()
    assert outcome(sign(RECEIPT, stranger).text()) == "rejected"
    forged = SignedReceipt(receipt=RECEIPT, key=KEY.fingerprint, signature=stranger.sign("receipt", RECEIPT.as_json()))
    assert outcome(forged.text()) == "rejected"
    other_kind = replace(forged, signature=KEY.sign("keyring", RECEIPT.as_json()))
    assert outcome(other_kind.text()) == "rejected"


def test_nothing_is_shown_before_the_signature_held() -> None:
    stored = json.loads(SIGNED.text())
    stored["receipt"]["table"] = stored["key"] = "canary\u001b[31m"
    verdict = verify(text_of(stored), RING)
    assert verdict.receipt is None
    assert "canary" not in verdict.sentence + check_receipt.check(text_of(stored), RING.text())[1]


def test_a_replay_for_something_else_is_rejected() -> None:
    known = {field.name: getattr(RECEIPT, field.name) for field in fields(Expected)}
    assert verify(SIGNED.text(), RING, Expected(**known)).holds
    for name, value in known.items():
        verdict = verify(SIGNED.text(), RING, Expected(**{name: value[:-1] + "x"}))
        assert verdict.outcome == "rejected"
        assert name.replace("_", " ") in verdict.sentence
    assert not verify(SIGNED.text(), RING, Expected(result=public_digest(b"[12, 8]"))).holds


def test_teaching_output_never_verifies_as_public() -> None:
    receipt = changed(teaching=True)
    verdict = verify(sign(receipt, KEY).text(), RING)
    assert verdict.outcome == "teaching"
    assert not verdict.holds
    assert receipt.first_line().startswith("Teaching only")
    hidden = SignedReceipt(receipt=RECEIPT, key=KEY.fingerprint, signature=sign(receipt, KEY).signature)
    assert outcome(hidden.text()) == "rejected"


def test_the_first_line_names_what_is_outside() -> None:
    assert RECEIPT.sentences()[0] == RECEIPT.first_line()
    assert "outside the guarantee: 20 copies of visits" in RECEIPT.first_line()
    assert "drafted from the data: bounds of cost" in RECEIPT.first_line()
    assert changed(outside=(), drafted=()).first_line().startswith("No publication outside the guarantee")
    said = check_receipt.check(SIGNED.text(), RING.text())[1].splitlines()
    assert said[1:] == ["Outside the guarantee: 20 copies of visits", "Drafted: bounds of cost"]


def test_a_guarantee_covers_its_events() -> None:
    gaussian = Noise(law="gaussian", move=Fraction(1), scale=Fraction(2))
    rare = Approximate(epsilon=Fraction(1, 4), delta=Fraction(1, 10**6))
    broken: tuple[tuple[Guarantee, Event], ...] = (
        (PureDP.of("0.499999999"), NOISE),
        (PureDP.of(5), gaussian),
        (PureDP.of(5), rare),
        (ZCDP.of("0.2499999"), gaussian),
        (ZCDP.of(5), rare),
    )
    for guarantee, event in broken:
        with pytest.raises(ArgumentError):
            changed(guarantee=guarantee, event=event)
    kept: tuple[tuple[Guarantee, Event], ...] = (
        (PureDP.of("1/2"), NOISE),
        (ZCDP.of("1/4"), gaussian),
        (ApproxDP.of(1, "1e-6"), rare),
    )
    for guarantee, event in kept:
        assert outcome(sign(changed(guarantee=guarantee, event=event), KEY).text()) == "good"


@pytest.mark.parametrize(
    "wrong",
    [
        {"release": "0123"},
        {"release": "0123456789ABCDEF" * 2},
        {"contract": "x" * 64},
        {"population": ""},
        {"table": "a\nb"},
        {"unit": "x" * 601},
        {"drafted": ("",)},
        {"outside": ("\x1b[31m",)},
        {"version": -1},
        {"version": True},
        {"entry": 0},
        {"teaching": 1},
        {"adjacency": "bounded"},
        {"time": "2026-04-01 00:00:00"},
        {"time": "2026-4-1T00:00:00Z"},
    ],
    ids=str,
)
def test_receipts_cannot_exist_wrong(wrong: Mapping[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        changed(**wrong)
    stored = {**RECEIPT.as_json(), **{name: list(v) if isinstance(v, tuple) else v for name, v in wrong.items()}}
    signed = text_of({"key": KEY.fingerprint, "receipt": stored, "signature": KEY.sign("receipt", stored)})
    assert verify(signed, RING).outcome == "rejected", "nor does the keeper's signature make it one"


def test_a_signed_document_of_another_shape_is_rejected_by_both() -> None:
    whole = RECEIPT.as_json()
    shapes: list[Any] = [{}, [], None, {**whole, "format": 2}, {**whole, "more": 1}, {**whole, "plan": []}]
    shapes += [{name: part for name, part in whole.items() if name != left_out} for left_out in whole]
    shapes += [{**whole, name: None} for name in whole]
    shapes += [{**whole, "time": "2026-04-01 00:00:00"}, {**whole, "plan": {"rate": 0.5}}]
    shapes.append({**whole, "plan": {"long": "x" * SIZE_AT_MOST}})
    for stored in shapes:
        signed = text_of({"key": KEY.fingerprint, "receipt": stored, "signature": KEY.sign("receipt", stored)})
        assert outcome(signed) == "rejected", stored


def test_facts_have_one_spelling_and_do_not_change() -> None:
    facts = Facts.of({"b": [1, ("x",)], "a": {"z": None, "y": True}})
    assert facts.text == '{"a":{"y":true,"z":null},"b":[1,["x"]]}'
    facts.values()["a"]["z"] = 5
    assert facts.values()["a"]["z"] is None
    with pytest.raises(FrozenInstanceError):
        facts.text = "{}"  # type: ignore[misc]  # that it is frozen is what is tested
    for wrong in ({"a": 0.5}, {"a": float("nan")}, {"a": Fraction(1, 2)}, {"a": {1, 2}}, {1: "a", "1": "b"}):
        with pytest.raises(ArgumentError, match="single spelling"):
            Facts.of(wrong)  # type: ignore[arg-type]  # wrong values are what is tested
    with pytest.raises(CheckFailedError):
        Facts('{"b":1,"a":2}')


def test_time_is_kept_to_the_second_in_utc() -> None:
    east = datetime.timezone(datetime.timedelta(hours=2))
    assert time_text(datetime.datetime(2026, 4, 1, 2, 0, 0, 999_999, tzinfo=east)) == APRIL
    with pytest.raises(ArgumentError):
        time_text(datetime.datetime(2026, 4, 1))  # no time zone is what is tested


def test_ids_are_random() -> None:
    assert len({random_id(system_bits()) for _ in range(100)}) == 100
    assert len(random_id(SeededBits(1))) == 32


def test_a_file_is_verified_and_a_missing_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "receipt.json"
    path.write_text(SIGNED.text())
    assert verify_receipt(path, RING).holds
    path.write_bytes(SIGNED.text().encode() + b"\xff")
    assert not verify_receipt(path, RING).holds
    with pytest.raises(FileError):
        verify_receipt(tmp_path / "none.json", RING)


def test_the_standalone_checker_runs_without_discreet(tmp_path: Path) -> None:
    """Copied into an empty folder and run by an interpreter that cannot import Discreet."""
    (tmp_path / "check.py").write_text(SCRIPT.read_text())
    (tmp_path / "discreet.py").write_text("raise ImportError")
    (tmp_path / "ring.json").write_text(RING.text())
    texts = {
        "good": SIGNED.text(),
        "altered": SIGNED.text().replace('"entry":17', '"entry":18'),
        "teaching": sign(changed(teaching=True), KEY).text(),
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.json").write_text(text)

    def run(*words: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "check.py", *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.stderr == ""
        return done.returncode, done.stdout

    good = run("good.json", "ring.json", KEY.fingerprint)
    assert good[0] == 0
    assert good[1].startswith(f'Good: {{"epsilon":"1/2","kind":"pure"}}, release {RECEIPT.release}')
    assert run("good.json", "ring.json") == good
    assert run("good.json", "ring.json", SigningKey.create().fingerprint)[0] == 1
    assert run("altered.json", "ring.json") == (1, "Rejected: its signature does not fit.\n")
    assert run("teaching.json", "ring.json")[0] == 1
    assert run("none.json", "ring.json")[0] == run("good.json")[0] == run("a", "b", "c", "d")[0] == 2


def test_the_standalone_checker_is_short_and_stands_alone() -> None:
    source = SCRIPT.read_text()
    imported = {line.split()[1].split(".")[0] for line in source.splitlines() if line.startswith(("import ", "from "))}
    assert imported == {"__future__", "base64", "hashlib", "json", "sys", "typing", "cryptography"}
    assert len(source.splitlines()) <= 150


def test_notes_outside_the_guarantee_reach_later_receipts(tmp_path: Path) -> None:
    books = ledger(tmp_path)
    for population, what in (("staff", "a table"), ("clinic", "20 copies"), ("clinic", "a map"), ("clinic", "a map")):
        books.note(OUTSIDE, outside_note(population, what))
    notes = books.outside("clinic")
    assert notes == ("20 copies", "a map")
    assert books.outside("nobody") == ()
    assert "20 copies; a map" in changed(outside=notes).first_line()
    books.close()


def ledger(folder: Path) -> Ledger:
    """A ledger whose clock stands still, so that only what is charged can differ."""
    return Ledger(
        f"sqlite:///{folder}/ledger.db",
        key=bytes(range(32)),
        signer=KEY.private.reveal(to="keeper"),
        heads=folder / "heads",
        clock=lambda: datetime.datetime(2026, 4, 1, tzinfo=datetime.UTC),
    )


def publish(folder: Path, rows: list[str]) -> tuple[list[int], Receipt]:
    """The whole way of a release in small: event, charge, read, noise, answer, receipt."""
    books, bits = ledger(folder), system_bits()
    event = Repeated(event=NOISE, times=2)
    grant = books.spend(Charge(event=event, population="clinic", what={"table": "visits"}))
    noise = draw_many(DiscreteLaplace.of_scale(NOISE.scale), 2, bits).tolist()
    counts = [rows.count(region) + more for region, more in zip(("north", "south"), noise, strict=True)]
    entry = next(entry for entry in books.entries(kind="charge") if entry.number == grant.number)
    receipt = changed(
        release=random_id(bits),
        version_id=random_id(bits),
        ledger=books.id,
        entry=grant.number,
        chain=entry.digest,
        event=event,
        guarantee=PureDP(price(event, "pure").loss),
        result=public_digest(canonical(counts).encode()),
    )
    books.settle(grant, {"counts": counts})
    books.close()
    return counts, receipt


def test_neighbours_have_the_same_receipt(tmp_path: Path) -> None:
    """From one state of the ledger: a person more or fewer changes no field but random ids and what was released."""
    (tmp_path / "before").mkdir()
    books = ledger(tmp_path / "before")
    books.open_account(AccountKey(Kind.POPULATION, "clinic"), "pure", Price(loss=Fraction(3)))
    books.close()
    table = ["north"] * 40 + ["south"] * 9
    releases = []
    for at, rows in enumerate((table, [*table, "south"], table[1:], [])):
        world = tmp_path / f"world{at}"
        shutil.copytree(tmp_path / "before", world)
        releases.append(publish(world, rows))
    for (counts, first), (other_counts, second) in itertools.combinations(releases, 2):
        differing = {
            field.name for field in fields(Receipt) if getattr(first, field.name) != getattr(second, field.name)
        }
        assert differing - {"result"} == {"release", "version_id"}
        assert ("result" in differing) == (counts != other_counts)
