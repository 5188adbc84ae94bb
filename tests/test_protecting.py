"""A curator protects a table: kept with its plan, published with a note, the table untouched; and the commands."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.accounting.outside import OUTSIDE
from discreet.anonymize.cells import Pattern, suppress_cells
from discreet.cli.main import main
from discreet.errors import DiscreetError

STEPS = [{"generalize": {"quasi": ["age", "sex"], "k": 5, "limit": 0.05}}]
CONTRACT = """
table: visits
unit: {person: patient, rows: 1}
budget: {epsilon: 1}
columns:
  patient: {type: text, role: direct identifier}
  age: {type: integer, low: 0, high: 120, source: codebook}
  sex: {type: category, keys: [f, m], source: codebook}
"""


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> discreet.Curator:
    monkeypatch.chdir(tmp_path)
    rows = [f"p{row},{20 + row * row % 61},{'fm'[row % 2]},{row % 5}" for row in range(300)]
    Path("visits.csv").write_text("patient,age,sex,illness\n" + "\n".join(rows) + "\n")
    Path("visits.yaml").write_text(CONTRACT)
    Path("trees").mkdir()
    Path("trees/age.yaml").write_text("intervals: {low: 0, high: 99, widths: [5, 10, 20]}\n")
    curator = discreet.Curator("clinic")
    curator.add("visits.csv", contract="visits.yaml")
    return curator


def test_the_table_is_never_changed(office: discreet.Curator) -> None:
    before = (office.folder / "tables" / "visits" / "1.duckdb").read_bytes()
    made = office.protect("visits", STEPS, hierarchies="trees")
    assert made.release == "visits-protected-1"
    assert (office.folder / "tables" / "visits" / "1.duckdb").read_bytes() == before
    assert made.effect.after.smallest >= 5 > made.effect.before.smallest
    assert set(made.frame) == {"age", "sex", "illness"}, "the direct identifier stays behind"
    kept = {path.name for path in (office.folder / "releases" / made.release).rglob("*") if path.is_file()}
    assert kept == {"table.parquet", "plan.yaml", "age.csv", "report.json", "rows.json", "record.json"}
    again = office.protect("visits", office.folder / "releases" / made.release / "plan.yaml")
    assert again.release == "visits-protected-2"
    assert again.frame == made.frame


def test_publishing_notes_it_before_a_file_is_written(
    office: discreet.Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = office.protect("visits", STEPS, hierarchies="trees").release
    assert office.ledger.outside("patient") == ()
    population = office.contract("visits")
    assert population is not None
    with pytest.raises(DiscreetError, match="must be one of csv, parquet"):
        office.publish_protected(release, "out.txt")
    with pytest.raises(DiscreetError, match="did you mean"):
        office.publish_protected("visits-protected-9", "out.csv")
    assert not office.ledger.entries(kind=OUTSIDE)
    with pytest.raises(DiscreetError, match="place you may write to"):
        office.publish_protected(release, "absent/out.csv")
    assert len(office.ledger.entries(kind=OUTSIDE)) == 1, "the note stands although nothing was written"
    office.publish_protected(release, "out.csv")
    assert release in office.ledger.outside(population.whose)[0]
    with Path("out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 300
    office.publish_protected(release, "out.parquet")
    assert Path("out.parquet").read_bytes()[:4] == b"PAR1"

    def no_note(*_: object) -> int:
        raise RuntimeError

    monkeypatch.setattr(type(office.ledger), "note", no_note)
    with pytest.raises(RuntimeError):
        office.publish_protected(release, "other.csv")
    assert not Path("other.csv").exists()


def test_published_records_stand_in_another_order(office: discreet.Curator) -> None:
    """The order of a table is often that of names or of a register: what leaves does not keep it."""
    made = office.protect("visits", [{"top_code": {"column": "age", "bound": 75}}], quasi=["age"])
    kept = list(zip(*made.frame.values(), strict=True))
    for name in ("out.csv", "again.csv"):
        office.publish_protected(made.release, name)
    shown = []
    for name in ("out.csv", "again.csv"):
        with Path(name).open() as file:
            shown.append([(int(row["age"]), row["sex"], int(row["illness"])) for row in csv.DictReader(file)])
    assert sorted(shown[0]) == sorted(shown[1]) == sorted(kept)
    assert shown[0] != kept
    assert shown[0] != shown[1]


def test_protect_command(office: discreet.Curator, capsys: pytest.CaptureFixture[str]) -> None:
    base = ["protect", "visits", "--quasi", "age,sex", "--hierarchies", "trees", "--curator", "clinic"]
    for place, method in enumerate(("optimal", "local", "mondrian", "suppress"), start=1):
        assert main([*base, "--k", "5", "--method", method, "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert shown["release"] == f"visits-protected-{place}"
        assert shown["after"]["k"] >= 5
    assert main([*base, "--l", "2", "--sensitive", "illness", "--html", "report.html"]) == 0
    assert Path("report.html").stat().st_mode & 0o077 == 0
    assert capsys.readouterr().out == ""
    assert main([*base]) == 0
    shown_text = capsys.readouterr()
    assert "stood alone" in shown_text.out
    assert "no ε" in shown_text.err
    plan = "clinic/releases/visits-protected-1/plan.yaml"
    assert main(["protect", "visits", "--plan", plan, "--curator", "clinic"]) == 0
    assert main(["publish-protected", "visits-protected-1", "out.csv", "--curator", "clinic"]) == 0
    for wrong in (["--method", "magic"], ["--method", "suppress", "--t", "0.1"], ["--k", "400"]):
        assert main([*base, *wrong]) == 2
    assert main(["protect", "visits", "--curator", "clinic"]) == 2


def test_protect_table_command(office: discreet.Curator, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"{'NSEW'[row % 4]},{'abc'[row % 3]},{1 + row * row % 97}" for row in range(60)]
    rare = ["N,d,90", *(f"{region},d,{size}" for region in "SE" for size in (50, 60, 70, 80))]
    Path("firms.csv").write_text("region,trade,turnover\n" + "\n".join([*lines, *rare]) + "\n")
    base = ["protect-table", "firms.csv", "--rule"]
    assert main([*base, "p:10", "--rule", "threshold:3", "--value", "turnover", "--csv"]) == 0
    shown = capsys.readouterr()
    rows = {(row["region"], row["trade"]): row["value"] for row in csv.DictReader(shown.out.splitlines())}
    assert rows["N", "d"] == ""
    assert int(rows["Total", "Total"]) == sum(int(line.split(",")[2]) for line in [*lines, *rare])
    assert len(rows) == 25
    assert sum(value == "" for value in rows.values()) >= 4
    assert "Audited" in shown.err
    assert main([*base, "nk:1,90", "--value", "turnover", "--by", "region", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 5
    assert main([*base, "threshold:5", "--by", "region,trade"]) == 0
    assert "of 25 cells give somebody away by the rules" in capsys.readouterr().out
    assert main([*base, "q:5"]) == 2
    assert main(["protect-table", "firms.csv", "--round", "5", "--by", "region,trade", "--csv"]) == 0
    shown = capsys.readouterr()
    rounded = {(row["region"], row["trade"]): int(row["value"]) for row in csv.DictReader(shown.out.splitlines())}
    assert all(count % 5 == 0 for count in rounded.values())
    inner = sum(count for (region, trade), count in rounded.items() if "Total" not in (region, trade))
    assert inner == rounded["Total", "Total"]
    assert main(["protect-table", "firms.csv"]) == 2
    assert main([*base, "p:10", "--round", "5"]) == 2


def test_cell_keys_are_the_same_from_file_to_file(office: discreet.Curator, capsys: pytest.CaptureFixture[str]) -> None:
    """Last year's file without one town, in another order: every cell that counts the same people is the same."""
    people = [f"{row},{'NSEW'[row % 4]},{'fm'[row * row % 7 % 2]}" for row in range(400)]
    Path("all.csv").write_text("id,town,sex\n" + "\n".join(people) + "\n")
    some = [one for one in reversed(people) if ",S," not in one]
    Path("some.csv").write_text("id,town,sex\n" + "\n".join(some) + "\n")

    def counts(name: str, *words: str) -> dict[tuple[str, str], int]:
        assert main(["protect-table", name, "--cell-keys", "id", "--csv", "--curator", "clinic", *words]) == 0
        shown = capsys.readouterr()
        assert "many splits" in shown.err
        return {
            (row["town"], row["sex"]): int(row["value"])
            for row in csv.DictReader(shown.out.splitlines())
            if row["town"] != "Total" and row["sex"] != "Total"
        }

    whole, part = counts("all.csv"), counts("some.csv", "--by", "town,sex")
    assert part == {cell: count for cell, count in whole.items() if cell[0] != "S"}
    true = {cell: sum(one.split(",")[1:] == list(cell) for one in people) for cell in whole}
    assert all(abs(count - true[cell]) <= 5 for cell, count in whole.items())
    once = counts("all.csv", "--change", "most=1", "--change", "variance=0.5")
    assert all(abs(count - true[cell]) <= 1 for cell, count in once.items())
    assert once != true
    for wrong in (
        ["--rule", "p:10"],
        ["--value", "town"],
        ["--change", "smal=1"],
        ["--change", "most=1.5"],
        ["--change", "small=9"],
    ):
        assert main(["protect-table", "all.csv", "--cell-keys", "id", "--curator", "clinic", *wrong]) == 2
    assert main(["protect-table", "all.csv", "--rule", "threshold:3", "--change", "most=1"]) == 2
    assert main(["protect-table", "all.csv", "--cell-keys", "name", "--curator", "clinic"]) == 2


def test_a_table_that_is_not_safe_is_not_shown(
    office: discreet.Curator, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: nothing is hidden with the cells that a rule finds. The refusal comes before any figure."""
    Path("few.csv").write_text("town\n" + "a\n" * 2 + "b\n" * 9)

    def primary_alone(*given: Any) -> Pattern:
        pattern = suppress_cells(*given[:2])
        return replace(pattern, hidden=pattern.primary)

    monkeypatch.setattr("discreet.protecting.suppress_cells", lambda *given, **_: primary_alone(*given))
    assert main(["protect-table", "few.csv", "--rule", "threshold:3", "--csv"]) != 0
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "hidden cells can be computed too closely" in shown.err
