"""What is certified: one entry for each mechanism and relation between neighbours, then the designs that must fail.

The laws are those of the mechanism modules, which share the code that draws. Bases are perfect powers, so that every
weight is a fraction. Domains hold sizes 0 and 1, ties, values beyond the bounds, and keys that appear and vanish.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise

import numpy as np

from discreet.guarantee import ZCDP, Adjacency
from discreet.mechanisms import counterexamples, exponential, neighbours, noisy_max, permute_and_flip, quantile
from discreet.mechanisms.aim import Aim, Highest, Lowest, Quantile
from discreet.mechanisms.certificate import Claim, Entry, Law, odds_below
from discreet.mechanisms.decay import Powers
from discreet.mechanisms.neighbours import Pair, Table
from discreet.mechanisms.noise import GaussianNoise, LaplaceNoise, enclosed_law
from discreet.mechanisms.ordered import Cells, Ordered
from discreet.mechanisms.partition import PartitionSelection, Reach, StabilityThreshold
from discreet.mechanisms.response import Response
from discreet.mechanisms.sensitivity import Maximum, Median
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.mechanisms.tallies import Tally, side_by_side
from discreet.mechanisms.testing import Proposal, noisy_law
from discreet.mechanisms.utility_score import Utility

__all__ = ["entries"]

ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
HALF = Fraction(1, 2)
GRID = Cells(0, 3)
BEYOND = (-1, 0, 1, 3, 5)


def entry(
    name: str,
    module: str,
    relation: str,
    domain: str,
    odds: Fraction | int,
    law: Callable[[Table], Law],
    pairs: Callable[[], Iterable[Pair]],
    *,
    delta: Fraction = Fraction(0),
    also_at: tuple[Fraction | int, ...] = (),
) -> Entry:
    """An entry for a promise of one of the mechanism modules."""
    claim = Claim(
        name=name,
        mechanism=f"discreet.mechanisms.{module}",
        relation=relation,
        domain=domain,
        odds=Fraction(odds),
        delta=delta,
    )
    return Entry(claim=claim, law=law, neighbours=pairs, also_at=also_at)


def choices() -> Iterator[Entry]:
    """One candidate out of three, by score."""
    methods = (
        ("exponential", exponential.law),
        ("permute_and_flip", permute_and_flip.law),
        ("noisy_max", noisy_max.law),
    )
    for module, law in methods:
        for one_way, odds in ((False, 4), (True, 2)):
            name = f"{module.replace('_', '-')}{'-monotone' if one_way else ''}"
            yield entry(
                name,
                module,
                "each score moves by at most 1" + (", all one way" if one_way else ""),
                "three candidates, scores 0 to 3",
                odds,
                partial(choice_law, law=law, base=odds, one_way=one_way),
                partial(neighbours.moved_scores, 4, 3, one_way=one_way),
            )

    widths = (2, 1, 3)
    yield entry(
        "exponential-on-a-grid",
        "exponential",
        "each score moves by at most 1",
        "six grid points in runs of 2, 1 and 3, scores 0 to 3",
        4,
        partial(choice_law, law=partial(grid_law, widths=widths), base=4, one_way=False),
        partial(neighbours.moved_scores, 4, len(widths)),
    )


def watches() -> Iterator[Entry]:
    """Sparse vectors over three questions."""
    for positives, monotone, base in ((1, False, 16), (2, False, 256), (2, True, 16)):
        vector = SparseVector(
            threshold=1, sensitivity=1, epsilon=Powers(Fraction(base)), positives=positives, monotone=monotone
        )
        yield entry(
            f"sparse-vector-{positives}{'-monotone' if monotone else ''}",
            "sparse_vector",
            "each answer moves by at most 1" + (", all one way" if monotone else ""),
            "three answers of 0 to 2, threshold 1",
            base,
            vector.law,
            partial(neighbours.moved_scores, 3, 3, one_way=monotone),
        )


def responses() -> Iterator[Entry]:
    """Randomised answers."""
    coin = Response.keeping(Fraction(3, 4))
    named = [("coin", coin), *((f"response-{k}", Response(decay=Powers(Fraction(3)), categories=k)) for k in (3, 4, 5))]
    for name, response in named:
        yield entry(
            name,
            "response",
            "any two truths",
            f"{response.categories} answers",
            3,
            partial(response_law, response=response),
            partial(neighbours.any_two, response.categories),
        )


def ranks() -> Iterator[Entry]:
    """Counts, medians, quantiles and ends."""
    for records in (1, 4):
        yield entry(
            f"count-of-{records}-replace-one",
            "quantile",
            REPLACE,
            f"every count among {records} records",
            4,
            partial(count_law, records=records),
            partial(steps_between, records),
        )
    aims: tuple[tuple[str, Aim, int], ...] = (
        ("median", Quantile(HALF), 0),
        ("median-tie-width-1", Quantile(HALF), 1),
        ("quartile", Quantile(Fraction(1, 4)), 0),
        ("maximum-1-off", Highest(1), 0),
        ("minimum-1-off", Lowest(1), 0),
    )
    for name, aim, width in aims:
        for adjacency in (REPLACE, ADD):
            base = 4 ** aim.limits(0, adjacency).sensitivity
            yield entry(
                f"{name}-{adjacency}",
                "quantile",
                adjacency,
                "up to 3 records of −1, 0, 1, 3, 5 on the grid 0 to 3",
                base,
                partial(rank_law, aim=aim, adjacency=adjacency, base=base, width=width),
                partial(either, adjacency, BEYOND, 3),
            )
    yield entry(
        "median-of-5-replace-one",
        "quantile",
        REPLACE,
        "5 records of 0 to 3",
        4,
        partial(rank_law, aim=Quantile(HALF), adjacency=REPLACE, base=4, width=0),
        partial(neighbours.replaced, range(4), (5,)),
    )
    for adjacency, base in ((ADD, 16), (REPLACE, 256)):
        yield entry(
            f"three-quartiles-{adjacency}",
            "quantile",
            adjacency,
            "up to 3 records of 0 to 2",
            base,
            partial(quartiles_law, adjacency=adjacency, base=base),
            partial(either, adjacency, (0, 1, 2), 3),
        )


def keys() -> Iterator[Entry]:
    """Keys that appear and vanish with one person."""
    delta = Fraction(1, 100)
    one = StabilityThreshold.laplace(Powers(Fraction(4)), delta)
    yield entry(
        "stability-threshold",
        "partition",
        ADD,
        "a key of 0 to 6 persons",
        4,
        lambda counts: one.law(counts[0], 6),
        partial(steps_between, 6),
        delta=delta,
    )
    two = StabilityThreshold.laplace(Powers(Fraction(16)), delta, reach=Reach(keys=2, rows=2))
    yield entry(
        "stability-threshold-two-keys",
        "partition",
        ADD,
        "two keys of 0 to 3 persons, both lit by one person",
        16,
        lambda counts: side_by_side([two.law(count, 6) for count in counts]),
        partial(neighbours.moved_scores, 4, 2, one_way=True),
        delta=delta,
    )
    moving = StabilityThreshold.laplace(Powers(Fraction(16)), delta, adjacency=REPLACE)
    yield entry(
        "stability-threshold-replace-one",
        "partition",
        REPLACE,
        "a person moves between two keys of 0 to 4",
        16,
        lambda counts: side_by_side([moving.law(count, 6) for count in counts]),
        partial(neighbours.moved_between, 4, 2),
        delta=delta,
    )
    selection = PartitionSelection.of(Powers(Fraction(4)), delta)
    yield entry(
        "partition-selection",
        "partition",
        ADD,
        "a key of 0 to 12 persons",
        4,
        lambda counts: selection.law(counts[0]),
        partial(steps_between, 12),
        delta=delta,
    )


def proposals() -> Iterator[Entry]:
    """Propose, test, release: the corrected threshold, charged twice."""
    for exponent in (3, 6):
        delta = Fraction(1, 10**exponent)
        asked = Proposal(
            statistic=Median(0, 9), bound=1, test=Powers(Fraction(4)), release=Powers(Fraction(4)), delta=delta
        )
        yield entry(
            f"propose-test-release-1e-{exponent}",
            "testing",
            REPLACE,
            f"median of 5 records of 0, 1, 9; T = {asked.threshold}",
            16,
            asked.law,
            partial(neighbours.replaced, (0, 1, 9), (5,)),
            delta=delta,
            also_at=(4,),
        )


def totals() -> Iterator[Entry]:
    """Counts, sums, histograms and vectors with two-sided geometric noise, each record clamped to the bounds."""
    tallies = (
        ("count", Tally.count(0, 1, of=1), (0, 1), 3, {ADD: 2, REPLACE: 2}),
        ("sum", Tally.sum(-1, 2), (-7, -1, 0, 2, 9), 3, {ADD: 4, REPLACE: 64}),
        ("sum-and-count", Tally.sum_and_count(0, 2), (0, 1, 2, 5), 2, {ADD: 8, REPLACE: 4}),
        ("histogram", Tally.histogram(0, 2), (0, 1, 2), 2, {ADD: 2, REPLACE: 4}),
    )
    for name, tally, domain, largest, bases in tallies:
        for adjacency, base in bases.items():
            yield entry(
                f"{name}-{adjacency}",
                "tallies",
                adjacency,
                f"up to {largest} records of {', '.join(map(str, domain))}, clamped to {tally.low} to {tally.high}",
                base,
                partial(tally.law, epsilon=Powers(Fraction(base)), adjacency=adjacency, largest=largest),
                partial(either, adjacency, domain, largest),
            )
    # Mean of n records, n public, |x| ≤ M: noise of scale 2M/(nε) on the mean is one of scale 2M/ε on the sum.
    bound, records = 2, 3
    yield entry(
        "mean-replace-one",
        "tallies",
        REPLACE,
        f"{records} records of −5 to 5, clamped to ±{bound}",
        2 ** (2 * bound),
        partial(mean_law, tally=Tally.sum(-bound, bound), base=2 ** (2 * bound), records=records),
        partial(neighbours.replaced, (-5, -2, 0, 1, 5), (records,)),
    )

    for statistic in (Median(-1, 1), Maximum(-1, 1)):
        name = type(statistic).__name__.lower()
        yield entry(
            f"{name}-with-global-noise",
            "sensitivity",
            REPLACE,
            "3 records of −1, 0, 1",
            4,
            partial(globally_noisy, statistic=statistic),
            partial(neighbours.replaced, (-1, 0, 1), (3,)),
        )


def globally_noisy(table: Table, *, statistic: Median | Maximum) -> Law:
    """A median or maximum with noise of scale (high − low)/ε."""
    width = int(statistic.everywhere(len(table)))
    noise = LaplaceNoise.for_guarantee(sensitivity=width, epsilon=Powers(Fraction(4)))
    return noisy_law(int(statistic.value(table)), noise, statistic.low, statistic.high)


def mean_law(table: Table, *, tally: Tally, base: int, records: int) -> Law:
    """The mean of a public number of records."""
    sums = tally.law(table, epsilon=Powers(Fraction(base)), adjacency=REPLACE, largest=records)
    return {Fraction(total, records): chance for (total,), chance in sums.items()}


def gaussians() -> Iterator[Entry]:
    """Counts with discrete Gaussian noise: one by the exact δ of its law, two at once by ρ."""
    epsilon, delta = Fraction(3), Fraction(1, 10**6)
    one = GaussianNoise.for_guarantee(sensitivity=1, epsilon=epsilon, delta=delta)
    yield entry(
        "gaussian",
        "noise",
        ADD,
        "a count of 0 to 3; chances rounded down to 2^−100, the rest told",
        odds_below(epsilon),
        partial(gaussian_law, noise=one, reach=12),
        partial(steps_between, 3),
        delta=delta,
    )
    rho = ZCDP(Fraction(1, 2))
    implied = rho.as_approx(Fraction(1, 1000))
    yield entry(
        "gaussian-two-counts",
        "noise",
        ADD,
        "two counts of 0 to 2, both moved by one person; ρ = 1/2, converted",
        odds_below(implied.epsilon),
        partial(gaussian_law, noise=GaussianNoise.for_rho(sensitivity=(1, 1), rho=rho.rho), reach=12),
        partial(neighbours.moved_scores, 2, 2, one_way=True),
        delta=implied.delta,
    )


def gaussian_law(counts: Table, *, noise: GaussianNoise, reach: int) -> Law:
    """Counts with Gaussian noise on each, enclosed."""
    return side_by_side([enclosed_law(count, noise, reach=reach) for count in counts])


def debts() -> Iterator[Entry]:
    """A sum whose noise is scaled to the largest debt there may be."""
    cap = counterexamples.DEBT_CAP
    yield entry(
        "debts-scaled-to-the-cap",
        "testing",
        ADD,
        "up to 3 debts of 0, 28, 100",
        2**cap,
        partial(counterexamples.noisy_debts, scale=cap, decay=Powers(Fraction(2**cap))),
        partial(neighbours.added_or_removed, (0, 28, cap), 3),
    )


def steps_between(highest: int) -> Iterator[Pair]:
    """Counts that differ by one."""
    for one, other in pairwise(range(highest + 1)):
        yield (one,), (other,)
        yield (other,), (one,)


def either(adjacency: Adjacency, domain: tuple[int, ...], largest: int) -> Iterator[Pair]:
    """All neighbours of tables of up to that many records."""
    if adjacency is ADD:
        yield from neighbours.added_or_removed(domain, largest)
    else:
        yield from neighbours.replaced(domain, range(largest + 1))


def choice_law(scores: Table, *, law: Callable[[Utility, Powers], Law], base: int, one_way: bool) -> Law:
    """One candidate by its score."""
    why = "the domain moves each score by at most 1"
    return law(Utility(scores=scores, sensitivity=Fraction(1), why=why, monotone=one_way), Powers(Fraction(base)))


def grid_law(runs: Utility, epsilon: Powers, *, widths: Sequence[int]) -> Law:
    """One grid point by the score of its run."""
    return exponential.law_runs(runs, widths, epsilon)


def response_law(truth: Table, *, response: Response) -> Law:
    """One person's report."""
    return response.law(truth[0])


