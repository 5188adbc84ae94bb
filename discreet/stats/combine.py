"""Combining rules: one estimate and one honest variance out of the fits of several copies.

With q one estimate a copy, v its variance, q̄ and v̄ their means, b the variance between the q, over M copies:

1. `MISSING`, completed data: T = v̄ + (1 + 1/M) b; Rubin 1987, with the degrees of freedom of Barnard and Rubin 1999
   where those of the complete data are given.
2. `PARTIAL`, some columns replaced: T = v̄ + b/M, ν = (M − 1)(1 + 1/r)², r = (b/M)/v̄; Reiter 2003.
3. `FULL`, new samples of the whole population: T = (1 + 1/M) b − v̄, ν = (M − 1)(1 − 1/r)², r = (1 + 1/M) b/v̄;
   Raghunathan, Reiter and Rubin 2003. Where T is not above 0 it is (n_syn/n) v̄ (Reiter 2002), here with M − 1 degrees
   of freedom, which is on the wide side.
4. `NESTED`, m completions of missing cells with r copies each: T = (1 + 1/m) B − W̄/r + v̄, Reiter 2004, with B between
   the means of the completions and W̄ within them. Where T is not above 0 the negative term is left out.
5. `SAMPLE` and `SAMPLE_PROPER`, all columns replaced by a model of the sample: T = v̄ (k/n + 1/M) and
   v̄ (k/n + (1 + k/n)/M) for k rows made from n; Raab, Nowok and Dibben 2017. They work for one copy.

A copy in which a fit went astray (an estimate or a variance that is not finite, a variance a hundred times or less than
a hundredth of the middle one) would ruin or hide in the pool: it is named, and pooled only by `astray="keep"`.

What it does not promise: that the model that made the copies is right. Then all of these are wrong together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
import numpy.typing as npt

from discreet.check import one_of
from discreet.errors import ArgumentError, CheckFailedError
from discreet.stats.laws import t_cdf, t_quantile

__all__ = ["Pooled", "Rule", "combine"]

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
# Ten in the standard error. Those of honest copies differ by a few parts in ten.
_ASTRAY = 100.0


class Rule(StrEnum):
    """How the copies were made, which decides how their fits are pooled."""

    MISSING = "missing"
    PARTIAL = "partial"
    FULL = "full"
    NESTED = "nested"
    SAMPLE = "sample"
    SAMPLE_PROPER = "sample, proper"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pooled:
    """Pooled estimates with their variances and degrees of freedom, one entry for each coefficient."""

    names: tuple[str, ...]
    rule: Rule
    copies: int
    estimate: Floats
    variance: Floats
    df: Floats
    within: Floats
    between: Floats
    notes: tuple[str, ...] = ()
    astray: tuple[int, ...] = ()

    @property
    def standard_error(self) -> Floats:
        """Roots of the variances."""
        return np.asarray(np.sqrt(self.variance))

    def interval(self, level: float = 0.95) -> Floats:
        """Lower and upper ends, one row for each coefficient."""
        if not 0 < level < 1:
            raise ArgumentError("level", found=f"{level}", right="it lies in (0, 1)", step="give 0.95")
        reach = np.array([t_quantile((1 + level) / 2, df) for df in self.df]) * self.standard_error
        return np.column_stack([self.estimate - reach, self.estimate + reach])

    @property
    def p_values(self) -> Floats:
        """Two-sided chances of an estimate so far from 0 were the truth 0; 1 where the variance is 0 at 0."""
        found = []
        for estimate, error, df in zip(self.estimate, self.standard_error, self.df, strict=True):
            if error == 0:
                found.append(1.0 if estimate == 0 else 0.0)
            else:
                found.append(2 * t_cdf(-abs(estimate) / error, df))
        return np.array(found)


@dataclass(frozen=True, slots=True)
class _Parts:
    """Variance and degrees of freedom of every coefficient, with what is to be said of them."""

    variance: Floats
    df: Floats
    between: Floats
    notes: tuple[str, ...] = ()


def combine(
    estimates: npt.ArrayLike,
    variances: npt.ArrayLike,
    *,
    rule: Rule | str = Rule.PARTIAL,
    names: Sequence[str] | None = None,
    nests: int | None = None,
    sizes: tuple[int, int] | None = None,
    complete_df: float = math.inf,
    astray: Literal["refuse", "keep"] = "refuse",
) -> Pooled:
    """Pool the estimates of the copies (rows) for each coefficient (columns).

    `nests` is the number of completions, whose copies stand together; `sizes` are the rows of the original and of a
    copy; `complete_df` the degrees of freedom were no cell missing.
    """
    rule = Rule(one_of("rule", rule, tuple(Rule)))
    q, v = _read(estimates, variances)
    called = tuple(names) if names is not None else tuple(f"coefficient {at + 1}" for at in range(q.shape[1]))
    if len(called) != q.shape[1]:
        raise ArgumentError("names", found=f"{len(called)}", right=f"{q.shape[1]}", step="give a name each")
    lost, said = _gone_astray(q, v, called)
    if lost and (astray == "refuse" or not (np.isfinite(q).all() and np.isfinite(v).all())):
        raise CheckFailedError(
            "pooling",
            found=said,
            right="one copy whose fit went astray decides the whole pool",
            step="look at this copy for a group without variation, make new copies, or pool with astray='keep'",
        )
    needed = 1 if rule in (Rule.SAMPLE, Rule.SAMPLE_PROPER) else 2
    if len(q) < needed:
        raise ArgumentError(
            "copies", found="one", right=f"the rule {rule.value!r} needs two or more", step="make more copies"
        )
    parts = _pool(rule, q, v, nests, sizes, complete_df)
    return Pooled(
        names=called,
        rule=rule,
        copies=len(q),
        estimate=q.mean(axis=0),
        variance=parts.variance,
        df=parts.df,
        within=v.mean(axis=0),
        between=parts.between,
        notes=(*((said,) if lost else ()), *parts.notes),
        astray=lost,
    )


def _pool(
    rule: Rule, q: Floats, v: Floats, nests: int | None, sizes: tuple[int, int] | None, complete_df: float
) -> _Parts:
    if rule is Rule.MISSING:
        return _missing(q, v, complete_df)
    if rule is Rule.PARTIAL:
        return _partial(q, v)
    if rule is Rule.FULL:
        return _full(q, v, _share(sizes))
    if rule is Rule.NESTED:
        return _nested(q, v, nests)
    return _sample(q, v, _share(sizes), proper=rule is Rule.SAMPLE_PROPER)


def _missing(q: Floats, v: Floats, complete_df: float) -> _Parts:
    copies, within, between = len(q), v.mean(axis=0), q.var(axis=0, ddof=1)
    extra = (1 + 1 / copies) * between
    total = within + extra
    old = (copies - 1) * np.square(_ratio(total, extra))
    if math.isinf(complete_df):
        return _Parts(total, old, between)
    seen = (complete_df + 1) / (complete_df + 3) * complete_df * (1 - np.nan_to_num(_ratio(extra, total), posinf=0.0))
    return _Parts(total, 1 / (1 / old + _ratio(np.ones_like(seen), seen)), between)


def _partial(q: Floats, v: Floats) -> _Parts:
    copies, within, between = len(q), v.mean(axis=0), q.var(axis=0, ddof=1)
    total = within + between / copies
    return _Parts(total, (copies - 1) * np.square(_ratio(total, between / copies)), between)


def _full(q: Floats, v: Floats, share: float) -> _Parts:
    copies, within, between = len(q), v.mean(axis=0), q.var(axis=0, ddof=1)
    extra = (1 + 1 / copies) * between
    total = extra - within
    low = total <= 0
    df = np.where(low, copies - 1, (copies - 1) * np.square(_ratio(total, extra)))
    note = "between the copies there is less variance than within: the variance is that of Reiter 2002"
    return _Parts(np.where(low, share * within, total), df, between, (note,) if low.any() else ())


def _nested(q: Floats, v: Floats, nests: int | None) -> _Parts:
    if nests is None or nests < 2 or len(q) % nests or len(q) // nests < 2:
        raise ArgumentError(
            "nests",
            found=f"{nests} for {len(q)} copies",
            right="two or more completions of two or more copies each",
            step="give the number of completions, with the copies of one standing together",
        )
    each = len(q) // nests
    grouped = q.reshape(nests, each, -1)
    inner = grouped.var(axis=1, ddof=1).mean(axis=0) / each
    between = grouped.mean(axis=1).var(axis=0, ddof=1)
    outer, within = (1 + 1 / nests) * between, v.mean(axis=0)
    total = outer - inner + within
    low = total <= 0
    total = np.where(low, outer + within, total)
    spent = np.square(outer) / (nests - 1) + np.where(low, 0, np.square(inner) / (nests * (each - 1)))
    note = "copies of one completion differ more than they should: their term is left out, the variance is wider"
    return _Parts(total, _ratio(np.square(total), spent), between, (note,) if (low & (inner > 0)).any() else ())


def _sample(q: Floats, v: Floats, share: float, *, proper: bool) -> _Parts:
    copies, within = len(q), v.mean(axis=0)
    factor = share + (1 + share if proper else 1) / copies
    between = q.var(axis=0, ddof=1) if copies > 1 else np.zeros_like(within)
    return _Parts(within * factor, np.full_like(within, math.inf), between)


def _ratio(above: Floats, below: Floats) -> Floats:
    """above/below, endless where below is 0."""
    return np.divide(above, below, out=np.full_like(above, math.inf), where=below > 0)


def _share(sizes: tuple[int, int] | None) -> float:
    """Rows of a copy for each row of the original."""
    original, copy = sizes or (1, 1)
    if min(original, copy) < 1:
        raise ArgumentError("sizes", found=f"{sizes}", right="both have rows", step="give (rows, rows of a copy)")
    return copy / original


def _read(estimates: npt.ArrayLike, variances: npt.ArrayLike) -> tuple[Floats, Floats]:
    q, v = np.asarray(estimates, dtype=float), np.asarray(variances, dtype=float)
    if q.ndim != 2 or q.shape != v.shape or 0 in q.shape or (v < 0).any():
        raise ArgumentError(
            "estimates",
            found=f"estimates of shape {q.shape}, variances of shape {v.shape}",
            right="one row for each copy, one column for each coefficient, and no variance below 0",
            step="stack the fits of all copies",
        )
    return q, v


def _gone_astray(q: Floats, v: Floats, names: Sequence[str]) -> tuple[tuple[int, ...], str]:
    """Copies whose fit went astray, counted from 1, and the sentence that names them."""
    finite = np.isfinite(q) & np.isfinite(v)
    # Of two, the smaller: nothing tells which of them went astray, and one is most often inflated.
    middle = np.sort(np.where(finite, v, math.inf), axis=0)[(len(v) - 1) // 2]
    with np.errstate(invalid="ignore"):
        odd: npt.NDArray[np.bool_] = ~finite | (v > _ASTRAY * middle) | (v < middle / _ASTRAY)
    rows: Whole = np.flatnonzero(odd.any(axis=1))
    parts = [
        f"copy {row + 1} ({', '.join(name for name, off in zip(names, odd[row], strict=True) if off)})" for row in rows
    ]
    return tuple(int(row) + 1 for row in rows), f"a fit went astray in {'; '.join(parts)}" if parts else ""
