"""Diversity: what a class gives away about a sensitive column, even when nobody in it is unique.

1. The engine counts each value of the sensitive column within each class (missing is a value on both sides), and from
   these cells: l, the number of distinct values of a class (distinct l-diversity: Machanavajjhala et al. 2007), and
   the distance of a class's values from the whole table's, ½ Σ |p − q| (t-closeness with equal distance, which is the
   total variation: Li, Li and Venkatasubramanian 2007). Written as whole numbers, size · records · distance is
   Σ max(0, count · records − total · size) over the values the class holds.
2. Numbers and dates have an order as well; `closeness` measures the distance along it.
3. Entropy l-diversity is exp(entropy) of the least diverse class. n ln n is handed to the engine as a table of whole
   numbers, so that no engine's logarithm enters. When some class has one value only, the least entropy is 0 and
   nothing more is asked.

For each class size only the worst class comes out: small tables of whole numbers. The table's own l and t are those of
its worst class.

What it does not promise: privacy. All numbers are exact and confidential. l and t speak of the given columns alone, and
of nobody who knows more than these.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from discreet.data.engines.base import Engine
from discreet.data.table import StorageType, StoredTable
from discreet.risk.cells import Cells, alike, counts, reading
from discreet.risk.classes import share
from discreet.risk.closeness import farthest_in_order

__all__ = ["Diversity", "measure_diversity"]

_ORDERED = frozenset({StorageType.INTEGER, StorageType.DECIMAL, StorageType.DATE, StorageType.DATETIME})
_WEIGHT_BITS = 61
_SPREAD, _VALUES, _GAPS, _COUNTS = range(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diversity:
    """How a sensitive column spreads over the classes. Confidential.

    `values` counts the column's distinct values, `commonest` the records with the commonest one, and `spread` lists
    (distinct values of a class, classes, records). l and t are None in an empty table, `entropy_l` and `t_ordered` also
    where they were not asked for, and `t_ordered` where the column has no order.
    """

    column: str
    values: int
    commonest: int
    spread: tuple[tuple[int, int, int], ...]
    entropy_l: float | None
    t_equal: float | None
    t_ordered: float | None

    @property
    def records(self) -> int:
        """All records."""
        return sum(records for _, _, records in self.spread)

    @property
    def distinct_l(self) -> int | None:
        """The fewest distinct values in any class."""
        return self.spread[0][0] if self.spread else None

    @property
    def given_away(self) -> int:
        """Records whose class holds one value: to know the class is to know the value."""
        return sum(records for distinct, _, records in self.spread if distinct == 1)

    @property
    def given_away_share(self) -> float:
        """The share of records whose class holds one value."""
        return share(self.given_away, self.records)

    @property
    def commonest_share(self) -> float:
        """The baseline: how often it is right to guess the commonest value for everyone."""
        return share(self.commonest, self.records)


def measure_diversity(
    engine: Engine,
    table: StoredTable,
    quasi: Sequence[str],
    sensitive: str,
    *,
    entropy: bool = True,
    order: bool = True,
) -> Diversity:
    """The l and t of one sensitive column over the classes of the quasi columns. Confidential: for the keeper.

    Entropy and order each read the records once more; without them, these two measures are None.
    """
    cells = Cells.of(table, quasi, sensitive)
    parts: dict[int, list[tuple[int, ...]]] = {_SPREAD: [], _VALUES: [], _GAPS: [], _COUNTS: []}
    for part, *row in engine.integers(_spread_and_gaps(cells)):
        parts[part or 0].append(counts(row))
    spread = tuple(sorted((distinct, classes, held) for distinct, classes, held in parts[_SPREAD]))
    records = sum(held for _, _, held in spread)
    ((values, commonest, _),) = parts[_VALUES]
    entropy, order = entropy and records > 0, order and records > 0 and cells.sensitive.type in _ORDERED
    return Diversity(
        column=sensitive,
        values=values,
        commonest=commonest,
        spread=spread,
        entropy_l=_entropy_l(engine, cells, spread[0][0], [n for n, *_ in parts[_COUNTS]]) if entropy else None,
        t_equal=max(gap / (size * records) for size, gap, _ in parts[_GAPS]) if records else None,
        t_ordered=farthest_in_order(engine, cells) if order else None,
    )


@functools.lru_cache(maxsize=8)
def _spread_and_gaps(cells: Cells) -> exp.Query:
    """The spread, the values, the worst gap of each class size and the counts that occur, as numbered rows.

    It is built once, since the same columns are asked again.
    """
    gap = "SUM(GREATEST(0, cells.n * whole.records - levels.total * classes.size)) AS gap"
    gaps = (
        exp.select("classes.size", gap)
        .from_("cells")
        .join("levels", on=alike([cells.sensitive.physical], "cells", "levels"))
        .join("classes", on=alike(cells.keys, "cells", "classes"))
        .join("whole", join_type="CROSS")
        .group_by("classes.id", "classes.size")
    )
    parts = (
        exp.select(f"{_SPREAD} AS part", "l AS a", "COUNT(*) AS b", "SUM(size) AS c").from_("classes").group_by("l"),
        exp.select(f"{_VALUES}", "COUNT(*)", "MAX(total)", "0").from_("levels"),
        exp.select(f"{_GAPS}", "size", "MAX(gap)", "0").from_("gaps").group_by("size"),
        exp.select(f"{_COUNTS}", "n", "0", "0").from_("cells").group_by("n"),
    )
    return reading(exp.union(*parts, distinct=False), {**cells.tables(), "gaps": gaps})


def _entropy_l(engine: Engine, cells: Cells, distinct_l: int, found: Sequence[int]) -> float:
    """exp of the least entropy of any class, where a class's entropy is ln(size) − Σ n ln n / size."""
    if distinct_l == 1:
        return 1.0
    largest = max(found)
    bits = _WEIGHT_BITS - math.ceil(largest * math.log(largest + 1)).bit_length()
    weights = [(n, round(math.ldexp(n * math.log(n), bits))) for n in found]
    weighed = (
        exp.select("CAST(SUM(cells.n) AS BIGINT) AS size", "SUM(weights.weight) AS weight")
        .from_("cells")
        .join(exp.values(weights, alias="weights", columns=["n", "weight"]), on="weights.n = cells.n")
        .group_by(*(exp.column(name, "cells") for name in cells.keys))
    )
    heaviest = exp.select("size", "MAX(weight) AS weight").from_("weighed").group_by("size")
    rows = engine.integers(reading(heaviest, {"cells": cells.tables()["cells"], "weighed": weighed}))
    return math.exp(min(math.log(size) - math.ldexp(weight, -bits) / size for size, weight in map(counts, rows)))
