"""Primary rules: their definitions, both forms of the p % rule, and what a hole tells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DiscreetError
from discreet.risk.dominance import Contributions, Dominance, PPercent, Threshold, parse_rule, ratio_bound

CELLS = st.lists(st.lists(st.integers(0, 1000), max_size=6), min_size=1, max_size=20)
P = st.sampled_from([1.0, 5.0, 10.0, 25.0, 80.0])


@pytest.mark.requirement("1.08")
@given(CELLS, P)
def test_both_forms_agree(cells: list[list[int]], p: float) -> None:
    """R < p/100 · x1 just when x1 / (S − x2) > 1 / (1 + p/100); with p itself in its place it is another rule."""
    found = PPercent(p).finds(Contributions.of(cells))
    for contributions, sensitive in zip(cells, found, strict=True):
        x1, x2, *rest = [*sorted(contributions, reverse=True), 0, 0]
        assert sensitive == (100 * sum(rest) < p * x1)
        rate = x1 / (sum(contributions) - x2) if sum(contributions) > x2 else 0.0
        if abs(100 * sum(rest) - p * x1) > 1e-6:
            assert sensitive == (rate > ratio_bound(p))


@pytest.mark.requirement("1.08")
def test_ten_percent_is_not_compared_with_the_ratio() -> None:
    assert ratio_bound(10) == pytest.approx(0.9091, abs=5e-5)
    cells = Contributions.of([[100, 50, 9], [100, 50, 11], [100, 50, 10]])
    assert PPercent(10).finds(cells).tolist() == [True, False, False]
    rates = [100 / 109, 100 / 111]
    assert [rate > ratio_bound(10) for rate in rates] == [True, False]
    assert all(rate > 0.10 for rate in rates), "compared with .10 itself, every cell would be sensitive"


@pytest.mark.requirement("1.08")
@given(st.lists(st.integers(1, 1000), min_size=2, max_size=6), P)
def test_what_is_needed_keeps_the_second_off(contributions: list[int], p: float) -> None:
    """Within the least interval allowed, the second contributor's largest estimate of the first is off by p %."""
    cell = Contributions.of([contributions])
    needed = float(PPercent(p).needed(cell)[0])
    x1, x2 = sorted(contributions, reverse=True)[:2]
    estimate = sum(contributions) + needed - x2
    if needed > 0:
        assert estimate == pytest.approx(x1 * (1 + p / 100))
    else:
        assert estimate >= x1 * (1 + p / 100) - 1e-9


@given(CELLS, st.integers(1, 2), st.sampled_from([50.0, 80.0, 90.0]))
def test_dominance_is_its_definition(cells: list[list[int]], n: int, k: float) -> None:
    rule = Dominance(n, k)
    made = Contributions.of(cells)
    for contributions, sensitive, needed in zip(cells, rule.finds(made), rule.needed(made), strict=True):
        held, total = sum(sorted(contributions, reverse=True)[:n]), sum(contributions)
        if abs(100 * held - k * total) > 1e-6:
            assert sensitive == (100 * held > k * total)
        assert held <= k / 100 * (total + needed) + 1e-6


def test_threshold_counts_contributors() -> None:
    cells = Contributions.of([[], [5], [5, 5], [5, 5, 5]])
    assert Threshold(3).finds(cells).tolist() == [False, True, True, False]
    assert Threshold(3).needed(cells).tolist() == [0, 1.5, 3.0, 0]
    found = np.array([0, 1, 4])
    counts = Contributions(total=np.array([0.0, 1, 4]), count=found, largest=np.ones((3, 2)), is_count=True)
    assert Threshold(5).needed(counts).tolist() == [0, 4, 1]


@pytest.mark.requirement("1.10")
def test_a_hole_tells_of_the_data() -> None:
    """Whether a cell is published depends on the contributions: two tables that differ in one person differ in a hole.

    One of them publishes the total and the other does not, so that no ε bounds what the difference tells.
    """
    rule = PPercent(10)
    with_, without = Contributions.of([[100, 50, 11]]), Contributions.of([[100, 50]])
    assert rule.finds(with_).tolist() == [False]
    assert rule.finds(without).tolist() == [True]
    # Who sees the hole, and knows that the second contributes 50, learns that the rest is below a tenth of the first.
    assert float(with_.total[0]) - 150 >= 0.1 * 100 > float(without.total[0]) - 150


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("p:10", PPercent(10)),
        ("nk:1,80", Dominance(1, 80)),
        ("nk:2,85.5", Dominance(2, 85.5)),
        ("threshold:5", Threshold(5)),
    ],
)
def test_rules_are_read(text: str, rule: object) -> None:
    assert parse_rule(text) == rule


@pytest.mark.parametrize(
    "text", ["", "q:10", "p", "p:0", "p:1,2", "nk:1", "nk:1.5,80", "nk:1,100", "threshold:1", "p:x"]
)
def test_unknown_rules_are_refused(text: str) -> None:
    with pytest.raises(DiscreetError):
        parse_rule(text)


def test_a_rule_without_its_number_is_told_what_it_lacks() -> None:
    with pytest.raises(DiscreetError, match="no numbers; p has one number"):
        parse_rule("p")
    assert parse_rule(" nk : 1, 80") == Dominance(1, 80)
