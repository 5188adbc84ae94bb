"""Propensity: how well a classifier tells the rows of a copy from those of the original.

1. Original and copy are stacked, N rows, a share c of them the copy's. A classifier estimates each row's chance p̂ of
   being the copy's, and U_p = mean (p̂ − c)². With equal halves it is 0 where nothing can be told and 1/4 where all can.
2. Classifiers: `logistic`, on main effects or with first-order interactions, by maximum likelihood (Newton, without a
   guard: where rows are told apart completely p̂ goes to 0 and 1, as it should); `tree`, CART of at most 100 leaves.
3. What chance alone gives, `null`. Logistic: d (1 − c) c / N for independent halves, which is (k − 1)/(4N), and
   d (1 − c)² c / N for a copy drawn from a model of the original, which is (k − 1)/(8N); d is the number of parameters
   that a changed column adds, k − 1 where all are. The latter holds in the directions that the model has fitted.
   Tree: the mean over permutations of the labels, as for independent halves, since a tree looks at places that no model
   of few parameters has fitted; a very flexible model comes down to half of it. Rows that stand for the same record are
   permuted within their pair.
4. `ratio` is U_p / null: about 1 for a right model, more for one that misses something. Columns that are the same in
   every copy enter the classifier and not d.

Reference: Snoke, Raab, Nowok, Dibben and Slavkovic (2018), General and specific utility measures for synthetic data.
What it does not promise: that an analysis of the copies is right. A good score says that a classifier found nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from discreet.check import at_least, one_of
from discreet.data.aligned import Aligned, Variable, align
from discreet.draw.format import written
from discreet.errors import ArgumentError, MissingExtraError
from discreet.randomness import Generator, keyed_generator
from discreet.stats.design import settle
from discreet.stats.laws import logistic_cdf
from discreet.stats.means import interval_of_mean

__all__ = ["Classifier", "Propensity", "propensity"]

Floats: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Classifier: TypeAlias = Literal["logistic", "tree"]

_COLUMNS_AT_MOST = 800
_STEPS, _STILL = 30, 1e-9
_LEAVES, _LEAST = 100, 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Propensity:
    """U_p as the mean over copies, with what chance alone gives."""

    classifier: Classifier
    interactions: bool
    parameters: int | None
    copies: tuple[float, ...]
    null: float

    @property
    def score(self) -> float:
        """U_p, the mean over copies."""
        return float(np.mean(self.copies))

    @property
    def ratio(self) -> float:
        """U_p over its expectation by chance: the standardised ratio S."""
        return self.score / self.null if self.null else 1.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval of the mean over such copies; none of a single copy."""
        return interval_of_mean(self.copies)

    def as_json(self) -> dict[str, object]:
        """All figures."""
        return {
            "classifier": self.classifier,
            "interactions": self.interactions,
            "parameters": self.parameters,
            "score": self.score,
            "by_copy": list(self.copies),
            "interval": None if self.interval is None else list(self.interval),
            "expected_by_chance": self.null,
            "ratio": self.ratio,
            "told_apart_completely": 0.25,
        }

    @property
    def sentence(self) -> str:
        """The finding in plain words."""
        named = {"logistic": "A logistic classifier", "tree": "A classification tree"}[self.classifier]
        with_pairs = " with interactions" if self.interactions else ""
        return (
            f"{named}{with_pairs} tells copies from the original with a score of {written('number', self.score)}: 0 is "
            f"not at all, 0.25 is completely, and chance alone gives {written('number', self.null)}, a ratio of "
            f"{written('number', self.ratio)}."
        )


def propensity(
    original: Any,
    copies: Sequence[Any],
    *,
    classifier: Classifier = "logistic",
    interactions: bool = False,
    names: Sequence[str] | None = None,
    modelled: bool = True,
    permutations: int = 10,
    generator: Generator | None = None,
) -> Propensity:
    """U_p of the copies on all columns, or those named; `modelled` copies were drawn from a model of this original."""
    one_of("classifier", classifier, get_args(Classifier))
    at_least("permutations", permutations, 1)
    tables = align([original, *copies], names=names)
    if len(tables.rows) < 2 or not tables.variables:
        raise ArgumentError("copies", found="none, or no column", right="one or more", step="give copies of the table")
    changed = [variable for variable in tables.variables if variable.changed]
    tables = Aligned(variables=(*(one for one in tables.variables if one not in changed), *changed), rows=tables.rows)
    if classifier == "tree":
        return _by_tree(tables, permutations, generator or keyed_generator())
    return _by_logistic(tables, len(changed), interactions, modelled)


def _by_logistic(tables: Aligned, changed: int, interactions: bool, modelled: bool) -> Propensity:
    same = len(tables.variables) - changed
    scores, nulls, parameters = [], [], 0
    for copy in range(1, len(tables.rows)):
        matrix, fixed = _matrix(tables, copy, same, interactions)
        design = settle(matrix)
        parameters = len(design.kept)
        of_changed = sum(at >= fixed for at in design.kept)
        outcome = np.repeat([0.0, 1.0], [tables.rows[0], tables.rows[copy]])
        share = float(outcome.mean())
        scores.append(float(np.mean(np.square(_chances(design.used, outcome) - share))))
        nulls.append(of_changed * (1 - share) * share * ((1 - share) if modelled else 1.0) / len(outcome))
    return Propensity(
        classifier="logistic",
        interactions=interactions,
        parameters=parameters,
        copies=tuple(scores),
        null=float(np.mean(nulls)),
    )


