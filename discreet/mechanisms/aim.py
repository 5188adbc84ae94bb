"""Which rank is aimed at, and what one person can change of the distance from it.

The distance of a cell z with L records below and G above is max(0, b·L − A, b·G − B). `Limits` holds b, A, B and the
sensitivity: by how much the distance of one and the same cell differs between neighbours at most.

* Quantile, add-remove, q = a/d: b = d, A = a·n, B = (d − a)·n. A record more below z moves d·L − a·n by d − a and
  d·G − (d − a)·n by −(d − a); one more above moves them by −a and a; one more on z by −a and −(d − a). A maximum of
  parts that each move by at most max(a, d − a) moves by no more: that is the sensitivity.
* Quantile, replace-one: n is public, the rank is k = ⌈qn⌉ or ⌊qn⌋ + 1; b = 1, A = k − 1, B = n − k. A record replaced
  moves L and G by at most 1: the sensitivity is 1.
* The (j + 1)-th highest, both relations: b = 1, A = n − j − 1, B = j. Under add-remove L − n and G move by at most 1:
  the sensitivity is 1. The lowest is its mirror image.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from discreet import check
from discreet.errors import ArgumentError
from discreet.guarantee import Adjacency, number_text

__all__ = ["Aim", "Highest", "Limits", "Lowest", "Quantile", "Rule", "finest_share", "ranks_off_the_end"]

Rule: TypeAlias = Literal["lower", "upper"]
_DENOMINATOR_AT_MOST = 10**6
_MISS = 20


@dataclass(frozen=True, slots=True)
class Limits:
    """The distance max(0, unit·L − below, unit·G − above), and its sensitivity."""

    unit: int
    below: int
    above: int
    sensitivity: int


@dataclass(frozen=True, slots=True)
class Quantile:
    """The q-quantile, 0 < q < 1; q = 1/2 is the median. The rule names the rank under replace-one where qn is whole."""

    q: Fraction
    rule: Rule = "lower"

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", check.exact("q", self.q))
        check.one_of("rule", self.rule, get_args(Rule))
        if not 0 < self.q < 1 or self.q.denominator > _DENOMINATOR_AT_MOST:
            raise ArgumentError(
                "q",
                found=number_text(self.q),
                right=f"it must lie in (0, 1), with a denominator of at most {_DENOMINATOR_AT_MOST}",
                step="give q such as 0.25; ask for Lowest or Highest for an end",
            )

    def limits(self, records: int, adjacency: Adjacency) -> Limits:
        """What the distance is made of for that many records."""
        part, whole = self.q.numerator, self.q.denominator
        if adjacency is Adjacency.ADD_REMOVE:
            return Limits(whole, part * records, (whole - part) * records, max(part, whole - part))
        rank = -(-part * records // whole) if self.rule == "lower" else part * records // whole + 1
        return Limits(1, rank - 1, records - rank, 1)

    @property
    def text(self) -> str:
        """What is aimed at, in words."""
        return "the median" if self.q == Fraction(1, 2) else f"the {number_text(self.q)} quantile"


@dataclass(frozen=True, slots=True)
class Highest:
    """The maximum, aimed at a public number of ranks below it, because nothing holds the maximum itself down."""

    off: int

    def __post_init__(self) -> None:
        check.at_least("off", self.off, 0)

    def limits(self, records: int, adjacency: Adjacency) -> Limits:  # noqa: ARG002 (the same for both)
        """What the distance is made of for that many records."""
        return Limits(1, records - self.off - 1, self.off, 1)

    @property
    def text(self) -> str:
        """What is aimed at, in words."""
        return _off_the_end("highest", "maximum", self.off)


@dataclass(frozen=True, slots=True)
class Lowest:
    """The minimum, aimed at a public number of ranks above it."""

    off: int

    def __post_init__(self) -> None:
        check.at_least("off", self.off, 0)

    def limits(self, records: int, adjacency: Adjacency) -> Limits:  # noqa: ARG002 (the same for both)
        """What the distance is made of for that many records."""
        return Limits(1, self.off, records - self.off - 1, 1)

    @property
    def text(self) -> str:
        """What is aimed at, in words."""
        return _off_the_end("lowest", "minimum", self.off)


Aim = Quantile | Highest | Lowest


def finest_share(shares_below: Iterable[Fraction]) -> int:
    """The denominator that bounds those of all aims when these quantiles are chosen one inside the other.

    Given: the q of the quantiles, public; the middle one is chosen first, and the others inside the parts it leaves.
    Promise: every aim of that recursion has at most this denominator; refused before anything is drawn otherwise.
    Because: of a/D and c/D the one below is the a/c quantile of its part, the one above the (a − c)/(D − c) quantile.
    Tested: tests/mechanisms/test_quantile.py::test_shares_are_too_fine_together_before_anything_is_drawn
    """
    finest = math.lcm(*(share.denominator for share in shares_below))
    if finest > _DENOMINATOR_AT_MOST:
        raise ArgumentError(
            "q",
            found="quantiles that are too fine together",
            right=f"their denominators have a common multiple of at most {_DENOMINATOR_AT_MOST}",
            step="give round shares such as 0.25 and 0.999",
        )
    return finest


def ranks_off_the_end(epsilon: Fraction, cells: int) -> int:
    """How many ranks off the end a maximum aims by default, from public facts alone.

    All cells beyond the end together then weigh at most a twentieth of a single cell that holds the rank.
    """
    return math.ceil(Fraction(2 * math.log(_MISS * cells)) / check.positive("epsilon", epsilon))


def _off_the_end(end: str, name: str, off: int) -> str:
    if off == 0:
        return f"the {name} itself, which the cells beyond it pull outwards"
    ranks = "1 rank" if off == 1 else f"{off} ranks"
    return f"the {name}, aimed at {ranks} off the end: rank {off + 1} counted from the {end} value"
