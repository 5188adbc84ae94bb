"""Trees with donors: grow a tree of one column on others, then draw values out of its leaves.

1. Predictors are numbers, or codes of levels without an order. A missing number lies below all others; a missing code
   is a level. Codes are put in the order of the outcome's mean in each level (Breiman et al. 1984), or, where the
   outcome has several classes, of the first principal component of its shares (Coppersmith et al. 1999). Levels of
   fewer than `least` records share the place of the whole.
2. scikit-learn splits by variance or by Gini's index until leaves are pure or would hold fewer than `least` records.
   An outcome of more than 60 classes is split by its 59 most frequent ones and the rest as one: `coarse` says so.
   Values drawn are still of every class.
3. A value is drawn from the donors of the leaf where a record falls: with equal chances, or in proportion to their
   weights. A draw of the model gives each donor a weight of its own, exponential and fresh: the Bayesian bootstrap.
4. Records of one leaf draw from equal parts of its donors, in random order. Each draws as if it were alone; together
   they stay nearer to the donors' shares than independent draws would.
5. `smooth`, for numbers: a donor's value moves up to half-way to its neighbour in the leaf, and what lies beyond the
   `least`-th smallest or largest record is brought there. A value that at least `least` records share stays as it is.

Terms: least, the fewest records of a leaf. Reference: Reiter, Using CART to generate partially synthetic public use
microdata (2005). Predictors are scaled to single precision: numbers nearer than 1e-7 of their range are one.
It does not promise anything about risk: without `smooth` every value drawn is some record's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.check import at_least
from discreet.errors import ArgumentError, MissingExtraError
from discreet.randomness import Generator

__all__ = ["DonorModel", "Predictor", "Tree", "grow"]

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Whole = npt.NDArray[np.int64]
_CLASSES_AT_MOST = 60


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predictor:
    """A column to split on: numbers, or codes of so many levels that have no order; NaN where missing."""

    values: Floats
    levels: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Number:
    """Numbers brought to [0, 1], missing ones below."""

    low: float
    width: float

    def places(self, values: Floats) -> Singles:
        scaled = (values - self.low) / self.width
        return np.nan_to_num(scaled, copy=False, nan=-2.0).astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Levels:
    """Codes brought to their place in the order of the outcome; the last entry is for missing ones."""

    order: Singles

    def places(self, values: Floats) -> Singles:
        return np.asarray(self.order[np.nan_to_num(values, nan=len(self.order) - 1).astype(np.intp)])


@dataclass(frozen=True, kw_only=True, eq=False)
class Tree:
    """A grown tree with its donors, which lie leaf by leaf and within a leaf in the order of their values."""

    scales: tuple[_Number | _Levels, ...]
    splits: Any
    values: Floats
    weights: Floats | None
    starts: Whole
    place_of_leaf: Whole
    least: int
    coarse: bool
    smooth: bool

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return len(self.starts) - 1

    @property
    def model(self) -> DonorModel:
        """Donors as they are: improper synthesis."""
        return DonorModel(tree=self, weights=self.weights)

    def draw(self, generator: Generator) -> DonorModel:
        """Donors under a Bayesian bootstrap: proper synthesis."""
        drawn = generator.standard_exponential(len(self.values))
        return DonorModel(tree=self, weights=drawn if self.weights is None else drawn * self.weights)

    def leaf_of(self, predictors: Sequence[Floats]) -> Whole:
        """Which leaf each record falls into."""
        if not self.scales:
            raise ArgumentError(
                "tree", found="no predictors", right="it has one leaf", step="draw a number of records instead"
            )
        nodes = self.splits.apply(_stacked(self.scales, predictors))
        return np.asarray(self.place_of_leaf[nodes])

    @cached_property
    def shared(self) -> npt.NDArray[np.bool_]:
        """Which donors have a value that at least `least` of them have."""
        _, inverse, counts = np.unique(self.values, return_inverse=True, return_counts=True)
        return np.asarray(counts[inverse] >= self.least)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The `least`-th smallest and largest value."""
        ordered, place = np.sort(self.values), min(self.least, len(self.values)) - 1
        low, high = float(ordered[place]), float(ordered[-1 - place])
        return min(low, high), max(low, high)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DonorModel:
    """A tree with one set of weights of its donors."""

    tree: Tree
    weights: Floats | None

    def simulate(self, predictors: Sequence[Floats], generator: Generator) -> Floats:
        """One value drawn for each record of the predictors."""
        return self._drawn(self.tree.leaf_of(predictors), generator)

    def simulate_any(self, records: int, generator: Generator) -> Floats:
        """Values drawn from all donors, of a tree without predictors."""
        return self._drawn(np.zeros(records, dtype=np.int64), generator)

    def _drawn(self, leaves: Whole, generator: Generator) -> Floats:
        first, behind = self.tree.starts[leaves], self.tree.starts[leaves + 1]
        uniform = _spread(leaves, self.tree.leaves, generator)
        if self.weights is None:
            at = first + (uniform * (behind - first)).astype(np.int64)
        else:
            heap = np.concatenate([[0.0], np.cumsum(self.weights)])
            at = np.searchsorted(heap, heap[first] + uniform * (heap[behind] - heap[first]), side="right") - 1
        at = np.clip(at, first, behind - 1)
        return self._smoothed(at, first, behind, generator) if self.tree.smooth else self.tree.values[at]

    def _smoothed(self, at: Whole, first: Whole, behind: Whole, generator: Generator) -> Floats:
        """Each value moved up to half-way to a neighbour of its leaf, and the ends of all values drawn in."""
        own, step = self.tree.values[at], np.where(generator.random(len(at)) < 0.5, -1, 1)
        other = np.where((at + step >= first) & (at + step < behind), at + step, at - step)
        other = np.clip(other, first, behind - 1)
        moved = own + generator.random(len(at)) / 2 * (self.tree.values[other] - own)
        return np.clip(np.where(self.tree.shared[at], own, moved), *self.tree.ends)


