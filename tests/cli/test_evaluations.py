"""`discreet evaluate`: on files, on a table of the curator, as words, JSON, HTML and PDF; bad input gets one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import discreet
from discreet.cli.main import main


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An original with two copies whose ages are noisy, in the working directory."""
    generator = np.random.default_rng(1)
    n = 200
    age = generator.integers(18, 80, n)
    original = {"age": age, "sex": generator.choice(["f", "m"], n), "sick": generator.integers(0, 2, n)}
    pl.DataFrame(original).write_csv(tmp_path / "clinic.csv")
    for copy in (1, 2):
        moved = {**original, "age": age + generator.integers(-4, 5, n)}
        pl.DataFrame(moved).write_parquet(tmp_path / f"copy{copy}.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


COPIES = ["copy1.parquet", "copy2.parquet"]
ASKED = ["--model", "sick ~ age + sex", "--family", "probit", "--keys", "age,sex", "--tolerance", "age=2"]


def test_files_are_evaluated_in_words_and_json(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "clinic.csv", *COPIES, *ASKED]) == 0
    shown = capsys.readouterr()
    assert "In the model sick ~ age + sex (probit) intervals from the copies overlap" in shown.out
    assert "finds the right record" in shown.out
    assert "MEASURED RISK, NOT DIFFERENTIAL PRIVACY" in shown.err
    assert main(["evaluate", "clinic.csv", *COPIES, *ASKED, "--sensitive", "sick", "--groups", "sex", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["changed"] == ["age"]
    assert told["risk"]["reidentification"]["tolerances"] == {"age": 2.0}
    assert set(told["risk"]["reidentification"]["groups"]) == {"f", "m"}
    assert told["utility"]["models"][0]["family"] == "probit"


def test_pages_are_written_for_the_owner_alone(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "clinic.csv", *COPIES, *ASKED, "--html", "out.html", "--pdf", "out.pdf"]) == 0
    assert capsys.readouterr().out == ""
    html = (files / "out.html").read_text()
    assert "Copies of clinic.csv: utility and risk" in html
    assert len(html) < 1_000_000
    assert (files / "out.pdf").read_bytes().startswith(b"%PDF-")
    for name in ("out.html", "out.pdf"):
        assert (files / name).stat().st_mode & 0o777 == 0o600


def test_a_table_of_the_curator_brings_its_quasi_identifiers(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    curator = discreet.Curator(files / "desk")
    curator.add(files / "clinic.csv")
    assert main(["evaluate", "clinic", *COPIES, "--tolerance", "age=2", "--json", "--curator", "desk"]) == 0
    assert json.loads(capsys.readouterr().out)["risk"]["reidentification"]["keys"] == ["age"]
    contract = curator.draft_contract("clinic")
    columns = {
        name: column.model_copy(update={"role": "quasi-identifier" if name != "sick" else "other"})
        for name, column in contract.columns.items()
    }
    declared = contract.model_copy(update={"columns": columns})
    curator.declare(declared, by="the keeper", reason="for a test")
    assert main(["evaluate", "clinic", *COPIES, "--tolerance", "age=2", "--json", "--curator", "desk"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["table"] == "clinic"
    assert told["risk"]["reidentification"]["keys"] == ["age", "sex"]


def test_copies_that_the_curator_keeps_are_evaluated_by_name(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    curator = discreet.Curator(files / "desk")
    curator.add(files / "clinic.csv")
    made = curator.copies("clinic", perturb=["age"], copies=3)
    words = ["evaluate", "clinic", made.release, "--model", "sick ~ age", "--json", "--curator", "desk"]
    assert main(words) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["copies"], told["method"], told["changed"]) == (3, "cart", ["age"])
    assert told["rule"] == made.rule.value


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--tolerance", "age"], "--tolerance"),
        (["--tolerance", "age=x"], "tolerance of age"),
        (["--keys", "agee"], "did you mean age"),
        (["--rule", "nested"], "rule"),
        (["--model", "sick ~ age", "--family", "gamma"], "family"),
        (["--model", "sick ~ open(age)"], "function 'open'"),
        (["--holdout", "none.csv"], "none.csv"),
        (["--html", "no/where.html"], "no/where.html"),
    ],
)
def test_bad_input_gets_one_line(files: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str) -> None:
    assert main(["evaluate", "clinic.csv", *COPIES, *words]) == 2
    shown = capsys.readouterr()
    assert says in shown.err
    assert shown.out == ""
    assert "Traceback" not in shown.err


def test_a_name_that_is_neither_file_nor_table_is_refused(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    discreet.Curator(files / "desk")
    assert main(["evaluate", "clinik", *COPIES, "--curator", "desk"]) == 2
    assert "clinik" in capsys.readouterr().err
