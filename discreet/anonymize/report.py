"""Before and after: what a protection did to the risk of the records, and what it cost.

Risk is what the classes of look-alike records say, on the columns taken for known: how many are alone, the smallest
class, and the hits of an intruder that knows a person is in the table and guesses within the class (the number of
classes over the number of records). Cost is, for each column, how many published values differ from the original's,
and, for numbers, how the mean and the spread moved. Both are raw figures, for the keeper.

What it does not promise: that an intruder does no better. The classes know nothing of other releases, of attributes
shared within a class, or of who fits a record by elimination; run the attacks on what is to be published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.anonymize.plan import Protection
from discreet.anonymize.records import Codes, Records, distinct_rows
from discreet.check import some
from discreet.draw import Axis, Bars, Block, Callout, Chart, Code, Grid, GridColumn, Heading, Page, Paragraph
from discreet.draw.grid import Cell

__all__ = ["Effect", "Exposure", "measure_effect"]

_OWN_VALUES = 0.9
_BANDS = ((1, 1, "alone"), (2, 2, "2"), (3, 4, "3–4"), (5, 9, "5–9"), (10, 49, "10–49"), (50, 1 << 60, "50 or more"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """The classes of records on the columns taken for known: their number and the records in each band of sizes."""

    records: int
    classes: int
    smallest: int
    bands: tuple[int, ...]

    @classmethod
    def of(cls, records: Records, quasi: Sequence[str]) -> Exposure:
        """The exposure of records."""
        if not records.rows:
            return cls(records=0, classes=0, smallest=0, bands=(0,) * len(_BANDS))
        _, _, counts = distinct_rows([records.column(name).full_codes for name in quasi])
        bands = tuple(int(counts[(counts >= low) & (counts <= high)].sum()) for low, high, _ in _BANDS)
        return cls(records=records.rows, classes=len(counts), smallest=int(counts.min()), bands=bands)

    @property
    def unique(self) -> int:
        """Records that stand alone."""
        return self.bands[0]

    @property
    def hits(self) -> float:
        """How often a guess within the class is right, over all records."""
        return self.classes / self.records if self.records else 0.0

    def as_json(self) -> dict[str, object]:
        """The figures as plain values."""
        return {
            "records": self.records,
            "classes": self.classes,
            "k": self.smallest,
            "unique": self.unique,
            "expected_hits": self.hits,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Risk before and after, and the cost of each column. Confidential: it is the keeper's."""

    table: str
    quasi: tuple[str, ...]
    before: Exposure
    after: Exposure
    costs: tuple[tuple[Cell, ...], ...]
    plan: str

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        names = (
            "column",
            "changed",
            "values_before",
            "values_after",
            "mean_before",
            "mean_after",
            "sd_before",
            "sd_after",
        )
        return {
            "family": "measured risk",
            "quasi": list(self.quasi),
            "before": self.before.as_json(),
            "after": self.after.as_json(),
            "columns": [dict(zip(names, row, strict=True)) for row in self.costs],
        }

    def sentences(self) -> tuple[str, ...]:
        """The same in plain words."""
        left_out = self.before.records - self.after.records
        known = ", ".join(self.quasi)
        return (
            f"Of {self.before.records:,} records {self.before.unique:,} stood alone on {known}; "
            f"of the {self.after.records:,} to be published {self.after.unique:,} do.",
            f"The smallest class went from {self.before.smallest:,} to {self.after.smallest:,}; a guess within the "
            f"class was right for {self.before.hits:.1%} of the records and is for {self.after.hits:.1%}.",
            f"{left_out:,} records are left out." if left_out else "No record is left out.",
            *self._warnings(),
        )

    def _warnings(self) -> tuple[str, ...]:
        """Columns that were not taken for known, and tell nearly all records apart."""
        told = [str(row[0]) for row in self.costs if row[0] not in self.quasi and float(row[3] or 0) >= self._most]
        if not told or not self.after.records:
            return ()
        return (
            f"Nearly every record has a value of its own in {', '.join(told)}: who knows one of these finds the "
            "record. Leave such columns out, or coarsen them.",
        )

    @property
    def _most(self) -> float:
        return _OWN_VALUES * self.after.records

    def grids(self) -> tuple[Grid, Grid]:
        """Risk and cost as tables."""
        rows: tuple[tuple[Cell, ...], ...] = (
            ("records", self.before.records, self.after.records),
            ("classes of look-alikes", self.before.classes, self.after.classes),
            ("smallest class, k", self.before.smallest, self.after.smallest),
            *(
                (f"records in classes of {name}" if low > 1 else "records alone", before, after)
                for (low, _, name), before, after in zip(_BANDS, self.before.bands, self.after.bands, strict=True)
            ),
        )
        risk = Grid(
            f"Risk on {', '.join(self.quasi)}",
            (GridColumn("what"), GridColumn("before", "count"), GridColumn("after", "count")),
            rows,
            note="Exact and confidential: for the keeper.",
        )
        columns = (
            GridColumn("column"),
            GridColumn("changed", "share"),
            GridColumn("values before", "count"),
            GridColumn("values after", "count"),
            *(GridColumn(name, "number") for name in ("mean before", "mean after", "sd before", "sd after")),
        )
        return risk, Grid("Cost of each column", columns, self.costs, note="Of the records that are published.")

    def charts(self) -> tuple[Chart, ...]:
        """Pictures: class sizes before and after, and how much of each column changed."""
        names = tuple(name for _, _, name in _BANDS)
        sizes = Chart(
            title="Records by the size of their class",
            x=Axis("records in the class", scale="band", categories=names),
            y=Axis("records", format="count"),
            marks=(Bars(names, self.before.bands, label="before"), Bars(names, self.after.bands, label="after")),
            caption="The smaller the class, the easier a person in it is found.",
            family="measured risk",
        )
        columns = tuple(str(row[0]) for row in self.costs)
        shares = tuple(float(row[1] or 0) for row in self.costs)
        cost = Chart(
            title="Values that were changed",
            x=Axis("share of values", format="share", domain=(0.0, 1.0)),
            y=Axis("column", scale="band", categories=columns),
            marks=(Bars(shares, columns),),
            caption="A generalised, emptied, moved or exchanged value counts as changed.",
            family="measured risk",
        )
        return sizes, cost

    def page(self) -> Page:
        """The report as one offline page."""
        lead, *more = self.sentences()
        blocks: list[Block] = [
            Callout("measured risk", "Measured on this table; nothing here bounds what a release gives away."),
            Callout("warning", "Raw figures for the keeper. Publishing them is a release without any guarantee."),
            *(Paragraph(sentence) for sentence in more),
            Heading("Pictures"),
            *self.charts(),
            Heading("Figures"),
            *self.grids(),
            Heading("Plan"),
            Code(self.plan),
        ]
        return Page(title=f"Protecting {self.table}", lead=lead, blocks=tuple(blocks))


