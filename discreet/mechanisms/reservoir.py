"""Single draws whose time says nothing of their value.

A vector draw takes a little longer when it holds rare values. A single draw is therefore taken from a batch that was
drawn before it was asked for: taking it is one pop from a list, whatever it is worth. The batch belongs to one
process and is dropped by a child after a fork.

What it does not promise: that drawing the batch takes constant time. It happens once for all its values together.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

__all__ = ["LARGEST_TAKE", "Reservoir", "shared_reservoir"]

_BATCH = 512
LARGEST_TAKE = 128
_LAWS_KEPT = 256


class Reservoir:
    """Batches of values drawn ahead, one for each law."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Drop every batch, and any lock another process left behind."""
        self._lock = threading.Lock()
        self._forget()

    def _forget(self) -> None:
        self._batches: OrderedDict[Hashable, list[int]] = OrderedDict()
        self._process = os.getpid()

    def take(self, law: Hashable, count: int, draw: Callable[[int], list[int]]) -> list[int]:
        """That many values, at most `LARGEST_TAKE`, each handed out once.

        Given: draw(n) gives n independent draws of the law.
        Promise: the values are independent draws; no two threads and no two processes are handed the same one.
        Because: a value leaves its list under the lock, and a process id other than the batch's drops the batch.
        Tested: tests/mechanisms/test_samplers.py::test_forked_children_draw_differently
        """
        with self._lock:
            if self._process != os.getpid():
                self._forget()
            batch = self._batches.pop(law, [])
            if len(batch) < count:
                batch = draw(_BATCH)
            taken = batch[-count:]
            del batch[-count:]
            self._batches[law] = batch
            if len(self._batches) > _LAWS_KEPT:
                self._batches.popitem(last=False)
            return taken


def shared_reservoir() -> Reservoir:
    """The process's own reservoir."""
    return _SHARED


_SHARED = Reservoir()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_SHARED.renew)
