"""Uniqueness: how exposed the records of a table are to someone who knows a few columns of them.

1. Growth: the classes of look-alike records on the first quasi column, the first two, … (`growth`, `classes`).
2. The small sets of columns that single records out, and the records with a special unique (`combinations`).
3. For each sensitive column, what the classes give away although nobody may be unique (`diversity`, `closeness`).

Names and numbers taken off a table leave this much of each person in it: Sweeney (2000) found that postcode, sex and
date of birth make most of the United States unique.

What it does not promise: privacy. Every number is exact, of this table, and for its keeper alone; to publish one is to
publish a raw count. Unique in the table is not yet unique in the population it was drawn from, which takes a population
model or file. And nothing is said about columns that were not named.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from discreet.check import at_least, some
from discreet.data.engines.base import Engine
from discreet.data.table import StoredTable
from discreet.draw.chart import Chart
from discreet.draw.grid import Grid
from discreet.risk import depiction, sentences
from discreet.risk.cells import Cells
from discreet.risk.classes import Classes
from discreet.risk.combinations import Combinations, count_combinations, require_few, widest
from discreet.risk.diversity import Diversity, measure_diversity
from discreet.risk.growth import count_growth

__all__ = ["Uniqueness", "assess"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniqueness:
    """What an assessment found. Confidential: it is the keeper's."""

    thresholds: tuple[int, ...]
    growth: tuple[Classes, ...]
    combinations: Combinations
    diversity: tuple[Diversity, ...]

    @property
    def classes(self) -> Classes:
        """The classes of all quasi columns."""
        return self.growth[-1]

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        whole = self.classes
        return {
            "family": "keeper only",
            "records": whole.records,
            **self._figures(whole),
            "k": whole.k,
            "class_sizes": [{"size": size, "classes": classes} for size, classes in whole.sizes],
            "growth": [self._figures(step) for step in self.growth],
            "combinations": asdict(self.combinations) | {"special": self.combinations.special},
            "diversity": [
                asdict(one) | {"distinct_l": one.distinct_l, "given_away": one.given_away} for one in self.diversity
            ],
        }

    def grids(self) -> tuple[Grid, ...]:
        """Tables for people, the short answer first."""
        return (
            depiction.summary(self.classes, self.thresholds, self.combinations),
            depiction.growth_grid(self.growth, self.thresholds),
            depiction.sizes_grid(self.classes),
            depiction.combinations_grid(self.combinations),
            depiction.special_grid(self.combinations),
            *([depiction.diversity_grid(self.diversity)] if self.diversity else []),
        )

    def charts(self) -> tuple[Chart, ...]:
        """Pictures: growth, class sizes, riskiest combinations. None of an empty table."""
        if not self.classes.records:
            return ()
        return (
            depiction.growth_chart(self.growth, self.thresholds),
            depiction.sizes_chart(self.classes),
            depiction.combinations_chart(self.combinations),
        )

    def sentences(self) -> tuple[str, ...]:
        """The same in plain words, each figure with one to compare it with."""
        return sentences.tell(self.growth, self.thresholds, self.combinations, self.diversity)

    def _figures(self, classes: Classes) -> dict[str, object]:
        return {
            "quasi": list(classes.quasi),
            "classes": classes.count,
            "unique": classes.unique,
            "unique_share": classes.unique_share,
            "below": {str(threshold): classes.below(threshold) for threshold in self.thresholds},
        }


def assess(
    engine: Engine,
    table: StoredTable,
    quasi: Sequence[str],
    *,
    sensitive: Sequence[str] = (),
    thresholds: Sequence[int] = (2, 3, 5, 10),
    special_size: int | None = None,
    greedy: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Uniqueness:
    """How exposed the records are to someone who knows the quasi columns and wants the sensitive ones.

    Every number is raw and confidential, for the keeper's eyes; it promises no privacy to anyone. Columns are added in
    the given order, or greedily. Special uniques are searched on up to `special_size` columns; without it on up to 3,
    or fewer where the columns make too many sets. `progress` hears the names of the steps, which depend on the
    arguments alone.
    """
    columns = some("quasi", quasi, step="name the columns an outsider may know, each once")
    bounds = some("thresholds", thresholds, step="give class sizes such as 2, 3, 5, 10")
    wanted = some("sensitive", sensitive, step="name each column once") if sensitive else ()
    for name in columns:
        table.column(name)
    for name in wanted:
        Cells.of(table, columns, name)
    for bound in bounds:
        at_least("thresholds", bound, 2)
    require_few(columns, widest(columns) if special_size is None else special_size)
    tell = progress or (lambda _: None)
    tell("growth")
    growth = count_growth(engine, table, columns, greedy=greedy)
    tell("combinations")
    largest = widest(columns, growth[-1].count) if special_size is None else require_few(columns, special_size)
    found = count_combinations(engine, table, columns, records=growth[-1].records, largest=largest)
    diversity = []
    for name in wanted:
        tell(f"diversity of {name}")
        diversity.append(measure_diversity(engine, table, columns, name))
    return Uniqueness(thresholds=tuple(sorted(bounds)), growth=growth, combinations=found, diversity=tuple(diversity))
