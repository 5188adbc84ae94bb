"""The report on tuning: what masks keep and what they give away, few copies and many, as one offline page."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.draw import Callout, Heading, Page, Paragraph
from discreet.evaluation.tuning import Frontier

__all__ = ["tuning_page"]

_READING = (
    "One noise turns all masks together. To the left of the panels little is let through: copies say what the model "
    "says, and nobody is found but by luck. To the right copies come close to the records, and so does an intruder.",
    "Lines that are flat have nothing to tune. More copies make better intervals, and give an intruder more to "
    "average. The figures are of copies that were made to be measured. Others, made in the same way, differ a little.",
)


def tuning_page(table: str, frontier: Frontier, sentences: Sequence[str], notes: Sequence[str]) -> Page:
    """The frontier of utility and risk, drawn and in figures, for the table's keeper."""
    lead, *more = sentences
    return Page(
        title=f"Masks for copies of {table}",
        lead=lead,
        blocks=(
            Callout(
                "measured risk",
                "NOT DIFFERENTIAL PRIVACY. What follows was measured, of the intruder that is described. No mask is a "
                "guarantee, and publishing copies is a release outside the guarantee, which the ledger notes.",
            ),
            Callout(
                "warning", "This page shows raw figures of the original, for its keeper. Do not publish it as it is."
            ),
            *(Paragraph(sentence) for sentence in more),
            *(Callout("note", f"{note[0].upper()}{note[1:]}.") for note in notes),
            Heading("What is let through, and what it does"),
            frontier.panels("utility"),
            frontier.panels("risk"),
            Heading("One against the other"),
            frontier.chart(),
            frontier.grid(),
            Heading("How to read this"),
            *map(Paragraph, _READING),
        ),
    )
