"""A certificate: what a mechanism claims, and what its exact law says, on a small finite domain.

1. The law of every table is a dictionary of exact fractions, from the function that the drawing shares.
2. Exact odds: the largest P(o | x)/P(o | x') over ordered neighbours and outputs; infinite where only x' rules o out.
   Bounding each output bounds every set of outputs.
3. Exact δ at odds r: the largest Σ_o max(0, P(o | x) − r·P(o | x')) over ordered neighbours (hockey-stick).
4. The claim (r, δ) holds if the exact δ at r is at most δ. It is tight if nothing smaller holds: exact odds equal r
   where δ = 0, exact δ equals δ otherwise.

Terms: odds, e^ε as a fraction; worst pair, the neighbours and the output at which the bound is reached.

Where weights are irrational (Gaussian noise), the law is one in fractions that tells no less (`noise.enclosed_law`),
and the odds of a claim are e^ε rounded down.

What it does not promise: anything beyond the enumerated domain. It is an exact check, which finds wrong sensitivities,
scales, thresholds and clamps; the proof stands beside the mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from discreet.errors import CheckFailedError
from discreet.mechanisms.enclosure import exp_fraction
from discreet.mechanisms.neighbours import Pair, Table

__all__ = ["Certificate", "Claim", "Entry", "Law", "Worst", "examine", "odds_below"]

Law: TypeAlias = Mapping[Any, Fraction]
Verdict: TypeAlias = Literal["tight", "slack", "violated"]
NONE = Fraction(0)
_DIGITS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is promised, of which code, for which neighbours."""

    name: str
    mechanism: str
    relation: str
    domain: str
    odds: Fraction
    delta: Fraction = NONE
    must_fail: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """Two neighbours, and the output that tells them apart best."""

    one: Table
    other: Table
    output: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A claim beside the exact figures. `odds` is None where no finite ones hold."""

    claim: Claim
    odds: Fraction | None
    delta_at: tuple[tuple[Fraction, Fraction], ...]
    worst: Worst
    pairs: int

    @property
    def delta(self) -> Fraction:
        """The exact δ at the claimed odds."""
        return dict(self.delta_at)[self.claim.odds]

    @property
    def verdict(self) -> Verdict:
        """Tight, slack or violated."""
        if self.delta > self.claim.delta:
            return "violated"
        tight = self.delta == self.claim.delta if self.claim.delta else self.odds == self.claim.odds
        return "tight" if tight else "slack"

    @property
    def as_expected(self) -> bool:
        """Does a promise hold, and does a counterexample fail?"""
        return (self.verdict == "violated") == self.claim.must_fail

    def as_json(self) -> dict[str, object]:
        """Exact fractions as text; odds that are infinite as null."""
        claim = self.claim
        return {
            "name": claim.name,
            "mechanism": claim.mechanism,
            "relation": claim.relation,
            "domain": claim.domain,
            "claimed": {"odds": str(claim.odds), "delta": str(claim.delta)},
            "exact": {
                "odds": None if self.odds is None else str(self.odds),
                "delta": str(self.delta),
                "delta_at": {str(odds): str(delta) for odds, delta in self.delta_at},
            },
            "verdict": self.verdict,
            "expected": "violated" if claim.must_fail else "holds",
            "worst": {"one": list(self.worst.one), "other": list(self.worst.other), "output": self.worst.output},
            "pairs": self.pairs,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A claim, with what it takes to check it: the law of a table, and all neighbours of a small domain."""

    claim: Claim
    law: Callable[[Table], Law]
    neighbours: Callable[[], Iterable[Pair]]
    also_at: tuple[Fraction | int, ...] = ()

    def certify(self) -> Certificate:
        """The exact figures."""
        return examine(self.claim, self.law, self.neighbours(), self.also_at)


def examine(
    claim: Claim, law: Callable[[Table], Law], neighbours: Iterable[Pair], also_at: Sequence[Fraction | int] = ()
) -> Certificate:
    """The certificate of a claim, over all given ordered neighbours.

    Given: the exact law of a mechanism, and every ordered pair of neighbours of a finite domain.
    Promise: exact figures; no float, no sample.
    Because: outputs are finitely many, or are lumped where all have one ratio; every sum is of fractions.
    Tested: tests/mechanisms/test_verify.py::test_figures_are_those_of_all_sets_of_outputs
    """
    pairs = list(dict.fromkeys(neighbours))
    laws = {table: dict(law(table)) for table in dict.fromkeys(table for pair in pairs for table in pair)}
    for table, chances in laws.items():
        if sum(chances.values()) != 1 or min(chances.values()) < 0:
            raise CheckFailedError(
                f"certificate of {claim.name!r}",
                found=f"the law at {table} is no probability law",
                right="chances are at least 0 and add up to 1",
                step="repair the law function of the mechanism",
            )
    levels = tuple(dict.fromkeys(Fraction(odds) for odds in (claim.odds, *also_at)))
    deltas = tuple((odds, max(_excess(laws[a], laws[b], odds) for a, b in pairs)) for odds in levels)
    odds, worst = max((_ratio(laws[a], laws[b]), (a, b)) for a, b in pairs)
    if claim.delta:
        worst = max(pairs, key=lambda pair: _excess(laws[pair[0]], laws[pair[1]], claim.odds))
    one, other = laws[worst[0]], laws[worst[1]]
    output = max(one, key=lambda o: _told(one[o], other.get(o, NONE), claim))
    return Certificate(
        claim=claim,
        odds=None if odds[0] else odds[1],
        delta_at=deltas,
        worst=Worst(one=worst[0], other=worst[1], output=str(output)),
        pairs=len(pairs),
    )


def odds_below(epsilon: Fraction) -> Fraction:
    """e^ε to nine places, rounded down: what holds at these odds holds at ε."""
    return Fraction(math.floor(10**9 / exp_fraction(epsilon, _DIGITS)[1]), 10**9)


Ratio: TypeAlias = tuple[bool, Fraction]


def _excess(one: Law, other: Law, odds: Fraction) -> Fraction:
    return sum((max(NONE, chance - odds * other.get(output, NONE)) for output, chance in one.items()), NONE)


def _ratio(one: Law, other: Law) -> Ratio:
    """The largest ratio of one output, infinite first; among infinite ones the likelier output."""
    return max(_odds(chance, other.get(output, NONE)) for output, chance in one.items())


def _odds(chance: Fraction, against: Fraction) -> Ratio:
    if against:
        return False, chance / against
    return chance > 0, chance


def _told(chance: Fraction, against: Fraction, claim: Claim) -> tuple[Ratio, Fraction]:
    """By how much an output tells: by its ratio, or by its excess where the claim has a δ."""
    excess = chance - claim.odds * against
    return ((False, excess), excess) if claim.delta else (_odds(chance, against), excess)
