"""Join linkage: a named list and an anonymous table that share columns.

For each person on the list the records of the table that may be hers are those whose cells cover her values; cells may
be generalised (130**, <30, [20, 30)). One such record is a match, and all that stands in it is hers. Where there are
several, one of them picked at random is right with chance 1/s, if hers is among them.

Success is a single match that is right, beside 1/n for a record picked at random. Where each person's record stands in
the table only judges the matches. What it does not promise: safety where nobody matches alone; see `composition`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.attacks.cover import Cover, Flags, Meanings, Whole
from discreet.attacks.keepers import Records
from discreet.attacks.rate import RATE_COLUMNS, Rate, rates_chart
from discreet.check import at_least, known, some
from discreet.draw.chart import Chart
from discreet.draw.format import written
from discreet.draw.grid import Grid, GridColumn
from discreet.errors import ArgumentError
from discreet.randomness import Generator
from discreet.stats.shares import clopper_pearson

__all__ = ["Joined", "link_tables", "stands_in_order"]

_ROWS_COMPARED, _FALSE_ORDER = 2000, 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """How often a list and a table join in a single record, and in the right one."""

    columns: tuple[str, ...]
    alone: Rate
    wrong: int
    picked: float

    @property
    def single(self) -> int:
        """How many people have a single match, right or wrong."""
        return self.alone.hits + self.wrong

    def sentences(self) -> tuple[str, ...]:
        """What came out, in words."""
        return (
            f"Who knows {', '.join(self.columns)} of a person finds the record: {self.alone}.",
            f"{written('count', self.wrong)} single matches are wrong. A record picked among all that fit is right "
            f"with chance {written('share', self.picked)} on average.",
        )

    def charts(self) -> tuple[Chart, ...]:
        """Right matches beside chance."""
        caption = "People of a named list whose record is the only one that fits, and theirs."
        return (rates_chart("People found by joining", {" × ".join(self.columns): self.alone}, caption),)

    def grids(self) -> tuple[Grid, ...]:
        """The rate, and what picking among several adds."""
        columns = (
            GridColumn("known"),
            GridColumn("wrong", "count"),
            GridColumn("picked right", "share"),
            *RATE_COLUMNS,
        )
        row = (", ".join(self.columns), self.wrong, self.picked, *self.alone.cells)
        return (Grid("Linkage by joining", columns, (row,), note="A success is a single match that is right."),)

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        return {
            "attack": "linkage by joining",
            "columns": list(self.columns),
            "alone": self.alone.as_json(),
            "wrong": self.wrong,
            "picked": self.picked,
        }


def link_tables(
    named: Records,
    released: Records,
    columns: Sequence[str],
    *,
    places: Sequence[int] | None = None,
    meanings: Meanings | None = None,
    targets: int = 1000,
    generator: Generator,
) -> Joined:
    """Link people of a list to the records of a table by these columns.

    Without `places` row i of the list is row i of the table; with them, each person's row there, −1 for who is not in
    it. That only judges the matches. `meanings` says what the names of groups stand for.
    """
    wanted = some("columns", columns, step="name the columns that both have")
    for table in (named, released):
        for name in wanted:
            known("column", name, tuple(table), step="name a column that the list and the table have")
    people, records = len(named[wanted[0]]), len(released[wanted[0]])
    whose = np.arange(people) if places is None else np.asarray(places, dtype=np.int64)
    if not people or not records or len(whose) != people or (places is None and people != records):
        raise ArgumentError(
            "tables",
            found=f"{people} people and {records} records",
            right="row i of the one is row i of the other, which judges the matches",
            step="give the release in the order of the original, or say in `places` where each person stands",
        )
    asked = np.sort(generator.permutation(people)[: at_least("targets", targets, 1)])
    fits, own = _fitting(named, Cover.of(released, wanted, meanings), asked, whose)
    alone = int((own & (fits == 1)).sum())
    picked = float(np.divide(own, fits, out=np.zeros(len(asked)), where=fits > 0).mean())
    return Joined(
        columns=wanted,
        alone=Rate(hits=alone, tries=len(asked), baseline=1 / records),
        wrong=int((~own & (fits == 1)).sum()),
        picked=picked,
    )


def stands_in_order(
    named: Records, released: Records, columns: Sequence[str], *, meanings: Meanings | None = None
) -> bool:
    """Whether some column shows that row i of the table is that of person i: it fits oftener than chance explains.

    A table in another order joins to its people all the same, and every match would be judged wrong.
    """
    people = np.arange(len(next(iter(named.values()))))[:_ROWS_COMPARED]
    for name in columns:
        fits, own = _fitting(named, Cover.of(released, [name], meanings), people, people)
        low, _ = clopper_pearson(int(own.sum()), len(people), _FALSE_ORDER)
        if low > float(fits.mean()) / len(released[name]):
            return True
    return False


def _fitting(named: Records, cover: Cover, asked: Whole, whose: Whole) -> tuple[Whole, Flags]:
    """For each asked person: how many records fit, and whether their own does."""
    fits, own = np.zeros(len(asked), np.int64), np.zeros(len(asked), bool)
    for rows, inside in cover.inside(named, asked):
        fits[rows] = inside @ cover.sizes
        row = whose[asked[rows]]
        own[rows] = (row >= 0) & inside[np.arange(len(inside)), cover.place[row]]
    return fits, own
