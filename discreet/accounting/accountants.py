"""What a list of events adds up to: every theorem that applies, and the smallest ε among them at the δ asked.

These are reports on what was spent. What may still be spent is decided by the ledger's filter, which adds prices.

    basic        the sum of the ε
    advanced     Dwork, Rothblum and Vadhan 2010, with one ε for each event
    closed form  Kairouz, Oh and Viswanath 2015, Theorem 3.5
    optimal      Kairouz, Oh and Viswanath 2015, Theorem 3.3: exact for k equal worst-case ε-DP events
    zcdp         the sum of the ρ, converted at the best order (Canonne, Kamath and Steinke 2020)
    renyi        Rényi divergences of the laws that are drawn, added order by order (Mironov 2017)
    pld          privacy loss distributions, rounded up on a grid and convolved (dp-accounting)

Each holds for the whole list when its laws were fixed in advance, however the questions depend on earlier answers.
Where how much was spent depended on the answers, too, only the one marked as adaptive bounds what was spent: a sum of ε
bounds every path. In ρ an adaptive spender is held by a limit fixed in advance, which is the ledger's business.

An (ε, δ′) event counts as an ε-DP one at what δ′ leaves of the δ asked; loss distributions hold it as it is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction

from discreet.accounting import losses
from discreet.accounting.events import Apart, Approximate, Choice, Event, Noise, Repeated, Sampled, Together, price
from discreet.check import Number, exact
from discreet.errors import ArgumentError, MissingExtraError
from discreet.guarantee import ZCDP, number_text

__all__ = ["Bound", "Report", "report", "shown_up", "simple_events"]

_LEAST_DELTA = Fraction(1, 10**300)
_FINE = 10**40
_UP = 1 + 1e-9  # floats round either way; a report rounds up


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What one theorem says; `adaptive` tells whether it holds where answers decided how much was spent."""

    theorem: str
    epsilon: float
    adaptive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All that is known of a list of events at one δ, the smallest ε first."""

    delta: Fraction
    bounds: tuple[Bound, ...]

    @property
    def best(self) -> Bound:
        """The theorem that gives the smallest ε."""
        return self.bounds[0]

    def sentence(self) -> str:
        """The report in one line."""
        least = shown_up(self.best.epsilon)
        return f"ε = {least} at δ = {number_text(self.delta)}, by the theorem {self.best.theorem!r}"


def report(events: Iterable[Event], delta: str | Number) -> Report:
    """The smallest ε of the events together at that δ, and what every other theorem gives."""
    exact_delta = exact("delta", delta)
    if not _LEAST_DELTA <= exact_delta < 1:
        raise ArgumentError(
            "delta", found=number_text(exact_delta), right="it must lie between 1e-300 and 1", step="give 1e-6"
        )
    counts = simple_events(Together(events=tuple(events)))
    plain, rest = _without_deltas(counts, exact_delta)
    bounds = []
    for theorem, (compute, adaptive) in _THEOREMS.items():
        given, missing = (counts, exact_delta) if theorem == "pld" else (plain, rest)
        if missing < 0 or (missing == 0 and theorem != "basic"):
            continue
        try:
            epsilon = compute(given, missing)
        except ArithmeticError:
            continue  # a theorem worked out in floats says nothing of what is beyond them
        if epsilon is not None and math.isfinite(epsilon):
            bounds.append(Bound(theorem=theorem, epsilon=epsilon, adaptive=adaptive))
    if not bounds:
        raise _unreported(counts, rest)
    return Report(delta=exact_delta, bounds=tuple(sorted(bounds, key=lambda bound: bound.epsilon)))


def shown_up(epsilon: float) -> str:
    """Five digits of an ε for people, rounded up."""
    with localcontext(prec=5, rounding=ROUND_CEILING):
        short = +Decimal(repr(epsilon))
    return f"{float(short):.5g}"


def _unreported(counts: Counter[Event], rest: Fraction) -> ArgumentError | MissingExtraError:
    if rest <= 0:
        return ArgumentError(
            "delta",
            found="no more than what the events fail with by themselves",
            right="a report at a δ covers theirs",
            step="give a larger delta",
        )
    if any(isinstance(event, Sampled) for event in counts):
        return MissingExtraError("accounting", library="dp-accounting", extra="accounting")
    return ArgumentError(
        "events",
        found="one that costs more than floats can hold",
        right="a report is worked out in floats",
        step="read the exact price in the ledger",
    )


def _without_deltas(counts: Counter[Event], delta: Fraction) -> tuple[Counter[Event], Fraction]:
    """The events as if none of them failed with a probability of its own, and the δ that is left for all of them.

    An (ε, δ) mechanism is an ε-DP one but for an event of probability δ (Kairouz, Oh and Viswanath 2015).
    """
    plain: Counter[Event] = Counter()
    for event, times in counts.items():
        if isinstance(event, Approximate):
            delta -= times * event.delta
            event = Choice(epsilon=event.epsilon)
        plain[event] += times
    return plain, delta


def simple_events(event: Event, times: int = 1) -> Counter[Event]:
    """The simple events in an event, each with how often it stands in it.

    Apart stands for its `overlap` dearest parts, or for all of them where no order of theirs holds in every theorem.
    """
    found: Counter[Event] = Counter()
    _gather(event, times, found)
    return found


def _gather(event: Event, times: int, found: Counter[Event]) -> None:
    match event:
        case Together():
            for part in event.events:
                _gather(part, times, found)
        case Repeated():
            _gather(event.event, times * event.times, found)
        case Apart():
            for part in _dearest(event):
                _gather(part, times, found)
        case _:
            if times:
                found[event] += times


def _dearest(event: Apart) -> tuple[Event, ...]:
    """The parts one unit can be in, where all theorems agree on the dearest; otherwise all parts."""
    families = {_family(part) for part in event.events}
    if len(families) > 1:
        return event.events
    ordered = event.events if families <= set(event.events) else sorted(event.events, key=_rho, reverse=True)
    return tuple(ordered[: event.overlap])


def _family(event: Event) -> object:
    """What events must share for ρ to order them in every theorem; an event of no family is compared with its like."""
    match event:
        case Choice():
            return "choice", event.bounded_range
        case Noise(law="laplace"):
            # Of the exact law of one coordinate a longer move at the same ε tells less.
            return "laplace", event.scalar, event.move if event.scalar else None
        case Noise(scalar=False):
            return "gaussian"
        case _:
            return event


def _rho(event: Event) -> Fraction:
    return price(event, "zcdp").loss


def _epsilons(counts: Counter[Event]) -> list[tuple[float, int]] | None:
    """The pure ε of each simple event, or None when one of them has none."""
    found = []
    for event, times in counts.items():
        if isinstance(event, Noise) and event.law == "laplace":
            found.append((float(event.move / event.scale), times))
        elif isinstance(event, Choice):
            found.append((float(event.epsilon), times))
        elif not (isinstance(event, Noise) and not event.move):
            return None
    return found


def _basic(counts: Counter[Event], delta: Fraction) -> float | None:  # noqa: ARG001  # all theorems look alike
    parts = _epsilons(counts)
    return None if parts is None else _UP * sum(times * epsilon for epsilon, times in parts)


def _advanced(counts: Counter[Event], delta: Fraction) -> float | None:
    parts = _epsilons(counts)
    if not parts or max(epsilon for epsilon, _ in parts) > losses.LARGEST_EPSILON:
        return None
    squares = sum(times * epsilon**2 for epsilon, times in parts)
    drift = sum(times * epsilon * math.expm1(epsilon) for epsilon, times in parts)
    return _UP * (math.sqrt(2 * squares * -math.log(delta)) + drift)


def _closed_form(counts: Counter[Event], delta: Fraction) -> float | None:
    parts = _epsilons(counts)
    if not parts:
        return None
    squares = sum(times * epsilon**2 for epsilon, times in parts)
    drift = sum(times * epsilon * math.tanh(epsilon / 2) for epsilon, times in parts)
    spread = min(math.log(math.e + math.sqrt(squares) / delta), -math.log(delta))
    return _UP * min(drift + math.sqrt(2 * squares * spread), sum(times * epsilon for epsilon, times in parts))


def _optimal(counts: Counter[Event], delta: Fraction) -> float | None:
    parts = _epsilons(counts)
    if not parts or len({epsilon for epsilon, _ in parts}) > 1:
        return None
    times = sum(times for _, times in parts)
    return _UP * losses.equal_pure(parts[0][0], times, float(delta)) if times <= losses.LARGEST_TIMES else None


def _zcdp(counts: Counter[Event], delta: Fraction) -> float | None:
    if any(isinstance(event, Sampled) for event in counts):
        return None
    # Each rounded up by itself, for the denominators of thousands of fractions multiply.
    rho = Fraction(sum(times * math.ceil(_rho(event) * _FINE) for event, times in counts.items()), _FINE)
    return _UP * float(ZCDP(rho).as_approx(delta).epsilon)


def _renyi(counts: Counter[Event], delta: Fraction) -> float | None:
    if any(isinstance(event, Sampled) for event in counts) or len(counts) > losses.LARGEST_KINDS:
        return None
    return _UP * losses.best_order(frozenset(counts.items()), float(delta))


def _pld(counts: Counter[Event], delta: Fraction) -> float | None:
    if len(counts) > losses.LARGEST_KINDS_CONVOLVED:
        return None
    epsilon = losses.convolved(frozenset(counts.items()), float(delta))
    return None if epsilon is None else _UP * epsilon


_THEOREMS: dict[str, tuple[Callable[[Counter[Event], Fraction], float | None], bool]] = {
    "basic": (_basic, True),
    "advanced": (_advanced, False),
    "closed form": (_closed_form, False),
    "optimal": (_optimal, False),
    "zcdp": (_zcdp, False),
    "renyi": (_renyi, False),
    "pld": (_pld, False),
}
