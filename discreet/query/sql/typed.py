"""What an expression over one row means: a quantity, a text, a condition, or one of finitely many words.

    Quantity    a number, a date in days, a moment in seconds
    Wording     the text in a column
    Truth       a condition: true, false or neither
    Fixed       a text, a truth value or NULL as it was written
    Steps       a word for each interval of a quantity, as date_trunc, width_bucket and // give
    Cases       a word for each branch of a CASE
    Person      the column that tells persons apart, which can only be counted

Words are texts, numbers, or None for NULL. What is refused here is placed by the reader that knows where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from discreet.data.contract import Contract
from discreet.errors import ArgumentError
from discreet.measure.expression import (
    Case,
    Compare,
    Constant,
    Missing,
    Not,
    OneOf,
    Predicate,
    Text,
    Value,
    column_names,
)
from discreet.measure.span import span_of

__all__ = [
    "FALSE",
    "Cases",
    "Fixed",
    "Kind",
    "Person",
    "Quantity",
    "Row",
    "Steps",
    "Truth",
    "Word",
    "Wording",
    "condition",
    "counted_only",
    "described",
    "nothing",
    "quantity",
    "truth_value",
]

Kind: TypeAlias = Literal["number", "date", "moment"]
Word: TypeAlias = str | Fraction | None
_BRANCHES_AT_MOST = 900
FALSE = Compare(Constant(Fraction(0)), "=", Constant(Fraction(1)))
_ONE, _ZERO = Constant(Fraction(1)), Constant(Fraction(0))


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, a date or a moment."""

    value: Value
    kind: Kind = "number"


@dataclass(frozen=True, slots=True)
class Wording:
    """The text in a column; the keys there can be, if they are public; whether these are truth values."""

    text: Text
    keys: tuple[str, ...] | None
    boolean: bool = False


@dataclass(frozen=True, slots=True)
class Truth:
    """A condition."""

    predicate: Predicate


@dataclass(frozen=True, slots=True)
class Fixed:
    """What was written: a text, a truth value, or NULL."""

    what: str | bool | None


@dataclass(frozen=True, slots=True)
class Person:
    """The column that tells persons apart."""

    name: str


@dataclass(frozen=True, slots=True)
class Steps:
    """A word for each interval [edge, next edge) of a quantity; they hold all it can be. No two neighbours are equal.

    `dated` says that the words are dates or moments.
    """

    of: Value
    edges: tuple[Fraction, ...]
    words: tuple[Word, ...]
    dated: bool = False

    def map(self, change: Callable[[Word], Word]) -> Steps:
        """The same intervals with other words; equal neighbours become one."""
        return Steps.joined(self.of, self.edges, [change(word) for word in self.words])

    @classmethod
    def joined(cls, of: Value, edges: Sequence[Fraction], words: Sequence[Word], *, dated: bool = False) -> Steps:
        """Intervals of which equal neighbours become one."""
        kept = [at for at in range(len(words)) if at == 0 or words[at] != words[at - 1]]
        return cls(of, (*(edges[at] for at in kept), edges[-1]), tuple(words[at] for at in kept), dated)

    def numbered(self, numbers: Sequence[Fraction]) -> Value:
        """A number for each interval, missing where the quantity is."""
        if len(self.words) == 1:
            return Case(((Not(Missing(self.of)), Constant(numbers[0])),))
        if len(self.words) > _BRANCHES_AT_MOST:
            raise ArgumentError(
                "expression",
                found=f"{len(self.words):,} intervals used as a number",
                right=f"at most {_BRANCHES_AT_MOST}",
                step="take wider intervals, or narrower bounds in WHERE or the contract",
            )
        branches = [
            (Compare(self.of, "<", Constant(edge)), Constant(number))
            for edge, number in zip(self.edges[1:-1], numbers, strict=False)
        ]
        last = Compare(self.of, ">=", Constant(self.edges[-2]))
        return Case((*branches, (last, Constant(numbers[-1]))))


