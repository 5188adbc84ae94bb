"""Group `coverage`: how often 95 % intervals pooled over augmented copies hold the truth, fresh masks, M = 5, n = 400.

With DISCREET_BENCH_LONG=1 over 400 surveys, as the bars ask for (some seven CPU minutes); otherwise over 20, to see
that it works: what such a short run says of the bars means nothing. The truth is that of 400,000 records of the same
law, and the sampler runs as it is shipped. A test holds the same figures (tests/synthesis/imputation/test_coverage.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.record import Record
from discreet.randomness import Generator, keyed_generator
from discreet.stats.combine import Pooled
from discreet.stats.generalized import fit_generalized
from discreet.stats.linear import fit_linear
from discreet.synthesis.imputation.augmentation import synthesize_augmented
from discreet.synthesis.imputation.columns import read_columns
from discreet.synthesis.imputation.copies import Copies
from discreet.synthesis.imputation.masks import LevelMask, Mask, NoiseMask

__all__ = ["COMPLETE", "HOLED", "Survey", "Task", "draw_survey", "find_truth", "held", "records"]

Floats = npt.NDArray[np.float64]
_LONG = os.environ.get("DISCREET_BENCH_LONG") == "1"
_SETS = 400 if _LONG else 20
_ROWS, _HIDDEN = 400, ["age", "sex", "grade"]
_MASKS: dict[str, Mask] = {"age": NoiseMask(0.25), "sex": LevelMask(keep=0.9), "grade": LevelMask(keep=0.9)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Surveys with a share of their cells missing, so many copies of each, and where their coverage must lie."""

    name: str
    missing: float
    copies: int
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """The copies of one survey, with the estimates and variances of eight coefficients in each of them."""

    copies: Copies
    estimates: Floats
    variances: Floats


COMPLETE = Task(name="fresh masks, M=5", missing=0.0, copies=5, low=0.94, high=0.98)
HOLED = Task(name="15 % missing, 5 × 2 copies, nested rule", missing=0.15, copies=10, low=0.94, high=1.0)


def records() -> Iterator[Record]:
    """One record after the other."""
    truth, generator = find_truth(), keyed_generator(2)
    for task in (COMPLETE, HOLED):
        surveys = (draw_survey(task, generator) for _ in range(_SETS))
        hits = [held(one.copies.pool(one.estimates, one.variances), truth) for one in surveys]
        cover = float(np.mean(hits))
        error = float(np.mean(hits, axis=1).std(ddof=1) / np.sqrt(_SETS))
        of = f"coverage of 95 % intervals, DA-MI, n={_ROWS}, {task.name}, {_SETS} surveys"
        yield Record(task=of, ours=cover, unit="share")
        yield Record(task=f"{of}: its standard error", ours=error, unit="share")
        middle, half = (task.low + task.high) / 2, (task.high - task.low) / 2
        yield Record(task=f"{of}: from {middle:g}", ours=abs(cover - middle), unit="share", bar=half, barred="ours")


def find_truth() -> Floats:
    """The eight coefficients in the population, up to an error a thirtieth of that of one survey."""
    return _fits(_people(400_000, keyed_generator(1)))[0]


def draw_survey(task: Task, generator: Generator) -> Survey:
    """One survey, copied under fresh masks."""
    lists: dict[str, list[Any]] = {}
    for name, values in _people(_ROWS, generator).items():
        gone = generator.random(len(values)) < task.missing
        lists[name] = [None if out else value for value, out in zip(values.tolist(), gone, strict=True)]
    columns = read_columns(lists, kinds={"grade": [0.0, 1.0, 2.0]})
    copies = synthesize_augmented(columns, perturb=_HIDDEN, copies=task.copies, masks=_MASKS)
    estimates, variances = zip(*(_fits(frame) for frame in copies), strict=True)
    return Survey(copies=copies, estimates=np.array(estimates), variances=np.array(variances))


def held(pooled: Pooled, truth: Floats) -> npt.NDArray[np.bool_]:
    """Which intervals hold the truth."""
    low, high = pooled.interval().T
    return np.asarray((low <= truth) & (truth <= high))


def _people(rows: int, generator: Generator) -> dict[str, Floats]:
    """Age, sex and grade with an index and an illness that hang on them."""
    root = np.linalg.cholesky(np.full((5, 5), 0.35) + 0.65 * np.eye(5))
    z = root @ generator.standard_normal((5, rows))
    return {
        "age": np.round(45 + 15 * z[0]),
        "sex": (z[1] < 0.8).astype(float),
        "grade": np.searchsorted([-0.5, 0.7], z[2]).astype(float),
        "index": np.round(z[3], 3),
        "ill": (z[4] > 0.3).astype(float),
    }


def _fits(frame: Any) -> tuple[Floats, Floats]:
    """Eight coefficients with their variances: the index by least squares, the illness by probit."""
    age, sex, grade = (
        (np.asarray(frame[name], dtype=float) - mid) for name, mid in (("age", 45), ("sex", 0), ("grade", 1))
    )
    x = np.column_stack([np.ones(len(age)), age / 15, sex, grade])
    line = fit_linear(x, np.asarray(frame["index"], dtype=float))
    probit = fit_generalized(x, np.asarray(frame["ill"], dtype=float), family="probit")
    return (
        np.concatenate([line.coefficients, probit.coefficients]),
        np.concatenate([line.covariance.diagonal(), probit.covariance.diagonal()]),
    )
