"""Sequential synthesis: columns replaced one after the other, each drawn given those before it.

1. Each column to be replaced is fitted, on the original table, given the columns that stay and those visited before it.
2. For each copy: parameters are drawn from their posterior (proper) or taken as fitted (improper), and the columns are
   drawn in turn, given the ones that stay and the new values of those before. Reiter 2003, Raghunathan et al. 2003.
3. Numbers are rounded to the digits of the source and brought within their bounds, if there are some.
4. Rows that break a rule are drawn again, up to 100 times, and then all replaced columns of such a row are taken from
   one other record of the table that fits it. Where none does, the copies are refused.
5. Fits on the copies are pooled by Reiter's rule where columns stay, and by that of Raab, Nowok and Dibben where none
   does (`stats.combine`).

What it does not promise: differential privacy, or that the models are right. Utility and risk are measured, in
`utility` and `risk`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.errors import CheckFailedError
from discreet.randomness import Generator, keyed_generator
from discreet.stats.combine import Rule as Pooling
from discreet.synthesis.imputation.columns import Column, Columns, Kind, read_columns
from discreet.synthesis.imputation.copies import Copies
from discreet.synthesis.imputation.models import ColumnModel, DrawnModel, fit_column
from discreet.synthesis.imputation.plan import Plan, Settings, Step, plan

__all__ = ["Settings", "synthesize"]

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]
_TRIES, _DONORS = 100, 200


def synthesize(
    table: Any,
    settings: Settings | None = None,
    *,
    seed: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Copies:
    """Copies of a table (a frame, a dict of lists, or typed columns). A seed marks them as tests, never to publish.

    Given:   a table and settings.
    Promise: columns that are not named stay bit for bit; no cell is missing in a copy that was not in the table,
             unless gaps are modelled; every rule holds in every row; without a seed nothing can be drawn again.
    Because: frames are rebuilt from the source with the drawn columns exchanged, and checked rules are the last step.
    Tested:  test_columns_that_stay_are_bit_identical, test_no_cell_goes_missing, test_rules_hold_in_every_copy.
    """
    columns = table if isinstance(table, Columns) else read_columns(table)
    agreed = plan(columns, settings or Settings())
    say = progress or (lambda _: None)
    generator = keyed_generator(seed)
    fitted = []
    for place, step in enumerate(agreed.steps, start=1):
        say(f"column {place} of {len(agreed.steps)}")
        fitted.append(_Fitted.of(step, agreed))
    frames = []
    for number in range(1, agreed.settings.copies + 1):
        say(f"copy {number} of {agreed.settings.copies}")
        frames.append(columns.replaced(_one_copy(columns, agreed, fitted, generator)))
    proper = agreed.settings.proper
    whole = Pooling.SAMPLE_PROPER if proper else Pooling.SAMPLE
    return Copies(
        frames=tuple(frames),
        method=str(agreed.steps[0].method) if len({step.method for step in agreed.steps}) == 1 else "mixed",
        perturbed=tuple(step.column.name for step in agreed.steps),
        rule=whole if agreed.everything else Pooling.PARTIAL,
        sizes=(columns.rows, columns.rows) if agreed.everything else None,
        seeded=seed is not None,
        sampling=agreed.settings.sampling,
        notes=(*agreed.notes, *(note for one in fitted for note in one.model.notes)),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Fitted:
    """A step with its model, and with one for its gaps where these are drawn."""

    step: Step
    model: ColumnModel
    gaps: ColumnModel | None
    first: Whole | None

    @classmethod
    def of(cls, step: Step, agreed: Plan) -> _Fitted:
        """Fit a step. Where groups share a value, each counts once, by its first row."""
        first = None if step.groups is None else np.unique(step.groups, return_index=True)[1]
        rows = np.arange(len(step.column.values)) if first is None else first
        gone = step.column.missing
        options: dict[str, Any] = {
            "method": step.method,
            "weights": agreed.weights,
            "least": agreed.settings.least,
        }
        flags = None
        if step.missing == "model" and gone.any():
            flag = Column(name=step.column.name, kind=Kind.BINARY, values=gone.astype(np.float64), levels=(False, True))
            flags = fit_column(flag, step.given, rows, **options, smooth=False)
        model = fit_column(step.column, step.given, rows[~gone[rows]], **options, smooth=agreed.settings.smooth)
        return cls(step=step, model=model, gaps=flags, first=first)

    def drawn(self, generator: Generator, *, proper: bool) -> _Drawn:
        """Parameters for one copy."""
        return _Drawn(
            fitted=self,
            model=self.model.drawn(generator, proper=proper),
            gaps=None if self.gaps is None else self.gaps.drawn(generator, proper=proper),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Drawn:
    """One value of a step's parameters."""

    fitted: _Fitted
    model: DrawnModel
    gaps: DrawnModel | None

    def redraw(self, values: dict[str, Floats], rows: Whole, generator: Generator) -> None:
        """Draw the column for these rows, in place. Rows that share a value are drawn as one, all of them together."""
        step, first = self.fitted.step, self.fitted.first
        name, groups = step.column.name, step.groups
        at = rows if groups is None or first is None else first[np.unique(groups[rows])]
        gone = step.column.missing[at]
        if self.gaps is not None:
            gone = self.gaps.simulate(values, at, generator) == 1
        drawn = np.full(len(at), np.nan)
        drawn[~gone] = self._finished(self.model.simulate(values, at[~gone], generator))
        values[name][at] = drawn
        if groups is not None and first is not None:
            values[name] = values[name][first][groups]

    def _finished(self, drawn: Floats) -> Floats:
        step = self.fitted.step
        if not step.column.is_continuous:
            return drawn
        rounded = np.round(drawn, step.column.digits)
        return rounded if step.bounds is None else np.clip(rounded, *step.bounds)


