"""The quantile-clipped way for sums and means: a fifth of the budget finds where values may be cut off, the rest sums
what is left of them.

1. Every value that is summed gets an end on each side where its bounds leave room; these share a fifth of the budget.
2. Between the ends that are released, the sums are measured in the best of the ways that `strategy` lists.
3. How far that errs depends on the ends, and so on the data: it is listed with a formula, and taken only if it is asked
   for. Whoever asks knows that the bounds are wide; where they are not, a fifth of the budget is lost.
4. What is estimated is the sum of the clipped values. Intervals hold that one, and the answer says so.

Only contract, question and budget are used until the ends are released.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from discreet.data.contract import Contract
from discreet.errors import ArgumentError
from discreet.guarantee import number_text
from discreet.measure.clipped import Clipped, ClippedSums, Clips, Ladder, ladders_of, prepare_outermost, widest
from discreet.measure.noisy import Measurement
from discreet.measure.part import Released
from discreet.query.allowance import Allowance
from discreet.query.demand import Demand
from discreet.query.piece import Candidate, Piece, prepared_sums, settled_recipe
from discreet.query.question import Question
from discreet.query.recipe import Primitive, Recipe
from discreet.query.statistic import Mean, Persons, Present, Rows, Statistic, Sum
from discreet.query.strategy import Expected, Strategy, strategies
from discreet.query.way import Combination, settled
from discreet.query.words import statistic_text, value_text

__all__ = ["clipped_candidate", "clipped_options"]

_Option: TypeAlias = tuple[Demand, tuple[tuple[Piece, ...], ...]]
_OF_ENDS = Fraction(1, 5)
_WIDTH = "× the width of the clip"
# Between other ends a number may have finer weights, another way and another share, but never so much wider noise.
_ROOM = Fraction(1, 64)


def clipped_options(
    clip: str, questions: Sequence[Question], options: Sequence[_Option], contract: Contract, *, wanted: bool
) -> list[_Option]:
    """Each demand in its plain pieces, with the clipped way for sums and means wherever bounds leave room; or a refusal
    of what cannot be clipped. `wanted` says that errors are."""
    _require_clip(clip, questions, wanted=wanted)
    if not any(_ladders(piece, contract) for _, (plain, *_) in options for piece in plain):
        raise ArgumentError(
            "clip",
            found="no SUM or AVG of a value whose bounds leave room",
            right="a clip serves sums and means of numbers with wide bounds",
            step="leave clip out",
        )
    return [(demand, (tuple(_clipped(one, demand, contract) for one in plain),)) for demand, (plain, *_) in options]


def clipped_candidate(piece: Piece, demand: Demand, contract: Contract, allowance: Allowance) -> Candidate | None:
    """The clipped way for a piece, or None where there is none."""
    ladders = _ladders(piece, contract)
    if not ladders or demand.found or _unserved(piece):
        return None
    return _Clipping(piece, demand, contract, allowance, ladders).candidate()


def _require_clip(clip: str, questions: Sequence[Question], *, wanted: bool) -> None:
    """Refuse a clip that is none, or beside what cannot have one."""
    if clip != "quantile":
        raise ArgumentError("clip", found=repr(clip[:60]), right="there is 'quantile'", step="write clip quantile")
    if wanted:
        raise ArgumentError(
            "clip",
            found="one beside a wanted error",
            right="how far clipped sums err follows from where they are clipped, which nobody knows before",
            step="give an epsilon instead of the error",
        )
    if any(question.sets is not None for question in questions):
        raise ArgumentError(
            "clip",
            found="one beside ROLLUP, CUBE or GROUPING SETS",
            right="each of their tables would be clipped elsewhere, and parts would not add up to totals",
            step="ask for each grouping in a question of its own",
        )


def _clipped(piece: Piece, demand: Demand, contract: Contract) -> Piece:
    if not _ladders(piece, contract):
        return piece
    if demand.found:
        raise ArgumentError(
            "clip",
            found=f"one beside keys of {demand.found[0].name!r} that have to be found",
            right="values are clipped over keys that are public",
            step=f"declare {demand.found[0].name!r} as a category with its keys, or leave clip out",
        )
    beside = _unserved(piece)
    if beside:
        raise ArgumentError(
            "clip",
            found=f"one beside {statistic_text(beside[0])}",
            right="a clip serves SUM, AVG and counts: their sums would be clipped for it too",
            step=f"ask for {statistic_text(beside[0])} in a question of its own",
        )

    def candidates(allowance: Allowance) -> tuple[Candidate, ...]:
        clipped = clipped_candidate(piece, demand, contract, allowance)
        assert clipped is not None
        return (clipped, *piece.candidates(allowance))

    return replace(piece, candidates=candidates)


def _ladders(piece: Piece, contract: Contract) -> tuple[Ladder, ...]:
    """The ends that can be moved of all values that are summed."""
    if piece.together:
        return ()
    values = dict.fromkeys(one.value for one in piece.statistics if isinstance(one, Sum | Mean))
    return tuple(ladder for value in values for ladder in ladders_of(value, contract))


def _unserved(piece: Piece) -> list[Statistic]:
    return [one for one in piece.statistics if not isinstance(one, Sum | Mean | Rows | Present | Persons)]


@dataclass(frozen=True, slots=True)
class _Clipping:
    """One piece with the ends to be chosen and what it may spend."""

    piece: Piece
    demand: Demand
    contract: Contract
    allowance: Allowance
    ladders: tuple[Ladder, ...]

    def candidate(self) -> Candidate:
        clips = widest((ladder.value for ladder in self.ladders), self.contract)
        strategy = self._strategy(clips)
        made = Candidate(
            name=f"clipped at a quantile that is released, {self.allowance.law} noise",
            allowance=self.allowance,
            expected=tuple(map(self._expected, self.piece.statistics, strategy.expected)),
            build=self._part,
            sources=self._sources(strategy, clips),
            estimand=tuple(self._unknown(value) for value in clips),
        )

        def opened(released: Released) -> Candidate:
            assert isinstance(released, ClippedSums)
            at = released.clips
            told = tuple(line for one in at for line in self._told(one, at))
            return replace(made, sources=self._sources(self._strategy(at), at), estimand=told)

        return replace(made, opened=opened)

    def _strategy(self, clips: Clips) -> Strategy:
        """The best way to sum between these ends."""
        recipes = [self._recipe(recipe, clips) for recipe in self._recipes()]
        allowed = [self.allowance.shared(1 - _OF_ENDS)]
        return strategies(recipes, self.contract, allowed, by=self.demand.by, where=self.demand.where)[0]

    def _recipes(self) -> list[Recipe]:
        found = (settled_recipe(one, self.contract) for one in self.piece.statistics)
        return [recipe for recipe in found if recipe is not None]

    def _recipe(self, recipe: Recipe, clips: Clips) -> Recipe:
        return replace(recipe, needs=tuple(self._need(need, clips) for need in recipe.needs))

    def _need(self, need: Primitive, clips: Clips) -> Primitive:
        clipped = next((clip for value, clip in clips.items() if value == need.of), None)
        return need if clipped is None else settled(replace(need, of=clipped), self.contract)

    def _sources(self, strategy: Strategy, clips: Clips) -> Mapping[Primitive, Combination]:
        """How the sums of a question are read, each off that of the clipped value."""
        needs = dict.fromkeys(need for recipe in self._recipes() for need in recipe.needs)
        return {need: strategy.way.sources[self._need(need, clips)] for need in needs}

    def _expected(self, statistic: Statistic, expected: Expected) -> Expected:
        """Noise is in proportion to the width, that of counts but for the share they get."""
        value = statistic.value if isinstance(statistic, Sum | Mean) else None
        clip = widest([ladder.value for ladder in self.ladders if ladder.value == value][:1], self.contract)
        if value is None or not clip:
            return expected
        return replace(expected, deviation=expected.deviation / float(clip[value].high - clip[value].low), unit=_WIDTH)

    def _part(self) -> Clipped:
        laplace = self.allowance.law == "laplace"
        each = self.allowance.shared(_OF_ENDS / len(self.ladders)).epsilon
        sums = self.allowance.shared(1 - _OF_ENDS).loss
        strategy = self._strategy(widest((ladder.value for ladder in self.ladders), self.contract))
        narrow = replace(strategy, allowance=strategy.allowance.shared(_ROOM))
        prepared_sums(self.demand, self.contract, narrow)  # refused here if noise could be too wide
        return Clipped(
            contract=self.contract,
            ends=tuple(
                (ladder, prepare_outermost(ladder, self.contract, epsilon=each, where=self.demand.where))
                for ladder in self.ladders
            ),
            measured=self._measured,
            epsilon=sums if laplace else None,
            rho=None if laplace else sums,
        )

    def _measured(self, clips: Clips) -> Measurement:
        return prepared_sums(self.demand, self.contract, self._strategy(clips))

    def _unknown(self, value: object) -> str:
        sides = " or ".join("above" if one.side == "high" else "below" for one in self._of(value))
        return (
            f"Values of {self._named(value)} {sides} an end that is found first, a released quantile, count as that "
            "end: answer and interval are those of the clipped values."
        )

    def _told(self, value: object, clips: Clips) -> list[str]:
        clip = next(clip for one, clip in clips.items() if one == value)
        sentences = []
        for ladder in self._of(value):
            word, end = ("above", clip.high) if ladder.side == "high" else ("below", clip.low)
            text = number_text(end)
            bound = end == ladder.rungs[-1]
            sentences.append(
                f"No value of {self._named(value)} is clipped {word}: the released quantile is the bound {text}."
                if bound
                else f"Values of {self._named(value)} {word} {text}, a released quantile, count as {text}: answer and "
                "interval are those of the clipped values."
            )
        return sentences

    def _of(self, value: object) -> list[Ladder]:
        return [ladder for ladder in self.ladders if ladder.value == value]

    def _named(self, value: object) -> str:
        return value_text(self._of(value)[0].value)
