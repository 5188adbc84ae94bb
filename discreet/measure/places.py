"""Noisy counts on all places of a value, in every cell, and the quantiles that are read off them.

1. The places are the steps of the value between its ends; each row that has the value lies on one of them. The counts
   are a histogram, measured as any other (`noisy`): what is read of it costs nothing more, however many quantiles.
2. A quantile q is read where the noisy L(v) = (1 − q)·(rows up to v) − q·(rows above v) first is at least 0.
3. How many ranks that may be off is known before anything is spent. L(v) errs by a walk over the places whose end is
   fixed to −q and 1 − q of its length; by how much a Brownian motion of its size strays is a closed form (`strays`).
4. The interval holds every place v where, by their errors, L(v) may be at least 0 and L(v − 1) at most 0. Those errors
   are sums of independent noise with known variance and kurtosis, from which their quantiles follow (Cornish and Fisher
   1938, to the fourth moment), and half a step more, since they are whole numbers.

Given:   a contract that holds.
Promise: the released counts cost what the event says; the rest is post-processing.
Because: they are a `Measurement` of a plan that has the value's steps as its last key.
Tested:  test_places_of_neighbours, test_read_ranks_are_off_as_said, test_intervals_of_read_quantiles_cover.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.accounting.events import Event
from discreet.check import Number
from discreet.data.contract import Contract
from discreet.data.engines.base import Engine
from discreet.data.table import StoredTable
from discreet.measure.bounds import Proof
from discreet.measure.expression import Predicate, Value
from discreet.measure.groups import Each, Group
from discreet.measure.noisy import Measurement, NoisyVector, prepare
from discreet.measure.plan import Count, Plan
from discreet.measure.span import Span, span_of
from discreet.mechanisms.noise import LaplaceNoise
from discreet.randomness import Bits

__all__ = ["CountedPlaces", "Places", "prepare_places", "strays"]

_MISSED = 0.05
_NORMAL = NormalDist()
# Excess kurtosis of one number's noise.
_TAILS = {"laplace": 3.0, "gaussian": 0.0}
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Counts on all places of a value, in every cell."""

    measurement: Measurement
    value: Value
    span: Span

    @property
    def plan(self) -> Plan:
        """What is counted: the last key is the value."""
        return self.measurement.plan

    @property
    def proof(self) -> Proof:
        """That of the counts."""
        return self.measurement.proof

    @property
    def event(self) -> Event:
        """What the counts are charged as."""
        return self.measurement.event

    @property
    def places(self) -> int:
        """How many places there are."""
        return self.span.width + 1

    @property
    def deviation(self) -> float:
        """The standard deviation of one count, in rows."""
        return float(self.measurement.noises[0].standard_deviation) / (1 << self.proof.bits)

    def value_of(self, place: int) -> Fraction:
        """The value of a place."""
        return self.span.step * (self.span.low + place)

    def ranks_off(self, q: Fraction) -> float:
        """By how many rows the rank of a quantile is off its aim at most, in 95 of 100 cells."""
        return self.deviation * math.sqrt(self.places) * strays(float(q)) + 0.5 / (1 << self.proof.bits)

    def as_json(self) -> dict[str, Any]:
        """What is charged and why, as public plain values."""
        return self.measurement.as_json()

    def require_readable(self, engine: Engine, table: StoredTable) -> None:
        """Compile and check the SELECT."""
        self.measurement.require_readable(engine, table)

    def release(self, engine: Engine, table: StoredTable, bits: Bits, *, teaching: bool = False) -> CountedPlaces:
        """Count, with fresh noise on each."""
        return CountedPlaces(places=self, counts=self.measurement.release(engine, table, bits, teaching=teaching))

    def restored(self, stored: Mapping[str, Any]) -> CountedPlaces:
        """What `CountedPlaces.as_json` wrote."""
        return CountedPlaces(places=self, counts=self.measurement.restored(stored))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CountedPlaces:
    """What was released: a noisy count for each place of each cell."""

    places: Places
    counts: NoisyVector

    def values(self, q: Fraction) -> tuple[Fraction, ...]:
        """A quantile in every cell."""
        return tuple(self.places.value_of(int(at)) for at in self._read(q))

    def intervals(self, q: Fraction, coverage: Fraction) -> tuple[tuple[Fraction, Fraction], ...]:
        """The least and the largest value that a quantile may be, in every cell."""
        found, off = self._surplus(q), _reach(self.places, float(q), float(coverage))
        before = np.concatenate([np.full((len(found), 1), -np.inf), (found - off)[:, :-1]], axis=1)
        may = (found >= -off) & (before <= 0)
        may[np.arange(len(found)), self._read(q)] = True
        last = may.shape[1] - 1
        lows, highs = may.argmax(axis=1), last - may[:, ::-1].argmax(axis=1)
        each = zip(lows.tolist(), highs.tolist(), strict=True)
        return tuple((self.places.value_of(low), self.places.value_of(high)) for low, high in each)

    def as_json(self) -> dict[str, Any]:
        """The counts as plain values."""
        return self.counts.as_json()

    def _read(self, q: Fraction) -> npt.NDArray[np.intp]:
        """The first place where L is not below 0; the last one where it always is."""
        enough = self._surplus(q) >= 0
        enough[:, -1] = True
        return np.asarray(enough.argmax(axis=1))

    def _surplus(self, q: Fraction) -> Floats:
        """L at each place of each cell, in steps."""
        size = self.places.proof.axes[-1].size
        counts = self.counts.integers[0].astype(float).reshape(-1, size)[:, : self.places.places]
        upto = counts.cumsum(axis=1)
        return np.asarray(upto - float(q) * upto[:, -1:])


