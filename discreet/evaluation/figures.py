"""Figures that explain: every curve is computed from the product's own laws, exactly or in closed form.

    outputs      what comes out for two neighbouring tables, and how far the second may lie from the first
    densities    Laplace densities of several places and scales
    losses       what each output gives away, for several scales
    linear       many linear queries: a curator's noise against everybody's own randomised response
    counting     one count: the error of the mechanisms that can release it

None of them looks at data or draws a number. What they do not promise: that the error of a query on real data is what a
curve says, since clamping and sampling err too.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet import check
from discreet.accounting import calibrate
from discreet.accounting.calibrate import Query
from discreet.draw import Area, Axis, Chart, Line, Rule
from discreet.guarantee import number_text
from discreet.mechanisms.continuous import laplace_density
from discreet.mechanisms.decay import Powers
from discreet.mechanisms.noise import LaplaceNoise
from discreet.mechanisms.quantile import count_law
from discreet.mechanisms.response import Response

__all__ = ["counting", "crossover", "densities", "linear", "losses", "outputs"]

_REACH = 10
_STEPS_A_UNIT = 10
_BASES = tuple(Fraction(20 + step, 20) for step in (1, 2, 3, 4, 6, 8, 10, 13, 16, 20, 25, 30, 40, 50, 60, 80, 100, 125))


def outputs(*, epsilon: check.Number = 0.5, count: int = 50) -> Chart:
    """The chances of every output for a count and for the count with one person more."""
    noise = LaplaceNoise.for_guarantee(sensitivity=1, epsilon=epsilon)
    places = tuple(range(count - _REACH, count + _REACH + 2))
    here, there = (tuple(float(noise.chance(place - true)[0]) for place in places) for true in (count, count + 1))
    factor = math.exp(epsilon)
    return Chart(
        title=f"What comes out for two neighbouring tables, ε = {number_text(check.exact('epsilon', epsilon))}",
        x=Axis("released count", domain=(count - _REACH, count + 1 + _REACH)),
        y=Axis("chance"),
        marks=(
            Area(
                places,
                tuple(chance / factor for chance in here),
                tuple(chance * factor for chance in here),
                label=f"within a factor of e^ε of the chance for {count}",
            ),
            Line(places, here, label=f"true count {count}"),
            Line(places, there, label=f"true count {count + 1}"),
        ),
        caption="One person more moves the curve, and leaves it within a factor of e^ε everywhere.",
        family="guarantee",
    )


def densities(*laws: tuple[float, float]) -> Chart:
    """The Laplace densities of these pairs of a place and a scale."""
    end = _REACH * _STEPS_A_UNIT
    places = tuple(step / _STEPS_A_UNIT for step in range(-end, end + 1))
    several = len({place for place, _ in laws}) > 1
    return Chart(
        title="Laplace densities",
        x=Axis("noise" if not several else "value"),
        y=Axis("density"),
        marks=tuple(
            Line(
                places,
                tuple(laplace_density(x, location=place, scale=scale) for x in places),
                label=f"μ = {place:g}, b = {scale:g}" if several else f"b = {scale:g}",
            )
            for place, scale in laws
        ),
        caption="The larger the scale b, the flatter the density: its peak is 1/(2b), and it halves every 0.69·b.",
    )


def losses(*scales: Fraction | int, count: int = 50) -> Chart:
    """The privacy loss of each output: the logarithm of how much likelier the count with one person more makes it."""
    low, high = count - _REACH // 2, count + 1 + _REACH // 2
    places = tuple(Fraction(step, _STEPS_A_UNIT) for step in range(low * _STEPS_A_UNIT, high * _STEPS_A_UNIT + 1))
    return Chart(
        title=f"What each output gives away: {count} against {count + 1}",
        x=Axis("released number", domain=(low, high)),
        y=Axis("privacy loss"),
        marks=tuple(
            Line(
                places,
                tuple((abs(y - count) - abs(y - count - 1)) / scale for y in places),
                label=f"b = {number_text(Fraction(scale))}",
            )
            for scale in scales
        ),
        caption="Beyond both counts the loss stays at 1/b in either direction; 1/b is the ε of a count.",
        family="guarantee",
    )


def crossover(people: int, *, epsilon: check.Number = 1, beta: check.Number = 0.05) -> int:
    """The least number of linear queries from which randomised response has the smaller error bound.

    The curator's bound grows faster than k, that of randomised response slower, so they cross once.
    """
    low, high = 0, 1
    while not _local_is_better(high, people, epsilon, beta):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _local_is_better(middle, people, epsilon, beta) else (middle, high)
    return high


def linear(people: int, *, epsilon: check.Number = 1, beta: check.Number = 0.05) -> Chart:
    """The error bounds of k averages of a yes-or-no answer, over a public number of people."""
    crossing = crossover(people, epsilon=epsilon, beta=beta)
    most = max(1000, 2 * crossing)
    queries = tuple(sorted({round(most ** (step / 60)) for step in range(61)} | {crossing}))
    return Chart(
        title=f"Many linear queries on {people:,} people, ε = {number_text(check.exact('epsilon', epsilon))}",
        x=Axis("queries", scale="log", format="count"),
        y=Axis("error of the worst answer", scale="log"),
        marks=(
            Line(queries, tuple(_central(k, people, epsilon, beta) for k in queries), label="curator, Laplace"),
            Line(queries, tuple(_local(k, people, epsilon, beta) for k in queries), label="randomised response"),
            Rule(crossing, axis="x", label=f"{crossing} queries"),
        ),
        caption=(
            "For few queries a trusted curator errs far less. Its noise grows with the number of queries; a report "
            "that was randomised once answers them all. Bounds that hold for all answers together with probability "
            f"{number_text(1 - check.exact('beta', beta))}."
        ),
        family="guarantee",
    )


def counting(count: int = 30, *, people: int = 100) -> Chart:
    """The root mean squared error of one count, from the exact laws, for ε = 2 ln(base) of fractions."""
    epsilons = tuple(2 * math.log(base) for base in _BASES)
    decays = tuple(Powers(base**2) for base in _BASES)
    noise = [LaplaceNoise.for_guarantee(sensitivity=1, epsilon=decay) for decay in decays]
    chosen = [count_law(count, people, epsilon=decay) for decay in decays]
    coins = [Response(decay=decay) for decay in decays]
    share = Fraction(count, people)
    return Chart(
        title=f"One count, {count} of {people}",
        x=Axis("ε", scale="log"),
        y=Axis("root mean squared error", scale="log"),
        marks=(
            Line(
                epsilons,
                tuple(people * math.sqrt(coin.variance(share, people)) for coin in coins),
                label="randomised response",
            ),
            Line(
                epsilons,
                tuple(math.sqrt(sum(chance * (z - count) ** 2 for z, chance in law.items())) for law in chosen),
                label="exponential mechanism",
            ),
            Line(epsilons, tuple(one.standard_deviation for one in noise), label="geometric noise"),
        ),
        caption=(
            f"Geometric noise on the count errs least. A choice among all counts from 0 to {people} errs more; answers "
            "that everybody randomised on their own err most, and need no curator to be trusted."
        ),
        family="guarantee",
    )


def _central(queries: int, people: int, epsilon: check.Number, beta: check.Number) -> float:
    query = Query(move=Fraction(queries), answers=queries, beta=check.exact("beta", beta))
    return float(calibrate.laplace(query, epsilon).width / people)


def _local(queries: int, people: int, epsilon: check.Number, beta: check.Number) -> float:
    return Response.of(check.exact("epsilon", epsilon)).error_bound(people, float(beta), queries=queries)


def _local_is_better(queries: int, people: int, epsilon: check.Number, beta: check.Number) -> bool:
    return _local(queries, people, epsilon, beta) < _central(queries, people, epsilon, beta)
