"""Sparse vector: ask many questions "is the answer above the threshold?" and pay only for those that are.

1. Half of ε (or another share) goes to the threshold, which gets two-sided geometric noise of scale Δ/ε₁, once.
2. Each answer gets fresh noise of scale 2cΔ/ε₂ (cΔ/ε₂ when monotone), where c is how many "above" may be said.
3. "Above" is said when the noisy answer reaches the noisy threshold. After c of them nothing more is answered.

Terms: positive, an "above"; Δ, how far one person moves any one answer; monotone, when one person moves all answers
the same way.

Reference: Lyu, Su and Li 2017, algorithms 1 and 7. They list the published variants that are not private: those that
reuse an answer's noise to release its value, add none to the answers, scale it without c, or never stop.

What it does not promise: the value of an answer above the threshold; that is another release with fresh noise and a
charge of its own. Nor that its caller stops asking: the guarantee holds for any number of negative replies.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet import check
from discreet.errors import ArgumentError, BudgetError
from discreet.mechanisms.decay import Decay, decay_of
from discreet.mechanisms.samplers import DiscreteLaplace, comparable, draw
from discreet.mechanisms.utility_score import Epsilon, rational
from discreet.randomness import Bits, require_fresh

__all__ = ["SparseVector", "Watch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseVector:
    """What is public of a watch: the threshold and Δ in whole steps of the answers' grid, ε, and c."""

    threshold: int
    sensitivity: int
    epsilon: Epsilon
    positives: int = 1
    monotone: bool = False
    threshold_share: Fraction = Fraction(1, 2)

    def __post_init__(self) -> None:
        check.at_least("sensitivity", self.sensitivity, 1)
        check.at_least("positives", self.positives, 1)
        share = check.positive("threshold_share", check.probability("threshold_share", self.threshold_share))
        object.__setattr__(self, "threshold_share", share)
        object.__setattr__(self, "epsilon", decay_of(self.epsilon))

    def decays(self) -> tuple[Decay, Decay]:
        """What one step of noise weighs: on the threshold, and on an answer."""
        whole, share = decay_of(self.epsilon), self.threshold_share
        reach = self.positives * self.sensitivity * (1 if self.monotone else 2)
        return whole.scaled(share / self.sensitivity), whole.scaled((1 - share) / reach)

    def start(self, bits: Bits, *, teaching: bool = False) -> Watch:
        """A watch with its own noisy threshold; everything it will ever say costs ε together.

        Given:   answers of which one person moves each by at most the sensitivity, all the same way if monotone.
        Promise: the sequence of all replies, to questions that may depend on earlier replies, is ε-private.
        Because: shift the threshold's noise by Δ (price ε₁): every negative becomes at least as likely; each of the
                 at most c positives then needs a shift of 2Δ of its own noise (price ε₂/c; Δ if monotone).
        Tested:  tests/mechanisms/test_choice_sparse.py::test_certificate_of_the_sparse_vector.
        """
        require_fresh(bits, teaching=teaching)
        return Watch(self, bits)

    def law(self, answers: Sequence[int]) -> dict[tuple[bool, ...], Fraction]:
        """The exact probability of each sequence of replies to these questions; it ends with the last positive."""
        threshold, answer = (rational(decay).weight(1) for decay in self.decays())
        return {
            replies: _chance([self.threshold - value for value in answers[: len(replies)]], replies, threshold, answer)
            for replies in self._sequences(len(answers), ())
        }

    def _sequences(self, questions: int, replies: tuple[bool, ...]) -> Iterator[tuple[bool, ...]]:
        if len(replies) == questions or sum(replies) == self.positives:
            yield replies
            return
        for reply in (False, True):
            yield from self._sequences(questions, (*replies, reply))


