"""A grid: a small table for people, as a frozen value that writes itself as text, CSV, HTML and records."""

from __future__ import annotations

import csv
import io
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real
from typing import TypeAlias, get_args

from discreet.check import one_of, some
from discreet.draw.format import Kind, aligned, written
from discreet.draw.lettering import escape, plain, width
from discreet.errors import ArgumentError

__all__ = ["Cell", "Grid", "GridColumn"]

Cell: TypeAlias = str | int | float | Fraction | None

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_FORMULA_STARTS = tuple("=+-@\t\r\n＝＋－＠")
_GAP = "  "


@dataclass(frozen=True, slots=True)
class GridColumn:
    """A column's heading and how its values are written."""

    name: str
    kind: Kind = "text"

    def __post_init__(self) -> None:
        one_of(f"kind of column {self.name!r}", self.kind, get_args(Kind))


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows under named columns; every row has one cell for each column."""

    title: str
    columns: tuple[GridColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        some(f"columns of {self.title!r}", [column.name for column in self.columns], step="name each column once")
        rows = tuple(self._settled(position, row) for position, row in enumerate(self.rows, start=1))
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "rows", rows)

    def _settled(self, position: int, row: tuple[Cell, ...]) -> tuple[Cell, ...]:
        if len(row) != len(self.columns):
            raise ArgumentError(
                f"row {position} of {self.title!r}",
                found=f"{len(row)} cells",
                right=f"there are {len(self.columns)} columns",
                step="give each row one cell for each column, None where there is nothing",
            )
        where = f"row {position} of {self.title!r}, column"
        return tuple(_settled(f"{where} {column.name!r}", cell) for column, cell in zip(self.columns, row, strict=True))

    def text(self) -> str:
        """Aligned lines for a terminal: words to the left, figures to the right."""
        table = [[plain(column.name) for column in self.columns], *([plain(c) for c in r] for r in self._shown())]
        widths = [max(width(row[at]) for row in table) for at in range(len(self.columns))]
        lines = [_GAP.join(map(_padded, row, widths, self._figures())).rstrip() for row in table]
        rule = "─" * (sum(widths) + len(_GAP) * (len(widths) - 1))
        note = [plain(self.note)] if self.note else []
        return "\n".join([plain(self.title), rule, lines[0], rule, *lines[1:], rule, *note])

    def csv(self) -> str:
        """RFC 4180, with the values themselves; words that a spreadsheet would run as a formula are defused by a '."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\r\n")
        writer.writerow([_defused(column.name) for column in self.columns])
        writer.writerows([_defused(c) if isinstance(c, str) else _plain_value(c) for c in row] for row in self.rows)
        return out.getvalue()

    def records(self) -> list[dict[str, str | int | float | None]]:
        """One dict for each row, ready for JSON: fractions as floats, no NaN, infinities as words."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, map(_plain_value, row), strict=True)) for row in self.rows]

    def html(self) -> str:
        """A <table> with caption, column heads and row heads; classes only, no style."""
        figures = self._figures()
        heads = "".join(
            f'<th scope="col"{_class(figure)}>{escape(column.name)}</th>'
            for column, figure in zip(self.columns, figures, strict=True)
        )
        body = "".join(f"<tr>{self._html_row(row, figures)}</tr>\n" for row in self._shown())
        note = f'<p class="note">{escape(self.note)}</p>' if self.note else ""
        return (
            f'<div class="scroll" tabindex="0"><table class="grid">\n<caption>{escape(self.title)}</caption>\n'
            f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>{note}"
        )

    def _html_row(self, cells: tuple[str, ...], figures: list[bool]) -> str:
        first, *others = [
            f"<td{_class(figure)}>{escape(cell)}</td>" for cell, figure in zip(cells, figures, strict=True)
        ]
        if not figures[0]:
            first = f'<th scope="row">{escape(cells[0])}</th>'
        return "".join([first, *others])

    def _shown(self) -> list[tuple[str, ...]]:
        columns = [[written(column.kind, row[at]) for row in self.rows] for at, column in enumerate(self.columns)]
        shown = [aligned(c) if figure else c for c, figure in zip(columns, self._figures(), strict=True)]
        return list(zip(*shown, strict=True))

    def _figures(self) -> list[bool]:
        return [column.kind != "text" for column in self.columns]


def _settled(where: str, cell: object) -> Cell:
    """The cell as Python's own number: numpy's integers and floats would not go into JSON."""
    if cell is None or isinstance(cell, str | bool | Fraction):
        return cell
    if isinstance(cell, Integral):
        return int(cell)
    if isinstance(cell, Real):
        return float(cell)
    raise ArgumentError(
        where,
        found=f"a {type(cell).__name__}",
        right="a cell is text, a number or None",
        step="convert it with str(), int() or float() first",
    )


def _plain_value(cell: Cell) -> str | int | float | None:
    if cell is None or isinstance(cell, str | int):
        return cell
    try:
        value = float(cell)
    except OverflowError:
        value = math.inf if cell > 0 else -math.inf
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _defused(text: str) -> str:
    risky = text.lstrip(" ").startswith(_FORMULA_STARTS) and not _NUMBER.fullmatch(text)
    return f"'{text}" if risky else text


def _padded(text: str, columns: int, figure: bool) -> str:
    padding = " " * (columns - width(text))
    return padding + text if figure else text + padding


def _class(figure: bool) -> str:
    return ' class="figure"' if figure else ""
