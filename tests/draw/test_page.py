"""Pages: one file, well formed, nothing from outside, a policy that holds, every word escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from discreet.draw import (
    Axis,
    Block,
    Callout,
    Chart,
    Code,
    Grid,
    GridColumn,
    Heading,
    Line,
    Page,
    Panels,
    Paragraph,
    Points,
    stylesheet,
)
from discreet.errors import ArgumentError

_HOSTILE = "</style></title><script>alert(1)</script><img src=x onerror=alert(1)> & \"q\" 'q' \x00"
_VOID = {"meta", "link"}


class _Reader(HTMLParser):
    """Elements in order, with attributes; fails where an end tag does not match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def _chart(title: str, points: int = 5) -> Chart:
    values = tuple(range(points))
    marks = (Points(values, tuple((7 * at) % points for at in values)), Line(values, values, title))
    return Chart(title, Axis(title), Axis("y"), marks, title, "measured risk")


def _page(words: str) -> Page:
    grid = Grid(words, (GridColumn(words), GridColumn("n", "count")), ((words, 1), (words, 2)), words)
    sections = tuple(Heading(f"{words} {at}") for at in range(5))
    figures = (_chart(words), Panels(words, (_chart(words), _chart(words)), 2, words))
    callouts: tuple[Block, ...] = (
        Callout("guarantee", words),
        Callout("measured risk", words),
        Callout("warning", words),
        Callout("note", words),
    )
    return Page(words, words, (*sections, Paragraph(words), *callouts, Code(words), grid, *figures, Heading(words, 3)))


@pytest.mark.parametrize("words", ["plain", _HOSTILE])
def test_a_page_is_well_formed_whatever_its_words(words: str) -> None:
    read = _Reader(_page(words).html())
    assert read.open == []
    names = {name for name, _ in read.seen}
    assert not names & {"script", "img", "iframe", "object", "embed", "form", "base"}
    assert not {key for _, attributes in read.seen for key in attributes if key.startswith("on") or key == "style"}


def test_hostile_words_change_nothing_but_words() -> None:
    plain, hostile = _Reader(_page("plain").html()), _Reader(_page(_HOSTILE).html())
    structure = ["h1", "h2", "h3", "p", "strong", "pre", "table", "th", "td", "tr", "figure", "details", "nav", "a"]
    for name in structure:
        assert [n for n, _ in hostile.seen].count(name) == [n for n, _ in plain.seen].count(name)
    assert _HOSTILE.replace("\x00", "\ufffd") in hostile.words


def test_nothing_comes_from_outside() -> None:
    html = _page("plain").html()
    assert set(re.findall(r"\w+://[^\"' )]*", html)) == {"http://www.w3.org/2000/svg"}
    assert "@import" not in html
    assert "url(" not in html
    links = {attributes["href"] for _, attributes in _Reader(html).seen if "href" in attributes}
    assert all(link == "data:," or (link or "").startswith("#section-") for link in links)
    assert not [attributes for _, attributes in _Reader(html).seen if "src" in attributes]


def test_the_policy_allows_this_style_and_nothing_else() -> None:
    html = _page("plain").html()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules == {
        "default-src": "'none'",
        "style-src": f"'sha256-{digest}'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert style == stylesheet()
    assert html.index("Content-Security-Policy") < html.index("<style>")


def test_contents_lead_to_the_sections() -> None:
    read = _Reader(_page("plain").html())
    ids = {attributes["id"] for _, attributes in read.seen if "id" in attributes}
    links = [attributes["href"] for name, attributes in read.seen if name == "a"]
    assert links == [f"#section-{at}" for at in range(1, 6)]
    assert {(link or "")[1:] for link in links} < ids
    assert len(ids) == sum("id" in attributes for _, attributes in read.seen)


def test_every_grid_folds_and_every_figure_is_laid_out_twice() -> None:
    read = _Reader(_page("plain").html())
    names = [name for name, _ in read.seen]
    assert names.count("details") == names.count("summary") == names.count("table") == 1
    classes = [attributes.get("class") for name, attributes in read.seen if name == "div"]
    assert classes.count("wide") == classes.count("narrow") == names.count("figure") == 2


def test_the_families_are_explained_where_they_occur_and_only_there() -> None:
    assert 'class="of-guarantee"' in _page("plain").html()
    risky = Page("t", "", (_chart("c"),)).html()
    assert 'class="of-risk"' in risky
    assert 'class="of-guarantee"' not in risky
    assert 'class="key"' not in Page("t", "", (Paragraph("p"),)).html()


def test_the_classes_of_charts_have_a_style() -> None:
    html, sheet = _page("plain").html(), stylesheet()
    used = {name for names in re.findall(r'class="([^"]*)"', html) for name in names.split()}
    coloured = {name for name in used if name.startswith(("fill-", "line-", "halo-"))}
    assert coloured
    assert not [name for name in coloured if f".chart .{name}{{" not in sheet]
    assert "prefers-color-scheme:dark" in sheet
    assert "@media print" in sheet


def test_a_typical_report_stays_under_a_megabyte() -> None:
    columns = (GridColumn("set"), GridColumn("n", "count"), GridColumn("share", "share"))
    grid = Grid("grid", columns, tuple((f"column {at}", at, at / 1000) for at in range(500)))
    charts = tuple(_chart(f"chart {at}", 200) for at in range(10))
    html = Page("Report", "lead", (grid, *charts, _chart("large", 10_000))).html()
    assert len(html.encode()) < 1_000_000


def test_what_is_no_block_is_refused() -> None:
    words: Any = "words"
    with pytest.raises(ArgumentError, match="block 1 of 't'"):
        Page("t", "", (words,))
    with pytest.raises(ArgumentError, match="kind of a callout"):
        Callout(words, "t")
    level: Any = 1
    with pytest.raises(ArgumentError, match="level of a heading"):
        Heading("t", level)


def test_the_same_page_is_the_same_file() -> None:
    assert _page("plain").html() == _page("plain").html()
