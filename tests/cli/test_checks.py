"""The commands verify and explain."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from discreet import Curator
from discreet.accounting.receipt import sign
from discreet.cli.main import main
from discreet.evaluation import certification
from tests.accounting.receipts import KEY, RECEIPT, RING


def test_certificates_as_exact_fractions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "mechanisms", "coin", "card", "exponential", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    odds = {one["name"]: one["exact"]["odds"] for one in shown["certificates"]}
    assert Fraction(odds["coin"]) == 3
    assert Fraction(odds["exponential"]) == Fraction(65, 17)
    assert shown["failures"] == []


def test_certificates_for_people_begin_with_the_outcome(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "mechanisms", "coin", "card"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("As it should be: 1 promise holds, and 1 design that only looks private is caught.\n")
    assert "Promises" in shown
    assert "infinite" in shown
    assert main(["verify", "mechanisms", "coin", "card", "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[2].startswith("card,any two truths,2,3,infinite,0,1/2,violated,yes")


def test_failed_certificate_ends_with_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(certification, "failures", lambda checked: ("coin",))
    assert main(["verify", "mechanisms", "coin"]) == 1
    assert "coin not as claimed" in capsys.readouterr().err


def test_unknown_certificate_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "mechanisms", "coyn"]) == 2
    assert "did you mean coin" in capsys.readouterr().err


def test_epsilon_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "epsilon", "1", "--prior", ".1"]) == 0
    assert "2.718" in capsys.readouterr().out
    assert main(["explain", "epsilon", "1", "--delta", "1e-2", "--persons", "100", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warnings"]


@pytest.mark.parametrize("bad", ["-1", "0x", "nan", "1e999999"])
def test_bad_epsilon_is_one_line(bad: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "epsilon", "--", bad]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_receipt_is_checked_against_a_published_keyring(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    signed = sign(RECEIPT, KEY).text()
    for name, content in (("good", signed), ("bad", signed.replace("visits", "vizits")), ("ring", RING.text())):
        (tmp_path / name).write_text(content)
    ring = ["--keyring", str(tmp_path / "ring")]
    assert main(["verify", "receipt", str(tmp_path / "good"), *ring, "--fingerprint", KEY.fingerprint]) == 0
    assert "Good" in capsys.readouterr().out
    assert main(["verify", "receipt", str(tmp_path / "bad"), *ring]) == 1
    assert main(["verify", "receipt", str(tmp_path / "good"), *ring, "--fingerprint", "ab" * 8]) == 1
    assert main(["verify", "receipt", str(tmp_path / "none"), *ring]) == 2
    assert main(["verify", "receipt", str(tmp_path / "good"), "--keyring", str(tmp_path / "none")]) == 2


def test_curator_has_a_keyring_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "receipt").write_text(sign(RECEIPT, KEY).text())
    assert main(["init", str(tmp_path / "clinic")]) == 0
    words = ["verify", "receipt", str(tmp_path / "receipt"), "--curator", str(tmp_path / "clinic")]
    assert main(words) == 1
    assert "not in this keyring" in capsys.readouterr().out
    assert Curator(tmp_path / "clinic").keyring.exists()
