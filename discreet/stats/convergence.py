"""Whether chains have forgotten where they began, and how many independent draws theirs are worth.

1. Split R̂: each chain is cut in two, and the variance between the pieces is held against that within them.
2. Effective draws: all draws over 1 + 2 Σ ρ_t, the autocorrelations summed in pairs until a pair is not positive.

Terms: x[c, t, k], draw t of quantity k in chain c. Reference: Gelman et al., Bayesian Data Analysis, 11.4 and 11.5;
Geyer 1992 for where to stop. What it does not promise: that chains which agree have seen everything.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["effective_draws", "split_rhat"]

Floats = npt.NDArray[np.float64]


def split_rhat(x: Floats) -> Floats:
    """R̂ of each quantity: 1 when the halves of all chains agree; 1 as well for a quantity that never moves."""
    pieces = _split(x)
    within, between = _variances(pieces)
    length = pieces.shape[1]
    total = (length - 1) / length * within + between
    return np.asarray(np.sqrt(np.divide(total, within, out=np.ones_like(total), where=within > 0)))


def effective_draws(x: Floats) -> Floats:
    """For each quantity the number of independent draws that say as much; all draws where it never moves."""
    pieces = _split(x)
    chains, length, quantities = pieces.shape
    within, between = _variances(pieces)
    total = (length - 1) / length * within + between
    covariance = _autocovariance(pieces).mean(axis=0)
    # 1 − (W − mean autocovariance) / V⁺, as if the chains were one
    unbiased = covariance * (length / (length - 1))
    rho = 1 - np.divide(within - unbiased, total, out=np.zeros_like(unbiased), where=total > 0)
    even = length // 2 * 2
    pairs = rho[:even].reshape(even // 2, 2, quantities).sum(axis=1)
    going = np.cumprod(pairs > 0, axis=0).astype(bool)
    # No pair may exceed those before it: the true ones fall, what rises is noise.
    time = np.maximum(2 * np.where(going, np.minimum.accumulate(pairs, axis=0), 0).sum(axis=0) - 1, 1e-3)
    whole = float(chains * length)
    return np.where(total > 0, np.minimum(whole / time, whole * np.log10(max(whole, 10))), whole)


def _split(x: Floats) -> Floats:
    half = x.shape[1] // 2
    return np.concatenate([x[:, :half], x[:, -half:]])


def _variances(pieces: Floats) -> tuple[Floats, Floats]:
    """Mean variance within pieces, and the variance of their means."""
    return pieces.var(axis=1, ddof=1).mean(axis=0), pieces.mean(axis=1).var(axis=0, ddof=1)


def _autocovariance(pieces: Floats) -> Floats:
    """Autocovariances at every lag, by Fourier's way."""
    length = pieces.shape[1]
    centred = pieces - pieces.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * length, axis=1)
    return np.asarray(np.fft.irfft(np.square(np.abs(spectrum)), axis=1)[:, :length] / length)
