"""Neighbours: two relations, their distances, and what changing the relation does to a promise."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from fractions import Fraction
from functools import partial
from itertools import product

import pytest

from discreet.data.contract import Contract
from discreet.errors import ContractError
from discreet.guarantee import Adjacency, ApproxDP, PureDP
from discreet.mechanisms import neighbours
from discreet.mechanisms.certificate import Certificate, Claim, Law, examine
from discreet.mechanisms.decay import Powers
from discreet.mechanisms.neighbours import Pair, Table
from discreet.mechanisms.noise import LaplaceNoise
from discreet.mechanisms.tallies import Tally
from discreet.mechanisms.testing import noisy_law

ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
DOMAIN, LARGEST = (0, 1, 2), 4


def histogram(table: Table) -> tuple[int, ...]:
    """How often each value of the domain stands in the table."""
    return tuple(table.count(value) for value in DOMAIN)


def first_norm(one: Table, other: Table) -> int:
    return sum(abs(a - b) for a, b in zip(histogram(one), histogram(other), strict=True))


def steps(pairs: Iterable[Pair], start: Table) -> dict[Table, int]:
    """How many neighbour steps away each table is, breadth first."""
    around: dict[Table, list[Table]] = {}
    for one, other in pairs:
        around.setdefault(one, []).append(other)
    found, waiting = {start: 0}, deque([start])
    while waiting:
        here = waiting.popleft()
        for other in around.get(here, ()):
            if other not in found:
                found[other] = found[here] + 1
                waiting.append(other)
    return found


@pytest.mark.requirement("3.11")
def test_the_first_norm_counts_the_people_to_add_and_remove() -> None:
    pairs = list(neighbours.added_or_removed(DOMAIN, LARGEST))
    for start in ((), (0,), (0, 1, 2), (1, 1, 1, 1)):
        found = steps(pairs, start)
        assert len(found) == sum(len(neighbours.tables(DOMAIN, size)) for size in range(LARGEST + 1))
        assert all(count == first_norm(start, table) for table, count in found.items())


@pytest.mark.requirement("3.11")
def test_replacing_steps_are_half_the_first_norm_between_tables_of_one_size() -> None:
    pairs = list(neighbours.replaced(DOMAIN, (LARGEST,)))
    start = (0, 0, 1, 2)
    found = steps(pairs, start)
    assert len(found) == len(neighbours.tables(DOMAIN, LARGEST))
    assert all(2 * count == first_norm(start, table) for table, count in found.items())


@pytest.mark.requirement("2.27")
def test_the_symmetric_difference_is_one_or_two() -> None:
    def difference(one: Table, other: Table) -> Table:
        return tuple(sorted(((Counter(one) - Counter(other)) + (Counter(other) - Counter(one))).elements()))

    added = set(neighbours.added_or_removed(DOMAIN, LARGEST))
    tables = [table for size in range(LARGEST + 1) for table in neighbours.tables(DOMAIN, size)]
    # Every pair that differs by one record is listed, in both orders, and no other is.
    assert added == {(a, b) for a, b in product(tables, tables) if len(difference(a, b)) == 1}
    replaced = set(neighbours.replaced(DOMAIN, range(LARGEST + 1)))
    assert replaced == {(a, b) for a, b in product(tables, tables) if len(a) == len(b) and len(difference(a, b)) == 2}


@pytest.mark.requirement("2.28")
def test_sizes_differ_by_one_or_not_at_all_and_an_exchange_is_two_steps() -> None:
    added = set(neighbours.added_or_removed(DOMAIN, LARGEST))
    assert {abs(len(one) - len(other)) for one, other in added} == {1}
    for one, other in neighbours.replaced(DOMAIN, range(LARGEST + 1)):
        assert len(one) == len(other)
        assert any((one, between) in added and (between, other) in added for between in {pair[1] for pair in added})
    # So ε under add-remove is worth 2ε under replace-one, and δ grows by the factor of a group of two.
    assert PureDP.of(1).replace_one() == PureDP.of(2)
    assert ApproxDP.of(1, "1e-6").replace_one() == ApproxDP.of(1, "1e-6").group(2)


def examined(law_of: Tally, noise_for: Adjacency, relation: Adjacency) -> Certificate:
    """The exact figures of noisy totals: noise scaled for one relation, neighbours of another."""
    pairs = neighbours.added_or_removed((0, 1, 2), 3) if relation is ADD else neighbours.replaced((0, 1, 2), (1, 2))
    claim = Claim(name="", mechanism="", relation=relation, domain="", odds=Fraction(4))
    law = partial(law_of.law, epsilon=Powers(Fraction(4)), adjacency=noise_for, largest=3)
    return examine(claim, law, pairs)


@pytest.mark.requirement("0.50")
def test_the_relation_is_a_parameter_that_decides_the_noise() -> None:
    cells = Tally.histogram(0, 2)
    assert (cells.sensitivity(ADD), cells.sensitivity(REPLACE)) == (1, 2)
    assert examined(cells, ADD, ADD).verdict == "tight"
    assert examined(cells, REPLACE, REPLACE).verdict == "tight"
    # Taken for the other relation, one noise promises twice the ε it keeps, the other half of it.
    assert examined(cells, ADD, REPLACE).odds == 4**2
    assert examined(cells, REPLACE, ADD).odds == 2


@pytest.mark.requirement("0.50")
def test_a_contract_says_which_relation_and_whether_the_number_is_public() -> None:
    def contract(more: str) -> Contract:
        return Contract.from_yaml(f"table: t\nunit: row\n{more}columns:\n  age: {{type: integer, low: 0, high: 120}}\n")

    assert contract("").adjacency is ADD
    assert contract("adjacency: replace-one\nunits: 6\n").adjacency is REPLACE
    with pytest.raises(ContractError, match="without units"):
        contract("adjacency: replace-one\n")
    with pytest.raises(ContractError, match="units under add-remove"):
        contract("units: 6\n")


WITH_ALICE = {"Alice": (2024, 32, "yes"), "Bob": (2020, 21, "no"), "Charlie": (2023, 45, "yes")}


@pytest.mark.requirement("4.05")
def test_two_tables_with_and_without_alice() -> None:
    without = {name: row for name, row in WITH_ALICE.items() if name != "Alice"}

    def bits(table: dict[str, tuple[int, int, str]]) -> Table:
        return tuple(sorted(int(row[2] == "yes") for row in table.values()))

    pair = bits(WITH_ALICE), bits(without)
    listed = set(neighbours.added_or_removed((0, 1), 3))
    # Which of the two is called D is arbitrary, so one inequality over all ordered pairs is enough.
    assert pair in listed
    assert pair[::-1] in listed
    assert [sum(table) for table in pair] == [2, 1]
    noise = LaplaceNoise.for_guarantee(sensitivity=1, epsilon=Powers(Fraction(3)))

    def law(table: Table) -> Law:
        return noisy_law(sum(table), noise, 0, 3)

    claim = Claim(name="", mechanism="", relation=ADD, domain="", odds=Fraction(3))
    assert examine(claim, law, [pair, pair[::-1]]).odds == 3
    ratios = [one / other for one, other in zip(law(pair[0]).values(), law(pair[1]).values(), strict=True)]
    assert min(ratios) == Fraction(1, 3)
    assert max(ratios) == 3
    # The choice of Alice is arbitrary: any other row gives neighbours too.
    for name in WITH_ALICE:
        assert (pair[0], bits({one: row for one, row in WITH_ALICE.items() if one != name})) in listed
