"""A page as PDF: the same value that becomes HTML, set by Typst without a network.

Every word reaches Typst as a string literal inside code, never as markup, so nothing in a name can become a command;
figures are the same SVG that HTML shows. No date is written: equal pages give equal files. Letters are Libertinus,
which comes with Typst; what it lacks is taken from the fonts of the machine.

Typst is part of the extra [evaluation]. It is loaded when a PDF is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

from discreet.draw.chart import Chart, Panels
from discreet.draw.format import aligned, written
from discreet.draw.grid import Grid
from discreet.draw.lettering import legible
from discreet.draw.page import Block, Callout, Code, Heading, Page, Paragraph
from discreet.draw.palette import FAMILIES, FONT, HAIR, INK, MUTED, SERIES
from discreet.draw.svg import to_svg
from discreet.errors import EngineError, MissingExtraError

__all__ = ["to_pdf", "typeset"]

_LETTERS = "Libertinus Serif"
_FIGURE_WIDTH = 640
_CONTENTS_FROM = 4
_TONES = {
    "guarantee": (
        f"{FAMILIES['guarantee'].label} · {FAMILIES['guarantee'].meaning}",
        FAMILIES["guarantee"].shade.light,
    ),
    "measured risk": (
        f"{FAMILIES['measured risk'].label} · {FAMILIES['measured risk'].meaning}",
        FAMILIES["measured risk"].shade.light,
    ),
    "warning": ("Warning", SERIES[5].light),
    "note": ("Note", MUTED.light),
}
_SETTING = f"""
#set page(paper: "a4", margin: (x: 19mm, y: 20mm), numbering: "1 / 1")
#set text(font: "{_LETTERS}", size: 10.5pt, fill: rgb("{INK.light}"), lang: "en")
#set par(leading: 0.62em, spacing: 0.95em)
#set heading(outlined: true)
#show heading: it => block(above: 1.5em, below: 0.7em, sticky: true, text(weight: "semibold", it.body))
#show heading.where(level: 1): set text(size: 14pt)
#show heading.where(level: 2): set text(size: 11.5pt)
#show table.cell: set text(size: 8.5pt)
#show table.cell.where(y: 0): set text(fill: rgb("{MUTED.light}"))
#let callout(label, shade, words) = block(
  width: 100%, inset: (left: 9pt, rest: 6pt), stroke: (left: 3pt + rgb(shade)), fill: rgb(shade).lighten(93%),
  breakable: false, [#text(size: 9pt, weight: "bold", fill: rgb(shade), label) \\ #words],
)
#let drawing(source, caption) = block(width: 100%, breakable: false)[
  #image(bytes(source), format: "svg", width: 100%)
  #text(size: 9pt, fill: rgb("{MUTED.light}"), caption)
]
#let sheet(title, note, figures, ..cells) = block(width: 100%)[
  #block(sticky: true, below: 0.6em, text(size: 9.5pt, weight: "bold", title))
  #table(
    columns: figures.len(), inset: (x: 4pt, y: 3.2pt),
    align: (x, _) => if figures.at(x) {{ right + bottom }} else {{ left + bottom }},
    stroke: (_, y) => (bottom: 0.4pt + rgb("{HAIR.light}")),
    table.header(..cells.pos().slice(0, figures.len())), ..cells.pos().slice(figures.len()),
  )
  #text(size: 8.5pt, fill: rgb("{MUTED.light}"), note)
]
"""


def to_pdf(page: Page) -> bytes:
    """The page as the bytes of a PDF."""
    try:
        import typst
    except ImportError:
        raise MissingExtraError("PDF", library="typst", extra="evaluation") from None
    try:
        made = typst.compile(typeset(page).encode(), format="pdf", timestamp=0)
    except typst.TypstError:
        raise EngineError(
            "PDF", found="Typst could not set the page", right="the page itself is whole", step="write it as HTML"
        ) from None
    assert isinstance(made, bytes)
    return made


def typeset(page: Page) -> str:
    """The page in Typst's language."""
    return "".join([_SETTING, *(f"#{part}\n" for part in _parts(page))])


def _parts(page: Page) -> Iterator[str]:
    yield f"set document(title: {_text(page.title)}, date: none)"
    yield f'block(below: 0.6em, text(size: 21pt, weight: "semibold", {_text(page.title)}))'
    if page.lead:
        yield f'block(text(size: 12pt, fill: rgb("{MUTED.light}"), {_text(page.lead)}))'
    sections = sum(isinstance(block, Heading) and block.level == 2 for block in page.blocks)
    if sections >= _CONTENTS_FROM:
        yield "outline(title: none, depth: 1)"
    for block in page.blocks:
        yield _block(block)


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f"heading(level: {block.level - 1}, {_text(block.text)})"
        case Paragraph():
            return f"par({_text(block.text)})"
        case Callout():
            label, shade = _TONES[block.kind]
            return f'callout({_text(label)}, "{shade}", {_text(block.text)})'
        case Code():
            return f"raw(block: true, {_text(block.text)})"
        case Grid():
            return _sheet(block)
        case Chart() | Panels():
            caption = block.caption
            if not caption and isinstance(block, Panels):
                caption = " ".join(chart.caption for chart in block.charts)
            drawn = to_svg(block, width=_FIGURE_WIDTH).replace(FONT, _LETTERS)
            return f"drawing({_text(drawn)}, {_text(caption)})"


def _sheet(grid: Grid) -> str:
    figures = [column.kind != "text" for column in grid.columns]
    columns = [[written(column.kind, row[at]) for row in grid.rows] for at, column in enumerate(grid.columns)]
    shown = [aligned(column) if figure else column for column, figure in zip(columns, figures, strict=True)]
    cells = [column.name for column in grid.columns] + [cell for row in zip(*shown, strict=True) for cell in row]
    flags = ", ".join("true" if figure else "false" for figure in figures)
    written_cells = ", ".join(map(_text, cells))
    return f"sheet({_text(grid.title)}, {_text(grid.note)}, ({flags},), {written_cells})"


def _text(text: str) -> str:
    """A string literal of Typst."""
    escaped = legible(text).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + '"'
