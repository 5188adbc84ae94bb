"""The curator: tables come in whole or not at all, changes on disk are noticed, and contracts bind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import discreet
from discreet.data.load import ReadOptions
from discreet.data.store import describe_store
from discreet.demonstration import census_excerpt, demonstrate
from discreet.errors import ArgumentError, ContractError, FileError, FolderError, InputError, UnknownNameError

VISITS = "patient_id,age,region,cost\np1,34,north,120.50\np1,35,north,80.00\np2,61,south,15.25\np3,29,east,\n"
CONTRACT = """
table: visits
unit: {person: patient_id, rows: 1, groups: 1}
columns:
  patient_id: {type: text, role: direct identifier}
  age: {type: integer, low: 0, high: 60}
  region: {type: category, keys: [north, south, west]}
  cost: {type: decimal, step: 0.01, low: 0, high: 20000}
"""


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    path.write_text(VISITS)
    return path


@pytest.fixture
def curator(tmp_path: Path, visits: Path) -> discreet.Curator:
    made = discreet.Curator(tmp_path / "clinic")
    made.add(visits)
    return made


def test_table_is_named_after_its_file(curator: discreet.Curator) -> None:
    assert curator.tables == ("visits",)
    assert curator.columns("visits").names == ("patient_id", "age", "region", "cost")
    assert curator.record("visits").version == 1


@pytest.mark.parametrize("name", ["2019", "a-b", "", "x" * 64, "drop table", "ä"])
def test_names_that_are_none_are_refused(curator: discreet.Curator, visits: Path, name: str) -> None:
    with pytest.raises(ArgumentError, match="--name"):
        curator.add(visits, name=name)


@pytest.mark.parametrize("name", ["visits", "VISITS"])
def test_name_is_taken_once_in_whatever_case(curator: discreet.Curator, visits: Path, name: str) -> None:
    """On some systems VISITS and visits are one folder, and in SQL they are one table."""
    with pytest.raises(ArgumentError, match="taken"):
        curator.add(visits, name=name)
    assert curator.assess("visits", ["age"]).classes.records == 4


def test_what_a_killed_import_left_stands_in_nobodys_way(curator: discreet.Curator, visits: Path) -> None:
    tables = curator.folder / "tables"
    for half in ("again", "other"):
        (tables / half / ".1.duckdb.x.part").mkdir(parents=True)
        (tables / half / ".1.duckdb.x.part" / "source").write_text("secret")
    (tables / "again" / "1.duckdb").write_text("published, and not yet recorded")
    curator.add(visits, name="again")
    assert curator.assess("again", ["age"]).classes.records == 4
    assert not list(tables.glob("*/.*")), "a copy of the source stayed"


def test_declaring_goes_on_where_a_crash_left_it(curator: discreet.Curator, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dead before the record names the new file, or before the contract is written: the next declaration mends it."""
    fine = discreet.Contract.from_yaml(CONTRACT)
    coarse = discreet.Contract.from_yaml(CONTRACT.replace("step: 0.01", "step: 1"))
    curator.declare(fine)
    for verb in ("_record", "_put_in_force"):
        with monkeypatch.context() as crash:
            crash.setattr(discreet.Curator, verb, lambda *_, **__: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                curator.declare(coarse)
        curator.declare(fine)
        record = curator.record("visits")
        assert describe_store(curator.folder / "tables" / "visits" / record.file).steps == fine.steps()
    assert len(list(curator.folder.glob("tables/visits/*.duckdb"))) == 1


def test_contract_of_another_type_is_not_put_in_force(curator: discreet.Curator) -> None:
    wrong = discreet.Contract.from_yaml(
        CONTRACT.replace("{type: category, keys: [north, south, west]}", "{type: date}")
    )
    with pytest.raises(ContractError, match=r"column 'region': the type date, while the table keeps it as text"):
        curator.declare(wrong)
    assert curator.contract("visits") is None


@pytest.mark.parametrize("name", ["2019 visits.v2.csv", "a-b.csv", "ä.csv", "x" * 90 + ".csv"])
def test_draft_of_a_file_takes_any_name(visits: Path, name: str) -> None:
    assert discreet.Curator.draft_of(visits.rename(visits.with_name(name))).columns


def test_failed_import_leaves_nothing(curator: discreet.Curator, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1\n")
    before = sorted(path for path in curator.folder.rglob("*"))
    with pytest.raises(FileError, match=r"bad\.csv"):
        curator.add(bad)
    other = tmp_path / "other.yaml"
    for wrong, said in ((("cost:", "price:"), "price"), (("table: again", "table: visits"), "--name visits")):
        other.write_text(CONTRACT.replace("table: visits", "table: again").replace(*wrong))
        with pytest.raises(InputError, match=said):
            curator.add(tmp_path / "visits.csv", name="again", contract=other)
    assert sorted(path for path in curator.folder.rglob("*")) == before


def test_unknown_table_and_column_name_what_there_is(curator: discreet.Curator) -> None:
    with pytest.raises(UnknownNameError, match="there is visits"):
        curator.assess("visit", ["age"])
    with pytest.raises(UnknownNameError, match="age"):
        curator.assess("visits", ["agee"])


def test_changed_store_is_refused(curator: discreet.Curator) -> None:
    """One flipped byte anywhere in the stored table: nothing is computed from it, in this process or a new one."""
    assert curator.assess("visits", ["age"]).classes.records == 4
    store = curator.folder / "tables" / "visits" / "1.duckdb"
    content = bytearray(store.read_bytes())
    content[len(content) // 2] ^= 1
    store.chmod(0o600)
    store.write_bytes(content)
    for held in (curator, discreet.Curator(curator.folder)):
        with pytest.raises(FileError, match="changed"):
            held.assess("visits", ["age"])


def test_changed_source_is_noticed_and_not_used(curator: discreet.Curator, visits: Path) -> None:
    assert not curator.source_changed("visits")
    visits.write_text(VISITS + "p4,50,west,1.00\n")
    assert curator.source_changed("visits")
    assert curator.assess("visits", ["age"]).classes.records == 4


def test_contract_is_put_in_force_and_lays_steps_anew(curator: discreet.Curator, tmp_path: Path) -> None:
    path = tmp_path / "visits.yaml"
    path.write_text(CONTRACT)
    assert curator.contract("visits") is None
    with pytest.raises(ContractError, match="draft"):
        curator.check_contract("visits")
    agreed = curator.declare(path)
    assert curator.contract("visits") == agreed
    assert {column.name for column in curator.columns("visits").columns if column.steps} == {"age", "cost"}
    assert curator.record("visits").version == 1, "the content did not change"
    fit = curator.check_contract("visits")
    assert fit.problems
    assert curator.assess("visits", ["age"]).classes.records == 4


def test_each_version_has_a_random_name(curator: discreet.Curator, visits: Path, tmp_path: Path) -> None:
    """Nothing of the content is in it: the same file under another roof has another; one version keeps its own."""
    first = curator.record("visits").version_id
    agreed = curator.declare(discreet.Contract.from_yaml(CONTRACT))
    assert agreed.steps(), "the file was laid down anew"
    assert curator.record("visits").version_id == discreet.Curator(curator.folder).record("visits").version_id == first
    names = [first, curator.refresh("visits", visits).version_id, curator.forget("visits", "nobody").version_id]
    names.append(discreet.Curator(tmp_path / "elsewhere").add(visits).version_id)
    assert len(set(names)) == 4
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in names)


@pytest.mark.parametrize(("rows", "groups"), [(1, 1), (5, 1), (5, 3), (5, 5)])
def test_limits_of_a_person_come_back_as_declared(curator: discreet.Curator, rows: int, groups: int) -> None:
    limits = f"rows: {rows}, groups: {groups}"
    agreed = discreet.Contract.from_yaml(CONTRACT.replace("rows: 1, groups: 1", limits))
    curator.declare(agreed)
    kept = curator.contract("visits")
    assert kept == agreed
    assert kept is not None
    assert (kept.unit.rows, kept.unit.groups) == (rows, groups)


def test_draft_is_no_declaration(curator: discreet.Curator, visits: Path) -> None:
    for proposal in (curator.draft_contract("visits"), discreet.Curator.draft_of(visits)):
        assert proposal.drafted
        with pytest.raises(ContractError, match="draft"):
            proposal.require_declared()


@pytest.mark.requirement("1.02")
def test_direct_identifiers_are_marked_and_never_released(curator: discreet.Curator, tmp_path: Path) -> None:
    path = tmp_path / "visits.yaml"
    path.write_text(CONTRACT)
    assert curator.declare(path).released == ("age", "region", "cost")


def test_two_processes_may_open_one_folder(curator: discreet.Curator) -> None:
    code = "import sys, discreet; print(discreet.Curator(sys.argv[1]).assess('visits', ['age']).classes.records)"
    curator.assess("visits", ["age"])
    other = subprocess.run(
        [sys.executable, "-c", code, str(curator.folder)], capture_output=True, text=True, check=True
    )
    assert other.stdout.strip() == "4"


def test_frames_come_in_too(curator: discreet.Curator) -> None:
    polars = pytest.importorskip("polars")
    curator.add(polars.DataFrame({"a": [1, 2, 2], "b": ["x", "y", "y"]}), name="small")
    assert curator.assess("small", ["a", "b"]).classes.unique == 1
    assert not curator.source_changed("small")


def test_census_excerpt_ships_with_its_contract(tmp_path: Path) -> None:
    curator = discreet.Curator(tmp_path / "office")
    contract = Path(str(census_excerpt())).with_name("census.yaml")
    curator.add(census_excerpt(), name="census", contract=contract, options=ReadOptions(nulls=("N",)))
    fit = curator.check_contract("census")
    assert fit.rows == 27_253
    assert not fit.problems


def test_demonstration_is_whole_and_repeatable(tmp_path: Path) -> None:
    first = demonstrate(tmp_path / "demo")
    heads = list(Path(os.environ["DISCREET_HEADS"]).glob("*.json"))
    again = demonstrate(tmp_path / "demo")
    assert len(heads) == len(list(Path(os.environ["DISCREET_HEADS"]).glob("*.json")))  # none is left behind
    told = [sentence for sentence in first.sentences if not sentence.startswith("Answered")]
    assert told == [sentence for sentence in again.sentences if not sentence.startswith("Answered")]
    assert first.report == again.report
    page = again.report.read_text()
    assert "Asked in SQL" in page
    asked_on = discreet.Curator.open(tmp_path / "demo" / "office").sql("SELECT COUNT(*) AS n FROM census", epsilon=1)
    (people,) = asked_on.run().columns[0].values
    assert isinstance(people, int)
    assert 27_000 < people < 27_500
    assert "88.1" in page
    assert "broken four ways" in page
    assert any("broken in 4 of 4 ways" in sentence for sentence in again.sentences)
    assert any("Better than guessing: none" in sentence for sentence in again.sentences)
    assert not re.findall(r"https?://(?!www\.w3\.org)", page)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis").write_text("x")
    with pytest.raises(FolderError, match="--folder"):
        demonstrate(tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis").exists()
    (tmp_path / "demo" / "notes").write_text("of the reader")
    demonstrate(tmp_path / "demo")
    assert (tmp_path / "demo" / "notes").exists()
    (tmp_path / "file").write_text("x")
    with pytest.raises(FolderError, match="not a directory"):
        demonstrate(tmp_path / "file")
