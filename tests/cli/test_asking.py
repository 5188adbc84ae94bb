"""ask, bounds and replay as a person types them: free looks, one charge, exit codes, one line an error."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.accounting.ledger import Ledger
from discreet.cli.main import main
from discreet.cli.statements import ends, statements
from discreet.curator import Curator

ROWS = "\n".join(f"p{n % 90},{20 + n % 60},{'fm'[n % 2]},{n % 50 * 10},town{n % 4}" for n in range(600))
CONTRACT = """
table: visits
unit: {person: patient, rows: 5}
budget: {epsilon: 6, delta: 1e-6}
columns:
  patient: {type: text, role: direct identifier}
  age: {type: integer, low: 0, high: 100}
  sex: {type: category, keys: [f, m]}
  cost: {type: integer}
  town: {type: text}
"""
COUNT = "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex"
SPENT = ["ledger", "show", "--json"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    (folder / "visits.csv").write_text(f"patient,age,sex,cost,town\n{ROWS}\n")
    (folder / "visits.yaml").write_text(CONTRACT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_HEADS", str(folder / "heads"))
        assert main(["init", str(folder / "clinic")]) == 0
        words = ["add", str(folder / "visits.csv"), "--contract", str(folder / "visits.yaml")]
        assert main([*words, "--curator", str(folder / "clinic")]) == 0
    return folder


@pytest.fixture
def office(made: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A working directory inside the curator's folder; what is written goes to the second folder."""
    monkeypatch.setenv("DISCREET_HEADS", str(made / "heads"))
    monkeypatch.chdir(made / "clinic")
    capsys.readouterr()
    return tmp_path


@pytest.fixture(scope="module")
def ledger(made: Path) -> Iterator[Ledger]:
    """The ledger, looked at from the side."""
    held = Curator(made / "clinic", heads=made / "heads")
    yield held.ledger
    held.ledger.close()


