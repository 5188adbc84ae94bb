"""Grouping sets whose cells add up: of all tables with the same sums, the one nearest to what was released.

Each grouping set is measured by itself, with noise of its own, so that a subtotal is not the sum of its parts. Weighted
least squares makes them agree and errs less than any of them:

1. A table splits into parts, one for each set of its keys: the part of T is what T alone explains, its table of sums
   over all other keys less the parts of fewer keys. Parts of one table are orthogonal, so the fit goes part by part.
2. The part of T is the mean of that of all tables with the keys T, weighted by 1/(v·N) for a table of N cells whose
   numbers have the variance v.
3. Each table is put together again from its parts.

Given:   tables over the same rows, each of which lies in one cell of every key (`adds_up`); noise with one law in all
         cells of a table, independent between tables.
Promise: the tables agree, and are the least squares fit. It is post-processing: it reads what was released alone.
Because: noise of one spread in all cells stays so in each orthogonal part, so that a part's fit is a weighted mean.
Tested:  test_consistent_tables_are_the_least_squares_fit, test_consistent_answers_add_up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, combinations
from math import prod
from typing import TypeAlias

import numpy as np

from discreet.data.column import NullRule
from discreet.data.contract import Contract
from discreet.measure.expression import Column
from discreet.measure.groups import Bins, Categories, Each, Group
from discreet.measure.span import span_of
from discreet.query.term import Numbers

__all__ = ["adds_up", "fitted", "spread_after"]

Keys: TypeAlias = tuple[int, ...]


def adds_up(group: Group, contract: Contract) -> bool:
    """Whether, by contract, every row lies in one cell of the group: none is missing there or outside."""
    match group:
        case Categories(text, chosen):
            return chosen is None and contract.columns[text.name].nulls is not NullRule.DROP
        case Each(value):
            return not span_of(value, contract).optional or _keyed(value, contract)
        case Bins(value, edges):
            span = span_of(value, contract)
            inside = edges[0] <= span.step * span.low and span.step * span.high <= edges[-1]
            return inside and (not span.optional or _keyed(value, contract))
    return False


def fitted(tables: Mapping[Keys, Numbers], variances: Mapping[Keys, float]) -> dict[Keys, Numbers]:
    """The tables, each an array with one axis for each of its keys, made to agree. A variance of 0 is exact."""
    parts = {keys: _parts(keys, table) for keys, table in tables.items()}
    best: dict[Keys, Numbers] = {}
    for wanted in _below(tables):
        weights = _weights(wanted, tables, variances)
        best[wanted] = np.asarray(sum(weight * parts[keys][wanted] for keys, weight in weights.items()))
    return {keys: _together(keys, table.shape, best) for keys, table in tables.items()}


def spread_after(sizes: Mapping[Keys, Sequence[int]], variances: Mapping[Keys, float], keys: Keys) -> float:
    """The standard deviation of a cell of one table after the fit."""
    shapes = {one: np.empty(tuple(size), dtype=bool) for one, size in sizes.items()}
    cells, total = prod(sizes[keys]), 0.0
    for wanted in _subsets(keys):
        weights = _weights(wanted, shapes, variances)
        inner = [size for key, size in zip(keys, sizes[keys], strict=True) if key in wanted]
        # A part of T in a table of N cells: v·N/|T| in each cell of T, but for what parts of fewer keys hold.
        each = sum(w**2 * variances[one] * shapes[one].size for one, w in weights.items()) / prod(inner)
        total += each * prod(1 - 1 / size for size in inner) * (prod(inner) / cells) ** 2
    return float(total**0.5)


def _weights(wanted: Keys, tables: Mapping[Keys, Numbers], variances: Mapping[Keys, float]) -> dict[Keys, float]:
    """How much each table with these keys counts."""
    having = [keys for keys in tables if set(wanted) <= set(keys)]
    exact = [keys for keys in having if not variances[keys]]
    if exact:
        return {keys: 1 / len(exact) for keys in exact}
    each = {keys: 1 / (variances[keys] * tables[keys].size) for keys in having}
    return {keys: weight / sum(each.values()) for keys, weight in each.items()}


def _parts(keys: Keys, table: Numbers) -> dict[Keys, Numbers]:
    """What each set of keys alone explains of a table, as sums over the other keys."""
    found: dict[Keys, Numbers] = {}
    for wanted in _subsets(keys):
        dropped = tuple(at for at, key in enumerate(keys) if key not in wanted)
        part = np.asarray(table.sum(axis=dropped))
        for fewer in _subsets(wanted):
            if fewer != wanted:
                part = part - _widened(fewer, wanted, part.shape, found[fewer])
        found[wanted] = part
    return found


def _together(keys: Keys, shape: tuple[int, ...], parts: Mapping[Keys, Numbers]) -> Numbers:
    table = np.zeros(shape)
    for wanted in _subsets(keys):
        table = table + _widened(wanted, keys, shape, parts[wanted])
    return table


def _widened(fewer: Keys, keys: Keys, shape: tuple[int, ...], part: Numbers) -> Numbers:
    """A part of fewer keys in every cell of a table: each sum spread evenly over the cells it is made of."""
    over = prod(size for key, size in zip(keys, shape, strict=True) if key not in fewer)
    kept = tuple(size if key in fewer else 1 for key, size in zip(keys, shape, strict=True))
    return np.asarray(part.reshape(kept) / over)


def _below(tables: Mapping[Keys, Numbers]) -> tuple[Keys, ...]:
    """Every set of keys that some table has, fewer keys first."""
    return tuple(sorted({one for keys in tables for one in _subsets(keys)}, key=lambda one: (len(one), one)))


def _subsets(keys: Keys) -> tuple[Keys, ...]:
    """Every set of some of the keys, fewer first."""
    return tuple(chain.from_iterable(combinations(keys, count) for count in range(len(keys) + 1)))


def _keyed(value: object, contract: Contract) -> bool:
    return isinstance(value, Column) and contract.columns[value.name].nulls is NullRule.KEY
