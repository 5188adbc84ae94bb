"""What a question makes of its statistics, as data: arithmetic, comparisons and choices after the noise.

Terms are evaluated over whole arrays at once: one number a cell, or one a cell and draw when the error is worked out by
drawing the noise again. Missing is NaN throughout: 1 is true, 0 is false, NaN neither, and Kleene's rules join them.
Texts (keys, and what is compared with them) are arrays of objects.

Post-processing of released numbers costs nothing and promises nothing of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.check import exact, one_of

__all__ = [
    "Asked",
    "Call",
    "Choice",
    "Key",
    "Number",
    "Numbers",
    "Operation",
    "Term",
    "Word",
    "asked",
    "evaluate",
    "slopes",
]

Numbers: TypeAlias = NDArray[Any]
Sign: TypeAlias = Literal["+", "-", "*", "/", "<", "<=", "=", "<>", ">", ">=", "and", "or"]


@dataclass(frozen=True, slots=True)
class Asked:
    """The statistic at that place of the question."""

    at: int


@dataclass(frozen=True, slots=True)
class Key:
    """The key at that place of the question: a text, or a number where its cells are numbers."""

    at: int


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", exact("number", self.value))


@dataclass(frozen=True, slots=True)
class Word:
    """A constant text; None is missing."""

    text: str | None


@dataclass(frozen=True, slots=True)
class Operation:
    """Two terms joined by a sign."""

    sign: Sign
    left: Term
    right: Term

    def __post_init__(self) -> None:
        one_of("sign", self.sign, tuple(_SIGNS))


@dataclass(frozen=True, slots=True)
class Call:
    """A function of one or more terms."""

    name: str
    parts: tuple[Term, ...]

    def __post_init__(self) -> None:
        one_of("function", self.name, tuple(_CALLS))


@dataclass(frozen=True, slots=True)
class Choice:
    """The term of the first branch whose condition is true, else `otherwise`, else missing."""

    branches: tuple[tuple[Term, Term], ...]
    otherwise: Term | None = None


Term: TypeAlias = Asked | Key | Number | Word | Operation | Call | Choice


def asked(term: Term) -> frozenset[int]:
    """The places of the statistics in a term."""
    match term:
        case Asked(at):
            return frozenset({at})
        case Operation(_, left, right):
            return asked(left) | asked(right)
        case Call(_, parts):
            return frozenset().union(*(asked(part) for part in parts))
        case Choice(branches, otherwise):
            every = [part for branch in branches for part in branch] + ([] if otherwise is None else [otherwise])
            return frozenset().union(*(asked(part) for part in every))
    return frozenset()


def slopes(term: Term) -> dict[int, float] | None:
    """By what each statistic is multiplied, where the term is a weighted sum of statistics and a constant."""
    match term:
        case Asked(at):
            return {at: 1.0}
        case Number():
            return {}
        case Call("negative", (part,)):
            return _scaled(slopes(part), -1.0)
        case Operation("+" | "-" as sign, left, right):
            one, other = slopes(left), _scaled(slopes(right), 1.0 if sign == "+" else -1.0)
            if one is None or other is None:
                return None
            return {at: one.get(at, 0.0) + other.get(at, 0.0) for at in {**one, **other}}
        case Operation("*", Number(value), part) | Operation("*", part, Number(value)):
            return _scaled(slopes(part), float(value))
        case Operation("/", part, Number(value)) if value:
            return _scaled(slopes(part), 1 / float(value))
    return None


def _scaled(found: dict[int, float] | None, factor: float) -> dict[int, float] | None:
    return None if found is None else {at: factor * slope for at, slope in found.items()}


def evaluate(term: Term, statistics: Sequence[Numbers], keys: Sequence[Numbers]) -> Numbers:
    """The term over arrays that fit each other's shapes."""
    with np.errstate(all="ignore"):
        return _evaluate(term, statistics, keys)


