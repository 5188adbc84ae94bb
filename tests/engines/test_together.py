"""Several stored files on one engine: the walls hold as for one, and only what the engine names can be read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from sqlglot import exp

from discreet.data.engines import walls
from discreet.data.engines.duckdb import DuckDBEngine
from discreet.data.engines.statement import source
from discreet.data.table import StorageType
from discreet.errors import EngineError, FileError, InputError
from tests.engines.attempts import STOPPED_BY_WALLS, listed
from tests.engines.test_walls import Place

# Such an engine is in memory and empty, and that memory alone can be written to: it is gone with the engine.
_OF_MEMORY = {
    "ATTACH ':memory:' AS scratch",
    "CREATE MACRO one() AS 1",
    "CREATE SCHEMA fresh",
    "CREATE SEQUENCE counted",
    "CREATE TYPE mood AS ENUM ('x')",
}


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    place = Place(tmp_path_factory.mktemp("together"))
    place.engine.close()
    shutil.copy(place.own, place.folder / "two.duckdb")
    place.engine = DuckDBEngine.open_together([place.own, place.folder / "two.duckdb"], seconds=20)
    yield place
    place.engine.close()


@pytest.mark.parametrize(("family", "attempt"), listed(STOPPED_BY_WALLS))
def test_the_walls_stop_it_here_too(together: Place, family: str, attempt: str) -> None:
    before = together.state()
    if attempt not in _OF_MEMORY:
        with pytest.raises((duckdb.Error, RuntimeError, ValueError)):
            together.run(attempt)
    assert together.state() == before
    assert together.run("SELECT count(*), sum(c0) FROM t1.rows") == [(20, 190)]


def test_neither_file_can_be_read_raw_or_written_to(together: Place) -> None:
    for file in ("{own}", "{folder}/two.duckdb"):
        for attempt in (f"SELECT size FROM read_blob('{file}')", f"ATTACH '{file}' AS again"):
            with pytest.raises(duckdb.PermissionException):
                together.run(attempt)
    for attempt in ("INSERT INTO t0.rows VALUES (1, 'x')", "CREATE TABLE t1.fresh (a INT)", "DROP TABLE t0.rows"):
        with pytest.raises(duckdb.InvalidInputException):
            together.run(attempt)
    for attempt in ("SET enable_external_access = true", "SET threads = 1"):
        with pytest.raises(duckdb.Error):
            together.run(attempt)


def test_tables_have_the_names_of_their_stores(together: Place) -> None:
    assert together.engine.describe("t1.rows") == (("c0", StorageType.INTEGER), ("c1", StorageType.TEXT))
    with DuckDBEngine.open(together.own) as alone:
        assert together.engine.fingerprint("t0.rows") == alone.fingerprint("rows")
    both = exp.select(exp.Count(this=exp.Star())).from_(exp.alias_(source("t0.rows"), "a", table=True))
    same = exp.EQ(this=exp.column("c0", "a"), expression=exp.column("c0", "b"))
    assert together.engine.integers(both.join(exp.alias_(source("t1.rows"), "b", table=True), on=same)) == [(20,)]


def test_no_other_name_of_a_table_passes(together: Place) -> None:
    star = exp.Count(this=exp.Star())
    for table in (
        source("rows"),
        source("t2.rows"),
        source("memory.rows"),
        exp.table_("rows", db="main", catalog="t0"),
        exp.Table(this=exp.to_identifier("rows"), db=exp.var("t0")),
        exp.table_("duckdb_tables", db="t0"),
    ):
        with pytest.raises(InputError):
            together.engine.integers(exp.select(star.copy()).from_(table))


def test_what_is_no_store_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(tmp_path)
    place.engine.close()
    with pytest.raises(FileError):
        DuckDBEngine.open_together([place.own, place.other])
    monkeypatch.setattr(walls, "_LAST_WALLS", walls._LAST_WALLS[1:])
    with pytest.raises(EngineError, match="read the raw file"):
        DuckDBEngine.open_together([place.own])