@dataclass(frozen=True, slots=True)
class Cases:
    """One of several words, by number; NULL, the last, has one too. `value` is the word itself if it is a number."""

    code: Value
    words: tuple[Word, ...]
    value: Value | None = None

    @property
    def known(self) -> Value:
        """The code, missing where the word is NULL."""
        if None not in self.words:
            return self.code
        null = Constant(Fraction(len(self.words) - 1))
        return Case(((Compare(self.code, "<>", null), self.code),))


Row: TypeAlias = Quantity | Wording | Truth | Fixed | Person | Steps | Cases


def truth_value(predicate: Predicate, *, otherwise: Value | None = None) -> Case:
    """1 where it is true, 0 where it is false, else `otherwise` or missing."""
    return Case(((predicate, _ONE), (Not(predicate), _ZERO)), otherwise)


def quantity(row: Row, contract: Contract) -> Quantity:
    """The row as a number, date or moment."""
    match row:
        case Quantity():
            return row
        case Truth(predicate):
            return Quantity(truth_value(predicate))
        case Wording(boolean=True):
            return Quantity(truth_value(condition(row)))
        case Steps(words=words) if _numeric(words):
            return Quantity(row.numbered([word for word in words if isinstance(word, Fraction)]))
        case Cases(value=value) if value is not None:
            return Quantity(value)
        case Fixed(bool() as what):
            return Quantity(_ONE if what else _ZERO)
    if isinstance(row, Person):
        raise counted_only(row)
    raise ArgumentError(
        "expression",
        found=described(row, contract),
        right="a number is wanted there",
        step="name a column of numbers, or count with CASE WHEN … THEN 1 ELSE 0 END",
    )


def condition(row: Row) -> Predicate:
    """The row as a condition."""
    match row:
        case Truth(predicate):
            return predicate
        case Wording(text, boolean=True):
            return OneOf(text, ("true",))
        case Fixed(bool() as what):
            return Not(FALSE) if what else FALSE
    if isinstance(row, Person):
        raise counted_only(row)
    raise ArgumentError(
        "expression",
        found=described(row, None),
        right="a condition is wanted there",
        step="compare it with something, as in age >= 18",
    )


def counted_only(person: Person) -> ArgumentError:
    """The refusal of anything else that is asked of the column that tells persons apart."""
    return ArgumentError(
        "expression",
        found=described(person, None),
        right="it can only be counted, each person once",
        step=f"write COUNT(DISTINCT {person.name}), or ask about another column",
    )


def nothing(like: Sequence[Value], contract: Contract) -> Value:
    """A value that is always missing, on the grid and between the ends of others."""
    span = span_of(like[0], contract)
    return Case(((FALSE, Constant(span.step * span.low)),))


def described(row: Row, contract: Contract | None) -> str:
    """What something is, in words, with the columns it reads."""
    match row:
        case Quantity(Constant(), kind):
            return {"number": "a number", "date": "a date", "moment": "a moment"}[kind]
        case Quantity(kind=kind):
            return _of_columns(row, {"number": "a number", "date": "a date", "moment": "a moment"}[kind])
        case Wording(text):
            facts = None if contract is None else contract.columns.get(text.name)
            return f"column {text.name!r}, {'a text' if facts is None else _a(facts.type)}"
        case Truth():
            return _of_columns(row, "a condition")
        case Fixed(what):
            return "NULL" if what is None else f"the text {what!r}" if isinstance(what, str) else str(what).upper()
        case Person(name):
            return f"column {name!r}, which tells persons apart"
    return _of_columns(row, "a text")


def _of_columns(row: Row, what: str) -> str:
    names = sorted(column_names(row))
    return f"{what} made of column {', '.join(map(repr, names[:3]))}" if names else what


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _numeric(words: Sequence[Word]) -> bool:
    return all(isinstance(word, Fraction) for word in words)
