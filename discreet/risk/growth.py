"""Growth: how fast records become unique as an outsider learns one column more.

In the given order, or in the order that always adds the column which makes the most records unique (greedy: the worst
case for the first column and a good guess at it after that). The number of unique records can only rise: what is unique
on some columns is unique on more.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.check import some
from discreet.data.engines.base import Engine
from discreet.data.table import StoredTable
from discreet.risk.classes import Classes, count_classes

__all__ = ["count_growth"]


def count_growth(
    engine: Engine, table: StoredTable, quasi: Sequence[str], *, greedy: bool = False
) -> tuple[Classes, ...]:
    """The classes of the first column, the first two, and so on. Confidential: exact numbers for the keeper."""
    left = list(some("quasi", quasi, step="name the columns an outsider may know, each once"))
    known: tuple[str, ...] = ()
    steps: list[Classes] = []
    while left:
        candidates = [count_classes(engine, table, (*known, name)) for name in (left if greedy else left[:1])]
        steps.append(max(candidates, key=lambda classes: (classes.unique, classes.count)))
        known = steps[-1].quasi
        left.remove(known[-1])
    return tuple(steps)
