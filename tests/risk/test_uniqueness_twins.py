"""Every measure against its definition, written out slowly, on small tables with missing values."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.risk.classes import count_classes
from discreet.risk.combinations import count_combinations
from discreet.risk.diversity import measure_diversity
from discreet.risk.growth import count_growth
from tests.risk.stored import stored

NAMES = ("a", "b", "c", "d")
Row = tuple[int | None, str | None, int | None, int | None]
numbers = st.none() | st.integers(-2, 2)
rows = st.lists(st.tuples(numbers, st.none() | st.text(max_size=1), numbers, numbers), min_size=1, max_size=25)
twin = settings(max_examples=25, deadline=None, derandomize=True)


def columns(table: Sequence[Row]) -> dict[str, list[object]]:
    return {name: [row[at] for row in table] for at, name in enumerate(NAMES)}


def sizes(table: Sequence[Row], places: Sequence[int]) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row[at] for at in places) for row in table)


def unique(table: Sequence[Row], places: Sequence[int]) -> list[int]:
    counted = sizes(table, places)
    return [at for at, row in enumerate(table) if counted[tuple(row[place] for place in places)] == 1]


@twin
@given(rows)
def test_classes(table: list[Row]) -> None:
    counted = sizes(table, range(4))
    with stored(columns(table)) as opened:
        classes = count_classes(*opened, NAMES)
    assert dict(classes.sizes) == Counter(counted.values())
    assert (classes.count, classes.k, classes.records) == (len(counted), min(counted.values()), len(table))
    assert classes.below(3) == sum(size for size in counted.values() if size < 3)


@twin
@given(rows)
def test_growth_never_falls_and_greedy_picks_the_worst(table: list[Row]) -> None:
    with stored(columns(table)) as opened:
        given_order, greedy = count_growth(*opened, NAMES), count_growth(*opened, NAMES, greedy=True)
    assert [step.unique for step in given_order] == [len(unique(table, range(at))) for at in range(1, 5)]
    assert greedy[0].unique == max(len(unique(table, [at])) for at in range(4))
    assert greedy[-1].unique == given_order[-1].unique
    assert all(step.quasi[:-1] == before.quasi for before, step in pairwise(greedy))


@twin
@given(rows, st.integers(1, 4))
def test_combinations_and_special_uniques(table: list[Row], largest: int) -> None:
    sets = [one for size in range(1, largest + 1) for one in combinations(range(4), size)]
    found = {one: set(unique(table, one)) for one in sets}
    special = {
        one: {row for row in found[one] if not any(row in found[part] for part in sets if set(part) < set(one))}
        for one in sets
    }
    with stored(columns(table)) as opened:
        answer = count_combinations(*opened, NAMES, records=len(table), largest=largest)
    named = {one.columns: (one.unique, one.minimal) for one in answer.riskiest}
    assert named == {tuple(NAMES[at] for at in one): (len(found[one]), len(special[one])) for one in sets}
    assert [one.unique for one in answer.riskiest] == sorted((len(held) for held in found.values()), reverse=True)
    smallest = {row: min(len(one) for one in sets if row in special[one]) for row in set().union(*special.values())}
    assert dict(answer.by_size) == {size: list(smallest.values()).count(size) for size in range(1, largest + 1)}
    needing = {name: set().union(*(special[one] for one in sets if at in one)) for at, name in enumerate(NAMES)}
    assert dict(answer.by_column) == {name: len(held) for name, held in needing.items()}
    assert answer.special == len(smallest)


def classes_of(table: Sequence[Row]) -> list[list[object]]:
    """The sensitive values of each class of the first two columns."""
    held: defaultdict[tuple[object, ...], list[object]] = defaultdict(list)
    for row in table:
        held[row[:2]].append(row[2])
    return list(held.values())


def entropy(values: Sequence[object]) -> float:
    return -sum(n / len(values) * math.log(n / len(values)) for n in Counter(values).values())


def equal_distance(values: Sequence[object], whole: Sequence[object]) -> float:
    here, there = Counter(values), Counter(whole)
    return sum(abs(here[one] / len(values) - there[one] / len(whole)) for one in there) / 2


def ordered_distance(values: Sequence[object], whole: Sequence[object]) -> float:
    levels = sorted(set(whole), key=lambda value: (value is None, value))
    here, there, far = Counter(values), Counter(whole), 0.0
    lead = 0.0
    for level in levels[:-1]:
        lead += here[level] / len(values) - there[level] / len(whole)
        far += abs(lead)
    return far / (len(levels) - 1) if len(levels) > 1 else 0.0


@twin
@given(rows)
def test_diversity(table: list[Row]) -> None:
    classes, whole = classes_of(table), [row[2] for row in table]
    with stored(columns(table)) as opened:
        found = measure_diversity(*opened, ["a", "b"], "c")
    assert found.distinct_l == min(len(set(values)) for values in classes)
    assert found.given_away == sum(len(values) for values in classes if len(set(values)) == 1)
    assert (found.values, found.commonest) == (len(set(whole)), max(Counter(whole).values()))
    assert found.entropy_l == pytest.approx(math.exp(min(map(entropy, classes))), rel=1e-12)
    assert found.t_equal == pytest.approx(max(equal_distance(values, whole) for values in classes), abs=1e-12)
    if whole.count(None) < len(whole):
        assert found.t_ordered == pytest.approx(max(ordered_distance(values, whole) for values in classes), abs=1e-12)
    else:
        assert found.t_ordered is None


@twin
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 40)), min_size=1, max_size=60))
def test_ordered_distance_over_many_values(table: list[tuple[int, int]]) -> None:
    """Few classes over many values: the difference changes its sign inside long stretches without a record."""
    whole = [value for _, value in table]
    with stored({"class": [row[0] for row in table], "value": whole}) as opened:
        found = measure_diversity(*opened, ["class"], "value")
    classes = [[value for at, value in table if at == one] for one in {row[0] for row in table}]
    assert found.t_ordered == pytest.approx(max(ordered_distance(values, whole) for values in classes), abs=1e-12)
    assert found.entropy_l == pytest.approx(math.exp(min(map(entropy, classes))), rel=1e-12)
