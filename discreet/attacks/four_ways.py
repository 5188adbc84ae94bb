"""Four ways: one small table, published four times in ways that are in use, and four times under differential privacy.

    way             what is published without                       what is published with noise
    linking         the records, without names                      a histogram of the known columns and the secret
    two releases    two tables in which k records look alike        two smaller histograms
    differencing    every count in a group of three people or more  every count with noise, until the budget is spent
    reconstruction  exact counts of random subsets of the people    the same counts with noise

The intruder and the secret are the same each time: a yes or no about each person, of whom some columns are known.
Success is the share of secrets guessed right, beside that of always guessing the commoner answer. The four releases
under differential privacy share one ε; neighbours differ in one record, and the columns' values are public.

Tested: test_a_small_table_is_broken_four_ways_and_not_under_differential_privacy, test_the_four_ways_share_one_epsilon.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.anonymize.criteria import Criteria
from discreet.anonymize.generalize import generalize
from discreet.anonymize.records import Records
from discreet.attacks.composition import compose_many
from discreet.attacks.condition import Condition, Value, select
from discreet.attacks.differencing import difference
from discreet.attacks.keepers import large_group_keeper, private_keeper
from discreet.attacks.linear import Answer, attack_counts, judge
from discreet.attacks.noise_curve import laplace_answer
from discreet.attacks.rate import RATE_COLUMNS, Rate, rates_chart
from discreet.check import Number, positive
from discreet.draw.chart import Chart
from discreet.draw.grid import Grid, GridColumn
from discreet.mechanisms.noise import LaplaceNoise, release
from discreet.randomness import Bits, keyed_generator

__all__ = ["FourWays", "Survey", "attack_four_ways"]

Flags: TypeAlias = npt.NDArray[np.bool_]
WAYS = "linking", "two releases", "differencing", "reconstruction"
_LEAST, _K = 3, 3
_DRAW = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A small table: the known columns with all values they could have, and who has the secret."""

    records: Mapping[str, Sequence[Value]]
    known: Mapping[str, Sequence[Value]]
    secret: Condition

    @property
    def truth(self) -> Flags:
        """Who has the secret."""
        return np.array([self.secret.holds(value) for value in self.records[self.secret.column]])

    @property
    def targets(self) -> list[dict[str, Value]]:
        """What is known of each person."""
        return [{name: self.records[name][at] for name in self.known} for at in range(len(self.truth))]


@dataclass(frozen=True, slots=True, kw_only=True)
class FourWays:
    """How often secrets are guessed right, way by way: as published, and under differential privacy."""

    epsilon: Fraction
    plain: dict[str, Rate]
    private: dict[str, Rate]

    @property
    def broken(self) -> tuple[str, ...]:
        """The ways in which the table is broken as published."""
        return tuple(name for name, rate in self.plain.items() if rate.beats_chance)

    @property
    def broken_with_noise(self) -> tuple[str, ...]:
        """The ways in which it is broken under differential privacy."""
        return tuple(name for name, rate in self.private.items() if rate.beats_chance)

    def sentences(self) -> tuple[str, ...]:
        """What came out, in words."""
        told = "; ".join(
            f"by {name} {rate.hits} of {rate.tries} (chance: {rate.baseline * rate.tries:.0f})"
            for name, rate in self.plain.items()
        )
        noisy = "; ".join(f"by {name} {rate.hits} of {rate.tries}" for name, rate in self.private.items())
        held = ", ".join(self.broken_with_noise) or "none"
        return (
            f"A table of {len_of(self.plain)} people is broken in {len(self.broken)} of 4 ways when it is published as "
            f"is usual. Secrets guessed right: {told}.",
            f"Published four times under differential privacy, with ε = {float(self.epsilon):g} in all: {noisy}. "
            f"Better than guessing: {held}.",
        )

    def charts(self) -> tuple[Chart, ...]:
        """Both rates of each way beside chance."""
        rates = {name: self.plain[name] for name in WAYS}
        rates |= {f"{name}, ε = {float(self.epsilon):g} in all": self.private[name] for name in WAYS}
        caption = "Secrets of a small table guessed right. Under differential privacy all four share one budget."
        return (rates_chart("One table, published in four ways", rates, caption),)

    def grids(self) -> tuple[Grid, ...]:
        """One row for each way, without noise and with it."""
        rows = tuple(
            (name, how, *rate.cells)
            for how, rates in (("no", self.plain), ("yes", self.private))
            for name, rate in rates.items()
        )
        columns = (GridColumn("way"), GridColumn("differential privacy"), *RATE_COLUMNS)
        return (Grid("Secrets guessed right", columns, rows),)

    def as_json(self) -> dict[str, object]:
        """Everything, as plain values."""
        return {
            "attack": "four ways",
            "epsilon": str(self.epsilon),
            "plain": {name: rate.as_json() for name, rate in self.plain.items()},
            "private": {name: rate.as_json() for name, rate in self.private.items()},
        }


def len_of(rates: Mapping[str, Rate]) -> int:
    """How many people are guessed about at most."""
    return max(rate.tries for rate in rates.values())


