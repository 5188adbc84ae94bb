"""The attack commands: on bundled tables, on releases of a curator, and what they refuse."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from discreet import Curator
from discreet.attacking import Known
from discreet.cli.main import main
from discreet.errors import InputError
from tests.attacks.blocks import BLOCK, EXAMPLES
from tests.attacks.people import Table, adult

A, B = str(EXAMPLES / "hospital_a.csv"), str(EXAMPLES / "hospital_b.csv")
SURVEY = str(EXAMPLES / "student_survey.csv")


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    code = main(["attack", *words, "--json"])
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return json.loads(captured.out)


def written(path: Path, table: Table) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*table.values(), strict=True))
    return path


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Curator:
    """A curator with Adult, and releases and a control beside it as files."""
    people = adult(1200)
    curator = Curator(tmp_path / "office")
    curator.add(written(tmp_path / "people.csv", people.original))
    for name, table in (("copy", people.original), ("strangers", people.strangers), ("control", people.control)):
        written(tmp_path / f"{name}.csv", table)
    monkeypatch.chdir(tmp_path / "office")
    return curator


def test_composition_of_the_hospitals(capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(capsys, "composition", A, B, "--target", "age=28,zip_code=13012", "--secret", "condition")
    assert found["left"] == ["AIDS"]


def test_differencing_on_a_file_exact_suppressed_and_private(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["differencing", SURVEY, "--secret", "worst_grade = 5", "--known", "sex,age"]
    assert shown(capsys, *words)["success"] == 1
    assert shown(capsys, *words, "--least", "30")["refused"] == 14
    private = shown(capsys, *words, "--epsilon", "0.001", "--budget", "0.004")
    assert private["refused"] == 10


def test_detector_reads_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.txt"
    log.write_text("# of one analyst\neveryone\n\nage != 31\n")
    found = shown(capsys, "differencing", SURVEY, "--log", str(log))
    assert found["exposed"] == 1
    assert found["pairs"] == [{"larger": 0, "smaller": 1, "people": 1}]


def test_averaging_costs_the_sum(capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(capsys, "averaging", SURVEY, "--where", "sex = f", "--epsilon", "0.5", "--times", "400")
    assert found["epsilon"] == "200"
    assert found["low"] < found["average"] < found["high"]
    assert abs(found["average"] - 13) < 6 * found["deviation"]


def test_linkage_and_tracing_without_a_release(capsys: pytest.CaptureFixture[str]) -> None:
    plans = {one["known"]: one["right"]["success"] for one in shown(capsys, "linkage")["plans"]}
    assert plans["8 ratings, dates ±3"] > 0.9
    assert shown(capsys, "membership")["found"][2]["success"] > 0.8
    assert shown(capsys, "membership", "--rho", "0.01")["advantage"] < 0.4


def test_all_on_published_tables_needs_no_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Curator(tmp_path / "office")
    monkeypatch.chdir(tmp_path / "office")
    assert shown(capsys, "all", str(BLOCK))["unique"] is True


def test_all_on_files_of_records(office: Curator, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--table", "people", "--control", "../control.csv", "--secret", "income", "--guesses", "150"]
    page = office.folder / "page.html"
    found = {one["name"]: one for one in shown(capsys, "all", "../copy.csv", *words, "--html", str(page))}
    assert found["linkage of copy.csv"]["alone"]["beats_chance"]
    assert found["released records of copy.csv"]["found"]["membership"]["excess"] > 0.9
    assert "released records of copy.csv" in page.read_text()
    safe = {one["name"]: one for one in shown(capsys, "all", "../strangers.csv", *words)}
    assert not safe["linkage of strangers.csv"]["alone"]["beats_chance"]
    assert not any(one["beats_control"] for one in safe["released records of strangers.csv"]["found"].values())


def test_all_on_copies_of_the_curator(office: Curator) -> None:
    """Copies in which every column is drawn anew do not join to their people; the unchanged table does."""
    copies = office.copies("people", method="cart", copies=1, perturb=["age", "occupation", "hours_per_week"])
    known = Known(columns=("age", "occupation", "hours_per_week"))
    attacked = office.attack(copies.release, known=known)
    ((name, finding),) = attacked.findings
    assert name == f"linkage of {copies.release}"
    drawn = finding.as_json()["alone"]
    whole = office.attack(office.folder.parent / "people.csv", table="people", known=known).findings[0][1]
    same = whole.as_json()["alone"]
    assert isinstance(drawn, dict)
    assert isinstance(same, dict)
    assert drawn["success"] < 0.25 * same["success"]
    assert attacked.left_out == (
        f"membership, singling out, linkability and inference of {copies.release}: no control was given",
    )


def test_all_on_protected_tables_of_the_curator(office: Curator) -> None:
    """Classes of ten find nobody by joining; columns left as they are still do, also where rows were left out."""
    keys = ["age", "occupation"]
    step = {"generalize": {"quasi": keys, "k": 10, "method": "mondrian"}}
    known = Known(columns=tuple(keys), secret="income", guesses=600)
    hidden = office.protect("people", [step]).release
    control = office.folder.parent / "control.csv"
    found = dict(office.attack(hidden, control=control, known=known).findings)
    assert set(found) == {f"linkage of {hidden}", f"generalised records of {hidden}"}
    joined = found[f"linkage of {hidden}"].as_json()["alone"]
    assert isinstance(joined, dict)
    assert joined["successes"] == 0
    fewer = office.protect("people", [{"generalize": {"quasi": keys, "k": 3, "limit": 1.0}}], quasi=keys)
    assert fewer.protection.records.rows < 1200
    (name, linked), *_ = office.attack(fewer.release, known=Known(columns=tuple(office_names(office)))).findings
    assert name == f"linkage of {fewer.release}"
    whole = linked.as_json()["alone"]
    assert isinstance(whole, dict)
    assert whole["beats_chance"]
    assert linked.as_json()["wrong"] == 0
    office.refresh("people", office.folder.parent / "strangers.csv")
    left = office.attack(hidden, known=known).left_out
    assert f"linkage of {hidden}: its rows are not those of the table" in left


def test_names_of_groups_are_read_by_their_hierarchy_or_said_to_be_unread(office: Curator, tmp_path: Path) -> None:
    """A group's name hides nothing from an intruder who has the public hierarchy; without it, nobody is told 'safe'."""
    jobs = sorted(set(adult(1200).original["occupation"]), key=str)
    tree = tmp_path / "trees" / "occupation.yaml"
    tree.parent.mkdir()
    tree.write_text(
        json.dumps({"tree": {"upper": [str(job) for job in jobs[:7]], "lower": [str(j) for j in jobs[7:]]}})
    )
    keys = ("occupation", "age", "hours_per_week")
    step = {"generalize": {"quasi": ["occupation"], "k": 50}}
    made = office.protect("people", [step], hierarchies=tree.parent)
    assert set(made.frame["occupation"]) == {"upper", "lower", None}
    known = Known(columns=keys)
    ours = dict(office.attack(made.release, known=known).findings)[f"linkage of {made.release}"].as_json()["alone"]
    office.publish_protected(made.release, tmp_path / "out.csv")
    people = written(tmp_path / "ordered.csv", {name: list(values) for name, values in made.frame.items()})
    unread = office.attack(people, table="people", known=known)
    assert unread.left_out[0] == "column occupation of ordered.csv: it is not known what its groups stand for"
    reading = office.attack(people, table="people", known=Known(columns=keys, hierarchies=tree.parent))
    assert "occupation" not in " ".join(reading.left_out)
    read = dict(reading.findings)["linkage of ordered.csv"].as_json()["alone"]
    assert isinstance(ours, dict)
    assert isinstance(read, dict)
    assert ours["successes"] == pytest.approx(read["successes"], abs=40)
    assert ours["beats_chance"]


