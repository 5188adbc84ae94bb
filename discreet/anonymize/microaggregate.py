"""Microaggregation: records in groups of k, each value replaced by its group's mean.

    mdav       several columns at once: groups around the records farthest from the middle (Domingo-Ferrer and
               Mateo-Sanz 2002), of k each, the last up to 2k − 1
    optimal    one column: the grouping of least squared error there is (Hansen and Mukherjee 2003)
    fixed      one column: the sorted values in runs of k

Given:   numeric columns, without missing values, as the quasi-identifiers.
Promise: the published values of these columns form classes of at least k records; their means stay as they are.
Because: every record of a group gets the same values, and groups have k or more.
Tested:  test_groups_have_k_and_means_stay, test_optimal_grouping_is_the_best_of_all.

What breaks it: with one column alone the groups keep the order, so the rank of a person is published
(test_ranks_survive_microaggregation); with each column grouped on its own (`optimal`, `fixed`) the columns together are
k-anonymous no more (test_columns_on_their_own_single_out). A group's mean is an exact figure of k persons.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.anonymize.records import CodedColumn, Codes, Records, Vector
from discreet.check import at_least, one_of, some
from discreet.errors import ArgumentError

__all__ = ["GROUPINGS", "group_fixed", "group_mdav", "group_optimally", "microaggregate"]

GROUPINGS = ("mdav", "optimal", "fixed")


def microaggregate(records: Records, columns: Sequence[str], *, k: int = 3, grouping: str = "mdav") -> Records:
    """The records with these columns microaggregated; `optimal` and `fixed` take each column on its own."""
    names = some("columns", columns, step="name numeric columns, each once")
    one_of("grouping", grouping, GROUPINGS)
    at_least("k", k, 2)
    held = [records.column(name) for name in names]
    for column in held:
        if column.missing.any():
            raise ArgumentError(
                f"column {column.name!r}",
                found="missing values",
                right="a mean needs every value",
                step="fill or drop them first, or suppress cells instead",
            )
    if records.rows < k:
        raise ArgumentError("k", found=f"{k}, and fewer records", right="at least k records", step="ask for less")
    points = np.stack([column.numbers for column in held], axis=1)
    if grouping == "mdav":
        spread = points.std(axis=0)
        groups = [group_mdav(points / np.where(spread > 0, spread, 1), k)] * len(held)
    else:
        make = group_optimally if grouping == "optimal" else group_fixed
        groups = [make(points[:, place], k) for place in range(len(held))]
    return records.replaced(*(_averaged(column, group) for column, group in zip(held, groups, strict=True)))


def group_mdav(points: Vector, k: int) -> Codes:
    """The group of each point, by distances from the middle of those that are left."""
    group = np.zeros(len(points), np.int64)
    left = np.arange(len(points))
    number = 0
    while len(left) >= 3 * k:
        middle = points[left].mean(axis=0)
        far = left[np.argmax(_distances(points[left], middle))]
        nearest = _nearest(points, left, far, k)
        group[nearest], number = number, number + 1
        rest = np.setdiff1d(left, nearest, assume_unique=True)
        other = rest[np.argmax(_distances(points[rest], points[far]))]
        opposite = _nearest(points, rest, other, k)
        group[opposite], number = number, number + 1
        left = np.setdiff1d(rest, opposite, assume_unique=True)
    if len(left) >= 2 * k:
        middle = points[left].mean(axis=0)
        nearest = _nearest(points, left, left[np.argmax(_distances(points[left], middle))], k)
        group[nearest], number = number, number + 1
        left = np.setdiff1d(left, nearest, assume_unique=True)
    group[left] = number
    return group


def group_fixed(values: Vector, k: int) -> Codes:
    """Runs of k sorted values; the last run takes what is over."""
    group = np.empty(len(values), np.int64)
    place = np.minimum(np.arange(len(values)) // k, max(len(values) // k - 1, 0))
    group[np.argsort(values, kind="stable")] = place
    return group


def group_optimally(values: Vector, k: int) -> Codes:
    """The grouping of the sorted values of least squared error, as the shortest path over its cuts.

    A group of 2k or more can always be parted without loss, so that each cut looks back over k sizes.
    """
    order = np.argsort(values, kind="stable")
    held = values[order] - (values.mean() if len(values) else 0.0)
    sums, squares = np.concatenate([[0.0], np.cumsum(held)]), np.concatenate([[0.0], np.cumsum(held**2)])
    best = np.full(len(held) + 1, np.inf)
    cut = np.zeros(len(held) + 1, np.int64)
    best[0] = 0.0
    for end in range(k, len(held) + 1):
        starts = np.arange(max(0, end - 2 * k + 1), end - k + 1)
        error = squares[end] - squares[starts] - (sums[end] - sums[starts]) ** 2 / (end - starts)
        costs = best[starts] + error
        chosen = int(np.argmin(costs))
        best[end], cut[end] = costs[chosen], starts[chosen]
    group = np.empty(len(held), np.int64)
    end, number = len(held), 0
    while end > 0:
        group[order[cut[end] : end]] = number
        end, number = int(cut[end]), number + 1
    return group


def _averaged(column: CodedColumn, group: Codes) -> CodedColumn:
    means = np.bincount(group, column.numbers) / np.bincount(group)
    return column.with_numbers(means[group], whole=False)


def _distances(points: Vector, other: Vector) -> Vector:
    distances: Vector = ((points - other) ** 2).sum(axis=1)
    return distances


def _nearest(points: Vector, left: Codes, centre: np.int64, k: int) -> Codes:
    distances = _distances(points[left], points[centre])
    distances[left == centre] = -1.0
    return left[np.argpartition(distances, k - 1)[:k]]
