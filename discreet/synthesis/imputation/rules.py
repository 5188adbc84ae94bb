"""Edit rules: sentences every row of every copy keeps, such as `married requires age >= 15`.

    rule       := condition [ requires condition ]
    condition  := part { or part }          part := factor { and factor }
    factor     := not factor | ( condition ) | comparison
    comparison := name [ ==, =, !=, <, <=, >, >= value ] | name in ( value, … ) | name is [not] missing
    value      := number | 'text' | true | false | name of another column

A name with signs other than letters, digits and _ stands in backquotes. A name alone means that a column of two values
(false and true, 0 and 1, no and yes) holds the second. A comparison with a missing cell is neither true nor false, and
a rule is broken only where its condition is true and what it requires is false. The text is read by the grammar above
into typed parts; it is never executed.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from discreet.errors import ArgumentError
from discreet.synthesis.imputation.columns import Column, Columns, Kind

__all__ = ["Rule", "parse_rule"]

Flags: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]
Values: TypeAlias = Mapping[str, Floats]
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_YES: tuple[tuple[Any, Any], ...] = ((False, True), (0, 1), ("no", "yes"), ("false", "true"), ("n", "y"))
_WORDS = ("requires", "and", "or", "not", "in", "is", "missing", "true", "false")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?)|'(?P<text>[^']*)'|\"(?P<quoted>[^\"]*)\""
    r"|`(?P<named>[^`]+)`|(?P<name>[^\W\d]\w*)|(?P<sign>==|!=|<=|>=|[=<>(),]))"
)
_SIGNS_AT_MOST, _NESTED_AT_MOST = 1000, 50


@dataclass(frozen=True, slots=True)
class _Truth:
    """Where a condition is true and where it is false; elsewhere it is neither."""

    yes: Flags
    no: Flags


class _Condition(Protocol):
    def truth(self, columns: Columns, values: Values) -> _Truth: ...


@dataclass(frozen=True, slots=True)
class _Compared:
    """A column beside a value, or beside another column."""

    name: str
    sign: str
    right: _Name | float | str | bool

    def truth(self, columns: Columns, values: Values) -> _Truth:
        column = columns.column(self.name)
        if _are_texts(column) and self.sign not in ("==", "=", "!=") and column.kind is not Kind.ORDINAL:
            raise _refused(
                self.name, f"{self.sign} on texts", "texts have no order", "use == or !=, or say their order"
            )
        left = _content(column, values)
        if isinstance(self.right, _Name):
            right = _beside(column, columns.column(self.right.name), values)
        else:
            right = np.full(len(left), _literal(column, self.right))
        there = ~(np.isnan(left) | np.isnan(right))
        with np.errstate(invalid="ignore"):
            held = there & _COMPARE[self.sign](left, right)
        return _Truth(yes=held, no=there & ~held)


@dataclass(frozen=True, slots=True)
class _Name:
    """The name of a column on the right of a comparison."""

    name: str


@dataclass(frozen=True, slots=True)
class _Missing:
    """Whether a cell is missing."""

    name: str

    def truth(self, columns: Columns, values: Values) -> _Truth:
        gone = np.isnan(values[columns.column(self.name).name])
        return _Truth(yes=gone, no=~gone)


@dataclass(frozen=True, slots=True)
class _Holds:
    """A column of two values, one of which means yes."""

    name: str

    def truth(self, columns: Columns, values: Values) -> _Truth:
        column = columns.column(self.name)
        said = tuple(level.lower() if isinstance(level, str) else level for level in column.levels)
        if said not in _YES:
            raise _refused(
                self.name,
                "a name alone, of a column that is not false and true, 0 and 1, or no and yes",
                "a name alone means yes",
                f"compare it, as in {self.name} == 'married'",
            )
        return _Truth(yes=values[self.name] == 1, no=values[self.name] == 0)


@dataclass(frozen=True, slots=True)
class _Not:
    """The opposite."""

    part: _Condition

    def truth(self, columns: Columns, values: Values) -> _Truth:
        found = self.part.truth(columns, values)
        return _Truth(yes=found.no, no=found.yes)


@dataclass(frozen=True, slots=True)
class _Joined:
    """All of the parts, or any of them."""

    parts: tuple[_Condition, ...]
    every: bool

    def truth(self, columns: Columns, values: Values) -> _Truth:
        found = [part.truth(columns, values) for part in self.parts]
        yes, no = (np.stack([getattr(one, side) for one in found]) for side in ("yes", "no"))
        every, some = (np.logical_and, np.logical_or) if self.every else (np.logical_or, np.logical_and)
        return _Truth(yes=np.asarray(every.reduce(yes)), no=np.asarray(some.reduce(no)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A sentence that every row keeps."""

    text: str
    condition: _Condition | None
    needed: _Condition

    def broken(self, columns: Columns, values: Values) -> Flags:
        """Which rows break it: `values` holds numbers or codes of the columns, by name."""
        needed = self.needed.truth(columns, values).no
        return needed if self.condition is None else needed & self.condition.truth(columns, values).yes


def parse_rule(text: str) -> Rule:
    """Read a rule."""
    reader = _Reader(text)
    first = reader.condition()
    second = reader.condition() if reader.took("requires") else None
    reader.ended()
    return Rule(text=text.strip(), condition=None if second is None else first, needed=second or first)


