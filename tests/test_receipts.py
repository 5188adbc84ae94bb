"""The desk signs the receipt of the charge that stands in the ledger, and of nothing else."""

from __future__ import annotations

import datetime
import shutil
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import discreet
from discreet.accounting.account import AccountKey, Kind
from discreet.accounting.events import Event, Noise, Price, Repeated
from discreet.accounting.keyring import Revocation
from discreet.accounting.keystore import KeyStore
from discreet.accounting.ledger import Charge, Ledger
from discreet.accounting.outside import OUTSIDE, outside_note
from discreet.accounting.receipt import Expected, SignedReceipt, public_digest, random_id, verify
from discreet.accounting.standalone import check_receipt
from discreet.accounting.standing import CHECKPOINT_EVERY, Standing
from discreet.budget import ledger_of, open_population
from discreet.errors import ArgumentError, CheckFailedError, FolderError
from discreet.folder import Folder
from discreet.guarantee import PureDP
from discreet.randomness import system_bits
from discreet.receipts import ReceiptDesk

CONTRACT = discreet.Contract.from_yaml(
    """
table: visits
unit: {person: patient, rows: 2, source: drafted}
population: patients
budget: {epsilon: 1000}
declaration: {by: A. Keeper, reason: two visits are the rule}
columns:
  patient: {type: text, role: direct identifier}
  age: {type: integer, low: 0, high: 120}
"""
)
COUNT = Noise(law="laplace", move=Fraction(1), scale=Fraction(2))
VERSION_ID = random_id(system_bits())
RESULT = b'{"numbers":["12"]}'
START = datetime.datetime(2030, 6, 15, 12, tzinfo=datetime.UTC)


class Office:
    """A curator's folder with its ledger and desk, and a clock that tests set."""

    def __init__(self, root: Path, heads: Path) -> None:
        self.now = START
        self.folder, self.heads = Folder.open_or_create(root), heads
        self.ledger = ledger_of(self.folder, heads=heads)
        self.desk = self.another_desk()

    def another_desk(self) -> ReceiptDesk:
        return ReceiptDesk(self.folder, self.ledger, clock=lambda: self.now)

    def spend(self, event: Event = COUNT, population: str = "patients") -> int:
        return self.ledger.spend(Charge(event=event, population=population, what={"question": "a count"})).number

    def receipt(self, entry: int | None = None, **fields: Any) -> SignedReceipt:
        facts: Mapping[str, Any] = {
            "entry": self.spend() if entry is None else entry,
            "contract": CONTRACT,
            "table_version": 3,
            "version_id": VERSION_ID,
            "event": COUNT,
            "guarantee": PureDP.of("0.5"),
            "plan": {"aggregates": ["count"]},
            "sensitivity": {"l1": 1},
            "result": RESULT,
            **fields,
        }
        return self.desk.receipt_for(**facts)

    def holds(self, signed: SignedReceipt) -> bool:
        return verify(signed.text(), KeyStore(self.folder).keyring()).holds


@pytest.fixture
def office(tmp_path: Path) -> Office:
    made = Office(tmp_path / "clinic", tmp_path / "heads")
    open_population(made.ledger, CONTRACT)
    return made


def test_a_receipt_says_what_was_charged_and_verifies(office: Office) -> None:
    signed = office.receipt()
    ring = KeyStore(office.folder).keyring()
    expected = Expected(
        population="patients",
        table="visits",
        version_id=VERSION_ID,
        contract=CONTRACT.content_hash(),
        result=public_digest(RESULT),
    )
    assert verify(signed.text(), ring, expected).holds
    assert check_receipt.check(signed.text(), ring.text(), ring.current.fingerprint)[0] == 0
    receipt, entry = signed.receipt, office.ledger.entries()[-1]
    assert (receipt.ledger, receipt.entry, receipt.chain) == (office.ledger.id, entry.number, entry.digest)
    assert receipt.unit == "one 'patient', at most 2 rows and 2 groups"
    assert receipt.drafted == ("the unit",)
    assert receipt.versions.values() == {"discreet": discreet.__version__, "duckdb": duckdb.__version__}
    assert receipt.time == "2030-06-15T12:00:00Z"
    assert receipt.first_line() == "Rests on facts that were drafted from the data: the unit."
    assert office.receipt().receipt.release != receipt.release


