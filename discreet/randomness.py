"""The one door to randomness.

* `SystemBits` hands out the operating system's entropy. It is what every released number is drawn from.
* `SeededBits` repeats itself. It exists for tests and for bundled teaching data, and says so: `certifiable` is False.
* `keyed_generator` is a counter-based numpy generator whose key comes from the operating system and is thrown away,
  for simulation (synthesis, re-drawn noise), where a hundred million floats are wanted and none is released noise.

A pool of bytes read from the operating system in advance is private to one process: after a fork the child drops what
it inherited, so that no two processes ever see the same bits.

What it does not promise: anything when the memory of a running process is copied from outside, as by starting a
snapshot of a virtual machine twice. Both copies hold the same bytes and the same batch of draws; stop the process
before a snapshot is taken.
"""

from __future__ import annotations

import hashlib
import os
import threading
from typing import Protocol

import numpy as np
import numpy.typing as npt

from discreet.errors import ArgumentError, EntropyError

__all__ = ["Bits", "Generator", "SeededBits", "SystemBits", "keyed_generator", "require_fresh", "system_bits"]

Words = npt.NDArray[np.uint64]
# The type of a simulation's generator, under a name that modules may use which must not reach for the library's own.
Generator = np.random.Generator
_POOL_BYTES = 1 << 16


class Bits(Protocol):
    """A source of uniform random bits."""

    @property
    def certifiable(self) -> bool:
        """False when the bits can be repeated, so that nothing drawn from them may be released."""
        ...

    def words(self, count: int) -> Words:
        """That many uniform 64-bit words."""
        ...

    def bits(self, count: int) -> int:
        """A uniform integer of that many bits."""
        ...

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound)."""
        ...


class _ByteSource:
    """What both sources share: words, bits and bounded integers out of raw bytes."""

    def _take(self, count: int) -> bytes:
        raise NotImplementedError

    def words(self, count: int) -> Words:
        return np.frombuffer(self._take(8 * count), dtype="<u8").astype(np.uint64, copy=False)

    def bits(self, count: int) -> int:
        raw = int.from_bytes(self._take((count + 7) // 8), "little")
        return raw & ((1 << count) - 1)

    def below(self, bound: int) -> int:
        if bound < 1:
            raise ValueError(f"bound={bound} must be at least 1")
        width = (bound - 1).bit_length()
        while True:
            candidate = self.bits(width)
            if candidate < bound:
                return candidate


class SystemBits(_ByteSource):
    """The operating system's entropy, read ahead in a pool that never crosses a fork."""

    certifiable = True

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Drop what was read ahead, and any lock another process left behind."""
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._pool, self._next, self._process = b"", 0, os.getpid()

    def _take(self, count: int) -> bytes:
        if count > _POOL_BYTES // 4:
            return _entropy(count)
        with self._lock:
            if self._process != os.getpid():
                self._forget()
            if self._next + count > len(self._pool):
                self._pool, self._next = _entropy(_POOL_BYTES), 0
            taken = self._pool[self._next : self._next + count]
            self._next += count
            return taken


class SeededBits(_ByteSource):
    """The same bits again for the same seed: for tests and bundled teaching data, never for a release."""

    certifiable = False

    def __init__(self, seed: int) -> None:
        self._key, self._counter = seed.to_bytes(32, "little", signed=True), 0

    def _take(self, count: int) -> bytes:
        self._counter += 1
        return hashlib.shake_128(self._key + self._counter.to_bytes(16, "little")).digest(count)


def system_bits() -> SystemBits:
    """The process's shared source of operating-system entropy."""
    return _SHARED


def keyed_generator(seed: int | None = None) -> np.random.Generator:
    """A counter-based generator keyed by the operating system; a seed makes it repeatable, for tests only."""
    key = int.from_bytes(_entropy(32)[:16], "little") if seed is None else seed
    return np.random.Generator(np.random.Philox(key=key))


def require_fresh(bits: Bits, *, teaching: bool) -> None:
    """Refuse to draw a release from bits that can be repeated, unless it is marked as teaching material.

    Given:   the bits that everything about to be released is drawn from.
    Promise: what is released without a mark was drawn from the operating system's entropy.
    Because: only its bits are certifiable; with others whoever releases must say `teaching`, and what comes out has
             `certifiable` False, or, where it is a plain number, has the mark where it was asked for.
    Tested:  tests/mechanisms/test_freshness.py::test_every_release_refuses_bits_that_can_be_repeated.
    """
    if not bits.certifiable and not teaching:
        raise ArgumentError(
            "bits",
            found="bits that can be repeated",
            right="a release is drawn from the operating system's entropy",
            step="leave the seed out, or mark the output as teaching material",
        )


def _entropy(count: int) -> bytes:
    """Bytes from the operating system, refused when it gives too few of them or plainly broken ones."""
    try:
        taken = os.urandom(count)
    except (OSError, NotImplementedError):
        taken = b""
    # 32 equal bytes have probability 2^-248: only a broken source gives them.
    broken = len(taken) != count or (count >= 32 and taken[:32].count(taken[:1]) == 32)
    if broken:
        raise EntropyError(
            "operating system",
            found="no usable random bits",
            right="every draw needs fresh entropy",
            step="repair the system's random source, then run again",
        )
    return taken


_SHARED = SystemBits()
if hasattr(os, "register_at_fork"):
    # A lock held by another thread at the moment of a fork would stay held in the child for ever.
    os.register_at_fork(after_in_child=_SHARED.renew)
