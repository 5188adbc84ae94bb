"""Ranks in cells: neighbours move no more records than was declared, and choices are those of sorting, but for ε."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.accounting.events import price
from discreet.errors import ArgumentError
from discreet.guarantee import Adjacency
from discreet.measure.expression import Column, Compare, Constant, Text
from discreet.measure.groups import Categories, Each, Group
from discreet.measure.ranks import ChosenRanks, End, Ranks, levels_of, prepare_ranks
from discreet.randomness import SeededBits
from tests.measure.scenes import ONE_ROW, PERSON, Row, contract, scene
from tests.measure.worlds import EXTREMES, Rows, World, contract_of

X, G = Column("x"), Categories(Text("g"))
HALF = Fraction(1, 2)
QUARTERS = (Fraction(1, 4), HALF, Fraction(3, 4))
POSITIVE = Compare(X, ">", Constant(Fraction(0)))
OF_PERSON = "{person: p, rows: 2, groups: 2}"


def moved(world: World, unit: str, adjacency: Adjacency, by: tuple[Group, ...]) -> tuple[int, int]:
    """The most records that two neighbours of a world lie apart over all cells, and what is declared."""
    wide = contract_of(Adjacency.ADD_REMOVE, unit=unit, last=world.size - 1)
    part = prepare_ranks(X, wide, epsilon="1", quantiles=(HALF,), by=(Each(Column("n")), *by), where=POSITIVE)
    cells = part._by_cell(world.engine.integers(part._select(world.table)))
    read = np.zeros((part.proof.cells, part.places), dtype=np.int64)
    for cell, data in cells.items():
        read[cell, data.places] = data.counts
    tables = read.reshape(len(world.bases), len(world.contents), -1)
    # Under add-remove one of two neighbours has the empty content; under replace-one neither has.
    most = 0
    for base in tables:
        ones = base[:1] if adjacency is Adjacency.ADD_REMOVE else base[1:]
        most = max(most, int(np.abs(ones[:, None, :] - base[None, 1:, :]).sum(axis=2).max()))
    declared = prepare_ranks(
        X, contract_of(adjacency, unit=unit), epsilon="1", quantiles=(HALF,), by=by, where=POSITIVE
    )
    assert declared.proof.bits == part.proof.bits
    return most, declared._records


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> World:
    each: Rows = tuple((None, value, key) for value in EXTREMES for key in ("a", "b"))
    bases: tuple[Rows, ...] = ((), ((None, 3.0, "a"), (None, 0.5, "b")))
    return World.build(tmp_path_factory.mktemp("rows"), bases, ((), *((row,) for row in each)))


@pytest.fixture(scope="module")
def persons(tmp_path_factory: pytest.TempPathFactory) -> World:
    """One person of up to three rows in two groups, beside others."""
    row = list(itertools.product((0.5, 3.0, None), ("a", "b")))
    contents: list[Rows] = [()]
    for size in (1, 2, 3):
        contents += [
            tuple(("new", x, g) for x, g in chosen) for chosen in itertools.combinations_with_replacement(row, size)
        ]
    bases: tuple[Rows, ...] = ((), (("old", 0.5, "a"), ("old", 3.0, "b"), ("old", 1.0, "b")))
    return World.build(tmp_path_factory.mktemp("persons"), bases, contents)


@pytest.mark.parametrize("by", [(), (G,)], ids=["one cell", "cells"])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_ranks_of_neighbours_are_within_epsilon(
    rows: World, persons: World, adjacency: Adjacency, by: tuple[Group, ...]
) -> None:
    """A unit moves at most the records at whose ε the mechanism runs, and some unit moves as many."""
    for world, unit in ((rows, "row"), (persons, OF_PERSON)):
        most, declared = moved(world, unit, adjacency, by)
        assert most == declared


@pytest.mark.parametrize("unit", [ONE_ROW, PERSON])
@pytest.mark.parametrize("by", [(), (G,)], ids=["one cell", "cells"])
def test_ranks_agree_with_sorting(tmp_path: Path, unit: str, by: tuple[Group, ...]) -> None:
    """With an ε that leaves no doubt, no more rows lie below and above each choice than its rank allows."""
    under = contract(unit=unit)
    values = [-1.0, 0.0, 0.5, 1.0, 2.0, 2.5, 3.0]
    people: list[Row] = [
        {**_row(), "p": f"{number} {group}", "x": value, "g": group}
        for group in "abc"
        for number, value in enumerate(values)
    ]
    with scene(tmp_path, people, under=under, limit=10**6) as made:
        part = prepare_ranks(X, under, epsilon="3000", quantiles=QUARTERS, by=by)
        (released,) = made.measure(part).released
        assert isinstance(released, ChosenRanks)
        each = values if by else sorted(values * 3)
        for at, q in enumerate(QUARTERS):
            for value in released.values(at):
                below, above = sum(one < value for one in each), sum(one > value for one in each)
                # Several quantiles cut the data at values found before, which may move an aim by half a row.
                assert below <= q * len(each) + Fraction(1, 2)
                assert above <= (1 - q) * len(each) + Fraction(1, 2)
        ends: tuple[End, End] = ("min", "max")
        for end in ends:
            last = prepare_ranks(X, under, epsilon="3000", end=end, by=by)
            (released,) = made.measure(last).released
            assert isinstance(released, ChosenRanks)
            off = last._off >> last.proof.bits
            aimed = sorted(each, reverse=end == "max")[off]
            assert set(released.values(0)) == {Fraction(aimed)}
        again = part.restored(made.measure(part, digest=bytes(32)).released[0].as_json())
        assert again.as_json() == made.measure(part, digest=bytes(32)).released[0].as_json()


def _row() -> Row:
    from tests.measure.scenes import MANY

    return MANY[0]


@pytest.mark.parametrize("quantiles", [(HALF,), QUARTERS, (Fraction(9, 10),)])
def test_ranks_are_off_as_said(quantiles: tuple[Fraction, ...]) -> None:
    """In 95 of 100 draws no rank is farther off than was said; and what was said is no idle bound."""
    part = prepare_ranks(Column("k"), contract(), epsilon="1", quantiles=quantiles)
    part = replace(part, span=replace(part.span, low=0, high=999), step=1)
    from discreet.mechanisms.ordered import Cells, Ordered

    data = Ordered.from_histogram(np.ones(1000, dtype=np.int64), Cells(0, 999))
    bits, off = SeededBits(7), []
    for _ in range(300):
        off.append(
            max(
                abs(place - float(q) * 1000)
                for place, q in zip(part._chosen(data, bits, teaching=True), quantiles, strict=True)
            )
        )
    said = part.ranks_off()
    assert np.mean([one <= said for one in off]) >= 0.95
    assert max(off) > said / 20


def test_prices_are_what_was_asked_for() -> None:
    for count in range(1, 8):
        quantiles = tuple(Fraction(at + 1, count + 1) for at in range(count))
        part = prepare_ranks(X, contract(), epsilon="0.7", quantiles=quantiles)
        levels = levels_of(count, None)
        assert price(part.event, "pure").loss == Fraction("0.7")
        assert price(part.event, "zcdp").loss == Fraction("0.7") ** 2 / (8 * levels)


def test_wide_values_stand_on_a_coarser_grid() -> None:
    part = prepare_ranks(Column("k"), contract(), epsilon="1", quantiles=(HALF,))
    assert part.places <= 1 << 20
    assert part.step == 2
    assert part.value_of(0) == -1_000_000
    assert part.value_of(part.places - 1) == 1_000_000


def test_shares_too_fine_for_whole_numbers_are_refused() -> None:
    fine = (Fraction(999_983, 999_999),)
    with pytest.raises(ArgumentError, match="so fine a share"):
        prepare_ranks(X, contract(unit=PERSON, max_rows=1 << 40), epsilon="1", quantiles=fine)
    wrongs: list[dict[str, object]] = [{}, {"quantiles": (HALF,), "end": "min"}]
    for wrong in wrongs:
        with pytest.raises(ArgumentError):
            prepare_ranks(X, contract(), epsilon="1", **wrong)  # type: ignore[arg-type]  # wrong on purpose


def test_half_the_epsilon_a_record_would_be_noticed(rows: World) -> None:
    """A planted bug: had replaced units been taken for added ones, twice as many records would move as declared."""
    most, declared = moved(rows, "row", Adjacency.REPLACE_ONE, ())
    assert most == declared > declared // 2
    assert isinstance(prepare_ranks(X, contract(), epsilon="1", quantiles=(HALF,)), Ranks)