def test_a_receipt_is_of_its_charge_alone(office: Office) -> None:
    """Another event, another population, an answer, or no entry at all: nothing is signed."""
    others = AccountKey(Kind.POPULATION, "others")
    limit = office.ledger.account(AccountKey(Kind.POPULATION, "patients")).limit
    assert limit.loss == 1000 * 10**9
    office.ledger.open_account(others, "pure", _price(5), reason="of another town")
    cheaper = office.spend(Noise(law="laplace", move=Fraction(1), scale=Fraction(20)))
    elsewhere = office.spend(population="others")
    for entry in (cheaper, elsewhere):
        with pytest.raises(ArgumentError, match="another event or population"):
            office.receipt(entry)
    with pytest.raises(ArgumentError, match="no less than what its events cost"):
        office.receipt(guarantee=PureDP.of("0.4"))
    for entry in (1, 0, 99):
        with pytest.raises(CheckFailedError, match="ledger"):
            office.receipt(entry)


def _price(epsilon: int) -> Price:
    return Price(loss=Fraction(epsilon))


def test_later_receipts_name_what_was_published(office: Office) -> None:
    """Earlier ones do not, other populations' do not, and neither checkpoints nor fresh processes forget."""
    assert office.receipt().receipt.outside == ()
    for population, what in (("patients", "20 copies of visits"), ("others", "a map"), ("patients", "a table, k = 3")):
        office.ledger.note(OUTSIDE, outside_note(population, what))
    signed = office.receipt()
    published = ("20 copies of visits", "a table, k = 3")
    assert signed.receipt.outside == published
    assert signed.receipt.first_line().startswith(
        "Published of this population outside the guarantee: 20 copies of visits; a table, k = 3."
    )
    assert office.holds(signed)
    office.ledger.note(OUTSIDE, outside_note("patients", "20 copies of visits"))
    for _ in range(CHECKPOINT_EVERY):
        number = office.spend()
    again = Office(office.folder.root, office.heads)
    assert again.receipt(number).receipt.outside == published
    assert again.ledger.outside("others") == ("a map",)
    assert again.ledger.verify() == ()
    again.ledger.restore({AccountKey(Kind.POPULATION, "patients"): _price(1)}, reason="a test")
    assert Office(office.folder.root, office.heads).receipt(number).receipt.outside == published


def test_a_receipt_of_joined_persons_names_what_was_published_of_both(office: Office) -> None:
    """Rows of another population were read and charged: what was published of those is part of the same picture."""
    whose, what = "o" * 200, "a" * 300
    for population in (whose, "nobody's"):
        office.ledger.open_account(AccountKey(Kind.POPULATION, population), "pure", _price(5), reason="other persons")
        office.ledger.note(OUTSIDE, outside_note(population, what))
    office.ledger.note(OUTSIDE, outside_note("patients", "20 copies"))
    joined = Charge(event=COUNT, population="patients", also=(whose,), what={"question": "a join"})
    signed = office.receipt(office.ledger.spend(joined).number)
    assert signed.receipt.outside == ("20 copies", f"{what}, of {whose}")
    assert office.holds(signed)
    assert office.receipt().receipt.outside == ("20 copies",)


@pytest.mark.parametrize("what", ["", "  ", "two\nlines", "x" * 301])
def test_what_is_published_is_named_on_a_line(office: Office, what: str) -> None:
    with pytest.raises(ArgumentError, match="first line"):
        outside_note("patients", what)
    with pytest.raises(ArgumentError, match="first line"):
        office.ledger.note(OUTSIDE, {"population": "patients", "what": what})


