"""Distances of tables: by hand, against counting in plain Python, and baselines against simulation."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from discreet.draw import to_svg
from discreet.errors import ArgumentError
from discreet.utility.marginals import compare_marginals

Table = dict[str, Any]


def table(generator: np.random.Generator, n: int) -> Table:
    a = generator.choice(["p", "q", "r"], n, p=[0.6, 0.3, 0.1])
    return {
        "a": a.tolist(),
        "b": [None if gone else int(value) for gone, value in zip(a == "r", generator.integers(0, 5, n), strict=True)],
        "c": generator.choice(["u", "v"], n).tolist(),
    }


def far(one: list[Any], other: list[Any]) -> float:
    first, second = Counter(one), Counter(other)
    return sum(abs(first[key] / len(one) - second[key] / len(other)) for key in first | second) / 2


def test_distances_equal_counting_by_hand() -> None:
    generator = np.random.default_rng(1)
    original, copies = table(generator, 200), [table(generator, 300) for _ in range(3)]
    found = compare_marginals(original, copies)
    for one in found.one:
        (name,) = one.columns
        assert one.distance == pytest.approx(np.mean([far(original[name], copy[name]) for copy in copies]))
        assert one.independent is None
    assert [one.columns for one in found.two] == list(combinations("abc", 2))
    for one in found.two:
        pairs = [list(zip(*(copy[name] for name in one.columns), strict=True)) for copy in [original, *copies]]
        assert one.distance == pytest.approx(np.mean([far(pairs[0], pair) for pair in pairs[1:]]))
        counts: list[Counter[Any]] = [Counter(original[name]) for name in one.columns]
        joint = Counter(pairs[0])
        alone = sum(abs(joint[x, y] / 200 - counts[0][x] * counts[1][y] / 40_000) for x in counts[0] for y in counts[1])
        assert one.independent == pytest.approx(alone / 2)


def test_resampled_is_the_mean_distance_of_bootstrap_samples() -> None:
    generator = np.random.default_rng(2)
    original = table(generator, 80)
    drawn: dict[tuple[str, ...], list[float]] = {}
    for _ in range(400):
        rows = generator.integers(0, 80, 80)
        copy = {name: [values[row] for row in rows] for name, values in original.items()}
        found = compare_marginals(original, [copy])
        for one in (*found.one, *found.two):
            drawn.setdefault(one.columns, []).append(one.distance)
    for one in (*found.one, *found.two):
        error = float(np.std(drawn[one.columns])) / 20
        assert one.resampled == pytest.approx(np.mean(drawn[one.columns]), abs=4 * error)


def test_many_numbers_are_cut_at_the_tenths_of_the_original() -> None:
    original = {"x": np.arange(1000) / 10}
    moved = {"x": np.arange(1000) / 10 + 10.0}
    found = compare_marginals(original, [moved])
    assert found.one[0].distance == pytest.approx(0.1)  # the first tenth is empty now, the last twice as full
    shares = found.shares[0]
    assert len(shares.values) == 10
    assert shares.original == pytest.approx([0.1] * 10)
    assert shares.copies[0] == 0
    gone = {"x": [None if at < 500 else float(at) for at in range(1000)]}
    assert "missing" in compare_marginals(original, [gone]).shares[0].values


def test_what_stays_is_left_out() -> None:
    generator = np.random.default_rng(3)
    original = table(generator, 100)
    found = compare_marginals(original, [{**original, "c": original["c"][::-1]}])
    assert [one.columns for one in found.one] == [("c",)]
    assert [one.columns for one in found.two] == [("a", "c"), ("b", "c")]
    same = compare_marginals(original, [original])
    assert (same.one, same.two, same.sentences()) == ((), (), ())
    assert same.as_json()["mean_two_way"] is None


def test_columns_of_very_many_values_are_counted_all_the_same() -> None:
    generator = np.random.default_rng(4)
    original = {name: [f"{name}{at}" for at in generator.permutation(3000)] for name in "ab"}
    copy = {**original, "b": original["b"][::-1]}
    found = compare_marginals(original, [copy])
    pairs = [list(zip(one["a"], one["b"], strict=True)) for one in (original, copy)]
    assert found.two[0].distance == pytest.approx(far(*pairs))
    assert found.two[0].independent == pytest.approx(1 - 1 / 3000, abs=1e-6)


def test_charts_and_words() -> None:
    generator = np.random.default_rng(5)
    original = {**table(generator, 300), "code": generator.integers(0, 40, 300).astype(str)}
    copy = {**table(generator, 300), "code": generator.integers(0, 40, 300).astype(str)}
    found = compare_marginals(original, [copy])
    code = next(one for one in found.shares if one.column == "code").chart()
    assert len(code.y.categories) == 14
    assert code.y.categories[-1] == "others"
    assert to_svg(code).startswith("<svg")
    assert found.grid().rows[0][0] == "mean of 4 one-way tables"
    assert "those of a bootstrap sample would lie" in found.sentences()[1]
    with pytest.raises(ArgumentError, match="give copies"):
        compare_marginals(original, [])
