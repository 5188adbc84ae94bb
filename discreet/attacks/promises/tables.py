"""Cell suppression, rounding and cell keys against the properties: each check runs an attack on small tables."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from discreet.anonymize.audit import audit, bounds
from discreet.anonymize.cellkey import perturb_counts
from discreet.anonymize.cells import suppress_cells
from discreet.anonymize.crosstable import CrossTable, tabulate
from discreet.anonymize.records import Records
from discreet.anonymize.rounding import round_table
from discreet.attacks.differencing import subtract
from discreet.attacks.promises.evidence import Evidence
from discreet.randomness import keyed_generator
from discreet.risk.dominance import PPercent, Threshold

__all__ = [
    "another_table",
    "colluding_firms",
    "everything_computed",
    "hole_that_tells",
    "known_all_but_one",
    "splits_averaged",
    "two_bases",
]

Whole = npt.NDArray[np.int64]


def _counts(cells: Whole) -> CrossTable:
    """A table of counts with its margins."""
    rows = [place for place, count in np.ndenumerate(cells) for _ in range(count)]
    return tabulate(Records.of({"row": [row for row, _ in rows], "column": [at for _, at in rows]}), ["row", "column"])


@cache
def another_table() -> Evidence:
    """The same persons by towns and by pairs of towns, both audited safe."""
    cells = np.array([[4, 9, 8], [2, 7, 9], [9, 8, 6], [7, 9, 9]])
    towns, pairs = _counts(cells), _counts(np.array([cells[1] + cells[2], cells[0] + cells[3]]))
    hidden = suppress_cells(towns, [Threshold(3)])
    safe = audit(towns, hidden.hidden, hidden.needed).safe
    open_pairs = not suppress_cells(pairs, [Threshold(3)]).hidden.any()
    # Node 0 is the total: town 2 is published, so the pair of towns 1 and 2 less town 2 is the hidden count of town 1.
    left = subtract(float(pairs.values[1, 1]), [float(towns.values[3, 1])])
    known = safe and open_pairs and bool(hidden.hidden[2, 1]) and not hidden.hidden[3, 1] and left == cells[1, 0]
    told = f"two tables, each audited safe, give a hidden count of {int(left)} away by one subtraction"
    return Evidence(False if known else None, told)


def everything_computed() -> Evidence:
    """Linear programs over all tables that agree with what is published: nothing that is computed goes beyond them."""
    table = _counts(np.array([[4, 9, 8], [2, 7, 9], [9, 8, 6], [7, 9, 9]]))
    hidden = suppress_cells(table, [Threshold(3)])
    low, high = bounds(table, hidden.hidden)
    cells = hidden.primary
    far = bool((high[cells] - table.values[cells] >= hidden.needed[cells] - 1e-6).all()) and bool((low <= high).all())
    told = (
        f"all that can be computed from the table leaves the cell between {low[cells][0]:.0f} and {high[cells][0]:.0f}"
    )
    return Evidence(far, told)


def colluding_firms() -> Evidence:
    """Three firms in a cell that the p % rule publishes; two of them put their figures together."""
    firms = [50.0, 40.0, 30.0]
    table = tabulate(Records.of({"trade": ["a"] * 3, "turnover": firms}), ["trade"], value="turnover")
    published = not suppress_cells(table, [PPercent(10)]).hidden.any()
    last = subtract(float(table.values[0]), firms[:2])
    told = f"a cell that p:10 publishes gives the third firm's {last:.0f} to the two others together"
    return Evidence(False if published and last == firms[2] else None, told)


def hole_that_tells() -> Evidence:
    """Two tables that differ in one firm, of which one has a hole."""
    holes = []
    for extra in ([7.0], []):
        values = [60.0, 8.0, *extra, *([9.0] * 6)]
        rows = ["a"] * (2 + len(extra)) + ["b"] * 6
        table = tabulate(Records.of({"trade": rows, "turnover": values}), ["trade"], value="turnover")
        holes.append(tuple(suppress_cells(table, [PPercent(10)]).hidden.tolist()))
    told = "whether a cell is left out depends on one firm: the hole itself tells that it is not there"
    return Evidence(False if holes[0] != holes[1] else None, told)


def two_bases() -> Evidence:
    """One count rounded to several bases."""
    table, left = _counts(np.array([[7, 4], [11, 13]])), set(range(30))
    hidden = []
    for base in (5, 4, 3):
        shown = round_table(table, base).values[1, 1]
        hidden.append(sum(abs(number - shown) < base for number in range(30)))
        left &= {number for number in range(30) if abs(number - shown) < base}
    told = f"bases 5, 4 and 3 leave {', '.join(map(str, hidden))} possible counts each, together {len(left)}"
    return Evidence(False if len(left) < min(hidden) else None, told)


def known_all_but_one() -> Evidence:
    """An intruder who knows everybody but one person compares the two tables that are possible."""
    shown = [round_table(_counts(np.array([[count, 10], [10, 10]])), 5).values[1, 1] for count in (7, 8)]
    told = (
        f"who knows all but one person reads her off the rounded count: {shown[0]:.0f} without her, {shown[1]:.0f} with"
    )
    return Evidence(False if shown[0] != shown[1] else None, told)


def splits_averaged() -> Evidence:
    """The same towns split by sixty other columns: each split adds up to the town with noise of its own."""
    draw, rows = keyed_generator(2), 400
    splits = {f"s{at}": draw.integers(0, 3, rows).tolist() for at in range(60)}
    records = Records.of({"town": draw.integers(0, 9, rows).tolist(), **splits})
    keys = draw.integers(0, 1 << 32, rows)
    table, published = perturb_counts(records, ["town"], keys)
    sums = np.array([perturb_counts(records, ["town", name], keys)[1][1:, 1:].sum(axis=1) for name in splits])
    true = table.values[1:]
    once, often = (int((np.round(shown) == true).sum()) for shown in (published[1:], sums.mean(axis=0)))
    told = f"{often} of {len(true)} counts are exact once 60 splits are averaged, {once} as published"
    return Evidence(False if often > once and often > len(true) / 2 else None, told)
