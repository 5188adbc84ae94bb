"""What an epsilon means, in words and numbers for people who never met one.

Terms. The observer sees the release and wants to know which of two neighbouring tables it was made of: with or without
one person under add-remove, with one or the other value of theirs under replace-one. The prior is what the observer
believed before. Under add-remove, two values of a person who is there are two steps apart: as by 2ε.
For a guarantee (ε, δ), δ = 0 if it is pure:

1. Odds: the release multiplies the odds of any belief about the person by at most e^ε (requirement 3.21).
2. Belief: a prior p becomes at most e^ε p / (1 − p + e^ε p), and at least p / (p + e^ε (1 − p)).
3. Test: whoever decides "in" or "out" and is wrong about outsiders with probability f is right about insiders with
   probability at most min(e^ε f + δ, 1 − e^−ε (1 − δ − f)).
4. Advantage: right minus wrong is at most (e^ε − 1 + 2δ) / (e^ε + 1), which is tanh(ε/2) at δ = 0.
5. Groups: k people together have kε; with δ, δ_k = δ (e^{kε} − 1) / (e^ε − 1).

References: Wasserman and Zhou 2010; Kairouz, Oh and Viswanath 2015; Dwork and Roth 2014.
Beliefs of point 2 hold at δ = 0; with δ they hold except with probability of the order of δ.

What it does not promise: nothing here bounds what is learned about a person from others. That smoking harms is learned
about every smoker, in the table or not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.check import Number, at_least, exact
from discreet.errors import ArgumentError
from discreet.guarantee import ApproxDP, PureDP, number_text

__all__ = ["FALSE_ALARMS", "GROUP_SIZES", "Meaning", "explain"]

FALSE_ALARMS = (Fraction(1, 1000), Fraction(1, 100), Fraction(5, 100), Fraction(1, 10))
GROUP_SIZES = (2, 4, 10)
_LARGE = 700  # exp() of more than this is no float


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """One guarantee, explained."""

    guarantee: ApproxDP
    prior: Fraction
    persons: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.prior < 1:
            raise ArgumentError(
                "prior", found=number_text(self.prior), right="it must lie in (0, 1)", step="give a prior such as 0.1"
            )
        if self.persons is not None:
            at_least("persons", self.persons, 1)

    @property
    def odds(self) -> float:
        """By how much the odds of any belief can grow: e^ε."""
        epsilon = self.guarantee.epsilon
        return math.exp(epsilon) if epsilon < _LARGE else math.inf

    @property
    def belief(self) -> tuple[float, float]:
        """The least and the most an observer with this prior can believe afterwards."""
        if math.isinf(self.odds):
            return 0.0, 1.0
        prior, rest, shrink = float(self.prior), float(1 - self.prior), 1 / self.odds
        return prior * shrink / (prior * shrink + rest), prior / (prior + shrink * rest)

    def detection(self, false_alarms: float | Fraction) -> float:
        """The most any test can detect at that rate of false alarms."""
        rate, delta = float(false_alarms), float(self.guarantee.delta)
        caught = self.odds * rate if rate else 0.0
        return max(rate, min(caught + delta, 1 - (1 - delta - rate) / self.odds, 1.0))

    @property
    def advantage(self) -> float:
        """The most any test can be right about insiders more often than wrong about outsiders."""
        delta = float(self.guarantee.delta)
        half = math.tanh(min(self.guarantee.epsilon, Fraction(_LARGE)) / 2)
        return half + delta * (1 - half)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should be told before they rely on it."""
        said = []
        if self.persons is not None and self.guarantee.delta * self.persons >= 1:
            said.append(
                f"δ = {number_text(self.guarantee.delta)} is not below 1/{self.persons}: publishing one person's "
                "record in full keeps such a promise. Choose δ far below one in the number of persons."
            )
        if self.guarantee.epsilon > 10:
            said.append("An ε above 10 promises next to nothing in the worst case.")
        return tuple(said)

    def sentences(self) -> tuple[str, ...]:
        """The meaning in plain words."""
        low, high = self.belief
        delta = self.guarantee.delta
        group = self.guarantee.group(GROUP_SIZES[1])
        factor = f"at most {self.odds:.4g}" if math.isfinite(self.odds) else "any factor"
        said = [
            "An ε bounds what a release can tell about any one person, whoever reads it and whatever else they know.",
            f"The release can multiply the odds of any belief about one person by {factor}.",
            f"What was thought {_percent(float(self.prior))} likely of a person is thought between {_percent(low)} and "
            f"{_percent(high)} likely after the release.",
            "That is for a person who is there or is not; for two values of a person who is there, an ε of presence "
            f"counts twice: {number_text(2 * self.guarantee.epsilon)}.",
            "The best possible test for a person's presence, if it raises a false alarm for 5 in 100 outsiders, "
            f"finds at most {100 * self.detection(FALSE_ALARMS[2]):.3g} in 100 insiders.",
            "At any rate of false alarms it finds at most "
            f"{100 * self.advantage:.3g} in 100 insiders more than it accuses outsiders.",
            f"{GROUP_SIZES[1]} people who belong together are protected as by ε = {number_text(group.epsilon)}"
            f"{f' and δ = {number_text(group.delta)}' if delta else ''}.",
            "What the table teaches about people in general is learned about everybody, in the table or not.",
        ]
        if delta:
            said.insert(4, f"All of this may fail with a probability of at most about δ = {number_text(delta)}.")
        return (*said, *self.warnings)

    def as_json(self) -> dict[str, object]:
        """Everything as plain values."""
        low, high = self.belief
        return {
            "guarantee": self.guarantee.as_json(),
            "prior": str(self.prior),
            "odds": self.odds if math.isfinite(self.odds) else None,
            "belief_at_least": low,
            "belief_at_most": high,
            "advantage_at_most": self.advantage,
            "detection_at_most": {number_text(rate): self.detection(rate) for rate in FALSE_ALARMS},
            "groups": {str(size): self.guarantee.group(size).as_json() for size in GROUP_SIZES},
            "warnings": list(self.warnings),
        }


def _percent(share: float) -> str:
    """A belief as a reader of newspapers writes it; no finite ε makes one certain."""
    shown = f"{100 * share:.3g} %"
    return "almost 100 %" if shown == "100 %" else shown


def explain(
    epsilon: str | Number, *, delta: str | Number = 0, prior: str | Number = "0.1", persons: int | None = None
) -> Meaning:
    """What an epsilon means for an observer with that prior, in a table of that many persons."""
    guarantee = PureDP.of(epsilon).as_approx(delta)
    return Meaning(guarantee=guarantee, prior=exact("prior", prior), persons=persons)
