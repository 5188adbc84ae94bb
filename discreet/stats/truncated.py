"""Normal draws between bounds, exact far out in the tails.

1. The interval is mirrored into the lower half where it lies wholly above 0: there the law's chances keep all digits.
2. z = Φ⁻¹(Φ(a) + u (Φ(b) − Φ(a))), u uniform; below −37, where Φ itself is 0 in a float, the same in logarithms.

Rounding can carry a draw onto a bound, never beyond. What it does not promise: more than the 53 bits of u.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from discreet.randomness import Generator
from discreet.stats.laws import special

__all__ = ["draw_between"]

Floats = npt.NDArray[np.float64]
_FAR = -37.0
_LEAST = 1e-320


def draw_between(low: Floats, high: Floats, generator: Generator) -> Floats:
    """One standard normal draw in each (low, high); the bounds may be endless."""
    law: Any = special()
    mirrored = low > 0
    below, above = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
    start, uniform = law.ndtr(below), generator.random(len(low))
    chance = law.ndtr(above)
    chance -= start
    chance *= uniform
    chance += start
    drawn = law.ndtri(np.maximum(chance, _LEAST, out=chance), out=chance)
    if above.size and above.min() < _FAR:
        far = above < _FAR
        drawn[far] = _draw_far(law, below[far], above[far], uniform[far])
    np.maximum(drawn, below, out=drawn)
    np.minimum(drawn, above, out=drawn)
    return np.asarray(np.where(mirrored, -drawn, drawn))


def _draw_far(law: Any, below: Floats, above: Floats, uniform: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        chance = np.logaddexp(
            law.log_ndtr(below) + np.log1p(-uniform), law.log_ndtr(above) + np.log(np.maximum(uniform, _LEAST))
        )
    return np.asarray(law.ndtri_exp(chance))
