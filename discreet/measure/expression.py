"""What a plan computes of one row, as data: values, texts and predicates. No SQL text, no data.

Values are exact numbers on a grid (`span`). Reading a column makes of its content either a number between the
contract's bounds or nothing:

* null, NaN and the infinities are missing, and so is a decimal of 2^53 − 1 steps or more, which counts as infinite;
* where the contract refuses missing values, a missing one counts as the column's low end, so that none is ever missing;
* any other number is rounded to the column's step and clamped to its bounds, wherever it is read;
* a date counts days since 1970-01-01, a date with time whole seconds since then, between their own bounds.

Rules for what is missing are those of SQL: arithmetic with a missing operand is missing; comparing with one is neither
true nor false; `Not` keeps that, `And` is false if any part is, `Or` true if any part is; a filter keeps a row, and a
branch is taken, only when its predicate is true; `Missing` itself is always true or false. A `Case` without a branch
that is taken and without `otherwise` is missing.

Texts are compared by bytes: categories and booleans by their text form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Literal, TypeAlias

from discreet.check import Number, exact, one_of
from discreet.errors import ArgumentError

__all__ = [
    "And",
    "Case",
    "Clamped",
    "Column",
    "Compare",
    "Constant",
    "Like",
    "Minus",
    "Missing",
    "Node",
    "Not",
    "OneOf",
    "Or",
    "Plus",
    "Predicate",
    "Text",
    "Times",
    "Value",
    "among",
    "between",
    "column_names",
    "nodes",
    "plain",
    "require_small",
]

Sign: TypeAlias = Literal["<", "<=", "=", "<>", ">", ">="]
_SIGNS = ("<", "<=", "=", "<>", ">", ">=")
_NODES_AT_MOST, _DEPTH_AT_MOST, _TEXT_AT_MOST, _TEXTS_AT_MOST = 5_000, 60, 1_000, 10_000


@dataclass(frozen=True, slots=True)
class Column:
    """The number in a column of numbers, dates or times."""

    name: str


@dataclass(frozen=True, slots=True)
class Text:
    """The text in a column of categories, booleans or texts."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant:
    """An exact number."""

    number: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", exact("constant", self.number))

    @classmethod
    def of(cls, number: str | Number) -> Constant:
        """From a number as people write it."""
        return cls(exact("constant", number))


@dataclass(frozen=True, slots=True)
class Plus:
    """left + right."""

    left: Value
    right: Value


@dataclass(frozen=True, slots=True)
class Minus:
    """left − right."""

    left: Value
    right: Value


@dataclass(frozen=True, slots=True)
class Times:
    """left · right."""

    left: Value
    right: Value


@dataclass(frozen=True, slots=True)
class Clamped:
    """The value, moved between two bounds on its grid."""

    value: Value
    low: Fraction
    high: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", exact("low", self.low))
        object.__setattr__(self, "high", exact("high", self.high))
        if self.low > self.high:
            raise ArgumentError("bounds", found="low above high", right="low is at most high", step="exchange them")


@dataclass(frozen=True, slots=True)
class Case:
    """The value of the first branch whose predicate is true, else `otherwise`, else missing."""

    branches: tuple[tuple[Predicate, Value], ...]
    otherwise: Value | None = None

    def __post_init__(self) -> None:
        _require_parts("branches", self.branches)


@dataclass(frozen=True, slots=True)
class Compare:
    """Two values, compared exactly."""

    left: Value
    sign: Sign
    right: Value

    def __post_init__(self) -> None:
        one_of("sign", self.sign, _SIGNS)


@dataclass(frozen=True, slots=True)
class OneOf:
    """The text is one of these."""

    text: Text
    texts: tuple[str, ...]

    def __post_init__(self) -> None:
        _require_parts("texts", self.texts)
        if len(self.texts) > _TEXTS_AT_MOST:
            raise _too_large(f"{len(self.texts):,} texts", f"at most {_TEXTS_AT_MOST:,}")
        for one in self.texts:
            _require_text(one)