def count_law(count: Table, *, records: int) -> Law:
    """A count among a public number of records."""
    return quantile.count_law(count[0], records, epsilon=Powers(Fraction(4)))


def rank_law(table: Table, *, aim: Aim, adjacency: Adjacency, base: int, width: int) -> Law:
    """A quantile of a table on the grid."""
    return quantile.quantile_law(
        ordered(table, GRID), aim, epsilon=Powers(Fraction(base)), adjacency=adjacency, tie_width=width
    )


def quartiles_law(table: Table, *, adjacency: Adjacency, base: int) -> Law:
    """Three quartiles of a table together."""
    shares = [Fraction(1, 4), HALF, Fraction(3, 4)]
    return quantile.quantiles_law(
        ordered(table, Cells(0, 2)), shares, epsilon=Powers(Fraction(base)), adjacency=adjacency
    )


def ordered(table: Table, cells: Cells) -> Ordered:
    """The table on a grid."""
    return Ordered.from_values(np.array(table, dtype=np.int64), cells)


def entries() -> tuple[Entry, ...]:
    """All of them, made anew from the code as it is."""
    makers = (responses, choices, watches, ranks, keys, proposals, totals, gaussians, debts)
    return (*(entry for maker in makers for entry in maker()), *counterexamples.ENTRIES)
