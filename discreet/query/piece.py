"""The pieces of a demand: statistics that one part measures, each with the ways it could be measured.

1. All statistics that rest on sums of rows are one piece, since they share sums. Persons are a piece of their own, each
   count of distinct values is one, all quantiles of a value are one, and each end and each choice of keys.
   Quantiles are chosen by rank or, where the value has few steps, read off a noisy count of each of them.
2. A piece lists its candidates for an allowance, the best first: what is done, the error to expect, the part to build.

Everything here follows from contract, plan and allowance; no engine is asked.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.data.contract import Contract
from discreet.measure.distinct import Values, prepare_distinct
from discreet.measure.expression import Value
from discreet.measure.favourites import ChosenKeys, prepare_favourites
from discreet.measure.groups import axis_of
from discreet.measure.noisy import Measurement, prepare
from discreet.measure.part import Part, Released
from discreet.measure.places import CountedPlaces, Places, prepare_places
from discreet.measure.plan import Persons as PersonsOf
from discreet.measure.plan import Plan
from discreet.measure.ranks import ChosenRanks, End, levels_of, prepare_ranks
from discreet.measure.span import span_of
from discreet.mechanisms.choice import Method
from discreet.query.allowance import Allowance, root_down
from discreet.query.demand import Demand
from discreet.query.labels import shown_labels
from discreet.query.question import GroupKey
from discreet.query.recipe import Primitive, Recipe, recipe_of
from discreet.query.statistic import Distinct, Most, Persons, Rank, Statistic
from discreet.query.strategy import Expected, Strategy, strategies
from discreet.query.way import Combination, Reading, settled
from discreet.query.words import statistic_text

__all__ = [
    "COUNTS_AT_MOST",
    "OF_RANK",
    "PLACES_AT_MOST",
    "Candidate",
    "Intervals",
    "Piece",
    "Reads",
    "is_end",
    "note_of_counts",
    "pieces_of",
    "prepared_sums",
    "settled_recipe",
]

_NOTHING = -1e3
OF_RANK = "rows of rank, in 95 %"
# Beyond, a count of each place would err more than a choice by rank, or take long.
PLACES_AT_MOST, COUNTS_AT_MOST = 1 << 10, 1 << 16
Reads = Callable[[Released], Sequence[object]]
Intervals = Callable[[Released, Fraction], Sequence[tuple[Fraction, Fraction]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One way to measure a piece: its name, the error of each of its statistics, and how its part is built.

    `sources` says how primitives are read off the part, `reads` how chosen statistics are, with a sentence on each in
    `notes` and, where there are any, `intervals` of a coverage; `build` gives None where all of it is public.
    `estimand` says in words what is estimated instead of what was asked. Where the sources follow from what the part
    releases, `opened` gives the candidate as it then is.
    """

    name: str
    allowance: Allowance
    expected: tuple[Expected, ...]
    build: Callable[[], Part | None]
    sources: Mapping[Primitive, Combination] = field(default_factory=dict)
    reads: Mapping[Statistic, Reads] = field(default_factory=dict)
    intervals: Mapping[Statistic, Intervals] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    estimand: tuple[str, ...] = ()
    opened: Callable[[Released], Candidate] | None = None

    @property
    def score(self) -> float:
        """The logarithm of the product of the errors."""
        return sum(math.log(one.deviation) if one.deviation > 0 else _NOTHING for one in self.expected)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Statistics of one demand that one part measures, and the candidates for an allowance, the best first.

    `together` says that they are all read off one histogram.
    """

    statistics: tuple[Statistic, ...]
    candidates: Callable[[Allowance], tuple[Candidate, ...]]
    together: bool = False


def pieces_of(demand: Demand, contract: Contract) -> tuple[Piece, ...]:
    """What is measured by itself for a demand."""
    return tuple(_pieces(demand, contract))


def _pieces(demand: Demand, contract: Contract) -> Iterator[Piece]:
    recipes = {one: settled_recipe(one, contract) for one in demand.statistics}
    alone = (Persons, Distinct) if not contract.unit.is_row else (Distinct,)
    summed = {one: recipe for one, recipe in recipes.items() if recipe and not isinstance(one, alone)}
    if summed:
        yield _sums(demand, contract, summed)
    ranks: dict[Value, list[Rank]] = {}
    for one in demand.statistics:
        if isinstance(one, Persons) and one not in summed:
            yield Piece(statistics=(one,), candidates=lambda allowance: (_persons(demand, contract, allowance),))
        elif isinstance(one, Distinct):
            yield _distinct(demand, contract, one)
        elif isinstance(one, Most):
            yield _most(demand, contract, one)
        elif isinstance(one, Rank) and _end(one):
            yield _ranks(demand, contract, (one,))
        elif isinstance(one, Rank):
            ranks.setdefault(one.value, []).append(one)
    for same in ranks.values():
        yield _ranks(demand, contract, tuple(sorted(same, key=lambda one: one.q)))


def settled_recipe(statistic: Statistic, contract: Contract) -> Recipe | None:
    """The recipe over settled primitives: where each row is a unit, persons are rows."""
    recipe = recipe_of(statistic)
    if recipe is None:
        return None
    if isinstance(statistic, Persons) and contract.unit.is_row:
        return dataclasses.replace(recipe, needs=(Primitive("rows"),))
    return dataclasses.replace(recipe, needs=tuple(settled(need, contract) for need in recipe.needs))


def _sums(demand: Demand, contract: Contract, recipes: Mapping[Statistic, Recipe]) -> Piece:
    def candidates(allowance: Allowance) -> tuple[Candidate, ...]:
        found = strategies(tuple(recipes.values()), contract, [allowance], by=demand.by, where=demand.where)
        return tuple(_summed(demand, contract, one) for one in found)

    return Piece(statistics=tuple(recipes), candidates=candidates)


def _summed(demand: Demand, contract: Contract, strategy: Strategy) -> Candidate:
    def build() -> Measurement | None:
        return prepared_sums(demand, contract, strategy) if strategy.way.aggregates else None

    return Candidate(
        name=strategy.name,
        allowance=strategy.allowance,
        expected=strategy.expected,
        build=build,
        sources=strategy.way.sources,
    )


def prepared_sums(demand: Demand, contract: Contract, strategy: Strategy) -> Measurement:
    """What measures the sums of a demand in the way of a strategy."""
    plan = Plan(aggregates=strategy.way.aggregates, by=demand.by, where=demand.where)
    return _prepared(plan, contract, strategy.allowance, strategy.shares)


def _persons(demand: Demand, contract: Contract, allowance: Allowance) -> Candidate:
    measured = _prepared(Plan(aggregates=(PersonsOf(),), by=demand.by, where=demand.where), contract, allowance)
    return Candidate(
        name=f"persons, {allowance.law} noise",
        allowance=allowance,
        expected=(Expected(measured.standard_deviation("persons"), per_row=False),),
        build=lambda: measured,
        sources={Primitive("persons"): Combination((Reading(PersonsOf(), "persons"),))},
    )


def _prepared(
    plan: Plan, contract: Contract, allowance: Allowance, shares: tuple[Fraction, ...] | None = None
) -> Measurement:
    if allowance.law == "laplace":
        return prepare(plan, contract, epsilon=allowance.loss, shares=shares)
    return prepare(plan, contract, rho=allowance.loss, shares=shares)


def _distinct(demand: Demand, contract: Contract, statistic: Distinct) -> Piece:
    counted = Values(group=statistic.group)

    def candidates(allowance: Allowance) -> tuple[Candidate, ...]:
        laplace = allowance.law == "laplace"
        part = prepare_distinct(
            statistic.group,
            contract,
            epsilon=allowance.loss if laplace else None,
            rho=None if laplace else allowance.loss,
            by=demand.by,
            where=demand.where,
        )
        return (
            Candidate(
                name=f"distinct values, {allowance.law} noise",
                allowance=allowance,
                expected=(Expected(part.standard_deviation("count"), per_row=False),),
                build=lambda: part,
                sources={Primitive("distinct", group=statistic.group): Combination((Reading(counted, "count"),))},
            ),
        )

    return Piece(statistics=(statistic,), candidates=candidates)


def _ranks(demand: Demand, contract: Contract, wanted: tuple[Rank, ...]) -> Piece:
    value, end = wanted[0].value, _end(wanted[0])
    quantiles = () if end else tuple(one.q for one in wanted)
    counted = not end and _countable(demand, contract, value)

    def candidates(allowance: Allowance) -> tuple[Candidate, ...]:
        both = (by_rank(allowance), *([_counted(demand, contract, wanted, allowance)] if counted else []))
        return tuple(sorted(both, key=lambda one: one.score))

    def by_rank(allowance: Allowance) -> Candidate:
        levels = levels_of(len(quantiles), end)
        part = prepare_ranks(
            value,
            contract,
            epsilon=_of_choices(allowance, levels),
            quantiles=quantiles,
            end=end,
            by=demand.by,
            where=demand.where,
        )
        off = part.ranks_off()
        return Candidate(
            name="exponential mechanism on ranks",
            allowance=allowance,
            expected=tuple(Expected(off, per_row=False, unit=OF_RANK) for _ in wanted),
            build=lambda: part,
            reads={one: _reading_of_rank(at) for at, one in enumerate(wanted)},
            notes=tuple(
                f"{statistic_text(one)} is chosen privately: in 95 of 100 cells its rank is at most {off:,.1f} "
                "rows from the one aimed at."
                for one in wanted
            ),
        )

    return Piece(statistics=wanted, candidates=candidates)


def _countable(demand: Demand, contract: Contract, value: Value) -> bool:
    """Whether a value's places in all cells are few enough to count each, and all of them are known."""
    places = span_of(value, contract).width + 1
    if demand.found or not 2 <= places <= PLACES_AT_MOST:
        return False
    return places * math.prod(axis_of(group, contract).size for group in demand.by) <= COUNTS_AT_MOST


