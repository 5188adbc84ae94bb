"""Import: the declared types over all rows, every source, the caller's kind back, and nothing said on the way."""

from __future__ import annotations

import datetime as dt
import decimal
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import narwhals
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.frame import FrameKind, frame_kind, frame_like
from discreet.data.load import Format, Limits, ReadOptions, load
from discreet.data.readers.source import SourceFile
from discreet.data.store import describe_store
from discreet.data.table import StorageType
from discreet.errors import ArgumentError, DiscreetError, FileError

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.ipc")

Stored = tuple[list[str], list[tuple[Any, ...]], tuple[str, ...]]
DATA = Path(__file__).parent


def stored(source: object, into: Path, **given: Any) -> Stored:
    """Load, and give back types, rows and notes."""
    into.unlink(missing_ok=True)
    table = load(source, into, **given)
    with duckdb.connect(str(into), read_only=True) as connection:
        names = ", ".join(column.physical for column in table.columns)
        rows = connection.execute(f"SELECT {names} FROM rows").fetchall()
    return [column.type.value for column in table.columns], rows, describe_store(into).notes


def csv(folder: Path, text: str, **options: Any) -> Stored:
    source = folder / "t.csv"
    source.write_text(text, encoding="utf-8", newline="")
    return stored(source, folder / "t.duckdb", options=ReadOptions(**options))


NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70).map(str),
    st.integers(-99, 99).map(str),
    st.floats().map(repr),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(str),
    st.from_regex(r"[-+]?0?[0-9]{0,3}\.?[0-9]{0,3}([eE][-+]?[0-9]{1,3})?", fullmatch=True),
)


@settings(max_examples=40)
@given(st.lists(NUMBERS.filter(lambda text: text != ""), min_size=1, max_size=4))
def test_no_number_changes_on_its_way(tmp_path_factory: pytest.TempPathFactory, values: list[str]) -> None:
    (type_,), rows, _ = csv(tmp_path_factory.mktemp("n"), "".join(f"{value}\n" for value in ["x", *values]))
    whole = [re.fullmatch("-?[1-9][0-9]*|0", value) and -(2**63) <= int(value) < 2**63 for value in values]
    assert (type_ == "integer") == all(whole)
    for value, (kept,) in zip(values, rows, strict=True):
        if type_ == "decimal":
            assert repr(kept) == repr(float(value))
            assert kept == 0 or decimal.Decimal(value) != 0
        else:
            assert str(kept) == value


@pytest.mark.parametrize(
    ("values", "type_", "kept"),
    [
        (["1", "", "-3"], "integer", [1, None, -3]),
        (["1", "2.50", "1e3"], "decimal", [1.0, 2.5, 1000.0]),
        (["true", "False", "TRUE", ""], "boolean", [True, False, True, None]),
        (["yes", "no"], "text", ["yes", "no"]),
        (["1", "true"], "text", ["1", "true"]),
        (["2020-02-29", "9999-12-31"], "date", [dt.date(2020, 2, 29), dt.date(9999, 12, 31)]),
        (["01.02.2020"], "text", ["01.02.2020"]),
        (["2020-01-01", "2020-01-01 00:00:00"], "text", ["2020-01-01", "2020-01-01 00:00:00"]),
        (["2020-01-01T10:00", "2020-01-01 10:00:00.25"], "datetime",
         [dt.datetime(2020, 1, 1, 10), dt.datetime(2020, 1, 1, 10, 0, 0, 250_000)]),
        (["2020-01-01 00:00:00.1234567"], "text", ["2020-01-01 00:00:00.1234567"]),
        (["2020-01-01T00:00:00+02:00", "2020-01-01T00:00:00Z"], "datetime",
         [dt.datetime(2019, 12, 31, 22), dt.datetime(2020, 1, 1)]),
        (["", '""'], "text", [None, None]),
        (["-0"], "decimal", [-0.0]),
        ([" 1"], "text", [" 1"]),
    ],
)  # fmt: skip
def test_types_follow_the_rules(tmp_path: Path, values: list[str], type_: str, kept: list[Any]) -> None:
    types, rows, _ = csv(tmp_path, "a,b\n" + "".join(f"{value},z\n" for value in values))
    assert types == [type_, "text"]
    assert [row[0] for row in rows] == kept
    assert str(rows[0][0]) == str(kept[0])


def test_a_type_is_that_of_all_rows(tmp_path: Path) -> None:
    for late, type_ in (("7", "integer"), ("7.5", "decimal"), ("x", "text"), ("", "integer"), ("007", "text")):
        types, rows, _ = csv(tmp_path, "a,b\n" + "1,2020-01-01\n" * 50_000 + f"{late},2020-01-02\n")
        assert (types, len(rows)) == ([type_, "date"], 50_001)


