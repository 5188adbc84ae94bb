"""A design: what questions that are asked together will measure, under one charge.

1. The demands of all questions are merged: equal keys, filters and sums are measured once.
2. Each demand falls into pieces, perhaps in several ways (`histogram`); the budget is split over them by how many
   statistics each serves, or by what the errors that are wanted of them need.
3. For every way the account can be charged, each demand takes the pieces, and each piece the candidate, with the least
   product of errors over all statistics; so is the way to charge chosen.
4. The parts of that way are what goes through the door, and their event is the price. Gaussian noise on an account in
   ε is charged as the (ε, δ) it implies.

Everything here follows from contract, questions and budget; no engine is asked, so a design costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from discreet.accounting.events import Currency, Event
from discreet.data.contract import Contract
from discreet.errors import ArgumentError
from discreet.guarantee import number_text
from discreet.measure.clipped import ClippedSums
from discreet.measure.door import event_of
from discreet.measure.favourites import Favourites
from discreet.measure.found import Found, FoundKeys, prepare_found, unlisted
from discreet.measure.groups import Axis, axis_of, cells
from discreet.measure.implied import Implied, ReleasedTogether
from discreet.measure.noisy import Measurement, NoisyVector
from discreet.measure.part import Part, Released
from discreet.measure.ranks import Ranks
from discreet.query.allowance import Allowance, Exact, Law, allowances, root_down
from discreet.query.clip import clipped_options
from discreet.query.demand import Demand, demands_of, merged
from discreet.query.histogram import partitions_of
from discreet.query.piece import Candidate, Piece
from discreet.query.question import Question
from discreet.query.statistic import Statistic
from discreet.query.sums import Sums
from discreet.query.wanted import Wanted, losses_for

__all__ = ["Design", "Designed", "design_of"]

# By how much the logarithm of the product of errors must be less before statistics are measured together.
_BETTER = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Designed:
    """One demand with the candidate that each of its pieces takes, and the places of their parts in the design."""

    demand: Demand
    contract: Contract
    axes: tuple[Axis, ...]
    pieces: tuple[Piece, ...]
    taken: tuple[Candidate, ...]
    places: tuple[int | None, ...]
    sums: Sums | None
    found: Found | None
    # Where its parts begin among those of the design.
    start: int

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return prod(axis.size for axis in self.axes)

    def settled(self, every: Sequence[Released]) -> tuple[Designed, tuple[Released, ...]]:
        """The demand over the keys there are, found ones included, between the ends that were chosen, and what each of
        its parts released."""
        if self.found is None:
            count = sum(place is not None for place in self.places)
            return self._opened(tuple(every[self.start : self.start + count]))
        keys = every[self.start]
        assert isinstance(keys, FoundKeys)
        contract, parts = self.found.over(keys.keys)
        axes = parts[0].proof.axes[: len(self.axes)]
        measurements = tuple(part for part in parts if isinstance(part, Measurement))
        sizes = tuple(axis.size for axis in axes)
        sums = None if self.sums is None else replace(self.sums, measurements=measurements, sizes=sizes)
        return replace(self, contract=contract, axes=axes, sums=sums), keys.parts

    def _opened(self, released: tuple[Released, ...]) -> tuple[Designed, tuple[Released, ...]]:
        """The same with the sums that were measured between released ends."""
        if not any(isinstance(one, ClippedSums) for one in released):
            return self, released
        taken = tuple(
            candidate if place is None or candidate.opened is None else candidate.opened(released[place])
            for place, candidate in zip(self.places, self.taken, strict=True)
        )
        plain = tuple(one.sums if isinstance(one, ClippedSums) else one for one in released)
        sums = Sums(
            measurements=tuple(one.measurement for one in plain if isinstance(one, NoisyVector)),
            sources={primitive: source for one in taken for primitive, source in one.sources.items()},
            sizes=tuple(axis.size for axis in self.axes),
        )
        return replace(self, taken=taken, sums=sums), plain

    def vectors(self, every: Sequence[Released]) -> tuple[NoisyVector, ...]:
        """The vectors behind its sums, out of what all parts of the design released."""
        found = (every[place] for place in self.places if place is not None)
        return tuple(one for one in found if isinstance(one, NoisyVector))

    def chosen(self, statistic: Statistic, every: Sequence[Released]) -> Sequence[object]:
        """A statistic that was chosen, in every cell."""
        for place, candidate in zip(self.places, self.taken, strict=True):
            if place is not None and statistic in candidate.reads:
                return candidate.reads[statistic](every[place])
        raise AssertionError(statistic)

    def intervals(
        self, statistic: Statistic, every: Sequence[Released], coverage: Fraction
    ) -> Sequence[tuple[Fraction, Fraction]] | None:
        """Intervals of a statistic that was chosen, in every cell, where its way knows any."""
        for place, candidate in zip(self.places, self.taken, strict=True):
            if place is not None and statistic in candidate.intervals:
                return candidate.intervals[statistic](every[place], coverage)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """What is measured for questions that are asked together."""

    questions: tuple[Question, ...]
    contract: Contract
    currency: Currency
    allowance: Allowance
    demands: tuple[Designed, ...]
    parts: tuple[Part, ...]
    listed: tuple[tuple[Designed, Piece, tuple[Candidate, ...]], ...]

    @property
    def charged(self) -> tuple[Part, ...]:
        """The parts as they go through the door."""
        implied = self.allowance.implied
        if implied is None:
            return self.parts
        epsilon, delta = implied
        return (Implied(parts=self.parts, rho=self.allowance.loss, epsilon=epsilon, delta=delta),)

    @property
    def event(self) -> Event:
        """What is charged."""
        return event_of(self.charged)

    def each(self, released: Sequence[Released]) -> tuple[Released, ...]:
        """What each part released, out of what came through the door."""
        (*found,) = released
        if len(found) == 1 and isinstance(found[0], ReleasedTogether):
            return found[0].each
        return tuple(found)

    def of(self, demand: Demand) -> Designed:
        """The demand as designed that serves this one."""
        return next(one for one in self.demands if one.demand.cells == demand.cells)

    @property
    def estimand(self) -> tuple[str, ...]:
        """What is estimated instead of what was asked, in words, as far as it is known before anything is released."""
        taken = (candidate for one in self.demands for candidate in one.taken)
        return tuple(dict.fromkeys(line for candidate in taken for line in candidate.estimand))

    @property
    def notes(self) -> tuple[str, ...]:
        """What finding keys means for the answer, in words."""
        return tuple(
            f"The keys of {text.name!r} were found for ε = {number_text(one.found.epsilon)} and "
            f"δ = {number_text(one.found.delta)}: rare keys are missing."
            for one in self.demands
            if one.found is not None
            for text in one.found.texts
        )


def design_of(
    questions: Sequence[Question],
    contract: Contract,
    currency: Currency,
    *,
    epsilon: Exact | None = None,
    delta: Exact | None = None,
    rho: Exact | None = None,
    wanted: Wanted | None = None,
    clip: str | None = None,
) -> Design:
    """The best design for the budget, or for wanted errors, or a refusal that says what cannot be measured.

    With `clip` sums and means are clipped at released quantiles (`query.clip`).
    """
    demands = merged(demand for question in questions for demand in demands_of(question))
    given = {demand.cells: unlisted(contract, [text.name for text in demand.found]) for demand in demands}
    finding = sum(len(demand.found) for demand in demands)
    options = [(demand, partitions_of(demand, given[demand.cells])) for demand in demands]
    if clip is not None:
        options = clipped_options(clip, questions, options, contract, wanted=wanted is not None)
    if wanted is not None:
        law: Law = "laplace" if currency == "pure" else "gaussian"
        options = [(demand, _cheapest(each, law, wanted, contract)) for demand, each in options]
    plain = _Spread(
        pieces=tuple(piece for _, each in options for piece in each[0]),
        finding=finding,
        wanted=wanted,
        contract=contract,
    )
    if wanted is not None and epsilon is None and rho is None:
        epsilon, rho = (plain.needed(currency), None) if currency == "pure" else (None, plain.needed(currency))
    ways = allowances(currency, epsilon=epsilon, delta=delta, rho=rho, keys=finding > 0)
    every = {way: [_partitioned(each, way, plain) for _, each in options] for way in ways}
    best = min(ways, key=lambda way: sum(one[0].score for one in every[way]))
    chosen = [(demand, one[0]) for (demand, _), one in zip(options, every[best], strict=True)]
    pieces = [(demand, piece) for demand, one in chosen for piece in one.pieces]
    taken = [candidates[0] for _, one in chosen for candidates in one.candidates]
    each = Finding(epsilon=_of_finding(best, plain.total), delta=best.delta / finding) if finding else None
    designed, parts = _built(pieces, taken, given, contract, each)
    _require_measured(parts)
    by_demand = {one.demand.cells: one for one in designed}
    listed = [
        (by_demand[demand.cells], piece, candidates)
        for at, (demand, one) in enumerate(chosen)
        for piece, candidates in _listed(one, options[at][1][0], [every[way][at] for way in ways])
    ]
    return Design(
        questions=tuple(questions),
        contract=contract,
        currency=currency,
        allowance=best,
        demands=designed,
        parts=parts,
        listed=tuple(listed),
    )


def _require_measured(parts: Sequence[Part]) -> None:
    if not parts:
        raise ArgumentError(
            "question",
            found="it asks only for what the contract makes public",
            right="that is known without asking",
            step="read it off the contract",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Partition:
    """The pieces that a demand falls into in one way, and the candidates of each for its share of the budget."""

    pieces: tuple[Piece, ...]
    candidates: tuple[tuple[Candidate, ...], ...]

    @property
    def score(self) -> float:
        """The logarithm of the product of the errors of the best candidates."""
        return sum(candidates[0].score for candidates in self.candidates)


def _partitioned(each: Sequence[tuple[Piece, ...]], way: Allowance, plain: _Spread) -> list[_Partition]:
    """Every partition of a demand under one way to spend, the best first; the plain one unless another is better.

    Their pieces serve the same statistics, so that each has the same part of the budget in all.
    """
    found = []
    for pieces in each:
        shares = plain.shares(pieces, way)
        listed = tuple(piece.candidates(way.shared(share)) for piece, share in zip(pieces, shares, strict=True))
        found.append(_Partition(pieces=pieces, candidates=listed))
    least = found[0].score - _BETTER
    return sorted(found, key=lambda one: one.score if one.score < least else math.inf)


def _listed(
    chosen: _Partition, plain: Sequence[Piece], every: Sequence[Sequence[_Partition]]
) -> list[tuple[Piece, tuple[Candidate, ...]]]:
    """The pieces that are taken, those of the plain partition, and every histogram; each once, with all candidates."""
    histograms = (piece for one in every[0] for piece in one.pieces if piece.together)
    shown: dict[tuple[object, ...], Piece] = {}
    for piece in (*chosen.pieces, *plain, *histograms):
        shown.setdefault((piece.statistics, piece.together), piece)
    found: dict[Piece, list[Candidate]] = {piece: [] for piece in shown.values()}
    for of_way in every:
        for one in of_way:
            for piece, candidates in zip(one.pieces, one.candidates, strict=True):
                if piece in found:
                    found[piece] += candidates
    return [(piece, tuple(candidates)) for piece, candidates in found.items()]


def _cheapest(
    each: Sequence[tuple[Piece, ...]], law: Law, wanted: Wanted, contract: Contract
) -> tuple[tuple[Piece, ...], ...]:
    """The partition that needs the least for the wanted errors."""
    one = Allowance(law=law, loss=Fraction(1))
    return (min(each, key=lambda pieces: sum(losses_for(pieces, one, wanted, contract), Fraction(0))),)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spread:
    """How a budget is spread over pieces: by how many statistics each serves, or by what their wanted errors need."""

    pieces: tuple[Piece, ...]
    finding: int
    wanted: Wanted | None
    contract: Contract

    @property
    def total(self) -> int:
        """What is served in all: each statistic, and each text whose keys are found."""
        return sum(len(piece.statistics) for piece in self.pieces) + self.finding

    def shares(self, of: Sequence[Piece], way: Allowance) -> tuple[Fraction, ...]:
        """The share of each of these pieces: all of a demand's, in any partition where no errors are wanted."""
        if self.wanted is None:
            return tuple(Fraction(len(piece.statistics), self.total) for piece in of)
        losses = dict(zip(self.pieces, losses_for(self.pieces, way, self.wanted, self.contract), strict=True))
        served = Fraction(self.total - self.finding, self.total)
        return tuple(served * losses[piece] / sum(losses.values()) for piece in of)

    def needed(self, currency: Currency) -> Fraction:
        """The least budget that keeps to the wanted errors: an ε, or a ρ."""
        assert self.wanted is not None
        if self.finding:
            raise ArgumentError(
                "error",
                found="one wanted where keys have to be found",
                right="finding keys takes an ε of its own",
                step="give epsilon and delta; errors beside them say how they are spread",
            )
        law = Allowance(law="laplace" if currency == "pure" else "gaussian", loss=Fraction(1))
        return sum(losses_for(self.pieces, law, self.wanted, self.contract), Fraction(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What the keys of each text that is not listed may cost."""

    epsilon: Fraction
    delta: Fraction


def _of_finding(way: Allowance, total: int) -> Fraction:
    """The ε of one text's keys: its share, or what its share of ρ implies for any mechanism, ε²/2 = ρ."""
    return way.loss / total if way.law == "laplace" else root_down(2 * way.loss / total)


def _built(
    pieces: Sequence[tuple[Demand, Piece]],
    taken: Sequence[Candidate],
    given: Mapping[tuple[object, ...], Contract],
    contract: Contract,
    finding: Finding | None,
) -> tuple[tuple[Designed, ...], tuple[Part, ...]]:
    """The parts of all pieces in order, and where each demand finds its own."""
    parts: list[Part] = []
    designed = []
    for demand in dict.fromkeys(demand for demand, _ in pieces):
        own = [(piece, candidate) for (of, piece), candidate in zip(pieces, taken, strict=True) if of is demand]
        built = [candidate.build() for _, candidate in own]
        there = [part for part in built if part is not None]
        axes = tuple(axis_of(group, given[demand.cells]) for group in demand.by)
        cells(axes)  # refused here if there are too many
        found = None
        if demand.found and finding is not None:
            within = [part for part in there if isinstance(part, Measurement | Ranks | Favourites)]
            found = prepare_found(
                demand.found,
                contract,
                within,
                epsilon=finding.epsilon,
                delta=finding.delta,
                by=demand.by,
                where=demand.where,
            )
        counted = iter(range(len(there)))
        designed.append(
            Designed(
                demand=demand,
                contract=given[demand.cells],
                axes=axes,
                pieces=tuple(piece for piece, _ in own),
                taken=tuple(candidate for _, candidate in own),
                places=tuple(None if part is None else next(counted) for part in built),
                sums=_sums(own, there, axes),
                found=found,
                start=len(parts),
            )
        )
        parts += there if found is None else [found]
    return tuple(designed), tuple(parts)


def _sums(own: Sequence[tuple[Piece, Candidate]], parts: Sequence[Part], axes: Sequence[Axis]) -> Sums | None:
    sources = {primitive: source for _, candidate in own for primitive, source in candidate.sources.items()}
    if not sources:
        return None
    measurements = tuple(part for part in parts if isinstance(part, Measurement))
    return Sums(measurements=measurements, sources=sources, sizes=tuple(axis.size for axis in axes))
