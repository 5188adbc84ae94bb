"""Numerical accounting of privacy losses: k equal worst cases exactly, Rényi divergences, and loss distributions.

All results are floats that bound from above what they stand for, up to a part in a billion that the caller adds: sums
whose parts would cancel are written as sums of parts that are all positive.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from discreet.accounting.events import Approximate, Choice, Event, Noise, Sampled

__all__ = [
    "LARGEST_EPSILON",
    "LARGEST_KINDS",
    "LARGEST_KINDS_CONVOLVED",
    "LARGEST_TIMES",
    "best_order",
    "convolved",
    "equal_pure",
    "renyi_divergence",
]

Counts = frozenset[tuple[Event, int]]
LARGEST_EPSILON = 300.0
LARGEST_TIMES = 1_000_000  # of equal events that are told apart one by one
LARGEST_KINDS = 1000  # of events that differ, beyond which theorems that look at each law take too long
LARGEST_KINDS_CONVOLVED = 50
_ORDERS = tuple(1 + 10 ** (step / 40) for step in range(-80, 161))
_GRID = 4e-4  # of the loss distributions: coarser ones cost accuracy, finer ones time
_LARGEST_STRETCH = 600.0  # exp() of more than 700 is no float
_LARGEST_SIGMA = 10_000
_LARGEST_MOVE = 100_000  # inner sums are written out term by term
_LARGEST_SPREAD = 4_000.0  # of the sum of all losses: ten million places of the grid
_TAILS = 16  # deviations on both sides together, beyond which a sum of losses is cut off


def equal_pure(epsilon: float, times: int, delta: float) -> float:
    """The ε at δ of that many worst-case ε-DP events: randomised response that many times, exactly.

    δ(e) = Σ_l C(k, l) max(0, e^{(k−l)ε} − e^{e + lε}) / (1 + e^ε)^k falls in e, so bisection finds the smallest e.
    """
    if times == 0:
        return 0.0
    flips = np.arange(times + 1)
    lgamma = np.vectorize(math.lgamma)
    choices = math.lgamma(times + 1) - lgamma(flips + 1) - lgamma(times - flips + 1)
    log_here = choices + (times - flips) * epsilon - times * np.logaddexp(0, epsilon)
    log_loss = (times - 2 * flips) * epsilon

    # Logarithms of the order of `times` each err by a few units in their last place.
    margin = 1 + 4e-15 * times * (epsilon + 16)

    def missed(level: float) -> float:
        above = log_loss > level
        return margin * float(np.sum(np.exp(log_here[above]) * -np.expm1(level - log_loss[above])))

    low, high = 0.0, times * epsilon
    if missed(0.0) <= delta:
        return 0.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if missed(middle) <= delta else (middle, high)
    return high


@functools.lru_cache(maxsize=256)
def best_order(counts: Counts, delta: float) -> float:
    """The smallest ε at δ over the orders: D_α + ln(1/(αδ))/(α − 1) + ln(1 − 1/α)."""

    def at(order: float) -> float:
        total = sum(times * renyi_divergence(event, order) for event, times in counts)
        return total - math.log(order * delta) / (order - 1) + math.log1p(-1 / order)

    return max(0.0, min(at(order) for order in _ORDERS))


def renyi_divergence(event: Event, order: float) -> float:
    """The largest Rényi divergence of that order between neighbours, in either direction."""
    if isinstance(event, Choice):
        return _pure_divergence(float(event.epsilon), order)
    if not isinstance(event, Noise):
        return math.inf
    if event.law == "gaussian":
        return order * float(event.move / (2 * event.scale))
    scalar = event.scalar and event.move.denominator == 1 and event.move <= _LARGEST_MOVE
    if not scalar or not event.move:
        return _pure_divergence(float(event.move / event.scale), order)
    return _laplace_divergence(int(event.move), float(event.scale), order)


def _pure_divergence(epsilon: float, order: float) -> float:
    """Of randomised response, the worst case of ε-DP."""
    stretch = (order - 1) * epsilon
    if stretch < _LARGEST_STRETCH:
        return math.log1p(float(_growth(np.array(epsilon), np.array(stretch)))) / (order - 1)
    here, there = -np.logaddexp(0, -epsilon), -np.logaddexp(0, epsilon)
    return float(np.logaddexp(order * here + (1 - order) * there, order * there + (1 - order) * here) / (order - 1))


def _growth(loss: Any, stretch: Any) -> Any:
    """p·(e^x − 1) + q·(e^−x − 1) of a pair of outcomes with odds p/q = e^loss, without what cancels in it."""
    return np.tanh(loss / 2) * np.sinh(stretch) + 2 * np.sinh(stretch / 2) ** 2


def _laplace_divergence(move: int, scale: float, order: float) -> float:
    """Of the discrete law exp(−|k|/t): two geometric ends and a finite middle.

    Each outcome k has a mirror image move − k, where the law and its neighbour change places. Of each such pair is
    known how much more likely than 1 it makes the moment; the masses of the pairs add up to 1.
    """
    decay = 1 / scale
    if (order - 1) * move * decay >= _LARGEST_STRETCH:
        return _long_laplace_divergence(move, decay, order)
    middle = np.arange(1, (move + 1) // 2)
    losses = decay * np.concatenate([[move], move - 2 * middle])
    ends = 1 / (1 + math.exp(-decay))
    masses = np.concatenate([[ends], math.tanh(decay / 2) * np.exp(-decay * middle)]) * (1 + np.exp(-losses))
    return math.log1p(float(np.sum(masses * _growth(losses, (order - 1) * losses)))) / (order - 1)


def _long_laplace_divergence(move: int, decay: float, order: float) -> float:
    """The same where the moment is no float, added as logarithms: there nothing cancels."""
    middle = np.arange(1, move)
    ends = np.array([(order - 1) * move * decay, -order * move * decay]) - math.log(-math.expm1(-decay))
    inner = -decay * (order * middle + (1 - order) * (move - middle))
    total = float(np.logaddexp.reduce(np.concatenate([ends, inner])))
    return (total + math.log(math.tanh(decay / 2))) / (order - 1)


@functools.lru_cache(maxsize=256)
def convolved(counts: Counts, delta: float) -> float | None:
    """The ε at δ by convolution of loss distributions rounded up to a grid; None without dp-accounting.

    None too when discrete Gaussian noise moves in several coordinates: its law is not the Gaussian's, which a rotation
    would bring back to one coordinate, and only its zCDP bound is proven. And None for sums too long to be written out:
    of so many events, or of losses so large, that the other theorems are as good and cost nothing.
    """
    if not all(_has_distribution(event) and times <= LARGEST_TIMES for event, times in counts):
        return None
    if sum(_TAILS * _largest_loss(event) * math.sqrt(times) for event, times in counts) > _LARGEST_SPREAD:
        return None
    try:
        from dp_accounting.pld import privacy_loss_distribution as pld
    except ImportError:
        return None
    total: Any = None
    for event, times in counts:
        one = _distribution(pld, event).self_compose(times)
        total = one if total is None else total.compose(one)
    return 0.0 if total is None else float(total.get_epsilon_for_delta(delta))


def _has_distribution(event: Event) -> bool:
    """Whether the loss distribution is known and short enough to be written out."""
    match event:
        case Choice() | Approximate():
            return event.epsilon <= LARGEST_EPSILON
        case Noise(move=0):
            return True
        case Noise(law="laplace"):
            return event.move <= min(LARGEST_EPSILON * event.scale, _LARGEST_MOVE if event.scalar else math.inf)
        case Noise():
            square = event.move.denominator == 1 and math.isqrt(int(event.move)) ** 2 == event.move
            narrow = event.scale <= _LARGEST_SIGMA**2 and event.move <= 2 * LARGEST_EPSILON * event.scale
            return event.scalar and square and narrow
        case _:
            return True


def _largest_loss(event: Event) -> float:
    """About how far one event's loss reaches, in either direction; a sampled one is cut off where it is made."""
    match event:
        case Choice() | Approximate():
            return float(event.epsilon)
        case Noise(law="laplace"):
            return float(event.move / event.scale)
        case Noise():
            return math.sqrt(event.move / event.scale)
        case _:
            return 0.0