def test_a_column_empty_at_first_gets_the_type_of_its_values(tmp_path: Path) -> None:
    types, rows, _ = csv(tmp_path, "a,b\n" + ",1\n" * 5000 + "3,1\n")
    assert (types, rows[-1]) == (["integer", "integer"], (3, 1))


def test_options_for_nulls_trim_quotes_and_names(tmp_path: Path) -> None:
    types, rows, _ = csv(tmp_path, "a,b\n1,N\nNA,x\n", nulls=("NA", "N"))
    assert (types, rows) == (["integer", "text"], [(1, None), (None, "x")])
    types, rows, _ = csv(tmp_path, "a,b\n 1, x\n2 ,\n 3,  \n", trim=True, nulls=("x",))
    assert (types, rows) == (["integer", "text"], [(1, None), (2, None), (3, None)])
    types, rows, _ = csv(tmp_path, "1~'a~b'\n", names=("n", "t"), delimiter="~", quote="'")
    assert (types, rows) == (["integer", "text"], [(1, "a~b")])
    with pytest.raises(FileError, match="2 fields, and 1 names"):
        csv(tmp_path, "1,2\n", names=("n",))


@pytest.mark.parametrize(
    "wrong", [{"delimiter": ";;"}, {"delimiter": "\n"}, {"quote": "é"}, {"encoding": "ebcdic"}, {"delimiter": '"'}]
)
def test_wrong_options_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        ReadOptions(**wrong)
    with pytest.raises(ArgumentError):
        Limits(columns=0)


def test_notes_tell_what_was_kept_otherwise(tmp_path: Path) -> None:
    _, _, notes = csv(tmp_path, "zip,big,t\n01301,12345678901234567890,2020-01-01T00:00:00Z\n")
    assert [note.split(":")[0] for note in notes] == ["column 'zip'", "column 'big'", "column 't'"]
    (tmp_path / "link.csv").symlink_to(tmp_path / "t.csv")
    assert "link" in stored(tmp_path / "link.csv", tmp_path / "t.duckdb")[2][0]


def test_zstandard_text_is_read_and_its_faults_are_refused(tmp_path: Path) -> None:
    path, into = tmp_path / "t.csv.zst", tmp_path / "t.duckdb"
    packed = pyarrow.compress(b"a\n" + b"1\n" * 1000, codec="zstd", asbytes=True)
    path.write_bytes(packed)
    assert len(stored(path, into)[1]) == 1000
    for broken, words in (
        (packed[:-5], "broken zstd"),
        (pyarrow.compress(b"a,b\n" + b"1,2\n" * 20_000_000, codec="zstd", asbytes=True), "100 times"),
    ):
        path.write_bytes(broken)
        with pytest.raises(FileError, match=words):
            load(path, tmp_path / "refused.duckdb")


def columns() -> dict[str, list[Any]]:
    return {
        "n": [1, 2, None],
        "x": [1.5, -0.0, None],
        "t": ["01", "é", None],
        "b": [True, False, None],
        "d": [dt.date(2020, 1, 1), None, dt.date(1, 1, 1)],
        "m": [dt.datetime(2020, 1, 1, 5, 6, 7), None, None],
    }


TYPES = ["integer", "decimal", "text", "boolean", "date", "datetime"]
ROWS = list(zip(*columns().values(), strict=True))


