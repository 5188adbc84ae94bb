"""Sums of values that are clipped where few rows lie beyond: the ends are released first, then the sums between them.

1. The distances from zero (from the nearer bound, where zero is none of the values) are cut at 1, 1.5, 2, 3, 5, 7, 10 …
   steps. A value is on the rung that its distance does not pass. Rungs are few, so that a choice of one errs little.
2. For each end a rung is chosen privately by rank (`ranks`), aimed at 1/ε ranks below the outermost. There a row more
   that is cut off costs the sum about as much as the noise of a wider rung (Amin et al. 2019).
3. Values are moved between the chosen ends before they are added up: a unit moves the sums by less, and noise is in
   proportion to that.

The charge is fixed before anything is read: an ε or a ρ for the sums, whatever the ends will be.

Given:   a contract that holds; an ε for each end, an ε or a ρ for the sums.
Promise: ends and sums together cost what the event says, at any ends that can be chosen.
Because: the ends are released as what ranks cost; the sums are measured by a plan that follows from released ends and
         public facts alone, is proven as any other, and is refused before noise is drawn if it would cost more.
Tested:  test_neighbours_make_the_same_calls_on_every_road, test_every_clip_is_proven_and_costs_the_same,
         test_a_sum_that_costs_more_than_was_charged_is_refused,
         test_what_was_not_refused_before_the_charge_is_not_refused_at_any_clip.

What it does not promise: the sum of unclipped values. What lies beyond an end is cut off, and nothing says how much.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import takewhile
from typing import Any, Literal, TypeAlias

from discreet.accounting.events import Choice, Currency, Event, Noise, Together, price, to_json
from discreet.data.contract import Contract
from discreet.data.engines.base import Engine
from discreet.data.table import StoredTable
from discreet.errors import ArgumentError
from discreet.measure.expression import Case, Clamped, Compare, Constant, Predicate, Value, plain
from discreet.measure.noisy import Measurement, NoisyVector
from discreet.measure.ranks import ChosenRanks, Ranks, prepare_ranks
from discreet.measure.span import span_of
from discreet.randomness import Bits, require_fresh

__all__ = ["Clipped", "ClippedSums", "Clips", "Ladder", "Outermost", "ladders_of", "prepare_outermost", "widest"]

Clips: TypeAlias = Mapping[Value, Clamped]
_SERIES = (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(5), Fraction(7))


@dataclass(frozen=True, slots=True)
class Ladder:
    """Where one end of a value may be put, from near to far; the last rung is the contract's own end."""

    value: Value
    side: Literal["low", "high"]
    rungs: tuple[Fraction, ...]

    @property
    def rung(self) -> Value:
        """Which rung a value is on, counted from the nearest; missing where the value is."""
        sign: Literal["<=", ">="] = "<=" if self.side == "high" else ">="
        return Case(
            tuple(
                (Compare(self.value, sign, Constant(end)), Constant(Fraction(at))) for at, end in enumerate(self.rungs)
            )
        )


class Outermost(Ranks):
    """A choice of the rung that so many ranks lie beyond as the noise of the sums can hide."""

    __slots__ = ()

    @property
    def off(self) -> int:
        """How many ranks below the outermost it aims, in the weights that are counted."""
        return math.ceil(1 / self._per_record)

    @property
    def _off(self) -> int:
        return self.off