class Watch:
    """A running sparse vector. What it holds is confidential; only its replies are released."""

    __slots__ = ("_answer_noise", "_bits", "_left", "_threshold")

    def __init__(self, vector: SparseVector, bits: Bits) -> None:
        threshold, answer = vector.decays()
        _require_comparable(threshold, answer)
        self._bits, self._left = bits, vector.positives
        self._answer_noise = DiscreteLaplace(answer)
        self._threshold = vector.threshold + draw(DiscreteLaplace(threshold), bits)

    @property
    def left(self) -> int:
        """How many positives it may still say."""
        return self._left

    def above(self, answer: int) -> bool:
        """Whether the noisy answer reaches the noisy threshold; refused once the last positive has been said.

        An answer is whole steps of the public grid on which Δ and the threshold are counted; what is not is refused.
        """
        if self._left == 0:
            raise BudgetError(
                "sparse vector",
                found="it has said its last positive",
                right="each positive is paid for in advance",
                step="start another watch, with a budget of its own",
            )
        reply = _whole(answer) + draw(self._answer_noise, self._bits) >= self._threshold
        self._left -= reply
        return reply


def _require_comparable(*decays: Decay) -> None:
    if not all(comparable(decay) for decay in decays):
        raise ArgumentError(
            "epsilon",
            found="noise so wide that 64 bits would cut it off",
            right="the scale of the noise, 2cΔ/ε₂ steps, is at most 2^54",
            step="give a larger epsilon, fewer positives, or a coarser grid",
        )


def _whole(answer: object) -> int:
    """The answer as an integer; a float is refused, whose comparisons round, and a NaN, which is below everything."""
    try:
        return operator.index(answer)  # type: ignore[arg-type]  # what has no index raises TypeError
    except TypeError:
        raise ArgumentError(
            "answer",
            found=f"a {type(answer).__name__}",
            right="an answer is whole steps of a public grid",
            step="count in steps, and declare the sensitivity in steps too",
        ) from None


def _chance(lacking: Sequence[int], replies: Sequence[bool], threshold: Fraction, answer: Fraction) -> Fraction:
    """The chance of these replies, where answer i lacks so many steps to the threshold. Weights are those of a step.

    Given the threshold's noise r, a positive needs noise of at least r + lacking. Far out on either side that is a
    geometric tail, so that each reply's chance is linear in answer^|r|, and the sum over r is geometric series.
    """
    high = max([0, *(-short for short in lacking)])
    low = max([1, *(short - 1 for short in lacking)])
    negated = [not reply for reply in replies]
    middle = Fraction(0)
    for noise in range(1 - low, high):
        term = threshold ** abs(noise)
        for short, reply in zip(lacking, replies, strict=True):
            reached = _reaches(noise + short, answer)
            term *= reached if reply else 1 - reached
        middle += term
    ends = _far(lacking, replies, high, threshold, answer) + _far(
        [1 - short for short in lacking], negated, low, threshold, answer
    )
    return (1 - threshold) / (1 + threshold) * (middle + ends)


def _reaches(at: int, weight: Fraction) -> Fraction:
    """P(noise ≥ at) of two-sided geometric noise."""
    return weight**at / (1 + weight) if at >= 0 else 1 - weight ** (1 - at) / (1 + weight)


def _far(
    lacking: Sequence[int], replies: Sequence[bool], start: int, threshold: Fraction, answer: Fraction
) -> Fraction:
    """The sum over r ≥ start of threshold^r times the replies' chance, where no tail is reached from within."""
    polynomial = [Fraction(1)]
    for short, reply in zip(lacking, replies, strict=True):
        slope = answer**short / (1 + answer)
        constant, slope = (Fraction(0), slope) if reply else (Fraction(1), -slope)
        padded = [Fraction(0), *polynomial, Fraction(0)]
        polynomial = [constant * padded[at + 1] + slope * padded[at] for at in range(len(polynomial) + 1)]
    ratios = [threshold * answer**power for power in range(len(polynomial))]
    return sum((c * ratio**start / (1 - ratio) for c, ratio in zip(polynomial, ratios, strict=True)), start=Fraction(0))
