"""Reconstruction: every block of records that agrees with the published tables, and how sure each record is.

1. What is public about the block (`published`) becomes equations over the unknown records (`model`).
2. A constraint solver finds all blocks that satisfy them, or the first ones where there are very many.
3. Records are ranked by the share of blocks they stand in. One that stands in all of them is certain: where blocks were
   left out, the solver must prove that no block is without it.
4. Which rows are enough: the smallest sets of rows that leave the same single block.

Where no block agrees, the tables contradict themselves, and a smallest set of contradicting rows is named.

Reference: Dinur and Nissim 2003; Garfinkel, Abowd and Martindale 2019 (the block of seven); Dick et al. 2023 (ranking).
What it does not promise: that the tables are true. A certain record is one that follows from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from discreet.attacks.reconstruction.model import BlockModel, solver_library
from discreet.attacks.reconstruction.published import Person, Publication
from discreet.check import at_least
from discreet.errors import ArgumentError, NoResultError

__all__ = ["Block", "Solved", "conflict", "enough", "solve_block"]

Block = tuple[Person, ...]
_EXHAUSTIVE_ROWS = 9
_LISTED_AT_ONCE = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """The blocks found, whether these are all, and how many persons of each record stand in every possible block."""

    blocks: tuple[Block, ...]
    complete: bool
    certain: tuple[tuple[Person, int], ...]

    @property
    def unique(self) -> bool:
        """Whether the tables leave a single block."""
        return self.complete and len(self.blocks) == 1

    @property
    def ranking(self) -> tuple[tuple[Person, float], ...]:
        """Each record that stands in some block, with the share of blocks it stands in, most sure first."""
        seen = Counter(person for block in self.blocks for person in set(block))
        ranked = sorted(seen.items(), key=lambda one: (-one[1], repr(one[0])))
        return tuple((person, count / len(self.blocks)) for person, count in ranked)


def solve_block(
    publication: Publication, *, most: int = 1000, seconds: float = 60.0, progress: Callable[[str], None] | None = None
) -> Solved:
    """Every block that agrees with the published tables, or the first `most` of them."""
    at_least("most", most, 1)
    tell = progress or (lambda _: None)
    tell("solving")
    large = publication.people > _LISTED_AT_ONCE
    blocks, complete = _found(publication, 1 if large else most + 1, seconds)
    if complete and not blocks:
        tell("contradiction")
        raise _contradiction(publication, seconds)
    if blocks and large and most > 1:
        tell("more blocks")  # listing is slow in a large block and may end with the one that is there already
        listed, complete = _found(publication, most + 1, seconds)
        blocks = sorted({*blocks, *listed}, key=repr)
    if not blocks:
        raise NoResultError(
            publication.title,
            found=f"no block within {seconds:g} seconds, and no proof that there is none",
            right="large blocks take longer",
            step="allow more seconds, or give fewer rows",
        )
    if len(blocks) > most:
        blocks, complete = blocks[:most], False
    tell("certainty")
    return Solved(
        blocks=tuple(blocks), complete=complete, certain=tuple(_certain(publication, blocks, complete, seconds))
    )


def conflict(publication: Publication, *, seconds: float = 60.0) -> tuple[str, ...]:
    """Rows that contradict each other, none of which can be left out; empty where the tables agree."""
    if _agrees(publication, seconds):
        return ()
    for row in publication.table:
        fewer = publication.without_row(row.name)
        if not _agrees(fewer, seconds):
            publication = fewer
    return tuple(row.name for row in publication.table)


def enough(
    publication: Publication, *, seconds: float = 60.0, progress: Callable[[str], None] | None = None
) -> tuple[tuple[str, ...], ...]:
    """The smallest sets of rows that leave the same single block as all rows; none where all rows leave several.

    Up to nine rows that say anything, every such set is found; of more rows, one.
    """
    tell = progress or (lambda _: None)
    rows = tuple(row.name for row in publication.table if row.count or row.median or row.mean)
    if not _single(publication.with_rows(rows), seconds):
        return ()
    if len(rows) > _EXHAUSTIVE_ROWS:
        kept = rows
        for name in rows:
            tell("leaving rows out")
            fewer = tuple(one for one in kept if one != name)
            kept = fewer if _single(publication.with_rows(fewer), seconds) else kept
        return (kept,)
    found: list[tuple[str, ...]] = []
    for size in range(len(rows) + 1):
        tell("sets of rows")
        for chosen in combinations(rows, size):
            if not any(set(one) <= set(chosen) for one in found) and _single(publication.with_rows(chosen), seconds):
                found.append(chosen)
    return tuple(found)


def _single(publication: Publication, seconds: float) -> bool:
    blocks, complete = _found(publication, 2, seconds)
    return complete and len(blocks) == 1


def _agrees(publication: Publication, seconds: float) -> bool:
    blocks, complete = _found(publication, 1, seconds)
    return bool(blocks) or not complete


def _found(publication: Publication, most: int, seconds: float) -> tuple[list[Block], bool]:
    """Up to `most` blocks, and whether these are all."""
    library, asked = solver_library(), BlockModel(publication)
    asked.require_table()
    solver = _solver(library, seconds)
    if most == 1:  # without the demand to list everything the solver may simplify much more
        status = solver.solve(asked.model)
        there = status in (library.OPTIMAL, library.FEASIBLE)
        return [asked.read(solver.value)] if there else [], status == library.INFEASIBLE
    collector = _collector(library, asked, most)
    solver.parameters.enumerate_all_solutions = True
    status = solver.solve(asked.model, collector)
    return sorted(set(collector.blocks), key=repr), status in (library.OPTIMAL, library.INFEASIBLE)


def _solver(library: Any, seconds: float) -> Any:
    solver = library.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.max_time_in_seconds = seconds
    return solver


def _collector(library: Any, asked: BlockModel, most: int) -> Any:
    class Collector(library.CpSolverSolutionCallback):  # type: ignore[misc]  # the library is untyped
        """Keeps every block the solver finds, until there are enough."""

        def __init__(self) -> None:
            super().__init__()
            self.blocks: list[Block] = []

        def on_solution_callback(self) -> None:
            """Called by the solver at each solution."""
            self.blocks.append(asked.read(self.value))
            if len(self.blocks) >= most:
                self.stop_search()

    return Collector()


def _certain(
    publication: Publication, blocks: list[Block], complete: bool, seconds: float
) -> Iterable[tuple[Person, int]]:
    counts = [Counter(block) for block in blocks]
    for person in sorted(set(blocks[0]), key=repr):
        least = min(count[person] for count in counts)
        while least and not complete:
            other, proven = _with_fewer(publication, person, least, seconds)
            if proven:
                break
            if other is None:
                least -= 1  # neither found nor excluded in time
            else:  # a block without this person mostly is one without many others, too
                counts.append(Counter(other))
                least = min(count[person] for count in counts)
        if least:
            yield person, least


def _with_fewer(publication: Publication, person: Person, count: int, seconds: float) -> tuple[Block | None, bool]:
    """A block with fewer than so many persons of this record; or none, and whether it is proven that there is none."""
    library, asked = solver_library(), BlockModel(publication)
    asked.require_table()
    asked.at_most(person, count - 1)
    solver = _solver(library, seconds)
    status = solver.solve(asked.model)
    if status in (library.OPTIMAL, library.FEASIBLE):
        return asked.read(solver.value), False
    return None, bool(status == library.INFEASIBLE)


def _contradiction(publication: Publication, seconds: float) -> ArgumentError:
    rows = conflict(publication, seconds=seconds)
    named = " and ".join(filter(None, (", ".join(rows[:-1]), rows[-1] if rows else "")))
    found = f"the rows {named} contradict each other" if len(rows) > 1 else f"row {named} contradicts the rules"
    return ArgumentError(
        publication.title,
        found=found if rows else "the rules contradict each other",
        right="some block of people must agree with all of them",
        step="check these rows, their rounding and what a suppressed cell may be",
    )
