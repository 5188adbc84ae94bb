"""A made-up survey of mixed columns whose law is known: a Gaussian copula, with a bend and an interaction on wish."""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.stats.generalized import fit_generalized
from discreet.stats.linear import fit_linear

HIDDEN = ("age", "duration", "sex", "race", "education")
_CORRELATION = np.full((8, 8), 0.3) + 0.7 * np.eye(8)
_CORRELATION[0, 5] = _CORRELATION[5, 0] = _CORRELATION[1, 6] = _CORRELATION[6, 1] = 0.5
_ROOT = np.linalg.cholesky(_CORRELATION)


def survey(rows: int, random: np.random.Generator, *, bent: float = 0.0) -> dict[str, np.ndarray]:
    """Age and duration, sex, race and three levels of education; an index, a work disability and a score."""
    z = _ROOT @ random.standard_normal((8, rows))
    index = z[5] + bent * (np.square(z[0]) - 1 + z[0] * (z[2] < 1.036))
    return {
        "age": np.round(45 + 15 * z[0]),
        "duration": np.round(np.exp(1.5 + 0.6 * z[1]), 1),
        "sex": (z[2] < 1.036).astype(float),
        "race": (z[3] > 0.5).astype(float),
        "education": np.searchsorted([-0.5, 0.7], z[4]).astype(float),
        "index": np.round(index, 3),
        "disabled": (z[6] > 0.3).astype(float),
        "score": np.round(z[7], 3),
    }


def holed(columns: dict[str, np.ndarray], share: float, random: np.random.Generator) -> dict[str, list[Any]]:
    """The columns as lists, with cells missing at random in five of them."""
    lists: dict[str, list[Any]] = {name: values.tolist() for name, values in columns.items()}
    for name in ("age", "sex", "education", "index", "disabled"):
        gone = random.random(len(lists[name])) < share
        lists[name] = [None if out else value for value, out in zip(lists[name], gone, strict=True)]
    return lists


def fits(frame: Any) -> tuple[np.ndarray, np.ndarray]:
    """Ten coefficients with their variances: the index by least squares, the disability by probit."""
    age, length = (np.asarray(frame["age"]) - 45) / 15, np.log(np.maximum(np.asarray(frame["duration"], float), 0.05))
    sex, race, education = (np.asarray(frame[name], dtype=float) for name in ("sex", "race", "education"))
    one = np.ones(len(age))
    line = fit_linear(np.column_stack([one, age, length, sex, race, education]), frame["index"])
    probit = fit_generalized(np.column_stack([one, age, sex, length]), frame["disabled"], family="probit")
    return (
        np.concatenate([line.coefficients, probit.coefficients]),
        np.concatenate([line.covariance.diagonal(), probit.covariance.diagonal()]),
    )