def measure_effect(protection: Protection, quasi: Sequence[str] = ()) -> Effect:
    """Risk and cost of all steps; without names, on the columns that the steps took for known."""
    names = some("quasi", tuple(quasi) or protection.quasi, step="name the columns an outsider may know, each once")
    original, made = protection.original, protection.records
    plan = protection.plan
    return Effect(
        table=protection.table,
        quasi=names,
        before=Exposure.of(original, names),
        after=Exposure.of(made, names),
        costs=tuple(_cost(original, made, name, protection.rows) for name in made.names),
        plan=next(iter(plan.files().values())).decode(),
    )


def _cost(original: Records, made: Records, name: str, rows: Codes) -> tuple[Cell, ...]:
    before, after = original.column(name), made.column(name)
    kept = before.taken(rows)
    pairs = zip(kept.listed(), after.listed(), strict=True)
    changed = sum(old != new for old, new in pairs) / max(len(rows), 1)
    figures: list[Cell] = [None, None, None, None]
    if before.is_numeric and after.is_numeric and before.values and after.values:
        old, new = before.numbers, after.numbers
        figures = [float(np.nanmean(old)), float(np.nanmean(new)), float(np.nanstd(old)), float(np.nanstd(new))]
    return (name, changed, len(before.values), len(after.values), *figures)
