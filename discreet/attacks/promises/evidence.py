"""Evidence: what an exact check or an attack that was run just now says of one property of one way of protecting.

Four properties that a promise of privacy should have, for any method:

    composition       several releases together keep a promise that follows from theirs
    post-processing   nothing that is computed from a release weakens what was promised of it
    groups            for several people together a promise follows, and is a number
    trade-off         protection and error are both numbers known before the data, and move each other

Four demands on a definition of privacy: it should

    known attacks     withstand the attacks known to date
    any intruder      assume nothing of what an intruder knows
    any data          assume nothing of the data
    composition       degrade gracefully when releases add up

`holds` is said where an exact check over a whole small domain finds it so, `fails` where an attack that was run shows
the opposite, and `not shown` where neither is at hand: that is no acquittal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from discreet.check import known

__all__ = ["DEMANDS", "PROPERTIES", "Check", "Evidence", "Protection", "Verdict"]

Verdict: TypeAlias = Literal["holds", "fails", "not shown"]
PROPERTIES: Mapping[str, str] = {
    "composition": "several releases together keep a promise that follows from theirs",
    "post-processing": "nothing computed from a release weakens what was promised of it",
    "groups": "for several people together a promise follows, and is a number",
    "trade-off": "protection and error are numbers known before the data, and move each other",
}
DEMANDS: Mapping[str, str] = {
    "known attacks": "it withstands the attacks known to date",
    "any intruder": "it assumes nothing of what an intruder knows",
    "any data": "it assumes nothing of the data",
    "composition": "it degrades gracefully when releases add up",
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """Whether a property was found to hold or to fail, and by what. `holds` is None where nothing was shown."""

    holds: bool | None
    told: str

    @property
    def verdict(self) -> Verdict:
        """In words."""
        return "not shown" if self.holds is None else "holds" if self.holds else "fails"


Check: TypeAlias = Callable[[], Evidence]


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """A way of protecting: its kind, what it promises, and the checks that are run for some of the properties."""

    name: str
    family: Literal["guarantee", "measured risk"]
    promise: str
    checks: Mapping[str, Check]

    def __post_init__(self) -> None:
        for name in self.checks:
            known("property", name, (*PROPERTIES, *DEMANDS), step="name a property or a demand")

    def examined(self) -> dict[str, Evidence]:
        """Every property and demand with what was found."""
        nothing = Evidence(None, "neither an exact check nor an attack is at hand")
        wanted = dict.fromkeys((*PROPERTIES, *DEMANDS))
        return {name: self.checks[name]() if name in self.checks else nothing for name in wanted}
