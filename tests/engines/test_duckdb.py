"""What only DuckDB has: files, limits shared in a process, and Arrow without pyarrow."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from discreet.data.engines.duckdb import DuckDBEngine
from discreet.data.engines.walls import connect
from discreet.data.table import StorageType
from discreet.errors import ArgumentError, EngineError, FileError, MissingExtraError, UnknownNameError
from tests.engines.stages import Columns, DuckDBStage, select

_TABLE: Columns = {"c0": ("INTEGER", [1, 2, 3])}
_COUNT = select("SELECT COUNT(*) FROM rows")


class TestOpening:
    def test_what_is_no_stored_table_is_refused_by_name(self, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "text.duckdb").write_text("age,sex\n30,f\n")
        (tmp_path / "empty.duckdb").write_bytes(b"")
        (tmp_path / "cut.duckdb").write_bytes(bytes(8) + b"DUCK" + bytes(8))
        for name in ("missing.duckdb", "folder", "text.duckdb", "empty.duckdb", "cut.duckdb"):
            with pytest.raises(FileError, match=name) as caught:
                DuckDBEngine.open(tmp_path / name)
            assert caught.value.__context__ is None or caught.value.__suppress_context__
            assert "\n" not in str(caught.value)
        assert sorted(os.listdir(tmp_path)) == ["cut.duckdb", "empty.duckdb", "folder", "text.duckdb"]

    @pytest.mark.parametrize(
        "name", ["a'b.duckdb", 'a"b.duckdb', "md:x", "s3:x", "ü space.db", "we[i]rd*.duckdb", "a;b"]
    )
    def test_any_name_of_a_file_will_do(self, duckdb_stage: DuckDBStage, name: str) -> None:
        path = duckdb_stage.store(_TABLE)
        path = path.rename(path.with_name(name))
        with DuckDBEngine.open(path) as engine:
            assert engine.integers(_COUNT) == [(3,)]

    def test_a_question_mark_in_the_path_is_refused_in_its_own_words(self, duckdb_stage: DuckDBStage) -> None:
        path = duckdb_stage.store(_TABLE)
        with pytest.raises(FileError, match="question mark"):
            DuckDBEngine.open(path.rename(path.with_name("x?a=b.duckdb")))

    def test_a_relative_path_and_a_link_will_do(
        self, duckdb_stage: DuckDBStage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = duckdb_stage.store(_TABLE)
        path.with_name("link").symlink_to(path)
        monkeypatch.chdir(path.parent)
        for name in (path.name, "link"):
            with DuckDBEngine.open(Path(name)) as engine:
                assert engine.integers(_COUNT) == [(3,)]

    @pytest.mark.parametrize("memory", ["", "1", "lots", "-1GB", "0GB", "1GB; x", "80%"])
    def test_memory_is_a_size(self, duckdb_stage: DuckDBStage, memory: str) -> None:
        with pytest.raises(ArgumentError, match="memory"):
            duckdb_stage.open(_TABLE, memory=memory)

    def test_half_of_the_machine_is_the_limit_when_none_is_given(self, duckdb_stage: DuckDBStage) -> None:
        """Nothing spills, so a limit made for small machines would refuse large tables on large ones."""
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        with closing(connect(duckdb_stage.store(_TABLE), memory=None, threads=None)) as connection:
            ((limit,),) = connection.execute("SELECT current_setting('memory_limit')").fetchall()
        size, unit = limit.split()
        bytes_ = float(size) * 1024 ** (["bytes", "KiB", "MiB", "GiB", "TiB"].index(unit))
        assert 2**28 < bytes_ <= 0.51 * whole

    def test_threads_and_seconds_are_positive(self, duckdb_stage: DuckDBStage) -> None:
        with pytest.raises(ArgumentError, match="threads"):
            duckdb_stage.open(_TABLE, threads=0)
        for seconds in (0.0, -1.0, float("nan"), float("inf")):
            with pytest.raises(ArgumentError, match="seconds"):
                duckdb_stage.open(_TABLE, seconds=seconds)

    def test_a_column_that_is_not_ours_is_refused(self, duckdb_stage: DuckDBStage) -> None:
        for kind in ("INTEGER[]", "STRUCT(a INTEGER)", "BLOB", "UUID", "TIME"):
            with pytest.raises(FileError, match="column 'c7'"):
                duckdb_stage.open({"c0": ("INTEGER", []), "c7": (kind, [])})
            with duckdb.connect(str(max(duckdb_stage.folder.iterdir()))) as writer:  # nothing holds the file
                writer.execute("INSERT INTO rows VALUES (1, NULL)")

    def test_types_of_the_store_are_known(self, duckdb_stage: DuckDBStage) -> None:
        kinds = {
            "HUGEINT": StorageType.INTEGER,
            "UTINYINT": StorageType.INTEGER,
            "DOUBLE": StorageType.DECIMAL,
            "DECIMAL(18,3)": StorageType.DECIMAL,
            "TIMESTAMP": StorageType.DATETIME,
            "ENUM('a', 'b')": StorageType.TEXT,
        }
        engine = duckdb_stage.open({f"c{place}": (kind, []) for place, kind in enumerate(kinds)})
        assert [storage for _, storage in engine.describe("rows")] == list(kinds.values())


class TestSharing:
    def test_a_file_opens_twice_and_each_closes_alone(self, duckdb_stage: DuckDBStage) -> None:
        path = duckdb_stage.store(_TABLE)
        first, second = DuckDBEngine.open(path), DuckDBEngine.open(path)
        first.close()
        assert second.integers(_COUNT) == [(3,)]
        second.close()

    def test_threads_may_open_the_same_file_at_once(self, duckdb_stage: DuckDBStage) -> None:
        path = duckdb_stage.store(_TABLE)
        start, answers = threading.Barrier(8), []

        def ask() -> None:
            start.wait()
            with DuckDBEngine.open(path) as engine:
                answers.append(engine.integers(_COUNT))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [[(3,)]] * 8

    def test_other_limits_on_an_open_file_are_refused_in_one_line(self, duckdb_stage: DuckDBStage) -> None:
        path = duckdb_stage.store(_TABLE)
        with DuckDBEngine.open(path, threads=1), pytest.raises(FileError, match="other limits"):
            DuckDBEngine.open(path, threads=2)
        with DuckDBEngine.open(path, threads=2) as engine:
            assert engine.integers(_COUNT) == [(3,)]

    def test_a_file_that_another_process_writes_is_refused_in_one_line(self, duckdb_stage: DuckDBStage) -> None:
        path = duckdb_stage.store(_TABLE)
        code = "import sys, duckdb; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
        with subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as other:
            assert other.stdout is not None
            assert other.stdout.readline() == "held\n"
            with pytest.raises(FileError, match="cannot open"):
                DuckDBEngine.open(path)
            other.communicate()
        with DuckDBEngine.open(path) as engine:
            assert engine.integers(_COUNT) == [(3,)]


class TestRunning:
    def test_closing_stops_what_runs_and_harms_nobody(self, duckdb_stage: DuckDBStage) -> None:
        """Without the interrupts this would add up 10^14 rows before it closed."""
        told: list[str] = []

        def ask(engine: DuckDBEngine) -> None:
            try:
                engine.integers(select("SELECT SUM(a.c0 * b.c0 + c.c0 * d.c0) FROM rows a, rows b, rows c, rows d"))
            except EngineError as error:
                told.append(str(error))

        path = duckdb_stage.store({"c0": ("BIGINT", range(3_200))})
        for wait in (0.0, 0.001, 0.003, 0.01, 0.03, 0.1):
            engine = DuckDBEngine.open(path)
            threads = [threading.Thread(target=ask, args=(engine,)) for _ in range(3)]
            for thread in threads:
                thread.start()
            time.sleep(wait)
            engine.close()
            for thread in threads:
                thread.join()
        assert len(told) == 18

    def test_no_thread_is_left_behind(self, duckdb_stage: DuckDBStage) -> None:
        engine = duckdb_stage.open(_TABLE, seconds=30)
        before = threading.active_count()
        for _ in range(50):
            engine.integers(_COUNT)
        for thread in threading.enumerate():
            if thread.name == "deadline":
                thread.join(timeout=10)  # well before the deadline itself
        assert threading.active_count() == before

    def test_the_allow_list_stands_before_the_parser_of_duckdb(self, duckdb_stage: DuckDBStage) -> None:
        """Two statements in one text do not run even beneath the allow-list."""
        engine = duckdb_stage.open(_TABLE)
        with pytest.raises(EngineError):
            engine._run("integers", "SELECT 1; SELECT 2", re.compile(".*"))

    def test_one_huge_value_escapes_the_memory_limit(self, duckdb_stage: DuckDBStage) -> None:
        """Why functions that blow a value up are not on the allow-list: the engine alone would let them."""
        engine = duckdb_stage.open(_TABLE, memory="32MB")
        text = "SELECT length(lpad('x', 100000000, 'y'))"
        assert engine._run("integers", text, re.compile(".*"))[1] == [(100_000_000,)]
        with pytest.raises(ArgumentError):
            engine.integers(select(text))

    def test_without_pyarrow_a_stream_names_the_extra(
        self, duckdb_stage: DuckDBStage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        engine = duckdb_stage.open(_TABLE)
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(MissingExtraError, match=r"discreet\[files\]"):
            engine.stream(select("SELECT c0 FROM rows"))
        assert engine.integers(_COUNT) == [(3,)]

    def test_opening_leaves_no_trace_in_the_folder(self, duckdb_stage: DuckDBStage) -> None:
        path = duckdb_stage.store(_TABLE)
        before = {item.name: item.read_bytes() for item in path.parent.iterdir()}
        with DuckDBEngine.open(path) as engine:
            engine.fingerprint("rows")
            list(engine.stream(select("SELECT c0 FROM rows")))
        assert {item.name: item.read_bytes() for item in path.parent.iterdir()} == before

    def test_a_view_in_the_file_is_no_table(self, duckdb_stage: DuckDBStage) -> None:
        path = duckdb_stage.store(_TABLE)
        with duckdb.connect(str(path)) as writer:
            writer.execute("CREATE VIEW seen AS SELECT * FROM rows")
        with DuckDBEngine.open(path) as engine, pytest.raises(UnknownNameError):
            engine.describe("seen")