class Streaming:
    """A frame of a kind nobody knows."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        return self.frame.__arrow_c_stream__(requested_schema)


def pandas_frame() -> Any:
    return pandas.DataFrame(columns(), dtype=object).assign(n=pandas.array([1, 2, None], dtype="Int64"))


FRAMES = {
    "pandas": (pandas_frame, FrameKind.PANDAS),
    "polars": (lambda: polars.DataFrame(columns()), FrameKind.POLARS),
    "polars lazy": (lambda: polars.DataFrame(columns()).lazy(), FrameKind.POLARS),
    "pyarrow": (lambda: pyarrow.table(columns()), FrameKind.PYARROW),
    "duckdb": (lambda: duckdb.connect().from_arrow(pyarrow.table(columns())), FrameKind.DUCKDB),
    "narwhals": (lambda: narwhals.from_native(polars.DataFrame(columns())), FrameKind.POLARS),
    "narwhals lazy": (lambda: narwhals.from_native(polars.DataFrame(columns()).lazy()), FrameKind.POLARS),
    "narwhals pandas": (lambda: narwhals.from_native(pandas_frame()), FrameKind.PANDAS),
    "reader": (lambda: pyarrow.table(columns()).to_reader(), FrameKind.PLAIN),
    "stream": (lambda: Streaming(polars.DataFrame(columns())), FrameKind.PLAIN),
}


@pytest.mark.parametrize("name", FRAMES)
def test_every_frame_comes_in_and_its_kind_goes_out(name: str, tmp_path: Path) -> None:
    make, kind = FRAMES[name]
    types, rows, _ = stored(make(), tmp_path / "t.duckdb")
    assert (types, rows) == (TYPES, ROWS)
    assert describe_store(tmp_path / "t.duckdb").kind is kind
    answer = frame_like(kind, {"age group": [1, 2], 'said "n"': ["x", "y"]})
    assert frame_kind(answer) is kind
    if kind is FrameKind.PLAIN:
        assert answer == {"age group": [1, 2], 'said "n"': ["x", "y"]}
    else:
        assert stored(answer, tmp_path / "u.duckdb")[1] == [(1, "x"), (2, "y")]
        # Steps of a half begin with a whole number, which must not make all of them whole.
        halves = frame_like(kind, {"step": [0, None, 0.5, 1]})
        assert stored(halves, tmp_path / "h.duckdb")[1] == [(0.0,), (None,), (0.5,), (1.0,)]


def test_objects_of_pandas_are_of_one_kind_or_refused(tmp_path: Path) -> None:
    into = tmp_path / "t.duckdb"
    frame = pandas.DataFrame(
        {
            "m": [decimal.Decimal("1.25"), None],
            "big": [2**70, 1],
            "c": pandas.Categorical(["u", None]),
            "none": [None, None],
            "utc": pandas.to_datetime(["2020-01-01T00:00+02:00", None]),
        }
    )
    types, rows, _ = stored(frame, into)
    assert types == ["decimal", "text", "text", "text", "datetime"]
    assert rows == [(1.25, str(2**70), "u", None, dt.datetime(2019, 12, 31, 22)), (None, "1", None, None, None)]
    late = pandas.DataFrame({"a": pandas.Series(["x"] * 5000 + [7], dtype=object)})
    for wrong in (late, pandas.DataFrame({"a": [[1], [2]]}), pandas.DataFrame({"a": [1 + 2j]})):
        with pytest.raises(FileError, match="the frame"):
            load(wrong, tmp_path / "refused.duckdb")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (lambda: [1, 2], "a list"),
        (lambda: None, "a NoneType"),
        (lambda: pyarrow.table([[1], [2]], names=["a", "A"]), "same name"),
        (lambda: pandas.DataFrame([[1, 2]], columns=["a", "a"]), "same name"),
        (lambda: pandas.DataFrame([[1]], columns=[3]), "not text"),
        (lambda: polars.DataFrame({"secret": [[1]]}), "'secret'"),
        (lambda: polars.DataFrame({"a": [dt.timedelta(1)]}), "'a'"),
        (lambda: polars.DataFrame({"a": [object()]}), "the frame"),
        (lambda: polars.DataFrame({"a": []}), "no rows"),
    ],
)
def test_frames_that_are_no_table_are_refused(source: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(DiscreetError, match=re.escape(words)):
        load(source(), tmp_path / "t.duckdb")
    assert list(tmp_path.iterdir()) == []


def test_typed_columns_keep_their_type_or_become_text(tmp_path: Path) -> None:
    frame = pyarrow.table(
        {
            "u": pyarrow.array([2**64 - 1], pyarrow.uint64()),
            "v": pyarrow.array([7], pyarrow.uint64()),
            "f": pyarrow.array([0.1], pyarrow.float32()),
            "d": pyarrow.array([decimal.Decimal("0.10")]),
            "w": pyarrow.array([decimal.Decimal("1234567890123456.25")]),
            "ns": pyarrow.array([1], pyarrow.timestamp("ns")),
            "us": pyarrow.array([1000], pyarrow.timestamp("ns")),
            "tz": pyarrow.array([0], pyarrow.timestamp("s", tz="Europe/Vienna")),
            "y": pyarrow.array([-800_000], pyarrow.date32()),
            "at": pyarrow.array([dt.time(1, 2, 3)]),
            "nan": pyarrow.array([float("nan")]),
        }
    )
    types, rows, notes = stored(frame, tmp_path / "t.duckdb")
    assert types == [
        "text", "integer", "decimal", "decimal", "text", "text", "datetime", "datetime", "text", "text", "decimal",
    ]  # fmt: skip
    assert rows[0][:5] == (str(2**64 - 1), 7, 0.10000000149011612, 0.1, "1234567890123456.25")
    assert rows[0][6:8] == (dt.datetime(1970, 1, 1, 0, 0, 0, 1), dt.datetime(1970, 1, 1))
    assert str(rows[0][10]) == "nan"
    assert len(notes) == 5


def statistical(folder: Path, name: str) -> Path:
    import pyreadstat

    frame = pandas.DataFrame({key: columns()[key] for key in ("n", "x", "t", "d", "m")}).assign(n=[1.0, 2.0, 9.0])
    path = folder / name
    labels: dict[str, dict[int | float, str]] = {"n": {1: "one", 2: "two"}}
    if name.endswith("sav"):
        pyreadstat.write_sav(
            frame, str(path), missing_ranges={"n": [9]}, compress=name[0] == "z", variable_value_labels=labels
        )
    elif name.endswith("dta"):
        pyreadstat.write_dta(
            frame.assign(n=[1.0, 2.0, "c"]), str(path), missing_user_values={"n": ["c"]}, variable_value_labels=labels
        )
    else:
        write = pyreadstat.write_por if name.endswith("por") else pyreadstat.write_xport
        write(frame.assign(n=[1.0, 2.0, None], t=["01", "e", None]), str(path))
    return path


@pytest.mark.parametrize("name", ["a.sav", "z.sav", "a.dta", "a.xpt", "a.por"])
def test_statistical_files(name: str, tmp_path: Path) -> None:
    source = statistical(tmp_path, name)
    types, rows, notes = stored(source, tmp_path / "t.duckdb")
    assert types == ["integer", "decimal", "text", "date", "datetime"]
    assert rows == [
        (1, 1.5, "01", dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 5, 6, 7)),
        (2, 0.0, "e" if name in ("a.por", "a.xpt") else "é", None, None),
        (None, None, None, rows[2][3], None),
    ]
    assert [note.split(":")[0] for note in notes] == (["column 'n'"] if name[2:] in ("sav", "dta") else [])


def test_labels_become_categories_on_request(tmp_path: Path) -> None:
    import pyreadstat

    path = tmp_path / "a.sav"
    frame = pandas.DataFrame({"q": [1.0, 2.0, 3.0, 4.0, None]})
    labels: dict[int | float, str] = {1: "good", 2: "bad", 3: "good"}
    pyreadstat.write_sav(frame, str(path), variable_value_labels={"q": labels})
    types, rows, _ = stored(path, tmp_path / "t.duckdb", options=ReadOptions(labels=True))
    assert types == ["text"]
    assert rows == [("good (1)",), ("bad",), ("good (3)",), ("4",), (None,)]


def test_excel_sheets_and_dates(tmp_path: Path) -> None:
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["unused"])
    sheet = book.create_sheet("people")
    for row in (["born", "seen", "n", "ok", "x"], [dt.date(1990, 1, 2), dt.datetime(2020, 1, 1, 5), 3.0, True, 1e20]):
        sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    types, rows, _ = stored(tmp_path / "a.xlsx", tmp_path / "t.duckdb", options=ReadOptions(sheet="people"))
    assert types == ["date", "datetime", "integer", "boolean", "decimal"]
    assert rows == [(dt.date(1990, 1, 2), dt.datetime(2020, 1, 1, 5), 3, True, 1e20)]
    with pytest.raises(FileError, match="'people'"):
        load(tmp_path / "a.xlsx", tmp_path / "u.duckdb", options=ReadOptions(sheet="absent"))


@pytest.mark.parametrize("stream", [False, True])
def test_arrow_files(stream: bool, tmp_path: Path) -> None:
    table = pyarrow.table({**columns(), "c": pyarrow.array(["u", None, "u"]).dictionary_encode()})
    opened = pyarrow.ipc.new_stream if stream else pyarrow.ipc.new_file
    with pyarrow.OSFile(str(tmp_path / "a.arrow"), "wb") as sink, opened(sink, table.schema) as writer:
        writer.write_table(table)
    types, rows, _ = stored(tmp_path / "a.arrow", tmp_path / "t.duckdb")
    assert types == [*TYPES, "text"]
    assert rows == [(*row, code) for row, code in zip(ROWS, ("u", None, "u"), strict=True)]


def test_progress_is_the_same_for_neighbours(tmp_path: Path) -> None:
    heard = []
    for text in ("a,b\n" + "1,x\n" * 9, "a,b\n" + "1,x\n" * 60_000 + "late,\n"):
        source, said = tmp_path / "t.csv", list[str]()
        source.write_text(text)
        (tmp_path / "t.duckdb").unlink(missing_ok=True)
        load(source, tmp_path / "t.duckdb", progress=said.append)
        heard.append(said)
    assert heard[0] == heard[1] == ["reading", "storing", "publishing"]


@pytest.mark.parametrize("change", ["append", "rewrite", "truncate"])
def test_a_file_that_changes_under_the_read_is_refused(change: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    with SourceFile(path) as source:
        if change == "append":
            with path.open("a") as out:
                out.write("2\n")
        elif change == "rewrite":
            path.write_text("a\n7\n")
            os.utime(path, ns=(0, 0))
        else:
            os.truncate(path, 2)
        with pytest.raises(FileError, match="changed while it was read"):
            source.check_unchanged()


def test_a_file_swapped_in_does_not_count(tmp_path: Path) -> None:
    path, other = tmp_path / "t.csv", tmp_path / "other.csv"
    path.write_text("a\n1\n")
    other.write_text("a\n666\n")
    with SourceFile(path) as source:
        os.replace(other, path)
        source.copy_to(tmp_path / "copy")
    assert (tmp_path / "copy").read_text() == "a\n1\n"


def in_child(script: str, *given: object, **environment: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", script, *map(str, given)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


BARE = """
import sys
for name in ("pyarrow", "pandas", "polars", "openpyxl", "pyreadstat"):
    sys.modules[name] = None
