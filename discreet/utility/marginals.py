"""Marginals: how far one- and two-way tables of copies lie from those of the original, in total variation.

1. A column of numbers with more than 12 different values is cut at the tenths of the original; other columns are tables
   of their values. Missing cells are a value.
2. The distance of two tables is half the sum over cells of |share − share|: the share of records that would have to be
   moved. Given are means over the copies.
3. `resampled` is the expected distance of a bootstrap sample of the original, in closed form (the mean absolute
   deviation of a binomial; de Moivre 1730): the cost of a perfect copy of the law that ignores the records. Copies may
   be better, as they may keep totals.
4. `independent` is, for two columns, the distance of a table with the same margins and no dependence.
5. Columns that are the same in every copy, and pairs of such, are at distance 0 and left out.

What it does not promise: anything about three columns and more, or about the tails inside a tenth.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.data.aligned import Variable, align
from discreet.draw.chart import Axis, Bars, Chart
from discreet.draw.format import written
from discreet.draw.grid import Grid, GridColumn
from discreet.errors import ArgumentError

__all__ = ["Marginal", "Marginals", "OneWay", "compare_marginals"]

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]

_AS_THEY_ARE = 12
_TENTHS = 10
_DENSE = 1 << 22
_SHOWN = 10
_BARS = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Marginal:
    """One table: its columns, its distance and what that is to be compared with."""

    columns: tuple[str, ...]
    distance: float
    resampled: float
    independent: float | None

    def as_json(self) -> dict[str, object]:
        """All figures."""
        return {
            "columns": list(self.columns),
            "distance": self.distance,
            "resampled": self.resampled,
            "independent": self.independent,
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class OneWay:
    """The shares of one column's values, in the original and on average in the copies. Confidential."""

    column: str
    values: tuple[str, ...]
    original: tuple[float, ...]
    copies: tuple[float, ...]

    def chart(self) -> Chart:
        """Both side by side; the rarest values together where there are many."""
        values, original, copies = self.values, self.original, self.copies
        if len(values) > _BARS:
            order = sorted(range(len(values)), key=lambda at: -self.original[at])
            kept, rest = sorted(order[: _BARS - 1]), order[_BARS - 1 :]
            values = (*(values[at] for at in kept), "others")
            original, copies = (
                (*(shares[at] for at in kept), sum(shares[at] for at in rest)) for shares in (original, copies)
            )
        return Chart(
            self.column,
            Axis("share of records", format="share"),
            Axis("", scale="band", categories=values),
            (Bars(original, values, "original"), Bars(copies, values, "copies")),
            "",
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Marginals:
    """All one- and two-way tables with a changed column."""

    one: tuple[Marginal, ...]
    two: tuple[Marginal, ...]
    shares: tuple[OneWay, ...]

    def as_json(self) -> dict[str, object]:
        """All figures; no shares."""
        return {
            "one_way": [one.as_json() for one in self.one],
            "two_way": [one.as_json() for one in self.two],
            "mean_one_way": _summary(self.one),
            "mean_two_way": _summary(self.two),
        }

    def grid(self) -> Grid:
        """The means, then the tables that lie farthest off."""
        rows = [
            (f"mean of {len(tables)} {name} tables", *_means(tables).values())
            for name, tables in (("one-way", self.one), ("two-way", self.two))
            if tables
        ]
        worst = sorted((*self.one, *self.two), key=lambda one: -one.distance)[:_SHOWN]
        rows += [(" × ".join(one.columns), one.distance, one.resampled, one.independent) for one in worst]
        names = "copies", "a bootstrap of the original", "independent columns"
        return Grid(
            "Distance of tables from the original's (total variation)",
            (GridColumn("table"), *(GridColumn(name, "share") for name in names)),
            tuple(rows),
            note=f"Means first, then the {len(worst)} tables that lie farthest off.",
        )

    def sentences(self) -> tuple[str, ...]:
        """The findings in plain words."""
        found = []
        for name, tables in (("One-way", self.one), ("Two-way", self.two)):
            if not tables:
                continue
            worst = max(tables, key=lambda one: one.distance)
            means = _means(tables)
            alone = "" if means["independent"] is None else f", of independent columns {_share(means['independent'])}"
            found.append(
                f"{name} tables of the copies lie {_share(means['distance'])} from the original's on average; those of "
                f"a bootstrap sample would lie {_share(means['resampled'])}{alone}. Farthest off is "
                f"{' × '.join(worst.columns)} at {_share(worst.distance)}."
            )
        return tuple(found)


def compare_marginals(original: Any, copies: Sequence[Any], *, names: Sequence[str] | None = None) -> Marginals:
    """Distances of all one- and two-way tables of the columns, or of those named."""
    tables = align([original, *copies], names=names)
    if len(tables.rows) < 2:
        raise ArgumentError("copies", found="none", right="one or more", step="give copies of the table")
    count = range(len(tables.rows))
    coded = [_cut(variable) for variable in tables.variables]
    changed = [one.changed for one in tables.variables]
    falls = _LogFactorials(tables.rows[0])
    one, shares = [], []
    for variable, is_changed in zip(coded, changed, strict=True):
        if is_changed:
            every = _shares([variable.codes(at) for at in count], len(variable.levels))
            one.append(_marginal((variable.name,), every, None, falls))
            shares.append(_one_way(variable, every))
    two = [
        _pair(first, second, count, falls)
        for (first, is_first), (second, is_second) in itertools.combinations(zip(coded, changed, strict=True), 2)
        if is_first or is_second
    ]
    return Marginals(one=tuple(one), two=tuple(two), shares=tuple(shares))


def _pair(first: Variable, second: Variable, count: range, falls: _LogFactorials) -> Marginal:
    columns = [(first.codes(at), second.codes(at)) for at in count]
    joint = [a * len(second.levels) + b for a, b in columns]
    cells = len(first.levels) * len(second.levels)
    if cells > _DENSE:
        different, coded = np.unique(np.concatenate(joint), return_inverse=True)
        joint = np.split(coded, np.cumsum([len(one) for one in joint])[:-1])
        cells = len(different)
    every = _shares(joint, cells)
    a, b = (np.bincount(one) / len(one) for one in columns[0])
    pairs, places = np.unique(joint[0], return_index=True)
    expected = a[columns[0][0][places]] * b[columns[0][1][places]]
    independent = (np.abs(every[0][pairs] - expected).sum() + 1 - expected.sum()) / 2
    return _marginal((first.name, second.name), every, float(independent), falls)


def _marginal(
    columns: tuple[str, ...], every: list[Floats], independent: float | None, falls: _LogFactorials
) -> Marginal:
    distances = [np.abs(one - every[0]).sum() / 2 for one in every[1:]]
    return Marginal(
        columns=columns,
        distance=float(np.mean(distances)),
        resampled=float(falls.mean_deviation(every[0]).sum() / 2),
        independent=independent,
    )


def _one_way(variable: Variable, every: list[Floats]) -> OneWay:
    mean = np.mean(every[1:], axis=0)
    seen = np.flatnonzero((every[0] > 0) | (mean > 0))
    return OneWay(
        column=variable.name,
        values=tuple(variable.levels[at] for at in seen),
        original=tuple(every[0][seen].tolist()),
        copies=tuple(mean[seen].tolist()),
    )


def _shares(tables: Sequence[Whole], cells: int) -> list[Floats]:
    return [np.bincount(codes, minlength=cells) / len(codes) for codes in tables]


def _cut(variable: Variable) -> Variable:
    """The column as codes of values or of tenths of the original."""
    if not variable.numeric:
        return variable
    tables = [variable.numbers(at) for at in range(len(variable.tables))]
    there = [values[~np.isnan(values)] for values in tables]
    different = np.unique(np.concatenate(there))
    if len(different) <= _AS_THEY_ARE:
        edges, names = different[1:], [written("number", float(value)) for value in different]
    else:
        own = there[0] if len(there[0]) else np.concatenate(there)
        edges = np.unique(np.quantile(own, np.arange(1, _TENTHS) / _TENTHS, method="higher"))
        edges = edges[edges > own.min()]
        names = [f"from {written('number', float(edge))}" for edge in edges]
        names = [f"below {written('number', float(edges[0]))}" if len(edges) else "all", *names]
    missing = len(edges) + 1
    codes = tuple(
        np.where(np.isnan(values), missing, np.searchsorted(edges, values, side="right")).astype(np.int64)
        for values in tables
    )
    return Variable(name=variable.name, levels=(*names, "missing"), tables=codes)


class _LogFactorials:
    """log 0!, …, log n!: what the mean absolute deviation of a binomial share needs."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])

    def mean_deviation(self, shares: Floats) -> Floats:
        """E|X/n − p| for X binomial (n, p): 2 v C(n, v) p^v (1 − p)^(n − v + 1) / n with v = ⌊np⌋ + 1."""
        inner = (shares > 0) & (shares < 1)
        p = np.where(inner, shares, 0.5)
        v = np.minimum(np.floor(self._n * p + 1e-9).astype(np.int64) + 1, self._n)
        logs = self._logs[self._n] - self._logs[v] - self._logs[self._n - v]
        logs += v * np.log(p) + (self._n - v + 1) * np.log1p(-p)
        return np.asarray(np.where(inner, 2 * v * np.exp(logs) / self._n, 0.0))


def _means(tables: Sequence[Marginal]) -> dict[str, float | None]:
    alone = [one.independent for one in tables if one.independent is not None]
    return {
        "distance": float(np.mean([one.distance for one in tables])),
        "resampled": float(np.mean([one.resampled for one in tables])),
        "independent": float(np.mean(alone)) if alone else None,
    }


def _summary(tables: Sequence[Marginal]) -> dict[str, float | None] | None:
    return _means(tables) if tables else None


def _share(value: float | None) -> str:
    return written("share", value)