def _one_copy(columns: Columns, agreed: Plan, fitted: list[_Fitted], generator: Generator) -> dict[str, Floats]:
    models = [one.drawn(generator, proper=agreed.settings.proper) for one in fitted]
    values = {column.name: column.values for column in columns.columns}
    names = [one.step.column.name for one in fitted]
    values |= {name: values[name].copy() for name in names}
    every = np.arange(columns.rows)
    for model in models:
        model.redraw(values, every, generator)
    _mend(columns, agreed, models, values, generator)
    return {name: values[name] for name in names}


def _mend(
    columns: Columns, agreed: Plan, models: list[_Drawn], values: dict[str, Floats], generator: Generator
) -> None:
    """Draw rows that break a rule again; then let each take the replaced columns of a record that fits."""
    households = next((model.fitted.step.groups for model in models if model.fitted.step.groups is not None), None)
    for _ in range(_TRIES):
        broken = _broken(columns, agreed, values)
        if not len(broken):
            return
        if households is not None:  # members who share a value are drawn together
            broken = np.flatnonzero(np.isin(households, households[broken]))
        for model in models:
            model.redraw(values, broken, generator)
    if households is None:
        _borrow(columns, agreed, models, values, generator)
    broken = _broken(columns, agreed, values)
    if len(broken):
        raise CheckFailedError(
            "rules",
            found="rows for which no draw keeps all rules",
            right="every row of every copy keeps them",
            step="replace the other columns of the rules too, or loosen the rules",
        )


def _broken(columns: Columns, agreed: Plan, values: dict[str, Floats]) -> Whole:
    found = np.zeros(columns.rows, dtype=bool)
    for rule in agreed.rules:
        found |= rule.broken(columns, values)
    return np.flatnonzero(found)


def _borrow(
    columns: Columns, agreed: Plan, models: list[_Drawn], values: dict[str, Floats], generator: Generator
) -> None:
    """Rows that are still broken take the replaced columns, all of them, of another record of the table."""
    names = [model.fitted.step.column.name for model in models]
    for _ in range(_DONORS):
        broken = _broken(columns, agreed, values)
        if not len(broken):
            return
        donors = (broken + generator.integers(1, columns.rows, len(broken))) % columns.rows
        for name in names:
            old, new = values[name][broken], columns.column(name).values[donors]
            values[name][broken] = np.where(np.isnan(old) | np.isnan(new), old, new)