@dataclass(frozen=True, slots=True)
class Like:
    """The text matches a pattern in which % stands for any signs and _ for one."""

    text: Text
    pattern: str

    def __post_init__(self) -> None:
        _require_text(self.pattern)


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no value, or no text."""

    of: Value | Text


@dataclass(frozen=True, slots=True)
class And:
    """All of the predicates."""

    parts: tuple[Predicate, ...]

    def __post_init__(self) -> None:
        _require_parts("parts", self.parts)


@dataclass(frozen=True, slots=True)
class Or:
    """Any of the predicates."""

    parts: tuple[Predicate, ...]

    def __post_init__(self) -> None:
        _require_parts("parts", self.parts)


@dataclass(frozen=True, slots=True)
class Not:
    """The contrary; of what is neither true nor false it is neither."""

    part: Predicate


Value: TypeAlias = Column | Constant | Plus | Minus | Times | Clamped | Case
Predicate: TypeAlias = Compare | OneOf | Like | Missing | And | Or | Not
Node: TypeAlias = Value | Predicate | Text


def between(value: Value, low: str | Number, high: str | Number) -> And:
    """low ≤ value ≤ high."""
    return And((Compare(value, ">=", Constant.of(low)), Compare(value, "<=", Constant.of(high))))


def among(value: Value, numbers: Iterable[str | Number]) -> Or:
    """The value is one of these numbers."""
    return Or(tuple(Compare(value, "=", Constant.of(number)) for number in numbers))


def column_names(part: object) -> frozenset[str]:
    """The columns that a node, or anything that holds nodes, reads."""
    return frozenset(node.name for node in nodes(part) if isinstance(node, Column | Text))


def nodes(part: object) -> Iterator[object]:
    """Every value, text and predicate in a node, or in anything that holds nodes."""
    ahead = [part]
    while ahead:
        one = ahead.pop()
        if isinstance(one, tuple):
            ahead += one
        elif hasattr(one, "__dataclass_fields__"):
            yield one
            ahead += [getattr(one, name) for name in one.__dataclass_fields__]


def require_small(part: object) -> None:
    """Refuse what is larger or deeper than any sane question, before anything recurses into it."""
    ahead: list[tuple[object, int, int]] = [(part, 0, 1)]
    count = 0
    while ahead:
        one, depth, times = ahead.pop()
        if isinstance(one, tuple):
            ahead += [(entry, depth, times) for entry in one]
        elif hasattr(one, "__dataclass_fields__"):
            count += times
            written = 3 if isinstance(one, Clamped) else 1  # compared with both ends, then taken as it is
            ahead += [(getattr(one, name), depth + 1, written * times) for name in one.__dataclass_fields__]
        if count > _NODES_AT_MOST or depth > _DEPTH_AT_MOST:
            raise _too_large(
                "an expression of too many parts", f"at most {_NODES_AT_MOST:,} parts, {_DEPTH_AT_MOST} deep"
            )


def plain(part: object) -> object:
    """Anything made of these classes as plain values, for receipts; numbers as exact text."""
    if isinstance(part, tuple):
        return [plain(entry) for entry in part]
    if isinstance(part, Fraction):
        return str(part)
    if part is None or isinstance(part, str | int):
        return part
    held = {field.name: plain(getattr(part, field.name)) for field in fields(part)}  # type: ignore[arg-type]  # our own
    return {"kind": type(part).__name__.lower(), **held}


def _require_parts(name: str, parts: tuple[object, ...]) -> None:
    if not parts:
        raise ArgumentError(name, found="nothing", right="at least one is needed", step="give a tuple of them")


def _require_text(text: str) -> None:
    if len(text) > _TEXT_AT_MOST or "\0" in text:
        raise _too_large("a text that is too long", f"at most {_TEXT_AT_MOST:,} signs")


def _too_large(found: str, right: str) -> ArgumentError:
    return ArgumentError("plan", found=found, right=right, step="ask for less at once")
