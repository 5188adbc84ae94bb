"""Intervals pooled by the same rule cover, whichever way the copies were made: trees, regressions or masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.stats.combine import Rule, combine
from discreet.synthesis.imputation.augmentation import synthesize_augmented
from discreet.synthesis.imputation.columns import Columns, read_columns
from discreet.synthesis.imputation.copies import Copies
from discreet.synthesis.imputation.masks import LevelMask, Mask, NoiseMask
from discreet.synthesis.imputation.plan import Settings
from discreet.synthesis.imputation.posterior import Schedule
from discreet.synthesis.imputation.sequential import synthesize
from tests.synthesis.imputation.survey import fits, survey

SETS, ROWS, COPIES = 60, 300, 5
HIDDEN = ["age", "sex", "race", "education"]
KINDS = {"education": [0.0, 1.0, 2.0]}
MASKS: dict[str, Mask] = {"age": NoiseMask(0.5), **{name: LevelMask(keep=0.8) for name in HIDDEN[1:]}}
SCHEDULE = Schedule(chains=1, burn=100, thin=10)


def made(method: str, columns: Columns) -> Copies:
    if method == "dami":
        return synthesize_augmented(columns, perturb=HIDDEN, copies=COPIES, masks=MASKS, schedule=SCHEDULE)
    return synthesize(columns, Settings(perturb=HIDDEN, method=method, copies=COPIES))


def held(copies: Any, truth: np.ndarray) -> np.ndarray:
    low, high = copies.interval().T
    return np.asarray((low <= truth) & (truth <= high))


@pytest.mark.slow
@pytest.mark.requirement("0.15")
@pytest.mark.parametrize(("method", "least"), [("dami", 0.92), ("normlogit", 0.92), ("cart", 0.8)])
def test_one_rule_serves_every_way_of_making_copies(method: str, least: float) -> None:
    """Ten coefficients over 60 tables: by one rule the intervals hold the truth; of trees, whose draws are blunter,
    less is asked. One copy taken for the table itself, and copies that are stacked, do worse each time."""
    truth = fits(survey(300_000, np.random.default_rng(1)))[0]
    random = np.random.default_rng(2)
    hits: dict[str, list[np.ndarray]] = {"pooled": [], "one copy": [], "stacked": []}
    for _ in range(SETS):
        data = {name: values.tolist() for name, values in survey(ROWS, random).items()}
        copies = made(method, read_columns(data, kinds=KINDS))
        assert copies.rule is Rule.PARTIAL
        q, v = (np.array(part) for part in zip(*(fits(frame) for frame in copies), strict=True))
        hits["pooled"].append(held(copies.pool(q, v), truth))
        for name, (estimates, variances) in {
            "one copy": (q[:1].repeat(2, axis=0), v[:1].repeat(2, axis=0)),
            "stacked": (q.mean(axis=0)[None].repeat(2, axis=0), v.mean(axis=0)[None].repeat(2, axis=0) / COPIES),
        }.items():
            hits[name].append(held(combine(estimates, variances, rule=Rule.PARTIAL), truth))
    cover = {name: float(np.mean(found)) for name, found in hits.items()}
    assert least < cover["pooled"] < 0.99
    assert cover["one copy"] < cover["pooled"] - 0.005
    assert cover["stacked"] < cover["pooled"] - 0.2
