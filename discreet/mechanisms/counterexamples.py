"""Designs that look private and are not, as exact laws: the verifier must catch each of them.

| design | why it fails |
|---|---|
| card: black says yes, red tells the truth | a red "no" rules the truth "yes" out |
| everything with probability δ | (0, δ) holds, and the loss is infinite when it happens |
| noise scaled to the local sensitivity | the scale itself tells; next to a table without noise δ tends to 1 |
| noise scaled to a bound read off the data | the same, for a bound |
| a mean with noise scaled to the private n | n differs between neighbours |
| a histogram's Δ = 1 under replace-one | a replaced record moves two cells |
| propose-test-release with ln(2/δ)/(2ε), or charged once | the test passes too often; the release is paid, too |
| a sum with noise 1/ε, or scaled to one person's value | another person owes more |
| Gaussian noise on integers with the σ of the continuous law | on integers that σ gives a larger δ |
| sparse vector in four published variants | see each law |

Reference: Lyu, Su and Li 2017 for the sparse vector; the others are worked examples of teaching texts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from itertools import count

from discreet.guarantee import Adjacency
from discreet.mechanisms import neighbours
from discreet.mechanisms.certificate import Claim, Entry, Law, odds_below
from discreet.mechanisms.channel import CARD
from discreet.mechanisms.continuous import analytic_gaussian_sigma
from discreet.mechanisms.decay import Decay, Powers, decay_of
from discreet.mechanisms.neighbours import Pair, Table
from discreet.mechanisms.noise import GaussianNoise, LaplaceNoise, enclosed_law
from discreet.mechanisms.sensitivity import Mean, Median
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.mechanisms.tallies import Tally
from discreet.mechanisms.testing import Proposal, noisy_law

__all__ = [
    "DEBTS",
    "DEBT_CAP",
    "ENTRIES",
    "PrintedProposal",
    "UncountedVector",
    "everything_with",
    "locally_noisy_median",
    "locally_noisy_sum",
    "mean_for_private_size",
    "noisy_debts",
    "noisy_sum_for_the_largest",
    "vector_that_tells_its_noise",
    "vector_without_answer_noise",
]

Chances = dict[int, Fraction]
ONE = Fraction(1)
ADD, REPLACE, LOCAL = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE, "any two truths"
DEBTS = (0, 0, 0, 28)
DEBT_CAP = 100


def everything_with(delta: Fraction, records: Table) -> dict[Table | None, Fraction]:
    """The whole table with probability δ, nothing otherwise."""
    return {records: delta, None: 1 - delta}


def locally_noisy_median(records: Table, high: int, decay: Decay) -> Chances:
    """The median plus noise of scale (local sensitivity)/ε; shown far beyond the bounds, where scales differ."""
    median = Median(0, high)
    return _scaled(int(median.value(records)), int(median.here(records)), decay, -5 * high, 6 * high)


def locally_noisy_sum(records: Table, high: int, decay: Decay) -> Chances:
    """n times the mean plus noise of scale n·(local sensitivity)/ε, for records between ±high and public n."""
    mean, size = Mean(-high, high), len(records)
    return _scaled(int(size * mean.value(records)), int(size * mean.here(records)), decay, -9 * high, 9 * high)


def noisy_sum_for_the_largest(records: Table, decay: Decay) -> Chances:
    """A sum with noise of scale 2·max|x|/ε: the bound is read off the data."""
    return _scaled(sum(records), 2 * max(abs(record) for record in records), decay, -20, 20)


def mean_for_private_size(records: Table, high: int, decay: Decay) -> Chances:
    """A mean, rounded down, with noise of scale high/(nε) and n from the data; 0 for no records."""
    size = max(1, len(records))
    return noisy_law(sum(records) // size, LaplaceNoise(decay.scaled(Fraction(size, high))), -4 * high, 5 * high)


class PrintedProposal(Proposal):
    """Propose-test-release with the threshold ln(2/δ)/(2ε) of some teaching texts."""

    __slots__ = ()

    @property
    def threshold(self) -> int:
        """The least T with e^(−2εT) ≤ δ/2."""
        return next(steps for steps in count(1) if self.test.bounds(2 * steps, 40)[1] <= self.delta / 2)


def noisy_debts(debts: Table, scale: int, decay: Decay) -> Chances:
    """A sum of debts, in units of 100 000 euros, with noise of that scale/ε."""
    return noisy_law(sum(debts), LaplaceNoise.for_guarantee(sensitivity=scale, epsilon=decay), 0, 4 * DEBT_CAP)


def _scaled(centre: int, scale: int, decay: Decay, low: int, high: int) -> Chances:
    if scale == 0:
        return {value: ONE if value == centre else Fraction(0) for value in range(low, high + 1)}
    return noisy_law(centre, LaplaceNoise.for_guarantee(sensitivity=scale, epsilon=decay), low, high)


class UncountedVector(SparseVector):
    """A sparse vector whose answers' noise is scaled neither by the number of positives nor by two.

    With share 1/4 and a stop after c positives this is Lee and Clifton's; with share 1/2 and no stop, Chen and others'.
    """

    __slots__ = ()

    def decays(self) -> tuple[Decay, Decay]:
        """What one step of noise weighs: on the threshold, and on an answer."""
        whole = decay_of(self.epsilon)
        return whole.scaled(self.threshold_share), whole.scaled(1 - self.threshold_share)


def vector_without_answer_noise(answers: Table, threshold: int, decay: Decay) -> dict[tuple[bool, ...], Fraction]:
    """Stoddard and others': noise on the threshold alone, and no stop."""
    chances: dict[tuple[bool, ...], Fraction] = {}
    for level, chance in noisy_law(threshold, LaplaceNoise(decay), min(answers), max(answers) + 1).items():
        replies = tuple(answer >= level for answer in answers)
        chances[replies] = chances.get(replies, Fraction(0)) + chance
    return chances


