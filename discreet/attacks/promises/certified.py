"""Differential privacy against every property: exact fractions over all neighbours of a small domain.

The mechanism is a noisy count at e^ε = 2, as it is released; a record may be added or removed. Each check takes the
count's noise, so that noise of a wrong scale is caught.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, TypeAlias

from discreet.attacks.promises.evidence import Check, Evidence
from discreet.mechanisms.certificate import Certificate, Claim, Law, examine
from discreet.mechanisms.decay import Powers
from discreet.mechanisms.neighbours import Pair, Table, added_or_removed
from discreet.mechanisms.noise import LaplaceNoise
from discreet.mechanisms.tallies import side_by_side
from discreet.mechanisms.testing import noisy_law

__all__ = ["NoisyCount"]

Chances: TypeAlias = Mapping[Any, Fraction]
_LARGEST, _GROUP = 4, 3
_PRIORS = tuple(Fraction(step, 10) for step in range(1, 10))


def _noise(odds: Fraction) -> LaplaceNoise:
    return LaplaceNoise.for_guarantee(sensitivity=1, epsilon=Powers(odds))


@dataclass(frozen=True, slots=True)
class NoisyCount:
    """How many records are 1, with noise for the promised odds e^ε; `noise` is what is added."""

    odds: Fraction
    noise: LaplaceNoise

    @classmethod
    def for_odds(cls, odds: int) -> NoisyCount:
        """The count with the product's own noise for these odds."""
        return cls(odds=Fraction(odds), noise=_noise(Fraction(odds)))

    def checks(self) -> dict[str, Check]:
        """One check for each property and demand."""
        return {
            "composition": self.composition,
            "post-processing": self.processing,
            "groups": self.groups,
            "trade-off": self.trade_off,
            "known attacks": self.known_attacks,
            "any intruder": self.any_intruder,
            "any data": self.any_data,
        }

    def composition(self) -> Evidence:
        """Two independent counts: the odds of the pair."""
        found = self._examined(lambda table: side_by_side([self._law(table)] * 2), self.odds**2, _neighbours())
        return self._of(found, f"two counts have odds of {_told(found)}; promised were {self.odds}² = {self.odds**2}")

    def processing(self) -> Evidence:
        """Every yes-or-no question that can be put to the output."""
        outputs = list(self._law(()))
        worst = Fraction(1)
        for size in range(1, len(outputs)):
            for chosen in combinations(outputs, size):
                found = self._examined(lambda table, chosen=chosen: _asked(self._law(table), chosen), self.odds)
                worst = max(worst, found.odds if found.odds is not None else self.odds + 1)
        told = f"all {2 ** len(outputs) - 2} questions to the output have odds of at most {worst}"
        return Evidence(worst <= self.odds, f"{told}; promised were {self.odds}")

    def groups(self) -> Evidence:
        """Tables that differ in up to three people."""
        found = []
        for size in range(1, _GROUP + 1):
            pairs = [((1,) * few, (1,) * (few + size)) for few in range(_LARGEST - _GROUP + 1)]
            both = [*pairs, *((other, one) for one, other in pairs)]
            found.append(self._examined(self._law, self.odds**size, both))
        told = ", ".join(f"{size}: {_told(one)}" for size, one in enumerate(found, start=1))
        held = all(one.verdict != "violated" for one in found)
        return Evidence(held, f"odds for groups of {told}; promised were {self.odds} to the power of their size")

    def trade_off(self) -> Evidence:
        """Error and odds, from the noise alone."""
        steps = [(odds, _noise(odds).standard_deviation) for odds in (Fraction(2), Fraction(4), Fraction(8))]
        falls = all(one[1] > other[1] for one, other in pairwise(steps))
        held = falls and self.noise == _noise(self.odds)
        told = ", ".join(f"odds {odds}: ±{error:.2f}" for odds, error in steps)
        return Evidence(held, f"the standard deviation of a count follows from the odds, before any data ({told})")

    def known_attacks(self) -> Evidence:
        """The best of all tests between two neighbours, by the total variation of their laws."""
        bound = (self.odds - 1) / (self.odds + 1)
        most = max(_distance(self._law(one), self._law(other)) for one, other in _neighbours())
        told = f"no attack whatever finds members more often than it accuses outsiders by more than {most}"
        return Evidence(most <= bound, f"{told}; promised was {bound}")

    def any_intruder(self) -> Evidence:
        """Who knows all other records, and believes anything beforehand: how far the belief in presence moves."""
        worst = Fraction(1)
        for one, other in _neighbours():
            mine, theirs = self._law(one), self._law(other)
            for prior in _PRIORS:
                for output, chance in mine.items():
                    after = prior * chance / (prior * chance + (1 - prior) * theirs[output])
                    worst = max(worst, after * (1 - prior) / ((1 - after) * prior))
        told = "who knows everybody else, whatever was believed before, changes the odds of a belief by at most"
        return Evidence(worst <= self.odds, f"{told} {worst}; promised were {self.odds}")

    def any_data(self) -> Evidence:
        """Every table of up to four records, the empty one among them."""
        found = self._examined(self._law, self.odds, _neighbours())
        return self._of(
            found, f"over all {found.pairs} pairs of neighbouring tables the odds are at most {_told(found)}"
        )

    def _law(self, table: Table) -> Chances:
        return noisy_law(sum(table), self.noise, 0, _LARGEST)

    def _examined(self, law: Any, odds: Fraction, pairs: list[Pair] | None = None) -> Certificate:
        claim = Claim(name="count", mechanism="noise", relation="add-remove", domain="0 and 1", odds=odds, delta=_NONE)
        return examine(claim, law, pairs or _neighbours())

    def _of(self, found: Certificate, told: str) -> Evidence:
        return Evidence(found.verdict != "violated", told)


_NONE = Fraction(0)


def _neighbours() -> list[Pair]:
    return list(added_or_removed((0, 1), _LARGEST))


def _asked(law: Law, chosen: tuple[Any, ...]) -> dict[bool, Fraction]:
    yes = sum((law[output] for output in chosen), _NONE)
    return {True: yes, False: 1 - yes}


def _distance(one: Law, other: Law) -> Fraction:
    return sum((max(_NONE, chance - other[output]) for output, chance in one.items()), _NONE)


def _told(found: Certificate) -> str:
    return "infinity" if found.odds is None else str(found.odds)