def _matrix(tables: Aligned, copy: int, same: int, interactions: bool) -> tuple[Floats, int]:
    """The stacked predictors, first those that no changed column has a part in; and how many these are."""
    parts = [_columns(variable, copy) for variable in tables.variables]
    rows = tables.rows[0] + tables.rows[copy]
    fixed = [np.ones(rows), *itertools.chain.from_iterable(parts[:same])]
    moved = list(itertools.chain.from_iterable(parts[same:]))
    if interactions:
        for (a, first), (b, second) in itertools.combinations(enumerate(parts), 2):
            into = moved if max(a, b) >= same else fixed
            _require_few(len(fixed) + len(moved) + len(first) * len(second))
            into += [one * other for one in first for other in second]
    _require_few(len(fixed) + len(moved))
    return np.column_stack([*fixed, *moved]), len(fixed)


def _require_few(columns: int) -> None:
    if columns > _COLUMNS_AT_MOST:
        raise ArgumentError(
            "propensity",
            found=f"{columns} predictors or more",
            right=f"a logistic classifier takes up to {_COLUMNS_AT_MOST} here",
            step="name fewer columns, leave interactions out, or take classifier='tree'",
        )


def _columns(variable: Variable, copy: int) -> list[Floats]:
    """A number as itself and whether it is missing; a category as one column a level but the first."""
    if variable.numeric:
        values = np.concatenate([variable.numbers(0), variable.numbers(copy)])
        gone = np.isnan(values)
        if gone.all():
            return [gone.astype(float)]
        middle, spread = float(values[~gone].mean()), float(values[~gone].std())
        values = (np.where(gone, middle, values) - middle) / (spread or 1.0)
        return [values, gone.astype(float)] if gone.any() else [values]
    codes = np.concatenate([variable.codes(0), variable.codes(copy)])
    return [(codes == level).astype(float) for level in np.unique(codes)[1:]]


def _chances(matrix: Floats, outcome: Floats) -> Floats:
    """Fitted chances of a logistic regression; where there is no finite fit, those of its way to infinity."""
    share = float(outcome.mean())
    at = np.zeros(matrix.shape[1])
    at[0] = np.log(share / (1 - share))
    chances = logistic_cdf(matrix @ at)
    best = _deviance(chances, outcome)
    for _ in range(_STEPS):
        weight = np.maximum(chances * (1 - chances), 1e-10)
        step = np.linalg.lstsq(matrix.T @ (matrix * weight[:, None]), matrix.T @ (outcome - chances), rcond=1e-12)[0]
        for _ in range(_STEPS):
            moved = logistic_cdf(matrix @ (at + step))
            new = _deviance(moved, outcome)
            if new <= best:
                break
            step = step / 2
        else:
            break
        gain, at, chances, best = best - new, at + step, moved, new
        if gain < _STILL * (1 + best):
            break
    return chances


def _deviance(chances: Floats, outcome: Floats) -> float:
    return -2 * float(np.log(np.maximum(np.where(outcome > 0, chances, 1 - chances), 1e-300)).sum())


def _by_tree(tables: Aligned, permutations: int, generator: Generator) -> Propensity:
    scores, nulls = [], []
    turns = len(tables.rows) - 1
    for copy in range(1, turns + 1):
        first, second = tables.rows[0], tables.rows[copy]
        outcome = np.repeat([False, True], [first, second])
        grow = _tree(tables, copy)
        scores.append(grow(outcome))
        for _ in range(max(permutations // turns, 1)):
            if first == second:
                swapped = generator.random(first) < 0.5
                labels = np.concatenate([swapped, ~swapped])
            else:
                labels = generator.permutation(outcome)
            nulls.append(grow(labels))
    return Propensity(
        classifier="tree", interactions=False, parameters=None, copies=tuple(scores), null=float(np.mean(nulls))
    )


def _tree(tables: Aligned, copy: int) -> Callable[[Flags], float]:
    """What grows a tree on labels and gives its score. Levels stand in the order of their share of copies' rows."""
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise MissingExtraError("propensity tree", library="scikit-learn", extra="synthesis") from None
    stacked = []
    for variable in tables.variables:
        values = np.concatenate([variable.numbers(0), variable.numbers(copy)])
        below = np.nanmin(values, initial=0.0) - 1  # a missing number lies below all others
        stacked.append((variable, np.where(np.isnan(values), below, values)))
    rows = tables.rows[0] + tables.rows[copy]
    least = max(_LEAST, rows // _LEAVES)

    def grow(labels: Flags) -> float:
        columns = [values if one.numeric else _ordered(values, labels) for one, values in stacked]
        matrix = np.column_stack(columns).astype(np.float32)
        tree = DecisionTreeClassifier(min_samples_leaf=least, max_leaf_nodes=_LEAVES, random_state=0)
        chances = tree.fit(matrix, labels).predict_proba(matrix)[:, 1]
        return float(np.mean(np.square(chances - labels.mean())))

    return grow


def _ordered(codes: Floats, labels: Flags) -> Floats:
    places = codes.astype(np.int64)
    number = np.bincount(places)
    share = np.bincount(places, weights=labels) / np.maximum(number, 1)
    return share[places]
