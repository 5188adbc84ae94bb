"""The command line as a person uses it: exit codes, one line an error, data on standard output alone."""

from __future__ import annotations

import csv
import io
import json
import shlex
import sys
from pathlib import Path

import pytest

import discreet
from discreet import __version__
from discreet.cli.main import main
from discreet.cli.render import show_grids
from discreet.draw import Grid, GridColumn

VISITS = "patient,age,sex\n" + "\n".join(f"p{row},{20 + row % 7},{'fm'[row % 2]}" for row in range(60)) + "\n"


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A working directory inside a new curator's folder, with one table."""
    (tmp_path / "visits.csv").write_text(VISITS)
    monkeypatch.chdir(tmp_path)
    assert main(["init", "clinic"]) == 0
    monkeypatch.chdir(tmp_path / "clinic")
    assert main(["add", "../visits.csv"]) == 0
    capsys.readouterr()
    return tmp_path / "clinic"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"discreet {__version__}\n"


def test_assess_for_people(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assess", "visits", "--quasi", "age,sex"]) == 0
    shown = capsys.readouterr()
    assert "unique" in shown.out
    assert "keeper" in shown.err


def test_assess_for_machines(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assess", "visits", "--quasi", "patient", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unique"] == 60
    assert main(["assess", "visits", "--quasi", "patient", "--csv"]) == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert len({len(row) for row in rows}) == 1


def test_assess_beside_a_population(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assess", "visits", "--quasi", "age,sex", "--population", "600"]) == 0
    assert "does not know who was sampled" in capsys.readouterr().out
    assert main(["assess", "visits", "--quasi", "age,sex", "--population", "visits", "--json"]) == 0
    views = [one["view"] for one in json.loads(capsys.readouterr().out)["disclosure"]["scores"]]
    assert views == ["prosecutor", "journalist"]
    assert main(["assess", "visits", "--quasi", "age,sex", "--population", "10"]) == 2
    assert main(["assess", "visits", "--quasi", "sex", "--household", "patient", "--csv"]) == 0
    assert "household" in capsys.readouterr().out
    assert main(["assess", "visits", "--quasi", "age", "--weight", "age", "--html", "../risk.html"]) == 0
    assert "Special uniques" in (office.parent / "risk.html").read_text()


def test_assess_to_a_page(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (office.parent / "report.html").touch(mode=0o644)
    assert main(["assess", "visits", "--quasi", "age,sex", "--html", "../report.html"]) == 0
    assert (office.parent / "report.html").stat().st_mode & 0o077 == 0
    assert capsys.readouterr().out == ""
    assert (office.parent / "report.html").read_text().startswith("<!")


def test_what_a_file_does_not_say_is_said_on_the_line(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every option that an error about a file advises is there."""
    (office.parent / "odd.csv").write_bytes("1;Jörg\n-9;Ann\n".encode("latin-1"))
    assert main(["add", "../odd.csv"]) == 2
    options = ["--encoding", "latin-1", "--delimiter", ";", "--names", "age,name", "--null", "-9"]
    assert main(["add", "../odd.csv", *options]) == 0
    capsys.readouterr()
    assert main(["contract", "draft", "../odd.csv", *options]) == 0
    drafted = capsys.readouterr().out
    assert "age: {type: integer, low: 0, high: 1," in drafted
    assert main(["assess", "odd", "--quasi", "age,name", "--json"]) == 0


def test_new_version_is_read_as_the_last_one(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (office.parent / "odd.csv").write_bytes("1;Jörg\n-9;Ann\n".encode("latin-1"))
    assert main(["add", "../odd.csv", "--encoding", "latin-1", "--names", "age,name", "--null", "-9"]) == 0
    (office.parent / "odd.csv").write_bytes("2;Jörg\n-9;Ann\n3;Ben\n".encode("latin-1"))
    assert main(["refresh", "odd", "../odd.csv"]) == 0
    assert main(["contract", "draft", "odd"]) == 0
    drafted = capsys.readouterr().out
    assert "age: {type: integer, low: 0," in drafted, "-9 means missing in this version too"
    assert "name:" in drafted


def test_one_option_of_a_new_version_leaves_the_others(office: Path) -> None:
    (office.parent / "odd.csv").write_text("1;Ann\n-9;Ben\n")
    assert main(["add", "../odd.csv", "--names", "age,name", "--null", "-9"]) == 0
    (office.parent / "odd.csv").write_text("2020;name\n1;Ann\n-9;Ben\n")
    assert main(["refresh", "odd", "../odd.csv", "--header"]) == 0
    kept = discreet.Curator(office).record("odd").options
    assert (kept.header, kept.names, kept.nulls) == (True, None, ("-9",))
    assert discreet.Curator(office).columns("odd").names == ("2020", "name")


def test_what_an_import_decided_is_said(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (office.parent / "linked.csv").symlink_to(office.parent / "visits.csv")
    assert main(["add", "../linked.csv"]) == 0
    assert "Note: the path is a link" in capsys.readouterr().err


def test_curator_is_named_from_elsewhere(
    office: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(office.parent)
    assert main(["assess", "visits", "--quasi", "age"]) == 2
    assert "discreet init" in capsys.readouterr().err
    assert main(["assess", "visits", "--quasi", "age", "--curator", "clinic"]) == 0


def test_contract_from_draft_to_check(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["contract", "show", "visits"]) == 2
    assert main(["contract", "draft", "visits"]) == 0
    drafted = capsys.readouterr().out
    assert "drafted" in drafted
    (office / "visits.yaml").write_text(drafted.replace("source: drafted", "source: codebook"))
    assert main(["contract", "declare", "visits.yaml"]) == 2
    assert "--by" in capsys.readouterr().err
    assert main(["contract", "declare", "visits.yaml", "--by", "the keeper"]) == 2
    assert main(["contract", "declare", "visits.yaml", "--by", "the keeper", "--reason", "codebook of 2019"]) == 0
    capsys.readouterr()
    assert main(["contract", "check", "visits.yaml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == 60
    assert main(["contract", "show", "visits"]) == 0
    narrow = drafted.replace("high: 30", "high: 22").replace("high: 26", "high: 22").replace("high: 50", "high: 22")
    (office / "narrow.yaml").write_text(narrow)
    capsys.readouterr()
    code = main(["contract", "check", "narrow.yaml"])
    assert (code == 1) == (narrow != drafted), capsys.readouterr().err


@pytest.mark.parametrize("form", ["smartnoise", "csvw", "croissant"])
def test_contract_goes_to_other_tools_and_comes_back(
    office: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (office / "c.yaml").write_text("table: visits\nunit: row\ncolumns: {age: {type: integer, low: 0, high: 99}}\n")
    assert main(["contract", "declare", "c.yaml"]) == 0
    capsys.readouterr()
    assert main(["contract", "show", "visits", "--form", form]) == 0
    written = capsys.readouterr()
    assert "Note: who declared the facts" in written.err
    (office / "theirs").write_text(written.out)
    assert main(["contract", "import", "theirs", "--form", form]) == 0
    assert "age: {type: integer, low: 0, high: 99, source: drafted}" in capsys.readouterr().out


def test_limits_are_set_as_the_error_says(office: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add = ["add", "../visits.csv", "--name", "more"]
    assert main([*add, "--limit", "columns=2"]) == 2
    assert "--limit columns=N" in capsys.readouterr().err
    assert main([*add, "--limit", "columns=3", "--limit", "rows=60"]) == 0
    assert main(["refresh", "more", "../visits.csv", "--limit", "rows=59"]) == 2
    assert "--limit rows=N" in capsys.readouterr().err
    assert main(["contract", "draft", "../visits.csv", "--limit", "line=5"]) == 2
    assert "--limit line=BYTES" in capsys.readouterr().err
    for wrong in ("columns", "columns=-1", "columns=x", "rows=0", "colums=5"):
        assert main([*add[:-1], "again", "--limit", wrong]) == 2
        assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_a_person_per_period_is_warned_of_when_it_is_put_in_force(
    office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (office.parent / "days.csv").write_text("who,day\na,2020-01-01\nb,2020-01-02\n")
    (office / "days.yaml").write_text(
        "table: days\nunit: {person: who, rows: 1, period: day, date: day}\n"
        "columns: {who: {type: text}, day: {type: date}}\n"
    )
    for words in (["add", "../days.csv", "--contract", "days.yaml"], ["contract", "declare", "days.yaml"],
                  ["contract", "show", "days"]):  # fmt: skip
        assert main(words) == 0
        assert "several days" in capsys.readouterr().err


def test_draft_of_a_file_needs_no_curator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "visits.csv").write_text(VISITS)
    assert main(["contract", "draft", str(tmp_path / "visits.csv")]) == 0
    assert "table: visits" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["assess", "nothing", "--quasi", "age"], 2, "visits"),
        (["assess", "visits", "--quasi", "agge"], 2, "age"),
        (["assess", "visits", "--quasi", ""], 2, "quasi"),
        (["assess", "visits", "--quasi", "age,age"], 2, "twice"),
        (["assess", "visits", "--quasi", "age", "--sensitive", "age"], 2, "age"),
        (["assess", "visits"], 2, "--quasi"),
        (["assess", "visits", "--quasi", "age", "--json", "--csv"], 2, "--json"),
        (["assess", "visits", "--quasi", "age", "--html", "/nowhere/at/all.html"], 2, "all.html"),
        (["add", "missing.csv"], 2, "missing.csv"),
        (["add", "../visits.csv"], 2, "taken"),
        (["add", "../visits.csv", "--name", "9"], 2, "--name"),
        (["add", "../visits.csv", "--name", "v2", "--contract", "no.yaml"], 2, "no.yaml"),
        (["contract", "check", "visits"], 2, "draft"),
        (["contract", "check", "visit.yaml"], 2, "visit.yaml: no such file"),
        (["contract", "check", "visits", "--json", "--csv"], 2, "--json"),
        (["contract", "import", "no.json", "--form", "csvw"], 2, "no.json"),
        (["contract", "import", "../visits.csv", "--form", "xml"], 2, "smartnoise, csvw, croissant"),
        (["contract", "import", "../visits.csv", "--form", "csvw"], 2, "visits.csv"),
        (["verify", "mechanisms", "--json", "--csv"], 2, "--json"),
        (["ledger", "show", "--json", "--csv"], 2, "--json"),
        (["contract", "draft", "../visit.csv"], 2, "file visit.csv: no such file"),
        (["add", "../visits.csv", "--name", "v2", "--encoding", "ebcdic"], 2, "encoding"),
        (["contract", "show", "visitz"], 2, "visits"),
        (["add", "../visits.csv", "--name", "v2", "--header", "--names", "a,b"], 2, "header"),
        (["init", "."], 2, "other files"),
        (["no-such-command"], 2, "no-such-command"),
        (["assess", "visits", "--quasi", "age", "--epsilon", "1"], 2, "--epsilon"),
    ],
)
def test_bad_input_is_one_line(
    office: Path, words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(office.rglob("*"))
    assert main(words) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.strip().splitlines()) == 1
    assert said in shown.err
    assert "Next: " in shown.err
    assert "Traceback" not in shown.err
    assert sorted(office.rglob("*")) == before


def test_own_fault_is_one_line_without_data(
    office: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def burst(*_: object, **__: object) -> None:
        raise RuntimeError("the value 918273645 of p7")

    monkeypatch.setattr("discreet.curator.assess", burst)
    assert main(["assess", "visits", "--quasi", "age"]) == 2
    shown = capsys.readouterr().err
    assert "918273645" not in shown
    assert "RuntimeError" in shown
    assert len(shown.strip().splitlines()) == 1


def test_control_signs_of_a_file_do_not_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_grids([Grid("a\x1b[31m", (GridColumn("b\x1b[2J"),), (("c\x1b]0;x\x07",),), note="d\x1b[0m")])
    assert "\x1b" not in capsys.readouterr().out


def test_demo_prints_where_its_report_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--once", "--folder", str(tmp_path / "demo")]) == 0
    last = capsys.readouterr().out.strip().splitlines()[-1]
    assert Path(last.removeprefix("Report: ")).is_file()


def test_demo_says_what_to_type_where_the_command_is_not_on_the_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["demo", "--folder", str(tmp_path / "demo")]) == 0
    said = capsys.readouterr()
    assert f"Ask on: {sys.executable} -m discreet ask" in said.err
    assert "ε (epsilon) is the price of an answer" in said.out


def test_a_contract_without_a_budget_says_how_to_open_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.csv").write_text("age\n30\n40\n")
    contract = tmp_path / "people.yaml"
    contract.write_text(
        "table: people\npopulation: some people\nunit: row\ncolumns:\n  age: {type: integer, low: 0, high: 100}\n"
    )
    assert main(["init", str(tmp_path / "held")]) == 0
    monkeypatch.chdir(tmp_path / "held")
    assert main(["add", str(tmp_path / "people.csv")]) == 0
    assert main(["contract", "declare", str(contract)]) == 0
    opening = "discreet ledger open population 'some people' --epsilon 3 --reason WHY"
    assert f"Questions need a budget: {opening}" in capsys.readouterr().err
    assert main(["ask", "SELECT COUNT(*) FROM people", "--epsilon", "1"]) == 2
    assert f"Next: {opening}" in capsys.readouterr().err
    assert main([*shlex.split(opening)[1:-1], "why"]) == 0
    assert main(["contract", "declare", str(contract)]) == 0
    assert "need a budget" not in capsys.readouterr().err
    assert main(["ask", "SELECT COUNT(*) FROM people", "--epsilon", "1"]) == 0
