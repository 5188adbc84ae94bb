"""DuckDB's walls with every allow-list off, and the allow-list in front of them. Security rows V5, V7."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pytest
import sqlglot
from sqlglot import exp

from discreet.data.engines import walls
from discreet.data.engines.duckdb import DuckDBEngine
from discreet.errors import DiscreetError, EngineError, InputError
from tests.engines.attempts import STOPPED_BY_ALLOW_LIST_ALONE, STOPPED_BY_WALLS, listed

_WALLED, _LISTED = listed(STOPPED_BY_WALLS), listed(STOPPED_BY_ALLOW_LIST_ALONE)
_CANARY = "canary-4711"
# What DuckDB 1.4 lets a locked connection do to itself alone; 2.0 refuses it.
_LOCAL_BEFORE_2 = {"PRAGMA enable_profiling", "PRAGMA enable_progress_bar"}


class Place:
    """A folder with a stored table and another file, and what stood there before."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.own, self.other = folder, folder / "stored.duckdb", folder / "other.csv"
        self.other.write_text(f"a,b\n{_CANARY},2\n")
        with duckdb.connect(str(self.own)) as connection:
            connection.execute(f"CREATE TABLE rows AS SELECT i AS c0, '{_CANARY}' || i AS c1 FROM range(20) AS t(i)")
        self.engine = DuckDBEngine.open(self.own, seconds=20)

    def text(self, attempt: str) -> str:
        """The attempt with the paths of this place."""
        paths = {"own": self.own, "other": self.other, "new": self.folder / "new", "folder": self.folder}
        return attempt.format(**paths, parent=self.folder.name, name=self.own.name)

    def state(self) -> dict[str, str]:
        """Every file of the folder and the hash of its bytes."""
        files = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    def run(self, attempt: str) -> list[tuple[object, ...]]:
        """The attempt on the engine's own connection, with no allow-list in front."""
        planted_frame, planted_dict = np.array([1]), {"a": np.array([1])}
        assert len(planted_frame) == len(planted_dict)
        with self.engine._cursor("integers") as cursor:
            return cursor.execute(self.text(attempt)).fetchall()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    made = Place(tmp_path_factory.mktemp("walls"))
    yield made
    made.engine.close()


@pytest.mark.parametrize(("family", "attempt"), _WALLED)
def test_the_walls_stop_it(place: Place, family: str, attempt: str) -> None:
    if attempt in _LOCAL_BEFORE_2 and int(duckdb.__version__.split(".")[0]) < 2:
        pytest.skip("DuckDB 1.4 lets a locked connection do this to itself; it reads and writes nothing")
    before, names = place.state(), sorted(os.listdir())
    with pytest.raises((duckdb.Error, RuntimeError, ValueError)):
        place.run(attempt)
    assert place.state() == before
    assert sorted(os.listdir()) == names
    assert place.run("SELECT count(*), sum(c0) FROM rows") == [(20, 190)]
    assert place.run("SELECT count(*) FROM duckdb_tables() WHERE NOT temporary") == [(1,)]


@pytest.mark.parametrize(("family", "attempt"), _LISTED)
def test_only_the_allow_list_stops_it(place: Place, family: str, attempt: str) -> None:
    """Honest: this does run on the bare connection, and harms nothing but secrecy. It writes no file either."""
    before = place.state()
    place.run(attempt)
    assert place.state() == before


def test_enough_is_tried() -> None:
    attempts = [attempt for _, attempt in [*_WALLED, *_LISTED]]
    assert len(attempts) == len(set(attempts)) >= 150
    assert len(_WALLED) >= 71


