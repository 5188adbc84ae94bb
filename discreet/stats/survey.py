"""Survey designs: variances of a fit that hold for the way its records were drawn.

1. With x a record's predictors and s its score, the influence of a record is B x s, where B is the fit's bread.
2. Influences are added up over the records of a cluster. In each stratum h of n_h clusters their spread around the
   stratum's mean counts n_h/(n_h − 1) times; V is the sum over strata. (Linearisation with ultimate clusters drawn with
   replacement: Binder 1983.) The degrees of freedom are the clusters less the strata.
3. Without clusters each record is one; without strata there is one. A stratum of a single cluster has no spread of its
   own: it is measured from the mean over all clusters, and `lonely` counts such strata.

What it does not promise: anything for few clusters, or a finite population correction (without it V is too wide where
much of the population was drawn).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Sampling", "SurveyVariance", "linearized"]

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """The columns that say how rows were drawn and which belong together."""

    weight: str | None = None
    stratum: str | None = None
    cluster: str | None = None
    household: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Those there are, each once."""
        return tuple(dict.fromkeys(n for n in (self.weight, self.stratum, self.cluster, self.household) if n))

    @property
    def together(self) -> str | None:
        """What was drawn as one: the cluster, or else the household."""
        return self.cluster or self.household


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SurveyVariance:
    """A covariance by design, its degrees of freedom, and how many strata had a single cluster."""

    covariance: Floats
    df: int
    lonely: int


def linearized(
    matrix: Floats, scores: Floats, bread: Floats, *, strata: Whole | None = None, clusters: Whole | None = None
) -> SurveyVariance:
    """The covariance of a fit's coefficients. Strata and clusters are codes; the same code in two strata is two."""
    rows = len(matrix)
    stratum = np.zeros(rows, dtype=np.int64) if strata is None else np.unique(strata, return_inverse=True)[1]
    cluster = np.arange(rows) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    units, place = np.unique(stratum * rows + cluster, return_inverse=True)
    influence = (matrix @ bread) * scores[:, None]
    totals = np.zeros((len(units), influence.shape[1]))
    np.add.at(totals, place, influence)
    of = units // rows
    sizes = np.bincount(of).astype(np.float64)
    means = np.zeros((len(sizes), totals.shape[1]))
    np.add.at(means, of, totals)
    means /= sizes[:, None]
    lonely = sizes == 1
    means[lonely] = totals.mean(axis=0)
    factor = np.sqrt(np.where(lonely, 1.0, sizes / np.maximum(sizes - 1, 1)))
    apart = (totals - means[of]) * factor[of][:, None]
    return SurveyVariance(covariance=apart.T @ apart, df=len(units) - len(sizes), lonely=int(lonely.sum()))
