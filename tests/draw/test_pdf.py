"""A page as PDF: whole, the same each time, and with every hostile word set as words."""

from __future__ import annotations

import json
import sys

import pytest
import typst

from discreet.draw import Axis, Bars, Callout, Chart, Code, Grid, GridColumn, Heading, Page, Panels, Paragraph
from discreet.draw.pdf import to_pdf, typeset
from discreet.errors import MissingExtraError

HOSTILE = '"] #panic("no") #include "x" $x$ *a* _b_ \\ \\" `c` @d <e> // f /* g \n\t\r\u202e\x00 é 中'


def page(words: str = HOSTILE) -> Page:
    chart = Chart(
        words, Axis(words), Axis(words, scale="band", categories=(words,)), (Bars((1,), (words,), words),), words
    )
    return Page(
        words,
        words,
        (
            *(Heading(f"{at} {words}") for at in range(4)),
            Paragraph(words),
            Callout("measured risk", words),
            Callout("warning", words),
            Code(words),
            Grid(
                words, (GridColumn(words), GridColumn("figure", "share")), ((words, 0.123), (words, None)), note=words
            ),
            chart,
            Panels(words, (chart, chart)),
        ),
    )


def test_a_page_is_one_pdf_and_the_same_each_time() -> None:
    made = to_pdf(page("plain words"))
    assert made.startswith(b"%PDF-")
    assert made.rstrip().endswith(b"%%EOF")
    assert made == to_pdf(page("plain words"))


def test_hostile_words_are_set_as_words() -> None:
    assert to_pdf(page()).startswith(b"%PDF-")
    headings = json.loads(typst.query(typeset(page()).encode(), "heading"))
    assert len(headings) == 4
    told = headings[0]["body"]["text"]
    for part in ('#panic("no")', '#include "x"', "$x$", "*a*", "_b_", "`c`", "@d", "<e>", "// f /* g", "é 中"):
        assert part in told
    assert "\x00" not in told
    assert "\u202e" not in told


def test_every_kind_of_block_reaches_the_page() -> None:
    written = typeset(page("words"))
    for command in ("outline(", "heading(", "par(", "callout(", "raw(", "sheet(", "drawing("):
        assert f"#{command}" in written
    assert written.count("#drawing(") == 2
    assert '"12.3' in written


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    with pytest.raises(MissingExtraError, match=r"discreet\[evaluation\]"):
        to_pdf(page("words"))
