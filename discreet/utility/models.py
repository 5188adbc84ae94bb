"""Models: an analysis of the copies, pooled by their rule, beside the same analysis of the original.

1. The formula is fitted to the original and to each copy by least squares, logit, probit or Poisson. Fits of the copies
   are pooled by the rule that belongs to how they were made (`stats.combine`).
2. For each coefficient: both estimates with 95 % intervals, their overlap and the standardised difference
   (`intervals`), beside what another study of the same size would give.
3. The original is one table, or several completions of it, which are pooled by Rubin's rule: the reference then is what
   an analyst of the imputed original would find.
4. A copy whose fit went astray is named and, when it is pooled at all, pooled with a warning (`astray="keep"`).
   Coefficients that cannot be estimated in some table are left out and named.

What it does not promise: that the model is right, for the original or for the copies.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from discreet.check import one_of
from discreet.data.aligned import as_lists
from discreet.draw.chart import Axis, Chart, Intervals
from discreet.draw.chart import Rule as Line
from discreet.draw.format import written
from discreet.draw.grid import Grid, GridColumn
from discreet.errors import ArgumentError
from discreet.stats.combine import Pooled, Rule, combine
from discreet.stats.generalized import fit_generalized
from discreet.stats.laws import t_quantile
from discreet.stats.linear import fit_linear
from discreet.stats.survey import Sampling, linearized
from discreet.utility.formula import matrices
from discreet.utility.intervals import OTHER_STUDY_DIFFERENCE, OTHER_STUDY_OVERLAP, overlap, standardized_difference

__all__ = ["Coefficient", "Family", "ModelComparison", "compare_models", "fit_tables", "forest"]

Floats: TypeAlias = npt.NDArray[np.float64]
Whole: TypeAlias = npt.NDArray[np.int64]
Family: TypeAlias = Literal["ols", "logit", "probit", "poisson"]
Ends: TypeAlias = tuple[float, float, float]

_APART = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """One coefficient: (low, estimate, high) in the original and pooled over the copies."""

    name: str
    original: Ends
    copies: Ends
    standard_error: float
    pooled_error: float
    df: float
    overlap: float
    difference: float

    @property
    def scores(self) -> tuple[float, float]:
        """Overlap and standardised difference."""
        return self.overlap, self.difference

    def as_json(self) -> dict[str, object]:
        """All figures; an endless one as nothing."""
        return {
            "name": self.name,
            "original": {"estimate": self.original[1], "interval": [self.original[0], self.original[2]]},
            "copies": {"estimate": self.copies[1], "interval": [self.copies[0], self.copies[2]]},
            "standard_error_original": self.standard_error,
            "standard_error_copies": self.pooled_error,
            "df": _finite(self.df),
            "interval_overlap": _finite(self.overlap),
            "standardized_difference": _finite(self.difference),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelComparison:
    """A model on the original and, pooled, on the copies."""

    formula: str
    family: Family
    rule: Rule
    copies: int
    records: int
    coefficients: tuple[Coefficient, ...]
    astray: tuple[int, ...]
    notes: tuple[str, ...]

    @property
    def overlap(self) -> float:
        """The mean overlap of the intervals."""
        return float(np.mean([one.overlap for one in self.coefficients]))

    @property
    def least(self) -> Coefficient:
        """The coefficient whose intervals overlap least."""
        return min(self.coefficients, key=lambda one: one.overlap)

    @property
    def difference(self) -> float:
        """The mean standardised difference."""
        return float(np.mean([one.difference for one in self.coefficients]))

    def as_json(self) -> dict[str, object]:
        """All figures."""
        return {
            "formula": self.formula,
            "family": self.family,
            "rule": self.rule.value,
            "copies": self.copies,
            "records": self.records,
            "coefficients": [one.as_json() for one in self.coefficients],
            "mean_interval_overlap": _finite(self.overlap),
            "mean_standardized_difference": _finite(self.difference),
            "another_study": {
                "interval_overlap": OTHER_STUDY_OVERLAP,
                "standardized_difference": OTHER_STUDY_DIFFERENCE,
            },
            "astray": list(self.astray),
            "notes": list(self.notes),
        }

    def grid(self) -> Grid:
        """One row for each coefficient, then the means and what another study would give."""
        rows: list[tuple[str | float | None, ...]] = [
            (one.name, one.original[1], _span(one.original), one.copies[1], _span(one.copies), *one.scores)
            for one in self.coefficients
        ]
        rows.append(("mean", None, "", None, "", self.overlap, self.difference))
        rows.append(("to compare: another study", None, "", None, "", OTHER_STUDY_OVERLAP, OTHER_STUDY_DIFFERENCE))
        return Grid(
            f"{self.formula} ({self.family}), original and {self.copies} copies",
            (
                GridColumn("coefficient"),
                GridColumn("original", "number"),
                GridColumn("95 % interval"),
                GridColumn("copies, pooled", "number"),
                GridColumn("95 % interval of the copies"),
                GridColumn("overlap", "share"),
                GridColumn("std. difference", "number"),
            ),
            tuple(rows),
            note=" ".join(f"{note[0].upper()}{note[1:]}." for note in self.notes),
        )

    def chart(self) -> Chart:
        """The intervals side by side."""
        return forest(self.formula, {"original": self, "copies": self})

    def sentences(self) -> tuple[str, ...]:
        """The findings in plain words."""
        worst = self.least
        found = [
            f"In the model {self.formula} ({self.family}) intervals from the copies overlap those from the original by "
            f"{written('share', self.overlap)} on average (another study of the same size: "
            f"{written('share', OTHER_STUDY_OVERLAP)}), least for {worst.name}: {written('share', worst.overlap)}.",
            f"Its estimates differ by {written('number', self.difference)} standard errors on average (another study: "
            f"{written('number', OTHER_STUDY_DIFFERENCE)}).",
        ]
        if self.astray:
            found.append(
                f"Warning: the fit of copy {', '.join(map(str, self.astray))} went astray, and the pooled intervals "
                "with it. Make new copies, or look there for a group without variation."
            )
        return tuple(found)


def compare_models(
    original: Any,
    copies: Sequence[Any],
    *,
    formula: str,
    family: Family = "ols",
    rule: Rule | str = Rule.PARTIAL,
    nests: int | None = None,
    sizes: tuple[int, int] | None = None,
    completions: Sequence[Any] = (),
    joined: Mapping[str, Sequence[Any]] | None = None,
    sampling: Sampling | None = None,
    astray: Literal["refuse", "keep"] = "refuse",
) -> ModelComparison:
    """The formula on the original, or on completions of it, and on the copies, pooled by their rule.

    With a `sampling` its weights count and each table's variances are those of the design.
    `joined` are columns that came later, such as an outcome, joined by row to the original and to each copy.
    """
    bases = list(completions) or [original]
    names, fits, notes = fit_tables(formula, [*bases, *copies], family, joined=joined, sampling=sampling)
    kept = [at for at in range(len(names)) if all(fit.variances[at] > 0 for fit in fits)]
    if len(kept) < len(names):
        left = [name for at, name in enumerate(names) if at not in kept]
        notes += (f"left out, since not every table tells them: {', '.join(left)}",)
    if not kept:
        raise ArgumentError(
            f"formula {formula[:80]!r}", found="no coefficient", right="every table must tell one", step="add a column"
        )
    chosen = tuple(names[at] for at in kept)
    base = _reference(fits[: len(bases)], kept, chosen)
    made = fits[len(bases) :]
    pooled = combine(
        [one.estimates[kept] for one in made],
        [one.variances[kept] for one in made],
        rule=rule,
        names=chosen,
        nests=nests,
        sizes=sizes,
        astray=astray,
    )
    return ModelComparison(
        formula=formula,
        family=family,
        rule=pooled.rule,
        copies=len(made),
        records=fits[0].records,
        coefficients=_coefficients(chosen, base, pooled),
        astray=pooled.astray,
        notes=(*notes, *pooled.notes),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """Estimates and variances of one table; 0 where a column adds nothing."""

    estimates: Floats
    variances: Floats
    df: float
    records: int


def fit_tables(
    formula: str,
    tables: Sequence[Any],
    family: Family = "ols",
    *,
    joined: Mapping[str, Sequence[Any]] | None = None,
    sampling: Sampling | None = None,
) -> tuple[tuple[str, ...], tuple[Fit, ...], tuple[str, ...]]:
    """The names of the coefficients, one fit for each table, and what is to be said of them."""
    one_of("family", family, get_args(Family))
    laid = matrices(formula, tables, joined=joined)
    fits, notes = [], list(laid.notes)
    for at, (matrix, outcome) in enumerate(laid.tables):
        drawn = None if sampling is None or not sampling.names else _drawn(tables[at], sampling, laid.rows[at])
        heavy = None if drawn is None else drawn.weights
        fit = (
            fit_linear(matrix, outcome, weights=heavy, names=laid.names)
            if family == "ols"
            else fit_generalized(matrix, outcome, family=family, weights=heavy, names=laid.names)
        )
        where = "the original" if at == 0 else f"table {at + 1}"
        notes += [f"{where}: {note}" for note in fit.notes]
        df = float(fit.df) if family == "ols" else math.inf
        covariance = fit.covariance
        if drawn is not None:
            found = linearized(matrix, fit.scores, fit.bread, strata=drawn.strata, clusters=drawn.clusters)
            covariance, df = found.covariance, float(found.df)
            if found.lonely:
                notes.append(f"{found.lonely} strata have a single cluster, measured from the mean of all")
        fits.append(Fit(estimates=fit.coefficients, variances=np.diag(covariance).copy(), df=df, records=fit.records))
    return laid.names, tuple(fits), tuple(dict.fromkeys(notes))


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """How the records of one table were drawn."""

    weights: Floats | None
    strata: Whole | None
    clusters: Whole | None


def _drawn(table: Any, sampling: Sampling, rows: Whole) -> _Drawn:
    """The design of these rows; a row without a stratum or cluster has one of its own."""
    lists = as_lists(table)
    names = sampling.weight, sampling.stratum, sampling.together
    weight, strata, clusters = (None if name is None else [lists[name][row] for row in rows] for name in names)
    heavy = None
    if weight is not None:
        heavy = np.array([math.nan if value is None else float(value) for value in weight])
        heavy = heavy / heavy.mean()
    return _Drawn(heavy, *(None if one is None else _numbered(one) for one in (strata, clusters)))


def _numbered(values: Sequence[Any]) -> Whole:
    place: dict[Any, int] = {}
    named = [("alone", at) if value is None else value for at, value in enumerate(values)]
    return np.array([place.setdefault(value, len(place)) for value in named], dtype=np.int64)


def forest(title: str, found: Mapping[str, ModelComparison]) -> Chart:
    """Intervals of several methods, one row a coefficient; under `original` stands the reference of its comparison.

    Where the widths of intervals differ more than tenfold, each row is measured from the original's estimate in the
    original's standard errors, so that all can be seen.
    """
    rows = {one.name: one for comparison in found.values() for one in comparison.coefficients}
    widths = [one.original[2] - one.original[0] for one in rows.values()]
    relative = min(widths) > 0 and max(widths) > _APART * min(widths)
    marks: list[Intervals | Line] = []
    for label, comparison in found.items():
        ends = [one.original if label == "original" else one.copies for one in comparison.coefficients]
        at = tuple(one.name for one in comparison.coefficients)
        if relative:
            ends = [_relative(end, rows[name]) for name, end in zip(at, ends, strict=True)]
        low, middle, high = (tuple(end[part] for end in ends) for part in range(3))
        marks.append(Intervals(at, low, middle, high, label))
    measured = "from the original's estimate, in its standard errors" if relative else "with its 95 % interval"
    return Chart(
        title,
        Axis(f"coefficient {measured}"),
        Axis("", scale="band", categories=tuple(rows)),
        (*marks, Line(0.0, "x")),
        "The nearer the intervals of the copies lie to those of the original, the more the analysis tells the same.",
        family="measured risk",
    )


def _relative(ends: Ends, row: Coefficient) -> Ends:
    low, middle, high = ((end - row.original[1]) / row.standard_error for end in ends)
    return low, middle, high


@dataclass(frozen=True, slots=True, eq=False)
class _Reference:
    estimate: Floats
    error: Floats
    ends: Floats


def _reference(fits: Sequence[Fit], kept: Sequence[int], names: Sequence[str]) -> _Reference:
    if len(fits) == 1:
        (fit,) = fits
        estimate, error = fit.estimates[kept], np.sqrt(fit.variances[kept])
        reach = t_quantile(0.975, fit.df) * error if fit.df else np.full_like(error, math.inf)
        return _Reference(estimate, error, np.column_stack([estimate - reach, estimate + reach]))
    estimates, variances = ([getattr(fit, part)[kept] for fit in fits] for part in ("estimates", "variances"))
    pooled = combine(estimates, variances, rule=Rule.MISSING, names=names, complete_df=fits[0].df)
    return _Reference(pooled.estimate, pooled.standard_error, pooled.interval())


def _coefficients(names: Sequence[str], base: _Reference, pooled: Pooled) -> tuple[Coefficient, ...]:
    ends, error = pooled.interval(), pooled.standard_error
    shared = overlap(base.ends, ends)
    apart = standardized_difference(base.estimate, pooled.estimate, base.error)
    return tuple(
        Coefficient(
            name=name,
            original=(float(base.ends[at, 0]), float(base.estimate[at]), float(base.ends[at, 1])),
            copies=(float(ends[at, 0]), float(pooled.estimate[at]), float(ends[at, 1])),
            standard_error=float(base.error[at]),
            pooled_error=float(error[at]),
            df=float(pooled.df[at]),
            overlap=float(shared[at]),
            difference=float(apart[at]),
        )
        for at, name in enumerate(names)
    )


def _span(ends: Ends) -> str:
    return f"{written('number', ends[0])} to {written('number', ends[2])}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
