"""The report on copies: what was done, utility, risk, both together, and how to read it, as one offline page."""

from __future__ import annotations

from dataclasses import asdict

from discreet.draw import Block, Callout, Grid, GridColumn, Heading, Page, Panels, Paragraph
from discreet.evaluation.copies import Evaluation
from discreet.evaluation.tradeoff import trade_off

__all__ = ["copies_page", "evaluation_grids"]

_PAIRED = 12


def copies_page(found: Evaluation) -> Page:
    """What copies of a table keep and give away, for its keeper: sentences, tables, pictures, each with a baseline."""
    risk = found.reidentification
    blocks: list[Block] = [
        Callout(
            "measured risk",
            "NOT DIFFERENTIAL PRIVACY. These copies come with no guarantee: what follows is what was measured, of the "
            "intruder that is described. Publishing them is a release outside the guarantee, and the ledger notes it.",
        ),
        Callout("warning", "This page shows raw figures of the original, for its keeper. Do not publish it as it is."),
        Heading("In short"),
        *(Paragraph(sentence) for sentence in found.sentences()),
        Heading("What was done"),
        _made(found),
        *(Callout("note", f"{note[0].upper()}{note[1:]}.") for note in found.notes),
        Heading("Utility: what the copies keep"),
        *(block for model in found.models for block in (model.grid(), model.chart())),
        _propensity_grid(found),
        found.marginals.grid(),
        *_paired(found),
        Heading("Risk: what the copies give away"),
        risk.grid(),
        risk.chart(),
        *(grid for grid in [risk.group_grid()] if grid is not None),
        *([_attribute_grid(found)] if found.attributes else []),
        _closeness_grid(found),
        *_traded(found),
        Heading("How to read this"),
        *map(Paragraph, _READING),
    ]
    lead = found.reidentification.sentences()[0] if not found.models else found.models[0].sentences()[0]
    return Page(title=f"Copies of {found.table}: utility and risk", lead=lead, blocks=tuple(blocks))


_READING = (
    "Utility. Intervals from the copies should overlap those from the original at least as much as those of another "
    "study would; otherwise the copies have changed the answer. A propensity ratio near 1 says that a classifier finds "
    "no more than chance; above it, the model behind the copies misses something. Distances of tables are good when "
    "they are no larger than those of a bootstrap sample, and useless when they reach those of independent columns.",
    "Risk. The intruder of this page knows the keys of everybody in the table and nothing else. The chance of picking "
    "the right record is an exact figure of these copies for this intruder. Compare it with the original itself, which "
    "is what releasing the table would cost, and with a pick at random. Somebody who knows more finds more.",
    "Both. The figures are of these copies, not of the method. They say nothing of columns that were not changed, of "
    "analyses that were not tried, or of other tables about the same persons.",
)


def evaluation_grids(found: Evaluation) -> tuple[Grid, ...]:
    """All tables of an evaluation, for people at a terminal."""
    groups = found.reidentification.group_grid()
    return (
        *(model.grid() for model in found.models),
        _propensity_grid(found),
        found.marginals.grid(),
        found.reidentification.grid(),
        *([] if groups is None else [groups]),
        *([_attribute_grid(found)] if found.attributes else []),
        _closeness_grid(found),
    )


def _made(found: Evaluation) -> Grid:
    rows = (
        ("table", found.table),
        ("method", found.method),
        ("records", found.records),
        ("copies", found.copies),
        ("columns changed", ", ".join(found.changed)),
        ("columns as they were", ", ".join(found.kept) or "none"),
        ("rule by which estimates are pooled", found.rule.value),
        ("design of the survey", _design(found)),
        ("keys of the intruder", ", ".join(found.reidentification.keys)),
        ("tolerances", ", ".join(f"{k}: {v:g}" for k, v in found.reidentification.tolerances.items()) or "none"),
    )
    return Grid("What was done", (GridColumn("what"), GridColumn("value")), rows)


def _design(found: Evaluation) -> str:
    parts = {part: name for part, name in asdict(found.sampling).items() if name}
    return ", ".join(f"{part}: {name}" for part, name in parts.items()) or "none"


def _propensity_grid(found: Evaluation) -> Grid:
    columns = ("score", "by chance", "told apart completely", "ratio to chance")
    rows = tuple(
        (f"{one.classifier}{', with interactions' * one.interactions}", one.score, one.null, 0.25, one.ratio)
        for one in found.propensities
    )
    return Grid(
        "How well a classifier tells copies from the original",
        (GridColumn("classifier"), *(GridColumn(name, "number") for name in columns)),
        rows,
        note="0 is not at all. A ratio near 1 is what a right model gives.",
    )


def _paired(found: Evaluation) -> list[Block]:
    """The one-way tables that lie farthest off, each as a picture."""
    distance = {one.columns[0]: one.distance for one in found.marginals.one}
    shares = sorted(found.marginals.shares, key=lambda one: -distance[one.column])[:_PAIRED]
    if not shares:
        return []
    caption = "Shares of records in the original and, on average, in the copies."
    if len(found.marginals.shares) > len(shares):
        caption += f" The {len(shares)} columns that lie farthest off, of {len(found.marginals.shares)}."
    return [Panels("One-way tables, side by side", tuple(one.chart() for one in shares), caption=caption)]


def _traded(found: Evaluation) -> list[Block]:
    chart = trade_off({"the copies": found})
    return [] if chart is None else [Heading("Utility against risk"), chart]


def _attribute_grid(found: Evaluation) -> Grid:
    names = "guessed right", "for somebody not in it", "added by the own row", "without keys", "from the original"
    rows = tuple(
        (one.column, one.with_own, one.without_own, one.added, one.marginal, one.original) for one in found.attributes
    )
    return Grid(
        "Guesses of sensitive columns by somebody who knows the keys",
        (GridColumn("column"), *(GridColumn(name, "share") for name in names)),
        rows,
        note="What is guessed right about people who are not in the table is inference, not disclosure.",
    )


def _closeness_grid(found: Evaluation) -> Grid:
    near = found.closeness
    base = "records of a holdout" if near.against_holdout else "other records of the original"
    rows: list[tuple[str, float | None, float | None, float | None, float | None]] = [
        ("equal in every column", near.identical, *near.identical_interval, near.baseline_identical)
    ]
    if near.nearer is not None and near.nearer_interval is not None:
        rows.append(("nearer to the original than to the holdout", near.nearer, *near.nearer_interval, 0.5))
    return Grid(
        "Distance to the closest record of the original",
        (
            GridColumn("rows of the copies"),
            GridColumn("share", "share"),
            GridColumn("from", "share"),
            GridColumn("to", "share"),
            GridColumn("baseline", "share"),
        ),
        tuple(rows),
        note=f"From {near.drawn} rows drawn; 95 % intervals. Baseline: {base}.",
    )
