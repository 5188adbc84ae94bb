"""Every hostile file has one declared outcome: a correct import, or one line without a value of the data."""

from __future__ import annotations

import math
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import duckdb
import pytest

from discreet.data.load import load
from discreet.errors import InputError
from tests.data.hostile import BOMBS, CANARY, CASES, Case


def stored(path: Path, columns: int) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        names = ", ".join(f"c{position}" for position in range(columns))
        return connection.execute(f"SELECT {names} FROM rows").fetchall()


def same(left: Any, right: Any) -> bool:
    return (type(left), left) == (type(right), right) and (
        not isinstance(left, float) or math.copysign(1, left) == math.copysign(1, right)
    )


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_outcome(case: Case, tmp_path: Path) -> None:
    source, into = tmp_path / case.name, tmp_path / "out" / "store.duckdb"
    into.parent.mkdir()
    case.make(source)
    if case.refused:
        with pytest.raises(InputError) as caught:
            load(source, into, options=case.options, limits=case.limits)
        message = str(caught.value)
        assert [words for words in case.refused if words not in message] == []
        assert "\n" not in message
        assert CANARY not in "".join(
            traceback.format_exception(caught.value, chain=not caught.value.__suppress_context__)
        )
        assert list(into.parent.iterdir()) == []
        return
    table = load(source, into, options=case.options, limits=case.limits)
    rows = stored(into, len(table.columns))
    if isinstance(case.rows, int):
        assert len(rows) == case.rows
    else:
        assert case.rows is not None
        assert len(rows) == len(case.rows)
        assert all(
            same(found, meant) for pair in zip(rows, case.rows, strict=True) for found, meant in zip(*pair, strict=True)
        )
    assert [path.name for path in into.parent.iterdir()] == ["store.duckdb"]


def test_the_corpus_is_large_enough() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 60


WATCHED = """
import resource, sys
from pathlib import Path
from discreet.data.load import load
from discreet.errors import DiscreetError
try:
    print(len(load(sys.argv[1], Path(sys.argv[2])).columns), "columns read")
except DiscreetError as error:
    print(error)
print(max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) // 1024)
"""


@pytest.mark.parametrize(
    ("name", "make", "words"),
    [pytest.param(*bomb, id=bomb[0], marks=[pytest.mark.slow] * bomb[0].startswith("wide")) for bomb in BOMBS],
)
def test_bombs_and_wide_tables_stay_within_512_mib(name: str, make: Any, words: str, tmp_path: Path) -> None:
    make(tmp_path / name)
    asked = [sys.executable, "-c", WATCHED, str(tmp_path / name), str(tmp_path / "t.duckdb")]
    # A process started by a large one counts its parent's memory at first: a shell between starts small.
    ran = subprocess.run(["/bin/sh", "-c", '"$@"', "sh", *asked], capture_output=True, text=True, check=False)
    said, peak = ran.stdout.splitlines()
    assert words in said
    assert int(peak) <= 512