def office_names(office: Curator) -> tuple[str, ...]:
    with office.opened("people") as (_, stored):
        return stored.names


def test_two_releases_are_composed(office: Curator) -> None:
    known = Known(columns=("age", "education_num"), secret="income")
    releases = [office.folder.parent / name for name in ("copy.csv", "copy.csv")]
    attacked = office.attack(*releases, table="people", known=known)
    assert "composition" in dict(attacked.findings)


def test_people_see_every_finding_under_its_name(office: Curator, capsys: pytest.CaptureFixture[str]) -> None:
    """All attacks on two releases as text: tables are drawn, and each finding says of which release it is."""
    keys = ["age", "occupation"]
    release = office.protect("people", [{"generalize": {"quasi": keys, "k": 10, "method": "mondrian"}}]).release
    words = ["all", release, "../copy.csv", str(BLOCK), "--control", "../control.csv", "--guesses", "50"]
    assert main(["attack", *words, "--known", ",".join(keys), "--secret", "income", "--table", "people"]) == 0
    text = capsys.readouterr().out
    for name in (f"Linkage of {release}:", "Linkage of copy.csv:", "Composition:", "Reconstruction of block.yaml:"):
        assert name in text
    for title in ("Linkage by joining", "Sensitive values guessed"):
        assert title in text