def attack_four_ways(survey: Survey, *, epsilon: Number | str, bits: Bits, teaching: bool = False) -> FourWays:
    """Publish and attack the table four times without noise and four times with it.

    Given: neighbours differ in one record; the values a column may have are public.
    Promise: the four noisy releases together cost ε.
    Because: each costs ε/4, by itself or as a sum of its parts.
    Tested: test_the_four_ways_share_one_epsilon
    """
    exact = Fraction(positive("epsilon", epsilon))
    share = exact / len(WAYS)
    plain = _linked(survey), _composed(survey), _differenced(survey, None), _reconstructed(survey, None)

    def histogram(names: Sequence[str], epsilon: Fraction) -> Callable[[Mapping[str, Value]], int]:
        return _noisy(survey, names, epsilon, bits, teaching)

    first, *others = survey.known
    private = (
        _judged(survey, [histogram([*survey.known], share)]),
        _judged(survey, [histogram([first], share / 2), histogram(others, share / 2)]),
        _differenced(survey, (share, bits, teaching)),
        _reconstructed(survey, (share, bits, teaching)),
    )
    return FourWays(
        epsilon=exact,
        plain=dict(zip(WAYS, plain, strict=True)),
        private=dict(zip(WAYS, private, strict=True)),
    )


Noise: TypeAlias = tuple[Fraction, Bits, bool]


def _rate(guesses: Sequence[bool], truth: Flags) -> Rate:
    commoner = max(float(truth.mean()), 1 - float(truth.mean()))
    return Rate(hits=int((np.array(guesses) == truth).sum()), tries=len(truth), baseline=commoner)


def _linked(survey: Survey) -> Rate:
    """The records without names: the commoner secret among those that agree on the known columns."""
    keys = [tuple(target.values()) for target in survey.targets]
    votes: Counter[tuple[Value, ...]] = Counter()
    for key, has in zip(keys, survey.truth, strict=True):
        votes[key] += 1 if has else -1
    return _rate([votes[key] > 0 for key in keys], survey.truth)


def _composed(survey: Survey) -> Rate:
    """Two tables, each cut into classes by other columns: the values that both leave."""
    first, *others = survey.known
    secret = {"secret": ["yes" if has else "no" for has in survey.truth]}
    releases = []
    for names in ([first], others):
        table = Records.of({**{name: list(survey.records[name]) for name in names}, **secret})
        releases.append(generalize(table, names, Criteria(k=_K), method="mondrian").records.as_lists())
    targets: list[Mapping[str, Value]] = [*survey.targets]
    return compose_many(releases, targets, "secret", truth=secret["secret"]).rates["together"]


def _differenced(survey: Survey, noise: Noise | None) -> Rate:
    """Two counts about each person who is alone in a group large enough to be asked for."""
    plans = [_plan(survey, at) for at in range(len(survey.truth))]
    places = [at for at, plan in enumerate(plans) if plan is not None]
    targets: list[Mapping[str, Value]] = [plan for plan in plans if plan is not None]
    if noise is None:
        keeper = large_group_keeper(survey.records, survey.secret.column, least=_LEAST)
    else:
        epsilon, bits, teaching = noise
        price = epsilon / (2 * len(targets))
        keeper = private_keeper(survey.records, epsilon=price, budget=epsilon, bits=bits, teaching=teaching)
    return difference(keeper, targets, survey.secret, truth=survey.truth[places].tolist()).rate


def _plan(survey: Survey, at: int) -> dict[str, Value] | None:
    """Known values that leave one person, of which all but the last leave more than the least that is answered."""
    target = survey.targets[at]
    for size in range(2, len(target) + 1):
        for names in permutations(target, size):
            group = tuple(Condition(name, "=", (target[name],)) for name in names)
            if int(select(survey.records, group).sum()) == 1 < _LEAST < int(select(survey.records, group[:-1]).sum()):
                return {name: target[name] for name in names}
    return None


def _reconstructed(survey: Survey, noise: Noise | None) -> Rate:
    """Four counts of random subsets for each person, decoded."""
    truth = survey.truth
    if noise is None:
        answer: Answer = partial(_counted, truth)
    else:
        epsilon, bits, teaching = noise
        answer = laplace_answer(truth, epsilon=float(epsilon), total=True, bits=bits, teaching=teaching)
    return judge(attack_counts(answer, len(truth), generator=keyed_generator(_DRAW)), truth)


def _counted(truth: Flags, subsets: Flags) -> npt.NDArray[np.float64]:
    return np.asarray(subsets @ truth.astype(float))


def _noisy(
    survey: Survey, names: Sequence[str], epsilon: Fraction, bits: Bits, teaching: bool
) -> Callable[[Mapping[str, Value]], int]:
    """A noisy histogram of these columns and the secret: for a target, how many more have the secret than have not."""
    cells = list(product(*(survey.known[name] for name in names), (True, False)))
    place = {cell: at for at, cell in enumerate(cells)}
    counts = np.zeros(len(cells), np.int64)
    for target, has in zip(survey.targets, survey.truth, strict=True):
        counts[place[*(target[name] for name in names), bool(has)]] += 1
    noise = LaplaceNoise.for_guarantee(sensitivity=1, epsilon=epsilon)
    shown = release(counts, noise, bits, teaching=teaching).value

    def lead(target: Mapping[str, Value]) -> int:
        key = tuple(target[name] for name in names)
        return int(shown[place[*key, True]] - shown[place[*key, False]])

    return lead


def _judged(survey: Survey, leads: Sequence[Callable[[Mapping[str, Value]], int]]) -> Rate:
    return _rate([sum(lead(target) for lead in leads) > 0 for target in survey.targets], survey.truth)
