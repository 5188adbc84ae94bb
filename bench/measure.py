"""The stopwatch: CPU seconds of this process and its children, or wall seconds where a person waits."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence

__all__ = ["cpu_seconds", "fastest", "side_by_side", "wall_seconds"]

Clock = Callable[[], float]
Step = Callable[[], object]


def cpu_seconds() -> float:
    """CPU seconds spent so far, in user and system mode, by this process and the children it has waited for."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def wall_seconds() -> float:
    """Seconds on the wall's clock."""
    return time.perf_counter()


def fastest(step: Step, *, repeats: int = 5, clock: Clock = cpu_seconds) -> float:
    """The best of some repeats, after one that warms the caches."""
    return side_by_side(step, repeats=repeats, clock=clock)[0]


def side_by_side(*steps: Step, repeats: int = 5, clock: Clock = cpu_seconds) -> Sequence[float]:
    """The best of each step, in turns, so that whatever else the machine does falls on all of them."""
    best = [float("inf")] * len(steps)
    for turn in range(repeats + 1):
        for place, step in enumerate(steps):
            start = clock()
            step()
            spent = clock() - start
            if turn > 0:
                best[place] = min(best[place], spent)
    return best