@dataclass(frozen=True, slots=True, kw_only=True)
class Clipped:
    """Ends to be chosen, and what measures the sums between them: `measured` asks nothing but clips."""

    contract: Contract
    ends: tuple[tuple[Ladder, Outermost], ...]
    measured: Callable[[Clips], Measurement]
    epsilon: Fraction | None = None
    rho: Fraction | None = None

    def __post_init__(self) -> None:
        self.at(self.clips())

    @property
    def event(self) -> Event:
        """The choices of the ends, and the sums as a mechanism of which only its loss is known."""
        return Together(events=(*(ranks.event for _, ranks in self.ends), self._sums))

    @property
    def _sums(self) -> Event:
        if self.epsilon is not None:
            return Choice(epsilon=self.epsilon)
        assert self.rho is not None
        return Noise(law="gaussian", move=2 * self.rho, scale=Fraction(1))

    def at(self, clips: Clips) -> Measurement:
        """What measures the sums between these ends, for no more than is charged.

        Given:   clips that were released, or are public.
        Promise: its price is at most that of the sums in the event.
        Because: its own event, which its proof is behind, is priced and compared; what would cost more is refused.
        Tested:  test_a_sum_that_costs_more_than_was_charged_is_refused.
        """
        measurement = self.measured(clips)
        currency: Currency = "zcdp" if self.epsilon is None else "pure"
        if price(measurement.event, currency).loss > price(self._sums, currency).loss:
            raise ArgumentError(
                "clip",
                found="sums that cost more than they are charged",
                right="they cost as much at any clip",
                step="ask without the clip, and tell the keeper",
            )
        return measurement

    def clips(self, ends: Sequence[ChosenRanks] = ()) -> Clips:
        """The bounds of each value that chosen rungs mean; those of the contract before any was chosen."""
        found = widest([ladder.value for ladder, _ in self.ends], self.contract)
        for (ladder, _), chosen in zip(self.ends, ends, strict=bool(ends)):
            of, end = found[ladder.value], ladder.rungs[chosen.places[0][0]]
            low, high = (of.low, end) if ladder.side == "high" else (end, of.high)
            found[ladder.value] = Clamped(ladder.value, low, high)
        return found

    def as_json(self) -> dict[str, Any]:
        """What is charged and why, as public plain values; the proof of the sums is that of the widest clip."""
        sums = self.at(self.clips())
        return {
            "clipped": [
                {"value": plain(ladder.value), "side": ladder.side, "rungs": [str(rung) for rung in ladder.rungs]}
                for ladder, _ in self.ends
            ],
            "off": [ranks.off for _, ranks in self.ends],
            "parts": [
                *(ranks.as_json() for _, ranks in self.ends),
                {"plan": sums.plan.as_json(), "proof": sums.proof.as_json()},
            ],
            "event": to_json(self.event),
        }

    def require_readable(self, engine: Engine, table: StoredTable) -> None:
        """Compile and check the SELECTs: at any other clip the last one has the same form."""
        for _, ranks in self.ends:
            ranks.require_readable(engine, table)
        self.at(self.clips()).require_readable(engine, table)

    def release(self, engine: Engine, table: StoredTable, bits: Bits, *, teaching: bool = False) -> ClippedSums:
        """Choose ends, then measure between them."""
        require_fresh(bits, teaching=teaching)
        ends = tuple(ranks.release(engine, table, bits, teaching=teaching) for _, ranks in self.ends)
        sums = self.at(self.clips(ends)).release(engine, table, bits, teaching=teaching)
        return ClippedSums(clipped=self, ends=ends, sums=sums)

    def restored(self, stored: Mapping[str, Any]) -> ClippedSums:
        """What `ClippedSums.as_json` wrote."""
        ends = tuple(ranks.restored(one) for (_, ranks), one in zip(self.ends, stored["ends"], strict=True))
        return ClippedSums(clipped=self, ends=ends, sums=self.at(self.clips(ends)).restored(stored["sums"]))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClippedSums:
    """The ends that were chosen, and the sums between them."""

    clipped: Clipped
    ends: tuple[ChosenRanks, ...]
    sums: NoisyVector

    @property
    def clips(self) -> Clips:
        """The bounds of each value."""
        return self.clipped.clips(self.ends)

    def as_json(self) -> dict[str, Any]:
        """Places of rungs, and released numbers, as plain values."""
        return {"ends": [one.as_json() for one in self.ends], "sums": self.sums.as_json()}


def ladders_of(value: Value, contract: Contract) -> tuple[Ladder, ...]:
    """The ladders of a value, one for each end that can be moved: none where its bounds leave no room."""
    span = span_of(value, contract)
    nearest = min(max(0, span.low), span.high)
    found = []
    for side, sign, reach in (("low", -1, nearest - span.low), ("high", 1, span.high - nearest)):
        if reach > 1:
            rungs = tuple(span.step * (nearest + sign * steps) for steps in (*_steps(reach), reach))
            found.append(Ladder(value, side, rungs))  # type: ignore[arg-type]  # one of the two
    return tuple(found)


def widest(values: Iterable[Value], contract: Contract) -> dict[Value, Clamped]:
    """The clips that clip nothing: the contract's own bounds."""
    spans = {value: span_of(value, contract) for value in values}
    return {value: Clamped(value, span.step * span.low, span.step * span.high) for value, span in spans.items()}


def prepare_outermost(
    ladder: Ladder, contract: Contract, *, epsilon: Fraction, where: Predicate | None = None
) -> Outermost:
    """The choice of one end for an ε, over all rows that the filter keeps."""
    ranks = prepare_ranks(ladder.rung, contract, epsilon=epsilon, end="max", where=where)
    return Outermost(**{one.name: getattr(ranks, one.name) for one in fields(ranks)})


def _steps(reach: int) -> Iterator[int]:
    """1, 2, 3, 5, 7, 10, 15, 20 … below the reach."""
    powers = (10**power * one for power in range(len(str(reach))) for one in _SERIES)
    return takewhile(lambda steps: steps < reach, (int(one) for one in powers if one.denominator == 1))
