"""The stored file: whole or not there, its owner's only, self-describing, exact in its steps."""

from __future__ import annotations

import math
import os
import signal
import stat
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.frame import FrameKind
from discreet.data.load import load
from discreet.data.steps import LARGEST_STEPS, steps_of
from discreet.data.store import StoreDraft, add_steps, describe_store, open_store
from discreet.data.table import StorageType
from discreet.errors import ArgumentError, FileError, UnknownNameError

CENT = Fraction(1, 100)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    path.write_text("age,cost,town,day\n41,12.345,A,2020-01-01\n-7,nan,B,\n,-inf,,2021-05-06\n90,1e300,A,2020-01-01\n")
    return path


def twin(value: Any, step: Fraction) -> int | None:
    """The declared twin, by exact fractions for integers and Python's own floats for decimals."""
    if value is None or math.isnan(value):
        return None
    if isinstance(value, int):
        return max(-LARGEST_STEPS, min(LARGEST_STEPS, round(Fraction(value) / step)))
    scaled = value * step.denominator / step.numerator
    rounded: int = round(max(-float(LARGEST_STEPS), min(float(LARGEST_STEPS), scaled)))
    return rounded


STEPS = st.sampled_from([Fraction(1), CENT, Fraction(5), Fraction(3, 7), Fraction(1, 3), Fraction(2), Fraction(1000)])

EIGHTHS = st.integers(-400, 400).map(lambda count: count / 8)


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(-50, 50), min_size=1), STEPS)
def test_twins_of_integers_are_exact(values: list[int | None], step: Fraction) -> None:
    sql = steps_of("v", StorageType.INTEGER, step)
    found = duckdb.execute(f"SELECT {sql} FROM (SELECT unnest($1::BIGINT[]) AS v)", [values]).fetchall()
    assert [row for (row,) in found] == [twin(value, step) for value in values]


@given(
    st.lists(st.none() | st.floats() | st.floats(-100, 100) | st.integers(-400, 400).map(lambda n: n / 8), min_size=1),
    STEPS,
)
def test_twins_of_decimals_are_total_and_rounded_half_to_even(values: list[float | None], step: Fraction) -> None:
    sql = steps_of("v", StorageType.DECIMAL, step)
    found = duckdb.execute(f"SELECT {sql} FROM (SELECT unnest($1::DOUBLE[]) AS v)", [values]).fetchall()
    assert [row for (row,) in found] == [twin(value, step) for value in values]


@given(st.integers(-(2**53) + 1, 2**53 - 1), st.sampled_from([CENT, Fraction(1, 8), Fraction(1)]))
def test_a_value_on_the_grid_has_its_own_number_of_steps(count: int, step: Fraction) -> None:
    count //= step.denominator
    value = float(Fraction(count) * step)
    sql = steps_of("v", StorageType.DECIMAL, step)
    assert duckdb.execute(f"SELECT {sql} FROM (SELECT $1::DOUBLE AS v)", [value]).fetchall() == [(count,)]


def test_a_store_describes_itself(source: Path, tmp_path: Path) -> None:
    into = tmp_path / "store.duckdb"
    table = load(source, into, steps={"cost": CENT, "age": Fraction(1)})
    facts = describe_store(into)
    assert open_store(into) == facts.table == table
    assert table.names == ("age", "cost", "town", "day")
    assert [column.physical for column in table.columns] == ["c0", "c1", "c2", "c3"]
    assert [column.steps for column in table.columns] == ["s0", "s1", None, None]
    assert facts.steps == {"cost": CENT, "age": Fraction(1)}
    assert facts.kind is FrameKind.PLAIN
    with duckdb.connect(str(into), read_only=True) as connection:
        rows = connection.execute("SELECT s0, s1 FROM rows").fetchall()
    assert rows == [(41, 1234), (-7, None), (None, -LARGEST_STEPS), (90, LARGEST_STEPS)]


