"""Masks: what they let through, by closed form and by simulation, and masks that make no sense."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import ArgumentError
from discreet.randomness import keyed_generator
from discreet.synthesis.imputation.columns import Column, Kind
from discreet.synthesis.imputation.masks import (
    KeepMask,
    LevelMask,
    NoiseMask,
    NoMask,
    SignalMask,
    check_mask,
    default_mask,
)

GENERATOR = keyed_generator(1)


@pytest.mark.requirement("0.18")
@pytest.mark.parametrize("strength", [0.3, 1.0, 2.5])
def test_a_signal_tells_two_equally_likely_levels_apart_with_its_closed_form(strength: float) -> None:
    codes = np.arange(100_000) % 2
    evidence = SignalMask(strength).evidence(codes, 2, keyed_generator(2))
    told = np.mean(evidence.argmax(axis=1) == codes)
    assert told == pytest.approx(stats.norm.cdf(strength / 2), abs=0.006)


@pytest.mark.requirement("0.18")
def test_a_signal_tells_more_the_stronger_it_is() -> None:
    codes = np.arange(20_000) % 4
    told = [
        np.mean(SignalMask(strength).evidence(codes, 4, keyed_generator(3)).argmax(axis=1) == codes)
        for strength in (0.1, 0.5, 1.0, 3.0)
    ]
    assert told == sorted(told)


def _information(table: np.ndarray) -> float:
    """Mutual information of level and mask in bits, levels being equally likely."""
    joint = table / len(table)
    mask = joint.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.nansum(joint * np.log2(joint / (mask / len(table)))))


@pytest.mark.requirement("0.19")
def test_a_level_mask_tells_more_the_further_its_columns_differ() -> None:
    """Equal columns tell nothing, unit columns all; the columns of every table add to 1."""
    told = []
    for keep in (1 / 3, 0.5, 0.7, 0.9, 1.0):
        table = LevelMask(keep=keep).table(3)
        assert table.sum(axis=0) == pytest.approx(np.ones(3))
        told.append(_information(table))
    assert told == sorted(told)
    assert told[0] == pytest.approx(0)
    assert told[-1] == pytest.approx(np.log2(3))


@pytest.mark.requirement("0.19")
def test_level_masks_are_drawn_by_their_table() -> None:
    table = ((0.7, 0.1, 0.3), (0.2, 0.6, 0.3), (0.1, 0.3, 0.4))
    mask = LevelMask(chances=table)
    codes = np.repeat([0, 1, 2], 30_000)
    evidence = mask.evidence(codes, 3, keyed_generator(4))
    drawn = np.array([np.flatnonzero((np.array(table) == line).all(axis=1))[0] for line in evidence[::10]])
    for level in range(3):
        shares = np.bincount(drawn[codes[::10] == level], minlength=3) / 3000
        assert shares == pytest.approx([table[v][level] for v in range(3)], abs=0.035)


@given(st.floats(0.01, 1), st.integers(1, 6))
def test_evidence_is_a_likelihood(keep: float, levels: int) -> None:
    codes = np.arange(50) % levels
    evidence = LevelMask(keep=keep).evidence(codes, levels, GENERATOR)
    assert evidence.shape == (50, levels)
    assert (evidence >= 0).all()
    assert (evidence.max(axis=1) > 0).all()


def test_masks_that_make_no_sense_are_refused() -> None:
    number = Column(name="n", kind=Kind.CONTINUOUS, values=np.arange(3.0))
    nominal = Column(name="k", kind=Kind.NOMINAL, values=np.arange(3.0), levels=("a", "b", "c"))
    for wrong in (
        lambda: NoiseMask(0.0),
        lambda: NoiseMask(float("nan")),
        lambda: NoiseMask(1.0, repeats=0),
        lambda: SignalMask(-1.0),
        lambda: LevelMask(),
        lambda: LevelMask(keep=1.5),
        lambda: LevelMask(chances=((0.5, 0.5), (0.6, 0.5))),
        lambda: LevelMask(chances=((1.0, 0.0, 0.0), (0.0, 1.0, 1.0))),
        lambda: LevelMask(keep=0.5, chances=((1.0,),)),
        lambda: check_mask(nominal, SignalMask(1.0), numeric=False),
        lambda: check_mask(number, LevelMask(keep=0.5), numeric=True),
        lambda: check_mask(nominal, LevelMask(chances=((1.0, 0.0), (0.0, 1.0))), numeric=False),
    ):
        with pytest.raises(ArgumentError):
            wrong()
    assert default_mask(number) == NoiseMask(1.0)
    assert default_mask(nominal) == LevelMask(keep=0.7)
    for mask in (NoMask(), KeepMask()):
        check_mask(number, mask, numeric=True)
        check_mask(nominal, mask, numeric=False)
