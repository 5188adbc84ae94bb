"""The commands on the ledger and on versions of a table."""

from __future__ import annotations

import io
import json
from fractions import Fraction
from pathlib import Path

import pytest

import discreet
from discreet.accounting.events import Noise
from discreet.accounting.ledger import Charge
from discreet.cli.main import main

CONTRACT = """
table: visits
unit: {person: patient, rows: 2}
columns:
  patient: {type: text, role: direct identifier}
  age: {type: integer, low: 0, high: 120}
"""


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    (tmp_path / "visits.csv").write_text("patient,age\np1,3\np2,4\np2,5\n")
    (tmp_path / "visits.yaml").write_text(CONTRACT)
    assert main(["init", str(tmp_path / "clinic")]) == 0
    monkeypatch.chdir(tmp_path / "clinic")
    assert main(["add", "../visits.csv", "--contract", "../visits.yaml", "--epsilon", "2"]) == 0
    capsys.readouterr()
    return tmp_path / "clinic"


def spend(clinic: Path) -> None:
    event = Noise(law="laplace", move=Fraction(1), scale=Fraction(2))
    ledger = discreet.Curator(clinic).ledger
    ledger.spend(Charge(event=event, population="visits", what={"question": "a count"}))
    ledger.close()


def test_show_and_export(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spend(clinic)
    assert main(["ledger", "show", "--json"]) == 0
    (account,) = json.loads(capsys.readouterr().out)
    assert (account["spent"]["loss"], account["left"]["loss"]) == ("1/2", "3/2")
    assert main(["ledger", "show"]) == 0
    assert "ε = 1.5" in capsys.readouterr().out
    assert main(["ledger", "export"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["kind"] for line in lines] == ["open", "charge"]


def test_accounts_are_opened_and_limited(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "open", "analyst", "ann", "--epsilon", "1", "--period", "month"]) == 0
    assert main(["ledger", "limit", "analyst", "ann", "--epsilon", "0.5", "--reason", "less"]) == 0
    assert main(["ledger", "limit", "analyst", "ann", "--rho", "0.5", "--reason", "less"]) == 2
    capsys.readouterr()
    assert main(["ledger", "show", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["limit"]["loss"] == "1/2"


def test_verify_and_restore(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "verify"]) == 0
    older = {path.name: path.read_bytes() for path in clinic.glob("ledger.db*")}
    spend(clinic)
    for path in clinic.glob("ledger.db*"):
        path.unlink()
    for name, content in older.items():
        (clinic / name).write_bytes(content)
        (clinic / name).chmod(0o600)
    assert main(["ledger", "verify"]) == 1
    assert main(["ledger", "open", "analyst", "ann", "--epsilon", "1"]) == 1
    assert main(["ledger", "restore", "--charge", "other=1", "--reason", "backup"]) == 2
    assert main(["ledger", "restore", "--charge", "visits", "--reason", "backup"]) == 2
    capsys.readouterr()
    assert main(["ledger", "restore", "--charge", "visits=0.75", "--reason", "backup"]) == 0
    assert main(["ledger", "verify"]) == 0
    assert main(["ledger", "show", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["spent"]["loss"] == "3/4"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ledger", "open", "nobody", "x", "--epsilon", "1"], "KIND"),
        (["ledger", "open", "analyst", "x", "--epsilon", "-1"], "limit"),
        (["ledger", "open", "analyst", "x", "--epsilon", "nan"], "limit"),
        (["ledger", "open", "analyst", "x", "--epsilon", "1e30"], "absurd"),
        (["ledger", "open", "analyst", "x", "--epsilon", "1", "--rho", "1"], "both"),
        (["ledger", "open", "analyst", "x"], "neither"),
        (["ledger", "open", "population", "others", "--epsilon", "1"], "second budget"),
        (["ledger", "open", "population", "visits", "--epsilon", "1"], "already"),
        (["ledger", "limit", "analyst", "nobody", "--epsilon", "1", "--reason", "r"], "no such account"),
        (["ledger", "open", "population", "p", "--epsilon", "1", "--period", "day", "--reason", "r"], "refill"),
    ],
)
def test_bad_input_is_one_line_and_changes_nothing(
    clinic: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.strip().splitlines()) == 1
    assert said in shown.err
    assert main(["ledger", "export"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_versions_and_forgetting(
    clinic: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("p2\n"))
    assert main(["forget", "visits"]) == 0
    assert "p2" not in capsys.readouterr().err
    assert discreet.Curator(clinic).assess("visits", ["age"]).classes.records == 1
    assert main(["refresh", "visits", "../visits.csv"]) == 0
    assert discreet.Curator(clinic).record("visits").version == 3
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["forget", "visits"]) == 2
