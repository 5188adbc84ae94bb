"""Tuning: how utility and risk move together as masks are widened, and which mask gives what is asked for.

1. A maker turns a noise (in standard deviations of the column) and a number of copies into copies. Yardsticks turn
   copies into one number each: a risk, and a utility or a loss.
2. `trace` measures both over a range of noises, for few and for many copies, and for methods that have nothing to
   tune. What stays flat is the method, what falls or rises is the mask.
3. `risk_below` finds the least noise with a risk of at most r, `utility_above` the most noise with a utility of at
   least o, by halving the range on a logarithmic scale. The figures returned were measured on the copies made at the
   end.

What is measured swings from copies to copies: `repeats` takes means. A figure found by search is the best of several
tries and so a little flattering: measure the copies you publish, once, afterwards. What it does not promise: that
risk falls with every step, or anything about risks the yardstick does not see.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from discreet.check import at_least, some
from discreet.draw.chart import Axis, Chart, Line, Panels
from discreet.draw.grid import Grid, GridColumn
from discreet.errors import ArgumentError, CheckFailedError
from discreet.synthesis.imputation.copies import Copies

__all__ = ["Figure", "Flat", "Frontier", "Maker", "Solution", "Yardstick", "risk_below", "trace", "utility_above"]

Maker: TypeAlias = Callable[[float, int], Copies]
Yardstick: TypeAlias = Callable[[Copies], float]
Flat: TypeAlias = Callable[[int], Copies]
_MASKED = "masks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Utility and risk of one method at one noise (None: nothing to tune) with a number of copies."""

    method: str
    noise: float | None
    copies: int
    utility: float
    risk: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """All figures, with what the two yardsticks are called."""

    figures: tuple[Figure, ...]
    utility: str
    risk: str

    @property
    def noises(self) -> tuple[float, ...]:
        """The noises, from the widest mask to the narrowest: what is let through grows."""
        return tuple(sorted({one.noise for one in self.figures if one.noise is not None}, reverse=True))

    def grid(self) -> Grid:
        """The figures as a table."""
        columns = (
            GridColumn("method"),
            GridColumn("noise", "number"),
            GridColumn("copies", "count"),
            GridColumn(self.utility, "number"),
            GridColumn(self.risk, "number"),
        )
        rows = tuple((one.method, one.noise, one.copies, one.utility, one.risk) for one in self.figures)
        return Grid("Utility and risk", columns, rows)

    def panels(self, which: str) -> Panels:
        """`utility` or `risk` against what masks let through, a panel for each number of copies, a line a method."""
        if which not in ("utility", "risk"):
            raise ArgumentError("which", found=f"{which!r}", right="utility or risk", step="name one of them")
        title = self.utility if which == "utility" else self.risk
        let_through = tuple(1 / noise for noise in self.noises)
        charts = []
        for copies in sorted({one.copies for one in self.figures}):
            here = [one for one in self.figures if one.copies == copies]
            lines = []
            for method in dict.fromkeys(one.method for one in here):
                found = {one.noise: getattr(one, which) for one in here if one.method == method}
                values = [found.get(noise, found.get(None)) for noise in self.noises]
                lines.append(Line(let_through, tuple(values), method))
            charts.append(
                Chart(
                    f"{copies} copies",
                    Axis("let through: 1 / noise", scale="log"),
                    Axis(title),
                    tuple(lines),
                    f"{title} for {copies} copies, from wide masks on the left to narrow ones on the right.",
                    family="measured risk",
                )
            )
        return Panels(
            f"{title} by what masks let through",
            tuple(charts),
            caption="Methods without masks have nothing to tune: their lines are flat.",
        )

    def chart(self) -> Chart:
        """Utility against risk, a line for each number of copies along the noises, methods without masks as points."""
        lines = []
        for copies in sorted({one.copies for one in self.figures}):
            mine = sorted(
                (one for one in self.figures if one.copies == copies and one.noise is not None),
                key=lambda one: -(one.noise or 0),
            )
            lines.append(Line(tuple(f.risk for f in mine), tuple(f.utility for f in mine), f"{copies} copies"))
        for one in self.figures:
            if one.noise is None:
                lines.append(Line((one.risk,), (one.utility,), f"{one.method}, {one.copies} copies"))
        return Chart(
            f"{self.utility} against {self.risk}",
            Axis(self.risk),
            Axis(self.utility),
            tuple(lines),
            "Each line runs from wide masks to narrow ones. Measured on copies: others differ a little.",
            family="measured risk",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The noise that was found, with the copies made by it and what they measured."""

    noise: float
    measured: float
    copies: Copies
    tries: int


def trace(
    maker: Maker,
    noises: Sequence[float],
    *,
    utility: tuple[str, Yardstick],
    risk: tuple[str, Yardstick],
    copies: Sequence[int] = (3, 20),
    flat: Mapping[str, Flat] | None = None,
    repeats: int = 1,
) -> Frontier:
    """Measure utility and risk, each a name and a yardstick, for every noise and number of copies."""
    for noise in some("noises", tuple(noises), step="give some noises, such as 0.1, 0.3 and 1"):
        _require_noise(noise)
    at_least("repeats", repeats, 1)
    figures = []
    for count in some("copies", tuple(copies), step="give numbers of copies, such as 3 and 20"):
        for noise in sorted(noises, reverse=True):
            made = [maker(noise, count) for _ in range(repeats)]
            figures.append(_figure(_MASKED, noise, count, made, utility[1], risk[1]))
        for method, make in (flat or {}).items():
            made = [make(count) for _ in range(repeats)]
            figures.append(_figure(method, None, count, made, utility[1], risk[1]))
    return Frontier(figures=tuple(figures), utility=utility[0], risk=risk[0])


def risk_below(
    maker: Maker,
    risk: Yardstick,
    limit: float,
    *,
    copies: int,
    between: tuple[float, float] = (0.01, 10),
    steps: int = 8,
) -> Solution:
    """The least noise found whose copies have at most this risk."""
    return _search(maker, lambda made: risk(made) <= limit, risk, copies, between, steps, rising=False)


def utility_above(
    maker: Maker,
    utility: Yardstick,
    limit: float,
    *,
    copies: int,
    between: tuple[float, float] = (0.01, 10),
    steps: int = 8,
) -> Solution:
    """The most noise found whose copies have at least this utility."""
    return _search(maker, lambda made: utility(made) >= limit, utility, copies, between, steps, rising=True)


def _search(
    maker: Maker,
    holds: Callable[[Copies], bool],
    yardstick: Yardstick,
    copies: int,
    between: tuple[float, float],
    steps: int,
    *,
    rising: bool,
) -> Solution:
    """Halve the range between a noise that holds and one that does not; `rising` looks for the largest that holds."""
    for noise in between:
        _require_noise(noise)
    good, bad = (min(between), max(between)) if rising else (max(between), min(between))
    best = maker(good, copies)
    if not holds(best):
        raise CheckFailedError(
            "tuning",
            found="a limit that masks do not reach anywhere in the range",
            right="the safe end of the range keeps it" if not rising else "the useful end of the range keeps it",
            step="widen the range, loosen the limit, or perturb other columns",
        )
    tries = 1
    far = maker(bad, copies)
    if holds(far):
        return Solution(noise=bad, measured=yardstick(far), copies=far, tries=tries + 1)
    for _ in range(at_least("steps", steps, 1)):
        middle = math.sqrt(good * bad)
        made = maker(middle, copies)
        tries += 1
        if holds(made):
            good, best = middle, made
        else:
            bad = middle
    return Solution(noise=good, measured=yardstick(best), copies=best, tries=tries + 1)


def _figure(
    method: str, noise: float | None, count: int, made: Sequence[Copies], utility: Yardstick, risk: Yardstick
) -> Figure:
    return Figure(
        method=method,
        noise=noise,
        copies=count,
        utility=math.fsum(utility(one) for one in made) / len(made),
        risk=math.fsum(risk(one) for one in made) / len(made),
    )


def _require_noise(noise: float) -> None:
    if not (math.isfinite(noise) and noise > 0):
        raise ArgumentError("noise", found=f"{noise}", right="a finite number above 0", step="give 0.1, 0.3 or 1")
