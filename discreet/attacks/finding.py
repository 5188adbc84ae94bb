"""What every attack hands back: sentences, charts, tables and plain values; and all of it as one offline page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from discreet.draw import Block, Callout, Heading, Page, Paragraph
from discreet.draw.chart import Chart
from discreet.draw.grid import Grid

__all__ = ["Finding", "finding_page"]

_WARNING = (
    "What an intruder could find out. It is for whoever decides about the publication, not for publication itself. An "
    "attack that fails here proves nothing: another one, or one who knows more, may succeed."
)


class Finding(Protocol):
    """The result of an attack."""

    def sentences(self) -> tuple[str, ...]:
        """What came out, in plain words, most telling first."""
        ...

    def charts(self) -> tuple[Chart, ...]:
        """The pictures."""
        ...

    def grids(self) -> tuple[Grid, ...]:
        """The figures as tables for people."""
        ...

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        ...


def finding_page(title: str, findings: Sequence[tuple[str, Finding]]) -> Page:
    """One page for one finding or several, each under its own heading."""
    blocks: list[Block] = [Callout("warning", _WARNING)]
    for name, finding in findings:
        if len(findings) > 1:
            blocks.append(Heading(name))
        blocks += [Paragraph(sentence) for sentence in finding.sentences()]
        blocks += [*finding.charts(), *finding.grids()]
    return Page(title=title, lead=findings[0][1].sentences()[0], blocks=tuple(blocks))
