"""How results are shown: tables for people, or JSON or CSV; data on standard output, all else on standard error."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich import box
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from discreet.draw import Grid, Page
from discreet.draw.format import written
from discreet.draw.lettering import plain
from discreet.draw.pdf import to_pdf
from discreet.errors import FileError

__all__ = ["progress", "say", "show_csv", "show_grids", "show_json", "show_text", "write_page"]

# What the keeper looks at is raw.
_RAW = "It shows raw figures: keep it to yourself."


def show_grids(grids: Sequence[Grid]) -> None:
    """Tables for people, as wide as the terminal. Control signs out of a file never reach it."""
    console = Console(highlight=False)
    for grid in grids:
        note = Text(plain(grid.note)) if grid.note else None
        table = Table(
            title=Text(plain(grid.title)), title_justify="left", caption=note, box=box.SIMPLE_HEAD, pad_edge=False
        )
        table.caption_justify = "left"
        for column in grid.columns:
            justify: JustifyMethod = "left" if column.kind == "text" else "right"
            table.add_column(Text(plain(column.name)), justify=justify, overflow="fold")
        for row in grid.rows:
            cells = (written(column.kind, cell) for cell, column in zip(row, grid.columns, strict=True))
            table.add_row(*(Text(plain(cell)) for cell in cells))
        console.print(table)


def show_csv(grid: Grid) -> None:
    """One table as CSV."""
    sys.stdout.write(grid.csv())


def show_json(value: object) -> None:
    """One JSON value."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def show_text(text: str) -> None:
    """Text as it is, with a line end."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def write_page(page: Page, html: Path | None, pdf: Path | None = None, *, note: str = _RAW) -> None:
    """Write an offline page wherever it is wanted, readable by its owner only, and say so."""
    ways: tuple[tuple[Path | None, Callable[[Page], bytes]], ...] = (html, _to_html), (pdf, to_pdf)
    for path, made_of in ways:
        if path is not None:
            _write(path, made_of(page))
            say(f"Written to {path}. {note}")


def _to_html(page: Page) -> bytes:
    return page.html().encode()


def _write(path: Path, content: bytes) -> None:
    try:
        path.touch(mode=0o600)
        path.chmod(0o600)  # it may have been there, open to others
        path.write_bytes(content)
    except OSError as error:
        reason = (error.strerror or "it cannot be written").lower()
        raise FileError(
            str(path), found=reason, right="a page needs a folder you may write to", step="name another file"
        ) from None


def say(line: str) -> None:
    """A line for people, beside the data."""
    sys.stderr.write(line + "\n")


@contextlib.contextmanager
def progress(what: str) -> Iterator[Callable[[str], None]]:
    """A moving line while long work runs. It names phases only: nothing in it depends on the data."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status(what) as status:
        yield lambda phase: status.update(f"{what}: {phase}")
