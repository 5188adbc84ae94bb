"""What a question wants measured: statistics in the cells of some keys, one demand for each grouping set.

Demands over the same joins, keys and filter are one: questions that are asked together share their sums.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from discreet.measure.expression import Predicate, Text, plain
from discreet.measure.groups import Categories, Group
from discreet.measure.joins import Join
from discreet.query.question import GroupKey, Question
from discreet.query.statistic import Most, Persons, Rank, Statistic

__all__ = ["Demand", "demands_of", "merged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Statistics wanted in every cell of the keys, over the rows that the filter keeps. `found` names texts whose keys
    are not public and have to be found first."""

    by: tuple[Group, ...]
    where: Predicate | None
    statistics: tuple[Statistic, ...]
    found: tuple[Text, ...] = ()
    joins: tuple[Join, ...] = ()

    @property
    def cells(self) -> tuple[object, ...]:
        """What must agree for two demands to be one."""
        return self.joins, self.by, self.where, self.found


def demands_of(question: Question) -> tuple[Demand, ...]:
    """One demand for each grouping set; one for all keys where there are no sets."""
    sets = question.sets or (tuple(range(len(question.by))),)
    return tuple(_demand(question, [question.by[at] for at in chosen]) for chosen in sets)


def merged(demands: Iterable[Demand]) -> tuple[Demand, ...]:
    """Each filter and set of keys once, with all the statistics that are wanted there, in one order whoever asks."""
    wanted: dict[tuple[object, ...], list[Demand]] = {}
    for demand in demands:
        wanted.setdefault(demand.cells, []).append(demand)
    return tuple(replace(same[0], statistics=_ordered(same)) for same in wanted.values())


def _demand(question: Question, keys: Sequence[GroupKey]) -> Demand:
    by = tuple(Categories(key.text) if key.group is None and key.text else key.group for key in keys)
    return Demand(
        by=tuple(group for group in by if group is not None),
        where=question.where,
        statistics=question.statistics,
        found=tuple(key.text for key in keys if key.text is not None),
        joins=question.joins,
    )


def _ordered(same: Sequence[Demand]) -> tuple[Statistic, ...]:
    every = dict.fromkeys(statistic for demand in same for statistic in demand.statistics)
    return tuple(sorted(every, key=lambda one: (isinstance(one, Persons | Rank | Most), json.dumps(plain(one)))))
