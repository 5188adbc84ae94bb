"""What is to be copied and how: checked before anything is fitted, with every fallback stated.

1. Columns of the survey's design (weight, stratum, cluster, household) stay as they are. The weight multiplies each
   record in every fit, and weight and stratum are predictors; cluster and household are not.
2. Without `perturb` all other columns are replaced, otherwise the named ones; they are visited in the order of `order`,
   or of the table. Each is drawn given all columns that stay and those visited before it.
3. A column is refused when it stands for a record (another text in more than half of the rows), when fewer than `least`
   of its cells are there, or when a column that stays holds the same. A constant or empty one stays, with a note, and
   one that columns that stay add up to is noted.
4. `missing`: "keep" leaves missing cells where they are; "model" draws for each row whether the cell is missing, then
   the value. Unless said, what is kept are the gaps of a table of which some columns stay.
5. With households, a column that is the same within each is drawn once for each household, given its first row.

What it does not promise: that clusters and households stay alike in columns drawn row by row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.check import at_least, known, one_of, some
from discreet.errors import ArgumentError
from discreet.stats.survey import Sampling
from discreet.synthesis.imputation.columns import Column, Columns, Kind
from discreet.synthesis.imputation.models import Method
from discreet.synthesis.imputation.rules import Rule, parse_rule
from discreet.synthesis.imputation.sums import parts_of

__all__ = ["Plan", "Settings", "Step", "households_of", "is_shared", "plan", "require_kept"]

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]
Missing: TypeAlias = Literal["keep", "model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How copies are made, by whoever asks for them."""

    perturb: Sequence[str] | None = None
    method: Method | str = Method.CART
    methods: Mapping[str, Method | str] = field(default_factory=dict)
    order: Sequence[str] | None = None
    copies: int = 20
    proper: bool = True
    smooth: bool = True
    least: int = 5
    missing: Missing | None = None
    sampling: Sampling = field(default_factory=Sampling)
    rules: Sequence[str] = ()
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Step:
    """One column to be drawn: how, given which, and for groups of rows that share one value (a household) if any."""

    column: Column
    method: Method
    given: tuple[Column, ...]
    missing: Missing
    bounds: tuple[float, float] | None
    groups: Whole | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """Steps in their order, and what goes with them."""

    steps: tuple[Step, ...]
    settings: Settings
    weights: Floats | None
    rules: tuple[Rule, ...]
    everything: bool
    notes: tuple[str, ...]


def plan(columns: Columns, settings: Settings) -> Plan:
    """Check what was asked against the table."""
    at_least("copies", settings.copies, 1)
    at_least("least", settings.least, 2)
    design = settings.sampling.names
    for name in (*design, *settings.methods, *settings.bounds):
        known("column", name, columns.names, step="name a column of the table")
    chosen, everything = _chosen(columns, settings, design)
    notes: list[str] = []
    drawn = [name for name in chosen if _can_be_drawn(columns.column(name), settings.least, notes)]
    given = _staying(columns, set(drawn), settings.sampling, notes)
    if not drawn:
        raise ArgumentError(
            "perturb", found="columns without variation", right="some column varies", step="name one that does"
        )
    _require_untold(columns, drawn, chosen, notes)
    weights = _weights(columns, settings.sampling.weight)
    households = households_of(columns, settings.sampling.household)
    steps = []
    for name in drawn:
        column = columns.column(name)
        steps.append(
            Step(
                column=column,
                method=_method(settings, name),
                given=tuple(given),
                missing=settings.missing or ("model" if everything else "keep"),
                bounds=settings.bounds.get(name),
                groups=households if households is not None and is_shared(column, households) else None,
            )
        )
        given.append(column)
        _note_clipped(steps[-1], notes)
    rules = tuple(parse_rule(text) for text in settings.rules)
    require_kept(columns, rules)
    return Plan(
        steps=tuple(steps),
        settings=settings,
        weights=weights,
        rules=rules,
        everything=everything,
        notes=tuple(notes),
    )


def _note_clipped(step: Step, notes: list[str]) -> None:
    distinct = step.column.distinct
    if step.bounds is not None and step.column.is_continuous:
        low, high = step.bounds
        if distinct[0] < low or distinct[-1] > high:
            notes.append(f"{step.column.name}: cells of the table beyond its bounds are brought there in the copies")


