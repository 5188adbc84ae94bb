"""An error is no oracle: not its text, not what hangs on it, not its kind tells anything of the rows.

Security row V8, at the engine: functions that fail for some values and not for others, over a table that holds a
person, the same table with another person, and the table without either.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable

import duckdb
import pytest

from discreet.errors import ArgumentError, DiscreetError, EngineError
from tests.engines.stages import Columns, DuckDBStage, Stage, select

_CANARIES = ("7046029254386353087", "κανάρι-4711", "6148914691236517205", "σπίνος-0815")

PARTIAL = (
    "x % (x - x)",
    "x // (x - x)",
    "x + 9223372036854775807",
    "-x - 9223372036854775807",
    "x * x",
    "abs(m)",
    "-m",
    "x << 60",
    "CAST(x AS INTEGER)",
    "CAST(x AS TINYINT)",
    "CAST(-x AS UBIGINT)",
    "CAST(x AS DECIMAL(4,2))",
    "CAST(CAST(x AS DOUBLE) * 1e300 * 1e300 AS BIGINT)",
    "CAST(CAST('nan' AS DOUBLE) * x AS BIGINT)",
    "CAST(t AS INTEGER)",
    "CAST(t AS HUGEINT)",
    "CAST(t AS DOUBLE)",
    "CAST(t AS DECIMAL(4,2))",
    "CAST(t AS BOOLEAN)",
    "CAST(t AS DATE)",
    "CAST(t AS TIME)",
    "CAST(t AS TIMESTAMP)",
    "CAST(t AS TIMESTAMPTZ)",
    "CAST(t AS INTERVAL)",
    "CAST(t AS UUID)",
    "CAST(t AS BLOB)",
    "CAST(t AS BIT)",
    "CAST(t AS JSON)",
    "CAST(t AS INTEGER[])",
    "CAST(t AS ENUM('a', 'b'))",
    "strptime(t, '%Y')",
    "regexp_matches(t, t || '(')",
    "regexp_extract(t, t || '(')",
    "regexp_replace(t, t || '(', 'a')",
    "chr(CAST(p + 2147483000 AS INTEGER))",
    "repeat(t, x)",
    "range(x)",
    "factorial(CAST(p + 100 AS INTEGER))",
    "DATE '2024-02-29' + to_days(CAST(p + 2147483000 AS INTEGER))",
    "TIMESTAMP '2024-02-29' + to_years(CAST(p + 2000000 AS INTEGER))",
    "make_date(2024, p + 13, 1)",
    "make_timestamp(2024, p + 13, 1, 0, 0, 0.0)",
    "to_timestamp(CAST(x AS DOUBLE) * 1e10)",
    "epoch_ms(x)",
    "date_trunc(t, DATE '2024-02-29')",
    "date_part(t, DATE '2024-02-29')",
    "unhex(t)",
    "from_base64(t)",
    "json_extract(t, '$.a')",
    "error(t)",
    "format('{:d}', t)",
    "printf('%d', t)",
    "lcm(x, 9223372036854775806)",
    "map([t, t], [1, 2])",
    "(SELECT sum(CAST('170141183460469231731687303715884105727' AS HUGEINT)) FROM rows AS r)",
    "(SELECT r.x FROM rows AS r)",
)


def _table(number: str, text: str, *, member: bool) -> Columns:
    persons = [1, 2, 7] if member else [1, 2, 3]
    return {
        "p": ("BIGINT", persons),
        "x": ("BIGINT", [1, 2, int(number) if member else 3]),
        "m": ("BIGINT", [1, 2, -(2**63) if member else 3]),
        "t": ("VARCHAR", ["1", "2", text if member else "3"]),
    }


def _tables() -> list[Columns]:
    first, second, third, fourth = _CANARIES
    return [_table(first, second, member=True), _table(third, fourth, member=True), _table("3", "3", member=False)]


def _query(expression: str) -> str:
    return f"SELECT COUNT(CASE WHEN p = 7 THEN {expression} END) FROM rows"


def _failure(ask: Callable[..., object], *what: object) -> DiscreetError | None:
    try:
        ask(*what)
    except DiscreetError as error:
        return error
    return None


def _all_it_tells(error: DiscreetError) -> str:
    """The text, and everything a log could print of the exception and of what hangs on it."""
    assert error.__cause__ is None
    assert error.__context__ is None
    return f"{type(error).__name__} {error} {vars(error)} {error.args}"


@pytest.mark.parametrize("expression", PARTIAL)
def test_errors_say_nothing_of_the_data(stage: Stage, expression: str) -> None:
    query = select(_query(expression))
    failures = [_failure(stage.open(table).integers, query) for table in _tables()]
    told = {_all_it_tells(failure) for failure in failures if failure is not None}
    assert len(told) <= 1
    assert not any(canary in text for canary in _CANARIES for text in told)
    if any(isinstance(failure, ArgumentError) for failure in failures):
        assert None not in failures, "refused for one table and run for another"


@pytest.mark.parametrize("verb", ["integers", "texts", "stream", "fingerprint"])
def test_beneath_the_allow_list_every_failure_tells_the_same(duckdb_stage: DuckDBStage, verb: str) -> None:
    """All partial functions as raw text: the engine itself fails for at least forty, and one text comes out."""
    told, failed = set(), 0
    for table in _tables()[:2]:
        engine = duckdb_stage.open(table, memory="64MB")
        for expression in PARTIAL:
            failure = _failure(engine._run, verb, _query(expression), re.compile(".*"))
            if failure is not None:
                assert isinstance(failure, EngineError)
                told.add(_all_it_tells(failure))
                failed += 1
    assert failed >= 2 * 40
    assert len(told) == 1
    assert not any(canary in text for canary in _CANARIES for text in told)


def test_the_engines_own_words_would_tell(duckdb_stage: DuckDBStage) -> None:
    """The suite has teeth: DuckDB's own messages quote the person's values."""
    with duckdb.connect(str(duckdb_stage.store(_tables()[0])), read_only=True) as raw:
        words = []
        for expression in PARTIAL:
            try:
                raw.execute(_query(expression)).fetchall()
            except (duckdb.Error, UnicodeDecodeError) as error:
                words.append(str(error))
    assert len(words) >= 40
    assert sum(any(canary in word for canary in _CANARIES) for word in words) >= 10


def test_a_failure_in_the_middle_of_a_stream_tells_nothing(stage: Stage) -> None:
    size = 300_000
    texts = ["1"] * (size - 1) + [_CANARIES[1]]
    engine = stage.open({"t": ("VARCHAR", texts)})
    batches = engine.stream(select("SELECT CAST(t AS INTEGER) AS c0 FROM rows"), batch_rows=1_000)
    with pytest.raises(EngineError) as caught:
        list(batches)
    assert _CANARIES[1] not in "".join(traceback.format_exception(caught.value)) + _all_it_tells(caught.value)


def test_a_traceback_of_an_error_holds_no_value(stage: Stage) -> None:
    engine = stage.open(_tables()[0])
    with pytest.raises(EngineError) as caught:
        engine.integers(select(_query("CAST(t AS INTEGER)")))
    shown = "".join(traceback.format_exception(caught.value))
    assert not any(canary in shown for canary in _CANARIES)
    assert not any(canary in repr(engine) for canary in _CANARIES)