from pathlib import Path
import duckdb
from discreet.data.load import load
from discreet.errors import MissingExtraError
folder = Path(sys.argv[1])
print(load(folder / "t.csv", folder / "1.duckdb").names, load(folder / "t.parquet", folder / "2.duckdb").names)
print(load(duckdb.sql("SELECT 1 AS a"), folder / "3.duckdb").names)
from discreet.data.frame import FrameKind, frame_like
print([frame_like(kind, {"a": [1]}) for kind in (FrameKind.PANDAS, FrameKind.POLARS, FrameKind.PYARROW)])
try:
    load(folder / "t.csv.zst", folder / "4.duckdb")
except MissingExtraError as error:
    print(error)
"""


def test_the_core_alone_reads_text_parquet_and_relations(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    (tmp_path / "t.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    duckdb.connect().execute(f"COPY (SELECT 1 AS a) TO '{tmp_path / 't.parquet'}'")
    lines = in_child(BARE, tmp_path).splitlines()
    assert lines[:2] == ["('a',) ('a',)", "('a',)"]
    assert lines[2] == str([{"a": [1]}] * 3)
    assert "pip install 'discreet[files]'" in lines[3]


def test_a_missing_library_of_the_child_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hollow = tmp_path / "hollow"
    hollow.mkdir()
    (hollow / "openpyxl.py").write_text("raise ModuleNotFoundError('absent', name='openpyxl')")
    import openpyxl

    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.save(tmp_path / "a.xlsx")
    monkeypatch.setenv("PYTHONPATH", str(hollow))
    with pytest.raises(DiscreetError, match="the library openpyxl is not installed"):
        load(tmp_path / "a.xlsx", tmp_path / "t.duckdb")


FULL = """
import resource, sys
import polars
from pathlib import Path
from discreet.data.load import load
from discreet.errors import DiscreetError
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
folder = Path(sys.argv[1])
try:
    source = folder / "t.csv" if sys.argv[3] == "file" else polars.read_csv(folder / "t.csv")
    load(source, folder / "t.duckdb")