@pytest.mark.parametrize(("family", "attempt"), [*_WALLED, *_LISTED])
def test_as_a_tree_it_is_refused_before_it_runs(
    place: Place, family: str, attempt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a tree, handed to every verb that takes one: the connection is not touched."""

    def touched(engine: DuckDBEngine, verb: str) -> None:
        pytest.fail(f"{verb} reached the connection")

    trees = _trees(place.text(attempt))
    monkeypatch.setattr(DuckDBEngine, "_cursor", touched)
    for verb in (place.engine.integers, place.engine.texts, place.engine.stream):
        for tree in trees:
            with pytest.raises(InputError):
                verb(tree)  # type: ignore[arg-type]  # whatever tree it is: the verb has to refuse it


def _trees(text: str) -> list[exp.Expr]:
    """The attempt as sqlglot reads it, if it is one statement, and smuggled as raw text where a tree may hold some."""
    name = exp.to_identifier(text, quoted=True)
    smuggled: list[exp.Expr] = [
        exp.Command(this=text),
        exp.select("c0").from_(exp.Table(this=name.copy())),
        *(
            exp.Select(expressions=[exp.Star()], from_=exp.From(this=place))
            for place in (name, exp.column(name.copy()))
        ),
        exp.select("c0").from_(exp.Subquery(this=exp.column(name.copy()))),
        exp.select("c0").from_("rows").join(exp.Join(this=name.copy())),
    ]
    if not text.isalpha():  # a single word is a keyword at most, and harms nobody as one
        smuggled += [
            exp.select(exp.Literal.number(text)),
            exp.select(exp.var(text)),
            exp.select(exp.Anonymous(this=text)),
            exp.select("c0").from_(exp.Table(this=exp.var(text))),
            exp.select("c0").from_("rows").join(exp.Join(this=exp.to_table("rows"), kind=f"CROSS JOIN ({text}) --")),
            exp.select(exp.cast(exp.column("c0"), exp.DataType(this=exp.DataType.Type.USERDEFINED, kind=text))),
        ]
    try:
        parsed = [tree for tree in sqlglot.parse(text, dialect="duckdb") if tree is not None]
    except sqlglot.errors.SqlglotError:
        parsed = []
    return [*smuggled, *parsed] if len(parsed) == 1 else smuggled


def test_the_attempts_work_without_walls(tmp_path: Path) -> None:
    """The list has teeth: on an ordinary connection most of these families run."""
    place = Place(tmp_path)
    place.engine.close()
    ran = 0
    for family in ("look around", "read the own file as bytes", "write the data"):
        for attempt in STOPPED_BY_WALLS[family]:
            with duckdb.connect(str(place.own)) as connection:
                try:
                    connection.execute("BEGIN")
                    connection.execute(place.text(attempt)).fetchall()
                    ran += 1
                except (duckdb.Error, UnicodeDecodeError):
                    continue
    assert ran >= 20


@pytest.mark.parametrize("wall", [*walls._WALLS, *walls._LAST_WALLS])
def test_every_wall_is_up(place: Place, wall: str) -> None:
    """Each setting reads back as it was put up; disabled file systems read back empty, and are tested by `_proven`."""
    if wall in walls._WALLS:
        ((value,),) = place.run(f"SELECT value FROM duckdb_settings() WHERE name = '{wall}'")
        assert str(value).lower() == walls._WALLS[wall].lower()
    elif "lock" in wall:
        assert place.run("SELECT current_setting('lock_configuration')") == [(True,)]
    else:
        with pytest.raises(duckdb.PermissionException, match="LocalFileSystem"):
            place.run("SELECT size FROM read_blob('{own}')")


def test_an_engine_whose_walls_do_not_stand_is_not_handed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Place(tmp_path).engine.close()
    monkeypatch.setattr(walls, "_LAST_WALLS", walls._LAST_WALLS[1:])
    with pytest.raises(EngineError, match="read the raw file"):
        DuckDBEngine.open(tmp_path / "stored.duckdb")


def test_opening_again_in_the_process_stands_behind_the_same_walls(place: Place) -> None:
    with DuckDBEngine.open(place.own) as again, again._cursor("integers") as cursor:
        for attempt in ("SELECT * FROM read_blob('{own}')", "SET threads = 1", "DROP TABLE rows"):
            with pytest.raises(duckdb.Error):
                cursor.execute(place.text(attempt))


def test_no_progress_is_shown_even_on_a_terminal(place: Place) -> None:
    """Security row J3: an interactive session switches DuckDB's progress on; the engine's cursors leave it off."""
    code = (
        "import sys; sys.ps1 = '>>> '\n"
        "from pathlib import Path; import duckdb\n"
        "from discreet.data.engines.duckdb import DuckDBEngine\n"
        "engines = [DuckDBEngine.open(Path(sys.argv[1])) for _ in range(2)]\n"
        "ask = \"SELECT current_setting('enable_progress_bar')\"\n"
        "cursors = [engine._connection.cursor() for engine in engines]\n"
        "print(duckdb.connect().execute(ask).fetchall(), *(cursor.execute(ask).fetchall() for cursor in cursors))"
    )
    shown = subprocess.run(
        [sys.executable, "-ic", code, str(place.own)], capture_output=True, text=True, check=True, input=""
    )
    assert shown.stdout.strip().endswith("[(False,)] [(False,)]")


def test_a_failed_attempt_says_nothing_either(place: Place) -> None:
    """Whatever the walls say, `_run` does not repeat it."""
    with pytest.raises(DiscreetError) as caught:
        place.engine._run("integers", place.text("SELECT * FROM read_text('{other}')"), re.compile(".*"))
    assert str(place.other) not in str(caught.value)
    assert "LocalFileSystem" not in str(caught.value)
