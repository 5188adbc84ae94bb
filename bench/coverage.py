"""Group `coverage`: how often 95 % intervals pooled over augmented copies hold the truth, fresh masks, M = 5, n = 400.

With DISCREET_BENCH_LONG=1 over 400 data sets, as the bars ask for (some ten minutes); otherwise over 20, to see that it
works: what such a short run says of the bars means nothing. The truth is that of 400,000 records of the same law.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.record import Record
from discreet.randomness import Generator, keyed_generator
from discreet.stats.generalized import fit_generalized
from discreet.stats.linear import fit_linear
from discreet.synthesis.imputation.augmentation import synthesize_augmented
from discreet.synthesis.imputation.columns import read_columns
from discreet.synthesis.imputation.masks import LevelMask, Mask, NoiseMask
from discreet.synthesis.imputation.posterior import Schedule

__all__ = ["records"]

Floats = npt.NDArray[np.float64]
_LONG = os.environ.get("DISCREET_BENCH_LONG") == "1"
_SETS = 400 if _LONG else 20
_ROWS, _HIDDEN = 400, ["age", "sex", "grade"]
_MASKS: dict[str, Mask] = {"age": NoiseMask(0.25), "sex": LevelMask(keep=0.9), "grade": LevelMask(keep=0.9)}
_LOW, _HIGH, _MIDDLE = 0.94, 0.98, 0.96


def records() -> Iterator[Record]:
    """One record after the other."""
    truth = _fits(_people(400_000, keyed_generator(1)))[0]
    generator = keyed_generator(2)
    for task, share, copies in (("fresh masks, M=5", 0.0, 5), ("15 % missing, 5 × 2 copies, nested rule", 0.15, 10)):
        hits = [_held(_people(_ROWS, generator), share, copies, truth, generator) for _ in range(_SETS)]
        cover = float(np.mean(hits))
        of = f"coverage of 95 % intervals, DA-MI, n={_ROWS}, {task}, {_SETS} data sets"
        yield Record(task=of, ours=cover, unit="share")
        if share:
            yield Record(task=f"{of}: missed", ours=1 - cover, unit="share", bar=1 - _LOW, barred="ours")
        else:
            away = abs(cover - _MIDDLE)
            yield Record(task=f"{of}: from {_MIDDLE}", ours=away, unit="share", bar=_HIGH - _MIDDLE, barred="ours")


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


def _held(
    people: dict[str, Floats], share: float, copies: int, truth: Floats, generator: Generator
) -> npt.NDArray[np.bool_]:
    lists: dict[str, list[Any]] = {}
    for name, values in people.items():
        gone = generator.random(len(values)) < share
        lists[name] = [None if out else value for value, out in zip(values.tolist(), gone, strict=True)]
    columns = read_columns(lists, kinds={"grade": [0.0, 1.0, 2.0]})
    made = synthesize_augmented(
        columns, perturb=_HIDDEN, copies=copies, masks=_MASKS, schedule=Schedule(chains=1, burn=300, thin=20)
    )
    q, v = zip(*(_fits(frame) for frame in made), strict=True)
    low, high = made.pool(q, v).interval().T
    return np.asarray((low <= truth) & (truth <= high))


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
