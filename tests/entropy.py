"""The entropy of quick tests: every one draws from a stream of its own name, so that it repeats, alone or among others.

Slow tests draw from the operating system, and so do all with `pytest --fresh`. A process that a test starts has the
operating system's entropy too; one that it forks has a stream of its own.
"""

from __future__ import annotations

import hashlib
import itertools
import os

from discreet import randomness
from discreet.mechanisms.reservoir import shared_reservoir

__all__ = ["Entropy"]

_FROM_SYSTEM = randomness._entropy


class Entropy:
    """What the product's one door to entropy reads from while tests run."""

    def __init__(self) -> None:
        self.fresh()

    def fresh(self) -> None:
        """From here on the operating system's."""
        self._begin(b"")

    def repeat(self, name: str) -> None:
        """From here on the stream of that name."""
        self._begin(name.encode())

    def __call__(self, count: int) -> bytes:
        """That many bytes."""
        if not self._name:
            return _FROM_SYSTEM(count)
        taken = next(self._takes)
        process = b"" if os.getpid() == self._process else os.getpid().to_bytes(8, "little")
        return hashlib.shake_128(b"\0".join([self._name, process, taken.to_bytes(8, "little")])).digest(count)

    def _begin(self, name: bytes) -> None:
        # One step of a counter is one instruction: two threads never take the same bytes.
        self._name, self._takes, self._process = name, itertools.count(), os.getpid()
        randomness.system_bits().renew()
        shared_reservoir().renew()
