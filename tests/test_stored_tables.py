"""Stored tables: found unchanged before they are read, and read within a memory and a time that are declared."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from sqlglot import exp

import discreet
from discreet.budget import population_of
from discreet.cli.main import main
from discreet.errors import ArgumentError, EngineError, FileError, NoResultError, UnknownNameError

PEOPLE = 400_000
CONTRACT = """
table: people
unit: {person: p, rows: 2}
budget: {epsilon: 10}
columns:
  p: {type: integer, role: direct identifier}
  x: {type: integer, low: 0, high: 1000}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose table takes far longer to read than a millisecond."""
    folder = tmp_path_factory.mktemp("office")
    rows = pl.DataFrame({"p": range(PEOPLE)}).with_columns(x=pl.col("p") * 7919 % 1000, y=pl.col("p") * 104729 % 99_991)
    curator = discreet.Curator(folder / "held", heads=tmp_path_factory.getbasetemp() / "heads")
    curator.add(rows, name="people", contract=discreet.Contract.from_yaml(CONTRACT))
    return folder / "held"


def spent(curator: discreet.Curator) -> int:
    agreed = curator.contract("people")
    assert agreed is not None
    return curator.ledger.account(population_of(agreed)).spent.loss


def test_a_question_over_its_time_is_charged_without_a_result(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Security row V11: a real interrupt, in the middle of a real statement."""
    hurried = discreet.Curator(place, seconds=0.001)
    before = spent(hurried)
    with pytest.raises(NoResultError) as caught:
        hurried.sql("SELECT AVG(x) AS mean FROM people", epsilon="0.5").run()
    assert spent(hurried) - before == 500_000_000
    assert "the charge stands" in str(caught.value)
    words = ["ask", "SELECT AVG(x) AS mean FROM people", "--epsilon", "0.5", "--curator", str(place)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_SECONDS", "0.001")
        assert main(words) == 4
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines()[-1] == str(caught.value)
    assert spent(hurried) - before == 1_000_000_000
    assert main(words) == 0, "with the usual time the same question has an answer"


@pytest.mark.parametrize("words", [("assess", "people", "--quasi", "p,x,y"), ("contract", "draft", "people")])
def test_whatever_else_reads_a_table_too_long_ends_in_one_line(
    place: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCREET_SECONDS", "0.001")
    assert main([*words, "--curator", str(place)]) == 4
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "table 'people': the engine gave no result; a statement may take 0.001 s and half of the memory. "
        "Next: allow more by DISCREET_SECONDS or DISCREET_MEMORY, or ask for less at once"
    ]


def test_every_read_has_limits_and_an_argument_goes_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    discreet.Curator(tmp_path / "held").add(pl.DataFrame({"a": [1]}), name="people")

    def limits(curator: discreet.Curator) -> str:
        failing = exp.select(exp.cast(exp.Literal.string("no number"), "INT")).from_("rows")
        with pytest.raises(EngineError) as caught, curator.opened("people") as (engine, _):
            engine.integers(failing)
        return caught.value.right

    assert limits(discreet.Curator(tmp_path / "held")) == "a statement may take 600 s and half of the memory"
    monkeypatch.setenv("DISCREET_SECONDS", "7.5")
    monkeypatch.setenv("DISCREET_MEMORY", "1GB")
    assert limits(discreet.Curator(tmp_path / "held")) == "a statement may take 7.5 s and 1GB of the memory"
    assert limits(discreet.Curator(tmp_path / "held", seconds=9, memory="2GB")).startswith(
        "a statement may take 9 s and 2GB"
    )


@pytest.mark.parametrize(
    ("variable", "said"),
    [("DISCREET_SECONDS", "soon"), ("DISCREET_SECONDS", "0"), ("DISCREET_SECONDS", "-1"), ("DISCREET_MEMORY", "lots")],
)
def test_limits_that_are_none_are_refused_by_name(
    place: Path, variable: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, said)
    with pytest.raises(ArgumentError, match=f"^{variable}: "):
        discreet.Curator(place)
    monkeypatch.delenv(variable)
    for wrong in ({"seconds": 0}, {"seconds": float("nan")}, {"memory": ""}):
        with pytest.raises(ArgumentError, match=f"^{next(iter(wrong))}: "):
            discreet.Curator(place, **wrong)


def test_whoever_asks_is_shown_only_what_can_be_asked(place: Path) -> None:
    """A table without a contract is the keeper's alone; its name is not offered in place of a wrong one."""
    curator = discreet.Curator(place)
    curator.add(pl.DataFrame({"a": [1]}), name="peoples_secrets")
    with pytest.raises(UnknownNameError) as caught:
        curator.sql("SELECT COUNT(*) AS n FROM peoples", epsilon="0.5")
    assert "did you mean people." in str(caught.value)
    with pytest.raises(UnknownNameError, match="there is people") as caught:
        curator.sql("SELECT COUNT(*) AS n FROM other", epsilon="0.5")
    assert "secret" not in str(caught.value)


def test_tables_are_lent_together_and_each_is_looked_at(tmp_path: Path) -> None:
    curator = discreet.Curator(tmp_path / "held")
    for name, values in (("one", [1, 2, 3]), ("two", [4])):
        (tmp_path / f"{name}.csv").write_text("a\n" + "\n".join(map(str, values)) + "\n")
        curator.add(tmp_path / f"{name}.csv")
    with curator.lent(["one", "two"]) as (engine, tables):
        assert [table.name for table in tables.values()] == ["t0.rows", "t1.rows"]
        assert [engine.fingerprint(table.name) for table in tables.values()]
    path = tmp_path / "held" / "tables" / "two" / "1.duckdb"
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(FileError), curator.lent(["one", "two"]):
        pass
