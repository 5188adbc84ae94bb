"""Cell suppression and its audit against brute force, and what opens the hidden cells all the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from discreet.anonymize.audit import audit, bounds
from discreet.anonymize.cells import COSTS, suppress_cells
from discreet.anonymize.crosstable import CrossTable, tabulate
from discreet.anonymize.hierarchy import Hierarchy
from discreet.anonymize.records import Flags, Records
from discreet.errors import CheckFailedError, DiscreetError
from discreet.risk.dominance import Dominance, PPercent, Rule, Threshold

TREE = {"d0": Hierarchy.tree("d0", {"east": [0, 1], "west": [2, 3]})}
RULES: list[Rule] = [PPercent(15)]


def firms(seed: int, shape: tuple[int, ...], rows: int, *, largest: float = 6) -> Records:
    """Contributions of firms, skewed."""
    draw = np.random.default_rng(seed)
    columns = {f"d{axis}": draw.integers(0, size, rows).tolist() for axis, size in enumerate(shape)}
    return Records.of({**columns, "v": np.ceil(draw.pareto(1.3, rows) + largest * draw.random(rows)).tolist()})


def table_of(seed: int, shape: tuple[int, ...], rows: int, *, tree: bool = False) -> CrossTable:
    by = [f"d{axis}" for axis in range(len(shape))]
    return tabulate(firms(seed, shape, rows), by, value="v", hierarchies=TREE if tree else None, rules=RULES)


def feasible(table: CrossTable, hidden: Flags) -> Iterator[np.ndarray]:
    """Every table of whole numbers that looks the same from outside; the total is published."""
    assert not hidden.flat[0]
    leaves = table.leaf_values()
    places = inner_places(table, hidden)
    left = int(sum(leaves[place] for place in places))
    for values in itertools.product(range(left + 1), repeat=max(len(places) - 1, 0)):
        if sum(values) > left:
            continue
        tried = leaves.copy()
        for place, value in zip(places, [*values, left - sum(values)], strict=False):
            tried[place] = value
        made = table.summed(tried)
        if np.array_equal(made[~hidden], table.values[~hidden]):
            yield made


def inner_places(table: CrossTable, hidden: Flags) -> list[tuple[int, ...]]:
    """The innermost cells that are hidden."""
    inner = hidden[np.ix_(*(one.leaves for one in table.dimensions))]
    return [tuple(map(int, place)) for place in zip(*np.nonzero(inner), strict=True)]


def counts(cells: np.ndarray, *, tree: bool = False) -> CrossTable:
    """A table of counts given by its innermost cells."""
    rows = [place for place, count in np.ndenumerate(cells) for _ in range(int(count))]
    columns = {f"d{axis}": [row[axis] for row in rows] for axis in range(cells.ndim)}
    return tabulate(Records.of(columns), list(columns), hierarchies=TREE if tree else None)


def small(seed: int, shape: tuple[int, ...]) -> CrossTable:
    draw = np.random.default_rng(seed)
    cells = draw.integers(0, 5, shape)
    for axis in range(len(shape)):  # every leaf occurs
        for leaf in range(shape[axis]):
            place = [0] * len(shape)
            place[axis] = leaf
            cells[tuple(place)] = max(cells[tuple(place)], 1)
    return counts(cells)


def test_tables_add_up_and_know_their_largest() -> None:
    records = firms(1, (4, 3), 60)
    table = table_of(1, (4, 3), 60, tree=True)
    assert [one.labels for one in table.dimensions] == [
        ("Total", "east", "west", "0", "1", "2", "3"),
        ("Total", "0", "1", "2"),
    ]
    lists = records.as_lists()
    rows = list(zip(lists["d0"], lists["d1"], lists["v"], strict=True))
    groups = {"Total": {0, 1, 2, 3}, "east": {0, 1}, "west": {2, 3}, **{str(leaf): {leaf} for leaf in range(4)}}
    for at, name in enumerate(table.dimensions[0].labels):
        for to, other in enumerate(table.dimensions[1].labels):
            held = sorted((v for a, b, v in rows if a in groups[name] and other in ("Total", str(b))), reverse=True)
            assert table.values[at, to] == sum(held)
            assert table.contributions.count[at, to] == len(held)
            assert table.contributions.largest[at, to].tolist() == [*held, 0, 0][:2]
    assert np.allclose(table.summed(table.leaf_values()), table.values)


def test_contributions_of_one_holder_count_once() -> None:
    records = Records.of({"d": ["x", "x", "x", "y"], "v": [5, 7, 3, 1], "firm": ["A", "A", "B", "A"]})
    table = tabulate(records, ["d"], value="v", holder="firm")
    assert table.contributions.largest.tolist() == [[13, 3], [12, 3], [1, 0]]
    assert table.contributions.count.tolist() == [2, 2, 1]


@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2)])
def test_audit_agrees_with_brute_force(shape: tuple[int, ...]) -> None:
    """Random holes: the exact bounds hold every feasible table, and in two dimensions are reached by one."""
    for seed in range(6):
        table = small(seed, shape)
        draw = np.random.default_rng(seed)
        hidden = draw.random(table.shape) < 0.35
        hidden[(0,) * len(shape)] = False
        if len(inner_places(table, hidden)) > 4:
            continue
        low, high = bounds(table, hidden)
        found = np.array(list(feasible(table, hidden)))
        assert (found.min(axis=0) >= low - 1e-6).all()
        assert (found.max(axis=0) <= high + 1e-6).all()
        if len(shape) == 2:
            assert np.allclose(found.min(axis=0), low)
            assert np.allclose(found.max(axis=0), high)
        needed = np.where(hidden, draw.integers(0, 3, table.shape), 0).astype(float)
        far = (high - table.values < needed - 1e-6) | (table.values - low < np.minimum(needed, table.values) - 1e-6)
        assert np.array_equal(audit(table, hidden, needed).open, far)


@pytest.mark.requirement("2.15")
def test_patterns_are_safe_by_brute_force() -> None:
    """Counts below 3 are hidden, and others with them, so that every count below 3 may be 3 for all one can tell."""
    done = 0
    for seed in range(30):
        table = small(seed, (3, 3))
        pattern = suppress_cells(table, [Threshold(3)])
        if pattern.hidden.flat[0] or len(inner_places(table, pattern.hidden)) > 4:
            continue
        assert not pattern.unprotected.any()
        found = np.array(list(feasible(table, pattern.hidden)))
        assert np.array_equal(pattern.primary, (table.values > 0) & (table.values < 3))
        assert (found.max(axis=0)[pattern.primary] >= 3).all()
        assert audit(table, pattern.hidden, pattern.needed).safe
        if pattern.primary.any():
            assert (pattern.complementary).any()
            done += 1
    assert done >= 5


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize(
    ("shape", "rows", "tree"), [((4, 5), 70, True), ((4, 3, 3), 150, True), ((6, 5, 4), 500, False)]
)
def test_patterns_are_safe_by_audit(shape: tuple[int, ...], rows: int, tree: bool, cost: str) -> None:
    for seed in range(2):
        table = table_of(seed, shape, rows, tree=tree)
        rules: list[Rule] = [PPercent(15), Dominance(1, 70), Threshold(3)]
        pattern = suppress_cells(table, rules, cost=cost)
        assert pattern.primary.any()
        checked = audit(table, pattern.hidden, pattern.needed)
        assert np.array_equal(checked.open & ~pattern.unprotected, np.zeros(table.shape, bool))
        assert not pattern.unprotected.any()
        low, high = bounds(table, pattern.hidden, pattern.primary)
        assert (high - table.values >= pattern.needed - 1e-6)[pattern.primary].all()
        assert (low <= table.values - np.minimum(pattern.needed, table.values) + 1e-6)[pattern.primary].all()
        assert (checked.low >= low - 1e-6)[pattern.primary].all()


def test_audit_catches_a_pattern_without_complements() -> None:
    table = table_of(3, (4, 5), 60)
    pattern = suppress_cells(table, RULES)
    assert pattern.primary.any()
    alone = audit(table, pattern.primary, pattern.needed)
    assert alone.open.any()
    with pytest.raises(CheckFailedError, match="can be computed too closely"):
        alone.require_safe()
    audit(table, pattern.hidden, pattern.needed).require_safe()
    for place in np.flatnonzero(pattern.complementary):
        fewer = pattern.hidden.copy()
        fewer.flat[place] = False
        if not audit(table, fewer, pattern.needed).safe:
            break
    else:
        pytest.fail("every single complementary cell could be published: they protect nothing")


def test_a_published_hole_in_a_row_is_a_subtraction() -> None:
    """The attack on primary suppression alone: total less the others."""
    table = counts(np.array([[1, 7, 9], [6, 8, 5]]))
    pattern = suppress_cells(table, [Threshold(3)])
    assert pattern.primary.sum() == 1
    low, high = bounds(table, pattern.primary)
    assert low[pattern.primary] == high[pattern.primary] == 1
    low, high = bounds(table, pattern.hidden)
    assert high[pattern.primary] >= 3


@pytest.mark.requirement("2.19")
def test_another_table_opens_the_cells() -> None:
    """Two tables of the same persons, one by towns and one by pairs of them: each is audited safe on its own."""
    cells = np.array([[4, 9, 8], [2, 7, 9], [9, 8, 6], [7, 9, 9]])
    towns, pairs = counts(cells), counts(np.array([cells[1] + cells[2], cells[0] + cells[3]]))
    pattern = suppress_cells(towns, [Threshold(3)])
    audit(towns, pattern.hidden, pattern.needed).require_safe()
    assert not suppress_cells(pairs, [Threshold(3)]).hidden.any()
    assert inner_places(towns, pattern.hidden) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    low, high = bounds(towns, pattern.hidden)
    assert low[2, 1] == 0
    assert high[2, 1] >= 6
    # Town 2 is published, so the pair of 1 and 2 less town 2 is the hidden count of town 1.
    assert pairs.values[1, 1] - towns.values[3, 1] == 2


@pytest.mark.slow
def test_ten_thousand_cells_are_safe() -> None:
    draw = np.random.default_rng(1)
    shape = 20, 20, 25
    rows = 120_000
    columns = {
        f"d{axis}": draw.choice(size, rows, p=draw.dirichlet(np.full(size, 2.0))).tolist()
        for axis, size in enumerate(shape)
    }
    records = Records.of({**columns, "v": np.round(draw.lognormal(4, 1.2, rows)).tolist()})
    table = tabulate(records, ["d0", "d1", "d2"], value="v", rules=[PPercent(10)])
    pattern = suppress_cells(table, [PPercent(10)])
    assert table.leaf_values().size == 10_000
    assert pattern.primary.sum() > 1000
    assert audit(table, pattern.hidden, pattern.needed).safe


def test_grids_hide_what_is_hidden() -> None:
    table = counts(np.array([[1, 7, 9], [6, 8, 5]]))
    pattern = suppress_cells(table, [Threshold(3)])
    shown = {row[:2]: row[2] for row in pattern.grid().rows}
    assert shown["Total", "Total"] == 36
    assert shown["0", "0"] is None
    assert sum(value is None for value in shown.values()) == pattern.hidden.sum()
    assert [row[1] for row in pattern.summary().rows] == [
        1,
        int(pattern.hidden.sum()) - 1,
        int((~pattern.hidden).sum()),
    ]


def test_refusals() -> None:
    records = Records.of({"d": ["x", "y"], "v": [-1, 2]})
    with pytest.raises(DiscreetError, match="negative or missing"):
        tabulate(records, ["d"], value="v")
    with pytest.raises(DiscreetError, match="nothing"):
        suppress_cells(tabulate(records, ["d"]), [])
    wide = Records.of({f"d{at}": list(range(200)) for at in range(3)})
    with pytest.raises(DiscreetError, match="too many cells"):
        tabulate(wide, ["d0", "d1", "d2"])
