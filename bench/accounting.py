"""Group `accounting`: the smallest ε of long compositions at δ = 1e-6, and what it costs to find it.

The figures to meet are those of the field: a closed form for Gaussians, the finest published grids for the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

from bench.measure import fastest
from bench.record import Record
from discreet.accounting import losses
from discreet.accounting.accountants import Report, report
from discreet.accounting.events import Event, Noise, Repeated, Sampled

__all__ = ["records"]

DELTA = "1e-6"
_TOLERANCE = 1e-3


def _noise(law: str, move: int, scale: int, times: int) -> Event:
    one = Noise(
        law="gaussian" if law == "gaussian" else "laplace", move=Fraction(move), scale=Fraction(scale), scalar=True
    )
    return Repeated(event=one, times=times)


COMPOSITIONS: tuple[tuple[str, Event, float], ...] = (
    ("1,000 Gaussians σ 50", _noise("gaussian", 1, 2500, 1000), 2.9216),
    ("10,000 Laplace ε .01", _noise("laplace", 1000, 100_000, 10_000), 4.876),
    ("5,000 sampled Gaussians q .01 σ 1.1", Sampled(rate=Fraction(1, 100), sigma=Fraction(11, 10), steps=5000), 3.979),
)


def records() -> Iterator[Record]:
    """For each composition its ε beside the figure to meet, and the time of a cold computation."""
    for task, event, figure in COMPOSITIONS:
        epsilon = _cold(event).best.epsilon
        bar = figure * (1 + _TOLERANCE)
        yield Record(task=f"{task}: ε", ours=epsilon, noted=figure, bar=bar, barred="ours", unit="ε")
        yield Record(task=f"{task}: time", ours=fastest(partial(_cold, event)), bar=0.2, barred="ours", unit="CPU s")


def _cold(event: Event) -> Report:
    """Every theorem's figure, with nothing remembered."""
    losses.convolved.cache_clear()
    losses.best_order.cache_clear()
    return report([event], DELTA)
