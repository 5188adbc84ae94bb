"""Favourite keys and distinct values: neighbours move as declared, and answers are those of counting, but for noise."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.accounting.events import price
from discreet.errors import ArgumentError
from discreet.guarantee import Adjacency
from discreet.measure.compile import compiled, vectors
from discreet.measure.distinct import prepare_distinct
from discreet.measure.expression import Column, Text
from discreet.measure.favourites import ChosenKeys, prepare_favourites
from discreet.measure.groups import Bins, Categories, Each, Group
from discreet.measure.noisy import NoisyVector
from discreet.mechanisms.choice import Method
from tests.measure.scenes import MANY, ONE_ROW, PERSON, contract, scene
from tests.measure.worlds import Rows, World, contract_of

X, G = Column("x"), Categories(Text("g"))
SPLIT = Bins(X, (Fraction(-1), Fraction(1), Fraction(3)))
OF_PERSON = "{person: p, rows: 3, groups: 2}"


@pytest.fixture(scope="module")
def persons(tmp_path_factory: pytest.TempPathFactory) -> World:
    """One person of up to three rows, in up to two groups and two bins, beside others."""
    row: list[tuple[float, str | None]] = [(0.5, None), *itertools.product((0.5, 3.0), ("a", "b"))]
    contents: list[Rows] = [()]
    for size in (1, 2, 3):
        contents += [
            tuple(("new", x, g) for x, g in chosen) for chosen in itertools.combinations_with_replacement(row, size)
        ]
    bases: tuple[Rows, ...] = ((), (("old", 0.5, "a"), ("two", 3.0, "b"), ("two", 0.5, "b")))
    return World.build(tmp_path_factory.mktemp("persons"), bases, contents)


def pairs(world: World, numbers: np.ndarray, adjacency: Adjacency) -> np.ndarray:
    """By how much each two neighbours of a world differ: (pair, number)."""
    tables = numbers.reshape(len(world.bases), len(world.contents), -1)
    found = []
    for base in tables:
        ones = base[:1] if adjacency is Adjacency.ADD_REMOVE else base[1:]
        found.append((ones[:, None, :] - base[None, 1:, :]).reshape(-1, base.shape[1]))
    return np.concatenate(found)


@pytest.mark.parametrize("by", [(), (SPLIT,)], ids=["one cell", "cells"])
@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("unit", ["row", OF_PERSON])
def test_distinct_of_neighbours_moves_as_proven(
    persons: World, unit: str, adjacency: Adjacency, by: tuple[Group, ...]
) -> None:
    if unit == "row":
        world = replace(persons, contents=persons.contents[:6])
        assert all(len(content) <= 1 for content in world.contents)
    wide = contract_of(Adjacency.ADD_REMOVE, unit=unit, last=persons.size - 1)
    read = prepare_distinct(G, wide, epsilon="1", by=(Each(Column("n")), *by))
    counts = read._counted(persons.engine.integers(read._select(persons.table)))
    declared = prepare_distinct(G, contract_of(adjacency, unit=unit), epsilon="1", by=by).proof
    shift = read.proof.bits - declared.bits
    apart = pairs(persons, counts, adjacency)
    if unit == "row":  # contents of one row alone are units
        few = counts.reshape(len(persons.bases), len(persons.contents), -1)[:, :6]
        apart = pairs(world, few, adjacency)
    l1, squared = np.abs(apart).sum(axis=1).max(), (apart**2).sum(axis=1).max()
    (part,) = declared.parts
    assert l1 <= part.moved.l1 << max(shift, 0)
    assert squared <= part.moved.l2_squared << 2 * max(shift, 0)
    assert l1 * 2 >= part.moved.l1


@pytest.mark.parametrize("unit", [ONE_ROW, PERSON])
def test_distinct_agrees_with_counting(tmp_path: Path, unit: str) -> None:
    under = contract(unit=unit)
    with scene(tmp_path, MANY, under=under, limit=10**6) as made:
        part = prepare_distinct(G, under, epsilon="4000", by=(Categories(Text("b")),))
        (released,) = made.measure(part).released
        assert isinstance(released, NoisyVector)
        wanted = [
            len({row["g"] for row in MANY if str(row["b"]).lower() == key and row["g"] in ("a", "b", "c")})
            for key in ("false", "true")
        ]
        assert [float(value) for value in released.values("count")] == pytest.approx(wanted, abs=0.01)
        assert price(part.event, "pure").loss <= 4000


@pytest.mark.parametrize("by", [(), (SPLIT,)], ids=["one cell", "cells"])
@pytest.mark.parametrize("adjacency", Adjacency)
def test_favourites_of_neighbours_are_within_epsilon(
    persons: World, adjacency: Adjacency, by: tuple[Group, ...]
) -> None:
    """The scores of a cell move by at most a part of the declared bound, and the parts of all cells add up to it."""
    wide = contract_of(Adjacency.ADD_REMOVE, unit=OF_PERSON, last=persons.size - 1)
    read = prepare_favourites(G, wide, epsilon="1", by=(Each(Column("n")), *by))
    (scores,) = vectors(persons.engine.integers(compiled(read.plan, wide, persons.table, read.proof)), read.proof)
    declared = prepare_favourites(G, contract_of(adjacency, unit=OF_PERSON), epsilon="1", by=by)
    apart = pairs(persons, scores, adjacency).reshape(-1, 2 if by else 1, len(declared.labels))
    reached = int(np.abs(apart).max(axis=2).sum(axis=1).max())
    assert reached <= declared.proof.parts[0].moved.l1
    assert declared.monotone is (adjacency is Adjacency.ADD_REMOVE)
    if declared.monotone:
        assert ((apart >= 0).all(axis=(1, 2)) | (apart <= 0).all(axis=(1, 2))).all()


def test_sums_of_both_signs_are_not_monotone() -> None:
    assert not prepare_favourites(G, contract(), epsilon="1", value=X).monotone
    assert prepare_favourites(G, contract(), epsilon="1").monotone


@pytest.mark.parametrize("method", [Method.PERMUTE_AND_FLIP, Method.EXPONENTIAL])
def test_favourites_agree_with_counting(tmp_path: Path, method: Method) -> None:
    under = contract()
    rows = [*MANY * 10, *[{**MANY[0], "g": "c"}] * 80, *[{**MANY[0], "g": "b", "x": 3.0}] * 9]
    with scene(tmp_path, rows, under=under, limit=10**6) as made:
        part = prepare_favourites(G, under, epsilon="300", method=method, count=3)
        (released,) = made.measure(part).released
        assert isinstance(released, ChosenKeys)
        counted = Counter(row["g"] for row in rows if row["g"] in ("a", "b", "c"))
        assert released.labels == (tuple(key for key, _ in counted.most_common()),)
        largest = prepare_favourites(G, under, epsilon="300", method=method, value=X)
        least = prepare_favourites(G, under, epsilon="300", method=method, value=X, largest=False)
        sums = {
            key: sum(min(3.0, max(-1.0, row["x"])) for row in rows if row["g"] == key and row["x"] is not None)
            for key in ("a", "b", "c")
        }
        for one, best in (
            (largest, max(sums, key=lambda key: sums[key])),
            (least, min(sums, key=lambda key: sums[key])),
        ):
            (chosen,) = made.measure(one).released
            assert isinstance(chosen, ChosenKeys)
            assert chosen.labels == ((best,),)
        assert part.restored(released.as_json()).labels == released.labels


def test_prices_and_bounds() -> None:
    part = prepare_favourites(G, contract(), epsilon="0.6", count=2, method=Method.EXPONENTIAL)
    assert price(part.event, "pure").loss == Fraction("0.6")
    assert price(part.event, "zcdp").loss == 2 * Fraction("0.3") ** 2 / 8
    assert prepare_favourites(G, contract(), epsilon="6").shortfall() < part.shortfall()
    with pytest.raises(ArgumentError, match="4 of 3 keys"):
        prepare_favourites(G, contract(), epsilon="1", count=4)
    for wrong in ({}, {"epsilon": "1", "rho": "1"}):
        with pytest.raises(ArgumentError):
            prepare_distinct(G, contract(), **wrong)  # type: ignore[arg-type]  # wrong on purpose
