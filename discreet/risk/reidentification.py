"""Re-identification: how surely an intruder finds a person's record in released copies of a table.

1. The intruder knows who is in the table and the true keys of everybody (t_i), and nothing else of it. In each copy all
   records that agree with t_i match: equal on categories, within a tolerance on numbers. One of them is picked.
2. With s matches the pick is right with chance 1/s when the person's own record, the row in their place, is among them,
   and 0 otherwise: the *true-match* risk. The source's rule counts 1/s whether or not it is (`any_match`); it does not
   go to zero however the copies are changed, since some record always matches. Both are given; decide by the first.
3. I_i is the mean over the M copies. A stronger intruder averages the copies first, numbers by their mean, categories
   by their commonest value, and matches on that one table: `averaged`.
4. To compare with: `original`, the same figures were the table itself released, and 1/n, a pick at random.
5. Figures are exact for these copies. The interval of the mean speaks of other copies made in the same way: Student's t
   over the M means, from two copies on.

Given: row i of a copy stands in the place of row i of the original, as partial synthesis makes it. Copies that are new
persons have no own record: then the true-match figures are at the level of chance.
What it does not promise: anything about intruders who know more than the keys, or about columns that were not replaced.
Reference: Reiter and Mitra (2009), Estimating risks of identification disclosure in partially synthetic data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.check import exact, known, some
from discreet.data.aligned import Aligned, Variable, align
from discreet.draw.chart import Axis, Bars, Chart
from discreet.draw.format import written
from discreet.draw.grid import Grid, GridColumn
from discreet.errors import ArgumentError
from discreet.stats.matching import Records, count_matches, own_matches
from discreet.stats.means import interval_of_mean

__all__ = [
    "Exposure",
    "Reidentification",
    "interval_of_mean",
    "matching_keys",
    "matching_records",
    "reidentify",
    "require_rows",
]

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]

_LIKELY = 0.2
_BANDS = (
    ("0", -1.0, 0.0),
    ("below 1 %", 0.0, 0.01),
    ("1 to 5 %", 0.01, 0.05),
    ("5 to 20 %", 0.05, 0.2),
    ("20 to 50 %", 0.2, 0.5),
    ("50 % and more", 0.5, 2.0),
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Exposure:
    """The risk of each record under one intruder. It does not print: single risks are the keeper's."""

    true_match: Floats
    any_match: Floats

    @property
    def mean(self) -> float:
        """The mean true-match risk: the share of persons the intruder gets right."""
        return float(self.true_match.mean())

    @property
    def largest(self) -> float:
        """The risk of the most exposed person."""
        return float(self.true_match.max())

    @property
    def likely(self) -> float:
        """The share of persons found with a chance of at least one in five."""
        return float((self.true_match >= _LIKELY - 1e-12).mean())

    @property
    def source_rule(self) -> float:
        """The mean of 1/s, counted also when the own record is not among the matches."""
        return float(self.any_match.mean())

    def as_json(self) -> dict[str, float]:
        """The summary; no record's own figure."""
        return {
            "mean": self.mean,
            "largest": self.largest,
            "share_at_least_one_in_five": self.likely,
            "mean_source_rule": self.source_rule,
        }

    def of(self, records: npt.NDArray[np.bool_]) -> Exposure:
        """The same for some of the records."""
        return Exposure(true_match=self.true_match[records], any_match=self.any_match[records])


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Reidentification:
    """What an intruder with the keys gets from the copies, with what it is to be compared with."""

    keys: tuple[str, ...]
    tolerances: dict[str, float]
    copies: int
    records: int
    released: Exposure
    averaged: Exposure
    original: Exposure
    interval: tuple[float, float] | None
    groups: dict[str, tuple[int, Exposure]]

    @property
    def chance(self) -> float:
        """A pick at random."""
        return 1 / self.records

    def as_json(self) -> dict[str, object]:
        """Everything but the figures of single records."""
        return {
            "keys": list(self.keys),
            "tolerances": self.tolerances,
            "copies": self.copies,
            "records": self.records,
            "released": self.released.as_json(),
            "interval_of_mean": None if self.interval is None else list(self.interval),
            "averaged_copies": self.averaged.as_json(),
            "original": self.original.as_json(),
            "chance": self.chance,
            "groups": {name: {"records": n, **one.as_json()} for name, (n, one) in self.groups.items()},
        }

    def grid(self) -> Grid:
        """One row for each intruder, the baselines last."""
        rows = [
            ("one of the copies, a pick among the matches", self.released),
            ("the average of all copies", self.averaged),
            ("to compare: the original table itself", self.original),
        ]
        return Grid(
            f"Chance that an intruder who knows {', '.join(self.keys)} finds the right record",
            _columns("what the intruder has"),
            (
                *((what, *_cells(one)) for what, one in rows),
                ("to compare: nothing, a pick at random", *[self.chance] * 2, None, None),
            ),
            note="Source's rule: 1/s counts although the right record may not be among the s that match.",
        )

    def group_grid(self) -> Grid | None:
        """One row for each group, if groups were given."""
        if not self.groups:
            return None
        rows = tuple((name, n, *_cells(one)) for name, (n, one) in self.groups.items())
        first, *others = _columns("group")
        return Grid("The same by group", (first, GridColumn("records", "count"), *others), rows)

    def chart(self) -> Chart:
        """How many persons are at which risk, from a copy, from the average of all, and from the original."""
        names = tuple(name for name, _, _ in _BANDS)
        marks = [
            Bars(names, tuple(_band_share(one.true_match, low, high) for _, low, high in _BANDS), label)
            for label, one in (
                ("a copy", self.released),
                ("the average of the copies", self.averaged),
                ("the original", self.original),
            )
        ]
        return Chart(
            "Persons by the chance that their record is found",
            Axis("chance that the right record is picked", scale="band", categories=names),
            Axis("share of persons", format="share", domain=(0.0, 1.0)),
            tuple(marks),
            f"An intruder who knows {', '.join(self.keys)} of everybody. What the original would give away moves to "
            "the left in copies that protect.",
            family="measured risk",
        )

    def sentences(self) -> tuple[str, ...]:
        """The findings in plain words."""
        means = "" if self.interval is None else f" (95 % interval over such copies {_span(self.interval)})"
        return (
            f"An intruder who knows {', '.join(self.keys)} of everybody picks the right record for "
            f"{written('share', self.released.mean)} of the persons from a copy{means}; from the original table it "
            f"would be {written('share', self.original.mean)}, by a pick at random {written('share', self.chance)}.",
            f"The most exposed person is found with a chance of {written('share', self.released.largest)}; "
            f"{written('share', self.released.likely)} of the persons with a chance of one in five or more "
            f"(original: {written('share', self.original.likely)}).",
            f"Averaging the {self.copies} copies first, the intruder is right for "
            f"{written('share', self.averaged.mean)} of the persons.",
        )


