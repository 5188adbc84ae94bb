"""The hostile files: what each is, and the one outcome declared for it.

A refusal is declared by words that its line must hold, and a correct import by its rows. `CANARY` stands for a value
of the data: no message may ever hold it.
"""

from __future__ import annotations

import gzip
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from discreet.data.load import Format, Limits, ReadOptions

CANARY = "canary7316"
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One file: how it is made, how it is read, and either the words of its refusal or the rows of its import."""

    name: str
    make: Callable[[Path], None]
    refused: tuple[str, ...] = ()
    rows: Rows | int | None = None
    options: ReadOptions = field(default_factory=ReadOptions)
    limits: Limits = field(default_factory=Limits)


def content(data: bytes | str) -> Callable[[Path], None]:
    """A file of these bytes."""
    return lambda path: void(path.write_bytes(data.encode() if isinstance(data, str) else data))


def void(_: object) -> None:
    """Drop a result."""


def packed(data: bytes) -> Callable[[Path], None]:
    return content(gzip.compress(data, mtime=0))


def zipped(*members: tuple[str, str], method: int = zipfile.ZIP_DEFLATED) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with zipfile.ZipFile(path, "w", method) as archive:
            for name, text in members:
                archive.writestr(name, text)

    return make


def parquet(select: str, options: str = "") -> Callable[[Path], None]:
    return lambda path: void(duckdb.connect().execute(f"COPY ({select}) TO '{path}' (FORMAT parquet {options})"))


def mangled(select: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        parquet(select)(path)
        path.write_bytes(change(path.read_bytes()))

    return make


def workbook(fill: Callable[[Any], None]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        import openpyxl

        book = openpyxl.Workbook()
        fill(book)
        book.save(path)

    return make


def reworked(change: Callable[[str, bytes], bytes]) -> Callable[[Path], None]:
    """A workbook of one cell whose parts were changed behind Excel's back."""

    def make(path: Path) -> None:
        workbook(cells(("a",), (CANARY,)))(path)
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, part in parts.items():
                archive.writestr(name, change(name, part))

    return make


def entities(part_name: str, before: bytes = b"") -> Callable[[str, bytes], bytes]:
    """A document type with an entity that names a file, put before the root of one part."""
    kind = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'

    def change(name: str, part: bytes) -> bytes:
        at = part.index(b"?>") + 2 if part.startswith(b"<?xml") else 0
        return part[:at] + before + kind + part[at:] if name.endswith(part_name) else part

    return change


def cells(*rows: tuple[Any, ...]) -> Callable[[Any], None]:
    def fill(book: Any) -> None:
        for row in rows:
            book.active.append(row)

    return fill


def merged(book: Any) -> None:
    cells(("a", "b"), (CANARY, 1), (CANARY, 2))(book)
    book.active.merge_cells("A2:A3")


def two_sheets(book: Any) -> None:
    cells(("a",), (1,))(book)
    book.create_sheet("other")


def sav(**columns: list[Any]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        import pandas
        import pyreadstat

        pyreadstat.write_sav(pandas.DataFrame(columns), str(path))

    return make


def arrow(build: Callable[[Any], Any]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        import pyarrow
        import pyarrow.ipc

        table = build(pyarrow)
        with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)

    return make


def late(value: str) -> bytes:
    """50,000 whole numbers, and then something else."""
    return b"a\n" + b"".join(b"%d\n" % number for number in range(50_000)) + value.encode() + b"\n"


def huge_line(path: Path) -> None:
    path.write_bytes(b"a,b\n1,2\n3," + b"x" * 20_000_000 + b"\n")


def zeros(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=9) as out:
        for _ in range(400):
            out.write(bytes(1 << 20))


def swollen_text(path: Path) -> None:
    with gzip.open(path, "wb", compresslevel=1) as out:
        out.write(b"a,b\n")
        for _ in range(100):
            out.write(b"1,2\n" * 1_000_000)


def swollen_workbook(path: Path) -> None:
    workbook(cells(("a",), (1,)))(path)
    with zipfile.ZipFile(path) as archive:
        parts = {member.filename: archive.read(member) for member in archive.infolist()}
    long = b"<row><c t='inlineStr'><is><t>" + b"y" * 300_000_000 + b"</t></is></c></row></sheetData>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part.replace(b"</sheetData>", long))


def swollen_arrow(path: Path) -> None:
    import numpy
    import pyarrow
    import pyarrow.ipc

    table = pyarrow.table({"a": numpy.zeros(60_000_000, dtype="int64")})
    options = pyarrow.ipc.IpcWriteOptions(compression="zstd")
    with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table)