class _Reader:
    """The tokens of a rule, taken from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.tokens = _tokens(text)

    def condition(self) -> _Condition:
        return self._joined("or", self._part)

    def _part(self) -> _Condition:
        return self._joined("and", self._factor)

    def _joined(self, word: str, read: Callable[[], _Condition]) -> _Condition:
        parts = [read()]
        while self.took(word):
            parts.append(read())
        return parts[0] if len(parts) == 1 else _Joined(tuple(parts), every=word == "and")

    def _factor(self) -> _Condition:
        self.depth += 1
        if self.depth > _NESTED_AT_MOST:
            raise _unread(self.text, "more brackets than anybody reads", "nest less")
        try:
            if self.took("not"):
                return _Not(self._factor())
            if self.took("("):
                inner = self.condition()
                self._need(")")
                return inner
            return self._comparison()
        finally:
            self.depth -= 1

    def _comparison(self) -> _Condition:
        name = self._column()
        if self.took("is"):
            negated = self.took("not")
            self._need("missing")
            return _Not(_Missing(name)) if negated else _Missing(name)
        if self.took("in"):
            self._need("(")
            values = [self._value()]
            while self.took(","):
                values.append(self._value())
            self._need(")")
            return _Joined(tuple(_Compared(name, "==", value) for value in values), every=False)
        kind, sign = self._seen()
        if kind == "sign" and sign in _COMPARE:
            self.at += 1
            return _Compared(name, sign, self._value())
        return _Holds(name)

    def _value(self) -> _Name | float | str | bool:
        kind, found = self._seen()
        if kind in ("number", "text"):
            self.at += 1
            return float(found) if kind == "number" else found
        if kind == "word" and found in ("true", "false"):
            self.at += 1
            return found == "true"
        return _Name(self._column())

    def _column(self) -> str:
        kind, found = self._seen()
        if kind != "name":
            raise _unread(self.text, f"{found or 'the end'} where the name of a column belongs", "name a column there")
        self.at += 1
        return found

    def took(self, what: str) -> bool:
        """Take this word or sign if it is next."""
        kind, found = self._seen()
        if kind in ("word", "sign") and found == what:
            self.at += 1
            return True
        return False

    def _need(self, what: str) -> None:
        if not self.took(what):
            raise _unread(self.text, f"{self._seen()[1] or 'the end'} where {what} belongs", f"write {what} there")

    def ended(self) -> None:
        """Refuse what is left over."""
        if self.at < len(self.tokens):
            raise _unread(self.text, f"{self._seen()[1]} after the end", "join conditions by and, or, requires")

    def _seen(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")


def _tokens(text: str) -> Sequence[tuple[str, str]]:
    text = text.strip()
    if not text or len(text) > _SIGNS_AT_MOST:
        raise _unread(text[:40], f"{len(text)} signs", f"write 1 to {_SIGNS_AT_MOST}")
    tokens, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _unread(text, f"an unknown sign at place {at + 1}", "quote texts, and put odd names in backquotes")
        kind, found = str(match.lastgroup), match[str(match.lastgroup)]
        if kind == "name" and found.lower() in _WORDS:
            kind, found = "word", found.lower()
        kind = {"quoted": "text", "named": "name"}.get(kind, kind)
        tokens.append((kind, found))
        at = match.end()
        while at < len(text) and text[at].isspace():
            at += 1
    return tokens


def _are_texts(column: Column) -> bool:
    return not column.is_continuous and not all(isinstance(level, bool | int | float) for level in column.levels)


def _content(column: Column, values: Values) -> Floats:
    """The numbers a column holds; of texts, their codes."""
    mine = values[column.name]
    if column.is_continuous or _are_texts(column):
        return mine
    table = np.array([*map(float, column.levels), np.nan])
    return np.asarray(table[np.nan_to_num(mine, nan=len(column.levels)).astype(np.intp)])


def _beside(left: Column, right: Column, values: Values) -> Floats:
    """What another column holds, in the terms of the first: texts as its codes, those it does not have as -1."""
    if _are_texts(left) != _are_texts(right):
        raise _refused(left.name, "texts beside numbers", "both are of one kind", "compare other columns")
    if not _are_texts(left):
        return _content(right, values)
    place = {level: float(code) for code, level in enumerate(left.levels)}
    table = np.array([*(place.get(level, -1.0) for level in right.levels), np.nan])
    return np.asarray(table[np.nan_to_num(values[right.name], nan=len(right.levels)).astype(np.intp)])


def _literal(column: Column, value: float | str | bool) -> float:
    """A value of the rule as the column has it."""
    if _are_texts(column) != isinstance(value, str):
        found, right = ("a text", "it holds numbers") if isinstance(value, str) else ("a number", "it holds texts")
        raise _refused(column.name, found, right, "write a value of that kind, texts in quotes")
    if not isinstance(value, str):
        return float(value)
    if value not in column.levels:
        raise _refused(column.name, "a text that never occurs", "a rule names values there are", "check its spelling")
    return float(column.levels.index(value))


def _refused(name: str, found: str, right: str, step: str) -> ArgumentError:
    return ArgumentError(f"rule on column {name!r}", found=found, right=right, step=step)


def _unread(text: str, found: str, step: str) -> ArgumentError:
    return ArgumentError(
        f"rule {text[:80]!r}", found=found, right="a rule is such as: married requires age >= 15", step=step
    )