def _chosen(columns: Columns, settings: Settings, design: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """The columns to replace in the order of their visit, and whether those are all there are."""
    if settings.perturb is None:
        chosen = tuple(name for name in columns.names if name not in design)
    else:
        chosen = some("perturb", tuple(settings.perturb), step="name the columns to replace")
    for name in chosen:
        known("column", name, columns.names, step="name a column of the table")
        if name in design:
            raise ArgumentError(
                f"column {name!r}",
                found="a column of the survey's design among those to replace",
                right="weights, strata, clusters and households stay as they are",
                step="take it out of the columns to replace, or out of the design",
            )
    if settings.order is not None:
        order = some("order", tuple(settings.order), step="name the columns in the order of their visit")
        if set(order) != set(chosen):
            raise ArgumentError(
                "order",
                found="other columns than those to replace",
                right="it holds each of these once",
                step=f"order {', '.join(chosen[:8])}",
            )
        return order, len(chosen) == len(columns.names)
    return tuple(name for name in columns.names if name in chosen), len(chosen) == len(columns.names)


def _can_be_drawn(column: Column, least: int, notes: list[str]) -> bool:
    there = int(np.count_nonzero(~column.missing))
    distinct = len(column.distinct)
    if distinct <= 1:
        state = "it holds one value only" if distinct else "all its cells are missing"
        notes.append(f"{column.name}: {state}; it stays as it is")
        return False
    if there < least:
        raise ArgumentError(
            f"column {column.name!r}",
            found=f"fewer than {least} cells that are not missing",
            right="a column is modelled on at least so many",
            step="leave it out of the table",
        )
    if column.kind is Kind.NOMINAL and _is_identifier(column):
        raise ArgumentError(
            f"column {column.name!r}",
            found="another text in more than half of the rows",
            right="what stands for a record cannot be drawn from others",
            step="leave it out of the table, or make groups of it",
        )
    return True


def _is_identifier(column: Column) -> bool:
    there = int(np.count_nonzero(~column.missing))
    return not column.is_continuous and there >= 20 and 2 * len(column.distinct) > there


def _staying(columns: Columns, drawn: set[str], sampling: Sampling, notes: list[str]) -> list[Column]:
    """The columns that stay and are worth looking at."""
    staying = []
    for column in columns.columns:
        if column.name in drawn or column.name in (sampling.cluster, sampling.household):
            continue
        if _is_identifier(column):
            notes.append(f"{column.name}: another text in more than half of the rows; nothing is drawn given it")
        elif len(column.distinct) > 1 or (len(column.distinct) == 1 and column.missing.any()):
            staying.append(column)
    return staying


def _require_untold(columns: Columns, drawn: Sequence[str], chosen: Sequence[str], notes: list[str]) -> None:
    """Refuse to replace what a column that stays says all the same; note what it says in one direction."""
    codes = {column.name: column.codes + 1 for column in columns.columns}
    sizes = {name: len(np.unique(code)) for name, code in codes.items()}
    staying = [name for name in columns.names if name not in chosen and sizes[name] > 1]
    for name in drawn:
        mine = codes[name]
        for other in staying:
            if sizes[other] < sizes[name] or len(np.unique(codes[other] * (mine.max() + 1) + mine)) > sizes[other]:
                continue
            # Two columns of a value for each row tell each other in any case: only the same order gives one away.
            few = 2 * sizes[other] < columns.rows
            if (few and sizes[other] == sizes[name]) or _same_order(mine, codes[other]):
                raise ArgumentError(
                    f"column {name!r}",
                    found=f"the column {other!r}, which stays, holds the same under other names",
                    right="what is replaced must not be read beside it",
                    step=f"replace {other} too, or leave it out of the table",
                )
            if few:
                notes.append(f"{name}: the column {other}, which stays, tells it; replace both to hide it")
        parts = parts_of(columns.column(name), [columns.column(one) for one in staying])
        if parts:
            notes.append(
                f"{name}: columns that stay add up to it: {', '.join(parts)}; replace one of them too to hide it"
            )


def _same_order(one: Whole, other: Whole) -> bool:
    return bool(np.array_equal(one, other) or np.array_equal(one.max() - one, other - other.min()))


def _weights(columns: Columns, name: str | None) -> Floats | None:
    if name is None:
        return None
    column = columns.column(name)
    heavy = np.full(columns.rows, np.nan)
    if column.is_continuous:
        heavy = column.values
    elif all(isinstance(level, int | float) for level in column.levels):
        table = np.array([*map(float, column.levels), np.nan])
        heavy = table[np.nan_to_num(column.values, nan=len(column.levels)).astype(np.intp)]
    if not np.isfinite(heavy).all() or (heavy < 0).any() or not heavy.any():
        raise ArgumentError(
            f"weight {name!r}",
            found="weights that are missing, negative or no numbers",
            right="each row has a weight of 0 or more",
            step="correct the weights",
        )
    return np.asarray(heavy / heavy.mean(), dtype=np.float64)


def households_of(columns: Columns, name: str | None) -> Whole | None:
    """The number of each row's household; rows without one stand alone."""
    if name is None:
        return None
    codes = columns.column(name).codes
    alone = codes < 0
    codes = np.where(alone, codes.max() + 1 + np.arange(len(codes)), codes)
    return np.asarray(np.unique(codes, return_inverse=True)[1], dtype=np.int64)


def is_shared(column: Column, groups: Whole) -> bool:
    """Whether a column holds one value in each group, and there are groups of several rows."""
    first = np.unique(groups, return_index=True)[1]
    return len(first) < len(groups) and bool(np.array_equal(column.codes, column.codes[first][groups]))


def _method(settings: Settings, name: str) -> Method:
    return Method(one_of("method", settings.methods.get(name, settings.method), tuple(Method)))


def require_kept(columns: Columns, rules: Sequence[Rule]) -> None:
    """Refuse a rule that the table itself breaks: rows of which parts stay could not be mended."""
    values = {column.name: column.values for column in columns.columns}
    for rule in rules:
        if rule.broken(columns, values).any():
            raise ArgumentError(
                f"rule {rule.text!r}",
                found="rows of the table that break it",
                right="a rule holds in the table it is asked of",
                step="correct the rule, or these rows",
            )