def _evaluate(term: Term, statistics: Sequence[Numbers], keys: Sequence[Numbers]) -> Numbers:
    match term:
        case Asked(at):
            return statistics[at]
        case Key(at):
            return keys[at]
        case Number(value):
            return np.array(float(value))
        case Word(text):
            return np.array(np.nan) if text is None else np.array(text, dtype=object)
        case Operation(sign, left, right):
            return _SIGNS[sign](_evaluate(left, statistics, keys), _evaluate(right, statistics, keys))
        case Call(name, parts):
            return _CALLS[name](*(_evaluate(part, statistics, keys) for part in parts))
        case Choice(branches, otherwise):
            chosen = np.array(np.nan) if otherwise is None else _evaluate(otherwise, statistics, keys)
            for when, then in reversed(branches):
                holds = _evaluate(when, statistics, keys)
                chosen = np.where(holds == 1, _evaluate(then, statistics, keys), chosen)
            return chosen


def _finite(values: Numbers) -> Numbers:
    """What is not finite is missing: a division by zero, a logarithm of nothing."""
    return np.where(np.isfinite(values), values, np.nan)


def _missing(values: Numbers) -> Numbers:
    if values.dtype != object:
        return np.isnan(values)
    return np.array([one is None or one != one for one in values.flat], dtype=bool).reshape(values.shape)


def _compared(compare: Callable[[Numbers, Numbers], Numbers]) -> Callable[[Numbers, Numbers], Numbers]:
    def holds(left: Numbers, right: Numbers) -> Numbers:
        known = ~(_missing(left) | _missing(right))
        if object in (left.dtype, right.dtype):
            left, right = np.broadcast_arrays(left, right)
            pairs = (
                bool(compare(a, b)) if k else np.nan for a, b, k in zip(left.flat, right.flat, known.flat, strict=True)
            )
            return np.fromiter(pairs, dtype=float, count=left.size).reshape(left.shape)
        return np.where(known, compare(left, right).astype(float), np.nan)

    return holds


def _and(left: Numbers, right: Numbers) -> Numbers:
    return np.where((left == 0) | (right == 0), 0.0, left * right)


def _or(left: Numbers, right: Numbers) -> Numbers:
    return np.where((left == 1) | (right == 1), 1.0, np.maximum(left, right))


def _rounded(values: Numbers, places: Numbers | None = None) -> Numbers:
    scale = 10.0 ** (0 if places is None else places)
    return np.trunc(np.abs(values) * scale + 0.5) / scale * np.sign(values)


_SIGNS: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: _finite(left * right),
    "/": lambda left, right: _finite(left / right),
    "<": _compared(lambda left, right: left < right),
    "<=": _compared(lambda left, right: left <= right),
    "=": _compared(lambda left, right: left == right),
    "<>": _compared(lambda left, right: left != right),
    ">": _compared(lambda left, right: left > right),
    ">=": _compared(lambda left, right: left >= right),
    "and": _and,
    "or": _or,
}
_CALLS: dict[str, Callable[..., Numbers]] = {
    "not": lambda part: 1 - part,
    "negative": lambda part: -part,
    "missing": lambda part: _missing(part).astype(float),
    "abs": np.abs,
    "round": _rounded,
    "floor": np.floor,
    "ceil": np.ceil,
    "sqrt": lambda part: _finite(np.sqrt(part)),
    "ln": lambda part: _finite(np.log(part)),
    "log10": lambda part: _finite(np.log10(part)),
    "exp": lambda part: _finite(np.exp(part)),
    "power": lambda base, exponent: _finite(np.power(base, exponent)),
    "greatest": lambda *parts: np.fmax.reduce(np.broadcast_arrays(*parts)),
    "least": lambda *parts: np.fmin.reduce(np.broadcast_arrays(*parts)),
    "coalesce": lambda first, *parts: _first(first, *parts),
    "nullif": lambda left, right: np.where(left == right, np.nan, left),
}


def _first(*parts: Numbers) -> Numbers:
    chosen = parts[-1]
    for part in reversed(parts[:-1]):
        chosen = np.where(_missing(part), chosen, part)
    return chosen
