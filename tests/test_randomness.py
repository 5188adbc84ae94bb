"""Randomness: uniform, fresh in every process, refused when the system's source is broken."""

from __future__ import annotations

import ast
import os
import threading
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from discreet import randomness
from discreet.errors import ArgumentError, EntropyError
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
from discreet.randomness import SeededBits, SystemBits, keyed_generator, system_bits

pytestmark = pytest.mark.fresh


@pytest.mark.parametrize("source", [SystemBits(), SeededBits(1)], ids=["system", "seeded"])
def test_bits_are_balanced(source: randomness.Bits) -> None:
    """Each of the 64 positions of a word is a fair coin: 200,000 draws, six standard deviations."""
    words = source.words(200_000)
    ones = np.array([int(((words >> np.uint64(position)) & np.uint64(1)).sum()) for position in range(64)])
    assert np.abs(ones - 100_000).max() < 6 * np.sqrt(50_000)


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 2**64 - 1, 2**70])
def test_below_stays_below(bound: int) -> None:
    draws = [system_bits().below(bound) for _ in range(200)]
    assert all(0 <= draw < bound for draw in draws)
    with pytest.raises(ValueError, match="bound"):
        system_bits().below(0)


def test_below_is_uniform() -> None:
    """A biased modulus would put 2/8 on each of two values and 1/8 on the others; chi-square tells at once."""
    source = SeededBits(3)
    counts = Counter(source.below(6) for _ in range(60_000))
    assert sum((counts[face] - 10_000) ** 2 / 10_000 for face in range(6)) < 30


def test_bits_fill_their_width() -> None:
    assert {SeededBits(5).bits(0)} == {0}
    assert max(system_bits().bits(130) for _ in range(100)) >= 2**125


def test_seeds_repeat_and_say_so() -> None:
    assert np.array_equal(SeededBits(7).words(9), SeededBits(7).words(9))
    assert not np.array_equal(SeededBits(7).words(9), SeededBits(8).words(9))
    assert not SeededBits(7).certifiable
    assert system_bits().certifiable


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
        for path in (Path(randomness.__file__).parent / "mechanisms").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and path.stem not in beneath
        for given in [{one.arg for one in (*node.args.args, *node.args.kwonlyargs)}]
        if "bits" in given and "teaching" not in given
    ]
    assert taking == []


def test_child_after_fork_has_its_own_bits() -> None:
    """Sixteen children, each from the same warm pool: no two streams alike, nor like the parent's."""
    source = system_bits()
    source.words(10)
    streams = []
    for _ in range(16):
        reader, writer = os.pipe()
        if (child := os.fork()) == 0:
            os.write(writer, source.words(16).tobytes())
            os._exit(0)
        os.close(writer)
        streams.append(os.read(reader, 128))
        os.close(reader)
        os.waitpid(child, 0)
    streams.append(source.words(16).tobytes())
    assert all(len(stream) == 128 for stream in streams)
    assert len(set(streams)) == 17


def test_threads_share_the_pool_without_repeats() -> None:
    taken: list[bytes] = []
    workers = [
        threading.Thread(target=lambda: taken.extend(system_bits().words(1).tobytes() for _ in range(500)))
        for _ in range(8)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(set(taken)) == 4000


@pytest.mark.parametrize(
    "broken",
    [lambda count: b"\0" * count, lambda count: b"\xff" * count, lambda count: b"\1" * (count // 2), None],
    ids=["zeros", "ones", "short", "failing"],
)
def test_broken_source_is_refused(broken: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(count: int) -> bytes:
        raise OSError("no entropy")

    monkeypatch.setattr(os, "urandom", broken or fail)
    with pytest.raises(EntropyError):
        SystemBits().words(8)
    with pytest.raises(EntropyError):
        keyed_generator()


def test_keyed_generators_differ_unless_seeded() -> None:
    assert keyed_generator().integers(2**62) != keyed_generator().integers(2**62)
    assert keyed_generator(4).integers(2**62) == keyed_generator(4).integers(2**62)