def _spread(leaves: Whole, count: int, generator: Generator) -> Floats:
    """A uniform number for each record; those of one leaf, in random order, one from each equal part of [0, 1)."""
    shuffled = generator.permutation(len(leaves))
    order = shuffled[np.argsort(leaves[shuffled], kind="stable")]
    records = np.bincount(leaves, minlength=count)
    first = np.cumsum(records) - records
    part = np.empty(len(leaves))
    part[order] = np.arange(len(leaves)) - first[leaves[order]]
    return np.asarray((part + generator.random(len(leaves))) / records[leaves])


def grow(
    predictors: Sequence[Predictor],
    outcome: Floats,
    *,
    classes: int = 0,
    weights: Floats | None = None,
    least: int = 5,
    smooth: bool = False,
) -> Tree:
    """Grow a tree of an outcome without gaps: numbers, or codes of so many classes. Weights of 0 leave records out."""
    at_least("least", least, 1)
    outcome, heavy, predictors = _settled(predictors, outcome, weights)
    target, coarse = _coarse(outcome, classes)
    scales = tuple(_scale(one, target, classes, heavy, least) for one in predictors)
    splits = None
    nodes = np.zeros(len(outcome), dtype=np.int64)
    if predictors and len(outcome) >= 2 * least:
        matrix = _stacked(scales, [one.values for one in predictors])
        splits = _fitted(matrix, target, classes, heavy, least)
        nodes = splits.apply(matrix)
    order = np.lexsort((outcome, nodes))
    found, first = np.unique(nodes[order], return_index=True)
    place = np.zeros(int(found[-1]) + 1, dtype=np.int64)
    place[found] = np.arange(len(found))
    return Tree(
        scales=scales,
        splits=splits if splits is not None else _OneLeaf(),
        values=outcome[order],
        weights=None if heavy is None else heavy[order],
        starts=np.append(first, len(outcome)).astype(np.int64),
        place_of_leaf=place,
        least=least,
        coarse=coarse,
        smooth=smooth and not classes,
    )


class _OneLeaf:
    """What a tree without a split answers."""

    def apply(self, matrix: Singles) -> Whole:
        return np.zeros(len(matrix), dtype=np.int64)


