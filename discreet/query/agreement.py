"""An answer's grouping sets made to agree: its statistics out of sums that add up from table to table.

Only what is summed over rows adds up. Where rows may be missing in a key, or keys were found, tables need not agree,
and nothing is fitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.query.consistent import Keys, adds_up, fitted, spread_after
from discreet.query.evaluation import Evaluation
from discreet.query.recipe import Primitive, Recipe
from discreet.query.term import Asked, Key, Numbers, Term, evaluate

__all__ = ["Agreement", "agreement"]

_ADDED = ("rows", "present", "sum", "square")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Agreement:
    """Every statistic of every table over the fitted sums, and their standard deviations where they are sums."""

    evaluation: Evaluation
    statistics: Mapping[Keys, Sequence[Numbers]]
    deviations: Mapping[Keys, Sequence[float | None]]

    def values(self, term: Term) -> list[Any]:
        """A term in every row."""
        if isinstance(term, Key):
            return list(self.evaluation.labels(term.at))
        found = [
            np.broadcast_to(np.asarray(evaluate(term, self.statistics[table.grouped], table.keys)), (table.size,))
            for table in self.evaluation.tables
        ]
        return [_plain(found[table][cell]) for table, cell in self.evaluation.rows]

    def errors(self, term: Term) -> list[float | None]:
        """The standard deviation of a term in every row, where it is a sum."""
        if not isinstance(term, Asked):
            return [None for _ in self.evaluation.rows]
        return [self.deviations[self.evaluation.tables[at].grouped][term.at] for at, _ in self.evaluation.rows]


def agreement(evaluation: Evaluation) -> Agreement | None:
    """The fit, or None where there is nothing to fit."""
    tables = {table.grouped: table for table in evaluation.tables}
    if len(tables) < 2 or len(tables) < len(evaluation.tables) or not all(map(_in_order, tables)):
        return None
    question, contract = evaluation.question, evaluation.tables[0].designed.contract
    partial = {key for keys in tables for key in keys if any(key not in other for other in tables)}
    groups = [question.by[key].group for key in partial]
    if not all(group is not None and adds_up(group, contract) for group in groups):
        return None
    recipes = evaluation.tables[0].recipes
    needs = dict.fromkeys(need for recipe in recipes if _fits(recipe) and recipe is not None for need in recipe.needs)
    sizes = {keys: tuple(axis.size for axis in table.designed.axes) for keys, table in tables.items()}
    fits: dict[Primitive, Mapping[Keys, Numbers]] = {}
    spreads: dict[Primitive, Mapping[Keys, float]] = {}
    for need in needs:
        released = {keys: table.linear(need).floats.reshape(sizes[keys]) for keys, table in tables.items()}
        deviations = {
            keys: table.designed.sums.deviation(need) for keys, table in tables.items() if table.designed.sums
        }
        variances = {keys: deviation**2 for keys, deviation in deviations.items()}
        fits[need] = fitted(released, variances)
        spreads[need] = {keys: spread_after(sizes, variances, keys) for keys in tables}
    statistics = {}
    for keys, table in tables.items():
        with np.errstate(all="ignore"):
            statistics[keys] = [
                recipe.made(*(fits[need][keys].reshape(-1) for need in recipe.needs))
                if recipe is not None and _fits(recipe)
                else table.statistics[at]
                for at, recipe in enumerate(recipes)
            ]
    return Agreement(
        evaluation=evaluation,
        statistics=statistics,
        deviations={keys: [_deviation(one, keys, spreads) for one in recipes] for keys in tables},
    )


def _fits(recipe: Recipe | None) -> bool:
    return recipe is not None and all(need.kind in _ADDED for need in recipe.needs)


def _in_order(keys: Keys) -> bool:
    return list(keys) == sorted(set(keys))


def _deviation(recipe: Recipe | None, keys: Keys, spreads: Mapping[Primitive, Mapping[Keys, float]]) -> float | None:
    if recipe is None or not recipe.linear or not _fits(recipe):
        return None
    return spreads[recipe.needs[0]][keys]


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    return float(value) if np.isfinite(float(value)) else None