def prepare_places(
    value: Value,
    contract: Contract,
    *,
    epsilon: str | Number | None = None,
    rho: str | Number | None = None,
    by: tuple[Group, ...] = (),
    where: Predicate | None = None,
) -> Places:
    """The counts, proven and priced for an ε or a ρ. Rows without the value count nowhere."""
    plan = Plan(aggregates=(Count(value),), by=(*by, Each(value)), where=where)
    measurement = prepare(plan, contract, epsilon=epsilon, rho=rho)
    return Places(measurement=measurement, value=value, span=span_of(value, contract))


@lru_cache(maxsize=256)
def strays(q: float) -> float:
    """What |W(t) − q·W(1)| passes for no t in [0, 1] with a probability of 95 %, W being a Brownian motion.

    Given W(1) = w the path is a bridge from −qw to (1 − q)w, which passes b with a probability of
    exp(−2·(b + qw)·(b − (1 − q)w)) where it starts and ends below. Both sides together miss at most twice as often.
    """
    ends = np.linspace(-8, 8, 1_601)
    weights = np.exp(-(ends**2) / 2)
    weights /= weights.sum()

    def missed(b: float) -> float:
        one, other = b + q * ends, b - (1 - q) * ends
        inside = (one > 0) & (other > 0)
        return 2 * float(weights @ np.where(inside, np.exp(-2 * np.where(inside, one * other, 0.0)), 1.0))

    low, high = 0.0, 6.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if missed(middle) > _MISSED else (low, middle)
    return high


def _reach(places: Places, q: float, coverage: float) -> Floats:
    """By how much L at each place errs at most, on either side, but for half of what the interval may miss."""
    (noise,) = places.measurement.noises
    z = _NORMAL.inv_cdf((1 + coverage) / 2)
    upto = np.arange(1, places.places + 1, dtype=float)
    above = places.places - upto
    square, fourth = ((1 - q) ** power * upto + q**power * above for power in (2, 4))
    tails = _TAILS["laplace" if isinstance(noise, LaplaceNoise) else "gaussian"]
    with np.errstate(invalid="ignore", divide="ignore"):
        excess = np.where(square > 0, tails * fourth / square**2, 0.0)
    return np.asarray(np.sqrt(square) * float(noise.standard_deviation) * (z + (z**3 - 3 * z) * excess / 24) + 0.5)