def spent(capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(SPENT) == 0
    return str(json.loads(capsys.readouterr().out))


def test_looking_is_free(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = spent(capsys)
    for look in ("--dummy", "--estimate", "--explain"):
        for form in ([], ["--json"], ["--csv"]):
            assert main(["ask", COUNT, "--epsilon", "0.5", look, *form]) == 0
            shown = capsys.readouterr().out
            assert shown
            if form == ["--json"]:
                assert json.loads(shown)
            if form == ["--csv"]:
                assert len({len(row) for row in csv.reader(io.StringIO(shown))}) == 1
    assert main(["ask", "SELECT AVG(age) FROM visits", "--epsilon", "1", "--clip", "quantile", "--explain"]) == 0
    assert "clipped at a quantile" in capsys.readouterr().out
    assert main(["ask", COUNT, "--error", "40", "--estimate"]) == 0
    assert "Charges" in capsys.readouterr().out
    assert main(["bounds", "cost", "--epsilon", "0.5", "--estimate"]) == 0
    assert spent(capsys) == before


@pytest.mark.requirement("3.09")
@pytest.mark.requirement("4.10")
def test_asking_charges_once_and_replays_for_nothing(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["ask", COUNT, "--epsilon", "0.5", "--above", "0.25"]
    assert main([*words, "--save", str(office / "a.yaml"), "--save", str(office / "a.receipt")]) == 0
    shown = capsys.readouterr()
    assert "± n" in shown.out
    assert "have more than 5 rows" in shown.err
    assert "ε = 0.75" in shown.err
    assert "receipt" in shown.err
    after = spent(capsys)
    assert main(["verify", "receipt", str(office / "a.receipt")]) == 0
    assert main(["replay", str(office / "a.yaml"), "--json"]) == 0
    again = capsys.readouterr()
    assert "given again for nothing" in again.err
    assert main([*words, "--json"]) == 0
    asked = json.loads(capsys.readouterr().out)
    assert json.loads(again.out[again.out.index("{") :])["columns"] == asked["columns"]
    assert spent(capsys) == after


def test_questions_together_are_one_charge(
    office: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    mean = "SELECT AVG(age) AS a FROM visits"
    assert main(["ask", COUNT, mean, "--epsilon", "0.25", "--json"]) == 0
    both = json.loads(capsys.readouterr().out)
    assert [one["charge"]["entry"] for one in both] == [both[0]["charge"]["entry"]] * 2
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{COUNT};\n{mean};\n"))
    assert main(["ask", "--epsilon", "0.25", "--save", str(office / "both.yaml")]) == 0
    assert "given again for nothing" in capsys.readouterr().err
    assert main(["replay", str(office / "both.yaml"), "--csv"]) == 0
    assert capsys.readouterr().out.count("raw") == 2


def test_bounds_become_a_contract(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bounds", "visits.cost", "--epsilon", "1", "--into", str(office / "new.yaml")]) == 0
    assert "source: paid for" in capsys.readouterr().out
    assert "paid for" in (office / "new.yaml").read_text()
    assert main(["bounds", "cost", "--epsilon", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["column"] == "cost"


GONE = "/nowhere/at/all.csv"
WRONG: list[tuple[list[str], int, str]] = [
    (["ask", COUNT], 2, "give epsilon 0.5"),
    (["ask", COUNT, "--epsilon", "0"], 2, "epsilon"),
    (["ask", COUNT, "--epsilon", "-1"], 2, "epsilon"),
    (["ask", COUNT, "--epsilon", "lots"], 2, "epsilon"),
    (["ask", COUNT, "--epsilon", "nan"], 2, "epsilon"),
    (["ask", COUNT, "--epsilon", "0.5", "--rho", "1"], 2, "both"),
    (["ask", COUNT, "--rho", "0.1"], 2, "an account in ε"),
    (["ask", COUNT, "--epsilon", "1", "--delta", "2"], 2, "delta"),
    (["ask", COUNT, "--epsilon", "1", "--above", "0"], 2, "above"),
    (["ask", COUNT, "--epsilon", "1", "--clip", "quantile"], 2, "no SUM or AVG"),
    (["ask", "SELECT AVG(age) FROM visits", "--epsilon", "1", "--clip", "high"], 2, "there is 'quantile'"),
    (["ask", COUNT, "--epsilon", "100"], 3, "left"),
    (["ask", COUNT, "--epsilon", "0.1", "--analyst", "nobody"], 2, "nobody"),
    (["ask", COUNT, "--epsilon", "0.1", "--dummy", "--estimate"], 2, "one at a time"),
    (["ask", COUNT, "--epsilon", "0.1", "--json", "--csv"], 2, "--json"),
    (["ask", COUNT, "--epsilon", "0.1", "--save", "answer.xlsx"], 2, ".csv"),
    (["ask", COUNT, "--epsilon", "0.1", "--save", GONE], 2, "folder is not there"),
    (["ask", COUNT, "--epsilon", "0.1", "--save", "key.csv", "--estimate"], 2, "--save"),
    (["ask", COUNT, COUNT.lower(), "--epsilon", "0.1", "--save", "two.csv"], 2, "several answers"),
    (["ask", COUNT, "--epsilon", "0.1", "--curator", "/nowhere"], 2, "discreet init"),
    (["ask", COUNT, "--epsilon"], 2, "--epsilon"),
    (["ask", ";", "--epsilon", "1"], 2, "one SELECT"),
    (["ask", "hello", "--epsilon", "1"], 2, "SELECT"),
    (["ask", "SELECT * FROM visits", "--epsilon", "1"], 2, "line 1, column 8"),
    (["ask", "SELECT COUNT(*) FROM visitz", "--epsilon", "1"], 2, "visits"),
    (["ask", "SELECT AVG(agee) FROM visits", "--epsilon", "1"], 2, "age"),
    (["ask", "SELECT AVG(cost) FROM visits", "--epsilon", "1"], 2, "bounds"),
    (["ask", "SELECT town, COUNT(*) FROM visits GROUP BY town", "--epsilon", "1"], 2, "delta"),
    (["ask", "SELECT patient FROM visits", "--epsilon", "1"], 2, "patient"),
    (["ask", "SELECT MAX(patient) FROM visits", "--epsilon", "1"], 2, "COUNT(DISTINCT patient)"),
    (["ask", "SELECT COUNT(* FROM visits", "--epsilon", "1"], 2, "query"),
    (["ask", "DROP TABLE visits", "--epsilon", "1"], 2, "SELECT"),
    (["bounds", "costs", "--epsilon", "1"], 2, "TABLE.COLUMN"),
    (["bounds", "cost"], 2, "epsilon"),
    (["bounds", "sex", "--epsilon", "1"], 2, "numbers have magnitudes"),
    (["bounds", "cost", "--epsilon", "50"], 3, "left"),
    (["bounds", "cost", "--epsilon", "1", "--into", "discreet.json"], 2, "--into"),
    (["replay", "no.yaml"], 2, "no.yaml"),
    (["replay", "discreet.json"], 2, "ask"),
]


@pytest.mark.parametrize(("words", "code", "said"), WRONG)
def test_wrong_uses_are_one_line_and_cost_nothing(
    office: Path, ledger: Ledger, words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    history = len(ledger.entries())
    assert main(words) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.strip().splitlines()) == 1
    assert said in shown.err
    assert "Next: " in shown.err
    assert len(ledger.entries()) == history


def test_no_result_is_charged_and_says_so(
    office: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def burst(*_: object, **__: object) -> None:
        raise RuntimeError("the value 918273645 of p7")

    before = spent(capsys)
    with monkeypatch.context() as patch:
        patch.setattr("discreet.measure.noisy.Measurement.release", burst)
        assert main(["ask", COUNT, "--epsilon", "0.125"]) == 4
    shown = capsys.readouterr().err
    assert "918273645" not in shown
    assert "the charge stands" in shown
    assert spent(capsys) != before


def test_statements_end_at_semicolons_outside_quotes() -> None:
    assert statements("SELECT ';' ; -- no; not here\nSELECT \"a;b\";;") == (
        "SELECT ';'",
        '-- no; not here\nSELECT "a;b"',
    )
    assert [ends(text) for text in ("a;", "a; ", "a", "a; b", "';", "';';", "-- a;", "")] == [
        True,
        True,
        False,
        False,
        False,
        True,
        False,
        False,
    ]