def vector_that_tells_its_noise(
    answers: Table, threshold: int, decays: tuple[Powers, Powers], low: int, high: int
) -> dict[int | None, Fraction]:
    """Roth's: negatives, then a positive told with the very noise it was compared with.

    The event is told apart only when the last answer alone is positive and its noisy value lies in [low, high].
    """
    first, second = (decay.weight(1) for decay in decays)
    *negatives, last = answers

    def chance(level: int) -> Fraction:
        """P(the noisy threshold is `level`, and all but the last answer stay below it)."""
        found = (1 - first) / (1 + first) * first ** abs(level - threshold)
        for answer in negatives:
            found *= noisy_law(answer, LaplaceNoise(decays[1]), level - 1, level)[level - 1]
        return found

    told: dict[int | None, Fraction] = {}
    for value in range(low, high + 1):
        # From here down, each step weighs one step of the threshold's noise and one of each negative's.
        foot = min(value, threshold, *negatives)
        below = chance(foot) / (1 - first * second ** len(negatives))
        reached = below + sum((chance(level) for level in range(foot + 1, value + 1)), Fraction(0))
        told[value] = (1 - second) / (1 + second) * second ** abs(value - last) * reached
    told[None] = 1 - sum(told.values(), Fraction(0))
    return told


def _leaky(
    name: str,
    relation: str,
    domain: str,
    odds: Fraction | int,
    law: Callable[[Table], Law],
    pairs: Callable[[], Iterable[Pair]],
    *,
    delta: Fraction = Fraction(0),
    also_at: tuple[Fraction | int, ...] = (),
    must_fail: bool = True,
) -> Entry:
    claim = Claim(
        name=name,
        mechanism=__name__,
        relation=relation,
        domain=domain,
        odds=Fraction(odds),
        delta=delta,
        must_fail=must_fail,
    )
    return Entry(claim=claim, law=law, neighbours=pairs, also_at=also_at)


def _without_one(table: Table) -> list[Pair]:
    """The table and each one that lacks a record; both orders."""
    rests = [table[:at] + table[at + 1 :] for at in range(len(table))]
    return [pair for rest in rests for pair in ((table, rest), (rest, table))]


_FOUR = Powers(Fraction(4))
_FINE = 10
_NARROW = Powers(Fraction(_FINE + 1, _FINE) ** _FINE)
_ODDS_SHOWN = (1, 2, 100)
_MIDDLES = partial(neighbours.replaced, (0, 1, 9), (5,))
_QUESTIONS = partial(neighbours.moved_scores, 3, 3)
_UNCOUNTED = UncountedVector(
    threshold=1, sensitivity=1, epsilon=Powers(Fraction(256)), positives=2, threshold_share=Fraction(1, 4)
)
_ENDLESS = UncountedVector(threshold=1, sensitivity=1, epsilon=_FOUR, positives=3)
# σ = 1.5438…, to a thousandth and up.
_CONTINUOUS = GaussianNoise(
    Fraction(math.ceil(1000 * analytic_gaussian_sigma(sensitivity=1, epsilon=3, delta=1e-6)), 1000) ** 2
)
_ANSWERS = "three answers of 0 to 2, threshold 1"
_MOVED = "each answer moves by at most 1"


def _proposed(kind: type[Proposal], odds: int, delta: Fraction) -> Entry:
    asked = kind(statistic=Median(0, 9), bound=1, test=_FOUR, release=_FOUR, delta=delta)
    fault = "charged-once" if kind is Proposal else "printed-threshold"
    return _leaky(
        f"propose-test-release-{fault}-{float(delta):.0e}".replace("e-0", "e-"),
        REPLACE,
        f"median of 5 records of 0, 1, 9; T = {asked.threshold}",
        odds,
        asked.law,
        _MIDDLES,
        delta=delta,
        also_at=(4,),
    )