def wide(path: Path) -> None:
    names = ",".join(f"n{number}" for number in range(1500))
    row = ",".join(f"category {number} of many" for number in range(1500))
    path.write_text(f"{names}\n" + f"{row}\n" * 2500)


def wide_parquet(path: Path) -> None:
    columns = ", ".join(f"'category ' || (range * {number} % 7) || ' of many' AS c{number}" for number in range(1500))
    parquet(f"SELECT {columns} FROM range(6000)", ", ROW_GROUP_SIZE 2048")(path)


# What each is, whether it is read, and how a refusal says it.
BOMBS = (
    ("text.csv.gz", swollen_text, "more than 100 times"),
    ("zeros.csv.gz", zeros, "NUL"),
    ("line.csv", huge_line, "more than 2000000 bytes"),
    ("runs.parquet", parquet("SELECT 7 AS a FROM range(200000000)"), "more than 100 times"),
    ("page.parquet", parquet("SELECT repeat('a', 1000000) || range AS a FROM range(300)", ", COMPRESSION zstd"),
     "more than 100 times"),
    ("workbook.xlsx", swollen_workbook, "more than 100 times"),
    ("batch.arrow", swollen_arrow, "needs more than"),
    ("wide.csv", wide, "1500 columns read"),
    ("wide.parquet", wide_parquet, "1500 columns read"),
)  # fmt: skip


