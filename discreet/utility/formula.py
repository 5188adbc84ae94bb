"""Formulas: `y ~ a + b * c` on tables that stand side by side, as matrices of the same columns.

1. A formula holds names of columns (in backquotes where they are no plain names), numbers, + - * : ^ ** / ( ) ~ , and
   the functions C, I, log, log10, exp, sqrt, center, scale, poly, bs. Anything else is refused: no code runs out of it.
2. Levels of categories are those of all tables together, so that every table gives the same columns. What a function
   learns of the data (a mean, knots) it learns of the original.
3. An outcome of two texts or a boolean is coded 0 and 1, in their order. Records with a missing cell in a column of the
   formula are left out of the table they are in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.check import known
from discreet.data.aligned import as_lists
from discreet.errors import ArgumentError, MissingExtraError

__all__ = ["Matrices", "matrices"]

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]

_TOKEN = re.compile(r"\s+|`[^`]+`|[^\W\d]\w*|\d+(?:\.\d*)?|\*\*|[-+*:^()~/,]")
_FUNCTIONS = ("C", "I", "bs", "center", "exp", "log", "log10", "poly", "scale", "sqrt")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Matrices:
    """For each table the predictors, the outcome and the rows they are of; their names; what was decided."""

    names: tuple[str, ...]
    tables: tuple[tuple[Floats, Floats], ...]
    rows: tuple[Whole, ...]
    notes: tuple[str, ...]


def matrices(formula: str, tables: Sequence[Any], *, joined: Mapping[str, Sequence[Any]] | None = None) -> Matrices:
    """The formula on each of the tables; `joined` are further columns, joined by row to each of them."""
    try:
        import formulaic
        import formulaic.errors
    except ImportError:
        raise MissingExtraError("formula", library="formulaic", extra="synthesis") from None
    lists = [{**as_lists(table), **{name: list(values) for name, values in (joined or {}).items()}} for table in tables]
    shared = [name for name in lists[0] if all(name in table for table in lists)]
    used = _columns_of(formula, shared)
    for table in lists:
        if len({len(table[name]) for name in used}) > 1:
            raise ArgumentError(
                "joined column", found="another number of rows", right="one value a row", step="join it in row order"
            )
    frames, notes = _frames(lists, used, formula.split("~")[0].strip().strip("`"))
    made: list[tuple[Floats, Floats]] = []
    rows: list[Whole] = []
    names: tuple[str, ...] = ()
    try:
        first = formulaic.Formula(formula).get_model_matrix(frames[0], context={})
        for frame in frames:
            both = first.model_spec.get_model_matrix(frame, context={})
            names = tuple(str(name) for name in both.rhs.columns)
            made.append((_numbers(both.rhs), _numbers(both.lhs)))
            rows.append(np.asarray(both.rhs.index, dtype=np.int64))
    except (formulaic.errors.FormulaicError, AttributeError, TypeError, ValueError, NameError, KeyError):
        raise _unfit(formula, "it cannot be laid out on these columns") from None
    if any(outcome.shape[1] != 1 or not len(outcome) for _, outcome in made):
        raise _unfit(formula, "an outcome of more than two categories, or no complete record")
    gone = [len(next(iter(table.values()))) - len(outcome) for table, (_, outcome) in zip(lists, made, strict=True)]
    if any(gone):
        most = f", up to {max(gone[1:])} of a copy" if any(gone[1:]) else ""
        notes.append(f"records with missing cells are left out: {gone[0]} of the original{most}")
    tables_made = tuple((x, y[:, 0]) for x, y in made)
    return Matrices(names=names, tables=tables_made, rows=tuple(rows), notes=tuple(notes))


def _columns_of(formula: str, shared: Sequence[str]) -> list[str]:
    """The columns a formula names, after it was found to hold nothing but a formula."""
    at, tokens = 0, []
    while at < len(formula):
        found = _TOKEN.match(formula, at)
        if found is None:
            raise _unfit(formula, f"the sign {formula[at]!r}")
        tokens.append(found.group().strip())
        at = found.end()
    tokens = [token for token in tokens if token]
    if tokens.count("~") != 1 or tokens[0] == "~" or tokens[-1] == "~":
        raise _unfit(formula, "not one ~ between an outcome and predictors")
    names = []
    for token, after in zip(tokens, [*tokens[1:], ""], strict=True):
        if token[0] == "`":
            names.append(known("column", token[1:-1], shared, step="name a column that every table has"))
        elif re.match(r"[^\W\d]", token):
            if after == "(":
                known("function", token, _FUNCTIONS, step="use one of these, or make a column of it first")
            else:
                names.append(known("column", token, shared, step="name a column that every table has"))
    return list(dict.fromkeys(names))


def _frames(lists: Sequence[dict[str, list[Any]]], used: Sequence[str], outcome: str) -> tuple[list[Any], list[str]]:
    """pandas frames of the columns used: floats, or categories with the levels of all tables."""
    import pandas as pd

    frames: list[dict[str, Any]] = [{} for _ in lists]
    notes = []
    for name in used:
        columns = [[None if value is None or value != value else value for value in table[name]] for table in lists]
        there = {value for column in columns for value in column if value is not None}
        truths = all(isinstance(value, bool | np.bool_) for value in there)
        if there and not truths and all(isinstance(value, Real) for value in there):
            for frame, column in zip(frames, columns, strict=True):
                frame[name] = np.array(column, dtype=float)
            continue
        levels = sorted(there, key=str)
        if name == outcome and len(levels) == 2:
            notes.append(f"1 stands for {name} = {levels[1]}")
            place: dict[Any, float] = {levels[0]: 0.0, levels[1]: 1.0, None: np.nan}
            for frame, column in zip(frames, columns, strict=True):
                frame[name] = np.array([place[value] for value in column])
            continue
        kind = pd.CategoricalDtype([str(level) for level in levels])
        for frame, column in zip(frames, columns, strict=True):
            frame[name] = pd.Series([None if value is None else str(value) for value in column], dtype=kind)
    return [pd.DataFrame(frame) for frame in frames], notes


def _numbers(frame: Any) -> Floats:
    return np.asarray(frame, dtype=np.float64)


def _unfit(formula: str, found: str) -> ArgumentError:
    return ArgumentError(
        f"formula {formula[:80]!r}",
        found=found,
        right="outcome ~ columns joined by + * : and the functions " + ", ".join(_FUNCTIONS),
        step='write it like "y ~ age + C(region)"',
    )