ENTRIES: tuple[Entry, ...] = (
    *(_proposed(PrintedProposal, 16, Fraction(1, 10**exponent)) for exponent in (3, 6)),
    *(_proposed(Proposal, 4, Fraction(1, 10**exponent)) for exponent in (3, 6)),
    _leaky(
        "card",
        LOCAL,
        "2 answers",
        3,
        lambda truth: dict(zip(CARD.labels, CARD.rows[truth[0]], strict=True)),
        partial(neighbours.any_two, 2),
        also_at=_ODDS_SHOWN,
    ),
    _leaky(
        "everything-with-1/100",
        REPLACE,
        "2 records of 0, 1, 2",
        1,
        partial(everything_with, Fraction(1, 100)),
        partial(neighbours.replaced, (0, 1, 2), (2,)),
        delta=Fraction(1, 100),
        also_at=(2, 3, 100),
        # It keeps its promise to the letter: what it shows is how little that is.
        must_fail=False,
    ),
    _leaky(
        "median-with-local-noise",
        REPLACE,
        f"3 records of 0, {_FINE}",
        _NARROW.base,
        partial(locally_noisy_median, high=_FINE, decay=_NARROW),
        partial(neighbours.replaced, (0, _FINE), (3,)),
    ),
    _leaky(
        "mean-with-local-noise",
        REPLACE,
        "2 records of −1, 0, 1",
        4,
        partial(locally_noisy_sum, high=1, decay=_FOUR),
        partial(neighbours.replaced, (-1, 0, 1), (2,)),
    ),
    _leaky(
        "mean-with-bound-read-off-the-data",
        REPLACE,
        "2 records of 0, 1, 2",
        16,
        partial(noisy_sum_for_the_largest, decay=Powers(Fraction(16))),
        partial(neighbours.replaced, (0, 1, 2), (2,)),
    ),
    _leaky(
        "mean-scaled-to-private-n",
        ADD,
        "up to 2 records of 0, 2",
        4,
        partial(mean_for_private_size, high=2, decay=_FOUR),
        partial(neighbours.added_or_removed, (0, 2), 2),
    ),
    _leaky(
        "histogram-of-one-cell-a-person",
        REPLACE,
        "2 records of 0, 1, 2",
        4,
        # Δ = 1 is right under add-remove only: here a record leaves one cell and enters another.
        partial(Tally.histogram(0, 2).law, epsilon=_FOUR, adjacency=ADD, largest=2),
        partial(neighbours.replaced, (0, 1, 2), (2,)),
    ),
    _leaky(
        "debts-with-noise-1/ε",
        ADD,
        "debts 28, 0, 0, 0 and each without one",
        2,
        partial(noisy_debts, scale=1, decay=Powers(Fraction(2))),
        partial(_without_one, DEBTS),
    ),
    _leaky(
        "debts-scaled-to-the-largest",
        ADD,
        "debts 100, 0, 0, 0 and each without one",
        2**28,
        partial(noisy_debts, scale=28, decay=Powers(Fraction(2**28))),
        partial(_without_one, (0, 0, 0, DEBT_CAP)),
    ),
    _leaky(
        "gaussian-with-the-continuous-scale",
        ADD,
        "a count of 0 to 2; chances rounded down to 2^−100, the rest told",
        odds_below(Fraction(3)),
        lambda counts: enclosed_law(counts[0], _CONTINUOUS, reach=12),
        partial(neighbours.moved_scores, 2, 1, one_way=True),
        delta=Fraction(1, 10**6),
    ),
    _leaky(
        "sparse-vector-answers-without-noise",
        _MOVED,
        _ANSWERS,
        4,
        partial(vector_without_answer_noise, threshold=1, decay=_FOUR),
        _QUESTIONS,
    ),
    _leaky(
        "sparse-vector-noise-not-scaled-to-positives",
        _MOVED,
        _ANSWERS,
        256,
        _UNCOUNTED.law,
        _QUESTIONS,
    ),
    _leaky(
        "sparse-vector-without-a-stop",
        _MOVED,
        _ANSWERS,
        4,
        _ENDLESS.law,
        _QUESTIONS,
    ),
    _leaky(
        "sparse-vector-that-tells-its-noise",
        _MOVED,
        "four answers of 0 or 1, threshold 1",
        4,
        partial(
            vector_that_tells_its_noise,
            threshold=1,
            decays=(Powers(Fraction(2)), Powers(Fraction(2))),
            low=-3,
            high=3,
        ),
        partial(neighbours.moved_scores, 2, 4),
    ),
)
