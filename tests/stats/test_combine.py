"""Combining rules against hand-made figures, their edge cases, and the coverage of their intervals by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ArgumentError, CheckFailedError
from discreet.stats.combine import Rule, combine
from discreet.synthesis.imputation.copies import Copies

Q = np.array([[1.0], [2.0], [4.0]])
V = np.array([[1.0], [1.5], [2.0]])  # q̄ = 7/3, v̄ = 1.5, b = 7/3
B = 7 / 3


@pytest.mark.requirement("0.31", "0.32")
def test_partial_rule_by_hand() -> None:
    pooled = combine(Q, V, rule="partial", names=["age"])
    assert pooled.estimate == pytest.approx([7 / 3])
    assert pooled.between == pytest.approx([B])
    assert pooled.variance == pytest.approx([1.5 + B / 3])
    ratio = (B / 3) / 1.5
    assert pooled.df == pytest.approx([2 * (1 + 1 / ratio) ** 2])
    # t(0.975; 2 (1 + 27/14)²) = t(17.15…) = 2.10835 by the table, between 17 (2.1098) and 18 (2.1009)
    reach = (pooled.interval(0.95)[0, 1] - 7 / 3) / math.sqrt(1.5 + B / 3)
    assert 2.1009 < reach < 2.1098


@pytest.mark.requirement("0.32")
def test_without_variance_between_copies_the_normal_is_the_reference() -> None:
    pooled = combine(np.full((4, 1), 2.0), np.full((4, 1), 0.25))
    assert math.isinf(pooled.df[0])
    assert pooled.interval(0.95)[0] == pytest.approx([2 - 1.959964 / 2, 2 + 1.959964 / 2], abs=1e-6)
    assert pooled.p_values == pytest.approx([2 * 3.1671e-5], rel=1e-3)  # z = 4


def test_other_rules_by_hand() -> None:
    missing = combine(Q, V, rule=Rule.MISSING)
    extra = 4 / 3 * B
    assert missing.variance == pytest.approx([1.5 + extra])
    assert missing.df == pytest.approx([2 * (1 + 1.5 / extra) ** 2])
    small = combine(Q, V, rule=Rule.MISSING, complete_df=20)
    seen = 21 / 23 * 20 * (1.5 / (1.5 + extra))
    assert small.df == pytest.approx([1 / (1 / missing.df[0] + 1 / seen)])
    full = combine(Q, V, rule=Rule.FULL)
    assert full.variance == pytest.approx([extra - 1.5])
    assert full.df == pytest.approx([2 * (1 - 1.5 / extra) ** 2])
    for rule, factor in ((Rule.SAMPLE, 0.5 + 1 / 3), (Rule.SAMPLE_PROPER, 0.5 + 1.5 / 3)):
        pooled = combine(Q, V, rule=rule, sizes=(200, 100))
        assert pooled.variance == pytest.approx([1.5 * factor])
        assert math.isinf(pooled.df[0])
    assert combine(Q[:1], V[:1], rule=Rule.SAMPLE).variance == pytest.approx([2.0])


def test_nested_rule_by_hand() -> None:
    q = np.array([[1.0], [2.0], [4.0], [6.0]])
    v = np.full((4, 1), 2.0)
    pooled = combine(q, v, rule=Rule.NESTED, nests=2)
    outer, inner = 1.5 * (3.5**2 / 2), (0.5 + 2.0) / 2 / 2  # means 1.5 and 5; variances within 0.5 and 2
    total = outer - inner + 2
    assert pooled.variance == pytest.approx([total])
    assert pooled.df == pytest.approx([1 / (outer**2 / total**2 + inner**2 / (2 * total**2))])


def test_a_variance_below_zero_is_replaced_and_said() -> None:
    q, v = np.array([[1.0], [1.1], [0.9]]), np.full((3, 1), 4.0)
    full = combine(q, v, rule=Rule.FULL, sizes=(200, 50))
    assert full.variance == pytest.approx([1.0])
    assert full.df == pytest.approx([2])
    assert "Reiter 2002" in full.notes[0]
    wild = np.array([[-9.0], [9.0], [-9.0], [9.0]])
    nested = combine(wild, v[0] * np.ones((4, 1)), rule=Rule.NESTED, nests=2)
    assert nested.variance == pytest.approx([4.0])
    assert math.isinf(nested.df[0])
    assert "left out" in nested.notes[0]


def test_no_variance_at_all_gives_a_point() -> None:
    for rule, nests in ((Rule.MISSING, None), (Rule.PARTIAL, None), (Rule.NESTED, 2)):
        pooled = combine(np.full((4, 2), [0.0, 3.0]), np.zeros((4, 2)), rule=rule, nests=nests, complete_df=10)
        assert pooled.interval() == pytest.approx(np.array([[0, 0], [3, 3]]))
        assert pooled.p_values == pytest.approx([1, 0])
    only_between = combine([[1.0], [2.0]], [[0.0], [0.0]])
    assert only_between.df == pytest.approx([1])


def test_a_copy_that_went_astray_is_named_and_not_pooled_in_silence() -> None:
    """As in a table of the source: one separated copy gave an interval of (−61.5, 61.8)."""
    q = np.array([[0.1, 0.2], [0.2, 0.1], [0.0, -20.0], [0.1, 0.3]])
    v = np.array([[0.1, 0.1], [0.1, 0.1], [0.1, 4e4], [0.1, 0.1]])
    with pytest.raises(CheckFailedError, match=r"copy 3 \(race\)"):
        combine(q, v, names=["age", "race"])
    kept = combine(q, v, names=["age", "race"], astray="keep")
    assert kept.astray == (3,)
    assert "copy 3 (race)" in kept.notes[0]
    assert kept.interval()[1, 1] > 60
    left_out = v.copy()
    left_out[1, 0] = 0
    with pytest.raises(CheckFailedError, match=r"copy 2 \(age\)"):
        combine(q[[0, 1, 3]], left_out[[0, 1, 3]], names=["age", "race"])
    v[0, 0] = np.nan
    with pytest.raises(CheckFailedError, match=r"copy 1 \(age\); copy 3 \(race\)"):
        combine(q, v, names=["age", "race"], astray="keep")
    with pytest.raises(CheckFailedError, match="copy 1"):
        combine(np.full((2, 1), np.nan), [[1.0], [1.0]])


@given(
    st.sampled_from([Rule.MISSING, Rule.PARTIAL, Rule.FULL, Rule.SAMPLE]),
    st.integers(2, 6),
    st.integers(0, 2**20),
    st.floats(0.1, 10),
)
def test_pooling_moves_with_units_and_forgets_the_order(rule: Rule, copies: int, seed: int, unit: float) -> None:
    random = np.random.default_rng(seed)
    q, v = random.normal(size=(copies, 2)), random.uniform(0.5, 2, (copies, 2))
    plain, turned = combine(q, v, rule=rule), combine(q[::-1] * unit, v[::-1] * unit**2, rule=rule)
    assert turned.interval() == pytest.approx(plain.interval() * unit)
    assert turned.df == pytest.approx(plain.df)


def test_what_cannot_be_pooled_is_refused() -> None:
    for wrong in (
        {"rule": "mean"},
        {"rule": "nested"},
        {"rule": "nested", "nests": 3},
        {"names": ["a", "b"]},
        {"rule": "full", "sizes": (0, 1)},
    ):
        with pytest.raises(ArgumentError):
            combine(Q, V, **wrong)
    for bad in (Q[0], Q[:1], Q[:0]):
        with pytest.raises(ArgumentError):
            combine(bad, V[: len(bad)])
    with pytest.raises(ArgumentError):
        combine(Q, -V)
    with pytest.raises(ArgumentError):
        combine(Q, V).interval(95)


def _replicate(data: np.ndarray, count: np.ndarray, random: np.random.Generator, rows: int) -> np.ndarray:
    """Posterior predictive draws of a normal sample, one set for each line; NaN is missing."""
    mean, spread = np.nanmean(data, axis=-1), np.nanstd(data, axis=-1, ddof=1)
    scale = spread * np.sqrt((count - 1) / random.chisquare(count - 1))
    centre = mean + scale / np.sqrt(count) * random.standard_normal(mean.shape)
    return np.asarray(centre[..., None] + scale[..., None] * random.standard_normal((*mean.shape, rows)))


def _coverage(q: np.ndarray, v: np.ndarray, rule: Rule, nests: int | None = None) -> float:
    """The share of 95 % intervals that hold 0; a line of q is a data set, which is a coefficient to the rule."""
    ends = combine(q.T, v.T, rule=rule, nests=nests).interval()
    return float(np.mean((ends[:, 0] <= 0) & (ends[:, 1] >= 0)))


def test_nested_copies_of_completed_data_need_the_nested_rule() -> None:
    """Measured before with 2000 data sets: nested .951, partial on 25 copies .919, partial on 5 copies .927."""
    random, sets, n, m, r = np.random.default_rng(5), 2000, 300, 5, 5
    data = random.standard_normal((sets, n))
    data[random.random((sets, n)) < 0.3] = np.nan
    count = np.sum(~np.isnan(data), axis=1)
    completed = np.stack([np.where(np.isnan(data), _replicate(data, count, random, n), data) for _ in range(m)], axis=1)
    full = np.full((sets, m), n)
    drawn = [_replicate(completed, full, random, n) for _ in range(r)]
    q = np.stack([one.mean(axis=2) for one in drawn], axis=2)  # sets, completions, copies
    v = np.stack([one.var(axis=2, ddof=1) / n for one in drawn], axis=2)
    flat_q, flat_v = q.reshape(sets, m * r), v.reshape(sets, m * r)
    nested = _coverage(flat_q, flat_v, Rule.NESTED, nests=m)
    assert 0.94 <= nested <= 0.97
    assert _coverage(flat_q, flat_v, Rule.PARTIAL) < nested - 0.015
    assert _coverage(q[:, :, 0], v[:, :, 0], Rule.PARTIAL) < nested - 0.01


def test_copies_pool_by_their_own_rule_and_say_what_they_are() -> None:
    copies = Copies(frames=(1, 2, 3), method="dami", perturbed=("age",))
    assert (len(copies), list(copies), copies.publishable) == (3, [1, 2, 3], True)
    assert copies.pool(Q, V).variance == pytest.approx(combine(Q, V, rule=Rule.PARTIAL).variance)
    assert repr(copies) == "<3 copies by dami of age: measured risk, not differential privacy>"
    nested = Copies(frames=(1, 2, 3, 4), method="dami", perturbed=("age",), rule=Rule.NESTED, nests=2, seeded=True)
    assert not nested.publishable
    assert "do not publish" in repr(nested)
    assert nested.pool(np.ones((4, 1)), np.ones((4, 1))).rule is Rule.NESTED
    with pytest.raises(ArgumentError):
        Copies(frames=(1, 2, 3), method="dami", perturbed=("age",), rule=Rule.NESTED, nests=2)
    with pytest.raises(ArgumentError):
        Copies(frames=(), method="dami", perturbed=("age",))
