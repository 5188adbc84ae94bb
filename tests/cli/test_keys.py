"""The commands on signing keys, and on receipts for others to read."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from discreet.accounting.receipt import sign
from discreet.cli.main import main
from tests.accounting.receipts import KEY, RECEIPT, RING, changed

SCHEMA = yaml.safe_load((Path(__file__).parent.parent / "data" / "registry-schema.yaml").read_text())
FACTS = {
    "name": "Visits by region",
    "curators": ["Clinic of Examples"],
    "intended_use": "Planning of services.",
    "product": "Summary statistics",
    "region": "Exampleland",
    "description": "Counts of visits by region.",
    "sector": "Healthcare",
    "data_domain": "All sets of visits that the contract allows.",
    "actors": "The keeper sees the visits; everybody sees the counts.",
    "preprocessing": "None.",
    "access": "two members of staff.",
    "justification": "The error was judged small enough for planning.",
    "authors": ["A. Keeper"],
    "sources": "https://example.org/visits",
    "more_releases": "No other release is planned.",
}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "receipt.json").write_text(sign(RECEIPT, KEY).text())
    (tmp_path / "teaching.json").write_text(sign(changed(teaching=True), KEY).text())
    (tmp_path / "ring.json").write_text(RING.text())
    (tmp_path / "facts.yaml").write_text(yaml.safe_dump(FACTS))
    return tmp_path


def test_keys_are_rotated_and_revoked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--curator", str(tmp_path / "clinic")]
    assert main(["init", str(tmp_path / "clinic")]) == 0
    assert main(["key", "show", "--json", *place]) == 0
    (first,) = json.loads(capsys.readouterr().out)
    assert main(["key", "revoke", first["fingerprint"], "--reason", "old", "--retired", *place]) == 2
    assert "introduce a new key" in capsys.readouterr().err
    assert main(["key", "rotate", "--days", "30", *place]) == 0
    assert main(["key", "revoke", first["fingerprint"], "--reason", "a backup was stolen", *place]) == 2
    both = ["--retired", "--compromised"]
    assert main(["key", "revoke", first["fingerprint"], "--reason", "stolen", *both, *place]) == 2
    assert main(["key", "revoke", first["fingerprint"], "--reason", "stolen", "--compromised", *place]) == 0
    assert main(["key", "revoke", "AAAA-BBBB", "--reason", "x", "--retired", *place]) == 2
    assert main(["key", "rotate", "--days", "0", *place]) == 2
    capsys.readouterr()
    assert main(["key", "show", *place]) == 0
    shown = capsys.readouterr().out
    assert first["fingerprint"] in shown
    assert "compromised: stolen" in " ".join(shown.split())
    assert len(list((tmp_path / "clinic" / "signing").glob("*.pem"))) == 1


def test_a_receipt_has_a_sheet_and_a_record(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    receipt, ring = str(files / "receipt.json"), ["--keyring", str(files / "ring.json")]
    assert main(["receipt", "sheet", receipt, "--out", str(files / "sheet.html"), *ring]) == 0
    assert "NIST SP 800-226" in (files / "sheet.html").read_text()
    assert main(["receipt", "register", receipt, str(files / "facts.yaml"), *ring]) == 0
    record = yaml.safe_load(capsys.readouterr().out)
    jsonschema.Draft202012Validator(SCHEMA).validate(record)
    assert record["deployment"]["basic"]["data_curators"] == ["Clinic of Examples"]


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ("- a list", "no entries"),
        ("name: x", "no entry 'access'"),
        (yaml.safe_dump({**FACTS, "more": "x"}), "an entry 'more'"),
        (yaml.safe_dump({**FACTS, "region": ["a", "b"]}), "something else than text under 'region'"),
        (yaml.safe_dump({**FACTS, "product": "Poems"}), "one of"),
    ],
)
def test_what_only_the_keeper_knows_is_asked_for(
    files: Path, facts: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "facts.yaml").write_text(facts)
    words = ["receipt", "register", str(files / "receipt.json"), str(files / "facts.yaml")]
    assert main([*words, "--keyring", str(files / "ring.json")]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.strip().splitlines()) == 1
    assert said in shown.err


def test_teaching_output_is_not_registered(files: Path) -> None:
    ring = ["--keyring", str(files / "ring.json")]
    assert main(["receipt", "register", str(files / "teaching.json"), str(files / "facts.yaml"), *ring]) == 1
