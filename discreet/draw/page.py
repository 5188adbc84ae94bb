"""A page: headings, words, tables and figures as one HTML file that stays whole without a network.

There is no script, no address outside the file, and a content policy that would stop either: the style sheet is named
by its hash. Each figure is laid out twice, for a desk and for a phone; a print has the former, always on white.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal, TypeAlias, get_args

from discreet.check import one_of
from discreet.draw.chart import Chart, Panels
from discreet.draw.grid import Grid
from discreet.draw.lettering import escape
from discreet.draw.palette import FAMILIES, variables
from discreet.draw.svg import to_svg
from discreet.errors import ArgumentError

__all__ = ["Block", "Callout", "Code", "Heading", "Page", "Paragraph", "stylesheet"]

Tone: TypeAlias = Literal["guarantee", "measured risk", "warning", "note"]

_WIDE, _NARROW = 716, 360
_CONTENTS_FROM = 4
_TONES: Final = {
    "guarantee": ("guarantee", f"{FAMILIES['guarantee'].label} · {FAMILIES['guarantee'].meaning}"),
    "measured risk": ("risk", f"{FAMILIES['measured risk'].label} · {FAMILIES['measured risk'].meaning}"),
    "warning": ("warning", "Warning"),
    "note": ("note", "Note"),
}


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 2 opens a section, level 3 a part of it."""

    text: str
    level: Literal[2, 3] = 2

    def __post_init__(self) -> None:
        one_of("level of a heading", self.level, (2, 3))


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Plain words."""

    text: str


@dataclass(frozen=True, slots=True)
class Callout:
    """Words set apart: what a family promises, a warning, a note."""

    kind: Tone
    text: str

    def __post_init__(self) -> None:
        one_of("kind of a callout", self.kind, get_args(Tone))


@dataclass(frozen=True, slots=True)
class Code:
    """Words a machine reads, set line by line."""

    text: str


Block: TypeAlias = Heading | Paragraph | Callout | Code | Grid | Chart | Panels


@dataclass(frozen=True, slots=True)
class Page:
    """A title, a lead that says the most important, and blocks in order."""

    title: str
    lead: str
    blocks: tuple[Block, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "blocks", tuple(self.blocks))
        for position, block in enumerate(self.blocks, start=1):
            if not isinstance(block, get_args(Block)):
                raise ArgumentError(
                    f"block {position} of {self.title!r}",
                    found=f"a {type(block).__name__}",
                    right="a block is a heading, words, a callout, code, a grid or a figure",
                    step="wrap words in Paragraph",
                )

    def html(self) -> str:
        """The whole file."""
        sheet = stylesheet()
        digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
        policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
        lead = f'<p class="lead">{escape(self.lead)}</p>\n' if self.lead else ""
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="referrer" content="no-referrer">\n<link rel="icon" href="data:,">\n'
            f"<title>{escape(self.title)}</title>\n<style>{sheet}</style>\n</head>\n<body>\n"
            f"<header>\n<h1>{escape(self.title)}</h1>\n{lead}</header>\n{self._key()}{self._contents()}<main>\n"
            + "".join(f"{part}\n" for part in self._parts())
            + "</main>\n</body>\n</html>\n"
        )

    def _parts(self) -> Iterator[str]:
        sections = 0
        for block in self.blocks:
            sections += isinstance(block, Heading)
            yield _html(block, sections)

    def _contents(self) -> str:
        """Links to the sections, where there are enough of them to get lost."""
        headings = [block for block in self.blocks if isinstance(block, Heading)]
        entries = [
            f'<li><a href="#section-{at}">{escape(heading.text)}</a></li>'
            for at, heading in enumerate(headings, start=1)
            if heading.level == 2
        ]
        if len(entries) < _CONTENTS_FROM:
            return ""
        return f'<nav aria-label="Contents"><ol>{"".join(entries)}</ol></nav>\n'

    def _key(self) -> str:
        """The signs of the families that this page speaks of."""
        used = {family for block in self.blocks for family in _families(block)}
        signs = "".join(
            f'<span><b class="of-{sign.shade.name}">{sign.label}</b> {sign.meaning}</span>'
            for family, sign in FAMILIES.items()
            if family in used
        )
        return f'<p class="key">Colours below: {signs}</p>\n' if signs else ""


@cache
def stylesheet() -> str:
    """The style of every page: the palette in light and dark, then the setting of words, tables and figures."""
    return variables() + files("discreet.draw").joinpath("page.css").read_text(encoding="utf-8")


def _families(block: Block) -> tuple[str, ...]:
    match block:
        case Panels():
            return tuple(chart.family for chart in block.charts)
        case Chart():
            return (block.family,)
        case Callout():
            return (block.kind,)
        case _:
            return ()


def _html(block: Block, section: int) -> str:
    match block:
        case Heading():
            return f'<h{block.level} id="section-{section}">{escape(block.text)}</h{block.level}>'
        case Paragraph():
            return f"<p>{escape(block.text)}</p>"
        case Callout():
            name, label = _TONES[block.kind]
            words = f"<strong>{label}</strong><p>{escape(block.text)}</p>"
            return f'<div class="callout callout-{name}" role="note">{words}</div>'
        case Code():
            return f'<pre tabindex="0"><code>{escape(block.text)}</code></pre>'
        case Grid():
            return f'<details class="sheet" open><summary>{escape(block.title)}</summary>\n{block.html()}</details>'
        case Chart() | Panels():
            return _figure(block)


def _figure(figure: Chart | Panels) -> str:
    caption = figure.caption or (" ".join(c.caption for c in figure.charts) if isinstance(figure, Panels) else "")
    words = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    wide, narrow = to_svg(figure, width=_WIDE), to_svg(figure, width=_NARROW)
    return f'<figure><div class="wide">{wide}</div><div class="narrow">{narrow}</div>{words}</figure>'
