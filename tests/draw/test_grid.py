"""Grids: rectangular by construction, harmless as CSV and HTML, aligned as text, valid as JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.draw import Cell, Grid, GridColumn
from discreet.draw.lettering import width
from discreet.errors import ArgumentError

_HOSTILE = ["=1+1", "+cmd|'/c calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", " =1+1", "＝1+1", '=HYPERLINK("x")']
_cells = st.one_of(
    st.none(), st.text(), st.integers(), st.floats(), st.fractions(), st.sampled_from(_HOSTILE), st.booleans()
)


def _grid(*rows: tuple[Cell, ...]) -> Grid:
    columns = (GridColumn("set"), GridColumn("records", "count"), GridColumn("share", "share"))
    return Grid("Unique records", columns, rows, note="of all")


@pytest.mark.parametrize("row", [(), ("a",), ("a", 1, 2, 3)])
def test_a_ragged_row_is_refused_by_its_position(row: tuple[Cell, ...]) -> None:
    with pytest.raises(ArgumentError, match="row 2 of 'Unique records'"):
        _grid(("a", 1, 0.5), row)


def test_what_is_no_cell_is_refused_without_being_shown() -> None:
    with pytest.raises(ArgumentError, match="row 1 of 'Unique records', column 'records'") as caught:
        _grid(("a", ["secret"], 0.5))  # type: ignore[arg-type]  # the refusal is what is tested
    assert "secret" not in str(caught.value)


def test_columns_are_named_once_and_of_a_known_kind() -> None:
    with pytest.raises(ArgumentError, match="twice"):
        Grid("t", (GridColumn("a"), GridColumn("a")), ())
    with pytest.raises(ArgumentError, match="kind of column 'a'"):
        GridColumn("a", "money")  # type: ignore[arg-type]  # the refusal is what is tested


def test_text_is_aligned_to_the_column() -> None:
    lines = _grid(("age, sex", 48842, Fraction(1, 3)), ("日本", None, 0.00012)).text().splitlines()
    assert lines[0] == "Unique records"
    assert lines[4] == "age, sex   48 842  33.3   %"
    assert lines[5] == "日本            –   0.012 %"
    assert lines[-1] == "of all"


@given(st.lists(st.tuples(_cells, _cells, _cells), max_size=5))
def test_text_never_steers_the_terminal_and_keeps_its_width(rows: list[tuple[Cell, ...]]) -> None:
    lines = _grid(*rows).text().split("\n")
    assert len(lines) == len(rows) + 6
    assert all(line.isprintable() for line in lines)
    assert all(width(line) <= width(lines[1]) for line in lines[2:-1])


@given(st.lists(st.tuples(_cells, _cells, _cells), max_size=5))
def test_csv_reads_back_and_no_cell_starts_a_formula(rows: list[tuple[Cell, ...]]) -> None:
    read = list(csv.reader(io.StringIO(_grid(*rows).csv(), newline="")))
    assert read[0] == ["set", "records", "share"]
    assert len(read) == len(rows) + 1
    for written, row in zip(read[1:], rows, strict=True):
        for text, cell in zip(written, row, strict=True):
            if isinstance(cell, str):
                assert text in (cell, f"'{cell}")
            if text.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")):
                assert math.isfinite(float(text)) or text == "-Infinity"


@pytest.mark.parametrize("text", _HOSTILE)
def test_a_formula_is_defused_in_cells_and_in_headings(text: str) -> None:
    written = Grid("t", (GridColumn(text),), ((text,),)).csv()
    assert list(csv.reader(io.StringIO(written, newline=""))) == [[f"'{text}"], [f"'{text}"]]


def test_csv_keeps_the_values_and_negative_numbers() -> None:
    assert _grid(("-5", -5, Fraction(1, 4))).csv() == "set,records,share\r\n-5,-5,0.25\r\n"


@given(st.lists(st.tuples(_cells, _cells, _cells), max_size=5))
def test_records_are_strict_json(rows: list[tuple[Cell, ...]]) -> None:
    records = _grid(*rows).records()
    assert json.loads(json.dumps(records, allow_nan=False)) == records


def test_records_say_infinities_and_gaps_in_words_json_has() -> None:
    assert _grid(("a", math.inf, math.nan), ("b", -math.inf, Fraction(10) ** 400)).records() == [
        {"set": "a", "records": "Infinity", "share": None},
        {"set": "b", "records": "-Infinity", "share": "Infinity"},
    ]


def test_numbers_of_numpy_become_plain() -> None:
    (record,) = _grid(("a", np.int64(7), np.float64(0.5))).records()  # type: ignore[arg-type]  # as callers do
    assert [type(value) for value in record.values()] == [str, int, float]


@given(st.lists(st.tuples(_cells, _cells, _cells), max_size=5), st.text())
def test_html_is_well_formed_and_holds_every_cell(rows: list[tuple[Cell, ...]], title: str) -> None:
    html = Grid(title, (GridColumn("<b>"), GridColumn("n", "count"), GridColumn("s", "share")), tuple(rows)).html()
    table = ElementTree.fromstring(html)[0]
    assert [head.text for head in table.findall("thead/tr/th")] == ["<b>", "n", "s"]
    assert len(table.findall("tbody/tr")) == len(rows)
    assert all(len(row) == 3 for row in table.findall("tbody/tr"))
    assert "style=" not in html.replace(title, "")
