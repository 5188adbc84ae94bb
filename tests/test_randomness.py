"""Randomness: uniform, fresh in every process, refused when the system's source is broken."""

from __future__ import annotations

import os
import threading
from collections import Counter

import numpy as np
import pytest

from discreet import randomness
from discreet.errors import EntropyError
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
