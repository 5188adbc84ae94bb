"""Group `noise`: exact integer draws against numpy's inexact ones and against OpenDP's exact ones, all of one run.

Vectors hold a million draws (OpenDP's 20,000, for its time grows with their number). Each law's spread is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np
import opendp.prelude as dp

from bench.measure import fastest, side_by_side
from bench.record import Record
from discreet.mechanisms.samplers import DiscreteGaussian, DiscreteLaplace, Law, draw, draw_many, forget_tables
from discreet.randomness import system_bits

__all__ = ["records"]

_MANY, _PEER_MANY, _SINGLE, _FIRST = 1_000_000, 20_000, 2_000, 20
_SCALES = ((10, "10"), (10**6, "1e6"))
# The widest noise there is; no peer and no vector of it, for what costs there is the first draw.
_WIDEST = ((10**15, "1e15"), (1 << 60, "2^60"))
_BARS = {("discrete Laplace", 10): 20e6, ("discrete Gaussian", 10): 20e6, ("discrete Laplace", 10**6): 2e6}


def records() -> Iterator[Record]:
    """One record after the other."""
    dp.enable_features("contrib")
    for scale, named in _SCALES:
        for kind, law in _laws(scale):
            yield _vector(f"{kind} {named}", law, scale, _BARS.get((kind, scale)))
            yield from _single(f"{kind} {named}", law)
    for scale, named in _WIDEST:
        for kind, law in _laws(scale):
            yield from _single(f"{kind} {named}", law)


def _laws(scale: int) -> tuple[tuple[str, Law], ...]:
    return (
        ("discrete Laplace", DiscreteLaplace.of_scale(scale)),
        ("discrete Gaussian", DiscreteGaussian(Fraction(scale) ** 2)),
    )


def _vector(task: str, law: Law, scale: int, bar: float | None) -> Record:
    ours, peer = partial(draw_many, law, _MANY, system_bits()), _opendp(law, scale)
    spread = scale * (2.0 if isinstance(law, DiscreteLaplace) else 1.0) ** 0.5
    if abs(float(np.std(ours())) / spread - 1) > 0.02:
        raise SystemExit(f"{task}: a measured vector has the wrong spread, so the figures of this run mean nothing")
    mine, raw, theirs = side_by_side(ours, _numpy(law, scale), peer)
    return Record(
        task=task,
        ours=_MANY / mine,
        raw=_MANY / raw,
        peer=_PEER_MANY / theirs,
        bar=bar,
        barred="ours",
        unit="draws/s",
    )


def _single(task: str, law: Law) -> Iterator[Record]:
    """One answer at a time: a draw of a law in use, and the first draw of a law never used."""
    bits = system_bits()

    def first_draws() -> None:
        for _ in range(_FIRST):
            forget_tables()
            law.fresh(1, bits)

    one = fastest(lambda: [draw(law, bits) for _ in range(_SINGLE)])
    yield Record(task=f"{task}, one draw", ours=1e6 * one / _SINGLE, bar=20, barred="ours", unit="CPU µs")
    first = fastest(first_draws)
    yield Record(task=f"{task}, first draw", ours=1e3 * first / _FIRST, bar=2, barred="ours", unit="CPU ms")


def _numpy(law: Law, scale: int) -> Callable[[], object]:
    """The same law by floating point: fast, seeded and inexact."""
    generator = np.random.Generator(np.random.PCG64(1))
    if isinstance(law, DiscreteLaplace):
        rate = -np.expm1(-1 / scale)
        return lambda: generator.geometric(rate, _MANY) - generator.geometric(rate, _MANY)
    return lambda: np.rint(generator.normal(0, scale, _MANY)).astype(np.int64)


def _opendp(law: Law, scale: int) -> Callable[[], object]:
    domain, zeros = dp.vector_domain(dp.atom_domain(T=int)), [0] * _PEER_MANY
    if isinstance(law, DiscreteLaplace):
        return partial(dp.m.make_laplace(domain, dp.l1_distance(T=int), scale=float(scale)), zeros)
    return partial(dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=float(scale)), zeros)