def _counted(demand: Demand, contract: Contract, wanted: Sequence[Rank], allowance: Allowance) -> Candidate:
    """All quantiles of a value off one histogram."""
    laplace = allowance.law == "laplace"
    part = prepare_places(
        wanted[0].value,
        contract,
        epsilon=allowance.loss if laplace else None,
        rho=None if laplace else allowance.loss,
        by=demand.by,
        where=demand.where,
    )
    off = {one: part.ranks_off(one.q) for one in wanted}
    return Candidate(
        name=f"read off a histogram of {part.places} values, {allowance.law} noise",
        allowance=allowance,
        expected=tuple(Expected(off[one], per_row=False, unit=OF_RANK) for one in wanted),
        build=lambda: part,
        reads={one: _reading_of_counts(one) for one in wanted},
        intervals={one: _interval_of_counts(one) for one in wanted},
        notes=tuple(note_of_counts(one, part) for one in wanted),
    )


def note_of_counts(rank: Rank, places: Places) -> str:
    """What is known of a quantile that is read off counts, in words."""
    return (
        f"{statistic_text(rank)} is read off noisy counts of {places.places} values: in 95 of 100 cells its rank is "
        f"at most {places.ranks_off(rank.q):,.1f} rows from the one aimed at."
    )


def _reading_of_counts(rank: Rank) -> Reads:
    def reads(released: Released) -> Sequence[object]:
        assert isinstance(released, CountedPlaces)
        return released.values(rank.q)

    return reads