def test_an_older_copy_signs_nothing(office: Office, tmp_path: Path) -> None:
    """Else a copy from before a publication would sign receipts that do not name it."""
    number = office.spend()
    office.ledger.close()
    shutil.copytree(office.folder.root, tmp_path / "backup")
    office.ledger = ledger_of(office.folder, heads=office.heads)
    office.desk = office.another_desk()
    office.ledger.note(OUTSIDE, outside_note("patients", "20 copies of visits"))
    assert office.receipt(number).receipt.outside
    with pytest.raises(CheckFailedError, match="not the one its head was signed for"):
        Office(tmp_path / "backup", office.heads).receipt(number)


def test_teaching_output_never_verifies_as_good(office: Office) -> None:
    signed = office.receipt(teaching=True)
    assert verify(signed.text(), KeyStore(office.folder).keyring()).outcome == "teaching"


def test_a_rotation_by_another_process_counts_at_once(office: Office) -> None:
    first = office.receipt()
    office.now += datetime.timedelta(days=1)
    store = KeyStore(office.folder)
    store.rotate(now=office.now)
    second = office.receipt()
    assert first.key != second.key == store.keyring().current.fingerprint
    store.revoke(first.key, Revocation(at="2030-06-16T12:00:00Z", reason="stolen", compromised=True), now=office.now)
    assert (office.holds(first), office.holds(second)) == (False, True)


def test_a_key_that_may_not_sign_is_refused_before_spending(office: Office) -> None:
    until = START + datetime.timedelta(days=9)
    KeyStore(office.folder).create(now=START, until=until)
    office.desk.require_key()
    for now, why in ((until, "after its key expired"), (START - datetime.timedelta(seconds=1), "before its key was")):
        office.now = now
        with pytest.raises(FolderError, match=why):
            office.desk.require_key()
        with pytest.raises(FolderError, match=why):
            office.receipt()
    office.now = until
    KeyStore(office.folder).rotate(now=until)
    office.desk.require_key()
    assert office.holds(office.receipt())


def test_whoever_comes_first_makes_the_first_key(office: Office) -> None:
    other = office.another_desk()
    office.desk.require_key()
    other.require_key()
    ring = KeyStore(office.folder).keyring()
    assert len(ring.keys) == 1
    assert KeyStore(office.folder).create_if_none(now=START) == ring


def test_facts_of_another_contract_are_not_remembered(office: Office) -> None:
    first = office.receipt().receipt
    changed = CONTRACT.with_budget(epsilon=Fraction(7))
    assert office.receipt(contract=changed).receipt.contract == changed.content_hash() != first.contract


def test_receipts_of_repeated_events_and_other_engines(office: Office) -> None:
    event = Repeated(event=COUNT, times=4)
    signed = office.receipt(
        office.spend(event), event=event, guarantee=PureDP.of(2), engine={"postgresql": "16.2"}, result=b""
    )
    assert signed.receipt.versions.values()["postgresql"] == "16.2"
    assert office.holds(signed)
    assert not office.holds(replace(signed, receipt=replace(signed.receipt, guarantee=PureDP.of(3))))


def test_a_plan_with_floats_is_refused(office: Office) -> None:
    with pytest.raises(ArgumentError, match="single spelling"):
        office.receipt(plan={"share": 0.5})


def test_the_ledger_reads_notes_of_checkpoints_without_them(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ledgers whose checkpoints were written before these named publications still name them."""
    with monkeypatch.context() as patch:
        patch.setattr(Standing, "as_json", lambda self: {"accounts": [one.as_json() for one in self.accounts.values()]})
        office.ledger.note(OUTSIDE, outside_note("patients", "a map"))
        for _ in range(CHECKPOINT_EVERY):
            office.spend()
    kinds = [entry.kind for entry in office.ledger.entries()]
    assert "standing" in kinds
    fresh: Ledger = ledger_of(office.folder, heads=office.heads)
    assert fresh.outside("patients") == ("a map",)
    fresh.note(OUTSIDE, outside_note("patients", "copies"))
    assert fresh.outside("patients") == ("a map", "copies")
    assert fresh.verify() == ()