def _distribution(pld: Any, event: Event) -> Any:
    """The loss distribution of one simple event: of the law drawn where one coordinate moves, else the worst case."""
    grid = {"value_discretization_interval": _GRID, "use_connect_dots": True}
    match event:
        case Noise(move=0):
            return pld.identity(_GRID)
        case Noise(law="laplace", scalar=True) if event.move.denominator == 1:
            return pld.from_discrete_laplace_mechanism(float(1 / event.scale), int(event.move), **grid)
        case Noise(law="gaussian"):
            return pld.from_discrete_gaussian_mechanism(math.sqrt(event.scale), math.isqrt(int(event.move)), **grid)
        case Sampled():
            return pld.from_gaussian_mechanism(
                float(event.sigma), sampling_prob=float(event.rate), **grid
            ).self_compose(event.steps)
        case Noise():
            return _worst(pld, float(event.move / event.scale), 0.0)
        case Choice():
            return _worst(pld, float(event.epsilon), 0.0)
        case Approximate():
            return _worst(pld, float(event.epsilon), float(event.delta))
    raise TypeError(f"{type(event).__name__} is not a simple event")


def _worst(pld: Any, epsilon: float, delta: float) -> Any:
    from dp_accounting.pld import common

    return pld.from_privacy_parameters(common.DifferentialPrivacyParameters(epsilon, delta), _GRID)