def _settled(
    predictors: Sequence[Predictor], outcome: Floats, weights: Floats | None
) -> tuple[Floats, Floats | None, list[Predictor]]:
    """Checked, and without records of weight 0."""
    outcome = np.asarray(outcome, dtype=np.float64)
    lengths = {len(outcome), *(len(one.values) for one in predictors)} | (
        {len(weights)} if weights is not None else set()
    )
    if not len(outcome) or len(lengths) != 1 or not np.isfinite(outcome).all():
        raise ArgumentError(
            "outcome",
            found="nothing, missing or infinite numbers, or another number of them than records",
            right="one finite number for each record",
            step="leave out records without an outcome",
        )
    if weights is None:
        return outcome, None, list(predictors)
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ArgumentError(
            "weights",
            found="weights that are negative, not finite or all 0",
            right="a weight is 0 or more, and some are above 0",
            step="correct the weights",
        )
    kept = weights > 0
    thinned = [Predictor(values=one.values[kept], levels=one.levels) for one in predictors]
    return outcome[kept], np.asarray(weights[kept], dtype=np.float64), thinned


def _coarse(outcome: Floats, classes: int) -> tuple[Floats, bool]:
    """What the splits look at: the outcome itself, or its most frequent classes and the rest as one."""
    if classes <= _CLASSES_AT_MOST:
        return outcome, False
    codes = outcome.astype(np.int64)
    counts = np.bincount(codes, minlength=classes)
    place = np.full(classes, _CLASSES_AT_MOST - 1)
    place[np.argsort(-counts, kind="stable")[: _CLASSES_AT_MOST - 1]] = np.arange(_CLASSES_AT_MOST - 1)
    return place[codes].astype(np.float64), int(np.count_nonzero(counts)) > _CLASSES_AT_MOST


def _scale(one: Predictor, target: Floats, classes: int, weights: Floats | None, least: int) -> _Number | _Levels:
    if not one.levels:
        there = one.values[~np.isnan(one.values)]
        low, high = (float(there.min()), float(there.max())) if len(there) else (0.0, 0.0)
        return _Number(low=low, width=(high - low) or 1.0)
    levels = one.levels + 1
    codes = np.nan_to_num(one.values, nan=one.levels).astype(np.int64)
    records = np.bincount(codes, minlength=levels)
    heavy = np.bincount(codes, weights=weights, minlength=levels)
    if classes <= 2:
        sums = np.bincount(codes, weights=target if weights is None else target * weights, minlength=levels)
        scores, whole = sums / np.where(heavy, heavy, 1), float(sums.sum() / heavy.sum())
    else:
        wide = min(classes, _CLASSES_AT_MOST)
        cells = np.bincount(codes * wide + target.astype(np.int64), weights=weights, minlength=levels * wide)
        shares = cells.reshape(levels, wide) / np.where(heavy, heavy, 1)[:, None]
        apart = shares - np.average(shares, axis=0, weights=heavy)
        scores, whole = apart @ np.linalg.eigh((apart * heavy[:, None]).T @ apart)[1][:, -1], 0.0
    scores = np.where(records >= least, scores, whole)
    return _Levels(order=np.unique(scores, return_inverse=True)[1].astype(np.float32))


def _stacked(scales: Sequence[_Number | _Levels], predictors: Sequence[Floats]) -> Singles:
    matrix = np.empty((len(predictors[0]), len(scales)), dtype=np.float32)
    for at, (scale, values) in enumerate(zip(scales, predictors, strict=True)):
        matrix[:, at] = scale.places(values)
    return matrix


def _fitted(matrix: Singles, target: Floats, classes: int, weights: Floats | None, least: int) -> Any:
    try:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    except ImportError:
        raise MissingExtraError("trees", library="scikit-learn", extra="synthesis") from None
    kind = DecisionTreeClassifier if classes else DecisionTreeRegressor
    # The fixed state only breaks ties between splits that are equally good.
    tree = kind(min_samples_leaf=least, random_state=0)
    return tree.fit(matrix, target, sample_weight=weights).tree_