except DiscreetError as error:
    print(error)
"""


@pytest.mark.parametrize(("room", "source"), [(100_000, "file"), (100_000, "frame"), (900_000, "frame")])
def test_a_full_disk_is_said_and_leaves_nothing(room: int, source: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{n},{n * 7919 % 10007 / 3}\n" for n in range(60_000)))
    assert "disk" in in_child(FULL, tmp_path, room, source)
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_real_tables_keep_their_rows_and_types(tmp_path: Path) -> None:
    table = polars.DataFrame(
        {"zip": ["01301", "90210"] * 50, "age": list(range(100)), "w": [0.1 * n for n in range(100)]}
    )
    table.write_csv(tmp_path / "t.csv")
    table.write_parquet(tmp_path / "t.parquet")
    left = stored(tmp_path / "t.csv", tmp_path / "1.duckdb", steps={"age": Fraction(1)})
    right = stored(tmp_path / "t.parquet", tmp_path / "2.duckdb", steps={"age": Fraction(1)})
    assert left[:2] == right[:2] == (["text", "integer", "decimal"], table.rows())


def test_a_format_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "t.dat").write_text("a\tb\n1\t2\n")
    types, rows, _ = stored(tmp_path / "t.dat", tmp_path / "t.duckdb", options=ReadOptions(format=Format.TSV))
    assert (types, rows) == ([StorageType.INTEGER] * 2, [(1, 2)])
