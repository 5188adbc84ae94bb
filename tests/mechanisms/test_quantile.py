"""Quantiles, minimum, maximum and count: closed forms against brute force, and exact privacy of the law."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ArgumentError
from discreet.guarantee import Adjacency
from discreet.mechanisms.aim import Aim, Highest, Lowest, Quantile, finest_share, ranks_off_the_end
from discreet.mechanisms.decay import Powers
from discreet.mechanisms.ordered import Cells, Ordered
from discreet.mechanisms.quantile import (
    choose_count,
    choose_quantile,
    choose_quantiles,
    count_law,
    quantile_law,
    quantiles_law,
)
from discreet.randomness import SeededBits, system_bits

ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
GRID = Cells(0, 3)
HALF = Fraction(1, 2)
Data = tuple[int, ...]


def ordered(data: Data, cells: Cells = GRID) -> Ordered:
    return Ordered.from_values(np.array(data, dtype=np.int64), cells)


def tables(size: int, top: int = 3) -> list[Data]:
    return list(combinations_with_replacement(range(top + 1), size))


def changes(one: Data, other: Data) -> int:
    return sum((Counter(one) - Counter(other)).values())


def neighbours(adjacency: Adjacency, largest: int, top: int = 3) -> Iterator[tuple[Data, Data]]:
    """Ordered pairs, sizes 0 and 1 included."""
    for size in range(largest + 1):
        for one in tables(size, top):
            if adjacency is REPLACE:
                yield from ((one, other) for other in tables(size, top) if changes(one, other) == 1)
            else:
                longer = {tuple(sorted((*one, extra))) for extra in range(top + 1)}
                yield from ((one, other) for other in longer)
                yield from ((other, one) for other in longer)


def distances(data: Data, aim: Aim, adjacency: Adjacency, tie_width: int = 0) -> dict[int, Fraction]:
    """The distance of each cell, read back off the law as the power it is weighed by."""
    # With base 2^(2·sensitivity) a step weighs one half.
    sensitivity = aim.limits(len(data), adjacency).sensitivity
    law = quantile_law(
        ordered(data), aim, epsilon=Powers(Fraction(4**sensitivity)), adjacency=adjacency, tie_width=tie_width
    )
    best = max(law.values())
    return {cell: Fraction((best / p).numerator.bit_length() - 1) for cell, p in law.items()}


def least_changes(data: Data, f: Callable[[Data], int], z: int) -> int:
    """How many records must be replaced until f is z: by trying all tables."""
    return min(changes(data, other) for other in tables(len(data)) if f(other) == z)


def rank_of(k: int) -> Callable[[Data], int]:
    return lambda data: sorted(data)[k - 1]


@pytest.mark.requirement("1.29", "1.31")
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("rule", ["lower", "upper"])
def test_distance_is_the_least_number_of_changes(size: int, rule: str) -> None:
    """Median, quartile and maximum of every table of {0..3}: 224 cases for the median of five alone."""
    for q in (HALF, Fraction(1, 4), Fraction(4, 5)):
        aim = Quantile(q, "lower" if rule == "lower" else "upper")
        rank = next(k for k in range(1, size + 1) if (k >= q * size if rule == "lower" else k > q * size))
        for data in tables(size):
            expected = {z: least_changes(data, rank_of(rank), z) for z in range(4)}
            assert distances(data, aim, REPLACE) == expected
            assert expected[rank_of(rank)(data)] == 0  # the statistic itself is the mode
    for off in range(size):
        for data in tables(size):
            assert distances(data, Highest(off), REPLACE) == {
                z: least_changes(data, rank_of(size - off), z) for z in range(4)
            }
            assert distances(data, Lowest(off), REPLACE) == {
                z: least_changes(data, rank_of(off + 1), z) for z in range(4)
            }


@pytest.mark.requirement("1.32")
def test_count_is_weighed_by_its_distance() -> None:
    for records in (1, 2, 4):
        for count in range(records + 1):
            law = count_law(count, records, epsilon=Powers(Fraction(4)))
            weights = {z: Fraction(1, 2) ** abs(z - count) for z in range(records + 1)}
            assert law == {z: weight / sum(weights.values()) for z, weight in weights.items()}
    assert {
        choose_count(2, 4, epsilon=Fraction(1), bits=SeededBits(seed), teaching=True) for seed in range(200)
    } == set(range(5))


def score(data: Data, q: Fraction, z: int) -> Fraction:
    """The score of an add-remove quantile, written out: the least |(1−q)·L − q·G| over where ties are counted."""
    below, above = sum(x < z for x in data), sum(x > z for x in data)
    ties = len(data) - below - above
    reach = [
        (1 - q) * (below + part) - q * (above + ties - part)
        for part in (Fraction(0), Fraction(ties), q * len(data) - below)
        if 0 <= part <= ties
    ]
    return min(abs(value) for value in reach)


AIMS = (
    Quantile(HALF),
    Quantile(Fraction(1, 4)),
    Quantile(Fraction(2, 3)),
    Highest(0),
    Highest(1),
    Lowest(0),
    Lowest(2),
)


def direct(data: Data, aim: Aim, adjacency: Adjacency, z: int) -> int:
    below, above = sum(x < z for x in data), sum(x > z for x in data)
    limits = aim.limits(len(data), adjacency)
    return max(0, limits.unit * below - limits.below, limits.unit * above - limits.above)


@pytest.mark.parametrize("adjacency", [ADD, REPLACE])
@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_distance_moves_by_no_more_than_its_sensitivity(aim: Aim, adjacency: Adjacency) -> None:
    moves = {
        abs(direct(one, aim, adjacency, z) - direct(other, aim, adjacency, z))
        for one, other in neighbours(adjacency, 4)
        for z in range(-1, 5)
    }
    assert max(moves) == aim.limits(4, adjacency).sensitivity  # reached, never passed


@given(st.lists(st.integers(0, 3), max_size=9).map(lambda xs: tuple(sorted(xs))), st.sampled_from(AIMS[:3]))
def test_add_remove_distance_is_the_written_score(data: Data, aim: Quantile) -> None:
    expected = {z: score(data, aim.q, z) * aim.q.denominator for z in range(4)}
    least = min(expected.values())
    assert distances(data, aim, ADD) == {z: value - least for z, value in expected.items()}


@pytest.mark.requirement("1.30")
@pytest.mark.parametrize("adjacency", [ADD, REPLACE])
@pytest.mark.parametrize("tie_width", [0, 1, 2])
@pytest.mark.parametrize("aim", AIMS, ids=str)
def test_odds_stay_within_the_claim(aim: Aim, adjacency: Adjacency, tie_width: int) -> None:
    claim = Fraction(4 ** aim.limits(3, adjacency).sensitivity)
    law = {
        data: quantile_law(ordered(data), aim, epsilon=Powers(claim), adjacency=adjacency, tie_width=tie_width)
        for size in range(5)
        for data in tables(size)
    }
    for one, other in neighbours(adjacency, 3):
        assert all(law[one][z] <= claim * law[other][z] for z in range(4))


@given(
    st.lists(st.integers(-3, 14), max_size=12),
    st.sampled_from(AIMS),
    st.sampled_from([ADD, REPLACE]),
    st.integers(0, 4),
)
def test_a_tie_width_takes_the_least_distance_near_by(
    values: list[int], aim: Aim, adjacency: Adjacency, width: int
) -> None:
    cells = Cells(0, 11)
    data = ordered(tuple(values), cells)
    base = Powers(Fraction(4 ** aim.limits(1, adjacency).sensitivity))
    clamped = tuple(min(max(value, 0), 11) for value in values)
    far = {z: min(direct(clamped, aim, adjacency, y) for y in range(12) if abs(y - z) <= width) for z in range(12)}
    weights = {z: Fraction(1, 2) ** steps for z, steps in far.items()}
    assert quantile_law(data, aim, epsilon=base, adjacency=adjacency, tie_width=width) == {
        z: weight / sum(weights.values()) for z, weight in weights.items()
    }


@given(st.lists(st.integers(-5, 25), max_size=30))
def test_array_and_histogram_are_one(values: list[int]) -> None:
    cells = Cells(2, 17)
    counts = np.bincount([min(max(value, 2), 17) - 2 for value in values], minlength=16)
    from_array = ordered(tuple(values), cells)
    from_histogram = Ordered.from_histogram(counts, cells)
    for adjacency in (ADD, REPLACE):
        one, other = (
            quantile_law(data, Quantile(HALF), epsilon=Powers(Fraction(4)), adjacency=adjacency)
            for data in (from_array, from_histogram)
        )
        assert one == other
        assert len(one) == 16


def test_integers_of_any_kind_are_moved_to_the_nearest_end() -> None:
    huge = np.array([2**64 - 1, 2**63, 0, 2], dtype=np.uint64)
    part = Ordered.from_counts(huge, np.ones(4, dtype=np.uint8), GRID)
    assert (part.places.tolist(), part.counts.tolist()) == ([0, 2, 3], [1, 1, 2])
    low = Ordered.from_counts(np.array([-128, 127], dtype=np.int8), np.array([1, 5]), GRID)
    assert (low.places.tolist(), low.counts.tolist()) == ([0, 3], [1, 5])


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(0, 9), st.integers(0, 9))
def test_a_record_changes_one_side_of_a_cut(values: list[int], extra: int, place: int) -> None:
    cells = Cells(0, 9)

    def sides(data: list[int]) -> list[Counter[int]]:
        parts = ordered(tuple(data), cells).cut(place)
        return [Counter(dict(zip(part.places.tolist(), part.counts.tolist(), strict=True))) for part in parts]

    before, after = sides(values), sides([*values, extra])
    gained = [new - old for old, new in zip(before, after, strict=True)]
    assert sorted(sum(gain.values()) for gain in gained) == [0, 1]
    assert before[0] + before[1] == Counter(values)


@pytest.mark.parametrize(("adjacency", "claim"), [(ADD, Fraction(16)), (REPLACE, Fraction(256))])
def test_several_quantiles_are_private(adjacency: Adjacency, claim: Fraction) -> None:
    shares = [Fraction(1, 4), HALF, Fraction(3, 4)]
    law = {
        data: quantiles_law(ordered(data, Cells(0, 2)), shares, epsilon=Powers(claim), adjacency=adjacency)
        for size in range(4)
        for data in tables(size, 2)
    }
    worst = Fraction(0)
    for one, other in neighbours(adjacency, 2, 2):
        assert sum(law[one].values()) == 1
        worst = max(worst, *(law[one][values] / law[other][values] for values in law[one]))
    assert 4 < worst <= claim
    assert all(list(values) == sorted(values) for values in law[0, 1, 2])


def test_several_quantiles_split_their_budget_as_declared() -> None:
    data, shares = ordered((0, 1, 2, 3)), [Fraction(1, 4), HALF]
    split = [Fraction(3, 4), Fraction(1, 4)]
    joint = quantiles_law(data, shares, epsilon=Powers(Fraction(256)), adjacency=ADD, split=split)
    first: dict[int, Fraction] = defaultdict(Fraction)
    for (_, middle), probability in joint.items():
        first[middle] += probability
    assert dict(first) == quantile_law(data, Quantile(HALF), epsilon=Powers(Fraction(64)), adjacency=ADD)
    for wrong in ([Fraction(1)], [Fraction(1), Fraction(1)], [Fraction(0), Fraction(1)]):
        with pytest.raises(ArgumentError):
            quantiles_law(data, shares, epsilon=Powers(Fraction(256)), adjacency=ADD, split=wrong)


def test_a_billion_cells_are_a_few_runs() -> None:
    values = np.arange(1000, dtype=np.int64) ** 2 * 1000
    data = Ordered.from_values(values, Cells(0, 10**9))
    answers = choose_quantiles(
        data, [Fraction(1, 10), HALF, Fraction(9, 10)], epsilon=4, adjacency=ADD, bits=SeededBits(3), teaching=True
    )
    near = [int(np.searchsorted(values, answer.value)) for answer in answers]
    assert [round(rank / 100) for rank in near] == [1, 5, 9]
    assert [answer.aims_at for answer in answers] == ["the 0.1 quantile", "the median", "the 0.9 quantile"]


def test_draws_follow_the_law() -> None:
    data = ordered((0, 0, 1, 3, 3, 3, 2))
    law = quantile_law(data, Quantile(HALF), epsilon=Powers(Fraction(4)), adjacency=ADD)
    draws = Counter(
        choose_quantile(
            data, Quantile(HALF), epsilon=Powers(Fraction(4)), adjacency=ADD, bits=SeededBits(seed), teaching=True
        ).value
        for seed in range(4000)
    )
    assert sum((draws[z] - 4000 * float(p)) ** 2 / (4000 * float(p)) for z, p in law.items()) < 30


def test_an_end_is_aimed_at_from_inside_and_says_so() -> None:
    epsilon, cells = Fraction(1), Cells(0, 10**6)
    values = np.arange(500, dtype=np.int64) * 1000
    off = ranks_off_the_end(epsilon, cells.size)
    assert 20 * cells.size <= np.exp(off / 2) < 40 * cells.size
    answers = [
        choose_quantile(
            Ordered.from_values(values, cells), aim, epsilon=epsilon, adjacency=ADD, bits=SeededBits(at), teaching=True
        )
        for aim in (Highest(off), Lowest(off))
        for at in range(50)
    ]
    assert all(0 < answer.value < 499_000 for answer in answers)
    assert (
        answers[0].aims_at
        == f"the maximum, aimed at {off} ranks off the end: rank {off + 1} counted from the highest value"
    )
    assert answers[-1].aims_at.startswith("the minimum, aimed at")
    assert "pull outwards" in Highest(0).text
    assert Lowest(1).text == "the minimum, aimed at 1 rank off the end: rank 2 counted from the lowest value"
    # Aimed at the maximum itself, the empty cells above it take the answer away from the data.
    itself = quantile_law(ordered((0, 1, 1), Cells(0, 99)), Highest(0), epsilon=Powers(Fraction(4)), adjacency=ADD)
    assert sum(p for z, p in itself.items() if z > 1) > Fraction(9, 10)


def test_what_is_no_question_is_refused() -> None:
    data = ordered((1, 2))
    for q in (0, 1, Fraction(3, 2), Fraction(1, 10**7)):
        with pytest.raises(ArgumentError):
            Quantile(Fraction(q))
    for end in (Highest, Lowest):
        with pytest.raises(ArgumentError):
            end(-1)
    for lowest, highest in ((3, 2), (0, 1 << 41), (-(1 << 62), 3 - (1 << 62)), ((1 << 62) - 3, 1 << 62)):
        with pytest.raises(ArgumentError):
            Cells(lowest, highest)
    with pytest.raises(ArgumentError, match="tie_width"):
        choose_quantile(data, Quantile(HALF), epsilon=1, adjacency=ADD, bits=SeededBits(0), tie_width=-1, teaching=True)
    with pytest.raises(ArgumentError):
        choose_count(3, 2, epsilon=1, bits=SeededBits(0), teaching=True)
    with pytest.raises(ArgumentError):
        choose_count(3, 10**8, epsilon=1, bits=SeededBits(0), teaching=True)
    for shares in ([], [HALF, HALF], [HALF, Fraction(1, 4)]):
        with pytest.raises(ArgumentError, match="none, or not ascending"):
            choose_quantiles(data, shares, epsilon=1, adjacency=ADD, bits=SeededBits(0), teaching=True)
    with pytest.raises(ArgumentError):
        Ordered.from_histogram(np.ones(3, dtype=np.int64), GRID)
    with pytest.raises(ArgumentError):
        Ordered.from_counts(np.array([1]), np.array([-1]), GRID)
    for places in ([2, 1], [1, 1], [-1, 0], [3, 4]):
        with pytest.raises(ArgumentError):
            Ordered(GRID, np.array(places), np.array([1, 1]))
    with pytest.raises(ArgumentError):
        Ordered.from_values(np.array([0.5]), GRID)
    assert "1" not in repr(data).split(" at ")[0]


@pytest.mark.parametrize("aim", [Quantile(Fraction(123_457, 10**6)), Highest(10**30), Lowest(10**30)], ids=str)
@pytest.mark.parametrize("weight", [2**34, 2**58])
def test_distances_beyond_64_bits_are_exact(aim: Aim, weight: int) -> None:
    """Heavy records times a fine share, and ends aimed at from absurdly far: the law is that of unbounded integers."""
    data = Ordered.from_counts(np.array([0, 2]), np.array([3 * weight, 4 * weight]), GRID)
    limits = aim.limits(data.size, ADD)
    heavy = (0,) * 3 + (2,) * 4
    far = [
        max(
            0,
            limits.unit * weight * sum(x < z for x in heavy) - limits.below,
            limits.unit * weight * sum(x > z for x in heavy) - limits.above,
        )
        for z in range(4)
    ]
    # At ε = 1 for a single record the nearest cells alone are left.
    chosen = {
        choose_quantile(data, aim, epsilon=1, adjacency=ADD, bits=SeededBits(seed), teaching=True).value
        for seed in range(40)
    }
    assert chosen == {z for z in range(4) if far[z] == min(far)}
    assert max(far) > 2**63 or weight == 2**34


def test_shares_are_too_fine_together_before_anything_is_drawn() -> None:
    """Each share is coarse; the quantile that one leaves of another's part would not be."""
    shares = [Fraction(1, 1009), Fraction(1, 1000), HALF]
    assert finest_share(shares[1:]) == 1000
    with pytest.raises(ArgumentError, match="too fine together"):
        choose_quantiles(ordered((1, 2)), shares, epsilon=1, adjacency=ADD, bits=SeededBits(0), teaching=True)
    for several in (
        [Fraction(1, 6), Fraction(1, 4), Fraction(2, 3), Fraction(9, 10)],
        [Fraction(k, 97) for k in (1, 7, 50)],
    ):
        aims = aims_of(several)
        assert len(aims) == len(several)
        assert max(q.denominator for q in aims) <= finest_share(several)


def aims_of(shares: list[Fraction]) -> list[Fraction]:
    """The q that each step of the recursion aims at in the part that is left to it."""
    if not shares:
        return []
    at = len(shares) // 2
    q = shares[at]
    left, right = [share / q for share in shares[:at]], [(share - q) / (1 - q) for share in shares[at + 1 :]]
    return [*aims_of(left), q, *aims_of(right)]


@pytest.mark.parametrize(("epsilon", "least"), [(Fraction(10) ** 400, 1), (Fraction(1, 10**400), 10**400)])
def test_ranks_off_the_end_know_no_largest_epsilon(epsilon: Fraction, least: int) -> None:
    assert least <= ranks_off_the_end(epsilon, 100) <= 16 * least


def test_a_count_is_chosen_among_many_records_and_refused_among_too_many() -> None:
    assert 0 <= choose_count(3, 10_000, epsilon=1, bits=system_bits()) <= 10_000
    with pytest.raises(ArgumentError, match="too many records"):
        choose_count(3, 10**7 + 1, epsilon=1, bits=system_bits())
