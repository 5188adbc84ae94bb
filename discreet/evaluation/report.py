"""Reports: what was found, as one offline page."""

from __future__ import annotations

from discreet.draw import Callout, Heading, Page, Paragraph
from discreet.risk.disclosure import Disclosure
from discreet.risk.uniqueness import Uniqueness

__all__ = ["exposure_page"]


def exposure_page(table: str, found: Uniqueness, risks: Disclosure | None = None) -> Page:
    """How exposed a table is, for its keeper: sentences, figures, tables."""
    lead, *more = found.sentences()
    return Page(
        title=f"How exposed is {table}?",
        lead=lead,
        blocks=(
            Callout("warning", "Raw figures for the keeper. Publishing them is a release without any guarantee."),
            *(Paragraph(sentence) for sentence in (*more, *(risks.sentences() if risks else ()))),
            Heading("Pictures"),
            *found.charts(),
            *(risks.charts() if risks else ()),
            Heading("Figures"),
            *found.grids(),
            *(risks.grids() if risks else ()),
            Heading("How to read this"),
            Paragraph(
                "A quasi-identifier is a column somebody may know about a person from elsewhere. Records that agree "
                "on all of them form a class. Alone in a class, a person is found by whoever knows these columns; in "
                "a class of k, among k. That is a measure of exposure, not a promise: it counts what is in this "
                "table, and says nothing of what an intruder knows beyond the columns named."
            ),
        ),
    )