def reidentify(
    original: Any,
    copies: Sequence[Any],
    *,
    keys: Sequence[str],
    tolerances: Mapping[str, float] | None = None,
    groups: str | Sequence[Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Reidentification:
    """The risk of each record of the original in its copies; `groups` is a column, or a label for each record.

    Numbers without a tolerance match when they are equal.
    """
    chosen, within = matching_keys(keys, tolerances)
    tables = align([original, *copies], names=chosen, categories=[key for key in chosen if key not in within])
    require_rows(tables.rows)
    reach = numbers_reach(tables, within)
    tell = progress or (lambda _: None)
    targets = matching_records(tables, 0)
    each = []
    for copy in range(1, len(tables.rows)):
        tell(f"matching with copy {copy}")
        each.append(_exposure(targets, matching_records(tables, copy), reach))
    tell("matching with the average and the original")
    released = Exposure(
        true_match=np.mean([one.true_match for one in each], axis=0),
        any_match=np.mean([one.any_match for one in each], axis=0),
    )
    return Reidentification(
        keys=chosen,
        tolerances=within,
        copies=len(each),
        records=len(targets),
        released=released,
        averaged=_exposure(targets, _average(tables), reach),
        original=_exposure(targets, targets, reach),
        interval=interval_of_mean([one.mean for one in each]),
        groups=_by_group(released, _labels(original, groups, len(targets))),
    )


def matching_keys(
    keys: Sequence[str], tolerances: Mapping[str, float] | None
) -> tuple[tuple[str, ...], dict[str, float]]:
    """The keys, and the tolerances as finite numbers of 0 or more, each of a key."""
    chosen = some("keys", keys, step="name the columns an intruder may know, each once")
    within = {}
    for name, given in (tolerances or {}).items():
        known("tolerance of", name, chosen, step="give tolerances for keys alone")
        within[name] = float(exact(f"tolerance of {name}", given))
        if within[name] < 0:
            raise ArgumentError(
                f"tolerance of {name}", found=f"{given}", right="it is a number of 0 or more", step="give 0 or 2.5"
            )
    return chosen, within


def matching_records(tables: Aligned, table: int, *, within: Sequence[str] | None = None) -> Records:
    """One table's records as they are matched, on all columns or on those named."""
    chosen = [variable for variable in tables.variables if within is None or variable.name in within]
    if math.prod(len(variable.levels) or 1 for variable in chosen) >= 2**50:
        raise ArgumentError(
            "keys", found="more than 2^50 cells of categories", right="fewer", step="leave out a column"
        )
    codes = np.zeros(tables.rows[table], dtype=np.int64)
    for variable in chosen:
        if not variable.numeric:
            codes = codes * len(variable.levels) + variable.codes(table)
    return Records(codes=codes, numbers=tuple(one.numbers(table) for one in chosen if one.numeric))


def require_rows(rows: Sequence[int]) -> None:
    """Refuse copies whose rows cannot stand in the places of the original's; `rows` counts the original's first."""
    if len(rows) < 2 or len(set(rows)) > 1:
        raise ArgumentError(
            "copies",
            found="none, or one of another number of rows than the original",
            right="row i of each copy stands in the place of row i of the original",
            step="give copies of this table, in its order",
        )


def numbers_reach(tables: Aligned, within: Mapping[str, float]) -> list[float]:
    """The tolerances of the columns kept as numbers, in their order; those of other columns are refused."""
    for variable in tables.variables:
        if variable.name in within and not variable.numeric:
            raise ArgumentError(
                f"tolerance of {variable.name}",
                found="a column that holds no numbers",
                right="a tolerance is a distance of numbers",
                step="leave it out: categories match when they are equal",
            )
    return [within[variable.name] for variable in tables.variables if variable.numeric]


def _exposure(targets: Records, copy: Records, reach: Sequence[float]) -> Exposure:
    matches = count_matches(targets, copy, reach)
    any_match = np.divide(1.0, matches, out=np.zeros(len(matches)), where=matches > 0)
    return Exposure(true_match=any_match * own_matches(targets, copy, reach), any_match=any_match)


def _average(tables: Aligned) -> Records:
    """The copies as one table: the mean of numbers, the commonest category (the first of equally common ones)."""
    copies = range(1, len(tables.rows))
    averaged = []
    for variable in tables.variables:
        if variable.numeric:
            values = np.stack([variable.numbers(copy) for copy in copies])
            there = ~np.isnan(values)
            number = there.sum(axis=0)
            total = np.where(there, values, 0.0).sum(axis=0)
            mean = np.divide(total, number, out=np.full(len(number), np.nan), where=number > 0)
            averaged.append(Variable(name=variable.name, levels=(), tables=(mean,)))
        else:
            commonest = _commonest(np.stack([variable.codes(copy) for copy in copies]))
            averaged.append(Variable(name=variable.name, levels=variable.levels, tables=(commonest,)))
    return matching_records(Aligned(variables=tuple(averaged), rows=tables.rows[1:2]), 0)


def _commonest(codes: Whole) -> Whole:
    """The commonest code of each column."""
    arranged = np.sort(codes, axis=0)
    best: Whole = arranged[0].copy()
    most = np.ones(codes.shape[1], dtype=np.int64)
    run = np.ones(codes.shape[1], dtype=np.int64)
    for row in range(1, len(arranged)):
        run = np.where(arranged[row] == arranged[row - 1], run + 1, 1)
        better = run > most
        best[better], most[better] = arranged[row][better], run[better]
    return best


def _by_group(released: Exposure, labels: Variable | None) -> dict[str, tuple[int, Exposure]]:
    if labels is None:
        return {}
    codes = labels.codes(0)
    return {
        name: (int((codes == code).sum()), released.of(codes == code))
        for code, name in enumerate(labels.levels)
        if (codes == code).any()
    }


def _labels(original: Any, groups: str | Sequence[Any] | None, records: int) -> Variable | None:
    if groups is None:
        return None
    if isinstance(groups, str):
        return align([original], names=[groups], categories=[groups]).variables[0]
    if len(groups) != records:
        raise ArgumentError(
            "groups", found=f"{len(groups)} labels", right=f"there are {records} records", step="give one a record"
        )
    return align([{"group": list(groups)}], categories=["group"]).variables[0]


def _band_share(risks: Floats, low: float, high: float) -> float:
    """The share of risks in [low, high), in (low, high) at 0; exactly 0 alone in the first."""
    if high == 0:
        return float((risks == 0).mean())
    return float(((risks > 0) & (risks >= low - 1e-12) & (risks < high - 1e-12)).mean())


def _columns(first: str) -> tuple[GridColumn, ...]:
    names = ("mean risk", "largest", "share at 1 in 5 or more", "mean by the source's rule")
    return (GridColumn(first), *(GridColumn(name, "share") for name in names))


def _cells(one: Exposure) -> tuple[float, float, float, float]:
    return one.mean, one.largest, one.likely, one.source_rule


def _span(interval: tuple[float, float]) -> str:
    low, high = (min(max(end, 0.0), 1.0) for end in interval)
    return f"{written('share', low)} to {written('share', high)}"
