"""Group `imputation`: data augmentation's sampler, small and large, in CPU seconds; no peer does this work in Python.

What is measured is checked: correlations that were planted must come back, or the run stops.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import numpy.typing as npt

from bench.measure import cpu_seconds, fastest
from bench.record import Record
from discreet.randomness import keyed_generator
from discreet.stats.copula import Gibbs
from discreet.synthesis.imputation.augmentation import synthesize_augmented
from discreet.synthesis.imputation.columns import read_columns

__all__ = ["records"]

Floats = npt.NDArray[np.float64]
_CORRELATION = 0.4


def records() -> Iterator[Record]:
    """One record after the other."""
    yield _sweeps()
    yield from _large()


def _mixed(rows: int) -> list[Floats]:
    """Ten columns of one correlation: five numbers, three of two levels and two of four."""
    normal = keyed_generator(1).standard_normal((11, rows))
    latent = np.sqrt(_CORRELATION) * normal[0] + np.sqrt(1 - _CORRELATION) * normal[1:]
    numbers = [np.round(line, 3) for line in latent[:5]]
    two = [(line > cut).astype(float) for line, cut in zip(latent[5:8], (0.0, 0.5, 1.04), strict=True)]
    return [*numbers, *two, *(np.searchsorted([-1.0, 0.0, 1.0], line).astype(float) for line in latent[8:])]


def _sweeps() -> Record:
    codes = [np.unique(column, return_inverse=True)[1].astype(np.int64) for column in _mixed(1000)]
    gibbs = Gibbs(codes, keyed_generator(2))
    found: list[Floats] = []

    def thousand() -> None:
        for _ in range(1000):
            gibbs.sweep()
            found.append(gibbs.correlation[np.triu_indices(10, 1)])

    spent = fastest(thousand, repeats=2)
    if abs(float(np.mean(found[1000:])) - _CORRELATION) > 0.05:
        raise ValueError("the planted correlation did not come back")
    return Record(task="DA-MI n=1000 p=10 per 1000 sweeps", ours=spent, unit="CPU s", bar=1.4, barred="ours")


def _large() -> Iterator[Record]:
    """A hundred thousand records, two columns perturbed, five copies; in a process of its own, whose memory is its."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as fresh:
        spent, peak = fresh.submit(_copied, 100_000).result()
    task = "DA-MI n=100,000 p=10, 5 copies"
    yield Record(task=task, ours=spent, unit="CPU s", bar=600, barred="ours")
    yield Record(task=f"{task}: peak memory", ours=peak, unit="MB", bar=2000, barred="ours")


def _copied(rows: int) -> tuple[float, float]:
    """CPU seconds for five copies, and the peak of this process's memory in megabytes."""
    columns = read_columns({f"x{at}": column.tolist() for at, column in enumerate(_mixed(rows))})
    start = cpu_seconds()
    copies = synthesize_augmented(columns, perturb=["x0", "x5"], copies=5)
    spent = cpu_seconds() - start
    values = np.array(copies.frames[0]["x0"])
    if abs(float(np.corrcoef(values, columns.column("x1").values)[0, 1]) - _CORRELATION) > 0.03:
        raise ValueError("the copy lost the planted correlation")
    return spent, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
