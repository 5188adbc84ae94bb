"""How much noise: from a guarantee to the error of an answer, from an error to what it costs, and how many records.

1. A query asks for d numbers at once. One unit moves them by Δ together: in the first norm for Laplace noise, in the
   second norm, squared, for Gaussian noise.
2. Laplace noise of scale b = Δ/ε on each number: with probability 1 − β all err by less than b·ln(d/β) + s/2, where s
   is the step of the public grid the noise is drawn on.
3. Gaussian noise with σ² = Δ²/(2ρ) on each: all err by less than σ·√(2 ln(2d/β)).
4. Solved for the scale these say what noise an error allows, and so what it costs. For a mean over a public number n of
   records the width falls with 1/n, which says how many records an error needs.

Why s/2: on a grid P(|N| ≥ x) ≤ 2a^x/(1 + a) with a = e^(−s/b), and 2√a ≤ 1 + a. The Gaussian bound is Chernoff's, which
the discrete law keeps (Canonne, Kamath and Steinke 2020). s = 0 is the continuous theorem of textbooks.

Results are exact fractions, rounded to the safe side: a width up, a scale that follows from a width down, a number
of records up. What it does not promise: that Δ is right; that the error of clamping is in the width, it is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from typing import Literal, TypeAlias

from discreet.accounting.events import Noise, price
from discreet.check import Number, at_least, exact, positive
from discreet.errors import ArgumentError
from discreet.guarantee import ZCDP, PureDP, number_text

__all__ = ["Calibration", "Query", "gaussian", "gaussian_for_width", "laplace", "laplace_for_width", "rho_for"]

Exact: TypeAlias = str | Number
_DIGITS, _MARGIN = 60, Fraction(1, 10**50)
_KEPT = 30
_HALVINGS = 50
_LEAST_RHO = Fraction(1, 10**60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Numbers asked for together, what one unit does to them, and how sure the error should be."""

    move: Fraction
    answers: int = 1
    beta: Fraction = Fraction(1, 20)
    step: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        at_least("answers", self.answers, 1)
        object.__setattr__(self, "move", positive("move", self.move))
        object.__setattr__(self, "beta", exact("beta", self.beta))
        object.__setattr__(self, "step", exact("step", self.step))
        if not 0 < self.beta <= Fraction(1, 2) or self.step < 0:
            raise ArgumentError(
                "query",
                found=f"beta {number_text(self.beta)}, step {number_text(self.step)}",
                right="beta lies in (0, 1/2], and a step is not below 0",
                step="give a beta such as 0.05",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Noise for a query. `scale` is b for Laplace noise and σ² for Gaussian noise, in the units of the answer."""

    query: Query
    law: Literal["laplace", "gaussian"]
    scale: Fraction

    @property
    def guarantee(self) -> PureDP | ZCDP:
        """What all answers together cost, in the currency of the law."""
        noise = Noise(law=self.law, move=self.query.move, scale=self.scale)
        return PureDP(price(noise, "pure").loss) if self.law == "laplace" else ZCDP(price(noise, "zcdp").loss)

    @property
    def width(self) -> Fraction:
        """With probability 1 − β no answer errs by so much; rounded up.

        Given: noise of this law and scale on each answer, drawn on a grid of the query's step.
        Promise: P(some |error| ≥ width) ≤ β.
        Because: of the bounds above, and a union over the answers.
        Tested: tests/accounting/test_calibrate.py::test_the_width_holds_for_the_law_that_is_drawn
        """
        if self.law == "laplace":
            return _rounded(self.scale * _log_odds(self.query)[1] + self.query.step / 2, ROUND_CEILING)
        return _root_up(2 * self.scale * _log_odds(self.query, sides=2)[1])

    def records(self, width: Exact) -> int:
        """How many records a mean needs so that the width of this sum, divided by their public number, is that small.

        Given: a query for sums, and its noise.
        Promise: with that many records or more each mean errs by less than `width`, with probability 1 − β.
        Because: noise on a sum of n records is n times the noise on their mean.
        Tested: tests/accounting/test_calibrate.py::test_linear_queries_by_laplace_in_four_steps
        """
        return math.ceil(self.width / positive("width", width))

    def sentence(self) -> str:
        """The calibration in one line."""
        query = self.query
        size = f"{'scale' if self.law == 'laplace' else 'σ² ='} {number_text(self.scale)}"
        what = "the answer errs" if query.answers == 1 else f"none of {query.answers} answers errs"
        limit = f"by less than {number_text(self.width)}" if query.answers == 1 else f"by {number_text(self.width)}"
        more = "" if query.answers == 1 else " or more"
        return (
            f"{self.law.capitalize()} noise of {size} costs {self.guarantee}; "
            f"with probability {number_text(1 - query.beta)} {what} {limit}{more}."
        )


def laplace(query: Query, epsilon: Exact) -> Calibration:
    """The noise that gives all answers together ε: b = Δ/ε, exactly."""
    return Calibration(query=query, law="laplace", scale=query.move / positive("epsilon", epsilon))


def laplace_for_width(query: Query, width: Exact) -> Calibration:
    """The most noise whose width is no larger than that: b = (width − s/2)/ln(d/β), rounded down."""
    room = exact("width", width) - query.step / 2
    if room <= 0:
        raise ArgumentError(
            "width",
            found=number_text(exact("width", width)),
            right="noise on a grid errs by half a step at least",
            step="give a larger width, or a finer grid",
        )
    return Calibration(query=query, law="laplace", scale=_rounded(room / _log_odds(query)[1], ROUND_FLOOR))


def gaussian(query: Query, rho: Exact) -> Calibration:
    """The noise that gives all answers together ρ: σ² = Δ²/(2ρ), exactly."""
    return Calibration(query=query, law="gaussian", scale=query.move / (2 * positive("rho", rho)))


def gaussian_for_width(query: Query, width: Exact) -> Calibration:
    """The most noise whose width is no larger than that: σ² = width²/(2 ln(2d/β)), rounded down."""
    allowed = positive("width", width) ** 2 / (2 * _log_odds(query, sides=2)[1])
    return Calibration(query=query, law="gaussian", scale=_rounded(allowed, ROUND_FLOOR))


def rho_for(epsilon: Exact, delta: Exact) -> ZCDP:
    """A nearly largest ρ that implies (ε, δ), never one that does not.

    Given: ε > 0 and δ in (0, 1).
    Promise: every ρ-zCDP release is (ε, δ)-differentially private.
    Because: the ρ that is returned was converted at δ, rounded up, and found to be within ε.
    Tested: tests/accounting/test_calibrate.py::test_rho_is_the_largest_that_implies_epsilon_and_delta
    """
    limit = positive("epsilon", epsilon)

    def holds(rho: Fraction) -> bool:
        return ZCDP(rho).as_approx(delta).epsilon <= limit

    high = limit
    while holds(high):
        high *= 2
    low = high / 2
    while not holds(low):
        if low < _LEAST_RHO:
            raise ArgumentError(
                "epsilon",
                found=f"{number_text(limit)} at δ = {number_text(exact('delta', delta))}",
                right="a ρ is converted up to orders of 10^17, which reach no ε so small",
                step="give an epsilon of at least 1e-12",
            )
        low, high = low / 2, low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return ZCDP(_rounded(low, ROUND_FLOOR))


def _log_odds(query: Query, sides: int = 1) -> tuple[Fraction, Fraction]:
    """Fractions around ln(sides·d/β), which is at least ln 2."""
    odds = sides * query.answers / query.beta
    with localcontext(prec=_DIGITS):
        logarithm = Fraction((Decimal(odds.numerator) / Decimal(odds.denominator)).ln())
    return logarithm - _MARGIN, logarithm + _MARGIN


def _root_up(value: Fraction) -> Fraction:
    """√value, rounded up."""
    with localcontext(prec=_DIGITS):
        root = Fraction((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())
    return _rounded(root * (1 + _MARGIN), ROUND_CEILING)


def _rounded(value: Fraction, direction: str) -> Fraction:
    """The value to thirty significant digits."""
    with localcontext(prec=_KEPT, rounding=direction):
        return Fraction(Decimal(value.numerator) / Decimal(value.denominator))