def dangling(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere.csv")


def looping(path: Path) -> None:
    path.symlink_to(path)


def linked(path: Path) -> None:
    target = path.parent / "target.csv"
    target.write_text("a\n1\n")
    path.symlink_to(target)


def outside(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def unreadable(path: Path) -> None:
    path.symlink_to("/dev/zero")


NESTED = "SELECT 1 AS plain, {'x': 'canary7316'} AS tags"
PLAIN = "SELECT range AS a, 'canary7316' || range AS b FROM range(1000)"
LATIN = "name,town\nJosé,canary7316\n".encode("latin-1")

CASES = (
    # ragged, quotes, line ends
    Case(name="ragged-short.csv", make=content(f"a,b\n1,2\n{CANARY}\n"), refused=("line 3", "1 fields")),
    Case(name="ragged-long.csv", make=content(f"a,b\n1,2\n3,{CANARY},5\n"), refused=("line 3", "3 fields")),
    Case(name="ragged-after-quoted-break.csv", make=content(f'a,b\n"x\ny",2\n{CANARY}\n'), refused=("line 4",)),
    Case(name="open-quote.csv", make=content(f'a,b\n1,"{CANARY}\n2,3\n'), refused=("line 2", "never closed")),
    Case(name="stray-quote.csv", make=content(f'a,b\n1,2\n3,{CANARY}"4\n'), refused=("line 3", "middle of a field")),
    Case(name="text-after-quote.csv", make=content(f'a,b\n1,"x"{CANARY}\n'), refused=("line 2", "middle of a field")),
    Case(name="space-before-quote.csv", make=content(f'a,b\n1, "{CANARY}"\n'), refused=("line 2", "middle")),
    Case(name="doubled-quote.csv", make=content('a,b\n1,"say ""hi"""\n'), rows=[(1, 'say "hi"')]),
    Case(name="quoted-break.csv", make=content('a,b\n1,"x\r\ny"\n2,"p\nq"\n'), rows=[(1, "x\r\ny"), (2, "p\nq")]),
    Case(
        name="plain-quotes.tsv",
        make=content('a\tb\n1\t5" pipe\n2\t"x\n'),
        options=ReadOptions(quote=None),
        rows=[(1, '5" pipe'), (2, '"x')],
    ),
    Case(name="mixed-ends.csv", make=content("a,b\r\n1,x\n2,y\r\n3,z"), rows=[(1, "x"), (2, "y"), (3, "z")]),
    Case(name="old-mac.csv", make=content(f"a,b\r1,{CANARY}\r2,3\r"), refused=("line 1", "carriage return")),
    Case(name="lone-return.csv", make=content(f"a,b\n1,{CANARY}\r2\n"), refused=("line 2", "carriage return")),
    Case(name="blank-between.csv", make=content(f"a,b\n1,2\n\n3,{CANARY}\n"), refused=("line 3", "blank")),
    Case(name="blank-between-one.csv", make=content(f"a\n1\n\n{CANARY}\n"), refused=("line 3", "blank")),
    Case(name="blank-at-end.csv", make=content("a,b\n1,2\n\n\r\n"), rows=[(1, 2)]),
    Case(name="blank-first.csv", make=content(f"\na,b\n1,{CANARY}\n"), refused=("line 1", "nothing")),
    Case(name="no-last-end.csv", make=content("a\n1\n2"), rows=[(1,), (2,)]),
    Case(name="null-in-one-column.csv", make=content('a\n1\n""\n3\n'), rows=[(1,), (None,), (3,)]),
    # encodings
    Case(name="bom.csv", make=content(b"\xef\xbb\xbfa,b\n1,\xc3\xa9\n"), rows=[(1, "é")]),
    Case(name="utf16-le.csv", make=content(b"\xff\xfe" + "a,b\n1,é\n".encode("utf-16-le")), rows=[(1, "é")]),
    Case(name="utf16-be.csv", make=content(b"\xfe\xff" + "a,b\n1,é\n".encode("utf-16-be")), rows=[(1, "é")]),
    Case(name="utf16-bare.csv", make=content(f"a,b\n1,{CANARY}\n".encode("utf-16-le")), refused=("NUL", "encoding")),
    Case(name="utf16-odd.csv", make=content("a\n1\n".encode("utf-16") + b"x"), refused=("not utf-16",)),
    Case(name="latin.csv", make=content(LATIN), refused=("line 2", "not utf-8", "encoding")),
    Case(
        name="latin-declared.csv",
        make=content(LATIN),
        options=ReadOptions(encoding="latin-1"),
        rows=[("José", CANARY)],
    ),
    Case(name="mixed-encoding.csv", make=content("a\né\n".encode() + b"\xe9\n"), refused=("line 3", "not utf-8")),
    Case(name="cut-utf8.csv", make=content("a\nx\né".encode()[:-1]), refused=("line 3", "not utf-8")),
    Case(name="nul.csv", make=content(f"a,b\n1,2\n{CANARY}\0,4\n"), refused=("line 3", "NUL")),
    # headers and names
    Case(name="empty.csv", make=content(b""), refused=("empty",)),
    Case(name="header-only.csv", make=content("a,b\n"), refused=("no rows",)),
    Case(name="no-header.csv", make=content("1,2\n3,4\n"), refused=("line 1", "field 1", "--names")),
    Case(
        name="no-header-text.csv", make=content(f"{CANARY},2\n{CANARY},4\n"), refused=("line 1", "field 2", "--header")
    ),
    Case(name="no-header-date.csv", make=content(f"{CANARY},2019-01-31\n"), refused=("line 1", "field 2", "a date")),
    Case(
        name="year-header.csv",
        make=content("town,2019,2020\nx,1,2\n"),
        options=ReadOptions(header=True),
        rows=[("x", 1, 2)],
    ),
    Case(
        name="no-header-declared.csv",
        make=content("1,2\n3,4\n"),
        options=ReadOptions(names=("a", "b")),
        rows=[(1, 2), (3, 4)],
    ),
    Case(name="two-delimiters.csv", make=content(f"a,b;c\n1,2;{CANARY}\n"), refused=("comma and semicolon",)),
    Case(name="semicolon.csv", make=content("a;b\n1,5;2\n"), rows=[("1,5", 2)]),
    Case(name="one-column.csv", make=content("a\nx;y\n"), rows=[("x;y",)]),
    Case(name="same-name.csv", make=content("a,b,a\n1,2,3\n"), refused=("columns 1 and 3", "same name")),
    Case(name="same-name-case.csv", make=content("age,AGE \n1,2\n"), refused=("columns 1 and 2", "same name")),
    Case(name="same-name-nfd.csv", make=content("caf\u00e9,cafe\u0301\n1,2\n"), refused=("same name",)),
    Case(name="no-name.csv", make=content("a,,c\n1,2,3\n"), refused=("column 2", "empty name")),
    Case(name="break-in-name.csv", make=content('"a\nb",c\n1,2\n'), refused=("column 1", "control")),
    Case(name="escape-in-name.csv", make=content("a\x1b[2J,c\n1,2\n"), refused=("column 1", "control")),
    Case(name="turned-name.csv", make=content("a\u202eb,c\n1,2\n"), refused=("column 1", "invisible")),
    Case(name="long-name.csv", make=content("a" * 300 + ",c\n1,2\n"), refused=("column 1", "300 signs")),
    Case(
        name="injection.csv",
        make=content('"""; DROP TABLE rows; --","a\'); DELETE FROM rows; --",日本,🙂,שלום\n1,2,3,4,5\n'),
        rows=[(1, 2, 3, 4, 5)],
    ),
    Case(
        name="many-columns.csv",
        make=content(",".join(f"n{n}" for n in range(10_000)) + "\n" + ",".join("1" * 10_000) + "\n"),
        refused=("10000 columns", "limit"),
    ),
    Case(name="huge-line.csv", make=huge_line, refused=("line 3", "more than 2000000 bytes")),
    Case(name="endless-quote.csv", make=content(b'a,b\n1,"' + b"x" * 3_000_000), refused=("line 2", "not closed")),
    Case(
        name="too-many-rows.csv",
        make=content("a\n1\n2\n3\n"),
        limits=Limits(rows=2),
        refused=("more than 2 rows",),
    ),
    # values
    Case(
        name="huge-ints.csv", make=content(f"a\n1\n{2**63}\n{10**30}\n"), rows=[("1",), (str(2**63),), (str(10**30),)]
    ),
    Case(name="least-int.csv", make=content(f"a\n{-(2**63)}\n{2**63 - 1}\n"), rows=[(-(2**63),), (2**63 - 1,)]),
    Case(name="long-ints-and-decimals.csv", make=content(f"a\n{2**53 + 1}\n0.5\n"), rows=[(str(2**53 + 1),), ("0.5",)]),
    Case(name="overflow.csv", make=content("a\n1.5\n1e400\n"), rows=[("1.5",), ("1e400",)]),
    Case(name="underflow.csv", make=content("a\n1.5\n1e-400\n"), rows=[("1.5",), ("1e-400",)]),
    Case(name="infinite.csv", make=content("a\n-inf\n1\nInfinity\n"), rows=[(-float("inf"),), (1.0,), (float("inf"),)]),
    Case(name="minus-zero.csv", make=content("a\n-0\n1\n"), rows=[(-0.0,), (1.0,)]),
    Case(name="zip-codes.csv", make=content("zip\n01301\n90210\n"), rows=[("01301",), ("90210",)]),
    Case(name="odd-numbers.csv", make=content("a,b,c\n1_000,+5, 7\n"), rows=[("1_000", "+5", " 7")]),
    Case(name="hex.csv", make=content("a\n0x10\n1\n"), rows=[("0x10",), ("1",)]),
    Case(name="year-zero.csv", make=content("d\n2020-01-01\n0000-01-01\n"), rows=[("2020-01-01",), ("0000-01-01",)]),
    Case(name="year-10000.csv", make=content("d\n2020-01-01\n10000-01-01\n"), rows=[("2020-01-01",), ("10000-01-01",)]),
    Case(name="no-such-day.csv", make=content("d\n2020-02-30\n2020-02-01\n"), rows=[("2020-02-30",), ("2020-02-01",)]),
    Case(name="some-offsets.csv", make=content("t\n2020-01-01T00:00:00Z\n2020-01-01T00:00:00\n"), rows=2),
    Case(name="late-text.csv", make=content(late("x")), rows=50_001),
    Case(name="late-decimal.csv", make=content(late("0.5")), rows=50_001),
    Case(name="late-ragged.csv", make=content(late(f"{CANARY},2")), refused=("line 50002", "2 fields")),
    # packed
    Case(name="fine.csv.gz", make=packed(b"a\n1\n"), rows=[(1,)]),
    Case(name="two-members.csv.gz", make=content(gzip.compress(b"a\n1\n") + gzip.compress(b"2\n")), rows=[(1,), (2,)]),
    Case(name="zeros.csv.gz", make=zeros, refused=("NUL",)),
    Case(
        name="bomb.csv.gz",
        make=packed(b"a,b\n" + b"1,2\n" * 20_000_000),
        refused=("more than 100 times",),
    ),
    Case(name="cut.csv.gz", make=content(gzip.compress(b"a\n1\n" * 9)[:-9]), refused=("broken gzip",)),
    Case(name="fine.csv.zip", make=zipped(("x.csv", "a\n1\n")), rows=[(1,)]),
    Case(name="two.zip", make=zipped(("x.csv", "a\n1\n"), ("y.csv", CANARY)), refused=("2 members",)),
    Case(name="escaping.csv.zip", make=zipped(("../../x.csv", "a\n1\n")), refused=("out of its folder",)),
    Case(name="rooted.csv.zip", make=zipped(("/etc/x.csv", "a\n1\n")), refused=("out of its folder",)),
    Case(name="lzma.csv.zip", make=zipped(("x.csv", "a\n1\n"), method=zipfile.ZIP_LZMA), refused=("unusual",)),
    Case(name="false.csv.zip", make=content(f"PK\x03\x04{CANARY}"), refused=("broken zip",)),
    # Parquet
    Case(name="fine.parquet", make=parquet("SELECT 1 AS a, 'x' AS b"), rows=[(1, "x")]),
    Case(name="no-rows.parquet", make=parquet(PLAIN + " WHERE range < 0"), refused=("no rows",)),
    Case(name="cut.parquet", make=mangled(PLAIN, lambda data: data[:-100]), refused=("no readable Parquet footer",)),
    Case(name="half.parquet", make=mangled(PLAIN, lambda data: data[: len(data) // 2]), refused=("footer",)),
    Case(
        name="no-pages.parquet",
        make=mangled(PLAIN, lambda data: b"PAR1" + bytes(len(data) - 904) + data[-900:]),
        refused=("contradicts",),
    ),
    Case(name="nested.parquet", make=parquet(NESTED), refused=("'tags'", "nested")),
    Case(name="list.parquet", make=parquet("SELECT 1 AS a, ['canary7316'] AS many"), refused=("'many'", "nested")),
    Case(name="blob.parquet", make=parquet("SELECT 'canary7316'::BLOB AS raw"), refused=("'raw'", "blob")),
    Case(name="same-name.parquet", make=parquet('SELECT 1 AS a, 2 AS "A "'), refused=("columns 1 and 2", "same name")),
    Case(name="runs.parquet", make=parquet("SELECT 7316 AS a FROM range(70000000)"), refused=("100 times",)),
    Case(name="wide-ints.parquet", make=parquet(f"SELECT {10**30}::DECIMAL(38, 0) AS a"), rows=[(str(10**30),)]),
    # other formats
    Case(name="fine.xlsx", make=workbook(cells(("a", "b"), (1, "x"), (2.5, "01"))), rows=[(1.0, "x"), (2.5, "01")]),
    Case(name="mixed.xlsx", make=workbook(cells(("a",), (1,), ("x",))), rows=[("1",), ("x",)]),
    Case(name="formula.xlsx", make=workbook(cells(("a",), ("=1+1",))), refused=("row 2, column 1", "formula")),
    Case(name="error.xlsx", make=workbook(cells(("a",), ("#DIV/0!",))), refused=("row 2, column 1", "error value")),
    Case(
        name="error-as-null.xlsx",
        make=workbook(cells(("a",), (1,), ("#N/A",))),
        options=ReadOptions(nulls=("#N/A",)),
        rows=[(1,), (None,)],
    ),
    Case(name="doctype.xlsx", make=reworked(entities("sheet1.xml")), refused=("document type",)),
    Case(name="doctype-styles.xlsx", make=reworked(entities("styles.xml")), refused=("document type",)),
    Case(
        name="doctype-behind-comment.xlsx",
        make=reworked(entities("workbook.xml", b"<!-- <a> -->")),
        refused=("document type",),
    ),
    Case(
        name="doctype-between-comments.xlsx",
        make=reworked(
            lambda name, part: entities("sheet1.xml", b"<!-- a -->")(name, part).replace(b"]>", b"]><!-- -->")
        ),
        refused=("document type",),
    ),
    Case(
        name="wide-letters.xlsx",
        make=reworked(lambda name, part: part.decode().encode("utf-16") if "sheet1" in name else part),
        refused=("another encoding",),
    ),
    Case(
        name="commented.xlsx",
        make=reworked(lambda _, part: part.replace(b"?>", b"?><!-- fine -->", 1)),
        rows=[(CANARY,)],
    ),
    Case(name="merged.xlsx", make=workbook(merged), refused=("merged",)),
    Case(name="two-sheets.xlsx", make=workbook(two_sheets), refused=("2 visible sheets", "'other'")),
    Case(name="beside.xlsx", make=workbook(cells(("a",), (1, CANARY))), refused=("row 2", "beside")),
    Case(name="gap.xlsx", make=workbook(cells(("a",), (1,), (), (CANARY,))), refused=("row 3", "empty row")),
    Case(name="false.xlsx", make=content(f"PK\x03\x04{CANARY}"), refused=("broken workbook",)),
    Case(name="fine.sav", make=sav(n=[1.0, None], s=["x", "y"]), rows=[(1, "x"), (None, "y")]),
    Case(name="false.sav", make=content(f"$FL2{CANARY}"), refused=("no readable spss",)),
    Case(name="false.dta", make=content(f"<stata_dta>{CANARY}"), refused=("no readable stata",)),
    Case(name="false.sas7bdat", make=content(CANARY), refused=("first bytes",)),
    Case(name="fine.arrow", make=arrow(lambda pa: pa.table({"a": [1, 2]})), rows=[(1,), (2,)]),
    Case(name="nested.feather", make=arrow(lambda pa: pa.table({"tags": [[CANARY]]})), refused=("'tags'", "list")),
    Case(name="false.arrow", make=content(f"ARROW1{CANARY}"), refused=("no readable arrow",)),
    # extensions and places
    Case(name="parquet-called.csv", make=parquet(PLAIN), refused=("first bytes", "parquet")),
    Case(name="csv-called.parquet", make=content(f"a\n{CANARY}\n"), refused=("first bytes",)),
    Case(name="gzip-called.csv", make=packed(b"a\n1\n"), refused=("first bytes", "gzip")),
    Case(name="csv-called.csv.gz", make=content(f"a\n{CANARY}\n"), refused=("first bytes",)),
    Case(name="unknown.data", make=content(f"a\n{CANARY}\n"), refused=("'.data'", "format")),
    Case(name="unknown-declared.data", make=content("a\n1\n"), options=ReadOptions(format=Format.CSV), rows=[(1,)]),
    Case(name="packed.xlsx.gz", make=packed(b"x"), refused=("packed excel",)),
    Case(name="folder.csv", make=Path.mkdir, refused=("a folder",)),
    Case(name="pipe.csv", make=os.mkfifo, refused=("a pipe",)),
    Case(name="device.csv", make=unreadable, refused=("a device",)),
    Case(name="dangling.csv", make=dangling, refused=("leads nowhere",)),
    Case(name="loop.csv", make=looping, refused=("cannot be followed",)),
    Case(name="link.csv", make=linked, rows=[(1,)]),
    Case(name="absent.csv", make=void, refused=("no such file",)),
    Case(name="outside.csv", make=outside, options=ReadOptions(root=Path("/tmp/discreet-root")), refused=("outside",)),
    Case(name="large.csv", make=content("a\n1\n2\n"), limits=Limits(bytes=3), refused=("6 bytes",)),
)