def _interval_of_counts(rank: Rank) -> Intervals:
    def intervals(released: Released, coverage: Fraction) -> Sequence[tuple[Fraction, Fraction]]:
        assert isinstance(released, CountedPlaces)
        return released.intervals(rank.q, coverage)

    return intervals


def _reading_of_rank(at: int) -> Reads:
    def reads(released: Released) -> Sequence[object]:
        assert isinstance(released, ChosenRanks)
        return released.values(at)

    return reads


def _most(demand: Demand, contract: Contract, statistic: Most) -> Piece:
    def candidates(allowance: Allowance) -> tuple[Candidate, ...]:
        part = prepare_favourites(
            statistic.group,
            contract,
            epsilon=_of_choices(allowance, statistic.count),
            method=Method.PERMUTE_AND_FLIP if allowance.law == "laplace" else Method.EXPONENTIAL,
            count=statistic.count,
            value=statistic.by,
            largest=statistic.largest,
            by=demand.by,
            where=demand.where,
        )
        short = part.shortfall()
        unit = "rows" if statistic.by is None else "in the sum"
        return (
            Candidate(
                name=f"private choice by {part.method.value}",
                allowance=allowance,
                expected=(Expected(short, per_row=False, unit=f"{unit} short of the best, in 95 %"),),
                build=lambda: part,
                reads={statistic: _reading_of_keys(statistic, contract)},
                notes=(
                    f"{statistic_text(statistic)} is chosen privately: in 95 of 100 cells each choice falls short of "
                    f"the best that was left by at most {short:,.1f} {unit}.",
                ),
            ),
        )

    return Piece(statistics=(statistic,), candidates=candidates)


def _reading_of_keys(statistic: Most, contract: Contract) -> Reads:
    """The chosen keys as one text each, several with commas between them."""

    def reads(released: Released) -> Sequence[object]:
        assert isinstance(released, ChosenKeys)
        labels = released.favourites.labels
        shown = shown_labels(GroupKey(name="key", group=statistic.group), labels, contract)
        if statistic.count == 1:
            return [shown[cell[0]] for cell in released.places]
        return [", ".join("NULL" if shown[at] is None else str(shown[at]) for at in cell) for cell in released.places]

    return reads


def is_end(rank: Rank) -> bool:
    """Whether it is a least or a largest value."""
    return _end(rank) is not None


def _end(rank: Rank) -> End | None:
    """Whether it is an end: that of a rank which lies off it."""
    if rank.extreme is not None:
        return rank.extreme
    return None if 0 < rank.q < 1 else "min" if rank.q == 0 else "max"


def _of_choices(allowance: Allowance, count: int) -> Fraction:
    """The ε of so many choices one after the other: ε itself, or what ρ/count each allows for a bounded range."""
    return allowance.loss if allowance.law == "laplace" else count * root_down(8 * allowance.loss / count)
