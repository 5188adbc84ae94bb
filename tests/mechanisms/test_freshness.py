"""Whatever is released refuses bits that can be repeated, unless it is marked as teaching material."""

from __future__ import annotations

import ast
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from discreet import mechanisms
from discreet.errors import ArgumentError
from discreet.guarantee import Adjacency
from discreet.mechanisms import choice, exponential, noisy_max, permute_and_flip
from discreet.mechanisms.aim import Lowest
from discreet.mechanisms.decay import decay_of
from discreet.mechanisms.noise import LaplaceNoise, release
from discreet.mechanisms.ordered import Cells, Ordered
from discreet.mechanisms.partition import PartitionSelection, StabilityThreshold
from discreet.mechanisms.quantile import choose_count, choose_quantile, choose_quantiles
from discreet.mechanisms.response import Response
from discreet.mechanisms.sensitivity import Median
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.mechanisms.testing import Proposal
from discreet.mechanisms.utility_score import Utility
from discreet.randomness import SeededBits, system_bits

COUNTS = Utility(scores=(1, 2), sensitivity=Fraction(1), why="a count", monotone=True)
UP_TO_NINE = Ordered.from_counts(np.arange(10), np.ones(10, np.int64), Cells(0, 9))
RANGED = exponential.CountableUtility(
    score=lambda _: 0, sensitivity=Fraction(1), why="constant", ceiling=0, decline=1, head=2
)
# Everything that draws what is released: the sources of bits are last, and by name.
DOORS: dict[str, Callable[..., object]] = {
    "release": partial(release, 5, LaplaceNoise.of_scale(3)),
    **{f"choose, {method}": partial(choice.choose, COUNTS, 1, method=method) for method in choice.Method},
    "permute and flip": partial(permute_and_flip.choose, COUNTS, 1),
    "noisy maximum": partial(noisy_max.choose, COUNTS, 1),
    "exponential": partial(exponential.choose, COUNTS, 1),
    "point of a grid": partial(exponential.choose_point, COUNTS, [3, 4], 1),
    "any whole number": partial(exponential.choose_countable, RANGED, 1),
    "quantile": partial(choose_quantile, UP_TO_NINE, Lowest(1), epsilon=1, adjacency=Adjacency.ADD_REMOVE),
    "quantiles": partial(choose_quantiles, UP_TO_NINE, [Fraction(1, 2)], epsilon=1, adjacency=Adjacency.ADD_REMOVE),
    "count": partial(choose_count, 3, 9, epsilon=1),
    "key": partial(PartitionSelection.of(1, "1e-6").keep, 9),
    "key with its count": partial(StabilityThreshold.laplace(1, "1e-6").release, 90),
    "key by its count": partial(StabilityThreshold.laplace(1, "1e-6").keep, 90),
    "watch": SparseVector(threshold=3, sensitivity=1, epsilon=1).start,
    "one answer": partial(Response.of(1).answer, 1),
    "answers": partial(Response.of(1).answers, np.array([0, 1])),
    "proposal": partial(
        Proposal(statistic=Median(0, 9), bound=1, test=decay_of(1), release=decay_of(1), delta=Fraction(1, 100)).answer,
        [1, 2, 3],
    ),
}


@pytest.mark.parametrize("name", DOORS)
def test_every_release_refuses_bits_that_can_be_repeated(name: str) -> None:
    """Whoever marks the output as teaching material may have them; the operating system's are taken without a word."""
    with pytest.raises(ArgumentError, match="bits that can be repeated"):
        DOORS[name](bits=SeededBits(1))
    DOORS[name](bits=SeededBits(1), teaching=True)
    DOORS[name](bits=system_bits())


def test_no_release_is_left_out_of_that_test() -> None:
    """What takes bits among the mechanisms either refuses them by `teaching` or is a sampler beneath the doors."""
    beneath = {"decay", "samplers", "tables", "blocks", "uniform", "weighted", "reservoir"}
    taking = [
        f"{path.stem}.{node.name}"
        for path in Path(mechanisms.__file__).parent.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and path.stem not in beneath
        for given in [{one.arg for one in (*node.args.args, *node.args.kwonlyargs)}]
        if "bits" in given and "teaching" not in given
    ]
    assert taking == []