@pytest.mark.parametrize(
    "words",
    [
        ["reconstruction", str(BLOCK), "--enough"],
        ["linear", "--people", "60"],
        ["differencing", SURVEY, "--secret", "worst_grade = 5", "--known", "sex,age"],
        ["averaging", SURVEY, "--times", "20"],
        ["composition", A, B, "--target", "age=28,zip_code=13012", "--secret", "condition"],
        ["membership"],
    ],
    ids=lambda words: words[0],
)
def test_people_see_what_each_attack_found(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attack", *words]) == 0
    assert "──" in capsys.readouterr().out


def test_a_published_file_is_not_called_safe_for_its_order(office: Curator, tmp_path: Path) -> None:
    """Published records stand in a fresh order. Judged row by row nobody would ever be found in them."""
    made = office.protect("people", [{"top_code": {"column": "age", "bound": 60}}], quasi=["age"]).release
    office.publish_protected(made, tmp_path / "out.csv")
    known = Known(columns=("age", "education_num", "occupation"))
    attacked = office.attack(tmp_path / "out.csv", table="people", known=known)
    assert not attacked.findings
    assert "do not stand in the table's order" in attacked.left_out[0]
    (_, linked), *_ = office.attack(made, known=known).findings
    alone = linked.as_json()["alone"]
    assert isinstance(alone, dict)
    assert alone["beats_chance"]


def test_an_unknown_release_is_answered_with_those_there_are(office: Curator) -> None:
    made = office.protect("people", [{"top_code": {"column": "age", "bound": 60}}], quasi=["age"]).release
    with pytest.raises(InputError, match=f"did you mean {made}"):
        office.attack("people-protected-7")


def test_membership_of_a_file(office: Curator, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["membership", "../copy.csv", "--table", "people", "--control", "../control.csv", "--guesses", "100"]
    names = {one["name"] for one in shown(capsys, *words)}
    assert names == {"linkage of copy.csv", "released records of copy.csv"}


WRONG = {
    "no curator": (["all", "x.csv"], "no curator here"),
    "no file": (["composition", "x.csv", "--target", "a=1", "--secret", "b"], "x.csv"),
    "no target": (["composition", A, "--target", "age", "--secret", "condition"], "--target"),
    "no condition": (["differencing", SURVEY, "--known", "age"], "--secret"),
    "no log": (["differencing", SURVEY, "--log", "absent.txt"], "no readable questions"),
    "no column": (["differencing", SURVEY, "--known", "agee", "--secret", "sex = f"], "did you mean age"),
    "nobody alone": (["differencing", SURVEY, "--known", "sex", "--secret", "age = 21"], "nobody alone"),
    "bad noise": (["linear", "--noise", "pink"], "kind"),
}


@pytest.mark.parametrize(("words", "said"), WRONG.values(), ids=WRONG)
def test_wrong_input_is_one_line(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["attack", *words]) == 2
    line = capsys.readouterr().err.strip()
    assert said in line
    assert len(line.splitlines()) == 1


def test_a_release_without_its_table_is_refused(office: Curator) -> None:
    with pytest.raises(InputError, match="--table"):
        office.attack(office.folder.parent / "copy.csv")
    with pytest.raises(InputError, match="at least one"):
        office.attack()
