"""What was done, as frozen values: enough to price a release without the data and without the mechanism.

An event says all that its guarantee rests on: which law was drawn, how far one unit moves the answer, how often. The
units are those of the adjacency under which the movement was proven; an event does not change its meaning when the
adjacency does, so the movement must be given for the one that the budget speaks of.

    Noise       discrete Laplace or discrete Gaussian noise on a vector of integers
    Choice      a mechanism known by its ε alone; bounded range (the exponential mechanism) composes better
    Approximate a mechanism known by (ε, δ) alone
    Sampled     Gaussian noise on a Poisson sample of the units, many steps (reports only)
    Repeated    one event several times
    Together    several events on the same units
    Apart       several events, each unit in at most one of them

Promise to readers of stored events: no kind is removed and no field changes its meaning; new fields are optional.

Prices are exact: `price(event, "pure")` is an ε with a δ, `price(event, "zcdp")` a ρ with a δ; mostly δ = 0. An event
that has no price in a currency is refused with the part that is to blame. References: Dwork and Roth 2014; Bun and
Steinke 2016; Cesar and Rogers 2021 (bounded range); Canonne, Kamath and Steinke 2020 (discrete Gaussian).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Literal, TypeAlias

from discreet.check import at_least, exact, one_of, positive, probability
from discreet.errors import ArgumentError
from discreet.guarantee import number_text

__all__ = [
    "Apart",
    "Approximate",
    "Choice",
    "Currency",
    "Event",
    "Noise",
    "Price",
    "Repeated",
    "Sampled",
    "Together",
    "from_json",
    "price",
    "to_json",
]

Currency: TypeAlias = Literal["pure", "zcdp"]
Law: TypeAlias = Literal["laplace", "gaussian"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Noise of one law on integers, in grid steps.

    Laplace: `scale` is t in exp(−|k|/t) and `move` the most one unit moves the vector in the first norm. Gaussian:
    `scale` is σ² in exp(−k²/2σ²) and `move` the most it moves the vector in the second norm, squared. Where the
    coordinates' scales differ, the norms are taken of the movements divided by them. `scalar` says that one unit moves
    a single coordinate only, which lets a report use the exact law.
    """

    law: Law
    move: Fraction
    scale: Fraction
    scalar: bool = False

    def __post_init__(self) -> None:
        one_of("law", self.law, ("laplace", "gaussian"))
        object.__setattr__(self, "scale", positive("scale", self.scale))
        object.__setattr__(self, "move", exact("move", self.move))
        if self.move < 0:
            raise ArgumentError(
                "move", found="one below 0", right="a distance is never", step="give its absolute value"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A mechanism of which only its ε is known; with a bounded range, as the exponential mechanism has, ρ = ε²/8."""

    epsilon: Fraction
    bounded_range: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive("epsilon", self.epsilon))


@dataclass(frozen=True, slots=True, kw_only=True)
class Approximate:
    """A mechanism of which only (ε, δ) is known."""

    epsilon: Fraction
    delta: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive("epsilon", self.epsilon))
        object.__setattr__(self, "delta", probability("delta", self.delta))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """Gaussian noise of `sigma` times the clipping norm on a Poisson sample of the units, `steps` times.

    Under add-remove only: what sampling gains under replace-one is another sum, which no report works out.
    """

    rate: Fraction
    sigma: Fraction
    steps: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma", positive("sigma", self.sigma))
        object.__setattr__(self, "rate", exact("rate", self.rate))
        at_least("steps", self.steps, 1)
        if not 0 < self.rate <= 1:
            raise ArgumentError("rate", found=number_text(self.rate), right="it must lie in (0, 1]", step="give a rate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """The same event so many times, each with fresh noise."""

    event: Event
    times: int

    def __post_init__(self) -> None:
        at_least("times", self.times, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Together:
    """Events on the same units, chosen one after the other if need be. None of them means post-processing alone."""

    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Apart:
    """Events of one plan between whose parts the units are split: each unit lies in at most `overlap` of them.

    Under add-remove a unit with one row lies in one cell, so overlap is 1. Under replace-one it leaves one and
    enters another, so overlap is 2. A person in up to G groups lies in G cells, or in 2G under replace-one.
    """

    events: tuple[Event, ...]
    overlap: int

    def __post_init__(self) -> None:
        at_least("overlap", self.overlap, 1)


Event: TypeAlias = Noise | Choice | Approximate | Sampled | Repeated | Together | Apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What an event costs: an ε or a ρ, and the probability with which that may fail."""

    loss: Fraction
    delta: Fraction = Fraction(0)

    def __add__(self, other: Price) -> Price:
        return Price(loss=self.loss + other.loss, delta=self.delta + other.delta)

    def times(self, count: int) -> Price:
        """The price of that many."""
        return Price(loss=count * self.loss, delta=count * self.delta)


def price(event: Event, currency: Currency) -> Price:
    """What an event costs in that currency, exactly, or an error that names the part without a price.

    Given:   the movements in the event hold for the budget's adjacency and unit.
    Promise: a filter that adds these prices and stops at a limit keeps the limit, even when each event was chosen
             after seeing the answers to those before it.
    Because: Laplace noise spends Δ₁/t; Gaussian noise ρ = Δ₂²/(2σ²); ε-DP implies ε²/2-zCDP, and ε²/8 with a
             bounded range; an (ε, δ) event is an ε-DP one but for an event of probability δ, in both currencies;
             sums of both are valid filters (Rogers et al. 2016; Feldman and Zrnic 2021); a unit in at most c of
             several parts pays for the c dearest of them.
    Tested:  test_prices_of_noise, test_apart_pays_the_dearest, test_price_bounds_the_exact_law.
    """
    one_of("currency", currency, ("pure", "zcdp"))
    match event:
        case Noise():
            return Price(loss=_noise_loss(event, currency))
        case Choice() | Approximate():
            bounded = isinstance(event, Choice) and event.bounded_range
            loss = event.epsilon if currency == "pure" else event.epsilon**2 / (8 if bounded else 2)
            return Price(loss=loss, delta=event.delta if isinstance(event, Approximate) else Fraction(0))
        case Repeated():
            return price(event.event, currency).times(event.times)
        case Together():
            return sum((price(part, currency) for part in event.events), Price(loss=Fraction(0)))
        case Apart():
            parts = [price(part, currency) for part in event.events]
            return Price(
                loss=_dearest((part.loss for part in parts), event.overlap),
                delta=_dearest((part.delta for part in parts), event.overlap),
            )
        case Sampled():
            raise _priceless("sampled Gaussian noise", currency)


def _dearest(amounts: Iterable[Fraction], count: int) -> Fraction:
    return sum(sorted(amounts, reverse=True)[:count], Fraction(0))


def _noise_loss(event: Noise, currency: Currency) -> Fraction:
    if event.law == "laplace":
        epsilon = event.move / event.scale
        return epsilon if currency == "pure" else epsilon**2 / 2
    if currency == "pure" and event.move:
        raise _priceless("Gaussian noise", currency)
    return event.move / (2 * event.scale)


def _priceless(what: str, currency: Currency) -> ArgumentError:
    name = {"pure": "pure ε", "zcdp": "ρ"}[currency]
    return ArgumentError(
        what,
        found=f"no finite price in {name}",
        right=f"a budget in {name} takes only events that have one",
        step="use Laplace noise, or an account in ρ" if currency == "pure" else "use Laplace or Gaussian noise",
    )


def to_json(event: Event) -> dict[str, object]:
    """An event as plain values; fractions as exact text."""
    parts = {field.name: _plain(getattr(event, field.name)) for field in fields(event)}
    return {"event_kind": type(event).__name__.lower(), **parts}


def from_json(stored: Mapping[str, Any]) -> Event:
    """The event that `to_json` wrote."""
    kind = _KINDS.get(str(stored.get("event_kind")))
    if kind is None or set(stored) - {"event_kind"} - {field.name for field in fields(kind)}:
        raise ArgumentError(
            "event",
            found="a kind or field that is not known here",
            right="events are never renamed",
            step="update Discreet",
        )
    return kind(**{field.name: _rich(stored[field.name], field.name) for field in fields(kind) if field.name in stored})


def _plain(value: object) -> object:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return to_json(value) if isinstance(value, Event) else value


def _rich(value: Any, name: str) -> Any:
    if isinstance(value, dict):
        return from_json(value)
    if isinstance(value, list):
        return tuple(_rich(part, name) for part in value)
    return Fraction(value) if isinstance(value, str) and name != "law" else value


_KINDS: dict[str, type[Event]] = {
    kind.__name__.lower(): kind for kind in (Noise, Choice, Approximate, Sampled, Repeated, Together, Apart)
}
