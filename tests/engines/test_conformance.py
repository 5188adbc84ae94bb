"""What every engine must do, whichever it is."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.data.engines.base import Engine
from discreet.data.table import StorageType
from discreet.errors import ArgumentError, EngineError, UnknownNameError
from tests.engines.stages import Columns, Stage, select

_LARGEST = 2**63 - 1
_PEOPLE: Columns = {
    "c0": ("INTEGER", [30, None, 41, 30]),
    "c1": ("VARCHAR", ["north", "south", None, "north"]),
    "c2": ("DECIMAL(10,2)", [Decimal("1.50"), Decimal("2.25"), None, Decimal("-7.00")]),
    "c3": ("BOOLEAN", [True, False, None, True]),
    "s2": ("BIGINT", [150, 225, None, -700]),
}
_FOREVER = "SELECT SUM(a.c0 * b.c0 + c.c0 * d.c0) FROM rows AS a, rows AS b, rows AS c, rows AS d"


class TestDescribe:
    def test_names_the_columns_in_order_and_how_they_are_kept(self, stage: Stage) -> None:
        engine = stage.open({**_PEOPLE, "c4": ("DATE", [None] * 4), "c5": ("TIMESTAMP", [None] * 4)})
        assert engine.describe("rows") == (
            ("c0", StorageType.INTEGER),
            ("c1", StorageType.TEXT),
            ("c2", StorageType.DECIMAL),
            ("c3", StorageType.BOOLEAN),
            ("s2", StorageType.INTEGER),
            ("c4", StorageType.DATE),
            ("c5", StorageType.DATETIME),
        )

    @pytest.mark.parametrize("table", ["nothing", "ROWS2", "", "duckdb_settings", "rows; DROP TABLE rows"])
    def test_an_unknown_table_is_named_before_anything_runs(self, stage: Stage, table: str) -> None:
        engine = stage.open(_PEOPLE)
        for verb in (engine.describe, engine.fingerprint):
            with pytest.raises(UnknownNameError):
                verb(table)
        with pytest.raises(UnknownNameError):
            engine.integers(select("SELECT COUNT(*) FROM elsewhere"))


class TestIntegers:
    def test_sums_go_beyond_64_bits_exactly(self, stage: Stage) -> None:
        engine = stage.open({"s0": ("BIGINT", [_LARGEST] * 3), "s1": ("BIGINT", [-_LARGEST - 1] * 3)})
        assert engine.integers(select("SELECT SUM(s0), SUM(s1), SUM(s0) + SUM(s1) FROM rows")) == [
            (3 * _LARGEST, -3 * 2**63, -3)
        ]

    def test_booleans_and_decimals_without_places_are_integers(self, stage: Stage) -> None:
        large = 10**37 + 1
        engine = stage.open(
            {"c0": ("BOOLEAN", [True, False, None]), "c1": ("DECIMAL(38,0)", [Decimal(large), Decimal(-large), None])}
        )
        rows = engine.integers(select("SELECT c0, c1 FROM rows ORDER BY c1 DESC NULLS LAST"))
        assert rows == [(1, large), (0, -large), (None, None)]
        assert all(type(value) in (int, type(None)) for row in rows for value in row)

    @pytest.mark.parametrize(
        "column", ["CAST(c0 AS DOUBLE)", "CAST(c0 AS FLOAT)", "c2", "c1", "AVG(c0)", "CAST('2024-02-29' AS DATE)"]
    )
    @pytest.mark.parametrize("rows", ["", " WHERE c0 > 1000"])
    def test_another_type_is_refused_whatever_the_rows(self, stage: Stage, column: str, rows: str) -> None:
        grouped = " GROUP BY c0, c1, c2" if column != "AVG(c0)" else ""
        with pytest.raises(ArgumentError, match="column 2 is of the type"):
            stage.open(_PEOPLE).integers(select(f"SELECT COUNT(*), {column} FROM rows{rows}{grouped}"))

    def test_nulls_are_skipped_by_aggregates_and_are_one_group(self, stage: Stage) -> None:
        engine = stage.open(_PEOPLE)
        assert engine.integers(select("SELECT COUNT(*), COUNT(c0), SUM(c0), COUNT(DISTINCT c1) FROM rows")) == [
            (4, 3, 101, 2)
        ]
        assert engine.integers(select("SELECT COUNT(*) FROM rows GROUP BY c1 ORDER BY 1")) == [(1,), (1,), (2,)]
        assert engine.integers(select("SELECT SUM(c0), COUNT(*) FROM rows WHERE c0 > 99")) == [(None, 0)]

    def test_an_empty_table_answers(self, stage: Stage) -> None:
        engine = stage.open({"s0": ("BIGINT", [])})
        assert engine.integers(select("SELECT COUNT(*), SUM(s0) FROM rows")) == [(0, None)]
        assert engine.integers(select("SELECT s0, COUNT(*) FROM rows GROUP BY s0")) == []

    @pytest.mark.parametrize("threads", [1, 2, 4])
    def test_sums_do_not_depend_on_order_threads_or_partitions(self, stage: Stage, threads: int) -> None:
        """Security row S5: twenty orders, three thread counts, up to 64 partitions, one value."""
        draw = random.Random(5)
        values = [draw.randrange(-(2**62), 2**62) for _ in range(3_000)] + [_LARGEST, -_LARGEST] * 500
        keys = list(range(len(values)))
        exact, floats = set(), set()
        for _ in range(20):
            order = draw.sample(keys, k=len(keys))
            engine = stage.open(
                {"k": ("INTEGER", order), "s0": ("BIGINT", [values[key] for key in order])}, threads=threads
            )
            parts = engine.integers(select(f"SELECT SUM(s0) FROM rows GROUP BY k % {draw.randint(1, 64)}"))
            exact |= {engine.integers(select("SELECT SUM(s0) FROM rows"))[0][0], sum(part or 0 for (part,) in parts)}
            double = select("SELECT CAST(SUM(CAST(s0 AS DOUBLE)) AS VARCHAR) FROM rows")
            floats |= set(engine.texts(double).reveal(to="keeper"))
            engine.close()
        assert exact == {sum(values)}
        assert len(floats) > 1, "these tables would not show an order-dependent sum"


class TestTexts:
    def test_are_confidential_and_exact(self, stage: Stage) -> None:
        engine = stage.open({"c0": ("VARCHAR", ["", "Ἀθῆναι", "a'b\"c\n", None])})
        texts = engine.texts(select("SELECT c0 FROM rows"))
        assert "Ἀθῆναι" not in repr(texts)
        assert texts.reveal(to="keeper") == [("",), ("Ἀθῆναι",), ("a'b\"c\n",), (None,)]

    def test_refuse_other_types(self, stage: Stage) -> None:
        with pytest.raises(ArgumentError, match="column 1 is of the type INTEGER"):
            stage.open(_PEOPLE).texts(select("SELECT c0 FROM rows"))


class TestStream:
    def test_batches_hold_the_rows_in_order(self, stage: Stage) -> None:
        size = 200_000
        engine = stage.open({"c0": ("INTEGER", range(size))})
        for _ in range(2):
            batches = list(engine.stream(select("SELECT c0, CAST(c0 AS VARCHAR) AS t FROM rows"), batch_rows=9_999))
            tables = [pyarrow.table(batch) for batch in batches]
            assert max(table.num_rows for table in tables) == 9_999
            whole = pyarrow.concat_tables(tables)
            assert whole["c0"].to_pylist() == list(range(size))
            assert whole["t"][-1].as_py() == str(size - 1)

    def test_other_verbs_run_while_a_stream_is_open(self, stage: Stage) -> None:
        engine = stage.open({"c0": ("INTEGER", range(10_000))})
        batches = engine.stream(select("SELECT c0 FROM rows"), batch_rows=10)
        next(batches)
        assert engine.integers(select("SELECT COUNT(*) FROM rows")) == [(10_000,)]
        assert sum(pyarrow.table(batch).num_rows for batch in batches) == 9_990

    def test_nothing_flows_after_the_engine_is_closed(self, stage: Stage) -> None:
        engine = stage.open({"c0": ("INTEGER", range(10_000))})
        batches = engine.stream(select("SELECT c0 FROM rows"), batch_rows=10)
        next(batches)
        engine.close()
        with pytest.raises(EngineError, match="closed"):
            list(batches)

    def test_wrong_arguments_are_refused_at_the_call(self, stage: Stage) -> None:
        engine = stage.open(_PEOPLE)
        with pytest.raises(ArgumentError, match="batch_rows"):
            engine.stream(select("SELECT c0 FROM rows"), batch_rows=0)
        with pytest.raises(UnknownNameError):
            engine.stream(select("SELECT c0 FROM elsewhere"))


_ROW = st.tuples(
    st.none() | st.integers(-3, 3), st.none() | st.sampled_from(["", "a", "b", "a "]), st.none() | st.booleans()
)


def _small(rows: list[tuple[Any, ...]], *, second: str = "c1") -> Columns:
    kinds = {"c0": "BIGINT", second: "VARCHAR", "c2": "BOOLEAN"}
    return {name: (kind, [row[place] for row in rows]) for place, (name, kind) in enumerate(kinds.items())}


class TestFingerprint:
    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(rows=st.lists(_ROW, min_size=1, max_size=6), data=st.data())
    def test_tells_tables_apart_just_when_their_rows_differ(
        self, stage: Stage, rows: list[tuple[Any, ...]], data: st.DataObject
    ) -> None:
        shuffled = data.draw(st.permutations(rows))
        row, column = data.draw(st.integers(0, len(rows) - 1)), data.draw(st.integers(0, 2))
        changed = [list(values) for values in rows]
        changed[row][column] = data.draw(_ROW.filter(lambda new: new[column] != rows[row][column]))[column]
        tables = (_small(rows), _small(shuffled), _small([tuple(values) for values in changed]))
        first, second, third = (self._fingerprint(stage, table) for table in tables)
        assert first == second
        assert first != third
        assert 0 <= first < 2**64

    def test_counts_equal_rows_and_sees_names_and_types(self, stage: Stage) -> None:
        rows = [(1, "a", True), (2, "b", None)]
        tables = [
            _small([]),
            _small(rows),
            _small(rows * 2),
            _small(rows * 3),
            _small([*rows, rows[0]]),
            _small([(1, "b", True), (2, "a", None)]),
            _small(rows, second="c9"),
            {**_small(rows), "c0": ("DECIMAL(9,0)", [1, 2])},
        ]
        assert len({self._fingerprint(stage, table) for table in tables}) == len(tables)

    @pytest.mark.parametrize("threads", [1, 2, 4])
    def test_does_not_depend_on_threads(self, stage: Stage, threads: int) -> None:
        columns: Columns = {"c0": ("INTEGER", range(300_000)), "c1": ("VARCHAR", [str(n) for n in range(300_000)])}
        backwards: Columns = {name: (kind, values[::-1]) for name, (kind, values) in columns.items()}
        assert stage.open(columns, threads=threads).fingerprint("rows") == stage.open(backwards).fingerprint("rows")

    @staticmethod
    def _fingerprint(stage: Stage, columns: Columns) -> int:
        engine = stage.open(columns)
        found = engine.fingerprint("rows")
        engine.close()
        return found


_VERBS: dict[str, Callable[[Engine, str], object]] = {
    "integers": lambda engine, text: engine.integers(select(text)),
    "texts": lambda engine, text: engine.texts(select(f"SELECT CAST(x AS VARCHAR) FROM ({text}) AS t(x)")),
    "stream": lambda engine, text: list(engine.stream(select(text))),
}


class TestLimits:
    @pytest.mark.parametrize("verb", sorted(_VERBS))
    def test_a_statement_over_its_time_ends_and_the_engine_stays_usable(self, stage: Stage, verb: str) -> None:
        """Security row V11. Without the deadline the statement would add up 10^14 rows."""
        engine = stage.open({"c0": ("BIGINT", range(3_200))}, seconds=0.2)
        for _ in range(2):
            with pytest.raises(EngineError, match="gave no result"):
                _VERBS[verb](engine, _FOREVER)
        assert engine.integers(select("SELECT COUNT(*) FROM rows")) == [(3_200,)]

    def test_a_time_shorter_than_the_start_still_ends_it(self, stage: Stage) -> None:
        """An interrupt that comes before the statement runs is lost, so it is sent until it takes."""
        engine = stage.open({"c0": ("BIGINT", range(3_200))}, seconds=1e-6)
        with pytest.raises(EngineError, match="gave no result"):
            engine.integers(select(_FOREVER))

    @pytest.mark.parametrize("verb", sorted(_VERBS))
    def test_a_statement_over_its_memory_ends_the_same_way(self, stage: Stage, verb: str) -> None:
        """Security rows V11, V12: forty texts of 1 MB each, grouped in 24 MB."""
        bombs = [str(number) * (1 << 20) for number in range(10)] * 4
        columns: Columns = {"c0": ("INTEGER", range(40)), "c1": ("VARCHAR", bombs)}
        grouped = "SELECT COUNT(*) AS n FROM rows GROUP BY c1 || CAST(c0 AS VARCHAR)"
        engine = stage.open(columns, memory="24MB")
        for _ in range(2):
            with pytest.raises(EngineError, match="gave no result"):
                _VERBS[verb](engine, grouped)
        assert engine.integers(select("SELECT COUNT(*) FROM rows")) == [(40,)]
        engine.close()
        assert _VERBS[verb](stage.open(columns), grouped)


class TestLife:
    def test_a_closed_engine_says_so(self, stage: Stage) -> None:
        engine = stage.open(_PEOPLE)
        engine.close()
        engine.close()
        query = select("SELECT COUNT(*) FROM rows")
        for verb in (engine.integers, engine.texts, engine.stream):
            with pytest.raises(EngineError, match="closed"):
                verb(query)
        for named in (engine.describe, engine.fingerprint):
            with pytest.raises(EngineError, match="closed"):
                named("rows")

    def test_threads_share_an_engine(self, stage: Stage) -> None:
        engine = stage.open({"c0": ("BIGINT", range(10_000))})
        answers: list[object] = []

        def ask(key: int) -> None:
            for _ in range(20):
                answers.append(engine.integers(select(f"SELECT SUM(c0) - {key} FROM rows"))[0][0] == 49_995_000 - key)

        threads = [threading.Thread(target=ask, args=(key,)) for key in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [True] * 160
