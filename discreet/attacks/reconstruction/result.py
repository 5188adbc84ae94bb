"""What a reconstruction found, in sentences, tables and pictures; and how much of it is true, where the truth is known.

Success is measured against a guesser who knows the columns and the rules alone, and draws each record blindly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.attacks.rate import RATE_COLUMNS, Rate
from discreet.attacks.reconstruction.published import Person, Publication
from discreet.attacks.reconstruction.solve import Block, Solved, enough, solve_block
from discreet.draw.chart import Axis, Bars, Chart
from discreet.draw.format import written
from discreet.draw.grid import Cell, Grid, GridColumn
from discreet.errors import ArgumentError
from discreet.randomness import Generator, keyed_generator

__all__ = ["Reconstruction", "blind_share", "overlap", "reconstruct", "true_block"]

_SHOWN = 30
_BLIND_DRAWS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconstruction:
    """The blocks behind published tables, and which rows are enough to know them."""

    publication: Publication
    solved: Solved
    enough: tuple[tuple[str, ...], ...] = ()
    truth: Rate | None = None

    @property
    def certain_people(self) -> int:
        """How many persons' records follow from the tables."""
        return sum(count for _, count in self.solved.certain)

    def sentences(self) -> tuple[str, ...]:
        """What came out, most telling first."""
        blocks, people = len(self.solved.blocks), self.publication.people
        more = "" if self.solved.complete else " at least"
        lines = [
            "Exactly one block of people agrees with the published numbers: every record in it is known."
            if self.solved.unique
            else f"The published numbers leave{more} {written('count', blocks)} possible blocks of people.",
            f"The records of {self.certain_people} of {people} people stand in every possible block: they are certain.",
        ]
        if self.enough:
            shortest = min(self.enough, key=len)
            lines.append(
                f"{len(shortest)} rows are enough for that: {', '.join(shortest)}"
                + (f"; so are {len(self.enough) - 1} other sets of rows." if len(self.enough) > 1 else ".")
            )
        if self.truth is not None:
            lines.append(f"Against the true records: {self.truth}.")
        return tuple(lines)

    def charts(self) -> tuple[Chart, ...]:
        """How sure each record is."""
        ranked = self.solved.ranking[:_SHOWN]
        names = tuple(_told(person) for person, _ in ranked)
        caption = "The share of all possible blocks in which a record stands. At 100 % it follows from the tables."
        return (
            Chart(
                "How sure each reconstructed record is",
                Axis("share of possible blocks", format="share", domain=(0.0, 1.0)),
                Axis("record", scale="band", categories=names),
                (Bars(tuple(share for _, share in ranked), names),),
                caption,
            ),
        )

    def grids(self) -> tuple[Grid, ...]:
        """The records, how sure each cell of them is, the equations, and the rows that are enough."""
        names = tuple(column.name for column in self.publication.columns)
        certain = dict(self.solved.certain)
        ranked: tuple[tuple[Cell, ...], ...] = tuple(
            (*map(str, person), share, certain.get(person, 0)) for person, share in self.solved.ranking[:_SHOWN]
        )
        heads = (*(GridColumn(name) for name in names), GridColumn("share of blocks", "share"))
        grids = [
            Grid("Reconstructed records, most sure first", (*heads, GridColumn("certain persons", "count")), ranked),
            self._cells_grid(names),
            Grid(
                "What the tables say",
                (GridColumn("equation"),),
                tuple((line,) for line in self.publication.equations()),
            ),
        ]
        if self.enough:
            rows = tuple((len(one), ", ".join(one)) for one in self.enough)
            grids.append(Grid("Rows that are enough", (GridColumn("rows", "count"), GridColumn("which")), rows))
        if self.truth is not None:
            grids.append(Grid("Against the true records", RATE_COLUMNS, (self.truth.cells,)))
        return tuple(grids)

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        names = [column.name for column in self.publication.columns]
        return {
            "attack": "reconstruction",
            "title": self.publication.title,
            "blocks": len(self.solved.blocks),
            "complete": self.solved.complete,
            "unique": self.solved.unique,
            "certain_people": self.certain_people,
            "people": self.publication.people,
            "records": [
                {**dict(zip(names, person, strict=True)), "share": share} for person, share in self.solved.ranking
            ],
            "enough": [list(one) for one in self.enough],
            "truth": None if self.truth is None else self.truth.as_json(),
        }

    def _cells_grid(self, names: Sequence[str]) -> Grid:
        """The i-th person of each block side by side: the commonest value of each cell, and its share of blocks."""
        rows: list[tuple[Cell, ...]] = []
        for place in range(min(self.publication.people, _SHOWN)):
            row: list[Cell] = [place + 1]
            for at in range(len(names)):
                seen = Counter(block[place][at] for block in self.solved.blocks)
                value, count = seen.most_common(1)[0]
                row += [str(value), count / len(self.solved.blocks)]
            rows.append(tuple(row))
        columns = [GridColumn("person", "count")]
        for name in names:
            columns += [GridColumn(name), GridColumn(f"sure of {name}", "share")]
        note = (
            "Persons of each block in the order of their first column; how often they share the value over all blocks."
        )
        return Grid("How sure each cell is", tuple(columns), tuple(rows), note=note)


def reconstruct(
    publication: Publication,
    *,
    truth: Sequence[Person] | None = None,
    find_enough: bool = False,
    most: int = 1000,
    seconds: float = 60.0,
    progress: Callable[[str], None] | None = None,
) -> Reconstruction:
    """Every block of records behind published tables. The true records, if given, only judge what was found."""
    solved = solve_block(publication, most=most, seconds=seconds, progress=progress)
    sets = enough(publication, seconds=seconds, progress=progress) if find_enough and solved.unique else ()
    rate = None
    if truth is not None:
        block = true_block(publication, truth)
        hits = overlap(solved.blocks[0], block)
        rate = Rate(hits=hits, tries=len(block), baseline=blind_share(publication, block))
    return Reconstruction(publication=publication, solved=solved, enough=sets, truth=rate)


def true_block(publication: Publication, truth: Sequence[Person]) -> Block:
    """The true records, checked to be as many and of the form that the publication says."""
    if len(truth) != publication.people:
        raise ArgumentError(
            "truth", found=f"{len(truth)} records", right=f"the block has {publication.people}", step="give them all"
        )
    for person in truth:
        for column, value in zip(publication.columns, person, strict=True):
            column.code(value, "truth")
    return tuple(tuple(person) for person in truth)


def overlap(block: Sequence[Person], truth: Sequence[Person]) -> int:
    """How many persons two blocks have in common."""
    return (Counter(block) & Counter(truth)).total()


def blind_share(publication: Publication, truth: Block) -> float:
    """The share of records that blind drawing gets right on average, by simulation with a fixed seed."""
    generator = keyed_generator(0)
    draws = (overlap([_blind(publication, generator) for _ in truth], truth) for _ in range(_BLIND_DRAWS))
    return sum(draws) / (_BLIND_DRAWS * len(truth))


def _blind(publication: Publication, generator: Generator) -> Person:
    while True:
        person = tuple(
            column.value(column.low + int(generator.integers(0, column.size)))  # words begin at 0
            for column in publication.columns
        )
        if publication.allows(person):
            return person


def _told(person: Person) -> str:
    return " · ".join(map(str, person))
