"""Sensitivity: by enumeration of all neighbours, in both norms, and never read off the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import pytest

from discreet.data.contract import Contract, Status
from discreet.errors import ContractError
from discreet.guarantee import Adjacency
from discreet.mechanisms import neighbours
from discreet.mechanisms.neighbours import Pair, Table
from discreet.mechanisms.noise import GaussianNoise, LaplaceNoise
from discreet.mechanisms.partition import Reach
from discreet.mechanisms.sensitivity import Maximum, Mean, Median
from discreet.mechanisms.tallies import Tally
from discreet.mechanisms.verify import certify_all

ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
Vector = Callable[[Table], Sequence[int | Fraction]]


def largest(vector: Vector, pairs: Iterable[Pair], norm: float) -> float:
    """The largest distance between neighbours, in that norm."""
    found = 0.0
    for one, other in pairs:
        moves = [abs(Fraction(a) - Fraction(b)) for a, b in zip(vector(one), vector(other), strict=True)]
        found = max(found, float(max(moves)) if norm == math.inf else float(sum(m**norm for m in moves)) ** (1 / norm))
    return found


def added(domain: tuple[int, ...], size: int = 3) -> list[Pair]:
    return list(neighbours.added_or_removed(domain, size))


def replaced(domain: tuple[int, ...], size: int = 3) -> list[Pair]:
    return list(neighbours.replaced(domain, range(size + 1)))


@pytest.mark.requirement("0.51")
@pytest.mark.parametrize(
    "tally", [Tally.count(0, 2, of=1), Tally.sum(-1, 2), Tally.sum_and_count(-1, 2), Tally.histogram(0, 2)]
)
def test_first_norm_of_totals_is_that_of_all_neighbours(tally: Tally) -> None:
    domain = (-5, -1, 0, 1, 2, 7)  # records beyond the bounds are clamped
    assert largest(tally.totals, added(domain), 1) == tally.sensitivity(ADD)
    assert largest(tally.totals, replaced(domain), 1) == tally.sensitivity(REPLACE)


@pytest.mark.requirement("0.51")
def test_first_norm_of_mean_median_and_coefficient() -> None:
    """A regression coefficient has none: the nearer the x are to each other, the farther one y moves it."""
    pairs = list(neighbours.replaced((0, 3, 10), (3,)))
    for statistic in (Mean(0, 10), Median(0, 10), Maximum(0, 10)):
        found = largest(lambda table, of=statistic: (of.value(table),), pairs, 1)  # type: ignore[misc]  # bound at once
        assert found == float(statistic.everywhere(3))

    def slope(points: list[tuple[Fraction, int]]) -> Fraction:
        middle = sum((x for x, _ in points), Fraction(0)) / len(points)
        spread = sum(((x - middle) * (x - middle) for x, _ in points), Fraction(0))
        return sum(((x - middle) * y for x, y in points), Fraction(0)) / spread

    moves = []
    for exponent in (1, 3, 6):
        near = Fraction(1, 10**exponent)
        rest = [(Fraction(0), 0), (near, 0)]
        moves.append(abs(slope([*rest, (near, 1)]) - slope([*rest, (near, 0)])))
    assert moves == [5, 500, 500_000]


@pytest.mark.requirement("2.30")
@pytest.mark.parametrize(("adjacency", "first", "squared"), [(ADD, 1, 1), (REPLACE, 2, 2)])
def test_norms_of_a_histogram(adjacency: Adjacency, first: int, squared: int) -> None:
    cells = Tally.histogram(0, 3)
    pairs = added((0, 1, 2, 3)) if adjacency is ADD else replaced((0, 1, 2, 3))
    assert largest(cells.totals, pairs, 1) == first == Reach().moved(adjacency)
    assert largest(cells.totals, pairs, 2) == pytest.approx(math.sqrt(squared))
    assert squared == Reach().moved_squared(adjacency)
    # Laplace noise is scaled by the first norm, Gaussian noise by the second.
    assert LaplaceNoise.for_guarantee(sensitivity=first, epsilon=1).scale == first
    assert GaussianNoise.for_rho(sensitivity=[1] * squared, rho="0.5").sigma_squared == squared


@pytest.mark.requirement("2.30")
def test_for_k_linear_queries_the_norms_differ_by_the_root_of_k() -> None:
    def queries(table: Table) -> tuple[int, ...]:
        return tuple(sum(record >> at & 1 for record in table) for at in range(4))

    pairs = added(tuple(range(16)), 2)
    found = [largest(queries, pairs, norm) for norm in (1, 2, math.inf)]
    assert found == [4, 2, 1]
    assert LaplaceNoise.for_guarantee(sensitivity=4, epsilon=1).scale == 4
    assert GaussianNoise.for_rho(sensitivity=[1] * 4, rho="0.5").sigma_squared == 2**2


@pytest.mark.requirement("2.31")
def test_a_count_moves_by_one_under_both_relations() -> None:
    """COUNT(*) WHERE gender = M AND age > 18, on records that are numbered by whether they match."""
    six = [("M", 18), ("F", 21), ("other", 33), ("M", 41), ("F", 29), ("M", 38)]
    matching = tuple(int(gender == "M" and age > 18) for gender, age in six)
    count = Tally.count(0, 1, of=1)
    assert count.totals(matching) == (2,)
    assert largest(count.totals, added((0, 1), 6), 1) == count.sensitivity(ADD) == 1
    assert largest(count.totals, replaced((0, 1), 6), 1) == count.sensitivity(REPLACE) == 1


@pytest.mark.requirement("2.32")
def test_mean_age_of_six() -> None:
    ages = (18, 21, 33, 41, 29, 38)
    mean = Mean(0, 100)
    assert mean.value(ages) == 30
    assert mean.everywhere(6) == Fraction(100, 6)
    assert round(float(mean.everywhere(6)), 2) == 16.67
    # It is reached by one person whose age goes from one bound to the other, and passed by nobody.
    moved = [
        abs(mean.value((*ages[:5], old)) - mean.value((*ages[:5], new))) for old in (0, 38, 100) for new in (0, 100)
    ]
    assert max(moved) == mean.everywhere(6)
    assert mean.here(ages) < mean.everywhere(6)


@pytest.mark.requirement("1.23")
def test_a_bound_read_off_the_data_is_a_certified_leak() -> None:
    (certificate,) = certify_all(["mean-with-bound-read-off-the-data"])
    assert certificate.odds is None
    assert certificate.verdict == "violated"
    # The bound itself moves: with max |x| as M the "global" sensitivity 2M/n differs between neighbours.
    assert {2 * max(map(abs, table)) for table in (certificate.worst.one, certificate.worst.other)} != {4}


@pytest.mark.requirement("1.23")
def test_a_drafted_bound_carries_no_guarantee_until_somebody_stands_by_it() -> None:
    drafted = Contract.from_yaml(
        "table: t\nunit: row\nstatus: drafted\ncolumns:\n  cost: {type: integer, low: 0, high: 731, source: drafted}\n"
    )
    assert drafted.status is Status.DRAFTED
    with pytest.raises(ContractError, match="only a declared contract carries a guarantee"):
        drafted.require_declared()
    with pytest.raises(ContractError, match="was drafted from the data"):
        Contract.from_yaml(drafted.to_yaml().replace("status: drafted\n", ""))
    declared = drafted.declared(by="the keeper", reason="the tariff ends there")
    declared.require_declared()
    assert declared.drafted == ("column 'cost'",)
    public = Contract.from_yaml("table: t\nunit: row\ncolumns:\n  cost: {type: integer, low: 0, high: 1000}\n")
    public.require_declared()
    assert public.drafted == ()