def test_other_steps_make_another_file(source: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "1.duckdb", tmp_path / "2.duckdb"
    load(source, first, steps={"cost": CENT})
    before = first.read_bytes()
    table = add_steps(first, second, {"age": Fraction(5)})
    assert first.read_bytes() == before
    assert describe_store(second).steps == {"age": Fraction(5)}
    assert table == open_store(second)
    with duckdb.connect(str(second), read_only=True) as connection:
        assert connection.execute("SELECT c0, s0 FROM rows").fetchall() == [(41, 8), (-7, -1), (None, None), (90, 18)]
        assert len(connection.execute("DESCRIBE rows").fetchall()) == 5


@pytest.mark.parametrize(
    ("steps", "kind", "words"),
    [
        ({"cots": CENT}, UnknownNameError, "did you mean cost"),
        ({"town": CENT}, ArgumentError, "integers and decimals"),
        ({"day": Fraction(1)}, ArgumentError, "a column of date"),
        ({"cost": Fraction(0)}, ArgumentError, "above 0"),
        ({"cost": Fraction(1, 2**60)}, ArgumentError, "below 2"),
    ],
)
def test_wrong_steps_are_refused(
    source: Path, tmp_path: Path, steps: dict[str, Fraction], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind, match=words):
        load(source, tmp_path / "store.duckdb", steps=steps)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["visits.csv"]


def test_the_file_is_its_owners_and_nothing_else_is_left(source: Path, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        load(source, tmp_path / "store.duckdb")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "store.duckdb").stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store.duckdb", "visits.csv"]


def test_nothing_is_written_over(source: Path, tmp_path: Path) -> None:
    into = tmp_path / "store.duckdb"
    into.write_text("mine")
    with pytest.raises(FileError, match="never written over"):
        load(source, into)
    into.unlink()
    with StoreDraft(into) as draft:
        draft.connect(1)
        into.write_text("came in between")
        with pytest.raises(FileError, match="never written over"):
            draft.publish()
    assert into.read_text() == "came in between"


@pytest.mark.parametrize("name", ["absent/store.duckdb", "what?.duckdb"])
def test_places_that_cannot_hold_a_store_are_refused(source: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError):
        load(source, tmp_path / name)


def test_glob_signs_in_the_place_are_plain(source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a[1]*'b"
    folder.mkdir()
    assert load(source, folder / "store.duckdb").names[0] == "age"
    assert [path.name for path in folder.iterdir()] == ["store.duckdb"]


def test_a_killed_import_leaves_nothing_visible_and_the_next_one_sweeps(source: Path, tmp_path: Path) -> None:
    into = tmp_path / "store.duckdb"
    script = (
        "import os, signal, sys; from pathlib import Path; from discreet.data.load import load\n"
        "load(sys.argv[1], Path(sys.argv[2]), progress=lambda phase: "
        "os.kill(os.getpid(), signal.SIGKILL) if phase == 'publishing' else None)"
    )
    ran = subprocess.run([sys.executable, "-c", script, str(source), str(into)], check=False)
    assert ran.returncode == -signal.SIGKILL
    left = [path for path in tmp_path.iterdir() if path != source]
    assert [path.name.startswith(".store.duckdb.") for path in left] == [True]
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o700 for path in left)
    load(source, into)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store.duckdb", "visits.csv"]


def test_a_draft_in_use_is_not_swept(source: Path, tmp_path: Path) -> None:
    into = tmp_path / "store.duckdb"
    with StoreDraft(into) as draft:
        load(source, into)
        assert draft.folder.is_dir()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store.duckdb", "visits.csv"]


@pytest.mark.parametrize("data", [b"", b"not a database", b"\0" * 8 + b"DUCK" + b"\0" * 9000])
def test_a_foreign_file_is_no_store(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "foreign.duckdb"
    path.write_bytes(data)
    with pytest.raises(FileError, match="no stored table"):
        open_store(path)
    with pytest.raises(FileError, match="no such file"):
        open_store(tmp_path / "absent.duckdb")


def test_a_description_is_that_of_the_file_that_is_there_now(source: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "1.duckdb", tmp_path / "2.duckdb"
    load(source, first)
    load(source, second, steps={"cost": CENT})
    assert describe_store(first).steps == {}
    os.replace(second, first)
    assert describe_store(first).steps == {"cost": CENT}
    first.write_bytes(b"")
    with pytest.raises(FileError, match="no stored table"):
        describe_store(first)


def test_a_database_of_others_is_no_store(tmp_path: Path) -> None:
    path = tmp_path / "other.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE rows AS SELECT 1 AS c0")
    with pytest.raises(FileError, match="no stored table"):
        open_store(path)


def test_a_draft_reaches_nothing_outside_its_folder(source: Path, tmp_path: Path) -> None:
    with StoreDraft(tmp_path / "store.duckdb") as draft:
        connection = draft.connect(1)
        for attempt in (
            f"SELECT * FROM read_text('{source}')",
            f"COPY (SELECT 1) TO '{tmp_path / 'out.csv'}'",
            f"ATTACH '{tmp_path / 'other.duckdb'}'",
            "INSTALL httpfs",
            "SET enable_external_access = true",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(attempt)
