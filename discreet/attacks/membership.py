"""Attacks on released microdata, synthetic or anonymised in kind: what they tell of the people they were made from.

All guesses are made from the release alone; the original and a control of the same kind only judge them (`excess`).

1. Membership: a person is accused of being in the data when a released record lies close to her. The distance that
   accuses 5 % of outsiders is set on one half of the control, and judged on the other.
2. Singling out: a predicate that fits one released record alone (one column beyond a bound or at a rare value; or
   several columns together) is claimed to fit one person alone.
3. Linkability: two intruders hold different columns of a person. Each finds the k closest released records; a common
   one links both.
4. Inference: some columns of a person are known; the closest released record gives the guess of a secret one.

Distance: the mean over columns of |difference|/range for numbers, 0 or 1 otherwise. In the style of Giomi, Boenisch,
Wehmeyer and Tasnádi 2023, with exact intervals. What it does not promise: that other attacks fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.attacks.excess import Excess, excess_chart, excess_grid
from discreet.attacks.space import CONTROL, ORIGINAL, RELEASE, Space
from discreet.attacks.tracing import threshold
from discreet.check import at_least, known, some
from discreet.data.aligned import align
from discreet.draw.chart import Chart
from discreet.draw.grid import Grid
from discreet.errors import ArgumentError
from discreet.randomness import Generator

__all__ = ["Microdata", "attack_microdata"]

_FALSE_RATE = 0.05
_NEAR = 0.05
_COLUMNS_TOGETHER = 3
_LEAST_ROWS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Microdata:
    """The excess of each attack on one release."""

    rows: int
    found: dict[str, Excess]

    @property
    def worst(self) -> str:
        """The attack with the largest shown excess."""
        return max(self.found, key=lambda name: (self.found[name].interval[0], self.found[name].risk))

    def sentences(self) -> tuple[str, ...]:
        """What came out, worst first."""
        order = sorted(self.found, key=lambda name: (name != self.worst, -self.found[name].risk))
        return tuple(f"{name[0].upper()}{name[1:]}: {self.found[name]}." for name in order)

    def charts(self) -> tuple[Chart, ...]:
        """The excess of each attack."""
        return (excess_chart("What the release tells of single people", self.found),)

    def grids(self) -> tuple[Grid, ...]:
        """One row for each attack."""
        return (excess_grid("Attacks on the released records", self.found),)

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        return {
            "attack": "released records",
            "rows": self.rows,
            "found": {name: one.as_json() for name, one in self.found.items()},
        }


def attack_microdata(
    released: Any,
    original: Any,
    control: Any,
    *,
    secret: str | None = None,
    columns: Sequence[str] | None = None,
    guesses: int = 500,
    neighbours: int = 10,
    generator: Generator,
    progress: Callable[[str], None] | None = None,
) -> Microdata:
    """All four attacks. Tables are frames or dicts of lists; `columns` are what intruders know, by default all."""
    tell = progress or (lambda _: None)
    names = None if columns is None else [*some("columns", columns, step="name each column once")]
    if names is not None and secret is not None and secret not in names:
        names.append(secret)
    tables = align([original, control, released], names=names)
    if len(tables.names) < 2 or min(tables.rows) < _LEAST_ROWS:
        raise ArgumentError(
            "tables",
            found=f"{len(tables.names)} common columns, {min(tables.rows)} rows in the smallest",
            right=f"two columns or more and at least {_LEAST_ROWS} rows",
            step="give original, control and release with the same columns",
        )
    space = Space.of(tables)
    at_least("guesses", guesses, 1)
    found: dict[str, Excess] = {}
    tell("membership")
    found["membership"] = _membership(space, guesses, generator)
    tell("singling out")
    found["singling out by one column"] = _singling(space, guesses, 1, generator)
    together = min(_COLUMNS_TOGETHER, len(space.names))
    found[f"singling out by {together} columns"] = _singling(space, guesses, together, generator)
    tell("linkability")
    found["linkability"] = _linkability(space, guesses, at_least("neighbours", neighbours, 1), generator)
    hidden = space.names[-1] if secret is None else known("column", secret, space.names, step="name a common column")
    tell("inference")
    found[f"inference of {hidden}"] = _inference(space, guesses, hidden, generator)
    return Microdata(rows=tables.rows[RELEASE], found=found)


def _targets(space: Space, guesses: int, generator: Generator) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """As many people of the original as of the control."""
    count = min(guesses, space.rows[ORIGINAL], space.rows[CONTROL])
    inside, outside = (generator.permutation(space.rows[table])[:count] for table in (ORIGINAL, CONTROL))
    return inside, outside


def _membership(space: Space, guesses: int, generator: Generator) -> Excess:
    inside, outside = _targets(space, 2 * guesses, generator)
    half = len(outside) // 2
    near = [
        -space.nearest(table, places, 1)[0][:, 0] for table, places in ((ORIGINAL, inside[:half]), (CONTROL, outside))
    ]
    cut = threshold(near[1][:half], _FALSE_RATE)
    judged = near[1][half : 2 * half]
    return Excess(hits=int((near[0] > cut).sum()), control_hits=int((judged > cut).sum()), tries=half)


def _singling(space: Space, guesses: int, width: int, generator: Generator) -> Excess:
    """Both tables are cut to one size, since a predicate singles out more easily in a smaller one."""
    inside, outside = _targets(space, max(space.rows), generator)
    hits = control_hits = tries = 0
    claimed: set[frozenset[tuple[int, int, float]]] = set()
    for _ in range(20 * guesses):
        row = int(generator.integers(space.rows[RELEASE]))
        chosen = generator.permutation(len(space.names))[:width]
        signs = np.where(space.numeric[chosen], generator.integers(0, 3, width), 0)
        values = space.tables[RELEASE][chosen, row]
        claim = frozenset(zip(chosen.tolist(), signs.tolist(), values.tolist(), strict=True))
        if claim in claimed or space.fitting(RELEASE, row, chosen, signs).sum() != 1:
            continue
        claimed.add(claim)  # the same claim twice would count one success as two
        tries += 1
        hits += int(space.fitting(ORIGINAL, row, chosen, signs)[inside].sum() == 1)
        control_hits += int(space.fitting(CONTROL, row, chosen, signs)[outside].sum() == 1)
        if tries == guesses:
            break
    # Where no predicate fits a single released record, there is nothing to claim: one claim that fails.
    return Excess(hits=hits, control_hits=control_hits, tries=max(tries, 1))


def _linkability(space: Space, guesses: int, neighbours: int, generator: Generator) -> Excess:
    order = generator.permutation(len(space.names))
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    counts = []
    for table, places in zip((ORIGINAL, CONTROL), _targets(space, guesses, generator), strict=True):
        first, second = (space.nearest(table, places, neighbours, columns=half)[1] for half in halves)
        linked = [bool(set(one.tolist()) & set(other.tolist())) for one, other in zip(first, second, strict=True)]
        counts.append((sum(linked), len(linked)))
    return Excess(hits=counts[0][0], control_hits=counts[1][0], tries=counts[0][1])


def _inference(space: Space, guesses: int, secret: str, generator: Generator) -> Excess:
    hidden = space.names.index(secret)
    others = np.array([at for at in range(len(space.names)) if at != hidden])
    counts = []
    for table, places in zip((ORIGINAL, CONTROL), _targets(space, guesses, generator), strict=True):
        closest = space.nearest(table, places, 1, columns=others)[1][:, 0]
        guess, true = space.values(RELEASE, hidden)[closest], space.values(table, hidden)[places]
        right = np.abs(guess - true) <= _NEAR * np.abs(true) if space.numeric[hidden] else guess == true
        counts.append((int(right.sum()), len(places)))
    return Excess(hits=counts[0][0], control_hits=counts[1][0], tries=counts[0][1])
