"""Laws: the normal, the logistic and Student's t, as fits and pooled intervals need them. They come from scipy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.errors import MissingExtraError

__all__ = [
    "logistic_cdf",
    "normal_cdf",
    "normal_density",
    "normal_log_cdf",
    "normal_quantile",
    "special",
    "t_cdf",
    "t_quantile",
]

Floats = npt.NDArray[np.float64]


def logistic_cdf(x: Floats) -> Floats:
    """The chance that a standard logistic lies below x."""
    return np.asarray(special().expit(x), dtype=float)


def normal_log_cdf(x: Floats) -> Floats:
    """The logarithm of that chance for the normal, exact far out where the chance itself is 0 in a float."""
    return np.asarray(special().log_ndtr(x), dtype=float)


def normal_cdf(x: Floats) -> Floats:
    """The chance that a standard normal lies below x."""
    return np.asarray(special().ndtr(x), dtype=float)


def normal_density(x: Floats) -> Floats:
    """The standard normal density."""
    return np.asarray(np.exp(-0.5 * np.square(x)) / math.sqrt(2 * math.pi), dtype=float)


def normal_quantile(p: Floats) -> Floats:
    """Below which value a standard normal lies with chance p."""
    return np.asarray(special().ndtri(p), dtype=float)


def t_cdf(x: float, df: float) -> float:
    """The chance that Student's t with so many degrees of freedom lies below x; without end it is the normal."""
    law = special()
    return float(law.ndtr(x) if math.isinf(df) else law.stdtr(df, x))


def t_quantile(p: float, df: float) -> float:
    """Below which value Student's t lies with chance p; with endless degrees of freedom it is the normal."""
    law = special()
    return float(law.ndtri(p) if math.isinf(df) else law.stdtrit(df, p))


def special() -> Any:
    """The library the laws come from."""
    try:
        from scipy import special
    except ImportError:
        raise MissingExtraError("statistics", library="scipy", extra="synthesis") from None
    return special
